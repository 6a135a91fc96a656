"""What must not differ between two items that say the same: numbers, dates, times, negation, who is what.

Everything here reads one text, lower case and NFKC. A word that tells a fact is no content term, nor is one that comes
and goes with the wording (:data:`LIGHT`).
"""

from __future__ import annotations

import re
import unicodedata

# Come and go with the wording of a fact. Korean: auxiliary verbs, copulas, bound nouns, words of degree; English: what
# a change of voice or order brings.
LIGHT = frozenset(
    """
    하 하~ 한 되 되~ 된 있 있~ 이다 이 아~ 주~ 주 두~ 놓~ 보 보~ 봐요 봅니 본 본다 봐 것 것~ 게 거 수 꼭 딱 쭉 동안 때 때~ 때마다 중 뒤
    뒤로 후 나서 나~ 씩 를 을 은 는 가 의 에 도 로 으로 와 과 들 들~ 및 그리고 또 또한 그냥 좀 매우 아주 정말 참 약 쯤
    가능 불가 불가능 못함 못합니 못했 안함 정도 편 점 식 등 지금 현재 이제 데 곳 때문 의해 한다 합니 합니다 해요 했다 여 여기~ 여기 생각 판단 믿~ 믿 느끼~ 않 않~ 안 못 못하~ 없 없~
    아니~ 아니 아닌 말~ 지 함 임 됨 있음 없음 더 에요 예요 건
    the a an is are was were be been being am do does did doe has have had having it its this that these those there in on
    at by to of for with from into as and or but so then than you your we our they their he she his her who which will
    would can cannot could should must shall may might not no never nor without also too now usual everi each when while if whenev dure
    """.split()
)
_NEGATION = re.compile(
    r"(?<![가-힣])(?:안|못)(?= [가-힣]|[하했해한할함합되된됐돼됨됩])|않|아니|없(?!이 )|없이|불가|말(?=아야|고 |아라|자)|금지|"
    r"\b(?:not|no|never|without|nor|none|cannot)\b|n['’]t\b"
)
_TWICE = re.compile(r"않으면 안 ?(?:된|되|돼)|안 ?되지는? 않|없지는? 않|없으면 안 ?(?:된|되|돼)|지 않을 수 없|못하지는? 않")
_NUMBERS = """
1 one 한 하나 일 첫 첫째 first once; 2 two 두 둘 둘째 twice second; 3 three 세 셋 셋째 third thrice; 4 four 네 넷 넷째 fourth;
5 five 다섯 fifth; 6 six 여섯 sixth; 7 seven 일곱 seventh; 8 eight 여덟 eighth; 9 nine 아홉 ninth; 10 ten 열 tenth;
11 eleven 열한; 12 twelve 열두; 13 thirteen; 14 fourteen; 15 fifteen; 16 sixteen; 17 seventeen; 18 eighteen; 19 nineteen;
20 twenty 스무; 30 thirty 서른; 40 forty 마흔; 50 fifty 쉰; 60 sixty; 70 seventy; 80 eighty; 90 ninety; 100 hundred;
0.5 half 절반; 1day 하루; 2day 이틀; 3day 사흘; 4day 나흘; 5day 닷새
"""
NUMBER_WORDS = {word: row.split()[0] for row in _NUMBERS.split(";") for word in row.split()[1:]}
# As the analysis stems them.
NUMBER_WORDS |= {word[:-1] + "i": number for word, number in NUMBER_WORDS.items() if word.endswith("ty")}
_COUNTED = "명개번잔권대알장살시달주곡쪽마채켤벌끼통병가지군데"
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_NAMES = {name: f"{number}월" for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": "9월"}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_KOREAN_DAYS = "월화수목금토일"
_TOKEN = re.compile(
    r"(?P<iso>\d{4}-\d{1,2}-\d{1,2})|(?P<clock>\d{1,2}:\d{2})"
    r"|(?<![a-z0-9_.])(?<![^0-9]/)(?P<number>(?:(?<![a-z0-9가-힣.)-])[-+])?\d+(?:[.,]\d+)*)[ ]?(?P<unit>[a-z%°℃]+|[가-힣]+)?"
    r"|(?P<weekday>[월화수목금토일]요일)|(?P<latin>[a-z]+)|(?P<hangul>[가-힣]+)"
)
_UNITS = """
    개월 시간 퍼센트 도씨 킬로그램 킬로미터 킬로 그램 미터 분기 주일 년 월 일 시 분 초 명 개 번 회 원 쪽 층 도 살 대 알 잔 권 장
    배 위 점 주 달 코어 차 판 호 건 곳 평 억 만 천
""".split()
_UNIT_NAMES = dict(
    pair.split("=")
    for pair in "퍼센트=% percent=% pct=% minutes=분 minute=분 min=분 mins=분 hours=시간 hour=시간 hrs=시간 days=day pages=page "
    "gigabytes=gb 회=번 times=번 주일=주 달=개월 months=개월 month=개월 weeks=주 week=주 years=년간".split()
)
_SPACED_UNITS = frozenset("day page % gb mb tb km kg mg ms ml g cm".split())
UNITS = frozenset(_UNITS) | {"day", "week", "month", "year", "hour", "minut", "second", "time"}
FACT_WORDS = frozenset(
    [*_MONTHS, *_WEEKDAYS, *(day + "요" for day in _KOREAN_DAYS)]
    + "분기 반기 januari februari juli 오전 오후 am pm gb mb km kg mg ms".split()
)
# What does not tell two written numbers apart: 1,000 원 and 1000원.
_SPACED_UNIT = re.compile(rf"(?<=\d),(?=\d{{3}})|(?<=\d) (?={'|'.join([*_UNITS, *sorted(_SPACED_UNITS)])})")
_HALF_OF_DAY = {"오전": "am", "오후": "pm", "a.m": "am", "p.m": "pm", "am": "am", "pm": "pm"}
_ROLES = re.compile(
    r"([가-힣a-z0-9_.-]+?)(보다|에게서|에게|한테|까지|부터|[이가]? 아니라| 대신|(?:하기)? 전에| 후에| 뒤에)(?:는|도|만)?(?![가-힣])"
    r"|((?:[가-힣]+ )?[가-힣a-z0-9_.-]+?)( 말고)(?![가-힣])"
)
# Where one side is a word without content, its opposite must not pass for something merely left out.
_OPPOSITES = [
    tuple(map(re.compile, pair))
    for pair in (
        (r"[가-힣]만(?:$| )", r"[가-힣]도(?:$| )"), (r"위(?:에|의|로|쪽)", r"(?:아래|밑)(?:에|의|로|쪽)"),
        (r"앞(?:에|의|으로|쪽)", r"뒤(?:에|의|로|쪽)"), (r"빌려 ?[주준줌줍줬줄]", r"빌[리린림립렸]"),
        (r"\b(?:is|are|has|have)\b", r"\b(?:was|were|had)\b"), (r"\bon\b", r"\boff\b"), (r"\bin\b", r"\bout\b"), (r"\bto\b", r"\bfrom\b"),
        (r"\b(?:must|should|shall)\b", r"\b(?:may|might|can|could)\b"), (r"야 ?[한할합해했된됩]", r"수 ?있"),
        (r"전(?:에|$| )", r"(?:후|뒤|다음)(?:에|$| )|나서"), (r"주었|줬|준다|줍니다", r"받"),
    )
]
# Words that change what is claimed. Two items that say the same have the same of them.
_MARKS = {
    name: re.compile(pattern) for name, pattern in {
        "must": r"\b(?:must|shall|ha(?:s|ve|d) to|needs? to|required to|obliged to)\b|야(?:만)? ?(?:한|할|합|해|했|함|하|된|됩|돼|됨)",
        "should": r"\b(?:should|ought)\b|편이 (?:좋|낫)",
        "may": r"\b(?:might|could|perhaps|maybe|possibly|probably|likely|allowed to|permitted to)\b|\bmay (?!\d)|것 ?같|듯[ 하한했]|아마|지도 ?모|을까|ㄹ까|[할갈올될볼줄날울있]까",
        "is allowed to": r"도 ?(?:된|되|됩|돼|됨|괜찮)",
        "can": r"\b(?:can|cannot|able to|capable of)\b|(?<![가-힣])못|지(?:는|를)? ?못|수(?:가|는|도)? ?없|수(?:가|는|도)? ?있|줄 ?안다|가능",
        "will": r"\b(?:will|going to|gonna|about to|plan(?:s|ned|ning)? (?:to|on)|intends? to)\b|예정|계획|려고? ?[한합해했함]|기로 ?[했함한]|[할갈올될볼줄날울을] ?것이",
        "wants": r"\b(?:wants?|wanted|wish(?:es|ed)?|hop(?:e|es|ed)|would like) to\b|싶",
        "tries": r"\b(?:tr(?:y|ies|ied|ying)|fail(?:s|ed)?|forgot|forgets?|refuse[sd]?|asked|told|learn(?:s|ing)?) to\b",
        "says": r"\b(?:sa(?:id|ys?)|claim(?:s|ed)?|hear(?:s|d)?|reportedly|allegedly)\b|[다라]고 (?:들었|듣|[했한하합함해]|전)",
        "used to": r"\bused to\b|[았었했] ?었",
        "asks": r"\?\s*$|[까나]\?",
        "is no longer": r"\b(?:stop(?:s|ped)?|quit(?:s|ted)?|cancel(?:s|led|ed)?|no longer|ceas(?:es|ed)?|gave up|gives up)\b"
                        r"|해제|취소|중단|중지|폐지|철회|그만|끊",
        "goes on": r"중(?:이|인|임)|고 ?있|는 중|\b(?:currently|in progress)\b",
        "at least": r"\b(?:at least|no fewer|no less|minimum)\b|이상|최소|적어도|>=|≥",
        "at most": r"\b(?:at most|no more than|maximum|up to)\b|이하|최대|많아야|<=|≤",
        "over": r"\b(?:more|greater|longer|older|higher) than\b|초과|넘[는으을어었]|>(?!=)",
        "under": r"\b(?:less|fewer|shorter|younger|lower) than\b|미만|<(?!=)",
        "almost": r"\b(?:almost|nearly|hardly|barely|scarcely)\b|거의",
        "a few": r"\ba (?:few|little)\b", "few": r"(?<!\ba )\b(?:few|little)\b",
        "too": r"\btoo (?!$|[.,])", "only": r"\b(?:only|nobody but|nothing but)\b", "even": r"\beven\b|조차|마저",
        "all": r"\b(?:all|everyone|everything)\b|모든|모두|전부", "some": r"\b(?:some|several)\b|일부|몇몇",
        "if": r"\b(?:if|unless)\b", "unless": r"\bunless\b", "or": r"\bor\b|또는|거나|(?<=[가-힣])이나 ",
        "but": r"\b(?:except|but not)\b|제외|빼고|말고",
    }.items()
}
_SEQUENCE = re.compile(r"\b(?:first|then)\b|먼저|[한은는 ]다음(?! ?[주달해번])")
_PERIOD = re.compile(r"\bevery (?:\d+ )?(?:minute|hour|day|week|month|year|night|morning|evening|quarter)|매[일주달년]"
                     r"|\d+[가-힣]{1,2}마다|[가-힣]?[분반]기(?=[에마당 ])|하루(?=에|[ ]?\d)|(?:일주일|1주|한 달)(?=에)")
_CHANGE = re.compile(r"\b(?:now|no longer|anymore|instead|switched|moved|changed|replaced|postponed|cancell?ed|stopped|quit|gave up|rewritten|went (?:up|down)|cut down|raised|lowered|reduced|increased|decreased|fixed|repaired|again|resolved|settled|ported|migrated)\b"
                     r"|이제|기로 ?[했함한]|올랐|내렸|늘었|줄었|올렸|줄였|인상[했됐되된]|인하[했됐되된]|갈아[탔탐타]|이전[했됐하]|이사[했해]|옮겨|재개|해결|고쳤|수리되|확정|다시|더 이상|더는|바뀌|바뀜|바꿨|바꾸기로|변경|옮겼|옮김|그만두|취소|미뤘|미뤄|완료|드디어|끝났|대신")
_ADDITION = re.compile(r"\b(?:also|too|as well|another)\b|(?<![가-힣])(?:또|또한) ")
_PERSONS = {
    word: names.split()[0] for names in (
        "he him his", "she her hers", "i me my mine 나는 내가 내 나의 나를 나에게 제가 저는", "we us our ours 우리 저희 우리는 우리가",
        "you your yours 너 너의 너희 네가 당신", "they them their theirs",
    ) for word in names.split()
}
_CURRENCY = re.compile(r"[$€£¥₩](?= ?\d)|(?<=\d)[€£¥₩]|(?<=\d) ?(?:usd|eur|krw|jpy|gbp|달러|유로|엔)(?![a-z])")
_COMPARED = re.compile(r"[<>]=?|[≤≥≠]|[=!]=")
_ARROW = re.compile(r"(\S+) ?(?:->|→|=>|⇒) ?(\S+)")
# A letter by itself names one of several; "a" does only where no noun follows.
_LETTER = re.compile(r"(?<![\w'’.-])(?:[b-hj-z]|a(?=\s*(?:$|[.,;:)]|(?:is|are|was|has|and|or|to|in|on|by)\b|[가-힣]))"
                     r"|i{2,3}|iv|vi{0,3})(?![\w'’+#-]|\.\w)")
_ACRONYM = re.compile(r"\b[A-Z]{2,}\b")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_NO_WORDS = frozenset(LIGHT) | {"us", "it", "who", "all", "me", "am"}
_DENIED = re.compile(r"\b(?:not|never|without)\s+(?:(?:the|a|an|be|been|have|has|to|yet|any)\s+)*([a-z]{2,3})"
                     r"|([가-힣])[가-힣]*지(?:는|도|를)? ?(?:않|못|말)|(?<![가-힣])(?:안|못) ([가-힣])|([가-힣])[가-힣]*? 없(?![애앤앴앨])")
_RELATIVE = re.compile(
    r"오늘|어제|그제|내일|모레|방금|이번 ?(?:주|달)|지난 ?(?:주|달)"
    r"|\b(?:today|yesterday|tomorrow|tonight|(?:this|last) (?:week|month|morning|night))\b"
)
# Syllables that end in the ㅆ of a past tense; 있 and 겠 are none.
_PAST_SYLLABLES = "".join(chr(code) for code in range(0xAC00 + 20, 0xD7A4, 28) if chr(code) not in "있겠")
_PAST = re.compile(rf"[{_PAST_SYLLABLES}](?:다|습니다|어요|음)(?![가-힣])|(?<!is )(?<!are )(?<!be )\b[a-z]{3,}(?<!e)ed\b"
                   r"|(?<!be )\b(?:was|were|had|went|came|made|took|gave|got|met|read|lost|paid|sold|bought|ran|saw|wrote|ate|drank|slept)\b")
_MOVED = re.compile(r"바뀌|바꾸|바꿨|변경|옮|미뤄|미루|연기|앞당|당겨|moved|changed|postponed|delayed|rescheduled|shifted")
# File names, versions, addresses, identifiers: compared whole.
_NAME = re.compile(r"[a-z0-9_~$.][a-z0-9_.@/\\:+#~$-]*")
_MEASURE = re.compile(r"\d+(?:[.,:]\d+)*[a-z%]{0,12}|[ap]\.m|e\.g|i\.e|[\d.,:/-]+")


# A number with all that is glued to it: its unit, particles.
_COUNT = re.compile(r"\d[\d.,:-]*[ ]?(?:" + "|".join(_UNITS) + r")[가-힣]{0,4}(?![가-힣])")


def without_counts(text: str) -> str:
    """A text without its numbers of Korean units; they are facts, and their particles no words."""
    return _COUNT.sub(" ", text)


_BEFORE_MONTH = frozenset("in on by until since of from to next last this early late mid every and for before after".split())


class Facts:
    """What of an item must not differ in a duplicate."""

    __slots__ = ("clock", "dates", "denied", "happened", "is_addition", "is_change", "is_relative", "is_sequence",
                 "marks", "names", "negated", "numbers", "periods", "persons", "roles", "sides", "text", "things")

    def __init__(self, text: str, written: str = ""):
        self.dates: set[str] = set()
        self.clock: set[str] = set()
        self.numbers: set[str] = set()
        negations = len(_NEGATION.findall(text)) - 2 * len(_TWICE.findall(text))
        self.negated = bool(negations % 2) if negations > 0 else False
        self.things: dict[str, set[str]] = {}
        self.denied = set(_denied(text))
        self.marks = {name for name, pattern in _MARKS.items() if pattern.search(text)}
        self.is_sequence = _SEQUENCE.search(text) is not None
        self.is_addition = _ADDITION.search(text) is not None
        self.is_change = _CHANGE.search(written.lower() or text) is not None
        self.periods = set(_PERIOD.findall(text))
        self.persons = {_PERSONS[word] for word in re.findall(r"[a-z]+|[가-힣]+", text) if word in _PERSONS}
        self.text = text
        self.roles: dict[str, set[str]] = {}
        for match in _ROLES.finditer(_SPACED_UNIT.sub("", text)):
            self.roles.setdefault((match[2] or match[4]).strip(), set()).add((match[1] or match[3]).rstrip(".-"))
        self.is_relative = _RELATIVE.search(text) is not None
        self.happened = _PAST.search(text) is not None and not _MOVED.search(text)
        self.sides = [(one.search(text) is not None, other.search(text) is not None) for one, other in _OPPOSITES]
        self.names = {*_names(text), *_signs(text, written or text)}
        self._read(text)

    def _read(self, text):
        last = ""
        tokens = list(_TOKEN.finditer(text))
        for i, token in enumerate(tokens):
            word = token[0]
            if token["iso"]:
                year, month, day = (int(part) for part in word.split("-"))
                self.dates |= {f"{year}년", f"{month}월", f"{day}일"}
            elif token["clock"]:
                self._clock(*map(int, word.split(":")))
            elif token["number"]:
                self._number(token, last, tokens[i + 1][0] if i + 1 < len(tokens) else "")
            elif token["weekday"]:
                self.dates.add(word[0])
            elif word in _HALF_OF_DAY:
                self.clock.add(_HALF_OF_DAY[word])
            elif word in _MONTH_NAMES and (word not in ("may", "mar") or last in _BEFORE_MONTH):
                self.dates.add(_MONTH_NAMES[word])
            elif word.removesuffix("s") in _WEEKDAYS:
                self.dates.add(_KOREAN_DAYS[_WEEKDAYS.index(word.removesuffix("s"))])
            elif word in NUMBER_WORDS:
                after = tokens[i + 1][0] if i + 1 < len(tokens) else ""
                # 한, 두, 세 count only before a counter; 일 is work, 네 is yes.
                if len(word) > 1 or (after and after[0] in _COUNTED and len(after) <= 4):
                    self.numbers.add(NUMBER_WORDS[word])
                    unit = _UNIT_NAMES.get(after, after)
                    if token["latin"] and (unit in _SPACED_UNITS or after in _UNIT_NAMES):
                        self.numbers.add(NUMBER_WORDS[word] + unit)
            if word not in LIGHT or token["latin"]:
                last = word

    def _number(self, token, before, after):
        number = token["number"].replace(",", "")
        unit = token["unit"] or ""
        if unit and not unit.isascii():
            unit = next((known for known in _UNITS if unit.startswith(known)), "")
        unit = "" if unit in ("st", "nd", "rd", "th") else _UNIT_NAMES.get(unit, unit)
        month = _MONTH_NAMES.get(unit) or _MONTH_NAMES.get(before.split()[-1] if before else "")
        if len(number) == 4 and number[:2] in ("19", "20") and (month or not unit):
            self.dates.add(f"{number}년")
        elif month:
            self.dates |= {month, f"{number}일"}
        elif unit in ("년", "월", "일"):
            self.dates.add(number + unit)
        elif unit == "시" or unit in ("am", "pm", "o"):
            self._clock(int(float(number)), 0)
            if unit in ("am", "pm"):
                self.clock.add(unit)
        elif unit == "분" and before.rstrip("에").endswith("시"):
            self._clock(None, int(float(number)))
        else:
            self.numbers.add(number)
            # What is counted: the word after it in English, before it in Korean.
            thing = unit if unit.isascii() and unit and " " in token[0] else before
            self.things.setdefault(thing.rstrip("s"), set()).add(number)
            if unit and (not unit.isascii() or " " not in token[0] or unit in _SPACED_UNITS):
                self.numbers.add(number + unit)

    def _clock(self, hour, minute):
        """A time of day: the hour of twelve, what half of the day if it is told, minutes if there are some."""
        if hour is not None:
            self.clock.add(str(hour % 12))
            if hour > 12:
                self.clock.add("pm")
        if minute:
            self.clock.add(f"{minute}분")

    def all(self) -> set[str]:
        """Numbers, dates, times, and names that hold digits or signs."""
        return {*self.dates, *("clock " + time for time in self.clock), *self.numbers, *self.names}

    def tells_apart(self, other: Facts) -> bool:
        """Whether a name and a number differ at once: another thing, with a number of its own."""
        return self.names != other.names and self.numbers != other.numbers and bool(
            self.names and other.names and self.numbers and other.numbers)

    def is_record(self, other: Facts) -> bool:
        """Whether both tell of a day of their own, with something that happened or was measured on it."""
        if not self.dates or not other.dates or self.dates == other.dates:
            return False
        measured = bool(self.numbers and other.numbers) and self.numbers.isdisjoint(other.numbers)
        return measured or (self.happened and other.happened)


def _names(text):
    """Each name that holds a digit or a sign: v1.2, c++, notes.toml, someone@example.org."""
    for word in _NAME.findall(text):
        word = word.strip(".,:/-").removesuffix("'s") if not word.startswith((".", "/", "~")) else word.rstrip(".,:/-")
        if word.count("/") == 1 and not re.search(r"[0-9_.@\\+#]", word) and word[0] not in "/~":
            continue
        if re.search(r"[a-z]", word) and re.search(r"[0-9_.@/\\+#]", word) and not _MEASURE.fullmatch(word):
            yield word


def _signs(text, written):
    """Each sign, single letter and flag that tells one thing from another."""
    yield from (match[0].strip() for match in _CURRENCY.finditer(text))
    yield from _COMPARED.findall(re.sub(r"->|=>", " ", text))
    yield from (f"{one} > {other}" for one, other in _ARROW.findall(text))
    yield from ("letter " + letter for letter in _LETTER.findall(text))
    if not written.isupper():
        # Words that are none in lower case: US, IT.
        yield from (word.lower() for word in _ACRONYM.findall(written) if word.lower() in _NO_WORDS)
    yield from _FLAG.findall(written)
    yield from (letter for letter in text if letter > "\u2000" and unicodedata.category(letter) == "So")


def _denied(text):
    """What each negation denies: in English the word after it, in Korean the one that carries or follows it."""
    for match in _DENIED.finditer(text):
        found = next(filter(None, match.groups()))
        # 본 is of 보지.
        yield found if found.isascii() else chr(ord(found) - (ord(found) - 0xAC00) % 28)
