"""Rows of surfaces and of terms: the loops of an index build that touch every token of a bank.

All rows are in compressed form: ``data[indptr[i]:indptr[i + 1]]``.
"""

from array import array

from cpython cimport array as c_array
from libc.math cimport log
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

cdef c_array.array LONG = array("q")
cdef c_array.array WORD = array("I")


def indptr_of(const uint32_t[::1] lengths):
    """Row pointers (int64, one more than `lengths`) of rows with the given lengths."""
    cdef Py_ssize_t i, n = lengths.shape[0]
    cdef c_array.array out = c_array.clone(LONG, n + 1, False)
    cdef int64_t total = 0
    for i in range(n):
        out.data.as_longlongs[i] = total
        total += lengths[i]
    out.data.as_longlongs[n] = total
    return out


def count_values(rows, Py_ssize_t n):
    """How often each value below `n` stands in the arrays of uint32 in `rows`."""
    cdef c_array.array out = c_array.clone(WORD, n, True)
    cdef const uint32_t[::1] data
    cdef Py_ssize_t i
    for row in rows:
        data = row
        with nogil:
            for i in range(data.shape[0]):
                if data[i] < <size_t>n:
                    out.data.as_uints[data[i]] += 1
    return out


def rank_values(uint32_t[::1] data, Py_ssize_t n):
    """Replace each value, all below `n`, by its rank among the values that are there.

    Returns
    -------
    array of uint32
        The values that are there, ascending.
    """
    cdef c_array.array out
    cdef uint32_t* rank = <uint32_t*> calloc(n + 1, sizeof(uint32_t))
    cdef Py_ssize_t i, found = 0
    if rank == NULL:
        raise MemoryError
    try:
        for i in range(data.shape[0]):
            if data[i] >= <size_t> n:
                raise ValueError(f"value {data[i]} is not below {n}")
            rank[data[i]] = 1
        for i in range(n):
            found += rank[i]
        out = c_array.clone(WORD, found, False)
        found = 0
        for i in range(n):
            if rank[i]:
                out.data.as_uints[found] = <uint32_t> i
                rank[i] = <uint32_t> found
                found += 1
        for i in range(data.shape[0]):
            data[i] = rank[data[i]]
    finally:
        free(rank)
    return out


def join_rows(const int64_t[::1] indptr, const uint32_t[::1] data, const int64_t[::1] out_indptr,
              const uint32_t[::1] members):
    """Rows made by chaining other rows.

    Parameters
    ----------
    indptr, data : buffers of int64 and uint32
        The rows to chain, r of them.
    out_indptr, members : buffers of int64 and uint32
        Row i of the result is the chain of the rows ``members[out_indptr[i]:out_indptr[i + 1]]``, each below r.

    Returns
    -------
    indptr, data : array of int64, array of uint32
    """
    cdef Py_ssize_t n = out_indptr.shape[0] - 1, i, m
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef c_array.array starts = c_array.clone(LONG, n + 1, False)
    cdef c_array.array out
    cdef int64_t total = 0, length
    for m in range(members.shape[0]):
        if members[m] >= <size_t>n_rows:
            raise ValueError(f"row {members[m]} of {n_rows} does not exist")
    for i in range(n):
        starts.data.as_longlongs[i] = total
        for m in range(out_indptr[i], out_indptr[i + 1]):
            total += indptr[members[m] + 1] - indptr[members[m]]
    starts.data.as_longlongs[n] = total
    out = c_array.clone(WORD, total, False)
    with nogil:
        total = 0
        for m in range(members.shape[0]):
            length = indptr[members[m] + 1] - indptr[members[m]]
            if length:
                memcpy(&out.data.as_uints[total], &data[indptr[members[m]]], length * sizeof(uint32_t))
                total += length
    return starts, out


def telling_columns(const int64_t[::1] indptr, const uint32_t[::1] columns, const uint32_t[::1] df,
                    Py_ssize_t n_columns, groups, Py_ssize_t k):
    """The `k` columns of each group of rows that tell most of it.

    Told by tf * idf * (rows of the group with it / all rows with it); only columns that stand in half of the group's
    rows count: what stands in few of them tells of those rows, not of the group.

    Parameters
    ----------
    indptr, columns : buffers of int64 and uint32
        Terms of each row, with repeats.
    df : buffer of uint32, shape (>= n_columns,)
    n_columns : int
        Columns at or above it do not count.
    groups : list of (first, last)
        Each group is the rows from `first` up to, not with, `last`.
    k : int

    Returns
    -------
    list of list of int
        Best first, ties by first appearance: column ids depend on how the index grew.
    """
    cdef uint32_t* counts = <uint32_t*>calloc(3 * (n_columns + 1), sizeof(uint32_t))
    cdef uint32_t* in_rows
    cdef uint32_t* last_row
    cdef Py_ssize_t i, row, first, last
    cdef double n_docs = indptr.shape[0] - 1
    cdef uint32_t column, tf, least
    cdef double score, idf
    cdef list out = [], best
    if counts == NULL:
        raise MemoryError("no memory for term counts")
    in_rows = counts + n_columns + 1
    last_row = in_rows + n_columns + 1
    try:
        for first, last in groups:
            best = []
            least = <uint32_t>((last - first + 1) // 2) if last - first > 2 else <uint32_t>(last - first)
            with nogil:
                for row in range(first, last):
                    for i in range(indptr[row], indptr[row + 1]):
                        column = columns[i]
                        if column < <size_t>n_columns:
                            counts[column] += 1
                            # A row's number, from 1, marks the columns that it has given already.
                            if last_row[column] != <uint32_t>(row + 1):
                                last_row[column] = <uint32_t>(row + 1)
                                in_rows[column] += 1
            for i in range(indptr[first], indptr[last]):
                column = columns[i]
                if column < <size_t>n_columns and counts[column]:
                    tf, counts[column] = counts[column], 0
                    if in_rows[column] >= least:
                        idf = log(1 + (n_docs - df[column] + 0.5) / (df[column] + 0.5))
                        score = tf * in_rows[column] / <double>df[column] * idf
                        if len(best) < k or (-score, i) < best[k - 1]:
                            best.append((-score, i))
                            best.sort()
                            del best[k:]
                    in_rows[column] = last_row[column] = 0
            out.append([columns[i] for _, i in best])
        return out
    finally:
        free(counts)
