/* Layout of the postings, and safe access to them.
 *
 * A term (column) has df postings, in ascending document order. The term frequencies of all terms lie in one byte
 * array, term t at tf[indptr[t]] ... ; 255 stands for a larger value kept in a short sorted list. The document ids
 * lie in the term's block of `ids`, at ids[block[t]]:
 *
 *   df below windowed_min   u32 ids[df]
 *   from windowed_min on    u32 offsets[n_windows + 1]     where each window of 8,192 documents starts in the list
 *                           (pad to 8)
 *                           if df >= bitmap_min: per window u64 bits[128], u16 rank[128]   for O(1) probes
 *                           u16 ids[df]                    the low 16 bits
 *
 * so that a posting of a frequent term takes 3 bytes. The arrays may be a mapped file that anyone could have written:
 * nothing here trusts an offset or an id. A block that can't be right makes the term empty; offsets are clamped; an id
 * outside its window is skipped.
 */
#ifndef MEMTREE_POSTINGS_H
#define MEMTREE_POSTINGS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MT_WINDOW_BITS 13
#define MT_WINDOW (1 << MT_WINDOW_BITS)
#define MT_WORDS (MT_WINDOW / 64)
/* Most documents that are searched at a time, eight windows: 16 bits tell them apart. */
#define MT_SPAN (1 << 16)
/* Bytes of one window's bitmap: bits, then the number of postings before each word. */
#define MT_BITMAP (MT_WORDS * (8 + 2))
#define MT_BIG_TF 255
/* Term frequencies below this have their saturation factor in a table row of the document length. */
#define MT_TABLE_TF 8
/* Postings of a term that are asked for before a search. */
#define MT_FETCHED 256
/* Length code of a document whose length has no table row (more than 65,535 distinct lengths). */
#define MT_NO_CODE 0xFFFF

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static inline int mt_popcount(uint64_t x) {
    x = x - ((x >> 1) & 0x5555555555555555ull);
    x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
    return (int)((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull) >> 56);
}
#define MT_NOINLINE __declspec(noinline)
#define MT_UNLIKELY(x) (x)
#define MT_RESTRICT __restrict
#define mt_prefetch(p) ((void)(p))
#else
#define mt_popcount __builtin_popcountll
#define MT_NOINLINE __attribute__((noinline))
#define MT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MT_RESTRICT __restrict__
#define mt_prefetch __builtin_prefetch
#endif

typedef struct {
    int64_t n_docs, n_terms, n_windows, n_postings, windowed_min, bitmap_min;
    const int64_t *indptr; /* n_terms + 1 */
    const int64_t *block;  /* n_terms + 1 */
    const uint8_t *tf;     /* n_postings */
    const uint8_t *ids;
    int64_t ids_size;
    const int64_t *big_pos; /* ascending positions of the frequencies of 255 and more */
    const uint32_t *big_tf;
    int64_t n_big;
} mt_postings;

/* How one field turns a term frequency into its saturation tf / (tf + K), K = k_const + k_slope * length. */
typedef struct {
    const uint16_t *code;   /* length code per document, padded to whole windows */
    const float *factor;    /* [n_codes][MT_TABLE_TF] */
    const float *k;         /* [n_codes] */
    const uint32_t *length; /* per document */
    double k_const, k_slope;
    int coded; /* every document has a code */
} mt_norms;

typedef struct mt_bounds mt_bounds; /* _bounds.h */

/* One term of a query, ready to be scanned. */
typedef struct {
    const uint8_t *tf;
    const uint32_t *ids32;   /* rare term, else NULL */
    const uint16_t *ids16;   /* windowed term */
    const uint32_t *offsets; /* windowed term */
    const uint8_t *bitmaps;  /* NULL: none */
    const mt_norms *norms;
    int64_t pos0; /* position of the first posting in the whole tf array */
    int64_t df;
    int64_t term;
    int64_t n_windows; /* of the collection */
    uint32_t span;     /* documents searched at a time */
    int64_t lo, hi;    /* postings of the current span */
    float coef;        /* weight * idf */
    const mt_bounds *bounds; /* with pruning */
    float cap;               /* most that it can add in the current span */
    float probe;             /* cost of looking a document up */
    int row_number;          /* its place among terms with rows */
    uint32_t step;           /* what a level stands for in bytes, times 65,536 */
} mt_term;

static inline int64_t mt_windows(int64_t n_docs) { return (n_docs + MT_WINDOW - 1) >> MT_WINDOW_BITS; }

/* Bytes of the block of a term, a multiple of 8. */
static inline int64_t mt_block_size(const mt_postings *p, int64_t df) {
    int64_t size;
    if (df < p->windowed_min) {
        size = 4 * df;
    } else {
        size = ((p->n_windows + 1) * 4 + 7) / 8 * 8 + 2 * df;
        if (df >= p->bitmap_min) size += p->n_windows * MT_BITMAP;
    }
    return (size + 7) / 8 * 8;
}

/* Point `out` at the postings of a term; a term that is out of range or corrupt has none. */
static inline void mt_open_term(const mt_postings *p, int64_t term, mt_term *out) {
    int64_t start, df, first, room;
    const uint8_t *at;
    memset(out, 0, sizeof(*out));
    if (term < 0 || term >= p->n_terms) return;
    start = p->indptr[term];
    df = p->indptr[term + 1];
    if (start < 0 || df < start || df > p->n_postings) return;
    df -= start;
    first = p->block[term];
    room = p->block[term + 1];
    if (first < 0 || first % 8 || room < first || room > p->ids_size) return;
    room -= first;
    if (df == 0 || df > p->n_docs || mt_block_size(p, df) > room) return;
    at = p->ids + first;
    out->df = df;
    out->n_windows = p->n_windows;
    out->span = MT_WINDOW;
    out->pos0 = start;
    out->tf = p->tf + start;
    if (df < p->windowed_min) {
        out->ids32 = (const uint32_t *)at;
        return;
    }
    out->offsets = (const uint32_t *)at;
    at += ((p->n_windows + 1) * 4 + 7) / 8 * 8;
    if (df >= p->bitmap_min) {
        out->bitmaps = at;
        at += p->n_windows * MT_BITMAP;
    }
    out->ids16 = (const uint16_t *)at;
}

/* Ask for what mt_open_term will read, and for what a search reads first: several terms' waits for memory overlap. */
static inline void mt_fetch_term(const mt_postings *p, int64_t term) {
    if (term < 0 || term >= p->n_terms) return;
    mt_prefetch(p->indptr + term);
    mt_prefetch(p->block + term);
}

static inline void mt_fetch_list(const mt_term *t) {
    const uint8_t *ids = t->ids32 ? (const uint8_t *)t->ids32 : (const uint8_t *)t->ids16;
    const int64_t width = t->ids32 ? 4 : 2, n = t->df < MT_FETCHED ? t->df : MT_FETCHED;
    int64_t i;
    if (t->offsets) mt_prefetch(t->offsets);
    for (i = 0; i < n * width; i += 64) mt_prefetch(ids + i);
    for (i = 0; i < n; i += 64) mt_prefetch(t->tf + i);
}

/* Where the postings of windows [window, end) lie in a windowed list. */
static inline void mt_find_windows(const mt_term *t, int64_t window, int64_t end, int64_t *lo, int64_t *hi) {
    *lo = t->offsets[window];
    *hi = t->offsets[end < t->n_windows ? end : t->n_windows];
    if (*hi > t->df) *hi = t->df;
    if (*lo > *hi) *lo = *hi;
}

/* Set lo, hi to the postings of the span that starts with a window. Spans are asked for in ascending order, the same
 * one again or not. */
static inline void mt_seek(mt_term *t, int64_t window) {
    if (t->ids32) {
        uint64_t first = (uint64_t)window << MT_WINDOW_BITS, last = first + t->span;
        int64_t i = t->lo;
        while (i < t->df && t->ids32[i] < first) i++;
        t->lo = i;
        while (i < t->df && t->ids32[i] < last && t->ids32[i] >= first) i++;
        t->hi = i;
    } else if (t->df) {
        mt_find_windows(t, window, window + (t->span >> MT_WINDOW_BITS), &t->lo, &t->hi);
    }
}

/* Id within the span of posting i, which lies in [lo, hi); below the size of the span. */
static inline uint32_t mt_local_id(const mt_term *t, int64_t i) {
    return (t->ids32 ? t->ids32[i] : t->ids16[i]) & (t->span - 1);
}

/* The frequency behind the byte 255: found by its position, 255 if the list lacks it. */
static MT_NOINLINE uint32_t mt_big_tf(const mt_postings *p, int64_t position) {
    int64_t lo = 0, hi = p->n_big;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (p->big_pos[mid] < position)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->n_big && p->big_pos[lo] == position ? p->big_tf[lo] : MT_BIG_TF;
}

/* The frequency at a position of the tf array. */
static inline uint32_t mt_tf(const mt_postings *p, int64_t position) {
    return p->tf[position] == MT_BIG_TF ? mt_big_tf(p, position) : p->tf[position];
}

/* tf / (tf + K) in float32, where K was computed in double and rounded once. The one definition of the formula:
 * tables hold its results, so that every path gives the same bits. */
static inline float mt_saturation(float tf, float k) { return tf / (tf + k); }

static inline float mt_norm(const mt_norms *n, uint32_t length) { return (float)(n->k_const + n->k_slope * length); }

static MT_NOINLINE float mt_slow_factor(const mt_postings *p, const mt_norms *n, int64_t position, uint32_t doc) {
    uint32_t tf = p->tf[position], code = n->code[doc];
    float k;
    if (tf == 0) return 0.0f;
    if (tf == MT_BIG_TF) tf = mt_big_tf(p, position);
    k = code == MT_NO_CODE ? mt_norm(n, n->length[doc]) : n->k[code];
    return mt_saturation((float)tf, k);
}

/* Saturation of the posting at `position` (in the whole tf array), of document `doc` < n_docs. */
static inline float mt_factor(const mt_postings *p, const mt_norms *n, int64_t position, uint32_t doc) {
    uint32_t tf = p->tf[position], code = n->code[doc];
    if (MT_UNLIKELY(tf >= MT_TABLE_TF || (!n->coded && code == MT_NO_CODE)))
        return mt_slow_factor(p, n, position, doc);
    return n->factor[code * MT_TABLE_TF + tf];
}

/* Index of the posting of a document in the term's list, or -1; (lo, hi) are those of the document's span. */
static inline int64_t mt_probe(const mt_term *t, uint32_t doc) {
    int64_t lo = t->lo, hi = t->hi, n;
    if (t->ids32) {
        const uint32_t *at = t->ids32 + lo;
        for (n = hi - lo; n > 1; n -= n / 2) at += at[n / 2 - 1] < doc ? n / 2 : 0;
        lo = at - t->ids32;
        lo += n > 0 && *at < doc;
        return lo < hi && t->ids32[lo] == doc ? lo : -1;
    }
    if (!t->df) return -1;
    mt_find_windows(t, doc >> MT_WINDOW_BITS, (doc >> MT_WINDOW_BITS) + 1, &lo, &hi);
    if (t->bitmaps) {
        const uint8_t *at = t->bitmaps + (int64_t)(doc >> MT_WINDOW_BITS) * MT_BITMAP;
        const uint32_t place = doc & (MT_WINDOW - 1);
        uint64_t word = ((const uint64_t *)at)[place >> 6], bit = (uint64_t)1 << (place & 63);
        if (!(word & bit)) return -1;
        lo += ((const uint16_t *)(at + MT_WORDS * 8))[place >> 6] + mt_popcount(word & (bit - 1));
        return lo < hi ? lo : -1;
    } else {
        const uint16_t *at = t->ids16 + lo, id = (uint16_t)doc;
        /* A step is a conditional move: half of the branches would be mispredicted. */
        for (n = hi - lo; n > 1; n -= n / 2) at += at[n / 2 - 1] < id ? n / 2 : 0;
        lo = at - t->ids16;
        lo += n > 0 && *at < id;
        return lo < hi && t->ids16[lo] == id ? lo : -1;
    }
}

/* Contribution of one term to one document, 0 if the document lacks it. */
static inline float mt_contribution(const mt_postings *p, const mt_term *t, uint32_t doc) {
    int64_t at = mt_probe(t, doc);
    return at < 0 ? 0.0f : t->coef * mt_factor(p, t->norms, t->pos0 + at, doc);
}

#endif
