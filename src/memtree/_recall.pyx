"""Blend of tree and BM25 scores over a bank: one compiled call from query string to ranked hits.

A :class:`Searcher` holds one generation of a bank's index: the lexicon, the postings of files and of passages (two
columns blocks each), and the tree as flat arrays. For a query it sums BM25 over all files and all passages, divides
each sum by its attainable most, takes for a file the mean of its own and its best passage's, adds the tree score, and
picks the best files with their best passages. Results are small objects whose costly fields are made when read.

Formulas: design notes in the README, section "How a score is made". Nothing here trusts an array read from a file:
every index that comes out of one is compared with the size of what it points into.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cimport cython

from memtree._bm25 cimport Postings
from memtree._vocabulary cimport NO_TERM, Query, QueryTerm, Vocabulary

cdef enum:
    MAX_TERMS = 1 << 20
    MAX_KNOWN = 1 << 16     # passages kept with their text
    FEW_WORDS = 128

cdef enum:                  # how far a word of a query has been found in a file
    UNSEEN = 0
    WHOLE = 1               # a reading of it stands there
    PARTS = 2               # all of its parts so far
    BIGRAMS = 3             # all of its bigrams so far
    MISSING = 4             # not all of them


cdef inline bint _worse(const Candidate* a, const Candidate* b) noexcept nogil:
    """Whether `a` ranks after `b`: lower score, then higher document id."""
    return a.score < b.score or (a.score == b.score and a.doc > b.doc)


cdef void _sift_down(Candidate* heap, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
    """Restore the heap below `at`; its root is the worst kept candidate."""
    cdef Py_ssize_t child
    cdef Candidate moved = heap[at]
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and _worse(&heap[child + 1], &heap[child]):
            child += 1
        if not _worse(&heap[child], &moved):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


cdef void _sort_best_first(Candidate* heap, Py_ssize_t n) noexcept nogil:
    """Heap sort in place: the worst goes last."""
    cdef Py_ssize_t last
    cdef Candidate swap
    for last in range(n - 1, 0, -1):
        swap = heap[0]
        heap[0] = heap[last]
        heap[last] = swap
        _sift_down(heap, last, 0)


@cython.final
cdef class Columns:
    """A compressed list of lists of uint32: row i is ``data[indptr[i]:indptr[i + 1]]``; safe on any values."""

    def __init__(self, indptr, data):
        self.indptr = indptr
        self.data = data
        self.n = max(self.indptr.shape[0] - 1, 0)

    cdef const uint32_t* row(self, Py_ssize_t i, Py_ssize_t* length) noexcept nogil:
        cdef uint32_t start, stop
        length[0] = 0
        if i < 0 or i >= self.n:
            return NULL
        start = self.indptr[i]
        stop = self.indptr[i + 1]
        if start >= stop or stop > <size_t>self.data.shape[0]:
            return NULL
        length[0] = stop - start
        return &self.data[start]

    def __getitem__(self, Py_ssize_t i):
        cdef Py_ssize_t n, j
        cdef const uint32_t* row = self.row(i, &n)
        return [row[j] for j in range(n)]


@cython.final
@cython.no_gc
cdef class Passage:
    """What a passage is, whoever asks: made once a generation."""


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class PassageHit:
    """One passage of a hit.

    Attributes
    ----------
    heading_path : tuple of str
        Headings above the passage, outermost first.
    lines : tuple of int
        First and last line in the file, from 1.
    score : float
        Rank within the answer: (own normalised BM25 + half its file's) / 1.5, in [0, 1].
    text : str
        The passage as it stands in the file.
    """

    def to_dict(self):
        """The passage as plain data."""
        return {"heading_path": list(self.heading_path), "lines": list(self.lines), "score": self.score,
                "text": self.text}

    def __repr__(self):
        return f"PassageHit(lines={self.lines}, score={self.score:.4f})"


@cython.final
@cython.no_gc
@cython.freelist(32)
cdef class Hit:
    """One file that answers a query.

    Attributes
    ----------
    path : str
        Relative to the bank, ``/`` between folders.
    score, tree, bm25 : float
        ``score = w_tree * tree + w_bm25 * bm25``, each part in [0, 1].
    terms : list of str
        Index terms of the query that the file holds, in query order.
    passages : list of PassageHit
        Its best passages, best first.
    """

    @property
    def terms(self):
        return self.searcher.matched(self.query, self.file_id)

    def to_dict(self):
        """The hit as plain data, for JSON."""
        return {"path": self.path, "score": self.score, "tree": self.tree, "bm25": self.bm25,
                "terms": self.terms, "passages": [passage.to_dict() for passage in self.passages]}

    def __repr__(self):
        return f"Hit({self.path!r}, score={self.score:.4f}, tree={self.tree:.4f}, bm25={self.bm25:.4f})"


@cython.final
cdef class Searcher:
    """One generation of a bank, ready to answer.

    Parameters
    ----------
    lexicon : Lexicon
    files, passages : Postings
        One row a file (in path order) and one a passage (in file order).
    passage_start : buffer of uint32, shape (n_files + 1,)
        Passages of file f are ``passage_start[f]`` to ``passage_start[f + 1]``.
    keyword_words, keyword_nodes, node_files : Columns
        Words (columns of field s) of each tree keyword; nodes that bear it; files of each node.
    column_keywords : Columns
        Keywords of each entry of `keyword_columns`.
    keyword_columns : buffer of uint32, sorted
        Columns that stand in some keyword.
    paths : list of str
    source : object
        Gives ``heading_path``, ``lines`` and ``text`` of a passage id.
    field_weights : tuple of float
        Weight of each field's sum.
    """

    def __init__(self, Vocabulary lexicon, Postings files, Postings passages, passage_start, keyword_words,
                 keyword_nodes, node_files, column_keywords, keyword_columns, list paths, source,
                 field_weights=(0.5, 1.0)):
        self.lexicon = lexicon
        self.files = files
        self.passages = passages
        self.passage_start = passage_start
        self.keyword_words = keyword_words
        self.keyword_nodes = keyword_nodes
        self.node_files = node_files
        self.column_keywords = column_keywords
        self.keyword_columns = keyword_columns
        self.paths = paths
        self.source = source
        self.field_weight[0] = field_weights[0]
        self.field_weight[1] = field_weights[1]
        self.n_files = files.n_docs
        self.n_passages = passages.n_docs
        self.term_names = {}
        self.known_passages = [None] * self.n_passages
        self.n_known = 0
        if self.passage_start.shape[0] != self.n_files + 1 or len(paths) != self.n_files:
            raise ValueError("files, paths and passage_start differ in length")
        files.prepare()
        passages.prepare()

    def query(self, str text):
        """Analyse `text`; the same query object can be searched often."""
        return self.lexicon.query(text)

    cdef Py_ssize_t _gather(self, Query query, uint32_t* columns, float* weights) noexcept nogil:
        """Query terms with the field factor applied, equal columns merged at the first; returns their number."""
        cdef Py_ssize_t i, j, n = 0
        cdef QueryTerm* term
        for i in range(query.n_terms):
            term = &query.terms[i]
            if term.column != NO_TERM:
                for j in range(n):
                    if columns[j] == term.column:
                        weights[j] += term.weight * self.field_weight[term.field & 1]
                        break
                else:
                    columns[n] = term.column
                    weights[n] = term.weight * self.field_weight[term.field & 1]
                    n += 1
            else:
                columns[n] = NO_TERM
                weights[n] = term.weight * self.field_weight[term.field & 1]
                n += 1
        return n

    cdef float _attainable(self, Postings postings, const uint32_t* columns, const float* weights,
                           Py_ssize_t n) noexcept nogil:
        """The BM25 sum with every impact at its idf."""
        cdef float total = 0
        cdef Py_ssize_t i
        for i in range(n):
            if columns[i] < <size_t>postings.p.n_terms:
                total += weights[i] * postings.idf[columns[i]]
            else:
                total += weights[i] * postings.idf_unknown
        return total

    cdef float _word_idf(self, uint32_t column) noexcept nogil:
        if column < <size_t>self.files.p.n_terms:
            return self.files.idf[column]
        return self.files.idf_unknown

    cdef Py_ssize_t _keyword_row(self, uint32_t column) noexcept nogil:
        """Place of `column` in the sorted `keyword_columns`, or -1."""
        cdef Py_ssize_t low = 0, high = self.keyword_columns.shape[0], middle
        while low < high:
            middle = (low + high) >> 1
            if self.keyword_columns[middle] < column:
                low = middle + 1
            else:
                high = middle
        if low < self.keyword_columns.shape[0] and self.keyword_columns[low] == column:
            return low
        return -1

    cdef bint _all_stand(self, Query query, const uint32_t* words, Py_ssize_t n) noexcept nogil:
        """Whether every word of a keyword is a possible stem of some word of the query."""
        cdef Py_ssize_t i, j
        for i in range(n):
            for j in range(query.n_terms):
                if query.terms[j].column == words[i]:
                    break
            else:
                return False
        return True

    cdef bint _is_hangul(self, Query query, Py_ssize_t w):
        """Whether a word of the query begins with a Hangul syllable or letter."""
        cdef Py_ssize_t start = query.words[w].start
        cdef Py_UCS4 first
        if start >= len(query.original):
            return False
        first = query.original[start]
        return 0xAC00 <= first <= 0xD7A3 or 0x1100 <= first <= 0x11FF or 0xA960 <= first <= 0xA97F

    cdef bint _is_part(self, Query query, Py_ssize_t t):
        """Whether a term of field s is but a part of its word, such as `bm` of `bm25`, not a reading of the whole.

        The terms of a word follow each other, the whole first.
        """
        cdef Py_ssize_t w = query.terms[t].word
        return t > 0 and query.terms[t - 1].word == w and not self._is_hangul(query, w)

    cdef void _tree(self, Query query, double total, const uint8_t* parts, double* nodes, uint32_t* stamps,
                    double* tree) noexcept nogil:
        """tree[f] = the greatest share of the query's words, by idf, that are keywords of one node of f.

        A word is a keyword if any of its possible stems is: the reading that suits the tree is the likely one. A part
        of a word (`parts[t]` of term t) is not the word.
        """
        cdef Py_ssize_t t, i, j, row, n_keywords, n_nodes, n_words, n_files
        cdef const uint32_t* keywords
        cdef const uint32_t* row_nodes
        cdef const uint32_t* row_words
        cdef const uint32_t* row_files
        cdef uint32_t node, stamp
        cdef double share
        for t in range(query.n_terms):
            if query.terms[t].field != 0:
                break
            row = -1 if parts[t] else self._keyword_row(query.terms[t].column)
            if row < 0:
                continue
            # The terms of a word follow each other: a node with this stamp has it already.
            stamp = <uint32_t>query.terms[t].word + 1
            keywords = self.column_keywords.row(row, &n_keywords)
            for i in range(n_keywords):
                row_words = self.keyword_words.row(keywords[i], &n_words)
                if n_words != 1 and not self._all_stand(query, row_words, n_words):
                    continue
                row_nodes = self.keyword_nodes.row(keywords[i], &n_nodes)
                for j in range(n_nodes):
                    node = row_nodes[j]
                    if node < <size_t>self.node_files.n and stamps[node] != stamp:
                        stamps[node] = stamp
                        nodes[node] += self._word_idf(query.words[query.terms[t].word].best)
        for i in range(self.node_files.n):
            if nodes[i] > 0:
                share = nodes[i] / total
                row_files = self.node_files.row(i, &n_files)
                for j in range(n_files):
                    if row_files[j] < <size_t>self.n_files and tree[row_files[j]] < share:
                        tree[row_files[j]] = share

    def search(self, Query query, Py_ssize_t k, Py_ssize_t n_best, const uint8_t[::1] mask=None,
               double w_tree=0.4, double w_bm25=0.6):
        """The `k` best files for an analysed query, each with its `n_best` best passages.

        Parameters
        ----------
        query : Query
        k, n_best : int
            At least 0.
        mask : buffer of uint8, shape (n_files,), optional
            Non-zero for the files that may be hits.
        w_tree, w_bm25 : float
            Weights of the blend.

        Returns
        -------
        hits : list of Hit
            Higher score first, then lower path.
        coverage : float
            Share of the query's words, by idf, that the best file holds or that lead to it in the tree.
        """
        cdef double coverage = 0
        if mask is not None and mask.shape[0] != self.n_files:
            raise ValueError(f"mask has {mask.shape[0]} entries, the bank {self.n_files} files")
        hits = self.ranked(query, k, n_best, &mask[0] if mask is not None and self.n_files else NULL, w_tree, w_bm25,
                           &coverage)
        return hits, coverage

    cdef list ranked(self, Query query, Py_ssize_t k, Py_ssize_t n_best, const uint8_t* mask, double w_tree,
                     double w_bm25, double* coverage):
        """The hits of :meth:`search`."""
        cdef Py_ssize_t n_terms = 0, n_kept = 0, i
        cdef Py_ssize_t n_nodes = self.node_files.n
        cdef double total = 0
        cdef float file_most, passage_most
        cdef list hits = []
        cdef char* zeros
        cdef char* rest
        cdef double* tree
        cdef double* nodes
        cdef uint32_t* stamps
        cdef float* file_sums
        cdef float* passage_sums
        cdef uint8_t* parts
        cdef float* weights
        cdef uint32_t* columns
        cdef Candidate* heap
        coverage[0] = 0
        if k > self.n_files:
            k = self.n_files
        if query.n_terms > MAX_TERMS:
            raise ValueError(f"query has {query.n_terms} terms, at most {MAX_TERMS} can be searched")
        if k <= 0 or query.n_words == 0:
            return hits
        zeros = <char*>calloc((self.n_files + n_nodes) * sizeof(double)
                              + (n_nodes + self.n_files + self.n_passages) * sizeof(float) + query.n_terms, 1)
        rest = <char*>malloc(k * sizeof(Candidate) + query.n_terms * (sizeof(float) + sizeof(uint32_t)) + 8)
        try:
            if zeros == NULL or rest == NULL:
                raise MemoryError("no memory for the scores of a query")
            tree = <double*>zeros
            nodes = tree + self.n_files
            stamps = <uint32_t*>(nodes + n_nodes)
            file_sums = <float*>(stamps + n_nodes)
            passage_sums = file_sums + self.n_files
            parts = <uint8_t*>(passage_sums + self.n_passages)
            heap = <Candidate*>rest
            weights = <float*>(heap + k)
            columns = <uint32_t*>(weights + query.n_terms)
            for i in range(query.n_terms):
                if query.terms[i].field != 0:
                    break
                parts[i] = self._is_part(query, i)
            with nogil:
                n_terms = self._gather(query, columns, weights)
                self.files.accumulate(columns, weights, n_terms, file_sums)
                self.passages.accumulate(columns, weights, n_terms, passage_sums)
                file_most = self._attainable(self.files, columns, weights, n_terms)
                passage_most = self._attainable(self.passages, columns, weights, n_terms)
                for i in range(query.n_words):
                    total += self._word_idf(query.words[i].best)
                if total > 0 and w_tree != 0:
                    self._tree(query, total, parts, nodes, stamps, tree)
                n_kept = self._select(file_sums, passage_sums, tree, file_most, passage_most, w_tree, w_bm25, mask,
                                      heap, k)
            for i in range(n_kept):
                hits.append(self._hit(query, &heap[i], passage_sums, passage_most,
                                      file_sums[heap[i].doc] / file_most if file_most > 0 else 0.0, n_best))
            if n_kept:
                coverage[0] = self._coverage(query, heap[0].doc, total)
            return hits
        finally:
            free(zeros)
            free(rest)

    cdef void _range(self, Py_ssize_t f, Py_ssize_t* start, Py_ssize_t* stop) noexcept nogil:
        """Passages of file f, clamped to those that exist."""
        start[0] = self.passage_start[f]
        stop[0] = self.passage_start[f + 1]
        if stop[0] > self.n_passages:
            stop[0] = self.n_passages

    cdef Py_ssize_t _select(self, const float* file_sums, const float* passage_sums, const double* tree,
                            float file_most, float passage_most, double w_tree, double w_bm25, const uint8_t* mask,
                            Candidate* heap, Py_ssize_t k) noexcept nogil:
        """Fill `heap` with the k best files, best first; returns how many there are."""
        cdef Py_ssize_t f, p, start, stop, n = 0, i
        cdef float best
        cdef double bm25
        cdef Candidate found
        for f in range(self.n_files):
            if mask != NULL and not mask[f]:
                continue
            best = 0
            self._range(f, &start, &stop)
            for p in range(start, stop):
                if passage_sums[p] > best:
                    best = passage_sums[p]
            bm25 = 0
            if file_most > 0:
                bm25 += <double>file_sums[f] / file_most
            if passage_most > 0:
                bm25 += <double>best / passage_most
            bm25 *= 0.5
            if bm25 <= 0 and tree[f] <= 0:
                continue
            found.bm25 = bm25
            found.tree = tree[f]
            found.score = w_tree * tree[f] + w_bm25 * bm25
            found.doc = <uint32_t>f
            if n < k:
                heap[n] = found
                n += 1
                if n == k:
                    for i in range(n // 2 - 1, -1, -1):
                        _sift_down(heap, n, i)
            elif _worse(&heap[0], &found):
                heap[0] = found
                _sift_down(heap, n, 0)
        if n < k:
            for i in range(n // 2 - 1, -1, -1):
                _sift_down(heap, n, i)
        _sort_best_first(heap, n)
        return n

    cdef Hit _hit(self, Query query, const Candidate* found, const float* passage_sums, float passage_most,
                  double file_share, Py_ssize_t n_best):
        """Make the object of a hit, with its best passages."""
        cdef Hit hit = Hit.__new__(Hit)
        cdef Py_ssize_t start, stop, p, n = 0, at
        cdef uint32_t[16] few
        cdef list passages = []
        hit.searcher = self
        hit.query = query
        hit.path = <str>self.paths[found.doc]
        hit.score = found.score
        hit.tree = found.tree
        hit.bm25 = found.bm25
        hit.file_id = found.doc
        hit.passages = passages
        self._range(found.doc, &start, &stop)
        if n_best > 0 and start < stop:
            if n_best <= 16:
                for p in range(start, stop):
                    if passage_sums[p] <= 0 or (n == n_best and passage_sums[p] <= passage_sums[few[n - 1]]):
                        continue
                    at = n if n < n_best else n - 1
                    while at > 0 and passage_sums[few[at - 1]] < passage_sums[p]:
                        few[at] = few[at - 1]
                        at -= 1
                    few[at] = <uint32_t>p
                    if n < n_best:
                        n += 1
                if n == 0:
                    # A hit by the tree alone has no matching passage: show where the file begins.
                    few[0] = <uint32_t>start
                    n = 1
                for at in range(n):
                    passages.append(self._passage_hit(few[at], passage_sums, passage_most, file_share))
            else:
                for p in sorted([p for p in range(start, stop) if passage_sums[p] > 0],
                                key=lambda p: (-passage_sums[<Py_ssize_t>p], p))[:n_best] or (start,):
                    passages.append(self._passage_hit(p, passage_sums, passage_most, file_share))
        return hit

    cdef PassageHit _passage_hit(self, Py_ssize_t p, const float* sums, float most, double file_share):
        cdef PassageHit found = PassageHit.__new__(PassageHit)
        cdef Passage passage = self._passage(p)
        found.passage_id = <uint32_t>p
        found.heading_path = passage.heading_path
        found.lines = passage.lines
        found.text = passage.text
        found.score = ((sums[p] / most if most > 0 else 0.0) + 0.5 * file_share) / 1.5
        return found

    cdef Passage _passage(self, Py_ssize_t p):
        """The passage, made when first hit."""
        cdef Passage passage = <Passage>self.known_passages[p]
        if passage is None:
            if self.n_known >= MAX_KNOWN:
                self.known_passages = [None] * self.n_passages
                self.n_known = 0
            passage = Passage.__new__(Passage)
            passage.heading_path = self.source.heading_path(p)
            passage.lines = self.source.lines(p)
            passage.text = self.source.text(p)
            self.known_passages[p] = passage
            self.n_known += 1
        return passage

    cdef double _coverage(self, Query query, uint32_t f, double total):
        """Share of the query's words, by idf, that stand in file f or among the keywords of its nodes."""
        cdef double found = 0
        cdef uint8_t[FEW_WORDS] few
        cdef uint8_t* held = few
        cdef Py_ssize_t w
        cdef bint all_held
        if total <= 0:
            return 0.0
        if query.n_words > FEW_WORDS:
            held = <uint8_t*>malloc(query.n_words)
            if held == NULL:
                raise MemoryError("no memory for the words of a query")
        all_held = self._mark_held(query, f, held) == query.n_words
        if not all_held:
            for word, _ in self.tree_words(query, f):
                held[<Py_ssize_t>word] = 1
        for w in range(query.n_words):
            if held[w]:
                found += self._word_idf(query.words[w].best)
        if held != few:
            free(held)
        return found / total

    cdef Py_ssize_t _mark_held(self, Query query, uint32_t f, uint8_t* held):
        """held[w] = whether word w of the query stands in file f; returns how many words do.

        A word stands there if one of its readings does; or all of its parts (`bm` and `25`); or, if it has none, all of
        its bigrams, as Chinese and Japanese write words without a space between.
        """
        cdef Py_ssize_t t, w, n = 0
        cdef uint8_t state
        cdef bint found
        memset(held, UNSEEN, query.n_words)
        for t in range(query.n_terms):
            w = query.terms[t].word
            state = held[w]
            if state == WHOLE or state == MISSING:
                continue
            found = query.terms[t].column != NO_TERM and self.files.contains(query.terms[t].column, f)
            if query.terms[t].field != 0:
                if state != PARTS and not self._is_hangul(query, w):
                    held[w] = BIGRAMS if found else MISSING
            elif self._is_part(query, t):
                held[w] = PARTS if found else MISSING
            elif found:
                held[w] = WHOLE
        for w in range(query.n_words):
            held[w] = held[w] != UNSEEN and held[w] != MISSING
            n += held[w]
        return n

    def words_in(self, Query query, uint32_t f):
        """Words of the query that stand in file `f`, as a set of their indices."""
        cdef bytearray held = bytearray(query.n_words + 1)
        self._mark_held(query, f, held)
        return {w for w in range(query.n_words) if held[w]}

    def tree_words(self, Query query, Py_ssize_t f):
        """Words of the query that are keywords of a node of file `f`, as (word index, node) pairs."""
        cdef Py_ssize_t t, row, n_words, n_keywords, n_nodes, n_files, i, j, m
        cdef const uint32_t* keywords
        cdef const uint32_t* words
        cdef const uint32_t* nodes
        cdef const uint32_t* files
        found = []
        for t in range(query.n_terms):
            if query.terms[t].field != 0:
                break
            row = -1 if self._is_part(query, t) else self._keyword_row(query.terms[t].column)
            if row < 0:
                continue
            keywords = self.column_keywords.row(row, &n_keywords)
            for i in range(n_keywords):
                words = self.keyword_words.row(keywords[i], &n_words)
                if n_words != 1 and not self._all_stand(query, words, n_words):
                    continue
                nodes = self.keyword_nodes.row(keywords[i], &n_nodes)
                for j in range(n_nodes):
                    files = self.node_files.row(nodes[j], &n_files)
                    for m in range(n_files):
                        if files[m] == <size_t>f:
                            found.append((query.terms[t].word, nodes[j]))
                            break
        return found

    cdef list matched(self, Query query, uint32_t f):
        """Terms of field s (of field b where none stands there) that file f holds, in query order."""
        cdef Py_ssize_t i, j
        cdef uint32_t column
        cdef list out = []
        for i in range(query.n_terms):
            if query.terms[i].field == 1 and out:
                break
            column = query.terms[i].column
            if column == NO_TERM or not self.files.contains(column, f):
                continue
            for j in range(i):
                if query.terms[j].column == column:
                    break
            else:
                out.append(self.name(column))
        return out

    cpdef object same_key(self, Query query):
        """What questions of equal analysed terms have in common (tier 1): their best stems, in any order."""
        cdef uint32_t[32] few
        cdef Py_ssize_t n = query.n_words, i, j
        cdef uint32_t best
        if n > 32:
            return query.key
        for i in range(n):
            best = query.words[i].best
            if best == NO_TERM:
                return query.key
            j = i
            while j > 0 and few[j - 1] > best:
                few[j] = few[j - 1]
                j -= 1
            few[j] = best
        return (<char*>few)[:n * sizeof(uint32_t)]

    def passage_range(self, Py_ssize_t f):
        """First passage of file `f` and the one after its last."""
        cdef Py_ssize_t start, stop
        if not 0 <= f < self.n_files:
            raise ValueError(f"file {f} of {self.n_files} does not exist")
        self._range(f, &start, &stop)
        return start, stop

    def word_idfs(self, Query query):
        """idf of the query's words, after the files."""
        return [self._word_idf(query.words[w].best) for w in range(query.n_words)]

    def idf(self, str source, uint32_t column):
        """idf of a column in "file" or "passage"."""
        cdef Postings postings = self.files if source == "file" else self.passages
        return postings.idf[column] if column < <size_t>postings.p.n_terms else postings.idf_unknown

    cpdef str name(self, uint32_t column):
        """The term of a column; made once."""
        found = self.term_names.get(column)
        if found is None:
            found = self.lexicon.term(column)
            self.term_names[column] = found
        return <str>found

    def sums(self, Query query):
        """BM25 sums and attainable most of files and passages, for `explain` and tests.

        Returns
        -------
        columns, weights : list of int, list of float
            The merged query terms; an unknown term has column -1.
        file_sums, passage_sums : list of float
        file_most, passage_most : float
        """
        cdef Py_ssize_t n, i
        cdef uint32_t* columns = <uint32_t*>malloc((query.n_terms + 1) * sizeof(uint32_t))
        cdef float* weights = <float*>malloc((query.n_terms + 1) * sizeof(float))
        cdef float* file_sums = <float*>calloc(self.n_files + 1, sizeof(float))
        cdef float* passage_sums = <float*>calloc(self.n_passages + 1, sizeof(float))
        try:
            if columns == NULL or weights == NULL or file_sums == NULL or passage_sums == NULL:
                raise MemoryError("no memory for the scores of a query")
            n = self._gather(query, columns, weights)
            self.files.accumulate(columns, weights, n, file_sums)
            self.passages.accumulate(columns, weights, n, passage_sums)
            return ([-1 if columns[i] == NO_TERM else <object>columns[i] for i in range(n)],
                    [weights[i] for i in range(n)],
                    [file_sums[i] for i in range(self.n_files)],
                    [passage_sums[i] for i in range(self.n_passages)],
                    self._attainable(self.files, columns, weights, n),
                    self._attainable(self.passages, columns, weights, n))
        finally:
            free(columns)
            free(weights)
            free(file_sums)
            free(passage_sums)
