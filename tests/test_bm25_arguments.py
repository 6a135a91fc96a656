"""Wrong arguments of class BM25 are named, and leave the index as it was; the unusual right ones work."""

import numpy as np
import pytest
import scipy.sparse as sp

from memtree.analysis import tokens
from memtree.bm25 import BM25
from memtree.documents import Folder, JsonLines

TEXTS = ["회의는 3시에 시작한다", "도구 목록을 적는다", "The meeting starts at three"]


def small(**params):
    return BM25.from_tokens([["회의", "도구"], ["cat"], ["dog"]], **params)


def vocabulary_of(documents):
    """Counts and word -> column in the order in which words come, columns in that of the alphabet, as sklearn has it."""
    known = sorted({word for document in documents for word in document})
    counts = np.array([[document.count(word) for word in known] for document in documents])
    return sp.csr_array(counts), {word: known.index(word) for document in documents for word in document}


def columns():
    return BM25.from_matrix(sp.csr_array(np.array([[1, 0], [0, 1]])))


@pytest.mark.parametrize("marked", [[2], [0, 1], [], [0, 1, 2]])
@pytest.mark.parametrize("kind", [np.array, list, tuple])
def test_a_mask_removes_what_it_marks(marked, kind):
    index, mask = small(), np.isin(np.arange(3), marked)
    index.remove(kind(mask.tolist()))
    assert [doc for doc in range(3) if index.search(["회의", "cat", "dog"], filter=[doc])[0].size] == sorted(
        set(range(3)) - set(marked)
    )
    index.remove(mask)  # what is gone is passed over
    assert index.n_docs == 3 - len(marked)


@pytest.mark.parametrize("ids", [[2, 0], (0, 2, 2), {0, 2}, range(0, 3, 2), np.array([0, 2], np.uint8), iter([0, 2])])
def test_ids_of_any_sequence_are_removed(ids):
    index = small()
    index.remove(ids)
    assert index.scores(["회의", "cat", "dog"]).nonzero()[0].tolist() == [1]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([1.7], TypeError, r"ids\[0\] must be a whole number, not 1.7"),
        (np.array([0.0, 1.0]), TypeError, r"ids\[0\] must be a whole number"),
        ("12", TypeError, "ids must be an iterable of document ids, not one str"),
        (["1"], TypeError, r"ids\[0\] must be a whole number, not '1'"),
        ([0, True], TypeError, r"ids\[1\] must be a whole number, not True"),
        (1, TypeError, "ids must be an iterable of document ids, not int"),
        (None, TypeError, "ids must be an iterable of document ids, not None"),
        (np.array([[0]]), TypeError, r"an array of shape \(1, 1\)"),
        ([True, False], ValueError, "mask of ids must have 3 entries, one an id, not 2"),
        (np.zeros(0, bool), ValueError, "must have 3 entries"),
        ([-1], ValueError, "there is no document -1"),
    ],
)
def test_what_is_no_id_removes_nothing(ids, error, message):
    index = small()
    with pytest.raises(error, match=message):
        index.remove(ids)
    assert index.n_docs == 3


@pytest.mark.parametrize("doc", [1.9, True, "1", None, [1]])
def test_what_is_no_id_updates_nothing(doc):
    index = small()
    with pytest.raises(TypeError, match="doc must be a whole number"):
        index.update(doc, ["new"])
    with pytest.raises(TypeError, match="doc must be a whole number"):
        index.explain(["cat"], doc)
    assert index.search(["cat"])[0].tolist() == [1]
    assert "new" not in index.vocabulary


def test_a_vocabulary_by_column():
    rows, words = vocabulary_of([["zebra", "apple"], ["apple", "밥"], ["밥", "밥", "tea"]])
    for given in (words, {word: np.int64(column) for word, column in words.items()}):
        index = BM25.from_matrix(rows, given)
        assert index.vocabulary == words
        assert index.search(["zebra"])[0].tolist() == [0]
        assert index.search(["밥"])[0].tolist() == [2, 1]
    again = BM25.from_matrix(sp.csr_array(index.matrix), index.vocabulary)
    assert np.array_equal(again.scores(["apple", "tea"]), index.scores(["apple", "tea"]))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"a": 0, "b": 2}, ValueError),
        ({"a": 0, "b": 0}, ValueError),
        ({"a": 0}, ValueError),
        ({"a": 1.0, "b": 0}, TypeError),
        ({"a", "b"}, TypeError),
        ("ab", TypeError),
        (2, TypeError),
    ],
)
def test_what_is_no_vocabulary(words, error):
    with pytest.raises(error, match="vocabulary"):
        BM25.from_matrix(sp.csr_array(np.eye(2, dtype=int)), words)


WRONG = [
    (lambda: BM25.from_texts("abc"), "texts must be an iterable of str, not one str"),
    (lambda: BM25.from_texts(None), "texts must be an iterable of str, not None"),
    (lambda: BM25.from_texts(["a", 5]), "text 1: a text must be a str, not int"),
    (lambda: BM25.from_tokens("abc"), "documents must be an iterable of token sequences, not one str"),
    (lambda: BM25.from_tokens([["a"], None]), "document 1: .*None"),
    (lambda: BM25.from_tokens([b"ab"]), "document 0: must be a sequence of tokens, not one bytes"),
    (lambda: BM25.from_tokens([["a"], [["b"]]]), "document 1: unhashable"),
    (lambda: BM25(analyzer=5), "analyzer must be a function, not 5"),
    (lambda: BM25(k1="1"), "k1 must be a number, not '1'"),
    (lambda: BM25(b=None), "b must be a number, not None"),
    (lambda: BM25(delta=True), "delta must be a number, not True"),
    (lambda: small().search(["cat"], 1.5), "k must be a whole number, not 1.5"),
    (lambda: small().search(["cat"], None), "k must be a whole number, not None"),
    (lambda: small().search(b"cat"), "query must be an iterable of tokens, not one bytes"),
    (lambda: small().search(5), "query must be an iterable of tokens, not int"),
    (lambda: small().search(["cat"], weights=["1"]), r"weights\[0\] must be a number, not '1'"),
    (lambda: small().search(["cat"], weights=1), "weights must be an iterable of numbers, not int"),
    (lambda: small().search_batch("cat"), "queries must be an iterable of queries, not one str"),
    (lambda: small().search_batch([["cat"]], threads=None), "threads must be a whole number, not None"),
    (lambda: small().search_batch([["cat"]], threads=1.5), "threads must be a whole number, not 1.5"),
    (lambda: small().search_batch([["cat"]], "3"), "k must be a whole number, not '3'"),
    (lambda: small().add("cat"), "documents must be an iterable of documents, not one str"),
    (lambda: small().add([b"cat"]), "document 0 must be an iterable of tokens, not one bytes"),
    (lambda: small().add([["a"], 5]), "document 1 must be an iterable of tokens, not int"),
    (lambda: columns().search(["a"]), "a term of an index without a vocabulary must be a whole number, not 'a'"),
    (lambda: columns().search("a"), "a term of an index without a vocabulary must be a whole number, not 'a'"),
    (lambda: columns().search([0.5]), "must be a whole number, not 0.5"),
    (lambda: columns().scores([0.5]), "must be a whole number, not 0.5"),
    (lambda: columns().add([["a"]]), "must be a whole number, not 'a'"),
    (lambda: BM25.from_matrix(np.array([[1, 2]])), "counts must be a scipy sparse array"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_wrong_arguments_of_a_changed_index():
    index = small()
    index.add([["new"]])
    with pytest.raises(TypeError, match="k must be a whole number, not None"):
        index.search(["cat"], None)
    with pytest.raises(TypeError, match=r"weights\[0\] must be a number"):
        index.scores(["cat"], weights=["1"])


@pytest.mark.parametrize("k", [np.int64(2), np.uint8(2), 2])
def test_whole_numbers_of_any_type(k):
    assert small(k1=np.float32(1.5)).search(["cat", "dog"], k)[0].tolist() == [1, 2]
    assert small().search_batch([["cat", "dog"]], k, threads=k)[0][0].tolist() == [1, 2]


def test_parameters_of_numpy_are_saved(tmp_path):
    small(k1=np.float32(1.5), b=np.int64(1)).save(tmp_path / "i")
    assert np.array_equal(BM25.load(tmp_path / "i").scores(["cat"]), small(k1=1.5, b=1).scores(["cat"]))


@pytest.mark.parametrize("result", ["a b", b"a", None, 5])
def test_an_analyzer_must_give_tokens(tmp_path, result):
    def analyzer(text):
        return result

    index = BM25(analyzer=analyzer)
    for call in (
        lambda: BM25.from_texts(["a b"], analyzer=analyzer),
        lambda: BM25.build(tmp_path / "i", ["a b"], analyzer=analyzer),
        lambda: index.search("a b"),
        lambda: index.add(["a b"]),
    ):
        with pytest.raises(TypeError, match="analyzer must return a sequence of tokens, not"):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array])
def test_an_analyzer_may_give_any_iterable(tmp_path, kind):
    def analyzer(text):
        return kind(text.split())

    built = BM25.build(tmp_path / "i", TEXTS, analyzer=analyzer)
    index = BM25.from_texts(TEXTS, analyzer=analyzer)
    index.add(["도구 하나"])
    for one in (index, built):
        assert one.search("목록을")[0].tolist() == [1]
        assert one.search("목록을 at", weights=[0, 1])[0].tolist() == [2]
        assert one.search_batch(["도구"], 1)[0][0].tolist() == [3 if one is index else 1]
        assert one.explain("도구 목록을", 1)["terms"][1][0] == "목록을"


def test_texts_of_numpy(tmp_path):
    expected = BM25.from_texts(TEXTS)
    given = np.array(TEXTS)
    for index in (BM25.from_texts(given), BM25.build(tmp_path / "i", given), BM25.from_texts([])):
        if not len(index):
            index.add(given)
        assert np.array_equal(index.scores(np.str_("회의가 언제야?")), expected.scores("회의가 언제야?"))
        assert index.search_batch(given, 1)[2][0].tolist() == [2]


def test_an_add_that_fails_leaves_no_words_behind():
    index = small()
    vocabulary, df = dict(index.vocabulary), index.df.tolist()

    def documents():
        yield ["one", "cat"]
        yield "하나 더"
        raise OSError("the source is gone")

    for given in (documents(), [["two"], None]):
        with pytest.raises((OSError, TypeError)):
            index.add(given)
    with pytest.raises(ValueError, match="no document 9"):
        index.update(9, ["three"])
    assert index.vocabulary == vocabulary
    assert index.df.tolist() == df
    assert index.matrix.shape == (3, len(vocabulary))
    index.add([["four"]])
    assert index.search(["four"])[0].tolist() == [3]


BUILDS = [
    ({"memory": None}, "memory must be a whole number, not None"),
    ({"memory": "1G"}, "memory must be a whole number, not '1G'"),
    ({"memory": 1e9}, "memory must be a whole number"),
    ({"progress": 5}, "progress must be True or a function, not 5"),
    ({"progress": "x"}, "progress must be True or a function, not 'x'"),
    ({"source": [["a"], b"ab"]}, "document 1: the document must be an iterable of tokens, not one bytes"),
    ({"source": [["a"], None]}, "document 1: the document must be an iterable of tokens, not None"),
    ({"source": [["a"], [1]]}, "document 1: a token must be a str, not int"),
    ({"source": None}, "source must be an iterable of documents, not one NoneType"),
    ({"source": b"abc"}, "source must be an iterable of documents, not one bytes"),
]


@pytest.mark.parametrize(("options", "message"), BUILDS)
def test_wrong_arguments_of_build(tmp_path, options, message):
    with pytest.raises(TypeError, match=message):
        BM25.build(tmp_path / "i", **{"source": [["a"]], **options})
    assert list(tmp_path.iterdir()) == []


def test_more_memory_than_there_is(tmp_path):
    assert len(BM25.build(tmp_path / "i", [["a"]], memory=2**70)) == 1


def test_a_build_does_not_replace_its_source(tmp_path):
    file, folder = tmp_path / "notes.jsonl", tmp_path / "bank"
    file.write_text('{"text": "회의는 3시"}\n', encoding="utf-8")
    folder.mkdir()
    note = folder / "note.md"
    note.write_text("도구 목록", encoding="utf-8")
    link = tmp_path / "link.jsonl"
    link.symlink_to(file)
    with open(file, encoding="utf-8") as lines:
        for path, source in (
            (file, JsonLines(file)),
            (link, JsonLines(str(file))),
            (file, JsonLines(link)),
            (file, lines),
            (note, Folder(folder)),
            (folder / ".." / "bank" / "note.md", Folder(folder, "*.md")),
        ):
            with pytest.raises(ValueError, match="path must not be a file of the source"):
                BM25.build(path, source)
    assert file.read_text(encoding="utf-8") == '{"text": "회의는 3시"}\n'
    assert note.read_text(encoding="utf-8") == "도구 목록"
    for _ in range(2):  # into the folder, and onto the index of before
        assert BM25.build(folder / "bm25", Folder(folder)).search("도구")[0].size == 1


def test_paths_of_bytes(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "회의"}\n', encoding="utf-8")
    path = bytes(tmp_path / "i")
    assert BM25.build(path, JsonLines(bytes(file))).search("회의")[0].tolist() == [0]
    small().save(path)
    assert BM25.load(path).search(["cat"])[0].tolist() == [1]
    assert Folder(bytes(tmp_path), "*.jsonl").paths == ["a.jsonl"]


def test_a_filter_id_is_named_as_given():
    with pytest.raises(ValueError, match="document id 9223372036854775808,"):
        small().search(["cat"], filter=np.array([2**63], np.uint64))


def test_a_long_run_of_syllables_has_bigrams_where_the_page_says():
    run = "가나다라마바사아자차" * 7
    assert BM25.from_texts([run]).avgdl == 0
    index = BM25.from_texts([run, "다른 글"], analyzer=lambda text: [*tokens(text).s, *tokens(text).b])
    assert index.search("가나다라마바사아자차" * 8)[0].tolist() == [0]
