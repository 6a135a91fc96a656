"""Segments into one."""

from collections.abc import Callable, Mapping, Sequence

from typing_extensions import Buffer

from memtree._bm25 import Postings

def merge(
    segments: Sequence[object],
    n_docs: int,
    n_terms: int,
    allocate: Callable[[dict[str, int]], Mapping[str, Buffer]],
    on_tick: Callable[[], object],
) -> Postings: ...
