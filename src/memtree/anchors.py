"""Where a ``#fragment`` points to in a Markdown file: headings, HTML ids, block marks.

Headings get the anchors that GitHub gives them: the rendered text in lower case, all but letters, marks,
digits, ``_``, ``-`` and spaces dropped, spaces turned into ``-``, and ``-1``, ``-2``... for a text that comes
again.
"""

from __future__ import annotations

import re
import unicodedata

from memtree.blocks import Block
from memtree.markdown import blocks
from memtree.workspace import nfc

_ID = re.compile(rb"<[A-Za-z][^<>]*?\s(?:id|name)\s*=\s*(?:\"([^\"<>]+)\"|'([^'<>]+)')", re.IGNORECASE)
_BLOCK_MARK = re.compile(rb"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$", re.MULTILINE)


class Heading:
    """A heading: level, anchor, the same without the number of a repeated one, and its first byte."""

    __slots__ = ("base", "level", "slug", "start")

    def __init__(self, level: int, base: str, slug: str, start: int):
        self.level = level
        self.base = base
        self.slug = slug
        self.start = start


class Anchors:
    """All places of a file that a fragment can name.

    Parameters
    ----------
    data : bytes
        The file.
    found : list of Block, optional
        Its top-level blocks, if they are known already.
    """

    def __init__(self, data: bytes, found: list[Block] | None = None):
        self.data = data
        self.headings: list[Heading] = []
        self.by_slug: dict[str, Heading] = {}
        seen: dict[str, int] = {}
        code = []
        for block in blocks(data) if found is None else found:
            if block.kind in ("fence", "code"):
                code.append((block.start, block.end))
            if block.kind != "heading":
                continue
            slug = base = slugify(plain_text(block.text))
            while slug in seen:
                seen[base] += 1
                slug = f"{base}-{seen[base]}"
            seen[slug] = 0
            heading = Heading(block.level, base, slug, block.start)
            self.headings.append(heading)
            self.by_slug[slug] = heading
        self.ids: dict[str, int] = {}
        for match in _ID.finditer(data):
            if not any(start <= match.start() < end for start, end in code):
                name = (match.group(1) or match.group(2)).decode("utf-8", "replace")
                self.ids.setdefault(nfc(name), match.start())

    def link(self, fragment: str) -> Heading | int | None:
        """Resolve the decoded fragment of a Markdown link: a heading, an offset, or nothing."""
        name = nfc(fragment)
        lowered = name.lower()
        return self.by_slug.get(name) or self.ids.get(name) or self.by_slug.get(lowered) or self.wiki(name)

    def wiki(self, fragment: str) -> Heading | int | None:
        """Resolve the fragment of a wikilink: heading texts, the outermost first, or ``^mark``."""
        if fragment.startswith("^"):
            for mark in _BLOCK_MARK.finditer(self.data):
                if mark.group(1).decode() == fragment[1:]:
                    return mark.start()
            return None
        wanted = [slugify(part) for part in fragment.split("#")]
        if not all(wanted):
            return None
        path: list[tuple[int, str]] = []
        for heading in self.headings:
            while path and path[-1][0] >= heading.level:
                path.pop()
            path.append((heading.level, heading.base))
            names = [name for _, name in path]
            if names[-1] == wanted[-1] and _is_subsequence(wanted, names):
                return heading
        return None

    def heading_at(self, start: int) -> Heading | None:
        """Give the heading that starts at a byte."""
        return next((heading for heading in self.headings if heading.start == start), None)


def slugify(text: str) -> str:
    """Turn the shown text of a heading into its anchor, without the number of a repeated one.

    Examples
    --------
    >>> slugify("A — B"), slugify("설치 방법")
    ('a--b', '설치-방법')
    """
    kept = (
        letter
        for letter in nfc(text).strip().lower()
        if letter.isalnum() or letter in "-_ " or unicodedata.category(letter)[0] == "M"
    )
    return "".join(kept).replace(" ", "-")


_inline_parser = None


def plain_text(markup: str) -> str:
    """Give what a reader sees of inline Markdown."""
    if not any(mark in markup for mark in "*_`[]<&\\!"):
        return markup
    global _inline_parser
    if _inline_parser is None:
        from markdown_it import MarkdownIt

        _inline_parser = MarkdownIt("commonmark")
    children = _inline_parser.parseInline(markup)[0].children or []
    return "".join(
        " " if token.type in ("softbreak", "hardbreak") else "" if token.type == "html_inline" else token.content
        for token in children
    )


def _is_subsequence(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(item in rest for item in short)
