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


def test_one_bad_file_does_not_keep_the_others_from_being_split(bank):
    guide = (bank / "knowledge" / "guide.md").read_bytes()
    for name in ("가.md", "나.MD", "b.md"):
        (bank / name).write_bytes(guide)
    (bank / "b").write_text("이 파일이 길을 막는다.", encoding="utf-8")
    status, out, err = call(bank, "split")
    assert status == 2
    assert err.startswith("b.md: not split: ")
    assert "is in the way of the folder that the parts would lie in (rename it)" in err
    assert "Traceback" not in err
    for name in ("knowledge/guide.md", "가.md", "나.MD"):
        assert f"{name}: " in out
    assert sorted(path.name for path in bank.iterdir() if path.is_dir() and path.name[0] != ".") == ["knowledge", "가", "나"]
    assert (bank / "b.md").read_bytes() == guide
    status, out, err = call(bank, "split", "--json")
    assert (status, err) == (2, "")
    assert [failure["path"] for failure in json.loads(out)["failures"]] == ["b.md"]
    assert call(bank, "split", "--dry-run")[0] == 2
    status, out, err = call(bank, "watch-size", "--split")
    assert status == 2
    assert err.startswith("b.md: not split: ")
    assert "1 over 15.0 KiB" in out


def test_parts_are_as_private_as_the_file(bank):
    guide = bank / "knowledge" / "guide.md"
    guide.chmod(0o600)
    assert call(bank, "split")[0] == 0
    parts = list((bank / "knowledge" / "guide").iterdir())
    assert {path.stat().st_mode & 0o777 for path in (guide, *parts)} == {0o600}
    assert call(bank, "undo")[0] == 0
    assert guide.stat().st_mode & 0o777 == 0o600


def test_a_folder_of_parts_that_leads_out_is_refused(bank, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (bank / "knowledge" / "guide").symlink_to(outside)
    before = contents(bank)
    for arguments in (("split",), ("split", "--dry-run")):
        status, _, err = call(bank, *arguments)
        assert status == 2
        assert "leads out of" in err
    assert contents(bank) == before
    assert list(outside.iterdir()) == []


def test_a_file_behind_a_linked_folder_is_split_where_it_lies(bank):
    (bank / "alias").symlink_to(bank / "knowledge")
    assert call(bank, "split", "alias/guide.md")[0] == 0
    assert len(list((bank / "knowledge" / "guide").iterdir())) > 2
    assert "(guide/02-3장-설정.md#3장-설정)" in (bank / "knowledge" / "git.md").read_text("utf-8")


@pytest.mark.parametrize("given", ["bank/knowledge/guide.md", "knowledge/guide.md", "guide.md", "../knowledge/guide.md", "ABSOLUTE"])
def test_paths_as_a_shell_completes_them(tmp_path, bank, given):
    """From the workspace, from a folder of the bank, or absolute."""
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    (tmp_path / "knowledge").rename(tmp_path / "k")
    (root / "bank").mkdir()
    (tmp_path / "k").rename(root / "bank" / "knowledge")
    given = given.replace("ABSOLUTE", str(root / "bank" / "knowledge" / "guide.md"))
    for start, arguments in ((root, ["get", given]), (root / "bank" / "knowledge", ["split", "--dry-run", given])):
        if given.startswith(("guide", "..")) and start == root:
            continue
        done = subprocess.run([sys.executable, "-m", "memtree", *arguments], cwd=start, capture_output=True, text=True,
                              encoding="utf-8", check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(("# 안내", "bank/knowledge/guide.md: "))
    status, out, _ = call(root, "recall", "셋째", "--under", "bank/knowledge", "--json")
    assert status == 0
    assert json.loads(out)["hits"][0]["path"] == "knowledge/git.md"
    status, _, err = call(root, "split", "../outside.md")
    assert status == 2
    assert "'..' is not allowed" in err
