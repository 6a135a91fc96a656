"""What a scan finds and leaves out, on real folders."""

import os
import re
import subprocess
import sys
import unicodedata

import pytest

from memtree import workspace
from memtree.errors import BankError, PathError
from memtree.workspace import Workspace

NFD = unicodedata.normalize("NFD", "가치관.md")


@pytest.fixture
def bank(tmp_path):
    """A workspace with two notes, a log, MEMORY.md and all that is never indexed."""
    for name in (
        "bank/identity/values.md",
        "bank/knowledge/recall/notes.markdown",
        "bank/_meta/schema.md",
        "bank/recall/old.md",
        "bank/.obsidian/x.md",
        "bank/.trash/x.md",
        "bank/node_modules/x.md",
        "bank/picture.png",
        "bank/.memtree-1-1.tmp",
        "recall/answer.md",
        ".memtree/x.md",
        ".git/x.md",
        "memory/2026-01-05.md",
        "MEMORY.md",
        "README.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("정직이 먼저다\n", encoding="utf-8")
    return tmp_path


def paths(root, **options):
    problems = []
    found = [entry.path for entry in workspace.scan(Workspace(str(root)), problems=problems, **options)]
    return found, [(problem.path, problem.message) for problem in problems]


def test_scan_takes_notes_only(bank):
    """Field case I11."""
    notes = ["MEMORY.md", "identity/values.md", "knowledge/recall/notes.markdown"]
    assert paths(bank) == (notes, [])
    assert paths(bank, logs=True)[0] == [*notes[:2], notes[2], "memory/2026-01-05.md"]


def test_plain_folder_is_the_bank(tmp_path):
    for name in ("a.md", "memory/b.md", "recall/c.md", ".memtree/d.md", "_meta/e.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert paths(tmp_path)[0] == ["a.md", "memory/b.md"]
    assert Workspace(str(tmp_path)).bank == str(tmp_path)


def test_entries_carry_size_and_time(bank):
    entry = next(e for e in workspace.scan(Workspace(str(bank))) if e.path == "identity/values.md")
    status = (bank / "bank/identity/values.md").stat()
    assert (entry.size, entry.mtime_ns, entry.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)


def test_links_that_leave_or_dangle_are_named(bank):
    (bank / "bank/secret.md").symlink_to("/etc/passwd")
    (bank / "bank/gone.md").symlink_to(bank / "nowhere.md")
    (bank / "bank/etc").symlink_to("/etc")
    os.mkfifo(bank / "bank/pipe.md")
    found, problems = paths(bank)
    assert not {"secret.md", "gone.md", "pipe.md"} & set(found)
    assert dict(problems).keys() == {"secret.md", "gone.md", "etc", "pipe.md"}


def test_links_inside_show_each_file_once(bank):
    (bank / "bank/again.md").symlink_to(bank / "bank/identity/values.md")
    (bank / "bank/loop").symlink_to(bank / "bank")
    (bank / "bank/up").symlink_to(bank)
    (bank / "bank/readme.md").symlink_to(bank / "README.md")
    (bank / "bank/daily").symlink_to(bank / "memory")
    found, problems = paths(bank)
    assert found == [
        "MEMORY.md",
        "daily/2026-01-05.md",
        "identity/values.md",
        "knowledge/recall/notes.markdown",
        "readme.md",
    ]
    assert problems == []


def test_bank_that_is_a_link_out_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("x")
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "bank").symlink_to(outside)
    assert paths(root)[0] == []


def test_name_in_either_unicode_form(bank):
    """Field case I5: one entry, found by both forms, also after the form on disk flips."""
    for stored, other in ((NFD, "가치관.md"), ("가치관.md", NFD)):
        (bank / "bank/identity" / stored).write_text("x")
        place = Workspace(str(bank))
        assert [p for p in paths(bank)[0] if "values" not in p][:2] == ["MEMORY.md", "identity/가치관.md"]
        for asked in (stored, other):
            assert os.path.samefile(place.locate("identity/" + asked), bank / "bank/identity" / stored)
        assert place.name(str(bank / "bank/identity" / stored)) == "identity/가치관.md"
        (bank / "bank/identity" / stored).unlink()


def test_two_files_of_one_name_in_both_forms_are_both_listed(bank):
    for form in (NFD, "가치관.md"):
        (bank / "bank" / form).write_text(form)
    entries = {entry.path: entry.real for entry in workspace.scan(Workspace(str(bank)))}
    assert os.path.basename(entries["가치관.md"]) == "가치관.md"
    assert os.path.basename(entries[NFD]) == NFD


def test_locate_keeps_to_the_workspace(bank):
    place = Workspace(str(bank))
    assert place.locate("MEMORY.md") == str(bank / "MEMORY.md")
    assert place.locate("memory/2026-01-05.md") == str(bank / "memory/2026-01-05.md")
    (bank / "bank/secret.md").symlink_to("/etc/passwd")
    for path in ("README.md", "../README.md", "/etc/passwd", "none.md", "secret.md", "identity"):
        with pytest.raises(PathError):
            place.locate(path)


def test_find_climbs_to_the_workspace(bank, tmp_path):
    assert workspace.find(str(bank)).root == str(bank)
    assert workspace.find(str(bank / "bank/identity")).root == str(bank)
    assert workspace.find(str(bank / "memory")).root == str(bank)
    with pytest.raises(BankError, match="no such folder"):
        workspace.find(str(tmp_path / "none"))


def test_a_bank_beside_a_folder_does_not_claim_it(tmp_path):
    (tmp_path / "bank").mkdir()
    (tmp_path / "notes").mkdir()
    assert workspace.find(str(tmp_path / "notes")).root == str(tmp_path / "notes")
    (tmp_path / "memtree.toml").touch()
    assert workspace.find(str(tmp_path / "notes")).root == str(tmp_path)


def read(bank, name, **options):
    problems = []
    entry = next(e for e in workspace.scan(Workspace(str(bank))) if e.path == name)
    data = workspace.read(entry, problems, **options)
    return data, [str(problem) for problem in problems], entry


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a\0b", "binary"),
        ("회의\n".encode() + "가치관".encode("euc-kr"), r"not UTF-8 \(line 2\)"),
        (b"x" * 101, "too large: 101 bytes, the limit is 100"),
    ],
)
def test_unusable_files_are_named(bank, content, words):
    (bank / "bank/bad.md").write_bytes(content)
    data, problems, entry = read(bank, "bad.md", max_bytes=100)
    assert data is None
    assert len(problems) == 1
    assert re.match(rf"bad\.md: .*{words}", problems[0])
    assert entry.digest == b""


def test_read_gives_content_and_digest(bank):
    data, problems, entry = read(bank, "identity/values.md")
    assert data == "정직이 먼저다\n".encode()
    assert problems == []
    assert entry.digest == workspace.digest(data)
    assert len(entry.digest) == 16


def test_a_file_that_became_a_link_is_not_followed(bank):
    place = Workspace(str(bank))
    entry = next(e for e in workspace.scan(place) if e.path == "identity/values.md")
    (bank / "bank/identity/values.md").unlink()
    problems = []
    assert workspace.read(entry, problems) is None
    (bank / "bank/identity/values.md").symlink_to("/etc/passwd")
    assert workspace.read(entry, problems) is None
    assert len(problems) == 2


def test_nfc_is_that_of_unicodedata():
    for name in ("plain.md", "가치관", NFD, "Über", "Über", "ｂｍ２５", "é", "ἀ", "が", "각"):
        assert workspace.nfc(name) == unicodedata.normalize("NFC", name)


def test_import_is_light():
    code = (
        "import sys; before = set(sys.modules); import memtree.workspace, memtree.config, memtree.files;"
        "print(*sorted({'re', 'json', 'pathlib', 'hashlib', 'unicodedata'} & set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                         env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert out.stdout == "\n"


@pytest.mark.parametrize("mark", ["memory/", "MEMORY.md", "memtree.toml", ".memtree/"])
def test_the_bank_of_a_workspace_stands_for_it(tmp_path, mark):
    root = tmp_path / "w"
    (root / "bank" / "knowledge").mkdir(parents=True)
    assert Workspace(str(root / "bank")).root == str(root / "bank")
    (root / mark).mkdir() if mark.endswith("/") else (root / mark).touch()
    place = Workspace(str(root / "bank"))
    assert (place.root, place.bank, place.doubt) == (str(root), str(root / "bank"), "")
    assert workspace.find(str(root / "bank" / "knowledge")).root == str(root)
    assert Workspace(str(root / "bank" / "knowledge")).root == str(root / "bank" / "knowledge")


def test_a_bank_that_could_be_meant_by_itself_is_told(tmp_path):
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    (root / "bank" / ".memtree").mkdir(parents=True)
    place = Workspace(str(root / "bank"))
    assert place.root == str(root)
    assert "bank/.memtree is of no use any more: delete it" in place.doubt
    assert workspace.find(str(root / "bank")).root == str(root)
    (root / "bank" / "memtree.toml").touch()
    place = Workspace(str(root / "bank"))
    assert place.root == str(root / "bank")
    assert str(root) in place.doubt
    assert Workspace(str(root)).doubt == ""
