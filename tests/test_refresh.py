"""Freshness: what is new, changed or gone is seen by the next recall, and a renewed index equals one built at once."""

import os
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree import Bank, refresh

MEETING = "# 주간 회의\n\n이번 주 회의는 {}에 3층 회의실에서 한다. 안건은 다음 분기 예산이다.\n"


def write(folder, path, text):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return target


def shown(bank, query):
    return [passage.text for hit in bank.recall(query) for passage in hit.passages]


def test_a_quick_second_edit_of_equal_size_is_seen_each_time(tmp_path):
    bank = Bank(tmp_path, check_interval=0)
    for i in range(100):
        for hour in ("3시", "4시"):
            write(tmp_path, "회의.md", MEETING.format(hour))
            assert any(hour in text for text in shown(bank, "회의가 언제지?")), (i, hour)


def test_an_edit_within_one_coarse_clock_tick_is_seen(tmp_path):
    bank = Bank(tmp_path, check_interval=0)
    for i in range(50):
        for hour in ("3시", "4시"):
            path = write(tmp_path, "회의.md", MEETING.format(hour))
            stamp = (os.stat(path).st_mtime_ns // 2_000_000_000) * 2_000_000_000
            os.utime(path, ns=(stamp, stamp))
            assert any(hour in text for text in shown(bank, "회의가 언제지?")), (i, hour)


def test_default_interval_sees_edits_after_it_has_passed(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("memtree.bank.monotonic", lambda: now[0])
    bank = Bank(tmp_path)
    write(tmp_path, "회의.md", MEETING.format("3시"))
    assert "3시" in shown(bank, "회의")[0]
    write(tmp_path, "회의.md", MEETING.format("5시"))
    now[0] += 1.0
    assert "5시" in shown(bank, "회의")[0]


def test_deleted_renamed_and_new_files_need_no_restart(tmp_path):
    first = write(tmp_path, "도구/편집기.md", "# 편집기\n\n코드를 쓸 때는 단축키가 많은 편집기를 쓴다.\n")
    bank = Bank(tmp_path, check_interval=0)
    assert bank.recall("편집기")[0].path == "도구/편집기.md"
    os.rename(first, os.path.join(tmp_path, "도구", "에디터.md"))
    assert [hit.path for hit in bank.recall("편집기")] == ["도구/에디터.md"]
    write(tmp_path, "사람/동료.md", "# 동료\n\n옆자리 동료도 같은 편집기를 쓴다고 했다.\n")
    assert {hit.path for hit in bank.recall("편집기")} == {"도구/에디터.md", "사람/동료.md"}
    os.remove(os.path.join(tmp_path, "도구", "에디터.md"))
    assert [hit.path for hit in bank.recall("편집기")] == ["사람/동료.md"]
    os.remove(os.path.join(tmp_path, "사람", "동료.md"))
    assert list(bank.recall("편집기")) == []


def test_a_file_deleted_while_a_refresh_runs_is_left_out(tmp_path, monkeypatch):
    write(tmp_path, "가.md", "# 산책\n\n아침 산책은 강변을 따라 삼십 분이다.\n")
    gone = write(tmp_path, "나.md", "# 산책로\n\n저녁 산책은 공원을 두 바퀴 돈다.\n")
    real = refresh.places.read

    def read(*arguments):
        if os.path.exists(gone):
            os.remove(gone)
        return real(*arguments)

    monkeypatch.setattr(refresh.places, "read", read)
    bank = Bank(tmp_path, check_interval=0)
    assert [hit.path for hit in bank.recall("산책")] == ["가.md"]


def test_an_edit_by_another_process_empties_the_caches(tmp_path):
    target = write(tmp_path, "여행.md", "# 여행\n\n내년 봄에는 제주도로 여행을 간다.\n")
    bank = Bank(tmp_path, check_interval=0)
    assert bank.recall("여행은 어디로 가?").tier == 2
    assert bank.recall("여행은 어디로 가?").tier == 0
    assert bank.recall("여행을 어디로 가?").tier == 1
    os.remove(target)
    answer = bank.recall("여행은 어디로 가?")
    assert list(answer) == []
    assert answer.tier == 2


def test_a_name_in_either_normal_form_is_one_entry(tmp_path):
    text = "# 가치관\n\n정직함이 가장 중요한 가치관이다.\n"
    decomposed = write(tmp_path, unicodedata.normalize("NFD", "가치관.md"), text)
    bank = Bank(tmp_path, check_interval=0)
    assert [hit.path for hit in bank.recall("가치관")] == ["가치관.md"]
    assert bank.get("가치관.md") == text
    assert bank.get(unicodedata.normalize("NFD", "가치관.md")) == text
    os.rename(decomposed, os.path.join(tmp_path, "가치관.md"))
    assert [hit.path for hit in bank.recall("가치관")] == ["가치관.md"]
    assert bank.get("가치관.md") == text


def test_only_changed_files_are_read_again(tmp_path, monkeypatch):
    for i in range(5):
        path = write(tmp_path, f"기록/{i}.md", f"# 기록 {i}\n\n{i}번째 날에는 책을 {i * 10}쪽 읽었다.\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    bank = Bank(tmp_path, check_interval=0)
    bank.recall("책")
    read = []
    real = refresh.places.read
    monkeypatch.setattr(refresh.places, "read",
                        lambda entry, *rest: read.append(entry.path) or real(entry, *rest))
    write(tmp_path, "기록/3.md", "# 기록 3\n\n셋째 날에는 영화를 보았다.\n")
    bank.recall("영화")
    assert read == ["기록/3.md"]
    read.clear()
    Bank(tmp_path, check_interval=0).recall("영화")
    assert set(read) <= {"기록/3.md"}


def test_hidden_and_generated_folders_are_not_indexed(tmp_path):
    write(tmp_path, "노트.md", "# 노트\n\n창고 열쇠는 서랍에 있다.\n")
    for folder in (".obsidian", ".trash", ".git", "node_modules", ".memtree", "recall", "_meta"):
        write(tmp_path, f"{folder}/비밀.md", "# 비밀\n\n창고 열쇠는 화분 밑에 있다.\n")
    assert [hit.path for hit in Bank(tmp_path).recall("창고 열쇠")] == ["노트.md"]


@pytest.mark.parametrize("damage", ["empty", "truncated", "header", "middle", "garbage"])
def test_a_damaged_index_is_said_and_rebuilt(tmp_path, damage):
    write(tmp_path, "노트.md", "# 노트\n\n창고 열쇠는 서랍에 있다.\n")
    Bank(tmp_path).recall("열쇠")
    path = os.path.join(tmp_path, ".memtree", "index.bin")
    with open(path, "rb") as file:
        data = file.read()
    damaged = {"empty": b"", "truncated": data[:-100], "header": b"X" + data[1:],
               "middle": data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 255]) + data[len(data) // 2 + 1:],
               "garbage": bytes(range(256)) * 40}[damage]
    with open(path, "wb") as file:
        file.write(damaged)
    bank = Bank(tmp_path)
    assert [hit.path for hit in bank.recall("열쇠")] == ["노트.md"]
    assert any("rebuilt" in message for _, _, message in bank.problems)
    again = Bank(tmp_path)
    assert [hit.path for hit in again.recall("열쇠")] == ["노트.md"]
    assert not any("rebuilt" in message for _, _, message in again.problems)


WORDS = ["회의", "회의를", "회의록은", "예산이", "예산", "서버를", "배포했다", "배포", "deploy", "server", "3시", "10월",
         "가치관이", "학교에", "갔다", "먹었다", "walking", "walked", "v1.2.3", "size_watch.py", "认证", "할", "일"]
NOTE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(["a.md", "b.md", "sub/c.md", "sub/d.md"]), st.none() | NOTE),
                      min_size=1, max_size=8))
def test_renewed_in_steps_equals_built_at_once(steps, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    bank = Bank(folder, check_interval=0)
    for path, text in steps:
        target = os.path.join(folder, path)
        if text is None:
            if os.path.exists(target):
                os.remove(target)
        else:
            write(folder, path, f"# {text.split()[0]}\n\n{text}\n\n## 둘째\n\n{' '.join(reversed(text.split()))} 끝.\n")
        bank.recall("회의")
    fresh = Bank(folder, check_interval=0)
    fresh.refresh(rebuild=True)
    for query in ("회의가 언제", "배포한 서버", "walk", "학교에서 먹은", "할 일", "size watch", "认证"):
        stepped, built = bank.recall(query, k=10), fresh.recall(query, k=10)
        assert stepped.to_dict()["hits"] == built.to_dict()["hits"]
        assert stepped.coverage == built.coverage


def test_an_index_of_mostly_gone_words_is_built_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(refresh, "MIN_DEAD", 10)
    big = write(tmp_path, "큰.md", "# 큰 노트\n\n" + " ".join(f"낱말{i}번째이야기" for i in range(300)) + "\n")
    write(tmp_path, "작은.md", "# 작은 노트\n\n창고 열쇠는 서랍에 있다.\n")
    bank = Bank(tmp_path, check_interval=0)
    assert bank.recall("열쇠")[0].path == "작은.md"
    os.remove(big)
    assert bank.recall("열쇠")[0].path == "작은.md"
    dead = bank._state.index.n_dead
    assert dead > 10
    write(tmp_path, "작은.md", "# 작은 노트\n\n창고 열쇠는 화분 밑으로 옮겼다.\n")
    assert "화분" in bank.recall("열쇠")[0].passages[0].text
    assert bank._state.index.n_dead < dead
