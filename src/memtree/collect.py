"""Collect what the daily logs of ``memory/`` ask to retain, each item once.

``.memtree/retained.json`` remembers what was taken from each log, so that an item which somebody has since edited
or deleted in the bank does not come back. Without it items are found to be stored already by their text and day.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b

from memtree.days import day_of_log
from memtree.files import write_atomic
from memtree.items import Item, parse_log
from memtree.retain import Retained, Retainer
from memtree.workspace import Entry, Problem, Workspace, nfc, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.config import Settings

LEDGER = "retained.json"


def collect(workspace: Workspace, settings: Settings, retainer: Retainer, *, dry_run: bool = False) -> Retained:
    """Retain what the logs hold and was not taken yet.

    Returns
    -------
    Retained
        With the malformed lines of the logs as problems; they are told again until they are mended.
    """
    path = os.path.join(workspace.state, LEDGER)
    ledger = _ledger(path)
    items: list[Item] = []
    problems: list[tuple[str, int, str]] = []
    for entry in _logs(workspace):
        unread: list[Problem] = []
        data = read(entry, unread, settings.max_file_size)
        problems += [(problem.path, 0, problem.message) for problem in unread]
        known = ledger.get(entry.path, {})
        if data is None or known.get("digest") == entry.digest.hex():
            continue
        found, malformed = parse_log(data.decode(), day_of_log(os.path.basename(entry.path)))
        problems += [(entry.path, line, message) for line, message in malformed]
        taken = dict.fromkeys(known.get("items", ()))
        for _, item in found:
            if _hash(item) not in taken:
                taken[_hash(item)] = None
                items.append(item)
        ledger[entry.path] = {"digest": "" if malformed else entry.digest.hex(), "items": list(taken)}
    # Two runs at once may both take an item: the second finds it stored, as the first holds the lock till it is.
    result = Retained() if not items else retainer.retain(
        items, dry_run=dry_run, after=lambda: write_atomic(path, json.dumps(ledger, indent=1).encode(), sync=False))
    result.problems = problems
    return result


def _logs(workspace):
    """The logs in order of their day."""
    try:
        with os.scandir(workspace.logs) as listing:
            files = [file for file in listing if day_of_log(nfc(file.name)) and file.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return
    for file in sorted(files, key=lambda file: file.name):
        yield Entry("memory/" + nfc(file.name), file.path, 0, 0)


def _ledger(path):
    """What was taken; empty if that is not known."""
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {log: one for log, one in data.items() if isinstance(one, dict) and isinstance(one.get("items"), list)}


def _hash(item):
    """What tells an item of a log from its others."""
    return blake2b(item.line().encode("utf-8", "replace"), digest_size=8).hexdigest()
