from libc.stdint cimport int64_t

from memtree._postings cimport Matrix, mt_norms


cdef class Variant(Matrix):
    cdef readonly str method
    cdef readonly double k1, b, delta, epsilon
    cdef double* given_idf
    cdef double* given_totals
    cdef int64_t given_n_docs
    # what prepare_tables() derives
    cdef int kind
    cdef double scale, absent, floor, n_collection
    cdef mt_norms* norms
    cdef float* table
    cdef float largest_k
    # what prepare() adds
    cdef float* idf
    cdef float idf_unknown

    cdef void forget(self) noexcept
    cdef int prepare_tables(self) except -1
    cdef int make_tables(self) except -1
    cdef int find_floor(self) except -1
    cdef double raw_idf(self, int64_t term, int64_t df) noexcept nogil
    cdef int prepare(self) except -1
    cdef int make_idf(self) except -1
