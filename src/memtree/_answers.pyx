"""Answers and the query cache: what every recall makes or meets, compiled so that a repeated question costs next to
nothing."""

cimport cython
from cpython.time cimport monotonic
from libc.stdint cimport uint8_t

from memtree._recall cimport Searcher
from memtree._vocabulary cimport Query

MAX_QUERY_CHARS = 32_768
NO_WORDS = "the query holds no word to search for"
EMPTY_BANK = "the bank holds no Markdown file"
FILTERED = "no file of the bank lies in that folder and those days"

cdef Py_ssize_t LONGEST = MAX_QUERY_CHARS


cdef Py_ssize_t as_count(value, str name) except -1:
    """Check a number of things wanted."""
    if type(value) is not int and (isinstance(value, bool) or not hasattr(value, "__index__")):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be 0 or more, not {value}")
    return min(value, 1 << 40)


@cython.final
@cython.freelist(32)
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

    cdef readonly object query, generation, note
    cdef readonly list hits
    cdef readonly bint answerable
    cdef readonly double coverage
    cdef readonly int tier

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

    cdef Recall with_tier(self, int tier, query):
        """The same answer as another tier gives it, to the same or to another question."""
        cdef Recall twin = Recall.__new__(Recall)
        twin.query = query
        twin.hits = self.hits
        twin.answerable = self.answerable
        twin.coverage = self.coverage
        twin.tier = tier
        twin.generation = self.generation
        twin.note = self.note
        return twin

    def to_dict(self):
        """The answer as plain data, for JSON."""
        return {"query": self.query, "answerable": self.answerable, "coverage": self.coverage, "tier": self.tier,
                "generation": self.generation, **({"note": self.note} if self.note else {}),
                "hits": [hit.to_dict() for hit in self.hits]}


@cython.final
cdef class Entry:
    """An answer in the cache."""

    cdef Recall answer
    cdef tuple terms
    cdef double born


@cython.final
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

    cdef Recall exact(self, tuple key):
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

    cdef Recall same_terms(self, tuple terms):
        """The answer to a question with the same words in other order or with other particles."""
        key = self.by_terms.get(terms)
        return None if key is None else self.exact(<tuple>key)

    cdef int put(self, tuple key, tuple terms, Recall answer) except -1:
        """Keep an answer, as tier 0 gives it, under its question and its terms."""
        cdef Entry entry
        if self.entries <= 0:
            return 0
        if key in self.by_key:
            self.drop(key)
        elif len(self.by_key) >= self.entries:
            self.drop(<tuple>next(iter(self.by_key)))
        entry = Entry.__new__(Entry)
        entry.answer = answer.with_tier(0, answer.query)
        entry.terms = terms
        entry.born = monotonic()
        self.by_key[key] = entry
        self.by_terms[terms] = key
        return 0

    cdef int drop(self, tuple key) except -1:
        cdef Entry entry = <Entry>self.by_key.pop(key)
        if self.by_terms.get(entry.terms) == key:
            del self.by_terms[entry.terms]
        return 0

    def clear(self):
        """Forget all answers."""
        self.by_key.clear()
        self.by_terms.clear()


@cython.final
cdef class Answerer:
    """Answers the questions put to one generation of a bank.

    Parameters
    ----------
    searcher : Searcher
    cache : QueryCache
    generation : int
    w_tree, w_bm25 : float
        Weights of the blend.
    answerable_min : float
        Least coverage at which the bank is said to know.
    mask_of : callable
        ``mask_of(under, since, until)`` gives a byte a file, non-zero for those that pass the filters.
    """

    cdef readonly Searcher searcher
    cdef readonly QueryCache cache
    cdef object generation, mask_of
    cdef double w_tree, w_bm25, answerable_min

    def __init__(self, Searcher searcher, QueryCache cache, generation, double w_tree, double w_bm25,
                 double answerable_min, mask_of):
        self.searcher = searcher
        self.cache = cache
        self.generation = generation
        self.w_tree = w_tree
        self.w_bm25 = w_bm25
        self.answerable_min = answerable_min
        self.mask_of = mask_of

    def answer(self, query, k, under, since, until, passages):
        """Answer from the cache or by a search; see `Bank.recall`.

        Returns
        -------
        Recall
        """
        cdef tuple key = (query, k, under, since, until, passages)
        cdef Recall found
        if type(query) is not str:
            raise TypeError(f"query must be a text, not {type(query).__name__}")
        found = self.cache.exact(key)
        if found is None:
            found = self.search(key, <str>query, as_count(k, "k"), as_count(passages, "passages"))
        return found

    cdef Recall search(self, tuple key, str text, Py_ssize_t k, Py_ssize_t n_best):
        """Answer a question that was not asked lately."""
        cdef Query query
        cdef Recall found
        cdef tuple terms
        cdef const uint8_t[::1] mask
        cdef const uint8_t* allowed = NULL
        cdef bytes passing = None
        if len(text) > LONGEST:
            raise ValueError(f"query has {len(text)} characters, at most {LONGEST} can be searched")
        query = self.searcher.lexicon.locked_build(text, True, None)
        terms = (self.searcher.same_key(query), key[1], key[2], key[3], key[4], key[5])
        found = self.cache.same_terms(terms)
        if found is not None:
            return found.with_tier(1, text)
        if key[2] is not None or key[3] is not None or key[4] is not None:
            passing = self.mask_of(key[2], key[3], key[4])
            mask = passing
            if mask.shape[0]:
                allowed = &mask[0]
        found = Recall.__new__(Recall)
        found.query = text
        found.hits = self.searcher.ranked(query, k, n_best, allowed, self.w_tree, self.w_bm25, &found.coverage)
        found.answerable = len(found.hits) > 0 and found.coverage >= self.answerable_min
        found.tier = 2
        found.generation = self.generation
        if not found.hits:
            found.note = (NO_WORDS if query.n_words == 0 else EMPTY_BANK if not self.searcher.paths
                          else FILTERED if passing is not None and 1 not in passing else None)
        self.cache.put(key, terms, found)
        return found
