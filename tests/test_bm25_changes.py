"""An index that was changed is one made afresh of the documents that are left, in every variant and form."""

import numpy as np
import pytest
from changing import WORDS, change, changes, documents_of_words
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.bm25 import Oracle

from memtree.bm25 import BM25

METHODS = ["lucene", "robertson", "atire", "okapi", "bm25+", "bm25l"]


def equals_a_fresh_one(index, documents, method, query):
    """Scores, and hits with theirs; okapi's mean idf is a sum in the order of the term ids, which differs."""
    ids = sorted(documents)
    fresh = BM25.from_tokens([documents[doc] for doc in ids], method=method)
    oracle = Oracle([documents[doc] for doc in ids], method)
    found = index.scores(query)
    expected = np.zeros(len(found), np.float32)
    expected[ids] = fresh.scores(query)
    if method == "okapi":
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert found[ids] == pytest.approx(oracle.scores(query), rel=1e-6, abs=1e-7)
    else:
        assert np.array_equal(found, expected)
        assert np.array_equal(found[ids], oracle.scores(query))
    holding = [doc for doc in ids if set(documents[doc]) & set(query)]
    best = sorted(holding, key=lambda doc: (-found[doc], doc))[:5]
    hits, scores = index.search(query, 5)
    assert hits.tolist() == best
    assert np.array_equal(scores, found[best])
    for doc in range(len(found)):
        if doc in documents:
            assert index.explain(query, doc)["score"] == found[doc]
        else:
            with pytest.raises(ValueError, match=f"there is no document {doc}"):
                index.explain(query, doc)


@settings(max_examples=150, deadline=None)
@given(
    start=st.lists(documents_of_words, max_size=6),
    drawn=changes(10),
    query=st.lists(st.sampled_from(WORDS), max_size=4),
    method=st.sampled_from(METHODS),
)
def test_any_changes_in_any_variant(tmp_path_factory, start, drawn, query, method):
    index = BM25.from_tokens(start, method=method)
    documents = dict(enumerate(start))
    for kind, number, tokens in drawn:
        if kind == "compact":
            assert index.matrix.sum() == sum(map(len, documents.values()))
        else:
            change(index, documents, kind, number, tokens)
        equals_a_fresh_one(index, documents, method, query)
    path = tmp_path_factory.mktemp("index") / "saved"
    index.save(path)
    for same in (index, BM25.load(path), BM25.load(path, mmap=False)):
        equals_a_fresh_one(same, documents, method, query)
        assert same.n_docs == len(documents)
        for doc in set(range(len(same.scores([])))) - set(documents):
            with pytest.raises(ValueError, match=f"there is no document {doc}"):
                same.remove([doc])


@pytest.mark.parametrize("method", ["bm25+", "bm25l"])
def test_words_that_a_segment_lacks_count_one_by_one(method):
    index = BM25.from_tokens([["a", "b"], ["b", "c"], ["c", "c"]], method=method)
    index.add([["d"]])
    oracle = Oracle([["a", "b"], ["b", "c"], ["c", "c"], ["d"]], method)
    for query in (["a", "b"], ["b", "a"], ["a", "b", "b", "d"]):
        assert np.array_equal(index.scores(query), oracle.scores(query))


@pytest.mark.parametrize("method", ["bm25+", "bm25l"])
def test_removed_ids_score_0_also_after_compaction(method):
    index = BM25.from_tokens([["a"], ["b"], ["c"]], method=method)
    index.remove([1])
    before = index.scores(["a", "c"])
    assert index.matrix.shape == (3, 3)
    assert before[1] == 0.0 < before[0]
    assert np.array_equal(index.scores(["a", "c"]), before)
