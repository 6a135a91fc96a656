"""Index of raw texts in memory, against bm25s, each with its own tokeniser.

100,000 texts of some 55 words, English and mixed Korean and English (``corpora``). Both sides start from a list of
str and end with an index that has answered a query; both drop English stop words. memtree also stems English and
analyses Korean; bm25s is timed with PyStemmer, which stems as ours does, and without. Sides take turns, in one thread.

    python bench/test_texts.py [--texts 100000] [--rounds 3]
    python -m pytest bench/test_texts.py -p benchmark      # 5,000 texts
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
from pathlib import Path
from time import perf_counter

import bm25s
import pytest
from Stemmer import Stemmer

from memtree import BM25

sys.path.insert(0, str(Path(__file__).parent))
import corpora
from timing import machine, shown

CORPORA = {"English": corpora.english_texts, "mixed": corpora.mixed_texts}


def memtree_index(texts: list[str]) -> object:
    """Index and answer one query."""
    return BM25.from_texts(texts).search(texts[0], k=10)


def bm25s_index(texts: list[str], stemmer: Stemmer | None = None) -> object:
    """Index and answer one query."""
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(bm25s.tokenize(texts, stemmer=stemmer, show_progress=False), show_progress=False)
    query = bm25s.tokenize(texts[0], stemmer=stemmer, show_progress=False)
    return index.retrieve(query, k=10, show_progress=False)


def bm25s_stemmed(texts: list[str]) -> object:
    """Index and answer one query, with PyStemmer."""
    return bm25s_index(texts, Stemmer("english"))


SIDES = {"memtree": memtree_index, "bm25s with PyStemmer": bm25s_stemmed, "bm25s": bm25s_index}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("side", SIDES)
def test_texts(benchmark, corpus, side):
    benchmark.group = f"texts-{corpus}"
    benchmark.extra_info["texts"] = 5000
    texts = CORPORA[corpus](5000)
    benchmark.pedantic(SIDES[side], (texts,), rounds=3)


def main() -> None:
    """Print seconds of all sides and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    for name, make in CORPORA.items():
        texts = make(options.texts)
        size = sum(len(text.encode()) for text in texts) / 1e6
        words = sum(len(text.split()) for text in texts) / len(texts)
        print(f"{name}: {len(texts)} texts of {words:.0f} words, {size:.0f} MB")
        times: dict[str, list[float]] = {side: [] for side in SIDES}
        for _ in range(options.rounds):
            for side, index in SIDES.items():
                gc.collect()
                begun = perf_counter()
                index(texts)
                times[side].append(perf_counter() - begun)
        ours = statistics.median(times["memtree"])
        for side, taken in times.items():
            median = statistics.median(taken)
            print(f"  {side:21} {shown(median):>8}, {size / median:5.1f} MB/s, ratio {median / ours:5.1f}", flush=True)


if __name__ == "__main__":
    main()
