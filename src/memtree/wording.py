"""Other words for the same: spellings, written-out numbers, turns of phrase and everyday synonyms, each made one.

What is rewritten here is only ever compared, never stored. A group of synonyms holds words that change places without
changing a fact; near-synonyms stay apart, as a missed duplicate costs less than a lost fact.
"""

from __future__ import annotations

import re
import unicodedata

_FIRST, _LAST, _CODAS, _L = 0xAC00, 0xD7A3, 28, 8

# Each line is one meaning. Korean as stems, English as words.
_SYNONYMS = """
구매 구입 사
판매 팔
사용 이용 활용 쓰
시작 개시
종료 끝나 끝내
변경 바꾸 바뀌
옮기 이동
설치 깔
삭제 지우
복용 섭취 먹
거주 살
근무 일하
좋아하 좋아 선호
싫어하 싫어
제거 없애
초과 넘
함께 같이 같
항상 늘 언제나 매번 항시
자주 종종
가끔 때때로 이따금
보통 대개 주로 대체로
먼저 우선
모두 전부 모든
매일 날마다
매달 매월 달마다
매년 해마다
요청 부탁
답변 답장 대답
수정 고치
적 기록
휴대폰 핸드폰 휴대전화
이메일 메일 전자우편
엄마 어머니
아빠 아버지
열 열리 개최
닫 닫히
모으 수집
차단 막
올리 업로드
내려받 다운로드
정하 결정
고르 선택
맡 담당
갱신 업데이트
배포 릴리스
회의 미팅
일정 스케줄
도구 툴
폴더 디렉터리
이유 까닭
차 자동차
값 가격
가장 제일
너무 지나치
변경 교체
급여 월급
쉬 휴무
달리 뛰
만들 제작
끄 꺼
달걀 계란
걸리 소요
버리 폐기
도와주 돕
start begin commence
buy purchase
use utilize
fix repair mend
end finish
live reside
big large
fast quick quickly
choose pick select
film movie
bike bicycle
photo photograph
child kid
mother mom mum
father dad
keep store
need require
get receive
help assist
often frequently
delete remove erase
allow permit
forbid ban prohibit
show display
holiday vacation
flat apartment
sofa couch
postpone delay
discard throw
under below beneath
whole entire
ill sick
outdoors outside
tyre tire
think believe
"""

_NATIVE = {word: number for number, word in enumerate(
    "한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두 열세 열네 열다섯 열여섯 열일곱 열여덟 열아홉 스무".split(), 1)}
_NATIVE |= {"석": 3, "넉": 4, "서른": 30, "마흔": 40, "쉰": 50}
_COUNTERS = (
    "시간 시 명 개월 개 번 배 잔 권 대 살 달 주 곡 쪽 마리 채 켤레 벌 끼 통 병 가지 군데 장 층 회 알 줄 바퀴 곳 판 단 묶음 자루 그루 송이 분 사람"
).split()
_COUNT = re.compile(
    rf"(?<![가-힣])({'|'.join(sorted(_NATIVE, key=len, reverse=True))}) ?(?=(?:{'|'.join(_COUNTERS)})(?![가-힣]{{4}}))")
_MYRIADS = re.compile(r"(\d[\d,]*(?:\.\d+)?)(천|만|억)(?: ?(\d[\d,]*)?(천|만))? ?(?=원|명|개|번|km|kg|[^가-힣]|$|[은는이가을를에])")
_SIZES = {"천": 1_000, "만": 10_000, "억": 100_000_000}
_BOUND = "".join(chr(code) for code in range(_FIRST + _L, _LAST + 1, _CODAS))
_ABLE = re.compile(rf"([{_BOUND}]) 수(?:가|는|도)? ?(있|없)")

# Syllables in which a verb before an auxiliary ends: 고쳐, 닦아; particles are none.
_VOWELS = "".join(
    chr(code) for code in range(_FIRST, _LAST + 1, _CODAS)
    if (code - _FIRST) // _CODAS % 21 in (0, 1, 4, 5, 6, 9, 10, 14, 15) and chr(code) not in "에가나라다만과와게께")
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_REWRITES = [(re.compile(pattern), text) for pattern, text in (
    (r"\b(?:basically|simply|actually|really|just|in fact|of course|as we know),? ", ""),
    (r"(?<![가-힣])(?:사실|기본적으로|그냥|정말|진짜|실은),? ", ""),
    (r"(?<=[a-z])/(second|minute|hour|day|week|month|year)\b", r" every \1"),
    (r"\bper (second|minute)\b", r"every \1"),
    (r"\b(it|he|she|that|there|who|what)['’]s\b", r"\1 is"),
    (r"\bprior to\b", "before"),
    (r"\bevery time\b", "whenever"),
    (r"\bmaths\b", "math"),
    (r"(?<![가-힣])첫(?:째| 번째)", "1번째"),
    (r"(?<![가-힣])둘째", "2번째"),
    (r"(?<![가-힣])셋째", "3번째"),
    (r"(?<![가-힣])넷째", "4번째"),
    (r"저희", "우리"),
    (r"(?<!요일 )(아침|저녁|새벽|밤|점심)마다", r"매일 \1"),
    (r"놨", "놓았"),
    (r"(?<=[가-힣])여서(?=[ ,])", "라"),
    (r"(?<![가-힣])(?:땐|때면|때는)(?![가-힣])", "때"),
    (r"(?<![가-힣])다같이", "다 같이"),
    (r"(?<![가-힣])둬", "두어"),
    (r"(?<=[가-힣] )(?:줘|봐)(?=[ 야도서])", "주어"),
    (r"[를을] 타고", "로"),
    (r"(?<=[가-힣]) 시(?=[ ,])", " 때"),
    (r"퍼센트|\bper ?cent\b|\bpct\b", "%"),
    # Words around a number that say no more than "some".
    (r"(?<=[가-힣0-9%])(?: ?(?:쯤|가량)| 정도)(?![가-힣])", ""),
    (r"(?<![가-힣])(?:약|대략) (?=\d)", ""),
    (r"이?기 때문에(?=[ ,]|$)", "서"),
    (r"에 의해서?(?=[ ,]|$)", "이"),
    (r"(?<=[0-9가-힣])에 (?:대해서?|관해서?|대한|관한)(?=[ ,]|$)", ""),
    (r"(?<![가-힣])이제 ", ""),
    (r"\b(e|wi)-(mail|fi)\b", r"\1\2"),
    (r"\btwice\b", "2 times"),
    (r"\bthrice\b", "3 times"),
    (r"\bonce (?=an? |per |every |each )", "1 times "),
    (r"\b(?:12 )?noon\b", "12 pm"),
    (r"\b(?:12 )?midnight\b", "12 am"),
    (r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?= in the (?:morning|afternoon|evening)| o['’]clock| [ap]\.?m)",
     lambda match: str(_HOURS.index(match[1]) + 1)),
    (r"\b(\d{1,2})(?: o['’]clock)? in the morning\b", r"\1 am"),
    (r"\b(\d{1,2})(?: o['’]clock)? in the (?:afternoon|evening)\b", r"\1 pm"),
    (r"\b(\d{1,2})(?::00)? ?([ap])\.?m\b\.?", r"\1 \2m"),
    (r"(?<=\d)(?:st|nd|rd|th)\b(?: of (?=[a-z]))?", " "),
    (r"\b(?:is|are|am) going to\b", "will"),
    (r"영하 ?(?=\d)", "-"),
    (r"영상 ?(?=\d)", ""),
    (r"께서는?(?=[ ,])", "이"),
    (r"(?<=[가-힣])께(?=[ ,])", "에게"),
    (r"(?<![가-힣])걸(?= )", "것을"),
    (r"(?<=[가-힣])걸(?= )", "것을"),
    (r"(?<= )걸로(?= )", "것으로"),
    (r"(?<![가-힣])새 (?=것)", "새"),
    (r"(?<![가-힣])(?:오직|드디어|마침내|이미|벌써|바로) ", ""),
    (r"\b(?:already|finally|still|yet) ", ""),
    # An auxiliary verb may stand apart: 고쳐 달라고.
    (rf"(?<=[{_VOWELS}]) (?=(?:주(?:었|셨|신|는|고|기|지)|줬|줌(?![가-힣])|준다|줍니다|달라고|두(?:었|고|기)|둔다|둡니다|뒀|둠(?![가-힣])"
     r"|놓(?:았|는다|고)|버렸|버린다))", ""),
    # 먹지 않는다 is 안 먹는다.
    (r"([가-힣]+)지(?:는|도|를)? ?않(?:았|았었)(?=[다습어음])", r"안 \1았"),
    (r"([가-힣]+)지(?:는|도|를)? ?못했(?=[다습어음])", r"못 \1았"),
    (r"([가-힣]+)지(?:는|도|를)? ?(?:않는다|않습니다|않아요|않음|않다|않기)", r"안 \1다"),
    (r"([가-힣]+)지(?:는|도|를)? ?(?:못한다|못합니다|못해요|못함|못하다|못하기)", r"못 \1다"),
    (r"\bevery other (day|week|month|year)\b", r"every 2 \1s"),
    (r"\bevery second (day|week|month|year)\b", r"every 2 \1s"),
    (r"\b(?:biweekly|fortnightly|every fortnight)\b", "every 2 weeks"),
    (r"\beach (?=day|week|month|year|morning|evening|night|hour)", "every "),
    (r"\b(?:daily|per day|a day)\b", "every day"),
    (r"\b(?:weekly|per week|a week)\b", "every week"),
    (r"\b(?:monthly|per month|a month)\b", "every month"),
    (r"\b(?:yearly|annually|per year|a year)\b", "every year"),
    (r"\b(?:hourly|per hour|an hour)\b", "every hour"),
    (r"\bnightly\b", "every night"),
    (r"격일(?:로|마다)?(?![가-힣])|하루 걸러|2일마다|이틀에 (?:한|1) ?번", "2일마다"),
    (r"격주(?:로|마다)?(?![가-힣])|2주마다|2주에 (?:한|1) ?번", "2주마다"),
    (r"날마다|하루도 빠짐없이", "매일"),
    (r"주마다(?![가-힣])|(?:일주일|1주)에 (?:한|1) ?번", "매주"),
    (r"달마다(?![가-힣])|(?:한|1) ?달에 (?:한|1) ?번|매월", "매달"),
    # get paid is be paid
    (r"\bgot (?=(?:\w+ly )?\w+(?:ed|en|nt|id|de|pt|ut|ld)\b)", "was "),
    (r"\b(?:gets?|getting|gotten) (?=(?:\w+ly )?\w+(?:ed|en|nt|id|de|pt|ut|ld)\b)", "is "),
    (r"\bcan['’]?t\b|\bcan not\b", "cannot"),
    (r"\bwon['’]t\b", "will not"),
    (r"n['’]t\b", " not"),
    (r"['’](?:re|ve)\b", " have"),
    (r"['’]ll\b", " will"),
)]


def plain_wording(text: str) -> str:
    """A text in lower case and NFKC, with one wording for what is said in several ways.

    Examples
    --------
    >>> plain_wording("회의는 열두 시간쯤 걸렸고 250만 원이 들었다")
    '회의는 12시간 걸렸고 2500000원이 들었다'
    >>> plain_wording("an e-mail is sent twice a day at noon")
    'an email is sent 2 times every day at 12 pm'
    """
    text = _plain_letters(text)
    text = _COUNT.sub(lambda match: str(_NATIVE[match[1]]), text)
    for pattern, wording in _REWRITES:
        text = pattern.sub(wording, text)
    text = _MYRIADS.sub(_written_out, text)
    return _ABLE.sub(lambda match: f"{_stem(match[1])} 수 {match[2]}", text)


def _plain_letters(text):
    """Latin letters without their accents: café and cafe are one."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", letter)[0] if "\u00c0" <= letter <= "\u024f" else letter
                   for letter in text)


def _written_out(match):
    total = float(match[1].replace(",", "")) * _SIZES[match[2]]
    if match[4]:
        total += float((match[3] or "1").replace(",", "")) * _SIZES[match[4]]
    return f"{total:.0f}"


def _stem(syllable):
    """A verb's last syllable before 수: 쓸 수 -> 쓰 수, 먹을 수 -> 먹기 수."""
    return "기" if syllable == "을" else chr(ord(syllable) - _L)


def _canonical():
    from memtree.analysis import tokens

    found = {}
    for line in _SYNONYMS.strip().split("\n"):
        words = [next(iter(tokens(word, query=True).s), word) if word.isascii() else word for word in line.split()]
        found.update(dict.fromkeys(words[1:], words[0]))
    return found


_canonical_terms: dict[str, str] = {}


def canonical(term: str) -> str:
    """One term for all that mean the same; British and American spellings are one."""
    if not _canonical_terms:
        _canonical_terms.update(_canonical())
    if term.isascii() and len(term) > 3:
        if len(term) > 5:
            term = term.replace("our", "or")
        for ending, other in (("tre", "ter"), ("tr", "ter"), ("is", "iz"), ("yse", "yze"), ("ogu", "og")):
            if term.endswith(ending):
                term = term.removesuffix(ending) + other
                break
    return _canonical_terms.get(term, term)
