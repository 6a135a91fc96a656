"""Answers kept for a while: the query cache of a process and the ``recall/`` buffer on disk."""

from __future__ import annotations

import os
from time import monotonic

from memtree.plainjson import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.recall import Recall


class QueryCache:
    """The latest answers of one index generation, exact (tier 0) and by equal analysed terms (tier 1).

    Parameters
    ----------
    entries : int
        Most answers kept; the least recently asked goes first. 0 keeps none.
    seconds : float
        How long an answer stays good.

    Notes
    -----
    Keys hold all options of a recall; the owner clears the cache when the generation changes.
    """

    __slots__ = ("_exact", "_same_terms", "entries", "seconds")

    def __init__(self, entries: int = 20, seconds: float = 1800.0):
        self.entries = entries
        self.seconds = seconds
        self._exact: dict[tuple, tuple[float, Recall, tuple]] = {}
        self._same_terms: dict[tuple, tuple] = {}

    def exact(self, key: tuple) -> Recall | None:
        """The answer to this very question, if young enough."""
        found = self._exact.get(key)
        if found is None:
            return None
        if monotonic() - found[0] > self.seconds:
            self._drop(key)
            return None
        # Asked again: it becomes the youngest in the order of eviction, not in age.
        del self._exact[key]
        self._exact[key] = found
        return found[1]

    def same_terms(self, terms: tuple) -> Recall | None:
        """The answer to a question with the same words in other order or with other particles."""
        key = self._same_terms.get(terms)
        return None if key is None else self.exact(key)

    def put(self, key: tuple, terms: tuple, answer: Recall) -> None:
        """Keep an answer under its question and its terms."""
        if self.entries <= 0:
            return
        if key in self._exact:
            self._drop(key)
        elif len(self._exact) >= self.entries:
            self._drop(next(iter(self._exact)))
        self._exact[key] = (monotonic(), answer, terms)
        self._same_terms[terms] = key

    def _drop(self, key):
        terms = self._exact.pop(key)[2]
        if self._same_terms.get(terms) == key:
            del self._same_terms[terms]

    def clear(self) -> None:
        """Forget all answers."""
        self._exact.clear()
        self._same_terms.clear()


class Buffer:
    """The search buffer: a folder with the answers of the last hour, for people and agents to look at.

    Parameters
    ----------
    folder : str
        ``recall/`` of the workspace; made when first needed.
    seconds : float
        Older answers are removed when a new one is written.
    """

    __slots__ = ("folder", "seconds")

    def __init__(self, folder: str, seconds: float = 3600.0):
        self.folder = folder
        self.seconds = seconds

    def write(self, answer: Recall) -> bool:
        """Keep an answer; a failure is no error, as the buffer is only a convenience."""
        from time import strftime, time

        now = time()
        name = f"{strftime('%Y%m%d-%H%M%S')}-{os.getpid():x}-{int(now * 1e6) % 1_000_000:06d}.json"
        try:
            os.makedirs(self.folder, exist_ok=True)
            self._expire(now)
            temporary = os.path.join(self.folder, f".{name}.tmp")
            with open(temporary, "w", encoding="utf-8", errors="replace") as file:
                file.write(dumps(answer.to_dict(), indent=1) + "\n")
            os.replace(temporary, os.path.join(self.folder, name))
        except OSError:
            return False
        return True

    def _expire(self, now):
        """Remove answers over their age; only files that this class named."""
        with os.scandir(self.folder) as entries:
            for entry in entries:
                stamp, _, rest = entry.name.partition("-")
                ours = len(stamp) == 8 and stamp.isdigit() and rest.endswith(".json") and rest.count("-") == 2
                if ours and entry.is_file(follow_symlinks=False) and now - entry.stat().st_mtime > self.seconds:
                    os.unlink(entry.path)
