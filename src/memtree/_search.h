/* Exact top k, window by window, and dense scores. */
#ifndef MEMTREE_SEARCH_H
#define MEMTREE_SEARCH_H

#include "_prune.h"

static void mt_search(const mt_query *q, mt_scratch *s, mt_top *top) {
    const mt_postings *p = q->postings;
    int64_t w, j, allowed = 0;
    mt_pruner pruner;
    if (q->prune) mt_prune_start(q, &pruner);
    for (w = 0; w < p->n_windows; w++) {
        uint32_t doc0 = (uint32_t)(w << MT_WINDOW_BITS);
        uint32_t limit = p->n_docs - doc0 < MT_WINDOW ? (uint32_t)(p->n_docs - doc0) : MT_WINDOW;
        int64_t total = 0, first_allowed = allowed;
        if (q->filtered) {
            while (allowed < q->n_allowed && q->allowed[allowed] - doc0 < limit) allowed++;
            if (allowed == first_allowed) continue;
        }
        if (q->prune && mt_prune_window(q, &pruner, w, limit, s, top)) continue;
        for (j = 0; j < q->n_terms; j++) {
            mt_seek(&q->terms[j], w);
            total += q->terms[j].hi - q->terms[j].lo;
        }
        if (total == 0) continue;
        mt_plain_window(q, w, limit, total, q->allowed + first_allowed, allowed - first_allowed, s, top);
    }
    mt_finish(top);
}

/* scores[d] += coef * saturation for every document of a term. */
static void mt_add_term(const mt_postings *p, mt_term *t, float *scores) {
    int64_t w;
    for (w = 0; w < p->n_windows; w++) {
        int64_t doc0 = w << MT_WINDOW_BITS;
        mt_seek(t, w);
        if (t->hi > t->lo)
            mt_scan(p, t, doc0, p->n_docs - doc0 < MT_WINDOW ? (uint32_t)(p->n_docs - doc0) : MT_WINDOW,
                    scores + doc0);
    }
}

#endif
