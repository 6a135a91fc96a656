"""The vocabulary in an index file, by id: all tokens in UTF-8, one after the other, and where each ends; or numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtree._arguments import whole
from memtree.errors import IndexFileError


def distinct(vocabulary, n: int) -> list:
    """The tokens of a sequence, or of a dict to their places, after a check.

    Raises
    ------
    TypeError
        It is one str, or has no order.
    ValueError
        They are not `n`, or one stands twice, or the places are not those from 0 to `n` - 1.
    """
    if isinstance(vocabulary, (str, bytes, set, frozenset)) or not hasattr(vocabulary, "__iter__"):
        kind = type(vocabulary).__name__
        raise TypeError(f"vocabulary must be a sequence of words, or a dict of word to column, not {kind}")
    if isinstance(vocabulary, Mapping):
        columns = [whole(f"vocabulary[{word!r}]", column) for word, column in vocabulary.items()]
        if sorted(columns) != list(range(n)):
            raise ValueError(f"vocabulary must name each column from 0 to {n - 1} once")
        return sorted(vocabulary, key=vocabulary.__getitem__)
    words = list(vocabulary)
    if len(words) != n:
        raise ValueError(f"vocabulary must have {n} different words, one a column, not {len(words)}")
    if len(set(words)) != n:
        place = {word: place for place, word in enumerate(words)}
        twice = next(word for at, word in enumerate(words) if place[word] != at)
        raise ValueError(f"vocabulary must have {n} different words, one a column, not {twice!r} twice")
    return words


def word_parts(words) -> dict[str, bytes]:
    """The sections of the tokens of an index, in the order of their ids.

    Raises
    ------
    TypeError
        The tokens are neither all str nor all whole numbers of 64 bits.
    """
    if all(isinstance(word, str) for word in words):
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        return {"words": b"".join(encoded), "word_ends": ends.tobytes()}
    for word in words:
        if not _is_number(word):
            raise TypeError(
                f"an index can be saved whose tokens are all str or all whole numbers, not one with {word!r}: "
                "index str(token) of each"
            )
    return {"numbers": np.array([int(word) for word in words], np.int64).tobytes()}


def _is_number(word) -> bool:
    is_whole = isinstance(word, (int, np.integer)) and not isinstance(word, bool)
    return is_whole and -(2**63) <= word < 2**63


def has_words(parts) -> bool:
    """Whether an index file has a vocabulary."""
    return "words" in parts or "numbers" in parts


def read_words(parts, path) -> dict:
    """The tokens and their ids from those sections.

    Raises
    ------
    IndexFileError
        They are damaged.
    """
    found: dict = {}
    ends = parts["numbers"] if "numbers" in parts else parts["word_ends"]
    if len(ends) % 8:
        raise IndexFileError("index file has a damaged vocabulary", path)
    if "numbers" in parts:
        return {number: place for place, number in enumerate(memoryview(ends).cast("B").cast("q"))}
    blob, start = bytes(parts["words"]), 0
    for end in memoryview(ends).cast("B").cast("q"):
        found[blob[start:end].decode("utf-8", "surrogatepass")] = len(found)
        start = end
    return found
