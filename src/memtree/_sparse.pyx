"""Sparse matrices of term frequencies into postings: read where they lie, whatever the types of their arrays.

scipy would copy a matrix several times to sort it by column and to sum its duplicates, in a type that may be too small
for the sums.
"""

import numpy as np
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from memtree._bm25 import Postings

ctypedef fused number:
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t
    uint64_t
    int64_t
    float
    double


def postings_of(counts):
    """Postings of a matrix, which stays as it is.

    Parameters
    ----------
    counts : scipy sparse array or matrix of numbers, shape (n_docs, n_terms)
        Indices in any order; entries that stand several times are added up, zeros left out.

    Returns
    -------
    Postings

    Raises
    ------
    TypeError
        It is no sparse matrix of numbers.
    ValueError
        An entry is not a whole number of 0 to 4,294,967,295; an index is out of range; a document is too long.
    """
    if getattr(counts, "format", None) is None or len(counts.shape) != 2:
        raise TypeError(
            f"counts must be a scipy sparse array or matrix, shape (n_docs, n_terms), not {type(counts).__name__}; "
            "scipy.sparse.csr_array(counts) makes one of an array"
        )
    if counts.dtype.kind not in "biuf":
        raise TypeError(f"counts must be numbers, not {counts.dtype}")
    n_docs, n_terms = counts.shape
    if counts.format in ("csr", "csc"):
        indptr, indices, ascends = pointers(counts)
        # There may be room for more entries.
        data = counts.data[:len(indices)]
        if counts.format == "csr" and (ascends or data.dtype != bool):
            return Postings.build(indptr, indices, (0, n_terms), frequencies(data))
        if counts.format == "csc" and ascends and data.all():
            tf = frequencies(data)
            return Postings.from_csc(
                indptr, indices, np.ones(len(data), np.uint32) if tf is None else tf, n_docs, (0, n_terms)
            )
        lists = np.repeat(np.arange(len(indptr) - 1, dtype=np.uint32), np.diff(indptr))
        docs, terms = (lists, indices) if counts.format == "csr" else (indices, lists)
    else:
        counts = counts.tocoo()
        docs, terms, data = whole(counts.row, "indices"), whole(counts.col, "indices"), counts.data
    tf = frequencies(data)
    if data.dtype == bool:
        # Where one stands several times it is still true: these are not added up.
        docs, terms = np.divmod(np.unique((docs.astype(np.uint64) * n_terms + terms)[data]), np.uint64(n_terms or 1))
        docs, terms, tf = docs.astype(np.uint32), terms.astype(np.uint32), None
    return Postings.build(*by_rows(docs, terms, tf, n_docs, n_terms))


cdef tuple by_rows(const uint32_t[::1] docs, const uint32_t[::1] terms, tf, int64_t n_docs, int64_t n_terms):
    """What `Postings.build` takes, of entries in any order."""
    cdef const uint32_t[::1] given
    cdef int64_t[::1] starts, ends
    cdef uint32_t[::1] row_terms, row_tf
    cdef int64_t i, at
    indptr = starts = np.zeros(n_docs + 1, np.int64)
    made = row_terms = np.empty(len(docs), np.uint32)
    counted = None
    if tf is not None:
        given = tf
        counted = row_tf = np.empty(len(docs), np.uint32)
    for i in range(docs.shape[0]):
        if docs[i] >= n_docs:
            raise ValueError(f"counts is damaged: row {docs[i]} in a matrix of {n_docs}")
        starts[docs[i] + 1] += 1
    np.cumsum(indptr, out=indptr)
    ends = indptr.copy()
    for i in range(docs.shape[0]):
        at = ends[docs[i]]
        ends[docs[i]] += 1
        row_terms[at] = terms[i]
        if counted is not None:
            row_tf[at] = given[i]
    return indptr, made, (0, n_terms), counted


cdef tuple pointers(counts):
    """Starts and indices of a matrix by rows or columns, and whether each row or column is known to ascend."""
    cdef const int64_t[::1] starts
    cdef const uint32_t[::1] found
    cdef int64_t i, j, limit, n_lists = len(counts.indptr) - 1
    cdef bint ascends = True, fits
    n_docs, n_terms = counts.shape
    is_csc = counts.format == "csc"
    limit = n_docs if is_csc else n_terms
    indptr = np.ascontiguousarray(counts.indptr, np.int64)
    starts = indptr
    fits = n_lists == (n_terms if is_csc else n_docs) and starts[0] == 0
    for i in range(n_lists):
        fits &= starts[i] <= starts[i + 1]
    if not fits or starts[n_lists] > min(len(counts.indices), len(counts.data)):
        raise ValueError("counts is damaged: indptr must ascend from 0 to the number of entries")
    indices = whole(counts.indices[:starts[n_lists]], "indices")
    if not is_csc and counts.dtype != bool:
        return indptr, indices, False  # nobody asks, and the columns are checked where they are counted
    found = indices
    for i in range(n_lists):
        for j in range(starts[i], starts[i + 1]):
            if found[j] >= limit:
                raise ValueError(f"counts is damaged: index {found[j]} in a matrix of shape {counts.shape}")
            ascends &= j == starts[i] or found[j - 1] < found[j]
    return indptr, indices, ascends


cdef object frequencies(data):
    """Values of a matrix as uint32, or None if all are 1."""
    if len(data) and data.min() == 1 == data.max():
        return None
    return whole(data, "counts")


cdef object whole(values, str name):
    """Whole numbers as uint32, by a view where they have this size."""
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if not len(values) or values.dtype == np.uint32:
        return values.astype(np.uint32, copy=False)
    if values.dtype == np.int32:
        made = values.view(np.uint32)
        wrong = _convert(values, None)
    else:
        made = np.empty(len(values), np.uint32)
        wrong = _convert(values.view(np.uint8) if values.dtype == bool else values, made)
    if wrong >= 0:
        raise ValueError(f"{name} must be whole numbers from 0 to 4,294,967,295, not {values[wrong]}")
    return made


def _convert(const number[::1] values, uint32_t[::1] out):
    """Copy them if there is where to; gives the place of the first that is no whole number of 32 bits, or -1."""
    cdef int64_t i, wrong = -1
    cdef number value
    cdef uint64_t most = (1 << 32) - 1
    cdef uint32_t* target = NULL if out is None else &out[0]
    with nogil:
        for i in range(values.shape[0]):
            value = values[i]
            if number is float or number is double:
                if not 0 <= value < 4294967296.0 or value != <double><uint32_t>value:
                    wrong = i
                    break
            elif value < 0 or <uint64_t>value > most:
                wrong = i
                break
            if target:
                target[i] = <uint32_t>value
    return wrong
