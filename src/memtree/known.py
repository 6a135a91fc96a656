"""An item taken apart for comparison: its content terms, facts, and the parts that its words play."""

from __future__ import annotations

import re
import unicodedata
import zlib

from memtree.facts import FACT_WORDS, LIGHT, NUMBER_WORDS, UNITS, Facts, without_counts
from memtree.items import Item
from memtree.roles import Roles
from memtree.verbs import verb_forms
from memtree.wording import canonical, plain_wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memtree._lexicon import Lexicon

# Last syllables that may be an ending of the word.
ENDINGS = frozenset("은는이가을를의에도와과로만다고며면서요나께야랑음기씩째쯤게히")
LAST_LETTERS = 100
"""Letters from the end among which the last verb is looked for."""
MAX_LETTERS = 2_000
"""A longer item is a duplicate only of the very same."""
_LONG_WORD = re.compile(r"\S{100,}")
# A verb before its noun, by its last syllable: 가는, 쓰는, 이용하는.
_ADNOMINAL = re.compile(r"[가-힣]는|[가-힣]*[하되리기우이치]는")
_OPINION = re.compile(r"^i (?:think|believe|feel)(?: that)? ")


class Known:
    """An item, its content terms and what they tell.

    Attributes
    ----------
    item : Item
    order : list of str
        Content terms as they come; `terms` is their set.
    stems : dict of str to set of str
        All that a term's word may stem from.
    words : list of (str, str)
        Each word that has a content term, with it.
    last : str
        Term of the last word; empty if that has no content. `ends_in_verb` tells whether it is a verb.
    entity, plain : str
        Entity and text for comparison letter by letter.
    where : object
        The caller's.

    What only a comparison needs is worked out at the first one: few of the items of a bank are ever compared.
    """

    __slots__ = ("_facts", "_names", "_roles", "_text", "_verbs", "_whole", "ends_in_verb", "entity", "item", "key",
                 "last", "order", "plain", "stems", "terms", "where", "words")

    def __init__(self, item: Item, text: str, terms: dict[str, set[str]], words: list[tuple[str, str]],
                 whole: set[str], last: str, ends_in_verb: bool, where: Any = None):
        self.item = item
        self.last = last
        self.ends_in_verb = ends_in_verb
        self.order = list(terms)
        self.stems = terms
        self.terms = frozenset(terms)
        self.entity = plain(item.entity)
        self.plain = plain(item.text)
        self.key = (item.tag, self.entity, self.plain)
        self.where = where
        self._text = text
        self.words = words
        self._whole = whole
        self._names: dict[str, dict[str, str]] | None = None
        self._facts: Facts | None = None
        self._roles: Roles | None = None
        self._verbs: frozenset[tuple[str, str]] | None = None

    @property
    def facts(self) -> Facts:
        """What must not differ in a duplicate."""
        if self._facts is None:
            self._facts = Facts(self._text, unicodedata.normalize("NFKC", self.item.text))
        return self._facts

    @property
    def roles(self) -> Roles:
        """What part each word plays."""
        if self._roles is None:
            self._roles = Roles(self._text, self.words, self._whole, self.entity)
        return self._roles

    @property
    def names(self) -> dict[str, dict[str, str]]:
        """Korean words that may be names, by all but their last syllable: that, if it is no ending, and their term."""
        if self._names is None:
            self._names = {}
            for word, term in self.words:
                if len(word) > 1 and word[0] >= "가" and word[-1] not in ENDINGS:
                    self._names.setdefault(word[:-1], {})[word[-1]] = term
        return self._names

    @property
    def verbs(self) -> frozenset[tuple[str, str]]:
        """Forms of the verb at the end; with the word before it, too: 알려 준다 and 알려줌 are one."""
        if self._verbs is None:
            before, verb = _last_words(self._text)
            forms = verb_forms(verb)
            # 글을 쓴다 is 글쓴다, too.
            befores = {before, before[:-1] if before.endswith(("을", "를")) else before}
            self._verbs = frozenset(forms | {(start + stem, tense) for stem, tense in forms for start in befores})
        return self._verbs

    def end(self, shared: frozenset[tuple[str, str]]) -> set[str]:
        """Terms of the verb at the end; with the word before it if only both make the shared verb.

        자동 이체됨 is 자동이체됨.
        """
        before, verb = _last_words(self._text)
        words = {verb} if not shared.isdisjoint(verb_forms(verb)) else {before, verb}
        return {term for word, term in self.words if word in words}

    def is_habit(self) -> bool:
        """Whether it begins with a verb of the present, as "runs by the river", or ends with one, as 달린다."""
        if self.roles.is_korean:
            return any(tense == "present" for _, tense in self.verbs) and not self.facts.happened
        first = self.item.text.split()[:1]
        return bool(first) and first[0].islower() and first[0].endswith("s") and not first[0].endswith("ss")

    def said(self, terms: list[str]) -> str:
        """Terms as the item has them."""
        words = {term: word for word, term in self.words}
        return " ".join(words.get(term, term) for term in terms)

    def names_entity(self, stems: set[str]) -> bool:
        """Whether a word is the name of the item's entity."""
        words = self.entity.split()
        return bool(words) and not stems.isdisjoint({self.entity, *words, *map(_latin_stem, words)})


def take_apart(item: Item, lexicon: Lexicon, where: Any = None) -> Known:
    """Take an item apart."""
    text = _OPINION.sub("", unicodedata.normalize("NFKC", item.text).lower())
    # Longer ones are compared letter by letter only: expressions that look for wordings take too long.
    text = plain_wording(_LONG_WORD.sub(_shortened, text)) if len(text) <= MAX_LETTERS else ""
    query = lexicon.query(without_counts(text))
    _, verb = _last_words(text)
    stems: dict[int, list[str]] = {}
    for stem, field, _, word in query.terms:
        if field == 0:
            stems.setdefault(word, []).append(stem)
    terms: dict[str, set[str]] = {}
    words: list[tuple[str, str]] = []
    whole: set[str] = set()
    last, ends_in_verb = "", False
    written = query.words
    for number, found in stems.items():
        after_number = number > 0 and (written[number - 1][0].isdigit() or written[number - 1][0] in NUMBER_WORDS)
        term = _term(found[0], after_number)
        is_verb = found[0].endswith("~")
        surface = written[number][0]
        if found[0] == surface or (is_verb and _ADNOMINAL.fullmatch(surface)):
            whole.add(surface)
        if term:
            last, ends_in_verb = (term, is_verb) if verb in found else ("", False)
            terms.setdefault(term, set()).update(stem.rstrip("~") for stem in found[:3])
            words.append((written[number][0], term))
    return Known(item, text, terms, words, whole, last, ends_in_verb, where)


def _shortened(match):
    """A long word, as an address may be, by its beginning and a digest of all."""
    return f"{match[0][:40]} x{zlib.crc32(match[0].encode('utf-8', 'replace'))}"


def plain(text: str) -> str:
    """A text for comparison letter by letter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!。 ")


def _latin_stem(word):
    """Stem of a Latin word, as the analysis gives it."""
    from memtree.analysis import tokens

    return next(iter(tokens(word, query=True).s), word) if word.isascii() else word


def _last_words(text):
    """The last word of a text, a verb in Korean, and the one before it."""
    return ["", "", *text[-LAST_LETTERS:].rstrip(" .,!?~)\"'").split()][-2:]


def _term(stem, after_number):
    """A content term of a stem; empty for what is light or a fact."""
    if stem[0].isdigit() or stem in LIGHT or stem in NUMBER_WORDS or stem in FACT_WORDS:
        return ""
    is_verb = stem.endswith("~")
    stem = stem.rstrip("~").removesuffix("씩")
    if stem in NUMBER_WORDS or (after_number and (stem in UNITS or (len(stem) == 1 and not is_verb))):
        return ""
    if len(stem) > 1:
        stem = stem.removesuffix("다")
    if len(stem) > 4 and stem[-1] in "은는이가을를에의도와과로":
        stem = stem[:-1]
    return "" if not stem or stem in LIGHT or stem in FACT_WORDS else canonical(stem)
