"""Building an index of more text than fits in memory.

Documents are read until their token ids fill what the budget leaves; these go to disk as a *run*, the postings of a
range of documents. At the end all runs are merged, term by term, straight into the final file. Only the different
tokens stay in memory all the time.
"""

from __future__ import annotations

import os
import shutil
import time
from operator import length_hint

import numpy as np

from memtree._arguments import analysed, tokens, whole
from memtree._bm25 import Postings
from memtree._merge import merge
from memtree._rows import indptr_of, rank_values
from memtree._token_ids import TokenIds
from memtree.documents import files_of
from memtree.errors import MemtreeError, WriteError
from memtree.files import Lock
from memtree.sections import MAGIC, NewSections, open_sections, write_sections

RUN_KIND = "bm25-run"
MEBIBYTE = 1 << 20
LEAST_MEMORY = 64 * MEBIBYTE
# More than any machine has; parts of it fit the types of the compiled code.
MOST_MEMORY = 1 << 56
# What does not grow with the input: modules, NumPy, buffers, memory that is free but in pieces.
FIXED_MEMORY = 38 * MEBIBYTE
# A run of more tokens would not make the merge faster.
MAX_RUN_TOKENS = 1 << 28
# Of a token: its id (4), its posting (at most 5, less where documents repeat it) and what arrays grow by.
TOKEN_BYTES = 11
# Of a document: its length, twice, and where its row starts.
DOCUMENT_BYTES = 17
# Of a different token: beyond the vocabulary, while runs are merged; in a run that holds it.
TERM_BYTES = 20
RUN_TERM_BYTES = 28
# Pages of one run that are in memory while it is merged: systems map a megabyte around each place that is read.
RUN_PAGES = 3 * MEBIBYTE
MAX_RUNS = 32
# As `Matrix.to_parts` writes it for one field.
META_BYTES = 80


class Run:
    """A segment on disk: postings of the documents from number `ids` on."""

    removed = np.zeros(0, np.uint32)

    def __init__(self, path: str, first: int):
        self.path = path
        self.ids = first
        self.sections = open_sections(path, RUN_KIND)
        self.postings = Postings.from_parts(self.sections)
        self.columns = np.frombuffer(self.sections["columns"], np.uint32) if "columns" in self.sections else None
        self.sections.release()


class Builder:
    """The runs of one index.

    Parameters
    ----------
    folder : str
        For the runs; exists and is empty.
    memory : int
        Bytes that the build may use.
    """

    def __init__(self, folder: str, memory: int):
        self.folder = folder
        self.memory = memory
        self.room = memory - FIXED_MEMORY
        self.max_runs = max(4, min(MAX_RUNS, self.room // 4 // RUN_PAGES))
        self.ids = TokenIds(self.room // 8)
        self.levels: list[list[Run]] = [[]]
        self.n_docs = 0
        self.n_files = 0

    def spill_if_full(self, shown: Progress) -> None:
        """Write a run if the documents read since the last one have filled the memory."""
        ids = self.ids
        n_terms, (n_documents, n_tokens) = len(ids), ids.n_read
        lasting = ids.size_bytes + TERM_BYTES * n_terms
        passing = TOKEN_BYTES * n_tokens + DOCUMENT_BYTES * n_documents + RUN_TERM_BYTES * min(n_terms, n_tokens)
        if lasting + passing <= self.room and n_tokens < MAX_RUN_TOKENS:
            return
        if lasting + (self.max_runs + 2) * RUN_PAGES > self.room:
            raise MemtreeError(
                f"{n_terms} different tokens are too many for {self.memory // MEBIBYTE} MiB of memory",
                remedy=self._remedy(n_terms, lasting, shown.done + 1, shown.total()),
            )
        self.spill()

    def _remedy(self, n_terms: int, lasting: int, n_read: int, total: int | None) -> str:
        """Advice on a budget that is enough, if the rest of the source is like what was read."""
        # Never more new tokens a document than so far; a source of unknown length may well have four times as many.
        wanted = n_terms * max(total, n_read) // n_read + 1 if total else max(4 * n_terms, 2_000_000)
        # Tables that double are up to half empty; that of the analysed words takes up to a quarter of the room.
        bytes_a_token = 2 * lasting // n_terms + 1
        room = (wanted * bytes_a_token + (MAX_RUNS + 2) * RUN_PAGES) * 4 // 3
        memory = max(-(-(FIXED_MEMORY + room) // LEAST_MEMORY) * LEAST_MEMORY, 2 * self.memory)
        return (
            f"build with memory={memory}, which takes {wanted} different tokens like these, "
            "or with an analyzer that gives fewer"
        )

    def spill(self) -> None:
        lengths, tokens = self.ids.take()
        if not lengths:
            return
        columns = rank_values(tokens, len(self.ids))
        postings = Postings.build(indptr_of(lengths), tokens, (0, len(columns)))
        del tokens
        path = self._new_path()
        write_sections(path, RUN_KIND, {**postings.to_parts(), "columns": columns}, sync=False)
        self._add(Run(path, self.n_docs), 0)
        self.n_docs += len(lengths)

    def _new_path(self) -> str:
        self.n_files += 1
        return os.path.join(self.folder, f"{self.n_files}.run")

    def _add(self, run: Run, level: int) -> None:
        """Take a run; as many as may be on a level become one of the next."""
        if level == len(self.levels):
            self.levels.append([])
        runs = self.levels[level]
        runs.append(run)
        if len(runs) == self.max_runs:
            first, n_docs = runs[0].ids, sum(one.postings.n_docs for one in runs)
            for one in runs:
                one.ids -= first
            path = self._new_path()
            self._merge(runs, n_docs, path, RUN_KIND, "", {}).commit(path + ".whole")
            self._drop(runs)
            self._add(Run(path + ".whole", first), level + 1)

    def _merge(self, runs: list[Run], n_docs: int, path: str, kind: str, prefix: str, others) -> NewSections:
        """Merge runs into a file, with room for other sections."""
        made = []

        def allocate(sizes):
            named = {prefix + name: size for name, size in sizes.items()}
            made.append(NewSections(path, kind, {prefix + "meta": META_BYTES, **named, **others}))
            parts = made[0].parts()
            return {name: parts[prefix + name] for name in sizes}

        def release():
            for run in runs:
                run.sections.release()
            if made:
                made[0].release()

        postings = merge(runs, n_docs, len(self.ids), allocate, release)
        made[0].parts()[prefix + "meta"][:] = postings.to_parts()["meta"]
        return made[0]

    @staticmethod
    def _drop(runs: list[Run]) -> None:
        for run in runs:
            run.sections.close()
            os.unlink(run.path)
        runs.clear()

    def finish(self, path: str, kind: str, head) -> None:
        """Write the index of all documents.

        Parameters
        ----------
        path : str
        kind : str
        head : callable
            Gives the section ``head`` for a number of documents.
        """
        if not any(self.levels):
            self._write_whole(path, kind, head)
            return
        self.spill()
        ids = self.ids
        ids.forget()
        runs = [run for level in reversed(self.levels) for run in level]
        described = head(self.n_docs)
        others = {"words": ids.text_size(), "word_ends": 8 * len(ids), "head": len(described)}
        file = self._merge(runs, self.n_docs, os.path.join(self.folder, "index"), kind, "bm25.", others)
        parts = file.parts()
        parts["head"][:] = described
        ids.write_words(parts["words"], parts["word_ends"].cast("q"))
        del parts
        file.commit(path)
        self._drop(runs)

    def _write_whole(self, path: str, kind: str, head) -> None:
        """Write the index of documents that all fitted in memory."""
        ids = self.ids
        lengths, tokens = ids.take()
        postings = Postings.build(indptr_of(lengths), tokens, (0, len(ids)))
        del tokens
        words, ends = memoryview(bytearray(ids.text_size())), memoryview(bytearray(8 * len(ids))).cast("q")
        ids.write_words(words, ends)
        described: dict = {"words": words, "word_ends": ends, "head": head(len(lengths))}
        write_sections(path, kind, {**postings.to_parts("bm25."), **described})


def write_index(path, source, kind: str, head, analyse, memory: int, progress) -> None:
    """Build the index file of documents that are read one by one; see `BM25.build`.

    Parameters
    ----------
    path, source, memory, progress
        As in `BM25.build`.
    kind : str
        Of the file.
    head : callable
        Gives the section ``head`` for a number of documents.
    analyse : callable, optional
        Text to tokens, instead of `memtree.analysis`.
    """
    if isinstance(source, (str, bytes, bytearray)) or not hasattr(type(source), "__iter__"):
        kind = type(source).__name__
        raise TypeError(
            f"source must be an iterable of documents, not one {kind}; see memtree.documents for files"
        )
    memory = min(whole("memory", memory), MOST_MEMORY)
    if memory < LEAST_MEMORY:
        raise ValueError(f"memory must be at least {LEAST_MEMORY} bytes (64 MiB), not {memory}")
    path = os.path.realpath(os.fsdecode(path))
    refuse_source(path, source)
    folder = os.path.join(os.path.dirname(path), f".memtree-{os.path.basename(path)}.building")
    with Progress(progress, source) as shown, Lock(os.path.join(folder, "lock"), timeout=0):
        try:
            for name in os.listdir(folder):  # of a build that was killed
                if name != "lock":
                    os.unlink(os.path.join(folder, name))
            builder = Builder(folder, memory)
            add_text, add_tokens = builder.ids.add_text, builder.ids.add_tokens
            for document in source:
                try:
                    if not isinstance(document, str):
                        add_tokens(tokens("the document", document))
                    elif analyse is None:
                        add_text(document)
                    else:
                        add_tokens(analysed(analyse(document)))
                except TypeError as error:
                    raise TypeError(f"document {shown.done}: {error}") from error
                builder.spill_if_full(shown)
                shown.step()
            shown.merging()
            builder.finish(path, kind, head)
        except WriteError as error:
            raise WriteError(error.message, path=path, remedy="its old content is unchanged") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def refuse_source(path: str, source) -> None:
    """See to it that the index does not replace a file that is read.

    Raises
    ------
    ValueError
        It would.
    """
    try:
        there = os.stat(path)
        with open(path, "rb") as stream:
            is_index = stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return
    for read in files_of(source):
        try:
            is_same = os.path.samestat(os.stat(read), there)
        except OSError:
            continue
        # An index that stands among the files of a folder holds nothing that a person wrote.
        if is_same and not is_index:
            raise ValueError(f"path must not be a file of the source, which the index would replace: {path}")


class Progress:
    """What the user asked to see while documents are read: nothing, a bar, or calls of a function."""

    INTERVAL = 0.1

    def __init__(self, asked, source):
        self.source = source
        self.done = self.shown = 0
        self.next = time.monotonic() + self.INTERVAL
        self.bar = None
        self.call = asked if callable(asked) else None
        if not self.call and asked is not None and not isinstance(asked, bool):
            raise TypeError(f"progress must be True or a function, not {asked!r}")
        if asked and not self.call:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm (pip install tqdm); or give a function") from None
            self.bar = tqdm(total=self.total(), unit=" documents", unit_scale=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def total(self) -> int | None:
        """How many documents there are, or about how many; None if the source does not know."""
        return length_hint(self.source, 0) or None

    def step(self) -> None:
        self.done += 1
        if not self.done & 15 and time.monotonic() >= self.next:
            self.show()

    def show(self) -> None:
        self.next = time.monotonic() + self.INTERVAL
        if self.bar is not None:
            self.bar.total = self.total()
            self.bar.update(self.done - self.shown)
        if self.call is not None:
            self.call(self.done, self.total())
        self.shown = self.done

    def merging(self) -> None:
        self.show()
        if self.bar is not None:
            self.bar.set_description("merging")
