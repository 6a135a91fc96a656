"""``memtree get``: print a file of the bank, or some lines of it."""

from __future__ import annotations

import sys

from memtree.cli.options import BANK, JSON, LOGS, Argument, Command, Option, UsageError, text
from memtree.cli.output import print_json, printable
from memtree.cli.places import named, open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values


def line_range(value: str) -> tuple[int, int]:
    """``12-18`` or ``12``."""
    first, dash, last = value.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise ValueError("must be lines like 12-18")
    lines = int(first), int(last or first)
    if not 1 <= lines[0] <= lines[1]:
        raise ValueError("must be lines from 1 up, the first before the last")
    return lines


def _place(values: Values):
    """Path and lines; ``PATH:12-18``, as recall prints it, names both."""
    path, colon, lines = values.path.rpartition(":")
    if values.lines or not colon or not lines.replace("-", "").isdecimal():
        return values.path, values.lines
    try:
        return path, line_range(lines)
    except ValueError as error:
        raise UsageError(f"{values.path}: {error}", "memtree help get") from None


def run(values: Values) -> int:
    """Print the text; status 1 if the file has no such lines."""
    path, lines = _place(values)
    bank = open_bank(values)
    path = named(bank, path)
    content = bank.get(path, lines)
    if values.json:
        print_json({"path": path, "lines": lines and list(lines), "text": content})
    else:
        content = printable(content) if sys.stdout.isatty() else content
        print(content, end="" if content.endswith("\n") or not content else "\n")
    return 0 if content or not lines else 1


COMMAND = Command(
    "memtree get",
    "print a file of the bank, or some lines of it",
    run,
    arguments=[Argument("path", "the file, as recall prints it; PATH:12-18 for lines of it", kind=text)],
    options=[
        BANK,
        Option("--lines", metavar="A-B", kind=line_range, help="only these lines, from 1, both included"),
        LOGS,
        JSON,
    ],
    examples=[("memtree get identity/values.md:12-18", "seven lines")],
)
