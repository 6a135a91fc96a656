"""Retain items: the bullets that agents write into daily logs, and the form in which a bank keeps them.

In a daily log, below ``## Retain``::

    - W @entity: world fact
    - B @entity: behaviour, experience
    - O(c=0.85) @entity: opinion with its confidence
    - S: self

In a bank file the same line with what is known about it at its end; a superseded one is struck through::

    - O(c=0.85) @entity: opinion (2026-03-02; seen 2026-03-09, 2026-04-01 by hand)
    - ~~W @회의: 회의는 3시~~ (2026-03-02; superseded 2026-03-05)
"""

from __future__ import annotations

import re

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
    rf"[ \t]+\((?P<date>{_DATE}|undated)"
    r"(?:; seen (?P<seen>[^;()]+))?"
    rf"(?:; superseded (?P<superseded>{_DATE}|undated))?\)[ \t]*$"
)
_SIGHTING = re.compile(rf"(?:{_DATE}|undated)(?: [^;,()\s][^;,()]*)?")
_MARKS = re.compile(r"(?:~~)?[A-Za-z][(@: \t]")


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
        notes = [self.date]
        if self.seen:
            notes.append("seen " + ", ".join(self.seen))
        if self.superseded:
            body = f"~~{body}~~"
            notes.append("superseded " + self.superseded)
        # A text that itself ends like a note would be taken apart.
        if len(notes) == 1 and not self.date and not _NOTE.search(body):
            return "- " + body
        notes[0] = notes[0] or "undated"
        return f"- {body} ({'; '.join(notes)})"

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
    bullet = _BULLET.fullmatch(body.strip())
    body = (bullet["body"] or "") if bullet else body
    body = " ".join(body.split())
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


def begins_item(text: str) -> bool:
    """Whether a text begins as a whole item does, with a tag and a colon, whatever follows."""
    head = _HEAD.fullmatch(" ".join(text.split()))
    return head is not None and head["tag"] in TAGS and bool(head["text"])


def parse_stored(line: str) -> Item | None:
    """Read a line of a bank file; None if it holds no item."""
    bullet = _BULLET.fullmatch(line.rstrip("\r\n"))
    body = bullet and bullet["body"]
    if not body or not _MARKS.match(body):
        return None
    note = _NOTE.search(body)
    fields: dict = {}
    if note:
        seen = tuple(note["seen"].split(", ")) if note["seen"] else ()
        if all(map(_SIGHTING.fullmatch, seen)):
            fields = {"seen": seen, "superseded": note["superseded"] or "",
                      "date": "" if note["date"] == "undated" else note["date"]}
            body = body[:note.start()]
    if fields.get("superseded"):
        body = body.strip().removeprefix("~~").removesuffix("~~")
    try:
        return parse_item(body).changed(**fields)
    except Malformed:
        return None


def blocks(text: str):
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
        An indented line after a bullet goes on with it.
    problems : list of (line, message)
        Bullets that are no items; the others are read all the same.
    """
    level = 0
    found: list[tuple[int, str]] = []
    problems: list[tuple[int, str]] = []
    is_open = False
    lines = list(blocks(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")))
    for at, (number, line) in enumerate(lines):
        depth, title = _heading(lines, at)
        if depth:
            if _RETAIN.fullmatch(title):
                level = depth
            elif depth <= level:
                level = 0
            is_open = False
        elif not level or not line.strip():
            is_open = False
        elif bullet := _BULLET.fullmatch(line):
            found.append((number, bullet["body"] or ""))
            is_open = True
        elif is_open and line[0] in " \t":
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            problems.append((number, f"not a retain bullet: {line.strip()[:60]!r}; write it like '- W @entity: text'"))
            is_open = False
    items: list[tuple[int, Item]] = []
    for number, body in found:
        try:
            items.append((number, parse_item(body, date)))
        except Malformed as error:
            problems.append((number, str(error)))
    return items, sorted(problems)
