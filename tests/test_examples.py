"""The example bank and its questions keep what they promise; nothing here ranks anything."""

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
BANK = EXAMPLES / "bank"
DATA = ROOT / "src" / "memtree" / "data"
DOMAINS = {"identity", "daily", "knowledge", "patterns", "entities", "experience", "opinions", "world"}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def rows(name: str) -> list[dict[str, str]]:
    header, *lines = (EXAMPLES / name).read_text("utf-8").splitlines()
    columns = header.split("\t")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]


def stop_words() -> set[str]:
    found: set[str] = set()
    for language in ("korean", "english"):
        for line in (DATA / f"{language}_stopwords.txt").read_text("utf-8").splitlines():
            if not line.startswith("#"):
                found |= words(line)
    return found


def headings(text: str) -> set[str]:
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return set(re.findall(r"^#{1,6} (.+)$", prose, flags=re.M))


@pytest.fixture(scope="module")
def notes() -> dict[str, str]:
    return {
        path.relative_to(BANK).as_posix(): path.read_text("utf-8")
        for domain in DOMAINS
        for path in (BANK / domain).rglob("*.md")
    }


def test_there_are_43_files_in_eight_domains(notes):
    assert len(notes) == 43
    assert {path.partition("/")[0] for path in notes} == DOMAINS
    everything = {path.relative_to(BANK).as_posix() for path in BANK.rglob("*.md")}
    assert {path for path in everything if not path.startswith(("_meta/", "recall/", "."))} == set(notes)


def test_hand_written_nodes_name_files_of_the_bank(notes):
    tree = json.loads((BANK / "_meta" / "tree-index.json").read_text("utf-8"))
    assert tree["version"] == 1
    assert "신념" in tree["nodes"]["identity/values"]["keywords"]
    for node in tree["nodes"].values():
        assert all(isinstance(word, str) and word for word in node.get("keywords", []))
        assert set(node.get("files", [])) <= set(notes)


@pytest.mark.parametrize(("name", "half"), [("queries.tsv", 50), ("unanswerable.tsv", 10)])
def test_questions_are_distinct_and_half_dev_half_test(name, half):
    found = rows(name)
    assert Counter(row["split"] for row in found) == {"dev": half, "test": half}
    assert len({row["query"] for row in found}) == 2 * half


def test_each_question_expects_a_heading_that_is_there(notes):
    found = rows("queries.tsv")
    assert ("가치관이 뭐야?", "identity/values.md") in {(row["query"], row["path"]) for row in found}
    for row in found:
        assert not row["heading"] or row["heading"] in headings(notes[row["path"]]), row


def test_half_of_the_questions_share_no_word_with_their_file(notes):
    stop = stop_words()
    apart = [row for row in rows("queries.tsv")
             if not (words(row["query"]) - stop) & words(notes[row["path"]] + " " + row["path"])]
    assert len(apart) >= 50


def test_the_bank_holds_no_word_of_the_unanswerable_questions(notes):
    held = words(" ".join([*notes, *notes.values()])) - stop_words()
    for row in rows("unanswerable.tsv"):
        assert not words(row["query"]) & held, row
