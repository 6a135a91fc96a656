"""Eight processes retain 1,000 items each at once; all must be there exactly once, the lock free afterwards.

    python bench/retain_many.py [ITEMS_A_CALL]

Too long for the test-suite, which does the same with twelve items a process.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

from memtree import Bank
from memtree.files import Lock
from memtree.items import Item, parse_stored, stored_bullets

PROCESSES = 8
ITEMS = 1_000


def work(folder: str, worker: int, step: int) -> None:
    """Retain one process's items, some a call."""
    bank = Bank(folder)
    items = [
        Item("W", f"도구 {worker * ITEMS + number:05}을 {number}번에 둔다", f"칸{worker}x{number}", date="2026-03-02")
        for number in range(ITEMS)
    ]
    for start in range(0, ITEMS, step):
        while True:
            try:
                bank.retain(items[start:start + step])
                break
            except TimeoutError:
                # Nothing was stored, and the error says so: try again.
                continue


def main() -> None:
    """Run, count, print."""
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bank").mkdir()
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=work, args=(folder, worker, step)) for worker in range(PROCESSES)]
        begun = perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds = perf_counter() - begun
        stored = Counter(
            item.entity for path in (Path(folder) / "bank").rglob("*.md")
            for _, line in stored_bullets(path.read_text("utf-8")) if (item := parse_stored(line)))
        with Lock(str(Path(folder) / ".memtree" / "lock"), timeout=0.1):
            pass
    wanted = {f"칸{worker}x{number}" for worker in range(PROCESSES) for number in range(ITEMS)}
    print(f"{PROCESSES} processes, {ITEMS:,} items each, {step} a call: {seconds:.1f} s")
    print(f"missing {len(wanted - stored.keys())}, more than once {sum(n > 1 for n in stored.values())}, lock free")
    sys.exit(stored != Counter(wanted))


if __name__ == "__main__":
    main()
