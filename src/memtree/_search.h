/* Exact top k over windows of 8,192 documents.
 *
 * Within a window the query's terms are added in query order to accumulators that stay in the first-level cache, so
 * each score is the float32 sum in query order. A hit is a document that holds a query term; higher score first, then
 * lower id.
 */
#ifndef MEMTREE_SEARCH_H
#define MEMTREE_SEARCH_H

#include "_scan.h"

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
} mt_query;

/* Working memory of one search, about 80 KB. */
typedef struct {
    float acc[MT_WINDOW]; /* all 0 between windows */
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
    if (heap->n < heap->k) return 1e-38f;
    worst = heap->hits[0].score;
    if (q->base == 0.0f) return worst > 1e-38f ? worst : 1e-38f;
    worst = (worst - q->base) - 4.8e-7f * (fabsf(worst) + fabsf(q->base));
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
        mt_scan(q->postings, t, t->lo, t->hi, window << MT_WINDOW_BITS, limit, s->acc,
                q->may_be_weak ? s->marks : NULL);
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

static void mt_search(const mt_query *q, mt_scratch *s, mt_heap *heap) {
    const mt_postings *p = q->postings;
    int64_t w, i, j, allowed = 0, removed = 0;
    for (w = 0; w < p->n_windows; w++) {
        uint32_t doc0 = (uint32_t)(w << MT_WINDOW_BITS);
        uint32_t limit = p->n_docs - doc0 < MT_WINDOW ? (uint32_t)(p->n_docs - doc0) : MT_WINDOW;
        int64_t width = (limit + 15) / 16 * 16, total = 0, first_allowed = allowed;
        int sparse, clear = 1;
        if (q->filtered) {
            while (allowed < q->n_allowed && q->allowed[allowed] - doc0 < limit) allowed++;
            if (allowed == first_allowed) continue;
        }
        for (j = 0; j < q->n_terms; j++) {
            mt_seek(&q->terms[j], w);
            total += q->terms[j].hi - q->terms[j].lo;
        }
        if (total == 0) continue;
        if (q->filtered && (allowed - first_allowed) * q->n_terms * 8 < total)
            mt_score_each(q, w, q->allowed + first_allowed, allowed - first_allowed, s);
        else
            mt_scan_window(q, w, limit, s);
        while (removed < q->n_removed && q->removed[removed] < doc0 + (uint64_t)limit) {
            if (q->removed[removed] >= doc0) {
                s->acc[q->removed[removed] - doc0] = 0.0f;
                s->marks[q->removed[removed] - doc0] = 0;
            }
            removed++;
        }
        sparse = total < limit / 8;
        if (q->filtered) {
            for (i = first_allowed; i < allowed; i++)
                mt_harvest(q, doc0, q->allowed[i] - doc0, mt_least(q, heap), s, heap);
        } else if (sparse || q->may_be_weak) {
            for (j = 0; j < q->n_terms; j++) {
                const mt_term *t = &q->terms[j];
                float least = mt_least(q, heap);
                for (i = t->lo; i < t->hi; i++) {
                    uint32_t local = mt_local_id(t, i);
                    if (local >= limit) continue;
                    mt_harvest(q, doc0, local, least, s, heap);
                }
            }
        } else {
            int64_t n = mt_collect(s->acc, width, mt_least(q, heap), s->ids);
            for (i = 0; i < n; i++) mt_harvest(q, doc0, s->ids[i], mt_least(q, heap), s, heap);
        }
        if (sparse) {
            clear = 0;
            for (j = 0; j < q->n_terms; j++) {
                const mt_term *t = &q->terms[j];
                for (i = t->lo; i < t->hi; i++) {
                    uint32_t local = mt_local_id(t, i);
                    if (local < limit) s->acc[local] = 0.0f, s->marks[local] = 0;
                }
            }
        }
        if (clear) {
            memset(s->acc, 0, sizeof(float) * (size_t)width);
            if (q->may_be_weak) memset(s->marks, 0, (size_t)width);
        }
    }
    mt_sort_hits(heap);
}

/* scores[d] += coef * saturation for every document of a term. */
static void mt_add_term(const mt_postings *p, mt_term *t, float *scores) {
    int64_t w;
    for (w = 0; w < p->n_windows; w++) {
        int64_t doc0 = w << MT_WINDOW_BITS;
        mt_seek(t, w);
        if (t->hi > t->lo)
            mt_scan(p, t, t->lo, t->hi, doc0, p->n_docs - doc0 < MT_WINDOW ? (uint32_t)(p->n_docs - doc0) : MT_WINDOW,
                    scores + doc0, NULL);
    }
}

#endif
