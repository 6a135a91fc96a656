"""Bank: recall, filters, caches, explain, get, and what a user can do wrong."""

import datetime
import json
import math
import os

import pytest

from memtree import Bank, MemtreeError


def write(folder, path, text):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8"))
    return target


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "identity/values.md",
          "---\ntags: [신조]\n---\n# 가치관\n\n## 정직\n\n정직함은 어떤 이익보다 앞선다. 거짓말로 얻은 것은 오래가지 않는다.\n\n"
          "## 꾸준함\n\n매일 조금씩 하는 것이 한 번에 많이 하는 것보다 낫다고 믿는다.\n")
    write(tmp_path, "world/tools.md",
          "# 도구\n\n배포는 매주 화요일 오후에 자동화 스크립트로 한다. 실패하면 곧바로 되돌린다.\n\n"
          "| 이름 | 용도 |\n|---|---|\n| size_watch.py | 파일 크기를 감시한다 |\n")
    write(tmp_path, "experience/2026-03-02-incident.md",
          "# 장애 기록\n\n새벽에 데이터베이스 서버가 내려가서 백업으로 복구했다. 복구에는 40분이 걸렸다.\n")
    write(tmp_path, "knowledge/walking.md", "# Walking\n\nShe walked along the river every morning before work began.\n")
    return tmp_path


@pytest.fixture
def bank(folder):
    return Bank(folder)


def test_korean_question_finds_the_file_despite_its_particle(bank):
    answer = bank.recall("가치관이 뭐야?")
    assert answer[0].path == "identity/values.md"
    assert answer.answerable
    assert "가치관" in answer[0].terms


def test_english_inflection_is_found(bank):
    assert bank.recall("Where did she walk?")[0].path == "knowledge/walking.md"


def test_a_hit_shows_its_passage_with_heading_path_lines_and_text(bank):
    hit = bank.recall("거짓말로 얻은 것")[0]
    passage = hit.passages[0]
    assert passage.heading_path == ("가치관", "정직")
    assert passage.lines == (8, 8)
    assert passage.text.strip() == "정직함은 어떤 이익보다 앞선다. 거짓말로 얻은 것은 오래가지 않는다."
    assert bank.get(hit.path, passage.lines).strip() == passage.text.strip()


def test_scores_are_the_blend_and_lie_between_0_and_1(bank):
    for query in ("가치관", "배포 스크립트", "서버 복구", "정직 정직 정직", "신조", "size_watch.py"):
        for hit in bank.recall(query, k=10):
            assert 0 <= hit.tree <= 1
            assert 0 <= hit.bm25 <= 1
            assert hit.score == pytest.approx(0.4 * hit.tree + 0.6 * hit.bm25, abs=1e-12)


def test_explanation_adds_up_to_the_score(bank):
    for query in ("가치관이 뭐야?", "배포는 언제 해?", "데이터베이스 서버 복구", "walk along rivers", "정직 없는말"):
        for hit in bank.recall(query, k=10):
            explained = bank.explain(query, hit.path)
            assert explained.score == pytest.approx(hit.score, abs=1e-6)
            assert math.fsum(part.value for part in explained.parts) == pytest.approx(hit.score, abs=1e-6)


def test_unknown_words_are_not_answerable_and_named_missing(bank):
    answer = bank.recall("양자컴퓨터 주가")
    assert not answer.answerable
    assert answer.coverage == 0
    assert bank.explain("양자컴퓨터 주가 정직", "identity/values.md").missing != []


def test_more_answers_begin_with_the_fewer(bank):
    query = "정직 배포 복구 walk"
    whole = [(hit.path, hit.score) for hit in bank.recall(query, k=100)]
    assert len(whole) == 4
    for k in range(5):
        assert [(hit.path, hit.score) for hit in bank.recall(query, k=k)] == whole[:k]


def test_equal_scores_are_ordered_by_path(tmp_path):
    for name in ("나", "가", "다"):
        write(tmp_path, f"{name}.md", "같은 내용의 노트가 세 개나 있어서 무엇이 먼저인지 궁금하다.\n")
    assert [hit.path for hit in Bank(tmp_path).recall("노트")] == ["가.md", "나.md", "다.md"]


def test_filter_by_folder(bank):
    assert [hit.path for hit in bank.recall("정직 배포 복구", under="world/")] == ["world/tools.md"]
    assert [hit.path for hit in bank.recall("정직 배포 복구", under="world")] == ["world/tools.md"]
    assert list(bank.recall("정직", under="worl")) == []


def test_filter_by_date(bank):
    found = bank.recall("복구 정직 배포", since="2026-03-01", until=datetime.date(2026, 3, 31))
    assert [hit.path for hit in found] == ["experience/2026-03-02-incident.md"]
    assert "experience/2026-03-02-incident.md" not in [hit.path for hit in bank.recall("복구", since="2026-03-03")]


def test_tiers(bank):
    first = bank.recall("배포 스크립트는 언제")
    assert first.tier == 2
    assert bank.recall("배포 스크립트는 언제").tier == 0
    again = bank.recall("스크립트 배포를 언제")
    assert again.tier == 1
    assert [hit.path for hit in again] == [hit.path for hit in first]


def test_similar_words_are_not_the_same_question(bank):
    bank.recall("회의 3시")
    assert bank.recall("회의 4시").tier == 2


def test_query_cache_is_bounded(folder):
    bank = Bank(folder)
    for i in range(50):
        bank.recall(f"배포 {i}")
    assert bank.recall("배포 49").tier == 0
    assert bank.recall("배포 0").tier == 2


@pytest.mark.parametrize("query", ["", "   ", "?!", "(", "*", '"', "ㅋㅋㅋ"])
def test_a_query_without_words_is_empty_and_explained(bank, query):
    answer = bank.recall(query)
    assert list(answer) == []
    assert not answer.answerable
    assert answer.note


def test_stop_words_alone_still_ask(bank):
    answer = bank.recall("뭐야?")
    assert isinstance(answer.to_dict(), dict)


@pytest.mark.parametrize("query", ["multi-agent 배포", "don't 배포", "@배포", "50% 배포", "key:배포", "배포 AND", "-배포"])
def test_punctuation_is_plain_text(bank, query):
    assert bank.recall(query)[0].path == "world/tools.md"


def test_wrong_arguments_are_named(bank):
    with pytest.raises(ValueError, match="k must be 0 or more"):
        bank.recall("배포", k=-1)
    with pytest.raises(TypeError, match="k must be a whole number"):
        bank.recall("배포", k=float("nan"))
    with pytest.raises(TypeError, match="query must be a text"):
        bank.recall(None)
    with pytest.raises(ValueError, match="since"):
        bank.recall("배포", since="yesterday")
    with pytest.raises(ValueError, match="at most"):
        bank.recall("가" * 40_000)
    with pytest.raises(ValueError, match="mode"):
        Bank(bank.workspace.root, mode="latin")
    with pytest.raises(ValueError, match="check_interval"):
        Bank(bank.workspace.root, check_interval=float("nan"))


def test_no_bank_there(tmp_path):
    with pytest.raises(MemtreeError):
        Bank(tmp_path / "nothing")


def test_get_refuses_what_is_not_in_the_bank(bank):
    for path in ("../secret.md", "/etc/hostname", "identity/none.md", "_meta/tree-index.json"):
        with pytest.raises(MemtreeError):
            bank.get(path)


def test_unusable_files_are_named_and_the_rest_is_indexed(folder):
    write(folder, "bad/binary.md", b"\x00\x01\x02" * 100)
    write(folder, "bad/latin.md", "caf\xe9 au lait".encode("latin-1"))
    write(folder, "bad/empty.md", "")
    os.symlink("nowhere.md", os.path.join(folder, "bad", "dangling.md"))
    huge = write(folder, "bad/huge.md", "")
    with open(huge, "r+b") as file:
        file.truncate(100 * 1024 * 1024)
    bank = Bank(folder)
    assert bank.recall("가치관")[0].path == "identity/values.md"
    named = {path for path, _, _ in bank.problems}
    for name in ("binary", "latin", "dangling", "huge"):
        assert any(name in path for path in named), (name, named)


def test_an_empty_bank_says_so(tmp_path):
    answer = Bank(tmp_path).recall("가치관")
    assert list(answer) == []
    assert answer.note


def test_people_lead_to_a_file_by_a_keyword_of_their_own(folder):
    write(folder, "_meta/tree-index.json",
          json.dumps({"version": 1, "color": "blue",
                      "nodes": {"identity/values": {"keywords": ["신념"], "files": ["identity/values.md"], "x": 1}}}))
    bank = Bank(folder)
    hit = bank.recall("네 신념은 뭐야?")[0]
    assert hit.path == "identity/values.md"
    assert hit.bm25 == 0
    assert hit.tree > 0
    bank.write_tree()
    with open(os.path.join(folder, "_meta", "tree-index.json"), encoding="utf-8") as file:
        tree = json.load(file)
    node = tree["nodes"]["identity/values"]
    assert node["keywords"] == ["신념"]
    assert node["files"] == ["identity/values.md"]
    assert node["x"] == 1
    assert tree["color"] == "blue"
    assert tree["idf"]["n_docs"] == 4
    assert "identity" in tree["nodes"]


def test_a_keyword_of_several_words_needs_them_all(folder):
    write(folder, "_meta/tree-index.json",
          json.dumps({"nodes": {"a": {"keywords": ["새벽 호출"], "files": ["experience/2026-03-02-incident.md"]}}}))
    bank = Bank(folder)
    assert all(hit.tree == 0 for hit in bank.recall("호출 담당"))
    assert bank.recall("새벽에 호출이 왔다")[0].tree > 0


def test_writing_the_tree_twice_changes_nothing(folder):
    bank = Bank(folder)
    bank.write_tree()
    path = os.path.join(folder, "_meta", "tree-index.json")
    with open(path, "rb") as file:
        first = file.read()
    generation = bank.recall("배포").generation
    bank.write_tree()
    with open(path, "rb") as file:
        assert file.read() == first
    again = Bank(folder, check_interval=0)
    assert again.recall("배포").generation == generation


def test_a_malformed_tree_is_said_and_left_alone(folder):
    path = write(folder, "_meta/tree-index.json", '{"nodes": {\n"a": }')
    bank = Bank(folder)
    assert bank.recall("배포")[0].path == "world/tools.md"
    assert any("tree-index" in where for where, _, _ in bank.problems)
    with pytest.raises(MemtreeError, match="JSON"):
        bank.write_tree()
    with open(path, encoding="utf-8") as file:
        assert file.read() == '{"nodes": {\n"a": }'


def test_the_buffer_keeps_an_answer_for_people(bank):
    bank.recall("가치관이 뭐야?", buffer=True)
    folder = bank.workspace.recall
    (name,) = os.listdir(folder)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        kept = json.load(file)
    assert kept["query"] == "가치관이 뭐야?"
    assert kept["hits"][0]["path"] == "identity/values.md"


def test_prefix_mode_follows_the_seed(folder):
    bank = Bank(folder, mode="prefix")
    assert bank.recall("정직함은")[0].path == "identity/values.md"


def test_an_unknown_number_glued_to_a_known_word_is_not_known(bank):
    for query in ("walking99999", "v99.99.99"):
        answer = bank.recall(query)
        assert not answer.answerable, query
        assert all(hit.tree == 0 for hit in answer)


def test_parts_of_an_identifier_are_known_together(bank):
    assert bank.recall("size_watch.py")[0].path == "world/tools.md"
    assert bank.recall("size_watch.py").answerable


def test_chinese_and_japanese_words_within_a_sentence_are_known(tmp_path):
    write(tmp_path, "zh.md", "# 中文笔记\n\n猫粮每天早晚各一次。备份数据库。\n")
    write(tmp_path, "ja.md", "# メモ\n\nカタカナのテストを毎朝行う。\n")
    bank = Bank(tmp_path)
    for query, path in (("猫粮", "zh.md"), ("数据库备份", "zh.md"), ("カタカナ", "ja.md")):
        answer = bank.recall(query)
        assert answer[0].path == path
        assert answer.answerable or query == "数据库备份"
    assert not bank.recall("狗粮").answerable


def test_a_filter_that_nothing_passes_is_explained(bank):
    assert "no file" in bank.recall("배포", under="nowhere").note
    assert [hit.path for hit in bank.recall("배포", under="./world")] == ["world/tools.md"]
    with pytest.raises(TypeError, match="under"):
        bank.recall("배포", under=5)


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_name_that_is_none_is_refused(path):
    with pytest.raises(MemtreeError):
        Bank(path)


def test_unknown_settings_are_told(folder):
    write(folder, "memtree.toml", "[recall]\nweight_treee = 0.5\n")
    bank = Bank(folder)
    bank.recall("배포")
    assert (bank.workspace.settings, 2, "unknown setting recall.weight_treee") in bank.problems


@pytest.mark.parametrize("text", ['{"nodes": {"a": {"keywords": ["\\ud800"]}}}', '{"version": ' + "9" * 6000 + "}"])
def test_odd_trees_are_kept_or_named(folder, text):
    path = write(folder, "_meta/tree-index.json", text)
    bank = Bank(folder)
    assert bank.recall("배포")[0].path == "world/tools.md"
    if "9999" in text:
        with pytest.raises(MemtreeError, match="tree-index"):
            bank.write_tree()
    else:
        bank.write_tree()
        with open(path, encoding="utf-8") as file:
            assert json.load(file)["nodes"]["a"]["keywords"] == ["\ud800"]


def test_names_that_differ_by_normal_form_only_are_two_files(tmp_path):
    import unicodedata

    composed, decomposed = "가치.md", unicodedata.normalize("NFD", "가치.md")
    write(tmp_path, composed, "# 첫째\n\n장작은 헛간에 쌓아 둔다.\n")
    write(tmp_path, decomposed, "# 둘째\n\n장작은 마당에 쌓아 둔다.\n")
    if len(os.listdir(tmp_path)) == 1:
        return  # this file system keeps one of them, as memtree would show it
    bank = Bank(tmp_path)
    texts = {hit.path: bank.get(hit.path) for hit in bank.recall("장작")}
    assert len(texts) == 2
    assert any("헛간" in text for text in texts.values())
    assert any("마당" in text for text in texts.values())


def test_an_index_that_cannot_be_saved_is_told(bank, monkeypatch):
    from memtree import refresh
    from memtree.errors import WriteError

    def full(*_):
        raise WriteError("no space left on device")

    monkeypatch.setattr("memtree.index.Index.save", full)
    changes = bank.refresh()
    assert not changes.is_saved
    assert any("could not be saved" in message for _, _, message in changes.problems)
    assert bank.recall("배포")[0].path == "world/tools.md"
    assert bank.check()[0]["message"].startswith("there is no index yet")
    assert refresh.index_path(bank.workspace, bank.settings, False) == bank.check()[0]["path"]
