"""Documents from files, one by one: what `BM25.build` reads.

A source may be iterated several times; a document's number is its place in it.
"""

from __future__ import annotations

import json
import os
import stat
from fnmatch import fnmatchcase

from memtree.errors import MemtreeError

MAX_LINE_BYTES = 64 << 20
MAX_FILE_BYTES = 64 << 20


def files_of(source):
    """Paths of the files that a source reads, as far as it tells."""
    if isinstance(source, JsonLines):
        yield source.path
    elif isinstance(source, Folder):
        yield from (os.path.join(source.path, path) for path in source.paths)
    elif isinstance(getattr(source, "name", None), (str, bytes)):  # an open file
        yield source.name


class JsonLines:
    """The documents of a file with one JSON value a line.

    Parameters
    ----------
    path : str or os.PathLike
    field : str, optional
        Where the text of each object is, by default "text"; its value may also be a list of tokens. With None a
        line is the text, or the list, itself. Empty lines are no documents.

    Raises
    ------
    MemtreeError
        While it is read: a line is no JSON, lacks the field, or is longer than 64 MiB.
    """

    def __init__(self, path, field: str | None = "text"):
        self.path = os.fsdecode(path)
        self.field = field
        self._n_lines = self._n_bytes = 0

    def __iter__(self):
        self._n_lines = self._n_bytes = 0
        with open(self.path, "rb") as stream:
            while line := stream.readline(MAX_LINE_BYTES + 1):
                self._n_lines += 1
                self._n_bytes += len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise self._error(f"the line is longer than {MAX_LINE_BYTES} bytes")
                if self._n_lines == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line.isspace():
                    yield self._document(line)

    def _document(self, line: bytes):
        try:
            found = json.loads(line)
        except UnicodeDecodeError:
            raise self._error("the line is not UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise self._error(f"the line is not JSON: {error}") from None
        if self.field is not None:
            if not isinstance(found, dict) or self.field not in found:
                raise self._error(f"the line has no field {self.field!r}", "name another field")
            found = found[self.field]
        if isinstance(found, str):
            return found
        if isinstance(found, list) and all(isinstance(token, str) for token in found):
            return found
        where = "the line" if self.field is None else f"field {self.field!r}"
        raise self._error(f"{where} holds neither a text nor a list of tokens")

    def _error(self, message, remedy="mend or remove the line"):
        return MemtreeError(message, path=self.path, line=self._n_lines, remedy=remedy)

    def __length_hint__(self) -> int:
        """About how many lines there are, judged by those read so far."""
        if not self._n_lines:
            return 0
        return max(self._n_lines, os.path.getsize(self.path) * self._n_lines // self._n_bytes)


class Folder:
    """The text files of a folder and the folders in it, each one document.

    Parameters
    ----------
    path : str or os.PathLike
    pattern : str
        Of the file names, as in ``*.txt``. Names that start with a dot, and links, are left out.

    Attributes
    ----------
    paths : list of str
        Path of each document within the folder, in the order of the documents: sorted.
    problems : list of (str, str)
        Path and reason of each file that could not be read as text; its document is empty.

    Raises
    ------
    MemtreeError
        There is no such folder.
    """

    def __init__(self, path, pattern: str = "*"):
        self.path = os.fsdecode(path)
        self.problems: list[tuple[str, str]] = []
        if not os.path.isdir(self.path):
            raise MemtreeError("there is no such folder", path=self.path)
        self.paths = sorted(self._find("", pattern))

    def _find(self, below: str, pattern: str):
        waiting = [below]
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(os.path.join(self.path, folder)))
            except OSError as error:
                self.problems.append((folder, error.strerror or str(error)))
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(os.path.join(folder, entry.name))
                elif entry.is_file(follow_symlinks=False) and fnmatchcase(entry.name, pattern):
                    yield os.path.join(folder, entry.name)

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self):
        self.problems.clear()
        for path in self.paths:
            text, problem = self._read(path)
            if problem:
                self.problems.append((path, problem))
            yield text

    def _read(self, path: str) -> tuple[str, str]:
        """Text, and what is wrong with the file."""
        try:
            with open(os.path.join(self.path, path), "rb") as stream:
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    return "", "is no file"
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            return "", error.strerror or str(error)
        if len(data) > MAX_FILE_BYTES:
            return "", f"is larger than {MAX_FILE_BYTES} bytes"
        if b"\0" in data:
            return "", "is binary: it holds NUL bytes"
        try:
            return data.decode("utf-8-sig"), ""
        except UnicodeDecodeError as error:
            return "", f"is not UTF-8 at byte {error.start}"
