"""``memtree status``: what is indexed, and what is wrong."""

from __future__ import annotations

from memtree.cli.options import BANK, COLOR, JSON, LOGS, MODE, Command, Option
from memtree.cli.output import Paint, count, print_json, print_problems, printable, size
from memtree.cli.places import open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values


def run(values: Values) -> int:
    """Print the state of the bank; status 1 if a check finds something wrong."""
    bank = open_bank(values)
    damage = bank.check() if values.check else []
    status = bank.status()
    if values.check:
        status["damage"] = damage
    if values.files:
        status["paths"] = bank.paths()
    if values.json:
        print_json(status)
        return 1 if damage else 0
    paint = Paint(values.color)
    print(f"bank      {paint('path', printable(status['bank']))}")
    print(
        f"indexed   {count(status['files'], 'file')}, {count(status['passages'], 'passage')}, "
        f"{count(status['terms'], 'term')}, {count(status['nodes'], 'node')} of the tree"
    )
    print(
        f"index     {printable(status['index'])}, {size(status['index_bytes'])}, generation "
        f"{status['generation']}, mode {status['mode']}"
    )
    print(f"idf cache {status['idf_cache']}")
    for path in status.get("paths", ()):
        print(f"  {printable(path)}")
    print_problems(status["problems"])
    if values.check:
        print_problems(damage)
        verdict = "damaged or missing: made anew at the next recall" if damage else "every checksum is right"
        print(f"checked   {verdict}")
    return 1 if damage else 0


COMMAND = Command(
    "memtree status",
    "show what is indexed and what is wrong",
    run,
    options=[
        BANK,
        Option("--check", help="verify the checksums of the whole index"),
        Option("--files", help="list the indexed files"),
        LOGS,
        MODE,
        JSON,
        COLOR,
    ],
    examples=[("memtree status --check", "exit status 1 if the index is damaged")],
)
