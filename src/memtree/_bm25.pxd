cimport cython
from libc.stdint cimport int64_t, uint32_t

from memtree._filter cimport Filter
from memtree._postings cimport mt_bounds, mt_term
from memtree._variants cimport Variant

cdef extern from "_search.h":
    ctypedef struct mt_query
    ctypedef struct mt_top


cdef class Bounds:
    cdef mt_bounds** block
    cdef int64_t n_terms, n_k, room
    cdef double* k
    cdef cython.pymutex lock

    cdef bint fits(self, Postings postings) noexcept
    cdef mt_bounds* of_term(self, Postings postings, const mt_term* term) except NULL


cdef class Postings(Variant):
    cdef public bint pruning
    cdef Bounds bounds
    # Set once `bounds` hold under the present tables.
    cdef void* bounds_fit
    cdef double grown, shrunk

    cdef void accumulate(
        self, const uint32_t* terms, const float* weights, Py_ssize_t n, float* scores
    ) noexcept nogil
    cdef int64_t read_query(self, terms, weights, dict words, dfs, mt_query* query) except -1
    cdef int open_query(
        self, terms, weights, dict words, df, int64_t k, mt_query* query, mt_top* top
    ) except -1
    cdef Filter make_filter(self, filter, weight_mask)
    cdef int find_bounds(self) except -1
    cdef int bound_terms(self, mt_query* query, int64_t k) except -1
