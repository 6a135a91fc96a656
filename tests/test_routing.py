"""Routing: built-in rules, rules of memtree.toml, what is refused."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree import config
from memtree.errors import SettingsError
from memtree.items import parse_item
from memtree.routing import Router, compiled
from memtree.workspace import Workspace


@pytest.fixture
def router(tmp_path):
    def make(settings=""):
        (tmp_path / "bank").mkdir(exist_ok=True)
        (tmp_path / "memtree.toml").write_text(settings, encoding="utf-8")
        workspace = Workspace(str(tmp_path))
        return Router(workspace, config.load(workspace))

    return make


@pytest.mark.parametrize(("line", "file"), [
    ("W @도구: ripgrep을 쓴다", "world/tools.md"),
    ("W: 새 툴로 갈아탔다", "world/tools.md"),
    ("W: The Tool runs at night", "world/tools.md"),
    ("W @프로젝트: 마감은 금요일", "world/projects.md"),
    ("W @집: 정수기가 샌다", "world/environment.md"),
    ("B: 아침 루틴을 바꿨다", "patterns/routines.md"),
    ("B: 헌혈을 했다", "experience/log.md"),
    ("O(c=0.8): 판단은 이르다", "opinions/assessments.md"),
    ("O: 커피가 낫다", "opinions/assessments.md"),
    ("S: 원칙을 지킨다", "identity/values.md"),
    ("S: 느긋하다", "identity/self.md"),
])
def test_built_in_rules(router, line, file):
    assert router().file(parse_item(line)) == file


def test_rules_of_the_settings_come_first_and_the_first_match_wins(router):
    rules = router('[[routing]]\ntag = "W"\npattern = "회의|meeting"\nfile = "world/meetings.md"\n'
                   '[[routing]]\ntag = "W"\npattern = "도구 회의"\nfile = "world/other.md"\n'
                   '[[routing]]\ntag = "B"\nfile = "daily/diary.md"\n')
    assert rules.file(parse_item("W: 도구 회의가 있다")) == "world/meetings.md"
    assert rules.file(parse_item("W: the MEETING is on Monday")) == "world/meetings.md"
    assert rules.file(parse_item("W: 도구를 샀다")) == "world/tools.md"
    assert rules.file(parse_item("B: 루틴")) == "daily/diary.md"


def test_decomposed_text_meets_a_composed_pattern(router):
    import unicodedata

    assert router().file(parse_item(unicodedata.normalize("NFD", "W: 도구를 샀다"))) == "world/tools.md"


@pytest.mark.parametrize(("rule", "message"), [
    ('tag = "X"\nfile = "a.md"', "unknown tag 'X'"),
    ('file = "a.md"', "unknown tag None"),
    ('tag = "W"\npattern = "("\nfile = "a.md"', "no valid regular expression"),
    ('tag = "W"\npattern = 3\nfile = "a.md"', "pattern must be a text"),
    ('tag = "W"', "file must be the path"),
    ('tag = "W"\nfile = "../out.md"', "not in the bank"),
    ('tag = "W"\nfile = "/etc/out.md"', "not in the bank"),
    ('tag = "W"\nfile = "a.txt"', "would not be recalled"),
    ('tag = "W"\nfile = ".hidden/a.md"', "would not be recalled"),
    ('tag = "W"\nfile = "_meta/a.md"', "would not be recalled"),
    ('tag = "W"\nfile = "a.md"\nflie = "b.md"', "unknown key 'flie'"),
])
def test_a_wrong_rule_is_named_with_file_and_line(router, rule, message):
    with pytest.raises(SettingsError) as caught:
        router('timezone = "Asia/Seoul"\n\n[[routing]]\ntag = "S"\nfile = "s.md"\n\n[[routing]]\n' + rule + "\n")
    assert message in str(caught.value)
    assert "memtree.toml:7:" in str(caught.value)


def test_a_file_behind_a_link_out_of_the_bank_is_refused(router, tmp_path):
    router()
    (tmp_path / "bank" / "out").symlink_to("/tmp")
    with pytest.raises(SettingsError, match="not in the bank"):
        router('[[routing]]\ntag = "W"\nfile = "out/a.md"\n')


@pytest.mark.parametrize("pattern", [
    "(a+)+$", "(a|a)*$", "(a|aa)+$", "(a|a)" * 40 + "b", "a?" * 40 + "a" * 40, "(.*)*x", "(?:a?){50}a{50}", r"(a)\1", "(?=a)b", "(?<!a)b", "a*b*c*d*$", "a*a*a*b",
    "(?:(?:a?)?)*", "[", "*", "a" * 1001, "(?P<x>a)(?(x)b|c)",
])
def test_an_expression_that_could_hang_is_refused(pattern):
    with pytest.raises(ValueError, match="\\w"):
        compiled(pattern)


@pytest.mark.parametrize("pattern", ["", "도구|툴", "v[0-9]+", "^회의", "배포.{0,10}실패", "(?:주간|월간) ?회의", r"\bAPI\b"])
def test_ordinary_expressions_are_let_in(pattern):
    compiled(pattern)


@given(st.text("ab.*+?()|{}[]^$\\,2", max_size=12))
def test_whatever_is_let_in_is_fast(pattern):
    try:
        expression = compiled(pattern)
    except ValueError:
        return
    for text in ("a" * 1000, "ab" * 500):
        begun = time.process_time()
        expression.search(text)
        # Not a claim of speed: what hangs takes for ever.
        assert time.process_time() - begun < 20
