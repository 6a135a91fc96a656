"""What the README shows is what happens: its commands and its Python are run as written."""

from __future__ import annotations

import doctest
import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(language):
    return [text for name, text in BLOCK.findall(README) if name == language]


@pytest.fixture
def place(tmp_path):
    """A folder where the README's relative paths lead to a copy of the example bank."""
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns(".memtree", "recall")
    )
    return tmp_path


def sessions():
    """(command, expected output) of each ``$`` line in the console blocks."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            yield pytest.param(command, expected.rstrip("\n"), id=command)


@pytest.mark.parametrize(("command", "expected"), list(sessions()))
def test_console(place, command, expected):
    program, *arguments = shlex.split(command)
    start = {
        "memtree": [sys.executable, "-m", "memtree"],
        "recall-tree": [sys.executable, "-c", "from memtree.cli.recall_tree import script; script()"],
    }[program]
    done = subprocess.run(
        [*start, *arguments],
        cwd=place,
        env={**os.environ, "LANG": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert (done.stderr + done.stdout).rstrip("\n") == expected  # else: make docs


def test_python(place, monkeypatch):
    monkeypatch.chdir(place)
    source = "\n".join(blocks("pycon"))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTestParser().get_doctest(source, {}, "README.md", "README.md", 0))
    assert runner.tries > 0
    assert runner.failures == 0


def test_the_two_commands():
    """``make demo`` is run for real where make has installed, as it has in ``make test``; else read only."""
    goals = re.findall(r"^    make (\w+)", README, re.M)
    assert goals[:2] == ["demo", "test"]
    for goal in goals:
        subprocess.run(["make", "-n", goal], cwd=ROOT, check=True, capture_output=True, timeout=60)
    current = subprocess.run(["make", "-q", ".venv/.installed"], cwd=ROOT, capture_output=True, timeout=60)
    if current.returncode == 0:
        done = subprocess.run(
            ["make", "demo"], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60, check=True
        )
        assert "\n1. identity/values.md  0." in "\n" + done.stdout


def test_every_command_is_described():
    from memtree.cli.main import COMMANDS

    for name in COMMANDS:
        assert f"`memtree {name}" in README


def test_the_picture_shows_what_the_command_prints(place):
    svg = (ROOT / "docs" / "recall.svg").read_text(encoding="utf-8")
    assert "docs/recall.svg" in README
    drawn = re.sub(r"\s", "", html.unescape(re.sub(r"<[^>]+>", "", svg[svg.index("matrix") :])))
    (command,) = re.findall(r"\$memtree(recall.*?--passages2)", drawn)
    assert command
    done = subprocess.run(
        [sys.executable, "-m", "memtree", "recall", "가치관이 뭐야?", "--bank", "examples/bank"]
        + ["-k", "2", "--passages", "2"],
        cwd=place, capture_output=True, encoding="utf-8", timeout=60, check=True,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        assert re.sub(r"\s", "", line) in drawn


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", README):
        path = target[0] or target[1]
        assert path.startswith("http") or (ROOT / path).exists(), path
