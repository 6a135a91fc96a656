"""From text to surfaces, in one pass and without a Python object a character.

A *surface* is what the scanner yields: a kind and a normalised text. The terms of a document depend on
nothing but its bag of surfaces (and on the support of stems, `_support.pyx`), so each distinct surface is
analysed once (`_terms.pyx`).
"""

from libc.stdint cimport uint16_t
from libc.stdlib cimport calloc, free, malloc, realloc

from memtree._korean cimport MAX_SYLLABLES, drop_glued, replace_variants

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object)
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil
    bint Py_UNICODE_ISALNUM(Py_UCS4) nogil

cdef extern from "_strings.h" nogil:
    uint64_t mix_words "memtree_mix"(uint64_t, uint64_t)

cdef extern from "_tables.h" nogil:
    const uint32_t IS_PLAIN[]
    const uint8_t SCRIPT_PAGE[]
    const uint8_t SCRIPT[]
    const uint8_t VARIANT_FIRST[]

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
    FIRST = 0xAC00
    LAST = 0xD7A3
    FIRST_CONSONANT = 0x3131, LAST_CONSONANT = 0x314E, LAST_VOWEL = 0x3163
    CLUSTERS = 0x8FE34      # ㄳ ㄵ ㄶ ㄺ ㄻ ㄼ ㄽ ㄾ ㄿ ㅀ ㅄ, bits from ㄱ on
    CAPITAL_DOTTED_I = 0x130, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2


# ---------------------------------------------------------------------------------------------- characters

cdef inline int class_of(uint32_t c) noexcept nogil:
    if c < 0x10000:
        return SCRIPT[(<int> SCRIPT_PAGE[c >> 8] << 8) + (c & 255)]
    if 0x20000 <= c < 0x40000:
        return IDEOGRAPH
    return OTHER_SCRIPT if Py_UNICODE_ISALNUM(c) else SEPARATOR


cdef inline bint is_plain(uint32_t c) noexcept nogil:
    """Whether the scanner reads the character like its NFKC form wherever it stands."""
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


cdef inline void encode_syllable(uint32_t c, uint8_t* out) noexcept nogil:
    out[0] = <uint8_t> (0xE0 | c >> 12)
    out[1] = <uint8_t> (0x80 | c >> 6 & 63)
    out[2] = <uint8_t> (0x80 | c & 63)


cdef int encode_syllables(const Py_UCS4* run, Py_ssize_t n, uint8_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        encode_syllable(run[i], out + 3 * i)
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


cdef inline bint is_separate_jamo(const char_t* text, Py_ssize_t i) noexcept nogil:
    """Whether the jamo at `i` joins no character (as in ㅋㅋ, ㅠㅠ), so that it only separates."""
    cdef uint32_t c = text[i], before
    if FIRST_CONSONANT <= c <= LAST_CONSONANT:
        return not CLUSTERS >> (c - FIRST_CONSONANT) & 1    # clusters are finals, and join the syllable before
    if c < FIRST_CONSONANT or c > LAST_VOWEL:
        return False
    before = text[i - 1] if i else 0
    return not (FIRST_CONSONANT <= before <= LAST_CONSONANT or 0x1100 <= before < 0x1200)


cdef bint all_plain(const char_t* text, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = 0, j
    cdef uint32_t c
    cdef int others
    while i < n:
        if n - i >= 32:     # most characters are ASCII or Hangul: many at a time, without a look at the table
            others = 0
            for j in range(i, i + 32):
                others |= (text[j] >= 128) & (<uint32_t> text[j] - <uint32_t> FIRST > <uint32_t> (LAST - FIRST))
            if not others:
                i += 32
                continue
        for j in range(i, min(i + 32, n)):
            c = text[j]
            if c >= 128 and not is_plain(c) and not is_separate_jamo(text, j):
                return False
        i += 32
    return True


cdef str prepare(str text):
    """The text in NFKC; the same object if the scanner reads it alike."""
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


cdef void intern_batch(Scanner* scanner) noexcept nogil:
    """Append the surfaces that wait in the batch."""
    cdef int n = scanner.batch.n
    while scanner.n + n > scanner.capacity:
        if not grow_scanner(scanner):
            scanner.batch.n = scanner.batch.used = 0
            return
    if batch_intern(scanner.batch, scanner.known, scanner.ids + scanner.n):
        scanner.batch.n = scanner.batch.used = 0
        scanner.failed = True
    else:
        scanner.n += n


cdef inline void emit(Scanner* scanner, int kind, const uint8_t* text, size_t length, Py_ssize_t start,
                      Py_ssize_t end) noexcept nogil:
    """Intern a surface and append it."""
    cdef uint32_t id
    if scanner.batch != NULL:
        if not batch_fits(scanner.batch, length):
            intern_batch(scanner)
        batch_add(scanner.batch, scanner.known, text, length, <uint8_t> kind)
        return
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


cdef bint is_border(const uint32_t* word, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Whether a part of a camelCase word starts at `i`: aB, or AB before two small letters (HTMLText)."""
    if not is_upper(word[i]):
        return False
    if is_upper(word[i - 1]):
        return i + 2 < n and is_lower(word[i + 1]) and is_lower(word[i + 2])
    return is_lower(word[i - 1])


cdef inline Py_ssize_t skip_joiner(const char_t* text, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """The end of the joiner at `i` (underscores, or one of . / \\ - with underscores beside it), or `i`."""
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
    emit(scanner, IDENTIFIER if is_identifier else LATIN, out, size, start, end)


cdef inline Py_ssize_t scan_simple_word(const char_t* text, Py_ssize_t i, Py_ssize_t n, Scanner* scanner,
                                        bint* ends_in_digit) noexcept nogil:
    """Emit the word at `i` if it is small ASCII letters and digits after a first letter of any case, and what follows
    joins nothing to it; return its end, or `i` if it must be looked at more closely."""
    cdef uint8_t out[MAX_WORD]
    cdef uint32_t c = text[i]
    cdef Py_ssize_t length = 1, room = min(n - i, <Py_ssize_t> MAX_WORD)
    if c >= 128:
        return i
    out[0] = <uint8_t> (c | 32)     # digits have that bit
    while length < room:
        c = text[i + length]
        if not (c'a' <= c <= c'z' or c'0' <= c <= c'9'):
            break
        out[length] = <uint8_t> c
        length += 1
    if i + length < n:
        if length == MAX_WORD:
            return i
        if c == c'.' or c == c',':
            c = c' ' if i + length + 1 == n else text[i + length + 1]
        if c != c' ' and c != c'\n':
            return i
    emit(scanner, LATIN, out, length, i, i + length)
    ends_in_digit[0] = is_digit(out[length - 1])
    return i + length


cdef Py_ssize_t scan_word(const char_t* text, Py_ssize_t i, Py_ssize_t n, Scanner* scanner,
                          bint* ends_in_digit) noexcept nogil:
    """Emit the Latin word or identifier that starts at `i`; return its end. Hyphens alone join no words."""
    cdef uint32_t word[MAX_WORD]
    cdef Py_ssize_t starts[MAX_WORD]    # of the characters of `word` in the text
    cdef Py_ssize_t j, k
    cdef int length = 0, c, first = 0
    cdef bint joined = False, hyphens = False, digits = False
    j = scan_simple_word(text, i, n, scanner, ends_in_digit)
    if j > i:
        return j
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
    cdef int may_vary = glued
    single[0] = 0
    buffer[0] = 0
    while i < n and FIRST <= text[i] <= LAST:
        if i - start < MAX_SYLLABLES:
            encode_syllable(text[i], out + 3 * (i - start))
            may_vary |= VARIANT_FIRST[text[i] - FIRST]
        i += 1
    length = i - start
    if not may_vary and length <= MAX_SYLLABLES:    # most runs
        emit(scanner, HANGUL, out, 3 * length, start, i)
        if length == 1:
            single[0] = text[start]
        return i
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
            if glued == 2 and length == 1 and run[0] in '일인만엔':
                kind = COUNTER
            if kind != HANGUL_GLUED or not drop_glued(run, <int> length):
                emit(scanner, kind, out, encode_syllables(run, length, out), start, i)
                if length == 1:
                    single[0] = run[0]
    if raw != buffer:
        free(raw)
        free(run)
    return i


cdef Py_ssize_t scan_other(const char_t* text, Py_ssize_t i, Py_ssize_t n, Scanner* scanner,
                           int c) noexcept nogil:
    """Emit the run of letters of class `c` (Han, kana, another script) that starts at `i`; return its end."""
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
        if scanner.batch != NULL:
            intern_batch(scanner)
    if scanner.failed:
        raise MemoryError
    return 0


# ------------------------------------------------------------------------------------------- mode "prefix"

cdef str scan_tokens(str text, Scanner* scanner):
    """Emit the tokens in lower case, what the regular expression `\\w+` finds; return the text in NFKC."""
    cdef uint8_t out[4 * MAX_WORD]
    cdef Py_ssize_t i, start = 0
    cdef int size = 0, length = 0
    cdef uint32_t c
    if not PyUnicode_IS_ASCII(text):
        from unicodedata import normalize
        text = normalize("NFKC", text)
    for i in range(len(text)):
        c = text[i]
        if c == c'_' or Py_UNICODE_ISALNUM(c):
            if length == 0:
                start = i
            size += encode(lower(c), out + size)
            length += 1
            if length < MAX_WORD:
                continue
            i += 1
        if length:
            emit(scanner, TOKEN, out, size, start, i)
            size = length = 0
    if length:
        emit(scanner, TOKEN, out, size, start, len(text))
    if scanner.failed:
        raise MemoryError
    return text


cdef class PrefixTrie:
    """Index keywords as a trie, for the question which of them a token starts with or contains.

    Parameters
    ----------
    keywords : iterable of str
        In index order; an empty one never matches.
    """

    def __cinit__(self, keywords):
        cdef str keyword
        cdef Py_UCS4 c
        cdef uint64_t i, key, size = 0
        cdef uint32_t node, order, n_nodes = 1
        self.keywords = tuple(keywords)
        for keyword in self.keywords:
            size += len(keyword)
        self.n_edges = 16
        while self.n_edges < 2 * size:
            self.n_edges *= 2
        self.edges = <Edge*> calloc(self.n_edges, sizeof(Edge))
        self.ends = <uint32_t*> malloc((size + 1) * sizeof(uint32_t))
        self.least = <uint32_t*> malloc((size + 1) * sizeof(uint32_t))
        if self.edges == NULL or self.ends == NULL or self.least == NULL:
            raise MemoryError
        self.ends[0] = NO_ID
        for order, keyword in enumerate(self.keywords):
            node = 0
            for c in keyword:
                key = (<uint64_t> node << 32 | <uint32_t> c) + 1
                i = mix_words(key, 1) & (self.n_edges - 1)
                while self.edges[i].key and self.edges[i].key != key:
                    i = (i + 1) & (self.n_edges - 1)
                if self.edges[i].key == 0:
                    self.edges[i].key = key
                    self.edges[i].child = n_nodes
                    self.ends[n_nodes] = NO_ID
                    self.least[n_nodes] = order
                    n_nodes += 1
                node = self.edges[i].child
            if node and self.ends[node] == NO_ID:
                self.ends[node] = order

    def __dealloc__(self):
        free(self.edges)
        free(self.ends)
        free(self.least)

    cdef inline uint32_t child(self, uint32_t node, uint32_t c) noexcept nogil:
        """The node that a character leads to; 0, the root, for none."""
        cdef uint64_t key = (<uint64_t> node << 32 | c) + 1
        cdef uint64_t i = mix_words(key, 1) & (self.n_edges - 1)
        while self.edges[i].key:
            if self.edges[i].key == key:
                return self.edges[i].child
            i = (i + 1) & (self.n_edges - 1)
        return 0

    cdef uint32_t find(self, str token):
        cdef Py_ssize_t start, i, n = len(token)
        cdef uint32_t node, best = NO_ID
        for start in range(n):
            node = 0
            for i in range(start, n):
                node = self.child(node, token[i])
                if node == 0 or self.least[node] >= best:
                    break
                best = min(best, self.ends[node])
        return best

    def first(self, str token not None):
        """The first keyword, in index order, that `token` starts with or contains; None if there is none."""
        cdef uint32_t found = self.find(token)
        return None if found == NO_ID else self.keywords[found]

    cdef str replace(self, str token):
        """That keyword, or else the token itself."""
        cdef uint32_t found = self.find(token)
        return token if found == NO_ID else self.keywords[found]
