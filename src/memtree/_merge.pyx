"""Segments into one: the postings of several matrices as one, written where the caller wants them."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from memtree._postings cimport Matrix, mt_postings

from memtree._bm25 import Postings

cdef extern from "_build.h":
    ctypedef struct mt_big_list:
        int64_t* pos
        uint32_t* tf
        int64_t n, room
    int mt_plan(mt_postings* p, const uint32_t* df, int64_t* indptr, int64_t* block) noexcept nogil

cdef extern from "_merge.h":
    ctypedef struct mt_segment:
        const mt_postings* p
        const uint32_t* columns
        const int64_t* ids
        const uint8_t* gone
        int64_t base
    ctypedef struct mt_ticker:
        int (*tick)(void*) noexcept nogil
        void* context
        int64_t left
    const int MT_TICK
    int mt_merge_count(
        mt_segment* segments, int64_t n, int64_t n_terms, uint32_t* df, mt_ticker* ticker
    ) noexcept nogil
    int mt_merge_fill(
        const mt_postings* p, uint8_t* ids, uint8_t* tf, mt_segment* segments, int64_t n, mt_big_list* big,
        int64_t* active, mt_ticker* ticker
    ) noexcept nogil


cdef class Ticking:
    """What is called now and then, and the exception that it raised."""

    cdef object call
    cdef object error

    def __cinit__(self, call):
        self.call = call


cdef int tick(void* context) noexcept with gil:
    cdef Ticking ticking = <Ticking> context
    try:
        ticking.call()
    except BaseException as error:
        ticking.error = error
        return -1
    return 0


cdef int64_t nothing = 0


cdef void* address(buffer, int64_t n_bytes) except *:
    """Where a writable buffer of so many bytes lies; never NULL."""
    cdef uint8_t[::1] view
    if len(buffer) != n_bytes:
        raise ValueError(f"a part must have {n_bytes} bytes, not {len(buffer)}")
    if not n_bytes:
        return <void*> &nothing
    view = memoryview(buffer).cast("B")
    return &view[0]


cdef int describe(mt_segment* out, segment, list kept) except -1:
    """Describe a segment in C; what that points at is kept alive by `kept`."""
    cdef Matrix matrix = segment.postings
    cdef const uint32_t[::1] columns, removed
    cdef const int64_t[::1] ids
    cdef uint8_t[::1] gone
    cdef int64_t i
    out.p = &matrix.p
    kept.append(matrix)
    if segment.columns is not None:
        columns = segment.columns
        if columns.shape[0] != matrix.p.n_terms:
            raise ValueError("a segment must have as many columns as its postings")
        out.columns = &columns[0] if columns.shape[0] else <const uint32_t*> &nothing
        kept.append(columns)
    if isinstance(segment.ids, int):
        out.base = segment.ids
    elif segment.ids is not None:
        ids = segment.ids
        if ids.shape[0] != matrix.p.n_docs:
            raise ValueError("a segment must have as many ids as rows")
        out.ids = &ids[0] if ids.shape[0] else <const int64_t*> &nothing
        kept.append(ids)
    if len(segment.removed):
        removed = segment.removed
        gone = bytearray(matrix.p.n_docs)
        for i in range(removed.shape[0]):
            if removed[i] < matrix.p.n_docs:
                gone[removed[i]] = 1
        out.gone = &gone[0]
        kept.append(gone)
    return 0


cdef int copy_lengths(mt_segment* segment, Matrix matrix, uint32_t* out, int64_t n_docs) except -1:
    """Put the lengths of a segment's documents at their ids."""
    cdef const uint32_t[::1] length = matrix.doc_len(0)
    cdef int64_t row, doc
    for row in range(length.shape[0]):
        doc = segment.ids[row] if segment.ids != NULL else segment.base + row
        if 0 <= doc < n_docs and not (segment.gone != NULL and segment.gone[row]):
            out[doc] = length[row]
    return 0


def merge(segments, int64_t n_docs, int64_t n_terms, allocate, on_tick):
    """The documents of all segments as one, each at the row of its id; the other rows are empty.

    Postings are read and written from the first term to the last, so that mapped files may be larger than memory.

    Parameters
    ----------
    segments : sequence of Segment
        Their `ids` may also be an int, the id of the first row. An id is in one of them, removed rows aside.
    n_docs, n_terms : int
        Of the result.
    allocate : callable
        Gets the size in bytes of each part by name; gives zeroed writable buffers by name.
    on_tick : callable
        Called without arguments after about every quarter of a million postings, and an exception ends the merge.

    Returns
    -------
    Postings
        In the buffers of `allocate`.
    """
    cdef Py_ssize_t n = len(segments), i
    cdef int64_t n_big = 0
    cdef list kept = []
    cdef Matrix result = Postings.__new__(Postings)
    cdef Ticking ticking = Ticking(on_tick)
    cdef mt_ticker ticker
    cdef mt_big_list big
    cdef mt_segment* sources = <mt_segment*> calloc(n + 1, sizeof(mt_segment))
    cdef int64_t* active = <int64_t*> calloc(n + 1, sizeof(int64_t))
    cdef uint32_t* df = NULL
    cdef int64_t* starts = NULL     # indptr, then block
    cdef uint8_t* ids
    cdef uint8_t* tf
    cdef int status
    ticker.tick = tick
    ticker.context = <void*> ticking
    ticker.left = MT_TICK
    try:
        result.set_shape(n_docs, (0, n_terms))
        df = <uint32_t*> calloc(n_terms + 1, sizeof(uint32_t))
        starts = <int64_t*> malloc(2 * (n_terms + 1) * sizeof(int64_t))
        if sources == NULL or active == NULL or df == NULL or starts == NULL:
            raise MemoryError
        for i in range(n):
            describe(&sources[i], segments[i], kept)
            n_big += sources[i].p.n_big
        with nogil:
            status = mt_merge_count(sources, n, n_terms, df, &ticker)
            if status == 0 and mt_plan(&result.p, df, starts, starts + n_terms + 1):
                status = -2
        if status == -2:
            raise MemoryError
        if status:
            raise ticking.error
        free(df)
        df = NULL
        result.parts = dict(allocate({
            "indptr": 8 * (n_terms + 1), "block": 8 * (n_terms + 1), "ids": result.p.ids_size,
            "tf": result.p.n_postings, "doc_len": 4 * n_docs, "big_pos": 8 * n_big, "big_tf": 4 * n_big,
        }))
        memcpy(address(result.parts["indptr"], 8 * (n_terms + 1)), starts, (n_terms + 1) * sizeof(int64_t))
        memcpy(address(result.parts["block"], 8 * (n_terms + 1)), starts + n_terms + 1,
               (n_terms + 1) * sizeof(int64_t))
        free(starts)
        starts = NULL
        ids = <uint8_t*> address(result.parts["ids"], result.p.ids_size)
        tf = <uint8_t*> address(result.parts["tf"], result.p.n_postings)
        big.pos = <int64_t*> address(result.parts["big_pos"], 8 * n_big)
        big.tf = <uint32_t*> address(result.parts["big_tf"], 4 * n_big)
        big.n, big.room = 0, n_big
        result.attach()
        for i in range(n):
            copy_lengths(&sources[i], segments[i].postings,
                         <uint32_t*> address(result.parts["doc_len"], 4 * n_docs), n_docs)
            on_tick()
        with nogil:
            status = mt_merge_fill(&result.p, ids, tf, sources, n, &big, active, &ticker)
        if status:
            raise ticking.error
        if big.n < n_big:   # of removed documents
            result.parts["big_pos"] = memoryview(result.parts["big_pos"])[:8 * big.n]
            result.parts["big_tf"] = memoryview(result.parts["big_tf"])[:4 * big.n]
            result.attach()
        return result
    finally:
        free(sources)
        free(active)
        free(df)
        free(starts)
