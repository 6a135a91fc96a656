"""The vocabulary in an index file: all tokens in UTF-8, one after the other by id, and where each ends."""

from __future__ import annotations

import numpy as np

from memtree.errors import IndexFileError


def word_parts(words) -> dict[str, bytes]:
    """The sections of the tokens of an index, in the order of their ids.

    Raises
    ------
    TypeError
        A token is no str.
    """
    if not all(isinstance(word, str) for word in words):
        raise TypeError("only an index whose tokens are str can be saved")
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    return {
        "words": b"".join(encoded),
        "word_ends": np.cumsum([len(word) for word in encoded], dtype=np.int64).tobytes(),
    }


def read_words(parts, path) -> dict[str, int]:
    """The tokens and their ids from those sections.

    Raises
    ------
    IndexFileError
        They are damaged.
    """
    blob, ends, start = bytes(parts["words"]), parts["word_ends"], 0
    found: dict[str, int] = {}
    if len(ends) % 8:
        raise IndexFileError("index file has a damaged vocabulary", path)
    for end in memoryview(ends).cast("B").cast("q"):
        found[blob[start:end].decode("utf-8", "surrogatepass")] = len(found)
        start = end
    return found
