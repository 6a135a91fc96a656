"""All or nothing: the process is killed at every system call that writes, and the disk refuses at each."""

import errno
import os
import shutil

import killing
import pytest

from memtree import files, journal
from memtree.bank import Bank
from memtree.errors import MemtreeError, WriteError
from memtree.workspace import Workspace

BEFORE = {
    "bank/a.md": "가나다\n",
    "bank/b.md": "old b\n",
    "bank/c.md": "same\n",
}
CONTENTS = {
    "bank/a.md": b"hub\n",
    "bank/a/01-x.md": "가\n".encode(),
    "bank/a/02-y.md": b"b",
    "bank/b.md": b"new",
}
AFTER = {
    "bank/a.md": "hub\n",
    "bank/a/01-x.md": "가\n",
    "bank/a/02-y.md": "b",
    "bank/b.md": "new",
    "bank/c.md": "same\n",
}

CHANGE = f"""
from memtree import journal
from memtree.workspace import Workspace
place = Workspace(sys.argv[2])
if sys.argv[3] == "apply":
    with journal.Writing(place):
        journal.apply(place, "split a.md", {CONTENTS!r})
else:
    journal.undo(place)
"""


def fill(root):
    for name, text in BEFORE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Workspace(str(root))


def tree(root):
    """All files of the user, and the folders."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".memtree"]
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                found[os.path.relpath(path, root)] = file.read()
        for name in folders:
            if not os.listdir(os.path.join(folder, name)):
                found[os.path.relpath(os.path.join(folder, name), root) + "/"] = ""
    return found


def change(place):
    with journal.Writing(place):
        journal.apply(place, "split a.md", CONTENTS)


def test_change_and_undo(tmp_path):
    place = fill(tmp_path)
    change(place)
    assert tree(tmp_path) == AFTER
    assert journal.undo(place) == "split a.md"
    assert tree(tmp_path) == BEFORE
    with pytest.raises(MemtreeError, match="no change to take back"):
        journal.undo(place)


def test_changes_are_taken_back_one_by_one(tmp_path):
    place = fill(tmp_path)
    change(place)
    with journal.Writing(place):
        journal.apply(place, "second", {"bank/c.md": None, "bank/b.md": b"newer"})
    assert journal.undo(place) == "second"
    assert tree(tmp_path) == AFTER
    assert journal.undo(place) == "split a.md"
    assert tree(tmp_path) == BEFORE


def test_undo_refuses_to_lose_an_edit(tmp_path):
    place = fill(tmp_path)
    change(place)
    (tmp_path / "bank/a/02-y.md").write_text("b and more")
    with pytest.raises(MemtreeError, match=r"02-y\.md.*was edited"):
        journal.undo(place)
    assert tree(tmp_path) == {**AFTER, "bank/a/02-y.md": "b and more"}


@pytest.mark.parametrize("verb", ["apply", "undo"])
def test_killed_at_every_call(tmp_path, verb):
    """Whole before or whole after, whichever call is the last; the lock is free again."""
    outcomes = set()
    at = 0
    while True:
        at += 1
        root = tmp_path / str(at)
        place = fill(root)
        if verb == "undo":
            change(place)
        status = killing.run(CHANGE, at, root, verb)
        journal.recover(place)
        with journal.Writing(place, timeout=1):
            pass
        found = tree(root)
        assert found in (BEFORE, AFTER), at
        outcomes.add(found == BEFORE)
        if status == 0:
            break
        assert status == killing.KILLED
        assert [state for state, _ in journal._entries(place) if state != "done"] == []
        shutil.rmtree(root)
    assert at > 20
    assert outcomes == {True, False}


class Refusal:
    """Lets a system call fail the n-th time."""

    def __init__(self, real, at):
        self.real = real
        self.left = at

    def __call__(self, *args, **options):
        self.left -= 1
        if self.left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.real(*args, **options)


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "rename", "mkdir"])
def test_refused_at_every_call(tmp_path, monkeypatch, call):
    """A full disk or a read-only folder: an error, and all as before."""
    monkeypatch.setattr(files.time, "sleep", lambda seconds: None)
    refusals = 0
    while True:
        root = tmp_path / str(refusals)
        place = fill(root)
        refusal = Refusal(getattr(os, call), refusals + 1)
        message = ""
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refusal)
            try:
                change(place)
            except WriteError as error:
                message = str(error)
        journal.recover(place)
        assert tree(root) == (BEFORE if message else AFTER)
        if refusal.left > 0:
            break
        assert not message or "No space left" in message
        refusals += 1
    assert refusals > 0


def interrupt(place):
    """Leave a change as a process does that is killed once it has decided."""
    stage = journal._folder(place, "stage", 1)
    journal._stage(place, stage, "split a.md", CONTENTS, None, {})
    os.rename(stage, journal._folder(place, "apply", 1))


def test_recall_finishes_an_interrupted_change(tmp_path):
    place = fill(tmp_path)
    interrupt(place)
    assert place.is_interrupted()
    Bank(str(tmp_path)).recall("가나다")
    assert not place.is_interrupted()
    assert {name: text for name, text in tree(tmp_path).items() if name in AFTER} == AFTER


def test_readers_leave_a_writer_at_work_alone(tmp_path):
    place = fill(tmp_path)
    with journal.Writing(place):
        interrupt(place)
        assert not journal.recover(place)
        assert tree(tmp_path) == BEFORE
    assert journal.recover(place)
    assert tree(tmp_path) == AFTER


def test_edit_during_an_interruption_is_not_overwritten(tmp_path):
    place = fill(tmp_path)
    interrupt(place)
    (tmp_path / "bank/b.md").write_text("my edit")
    with pytest.raises(MemtreeError, match=r"b\.md.*was edited while"):
        journal.recover(place)
    assert (tmp_path / "bank/b.md").read_text() == "my edit"


def test_stray_temporary_files_are_swept(tmp_path):
    place = fill(tmp_path)
    with journal.Writing(place) as writing:
        pid_file = writing.lock.path
    (tmp_path / "bank/.memtree-99-1.tmp").write_text("half")
    with open(pid_file, "w") as file:
        file.write("99\n")
    with journal.Writing(place):
        pass
    assert tree(tmp_path) == BEFORE
