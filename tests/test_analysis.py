"""What the text analysis gives and finds: the examples of its specification, Korean cases, field cases."""

import csv
import unicodedata
from pathlib import Path

import pytest
from oracle.ranking import Ranking

from memtree import analysis

CASES = Path(__file__).parent / "data" / "korean_cases_dev.tsv"


def ranking(*texts: str) -> Ranking:
    return Ranking(list(texts), analysis.tokens)


def once(terms: list[str]) -> list[str]:
    """Terms without the doubling of the best stem."""
    return [term for i, term in enumerate(terms) if i == 0 or terms[i - 1] != term]


# ------------------------------------------------------------------------------------------- normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＢＭ２５", "bm25"),
        ("용어가 3,452개", "용어가 3452개"),
        ("1,234,567원", "1234567원"),
        ("1,2345 12,34", "1,2345 12,34"),
        ("메세지와 컨텐츠", "메시지와 콘텐츠"),
        ("컨셉트", "콘셉트"),
        ("얘기", "이야기"),
        ("Straße CAFÉ", "straße café"),
        ("", ""),
    ],
)
def test_normalize(text, expected):
    assert analysis.normalize(text) == expected
    assert analysis.normalize(unicodedata.normalize("NFD", text)) == expected


# ---------------------------------------------------------------------------------------------- stems


@pytest.mark.parametrize(
    ("run", "best"),
    [
        ("가치관이", "가치관"),
        ("배포했습니다", "배포"),
        ("보냈다", "보내~"),
        ("도와줘서", "도우~"),
        ("돕는다", "도우~"),
        ("몰랐다", "모르~"),
        ("모르면", "모르~"),
        ("지어야", "지~"),
        ("예뻤다", "예쁘~"),
        ("깨달았다", "깨다~"),
        ("사용하다", "사용"),
        ("승인하셨습니다", "승인"),
        ("개선시켰다", "개선"),
    ],
)
def test_best_stem(run, best):
    assert analysis.stem(run)[0][0] == best


@pytest.mark.parametrize(
    ("run", "full"),
    [
        ("여름엔", "여름에는"),
        ("루씬에선", "루씬에서는"),
        ("동생한텐", "동생한테"),
        ("내일까진", "내일까지는"),
        ("어제보단", "어제보다는"),
    ],
)
def test_contracted_particles(run, full):
    assert analysis.tokens(run).b == analysis.tokens(full).b
    assert analysis.stem("가치관")[0][0] == "가치관"
    assert analysis.tokens("100엔").s == ["100", "엔"]


def test_stems_are_a_distribution_best_first():
    for run in ("산다", "가지고", "프로젝트에서는", "뷁", "있었다"):
        posteriors = [posterior for _, posterior in analysis.stem(run)]
        assert sum(posteriors) == pytest.approx(1)
        assert posteriors == sorted(posteriors, reverse=True)


def test_support_turns_a_reading():
    """The static reading of 아버지 is a predicate; other words of the index know better."""
    assert analysis.stem("아버지")[0][0] == "아브~"
    support = analysis.Support()
    support.learn({"아버지가": 3, "아버지는": 2, "아버지": 1})
    assert analysis.stem("아버지", support=support)[0][0] == "아버지"
    assert "아버지" in analysis.tokens("아버지", support=support).s
    assert analysis.tokens("아버지", support=support).b == ["아버", "버지"]


def test_a_word_is_no_support_for_itself():
    support = analysis.Support()
    support.learn({"아버지": 100})
    assert dict(analysis.stem("아버지", support=support)) == pytest.approx(dict(analysis.stem("아버지")))


def test_support_by_steps_equals_support_at_once():
    counts = {"회의가": 4, "회의는": 9, "배포했다": 2, "배포를": 1}
    at_once, by_steps = analysis.Support(), analysis.Support()
    at_once.learn(counts)
    by_steps.learn({"회의가": 1, "배포했다": 5, "점심을": 3})
    by_steps.update("회의가", 1, 4)
    by_steps.update("배포했다", 5, 2)
    by_steps.update("점심을", 3, 0)
    by_steps.learn({"회의는": 9, "배포를": 1})
    for run in ("회의도", "배포하고", "점심은", "회의가"):
        one, other = analysis.stem(run, support=at_once), analysis.stem(run, support=by_steps)
        assert [term for term, _ in one] == [term for term, _ in other]
        assert [p for _, p in one] == pytest.approx([p for _, p in other])


# ---------------------------------------------------------------------------------------------- tokens


@pytest.mark.parametrize(
    ("text", "s", "b"),
    [
        ("가치관이", "가치관", "가치 치관"),
        ("프로젝트에서는", "프로젝트", "프로 로젝 젝트"),
        ("배포했습니다", "배포", "배포"),
        ("저장해놓고", "저장", "저장"),
        ("보냈다", "보내~", "보내~"),
        ("만들어두었다", "만드~", "만드~"),
        ("도와줘서", "도우~ 도와줘서", "도우~"),
        ("돕는다", "도우~ 돕는다", "도우~"),
        ("빨라졌다", "빠르~", "빠르~"),
        ("읽으신다", "읽~ 읽으신다", "읽~"),
        ("산다", "사~ 산다 살~", "사~"),
        ("회의는", "회의 회의~", "회의"),
        ("예쁜", "예쁜 예쁘~", "예쁜"),
        ("가지고", "가지~ 가~ 가지고", "가지~"),
        ("나뭇가지를", "나뭇가지 나뭇가지를", "나뭇 뭇가 가지"),
        ("아버지", "아브~ 아버지", "아브~"),
        ("12월 2일", "12 월 우~ 2 일", "12 월 2 일"),
        ("3,452개", "3452 개", "3452 개"),
        ("BM25로", "bm25 bm 25", "bm25"),
        ("deploy했다", "deploy", "deploy"),
    ],
)
def test_terms_of_a_document(text, s, b):
    terms = analysis.tokens(text)
    assert once(terms.s) == s.split()
    assert terms.b == b.split()


@pytest.mark.parametrize(
    ("text", "s", "b"),
    [
        ("가치관이 뭐야?", "가치관 가치관이", "가치 치관"),
        ("백업은 어디에 있어?", "백업 백업은", "백업"),
        ("회의가 언제였지?", "회의 회의가", "회의"),
        ("what are the rules", "rule", "rule"),
    ],
)
def test_terms_of_a_query(text, s, b):
    terms = analysis.tokens(text, query=True)
    assert terms.s == s.split()
    assert terms.b == b.split()
    assert len(terms.weights) == len(terms.s)
    assert sum(terms.weights) == pytest.approx(1)


def test_tokens_are_a_pair_of_lists():
    s, b = analysis.tokens("서버가 내려갔다")
    assert isinstance(s, list)
    assert s == analysis.tokens("서버가 내려갔다").s
    assert b == analysis.tokens("서버가 내려갔다").b


def test_each_word_of_a_query_weighs_one():
    terms = analysis.tokens("예쁜 나뭇가지를 산다", query=True)
    assert sum(terms.weights) == pytest.approx(3)


@pytest.mark.parametrize("query", ["뭐야", "언제였지?", "그게 뭐였더라?", "what is it", "to be or not to be", "don't"])
def test_stop_words_stay_when_nothing_else_is_left(query):
    assert analysis.tokens(query, query=True).s


def test_a_note_of_only_stop_words_is_found():
    assert analysis.tokens("to be or not to be").s
    assert ranking("to be or not to be", "회의 기록").hits("to be or not to be") == ["to be or not to be"]
    assert "the" not in analysis.tokens("the rules of the house").s


def test_hangul_after_latin_is_never_a_stop_word():
    assert "그거" in analysis.tokens("API그거 알려줘", query=True).s


def test_latin_before_hangul_is_no_english_stop_word():
    notes = ranking("IT팀에 노트북을 신청했다.", "총무팀에 의자를 신청했다.", "B사와 계약했다.", "A사와 계약했다.")
    assert notes.hits("IT팀 신청")[0] == "IT팀에 노트북을 신청했다."
    assert notes.hits("A사 계약")[0] == "A사와 계약했다."


def test_english_forms_meet():
    assert analysis.tokens("went").s == analysis.tokens("going").s == ["go"]
    assert analysis.tokens("children").s == analysis.tokens("child").s
    assert analysis.tokens("running").s == analysis.tokens("ran").s


def test_other_scripts():
    assert analysis.tokens("日本語").b == ["日", "本", "語", "日本", "本語"]
    assert analysis.tokens("日本語", query=True).b == ["日本", "本語"]
    assert analysis.tokens("水", query=True).b == ["水"]
    assert analysis.tokens("カレー").b == ["カレ", "レー"]
    assert analysis.tokens("Привет").s == ["привет"]
    assert analysis.tokens("ΟΔΟΣ").s == analysis.tokens("οδος").s
    assert analysis.tokens("नमस्ते").s == ["नमस्ते"]
    assert analysis.tokens("ㅋㅋ 😀 — !").s == []
    assert analysis.tokens("Acme社").s == ["acm", "社"]


def test_runs_over_64_syllables_give_bigrams_only():
    terms = analysis.tokens("가나" * 40)
    assert terms.s == []
    assert len(terms.b) == 79


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("size_watch.py", {"size_watch.py", "size", "watch", "py"}),
        ("src/size_watch.py", {"src/size_watch.py", "size_watch.py", "src", "size", "watch"}),
        ("memory/2026-12-02.md", {"memory/2026-12-02.md", "2026-12-02.md", "2026", "12", "02", "md"}),
        ("OvertimeService", {"overtimeservic", "overtim", "servic"}),
        ("parseHTMLResponse", {"pars", "html", "respons"}),
        ("APIs", {"api"}),
        ("v2.1.0", {"2.1.0"}),
        ("2.1.0-beta", {"2.1.0-beta", "2.1.0", "beta"}),
        ("/etc/hosts", {"etc/hosts", "host"}),
        ("config.toml에서", {"config.toml", "config", "toml"}),
    ],
)
def test_identifiers_versions_and_paths(text, terms):
    assert terms <= set(analysis.tokens(text).s)
    assert all(not term.startswith("에서") for term in analysis.tokens(text).s)


# --------------------------------------------------------------------------------------- Korean cases


def korean_cases() -> list[dict[str, str]]:
    with open(CASES, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def case_rankings():
    """All texts of the file under the static analysis and under support learned from all of them."""
    rows = korean_cases()
    texts = [row[name] for name in ("must_match_text", "must_not_match_text") for row in rows if row[name]]
    counts: dict[str, int] = {}
    for text in texts:
        for word in "".join(ch if "가" <= ch <= "힣" else " " for ch in analysis.normalize(text)).split():
            counts[word] = counts.get(word, 0) + 1
    support = analysis.Support()
    support.learn(counts)
    return {
        "static": Ranking(texts, analysis.tokens),
        "support": Ranking(texts, lambda text, query: analysis.tokens(text, query, support)),
    }


@pytest.mark.parametrize("mode", ["static", "support"])
@pytest.mark.parametrize("case", korean_cases(), ids=lambda case: case["query"])
def test_korean_case(case, mode, case_rankings):
    found = case_rankings[mode].hits(case["query"])
    assert case["must_match_text"] in found[:3]
    if case["must_not_match_text"] in found:
        assert found.index(case["must_match_text"]) < found.index(case["must_not_match_text"])


# ---------------------------------------------------------------------------------------- field cases


@pytest.mark.parametrize(
    ("query", "note"),
    [("학교", "학교에 갔다"), *[(q, "认证系统使用JWT令牌") for q in ("认证", "令牌", "jwt", "用")]],
)
def test_t1_mixed_scripts(query, note):
    assert ranking("학교에 갔다", "认证系统使用JWT令牌").hits(query) == [note]


def test_t4_identifiers():
    far = "We work overtime on Fridays. The coffee machine is broken, and nobody called the service."
    code = "배포하기 전에 `OvertimeService` 클래스를 먼저 고쳐야 한다. " + "로그를 정리하고 설정을 다시 읽었다. " * 12
    notes = ranking(far, "parseHTMLResponse 수정", "get_user_by_id 호출", code)
    for query in ("OvertimeService", "overtimeservice", "OVERTIMESERVICE"):
        assert notes.hits(query)[0] == code
    assert code in notes.hits("overtime")
    assert notes.hits("user_by") == ["get_user_by_id 호출"]
    assert notes.hits("html response") == ["parseHTMLResponse 수정"]


@pytest.mark.parametrize("query", ["6.2.8", "v6.2.8", "V6.2.8"])
def test_t5_versions(query):
    assert ranking("v6.2.4 배포", "v6.2.8 배포").hits(query)[0] == "v6.2.8 배포"
    assert ranking("6.2.4 배포", "6.2.8 배포").hits(query)[0] == "6.2.8 배포"


def test_t5_a_version_that_no_note_has():
    assert ranking("v6.2.8 배포").hits("ubuntu 20.04") == []


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("multi-agent", "multi agent"),
        ("don't", "don t"),
        ("@nasa", "nasa"),
        ("50%", "50"),
        ("key:value", "key value"),
        ("예산이 얼마야, 대략?", "예산이 얼마야 대략"),
        ("-x", "x"),
        ('"예산"', "예산"),
        ("예산*", "예산"),
        ("AND", "and"),
    ],
)
def test_t6_punctuation_is_plain_text(query, plain):
    assert analysis.tokens(query, query=True) == analysis.tokens(plain, query=True)
    assert analysis.tokens(query) == analysis.tokens(plain)


@pytest.mark.parametrize("query", ["(", "*", '"', "", " ", "?!", "\x00", "ㄱ"])
def test_t6_a_query_without_words_is_empty(query):
    terms = analysis.tokens(query, query=True)
    assert (terms.s, terms.b, terms.weights) == ([], [], [])


def test_t7_full_width():
    notes = ranking("ＢＭ２５ 점수 １０점", "다른 이야기", "bm 25")
    assert notes.hits("BM25")[0] == notes.hits("ｂｍ２５")[0] == "ＢＭ２５ 점수 １０점"
    assert notes.scores("BM25") == notes.scores("ｂｍ２５")
    assert notes.scores("10점") == notes.scores("１０점")


@pytest.mark.parametrize("word", ["가치관", "é", "café", "배포했다"])
def test_t9_composed_and_decomposed(word):
    forms = [unicodedata.normalize(form, word) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert all(analysis.tokens(form) == analysis.tokens(word) for form in forms)
    assert all(ranking(form, "회의").hits(other) == [form] for form in forms for other in forms)
