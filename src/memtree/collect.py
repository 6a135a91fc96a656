"""Collect what the daily logs of ``memory/`` ask to retain, each item once.

``_meta/retained.json`` remembers what was taken from each log, so that an item which somebody has since edited or
deleted in the bank does not come back. It can't be made again, so it lies with the bank. Without it items are found to
be stored already by their text and day.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b

from memtree.days import day_of_log
from memtree.files import write_atomic
from memtree.items import Item, parse_log
from memtree.retain import Retained, Retainer
from memtree.workspace import Entry, Problem, Workspace, is_markdown, nfc, read

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
    path = os.path.join(workspace.meta, LEDGER)
    ledger = _ledger(path)
    items: list[Item] = []
    problems: list[tuple[str, int, str]] = []
    for entry, day in _logs(workspace):
        unread: list[Problem] = []
        data = read(entry, unread, settings.max_file_size)
        problems += [(problem.path, 0, problem.message) for problem in unread]
        # No path: a split that maps the references to a log finds none here.
        log = entry.path.removeprefix("memory/").removesuffix(".md")
        known = ledger.get(log, {})
        if data is None or known.get("digest") == entry.digest.hex():
            continue
        found, malformed = parse_log(data.decode(), day)
        if not day:
            if found or malformed:
                problems.append((entry.path, (found or malformed)[0][0], "asks to retain, but its name begins with no "
                                 "day: nothing is taken; name it like 2026-01-31.md"))
            continue
        problems += [(entry.path, line, message) for line, message in malformed]
        taken = dict.fromkeys(known.get("items", ()))
        for _, item in found:
            if _hash(item) not in taken:
                taken[_hash(item)] = None
                items.append(item)
        ledger[log] = {"digest": "" if malformed else entry.digest.hex(), "items": list(taken)}
    # Two runs at once may both take an item: the second finds it stored, as the first holds the lock till it is.
    result = Retained() if not items else retainer.retain(
        items, dry_run=dry_run, after=lambda: write_atomic(path, json.dumps(ledger, indent=1).encode()))
    result.problems = problems
    return result


def _logs(workspace):
    """The Markdown files of ``memory/`` in order of their names, each with its day; empty if it has none."""
    found = []
    for folder, below, files in os.walk(workspace.logs):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in files:
            path = os.path.join(folder, name)
            if is_markdown(name) and not name.startswith(".") and not os.path.islink(path):
                found.append((nfc(name), nfc(os.path.relpath(path, workspace.logs)).replace(os.sep, "/"), path))
    for name, inside, path in sorted(found):
        yield Entry("memory/" + inside, path, 0, 0), day_of_log(name)


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
