"""`BM25.build`: the bytes of `from_tokens(...).save(...)`, however little memory, and nothing left on failure."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import killing
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_analysis_oracle import TEXTS

from memtree import BM25, MemtreeError, _streaming
from memtree._bm25 import Postings
from memtree._merge import merge
from memtree._segments import Segment
from memtree.errors import IndexFileError, LockError, WriteError
from memtree.files import Lock
from memtree.sections import open_sections

WORDS = st.sampled_from(["회의", "meeting", "a", "b", "", "é", "서버"])
DOCUMENTS = st.lists(
    st.one_of(TEXTS, st.lists(WORDS, max_size=9), st.lists(WORDS, min_size=1, max_size=1).map(lambda one: one * 300)),
    max_size=40,
)


def small_runs(patch, tokens=20, runs=4):
    """Spill after so few tokens, merge so few runs at once."""
    patch.setattr(_streaming, "MAX_RUN_TOKENS", tokens)
    patch.setattr(_streaming, "MAX_RUNS", runs)


def whole(path, documents, **params):
    """The bytes of the index built in memory, by one token list a document."""
    lists = [BM25()._analyse(one, False) if isinstance(one, str) else one for one in documents]
    BM25.from_tokens(lists, **params).save(path)
    return path.read_bytes()


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@settings(deadline=None, max_examples=150)
@given(DOCUMENTS, st.integers(1, 60), st.sampled_from(["lucene", "okapi", "bm25l"]))
def test_the_file_is_that_of_a_build_in_memory(tmp_path_factory, documents, run_tokens, method):
    folder = tmp_path_factory.mktemp("build")
    with pytest.MonkeyPatch.context() as patch:
        small_runs(patch, run_tokens)
        BM25.build(folder / "built", iter(documents), method=method)
    assert names(folder) == ["built"]
    assert (folder / "built").read_bytes() == whole(folder / "saved", documents, method=method)


def test_many_documents_and_a_word_in_all_of_them(tmp_path, monkeypatch):
    """More than 65,536 documents, bitmaps, windows, and frequencies of 255 and more."""
    rng = random.Random(5)
    documents = [["그리고"] * rng.choice([1, 1, 1, 2, 300]) + rng.choices("abcdefghij", k=rng.randrange(4)) for _ in range(70_000)]
    documents[69_999] = ["last"]
    small_runs(monkeypatch, 200_000)
    index = BM25.build(tmp_path / "built", (one for one in documents))
    assert (tmp_path / "built").read_bytes() == whole(tmp_path / "saved", documents)
    assert index.search(["last"])[0].tolist() == [69_999]
    assert len(index) == 70_000


@pytest.mark.parametrize("documents", [[], [[]], [[], [], []], ["", "."]])
@pytest.mark.parametrize("run_tokens", [0, 100])
def test_no_documents_or_no_tokens(tmp_path, monkeypatch, documents, run_tokens):
    small_runs(monkeypatch, run_tokens)
    index = BM25.build(tmp_path / "built", documents)
    assert len(index) == len(documents)
    assert not len(index.search("회의")[0])
    assert (tmp_path / "built").read_bytes() == whole(tmp_path / "saved", documents)
    index.add(["회의는 3시"])
    assert index.search("회의")[0].tolist() == [len(documents)]


def test_an_analyzer_takes_the_texts(tmp_path):
    index = BM25.build(tmp_path / "built", ["A b", "B c"], analyzer=str.split, k1=1.5)
    assert list(index.vocabulary) == ["A", "b", "B", "c"]
    assert index.search("B")[0].tolist() == [1]
    assert index.search(["B"])[1].tolist() == BM25.from_tokens([["A", "b"], ["B", "c"]], k1=1.5).search(["B"])[1].tolist()


# ---------------------------------------------------------------------------------------- failures


def failing(documents):
    yield from documents
    raise RuntimeError("the source broke")


@pytest.mark.parametrize("old", [None, b"what was there"])
def test_a_source_that_fails_leaves_nothing(tmp_path, monkeypatch, old):
    small_runs(monkeypatch)
    path = tmp_path / "built"
    if old:
        path.write_bytes(old)
    with pytest.raises(RuntimeError, match="the source broke"):
        BM25.build(path, failing([["a", "b", "c"]] * 100))
    assert names(tmp_path) == (["built"] if old else [])
    assert not old or path.read_bytes() == old


LIMITED = """
import resource, sys
from memtree import BM25, MemtreeError, _streaming
_streaming.MAX_RUN_TOKENS = 30_000
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
try:
    BM25.build(sys.argv[2], ([f"w{n % 5000}", f"v{n % 300}", "x"] for n in range(30_000)))
except MemtreeError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of Unix")
@pytest.mark.parametrize("limit", [100, 50_000, 200_000])
def test_a_disk_without_room_leaves_nothing(tmp_path, limit):
    """The first bytes, a run, or the merged file do not fit: the system refuses larger files."""
    path = tmp_path / "built"
    path.write_bytes(b"what was there")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", LIMITED, str(limit), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"WriteError: {path}: can't write the file: ")
    assert done.stderr.endswith("(its old content is unchanged)\n")
    assert names(tmp_path) == ["built"]
    assert path.read_bytes() == b"what was there"


KILLED = """
from memtree import BM25, _streaming
_streaming.MAX_RUN_TOKENS, _streaming.MAX_RUNS = 20, 4
BM25.build(sys.argv[2], (["a", f"w{n}"] for n in range(200)))
"""


def test_killed_at_any_write_it_can_be_built_again(tmp_path, monkeypatch):
    small_runs(monkeypatch)
    documents = [["a", f"w{n}"] for n in range(200)]
    expected = whole(tmp_path / "saved", documents)
    at = 1
    while killing.run(KILLED, at, tmp_path / "built"):
        assert not (tmp_path / "built").exists() or (tmp_path / "built").read_bytes() == expected
        BM25.build(tmp_path / "built", documents)
        assert names(tmp_path) == ["built", "saved"]
        assert (tmp_path / "built").read_bytes() == expected
        (tmp_path / "built").unlink()
        at += 13
    assert at > 20


def test_two_builds_of_one_file_do_not_mix(tmp_path):
    folder = tmp_path / ".memtree-built.building"
    with Lock(str(folder / "lock")), pytest.raises(LockError):
        BM25.build(tmp_path / "built", [["a"]])
    BM25.build(tmp_path / "built", [["a"]])
    assert names(tmp_path) == ["built"]


def test_too_many_different_tokens_are_told(tmp_path):
    """The budget that is advised is enough, whether the source tells its length or not."""
    documents = [[f"w{n}"] for n in range(1_000_000)]
    for source in (iter(documents), (document for document in documents)):
        with pytest.raises(MemtreeError, match="different tokens are too many for 64 MiB") as told:
            BM25.build(tmp_path / "built", source, memory=1 << 26)
        assert names(tmp_path) == []
        advised = int(re.search(r"memory=(\d+), which takes (\d+) different", told.value.remedy)[1])
        assert 1 << 27 <= advised <= 1 << 30
        BM25.build(tmp_path / "built", documents, memory=advised)
        (tmp_path / "built").unlink()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"source": "one text"}, TypeError, "not one str"),
        ({"source": [[1, 2]]}, TypeError, "a token must be a str, not int"),
        ({"source": [["a"]], "memory": 1 << 20}, ValueError, "memory must be at least"),
        ({"source": [["a"]], "method": "bm42"}, ValueError, "method"),
    ],
)
def test_wrong_arguments(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        BM25.build(tmp_path / "built", **options)
    assert names(tmp_path) == []


def test_a_folder_that_takes_no_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError):
        BM25.build(tmp_path / "file" / "built", [["a"]])


# ------------------------------------------------------------------------------------------ memory

MEASURED = """
import json, resource, sys
unit = 1 if sys.platform == "darwin" else 1024
at_start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
from memtree import BM25

def documents(n):
    state = 1
    for number in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        row = [f"token{int(20_000 ** ((state >> shift) % 4096 / 4096))}" for shift in range(8, 48)]
        yield row + [f"only{number}"] * (number % 8 == 0)

index = BM25.build(sys.argv[1], documents(250_000), memory=64 << 20)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"bytes": (peak - at_start) * unit, "docs": len(index)}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the peak")
def test_memory_stays_below_the_budget(tmp_path):
    """Ten million tokens, in memory 40 MB of ids and 400 MB of Python lists, within 64 MiB, imports included."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "built")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found = json.loads(done.stdout)
    assert found["docs"] == 250_000
    assert found["bytes"] <= 64 << 20


# ---------------------------------------------------------------------------------------- progress


def test_a_function_sees_the_progress(tmp_path, monkeypatch):
    monkeypatch.setattr(_streaming.Progress, "INTERVAL", 0.0)
    seen = []
    BM25.build(tmp_path / "list", [["a"]] * 100, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (100, 100)
    assert seen == sorted(seen)
    seen.clear()
    BM25.build(tmp_path / "generator", (["a"] for _ in range(100)), progress=lambda *now: seen.append(now))
    assert seen[-1] == (100, None)


def test_a_bar_is_drawn(tmp_path, capsys):
    pytest.importorskip("tqdm")
    BM25.build(tmp_path / "built", [["a"]] * 100, progress=True)
    shown = capsys.readouterr().err
    assert "100/100" in shown
    assert "merging" in shown


def test_without_tqdm_the_bar_asks_for_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        BM25.build(tmp_path / "built", [["a"]], progress=True)
    BM25.build(tmp_path / "built", [["a"]])
    assert names(tmp_path) == ["built"]


# ------------------------------------------------------------------------------------------- merge


def in_memory(sizes):
    return {name: bytearray(size) for name, size in sizes.items()}


@settings(deadline=None, max_examples=60)
@given(st.integers())
def test_merging_damaged_postings_does_no_harm(seed):
    """Any bytes in the parts: an error or some postings, but nothing outside of them is read or written."""
    rng = random.Random(seed)
    rows = [rng.choices(range(30), k=rng.randrange(12)) for _ in range(rng.choice([3, 60, 9000]))]
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    postings = Postings.build(indptr, np.array(sum(rows, []), np.uint32), (0, 30))
    segments = []
    for _ in range(2):
        parts = {name: bytearray(part) for name, part in postings.to_parts().items()}
        for _ in range(rng.randrange(6)):
            part = parts[rng.choice(["indptr", "block", "ids", "tf", "big_pos", "doc_len"])]
            if part:
                part[rng.randrange(len(part))] = rng.randrange(256)
        try:
            segments.append(Segment(Postings.from_parts(parts)))
        except IndexFileError:
            continue
    merged = merge(segments, len(rows), 30, in_memory, lambda: None)
    assert merged.n_docs == len(rows)
    merged.to_csc()


def test_a_run_can_not_be_taken_for_an_index(tmp_path, monkeypatch):
    small_runs(monkeypatch)
    builder = _streaming.Builder(str(tmp_path), 1 << 30)
    builder.ids.add_tokens(["a"])
    builder.spill()
    run = next(Path(tmp_path).iterdir())
    with pytest.raises(IndexFileError, match="is of kind 'bm25-run'"):
        BM25.load(run)
    assert open_sections(run, "bm25-run")["columns"].cast("I").tolist() == [0]
