"""Retain items: the bullets that agents write into daily logs, and the form in which a bank keeps them.

In a daily log, below ``## Retain``::

    - W @entity: world fact
    - B @entity: behaviour, experience
    - O(c=0.85) @entity: opinion with its confidence
    - S: self

In a bank file the same line with what is known about it at its end; a superseded one is struck through::

    - O(c=0.85) @entity: opinion (2026-03-02; seen 2026-03-09, 2026-04-01 by hand)
    - ~~W @회의: 회의는 3시~~ (2026-03-02; superseded 2026-03-05)

Either may be wrapped over several lines. A blank stands for any control character in it.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TAGS = ("W", "B", "O", "S")
MAX_CHARACTERS = 10_000
"""A longer bullet is refused: it is no single memory."""

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_HEAD = re.compile(r"(?P<tag>[A-Za-z])(?P<c>\([^()]*\))?[ \t]*(?:@(?P<entity>[^:]*))?:(?:[ \t]+|$)(?P<text>.*)")
_CONFIDENCE = re.compile(r"\([ \t]*c[ \t]*=[ \t]*(0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?|\.[0-9]{1,6})[ \t]*\)")
_BULLET = re.compile(r"(?P<indent>[ \t]*)[-*+](?:[ \t]+(?P<body>.*)|$)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
# Retain, Retain: and Retain (오늘)
_RETAIN = re.compile(r"retain(?:[ \t]*[:：(（-].*)?", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOTE = re.compile(
    rf"(?<=[ \t\n])\((?P<date>{_DATE}|undated)"
    r"(?:;\s+seen\s+(?P<seen>[^;()]+))?"
    rf"(?:;\s+superseded\s+(?P<superseded>{_DATE}|undated))?\)[ \t]*$",
    re.MULTILINE,
)
_SIGHTING = re.compile(rf"(?:{_DATE}|undated)(?: [^;,()\s][^;,()]*)?")
_STORED = re.compile(r"(?P<marker>[ \t]*[-*+][ \t]+)(?P<strike>~~)?[A-Za-z](?P<c>\([^()\n]*\))?[(@: \t]")
# What begins a block of its own, so that it does not go on with the line above.
_BEGINS = re.compile(r"[ \t]*(?:[-*+](?:[ \t]|$)|1[.)][ \t]|#{1,6}(?:[ \t]|$)|[>|<]|(?:=+|-+)[ \t]*$)")
_STRUCK = re.compile(r"~~(?=\S)((?:(?!~~).)+)(?<=\S)~~")
_CHECKBOX = re.compile(r"\[[ xX]\][ \t]+")
# Direction marks and byte order marks hide in what is pasted, and turn a line round on a terminal.
_CONTROLS = {**dict.fromkeys((*range(32), *range(127, 160)), " "),
             **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF))}


class Item:
    """One memory.

    Attributes
    ----------
    tag : {"W", "B", "O", "S"}
        World, behaviour, opinion, self.
    text : str
        One line.
    entity : str
        Whom or what it is about; may be empty.
    confidence : str
        Decimal number in [0, 1] as written; empty if none is given.
    date : str
        ISO day it was retained; empty if unknown.
    seen : tuple of str
        Later sightings: a day each, and the source if that is not the day's log.
    superseded : str
        Day on which a newer item took its place; empty while it holds.
    """

    __slots__ = ("confidence", "date", "entity", "seen", "superseded", "tag", "text")

    def __init__(self, tag: str, text: str, entity: str = "", confidence: str = "", date: str = "",
                 seen: tuple[str, ...] = (), superseded: str = ""):
        self.tag = tag
        self.text = text
        self.entity = entity
        self.confidence = confidence
        self.date = date
        self.seen = seen
        self.superseded = superseded

    def key(self) -> tuple:
        """All fields."""
        return (self.tag, self.text, self.entity, self.confidence, self.date, self.seen, self.superseded)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def changed(self, **fields) -> Item:
        """A copy with some fields replaced."""
        return Item(**{**{name: getattr(self, name) for name in self.__slots__}, **fields})

    def days(self) -> set[str]:
        """Days on which it was seen."""
        return {self.date, *(sighting[:10] for sighting in self.seen)}

    def line(self) -> str:
        """As a retain bullet of a log."""
        return "- " + self._body()

    def stored(self) -> str:
        """As a bullet of a bank file."""
        body = self._body()
        if self.superseded and "~~" not in body:
            body = f"~~{body}~~"
        # A text that itself ends like a note would be taken apart.
        note = self.note() or ("(undated)" if _NOTE.search(body) else "")
        return f"- {body} {note}".rstrip()

    def note(self) -> str:
        """What a bank file tells of it, in parentheses; empty if nothing is known."""
        notes = [self.date or "undated"]
        if self.seen:
            notes.append("seen " + ", ".join(self.seen))
        if self.superseded:
            notes.append("superseded " + self.superseded)
        return f"({'; '.join(notes)})" if self.date or len(notes) > 1 else ""

    def _body(self) -> str:
        confidence = f"(c={self.confidence})" if self.confidence else ""
        return f"{self.tag}{confidence}{' @' + self.entity if self.entity else ''}: {self.text}"

    def __repr__(self) -> str:
        return f"Item({self.stored()[2:]!r})"


class Malformed(ValueError):
    """A bullet that is no retain item; the message says why."""


def parse_item(body: str, date: str = "") -> Item:
    """Read one item, without its bullet.

    Parameters
    ----------
    body : str
        ``W @entity: text``, or with the bullet in front.
    date : str
        Its day.

    Raises
    ------
    Malformed
        It does not follow the grammar.
    """
    body = plain_line(body)
    bullet = _BULLET.fullmatch(body)
    body = (bullet["body"] or "") if bullet else body
    if len(body) > MAX_CHARACTERS:
        raise Malformed(f"an item of {len(body):,} characters; at most {MAX_CHARACTERS:,} are allowed")
    head = _HEAD.fullmatch(body)
    if head is None:
        raise Malformed(f"not a retain item: {body[:60]!r}; write it like 'W @entity: text'")
    tag = head["tag"]
    if tag not in TAGS:
        raise Malformed(f"unknown tag {tag!r}; the tags are W (world), B (behaviour), O (opinion), S (self)")
    confidence = ""
    if head["c"]:
        number = _CONFIDENCE.fullmatch(head["c"])
        if number is None:
            raise Malformed(f"{head['c']} is no confidence; write it like (c=0.85), from 0 to 1")
        if tag != "O":
            raise Malformed(f"only an opinion has a confidence: O{head['c']}, not {tag}{head['c']}")
        confidence = number[1]
    entity = (head["entity"] or "").strip()
    if head["entity"] is not None and not entity:
        raise Malformed("the entity after '@' is missing")
    if not head["text"]:
        raise Malformed("the item has no text")
    return Item(tag, head["text"], entity, confidence, date)


def plain_line(text: str) -> str:
    """A text as one line, without control characters.

    Raises
    ------
    Malformed
        It can't be written to a file.
    """
    if text.isprintable():
        return " ".join(text.split())
    text = " ".join(text.translate(_CONTROLS).split())
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Malformed(f"holds half a character (U+{ord(text[error.start]):04X}), which no text file can") from None
    return text


def begins_item(text: str) -> bool:
    """Whether a text begins as a whole item does, with a tag and a colon, whatever follows."""
    head = _HEAD.fullmatch(" ".join(text.split()))
    return head is not None and head["tag"] in TAGS and bool(head["text"])


def parse_stored(bullet: str) -> Item | None:
    """Read a bullet of a bank file with all of its lines; None if it holds no item.

    One that somebody has struck through is superseded, on an unknown day.
    """
    bullet = bullet.rstrip("\r\n").replace("\r\n", "\n")
    start = _STORED.match(bullet)
    if not start:
        return None
    text, note, seen = _apart(bullet)
    body = text[start.end("marker"):].strip()
    superseded = (note["superseded"] or "") if note else ""
    if start["strike"] and body.endswith("~~"):
        body = body[2:-2]
        superseded = superseded or "undated"
    try:
        item = parse_item(body)
    except Malformed:
        return None
    struck = None if superseded or item.text[:2] != "~~" else _STRUCK.fullmatch(item.text)
    if struck:
        item.text, superseded = struck[1], "undated"
    item.seen, item.superseded = seen, superseded
    if note and note["date"] != "undated":
        item.date = note["date"]
    return item


def renoted(bullet: str, item: Item) -> str:
    """A bullet of a bank file that is to tell what is known of its item by now; its text stays as it is wrapped."""
    text, _, _ = _apart(bullet)
    start = _STORED.match(text)
    assert start is not None
    at = start.end("marker")
    struck = start["strike"] or ""
    body = text[at + len(struck):]
    if item.confidence and start["c"] != f"(c={item.confidence})":
        body = f"O(c={item.confidence})" + body[1 + len(start["c"] or ""):]
    if item.superseded and "~~" not in text:
        body, struck = body + "~~", "~~"
    made = f"{text[:at]}{struck}{body}"
    return f"{made} {item.note() or ('(undated)' if _apart(made)[1] else '')}".rstrip()


def _apart(bullet):
    """A stored item without its note, that note and its sightings.

    The note is at the end, or at that of a line above which somebody has added to the item.
    """
    at = bullet.rfind("(")
    while at >= 0:
        note = _NOTE.match(bullet, at)
        if note:
            told = note["seen"]
            seen = tuple([" ".join(one.split()) for one in told.split(",")]) if told else ()
            if all(map(_SIGHTING.fullmatch, seen)):
                return (bullet[:at].rstrip() + bullet[note.end():]).rstrip(), note, seen
        at = bullet.rfind("(", 0, at)
    return bullet.rstrip(), None, ()


def stored_bullets(text: str) -> Iterator[tuple[int, str]]:
    """Bullets of a bank file that may hold items, each with the lines that it is wrapped over.

    Yields
    ------
    line : int
        Its first, from 1.
    bullet : str
        Its lines, without their ends, joined by line feeds.
    """
    bullet: list[str] = []
    first = 0
    for number, line in blocks(text):
        if bullet and number == first + len(bullet) and _goes_on(bullet, line):
            bullet.append(line)
            continue
        if bullet:
            yield first, "\n".join(bullet)
        bullet, first = ([line], number) if _STORED.match(line) else ([], 0)
    if bullet:
        yield first, "\n".join(bullet)


def _goes_on(bullet, line):
    """Whether a line belongs to the bullet above it.

    A line that is not indented does too in Markdown; but below a note somebody has begun something new.
    """
    if line[:2] == "- " or not line.strip() or _BEGINS.match(line):
        return False
    return line[0] in " \t" or _NOTE.search(bullet[-1]) is None


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a Markdown text that are no code and no comment.

    Yields
    ------
    line : int
        From 1.
    content : str
        Without its end.
    """
    fence = ""
    comment = False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if comment:
            comment = "-->" not in line
        elif fence:
            stripped = line.strip()
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
        elif (opening := _FENCE.match(line)) and not (opening[1][0] == "`" and "`" in line[opening.end():]):
            fence = opening[1]
        elif line.lstrip(" ").startswith("<!--"):
            comment = "-->" not in line
        else:
            yield number, line


def _heading(lines, at):
    """Level and title of the heading that a line is part of; level 0 if of none."""
    number, line = lines[at]
    heading = _HEADING.fullmatch(line)
    if heading:
        return len(heading["marks"]), (heading["title"] or "").strip()
    for first in (at, at - 1):
        if first < 0 or first + 1 >= len(lines) or lines[first + 1][0] != lines[first][0] + 1:
            continue
        title, underline = lines[first][1], _UNDERLINE.fullmatch(lines[first + 1][1])
        if underline and title.strip() and title[0] not in " \t" and not _HEADING.fullmatch(title) and (
                not _BULLET.fullmatch(title)):
            return (1 if underline[1][0] == "=" else 2), title.strip()
    return 0, ""


class _Bullet:
    """One of a log: where it is, and its text with those of the bullets nested in it."""

    __slots__ = ("indent", "line", "texts")

    def __init__(self, line: int, indent: int, text: str):
        self.line = line
        self.indent = indent
        self.texts = [text]

    def body(self) -> str:
        text, *nested = filter(None, map(str.strip, self.texts)) if self.texts[0].strip() else self.texts
        if nested:
            text += (" " if text[-1:] in ":;,.!?…。：？！" else ": ") + "; ".join(nested)
        return text


def parse_log(text: str, date: str = "") -> tuple[list[tuple[int, Item]], list[tuple[int, str]]]:
    """Read the ``## Retain`` sections of a daily log.

    Parameters
    ----------
    text : str
    date : str
        The log's day.

    Returns
    -------
    items : list of (line, Item)
        An indented line after a bullet goes on with it; so do nested bullets that are no items, as a list.
    problems : list of (line, message)
        Bullets that are no items; the others are read all the same.
    """
    level = 0
    found: list[_Bullet] = []
    problems: list[tuple[int, str]] = []
    above: list[_Bullet] = []  # those that a line may belong to, the innermost last
    lines = list(blocks(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")))
    for at, (number, line) in enumerate(lines):
        depth, title = _heading(lines, at)
        if depth:
            if _RETAIN.fullmatch(title):
                level = depth
            elif depth <= level:
                level = 0
            above.clear()
        elif not level or not line.strip():
            continue
        elif bullet := _BULLET.fullmatch(line):
            body = _CHECKBOX.sub("", bullet["body"] or "", count=1) if bullet["body"] else ""
            indent = len(bullet["indent"].expandtabs(4))
            while above and above[-1].indent > indent - 2:
                above.pop()
            if above and not begins_item(body):
                above[-1].texts.append(body)
            else:
                above.append(_Bullet(number, indent, body))
                found.append(above[-1])
        elif above and line[0] in " \t":
            above[-1].texts[-1] += " " + line.strip()
        else:
            problems.append((number, f"not a retain bullet: {line.strip()[:60]!r}; write it like '- W @entity: text'"))
            above.clear()
    items: list[tuple[int, Item]] = []
    for one in found:
        try:
            items.append((one.line, parse_item(one.body(), date)))
        except Malformed as error:
            problems.append((one.line, str(error)))
    return items, sorted(problems)
