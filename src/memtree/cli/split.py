"""``memtree split``: cut files that have grown too large into parts."""

from __future__ import annotations

from memtree.cli.options import BANK, JSON, Argument, Command, Option, text
from memtree.cli.output import print_json, printable
from memtree.cli.places import open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.bank import Bank
    from memtree.cli.options import Values
    from memtree.split import Plan


def plan_data(plan: Plan) -> dict:
    """A plan as plain data."""
    return {
        "path": plan.path,
        "bytes": plan.size,
        "parts": [{"path": part.path, "bytes": len(part.data), "title": part.title} for part in plan.parts],
        "references": [
            {"path": edit.path, "line": edit.line, "old": edit.old.decode("utf-8", "replace"),
             "new": edit.new.decode("utf-8", "replace")}
            for edit in plan.edits
        ],
        "to_hub": [{"path": path, "line": line, "text": shown} for path, line, shown in plan.kept],
        "notes": [{"path": path, "line": line, "message": message} for path, line, message in plan.notes],
    }


def too_large(bank: Bank) -> list[str]:
    """Paths of the files over the splitting size, the largest first."""
    return [path for path, size in bank.sizes() if size > bank.settings.split_bytes]


def run(values: Values) -> int:
    """Split the file, or all that are too large; status 1 if one of them could not be."""
    bank = open_bank(values)
    paths = [values.path] if values.path is not None else too_large(bank)
    plans = [bank.plan_split(path) if values.dry_run else bank.split(path) for path in paths]
    if values.json:
        print_json({"applied": not values.dry_run, "plans": [plan_data(plan) for plan in plans]})
    else:
        for plan in plans:
            print(printable(plan.describe()))
        if not plans:
            print(f"no file is over {bank.settings.split_bytes:,} bytes")
        elif not values.dry_run and any(plan.parts for plan in plans):
            print("memtree undo takes the last split back")
    return 0 if all(plan.parts for plan in plans) else 1


COMMAND = Command(
    "memtree split",
    "cut files that have grown too large into parts, references and all",
    run,
    arguments=[
        Argument("path", "the file; without it, each that is over the splitting size", kind=text, optional=True),
    ],
    options=[BANK, Option("--dry-run", help="show the whole plan and change nothing"), JSON],
    examples=[
        ("memtree split --dry-run", "what would become of the files over 15 KiB"),
        ("memtree split knowledge/guide.md", "guide.md stays as a hub, its parts lie in knowledge/guide/"),
    ],
    notes="Cuts are at headings, never inside a table, a fence or a list item. Links to what moved are written anew;\n"
    "what can't be decided is listed. All or nothing, whatever ends the process; memtree undo takes it back.",
)
