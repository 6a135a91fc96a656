"""The term-document matrix: how postings are made, stored, opened and described.

``Matrix`` holds term frequencies by column (term), in the layout of ``_postings.h``. It knows no word, file
or setting: terms are column numbers, documents are row numbers. A matrix may have several *fields*,
contiguous blocks of columns, each with its own document lengths. Scoring is ``_bm25.Postings``.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from memtree.errors import IndexFileError

cdef extern from "_postings.h":
    const int MT_WINDOW, MT_WINDOW_BITS, MT_NO_CODE
    void mt_open_term(const mt_postings* p, int64_t term, mt_term* out) noexcept nogil
    void mt_seek(mt_term* t, int64_t window) noexcept nogil
    int64_t mt_probe(const mt_term* t, uint32_t doc) noexcept nogil
    uint32_t mt_local_id(const mt_term* t, int64_t i) noexcept nogil
    uint32_t mt_tf(const mt_postings* p, int64_t position) noexcept nogil

cdef extern from "_pages.h" nogil:
    void memtree_large_pages(void* start, size_t size)

cdef extern from "_build.h":
    ctypedef struct mt_big_list:
        int64_t* pos
        uint32_t* tf
        int64_t n
    ctypedef struct mt_cursor:
        pass
    int mt_plan(mt_postings* p, const uint32_t* df, int64_t* indptr, int64_t* block) noexcept nogil
    int mt_count_rows(
        int64_t n_docs, int64_t n_terms, const int64_t* row, const uint32_t* terms, const uint32_t* counts,
        uint32_t* df, mt_cursor* cursors, int64_t* bad
    ) noexcept nogil
    int mt_fill_rows(
        const mt_postings* p, const int64_t* row, const uint32_t* terms, const uint32_t* counts,
        uint8_t* ids, uint8_t* tf, mt_cursor* cursors, mt_big_list* big
    ) noexcept nogil
    int mt_fill_columns(
        const mt_postings* p, const uint32_t* docs, const uint32_t* counts, uint8_t* ids, uint8_t* tf,
        mt_big_list* big
    ) noexcept nogil

cdef int64_t LAYOUT = 2
cdef int64_t N_META = 8
cdef int64_t MAX_DOCS = (1 << 32) - (1 << 16)
cdef int64_t MAX_TERMS = (1 << 32) - 1
cdef int64_t MAX_LENGTH = (1 << 32) - 1
cdef str REMEDY = "the index is damaged: build it anew"


cdef bytes EMPTY = b"\0"


cdef object new_bytes(int64_t size):
    """A bytearray of `size` bytes, not zeroed."""
    cdef object made = PyByteArray_FromStringAndSize(NULL, size)
    memtree_large_pages(PyByteArray_AS_STRING(made), <size_t>size)
    return made


cdef void* start_of(object buffer) except *:
    """Address of a contiguous buffer that something else keeps alive; empty ones give a valid dummy."""
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B") if len(buffer) else EMPTY
    return <void*>&view[0]

cdef class Lengths:
    """Document lengths by field, each with a 16-bit code of its value: tables can replace divisions."""

    def __cinit__(self, int64_t n_docs, int64_t n_fields, owner):
        cdef int64_t i, field, slot
        cdef int64_t room = 1 << 18
        cdef uint32_t value
        cdef int64_t* table
        self.n_docs = n_docs
        self.n_fields = n_fields
        self.owner = owner
        self.length = <const uint32_t*>start_of(owner)
        self.n_padded = mt_windows(n_docs) * MT_WINDOW
        self.codes = <uint16_t*>calloc(max(n_fields * self.n_padded, 1), sizeof(uint16_t))
        self.values = <uint32_t*>malloc((MT_NO_CODE + 1) * sizeof(uint32_t))
        self.totals = <double*>calloc(n_fields, sizeof(double))
        # Open addressing, at most a quarter full: value -> code + 1.
        table = <int64_t*>calloc(room, sizeof(int64_t))
        if not self.codes or not self.values or not self.totals or not table:
            free(table)
            raise MemoryError
        self.coded = 1
        with nogil:
            self.values[0] = 0
            self.n_codes = 1
            for field in range(n_fields):
                for i in range(n_docs):
                    value = self.length[field * n_docs + i]
                    self.totals[field] += value
                    if value > self.longest:
                        self.longest = value
                    if value == 0:
                        continue
                    slot = (value * <uint32_t>2654435761) >> 14
                    while table[slot] and self.values[table[slot] - 1] != value:
                        slot = (slot + 1) & (room - 1)
                    if not table[slot]:
                        if self.n_codes == MT_NO_CODE:
                            self.coded = 0
                            self.codes[field * self.n_padded + i] = MT_NO_CODE
                            continue
                        self.values[self.n_codes] = value
                        self.n_codes += 1
                        table[slot] = self.n_codes
                    self.codes[field * self.n_padded + i] = <uint16_t>(table[slot] - 1)
        free(table)

    def __dealloc__(self):
        free(self.codes)
        free(self.values)
        free(self.totals)


cdef class Matrix:
    """Term frequencies by column, of one kind of unit. Made by `build`, `from_csc` or `from_parts`."""

    def __cinit__(self):
        self.parts = {}

    def __init__(self):
        raise TypeError(f"use {type(self).__name__}.build, from_csc or from_parts")

    def __dealloc__(self):
        free(self.field_starts)

    # ------------------------------------------------------------------ making

    @classmethod
    def build(cls, const int64_t[::1] indptr, const uint32_t[::1] terms, field_starts, counts=None):
        """Count rows of term ids into postings (a counting sort, two passes, without the GIL).

        Parameters
        ----------
        indptr : int64 buffer, shape (n_docs + 1,)
            Row i is ``terms[indptr[i]:indptr[i + 1]]``.
        terms : uint32 buffer
            Term ids in any order; a repeat raises the term frequency.
        field_starts : sequence of int
            First column of each field, and the number of columns.
        counts : uint32 buffer, as long as `terms`, optional
            How often each of them counts, 0 and more; by default once.
        """
        cdef Matrix self = cls.__new__(cls)
        cdef int64_t n_docs = indptr.shape[0] - 1, i, bad = -1
        cdef const uint32_t* term = &terms[0] if terms.shape[0] else NULL
        cdef const uint32_t[::1] given
        cdef const uint32_t* count = NULL
        cdef const int64_t* row
        cdef uint32_t* df
        cdef mt_cursor* cursors
        cdef int status
        if n_docs < 0 or indptr[0] != 0 or indptr[n_docs] != terms.shape[0]:
            raise ValueError("indptr must start with 0 and end with the number of terms")
        for i in range(n_docs):
            if indptr[i] > indptr[i + 1]:
                raise ValueError(f"indptr falls at row {i}")
        if counts is not None:
            given = counts
            if given.shape[0] != terms.shape[0]:
                raise ValueError("terms and counts differ in length")
            if given.shape[0]:
                count = &given[0]
        self.set_shape(n_docs, field_starts)
        row = &indptr[0]
        df = <uint32_t*>calloc(self.p.n_terms + 1, sizeof(uint32_t))
        cursors = <mt_cursor*>calloc(self.p.n_terms + 1, sizeof(mt_cursor))
        try:
            if not df or not cursors:
                raise MemoryError
            memtree_large_pages(cursors, <size_t>self.p.n_terms * sizeof(mt_cursor))
            with nogil:
                status = mt_count_rows(n_docs, self.p.n_terms, row, term, count, df, cursors, &bad)
            if status:
                raise ValueError(f"term id {terms[bad]} is not below the number of columns, {self.p.n_terms}")
            self.allocate(df)
            self.measure_rows(row, term, count)
            self.fill(row, term, count, cursors)
        finally:
            free(df)
            free(cursors)
        return self

    cdef int measure_rows(self, const int64_t* row, const uint32_t* term, const uint32_t* count) except -1:
        """Write the lengths of the documents."""
        cdef uint32_t* length = <uint32_t*><char*>PyByteArray_AS_STRING(self.parts["doc_len"])
        cdef int64_t d, i, total, too_long = -1
        with nogil:
            memset(length, 0, <size_t>(self.n_fields * self.p.n_docs * 4))
            for d in range(self.p.n_docs):
                total = 0
                if self.n_fields == 1 and not count:
                    total = row[d + 1] - row[d]
                    length[d] = <uint32_t>total
                else:
                    for i in range(row[d], row[d + 1]):
                        total += count[i] if count else 1
                        length[self.field_of(term[i]) * self.p.n_docs + d] += count[i] if count else 1
                        if total > MAX_LENGTH:
                            break
                if total > MAX_LENGTH:
                    too_long = d
                    break
        if too_long >= 0:
            raise ValueError(f"document {too_long} is longer than 4,294,967,295 terms")
        return 0

    @classmethod
    def from_csc(cls, indptr, indices, tf, int64_t n_docs, field_starts, doc_len=None):
        """Take ready columns, such as those of a ``scipy.sparse.csc_array``.

        Parameters
        ----------
        indptr : int64 buffer, shape (n_terms + 1,)
        indices, tf : uint32 buffer, shape (n_postings,)
            Document ids, strictly ascending within a column, and term frequencies of 1 or more.
        n_docs : int
        field_starts : sequence of int
        doc_len : uint32 buffer, shape (n_fields * n_docs,), optional
            Lengths by field; by default the sums of the frequencies.
        """
        cdef Matrix self = cls.__new__(cls)
        cdef const int64_t[::1] starts = indptr
        cdef const uint32_t[::1] docs = indices
        cdef const uint32_t[::1] counts = tf
        cdef const uint32_t[::1] given
        cdef uint32_t* df
        cdef uint32_t* length
        cdef int64_t i, t, field, total
        self.set_shape(n_docs, field_starts)
        if starts.shape[0] != self.p.n_terms + 1 or starts[0] != 0 or starts[self.p.n_terms] != docs.shape[0]:
            raise ValueError("indptr must have a start for each column and end with the number of postings")
        if counts.shape[0] != docs.shape[0]:
            raise ValueError("indices and tf differ in length")
        for t in range(self.p.n_terms):
            if starts[t] > starts[t + 1]:
                raise ValueError(f"indptr falls at column {t}")
            for i in range(starts[t], starts[t + 1]):
                if docs[i] >= n_docs or counts[i] == 0 or (i > starts[t] and docs[i] <= docs[i - 1]):
                    raise ValueError(
                        f"column {t} must hold ascending ids below {n_docs} with frequencies of 1 or more"
                    )
        df = <uint32_t*>calloc(self.p.n_terms + 1, sizeof(uint32_t))
        if not df:
            raise MemoryError
        try:
            for t in range(self.p.n_terms):
                df[t] = <uint32_t>(starts[t + 1] - starts[t])
            self.allocate(df)
        finally:
            free(df)
        length = <uint32_t*><char*>PyByteArray_AS_STRING(self.parts["doc_len"])
        if doc_len is not None:
            given = doc_len
            if given.shape[0] != n_docs * self.n_fields:
                raise ValueError(f"doc_len must have {n_docs * self.n_fields} entries, not {given.shape[0]}")
            if given.shape[0]:
                memcpy(length, &given[0], <size_t>given.shape[0] * 4)
        else:
            memset(length, 0, <size_t>(n_docs * self.n_fields * 4))
            for t in range(self.p.n_terms):
                field = self.field_of(t)
                for i in range(starts[t], starts[t + 1]):
                    total = <int64_t>length[field * n_docs + docs[i]] + counts[i]
                    if total > MAX_LENGTH:
                        raise ValueError(f"document {docs[i]} is longer than 4,294,967,295 terms")
                    length[field * n_docs + docs[i]] = <uint32_t>total
        if docs.shape[0]:
            self.fill(NULL, &docs[0], &counts[0], NULL)
        return self

    cdef int set_shape(self, int64_t n_docs, field_starts) except -1:
        cdef int64_t i
        starts = list(field_starts)
        if not 2 <= len(starts) <= 65 or starts[0] != 0 or any(a > b for a, b in zip(starts, starts[1:])):
            raise ValueError(f"field_starts must ascend from 0 to the number of columns, not {starts}")
        if not 0 <= n_docs <= MAX_DOCS:
            raise ValueError(f"n_docs must lie in 0 ... {MAX_DOCS}, not {n_docs}")
        if max(starts) > MAX_TERMS:
            raise ValueError(f"at most {MAX_TERMS} columns, not {max(starts)}")
        self.p.n_docs = n_docs
        self.p.n_windows = mt_windows(n_docs)
        self.n_fields = len(starts) - 1
        self.p.n_terms = starts[self.n_fields]
        self.field_starts = <int64_t*>malloc(<size_t>(self.n_fields + 1) * sizeof(int64_t))
        if not self.field_starts:
            raise MemoryError
        for i in range(self.n_fields + 1):
            self.field_starts[i] = starts[i]
        return 0

    cdef int allocate(self, const uint32_t* df) except -1:
        """Plan the layout and make room for it."""
        cdef int64_t size = (self.p.n_terms + 1) * 8
        self.parts["indptr"] = new_bytes(size)
        self.parts["block"] = new_bytes(size)
        if mt_plan(
            &self.p, df,
            <int64_t*><char*>PyByteArray_AS_STRING(self.parts["indptr"]),
            <int64_t*><char*>PyByteArray_AS_STRING(self.parts["block"]),
        ):
            raise MemoryError
        self.parts["ids"] = new_bytes(self.p.ids_size)
        self.parts["tf"] = new_bytes(self.p.n_postings)
        self.parts["doc_len"] = new_bytes(self.n_fields * self.p.n_docs * 4)
        self.parts["big_pos"] = self.parts["big_tf"] = bytearray()
        self.attach()
        return 0

    cdef int fill(self, const int64_t* row, const uint32_t* ids, const uint32_t* counts, void* cursors) except -1:
        """Write the postings of rows (each entry counts once without `counts`), or without `row` of ready columns."""
        cdef mt_big_list big
        cdef int status
        cdef uint8_t* out_ids = <uint8_t*>PyByteArray_AS_STRING(self.parts["ids"])
        cdef uint8_t* out_tf = <uint8_t*>PyByteArray_AS_STRING(self.parts["tf"])
        memset(&big, 0, sizeof(big))
        try:
            with nogil:
                # Also the padding of blocks is written, so that equal input gives equal files.
                memset(out_ids, 0, <size_t>self.p.ids_size)
                if row:
                    status = mt_fill_rows(&self.p, row, ids, counts, out_ids, out_tf, <mt_cursor*>cursors, &big)
                else:
                    status = mt_fill_columns(&self.p, ids, counts, out_ids, out_tf, &big)
            if status:
                raise MemoryError
            if big.n:
                self.parts["big_pos"] = bytearray((<char*>big.pos)[:big.n * 8])
                self.parts["big_tf"] = bytearray((<char*>big.tf)[:big.n * 4])
                self.attach()
        finally:
            free(big.pos)
            free(big.tf)
        return 0

    cdef int attach(self) except -1:
        """Point the C structure at the parts, whose sizes are known to fit."""
        self.p.indptr = <const int64_t*>start_of(self.parts["indptr"])
        self.p.block = <const int64_t*>start_of(self.parts["block"])
        self.p.tf = <const uint8_t*>start_of(self.parts["tf"])
        self.p.ids = <const uint8_t*>start_of(self.parts["ids"])
        self.p.ids_size = len(self.parts["ids"])
        self.p.n_big = len(self.parts["big_tf"]) // 4
        self.p.big_pos = <const int64_t*>start_of(self.parts["big_pos"])
        self.p.big_tf = <const uint32_t*>start_of(self.parts["big_tf"])
        return 0

    # ------------------------------------------------------------------ storage

    def to_parts(self, str prefix=""):
        """Everything needed by `from_parts`, as buffers by name; they are this object's own memory."""
        import array

        meta = array.array("q", [
            LAYOUT, self.p.n_docs, self.p.n_terms, self.n_fields, self.p.n_postings,
            self.p.windowed_min, self.p.bitmap_min, MT_WINDOW_BITS,
        ])
        meta.extend([self.field_starts[i] for i in range(self.n_fields + 1)])
        parts = {prefix + "meta": memoryview(meta).cast("B")}
        parts.update((prefix + name, part) for name, part in self.parts.items())
        return parts

    @classmethod
    def from_parts(cls, parts, str prefix=""):
        """Use stored parts where they lie, in a time that does not grow with their size.

        Parameters
        ----------
        parts : mapping of str to contiguous bytes-like
            Such as `Sections`; kept alive as long as needed.
        prefix : str

        Raises
        ------
        IndexFileError
            The parts do not fit together. What lies within is not trusted either: a damaged term is empty.
        """
        cdef Matrix self = cls.__new__(cls)
        cdef int64_t head[8]
        cdef int64_t i
        names = ("indptr", "block", "ids", "tf", "doc_len", "big_pos", "big_tf")
        meta = bytes(parts[prefix + "meta"])
        if len(meta) < 8 * N_META or len(meta) > 8 * (N_META + 65):
            raise IndexFileError(f"postings {prefix!r} have no valid description", remedy=REMEDY)
        for i in range(N_META):
            head[i] = int.from_bytes(meta[8 * i:8 * i + 8], "little", signed=True)
        starts = [
            int.from_bytes(meta[i:i + 8], "little", signed=True) for i in range(8 * N_META, len(meta) - 7, 8)
        ]
        if head[0] != LAYOUT or head[7] != MT_WINDOW_BITS or head[3] != len(starts) - 1 or head[5] < 1:
            raise IndexFileError(f"postings {prefix!r} have another layout", remedy=REMEDY)
        try:
            self.set_shape(head[1], starts)
        except ValueError as error:
            raise IndexFileError(f"postings {prefix!r}: {error}", remedy=REMEDY) from None
        self.p.n_postings = head[4]
        self.p.windowed_min = head[5]
        self.p.bitmap_min = head[6]
        self.parts = {name: parts[prefix + name] for name in names}
        sizes = {name: len(part) for name, part in self.parts.items()}
        if (
            head[2] != self.p.n_terms
            or sizes["indptr"] != 8 * (self.p.n_terms + 1)
            or sizes["block"] != 8 * (self.p.n_terms + 1)
            or sizes["tf"] != head[4]
            or sizes["doc_len"] != 4 * self.n_fields * self.p.n_docs
            or sizes["big_tf"] % 4
            or sizes["big_pos"] != 2 * sizes["big_tf"]
        ):
            raise IndexFileError(f"postings {prefix!r} have parts of the wrong size", remedy=REMEDY)
        for name in names:
            if <uintptr_t>start_of(self.parts[name]) % 8 and sizes[name] and name != "tf":
                raise IndexFileError(f"postings {prefix!r} are not aligned", remedy=REMEDY)
        self.attach()
        return self

    @property
    def n_docs(self):
        """Number of documents, empty ones included."""
        return self.p.n_docs

    @property
    def n_terms(self):
        """Number of columns."""
        return self.p.n_terms

    @property
    def n_postings(self):
        """Number of (term, document) pairs."""
        return self.p.n_postings

    @property
    def size_bytes(self):
        """Bytes of all parts together."""
        return sum(len(part) for part in self.parts.values())

    @property
    def df(self):
        """Document frequency of each column, a uint32 view."""
        cdef int64_t t
        out = new_bytes(4 * self.p.n_terms)
        cdef uint32_t* df = <uint32_t*><char*>PyByteArray_AS_STRING(out)
        for t in range(self.p.n_terms):
            df[t] = <uint32_t>self.document_frequency(t)
        return memoryview(out).cast("I")

    def doc_len(self, int64_t field=0):
        """Length of each document in a field, a uint32 view."""
        self.check_field(field)
        if not self.p.n_docs:
            return memoryview(b"").cast("I")
        view = memoryview(self.parts["doc_len"]).cast("B").cast("I")
        return view[field * self.p.n_docs:(field + 1) * self.p.n_docs]

    def avgdl(self, int64_t field=0):
        """Mean length of a document in a field; empty documents count."""
        self.check_field(field)
        self.measure()
        return self.lengths.totals[field] / self.p.n_docs if self.p.n_docs else 0.0

    cdef int check_field(self, int64_t field) except -1:
        if not 0 <= field < self.n_fields:
            raise ValueError(f"field must lie in 0 ... {self.n_fields - 1}, not {field}")
        return 0

    cdef int measure(self) except -1:
        with self.lock:
            if self.lengths is None:
                self.lengths = Lengths(self.p.n_docs, self.n_fields, self.parts["doc_len"])
        return 0

    cdef int64_t document_frequency(self, int64_t term) noexcept nogil:
        """df of a column, 0 if it is out of range or corrupt."""
        cdef mt_term opened
        mt_open_term(&self.p, term, &opened)
        return opened.df

    cdef bint contains(self, int64_t term, int64_t doc) noexcept nogil:
        """Whether a document holds a term; False if either is out of range."""
        cdef mt_term opened
        if not 0 <= term < self.p.n_terms or not 0 <= doc < self.p.n_docs:
            return False
        mt_open_term(&self.p, term, &opened)
        if not opened.df:
            return False
        mt_seek(&opened, doc >> MT_WINDOW_BITS)
        return mt_probe(&opened, <uint32_t>doc) >= 0

    cdef int64_t field_of(self, int64_t term) noexcept nogil:
        cdef int64_t field = 0
        while field + 1 < self.n_fields and term >= self.field_starts[field + 1]:
            field += 1
        return field

    def n_docs_of(self, int64_t term, const uint32_t[::1] docs):
        """How many of the given documents, ascending, hold a term."""
        cdef mt_term opened
        cdef int64_t i, found = 0
        mt_open_term(&self.p, term, &opened)
        if opened.df:
            for i in range(docs.shape[0]):
                if docs[i] < self.p.n_docs:
                    mt_seek(&opened, docs[i] >> MT_WINDOW_BITS)
                    found += mt_probe(&opened, docs[i]) >= 0
        return found

    def to_csc(self):
        """The matrix in plain form.

        Returns
        -------
        indptr : ndarray of int64, shape (n_terms + 1,)
        indices, tf : ndarray of uint32, shape (n_postings,)
        """
        import numpy

        indptr = numpy.zeros(self.p.n_terms + 1, numpy.int64)
        numpy.cumsum(numpy.frombuffer(self.df, numpy.uint32), out=indptr[1:])
        indices = numpy.zeros(indptr[self.p.n_terms], numpy.uint32)
        tf = numpy.zeros(indptr[self.p.n_terms], numpy.uint32)
        cdef const int64_t[::1] starts = indptr
        cdef uint32_t[::1] docs = indices, counts = tf
        cdef int64_t t, w, i
        cdef mt_term opened
        with nogil:
            for t in range(self.p.n_terms):
                mt_open_term(&self.p, t, &opened)
                for w in range(self.p.n_windows if opened.df else 0):
                    mt_seek(&opened, w)
                    for i in range(opened.lo, opened.hi):
                        docs[starts[t] + i] = <uint32_t>(w << MT_WINDOW_BITS) + mt_local_id(&opened, i)
                        counts[starts[t] + i] = mt_tf(&self.p, opened.pos0 + i)
        return indptr, indices, tf
