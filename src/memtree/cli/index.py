"""``memtree index``: bring the index up to date and write ``_meta/tree-index.json``."""

from __future__ import annotations

from time import perf_counter

from memtree.cli.options import BANK, JSON, LOGS, MODE, Command, Option
from memtree.cli.output import count, print_json, print_problems
from memtree.cli.places import open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values


def run(values: Values) -> int:
    """Index the bank; files that can't be read are named and left out. Status 1 if the index could not be saved."""
    begun = perf_counter()
    bank = open_bank(values)
    changes = bank.refresh(rebuild=values.rebuild)
    bank.write_tree()
    seconds = perf_counter() - begun
    status = bank.status()
    if values.json:
        print_json(
            {
                "files": status["files"],
                "passages": status["passages"],
                "terms": status["terms"],
                "added": changes.added,
                "changed": changes.changed,
                "removed": changes.removed,
                "problems": status["problems"],
                "saved": changes.is_saved,
                "seconds": round(seconds, 4),
            }
        )
        return 0 if changes.is_saved else 1
    print_problems(status["problems"])
    news = ", ".join(
        f"{len(paths)} {name}"
        for name, paths in (("new", changes.added), ("changed", changes.changed), ("gone", changes.removed))
        if paths
    )
    print(
        f"{count(status['files'], 'file')} ({news or 'no change'}), {count(status['passages'], 'passage')}, "
        f"{count(status['terms'], 'term')}, in {seconds:.2f} s{'' if changes.is_saved else '; not saved'}"
    )
    return 0 if changes.is_saved else 1


COMMAND = Command(
    "memtree index",
    "bring the index up to date and write the tree and the IDF cache",
    run,
    options=[BANK, Option("--rebuild", help="read every file again"), LOGS, MODE, JSON],
    examples=[("memtree index --bank ~/notes", "also done by recall when needed, but for the tree file")],
    notes="Recall notices changed files by itself; this command also writes _meta/tree-index.json,\n"
    "where the nodes can be edited by hand. What is written there by hand stays.",
)
