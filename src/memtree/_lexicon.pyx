"""The surfaces of an index, their terms, and what they support: text to columns of the term-document matrix.

A surface has an id from the first time it is scanned. `analyse` learns the support of each stem from the number of
times that each surface occurs, and then finds the terms of each surface for documents and for queries. Columns are
the terms of field s, then those of field b. All tables are flat arrays: a lexicon opened from a file reads them where
they lie, checks every id and offset that it reads, and copies them only when it must grow.
"""

from array import array as python_array

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from memtree._korean cimport (
    MAX_CANDIDATES, MAX_KEY, MAX_SYLLABLES, Candidates, find_candidates, share_stems, weigh,
)
from memtree._text cimport (
    HANGUL, HANGUL_GLUED, HANGUL_LONG, IDENTIFIER, LATIN, NO_ID, PAIR, UNKNOWN, DOCUMENT_B, Scanner, Strings, Term, Terms,
    clear_terms, decode_hangul, document_terms, encode_syllables, free_scanner, free_terms, latin_terms, prepare,
    query_terms, scan_text, simple_terms, strings_clear, strings_free, strings_get, strings_init, strings_intern,
    strings_lookup,
)
from memtree.errors import IndexFileError

cdef enum:
    VERSION = 1
    IS_STOP = 1                 # flags of a surface
    N_META = 18

cdef double LEAST_SHARE = 1e-4  # least posterior of a stem that a surface supports


# ------------------------------------------------------------------------------------------------- support

cdef inline uint32_t find_stem(const Strings* stems, const Candidates* work, int i) noexcept nogil:
    cdef uint8_t text[3 * MAX_KEY]
    cdef int size = encode_syllables(&work.pool[work.items[i].key], work.items[i].length, text)
    return strings_lookup(stems, text, size, work.items[i].predicate)


cdef void fill_support(const Strings* stems, const double* sums, Candidates* work, double root,
                       double* out) noexcept nogil:
    """S of each candidate by other surfaces; `root`: square root of this surface's own count."""
    cdef int i
    cdef uint32_t id
    cdef double total
    weigh(work, NULL)
    share_stems(work)
    for i in range(work.n):
        if work.first[i] != i:
            out[i] = out[work.first[i]]
            continue
        id = find_stem(stems, work, i)
        total = sums[id] if id != NO_ID else 0.0
        if root and work.shares[i] > LEAST_SHARE:
            total -= work.shares[i] * root
        out[i] = total if total > 0.0 else 0.0


cdef struct SortKey:
    const uint8_t* text
    size_t length
    uint32_t id


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    cdef const SortKey* x = <const SortKey*> a
    cdef const SortKey* y = <const SortKey*> b
    cdef int order = memcmp(x.text, y.text, min(x.length, y.length))
    if order:
        return order
    if x.length != y.length:
        return -1 if x.length < y.length else 1
    return -1 if x.id < y.id else x.id > y.id


cdef inline bint same_key(const SortKey* x, const SortKey* y) noexcept nogil:
    return x.length == y.length and memcmp(x.text, y.text, x.length) == 0


# ------------------------------------------------------------------------------------------------- vectors

cdef struct Vector:
    uint32_t* items
    Py_ssize_t n, capacity


cdef inline bint push(Vector* vector, uint32_t value) noexcept nogil:
    cdef void* grown
    cdef Py_ssize_t capacity
    if vector.n == vector.capacity:
        capacity = max(256, 2 * vector.capacity)
        grown = realloc(vector.items, capacity * sizeof(uint32_t))
        if grown == NULL:
            return False
        vector.items = <uint32_t*> grown
        vector.capacity = capacity
    vector.items[vector.n] = value
    vector.n += 1
    return True


cdef inline uint32_t float_bits(float value) noexcept nogil:
    cdef uint32_t bits
    memcpy(&bits, &value, 4)
    return bits


cdef inline float bits_float(uint32_t bits) noexcept nogil:
    cdef float value
    memcpy(&value, &bits, 4)
    return value


cdef str decode(const uint8_t* text, size_t length):
    return PyUnicode_DecodeUTF8(<const char*> text, length, "replace")


# --------------------------------------------------------------------------------------------------- query

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
        return (<Lexicon> self.lexicon).explain_query(self.original)

    @property
    def words(self):
        """list of (str, str): each word as it stands in the text, and its best stem."""
        cdef Py_ssize_t i
        return [(self.original[self.words[i].start:self.words[i].end], self.best(i)) for i in range(self.n_words)]

    @property
    def key(self):
        """tuple of str: the best stems, sorted; equal for queries of the same words in other order or form."""
        cdef Py_ssize_t i
        return tuple(sorted([self.best(i) for i in range(self.n_words)]))

    cdef str best(self, Py_ssize_t i):
        return decode(self.text + self.words[i].best_start, self.words[i].best_length)


cdef struct Found:              # one surface of a query
    uint8_t kind
    bint is_stop
    bint is_known               # its terms lie in the lexicon's table, else in `Terms`
    bint kept
    Py_ssize_t first, end
    uint32_t best
    uint32_t best_start, n_best # in `Terms.text`, if not known
    Py_ssize_t word


# ------------------------------------------------------------------------------------------------- lexicon

cdef class Lexicon:
    """Surfaces, terms and support of one index.

    Parameters
    ----------
    mode : {"korean", "prefix"}
        "prefix" is the rule of the scripts that memtree replaces: see `analyse`.

    Attributes
    ----------
    mode : str
    n_surfaces, n_s, n_b : int
        Surfaces scanned; terms (columns) of the two fields.
    """

    cdef readonly str mode
    cdef Strings surfaces       # tag: kind
    cdef Strings terms          # tag: field
    cdef Strings stems          # tag: predicate; keys before marking
    cdef double* sums           # support of each stem
    cdef uint32_t sums_capacity
    cdef uint32_t* counts       # of each surface, as last analysed
    cdef uint32_t* columns      # of each term
    cdef uint32_t* names        # the term of each column
    cdef int64_t* doc_indptr    # surface -> columns, repeats kept
    cdef uint32_t* doc_columns
    cdef uint32_t* query_indptr # surface -> columns and weights
    cdef uint32_t* query_columns
    cdef float* query_weights
    cdef uint8_t* flags
    cdef uint32_t* best_columns
    cdef uint32_t n_analysed    # surfaces that the tables above cover
    cdef uint32_t n_query       # entries of the query tables
    cdef uint32_t s_size, b_size
    cdef object owner           # views of a mapped file, else None
    cdef Terms fixed            # terms of surfaces that need no support, as far as `fixed_ends` reaches
    cdef Vector fixed_ends
    cdef Vector fixed_best
    cdef bint busy
    cdef tuple keywords
    cdef object prefixes

    def __cinit__(self, str mode="korean", keywords=()):
        cdef uint64_t seed = <uint64_t> <uintptr_t> <void*> self
        if mode not in ("korean", "prefix"):
            raise ValueError(f"mode must be 'korean' or 'prefix', not {mode!r}")
        self.mode = mode
        self.keywords = tuple(keywords)
        if (strings_init(&self.surfaces, 256, seed) or strings_init(&self.terms, 256, seed)
                or strings_init(&self.stems, 256, seed)):
            raise MemoryError

    def __dealloc__(self):
        strings_free(&self.surfaces)
        strings_free(&self.terms)
        strings_free(&self.stems)
        free_terms(&self.fixed)
        free(self.fixed_ends.items)
        free(self.fixed_best.items)
        self.free_tables()

    cdef void free_tables(self) noexcept:
        """Drop what `analyse` made."""
        if self.owner is None:
            free(self.sums)
            free(self.counts)
            free(self.columns)
            free(self.names)
            free(self.doc_indptr)
            free(self.doc_columns)
            free(self.query_indptr)
            free(self.query_columns)
            free(self.query_weights)
            free(self.flags)
            free(self.best_columns)
        self.sums = NULL
        self.sums_capacity = 0
        self.counts = self.columns = self.names = self.doc_columns = NULL
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

    # ------------------------------------------------------------------------------------------ documents

    def scan(self, str text not None):
        """Surfaces of a document.

        Parameters
        ----------
        text : str

        Returns
        -------
        array of uint32
            Surface ids in order of appearance; new surfaces get the next ids.
        """
        cdef Scanner scanner
        cdef unsigned int[::1] view
        self.own()
        memset(&scanner, 0, sizeof(scanner))
        scanner.known = &self.surfaces
        scanner.adds = True
        self.enter()
        try:
            scan_text(prepare(text), &scanner)
            out = python_array("I", bytes(4 * scanner.n))
            if scanner.n:
                view = out
                memcpy(&view[0], scanner.ids, scanner.n * sizeof(uint32_t))
            return out
        finally:
            self.busy = False
            free_scanner(&scanner)

    cdef int enter(self) except -1:
        """One change at a time: the tables move when they grow."""
        if self.busy:
            raise RuntimeError("a Lexicon can't be changed by two threads at once")
        self.busy = True
        return 0

    def analyse(self, counts, keywords=()):
        """Learn the support of stems and find the terms of each surface.

        Parameters
        ----------
        counts : buffer of uint32, shape (n_surfaces,)
            How often each surface occurs in the whole index. A surface with 0 supports nothing and gets no terms.
        keywords : sequence of str, optional
            Texts whose best stems get a column of field s in any case. In mode "prefix": the index keywords in index
            order; each token becomes the first one that it starts with or contains.
        """
        cdef const unsigned int[::1] view = counts
        if view.shape[0] != self.surfaces.n:
            raise ValueError(f"counts has {view.shape[0]} entries for {self.surfaces.n} surfaces")
        self.own()
        self.enter()
        try:
            self.free_tables()
            self.allocate()
            self.n_analysed = self.surfaces.n
            if view.shape[0]:
                memcpy(self.counts, &view[0], view.shape[0] * sizeof(uint32_t))
            self.fix_terms()
            if not self.learn():
                raise MemoryError
            if not self.find_terms():
                raise MemoryError
            for keyword in keywords:
                self.add_keyword(keyword)
            self.number_columns()
        finally:
            self.busy = False

    cdef int allocate(self) except -1:
        cdef size_t n = self.surfaces.n
        self.counts = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
        self.doc_indptr = <int64_t*> calloc(n + 1, sizeof(int64_t))
        self.query_indptr = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
        self.flags = <uint8_t*> calloc(n + 1, sizeof(uint8_t))
        self.best_columns = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
        if (self.counts == NULL or self.doc_indptr == NULL or self.query_indptr == NULL or self.flags == NULL
                or self.best_columns == NULL):
            raise MemoryError
        return 0

    cdef int fix_terms(self) except -1:
        """Terms of the new surfaces that need no support."""
        cdef uint32_t id
        cdef size_t length
        cdef const uint8_t* text
        cdef int kind
        for id in range(<uint32_t> self.fixed_ends.n, self.surfaces.n):
            kind = self.surfaces.tag[id]
            self.fixed.is_stop = False
            self.fixed.n_best = 0
            if kind > HANGUL_GLUED:
                text = strings_get(&self.surfaces, id, &length)
                if kind == LATIN or kind == IDENTIFIER:
                    latin_terms(kind, decode(text, length), &self.fixed)
                else:
                    simple_terms(kind, text, <int> length, &self.fixed)
            if (self.fixed.failed or not push(&self.fixed_ends, <uint32_t> self.fixed.n)
                    or not push(&self.fixed_best, self.fixed.is_stop | (self.fixed.n_best != 0) << 1)):
                raise MemoryError
        return 0

    cdef bint learn(self) noexcept:
        """Sum up what each surface supports, in the order of the surfaces' texts."""
        cdef SortKey* order = <SortKey*> malloc((self.surfaces.n + 1) * sizeof(SortKey))
        cdef Candidates* work = <Candidates*> malloc(sizeof(Candidates))
        cdef Py_ssize_t n = 0, i
        cdef uint64_t total = 0
        cdef uint32_t id
        cdef bint done = False
        if order != NULL and work != NULL:
            with nogil:
                strings_clear(&self.stems)
                for id in range(self.surfaces.n):
                    if self.counts[id] and self.surfaces.tag[id] <= HANGUL_GLUED:
                        order[n].text = strings_get(&self.surfaces, id, &order[n].length)
                        order[n].id = id
                        n += 1
                qsort(order, n, sizeof(SortKey), compare_keys)
                done = True
                for i in range(n):
                    total += self.counts[order[i].id]
                    if i + 1 < n and same_key(&order[i], &order[i + 1]):
                        continue
                    if not self.learn_surface(&order[i], sqrt(<double> total), work):
                        done = False
                        break
                    total = 0
        free(order)
        free(work)
        return done

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

    cdef bint learn_surface(self, const SortKey* surface, double root, Candidates* work) noexcept nogil:
        cdef Py_UCS4 run[MAX_SYLLABLES]
        cdef uint8_t text[3 * MAX_KEY]
        cdef int i, size, n = decode_hangul(surface.text, surface.length, run, MAX_SYLLABLES)
        cdef uint32_t id
        cdef uint32_t before, capacity
        cdef void* grown
        if n == 0:
            return True
        find_candidates(run, n, work)
        weigh(work, NULL)
        share_stems(work)
        for i in range(work.n):
            if work.first[i] != i or work.shares[i] <= LEAST_SHARE:
                continue
            size = encode_syllables(&work.pool[work.items[i].key], work.items[i].length, text)
            before = self.stems.n
            id = strings_intern(&self.stems, text, size, work.items[i].predicate)
            if id == NO_ID:
                return False
            if self.sums == NULL or id >= self.sums_capacity:
                grown = realloc(self.sums, <size_t> self.stems.capacity * sizeof(double))
                if grown == NULL:
                    return False
                self.sums = <double*> grown
                self.sums_capacity = self.stems.capacity
            if id == before:
                self.sums[id] = 0.0
            self.sums[id] += work.shares[i] * root
        return True

    cdef bint find_terms(self) noexcept:
        """Terms of all surfaces for documents and queries, as ids of `terms`."""
        cdef Vector doc, query, weights
        cdef Terms found
        cdef Candidates* work = <Candidates*> malloc(sizeof(Candidates))
        cdef uint32_t id
        cdef bint done = work != NULL
        memset(&doc, 0, sizeof(doc))
        memset(&query, 0, sizeof(query))
        memset(&weights, 0, sizeof(weights))
        memset(&found, 0, sizeof(found))
        if done:
            with nogil:
                strings_clear(&self.terms)
                for id in range(self.surfaces.n):
                    if self.counts[id] and not self.surface_terms(id, work, &found, &doc, &query, &weights):
                        done = False
                        break
                    self.doc_indptr[id + 1] = doc.n
                    self.query_indptr[id + 1] = <uint32_t> query.n
                self.n_query = <uint32_t> query.n
        self.doc_columns = doc.items
        self.query_columns = query.items
        self.query_weights = <float*> weights.items
        free_terms(&found)
        free(work)
        return done

    cdef bint surface_terms(self, uint32_t id, Candidates* work, Terms* found, Vector* doc, Vector* query,
                            Vector* weights) noexcept nogil:
        """Append the terms of one surface."""
        cdef Py_UCS4 run[MAX_SYLLABLES]
        cdef double support[MAX_CANDIDATES]
        cdef Py_ssize_t i, start
        cdef size_t length
        cdef const uint8_t* text
        cdef const Term* term
        cdef int n
        cdef uint32_t best
        if self.surfaces.tag[id] > HANGUL_GLUED:
            start = self.fixed_ends.items[id - 1] if id else 0
            self.flags[id] = self.fixed_best.items[id] & IS_STOP
            for i in range(start, self.fixed_ends.items[id]):
                term = &self.fixed.items[i]
                best = strings_intern(&self.terms, self.fixed.text + term.start, term.length, term.field != 0)
                if best == NO_ID or not push(doc, best):
                    return False
                if term.field != DOCUMENT_B and not (push(query, best) and push(weights, float_bits(term.weight))):
                    return False
            self.best_columns[id] = query.items[self.query_indptr[id]] if self.fixed_best.items[id] & 2 else NO_ID
            return True
        text = strings_get(&self.surfaces, id, &length)
        n = decode_hangul(text, length, run, MAX_SYLLABLES)
        if n == 0:
            return True
        find_candidates(run, n, work)
        fill_support(&self.stems, self.sums, work, self.root_count(text, length), support)
        clear_terms(found)
        document_terms(work, support, run, n, found)
        for i in range(found.n):
            term = &found.items[i]
            best = strings_intern(&self.terms, found.text + term.start, term.length, term.field)
            if best == NO_ID or not push(doc, best):
                return False
        clear_terms(found)
        query_terms(self.surfaces.tag[id], work, support, run, n, found)
        for i in range(found.n):
            term = &found.items[i]
            best = strings_lookup(&self.terms, found.text + term.start, term.length, term.field)
            if not push(query, best) or not push(weights, float_bits(term.weight)):
                return False
        self.flags[id] = IS_STOP if found.is_stop else 0
        self.best_columns[id] = query.items[self.query_indptr[id]]
        return not found.failed

    cdef int add_keyword(self, str keyword) except -1:
        """See that the best stems of a tree keyword have a column."""
        cdef bytes encoded
        for stem in self.best_stems(keyword):
            encoded = stem.encode()
            if strings_intern(&self.terms, encoded, len(encoded), 0) == NO_ID:
                raise MemoryError
        return 0

    cdef int number_columns(self) except -1:
        """Turn ids of terms into columns: field s first, each field in order of appearance."""
        cdef uint32_t id, n_s = 0, n_b = 0
        cdef size_t length
        cdef const uint8_t* text
        cdef int64_t i
        self.columns = <uint32_t*> malloc((self.terms.n + 1) * sizeof(uint32_t))
        self.names = <uint32_t*> malloc((self.terms.n + 1) * sizeof(uint32_t))
        if self.columns == NULL or self.names == NULL:
            raise MemoryError
        with nogil:
            for id in range(self.terms.n):
                if self.terms.tag[id] == 0:
                    self.columns[id] = n_s
                    n_s += 1
                else:
                    self.columns[id] = n_b
                    n_b += 1
            for id in range(self.terms.n):
                if self.terms.tag[id]:
                    self.columns[id] += n_s
                self.names[self.columns[id]] = id
            for i in range(self.doc_indptr[self.surfaces.n]):
                self.doc_columns[i] = self.columns[self.doc_columns[i]]
            for id in range(self.surfaces.n):
                if self.best_columns[id] != NO_ID:
                    self.best_columns[id] = self.columns[self.best_columns[id]]
                for i in range(self.query_indptr[id], self.query_indptr[id + 1]):
                    if self.query_columns[i] == NO_ID:  # the whole run, which is a term of another surface or of none
                        text = strings_get(&self.surfaces, id, &length)
                        self.query_columns[i] = strings_lookup(&self.terms, text, length, 0)
                    if self.query_columns[i] != NO_ID:
                        self.query_columns[i] = self.columns[self.query_columns[i]]
        self.s_size = n_s
        self.b_size = n_b
        return 0

    @property
    def doc_terms(self):
        """tuple (indptr, columns): CSR from surface to columns, repeats kept; memoryviews of copies."""
        self.check_grown()
        indptr = memoryview(copy_bytes(self.doc_indptr, (self.n_analysed + 1) * sizeof(int64_t))).cast("q")
        columns = memoryview(copy_bytes(self.doc_columns, self.doc_indptr[self.n_analysed] * sizeof(uint32_t)))
        return indptr, columns.cast("I")

    cdef int check_grown(self) except -1:
        if self.doc_indptr == NULL or self.n_analysed != self.surfaces.n:
            raise ValueError("analyse() must come first")
        return 0

    cdef Py_ssize_t expand_row(self, const unsigned int* ids, Py_ssize_t n, uint32_t* out) noexcept nogil:
        """Number of columns of one document, written to `out` if that is given; English stop words count only
        if there is nothing else."""
        cdef Py_ssize_t i, size, total = 0
        cdef uint32_t id
        cdef bint with_stop_words = True
        for i in range(n):
            if not self.is_english_stop(ids[i]):
                with_stop_words = False
                break
        for i in range(n):
            id = ids[i]
            if not with_stop_words and self.is_english_stop(id):
                continue
            size = self.doc_indptr[id + 1] - self.doc_indptr[id]
            if out != NULL:
                memcpy(out + total, self.doc_columns + self.doc_indptr[id], size * sizeof(uint32_t))
            total += size
        return total

    cdef inline bint is_english_stop(self, uint32_t id) noexcept nogil:
        return self.flags[id] & IS_STOP and self.surfaces.tag[id] == LATIN

    def expand(self, indptr, surfaces):
        """Rows of surfaces to rows of columns.

        Parameters
        ----------
        indptr : buffer of int64, shape (n_docs + 1,)
        surfaces : buffer of uint32
            Surface ids; document d has ``surfaces[indptr[d]:indptr[d + 1]]``.

        Returns
        -------
        indptr : memoryview of int64, shape (n_docs + 1,)
        columns : memoryview of uint32
            Columns with repeats.
        """
        cdef const long long[::1] starts = indptr
        cdef const unsigned int[::1] ids = surfaces
        cdef Py_ssize_t n_docs = starts.shape[0] - 1, d, i, total = 0
        cdef int64_t* out_starts
        cdef uint32_t* out
        cdef bint valid = True
        self.check_grown()
        if n_docs < 0 or starts[0] < 0 or starts[n_docs] > ids.shape[0]:
            raise ValueError("indptr does not fit surfaces")
        out_bytes = PyBytes_FromStringAndSize(NULL, (n_docs + 1) * sizeof(int64_t))
        out_starts = <int64_t*> <char*> out_bytes
        with nogil:
            out_starts[0] = 0
            for d in range(n_docs):
                if starts[d + 1] < starts[d] or starts[d + 1] > ids.shape[0]:
                    valid = False
                    break
                for i in range(starts[d], starts[d + 1]):
                    if ids[i] >= self.n_analysed:
                        valid = False
                        break
                if not valid:
                    break
                total += self.expand_row(&ids[0] + starts[d], starts[d + 1] - starts[d], NULL)
                out_starts[d + 1] = total
        if not valid:
            raise ValueError("indptr is not ascending or a surface id is unknown")
        columns = PyBytes_FromStringAndSize(NULL, total * sizeof(uint32_t))
        out = <uint32_t*> <char*> columns
        with nogil:
            for d in range(n_docs):
                out += self.expand_row(&ids[0] + starts[d], starts[d + 1] - starts[d], out)
        return memoryview(out_bytes).cast("q"), memoryview(columns).cast("I")

    # --------------------------------------------------------------------------------------------- files

    def to_parts(self, str prefix=""):
        """The lexicon as flat arrays, to be written to a file.

        Returns
        -------
        dict of str to bytes
            Names start with `prefix`.
        """
        cdef uint64_t[N_META] meta
        cdef dict parts = {}
        if self.n_analysed != self.surfaces.n:
            raise ValueError("analyse() must come first")
        meta[0] = VERSION
        meta[1] = self.mode == "prefix"
        save_strings(parts, prefix + "surfaces.", &self.surfaces, &meta[2])
        save_strings(parts, prefix + "terms.", &self.terms, &meta[6])
        save_strings(parts, prefix + "stems.", &self.stems, &meta[10])
        meta[14] = self.n_analysed
        meta[15] = self.n_query
        meta[16] = self.s_size
        meta[17] = self.b_size
        parts[prefix + "meta"] = copy_bytes(meta, sizeof(meta))
        for name, field, size in self.tables():
            parts[prefix + name] = copy_bytes((<void**> <uintptr_t> field)[0], size)
        return parts

    cdef list tables(self):
        """Name, address of the pointer and size in bytes of each array but the strings."""
        cdef size_t n = self.n_analysed, n_terms = self.terms.n
        return [
            ("sums", <uintptr_t> &self.sums, self.stems.n * sizeof(double)),
            ("counts", <uintptr_t> &self.counts, n * sizeof(uint32_t)),
            ("columns", <uintptr_t> &self.columns, n_terms * sizeof(uint32_t)),
            ("names", <uintptr_t> &self.names, n_terms * sizeof(uint32_t)),
            ("query_indptr", <uintptr_t> &self.query_indptr, (n + 1) * sizeof(uint32_t) if n else 0),
            ("query_columns", <uintptr_t> &self.query_columns, self.n_query * sizeof(uint32_t)),
            ("query_weights", <uintptr_t> &self.query_weights, self.n_query * sizeof(float)),
            ("flags", <uintptr_t> &self.flags, n),
            ("best_columns", <uintptr_t> &self.best_columns, n * sizeof(uint32_t)),
        ]

    @staticmethod
    def from_parts(parts, str prefix=""):
        """A lexicon over arrays that `to_parts` made; nothing is copied.

        Parameters
        ----------
        parts : mapping of str to buffer
        prefix : str

        Raises
        ------
        IndexFileError
            The arrays do not fit together.
        """
        cdef Lexicon lexicon
        cdef uint64_t[N_META] meta
        cdef list views = []
        cdef size_t size
        cdef const void* data
        data = part_data(parts, prefix + "meta", views, &size)
        if size != sizeof(meta):
            raise IndexFileError("the lexicon of the index has a wrong header")
        memcpy(meta, data, size)
        if meta[0] != VERSION:
            raise IndexFileError(f"the lexicon of the index has version {meta[0]}, not {VERSION}")
        lexicon = Lexicon("prefix" if meta[1] else "korean")
        strings_free(&lexicon.surfaces)
        strings_free(&lexicon.terms)
        strings_free(&lexicon.stems)
        lexicon.owner = views
        load_strings(parts, prefix + "surfaces.", &lexicon.surfaces, &meta[2], views)
        load_strings(parts, prefix + "terms.", &lexicon.terms, &meta[6], views)
        load_strings(parts, prefix + "stems.", &lexicon.stems, &meta[10], views)
        if (meta[14] != lexicon.surfaces.n or meta[15] > 0xFFFFFFFF or meta[16] > lexicon.terms.n
                or meta[16] + meta[17] != lexicon.terms.n):
            raise IndexFileError("the lexicon of the index has a wrong header")
        lexicon.n_query = <uint32_t> meta[15]
        lexicon.n_analysed = <uint32_t> meta[14]
        lexicon.s_size = <uint32_t> meta[16]
        lexicon.b_size = <uint32_t> meta[17]
        for name, field, wanted in lexicon.tables():
            (<const void**> <uintptr_t> field)[0] = part_data(parts, prefix + name, views, &size)
            if size != wanted:
                raise IndexFileError(f"the part {name} of the lexicon has {size} bytes, not {wanted}")
        return lexicon

    cdef int own(self) except -1:
        """Copy what lies in a mapped file, so that it can grow."""
        cdef list views
        cdef Strings copy
        cdef void** field
        cdef void* data
        if self.owner is None:
            return 0
        for strings_field in (<uintptr_t> &self.surfaces, <uintptr_t> &self.terms, <uintptr_t> &self.stems):
            copy_strings(<Strings*> <uintptr_t> strings_field)
        views = self.owner
        tables = self.tables()
        for _, address, size in tables:
            field = <void**> <uintptr_t> address
            data = malloc(size + 1)
            if data == NULL:
                field[0] = NULL
                raise MemoryError
            if size:
                memcpy(data, field[0], size)
            field[0] = data
        self.owner = None
        return 0

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
        if not 0 <= column < <Py_ssize_t> self.s_size + self.b_size:
            raise IndexError(f"column {column} of {self.s_size + self.b_size}")
        text = strings_get(&self.terms, self.names[column], &length)
        return "" if text == NULL else decode(text, length)

    def column(self, int field, str term not None):
        """The column of a term in field 0 (s) or 1 (b); -1 if it has none."""
        cdef bytes encoded = term.encode("utf-8", "surrogatepass")
        cdef uint32_t found = self.find_column(encoded, len(encoded), <uint8_t> field)
        return -1 if found == NO_TERM else found

    cdef uint32_t find_column(self, const uint8_t* text, size_t length, uint8_t field) noexcept nogil:
        cdef uint32_t id
        if self.columns == NULL:
            return NO_TERM
        id = strings_lookup(&self.terms, text, length, field)
        if id == NO_ID or self.columns[id] >= self.s_size + self.b_size:
            return NO_TERM
        return self.columns[id]

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
        return [(stem, self.column(0, stem)) for stem in self.best_stems(text)]

    def query(self, str text not None):
        """Analyse a query.

        Returns
        -------
        Query
        """
        return self.build(text, True, None)

    def explain_query(self, str text not None):
        """Terms of a query as strings: see `Query.terms`."""
        cdef list names = []
        cdef Query query = self.build(text, True, names)
        return [(name, query.terms[i].field, query.terms[i].weight, query.terms[i].word)
                for i, name in enumerate(names)]

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
            one.best = self.find_column(terms.text + terms.best_start, terms.n_best, 0) if terms.n_best else NO_TERM
        return 0

    cdef int find_unknown(self, int kind, const uint8_t* text, size_t length, Terms* terms) except -1:
        """Query terms of a surface by the stored support."""
        cdef Candidates work
        cdef Py_UCS4 run[MAX_SYLLABLES]
        cdef double support[MAX_CANDIDATES]
        cdef int n
        if kind == LATIN or kind == IDENTIFIER:
            latin_terms(kind, decode(text, length), terms)
        elif kind <= HANGUL_GLUED:
            n = decode_hangul(text, length, run, MAX_SYLLABLES)
            if n:
                find_candidates(run, n, &work)
                if self.sums == NULL:
                    query_terms(kind, &work, NULL, run, n, terms)
                else:
                    fill_support(&self.stems, self.sums, &work, self.root_count(text, length), support)
                    query_terms(kind, &work, support, run, n, terms)
        else:
            simple_terms(kind, text, <int> length, terms)
        if terms.failed:
            raise MemoryError
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
                        strings_get(&self.terms, self.names[one.best], &length)
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
                text = strings_get(&self.terms, self.names[one.best], &length)
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
                        if term.field != field:
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


cdef void keep_words(Found* found, Py_ssize_t n, bint drops_stop_words) noexcept nogil:
    """Mark what stays: no stop words unless nothing else is there; a pair if both its words stay. Number the words."""
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
    meta[0] = strings.n
    meta[1] = strings.n_slots
    meta[2] = strings.seed
    meta[3] = strings.text_size
    parts[prefix + "start"] = copy_bytes(strings.start, (strings.n + 1) * sizeof(uint64_t))
    parts[prefix + "tag"] = copy_bytes(strings.tag, strings.n)
    parts[prefix + "text"] = copy_bytes(strings.text, strings.text_size)
    parts[prefix + "slots"] = copy_bytes(strings.slots, strings.n_slots * sizeof(uint64_t))
    return 0


cdef int load_strings(parts, str prefix, Strings* strings, const uint64_t* meta, list views) except -1:
    """Borrow a table of strings; ids and offsets in it are checked whenever they are read."""
    cdef size_t n_start, n_tag, n_text, n_slots
    strings.start = <uint64_t*> part_data(parts, prefix + "start", views, &n_start)
    strings.tag = <uint8_t*> part_data(parts, prefix + "tag", views, &n_tag)
    strings.text = <uint8_t*> part_data(parts, prefix + "text", views, &n_text)
    strings.slots = <uint64_t*> part_data(parts, prefix + "slots", views, &n_slots)
    if (meta[0] > 0x7FFFFFFF or n_start != (meta[0] + 1) * sizeof(uint64_t) or n_tag != meta[0] or n_text != meta[3]
            or n_slots % sizeof(uint64_t) or n_slots // sizeof(uint64_t) != meta[1]
            or meta[1] == 0 or meta[1] & (meta[1] - 1)):
        memset(strings, 0, sizeof(Strings))
        raise IndexFileError(f"the part {prefix}* of the lexicon has wrong sizes")
    strings.n = <uint32_t> meta[0]
    strings.n_slots = meta[1]
    strings.seed = meta[2]
    strings.text_size = meta[3]
    return 0


cdef int copy_strings(Strings* strings) except -1:
    """Replace a borrowed table by one of our own with the same ids."""
    cdef Strings copy
    cdef uint32_t id
    cdef size_t length
    cdef const uint8_t* text
    if strings.capacity:
        return 0
    if strings_init(&copy, strings.n + strings.n // 2, strings.seed):
        raise MemoryError
    for id in range(strings.n):
        text = strings_get(strings, id, &length)
        if text == NULL or strings_intern(&copy, text, length, strings.tag[id]) != id:
            strings_free(&copy)
            raise IndexFileError("the lexicon of the index is damaged")
    strings[0] = copy
    return 0


cdef const void* part_data(parts, str name, list views, size_t* size) except? NULL:
    """Address and size of a part; the view that keeps it alive goes to `views`."""
    cdef const unsigned char[::1] view
    try:
        part = memoryview(parts[name])
    except KeyError:
        raise IndexFileError(f"the index has no part {name}") from None
    size[0] = part.nbytes
    if part.nbytes == 0:
        return NULL
    views.append(part)
    view = part.cast("B")
    return &view[0]


cdef bytes copy_bytes(const void* data, size_t size):
    return PyBytes_FromStringAndSize(<const char*> data, size) if size else b""


cdef int map_spans(Query query, str text, str prepared) except -1:
    """Turn the spans of words in the prepared text into spans of the original."""
    cdef list starts = original_starts(text)
    cdef Py_ssize_t i, n = len(starts)
    if n != len(prepared) + 1:
        return 0
    for i in range(query.n_words):
        query.words[i].start = <uint32_t> <Py_ssize_t> starts[min(query.words[i].start, n - 1)]
        query.words[i].end = <uint32_t> <Py_ssize_t> starts[min(query.words[i].end, n - 1)]
    return 0


cdef list original_starts(str text):
    """For each character of NFKC(text), and its end, where the characters that made it start in `text`."""
    from unicodedata import combining, normalize
    cdef list starts = []
    cdef Py_ssize_t i = 0, j, n = len(text)
    while i < n:
        j = i + 1
        while j < n and (combining(text[j]) or 0x1160 <= ord(text[j]) < 0x1200 or 0xFF9E <= ord(text[j]) < 0xFFA0
                         or (0x314F <= ord(text[j]) < 0x3164)):
            j += 1
        starts += [i] * len(normalize("NFKC", text[i:j]))
        i = j
    starts.append(n)
    return starts
