from libc.stdint cimport int64_t, uint32_t

from memtree._postings cimport Matrix, mt_bounds, mt_norms, mt_term

cdef extern from "_search.h":
    ctypedef struct mt_query
    ctypedef struct mt_top


cdef class Bounds:
    cdef mt_bounds** block
    cdef int64_t n_terms, n_k, room
    cdef double* k


cdef class Postings(Matrix):
    # parameters
    cdef readonly str method
    cdef readonly double k1, b, delta, epsilon
    cdef double* given_idf
    cdef double* given_totals
    cdef int64_t given_n_docs
    # what prepare_tables() derives from them
    cdef int kind
    cdef double scale, absent, floor, n_collection
    cdef mt_norms* norms
    cdef float* table
    cdef float largest_k
    # of pruned searches
    cdef public bint pruning
    cdef Bounds bounds
    cdef bint bounds_fit
    cdef double grown, shrunk
    # what prepare() adds
    cdef float* idf
    cdef float idf_unknown

    cdef int prepare(self) except -1
    cdef void accumulate(
        self, const uint32_t* terms, const float* weights, Py_ssize_t n, float* scores
    ) noexcept nogil
    cdef void forget(self) noexcept
    cdef int prepare_tables(self) except -1
    cdef int find_floor(self) except -1
    cdef double raw_idf(self, int64_t term, int64_t df) noexcept nogil
    cdef int64_t read_query(self, terms, weights, dfs, mt_term** out, float* base) except -1
    cdef int open_query(self, terms, weights, df, int64_t k, mt_query* query, mt_top* top) except -1
    cdef int find_bounds(self) except -1
    cdef int bound_terms(self, mt_query* query, int64_t k) except -1
