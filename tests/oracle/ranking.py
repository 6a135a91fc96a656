"""BM25 over two fields in plain Python, to test what an analysis finds."""

from __future__ import annotations

import math
from collections import Counter

K1, B = 1.2, 0.75
FIELD_WEIGHTS = (0.5, 1.0)


class Field:
    def __init__(self, documents: list[list[str]]):
        self.counts = [Counter(terms) for terms in documents]
        self.lengths = [len(terms) for terms in documents]
        self.average = sum(self.lengths) / max(1, len(documents)) or 1.0
        self.df = Counter(term for counts in self.counts for term in counts)

    def score(self, term: str, document: int) -> float:
        tf = self.counts[document][term]
        if not tf:
            return 0.0
        idf = math.log(1 + (len(self.counts) - self.df[term] + 0.5) / (self.df[term] + 0.5))
        return idf * tf / (tf + K1 * (1 - B + B * self.lengths[document] / self.average))


class Ranking:
    """Texts under an analysis: ``tokens(text, query)`` gives s and b, and in a query weights of s."""

    def __init__(self, texts: list[str], tokens):
        self.texts, self.tokens = texts, tokens
        found = [tokens(text, False) for text in texts]
        self.fields = Field([terms.s for terms in found]), Field([terms.b for terms in found])

    def scores(self, query: str) -> list[float]:
        found = self.tokens(query, True)
        weighted = [list(zip(found.s, found.weights, strict=True)), [(term, 1.0) for term in found.b]]
        return [
            sum(
                factor * weight * field.score(term, document)
                for factor, field, terms in zip(FIELD_WEIGHTS, self.fields, weighted, strict=True)
                for term, weight in terms
            )
            for document in range(len(self.texts))
        ]

    def hits(self, query: str) -> list[str]:
        """Texts with a score above 0, best first, ties in the order given."""
        scores = self.scores(query)
        order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        return [self.texts[i] for i in order if scores[i] > 0]
