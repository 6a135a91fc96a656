"""Seeded synthetic corpora of token ids, in the shape of real text, and queries of mixed frequency.

Words follow Zipf-Mandelbrot (rank + 2.7) ** -1.07 over 200,000 words, document lengths are log-normal. A
word is followed by itself with some probability, as words in text come in bursts.
"""

from __future__ import annotations

import numpy as np

VOCABULARY = 200_000


def documents(n_docs: int, mean_length: float = 55.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rows of token ids.

    Returns
    -------
    indptr : ndarray of int64, shape (n_docs + 1,)
    tokens : ndarray of uint32
        Ids are in random order of frequency, as in a vocabulary that grew while reading.
    """
    rng = np.random.default_rng(seed)
    sigma = 0.6
    lengths = np.maximum(rng.lognormal(np.log(mean_length) - sigma**2 / 2, sigma, n_docs), 1).astype(np.int64)
    indptr = np.zeros(n_docs + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    weights = (np.arange(VOCABULARY) + 2.7) ** -1.07
    bounds = np.cumsum(weights / weights.sum())
    names = rng.permutation(VOCABULARY).astype(np.uint32)
    tokens = np.empty(indptr[-1], np.uint32)
    step = 5_000_000
    for start in range(0, len(tokens), step):
        size = min(step, len(tokens) - start)
        ranks = np.minimum(np.searchsorted(bounds, rng.random(size, np.float32)), VOCABULARY - 1)
        tokens[start : start + size] = names[ranks]
    # Bursts: a token repeats its left neighbour, except at the start of a document.
    repeat = rng.random(len(tokens), np.float32) < 0.12
    repeat[indptr[:-1][lengths > 0]] = False
    places = np.flatnonzero(repeat)
    tokens[places] = tokens[places - 1]
    return indptr, tokens


def queries(indptr: np.ndarray, tokens: np.ndarray, n: int = 200, seed: int = 2) -> list[list[int]]:
    """Queries of 2 to 6 words: half of rare words, half with frequent ones among them."""
    rng = np.random.default_rng(seed)
    n_docs = len(indptr) - 1
    df = np.bincount(tokens[: min(len(tokens), 20_000_000)], minlength=VOCABULARY)
    df = df * (len(tokens) / min(len(tokens), 20_000_000))
    present = np.flatnonzero(df >= 1)
    rare = present[(df[present] <= n_docs / 100) & (df[present] >= n_docs / 20_000)]
    middle = present[(df[present] > n_docs / 500) & (df[present] <= n_docs / 20)]
    frequent = present[df[present] > n_docs / 20]
    found = []
    for number in range(n):
        length = int(rng.integers(2, 7))
        heavy = number % 2
        pools = [rare, middle, frequent] if heavy else [rare, rare, middle]
        picks = [int(rng.choice(pools[int(rng.integers(0, 3))])) for _ in range(length)]
        found.append(list(dict.fromkeys(picks)))
    return found
