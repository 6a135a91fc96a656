"""Compute the index of a bank from the parts of its files."""

from __future__ import annotations

from array import array
from itertools import accumulate
from math import log

from memtree import tree
from memtree._bm25 import Postings
from memtree._lexicon import Lexicon
from memtree._rows import count_values, indptr_of, join_rows, telling_columns
from memtree.index import META, NO_SECTION, PASSAGE_WIDTH, Index, settings_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.config import Settings
    from memtree.index import FileParts, Skipped, TreeStamp

N_CANDIDATES = 3 * tree.N_TELLING


def _tellable(term):
    """Whether a term says something to a person: no predicate stem, number or single letter."""
    return not term.endswith("~") and len(term) > 1 and not term.isdigit()


def _fill_auto(nodes, spans, files, lexicon, indptr, columns, df):
    """Give the generated nodes their files and their most telling terms."""
    best = telling_columns(indptr, columns, df, lexicon.n_s, [(first, last) for _, _, first, last in spans],
                           N_CANDIDATES)
    for (name, keywords, first, last), telling in zip(spans, best, strict=True):
        node = nodes.setdefault(name, tree.Node(name))
        terms = [term for term in map(lexicon.term, telling) if _tellable(term)][:tree.N_TELLING]
        node.auto_keywords = list(dict.fromkeys([*keywords, *terms]))
        node.auto_files = [file.path for file in files[first:last]]


def _rows(lists):
    """Lists of ints as row pointers and data, both uint32."""
    indptr = array("I", accumulate((len(row) for row in lists), initial=0))
    data = array("I")
    for row in lists:
        data.extend(row)
    return indptr, data


def _compile_tree(nodes: dict[str, tree.Node], lexicon: Lexicon, paths: list[str]) -> dict[str, array[int] | bytes]:
    """The tree as flat arrays: keyword -> words, keyword -> nodes, node -> files, column -> keywords."""
    place = {path: i for i, path in enumerate(paths)}
    keywords: dict[tuple[int, ...], list[int]] = {}
    known: dict[str, tuple[int, ...]] = {}
    node_files = []
    for i, node in enumerate(nodes.values()):
        node_files.append(sorted({place[path] for path in (*node.files, *node.auto_files) if path in place}))
        for keyword in (*node.keywords, *node.auto_keywords):
            words = known.get(keyword)
            if words is None:
                words = known[keyword] = tuple(dict.fromkeys(column for _, column in lexicon.best(keyword)))
            if words and min(words) >= 0:
                bearers = keywords.setdefault(words, [])
                if not bearers or bearers[-1] != i:
                    bearers.append(i)
    by_column: dict[int, list[int]] = {}
    for i, words in enumerate(keywords):
        for column in words:
            by_column.setdefault(column, []).append(i)
    columns = sorted(by_column)
    parts: dict[str, array[int] | bytes] = {
        "tree.columns": array("I", columns),
        "tree.names": "\0".join(name.replace("\0", " ") for name in nodes).encode("utf-8", "replace"),
        "tree.auto": "\0".join("\n".join(node.auto_keywords) for node in nodes.values()).encode("utf-8", "replace"),
    }
    for name, rows in (("words", list(keywords)), ("nodes", list(keywords.values())), ("files", node_files),
                       ("keywords", [by_column[column] for column in columns])):
        parts[f"tree.{name}.indptr"], parts[f"tree.{name}"] = _rows(rows)
    return parts


def _passage_rows(files: list[FileParts]) -> tuple[array[int], array[int]]:
    """Segments of each passage: its own, the headings above it and, for the first of a file, the names."""
    starts = array("q", [0])
    members = array("I")
    base = 0
    for file in files:
        n_sections = len(file.headings)
        n_passages = len(file.passages) // PASSAGE_WIDTH
        above: list[tuple[int, ...]] = []
        for section in range(n_sections):
            parent = file.levels[2 * section]
            own = (base + 1 + section,)
            above.append(above[parent] + own if 0 <= parent < section else own)
        for passage in range(n_passages):
            section = file.passages[passage * PASSAGE_WIDTH]
            members.append(base + 1 + n_sections + passage)
            if section != NO_SECTION:
                members.extend(above[section])
            if passage == 0:
                members.append(base)
            starts.append(len(members))
        base += 1 + n_sections + n_passages
    return starts, members


def assemble(files: list[FileParts], lexicon: Lexicon, settings: Settings, raw_tree: dict, generation: int,
             stamp: TreeStamp, skipped: list[Skipped]) -> Index:
    """Compute the index of the given files.

    Parameters
    ----------
    files : list of FileParts
        In path order.
    lexicon : Lexicon
        Holds their surfaces.
    raw_tree : dict
        tree-index.json as read.
    generation : int
    stamp : TreeStamp
        Of tree-index.json.
    skipped : list of Skipped

    Returns
    -------
    Index
    """
    nodes = tree.written_nodes(raw_tree)
    spans = tree.auto_nodes([(file.path, file.names, file.headings) for file in files])
    keywords = [keyword for node in nodes.values() for keyword in node.keywords]
    keywords.extend(keyword for _, words, _, _ in spans for keyword in words)
    if settings.mode == "prefix":
        # The seed's rule looks for the first of all keywords of the index: those of the tree, then the cached terms.
        keywords.extend(_cached_terms(raw_tree))
    counts = count_values([file.surfaces for file in files], lexicon.n_surfaces)
    lexicon.analyse(counts, keywords)

    lengths, surfaces, segment_start = array("I"), array("I"), array("q", [0])
    for file in files:
        lengths.extend(file.lengths)
        surfaces.extend(file.surfaces)
        segment_start.append(len(surfaces))
    indptr, columns = lexicon.expand(segment_start, surfaces)
    file_postings = Postings.build(indptr, columns, lexicon.field_starts)
    _fill_auto(nodes, spans, files, lexicon, indptr, columns, file_postings.df)
    starts, members = _passage_rows(files)
    indptr, columns = lexicon.expand(*join_rows(indptr_of(lengths), surfaces, starts, members))
    passage_postings = Postings.build(indptr, columns, lexicon.field_starts)
    del indptr, columns

    paths = [file.path for file in files]
    n_sections = sum(len(file.headings) for file in files)
    n_passages = sum(len(file.passages) for file in files) // PASSAGE_WIDTH
    parts = {
        "meta": META.pack(generation, len(files), n_passages, n_sections, counts.count(0), settings_digest(settings),
                          stamp.size, stamp.mtime_ns, stamp.read_ns, stamp.digest),
        "paths": "\0".join(paths).encode("utf-8", "surrogateescape"),
        "names": "\0".join("\n".join(file.names).replace("\0", " ") for file in files).encode("utf-8", "replace"),
        "headings": "\0".join(heading.replace("\0", " ") for file in files
                              for heading in file.headings).encode("utf-8", "replace"),
        "problems": "\n".join(f"{file.path}\t{line or 0}\t{' '.join(message.split())}" for file in files
                              for line, message in file.problems).encode("utf-8", "replace"),
        "skipped": "\n".join(one.to_line() for one in skipped).encode("utf-8", "replace"),
        "stats": array("q", [n for file in files for n in (file.size, file.mtime_ns, file.verified_ns)]),
        "digests": b"".join(file.digest for file in files),
        "days": array("i", [file.day for file in files]),
        "section_start": array("I", accumulate((len(file.headings) for file in files), initial=0)),
        "passage_start": array("I", accumulate((len(file.passages) // PASSAGE_WIDTH for file in files), initial=0)),
        "levels": _chain("i", (file.levels for file in files)),
        "passages": _chain("I", (file.passages for file in files)),
        "lengths": lengths, "surfaces": surfaces, "segment_start": segment_start,
        "idf": array("d", _cached_idf(raw_tree, lexicon, file_postings) if settings.mode == "prefix" else ()),
        **_compile_tree(nodes, lexicon, paths),
        **lexicon.to_parts("lexicon."),
        **file_postings.to_parts("files."),
        **passage_postings.to_parts("passages."),
    }
    return Index(parts)


def _chain(code, arrays):
    """One array of all."""
    out = array(code)
    for one in arrays:
        out.extend(one)
    return out


def _lucene_idf(n_docs, df):
    """idf in double, after Lucene's formula."""
    return log(1 + (n_docs - df + 0.5) / (df + 0.5))


def _cached_terms(raw_tree):
    """The IDF cache of tree-index.json as it stands: term -> idf."""
    return (raw_tree.get("idf") or {}).get("terms") or {}


def _cached_idf(raw_tree, lexicon, postings):
    """The IDF cache by column, as it stands; terms without an entry get their own idf."""
    cached = _cached_terms(raw_tree)
    if not cached:
        return
    n, df = postings.n_docs, postings.df
    for column in range(postings.n_terms):
        idf = cached.get(lexicon.term(column))
        yield float(idf) if isinstance(idf, (int, float)) else _lucene_idf(n, df[column])


def idf_cache(index: Index) -> dict:
    """The IDF cache of tree-index.json: files, field s.

    Returns
    -------
    dict
        ``{"n_docs", "avgdl", "terms": {term: idf}}``, idf after Lucene's formula, rounded to six decimals.
    """
    postings, lexicon = index.file_postings, index.lexicon
    n, df = postings.n_docs, postings.df
    terms = {lexicon.term(column): round(_lucene_idf(n, df[column]), 6)
             for column in range(lexicon.n_s) if df[column]}
    return {"n_docs": n, "avgdl": round(postings.avgdl(0), 6), "terms": dict(sorted(terms.items()))}


def tree_content(index: Index, raw_tree: dict) -> dict:
    """tree-index.json for an index: `auto` and `idf` renewed, the rest as people wrote it.

    Parameters
    ----------
    index : Index
    raw_tree : dict
        tree-index.json as read.
    """
    nodes = tree.written_nodes(raw_tree)
    keywords = dict(zip(index.node_names(), index.auto_keywords(), strict=True))
    for name, _, first, last in tree.auto_nodes(index.outlines()):
        node = nodes.setdefault(name, tree.Node(name))
        node.auto_keywords = keywords.get(name, [])
        node.auto_files = index.paths[first:last]
    return tree.merge(raw_tree, nodes, idf_cache(index))
