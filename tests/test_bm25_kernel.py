"""The compiled kernel against the oracle, to the bit, on random collections, queries and parameters."""

import mmap
import random
from array import array

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.bm25 import Oracle

from memtree._bm25 import PATHS, Postings, set_path
from memtree._variants import METHODS
from memtree.errors import IndexFileError

WINDOW = 8192
SPAN = 65536


def build(docs, n_terms, field_starts=None):
    indptr = np.zeros(len(docs) + 1, np.int64)
    np.cumsum([len(doc) for doc in docs], out=indptr[1:])
    terms = array("I", [term for doc in docs for term in doc])
    return Postings.build(indptr, terms, field_starts or (0, n_terms))


def same(found, expected):
    ids, scores = found
    assert list(ids) == list(expected[0])
    assert np.array_equal(scores, np.array(expected[1], np.float32))


def zipf_docs(seed, n_docs, n_terms, mean_length=6):
    """Documents of very different lengths over terms of very different frequencies."""
    rng = random.Random(seed)
    docs = []
    for _ in range(n_docs):
        length = min(int(rng.expovariate(1 / mean_length)), 60)
        docs.append([int(n_terms * rng.random() ** 4) for _ in range(length)])
    return docs


N_TERMS = 8
small_docs = st.lists(st.lists(st.integers(0, N_TERMS - 1), max_size=12), max_size=30)
queries = st.lists(
    st.tuples(st.integers(0, N_TERMS - 1), st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0, 1e-35, 3.3])), max_size=6
)
parameters = st.fixed_dictionaries(
    {
        "method": st.sampled_from(METHODS),
        "k1": st.sampled_from([1.2, 0.9, 0.0, 2.0, 100.0]),
        "b": st.sampled_from([0.75, 0.4, 0.0, 1.0]),
        "delta": st.sampled_from([None, 0.25, 1.5]),
    }
)


@settings(max_examples=400, deadline=None)
@given(docs=small_docs, query=queries, params=parameters, k=st.integers(0, 35), data=st.data())
def test_search_and_scores_equal_the_oracle(docs, query, params, k, data):
    if params["method"] == "bm25l" and params["k1"] == 0.0 and params["delta"] == 0.0:
        params["delta"] = 0.5
    postings = build(docs, N_TERMS)
    postings.set_params(**params)
    oracle = Oracle(docs, **params)
    terms, weights = [t for t, _ in query], [w for _, w in query]
    assert np.array_equal(postings.scores(terms, weights), oracle.scores(terms, weights))
    same(postings.search(terms, weights, k), oracle.search(terms, weights, k))
    allowed = data.draw(st.sets(st.integers(0, max(len(docs) - 1, 0)), max_size=len(docs)))
    expected = oracle.search(terms, weights, k, allowed)
    same(postings.search(terms, weights, k, sorted(allowed, reverse=True)), expected)
    mask = np.zeros(len(docs), bool)
    mask[list(allowed)] = True
    same(postings.search(terms, weights, k, mask), expected)
    factors = st.sampled_from([0.0, 0.0, 1.0, 0.5, 3.7, 1e-44])
    weight_mask = data.draw(st.lists(factors, min_size=len(docs), max_size=len(docs)))
    same(
        postings.search(terms, weights, k, weight_mask=weight_mask),
        oracle.search(terms, weights, k, None, weight_mask),
    )
    same(
        postings.search(terms, weights, k, mask, weight_mask=weight_mask),
        oracle.search(terms, weights, k, allowed, weight_mask),
    )


@settings(max_examples=60, deadline=None)
@given(
    docs=small_docs,
    weights=st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=3),
    k=st.integers(0, 35),
)
def test_negative_weights_equal_the_oracle(docs, weights, k):
    postings, oracle = build(docs, N_TERMS), Oracle(docs)
    same(postings.search([0, 1, 2], weights, k), oracle.search([0, 1, 2], weights, k))


@pytest.mark.parametrize("n_docs", [1, 15, 16, 17, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW + 5, SPAN, SPAN + WINDOW + 1])
def test_sizes_around_the_window(n_docs):
    docs = zipf_docs(n_docs, n_docs, 300)
    postings, oracle = build(docs, 300), Oracle(docs)
    for terms, k in (([0, 1, 200], 10), ([5], 1), ([250, 299, 3, 0], 50), ([290], 1000)):
        same(postings.search(terms, None, k), oracle.search(terms, None, k))
        assert np.array_equal(postings.scores(terms), oracle.scores(terms))
    allowed = set(range(0, n_docs, 97)) | {n_docs - 1}
    same(postings.search([0, 1, 200], None, 10, sorted(allowed)), oracle.search([0, 1, 200], None, 10, allowed))


def test_ties_by_id_whatever_k():
    postings = build([[0, 1]] * 20000, 2)
    for k in (1, 3, 10, 999, 19999, 30000):
        ids, scores = postings.search([1, 0], None, k)
        assert list(ids) == list(range(min(k, 20000)))
        assert len(set(scores.tolist())) == 1


@pytest.mark.parametrize("tf", [1, 7, 8, 253, 254, 255, 256, 1000, 70000])
def test_term_frequencies_around_the_byte(tf):
    docs = [[0] * tf, [1], [0] * 300 + [1] * 255, []]
    postings, oracle = build(docs, 2), Oracle(docs)
    same(postings.search([0, 1], None, 10), oracle.search([0, 1], None, 10))
    assert postings.impact(0, 0) == oracle.idf(0) * oracle.saturation(0, 0)


def test_more_distinct_lengths_than_codes():
    lengths = np.arange(1, 66001, dtype=np.uint32)
    postings = Postings.from_csc(
        np.array([0, 66000], np.int64),
        np.arange(66000, dtype=np.uint32),
        np.ones(66000, np.uint32),
        66000,
        (0, 1),
        lengths,
    )
    k = (1.2 * 0.25 + 1.2 * 0.75 / lengths.mean() * lengths).astype(np.float32)
    idf = np.float32(np.log(1 + 0.5 / 66000.5))
    expected = idf * (np.float32(1) / (np.float32(1) + k))
    assert np.array_equal(postings.scores([0]), expected)
    ids, scores = postings.search([0], None, 66000)
    assert np.array_equal(ids, np.argsort(-expected, kind="stable"))


def test_from_csc_equals_build():
    docs = zipf_docs(7, 20000, 200)
    docs[3] = [0] * 300
    indptr = np.cumsum([0] + [len(doc) for doc in docs])
    counts = scipy.sparse.csr_array(
        (np.ones(indptr[-1], np.int64), [t for doc in docs for t in doc], indptr), shape=(len(docs), 200)
    ).tocsc()
    counts.sum_duplicates()
    columns = Postings.from_csc(
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.uint32),
        counts.data.astype(np.uint32),
        20000,
        (0, 200),
    )
    rows = build(docs, 200)
    left, right = columns.to_parts(), rows.to_parts()
    assert {name: bytes(part) for name, part in left.items()} == {name: bytes(part) for name, part in right.items()}
    assert list(rows.df) == [int(n) for n in np.diff(counts.indptr)]


def test_fields_have_their_own_lengths():
    docs = [([0, 0, 1], [0]), ([1], [1, 1, 2, 2]), ([], [2]), ([2], [])]
    rows = [list(a) + [t + 3 for t in b] for a, b in docs]
    postings = build(rows, 6, (0, 3, 6))
    first, second = Oracle([a for a, _ in docs]), Oracle([b for _, b in docs])
    assert postings.n_fields == 2
    assert list(postings.doc_len(0)) == first.lengths
    assert list(postings.doc_len(1)) == second.lengths
    assert postings.avgdl(1) == second.avgdl
    assert np.array_equal(postings.scores([1]), first.scores([1]))
    assert np.array_equal(postings.scores([4]), second.scores([1]))
    with pytest.raises(ValueError, match="field"):
        postings.avgdl(2)


def test_given_idf():
    docs = [[0, 1], [0], [2, 2, 1]]
    postings = build(docs, 3)
    idf = np.array([0.5, -1.0, 2.25])
    postings.set_params(idf=idf)
    same(postings.search([0, 1, 2], None, 3), Oracle(docs, idf=idf).search([0, 1, 2], None, 3))
    with pytest.raises(ValueError, match=r"idf\[1\]"):
        postings.set_params(idf=np.array([0.5, np.nan, 2.25]))
    with pytest.raises(ValueError, match="3 entries"):
        postings.set_params(idf=np.zeros(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], None, -1), "k must not be negative"),
        (([3], None, 1), "term id 3"),
        (([-1], None, 1), "term id -1"),
        (([0], [float("nan")], 1), "not a finite number"),
        (([0, 1], [1.0], 1), "weights"),
        (([0], None, 1, [5]), "document id 5"),
        (([0], None, 1, [True]), "mask"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    postings = build([[0, 1], [2]], 3)
    with pytest.raises(ValueError, match=message):
        postings.search(*arguments)


@pytest.mark.parametrize(
    "params",
    [{"k1": float("nan")}, {"k1": -1}, {"b": 1.5}, {"b": float("inf")}, {"delta": -1}, {"method": "bm26"}],
)
def test_bad_parameters_are_named(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        build([[0]], 1).set_params(**params)


def test_malformed_input_to_build():
    with pytest.raises(ValueError, match="term id 7"):
        build([[7]], 3)
    with pytest.raises(ValueError, match="falls"):
        Postings.build(array("q", [0, 2, 1, 2]), array("I", [0, 0]), (0, 1))
    with pytest.raises(ValueError, match="field_starts"):
        Postings.build(array("q", [0]), array("I"), (0, 2, 1))
    with pytest.raises(ValueError, match="column 0"):
        Postings.from_csc(array("q", [0, 2]), array("I", [1, 1]), array("I", [1, 1]), 2, (0, 1))
    with pytest.raises(ValueError, match="column 0"):
        Postings.from_csc(array("q", [0, 1]), array("I", [2]), array("I", [1]), 2, (0, 1))


def test_bytes_a_posting():
    rng = np.random.default_rng(1)
    n_docs, n_terms = 100_000, 20_000
    terms = (n_terms * rng.random(n_docs * 20) ** 3).astype(np.uint32)
    postings = Postings.build(np.arange(n_docs + 1, dtype=np.int64) * 20, terms, (0, n_terms))
    assert postings.size_bytes <= 6 * postings.n_postings


# ------------------------------------------------------------- stored postings


def stored(postings):
    return {name: bytes(part) for name, part in postings.to_parts("p.").items()}


def test_parts_round_trip():
    docs = zipf_docs(3, 9000, 100)
    docs[17] = [5] * 1000
    postings = build(docs, 100)
    opened = Postings.from_parts(stored(postings), "p.")
    assert stored(opened) == stored(postings)
    for terms in ([0, 1, 50], [5, 99], list(range(100))):
        same(opened.search(terms, None, 20), postings.search(terms, None, 20))


def exercise(postings):
    """Every way into the postings; only memory safety is expected."""
    n = min(postings.n_terms, 40)
    terms = list(range(n))
    postings.search(terms, None, 50)
    postings.search(terms, [-1.0] * n, 50)
    if postings.n_docs:
        postings.search(terms, None, 5, [0, postings.n_docs - 1])
        postings.impact(0, postings.n_docs - 1)
    assert postings.scores(terms).shape == (postings.n_docs,)
    list(postings.df)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_damaged_parts_are_safe(data):
    parts = {name: bytearray(part) for name, part in FUZZ_PARTS.items()}
    for _ in range(data.draw(st.integers(1, 6))):
        part = parts[data.draw(st.sampled_from(sorted(name for name in parts if parts[name])))]
        if data.draw(st.booleans()):
            at = data.draw(st.integers(0, len(part) - 1))
            part[at] = data.draw(st.integers(0, 255))
        elif len(part) % 8 == 0:
            at = data.draw(st.integers(0, len(part) // 8 - 1)) * 8
            value = data.draw(st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2**33))
            part[at : at + 8] = value.to_bytes(8, "little", signed=True)
        else:
            del part[data.draw(st.integers(0, len(part) - 1)) :]
    try:
        postings = Postings.from_parts(parts, "p.")
    except (IndexFileError, MemoryError):
        return
    if postings.n_docs < 1_000_000:
        exercise(postings)


def _fuzz_parts():
    rng = random.Random(5)
    docs = [[int(40 * rng.random() ** 3) for _ in range(rng.randrange(8))] for _ in range(2 * WINDOW + 100)]
    docs[9] = [3] * 400
    return stored(build(docs, 40))


FUZZ_PARTS = _fuzz_parts()


def test_ids_out_of_range_are_skipped():
    parts = stored(build([[0, 1]] * 3, 2))
    for name in ("p.ids", "p.block", "p.indptr", "p.tf", "p.doc_len"):
        damaged = dict(parts, **{name: b"\xff" * len(parts[name])})
        exercise(Postings.from_parts(damaged, "p."))
    with pytest.raises(IndexFileError, match="wrong size"):
        Postings.from_parts(dict(parts, **{"p.tf": b""}), "p.")
    with pytest.raises(IndexFileError, match="description"):
        Postings.from_parts(dict(parts, **{"p.meta": b"\0" * 9}), "p.")


# --------------------------------------------------------- every path, same bits


def mixed_docs(seed, n_docs, n_terms=60):
    """B20: documents of 1 and of many words mixed in every block, many of them equal."""
    rng = random.Random(seed)
    pool = [[int(n_terms * rng.random() ** 3) for _ in range(rng.choice([1, 1, 2, 5, 30]))] for _ in range(400)]
    pool.append([int(n_terms * rng.random() ** 2) for _ in range(5000)])
    return [pool[int(len(pool) * rng.random() ** 1.5)] for _ in range(n_docs)]


@pytest.fixture(scope="module")
def mixed():
    docs = mixed_docs(11, 5 * WINDOW + 77)
    return build(docs, 60), Oracle(docs)


@pytest.fixture(params=PATHS)
def path(request):
    if set_path(request.param) != request.param:
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    set_path()


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_pruned_equals_exhaustive(mixed, path, k, seed):
    postings, oracle = mixed
    rng = random.Random(seed)
    for number in range(12):
        terms = rng.sample(range(60), rng.randrange(1, 7))
        weights = [rng.choice([1.0, 0.3, 2.5]) for _ in terms]
        postings.pruning = True
        pruned = postings.search(terms, weights, k)
        postings.pruning = False
        same(postings.search(terms, weights, k), pruned)
        if number == 0 and k == 10:
            same(pruned, oracle.search(terms, weights, k))


def narrowings(data, rng, n_docs):
    """A filter, weights or both, of any density, all over the collection or in one part of it."""
    share = data.draw(st.sampled_from([0.0, 0.001, 0.03, 0.1, 0.5, 0.97]))
    mask = rng.random(n_docs) < share
    if data.draw(st.booleans()):
        mask &= np.arange(n_docs) < n_docs // 3
    weight_mask = np.where(mask, rng.choice([1.0, 0.25, 1.7, 100.0], n_docs), 0.0).astype(np.float32)
    kind = data.draw(st.sampled_from(["none", "mask", "ids", "weights", "both"]))
    if kind == "none":
        return {}, np.ones(n_docs, np.float32)
    if kind == "weights":
        return {"weight_mask": weight_mask}, weight_mask
    given = {"filter": mask if kind != "ids" else rng.permutation(np.flatnonzero(mask))}
    if kind == "both":
        other = rng.choice(np.array([0.0, 0.5, 2.0], np.float32), n_docs)
        return dict(given, weight_mask=other), np.where(mask, other, np.float32(0))
    return given, mask.astype(np.float32)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_pruned_equals_exhaustive_on_random_collections(data):
    """Topics that lie together, so that windows differ; frequent terms with rows; bars from far below to far above."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_docs = data.draw(st.integers(2000, 4 * WINDOW) | st.integers(SPAN - 1, 2 * SPAN + 2 * WINDOW))
    n_terms = data.draw(st.integers(2, 90) | st.just(20_000))
    shape = data.draw(st.sampled_from([1.0, 2.0, 5.0]))
    lengths = rng.integers(0, data.draw(st.sampled_from([3, 12, 40])), n_docs)
    tokens = (n_terms * rng.random(lengths.sum()) ** shape).astype(np.uint32)
    if data.draw(st.booleans()):
        topic = np.repeat(np.arange(n_docs) * n_terms // n_docs, lengths)
        tokens = np.where(rng.random(len(tokens)) < 0.5, topic, tokens).astype(np.uint32)
    postings = Postings.build(np.append(0, np.cumsum(lengths)), tokens, (0, n_terms))
    postings.set_params(data.draw(st.sampled_from(["lucene", "bm25+"])))
    indptr, indices, _ = postings.to_csc()
    set_path(data.draw(st.sampled_from(PATHS)))
    try:
        for _ in range(5):
            terms = data.draw(st.lists(st.integers(0, n_terms - 1), min_size=1, max_size=12))
            weights = [data.draw(st.sampled_from([1.0, 1.0, 0.01, 7.0, 1e-20, 1e25])) for _ in terms]
            k = data.draw(st.sampled_from([1, 2, 10, 47, 48, 49, 100, 1000, 1001, 3000]))
            given, factor = narrowings(data, rng, n_docs)
            holds = np.zeros(n_docs, bool)
            for term in terms:
                holds[indices[indptr[term] : indptr[term + 1]]] = True
            removed = None
            if data.draw(st.booleans()):
                removed = np.flatnonzero(rng.random(n_docs) < 0.3).astype(np.uint32)
                holds[removed] = False
            scores = postings.scores(terms, weights) * factor
            order = np.lexsort((np.arange(n_docs), -scores))
            order = order[(holds & (factor > 0))[order]][:k]
            for pruning in (True, False):
                postings.pruning = pruning
                same(postings.search(terms, weights, k, removed=removed, **given), (order, scores[order]))
    finally:
        set_path()


def test_weak_terms_count_beside_a_strong_one(path):
    """Few documents pass, fewer hold the strong term: the others are told apart by the weak one."""
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 30, 40_000)
    tokens = np.zeros(lengths.sum(), np.uint32)
    tokens[rng.random(len(tokens)) < 0.01] = 1
    postings = Postings.build(np.append(0, np.cumsum(lengths)), tokens, (0, 2))
    for seed in range(20):
        allowed = np.flatnonzero(np.random.default_rng(seed).random(40_000) < 0.001)
        postings.pruning = True
        pruned = postings.search([0, 1], [3.0, 1e25], 10, allowed)
        postings.pruning = False
        same(postings.search([0, 1], [3.0, 1e25], 10, allowed), pruned)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_filtered_ties_by_id(kind):
    postings = build([[0, 1]] * 20000, 2)
    mask = np.zeros(20000, bool)
    mask[5 :: 2 if kind == "dense" else 401] = True
    left = np.flatnonzero(mask)
    for narrow in ({"filter": mask}, {"filter": left}, {"weight_mask": mask * 0.5}):
        for k in (1, 40, 60, 20000):
            ids, scores = postings.search([1, 0], None, k, **narrow)
            assert list(ids) == list(left[:k])
            assert len(set(scores.tolist())) == 1


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), -1e-45, 1e300])
def test_weights_that_are_none(value):
    postings = build([[0, 1], [2], [0]], 3)
    with pytest.raises(ValueError, match=r"weight_mask\[1\]"):
        postings.search([0], weight_mask=[1.0, value, 1.0])
    with pytest.raises(ValueError, match="3 numbers"):
        postings.search([0], weight_mask=[1.0, 1.0])
    with pytest.raises(ValueError, match="3 numbers"):
        postings.search([0], weight_mask=["a", "b", "c"])


@pytest.mark.parametrize("k", [1, 47, 48, 49, 50, 200, 5000, 20000])
def test_top_k_equals_a_sort(k):
    """Scores that rise, fall or are mixed, with ties: whatever the order, the k best come out sorted."""
    n_docs = 20000
    rng = np.random.default_rng(k)
    for counts in (
        np.arange(n_docs) // 100 + 1, np.arange(n_docs)[::-1] // 100 + 1, rng.integers(1, 300, n_docs),
        np.ones(n_docs),
    ):
        postings = Postings.from_csc(
            np.array([0, n_docs]), np.arange(n_docs, dtype=np.uint32), counts.astype(np.uint32), n_docs, (0, 1)
        )
        scores = postings.scores([0])
        order = np.lexsort((np.arange(n_docs), -scores))[:k]
        same(postings.search([0], None, k), (order, scores[order]))


@pytest.mark.parametrize("method", METHODS)
def test_pruned_equals_exhaustive_in_each_variant(mixed, method):
    postings = mixed[0].share()
    postings.set_params(method, 0.9, 0.4)
    removed = np.arange(0, postings.n_docs, 3, dtype=np.uint32)
    for terms in ([0, 5, 40], [59, 58, 3], [1], [20, 30, 40, 50]):
        for gone in (None, removed):
            postings.pruning = True
            pruned = postings.search(terms, None, 10, removed=gone)
            postings.pruning = False
            same(postings.search(terms, None, 10, removed=gone), pruned)
            assert gone is None or not np.isin(pruned[0], gone).any()


def test_bounds_hold_while_the_mean_length_drifts(mixed):
    postings = mixed[0].share()
    mean = postings.avgdl()
    for number, factor in enumerate((1.0, 1.01, 0.99, 1.04, 0.96, 1.045, 2.0, 0.5)):
        postings.set_collection(postings.n_docs, [mean * factor * postings.n_docs])
        # Some terms are measured under one mean and used under others.
        for terms in ([0, 5, 40], [59, 58, 3], [1], [6 + number, 2], [5 + number, 4]):
            postings.pruning = True
            pruned = postings.search(terms, None, 10)
            postings.pruning = False
            same(postings.search(terms, None, 10), pruned)


def test_batch_equals_single(mixed):
    postings = mixed[0]
    queries = [([0, 5, 40], None), ([], None), ([59], [2.0]), ([3, 3], None)]
    for one, (terms, weights) in zip(postings.search_many(queries, 7), queries, strict=True):
        same(one, postings.search(terms, weights, 7))


def test_offsets_beyond_32_bits():
    """B13: postings that start beyond 2^32, in memory that is reserved but never touched before them."""
    docs = zipf_docs(5, 9000, 100)
    docs[17] = [5] * 1000
    plain = build(docs, 100)
    parts, base = stored(plain), 2**32 + 64
    meta = np.frombuffer(parts["p.meta"], np.int64).copy()
    meta[4] += base
    shifted = dict(parts, **{"p.meta": meta.tobytes()})
    for starts, data in (("p.indptr", "p.tf"), ("p.block", "p.ids")):
        room = mmap.mmap(-1, base + len(parts[data]))
        room[base:] = parts[data]
        shifted[data] = room
        shifted[starts] = (np.frombuffer(parts[starts], np.int64) + base).tobytes()
    shifted["p.big_pos"] = (np.frombuffer(parts["p.big_pos"], np.int64) + base).tobytes()
    far = Postings.from_parts(shifted, "p.")
    assert far.n_postings == base + plain.n_postings
    assert list(far.df) == list(plain.df)
    for terms in ([0, 1, 50], [5, 99], list(range(100))):
        same(far.search(terms, None, 20), plain.search(terms, None, 20))
        assert np.array_equal(far.scores(terms), plain.scores(terms))
