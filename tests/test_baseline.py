"""The script that memtree is measured against answers rightly, so that the comparison is a fair one."""

import importlib.util
import json
import math
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "bench" / "baseline.py"


@pytest.fixture(scope="module")
def baseline():
    spec = importlib.util.spec_from_file_location("baseline", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bank(tmp_path):
    files = {
        "identity/values.md": "# 가치관\n\n정직이 먼저다.\n\n## 원칙\n\n약속은 지킨다.\n",
        "world/tools.md": "# Tools\n\n```sh\n# no heading\n```\n\nThe editor is Helix.\n",
        "world/home.md": "# 집\n\n창가에 책상이 있다.\n",
        "_meta/notes.md": "가치관 가치관 가치관\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_particle_does_not_hide_the_file(baseline, bank):
    hits = baseline.Baseline(str(bank)).recall("가치관이 뭐야?")
    assert [hit["path"] for hit in hits] == ["identity/values.md"]
    assert hits[0]["terms"] == ["가치관"]
    best = hits[0]["passages"][0]
    assert best["heading_path"] == ("가치관",)
    assert best["lines"] == (1, 4)
    assert "정직이" in best["text"]


def test_the_first_keyword_in_index_order_wins(baseline, bank):
    script = baseline.Baseline(str(bank))
    script.keywords = ["치관", "가치관", "가치"]
    assert script.split_and_normalise("가치관이 가치를 없는말") == ["치관", "가치", "없는말"]


def test_the_tightened_loop_answers_alike(baseline, bank):
    scripts = baseline.Baseline(str(bank)), baseline.Tightened(str(bank))
    for query in ("가치관이 뭐야?", "the editor", "약속은 창가에서"):
        assert scripts[0].recall(query) == scripts[1].recall(query)


def test_the_score_is_the_blend_of_both_parts(baseline, bank):
    (bank / "_meta" / "tree-index.json").write_text(
        json.dumps({"nodes": {"desk": {"keywords": ["책상이"], "files": ["world/home.md", "gone.md"]}}}),
        encoding="utf-8",
    )
    script = baseline.Baseline(str(bank))
    (hit,) = script.recall("책상이")
    n_docs, df, tf = 3, 1, 1
    lengths = [6, 8, 4]  # words of values.md, tools.md, home.md
    norm = 1.2 * (1 - 0.75 + 0.75 * 4 / (sum(lengths) / n_docs))
    assert hit["path"] == "world/home.md"
    assert hit["tree"] == 1.0
    assert hit["bm25"] == pytest.approx(tf / (tf + norm))
    assert hit["score"] == pytest.approx(0.4 + 0.6 * tf / (tf + norm))
    assert script.idf["책상이"] == pytest.approx(math.log(1 + (n_docs - df + 0.5) / (df + 0.5)))


def test_headings_in_a_fence_cut_nothing_and_nothing_found_is_no_hit(baseline, bank):
    script = baseline.Baseline(str(bank))
    assert [part["heading_path"] for part in script.sections["world/tools.md"]] == [("Tools",)]
    assert script.recall("quantum") == []
    assert script.recall("") == []
    assert len(script.recall("가치관 editor", k=1)) == 1
