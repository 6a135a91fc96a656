"""Grammar of retain items: log bullets, stored bullets, what is reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.items import Item, Malformed, parse_item, parse_log, parse_stored

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=12)
TEXTS = st.lists(WORDS | st.sampled_from(["(2026-03-02)", "~~", "(undated)", "- W:", "; seen", "회의는", "3시", "(c=0.5)", ":"]),
                 min_size=1, max_size=8).map(" ".join)
DAYS = st.dates().map(lambda day: day.isoformat())
SIGHTINGS = st.tuples(DAYS, st.sampled_from(["", " by hand", " 회의록.md"])).map("".join)
ITEMS = st.builds(
    lambda tag, text, entity, confidence, **rest: Item(tag, text, entity, confidence if tag == "O" else "", **rest),
    st.sampled_from("WBOS"),
    TEXTS,
    TEXTS.filter(lambda entity: ":" not in entity) | st.just(""),
    st.decimals(0, 1, places=2).map(str) | st.just(""),
    date=DAYS | st.just(""),
    seen=st.lists(SIGHTINGS, max_size=3).map(tuple),
    superseded=DAYS | st.just(""),
)


@given(ITEMS)
def test_stored_form_parses_back(item):
    assert parse_stored(item.stored()) == item
    assert parse_stored(item.stored() + "\r\n") == item


@given(st.lists(ITEMS, max_size=5), DAYS)
def test_log_form_parses_back(items, day):
    wanted = [item.changed(date=day, seen=(), superseded="") for item in items]
    text = "# 하루\n\n- 그냥 메모\n\n## Retain\n\n" + "\n".join(item.line() for item in wanted) + "\n\n## 끝\n- 또 메모\n"
    found, problems = parse_log(text, day)
    assert [item for _, item in found] == wanted
    assert [line for line, _ in found] == list(range(7, 7 + len(wanted)))
    assert problems == []


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text):
    parse_log("## Retain\n" + text)
    parse_stored(text)


def test_log_with_all_tags_crlf_and_bom():
    text = ("\ufeff# 2026-03-02\r\n\r\n## Retain\r\n\r\n- W @도구: ripgrep은 15.1로 올렸다\r\n* B: 아침마다 걷는다\r\n"
            "- O(c=0.85) @재택: 집중이\r\n  더 잘 된다\r\n- S: 정직이 먼저다\r\n")
    found, problems = parse_log(text, "2026-03-02")
    assert problems == []
    assert [(item.tag, item.entity, item.confidence, item.text) for _, item in found] == [
        ("W", "도구", "", "ripgrep은 15.1로 올렸다"),
        ("B", "", "", "아침마다 걷는다"),
        ("O", "재택", "0.85", "집중이 더 잘 된다"),
        ("S", "", "", "정직이 먼저다"),
    ]
    assert {item.date for _, item in found} == {"2026-03-02"}


def test_malformed_lines_are_reported_with_their_line_and_the_rest_goes_on():
    found, problems = parse_log("## Retain\n- X @a: 모르는 표\n- W @도구: 좋다\n- O(c=2) @b: 지나치다\n- 표가 없다\n그냥 문단\n- W @: 비었다\n- S:\n"
                                "- W(c=0.5): 확신\n")
    assert [item.text for _, item in found] == ["좋다"]
    assert [line for line, _ in problems] == [2, 4, 5, 6, 7, 8, 9]
    messages = dict(problems)
    assert "unknown tag 'X'" in messages[2]
    assert "(c=2)" in messages[4]
    assert "W @entity: text" in messages[5]


def test_code_comments_and_other_sections_hold_no_items():
    text = ("- W: 앞\n## Retain\n```\n- W: 코드\n# 제목 아님\n```\n<!--\n- W: 주석\n-->\n- W: 하나\n### 덧붙임\n- W: 둘\n## 다른 절\n- W: 뒤\n"
            "## retain ##\n- W: 셋\n")
    found, problems = parse_log(text)
    assert [item.text for _, item in found] == ["하나", "둘", "셋"]
    assert problems == []


def test_stored_form_reads_well():
    item = Item("O", "집중이 더 잘 된다.", "재택", "0.85", "2026-03-02", ("2026-03-09", "2026-04-01 by hand"))
    assert item.stored() == "- O(c=0.85) @재택: 집중이 더 잘 된다. (2026-03-02; seen 2026-03-09, 2026-04-01 by hand)"
    old = Item("W", "회의는 3시", "회의", date="2026-03-02", superseded="2026-03-05")
    assert old.stored() == "- ~~W @회의: 회의는 3시~~ (2026-03-02; superseded 2026-03-05)"


@pytest.mark.parametrize("line", ["- 그냥 목록", "문단", "- X: 표", "", "- Warning: 아니다", "# W: 제목"])
def test_other_lines_of_a_bank_file_are_no_items(line):
    assert parse_stored(line) is None


def test_a_huge_item_is_refused():
    with pytest.raises(Malformed, match="20,003 characters"):
        parse_item("W: " + "가" * 20_000)


@pytest.mark.parametrize("heading", ["## Retain", "# RETAIN", "## Retain:", "## Retain (오늘)", "### retain - 저녁 ##", "Retain\n------", "Retain\n==="])
def test_headings_that_mean_retain(heading):
    items, problems = parse_log(f"말\n\n{heading}\n\n- S: 정직이 먼저다\n\n## 다음\n- W: 아니다\n", "2026-03-02")
    assert [item.text for _, item in items] == ["정직이 먼저다"] + (["아니다"] if heading[-1] == "=" or heading[:2] == "# " else [])
    assert problems == []


@pytest.mark.parametrize("heading", ["## Retained", "Retain", "- Retain\n---", "## Do not retain"])
def test_headings_that_do_not(heading):
    assert parse_log(f"말\n\n{heading}\n\n- S: 정직이 먼저다\n", "2026-03-02") == ([], [])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end(end):
    items, _ = parse_log(end.join(["# 3월", "## Retain", "- S: 정직이 먼저다", "- W: 비가 온다"]), "2026-03-02")
    assert [number for number, _ in items] == [3, 4]
