"""Atomic writes, contained paths and the lock, checked against the file system itself."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from memtree import files
from memtree.errors import LockError, PathError, WriteError

HOLD = """
import sys, time
from memtree.files import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def holder():
    """Start a process that holds a lock; killed at the end."""
    started = []

    def start(path, seconds):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_write_replaces_whole_content_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "새 폴더" / "가치관.md"
    files.write_atomic(str(path), "정직\n".encode())
    files.write_atomic(str(path), "정직, 성실\n".encode(), sync=False)
    assert path.read_text(encoding="utf-8") == "정직, 성실\n"
    assert os.listdir(path.parent) == ["가치관.md"]


def test_write_keeps_mode_and_symbolic_link(tmp_path):
    real = tmp_path / "real.md"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(real)
    files.write_atomic(str(link), b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("refusals", [3, 10**6], ids=["for a moment", "always"])
def test_refused_rename_is_retried_then_reported(tmp_path, monkeypatch, refusals):
    """Field case I8."""
    path = tmp_path / "tools.md"
    path.write_text("old")
    calls = []
    real_replace = os.replace

    def refuse(source, target):
        calls.append(source)
        if len(calls) <= refusals:
            raise PermissionError(errno.EACCES, "in use")
        real_replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(files.time, "sleep", lambda seconds: None)
    if refusals == 3:
        files.write_atomic(str(path), b"new")
        assert path.read_text() == "new"
    else:
        with pytest.raises(WriteError, match=r"tools\.md.*in use") as caught:
            files.write_atomic(str(path), b"new")
        assert isinstance(caught.value, OSError)
        assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["tools.md"]


def test_full_disk_keeps_old_content(tmp_path, monkeypatch):
    path = tmp_path / "tools.md"
    path.write_text("old")
    real_write = os.write

    def half(descriptor, data):
        if len(data) > 10:
            return real_write(descriptor, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(WriteError, match="No space left"):
        files.write_atomic(str(path), b"0123456789abcdef")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["tools.md"]


@pytest.mark.parametrize(
    "relative", ["../x.md", "a/../../x.md", "/etc/passwd", "out/x.md", "a\0b", "file.md"]
)
def test_paths_that_leave_the_folder_are_refused(tmp_path, relative):
    root = tmp_path / "bank"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "file.md").symlink_to("/etc/passwd")
    with pytest.raises(PathError):
        files.contained(str(root), relative)


def test_paths_inside_are_given_absolute(tmp_path):
    root = tmp_path / "bank"
    (root / "identity").mkdir(parents=True)
    (root / "self").symlink_to(root / "identity")
    assert files.contained(str(root), "identity/가치관.md") == str(root / "identity" / "가치관.md")
    assert files.contained(str(root), "self/./values.md") == str(root / "self" / "values.md")
    assert files.contained("/", "etc") == "/etc"


def test_lock_waits_for_its_holder(tmp_path, holder):
    """Field case W1: held for a second, then free."""
    holder(tmp_path / "lock", 1)
    start = time.monotonic()
    with files.Lock(str(tmp_path / "lock")) as lock:
        assert time.monotonic() - start > 0.3
        assert not lock.was_abandoned


def test_lock_held_for_ever_is_an_error(tmp_path, holder):
    process = holder(tmp_path / "lock", 600)
    with (
        pytest.raises(LockError, match=rf"{process.pid}.*nothing was changed"),
        files.Lock(str(tmp_path / "lock"), timeout=0.1),
    ):
        pytest.fail("the lock is held by another process")


def test_lock_of_a_killed_process_is_taken_over(tmp_path, holder):
    process = holder(tmp_path / "lock", 600)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with files.Lock(str(tmp_path / "lock"), timeout=5) as lock:
        assert lock.was_abandoned
    with files.Lock(str(tmp_path / "lock")) as lock:
        assert not lock.was_abandoned


def test_lock_keeps_threads_apart(tmp_path):
    inside = []
    most = []

    def work():
        for _ in range(20):
            with files.Lock(str(tmp_path / "lock")):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80
    assert max(most) == 1


def test_lock_survives_deletion_of_its_file(tmp_path):
    path = tmp_path / ".memtree" / "lock"
    with files.Lock(str(path)):
        path.unlink()
    with files.Lock(str(path), timeout=1):
        assert path.exists()
