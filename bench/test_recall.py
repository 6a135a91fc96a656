"""Recall on the example bank: a search, and an answer from the query cache, against the pure-Python script.

All questions of the example bank, every field of the hits read; everything open and loaded, between two
looks for edited files.

    python bench/test_recall.py            # both sides by turns in one process, and their ratio
    python -m pytest bench/test_recall.py -p benchmark
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

import pytest

from memtree import Bank

sys.path.insert(0, str(Path(__file__).parent))
import corpora
from baseline import Baseline, Tightened
from timing import interleaved, machine, shown

K = 5


def read_all(answer) -> list:
    """Read every field of every hit, as a program would that shows them."""
    return [
        (
            hit.path,
            hit.score,
            hit.tree,
            hit.bm25,
            hit.terms,
            [(passage.heading_path, passage.lines, passage.score, passage.text) for passage in hit.passages],
        )
        for hit in answer
    ]


def read_dicts(answer) -> list:
    """The same fields of the script's answer."""
    return [
        (
            hit["path"],
            hit["score"],
            hit["tree"],
            hit["bm25"],
            hit["terms"],
            [(part["heading_path"], part["lines"], part["score"], part["text"]) for part in hit["passages"]],
        )
        for hit in answer
    ]


class Searching:
    """Bank.recall of a question that the cache does not hold: more questions go round than it has entries."""

    def __init__(self, folder: str, questions: list[str], check_interval: float = 3600):
        bank = Bank(folder, check_interval=check_interval)
        for question in questions:
            assert read_all(bank.recall(question, K))
        assert [bank.recall(question, K).tier for question in questions] == [2] * len(questions)
        self.recall = bank.recall

    def __call__(self, question: str) -> list:
        return read_all(self.recall(question, K))


class Cached:
    """Bank.recall of a question asked just before."""

    def __init__(self, folder: str):
        self.recall = Bank(folder, check_interval=3600).recall

    def ready(self, question: str) -> str:
        self.recall(question, K)
        assert self.recall(question, K).tier == 0
        return question


def copied_bank(folder: Path) -> str:
    """A copy of the example bank: a benchmark writes nothing into the repository."""
    shutil.copytree(corpora.BANK, folder / "bank", ignore=shutil.ignore_patterns(".memtree", "recall"))
    return str(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return copied_bank(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def questions():
    return corpora.questions()


def all_of(side, questions):
    for question in questions:
        side(question)


@pytest.mark.benchmark(group="recall-100-questions")
def test_memtree(benchmark, folder, questions):
    benchmark(all_of, Searching(folder, questions), questions)


@pytest.mark.benchmark(group="recall-100-questions")
@pytest.mark.parametrize("kind", [Baseline, Tightened])
def test_script(benchmark, folder, questions, kind):
    script = kind(folder)
    benchmark(all_of, lambda question: read_dicts(script.recall(question, K)), questions)


@pytest.mark.benchmark(group="recall-cached")
def test_memtree_cached(benchmark, folder, questions):
    cached = Cached(folder)
    benchmark(cached.recall, cached.ready(questions[0]), K)


@pytest.mark.benchmark(group="recall-cached")
def test_memtree_cached_and_read(benchmark, folder, questions):
    cached = Cached(folder)
    question = cached.ready(questions[0])
    benchmark(lambda: read_all(cached.recall(question, K)))


def main() -> None:
    """Print the times of both sides and their ratio."""
    questions = corpora.questions()
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied_bank(Path(temporary))
        script, tightened = Baseline(folder), Tightened(folder)
        searching = Searching(folder, questions)
        found = interleaved(
            {
                "memtree": searching,
                "script": lambda question: read_dicts(script.recall(question, K)),
                "tightened": lambda question: read_dicts(tightened.recall(question, K)),
            },
            questions,
            rounds=21,
        )
        # Alone: a look at the files at each call belongs to this side, not to what the script does to the caches.
        checked = interleaved({"checked": Searching(folder, questions, check_interval=0)}, questions, rounds=5)
        cached = Cached(folder)
        sides = {
            "cached": lambda question: cached.recall(question, K),
            "cached and read": lambda question: read_all(cached.recall(question, K)),
        }
        again = [interleaved(sides, [cached.ready(question)], rounds=21) for question in questions]
    search = found["memtree"]
    sizes = f"{len(questions)} questions, {len(script.lengths)} files, {len(script.keywords)} keywords"
    print(f"{sizes}; {machine()}")
    print(f"search:          {shown(search)}")
    for name in ("script", "tightened"):
        print(f"{name + ':':16} {shown(found[name])}, {found[name] / search:.0f} times the search")
    print(f"{'checked:':16} {shown(checked['checked'])}, with a look for edited files at each call")
    for name in sides:
        taken = median(times[name] for times in again)
        print(f"{name + ':':16} {shown(taken)}, {taken / search:.3f} of the search")


if __name__ == "__main__":
    main()
