"""The items that the files of a bank hold, kept ready for dedup.

Files are read again only when they have changed, and of a changed file only the lines that are new are taken apart, so
that many retains in a row, in this process and in others, each cost what they add.
"""

from __future__ import annotations

from memtree.dedup import Deduper
from memtree.items import Item, parse_stored, renoted, stored_bullets
from memtree.known import Known
from memtree.workspace import Problem, Workspace, read, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.config import Settings


class Place:
    """Where a stored item stands.

    Attributes
    ----------
    file : str
        Name in results.
    line : str
        The bullet as it is to stand there, without its end; it may be wrapped over several lines.
    original : str or None
        As it stands on disk; None for one that is not there yet.
    day : str
        Under which it is to be added.
    """

    __slots__ = ("day", "file", "line", "original")

    def __init__(self, file: str, line: str, original: str | None, day: str = ""):
        self.file = file
        self.line = line
        self.original = original
        self.day = day


class Memories:
    """Items of all files of a bank.

    Attributes
    ----------
    deduper : Deduper
        Over all items; each `Known.where` is its `Place`.
    problems : list of Problem
        Files that could not be read at the last `refresh`.
    """

    __slots__ = ("_files", "_seen", "_settings", "_workspace", "deduper", "problems")

    def __init__(self, workspace: Workspace, settings: Settings):
        self._workspace = workspace
        self._settings = settings
        self._seen: dict[str, tuple] = {}
        self._files: dict[str, dict[str, list[Known]]] = {}
        self.deduper = Deduper()
        self.problems: list[Problem] = []

    def refresh(self) -> None:
        """Take in what has changed on disk; to be called with the workspace's lock held."""
        self.problems = []
        entries = scan(self._workspace, problems=self.problems)
        for path in self._files.keys() - {entry.path for entry in entries}:
            self._take(path, "")
            del self._files[path], self._seen[path]
        for entry in entries:
            # A writer replaces the file, so its inode tells even of two edits within one tick of the clock.
            stamp = (entry.size, entry.mtime_ns, entry.inode)
            if self._seen.get(entry.path) != stamp:
                data = read(entry, self.problems, self._settings.max_file_size)
                self._take(entry.path, "" if data is None else data.decode())
                self._seen[entry.path] = stamp

    def _take(self, path, text):
        """Let the items of a file be those of a text."""
        old = self._files.get(path, {})
        new: dict[str, list[Known]] = {}
        for _, line in stored_bullets(text):
            waiting = old.get(line)
            if waiting:
                known = waiting.pop(0)
                known.where.original = line
                new.setdefault(line, []).append(known)
            elif item := parse_stored(line):
                new.setdefault(line, []).append(self.deduper.add(item, Place(path, line, line)))
        for left in old.values():
            for known in left:
                self.deduper.discard(known)
        self._files[path] = new

    def add(self, item: Item, place: Place) -> Known:
        """Take in an item that is about to be written."""
        known = self.deduper.add(item, place)
        self._files.setdefault(place.file, {}).setdefault(place.line, []).append(known)
        return known

    def replace(self, known: Known, item: Item) -> None:
        """Let an item stand where another stood."""
        place = known.where
        self._files[place.file][place.line].remove(known)
        self.deduper.discard(known)
        place.line = renoted(place.line, item)
        self.add(item, place)

    def holds(self, path: str) -> bool:
        """Whether the bank has such a file."""
        return path in self._seen
