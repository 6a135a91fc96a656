from typing import Any

from numpy import float32
from numpy.typing import NDArray

class Filter:
    n_docs: int
    n_left: int
    weight_mask: NDArray[float32] | None
    def __init__(self, documents: Any, weight_mask: Any, n_docs: int) -> None: ...
