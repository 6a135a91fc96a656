"""``memtree split``: cut files that have grown too large into parts."""

from __future__ import annotations

import sys

from memtree.cli.main import FAILED, FOUND, NOTHING
from memtree.cli.options import BANK, JSON, Argument, Command, Option, text
from memtree.cli.output import print_json, print_problems, printable
from memtree.cli.places import named, open_bank
from memtree.errors import LockError, MemtreeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def each(paths: Sequence[str], split: Callable[[str], Plan], show: bool) -> tuple[list[Plan], list[dict]]:
    """Split file by file: one that can't be is no reason to leave the others.

    Parameters
    ----------
    paths : sequence of str
    split : callable
        Plans or splits one.
    show : bool
        Print each plan as soon as it is done.

    Returns
    -------
    plans : list of Plan
    failures : list of dict
        path, line and message.
    """
    plans: list[Plan] = []
    failures: list[dict] = []
    for at, path in enumerate(paths):
        try:
            plans.append(split(path))
        except LockError as error:
            # Not to wait for it once more with each file.
            failures += [_failure(other, error) for other in paths[at:]]
            break
        except (MemtreeError, OSError) as error:
            failures.append(_failure(path, error))
        else:
            if show:
                print(printable(plans[-1].describe()), flush=True)
    return plans, failures


def _failure(path, error):
    if not isinstance(error, MemtreeError):
        error = MemtreeError(error.strerror or str(error), error.filename)
    where = f"{error.path}: " if error.path and not str(error.path).endswith(path) else ""
    return {"path": path, "line": None,
            "message": f"not split: {where}{error.message}" + (f" ({error.remedy})" if error.remedy else "")}


def run(values: Values) -> int:
    """Split the file, or all that are too large; status 1 if there is no place to cut one, 2 if one met an error."""
    bank = open_bank(values)
    paths = too_large(bank) if values.path is None else [named(bank, values.path)]
    plans, failures = each(paths, bank.plan_split if values.dry_run else bank.split, not values.json)
    if values.json:
        print_json({"applied": not values.dry_run, "plans": [plan_data(plan) for plan in plans], "failures": failures})
    else:
        if not paths:
            print(f"no file is over {bank.settings.split_bytes:,} bytes")
        elif not values.dry_run and any(plan.parts for plan in plans):
            print("memtree undo takes the last split back")
        sys.stdout.flush()
        print_problems(failures)
    if failures:
        return FAILED
    return FOUND if all(plan.parts for plan in plans) else NOTHING


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
