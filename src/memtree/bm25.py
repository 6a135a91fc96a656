"""Class BM25: an exact, updatable BM25 index of token lists, on the compiled kernel."""

from __future__ import annotations

import copy
import threading
from array import array
from functools import partial

import numpy as np

from memtree import _arguments, _segments, _stored
from memtree._bm25 import Postings
from memtree._filter import Filter
from memtree._reading import read_more, read_texts, read_tokens
from memtree._segments import Generation, Segment
from memtree._sparse import postings_of
from memtree._streaming import write_index
from memtree._words import distinct
from memtree.errors import IndexFileError


class BM25:
    """Exact BM25 over a collection of documents.

    Documents are numbered from 0 in the order they come; an id stays with its document and is never given again.
    Reading is safe from many threads, also while one of them changes the collection: each call sees one generation.

    Parameters
    ----------
    method : {"lucene", "robertson", "atire", "okapi", "bm25+", "bm25l"}
        Variant, see `memtree._bm25`.
    k1, b : float
    delta : float, optional
        Of bm25+ (default 1) and bm25l (default 0.5).
    epsilon : float
        Of okapi.
    analyzer : callable, optional
        Text to tokens, for texts given as str; by default `memtree.analysis`.

    Examples
    --------
    >>> index = BM25.from_tokens([["a", "b"], ["a", "c"], ["d", "e"]])
    >>> ids, scores = index.search(["a"], k=2)
    >>> ids.tolist()
    [0, 1]
    """

    def __init__(self, *, method="lucene", k1=1.2, b=0.75, delta=None, epsilon=0.25, analyzer=None):
        self._params = {"method": method, "delta": None if delta is None else _arguments.number("delta", delta)}
        for name, value in (("k1", k1), ("b", b), ("epsilon", epsilon)):
            self._params[name] = _arguments.number(name, value)
        self._analyzer = _arguments.function("analyzer", analyzer)
        self._words: dict | None = {}
        self._stored_words = self._find = None
        self._lock = threading.RLock()
        self._tail: list = []
        self._set_single(Postings.build(array("q", [0]), array("I"), (0, 0)))

    def _set_single(self, postings, n_docs=None, holes=_segments.NO_IDS):
        n_docs = postings.n_docs if n_docs is None else n_docs
        total = round(postings.avgdl(0) * postings.n_docs)
        single = [Segment(postings)]
        self._generation = Generation(single, n_docs, total, postings.n_docs, self._params, holes=holes)

    # ------------------------------------------------------------------ making

    @classmethod
    def from_tokens(cls, documents, **params) -> BM25:
        """Index an iterable of token sequences; it is read once and not kept."""
        self = cls(**params)
        postings, self._words = read_tokens(documents)
        self._set_single(postings)
        return self

    @classmethod
    def from_texts(cls, texts, analyzer=None, **params) -> BM25:
        """Index an iterable of str, each turned into tokens by `analyzer`.

        Without one, of more than 64 Hangul syllables in a row `memtree.analysis` makes bigrams (its ``b``), no tokens
        (its ``s``): give such texts spaces, or an analyzer that returns both.
        """
        self = cls(analyzer=analyzer, **params)
        texts = _arguments.several("texts", texts, "str")
        if analyzer is not None:
            analysed = (_arguments.analysed(analyzer(text)) for text in texts)
            return cls.from_tokens(analysed, analyzer=analyzer, **params)
        postings, ids = read_texts(texts)
        # The dict of tokens is made when it is asked for; queries do with the table.
        self._stored_words, self._find = ids.vocabulary, ids.find
        self._set_single(postings)
        return self

    @classmethod
    def from_matrix(cls, counts, vocabulary=None, **params) -> BM25:
        """Index term frequencies.

        Parameters
        ----------
        counts : scipy sparse array or matrix, shape (n_docs, n_terms)
            Whole numbers from 0 to 4,294,967,295, of any type; entries that stand several times are added up (those of
            bool are not), so that rows of token ids with ones will do. It is read as it is, fastest if by rows (csr).
        vocabulary : sequence of str, or dict of str to int, optional
            Word of each column, or column of each word; without, a query consists of column numbers.

        Raises
        ------
        TypeError
            `counts` is no sparse matrix of numbers, `vocabulary` neither a sequence nor a dict.
        ValueError
            An entry is no such number; `counts` is damaged; `vocabulary` has not a different word for each column.
        """
        self = cls(**params)
        postings = postings_of(counts)
        self._words = None
        if vocabulary is not None:
            words = distinct(vocabulary, postings.n_terms)
            self._stored_words = lambda: {word: column for column, word in enumerate(words)}
        self._set_single(postings)
        return self

    @classmethod
    def build(cls, path, source, *, memory=1 << 30, progress=None, analyzer=None, **params) -> BM25:
        """Index more than fits in memory, into a file.

        It is that of `from_tokens`, of the same str tokens, and `save`, to the byte.

        Documents are read one by one. What they need beyond `memory` waits beside `path` and is gone at the end.

        Parameters
        ----------
        path : str or os.PathLike
            File of the index; appears when it is complete.
        source : iterable of str, or of sequences of str
            Texts or tokens, which are str; for files see `memtree.documents`.
        memory : int
            Bytes that the build may use, at least 64 MiB; a single document must fit.
        progress : True or callable, optional
            Show a bar (needs tqdm), or call ``progress(done, total)`` now and then; `total` may be None.
        analyzer, **params
            As in `from_texts`.

        Returns
        -------
        BM25
            The index, opened by mmap.

        Raises
        ------
        MemtreeError
            The different tokens alone need more than `memory`: 64 MiB take some 0.2 million, 256 MiB 3 million,
            1 GiB 12 million. The message says what is enough.
        ValueError
            `path` is a file of `source`; `memory` is too small.
        WriteError
            The disk is full. What was at `path` is still there.
        LockError
            Another build of the same file is running.
        """
        self = cls(analyzer=analyzer, **params)
        write_index(path, source, _stored.KIND, partial(_stored.describe, self._params), analyzer, memory, progress)
        return cls.load(path, analyzer=analyzer)

    def _analyse(self, text, is_query):
        if self._analyzer is not None:
            return _arguments.analysed(self._analyzer(text))
        from memtree.analysis import tokens

        return tokens(text, query=is_query).s

    # ------------------------------------------------------------------ reading

    def __repr__(self) -> str:
        of = ", ".join(f"{name}={self._params[name]!r}" for name in ("method", "k1", "b"))
        return f"BM25({of}, n_docs={self.n_docs}, n_terms={self._generation.n_terms})"

    @property
    def method(self) -> str:
        """Variant of BM25."""
        return self._params["method"]

    @property
    def k1(self) -> float:
        """How much repeated tokens count."""
        return self._params["k1"]

    @property
    def b(self) -> float:
        """How much the length of a document counts, from 0 to 1."""
        return self._params["b"]

    def __len__(self) -> int:
        """Number of documents that are there."""
        return self._generation.n_docs

    @property
    def n_docs(self) -> int:
        """Number of documents that are there."""
        return self._generation.n_docs

    @property
    def avgdl(self) -> float:
        """Mean length of a document."""
        generation = self._generation
        return generation.total / generation.n_docs if generation.n_docs else 0.0

    @property
    def vocabulary(self) -> dict | None:
        """Word -> term id; None if terms are column numbers."""
        if self._stored_words is not None:
            with self._lock:
                if self._stored_words is not None:
                    self._words = self._stored_words()
                    self._stored_words = self._find = None
        return self._words

    def _tokens(self, query):
        """A query as a sequence of tokens."""
        if isinstance(query, str):
            return self._analyse(query, True)
        return query if isinstance(query, list) else _arguments.tokens("query", query)

    def _terms(self, query, weights, n_terms):
        """Term ids and weights of the words of a query that are known and below `n_terms`."""
        query = self._tokens(query)
        if weights is not None:
            weights = _arguments.numbers("weights", weights)
            if len(weights) != len(query):
                raise ValueError(f"weights must be as many as query tokens, {len(query)}, not {len(weights)}")
        find = self._find
        words = None if find else self.vocabulary
        if find:
            terms = [find(word) for word in query]
        elif words is None:
            return _arguments.columns(query, n_terms), weights
        else:
            terms = [words.get(word, -1) for word in query]
        if weights is not None:
            weights = [weight for term, weight in zip(terms, weights, strict=True) if 0 <= term < n_terms]
        return [term for term in terms if 0 <= term < n_terms], weights

    def search(self, query, k=10, filter=None, weights=None, weight_mask=None):
        """Find the `k` best documents, exactly.

        Parameters
        ----------
        query : sequence of tokens, or str
            A repeated token counts as often as it stands, an unknown one not at all; a str is analysed.
        k : int
            Most hits wanted; 0 gives none.
        filter : array of bool over all ids, or sequence of ids, optional
            Documents to consider.
        weights : sequence of float, optional
            One a query token.
        weight_mask : array of float over all ids, optional
            What each document's score is multiplied by, in float32; one of weight 0 is no hit.

        Returns
        -------
        ids : ndarray of int64, shape (n,), n <= k
            Documents that hold a query token: higher score first, then lower id.
        scores : ndarray of float32, shape (n,)

        Raises
        ------
        TypeError
            An argument is of another kind.
        ValueError
            `k` is negative; a filter id or weight is out of range; a mask is not as long as the ids go.
        """
        if type(k) is not int:
            k = _arguments.whole("k", k)
        generation = self._generation
        plain, words = generation.plain, None if self._find else self.vocabulary
        if plain is not None and words is not None:
            if weights is not None:
                weights = _arguments.numbers("weights", weights)
            return plain.search(self._tokens(query), weights, k, filter, weight_mask=weight_mask, words=words)
        terms, weights = self._terms(query, weights, generation.n_terms)
        if plain is not None:
            return plain.search(terms, weights, k, filter, weight_mask=weight_mask)
        return generation.search(terms, weights, k, generation.filters(filter, weight_mask))

    def search_batch(self, queries, k=10, threads=1, filter=None, weight_mask=None):
        """Answer many queries, on several threads without the GIL; one (ids, scores) a query, as `search` gives."""
        k, threads = _arguments.whole("k", k), _arguments.whole("threads", threads)
        queries = _arguments.several("queries", queries, "queries")
        generation = self._generation
        plain, words = generation.plain, None if self._find else self.vocabulary
        if plain is not None and words is not None:
            asked = [(self._tokens(query), None) for query in queries]
        else:
            words = None
            asked = [self._terms(query, None, generation.n_terms) for query in queries]
        filters = generation.filters(filter, weight_mask)
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")

        def answer(part):
            if plain is not None:
                return plain.search_many(part, k, filters[0], words=words)
            return [generation.search(terms, weights, k, filters) for terms, weights in part]

        if threads == 1 or len(asked) < 2:
            return answer(asked)
        from concurrent.futures import ThreadPoolExecutor

        # Several parts a thread, so that one of slow queries does not keep the others waiting.
        size = max(1, len(asked) // (threads * 8))
        parts = [asked[start : start + size] for start in range(0, len(asked), size)]
        with ThreadPoolExecutor(threads) as pool:
            return [one for part in pool.map(answer, parts) for one in part]

    def scores(self, query, weights=None, weight_mask=None):
        """Score of every id, float32; 0 for ids that are no longer there.

        With a weight mask, as `search` takes it, each is multiplied by its weight.
        """
        generation = self._generation
        terms, weights = self._terms(query, weights, generation.n_terms)
        scores = generation.scores(terms, weights)
        if weight_mask is None:
            return scores
        return scores * Filter(None, weight_mask, generation.n_rows).weight_mask

    def explain(self, query, doc: int, weights=None) -> dict:
        """Parts of a document's score.

        Returns
        -------
        dict
            ``score``; ``terms``: for each query token found in the document, in query order, (token, part);
            ``base``: what bm25+ and bm25l give to every document. The parts add up to the score.
        """
        doc, generation = _arguments.whole("doc", doc), self._generation
        if generation.place(doc) is None:
            raise ValueError(f"there is no document {doc}")
        terms, weights = self._terms(query, weights, generation.n_terms)
        names = {term: word for word, term in self.vocabulary.items()} if self.vocabulary is not None else None
        score, parts = generation.explain(terms, weights, doc)
        absent = 0.0 if self._params["method"] not in ("bm25+", "bm25l") else score - sum(parts.values())
        named = [(term if names is None else names[term], part) for term, part in parts.items()]
        return {"score": score, "terms": named, "base": absent}

    @property
    def df(self) -> np.ndarray:
        """Document frequency of each term id, uint32."""
        return np.frombuffer(self._compacted().segments[0].postings.df, np.uint32)

    @property
    def idf(self) -> np.ndarray:
        """Inverse document frequency of each term id as used in scoring, float32."""
        return np.frombuffer(self._compacted().segments[0].postings.idf_values, np.float32)

    @property
    def matrix(self):
        """Term frequencies as a `scipy.sparse.csc_array`, shape (largest id + 1, terms)."""
        from scipy.sparse import csc_array

        postings = self._compacted().segments[0].postings
        indptr, indices, tf = postings.to_csc()
        return csc_array((tf, indices, indptr), shape=(postings.n_docs, postings.n_terms))

    # ------------------------------------------------------------------ changing

    def _token_ids(self, documents) -> list[array]:
        """The tokens of documents as ids, new words numbered; on an error there are no new words."""
        words, before = self.vocabulary, self._generation
        n_words = 0 if words is None else len(words)
        try:
            analyse = partial(self._analyse, is_query=False)
            return read_more(documents, analyse, words, before.segments[0].postings.n_terms)
        except BaseException:
            # Unless the source itself changed the index, which then needs them.
            while words is not None and self._generation is before and len(words) > n_words:
                words.popitem()
            raise

    def add(self, documents) -> np.ndarray:
        """Add documents (token sequences, or str to be analysed), all or none; gives their ids."""
        documents = _arguments.several("documents", documents, "documents")
        with self._lock:
            added = self._token_ids(documents)
            first = self._generation.n_rows
            self._change([], list(enumerate(added, first)))
            return np.arange(first, first + len(added))

    def remove(self, ids) -> None:
        """Remove documents, all or none.

        Parameters
        ----------
        ids : sequence of int, or array of bool over all ids
            A mask removes what it marks; ids that are no longer there are passed over in it.

        Raises
        ------
        TypeError
            `ids` are no whole numbers.
        ValueError
            There is no such document; a mask is not as long as the ids go.
        """
        with self._lock:
            self._change(_arguments.document_ids(ids, self._generation), [])

    def update(self, doc: int, document) -> None:
        """Replace a document; its id stays."""
        doc = _arguments.whole("doc", doc)
        with self._lock:
            if self._generation.place(doc) is None:
                raise ValueError(f"there is no document {doc}")
            (tokens,) = self._token_ids([document])
            self._change([doc], [(doc, tokens)])

    def _change(self, gone, rows):
        """Make the next generation."""
        now = self._generation
        for doc in gone:
            if doc < 0 or now.place(doc) is None:
                raise ValueError(f"there is no document {doc}")
        self._generation, self._tail = now.changed(gone, rows, self._tail)
        if self._params["method"] == "okapi" or self._generation.is_scattered():
            self._compacted()

    def _compacted(self) -> Generation:
        """The present generation in one segment, as wide as the vocabulary."""
        with self._lock:
            now = self._generation
            words = self.vocabulary
            n_terms = now.segments[0].postings.n_terms if words is None else len(words)
            if now.plain is not None and now.segments[0].postings.n_terms == n_terms:
                return now
            self._tail = []
            self._generation = now.compacted(n_terms)
            return self._generation

    # ------------------------------------------------------------------ storage

    def _parts(self) -> dict:
        with self._lock:
            return _stored.parts_of(self._compacted(), self._params, self.vocabulary)

    def save(self, path) -> None:
        """Write the index to one file, atomically.

        Raises
        ------
        TypeError
            The tokens are neither all str nor all whole numbers.
        """
        from memtree.sections import write_sections

        write_sections(path, _stored.KIND, self._parts())

    @classmethod
    def load(cls, path, mmap=True, analyzer=None) -> BM25:
        """Open a saved index; with `mmap` only its header is read, the rest as it is needed.

        Raises
        ------
        IndexFileError
            The file is damaged or of another kind.
        """
        from memtree.sections import open_sections

        sections = open_sections(path, _stored.KIND)
        if not mmap:
            sections.check()
        return cls._of_parts(sections if mmap else {name: bytes(sections[name]) for name in sections}, analyzer, path)

    @classmethod
    def _of_parts(cls, parts, analyzer, path=None) -> BM25:
        params, postings, n_docs, holes, stored_words = _stored.read(parts, path)
        try:
            self = cls(**params)
        except (ValueError, TypeError) as error:
            raise IndexFileError(f"index file has no valid parameters: {error}", path) from None
        self._analyzer = _arguments.function("analyzer", analyzer)
        self._words, self._stored_words = None, stored_words
        self._set_single(postings, n_docs, holes)
        return self

    def __reduce__(self):
        """As it is saved; the analyzer, too, must be one that can be pickled."""
        return self._of_parts, ({name: bytes(part) for name, part in self._parts().items()}, self._analyzer)

    def __copy__(self) -> BM25:
        """Another index over the same postings; a change of one is none of the other."""
        with self._lock:
            other = type(self).__new__(type(self))
            other.__dict__.update(self.__dict__)
            other._lock = threading.RLock()
            other._words = None if self._words is None else dict(self._words)
            other._tail = list(self._tail)
            return other

    def __deepcopy__(self, memo) -> BM25:
        other = self.__copy__()
        other._analyzer = copy.deepcopy(self._analyzer, memo)
        return other
