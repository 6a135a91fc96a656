"""What must not differ between two items that say the same: numbers, dates, times, negation, who is what.

Everything here reads one text, lower case and NFKC. A word that tells a fact is no content term, nor is one that comes
and goes with the wording (:data:`LIGHT`).
"""

from __future__ import annotations

import re

# Come and go with the wording of a fact. Korean: auxiliary verbs, copulas, bound nouns, words of degree; English: what
# a change of voice or order brings.
LIGHT = frozenset(
    """
    하 하~ 한 되 되~ 된 있 있~ 이다 이 아~ 주~ 주 두~ 놓~ 보 보~ 봐요 봅니 본 본다 봐 것 것~ 게 거 수 때 때~ 때마다 중 뒤
    뒤로 후 나서 나~ 씩 를 을 은 는 가 의 에 도 로 으로 와 과 들 들~ 및 그리고 또 또한 그냥 좀 매우 아주 정말 참 약 쯤
    정도 편 점 식 등 지금 현재 한다 합니 합니다 해요 했다 여 여기~ 여기 생각 판단 믿~ 믿 느끼~ 않 않~ 안 못 못하~ 없 없~
    아니~ 아니 아닌 말~ 지 함 임 됨 있음 없음 더 에요 예요 건
    the a an is are was were be been being am do does did doe has have had having it its this that these those there in on
    at by to of for with from into as and or but so then than you your we our they their he she his her who which will
    would can cannot could should must shall may might not no never nor without also now usual when while if whenev dure
    """.split()
)
_NEGATION = re.compile(
    r"(?<![가-힣])(?:안|못)(?= [가-힣]|[하했해한할되된됐돼])|않|아니|없(?!이 )|없이|말(?=아야|고 |아라|자)|금지|"
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
    r"|(?P<number>\d+(?:[.,]\d+)*)[ ]?(?P<unit>[a-z%°℃]+|[가-힣]+)?"
    r"|(?P<weekday>[월화수목금토일]요일)|(?P<latin>[a-z]+)|(?P<hangul>[가-힣]+)"
)
_UNITS = """
    개월 시간 퍼센트 도씨 킬로그램 킬로미터 킬로 그램 미터 분기 주일 년 월 일 시 분 초 명 개 번 회 원 쪽 층 도 살 대 알 잔 권 장
    배 위 점 주 달 코어 차 판 호 건 곳 평 억 만 천
""".split()
_UNIT_NAMES = dict(
    pair.split("=")
    for pair in "퍼센트=% percent=% pct=% minutes=분 minute=분 min=분 mins=분 hours=시간 hour=시간 hrs=시간 days=day pages=page "
    "gigabytes=gb 회=번 times=번 주일=주".split()
)
_SPACED_UNITS = frozenset("day page % gb mb tb km kg mg ms ml g cm".split())
FACT_WORDS = frozenset(
    [*_UNITS, *_MONTHS, *_WEEKDAYS, *(day + "요" for day in _KOREAN_DAYS)]
    + "januari februari juli 오전 오후 am pm gb mb km kg mg ms".split()
)
# What does not tell two written numbers apart: 1,000 원 and 1000원.
_SPACED_UNIT = re.compile(rf"(?<=\d),(?=\d{{3}})|(?<=\d) (?={'|'.join([*_UNITS, *sorted(_SPACED_UNITS)])})")
_HALF_OF_DAY = {"오전": "am", "오후": "pm", "a.m": "am", "p.m": "pm", "am": "am", "pm": "pm"}
_ROLES = re.compile(
    r"([가-힣a-z0-9_.-]+?)(보다|에게서|에게|한테|까지|부터|[이가]? 아니라| 대신| 말고|(?:하기)? 전에| 후에| 뒤에)"
    r"(?:는|도|만)?(?![가-힣])|\b(than|from|over|instead of)\s+(?:the |an? )?([a-z0-9_.-]+)"
)
# Particles that tell who does what to whom.
_CASE = re.compile(r"([가-힣a-z0-9_.-]+?)(을|를|이|가|은|는|으로|로|에서|에)[.,]?")
_CASE_NAMES = {"를": "을", "가": "이", "는": "은", "으로": "로"}
# Where one side is a word without content, its opposite must not pass for something merely left out.
_OPPOSITES = [
    tuple(map(re.compile, pair))
    for pair in (
        (r"[가-힣]만(?:$| )", r"[가-힣]도(?:$| )"), (r"위(?:에|의|로|쪽)", r"(?:아래|밑)(?:에|의|로|쪽)"),
        (r"앞(?:에|의|으로|쪽)", r"뒤(?:에|의|로|쪽)"), (r"빌려 ?[주준줌줍줬줄]", r"빌[리린림립렸]"),
        (r"\bon\b", r"\boff\b"), (r"\bin\b", r"\bout\b"), (r"\bto\b", r"\bfrom\b"),
        (r"\b(?:must|should|shall)\b", r"\b(?:may|might|can|could)\b"), (r"야 ?[한할합해했된됩]", r"수 ?있"),
        (r"전(?:에|$| )", r"(?:후|뒤|다음)(?:에|$| )|나서"), (r"주었|줬|준다|줍니다", r"받"),
    )
]
_RELATIVE = re.compile(
    r"오늘|어제|그제|내일|모레|방금|이번 ?(?:주|달)|지난 ?(?:주|달)"
    r"|\b(?:today|yesterday|tomorrow|tonight|(?:this|last) (?:week|month|morning|night))\b"
)
# Syllables that end in the ㅆ of a past tense; 있 and 겠 are none.
_PAST_SYLLABLES = "".join(chr(code) for code in range(0xAC00 + 20, 0xD7A4, 28) if chr(code) not in "있겠")
_PAST = re.compile(rf"[{_PAST_SYLLABLES}](?:다|습니다|어요|음)(?![가-힣])|\b[a-z]+ed\b")
_MOVED = re.compile(r"바뀌|바꾸|바꿨|변경|옮|미뤄|미루|연기|앞당|당겨|moved|changed|postponed|delayed|rescheduled|shifted")
_PREPOSITIONS = re.compile(r"\b(?:in|on|at|by|to|of|for|with|from|into|under|over|before|after|near|until|about)\b")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\b")


# A number with all that is glued to it: its unit, particles.
_COUNT = re.compile(r"\d[\d.,:-]*[ ]?(?:" + "|".join(_UNITS) + r")[가-힣]{0,4}(?![가-힣])")


def without_counts(text: str) -> str:
    """A text without its numbers of Korean units; they are facts, and their particles no words."""
    return _COUNT.sub(" ", text)


class Facts:
    """What of an item must not differ in a duplicate."""

    __slots__ = ("clock", "dates", "happened", "is_passive", "is_relative", "negated", "numbers", "parts", "prepositions",
                 "roles", "sides", "things")

    def __init__(self, text: str):
        self.dates: set[str] = set()
        self.clock: set[str] = set()
        self.numbers: set[str] = set()
        negations = len(_NEGATION.findall(text)) - 2 * len(_TWICE.findall(text))
        self.negated = bool(negations % 2) if negations > 0 else False
        self.things: dict[str, set[str]] = {}
        self.prepositions = _PREPOSITIONS.findall(text)
        self.roles: dict[str, set[str]] = {}
        for match in _ROLES.finditer(_SPACED_UNIT.sub("", text)):
            self.roles.setdefault((match[2] or match[3]).strip(), set()).add(match[1] or match[4])
        self.parts = list(_parts(text))
        self.is_relative = _RELATIVE.search(text) is not None
        self.is_passive = _PASSIVE.search(text) is not None
        self.happened = _PAST.search(text) is not None and not _MOVED.search(text)
        self.sides = [(one.search(text) is not None, other.search(text) is not None) for one, other in _OPPOSITES]
        self._read(text)

    def _read(self, text):
        last = ""
        tokens = list(_TOKEN.finditer(text))
        for i, token in enumerate(tokens):
            word = token[0]
            if token["iso"]:
                self.dates.add(word)
            elif token["clock"]:
                self.clock.add(word.lstrip("0"))
            elif token["number"]:
                self._number(token, last, tokens[i + 1][0] if i + 1 < len(tokens) else "")
            elif token["weekday"]:
                self.dates.add(word[0])
            elif word in _HALF_OF_DAY:
                self.clock.add(_HALF_OF_DAY[word])
            elif word in _MONTH_NAMES and word not in ("may", "mar"):
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
        unit = _UNIT_NAMES.get(unit, unit)
        month = _MONTH_NAMES.get(unit) or _MONTH_NAMES.get(before.split()[-1] if before else "")
        if month and len(number) == 4 and number[:2] in ("19", "20"):
            self.dates.add(f"{number}년")
        elif month:
            self.dates |= {month, f"{number}일"}
        elif unit in ("년", "월", "일"):
            self.dates.add(number + unit)
        elif unit == "시" or unit in ("am", "pm", "o"):
            self.clock.add(number)
            if unit in ("am", "pm"):
                self.clock.add(unit)
        elif unit == "분" and before.rstrip("에").endswith("시"):
            self.clock.add(number + unit)
        else:
            self.numbers.add(number)
            # What is counted: the word after it in English, before it in Korean.
            thing = unit if unit.isascii() and unit and " " in token[0] else before
            self.things.setdefault(thing.rstrip("s"), set()).add(number)
            if unit and (not unit.isascii() or " " not in token[0] or unit in _SPACED_UNITS):
                self.numbers.add(number + unit)

    def all(self) -> set[str]:
        """Numbers, dates and times."""
        return {*self.dates, *("clock " + time for time in self.clock), *self.numbers}

    def is_record(self, other: Facts) -> bool:
        """Whether both tell of a day of their own, with something that happened or was measured on it."""
        if not self.dates or not other.dates or self.dates == other.dates:
            return False
        return bool(self.numbers and other.numbers) or (self.happened and other.happened)


def _parts(text):
    """Each noun with a particle, with the bare word before it, and its case: ("결제 서버", "이")."""
    before = ""
    for word in text.split():
        match = _CASE.fullmatch(word)
        if match:
            yield f"{before} {match[1]}".strip(), _CASE_NAMES.get(match[2], match[2])
        before = "" if match else word
