"""Retain into a bank that people edit, too: wrapped and struck items, other line ends, pasted control characters."""


from itertools import product

import pytest

from memtree import Bank
from memtree.errors import BankError
from memtree.files import Lock
from memtree.items import Item, Malformed, parse_stored, stored_bullets
from memtree.placing import changed_lines, with_items


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bank" / "world").mkdir(parents=True)
    (tmp_path / "memory").mkdir()
    return tmp_path


def page(folder, text=None):
    """The file that W items go to; written if a text is given."""
    path = folder / "bank" / "world" / "environment.md"
    if text is not None:
        path.write_bytes(text.encode())
    return path.read_bytes().decode()


HEAD = "# 실험실\n\n## 2026-11\n\n"
TAIL = "\n그냥 문단.\n\n## 기타\n\n- 다른 목록\n  이어지는 줄\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_wrapped_item_is_seen_whole_and_noted_at_its_end(folder, newline):
    old = f"{HEAD}- W @lab: the fume hood filter\n  was changed (2026-11-03)\n{TAIL}".replace("\n", newline)
    page(folder, old)
    bank = Bank(folder)
    (outcome,) = bank.retain(Item("W", "the fume hood filter was changed", "lab", date="2026-12-02"))
    assert outcome.kind == "duplicate"
    assert page(folder) == old.replace("(2026-11-03)", "(2026-11-03; seen 2026-12-02 by hand)")
    (outcome,) = bank.retain(Item("W", "the fume hood filter was changed", "lab", date="2026-12-02"))
    assert outcome.kind == "known"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_wrapped_item_is_struck_through_from_end_to_end(folder, newline):
    old = f"{HEAD}* W: the coffee machine needs\n  descaling every 30 days\n  (2026-11-03)\n{TAIL}".replace("\n", newline)
    page(folder, old)
    (outcome,) = Bank(folder).retain(Item("W", "the coffee machine needs descaling every 60 days", date="2026-12-02"))
    assert (outcome.kind, outcome.other.text) == ("update", "the coffee machine needs descaling every 30 days")
    made = page(folder)
    assert made.startswith(f"{HEAD}* ~~W: the coffee machine needs\n  descaling every 30 days~~ (2026-11-03; superseded 2026-12-02)\n{TAIL}"
                           .replace("\n", newline))
    assert made.count("\n") == made.count(newline)


def test_korean_wrapped_without_an_indent(folder):
    page(folder, f"{HEAD}- W @탕비실: 커피 머신은 30일마다\n석회를 없앤다 (2026-11-03)\n")
    bank = Bank(folder)
    assert bank.retain(Item("W", "커피 머신은 30일마다 석회를 없앤다", "탕비실", date="2026-11-03"))[0].kind == "known"
    assert bank.retain(Item("W", "커피 머신은 60일마다 석회를 없앤다", "탕비실", date="2026-11-03"))[0].kind == "update"
    assert "- ~~W @탕비실: 커피 머신은 30일마다\n석회를 없앤다~~ (2026-11-03; superseded 2026-11-03)\n" in page(folder)


def test_a_new_item_follows_a_wrapped_one_or_a_nested_list_in_the_same_list(folder):
    page(folder, f"{HEAD}- W: 후드 필터를\n  갈았다 (2026-11-03)\n")
    Bank(folder).retain(Item("W", "창문은 동쪽이다", date="2026-11-04"))
    assert page(folder) == f"{HEAD}- W: 후드 필터를\n  갈았다 (2026-11-03)\n- W: 창문은 동쪽이다 (2026-11-04)\n"
    page(folder, f"{HEAD}- W: 후드 필터를 갈았다 (2026-11-03)\n  - 파란 필터\n\n끝.\n")
    Bank(folder).retain(Item("W", "창문은 동쪽이다", date="2026-11-04"))
    assert page(folder).endswith("끝.\n\n- W: 창문은 동쪽이다 (2026-11-04)\n")


def test_changed_lines_keep_every_other_byte():
    bullets = ["- W: 하나\n  둘", "- W: 하나\n  둘", "- W: 셋"]
    for ends in product(["\n", "\r\n"], repeat=5):
        lines = [line + end for line, end in zip("\n".join(bullets).split("\n"), ends, strict=True)]
        made = changed_lines("".join(lines), {bullets[0]: ["- W: 하나\n  둘 (a)"], bullets[2]: ["- W: 넷"]})
        assert made == "".join([lines[0], lines[1].replace("둘", "둘 (a)"), *lines[2:4], lines[4].replace("셋", "넷")])
    assert changed_lines("- W: 하나\r\n  (2026-01-01)\n끝", {"- W: 하나\n  (2026-01-01)": ["- W: 하나 (b)"]}) == "- W: 하나 (b)\n끝"


@pytest.mark.parametrize(("old", "new"), [
    ("## 2026-12\r\n\r\n- W: 손으로\n", "## 2026-12\r\n\r\n- W: 손으로\n- W: 새것\r\n"),
    ("## 2026-12\r\n\r\n- W: 손으로", "## 2026-12\r\n\r\n- W: 손으로\r\n- W: 새것\r\n"),
    ("## 2026-12\n\n- W: 손으로\r\n", "## 2026-12\n\n- W: 손으로\r\n- W: 새것\n"),
    ("## 2026-12\r\n\r\n- W: 손으로\n\r\n## 끝\r\n", "## 2026-12\r\n\r\n- W: 손으로\n- W: 새것\r\n\r\n## 끝\r\n"),
    ("## 2026-12\n\n- W: 손으로\n## 끝\n", "## 2026-12\n\n- W: 손으로\n- W: 새것\n\n## 끝\n"),
])
def test_lines_keep_their_ends_and_new_ones_have_those_of_most(old, new):
    assert with_items(old, [("2026-12-01", "- W: 새것")], "a.md") == new


@pytest.mark.parametrize("control", ["\0", "\x1b", "\x7f", "\u202e"])
def test_a_pasted_control_character_does_not_blind_the_file(folder, control):
    bank = Bank(folder)
    bank.retain("W: precious fact about otters")
    bank.retain(f"W: 수달은{control} 강에 산다", source=f"대화{control} 7")
    assert control not in page(folder)
    assert bank.recall("otters").hits
    assert bank.recall("수달은 어디에 살아?").hits
    assert bank.retain("W: precious fact about otters")[0].kind == "known"
    assert list(bank.problems) == []


@pytest.mark.parametrize(("given", "error"), [("W: 잘린 그림 \ud83d", Malformed), (1, TypeError), (b"W: a", TypeError), ([None], TypeError)])
def test_what_is_no_text_is_refused_and_nothing_stored(folder, given, error):
    with pytest.raises(error):
        Bank(folder).retain(given)
    with pytest.raises(error):
        Bank(folder).retain(["W: 좋다", *(given if isinstance(given, list) else [given])])
    assert not (folder / "bank" / "world" / "environment.md").exists()


def test_an_item_struck_by_hand_does_not_come_back_from_its_log(folder):
    (folder / "memory" / "2026-11-01.md").write_text("## Retain\n- W @d: 커피 머신은 매달 씻는다\n", "utf-8")
    page(folder, f"{HEAD}- ~~W @d: 커피 머신은 매달 씻는다~~ (2026-11-01)\n")
    before = page(folder)
    assert [outcome.kind for outcome in Bank(folder).retain()] == ["known"]
    assert page(folder) == before


def test_the_item_that_holds_is_named_before_one_that_was_superseded(folder):
    bank = Bank(folder)
    for hour in (9, 10, 9):
        bank.retain(Item("W", f"standup is at {hour}", date="2026-11-02"))
    (outcome,) = bank.retain(Item("W", "standup is at 9", date="2026-11-02"))
    assert (outcome.kind, outcome.other.superseded) == ("known", "")


def test_dry_run_needs_no_lock_and_no_place_to_write(folder):
    bank = Bank(folder)
    with Lock(str(folder / ".memtree" / "lock")):
        result = bank.retain("W: 창문은 동쪽이다", dry_run=True)
    assert "+- W: 창문은 동쪽이다" in result.diff()
    (folder / "closed" / "bank").mkdir(parents=True)
    (folder / "closed" / ".memtree").write_text("길을 막는다")
    assert "+- W: 창문은 동쪽이다" in Bank(folder / "closed").retain("W: 창문은 동쪽이다", dry_run=True).diff()


def test_all_wrapped_items_of_a_page_parse(folder):
    page(folder, f"{HEAD}- W: 하나\n  둘 (2026-11-03)\n- B: 셋\n넷\n{TAIL}")
    assert [parse_stored(raw).text for _, raw in stored_bullets(page(folder))] == ["하나 둘", "셋 넷"]


@pytest.mark.parametrize(("content", "why"), [("# 방\n\na\0b\n", r"holds a NUL character \(line 3\)"), ("가" * 400, "is over 1,000 bytes")])
def test_a_file_that_recall_leaves_out_takes_in_nothing(folder, content, why):
    (folder / "memtree.toml").write_text("[files]\nmax_bytes = 1000\n", "utf-8")
    page(folder, content)
    with pytest.raises(BankError, match=why):
        Bank(folder).retain("W: 창문은 동쪽이다")
    assert page(folder) == content
