"""Compile the tables of this folder into one C header, read-only data of the extension modules.

The suffix trie is a double array (Aoe, 1989) over letters stored from the last to the first: from state ``s``
the letter ``c`` leads to ``t = base[s] + c`` if ``check[t] == s``. ``setup.py`` runs this before Cython.
"""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_SYLLABLE, N_SYLLABLES = 0xAC00, 11172
FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
DERIVATIONS = ["하", "되", "시키", "받", "당하", "스럽", "롭"]
# One bit a letter of the condition: what the last syllable of the stem may be.
CONDITIONS = {"A": 1, "V": 2, "C": 4, "L": 8, "K": 16, "c": 32}
LIMITS = {"uint8_t": (0, 255), "uint16_t": (0, 65535), "int16_t": (-32768, 32767)}
N_COSTS = 3072
MAX_SYLLABLES = 64


def rows(name):
    """Yield the tab-separated fields of each line of a table that is no comment."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#") and line.strip():
                yield line.rstrip("\r\n").split("\t")


def letters(suffix):
    """The letters of a suffix: initials from 0, vowels from 19, finals from 40."""
    found = []
    for i, char in enumerate(suffix):
        code = ord(char) - FIRST_SYLLABLE
        if 0 <= code < N_SYLLABLES:
            found += [code // 588, 19 + code % 588 // 28]
            if code % 28:
                found.append(39 + code % 28)
        else:
            if i:
                raise ValueError(f"a bare letter inside the suffix {suffix!r}")
            found.append(39 + FINALS.index(char))
    return found


def suffix_trie():
    """Nodes of the suffix tables: ``{letter: node}`` dicts, with N, P, H of a table as their ``"value"``."""
    root = {}
    for kind, suffix, condition, cost in [*rows("korean_suffixes.tsv"), *rows("korean_contractions.tsv")]:
        derivation, plus, rest = suffix.partition("+")
        node = root
        for letter in reversed(letters(rest if plus else suffix)):
            node = node.setdefault(letter, {})
        value = node.setdefault("value", {})
        bits = sum(CONDITIONS[letter] for letter in condition) if condition != "-" else 0
        if kind == "H":
            value.setdefault("H", {})[DERIVATIONS.index(derivation)] = int(cost)
        else:
            value[kind] = (int(cost), bits)
    return root


def double_array(root):
    """Lay the trie out as base and check; return them with the value of each state."""
    base, check, values = [0], [-1], [{}]

    def grow(size):
        while len(base) < size:
            base.append(0)
            check.append(-1)
            values.append({})

    queue = [(root, 0)]
    first_free = 1
    while queue:
        node, state = queue.pop(0)
        values[state] = node.get("value", {})
        edges = sorted(letter for letter in node if letter != "value")
        if not edges:
            continue
        while first_free < len(check) and check[first_free] != -1:
            first_free += 1
        offset = max(1, first_free - edges[0])
        while any(offset + e < len(check) and check[offset + e] != -1 for e in edges):
            offset += 1
        base[state] = offset
        grow(offset + edges[-1] + 1)
        for edge in edges:
            check[offset + edge] = state
            queue.append((node[edge], offset + edge))
    grow(max(base) + 67)  # no letter leads past the end, so a walk needs no bounds check
    return base, check, values


def c_array(kind, name, values, size=""):
    """One static const array; a value that does not fit its type is an error here, not in C."""
    if kind in LIMITS and not all(LIMITS[kind][0] <= value <= LIMITS[kind][1] for value in values):
        raise ValueError(f"a value of {name} does not fit {kind}")
    text = ",".join(str(value) for value in values)
    lines, start = [], 0
    while start < len(text):
        end = text.rfind(",", start, start + 118) + 1 if start + 118 < len(text) else len(text)
        lines.append(text[start:end])
        start = end
    return f"static const {kind} {name}[{size}] = {{\n" + "\n".join(lines) + "\n};\n"


def trie_tables():
    base, check, values = double_array(suffix_trie())
    derived = [[0] * len(DERIVATIONS)]  # row 0: none
    index = []
    for value in values:
        index.append(len(derived) if "H" in value else 0)
        if "H" in value:
            derived.append([value["H"].get(i, 0) for i in range(len(DERIVATIONS))])
    none = (0, 0)
    flat = [cost for row in derived for cost in row]
    return [
        c_array("int16_t", "TRIE_BASE", base),
        c_array("int16_t", "TRIE_CHECK", check),
        c_array("uint16_t", "NOUN_COST", [v.get("N", none)[0] for v in values]),
        c_array("uint8_t", "NOUN_CONDITION", [v.get("N", none)[1] for v in values]),
        c_array("uint16_t", "VERB_COST", [v.get("P", none)[0] for v in values]),
        c_array("uint8_t", "VERB_CONDITION", [v.get("P", none)[1] for v in values]),
        c_array("uint16_t", "DERIVED_ROW", index),
        c_array("uint16_t", "DERIVED_COST", flat),
        f"enum {{ N_DERIVATIONS = {len(DERIVATIONS)} }};\n",
    ]


def padded(text):
    """Code points, with zeros up to eight."""
    return [ord(char) for char in text.ljust(8, "\0")]


def variant_tables():
    """Variants by first syllable, longest first: VARIANT_FIRST[syllable] is 1 + the first entry's number."""
    groups = defaultdict(list)
    for variant, standard in rows("korean_variants.tsv"):
        groups[variant[0]].append((variant, standard))
    first = [0] * N_SYLLABLES
    entries = []
    for char in sorted(groups):
        first[ord(char) - FIRST_SYLLABLE] = len(entries) + 1
        for variant, standard in sorted(groups[char], key=lambda pair: (-len(pair[0]), pair[0])):
            entries.append((variant, standard))
    if len(entries) > 254:
        raise ValueError("too many variants for one byte")
    lines = []
    for variant, standard in entries:
        if max(len(variant), len(standard)) > 8 or 2 * len(standard) > 3 * len(variant):
            raise ValueError(f"the variant {variant!r} is too long, or grows by more than half")
        row = [len(variant), len(standard), *padded(variant), *padded(standard)]
        lines.append("{" + ",".join(map(str, row)) + "}")
    lines.append("{0}")
    return [
        c_array("uint8_t", "VARIANT_FIRST", first),
        "typedef struct { uint32_t n_from, n_to, from[8], to[8]; } memtree_variant;\n",
        "static const memtree_variant VARIANTS[] = {\n" + ",\n".join(lines) + "\n};\n",
    ]


def stop_tables():
    """Korean stop words, sorted by code points; a first unit that tells length and section (1 = ask)."""
    words = {}
    asking = False
    with open(os.path.join(HERE, "korean_stopwords.txt"), encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if line.startswith("#"):
                asking = line == "# ask"
            elif line:
                words[line] = words.get(line, False) or asking
    flat = []
    for word in sorted(words):
        if len(word) > 8:
            raise ValueError(f"the stop word {word!r} is over 8 syllables")
        flat.append("{" + ",".join(map(str, [len(word), int(words[word]), *padded(word)])) + "}")
    return [
        "typedef struct { uint32_t length, ask, text[8]; } memtree_stop_word;\n",
        "static const memtree_stop_word KOREAN_STOP_WORDS[] = {\n" + ",\n".join(flat) + "\n};\n",
        f"enum {{ N_KOREAN_STOP_WORDS = {len(words)} }};\n",
    ]


def english_tables():
    """The two English lists as C strings of lines; Python reads them when the first English word comes."""

    def lines_of(entries):
        return "\n".join(f'"{" ".join(entry)}\\n"' for entry in entries)

    return [
        f"static const char ENGLISH_IRREGULAR[] =\n{lines_of(rows('english_irregular.tsv'))};\n",
        f"static const char ENGLISH_STOP_WORDS[] =\n{lines_of(rows('english_stopwords.txt'))};\n",
    ]


def weight_tables():
    """exp(-cost / 100) and 50 exp(-L(n)), the numbers of korean.md section 6."""
    share = [0.0, 0.02, 0.55, 0.25, 0.10]
    prior = [0.0]
    for n in range(1, MAX_SYLLABLES + 3):
        nats = -math.log(share[n]) if n <= 4 else -math.log(0.08) + 2.51 * (n - 4)
        prior.append(50 * math.exp(-(nats + 6.8 * min(n, 4))))
    return [
        c_array("double", "COST_WEIGHT", [repr(math.exp(-cost / 100)) for cost in range(N_COSTS)]),
        c_array("double", "LENGTH_PRIOR", [repr(value) for value in prior]),
        f"enum {{ N_COSTS = {N_COSTS} }};\n",
    ]


def character_tables():
    """A bit for each character of the basic plane that the scanner reads like its NFKC form wherever it stands.

    Most are their own NFKC form; some become signs that only separate (\u2026). Capitals count: the scanner folds them
    itself, for it must see them to split identifiers. Jamo, which may join each other, do not.
    """
    bits = [0] * (65536 // 32)
    for code in range(65536):
        if is_plain(chr(code)):
            bits[code // 32] |= 1 << code % 32
    return [c_array("uint32_t", "IS_PLAIN", [f"{word}u" for word in bits])]


def is_plain(char):
    if 0xD800 <= ord(char) < 0xE000 or unicodedata.category(char) == "Cn":  # a later Unicode may assign it
        return False
    form = unicodedata.normalize("NFKC", char)
    if unicodedata.combining(char) or composes_backwards(char) or any(0x1100 <= ord(x) < 0x119E for x in form):
        return False
    if any(0x11A8 <= ord(x) < 0x1200 for x in form):
        return False
    return form == char or form in ("..", "...") or all(separates(part) for part in form)


def separates(char):
    """Whether the character is a separator that no rule of the scanner looks at."""
    return script(ord(char), {}) == 0 and char not in " ._/\\-," and not unicodedata.combining(char)


def script_tables():
    """A class for each character of the basic plane, in pages of 256: see `scripts`."""
    pages, index, flat = {}, [], []
    known = {}
    for start in range(0, 65536, 256):
        page = tuple(script(code, known) for code in range(start, start + 256))
        if page not in pages:
            pages[page] = len(pages)
            flat += page
        index.append(pages[page])
    return [c_array("uint8_t", "SCRIPT_PAGE", index), c_array("uint8_t", "SCRIPT", flat)]


def script(code, known):
    """0 separator, 1 Latin, 2 ASCII digit, 3 Hangul syllable, 4 Han, 5 kana, 6 mark, from 8 other scripts."""
    char = chr(code)
    category = unicodedata.category(char)
    if category in ("Mn", "Mc"):
        return 0 if 0xFE00 <= code < 0xFE10 else 6
    if category[0] != "L" and category not in ("Nd", "Nl"):
        return 0
    if code < 128:
        return 1 if char.isalpha() else 2
    if FIRST_SYLLABLE <= code < FIRST_SYLLABLE + N_SYLLABLES:
        return 3
    name = unicodedata.name(char)
    if name.startswith("HANGUL"):
        return 0
    if name.startswith(("CJK", "IDEOGRAPHIC")):
        return 4
    if name.startswith(("HIRAGANA", "KATAKANA")):
        return 5
    if name.startswith("LATIN") or char in "\xaa\xba":
        return 1
    word = name.split()[0].split("-")[0]
    return known.setdefault(word, min(8 + len(known), 255))


_SECONDS: set[str] = set()


def composes_backwards(char):
    """Whether the character is the second of a canonical pair, so that it may join the one before."""
    if not _SECONDS:
        _SECONDS.add("")
        for code in range(sys.maxunicode + 1):
            parts = unicodedata.decomposition(chr(code)).split()
            if len(parts) == 2 and not parts[0].startswith("<"):
                _SECONDS.add(chr(int(parts[1], 16)))
    return char in _SECONDS


def write_header(path):
    """Write the header if its content is not yet what it must be."""
    parts = ["/* Made by src/memtree/data/generate.py: do not edit. */\n#include <stdint.h>\n"]
    korean = (trie_tables, weight_tables, variant_tables, stop_tables)
    for make in (*korean, english_tables, character_tables, script_tables):
        parts += make()
    text = "\n".join(parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
