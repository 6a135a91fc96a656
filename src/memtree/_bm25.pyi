from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtree._postings import Matrix

METHODS: tuple[str, ...]
PATHS: tuple[str, ...]
DEFAULT_DELTA: dict[str, float]

def set_path(name: str | None = None) -> str: ...

class Postings(Matrix):
    method: str
    k1: float
    b: float
    delta: float
    epsilon: float
    pruning: bool
    @property
    def idf_values(self) -> memoryview[float]: ...
    def share(self) -> Postings: ...
    def set_collection(self, n_docs: int, totals: Sequence[float]) -> None: ...
    def set_params(
        self,
        method: str = "lucene",
        k1: float = 1.2,
        b: float = 0.75,
        delta: float | None = None,
        epsilon: float = 0.25,
        idf: Any = None,
    ) -> None: ...
    def search(
        self,
        terms: Sequence[int],
        weights: Sequence[float] | None = None,
        k: int = 10,
        filter: ArrayLike | None = None,
        *,
        df: Sequence[int] | None = None,
        removed: Any = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...
    def search_many(
        self, queries: Sequence[tuple[Sequence[int], Sequence[float] | None]], k: int = 10
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]: ...
    def scores(
        self, terms: Sequence[int], weights: Sequence[float] | None = None, *, df: Sequence[int] | None = None
    ) -> NDArray[np.float32]: ...
    def impact(self, term: int, doc: int, *, df: int | None = None) -> float: ...
