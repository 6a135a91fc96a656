/* What pruning knows of a term: how much it can add to a score, anywhere, in each window, and to
 * each document.
 *
 * Each posting has a level of 8 bits, in proportion to its saturation and rounded up. A frequent term also has a row. A
 * row holds a level of 4 bits for each document, the least whose bound is not below the document's saturation; 0 if
 * the document lacks the term. In a window's part, byte 64 g + i has document 128 g + i in its low half and
 * 128 g + 64 + i in its high half.
 */
#ifndef MEMTREE_BOUNDS_H
#define MEMTREE_BOUNDS_H

#include "_postings.h"

#define MT_RANKS 4
#define MT_LEVELS 16
#define MT_POSTING_LEVELS 255
/* Bytes of a row, a window. */
#define MT_ROW (MT_WINDOW / 2)
/* A row takes no more than this many bytes a posting: the term is in one document of 20. */
#define MT_ROW_SHARE 10
/* Steps in which ranked saturations are counted; they are rounded down to one. */
#define MT_STEPS 2048

struct mt_bounds {
    float rank[MT_RANKS]; /* no more than the 1st, 10th, 100th and 1,000th largest saturation; 0 if there are fewer */
    float most;           /* no less than the largest */
    float level[MT_LEVELS];
    uint8_t *row;       /* NULL: none */
    uint8_t *levels;    /* of the postings */
    float window_most[]; /* largest saturation of each window; none for a rare term */
};

static inline int mt_row_byte(uint32_t local) { return (int)((local >> 7 << 6) + (local & 63)); }

static inline int mt_row_level(const uint8_t *row, uint32_t local) {
    return row[mt_row_byte(local)] >> (local >> 4 & 4) & 15;
}

/* What a level stands for in bytes, of which `step` is a 65,536th for level 1. */
static inline uint32_t mt_level_step(uint8_t level, uint32_t step) { return 1 + (level * step >> 16); }

static inline void mt_fetch_levels(const mt_term *t) {
    int64_t i;
    for (i = 0; i < t->df && i < MT_FETCHED; i += 64) mt_prefetch(t->bounds->levels + i);
}

/* Write the level of each posting, and if there is a row, of each document. */
static void mt_fill_levels(const mt_postings *p, mt_term *t, mt_bounds *b) {
    const float unit = b->most / MT_POSTING_LEVELS, steps = (MT_LEVELS - 1) / b->most;
    int64_t w, i;
    int level;
    for (level = 0; level < MT_LEVELS; level++) b->level[level] = b->most * (float)level / (MT_LEVELS - 1);
    b->level[MT_LEVELS - 1] = b->most;
    t->lo = t->hi = 0;
    for (w = 0; w < p->n_windows; w++) {
        uint8_t *row = b->row ? b->row + w * MT_ROW : NULL;
        mt_seek(t, w);
        for (i = t->lo; i < t->hi; i++) {
            const uint32_t local = mt_local_id(t, i);
            const uint64_t doc = ((uint64_t)w << MT_WINDOW_BITS) + local;
            float f;
            if (doc >= (uint64_t)p->n_docs) continue;
            f = mt_factor(p, t->norms, t->pos0 + i, (uint32_t)doc);
            level = (int)(f / unit);
            level += (float)level * unit < f;
            b->levels[i] = (uint8_t)(level < MT_POSTING_LEVELS ? level : MT_POSTING_LEVELS);
            if (!row) continue;
            level = (int)(f * steps);
            while (level < MT_LEVELS - 1 && (level == 0 || b->level[level] < f)) level++;
            row[mt_row_byte(local)] |= (uint8_t)(level << (local >> 4 & 4));
        }
    }
}

/* Measure a term, with a row or without; NULL without memory. The bounds shall hold under tables by which saturations
 * are at most `grown` times, and at least 1 / `shrunk` of, what they are now. */
static mt_bounds *mt_measure_term(const mt_postings *p, mt_term *t, int with_row, float grown, float shrunk) {
    static const int64_t RANKS[MT_RANKS] = {1, 10, 100, 1000};
    uint32_t counts[MT_STEPS];
    const size_t head = sizeof(mt_bounds) + sizeof(float) * (size_t)(t->ids16 ? p->n_windows : 0);
    const size_t row = with_row ? 64 + (size_t)p->n_windows * MT_ROW : 0, size = head + row + (size_t)t->df;
    mt_bounds *b = (mt_bounds *)calloc(1, size);
    int64_t w, i, seen = 0;
    int step, rank = 1;
    if (!b) return NULL;
    memset(counts, 0, sizeof(counts));
    for (w = 0; w < p->n_windows; w++) {
        float most = 0.0f;
        mt_seek(t, w);
        for (i = t->lo; i < t->hi; i++) {
            uint64_t doc = ((uint64_t)w << MT_WINDOW_BITS) + mt_local_id(t, i);
            float f;
            if (doc >= (uint64_t)p->n_docs) continue;
            f = mt_factor(p, t->norms, t->pos0 + i, (uint32_t)doc);
            if (f > most) most = f;
            step = (int)(f * MT_STEPS);
            counts[step < MT_STEPS ? step : MT_STEPS - 1]++;
        }
        if (t->ids16) b->window_most[w] = most;
        if (most > b->most) b->most = most;
    }
    b->rank[0] = b->most / shrunk;
    for (step = MT_STEPS - 1; step >= 0 && rank < MT_RANKS; step--)
        for (seen += counts[step]; rank < MT_RANKS && seen >= RANKS[rank]; rank++)
            b->rank[rank] = (float)step / MT_STEPS / shrunk;
    b->levels = (uint8_t *)b + head + row;
    if (b->most > 0.0f) {
        /* Aligned, so that no load crosses a cache line. */
        if (with_row) b->row = (uint8_t *)(((uintptr_t)b + head + 63) & ~(uintptr_t)63);
        mt_fill_levels(p, t, b);
    }
    b->most *= grown;
    for (step = 0; step < MT_LEVELS; step++) b->level[step] *= grown;
    if (t->ids16)
        for (w = 0; w < p->n_windows; w++) b->window_most[w] *= grown;
    return b;
}

#endif
