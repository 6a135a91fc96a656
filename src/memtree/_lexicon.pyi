"""The lexicon of an index that grows.

Mode "prefix": the index keywords are the `keywords` of `analyse`, in index order. Each ``\\w+`` token (NFKC,
lower case) becomes the first of them that it starts with or contains, else stays itself; all terms are in
field s. A lexicon that is opened from a file keeps its keywords.
"""

from array import array
from collections.abc import Sequence
from typing import Literal

from typing_extensions import Buffer

from memtree._vocabulary import Query as Query
from memtree._vocabulary import Vocabulary

class Lexicon(Vocabulary):
    def __init__(self, mode: Literal["korean", "prefix"] = "korean") -> None: ...
    def scan(self, text: str) -> array[int]: ...
    def analyse(self, counts: Buffer, keywords: Sequence[str] = ()) -> None: ...
    @property
    def doc_terms(self) -> tuple[memoryview, memoryview]: ...
    def expand(self, indptr: Buffer, surfaces: Buffer) -> tuple[memoryview, memoryview]: ...
