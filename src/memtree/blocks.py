"""The top-level blocks of a Markdown text: headings, paragraphs, list items, tables, fences, HTML.

Boundaries follow CommonMark with tables, as markdown-it-py finds them. That parser reads about 1 MB/s, so the
text is first cut where no construct can reach across (a blank line, then text in column 0, outside fences and
HTML), and chunks whose structure shows in their line beginnings are recognised by regular expressions; only
the others are parsed. The tests hold both ways equal.

Every pass is linear in the text and what the full parser reads of one text is limited, so that a hostile file
costs seconds at most.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# With the parser's slowest input (tables) a matter of seconds.
MAX_PARSED_BYTES = 1 << 20


class Block:
    """A top-level block.

    Attributes
    ----------
    kind : str
        "heading", "paragraph", "item", "table", "fence", "code", "quote", "html" or "rule".
    start, end : int
        Bytes from the first character of its first line to the end of its last, line break left out.
    level : int
        Of a heading, 1 to 6; else 0.
    text : str
        Of a heading, its raw inline text; else empty.
    """

    __slots__ = ("end", "kind", "level", "start", "text")

    def __init__(self, kind: str, start: int, end: int, level: int = 0, text: str = ""):
        self.kind = kind
        self.start = start
        self.end = end
        self.level = level
        self.text = text

    def __repr__(self) -> str:
        return f"Block({self.kind!r}, {self.start}, {self.end}, {self.level}, {self.text!r})"


_MARKER = rb"(?:[-+*]|\d{1,9}[.)])"
_RULE = rb"([-*_])[ \t]*(?:\1[ \t]*){2,}\n"
_HEADING = re.compile(rb"(#{1,6})(?:[ \t]+([^\n]*))?\n")
_CLOSING_HASHES = re.compile(rb"(?:^|[ \t]+)#+[ \t]*$")
_THEMATIC = re.compile(_RULE)
_UNDERLINE = re.compile(rb" {0,3}(?:=+|-+)[ \t]*\n")
# Lines that can only continue or begin a paragraph.
_PLAIN = re.compile(
    rb"(?:(?![ \t]*\n| {0,3}(?:#{1,6}[ \t\n]|>|<|`{3}|~{3}|" + _MARKER + rb"[ \t\n]|=+[ \t]*\n"
    rb"|[|:-][|:\- \t]*\n|(?:\*[ \t]*){3,}\n|(?:_[ \t]*){3,}\n))[^\n]*\n)+"
)
# Items whose marker stands in column 0 with one space, and the indented or blank lines that belong to them.
_NO_RULE = rb"(?!([-*_])[ \t]*(?:\1[ \t]*){2,}\n)"
_BULLETS = re.compile(rb"(?=[-+*] [^\s])" + _NO_RULE + rb"[^\n]*\n(?:(?:  |\t)[^\n]*\n|\n)*")
_NUMBERS = re.compile(
    rb"\d[.)] [^\s][^\n]*\n(?:(?:   |\t)[^\n]*\n|\n)*|\d\d[.)] [^\s][^\n]*\n(?:(?:    |\t)[^\n]*\n|\n)*"
)
_FIRST_NUMBER = re.compile(rb"1[.)] [^\s]")
_QUOTE = re.compile(rb"(?:>[^\n]*\n)+")
_TABLE = re.compile(rb"(\|[^\n\\]*\|)[ \t]*\n(\|(?:[ \t]*:?-+:?[ \t]*\|)+)[ \t]*\n(?:\|[^\n]*\n)*")
_BLANK = re.compile(rb"(?:[ \t]*\n)+")

# A line break after which a new chunk begins, or which precedes a construct that blank lines don't end.
_EVENT = re.compile(
    rb"\n(?:[ \t]*\n(?=[^ \t\n])|( {0,3})(?:(`{3,}[^`\n]*|~{3,}[^\n]*)\n"
    rb"|<(?=!--|\?|![A-Za-z]|!\[CDATA\[|(?:script|pre|style|textarea)[\s>])))",
    re.IGNORECASE,
)
_TAG_LINE = re.compile(rb"^ {0,3}<", re.MULTILINE)
_MARKED_OR_FLUSH = re.compile(rb"^(?:( {0,3})" + _MARKER + rb"[ \t\n]|[^ \t\n])", re.MULTILINE)
_SIMPLE_BULLET = re.compile(rb"(?=[-+*] [^\s])" + _NO_RULE)
_RAW_END = re.compile(rb"</(?:script|pre|style|textarea)>", re.IGNORECASE)


class _Context:
    """What the lines of a chunk, read once, say about a fence or HTML opener further down."""

    def __init__(self, text: bytes, start: int):
        self.text = text
        self.read_to = start
        self.has_item = False
        self.is_clear = True

    def holds_opener(self, line: int, indent: int) -> bool | None:
        """Whether an opener at `line` belongs to a list item of its chunk; None if that takes a parser."""
        before = self.text[self.read_to : line]
        self.read_to = line
        if _TAG_LINE.search(before):
            self.is_clear = False
        for marker in _MARKED_OR_FLUSH.finditer(before):
            # Only "- text" in column 0 and what is nested below it by two columns or more is certain.
            if marker.group(1) is None:
                self.is_clear &= not self.has_item
            elif marker.group(1):
                self.is_clear &= self.has_item and len(marker.group(1)) > 1
            else:
                self.has_item = True
                self.is_clear &= _SIMPLE_BULLET.match(before, marker.start()) is not None
        if not self.is_clear:
            return None
        if not indent or not self.has_item:
            return False
        return True if indent >= 2 else None


class BlockParser:
    """The blocks of one text; counts what it hands to the full parser."""

    def __init__(self, text: bytes, warnings: list[tuple[int, str]]):
        self.text = text
        self.warnings = warnings
        self.budget = MAX_PARSED_BYTES
        self.told = False

    def blocks(self, start: int, end: int) -> Iterator[Block]:
        """Give the blocks of ``text[start:end]``; `start` begins a line, `end` follows a line break."""
        text = self.text
        chunk = position = start
        context = _Context(text, start)
        # A construct on the very first line has no line break before it: one is lent.
        event = _EVENT.match(b"\n" + text[start : text.find(b"\n", start) + 1]) if start < end else None
        shift = start - 1
        if event is None or event.group(1) is None:
            event, shift = _EVENT.search(text, position, end), 0
        while event is not None:
            line = event.start() + shift + 1
            if event.group(1) is None:
                yield from self._chunk(chunk, line)
                chunk = event.end() + shift
                position = chunk - 1
                context = _Context(text, chunk)
            else:
                inside = context.holds_opener(line, len(event.group(1)))
                if inside is None:
                    yield from self.parse_fully(chunk, end)
                    return
                if inside:
                    position = text.find(b"\n", line)
                else:
                    yield from self._chunk(chunk, line)
                    is_fence = event.group(2) is not None
                    chunk = self._end_of_fence(line, end) if is_fence else self._end_of_html(line, end)
                    yield Block("fence" if is_fence else "html", line, line_end(text, line, chunk))
                    position = chunk - 1
                    context = _Context(text, chunk)
            event, shift = _EVENT.search(text, position, end), 0
        yield from self._chunk(chunk, end)

    def _end_of_fence(self, line: int, end: int) -> int:
        """Give the start of the line after a fence."""
        text = self.text
        start = line
        while text[start] == 0x20:
            start += 1
        mark = text[start : start + 1]
        stop = start
        info_end = text.find(b"\n", start)
        stop = info_end - len(text[start:info_end].lstrip(mark))
        closing = re.compile(rb"\n {0,3}%s{%d,}[ \t]*\n" % (mark, stop - start))
        closed = closing.search(text, info_end, end)
        return closed.end() if closed else end

    def _end_of_html(self, line: int, end: int) -> int:
        """Give the start of the line after an HTML block that only its own end mark closes."""
        text = self.text
        start = text.index(b"<", line)
        opening = text[start + 1 : start + 9].upper()
        if opening.startswith(b"!--"):
            mark = b"-->"
        elif opening.startswith(b"?"):
            mark = b"?>"
        elif opening == b"![CDATA[":
            mark = b"]]>"
        elif opening.startswith(b"!"):
            mark = b">"
        else:
            closed = _RAW_END.search(text, start, end)
            return text.index(b"\n", closed.end() - 1) + 1 if closed else end
        at = text.find(mark, start, end)
        return text.index(b"\n", at) + 1 if at >= 0 else end

    def _chunk(self, start: int, end: int) -> Iterator[Block]:
        """Give the blocks of a chunk, parsing what its line beginnings don't settle."""
        text = self.text
        size = len(text[start:end].rstrip(b" \t\n"))
        end = text.find(b"\n", start + size) + 1 if size else start
        while start < end:
            blank = _BLANK.match(text, start, end)
            if blank is not None:
                start = blank.end()
            first = text[start]
            if first == 0x23:  # '#'
                heading = _HEADING.match(text, start, end)
                if heading is not None:
                    yield _atx(heading)
                    start = heading.end()
                    continue
            items = None
            if first in b"-+*":
                rule = _THEMATIC.match(text, start, end)
                if rule is not None:
                    yield Block("rule", start, rule.end() - 1)
                    start = rule.end()
                    continue
                items = _BULLETS
            elif 0x30 <= first <= 0x39:
                items = _NUMBERS
            if items is not None and items.match(text, start, end):
                found = []
                stop = start
                while item := items.match(text, stop, end):
                    found.append((stop, item.end()))
                    stop = item.end()
                if stop >= end or _HEADING.match(text, stop, end):
                    for left, right in found:
                        yield Block("item", left, line_end(text, left, right))
                    start = stop
                    continue
                break
            if first == 0x3E:  # '>'
                quote = _QUOTE.match(text, start, end)
                if quote is not None and quote.end() >= end:
                    yield Block("quote", start, end - 1)
                    return
                break
            if first == 0x7C:  # '|'
                table = _TABLE.match(text, start, end)
                if (
                    table is not None
                    and table.group(1).count(b"|") == table.group(2).count(b"|") <= 64
                    and table.end() >= end
                    and end - start <= 1 << 16
                ):
                    yield Block("table", start, end - 1)
                    return
            if first in b" \t":
                break
            plain = _PLAIN.match(text, start, end)
            if plain is None:
                break
            stop = plain.end()
            if stop >= end or text[stop] == 0x0A or text[stop] == 0x23 and _HEADING.match(text, stop, end):
                yield Block("paragraph", start, stop - 1)
                start = stop
                continue
            if text[stop] in b"-+*" and _BULLETS.match(text, stop, end):
                yield Block("paragraph", start, stop - 1)
                start = stop
                continue
            if _FIRST_NUMBER.match(text, stop, end) and _NUMBERS.match(text, stop, end):
                yield Block("paragraph", start, stop - 1)
                start = stop
                continue
            underline = _UNDERLINE.match(text, stop, end)
            if underline is not None and b"|" not in text[text.rfind(b"\n", 0, stop - 1) + 1 : stop]:
                lines = text[start : stop - 1].decode("utf-8", "replace").split("\n")
                level = 1 if b"=" in underline.group() else 2
                title = " ".join(line.strip(" \t") for line in lines)
                yield Block("heading", start, underline.end() - 1, level, title)
                start = underline.end()
                continue
            break
        if start < end:
            yield from self.parse_fully(start, end)

    def parse_fully(self, start: int, end: int) -> Iterator[Block]:
        """Give the blocks of ``text[start:end]`` by the full parser; paragraphs once its budget is spent."""
        end = start + len(self.text[start:end].rstrip(b" \t\n"))
        if end == start:
            return
        end = self.text.find(b"\n", end) + 1
        tokens = None
        if end - start <= self.budget:
            self.budget -= end - start
            try:
                tokens = markdown_it().parse(self.text[start:end].decode("utf-8", "replace"))
            except RecursionError:
                pass
        if tokens is None:
            if not self.told:
                self.told = True
                line = self.text.count(b"\n", 0, start) + 1
                self.warnings.append((line, "too large and involved to parse: read as plain paragraphs"))
            yield from _paragraphs(self.text, start, end)
            return
        starts = line_starts(self.text, start, end)
        spans = child_blocks(tokens, 0, len(tokens))
        for (kind, first, token), following in zip(spans, [*spans[1:], None], strict=False):
            left = starts[first]
            right = starts[following[1]] if following else end
            stop = line_end(self.text, left, right)
            if kind == "heading":
                title = tokens[token + 1].content
                title = " ".join(line.strip(" \t") for line in title.split("\n"))
                yield Block(kind, left, stop, int(tokens[token].tag[1:]), title)
            else:
                yield Block(kind, left, stop)


_markdown_it = None


def markdown_it() -> MarkdownIt:
    """Give the full parser: CommonMark and tables, blocks only; link definitions are paragraphs."""
    global _markdown_it
    if _markdown_it is None:
        from markdown_it import MarkdownIt

        _markdown_it = MarkdownIt("commonmark").enable("table").disable("reference")
        _markdown_it.core.ruler.enableOnly(["normalize", "block"])
    return _markdown_it


_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "table_open": "table",
    "fence": "fence",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
}


def child_blocks(tokens: list[Token], first: int, last: int) -> list[tuple[str, int, int]]:
    """Give kind, first line and token index of the blocks in ``tokens[first:last]``, the items for a list."""
    found: list[tuple[str, int, int]] = []
    if first >= last:
        return found
    level = tokens[first].level
    for index in range(first, last):
        token = tokens[index]
        if token.nesting < 0 or token.map is None:
            continue
        if token.level == level and token.type in _KINDS:
            kind = _KINDS[token.type]
        elif token.level == level + 1 and token.type == "list_item_open":
            kind = "item"
        else:
            continue
        found.append((kind, token.map[0], index))
    return found


def _atx(heading: re.Match[bytes]) -> Block:
    title = _CLOSING_HASHES.sub(b"", heading.group(2) or b"").strip(b" \t")
    start = heading.start()
    return Block(
        "heading", start, heading.end() - 1, len(heading.group(1)), title.decode("utf-8", "replace").strip()
    )


def _paragraphs(text: bytes, start: int, end: int) -> Iterator[Block]:
    """Give what stands between blank lines."""
    for match in _NON_BLANK.finditer(text, start, end):
        yield Block("paragraph", match.start(), match.end() - 1)


_NON_BLANK = re.compile(rb"(?:(?![ \t]*\n)[^\n]*\n)+")


def line_starts(text: bytes, start: int, end: int) -> list[int]:
    starts = [start]
    at = text.find(b"\n", start, end)
    while at >= 0:
        starts.append(at + 1)
        at = text.find(b"\n", at + 1, end)
    return starts


def line_end(text: bytes, start: int, end: int) -> int:
    """Give the end of the last line of ``text[start:end]`` that is not blank."""
    return text.find(b"\n", start + len(text[start:end].rstrip(b" \t\n")))
