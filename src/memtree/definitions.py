"""Link definitions and footnotes of a Markdown file: a part that uses one needs it at hand."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtree.blocks import Block

_FOOTNOTE = re.compile(rb"^[ ]{0,3}\[(\^(?:\\.|[^\[\]\\])+)\]:", re.MULTILINE)
_DEFINED = re.compile(rb"^[ ]{0,3}\[((?:\\.|[^\[\]\\])+)\]:", re.MULTILINE)
_LABEL = re.compile(rb"\[((?:\\.|[^\[\]\\])+)\]")


def labels(shown: bytearray, start: int, end: int) -> set[str]:
    """Give all that may be a label in a stretch of a text."""
    return {_label(match.group(1)) for match in _LABEL.finditer(shown, start, end)}


def definitions(data: bytes, shown: bytearray, blocks: Sequence[Block]) -> dict[str, tuple[int, int]]:
    """Give the spans of link definitions and footnotes by label; the first of a label counts.

    Parameters
    ----------
    data : bytes
        The file.
    shown : bytearray
        The same with code and comments blanked out.
    blocks : sequence of Block
        Of the file.
    """
    found: dict[str, tuple[int, int]] = {}
    for block in blocks:
        if block.kind != "paragraph":
            continue
        starts = list(_DEFINED.finditer(shown, block.start, block.end))
        ends = [*(match.start() for match in starts[1:]), block.end]
        for match, end in zip(starts, ends, strict=False):
            if not _FOOTNOTE.match(match.group()):
                # A link definition is one line, or two if its destination stands on the second.
                line_end = data.find(b"\n", match.end())
                if data[match.end() : line_end].strip() and line_end >= 0:
                    end = min(end, line_end)
            found.setdefault(_label(match.group(1)), (match.start(), end))
    return found


def _label(raw: bytes) -> str:
    return " ".join(bytes(raw).decode("utf-8", "replace").split()).casefold()
