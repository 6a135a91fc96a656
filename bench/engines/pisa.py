"""PISA by pyterrier-pisa: the fastest of its algorithms, called below the data frames that take longer than it does."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
from time import perf_counter, perf_counter_ns

from engines import K1, B, Base, K

ALGORITHMS = ("block_max_maxscore", "maxscore", "block_max_wand", "wand", "ranked_or")


class Engine(Base):
    modules = ("pyterrier_pisa",)
    package = "pyterrier-pisa"

    def _index(self, folder):
        import pyterrier_pisa

        return pyterrier_pisa.PisaIndex(str(folder), text_field="text", stemmer="none", stops="none")

    def build(self, collection, folder):
        # It reads through a pipe, while a thread makes the input: that is part of the time.
        begun = perf_counter()
        shutil.rmtree(folder)
        with _quiet():
            index = self._index(folder)
            index.index({"docno": str(doc), "text": text} for doc, text in enumerate(collection.texts()))
            index.bm25(k1=K1, b=B)  # writes the compressed postings and the block maxima
        return perf_counter() - begun

    def open(self, folder):
        from pyterrier_pisa import _pisathon

        self.call = _pisathon.retrieve
        # The object that holds the context must live as long as it.
        self.retriever = self._index(folder).bm25(k1=K1, b=B, num_results=K)
        self.context = self.retriever._ctxt
        self.room = _room(1)
        self.algorithm = ALGORITHMS[0]

    def tune(self, queries):
        def cost(algorithm):
            self.algorithm = algorithm
            logs = []
            for query in queries[:100]:
                taken = []
                for _ in range(3):
                    begun = perf_counter_ns()
                    self.search(query)
                    taken.append(perf_counter_ns() - begun)
                logs.append(math.log(min(taken)))
            return sum(logs)

        self.algorithm = min(ALGORITHMS, key=cost)
        self.note = self.algorithm

    def search(self, words):
        return self._retrieve([(0, " ".join(words))], self.room), self.room

    def search_batch(self, queries):
        return self._retrieve([(n, " ".join(words)) for n, words in enumerate(queries)], _room(len(queries)))

    def _retrieve(self, queries, room):
        return self.call(self.context, self.algorithm, queries, k=K, threads=1, **room)

    def hits(self, found):
        n, room = found
        return [int(doc) for doc in room["result_docnos"][:n]], room["result_scores"][:n].tolist()

    def size(self, folder):
        searched = [*folder.glob("bm25.*"), folder / "fwd.doclex", folder / "fwd.termlex"]
        return sum(path.stat().st_size for path in searched)


@contextlib.contextmanager
def _quiet():
    """Its progress goes to standard output and error, past Python."""
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        for at, old in enumerate(kept, 1):
            os.dup2(old, at)
            os.close(old)


def _room(n_queries):
    import numpy as np

    n = n_queries * K
    return {
        "result_qidxs": np.empty(n, np.int32),
        "result_docnos": np.empty(n, object),
        "result_ranks": np.empty(n, np.int32),
        "result_scores": np.empty(n, np.float32),
    }
