"""Terms of single texts as strings, without an index: what `analysis` offers."""

from libc.stdint cimport uint8_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from memtree._korean cimport (
    MAX_CANDIDATES, MAX_KEY, MAX_SYLLABLES, Candidates, find_candidates, rank_stems, replace_variants, weigh,
)
from memtree._support cimport Support, fill_support
from memtree._terms cimport (
    DOCUMENT_B, Term, Terms, clear_terms, decode, document_terms, free_terms, latin_terms, query_terms, simple_terms,
)
from memtree._text cimport (
    HANGUL_GLUED, IDENTIFIER, LATIN, PAIR, Scanner, Strings, decode_hangul, encode_syllables, free_scanner, prepare,
    scan_text, strings_clear, strings_free, strings_get, strings_init,
)

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
    cdef str folded = prepare(text).replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")
    cdef Py_ssize_t i, j, kept = 0, n = len(folded)
    cdef list parts = []
    i = 0
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
        raise ValueError(f"word must be a run of 1 to {<int> MAX_SYLLABLES} Hangul syllables, not {word!r}")
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


cdef int surface_terms(int kind, const uint8_t* text, size_t length, bint query, Support support, Candidates* work,
                       Terms* out) except -1:
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


cdef class Analyser:
    """Surfaces met so far and their terms as tuples of strings: (s, b, is a stop word, weights of s)."""

    cdef Strings surfaces
    cdef list terms
    cdef Candidates work
    cdef bint query
    cdef Support support

    def __cinit__(self, bint query=False, Support support=None):
        if strings_init(&self.surfaces, 64, <uintptr_t> <void*> self):
            raise MemoryError
        self.terms = []
        self.query = query
        self.support = support

    def __dealloc__(self):
        strings_free(&self.surfaces)

    cdef int add(self, str text, list s, list b, list weights) except -1:
        """Append the terms of a text."""
        cdef Scanner scanner
        cdef Terms terms
        cdef const uint8_t* surface
        cdef size_t length
        cdef uint32_t id
        if self.surfaces.n > MEMO_SURFACES or self.surfaces.text_size > MEMO_BYTES:
            strings_clear(&self.surfaces)
            self.terms = []
        memset(&scanner, 0, sizeof(scanner))
        memset(&terms, 0, sizeof(terms))
        scanner.known = &self.surfaces
        scanner.adds = True
        try:
            scan_text(prepare(text), &scanner)
            for id in range(<uint32_t> len(self.terms), self.surfaces.n):
                surface = strings_get(&self.surfaces, id, &length)
                clear_terms(&terms)
                surface_terms(self.surfaces.tag[id], surface, length, self.query, self.support, &self.work, &terms)
                self.terms.append((field_strings(&terms, 0, self.query), field_strings(&terms, 1, self.query),
                                   terms.is_stop and (self.query or self.surfaces.tag[id] == LATIN),
                                   s_weights(&terms) if self.query else ()))
            if not self.append(&scanner, False, s, b, weights):
                self.append(&scanner, True, s, b, weights)
        finally:
            free_scanner(&scanner)
            free_terms(&terms)
        return 0

    cdef bint append(self, const Scanner* scanner, bint with_stop_words, list s, list b, list weights) except -1:
        """Append the terms of the scanned surfaces; False if all are stop words. A pair goes with either word."""
        cdef Py_ssize_t i
        cdef tuple entry
        cdef bint dropped = False, dropped_before = False, found = False
        for i in range(scanner.n):
            entry = <tuple> self.terms[scanner.ids[i]]
            if self.surfaces.tag[scanner.ids[i]] == PAIR:
                if dropped or dropped_before:
                    continue
            else:
                dropped_before = dropped
                dropped = entry[2] is True and not with_stop_words
                if dropped:
                    continue
                found = True
            s += <tuple> entry[0]
            b += <tuple> entry[1]
            if self.query:
                weights += <tuple> entry[3]
        return found


cdef tuple field_strings(const Terms* terms, int field, bint query):
    """Terms of a field."""
    cdef Py_ssize_t i
    cdef const Term* term
    cdef list found = []
    for i in range(terms.n):
        term = &terms.items[i]
        if term.field == field or (term.field == DOCUMENT_B and field == 1 and not query):
            found.append(decode(terms.text + term.start, term.length))
    return tuple(found)


cdef tuple s_weights(const Terms* terms):
    cdef Py_ssize_t i
    return tuple([terms.items[i].weight for i in range(terms.n) if terms.items[i].field == 0])


cdef Analyser memo = Analyser()     # static terms of documents


def terms_of(str text not None, bint query, Support support):
    """Terms of a text.

    Returns
    -------
    s, b : list of str
        Terms of the two fields, in order of appearance.
    weights : list of float
        Of the terms `s` of a query.
    """
    cdef list s = [], b = [], weights = []
    cdef Analyser analyser = memo
    if query or support is not None:
        analyser = Analyser(query, support)
    analyser.add(text, s, b, weights)
    return s, b, weights
