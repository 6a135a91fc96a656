/* Hot loops of the kernel: add a run of postings to the accumulators of one window, find accumulators that matter. */
#ifndef MEMTREE_SCAN_H
#define MEMTREE_SCAN_H

#include "_postings.h"

/* acc[id] += coef * saturation for the postings [lo, hi) of one window; ids from `limit` on are corrupt and skipped.
 * `doc0` is the window's first document, `marks` (or NULL) notes which documents were reached. */
static void mt_scan(const mt_postings *p, const mt_term *t, int64_t lo, int64_t hi, int64_t doc0, uint32_t limit,
                    float *acc, uint8_t *marks) {
    const mt_norms *norms = t->norms;
    const uint16_t *code = norms->code + doc0;
    const float *factor = norms->factor;
    const float coef = t->coef;
    const int coded = norms->coded;
    int64_t i;
    for (i = lo; i < hi; i++) {
        uint32_t id = mt_local_id(t, i), tf = t->tf[i], row;
        float f;
        if (id >= limit) continue;
        row = code[id];
        if (MT_UNLIKELY(tf >= MT_TABLE_TF || (!coded && row == MT_NO_CODE)))
            f = mt_slow_factor(p, norms, t->pos0 + i, (uint32_t)doc0 + id);
        else
            f = factor[row * MT_TABLE_TF + tf];
        acc[id] += coef * f;
        if (marks) marks[id] = 1;
    }
}

/* Ids (ascending) of the accumulators that are at least `least`; returns how many. `n` is a multiple of 16. */
static int64_t mt_collect(const float *acc, int64_t n, float least, uint16_t *out) {
    int64_t i, count = 0;
    int j;
    for (i = 0; i < n; i += 16) {
        int any = 0;
        for (j = 0; j < 16; j++) any |= acc[i + j] >= least;
        if (!any) continue;
        for (j = 0; j < 16; j++) {
            out[count] = (uint16_t)(i + j);
            count += acc[i + j] >= least;
        }
    }
    return count;
}

#endif
