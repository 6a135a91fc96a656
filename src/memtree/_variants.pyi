from collections.abc import Sequence
from typing import Any

from memtree._postings import Matrix

METHODS: tuple[str, ...]
DEFAULT_DELTA: dict[str, float]

class Variant(Matrix):
    method: str
    k1: float
    b: float
    delta: float
    epsilon: float
    @property
    def idf_values(self) -> memoryview[float]: ...
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
