"""The forms of a Korean verb at the end of a sentence, as one: 들어간다, 들어갑니다, 들어가요, 들어감, 들어가기.

An ending cut off leaves more than one stem where the verb is irregular; two forms are of one verb if they share one.
"""

from __future__ import annotations

_FIRST, _LAST = 0xAC00, 0xD7A3
_CODAS = 28
_NONE, _N, _T, _L, _LM, _M, _P, _S, _SS = 0, 4, 7, 8, 10, 16, 17, 19, 20
# Vowels of a stem that ㅏ or ㅓ has been drawn into: 가리어 -> 가려, 쓰어 -> 써, 하여 -> 해.
_A, _AE, _EO, _YEO, _O, _WA, _WAE, _OE, _U, _WO, _EU, _I = 0, 1, 4, 6, 8, 9, 10, 11, 13, 14, 18, 20
_DRAWN = {_A: (_A, _EU), _AE: (_A, _AE), _EO: (_EO, _EU), _YEO: (_I, _YEO), _WA: (_O,), _WAE: (_OE,), _WO: (_U,)}

# Each with the consonant that the syllable before it must end in.
_ENDINGS = (("습니다", None), ("니다", _P), ("는다", None), ("다", _N), ("음", None), ("기", None), ("다", None))


def verb_forms(word: str) -> set[tuple[str, str]]:
    """Stems, each with its tense, that a word may have as the verb at the end of a sentence.

    A noun in 음 may stand for the past as well: 맡음 is 맡는다 or 맡았다.

    Examples
    --------
    >>> sorted(verb_forms("만든다"))
    [('만드', 'present'), ('만들', 'present')]
    >>> sorted(verb_forms("들어감") & verb_forms("들어갔다"))
    [('들어가', 'past')]
    >>> verb_forms("도서관")
    set()
    """
    stems, past = _stems(word)
    tenses = ("past",) if past else ("past", "present") if word and _coda(word) in (_M, _LM) else ("present",)
    return {(stem, tense) for stem in stems for tense in tenses}


def _stems(word):
    """Stems that a word may have, and whether it is of the past."""
    for ending, coda in _ENDINGS:
        stem = word.removesuffix(ending)
        if not stem or stem == word or not _FIRST <= ord(stem[-1]) <= _LAST:
            continue
        if coda is not None:
            if _coda(stem) != coda:
                continue
            return {_with(stem, _NONE), _with(stem, _L)}, False
        past = _past(stem)
        return past or (_irregular(stem) if ending == "음" else {stem}), bool(past)
    if word.endswith("요") and len(word) > 1:
        past = _past(word[:-1].removesuffix("어"))
        return past or (_past(_with(word[:-1], _SS)) if _coda(word[:-1]) == _NONE else set()), bool(past)
    if word and _coda(word) == _LM:
        return {_with(word, _L)}, False
    if word and _coda(word) == _M:
        stem = _with(word, _NONE)
        # 쉬움 is of 쉽다.
        return {stem, *([_with(stem[:-1], _P)] if stem[-1] == "우" and _coda(stem[:-1] or " ") == _NONE else [])}, False
    return set(), False


def _coda(text):
    code = ord(text[-1]) - _FIRST
    return code % _CODAS if 0 <= code <= _LAST - _FIRST else -1


def _with(text, coda):
    return text[:-1] + chr(ord(text[-1]) - _coda(text) + coda)


def _past(stem):
    """Stems of a past tense, 맡았 or 마셨; none if it is no past."""
    if not stem or _coda(stem) != _SS or stem[-1] in "있겠":
        return set()
    if stem[-1] in "았었였" and len(stem) > 1:
        return _irregular(stem[:-1])
    start, vowel = divmod(ord(stem[-1]) - _FIRST, 21 * _CODAS)
    vowels = _DRAWN.get(vowel // _CODAS, (vowel // _CODAS,))
    return {stem[:-1] + chr(_FIRST + (start * 21 + one) * _CODAS) for one in vowels}


def _irregular(stem):
    """A stem before a vowel, and what it may be before a consonant: 들 of 듣는다, 지 of 짓는다."""
    coda = _coda(stem)
    return {stem, _with(stem, _T)} if coda == _L else {stem, _with(stem, _S)} if coda == _NONE else {stem}
