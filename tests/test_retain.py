"""Retain: routed, deduplicated, written once, nothing lost; by many processes, and when killed."""

import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from random import Random

import killing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree import Bank, config, journal
from memtree.days import day_of_log, today
from memtree.errors import BankError, LockError, WriteError
from memtree.files import Lock
from memtree.items import Item, Malformed, blocks, parse_stored
from memtree.placing import changed_lines, with_items
from memtree.retain import Retainer
from memtree.workspace import Workspace


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bank" / "world").mkdir(parents=True)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memtree.toml").write_text('timezone = "Asia/Seoul"\n', encoding="utf-8")
    return tmp_path


def read(folder, path):
    with open(os.path.join(folder, "bank", path), encoding="utf-8", newline="") as file:
        return file.read()


def log(folder, day, *bullets):
    (folder / "memory" / f"{day}.md").write_text(
        f"# {day}\n\n## Retain\n\n" + "\n".join(bullets) + "\n", encoding="utf-8")


def stored_items(text):
    return [item for _, line in blocks(text) if (item := parse_stored(line))]


def items_of(folder):
    return [item for path in sorted((folder / "bank").rglob("*.md")) for item in stored_items(path.read_text("utf-8"))]


def test_logs_are_collected_routed_and_found_by_recall(folder):
    log(folder, "2026-03-02", "- W @도구: ripgrep은 15.1로 올렸다", "- B @운동: 한강을 5km 달렸다", "- O(c=0.85) @재택: 집중이 잘 된다")
    bank = Bank(folder)
    result = bank.retain()
    assert [(outcome.kind, outcome.file) for outcome in result] == [
        ("new", "world/tools.md"), ("new", "experience/log.md"), ("new", "opinions/assessments.md")]
    assert read(folder, "world/tools.md") == "# tools\n\n## 2026-03\n\n- W @도구: ripgrep은 15.1로 올렸다 (2026-03-02)\n"
    assert bank.recall("ripgrep 판이 뭐야?")[0].path == "world/tools.md"


def test_collecting_again_changes_nothing_even_without_the_ledger(folder):
    log(folder, "2026-03-02", "- W @회의: 주간 회의는 3시에 한다")
    log(folder, "2026-03-05", "- W @회의: 주간 회의는 4시에 한다", "- W @회의: 4시에 주간 회의를 한다")
    log(folder, "2026-03-09", "- W @회의: 주간 회의를 4시에 합니다")
    Bank(folder).retain()
    wanted = ("# environment\n\n## 2026-03\n\n- ~~W @회의: 주간 회의는 3시에 한다~~ (2026-03-02; superseded 2026-03-05)\n"
              "- W @회의: 주간 회의는 4시에 한다 (2026-03-05; seen 2026-03-09)\n")
    assert read(folder, "world/environment.md") == wanted
    assert list(Bank(folder).retain()) == []
    (folder / "bank" / "_meta" / "retained.json").unlink()
    assert {outcome.kind for outcome in Bank(folder).retain()} == {"known"}
    assert read(folder, "world/environment.md") == wanted


def test_what_somebody_deleted_from_the_bank_does_not_come_back(folder):
    log(folder, "2026-03-02", "- W @도구: 옛 편집기를 쓴다", "- W @도구: 새 터미널은 빠르다")
    Bank(folder).retain()
    path = folder / "bank" / "world" / "tools.md"
    path.write_text(read(folder, "world/tools.md").replace("- W @도구: 옛 편집기를 쓴다 (2026-03-02)\n", ""), "utf-8")
    log(folder, "2026-03-02", "- W @도구: 옛 편집기를 쓴다", "- W @도구: 새 터미널은 빠르다", "- W @도구: fd로 파일을 찾는다")
    assert [outcome.item.text for outcome in Bank(folder).retain()] == ["fd로 파일을 찾는다"]
    assert "옛 편집기" not in read(folder, "world/tools.md")


def test_without_what_can_be_made_again_nothing_deleted_or_corrected_comes_back(folder):
    log(folder, "2026-03-02", "- W @도구: 옛 편집기를 쓴다", "- W @도구: 터미널은 판 1.2를 쓴다")
    Bank(folder).retain()
    path = folder / "bank" / "world" / "tools.md"
    path.write_text(read(folder, "world/tools.md").replace("- W @도구: 옛 편집기를 쓴다 (2026-03-02)\n", "").replace("1.2", "1.3"), "utf-8")
    kept = path.read_bytes()
    shutil.rmtree(folder / ".memtree")
    assert list(Bank(folder).retain()) == []
    assert path.read_bytes() == kept


def test_logs_in_folders_are_read_and_those_without_a_day_are_told(folder):
    (folder / "memory" / "2026" / "03").mkdir(parents=True)
    (folder / "memory" / "2026" / "03" / "2026-03-02.md").write_text("## Retain\n- W @도구: jq로 다듬는다\n", "utf-8")
    (folder / "memory" / "메모.md").write_text("# 메모\n\n## Retain\n- S: 정직이 먼저다\n", "utf-8")
    (folder / "memory" / "생각.md").write_text("# 그냥 글\n", "utf-8")
    result = Bank(folder).retain()
    assert [(outcome.item.text, outcome.item.date) for outcome in result] == [("jq로 다듬는다", "2026-03-02")]
    assert [(path, line) for path, line, _ in result.problems] == [("memory/메모.md", 4)]


def test_malformed_lines_are_reported_each_time_and_the_rest_is_stored(folder):
    log(folder, "2026-03-02", "- Q: 모르는 표", "- W @도구: jq로 다듬는다")
    result = Bank(folder).retain()
    assert [outcome.item.text for outcome in result] == ["jq로 다듬는다"]
    assert result.problems == [("memory/2026-03-02.md", 5, result.problems[0][2])]
    assert len(Bank(folder).retain().problems) == 1


def test_an_older_item_that_comes_late_is_stored_as_superseded(folder):
    bank = Bank(folder)
    bank.retain(Item("W", "주간 회의는 4시에 한다", "회의", date="2026-03-05"))
    bank.retain(Item("W", "주간 회의는 3시에 한다", "회의", date="2026-03-01"))
    assert {item.text: item.superseded for item in items_of(folder)} == {
        "주간 회의는 4시에 한다": "", "주간 회의는 3시에 한다": "2026-03-05"}


def test_a_fact_that_returns_is_stored_again(folder):
    bank = Bank(folder)
    for day, hour in (("2026-03-01", 3), ("2026-03-02", 4), ("2026-03-03", 3)):
        bank.retain(Item("W", f"주간 회의는 {hour}시에 한다", "회의", date=day))
    assert [(item.date, item.superseded) for item in items_of(folder)] == [
        ("2026-03-01", "2026-03-02"), ("2026-03-02", "2026-03-03"), ("2026-03-03", "")]


def test_a_confirmed_opinion_is_as_sure_as_it_was_last_said(folder):
    bank = Bank(folder)
    bank.retain(Item("O", "재택이 집중에 좋다", "재택", "0.60", "2026-03-01"))
    bank.retain(Item("O", "재택이 집중에 좋다", "재택", "0.90", "2026-03-08"), source="회의; (록), 7")
    assert read(folder, "opinions/assessments.md").splitlines()[-1] == (
        "- O(c=0.90) @재택: 재택이 집중에 좋다 (2026-03-01; seen 2026-03-08 회의 록 7)")
    assert items_of(folder)[0].days() == {"2026-03-01", "2026-03-08"}


def test_an_opinion_may_change_its_confidence_on_one_day(folder):
    bank = Bank(folder)
    bank.retain("O(c=0.9) @재택: 재택이 집중에 좋다")
    outcome, = bank.retain("O(c=0.4) @재택: 재택이 집중에 좋다")
    assert (outcome.kind, outcome.reason) == ("duplicate", "the same words; its confidence is 0.4 now")
    assert [item.confidence for item in items_of(folder)] == ["0.4"]
    assert [outcome.kind for outcome in bank.retain("O(c=0.4) @재택: 집중에 재택이 좋다")] == ["known"]


def test_a_week_of_records_stays(folder):
    bank = Bank(folder)
    for day, food in enumerate(("김밥", "국수", "덮밥", "냉면"), 1):
        bank.retain([Item("B", text, date=f"2026-11-0{day}") for text in (
            f"점심에 {food}을 먹었다", f"아침에 {day}km 달리고 씻었다", f"책 제{day}장을 읽었다", f"reviewed pull request #10{day} of the parser")])
    items = items_of(folder)
    assert len(items) == 16
    assert [item for item in items if item.superseded] == []


def test_dry_run_tells_the_diff_and_writes_nothing(folder):
    bank = Bank(folder)
    result = bank.retain("W @도구: age로 비밀을 감춘다", dry_run=True)
    assert "+- W @도구: age로 비밀을 감춘다" in result.diff()
    assert items_of(folder) == []
    assert [outcome.kind for outcome in bank.retain("W @도구: age로 비밀을 감춘다")] == ["new"]


def test_a_malformed_item_stores_nothing(folder):
    with pytest.raises(Malformed, match="unknown tag 'Z'"):
        Bank(folder).retain(["W @도구: 좋다", "Z: 나쁘다"])
    assert items_of(folder) == []


def test_front_matter_bom_crlf_and_every_old_line_stay(folder):
    old = "\ufeff---\r\ntitle: 도구\r\n---\r\n# 도구\r\n\r\n## 2026-03\r\n\r\n- W: 하나 (2026-03-01)\r\n\r\n## 기타\r\n\r\n| a | b |\r\n|---|---|\r\n"
    (folder / "bank" / "world" / "tools.md").write_bytes(old.encode())
    bank = Bank(folder)
    bank.retain([Item("W", "도구 둘을 샀다", date="2026-03-05"), Item("W", "도구 가방은 파랗다", date="2026-04-01")])
    new = read(folder, "world/tools.md")
    assert new == old.replace("(2026-03-01)\r\n", "(2026-03-01)\r\n- W: 도구 둘을 샀다 (2026-03-05)\r\n") + (
        "\r\n## 2026-04\r\n\r\n- W: 도구 가방은 파랗다 (2026-04-01)\r\n")


@pytest.mark.parametrize("tail", ["```bash\nset -e\n", "<!-- 끝나지 않는 주석\n", "~~~\n## 2026-03\n", "문단", "1. 번호\n", "제목\n====\n", "- W: 앞 (2026-03-01)"])
def test_items_stay_visible_whatever_the_file_ends_with(folder, tail):
    (folder / "bank" / "world" / "tools.md").write_text("# 도구\n\n앞글\n\n" + tail, encoding="utf-8")
    item = Item("W", "도구를 하나 샀다", date="2026-03-05")
    Bank(folder).retain(item)
    text = read(folder, "world/tools.md")
    assert item in stored_items(text)
    assert not (set(("# 도구\n\n앞글\n\n" + tail).splitlines()) - set(text.splitlines()))


LINES = st.lists(st.sampled_from(["# 제목", "## 2026-03", "- W: 앞 (2026-03-01)", "  - 딸린 줄", "문단", "", "```", "<!--", "-->", "> 인용", "| a |",
                                  "====", "---", "    code", "1. 하나"]) | st.text("가a -#`*", max_size=8), max_size=12)


@settings(max_examples=200)
@given(LINES, st.booleans(), st.booleans())
def test_adding_loses_no_line_and_parses_back(lines, ends, crlf):
    newline = "\r\n" if crlf else "\n"
    old = newline.join(lines) + (newline if ends else "")
    item = Item("W", "새 도구를 샀다", "도구", date="2026-03-05")
    new = with_items(old, [(item.date, item.stored())], "world/tools.md")
    assert item in stored_items(new)
    kept = iter(new.splitlines())
    assert all(line in kept for line in old.splitlines() if line.strip())
    assert not crlf or not old.strip() or "\n" not in new.replace("\r\n", "") or "\n" in old.replace("\r\n", "") or "\r\n" not in old


def test_changed_lines_leave_code_alone():
    text = "```\n- W: 하나\n```\n- W: 하나\r\n- W: 하나\n"
    assert changed_lines(text, {"- W: 하나": ["- W: 둘"]}) == "```\n- W: 하나\n```\n- W: 둘\r\n- W: 하나\n"


def test_a_file_that_is_no_utf8_is_named_and_nothing_is_stored(folder):
    (folder / "bank" / "world" / "tools.md").write_bytes("도구".encode("euc-kr"))
    with pytest.raises(BankError, match=r"tools\.md: is not UTF-8"):
        Bank(folder).retain(["W @도구: 하나를 샀다", "B: 걷는다"])
    assert not (folder / "bank" / "experience").exists()


def test_a_held_lock_is_waited_for_then_an_error(folder, monkeypatch):
    monkeypatch.setattr("memtree.journal.Writing.__init__.__defaults__", (0.1,))
    retainer = Retainer(Workspace(str(folder)), config.Settings())
    with Lock(str(folder / ".memtree" / "lock")), pytest.raises(LockError, match="nothing was changed"):
        retainer.retain(["W @도구: 하나를 샀다"])
    assert len(retainer.retain(["W @도구: 하나를 샀다"])) == 1
    assert len(items_of(folder)) == 1


def test_a_refused_write_keeps_the_old_content_and_the_next_retain_works(folder, monkeypatch):
    bank = Bank(folder)
    bank.retain(Item("W", "주간 회의는 3시에 한다", "회의", date="2026-03-01"))
    before = read(folder, "world/environment.md")
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(WriteError, match="No space left"):
            bank.retain(Item("W", "주간 회의는 4시에 한다", "회의", date="2026-03-02"))
    assert read(folder, "world/environment.md") == before
    bank.retain(Item("W", "주간 회의는 4시에 한다", "회의", date="2026-03-02"))
    assert [item.superseded for item in items_of(folder)] == ["2026-03-02", ""]


@pytest.mark.parametrize(("zone", "moment", "day"), [
    ("Asia/Seoul", "2026-03-01T15:30+00:00", "2026-03-02"),
    ("Asia/Seoul", "2026-03-01T23:30+00:00", "2026-03-02"),
    ("America/Los_Angeles", "2026-03-02T04:30+00:00", "2026-03-01"),
    ("UTC", "2026-03-02T04:30+00:00", "2026-03-02"),
])
def test_the_day_is_that_of_the_configured_zone(zone, moment, day):
    chosen = config.Settings()
    chosen.timezone = zone
    assert today(chosen, datetime.fromisoformat(moment)) == day


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process can be set on POSIX only")
def test_without_a_setting_the_day_is_that_of_the_machine(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        assert today(config.Settings(), datetime(2026, 3, 1, 23, 30, tzinfo=timezone.utc)) == "2026-03-02"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_day_of_a_log_comes_from_its_name():
    assert day_of_log("2026-03-02.md") == "2026-03-02"
    assert day_of_log("2026-03-02-meeting.md") == "2026-03-02"
    assert day_of_log("2026-13-40.md") == day_of_log("notes.md") == day_of_log("2026-03-021.md") == ""


def test_an_item_for_a_split_file_goes_to_the_part_that_fits(folder):
    from memtree import split

    sections = {"편집기": "네오빔 편집기 설정과 단축키를 적는다.", "백업": "백업 디스크와 복구 순서를 적는다.", "배포": "배포 스크립트와 되돌리기를 적는다."}
    text = "# 도구\n\n" + "\n\n".join(f"## {name}\n\n" + "\n\n".join(f"{line} {i}번째 줄이다." for i in range(120)) for name, line in sections.items())
    (folder / "bank" / "world" / "tools.md").write_text(text + "\n", encoding="utf-8")
    bank = Bank(folder)
    split.apply(bank.workspace, split.plan(bank.workspace, "world/tools.md", bank.settings))
    hub = read(folder, "world/tools.md")
    outcome = bank.retain("W @도구: 백업 디스크는 금요일에 복구 연습을 한다")[0]
    assert "백업" in outcome.file
    assert read(folder, "world/tools.md") == hub


def _retain_many(folder, worker, count):
    bank = Bank(folder)
    for number in range(count):
        bank.retain(Item("W", f"작업 {worker}-{number}의 도구는 서랍 {worker}{number:04}에 둔다", f"도구{worker}x{number}", date="2026-03-02"))


def test_eight_processes_store_every_item_once(folder):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_retain_many, args=(str(folder), worker, 12)) for worker in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 8
    texts = [item.text for item in items_of(folder)]
    assert len(texts) == len(set(texts)) == 96


KILLED = """
import sys
from memtree import Bank
from memtree.items import Item
bank = Bank(sys.argv[1])
for number in range(10_000):
    bank.retain([Item("W", f"도구 {number}번은 서랍 {number:05}에 둔다", f"도구{number}", date="2026-03-02"),
                 Item("B", f"걸음 {number}번을 걸었다", f"걸음{number}", date="2026-03-02")])
    print(number, flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.037, 0.081])
def test_a_killed_writer_has_stored_all_that_it_acknowledged(folder, delay):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    acknowledged = 1 + sum(1 for line in process.stdout if line.endswith("\n"))
    process.stdout.close()
    process.wait()
    Bank(folder).retain("S: 뒤에 온 쓰기가 마무리한다")
    items = items_of(folder)
    tools, steps = ({item.entity for item in items if item.tag == tag} for tag in "WB")
    assert len(items) == len(set(items))
    assert {f"도구{number}" for number in range(acknowledged)} <= tools
    assert {name.removeprefix("도구") for name in tools} == {name.removeprefix("걸음") for name in steps}
    assert len(tools) - acknowledged in (0, 1)


WRITER = """
import sys
from memtree import Bank
from memtree.items import Item
bank = Bank(sys.argv[1])
for number in range(1000):
    name = f"{sys.argv[2]}{number:04}"
    bank.retain([Item("W", f"부품 {name}의 도구는 {number}번 서랍에 둔다", "도구" + name, date="2026-03-02")])
    print(name, flush=True)
"""


@pytest.mark.parametrize("seed", range(2))
def test_two_writers_of_one_file_one_of_them_killed(folder, seed):
    """Field case W2."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(folder), name], stdout=subprocess.PIPE, text=True)
               for name in ("가", "나")]
    random = Random(seed)
    killed = random.choice(writers)
    acknowledged = set()
    for _ in range(random.randrange(1, 300)):
        acknowledged.add(killed.stdout.readline().strip())
    killed.kill()
    for writer in writers:
        acknowledged |= {line.strip() for line in writer.stdout if line.endswith("\n")}
        writer.stdout.close()
    assert [writer.wait() for writer in writers] == [-signal.SIGKILL if writer is killed else 0 for writer in writers]
    items = items_of(folder)
    assert len(items) == len(set(items)) == len({item.entity for item in items})
    stored = {item.entity.removeprefix("도구") for item in items}
    assert acknowledged <= stored
    assert len(acknowledged) >= 1000
    # The killed one may have stored one item that it could not tell of.
    assert len(stored) - len(acknowledged) in (0, 1)
    assert len({item.text for item in items}) == len(stored)


MEETING = [Item("W", "주간 회의는 3시에 한다", "회의", date="2026-03-01"), Item("B", "한강을 5km 달렸다", "운동", date="2026-03-01")]
CHANGED = [Item("W", "주간 회의는 4시에 한다", "회의", date="2026-03-02"), Item("B", "5km를 한강에서 달림", "운동", date="2026-03-02"),
           Item("S", "정직함을 중요하게 여긴다", date="2026-03-02")]
CHANGE = """
from memtree import config
from memtree.items import Item
from memtree.retain import Retainer
from memtree.workspace import Workspace
retainer = Retainer(Workspace(sys.argv[2]), config.Settings())
retainer.retain([Item("W", "주간 회의는 4시에 한다", "회의", date="2026-03-02"), Item("B", "5km를 한강에서 달림", "운동", date="2026-03-02"),
                 Item("S", "정직함을 중요하게 여긴다", date="2026-03-02")][:int(sys.argv[3])])
with open(sys.argv[2] + "/acknowledged", "x"):
    pass
"""


def with_meeting(root):
    """A retainer of a new workspace with two items stored."""
    (root / "bank").mkdir(parents=True)
    retainer = Retainer(Workspace(str(root)), config.Settings())
    retainer.retain(MEETING)
    return retainer


def bank_files(root):
    """What the bank holds; a folder without a file in it is nothing."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "bank").rglob("*") if path.is_file()}


@pytest.mark.parametrize("count", [1, 3])
def test_killed_at_every_call_the_bank_is_whole_before_or_after(tmp_path, count):
    """One file is replaced, or three through the journal."""
    retainer = with_meeting(tmp_path / "whole")
    before = bank_files(tmp_path / "whole")
    retainer.retain(CHANGED[:count])
    after = bank_files(tmp_path / "whole")
    assert sum(before.get(path) != data for path, data in after.items()) == count
    outcomes = set()
    at, status = 0, killing.KILLED
    while status == killing.KILLED:
        at += 1
        root = tmp_path / str(at)
        with_meeting(root)
        status = killing.run(CHANGE, at, root, count)
        acknowledged = (root / "acknowledged").exists()
        # The next command finishes or undoes; it stores nothing.
        Retainer(Workspace(str(root)), config.Settings()).retain(MEETING)
        found = bank_files(root)
        assert found == after if acknowledged else found in (before, after), at
        outcomes.add(found == before)
        Retainer(Workspace(str(root)), config.Settings()).retain(CHANGED[:count])
        assert bank_files(root) == after, at
    assert status == 0
    assert acknowledged
    assert outcomes == {True, False}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("call", ["write", "fsync", "replace", "rename", "mkdir"])
def test_a_full_disk_at_any_call_stores_all_or_nothing(tmp_path, monkeypatch, call, count):
    monkeypatch.setattr("memtree.files.time.sleep", lambda seconds: None)
    real, left, at = getattr(os, call), 0, 0

    def refuse(*args, **options):
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **options)

    while left <= 0:
        at += 1
        root = tmp_path / str(at)
        retainer = with_meeting(root)
        before = bank_files(root)
        left, refused = at, ""
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            try:
                retainer.retain(CHANGED[:count])
            except WriteError as error:
                refused = str(error)
        journal.recover(Workspace(str(root)))
        assert (bank_files(root) == before) == bool(refused), at
        assert not refused or "No space left" in refused
        retainer.retain(CHANGED[:count])
        stored = items_of(root)
        assert len(stored) == len(set(stored)) == 2 + (1 if count == 1 else 2)
    assert at > (1 if call != "mkdir" and (call, count) != ("rename", 1) else 0)


@pytest.mark.parametrize("count", [1, 3])
def test_a_read_only_target_folder_stores_nothing(tmp_path, monkeypatch, count):
    retainer = with_meeting(tmp_path)
    before = bank_files(tmp_path)
    real = os.open

    def closed(path, flags, *args, **options):
        if flags & (os.O_WRONLY | os.O_RDWR) and f"{os.sep}bank{os.sep}" in os.fspath(path):
            raise OSError(errno.EROFS, "Read-only file system", path)
        return real(path, flags, *args, **options)

    def unmoved(source, target, **options):
        if f"{os.sep}bank{os.sep}" in os.fspath(target):
            raise OSError(errno.EROFS, "Read-only file system", target)
        return replace(source, target, **options)

    replace = os.replace
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", closed)
        patch.setattr(os, "replace", unmoved)
        with pytest.raises(WriteError, match="Read-only file system"):
            retainer.retain(CHANGED[:count])
    assert bank_files(tmp_path) == before
    retainer.retain(CHANGED[:count])
    assert bank_files(tmp_path) != before
