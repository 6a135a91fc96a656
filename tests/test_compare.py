"""The comparison with other engines runs, and those with our formula give our scores."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "bench" / "compare.py"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    cache = tmp_path_factory.mktemp("compare")
    done = subprocess.run(
        [sys.executable, SOURCE, "--sizes", "1000", "--queries", "40", "--rounds", "2", "--cache", cache],
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((cache / "results.json").read_text(encoding="utf-8"))["1000"], done.stdout


def test_every_engine_takes_part_or_says_why_not(compared):
    result, _ = compared
    took_part, left_out = result["engines"], result["left_out"]
    assert len(took_part) + len(left_out) == 9
    assert {"memtree", "memtree-scan", "rank_bm25", "bm25s-numpy"} <= took_part.keys()
    assert all(reason.endswith("is not installed") for reason in left_out.values())
    assert all(len(engine["ns"]) == 40 for engine in took_part.values())


def test_engines_agree(compared):
    for name, engine in compared[0]["engines"].items():
        # Some have another idf or round document lengths, and none but ours promises an order of ties.
        assert engine["same_hits"] > 0.9, name
    assert compared[0]["engines"]["bm25s-numpy"]["scores_off"] < 1e-5
    assert compared[0]["engines"]["memtree-scan"]["scores_off"] == 0


def test_tables_name_every_engine(compared):
    result, shown = compared
    assert "## 1,000 documents" in shown
    for name in result["engines"]:
        assert f"| {name}" in shown
    for name in result["left_out"]:
        assert f"Without {name}:" in shown
