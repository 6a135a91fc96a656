"""The compiled recall against the brute-force one, on random banks and queries."""

import os
from array import array
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.recall import Collection, recall

from memtree import Bank
from memtree._lexicon import Lexicon
from memtree.index import PASSAGE_WIDTH

WORDS = ["회의", "회의를", "회의록은", "예산이", "예산안을", "서버를", "배포했다", "배포", "되돌렸다", "deploy", "server",
         "servers", "3시", "10월", "가치관이", "학교에", "갔다", "먹었다", "walking", "walked", "v1.2.3", "size_watch.py",
         "认证系统", "할", "일", "the", "뭐야", "BM25로", "Überblick", "ОтчЁт"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=15).map(" ".join)
SECTION = st.tuples(st.sampled_from(WORDS), st.lists(TEXT, min_size=1, max_size=3))
NOTE = st.lists(SECTION, min_size=1, max_size=4).map(
    lambda sections: "\n".join(f"## {title}\n\n" + "\n\n".join(f"{text}. " * 3 for text in texts) + "\n"
                               for title, texts in sections))
QUERY = st.lists(st.sampled_from([*WORDS, "없는말", "unseen", "양자역학의"]), min_size=1, max_size=8).map(" ".join)


def rows_of(index):
    """Terms of each file and passage, put together from the stored segments the long way."""
    files, passages, file_of = [], [], []
    every = [index.file_parts(f) for f in range(index.n_files)]
    lexicon = Lexicon.from_parts(index.parts, "lexicon.")
    counts = Counter(surface for parts in every for surface in parts.surfaces)
    lexicon.analyse(array("I", [counts[surface] for surface in range(lexicon.n_surfaces)]))

    def terms(surfaces):
        _, columns = lexicon.expand(array("q", [0, len(surfaces)]), array("I", surfaces))
        return [index.lexicon.column(int(c >= lexicon.n_s), lexicon.term(c)) for c in columns]

    for f in range(index.n_files):
        parts = every[f]
        segments, at = [], 0
        for length in parts.lengths:
            segments.append(list(parts.surfaces[at:at + length]))
            at += length
        n_sections = len(parts.headings)
        files.append(terms([surface for segment in segments for surface in segment]))
        for p in range(len(parts.passages) // PASSAGE_WIDTH):
            row = list(segments[1 + n_sections + p])
            section = parts.passages[p * PASSAGE_WIDTH]
            section = section if section != 0xFFFFFFFF else -1
            while section >= 0:
                row += segments[1 + section]
                section = parts.levels[2 * section]
            if p == 0:
                row += segments[0]
            passages.append(terms(row))
            file_of.append(f)
    return files, passages, file_of


def nodes_of(bank, index):
    """Keywords and files of each node, from tree-index.json as it would be written."""
    from memtree import tree
    from memtree.build import tree_content
    from memtree.refresh import tree_path

    content = tree_content(index, tree.read(tree_path(bank.workspace)))
    out = []
    for node in content["nodes"].values():
        words = [*node["keywords"], *node.get("auto", {}).get("keywords", [])]
        sets = [frozenset(column for _, column in index.lexicon.best(word)) for word in words]
        members = {index.paths.index(path) for path in (*node["files"], *node.get("auto", {}).get("files", []))
                   if path in index.paths}
        out.append(([columns for columns in sets if columns and min(columns) >= 0], members))
    return out


def check(bank, queries):
    index = bank._current().index
    files, passages, file_of = rows_of(index)
    lexicon, own = index.lexicon, bank.settings
    n_columns = lexicon.n_s + lexicon.n_b
    file_side = Collection(files, lexicon.n_s, n_columns, own.file_k1, own.file_b)
    passage_side = Collection(passages, lexicon.n_s, n_columns, own.passage_k1, own.passage_b)
    nodes = nodes_of(bank, index)
    for asked in queries:
        query = lexicon.query(asked)
        terms = [(None if column < 0 else column, field, weight) for column, field, weight, _ in query.columns]
        words = [None if column < 0 else column for column in (lexicon.column(0, stem) for _, stem in query.words)]
        # All stems of a Korean word are readings of it; of others only the whole is, their parts are not.
        readings = [{column for column, field, _, word in query.columns
                     if word == i and not field and column >= 0 and (column == best or "가" <= text[0] <= "힣")}
                    for i, ((text, _), best) in enumerate(zip(query.words, words, strict=True))]
        wanted = recall(file_side, passage_side, file_of, terms, words, readings, nodes)
        found = bank.recall(asked, k=100, passages=100)
        assert [(hit.path, hit.score) for hit in found] == [
            (index.paths[doc], pytest.approx(score, abs=1e-12)) for score, doc, *_ in wanted]
        for hit, (_, _, tree, bm25, ranked) in zip(found, wanted, strict=True):
            assert hit.tree == pytest.approx(tree, abs=1e-12)
            assert hit.bm25 == pytest.approx(bm25, abs=1e-12)
            if ranked:
                assert [passage.passage_id for passage in hit.passages] == ranked


@settings(max_examples=40, deadline=None)
@given(notes=st.lists(NOTE, min_size=1, max_size=6), queries=st.lists(QUERY, min_size=1, max_size=6))
def test_recall_equals_the_oracle(notes, queries, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    for i, note in enumerate(notes):
        os.makedirs(folder / f"f{i % 2}", exist_ok=True)
        (folder / f"f{i % 2}" / f"note{i}.md").write_text(f"# 노트 {i}\n\n{note}", encoding="utf-8")
    check(Bank(folder), queries)


def test_recall_equals_the_oracle_on_the_example_bank(tmp_path):
    import shutil
    from pathlib import Path

    examples = Path(__file__).parent.parent / "examples"
    shutil.copytree(examples / "bank", tmp_path / "bank", ignore=shutil.ignore_patterns(".memtree", "recall"))
    rows = (examples / "queries.tsv").read_text(encoding="utf-8").splitlines()[1:]
    check(Bank(tmp_path / "bank"), [row.split("\t")[1] for row in rows])
