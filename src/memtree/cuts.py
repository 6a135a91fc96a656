"""Where a file can be cut in parts, and what the parts are called."""

from __future__ import annotations

import re

from memtree.anchors import slugify
from memtree.blocks import Block

# Parts are filled to this share of the size they must stay below, so that they can grow.
FILL = 0.8
MAX_NAME_BYTES = 60

_TAGS = re.compile(rb"<(/?)(?:details|div|table|section|blockquote|ul|ol)\b", re.IGNORECASE)


def cuts(data: bytes, start: int, end: int, found: list[Block]) -> list[tuple[int, float]]:
    """Give where ``data[start:end]`` may be cut, with the cost of a cut there."""
    cuts: list[tuple[int, float]] = []
    levels = [block.level for block in found if block.level]
    top = min(levels, default=1)
    depth = 0
    before: Block | None = None
    for block in found:
        if before is not None and start < block.start < end and not depth and before.kind != "heading":
            if block.level:
                cuts.append((block.start, 0.1 * (block.level - top)))
            elif block.kind == "item" and before.kind == "item":
                cuts.append((block.start, 3.0))
            elif block.kind not in ("code", "rule"):
                cuts.append((block.start, 1.5))
        elif block.level and start < block.start < end and not depth:
            # Between a heading and the one right below it: leaves the upper heading alone in its part.
            cuts.append((block.start, 1.0))
        if block.kind in ("html", "paragraph"):
            for tag in _TAGS.finditer(data, block.start, block.end):
                depth = max(0, depth + (-1 if tag.group(1) else 1))
        before = block
    return cuts


def choose(start: int, end: int, places: list[tuple[int, float]], limit: int) -> list[int]:
    """Choose cuts so that parts stay below `limit`, near an equal size, at cheap places."""
    count = max(2, -(-(end - start) // int(limit * FILL)))
    ideal = (end - start) / count
    places = [(start, 0.0), *places, (end, 0.0)]
    best: list[float] = [0.0] + [float("inf")] * (len(places) - 1)
    came_from = [0] * len(places)
    for right in range(1, len(places)):
        for left in range(right - 1, -1, -1):
            size = places[right][0] - places[left][0]
            if size >= limit and left < right - 1:
                break
            cost = best[left] + (size / ideal - 1) ** 2 + places[right][1]
            if size >= limit:
                cost += 100.0
            if cost < best[right]:
                best[right] = cost
                came_from[right] = left
    chosen = []
    at = came_from[-1]
    while at > 0:
        chosen.append(places[at][0])
        at = came_from[at]
    return chosen[::-1]


def file_name(title: str) -> str:
    """Turn a heading into a name that is safe on every file system."""
    name = re.sub(r"[-_\s]+", "-", slugify(title)).strip("-")
    while len(name.encode()) > MAX_NAME_BYTES:
        name = name[:-1].rstrip("-")
    return name
