"""The index of a bank: its files and passages as BM25 postings, opened by mmap and renewed file by file.

Each file is kept as *segments*, the surfaces of its names (file name and front matter), of each heading and of each
passage. A file as one document is all of its segments; a passage is its own, those of the headings above it and, for
the first of a file, the names. So a changed file is read again alone, while term statistics and the support of Korean
stems, which depend on the whole bank, are computed anew from the stored segments: an index refreshed in steps is equal
to one built at once.
"""

from __future__ import annotations

import os
import struct
from array import array

from memtree._bm25 import Postings
from memtree._lexicon import Lexicon
from memtree._recall import Columns, Searcher
from memtree.errors import IndexFileError
from memtree.sections import open_sections, write_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memtree.config import Settings
    from memtree.markdown import Document
    from memtree.workspace import Entry

KIND = "bank"
META = struct.Struct("<QQQQQ16sqqq16s")
"""generation, files, passages, sections, surfaces without a file, settings digest; of tree-index.json: size, mtime_ns,
time of reading, digest."""
STAT_WIDTH = 3
"""size, mtime_ns, and when the content was last known to be the indexed one (ns)."""
PASSAGE_WIDTH = 5
"""section within the file (or NO_SECTION), first line, last line, first byte, byte after the last."""
NO_SECTION = 0xFFFFFFFF
DIGEST_BYTES = 16


def _view(parts, name, code):
    """A part of the index as a memoryview of items of type `code`."""
    view = memoryview(parts[name])
    if view.format == code:
        return view
    if view.format != "B":
        view = view.cast("B")
    size = struct.calcsize(code)
    if view.nbytes % size:
        raise IndexFileError(f"part {name!r} has {view.nbytes} bytes, no multiple of {size}")
    return view.cast(code)


def settings_digest(settings: Settings) -> bytes:
    """Digest of the settings that change what an index holds."""
    return f"{settings.mode} {settings.max_file_size}".encode()[:DIGEST_BYTES].ljust(DIGEST_BYTES)


class TreeStamp:
    """Which tree-index.json an index was made with; size, mtime_ns and digest are 0 and b"" without one."""

    __slots__ = ("digest", "mtime_ns", "read_ns", "size")

    def __init__(self, size: int, mtime_ns: int, read_ns: int, digest: bytes) -> None:
        self.size = size
        self.mtime_ns = mtime_ns
        self.read_ns = read_ns
        self.digest = digest


class Skipped:
    """A file that can't be indexed, and when that was seen.

    Attributes
    ----------
    path : str
    size, mtime_ns, seen_ns : int
    message : str
    """

    __slots__ = ("message", "mtime_ns", "path", "seen_ns", "size")

    def __init__(self, path: str, size: int, mtime_ns: int, seen_ns: int, message: str) -> None:
        self.path = path
        self.size = size
        self.mtime_ns = mtime_ns
        self.seen_ns = seen_ns
        self.message = message

    def to_line(self) -> str:
        """As it is kept in the index."""
        return f"{self.size}\t{self.mtime_ns}\t{self.seen_ns}\t{' '.join(self.message.split())}\t{self.path}"


class FileParts:
    """What the index keeps of one file.

    Attributes
    ----------
    path : str
    size, mtime_ns, verified_ns : int
    digest : bytes
    day : int
        Proleptic ordinal of the file's date, 0 if it tells none.
    names : list of str
        Title, tags, keywords and aliases.
    headings : list of str
    levels : array of int
        Two numbers a section: index of the parent section or -1, line.
    passages : array of uint32, PASSAGE_WIDTH a passage
    lengths, surfaces : array of uint32
        Segments: names, then a segment a section, then one a passage.
    problems : list of (line, message)
    """

    __slots__ = ("day", "digest", "headings", "lengths", "levels", "mtime_ns", "names", "passages", "path",
                 "problems", "size", "surfaces", "verified_ns")

    path: str
    size: int
    mtime_ns: int
    verified_ns: int
    digest: bytes
    day: int
    names: list[str]
    headings: list[str]
    levels: array[int]
    passages: array[int]
    lengths: array[int]
    surfaces: array[int]
    problems: list[tuple[int | None, str]]


def day_in(text: str) -> int:
    """Proleptic ordinal of the first date like 2026-01-31 in a text, 0 without one."""
    import re
    from datetime import date

    for year, month, day in re.findall(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)", text):
        try:
            return date(int(year), int(month), int(day)).toordinal()
        except ValueError:
            continue
    return 0


def read_file(entry: Entry, data: bytes, document: Document, lexicon: Lexicon, read_ns: int) -> FileParts:
    """Analyse one parsed file into the parts that the index keeps."""
    parts = FileParts()
    parts.path = entry.path
    parts.size = entry.size
    parts.mtime_ns = entry.mtime_ns
    parts.verified_ns = read_ns
    parts.digest = entry.digest
    parts.day = day_in(entry.path.rsplit("/", 1)[-1]) or day_in(document.date)
    meta = document.meta
    parts.names = [" ".join(name.split()) for name in
                   (document.title, *meta["tags"], *meta["keywords"], *meta["aliases"]) if name.strip()]
    parts.headings = [" ".join(section.heading.split()) for section in document.sections]
    parts.levels = array("i")
    for section in document.sections:
        parts.levels.extend((section.parents, section.line))
    parts.passages = array("I")
    segments = [lexicon.scan("\n".join((os.path.splitext(entry.path.rsplit("/", 1)[-1])[0], *parts.names)))]
    segments.extend(lexicon.scan(heading) for heading in parts.headings)
    for passage in document.passages:
        holder = NO_SECTION if passage.section < 0 else passage.section
        parts.passages.extend((holder, passage.line, passage.end_line, passage.start, passage.end))
        segments.append(lexicon.scan(data[passage.start:passage.end].decode("utf-8", "replace")))
    parts.lengths = array("I", [len(segment) for segment in segments])
    parts.surfaces = array("I")
    for segment in segments:
        parts.surfaces.extend(segment)
    parts.problems = list(document.warnings)
    return parts


class Source:
    """Where the words of a hit come from: headings and lines from the index, text from the files."""

    __slots__ = ("_index", "_paths", "_read")

    def __init__(self, index: Index, read: Callable[[int, int, int], str]) -> None:
        self._index = index
        self._read = read
        self._paths: dict[int, tuple[str, ...]] = {}

    def heading_path(self, passage: int) -> tuple[str, ...]:
        """Headings above a passage, outermost first."""
        index = self._index
        section = index.passages_table[passage * PASSAGE_WIDTH]
        if section == NO_SECTION:
            return ()
        file = index.file_of_passage(passage)
        first = index.section_start[file]
        found = self._paths.get(first + section)
        if found is None:
            names = []
            last = index.section_start[file + 1]
            at = first + section
            # A parent comes before its child; anything else is a damaged index and ends the path.
            while first <= at < last:
                heading = index.headings[at]
                if heading:
                    names.append(heading)
                parent = index.levels[2 * at]
                if parent < 0 or first + parent >= at:
                    break
                at = first + parent
            found = self._paths[first + section] = tuple(reversed(names))
        return found

    def lines(self, passage: int) -> tuple[int, int]:
        """First and last line of a passage."""
        table = self._index.passages_table
        return table[passage * PASSAGE_WIDTH + 1], table[passage * PASSAGE_WIDTH + 2]

    def text(self, passage: int) -> str:
        """The passage as it stands in its file."""
        index = self._index
        at = passage * PASSAGE_WIDTH
        return self._read(index.file_of_passage(passage), index.passages_table[at + 3], index.passages_table[at + 4])


class Index:
    """One generation of the index of a bank, in memory or mapped.

    Parameters
    ----------
    parts : mapping of str to buffer
        As :func:`memtree.build.assemble` makes them or :func:`memtree.sections.open_sections` maps them.

    Attributes
    ----------
    generation : int
    paths : list of str
        In code point order; the document id of a file is its place here.
    n_files, n_passages : int
    n_dead : int
        Surfaces that no file holds any more.
    """

    def __init__(self, parts: Any) -> None:
        self.parts = parts
        try:
            (self.generation, self.n_files, self.n_passages, self.n_sections, self.n_dead, self.settings_digest,
             *stamp) = META.unpack(bytes(parts["meta"]))
            self.tree_stamp = TreeStamp(*stamp)
            self.passage_start = _view(parts, "passage_start", "I")
            self.section_start = _view(parts, "section_start", "I")
            self.passages_table = _view(parts, "passages", "I")
            self.levels = _view(parts, "levels", "i")
            self.stats = _view(parts, "stats", "q")
            self.days = _view(parts, "days", "i")
            self.lexicon = Lexicon.from_parts(parts, "lexicon.")
            self.file_postings = Postings.from_parts(parts, "files.")
            self.passage_postings = Postings.from_parts(parts, "passages.")
        except (KeyError, struct.error, ValueError, TypeError) as error:
            raise IndexFileError(f"damaged: {error}") from None
        sizes = (len(self.passage_start) == self.n_files + 1 == len(self.section_start)
                 and len(self.passages_table) == self.n_passages * PASSAGE_WIDTH
                 and len(self.levels) == 2 * self.n_sections
                 and len(self.stats) == STAT_WIDTH * self.n_files and len(self.days) == self.n_files
                 and self.file_postings.n_docs == self.n_files
                 and self.passage_postings.n_docs == self.n_passages)
        if not sizes:
            raise IndexFileError("damaged: its parts differ in size")
        self._paths: list[str] | None = None
        self._headings: list[str] | None = None
        self._names: list[list[str]] | None = None
        self._problems: dict[str, list[tuple[int | None, str]]] | None = None

    def _strings(self, name, n):
        """A part of joined strings as a list of `n`."""
        if not n:
            return []
        out = str(self.parts[name], "utf-8", "surrogateescape").split("\0")
        if len(out) != n:
            raise IndexFileError(f"damaged: part {name!r} holds {len(out)} entries, not {n}")
        return out

    def _string_lists(self, name, n):
        """A part of joined lists of strings as a list of `n` lists."""
        return [[string for string in row.split("\n") if string] for row in self._strings(name, n)]

    @property
    def paths(self) -> list[str]:
        if self._paths is None:
            self._paths = self._strings("paths", self.n_files)
        return self._paths

    @property
    def headings(self) -> list[str]:
        if self._headings is None:
            self._headings = self._strings("headings", self.n_sections)
        return self._headings

    def _table(self, name, width):
        """A part of tab-separated lines as lists of `width` fields."""
        rows = [row.split("\t", width - 1) for row in str(self.parts[name], "utf-8", "replace").split("\n") if row]
        if any(len(row) != width for row in rows):
            raise IndexFileError(f"damaged: part {name!r} is malformed")
        return rows

    @property
    def problems(self) -> list[tuple[str, int | None, str]]:
        """Warnings about indexed files, as (path, line, message)."""
        try:
            return [(path, int(line) or None, message) for path, line, message in self._table("problems", 3)]
        except ValueError:
            raise IndexFileError("damaged: part 'problems' is malformed") from None

    @property
    def skipped(self) -> list[Skipped]:
        """Files that could not be indexed."""
        try:
            return [Skipped(path, int(size), int(mtime_ns), int(seen_ns), message)
                    for size, mtime_ns, seen_ns, message, path in self._table("skipped", 5)]
        except ValueError:
            raise IndexFileError("damaged: part 'skipped' is malformed") from None

    def sizes(self) -> list[int]:
        """Bytes of each file."""
        return self.stats.tolist()[::STAT_WIDTH]

    def day(self, file: int) -> int:
        """Proleptic ordinal of a file's date: told by name or front matter, else the local day of its last change."""
        day = self.days[file]
        if not day:
            from datetime import date

            try:
                day = date.fromtimestamp(self.stats[STAT_WIDTH * file + 1] / 1e9).toordinal()
            except (ValueError, OverflowError, OSError):
                return 0
        return day

    @property
    def n_terms(self) -> int:
        """Distinct terms of field s that some file holds."""
        return self.lexicon.n_s - self.file_postings.df[:self.lexicon.n_s].tolist().count(0)

    def file_of_passage(self, passage: int) -> int:
        """The file that a passage belongs to."""
        from bisect import bisect_right

        return min(max(bisect_right(self.passage_start, passage) - 1, 0), self.n_files - 1)

    def digest(self, file: int) -> bytes:
        """Content hash of a file when it was indexed."""
        return bytes(self.parts["digests"][DIGEST_BYTES * file:DIGEST_BYTES * (file + 1)])

    def searcher(self, settings: Settings, read: Callable[[int, int, int], str]) -> Searcher:
        """Make the compiled searcher; `read(file, start, end)` gives text of a file."""
        self.file_postings.set_params(k1=settings.file_k1, b=settings.file_b, idf=self._idf_cache(settings))
        self.passage_postings.set_params(k1=settings.passage_k1, b=settings.passage_b)
        columns = {name: Columns(_view(self.parts, f"tree.{name}.indptr", "I"), _view(self.parts, f"tree.{name}", "I"))
                   for name in ("words", "nodes", "files", "keywords")}
        return Searcher(self.lexicon, self.file_postings, self.passage_postings, self.passage_start,
                        columns["words"], columns["nodes"], columns["files"], columns["keywords"],
                        _view(self.parts, "tree.columns", "I"), self.paths, Source(self, read))

    def _idf_cache(self, settings):
        """In mode "prefix" the IDF cache of tree-index.json as it stands, by column; else None."""
        if settings.mode != "prefix" or not len(self.parts["idf"]):
            return None
        return _view(self.parts, "idf", "d")

    def node_names(self) -> list[str]:
        """Names of the tree's nodes, by node id."""
        return self._strings("tree.names", len(_view(self.parts, "tree.files.indptr", "I")) - 1)

    def auto_keywords(self) -> list[list[str]]:
        """Generated keywords of the tree's nodes, by node id."""
        return self._string_lists("tree.auto", len(self.node_names()))

    @property
    def names(self) -> list[list[str]]:
        """Title, tags, keywords and aliases of each file."""
        if self._names is None:
            self._names = self._string_lists("names", self.n_files)
        return self._names

    def _problems_of(self, path):
        """Warnings about one file, as (line, message)."""
        if self._problems is None:
            self._problems = {}
            for where, line, message in self.problems:
                self._problems.setdefault(where, []).append((line, message))
        return self._problems.get(path, [])

    def file_parts(self, file: int) -> FileParts:
        """What is kept of one file, as copied from this index into the next."""
        parts = FileParts()
        parts.path = self.paths[file]
        parts.size, parts.mtime_ns, parts.verified_ns = self.stats[STAT_WIDTH * file:STAT_WIDTH * (file + 1)]
        parts.digest = self.digest(file)
        parts.day = self.days[file]
        first, last = self.section_start[file], self.section_start[file + 1]
        first_passage, last_passage = self.passage_start[file], self.passage_start[file + 1]
        if not first <= last <= self.n_sections or not first_passage <= last_passage <= self.n_passages:
            raise IndexFileError("damaged: sections or passages of a file out of range")
        parts.headings = self.headings[first:last]
        parts.levels = array("i", self.levels[2 * first:2 * last])
        parts.passages = array("I", self.passages_table[PASSAGE_WIDTH * first_passage:PASSAGE_WIDTH * last_passage])
        parts.names = self.names[file]
        segments = _view(self.parts, "segment_start", "q")
        surfaces = _view(self.parts, "surfaces", "I")
        lengths = _view(self.parts, "lengths", "I")
        first_segment = file + first + first_passage
        last_segment = first_segment + 1 + (last - first) + (last_passage - first_passage)
        parts.lengths = array("I", lengths[first_segment:last_segment])
        parts.surfaces = array("I", surfaces[segments[file]:segments[file + 1]])
        if sum(parts.lengths) != len(parts.surfaces):
            raise IndexFileError("damaged: segments of a file differ in size")
        known = self.lexicon.n_surfaces
        if parts.surfaces and max(parts.surfaces) >= known:
            raise IndexFileError("damaged: a surface that does not exist")
        parts.problems = self._problems_of(parts.path)
        return parts

    def with_parts(self, **parts) -> Index:
        """The same index with some parts replaced."""
        return Index({**{key: self.parts[key] for key in self.parts}, **parts})

    def with_tree_stamp(self, stamp: TreeStamp) -> Index:
        """The same index, known to be made with this tree-index.json."""
        return self.with_parts(meta=META.pack(
            self.generation, self.n_files, self.n_passages, self.n_sections, self.n_dead, self.settings_digest,
            stamp.size, stamp.mtime_ns, stamp.read_ns, stamp.digest))

    def outlines(self) -> list[tuple[str, list[str], list[str]]]:
        """Path, names and headings of each file."""
        return [(path, self.names[i], self.headings[self.section_start[i]:self.section_start[i + 1]])
                for i, path in enumerate(self.paths)]

    def save(self, path: str) -> None:
        """Write the index to one file, atomically."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_sections(path, KIND, {name: self.parts[name] for name in self.parts})


def load(path: str) -> Index:
    """Map an index file; nothing but its header is read.

    Raises
    ------
    FileNotFoundError
        There is none.
    IndexFileError
        It is corrupt, truncated or of another version.
    """
    return Index(open_sections(path, KIND, remedy="delete the file; it is rebuilt from its source"))
