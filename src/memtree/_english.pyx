"""Latin words and identifiers: irregular forms, Snowball stems, stop words, and the parts of names and paths.

Works on strings, once for each distinct word. Imported with the first Latin word that no table knows, and so
is the stemmer.
"""

from libc.stdint cimport uint32_t

from Stemmer import Stemmer

from memtree._text cimport is_border

cdef extern from "_tables.h" nogil:
    const char ENGLISH_IRREGULAR[]
    const char ENGLISH_STOP_WORDS[]

cdef enum:
    MAX_WORD = 255      # the scanner cuts longer words

cdef object stemmer = Stemmer("english", 0)
cdef object english_stem = stemmer.stemWord
cdef object english_stems = stemmer.stemWords
cdef list irregular_words = (<const char*> ENGLISH_IRREGULAR).decode().split()
cdef dict irregular = dict(zip(irregular_words[::2], irregular_words[1::2]))
cdef frozenset stop_words = frozenset((<const char*> ENGLISH_STOP_WORDS).decode().split())


cdef inline bint is_digit(uint32_t c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef bint is_small(str text):
    """Nothing but small ASCII letters."""
    cdef Py_UCS4 c
    for c in text:
        if not 'a' <= c <= 'z':
            return False
    return True


cdef bint has_digit(str text):
    cdef Py_UCS4 c
    for c in text:
        if '0' <= c <= '9':
            return True
    return False


cdef str stem_english(str word):
    """The stem of a lower-case word, an irregular form by its base; a word with digits is left as it is."""
    if has_digit(word):
        return word
    return english_stem(irregular.get(word, word))


cdef str lower_text(str text):
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


cdef list leaves(str text):
    """Versions (v2.1.0) and what stands between . and - in a component of a path."""
    cdef list found = []
    cdef Py_ssize_t i = 0, j, k, n = len(text)
    while i < n:
        j = i + (text[i] == 'v' or text[i] == 'V')
        k = end_of_version(text, j, n)
        if k == j:
            k = i
            while k < n and text[k] != '.' and text[k] != '-':
                k += 1
        if k > i:
            found.append(text[i:k])
        i = max(k, i + 1)
    return found


cdef Py_ssize_t end_of_version(str text, Py_ssize_t i, Py_ssize_t n):
    """The end of digits, dot, digits and so on at `i`; `i` if there are not two numbers."""
    cdef Py_ssize_t start = i, end = i
    cdef int numbers = 0
    while i < n and '0' <= text[i] <= '9':
        while i < n and '0' <= text[i] <= '9':
            i += 1
        numbers += 1
        end = i
        if i >= n or text[i] != '.':
            break
        i += 1
    return end if numbers > 1 else start


cdef list split_word(str word, bint at_digits):
    """A word cut at its capitals (parseHTMLResponse), or between letters and digits."""
    cdef uint32_t letters[MAX_WORD]
    cdef Py_ssize_t i, start = 0, n = min(len(word), <Py_ssize_t> MAX_WORD)
    cdef list parts = []
    for i in range(n):
        letters[i] = word[i]
    for i in range(1, n):
        if is_digit(letters[i]) != is_digit(letters[i - 1]) if at_digits else is_border(letters, i, n):
            parts.append(word[start:i])
            start = i
    parts.append(word[start:])
    return parts


cdef int add_word(str word, list both, list only_s) except -1:
    """A run of Latin letters and digits: itself, its camelCase words, and letters and digits apart."""
    cdef str piece, part
    cdef list pieces, smaller
    both.append(stem_english(lower_text(word)))
    pieces = split_word(word, False)
    for piece in pieces:
        piece = lower_text(piece)
        if len(pieces) > 1 and piece not in stop_words:
            both.append(stem_english(piece))
        if has_digit(piece):
            smaller = split_word(piece, True)
            if len(smaller) > 1:
                for part in smaller:
                    if part not in stop_words:
                        only_s.append(stem_english(part))
    return 0


cdef int add_leaf(str leaf, bint alone, list both, list only_s) except -1:
    """A version, or words joined by underscores; stop words are no parts."""
    cdef str word
    cdef list words
    if "." in leaf:
        word = leaf.lstrip("vV")
        both.append(word)
        only_s.extend(word.split("."))
        return 0
    words = [word for word in leaf.split("_") if word]
    if len(words) > 1:
        both.append(lower_text(leaf.strip("_")))
        alone = False
    for word in words:
        if alone or lower_text(word) not in stop_words:
            add_word(word, both, only_s)
    return 0


cdef int add_identifier(str text, list both, list only_s) except -1:
    """Terms of an identifier: itself; of a path its components, their leaves and the words of those."""
    cdef str component, whole
    cdef list components = text.replace("\\", "/").split("/")
    cdef list found = [leaves(component) for component in components]
    cdef list wholes = [text] if len(components) > 1 else []
    cdef Py_ssize_t i
    for i in range(len(components)):
        if len(<list> found[i]) > 1:
            wholes.append(components[i])
    for whole in wholes:
        whole = lower_text(whole.strip("_"))
        if whole[0] == 'v' and end_of_version(whole, 1, len(whole)) > 1:
            whole = whole[1:]
        both.append(whole)
    for i in range(len(components)):
        for component in <list> found[i]:
            add_leaf(component, not wholes, both, only_s)
    return 0


def stems_of(list words not None):
    """Many words of small ASCII letters at once.

    Parameters
    ----------
    words : list of str

    Returns
    -------
    stems : list of str
    is_stop : bytes
        1 for a stop word, else 0.
    """
    cdef str word
    is_stop = bytes([word in stop_words for word in words])
    return english_stems([irregular.get(word, word) for word in words]), is_stop


def latin_terms(str text not None, bint is_identifier):
    """Terms of a Latin word or identifier.

    Parameters
    ----------
    text : str
        In lower case, but for names whose capitals part them.
    is_identifier : bool
        It may have joiners, and is no stop word.

    Returns
    -------
    both : list of str
        Terms of both fields; the whole first.
    others : list of str
        All terms of field s but the whole.
    is_stop : bool
    """
    cdef list both = [], only_s = []
    cdef list others
    cdef str term
    cdef bint is_stop = False
    if is_small(text):      # most words
        return [english_stem(irregular.get(text, text))], [], not is_identifier and text in stop_words
    if is_identifier:
        add_identifier(text, both, only_s)
    else:
        is_stop = lower_text(text) in stop_words
        add_word(text, both, only_s)
    if len(both) == 1 and not only_s:
        return both, only_s, is_stop
    both = list(dict.fromkeys(both))
    others = both[1:] + [term for term in dict.fromkeys(only_s) if term not in both]
    return both, others, is_stop
