"""Text analysis in plain Python: what ``memtree.analysis`` must do, written to be read, not to be fast.

From the top: tables, normalisation, runs and compounds, stems of a Hangul run, support, terms of a text.
A *unit* is what the scanner yields; terms of a text depend only on its units and on the support.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import Stemmer

DATA = Path(__file__).resolve().parents[2] / "src" / "memtree" / "data"

# ---------------------------------------------------------------- tables


def _rows(name: str, folder: Path = DATA) -> list[list[str]]:
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


@dataclass
class Tables:
    """The tables of one folder: suffixes by class, spellings, stop words, English forms."""

    folder: Path = DATA
    noun: dict[str, tuple[str, int]] = field(default_factory=dict)  # suffix -> condition, cost
    predicate: dict[str, tuple[str, int]] = field(default_factory=dict)
    derived: dict[str, dict[str, int]] = field(default_factory=dict)  # suffix -> derivation -> cost

    def __post_init__(self):
        tables = ("korean_suffixes.tsv", "korean_contractions.tsv")
        for kind, suffix, condition, cost in (row for name in tables for row in _rows(name, self.folder)):
            if kind == "H":
                derivation, _, rest = suffix.partition("+")
                self.derived.setdefault(rest, {})[derivation] = int(cost)
            else:
                (self.noun if kind == "N" else self.predicate)[suffix] = (condition, int(cost))
        self.variants = dict(_rows("korean_variants.tsv", self.folder))
        longest_first = sorted(self.variants, key=len, reverse=True)
        self.variant = re.compile("|".join(map(re.escape, longest_first)))
        self.ask, self.stop = self._stop_words()
        self.irregular = dict(_rows("english_irregular.tsv", self.folder))
        self.english_stop = {row[0] for row in _rows("english_stopwords.txt", self.folder)}

    def _stop_words(self) -> tuple[set[str], set[str]]:
        """The section "ask", and both sections together."""
        text = (self.folder / "korean_stopwords.txt").read_text(encoding="utf-8")
        ask = set(text.partition("# ask\n")[2].partition("# list\n")[0].split())
        return ask, ask | set(text.partition("# list\n")[2].split())


TABLES = Tables()

# ---------------------------------------------------------------- normalise

THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def fold(text: str) -> tuple[str, str]:
    """The text in NFKC without thousands separators, as written and in lower case, of one length.

    Final sigma reads as sigma, and \u0130 as i, so that a letter has one lower case wherever it stands.
    """
    text = THOUSANDS.sub("", unicodedata.normalize("NFKC", text)).replace("\u0130", "i")
    return text, text.lower().replace("\u03c2", "\u03c3")


def respell(text: str) -> str:
    return TABLES.variant.sub(lambda match: TABLES.variants[match[0]], text)


def normalize(text: str) -> str:
    return respell(fold(text)[1])


# ---------------------------------------------------------------- runs

HANGUL, LATIN, HAN, KANA, MARK, NONE = "hangul", "latin", "han", "kana", "mark", ""
MAX_RUN = 255  # code points; a longer run goes on as another


def char_class(ch: str) -> str:
    """Class of a character: what may stand together in a run; "other SCRIPT" if no rule is for it."""
    code = ord(ch)
    if code >= 0x10000:
        return HAN if 0x20000 <= code < 0x40000 else "other ASTRAL" if ch.isalnum() else NONE
    category = unicodedata.category(ch)
    if category in ("Mn", "Mc"):
        return NONE if 0xFE00 <= code <= 0xFE0F else MARK  # variation selectors say nothing
    if category[0] != "L" and category not in ("Nd", "Nl"):
        return NONE
    name = unicodedata.name(ch, "")
    if ch.isascii() or name.startswith("LATIN"):
        return LATIN
    if 0xAC00 <= code <= 0xD7A3:
        return HANGUL
    if name.startswith("HANGUL"):
        return NONE  # stray jamo
    if name.startswith(("CJK", "IDEOGRAPHIC")):
        return HAN
    if name.startswith(("HIRAGANA", "KATAKANA")):
        return KANA
    return "other " + re.split("[ -]", name)[0]


def runs(text: str) -> list[tuple[str, int, int]]:
    """(class, start, end) of each maximal run; a mark continues Latin (not a digit) or another script."""
    found: list[tuple[str, int, int]] = []
    for i, ch in enumerate(text):
        kind = char_class(ch)
        if found and found[-1][2] == i:
            last, start, _ = found[-1]
            takes_marks = last.startswith("other") or (last == LATIN and text[i - 1] not in DIGITS)
            continues = kind == last or (kind == MARK and takes_marks)
            if continues and (i - start < MAX_RUN or last in (HANGUL, LATIN)):
                found[-1] = (last, start, i + 1)
                continue
        if kind not in (NONE, MARK):
            found.append((kind, i, i + 1))
    return found


# ---------------------------------------------------------------- English, identifiers

ENGLISH = Stemmer.Stemmer("english")
DIGITS = "0123456789"
LETTERS_OR_DIGITS = re.compile(r"[0-9]+|[^0-9]+")
VERSION_MARK = re.compile(r"^[vV](?=[0-9]+\.[0-9])")
LEAF = re.compile(r"[vV]?[0-9]+(?:\.[0-9]+)+|[^./\\-]+")


def english(word: str) -> str:
    """Irregular form to its base, then the Snowball stem; a word with digits is left as it is."""
    if any(ch in DIGITS for ch in word):
        return word
    return ENGLISH.stemWord(TABLES.irregular.get(word, word))


def camel(word: str) -> list[str]:
    """Cut before a capital after a small letter, and before one of several capitals that two small letters
    follow (parseHTMLResponse, but APIs whole)."""
    small = [ch.isalpha() and fold(ch)[1] == ch for ch in word] + [False, False]
    capital = [ch.isalpha() and fold(ch)[1] != ch for ch in word]
    starts = [
        i
        for i in range(1, len(word))
        if capital[i] and (small[i - 1] or (capital[i - 1] and small[i + 1] and small[i + 2]))
    ]
    return [word[a:b] for a, b in zip([0, *starts], [*starts, len(word)], strict=True)]


@dataclass
class Latin:
    """Terms of a Latin unit: ``both`` go to fields s and b, the whole form first; ``only_s`` to s."""

    both: list[str] = field(default_factory=list)
    only_s: list[str] = field(default_factory=list)


def add_word(word: str, into: Latin) -> None:
    """A run of Latin letters and digits: itself, its camelCase words, and letters | digits apart."""
    into.both.append(english(fold(word)[1]))
    pieces = camel(word)
    for piece in (fold(piece)[1] for piece in pieces):
        if len(pieces) > 1 and piece not in TABLES.english_stop:
            into.both.append(english(piece))
        smaller = LETTERS_OR_DIGITS.findall(piece)
        if len(smaller) > 1:
            into.only_s += [english(part) for part in smaller if part not in TABLES.english_stop]


def add_leaf(leaf: str, into: Latin, alone: bool) -> None:
    """A version, or words joined by underscores; stop words are no parts."""
    if "." in leaf:
        number = leaf.lstrip("vV")
        into.both.append(number)
        into.only_s += number.split(".")
        return
    words = [word for word in leaf.split("_") if word]
    if len(words) > 1:
        into.both.append(fold(leaf.strip("_"))[1])
        alone = False
    for word in words:
        if alone or fold(word)[1] not in TABLES.english_stop:
            add_word(word, into)


def latin_terms(text: str) -> Latin:
    """All terms of a Latin unit as written: a word, an identifier, a version, a file name, a path.

    A path gives itself, its components, their leaves (versions and identifiers) and the words of those.
    """
    components = re.split(r"[/\\]", text)
    wholes = [text] if len(components) > 1 else []
    wholes += [component for component in components if len(LEAF.findall(component)) > 1]
    into = Latin([VERSION_MARK.sub("", fold(whole.strip("_"))[1]) for whole in wholes])
    for component in components:
        for leaf in LEAF.findall(component):
            add_leaf(leaf, into, alone=not wholes)
    into.both = unique(into.both)
    into.only_s = [term for term in unique(into.only_s) if term not in into.both]
    return into


def unique(items) -> list[str]:
    return list(dict.fromkeys(items))


# ---------------------------------------------------------------- units


@dataclass(frozen=True)
class Unit:
    """One piece of text that has terms of its own.

    kind: hangul; glued (Hangul after Latin or digits: never a stop word); counter (kept unanalysed); long
    (over 64 syllables); pair (two runs of one syllable); latin (before Hangul: ``kept``, else ``latin``);
    han; kana; other.
    """

    kind: str
    text: str  # Latin: as written; else normalised
    start: int  # in the folded text
    end: int
    after_digit: bool = False


MAX_SYLLABLES = 64
JOINER = re.compile(r"_*[./\\-]_*|_+")


def chunks(text: str, found: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Join Latin runs by underscores, or one of . / \\ - with underscores beside it; cut at MAX_RUN.

    What hyphens alone join (multi-agent) stays apart.
    """
    is_latin = [False] * (len(text) + 1)
    for kind, start, end in found:
        is_latin[start:end] = [kind == LATIN] * (end - start)
    out = [run for run in found if run[0] != LATIN]
    i = 0
    while i < len(text):
        if not is_latin[i] or char_class(text[i]) == MARK:
            i += 1
            continue
        words, joiners, start, end = [], set(), i, i
        while end - i < MAX_RUN:
            if is_latin[end]:
                end += 1
                continue
            joiner = JOINER.match(text, end)
            if joiner is None or joiner.end() - i >= MAX_RUN or not is_latin[joiner.end()]:
                break
            words.append((LATIN, start, end))
            joiners.add(joiner[0])
            start = end = joiner.end()
        words.append((LATIN, start, end))
        out += words if joiners <= {"-"} else [(LATIN, i, end)]
        i = end
    return sorted(out, key=lambda run: run[1])


def units(text: str) -> list[Unit]:
    text, low = fold(text)
    out: list[Unit] = []
    found = chunks(text, runs(text))
    for number, (kind, start, end) in enumerate(found):
        if kind == LATIN:
            following = found[number + 1] if number + 1 < len(found) else (NONE, -1, -1)
            kept = following[0] == HANGUL and following[1] == end
            out.append(Unit("kept" if kept else "latin", text[start:end], start, end))
            continue
        if kind != HANGUL:
            out.append(Unit(kind, low[start:end], start, end))
            continue
        run = respell(low[start:end])
        before = found[number - 1] if number else (NONE, -1, -1)
        glued = before[0] == LATIN and before[2] == start
        after_digit = glued and text[start - 1] in DIGITS
        unit_kind = HANGUL
        if len(run) > MAX_SYLLABLES:
            unit_kind = "long"
        elif glued and after_digit and run in ("일", "인", "만", "엔"):
            unit_kind = "counter"
        elif glued and (run in TABLES.noun or is_light_verb(run)):
            continue
        elif glued:
            unit_kind = "glued"
        unit = Unit(unit_kind, run, start, end, after_digit)
        last = next((u for u in reversed(out) if u.kind != "pair"), None)
        if (
            len(run) == 1
            and last is not None
            and last.kind in (HANGUL, "glued", "counter")
            and len(last.text) == 1
            and text[last.end : start] == " "
        ):
            out.append(unit)
            out.append(Unit("pair", last.text + run, last.start, end))
        else:
            out.append(unit)
    return out


# ---------------------------------------------------------------- stems of a Hangul run

VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ["", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"]
INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"


def initial(syllable: str) -> str:
    return INITIALS[(ord(syllable) - 0xAC00) // 588]


def vowel(syllable: str) -> str:
    return VOWELS[(ord(syllable) - 0xAC00) // 28 % 21]


def final(syllable: str) -> str:
    return FINALS[(ord(syllable) - 0xAC00) % 28]


def with_final(syllable: str, jamo: str) -> str:
    """The syllable with another final consonant ("": none)."""
    code = ord(syllable) - 0xAC00
    return chr(0xAC00 + code - code % 28 + FINALS.index(jamo))


def with_vowel(syllable: str, jamo: str) -> str:
    code = ord(syllable) - 0xAC00
    return chr(0xAC00 + code // 588 * 588 + VOWELS.index(jamo) * 28 + code % 28)


def contracted(stem: str) -> bool:
    return not final(stem[-1]) and vowel(stem[-1]) in "ㅕㅘㅝㅙㅏㅐㅓㅔ"


def may_be_stem(stem: str) -> bool:
    last = stem[-1]
    if last in "느스" or final(last) in ("ㄳ", "ㅇ", "ㅋ"):
        return False
    if final(last) == "ㅆ":
        return last == "있"
    return final(last) != "ㄴ" or last in "신안"


def condition_holds(condition: str, stem: str) -> bool:
    """A: always; V: no final; C: a final; L: none or ㄹ; K: a final but ㄹ; any letter suffices."""
    end = final(stem[-1])
    holds = {"A": True, "V": not end, "C": bool(end), "L": end in ("", "ㄹ"), "K": end not in ("", "ㄹ")}
    return any(holds.get(letter, False) for letter in condition)


S_IRREGULAR = dict(zip("짓낫붓잇긋", "지나부이그", strict=True))
D_IRREGULAR = dict(zip("듣걷묻싣", "들걸물실", strict=True))
OPENED = {"그래": "그러", "이래": "이러", "저래": "저러", "어때": "어떠"}
UNCONTRACTED = {"ㅕ": "ㅣ", "ㅘ": "ㅗ", "ㅝ": "ㅜ", "ㅙ": "ㅚ", "ㅓ": "ㅡ", "ㅏ": "ㅡ"}


def key(stem: str) -> str:
    """One form for all forms of a predicate stem; the first rule that fits its last syllable."""
    before, last = stem[:-1], stem[-1]
    end = final(last)
    if last in "해돼":
        return before + {"해": "하", "돼": "되"}[last]
    if end == "ㅂ":
        return before + with_final(last, "") + "우"
    if last in S_IRREGULAR:
        return before + S_IRREGULAR[last]
    if stem in D_IRREGULAR:
        return D_IRREGULAR[stem]
    if last == "닫" and before:
        return before + "다"
    if last in "렇떻갛겋랗얗옇":
        return before + with_final(last, "")
    if end == "ㄹ" and before:
        return before + with_final(last, "")
    if end:
        return stem
    if last in "라러" and before and final(before[-1]) == "ㄹ":
        return before[:-1] + with_final(before[-1], "") + "르"
    if last in "아어" and before:
        return key(before)
    if stem[-2:] in OPENED:
        return stem[:-2] + OPENED[stem[-2:]]
    if vowel(last) in UNCONTRACTED and (vowel(last) != "ㅏ" or (before and last != "하")):
        last = with_vowel(last, UNCONTRACTED[vowel(last)])
    if last == "으" and before:
        return key(before)
    if last == "오" and before and not final(before[-1]):
        return before + "우"
    return before + last


@dataclass(frozen=True)
class Candidate:
    kind: str  # N, P, H
    stem: str  # of a predicate: its key
    cost: int
    n: int  # syllables
    suffix: str


AUXILIARIES = ("나가", "버리", "드리", "두", "놓", "보", "주", "내", "지")
BARE = "꿔줘둬춰눠워봐놔돼져쳐켜려껴겨펴"


def cuts(run: str):
    """(rest, suffix) at each place where a suffix may start, the shortest suffix first."""
    yield run, ""
    for i in range(len(run) - 1, -1, -1):
        if final(run[i]):
            yield run[:i] + with_final(run[i], ""), final(run[i]) + run[i + 1 :]
        if i:
            yield run[:i], run[i:]


def predicate(stem: str, cost: int, suffix: str) -> Candidate:
    form = key(stem)
    return Candidate("P", form, cost, min(len(stem), len(form)), suffix)


def noun(kind: str, stem: str, cost: int, suffix: str) -> Candidate:
    return Candidate(kind, stem, cost, len(stem), suffix)


def predicate_fits(stem: str, suffix: str, condition: str) -> bool:
    if not may_be_stem(stem):
        return False
    if suffix[0] == "ㅆ":
        return contracted(stem)
    if condition_holds(condition, stem):
        return True
    strong = vowel(stem[-1]) in "ㅕㅘㅝㅙ" or stem[-1] in "해돼" or len(suffix) > 1
    return "c" in condition and contracted(stem) and strong


def extras(stem: str, cost: int, suffix: str) -> list[Candidate]:
    """Other stems that the same suffix may stand on."""
    found: list[Candidate] = []
    if len(stem) == 1 and not final(stem):
        first = suffix[0] if suffix[0] in INITIALS else initial(suffix[0])
        closes = suffix[0] in FINALS
        if (closes and first in "ㄴㅂ") or (not closes and first in "ㄴㅅ"):
            found.append(predicate(with_final(stem, "ㄹ"), cost + 100, suffix))
    if stem[-1] in "시셔" and len(stem) > 1:
        plain = stem[:-1]
        if plain[-1] == "으" and len(plain) > 1:
            plain = plain[:-1]
        found.append(predicate(plain, cost + 200, suffix))
    for base in [*found, predicate(stem, cost, suffix)]:
        auxiliary = next((a for a in AUXILIARIES if base.stem.endswith(a)), None)
        if auxiliary is None:
            continue
        rest = base.stem[: -len(auxiliary)]
        if len(rest) >= 2 and contracted(rest):
            found.append(predicate(rest, base.cost + 300, suffix))
            if rest[-1] in "해돼":
                found.append(noun("H", rest[:-1], base.cost + 300, suffix))
    for base in list(found):
        if base.kind == "P" and base.stem[-1] in "하되" and len(base.stem) >= 3:
            found.append(noun("H", base.stem[:-1], base.cost + 100, suffix))
    return found


def derived(rest: str, suffix: str) -> list[Candidate]:
    """The noun of a stem that is a noun and 하, 되, 시키, 받, 당하, 스럽 or 롭, at the cost of the whole."""
    form = key(rest)
    found = []
    for derivation, cost in TABLES.derived.get(suffix, {}).items():
        ending = key(derivation)  # 스럽 ends a key as 스러우
        if form.endswith(ending) and len(form) > len(ending):
            found.append(noun("H", form[: -len(ending)], cost, suffix))
    return found


def candidates(run: str) -> list[Candidate]:
    found: list[Candidate] = []
    for rest, suffix in cuts(run):
        whole_syllables = suffix == "" or suffix[0] not in FINALS
        if suffix in TABLES.noun and whole_syllables:
            condition, cost = TABLES.noun[suffix]
            if condition_holds(condition, rest):
                found.append(noun("N", rest, cost, suffix))
        if suffix in TABLES.predicate:
            condition, cost = TABLES.predicate[suffix]
            if predicate_fits(rest, suffix, condition):
                found += extras(rest, cost, suffix)
                found.append(predicate(rest, cost, suffix))
                found += derived(rest, suffix)
    found += bare(run)
    return without_past_nouns(run, first_of_each(found))


def bare(run: str) -> list[Candidate]:
    """A run that is a stem with no suffix (배포해, 몰라)."""
    found = []
    last = run[-1]
    if len(run) >= 2 and may_be_stem(run):
        if last in BARE:
            found.append(predicate(run, 300, ""))
        elif (vowel(last) in "ㅕㅘㅝㅙ" and not final(last)) or (last in "라러" and final(run[-2]) == "ㄹ"):
            found.append(predicate(run, 585, ""))
        if last in "해돼" and len(run) >= 3:
            found.append(noun("H", run[:-1], 300, ""))
    return found


def first_of_each(found: list[Candidate]) -> list[Candidate]:
    seen: dict[tuple[bool, str, str], Candidate] = {}
    for candidate in found:
        seen.setdefault((candidate.kind == "P", candidate.stem, candidate.suffix), candidate)
    return list(seen.values())


def without_past_nouns(run: str, found: list[Candidate]) -> list[Candidate]:
    """A ㅆ final is a tense: no part of a noun, unless nothing else can be read."""
    left = [c for c in found if c.kind == "P" or not has_past(c.stem)]
    return left or found


def has_past(text: str) -> bool:
    return any(final(syllable) == "ㅆ" for syllable in text)


# ---------------------------------------------------------------- score, support


def length_prior(n: int) -> float:
    """50 exp(-L(n)), L in nats."""
    nats = -math.log((0.02, 0.55, 0.25, 0.10)[n - 1]) if n <= 4 else -math.log(0.08) + 2.51 * (n - 4)
    return 50.0 * math.exp(-(nats + 6.8 * min(n, 4)))


def marked(candidate: Candidate) -> str:
    """The term of a candidate: a predicate ends in ~, but 사용하- is the noun 사용."""
    if candidate.kind != "P":
        return candidate.stem
    for derivation in ("시키", "당하", "하", "되", "받"):
        if candidate.stem.endswith(derivation) and len(candidate.stem) - len(derivation) >= 2:
            return candidate.stem[: -len(derivation)]
    return candidate.stem + "~"


def is_light_verb(run: str) -> bool:
    """A form of 하다, 되다, 시키다 (after a Latin word)."""
    light = ("하", "되", "시키")
    return key(run) in light or any(c.kind == "P" and c.stem in light for c in candidates(run))


def weights(found: list[Candidate], others: dict[tuple[bool, str], float]) -> list[float]:
    """Posterior of each candidate, ``others``: support by other surfaces for (predicate or not, stem)."""
    raw = []
    for c in found:
        seen = others.get((c.kind == "P", c.stem), 0.0)
        raw.append(math.exp(-c.cost / 100) * (seen + length_prior(c.n)))
    return [value / sum(raw) for value in raw]


def static_shares(run: str) -> dict[tuple[bool, str], float]:
    """Static posterior of each (predicate or not, stem)."""
    found = candidates(run)
    total: dict[tuple[bool, str], float] = {}
    for c, weight in zip(found, weights(found, {}), strict=True):
        total[c.kind == "P", c.stem] = total.get((c.kind == "P", c.stem), 0.0) + weight
    return total


class Support:
    """What other words of the index say for a stem.

    A surface seen c times gives each of its stems ``own`` = static posterior * sqrt(c).
    """

    FLOOR = 1e-4

    def __init__(self, counts=()):
        self.counts: Counter[str] = Counter()
        self.total: dict[tuple[bool, str], float] = {}
        self.learn(dict(counts))

    def learn(self, counts) -> None:
        for surface in sorted(counts):
            self.update(surface, self.counts[surface], self.counts[surface] + counts[surface])

    def update(self, surface: str, old: int, new: int) -> None:
        for stem, posterior in static_shares(surface).items():
            if posterior > self.FLOOR:
                gain = posterior * (math.sqrt(new) - math.sqrt(old))
                self.total[stem] = self.total.get(stem, 0.0) + gain
        self.counts[surface] = new

    def of_others(self, surface: str) -> dict[tuple[bool, str], float]:
        """Support of each stem of a surface by other surfaces."""
        root = math.sqrt(self.counts[surface])
        return {
            stem: max(0.0, self.total.get(stem, 0.0) - (p * root if p > self.FLOOR else 0.0))
            for stem, p in static_shares(surface).items()
        }


def posteriors(run: str, support: Support | None = None) -> list[tuple[str, float]]:
    """Terms of a Hangul run with their posterior, best first; then longer, then by code points."""
    found = candidates(run)
    others = support.of_others(run) if support else {}
    total: dict[str, float] = {}
    for c, weight in zip(found, weights(found, others), strict=True):
        total[marked(c)] = total.get(marked(c), 0.0) + weight
    ordered = sorted(total, key=lambda term: (-total[term], -len(term), term))
    return [(term, total[term]) for term in ordered]


def stem(word: str, support: Support | None = None) -> list[tuple[str, float]]:
    return posteriors(normalize(word), support)


# ---------------------------------------------------------------- terms and weights


def bigrams(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(len(text) - 1)]


def stem_bigrams(term: str) -> list[str]:
    """Terms of field b of a best stem: bigrams; a stem of one or two syllables itself, with its mark."""
    bare_stem = term.rstrip("~")
    return [term] if len(bare_stem) <= 2 else bigrams(bare_stem)


def document_terms(unit: Unit, support: Support | None) -> tuple[list[str], list[str]]:
    text = unit.text
    if unit.kind in (HANGUL, "glued"):
        ranked = posteriors(text, support)
        best = ranked[0][0]
        static = [term for term, p in posteriors(text) if p >= 0.05]
        s = [best, best]
        s += [term for term, p in ranked[1:] if p >= 0.05 or term in static]
        if best.endswith("~") and len(text) <= 4 and not has_past(text) and text not in s:
            s.append(text)
        return s, stem_bigrams(best)
    if unit.kind in ("pair", "long"):
        return [], [text] if unit.kind == "pair" else bigrams(text)
    if unit.kind in ("latin", "kept"):
        parts = latin_terms(text)
        return parts.both + parts.only_s, parts.both
    if unit.kind == HAN and len(text) > 1:
        return [text], [*text, *bigrams(text)]
    if unit.kind == KANA and len(text) > 1:
        return [text], bigrams(text)
    return [text], [text]


def query_terms(unit: Unit, support: Support | None) -> tuple[list[tuple[str, float]], list[str]]:
    text = unit.text
    if unit.kind in (HANGUL, "glued"):
        ranked = posteriors(text, support)
        chosen = [(term, p) for i, (term, p) in enumerate(ranked) if i == 0 or p >= 0.15]
        if text not in [term for term, _ in chosen]:
            chosen.append((text, 0.3))
        return shares(chosen), stem_bigrams(ranked[0][0])
    if unit.kind in ("latin", "kept"):
        parts = latin_terms(text)
        whole, *rest = parts.both + parts.only_s
        return shares([(whole, 1.0)] + [(term, 1 / len(rest)) for term in rest]), [whole]
    s, b = document_terms(unit, support)
    if unit.kind == HAN and len(text) > 1:
        b = bigrams(text)
    return [(term, 1.0) for term in s], b


def shares(weighted: list[tuple[str, float]]) -> list[tuple[str, float]]:
    total = sum(weight for _, weight in weighted)
    return [(term, weight / total) for term, weight in weighted]


def is_english_stop(unit: Unit) -> bool:
    return unit.kind == "latin" and fold(unit.text)[1] in TABLES.english_stop


def is_korean_stop(unit: Unit, support: Support | None) -> bool:
    if unit.kind != HANGUL:
        return False
    return (
        unit.text in TABLES.stop
        or posteriors(unit.text, support)[0][0] in TABLES.stop
        or any(c.stem in TABLES.ask for c in candidates(unit.text))
    )


def left_after_stop_words(found: list[Unit], query: bool, support: Support | None) -> list[Unit]:
    """Units without stop words (and, in a query, without pairs that hold one), or all if none is left."""
    out = [u for u in found if is_english_stop(u) or (query and is_korean_stop(u, support))]
    starts, ends = {u.start for u in out}, {u.end for u in out}
    inside = [u for u in found if u.kind == "pair" and (u.start in starts or u.end in ends)]
    left = [u for u in found if u not in out and u not in inside]
    return left or found


@dataclass
class Tokens:
    s: list[str]
    b: list[str]
    weights: list[float] = field(default_factory=list)  # of a query: parallel to s


def tokens(text: str, query: bool = False, support: Support | None = None) -> Tokens:
    result = Tokens([], [])
    for unit in left_after_stop_words(units(text), query, support):
        if query:
            weighted, b = query_terms(unit, support)
            result.s += [term for term, _ in weighted]
            result.weights += [weight for _, weight in weighted]
        else:
            s, b = document_terms(unit, support)
            result.s += s
        result.b += b
    return result


def surfaces(text: str) -> list[str]:
    """The Hangul runs of a text that support is learned from."""
    return [unit.text for unit in units(text) if unit.kind in (HANGUL, "glued")]


# ---------------------------------------------------------------- mode "prefix"


def first_keyword(token: str, keywords: list[str]) -> str | None:
    """The first keyword, in index order, that the token starts with or contains."""
    return next((keyword for keyword in keywords if keyword and keyword in token), None)
