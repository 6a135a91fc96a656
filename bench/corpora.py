"""Inputs of the benchmarks: the example bank, its questions, and larger text grown from it by a seed."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
BANK = EXAMPLES / "bank"

HANGUL_WORD = re.compile(r"[가-힣]{2,}")
LATIN_WORD = re.compile(r"[a-z]{4,}")
NEW_WORD_SHARE = 0.15
"""Share of words replaced by ones that the example bank does not have: so the vocabulary keeps growing with
the text, as that of real notes does, instead of ending at the bank's."""
VOCABULARY = 200_000

ONSETS = "b c d f g h l m n p r s t v w st tr pl gr ch sh th br".split()
VOWELS = "a e i o u ea ou ai".split()
CODAS = ["", *"n r s t l m d ck nd st".split()]
ENDINGS = ["", "", "", "", *"s ed ing ly er ion ness able ation ment".split()]


def questions() -> list[str]:
    """Questions that the example bank answers."""
    with open(EXAMPLES / "queries.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["query"] for row in rows]


def bank_texts() -> list[str]:
    """Text of each note of the example bank, in path order."""
    paths = sorted(p for p in BANK.rglob("*.md") if not {"_meta", "recall"} & set(p.parts))
    return [path.read_text(encoding="utf-8") for path in paths]


class Grower:
    """Endless notes made of the example bank's lines, with new words among the old ones.

    Parameters
    ----------
    seed : int
        The same seed gives the same notes.
    """

    def __init__(self, seed: int = 7):
        self.random = random.Random(seed)
        texts = bank_texts()
        lines = (line for text in texts for line in text.splitlines())
        self.lines = [line for line in lines if line.strip() and "```" not in line]
        text = "\n".join(self.lines)
        self.syllables = re.findall(r"[가-힣]", text)
        self.pairs = re.findall(r"[a-z]{2}", text)

    def _rank(self) -> int:
        """A word's number, by Zipf's law."""
        return int(VOCABULARY ** self.random.random())

    def _hangul(self, match: re.Match) -> str:
        if self.random.random() > NEW_WORD_SHARE:
            return match[0]
        word = random.Random(self._rank())
        return "".join(word.choices(self.syllables, k=2 + word.randrange(2))) + match[0][2:]

    def _latin(self, match: re.Match) -> str:
        if self.random.random() > NEW_WORD_SHARE:
            return match[0]
        word = random.Random(-self._rank())
        return "".join(word.choices(self.pairs, k=2 + word.randrange(3)))

    def note(self, n_bytes: int) -> str:
        """A note of about that size."""
        lines, size = ["# " + self.random.choice(self.lines).lstrip("#-*|> ")], 0
        while size < n_bytes:
            line = HANGUL_WORD.sub(self._hangul, self.random.choice(self.lines))
            line = LATIN_WORD.sub(self._latin, line)
            lines += [line] if line.startswith(("-", "|")) else ["", line]
            size += len(line.encode())
        return "\n".join(lines) + "\n"


def english_texts(n: int, seed: int = 1) -> list[str]:
    """Texts of some 55 words in sentences: English stop words and words made of syllables and English endings, by
    Zipf-Mandelbrot's law over 200,000 of them."""
    rng, choice = np.random.default_rng(seed), random.Random(seed).choice
    stops = (ROOT / "src/memtree/data/english_stopwords.txt").read_text(encoding="utf-8").splitlines()
    words = dict.fromkeys(word for word in stops if word.isalpha())
    while len(words) < VOCABULARY:
        syllables = [choice(ONSETS) + choice(VOWELS) + choice(CODAS) for _ in range(choice((1, 1, 2, 2, 2, 3)))]
        words["".join(syllables) + choice(ENDINGS)] = None
    names = np.array(list(words))
    weights = (np.arange(VOCABULARY) + 2.7) ** -1.07
    bounds = np.cumsum(weights / weights.sum())
    lengths = np.maximum(rng.lognormal(np.log(55) - 0.18, 0.6, n), 1).astype(int)
    marks = np.array(["", ",", "."])
    texts = []
    for length in lengths:
        drawn = names[np.minimum(np.searchsorted(bounds, rng.random(length)), VOCABULARY - 1)]
        after = marks[np.searchsorted((0.88, 0.93), rng.random(length))]
        sentences = " ".join(map("".join, zip(drawn, after, strict=True))).split(". ")
        texts.append(". ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences))
    return texts


def mixed_texts(n: int, seed: int = 3) -> list[str]:
    """Korean and English texts of some 55 words, see `Grower`."""
    grower = Grower(seed)
    return [grower.note(350) for _ in range(n)]


def write_bank(folder: Path, n_bytes: int, file_bytes: int = 10_000, seed: int = 7) -> int:
    """Write notes of `n_bytes` in all into a folder; returns their true size."""
    grower = Grower(seed)
    size = number = 0
    while size < n_bytes:
        path = folder / f"{number // 100:03d}" / f"{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = grower.note(file_bytes).encode()
        path.write_bytes(data)
        size += len(data)
        number += 1
    return size
