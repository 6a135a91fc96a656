"""Fuzzy dedup: is a new item a duplicate of a stored one, an update of it, an extension, or new?

Candidates come from an inverted index over the content terms of the stored items (:mod:`memtree.known`); the nearest
decides (:mod:`memtree.compare`).
"""

from __future__ import annotations

import heapq
import unicodedata

from memtree._lexicon import Lexicon
from memtree.compare import DUPLICATE, KINDS, NEW, compare
from memtree.items import Item
from memtree.known import Known, plain, take_apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MAX_CANDIDATES = 50
MAX_POSTINGS = 2_000
"""Entries of the index that one item may go through, its rarest term's apart."""


class Decision:
    """What becomes of a new item.

    Attributes
    ----------
    kind : {"duplicate", "update", "extends", "new"}
    reason : str
        Why, in words.
    known : Known or None
        The stored item it leans on.
    """

    __slots__ = ("kind", "known", "reason")

    def __init__(self, kind: str, reason: str, known: Known | None = None):
        self.kind = kind
        self.reason = reason
        self.known = known

    def __repr__(self) -> str:
        return f"Decision({self.kind}: {self.reason})"


class Deduper:
    """An inverted index over the items of a bank; items come and go.

    Examples
    --------
    >>> from memtree.items import parse_item
    >>> deduper = Deduper()
    >>> _ = deduper.add(parse_item("W @회의: 주간 회의는 오후 3시에 한다", "2026-03-01"))
    >>> deduper.decide(parse_item("W @회의: 오후 3시에 주간 회의를 합니다", "2026-03-02")).kind
    'duplicate'
    >>> deduper.decide(parse_item("W @회의: 주간 회의는 오후 4시에 한다", "2026-03-02")).kind
    'update'
    """

    __slots__ = ("_lexicon", "_numbers", "_postings", "_same", "_slots")

    def __init__(self, items: Iterable[Item] = ()):
        self._lexicon = Lexicon()
        self._postings: dict[str, list[int]] = {}
        self._slots: list[Known | None] = []
        self._numbers: dict[Known, int] = {}
        self._same: dict[tuple, list[Known]] = {}
        for item in items:
            self.add(item)

    def analyse(self, item: Item, where: Any = None) -> Known:
        """Take an item apart."""
        return take_apart(item, self._lexicon, where)

    def add(self, item: Item, where: Any = None) -> Known:
        """Take an item in; one that is superseded is found by `same` only.

        Parameters
        ----------
        item : Item
        where : object
            Kept with it, for the caller.
        """
        known = self.analyse(item, where)
        self._same.setdefault(known.key, []).append(known)
        if not item.superseded:
            number = self._numbers[known] = len(self._slots)
            self._slots.append(known)
            for term in known.terms:
                self._postings.setdefault(_bucket(term), []).append(number)
        return known

    def discard(self, known: Known) -> None:
        """Take an item out."""
        self._same[known.key].remove(known)
        number = self._numbers.pop(known, None)
        if number is not None:
            self._slots[number] = None

    def same(self, item: Item) -> list[Known]:
        """Items with the very tag, entity and text, superseded ones too."""
        return self._same.get((item.tag, plain(item.entity), plain(item.text)), [])

    def decide(self, item: Item) -> Decision:
        """Tell what a new item is to those that are there.

        Returns
        -------
        Decision
            Of the nearest item that it is no news to, else of the nearest that it takes the place of, else new.
        """
        for known in self.same(item):
            if not known.item.superseded and not known.facts.is_relative and (
                    known.item.text == item.text or known.facts.all() == self.analyse(item).facts.all()):
                return Decision(DUPLICATE, "the same words", known)
        new = self.analyse(item)
        return self._nearest(new, self._candidates(new))

    def decide_by_all_pairs(self, item: Item) -> Decision:
        """`decide` without the index: what it is measured against."""
        return self._nearest(self.analyse(item), filter(None, self._slots))

    def _nearest(self, new, candidates):
        best = None
        for known in candidates:
            kind, reason, score = compare(known, new)
            if kind != NEW:
                rank = (KINDS.index(kind), -score, -self._numbers[known])
                if best is None or rank < best[0]:
                    best = (rank, Decision(kind, reason, known))
        return best[1] if best else Decision(NEW, "no item says the same")

    def _candidates(self, new):
        """The items that share most terms, later ones first; of long lists only the rarest are gone through."""
        lists = sorted((self._postings.get(_bucket(term), ()) for term in new.terms), key=len)
        counts: dict[int, int] = {}
        gone_through = 0
        for numbers in lists:
            gone_through += len(numbers)
            if counts and gone_through > MAX_POSTINGS:
                break
            for number in numbers:
                counts[number] = counts.get(number, 0) + 1
        alive = (number for number in counts if self._slots[number] is not None)
        near = heapq.nlargest(MAX_CANDIDATES, alive, key=lambda number: (counts[number], number))
        return [self._slots[number] for number in near]


def _bucket(term):
    """Key of a term in the index: stems of one word, cut at different places, share it."""
    return term if term.isascii() else unicodedata.normalize("NFD", term)[:4]
