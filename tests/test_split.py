"""Splits, checked by a resolver of its own and by putting the parts together again."""

import errno
import json
import os
import random
import re
import shutil
import unicodedata
from itertools import zip_longest

import killing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.links import Resolver
from test_markdown import SAMPLE

from memtree import hub, journal, split
from memtree.config import Settings
from memtree.errors import MemtreeError, WriteError
from memtree.workspace import Workspace

SENTENCES = """\
회의 기록을 정리하고 다음 주 계획을 세웠다 도구 설치 방법을 확인했다
the deploy script reads its settings from a file keep notes short and dated
아침에는 산책을 하고 저녁에는 책을 읽는다 오류가 나면 로그를 먼저 본다
"""
WORDS = SENTENCES.split()


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Workspace(str(root))


def small(limit=8192):
    wanted = Settings()
    wanted.warn_bytes = limit
    return wanted


def prose(seed, size):
    """About `size` bytes of sentences in paragraphs."""
    chooser = random.Random(seed)
    text = ""
    while len(text.encode()) < size:
        text += " ".join(chooser.choices(WORDS, k=chooser.randint(8, 25))) + ".\n\n"
    return text


def tree(root):
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".memtree"]
        for name in folders:
            found[os.path.join(folder, name)] = None
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found


def joined(made, root):
    """The original body: generated lines dropped, destinations of the plan put back."""
    body = b""
    edits = [edit for edit in made.edits if edit.path == made.path]
    for part in made.parts:
        text = hub.without_generated((root / part.path).read_bytes())
        shift = -part.start
        for edit in edits:
            if part.start <= edit.start < part.end:
                at = edit.start + shift
                assert text[at : at + len(edit.new)] == edit.new
                text = text[:at] + edit.old + text[at + len(edit.new) :]
        body += text
    return body


def check(root, path, limit=8192):
    """Split a file and check what must hold for every split; give the plan."""
    place = Workspace(str(root))
    source = path if place.bank == place.root else "bank/" + path
    original = (root / source).read_bytes()
    before_tree = tree(root)
    before = Resolver(root, "" if place.bank == place.root else "bank")
    made = split.plan(place, path, small(limit))
    assert tree(root) == before_tree, "a plan writes nothing"
    if not made.parts:
        assert made.notes
        return made
    split.apply(place, made)
    after = Resolver(root, before.bank)
    names = [part.path for part in made.parts]
    start = original.find(original[made.parts[0].start :])
    assert joined(made, root) == original[start:]
    kept = hub.without_generated((root / source).read_bytes())
    front = [edit for edit in made.edits if edit.path == source and edit.start < start]
    assert front or kept.rstrip(b"\r\n") == original[:start].rstrip(b"\r\n")
    assert [os.path.basename(p) for p in hub.parts_of((root / source).read_bytes())] == [
        os.path.basename(name) for name in names
    ]
    offsets = {}
    count = 0
    for name in names:
        offsets[name] = count
        count += len(after.documents[name][0])
    assert [h for name in names for h in after.documents[name][0]] == before.documents[source][0]

    def place_of(resolver, at, reference):
        path, heading = resolver.target(at, reference)
        if path not in offsets or heading is None:
            return path, heading
        # A text is a fragment that leads nowhere, as before.
        return source, heading if isinstance(heading, str) else offsets[path] + heading

    for path in before.texts:
        if not path.endswith((".md", ".json", ".toml", ".yaml", ".py", ".sh")):
            continue
        if path.endswith("tree-index.json"):
            continue
        old = [before.target(path, r) for r in before.references(path)]
        if path == source:
            new = [place_of(after, name, r) for name in names for r in after.references(name)]
        else:
            new = [place_of(after, path, r) for r in after.references(path)]
        differences = [(path, o, n) for o, n in zip_longest(old, new) if o != n]
        assert differences == []
    journal.undo(place)
    assert tree(root) == before_tree, "undo restores the tree bit for bit"
    return made


FRONT = """\
---
title: 안내서
tags: [도구, 설치]
---
# 안내서

머리말. 자세한 것은 [설치](#설치-방법), [끝](#끝), [[#설정]], [위](../MEMORY.md), [옆](tools.md#망치).

"""
EACH = """\
- 항목 하나
  - 하위 [그림](img/a.png) ![g](<img/b c.png>)
- 항목 둘 [웹](https://e.org/guide.md#x)

| 이름 | 값 |
|---|---|
| [[guide#설치 방법\\|설치]] | 1 |

```bash
# 주석
[[ -z $1 ]] && cat [x](없음.md)
```

"""
ONCE = {
    3: """\
## 설치 방법

설치는 [정의][lab]를 보고, 각주[^1]도 본다. guide.md와 [자기](guide.md) 그리고 [장](guide.md#장-7).

""",
    6: "## 설정\n\n첫 설정 [다음](#설정-1)\n\n",
    9: """\
설정
----

둘째 설정 [앞](#설정) [설치](#%EC%84%A4%EC%B9%98-%EB%B0%A9%EB%B2%95)

""",
}
BACK = """\
[lab]: #끝 '제목'
[^1]: 각주는 [여기](#장-1)를 가리킨다.

## 끝

<!--
## 숨은 절

[c](#끝)
-->

끝 글 [lab] [^1].
"""


def guide(newline="\n", bom=""):
    """46 KB of everything, with references of every kind into itself and out."""
    chapters = (f"## 장 {n}\n\n{prose(n, 3500)}{EACH}{ONCE.get(n, '')}" for n in range(12))
    return (bom + (FRONT + "".join(chapters) + BACK).replace("\n", newline)).encode()


OTHERS = {
    "MEMORY.md": """\
# 기억

[안내](bank/knowledge/guide.md#설치-방법) [[guide#끝|끝]] bank/knowledge/guide.md 그리고 guide.md#설정-1
""",
    "bank/knowledge/tools.md": """\
## 망치
[a](guide.md#장-2) [b](<guide.md#장-3>) [d](guide.md)
[c](./guide.md#%EC%84%A4%EC%A0%95-1 "제목")
""",
    "bank/entities/x.md": """\
[a](../knowledge/guide.md#끝) [r][k] ![i](../knowledge/guide.md)

[k]: ../knowledge/guide.md#장-5

| [[guide\\|안내]] | [[knowledge/guide#장 8\\|팔]] |
|---|---|
| `[[guide#끝]]` | [[Guide#장 9]] |
""",
    "bank/entities/안내 노트.md": """\
[a](../knowledge/guide#장-1) <a href="../knowledge/guide.md#장-4">사</a> knowledge/guide.md#끝
""",
    "bank/_meta/tree-index.json": """\
{"version": 1,
 "nodes": {"k": {"keywords": ["안내"], "files": ["knowledge/guide.md"]}}}
""",
    "bank/_meta/schema.md": "표는 knowledge/guide.md를 본다.\n",
    "memtree.toml": '[[routing]]\ntag = "W"\nfile = "knowledge/guide.md"\n',
    "bank/links.json": """\
{"start": "knowledge/guide.md#\\uc124\\uc815", "all": ["bank/knowledge/guide.md", "guide.md"]}
""",
    "bank/list.yaml": "- knowledge/guide.md#장-10\n- guide.md\n",
    "scripts/run.sh": "cat bank/knowledge/guide.md\nopen bank/knowledge/guide.md#끝\n",
    "scripts/run.py": "GUIDE = 'bank/knowledge/guide.md'\nEND = 'bank/knowledge/guide.md#끝'\n",
    "memory/2026-01-05.md": "## Retain\n\n- W @도구: [[guide#장 11]]를 고쳤다\n",
    "bank/knowledge/img/a.png": "x",
    "bank/knowledge/img/b c.png": "x",
    ".git/x.md": "[a](../bank/knowledge/guide.md#끝)",
    "recall/x.md": "[a](../bank/knowledge/guide.md#끝)",
}
NO_REFERENCE = {
    "bank/_meta/tree-index.json",
    "bank/knowledge/img/a.png",
    "bank/knowledge/img/b c.png",
    ".git/x.md",
    "recall/x.md",
}


@pytest.mark.parametrize(("newline", "bom"), [("\n", ""), ("\r\n", "\ufeff")])
def test_large_file_with_references_of_all_kinds(tmp_path, newline, bom):
    original = guide(newline, bom)
    assert len(original) > 46_000
    write(tmp_path, {"bank/knowledge/guide.md": original, **OTHERS})
    made = check(tmp_path, "knowledge/guide.md")
    assert all(len(part.data) < 8192 for part in made.parts)
    assert len(made.parts) <= 9
    places = {path for path, _, _ in made.kept} | {edit.path for edit in made.edits}
    assert places >= OTHERS.keys() - NO_REFERENCE
    assert len(made.kept) + len(made.edits) >= 40
    if bom:
        for part in made.parts:
            assert part.data.count(b"\n") == part.data.count(b"\r\n")
        assert made.hub.count(b"\n") == made.hub.count(b"\r\n")


def test_tree_index_names_the_parts(tmp_path):
    place = write(tmp_path, {"bank/knowledge/guide.md": guide(), **OTHERS})
    made = split.plan(place, "knowledge/guide.md", small())
    split.apply(place, made)
    tree_index = json.loads((tmp_path / "bank/_meta/tree-index.json").read_text(encoding="utf-8"))
    listed = tree_index["nodes"]["k"]["files"]
    assert listed == ["knowledge/guide.md"] + [part.path.removeprefix("bank/") for part in made.parts]
    assert all((tmp_path / "bank" / name).is_file() for name in listed)


def test_plan_is_told_in_words(tmp_path):
    place = write(tmp_path, {"bank/knowledge/guide.md": guide(), **OTHERS})
    text = split.plan(place, "knowledge/guide.md", small()).describe()
    assert re.search(r"bank/knowledge/guide/01-안내서\.md  [\d,]+ bytes", text)
    assert "bank/knowledge/tools.md:2: guide.md#장-2 -> guide/" in text
    assert "memtree.toml:3: knowledge/guide.md" in text


def sections(*names, size=900):
    return "".join(f"## {name}\n\n{prose(name, size)}" for name in names)


def split_at(root, files, path, limit=1200):
    made = check(write(root, files).root and root, path, limit)
    place = Workspace(str(root))
    split.apply(place, split.plan(place, path, small(limit)))
    return made, {part.path: (root / part.path).read_text(encoding="utf-8") for part in made.parts}


def test_link_into_another_part_is_led_there_and_others_stay(tmp_path):
    """Field case M13."""
    text = f"## 첫째\n\n[설치](#설치) [여기](#첫째)\n\n{prose(1, 800)}## 설치\n\n{prose(2, 800)}"
    _, parts = split_at(tmp_path, {"a.md": text}, "a.md")
    assert "[설치](02-설치.md#설치) [여기](#첫째)" in parts["a/01-첫째.md"]


def test_alias_in_a_table_keeps_its_backslash(tmp_path):
    """Field case M11."""
    note = "| [[tools\\|도구]] | [[tools#설치\\|설치]] |\n|---|---|\n"
    split_at(tmp_path, {"tools.md": sections("첫째", "설치"), "n.md": note}, "tools.md")
    assert (tmp_path / "n.md").read_text() == "| [[tools\\|도구]] | [[tools/02-설치#설치\\|설치]] |\n|---|---|\n"


def test_destinations_keep_their_style(tmp_path):
    """Field case M12."""
    links = '[a](<내 노트.md#설치>), [b](내%20노트.md#설치), [c](a_(b).md#설치), [d](x.md#설치 "제목")'
    for name in ("내 노트.md", "a_(b).md", "x.md"):
        root = tmp_path / name
        made, _ = split_at(root, {name: sections("첫째", "설치"), "n.md": links}, name)
        found = (root / "n.md").read_text()
        wanted = {
            "내 노트.md": links.replace("<내 노트.md#", "<내 노트/02-설치.md#").replace(
                "내%20노트.md#설치",
                "%EB%82%B4%20%EB%85%B8%ED%8A%B8/02-%EC%84%A4%EC%B9%98.md#%EC%84%A4%EC%B9%98",
            ),
            "a_(b).md": links.replace("a_(b).md", "a_(b)/02-설치.md"),
            "x.md": links.replace("x.md", "x/02-설치.md"),
        }[name]
        assert found == wanted
    spaced = sections("첫째", "설치") + "[e](내 노트.md)\n"
    made, _ = split_at(tmp_path / "spaced", {"g.md": spaced, "내 노트.md": "x"}, "g.md")
    assert any("내 노트.md" in message for _, _, message in made.notes)


def test_github_anchors_lead_to_the_same_heading(tmp_path):
    """Field case M15: the number of a repeated heading changes with the part."""
    names = ("설치 방법", "설정", "A — B", "Über Uns")
    text = "".join(f"## {name}\n\n{prose(name, 900)}" for name in names) + f"## 설정\n\n{prose(9, 900)}"
    fragments = ("설치-방법", "설정", "설정-1", "a--b", "über-uns", "%EC%84%A4%EC%A0%95-1")
    links = " ".join(f"[{number}](g.md#{fragment})" for number, fragment in enumerate(fragments, 1))
    made, _ = split_at(tmp_path, {"g.md": text, "n.md": links}, "g.md")
    assert len(made.parts) == 5
    found = (tmp_path / "n.md").read_text()
    assert "[3](g/05-설정.md#설정)" in found
    assert "[4](g/03-a-b.md#a--b)" in found


def test_links_out_of_the_part_are_rebased(tmp_path):
    """Field case M19."""
    text = f"## 가\n\n![그림](img/a.png) [위](../x.md) [웹](https://e.org)\n\n{prose(1, 900)}{sections('나')}"
    _, parts = split_at(tmp_path, {"bank/k/g.md": text, "bank/x.md": "x", "bank/k/img/a.png": "x"}, "k/g.md")
    assert "![그림](../img/a.png) [위](../../x.md) [웹](https://e.org)" in parts["bank/k/g/01-가.md"]


def test_code_and_comments_are_left_alone(tmp_path):
    """Field case M10."""
    hidden = "`[[g#나]]`\n\n```bash\n[x](g.md#나)\n[[ -z $1 ]]\n```\n\n<!-- [y](g.md#나) -->\n"
    made, _ = split_at(tmp_path, {"g.md": sections("가", "나"), "n.md": hidden}, "g.md")
    assert (tmp_path / "n.md").read_text() == hidden
    assert len(made.notes) == 3


def test_definitions_and_footnotes_follow_their_use(tmp_path):
    text = f"## 가\n\n[설명][d] 각주[^n]\n\n{prose(1, 800)}## 나\n\n{prose(2, 800)}\n[d]: #나\n"
    text += "[^n]: 주석 [위](../x.md)\n"
    _, parts = split_at(tmp_path, {"k/g.md": text, "x.md": "x"}, "k/g.md")
    first = parts["k/g/01-가.md"]
    assert first.startswith("<!-- memtree:generated -->\n[d]: 02-나.md#나\n[^n]: 주석 [위](../../x.md)\n<!-- /memtree:")


def test_cuts_spare_what_belongs_together(tmp_path):
    fence = "```\n" + "## no heading\n\n" * 60 + "```\n"
    table = "| a |\n|---|\n" + "| 값 |\n" * 100
    comment = "<!--\n" + "## 숨은 절\n\n" * 50 + "-->\n"
    item = "- 항목\n\n" + "  문단이 이어진다\n\n" * 50
    text = sections("가") + fence + "\n" + table + "\n" + comment + "\n" + item + "\n" + sections("나")
    made, parts = split_at(tmp_path, {"g.md": text}, "g.md")
    for whole in (fence, table, comment, item):
        assert sum(whole.rstrip() in part for part in parts.values()) == 1


def test_file_without_headings_splits_at_paragraphs(tmp_path):
    made, parts = split_at(tmp_path, {"g.md": prose(1, 5000)}, "g.md")
    assert len(made.parts) >= 5
    assert all(text.endswith(".\n\n") for text in parts.values())


def test_one_huge_block_is_left_and_said(tmp_path):
    place = write(tmp_path, {"g.md": "```\n" + "x\n" * 20_000 + "```\n"})
    made = split.plan(place, "g.md", small())
    assert made.parts == []
    assert "can't be split" in made.describe()
    split.apply(place, made)
    assert os.listdir(tmp_path) == ["g.md"]


def test_ambiguous_reference_is_listed_not_guessed(tmp_path):
    files = {"a/g.md": sections("가", "나"), "b/g.md": "x", "n.md": "[[g#나]] g.md [x](a/g.md#나)"}
    made, _ = split_at(tmp_path, files, "a/g.md")
    assert [message.count("could mean a/g.md or b/g.md") for _, _, message in made.notes] == [1, 1]
    assert (tmp_path / "n.md").read_text() == "[[g#나]] g.md [x](a/g/02-나.md#나)"


def test_names_of_parts_are_safe_and_do_not_clash(tmp_path):
    titles = ('CON: "a/b"?', "가" * 60, "...", "Über", "ÜBER", "나")
    text = "".join(f"## {title}\n\n{prose(title, 900)}" for title in titles)
    files = {"g.md": text, "g/06-나.md": "x", "other/04-über.md": "x"}
    made, parts = split_at(tmp_path, files, "g.md")
    names = [os.path.basename(path) for path in parts]
    assert len({name.casefold() for name in names}) == len(titles)
    assert names[0] == "01-con-ab.md"
    assert all(len(name.encode()) < 100 and re.fullmatch(r"[\w-]+\.md", name) for name in names)
    assert not {"06-나.md", "04-über.md"} & set(names)
    assert (tmp_path / "g/06-나.md").read_text() == "x"


def test_rule_at_the_start_of_a_part_is_no_front_matter(tmp_path):
    text = f"---\ntitle: a\n---\n---\ntitle: 나\n\n---\n\n{prose(1, 900)}{sections('나')}"
    check(write(tmp_path, {"g.md": text}).root and tmp_path, "g.md", 1200)


def test_edit_after_the_plan_is_not_overwritten(tmp_path):
    place = write(tmp_path, {"g.md": sections("가", "나"), "n.md": "[x](g.md#나)"})
    made = split.plan(place, "g.md", small(1200))
    (tmp_path / "n.md").write_text("[x](g.md#나) new")
    with pytest.raises(MemtreeError, match="was edited since"):
        split.apply(place, made)
    assert sorted(os.listdir(tmp_path)) == [".memtree", "g.md", "n.md"]


SPLIT = """
from memtree import split
from memtree.config import Settings
from memtree.workspace import Workspace
wanted = Settings()
wanted.warn_bytes = 1200
place = Workspace(sys.argv[2])
split.apply(place, split.plan(place, "k/g.md", wanted))
"""


def test_killed_at_every_call_it_is_whole_before_or_after(tmp_path):
    files = {"k/g.md": sections("가", "나"), "n.md": "[x](k/g.md#나)", "m.md": "[[g#가]]"}
    write(tmp_path / "after", files)
    before = {os.path.relpath(path, tmp_path / "after"): data for path, data in tree(tmp_path / "after").items()}
    assert killing.run(SPLIT, 0, tmp_path / "after") == 0
    after = {os.path.relpath(path, tmp_path / "after"): data for path, data in tree(tmp_path / "after").items()}
    outcomes = set()
    status = killing.KILLED
    at = 0
    while status == killing.KILLED:
        at += 1
        root = tmp_path / str(at)
        place = write(root, files)
        status = killing.run(SPLIT, at, root)
        journal.recover(place)
        found = {os.path.relpath(path, root): data for path, data in tree(root).items()}
        assert found in (before, after), at
        outcomes.add(found == before)
        shutil.rmtree(root)
    assert status == 0
    assert at > 50
    assert outcomes == {True, False}


def test_full_disk_or_closed_folder_changes_nothing(tmp_path, monkeypatch):
    place = write(tmp_path, {"k/g.md": sections("가", "나"), "n.md": "[x](k/g.md#나)"})
    made = split.plan(place, "k/g.md", small(1200))
    before = tree(tmp_path)
    real = os.replace

    def refuse(source, target):
        if target.endswith("n.md"):
            raise OSError(errno.EROFS, "Read-only file system")
        real(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(WriteError, match=r"Read-only file system.*nothing was changed"):
        split.apply(place, made)
    assert tree(tmp_path) == before
    assert not place.is_interrupted()


def test_name_stored_decomposed(tmp_path):
    """Field case I5: the file is stored NFD, the links are NFC."""
    stored = unicodedata.normalize("NFD", "지식/가치관.md")
    place = write(tmp_path, {stored: sections("가", "나"), "n.md": "[x](지식/가치관.md#나) [[가치관#가]]"})
    made = split.plan(place, "지식/가치관.md", small(1200))
    split.apply(place, made)
    assert (tmp_path / "n.md").read_text() == "[x](지식/가치관/02-나.md#나) [[가치관/01-가#가]]"
    assert sorted(os.listdir(tmp_path)) == sorted([".memtree", unicodedata.normalize("NFD", "지식"), "n.md"])
    assert all((tmp_path / part.path).is_file() for part in made.parts)


LINKS = """\
[가](#제목)
[나](#설치-방법)
[[#소제목]]
[[g#제목]]
[t](../t.md)
[g](g.md#소제목)
[d]: #제목
[d]
[^1]
[^1]: 각주"""
PAGE_LINES = st.sampled_from(SAMPLE.split("\n") + LINKS.split("\n"))


@settings(max_examples=60)
@given(
    st.lists(st.one_of(PAGE_LINES, st.just("")), min_size=10, max_size=60),
    st.booleans(),
    st.sampled_from(["", "---\ntitle: 도구\n---\n"]),
)
def test_split_then_join_is_the_original(tmp_path_factory, lines, crlf, front):
    root = tmp_path_factory.mktemp("split")
    text = front + "\n".join(lines)
    data = text.replace("\n", "\r\n").encode() if crlf else text.encode()
    place = write(root, {"k/g.md": data, "t.md": "x"})
    before = tree(root)
    made = split.plan(place, "k/g.md", small(300))
    if not made.parts:
        return
    split.apply(place, made)
    assert joined(made, root) == data[made.parts[0].start :]
    assert made.parts[0].start == len((front.replace("\n", "\r\n") if crlf else front).encode())
    levels = [level for part in made.parts for level, _ in Resolver(root, "").documents[part.path][0]]
    journal.undo(place)
    assert tree(root) == before
    assert levels == [level for level, _ in Resolver(root, "").documents["k/g.md"][0]]


HEADINGS = ("제목", "설치 방법", "설정", "설정", "A — B", "Über Uns", "**굵은** 글", "`code` 절", "끝")
FRAGMENTS = ("제목", "설치-방법", "설정", "설정-1", "a--b", "über-uns", "굵은-글", "code-절", "끝", "없음")
BOTH_WAYS = """\
[a](FILE#SLUG)
[a](<FILE#SLUG> 't')
![i](FILE)
[[g#TEXT]]
[[k/g#TEXT|별칭]]
[[g]]
k/g.md#SLUG 본문
g.md를
[x](t.md)
[y](../t.md)
[z][d]
<a href="FILE#SLUG">q</a>
`[a](FILE#SLUG)`
[w](https://e.org/g.md#a)
- 항목 [a](FILE#SLUG)
> 인용 [a](FILE#SLUG)
| [a](FILE#SLUG) | [[g#끝\\|x]] |"""
INWARD = "\n[a](#SLUG)\n[[#TEXT]]\n[a](#SLUG 't')\n[^1] 글\n[d]"


def random_link(chooser, is_inside):
    link = chooser.choice((BOTH_WAYS + INWARD * is_inside).split("\n"))
    text = chooser.choice(HEADINGS).replace("*", "").replace("`", "")
    file = "g.md" if is_inside else chooser.choice(["k/g.md", "./k/g.md"])
    return link.replace("FILE", file).replace("SLUG", chooser.choice(FRAGMENTS)).replace("TEXT", text)


def random_page(chooser):
    blocks = []
    for _ in range(chooser.randint(5, 25)):
        kind = chooser.random()
        if kind < 0.3:
            blocks.append("#" * chooser.randint(1, 4) + " " + chooser.choice(HEADINGS))
        elif kind < 0.6:
            blocks.append(" ".join(chooser.choices(WORDS, k=12)))
        elif kind < 0.7:
            blocks.append(chooser.choice(["설정\n---", "```\n# x\n[a](#끝)\n```", "<!-- [a](#끝) -->"]))
        else:
            blocks.append(random_link(chooser, True))
    blocks.insert(chooser.randrange(len(blocks)), f"[d]: #{chooser.choice(FRAGMENTS)}")
    blocks.append("[^1]: 각주 글 [u](#끝)")
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_every_reference_of_random_pages_keeps_its_meaning(tmp_path, seed):
    chooser = random.Random(seed)
    page = random_page(chooser).replace("\n", chooser.choice(["\n", "\r\n"]))
    note = "\n\n".join(random_link(chooser, False) for _ in range(6))
    write(tmp_path, {"k/g.md": page, "n.md": note, "t.md": "# t", "k/t.md": "# t"})
    check(tmp_path, "k/g.md", 300)
