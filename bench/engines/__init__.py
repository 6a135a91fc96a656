"""The engines of `compare.py`, a module each, and the process that runs one.

A module has a class `Engine`, see `Base`. Each runs in a process of its own, with one thread, so that no engine's
memory, threads or garbage collector is another's.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.metadata
import importlib.util
import multiprocessing
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import Any

K = 10
K1, B = 1.2, 0.75  # tantivy and SQLite have these built in
MAKERS = {
    "memtree": "memtree",
    "memtree-scan": "memtree",
    "rank_bm25": "rank_bm25",
    "bm25s-numpy": "bm25s",
    "bm25s-numba": "bm25s",
    "bm25-turbo": "bm25_turbo",
    "tantivy": "tantivy",
    "fts5": "fts5",
    "pisa": "pisa",
}
NAMES = tuple(MAKERS)
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


class Base:
    """What an engine does; `name` is its key in `MAKERS`."""

    modules: tuple[str, ...] = ()  # what must be importable
    package = ""  # distribution whose version is shown
    most_docs: int | None = None
    too_large = ""  # why not more
    in_memory = False  # can't be opened from its files, or is slower then: searched where it was built
    index_of = ""  # what its files are called, if engines share them

    def __init__(self, name: str):
        self.name = name
        self.note = ""

    def build(self, collection, folder: Path) -> float:
        """Index into `folder`.

        Returns the seconds, without those in which its input was made, or an index that is built in memory was saved.
        """
        raise NotImplementedError

    def open(self, folder: Path) -> None:
        """Get ready to search what was built."""

    def tune(self, queries: Sequence[list[str]]) -> None:
        """Choose the fastest setting for such queries."""

    def search(self, words: list[str]) -> Any:
        """What is timed: from words to the `K` best, in whatever form the engine gives them."""
        raise NotImplementedError

    search_batch: Any = None  # list of queries to anything, where the engine has such a call

    def hits(self, found: Any) -> tuple[list[int], list[float]]:
        """Ids and scores of what `search` gave."""
        ids, scores = found
        return [int(doc) for doc in ids], [float(score) for score in scores]

    def size(self, folder: Path) -> int:
        """Bytes of the files that searching needs."""
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Clock:
    """Seconds of a build that reads an iterable, less those in which the iterable makes its items."""

    def __init__(self):
        self.begun, self.outside = perf_counter(), 0.0

    def items(self, iterable):
        items = iter(iterable)
        while True:
            left = perf_counter()
            item = next(items, items)
            self.outside += perf_counter() - left
            if item is items:
                return
            yield item

    def seconds(self) -> float:
        return perf_counter() - self.begun - self.outside


def make(name: str) -> Base:
    """The engine of that name; its peer is imported when it builds or opens."""
    return importlib.import_module(f"engines.{MAKERS[name]}").Engine(name)


def unfit(engine: Base, n_docs: int) -> str:
    """Why an engine can't take part, or nothing."""
    for module in engine.modules:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if engine.most_docs is not None and n_docs > engine.most_docs:
        return engine.too_large
    return ""


def version(engine: Base) -> str:
    """Version of an engine's package."""
    return importlib.metadata.version(engine.package) if engine.package else ""


# ------------------------------------------------------------------ the process of one engine


class Failed(Exception):
    """An engine's process raised an error, or died."""


class Worker:
    """One engine in its own process, as a context manager; each method of `_Worker` is called by `call`."""

    def __init__(self, name: str):
        context = multiprocessing.get_context("spawn")
        before = {key: os.environ.get(key) for key in _ONE_THREAD}
        os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, name), daemon=True)
        self._process.start()
        far.close()
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value

    def call(self, method: str, *args):
        try:
            self._pipe.send((method, args))
            done, value = self._pipe.recv()
        except (EOFError, OSError):
            raise Failed("its process died, perhaps for want of memory") from None
        if not done:
            raise Failed(value)
        return value

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception) -> None:
        self._pipe.close()
        self._process.join(5)
        self._process.kill()
        self._process.join()


def _serve(pipe, name: str) -> None:
    worker = _Worker(make(name))
    while True:
        try:
            method, args = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((True, getattr(worker, method)(*args)))
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            pipe.send((False, f"{type(error).__name__}: {error}"))


class _Worker:
    def __init__(self, engine: Base):
        self.engine = engine
        self.before = 0

    def build(self, collection_folder: Path, folder: Path) -> tuple[float, int]:
        """Seconds, and bytes of the files."""
        from collection import Collection

        folder.mkdir(parents=True, exist_ok=True)
        self._start()
        seconds = self.engine.build(Collection(collection_folder), folder)
        return seconds, self.engine.size(folder)

    def open(self, folder: Path) -> None:
        if not self.engine.in_memory:
            self._start()
        self.engine.open(folder)

    def _start(self) -> None:
        for module in self.engine.modules:
            importlib.import_module(module)
        self.before = _resident()

    def warm(self, queries: Sequence[list[str]], budget: float) -> tuple[int, int, str]:
        """Search until all queries or `budget` seconds are over.

        Returns the number of queries, the bytes of memory that came since the engine was imported, and its note.
        """
        self.engine.tune(queries)
        begun, done = perf_counter(), 0
        for query in queries:
            self.engine.search(query)
            done += 1
            if perf_counter() - begun > budget:
                break
        _give_back()
        return done, _resident() - self.before, self.engine.note

    def time(self, queries: Sequence[list[str]], budget: float) -> list[int]:
        """Nanoseconds of each query, of so many as are begun within `budget` seconds."""
        search, taken = self.engine.search, []
        gc.disable()
        end = perf_counter_ns() + budget * 1e9
        for query in queries:
            begun = perf_counter_ns()
            if begun > end:
                break
            search(query)
            taken.append(perf_counter_ns() - begun)
        gc.enable()
        return taken

    def time_batch(self, queries: list[list[str]]) -> float | None:
        """Nanoseconds a query of all in one call."""
        if self.engine.search_batch is None:
            return None
        begun = perf_counter_ns()
        self.engine.search_batch(queries)
        return (perf_counter_ns() - begun) / len(queries)

    def hits(self, queries: Sequence[list[str]]) -> list[tuple[list[int], list[float]]]:
        return [self.engine.hits(self.engine.search(query)) for query in queries]


def _give_back() -> None:
    """Return to the system what was freed, so that an engine that has built here is not charged for it."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim:
        trim(0)


def _resident() -> int:
    """Bytes of this process that are in memory, mapped files among them; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
