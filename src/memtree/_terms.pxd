"""C interface of the terms of a surface; see `_terms.pyx`."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from memtree._korean cimport Candidates

cdef enum:
    DOCUMENT_B = 2          # `Term.field` of a term that queries do not use: field b in documents

cdef struct Term:
    uint32_t start          # in `Terms.text`
    uint16_t length
    uint8_t field           # 0 s, 1 b, or DOCUMENT_B
    float weight

cdef struct Terms:
    Term* items
    Py_ssize_t n, capacity
    uint8_t* text           # UTF-8
    Py_ssize_t n_text, text_capacity
    bint failed
    bint is_stop            # a stop word; of documents, too, if it is Latin
    uint32_t best_start     # the best stem in `text`
    uint16_t n_best         # its bytes, 0 if there is none

cdef void free_terms(Terms* terms) noexcept nogil
cdef void clear_terms(Terms* terms) noexcept nogil
cdef void document_terms(Candidates* work, const double* support, const Py_UCS4* run, int n,
                         Terms* out) noexcept nogil
cdef void query_terms(int kind, Candidates* work, const double* support, const Py_UCS4* run, int n,
                      Terms* out) noexcept nogil
cdef void simple_terms(int kind, const uint8_t* text, int length, Terms* out) noexcept nogil
cdef int latin_terms(int kind, const uint8_t* text, size_t length, Terms* out) except -1
cdef str decode(const uint8_t* text, size_t length)
cdef void add_bytes(Terms* terms, int field, float weight, const uint8_t* text, int length) noexcept nogil
cdef void set_best(Terms* terms) noexcept nogil
