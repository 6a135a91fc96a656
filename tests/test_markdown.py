"""Sections and passages, against the full CommonMark parser and against the rules of the design."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree import markdown
from memtree.blocks import BlockParser

SAMPLE = """\

# 제목
## 설치 방법 ##
### a
#
#해시
제목
====
---
- - -
***
_ _ _
**민준:** 회의는 3시에 시작해요
plain words
- 항목
- item [x](y.md)
  - 하위 항목
    - deep
\t- tab
-\ttab
* star
+ plus
-
-   wide
- # not a section
1. one
2. two
  1. two
1)  wide
1.
10. ten
2024. year
   text
    code
  text
> quote
>
> - a
```
```sh
~~~
  ```
   ~~~
````
`code` x
``` a`b
<!-- note
-->
<!-- one --> x
a -->
<div>
</div>
<pre>
</pre>
<?php
?>
<https://e.org>
[x]: y.md
[^1]: footnote
_under_
\\# no
| a | b |
|---|---|
| 1 | 2 |
| a |
|--|
--:
:--
a | b
- | -
|
| a \\| b |
| [[x\\|y]] |
"""
LINES = st.sampled_from(SAMPLE.split("\n"))
PAGES = st.lists(LINES, max_size=14).map("\n".join)


LONG = "이 문단은 혼자 남을 만큼 길다. It holds more than forty characters."


def parse(text):
    return markdown.parse(text.encode(), "note.md")


def texts(text):
    data = text.encode()
    return [data[p.start : p.end].decode() for p in markdown.parse(data, "note.md").passages]


def headings(text):
    return [(s.level, s.heading) for s in parse(text).sections if s.level]


def facts(blocks):
    return [(b.kind, b.start, b.end, b.level, b.text) for b in blocks]


@given(PAGES)
def test_recognised_blocks_are_those_of_the_parser(page):
    text = page.encode() + b"\n"
    recognised = BlockParser(text, []).blocks(0, len(text))
    parsed = BlockParser(text, []).parse_fully(0, len(text))
    assert facts(recognised) == facts(parsed)


@given(
    PAGES,
    st.sampled_from(["", "---\ntitle: 도구\n---\n", "---\nbad: a: b\n---\n"]),
    st.booleans(),
    st.booleans(),
)
def test_passages_tile_the_text(page, front, bom, crlf):
    """Disjoint, in order, inside their section; together all that is no heading, front matter or blank."""
    text = front + page
    data = (b"\xef\xbb\xbf" if bom else b"") + (text.replace("\n", "\r\n") if crlf else text).encode()
    document = markdown.parse(data, "note.md")
    end = document.body_start
    covered = bytearray(len(data))
    for passage in document.passages:
        assert end <= passage.start < passage.end
        end = passage.end
        section = document.sections[passage.section]
        assert section.start <= passage.start
        assert passage.end <= section.end
        assert passage.line == data.count(b"\n", 0, passage.start) + 1
        assert passage.end_line == data.count(b"\n", 0, passage.end) + 1
        covered[passage.start : passage.end] = b"x" * (passage.end - passage.start)
    for section, following in zip(document.sections, document.sections[1:], strict=False):
        assert section.end == following.start
        assert section.line == data.count(b"\n", 0, section.start) + 1
    for block in markdown.blocks(data):
        if block.kind == "heading":
            assert not any(covered[block.start : block.end])
            covered[block.start : block.end] = b"h" * (block.end - block.start)
    position = document.body_start
    for line in data[position:].split(b"\n"):
        if line.strip():
            assert covered[position + len(line) - len(line.lstrip())], line
        position += len(line) + 1


@given(PAGES, st.booleans())
def test_line_ends_and_byte_order_mark_change_nothing(page, bom):
    data = (b"\xef\xbb\xbf" if bom else b"") + page.replace("\n", "\r\n").encode()
    unix = parse(page)
    windows = markdown.parse(data, "note.md")
    assert [(s.level, s.heading, s.line) for s in unix.sections] == [
        (s.level, s.heading, s.line) for s in windows.sections
    ]
    assert [(p.section, p.line, p.end_line) for p in unix.passages] == [
        (p.section, p.line, p.end_line) for p in windows.passages
    ]


@given(st.binary(max_size=200))
def test_any_bytes_parse(data):
    markdown.parse(data, "note.md")


def test_heading_in_a_fence_is_none():
    """Field case M1."""
    text = "# 제목\n\n```bash\n# 설치\npip install memtree  # 기억 엔진을 설치한다\n```\n\n# 다음\n"
    assert headings(text) == [(1, "제목"), (1, "다음")]
    assert texts(text) == ["```bash\n# 설치\npip install memtree  # 기억 엔진을 설치한다\n```"]


def test_heading_in_a_comment_is_none():
    """Field case M4."""
    assert headings("<!--\n## 옛 절\n\n메모\n-->\n\n## 새 절\n") == [(2, "새 절")]
    assert headings("<!--\n## 옛 절\n\n메모\n-->\n## 새 절\n") == [(2, "새 절")]


def test_underlined_headings():
    """Field case M5: the rule and the table are no headings."""
    text = "제목\n====\n\n소제목\n---\n글 한 줄\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert headings(text) == [(1, "제목"), (2, "소제목")]


def test_front_matter_with_mark_and_windows_line_ends():
    """Field case M6."""
    front = "---\ntitle: 도구\ntags: [편집기, cli]\naliases:\n  - 연장\ndate: 2026-01-05\n---\n"
    data = ("\ufeff" + front + "본문\n").replace("\n", "\r\n")
    document = markdown.parse(data.encode(), "note.md")
    assert document.title == "도구"
    assert document.date == "2026-01-05"
    assert document.meta == {"tags": ["편집기", "cli"], "keywords": [], "aliases": ["연장"]}
    assert data.encode()[document.body_start :] == "본문\r\n".encode()
    assert [(s.level, s.line) for s in document.sections] == [(0, 8)]
    assert [(p.line, p.end_line) for p in document.passages] == [(8, 8)]


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("설명: 주의: 필독", 2),
        ("title: *별*", 2),
        ('title: "a "b" c"', 2),
        ("- [[링크]]뒤", 2),
        ("title: 도구\n\tx: 1", 3),
        ("그냥 글", 2),
        ("a: " + "[" * 5000, 2),
    ],
)
def test_unreadable_front_matter_is_text(front, line):
    """Field case M22."""
    text = f"---\n{front}\n---\n## 절\n\n{LONG}\n"
    document = parse(text)
    assert [number for number, _ in document.warnings] == [line]
    assert document.title == ""
    assert [s.heading for s in document.sections] == ["", "절"]
    assert texts(text)[0] == f"---\n{front}\n---"


def test_front_matter_without_end_is_text():
    document = parse("---\ntitle: 도구\n\n본문\n")
    assert [number for number, _ in document.warnings] == [1]
    assert len(document.passages) == 1
    assert not parse("---\n\n본문\n").warnings


def test_scalars_of_front_matter_stay_as_written():
    document = parse("---\ntitle: 2024\ntags: 회의, 계획\nkeywords:\n  - yes\n  - [1]\n---\n")
    assert document.title == "2024"
    assert document.meta == {"tags": ["회의", "계획"], "keywords": ["yes"], "aliases": []}


def test_blocks_are_passages():
    table = f"| a | {LONG} |\n|---|---|\n| 1 | 2 |"
    text = f"# 가\n{LONG} 1\n\n{LONG} 2\n- {LONG} 3\n  - 하위\n- {LONG} 4\n\n{table}\n"
    assert texts(text) == [
        f"{LONG} 1",
        f"{LONG} 2",
        f"- {LONG} 3\n  - 하위",
        f"- {LONG} 4",
        table,
    ]


def test_short_blocks_join_the_next_and_the_last_the_previous():
    assert texts(f"짧다\n\n{LONG}\n\n끝\n") == [f"짧다\n\n{LONG}\n\n끝"]
    assert texts("## a\n짧다\n## b\n또 짧다\n") == ["짧다", "또 짧다"]
    assert texts(f"## a\n{LONG}\n## b\n짧다\n\n{LONG}") == [LONG, f"짧다\n\n{LONG}"]
    # 39 characters join, 40 do not, in bytes of any number.
    for letter in ("a", "가", "𝒜"):
        assert len(texts(f"{letter * 39}\n\n{LONG}")) == 1
        assert len(texts(f"{letter * 40}\n\n{LONG}")) == 2


def test_each_turn_of_a_conversation_is_a_passage():
    turns = [
        f"**{name}:** 지난주에 말한 여행 계획 말인데, 제주도 대신 강릉으로 가기로 했어요."
        for name in "가나다"
    ]
    assert texts("# 대화\n\n" + "\n\n".join(turns)) == turns


def test_long_item_yields_its_children():
    text = f"- {LONG}\n\n  {LONG * 9}\n\n  1. {LONG}\n  2. {LONG}\n\n     > {LONG}\n- {LONG}\n"
    assert texts(text) == [
        f"- {LONG}",
        f"  {LONG * 9}",
        f"  1. {LONG}",
        f"  2. {LONG}\n\n     > {LONG}",
        f"- {LONG}",
    ]


def test_long_table_is_cut_at_rows():
    rows = [f"| {number} | {LONG} |" for number in range(45)]
    head = ["| n | text |", "|---|---|"]
    assert texts("\n".join(head + rows)) == [
        "\n".join(head + rows[:20]),
        "\n".join(rows[20:40]),
        "\n".join(rows[40:]),
    ]
    assert len(texts("\n".join(head + rows[:20]))) == 1


def test_long_fence_is_cut_at_blank_lines():
    part = "\n".join(f"print('line {number} of the listing')" for number in range(25))
    assert texts(f"```python\n{part}\n\n{part}\n```") == [f"```python\n{part}", f"{part}\n```"]
    whole = "\n".join("x = 1  # no blank line anywhere" for _ in range(60))
    assert texts(f"```\n{whole}\n```") == [f"```\n{whole}\n```"]
    short = f"```\n{part}\n\na\n```"
    assert texts(short) == [short]


def test_heading_paths():
    document = parse("머리말\n# 가\n### 나\n## 다\n# 라\n")
    assert [document.heading_path(i) for i in range(5)] == [(), ("가",), ("가", "나"), ("가", "다"), ("라",)]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"---\n---\n", b"---\ntitle: x\n---"])
def test_files_without_text_have_no_passage(data):
    document = markdown.parse(data, "note.md")
    assert document.passages == []
    assert document.sections == []


@pytest.mark.parametrize(
    "data",
    [
        b">" * 300_000,
        b"[" * 300_000,
        b"- " * 150_000,
        b"```\n" * 50_000,
        b"- a\n  ```\n" * 30_000,
        b"   \n" * 50_000,
        b"| a |\n|---|\n" + b"| 1 | 2 |\n" * 30_000,
        b"\n".join(b" " * (2 * i) + b"- a" for i in range(600)),
        b"\n".join(b">" * i for i in range(600)),
        b"a\n=\n" * 50_000,
        b"<div>\n" * 50_000,
        b"<!-- " * 50_000,
    ],
    ids=lambda data: repr(data[:10]),
)
def test_hostile_files_end(data):
    """Time is bounded by size: no recursion error, no quadratic walk (which would take minutes here)."""
    document = markdown.parse(data, "note.md")
    words = re.compile(rb"[a-z0-9]")
    missed = bytearray(data)
    for passage in document.passages:
        missed[passage.start : passage.end] = b" " * (passage.end - passage.start)
    for section in document.sections:
        if section.level:
            missed[section.start : data.find(b"=\n", section.start)] = b""
            break
    else:
        assert not words.search(missed)


def test_large_involved_text_falls_back_to_paragraphs():
    data = b"text\n   > quote | x\n<b>\n" * 60_000 + b"\n" + LONG.encode()
    document = markdown.parse(data, "note.md")
    assert [line for line, _ in document.warnings] == [1]
    assert len(document.passages) == 2
