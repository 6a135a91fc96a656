"""C interface of an index's vocabulary and of queries, for the scoring of a bank; see `_vocabulary.pyx`."""

from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from memtree._support cimport Sums
from memtree._terms cimport Terms
from memtree._text cimport PrefixTrie, Scanner, Strings

cdef enum:
    NO_TERM = 0xFFFFFFFF    # a term that no document holds
    IS_STOP = 1             # flag of a surface: a stop word; of documents, too, if it is Latin

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

cdef struct Found:              # one surface of a query
    uint8_t kind
    bint is_stop
    bint is_known               # its terms lie in the lexicon's table, else in `Terms`
    bint kept
    Py_ssize_t first, end
    uint32_t best
    uint32_t best_start, n_best     # in `Terms.text`, if not known
    Py_ssize_t word

cdef class Query:
    cdef QueryTerm* terms           # the s terms of all words, then the b terms
    cdef QueryWord* words
    cdef Py_ssize_t n_terms, n_words
    cdef uint8_t* text              # UTF-8 of the best stems
    cdef Py_ssize_t n_text
    cdef readonly str original
    cdef readonly object lexicon
    cdef str best(self, Py_ssize_t i)


cdef class Vocabulary:
    cdef PyThread_type_lock lock
    cdef readonly str mode
    cdef Strings surfaces       # tag: kind
    cdef Strings[2] terms       # of the fields s and b: the columns in order
    cdef Sums sums
    cdef uint32_t* counts       # of each surface, as last analysed
    cdef int64_t* doc_indptr    # surface -> columns, repeats kept; NULL if read from a file
    cdef uint32_t* doc_columns
    cdef uint32_t* query_indptr     # surface -> columns and weights
    cdef uint32_t* query_columns
    cdef float* query_weights
    cdef uint8_t* flags
    cdef uint32_t* best_columns
    cdef uint32_t n_analysed    # surfaces that the tables above cover
    cdef uint32_t n_query       # entries of the query tables
    cdef uint32_t s_size, b_size
    cdef bint is_mapped         # the arrays lie in a file,
    cdef object owner           # and these views keep it open
    cdef readonly tuple keywords    # of mode "prefix"
    cdef PrefixTrie prefixes        # made from them when it is needed

    cdef void acquire(self) noexcept
    cdef void release(self) noexcept
    cdef void free_tables(self) noexcept
    cdef list tables(self)
    cdef uint32_t find_column(self, const uint8_t* text, size_t length, uint8_t field) noexcept nogil
    cdef double root_count(self, const uint8_t* text, size_t length) noexcept nogil
    cdef int token_terms(self, const uint8_t* text, size_t length, Terms* terms) except -1
    cdef Query locked_build(self, str text, bint drops_stop_words, list names)
    cdef Query build(self, str text, bint drops_stop_words, list names)
    cdef int find_surfaces(self, Scanner* scanner, Terms* terms, Found* found, bint afresh) except -1
    cdef int find_unknown(self, int kind, const uint8_t* text, size_t length, Terms* terms) except -1
    cdef int fill(self, Query query, const Scanner* scanner, const Terms* terms, const Found* found,
                  list names) except -1
    cdef list best_stems(self, str text)

cdef bytes copy_bytes(const void* data, size_t size)
cdef const void* buffer_data(buffer, Py_ssize_t item_size, str name, list views, size_t* n) except? NULL
