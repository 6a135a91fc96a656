from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

METHODS: tuple[str, ...]
DEFAULT_DELTA: dict[str, float]

class Postings:
    method: str
    k1: float
    b: float
    delta: float
    epsilon: float
    n_fields: int
    @staticmethod
    def build(indptr: Any, terms: Any, field_starts: Sequence[int]) -> Postings: ...
    @staticmethod
    def from_csc(
        indptr: Any, indices: Any, tf: Any, n_docs: int, field_starts: Sequence[int], doc_len: Any = None
    ) -> Postings: ...
    def to_parts(self, prefix: str = "") -> dict[str, Any]: ...
    @staticmethod
    def from_parts(parts: Any, prefix: str = "") -> Postings: ...
    @property
    def n_docs(self) -> int: ...
    @property
    def n_terms(self) -> int: ...
    @property
    def n_postings(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def df(self) -> memoryview[int]: ...
    @property
    def idf_values(self) -> memoryview[float]: ...
    def doc_len(self, field: int = 0) -> memoryview[int]: ...
    def avgdl(self, field: int = 0) -> float: ...
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
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...
    def scores(
        self, terms: Sequence[int], weights: Sequence[float] | None = None
    ) -> NDArray[np.float32]: ...
    def impact(self, term: int, doc: int) -> float: ...
