"""Class BM25 against the oracle, and the faults that users of comparable libraries met (B1 to B22)."""

import random
import threading

import numpy as np
import pytest
import scipy.sparse
from changing import WORDS, change, changes, documents_of_words
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.bm25 import Oracle

from memtree.bm25 import BM25
from memtree.errors import IndexFileError


def same(found, expected):
    assert list(found[0]) == list(expected[0])
    assert np.array_equal(found[1], np.array(expected[1], np.float32))


def agrees(index, documents, query, k=5):
    """The index holds exactly `documents` (id -> tokens)."""
    ids = sorted(documents)
    oracle = Oracle([documents[doc] for doc in ids])
    n_rows = len(index.scores(query))
    weight_mask = np.array([(doc * 7 + len(query)) % 4 / 2 for doc in range(n_rows)], np.float32)
    allowed = [row for row, doc in enumerate(ids) if doc % 3]
    expected = oracle.search(query, None, k, allowed, weight_mask[ids])
    expected = [ids[row] for row in expected[0]], expected[1]
    mask = np.arange(n_rows) % 3 > 0
    for narrow in (mask, np.flatnonzero(mask)[::-1]):
        same(index.search(query, k, narrow, weight_mask=weight_mask), expected)
        (found,) = index.search_batch([query], k, filter=narrow, weight_mask=weight_mask)
        same(found, expected)
    masked = index.scores(query, weight_mask=weight_mask)
    assert masked.dtype == np.float32
    assert np.array_equal(masked, index.scores(query) * weight_mask)
    expected = oracle.search(query, None, k)
    same(index.search(query, k), ([ids[doc] for doc in expected[0]], expected[1]))
    assert index.n_docs == len(ids)
    assert index.avgdl == pytest.approx(oracle.avgdl, rel=1e-15)
    scores = np.zeros(max(ids, default=-1) + 1, np.float32)
    scores[ids] = oracle.scores(query)
    assert np.array_equal(index.scores(query)[: len(scores)], scores)


def test_b1_known_scores():
    index = BM25.from_tokens([["a", "b"], ["a", "c"], ["d", "e"], ["f", "g"]])
    assert index.scores(["a"]) == pytest.approx([0.315067, 0.315067, 0, 0], abs=1e-6)
    assert index.search(["a"])[0].tolist() == [0, 1]


@pytest.mark.parametrize("corpus", [[], [[], [], []]])
def test_b3_empty_corpora(corpus):
    index = BM25.from_tokens(corpus)
    assert len(index.search(["x"])[0]) == 0
    assert index.scores(["x"]).tolist() == [0.0] * len(corpus)
    (new,) = index.add([["x", "y"]])
    assert index.search(["x"])[0].tolist() == [new] == [len(corpus)]
    assert np.isfinite(index.scores(["x"])).all()


def test_b5_k():
    index = BM25.from_tokens([["a"], ["a"], ["b"], ["a"]])
    assert index.search(["a"], 10)[0].tolist() == [0, 1, 3]
    assert len(index.search(["a"], 0)[0]) == 0
    with pytest.raises(ValueError, match="k must not be negative"):
        index.search(["a"], -1)


def test_b6_unknown_words():
    index = BM25.from_tokens([["a", "b"], ["a"]])
    before = dict(index.vocabulary)
    assert len(index.search(["zzz"])[0]) == 0
    same(index.search(["zzz", "a"]), index.search(["a"]))
    assert index.vocabulary == before
    numbered = BM25.from_matrix(scipy.sparse.csr_array(np.array([[1, 2], [0, 1]])))
    with pytest.raises(ValueError, match="term id 2"):
        numbered.search([2])


@pytest.mark.parametrize("k", [1, 3, 10, 999])
def test_b8_equal_documents(tmp_path, k):
    index = BM25.from_tokens([["a", "b"]] * 1000)
    index.save(tmp_path / "i")
    for one in (index, BM25.load(tmp_path / "i"), BM25.load(tmp_path / "i", mmap=False)):
        assert one.search(["a", "b"], k)[0].tolist() == list(range(k))
        for threads in (1, 2):
            for ids, _ in one.search_batch([["a", "b"], ["b"], ["a"]], k, threads=threads):
                assert ids.tolist() == list(range(k))


def test_b11_update():
    index = BM25.from_tokens([["rome"], ["vienna", "opera"], ["paris"]])
    index.update(1, ["munich", "opera"])
    assert len(index.search(["vienna"])[0]) == 0
    assert index.search(["munich"])[0].tolist() == [1]
    agrees(index, {0: ["rome"], 1: ["munich", "opera"], 2: ["paris"]}, ["opera", "rome"])
    with pytest.raises(ValueError, match="no document 7"):
        index.remove([0, 7])
    assert index.n_docs == 3


@settings(max_examples=150, deadline=None)
@given(
    start=st.lists(documents_of_words, max_size=8),
    drawn=changes(14),
    query=st.lists(st.sampled_from(WORDS), max_size=4),
)
def test_b11_any_changes_equal_a_fresh_build(tmp_path_factory, start, drawn, query):
    index = BM25.from_tokens(start)
    documents = dict(enumerate(start))
    for kind, number, tokens in drawn:
        if kind == "compact":
            assert index.df.max(initial=0) <= max(len(documents), 0)
        else:
            change(index, documents, kind, number, tokens)
        agrees(index, documents, query)
    oracle = Oracle(list(documents.values()))
    assert {w: int(index.df[t]) for w, t in index.vocabulary.items() if index.df[t]} == dict(oracle.df)
    path = tmp_path_factory.mktemp("b") / "index"
    index.save(path)
    reloaded = BM25.load(path)
    agrees(reloaded, documents, query)
    for doc in set(range(len(start))) - set(documents):
        with pytest.raises(ValueError, match="no document"):
            reloaded.remove([doc])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_b13_index_arrays_of_any_width(dtype):
    counts = scipy.sparse.csr_array(np.array([[1, 0, 2], [0, 3, 1]]).astype(dtype))
    counts.indices, counts.indptr = counts.indices.astype(np.int64), counts.indptr.astype(np.int64)
    index = BM25.from_matrix(counts, ["x", "y", "z"])
    agrees(index, {0: ["x", "z", "z"], 1: ["y", "y", "y", "z"]}, ["z", "y"])
    assert (index.matrix.toarray() == counts.toarray()).all()
    with pytest.raises(ValueError, match="whole numbers"):
        BM25.from_matrix(scipy.sparse.csr_array(np.array([[0.5]])))


def test_b19_repeated_query_word():
    index = BM25.from_tokens([["cat", "dog"], ["cat"], ["dog"]])
    assert index.scores(["cat", "cat"]) == pytest.approx([0.354720, 0.475953, 0], abs=1e-6)


def test_b20_long_and_short_documents_mixed():
    rng = random.Random(3)
    words = [f"w{n}" for n in range(40)]
    pool = [[words[int(40 * rng.random() ** 2)] for _ in range(rng.choice([1, 1, 1, 9]))] for _ in range(300)]
    pool.append([words[int(40 * rng.random() ** 2)] for _ in range(5000)])
    documents = [rng.choice(pool) for _ in range(20000)]
    index = BM25.from_tokens(documents)
    for _ in range(10):
        query = rng.sample(words, 3)
        scores = index.scores(query)
        order = np.lexsort((np.arange(len(scores)), -scores))
        order = order[scores[order] > 0]
        for k in (1, 10, 1000):
            same(index.search(query, k), (order[:k], scores[order[:k]]))


def test_b22_filter():
    index = BM25.from_tokens([["a"], ["b"], ["a"], ["a"], ["a"]])
    assert index.search(["a"], 4, filter=[1, 3])[0].tolist() == [3]
    index.add([["a"], ["b"]])
    assert index.search(["a"], 4, filter=[1, 3, 5])[0].tolist() == [3, 5]
    mask = np.zeros(7, bool)
    mask[[5, 6]] = True
    assert index.search(["a"], 4, filter=mask)[0].tolist() == [5]


def test_numbers_as_tokens_are_saved(tmp_path):
    documents = [[7, -3, 7], [np.int64(2**40), 7], [-3]]
    index = BM25.from_tokens(documents)
    index.save(tmp_path / "i")
    reloaded = BM25.load(tmp_path / "i")
    assert reloaded.vocabulary == {7: 0, -3: 1, 2**40: 2}
    same(reloaded.search([7, 2**40], 5), index.search([7, 2**40], 5))
    reloaded.add([[7, 11]])
    agrees(reloaded, dict(enumerate([*documents, [7, 11]])), [11, 7])


@pytest.mark.parametrize("token", [True, 2.5, ("a", 1), 2**63, None])
def test_tokens_that_can_not_be_saved_are_named(tmp_path, token):
    index = BM25.from_tokens([[5, token], [5]])
    assert index.search([token])[0].tolist() == [0]
    with pytest.raises(TypeError, match=r"str\(token\)") as caught:
        index.save(tmp_path / "i")
    assert repr(token) in str(caught.value)
    assert not (tmp_path / "i").exists()


def test_explain_adds_up():
    index = BM25.from_tokens([["cat", "dog"], ["cat"], ["dog"]])
    found = index.explain(["dog", "cat", "bird"], 0)
    assert [word for word, _ in found["terms"]] == ["dog", "cat"]
    assert sum(part for _, part in found["terms"]) == pytest.approx(found["score"], rel=1e-6)


def test_texts_in_korean_and_english():
    index = BM25.from_texts(["회의는 3시에 시작한다", "도구 목록을 적는다", "The meeting starts at three"])
    assert index.search("회의가 언제야?")[0][0] == 0
    assert index.search("meetings")[0][0] == 2


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "okapi", "bm25+", "bm25l"])
def test_variants_after_changes(method):
    documents = [["a", "b"], ["a", "c", "c"], ["d"], ["a", "d"], ["e"]]
    index = BM25.from_tokens(documents, method=method)
    index.add([["c", "d"]])
    index.update(0, ["e", "e", "a"])
    oracle = Oracle([["e", "e", "a"], *documents[1:], ["c", "d"]], method)
    for query in (["a", "c"], ["d"], ["e", "a", "a"]):
        same(index.search(query, 10), oracle.search(query, None, 10))
        assert np.array_equal(index.scores(query), oracle.scores(query))


def test_readers_see_one_generation():
    index = BM25.from_tokens([["a", "b"]] * 50)
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            ids, scores = index.search(["a"], 1000)
            if len(set(scores.tolist())) != 1 or ids.tolist() != list(range(len(ids))):
                wrong.append(ids)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        index.add([["a", "b"]])
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert index.n_docs == 150


def test_threads_that_are_the_first_to_search():
    """Tables and bounds are made when first needed, by whichever thread comes first."""
    rng = np.random.default_rng(6)
    rows = np.repeat(np.arange(20000), 8)
    counts = scipy.sparse.csr_array((np.ones(len(rows), int), (rows, (60 * rng.random(len(rows)) ** 2).astype(int))))
    queries = [[5, 40, 2], [1, 0], [59, 3, 17, 8], [30], [2, 2, 11]]
    expected = [BM25.from_matrix(counts).search(query, 20) for query in queries]
    mask = rng.random(20000) < 0.5
    narrowed = BM25.from_matrix(counts).search(queries[0], 20, filter=mask)
    for _ in range(5):
        index, found, start = BM25.from_matrix(counts), [], threading.Barrier(4)

        def read(index=index, found=found, start=start):
            start.wait()
            found.append([index.search(query, 20) for query in queries])
            found[-1].append(index.search(queries[0], 20, filter=mask))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        for results in found:
            for one, other in zip(results, [*expected, narrowed], strict=True):
                same(one, other)


def test_damaged_file(tmp_path):
    index = BM25.from_tokens([["a", "b"], ["a"]])
    index.save(tmp_path / "i")
    data = bytearray((tmp_path / "i").read_bytes())
    data[-3] ^= 255
    (tmp_path / "i").write_bytes(data)
    with pytest.raises(IndexFileError):
        BM25.load(tmp_path / "i")
