"""Markdown bytes to sections and passages.

Offsets are bytes of the file as it is on disk; lines count from 1.
"""

from __future__ import annotations

import re

from memtree.blocks import (
    MAX_PARSED_BYTES,
    Block,
    BlockParser,
    child_blocks,
    line_end,
    line_starts,
    markdown_it,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markdown_it.token import Token

SHORT_CHARACTERS = 40
LONG_ITEM_BYTES = 600
LONG_TABLE_ROWS = 20
LONG_FENCE_LINES = 40
MAX_FRONT_MATTER_BYTES = 1 << 16

BOM = b"\xef\xbb\xbf"


class Section:
    """From a heading to the next heading of any level.

    Attributes
    ----------
    level : int
        1 to 6; 0 for text before the first heading.
    heading : str
        Raw inline text of the heading; empty at level 0.
    parents : int
        Index of the enclosing section, -1 if none.
    line : int
        Line of the heading.
    start, end : int
        Bytes, heading included.
    """

    __slots__ = ("end", "heading", "level", "line", "parents", "start")

    def __init__(self, level: int, heading: str, parents: int, line: int, start: int, end: int):
        self.level = level
        self.heading = heading
        self.parents = parents
        self.line = line
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return (
            f"Section({self.level}, {self.heading!r}, {self.parents}, {self.line}, {self.start}, {self.end})"
        )


class Passage:
    """What recall returns: a block, or a few short ones, within one section.

    Attributes
    ----------
    section : int
        Index into `Document.sections`.
    line, end_line : int
        First and last line.
    start, end : int
        Bytes; ``data[start:end]`` is the text.
    """

    __slots__ = ("end", "end_line", "line", "section", "start")

    def __init__(self, section: int, line: int, end_line: int, start: int, end: int):
        self.section = section
        self.line = line
        self.end_line = end_line
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Passage({self.section}, {self.line}, {self.end_line}, {self.start}, {self.end})"


class Document:
    """A parsed file.

    Attributes
    ----------
    title : str
        From the front matter, else empty.
    date : str
        ``date`` of the front matter as written, else empty.
    meta : dict of str to list of str
        "tags", "keywords" and "aliases" of the front matter.
    body_start : int
        Byte after byte order mark and front matter.
    sections : list of Section
    passages : list of Passage
        In order; they share no byte.
    warnings : list of (int, str)
        Line and message.
    """

    __slots__ = ("body_start", "date", "meta", "passages", "sections", "title", "warnings")

    def __init__(self) -> None:
        self.title = ""
        self.date = ""
        self.meta: dict[str, list[str]] = {"tags": [], "keywords": [], "aliases": []}
        self.body_start = 0
        self.sections: list[Section] = []
        self.passages: list[Passage] = []
        self.warnings: list[tuple[int, str]] = []

    def heading_path(self, section: int) -> tuple[str, ...]:
        """Give the headings that enclose a section, outermost first, its own last."""
        path = []
        while section >= 0:
            if self.sections[section].level:
                path.append(self.sections[section].heading)
            section = self.sections[section].parents
        return tuple(reversed(path))


def parse(data: bytes, path: str = "") -> Document:
    """Parse a Markdown file.

    Parameters
    ----------
    data : bytes
        UTF-8; a byte order mark and CRLF line ends are understood.
    path : str
        Not read; kept for messages.

    Returns
    -------
    Document
        Never fails: what can't be understood is text, with a warning.
    """
    document = Document()
    text, front = _front_matter(data, document)
    pieces: list[Block] = []
    if front.end > document.body_start:
        # Unreadable front matter is the first passage; as Markdown it would turn into a heading.
        pieces.append(Block("paragraph", front.start, front.end - 1))
    for block in BlockParser(text, document.warnings).blocks(max(document.body_start, front.end), len(text)):
        if block.kind == "heading":
            pieces.append(block)
        else:
            pieces.extend(_cut(text, block))
    _assemble(data, text, pieces, document)
    return document


def blocks(data: bytes) -> list[Block]:
    """Give the top-level blocks of a file, front matter left out, in order."""
    document = Document()
    text, front = _front_matter(data, document)
    start = max(document.body_start, front.end)
    return [_trimmed(data, block) for block in BlockParser(text, []).blocks(start, len(text))]


def body_start(data: bytes) -> int:
    """Give the byte after byte order mark and front matter, readable or not."""
    document = Document()
    _, front = _front_matter(data, document)
    return min(max(document.body_start, front.end), len(data))


def _front_matter(data: bytes, document: Document) -> tuple[bytes, Block]:
    """Read the front matter into `document`; give the text to parse and where the front matter lies.

    The text has the length of the file plus a final line break if that lacks one, so that offsets agree: CRLF
    becomes a space and LF, and a byte order mark three line breaks.
    """
    start = 0
    text = data
    if text.startswith(BOM):
        start = len(BOM)
        text = b"\n\n\n" + text[start:]
    if b"\r" in text:
        text = text.replace(b"\r\n", b" \n")
        # A lone CR ends a line only in a file that has no other line end.
        text = text.replace(b"\r", b" " if b"\n" in text[start:] else b"\n")
    if not text.endswith(b"\n"):
        text += b"\n"
    document.body_start = start
    nothing = Block("", start, 0)
    opened = _FRONT_OPEN.match(text, start)
    if opened is None:
        return text, nothing
    closed = _FRONT_CLOSE.search(text, opened.end() - 1, opened.end() + MAX_FRONT_MATTER_BYTES)
    if closed is None:
        if _FRONT_KEY.match(text, opened.end()):
            document.warnings.append((1, "the front matter is not closed by a line '---': read as text"))
        return text, nothing
    problem = _read_front_matter(text[opened.end() : closed.start() + 1], document)
    if problem is None:
        document.body_start = closed.end()
        return text, Block("", start, closed.end())
    line, message = problem
    document.warnings.append((line + 1, f"the front matter is no YAML mapping: {message}; read as text"))
    return text, Block("", start, closed.end())


_FRONT_OPEN = re.compile(rb"---[ \t]*\n")
_FRONT_CLOSE = re.compile(rb"\n(?:---|\.\.\.)[ \t]*\n")
_FRONT_KEY = re.compile(rb"[^\s:#-][^\n:]*:(?:[ \t]|\n)")


def _read_front_matter(source: bytes, document: Document) -> tuple[int, str] | None:
    """Fill title, date and meta; give line and message of the fault, if any."""
    if not source.strip():
        return None
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        # BaseLoader makes strings, lists and dicts only: no tag, no date, no code.
        values = yaml.load(source.decode("utf-8", "replace"), loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return (mark.line + 1 if mark else 1), str(error.problem or error.context)
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        return 1, str(error).split("\n")[0]
    if not isinstance(values, dict):
        return 1, "it holds no 'name: value' lines"
    document.title = _scalar(values.get("title"))
    document.date = _scalar(values.get("date"))
    for key, names in document.meta.items():
        value = values.get(key)
        if isinstance(value, list):
            names.extend(text for item in value if (text := _scalar(item)))
        else:
            names.extend(text for item in _scalar(value).split(",") if (text := item.strip()))
    return None


def _scalar(value: object) -> str:
    return value.strip() if isinstance(value, str) and value not in ("~", "null") else ""


def _trimmed(data: bytes, block: Block) -> Block:
    """Leave out the CR that a CRLF file has before the line break."""
    if block.end > block.start and data[block.end - 1 : block.end] == b"\r":
        block.end -= 1
    return block


def _cut(text: bytes, block: Block) -> Iterator[Block]:
    """Give a block whole, or its parts if it is too large for a passage."""
    kind, start, end = block.kind, block.start, block.end
    if kind in ("item", "quote") and end - start > LONG_ITEM_BYTES:
        yield from _cut_container(text, start, end)
    elif kind == "table":
        yield from _cut_lines(text, start, end, _table_cuts)
    elif kind in ("fence", "code"):
        yield from _cut_lines(text, start, end, _fence_cuts)
    else:
        yield block


def _cut_container(text: bytes, start: int, end: int) -> Iterator[Block]:
    """Give the children of a list item or quote, those that are too large cut in turn."""
    if end - start > MAX_PARSED_BYTES:
        yield Block("paragraph", start, end)
        return
    try:
        tokens = markdown_it().parse(text[start : end + 1].decode("utf-8", "replace"))
    except RecursionError:
        yield Block("paragraph", start, end)
        return
    starts = line_starts(text, start, end + 1)
    yield from _cut_tokens(text, starts, tokens, 0, len(tokens), start, end)


def _cut_tokens(
    text: bytes, starts: list[int], tokens: list[Token], first: int, last: int, start: int, end: int
) -> Iterator[Block]:
    """Give the pieces of ``text[start:end]``, whose blocks are ``tokens[first:last]``."""
    spans = child_blocks(tokens, first, last)
    if not spans:
        yield Block("paragraph", start, end)
    for position, (kind, line, token) in enumerate(spans):
        left = starts[line] if position else start
        following = spans[position + 1] if position + 1 < len(spans) else None
        right = line_end(text, left, starts[following[1]]) if following else end
        if kind in ("item", "quote") and right - left > LONG_ITEM_BYTES:
            # The block's tokens reach to its closing one, the next on its level.
            close = token + 1
            while tokens[close].level > tokens[token].level:
                close += 1
            yield from _cut_tokens(text, starts, tokens, token + 1, close, left, right)
        elif kind == "heading":
            yield Block("paragraph", left, right)
        elif kind in ("item", "quote"):
            yield Block(kind, left, right)
        else:
            yield from _cut(text, Block(kind, left, right))


def _cut_lines(
    text: bytes, start: int, end: int, cuts: Callable[[bytes, int, int], list[int]]
) -> Iterator[Block]:
    """Give ``text[start:end]`` in parts, each but the first beginning at one of `cuts`."""
    left = start
    for cut in cuts(text, start, end):
        yield Block("paragraph", left, line_end(text, left, cut))
        left = cut
    yield Block("paragraph", left, end)


def _table_cuts(text: bytes, start: int, end: int) -> list[int]:
    """Give the rows before which a table is cut; head and delimiter row stay with the first."""
    starts = line_starts(text, start, end)
    return starts[2 + LONG_TABLE_ROWS :: LONG_TABLE_ROWS] if len(starts) - 2 > LONG_TABLE_ROWS else []


def _fence_cuts(text: bytes, start: int, end: int) -> list[int]:
    """Give the lines before which a fence is cut: after blank ones, at most 40 lines apart if they allow."""
    starts = line_starts(text, start, end)
    if len(starts) <= LONG_FENCE_LINES:
        return []
    cuts: list[int] = []
    begun = 0
    candidate = 0
    for line in range(1, len(starts)):
        if line - begun >= LONG_FENCE_LINES and candidate > begun:
            cuts.append(starts[candidate])
            begun = candidate
        blank = not text[starts[line - 1] : starts[line]].strip()
        if blank and text[starts[line] : starts[line] + 1] not in (b"\n", b""):
            candidate = line
    if len(starts) - begun > LONG_FENCE_LINES and candidate > begun:
        cuts.append(starts[candidate])
    return cuts


def _is_short(data: bytes, start: int, end: int) -> bool:
    """Whether a block has under 40 characters, a line break being one; UTF-8 takes 1 to 4 bytes for one."""
    size = end - start
    if size < SHORT_CHARACTERS:
        return True
    if size >= 5 * SHORT_CHARACTERS:
        return False
    return len(data[start:end].decode("utf-8", "replace").replace("\r\n", "\n")) < SHORT_CHARACTERS


def _assemble(data: bytes, text: bytes, pieces: list[Block], document: Document) -> None:
    """Turn headings and pieces into sections and passages; short pieces join their neighbours."""
    sections = document.sections
    passages = document.passages
    count = text.count
    line = 1
    at = len(BOM) if data.startswith(BOM) else 0
    begun = -1  # start of a piece too short to stand alone
    begun_line = 0
    first_passage = 0  # of this section
    open_sections: list[int] = []

    def join_previous() -> None:
        if begun < 0:
            return
        if len(passages) > first_passage:
            passages[-1].end = at
            passages[-1].end_line = line
        else:
            passages.append(Passage(len(sections) - 1, begun_line, line, begun, at))

    for piece in pieces:
        start = piece.start
        end = piece.end
        if end > start and data[end - 1 : end] == b"\r":
            end -= 1
        if piece.level:
            join_previous()
            begun = -1
            first_passage = len(passages)
            line += count(b"\n", at, start)
            while open_sections and sections[open_sections[-1]].level >= piece.level:
                open_sections.pop()
            parent = open_sections[-1] if open_sections else -1
            if sections:
                sections[-1].end = start
            open_sections.append(len(sections))
            sections.append(Section(piece.level, piece.text, parent, line, start, len(data)))
            line += count(b"\n", start, end)
            at = end
            continue
        if not sections:
            sections.append(Section(0, "", -1, line + count(b"\n", at, start), start, len(data)))
        line += count(b"\n", at, start)
        first_line = line
        line += count(b"\n", start, end)
        at = end
        if begun >= 0:
            start, first_line = begun, begun_line
        if _is_short(data, start, end):
            begun, begun_line = start, first_line
        else:
            begun = -1
            passages.append(Passage(len(sections) - 1, first_line, line, start, end))
    join_previous()
