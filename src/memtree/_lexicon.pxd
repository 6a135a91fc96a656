"""C interface of queries, for the scoring of a bank; see `_lexicon.pyx`."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:
    NO_TERM = 0xFFFFFFFF    # a term that no document holds

cdef struct QueryTerm:
    uint32_t column         # NO_TERM if no document holds it
    float weight            # without the factor of the field
    uint16_t word           # index of its word
    uint8_t field           # 0 s, 1 b

cdef struct QueryWord:
    uint32_t start          # code points of the original text
    uint32_t end
    uint32_t best           # s column of the best stem, or NO_TERM
    uint32_t best_start     # the best stem in `Query.text`
    uint32_t best_length

cdef class Query:
    cdef QueryTerm* terms           # the s terms of all words, then the b terms
    cdef QueryWord* words
    cdef Py_ssize_t n_terms, n_words
    cdef uint8_t* text              # UTF-8 of the best stems
    cdef Py_ssize_t n_text
    cdef readonly str original
    cdef readonly object lexicon
    cdef str best(self, Py_ssize_t i)
