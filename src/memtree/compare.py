"""What one item is to another: a duplicate of it, an update, an extension, or another fact.

Items are compared by their content terms, by facts, and by the part that each word plays. A *duplicate* adds nothing
but words without content, no fact of it differs and no word plays another part. Where one fact or one place of the
sentence differs and the rest is the same, the newer takes the older's place; so it does where it holds all of the
older and says more. Where the subject or more than one thing differs it is another fact. No threshold of likeness alone
tells a rewrite from a neighbour: in doubt an item is new.
"""

from __future__ import annotations

import re
import unicodedata

from memtree.known import Known
from memtree.roles import change, exchange, regroup

DUPLICATE, UPDATE, EXTENDS, NEW = KINDS = ("duplicate", "update", "extends", "new")

MIN_TERMS = 3
"""With fewer content terms, both items must have the same."""
MIN_SAME_SUBJECT = 0.6
"""Share of content terms in common, of the longer item, above which a differing fact makes an update."""
MIN_CHANGED = 0.33
"""The same where the newer one itself says that something has changed."""
# Verbs and nouns of which many may be true of one subject at a time.
MANY = frozenset(
    "like love enjoy hate dislik allerg know speak meet read watch visit play fear afraid"
    " 좋아하 싫어하 즐기 알레르기 무서워 읽 만나".split())
# Beside these, "must" says something else.
MODALS = frozenset(("may", "can", "will", "wants", "should", "is allowed to", "tries"))
# Say that something has become another, and nothing else.
CHANGES = frozenset(
    "변경 바뀌 옮기 늘 줄 오르 내리 올리 미루 연기"
    " move change postpon delay increas decreas rise fall now becom go up down cut".split())
PAST = frozenset(
    "had went came made took gave got kept held met read left lost paid sent sold bought brought thought taught built"
    " began ran saw wrote spoke drove ate drank fell felt found grew knew said told stood won wore chose broke flew"
    " slept".split())
# After a noun these make it a verb: 친절 and 친절해서다 are one word.
_VERB_STARTS = frozenset("하해한할함합했되된될됨됩됐")
_STEPS = frozenset(("먼저", "다음", "first", "then"))
_NAMED = re.compile(r"\b(?!(?:The|On|In|At|Her|His)\b)[A-Z][a-z]+\b")


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
    # Words missing on either side: neither holds the other, and little is left that could be one.
    if less and more and score < (MIN_CHANGED if new.facts.is_change else 0.5):
        return no
    if old.facts.is_record(new.facts):
        return no
    if new.facts.is_relative and old.facts.is_relative and old.item.date != new.item.date:
        return no
    old_facts, new_facts = old.facts.all(), new.facts.all()
    is_change = new.facts.is_change and not old.facts.is_change and bool(old.entity or score >= 0.5)
    swapped = exchange(old.roles, new.roles) or _other_order(old, new) or _names_change_places(old, new) or (
        regroup(old.roles, new.roles))
    if swapped:
        return UPDATE if is_change else NEW, f"the same subject, but {swapped}", score
    meant = _meaning_differs(old, new)
    moved = change(old.roles, new.roles, not old.verbs.isdisjoint(new.verbs))
    differs = meant or _difference(old.facts, new.facts) or moved or _tense_differs(old, new)
    news = [term for term in more if term not in CHANGES]
    if not differs and not more and new_facts <= old_facts and not _predicate_is_missing(old, new, less):
        few = len(new.order) < MIN_TERMS
        if not few or (not less and new_facts == old_facts):
            return DUPLICATE, f"{shared} of {shared} content terms are in it and no fact differs", score
    if _is_record_of_another_day(old, new):
        return NEW, "each tells of its own day", score
    if not less and old_facts <= new_facts and len(old.order) > 1 and (not differs or (
            len(more) > 1 and (not meant or _goes_on(old, new)))):
        return EXTENDS, "it holds all of it and says more", score
    if is_change and score >= MIN_CHANGED:
        return UPDATE, f"the same subject, and it tells a change: {differs or new.said(more)}", score
    is_one_place = (_is_one_place(old, less) and _is_one_place(new, more)) or _are_places(old, new, less, more)
    if is_one_place and _is_other_subject(old, new, less, more):
        return NEW, f"another subject: {new.said(more)}", score
    if differs or old_facts != new_facts:
        if (old.roles.is_korean and _topic_differs(old, new, less)) or (less and _first_differs(old, new, less)):
            return NEW, "another subject", score
        # More than one thing differs: another fact.
        if (less and news and (moved or not is_one_place or old.facts.numbers != new.facts.numbers)) or (
                old.facts.tells_apart(new.facts)) or (meant and old_facts != new_facts and not old_facts <= new_facts):
            return no
        if score >= MIN_SAME_SUBJECT:
            return UPDATE, f"the same subject, but {differs or _fact_words(old_facts, new_facts)}", score
        return no
    if score >= 0.5 and is_one_place:
        return UPDATE, f"the same but for {old.said(less)} -> {new.said(more)}", score
    return no


def _goes_on(old, new):
    """Whether a new item begins with the words of the stored one and goes on, whatever becomes of its last one."""
    words, others = old.plain.split(), new.plain.split()
    if len(words) < 3 or others[:len(words) - 1] != words[:-1]:
        return False
    ending = others[len(words) - 1:][:1]
    return bool(ending) and not ending[0].endswith("지") and ending[0] not in ("안", "못", "not")


def _is_record_of_another_day(old, new):
    """Whether both tell what happened, or what was measured, on days of their own."""
    if not old.item.date or not new.item.date or old.item.date == new.item.date:
        return False
    if old.facts.happened and new.facts.happened:
        return True
    if old.item.tag != "B" or not old.facts.numbers or not new.facts.numbers:
        return False
    return old.facts.numbers != new.facts.numbers and not (old.is_habit() or new.is_habit())


def _other_order(old, new):
    """Whether the steps of a sequence come in another order."""
    if not old.facts.is_sequence or not new.facts.is_sequence:
        return ""
    at = {term: number for number, term in enumerate(new.order)}
    kept = [at[term] for term in old.order if term in at and term not in _STEPS]
    return "the steps come in another order" if kept != sorted(kept) else ""


def _names_change_places(old, new):
    """Whether two names come in the other order though neither sentence is passive: told Omar about Lucy."""
    if old.roles.is_korean or new.roles.is_korean or old.roles.is_passive != new.roles.is_passive:
        return ""
    orders = [list(dict.fromkeys(_NAMED.findall(side.item.text))) for side in (old, new)]
    both = [name for name in orders[0] if name in orders[1]]
    for one, other in zip(both, both[1:], strict=False):
        joined = rf"\b(?:{one}\W+(?:and |or )?{other}|{other}\W+(?:and |or )?{one})\b"
        if orders[1].index(one) > orders[1].index(other) and not all(
                re.search(joined, side.item.text) for side in (old, new)):
            return f"{one} and {other} have changed places"
    return ""


def _predicate_is_missing(old, new, less):
    """Whether a new item leaves out what the stored one says of its subject: 문을 잠금 해제한다, 문을 잠근다."""
    if old.ends_in_verb and new.ends_in_verb and not less and old.verbs.isdisjoint(new.verbs) and (
            old.last != new.last and not _alike(old.last, old.stems[old.last], new.last, new.stems[new.last])):
        return True
    if not less:
        return False
    if old.roles.is_korean:
        return old.last in less and bool(new.verbs)
    return old.order[0] in less and old.item.tag == "B"


def _is_other_subject(old, new, less, more):
    """Whether what differs is whom or what the sentence is about, or one of several that may all be true."""
    if new.facts.is_addition and not old.facts.is_addition:
        return True
    if MANY & (old.terms | new.terms) or (old.facts.happened and new.facts.happened and old.item.tag == "B"):
        return True
    if old.roles.is_korean:
        return _topic_differs(old, new, less) or _first_differs(old, new, less)
    if old.is_habit() or new.is_habit():
        return False
    # The subject, or what tells it from another: Mum's birthday dinner, Mum's retirement dinner.
    return (old.order[0] in less and new.order[0] in more) or any(
        term in old.roles.first and term in old.roles.compounds for term in less)


def _meaning_differs(old, new):
    """Whether one denies, doubts, limits or only plans what the other says; how if so."""
    old, new = old.facts, new.facts
    if old.negated != new.negated:
        return "negation differs"
    if old.denied and new.denied and old.denied.isdisjoint(new.denied):
        return "something else is denied"
    for mark in sorted(old.marks ^ new.marks):
        other = new if mark in old.marks else old
        # 교체한다 and 교체해야 한다, 보관한다 and 보관하고 있다 are wordings of one, unless the other says more.
        if (mark == "must" and other.marks.isdisjoint(MODALS)) or (mark == "goes on" and not other.happened):
            continue
        return f"only one says {mark!r}"
    return ""


def _first_differs(old, new, less):
    """Whether the first phrases of two Korean sentences are of one thing each, told apart by a word: 안방 창문에."""
    firsts = [side.roles.phrase for side in (old, new)]
    if any(len(words) < 2 for words in firsts) or firsts[0][-1] != firsts[1][-1] or len(firsts[0]) != len(firsts[1]):
        return False
    return any(word.startswith(tuple(old.stems[term])) for word in firsts[0][:-1] for term in less)


def _topic_differs(old, new, less):
    """Whether a term or a number that differs stands in the topic: 사물함 27번은, 사물함 72번은."""
    topics = [side.roles.topic.split() for side in (old, new)]
    if not all(topics) or topics[0] == topics[1]:
        return False
    numbers = [[word for word in topic if word[0].isdigit()] for topic in topics]
    return (all(numbers) and numbers[0] != numbers[1]) or any(
        word.startswith(tuple(old.stems[term])) for word in topics[0] for term in less)


def _difference(old, new):
    """Which kind of fact stands against another; empty if none does."""
    if old.persons and new.persons and old.persons.isdisjoint(new.persons):
        return "the person differs"
    if old.periods and new.periods and old.periods != new.periods:
        return "how often differs"
    for role, names in old.roles.items():
        others = new.roles.get(role)
        # Another name is seen as another term; here it matters who is what.
        if others and names.isdisjoint(others) and any(name in new.text for name in names):
            return f"what stands with {role!r} differs"
    for thing, numbers in old.things.items():
        if thing and thing in new.things and numbers.isdisjoint(new.things[thing]):
            return f"the number of {thing} differs"
    if any(set(sides) == {(True, False), (False, True)} for sides in zip(old.sides, new.sides, strict=True)):
        return "one says the opposite"
    return ""


def _tense_differs(old, new):
    """Whether both end in one verb, or hold one, once of the past."""
    if old.roles.is_korean:
        if not old.verbs or not new.verbs or not old.verbs.isdisjoint(new.verbs):
            return ""
        if any(stem.startswith(("판단", "생각", "믿", "느끼")) for stem, _ in old.verbs | new.verbs):
            return ""
        is_one = not {stem for stem, _ in old.verbs}.isdisjoint(stem for stem, _ in new.verbs)
        return "the tense differs" if is_one else ""
    if old.roles.is_passive or new.roles.is_passive or any(" did " in side.facts.text for side in (old, new)):
        return ""
    forms = {term: word for word, term in old.words}
    for word, term in new.words:
        other = forms.get(term, word)
        if other != word and _is_past(word) != _is_past(other):
            return f"the tense of {word} differs"
    return ""


def _is_past(word):
    return (word.endswith("ed") and not word.endswith("eed")) or word in PAST


def _fact_words(old, new):
    return f"{', '.join(sorted(old - new)) or 'nothing'} has become {', '.join(sorted(new - old)) or 'nothing'}"


def _is_one_place(known, words):
    """Whether words are one name: side by side, without a particle or preposition between them."""
    if not words or len(words) > 2:
        return False
    if len(words) == 1:
        return True
    at = [known.order.index(word) for word in words]
    if abs(at[0] - at[1]) != 1:
        return False
    first = known.order[min(at)]
    if known.roles.is_korean:
        return any(known.roles.cases.get(word) == "" for word, term in known.words if term == first)
    return known.roles.markers.get(words[0]) == known.roles.markers.get(words[1])


def _are_places(old, new, less, more):
    """Whether all that differs stands with prepositions, the same on both sides: another place or time of one thing."""
    if old.roles.is_korean or new.roles.is_korean or not less or not more:
        return False
    sides = [{max(side.roles.markers.get(term, ("",))) for term in terms}
             for side, terms in ((old, less), (new, more))]
    return sides[0] == sides[1] and "" not in sides[0] and "than" not in sides[0]


def _unmatched(old, new):
    """Terms of each side without a partner on the other; the name of an item's entity needs none."""
    apart = _near_names(old, new)
    more = [term for term in new.order if term not in old.terms or term in apart]
    less = [term for term in old.order if term not in new.terms or term in apart]
    for term in list(more):
        partner = next((other for other in less if not {term, other} & apart
                        and _alike(term, new.stems[term], other, old.stems[other])), None)
        if partner is not None:
            less.remove(partner)
            more.remove(term)
    _join(less, more, new.stems)
    _join(more, less, old.stems)
    shared = old.verbs & new.verbs
    if shared:
        less = [term for term in less if term not in old.end(shared)]
        more = [term for term in more if term not in new.end(shared)]
    # The name of the entity may be left out, but not another take its place.
    sides = old, new
    if not more:
        less = [term for term in less if not any(side.names_entity(old.stems[term]) for side in sides)]
    if not less:
        more = [term for term in more if not any(side.names_entity(new.stems[term]) for side in sides)]
    return less, more


def _near_names(old, new):
    """Terms whose words differ in a last syllable that is no ending: 김민수, 김민지."""
    found = set()
    for start, words in old.names.items():
        others = new.names.get(start)
        # One of the same on both sides: the name itself, twice.
        if others and words.keys().isdisjoint(others):
            found.update(words.values(), others.values())
    return found


def _join(parts, wholes, stems):
    """Take out words that are written apart on one side: 수학 학원, 수학학원."""
    for whole in list(wholes):
        for one, other in zip(parts, parts[1:], strict=False):
            if one + other in (whole, *stems[whole]):
                parts.remove(one)
                parts.remove(other)
                wholes.remove(whole)
                break


def _alike(one, stems, other, other_stems):
    """Whether two terms are one word: a stem in common, or one begins the other, all but an ending."""
    if any(len(stem) > 1 for stem in stems & other_stems) and (
            one in other_stems or other in stems or not one.isascii()):
        return True
    if one[0] != other[0] or one.isascii():
        return False
    short, long = sorted((one, other), key=len)
    if len(short) == 1 and long in (short + "어", short + "아", short + "여"):
        return True
    if len(short) > 1 and long.startswith(short) and long[len(short):][:1] in _VERB_STARTS:
        return True
    short, long = sorted((unicodedata.normalize("NFD", one), unicodedata.normalize("NFD", other)), key=len)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 3
