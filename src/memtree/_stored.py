"""What the file of a `memtree.BM25` holds: postings, vocabulary, and a description of the collection."""

from __future__ import annotations

import json

import numpy as np

from memtree._bm25 import Postings
from memtree._words import has_words, read_words, word_parts
from memtree.errors import IndexFileError

KIND = "bm25"


def describe(params: dict, n_docs: int, holes=()) -> bytes:
    """The section ``head``."""
    return json.dumps({"params": params, "n_docs": n_docs, "holes": list(holes)}).encode()


def parts_of(generation, params: dict, words) -> dict:
    """The sections of a generation of one segment.

    Raises
    ------
    TypeError
        The tokens are neither all str nor all whole numbers.
    """
    parts = dict(generation.segments[0].postings.to_parts("bm25."))
    if words is not None:
        parts.update(word_parts(words))
    parts["head"] = describe(params, generation.n_docs, generation.holes.tolist())
    return parts


def read(parts, path):
    """Parameters, postings, documents, holes, and a function that gives the vocabulary, or None.

    Raises
    ------
    IndexFileError
        The sections are damaged.
    """
    try:
        head = json.loads(bytes(parts["head"]))
        params, n_docs = dict(head["params"]), int(head["n_docs"])
        holes = np.array(sorted({int(doc) for doc in head["holes"]}), np.int64)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise _damaged(error, path) from None
    try:
        postings = Postings.from_parts(parts, "bm25.")
    except IndexFileError as error:
        error.path = path
        raise
    if len(holes) and not 0 <= holes[0] <= holes[-1] < postings.n_docs:
        raise _damaged("it lacks documents that it removed", path)
    return params, postings, n_docs, holes, (lambda: read_words(parts, path)) if has_words(parts) else None


def _damaged(reason, path) -> IndexFileError:
    return IndexFileError(f"index file has no valid description: {reason}", path, remedy="build it again")
