"""``memtree undo``: take back the last change of several files."""

from __future__ import annotations

from memtree.cli.options import BANK, JSON, Command
from memtree.cli.output import print_json, printable
from memtree.cli.places import open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values


def run(values: Values) -> int:
    """Take the last change back, whole."""
    label = open_bank(values).undo()
    if values.json:
        print_json({"undone": label})
    else:
        print(printable(f"taken back: {label}"))
    return 0


COMMAND = Command(
    "memtree undo",
    "take back the last change of several files, such as a split",
    run,
    options=[BANK, JSON],
    examples=[("memtree undo", "after memtree split: every file as it was, bit for bit")],
    notes="Refused, and nothing changed, if one of the files was edited since.",
)
