"""What callers of `memtree.BM25` give, checked: a wrong argument is named, nonsense refused before anything changes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _is_bool(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def whole(name: str, value: Any) -> int:
    """A whole number; a bool or a float is none."""
    try:
        if not _is_bool(value):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{name} must be a whole number, not {value!r}")


def number(name: str, value: Any) -> float:
    """A number, as a Python float; a str or a bool is none."""
    kind = type(value)
    if not _is_bool(value) and (hasattr(kind, "__float__") or hasattr(kind, "__index__")):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} must be a number, not {value!r}")


def numbers(name: str, values: Any) -> list[float]:
    """A sequence of numbers."""
    return [number(f"{name}[{at}]", value) for at, value in enumerate(several(name, values, "numbers"))]


def function(name: str, value: Any) -> Any:
    """Something to call, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, not {value!r}")
    return value


def several(name: str, values: Any, of: str) -> Iterator[Any]:
    """What an iterable gives; one str, whose characters nobody means, is refused."""
    if isinstance(values, (str, bytes, bytearray)):
        raise TypeError(f"{name} must be an iterable of {of}, not one {_kind(values)}")
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{name} must be an iterable of {of}, not {_kind(values)}") from None


def tokens(name: str, values: Any) -> Iterable[Any]:
    """A sequence of tokens."""
    return values if isinstance(values, (list, tuple)) else list(several(name, values, "tokens"))


def analysed(values: Any) -> list[Any]:
    """What an analyzer has returned."""
    if isinstance(values, list):
        return values
    if isinstance(values, (str, bytes, bytearray)) or not hasattr(values, "__iter__"):
        raise TypeError(f"analyzer must return a sequence of tokens, not {_kind(values)}")
    return list(values)


def columns(terms: Any, n_terms: int) -> list[int]:
    """Term ids of an index without a vocabulary."""
    found = [whole("a term of an index without a vocabulary", term) for term in terms]
    for column in found:
        if not 0 <= column < n_terms:
            raise ValueError(f"term id {column} is not below the number of columns, {n_terms}")
    return found


def document_ids(ids: Any, collection: Any) -> list[int]:
    """Ids given one by one, or those that a mask of bool over all ids marks and that are in the collection."""
    n_ids = collection.n_rows
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise TypeError(f"ids must be a sequence of document ids, not an array of shape {ids.shape}")
        given = ids.tolist()
        is_mask = ids.dtype == bool
    else:
        given = list(several("ids", ids, "document ids"))
        is_mask = bool(given) and all(map(_is_bool, given))
    if not is_mask:
        return sorted({whole(f"ids[{at}]", doc) for at, doc in enumerate(given)})
    if len(given) != n_ids:
        raise ValueError(f"a mask of ids must have {n_ids} entries, one an id, not {len(given)}")
    return [doc for doc, is_marked in enumerate(given) if is_marked and collection.place(doc) is not None]
