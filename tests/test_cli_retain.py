"""`memtree retain` and `retain-merge` as a user calls them."""

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bank").mkdir()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memtree.toml").write_text('[[routing]]\ntag = "W"\npattern = "회의"\nfile = "world/meetings.md"\n', encoding="utf-8")
    return tmp_path


def call(folder, *arguments, stdin=None, code=None):
    return subprocess.run(
        [sys.executable, *(["-c", code] if code else ["-m", "memtree"]), *arguments], cwd=folder, input=stdin, capture_output=True, text=True,
        encoding="utf-8", env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"}, timeout=60)


def test_one_item_by_hand(folder):
    done = call(folder, "retain", "W @회의: 주간 회의는 3시에 한다")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "stored     world/meetings.md  W @회의: 주간 회의는 3시에 한다\n1 item stored\n"
    assert "- W @회의: 주간 회의는 3시에 한다 (2" in (folder / "bank/world/meetings.md").read_text("utf-8")
    done = call(folder, "retain", "W @회의: 주간 회의는 4시에 한다")
    assert "update     world/meetings.md  W @회의: 주간 회의는 4시에 한다" in done.stdout
    assert "clock 3 has become clock 4" in done.stdout
    assert "takes the place of: W @회의: 주간 회의는 3시에 한다 (" in done.stdout


def test_standard_input_with_a_malformed_line(folder):
    done = call(folder, "retain", "--stdin", stdin="W @회의: 회의실은 2층이다\nZ: 모른다\n- S: 정직이 먼저다\n")
    assert done.returncode == 2
    assert done.stderr.startswith("stdin:2: unknown tag 'Z'") or done.stderr.startswith("stdin:2: not a retain bullet")
    assert "2 items stored" in done.stdout


def test_dry_run_prints_a_diff(folder):
    done = call(folder, "retain", "--dry-run", "B @운동: 한강을 달렸다")
    assert done.returncode == 0
    assert done.stdout.startswith("--- experience/log.md\n+++ experience/log.md\n@@")
    assert "+- B @운동: 한강을 달렸다 (" in done.stdout
    assert not (folder / "bank" / "experience").exists()


def test_the_old_name_collects_the_logs(folder):
    (folder / "memory" / "2026-03-02.md").write_text("## Retain\n- S: 정직이 먼저다\n", encoding="utf-8")
    code = "from memtree.cli.retain import script; script()"
    done = call(folder, "--json", code=code)
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert [(item["kind"], item["file"], item["date"]) for item in answer["items"]] == [("new", "identity/self.md", "2026-03-02")]
    assert call(folder, code=code).stdout == "0 items stored\n"


@pytest.mark.parametrize(("arguments", "message"), [
    (["retain", "아무 말"], "memtree: not a retain item: '아무 말'; write it like 'W @entity: text'"),
    (["retain", "O(c=7): 지나치다"], "memtree: (c=7) is no confidence"),
    (["retain", "--stdin", "W: 둘 다"], "memtree: give either items or --stdin"),
])
def test_wrong_calls_store_nothing(folder, arguments, message):
    done = call(folder, *arguments, stdin="")
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert list((folder / "bank").iterdir()) == []


def test_a_wrong_rule_is_named_with_its_line(folder):
    (folder / "memtree.toml").write_text('\n[[routing]]\ntag = "W"\npattern = "(a+)+"\nfile = "a.md"\n', encoding="utf-8")
    done = call(folder, "retain", "W: 하나")
    assert done.returncode == 2
    assert "memtree.toml:2: routing: pattern '(a+)+': it could take for ever" in done.stderr


def test_several_items_or_the_words_of_one(folder):
    done = call(folder, "retain", "W @회의: 주간 회의는 3시에 한다", "S: 정직이 먼저다")
    assert done.stdout.endswith("2 items stored\n")
    done = call(folder, "retain", "B", "@운동:", "한강을", "달렸다")
    assert "B @운동: 한강을 달렸다" in done.stdout
    assert done.stdout.endswith("1 item stored\n")


def test_a_log_that_comes_late_is_told_as_older(folder):
    for day, count in (("2026-12-01", "thirteen"), ("2026-11-01", "twelve")):
        (folder / "memory" / f"{day}.md").write_text(f"## Retain\n- W @회의: the printer holds {count} sheets\n", encoding="utf-8")
        done = call(folder, "retain")
        assert done.returncode == 0
    assert done.stdout.startswith("older      world/meetings.md  W @회의: the printer holds twelve sheets\n")
    assert "the other is newer\n           stays: W @회의: the printer holds thirteen sheets (2026-12-01)\n" in done.stdout
    assert done.stdout.endswith("1 item stored, 1 of them older than what is there\n")


@pytest.mark.skipif(os.name == "nt", reason="a closed stream is that of a POSIX shell")
def test_standard_input_closed_or_endless(folder):
    command = f"'{sys.executable}' -m memtree retain --stdin"
    for end, message in (("<&-", "standard input is closed"), ("</dev/zero", "standard input is over 16,777,216 bytes; nothing was stored")):
        done = subprocess.run(["sh", "-c", f"{command} {end}"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"memtree: {message}")


def test_standard_input_with_control_characters_and_line_ends(folder):
    done = call(folder, "retain", "--stdin", stdin="W @회의: 방은\0 2층이다\r\nS: 정직이\x0b 먼저다\x85\n  그리고 성실\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "W @회의: 방은 2층이다\n" in done.stdout
    assert "S: 정직이 먼저다 그리고 성실\n" in done.stdout


def test_the_bank_folder_means_its_workspace(folder):
    (folder / "memory" / "2026-12-01.md").write_text("## Retain\n- W @회의: 방은 2층이다\n", encoding="utf-8")
    done = call(folder, "retain", "--bank", "bank")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("stored     world/meetings.md")
    assert not (folder / "bank" / ".memtree").exists()
    (folder / "bank" / ".memtree").mkdir()
    done = call(folder, "retain", "--bank", "bank")
    assert done.stdout == "0 items stored\n"
    assert "bank/.memtree is of no use any more: delete it" in done.stderr
