/* Exact top k, span by span, and dense scores. */
#ifndef MEMTREE_SEARCH_H
#define MEMTREE_SEARCH_H

#include "_prune.h"

static void mt_search(const mt_query *q, mt_scratch *s, mt_top *top) {
    mt_span v;
    mt_pruner pruner;
    memset(&v, 0, sizeof(v));
    if (q->prune) mt_prune_start(q, &pruner);
    while (mt_next_span(q, &v)) {
        int64_t j, total = 0;
        if (q->prune && mt_prune_span(q, &pruner, &v, s, top)) continue;
        for (j = 0; j < q->n_terms; j++) {
            mt_seek(&q->terms[j], v.w);
            total += q->terms[j].hi - q->terms[j].lo;
        }
        if (total == 0) continue;
        if (q->filtered && mt_few_left(q, &v, total))
            mt_offer_all(q, &v, mt_list_span(q, &v, s), s, top);
        else
            mt_plain_span(q, &v, total, s, top);
    }
    mt_finish(top);
}

/* scores[d] += coef * saturation for every document of a term. */
static void mt_add_term(const mt_postings *p, mt_term *t, float *scores) {
    int64_t w;
    t->span = MT_SPAN;
    for (w = 0; w < p->n_windows; w += MT_SPAN / MT_WINDOW) {
        int64_t doc0 = w << MT_WINDOW_BITS;
        mt_seek(t, w);
        if (t->hi > t->lo)
            mt_scan(p, t, doc0, p->n_docs - doc0 < MT_SPAN ? (uint32_t)(p->n_docs - doc0) : MT_SPAN,
                    scores + doc0);
    }
}

#endif
