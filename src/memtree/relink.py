"""What the references to a file become when it is split."""

from __future__ import annotations

import posixpath
import unicodedata
from urllib.parse import quote

from memtree.anchors import Anchors, Heading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtree.links import Names, Reference
    from memtree.split import Plan


class Relinker:
    """Destinations after a split; what is left to a person is noted in the plan.

    Parameters
    ----------
    plan : Plan
        With its parts.
    data : bytes
        The file as it was.
    body : int
        Where its body starts.
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
                if reference.fragment and is_original:
                    self._note(
                        self.source, self.data, reference, f"{_shown(reference)}: there is no such heading"
                    )
                if not reference.path or not is_relative:
                    return None
                return reference.renewed(self._up(reference), reference.fragment)
            target, fragment = place
            if not reference.path and target == index and is_original:
                return reference.renewed("", fragment) if fragment != reference.fragment else None
            name = posixpath.basename(self.plan.parts[target].path)
            if reference.kind == "wikilink":
                name = self._wiki_name(reference, target)
            elif not is_relative:
                name = _with_part(reference.path, self.source, name)
            return reference.renewed(name, fragment)
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
            return reference.renewed(self._up(reference), reference.fragment)
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

    def _place(self, reference: Reference) -> tuple[int, str] | None:
        """Give part and new fragment of a reference into this file; None if it means all of it."""
        if not reference.fragment:
            return None
        is_wiki = reference.kind == "wikilink"
        target = self.anchors.wiki(reference.fragment) if is_wiki else self.anchors.link(reference.fragment)
        if target is None:
            return None
        if not isinstance(target, Heading):
            return (self._part_at(target), reference.fragment) if target >= self.body else None
        index = self._part_at(target.start)
        part = self.plan.parts[index]
        anchors = self.part_anchors[index]
        heading = anchors.heading_at(target.start - part.start)
        if heading is None:
            return index, reference.fragment
        same = anchors.wiki(reference.fragment) if is_wiki else anchors.link(reference.fragment)
        if same is heading:
            return index, reference.fragment
        if is_wiki:
            # Outer headings may lie in another part by now.
            last = reference.fragment.rpartition("#")[2].strip()
            return index, last
        return index, heading.slug

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
        if place is None:
            if reference.fragment:
                self._note(path, data, reference, f"{_shown(reference)}: there is no such heading")
            else:
                self.plan.kept.append((path, _line(data, reference), _shown(reference)))
            return None
        if reference.quoted:
            self._note(path, data, reference, f"{_shown(reference)} stands in code or a comment: left")
            return None
        index, fragment = place
        name = posixpath.basename(self.plan.parts[index].path)
        return reference.renewed(_with_part(reference.path, self.source, name), fragment)

    def _part_at(self, offset: int) -> int:
        for index, part in enumerate(self.plan.parts):
            if part.start <= offset < part.end:
                return index
        return len(self.plan.parts) - 1

    def _note(self, path: str, data: bytes, reference: Reference, message: str) -> None:
        self.plan.notes.append((path, _line(data, reference), message))


def _with_part(path: str, source: str, part: str) -> str:
    """Lead a path that names the file to one of its parts; an ending that was left out stays out."""
    folder, _, name = path.rpartition("/")
    ending = name.endswith((".md", ".markdown"))
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
