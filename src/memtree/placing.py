"""Put items into a bank file: changed lines in their place, new ones under the heading of their month.

All else of the file keeps its bytes; what is added has the file's own line ends.
"""

from __future__ import annotations

import os

from memtree import markdown
from memtree.items import blocks, stored_bullets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def changed_lines(text: str, changes: dict[str, list[str]]) -> str:
    """A text with some bullets replaced.

    Parameters
    ----------
    text : str
    changes : dict of str to list of str
        New bullets by old one, without their ends: one for each time the old one is to be replaced, in order.
    """
    if not changes:
        return text
    waiting = {old: list(new) for old, new in changes.items()}
    lines = text.split("\n")
    found = [(number, old, waiting[old].pop(0)) for number, old in stored_bullets(text) if waiting.get(old)]
    for number, old, bullet in reversed(found):
        until = number + old.count("\n")
        new = bullet.split("\n")
        ends = ["\r" * line.endswith("\r") for line in lines[number - 1:until]]
        ends[len(new) - 1:] = ends[-1:]
        lines[number - 1:until] = map(str.__add__, new, ends)
    return "\n".join(lines)


def with_items(text: str, lines: Sequence[tuple[str, str]], path: str) -> str:
    """A text with bullets added.

    Parameters
    ----------
    text : str
        Empty for a new file, which gets its name as title.
    lines : sequence of (day, line)
        ISO day and bullet.
    path : str
        Of the file.
    """
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    if not text.strip("\ufeff \t\r\n"):
        name = os.path.splitext(os.path.basename(path))[0]
        text += f"# {name.replace('-', ' ').replace('_', ' ')}{newline}"
    by_month: dict[str, list[str]] = {}
    for day, line in lines:
        by_month.setdefault(day[:7], []).append(line)
    for month, bullets in by_month.items():
        text = _with_month(text, month, bullets, newline)
    return text


def _with_month(text, month, bullets, newline):
    """The bullets at the end of the month's section, or in a new one at the end of the file."""
    data = text.encode()
    wanted = [section for section in markdown.parse(data).sections if section.heading.strip() == month]
    if wanted:
        added = _grown(text, _end(text, len(data[:wanted[-1].end].decode())), bullets, newline)
        if _shows(added, bullets):
            return added
    section = [f"## {month}", "", *bullets]
    added = _grown(text, _end(text, len(text)), section, newline)
    if _shows(added, bullets):
        return added
    # A fence or comment that is never closed runs to the end of the file: go before it.
    return _grown(text, _end_of_last_open_line(text), section, newline)


def _end(text, limit):
    """End of the last line before a position that is not blank, its line end left out."""
    found = len(text[:limit].rstrip())
    at = text.find("\n", found, limit)
    return at - (text[at - 1:at] == "\r") if at >= 0 else limit


def _grown(text, at, lines, newline):
    """Lines put after the line that ends at a position."""
    before, after = text[:at], text[at:]
    end = next((end for end in ("\r\n", "\n") if after.startswith(end)), "")
    after = after[len(end):]
    gap = "" if lines[0].startswith("- ") and _ends_in_list(before) else newline
    if after.strip() and not after.startswith(("\r\n", "\n")):
        after = newline + after
    return before + (end or newline) + gap + newline.join(lines) + newline + after


def _ends_in_list(text):
    """Whether the last line belongs to a bullet that is not indented."""
    while text:
        text, _, line = text.rpartition("\n")
        if not line[:1].isspace():
            return line[:2] in ("- ", "* ", "+ ")
        if not line.strip():
            return False
    return False


def _shows(text, bullets):
    """Whether the bullets stand in the text as such, not in a code block or comment."""
    shown = {line for _, line in blocks(text)}
    return all(bullet in shown for bullet in bullets)


def _end_of_last_open_line(text):
    numbers = [number for number, line in blocks(text) if line.strip()]
    lines = text.split("\n")
    return len("\n".join(lines[:numbers[-1]]).rstrip("\r")) if numbers else 0
