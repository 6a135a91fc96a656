"""C interface of the scanner and of its table of strings; see `_text.pyx`, `_strings.h`."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "_strings.h" nogil:
    ctypedef struct Strings "memtree_strings":
        uint32_t n
        uint32_t capacity
        uint64_t n_slots
        uint64_t seed
        uint64_t text_size
        uint64_t text_capacity
        uint32_t* start
        uint8_t* tag
        uint8_t* text
        uint64_t* slots
    uint32_t NO_ID "MEMTREE_NO_ID"
    int strings_init "memtree_strings_init"(Strings*, uint32_t capacity, uint64_t seed)
    uint64_t slots_for "memtree_slots_for"(uint32_t n)
    void strings_fill "memtree_strings_fill"(const Strings*, uint64_t* slots, uint64_t n_slots)
    void strings_free "memtree_strings_free"(Strings*)
    void strings_clear "memtree_strings_clear"(Strings*)
    const uint8_t* strings_get "memtree_strings_get"(const Strings*, uint32_t id, size_t* length)
    uint32_t strings_lookup "memtree_strings_lookup"(const Strings*, const uint8_t*, size_t, uint8_t tag)
    uint32_t strings_intern "memtree_strings_intern"(Strings*, const uint8_t*, size_t, uint8_t tag)

    ctypedef struct Batch "memtree_batch":
        int n
        uint32_t used
    int BATCH_TEXT "MEMTREE_BATCH_TEXT"
    bint batch_fits "memtree_batch_fits"(const Batch*, size_t length)
    void batch_add "memtree_batch_add"(Batch*, const Strings*, const uint8_t*, size_t, uint8_t tag)
    int batch_intern "memtree_batch_intern"(Batch*, Strings*, uint32_t* out)

# Kinds of surfaces: the tag of a surface in its table.
cdef enum Kind:
    HANGUL = 1          # a run of Hangul syllables
    HANGUL_GLUED = 2    # the same right after Latin letters or digits: no stop word
    COUNTER = 3         # 일 인 만 엔 after a digit, kept as it is
    HANGUL_LONG = 4     # two syllables of a run of over 64: a bigram
    PAIR = 5            # two one-syllable runs with one space between
    LATIN = 6           # letters with their marks, digits; in lower case unless capitals part it (camelCase)
    IDENTIFIER = 7      # such words joined by . _ / \ -, or one right before Hangul: never a stop word
    HAN = 8
    KANA = 9
    OTHER = 10          # letters of another script
    TOKEN = 11          # letters, digits and _ of any kind, in mode "prefix"

cdef enum:
    UNKNOWN = 0x80000000    # set in the ids of surfaces that a fixed table does not hold

cdef struct Scanner:
    Strings* known          # surfaces; new ones are added if `adds`, else they go to `unknown`
    Strings* unknown
    bint adds
    bint with_spans
    bint failed             # no memory
    uint32_t* ids           # surfaces in order of appearance
    uint32_t* spans         # start and end of each in code points, if `with_spans`
    Py_ssize_t n, capacity
    Batch* batch            # optional, if `adds` and not `with_spans`: surfaces are looked up many at a time

cdef str prepare(str text)
cdef int scan_text(str text, Scanner* scanner) except -1
cdef str scan_tokens(str text, Scanner* scanner)
cdef void free_scanner(Scanner* scanner) noexcept nogil
cdef bint is_border(const uint32_t* word, Py_ssize_t i, Py_ssize_t n) noexcept nogil
cdef int encode_syllables(const Py_UCS4* run, Py_ssize_t n, uint8_t* out) noexcept nogil
cdef int decode_hangul(const uint8_t* text, size_t length, Py_UCS4* out, int room) noexcept nogil

cdef struct Edge:
    uint64_t key            # node << 32 | character, plus 1; 0 for a free slot
    uint32_t child

cdef class PrefixTrie:
    cdef readonly tuple keywords
    cdef Edge* edges
    cdef uint64_t n_edges
    cdef uint32_t* ends     # for each node: the first keyword that ends there,
    cdef uint32_t* least    # and the first one that passes through

    cdef inline uint32_t child(self, uint32_t node, uint32_t c) noexcept nogil
    cdef uint32_t find(self, str token)
    cdef str replace(self, str token)
