"""Text analysis of distinct sentences, first pass, one core, against python-mecab-ko and kiwipiepy.

At least a megabyte of Korean sentences that are all different: those of the example bank (or of ``--texts``,
a folder of Markdown or text files, or a JSON file with ``docs`` and ``queries``), then new ones, made by
giving the words of one sentence the stems of another, the particles and endings kept, and now and then a
stem that no text has, so that about as many of the words are distinct as in real text (45,352 of
116,596 in 1.2 MB). Each side turns each sentence into lists of strings; nothing is cached
when the clock starts, which counts the time of the process, so that others on the machine disturb it less.
English has no peer here: its text is what Python's own ``help()`` knows.

    python bench/test_analysis.py [--megabytes 1] [--texts PATH]
    python -m pytest bench/test_analysis.py -p benchmark      # a fifth of a megabyte
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from memtree import analysis

sys.path.insert(0, str(Path(__file__).parent))
import corpora
from timing import machine, shown

MEGABYTE = 1_000_000
HANGUL_WORD = re.compile(r"[가-힣]+")
SENTENCE = re.compile(r"[^.?!\n]+[.?!]?")
KEPT_SHARE = 0.35  # of the words of a made-up sentence
INVENTED_SHARE = 0.4  # of its new stems: names and words that no text so far has

# The commonest particles and endings, longest first: all that is needed to tell a stem from the rest.
TAILS = """
에서는 으로는 에게는 까지는 부터는 했습니다 합니다 입니다 습니다 하는데 하면서 했지만 하려고
에서 으로 에게 까지 부터 처럼 보다 마다 하고 하는 하면 했다 한다 해서 이다 에는 에도
은 는 이 가 을 를 의 에 도 로 와 과 만 다 고 지 게 면 서 요
"""


def read_texts(path: Path | None) -> list[str]:
    """Texts to take sentences from: the example bank's, or those of a folder or a JSON file."""
    if path is None:
        return corpora.bank_texts()
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix in (".md", ".txt"))
        return [file.read_text(encoding="utf-8") for file in files]
    data = json.loads(path.read_text(encoding="utf-8"))
    return [doc["text"] for doc in data["docs"]] + [query["q"] for query in data["queries"]]


def cut(word: str) -> tuple[str, str]:
    """A word's stem and what stands behind it."""
    for tail in TAILS.split():
        if word.endswith(tail) and len(word) - len(tail) >= 2:
            return word[: -len(tail)], tail
    return word, ""


def closed(stem: str) -> bool:
    return (ord(stem[-1]) - 0xAC00) % 28 != 0


class Sentences:
    """Distinct Korean sentences, those of the texts first."""

    def __init__(self, texts: list[str], seed: int = 7):
        self.random = random.Random(seed)
        lines = (line.strip(" #*->|`\t") for text in texts for line in SENTENCE.findall(text))
        self.real = list(dict.fromkeys(line for line in lines if len(HANGUL_WORD.findall(line)) >= 2))
        stems = defaultdict(set)
        for line in self.real:
            for word in HANGUL_WORD.findall(line):
                stem, tail = cut(word)
                if len(stem) >= 2:
                    stems[bool(tail), closed(stem)].add(stem)
        self.stems = {kind: sorted(group) for kind, group in stems.items()}
        self.syllables = [ch for line in self.real for ch in line if "가" <= ch <= "힣"]

    def _word(self, match: re.Match) -> str:
        stem, tail = cut(match[0])
        group = self.stems.get((bool(tail), closed(stem)), ())
        if len(stem) < 2 or not group or self.random.random() < KEPT_SHARE:
            return match[0]
        if self.random.random() < INVENTED_SHARE:
            return "".join(self.random.choices(self.syllables, k=self.random.randint(2, 3))) + tail
        return self.random.choice(group) + tail

    def take(self, n_bytes: int) -> list[str]:
        """Sentences of that size in all."""
        found = dict.fromkeys(self.real)
        size = 0
        for number, sentence in enumerate(self.real):
            size += len(sentence.encode())
            if size >= n_bytes:
                return self.real[: number + 1]
        while size < n_bytes:
            sentence = HANGUL_WORD.sub(self._word, self.random.choice(self.real))
            if sentence not in found:
                found[sentence] = None
                size += len(sentence.encode())
        return list(found)


def english(n_bytes: int) -> list[str]:
    """Distinct English lines: the topics of Python's own help."""
    from pydoc_data.topics import topics

    lines = dict.fromkeys(line.strip() for text in topics.values() for line in text.splitlines())
    found, size = [], 0
    for line in lines:
        if len(line) >= 20 and size < n_bytes:
            found.append(line)
            size += len(line.encode())
    return found


def memtree() -> Callable:
    """Both fields of each sentence, as a list of strings each."""

    def run(sentences: list[str]) -> list:
        tokens = analysis.tokens
        return [tokens(sentence) for sentence in sentences]

    return run


def mecab() -> Callable:
    from mecab import MeCab

    tagger = MeCab()
    tagger.morphs("모델을 먼저 읽는다.")
    return lambda sentences: [tagger.morphs(sentence) for sentence in sentences]


def kiwi() -> Callable:
    from kiwipiepy import Kiwi

    model = Kiwi(num_workers=1)
    model.tokenize("모델을 먼저 읽는다.")
    return lambda sentences: [[token.form for token in found] for found in model.tokenize(sentences)]


SIDES = {"memtree": memtree, "python-mecab-ko": mecab, "kiwipiepy": kiwi}
PACKAGES = {"python-mecab-ko": "mecab", "kiwipiepy": "kiwipiepy"}


def once(run: Callable, sentences: list[str]) -> float:
    """Seconds of processor time of one pass."""
    gc.collect()
    gc.disable()
    try:
        begun = process_time()
        found = run(sentences)
        taken = process_time() - begun
    finally:
        gc.enable()
    assert len(found) == len(sentences)
    return taken


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.benchmark(group="analysis")
def test_korean(benchmark, side):
    if side in PACKAGES:
        pytest.importorskip(PACKAGES[side])
    sentences = Sentences(read_texts(None)).take(MEGABYTE // 5)
    run = SIDES[side]()
    benchmark.extra_info["megabytes"] = 0.2
    benchmark.pedantic(run, (sentences,), rounds=1)


@pytest.mark.benchmark(group="analysis-english")
def test_english(benchmark):
    benchmark.extra_info["megabytes"] = 0.2
    benchmark.pedantic(memtree(), (english(MEGABYTE // 5),), rounds=1)


def main() -> None:
    """Print megabytes a second of each side and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1.0)
    parser.add_argument(
        "--texts", type=Path, help="folder of .md or .txt files, or JSON with docs and queries"
    )
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    source = Sentences(read_texts(options.texts))
    sentences = source.take(int(options.megabytes * MEGABYTE))
    words = [word for sentence in sentences for word in HANGUL_WORD.findall(sentence)]
    size = sum(len(sentence.encode()) for sentence in sentences) / MEGABYTE
    print(
        f"{size:.2f} MB, {len(sentences)} distinct Korean sentences ({len(source.real)} of them as written),"
        f" {len(words)} Hangul words, {len(set(words))} distinct; {machine()}"
    )
    taken = {}
    for name, side in SIDES.items():
        try:
            run = side()
        except ImportError:
            print(f"{name}: not installed")
            continue
        taken[name] = once(run, sentences)
        ratio = taken[name] / taken["memtree"]
        print(f"{name:<16} {shown(taken[name]):>10}  {size / taken[name]:7.3f} MB/s  memtree is {ratio:.1f}x")
    lines = english(MEGABYTE)
    size = sum(len(line.encode()) for line in lines) / MEGABYTE
    seconds = once(memtree(), lines)
    print(f"English: {size:.2f} MB in {shown(seconds)}, {size / seconds:.1f} MB/s")


if __name__ == "__main__":
    main()
