"""The hub that a split leaves in place of a file: a title and one link a part, between marks.

What stands between the marks is generated; a part has such lines too, for the definitions that it uses.
"""

from __future__ import annotations

import re

from memtree.links import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtree.blocks import Block

GENERATED = b"<!-- memtree:generated -->"
GENERATED_END = b"<!-- /memtree:generated -->"
_BOM = b"\xef\xbb\xbf"

_LINES = re.compile(
    rb"(?:^|(?<=\A"
    + _BOM
    + rb"))"
    + re.escape(GENERATED)
    + rb"\r?\n(?:(?!"
    + re.escape(GENERATED_END)
    + rb")[^\n]*\n)*"
    + re.escape(GENERATED_END)
    + rb"(?:\r?\n|\Z)",
    re.MULTILINE,
)


def without_generated(data: bytes) -> bytes:
    """Drop the marked lines that a split put into a file."""
    return _LINES.sub(b"", data)


def parts_of(data: bytes) -> list[str]:
    """Give the destinations that a hub lists, relative to its folder; none for another file."""
    return next(filter(None, map(_listed, _LINES.finditer(data))), [])


def old_list(data: bytes, blocks: Sequence[Block]) -> tuple[list[str], int]:
    """Give what `parts_of` does, and where the list ends; none and 0 where it is shown in code."""
    starts = {block.start for block in blocks if block.kind == "html"}
    for lines in _LINES.finditer(data):
        if lines.start() in starts and (listed := _listed(lines)):
            return listed, lines.end()
    return [], 0


def with_list(head: bytes, title: str, entries: Sequence[tuple[str, str]], newline: bytes) -> bytes:
    """Give a new hub.

    Parameters
    ----------
    head : bytes
        Byte order mark and front matter.
    title : str
    entries : sequence of (title, destination)
    newline : bytes
    """
    if head and not head.endswith((b"\n", _BOM)):
        head += newline
    lines = [GENERATED, f"# {_as_text(title)}".encode(), b"", *map(_entry, entries), GENERATED_END, b""]
    return head + newline.join(lines)


def with_more(data: bytes, entries: Sequence[tuple[str, str]], newline: bytes) -> bytes:
    """Give a hub, whose list is the last of it, with entries added."""
    at = data.rindex(GENERATED_END)
    return data[:at] + newline.join([*map(_entry, entries), b""]) + data[at:]


def _listed(lines: re.Match[bytes]) -> list[str]:
    entries = b"\n\n".join(line for line in lines.group().splitlines() if line.startswith(b"- ["))
    return [reference.path for reference in find(entries, "hub.md") if reference.kind == "link"]


def _entry(entry: tuple[str, str]) -> bytes:
    title, destination = entry
    if re.search(r"[\s()<>\\]", destination):
        destination = f"<{destination}>"
    return f"- [{_as_text(title)}]({destination})".encode()


def _as_text(text: str) -> str:
    """Escape what would be markup in a heading or the text of a link."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(text.split()))
