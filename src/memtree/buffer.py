"""The ``recall/`` buffer: answers kept on disk for a while."""

from __future__ import annotations

import os

from memtree.plainjson import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree._answers import Recall


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

    def __init__(self, folder: str, seconds: float = 3600.0) -> None:
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
