"""The compiled analysis agrees with the plain Python model on text of all scripts."""

import random
import struct
import unicodedata
from array import array
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import text as oracle

from memtree import analysis
from memtree._lexicon import Lexicon
from memtree._text import PrefixTrie
from memtree.errors import MemtreeError

# ------------------------------------------------------------------------------------- random text

SYLLABLES = st.integers(0xAC00, 0xD7A3).map(chr)
ENDINGS = sorted(set(oracle.TABLES.noun) | {s for s in oracle.TABLES.predicate if s[0] not in oracle.FINALS})


def words(text: str) -> list[str]:
    return text.split()


STEMS = words(
    "가치관 배포 회의 보내 만들 도우 도와 지 듣 예쁘 빨라 몰라 놓 바꾸 저장해놓 읽으시 승인하셔 완료되어버려"
    " 돼 해 깨닫 렇 자연스럽 향기롭 그래 어때 꾸 배포하 완료되 개선시키 고려해 비난당하"
)
LETTERS = (
    "하되해돼시키받당하었겠다는은이가을를에서로고지면요니까게기도만라러아어오우보주"
    "놓두내버리드르으셔스럽롭있안신줘봐져월일인"
)


@st.composite
def closed_endings(draw):
    """A stem whose last syllable is closed by the first letter of an ending (보낸, 했다)."""
    stem = draw(st.sampled_from(STEMS))
    suffix = draw(st.sampled_from(sorted(s for s in oracle.TABLES.predicate if s[0] in oracle.FINALS)))
    if oracle.final(stem[-1]):
        return stem + suffix[1:]
    return stem[:-1] + oracle.with_final(stem[-1], suffix[0]) + suffix[1:]


HANGUL_RUNS = st.one_of(
    st.text(SYLLABLES, min_size=1, max_size=8),
    st.text(st.sampled_from(LETTERS), min_size=1, max_size=8),
    st.tuples(st.sampled_from(STEMS), st.sampled_from(ENDINGS)).map("".join),
    closed_endings(),
    st.sampled_from(sorted(oracle.TABLES.stop) + sorted(oracle.TABLES.variants)),
)
PIECES = st.one_of(
    HANGUL_RUNS,
    st.text(SYLLABLES, min_size=60, max_size=70),
    st.sampled_from(
        words(
            "café cafe\u0301 ΟΔΟΣ İstanbul straße नमस्ते 1\ufe0f\u20e3 ㅋㅋ ㄱㅏ ㅎㅏㄴ 認証 水 日本語の"
            " カタカナー ｶﾞ ﬁle ½ ① Ⅳ א ไทย 한 일 할 수 v2.1.0 V3.4 get_user __init__ a/b-c.py C:\\x 1,234"
            " ３，４５６ Привет 😀 👍🏽 𝕏 𠮷 the is IT went children BM25 bm25okapi parseHTMLResponse APIs"
            " GitHub OvertimeService 2026-12-02 24/7 2.1.0-beta.1 e.g. U.S. don't multi-agent 3일 5만 30분"
        )
    ),
    st.sampled_from([" ", " ", " ", "  ", "\n", "_", "-", ".", "/", "\\", ",", "'", "%", "\u00a0", "\u200b"]),
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.text(st.sampled_from("abzABZ019_./-"), max_size=12),
)
TEXTS = st.lists(PIECES, max_size=10).map("".join)


# The model is slow on long runs, and machines differ: no deadlines.
EXACT = settings(max_examples=300, deadline=None)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def same_weights(one, other):
    assert [term for term, _ in one] == [term for term, _ in other]
    assert [weight for _, weight in one] == pytest.approx([weight for _, weight in other], rel=1e-6)


# ------------------------------------------------------------------------------------------ analysis


@given(TEXTS)
@EXACT
def test_normalize(text):
    assert analysis.normalize(text) == oracle.normalize(text)


@given(HANGUL_RUNS)
@EXACT
def test_stem(run):
    same_weights(analysis.stem(run), oracle.stem(run))


@pytest.mark.parametrize(
    "stem", ["배포", "배포하", "완료되", "개선시키", "도우", "보내", "저장해놓", "읽으시", "사", "있"]
)
def test_every_suffix(stem):
    for suffix in sorted({*oracle.TABLES.noun, *oracle.TABLES.predicate, *oracle.TABLES.derived}):
        run = stem + suffix
        if suffix and suffix[0] in oracle.FINALS:
            run = stem[:-1] + oracle.with_final(stem[-1], suffix[0]) + suffix[1:]
        same_weights(analysis.stem(run), oracle.stem(run))


@given(TEXTS)
@EXACT
def test_document_terms(text):
    found, expected = analysis.tokens(text), oracle.tokens(text)
    assert Counter(found.s) == Counter(expected.s)
    assert found.b == expected.b


@given(TEXTS)
@EXACT
def test_query_terms(text):
    found, expected = analysis.tokens(text, query=True), oracle.tokens(text, query=True)
    same_weights(list(zip(found.s, found.weights, strict=True)), list(zip(expected.s, expected.weights, strict=True)))
    assert found.b == expected.b


COUNTS = st.dictionaries(HANGUL_RUNS, st.integers(1, 20), max_size=8)


@given(COUNTS, HANGUL_RUNS, TEXTS)
@SLOW
def test_with_support(counts, run, text):
    found, expected = analysis.Support(), oracle.Support()
    found.learn(counts)
    expected.learn(counts)
    for word in (run, *counts):
        same_weights(analysis.stem(word, support=found), oracle.stem(word, expected))
        assert Counter(analysis.tokens(word, support=found).s) == Counter(oracle.tokens(word, support=expected).s)
    found_terms = analysis.tokens(text, query=True, support=found)
    expected_terms = oracle.tokens(text, query=True, support=expected)
    assert found_terms.s == expected_terms.s
    assert found_terms.weights == pytest.approx(expected_terms.weights, rel=1e-6)
    assert found_terms.b == expected_terms.b


# ------------------------------------------------------------------------------------------- lexicon


class Built:
    """A Lexicon over texts, and what the model says of the same texts."""

    def __init__(self, texts, lexicon=None):
        self.texts = texts
        self.lexicon = lexicon or Lexicon()
        self.rows = [self.lexicon.scan(text) for text in texts]
        counts = array("I", bytes(4 * self.lexicon.n_surfaces))
        for row in self.rows:
            for surface in row:
                counts[surface] += 1
        self.lexicon.analyse(counts)
        learned = Counter()
        for text in texts:
            learned.update(oracle.surfaces(text))
        self.support = oracle.Support(learned)

    def documents(self, lexicon=None):
        """(s, b) terms of each text as the lexicon expands them."""
        lexicon = lexicon or self.lexicon
        starts, surfaces = array("q", [0]), array("I")
        for row in self.rows:
            surfaces.extend(row)
            starts.append(len(surfaces))
        starts, columns = lexicon.expand(starts, surfaces)
        found = []
        for i in range(len(self.texts)):
            row = list(columns[starts[i] : starts[i + 1]])
            found.append(
                (
                    Counter(lexicon.term(column) for column in row if column < lexicon.n_s),
                    Counter(lexicon.term(column) for column in row if column >= lexicon.n_s),
                )
            )
        return found


def query_of(lexicon, text):
    """[(term, field, weight)] as the kernel gets them, by column; -1 terms left out."""
    return [
        (lexicon.term(column), field, weight) for column, field, weight, _ in lexicon.query(text).columns if column >= 0
    ]


SEVERAL = st.lists(TEXTS, min_size=1, max_size=5)


@given(SEVERAL, TEXTS)
@SLOW
def test_lexicon_agrees_with_the_model(texts, query):
    built = Built(texts)
    expected = [oracle.tokens(text, support=built.support) for text in texts]
    assert built.documents() == [(Counter(terms.s), Counter(terms.b)) for terms in expected]
    for text in (query, *texts):
        terms = oracle.tokens(text, True, built.support)
        found = built.lexicon.query(text)
        s = [(term, weight) for term, field, weight, _ in found.terms if field == 0]
        same_weights(s, list(zip(terms.s, terms.weights, strict=True)))
        assert [term for term, field, _, _ in found.terms if field == 1] == terms.b
        known = {term for document in expected for term in document.s}, {t for d in expected for t in d.b}
        wanted = [(term, field) for term, field, _, _ in found.terms if term in known[field]]
        assert [(term, field) for term, field, _ in query_of(built.lexicon, text) if term in known[field]] == wanted


@given(SEVERAL, SEVERAL, TEXTS)
@SLOW
def test_lexicon_by_steps_equals_fresh(first, second, query):
    grown = Built(first + second, Built(first).lexicon)
    fresh = Built(first + second)
    assert grown.documents() == fresh.documents()
    same = [(t, f, pytest.approx(w, rel=1e-6)) for t, f, w in query_of(fresh.lexicon, query)]
    assert query_of(grown.lexicon, query) == same


@given(SEVERAL, TEXTS)
@SLOW
def test_lexicon_from_its_parts(texts, query):
    built = Built(texts)
    mapped = Lexicon.from_parts({name: bytes(data) for name, data in built.lexicon.to_parts("x.").items()}, "x.")
    for text in (query, *texts):
        assert query_of(mapped, text) == query_of(built.lexicon, text)
        assert mapped.query(text).key == built.lexicon.query(text).key
        assert mapped.best(text) == built.lexicon.best(text)
    again = Built([*texts, query], mapped)
    assert again.documents() == Built([*texts, query]).documents()


def test_lexicon_of_many_words():
    """Four thousand made-up Korean words in one index: hypothesis alone meets too few of the rare rules."""
    rng = random.Random(3)
    suffixes = sorted(oracle.TABLES.predicate) + ENDINGS
    texts = []
    for _ in range(4000):
        stem = rng.choice(STEMS) if rng.random() < 0.6 else "".join(rng.choices(LETTERS, k=rng.randint(1, 4)))
        suffix = rng.choice(suffixes)
        if suffix and suffix[0] in oracle.FINALS:
            stem = stem[:-1] + oracle.with_final(stem[-1], suffix[0])
            suffix = suffix[1:]
        texts.append(stem + suffix)
    built = Built(texts)
    for text, found in zip(texts, built.documents(), strict=True):
        expected = oracle.tokens(text, support=built.support)
        assert found == (Counter(expected.s), Counter(expected.b)), text


def test_lexicon_columns_and_terms():
    lexicon = Built(["가치관이 바뀌었다.", "회의는 세 시"]).lexicon
    assert lexicon.field_starts == (0, lexicon.n_s, lexicon.n_s + lexicon.n_b)
    for column in range(lexicon.n_s + lexicon.n_b):
        field = 0 if column < lexicon.n_s else 1
        assert lexicon.column(field, lexicon.term(column)) == column
    assert lexicon.column(0, "없는말") == -1
    with pytest.raises(IndexError):
        lexicon.term(lexicon.n_s + lexicon.n_b)


def test_query_words_point_into_the_original_text():
    lexicon = Built(["가치관이 바뀌었다."]).lexicon
    for form in ("NFC", "NFD"):
        query = lexicon.query(unicodedata.normalize(form, "  내 가치관이 ３,４５２개?"))
        assert [unicodedata.normalize("NFKC", word) for word, _ in query.words][0] == "가치관이"
    assert lexicon.query("회의는 배포").key == lexicon.query("배포를 회의가").key
    assert lexicon.query("회의 3시").key != lexicon.query("회의 4시").key


def test_keywords_get_columns():
    lexicon = Lexicon()
    row = lexicon.scan("회의 기록")
    counts = array("I", bytes(4 * lexicon.n_surfaces))
    for surface in row:
        counts[surface] += 1
    lexicon.analyse(counts, ["가치관"])
    assert lexicon.best("가치관을") == [("가치관", lexicon.column(0, "가치관"))]
    assert lexicon.column(0, "가치관") >= 0


def test_broken_bytes_never_crash():
    """Flipped, cut and random bytes give an error or some answer, never a crash."""
    parts = Built(["가치관이 바뀌었다. size_watch.py 수정", "회의는 세 시 BM25", "할 일 목록"]).lexicon.to_parts("")
    rng = random.Random(7)
    for _ in range(400):
        broken = {name: bytearray(data) for name, data in parts.items()}
        for _ in range(rng.randint(1, 4)):
            name = rng.choice(sorted(broken))
            data = broken[name]
            if rng.random() < 0.2:
                del data[rng.randint(0, len(data)) :]
            elif len(data) >= 8 and rng.random() < 0.5:
                at = rng.randrange(len(data) // 8) * 8
                data[at : at + 8] = struct.pack("<Q", rng.choice([0, 1, 2**31, 2**32 - 1, 2**63, rng.getrandbits(64)]))
            elif data:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            lexicon = Lexicon.from_parts({name: bytes(data) for name, data in broken.items()})
            lexicon.query("가치관이 뭐야 size_watch 회의 할 일")
            lexicon.best("회의 BM25 목록")
            for column in range(min(50, lexicon.n_s + lexicon.n_b)):
                lexicon.term(column)
            lexicon.scan("가치관이 바뀌었다. 새로운 문서")
        except (MemtreeError, ValueError, IndexError, UnicodeDecodeError, MemoryError):
            pass


# ------------------------------------------------------------------------------------- mode "prefix"


@EXACT
@given(st.lists(st.text("가나다abc", max_size=4), max_size=12), st.text("가나다abcd", max_size=8))
def test_prefix_trie(keywords, token):
    assert PrefixTrie(keywords).first(token) == oracle.first_keyword(token, keywords)
