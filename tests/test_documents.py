"""Documents from files: JSON lines and folders."""

import json
import os
from operator import length_hint

import pytest

from memtree import BM25, MemtreeError
from memtree import documents as module
from memtree.documents import Folder, JsonLines


def write(path, *lines):
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return path


def test_json_lines_give_texts_and_token_lists(tmp_path):
    path = write(
        tmp_path / "notes.jsonl",
        b"\xef\xbb\xbf" + json.dumps({"text": "회의는 3시", "id": 1}).encode() + b"\r",
        "",
        '{"text": ["a", "b"]}',
        "   ",
        json.dumps({"text": "The backup runs every night"}),
    )
    source = JsonLines(path)
    assert list(source) == ["회의는 3시", ["a", "b"], "The backup runs every night"]
    assert list(source) == list(source)
    assert list(JsonLines(write(tmp_path / "plain.jsonl", '"하나"', '["둘"]'), field=None)) == ["하나", ["둘"]]
    assert list(JsonLines(write(tmp_path / "empty.jsonl"))) == []
    index = BM25.build(tmp_path / "index", source)
    assert index.search("backup")[0].tolist() == [2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{text: 1}", "is not JSON: "),
        ('{"text": "a"', "is not JSON: "),
        (b'{"text": "\xff"}', "is not UTF-8"),
        ('{"body": "a"}', "has no field 'text'"),
        ('["a"]', "has no field 'text'"),
        ('{"text": 1}', "holds neither a text nor a list of tokens"),
        ('{"text": ["a", 1]}', "holds neither a text nor a list of tokens"),
        ("[" * 100_000, "is not JSON: "),
        ('{"text": "' + "a" * 2000 + '"}', "is longer than 1000 bytes"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, monkeypatch, line, message):
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 1000 if "longer" in message else 1 << 20)
    path = write(tmp_path / "notes.jsonl", '{"text": "first"}', "", line, '{"text": "last"}')
    with pytest.raises(MemtreeError) as caught:
        BM25.build(tmp_path / "index", JsonLines(path))
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.jsonl"]


def test_the_number_of_lines_is_estimated(tmp_path):
    source = JsonLines(write(tmp_path / "notes.jsonl", *['{"text": "같은 글"}'] * 1000))
    assert length_hint(source) == 0
    reader = iter(source)
    next(reader)
    assert length_hint(source) in range(990, 1001)
    assert sum(1 for _ in reader) == 999
    assert length_hint(source) == 1000


def test_a_folder_gives_its_files_in_order(tmp_path):
    for name, text in {"b.txt": "둘째", "a/z.txt": "첫째", "a/.hidden.txt": "no", ".git/x.txt": "no", "c.md": "no"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    source = Folder(tmp_path, "*.txt")
    assert source.paths == [os.path.join("a", "z.txt"), "b.txt"]
    assert list(source) == ["첫째", "둘째"]
    assert len(source) == 2
    assert not source.problems
    assert BM25.build(tmp_path / "index", source).search("둘째")[0].tolist() == [1]


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of Unix")
def test_what_is_no_text_is_an_empty_document_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 1000)
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "1.txt").write_bytes(b"a\0b")
    (folder / "2.txt").write_text("회의")
    (folder / "3.txt").write_bytes(b"caf\xe9")
    (folder / "4.txt").write_bytes(b"x" * 1001)
    (folder / "5.txt").write_text("gone")
    (folder / "6.txt").symlink_to(outside)
    os.mkfifo(folder / "7.txt")
    source = Folder(folder)
    (folder / "5.txt").unlink()
    assert list(source) == ["", "회의", "", "", ""]
    assert [path for path, _ in source.problems] == ["1.txt", "3.txt", "4.txt", "5.txt"]
    assert [reason for _, reason in source.problems] == [
        "is binary: it holds NUL bytes",
        "is not UTF-8 at byte 3",
        "is larger than 1000 bytes",
        "No such file or directory",
    ]


def test_a_folder_must_be_there(tmp_path):
    with pytest.raises(MemtreeError, match="there is no such folder"):
        Folder(tmp_path / "nowhere")
