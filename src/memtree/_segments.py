"""Generations of a BM25 collection that changes: immutable segments, and what holds for all of them together.

A segment is a set of postings whose rows are some of the documents. Nothing in it ever changes: a removed document is
noted in a new `Segment` over the same postings, an added one comes in a segment of its own. A `Generation` is one
consistent state; readers keep theirs while a writer makes the next.
"""

from __future__ import annotations

import numpy as np

from memtree._bm25 import Postings
from memtree._filter import Filter
from memtree._merge import merge

NONE = np.zeros(0, np.uint32)
NO_IDS = np.zeros(0, np.int64)
# Documents that come one by one are gathered in a segment of up to this size.
TAIL_DOCS = 1024
MAX_SEGMENTS = 16


class Segment:
    """Postings, the documents and terms behind their rows and columns (None: the same numbers), rows removed."""

    __slots__ = ("_df", "columns", "ids", "postings", "removed")

    def __init__(self, postings, ids=None, columns=None, removed=NONE, df=None):
        self.postings = postings
        self.ids = ids
        self.columns = columns
        self.removed = removed
        self._df = df

    @property
    def n_terms(self) -> int:
        """One more than the largest term id here."""
        if self.columns is None:
            return self.postings.n_terms
        return int(self.columns[-1]) + 1 if len(self.columns) else 0

    def column(self, term: int) -> int:
        """Column of a term; if the postings lack it, one beyond them that no other term has.

        Terms of one column would count as one that is repeated.
        """
        if self.columns is None:
            return term
        at = int(np.searchsorted(self.columns, term))
        return at if at < len(self.columns) and self.columns[at] == term else self.postings.n_terms + term

    def df(self, term: int) -> int:
        """Documents of this segment, removed ones left out, that hold a term."""
        column = self.column(term)
        if column >= self.postings.n_terms:
            return 0
        if self._df is None:
            self._df = np.frombuffer(self.postings.df, np.uint32)
        return int(self._df[column]) - self.postings.n_docs_of(column, self.removed)

    def row(self, doc: int) -> int:
        """Row of a document that is here and not removed, or -1."""
        row = doc
        if self.ids is not None:
            row = int(np.searchsorted(self.ids, doc))
            if row == len(self.ids) or self.ids[row] != doc:
                return -1
        at = int(np.searchsorted(self.removed, row))
        is_removed = at < len(self.removed) and self.removed[at] == row
        return -1 if row >= self.postings.n_docs or is_removed else row

    def without(self, row: int) -> Segment:
        """The same with one more row removed."""
        removed = np.insert(self.removed, np.searchsorted(self.removed, row), row).astype(np.uint32)
        return Segment(self.postings, self.ids, self.columns, removed, self._df)

    def rows_of(self, docs: np.ndarray) -> np.ndarray:
        """Rows of those of the given ascending documents that are here."""
        if self.ids is None:
            return docs[docs < self.postings.n_docs]
        return np.flatnonzero(np.isin(self.ids, docs, assume_unique=True))

    def documents(self, rows: np.ndarray) -> np.ndarray:
        return rows if self.ids is None else self.ids[rows]


class Generation:
    """One state of a collection.

    Parameters
    ----------
    segments : sequence of Segment
    n_docs, total : int
        Documents that are there, and the sum of their lengths.
    n_rows : int
        One more than the largest id ever given.
    params : dict
        For `Postings.set_params`.
    holes : ndarray of int64, ascending
        Ids of removed documents whose rows in the first segment are merely empty; they are never given again.
    """

    def __init__(self, segments, n_docs, total, n_rows, params, number=0, holes=NO_IDS):
        self.segments = []
        self._params = params
        for segment in segments:
            postings = segment.postings.share()
            postings.set_params(**params)
            postings.set_collection(n_docs, [total])
            self.segments.append(Segment(postings, segment.ids, segment.columns, segment.removed, segment._df))
        self.n_docs, self.total, self.n_rows, self.number, self.holes = n_docs, total, n_rows, number, holes
        self._df: dict[int, int] = {}
        # One more than the largest term id that any document holds.
        self.n_terms = max(segment.n_terms for segment in self.segments)
        first = self.segments[0]
        is_plain = len(self.segments) == 1 and first.ids is None and not len(first.removed)
        # The postings, if one segment without removals is all there is.
        self.plain = first.postings if is_plain else None

    def df(self, term: int) -> int:
        found = self._df.get(term)
        if found is None:
            found = self._df[term] = sum(segment.df(term) for segment in self.segments)
        return found

    def filters(self, documents, weight_mask) -> list[Filter | None]:
        """What each segment is to leave; checked as a whole, so that messages name ids of the collection."""
        if documents is None and weight_mask is None:
            return [None] * len(self.segments)
        whole = Filter(documents, weight_mask, self.n_rows)
        if self.plain is not None:
            return [whole]
        given = None if documents is None else np.asarray(documents)
        found: list[Filter | None] = []
        for segment in self.segments:
            rows = slice(segment.postings.n_docs) if segment.ids is None else segment.ids
            left = None
            if given is not None:
                is_mask = given.dtype == bool
                left = given[rows] if is_mask else segment.rows_of(np.unique(given).astype(np.int64))
            weighted = None if weight_mask is None else np.asarray(weight_mask)[rows]
            found.append(Filter(left, weighted, segment.postings.n_docs))
        return found

    def search(self, terms, weights, k, filters):
        """The k best of all segments, by term ids; `filters` as from `filters`."""
        if k < 0:
            raise ValueError(f"k must not be negative, but is {k}")
        df = [self.df(term) for term in terms]
        found = []
        for segment, narrow in zip(self.segments, filters, strict=True):
            columns = [segment.column(term) for term in terms]
            hits, scores = segment.postings.search(columns, weights, k, narrow, df=df, removed=segment.removed)
            found.append((segment.documents(hits), scores))
        ids = np.concatenate([ids for ids, _ in found])
        scores = np.concatenate([scores for _, scores in found])
        order = np.lexsort((ids, -scores))[:k]
        return ids[order], scores[order]

    def scores(self, terms, weights):
        df = [self.df(term) for term in terms]
        out = np.zeros(self.n_rows, np.float32)
        for segment in self.segments:
            scores = segment.postings.scores([segment.column(t) for t in terms], weights, df=df)
            rows = np.delete(np.arange(len(scores)), segment.removed)
            out[segment.documents(rows)] = scores[rows]
        # bm25+ and bm25l give something to an empty document, too.
        out[self.holes] = 0.0
        return out

    def explain(self, terms, weights, doc: int):
        """Score of a document that is there, and what each term that it holds adds."""
        number, row = self.place(doc)
        segment = self.segments[number]
        parts: dict[int, float] = {}
        for at, term in enumerate(terms):
            weight = 1.0 if weights is None else weights[at]
            part = segment.postings.impact(segment.column(term), row, df=self.df(term)) * weight
            if part:
                parts[term] = parts.get(term, 0.0) + part
        return float(self.scores(terms, weights)[doc]), parts

    def changed(self, gone, rows, tail):
        """The next generation, and the rows of its last segment if more may join them.

        Parameters
        ----------
        gone : sequence of int
            Ids of documents that are there and go.
        rows : list of (int, array of uint32)
            Ids and tokens of those that come.
        tail : list of (int, array of uint32)
            As given back by the change before.
        """
        segments, removed, total = list(self.segments), set(gone), self.total
        for doc in gone:
            number, row = self.place(doc)
            total -= segments[number].postings.doc_len(0)[row]
            segments[number] = segments[number].without(row)
        total += sum(len(tokens) for _, tokens in rows)
        if rows:
            if tail:
                segments.pop()
            tail = sorted([row for row in tail if row[0] not in removed] + rows, key=lambda row: row[0])
            segments.append(from_rows(tail))
        if len(tail) > TAIL_DOCS or (removed and not rows):
            tail = []
        n_docs, n_rows = self.n_docs + len(rows) - len(gone), max([self.n_rows, *(doc + 1 for doc, _ in rows)])
        return Generation(segments, n_docs, total, n_rows, self._params, self.number + 1, self.holes), tail

    def is_scattered(self) -> bool:
        """Whether so many segments and removed rows slow down searches that one new segment is worth making."""
        n_removed = sum(len(segment.removed) for segment in self.segments)
        return len(self.segments) > MAX_SEGMENTS or n_removed > 4096 + self.n_docs // 64

    def compacted(self, n_terms: int) -> Generation:
        """The same in one segment, as wide as the vocabulary."""
        there = np.zeros(self.n_rows, bool)
        for segment in self.segments:
            rows = np.delete(np.arange(segment.postings.n_docs), segment.removed)
            there[segment.documents(rows)] = True
        there[self.holes] = False
        single, holes = merged(self.segments, self.n_rows, n_terms), np.flatnonzero(~there)
        return Generation([single], self.n_docs, self.total, self.n_rows, self._params, self.number, holes)

    def place(self, doc: int):
        """(number of the segment, row) of a document, or None if there is none."""
        at = int(np.searchsorted(self.holes, doc))
        if at < len(self.holes) and self.holes[at] == doc:
            return None
        for number in range(len(self.segments) - 1, -1, -1):
            row = self.segments[number].row(doc)
            if row >= 0:
                return number, row
        return None


def from_rows(rows) -> Segment:
    """A segment of (id, token ids) pairs, ascending by id."""
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(tokens) for _, tokens in rows], out=indptr[1:])
    tokens = np.concatenate([np.frombuffer(tokens, np.uint32) for _, tokens in rows if len(tokens)] or [NONE])
    columns, local = np.unique(tokens, return_inverse=True)
    postings = Postings.build(indptr, local.astype(np.uint32), (0, len(columns)))
    return Segment(postings, np.array([doc for doc, _ in rows], np.int64), columns)


def merged(segments, n_rows: int, n_terms: int) -> Segment:
    """All documents that are there in one segment, each at the row of its id; the other rows are empty."""
    return Segment(merge(segments, n_rows, n_terms, _in_memory, _nothing))


def _in_memory(sizes: dict[str, int]) -> dict[str, bytearray]:
    return {name: bytearray(size) for name, size in sizes.items()}


def _nothing() -> None:
    pass
