"""Quality of recall in one table: does the right memory come first?

Always: the example questions (dev and test halves, and those the bank can't answer) and the Korean cases of the
tests. By option: a Korean retrieval set and long conversations, each a folder kept elsewhere. Beside memtree,
on the same texts: rank_bm25 (Okapi, its defaults) and bm25s (Lucene, k1 1.2, b 0.75), words by ``\\w+``.

    python bench/quality.py [--korean-eval DIR] [--conversation-eval DIR]

Tune on the dev half only. ``--failures`` names the questions of the examples and cases that went wrong.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import math
import re
import shutil
import sys
import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memtree import Bank
from memtree._bm25 import Postings
from memtree._lexicon import Lexicon

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
CASES = ROOT / "tests" / "data" / "korean_cases_dev.tsv"
FIELD_WEIGHTS = np.array([0.5, 1.0], np.float32)
WORD = re.compile(r"\w+")

Scores = np.ndarray
Ranker = Callable[[str], Scores]  # query -> a score for each text


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


# ------------------------------------------------------------------------------- rankers over texts


def memtree_ranker(texts: list[str]) -> Ranker:
    """Both fields, the support learned from all texts; no tree and no passages."""
    lexicon = Lexicon()
    starts, surfaces = array("q", [0]), array("I")
    for text in texts:
        surfaces.extend(lexicon.scan(text))
        starts.append(len(surfaces))
    lexicon.analyse(np.bincount(surfaces, minlength=lexicon.n_surfaces).astype(np.uint32))
    postings = Postings.build(*lexicon.expand(starts, surfaces), lexicon.field_starts)
    postings.set_params("lucene", k1=1.2, b=0.75)

    def scores(query: str) -> Scores:
        known = [term for term in lexicon.query(query).columns if term[0] >= 0]
        columns = [column for column, _, _, _ in known]
        weights = [float(FIELD_WEIGHTS[field] * np.float32(weight)) for _, field, weight, _ in known]
        return postings.scores(columns, weights)

    return scores


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def rank_bm25_ranker(texts: list[str]) -> Ranker:
    from rank_bm25 import BM25Okapi

    model = BM25Okapi([words(text) for text in texts])
    return lambda query: model.get_scores(words(query))


def bm25s_ranker(texts: list[str]) -> Ranker:
    import bm25s

    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    model.index([words(text) for text in texts], show_progress=False)

    def scores(query: str) -> Scores:
        known = [word for word in words(query) if word in model.vocab_dict]
        return model.get_scores(known) if known else np.zeros(len(texts), np.float32)

    return scores


PEERS = {"rank_bm25": rank_bm25_ranker, "bm25s": bm25s_ranker}


def ranked(scores: Scores) -> list[int]:
    """Texts with a score above 0, best first, then in their order."""
    order = np.argsort(-scores, kind="stable")
    return [int(i) for i in order if scores[i] > 0]


# ------------------------------------------------------------------------------------------ table


class Table:
    """Figures by row and system, printed when all are there."""

    def __init__(self):
        self.columns = ["memtree", *PEERS]
        self.rows: dict[str, dict[str, str]] = {}

    def put(self, row: str, column: str, value: str) -> None:
        self.rows.setdefault(row, {})[column] = value

    def show(self) -> None:
        width = max(map(len, self.rows))
        print(" " * width + "".join(f"{name:>12}" for name in self.columns))
        for name, row in self.rows.items():
            print(f"{name:<{width}}" + "".join(f"{row.get(column, '-'):>12}" for column in self.columns))


def share(found: list[bool]) -> str:
    return f"{sum(found)}/{len(found)}"


# --------------------------------------------------------------------------------- example questions


def examples(table: Table, failures: bool) -> None:
    """First, in the first three, first passage under the right heading, answerable."""
    questions, unanswerable = rows_of(EXAMPLES / "queries.tsv"), rows_of(EXAMPLES / "unanswerable.tsv")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "bank"
        shutil.copytree(EXAMPLES / "bank", folder)
        bank = Bank(folder)
        answers = {row["query"]: bank.recall(row["query"], 5) for row in questions + unanswerable}
        paths = sorted(p for p in folder.rglob("*.md") if not {"_meta", "recall", ".memtree"} & set(p.parts))
        names = [path.relative_to(folder).as_posix() for path in paths]
        texts = [path.read_text(encoding="utf-8") for path in paths]
    found = {"memtree": {query: [hit.path for hit in answer] for query, answer in answers.items()}}
    for name, make in PEERS.items():
        rank = make(texts)
        found[name] = {row["query"]: [names[i] for i in ranked(rank(row["query"]))] for row in questions}
    for split in ("dev", "test"):
        half = [row for row in questions if row["split"] == split]
        for name, hits in found.items():
            table.put(f"examples, {split}: first", name, share([row["path"] in hits[row["query"]][:1] for row in half]))
        for name, hits in found.items():
            top = [row["path"] in hits[row["query"]][:3] for row in half]
            table.put(f"examples, {split}: in the first 3", name, share(top))
        under = [under_heading(answers[row["query"]], row) for row in half]
        table.put(f"examples, {split}: first passage under the heading", "memtree", share(under))
        told = [answers[row["query"]].answerable for row in half]
        table.put(f"examples, {split}: said answerable", "memtree", share(told))
        untold = [not answers[row["query"]].answerable for row in unanswerable if row["split"] == split]
        table.put(f"not in the bank, {split}: said so", "memtree", share(untold))
        if failures:
            report_examples(half, [row for row in unanswerable if row["split"] == split], answers)


def under_heading(answer, row: dict[str, str]) -> bool:
    """Whether the best passage of the expected file stands under the expected heading."""
    passages = next((hit.passages for hit in answer if hit.path == row["path"]), ())
    return bool(passages) and row["heading"] in passages[0].heading_path


def report_examples(questions: list[dict[str, str]], unanswerable: list[dict[str, str]], answers) -> None:
    for row in questions:
        answer = answers[row["query"]]
        if not answer or answer[0].path != row["path"]:
            first = ", ".join(f"{hit.path} {hit.score:.3f}" for hit in answer[:3])
            print(f"{row['query']}: wanted {row['path']}, got {first}")
        if not answer.answerable:
            print(f"{row['query']}: said not answerable, coverage {answer.coverage:.2f}")
    for row in unanswerable:
        if answers[row["query"]].answerable:
            print(f"{row['query']}: said answerable, coverage {answers[row['query']].coverage:.2f}")


# --------------------------------------------------------------------------------------- Korean cases


def korean_cases(table: Table, failures: bool) -> None:
    """All texts of the file are indexed; the wanted one has to be in the first three and above the other one."""
    cases = rows_of(CASES)
    texts = [row[name] for name in ("must_match_text", "must_not_match_text") for row in cases if row[name]]
    for name, make in {"memtree": memtree_ranker, **PEERS}.items():
        rank = make(texts)
        passed = []
        for row in cases:
            scores = rank(row["query"])
            wanted, other = texts.index(row["must_match_text"]), row["must_not_match_text"]
            passed.append(wanted in ranked(scores)[:3] and not (other and scores[texts.index(other)] >= scores[wanted]))
            if failures and name == "memtree" and not passed[-1]:
                print(f"Korean case {row['query']!r} ({row['note']}) fails")
        table.put("Korean cases (dev)", name, share(passed))


# --------------------------------------------------------------------------------- Korean retrieval set


def ndcg(order: list[int], relevant: set[int], k: int = 10) -> float:
    """Normalised discounted cumulative gain, binary relevance."""
    gain = sum(1 / math.log2(place + 2) for place, text in enumerate(order[:k]) if text in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def korean_eval(table: Table, folder: Path) -> None:
    """nDCG@10 of each ``*.json`` in the folder: docs (id, text) and queries (q, rel, skip)."""
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        place = {doc["id"]: i for i, doc in enumerate(data["docs"])}
        texts = [doc["text"] for doc in data["docs"]]
        for name, make in {"memtree": memtree_ranker, **PEERS}.items():
            rank = make(texts)
            values = []
            for query in data["queries"]:
                scores = np.array(rank(query["q"]))
                scores[[place[skipped] for skipped in query.get("skip", ())]] = 0
                values.append(ndcg(ranked(scores), {place[text] for text in query["rel"]}))
            table.put(f"{path.stem}: nDCG@10", name, f"{sum(values) / len(values):.4f}")


# ------------------------------------------------------------------------------------ conversations


def memtree_search(folder: Path):
    """Whole-bank recall for ``measure.py``: files, and their passages with their lines and scores."""
    bank = Bank(folder)

    def search(query: str, k: int) -> list[dict]:
        return [
            {
                "path": hit.path,
                "sections": [{"lines": passage.lines, "score": passage.score} for passage in hit.passages],
            }
            for hit in bank.recall(query, k, passages=10)
        ]

    return search


def conversation_eval(table: Table, folder: Path) -> None:
    """Recall of the notes and turns that hold the evidence, by the folder's own ``measure.py``."""
    spec = importlib.util.spec_from_file_location("measure", folder / "measure.py")
    measure = importlib.util.module_from_spec(spec)
    sys.modules["measure"] = measure
    spec.loader.exec_module(measure)
    samples = json.loads((folder / "conversations.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        conversations = [measure.Conversation(sample, Path(temporary), 0) for sample in samples]
        runs = [("memtree", lambda conversation: memtree_search(conversation.folder), ("note", "turn"))]
        for unit in ("note", "turn"):
            runs.append(("rank_bm25", measure.base_rank_bm25(unit), (unit,)))
            runs.append(("bm25s", measure.base_bm25s(unit), (unit,)))
        for name, factory, units in runs:
            total, _ = measure.measure(factory, conversations, 20)
            figures = total["1-4"]
            for unit in units:
                for key, label in (("@1", "R@1"), ("@5", "R@5"), ("@10", "R@10"), ("_mrr", "MRR")):
                    value = figures[unit + key] / figures["n"]
                    table.put(f"conversations, categories 1-4: {unit} {label}", name, f"{value:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--korean-eval", type=Path, metavar="DIR", help="folder of a Korean retrieval set")
    parser.add_argument("--conversation-eval", type=Path, metavar="DIR", help="conversations with a measure.py")
    parser.add_argument("--failures", action="store_true", help="name what went wrong in examples and cases")
    options = parser.parse_args()
    table = Table()
    examples(table, options.failures)
    korean_cases(table, options.failures)
    if options.korean_eval:
        korean_eval(table, options.korean_eval)
    if options.conversation_eval:
        conversation_eval(table, options.conversation_eval)
    table.show()


if __name__ == "__main__":
    main()
