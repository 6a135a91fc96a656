/* A query, and the scan of a window of 8,192 documents for it.
 *
 * The query's terms are added in query order to accumulators that stay in the first-level cache, so that each score is
 * the float32 sum in query order. A hit is a document that holds a query term.
 */
#ifndef MEMTREE_PLAIN_H
#define MEMTREE_PLAIN_H

#include "_scan.h"
#include "_topk.h"

/* A query on one set of postings. */
typedef struct {
    const mt_postings *postings;
    mt_term *terms; /* in query order */
    int64_t n_terms;
    float base;       /* score of a document with none of the terms, added last */
    int may_be_weak;  /* a match may sum to 0 or less: marks are needed to know a match */
    int filtered;
    const uint32_t *allowed; /* filter: ascending ids */
    int64_t n_allowed;
    const uint32_t *removed; /* ascending ids that are no longer there */
    int64_t n_removed;
    int prune;        /* the terms have bounds; at most MT_PRUNED_TERMS of them */
    float slack;      /* factor by which bounds may have grown since they were computed */
    float floor;      /* at least k documents have a sum of this or more */
} mt_query;

/* Working memory of one search, about 100 KB. */
typedef struct {
    float acc[MT_WINDOW]; /* all 0 between windows */
    float values[MT_WINDOW];
    uint8_t sums[MT_WINDOW]; /* all 0 between windows */
    uint8_t bytes[MT_WINDOW];
    uint16_t ids[MT_WINDOW];
    uint8_t marks[MT_WINDOW]; /* all 0 between windows */
} mt_scratch;

/* Least accumulator value that could still enter the top k; conservative when a base is added afterwards. */
static float mt_least(const mt_query *q, const mt_top *top) {
    float worst;
    if (!top->worst) return q->floor > 1e-38f ? q->floor : 1e-38f;
    worst = mt_hit_score(top->worst);
    if (q->base != 0.0f) worst = (worst - q->base) - 4.8e-7f * (fabsf(worst) + fabsf(q->base));
    return worst > 1e-38f ? worst : 1e-38f;
}

/* Score documents of a window one by one, each term in query order. */
static void mt_score_each(const mt_query *q, int64_t window, const uint32_t *docs, int64_t n, mt_scratch *s) {
    int64_t i, j;
    uint32_t doc0 = (uint32_t)(window << MT_WINDOW_BITS);
    for (i = 0; i < n; i++) {
        uint32_t local = docs[i] - doc0;
        float sum = 0.0f;
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            int64_t at = mt_probe(t, window, local);
            if (at < 0) continue;
            sum += t->coef * mt_factor(q->postings, t->norms, t->pos0 + at, docs[i]);
            if (q->may_be_weak) s->marks[local] = 1;
        }
        s->acc[local] = sum;
    }
}

static void mt_scan_window(const mt_query *q, int64_t window, uint32_t limit, mt_scratch *s) {
    int64_t j;
    for (j = 0; j < q->n_terms; j++) {
        const mt_term *t = &q->terms[j];
        mt_scan(q->postings, t, window << MT_WINDOW_BITS, limit, s->acc);
        if (q->may_be_weak) mt_mark(t, limit, s->marks);
    }
}

/* Move the window's matches into the heap. `ids` are those to look at, ascending or not, repeats allowed: an
 * accumulator is cleared as it is read, so that the second look finds no match. */
static void mt_harvest(const mt_query *q, uint32_t doc0, uint32_t local, float least, mt_scratch *s, mt_top *top) {
    float sum = s->acc[local];
    if (q->may_be_weak) {
        if (!s->marks[local]) return;
        s->marks[local] = 0;
    } else if (!(sum >= least)) {
        return;
    }
    s->acc[local] = 0.0f;
    mt_offer(top, sum + q->base, doc0 + local);
}

/* Place of the first removed document from `doc` on. */
static int64_t mt_first_removed(const mt_query *q, uint32_t doc) {
    int64_t lo = 0, hi = q->n_removed;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (q->removed[mid] < doc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int mt_is_removed(const mt_query *q, uint32_t doc) {
    int64_t at = mt_first_removed(q, doc);
    return at < q->n_removed && q->removed[at] == doc;
}

/* Scan all terms, in query order, and keep what is good enough. */
static void mt_plain_window(const mt_query *q, int64_t w, uint32_t limit, int64_t total, const uint32_t *allowed,
                            int64_t n_allowed, mt_scratch *s, mt_top *top) {
    const uint32_t doc0 = (uint32_t)(w << MT_WINDOW_BITS);
    const int sparse = total < limit / 8;
    int64_t i, j;
    if (q->filtered && n_allowed * q->n_terms * 8 < total)
        mt_score_each(q, w, allowed, n_allowed, s);
    else
        mt_scan_window(q, w, limit, s);
    for (i = mt_first_removed(q, doc0); i < q->n_removed && q->removed[i] - doc0 < limit; i++) {
        s->acc[q->removed[i] - doc0] = 0.0f;
        s->marks[q->removed[i] - doc0] = 0;
    }
    if (q->filtered) {
        for (i = 0; i < n_allowed; i++) mt_harvest(q, doc0, allowed[i] - doc0, mt_least(q, top), s, top);
    } else if (q->may_be_weak) {
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            for (i = t->lo; i < t->hi; i++) {
                uint32_t local = mt_local_id(t, i);
                if (local < limit) mt_harvest(q, doc0, local, 0.0f, s, top);
            }
        }
    } else if (sparse) {
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            float least = mt_least(q, top);
            for (i = t->lo; i < t->hi; i++) {
                uint32_t local = mt_local_id(t, i);
                float sum;
                if (local >= limit) continue;
                sum = s->acc[local];
                s->acc[local] = 0.0f;
                if (!(sum >= least)) continue;
                mt_offer(top, sum + q->base, doc0 + local);
                least = mt_least(q, top);
            }
        }
        return;
    } else {
        int64_t n = MT_COLLECT[mt_path](s->acc, (limit + 63) / 64 * 64, mt_least(q, top), s->ids, s->values);
        for (i = 0; i < n; i++) mt_offer(top, s->values[i] + q->base, doc0 + s->ids[i]);
        return;
    }
    if (sparse) {
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            for (i = t->lo; i < t->hi; i++) {
                uint32_t local = mt_local_id(t, i);
                if (local < limit) s->acc[local] = 0.0f, s->marks[local] = 0;
            }
        }
    } else {
        memset(s->acc, 0, sizeof(float) * limit);
        if (q->may_be_weak) memset(s->marks, 0, limit);
    }
}

#endif
