"""Hubs of split files: what is generated in them, and what becomes of one that has grown again."""

import os
import re

import pytest
from test_split import joined, prose, sections, small, tree, write

from memtree import hub, journal, split
from memtree.errors import LockError
from memtree.files import Lock


def grown(root, path="k/g.md", newline="\n", bom="", front="", more=""):
    """A file that was split and has got more text below the list of its parts."""
    text = bom + front + f"# 안내\n\n{sections('시작', '설치')}"
    place = write(root, {path: text.replace("\n", newline).encode(), "n.md": "[a](k/g.md#설치) [b](k/g.md#안내)\n"})
    split.split(place, path, small(1200))
    with open(root / path, "ab") as file:
        file.write(("\n" + sections("운영", "복구") + more).replace("\n", newline).encode())
    return place


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("front", ["", "---\ntitle: 안내서\n---\n"])
def test_a_hub_that_has_grown_keeps_its_list_and_gains_parts(tmp_path, newline, bom, front):
    place = grown(tmp_path, newline=newline, bom=bom, front=front)
    before, old = tree(tmp_path), (tmp_path / "k/g.md").read_bytes()
    first = hub.parts_of(old)
    made = split.split(place, "k/g.md", small(1200))
    new = (tmp_path / "k/g.md").read_bytes()
    assert [re.match(r"g/(\d+)-", name)[1] for name in hub.parts_of(new)] == ["01", "02", "03", "04"]
    assert hub.parts_of(new) == first + ["g/" + os.path.basename(part.path) for part in made.parts]
    assert [part.title for part in made.parts] == ["운영", "복구"]
    assert joined(made, tmp_path) == old[made.parts[0].start :]
    assert hub.without_generated(new) == hub.without_generated(old[: made.parts[0].start])
    assert all(line in new.splitlines() for line in old[: made.parts[0].start].splitlines())
    assert newline == "\n" or new.count(b"\n") == new.count(b"\r\n")
    journal.undo(place)
    assert tree(tmp_path) == before


def test_references_into_a_grown_hub_and_out_of_its_text(tmp_path):
    place = grown(tmp_path, more="[제목](#안내) [[#안내]] [복구](#복구) [옛 설치](g/02-설치.md#설치) [n](../n.md)\n")
    (tmp_path / "n.md").write_text("[a](k/g.md#운영) [b](k/g.md#안내) [c](k/g.md) k/g.md:2\n", "utf-8")
    made = split.split(place, "k/g.md", small(1200))
    last = (tmp_path / made.parts[-1].path).read_text("utf-8")
    assert last.endswith("[제목](../g.md#안내) [[g#안내]] [복구](#복구) [옛 설치](../g/02-설치.md#설치) [n](../../n.md)\n")
    assert (tmp_path / "n.md").read_text("utf-8") == "[a](k/g/03-운영.md#운영) [b](k/g.md#안내) [c](k/g.md) k/g.md:2\n"
    assert [text for _, _, text in made.kept] == ["k/g.md:2", "k/g.md", "k/g.md#안내"]
    assert made.notes == []


def test_text_above_the_list_stays_in_the_hub(tmp_path):
    place = grown(tmp_path)
    path = tmp_path / "k/g.md"
    path.write_bytes("머리말이다. [운영](#운영) [[#복구]] [안내](#안내) [말][d]\n\n".encode() + path.read_bytes() + b"\n[d]: ../n.md\n")
    made = split.split(place, "k/g.md", small(1200))
    assert path.read_text("utf-8").startswith(
        "머리말이다. [운영](g/03-운영.md#운영) [[g/04-복구#복구]] [안내](#안내) [말][d]\n\n<!-- memtree:generated -->\n# 안내\n")
    assert [message for _, _, message in made.notes] == ["[d] is used above the list of parts, too: define it there"]
    path.write_bytes(prose(5, 3000).encode() + path.read_bytes())
    made = split.split(place, "k/g.md", small(1200))
    assert not made.parts
    assert "move text below it" in made.describe()


def test_the_list_in_a_code_block_is_no_list(tmp_path):
    shown = "```\n<!-- memtree:generated -->\n- [a](g/01-a.md)\n<!-- /memtree:generated -->\n```\n\n"
    place = write(tmp_path, {"g.md": shown + sections("시작", "설치")})
    made = split.split(place, "g.md", small(1200))
    assert made.parts[0].start == 0
    assert made.parts[0].data.startswith(shown.encode())
    assert len(hub.parts_of(made.hub)) == len(made.parts)


def test_the_definitions_of_a_part_are_no_list(tmp_path):
    text = f"## 가\n\n각주[^n]\n\n{prose(1, 900)}## 나\n\n{prose(2, 900)}\n[^n]: 주석\n    - [위](../x.md)\n"
    place = write(tmp_path, {"g.md": text, "x.md": "x"})
    made = split.split(place, "g.md", small(1200))
    first = (tmp_path / made.parts[0].path).read_bytes()
    assert hub.GENERATED in first
    assert hub.parts_of(first) == []


def test_a_byte_order_mark_gets_no_line_of_its_own(tmp_path):
    place = write(tmp_path, {"g.md": b"\xef\xbb\xbf" + sections("시작", "설치").encode()})
    split.split(place, "g.md", small(1200))
    made = (tmp_path / "g.md").read_bytes()
    assert made.startswith(b"\xef\xbb\xbf<!-- memtree:generated -->\n")
    assert hub.without_generated(made) == b"\xef\xbb\xbf"
    assert len(hub.parts_of(made)) == 2


def test_a_part_that_stays_too_large_is_told(tmp_path):
    place = write(tmp_path, {"g.md": sections("시작") + "```\n" + "x\n" * 9000 + "```\n"})
    made = split.plan(place, "g.md", small(1200))
    assert [message for _, _, message in made.notes] == ["stays at 18,008 bytes: one block, with no place to cut"]


def test_no_writer_comes_between_plan_and_split(tmp_path, monkeypatch):
    place = write(tmp_path, {"g.md": sections("시작", "설치")})
    real, held = split.plan, []

    def planned(*arguments):
        with pytest.raises(LockError):
            Lock(os.path.join(place.state, "lock"), timeout=0.0).__enter__()
        held.append(True)
        return real(*arguments)

    monkeypatch.setattr(split, "plan", planned)
    assert split.split(place, "g.md", small(1200)).parts
    assert held == [True]
