"""Documents given in memory into postings and a vocabulary."""

from __future__ import annotations

from array import array
from collections import defaultdict

from memtree._arguments import columns, several, tokens
from memtree._bm25 import Postings
from memtree._rows import indptr_of
from memtree._token_ids import TokenIds


def read_tokens(documents) -> tuple[Postings, dict]:
    """Postings and vocabulary of token sequences."""
    words: defaultdict = defaultdict()
    words.default_factory = words.__len__
    indptr, ids = array("q", [0]), array("I")
    for document in several("documents", documents, "token sequences"):
        try:
            if isinstance(document, (str, bytes, bytearray)):
                kind = type(document).__name__
                raise TypeError(f"must be a sequence of tokens, not one {kind}; from_texts takes texts")
            ids.extend(map(words.__getitem__, document))
        except TypeError as error:
            raise TypeError(f"document {len(indptr) - 1}: {error}") from error
        indptr.append(len(ids))
    return Postings.build(indptr, ids, (0, len(words))), dict(words)


def read_texts(texts) -> tuple[Postings, TokenIds]:
    """Postings and vocabulary of texts, by the analysis of memtree."""
    ids = TokenIds()
    for number, text in enumerate(texts):
        try:
            ids.add_text(text)
        except TypeError as error:
            raise TypeError(f"text {number}: {error}") from None
    lengths, numbered = ids.take()
    ids.forget()
    return Postings.build(indptr_of(lengths), numbered, (0, len(ids))), ids


def read_more(documents, analyse, words: dict | None, n_terms: int) -> list[array]:
    """The tokens of token sequences and texts as ids; new words get the next ones, or are columns below `n_terms`."""
    found: list[array] = []
    for document in documents:
        given = analyse(document) if isinstance(document, str) else tokens(f"document {len(found)}", document)
        if words is None:
            found.append(array("I", columns(given, n_terms)))
        else:
            found.append(array("I", [words.setdefault(word, len(words)) for word in given]))
    return found
