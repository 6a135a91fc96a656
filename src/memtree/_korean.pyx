"""Stems of one Hangul run: a suffix trie, closed sets of letters, and what an index has seen.

A run is an array of Hangul syllables (code points, 16 bits), at most `MAX_SYLLABLES` of them. One walk over
the trie of reversed letters from the run's end meets every suffix of the table; each gives candidates (class,
key, cost), and a candidate's posterior is proportional to ``exp(-cost / 100) * (support + 50 exp(-L(n)))``.
Nothing here makes a Python object or needs the GIL. The tables come from ``data/``, see ``data/generate.py``.
"""

from libc.string cimport memcmp, memcpy

cdef extern from "_tables.h" nogil:
    ctypedef struct memtree_variant:
        int n_from
        int n_to
        Py_UCS4 source "from" [8]
        Py_UCS4 to[8]
    ctypedef struct memtree_stop_word:
        int length
        int ask
        Py_UCS4 text[8]
    const short TRIE_BASE[]
    const short TRIE_CHECK[]
    const uint16_t NOUN_COST[]
    const uint8_t NOUN_CONDITION[]
    const uint16_t VERB_COST[]
    const uint8_t VERB_CONDITION[]
    const uint16_t DERIVED_ROW[]
    const uint16_t DERIVED_COST[]
    const uint8_t VARIANT_FIRST[]
    const memtree_variant VARIANTS[]
    const memtree_stop_word KOREAN_STOP_WORDS[]
    const double COST_WEIGHT[]
    const double LENGTH_PRIOR[]
    enum:
        N_KOREAN_STOP_WORDS
        N_COSTS
        N_DERIVATIONS

# Letters: a syllable is 0xAC00 + (initial * 21 + vowel) * 28 + final, final 0 for none.
cdef enum:
    FIRST = 0xAC00
    I_N = 2, I_R = 5, I_S = 9, I_IEUNG = 11
    V_A = 0, V_AE = 1, V_EO = 4, V_E = 5, V_YEO = 6, V_O = 8, V_WA = 9, V_WAE = 10, V_OE = 11, V_U = 13
    V_WO = 14, V_EU = 18, V_I = 20
    F_GS = 3, F_N = 4, F_R = 8, F_B = 17, F_SS = 20, F_NG = 21, F_K = 24, F_H = 27
    VOWEL_LETTER = 19       # first vowel among the letters of the trie
    FINAL_LETTER = 39       # a final f is the letter 39 + f
    # Conditions on the last syllable of a stem, one bit a letter of the table.
    ANY = 1, OPEN = 2, CLOSED = 4, OPEN_OR_R = 8, CLOSED_NOT_R = 16, CONTRACTED = 32
    # Costs of what the suffix table does not hold (korean.md, section 5).
    COST_RIEUL = 100, COST_HONORIFIC = 200, COST_AUXILIARY = 300, COST_DERIVED = 100
    COST_BARE_AUXILIARY = 300, COST_BARE = 585, COST_BARE_DERIVED = 300


cdef inline int child(int state, int letter) noexcept nogil:
    """The state that `letter` leads to, -1 for none."""
    cdef int following = TRIE_BASE[state] + letter
    return following if TRIE_CHECK[following] == state else -1


cdef inline int initial(Py_UCS4 c) noexcept nogil:
    return (<int> c - FIRST) // 588


cdef inline int vowel(Py_UCS4 c) noexcept nogil:
    return (<int> c - FIRST) % 588 // 28


cdef inline int final(Py_UCS4 c) noexcept nogil:
    return (<int> c - FIRST) % 28


cdef inline Py_UCS4 with_vowel(Py_UCS4 c, int v) noexcept nogil:
    return <Py_UCS4> (FIRST + initial(c) * 588 + v * 28 + final(c))


cdef inline Py_UCS4 without_final(Py_UCS4 c) noexcept nogil:
    return <Py_UCS4> (<int> c - final(c))


cdef inline bint is_rounded(int v) noexcept nogil:
    """Vowels that a stem's vowel and the ending's 아/어 have merged into."""
    return v == V_YEO or v == V_WA or v == V_WO or v == V_WAE


cdef inline bint is_contracted(Py_UCS4 c) noexcept nogil:
    cdef int v
    if final(c):
        return False
    v = vowel(c)
    return is_rounded(v) or v == V_A or v == V_AE or v == V_EO or v == V_E


cdef inline bint may_be_stem(const Py_UCS4* s, int n) noexcept nogil:
    cdef Py_UCS4 c = s[n - 1]
    cdef int f = final(c)
    if f == F_SS:
        return c == '있'
    if f == F_N:
        return c == '신' or c == '안'
    if f == F_GS or f == F_NG or f == F_K:
        return False
    return c != '느' and c != '스'


cdef inline int letter_conditions(Py_UCS4 c) noexcept nogil:
    """All conditions that the last syllable of a stem meets, contraction aside."""
    cdef int f = final(c)
    if f == 0:
        return ANY | OPEN | OPEN_OR_R
    if f == F_R:
        return ANY | CLOSED | OPEN_OR_R
    return ANY | CLOSED | CLOSED_NOT_R


cdef int make_key(Py_UCS4* k, int n) noexcept nogil:
    """Turn the predicate stem `k` of `n` syllables into its key in place; return the key's length.

    One key for all forms of a predicate, not always the dictionary's. `k` has room for one syllable more.
    """
    cdef Py_UCS4 last, before
    cdef int f, v
    while True:
        last = k[n - 1]
        before = k[n - 2] if n > 1 else 0
        if last == '해':
            k[n - 1] = '하'
            return n
        if last == '돼':
            k[n - 1] = '되'
            return n
        f = final(last)
        if f:
            if f == F_B:
                k[n - 1] = without_final(last)
                k[n] = '우'
                return n + 1
            if last == '짓' or last == '낫' or last == '붓' or last == '잇' or last == '긋':
                k[n - 1] = without_final(last)
                return n
            if n == 1:
                if last == '듣':
                    k[0] = '들'
                elif last == '걷':
                    k[0] = '걸'
                elif last == '묻':
                    k[0] = '물'
                elif last == '싣':
                    k[0] = '실'
                if k[0] != last:
                    return n
            elif last == '닫':
                k[n - 1] = '다'
                return n
            if f == F_H and (last == '렇' or last == '떻' or last == '갛' or last == '겋' or last == '랗'
                             or last == '얗' or last == '옇'):
                k[n - 1] = without_final(last)
            elif f == F_R and n > 1:
                k[n - 1] = without_final(last)
            return n
        if (last == '라' or last == '러') and n > 1 and final(before) == F_R:
            k[n - 2] = without_final(before)
            k[n - 1] = '르'
            return n
        if (last == '아' or last == '어') and n > 1:
            n -= 1
            continue
        if last == '래' and n > 1 and (before == '그' or before == '이' or before == '저'):
            k[n - 1] = '러'
            return n
        if last == '때' and before == '어':
            k[n - 1] = '떠'
            return n
        v = vowel(last)
        if v == V_YEO:
            last = with_vowel(last, V_I)
        elif v == V_WA:
            last = with_vowel(last, V_O)
        elif v == V_WO:
            last = with_vowel(last, V_U)
        elif v == V_WAE:
            last = with_vowel(last, V_OE)
        elif v == V_EO or (v == V_A and n > 1 and last != '하'):
            last = with_vowel(last, V_EU)
        if n > 1:
            if last == '으':
                n -= 1
                continue
            if last == '오' and final(before) == 0:
                last = '우'
        k[n - 1] = last
        return n


cdef inline int ends_in_auxiliary(const Py_UCS4* k, int n) noexcept nogil:
    """Syllables of the auxiliary verb that the key ends in, first that fits; 0 if none."""
    cdef Py_UCS4 last = k[n - 1]
    cdef Py_UCS4 before = k[n - 2] if n > 1 else 0
    if (before == '나' and last == '가') or ((before == '버' or before == '드') and last == '리'):
        return 2
    if last == '두' or last == '놓' or last == '보' or last == '주' or last == '내' or last == '지':
        return 1
    return 0


cdef inline bint ends_with(const Py_UCS4* k, int n, Py_UCS4 a, Py_UCS4 b) noexcept nogil:
    """Whether something and then `a` (0 for none) and `b` stand at the end."""
    return k[n - 1] == b and (n > 1 if a == 0 else n > 2 and k[n - 2] == a)


cdef inline int derivation_length(const Py_UCS4* k, int n, int which) noexcept nogil:
    """Syllables of a derivation (numbered as in the table) if a noun and it make up the key, else 0."""
    if which == 0:
        return ends_with(k, n, 0, '하')
    if which == 1:
        return ends_with(k, n, 0, '되')
    if which == 2:
        return 2 * ends_with(k, n, '시', '키')
    if which == 3:
        return ends_with(k, n, 0, '받')
    if which == 4:
        return 2 * ends_with(k, n, '당', '하')
    if which == 5:
        return 3 * (n > 3 and k[n - 3] == '스' and k[n - 2] == '러' and k[n - 1] == '우')
    return 2 * ends_with(k, n, '로', '우')


cdef inline bint is_light_verb(const Py_UCS4* key, int n) noexcept nogil:
    """Whether the key is 하, 되 or 시키."""
    if n == 1:
        return key[0] == '하' or key[0] == '되'
    return n == 2 and key[0] == '시' and key[1] == '키'


cdef inline void add(Candidates* out, const Py_UCS4* key, int length, bint predicate, int n,
                     int suffix, int cost) noexcept nogil:
    """Append a candidate unless the same key came with the same suffix before."""
    cdef int i
    cdef Candidate* c
    for i in range(out.n):
        c = &out.items[i]
        if (c.suffix == suffix and c.predicate == predicate and c.length == length
                and memcmp(&out.pool[c.key], key, length * sizeof(Py_UCS4)) == 0):
            return
    if out.n == MAX_CANDIDATES:
        return
    c = &out.items[out.n]
    c.predicate = predicate
    c.n = <uint8_t> n
    c.length = <uint8_t> length
    c.key = <uint16_t> out.used
    c.suffix = <uint16_t> suffix
    c.cost = <uint16_t> cost
    memcpy(&out.pool[out.used], key, length * sizeof(Py_UCS4))
    out.used += length
    out.n += 1


cdef void add_split(Candidates* out, const Py_UCS4* key, int length, int state, int cost) noexcept nogil:
    """The predicate key less an auxiliary verb at its end: 저장해놓 as 저장하 and as the noun 저장."""
    cdef Py_UCS4 rest[MAX_KEY]
    cdef int n_key, n = length - ends_in_auxiliary(key, length)
    if n == length or n < 2 or not is_contracted(key[n - 1]):
        return
    memcpy(rest, key, n * sizeof(Py_UCS4))
    n_key = make_key(rest, n)
    add(out, rest, n_key, True, min(n, n_key), state, cost + COST_AUXILIARY)
    if key[n - 1] == '해' or key[n - 1] == '돼':
        add(out, key, n - 1, False, n - 1, state, cost + COST_AUXILIARY)


cdef void add_predicate(Candidates* out, const Py_UCS4* stem, int n, int state, int cost) noexcept nogil:
    """The predicate `stem` with the suffix of `state`."""
    cdef Py_UCS4 key[MAX_KEY]
    cdef int length
    memcpy(key, stem, n * sizeof(Py_UCS4))
    length = make_key(key, n)
    add(out, key, length, True, min(n, length), state, cost)


cdef void add_predicates(Candidates* out, const Py_UCS4* stem, int n, bint hides_rieul, int state,
                         int cost) noexcept nogil:
    """All readings of the run as a predicate and the suffix of `state`; `stem` stands before the suffix.

    Before the stem itself come stems that the letters hide (살 in 산다, 읽 in 읽으신다), then what is left of all
    these before an auxiliary verb, then the nouns left before 하 and 되.
    """
    cdef Py_UCS4 hidden[1]
    cdef Py_UCS4 key[MAX_KEY]
    cdef Py_UCS4 last = stem[n - 1]
    cdef int i, length, end, start = out.n
    cdef const Candidate* c
    if n == 1 and hides_rieul and final(last) == 0:
        hidden[0] = <Py_UCS4> (<int> last + F_R)
        add_predicate(out, hidden, 1, state, cost + COST_RIEUL)
    if n > 1 and (last == '시' or last == '셔'):
        length = n - 2 if n > 2 and stem[n - 2] == '으' else n - 1
        add_predicate(out, stem, length, state, cost + COST_HONORIFIC)
    for i in range(start, out.n):
        c = &out.items[i]
        memcpy(key, &out.pool[c.key], c.length * sizeof(Py_UCS4))
        add_split(out, key, c.length, state, c.cost)
    memcpy(key, stem, n * sizeof(Py_UCS4))
    length = make_key(key, n)
    add_split(out, key, length, state, cost)
    end = out.n
    for i in range(start, end):
        c = &out.items[i]
        if c.predicate and c.length >= 3:
            memcpy(key, &out.pool[c.key], c.length * sizeof(Py_UCS4))
            if key[c.length - 1] == '하' or key[c.length - 1] == '되':
                add(out, key, c.length - 1, False, c.length - 1, state, c.cost + COST_DERIVED)
    add_predicate(out, stem, n, state, cost)


cdef void add_derived(Candidates* out, const Py_UCS4* stem, int n, int state) noexcept nogil:
    """The nouns before 하 되 시키 ... that `stem` is a form of, with the suffix of `state`."""
    cdef Py_UCS4 key[MAX_KEY]
    cdef int length, which, taken
    cdef const uint16_t* derived = &DERIVED_COST[DERIVED_ROW[state] * N_DERIVATIONS]
    memcpy(key, stem, n * sizeof(Py_UCS4))
    length = make_key(key, n)
    for which in range(N_DERIVATIONS):
        if derived[which]:
            taken = derivation_length(key, length, which)
            if taken:
                add(out, key, length - taken, False, length - taken, state, derived[which])


cdef bint predicate_fits(Py_UCS4 last, int state, bint closes_with_ss, int n_suffix) noexcept nogil:
    """Whether a stem that ends in `last` may take the suffix of `state`."""
    cdef int conditions = VERB_CONDITION[state]
    if closes_with_ss:
        return is_contracted(last)
    if conditions & letter_conditions(last):
        return True
    return (conditions & CONTRACTED and is_contracted(last)
            and (is_rounded(vowel(last)) or last == '해' or n_suffix > 1))


cdef void match_suffix(Candidates* out, const Py_UCS4* run, int n, int cut, int state,
                       int closing) noexcept nogil:
    """Candidates of the suffix of `state`, which starts at syllable `cut`, or with the final consonant of the
    one before (`closing`, 0 for none)."""
    cdef Py_UCS4 stem[MAX_KEY]
    cdef Py_UCS4 last
    cdef int opening
    if NOUN_COST[state] and not closing and NOUN_CONDITION[state] & letter_conditions(run[cut - 1]):
        add(out, run, cut, False, cut, state, NOUN_COST[state])
    if not VERB_COST[state]:
        return
    last = without_final(run[cut - 1]) if closing else run[cut - 1]
    memcpy(stem, run, cut * sizeof(Py_UCS4))
    stem[cut - 1] = last
    if not may_be_stem(stem, cut):
        return
    if not predicate_fits(last, state, closing == F_SS, n - cut + (closing != 0)):
        return
    opening = -1 if closing or cut == n else initial(run[cut])
    add_predicates(out, stem, cut, closing == F_N or closing == F_B or opening == I_N or opening == I_S,
                   state, VERB_COST[state])
    if DERIVED_ROW[state]:
        add_derived(out, stem, cut, state)


cdef void match_bare(Candidates* out, const Py_UCS4* run, int n) noexcept nogil:
    """The run as a contracted predicate without a suffix: 바꿔, 해, 몰라."""
    cdef Py_UCS4 key[MAX_KEY]
    cdef Py_UCS4 last = run[n - 1]
    cdef int length, cost = 0
    if n < 2 or not may_be_stem(run, n):
        return
    if (last == '꿔' or last == '줘' or last == '둬' or last == '춰' or last == '눠' or last == '워'
            or last == '봐' or last == '놔' or last == '돼' or last == '져' or last == '쳐' or last == '켜'
            or last == '려' or last == '껴' or last == '겨' or last == '펴'):
        cost = COST_BARE_AUXILIARY
    elif ((final(last) == 0 and is_rounded(vowel(last)))
            or ((last == '라' or last == '러') and final(run[n - 2]) == F_R)):
        cost = COST_BARE
    if cost:
        memcpy(key, run, n * sizeof(Py_UCS4))
        length = make_key(key, n)
        add(out, key, length, True, min(n, length), 0xFFFF, cost)
    if n > 2 and (last == '해' or last == '돼'):
        add(out, run, n - 1, False, n - 1, 0xFFFF, COST_BARE_DERIVED)


cdef bint has_ss(const Py_UCS4* text, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if final(text[i]) == F_SS:
            return True
    return False


cdef void drop_past_nouns(Candidates* out) noexcept nogil:
    """Leave out the nouns with a final ㅆ unless nothing else is left: it marks a past tense."""
    cdef int i, kept = 0
    for i in range(out.n):
        if out.items[i].predicate or not has_ss(&out.pool[out.items[i].key], out.items[i].length):
            kept += 1
    if kept == 0:
        return
    kept = 0
    for i in range(out.n):
        if out.items[i].predicate or not has_ss(&out.pool[out.items[i].key], out.items[i].length):
            out.items[kept] = out.items[i]
            kept += 1
    out.n = kept


cdef void find_candidates(const Py_UCS4* run, int n, Candidates* out) noexcept nogil:
    """All readings of a run of 1 to `MAX_SYLLABLES` Hangul syllables."""
    cdef int i, f, state
    out.n = 0
    out.used = 0
    state = 0
    match_suffix(out, run, n, n, 0, 0)
    for i in range(n - 1, -1, -1):
        f = final(run[i])
        if f:
            state = child(state, FINAL_LETTER + f)
            if state < 0:
                break
            match_suffix(out, run, n, i + 1, state, f)
        if i == 0:
            break
        state = child(state, VOWEL_LETTER + vowel(run[i]))
        if state >= 0:
            state = child(state, initial(run[i]))
        if state < 0:
            break
        match_suffix(out, run, n, i, state, 0)
    match_bare(out, run, n)
    if has_ss(run, n):
        drop_past_nouns(out)


cdef void weigh(Candidates* found, const double* support) noexcept nogil:
    """Set the posterior of each candidate; `support` holds S of each, or is NULL for none."""
    cdef int i
    cdef double total = 0.0, weight
    for i in range(found.n):
        weight = LENGTH_PRIOR[found.items[i].n]
        if support != NULL:
            weight = support[i] + weight
        weight = COST_WEIGHT[found.items[i].cost] * weight
        found.weights[i] = weight
        total += weight
    for i in range(found.n):
        found.weights[i] /= total


cdef void share_stems(Candidates* found) noexcept nogil:
    """Add up the posteriors of candidates with the same class and key."""
    cdef int i, j
    for i in range(found.n):
        found.first[i] = <uint8_t> i
        found.shares[i] = found.weights[i]
        for j in range(i):
            if (found.items[j].predicate == found.items[i].predicate
                    and found.items[j].length == found.items[i].length
                    and memcmp(&found.pool[found.items[j].key], &found.pool[found.items[i].key],
                               found.items[i].length * sizeof(Py_UCS4)) == 0):
                found.first[i] = <uint8_t> j
                found.shares[j] += found.weights[i]
                break


cdef inline bint precedes(const Candidates* found, const Stem* a, const Stem* b) noexcept nogil:
    """Order of stems: posterior, longer, code points (the mark ~ counts as a letter before all syllables)."""
    cdef int i, n_a = a.length + a.predicate, n_b = b.length + b.predicate
    if a.posterior != b.posterior:
        return a.posterior > b.posterior
    if n_a != n_b:
        return n_a > n_b
    for i in range(min(a.length, b.length)):
        if found.pool[a.key + i] != found.pool[b.key + i]:
            return found.pool[a.key + i] < found.pool[b.key + i]
    return a.length < b.length


cdef inline int noun_length(const Py_UCS4* key, int n) noexcept nogil:
    """Length of the noun in a key of two syllables or more and 시키 당하 하 되 받; 0 if it is none."""
    if n > 3 and ((key[n - 2] == '시' and key[n - 1] == '키') or (key[n - 2] == '당' and key[n - 1] == '하')):
        return n - 2
    if n > 2 and (key[n - 1] == '하' or key[n - 1] == '되' or key[n - 1] == '받'):
        return n - 1
    return 0


cdef void rank_stems(Candidates* found) noexcept nogil:
    """Add up the posteriors by marked stem and sort the stems, best first."""
    cdef int i, j, length, noun
    cdef bint predicate
    cdef Stem stem
    cdef const Py_UCS4* key
    found.n_stems = 0
    for i in range(found.n):
        key = &found.pool[found.items[i].key]
        length = found.items[i].length
        predicate = found.items[i].predicate
        if predicate:
            noun = noun_length(key, length)
            if noun:
                length = noun
                predicate = False
        for j in range(found.n_stems):
            if (found.stems[j].length == length and found.stems[j].predicate == predicate
                    and memcmp(&found.pool[found.stems[j].key], key, length * sizeof(Py_UCS4)) == 0):
                found.stems[j].posterior += found.weights[i]
                break
        else:
            stem.predicate = predicate
            stem.length = <uint8_t> length
            stem.key = found.items[i].key
            stem.posterior = found.weights[i]
            found.stems[found.n_stems] = stem
            found.n_stems += 1
    for i in range(1, found.n_stems):
        stem = found.stems[i]
        j = i
        while j > 0 and precedes(found, &stem, &found.stems[j - 1]):
            found.stems[j] = found.stems[j - 1]
            j -= 1
        found.stems[j] = stem


cdef bint drop_glued(const Py_UCS4* run, int n) noexcept nogil:
    """Whether a run right after Latin letters or digits is but a noun suffix, or a form of 하다 되다 시키다."""
    cdef Candidates found
    cdef Py_UCS4 key[MAX_KEY]
    cdef int i, f, state = 0
    memcpy(key, run, n * sizeof(Py_UCS4))
    if is_light_verb(key, make_key(key, n)):
        return True
    for i in range(n - 1, -1, -1):
        f = final(run[i])
        if f:
            state = child(state, FINAL_LETTER + f)
        if state >= 0:
            state = child(state, VOWEL_LETTER + vowel(run[i]))
        if state >= 0:
            state = child(state, initial(run[i]))
        if state < 0:
            break
    if state > 0 and NOUN_COST[state]:
        return True
    find_candidates(run, n, &found)
    for i in range(found.n):
        if found.items[i].predicate and is_light_verb(&found.pool[found.items[i].key], found.items[i].length):
            return True
    return False


cdef bint in_ask(const Candidates* found) noexcept nogil:
    """Whether some reading of the run has an interrogative as its stem."""
    cdef int i
    for i in range(found.n):
        if stop_word(&found.pool[found.items[i].key], found.items[i].length) == 2:
            return True
    return False


cdef int stop_word(const Py_UCS4* word, int n) noexcept nogil:
    """0: no stop word; 1: a stop word; 2: an interrogative."""
    cdef int low = 0, high = N_KOREAN_STOP_WORDS, middle, i, order
    cdef const memtree_stop_word* entry
    if n > 8:
        return 0
    while low < high:
        middle = (low + high) // 2
        entry = &KOREAN_STOP_WORDS[middle]
        order = 0
        for i in range(min(n, <int> entry.length)):
            if word[i] != entry.text[i]:
                order = -1 if word[i] < entry.text[i] else 1
                break
        else:
            order = n - entry.length
        if order == 0:
            return 1 + entry.ask
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return 0


cdef Py_ssize_t replace_variants(const Py_UCS4* run, Py_ssize_t n, Py_UCS4* out) noexcept nogil:
    """Write `run` with its spelling variants replaced, longest first, left to right; return the new length.

    `out` needs room for 3 n / 2 + 8 syllables.
    """
    cdef Py_ssize_t i = 0, length = 0
    cdef int entry
    cdef const memtree_variant* variant
    while i < n:
        entry = VARIANT_FIRST[<int> run[i] - FIRST]
        if entry:
            variant = &VARIANTS[entry - 1]
            while variant.n_from and variant.source[0] == run[i]:
                if (variant.n_from <= n - i
                        and memcmp(variant.source, run + i, variant.n_from * sizeof(Py_UCS4)) == 0):
                    memcpy(out + length, variant.to, variant.n_to * sizeof(Py_UCS4))
                    length += variant.n_to
                    i += variant.n_from
                    break
                variant += 1
            else:
                entry = 0
        if entry == 0:
            out[length] = run[i]
            length += 1
            i += 1
    return length
