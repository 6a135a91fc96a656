"""What the references to a file become when it is split."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_right
from urllib.parse import quote

from memtree.anchors import Anchors, Heading
from memtree.blocks import line_starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtree.links import Names, Reference
    from memtree.split import Plan


HUB = -1
"""In place of the number of a part."""
_LINE_FRAGMENT = re.compile(r"L([0-9]{1,9})(?:(-L?)([0-9]{1,9}))?")
_LINE_SUFFIX = re.compile(r"([0-9]{1,9})(?:(-)([0-9]{1,9}))?")


class Relinker:
    """Destinations after a split; what is left to a person is noted in the plan.

    Parameters
    ----------
    plan : Plan
        With its parts.
    data : bytes
        The file as it was.
    body : int
        Where that starts which goes to the parts.
    names : Names
        The workspace before the split.
    anchors : Anchors
        Of the file.
    part_anchors : list of Anchors
        Of each part.
    """

    def __init__(
        self,
        plan: Plan,
        data: bytes,
        body: int,
        names: Names,
        anchors: Anchors,
        part_anchors: list[Anchors],
    ):
        self.plan = plan
        self.source = plan.path
        self.data = data
        self.body = body
        self.names = names
        self.anchors = anchors
        self.part_anchors = part_anchors
        self.line_starts = [start for start in line_starts(data, 0, len(data)) if start < len(data)]

    def inner(self, reference: Reference, index: int, is_original: bool) -> bytes | None:
        """Give what a reference of the file itself becomes in part `index`; None if it stays."""
        if reference.is_external or not (reference.path or reference.fragment):
            return None
        found, is_relative = self.names.resolve(reference, self.source)
        if found == [self.source]:
            place = self._place(reference)
            if reference.quoted:
                if place is not None and is_original:
                    self._note(
                        self.source,
                        self.data,
                        reference,
                        f"{_shown(reference)} stands in code or a comment: left",
                    )
                return None
            if place is None:
                if (reference.fragment or reference.lines) and is_original:
                    self._note_no_place(self.source, self.data, reference)
                if not reference.path or not is_relative:
                    return None
                return reference.renewed(self._up(reference), reference.fragment, reference.lines)
            target, fragment, lines = place
            if target == HUB:
                if not reference.path:
                    name = posixpath.basename(self.source)
                    is_wiki = reference.kind == "wikilink"
                    return reference.renewed(posixpath.splitext(name)[0] if is_wiki else "../" + name, fragment)
                return reference.renewed(self._up(reference), fragment, lines) if is_relative else None
            if not reference.path and target == index and is_original:
                return reference.renewed("", fragment) if fragment != reference.fragment else None
            name = posixpath.basename(self.plan.parts[target].path)
            if reference.kind == "wikilink":
                name = self._wiki_name(reference, target)
            elif not is_relative:
                name = _with_part(reference.path, self.source, name)
            return reference.renewed(name, fragment, lines)
        if reference.quoted:
            return None
        if len(found) > 1 and is_original:
            if self.source in found:
                self._note(
                    self.source,
                    self.data,
                    reference,
                    f"{_shown(reference)} could mean {' or '.join(found)}: left",
                )
            return None
        if is_relative and reference.path and not reference.path.startswith("/"):
            return reference.renewed(self._up(reference), reference.fragment, reference.lines)
        return None

    def _up(self, reference: Reference) -> str:
        """Give a relative path as seen from the folder of the parts."""
        path = reference.path
        while path.startswith("./"):
            path = path[2:]
        return "../" + path

    def _wiki_name(self, reference: Reference, target: int) -> str:
        part = posixpath.splitext(self.plan.parts[target].path)[0]
        if not reference.path:
            return "/".join(part.split("/")[-2:])
        return _with_part(reference.path, self.source, posixpath.basename(self.plan.parts[target].path))

    def _place(self, reference: Reference) -> tuple[int, str, str] | None:
        """Give part, new fragment and lines of a reference into this file; None if it means all of it."""
        if reference.lines:
            return self._lines_place(_LINE_SUFFIX, reference.lines)
        if not reference.fragment:
            return None
        is_wiki = reference.kind == "wikilink"
        target = self.anchors.wiki(reference.fragment) if is_wiki else self.anchors.link(reference.fragment)
        if target is None:
            return None if is_wiki else self._lines_place(_LINE_FRAGMENT, reference.fragment)
        start = target.start if isinstance(target, Heading) else target
        if start < self.body:
            return HUB, reference.fragment, ""
        index = self._part_at(start)
        if not isinstance(target, Heading):
            return index, reference.fragment, ""
        part = self.plan.parts[index]
        anchors = self.part_anchors[index]
        heading = anchors.heading_at(start - part.start)
        if heading is None:
            return index, reference.fragment, ""
        same = anchors.wiki(reference.fragment) if is_wiki else anchors.link(reference.fragment)
        if same is heading:
            return index, reference.fragment, ""
        if is_wiki:
            # Outer headings may lie in another part by now.
            last = reference.fragment.rpartition("#")[2].strip()
            return index, last, ""
        return index, heading.slug, ""

    def _lines_place(self, form: re.Pattern[str], text: str) -> tuple[int, str, str] | None:
        """Give part and new numbers of lines; None if they are not in one part."""
        found = form.fullmatch(text)
        if found is None:
            return None
        first = int(found.group(1))
        last = int(found.group(3) or first)
        if not 1 <= first <= last <= len(self.line_starts):
            return None
        start, end = self.line_starts[first - 1], self.line_starts[last - 1]
        if end < self.body:
            return HUB, *((text, "") if form is _LINE_FRAGMENT else ("", text))
        index = self._part_at(start)
        part = self.plan.parts[index]
        if start < self.body or self._part_at(end) != index:
            return None
        shift = part.above + 1 - bisect_right(self.line_starts, part.start)
        new = str(first + shift) + (found.group(2) + str(last + shift) if found.group(3) else "")
        return (index, "L" + new, "") if form is _LINE_FRAGMENT else (index, "", new)

    def head(self, reference: Reference) -> bytes | None:
        """Give what a reference in the head of the file, which stays in the hub, becomes; None if it stays."""
        if reference.path or not reference.fragment or reference.quoted:
            return self.outer(reference, self.source, self.data)
        place = self._place(reference)
        if place is None:
            self._note_no_place(self.source, self.data, reference)
        if place is None or place[0] == HUB:
            return None
        index, fragment, _ = place
        path = "/".join(self.plan.parts[index].path.split("/")[-2:])
        return reference.renewed(posixpath.splitext(path)[0] if reference.kind == "wikilink" else path, fragment)

    def outer(self, reference: Reference, path: str, data: bytes) -> bytes | None:
        """Give what a reference in another file becomes; None if it stays."""
        if reference.is_external or not reference.path:
            return None
        found, _ = self.names.resolve(reference, path)
        if self.source not in found:
            return None
        if len(found) > 1:
            self._note(path, data, reference, f"{_shown(reference)} could mean {' or '.join(found)}: left")
            return None
        place = self._place(reference)
        if place is None and (reference.fragment or reference.lines):
            self._note_no_place(path, data, reference)
            return None
        if place is None and re.match(rb":[0-9]", data[reference.end : reference.end + 2]):
            self._note(path, data, reference, f"{_shown(reference)}: the number after it may be a line: left")
            return None
        if place is None or place[0] == HUB:
            self.plan.kept.append((path, _line(data, reference), _shown(reference)))
            return None
        if reference.quoted:
            self._note(path, data, reference, f"{_shown(reference)} stands in code or a comment: left")
            return None
        index, fragment, lines = place
        name = posixpath.basename(self.plan.parts[index].path)
        return reference.renewed(_with_part(reference.path, self.source, name), fragment, lines)

    def _part_at(self, offset: int) -> int:
        for index, part in enumerate(self.plan.parts):
            if part.start <= offset < part.end:
                return index
        return len(self.plan.parts) - 1

    def _note_no_place(self, path: str, data: bytes, reference: Reference) -> None:
        is_lines = reference.lines or _LINE_FRAGMENT.fullmatch(reference.fragment)
        why = "no part holds these lines" if is_lines else "there is no such heading"
        self._note(path, data, reference, f"{_shown(reference)}: {why}")

    def _note(self, path: str, data: bytes, reference: Reference, message: str) -> None:
        self.plan.notes.append((path, _line(data, reference), message))


def _with_part(path: str, source: str, part: str) -> str:
    """Lead a path that names the file to one of its parts; an ending that was left out stays out."""
    folder, _, name = path.rpartition("/")
    ending = name.lower().endswith((".md", ".markdown"))
    name = part if ending else posixpath.splitext(part)[0]
    # The folder of the parts is spelt as the file is, whatever letter case the reference has.
    stem = posixpath.splitext(posixpath.basename(source))[0]
    start = folder + "/" if folder or path.startswith("/") else ""
    return f"{start}{stem}/{name}"


def spellings(stem: str) -> Iterator[bytes]:
    """Give the forms in which a file may spell a name, in lower case of ASCII letters."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, stem)
        yield text.encode().lower()
        yield quote(text).encode().lower()
        yield quote(text, safe="()!*',;&+").encode().lower()
        yield text.encode("ascii", "backslashreplace").lower()


def _line(data: bytes, reference: Reference) -> int:
    return data.count(b"\n", 0, reference.start) + 1


def _shown(reference: Reference) -> str:
    return reference.raw.decode("utf-8", "replace")
