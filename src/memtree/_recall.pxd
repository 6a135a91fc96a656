"""C interface of the recall over a bank; see `_recall.pyx`."""

from libc.stdint cimport uint8_t, uint32_t

from memtree._bm25 cimport Postings
from memtree._vocabulary cimport Query, Vocabulary


cdef struct Candidate:
    double score
    double bm25
    double tree
    uint32_t doc


cdef class Columns:
    cdef const uint32_t[::1] indptr
    cdef const uint32_t[::1] data
    cdef readonly Py_ssize_t n

    cdef const uint32_t* row(self, Py_ssize_t i, Py_ssize_t* length) noexcept nogil


cdef class Passage:
    cdef tuple heading_path
    cdef tuple lines
    cdef str text


cdef class PassageHit:
    cdef readonly double score
    cdef readonly uint32_t passage_id
    cdef readonly tuple heading_path
    cdef readonly tuple lines
    cdef readonly str text


cdef class Hit:
    cdef readonly str path
    cdef readonly double score
    cdef readonly double tree
    cdef readonly double bm25
    cdef readonly list passages
    cdef readonly uint32_t file_id
    cdef Searcher searcher
    cdef Query query


cdef class Searcher:
    cdef readonly Vocabulary lexicon
    cdef readonly Postings files
    cdef readonly Postings passages
    cdef const uint32_t[::1] passage_start
    cdef Columns keyword_words
    cdef Columns keyword_nodes
    cdef Columns node_files
    cdef Columns column_keywords
    cdef const uint32_t[::1] keyword_columns
    cdef readonly list paths
    cdef readonly object source
    cdef float field_weight[2]
    cdef Py_ssize_t n_files
    cdef Py_ssize_t n_passages
    cdef dict term_names
    cdef list known_passages
    cdef Py_ssize_t n_known

    cdef Py_ssize_t _gather(self, Query query, uint32_t* columns, float* weights) noexcept nogil
    cdef float _attainable(self, Postings postings, const uint32_t* columns, const float* weights,
                           Py_ssize_t n) noexcept nogil
    cdef float _word_idf(self, uint32_t column) noexcept nogil
    cdef Py_ssize_t _keyword_row(self, uint32_t column) noexcept nogil
    cdef bint _all_stand(self, Query query, const uint32_t* words, Py_ssize_t n) noexcept nogil
    cdef bint _is_part(self, Query query, Py_ssize_t t)
    cdef bint _is_hangul(self, Query query, Py_ssize_t w)
    cdef void _tree(self, Query query, double total, const uint8_t* parts, double* nodes, uint32_t* stamps,
                    double* tree) noexcept nogil
    cdef list ranked(self, Query query, Py_ssize_t k, Py_ssize_t n_best, const uint8_t* mask, double w_tree,
                     double w_bm25, double* coverage)
    cdef void _range(self, Py_ssize_t f, Py_ssize_t* start, Py_ssize_t* stop) noexcept nogil
    cdef Py_ssize_t _select(self, const float* file_sums, const float* passage_sums, const double* tree,
                            float file_most, float passage_most, double w_tree, double w_bm25, const uint8_t* mask,
                            Candidate* heap, Py_ssize_t k) noexcept nogil
    cdef Hit _hit(self, Query query, const Candidate* found, const float* passage_sums, float passage_most,
                  double file_share, Py_ssize_t n_best)
    cdef PassageHit _passage_hit(self, Py_ssize_t p, const float* sums, float most, double file_share)
    cdef Passage _passage(self, Py_ssize_t p)
    cdef double _coverage(self, Query query, uint32_t f, double total)
    cdef Py_ssize_t _mark_held(self, Query query, uint32_t f, uint8_t* held)
    cdef list matched(self, Query query, uint32_t f)
    cpdef object same_key(self, Query query)
    cpdef str name(self, uint32_t column)
