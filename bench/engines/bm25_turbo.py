"""bm25-turbo; it tokenises itself, and what it opens from a file is slower than what it has just built."""

from __future__ import annotations

from time import perf_counter

from engines import K1, B, Base, K


class Engine(Base):
    modules = ("bm25_turbo_python",)
    package = "bm25-turbo"
    in_memory = True
    most_docs = 1_000_000
    too_large = "builds in memory, some 6 GB for 10^6 documents"

    def build(self, collection, folder):
        from bm25_turbo_python import BM25

        texts = list(collection.texts())
        begun = perf_counter()
        self.index = BM25(method="lucene", k1=K1, b=B)
        self.index.index(texts)
        seconds = perf_counter() - begun
        self.index.save(str(folder / "index.bm25"))
        return seconds

    def search(self, words):
        return self.index.search(" ".join(words), K)
