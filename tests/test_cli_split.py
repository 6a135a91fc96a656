"""``memtree watch-size``, ``split`` and ``undo`` as a user calls them."""

import json
import subprocess
import sys

import pytest

CHAPTER = "이 장에서는 서버 설정을 하나씩 설명한다. "


@pytest.fixture
def bank(tmp_path):
    """A bank with one file over the splitting size and a link into it."""
    (tmp_path / "knowledge").mkdir()
    chapters = "".join(f"## {i}장 설정\n\n{CHAPTER * 40}\n\n" for i in range(12))
    (tmp_path / "knowledge" / "guide.md").write_text(f"# 안내\n\n{chapters}", encoding="utf-8")
    (tmp_path / "knowledge" / "git.md").write_text("# 깃\n\n[셋째](guide.md#3장-설정)과 [[guide]]를 보라.\n", encoding="utf-8")
    return tmp_path


def call(bank, *arguments):
    """Exit status, output and errors of a command."""
    done = subprocess.run([sys.executable, "-m", "memtree", *arguments, "--bank", str(bank)], capture_output=True,
                          text=True, encoding="utf-8", check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def contents(bank):
    """Path -> bytes of all notes."""
    return {path.relative_to(bank).as_posix(): path.read_bytes() for path in bank.rglob("*.md")}


def test_watch_size_lists_what_is_too_large_and_tells_cron(bank):
    status, out, err = call(bank, "watch-size")
    assert (status, err) == (1, "")
    assert "knowledge/guide.md" in out.splitlines()[0]
    assert "git.md" not in out
    assert "1 over 15.0 KiB" in out
    told = json.loads(call(bank, "watch-size", "--json")[1])
    assert {file["path"]: file["state"] for file in told["files"]} == {"knowledge/guide.md": "split",
                                                                       "knowledge/git.md": "fine"}


def test_dry_run_shows_the_plan_and_changes_nothing(bank):
    before = contents(bank)
    status, out, _ = call(bank, "split", "--dry-run")
    assert status == 0
    assert "guide.md#3장-설정 -> guide/02-3장-설정.md#3장-설정" in out
    assert contents(bank) == before


def test_split_and_undo(bank):
    before = contents(bank)
    status, out, _ = call(bank, "split", "--json")
    assert status == 0
    (plan,) = json.loads(out)["plans"]
    assert all(part["bytes"] < 8192 for part in plan["parts"])
    after = contents(bank)
    assert set(after) == {*before, *(part["path"] for part in plan["parts"])}
    assert "(guide/02-3장-설정.md#3장-설정)" in after["knowledge/git.md"].decode()
    assert call(bank, "watch-size")[0] == 0
    status, out, _ = call(bank, "undo")
    assert (status, out) == (0, "taken back: split knowledge/guide.md\n")
    assert contents(bank) == before
    status, _, err = call(bank, "undo")
    assert status == 2
    assert "there is no change to take back" in err


def test_watch_size_splits_when_told(bank):
    status, out, _ = call(bank, "watch-size", "--split")
    assert status == 0
    assert "0 over 15.0 KiB" in out
    assert (bank / "knowledge" / "guide").is_dir()


def test_an_unknown_file_is_named(bank):
    status, _, err = call(bank, "split", "knowledge/none.md")
    assert status == 2
    assert "knowledge/none.md" in err
    assert "Traceback" not in err
