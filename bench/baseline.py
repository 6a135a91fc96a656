"""The recall script that memtree replaces, as it was described: pure Python over flat dicts.

Text is split at ``\\w+`` and lower-cased; a token becomes the first index keyword, in index order, that it
starts with or contains, found by a loop over all of them (the terms of the index are the keywords). Then a
dict of term -> {path: tf} is scored by BM25 (Lucene form), the nodes of the tree by their keywords, and
``score = 0.4 * tree + 0.6 * bm25``.

It is here to be measured against, so it is not slowed down: everything is read and counted when it is opened, and
a query touches only the postings of its own terms. One-letter terms are no keywords, or "a" would swallow every
word that has an a in it (and the loop would end early, with a wrong answer). :class:`Baseline` has the loop as it
was described; :class:`Tightened` leaves out the "starts with", which "contains" covers: equal answers, sooner.

    python bench/baseline.py BANK "가치관이 뭐야?"
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections import Counter
from heapq import nlargest

WORD = re.compile(r"\w+")
HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r" {0,3}(```|~~~)")
K1, B = 1.2, 0.75
TREE_WEIGHT, BM25_WEIGHT = 0.4, 0.6
MIN_KEYWORD = 2
SKIPPED = {"_meta", "recall"}


def split(text: str) -> list[str]:
    """Lower-cased words of a text."""
    return WORD.findall(text.lower())


def markdown_files(folder: str) -> dict[str, str]:
    """Path -> text of each Markdown file, in path order."""
    texts = {}
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        for name in sorted(names):
            if name.endswith(".md"):
                full = os.path.join(root, name)
                with open(full, encoding="utf-8") as file:
                    texts[os.path.relpath(full, folder).replace(os.sep, "/")] = file.read()
    return texts


def sections(text: str) -> list[dict]:
    """Cut a file at its headings: heading path, line range (from 1) and text of each section."""
    found, path, fenced = [], [], False
    start, lines = 1, []

    def close(end: int) -> None:
        body = "\n".join(lines).strip()
        if body:
            headings = tuple(title for _, title in path)
            found.append({"heading_path": headings, "lines": (start, end), "text": body})

    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else HEADING.match(line)
        if heading:
            close(number - 1)
            level = len(heading[1])
            path[:] = [(depth, title) for depth, title in path if depth < level]
            path.append((level, heading[2]))
            start, lines = number, []
        lines.append(line)
    close(number)
    return found


def read_tree(folder: str, files: dict[str, list[dict]]) -> dict[str, dict[str, list[str]]]:
    """Nodes -> keywords, files: those of ``_meta/tree-index.json``, else one a file from its headings."""
    path = os.path.join(folder, "_meta", "tree-index.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)["nodes"]
        nodes = {}
        for name, node in stored.items():
            auto = node.get("auto", {})
            nodes[name] = {
                "keywords": node.get("keywords", []) + auto.get("keywords", []),
                "files": node.get("files", []) + auto.get("files", []),
            }
        return nodes
    nodes = {}
    for file, parts in files.items():
        headings = [heading for part in parts for heading in part["heading_path"]]
        nodes[file[:-3]] = {"keywords": split(file[:-3]) + headings, "files": [file]}
    return nodes


class Baseline:
    """A bank read into dicts.

    Parameters
    ----------
    folder : str
        A folder of Markdown files, or a workspace that holds it as ``bank/``.
    """

    def __init__(self, folder: str):
        inner = os.path.join(folder, "bank")
        folder = inner if os.path.isdir(inner) else folder
        texts = markdown_files(folder)
        self.sections = {path: sections(text) for path, text in texts.items()}
        words = {path: split(text) for path, text in texts.items()}

        terms = dict.fromkeys(word for tokens in words.values() for word in tokens)
        self.keywords = [term for term in terms if len(term) >= MIN_KEYWORD]
        normal = {term: self.normalise(term) for term in terms}

        self.index: dict[str, dict[str, int]] = {}
        self.lengths = {path: len(tokens) for path, tokens in words.items()}
        for path, tokens in words.items():
            for term, tf in Counter(normal[token] for token in tokens).items():
                self.index.setdefault(term, {})[path] = tf
        n_docs = max(len(texts), 1)
        self.avgdl = sum(self.lengths.values()) / n_docs or 1.0
        self.idf = {term: self._idf(n_docs, len(files)) for term, files in self.index.items()}
        self.unknown_idf = self._idf(n_docs, 0)
        for parts in self.sections.values():
            for part in parts:
                heading = " ".join(part["heading_path"])
                part["terms"] = {normal[word] for word in split(heading + " " + part["text"])}

        self.nodes = []
        for node in read_tree(folder, self.sections).values():
            keywords = {self.normalise(word) for keyword in node["keywords"] for word in split(keyword)}
            self.nodes.append((keywords, node["files"]))

    @staticmethod
    def _idf(n_docs: int, df: int) -> float:
        return math.log(1 + (n_docs - df + 0.5) / (df + 0.5))

    def normalise(self, token: str) -> str:
        """Turn a token into the first index keyword that it starts with or contains, else leave it."""
        for keyword in self.keywords:
            if token.startswith(keyword) or keyword in token:
                return keyword
        return token

    def split_and_normalise(self, text: str) -> list[str]:
        """Terms of a text, by the loop over the keywords for each token."""
        normalise = self.normalise
        return [normalise(token) for token in split(text)]

    def recall(self, query: str, k: int = 5, passages: int = 3) -> list[dict]:
        """Find the `k` best files for a question, each with its best sections.

        Returns
        -------
        list of dict
            path, score, tree, bm25, terms, passages (heading_path, lines, score, text); best first.
        """
        terms = self.split_and_normalise(query)
        idf = {term: self.idf.get(term, self.unknown_idf) for term in terms}
        most = sum(idf[term] for term in terms)
        if not most:
            return []
        bm25 = self._bm25(terms, idf, most)
        tree = self._tree(idf)
        score = {
            path: TREE_WEIGHT * tree.get(path, 0.0) + BM25_WEIGHT * bm25.get(path, 0.0)
            for path in bm25.keys() | tree.keys()
        }
        best = nlargest(k, sorted(score), key=score.__getitem__)
        return [
            {
                "path": path,
                "score": score[path],
                "tree": tree.get(path, 0.0),
                "bm25": bm25.get(path, 0.0),
                "terms": [term for term in idf if path in self.index.get(term, ())],
                "passages": self._snippets(path, idf, passages),
            }
            for path in best
        ]

    def _bm25(self, terms: list[str], idf: dict[str, float], most: float) -> dict[str, float]:
        """BM25 of each file that has a term, as a share of the attainable most."""
        found: dict[str, float] = {}
        lengths, avgdl = self.lengths, self.avgdl
        for term in terms:
            weight = idf[term] / most
            for path, tf in self.index.get(term, {}).items():
                norm = K1 * (1 - B + B * lengths[path] / avgdl)
                found[path] = found.get(path, 0.0) + weight * tf / (tf + norm)
        return found

    def _tree(self, idf: dict[str, float]) -> dict[str, float]:
        """Share of the query's terms that are keywords of a file's best node, weighted by idf."""
        found: dict[str, float] = {}
        most = sum(idf.values())
        for keywords, files in self.nodes:
            share = sum(weight for term, weight in idf.items() if term in keywords) / most
            if share:
                for path in files:
                    if share > found.get(path, 0.0) and path in self.sections:
                        found[path] = share
        return found

    def _snippets(self, path: str, idf: dict[str, float], n: int) -> list[dict]:
        """Return the `n` best sections of a file by the idf of the terms that they hold."""
        rated = []
        for part in self.sections[path]:
            share = sum(weight for term, weight in idf.items() if term in part["terms"])
            if share:
                rated.append((share, part))
        rated.sort(key=lambda entry: entry[0], reverse=True)
        return [
            {
                "heading_path": part["heading_path"],
                "lines": part["lines"],
                "score": share,
                "text": part["text"],
            }
            for share, part in rated[:n]
        ]


class Tightened(Baseline):
    """The script with the cheapest loop that gives the same terms."""

    def normalise(self, token: str) -> str:
        """Turn a token into the first index keyword that it contains, else leave it."""
        for keyword in self.keywords:
            if keyword in token:
                return keyword
        return token


if __name__ == "__main__":
    for hit in Baseline(sys.argv[1]).recall(" ".join(sys.argv[2:])):
        print(f"{hit['score']:.4f}\t{hit['path']}")
