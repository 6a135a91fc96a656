"""BM25 over a sparse term-document matrix: postings, scores, exact top k.

``Postings`` scores the documents of a ``_postings.Matrix``.

Every variant scores a document as ``base + sum over the query of (weight * idf) * (tf / (tf + K))``,
in float32 and in query order, with ``K = k1 * (1 - b + b * length / average length)`` computed in double
and rounded once:

========== ========================== ================= =========== ==============================
method     idf                        idf scaled by     k1 in K     base, a term
========== ========================== ================= =========== ==============================
lucene     ln(1 + (N-df+.5)/(df+.5))  1                 k1          0
robertson  ln((N-df+.5)/(df+.5))      1                 k1          0
atire      ln(N/df)                   k1 + 1            k1          0
okapi      robertson's; below 0:      k1 + 1            k1          0
           epsilon * mean idf
bm25+      ln((N+1)/df)               k1 + 1            k1          idf delta
bm25l      ln((N+1)/(df+.5))          k1 (k1+1) /       k1 + delta  idf (k1+1) delta / (k1 + delta)
                                      (k1 + delta)
========== ========================== ================= =========== ==============================

The forms are those of Kamphuis, de Vries, Boytsov and Lin, "Which BM25 do you mean?" (ECIR 2020), okapi that
of rank_bm25. BM25+ and BM25L also score documents without a term; that constant is taken out of each term and
added once, which leaves tf / (tf + K) for these two as well: with c = tf / norm and f(x) = (k1+1) x / (k1+x),
BM25L is f(c + delta) = f(delta) + k1 (k1+1) / (k1+delta) * tf / (tf + (k1+delta) norm).
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.math cimport isfinite, log
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from memtree._postings cimport Matrix, mt_bounds, mt_norms, mt_postings, mt_term

cdef extern from "_search.h":
    const int MT_WINDOW, MT_WINDOW_BITS, MT_TABLE_TF, MT_PRUNED_TERMS, MT_RANKS, MT_ROW, MT_ROW_SHARE
    int mt_path

    ctypedef struct mt_top:
        uint64_t* hits
        int64_t n, k
    ctypedef struct mt_query:
        const mt_postings* postings
        mt_term* terms
        int64_t n_terms
        float base
        int may_be_weak, filtered
        const uint32_t* allowed
        int64_t n_allowed
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
    void mt_seek(mt_term* t, int64_t window) noexcept nogil
    float mt_contribution(
        const mt_postings* p, const mt_term* t, int64_t window, uint32_t local
    ) noexcept nogil
    float mt_saturation(float tf, float k) noexcept nogil
    float mt_norm(const mt_norms* n, uint32_t length) noexcept nogil
    void mt_add_term(const mt_postings* p, mt_term* t, float* scores) noexcept nogil
    int mt_best_path() noexcept nogil
    mt_bounds* mt_measure_term(const mt_postings* p, mt_term* t, int with_row) noexcept nogil
    void mt_search(const mt_query* q, mt_scratch* s, mt_top* top) noexcept nogil

METHODS = ("lucene", "robertson", "atire", "okapi", "bm25+", "bm25l")
DEFAULT_DELTA = {"bm25+": 1.0, "bm25l": 0.5}

# A match whose terms could all sum to less than this is looked for with marks instead of by its score.
cdef float WEAK = 1e-30


# Fewer postings than this are scanned faster than bounds are compared.
cdef int64_t PRUNED_REACH = 4096
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
    """What pruning knows of each term, computed when a term is first needed."""

    def __cinit__(self, int64_t n_terms, int64_t n_postings):
        self.n_terms = n_terms
        self.room = n_postings * ROW_BUDGET
        self.block = <mt_bounds**>calloc(n_terms + 1, sizeof(mt_bounds*))
        if not self.block:
            raise MemoryError

    def __dealloc__(self):
        cdef int64_t t
        if self.block:
            for t in range(self.n_terms):
                free(self.block[t])
        free(self.block)
        free(self.k)


cdef class Postings(Matrix):
    """Term-document matrix of one kind of unit, and BM25 over it.

    Made by `build`, `from_csc` or `from_parts`. Searching and scoring are safe from many threads,
    `set_params` is not.
    """

    def __cinit__(self):
        self.method = "lucene"
        self.k1 = 1.2
        self.b = 0.75
        self.epsilon = 0.25
        self.pruning = True

    def __dealloc__(self):
        free(self.given_idf)
        free(self.given_totals)
        self.forget()

    cdef void forget(self) noexcept:
        """Drop what depends on the parameters."""
        free(self.norms)
        free(self.table)
        free(self.idf)
        self.norms = NULL
        self.table = self.idf = NULL
        self.bounds_fit = False
    # ------------------------------------------------------------------ parameters

    def set_params(self, str method="lucene", k1=1.2, b=0.75, delta=None, epsilon=0.25, idf=None):
        """Choose the variant and its parameters; takes effect with the next search.

        Parameters
        ----------
        method : {"lucene", "robertson", "atire", "okapi", "bm25+", "bm25l"}
        k1 : float, >= 0
        b : float in [0, 1]
        delta : float, >= 0, optional
            Of bm25+ (default 1) and bm25l (default 0.5).
        epsilon : float
            Of okapi.
        idf : float64 buffer, shape (n_terms,), optional
            Taken instead of the idf computed from the document frequencies.
        """
        cdef const double[::1] given
        cdef int64_t i
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        k1 = check_number("k1", k1, 0.0, 1e9)
        b = check_number("b", b, 0.0, 1.0)
        delta = check_number("delta", DEFAULT_DELTA.get(method, 0.0) if delta is None else delta, 0.0, 1e9)
        epsilon = check_number("epsilon", epsilon, -1e9, 1e9)
        if method == "bm25l" and k1 + delta == 0.0:
            raise ValueError("bm25l needs k1 + delta above 0")
        if idf is not None:
            given = idf
            if given.shape[0] != self.p.n_terms:
                raise ValueError(f"idf must have {self.p.n_terms} entries, not {given.shape[0]}")
            for i in range(self.p.n_terms):
                if not isfinite(given[i]):
                    raise ValueError(f"idf[{i}] is {given[i]}, not a finite number")
        free(self.given_idf)
        self.given_idf = NULL
        if idf is not None:
            self.given_idf = <double*>malloc(<size_t>(self.p.n_terms + 1) * sizeof(double))
            if not self.given_idf:
                raise MemoryError
            if self.p.n_terms:
                memcpy(self.given_idf, &given[0], <size_t>self.p.n_terms * sizeof(double))
        self.method = method
        self.k1, self.b, self.delta, self.epsilon = k1, b, delta, epsilon
        self.forget()

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

    def set_collection(self, int64_t n_docs, totals):
        """Score as a part of a larger collection.

        Parameters
        ----------
        n_docs : int
            Documents of the whole collection.
        totals : sequence of float, one a field
            Sum of its document lengths.
        """
        if len(totals) != self.n_fields:
            raise ValueError(f"totals must have {self.n_fields} entries, not {len(totals)}")
        if not self.given_totals:
            self.given_totals = <double*>malloc(<size_t>self.n_fields * sizeof(double))
            if not self.given_totals:
                raise MemoryError
        for i in range(self.n_fields):
            self.given_totals[i] = totals[i]
        self.given_n_docs = n_docs
        self.forget()

    cdef int prepare_tables(self) except -1:
        """Make the saturation tables; cheap, as they depend on the distinct document lengths only."""
        cdef int64_t field, i, n_codes
        cdef int j
        cdef double average, k1 = self.k1
        cdef float k
        cdef mt_norms* norms
        if self.norms:
            return 0
        self.measure()
        n_codes = self.lengths.n_codes
        self.table = <float*>calloc(self.n_fields * n_codes * (MT_TABLE_TF + 1), sizeof(float))
        norms = <mt_norms*>calloc(self.n_fields, sizeof(mt_norms))
        if not norms or not self.table:
            free(norms)
            raise MemoryError
        self.n_collection = self.given_n_docs if self.given_totals else self.p.n_docs
        self.kind = METHODS.index(self.method)
        self.scale, self.absent = 1.0, 0.0
        if self.method in ("atire", "okapi", "bm25+"):
            self.scale = k1 + 1.0
        if self.method == "bm25+":
            self.absent = self.delta
        elif self.method == "bm25l":
            self.scale = k1 * (k1 + 1.0) / (k1 + self.delta)
            self.absent = (k1 + 1.0) * self.delta / (k1 + self.delta)
            k1 += self.delta
        self.largest_k = 0.0
        for field in range(self.n_fields):
            average = 0.0
            if self.n_collection:
                average = self.given_totals[field] if self.given_totals else self.lengths.totals[field]
                average /= self.n_collection
            norms[field].k_const = k1 * (1.0 - self.b) if average > 0.0 else k1
            norms[field].k_slope = k1 * self.b / average if average > 0.0 else 0.0
            norms[field].code = self.lengths.codes + field * self.lengths.n_padded
            norms[field].length = self.lengths.length + field * self.p.n_docs
            norms[field].coded = self.lengths.coded
            norms[field].factor = self.table + field * n_codes * (MT_TABLE_TF + 1)
            norms[field].k = norms[field].factor + n_codes * MT_TABLE_TF
            for i in range(n_codes):
                k = mt_norm(&norms[field], self.lengths.values[i])
                (<float*>norms[field].k)[i] = k
                for j in range(1, MT_TABLE_TF):
                    (<float*>norms[field].factor)[i * MT_TABLE_TF + j] = mt_saturation(j, k)
            self.largest_k = max(self.largest_k, mt_norm(&norms[field], self.lengths.longest))
        self.norms = norms
        if self.method == "okapi" and not self.given_idf:
            self.find_floor()
        return 0

    cdef int find_floor(self) except -1:
        """The idf that okapi gives to terms whose own would be negative: epsilon times the mean of all."""
        cdef int64_t t, df, n_known = 0
        cdef double mean = 0.0
        for t in range(self.p.n_terms):
            df = self.document_frequency(t)
            if df > 0:
                n_known += 1
                mean += plain_idf(self.kind, self.n_collection, df)
        self.floor = self.epsilon * (mean / n_known) if n_known else 0.0
        return 0

    cdef double raw_idf(self, int64_t term, int64_t df) noexcept nogil:
        cdef double idf
        if self.given_idf and 0 <= term < self.p.n_terms:
            return self.given_idf[term]
        idf = plain_idf(self.kind, self.n_collection, df)
        return self.floor if self.kind == 3 and idf < 0.0 and df > 0 else idf

    cdef int prepare(self) except -1:
        """Make all that `accumulate` needs, and `idf`; with the GIL, once after each change of parameters."""
        cdef int64_t t
        cdef float* idf
        if self.idf:
            return 0
        self.prepare_tables()
        idf = <float*>malloc(<size_t>(self.p.n_terms + 1) * sizeof(float))
        if not idf:
            raise MemoryError
        for t in range(self.p.n_terms):
            idf[t] = <float>(self.raw_idf(t, self.document_frequency(t)) * self.scale)
        self.idf_unknown = <float>(self.raw_idf(-1, 0) * self.scale)
        self.idf = idf
        return 0

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

    cdef int64_t read_query(self, terms, weights, dfs, mt_term** out, float* base) except -1:
        """Check and open the terms of a query: a repeated term counts at its first place, weights added."""
        cdef int64_t n = len(terms), i, at, count = 0, term, df
        cdef float weight
        cdef double idf
        cdef float* merged
        cdef dict places = {}
        cdef list order = []
        cdef mt_term* opened
        if weights is not None and len(weights) != n:
            raise ValueError(f"weights must be as many as terms, {n}, not {len(weights)}")
        out[0] = opened = <mt_term*>malloc(<size_t>(n + 1) * sizeof(mt_term))
        merged = <float*>malloc(<size_t>(n + 1) * sizeof(float))
        base[0] = 0.0
        try:
            if not opened or not merged:
                raise MemoryError
            for i in range(n):
                term = terms[i]
                weight = 1.0 if weights is None else weights[i]
                if not 0 <= term < self.p.n_terms and dfs is None:
                    raise ValueError(f"term id {term} is not in the vocabulary of {self.p.n_terms} terms")
                if not isfinite(weight):
                    raise ValueError(f"weight of term {term} is {weights[i]}, not a finite number")
                if term in places:
                    at = places[term]
                    merged[at] += weight
                else:
                    at = len(order)
                    places[term] = at
                    merged[at] = weight
                    order.append((term, i))
            for i in range(len(order)):
                term, at = order[i]
                if merged[i] == 0.0:
                    continue
                mt_open_term(&self.p, term, &opened[count])
                df = opened[count].df if dfs is None else dfs[at]
                idf = self.raw_idf(term, df)
                if self.absent != 0.0 and df > 0:
                    base[0] += merged[i] * <float>(idf * self.absent)
                if opened[count].df:
                    opened[count].term = term
                    opened[count].norms = &self.norms[self.field_of(term)]
                    opened[count].coef = merged[i] * <float>(idf * self.scale)
                    count += 1
        except BaseException:
            free(opened)
            out[0] = NULL
            raise
        finally:
            free(merged)
        return count

    def search(self, terms, weights=None, k=10, filter=None, *, df=None, removed=None):
        """Find the `k` best documents, exactly.

        Parameters
        ----------
        terms : sequence of int
            Column numbers; one that is repeated counts as often as it stands.
        weights : sequence of float, optional
            One a term, 1 by default.
        k : int
            Most hits wanted.
        filter : array of bool, shape (n_docs,), or sequence of int, optional
            Documents to consider, as a mask or by id.
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
        cdef mt_scratch* scratch = NULL
        cdef const uint32_t[::1] allowed, gone
        cdef int64_t wanted = min(check_count("k", k), self.p.n_docs)
        memset(&query, 0, sizeof(query))
        memset(&top, 0, sizeof(top))
        self.prepare_tables()
        if filter is not None:
            allowed = filter_ids(filter, self.p.n_docs)
            query.filtered = 1
            query.n_allowed = allowed.shape[0]
            query.allowed = &allowed[0] if query.n_allowed else NULL
            wanted = min(wanted, query.n_allowed)
        if removed is not None:
            gone = removed
            query.n_removed = gone.shape[0]
            query.removed = &gone[0] if query.n_removed else NULL
        try:
            self.open_query(terms, weights, df, wanted, &query, &top)
            if top.k:
                scratch = <mt_scratch*>calloc(1, sizeof(mt_scratch))
                if not scratch:
                    raise MemoryError
                with nogil:
                    mt_search(&query, scratch, &top)
            return hit_arrays(&top)
        finally:
            free(query.terms)
            free(top.hits)
            free(scratch)

    cdef int find_bounds(self) except -1:
        """Bounds that hold for the present tables, kept from earlier ones if these are near."""
        cdef int64_t i, n = 2 * self.n_fields
        cdef double ratio
        cdef Bounds bounds = self.bounds
        cdef bint fits = bounds is not None and bounds.n_k == n
        self.grown = self.shrunk = 1.0
        if fits:
            for i in range(self.n_fields):
                fits = fits and bounds.k[2 * i] == self.norms[i].k_const
                ratio = 1.0
                if bounds.k[2 * i + 1] != self.norms[i].k_slope:
                    fits = fits and bounds.k[2 * i + 1] > 0.0 and self.norms[i].k_slope > 0.0
                    if fits:
                        ratio = bounds.k[2 * i + 1] / self.norms[i].k_slope
                self.grown = max(self.grown, ratio)
                self.shrunk = max(self.shrunk, 1.0 / ratio)
            fits = fits and self.grown < MOST_DRIFT and self.shrunk < MOST_DRIFT
        if not fits:
            self.grown = self.shrunk = 1.0
            bounds = Bounds(self.p.n_terms, self.p.n_postings)
            bounds.k = <double*>malloc(<size_t>n * sizeof(double))
            if not bounds.k:
                raise MemoryError
            bounds.n_k = n
            for i in range(self.n_fields):
                bounds.k[2 * i] = self.norms[i].k_const
                bounds.k[2 * i + 1] = self.norms[i].k_slope
            self.bounds = bounds
        # Beyond the drift, a saturation under new tables is rounded anew.
        self.grown *= 1.0 + 1e-6
        self.shrunk *= 1.0 + 1e-6
        self.bounds_fit = True
        return 0

    cdef int bound_terms(self, mt_query* query, int64_t k) except -1:
        """Give the terms of a query their bounds, and the query a score that its k best reach."""
        cdef int64_t i, rank = 0, needed = k + query.n_removed, reached = 1, row
        cdef mt_term* t
        cdef mt_bounds* found
        if not self.bounds_fit:
            self.find_bounds()
        while rank < MT_RANKS and reached < needed:
            rank += 1
            reached *= 10
        query.slack = <float>self.grown
        for i in range(query.n_terms):
            t = &query.terms[i]
            found = self.bounds.block[t.term]
            if not found:
                row = self.p.n_windows * MT_ROW
                if not t.ids16 or row > t.df * MT_ROW_SHARE or row > self.bounds.room:
                    row = 0
                found = mt_measure_term(&self.p, t, row > 0)
                if not found:
                    raise MemoryError
                self.bounds.block[t.term] = found
                self.bounds.room -= row
            t.bounds = found
            if rank < MT_RANKS:
                query.floor = max(query.floor, t.coef * <float>(found.rank[rank] / self.shrunk))
        query.floor *= <float>(1.0 - 1e-6)
        query.prune = 1
        return 0

    cdef int open_query(
        self, terms, weights, df, int64_t k, mt_query* query, mt_top* top
    ) except -1:
        """Complete a query and give it room for its hits."""
        cdef int64_t i, reach = 0
        query.postings = &self.p
        query.n_terms = self.read_query(terms, weights, df, &query.terms, &query.base)
        for i in range(query.n_terms):
            reach += query.terms[i].df
            if not query.terms[i].coef / (1.0 + self.largest_k) > WEAK:
                query.may_be_weak = 1
        top.k = min(k, reach)
        if (
            self.pruning and reach >= PRUNED_REACH and top.k * 8 <= reach and not query.may_be_weak
            and not query.filtered and 0 < query.n_terms <= MT_PRUNED_TERMS
        ):
            self.bound_terms(query, top.k)
        if top.k:
            top.hits = <uint64_t*>malloc(<size_t>mt_top_room(top.k) * sizeof(uint64_t))
            if not top.hits:
                raise MemoryError
        return 0

    def search_many(self, queries, k=10):
        """Answer several queries in one stretch without the GIL.

        Parameters
        ----------
        queries : sequence of (terms, weights or None)
        k : int

        Returns
        -------
        list of (ids, scores), as `search` gives them
        """
        cdef int64_t n = len(queries), i, wanted = min(check_count("k", k), self.p.n_docs)
        cdef mt_query* query = <mt_query*>calloc(n + 1, sizeof(mt_query))
        cdef mt_top* top = <mt_top*>calloc(n + 1, sizeof(mt_top))
        cdef mt_scratch* scratch = <mt_scratch*>calloc(1, sizeof(mt_scratch))
        try:
            if not query or not top or not scratch:
                raise MemoryError
            self.prepare_tables()
            for i in range(n):
                terms, weights = queries[i]
                self.open_query(terms, weights, None, wanted, &query[i], &top[i])
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
            free(scratch)

    def scores(self, terms, weights=None, *, df=None):
        """Score every document.

        Returns
        -------
        ndarray of float32, shape (n_docs,)
            For bm25+ and bm25l, documents without any of the terms have the score that these give them.
        """
        cdef mt_term* opened = NULL
        cdef float base
        cdef int64_t i, n
        self.prepare_tables()
        out = bytearray(4 * self.p.n_docs)
        cdef float* scores = <float*><char*>PyByteArray_AS_STRING(out)
        n = self.read_query(terms, weights, df, &opened, &base)
        with nogil:
            for i in range(n):
                mt_add_term(&self.p, &opened[i], scores)
            if base != 0.0:
                for i in range(self.p.n_docs):
                    scores[i] += base
        free(opened)
        return numpy_array(out, "float32")

    def impact(self, int64_t term, int64_t doc, *, df=None):
        """What a term of a query adds to a document's score, beyond what its absence would."""
        cdef mt_term* opened = NULL
        cdef float base, found = 0.0
        if not 0 <= doc < self.p.n_docs:
            raise ValueError(f"document id {doc} is not below {self.p.n_docs}")
        self.prepare_tables()
        if self.read_query([term], None, None if df is None else [df], &opened, &base):
            mt_seek(opened, doc >> MT_WINDOW_BITS)
            found = mt_contribution(&self.p, opened, doc >> MT_WINDOW_BITS, <uint32_t>(doc & (MT_WINDOW - 1)))
        free(opened)
        return found

    @property
    def idf_values(self):
        """Inverse document frequency of each column as used in scoring, a float32 view."""
        self.prepare()
        return memoryview(bytes((<char*>self.idf)[:4 * self.p.n_terms])).cast("f")


cdef double plain_idf(int kind, double n, double df) noexcept nogil:
    """Inverse document frequency by position in METHODS; where df = 0 would divide by zero, 0."""
    if kind == 0:
        return log(1.0 + (n - df + 0.5) / (df + 0.5))
    if kind == 1 or kind == 3:
        return log((n - df + 0.5) / (df + 0.5))
    if kind == 5:
        return log((n + 1.0) / (df + 0.5))
    if df == 0.0:
        return 0.0
    return log(n / df) if kind == 2 else log((n + 1.0) / df)


# ---------------------------------------------------------------------- edge

cdef check_number(str name, value, double least, double most):
    number = float(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must lie in {least:g} ... {most:g}, not {value!r}")
    return number


cdef int64_t check_count(str name, value) except -1:
    import operator

    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, but is {number}")
    return min(number, 1 << 62)


cdef object numpy_frombuffer = None


cdef numpy_array(buffer, str dtype):
    global numpy_frombuffer
    if numpy_frombuffer is None:
        import numpy

        numpy_frombuffer = numpy.frombuffer
    return numpy_frombuffer(buffer, dtype)


cdef filter_ids(filter, int64_t n_docs):
    """A mask or ids as ascending distinct uint32 ids."""
    import numpy

    array = numpy.asarray(filter)
    if array.dtype == bool:
        if array.shape != (n_docs,):
            raise ValueError(f"filter mask must have shape ({n_docs},), not {array.shape}")
        return numpy.flatnonzero(array).astype(numpy.uint32)
    if array.size == 0:
        return numpy.zeros(0, numpy.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("filter must be a mask of bool or a sequence of document ids")
    ids = numpy.unique(array)
    least, most = ids.min(), ids.max()
    if least < 0 or most >= n_docs:
        wrong = least if least < 0 else most
        raise ValueError(f"filter holds the document id {wrong}, not in 0 ... {n_docs - 1}")
    return ids.astype(numpy.uint32)


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
    return numpy_array(ids, "int64"), numpy_array(scores, "float32")
