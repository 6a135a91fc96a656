"""The container of binary files: round trips, every kind of damage noticed, a failed write harmless."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree import sections
from memtree.errors import IndexFileError, MemtreeError
from memtree.sections import open_sections, write_sections

PARTS = {"terms": b"\x01\x02\x03", "ids": bytes(range(256)) * 5, "empty": b"", "이름": b"data"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "index.bin"
    write_sections(path, "bm25", PARTS)
    return path


def test_round_trip(path):
    opened = open_sections(path, "bm25")
    assert {name: bytes(opened[name]) for name in opened} == PARTS
    assert len(opened) == 4
    assert "ids" in opened
    assert "other" not in opened
    assert opened.size_bytes == path.stat().st_size
    with pytest.raises(IndexFileError, match="'other'"):
        opened["other"]


def test_sections_are_aligned_and_cast_where_they_lie(tmp_path):
    from array import array

    path = tmp_path / "f"
    write_sections(path, "k", {"a": b"x", "numbers": array("q", [1, 2, -3])})
    opened = open_sections(path, "k")
    assert opened["numbers"].cast("q").tolist() == [1, 2, -3]
    opened.close()


@settings(max_examples=200, deadline=None)
@given(at=st.integers(0, 2000), value=st.integers(0, 255))
def test_any_changed_byte_is_noticed_or_is_padding(tmp_path_factory, at, value):
    path = tmp_path_factory.mktemp("s") / "index.bin"
    write_sections(path, "bm25", PARTS)
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at] = value
    path.write_bytes(data)
    try:
        opened = open_sections(path, "bm25")
    except IndexFileError:
        return
    assert {name: bytes(opened[name]) for name in opened} == PARTS


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=300), keep=st.integers(0, 60))
def test_any_bytes_are_refused(tmp_path_factory, data, keep):
    path = tmp_path_factory.mktemp("s") / "index.bin"
    write_sections(path, "bm25", {})
    path.write_bytes(path.read_bytes()[:keep] + data)
    if path.stat().st_size != 48:
        with pytest.raises(IndexFileError):
            open_sections(path, "bm25")


@pytest.mark.parametrize("size", [0, 10, 47, 60, 300, -1])
def test_cut_off(path, size):
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(IndexFileError, match="cut off"):
        open_sections(path, "bm25")


def test_wrong_kind_version_and_magic(path):
    with pytest.raises(IndexFileError, match="kind 'bm25', not 'bank'"):
        open_sections(path, "bank")
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match="version 9"):
        open_sections(path, "bm25")
    path.write_bytes(b"x" * 100)
    with pytest.raises(IndexFileError, match="not a memtree index"):
        open_sections(path, "bm25")


def test_large_files_are_checked_when_asked(path, monkeypatch):
    monkeypatch.setattr(sections, "CHECKED_SIZE_BYTES", 0)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    opened = open_sections(path, "bm25")
    with pytest.raises(IndexFileError, match="이름"):
        opened.check()


def test_failed_write_leaves_the_old_file(path, monkeypatch):
    def refuse(*_):
        raise OSError("disk full")

    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises((OSError, MemtreeError)):
        write_sections(path, "bm25", {"a": b"b"})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_names_that_do_not_fit(path):
    for name in ("", "x" * 41, "a\0b"):
        with pytest.raises(ValueError, match="section name"):
            write_sections(path, "bm25", {name: b""})
    with pytest.raises(ValueError, match="kind"):
        write_sections(path, "k" * 17, {})
