"""Documents into rows of token ids: what an index build reads, without a Python object a token.

A token's id is its place in the order of first appearance. Texts are scanned one by one; surfaces that are
new are analysed many at a time, each once.
"""

from array import array

from cpython cimport array as c_array
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint32_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from memtree._korean cimport Candidates
from memtree._terms cimport Terms, clear_terms, decode, free_terms
from memtree._text cimport (
    LATIN, NO_ID, Scanner, Strings, free_scanner, prepare, scan_text, strings_clear, strings_free, strings_get,
    strings_init, strings_intern,
)
from memtree._tokens cimport drop_stop_words, surface_terms

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_ssize_t Py_SIZE(object) nogil

cdef c_array.array WORD = array("I")

cdef enum:
    MAX_PENDING = 1 << 18       # surfaces scanned but not yet turned into ids


cdef struct Vector:
    uint32_t* items
    Py_ssize_t n, capacity


cdef inline int reserve(Vector* vector, Py_ssize_t n) except -1 nogil:
    """Make room for `n` items more."""
    cdef Py_ssize_t capacity = vector.capacity
    cdef void* grown
    if vector.n + n > capacity:
        while vector.n + n > capacity:
            capacity = 2 * capacity + 64
        grown = realloc(vector.items, capacity * sizeof(uint32_t))
        if grown == NULL:
            with gil:
                raise MemoryError
        vector.items = <uint32_t*> grown
        vector.capacity = capacity
    return 0


cdef class TokenIds:
    """A vocabulary that grows while documents are read.

    Not safe for use by several threads at once.

    Parameters
    ----------
    memo_bytes : int
        Words whose analysis is remembered; when they take about so much memory, all are forgotten.
    """

    cdef Strings surfaces
    cdef Scanner scanner
    cdef Vector text_ends           # in `scanner.ids`, of the texts that wait there
    cdef Vector term_ends           # in `terms`, of each surface analysed
    cdef Vector terms               # numbers in `words`, or ids
    cdef uint8_t* is_stop           # of each surface analysed
    cdef uint8_t* is_numbered       # whether its terms are ids
    cdef uint32_t n_surfaces, capacity

    cdef Strings words              # tokens, numbered as they were analysed
    cdef Vector id_of_word          # `NO_ID` if no document has it so far
    cdef Vector word_of_id
    cdef c_array.array lengths, tokens      # of the documents read since `take`,
    cdef Py_ssize_t n_documents, n_tokens   # and how many there are: the arrays are larger
    cdef Py_ssize_t memo_bytes
    cdef Candidates work

    def __cinit__(self, Py_ssize_t memo_bytes=1 << 28):
        cdef uintptr_t seed = <uintptr_t> <void*> self
        if strings_init(&self.surfaces, 64, seed) or strings_init(&self.words, 64, seed):
            raise MemoryError
        self.scanner.known = &self.surfaces
        self.scanner.adds = True
        self.lengths, self.tokens = c_array.clone(WORD, 0, False), c_array.clone(WORD, 0, False)
        self.memo_bytes = memo_bytes

    def __dealloc__(self):
        strings_free(&self.surfaces)
        strings_free(&self.words)
        free_scanner(&self.scanner)
        free(self.text_ends.items)
        free(self.term_ends.items)
        free(self.terms.items)
        free(self.is_stop)
        free(self.is_numbered)
        free(self.id_of_word.items)
        free(self.word_of_id.items)

    def __len__(self):
        """Number of different tokens."""
        return self.word_of_id.n

    # ------------------------------------------------------------------------------------------ reading

    def add_text(self, str text not None):
        """Read a text: its tokens are those of ``memtree.analysis.tokens(text).s``."""
        scan_text(prepare(text), &self.scanner)
        reserve(&self.text_ends, 1)
        self.text_ends.items[self.text_ends.n] = <uint32_t> self.scanner.n
        self.text_ends.n += 1
        if self.scanner.n > MAX_PENDING:
            self.number_texts()

    def add_tokens(self, tokens):
        """Read a document given as an iterable of str; on an error there is no document."""
        cdef Py_ssize_t before
        self.number_texts()
        before = self.n_tokens
        try:
            for token in tokens:
                self.add_token(token)
        except BaseException:
            self.n_tokens = before
            raise
        self.end_document(before)

    cdef int add_token(self, token) except -1:
        cdef uint32_t word
        cdef bytes encoded
        if not isinstance(token, str):
            raise TypeError(f"a token must be a str, not {type(token).__name__}")
        if PyUnicode_IS_ASCII(token):
            word = self.intern(<const uint8_t*> PyUnicode_DATA(token), PyUnicode_GET_LENGTH(token))
        else:
            encoded = (<str> token).encode("utf-8", "surrogatepass")
            word = self.intern(encoded, len(encoded))
        self.reserve_tokens(1)
        self.tokens.data.as_uints[self.n_tokens] = self.number(word)
        self.n_tokens += 1
        return 0

    cdef int end_document(self, Py_ssize_t before) except -1 nogil:
        if self.n_documents == Py_SIZE(self.lengths):
            with gil:
                c_array.resize_smart(self.lengths, self.n_documents + 64)
        self.lengths.data.as_uints[self.n_documents] = <uint32_t> (self.n_tokens - before)
        self.n_documents += 1
        return 0

    cdef inline int reserve_tokens(self, Py_ssize_t n) except -1 nogil:
        if self.n_tokens + n > Py_SIZE(self.tokens):
            with gil:
                c_array.resize_smart(self.tokens, self.n_tokens + n + (self.n_tokens >> 3) + 1024)
        return 0

    cdef uint32_t intern(self, const uint8_t* text, size_t length) except? 0:
        cdef uint32_t word = strings_intern(&self.words, text, length, 0)
        if word == NO_ID:
            raise MemoryError("no memory for more different tokens")
        if word == self.id_of_word.n:
            reserve(&self.id_of_word, 1)
            self.id_of_word.items[word] = NO_ID
            self.id_of_word.n += 1
        return word

    cdef inline uint32_t number(self, uint32_t word) except? 0 nogil:
        """The id of a word, the next one if it has none."""
        cdef uint32_t id = self.id_of_word.items[word]
        if id == NO_ID:
            id = <uint32_t> self.word_of_id.n
            reserve(&self.word_of_id, 1)
            self.word_of_id.items[id] = word
            self.word_of_id.n += 1
            self.id_of_word.items[word] = id
        return id

    # ------------------------------------------------------------------------------------------ surfaces

    cdef int number_texts(self) except -1:
        """Turn the texts that wait into rows of ids."""
        cdef Py_ssize_t i, start = 0
        self.analyse_surfaces()
        with nogil:
            for i in range(self.text_ends.n):
                self.number_text(self.scanner.ids + start, self.text_ends.items[i] - start)
                start = self.text_ends.items[i]
        self.text_ends.n = 0
        self.scanner.n = 0
        if self.memo_size() > self.memo_bytes:
            strings_clear(&self.surfaces)
            self.term_ends.n = self.terms.n = 0
            self.n_surfaces = 0
        return 0

    cdef int number_text(self, uint32_t* ids, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t i, j, first, size, before = self.n_tokens
        cdef uint32_t id
        cdef uint32_t* out
        drop_stop_words(&self.surfaces, self.is_stop, ids, n)
        for i in range(n):
            id = ids[i]
            if id == NO_ID:
                continue
            first = self.term_ends.items[id - 1] if id else 0
            size = self.term_ends.items[id] - first
            if not self.is_numbered[id]:
                for j in range(first, first + size):
                    self.terms.items[j] = self.number(self.terms.items[j])
                self.is_numbered[id] = True
            self.reserve_tokens(size)
            out = self.tokens.data.as_uints + self.n_tokens
            for j in range(size):
                out[j] = self.terms.items[first + j]
            self.n_tokens += size
        return self.end_document(before)

    cdef int analyse_surfaces(self) except -1:
        """Find the terms of field s of all new surfaces."""
        cdef Terms found
        cdef uint32_t id
        cdef size_t length
        cdef const uint8_t* text
        cdef list words = [], stems
        cdef Py_ssize_t at = 0
        cdef bytes stops
        cdef str stem
        cdef int i
        for id in range(self.n_surfaces, self.surfaces.n):
            text = strings_get(&self.surfaces, id, &length)
            if self.surfaces.tag[id] == LATIN and is_small(text, length):
                words.append(PyUnicode_DecodeUTF8(<const char*> text, length, NULL))
        if words:
            from memtree._english import stems_of

            stems, stops = stems_of(words)
        self.reserve_surfaces()
        memset(&found, 0, sizeof(found))
        try:
            for id in range(self.n_surfaces, self.surfaces.n):
                text = strings_get(&self.surfaces, id, &length)
                if self.surfaces.tag[id] == LATIN and is_small(text, length):
                    stem = stems[at]
                    self.is_stop[id] = stops[at]
                    self.add_term(<const uint8_t*> PyUnicode_DATA(stem), PyUnicode_GET_LENGTH(stem))
                    at += 1
                else:
                    clear_terms(&found)
                    surface_terms(self.surfaces.tag[id], text, length, False, None, &self.work, &found)
                    self.is_stop[id] = found.is_stop and self.surfaces.tag[id] == LATIN
                    for i in range(found.n):
                        if found.items[i].field == 0:
                            self.add_term(found.text + found.items[i].start, found.items[i].length)
                self.term_ends.items[id] = <uint32_t> self.terms.n
                self.is_numbered[id] = False
                self.term_ends.n = self.n_surfaces = id + 1
        finally:
            free_terms(&found)
        return 0

    cdef int add_term(self, const uint8_t* text, size_t length) except -1:
        reserve(&self.terms, 1)
        self.terms.items[self.terms.n] = self.intern(text, length)
        self.terms.n += 1
        return 0

    cdef int reserve_surfaces(self) except -1:
        cdef void* grown
        cdef uint32_t capacity = self.surfaces.capacity
        reserve(&self.term_ends, self.surfaces.n - self.term_ends.n)
        if capacity > self.capacity:
            grown = realloc(self.is_stop, capacity)
            if grown == NULL:
                raise MemoryError
            self.is_stop = <uint8_t*> grown
            grown = realloc(self.is_numbered, capacity)
            if grown == NULL:
                raise MemoryError
            self.is_numbered = <uint8_t*> grown
            self.capacity = capacity
        return 0

    # ------------------------------------------------------------------------------------------- results

    def take(self):
        """The documents read since the last call.

        Returns
        -------
        lengths, tokens : array of uint32
            Number of tokens of each document, and the ids of all of them in order.
        """
        self.number_texts()
        found = self.lengths, self.tokens
        c_array.resize(self.lengths, self.n_documents)
        c_array.resize(self.tokens, self.n_tokens)
        self.lengths, self.tokens = c_array.clone(WORD, 0, False), c_array.clone(WORD, 0, False)
        self.n_documents = self.n_tokens = 0
        return found

    def forget(self):
        """Free what only reading more documents would need."""
        self.number_texts()
        strings_free(&self.surfaces)
        free_scanner(&self.scanner)
        if strings_init(&self.surfaces, 64, self.words.seed):
            raise MemoryError
        self.term_ends.n = self.terms.n = 0
        self.n_surfaces = 0

    cdef Py_ssize_t memo_size(self) noexcept:
        return strings_size(&self.surfaces) + 4 * (self.terms.n + self.term_ends.n) + 2 * self.n_surfaces

    @property
    def n_read(self):
        """tuple of int: documents read since `take`, and their tokens, as far as these are known."""
        return self.n_documents + self.text_ends.n, self.n_tokens + self.scanner.n

    @property
    def size_bytes(self):
        """Memory in use, without that of the documents read since `take`; what is to come soon included."""
        return strings_size(&self.words) + 8 * self.id_of_word.n + self.memo_size()

    def text_size(self):
        """Bytes of all tokens in UTF-8."""
        cdef Py_ssize_t id, total = 0
        cdef size_t length
        for id in range(self.word_of_id.n):
            strings_get(&self.words, self.word_of_id.items[id], &length)
            total += length
        return total

    def write_words(self, uint8_t[::1] text, int64_t[::1] ends):
        """Write all tokens in UTF-8, one after the other by id, and where each ends.

        Parameters
        ----------
        text : writable buffer of uint8, shape (text_size(),)
        ends : writable buffer of int64, shape (len(self),)
        """
        cdef Py_ssize_t id
        cdef int64_t end = 0
        cdef size_t length
        cdef const uint8_t* word
        if text.shape[0] != self.text_size() or ends.shape[0] != self.word_of_id.n:
            raise ValueError("the buffers do not fit the tokens")
        for id in range(self.word_of_id.n):
            word = strings_get(&self.words, self.word_of_id.items[id], &length)
            if length:
                memcpy(&text[end], word, length)
            end += length
            ends[id] = end

    def vocabulary(self):
        """dict: token to id, in the order of the ids."""
        cdef Py_ssize_t id
        cdef size_t length
        cdef const uint8_t* text
        cdef dict found = {}
        for id in range(self.word_of_id.n):
            text = strings_get(&self.words, self.word_of_id.items[id], &length)
            found[decode(text, length)] = id
        return found


cdef Py_ssize_t strings_size(const Strings* strings) noexcept:
    """Memory of a table of strings; where it is about to grow, also the slots of double size."""
    cdef Py_ssize_t n_slots = strings.n_slots
    if strings.n > strings.capacity - strings.capacity // 8:
        n_slots *= 3
    return strings.text_size + 5 * <Py_ssize_t> strings.n + 8 * n_slots


cdef inline bint is_small(const uint8_t* text, size_t length) noexcept nogil:
    """Nothing but small ASCII letters."""
    cdef size_t i
    for i in range(length):
        if not c'a' <= text[i] <= c'z':
            return False
    return True
