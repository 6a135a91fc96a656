cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef extern from "_postings.h":
    ctypedef struct mt_postings:
        int64_t n_docs, n_terms, n_windows, n_postings, windowed_min, bitmap_min
        const int64_t* indptr
        const int64_t* block
        const uint8_t* tf
        const uint8_t* ids
        int64_t ids_size
        const int64_t* big_pos
        const uint32_t* big_tf
        int64_t n_big
    int64_t mt_windows(int64_t n_docs) noexcept nogil
    ctypedef struct mt_bounds:
        float* rank
    ctypedef struct mt_norms:
        const uint16_t* code
        const float* factor
        const float* k
        const uint32_t* length
        double k_const, k_slope
        int coded
    ctypedef struct mt_term:
        const mt_norms* norms
        const uint16_t* ids16
        int64_t term, df, lo, hi, pos0
        uint32_t span
        const uint8_t* bitmaps
        float coef, probe
        const mt_bounds* bounds

cdef class Lengths:
    cdef readonly int64_t n_docs, n_fields
    cdef const uint32_t* length
    cdef object owner
    cdef uint16_t* codes
    cdef int64_t n_codes, n_padded
    cdef uint32_t* values
    cdef int coded
    cdef uint32_t longest
    cdef double* totals


cdef class Matrix:
    cdef mt_postings p
    cdef int64_t* field_starts
    cdef readonly int64_t n_fields
    cdef dict parts
    cdef Lengths lengths
    # Taken while something is made that all threads share.
    cdef cython.pymutex lock

    cdef int set_shape(self, int64_t n_docs, field_starts) except -1
    cdef int allocate(self, const uint32_t* df) except -1
    cdef int measure_rows(self, const int64_t* row, const uint32_t* term, const uint32_t* count) except -1
    cdef int fill(self, const int64_t* row, const uint32_t* ids, const uint32_t* counts, void* cursors) except -1
    cdef int attach(self) except -1
    cdef int check_field(self, int64_t field) except -1
    cdef int measure(self) except -1
    cdef int64_t document_frequency(self, int64_t term) noexcept nogil
    cdef bint contains(self, int64_t term, int64_t doc) noexcept nogil
    cdef int64_t field_of(self, int64_t term) noexcept nogil
