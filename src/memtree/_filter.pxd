from libc.stdint cimport int64_t, uint8_t, uint32_t


cdef class Filter:
    cdef list owner
    # The weights in float32, or None.
    cdef readonly object weight_mask
    cdef readonly int64_t n_docs
    # Documents that may be left, at most; all ids if there are ids.
    cdef readonly int64_t n_left
    cdef const uint32_t* ids
    cdef const uint8_t* passes
    cdef const float* weights
    cdef float most_weight
    cdef uint32_t* left

    cdef keep(self, array)
    cdef void forget_counts(self) noexcept
    cdef int take_counts(self, uint32_t* counts, int64_t n_docs) except -1
    cdef uint32_t* new_counts(self, int64_t n_docs) except NULL
    cdef int take_weights(self, given, int64_t n_docs) except -1
    cdef int take_documents(self, given, int64_t n_docs) except -1
    cdef int take_mask(self, array, int64_t n_docs) except -1
