"""BM25 over a sparse term-document matrix: postings, scores, exact top k.

``Postings`` is the matrix of term frequencies by column (term), in the layout of ``_postings.h``. It knows no
word, file or setting: terms are column numbers, documents are row numbers. A matrix may have several *fields*,
contiguous blocks of columns, each with its own document lengths.

Every variant scores a document as ``base + sum over the query of (weight * idf) * (tf / (tf + K))``, in float32
and in query order, with ``K = k1 * (1 - b + b * length / average length)`` computed in double and rounded once:

========== ========================== ================= =========== ==============================
method     idf                        idf scaled by     k1 in K     base, a term
========== ========================== ================= =========== ==============================
lucene     ln(1 + (N-df+.5)/(df+.5))  1                 k1          0
robertson  ln((N-df+.5)/(df+.5))      1                 k1          0
atire      ln(N/df)                   k1 + 1            k1          0
okapi      robertson's; below 0:      k1 + 1            k1          0
           epsilon * mean idf
bm25+      ln((N+1)/df)               k1 + 1            k1          idf delta
bm25l      ln((N+1)/(df+.5))          k1 (k1+1) /       k1 + delta  idf (k1+1) delta / (k1 + delta)
                                      (k1 + delta)
========== ========================== ================= =========== ==============================

The forms are those of Kamphuis, de Vries, Boytsov and Lin, "Which BM25 do you mean?" (ECIR 2020), okapi that
of rank_bm25. BM25+ and BM25L also score documents without a term; that constant is taken out of each term and
added once, which leaves tf / (tf + K) for these two as well: with c = tf / norm and f(x) = (k1+1) x / (k1+x), BM25L is
f(c + delta) = f(delta) + k1 (k1+1) / (k1+delta) * tf / (tf + (k1+delta) norm).
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.math cimport isfinite, log
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from memtree.errors import IndexFileError

cdef extern from "_search.h":
    const int MT_WINDOW, MT_WINDOW_BITS, MT_TABLE_TF, MT_NO_CODE

    ctypedef struct mt_hit:
        float score
        uint32_t doc
    ctypedef struct mt_heap:
        mt_hit* hits
        int64_t n, k
    ctypedef struct mt_query:
        const mt_postings* postings
        mt_term* terms
        int64_t n_terms
        float base
        int may_be_weak, filtered
        const uint32_t* allowed
        int64_t n_allowed
        const uint32_t* removed
        int64_t n_removed
    ctypedef struct mt_scratch:
        pass

    int64_t mt_windows(int64_t n_docs) noexcept nogil
    void mt_open_term(const mt_postings* p, int64_t term, mt_term* out) noexcept nogil
    int64_t mt_probe(const mt_term* t, int64_t window, uint32_t local) noexcept nogil
    void mt_seek(mt_term* t, int64_t window) noexcept nogil
    float mt_contribution(
        const mt_postings* p, const mt_term* t, int64_t window, uint32_t local
    ) noexcept nogil
    float mt_saturation(float tf, float k) noexcept nogil
    float mt_norm(const mt_norms* n, uint32_t length) noexcept nogil
    void mt_add_term(const mt_postings* p, mt_term* t, float* scores) noexcept nogil
    void mt_search(const mt_query* q, mt_scratch* s, mt_heap* heap) noexcept nogil

cdef extern from "_build.h":
    ctypedef struct mt_big_list:
        int64_t* pos
        uint32_t* tf
        int64_t n
    int mt_plan(mt_postings* p, const uint32_t* df, int64_t* indptr, int64_t* block) noexcept nogil
    int mt_count_rows(
        int64_t n_docs, int64_t n_terms, const int64_t* row, const uint32_t* terms,
        uint32_t* df, uint32_t* last, int64_t* bad
    ) noexcept nogil
    int mt_fill_rows(
        const mt_postings* p, const int64_t* row, const uint32_t* terms, uint8_t* ids, uint8_t* tf,
        uint32_t* used, uint32_t* last, mt_big_list* big
    ) noexcept nogil
    int mt_fill_columns(
        const mt_postings* p, const uint32_t* docs, const uint32_t* counts, uint8_t* ids, uint8_t* tf,
        mt_big_list* big
    ) noexcept nogil

METHODS = ("lucene", "robertson", "atire", "okapi", "bm25+", "bm25l")
DEFAULT_DELTA = {"bm25+": 1.0, "bm25l": 0.5}

cdef int64_t LAYOUT = 1
cdef int64_t N_META = 8
cdef int64_t MAX_DOCS = (1 << 32) - (1 << 16)
cdef int64_t MAX_TERMS = (1 << 32) - 1
# A match whose terms could all sum to less than this is looked for with marks instead of by its score.
cdef float WEAK = 1e-30
cdef str REMEDY = "delete the file; it is rebuilt from its source"


cdef object new_bytes(int64_t size):
    """A bytearray of `size` bytes, not zeroed."""
    return PyByteArray_FromStringAndSize(NULL, size)


cdef void* start_of(object buffer) except *:
    """Address of a contiguous buffer that something else keeps alive; empty ones give a valid dummy."""
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B") if len(buffer) else b"\0"
    return <void*>&view[0]


cdef class Lengths:
    """Document lengths by field, each with a 16-bit code of its value, so that tables can replace divisions."""

    def __cinit__(self, int64_t n_docs, int64_t n_fields, owner):
        cdef int64_t n = n_docs * n_fields, i, field, slot
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


cdef class Postings:
    """Term-document matrix of one kind of unit, and BM25 over it.

    Made by `build`, `from_csc` or `from_parts`. Searching and scoring are safe from many threads; `set_params`
    is not.
    """

    def __cinit__(self):
        self.parts = {}
        self.method = "lucene"
        self.k1 = 1.2
        self.b = 0.75
        self.epsilon = 0.25

    def __init__(self):
        raise TypeError("use Postings.build, from_csc or from_parts")

    def __dealloc__(self):
        free(self.field_starts)
        free(self.given_idf)
        self.forget()

    cdef void forget(self) noexcept:
        """Drop what depends on the parameters."""
        free(self.norms)
        free(self.table)
        free(self.idf)
        free(self.shift)
        self.norms = NULL
        self.table = self.idf = self.shift = NULL
        self.is_prepared = False

    # ------------------------------------------------------------------ making

    @staticmethod
    def build(const int64_t[::1] indptr, const uint32_t[::1] terms, field_starts):
        """Count rows of term ids into postings (a counting sort, two passes, without the GIL).

        Parameters
        ----------
        indptr : int64 buffer, shape (n_docs + 1,)
            Row i is ``terms[indptr[i]:indptr[i + 1]]``.
        terms : uint32 buffer
            Term ids in any order; a repeat raises the term frequency.
        field_starts : sequence of int
            First column of each field, and the number of columns.
        """
        cdef Postings self = Postings.__new__(Postings)
        cdef int64_t n_docs = indptr.shape[0] - 1, i, field, bad = -1
        cdef const uint32_t* term = &terms[0] if terms.shape[0] else NULL
        cdef const int64_t* row
        cdef uint32_t* df
        cdef uint32_t* last
        cdef uint32_t* length
        cdef int status
        if n_docs < 0 or indptr[0] != 0 or indptr[n_docs] != terms.shape[0]:
            raise ValueError("indptr must start with 0 and end with the number of terms")
        for i in range(n_docs):
            if indptr[i] > indptr[i + 1]:
                raise ValueError(f"indptr falls at row {i}")
        self.set_shape(n_docs, field_starts)
        row = &indptr[0]
        df = <uint32_t*>calloc(self.p.n_terms + 1, sizeof(uint32_t))
        last = <uint32_t*>calloc(self.p.n_terms + 1, sizeof(uint32_t))
        try:
            if not df or not last:
                raise MemoryError
            with nogil:
                status = mt_count_rows(n_docs, self.p.n_terms, row, term, df, last, &bad)
            if status:
                raise ValueError(f"term id {terms[bad]} is not below the number of columns, {self.p.n_terms}")
            self.allocate(df)
            length = <uint32_t*><char*>PyByteArray_AS_STRING(self.parts["doc_len"])
            with nogil:
                memset(length, 0, <size_t>(n_docs * self.n_fields * 4))
                if self.n_fields == 1:
                    for i in range(n_docs):
                        length[i] = <uint32_t>(row[i + 1] - row[i])
                else:
                    for i in range(n_docs):
                        for bad in range(row[i], row[i + 1]):
                            length[self.field_of(term[bad]) * n_docs + i] += 1
                memset(df, 0, <size_t>self.p.n_terms * sizeof(uint32_t))
                memset(last, 0, <size_t>self.p.n_terms * sizeof(uint32_t))
            self.fill(row, term, NULL, df, last)
        finally:
            free(df)
            free(last)
        return self

    @staticmethod
    def from_csc(indptr, indices, tf, int64_t n_docs, field_starts, doc_len=None):
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
        cdef Postings self = Postings.__new__(Postings)
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
                    if total > 0xFFFFFFFF:
                        raise ValueError(f"document {docs[i]} is longer than 4,294,967,295 terms")
                    length[field * n_docs + docs[i]] = <uint32_t>total
        if docs.shape[0]:
            self.fill(NULL, &docs[0], &counts[0], NULL, NULL)
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

    cdef int fill(
        self, const int64_t* row, const uint32_t* ids, const uint32_t* counts, uint32_t* used, uint32_t* last
    ) except -1:
        """Write the postings of rows, or (without `row`) of ready columns."""
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
                    status = mt_fill_rows(&self.p, row, ids, out_ids, out_tf, used, last, &big)
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

    @staticmethod
    def from_parts(parts, str prefix=""):
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
        cdef Postings self = Postings.__new__(Postings)
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
        return mt_probe(&opened, doc >> MT_WINDOW_BITS, <uint32_t>(doc & (MT_WINDOW - 1))) >= 0

    cdef int64_t field_of(self, int64_t term) noexcept nogil:
        cdef int64_t field = 0
        while field + 1 < self.n_fields and term >= self.field_starts[field + 1]:
            field += 1
        return field

    # ------------------------------------------------------------------ parameters

    def set_params(self, str method="lucene", k1=1.2, b=0.75, delta=None, epsilon=0.25, idf=None):
        """Choose the variant and its parameters; takes effect with the next search.

        Parameters
        ----------
        method : {"lucene", "robertson", "atire", "okapi", "bm25+", "bm25l"}
        k1 : float, >= 0
        b : float in [0, 1]
        delta : float, >= 0, optional
            Of bm25+ (default 1) and bm25l (default 0.5).
        epsilon : float
            Of okapi.
        idf : float64 buffer, shape (n_terms,), optional
            Taken instead of the idf computed from the document frequencies.
        """
        cdef const double[::1] given
        cdef int64_t i
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        k1 = check_number("k1", k1, 0.0, 1e9)
        b = check_number("b", b, 0.0, 1.0)
        delta = check_number("delta", DEFAULT_DELTA.get(method, 0.0) if delta is None else delta, 0.0, 1e9)
        epsilon = check_number("epsilon", epsilon, -1e9, 1e9)
        if method == "bm25l" and k1 + delta == 0.0:
            raise ValueError("bm25l needs k1 + delta above 0")
        if idf is not None:
            given = idf
            if given.shape[0] != self.p.n_terms:
                raise ValueError(f"idf must have {self.p.n_terms} entries, not {given.shape[0]}")
            for i in range(self.p.n_terms):
                if not isfinite(given[i]):
                    raise ValueError(f"idf[{i}] is {given[i]}, not a finite number")
        free(self.given_idf)
        self.given_idf = NULL
        if idf is not None:
            self.given_idf = <double*>malloc(<size_t>(self.p.n_terms + 1) * sizeof(double))
            if not self.given_idf:
                raise MemoryError
            if self.p.n_terms:
                memcpy(self.given_idf, &given[0], <size_t>self.p.n_terms * sizeof(double))
        self.method = method
        self.k1, self.b, self.delta, self.epsilon = k1, b, delta, epsilon
        self.forget()

    cdef int prepare(self) except -1:
        """Make the tables that scoring needs; with the GIL, once after each change of parameters."""
        cdef int64_t field, i, n_codes
        cdef int j
        cdef double average, k1 = self.k1
        cdef float k
        cdef mt_norms* norms
        if self.is_prepared:
            return 0
        self.forget()
        self.measure()
        n_codes = self.lengths.n_codes
        self.norms = <mt_norms*>calloc(self.n_fields, sizeof(mt_norms))
        self.table = <float*>calloc(self.n_fields * n_codes * (MT_TABLE_TF + 1), sizeof(float))
        if not self.norms or not self.table:
            raise MemoryError
        if self.method == "bm25l":
            k1 += self.delta
        self.largest_k = 0.0
        for field in range(self.n_fields):
            norms = &self.norms[field]
            average = self.lengths.totals[field] / self.p.n_docs if self.p.n_docs else 0.0
            norms.k_const = k1 * (1.0 - self.b) if average > 0.0 else k1
            norms.k_slope = k1 * self.b / average if average > 0.0 else 0.0
            norms.code = self.lengths.codes + field * self.lengths.n_padded
            norms.length = self.lengths.length + field * self.p.n_docs
            norms.coded = self.lengths.coded
            norms.factor = self.table + field * n_codes * (MT_TABLE_TF + 1)
            norms.k = norms.factor + n_codes * MT_TABLE_TF
            for i in range(n_codes):
                k = mt_norm(norms, self.lengths.values[i])
                (<float*>norms.k)[i] = k
                for j in range(1, MT_TABLE_TF):
                    (<float*>norms.factor)[i * MT_TABLE_TF + j] = mt_saturation(j, k)
            self.largest_k = max(self.largest_k, mt_norm(norms, self.lengths.longest))
        self.weigh()
        self.is_prepared = True
        return 0

    cdef int weigh(self) except -1:
        """Fill idf (scaled as the method wants it) and, for bm25+ and bm25l, the share of absent terms."""
        cdef int64_t t, n_terms = self.p.n_terms, df, n_known = 0
        cdef double scale = 1.0, shift = 0.0, mean = 0.0, raw, k1 = self.k1, n = self.p.n_docs
        cdef double* idf = <double*>calloc(n_terms + 1, sizeof(double))
        cdef int kind = METHODS.index(self.method)
        cdef bint okapi = self.method == "okapi"
        self.idf = <float*>calloc(n_terms + 1, sizeof(float))
        if not idf or not self.idf:
            free(idf)
            raise MemoryError
        if self.method in ("atire", "okapi", "bm25+"):
            scale = k1 + 1.0
        if self.method == "bm25+":
            shift = self.delta
        elif self.method == "bm25l":
            scale = k1 * (k1 + 1.0) / (k1 + self.delta)
            shift = (k1 + 1.0) * self.delta / (k1 + self.delta)
        for t in range(n_terms):
            df = self.document_frequency(t)
            idf[t] = self.given_idf[t] if self.given_idf else plain_idf(kind, n, df)
            if df > 0:
                n_known += 1
                mean += idf[t]
        if okapi and n_known and not self.given_idf:
            mean /= n_known
            for t in range(n_terms):
                if idf[t] < 0.0:
                    idf[t] = self.epsilon * mean
        for t in range(n_terms):
            self.idf[t] = <float>(idf[t] * scale)
        self.idf_unknown = <float>(plain_idf(kind, n, 0) * scale)
        if shift != 0.0:
            self.shift = <float*>calloc(n_terms + 1, sizeof(float))
            if not self.shift:
                free(idf)
                raise MemoryError
            for t in range(n_terms):
                if self.document_frequency(t) > 0:
                    self.shift[t] = <float>(idf[t] * shift)
        free(idf)
        return 0

    # ------------------------------------------------------------------ scoring

    cdef void accumulate(
        self, const uint32_t* terms, const float* weights, Py_ssize_t n, float* scores
    ) noexcept nogil:
        """scores[d] += weight * impact(term, d), in the order given; `scores` has n_docs entries."""
        cdef Py_ssize_t i
        cdef mt_term opened
        for i in range(n):
            if terms[i] >= self.p.n_terms:
                continue
            self.open_term(terms[i], weights[i], &opened)
            if opened.df:
                mt_add_term(&self.p, &opened, scores)

    cdef void open_term(self, int64_t term, float weight, mt_term* out) noexcept nogil:
        mt_open_term(&self.p, term, out)
        out.norms = &self.norms[self.field_of(term)]
        out.coef = weight * self.idf[term]

    cdef int64_t read_query(self, terms, weights, mt_term** out, float* base) except -1:
        """Check and open the terms of a query: a repeated term counts at its first place, weights added."""
        cdef int64_t n = len(terms), i, at, count = 0, term
        cdef float weight
        cdef float* merged
        cdef dict places = {}
        cdef list order = []
        if weights is not None and len(weights) != n:
            raise ValueError(f"weights must be as many as terms, {n}, not {len(weights)}")
        out[0] = <mt_term*>malloc(<size_t>(n + 1) * sizeof(mt_term))
        merged = <float*>malloc(<size_t>(n + 1) * sizeof(float))
        try:
            if not out[0] or not merged:
                raise MemoryError
            for i in range(n):
                term = terms[i]
                weight = 1.0 if weights is None else weights[i]
                if not 0 <= term < self.p.n_terms:
                    raise ValueError(f"term id {term} is not in the vocabulary of {self.p.n_terms} terms")
                if not isfinite(weight):
                    raise ValueError(f"weight of term {term} is {weights[i]}, not a finite number")
                if term in places:
                    at = places[term]
                    merged[at] += weight
                else:
                    places[term] = len(order)
                    merged[len(order)] = weight
                    order.append(term)
            base[0] = 0.0
            for i in range(len(order)):
                term = order[i]
                if merged[i] == 0.0:
                    continue
                if self.shift:
                    base[0] += merged[i] * self.shift[term]
                self.open_term(term, merged[i], &out[0][count])
                count += out[0][count].df > 0
        except BaseException:
            free(out[0])
            out[0] = NULL
            raise
        finally:
            free(merged)
        return count

    def search(self, terms, weights=None, k=10, filter=None):
        """Find the `k` best documents, exactly.

        Parameters
        ----------
        terms : sequence of int
            Column numbers; one that is repeated counts as often as it stands.
        weights : sequence of float, optional
            One a term, 1 by default.
        k : int
            Most hits wanted.
        filter : array of bool, shape (n_docs,), or sequence of int, optional
            Documents to consider, as a mask or by id.

        Returns
        -------
        ids : ndarray of int64, shape (n,), n <= k
            Documents that hold a term: higher score first, then lower id.
        scores : ndarray of float32, shape (n,)

        Raises
        ------
        ValueError
            `k` is negative, a term or filter id is out of range, a weight is not finite.
        """
        cdef int64_t wanted = min(check_count("k", k), self.p.n_docs), i, reach = 0
        cdef mt_query query
        cdef mt_heap heap
        cdef mt_scratch* scratch = NULL
        cdef const uint32_t[::1] allowed
        memset(&query, 0, sizeof(query))
        memset(&heap, 0, sizeof(heap))
        self.prepare()
        query.postings = &self.p
        if filter is not None:
            allowed = filter_ids(filter, self.p.n_docs)
            query.filtered = 1
            query.n_allowed = allowed.shape[0]
            query.allowed = &allowed[0] if query.n_allowed else NULL
            wanted = min(wanted, query.n_allowed)
        query.n_terms = self.read_query(terms, weights, &query.terms, &query.base)
        try:
            for i in range(query.n_terms):
                reach += query.terms[i].df
                if not query.terms[i].coef / (1.0 + self.largest_k) > WEAK:
                    query.may_be_weak = 1
            heap.k = min(wanted, reach)
            if heap.k:
                heap.hits = <mt_hit*>malloc(<size_t>heap.k * sizeof(mt_hit))
                scratch = <mt_scratch*>calloc(1, sizeof(mt_scratch))
                if not heap.hits or not scratch:
                    raise MemoryError
                with nogil:
                    mt_search(&query, scratch, &heap)
            return hit_arrays(&heap)
        finally:
            free(query.terms)
            free(heap.hits)
            free(scratch)

    def scores(self, terms, weights=None):
        """Score every document.

        Returns
        -------
        ndarray of float32, shape (n_docs,)
            For bm25+ and bm25l, documents without any of the terms have the score that these methods give them.
        """
        cdef mt_term* opened = NULL
        cdef float base
        cdef int64_t i, n
        self.prepare()
        out = bytearray(4 * self.p.n_docs)
        cdef float* scores = <float*><char*>PyByteArray_AS_STRING(out)
        n = self.read_query(terms, weights, &opened, &base)
        with nogil:
            for i in range(n):
                mt_add_term(&self.p, &opened[i], scores)
            if base != 0.0:
                for i in range(self.p.n_docs):
                    scores[i] += base
        free(opened)
        return numpy_array(out, "float32")

    def impact(self, int64_t term, int64_t doc):
        """What one occurrence of a term in a query adds to a document's score, beyond what absence would."""
        cdef mt_term opened
        if not 0 <= term < self.p.n_terms:
            raise ValueError(f"term id {term} is not in the vocabulary of {self.p.n_terms} terms")
        if not 0 <= doc < self.p.n_docs:
            raise ValueError(f"document id {doc} is not below {self.p.n_docs}")
        self.prepare()
        self.open_term(term, 1.0, &opened)
        if not opened.df:
            return 0.0
        mt_seek(&opened, doc >> MT_WINDOW_BITS)
        return mt_contribution(&self.p, &opened, doc >> MT_WINDOW_BITS, <uint32_t>(doc & (MT_WINDOW - 1)))

    @property
    def idf_values(self):
        """Inverse document frequency of each column as used in scoring, a float32 view."""
        self.prepare()
        return memoryview(bytes((<char*>self.idf)[:4 * self.p.n_terms])).cast("f")


cdef double plain_idf(int kind, double n, double df) noexcept nogil:
    """Inverse document frequency by position in METHODS; where df = 0 would divide by zero, 0."""
    if kind == 0:
        return log(1.0 + (n - df + 0.5) / (df + 0.5))
    if kind == 1 or kind == 3:
        return log((n - df + 0.5) / (df + 0.5))
    if kind == 5:
        return log((n + 1.0) / (df + 0.5))
    if df == 0.0:
        return 0.0
    return log(n / df) if kind == 2 else log((n + 1.0) / df)


# ---------------------------------------------------------------------- edge

cdef check_number(str name, value, double least, double most):
    number = float(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must lie in {least:g} ... {most:g}, not {value!r}")
    return number


cdef int64_t check_count(str name, value) except -1:
    import operator

    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, but is {number}")
    return min(number, 1 << 62)


cdef numpy_array(buffer, str dtype):
    import numpy

    return numpy.frombuffer(buffer, dtype=dtype)


cdef filter_ids(filter, int64_t n_docs):
    """A mask or ids as ascending distinct uint32 ids."""
    import numpy

    array = numpy.asarray(filter)
    if array.dtype == bool:
        if array.shape != (n_docs,):
            raise ValueError(f"filter mask must have shape ({n_docs},), not {array.shape}")
        return numpy.flatnonzero(array).astype(numpy.uint32)
    if array.size == 0:
        return numpy.zeros(0, numpy.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("filter must be a mask of bool or a sequence of document ids")
    ids = numpy.unique(array)
    least, most = ids.min(), ids.max()
    if least < 0 or most >= n_docs:
        wrong = least if least < 0 else most
        raise ValueError(f"filter holds the document id {wrong}, not in 0 ... {n_docs - 1}")
    return ids.astype(numpy.uint32)


cdef hit_arrays(mt_heap* heap):
    """(ids, scores) of a sorted heap."""
    ids = new_bytes(8 * heap.n)
    scores = new_bytes(4 * heap.n)
    cdef int64_t* out_ids = <int64_t*><char*>PyByteArray_AS_STRING(ids)
    cdef float* out_scores = <float*><char*>PyByteArray_AS_STRING(scores)
    cdef int64_t i
    for i in range(heap.n):
        out_ids[i] = heap.hits[i].doc
        out_scores[i] = heap.hits[i].score
    return numpy_array(ids, "int64"), numpy_array(scores, "float32")
