"""The calls of docs/migration.md, on both sides: the same scores to float32 precision."""

import random

import bm25s
import numpy as np
import pytest
import rank_bm25

from memtree.bm25 import BM25

rng = random.Random(4)
WORDS = [f"w{n}" for n in range(60)]
CORPUS = [[WORDS[int(60 * rng.random() ** 2)] for _ in range(rng.randrange(1, 30))] for _ in range(200)]
QUERIES = [rng.sample(WORDS, 3) for _ in range(20)] + [["w3", "w3", "w40"], ["unknown", "w5"], ["w0", "w1"]]


@pytest.mark.parametrize(("name", "method"), [("BM25Okapi", "okapi"), ("BM25Plus", "bm25+")])
def test_rank_bm25(name, method):
    theirs = getattr(rank_bm25, name)(CORPUS)
    ours = BM25.from_tokens(CORPUS, method=method, k1=1.5)
    for query in QUERIES:
        expected = theirs.get_scores(query)
        assert ours.scores(query) == pytest.approx(expected, rel=2e-6, abs=1e-6)
        ids, scores = ours.search(query, 5)
        assert scores == pytest.approx(np.sort(expected)[::-1][: len(ids)], rel=2e-6, abs=1e-6)


def test_rank_bm25_l_where_tf_is_1():
    theirs, ours = rank_bm25.BM25L(CORPUS), BM25.from_tokens(CORPUS, method="bm25l", k1=1.5)
    for word in WORDS:
        once = [doc for doc, tokens in enumerate(CORPUS) if tokens.count(word) == 1]
        assert ours.scores([word])[once] == pytest.approx(theirs.get_scores([word])[once], rel=2e-6)


@pytest.mark.parametrize("method", ["lucene", "atire", "bm25+", "bm25l"])
def test_bm25s(method):
    theirs = bm25s.BM25(method=method, k1=1.5, b=0.75)
    theirs.index(CORPUS, show_progress=False)
    # As the page has it: where the default differs, and nowhere else, delta is given.
    ours = BM25.from_tokens(CORPUS, k1=1.5, method=method, **({"delta": 0.5} if method == "bm25+" else {}))
    for query in QUERIES:
        known = [word for word in query if word != "unknown"]
        expected = theirs.get_scores(known)
        assert ours.scores(query) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_bm25s_weight_mask():
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs.index(CORPUS, show_progress=False)
    ours = BM25.from_tokens(CORPUS, k1=1.5)
    weight_mask = np.array([rng.choice([0.0, 0.5, 1.0, 2.0]) for _ in CORPUS], np.float32)
    for query in QUERIES:
        known = [word for word in query if word != "unknown"]
        expected = theirs.get_scores(known, weight_mask=weight_mask)
        assert ours.scores(query, weight_mask=weight_mask) == pytest.approx(expected, rel=1e-5, abs=1e-5)
        found = theirs.retrieve([known], k=5, weight_mask=weight_mask, show_progress=False)
        _, scores = ours.search(query, 5, weight_mask=weight_mask)
        assert scores == pytest.approx(found.scores[0][: len(scores)], rel=1e-5, abs=1e-5)
