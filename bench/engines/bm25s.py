"""bm25s with its numpy and its numba backend, both on the same index."""

from __future__ import annotations

from engines import K1, B, Base, Clock, K


class _Rows:
    """Token ids that bm25s reads several times over, made outside the clock."""

    def __init__(self, rows, clock):
        self.rows, self.clock = rows, clock

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return self.clock.items(self.rows)


class Engine(Base):
    package = "bm25s"
    index_of = "bm25s"

    def __init__(self, name):
        super().__init__(name)
        self.backend = name.split("-")[1]
        self.modules = ("bm25s", "numba") if self.backend == "numba" else ("bm25s",)
        if self.backend == "numpy":
            self.most_docs = 1_000_000
            self.too_large = "sorts the scores of all documents: seconds a query"

    def build(self, collection, folder):
        import bm25s
        from bm25s.tokenization import Tokenized

        vocabulary = {word: token for token, word in enumerate(collection.words)}
        model = bm25s.BM25(method="lucene", k1=K1, b=B, backend=self.backend, csc_backend="scipy")
        clock = Clock()
        model.index(Tokenized(ids=_Rows(collection.id_rows(), clock), vocab=vocabulary), show_progress=False)
        seconds = clock.seconds()
        model.save(folder)
        return seconds

    def open(self, folder):
        import bm25s

        self.model = bm25s.BM25.load(folder, backend=self.backend)

    def search(self, words):
        return self.search_batch([words])

    def search_batch(self, queries):
        threads = 1 if self.backend == "numba" else 0
        return self.model.retrieve(queries, k=K, show_progress=False, n_threads=threads)

    def hits(self, found):
        # Where fewer than k documents match, it fills up with others of score 0.
        pairs = [pair for pair in zip(found.documents[0], found.scores[0], strict=True) if pair[1] > 0]
        return [int(doc) for doc, _ in pairs], [float(score) for _, score in pairs]
