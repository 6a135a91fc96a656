"""rank_bm25, its Okapi variant; the top 10 by a partial sort, which is faster than its own `get_top_n`."""

from __future__ import annotations

from time import perf_counter

from engines import K1, B, Base, K


class Engine(Base):
    modules = ("rank_bm25",)
    package = "rank-bm25"
    most_docs = 100_000
    too_large = "a loop in Python over all documents: seconds a query"
    in_memory = True

    def build(self, collection, folder):
        from rank_bm25 import BM25Okapi

        rows = list(collection.rows())
        begun = perf_counter()
        self.index = BM25Okapi(rows, k1=K1, b=B)
        return perf_counter() - begun

    def search(self, words):
        import numpy as np

        scores = self.index.get_scores(words)
        best = np.argpartition(scores, -K)[-K:]
        best = best[np.argsort(-scores[best])]
        return best, scores[best]
