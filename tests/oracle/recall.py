"""Brute-force recall over a bank: the formulas of the design, loop by loop, on plain lists.

Documents and queries come as terms (columns); how text becomes terms is checked elsewhere.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

F = np.float32


class Collection:
    """Documents as lists of columns, in two fields."""

    def __init__(self, rows, n_s, n_columns, k1, b):
        self.tf = [Counter(row) for row in rows]
        self.n_s = n_s
        self.df = Counter(column for counts in self.tf for column in counts)
        self.n = len(rows)
        lengths = [[sum(c for t, c in counts.items() if (t >= n_s) == field) for counts in self.tf] for field in (0, 1)]
        self.norm = []
        for field in (0, 1):
            average = sum(lengths[field]) / self.n if self.n else 0
            self.norm.append([F(k1 * (1 - b + b * length / average)) if average else F(k1) for length in lengths[field]])

    def idf(self, column):
        df = self.df[column] if column is not None else 0
        return F(math.log(1 + (self.n - df + 0.5) / (df + 0.5)))

    def impact(self, column, weight, doc):
        tf = F(self.tf[doc][column])
        return F(F(weight * self.idf(column)) * F(tf / F(tf + self.norm[column >= self.n_s][doc])))

    def score(self, terms, doc):
        total = F(0)
        for column, weight in terms:
            if column is not None and self.tf[doc][column]:
                total = F(total + self.impact(column, weight, doc))
        return total

    def attainable(self, terms):
        total = F(0)
        for column, weight in terms:
            total = F(total + F(weight * self.idf(column)))
        return total


def merged(terms):
    """Query terms with the field factor; the weights of equal columns added at the first; unknown ones apart."""
    out = []
    place = {}
    for column, field, weight in terms:
        value = F(F(weight) * F((0.5, 1.0)[field]))
        if column is not None and column in place:
            out[place[column]][1] = F(out[place[column]][1] + value)
        else:
            place[column] = len(out)
            out.append([column, value])
    return out


def recall(files, passages, file_of, terms, words, readings, nodes, w_tree=0.4, w_bm25=0.6):
    """All hits, best first.

    Parameters
    ----------
    files, passages : Collection
    file_of : list of int
        File of each passage.
    terms : list of (column or None, field, weight)
    words : list of column or None
        Best stem of each word of the query.
    readings : list of set of column
        All possible stems of each word.
    nodes : list of (keywords, files)
        A keyword is a set of columns.

    Returns
    -------
    list of (score, file, tree, bm25, scores of its passages)
    """
    query = merged(terms)
    most_file, most_passage = files.attainable(query), passages.attainable(query)
    idfs = [float(files.idf(column)) for column in words]
    total = sum(idfs)
    hits = []
    for doc in range(files.n):
        own = {p: passages.score(query, p) for p in range(passages.n) if file_of[p] == doc}
        best = max(own.values(), default=F(0))
        share = float(files.score(query, doc)) / float(most_file) if most_file > 0 else 0.0
        bm25 = 0.5 * (share + (float(best) / float(most_passage) if most_passage > 0 else 0.0))
        tree = 0.0
        for keywords, members in nodes:
            if doc in members:
                said = {column for stems in readings for column in stems}
                named = {column for keyword in keywords if keyword <= said for column in keyword}
                tree = max(tree, sum(idf for idf, stems in zip(idfs, readings, strict=True) if stems & named) / total)
        if bm25 > 0 or tree > 0:
            ranked = sorted((p for p in own if own[p] > 0), key=lambda p: (-own[p], p))
            hits.append((w_tree * tree + w_bm25 * bm25, doc, tree, bm25, ranked))
    return sorted(hits, key=lambda hit: (-hit[0], hit[1]))
