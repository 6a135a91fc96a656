"""BM25 over a sparse term-document matrix: postings, scores, exact top k.

``Postings`` searches a ``_variants.Variant``.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from memtree._filter cimport Filter
from memtree._postings cimport mt_bounds, mt_postings, mt_term
from memtree._variants cimport Variant

cdef extern from "Python.h":
    Py_ssize_t PyNumber_AsSsize_t(object number, PyObject* error) except? -1

cdef extern from "_search.h":
    const float MT_COST_BITMAP, MT_COST_SEARCH
    const int MT_WINDOW, MT_WINDOW_BITS, MT_SPAN, MT_PRUNED_TERMS, MT_RANKS, MT_ROW, MT_ROW_SHARE
    int mt_path

    ctypedef struct mt_top:
        uint64_t* hits
        int64_t n, k
    ctypedef struct mt_query:
        const mt_postings* postings
        mt_term* terms
        int64_t n_terms
        uint32_t span
        float base
        int may_be_weak, filtered
        const uint32_t* allowed
        int64_t n_allowed
        const uint8_t* passes
        const float* weights
        float most_weight
        const uint32_t* left
        const uint32_t* removed
        int64_t n_removed
        int prune
        float slack, floor
    ctypedef struct mt_scratch:
        pass

    int64_t mt_top_room(int64_t k) noexcept nogil
    uint32_t mt_hit_doc(uint64_t hit) noexcept nogil
    float mt_hit_score(uint64_t hit) noexcept nogil
    void mt_open_term(const mt_postings* p, int64_t term, mt_term* out) noexcept nogil
    void mt_fetch_term(const mt_postings* p, int64_t term) noexcept nogil
    void mt_fetch_list(const mt_term* t) noexcept nogil
    void mt_fetch_levels(const mt_term* t) noexcept nogil
    void mt_seek(mt_term* t, int64_t window) noexcept nogil
    float mt_contribution(const mt_postings* p, const mt_term* t, uint32_t doc) noexcept nogil
    void mt_add_term(const mt_postings* p, mt_term* t, float* scores) noexcept nogil
    int mt_best_path() noexcept nogil
    mt_bounds* mt_measure_term(
        const mt_postings* p, mt_term* t, int with_row, float grown, float shrunk
    ) noexcept nogil
    void mt_search(const mt_query* q, mt_scratch* s, mt_top* top) noexcept nogil

cdef extern from "_atomic.h":
    void* mt_load(void** at) noexcept nogil
    void mt_publish(void** at, void* value) noexcept nogil
    void* mt_swap(void** at, void* value) noexcept nogil

# A match whose terms could all sum to less than this is looked for with marks instead of by its score.
cdef float WEAK = 1e-30
# Up to this many terms, repeated ones are found by comparing all.
cdef int64_t LINEAR = 32
# A query with fewer postings a window than this looks at many windows at a time: without pruning, and with it, where
# what is learned from one span serves the next.
cdef int64_t SPARSE = 200
cdef int64_t DENSE = 3000
# What pruning costs for each span and for each term, in postings saved.
cdef int64_t ASK_SPAN = 200
cdef int64_t ASK_TERM = 300
# In a collection larger than this, length codes are rarely in the caches: a posting saved counts three times.
cdef int64_t CODES_NEAR = 1 << 18
# Bytes a posting that the rows of all terms may take.
cdef int64_t ROW_BUDGET = 3
# Bounds are computed anew when the mean length has moved by more than this.
cdef double MOST_DRIFT = 1.05

PATHS = ("portable", "avx2", "avx512")
mt_path = mt_best_path()


def set_path(str name=None):
    """Choose the instruction set of the hot loops, for tests; None is the best. Returns the one in use."""
    global mt_path
    wanted = mt_best_path() if name is None else PATHS.index(name)
    if wanted <= mt_best_path():
        mt_path = wanted
    return PATHS[mt_path]


cdef class Bounds:
    """What pruning knows of each term, computed when a term is first needed.

    It holds under the K of one field per pair of `k` (constant, slope); under others near them, by a factor.
    """

    def __cinit__(self, Postings postings):
        cdef int64_t i
        self.n_terms = postings.p.n_terms
        self.n_k = postings.n_fields
        self.room = postings.p.n_postings * ROW_BUDGET
        self.block = <mt_bounds**>calloc(self.n_terms + 1, sizeof(mt_bounds*))
        self.k = <double*>malloc(<size_t>self.n_k * 2 * sizeof(double))
        if not self.block or not self.k:
            raise MemoryError
        for i in range(self.n_k):
            self.k[2 * i] = postings.norms[i].k_const
            self.k[2 * i + 1] = postings.norms[i].k_slope

    def __dealloc__(self):
        cdef int64_t t
        if self.block:
            for t in range(self.n_terms):
                free(self.block[t])
        free(self.block)
        free(self.k)

    cdef bint fits(self, Postings postings) noexcept:
        """Whether it is near enough; then how far saturations may have `grown` and `shrunk` is set in `postings`."""
        cdef int64_t i
        cdef double slope, ratio
        postings.grown = postings.shrunk = 1.0
        for i in range(self.n_k):
            slope = postings.norms[i].k_slope
            if self.k[2 * i] != postings.norms[i].k_const:
                return False
            if self.k[2 * i + 1] == slope:
                continue
            if self.k[2 * i + 1] <= 0.0 or slope <= 0.0:
                return False
            ratio = self.k[2 * i + 1] / slope
            postings.grown = max(postings.grown, ratio)
            postings.shrunk = max(postings.shrunk, 1.0 / ratio)
        return postings.grown < MOST_DRIFT and postings.shrunk < MOST_DRIFT

    cdef mt_bounds* of_term(self, Postings postings, const mt_term* term) except NULL:
        """Bounds of a term, measured now if they are new."""
        cdef mt_bounds* found = <mt_bounds*>mt_load(<void**>&self.block[term.term])
        cdef int64_t row = postings.p.n_windows * MT_ROW
        cdef mt_term opened
        if found:
            return found
        with self.lock:
            found = self.block[term.term]
            if found:
                return found
            opened = term[0]
            if not opened.ids16 or row > opened.df * MT_ROW_SHARE or row > self.room:
                row = 0
            # From the present tables back to those of `k`.
            with nogil:
                found = mt_measure_term(
                    &postings.p, &opened, row > 0, <float>postings.shrunk, <float>postings.grown
                )
            if not found:
                raise MemoryError
            self.room -= row
            mt_publish(<void**>&self.block[term.term], found)
        return found


cdef class Postings(Variant):
    """Term-document matrix of one kind of unit, and BM25 over it.

    Made by `build`, `from_csc` or `from_parts`. Searching and scoring are safe from many threads,
    `set_params` is not.
    """

    def __cinit__(self):
        self.pruning = True

    cdef void forget(self) noexcept:
        Variant.forget(self)
        self.bounds_fit = NULL

    def share(self):
        """Another object over the same memory, of the default parameters."""
        cdef Postings other = type(self).__new__(type(self))
        self.measure()
        other.set_shape(self.p.n_docs, [self.field_starts[i] for i in range(self.n_fields + 1)])
        other.p = self.p
        other.parts = self.parts
        other.lengths = self.lengths
        other.bounds = self.bounds
        return other

    # ------------------------------------------------------------------ scoring

    cdef void accumulate(
        self, const uint32_t* terms, const float* weights, Py_ssize_t n, float* scores
    ) noexcept nogil:
        """scores[d] += weight * impact(term, d), in the order given; `scores` has n_docs entries."""
        cdef Py_ssize_t i
        cdef mt_term opened
        for i in range(n):
            mt_open_term(&self.p, terms[i], &opened)
            if opened.df:
                opened.norms = &self.norms[self.field_of(terms[i])]
                opened.coef = weights[i] * self.idf[terms[i]]
                mt_add_term(&self.p, &opened, scores)

    cdef int64_t read_query(self, terms, weights, dict words, dfs, mt_query* query) except -1:
        """Check, merge and open the terms of a query: one that is repeated counts at its first place, weights added."""
        cdef int64_t n = len(terms), i, at, term, df, count = 0
        cdef float weight
        cdef double idf
        cdef dict places = None if n <= LINEAR else {}
        cdef mt_term* opened
        cdef mt_term* t
        if weights is not None and len(weights) != n:
            raise ValueError(f"weights must be as many as terms, {n}, not {len(weights)}")
        query.terms = opened = <mt_term*>malloc(<size_t>(n + 1) * sizeof(mt_term))
        if not opened:
            raise MemoryError
        for i in range(n):
            token = terms[i]
            if words is not None:
                token = words.get(token)
                if token is None:
                    continue
            term = token
            if not 0 <= term < self.p.n_terms:
                if words is not None:
                    continue
                if dfs is None:
                    raise ValueError(f"term id {term} is not in the vocabulary of {self.p.n_terms} terms")
            weight = 1.0 if weights is None else weights[i]
            if not isfinite(weight):
                raise ValueError(f"weight of term {terms[i]!r} is {weights[i]}, not a finite number")
            if places is None:
                at = 0
                while at < count and opened[at].term != term:
                    at += 1
            else:
                at = places.setdefault(term, count)
            if at < count:
                opened[at].coef += weight
                continue
            opened[count].term = term
            opened[count].coef = weight
            # Until the term is opened: its place in the query.
            opened[count].pos0 = i
            mt_fetch_term(&self.p, term)
            count += 1
        n = count
        count = 0
        for i in range(n):
            term, weight, at = opened[i].term, opened[i].coef, opened[i].pos0
            if weight == 0.0:
                continue
            t = &opened[count]
            mt_open_term(&self.p, term, t)
            df = t.df if dfs is None else dfs[at]
            idf = self.raw_idf(term, df)
            if self.absent != 0.0 and df > 0:
                query.base += weight * <float>(idf * self.absent)
            if t.df:
                t.term = term
                t.norms = &self.norms[self.field_of(term)]
                t.coef = weight * <float>(idf * self.scale)
                mt_fetch_list(t)
                t.probe = MT_COST_BITMAP if t.bitmaps else MT_COST_SEARCH
                count += 1
        return count

    def search(self, terms, weights=None, k=10, filter=None, *, weight_mask=None, words=None, df=None, removed=None):
        """Find the `k` best documents, exactly.

        Parameters
        ----------
        terms : sequence of int
            Column numbers; one that is repeated counts as often as it stands.
        weights : sequence of float, optional
            One a term, 1 by default.
        k : int
            Most hits wanted.
        filter : Filter, or array of bool, shape (n_docs,), or sequence of int, optional
            Documents to consider, as a mask or by id.
        weight_mask : array of float, shape (n_docs,), optional
            What each score is multiplied by; 0 leaves a document out.
        words : dict, optional
            Column of each word: `terms` are words then, and unknown ones are left out.
        df : sequence of int, optional
            Document frequency of each term in the whole collection; then unknown term ids are no error.
        removed : uint32 buffer, optional
            Ids, ascending, of documents that are no hit.

        Returns
        -------
        ids : ndarray of int64, shape (n,), n <= k
            Documents that hold a term: higher score first, then lower id.
        scores : ndarray of float32, shape (n,)

        Raises
        ------
        ValueError
            `k` is negative, a term or filter id is out of range, a weight is not finite.
        """
        cdef mt_query query
        cdef mt_top top
        cdef mt_scratch* scratch
        cdef const uint32_t[::1] gone
        cdef Filter kept
        cdef int64_t wanted = min(check_count(k), self.p.n_docs)
        memset(&query, 0, sizeof(query))
        memset(&top, 0, sizeof(top))
        self.prepare_tables()
        if filter is not None or weight_mask is not None:
            kept = self.make_filter(filter, weight_mask)
            use_filter(kept, &query)
            wanted = min(wanted, kept.n_left)
        if removed is not None:
            gone = removed
            query.n_removed = gone.shape[0]
            query.removed = &gone[0] if query.n_removed else NULL
        try:
            self.open_query(terms, weights, words, df, wanted, &query, &top)
            if top.k:
                scratch = take_scratch()
                with nogil:
                    mt_search(&query, scratch, &top)
                give_scratch(scratch)
            return hit_arrays(&top)
        finally:
            free(query.terms)
            free(top.hits)

    cdef Filter make_filter(self, filter, weight_mask):
        """A filter that fits, from whatever was given."""
        if not isinstance(filter, Filter):
            return Filter(filter, weight_mask, self.p.n_docs)
        if (<Filter>filter).n_docs != self.p.n_docs:
            raise ValueError(f"the filter is for {filter.n_docs} documents, not {self.p.n_docs}")
        return filter

    cdef int find_bounds(self) except -1:
        """Bounds that hold for the present tables: earlier ones if these are near, or new ones."""
        with self.lock:
            if self.bounds_fit:
                return 0
            if self.bounds is None or not self.bounds.fits(self):
                self.bounds = Bounds(self)
                self.bounds.fits(self)
            # Beyond the drift, a saturation under new tables is rounded anew.
            self.grown *= 1.0 + 1e-6
            self.shrunk *= 1.0 + 1e-6
            mt_publish(&self.bounds_fit, <void*>self.norms)
        return 0

    cdef int bound_terms(self, mt_query* query, int64_t k) except -1:
        """Give the terms of a query their bounds, and the query a score that its k best reach."""
        cdef int64_t i, rank = 0, needed = k + query.n_removed, reached = 1
        cdef mt_term* t
        if not mt_load(&self.bounds_fit):
            self.find_bounds()
        while rank < MT_RANKS and reached < needed:
            rank += 1
            reached *= 10
        query.slack = <float>self.grown
        for i in range(query.n_terms):
            t = &query.terms[i]
            t.bounds = self.bounds.of_term(self, t)
            mt_fetch_levels(t)
            if rank < MT_RANKS and not query.filtered:
                query.floor = max(query.floor, t.coef * <float>(t.bounds.rank[rank] / self.shrunk))
        query.floor *= <float>(1.0 - 1e-6)
        query.prune = 1
        return 0

    cdef int open_query(
        self, terms, weights, dict words, df, int64_t k, mt_query* query, mt_top* top
    ) except -1:
        """Complete a query and give it room for its hits; `k` is no more than the filter leaves."""
        cdef int64_t i, gain, cost, reach = 0
        query.postings = &self.p
        query.n_terms = self.read_query(terms, weights, words, df, query)
        for i in range(query.n_terms):
            reach += query.terms[i].df
            if not query.terms[i].coef / (1.0 + self.largest_k) > WEAK:
                query.may_be_weak = 1
        top.k = min(k, reach)
        gain = reach if self.p.n_docs <= CODES_NEAR else 3 * reach
        cost = (self.p.n_docs + MT_SPAN - 1) // MT_SPAN * ASK_SPAN + query.n_terms * ASK_TERM
        if (
            self.pruning and 0 < query.n_terms <= MT_PRUNED_TERMS and not query.may_be_weak
            and gain >= cost and top.k * 8 <= reach
        ):
            self.bound_terms(query, top.k)
        query.span = MT_SPAN if reach < self.p.n_windows * (DENSE if query.prune else SPARSE) else MT_WINDOW
        for i in range(query.n_terms):
            query.terms[i].span = query.span
        if top.k:
            top.hits = <uint64_t*>malloc(<size_t>mt_top_room(top.k) * sizeof(uint64_t))
            if not top.hits:
                raise MemoryError
        return 0

    def search_many(self, queries, k=10, filter=None, *, words=None):
        """Answer several queries in one stretch without the GIL.

        Parameters
        ----------
        queries : sequence of (terms, weights or None)
        k : int
        filter : Filter, optional
        words : dict, optional
            As of `search`.

        Returns
        -------
        list of (ids, scores), as `search` gives them
        """
        cdef int64_t n = len(queries), i, wanted = min(check_count(k), self.p.n_docs)
        cdef mt_query* query = <mt_query*>calloc(n + 1, sizeof(mt_query))
        cdef mt_top* top = <mt_top*>calloc(n + 1, sizeof(mt_top))
        cdef mt_scratch* scratch = NULL
        cdef Filter kept
        try:
            if not query or not top:
                raise MemoryError
            scratch = take_scratch()
            self.prepare_tables()
            if filter is not None:
                kept = self.make_filter(filter, None)
                wanted = min(wanted, kept.n_left)
            for i in range(n):
                terms, weights = queries[i]
                if filter is not None:
                    use_filter(kept, &query[i])
                self.open_query(terms, weights, words, None, wanted, &query[i], &top[i])
            with nogil:
                for i in range(n):
                    if top[i].k:
                        mt_search(&query[i], scratch, &top[i])
            return [hit_arrays(&top[i]) for i in range(n)]
        finally:
            for i in range(n):
                if query:
                    free(query[i].terms)
                if top:
                    free(top[i].hits)
            free(query)
            free(top)
            give_scratch(scratch)

    def scores(self, terms, weights=None, *, words=None, df=None):
        """Score every document.

        Returns
        -------
        ndarray of float32, shape (n_docs,)
            For bm25+ and bm25l, documents without any of the terms have the score that these give them.
        """
        cdef mt_query query
        cdef int64_t i
        memset(&query, 0, sizeof(query))
        self.prepare_tables()
        out = bytearray(4 * self.p.n_docs)
        cdef float* scores = <float*><char*>PyByteArray_AS_STRING(out)
        try:
            query.n_terms = self.read_query(terms, weights, words, df, &query)
            with nogil:
                for i in range(query.n_terms):
                    mt_add_term(&self.p, &query.terms[i], scores)
                if query.base != 0.0:
                    for i in range(self.p.n_docs):
                        scores[i] += query.base
        finally:
            free(query.terms)
        if numpy_frombuffer is None:
            load_numpy()
        return numpy_frombuffer(out, FLOAT32)

    def impact(self, int64_t term, int64_t doc, *, df=None):
        """What a term of a query adds to a document's score, beyond what its absence would."""
        cdef mt_query query
        cdef float found = 0.0
        if not 0 <= doc < self.p.n_docs:
            raise ValueError(f"document id {doc} is not below {self.p.n_docs}")
        memset(&query, 0, sizeof(query))
        self.prepare_tables()
        try:
            if self.read_query([term], None, None, None if df is None else [df], &query):
                mt_seek(query.terms, doc >> MT_WINDOW_BITS)
                found = mt_contribution(&self.p, query.terms, <uint32_t>doc)
        finally:
            free(query.terms)
        return found


# ---------------------------------------------------------------------- edge

cdef int64_t check_count(value) except -1:
    """k, no more than a size can be."""
    cdef int64_t number = PyNumber_AsSsize_t(value, NULL)
    if number < 0:
        raise ValueError(f"k must not be negative, but is {value}")
    return number


cdef object numpy_frombuffer = None
cdef object INT64 = None
cdef object FLOAT32 = None


cdef load_numpy():
    global numpy_frombuffer, INT64, FLOAT32
    import numpy

    INT64, FLOAT32 = numpy.dtype("int64"), numpy.dtype("float32")
    numpy_frombuffer = numpy.frombuffer


# The working memory of the search before, for the next one.
cdef void* spare_scratch = NULL


cdef mt_scratch* take_scratch() except NULL:
    cdef mt_scratch* scratch = <mt_scratch*>mt_swap(&spare_scratch, NULL)
    if not scratch:
        scratch = <mt_scratch*>calloc(1, sizeof(mt_scratch))
        if not scratch:
            raise MemoryError
    return scratch


cdef void give_scratch(mt_scratch* scratch) noexcept:
    if scratch:
        free(mt_swap(&spare_scratch, scratch))


cdef void use_filter(Filter filter, mt_query* query) noexcept:
    """Let a query look through a filter, which must be kept as long."""
    query.filtered = 1
    query.allowed = filter.ids
    query.n_allowed = filter.n_left if filter.ids else 0
    query.passes = filter.passes
    query.weights = filter.weights
    query.most_weight = filter.most_weight
    query.left = filter.left


cdef hit_arrays(mt_top* top):
    """(ids, scores) of hits, best first."""
    ids = PyByteArray_FromStringAndSize(NULL, 8 * top.n)
    scores = PyByteArray_FromStringAndSize(NULL, 4 * top.n)
    cdef int64_t* out_ids = <int64_t*><char*>PyByteArray_AS_STRING(ids)
    cdef float* out_scores = <float*><char*>PyByteArray_AS_STRING(scores)
    cdef int64_t i
    for i in range(top.n):
        out_ids[i] = mt_hit_doc(top.hits[i])
        out_scores[i] = mt_hit_score(top.hits[i])
    if numpy_frombuffer is None:
        load_numpy()
    return numpy_frombuffer(ids, INT64), numpy_frombuffer(scores, FLOAT32)
