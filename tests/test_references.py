"""References that are easily passed over: in longer texts of code and data, by line, in files that can't be read."""

import os

import pytest
from test_split import sections, small, write

from memtree import split
from memtree.links import find

PATHS = {"k/g.md": "# 안내\n\n" + sections("설치", "운영"), "k/other.md": "x"}


def follow(root, name, text, path="k/g.md"):
    """Split; give the plan and the file as it is then."""
    place = write(root, {**PATHS, name: text})
    made = split.split(place, path, small(1300))
    return made, (root / name).read_bytes().decode()


@pytest.mark.parametrize(("name", "text"), [
    ("a.py", 'y = "see k/g.md#운영 for more"\n'),
    ("a.py", "y = '자세한 것은 k/g.md#운영'\n"),
    ("a.py", 'y = """see k/g.md#운영"""\n'),
    ("a.py", 'y = f"({root}/k/g.md#운영)"\n'.replace("{root}/", "")),
    ("a.json", '{"b": "see k/g.md#운영 x", "c": ["k/other.md,k/g.md#운영"]}\n'),
    ("a.toml", 'note = "k/g.md#운영, 그리고 k/other.md"\n'),
    ("a.toml", "path = 'path:k/g.md#운영'\n"),
    ("a.sh", 'echo "see k/g.md#운영"\ncat k/g.md#운영\n'),
    ("a.yaml", "a: see k/g.md#운영\nb: 'see k/g.md#운영'\n"),
])
def test_paths_within_longer_texts(tmp_path, name, text):
    made, found = follow(tmp_path, name, text)
    assert found == text.replace("k/g.md#운영", "k/g/02-운영.md#운영")
    assert len([edit for edit in made.edits if edit.path == name]) == text.count("#운영")
    assert made.notes == []


def test_escaped_letters_in_a_longer_text(tmp_path):
    escaped = "운영".encode("ascii", "backslashreplace").decode()
    _, found = follow(tmp_path, "a.json", f'{{"b": "see k/g.md#{escaped}."}}')
    assert found == f'{{"b": "see k/g/02-{escaped}.md#{escaped}."}}'


def test_a_name_with_a_blank_is_one_path_where_there_is_such_a_file(tmp_path):
    place = write(tmp_path, {"내 노트.md": sections("설치", "운영"), "노트.md": "x", "a.py": "A = '내 노트.md#운영'\nB = 'see 노트.md'\n"})
    split.split(place, "내 노트.md", small(1200))
    assert (tmp_path / "a.py").read_text("utf-8") == "A = '내 노트/02-운영.md#운영'\nB = 'see 노트.md'\n"


def test_addresses_in_texts_are_left(tmp_path):
    text = 'a = "https://e.org/k/g.md#운영"\nb = "see https://e.org/k/g.md#운영"\n'
    made, found = follow(tmp_path, "a.py", text)
    assert (found, [edit for edit in made.edits if edit.path == "a.py"], made.notes) == (text, [], [])


@pytest.mark.parametrize("definition", ["", "[d]: other.md\n"])
@pytest.mark.parametrize(("name", "form"), [
    ("n.md", "k/g.md:{}"), ("n.md", "k/g.md:{}-{}을 보라"), ("n.md", "[a](k/g.md#L{})"), ("n.md", "[a](k/g.md#L{}-L{})"),
    ("n.md", "[a](<k/g.md:{}>)"), ("a.yaml", "at: k/g.md:{}"), ("a.py", 'AT = "k/g.md:{}"'), ("a.sh", "memtree get k/g.md:{}-{}"),
    ("a.sh", "grep k/g.md:{}:7"),
])
def test_a_reference_by_line_leads_to_the_part_with_that_line(tmp_path, name, form, definition):
    """Also where generated lines stand above the text of the part."""
    lines = (PATHS["k/g.md"] + "[정의][d]\n").splitlines(True)
    wanted = lines.index("[정의][d]\n")
    text = definition + "\n" * bool(definition) + "".join(lines)
    number = wanted + 1 + 2 * bool(definition)
    place = write(tmp_path, {"k/g.md": text, "k/other.md": "x", name: form.replace("을", "").format(number, number)})
    made = split.split(place, "k/g.md", small(1300))
    part = (tmp_path / "k/g/02-운영.md").read_text("utf-8").splitlines()
    new = part.index("[정의][d]") + 1
    assert (part[0] == "<!-- memtree:generated -->") == bool(definition)
    found = (tmp_path / name).read_text("utf-8")
    assert found == form.replace("을", "").replace("k/g.md", "k/g/02-운영.md").format(new, new)
    assert made.notes == []


@pytest.mark.parametrize("text", ["k/g.md:1-30", "k/g.md:900", "[a](k/g.md#L900)", "k/g.md:0", "k/g.md:12에서"])
def test_lines_that_are_not_in_one_part_are_listed(tmp_path, text):
    made, found = follow(tmp_path, "n.md", text)
    assert found == text
    assert [(path, line) for path, line, _ in made.notes] == [("n.md", 1)]


def test_lines_of_the_front_matter_stay_with_the_hub(tmp_path):
    place = write(tmp_path, {"g.md": "---\ntitle: 안내\n---\n" + sections("설치", "운영"), "n.md": "g.md:2"})
    made = split.split(place, "g.md", small(1200))
    assert ((tmp_path / "n.md").read_text(), [text for _, _, text in made.kept]) == ("g.md:2", ["g.md:2"])


def test_files_that_can_not_be_read_are_listed(tmp_path, monkeypatch):
    place = write(tmp_path, {**PATHS, "lat.md": b"caf\xe9 [x](k/g.md#x)\n", "far.md": b"caf\xe9\n", "kr.md": "안내".encode("euc-kr"),
                             "wide.py": "A = 'k/g.md'".encode("utf-16"), "closed.md": "[x](k/g.md#x)"})
    real = open

    def refuse(path, *arguments, **options):
        if str(path).endswith("closed.md"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **options)

    monkeypatch.setattr("builtins.open", refuse)
    made = split.plan(place, "k/g.md", small(1300))
    assert made.parts
    assert sorted((path, message.partition(";")[0]) for path, _, message in made.notes) == [
        ("closed.md", "can't be read: Permission denied"), ("lat.md", "is not UTF-8"), ("wide.py", "is not UTF-8")]


def test_a_name_that_other_encodings_spell_otherwise_makes_every_such_file_doubtful(tmp_path):
    place = write(tmp_path, {"안내.md": sections("설치", "운영"), "kr.md": "[x](안내.md)".encode("euc-kr")})
    made = split.plan(place, "안내.md", small(1200))
    assert [path for path, _, _ in made.notes] == ["kr.md"]


def test_a_link_in_other_letter_case_or_with_backslashes(tmp_path):
    _, found = follow(tmp_path, "n.md", "[a](k/G.md#운영) [b](K/g.MD#운영) [c](k\\g.md#운영)")
    assert found == "[a](k/g/02-운영.md#운영) [b](K/g/02-운영.md#운영) [c](k/g/02-운영.md#운영)"


def test_packages_of_others_are_left(tmp_path):
    files = {"venv/pyvenv.cfg": "", "venv/lib/a.py": "A = 'k/g.md#운영'"}
    place = write(tmp_path, {**PATHS, **files})
    made = split.plan(place, "k/g.md", small(1300))
    assert not [path for path in made.contents if path.startswith("venv")]


@pytest.mark.parametrize("ending", ["MD", "Md", "MARKDOWN"])
def test_any_letter_case_of_the_ending(tmp_path, ending):
    place = write(tmp_path, {f"UP.{ending}": sections("설치", "운영"), "n.md": f"[a](UP.{ending}#운영) [[UP#운영]] UP.{ending}#운영\n"})
    made = split.split(place, f"UP.{ending}", small(1200))
    assert len(made.parts) == 2
    assert (tmp_path / "n.md").read_text("utf-8") == "[a](UP/02-운영.md#운영) [[UP/02-운영#운영]] UP/02-운영.md#운영\n"


def test_find_takes_one_word_for_a_path_if_it_can_not_ask():
    assert [reference.path for reference in find(b"a = 'see k/g.md'; b = 'k/h.md'", "a.py")] == ["k/h.md", "k/g.md"][::-1]


def test_hostile_texts_take_no_time(tmp_path):
    text = '{"a": "' + "see k/g.md:" * 20_000 + '", "b": "' + "\\uc124" * 50_000 + '.md", "c": "' + "x.md:1" * 20_000 + '"}'
    place = write(tmp_path, {**PATHS, "a.json": text, "n.md": "k/g.md:" * 20_000 + "\n\n" + "[a](k/g.md:" * 20_000})
    assert split.plan(place, "k/g.md", small(1300)).parts
    assert os.path.getsize(tmp_path / "a.json") == len(text.encode())
