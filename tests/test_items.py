"""Grammar of retain items: log bullets, stored bullets, what is reported."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memtree.items import Item, Malformed, parse_item, parse_log, parse_stored, renoted, stored_bullets

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=12)
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


CONTROLS = ("\0", "\x07", "\x1b", "\x7f", "\x85", "\x9b")


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_character_counts_as_a_blank(control):
    item = parse_item(f"W @도{control}구: ripgrep은{control}15.1로 올렸다{control}")
    assert (item.entity, item.text) == ("도 구", "ripgrep은 15.1로 올렸다")
    assert parse_log(f"## Retain\n- W: ripgrep was{control} updated\n")[0][0][1].text == "ripgrep was updated"


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\ufeff"])
def test_marks_that_hide_are_left_out(mark):
    assert parse_item(f"W: the safe{mark} is open").text == "the safe is open"


def test_half_a_character_is_refused():
    with pytest.raises(Malformed, match=r"half a character \(U\+D83D\)"):
        parse_item("W: 잘린 그림 \ud83d")


WRAPPED = [
    ("- W @lab: the fume hood filter\n  was changed (2026-11-03)", "the fume hood filter was changed"),
    ("- W @lab: the fume hood filter\nwas changed (2026-11-03)", "the fume hood filter was changed"),
    ("* W @lab:\n  the fume hood filter was\n  changed\n  (2026-11-03)", "the fume hood filter was changed"),
    ("- W @lab: the fume hood filter was changed (2026-11-03;\n  seen 2026-11-05,\n  2026-11-06 by hand)", "the fume hood filter was changed"),
    ("- W @실험실: 후드 필터를 (2026-11-03)\n  새것으로 갈았다", "후드 필터를 새것으로 갈았다"),
    ("+ W @실험실: 후드 필터를\r\n  새것으로 갈았다 (2026-11-03)", "후드 필터를 새것으로 갈았다"),
    ("  - W @실험실: 후드 필터를\n    새것으로 갈았다 (2026-11-03)", "후드 필터를 새것으로 갈았다"),
]


@pytest.mark.parametrize(("bullet", "text"), WRAPPED)
def test_a_wrapped_item_is_read_whole(bullet, text):
    page = f"# 실험실\n\n- 그냥 목록\n{bullet}\n- W: 다음 (2026-11-04)\n"
    found = {number: parse_stored(raw) for number, raw in stored_bullets(page)}
    item = found[4]
    assert (item.text, item.date, list(found)) == (text, "2026-11-03", [4, 4 + bullet.count("\n") + 1])


@pytest.mark.parametrize(("bullet", "text"), WRAPPED)
@pytest.mark.parametrize("fields", [{"seen": ("2026-12-02 by hand",)}, {"superseded": "2026-12-02"},
                                    {"seen": ("2026-11-05", "2026-12-02"), "superseded": "2026-12-03"}])
def test_new_notes_stand_at_the_end_and_the_rest_stays_as_wrapped(bullet, text, fields):
    bullet = bullet.replace("\r", "")
    item = parse_stored(bullet).changed(**fields)
    made = renoted(bullet, item)
    assert parse_stored(made) == item
    assert made.endswith(item.note())
    words = [line.replace("~~", "").split() for line in (bullet, made)]
    assert [word for word in words[1] if word in text] == [word for word in words[0] if word in text]
    assert made.count("\n") <= bullet.count("\n")
    html = MarkdownIt("commonmark").enable("strikethrough").render(made)
    assert html.count("<s>") == html.count("</s>") == bool(item.superseded)
    assert html.count("<li>") == 1


@given(ITEMS, st.lists(st.integers(0, 40), max_size=4), ITEMS)
def test_wrapped_anywhere_it_is_the_same_item(item, places, other):
    assume(item.note() or "(" not in item.stored().replace("(c=", ""))  # one at the end of a line would be taken for its note
    words = item.stored().split(" ")
    lines = [words[:2]]
    for number, word in enumerate(words[2:]):
        if number in places and word[0].isalnum() and not word[0].isdecimal():
            lines.append([])
        lines[-1].append(word)
    bullet = "\n  ".join(" ".join(line) for line in lines)
    assert parse_stored(bullet) == item
    assert [raw for _, raw in stored_bullets(f"# 제목\n\n{bullet}\n\n문단\n")] == [bullet]
    if not item.superseded:
        wanted = item.changed(seen=other.seen, superseded=other.superseded)
        assert parse_stored(renoted(bullet, wanted)) == wanted


@pytest.mark.parametrize("below", ["- 다른 목록", "1. 번호", "# 제목", "> 인용", "| a | b |", "<div>", "```\n  x\n```", "====", "", "  - 딸린 줄", "  ---"])
def test_what_begins_anew_does_not_go_on_with_an_item(below):
    assert [raw for _, raw in stored_bullets(f"- W: 후드 필터를 갈았다\n{below}\n")] == ["- W: 후드 필터를 갈았다"]


def test_a_paragraph_right_below_a_noted_item_is_not_of_it():
    page = "- W: 후드 필터를 갈았다 (2026-11-03)\n그냥 문단이다.\n"
    assert [raw for _, raw in stored_bullets(page)] == ["- W: 후드 필터를 갈았다 (2026-11-03)"]


@pytest.mark.parametrize("line", ["- ~~W: 6번 전차를 탄다~~ (2026-11-01)", "- W: ~~6번 전차를 탄다~~ (2026-11-01)", "- ~~W: 6번 전차를 탄다~~"])
def test_what_somebody_struck_through_is_superseded(line):
    item = parse_stored(line)
    assert (item.text, item.superseded) == ("6번 전차를 탄다", "undated")


def test_a_text_with_struck_words_is_not_struck_twice():
    item = parse_stored("* W: 6번 ~~전차~~ 버스를 탄다 (2026-11-01)")
    assert not item.superseded
    made = renoted("* W: 6번 ~~전차~~ 버스를 탄다 (2026-11-01)", item.changed(superseded="2026-12-01"))
    assert made == "* W: 6번 ~~전차~~ 버스를 탄다 (2026-11-01; superseded 2026-12-01)"
    assert parse_stored(made) == item.changed(superseded="2026-12-01")


def test_confidence_changes_in_its_place():
    bullet = "+ O(c=0.6) @재택: 집중이\n  잘 된다 (2026-11-01)"
    item = parse_stored(bullet).changed(confidence="0.9", seen=("2026-11-08",))
    assert renoted(bullet, item) == "+ O(c=0.9) @재택: 집중이\n  잘 된다 (2026-11-01; seen 2026-11-08)"
    assert renoted("- O: 좋다", Item("O", "좋다", confidence="0.5")) == "- O(c=0.5): 좋다"


@pytest.mark.parametrize(("bullets", "texts"), [
    ("- W @배포: 배포 순서\n  - 테스트를 돌린다\n  - 태그를 단다\n", ["배포 순서: 테스트를 돌린다; 태그를 단다"]),
    ("- W @배포:\n    - 테스트를 돌린다\n    - 태그를\n      단다\n", ["테스트를 돌린다; 태그를 단다"]),
    ("- W @deploy: the order is this.\n\n  - run the tests\n\n  - tag\n- S: honesty first\n", ["the order is this. run the tests; tag", "honesty first"]),
    ("- W: 배포\n  - B: 태그를 달았다\n  - 끝으로 알린다\n", ["배포: 끝으로 알린다", "태그를 달았다"]),
    ("- W: 배포\n  1. 테스트\n  2. 태그\n", ["배포 1. 테스트 2. 태그"]),
    ("* [ ] W: 우유를 산다\n* [x] W: 빵을 샀다\n", ["우유를 산다", "빵을 샀다"]),
    ("  - W: 하나\n  - W: 둘\n", ["하나", "둘"]),
    ("- W: 첫째 문단\n\n  둘째 문단\n", ["첫째 문단 둘째 문단"]),
])
def test_nested_lists_loose_lists_and_checkboxes(bullets, texts):
    found, problems = parse_log(f"## Retain\n\n{bullets}\n## 끝\n  딴 글\n", "2026-11-01")
    assert [item.text for _, item in found] == texts
    assert problems == []


def test_a_nested_item_that_is_malformed_is_told():
    found, problems = parse_log("## Retain\n- W: 배포\n  - O(c=7): 지나치다\n")
    assert [item.text for _, item in found] == ["배포"]
    assert [line for line, _ in problems] == [3]
