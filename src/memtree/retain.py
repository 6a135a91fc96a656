"""Retain: route items to their files, tell duplicates and updates, write; nothing is dropped without a reason.

All of one call is written under the workspace's lock, at once: one file atomically, several through the journal. When
`retain` returns, it is on disk.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

from memtree import hub, journal
from memtree.compare import DUPLICATE, NEW
from memtree.days import today
from memtree.errors import BankError
from memtree.files import contained, write_atomic
from memtree.items import Item, parse_item, plain_line
from memtree.memories import Memories, Place
from memtree.placing import changed_lines, with_items
from memtree.routing import Router

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memtree.config import Settings
    from memtree.known import Known
    from memtree.workspace import Workspace

KNOWN = "known"
"""Kind of an outcome: the very item is there already, of that day; nothing is written."""


class Outcome:
    """What became of one item.

    Attributes
    ----------
    item : Item
        As stored, or as it would have been.
    kind : {"new", "update", "extends", "duplicate", "known"}
    reason : str
    file : str
        Where it is stored, relative to the bank; for "duplicate" and "known" where the other is.
    other : Item or None
        The stored item that the decision leans on, as it was.
    """

    __slots__ = ("file", "item", "kind", "other", "reason")

    def __init__(self, item: Item, kind: str, reason: str, file: str, other: Item | None):
        self.item = item
        self.kind = kind
        self.reason = reason
        self.file = file
        self.other = other

    def to_dict(self) -> dict:
        """As plain data."""
        return {"item": self.item.line()[2:], "date": self.item.date, "kind": self.kind, "file": self.file,
                "reason": self.reason, "other": self.other.stored()[2:] if self.other else None}

    def __repr__(self) -> str:
        return f"Outcome({self.kind}, {self.file!r}, {self.item!r})"


class Retained(list):
    """Outcomes of a retain, in the order of the items.

    Attributes
    ----------
    changes : dict of str to (str, str)
        Text before and after, by path relative to the bank.
    problems : list of (path, line, message)
        Lines that are no items; they are still where they were.
    """

    def __init__(self, outcomes: Iterable[Outcome] = ()):
        super().__init__(outcomes)
        self.changes: dict[str, tuple[str, str]] = {}
        self.problems: list[tuple[str, int, str]] = []

    def diff(self) -> str:
        """What is written, as a unified diff."""
        from difflib import unified_diff

        lines: list[str] = []
        for path, (before, after) in sorted(self.changes.items()):
            for line in unified_diff(before.splitlines(True), after.splitlines(True), path, path, n=2):
                lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
        return "".join(lines)


class Retainer:
    """Retains into one workspace; keeps its items ready between calls.

    Parameters
    ----------
    workspace : Workspace
    settings : Settings
    rank : callable, optional
        Takes a text and the paths of the parts of a split file; gives the part that fits best, or None.

    Raises
    ------
    SettingsError
        A ``[[routing]]`` rule can't be used.
    """

    __slots__ = ("_memories", "_rank", "_router", "_settings", "_workspace")

    def __init__(self, workspace: Workspace, settings: Settings,
                 rank: Callable[[str, list[str]], str | None] | None = None):
        self._workspace = workspace
        self._settings = settings
        self._rank = rank
        self._router = Router(workspace, settings)
        self._memories = Memories(workspace, settings)

    def retain(self, items: Iterable[Item | str], *, source: str = "", dry_run: bool = False,
               after: Callable[[], None] | None = None) -> Retained:
        """Store items.

        Parameters
        ----------
        items : iterable of Item or str
            A text is read as ``W @entity: text``. Those without a date are of today.
        source : str
            Noted at sightings, where it is not the log of the day.
        dry_run : bool
            Only tell.
        after : callable, optional
            Called when all is on disk, still under the lock.

        Raises
        ------
        Malformed
            A text is no item; nothing is stored.
        LockError
            Another process holds the lock; nothing is stored.
        WriteError
            Nothing is stored.
        """
        day = today(self._settings)
        read = [_item(item) for item in items]
        dated = [item if item.date else item.changed(date=day) for item in read]
        source = plain_line("".join(" " if letter in ";,()" else letter for letter in source))
        # What is only told needs no lock: a writer replaces whole files.
        with nullcontext() if dry_run else journal.Writing(self._workspace):
            try:
                self._memories.refresh()
                result = _Run(self._workspace, self._router, self._memories, self._rank, source,
                              self._settings.max_file_size).run(dated)
                if not dry_run:
                    self._write(result)
                    if after is not None:
                        after()
            except BaseException:
                # What is in memory may be ahead of the disk.
                self._memories = Memories(self._workspace, self._settings)
                raise
            if dry_run:
                self._memories = Memories(self._workspace, self._settings)
        return result

    def _write(self, result):
        contents = {self._target(path): text.encode() for path, (_, text) in result.changes.items()}
        if len(contents) == 1:
            for target, data in contents.items():
                write_atomic(target, data)
        elif contents:
            root = self._workspace.root
            journal.apply(self._workspace, f"retain {len(result)} items",
                          {os.path.relpath(target, root): data for target, data in contents.items()})

    def _target(self, path):
        """Absolute path of a file of the bank, whatever Unicode form its name has on disk."""
        try:
            return self._workspace.locate(path)
        except ValueError:
            return contained(self._workspace.bank, path)


def _item(given):
    if isinstance(given, str):
        return parse_item(given)
    if isinstance(given, Item):
        return parse_item(given.line(), given.date)
    raise TypeError(f"an item must be a text like 'W @entity: text' or an Item, not {given!r}")


class _Run:
    """One retain, with the lock held: decides item by item, then composes the files."""

    def __init__(self, workspace, router, memories, rank, source, max_file_size):
        self.max_file_size = max_file_size
        self.workspace = workspace
        self.router = router
        self.memories = memories
        self.rank = rank
        self.source = source
        self.parts: dict[str, list[str]] = {}
        self.touched: dict[Place, None] = {}

    def run(self, items: list[Item]) -> Retained:
        result = Retained(map(self.one, items))
        by_file: dict[str, list[Place]] = {}
        for place in self.touched:
            by_file.setdefault(place.file, []).append(place)
        for path, places in by_file.items():
            before = self.text(path)
            changes: dict[str, list[str]] = {}
            for place in places:
                if place.original is not None:
                    changes.setdefault(place.original, []).append(place.line)
            after = changed_lines(before, changes)
            added = [(place.day, place.line) for place in places if place.original is None]
            result.changes[path] = before, with_items(after, added, path) if added else after
        return result

    def one(self, item: Item) -> Outcome:
        """Decide on one item and note what is to be written."""
        # One that holds before those that were superseded.
        for known in sorted(self.memories.deduper.same(item), key=lambda known: known.item.superseded != ""):
            # A log read again must not bring back what was superseded; somebody who says it again does.
            if item.date in known.item.days() and not (known.item.superseded and self.source) and not (
                    self.tells_confidence(item, known.item)):
                return Outcome(item, KNOWN, "already stored", known.where.file, known.item)
        decision = self.memories.deduper.decide(item)
        known = decision.known
        if decision.kind == NEW:
            return self.store(item, NEW, decision.reason, None)
        if decision.kind == DUPLICATE:
            return self.sighting(item, known, decision.reason)
        if known.item.date > item.date:
            stored = item.changed(superseded=known.item.date)
            return self.store(stored, decision.kind, f"{decision.reason}; the other is newer", known)
        outcome = self.store(item, decision.kind, decision.reason, known)
        self.replace(known, known.item.changed(superseded=item.date))
        return outcome

    def store(self, item, kind, reason, known):
        file = self.part_of(self.router.file(item), item)
        place = Place(file, item.stored(), None, item.date)
        self.memories.add(item, place)
        self.touched[place] = None
        return Outcome(item, kind, reason, file, known and known.item)

    def sighting(self, item, known: Known, reason):
        """Note on the item that stays that it was seen again; an opinion is as sure as it was last said."""
        stays, place = known.item, known.where
        is_seen, changes = item.date in stays.days(), self.tells_confidence(item, stays)
        if is_seen and not changes:
            return Outcome(item, KNOWN, f"{reason}; seen that day", place.file, stays)
        fields = {} if is_seen else {"seen": (*stays.seen, f"{item.date} {self.source}".strip())}
        if changes:
            fields["confidence"] = item.confidence
            reason += f"; its confidence is {item.confidence} now"
        self.replace(known, stays.changed(**fields))
        return Outcome(item, DUPLICATE, reason, place.file, stays)

    @staticmethod
    def tells_confidence(item, stays):
        """Whether an item tells anew how sure an opinion is."""
        return bool(item.confidence) and item.date >= max(stays.days()) and item.confidence != stays.confidence

    def replace(self, known, item):
        place = known.where
        self.memories.replace(known, item)
        self.touched[place] = None

    def part_of(self, file, item):
        """The file itself, or, if it was split, the part that fits the item best."""
        for _ in range(8):  # a part may have been split again
            if file not in self.parts:
                folder = os.path.dirname(file)
                text = self.text(file).encode()
                listed = hub.parts_of(text) if hub.GENERATED in text else []
                paths = (os.path.normpath(os.path.join(folder, part)) for part in listed)
                self.parts[file] = [path.replace(os.sep, "/") for path in paths]
            parts = [part for part in self.parts[file] if self.memories.holds(part)]
            if not parts:
                return file
            best = self.rank(f"{item.entity} {item.text}", parts) if self.rank else None
            file = best if best in parts else parts[-1]
        return file

    def text(self, path):
        """Content of a file of the bank; empty if there is none."""
        try:
            found = self.workspace.locate(path)
        except ValueError:
            return ""
        why = ""
        try:
            with open(found, "rb") as file:
                data = file.read()
            text = data.decode()
        except OSError as error:
            why = f"can't be read: {error.strerror}"
        except UnicodeDecodeError:
            why = "is not UTF-8"
        else:
            # What recall leaves out must not take in more.
            if "\0" in text:
                why = f"holds a NUL character (line {text.count(chr(10), 0, text.index(chr(0))) + 1})"
            elif len(data) > self.max_file_size:
                why = f"is over {self.max_file_size:,} bytes, the limit for recall"
        if why:
            raise BankError(f"{why}; nothing was stored", found, remedy="mend the file, then retain again")
        return text
