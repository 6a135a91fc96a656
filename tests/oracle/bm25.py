"""BM25 as plainly as it can be written: what the compiled kernel must agree with, to the bit.

Documents are lists of terms (any hashable). Scores are float32 sums in query order of
``coef * (tf / (tf + K))``; idf, K and the constants of a variant are computed in double and rounded once.
"""

import math
from collections import Counter

import numpy as np

f32 = np.float32


class Oracle:
    """BM25 of a collection of token lists (or of the given field of each)."""

    def __init__(self, docs, method="lucene", k1=1.2, b=0.75, delta=None, epsilon=0.25, idf=None):
        self.tf = [Counter(doc) for doc in docs]
        self.n = len(docs)
        self.lengths = [len(doc) for doc in docs]
        self.avgdl = sum(self.lengths) / self.n if self.n else 0.0
        self.df = Counter(term for tf in self.tf for term in tf)
        self.method, self.k1, self.b = method, float(k1), float(b)
        self.delta = {"bm25+": 1.0, "bm25l": 0.5}.get(method, 0.0) if delta is None else float(delta)
        self.idf64 = {term: self._idf(self.df[term]) for term in self.df}
        if method == "okapi" and self.df and idf is None:
            mean = sum(self.idf64[term] for term in sorted(self.df)) / len(self.df)
            self.idf64 = {term: epsilon * mean if v < 0 else v for term, v in self.idf64.items()}
        if idf is not None:
            self.idf64 = {term: idf[term] for term in self.df}
        k1, delta = self.k1, self.delta
        self.scale, self.absent = 1.0, 0.0
        if method in ("atire", "okapi", "bm25+"):
            self.scale = k1 + 1
        if method == "bm25+":
            self.absent = delta
        if method == "bm25l":
            self.scale = k1 * (k1 + 1) / (k1 + delta)
            self.absent = (k1 + 1) * delta / (k1 + delta)

    def _idf(self, df):
        n = float(self.n)
        if self.method == "lucene":
            return math.log(1 + (n - df + 0.5) / (df + 0.5))
        if self.method in ("robertson", "okapi"):
            return math.log((n - df + 0.5) / (df + 0.5))
        if self.method == "atire":
            return math.log(n / df)
        if self.method == "bm25+":
            return math.log((n + 1) / df)
        return math.log((n + 1) / (df + 0.5))

    def idf(self, term):
        return f32(self.idf64[term] * self.scale)

    def norm(self, doc):
        k1 = self.k1 + self.delta if self.method == "bm25l" else self.k1
        if self.avgdl == 0:
            return f32(k1)
        return f32(k1 * (1.0 - self.b) + k1 * self.b / self.avgdl * self.lengths[doc])

    def saturation(self, term, doc):
        tf = f32(self.tf[doc][term])
        return tf / (tf + self.norm(doc))

    def query(self, terms, weights=None):
        """Distinct known terms in order of first appearance, weights added."""
        merged = {}
        for term, weight in zip(terms, weights if weights is not None else [1.0] * len(terms), strict=True):
            merged[term] = merged[term] + f32(weight) if term in merged else f32(weight)
        return [(term, weight) for term, weight in merged.items() if weight != 0 and term in self.df]

    def scores(self, terms, weights=None):
        query = self.query(terms, weights)
        out = np.zeros(self.n, np.float32)
        base = f32(0)
        if self.absent:
            for term, weight in query:
                base += weight * f32(self.idf64[term] * self.absent)
        for doc in range(self.n):
            for term, weight in query:
                if self.tf[doc][term]:
                    out[doc] += weight * self.idf(term) * self.saturation(term, doc)
            out[doc] += base
        return out

    def search(self, terms, weights=None, k=10, allowed=None, weight_mask=None):
        """(ids, scores) of the k best documents that hold a query term of a weight other than 0."""
        query = self.query(terms, weights)
        scores = self.scores(terms, weights)
        if weight_mask is not None:
            scores = scores * np.asarray(weight_mask, np.float32)
        matching = [
            doc
            for doc in range(self.n)
            if any(self.tf[doc][term] for term, _ in query)
            and (allowed is None or doc in allowed)
            and (weight_mask is None or f32(weight_mask[doc]) > 0)
        ]
        best = sorted(matching, key=lambda doc: (-scores[doc], doc))[:k]
        return best, [scores[doc] for doc in best]
