"""C interface of the support of stems; see `_support.pyx`."""

from libc.stdint cimport uint32_t

from memtree._korean cimport Candidates
from memtree._text cimport Strings

cdef struct Sums:
    Strings stems           # keys before marking; tag: predicate or not
    double* totals          # own posteriors times the root of the count, over all surfaces
    uint32_t capacity       # of `totals`

cdef bint add_support(Sums* sums, const Py_UCS4* run, int n, double gain, Candidates* work) noexcept nogil
cdef void fill_support(const Sums* sums, Candidates* work, double root, double* out) noexcept nogil

cdef class Support:
    cdef Sums sums
    cdef Candidates work
    cdef dict counts

    cdef double root_count(self, str surface) except -1
