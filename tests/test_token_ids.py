"""Many texts at once give the token ids that one text at a time gives."""

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_analysis_oracle import TEXTS

from memtree._token_ids import TokenIds
from memtree.analysis import tokens
from memtree.bm25 import BM25

TOKENS = st.lists(st.one_of(st.sampled_from(["회의", "meeting", "a", "", "A"]), st.text(max_size=4)), max_size=12)


def rows(lengths, ids, names):
    """Rows of token ids as rows of tokens."""
    names, found, start = list(names), [], 0
    for length in lengths:
        found.append([names[number] for number in ids[start : start + length]])
        start += length
    assert start == len(ids)
    return found


def numbered(documents):
    """Ids in the order of first appearance, by a dict."""
    known: dict[str, int] = {}
    return known, [[known.setdefault(token, len(known)) for token in document] for document in documents]


@settings(deadline=None)
@given(st.lists(st.one_of(TEXTS, TOKENS), max_size=12), st.integers(0, 12))
def test_ids_are_those_of_each_document_alone(documents, middle):
    known, expected = numbered(tokens(one).s if isinstance(one, str) else one for one in documents)
    reader, found = TokenIds(), []
    for part in (documents[:middle], documents[middle:]):
        for document in part:
            (reader.add_text if isinstance(document, str) else reader.add_tokens)(document)
        found.append(reader.take())
    lengths = found[0][0] + found[1][0]
    assert list(lengths) == [len(row) for row in expected]
    assert found[0][1] + found[1][1] == array("I", [number for row in expected for number in row])
    assert len(reader) == len(known)
    assert list(reader.vocabulary().items()) == list(known.items())


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=8))
def test_from_texts_saves_the_same_bytes_as_from_tokens(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("same")
    BM25.from_texts(texts).save(folder / "texts")
    BM25.from_tokens([tokens(text).s for text in texts]).save(folder / "tokens")
    assert (folder / "texts").read_bytes() == (folder / "tokens").read_bytes()


def test_more_surfaces_than_are_kept_waiting():
    texts = [" ".join(f"낱말{number % 7001} word{number}" for number in range(start, start + 5000)) for start in range(0, 300_000, 5000)]
    texts += ["the meeting", "the", "회의를 했다"] * 3
    known, expected = numbered(tokens(text).s for text in texts)
    reader = TokenIds()
    for text in texts:
        reader.add_text(text)
    lengths, ids = reader.take()
    assert rows(lengths, ids, reader.vocabulary()) == rows(
        [len(row) for row in expected], [number for row in expected for number in row], known
    )


@pytest.mark.parametrize("document", [[1], [b"a"], [None]])
def test_tokens_must_be_text(document):
    with pytest.raises(TypeError, match="must be a str"):
        TokenIds().add_tokens(document)


def test_texts_must_be_text():
    with pytest.raises(TypeError):
        BM25.from_texts([["a"]])
