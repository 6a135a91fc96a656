"""Which documents a search may find, and by what their scores are multiplied."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from memtree._postings cimport mt_windows

cdef extern from "_filter.h":
    void mt_count_bytes(const uint8_t* mask, int64_t n, uint32_t* left) noexcept nogil
    float mt_count_weights(const float* weights, int64_t n, uint32_t* left, int64_t* bad) noexcept nogil
    int64_t mt_list_left(
        const uint8_t* mask, const float* weights, int64_t n, uint32_t* ids, int64_t room
    ) noexcept nogil
    int64_t mt_check_ids(const int64_t* ids, int64_t n, int64_t n_docs, int* ascends) noexcept nogil
    void mt_mark_ids(const int64_t* ids, int64_t n, uint8_t* mask) noexcept nogil

# A list of ids is kept if it leaves no more than one document of this many, else a mask.
cdef int64_t SPARSE = 64


cdef class Filter:
    """A filter and a weight mask, checked once and ready for any number of searches.

    Parameters
    ----------
    documents : array of bool, shape (n_docs,), or sequence of int, optional
        Documents to consider, as a mask or by id.
    weight_mask : array of float, shape (n_docs,), optional
        What each score is multiplied by; a document of weight 0 is no hit.
    n_docs : int

    Raises
    ------
    ValueError
        A mask has another shape, an id is out of range, a weight is negative or not finite.
    """

    def __init__(self, documents, weight_mask, int64_t n_docs):
        cdef uint32_t[::1] listed
        self.owner = []
        self.n_docs = self.n_left = n_docs
        if weight_mask is not None:
            self.take_weights(weight_mask, n_docs)
        if documents is not None:
            self.take_documents(documents, n_docs)
        if self.left and self.n_left * SPARSE <= n_docs:
            import numpy

            listed = self.keep(numpy.empty(self.n_left + 8, numpy.uint32))
            self.ids = &listed[0]
            with nogil:
                self.n_left = mt_list_left(
                    self.passes, self.weights, n_docs, &listed[0], listed.shape[0]
                )
            self.passes = NULL
            self.forget_counts()

    def __dealloc__(self):
        self.forget_counts()

    cdef keep(self, array):
        """Hold on to an array that pointers lead into."""
        self.owner.append(array)
        return array

    cdef void forget_counts(self) noexcept:
        free(self.left)
        self.left = NULL

    cdef int take_counts(self, uint32_t* counts, int64_t n_docs) except -1:
        """No more of a window is left than any of the masks leaves."""
        cdef int64_t w
        if self.left:
            for w in range(mt_windows(n_docs)):
                counts[w] = min(counts[w], self.left[w])
            self.forget_counts()
        self.left = counts
        self.n_left = 0
        for w in range(mt_windows(n_docs)):
            self.n_left += counts[w]
        return 0

    cdef uint32_t* new_counts(self, int64_t n_docs) except NULL:
        cdef uint32_t* counts = <uint32_t*>malloc(<size_t>(mt_windows(n_docs) + 1) * sizeof(uint32_t))
        if not counts:
            raise MemoryError
        return counts

    cdef int take_weights(self, given, int64_t n_docs) except -1:
        import numpy

        cdef const float[::1] weights
        cdef int64_t bad = -1
        cdef uint32_t* counts
        array = numpy.asarray(given)
        if array.shape != (n_docs,) or array.dtype.kind not in "biuf":
            raise ValueError(
                f"weight_mask must hold {n_docs} numbers, one a document, not {array.dtype} of shape {array.shape}"
            )
        with numpy.errstate(over="ignore"):
            self.weight_mask = numpy.ascontiguousarray(array, numpy.float32)
        if not n_docs:
            return 0
        weights = self.weight_mask
        self.weights = &weights[0]
        counts = self.new_counts(n_docs)
        with nogil:
            self.most_weight = mt_count_weights(self.weights, n_docs, counts, &bad)
        if bad >= 0:
            free(counts)
            raise ValueError(f"weight_mask[{bad}] is {array[bad]}, not a finite number of 0 or more")
        return self.take_counts(counts, n_docs)

    cdef int take_documents(self, given, int64_t n_docs) except -1:
        import numpy

        cdef const int64_t[::1] numbers
        cdef const uint32_t[::1] ids
        cdef uint8_t[::1] marked
        cdef int64_t wrong, n
        cdef int ascends
        asked = array = numpy.asarray(given)
        if array.dtype == bool:
            if array.shape != (n_docs,):
                raise ValueError(f"filter mask must have shape ({n_docs},), not {array.shape}")
            return self.take_mask(numpy.ascontiguousarray(array).view(numpy.uint8), n_docs)
        if array.size and (array.ndim != 1 or array.dtype.kind not in "iu"):
            raise ValueError("filter must be a mask of bool or a sequence of document ids")
        n = array.size
        if n:
            array = numpy.ascontiguousarray(array, numpy.int64)
            numbers = array
            with nogil:
                wrong = mt_check_ids(&numbers[0], n, n_docs, &ascends)
            if wrong >= 0:
                raise ValueError(f"filter holds the document id {asked[wrong]}, not in 0 ... {n_docs - 1}")
            if n * SPARSE > n_docs:
                mask = numpy.zeros(n_docs, numpy.uint8)
                marked = mask
                with nogil:
                    mt_mark_ids(&numbers[0], n, &marked[0])
                return self.take_mask(mask, n_docs)
            if not ascends:
                array = numpy.unique(array)
        self.n_left = array.size
        # One more, as an empty list has no address.
        ids = self.keep(numpy.append(array, 0).astype(numpy.uint32))
        self.ids = &ids[0]
        self.forget_counts()
        return 0

    cdef int take_mask(self, array, int64_t n_docs) except -1:
        cdef const uint8_t[::1] mask = self.keep(array)
        cdef uint32_t* counts
        if not n_docs:
            return 0
        self.passes = &mask[0]
        counts = self.new_counts(n_docs)
        with nogil:
            mt_count_bytes(self.passes, n_docs, counts)
        return self.take_counts(counts, n_docs)
