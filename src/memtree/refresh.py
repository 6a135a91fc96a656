"""Keep the index of a bank true to its files: what is new, changed or gone is noticed, and only that is read."""

from __future__ import annotations

import os
import time
from array import array

from memtree import workspace as places
from memtree.errors import IndexFileError, LockError, MemtreeError, WriteError
from memtree.files import Lock
from memtree.index import STAT_WIDTH, Index, Skipped, TreeStamp, load, settings_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memtree.config import Settings
    from memtree.workspace import Entry, Workspace

CLOCK_TICK_NS = 2_000_000_000
"""Coarsest file clock in use (FAT): a file changed within one tick of its reading is not trusted by time and size."""
MAX_DEAD_SHARE = 0.5
"""Surfaces that no file holds any more are cleared away, by a build from nothing, when they are more than this."""
MIN_DEAD = 10_000
SAVE_WAIT_SECONDS = 0.2
"""A refresh that finds the lock held answers from memory and leaves saving to the next."""


class Changes:
    """What a refresh found.

    Attributes
    ----------
    added, changed, removed : list of str
        Paths.
    problems : list of (path, line or None, message)
        Files left out, warnings about files read, and anything else to tell the user.
    is_saved : bool
        Whether the index on disk is that in memory.
    """

    __slots__ = ("added", "changed", "is_saved", "problems", "removed")

    def __init__(self) -> None:
        self.added: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self.problems: list[tuple[str, int | None, str]] = []
        self.is_saved = True

    def __bool__(self):
        return bool(self.added or self.changed or self.removed)


def index_path(workspace: Workspace, settings: Settings, logs: bool) -> str:
    """Where the index of these options lies."""
    name = "index" + ("-logs" if logs else "") + ("" if settings.mode == "korean" else f"-{settings.mode}") + ".bin"
    return os.path.join(workspace.state, name)


def stored(workspace: Workspace, settings: Settings, logs: bool) -> tuple[Index | None, str | None]:
    """The index on disk, if there is a sound one of these settings.

    Returns
    -------
    index : Index or None
    problem : str or None
        Why a file that is there can't be used.
    """
    path = index_path(workspace, settings, logs)
    try:
        index = load(path)
    except FileNotFoundError:
        return None, None
    except (IndexFileError, OSError) as error:
        return None, f"the index could not be used and is rebuilt: {getattr(error, 'message', None) or error}"
    if index.settings_digest != settings_digest(settings):
        return None, None
    return index, None


def _is_young(mtime_ns, known_ns):
    """Whether a second edit within the same clock tick could hide behind equal time and size."""
    return mtime_ns >= known_ns - CLOCK_TICK_NS


def tree_path(workspace: Workspace) -> str:
    """Where tree-index.json lies."""
    return os.path.join(workspace.meta, "tree-index.json")


def tree_stamp(workspace: Workspace, now_ns: int) -> TreeStamp:
    """The stamp of tree-index.json as it is now."""
    try:
        stat = os.stat(tree_path(workspace))
        with open(tree_path(workspace), "rb") as file:
            return TreeStamp(stat.st_size, stat.st_mtime_ns, now_ns, places.digest(file.read()))
    except OSError:
        return TreeStamp(0, 0, now_ns, b"")


class _Look:
    """One look at the files of a bank, against what an index holds."""

    def __init__(self, index: Index | None, workspace: Workspace, settings: Settings, logs: bool):
        self.index = index
        self.workspace = workspace
        self.settings = settings
        self.logs = logs
        # Taken before the files are: whatever changes from now on counts as young.
        self.now_ns = time.time_ns()
        self.changes = Changes()
        problems: list[places.Problem] = []
        if workspace.is_interrupted():
            self._recover(problems)
        self.entries = places.scan(workspace, logs, problems)
        self.left_out = [(problem.path, None, problem.message) for problem in problems]
        self.same: dict[str, int] = {}
        self.to_read: list[tuple[Entry, bytes | None]] = []
        self.skipped: list[Skipped] = []
        self.restamped: dict[int, tuple[int, int, int]] = {}
        self.tree_restamped: TreeStamp | None = None
        self._compare()

    def _recover(self, problems):
        """Finish what a killed writer began, so that nobody reads half a change."""
        from memtree.journal import recover

        try:
            recover(self.workspace)
        except MemtreeError as error:
            problems.append(places.Problem(error.path, error.message))

    def _compare(self):
        """Sort the files into those that are as indexed, those to read and those to leave out."""
        index = self.index
        old = {} if index is None else {path: i for i, path in enumerate(index.paths)}
        skipped = {} if index is None else {one.path: one for one in index.skipped}
        for entry in self.entries:
            i = old.pop(entry.path, None)
            if i is None:
                known = skipped.get(entry.path)
                if known is not None and (known.size, known.mtime_ns) == (entry.size, entry.mtime_ns) and not _is_young(
                        known.mtime_ns, known.seen_ns):
                    self.skipped.append(known)
                else:
                    self.to_read.append((entry, None))
                    self.changes.added.append(entry.path)
                continue
            size, mtime_ns, known_ns = index.stats[STAT_WIDTH * i:STAT_WIDTH * (i + 1)]
            if size == entry.size and mtime_ns == entry.mtime_ns and not _is_young(mtime_ns, known_ns):
                self.same[entry.path] = i
                continue
            data = self.read(entry)
            if data is None:
                self.changes.removed.append(entry.path)
            elif entry.digest == index.digest(i):
                self.same[entry.path] = i
                self.restamped[i] = (entry.size, entry.mtime_ns, self.now_ns)
            else:
                self.to_read.append((entry, data))
                self.changes.changed.append(entry.path)
        self.changes.removed.extend(old)

    def read(self, entry: Entry) -> bytes | None:
        """Content of a file; None if it is gone or can't be indexed, which is noted."""
        problems: list[places.Problem] = []
        data = places.read(entry, problems, self.settings.max_file_size)
        if data is not None and not data.strip():
            problems.append(places.Problem(entry.path, "is empty: skipped"))
        if not problems:
            return data
        if os.path.lexists(entry.real):
            self.skipped.append(Skipped(entry.path, entry.size, entry.mtime_ns, self.now_ns, problems[0].message))
        return None

    def is_current(self):
        """Whether the index holds just these files and this tree."""
        index = self.index
        if index is None or self.to_read or self.changes.removed:
            return False
        known = index.tree_stamp
        try:
            stat = os.stat(tree_path(self.workspace))
        except OSError:
            return known.size == 0
        if (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns) and not _is_young(
                known.mtime_ns, known.read_ns):
            return True
        now = tree_stamp(self.workspace, self.now_ns)
        if now.digest != known.digest:
            return False
        self.tree_restamped = now
        return True


def _read_tree(look):
    """tree-index.json, or nothing and a problem if it can't be read; it is never replaced then."""
    from memtree import tree

    try:
        return tree.read(tree_path(look.workspace))
    except MemtreeError as error:
        look.changes.problems.append((error.path or tree_path(look.workspace), error.line, error.message))
        return {}


def _parse(look, lexicon, progress):
    """Parts of the new and changed files, by path."""
    from memtree.index import read_file
    from memtree.markdown import parse

    files = {}
    for done, (entry, content) in enumerate(look.to_read):
        data = look.read(entry) if content is None else content
        if data is not None:
            files[entry.path] = read_file(entry, data, parse(data, entry.path), lexicon, look.now_ns)
        elif entry.path in look.changes.added:
            look.changes.added.remove(entry.path)
        if progress is not None:
            progress(done + 1, len(look.to_read))
    return files


def _restamp(look):
    """The same index, with the stat values of the files that were looked into; None while some are still young."""
    index = look.index
    stamps = [(mtime_ns, now_ns) for _, mtime_ns, now_ns in look.restamped.values()]
    if look.tree_restamped is not None:
        stamps.append((look.tree_restamped.mtime_ns, look.now_ns))
    if not stamps or any(_is_young(*stamp) for stamp in stamps):
        return None
    if look.restamped:
        stats = array("q", index.stats)
        for i, values in look.restamped.items():
            stats[STAT_WIDTH * i:STAT_WIDTH * (i + 1)] = array("q", values)
        index = index.with_parts(stats=stats)
    return index if look.tree_restamped is None else index.with_tree_stamp(look.tree_restamped)


def renew(index: Index | None, workspace: Workspace, settings: Settings, logs: bool,
          progress: Callable[[int, int], None] | None = None) -> tuple[Index, Changes]:
    """Bring an index up to date, in memory and on disk.

    Parameters
    ----------
    index : Index or None
        None builds from nothing.
    progress : callable, optional
        Called with the number of files read and to read.

    Returns
    -------
    index : Index
        Of the same generation if nothing changed.
    changes : Changes
    """
    look = _Look(index, workspace, settings, logs)
    changes = look.changes
    if index is not None and look.is_current():
        restamped = _restamp(look)
        if restamped is not None:
            index = restamped
            _save(index, workspace, settings, logs)
    else:
        index = _rebuild(look, progress)
        problem = _save(index, workspace, settings, logs)
        if problem:
            changes.problems.append(problem)
            changes.is_saved = False
    changes.problems[:0] = [*((workspace.settings, line, message) for line, message in settings.warnings),
                            *look.left_out, *((one.path, None, one.message) for one in look.skipped),
                            *index.problems]
    return index, changes


def _rebuild(look, progress):
    """A new generation of the index."""
    from memtree._lexicon import Lexicon
    from memtree.build import assemble

    old = look.index
    kept = {}
    lexicon = Lexicon(mode=look.settings.mode)
    if old is not None:
        try:
            if old.n_dead > MIN_DEAD and old.n_dead > MAX_DEAD_SHARE * old.lexicon.n_surfaces:
                raise IndexFileError("holds mostly words that are gone")
            kept = {path: old.file_parts(i) for path, i in look.same.items()}
            # Its own copy: searches may still go on in the old generation.
            lexicon = Lexicon.from_parts(old.parts, "lexicon.")
        except IndexFileError:
            return _rebuild(_Look(None, look.workspace, look.settings, look.logs), progress)
        for path, i in look.same.items():
            if i in look.restamped:
                kept[path].size, kept[path].mtime_ns, kept[path].verified_ns = look.restamped[i]
    files = {**kept, **_parse(look, lexicon, progress)}
    return assemble([files[path] for path in sorted(files)], lexicon, look.settings, _read_tree(look),
                    1 if old is None else old.generation + 1, tree_stamp(look.workspace, look.now_ns), look.skipped)


def _save(index, workspace, settings, logs):
    """Write the index to disk; a problem to tell if that fails, as recall works without."""
    path = index_path(workspace, settings, logs)
    try:
        os.makedirs(workspace.state, exist_ok=True)
        with Lock(os.path.join(workspace.state, "index.lock"), timeout=SAVE_WAIT_SECONDS):
            index.save(path)
    except LockError:
        return None
    except (WriteError, OSError) as error:
        return path, None, f"the index could not be saved, so each start builds it anew: {error}"
    return None


def write_tree(index: Index, workspace: Workspace, settings: Settings, logs: bool) -> Index:
    """Write tree-index.json: `auto` and the IDF cache renewed, all else as people wrote it.

    Raises
    ------
    MemtreeError
        The file that is there can't be read; it is left as it is.
    """
    from memtree import tree
    from memtree.build import tree_content

    with Lock(os.path.join(workspace.state, "tree.lock")):
        raw = tree.read(tree_path(workspace))
        content = tree_content(index, raw)
        if content != raw:
            tree.write(tree_path(workspace), content)
    index = index.with_tree_stamp(tree_stamp(workspace, time.time_ns()))
    _save(index, workspace, settings, logs)
    return index


def idf_cache_state(index: Index, workspace: Workspace) -> str:
    """Whether the IDF cache in tree-index.json is that of the index, in words."""
    from memtree import tree
    from memtree.build import idf_cache

    try:
        cached = tree.read(tree_path(workspace)).get("idf")
    except MemtreeError:
        return "unreadable"
    if cached is None:
        return "none; memtree index writes it"
    return "current" if cached == idf_cache(index) else "out of date; memtree index renews it"


def damage(path: str) -> str | None:
    """What is wrong with an index file, every section's checksum included; None if nothing is."""
    try:
        load(path).parts.check()
    except FileNotFoundError:
        return None
    except (IndexFileError, OSError) as error:
        return getattr(error, "message", None) or str(error)
    return None
