"""The lexicon of an index that grows: documents to surfaces, surfaces to columns of the term-document matrix.

A surface has an id from the first time it is scanned. `Lexicon.analyse` learns the support of each stem from
the number of times that each surface occurs, and then finds the terms of each surface for documents and for
queries.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from memtree._korean cimport MAX_CANDIDATES, MAX_SYLLABLES, Candidates, find_candidates
from memtree._support cimport add_support, fill_support
from memtree._terms cimport (
    DOCUMENT_B, Term, Terms, clear_terms, document_terms, free_terms, latin_terms, query_terms, simple_terms,
)
from memtree._text cimport (
    HANGUL_GLUED, IDENTIFIER, LATIN, NO_ID, TOKEN, Scanner, Strings, decode_hangul, free_scanner, prepare,
    scan_text, scan_tokens, strings_clear, strings_free, strings_get, strings_init, strings_intern,
    strings_lookup,
)
from memtree._vocabulary cimport IS_STOP, Vocabulary, buffer_data, copy_bytes
from memtree.errors import IndexFileError


cdef enum:
    FIELD_B = 0x80000000        # marks ids of terms of field b until columns are numbered


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


cdef class Lexicon(Vocabulary):
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

    cdef Terms fixed            # terms of surfaces that need no support, as far as `fixed_ends` reaches
    cdef Vector fixed_ends
    cdef Vector fixed_best

    def __init__(self, str mode="korean"):
        if mode not in ("korean", "prefix"):
            raise ValueError(f"mode must be 'korean' or 'prefix', not {mode!r}")
        self.mode = mode

    def __dealloc__(self):
        free_terms(&self.fixed)
        free(self.fixed_ends.items)
        free(self.fixed_best.items)

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
        from array import array
        memset(&scanner, 0, sizeof(scanner))
        scanner.known = &self.surfaces
        scanner.adds = True
        self.acquire()
        try:
            self.own()
            if self.mode == "prefix":
                scan_tokens(text, &scanner)
            else:
                scan_text(prepare(text), &scanner)
            return array("I", copy_bytes(scanner.ids, scanner.n * sizeof(uint32_t)))
        finally:
            self.release()
            free_scanner(&scanner)

    def analyse(self, counts, keywords=()):
        """Learn the support of stems and find the terms of each surface.

        Parameters
        ----------
        counts : buffer of uint32, shape (n_surfaces,)
            How often each surface occurs in the whole index. A surface with 0 supports nothing and gets no
            terms.
        keywords : sequence of str, optional
            Texts whose best stems get a column of field s in any case. In mode "prefix": the index keywords
            in index order; each token becomes the first one that it starts with or contains.
        """
        cdef list views = []
        cdef size_t n
        cdef const void* data = buffer_data(counts, sizeof(uint32_t), "counts", views, &n)
        cdef tuple texts = tuple(keywords)
        self.acquire()
        try:
            if n != self.surfaces.n:
                raise ValueError(f"counts has {n} entries for {self.surfaces.n} surfaces")
            self.own()
            self.set_keywords(texts)
            self.free_tables()
            try:
                self.allocate()
                if n:
                    memcpy(self.counts, data, n * sizeof(uint32_t))
                self.fill_tables()
            except BaseException:
                self.free_tables()
                raise
        finally:
            self.release()

    cdef int fill_tables(self) except -1:
        """Everything that follows from the counts."""
        self.fix_terms()
        if not self.learn() or not self.find_terms():
            raise MemoryError
        if self.mode == "korean":
            for keyword in self.keywords:
                self.add_keyword(keyword)
        with nogil:
            self.number_columns()
        return 0

    cdef int set_keywords(self, tuple keywords) except -1:
        if keywords != self.keywords and self.mode == "prefix":
            self.prefixes = None
            free_terms(&self.fixed)     # all of them may change
            self.fixed_ends.n = self.fixed_best.n = 0
        self.keywords = keywords
        return 0

    cdef int allocate(self) except -1:
        cdef size_t n = self.surfaces.n
        self.counts = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
        self.doc_indptr = <int64_t*> calloc(n + 1, sizeof(int64_t))
        self.query_indptr = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
        self.flags = <uint8_t*> calloc(n + 1, sizeof(uint8_t))
        self.best_columns = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
        self.n_analysed = self.surfaces.n
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
                    latin_terms(kind, text, length, &self.fixed)
                elif kind == TOKEN:
                    self.token_terms(text, length, &self.fixed)
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
                strings_clear(&self.sums.stems)
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

    cdef bint learn_surface(self, const SortKey* surface, double root, Candidates* work) noexcept nogil:
        cdef Py_UCS4 run[MAX_SYLLABLES]
        cdef int n = decode_hangul(surface.text, surface.length, run, MAX_SYLLABLES)
        return n == 0 or add_support(&self.sums, run, n, root, work)

    cdef bint find_terms(self) noexcept:
        """Terms of all surfaces for documents and queries, as ids of terms."""
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
                strings_clear(&self.terms[0])
                strings_clear(&self.terms[1])
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
                best = self.intern_term(&self.fixed, term)
                if best == NO_ID or not push(doc, best):
                    return False
                if term.field == DOCUMENT_B:
                    continue
                if not push(query, best) or not push(weights, float_bits(term.weight)):
                    return False
            self.best_columns[id] = NO_ID
            if self.fixed_best.items[id] & 2:
                self.best_columns[id] = query.items[self.query_indptr[id]]
            return True
        text = strings_get(&self.surfaces, id, &length)
        n = decode_hangul(text, length, run, MAX_SYLLABLES)
        if n == 0:
            return True
        find_candidates(run, n, work)
        fill_support(&self.sums, work, self.root_count(text, length), support)
        clear_terms(found)
        document_terms(work, support, run, n, found)
        for i in range(found.n):
            term = &found.items[i]
            best = self.intern_term(found, term)
            if best == NO_ID or not push(doc, best):
                return False
        clear_terms(found)
        query_terms(self.surfaces.tag[id], work, support, run, n, found)
        for i in range(found.n):
            term = &found.items[i]
            if not push(query, self.find_term(found, term)) or not push(weights, float_bits(term.weight)):
                return False
        self.flags[id] = IS_STOP if found.is_stop else 0
        self.best_columns[id] = query.items[self.query_indptr[id]]
        return not found.failed

    cdef int add_keyword(self, str keyword) except -1:
        """See that the best stems of a tree keyword have a column."""
        cdef bytes encoded
        for stem in self.best_stems(keyword):
            encoded = stem.encode()
            if strings_intern(&self.terms[0], encoded, len(encoded), 0) == NO_ID:
                raise MemoryError
        return 0

    cdef void number_columns(self) noexcept nogil:
        """Turn ids of terms into columns, field s first."""
        cdef uint32_t id, n_s = self.terms[0].n
        cdef size_t length
        cdef const uint8_t* text
        cdef int64_t i
        for i in range(self.doc_indptr[self.n_analysed]):
            if self.doc_columns[i] & FIELD_B:
                self.doc_columns[i] = n_s + (self.doc_columns[i] ^ FIELD_B)
        for id in range(self.n_analysed):
            for i in range(self.query_indptr[id], self.query_indptr[id + 1]):
                if self.query_columns[i] == NO_ID:  # the whole run: a term of another surface or of none
                    text = strings_get(&self.surfaces, id, &length)
                    self.query_columns[i] = strings_lookup(&self.terms[0], text, length, 0)
                elif self.query_columns[i] & FIELD_B:
                    self.query_columns[i] = n_s + (self.query_columns[i] ^ FIELD_B)
        self.s_size = n_s
        self.b_size = self.terms[1].n

    cdef inline uint32_t intern_term(self, const Terms* terms, const Term* term) noexcept nogil:
        """The id of a term, with `FIELD_B` if it belongs there."""
        cdef int field = term.field != 0
        cdef uint32_t id = strings_intern(&self.terms[field], terms.text + term.start, term.length, 0)
        return id | FIELD_B if field and id != NO_ID else id

    cdef inline uint32_t find_term(self, const Terms* terms, const Term* term) noexcept nogil:
        cdef int field = term.field != 0
        cdef uint32_t id = strings_lookup(&self.terms[field], terms.text + term.start, term.length, 0)
        return id | FIELD_B if field and id != NO_ID else id

    @property
    def doc_terms(self):
        """tuple (indptr, columns): CSR from surface to columns, repeats kept; memoryviews of copies."""
        self.acquire()
        try:
            self.check_grown()
            indptr = copy_bytes(self.doc_indptr, (self.n_analysed + 1) * sizeof(int64_t))
            columns = copy_bytes(self.doc_columns, self.doc_indptr[self.n_analysed] * sizeof(uint32_t))
        finally:
            self.release()
        return memoryview(indptr).cast("q"), memoryview(columns).cast("I")

    cdef int check_grown(self) except -1:
        if self.doc_indptr == NULL or self.n_analysed != self.surfaces.n:
            raise ValueError("analyse() must come first")
        return 0

    cdef Py_ssize_t expand_row(self, const uint32_t* ids, Py_ssize_t n, uint32_t* out) noexcept nogil:
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
        cdef list views = []
        cdef size_t n_starts, n_ids
        cdef const int64_t* starts = <const int64_t*> buffer_data(indptr, 8, "indptr", views, &n_starts)
        cdef const uint32_t* ids = <const uint32_t*> buffer_data(surfaces, 4, "surfaces", views, &n_ids)
        cdef Py_ssize_t n_docs = <Py_ssize_t> n_starts - 1, total
        cdef int64_t* out_starts
        cdef uint32_t* out
        if n_docs < 0 or starts[0] < 0:
            raise ValueError("indptr does not fit surfaces")
        out_bytes = PyBytes_FromStringAndSize(NULL, (n_docs + 1) * sizeof(int64_t))
        out_starts = <int64_t*> <char*> out_bytes
        self.acquire()
        try:
            self.check_grown()
            with nogil:
                total = self.expand_rows(starts, n_docs, ids, n_ids, out_starts, NULL)
            if total < 0:
                raise ValueError("indptr is not ascending or a surface id is unknown")
            columns = PyBytes_FromStringAndSize(NULL, total * sizeof(uint32_t))
            out = <uint32_t*> <char*> columns
            with nogil:
                self.expand_rows(starts, n_docs, ids, n_ids, out_starts, out)
        finally:
            self.release()
        return memoryview(out_bytes).cast("q"), memoryview(columns).cast("I")

    cdef Py_ssize_t expand_rows(self, const int64_t* starts, Py_ssize_t n_docs, const uint32_t* ids,
                                Py_ssize_t n_ids, int64_t* out_starts, uint32_t* out) noexcept nogil:
        """Number of columns of all documents, written to `out` if that is given; -1 if an input is wrong."""
        cdef Py_ssize_t d, i, total = 0
        out_starts[0] = 0
        for d in range(n_docs):
            if starts[d + 1] < starts[d] or starts[d + 1] > n_ids:
                return -1
            for i in range(starts[d], starts[d + 1]):
                if ids[i] >= self.n_analysed:
                    return -1
            total += self.expand_row(ids + starts[d], starts[d + 1] - starts[d],
                                     NULL if out == NULL else out + total)
            out_starts[d + 1] = total
        return total

    cdef int own(self) except -1:
        """Copy what lies in a mapped file, so that it can grow."""
        cdef void** field
        cdef void* data
        if not self.is_mapped:
            return 0
        copy_strings(&self.surfaces)
        copy_strings(&self.terms[0])
        copy_strings(&self.terms[1])
        copy_strings(&self.sums.stems)
        for _, address, size in self.tables():
            field = <void**> <uintptr_t> address
            data = malloc(size + 1)
            if data == NULL:
                field[0] = NULL
                raise MemoryError
            if size:
                memcpy(data, field[0], size)
            field[0] = data
        self.is_mapped = False
        self.sums.capacity = self.sums.stems.n
        self.owner = None
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
