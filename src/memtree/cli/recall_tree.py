"""``recall-tree``: takes the place of the old script, with its output of a ``SCORE<TAB>PATH`` line a file."""

from __future__ import annotations

import sys

from memtree.cli.main import exit_with, guarded
from memtree.cli.main import run as run_command
from memtree.cli.options import BANK, JSON, MODE, Argument, Command, Option, UsageError, natural, text
from memtree.cli.output import print_json, printable
from memtree.cli.places import open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtree.cli.options import Values


def run(values: Values) -> int:
    """Print the files that match, best first; status 1 if there is none."""
    try:
        answer = open_bank(values).recall(values.query, values.n, passages=0)
    except ValueError as error:
        raise UsageError(str(error), "recall-tree --help") from None
    if values.json:
        print_json([{"score": round(hit.score, 4), "path": hit.path} for hit in answer])
    elif answer:
        print("\n".join(f"{hit.score:.4f}\t{printable(hit.path)}" for hit in answer))
    else:
        print("NO_MATCH")
    return 0 if answer else 1


COMMAND = Command(
    "recall-tree",
    "rank the files of a bank for a question",
    run,
    arguments=[Argument("query", "the question, in plain words", kind=text, many=True)],
    options=[
        BANK,
        Option("-n", metavar="N", kind=natural, default=5, help="most files to print (default: 5)"),
        MODE,
        JSON,
    ],
    examples=[('recall-tree "가치관이 뭐야?" -n 3', "three lines SCORE<TAB>PATH, best first")],
    notes="Prints NO_MATCH and exits with status 1 when no file matches.",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``recall-tree``; returns the exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    return guarded("recall-tree", lambda: run_command(COMMAND, arguments))


def script() -> None:
    """Entry point of the installed command."""
    exit_with(main())
