from typing import Any

from memtree._bm25 import Postings

def postings_of(counts: Any) -> Postings: ...
