"""References between the files of a workspace: found, resolved, written anew in their own style.

Markdown links and images, link definitions, ``href`` and ``src`` in HTML, wikilinks, and plain paths in
Markdown, JSON, TOML, YAML, Python and shell files. What stands in code or a comment is `quoted`: found, never
rewritten.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
from bisect import bisect_left
from urllib.parse import quote, unquote

from memtree.blocks import MAX_PARSED_BYTES, line_starts, markdown_it
from memtree.errors import PathError
from memtree.files import contained
from memtree.markdown import blocks, body_start
from memtree.workspace import SKIPPED_FOLDERS, is_markdown, nfc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memtree.workspace import Workspace

SUFFIXES = (".md", ".markdown", ".json", ".toml", ".yaml", ".yml", ".py", ".sh")


class Reference:
    """A place that names another file or a part of one.

    Attributes
    ----------
    kind : str
        "link", "image", "definition", "html", "wikilink", "path" or "string" (a quoted text in a file of data
        or code).
    start, end : int
        Bytes of the destination, without brackets, quotes, title or alias.
    raw : bytes
        Those bytes.
    path, fragment : str
        The destination, decoded; `fragment` without ``#``.
    lines : str
        Lines of the file that stand after a colon, ``12`` or ``12-18``; may be empty.
    quoted : bool
        In code or in a comment.
    is_angled : bool
        Between ``<`` and ``>``.
    """

    __slots__ = ("end", "fragment", "is_angled", "kind", "lines", "path", "quoted", "raw", "start")

    def __init__(self, kind: str, data: bytes, start: int, end: int, quoted: bool = False, is_angled: bool = False):
        self.kind = kind
        self.start = start
        self.end = end
        self.raw = data[start:end]
        self.quoted = quoted
        self.is_angled = is_angled
        text = self.raw.decode("utf-8", "replace")
        if kind == "string":
            text = _unescape_string(text)
        elif kind not in ("wikilink", "path"):
            text = html.unescape(text)
            if kind != "html":
                text = _ESCAPE.sub(r"\1", text)
        path, _, fragment = text.partition("#")
        if kind not in ("wikilink", "string"):
            path, fragment = unquote(path), unquote(fragment)
        place = None if fragment or kind == "wikilink" else _LINES.search(path)
        self.lines = place.group(2) if place else ""
        path = path[: place.end(1)] if place else path
        if kind not in ("wikilink", "string") and ".md" in path.lower():
            path = path.replace("\\", "/")
        self.path = nfc(path.strip())
        self.fragment = nfc(fragment.strip())

    def __repr__(self) -> str:
        return f"Reference({self.kind!r}, {self.start}, {self.raw!r})"

    @property
    def is_external(self) -> bool:
        """Whether it leads out of the workspace: a URL, or a mail address."""
        return _SCHEME.match(self.path) is not None

    def renewed(self, path: str, fragment: str, lines: str = "") -> bytes:
        """Give the destination for another target, written as this one is."""
        if self.kind == "string":
            text = _joined(path, fragment, lines)
            if "\\u" in self.raw.decode("utf-8", "replace"):
                return text.encode("ascii", "backslashreplace")
            return text.encode()
        if self.kind != "wikilink" and b"%" in self.raw:
            path, fragment = quote(path, safe="/._-~"), quote(fragment, safe="._-~")
        elif self.kind in ("link", "image", "definition", "html") and not self.is_angled:
            # Only what would end the destination; letters of any script stay readable.
            path, fragment = (_ENDS_DESTINATION.sub(lambda m: quote(m.group()), t) for t in (path, fragment))
            if not _is_balanced(path + fragment):
                path, fragment = (t.replace("(", "%28").replace(")", "%29") for t in (path, fragment))
        text = _joined(path, fragment, lines)
        if b"&" in self.raw and self.kind not in ("wikilink", "path"):
            text = text.replace("&", "&amp;")
        return text.encode()


def _joined(path: str, fragment: str, lines: str) -> str:
    return path + ("#" + fragment if fragment else "") + (":" + lines if lines else "")


def _is_balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0


_LINES = re.compile(r"(\.(?:md|markdown)):([0-9]{1,9}(?:-[0-9]{1,9})?)$", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:|//")
_ENDS_DESTINATION = re.compile(r"[\s<>\\]")

_MASK_START = re.compile(rb"\\[!-/:-@\[-`{-~]|`+|<!--")
_BACKTICKS = re.compile(rb"`+")
_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_URL = re.compile(rb"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s<>\"'`)\]]*")
_BRACKET = re.compile(rb"\\[!-/:-@\[-`{-~]|!?\[|\]|\n[ \t\r]*\n")
_WIKILINK = re.compile(rb"\[\[((?:[^\[\]|\n\\]|\\(?![|\]]))+)(?:\\?\|[^\[\]\n]*)?\]\]")
_PLAIN_DESTINATION = rb"(?!<)(?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\])*\))*\))*"
_DESTINATION = rb"(?:<((?:\\.|[^<>\n\\])*)>|(" + _PLAIN_DESTINATION + rb"))"
# White space is limited: three runs of it may touch, and a hostile one would be tried in every division.
_TITLE = rb"(?:[ \t\r\n]{1,20}(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)))?"
_INLINE = re.compile(rb"\]\([ \t\r\n]{0,20}" + _DESTINATION + _TITLE + rb"[ \t\r\n]{0,20}\)")
_CLOSED_LINK = re.compile(rb"\]\(([^()<>\n]*)\)")
_DEFINITION = re.compile(
    rb"^(?:[ ]{0,3}|[ \t]*(?:>[ \t]?)+)\[(?!\^)((?:\\.|[^\[\]\\])+)\]:[ \t]*(?:\r?\n[ \t]*)?"
    rb"(?:<((?:\\.|[^<>\n\\])*)>|([^\s<]\S*))" + _TITLE.replace(b"\\r\\n", b"") + rb"[ \t]*\r?$",
    re.MULTILINE,
)
_ATTRIBUTE = re.compile(rb"<[A-Za-z][^<>]*?\s(?:href|src)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)
_DELIMITERS = rb"\s\"'<>()\[\]{}|`*,;\\"
_PATH_END = re.compile(
    rb"\.(?:md|markdown)(?![./]?[A-Za-z0-9_])"
    rb"(?:#[^" + _DELIMITERS + rb"]+|:[0-9]{1,9}(?:-[0-9]{1,9})?(?![\w\x80-\xff]))?",
    re.IGNORECASE,
)
_TO_SPACE = bytes.maketrans(b"\t\n\r\v\f\"'<>()[]{}|`*,;\\:=#", b" " * 24)
MAX_PATH_BYTES = 1024
_STRING = re.compile(rb"\"((?:\\.|[^\"\\\n])*)\"|'([^'\n]*)'")
_STRING_PATH = re.compile(r".*\.(?:md|markdown)(?:#.*)?\Z", re.IGNORECASE)
_ESCAPED = re.compile(rb"\\(?=u(?!00[0-7])[0-9a-fA-F]{4})")


def find(data: bytes, name: str, is_file: Callable[[Reference], bool] | None = None) -> list[Reference]:
    """Find the references of a file.

    Parameters
    ----------
    data : bytes
    name : str
        Its name; the ending says how it is read.
    is_file : callable, optional
        Tells of a quoted text in data or code, such as ``see notes/a.md``, whether a file is called so; else what looks
        like a path in it is taken. Default: one without blanks is.

    Returns
    -------
    list of Reference
        In order of their place.
    """
    found = _find_in_markdown(data) if is_markdown(name) else _find_in_data(data, is_file or _is_one_word)
    return sorted(found, key=lambda reference: reference.start)


def _find_in_data(data: bytes, is_file: Callable[[Reference], bool]) -> list[Reference]:
    found = []
    taken = bytearray(data)
    for match in _STRING.finditer(data):
        start, end = match.span(1 if match.group(1) is not None else 2)
        if _STRING_PATH.match(_unescape_string(data[start:end].decode("utf-8", "replace"))):
            reference = Reference("string", data, start, end)
            if not reference.is_external and is_file(reference):
                found.append(reference)
                _blank(taken, *match.span())
    # A letter that is written as an escape is part of a path as any other.
    return found + _find_paths(data, bytearray(_ESCAPED.sub(b"_", taken)))


def _is_one_word(reference: Reference) -> bool:
    return not any(letter.isspace() for letter in reference.path)


def _find_in_markdown(data: bytes) -> list[Reference]:
    shown, quoted = masked(data)
    found = []
    definition_end = -1
    for match in _DEFINITION.finditer(shown):
        before = shown[shown.rfind(b"\n", 0, max(match.start() - 1, 0)) + 1 : max(match.start() - 1, 0)]
        # A definition can't interrupt a paragraph: above it is nothing, a heading or another definition.
        if before.strip(b" \t\r>") and before[:1] != b"#" and match.start() - 1 != definition_end:
            continue
        definition_end = match.end()
        group = 2 if match.group(2) is not None else 3
        found.append(Reference("definition", data, *match.span(group), is_angled=group == 2))
        _blank(shown, *match.span())
    open_brackets: list[tuple[bool, int]] = []
    position = 0
    while bracket := _BRACKET.search(shown, position):
        mark = bracket.group()
        position = bracket.end()
        if mark[:1] == b"\\":
            continue
        if mark[:1] == b"\n":
            open_brackets.clear()
            position -= 1
        elif mark != b"]":
            wikilink = _WIKILINK.match(shown, position - 1)
            if wikilink:
                found.append(Reference("wikilink", data, *wikilink.span(1)))
                position = wikilink.end()
                _blank(shown, *wikilink.span())
            else:
                open_brackets.append((mark[:1] == b"!", bracket.start()))
        elif open_brackets:
            is_image, _ = open_brackets.pop()
            link = _INLINE.match(shown, bracket.start())
            if link is None:
                continue
            group = 1 if link.group(1) is not None else 2
            kind = "image" if is_image else "link"
            found.append(Reference(kind, data, *link.span(group), is_angled=group == 1))
            position = link.end()
            _blank(shown, *link.span())
            if not is_image:
                # A link holds no link: what is still open around it can only be an image.
                open_brackets = [item for item in open_brackets if item[0]]
    for match in _ATTRIBUTE.finditer(shown):
        start, end = match.span(1 if match.group(1) is not None else 2)
        found.append(Reference("html", data, start, end))
        _blank(shown, start, end)
    found += _find_paths(data, shown)
    for start, end in quoted:
        found += _find_quoted(data, start, end)
    return found


def _find_quoted(data: bytes, start: int, end: int) -> list[Reference]:
    text = bytearray(data[start:end])
    spans = [("wikilink", *match.span(1)) for match in _WIKILINK.finditer(text)]
    for match in _INLINE.finditer(text):
        spans.append(("link", *match.span(1 if match.group(1) is not None else 2)))
    for _, left, right in spans:
        _blank(text, left, right)
    spans += [("path", left, right) for left, right in _path_spans(text)]
    return [Reference(kind, data, start + left, start + right, quoted=True) for kind, left, right in spans]


def _find_paths(data: bytes, text: bytearray) -> list[Reference]:
    """Find plain paths in what is left of a file."""
    return [
        Reference("string" if _ESCAPED.search(data, start, end) else "path", data, start, end)
        for start, end in _path_spans(text)
    ]


def _path_spans(text: bytearray) -> list[tuple[int, int]]:
    for match in _URL.finditer(text):
        _blank(text, *match.span())
    spans = []
    for match in _PATH_END.finditer(text):
        before = text[max(match.start() - MAX_PATH_BYTES, 0) : match.start()].translate(_TO_SPACE)
        size = len(before) - 1 - before.rfind(b" ")
        if size:
            end = match.end() - (len(match.group()) - len(match.group().rstrip(b".!?")))
            spans.append((match.start() - size, end))
    return spans


def spaced_links(data: bytes) -> list[tuple[int, str]]:
    """Find what looks like a link but is none, for a bare space in it: offset and destination."""
    shown, _ = masked(data)
    return [
        (match.start(1), match.group(1).decode("utf-8", "replace"))
        for match in _CLOSED_LINK.finditer(shown)
        if b" " in match.group(1) and not _INLINE.match(shown, match.start())
    ]


def masked(data: bytes) -> tuple[bytearray, list[tuple[int, int]]]:
    """Give the text with code and comments blanked out, and their spans."""
    shown = bytearray(data)
    quoted = _code_blocks(data)
    for start, end in quoted:
        _blank(shown, start, end)
    # Where backticks stand, by their number: a code span ends at the next run as long as its first.
    runs: dict[int, list[int]] = {}
    for run in _BACKTICKS.finditer(shown):
        runs.setdefault(len(run.group()), []).append(run.start())
    position = 0
    paragraph_end = -1
    while match := _MASK_START.search(shown, position):
        position = match.end()
        mark = match.group()
        if mark[:1] == b"\\":
            continue
        if mark == b"<!--":
            close = shown.find(b"-->", match.start())
            end = close + 3 if close >= 0 else len(shown)
        else:
            if position > paragraph_end:
                limit = _BLANK_LINE.search(shown, position)
                paragraph_end = limit.start() if limit else len(shown)
            starts = runs[len(mark)]
            at = bisect_left(starts, position)
            if at == len(starts) or starts[at] >= paragraph_end:
                continue
            end = starts[at] + len(mark)
        quoted.append((match.start(), end))
        _blank(shown, match.start(), end)
        position = end
    return shown, sorted(quoted)


def _code_blocks(data: bytes) -> list[tuple[int, int]]:
    """Give the spans of fences and indented code, nested ones too where the file is not huge."""
    start = body_start(data)
    if len(data) > MAX_PARSED_BYTES:
        return [(block.start, block.end) for block in blocks(data) if block.kind in ("fence", "code")]
    text = data[start:].replace(b"\r\n", b" \n").replace(b"\r", b" ")
    starts = [*line_starts(text, 0, len(text)), len(text)]
    found = []
    for token in markdown_it().parse(text.decode("utf-8", "replace")):
        if token.type in ("fence", "code_block") and token.map:
            first, last = token.map
            found.append((start + starts[first], start + starts[min(last, len(starts) - 1)]))
    return found


def _blank(text: bytearray, start: int, end: int) -> None:
    """Overwrite with spaces, line breaks kept."""
    text[start:end] = bytes(0x0A if byte == 0x0A else 0x20 for byte in text[start:end])


def _unescape_string(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|(.))", lambda m: chr(int(m.group(1), 16)) if m.group(1) else m.group(2), text
    )


def files_of(workspace: Workspace, problems: list[tuple[str, str]] | None = None) -> dict[str, str]:
    """Give the files that may hold references: real path by path relative to the workspace, in NFC.

    `problems`, if given, gains path and message of each folder that can't be read.
    """
    found = {}

    def unread(error: OSError) -> None:
        if problems is not None:
            path = os.path.relpath(error.filename, workspace.root).replace(os.sep, "/")
            problems.append((nfc(path), f"can't be read: {error.strerror}; references in it are not followed"))

    for folder, folders, names in os.walk(workspace.root, onerror=unread):
        if "pyvenv.cfg" in names:  # packages of others
            folders.clear()
            continue
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and (name == "_meta" or name not in SKIPPED_FOLDERS)
            and os.path.join(folder, name) not in (workspace.recall, os.path.join(workspace.bank, "recall"))
        ]
        for name in names:
            real = os.path.join(folder, name)
            if name.lower().endswith(SUFFIXES) and not name.startswith(".") and os.path.isfile(real):
                relative = os.path.relpath(real, workspace.root).replace(os.sep, "/")
                try:
                    contained(workspace.root, relative)
                except PathError:
                    continue
                found[nfc(relative)] = real
    return found


class Names:
    """The files of a workspace by what people call them.

    Parameters
    ----------
    paths : iterable of str
        Relative to the workspace, in NFC.
    bank : str
        The bank's folder relative to the workspace; empty if it is the workspace.
    """

    def __init__(self, paths: Iterable[str], bank: str):
        self.paths = set(paths)
        self.bank = bank
        self.by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self.by_name.setdefault(posixpath.basename(path).casefold(), []).append(path)

    def resolve(self, reference: Reference, source: str) -> tuple[list[str], bool]:
        """Find the file that a reference means.

        Parameters
        ----------
        reference : Reference
        source : str
            The file it stands in.

        Returns
        -------
        paths : list of str
            Empty if there is no such file, several if it can't be decided.
        is_relative : bool
            It was read as relative to the folder of `source`.
        """
        path = reference.path
        if not path:
            return [source], True
        folder = posixpath.dirname(source)
        is_link = reference.kind in ("link", "image", "definition", "html")
        top = [("", False), (self.bank, False)]
        if path.startswith("/"):
            bases = top
        elif is_link or path.startswith("."):
            bases = [(folder, True), (self.bank, False), ("", False)]
        else:
            # Plain paths and wikilinks are written from the top as a rule, or as a bare name.
            bases = [*top, (folder, True)]
        if not is_link and "/" not in path:
            named = self._by_suffix(path)
            beside = [name for name in named if posixpath.dirname(name) == folder]
            return (beside, True) if len(named) > 1 and len(beside) == 1 else (named, False)
        tried = []
        for base, is_relative in bases:
            for ending in ("", ".md", ".markdown"):
                full = posixpath.normpath(posixpath.join(base, path.lstrip("/") + ending))
                if full in self.paths:
                    return [full], is_relative
                tried.append((full.casefold(), is_relative))
        # Many file systems know no letter case.
        for folded, is_relative in tried:
            named = self.by_name.get(posixpath.basename(folded), [])
            alike = [full for full in named if full.casefold() == folded]
            if alike:
                return alike, is_relative
        if is_link or path.startswith("."):
            return [], not path.startswith("/")
        return self._by_suffix(path.lstrip("/")), False

    def _by_suffix(self, path: str) -> list[str]:
        """Find files whose path ends with the one given, in any letter case; the ending ``.md`` may lack."""
        folded = path.casefold()
        names = (folded, folded + ".md", folded + ".markdown")
        for wanted in names:
            matches = [
                full
                for full in self.by_name.get(posixpath.basename(wanted), ())
                if ("/" + full.casefold()).endswith("/" + wanted)
            ]
            if matches:
                return matches
        return []
