"""Pruned search against the exhaustive scan of the same kernel: is a query ever slower for being pruned?

    python bench/test_pruning.py                  # 10^5 and 10^6 documents; numbers of documents as arguments
    python -m pytest bench/test_pruning.py -p benchmark
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pytest

from memtree._bm25 import Postings

sys.path.insert(0, str(Path(__file__).parent))
import zipf
from timing import machine

TOP = (1, 10, 100, 1000)
# Queries of each kind.
EACH = 50


def varied(df: np.ndarray, n_docs: int, n: int, seed: int = 3) -> dict[str, list]:
    """Queries (terms, weights) of several kinds.

    Parameters
    ----------
    df : ndarray of int, shape (n_terms,)
    n_docs : int
    n : int
        Queries of each kind.
    """
    rng = np.random.default_rng(seed)
    share = df / n_docs
    any_df = np.flatnonzero(df >= 2)
    rare = np.flatnonzero((share <= 1 / 100) & (share >= 1 / 20_000))
    middle = np.flatnonzero((share > 1 / 500) & (share <= 1 / 20))
    frequent = np.flatnonzero(share > 1 / 20)
    # Terms in proportion to their use, as the words of a sentence typed as a question.
    running = df / df.sum()

    def pick(pools, least, most):
        length = int(rng.integers(least, most + 1))
        return [int(rng.choice(pools[int(rng.integers(0, len(pools)))])) for _ in range(length)]

    def one(kind):
        if kind == "light":
            return pick([rare, rare, middle], 2, 6), None
        if kind == "heavy":
            return pick([rare, middle, frequent], 2, 6), None
        if kind == "long":
            return pick([rare, middle, frequent], 7, 12), None
        if kind == "frequent":
            return pick([frequent], 1, 5), None
        if kind == "sentence":
            return rng.choice(len(df), int(rng.integers(2, 13)), p=running).tolist(), None
        if kind == "single":
            return pick([any_df, middle, frequent], 1, 1), None
        terms = pick([rare, middle, frequent], 2, 6)
        if kind == "repeated":
            return terms + [terms[int(rng.integers(len(terms)))] for _ in range(3)], None
        return terms, rng.choice([0.1, 0.5, 1.0, 3.0], len(terms)).tolist()

    kinds = ("light", "heavy", "long", "frequent", "sentence", "single", "repeated", "weighted")
    return {kind: [one(kind) for _ in range(n)] for kind in kinds}


def compare(postings, queries, k: int, rounds: int) -> np.ndarray:
    """Least nanoseconds of each query, pruned and exhaustive, shape (n, 2).

    The sides take turns, each with all queries: a query finds in the caches what the others have left there.
    """
    least = np.full((len(queries), 2), np.inf)
    gc.collect()
    gc.disable()
    for turn in range(2 * rounds):
        side = turn % 2
        postings.pruning = side == 0
        for number, (terms, weights) in enumerate(queries):
            begun = perf_counter_ns()
            postings.search(terms, weights, k)
            least[number, side] = min(least[number, side], perf_counter_ns() - begun)
    gc.enable()
    postings.pruning = True
    return least


def collection(n_docs: int):
    indptr, tokens = zipf.documents(n_docs)
    return Postings.build(indptr, tokens, (0, zipf.VOCABULARY))


@pytest.fixture(scope="module")
def postings():
    return collection(100_000)


@pytest.mark.benchmark(group="pruning-1e5")
@pytest.mark.parametrize("pruning", [True, False])
def test_heavy(benchmark, postings, pruning):
    queries = varied(np.frombuffer(postings.df, np.uint32), postings.n_docs, 100)["heavy"]
    postings.pruning = pruning
    benchmark(lambda: [postings.search(terms, weights, 10) for terms, weights in queries])
    postings.pruning = True


def report(label: str, times: np.ndarray) -> None:
    ratio = times[:, 0] / times[:, 1]
    mean, tail = times.mean(axis=0), np.percentile(times, 99, axis=0)
    print(
        f"{label:22} {mean[0] / 1e3:9.1f} {mean[1] / 1e3:9.1f} {mean[0] / mean[1]:6.2f} {tail[0] / tail[1]:6.2f}"
        f" {np.median(ratio):7.2f} {np.percentile(ratio, 99):6.2f} {ratio.max():6.2f} {np.mean(ratio > 1.1):7.1%}"
    )


def main() -> None:
    """Print the distribution of pruned / exhaustive by kind of query and k."""
    print(machine())
    for n_docs in [int(argument) for argument in sys.argv[1:]] or [100_000, 1_000_000]:
        postings = collection(n_docs)
        queries = varied(np.frombuffer(postings.df, np.uint32), n_docs, EACH)
        print(f"{n_docs:,} documents; microseconds, least of several a query; then pruned / exhaustive")
        print(f"{'':22} {'pruned':>9} {'exhaust.':>9} {'mean':>6} {'p99':>6} {'median':>7} {'99 %':>6} {'worst':>6}"
              f" {'> 1.1':>7}")
        for k in TOP:
            times = compare(postings, [query for some in queries.values() for query in some], k, 9)
            for number, kind in enumerate(queries):
                report(f"k {k:4} {kind}", times[number * EACH : (number + 1) * EACH])
            report(f"k {k:4} all", times)


if __name__ == "__main__":
    main()
