"""Changing memtree.toml: checked before it is written, comments and line ends kept."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree import config, configure
from memtree.errors import SettingsError
from memtree.workspace import Workspace

WRITTEN = """# 우리 팀의 설정
[recall] # 찾기
mode = "korean"   # 기본

[[routing]]
tag = "W"  # 회의록
pattern = "회의"
file = "world/회의.md"
"""


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "bank").mkdir()
    return Workspace(str(tmp_path))


def write(workspace, text):
    with open(workspace.settings, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def read(workspace):
    with open(workspace.settings, encoding="utf-8", newline="") as file:
        return file.read()


def test_only_the_value_changes(workspace):
    write(workspace, WRITTEN)
    configure.assign(workspace, "recall.mode", "prefix")
    assert read(workspace) == WRITTEN.replace('"korean"', '"prefix"')
    configure.assign(workspace, "recall.mode", "korean")
    assert read(workspace) == WRITTEN


@pytest.mark.parametrize("written", [None, WRITTEN, 'recall = {mode = "korean"}\n', 'recall.mode = "korean"\n',
                                     'routing = [{tag = "S", file = "s.md"}]\n', "# 아직 없음"])
def test_settings_of_all_kinds_are_written_and_read_back(workspace, written):
    rules = 0
    if written is not None:
        write(workspace, written)
        rules = len(config.load(workspace).routing)
    configure.assign(workspace, "recall.weight_tree", "0.5")
    configure.assign(workspace, "timezone", "Asia/Seoul")
    configure.assign(workspace, "decay.delete", "true")
    configure.assign(workspace, "files.warn_bytes", "4096")
    configure.add_route(workspace, "W", "meeting|회의", "world/meetings.md")
    settings = config.load(workspace)
    assert (settings.weight_tree, settings.timezone, settings.decay_delete, settings.warn_bytes) == (0.5, "Asia/Seoul", True, 4096)
    assert len(settings.routing) == rules + 1
    assert settings.routing[-1]["pattern"] == "meeting|회의"
    assert configure.unset(workspace, "recall.weight_tree")
    assert not configure.unset(workspace, "recall.weight_tree")
    assert config.load(workspace).weight_tree == 0.4


def test_comments_line_ends_and_byte_order_mark_stay(workspace):
    write(workspace, "\ufeff" + WRITTEN.replace("\n", "\r\n"))
    configure.assign(workspace, "recall.weight_tree", "0.5")
    configure.add_route(workspace, "S", "", "identity/self.md")
    text = read(workspace)
    assert text.startswith("\ufeff# 우리 팀의 설정\r\n")
    assert text.count("\n") == text.count("\r\n")
    kept = text.replace("\r\n", "\n").removeprefix("\ufeff").splitlines()
    assert [line for line in WRITTEN.splitlines() if line not in kept] == []


@pytest.mark.parametrize(("name", "value", "message"), [
    ("recall.weight_tree", "much", "recall.weight_tree must be a number, not 'much'"),
    ("recall.weight_tree", "7", "must lie in"),
    ("recall.mode", "japanese", "must be one of"),
    ("timezone", "Seoul", "must be a name like Asia/Seoul"),
    ("decay.delete", "yes", "must be true or false"),
    ("recall.weight_tre", "1", "there is no setting"),
    ("routing", "1", "there is no setting"),
])
def test_what_cannot_be_used_is_not_written(workspace, name, value, message):
    write(workspace, WRITTEN)
    with pytest.raises(SettingsError, match=message) as caught:
        configure.assign(workspace, name, value)
    assert caught.value.line is None
    assert read(workspace) == WRITTEN


@pytest.mark.parametrize(("rule", "message"), [
    (("Z", "회의", "world/a.md"), "unknown tag"), (("W", "(", "world/a.md"), "pattern"),
    (("W", "(a+)+b", "world/a.md"), "pattern"), (("W", "회의", "../a.md"), "not in the bank"),
])
def test_a_rule_that_cannot_be_used_is_not_written(workspace, rule, message):
    write(workspace, WRITTEN)
    with pytest.raises(SettingsError, match=message):
        configure.add_route(workspace, *rule)
    assert read(workspace) == WRITTEN


def test_a_file_that_is_wrong_already_is_named_with_its_line(workspace):
    write(workspace, "[recall]\nweight_tree = 'viel'\n")
    with pytest.raises(SettingsError) as caught:
        configure.assign(workspace, "recall.mode", "prefix")
    assert caught.value.line == 2
    # It may be mended.
    configure.assign(workspace, "recall.weight_tree", "0.3")
    assert config.load(workspace).weight_tree == 0.3


@given(st.sampled_from(["", "[recall]\n", "[files]\nwarn_bytes = 1\n", "recall = {}\n"]),
       st.lists(st.sampled_from(["# 메모", "", '[[routing]]\ntag = "W"\nfile = "a.md"', "[cache] # 캐시", "[decay]\nfloor = 0.2 # 바닥"]), unique=True),
       st.sampled_from([("recall.mode", "prefix"), ("files.warn_bytes", "77"), ("timezone", "Asia/Seoul"), ("decay.floor", "0.5")]))
def test_each_line_stays_but_that_of_the_setting(tmp_path_factory, head, rest, change):
    root = tmp_path_factory.mktemp("ws")
    (root / "bank").mkdir()
    workspace = Workspace(str(root))
    text = head + "\n".join(rest)
    write(workspace, text)
    configure.assign(workspace, *change)
    key = change[0].rpartition(".")[2]
    after = read(workspace).splitlines()
    assert [line for line in text.splitlines() if line and line not in after and key not in line and line != "recall = {}"] == []
    assert str(configure.value_of(config.load(workspace), change[0])) == change[1]


def test_the_command(tmp_path):
    (tmp_path / "bank").mkdir()

    def call(*arguments):
        return subprocess.run([sys.executable, "-m", "memtree", "config", *arguments], cwd=tmp_path, capture_output=True, text=True,
                              encoding="utf-8", env={**os.environ, "PYTHONIOENCODING": "utf-8"}, timeout=60)

    assert "recall.weight_tree = 0.4\n" in call().stdout
    assert call("recall.weight_tree", "0.5").stdout == "recall.weight_tree = 0.5  (memtree.toml)\n"
    assert call("routing", "W", "회의", "world/meetings.md").stdout == "routing = W 회의 world/meetings.md\n"
    assert call("--json", "recall.weight_tree").stdout == '{\n  "recall.weight_tree": 0.5\n}\n'
    done = call("recall.weight_tre", "1")
    assert (done.returncode, done.stderr) == (2, "memtree: there is no setting 'recall.weight_tre'\n  did you mean recall.weight_tree?\n")
    assert call("recall.mode", "prefix", "korean").returncode == 2
    assert call("--unset").returncode == 2
    assert call("--unset", "recall.weight_tree").stdout == "recall.weight_tree = 0.4\n"
