"""The context tree: ``_meta/tree-index.json``, from nodes over keywords to files.

People write ``keywords`` and ``files`` of a node; they are kept for ever, with unknown keys and the order of
everything. ``auto`` beside them is generated from the bank and refreshed. The same file carries the IDF cache.
"""

from __future__ import annotations

import os

from memtree.errors import MemtreeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

VERSION = 1
MIN_HEADINGS = 3
"""A file of this many headings or more gets a node of its own."""
N_TELLING = 8
"""Most telling terms that a node takes as keywords."""
MAX_KEYWORD_CHARS = 80
"""A longer heading says what a section holds, but nobody asks for it word by word."""


class Node:
    """One node of the tree.

    Attributes
    ----------
    name : str
        Path-like, such as ``identity/values``.
    keywords, files : list of str
        Written by people.
    auto_keywords, auto_files : list of str
        Generated.
    """

    __slots__ = ("auto_files", "auto_keywords", "files", "keywords", "name")

    def __init__(self, name: str, keywords: Iterable[str] = (), files: Iterable[str] = ()) -> None:
        self.name = name
        self.keywords = list(keywords)
        self.files = list(files)
        self.auto_keywords: list[str] = []
        self.auto_files: list[str] = []


def _strings(value, path, where):
    """`value` as a list of str, or an error that names where it stands."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise MemtreeError(f"{where} must be a list of texts", path, remedy="write it as [\"...\", \"...\"]")
    return value


def read(path: str) -> dict:
    """Read tree-index.json as it stands.

    Returns
    -------
    dict
        Empty if the file does not exist.

    Raises
    ------
    MemtreeError
        The file is no JSON object, or a node is malformed.
    """
    import json

    try:
        with open(path, encoding="utf-8-sig") as file:
            raw = json.load(file)
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        raise MemtreeError(f"not valid JSON: {error.msg}", path, error.lineno, "mend the line by hand") from None
    except (OSError, ValueError, RecursionError) as error:  # a number of over 4,300 digits is a plain ValueError
        raise MemtreeError(f"can't be read: {error}", path) from None
    if not isinstance(raw, dict) or not isinstance(raw.get("nodes", {}), dict):
        raise MemtreeError("must be an object with an object of nodes", path, remedy="see the README, tree-index.json")
    for name, node in raw.get("nodes", {}).items():
        if not isinstance(node, dict):
            raise MemtreeError(f"node {name!r} must be an object", path)
        for key in ("keywords", "files"):
            _strings(node.get(key), path, f"{key} of node {name!r}")
    return raw


def written_nodes(raw: dict) -> dict[str, Node]:
    """The nodes with what people wrote in them."""
    from unicodedata import normalize

    nodes = {}
    for name, node in raw.get("nodes", {}).items():
        files = [normalize("NFC", file) for file in node.get("files") or []]
        nodes[name] = Node(name, node.get("keywords") or [], files)
    return nodes


def _unique(words: Iterable[str]) -> list[str]:
    """The words without repeats or blanks, in order."""
    return list(dict.fromkeys(word for word in (" ".join(w.split()) for w in words)
                              if word and len(word) <= MAX_KEYWORD_CHARS))


def stem_of(path: str) -> str:
    """A path without its Markdown ending."""
    return os.path.splitext(path)[0]


def auto_nodes(outlines: list[tuple[str, list[str], list[str]]]) -> list[tuple[str, list[str], int, int]]:
    """The generated nodes of a bank, without their telling terms.

    Parameters
    ----------
    outlines : list of (path, names, headings)
        Of each file, in path order: names are title, tags, keywords and aliases.

    Returns
    -------
    list of (name, keywords, first, last)
        The node's files are those from index `first` up to, not with, `last`.
    """
    folders: dict[str, list[int]] = {}
    for i, (path, _, _) in enumerate(outlines):
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            span = folders.setdefault("/".join(parts[:depth]), [i, i])
            span[1] = i + 1
    nodes = [(folder, _unique([folder.rsplit("/", 1)[-1]]), first, last) for folder, (first, last) in folders.items()]
    for i, (path, names, headings) in enumerate(outlines):
        if len(headings) >= MIN_HEADINGS:
            name = stem_of(path)
            nodes.append((name, _unique([name.rsplit("/", 1)[-1], *names, *headings]), i, i + 1))
    return nodes


def merge(raw: dict, nodes: dict[str, Node], idf: dict | None = None) -> dict:
    """tree-index.json with `auto` and `idf` renewed and all that people wrote as it was.

    Parameters
    ----------
    raw : dict
        As read.
    nodes : dict of str to Node
        All nodes, generated parts filled in.
    idf : dict, optional
        ``{"n_docs", "avgdl", "terms"}``; None leaves the one there.
    """
    out: dict[str, Any] = dict(raw) if raw else {"version": VERSION}
    old_nodes = out.get("nodes", {})
    new_nodes = {}
    for name, node in old_nodes.items():
        kept = {key: value for key, value in node.items() if key != "auto"}
        has_auto = name in nodes and (nodes[name].auto_keywords or nodes[name].auto_files)
        written = kept.get("keywords") or kept.get("files") or set(kept) - {"keywords", "files"}
        if not has_auto and not written:
            continue
        if has_auto:
            kept["auto"] = {"keywords": nodes[name].auto_keywords, "files": nodes[name].auto_files}
        new_nodes[name] = kept
    for name, node in nodes.items():
        if name not in new_nodes and (node.auto_keywords or node.auto_files):
            new_nodes[name] = {"keywords": [], "files": [],
                               "auto": {"keywords": node.auto_keywords, "files": node.auto_files}}
    out["nodes"] = new_nodes
    if idf is not None:
        out["idf"] = idf
    return out


def write(path: str, content: dict) -> None:
    """Write tree-index.json, a node a line so that a change is one line in git."""
    import json

    from memtree.files import write_atomic

    def compact(value):
        text = json.dumps(value, ensure_ascii=False)
        # A lone surrogate has no UTF-8; as an escape it stays what somebody wrote.
        return json.dumps(value) if any("\ud800" <= letter <= "\udfff" for letter in text) else text

    lines = []
    for key, value in content.items():
        if key == "nodes" and value:
            rows = ",\n".join(f"    {compact(name)}: {compact(node)}" for name, node in value.items())
            lines.append(f'  "nodes": {{\n{rows}\n  }}')
        elif key == "idf" and isinstance(value, dict):
            lines.append('  "idf": {' + ", ".join(f"{compact(k)}: {compact(v)}" for k, v in value.items()) + "}")
        else:
            lines.append(f"  {compact(key)}: {compact(value)}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomic(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8"))
