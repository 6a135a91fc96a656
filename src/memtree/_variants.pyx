"""The variants of BM25: their parameters, and the tables that scoring takes from them.

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

from libc.math cimport isfinite, log
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from memtree._postings cimport Matrix, mt_norms

cdef extern from "_atomic.h":
    void* mt_load(void** at) noexcept nogil
    void mt_publish(void** at, void* value) noexcept nogil

cdef extern from "_postings.h":
    const int MT_TABLE_TF
    float mt_saturation(float tf, float k) noexcept nogil
    float mt_norm(const mt_norms* n, uint32_t length) noexcept nogil

METHODS = ("lucene", "robertson", "atire", "okapi", "bm25+", "bm25l")
DEFAULT_DELTA = {"bm25+": 1.0, "bm25l": 0.5}


cdef class Variant(Matrix):
    """A term-document matrix with the parameters of a variant."""

    def __cinit__(self):
        self.method = "lucene"
        self.k1 = 1.2
        self.b = 0.75
        self.epsilon = 0.25

    def __dealloc__(self):
        free(self.given_idf)
        free(self.given_totals)
        Variant.forget(self)

    cdef void forget(self) noexcept:
        """Drop what depends on the parameters."""
        free(self.norms)
        free(self.table)
        free(self.idf)
        self.norms = NULL
        self.table = self.idf = NULL

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
        if mt_load(<void**>&self.norms):
            return 0
        self.measure()
        with self.lock:
            if not self.norms:
                self.make_tables()
        return 0

    cdef int make_tables(self) except -1:
        cdef int64_t field, i, n_codes
        cdef int j
        cdef double average, k1 = self.k1
        cdef float k
        cdef mt_norms* norms
        n_codes = self.lengths.n_codes
        free(self.table)
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
        if self.method == "okapi" and not self.given_idf:
            self.find_floor()
        mt_publish(<void**>&self.norms, norms)
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
        self.prepare_tables()
        if mt_load(<void**>&self.idf):
            return 0
        with self.lock:
            if not self.idf:
                self.make_idf()
        return 0

    cdef int make_idf(self) except -1:
        cdef int64_t t
        cdef float* idf = <float*>malloc(<size_t>(self.p.n_terms + 1) * sizeof(float))
        if not idf:
            raise MemoryError
        for t in range(self.p.n_terms):
            idf[t] = <float>(self.raw_idf(t, self.document_frequency(t)) * self.scale)
        self.idf_unknown = <float>(self.raw_idf(-1, 0) * self.scale)
        mt_publish(<void**>&self.idf, idf)
        return 0

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


cdef check_number(str name, value, double least, double most):
    number = float(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must lie in {least:g} ... {most:g}, not {value!r}")
    return number
