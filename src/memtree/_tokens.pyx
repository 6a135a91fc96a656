"""Terms of single texts as strings, without an index: what `analysis` offers."""

from cpython.list cimport PyList_New
from cpython.object cimport PyObject
from cpython.pythread cimport (
    NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_release_lock, PyThread_type_lock,
)
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint8_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memset

from memtree._korean cimport (
    MAX_CANDIDATES, MAX_KEY, MAX_SYLLABLES, Candidates, find_candidates, rank_stems, replace_variants, weigh,
)
from memtree._support cimport Support, fill_support
from memtree._terms cimport (
    DOCUMENT_B, Term, Terms, clear_terms, decode, document_terms, free_terms, latin_terms, query_terms,
    simple_terms,
)
from memtree._text cimport (
    HANGUL_GLUED, IDENTIFIER, LATIN, NO_ID, PAIR, Scanner, Strings, decode_hangul, encode_syllables,
    free_scanner, prepare, scan_text, strings_clear, strings_free, strings_get, strings_init,
)

from unicodedata import normalize as normal_form

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object, Py_ssize_t)
    void PyList_SET_ITEM(object, Py_ssize_t, object)

cdef enum:
    FIRST = 0xAC00, LAST = 0xD7A3
    MEMO_SURFACES = 1 << 17     # forgotten all at once when there are more,
    MEMO_BYTES = 1 << 23        # or when they are longer


def normalize(str text not None):
    """NFKC in lower case, without thousands separators and with one spelling of each loanword.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    cdef str folded = normal_form("NFKC", text).replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")
    cdef Py_ssize_t i = 0, j, kept = 0, n = len(folded)
    cdef list parts = []
    while i < n:
        if FIRST <= <uint32_t> folded[i] <= LAST:
            j = i + 1
            while j < n and FIRST <= <uint32_t> folded[j] <= LAST:
                j += 1
            parts.append(folded[kept:i])
            parts.append(respell(folded[i:j]))
            i = kept = j
        elif folded[i] == ',' and is_thousands(folded, i, n):
            parts.append(folded[kept:i])
            i += 1
            kept = i
        else:
            i += 1
    parts.append(folded[kept:])
    return "".join(parts)


cdef bint is_digit(Py_UCS4 c):
    return '0' <= c <= '9'


cdef bint is_thousands(str text, Py_ssize_t i, Py_ssize_t n):
    """Whether the comma at `i` stands between a digit and exactly three digits."""
    return (0 < i < n - 3 and is_digit(text[i - 1]) and is_digit(text[i + 1]) and is_digit(text[i + 2])
            and is_digit(text[i + 3]) and (i + 4 == n or not is_digit(text[i + 4])))


cdef str respell(str run):
    """A Hangul run with its spelling variants replaced."""
    cdef Py_ssize_t i, n = len(run), room = 3 * n // 2 + 8
    cdef Py_UCS4* source = <Py_UCS4*> malloc(n * sizeof(Py_UCS4))
    cdef Py_UCS4* out = <Py_UCS4*> malloc(room * sizeof(Py_UCS4))
    cdef uint8_t* text = <uint8_t*> malloc(3 * room)
    try:
        if source == NULL or out == NULL or text == NULL:
            raise MemoryError
        for i in range(n):
            source[i] = run[i]
        n = replace_variants(source, n, out)
        return decode(text, encode_syllables(out, n, text))
    finally:
        free(source)
        free(out)
        free(text)


def stem(str word not None, Support support=None):
    """Stems of a Hangul run.

    Parameters
    ----------
    word : str
        A run of 1 to 64 Hangul syllables (after `normalize`).
    support : Support, optional
        What an index has seen; without it analysis is static.

    Returns
    -------
    list of (str, float)
        Stems with their posterior, best first; a predicate ends in ``~``.

    Raises
    ------
    ValueError
        `word` is no such run.
    """
    cdef Py_UCS4 run[MAX_SYLLABLES]
    cdef Candidates work
    cdef str surface = normalize(word)
    cdef bytes text = surface.encode("utf-8", "surrogatepass")
    cdef int i, n = decode_hangul(text, len(text), run, MAX_SYLLABLES)
    cdef list found = []
    if n == 0:
        raise ValueError(f"word must be 1 to {<int> MAX_SYLLABLES} Hangul syllables, not {word!r}")
    find_candidates(run, n, &work)
    weigh_by(support, surface, &work)
    rank_stems(&work)
    for i in range(work.n_stems):
        found.append((key_string(&work, i), work.stems[i].posterior))
    return found


cdef str key_string(const Candidates* work, int i):
    cdef uint8_t text[3 * MAX_KEY]
    cdef int size = encode_syllables(&work.pool[work.stems[i].key], work.stems[i].length, text)
    return decode(text, size) + ("~" if work.stems[i].predicate else "")


cdef int weigh_by(Support support, str surface, Candidates* work) except -1:
    cdef double others[MAX_CANDIDATES]
    if support is None:
        weigh(work, NULL)
    else:
        fill_support(&support.sums, work, support.root_count(surface), others)
        weigh(work, others)
    return 0


cdef int surface_terms(int kind, const uint8_t* text, size_t length, bint query, Support support,
                       Candidates* work, Terms* out) except -1:
    """Terms of one surface, appended to `out`."""
    cdef Py_UCS4 run[MAX_SYLLABLES]
    cdef double others[MAX_CANDIDATES]
    cdef const double* weights = NULL
    cdef int n
    if kind == LATIN or kind == IDENTIFIER:
        latin_terms(kind, text, length, out)
    elif kind > HANGUL_GLUED:
        simple_terms(kind, text, <int> length, out)
    else:
        n = decode_hangul(text, length, run, MAX_SYLLABLES)
        find_candidates(run, n, work)
        if support is not None:
            fill_support(&support.sums, work, support.root_count(decode(text, length)), others)
            weights = others
        if query:
            query_terms(kind, work, weights, run, n, out)
        else:
            document_terms(work, weights, run, n, out)
    if out.failed:
        raise MemoryError
    return 0


cdef void drop_stop_words(const uint8_t* flags, uint32_t* ids, Py_ssize_t n) noexcept nogil:
    """Overwrite stop words, and pairs with one, by `NO_ID`, if anything else is there. `flags` of each surface."""
    cdef Py_ssize_t i
    cdef bint dropped = False, dropped_before = False
    for i in range(n):
        if not flags[ids[i]]:
            break
    else:
        return
    for i in range(n):
        if flags[ids[i]] & IS_PAIR:
            if dropped or dropped_before:
                ids[i] = NO_ID
        else:
            dropped_before = dropped
            dropped = flags[ids[i]]
            if dropped:
                ids[i] = NO_ID


cdef struct Entry:              # terms of one surface
    Py_ssize_t start, middle, end   # in `Analyser.strings`: field s, then field b
    Py_ssize_t weights              # of field s, in `Analyser.weights`


cdef class Analyser:
    """Surfaces met so far and their terms as strings."""

    cdef Strings surfaces
    cdef Entry* entries
    cdef uint8_t* flags             # of each entry
    cdef uint32_t n_entries, capacity
    cdef list strings
    cdef list weights
    cdef Candidates work
    cdef bint query
    cdef Support support

    def __cinit__(self, bint query=False, Support support=None):
        if strings_init(&self.surfaces, 64, <uintptr_t> <void*> self):
            raise MemoryError
        self.query = query
        self.support = support
        self.strings = []
        self.weights = []

    def __dealloc__(self):
        strings_free(&self.surfaces)
        free(self.entries)
        free(self.flags)

    cdef tuple analyse(self, str text):
        """The terms of a text: s, b, weights of s."""
        cdef Scanner scanner
        cdef Terms terms
        if self.surfaces.n > MEMO_SURFACES or self.surfaces.text_size > MEMO_BYTES:
            strings_clear(&self.surfaces)
            self.n_entries = 0
            self.strings = []
            self.weights = []
        memset(&scanner, 0, sizeof(scanner))
        memset(&terms, 0, sizeof(terms))
        scanner.known = &self.surfaces
        scanner.adds = True
        try:
            scan_text(prepare(text), &scanner)
            while self.n_entries < self.surfaces.n:
                self.add_entry(&terms)
            return self.collect(&scanner)
        finally:
            free_scanner(&scanner)
            free_terms(&terms)

    cdef int add_entry(self, Terms* terms) except -1:
        """Find the terms of the next new surface."""
        cdef uint32_t id = self.n_entries
        cdef size_t length
        cdef const uint8_t* surface = strings_get(&self.surfaces, id, &length)
        cdef void* grown
        cdef Entry* entry
        if id == self.capacity:
            grown = realloc(self.entries, 2 * (self.capacity + 32) * sizeof(Entry))
            if grown == NULL:
                raise MemoryError
            self.entries = <Entry*> grown
            grown = realloc(self.flags, 2 * (self.capacity + 32))
            if grown == NULL:
                raise MemoryError
            self.flags = <uint8_t*> grown
            self.capacity = 2 * (self.capacity + 32)
        clear_terms(terms)
        surface_terms(self.surfaces.tag[id], surface, length, self.query, self.support, &self.work, terms)
        entry = &self.entries[id]
        self.flags[id] = IS_PAIR if self.surfaces.tag[id] == PAIR else 0
        if terms.is_stop and (self.query or self.surfaces.tag[id] == LATIN):
            self.flags[id] |= IS_STOP
        entry.weights = len(self.weights)
        entry.start = len(self.strings)
        self.add_strings(terms, 0)
        entry.middle = len(self.strings)
        self.add_strings(terms, 1)
        entry.end = len(self.strings)
        self.n_entries += 1
        return 0

    cdef int add_strings(self, const Terms* terms, int field) except -1:
        cdef Py_ssize_t i
        cdef const Term* term
        cdef const Term* before = NULL
        cdef str string = None
        for i in range(terms.n):
            term = &terms.items[i]
            if term.field != field and (term.field != DOCUMENT_B or field == 0 or self.query):
                continue
            if before == NULL or not same_bytes(terms, term, before):
                string = decode(terms.text + term.start, term.length)
            before = term
            self.strings.append(string)
            if self.query and field == 0:
                self.weights.append(term.weight)
        return 0

    cdef tuple collect(self, const Scanner* scanner):
        """The terms of the scanned surfaces: no stop words, nor pairs with one, if anything else is there."""
        cdef Py_ssize_t i, n_s = 0, n_b = 0, j
        cdef const Entry* entry
        cdef list s, b
        cdef list weights = []
        cdef list strings = self.strings
        drop_stop_words(self.flags, scanner.ids, scanner.n)
        for i in range(scanner.n):
            if scanner.ids[i] != NO_ID:
                entry = &self.entries[scanner.ids[i]]
                n_s += entry.middle - entry.start
                n_b += entry.end - entry.middle
        s = PyList_New(n_s)
        b = PyList_New(n_b)
        n_s = n_b = 0
        for i in range(scanner.n):
            if scanner.ids[i] == NO_ID:
                continue
            entry = &self.entries[scanner.ids[i]]
            for j in range(entry.start, entry.middle):
                set_item(s, n_s, strings, j)
                n_s += 1
                if self.query:
                    weights.append(self.weights[entry.weights + j - entry.start])
            for j in range(entry.middle, entry.end):
                set_item(b, n_b, strings, j)
                n_b += 1
        return s, b, weights


cdef inline void set_item(list target, Py_ssize_t i, list source, Py_ssize_t j) noexcept:
    """``target[i] = source[j]`` for a new list."""
    cdef PyObject* item = PyList_GET_ITEM(source, j)
    Py_INCREF(<object> item)
    PyList_SET_ITEM(target, i, <object> item)


cdef inline bint same_bytes(const Terms* terms, const Term* a, const Term* b) noexcept nogil:
    return a.length == b.length and memcmp(terms.text + a.start, terms.text + b.start, a.length) == 0


cdef Analyser memo = Analyser()     # static terms of documents; whoever finds it in use takes a new one
cdef PyThread_type_lock memo_lock = PyThread_allocate_lock()


def terms_of(str text not None, bint query, Support support):
    """Terms of a text.

    Returns
    -------
    s, b : list of str
        Terms of the two fields, in order of appearance.
    weights : list of float
        Of the terms `s` of a query.
    """
    if query or support is not None:
        return Analyser(query, support).analyse(text)
    if memo_lock == NULL or not PyThread_acquire_lock(memo_lock, NOWAIT_LOCK):
        return Analyser().analyse(text)
    try:
        return memo.analyse(text)
    finally:
        PyThread_release_lock(memo_lock)
