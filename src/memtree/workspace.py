"""What lies where in a workspace, and which files are new, changed or gone.

Paths that people see are relative to the bank, in NFC, with ``/``. ``MEMORY.md`` and ``memory/...`` beside
the bank keep their name from the workspace; a file of the bank with that very path comes first.
"""

from __future__ import annotations

import os
import stat

from memtree.errors import BankError, PathError
from memtree.files import contained, is_below

MAX_FILE_BYTES = 16 << 20
SKIPPED_FOLDERS = frozenset(("_meta", "node_modules"))


class Workspace:
    """The folders of a bank.

    Attributes
    ----------
    root : str
        Absolute path of the workspace.
    bank : str
        What is indexed: ``root/bank``, or `root` itself where there is no such folder.
    state : str
        ``root/.memtree``: what can be rebuilt, locks, the journal.
    recall : str
        ``root/recall``: the search buffer.
    meta : str
        ``bank/_meta``, with tree-index.json.
    logs : str
        ``root/memory``: the daily logs.
    settings : str
        ``root/memtree.toml``.
    doubt : str
        Why another folder could have been meant; empty if none could.

    Notes
    -----
    A folder ``bank`` beside the marks of a workspace (``memory/``, MEMORY.md, memtree.toml, ``.memtree/``) stands for
    that workspace, unless it holds a memtree.toml or ``bank/`` of its own.
    """

    __slots__ = ("bank", "doubt", "logs", "meta", "recall", "root", "settings", "state")

    def __init__(self, path: str):
        if not path or "\0" in path:
            raise BankError("is no name of a folder", path=repr(path), remedy="give the folder of your notes")
        self.root = os.path.realpath(path)
        if not os.path.isdir(self.root):
            raise BankError("there is no such folder", path=path)
        self.root, self.doubt = _workspace_of(self.root)
        bank = os.path.join(self.root, "bank")
        # A bank that is a link out of the workspace would open all of the disk to whoever made the bank.
        inside = os.path.isdir(bank) and is_below(os.path.realpath(bank), self.root)
        self.bank = bank if inside else self.root
        self.state = os.path.join(self.root, ".memtree")
        self.recall = os.path.join(self.root, "recall")
        self.meta = os.path.join(self.bank, "_meta")
        self.logs = os.path.join(self.root, "memory")
        self.settings = os.path.join(self.root, "memtree.toml")

    def __repr__(self) -> str:
        return f"Workspace({self.root!r})"

    def locate(self, path: str) -> str:
        """Give the absolute path of a file named as in results, in NFC or NFD.

        Raises
        ------
        PathError
            It leaves the workspace, or there is no such file.
        """
        for folder in (self.bank, self.root):
            if folder == self.root and folder != self.bank and not _is_beside_bank(path):
                continue
            direct = contained(folder, path)
            found = direct if os.path.exists(direct) else _other_form(folder, path)
            if found and os.path.isfile(found):
                return contained(folder, os.path.relpath(found, folder))
        raise PathError("there is no such file in the bank", path=path)

    def is_interrupted(self) -> bool:
        """Whether a change of several files was begun and not finished: by a killed process, or one at work."""
        try:
            names = os.listdir(os.path.join(self.state, "journal"))
        except OSError:
            return False
        return any(not name.startswith("done-") for name in names)

    def name(self, path: str) -> str:
        """Give the name in results of a file given by absolute path."""
        folder = self.bank if path.startswith(self.bank + os.sep) else self.root
        return nfc(os.path.relpath(path, folder).replace(os.sep, "/"))


class Entry:
    """A file as a scan sees it.

    Attributes
    ----------
    path : str
        Name in results.
    real : str
        Absolute path as the file system spells it.
    size, mtime_ns, inode : int
        As of the scan; `read` sets them to those of the content it returns.
    digest : bytes
        BLAKE2b of the content, 16 bytes; empty until `read`.
    """

    __slots__ = ("digest", "inode", "mtime_ns", "path", "real", "size")

    def __init__(self, path: str, real: str, size: int, mtime_ns: int, inode: int = 0, digest: bytes = b"") -> None:
        self.path = path
        self.real = real
        self.size = size
        self.mtime_ns = mtime_ns
        self.inode = inode
        self.digest = digest

    def __repr__(self) -> str:
        return f"Entry({self.path!r}, {self.size}, {self.mtime_ns})"


class Problem:
    """A file that is left out, and why."""

    __slots__ = ("message", "path")

    def __init__(self, path: str, message: str):
        self.path = path
        self.message = message

    def __repr__(self) -> str:
        return f"Problem({self.path!r}, {self.message!r})"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def find(start: str) -> Workspace:
    """Find the workspace that a folder belongs to.

    It is `start` if that holds ``bank/``, ``.memtree/`` or memtree.toml. Else it is the nearest folder above
    with ``.memtree/`` or memtree.toml, or with a ``bank/`` or ``memory/`` that `start` lies in. Else it is
    `start` itself, a plain folder of Markdown.

    Raises
    ------
    BankError
        `start` is no folder.
    """
    folder = os.path.realpath(start)
    if not os.path.isdir(folder):
        raise BankError("there is no such folder", path=start, remedy="give the folder of your notes")
    above = folder
    below = ""  # the step from `above` down to `folder`
    while True:
        has_bank = os.path.isdir(os.path.join(above, "bank"))
        if (
            (has_bank and below in ("", "bank", "memory"))
            or os.path.isdir(os.path.join(above, ".memtree"))
            or os.path.isfile(os.path.join(above, "memtree.toml"))
        ):
            return Workspace(above)
        parent, below = os.path.split(above)
        if parent == above:
            return Workspace(folder)
        above = parent


def is_markdown(name: str) -> bool:
    """Whether a file name is that of a note; a write in progress is none."""
    return (name.endswith(".md") or name[-9:].lower().endswith((".md", ".markdown"))) and not name.startswith(".")


def _workspace_of(folder: str) -> tuple[str, str]:
    """The workspace that a folder is or is the bank of, and what makes that doubtful."""
    above, name = os.path.split(folder)
    if name != "bank" or os.path.isdir(os.path.join(folder, "bank")) or not any(
        os.path.exists(os.path.join(above, mark)) for mark in ("memory", "MEMORY.md", "memtree.toml", ".memtree")
    ):
        return folder, ""
    if os.path.isfile(os.path.join(folder, "memtree.toml")):
        return folder, f"{folder} is taken by itself, for its memtree.toml; the workspace around it is {above}"
    if os.path.isdir(os.path.join(folder, ".memtree")):
        return above, f"the workspace is {above}; {folder}/.memtree is of no use any more: delete it"
    return above, ""


def _is_beside_bank(path: str) -> bool:
    return path == "MEMORY.md" or path.startswith("memory/")


def _other_form(folder: str, path: str) -> str | None:
    """Find a path whose names the file system spells in another Unicode form."""
    contained(folder, path)
    for part in path.split("/"):
        try:
            names = os.listdir(folder)
        except OSError:
            return None
        wanted = nfc(part)
        match = part if part in names else next((name for name in names if nfc(name) == wanted), None)
        if match is None:
            return None
        folder = os.path.join(folder, match)
    return folder


def nfc(name: str) -> str:
    """Normalise a name to NFC; names that can't change are told without the Unicode tables."""
    if name.isascii():
        return name
    for character in name:
        # Below U+0300 nothing combines, and Hangul syllables are composed already.
        if character >= "\u0300" and not "\uac00" <= character <= "\ud7a3":
            import unicodedata

            return unicodedata.normalize("NFC", name)
    return name


def scan(workspace: Workspace, logs: bool = False, problems: list[Problem] | None = None) -> list[Entry]:
    """List the Markdown files that belong in the index.

    Parameters
    ----------
    workspace : Workspace
    logs : bool
        Also list ``memory/``.
    problems : list of Problem, optional
        Gains what is left out: links that dangle or leave the workspace, folders that can't be read.

    Returns
    -------
    list of Entry
        Sorted by path, each file once, however many links lead to it.
    """
    walk = _Walk(workspace, [] if problems is None else problems)
    walk.folder(workspace.bank, "")
    if workspace.bank != workspace.root:
        walk.file(os.path.join(workspace.root, "MEMORY.md"), "MEMORY.md")
        if logs:
            walk.folder(workspace.logs, "memory/")
    return walk.entries()


class _Walk:
    """One walk through the bank."""

    def __init__(self, workspace: Workspace, problems: list[Problem]):
        self.workspace = workspace
        self.problems = problems
        self.found: dict[str, Entry] = {}
        self.raw_names: dict[str, str] = {}
        self.links: list[tuple[str, str]] = []
        self.folder_links: list[tuple[str, str]] = []

    def folder(self, folder: str, prefix: str) -> None:
        """Walk a folder; `prefix` stands before the names of its files."""
        waiting = [(folder, prefix)]
        while waiting:
            folder, prefix = waiting.pop()
            try:
                with os.scandir(folder) as listing:
                    items = list(listing)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.problems.append(Problem(nfc(prefix) or folder, f"can't be read: {error.strerror}"))
                continue
            for item in items:
                name = item.name
                if name.startswith("."):
                    continue
                is_link = item.is_symlink()
                if not is_link and item.is_dir():
                    if name not in SKIPPED_FOLDERS and (prefix or name != "recall"):
                        waiting.append((item.path, prefix + name + "/"))
                elif is_markdown(name):
                    if is_link:
                        self.links.append((item.path, prefix + name))
                    else:
                        self._add(item, item.path, prefix + name)
                elif is_link and item.is_dir():
                    self.folder_links.append((item.path, prefix + name))

    def file(self, path: str, name: str) -> None:
        """Take one file, if it exists."""
        if os.path.islink(path):
            self.links.append((path, name))
        elif os.path.exists(path) and name not in self.found:
            self._add(None, path, name)

    def entries(self) -> list[Entry]:
        """Follow the links and give what was found."""
        done: set[str] = set()
        while self.folder_links:
            path, name = self.folder_links.pop()
            target = self._target(path, name)
            # What lies in the bank is walked under its own name.
            if target and target not in done and not is_below(target, os.path.realpath(self.workspace.bank)):
                done.add(target)
                if not is_below(self.workspace.bank, target):
                    self.folder(target, name + "/")
        known = {entry.real for entry in self.found.values()}
        for path, name in sorted(self.links):
            target = self._target(path, name)
            if target and target not in known:
                known.add(target)
                self._add(None, target, name)
        return [self.found[path] for path in sorted(self.found)]

    def _target(self, path: str, name: str) -> str | None:
        target = os.path.realpath(path)
        if not is_below(target, self.workspace.root):
            self.problems.append(Problem(nfc(name), "a symbolic link that leaves the workspace: skipped"))
        elif not os.path.exists(target):
            self.problems.append(Problem(nfc(name), "a symbolic link to a file that does not exist: skipped"))
        else:
            return target
        return None

    def _add(self, item: os.DirEntry[str] | None, path: str, name: str) -> None:
        try:
            status = os.stat(path) if item is None else item.stat(follow_symlinks=False)
        except OSError as error:
            self.problems.append(Problem(nfc(name), f"can't be read: {error.strerror}"))
            return
        if not stat.S_ISREG(status.st_mode):
            self.problems.append(Problem(nfc(name), "is no regular file: skipped"))
            return
        shown = nfc(name)
        if shown != name:
            self.raw_names.setdefault(shown, name)
        if shown in self.found:
            # One name in two forms, on a file system that keeps both: the NFD file shows its own form.
            other = self.found[shown]
            if shown == name:
                other.path = self.raw_names[shown]
                self.found[other.path] = other
            else:
                shown = name
        self.found[shown] = Entry(shown, path, status.st_size, status.st_mtime_ns, status.st_ino)


def read(entry: Entry, problems: list[Problem], max_bytes: int = MAX_FILE_BYTES) -> bytes | None:
    """Read a file of the bank.

    Parameters
    ----------
    entry : Entry
        Its size, time and digest become those of the content returned.
    problems : list of Problem
        Gains the reason if the file is left out.
    max_bytes : int
        Larger files are left out.

    Returns
    -------
    bytes or None
        UTF-8 without NUL; None if the file is unreadable, too large, binary or of another encoding.
    """
    problem = ""
    data = b""
    try:
        # NOFOLLOW: a file that has become a link since the scan may lead anywhere.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(entry.real, os.O_RDONLY | flags)
        try:
            status = os.fstat(descriptor)
            if status.st_size > max_bytes:
                problem = f"is too large: {status.st_size:,} bytes, the limit is {max_bytes:,}: skipped"
            else:
                data = _read_all(descriptor, max_bytes + 1)
        finally:
            os.close(descriptor)
        entry.size, entry.mtime_ns, entry.inode = status.st_size, status.st_mtime_ns, status.st_ino
    except OSError as error:
        problem = f"can't be read: {error.strerror}"
    if not problem and len(data) > max_bytes:
        problem = f"is too large: over {max_bytes:,} bytes: skipped"
    if not problem and b"\0" in data:
        problem = "is binary (it holds a NUL byte): skipped"
    if not problem:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            problem = f"is not UTF-8 (line {line}): skipped; save it as UTF-8"
    if problem:
        problems.append(Problem(entry.path, problem))
        entry.digest = b""
        return None
    entry.digest = digest(data)
    return data


def _read_all(descriptor: int, limit: int) -> bytes:
    parts = []
    while limit > 0:
        part = os.read(descriptor, min(limit, 1 << 20))
        if not part:
            break
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def digest(data: bytes) -> bytes:
    """Give the BLAKE2b hash of a content, 16 bytes."""
    try:
        from _blake2 import blake2b  # hashlib would load OpenSSL, a cold command's whole budget
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).digest()
