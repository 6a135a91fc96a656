"""Class Bank: what stays open between calls, and the public verbs."""

from __future__ import annotations

import os
from _thread import RLock
from io import StringIO
from time import monotonic

from memtree import config, workspace
from memtree._answers import Answerer, QueryCache
from memtree.errors import PathError
from memtree.refresh import Changes, damage, idf_cache_state, index_path, renew, stored, write_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from memtree._answers import Recall
    from memtree.explain import Explanation
    from memtree.index import Index
    from memtree.items import Item
    from memtree.retain import Retained, Retainer
    from memtree.split import Plan

MAX_TEXT_BYTES = 32 * 1024 * 1024
"""Bytes of files kept in memory for the text of hits."""


def _day(value, name):
    """Ordinal of a date, of "YYYY-MM-DD", or None."""
    if value is None:
        return None
    from datetime import date

    if isinstance(value, str):
        try:
            return date.fromisoformat(value).toordinal()
        except ValueError:
            raise ValueError(f"{name} must be a date like 2026-01-31, not {value!r}") from None
    if isinstance(value, date):
        return value.toordinal()
    raise TypeError(f"{name} must be a date or a text like 2026-01-31, not {value!r}")


class _State:
    """One generation, whole: a recall takes it once and is not disturbed by a refresh."""

    __slots__ = ("_held", "_texts", "answerer", "bank", "index", "masks", "searcher")

    def __init__(self, bank: Bank, index: Index, cache: QueryCache) -> None:
        self.bank = bank
        self.index = index
        self.masks: dict[tuple, bytes] = {}
        self._texts: dict[int, bytes] = {}
        self._held = 0
        settings = bank.settings
        self.searcher = index.searcher(settings, self._read)
        self.answerer = Answerer(self.searcher, cache, index.generation, settings.weight_tree, settings.weight_bm25,
                                 settings.answerable_min, self.mask)

    def _read(self, file, start, end):
        """Text between two bytes of a file, as far as it is still there."""
        data = self._texts.get(file)
        if data is None:
            try:
                with open(self.bank.workspace.locate(self.index.paths[file]), "rb") as handle:
                    data = handle.read(self.bank.settings.max_file_size + 1)
            except (OSError, PathError):
                return ""
            if self._held + len(data) > MAX_TEXT_BYTES:
                self._texts.clear()
                self._held = 0
            self._texts[file] = data
            self._held += len(data)
        return data[start:end].decode("utf-8", "replace")

    def mask(self, under, since, until):
        """Files that pass the filters, as a byte each."""
        if under is not None and not isinstance(under, str):
            raise TypeError(f"under must be a folder of the bank, not {under!r}")
        key = (under, since, until)
        found = self.masks.get(key)
        if found is None:
            first = _day(since, "since") or 0
            last = _day(until, "until") or (1 << 31)
            folder = None if under is None else workspace.nfc(under).removeprefix("./").strip("/")
            dated = since is not None or until is not None
            found = bytes(
                (not folder or path == folder or path.startswith(folder + "/"))
                and (not dated or first <= self.index.day(i) <= last)
                for i, path in enumerate(self.index.paths))
            self.masks[key] = found
        return found


class Bank:
    """A folder of Markdown notes that can be asked.

    Parameters
    ----------
    path : str or os.PathLike
        A workspace (a folder that holds ``bank/``) or any folder of Markdown.
    check_interval : float, optional
        Seconds between looks for edits made by others; 0 looks at each call. Default: the setting, 1 s.
    logs : bool
        Search the daily logs in ``memory/`` too.
    mode : {"korean", "prefix"}, optional
        Text analysis; default: the setting, "korean".

    Raises
    ------
    BankError
        There is no such folder.
    SettingsError
        memtree.toml can't be used.

    Examples
    --------
    >>> from memtree import Bank
    >>> bank = Bank("examples/bank")
    >>> bank.recall("가치관이 뭐야?")[0].path
    'identity/values.md'
    """

    def __init__(self, path: str | os.PathLike[str] = ".", *, check_interval: float | None = None,
                 logs: bool = False, mode: str | None = None,
                 progress: Callable[[int, int], None] | None = None) -> None:
        self.workspace = workspace.Workspace(os.fspath(path))
        self.settings = config.load(self.workspace)
        if mode is not None:
            if mode not in config.MODES:
                raise ValueError(f"mode must be one of {', '.join(config.MODES)}, not {mode!r}")
            self.settings.mode = mode
        self.logs = logs
        self.check_interval = self.settings.check_interval if check_interval is None else float(check_interval)
        if not self.check_interval >= 0:
            raise ValueError(f"check_interval must be 0 or more seconds, not {check_interval!r}")
        self._lock = RLock()
        self._state: _State | None = None
        self._retainer: Retainer | None = None
        self._checked = float("-inf")
        self._progress = progress
        self.problems: list[tuple[str, int | None, str]] = []

    def refresh(self, *, rebuild: bool = False) -> Changes:
        """Notice what is new, changed or gone, and renew the index.

        Parameters
        ----------
        rebuild : bool
            Read every file again.

        Returns
        -------
        Changes
            True if there was any.
        """
        with self._lock:
            begun = monotonic()
            old, problem = (None if self._state is None else self._state.index), None
            if old is None and not rebuild:
                old, problem = stored(self.workspace, self.settings, self.logs)
            index, changes = renew(None if rebuild else old, self.workspace, self.settings, self.logs,
                                   progress=self._progress)
            if self._state is None or index is not self._state.index:
                self._show(index)
            if problem is not None:
                changes.problems.insert(0, (index_path(self.workspace, self.settings, self.logs), None, problem))
            self.problems = changes.problems
            self._checked = begun
            return changes

    def write_tree(self) -> None:
        """Write ``_meta/tree-index.json``: generated nodes and the IDF cache; what people wrote in it stays.

        Raises
        ------
        MemtreeError
            The file that is there is malformed; it is left as it is.
        """
        with self._lock:
            state = self._current()
            self._show(write_tree(state.index, self.workspace, self.settings, self.logs))

    def _show(self, index):
        """Answer from this index from now on; what is in the query cache holds for its generation only."""
        old = self._state
        if old is not None and old.index.generation == index.generation:
            cache = old.answerer.cache
        else:
            cache = QueryCache(self.settings.cache_entries, self.settings.cache_seconds)
        self._state = _State(self, index, cache)

    def _current(self) -> _State:
        """The state to answer from, checked for edits when the interval is over."""
        if self._state is None or monotonic() - self._checked >= self.check_interval:
            self.refresh()
        state = self._state
        assert state is not None
        return state

    def recall(self, query: str, k: int = 5, *, under: str | None = None, since: date | str | None = None,
               until: date | str | None = None, passages: int = 3, buffer: bool = False) -> Recall:
        """Find the memories that answer a query.

        Parameters
        ----------
        query : str
            Plain words in any language; there is no query syntax.
        k : int
            Most files wanted.
        under : str, optional
            Only files in this folder of the bank.
        since, until : date or str, optional
            Only files of these days, both included: the date in the file's name or front matter, else the day of
            its last change.
        passages : int
            Most passages a file.
        buffer : bool
            Also keep the answer in ``recall/`` for an hour.

        Returns
        -------
        Recall
            Hits by higher score, then lower path.

        Raises
        ------
        ValueError
            `k` or `passages` is negative, a date is none, or the query is over 32,768 characters.
        """
        state = self._state
        if state is None or monotonic() - self._checked >= self.check_interval:
            state = self._current()
        answer = state.answerer.answer(query, k, under, since, until, passages)
        if buffer:
            from memtree.buffer import Buffer

            Buffer(self.workspace.recall, self.settings.buffer_seconds).write(answer)
        return answer

    def retain(self, items: Iterable[Item | str] | Item | str | None = None, *, source: str = "by hand",
               dry_run: bool = False) -> Retained:
        """Store memories: each in the file that its tag and words route it to, none twice.

        Parameters
        ----------
        items : str, Item, or iterable of them, optional
            ``"W @entity: text"``. Default: what the daily logs hold below ``## Retain`` and was not taken yet.
        source : str
            Noted when an item turns out to be there already.
        dry_run : bool
            Only tell what would be written.

        Returns
        -------
        Retained
            An `Outcome` an item, and the diff; all is on disk by then.

        Raises
        ------
        Malformed
            A text is no item; nothing is stored.
        TypeError
            It is neither text nor Item; nothing is stored.
        LockError, WriteError
            Nothing is stored.
        """
        from memtree.collect import collect
        from memtree.retain import Retainer

        with self._lock:
            if self._retainer is None:
                self._retainer = Retainer(self.workspace, self.settings, self._best_of)
            if items is None:
                result = collect(self.workspace, self.settings, self._retainer, dry_run=dry_run)
            else:
                items = [items] if isinstance(items, (str, bytes)) or not hasattr(items, "__iter__") else items
                result = self._retainer.retain(items, source=source, dry_run=dry_run)
            if result.changes and not dry_run:
                self._checked = float("-inf")
            return result

    def _best_of(self, text: str, paths: list[str]) -> str | None:
        """The file that recall ranks first for a text among some of one folder."""
        hits = self.recall(text[:1000], 100, under=os.path.dirname(paths[0]), passages=0)
        return next((hit.path for hit in hits if hit.path in paths), None)

    def explain(self, query: str, path: str) -> Explanation:
        """Take the score of one file for a query apart; the parts add up to it.

        Raises
        ------
        PathError
            The bank has no such file.
        """
        from memtree.explain import explain

        state = self._current()
        file = self._file(state, path)
        return explain(state.searcher, state.index.node_names(), query, file, self.settings.weight_tree,
                       self.settings.weight_bm25)

    def _file(self, state, path):
        """Document id of a path."""
        from bisect import bisect_left

        path = os.fspath(path)
        paths = state.index.paths
        # As given first: some file systems keep two files whose names differ by normal form only.
        for wanted in (path, workspace.nfc(path)):
            at = bisect_left(paths, wanted)
            if at < len(paths) and paths[at] == wanted:
                return at
        raise PathError("no such file in the bank", path,
                        remedy="name it as recall does; memtree status --files lists them all")

    def get(self, path: str, lines: tuple[int, int] | int | None = None) -> str:
        """The text of a file, or of some lines of it.

        Parameters
        ----------
        path : str
            Relative to the bank.
        lines : (first, last) or int, optional
            From 1, both included.

        Raises
        ------
        PathError
            The bank has no such file.
        """
        state = self._current()
        path = state.index.paths[self._file(state, path)]
        real = self.workspace.locate(path)
        try:
            with open(real, "rb") as handle:
                text = handle.read().decode("utf-8", "replace").removeprefix("\ufeff")
        except OSError as error:
            raise PathError(f"can't be read: {error.strerror}", path) from None
        if lines is None:
            return text
        first, last = (lines, lines) if isinstance(lines, int) else lines
        if first < 1 or last < first:
            raise ValueError(f"lines must be first and last from 1 up, not {lines!r}")
        # str.splitlines would also split at characters that are no line ends in Markdown.
        return "".join(list(StringIO(text, newline=""))[first - 1:last])

    def paths(self) -> list[str]:
        """Paths of the indexed files, in order."""
        return list(self._current().index.paths)

    def status(self) -> dict:
        """What is indexed and what is wrong, as plain data.

        Returns
        -------
        dict
            bank, files, passages, terms, nodes, index (its path), index_bytes, generation, mode, idf_cache (text),
            problems: list of dict with path, line, message.
        """
        state = self._current()
        index = state.index
        path = index_path(self.workspace, self.settings, self.logs)
        return {
            "bank": self.workspace.bank, "files": index.n_files, "passages": index.n_passages,
            "terms": index.n_terms, "nodes": len(index.node_names()), "index": path,
            "index_bytes": os.stat(path).st_size if os.path.exists(path) else 0, "generation": index.generation,
            "mode": self.settings.mode, "idf_cache": idf_cache_state(index, self.workspace),
            "problems": [{"path": where, "line": line, "message": message} for where, line, message in self.problems],
        }

    def sizes(self) -> list[tuple[str, int]]:
        """Path and bytes of each indexed file, the largest first."""
        index = self._current().index
        return sorted(zip(index.paths, index.sizes(), strict=True), key=lambda file: (-file[1], file[0]))

    def plan_split(self, path: str) -> Plan:
        """Plan the split of a file; nothing is changed.

        Raises
        ------
        PathError
            The bank has no such file.
        """
        from memtree import split

        return split.plan(self.workspace, os.fspath(path), self.settings)

    def split(self, path: str) -> Plan:
        """Split a file into parts below the warning size; every reference to it keeps its meaning.

        Returns
        -------
        Plan
            What was done; without parts if the file can't be split, and its notes say why.

        Raises
        ------
        PathError
            The bank has no such file.
        WriteError
            The disk refused; nothing was changed.
        """
        from memtree import split

        with self._lock:
            made = split.split(self.workspace, os.fspath(path), self.settings)
            if made.parts:
                self.refresh()
            return made

    def undo(self) -> str:
        """Take back the last change of several files, whole.

        Returns
        -------
        str
            What was taken back.

        Raises
        ------
        MemtreeError
            There is none, or one of its files was edited since.
        """
        from memtree import journal

        with self._lock:
            label = journal.undo(self.workspace)
            self.refresh()
            return label

    def check(self) -> list[dict]:
        """Verify every checksum of the index on disk; a damaged one is rebuilt at the next recall.

        Returns
        -------
        list of dict
            path, line (None) and message of each damage; that there is no index yet counts as one.
        """
        path = index_path(self.workspace, self.settings, self.logs)
        if not os.path.exists(path):
            return [{"path": path, "line": None, "message": "there is no index yet; memtree index makes it"}]
        problem = damage(path)
        if problem is None:
            return []
        with self._lock:
            self._state = None
            os.unlink(path)
        return [{"path": path, "line": None, "message": problem}]

    def __repr__(self) -> str:
        return f"Bank({self.workspace.root!r})"
