"""Explanations: what made the score of a hit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree._recall import Searcher


class Part:
    """One part of a score.

    Attributes
    ----------
    source : str
        "tree", "file" or "passage".
    term : str
        Index term, or the keyword's word for the tree.
    weight, idf, impact : float
        The term's weight in the query, its idf, and impact = idf * tf / (tf + K); for the tree impact = idf.
    value : float
        What it adds to the score.
    """

    __slots__ = ("field", "idf", "impact", "source", "term", "value", "weight")

    def __init__(self, source: str, term: str, field: str, weight: float, idf: float, impact: float,
                 value: float) -> None:
        self.source = source
        self.term = term
        self.field = field
        self.weight = weight
        self.idf = idf
        self.impact = impact
        self.value = value

    def to_dict(self) -> dict:
        """The part as plain data."""
        return {name: getattr(self, name) for name in ("source", "term", "field", "weight", "idf", "impact", "value")}


class Explanation:
    """Why a file has its score for a query; the values of the parts add up to it.

    Attributes
    ----------
    query, path : str
    score, tree, bm25 : float
    node : str or None
        The tree's node that gave the tree score.
    lines : tuple of int or None
        Of the passage that gave the passages' half of bm25.
    parts : list of Part
    missing : list of str
        Words of the query that the file does not hold.
    """

    __slots__ = ("bm25", "lines", "missing", "node", "parts", "path", "query", "score", "tree")

    def __init__(self, query: str, path: str, score: float, tree: float, bm25: float, node: str | None,
                 lines: tuple[int, int] | None, parts: list[Part], missing: list[str]) -> None:
        self.query = query
        self.path = path
        self.score = score
        self.tree = tree
        self.bm25 = bm25
        self.node = node
        self.lines = lines
        self.parts = parts
        self.missing = missing

    def to_dict(self) -> dict:
        """The explanation as plain data."""
        out = {name: getattr(self, name) for name in ("query", "path", "score", "tree", "bm25", "node", "missing")}
        out["lines"] = None if self.lines is None else list(self.lines)
        out["parts"] = [part.to_dict() for part in self.parts]
        return out


def explain(searcher: Searcher, node_names: list[str], text: str, file: int, w_tree: float,
            w_bm25: float) -> Explanation:
    """Take the score of one file apart.

    Parameters
    ----------
    searcher : Searcher
    node_names : list of str
        By node id.
    text : str
        The query.
    file : int
        Document id.
    w_tree, w_bm25 : float
        Weights of the blend.
    """
    query = searcher.query(text)
    columns, weights, file_sums, passage_sums, file_most, passage_most = searcher.sums(query)
    first, last = searcher.passage_range(file)
    best = max(range(first, last), key=lambda p: (passage_sums[p], -p), default=None)
    bm25 = 0.5 * ((file_sums[file] / file_most if file_most > 0 else 0.0)
                  + (passage_sums[best] / passage_most if best is not None and passage_most > 0 else 0.0))
    parts = []
    halves = [("file", searcher.files, file, file_most)]
    if best is not None:
        halves.append(("passage", searcher.passages, best, passage_most))
    for source, postings, doc, most in halves:
        for column, weight in zip(columns, weights, strict=True):
            impact = postings.impact(column, doc) if column >= 0 else 0.0
            if impact:
                parts.append(Part(source, searcher.name(column), "s" if column < searcher.lexicon.n_s else "b",
                                  weight, searcher.idf(source, column), impact,
                                  w_bm25 * 0.5 * weight * impact / most))
    words = query.words
    by_node: dict[int, list[int]] = {}
    for word, bearer in dict.fromkeys(searcher.tree_words(query, file)):
        by_node.setdefault(bearer, []).append(word)
    idfs = searcher.word_idfs(query)
    total = sum(idfs)
    tree = 0.0
    node = None
    if by_node and total > 0:
        chosen = max(by_node, key=lambda n: (sum(idfs[w] for w in by_node[n]), -n))
        node = node_names[chosen]
        for word in by_node[chosen]:
            share = idfs[word] / total
            tree += share
            parts.append(Part("tree", words[word][1], "s", 1.0, idfs[word], idfs[word], w_tree * share))
    held = set(searcher.words_in(query, file))
    missing = [written for i, (written, _) in enumerate(words) if i not in held]
    lines = searcher.source.lines(best) if best is not None and passage_sums[best] > 0 else None
    return Explanation(text, searcher.paths[file], w_tree * tree + w_bm25 * bm25, tree, bm25, node, lines, parts,
                       missing)
