"""What an index has seen says for a stem: korean.md, section 6.

A surface seen c times supports each of its stems with its static posterior times the square root of c; the
support of a stem for a surface is the sum over all *other* surfaces.
"""

from libc.math cimport sqrt
from libc.stdint cimport uint8_t, uintptr_t
from libc.stdlib cimport free, realloc

from memtree._korean cimport MAX_KEY, MAX_SYLLABLES, find_candidates, share_stems, weigh
from memtree._text cimport (
    NO_ID, decode_hangul, encode_syllables, strings_free, strings_init, strings_intern, strings_lookup,
)

cdef double LEAST_SHARE = 1e-4  # least posterior of a stem that a surface supports


cdef bint add_support(Sums* sums, const Py_UCS4* run, int n, double gain, Candidates* work) noexcept nogil:
    """Add the run's static posteriors times `gain`; False without memory."""
    cdef uint8_t text[3 * MAX_KEY]
    cdef int i, size
    cdef uint32_t id, before
    cdef void* grown
    find_candidates(run, n, work)
    weigh(work, NULL)
    share_stems(work)
    for i in range(work.n):
        if work.first[i] != i or work.shares[i] <= LEAST_SHARE:
            continue
        size = encode_syllables(&work.pool[work.items[i].key], work.items[i].length, text)
        before = sums.stems.n
        id = strings_intern(&sums.stems, text, size, work.items[i].predicate)
        if id == NO_ID:
            return False
        if id >= sums.capacity:
            grown = realloc(sums.totals, <size_t> sums.stems.capacity * sizeof(double))
            if grown == NULL:
                return False
            sums.totals = <double*> grown
            sums.capacity = sums.stems.capacity
        if id == before:
            sums.totals[id] = 0.0
        sums.totals[id] += work.shares[i] * gain
    return True


cdef void fill_support(const Sums* sums, Candidates* work, double root, double* out) noexcept nogil:
    """S of each candidate by other surfaces; `root`: square root of this surface's own count."""
    cdef uint8_t text[3 * MAX_KEY]
    cdef int i, size
    cdef uint32_t id
    cdef double total
    weigh(work, NULL)
    share_stems(work)
    for i in range(work.n):
        if work.first[i] != i:
            out[i] = out[work.first[i]]
            continue
        size = encode_syllables(&work.pool[work.items[i].key], work.items[i].length, text)
        id = strings_lookup(&sums.stems, text, size, work.items[i].predicate)
        total = sums.totals[id] if id != NO_ID else 0.0
        if work.shares[i] > LEAST_SHARE:
            total -= work.shares[i] * root
        out[i] = total if total > 0.0 else 0.0


cdef class Support:
    """What a collection of Hangul runs says for the stems of each.

    Examples
    --------
    >>> from memtree.analysis import Support, stem
    >>> support = Support()
    >>> support.learn({"아버지가": 3, "아버지는": 2})
    >>> stem("아버지")[0][0], stem("아버지", support)[0][0]
    ('아브~', '아버지')
    """

    def __cinit__(self):
        self.counts = {}
        if strings_init(&self.sums.stems, 64, <uintptr_t> <void*> self):
            raise MemoryError

    def __dealloc__(self):
        strings_free(&self.sums.stems)
        free(self.sums.totals)

    def learn(self, counts):
        """Add what is seen.

        Parameters
        ----------
        counts : mapping of str to int
            How often more each surface was seen: a Hangul run of at most 64 syllables, as `normalize`
            gives it.
        """
        for surface in sorted(counts):
            old = self.counts.get(surface, 0)
            self.update(surface, old, old + counts[surface])

    def update(self, str surface not None, long long old, long long new):
        """Change how often one surface was seen.

        Parameters
        ----------
        surface : str
        old, new : int
            Times counted so far, and from now on.

        Raises
        ------
        ValueError
            The surface is no Hangul run of at most 64 syllables, or a count is negative.
        """
        cdef Py_UCS4 run[MAX_SYLLABLES]
        cdef bytes text = surface.encode("utf-8", "surrogatepass")
        cdef int n = decode_hangul(text, len(text), run, MAX_SYLLABLES)
        if n == 0:
            raise ValueError(f"surface must be 1 to {<int> MAX_SYLLABLES} Hangul syllables, not {surface!r}")
        if old < 0 or new < 0:
            raise ValueError(f"counts must not be negative: {min(old, new)}")
        if not add_support(&self.sums, run, n, sqrt(<double> new) - sqrt(<double> old), &self.work):
            raise MemoryError
        self.counts[surface] = new

    cdef double root_count(self, str surface) except -1:
        return sqrt(<double> <long long> self.counts.get(surface, 0))
