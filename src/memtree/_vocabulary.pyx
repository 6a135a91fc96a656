"""What an analysed index knows, as flat arrays: surfaces, columns, support; and queries in its terms.

Columns are the terms of field s, then those of field b. A vocabulary opened from a file reads the arrays
where they lie and checks every id and offset that it reads.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pythread cimport (
    NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
    PyThread_release_lock,
)
from libc.math cimport sqrt
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from memtree._korean cimport MAX_CANDIDATES, MAX_SYLLABLES, Candidates, find_candidates
from memtree._support cimport fill_support
from memtree._terms cimport (
    Term, Terms, add_bytes, decode, free_terms, latin_terms, query_terms, set_best, simple_terms,
)
from memtree._text cimport (
    HANGUL, HANGUL_GLUED, HANGUL_LONG, IDENTIFIER, LATIN, PAIR, TOKEN, UNKNOWN, PrefixTrie, Scanner, decode_hangul,
    free_scanner, prepare, scan_text, scan_tokens, slots_for, strings_fill, strings_free, strings_get, strings_init,
    strings_lookup,
)
from memtree.errors import IndexFileError

cdef extern from "Python.h":
    Py_buffer* PyMemoryView_GET_BUFFER(object)

cdef enum:
    VERSION = 2
    N_META = 19


cdef class Query:
    """An analysed query; made by `Lexicon.query`.

    Attributes
    ----------
    original : str
        The text as it was given.
    lexicon : Lexicon
    """

    def __dealloc__(self):
        free(self.terms)
        free(self.words)
        free(self.text)

    def __len__(self):
        return self.n_words

    @property
    def columns(self):
        """list of (int, int, float, int): column (-1 if no document holds the term), field, weight, word."""
        cdef Py_ssize_t i
        return [(-1 if self.terms[i].column == NO_TERM else self.terms[i].column, self.terms[i].field,
                 self.terms[i].weight, self.terms[i].word) for i in range(self.n_terms)]

    @property
    def terms(self):
        """list of (str, int, float, int): term, field (0 s, 1 b), weight, index of its word."""
        return self.lexicon.explain_query(self.original)

    @property
    def words(self):
        """list of (str, str): each word as it stands in the text, and its best stem."""
        cdef Py_ssize_t i
        return [(self.original[self.words[i].start:self.words[i].end], self.best(i))
                for i in range(self.n_words)]

    @property
    def key(self):
        """tuple of str: the best stems, sorted; the same words in other order or form give the same."""
        cdef Py_ssize_t i
        return tuple(sorted([self.best(i) for i in range(self.n_words)]))

    cdef str best(self, Py_ssize_t i):
        return decode(self.text + self.words[i].best_start, self.words[i].best_length)


cdef class Vocabulary:
    """Surfaces, terms and support of one index, and what queries make of them."""

    def __cinit__(self, *args, **kwargs):
        cdef uint64_t seed = <uint64_t> <uintptr_t> <void*> self
        self.mode = "korean"
        self.keywords = ()
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError
        if (strings_init(&self.surfaces, 64, seed) or strings_init(&self.sums.stems, 64, seed)
                or strings_init(&self.terms[0], 64, seed) or strings_init(&self.terms[1], 64, seed)):
            raise MemoryError

    def __dealloc__(self):
        strings_free(&self.surfaces)
        strings_free(&self.terms[0])
        strings_free(&self.terms[1])
        strings_free(&self.sums.stems)
        self.free_tables()
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef void acquire(self) noexcept:
        """One call at a time: a change may move the tables, and it goes on without the GIL."""
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            with nogil:
                PyThread_acquire_lock(self.lock, WAIT_LOCK)

    cdef void release(self) noexcept:
        PyThread_release_lock(self.lock)

    cdef void free_tables(self) noexcept:
        """Drop what `analyse` made."""
        if not self.is_mapped:
            free(self.sums.totals)
            free(self.counts)
            free(self.doc_indptr)
            free(self.doc_columns)
            free(self.query_indptr)
            free(self.query_columns)
            free(self.query_weights)
            free(self.flags)
            free(self.best_columns)
        self.sums.totals = NULL
        self.sums.capacity = 0
        self.counts = self.doc_columns = NULL
        self.query_indptr = self.query_columns = self.best_columns = NULL
        self.doc_indptr = NULL
        self.query_weights = NULL
        self.flags = NULL
        self.n_analysed = self.n_query = self.s_size = self.b_size = 0

    @property
    def n_surfaces(self):
        return self.surfaces.n

    @property
    def n_s(self):
        return self.s_size

    @property
    def n_b(self):
        return self.b_size

    @property
    def field_starts(self):
        """tuple of int: first column of each field, and the number of columns."""
        return (0, self.s_size, self.s_size + self.b_size)

    # --------------------------------------------------------------------------------------------- terms

    def term(self, Py_ssize_t column):
        """The term of a column.

        Raises
        ------
        IndexError
            There is no such column.
        """
        cdef size_t length
        cdef const uint8_t* text
        cdef str found = None
        self.acquire()
        if 0 <= column < <Py_ssize_t> self.s_size + self.b_size:
            if column < <Py_ssize_t> self.s_size:
                text = strings_get(&self.terms[0], <uint32_t> column, &length)
            else:
                text = strings_get(&self.terms[1], <uint32_t> column - self.s_size, &length)
            found = "" if text == NULL else decode(text, length)
        self.release()
        if found is None:
            raise IndexError(f"there is no column {column}")
        return found

    def column(self, int field, str term not None):
        """The column of a term in field 0 (s) or 1 (b); -1 if it has none."""
        cdef bytes encoded = term.encode("utf-8", "surrogatepass")
        cdef uint32_t found
        self.acquire()
        found = self.find_column(encoded, len(encoded), field == 1)
        self.release()
        return -1 if found == NO_TERM else found

    cdef uint32_t find_column(self, const uint8_t* text, size_t length, uint8_t field) noexcept nogil:
        cdef uint32_t id = strings_lookup(&self.terms[field], text, length, 0)
        if id >= (self.b_size if field else self.s_size):
            return NO_TERM
        return id + self.s_size if field else id

    # ------------------------------------------------------------------------------------------- queries

    cdef list best_stems(self, str text):
        cdef Query query = self.build(text, False, None)
        return [query.best(i) for i in range(query.n_words)]

    def best(self, str text not None):
        """Best stem of each word of a text, stop words too.

        Returns
        -------
        list of (str, int)
            The stem and its column of field s, -1 if it has none.
        """
        cdef Query query = self.locked_build(text, False, None)
        cdef Py_ssize_t i
        return [(query.best(i), -1 if query.words[i].best == NO_TERM else query.words[i].best)
                for i in range(query.n_words)]

    def query(self, str text not None):
        """Analyse a query.

        Returns
        -------
        Query
        """
        return self.locked_build(text, True, None)

    def explain_query(self, str text not None):
        """Terms of a query as strings: see `Query.terms`."""
        cdef list names = []
        cdef Query query = self.locked_build(text, True, names)
        return [(name, query.terms[i].field, query.terms[i].weight, query.terms[i].word)
                for i, name in enumerate(names)]

    cdef Query locked_build(self, str text, bint drops_stop_words, list names):
        self.acquire()
        try:
            return self.build(text, drops_stop_words, names)
        finally:
            self.release()

    cdef Query build(self, str text, bint drops_stop_words, list names):
        """Analyse a query; with `names`, without the precomputed terms, and their strings go there."""
        cdef Scanner scanner
        cdef Strings unknown
        cdef Terms terms
        cdef Found* found = NULL
        cdef Query query = Query.__new__(Query)
        cdef str prepared = prepare(text)
        query.original = text
        query.lexicon = self
        memset(&scanner, 0, sizeof(scanner))
        memset(&unknown, 0, sizeof(unknown))
        memset(&terms, 0, sizeof(terms))
        scanner.known = &self.surfaces
        scanner.unknown = &unknown
        scanner.with_spans = True
        try:
            if self.mode == "prefix":
                prepared = scan_tokens(text, &scanner)
            else:
                scan_text(prepared, &scanner)
            found = <Found*> malloc((scanner.n + 1) * sizeof(Found))
            if found == NULL:
                raise MemoryError
            self.find_surfaces(&scanner, &terms, found, names is not None)
            keep_words(found, scanner.n, drops_stop_words)
            self.fill(query, &scanner, &terms, found, names)
            if prepared is not text:
                map_spans(query, text, prepared)
        finally:
            free(found)
            free_terms(&terms)
            strings_free(&unknown)
            free_scanner(&scanner)
        return query

    cdef int find_surfaces(self, Scanner* scanner, Terms* terms, Found* found, bint afresh) except -1:
        """Where the terms of each surface of a query lie."""
        cdef Py_ssize_t i
        cdef uint32_t id
        cdef size_t length
        cdef const uint8_t* text
        cdef Found* one
        cdef const Strings* table
        for i in range(scanner.n):
            one = &found[i]
            memset(one, 0, sizeof(Found))
            id = scanner.ids[i]
            table = scanner.unknown if id & UNKNOWN else scanner.known
            one.kind = table.tag[id & ~<uint32_t> UNKNOWN]
            if not afresh and not id & UNKNOWN and id < self.n_analysed and self.counts[id]:
                one.is_known = True
                one.is_stop = self.flags[id] & IS_STOP
                one.best = self.best_columns[id]
                one.end = min(self.query_indptr[id + 1], self.n_query)
                one.first = min(self.query_indptr[id], one.end)
                if one.best < self.s_size:
                    continue
                one.best = NO_TERM
                if one.kind == PAIR or one.kind == HANGUL_LONG:
                    continue
                one.is_known = False
            text = strings_get(table, id & ~<uint32_t> UNKNOWN, &length)
            one.first = terms.n
            terms.n_best = 0
            terms.is_stop = False
            if text != NULL:
                self.find_unknown(one.kind, text, length, terms)
            one.end = terms.n
            one.is_stop = terms.is_stop
            one.best_start = terms.best_start
            one.n_best = terms.n_best
            one.best = NO_TERM
            if terms.n_best:
                one.best = self.find_column(terms.text + terms.best_start, terms.n_best, 0)
        return 0

    cdef int find_unknown(self, int kind, const uint8_t* text, size_t length, Terms* terms) except -1:
        """Query terms of a surface by the stored support."""
        cdef Candidates work
        cdef Py_UCS4 run[MAX_SYLLABLES]
        cdef double support[MAX_CANDIDATES]
        cdef int n
        if kind == LATIN or kind == IDENTIFIER:
            latin_terms(kind, text, length, terms)
        elif kind == TOKEN:
            self.token_terms(text, length, terms)
        elif kind <= HANGUL_GLUED:
            n = decode_hangul(text, length, run, MAX_SYLLABLES)
            if n:
                find_candidates(run, n, &work)
                fill_support(&self.sums, &work, self.root_count(text, length), support)
                query_terms(kind, &work, support, run, n, terms)
        else:
            simple_terms(kind, text, <int> length, terms)
        if terms.failed:
            raise MemoryError
        return 0

    cdef int token_terms(self, const uint8_t* text, size_t length, Terms* terms) except -1:
        """The term of a token in mode "prefix"."""
        cdef str token = decode(text, length)
        cdef bytes term
        if self.prefixes is None:
            self.prefixes = PrefixTrie(self.keywords)
        term = self.prefixes.replace(token).encode("utf-8", "replace")
        add_bytes(terms, 0, 1.0, term, <int> min(len(term), 0xFFFF))
        set_best(terms)
        return 0

    cdef int fill(self, Query query, const Scanner* scanner, const Terms* terms, const Found* found,
                  list names) except -1:
        """Write the terms and words of the surfaces that are kept."""
        cdef Py_ssize_t i, j, size = 0, n_text = 0, n_words = 0
        cdef int field
        cdef uint32_t column
        cdef float weight
        cdef const Found* one
        cdef const Term* term
        cdef QueryWord* word
        cdef QueryTerm* out
        cdef const uint8_t* text
        cdef size_t length
        for i in range(scanner.n):
            one = &found[i]
            if one.kept:
                size += one.end - one.first
                if one.kind != PAIR:
                    n_words += 1
                    if one.is_known and one.best != NO_TERM:
                        strings_get(&self.terms[0], one.best, &length)
                        n_text += length
                    else:
                        n_text += one.n_best
        query.terms = <QueryTerm*> malloc((size + 1) * sizeof(QueryTerm))
        query.words = <QueryWord*> malloc((n_words + 1) * sizeof(QueryWord))
        query.text = <uint8_t*> malloc(n_text + 1)
        if query.terms == NULL or query.words == NULL or query.text == NULL:
            raise MemoryError
        for i in range(scanner.n):
            one = &found[i]
            if not one.kept or one.kind == PAIR:
                continue
            word = &query.words[query.n_words]
            word.start = scanner.spans[2 * i]
            word.end = scanner.spans[2 * i + 1]
            word.best = one.best
            if one.is_known and one.best != NO_TERM:
                text = strings_get(&self.terms[0], one.best, &length)
            else:
                text = terms.text + one.best_start
                length = 0 if one.is_known else one.n_best
            if length:
                memcpy(query.text + query.n_text, text, length)
            word.best_start = <uint32_t> query.n_text
            word.best_length = <uint32_t> length
            query.n_text += length
            query.n_words += 1
        for field in range(2):
            for i in range(scanner.n):
                one = &found[i]
                if not one.kept:
                    continue
                for j in range(one.first, one.end):
                    if one.is_known:
                        column = self.query_columns[j]
                        weight = self.query_weights[j]
                        if (column >= self.s_size and column != NO_TERM) != field:
                            continue
                        if column >= self.s_size + self.b_size:
                            column = NO_TERM
                    else:
                        term = &terms.items[j]
                        if term.field != field:     # not DOCUMENT_B either
                            continue
                        column = self.find_column(terms.text + term.start, term.length, term.field)
                        weight = term.weight
                        if names is not None:
                            names.append(decode(terms.text + term.start, term.length))
                    out = &query.terms[query.n_terms]
                    out.column = column
                    out.weight = weight
                    out.field = <uint8_t> field
                    out.word = <uint16_t> min(one.word, 0xFFFF)
                    query.n_terms += 1
        return 0

    cdef double root_count(self, const uint8_t* text, size_t length) noexcept nogil:
        """Square root of how often a Hangul run occurs, glued or not."""
        cdef uint64_t total = 0
        cdef uint32_t id
        cdef int kind
        for kind in range(HANGUL, HANGUL_GLUED + 1):
            id = strings_lookup(&self.surfaces, text, length, <uint8_t> kind)
            if id < self.n_analysed:
                total += self.counts[id]
        return sqrt(<double> total)

    # --------------------------------------------------------------------------------------------- files

    def to_parts(self, str prefix=""):
        """All as flat arrays, to be written to a file.

        Returns
        -------
        dict of str to bytes
            Names start with `prefix`.
        """
        cdef uint64_t[N_META] meta
        cdef dict parts = {}
        self.acquire()
        try:
            if self.n_analysed != self.surfaces.n:
                raise ValueError("analyse() must come first")
            meta[0] = VERSION
            meta[1] = self.mode == "prefix"
            save_strings(parts, prefix + "surfaces.", &self.surfaces, &meta[2])
            save_strings(parts, prefix + "s.", &self.terms[0], &meta[6])
            save_strings(parts, prefix + "b.", &self.terms[1], &meta[10])
            save_strings(parts, prefix + "stems.", &self.sums.stems, &meta[14])
            meta[18] = self.n_query
            parts[prefix + "meta"] = copy_bytes(meta, sizeof(meta))
            if meta[1]:
                parts[prefix + "keywords"] = "\0".join(self.keywords).encode("utf-8", "replace")
            for name, field, size in self.tables():
                parts[prefix + name] = copy_bytes((<void**> <uintptr_t> field)[0], size)
        finally:
            self.release()
        return parts

    cdef list tables(self):
        """Name, address of the pointer and size in bytes of each array but the strings."""
        cdef size_t n = self.n_analysed
        return [
            ("totals", <uintptr_t> &self.sums.totals, self.sums.stems.n * sizeof(double)),
            ("counts", <uintptr_t> &self.counts, n * sizeof(uint32_t)),
            ("query_indptr", <uintptr_t> &self.query_indptr, (n + 1) * sizeof(uint32_t) if n else 0),
            ("query_columns", <uintptr_t> &self.query_columns, self.n_query * sizeof(uint32_t)),
            ("query_weights", <uintptr_t> &self.query_weights, self.n_query * sizeof(float)),
            ("flags", <uintptr_t> &self.flags, n),
            ("best_columns", <uintptr_t> &self.best_columns, n * sizeof(uint32_t)),
        ]

    @classmethod
    def from_parts(cls, parts, str prefix=""):
        """Open the arrays that `to_parts` made; nothing is copied.

        Parameters
        ----------
        parts : mapping of str to buffer
        prefix : str

        Raises
        ------
        IndexFileError
            The arrays do not fit together.
        """
        cdef Vocabulary new = cls()
        cdef uint64_t[N_META] meta
        cdef list views = []
        cdef size_t size
        cdef const void* data = part_data(parts, prefix + "meta", views, &size)
        if size != sizeof(meta):
            raise IndexFileError("the vocabulary of the index has a wrong header")
        memcpy(meta, data, size)
        if meta[0] != VERSION:
            raise IndexFileError(f"the vocabulary of the index has version {meta[0]}, not {VERSION}")
        new.mode = "prefix" if meta[1] else "korean"
        strings_free(&new.surfaces)
        strings_free(&new.terms[0])
        strings_free(&new.terms[1])
        strings_free(&new.sums.stems)
        new.is_mapped = True
        new.owner = views
        load_strings(parts, prefix + "surfaces.", &new.surfaces, &meta[2], views)
        load_strings(parts, prefix + "s.", &new.terms[0], &meta[6], views)
        load_strings(parts, prefix + "b.", &new.terms[1], &meta[10], views)
        load_strings(parts, prefix + "stems.", &new.sums.stems, &meta[14], views)
        new.n_analysed = new.surfaces.n
        new.n_query = <uint32_t> min(meta[18], <uint64_t> 0xFFFFFFFF)
        new.s_size = new.terms[0].n
        new.b_size = new.terms[1].n
        for name, field, wanted in new.tables():
            (<const void**> <uintptr_t> field)[0] = part_data(parts, prefix + name, views, &size)
            if size != wanted:
                raise IndexFileError(f"the part {name} of the vocabulary has {size} bytes, not {wanted}")
        if meta[1]:
            data = part_data(parts, prefix + "keywords", views, &size)
            new.keywords = tuple(decode(<const uint8_t*> data, size).split("\0")) if size else ()
        return new


cdef void keep_words(Found* found, Py_ssize_t n, bint drops_stop_words) noexcept nogil:
    """Mark what stays (no stop words, nor pairs with one, unless nothing else is there); number the words."""
    cdef Py_ssize_t i, last = -1, before = -1, n_words = 0
    cdef bint all_stop = True
    for i in range(n):
        if found[i].kind != PAIR and not found[i].is_stop:
            all_stop = False
    for i in range(n):
        if found[i].kind == PAIR:
            found[i].kept = last >= 0 and before >= 0 and found[last].kept and found[before].kept
            found[i].word = found[last].word if last >= 0 else 0
        else:
            found[i].kept = all_stop or not drops_stop_words or not found[i].is_stop
            found[i].word = n_words
            n_words += found[i].kept
            before = last
            last = i


cdef int save_strings(dict parts, str prefix, const Strings* strings, uint64_t* meta) except -1:
    """The table, with no more slots than it needs."""
    cdef size_t n_slots = slots_for(strings.n)
    cdef uint64_t* slots = <uint64_t*> calloc(n_slots, sizeof(uint64_t))
    if slots == NULL:
        raise MemoryError
    strings_fill(strings, slots, n_slots)
    meta[0] = strings.n
    meta[1] = n_slots
    meta[2] = strings.seed
    meta[3] = strings.text_size
    parts[prefix + "start"] = copy_bytes(strings.start, (strings.n + 1) * sizeof(uint32_t))
    parts[prefix + "tag"] = copy_bytes(strings.tag, strings.n)
    parts[prefix + "text"] = copy_bytes(strings.text, strings.text_size)
    parts[prefix + "slots"] = copy_bytes(slots, n_slots * sizeof(uint64_t))
    free(slots)
    return 0


cdef int load_strings(parts, str prefix, Strings* strings, const uint64_t* meta, list views) except -1:
    """Borrow a table of strings; ids and offsets in it are checked whenever they are read."""
    cdef size_t n_start, n_tag, n_text, n_slots
    strings.start = <uint32_t*> part_data(parts, prefix + "start", views, &n_start)
    strings.tag = <uint8_t*> part_data(parts, prefix + "tag", views, &n_tag)
    strings.text = <uint8_t*> part_data(parts, prefix + "text", views, &n_text)
    strings.slots = <uint64_t*> part_data(parts, prefix + "slots", views, &n_slots)
    if (meta[0] > 0x3FFFFFFF or n_start != (meta[0] + 1) * sizeof(uint32_t) or n_tag != meta[0]
            or n_text != meta[3] or n_slots % sizeof(uint64_t) or n_slots // sizeof(uint64_t) != meta[1]
            or meta[1] == 0):
        memset(strings, 0, sizeof(Strings))
        raise IndexFileError(f"the part {prefix}* of the vocabulary has wrong sizes")
    strings.n = <uint32_t> meta[0]
    strings.n_slots = meta[1]
    strings.seed = meta[2]
    strings.text_size = meta[3]
    return 0


cdef const void* part_data(parts, str name, list views, size_t* size) except? NULL:
    """Address and size of a part; the view that keeps it alive goes to `views`."""
    try:
        part = parts[name]
    except KeyError:
        raise IndexFileError(f"the index has no part {name}") from None
    return buffer_data(part, 1, name, views, size)


cdef const void* buffer_data(buffer, Py_ssize_t item_size, str name, list views, size_t* n) except? NULL:
    """Address and number of items of a buffer (no typed memoryview: those make a module slow to import)."""
    cdef object view = memoryview(buffer)
    if not view.c_contiguous or (item_size != 1 and view.itemsize != item_size):
        raise ValueError(f"{name} must be a contiguous buffer of {item_size}-byte items")
    views.append(view)
    n[0] = <size_t> PyMemoryView_GET_BUFFER(view).len // item_size
    return PyMemoryView_GET_BUFFER(view).buf


cdef bytes copy_bytes(const void* data, size_t size):
    return PyBytes_FromStringAndSize(<const char*> data, size) if size else b""


cdef int map_spans(Query query, str text, str prepared) except -1:
    """Turn the spans of words in the prepared text into spans of the original."""
    cdef list starts = [], ends = []
    cdef Py_ssize_t i, n = align(text, starts, ends)
    cdef QueryWord* word
    for i in range(query.n_words):
        word = &query.words[i]
        if word.start < n and 0 < word.end <= n:
            word.start = <uint32_t> <Py_ssize_t> starts[word.start]
            word.end = <uint32_t> <Py_ssize_t> ends[word.end - 1]
    return 0


cdef Py_ssize_t align(str text, list starts, list ends) except -1:
    """For each character of NFKC(text) where the characters that made it start and end in `text`."""
    from unicodedata import combining, normalize
    cdef Py_ssize_t i = 0, j, made, n = len(text)
    while i < n:
        j = i + 1
        while j < n and (combining(text[j]) or joins(text[j])):
            j += 1
        made = len(normalize("NFKC", text[i:j]))
        starts += [i] * made
        ends += [j] * made
        i = j
    return len(starts)


cdef inline bint joins(uint32_t c):
    """Medial and final jamo, half-width voicing marks: they may join the character before."""
    return 0x1160 <= c < 0x1200 or 0xFF9E <= c < 0xFFA0 or 0x314F <= c < 0x3164
