"""``memtree watch-size``: which files grow too large."""

from __future__ import annotations

from memtree.cli.main import FAILED
from memtree.cli.options import BANK, COLOR, JSON, Command, Option
from memtree.cli.output import Paint, count, print_json, print_problems, printable, size
from memtree.cli.places import open_bank
from memtree.cli.split import each, plan_data, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values
    from memtree.config import Settings

BAR = 30
"""Cells of a bar that is full at the splitting size."""
FINE, WARN, OVER = "", "warn", "split"


def state(n_bytes: int, settings: Settings) -> str:
    """How a file stands against the two sizes."""
    return OVER if n_bytes > settings.split_bytes else WARN if n_bytes > settings.warn_bytes else FINE


def run(values: Values) -> int:
    """Print the table; status 1 if a file is over the splitting size (and was not split), 2 if a split met an error."""
    bank = open_bank(values)
    plans, failures = each(too_large(bank) if values.split else [], bank.split, False)
    settings = bank.settings
    rows = [(path, n_bytes, state(n_bytes, settings)) for path, n_bytes in bank.sizes()]
    over = sum(told == OVER for _, _, told in rows)
    warned = sum(told == WARN for _, _, told in rows)
    if values.json:
        print_json({
            "warn_bytes": settings.warn_bytes,
            "split_bytes": settings.split_bytes,
            "files": [{"path": path, "bytes": n_bytes, "state": told or "fine"} for path, n_bytes, told in rows],
            "splits": [plan_data(plan) for plan in plans],
            "failures": failures,
        })
        return FAILED if failures else 1 if over else 0
    paint = Paint(values.color)
    shown = rows if values.all else [row for row in rows if row[2]]
    width = max((len(path) for path, _, _ in shown), default=0)
    for path, n_bytes, told in shown:
        cells = min(round(BAR * n_bytes / settings.split_bytes), BAR)
        bar = "#" * cells + "." * (BAR - cells)
        row = f"{printable(path):<{width}}  {size(n_bytes):>10}  {bar}  {told}".rstrip()
        print(paint("warning", row) if told == OVER else row)
    for plan in plans:
        print(printable(plan.describe()))
    print(f"{count(len(rows), 'file')}: {over} over {size(settings.split_bytes)}, "
          f"{warned} more over {size(settings.warn_bytes)}", flush=True)
    print_problems(failures)
    return FAILED if failures else 1 if over else 0


COMMAND = Command(
    "memtree watch-size",
    "show which files grow too large",
    run,
    options=[
        BANK,
        Option("--split", help="split what is over the splitting size"),
        Option("--all", help="list the small files too"),
        JSON,
        COLOR,
    ],
    examples=[("memtree watch-size", "for cron: exit status 1 if a file is over 15 KiB")],
    notes="The sizes are warn_bytes and split_bytes of [files] in memtree.toml, 8 KiB and 15 KiB if not set.",
)


def main() -> int:
    """``bank-size-watch``, the name of the script that this replaces; returns the exit status."""
    import sys

    from memtree.cli.main import guarded
    from memtree.cli.main import run as run_command

    return guarded("bank-size-watch", lambda: run_command(COMMAND, sys.argv[1:]))


def script() -> None:
    """Entry point of the installed command."""
    from memtree.cli.main import exit_with

    exit_with(main())
