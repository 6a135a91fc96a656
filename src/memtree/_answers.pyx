"""Answers and the query cache: what every recall makes or meets, compiled so that a repeated question costs next to
nothing."""

from cpython.time cimport monotonic


cdef class Recall:
    """The answer to a query: a sequence of hits, best first.

    Attributes
    ----------
    query : str
    hits : list of Hit
    answerable : bool
        Whether the bank seems to know; the hits are there in any case.
    coverage : float
        Share of the query's words, weighted by idf, that the best file holds.
    tier : int
        0 the same question again, 1 the same words in other order or with other particles, 2 a search.
    generation : int
        Of the index that answered.
    note : str or None
        Why there is no hit, where that needs saying.
    """

    cdef readonly object query, hits, generation, note
    cdef readonly bint answerable
    cdef readonly double coverage
    cdef readonly int tier

    def __init__(self, query, hits, bint answerable, double coverage, int tier, generation, note=None):
        self.query = query
        self.hits = hits
        self.answerable = answerable
        self.coverage = coverage
        self.tier = tier
        self.generation = generation
        self.note = note

    def __len__(self):
        return len(self.hits)

    def __getitem__(self, i):
        return self.hits[i]

    def __iter__(self):
        return iter(self.hits)

    def __contains__(self, hit):
        return hit in self.hits

    def __bool__(self):
        return bool(self.hits)

    def __repr__(self):
        return (f"Recall({self.query!r}, {len(self.hits)} hits, answerable={self.answerable}, "
                f"coverage={self.coverage:.2f}, tier={self.tier})")

    cpdef Recall with_tier(self, int tier, query=None):
        """The same answer as another tier gives it, to the same or to another question."""
        return Recall(self.query if query is None else query, self.hits, self.answerable, self.coverage, tier,
                      self.generation, self.note)

    def to_dict(self):
        """The answer as plain data, for JSON."""
        return {"query": self.query, "answerable": self.answerable, "coverage": self.coverage, "tier": self.tier,
                "generation": self.generation, **({"note": self.note} if self.note else {}),
                "hits": [hit.to_dict() for hit in self.hits]}


cdef class Entry:
    """An answer in the cache."""

    cdef Recall answer
    cdef tuple terms
    cdef double born


cdef class QueryCache:
    """The latest answers of one index generation, exact (tier 0) and by equal analysed terms (tier 1).

    Parameters
    ----------
    entries : int
        Most answers kept; the least recently asked goes first. 0 keeps none.
    seconds : float
        How long an answer stays good.

    Notes
    -----
    Keys hold all options of a recall; the owner clears the cache when the generation changes.
    """

    cdef readonly Py_ssize_t entries
    cdef public double seconds
    cdef dict by_key
    cdef dict by_terms

    def __init__(self, Py_ssize_t entries=20, double seconds=1800.0):
        self.entries = entries
        self.seconds = seconds
        self.by_key = {}
        self.by_terms = {}

    def __len__(self):
        return len(self.by_key)

    cpdef Recall exact(self, tuple key):
        """The answer to this very question, if young enough."""
        cdef Entry entry = <Entry>self.by_key.get(key)
        if entry is None:
            return None
        if monotonic() - entry.born > self.seconds:
            self.drop(key)
            return None
        # Asked again: it becomes the youngest in the order of eviction, not in age.
        del self.by_key[key]
        self.by_key[key] = entry
        return entry.answer

    cpdef Recall same_terms(self, tuple terms):
        """The answer to a question with the same words in other order or with other particles."""
        key = self.by_terms.get(terms)
        return None if key is None else self.exact(<tuple>key)

    cpdef put(self, tuple key, tuple terms, Recall answer):
        """Keep an answer, as tier 0 gives it, under its question and its terms."""
        cdef Entry entry
        if self.entries <= 0:
            return
        if key in self.by_key:
            self.drop(key)
        elif len(self.by_key) >= self.entries:
            self.drop(<tuple>next(iter(self.by_key)))
        entry = Entry.__new__(Entry)
        entry.answer = answer.with_tier(0)
        entry.terms = terms
        entry.born = monotonic()
        self.by_key[key] = entry
        self.by_terms[terms] = key

    cdef drop(self, tuple key):
        cdef Entry entry = <Entry>self.by_key.pop(key)
        if self.by_terms.get(entry.terms) == key:
            del self.by_terms[entry.terms]

    def clear(self):
        """Forget all answers."""
        self.by_key.clear()
        self.by_terms.clear()
