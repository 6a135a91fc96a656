"""Copies of class BM25, its files, and what is said of a file that is none of it."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from memtree.bm25 import BM25
from memtree.errors import IndexFileError
from memtree.index import load as load_bank_index

TEXTS = ["회의는 3시에 시작한다", "도구 목록을 적는다", "The meeting starts at three"]
COPIES = [copy.copy, copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))]


def changed():
    index = BM25.from_tokens([["회의", "a"], ["a", "b"], ["b", "c", "c"]], method="bm25l", k1=1.4, delta=0.7)
    index.remove([1])
    index.add([["new", "a"]])
    return index


def loaded(tmp_path):
    BM25.from_tokens([["회의", "a"], ["a", "b"]]).save(tmp_path / "i")
    return BM25.load(tmp_path / "i")


def numbered(_):
    return BM25.from_tokens([[1, 2], [2, 3]])


MADE = [
    lambda _: changed(),
    loaded,
    numbered,
    lambda _: BM25.from_texts(TEXTS),
    lambda _: BM25.from_texts(TEXTS, analyzer=str.split),
    lambda _: BM25.from_matrix(sp.csr_array(np.array([[1, 0, 2], [0, 3, 0]]))),
    lambda _: BM25(),
]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("made", MADE)
def test_copies_answer_alike_and_change_apart(tmp_path, made, copied):
    index = made(tmp_path)
    twin = copied(index)
    words = index.vocabulary
    query = [0, 2] if words is None else [*list(words)[:2], *list(words)[-1:]]
    scores = index.scores(query)
    assert np.array_equal(twin.scores(query), scores)
    assert twin.vocabulary == words
    assert (twin.method, twin.k1, twin.b, len(twin)) == (index.method, index.k1, index.b, len(index))
    if words is None:
        return
    n_docs, before = len(index), dict(words)
    only = 77 if 1 in words else "only"
    (number,) = twin.add([[only]])
    assert twin.search([only])[0].tolist() == [number]
    assert (len(index), index.vocabulary) == (n_docs, before)
    assert np.array_equal(index.scores(query), scores)
    index.add([["other" if only == "only" else 78]])
    assert index.search([only])[0].size == 0
    assert twin.search([only])[0].tolist() == [number]
    assert copied(twin).search([only])[0].tolist() == [number]


def test_a_copy_analyses_as_the_original_does():
    index = BM25.from_texts(["A-b c"], analyzer=str.split)
    for copied in COPIES:
        assert copied(index).search("A-b")[0].tolist() == [0]


def test_a_pickle_is_read_by_another_process(tmp_path):
    index = changed()
    (tmp_path / "p").write_bytes(pickle.dumps(index))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).scores(['a', 'new']).tolist())"
    out = subprocess.run([sys.executable, "-c", code, tmp_path / "p"], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(index.scores(["a", "new"]).tolist())


def test_what_can_not_be_saved_can_not_be_pickled_but_copied():
    index = BM25.from_tokens([["a", 1]])
    with pytest.raises(TypeError, match="tokens are all str or all whole numbers"):
        pickle.dumps(index)
    assert copy.deepcopy(index).search([1])[0].tolist() == [0]


def test_it_is_shown_with_its_size():
    index = BM25.from_tokens([["a", "b"], ["c"]], method="bm25+", k1=1.5)
    assert repr(index) == "BM25(method='bm25+', k1=1.5, b=0.75, n_docs=2, n_terms=3)"
    for name in ("method", "k1", "b"):
        with pytest.raises(AttributeError):
            setattr(index, name, 1.0)


FOREIGN = [
    b'{"text": "my only copy"}\n' * 20,
    b"12345",
    pickle.dumps({"a": 1}),
    b"\x1f\x8b" + bytes(100),
]


@pytest.mark.parametrize("data", FOREIGN)
def test_of_a_foreign_file_nothing_is_advised(tmp_path, data):
    path = tmp_path / "mynotes.jsonl"
    path.write_bytes(data)
    with pytest.raises(IndexFileError) as told:
        BM25.load(path)
    assert str(told.value) == f"{path}: not a memtree index file"
    assert path.read_bytes() == data


@pytest.mark.parametrize("mmap", [True, False])
def test_of_a_damaged_file_no_deletion_is_advised(tmp_path, mmap):
    path = tmp_path / "i"
    changed().save(path)
    data = path.read_bytes()
    for damaged in (data[:20], data[:-1], data + b"\0", data[:60] + b"\xff" + data[61:], data[:-3] + b"\xff\xff\xff"):
        path.write_bytes(damaged)
        with pytest.raises(IndexFileError) as told:
            BM25.load(path, mmap=mmap)
        assert str(told.value).startswith(f"{path}: ")
        assert str(told.value).endswith("(build it again)")


def test_a_bank_index_is_rebuilt_from_its_source(tmp_path):
    path = tmp_path / "index"
    path.write_bytes(b"no index" * 10)
    with pytest.raises(IndexFileError, match="delete the file; it is rebuilt from its source"):
        load_bank_index(str(path))
