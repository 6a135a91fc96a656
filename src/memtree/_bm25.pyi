from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtree._filter import Filter
from memtree._variants import Variant

PATHS: tuple[str, ...]

def set_path(name: str | None = None) -> str: ...

class Postings(Variant):
    pruning: bool
    def share(self) -> Postings: ...
    def search(
        self,
        terms: Sequence[Any],
        weights: Sequence[float] | None = None,
        k: int = 10,
        filter: Filter | ArrayLike | None = None,
        *,
        weight_mask: ArrayLike | None = None,
        words: dict | None = None,
        df: Sequence[int] | None = None,
        removed: Any = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...
    def search_many(
        self,
        queries: Sequence[tuple[Sequence[Any], Sequence[float] | None]],
        k: int = 10,
        filter: Filter | None = None,
        *,
        words: dict | None = None,
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]: ...
    def scores(
        self,
        terms: Sequence[Any],
        weights: Sequence[float] | None = None,
        *,
        words: dict | None = None,
        df: Sequence[int] | None = None,
    ) -> NDArray[np.float32]: ...
    def impact(self, term: int, doc: int, *, df: int | None = None) -> float: ...
