"""Split a file that has grown too large; every reference keeps its meaning.

``guide.md`` becomes a hub with one link a part, the parts lie in ``guide/``. The parts together are the body,
byte for byte, but for the destinations that the plan lists and for generated lines. A hub that has grown again keeps
its list; what was written below it goes to further parts.
"""

from __future__ import annotations

import os
import posixpath
import re
from functools import partial

from memtree import hub, journal
from memtree.anchors import Anchors, plain_text
from memtree.blocks import Block
from memtree.cuts import choose, cuts, file_name
from memtree.definitions import definitions, labels
from memtree.errors import MemtreeError
from memtree.files import contained
from memtree.links import Names, Reference, files_of, find, masked, spaced_links
from memtree.markdown import blocks, body_start, parse
from memtree.relink import Relinker, spellings
from memtree.workspace import MAX_FILE_BYTES, digest, nfc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.config import Settings
    from memtree.workspace import Workspace

class Part:
    """One of the files that a split makes.

    Attributes
    ----------
    path : str
        Relative to the workspace.
    title : str
        Its first heading, or how its text begins.
    start, end : int
        Which bytes of the original it holds.
    data : bytes
        Its content.
    above : int
        Generated lines before its text.
    """

    __slots__ = ("above", "data", "end", "path", "start", "title")

    def __init__(self, path: str, title: str, start: int, end: int):
        self.path = path
        self.title = title
        self.start = start
        self.end = end
        self.data = b""
        self.above = 0


class Edit:
    """A destination that is written anew.

    Attributes
    ----------
    path : str
        The file as it was before, relative to the workspace.
    start, end : int
        Bytes there.
    old, new : bytes
    line : int
    """

    __slots__ = ("end", "line", "new", "old", "path", "start")

    def __init__(self, path: str, data: bytes, reference: Reference, new: bytes):
        self.path = path
        self.start = reference.start
        self.end = reference.end
        self.old = reference.raw
        self.new = new
        self.line = data.count(b"\n", 0, reference.start) + 1


class Plan:
    """What a split will do.

    Attributes
    ----------
    path : str
        The file to split, relative to the workspace; afterwards the hub.
    size : int
        Bytes.
    parts : list of Part
        Empty if the file can't be split or need not be; `notes` says why.
    hub : bytes
        Its new content.
    edits : list of Edit
        Destinations written anew, in the parts and in other files.
    kept : list of (str, int, str)
        References to the whole file: path, line, text. They lead to the hub.
    notes : list of (str, int, str)
        What is left to a person: path, line, message.
    contents : dict of str to bytes
        All files to write.
    """

    def __init__(self, path: str, size: int):
        self.path = path
        self.size = size
        self.parts: list[Part] = []
        self.hub = b""
        self.edits: list[Edit] = []
        self.kept: list[tuple[str, int, str]] = []
        self.notes: list[tuple[str, int, str]] = []
        self.contents: dict[str, bytes] = {}
        self.digests: dict[str, bytes] = {}

    def describe(self) -> str:
        """Give the whole plan as text."""
        lines = [f"{self.path}: {self.size:,} bytes"]
        if self.parts:
            lines[0] += f", {len(self.parts)} parts"
            lines.append(f"  {self.path}  {len(self.hub):,} bytes  hub")
        for part in self.parts:
            lines.append(f"  {part.path}  {len(part.data):,} bytes  {part.title}")
        if self.edits:
            lines.append("references written anew:")
        for edit in self.edits:
            old, new = edit.old.decode("utf-8", "replace"), edit.new.decode("utf-8", "replace")
            lines.append(f"  {edit.path}:{edit.line}: {old} -> {new}")
        if self.kept:
            lines.append("references that lead to the hub:")
        lines += [f"  {path}:{line}: {text}" for path, line, text in self.kept]
        if self.notes:
            lines.append("to be looked at:")
        lines += [f"  {path}:{line}: {message}" for path, line, message in self.notes]
        return "\n".join(lines)


def plan(workspace: Workspace, path: str, settings: Settings) -> Plan:
    """Plan the split of a file.

    Parameters
    ----------
    workspace : Workspace
    path : str
        As in results: relative to the bank.
    settings : Settings
        `warn_bytes`: what the parts stay below.

    Returns
    -------
    Plan

    Raises
    ------
    PathError
        There is no such file in the workspace.
    MemtreeError
        The file is no UTF-8.
    """
    real = workspace.locate(path)
    problems: list[tuple[str, str]] = []
    files = files_of(workspace, problems)
    source = _relative(workspace, real)
    if source not in files and _relative(workspace, os.path.realpath(real)) in files:
        source = _relative(workspace, os.path.realpath(real))  # it was reached through a link to a folder
    files.setdefault(source, real)
    with open(real, "rb") as file:
        data = file.read()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise MemtreeError("is not UTF-8", path=real, remedy="save it as UTF-8") from error
    limit = settings.warn_bytes
    planner = _Planner(workspace, source, data, files, problems)
    while True:
        made = planner.plan(limit)
        excess = max((len(part.data) for part in made.parts if planner.can_be_cut(part)), default=0)
        # Destinations and copied definitions may have made a part larger than its share of the body.
        if excess < settings.warn_bytes or limit < settings.warn_bytes // 2:
            break
        limit -= excess - settings.warn_bytes + 64
    for part in made.parts:
        if len(part.data) > settings.split_bytes and not planner.can_be_cut(part):
            made.notes.append((part.path, 1, f"stays at {len(part.data):,} bytes: one block, with no place to cut"))
    return made


def _relative(workspace, path):
    return nfc(os.path.relpath(path, workspace.root).replace(os.sep, "/"))


def apply(workspace: Workspace, made: Plan) -> None:
    """Carry out a plan, wholly or not at all.

    Raises
    ------
    MemtreeError
        A file was edited since the plan was made.
    WriteError
        The disk refused; nothing was changed.
    """
    if made.parts:
        with journal.Writing(workspace):
            _carry_out(workspace, made)


def split(workspace: Workspace, path: str, settings: Settings) -> Plan:
    """Plan a split and carry it out, while no other writer can come between; raises what `plan` and `apply` do."""
    with journal.Writing(workspace):
        made = plan(workspace, path, settings)
        if made.parts:
            _carry_out(workspace, made)
    return made


def _carry_out(workspace, made):
    for path, known in made.digests.items():
        try:
            with open(contained(workspace.root, path), "rb") as file:
                is_same = digest(file.read()) == known
        except FileNotFoundError:
            is_same = False
        if not is_same:
            raise MemtreeError("was edited since the split was planned", path=path, remedy="plan it again")
    for part in made.parts:
        if os.path.lexists(contained(workspace.root, part.path)):
            raise MemtreeError("exists by now", path=part.path, remedy="plan the split again")
    like = {part.path: made.path for part in made.parts}
    journal.apply(workspace, f"split {made.path}", made.contents, like)


_NUMBERED = re.compile(r"([0-9]{1,9})-")

class _Planner:
    """Makes the plans for one file."""

    def __init__(
        self, workspace: Workspace, source: str, data: bytes, files: dict[str, str], problems: list[tuple[str, str]]
    ):
        self.problems = problems
        self.workspace = workspace
        self.source = source
        self.data = data
        self.files = files
        bank = os.path.relpath(workspace.bank, workspace.root).replace(os.sep, "/")
        self.bank = "" if bank == "." else nfc(bank)
        self.names = Names(files, self.bank)
        self.blocks = blocks(data)
        # Of a hub that has grown, all down to the list of its parts stays.
        self.listed, listed_to = hub.old_list(data, self.blocks)
        self.body = max(body_start(data), listed_to)
        self.anchors = Anchors(data, self.blocks)
        self.newline = b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"
        self.cuts = cuts(data, self.body, len(data), self.blocks)
        self.references = find(data, source)
        self.shown, _ = masked(data)
        self.definitions = definitions(data, self.shown, self.blocks)

    def can_be_cut(self, part: Part) -> bool:
        return any(part.start < place < part.end for place, _ in self.cuts)

    def plan(self, limit: int) -> Plan:
        self.result = Plan(self.source, len(self.data))
        self.part_anchors: list[Anchors] = []
        if len(self.data) - self.body < limit:
            above = self.listed and self.body >= limit
            self._note(0, "all down to the list of its parts stays in the hub: move text below it" if above else
                       "is small enough already")
            return self.result
        chosen = choose(self.body, len(self.data), self.cuts, limit)
        if not chosen:
            self._note(0, "can't be split: it is one block (a code block, table, list item or paragraph)")
            return self.result
        self._make_parts(chosen)
        self.relinker = Relinker(self.result, self.data, self.body, self.names, self.anchors, self.part_anchors)
        self._fill_parts()
        self._make_hub()
        self._follow_references()
        self._follow_tree()
        result = self.result
        result.digests[self._key(self.source)] = digest(self.data)
        result.contents[self._key(self.source)] = result.hub
        result.contents.update((part.path, part.data) for part in result.parts)
        result.edits.sort(key=lambda edit: (edit.path, edit.start))
        return result

    def _key(self, path: str) -> str:
        """Give a path as the file system spells it, for writing."""
        return os.path.relpath(self.files[path], self.workspace.root).replace(os.sep, "/")

    def _note(self, offset: int, message: str) -> None:
        self.result.notes.append((self.source, self.data.count(b"\n", 0, offset) + 1, message))

    # Parts

    def _make_parts(self, chosen: list[int]) -> None:
        bounds = [self.body, *chosen, len(self.data)]
        # In the folder as the file system spells it, whatever its Unicode form.
        stem = posixpath.splitext(posixpath.basename(self.source))[0]
        folder = posixpath.join(posixpath.dirname(self._key(self.source)), stem)
        there = self._folder_of_parts(folder)
        numbers = [int(n.group(1)) for n in map(_NUMBERED.match, there) if n] if self.listed else []
        first = 1 + max(numbers, default=0)
        width = max(2, len(str(first + len(bounds) - 2)))
        taken = {posixpath.basename(path).casefold() for path in self.files}
        for number, (start, end) in enumerate(zip(bounds, bounds[1:], strict=False), first):
            title = self._title(start, end)
            name = f"{number:0{width}}-{file_name(title)}".rstrip("-")
            suffix = ""
            count = 1
            while (name + suffix + ".md").casefold() in taken or os.path.lexists(
                os.path.join(self.workspace.root, folder, name + suffix + ".md")
            ):
                count += 1
                suffix = f"-{count}"
            path = f"{folder}/{name}{suffix}.md"
            taken.add(posixpath.basename(path).casefold())
            self.result.parts.append(Part(path, title, start, end))
            inside = [
                Block(b.kind, b.start - start, b.end - start, b.level, b.text)
                for b in self.blocks
                if start <= b.start < end
            ]
            self.part_anchors.append(Anchors(self.data[start:end], inside))

    def _folder_of_parts(self, folder: str) -> list[str]:
        """Give what lies in the folder of the parts already, if it can be one."""
        is_in_bank = self.bank and folder.startswith(self.bank + "/")
        base = self.workspace.bank if is_in_bank else self.workspace.root
        path = contained(base, folder[len(self.bank) + 1 :] if is_in_bank else folder)
        if os.path.isdir(path):
            return os.listdir(path)
        if os.path.lexists(path):
            raise MemtreeError("is in the way of the folder that the parts would lie in", path=path, remedy="rename it")
        return []

    def _title(self, start: int, end: int) -> str:
        for block in self.blocks:
            if start <= block.start < end and block.level and block.text:
                return plain_text(block.text)
        begin = next((b for b in self.blocks if start <= b.start < end and b.kind != "rule"), None)
        if begin is None:
            return ""
        text = self.data[begin.start : min(begin.end, begin.start + 400)].decode("utf-8", "ignore")
        return " ".join(plain_text(text.lstrip("-*+>#| ")).split())[:40].strip()

    def _fill_parts(self) -> None:
        for offset, destination in spaced_links(self.data):
            self._note(offset, f"({destination}) is no link, for the bare space in it: left as it is")
        needed = [self._definitions_needed(part) for part in self.result.parts]
        for part, spans in zip(self.result.parts, needed, strict=True):
            # The marks also keep a rule on the first line from being read as front matter.
            if spans or self.data.startswith(b"---", part.start):
                part.above = 2 + sum(self.data[start:end].rstrip(b"\r\n").count(b"\n") + 1 for start, end in spans)
        for index, (part, spans) in enumerate(zip(self.result.parts, needed, strict=True)):
            part.data = self._rewritten(part.start, part.end, index, True)
            if part.above:
                copies = (self._rewritten(*span, index, False).rstrip(b"\r\n") for span in spans)
                part.data = self.newline.join([hub.GENERATED, *copies, hub.GENERATED_END, b""]) + part.data

    def _rewritten(self, start: int, end: int, index: int, is_original: bool) -> bytes:
        """Give ``data[start:end]`` with its destinations as they must be in part `index`."""
        pieces = []
        at = start
        for reference in self.references:
            if not start <= reference.start < end:
                continue
            new = self.relinker.inner(reference, index, is_original)
            if new is None or new == reference.raw:
                continue
            if is_original:
                self.result.edits.append(Edit(self.source, self.data, reference, new))
            pieces += [self.data[at : reference.start], new]
            at = reference.end
        return b"".join([*pieces, self.data[at:end]])

    def _definitions_needed(self, part: Part) -> list[tuple[int, int]]:
        """Give the spans of link definitions and footnotes that a part uses and another one holds."""
        used = labels(self.shown, part.start, part.end)
        return [
            (start, end)
            for label, (start, end) in self.definitions.items()
            if label in used and not part.start <= start < part.end
        ]

    # The hub

    def _make_hub(self) -> None:
        stem = posixpath.splitext(posixpath.basename(self.source))[0]
        entries = []
        for part in self.result.parts:
            name = posixpath.basename(part.path)
            entries.append((part.title or name, f"{stem}/{name}"))
        if self.listed:
            self.result.hub = hub.with_more(self._head(), entries, self.newline)
            return
        first = next((block.text for block in self.blocks if block.level == 1 and block.text), "")
        title = plain_text(first) or parse(self.data).title or stem
        self.result.hub = hub.with_list(self._head(), title, entries, self.newline)

    def _head(self) -> bytes:
        """Give what stays in the hub (byte order mark, front matter, an old list of parts), its references renewed."""
        for label in labels(self.shown, 0, self.body) & self.definitions.keys():
            start, _ = self.definitions[label]
            if start >= self.body and self.listed:
                self._note(start, f"[{label}] is used above the list of parts, too: define it there")
        pieces = []
        at = 0
        for reference in find(self.data[: self.body], self.source):
            new = self.relinker.head(reference)
            if new is not None:
                self.result.edits.append(Edit(self.source, self.data, reference, new))
                pieces += [self.data[at : reference.start], new]
                at = reference.end
        return b"".join([*pieces, self.data[at : self.body]])

    # Other files

    def _follow_references(self) -> None:
        stem = posixpath.splitext(posixpath.basename(self.source))[0]
        needles = set(spellings(stem))
        self.result.notes += [(path, 1, message) for path, message in self.problems]
        for path, real in self.files.items():
            if path == self.source:
                continue
            data = self._other(path, real, needles)
            if data is None:
                continue
            edited = data
            for reference in reversed(find(data, path, partial(self._is_file, path))):
                new = self.relinker.outer(reference, path, data)
                if new is not None:
                    edited = edited[: reference.start] + new + edited[reference.end :]
                    self.result.edits.append(Edit(path, data, reference, new))
            if edited != data:
                self._change(path, data, edited)

    def _is_file(self, path: str, reference: Reference) -> bool:
        """Whether a whole text, blanks and all, names a file, and a place in it if it goes on."""
        found, _ = self.names.resolve(reference, path)
        if any(letter.isspace() for letter in reference.fragment):
            return found == [self.source] and self.anchors.link(reference.fragment) is not None
        return bool(found)

    def _other(self, path: str, real: str, needles: set[bytes]) -> bytes | None:
        """Give the content of another file if it may name the one that is split; what can't be read is noted."""
        try:
            size = os.path.getsize(real)
            if size > MAX_FILE_BYTES:
                why = f"is too large ({size:,} bytes)"
            else:
                with open(real, "rb") as file:
                    data = file.read()
                lowered = data.lower()
                names_it = any(needle in lowered for needle in needles)
                try:
                    data.decode()
                    return data if names_it else None
                except UnicodeDecodeError:
                    # In another encoding a name of ASCII letters looks the same, others do not.
                    if not names_it and b"\0" not in data and all(map(bytes.isascii, needles)):
                        return None
                    why = "is not UTF-8"
        except FileNotFoundError:
            return None
        except OSError as error:
            why = f"can't be read: {error.strerror}"
        self.result.notes.append((path, 1, f"{why}; references in it are not followed"))
        return None

    def _change(self, path: str, data: bytes, edited: bytes) -> None:
        key = self._key(path)
        self.result.digests.setdefault(key, digest(data))
        self.result.contents[key] = edited

    def _follow_tree(self) -> None:
        """Name the parts beside the hub wherever tree-index.json lists it."""
        real = os.path.join(self.workspace.meta, "tree-index.json")
        path = nfc(os.path.relpath(real, self.workspace.root).replace(os.sep, "/"))
        if path not in self.files:
            return
        data = self.result.contents.get(self._key(path))
        if data is None:
            with open(real, "rb") as file:
                data = file.read()
        name = self.source[len(self.bank) + 1 :] if self.bank else self.source
        parts = [f"{posixpath.splitext(name)[0]}/{posixpath.basename(p.path)}" for p in self.result.parts]

        def more(match: re.Match[bytes]) -> bytes:
            reference = Reference("string", match.group(), 1, len(match.group()) - 1)
            if nfc(reference.path) != name or reference.fragment:
                return match.group()
            return b", ".join([match.group(), *(b'"' + reference.renewed(p, "") + b'"' for p in parts)])

        # A text in a list is followed by a comma or the list's end; a name in a table by a colon.
        edited = re.sub(rb'"(?:[^"\\\n]|\\.)*"(?=\s*[,\]])', more, data)
        if edited != data:
            self._change(path, data, edited)
