"""Fuzzy dedup: is a new item a duplicate of a stored one, an update of it, an extension, or new?

An item is compared as *content terms* (best stems, words that carry no content left out) and *facts*: numbers with
their unit, dates and times, negation, and roles ("than X"). Candidates come from an inverted index over the terms.

A duplicate adds nothing but words without content, and no fact of it differs. Where a fact or one place of the
sentence differs and the rest is the same, the newer takes the older's place; so it does where it holds all of
the older and says more. No threshold of likeness alone tells a rewrite from a neighbour: in doubt an item is new.
"""

from __future__ import annotations

import re
import unicodedata

from memtree._lexicon import Lexicon
from memtree.facts import FACT_WORDS, LIGHT, NUMBER_WORDS, Facts, without_counts
from memtree.items import Item
from memtree.verbs import verb_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

DUPLICATE, UPDATE, EXTENDS, NEW = _KINDS = ("duplicate", "update", "extends", "new")

MIN_TERMS = 3
"""With fewer content terms, both items must have the same."""
MIN_SAME_SUBJECT = 0.6
"""Share of content terms in common, of the longer item, above which a differing fact makes an update."""
# After a noun these make it a verb: 친절 and 친절해서다 are one word.
_VERB_STARTS = frozenset("하해한할함합했되된될됨됩됐")
_DIRECTIONS = frozenset(("로", "에서"))
LAST_LETTERS = 100
"""Letters from the end among which the last verb is looked for."""
_OPINION = re.compile(r"^i (?:think|believe|feel)(?: that)? ")
MAX_CANDIDATES = 50
MAX_POSTINGS = 2_000
"""Entries of the index that one item may go through, its rarest term's apart."""


class Known:
    """An item taken apart, as the index keeps it.

    What only a comparison needs is worked out at the first one: few of the items of a bank are ever compared.
    """

    __slots__ = ("_facts", "_text", "_verbs", "entity", "item", "key", "last", "order", "plain", "stems", "terms",
                 "where")

    def __init__(self, item: Item, text: str, terms: dict[str, set[str]], last: str, where: Any = None):
        self.item = item
        self.last = last
        self.order = list(terms)
        self.stems = terms
        self.terms = frozenset(terms)
        self.entity = _plain(item.entity)
        self.plain = _plain(item.text)
        self.key = (item.tag, self.entity, self.plain)
        self.where = where
        self._text = text
        self._facts: Facts | None = None
        self._verbs: frozenset[tuple[str, str]] | None = None

    @property
    def facts(self) -> Facts:
        """What must not differ in a duplicate."""
        if self._facts is None:
            self._facts = Facts(self._text)
        return self._facts

    @property
    def verbs(self) -> frozenset[tuple[str, str]]:
        """Forms of the verb at the end; with the word before it, too: 알려 준다 and 알려줌 are one."""
        if self._verbs is None:
            before, verb = _last_words(self._text)
            forms = verb_forms(verb)
            self._verbs = frozenset(forms | {(before + stem, tense) for stem, tense in forms})
        return self._verbs

    def names_entity(self, term: str) -> bool:
        """Whether a term is the name of the item's entity."""
        words = self.entity.split()
        names = {self.entity, *words, *map(_latin_stem, words)}
        return bool(self.entity) and not self.stems[term].isdisjoint(names)


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


def _latin_stem(word):
    """Stem of a Latin word, as the analysis gives it."""
    from memtree.analysis import tokens

    return next(iter(tokens(word, query=True).s), word) if word.isascii() else word


def _plain(text: str) -> str:
    """A text for comparison letter by letter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!。 ")


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
        text = _OPINION.sub("", unicodedata.normalize("NFKC", item.text).lower())
        query = self._lexicon.query(without_counts(text))
        words: dict[int, list[str]] = {}
        _, verb = _last_words(text)
        last = ""
        for stem, field, _, word in query.terms:
            if field == 0:
                words.setdefault(word, []).append(stem)
        terms: dict[str, set[str]] = {}
        for stems in words.values():
            term = _term(stems[0])
            if term:
                last = term if verb in stems else ""
                terms.setdefault(term, set()).update(stem.rstrip("~") for stem in stems[:3])
        return Known(item, text, terms, last, where)

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
        return self._same.get((item.tag, _plain(item.entity), _plain(item.text)), [])

    def decide(self, item: Item) -> Decision:
        """Tell what a new item is to those that are there.

        Returns
        -------
        Decision
            Of the nearest item that it is no news to, else of the nearest that it takes the place of, else new.
        """
        for known in self.same(item):
            if not known.item.superseded and not known.facts.is_relative:
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
                rank = (_KINDS.index(kind), -score, -self._numbers[known])
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
        near = sorted(counts, key=lambda number: (-counts[number], -number))
        return [known for number in near if (known := self._slots[number]) is not None][:MAX_CANDIDATES]


def compare(old: Known, new: Known) -> tuple[str, str, float]:
    """Compare a new item with a stored one.

    Returns
    -------
    kind : {"duplicate", "update", "extends", "new"}
    reason : str
    score : float
        Share of content terms in common, of the longer item.
    """
    no = (NEW, "", 0.0)
    if old.item.tag != new.item.tag or (old.entity != new.entity and old.entity and new.entity):
        return no
    less, more = _unmatched(old, new)
    longer = max(len(old.order), len(new.order))
    shared = len(new.order) - len(more)
    if not longer:
        return (DUPLICATE, "the same words", 1.0) if old.plain == new.plain else no
    score = shared / longer
    if not shared:
        return no
    if old.facts.is_record(new.facts):
        return no
    if new.facts.is_relative and old.facts.is_relative and old.item.date != new.item.date:
        return no
    old_facts, new_facts = old.facts.all(), new.facts.all()
    differs = _difference(old.facts, new.facts) or _exchange(old, new)
    if not differs and _tense_differs(old, new):
        differs = "the tense differs"
    if not differs and not more and new_facts <= old_facts:
        few = len(new.order) < MIN_TERMS
        if not few or (not less and new_facts == old_facts):
            return DUPLICATE, f"{shared} of {shared} content terms are in it and no fact differs", score
    if not less and old_facts <= new_facts and len(old.order) > 1 and (len(more) > 1 or not differs):
        return EXTENDS, "it holds all of it and says more", score
    if differs or old_facts != new_facts:
        if score >= MIN_SAME_SUBJECT:
            return UPDATE, f"the same subject, but {differs or _fact_words(old_facts, new_facts)}", score
        return no
    if score >= 0.5 and _is_one_place(old, less) and _is_one_place(new, more):
        return UPDATE, f"the same but for {' '.join(less)} -> {' '.join(more)}", score
    return no


def _difference(old, new):
    """Which kind of fact stands against another; empty if none does."""
    if old.negated != new.negated:
        return "negation differs"
    for role, names in old.roles.items():
        if role in new.roles and names.isdisjoint(new.roles[role]):
            return f"what stands with {role!r} differs"
    for name, case in old.parts:
        if case in _DIRECTIONS and any((name, other) in new.parts for other in _DIRECTIONS - {case}):
            return f"the direction of {name} differs"
    for thing, numbers in old.things.items():
        if thing and thing in new.things and numbers.isdisjoint(new.things[thing]):
            return f"the number of {thing} differs"
    if any(set(sides) == {(True, False), (False, True)} for sides in zip(old.sides, new.sides, strict=True)):
        return "one says the opposite"
    return ""


def _tense_differs(old, new):
    """Whether both end in one verb, once of the past; one without content, 판단한다, may be in either."""
    if not old.last or not new.last or not old.verbs.isdisjoint(new.verbs):
        return False
    return not {stem for stem, _ in old.verbs}.isdisjoint(stem for stem, _ in new.verbs)


def _exchange(old, new):
    """Whether two things have changed places: "A calls B" and "B calls A"; what has if so."""
    before, after = dict(old.facts.parts), dict(new.facts.parts)
    both = [name for name in before if name in after and before[name] != after[name]]
    for one in both:
        for other in both:
            if before[one] == after[other] and before[other] == after[one]:
                return f"{one} and {other} have changed places"
    topics = [dict(_topics(side.facts.parts)) for side in (old, new)]
    for name, what in topics[0].items():
        if topics[1].get(name, what) != what and what in topics[1].values():
            return f"{name} and another have changed places"
    if old.plain.isascii() and new.plain.isascii() and old.facts.is_passive == new.facts.is_passive and (
            old.facts.prepositions == new.facts.prepositions):
        at = {term: number for number, term in enumerate(new.order)}
        kept = [at[term] for term in old.order if term in at]
        # Moving a phrase to the front turns two blocks round; only an exchange reverses three terms.
        for middle in range(1, len(kept) - 1):
            if max(kept[:middle]) > kept[middle] > min(kept[middle + 1:]):
                return "the order of the words differs"
    return ""


def _topics(parts):
    """What follows each topic of a sentence of several."""
    if sum(case == "은" for _, case in parts) > 1:
        for (name, case), (what, other) in zip(parts, parts[1:], strict=False):
            if case == "은" and other != "은":
                yield name, what


def _fact_words(old, new):
    return f"{', '.join(sorted(old - new)) or 'nothing'} has become {', '.join(sorted(new - old)) or 'nothing'}"


def _is_one_place(known, words):
    """Whether words stand side by side, few enough to be one name."""
    if not words or len(words) > 2:
        return False
    at = [known.order.index(word) for word in words]
    return max(at) - min(at) == len(words) - 1


def _unmatched(old, new):
    """Terms of each side without a partner on the other; the name of the item's own entity needs none."""
    more = [term for term in new.order if term not in old.terms]
    less = [term for term in old.order if term not in new.terms]
    for term in list(more):
        partner = next((other for other in less if _alike(term, new.stems[term], other, old.stems[other])), None)
        if partner is not None:
            less.remove(partner)
            more.remove(term)
    if not old.verbs.isdisjoint(new.verbs):
        less = [term for term in less if term != old.last]
        more = [term for term in more if term != new.last]
    return ([term for term in less if not old.names_entity(term)],
            [term for term in more if not new.names_entity(term)])


def _last_words(text):
    """The last word of a text, a verb in Korean, and the one before it."""
    return ["", "", *text[-LAST_LETTERS:].rstrip(" .,!?~)\"'").split()][-2:]


def _alike(one, stems, other, other_stems):
    """Whether two terms are one word: a stem in common, or one begins the other, all but an ending."""
    if any(len(stem) > 1 for stem in stems & other_stems):
        return True
    if one[0] != other[0] or one.isascii():
        return False
    short, long = sorted((one, other), key=len)
    if len(short) > 1 and long.startswith(short) and long[len(short):][:1] in _VERB_STARTS:
        return True
    short, long = sorted((unicodedata.normalize("NFD", one), unicodedata.normalize("NFD", other)), key=len)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 3


def _term(stem):
    """A content term of a stem; empty for what is light or a fact."""
    if stem[0].isdigit() or stem in LIGHT or stem in NUMBER_WORDS or stem in FACT_WORDS:
        return ""
    stem = stem.rstrip("~").removesuffix("씩")
    if len(stem) > 1:
        stem = stem.removesuffix("다")
    if len(stem) > 4 and stem[-1] in "은는이가을를에의도와과로":
        stem = stem[:-1]
    return "" if not stem or stem in LIGHT or stem in FACT_WORDS else stem


def _bucket(term):
    """Key of a term in the index: stems of one word, cut at different places, share it."""
    return term if term.isascii() else unicodedata.normalize("NFD", term)[:4]
