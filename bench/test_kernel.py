"""The kernel alone: exact top 10 of 100,000 documents, against bm25s with its numba backend.

Documents and queries come as token ids (`zipf.py`), so that analysis plays no part; both sides are checked to give
equal scores before they are timed.

    python bench/test_kernel.py            # both sides by turns in one process: times, ratio, bytes a posting, opening
    python -m pytest bench/test_kernel.py -p benchmark
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pytest

from memtree._bm25 import Postings
from memtree.sections import open_sections, write_sections

sys.path.insert(0, str(Path(__file__).parent))
import zipf
from timing import interleaved, machine, shown

N_DOCS = 100_000
K = 10


class Memtree:
    """Our postings."""

    def __init__(self, indptr, tokens):
        begun = perf_counter()
        self.postings = Postings.build(indptr, tokens, (0, zipf.VOCABULARY))
        self.seconds = perf_counter() - begun

    def __call__(self, query):
        return self.postings.search(query, None, K)


class Bm25s:
    """The peer, with its numba backend, one thread."""

    def __init__(self, indptr, tokens):
        import bm25s
        from bm25s.tokenization import Tokenized

        rows = [tokens[start:end].tolist() for start, end in zip(indptr[:-1], indptr[1:], strict=True)]
        vocabulary = {str(token): token for token in range(zipf.VOCABULARY)}
        self.model = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
        begun = perf_counter()
        self.model.index(Tokenized(ids=rows, vocab=vocabulary), show_progress=False)
        self.seconds = perf_counter() - begun

    def __call__(self, query):
        words = [[str(token) for token in query]]
        found = self.model.retrieve(words, k=K, show_progress=False, n_threads=1)
        return found.documents[0], found.scores[0]


def agree(sides, queries) -> None:
    """Both sides give the same scores, to float32 precision."""
    for query in queries:
        scores = [np.asarray(side(query)[1]) for side in sides]
        shortest = min(map(len, scores))
        np.testing.assert_allclose(scores[0][:shortest], scores[1][:shortest], rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def collection():
    indptr, tokens = zipf.documents(N_DOCS)
    return indptr, tokens, zipf.queries(indptr, tokens)


@pytest.fixture(scope="module", params=[Memtree, Bm25s])
def engine(request, collection):
    return request.param(*collection[:2])


@pytest.mark.benchmark(group="kernel-1e5")
def test_search(benchmark, engine, collection):
    benchmark(lambda: [engine(query) for query in collection[2]])


@pytest.mark.benchmark(group="kernel-build-1e5")
def test_build(benchmark, collection):
    benchmark.pedantic(Memtree, collection[:2], rounds=3)


def opening(n_docs: int, folder: str) -> float:
    """Median seconds to open a mapped index of so many documents."""
    indptr, tokens = zipf.documents(n_docs)
    path = os.path.join(folder, f"{n_docs}.bin")
    write_sections(path, "bench", Postings.build(indptr, tokens, (0, zipf.VOCABULARY)).to_parts(""))
    taken = []
    for _ in range(51):
        begun = perf_counter()
        Postings.from_parts(open_sections(path, "bench"), "")
        taken.append(perf_counter() - begun)
    return median(taken)


def main() -> None:
    """Print the figures."""
    print(machine())
    indptr, tokens = zipf.documents(N_DOCS)
    queries = zipf.queries(indptr, tokens)
    ours, peer = Memtree(indptr, tokens), Bm25s(indptr, tokens)
    agree((ours, peer), queries)
    times = interleaved({"memtree": ours, "bm25s": peer}, queries, rounds=21)
    print(f"top {K} of {N_DOCS:,} documents: memtree {shown(times['memtree'])}, bm25s numba {shown(times['bm25s'])}, "
          f"{times['bm25s'] / times['memtree']:.1f} times")
    print(f"build from token ids: memtree {shown(ours.seconds)}, bm25s {shown(peer.seconds)}, "
          f"{peer.seconds / ours.seconds:.1f} times")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "index.bin")
        write_sections(path, "bench", ours.postings.to_parts(""))
        print(f"file: {os.path.getsize(path) / ours.postings.n_postings:.2f} bytes a posting")
        small, large = opening(10_000, folder), opening(1_000_000, folder)
        print(f"open by mmap: {shown(small)} at 10^4 documents, {shown(large)} at 10^6, {large / small:.2f} times")


if __name__ == "__main__":
    main()
