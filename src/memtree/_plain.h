/* A query, and the scan of a span of the collection for it.
 *
 * A span is as many documents as are searched at a time: a window of 8,192, whose accumulators stay in the first-level
 * cache, or eight of them if the query has few postings in each, as each term costs some time in each span.
 *
 * The query's terms are added in query order to the accumulators, so that each score is
 * the float32 sum in query order. A hit is a document that holds a query term, that the filter leaves, and whose
 * weight is above 0.
 */
#ifndef MEMTREE_PLAIN_H
#define MEMTREE_PLAIN_H

#include "_filter.h"
#include "_scan.h"
#include "_topk.h"

/* What steps take, measured in nanoseconds on one machine, with rows and lists not yet in the caches; only the ratios
 * matter. */
#define MT_COST_SPARSE 3.3f  /* add a posting of a list with gaps to an accumulator, and look at that */
#define MT_COST_POSTING 0.9f /* add a posting to an accumulator */
#define MT_COST_BYTE 1.5f    /* the same to a byte */
#define MT_COST_HARVEST 0.6f /* look at the accumulator of a posting */
#define MT_COST_CLEAR 0.4f   /* clear the accumulator of a posting */
#define MT_COST_WIPE 100.0f  /* clear the bytes of a window */
#define MT_COST_LEVEL 3.0f   /* look a document up in a row */
#define MT_COST_BITMAP 6.0f  /* in a bitmap */
#define MT_COST_SEARCH 16.0f /* in a list */
#define MT_COST_SCORE 2.0f   /* the rest of scoring a document */
#define MT_COST_CHOICE 15.0f /* think about a term in a span */
/* By path: look at all accumulators of a window; at all its bytes; add a row to them. */
#ifdef MT_NEON
static const float MT_COST_COLLECT[] = {1500.0f}, MT_COST_SIFT[] = {400.0f}, MT_COST_ROW[] = {350.0f};
#else
static const float MT_COST_COLLECT[] = {2000.0f, 900.0f, 700.0f};
static const float MT_COST_SIFT[] = {4000.0f, 150.0f, 90.0f};
static const float MT_COST_ROW[] = {7000.0f, 280.0f, 240.0f};
#endif

/* A query on one set of postings. */
typedef struct {
    const mt_postings *postings;
    mt_term *terms; /* in query order */
    int64_t n_terms;
    uint32_t span;   /* documents searched at a time */
    float base;      /* score of a document with none of the terms, added last */
    int may_be_weak; /* a match may sum to 0 or less: marks are needed to know a match */
    /* The filter: ascending ids or a byte a document; weights, all 0 or more; how many documents of each window may be
     * left, when there are no ids. NULL: none. */
    int filtered;
    const uint32_t *allowed;
    int64_t n_allowed;
    const uint8_t *passes;
    const float *weights;
    float most_weight;
    const uint32_t *left;
    const uint32_t *removed; /* ascending ids that are no longer there */
    int64_t n_removed;
    int prune;   /* the terms have bounds; at most MT_PRUNED_TERMS of them */
    float slack; /* factor by which bounds may have grown since they were computed */
    float floor; /* at least k documents have a sum of this or more */
} mt_query;

/* One span, the number of its first window, and its part of the filter; `n_left` is its size if there is none. */
typedef struct {
    int64_t w;
    uint32_t doc0, limit;
    int64_t n_left;
    const uint32_t *allowed;
    const uint8_t *passes;
    const float *weights;
} mt_span;

/* Working memory of one search, 900 KB, of which small spans use the first eighth. All but ids, values and bytes is 0
 * between spans. */
typedef struct {
    float acc[MT_SPAN];
    float values[MT_SPAN];
    uint8_t sums[MT_SPAN];
    uint8_t bytes[MT_SPAN];
    uint16_t ids[MT_SPAN + 1];
    uint8_t marks[MT_SPAN];
    uint8_t admitted[MT_SPAN];
} mt_scratch;

/* Least accumulator value that could still enter the top k; conservative when more is done to it afterwards. */
static float mt_least(const mt_query *q, const mt_top *top) {
    float worst;
    if (!top->worst) return q->floor > 1e-38f ? q->floor : 1e-38f;
    worst = mt_hit_score(top->worst);
    if (q->weights) {
        /* Products this small are rounded coarsely. */
        if (worst < 1e-37f) return 1e-38f;
        worst = worst / q->most_weight * (1.0f - 4.8e-7f);
    }
    if (q->base != 0.0f) worst = (worst - q->base) - 4.8e-7f * (fabsf(worst) + fabsf(q->base));
    return worst > 1e-38f ? worst : 1e-38f;
}

/* Move on to the next span that the filter leaves something of; 0 if there is none. Starts with a span of zeros. */
static int mt_next_span(const mt_query *q, mt_span *v) {
    const mt_postings *p = q->postings;
    if (!v->limit) v->allowed = q->allowed;
    for (;;) {
        const int64_t doc0 = (int64_t)v->doc0 + v->limit;
        int64_t w;
        if (doc0 >= p->n_docs) return 0;
        if (q->allowed) v->allowed += v->n_left;
        v->w = doc0 >> MT_WINDOW_BITS;
        v->doc0 = (uint32_t)doc0;
        v->limit = p->n_docs - doc0 < q->span ? (uint32_t)(p->n_docs - doc0) : q->span;
        v->n_left = v->limit;
        if (q->allowed)
            for (v->n_left = 0; v->allowed + v->n_left < q->allowed + q->n_allowed &&
                                v->allowed[v->n_left] - v->doc0 < v->limit;)
                v->n_left++;
        else if (q->left)
            for (v->n_left = 0, w = v->w; w << MT_WINDOW_BITS < doc0 + v->limit; w++) v->n_left += q->left[w];
        if (v->n_left == 0) continue;
        v->passes = q->passes ? q->passes + doc0 : NULL;
        v->weights = q->weights ? q->weights + doc0 : NULL;
        return 1;
    }
}

/* Have ids that the filter leaves as bytes; mt_dismiss takes them back. */
static void mt_admit(const mt_query *q, mt_span *v, mt_scratch *s) {
    int64_t i;
    if (!q->allowed) return;
    for (i = 0; i < v->n_left; i++) s->admitted[v->allowed[i] - v->doc0] = 1;
    v->passes = s->admitted;
}

static void mt_dismiss(const mt_query *q, const mt_span *v, mt_scratch *s) {
    int64_t i;
    if (!q->allowed) return;
    for (i = 0; i < v->n_left; i++) s->admitted[v->allowed[i] - v->doc0] = 0;
}

static inline int mt_may_be_hit(const mt_span *v, uint32_t local) {
    return (!v->passes || v->passes[local]) && (!v->weights || v->weights[local] > 0.0f);
}

static inline void mt_offer_sum(const mt_query *q, const mt_span *v, uint32_t local, float sum, mt_top *top) {
    if (mt_may_be_hit(v, local)) {
        const float score = sum + q->base;
        mt_offer(top, v->weights ? score * v->weights[local] : score, v->doc0 + local);
    }
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

/* Whether to look `n` documents up in a term's postings of the span by scanning these. */
static inline int mt_by_scan(const mt_term *t, float n, float *cost) {
    const float scan = (float)(t->hi - t->lo) * (MT_COST_POSTING + MT_COST_CLEAR) + n, probe = n * t->probe;
    *cost += scan < probe ? scan : probe;
    return scan < probe;
}

/* Score `n` documents `ids` of a span, in query order, into `values`; those with a term are marked if sums may be
 * weak. */
static void mt_score_all(const mt_query *q, const mt_span *v, int64_t n, mt_scratch *s) {
    int64_t i, j;
    memset(s->values, 0, sizeof(float) * (size_t)n);
    for (j = 0; j < q->n_terms; j++) {
        const mt_term *t = &q->terms[j];
        const uint8_t *row = t->bounds && t->bounds->row ? t->bounds->row + v->w * MT_ROW : NULL;
        float cost = 0.0f;
        if (t->lo == t->hi) continue;
        if (mt_by_scan(t, (float)n, &cost)) {
            mt_scan(q->postings, t, v->doc0, v->limit, s->acc);
            if (q->may_be_weak) mt_mark(t, v->limit, s->marks);
            for (i = 0; i < n; i++) s->values[i] += s->acc[s->ids[i]];
            mt_clear_sums(t, v->limit, s->acc);
            continue;
        }
        for (i = 0; i < n; i++) {
            const uint32_t local = s->ids[i];
            int64_t at;
            if (row && !mt_row_level(row, local)) continue;
            at = mt_probe(t, v->doc0 + local);
            if (at < 0) continue;
            s->values[i] += t->coef * mt_factor(q->postings, t->norms, t->pos0 + at, v->doc0 + local);
            if (q->may_be_weak) s->marks[local] = 1;
        }
    }
}

/* List the documents of a span that the filter leaves; returns how many. */
static int64_t mt_list_span(const mt_query *q, const mt_span *v, mt_scratch *s) {
    uint32_t at, local;
    int64_t n = 0;
    if (q->allowed) {
        for (; n < v->n_left; n++) s->ids[n] = (uint16_t)(v->allowed[n] - v->doc0);
        return n;
    }
    for (at = 0; at < v->limit; at += 8) {
        const uint32_t end = at + 8 < v->limit ? at + 8 : v->limit;
        if (end == at + 8 && mt_eight_out(v->passes, v->weights, at)) continue;
        for (local = at; local < end; local++) {
            s->ids[n] = (uint16_t)local;
            n += mt_may_be_hit(v, local);
        }
    }
    return n;
}

/* Its cost. */
static float mt_cost_list(const mt_query *q, const mt_span *v) {
    return (float)v->n_left + (q->allowed ? 0.0f : 0.1f * (float)v->limit);
}

/* Score documents `ids` of a span and keep what is good enough. */
static void mt_offer_all(const mt_query *q, const mt_span *v, int64_t n, mt_scratch *s, mt_top *top) {
    int64_t i, j;
    mt_score_all(q, v, n, s);
    for (i = 0; i < n; i++) {
        const uint32_t local = s->ids[i];
        if (q->may_be_weak ? !s->marks[local] : !(s->values[i] >= mt_least(q, top))) continue;
        if (q->n_removed && mt_is_removed(q, v->doc0 + local)) continue;
        mt_offer_sum(q, v, local, s->values[i], top);
    }
    if (q->may_be_weak)
        for (j = 0; j < q->n_terms; j++) mt_clear_bytes(&q->terms[j], v->limit, s->marks);
}

/* Whether to score the documents that the filter leaves one by one instead of a scan. */
static int mt_few_left(const mt_query *q, const mt_span *v, int64_t total) {
    float cost = mt_cost_list(q, v) + (float)v->n_left * MT_COST_SCORE;
    int64_t j;
    for (j = 0; j < q->n_terms; j++) mt_by_scan(&q->terms[j], (float)v->n_left, &cost);
    return cost < (float)total * (MT_COST_POSTING + MT_COST_HARVEST);
}

/* Whether to look only at the accumulators of a span's postings, as there are so few of them. */
static inline int mt_is_sparse(int64_t total, uint32_t limit) { return total < limit / 8; }

/* Scan all terms, which hold `total` postings in the span, in query order, and keep what is good enough. */
static void mt_plain_span(const mt_query *q, mt_span *v, int64_t total, mt_scratch *s, mt_top *top) {
    const uint32_t limit = v->limit;
    float least;
    int64_t i, j;
    for (j = 0; j < q->n_terms; j++) {
        const mt_term *t = &q->terms[j];
        mt_scan(q->postings, t, v->doc0, limit, s->acc);
        if (q->may_be_weak) mt_mark(t, limit, s->marks);
    }
    for (i = mt_first_removed(q, v->doc0); i < q->n_removed && q->removed[i] - v->doc0 < limit; i++) {
        s->acc[q->removed[i] - v->doc0] = 0.0f;
        s->marks[q->removed[i] - v->doc0] = 0;
    }
    mt_admit(q, v, s);
    least = mt_least(q, top);
    if (q->may_be_weak || mt_is_sparse(total, limit)) {
        /* An accumulator is cleared as it is read: the second look at a document finds no match. */
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            MT_EACH_POSTING({
                const float sum = s->acc[id];
                s->acc[id] = 0.0f;
                if (q->may_be_weak ? !s->marks[id] : !(sum >= least)) continue;
                s->marks[id] = 0;
                mt_offer_sum(q, v, id, sum, top);
                least = mt_least(q, top);
            })
        }
    } else {
        const int64_t n = MT_COLLECT[mt_path](s->acc, (limit + 63) / 64 * 64, least, s->ids, s->values);
        for (i = 0; i < n; i++) mt_offer_sum(q, v, s->ids[i], s->values[i], top);
    }
    mt_dismiss(q, v, s);
}

#endif
