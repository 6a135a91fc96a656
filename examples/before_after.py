"""What the commands make of a memory that has got out of hand: ``make before-after``.

Works on a copy of ``examples/before`` and prints a table of what it measured before and after. Name a new folder to
keep the copy: ``python examples/before_after.py /tmp/after``.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

from memtree.anchors import Anchors
from memtree.compare import DUPLICATE, compare
from memtree.dedup import Deduper
from memtree.items import Item, parse_item, parse_stored, stored_bullets
from memtree.links import Names, files_of, find
from memtree.workspace import Workspace

BEFORE = Path(__file__).resolve().parent / "before"
COMMANDS = ("retain", "split", "index")


def memtree(folder: Path, *arguments: str) -> dict:
    """What a command tells with ``--json``."""
    done = subprocess.run([sys.executable, "-m", "memtree", *arguments, "--bank", str(folder), "--json"],
                          stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode > 1:
        sys.exit(f"memtree {' '.join(arguments)} ended with status {done.returncode}")
    return json.loads(done.stdout)


def items(folder: Path) -> list[Item]:
    """The items that hold: stored in the bank, or in a log and not taken yet."""
    texts = (path.read_text("utf-8") for path in sorted((folder / "bank").rglob("*.md")))
    bullets = (bullet for text in texts for _, bullet in stored_bullets(text))
    stored = [item for item in map(parse_stored, bullets) if item and not item.superseded]
    waiting = [parse_item(one["item"], one["date"]) for one in memtree(folder, "retain", "--dry-run")["items"]]
    return stored + waiting


def duplicates(folder: Path) -> int:
    """Pairs of items of which the dedup calls one the other's duplicate."""
    deduper = Deduper()
    known = [deduper.analyse(item) for item in sorted(items(folder), key=lambda item: item.date)]
    return sum(compare(old, new)[0] == DUPLICATE for old, new in combinations(known, 2))


def reachable(folder: Path) -> tuple[int, int]:
    """Files of the bank that a node of tree-index.json names, and all."""
    files = {path.relative_to(folder / "bank").as_posix() for path in (folder / "bank").rglob("*.md")}
    nodes = json.loads((folder / "bank/_meta/tree-index.json").read_text("utf-8"))["nodes"].values()
    named = {file for node in nodes for part in (node, node.get("auto", {})) for file in part.get("files", [])}
    return len(named & files), len(files)


def answered(folder: Path) -> tuple[int, int]:
    """Questions whose answer stands in the passages of the first hit, and all."""
    rows = [line.split("\t") for line in (folder / "queries.tsv").read_text("utf-8").splitlines()[1:]]
    hits = [memtree(folder, "recall", question, "-k", "1")["hits"] for question, _ in rows]
    right = sum(any(expected in passage["text"] for hit in found for passage in hit["passages"])
                for found, (_, expected) in zip(hits, rows, strict=True))
    return right, len(rows)


def broken(folder: Path) -> tuple[int, int]:
    """References to a Markdown file or a section of one that lead nowhere, and all."""
    workspace = Workspace(str(folder))
    files = files_of(workspace)
    names = Names(files, "bank")
    anchors = {path: Anchors(Path(real).read_bytes()) for path, real in files.items() if path.endswith(".md")}
    wrong = total = 0
    for path, real in files.items():
        if path == "memtree.toml":  # a route may name a file that is still to come
            continue
        for reference in find(Path(real).read_bytes(), path):
            if reference.is_external or not (reference.path.endswith(".md") or reference.kind == "wikilink"
                                             or (not reference.path and reference.fragment)):
                continue
            total += 1
            found, _ = names.resolve(reference, path)
            wrong += len(found) != 1 or bool(reference.fragment and anchors[found[0]].link(reference.fragment) is None)
    return wrong, total


def measure(folder: Path) -> dict[str, str]:
    """The figures of the table."""
    sized = memtree(folder, "watch-size")["files"]
    states = [file["state"] for file in sized]
    named, files = reachable(folder)
    right, asked = answered(folder)
    wrong, references = broken(folder)
    return {
        "largest file, bytes": f"{max(file['bytes'] for file in sized):,}",
        "files over 8 KiB": str(len(states) - states.count("fine")),
        "of them over 15 KiB": str(states.count("split")),
        "pairs of duplicate items": str(duplicates(folder)),
        "files reachable from a node": f"{named} of {files}",
        "questions answered": f"{right} of {asked}",
        "broken references": f"{wrong} of {references}",
    }


def run(folder: Path) -> None:
    """Copy the example to a folder, run the commands there and print the table."""
    shutil.copytree(BEFORE, folder, ignore=shutil.ignore_patterns(".memtree", "recall", "__pycache__"))
    before = measure(folder)
    told = {command: memtree(folder, command) for command in COMMANDS}
    after = measure(folder)
    print("| | before | after |\n|---|--:|--:|")
    for name, figure in before.items():
        print(f"| {name} | {figure} | {after[name]} |")
    moved = sum(len(plan["references"]) for plan in told["split"]["plans"])
    print(f"\nAfter {', '.join(f'memtree {command}' for command in COMMANDS)}; "
          f"{moved} references were written anew by the split.")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")  # for the commands: what they print is read as UTF-8
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            run(Path(temporary) / "workspace")
