"""Text into index terms: Korean, English and mixed text, identifiers, other scripts.

A text has two lists of terms: ``s``, stems, and ``b``, bigrams of stems (words themselves where there are
none). A document and a query are analysed alike but for the alternatives that each keeps. Analysis is
*static* unless it is given a `Support`: what an index has seen decides between readings of a Korean word.
"""

from __future__ import annotations

from memtree._support import Support
from memtree._tokens import normalize, stem, terms_of

__all__ = ["Support", "Tokens", "normalize", "stem", "tokens"]


class Tokens(tuple):
    """Terms of a text: the pair ``(s, b)``.

    Attributes
    ----------
    s, b : list of str
        Terms of the two fields, in order of appearance; those of a document with repeats.
    weights : list of float
        Of a query, parallel to `s`: each word weighs 1. Empty for a document.
    """

    weights: list[float]

    def __new__(cls, s: list[str], b: list[str], weights: list[float]) -> Tokens:
        self = super().__new__(cls, (s, b))
        self.weights = weights
        return self

    @property
    def s(self) -> list[str]:
        return self[0]

    @property
    def b(self) -> list[str]:
        return self[1]


def tokens(text: str, query: bool = False, support: Support | None = None) -> Tokens:
    """Analyse a text.

    Parameters
    ----------
    text : str
    query : bool
        Analyse it as a query: stop words go unless nothing else is left, alternative stems get weights.
    support : Support, optional
        What an index has seen.

    Returns
    -------
    Tokens

    Examples
    --------
    >>> tokens("가치관이 뭐야?", query=True)
    (['가치관', '가치관이'], ['가치', '치관'])
    """
    if type(text) is not str and isinstance(text, str):
        text = str.__str__(text)  # of a subclass, as NumPy has one
    return Tokens(*terms_of(text, query, support))
