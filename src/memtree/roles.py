"""What part each word plays in a sentence: the preposition or particle that it stands with.

Two sentences of the same words say the same only if each word keeps its part: "the key to the shed is in the house",
"집 열쇠는 창고에 있다". What voice, topic or a dropped particle changes is no change of part.
"""

from __future__ import annotations

import re

# English: which words in front of a noun mark the same part.
_MARKERS = {
    word: names.split()[0] for names in (
        "at in on inside within during", "to into onto towards toward", "from off", "with without", "by via", "for",
        "of", "about regarding", "over above", "under below beneath", "before", "until till", "after", "while whilst",
        "when whenever if once", "unless", "because since", "than", "through", "against", "between", "behind",
        "like as", "instead", "except", "near beside",
    ) for word in names.split()
}
_GAP = re.compile(r"[a-z']+|[0-9]+|,")
# What no term is made of, but can be what a preposition stands with: "on Monday", "at 9 am".
_TIME = re.compile(
    r"[0-9]+|every|each|am|pm|days?|weeks?|months?|years?|hours?|minutes?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve")
_JOINING = frozenset((",", "and", "or", "the", "a", "an", "his", "her", "its", "their", "my", "our", "your"))
_COPULA = re.compile(r"\b(?:is|are|was|were) (?!\w+ing\b)")
_DETERMINERS = frozenset(("the", "a", "an", "his", "her", "its", "their", "my", "our", "your", "this", "that"))
_LISTING = frozenset((",", "and", "or"))
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being) (?:(?:\w+ly|not|never|always|also|often|been|being) )*"
    r"[\w-]+(?:ed|en|wn|ght|pt|ut|ade|old|eld|ent|one|aid|und|ung|elt|ost|orn)\b"
    r"|\b[\w-]+(?:ed|en|wn|one|ade|elt|ept|old|ung) by\b")
_FREE = {frozenset(pair) for pair in (("", "to"), ("", "at"), ("of", "at"), ("of", "for"))}

# Korean particles; those of one row are one part.
_PARTICLES = {
    particle: names.split()[0] for names in (
        "은 는", "이 가 께서", "을 를", "에", "에서", "에게 한테 께", "에게서 한테서", "로 으로", "와 과 랑 이랑 하고",
        "부터", "까지", "의",
        "보다", "처럼", "만",
    ) for particle in names.split()
}
_PARTICLES |= {
    place + more: _PARTICLES[place] + ("만" if more == "만" and place not in ("까지", "부터") else "")
    for place in "에 에서 에게 한테 로 으로 까지 부터 와 과".split() for more in "는도만"
}
# A particle of these that only one side has is a difference.
_STRICT = frozenset(("만", "부터", "까지", "보다", "에게서", "에만", "에서만", "에게만", "로만"))
_WORD = re.compile(r"([가-힣a-z0-9_.-]+?)(" + "|".join(sorted(_PARTICLES, key=len, reverse=True)) + ")")
# With one verb these say different things.
_APART = {
    frozenset(pair)
    for pair in (("로", "에서"), ("에게", "에게서"), ("부터", "까지"), ("이", "에게"), ("로", "부터"))
}


def _preposition(gap):
    """The preposition that the words before a term give it, None if there is none; and whether a time may have it."""
    found, is_taken = None, False
    for word in gap:
        if word in _MARKERS:
            found, is_taken = _MARKERS[word], False
        elif _TIME.fullmatch(word):
            found, is_taken = found or "at", True
        elif is_taken:
            # The time ends here: "every Monday the team".
            found, is_taken = "", False
    return found, is_taken


class Roles:
    """The parts that the words of one text play.

    Attributes
    ----------
    is_korean, is_passive, is_copula : bool
    compounds : set of str
        Terms with another right behind them.
    markers : dict of str to set of str
        By term: the prepositions in front of it; empty for none. English only.
    core : dict of str to int
        Terms without a preposition, subject, verb and object, and their places; members of a list have one.
    parts : list of (str, str)
        Each Korean noun with a particle, with the bare word before it, and its particle: ("결제 서버", "이").
    first : set of str
        English terms that begin the sentence side by side.
    phrase : list of str
        The first Korean noun with a particle, and the words that describe it.
    topic : str
        The first noun with 은 or 는, with all that describes it.
    clauses : list of set of str
        The words of each clause, roughly; of one if there are no others.
    cases : dict of str to str
        Particle by single word; empty for a bare one.
    """

    __slots__ = ("cases", "clauses", "compounds", "core", "first", "is_copula", "is_korean", "is_passive", "markers",
                 "parts", "phrase", "topic")

    def __init__(self, text: str, words: list[tuple[str, str]], whole: set[str], entity: str):
        self.is_korean = re.search("[가-힣]", text) is not None
        self.is_passive = not self.is_korean and _PASSIVE.search(text) is not None
        self.is_copula = _COPULA.search(text) is not None
        self.clauses: list[set[str]] = []
        self.topic = ""
        self.phrase: list[str] = []
        self.first: set[str] = set()
        self.compounds: set[str] = set()
        self.markers: dict[str, set[str]] = {}
        self.core: dict[str, int] = {}
        self.parts: list[tuple[str, str]] = []
        self.cases: dict[str, str] = {}
        if self.is_korean:
            self._read_korean(text, whole)
            # Whom it is about is clear anyway: 가온은 ..., ... 가온.
            self.cases = {name: case for name, case in self.cases.items() if name not in entity.split()}
        else:
            self._read_english(text, words)

    def _read_english(self, text, words):
        at, marker, place, before, is_first = 0, "", 0, "", True
        # A preposition that is a term itself.
        carried: list[str] = []
        for word, term in words:
            start = text.find(word, at)
            if start < 0:
                continue
            gap = _GAP.findall(text[at:start])
            if gap[:1] == ["'s"]:
                gap = gap[1:]
                self._owner()
                before = ""
            gap = [*carried, *gap]
            if word in _MARKERS:
                carried, before, at = [*gap, word], "", start + len(word)
                continue
            carried = []
            found, is_taken = _preposition(gap)
            is_listed = found is None and _JOINING.issuperset(gap) and not _LISTING.isdisjoint(gap)
            if found is not None:
                marker = found
            elif gap and not is_listed:
                # Members of a list play one part.
                marker = ""
            markers = self.markers.setdefault(term, set())
            markers.add(marker)
            if not gap and before:
                # Words side by side may be one name, or a phrase may end here.
                markers.add("")
                self.compounds.add(before)
            elif is_taken or (is_listed and gap == [","]):
                markers.add("")
            before = term
            is_first = is_first and _DETERMINERS.issuperset(gap)
            if is_first:
                self.first.add(term)
            if not marker:
                place += not is_listed
                self.core.setdefault(term, place)
            at = start + len(word)
        if text[at:at + 2] == "'s":
            self._owner()
        for clause in re.split(r"\b(?:and|but|while|whereas)\b|;", text):
            held = [(clause.find(word), term) for word, term in words if word in clause]
            self.clauses.append({term for _, term in held} | set(re.findall(r"\bnot\b", clause)))

    def _owner(self):
        """The last word is one with 's: as if it stood with "of", and those of its name that go before it."""
        for term in reversed(self.markers):
            self.markers[term] = {"of"}
            self.core.pop(term, None)
            before = list(self.markers)
            at = before.index(term)
            if at == 0 or before[at - 1] not in self.compounds:
                break

    def _read_korean(self, text, whole):
        before = ""
        phrase: list[str] = []
        for word in text.split():
            word = word.strip(".,!?()\"'")
            # 가는 is no topic, but a verb before its noun; 노르웨이 ends in no particle.
            match = None if word in whole else _WORD.fullmatch(word)
            if match:
                case = _PARTICLES[match[2]]
                self.phrase = self.phrase or [*phrase, match[1]]
                is_topic = case == "은" or match[2] in ("에는", "에서는", "에게는", "한테는")
                if is_topic or not self.clauses:
                    self.clauses.append(set())
                if case == "은" and not self.topic:
                    self.topic = " ".join((*phrase, match[1]))
                self.parts.append((f"{before} {match[1]}".strip(), case))
                self.cases.setdefault(match[1], case)
            elif word:
                self.cases.setdefault(word, "")
            if self.clauses and word:
                # An ending is no difference: 팔았다, 팔고.
                self.clauses[-1].add(match[1] if match else word[:1])
            before = "" if match else word
            phrase = [] if match and _PARTICLES[match[2]] != "의" else [*phrase, match[1] if match else word]


def exchange(old: Roles, new: Roles) -> str:
    """Whether two things have changed places, "A calls B" and "B calls A"; what has if so."""
    if old.is_korean != new.is_korean:
        return ""
    if old.is_korean:
        for before, after in ((dict(old.parts), dict(new.parts)), (old.cases, new.cases)):
            both = [name for name in before
                    if name in after and before[name] != after[name] and not name[0].isdigit()]
            for i, one in enumerate(both):
                for other in both[i + 1:]:
                    if before[one] == after[other] and before[other] == after[one]:
                        return f"{one} and {other} have changed places"
        return ""
    if old.is_passive == new.is_passive and not (old.is_copula and new.is_copula and not old.is_passive):
        kept = [new.core[term] for term in old.core if term in new.core]
        # Moving a phrase to the front turns two blocks round; only an exchange reverses three terms.
        for middle in range(1, len(kept) - 1):
            if max(kept[:middle]) > kept[middle] > min(kept[middle + 1:]):
                return "the order of the words differs"
    moved = _moved(old, new)
    if len(moved) > 1:
        return f"{moved[0]} and {moved[1]} play other parts"
    # "rename one to other" and back: either move alone may be another wording, both are not.
    moves = {term: (*sorted(markers), *sorted(new.markers[term])) for term, markers in old.markers.items()
             if markers != new.markers.get(term, markers) and len(markers) == len(new.markers[term]) == 1}
    for one, move in moves.items():
        for other, back in moves.items():
            if move == back[::-1] and {*move} != {"", "by"}:
                return f"{one} and {other} have changed places"
    return ""


def regroup(old: Roles, new: Roles) -> str:
    """Whether two clauses have exchanged words: "Ann likes tea and Bob likes coffee"; what has if so."""
    if len(old.clauses) != len(new.clauses) or len(old.clauses) < 2:
        return ""
    if set().union(*old.clauses) != set().union(*new.clauses):
        return ""
    if all(clause in new.clauses for clause in old.clauses) or min(map(len, (*old.clauses, *new.clauses))) < 2:
        return ""
    return "what is said of one is said of another"


def change(old: Roles, new: Roles, is_one_verb: bool) -> str:
    """Whether one thing plays another part, "from Seoul" and "to Seoul"; which does if so.

    In Korean a passive verb is another word than the active one, and changes the parts around it.
    """
    if old.is_korean != new.is_korean:
        return ""
    if not old.is_korean:
        moved = _moved(old, new)
        return f"what {moved[0]} stands with differs" if moved else ""
    for name, case in old.cases.items():
        other = new.cases.get(name, case)
        is_strict = case != other and bool(case and other) and not _STRICT.isdisjoint((case, other))
        if is_strict or (is_one_verb and frozenset((case, other)) in _APART):
            return f"the part of {name} differs"
    return ""


def _moved(old, new):
    """English terms that stand with another preposition."""
    found = []
    for term, markers in old.markers.items():
        others = new.markers.get(term)
        if not others or any(_are_one(old, new, term, one, other) for one in markers for other in others):
            continue
        found.append(term)
    return found


def _are_one(old, new, term, one, other):
    if one == other or frozenset((one, other)) in _FREE:
        return True
    for marker, side in ((one, new), (other, old)):
        # The battery of the door sensor, the door sensor battery.
        if marker in ("of", "for") and term in side.compounds:
            return True
    if {one, other} == {"", "by"} and old.is_passive != new.is_passive:
        active = new if old.is_passive else old
        # The agent: in the active voice it comes first.
        return term in active.first or term in list(active.core)[:2]
    return False
