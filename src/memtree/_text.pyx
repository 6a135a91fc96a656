"""From text to surfaces to terms, in one pass and without a Python object a character.

A *surface* is what the scanner yields: a kind and a normalised text. The terms of a document depend on nothing but its
bag of surfaces (and on the support, see `_lexicon.pyx`), so each distinct surface is analysed once.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from memtree._korean cimport (
    MAX_SYLLABLES, Stem, drop_glued, find_candidates, has_ss, in_ask, rank_stems, replace_variants, stop_word,
    weigh,
)

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object)
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil
    bint Py_UNICODE_ISALNUM(Py_UCS4) nogil

cdef extern from "_tables.h" nogil:
    const uint32_t IS_PLAIN[]
    const uint8_t SCRIPT_PAGE[]
    const uint8_t SCRIPT[]
    const char ENGLISH_IRREGULAR[]
    const char ENGLISH_STOP_WORDS[]

ctypedef fused char_t:
    uint8_t
    uint16_t
    uint32_t

# Classes of characters, see `script` in data/generate.py; from 8 on other scripts, a number each.
cdef enum:
    SEPARATOR = 0, LATIN_LETTER = 1, DIGIT = 2, SYLLABLE = 3, IDEOGRAPH = 4, KANA_LETTER = 5, MARK = 6
    FIRST_OTHER = 8, OTHER_SCRIPT = 255

cdef enum:
    MAX_WORD = 255          # longer words are cut
    MAX_STATIC = 20         # no more stems can reach the least posterior of a document's term
    FIRST = 0xAC00
    LAST = 0xD7A3
    CAPITAL_DOTTED_I = 0x130, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2


cdef double DOCUMENT_LEAST = 0.05   # least posterior of a stem to become a term of a document,
cdef double QUERY_LEAST = 0.15      # of a query
cdef double RUN_WEIGHT = 0.3        # of the whole run in a query


# ---------------------------------------------------------------------------------------------- characters

cdef inline int class_of(uint32_t c) noexcept nogil:
    if c < 0x10000:
        return SCRIPT[(<int> SCRIPT_PAGE[c >> 8] << 8) + (c & 255)]
    if 0x20000 <= c < 0x40000:
        return IDEOGRAPH
    return OTHER_SCRIPT if Py_UNICODE_ISALNUM(c) else SEPARATOR


cdef inline bint is_plain(uint32_t c) noexcept nogil:
    """Whether NFKC keeps the character wherever it stands."""
    if c < 0x10000:
        return IS_PLAIN[c >> 5] >> (c & 31) & 1
    return 0x1F300 <= c < 0x1FB00 or 0x20000 <= c < 0x2F800


cdef inline bint is_digit(uint32_t c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef inline bint is_upper(uint32_t c) noexcept nogil:
    return c'A' <= c <= c'Z' or (c > 127 and c != CAPITAL_DOTTED_I and Py_UNICODE_TOLOWER(c) != c)


cdef inline uint32_t lower(uint32_t c) noexcept nogil:
    if c < 128:
        return c | 32 if c'A' <= c <= c'Z' else c
    c = Py_UNICODE_TOLOWER(c)  # \u0130 gives i
    return SMALL_SIGMA if c == FINAL_SIGMA else c


cdef inline int encode(uint32_t c, uint8_t* out) noexcept nogil:
    """Write a code point as UTF-8; return the number of bytes, at most 4."""
    if c < 0x80:
        out[0] = <uint8_t> c
        return 1
    if c < 0x800:
        out[0] = <uint8_t> (0xC0 | c >> 6)
        out[1] = <uint8_t> (0x80 | c & 63)
        return 2
    if c < 0x10000:
        out[0] = <uint8_t> (0xE0 | c >> 12)
        out[1] = <uint8_t> (0x80 | c >> 6 & 63)
        out[2] = <uint8_t> (0x80 | c & 63)
        return 3
    out[0] = <uint8_t> (0xF0 | c >> 18)
    out[1] = <uint8_t> (0x80 | c >> 12 & 63)
    out[2] = <uint8_t> (0x80 | c >> 6 & 63)
    out[3] = <uint8_t> (0x80 | c & 63)
    return 4


cdef int encode_syllables(const Py_UCS4* run, Py_ssize_t n, uint8_t* out) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint32_t c
    for i in range(n):
        c = run[i]
        out[3 * i] = <uint8_t> (0xE0 | c >> 12)
        out[3 * i + 1] = <uint8_t> (0x80 | c >> 6 & 63)
        out[3 * i + 2] = <uint8_t> (0x80 | c & 63)
    return <int> (3 * n)


cdef int decode_hangul(const uint8_t* text, size_t length, Py_UCS4* out, int room) noexcept nogil:
    """Read UTF-8 that should be Hangul syllables; return their number, 0 if it is something else."""
    cdef size_t i = 0
    cdef int n = 0
    cdef uint32_t c
    while i + 3 <= length and n < room:
        c = (text[i] & 15) << 12 | (text[i + 1] & 63) << 6 | (text[i + 2] & 63)
        if c < FIRST or c > LAST:
            return 0
        out[n] = <Py_UCS4> c
        n += 1
        i += 3
    return n if i == length else 0


cdef bint all_plain(const char_t* text, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if text[i] >= 128 and not is_plain(text[i]):
            return False
    return True


cdef str prepare(str text):
    """The text in NFKC; the same object if it is so already."""
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef bint plain
    if PyUnicode_IS_ASCII(text):
        return text
    with nogil:
        if kind == 1:
            plain = all_plain(<uint8_t*> data, n)
        elif kind == 2:
            plain = all_plain(<uint16_t*> data, n)
        else:
            plain = all_plain(<uint32_t*> data, n)
    if plain:
        return text
    from unicodedata import normalize
    return normalize("NFKC", text)


# ------------------------------------------------------------------------------------------------- scanner

cdef void free_scanner(Scanner* scanner) noexcept nogil:
    free(scanner.ids)
    free(scanner.spans)
    scanner.ids = NULL
    scanner.spans = NULL
    scanner.n = scanner.capacity = 0


cdef bint grow_scanner(Scanner* scanner) noexcept nogil:
    cdef Py_ssize_t capacity = max(64, 2 * scanner.capacity)
    cdef void* grown = realloc(scanner.ids, capacity * sizeof(uint32_t))
    if grown == NULL:
        scanner.failed = True
        return False
    scanner.ids = <uint32_t*> grown
    if scanner.with_spans:
        grown = realloc(scanner.spans, 2 * capacity * sizeof(uint32_t))
        if grown == NULL:
            scanner.failed = True
            return False
        scanner.spans = <uint32_t*> grown
    scanner.capacity = capacity
    return True


cdef inline void emit(Scanner* scanner, int kind, const uint8_t* text, size_t length, Py_ssize_t start,
                      Py_ssize_t end) noexcept nogil:
    """Intern a surface and append it."""
    cdef uint32_t id
    if scanner.n == scanner.capacity and not grow_scanner(scanner):
        return
    if scanner.adds:
        id = strings_intern(scanner.known, text, length, <uint8_t> kind)
        if id == NO_ID:
            scanner.failed = True
            return
    else:
        id = strings_lookup(scanner.known, text, length, <uint8_t> kind)
        if id == NO_ID:
            if scanner.unknown.capacity == 0 and strings_init(scanner.unknown, 16, scanner.known.seed):
                scanner.failed = True
                return
            id = strings_intern(scanner.unknown, text, length, <uint8_t> kind)
            if id == NO_ID:
                scanner.failed = True
                return
            id |= UNKNOWN
    scanner.ids[scanner.n] = id
    if scanner.with_spans:
        scanner.spans[2 * scanner.n] = <uint32_t> start
        scanner.spans[2 * scanner.n + 1] = <uint32_t> end
    scanner.n += 1


cdef inline bint at_thousands(const char_t* text, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Whether the comma at `i`, after a digit, stands before exactly three digits."""
    return (i + 3 < n and is_digit(text[i + 1]) and is_digit(text[i + 2]) and is_digit(text[i + 3])
            and (i + 4 == n or not is_digit(text[i + 4])))


cdef inline bint is_lower(uint32_t c) noexcept nogil:
    return c'a' <= c <= c'z' or (c > 127 and class_of(c) == LATIN_LETTER and not is_upper(c))


cdef inline bint is_border(const uint32_t* word, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Whether a part of a camel-case word starts at the capital `i`: aB, or AB before two small letters (HTMLText)."""
    if not is_upper(word[i]):
        return False
    if is_upper(word[i - 1]):
        return i + 2 < n and is_lower(word[i + 1]) and is_lower(word[i + 2])
    return is_lower(word[i - 1])


cdef inline Py_ssize_t skip_joiner(const char_t* text, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """The end of the joiner at `i`: underscores, or one of . / \\ - with underscores beside it; `i` if there is none."""
    cdef Py_ssize_t j = i, end = min(n, i + MAX_WORD)
    while j < end and text[j] == c'_':
        j += 1
    if j < end and (text[j] == c'.' or text[j] == c'/' or text[j] == c'\\' or text[j] == c'-'):
        j += 1
        while j < end and text[j] == c'_':
            j += 1
    return j


cdef void emit_word(const uint32_t* word, int length, bint is_identifier, Py_ssize_t start, Py_ssize_t end,
                    Scanner* scanner) noexcept nogil:
    """Emit a Latin word or identifier, in lower case unless its capitals part it."""
    cdef uint8_t out[4 * MAX_WORD]
    cdef int i, size = 0
    cdef bint camel = False
    for i in range(1, length):
        if is_border(word, i, length):
            camel = True
            break
    for i in range(length):
        size += encode(word[i] if camel else lower(word[i]), out + size)
    emit(scanner, IDENTIFIER if is_identifier or camel else LATIN, out, size, start, end)


cdef Py_ssize_t scan_word(const char_t* text, Py_ssize_t i, Py_ssize_t n, Scanner* scanner,
                          bint* ends_in_digit) noexcept nogil:
    """Emit the Latin word or identifier that starts at `i`; return its end. Words that hyphens alone join stay apart."""
    cdef uint32_t word[MAX_WORD]
    cdef Py_ssize_t starts[MAX_WORD]    # of the characters of `word` in the text
    cdef Py_ssize_t start = i, end = i, j, k
    cdef int length = 0, c, first = 0
    cdef bint joined = False, hyphens = False, digits = False
    while i < n and length < MAX_WORD:
        c = class_of(text[i])
        if c == LATIN_LETTER or c == DIGIT or (c == MARK and length and not is_digit(word[length - 1])):
            digits = digits or c == DIGIT
        elif text[i] == c',' and length and is_digit(word[length - 1]) and at_thousands(text, i, n):
            i += 1
            continue
        else:
            j = skip_joiner(text, i, n)
            if j == i or j >= n or j - i + length >= MAX_WORD:
                break
            c = class_of(text[j])
            if c != LATIN_LETTER and c != DIGIT:
                break
            if j == i + 1 and text[i] == c'-':
                hyphens = True
            else:
                joined = True
            for k in range(i, j):
                starts[length] = k
                word[length] = text[k]
                length += 1
            i = j
            continue
        starts[length] = i
        word[length] = text[i]
        length += 1
        i += 1
    k = i < n and FIRST <= text[i] <= LAST      # right before Hangul a word is never a stop word
    if hyphens and not joined:
        for j in range(length):
            if word[j] == c'-':
                emit_word(word + first, <int> j - first, False, starts[first], starts[j], scanner)
                first = <int> j + 1
    emit_word(word + first, length - first, joined or k, starts[first], i, scanner)
    ends_in_digit[0] = is_digit(word[length - 1])
    return i


cdef Py_ssize_t scan_hangul(const char_t* text, Py_ssize_t i, Py_ssize_t n, Scanner* scanner, int glued,
                            Py_UCS4* single) noexcept nogil:
    """Emit the Hangul run that starts at `i`; return its end. `glued`: 1 after a Latin word, 2 after a digit.
    `single` gets the run if it has one syllable, else 0."""
    cdef Py_UCS4 buffer[2 * MAX_SYLLABLES]
    cdef Py_UCS4 small[2 * MAX_SYLLABLES + 8]
    cdef uint8_t out[3 * MAX_SYLLABLES]
    cdef Py_UCS4* raw = buffer
    cdef Py_UCS4* run = small
    cdef Py_ssize_t start = i, length, j
    cdef int kind = HANGUL_GLUED if glued else HANGUL
    while i < n and FIRST <= text[i] <= LAST:
        i += 1
    length = i - start
    single[0] = 0
    if length > MAX_SYLLABLES:
        raw = <Py_UCS4*> malloc(length * sizeof(Py_UCS4))
        run = <Py_UCS4*> malloc((3 * length // 2 + 8) * sizeof(Py_UCS4))
    if raw == NULL or run == NULL:
        scanner.failed = True
    else:
        for j in range(length):
            raw[j] = <Py_UCS4> text[start + j]
        length = replace_variants(raw, length, run)
        if length > MAX_SYLLABLES:
            for j in range(length - 1):
                emit(scanner, HANGUL_LONG, out, encode_syllables(run + j, 2, out), start, i)
                if scanner.failed:
                    break
        else:
            if glued == 2 and length == 1 and (run[0] == '일' or run[0] == '인' or run[0] == '만'):
                kind = COUNTER
            if kind != HANGUL_GLUED or not drop_glued(run, <int> length):
                emit(scanner, kind, out, encode_syllables(run, length, out), start, i)
                if length == 1:
                    single[0] = run[0]
    if raw != buffer:
        free(raw)
        free(run)
    return i


cdef Py_ssize_t scan_other(const char_t* text, Py_ssize_t i, Py_ssize_t n, Scanner* scanner, int c) noexcept nogil:
    """Emit the run of letters of the class `c` (Han, kana, another script) that starts at `i`; return its end."""
    cdef uint8_t out[4 * MAX_WORD]
    cdef Py_ssize_t start = i
    cdef int size = 0, length = 0, following
    cdef int kind = HAN if c == IDEOGRAPH else KANA if c == KANA_LETTER else OTHER
    while i < n and length < MAX_WORD:
        following = class_of(text[i])
        if following != c and (following != MARK or c < FIRST_OTHER):
            break
        size += encode(lower(text[i]), out + size)
        length += 1
        i += 1
    emit(scanner, kind, out, size, start, i)
    return i


cdef void scan(const char_t* text, Py_ssize_t n, Scanner* scanner) noexcept nogil:
    """Emit the surfaces of NFKC text in order of appearance."""
    cdef Py_ssize_t i = 0, start, single_end = -2
    cdef int c, after = 0
    cdef Py_UCS4 single = 0, single_before = 0
    cdef Py_UCS4 pair[2]
    cdef uint8_t out[6]
    cdef bint ends_in_digit
    while i < n and not scanner.failed:
        c = class_of(text[i])
        if c == SEPARATOR or c == MARK:
            after = 0
            i += 1
            continue
        start = i
        if c == SYLLABLE:
            i = scan_hangul(text, i, n, scanner, after, &single)
            after = 0
            if single:
                if single_before and start == single_end + 1 and text[single_end] == c' ':
                    pair[0] = single_before
                    pair[1] = single
                    emit(scanner, PAIR, out, encode_syllables(pair, 2, out), start, i)
                single_end = i
            single_before = single
        elif c == LATIN_LETTER or c == DIGIT:
            i = scan_word(text, i, n, scanner, &ends_in_digit)
            after = 2 if ends_in_digit else 1
            single_before = 0
        else:
            i = scan_other(text, i, n, scanner, c)
            after = 0
            single_before = 0


cdef int scan_text(str text, Scanner* scanner) except -1:
    """Scan NFKC text of any width."""
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    with nogil:
        if kind == 1:
            scan(<uint8_t*> data, n, scanner)
        elif kind == 2:
            scan(<uint16_t*> data, n, scanner)
        else:
            scan(<uint32_t*> data, n, scanner)
    if scanner.failed:
        raise MemoryError
    return 0


# --------------------------------------------------------------------------------------------------- terms

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


cdef inline void add_bytes(Terms* terms, int field, float weight, const uint8_t* text, int length) noexcept nogil:
    cdef uint8_t* out = new_term(terms, field, weight, length)
    if out != NULL:
        memcpy(out, text, length)


cdef inline void set_best(Terms* terms) noexcept nogil:
    """Mark the last term as the best stem."""
    if terms.n:
        terms.best_start = terms.items[terms.n - 1].start
        terms.n_best = terms.items[terms.n - 1].length


cdef inline bint same_text(const Candidates* work, const Stem* stem, const Py_UCS4* run, int n) noexcept nogil:
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


# ------------------------------------------------------------------------------------------------- English

cdef object english_stem = None         # Snowball; loaded with the first word that it must stem
cdef dict irregular = None
cdef frozenset stop_words = None


cdef int load_english() except -1:
    global english_stem, irregular, stop_words
    from Stemmer import Stemmer
    cdef list words = (<const char*> ENGLISH_IRREGULAR).decode().split()
    irregular = dict(zip(words[::2], words[1::2]))
    stop_words = frozenset((<const char*> ENGLISH_STOP_WORDS).decode().split())
    english_stem = Stemmer("english", 0).stemWord
    return 0


cdef bint has_digit(str text):
    cdef Py_UCS4 c
    for c in text:
        if '0' <= c <= '9':
            return True
    return False


cdef str stem_english(str word):
    """The stem of a lower-case word, an irregular form by its base; a word with digits is left as it is."""
    if has_digit(word):
        return word
    return english_stem(irregular.get(word, word))


cdef str lower_text(str text):
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


cdef list leaves(str text):
    """Versions (v2.1.0) and what stands between . and - in a component of a path."""
    cdef list found = []
    cdef Py_ssize_t i = 0, j, k, n = len(text)
    while i < n:
        j = i + (text[i] == 'v' or text[i] == 'V')
        k = end_of_version(text, j, n)
        if k == j:
            k = i
            while k < n and text[k] != '.' and text[k] != '-':
                k += 1
        if k > i:
            found.append(text[i:k])
        i = max(k, i + 1)
    return found


cdef Py_ssize_t end_of_version(str text, Py_ssize_t i, Py_ssize_t n):
    """The end of digits, dot, digits and so on at `i`; `i` if there are not two numbers."""
    cdef Py_ssize_t start = i, end = i
    cdef int numbers = 0
    while i < n and '0' <= text[i] <= '9':
        while i < n and '0' <= text[i] <= '9':
            i += 1
        numbers += 1
        end = i
        if i >= n or text[i] != '.':
            break
        i += 1
    return end if numbers > 1 else start


cdef list split_word(str word, bint at_digits):
    """A word cut at its capitals (parseHTMLResponse), or between letters and digits."""
    cdef uint32_t letters[MAX_WORD]
    cdef Py_ssize_t i, start = 0, n = min(len(word), <Py_ssize_t> MAX_WORD)
    cdef list parts = []
    for i in range(n):
        letters[i] = word[i]
    for i in range(1, n):
        if is_digit(letters[i]) != is_digit(letters[i - 1]) if at_digits else is_border(letters, i, n):
            parts.append(word[start:i])
            start = i
    parts.append(word[start:])
    return parts


cdef int add_word(str word, list both, list only_s) except -1:
    """A run of Latin letters and digits: itself, its camelCase words, and letters and digits apart."""
    cdef str piece, part
    cdef list pieces, smaller
    both.append(stem_english(lower_text(word)))
    pieces = split_word(word, False)
    for piece in pieces:
        piece = lower_text(piece)
        if len(pieces) > 1 and piece not in stop_words:
            both.append(stem_english(piece))
        if has_digit(piece):
            smaller = split_word(piece, True)
            if len(smaller) > 1:
                for part in smaller:
                    if part not in stop_words:
                        only_s.append(stem_english(part))
    return 0


cdef int add_leaf(str leaf, bint alone, list both, list only_s) except -1:
    """A version, or words joined by underscores; stop words are no parts."""
    cdef str word
    cdef list words
    if "." in leaf:
        word = leaf.lstrip("vV")
        both.append(word)
        only_s.extend(word.split("."))
        return 0
    words = [word for word in leaf.split("_") if word]
    if len(words) > 1:
        both.append(lower_text(leaf.strip("_")))
        alone = False
    for word in words:
        if alone or lower_text(word) not in stop_words:
            add_word(word, both, only_s)
    return 0


cdef int add_identifier(str text, list both, list only_s) except -1:
    """Terms of an identifier: itself; of a path its components, their leaves and the words of those."""
    cdef str component, whole
    cdef list components = text.replace("\\", "/").split("/")
    cdef list found = [leaves(component) for component in components]
    cdef list wholes = [text] if len(components) > 1 else []
    cdef Py_ssize_t i
    for i in range(len(components)):
        if len(<list> found[i]) > 1:
            wholes.append(components[i])
    for whole in wholes:
        whole = lower_text(whole.strip("_"))
        if whole[0] == 'v' and end_of_version(whole, 1, len(whole)) > 1:
            whole = whole[1:]
        both.append(whole)
    for i in range(len(components)):
        for component in <list> found[i]:
            add_leaf(component, not wholes, both, only_s)
    return 0


cdef int add_string(Terms* terms, int field, float weight, str text) except -1:
    cdef bytes encoded = text.encode()
    add_bytes(terms, field, weight, encoded, <int> len(encoded))
    return 0


cdef int latin_terms(int kind, str text, Terms* out) except -1:
    """Terms of a Latin word or identifier, and whether it is a stop word."""
    cdef list both = [], only_s = []
    cdef list others
    cdef str term
    cdef Py_ssize_t i
    if english_stem is None:
        load_english()
    if kind == LATIN:
        out.is_stop = text in stop_words
        add_word(text, both, only_s)
    else:
        add_identifier(text, both, only_s)
    both = list(dict.fromkeys(both))
    others = both[1:] + [term for term in dict.fromkeys(only_s) if term not in both]
    term = both[0]
    add_string(out, 0, 0.5 if others else 1.0, term)
    set_best(out)
    for i in range(len(others)):
        add_string(out, 0, <float> (0.5 / len(others)), others[i])
    add_string(out, 1, 1.0, term)
    for i in range(1, len(both)):
        add_string(out, DOCUMENT_B, 1.0, both[i])
    return 0


# ------------------------------------------------------------------------------------------------ surfaces

cdef int surface_terms(int kind, const uint8_t* text, size_t length, Candidates* work, bint query,
                       Terms* out) except -1:
    """Static terms of one surface, appended to `out`."""
    cdef Py_UCS4 run[MAX_SYLLABLES]
    cdef int n
    if kind == LATIN or kind == IDENTIFIER:
        latin_terms(kind, PyUnicode_DecodeUTF8(<const char*> text, length, NULL), out)
    else:
        with nogil:
            n = decode_hangul(text, length, run, MAX_SYLLABLES) if kind <= HANGUL_GLUED else 0
            if n:
                find_candidates(run, n, work)
                if query:
                    query_terms(kind, work, NULL, run, n, out)
                else:
                    document_terms(work, NULL, run, n, out)
            else:
                simple_terms(kind, text, <int> length, out)
    if out.failed:
        raise MemoryError
    return 0


# ---------------------------------------------------------------------------------------------- plain text

cdef enum:
    MEMO_SURFACES = 1 << 17     # forgotten all at once when there are more
    MEMO_BYTES = 1 << 23


cdef class Memo:
    """Static terms of the surfaces met so far, as tuples of strings; bounded."""

    cdef Strings surfaces
    cdef list terms
    cdef Candidates work

    def __cinit__(self):
        if strings_init(&self.surfaces, 1 << 12, <uint64_t> <uintptr_t> &self.surfaces):
            raise MemoryError
        self.terms = []

    def __dealloc__(self):
        strings_free(&self.surfaces)

    cdef int add_terms(self, str text, list s, list b) except -1:
        """Append the terms of a document to the two lists."""
        cdef Scanner scanner
        cdef Terms terms
        cdef const uint8_t* surface
        cdef size_t length
        cdef Py_ssize_t i
        cdef uint32_t id
        cdef tuple entry
        cdef bint only_stop_words = True
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
                surface_terms(self.surfaces.tag[id], surface, length, &self.work, False, &terms)
                self.terms.append((field_strings(&terms, False), field_strings(&terms, True), terms.is_stop))
            for i in range(scanner.n):
                entry = <tuple> self.terms[scanner.ids[i]]
                if entry[2] is False:
                    only_stop_words = False
                    s += <tuple> entry[0]
                    b += <tuple> entry[1]
            if only_stop_words:
                for i in range(scanner.n):
                    entry = <tuple> self.terms[scanner.ids[i]]
                    s += <tuple> entry[0]
                    b += <tuple> entry[1]
        finally:
            free_scanner(&scanner)
            free_terms(&terms)
        return 0


cdef tuple field_strings(const Terms* terms, bint field):
    """Terms of a document in field s (0) or b (1)."""
    cdef Py_ssize_t i
    cdef const Term* term
    cdef list found = []
    for i in range(terms.n):
        term = &terms.items[i]
        if (term.field != 0) == field:
            found.append(PyUnicode_DecodeUTF8(<const char*> terms.text + term.start, term.length, NULL))
    return tuple(found)


cdef Memo memo = Memo()


def document_strings(str text):
    """Static terms of a document.

    Parameters
    ----------
    text : str

    Returns
    -------
    s, b : list of str
        The terms of the two fields, in order of appearance.
    """
    cdef list s = [], b = []
    memo.add_terms(text, s, b)
    return s, b
