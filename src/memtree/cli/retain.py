"""``memtree retain``: store memories; and ``retain-merge``, the name of the old script."""

from __future__ import annotations

import sys

from memtree.cli.main import FAILED, FOUND, exit_with, guarded
from memtree.cli.main import run as run_command
from memtree.cli.options import BANK, JSON, Argument, Command, Option, UsageError, text
from memtree.cli.output import count, print_json, print_problems, printable
from memtree.cli.places import open_bank
from memtree.workspace import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memtree.cli.options import Values
    from memtree.retain import Outcome, Retained

WORDS = {"new": "stored", "update": "update", "extends": "extends", "duplicate": "duplicate", "known": "known"}


def _retained(values) -> Retained:
    """What the items of the command line, of standard input or of the logs have become."""
    from memtree.items import Malformed, begins_item

    values.logs = False
    bank = open_bank(values)
    if values.stdin:
        if values.item is not None:
            raise UsageError("give either items or --stdin", "memtree help retain")
        from memtree.items import TAGS, parse_log

        lines = _standard_input().replace("\r\n", "\n").replace("\r", "\n").split("\n")
        bullets = (f"- {line}" if line.startswith(TAGS) else line for line in lines)
        found, problems = parse_log("\n".join(("## Retain", *bullets)))
        result = bank.retain([item for _, item in found], dry_run=values.dry_run)
        result.problems = [("stdin", line - 1, message) for line, message in problems]
        return result
    items = values.item
    if items and not all(map(begins_item, items)):
        # The words of one item, not quoted.
        items = [" ".join(items)]
    try:
        return bank.retain(items, dry_run=values.dry_run)
    except Malformed as error:
        raise UsageError(str(error), "memtree help retain") from None


def _standard_input():
    if sys.stdin is None:
        raise UsageError("standard input is closed", "memtree help retain")
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"standard input is over {MAX_FILE_BYTES:,} bytes; nothing was stored")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"standard input is no UTF-8 (line {line}); nothing was stored") from None


def _lines(outcome: Outcome) -> Iterator[str]:
    """An outcome for people: what, where, and the item that the decision leans on."""
    is_late = outcome.kind != "duplicate" and outcome.item.superseded
    yield f"{'older' if is_late else WORDS[outcome.kind]:9}  {outcome.file}  {outcome.item.line()[2:]}"
    if outcome.kind != "new":
        yield f"           {outcome.reason}"
        if outcome.other is not None:
            verb = "takes the place of" if outcome.kind in ("update", "extends") and not is_late else "stays"
            yield f"           {verb}: {outcome.other.stored()[2:]}"


def _summary(result: Retained) -> str:
    kinds = ["late" if outcome.item.superseded else outcome.kind for outcome in result]
    stored = sum(kind in ("new", "update", "extends", "late") for kind in kinds)
    parts = [f"{count(stored, 'item')} stored"]
    for kind, words in (("update", "an update"), ("extends", "more than was there"),
                        ("late", "older than what is there")):
        if kind in kinds:
            parts.append(f"{kinds.count(kind)} of them {words}")
    parts += [f"{kinds.count(kind)} {words}" for kind, words in (
        ("duplicate", "seen again"), ("known", "there already")) if kind in kinds]
    return ", ".join(parts)


def merge(values: Values) -> int:
    """Collect from the logs."""
    values.item, values.stdin = None, False
    return run(values)


def run(values: Values) -> int:
    """Store the items; status 2 if a line is no item, when the others are stored all the same."""
    result = _retained(values)
    problems = [{"path": path, "line": line or None, "message": message} for path, line, message in result.problems]
    if values.json:
        print_json({"items": [outcome.to_dict() for outcome in result], "problems": problems, "diff": result.diff()})
    else:
        print_problems(problems)
        if values.dry_run:
            print(printable(result.diff()), end="")
        else:
            for outcome in result:
                print(printable("\n".join(_lines(outcome))))
            print(_summary(result))
    return FAILED if problems else FOUND


DRY_RUN = Option("--dry-run", help="print the diff and write nothing")
STDIN = Option("--stdin", help="read items from standard input, one a line")
NOTES = """\
An item is W (world), B (behaviour), O (opinion) or S (self), whom it is about, and a text:
  W @도구: ripgrep은 15.1로 올렸다
  O(c=0.85) @remote: two office days a week are enough
It goes to the file that [[routing]] in memtree.toml names, or to the built-in one. What is there already is not stored
twice: the day is noted on the item that stays. Where a number, date, name or negation differs, the newer item is stored
and the older one marked as superseded."""

COMMAND = Command(
    "memtree retain",
    "store memories: given ones, or those of the daily logs",
    run,
    arguments=[Argument("item", "what to store, 'W @entity: text', one or more (default: collect from memory/)",
                        kind=text, many=True, apart=True, optional=True)],
    options=[BANK, STDIN, DRY_RUN, JSON],
    examples=[
        ('memtree retain "W @도구: ripgrep은 15.1로 올렸다"', "add one by hand"),
        ("memtree retain", "take what memory/*.md hold below ## Retain and was not taken yet"),
        ("memtree retain --dry-run", "the same, as a diff"),
    ],
    notes=NOTES,
)

MERGE = Command("retain-merge", "take what the daily logs ask to retain into the bank", merge,
                options=[BANK, DRY_RUN, JSON], notes="The same as memtree retain without an item.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``retain-merge``; returns the exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    return guarded("retain-merge", lambda: run_command(MERGE, arguments))


def script() -> None:
    """Entry point of the installed command."""
    exit_with(main())
