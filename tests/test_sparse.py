"""BM25.from_matrix against counts kept in a dict, for every format and type of a sparse matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree import BM25
from memtree._bm25 import Postings

INTEGERS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">i4", ">u2"]
DTYPES = ["?", *INTEGERS, "f4", "f8", "g", ">f8"]
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]

entries = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 127)), max_size=40)
shapes = st.tuples(st.integers(6, 8), st.integers(4, 6))


def parts(postings):
    return {name: bytes(part) for name, part in postings.to_parts().items()}


def expected(cells, shape):
    """Postings of counts by (document, term), given as columns in order."""
    held = sorted((term, doc) for (doc, term), count in cells.items() if count)
    indptr = np.zeros(shape[1] + 1, np.int64)
    for term, _ in held:
        indptr[term + 1 :] += 1
    docs = np.array([doc for _, doc in held], np.uint32)
    tf = np.array([cells[doc, term] for term, doc in held], np.uint32)
    return parts(Postings.from_csc(indptr, docs, tf, shape[0], (0, shape[1])))


def compressed(triples, shape, kind, dtype, index_type, spare):
    """A matrix of the entries in the order given, repeats and zeros among them, and room for `spare` more."""
    major = 0 if kind == "csr" else 1
    order = sorted(range(len(triples)), key=lambda i: triples[i][major])
    indptr = np.zeros(shape[major] + 1, index_type)
    for triple in triples:
        indptr[triple[major] + 1 :] += 1
    indices = np.array([triples[i][1 - major] for i in order] + [0] * spare, index_type)
    data = np.array([triples[i][2] for i in order] + [1] * spare).astype(dtype)
    made = {"csr": sp.csr_array, "csc": sp.csc_array}[kind](shape, dtype=np.dtype(dtype).newbyteorder("="))
    made.indptr, made.indices, made.data = indptr, indices, data
    return made


@settings(max_examples=300, deadline=None)
@given(
    triples=entries,
    shape=shapes,
    kind=st.sampled_from(["csr", "csc"]),
    dtype=st.sampled_from(DTYPES),
    index_type=st.sampled_from([np.int32, np.int64]),
    spare=st.integers(0, 2),
    locked=st.booleans(),
)
def test_rows_and_columns_as_they_come(triples, shape, kind, dtype, index_type, spare, locked):
    matrix = compressed(triples, shape, kind, dtype, index_type, spare)
    arrays = (matrix.indptr, matrix.indices, matrix.data)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = not locked
    cells = {}
    for doc, term, count in triples:
        cells[doc, term] = cells.get((doc, term), 0) + count
    if dtype == "?":
        cells = {place: min(count, 1) for place, count in cells.items()}
    index = BM25.from_matrix(matrix)
    assert parts(index._generation.segments[0].postings) == expected(cells, shape)
    for array, was, now in zip(before, arrays, (matrix.indptr, matrix.indices, matrix.data), strict=True):
        assert now is was
        assert np.array_equal(array, was)


@settings(max_examples=100, deadline=None)
@given(triples=entries, shape=shapes, kind=st.sampled_from(FORMATS), dtype=st.sampled_from(["?", "i2", "u4", "f8"]))
def test_other_formats(triples, shape, kind, dtype):
    dense = np.zeros(shape, dtype)
    for doc, term, count in triples:
        dense[doc, term] = count
    cells = {(doc, term): int(dense[doc, term]) for doc, term in np.ndindex(*shape)}
    for make in (sp.coo_array, sp.coo_matrix):
        index = BM25.from_matrix(make(dense).asformat(kind))
        assert parts(index._generation.segments[0].postings) == expected(cells, shape)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_repeats_beyond_the_range_of_their_type(kind, dtype):
    """Rows of token ids with ones of a byte: each counts, where scipy's sum would start again from 0."""
    n = 70_000
    doc, term = np.repeat([0, 1], [n, 3]), np.repeat([2, 0], [n, 3])
    ones = np.ones(n + 3, dtype)
    if kind == "coo":
        matrix = sp.coo_array((ones.astype(ones.dtype.newbyteorder("=")), (doc, term)), shape=(2, 3))
    else:
        starts, indices = ([0, n, n + 3], term) if kind == "csr" else ([0, 3, 3, n + 3], np.repeat([1, 0], [3, n]))
        matrix = {"csr": sp.csr_array, "csc": sp.csc_array}[kind]((2, 3), dtype=ones.dtype.newbyteorder("="))
        matrix.indptr, matrix.indices, matrix.data = np.array(starts), indices, ones
    assert BM25.from_matrix(matrix).matrix.toarray().tolist() == [[0, 0, n], [3, 0, 0]]


@pytest.mark.parametrize("counts", [[254, 0, 1], [255], [256], [100, 155], [100, 154], [4294967295], [255, 1, 0, 255]])
def test_large_frequencies(counts):
    rows = sp.csr_array((1, 2), dtype=np.uint32)
    rows.indptr, rows.indices = np.array([0, len(counts)]), np.ones(len(counts), np.int32)
    rows.data = np.array(counts, np.uint32)
    index = BM25.from_matrix(rows)
    assert index.matrix.toarray().tolist() == [[0, sum(counts)]]
    assert index.avgdl == sum(counts)


def test_windows_and_bitmaps_of_rows_with_counts():
    rng = np.random.default_rng(5)
    n, width = 30_000, 50
    doc, term = rng.integers(0, n, 400_000), (width * rng.random(400_000) ** 3).astype(int)
    count = rng.choice([0, 1, 2, 130, 255], 400_000)
    cells = np.zeros((n, width), np.int64)
    np.add.at(cells, (doc, term), count)
    triples = np.stack([doc, term, count], axis=1)[np.argsort(doc, kind="stable")]
    rows = sp.csr_array((n, width), dtype=np.int64)
    rows.indptr = np.searchsorted(triples[:, 0], np.arange(n + 1))
    rows.indices, rows.data = triples[:, 1].copy(), triples[:, 2].copy()
    by_rows = BM25.from_matrix(rows)._generation.segments[0].postings
    by_columns = BM25.from_matrix(sp.csc_array(cells))._generation.segments[0].postings
    held = {place: int(cells[place]) for place in zip(*np.nonzero(cells), strict=True)}
    assert parts(by_rows) == parts(by_columns) == expected(held, (n, width))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_empty(kind, shape):
    index = BM25.from_matrix(sp.coo_array(shape, dtype=np.int32).asformat(kind))
    assert len(index) == shape[0]
    assert index.df.tolist() == [0] * shape[1]
    assert index.search(range(shape[1]))[0].tolist() == []


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize(
    "value", [-1, -1.0, 0.5, 2.0**32, 2**32, 2**63, -(2**63), float("nan"), float("inf"), np.float32(1.5), np.int8(-3)]
)
def test_what_is_no_count(kind, value):
    with pytest.raises(ValueError, match=r"counts must be whole numbers from 0 to 4,294,967,295, not -?[\dnie]"):
        BM25.from_matrix(sp.coo_array(np.array([[0, value], [1, 2]])).asformat(kind))


def test_documents_that_are_too_long():
    with pytest.raises(ValueError, match="document 1 is longer than 4,294,967,295 terms"):
        BM25.from_matrix(sp.csr_array(np.array([[1, 0], [2**32 - 1, 1]])))


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_indices_out_of_range(kind, index_type):
    matrix = sp.csr_array(np.eye(3, dtype=np.int8)).asformat(kind)
    for wrong, message in ((3, "index 3 in a matrix of shape|term id 3 is not below the number of columns, 3"), (-1, "indices must be whole numbers .* not -1")):
        matrix.indices = np.array([0, 1, wrong], index_type)
        with pytest.raises(ValueError, match=message):
            BM25.from_matrix(matrix)


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("indptr", [[1, 1, 2, 3], [0, 2, 1, 3], [0, 1, 2, 4], [0, 1, 2], [0, 1, 2, 3, 3], [0, -1, 2, 3]])
def test_damaged_pointers(kind, indptr):
    matrix = sp.csr_array(np.eye(3, dtype=np.int8)).asformat(kind)
    matrix.indptr = np.array(indptr, np.int32)
    with pytest.raises(ValueError, match="indptr must ascend"):
        BM25.from_matrix(matrix)


def test_what_is_no_matrix_of_numbers():
    for counts in (np.eye(2), [[1]], None, sp.coo_array(np.array([1, 2]))):
        with pytest.raises(TypeError, match="counts must be a scipy sparse array"):
            BM25.from_matrix(counts)
    with pytest.raises(TypeError, match="must be numbers, not complex128"):
        BM25.from_matrix(sp.csr_array(np.eye(2) * 1j))


def test_vocabulary():
    rows = sp.csr_array(np.array([[1, 0, 2], [0, 3, 1]]))
    for words in (["밥", "tea", "물"], ("밥", "tea", "물"), iter(["밥", "tea", "물"]), np.array(["밥", "tea", "물"])):
        index = BM25.from_matrix(rows, words)
        assert index.vocabulary == {"밥": 0, "tea": 1, "물": 2}
        assert index.search(["물", "tea"])[0].tolist() == [1, 0]
    for words, message in (
        (["밥", "tea"], "3 different words, one a column, not 2"),
        (["밥", "tea", "물", "tea"], "3 different words, one a column, not 4"),
        (["밥", "tea", "밥"], "not '밥' twice"),
    ):
        with pytest.raises(ValueError, match=message):
            BM25.from_matrix(rows, words)
