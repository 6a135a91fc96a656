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
    BATCH_TEXT, LATIN, NO_ID, PAIR, Batch, Scanner, Strings, batch_add, batch_fits, batch_intern, free_scanner,
    prepare, scan_text, strings_clear, strings_free, strings_get, strings_init, strings_intern, strings_lookup,
)
from memtree._tokens cimport IS_PAIR, IS_STOP, drop_stop_words, surface_terms

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_ssize_t Py_SIZE(object) nogil

cdef extern from "_strings.h" nogil:
    void prefetch "memtree_prefetch"(const void*)
    void large_pages "memtree_large_pages"(void*, size_t)

cdef c_array.array WORD = array("I")

cdef enum:
    MAX_PENDING = 1 << 18       # surfaces scanned but not yet turned into ids
    IS_NUMBERED = 1 << 31


cdef struct Vector:
    uint32_t* items
    Py_ssize_t n, capacity


cdef struct Row:
    uint32_t first
    uint32_t n                  # with `IS_NUMBERED` when its terms have become ids


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
        large_pages(grown, capacity * sizeof(uint32_t))
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
    cdef Batch batch
    cdef Vector text_ends           # in `scanner.ids`, of the texts that wait there
    cdef Row* rows                  # of each surface analysed: its terms,
    cdef uint8_t* flags             # and whether it is a stop word or a pair
    cdef uint32_t n_surfaces, capacity
    cdef Vector terms               # numbers in `words`, or ids

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
        self.scanner.batch = &self.batch
        self.lengths, self.tokens = c_array.clone(WORD, 0, False), c_array.clone(WORD, 0, False)
        self.memo_bytes = memo_bytes

    def __dealloc__(self):
        strings_free(&self.surfaces)
        strings_free(&self.words)
        free_scanner(&self.scanner)
        free(self.text_ends.items)
        free(self.rows)
        free(self.flags)
        free(self.terms.items)
        free(self.id_of_word.items)
        free(self.word_of_id.items)

    def __len__(self):
        """Number of different tokens."""
        return self.word_of_id.n

    # ------------------------------------------------------------------------------------------ reading

    def add_text(self, text):
        """Read a text: its tokens are those of ``memtree.analysis.tokens(text).s``."""
        if not isinstance(text, str):
            raise TypeError(f"a text must be a str, not {type(text).__name__}")
        # Of a subclass, as NumPy has one, a copy.
        scan_text(prepare(text if type(text) is str else str.__str__(text)), &self.scanner)
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
                large_pages(self.tokens.data.as_uints, Py_SIZE(self.tokens) * sizeof(uint32_t))
        return 0

    cdef uint32_t intern(self, const uint8_t* text, size_t length) except? 0:
        cdef uint32_t word = strings_intern(&self.words, text, length, 0)
        if word == NO_ID:
            raise MemoryError("no memory for more different tokens")
        self.count_words()
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
            self.terms.n = 0
            self.n_surfaces = 0
        return 0

    cdef int number_text(self, uint32_t* ids, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t i, before = self.n_tokens
        cdef uint32_t j, size
        cdef Row* row
        cdef uint32_t* terms
        cdef uint32_t* out
        for i in range(n):
            prefetch(&self.rows[ids[i]])
        drop_stop_words(self.flags, ids, n)
        for i in range(n):
            if ids[i] == NO_ID:
                continue
            row = &self.rows[ids[i]]
            terms = self.terms.items + row.first
            if not row.n & IS_NUMBERED:
                for j in range(row.n):
                    terms[j] = self.number(terms[j])
                row.n |= IS_NUMBERED
            size = row.n ^ IS_NUMBERED
            self.reserve_tokens(size)
            out = self.tokens.data.as_uints + self.n_tokens
            for j in range(size):
                out[j] = terms[j]
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
                self.rows[id].first = <uint32_t> self.terms.n + self.batch.n
                self.flags[id] = IS_PAIR if self.surfaces.tag[id] == PAIR else 0
                if self.surfaces.tag[id] == LATIN and is_small(text, length):
                    stem = stems[at]
                    if stops[at]:
                        self.flags[id] = IS_STOP
                    self.add_term(<const uint8_t*> PyUnicode_DATA(stem), PyUnicode_GET_LENGTH(stem))
                    at += 1
                else:
                    clear_terms(&found)
                    surface_terms(self.surfaces.tag[id], text, length, False, None, &self.work, &found)
                    if found.is_stop and self.surfaces.tag[id] == LATIN:
                        self.flags[id] = IS_STOP
                    for i in range(found.n):
                        if found.items[i].field == 0:
                            self.add_term(found.text + found.items[i].start, found.items[i].length)
                self.rows[id].n = <uint32_t> self.terms.n + self.batch.n - self.rows[id].first
            self.add_batch()
            self.n_surfaces = self.surfaces.n
        finally:
            self.batch.n = self.batch.used = 0
            free_terms(&found)
        return 0

    cdef int add_term(self, const uint8_t* text, size_t length) except -1:
        if not batch_fits(&self.batch, length):
            self.add_batch()
        if length <= BATCH_TEXT:
            batch_add(&self.batch, &self.words, text, length, 0)
            return 0
        reserve(&self.terms, 1)
        self.terms.items[self.terms.n] = self.intern(text, length)
        self.terms.n += 1
        return 0

    cdef int add_batch(self) except -1:
        """Append the terms that wait in the batch, which the scanner does not use meanwhile."""
        cdef Py_ssize_t n = self.batch.n
        reserve(&self.terms, n)
        if batch_intern(&self.batch, &self.words, self.terms.items + self.terms.n):
            raise MemoryError("no memory for more different tokens")
        self.terms.n += n
        self.count_words()
        return 0

    cdef int count_words(self) except -1:
        """Mark the words that are new as without an id."""
        reserve(&self.id_of_word, self.words.n - self.id_of_word.n)
        while self.id_of_word.n < <Py_ssize_t> self.words.n:
            self.id_of_word.items[self.id_of_word.n] = NO_ID
            self.id_of_word.n += 1
        return 0

    cdef int reserve_surfaces(self) except -1:
        cdef void* grown
        cdef size_t capacity = self.surfaces.capacity
        if capacity > self.capacity:
            grown = realloc(self.rows, capacity * sizeof(Row))
            if grown == NULL:
                raise MemoryError
            self.rows = <Row*> grown
            grown = realloc(self.flags, capacity)
            if grown == NULL:
                raise MemoryError
            self.flags = <uint8_t*> grown
            self.capacity = <uint32_t> capacity
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
        free(self.rows)
        free(self.flags)
        free(self.terms.items)
        self.rows = NULL
        self.flags = NULL
        memset(&self.terms, 0, sizeof(Vector))
        self.n_surfaces = self.capacity = 0
        if strings_init(&self.surfaces, 64, self.words.seed):
            raise MemoryError

    cdef Py_ssize_t memo_size(self) noexcept:
        return strings_size(&self.surfaces) + 4 * self.terms.n + 9 * self.n_surfaces

    @property
    def n_read(self):
        """tuple of int: documents read since `take`, and their tokens, as far as these are known."""
        return self.n_documents + self.text_ends.n, self.n_tokens + self.scanner.n

    @property
    def size_bytes(self):
        """Memory in use, without that of the documents read since `take`; what is to come soon included."""
        return strings_size(&self.words) + 8 * self.id_of_word.n + self.memo_size()

    def find(self, token):
        """The id of a token, -1 if no document has it."""
        cdef uint32_t word
        cdef bytes encoded
        if not isinstance(token, str):
            return -1
        if PyUnicode_IS_ASCII(token):
            word = strings_lookup(&self.words, <const uint8_t*> PyUnicode_DATA(token), PyUnicode_GET_LENGTH(token), 0)
        else:
            encoded = (<str> token).encode("utf-8", "surrogatepass")
            word = strings_lookup(&self.words, encoded, len(encoded), 0)
        if word == NO_ID or self.id_of_word.items[word] == NO_ID:
            return -1
        return self.id_of_word.items[word]

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
