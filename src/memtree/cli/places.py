"""Open the bank that a command works on."""

from __future__ import annotations

import os
import sys
from time import monotonic

from memtree import workspace
from memtree.bank import Bank
from memtree.cli.output import warn
from memtree.errors import BankError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values

PATIENCE = 1.0
"""Seconds of indexing before a progress bar is shown."""


class Progress:
    """A bar on standard error, if indexing takes long and somebody watches."""

    __slots__ = ("_bar", "_begun", "_task")

    def __init__(self):
        self._begun = 0.0
        self._bar = None
        self._task = None

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        self._begun = self._begun or now
        if self._bar is None and now - self._begun > PATIENCE and done < total:
            self._show(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
            if done >= total:
                self._bar.stop()
                self._bar = None

    def _show(self, total):
        import atexit

        from rich.console import Console
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("indexing", total=total)
        # An interrupt must not leave the terminal without its cursor.
        atexit.register(self._bar.stop)
        self._bar.start()


def _here() -> str:
    """The workspace that the current folder is in, or the folder itself if it looks like one of notes."""
    root = workspace.find(".").root
    marks = (os.path.join(root, mark) for mark in ("bank", ".memtree", "memtree.toml"))
    if any(map(os.path.exists, marks)) or (root != os.path.expanduser("~") and _holds_notes(root)):
        return root
    raise BankError("no notes here", root, remedy="go to the folder of your notes, or name it with --bank DIR")


def _holds_notes(folder: str) -> bool:
    """Whether there is a Markdown file in the folder or in one right below it."""
    below = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if workspace.is_markdown(entry.name):
                return True
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                below.append(entry.path)
    for path in below:
        try:
            if any(map(workspace.is_markdown, os.listdir(path))):
                return True
        except OSError:
            continue
    return False


def folder(values: Values) -> str:
    """The folder of ``--bank``, or the workspace that the current folder is in."""
    return _here() if values.bank is None else values.bank


def open_bank(values: Values) -> Bank:
    """The bank of ``--bank``, or the one that the current folder is in."""
    bank = Bank(
        folder(values),
        logs=getattr(values, "logs", False),
        mode=getattr(values, "mode", None),
        progress=Progress() if sys.stderr.isatty() else None,
    )
    if bank.workspace.doubt:
        warn(bank.workspace.doubt)
    return bank


def named(bank: Bank, path: str) -> str:
    """A file or folder as results name it, given so, or relative to the workspace or the current folder."""
    place = bank.workspace
    if os.path.exists(os.path.join(place.bank, path)) and not os.path.isabs(path):
        return path
    for base in (place.root, os.getcwd()):
        above, name = os.path.split(os.path.normpath(os.path.join(base, path)))
        found = os.path.join(os.path.realpath(above), name)
        if os.path.exists(found) and workspace.is_below(found, place.root):
            return "" if found == place.bank else place.name(found)
    return path
