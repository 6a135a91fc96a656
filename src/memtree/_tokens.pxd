"""C interface of the terms of single texts; see `_tokens.pyx`."""

from libc.stdint cimport uint8_t, uint32_t

from memtree._korean cimport Candidates
from memtree._support cimport Support
from memtree._terms cimport Terms

cdef enum:
    IS_STOP = 1, IS_PAIR = 2    # flags of a surface

cdef int surface_terms(int kind, const uint8_t* text, size_t length, bint query, Support support,
                       Candidates* work, Terms* out) except -1
cdef void drop_stop_words(const uint8_t* flags, uint32_t* ids, Py_ssize_t n) noexcept nogil
