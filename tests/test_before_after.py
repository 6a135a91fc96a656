"""`make before-after`: the table says what the commands did, and the copy is as it says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oracle.links import Resolver

ROOT = Path(__file__).resolve().parent.parent
BEFORE = ROOT / "examples" / "before"
BOTH = r"^\| (.+?) \| ([\d,]+)(?: of (\d+))? \| ([\d,]+)(?: of (\d+))? \|$"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """What the script prints, and the copy that it worked on."""
    folder = tmp_path_factory.mktemp("before") / "workspace"
    call = subprocess.run([sys.executable, str(ROOT / "examples" / "before_after.py"), str(folder)],
                          capture_output=True, encoding="utf-8", timeout=120, check=True)
    assert call.stderr == ""
    return call.stdout, folder


@pytest.fixture(scope="module")
def table(done):
    rows = re.findall(BOTH, done[0], flags=re.M)
    return {name: [int(cell.replace(",", "")) if cell else None for cell in cells] for name, *cells in rows}


def sizes(folder):
    return [path.stat().st_size for path in (folder / "bank").rglob("*.md")]


def test_the_figures_move_the_right_way(table):
    largest, _, largest_after, _ = table["largest file, bytes"]
    assert 46_000 <= largest < 47_200
    assert largest_after < 8192
    assert table["files over 8 KiB"][0] == table["of them over 15 KiB"][0] == 1
    assert table["files over 8 KiB"][2] == table["of them over 15 KiB"][2] == 0
    assert table["pairs of duplicate items"][0] >= 10
    assert table["pairs of duplicate items"][2] == 0
    named, files, named_after, files_after = table["files reachable from a node"]
    assert named < files
    assert named_after == files_after > files
    right, asked, right_after, asked_after = table["questions answered"]
    assert asked == asked_after == 20
    assert right < right_after
    assert table["broken references"][0] == table["broken references"][2] == 0
    assert table["broken references"][1] >= 40


def test_the_table_tells_what_lies_on_disk(table, done):
    assert table["largest file, bytes"][0] == max(sizes(BEFORE))
    assert table["largest file, bytes"][2] == max(sizes(done[1]))
    assert table["files reachable from a node"][3] == len(sizes(done[1]))


def test_every_reference_leads_to_the_heading_that_it_led_to(done, tmp_path):
    """By the resolver of the tests. The items that came in link nowhere, so the order of the references stays."""
    shutil.copytree(BEFORE, tmp_path / "before", ignore=shutil.ignore_patterns(".memtree", "recall"))
    before, after = Resolver(tmp_path / "before"), Resolver(done[1])

    def texts(resolver, path):
        for reference in resolver.references(path):
            file, heading = resolver.target(path, reference)
            assert file in resolver.texts, (path, reference)
            assert heading is None or isinstance(heading, int), (path, reference)
            yield file if heading is None else resolver.documents[file][0][heading]

    parts = sorted(path for path in after.texts if path.startswith("bank/notes/"))
    assert [one for path in parts for one in texts(after, path)] == list(texts(before, "bank/notes.md"))
    # The index of the tree gains nodes; a route is relative to the bank and may name a file still to come.
    others = [path for path in before.texts
              if path not in ("bank/notes.md", "bank/_meta/tree-index.json", "memtree.toml")]
    told = [list(texts(before, path)) for path in others]
    assert sum(map(len, told)) >= 30
    assert [list(texts(after, path)) for path in others] == told


def test_the_example_is_left_alone(done):
    assert not any((BEFORE / name).exists() for name in (".memtree", "recall"))
    assert done[1].joinpath("memtree.toml").read_bytes() == (BEFORE / "memtree.toml").read_bytes()


def test_the_readme_shows_the_table(done):
    assert "".join(line + "\n" for line in done[0].splitlines() if line.startswith("|")) in (ROOT / "README.md").read_text("utf-8")
