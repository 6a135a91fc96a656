"""The terms of a surface for documents and for queries: korean.md, section 7, and the English rules.

Terms are collected in a `Terms` without a Python object, but for Latin words, which `_english.pyx` takes
apart.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy

from memtree._korean cimport Stem, has_ss, in_ask, rank_stems, stop_word, weigh
from memtree._text cimport HAN, HANGUL, HANGUL_LONG, IDENTIFIER, KANA, PAIR, encode_syllables

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    void* PyUnicode_DATA(object)

cdef double DOCUMENT_LEAST = 0.05   # least posterior of a stem to become a term of a document,
cdef double QUERY_LEAST = 0.15      # of a query
cdef double RUN_WEIGHT = 0.3        # of the whole run in a query

cdef enum:
    MAX_STATIC = 20         # no more stems can reach the least posterior of a document's term


cdef void free_terms(Terms* terms) noexcept nogil:
    free(terms.items)
    free(terms.text)
    terms.items = NULL
    terms.text = NULL
    terms.n = terms.capacity = terms.n_text = terms.text_capacity = 0


cdef void clear_terms(Terms* terms) noexcept nogil:
    terms.n = 0
    terms.n_text = 0
    terms.is_stop = False
    terms.n_best = 0


cdef uint8_t* new_term(Terms* terms, int field, float weight, int length) noexcept nogil:
    """Append a term of `length` bytes; return where they go, NULL without memory."""
    cdef Py_ssize_t capacity
    cdef void* grown
    cdef Term* term
    if terms.n == terms.capacity:
        capacity = max(64, 2 * terms.capacity)
        grown = realloc(terms.items, capacity * sizeof(Term))
        if grown == NULL:
            terms.failed = True
            return NULL
        terms.items = <Term*> grown
        terms.capacity = capacity
    if terms.n_text + length > terms.text_capacity:
        capacity = 2 * (terms.text_capacity + length + 512)
        grown = realloc(terms.text, capacity)
        if grown == NULL:
            terms.failed = True
            return NULL
        terms.text = <uint8_t*> grown
        terms.text_capacity = capacity
    term = &terms.items[terms.n]
    term.start = <uint32_t> terms.n_text
    term.length = <uint16_t> length
    term.field = <uint8_t> field
    term.weight = weight
    terms.n += 1
    terms.n_text += length
    return terms.text + term.start


cdef inline void add_syllables(Terms* terms, int field, float weight, const Py_UCS4* text, int n,
                               bint predicate) noexcept nogil:
    cdef uint8_t* out = new_term(terms, field, weight, 3 * n + predicate)
    if out != NULL:
        encode_syllables(text, n, out)
        if predicate:
            out[3 * n] = c'~'


cdef void add_bytes(Terms* terms, int field, float weight, const uint8_t* text, int length) noexcept nogil:
    cdef uint8_t* out = new_term(terms, field, weight, length)
    if out != NULL:
        memcpy(out, text, length)


cdef void set_best(Terms* terms) noexcept nogil:
    """Mark the last term as the best stem."""
    if terms.n:
        terms.best_start = terms.items[terms.n - 1].start
        terms.n_best = terms.items[terms.n - 1].length


cdef inline bint same_text(const Candidates* work, const Stem* stem, const Py_UCS4* run,
                           int n) noexcept nogil:
    return (not stem.predicate and stem.length == n
            and memcmp(&work.pool[stem.key], run, n * sizeof(Py_UCS4)) == 0)


cdef void add_bigrams(Terms* out, const Candidates* work, const Stem* best) noexcept nogil:
    """Field b of a run: bigrams of its best stem, a stem of one or two syllables itself."""
    cdef int i
    cdef const Py_UCS4* key = &work.pool[best.key]
    if best.length <= 2:
        add_syllables(out, 1, 1.0, key, best.length, best.predicate)
    else:
        for i in range(best.length - 1):
            add_syllables(out, 1, 1.0, key + i, 2, False)


cdef void document_terms(Candidates* work, const double* support, const Py_UCS4* run, int n,
                         Terms* out) noexcept nogil:
    """Terms of a Hangul run in a document: korean.md, section 7."""
    cdef Stem before[MAX_STATIC]
    cdef const Stem* stem
    cdef int i, j, n_before = 0
    cdef bint has_run = False
    weigh(work, NULL)
    rank_stems(work)
    if support != NULL:
        for i in range(min(work.n_stems, MAX_STATIC)):
            if work.stems[i].posterior >= DOCUMENT_LEAST:
                before[n_before] = work.stems[i]
                n_before += 1
        weigh(work, support)
        rank_stems(work)
    for i in range(work.n_stems):
        stem = &work.stems[i]
        if i and stem.posterior < DOCUMENT_LEAST:
            for j in range(n_before):
                if (before[j].length == stem.length and before[j].predicate == stem.predicate
                        and memcmp(&work.pool[before[j].key], &work.pool[stem.key],
                                   stem.length * sizeof(Py_UCS4)) == 0):
                    break
            else:
                continue
        add_syllables(out, 0, 1.0, &work.pool[stem.key], stem.length, stem.predicate)
        if i == 0:
            set_best(out)
            add_syllables(out, 0, 1.0, &work.pool[stem.key], stem.length, stem.predicate)
        has_run = has_run or same_text(work, stem, run, n)
    if work.stems[0].predicate and n <= 4 and not has_run and not has_ss(run, n):
        add_syllables(out, 0, 1.0, run, n, False)
    add_bigrams(out, work, &work.stems[0])


cdef void query_terms(int kind, Candidates* work, const double* support, const Py_UCS4* run, int n,
                      Terms* out) noexcept nogil:
    """Terms of a Hangul run in a query, their weights, and whether it is a stop word."""
    cdef int i, n_taken
    cdef double total = 0.0
    cdef bint has_run = False
    cdef const Stem* best
    weigh(work, support)
    rank_stems(work)
    n_taken = 0
    while n_taken < work.n_stems and (n_taken == 0 or work.stems[n_taken].posterior >= QUERY_LEAST):
        total += work.stems[n_taken].posterior
        has_run = has_run or same_text(work, &work.stems[n_taken], run, n)
        n_taken += 1
    if not has_run:
        total += RUN_WEIGHT
    for i in range(n_taken):
        add_syllables(out, 0, <float> (work.stems[i].posterior / total), &work.pool[work.stems[i].key],
                      work.stems[i].length, work.stems[i].predicate)
        if i == 0:
            set_best(out)
    if not has_run:
        add_syllables(out, 0, <float> (RUN_WEIGHT / total), run, n, False)
    best = &work.stems[0]
    add_bigrams(out, work, best)
    if kind == HANGUL:
        out.is_stop = (stop_word(run, n) or in_ask(work)
                       or (not best.predicate and stop_word(&work.pool[best.key], best.length)))


cdef void simple_terms(int kind, const uint8_t* text, int length, Terms* out) noexcept nogil:
    """Terms of a surface that is neither analysed Hangul nor Latin; the same in documents and queries."""
    cdef int i = 0, following, last
    if kind == HANGUL_LONG or kind == PAIR:
        add_bytes(out, 1, 1.0, text, length)
        return
    add_bytes(out, 0, 1.0, text, length)
    set_best(out)
    last = last_start(text, length)
    if last <= 0 or (kind != HAN and kind != KANA):
        add_bytes(out, 1, 1.0, text, length)
        return
    if kind == HAN:
        while i < length:
            following = i + char_length(text[i])
            add_bytes(out, DOCUMENT_B, 1.0, text + i, following - i)
            i = following
        i = 0
    while i < last:
        following = i + char_length(text[i])
        add_bytes(out, 1, 1.0, text + i, following - i + char_length(text[following]))
        i = following


cdef inline int char_length(uint8_t lead) noexcept nogil:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


cdef inline int last_start(const uint8_t* text, int length) noexcept nogil:
    """Where the last character starts."""
    cdef int i = length - 1
    while i > 0 and text[i] & 0xC0 == 0x80:
        i -= 1
    return i


cdef str decode(const uint8_t* text, size_t length):
    """UTF-8 to str; Hangul, most of what there is, without the general decoder."""
    cdef size_t i, n = length // 3, rest = length - 3 * n
    cdef uint32_t c
    cdef uint16_t* out
    cdef object made
    if n == 0 or text[0] < 0xEA or rest > 1 or (rest and text[length - 1] != c'~'):
        return PyUnicode_DecodeUTF8(<const char*> text, length, "replace")
    made = PyUnicode_New(n + rest, 0xFFFF)
    out = <uint16_t*> PyUnicode_DATA(made)
    for i in range(n):
        c = (text[3 * i] & 15) << 12 | (text[3 * i + 1] & 63) << 6 | (text[3 * i + 2] & 63)
        if text[3 * i] >> 4 != 14 or c < 0xAC00 or c > 0xD7A3:
            return PyUnicode_DecodeUTF8(<const char*> text, length, "replace")
        out[i] = <uint16_t> c
    if rest:
        out[n] = c'~'
    return <str> made


cdef object english_terms = None    # loaded with the first Latin word, and the stemmer with it


cdef int add_string(Terms* terms, int field, float weight, str text) except -1:
    cdef bytes encoded = text.encode()
    add_bytes(terms, field, weight, encoded, <int> len(encoded))
    return 0


cdef int latin_terms(int kind, const uint8_t* text, size_t length, Terms* out) except -1:
    """Terms of a Latin word or identifier, and whether it is a stop word."""
    global english_terms
    cdef list both, others
    cdef Py_ssize_t i
    if english_terms is None:
        from memtree._english import latin_terms as english_terms
    both, others, is_stop = english_terms(decode(text, length), kind == IDENTIFIER)
    out.is_stop = is_stop
    add_string(out, 0, 0.5 if others else 1.0, both[0])
    set_best(out)
    for i in range(len(others)):
        add_string(out, 0, <float> (0.5 / len(others)), others[i])
    add_string(out, 1, 1.0, both[0])
    for i in range(1, len(both)):
        add_string(out, DOCUMENT_B, 1.0, both[i])
    return 0
