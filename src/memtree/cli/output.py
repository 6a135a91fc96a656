"""What commands print: colours, safe text, JSON."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

STYLES = {"path": "36;1", "score": "33", "dim": "2", "match": "32;1", "warning": "33;1"}
# A note may come from anywhere: no control character of it reaches the terminal, tab and newline apart.
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "\ufffd")


def printable(text: str) -> str:
    """A text without the characters that would steer a terminal."""
    return text if text.isprintable() else text.replace("\r\n", "\n").translate(_CONTROLS)


class Paint:
    """Styles for a terminal, or none.

    Parameters
    ----------
    when : {"auto", "always", "never"}
        auto: only on a terminal, and not with ``NO_COLOR`` set.
    """

    __slots__ = ("on",)

    def __init__(self, when: str = "auto"):
        self.on = when == "always" or (
            when == "auto"
            and sys.stdout.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def __call__(self, style: str, text: str) -> str:
        return f"\033[{STYLES[style]}m{text}\033[0m" if self.on else text

    def matches(self, text: str, terms: Sequence[str]) -> str:
        """A text with the given words picked out."""
        if not self.on:
            return text
        lower = text.lower()
        if len(lower) != len(text):
            return text
        spans = []
        for term in terms:
            at = lower.find(term)
            while at >= 0 and term:
                spans.append((at, at + len(term)))
                at = lower.find(term, at + len(term))
        parts: list[str] = []
        done = 0
        for start, end in sorted(spans):
            if end > done:
                start = max(start, done)
                parts += (text[done:start], self("match", text[start:end]))
                done = end
        return "".join(parts) + text[done:]


def print_json(value: dict | list) -> None:
    """Print plain data as JSON."""
    if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8":
        from memtree.plainjson import dumps

        print(dumps(value, indent=2))
    else:
        import json

        print(json.dumps(value, indent=2))


def warn(message: str) -> None:
    """Say something beside the answer, on standard error."""
    print(f"memtree: {printable(message)}", file=sys.stderr)


def print_problems(problems: Sequence[dict]) -> None:
    """List what is wrong with files, ``path:line: message``, on standard error."""
    for problem in problems:
        line = "" if problem["line"] is None else f"{problem['line']}:"
        print(printable(f"{problem['path']}:{line} {problem['message']}"), file=sys.stderr)


def span(first: int, last: int) -> str:
    """Lines as they stand after a path: ``12-18``, or ``12`` alone."""
    return str(first) if first == last else f"{first}-{last}"


def width(text: str) -> int:
    """Columns of a text on a terminal: a Korean, Chinese or Japanese letter takes two."""
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def count(n: int, noun: str) -> str:
    """``1,204 files``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def size(n_bytes: int) -> str:
    """``12.3 KiB``."""
    amount = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
