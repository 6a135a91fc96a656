"""Where every reference of a workspace leads, found out by other means than memtree's.

Markdown is rendered to tokens by markdown-it-py with all its inline rules, so that destinations arrive
decoded; wikilinks and plain paths are read from the rendered text; headings get anchors by a second reading
of GitHub's rule.
"""

import json
import os
import re
import unicodedata
from urllib.parse import unquote

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
WIKI = re.compile(r"\[\[([^\[\]|#]*)(?:#([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
PLAIN = re.compile(r"[^\s\"'`()<>\[\],|:]*\.md(?![A-Za-z0-9_/])(?:#[^\s\"'`()<>\[\],|]+)?")


def nfc(text):
    return unicodedata.normalize("NFC", text)


def body(text):
    """Without byte order mark, front matter and the generated lines of a split."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if text.startswith("---\n") and "\n---\n" in text[3:]:
        text = text[text.index("\n---\n", 3) + 5 :]
    return re.sub(r"(?ms)^<!-- memtree:generated -->\n(.*?)^<!-- /memtree:generated -->\n", definitions, text)


def definitions(generated):
    """The link definitions among generated lines: without them the links of a part lead nowhere."""
    kept = re.findall(r"^\[(?!\^)[^\]]+\]: .*\n", generated[1], flags=re.M)
    return "".join(kept) + "\n"


def rendered(text):
    """Headings as (level, text), and destinations in order as (kind, target, fragment)."""
    headings, found = [], []
    tokens = PARSER.parse(text)
    for index, token in enumerate(tokens):
        if token.type == "html_block":
            found += [
                ("html", *cut(m)) for m in re.findall(r'(?:href|src)="([^"]*)"', uncommented(token.content))
            ]
        if token.type != "inline":
            continue
        shown = ""
        plain = ""
        in_link = 0
        for child in token.children:
            if child.type == "link_open":
                found.append(("link", *cut(child.attrs["href"])))
                in_link += child.attrs["href"] != ""
            elif child.type == "link_close":
                in_link = 0
            elif child.type == "image":
                found.append(("link", *cut(child.attrs["src"])))
                shown += child.content
            elif child.type == "html_inline":
                found += [
                    ("html", *cut(m))
                    for m in re.findall(r'(?:href|src)="([^"]*)"', uncommented(child.content))
                ]
                plain += " "
            elif child.type in ("softbreak", "hardbreak"):
                shown += " "
                plain += "\n"
            else:
                shown += child.content
                plain += child.content if child.type == "text" and not in_link else " "
        for match in WIKI.finditer(plain):
            found.append(("wiki", nfc(match[1].strip()), nfc((match[2] or "").rstrip("\\").strip())))
        for match in PLAIN.findall(re.sub(r"\w+://\S*", " ", WIKI.sub(" ", plain))):
            target, _, fragment = match.rstrip(".!?").partition("#")
            found.append(("plain", nfc(unquote(target)), nfc(unquote(fragment))))
        if tokens[index - 1].type == "heading_open" and tokens[index - 1].level == 0:
            headings.append((int(tokens[index - 1].tag[1]), shown))
    return headings, found


def uncommented(text):
    return re.sub(r"<!--.*?(?:-->|$)", "", text, flags=re.S)


def cut(href):
    target, _, fragment = href.partition("#")
    return nfc(unquote(target)), nfc(unquote(fragment))


def anchor_of(text):
    dropped = "".join(
        c for c in nfc(text).strip().lower() if c in "-_ " or unicodedata.category(c)[0] in "LNM"
    )
    return re.sub(" ", "-", dropped)


def anchors(headings):
    """Anchor to number of the heading."""
    found, counts = {}, {}
    for number, (_, text) in enumerate(headings):
        base = name = anchor_of(text)
        while name in found:
            counts[base] = counts.get(base, 0) + 1
            name = f"{base}-{counts[base]}"
        found[name] = number
    return found


class Resolver:
    """The files of a workspace as they lie on disk."""

    def __init__(self, root, bank="bank"):
        self.root = str(root)
        self.bank = bank
        self.texts = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if not f.startswith(".") and f not in ("recall", "node_modules")]
            for name in names:
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", newline="") as file:
                    self.texts[nfc(os.path.relpath(path, self.root))] = file.read()
        self.documents = {p: rendered(body(t)) for p, t in self.texts.items() if p.endswith(".md")}
        self.anchors = {p: anchors(headings) for p, (headings, _) in self.documents.items()}

    def references(self, path):
        """(kind, target, fragment) of a file in order."""
        if path.endswith(".md"):
            return self.documents[path][1]
        text = self.texts[path]
        if path.endswith(".json"):
            strings = []
            json.loads(text, object_hook=lambda o: strings.extend(flat(list(o.values()))) or {})
            return [("plain", *cut(s)) for s in strings if ".md" in s]
        return [("plain", *cut(m)) for m in PLAIN.findall(re.sub(r"\w+://\S*", " ", text))]

    def target(self, source, reference):
        """(file or None, number of the heading or None) of a reference."""
        kind, target, fragment = reference
        if re.match(r"[A-Za-z]+:", target):
            return target, fragment
        path = source if not target else self.file(os.path.dirname(source), kind, target)
        if path is None or not fragment:
            return path, None
        number = self.anchors.get(path, {}).get(fragment)
        if number is None:
            wanted = anchor_of(fragment.split("#")[-1])
            number = next(
                (i for i, (_, t) in enumerate(self.documents[path][0]) if anchor_of(t) == wanted), fragment
            )
        return path, number

    def file(self, folder, kind, target):
        if kind in ("link", "html") or "/" in target:
            for base in (folder, self.bank, ""):
                for ending in ("", ".md"):
                    path = os.path.normpath(os.path.join(base, target + ending))
                    if path in self.texts:
                        return path
        if kind in ("wiki", "plain"):
            name = target.removesuffix(".md").casefold() + ".md"
            matches = [p for p in self.texts if ("/" + p.casefold()).endswith("/" + name)]
            if len(matches) == 1:
                return matches[0]
        return None


def flat(value):
    """The texts in nested lists."""
    return (
        [value]
        if isinstance(value, str)
        else [t for v in value for t in flat(v)]
        if isinstance(value, list)
        else []
    )
