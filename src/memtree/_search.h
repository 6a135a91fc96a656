/* Exact top k over windows of 8,192 documents.
 *
 * Within a window the query's terms are added in query order to accumulators that stay in the first-level cache, so
 * each score is the float32 sum in query order. A hit is a document that holds a query term; higher score first, then
 * lower id.
 */
#ifndef MEMTREE_SEARCH_H
#define MEMTREE_SEARCH_H

#include "_scan.h"

/* Longer queries are scanned. */
#define MT_PRUNED_TERMS 64

typedef struct {
    float score;
    uint32_t doc;
} mt_hit;

/* The k best so far, the worst of them at the root. */
typedef struct {
    mt_hit *hits;
    int64_t n, k;
} mt_heap;

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

/* Working memory of one search, about 90 KB. */
typedef struct {
    float acc[MT_WINDOW]; /* all 0 between windows */
    float values[MT_WINDOW];
    uint16_t ids[MT_WINDOW];
    uint8_t marks[MT_WINDOW]; /* all 0 between windows */
} mt_scratch;

static inline int mt_worse(mt_hit a, mt_hit b) { return a.score < b.score || (a.score == b.score && a.doc > b.doc); }

static void mt_sift_down(mt_hit *hits, int64_t n, int64_t at) {
    mt_hit moved = hits[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && mt_worse(hits[child + 1], hits[child])) child++;
        if (!mt_worse(hits[child], moved)) break;
        hits[at] = hits[child];
        at = child;
    }
    hits[at] = moved;
}

static void mt_offer(mt_heap *heap, float score, uint32_t doc) {
    mt_hit hit;
    int64_t at;
    hit.score = score;
    hit.doc = doc;
    if (heap->n == heap->k) {
        if (!mt_worse(heap->hits[0], hit)) return;
        heap->hits[0] = hit;
        mt_sift_down(heap->hits, heap->n, 0);
        return;
    }
    at = heap->n++;
    while (at > 0 && mt_worse(hit, heap->hits[(at - 1) / 2])) {
        heap->hits[at] = heap->hits[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->hits[at] = hit;
}

/* Order the hits best first; the heap is used up. */
static void mt_sort_hits(mt_heap *heap) {
    int64_t n = heap->n;
    while (n > 1) {
        mt_hit worst = heap->hits[0];
        heap->hits[0] = heap->hits[--n];
        mt_sift_down(heap->hits, n, 0);
        heap->hits[n] = worst;
    }
}

/* Least accumulator value that could still enter the heap; conservative when a base is added afterwards. */
static float mt_least(const mt_query *q, const mt_heap *heap) {
    float worst;
    if (heap->n < heap->k) return q->floor > 1e-38f ? q->floor : 1e-38f;
    worst = heap->hits[0].score;
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
        mt_scan(q->postings, t, t->lo, t->hi, window << MT_WINDOW_BITS, limit, s->acc);
        if (q->may_be_weak) mt_mark(t, t->lo, t->hi, limit, s->marks);
    }
}

/* Move the window's matches into the heap. `ids` are those to look at, ascending or not, repeats allowed: an
 * accumulator is cleared as it is read, so that the second look finds no match. */
static void mt_harvest(const mt_query *q, uint32_t doc0, uint32_t local, float least, mt_scratch *s, mt_heap *heap) {
    float sum = s->acc[local];
    if (q->may_be_weak) {
        if (!s->marks[local]) return;
        s->marks[local] = 0;
    } else if (!(sum >= least)) {
        return;
    }
    s->acc[local] = 0.0f;
    mt_offer(heap, sum + q->base, doc0 + local);
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
                            int64_t n_allowed, mt_scratch *s, mt_heap *heap) {
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
        for (i = 0; i < n_allowed; i++) mt_harvest(q, doc0, allowed[i] - doc0, mt_least(q, heap), s, heap);
    } else if (sparse || q->may_be_weak) {
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            const float least = mt_least(q, heap);
            for (i = t->lo; i < t->hi; i++) {
                uint32_t local = mt_local_id(t, i);
                if (local < limit) mt_harvest(q, doc0, local, least, s, heap);
            }
        }
    } else {
        int64_t n = MT_COLLECT[mt_path](s->acc, (limit + 63) / 64 * 64, mt_least(q, heap), s->ids, s->values);
        for (i = 0; i < n; i++) mt_offer(heap, s->values[i] + q->base, doc0 + s->ids[i]);
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

static inline void mt_clear_run(const mt_term *t, uint32_t limit, float *acc) {
    int64_t i;
    for (i = t->lo; i < t->hi; i++) {
        uint32_t local = mt_local_id(t, i);
        if (local < limit) acc[local] = 0.0f;
    }
}

/* MaxScore within a window. `order` holds the terms by ascending cap, of which the first `n_rest` together can't reach
 * `bar`: a document that could win holds one of the others. Those are scanned; what they leave possible is completed
 * by the rest, strongest first, as long as it can still reach the bar; what remains is scored anew in query order. */
static void mt_pruned_window(const mt_query *q, int64_t w, uint32_t limit, const int *order, int n_rest,
                             const float *rest, float bar, int64_t essential, mt_scratch *s, mt_heap *heap) {
    const uint32_t doc0 = (uint32_t)(w << MT_WINDOW_BITS);
    float need = bar - rest[n_rest];
    int64_t n = 0, i, j, kept;
    int r;
    if (!(need > 1e-38f)) need = 1e-38f;
    for (r = n_rest; r < q->n_terms; r++) {
        const mt_term *t = &q->terms[order[r]];
        mt_scan(q->postings, t, t->lo, t->hi, (int64_t)doc0, limit, s->acc);
    }
    if (essential < limit / 8) {
        for (r = n_rest; r < q->n_terms; r++) {
            const mt_term *t = &q->terms[order[r]];
            for (i = t->lo; i < t->hi; i++) {
                uint32_t local = mt_local_id(t, i);
                float sum;
                if (local >= limit) continue;
                sum = s->acc[local];
                s->acc[local] = 0.0f;
                if (sum >= need && n < MT_WINDOW) {
                    s->ids[n] = (uint16_t)local;
                    s->values[n++] = sum;
                }
            }
        }
    } else {
        n = MT_COLLECT[mt_path](s->acc, (limit + 63) / 64 * 64, need, s->ids, s->values);
    }
    for (r = n_rest - 1; r >= 0 && n > 0; r--) {
        const mt_term *t = &q->terms[order[r]];
        const int scan = n * 4 > t->hi - t->lo;
        if (t->lo == t->hi) continue;
        if (scan) mt_scan(q->postings, t, t->lo, t->hi, (int64_t)doc0, limit, s->acc);
        for (i = kept = 0; i < n; i++) {
            uint32_t local = s->ids[i];
            float sum = s->values[i] + (scan ? s->acc[local] : mt_contribution(q->postings, t, w, local));
            if (sum + rest[r] < bar) continue;
            s->ids[kept] = (uint16_t)local;
            s->values[kept++] = sum;
        }
        if (scan) mt_clear_run(t, limit, s->acc);
        n = kept;
    }
    for (i = 0; i < n; i++) {
        float sum = 0.0f;
        if (q->n_removed && mt_is_removed(q, doc0 + s->ids[i])) continue;
        for (j = 0; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[j];
            int64_t at = mt_probe(t, w, s->ids[i]);
            if (at >= 0) sum += t->coef * mt_factor(q->postings, t->norms, t->pos0 + at, doc0 + s->ids[i]);
        }
        if (sum >= mt_least(q, heap)) mt_offer(heap, sum + q->base, doc0 + s->ids[i]);
    }
}

/* Skip the window, prune it or scan it, by the terms' bounds in it; 0 if it must be scanned. */
static int mt_prune_window(const mt_query *q, int64_t w, uint32_t limit, int64_t total, mt_scratch *s, mt_heap *heap) {
    int order[MT_PRUNED_TERMS];
    float rest[MT_PRUNED_TERMS + 1], bar = mt_least(q, heap);
    int n = (int)q->n_terms, i, j, n_rest = 0;
    int64_t essential = 0;
    if (!(bar > 1e-37f)) return 0;
    /* Sums in another order differ by at most a few rounding errors. */
    bar -= (float)(n + 4) * 1.2e-7f * (bar + fabsf(q->base));
    for (i = 0; i < n; i++) {
        mt_term *t = &q->terms[i];
        t->cap = t->lo == t->hi ? 0.0f : t->coef * (t->window_most ? t->window_most[w] : t->most) * q->slack;
        for (j = i; j > 0 && q->terms[order[j - 1]].cap > t->cap; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    rest[0] = 0.0f;
    for (i = 0; i < n; i++) {
        rest[i + 1] = rest[i] + q->terms[order[i]].cap;
        if (rest[i + 1] < bar)
            n_rest = i + 1;
        else
            essential += q->terms[order[i]].hi - q->terms[order[i]].lo;
    }
    if (n_rest == n) return 1;
    if (n_rest == 0 || total - essential < essential / 2) return 0;
    mt_pruned_window(q, w, limit, order, n_rest, rest, bar, essential, s, heap);
    return 1;
}

static void mt_search(const mt_query *q, mt_scratch *s, mt_heap *heap) {
    const mt_postings *p = q->postings;
    int64_t w, j, allowed = 0;
    for (w = 0; w < p->n_windows; w++) {
        uint32_t doc0 = (uint32_t)(w << MT_WINDOW_BITS);
        uint32_t limit = p->n_docs - doc0 < MT_WINDOW ? (uint32_t)(p->n_docs - doc0) : MT_WINDOW;
        int64_t total = 0, first_allowed = allowed;
        if (q->filtered) {
            while (allowed < q->n_allowed && q->allowed[allowed] - doc0 < limit) allowed++;
            if (allowed == first_allowed) continue;
        }
        for (j = 0; j < q->n_terms; j++) {
            mt_seek(&q->terms[j], w);
            total += q->terms[j].hi - q->terms[j].lo;
        }
        if (total == 0) continue;
        if (q->prune && mt_prune_window(q, w, limit, total, s, heap)) continue;
        mt_plain_window(q, w, limit, total, q->allowed + first_allowed, allowed - first_allowed, s, heap);
    }
    mt_sort_hits(heap);
}

/* Bounds of one term: [0 ... 3] its 1st, 10th, 100th and 1,000th largest saturation (the last three rounded down),
 * then the largest of each window if the term is windowed. */
#define MT_RANKS 4
#define MT_LEVELS 2048

static void mt_measure_term(const mt_postings *p, mt_term *t, float *out) {
    static const int64_t RANKS[MT_RANKS] = {1, 10, 100, 1000};
    uint32_t counts[MT_LEVELS];
    int64_t w, i, seen = 0;
    int level, rank = 1;
    memset(counts, 0, sizeof(counts));
    memset(out, 0, sizeof(float) * MT_RANKS);
    for (w = 0; w < p->n_windows; w++) {
        float most = 0.0f;
        mt_seek(t, w);
        for (i = t->lo; i < t->hi; i++) {
            uint64_t doc = ((uint64_t)w << MT_WINDOW_BITS) + mt_local_id(t, i);
            float f;
            if (doc >= (uint64_t)p->n_docs) continue;
            f = mt_factor(p, t->norms, t->pos0 + i, (uint32_t)doc);
            if (f > most) most = f;
            level = (int)(f * MT_LEVELS);
            counts[level < MT_LEVELS ? level : MT_LEVELS - 1]++;
        }
        if (t->ids16) out[MT_RANKS + w] = most;
        if (most > out[0]) out[0] = most;
    }
    for (level = MT_LEVELS - 1; level >= 0 && rank < MT_RANKS; level--)
        for (seen += counts[level]; rank < MT_RANKS && seen >= RANKS[rank]; rank++)
            out[rank] = (float)level / MT_LEVELS;
    t->lo = t->hi = 0;
}

/* scores[d] += coef * saturation for every document of a term. */
static void mt_add_term(const mt_postings *p, mt_term *t, float *scores) {
    int64_t w;
    for (w = 0; w < p->n_windows; w++) {
        int64_t doc0 = w << MT_WINDOW_BITS;
        mt_seek(t, w);
        if (t->hi > t->lo)
            mt_scan(p, t, t->lo, t->hi, doc0, p->n_docs - doc0 < MT_WINDOW ? (uint32_t)(p->n_docs - doc0) : MT_WINDOW,
                    scores + doc0);
    }
}

#endif
