"""memtree.BM25, as it is and with pruning off."""

from __future__ import annotations

from time import perf_counter

from engines import K1, B, Base, K

FILE = "index.bm25"


class Engine(Base):
    modules = ("memtree",)

    def __init__(self, name):
        super().__init__(name)
        self.prunes = name == "memtree"
        self.index_of = "" if self.prunes else "memtree"

    def build(self, collection, folder):
        import numpy as np
        from scipy.sparse import csr_array

        from memtree import BM25

        shape = (collection.n_docs, len(collection.words))
        ones = np.ones(len(collection.tokens), np.uint8)
        rows = csr_array((ones, collection.tokens.view(np.int32), collection.indptr.astype(np.int32)), shape=shape)
        begun = perf_counter()
        index = BM25.from_matrix(rows, collection.words, k1=K1, b=B)
        seconds = perf_counter() - begun
        index.save(folder / FILE)
        return seconds

    def open(self, folder):
        from memtree import BM25

        self.index = BM25.load(folder / FILE)
        self.index.search([])
        if not self.prunes:
            self.index._generation.segments[0].postings.pruning = False

    def search(self, words):
        return self.index.search(words, K)

    def search_batch(self, queries):
        return self.index.search_batch(queries, K)
