"""C interface of the Korean analysis of one Hangul run; see `_korean.pyx`."""

from libc.stdint cimport uint8_t, uint16_t

cdef enum:
    MAX_SYLLABLES = 64      # longer runs are not analysed
    MAX_KEY = 68            # a key is at most two syllables longer than its stem
    MAX_CANDIDATES = 160    # 12 suffixes with at most 11 candidates each, and the bare run's

cdef struct Candidate:
    uint8_t predicate       # class P; N and H are nouns
    uint8_t n               # syllables that count for the length prior
    uint8_t length          # syllables of the key
    uint16_t key            # its place in `Candidates.pool`
    uint16_t suffix         # state of the trie, 0 for none
    uint16_t cost

cdef struct Stem:
    uint8_t predicate       # shown with ~
    uint8_t length
    uint16_t key            # its place in `Candidates.pool`
    double posterior

cdef struct Candidates:
    int n
    int used                # of the pool
    int n_stems
    Candidate items[MAX_CANDIDATES]
    Stem stems[MAX_CANDIDATES]
    double weights[MAX_CANDIDATES]    # posterior of each candidate
    double shares[MAX_CANDIDATES]     # of all candidates with its class and key, if it is their first
    uint8_t first[MAX_CANDIDATES]     # the first candidate with the class and key of this one
    Py_UCS4 pool[MAX_CANDIDATES * MAX_KEY]

cdef void find_candidates(const Py_UCS4* run, int n, Candidates* out) noexcept nogil
cdef void weigh(Candidates* found, const double* support) noexcept nogil
cdef void share_stems(Candidates* found) noexcept nogil
cdef void rank_stems(Candidates* found) noexcept nogil
cdef bint has_ss(const Py_UCS4* text, int n) noexcept nogil
cdef bint in_ask(const Candidates* found) noexcept nogil
cdef bint drop_glued(const Py_UCS4* run, int n) noexcept nogil
cdef int stop_word(const Py_UCS4* word, int n) noexcept nogil
cdef Py_ssize_t replace_variants(const Py_UCS4* run, Py_ssize_t n, Py_UCS4* out) noexcept nogil
