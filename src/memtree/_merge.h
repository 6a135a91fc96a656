/* Merging the postings of several segments, term by term and in document order.
 *
 * The segments may be mapped files that anyone could have written, and so may be larger than memory: they are read, and
 * the result is written, from the first term to the last without going back. */
#ifndef MEMTREE_MERGE_H
#define MEMTREE_MERGE_H

#include "_build.h"

#define MT_NO_DOC INT64_MAX
/* Postings between two calls of `tick`. */
#define MT_TICK (1 << 18)

typedef struct {
    const mt_postings *p;
    const uint32_t *columns; /* term of each column, ascending; NULL: the same numbers */
    const int64_t *ids;      /* document of each row, ascending; NULL: base + row */
    const uint8_t *gone;     /* whether each row was removed; NULL: none was */
    int64_t base;
    /* Where the reading is. */
    int64_t column, window, at, doc; /* doc: MT_NO_DOC at the end of the term */
    mt_term term;
} mt_segment;

typedef struct {
    int (*tick)(void *); /* non-zero ends the merge */
    void *context;
    int64_t left;
} mt_ticker;

static inline int mt_tick(mt_ticker *ticker, int64_t n) {
    if ((ticker->left -= n) > 0) return 0;
    ticker->left = MT_TICK;
    return ticker->tick(ticker->context);
}

/* Step to the next posting of a row that is there; postings out of order or place are skipped. */
static inline void mt_segment_next(mt_segment *s) {
    int64_t before = s->doc;
    for (;;) {
        int64_t row, doc;
        while (++s->at >= s->term.hi) {
            if (++s->window >= s->p->n_windows) {
                s->doc = MT_NO_DOC;
                return;
            }
            mt_seek(&s->term, s->window);
            s->at = s->term.lo - 1;
        }
        row = s->term.ids32 ? s->term.ids32[s->at] : (s->window << MT_WINDOW_BITS) + mt_local_id(&s->term, s->at);
        if (row >= s->p->n_docs || (s->gone && s->gone[row])) continue;
        doc = s->ids ? s->ids[row] : s->base + row;
        if (doc <= before) continue;
        s->doc = doc;
        return;
    }
}

/* Go to the first posting of a term. Terms are asked for in ascending order. */
static inline void mt_segment_open(mt_segment *s, int64_t term) {
    s->doc = MT_NO_DOC;
    if (s->columns) {
        while (s->column < s->p->n_terms && s->columns[s->column] < term) s->column++;
        if (s->column == s->p->n_terms || s->columns[s->column] != term) return;
        mt_open_term(s->p, s->column, &s->term);
    } else {
        mt_open_term(s->p, term, &s->term);
    }
    if (!s->term.df) return;
    s->doc = s->at = -1;
    /* A list of 4-byte ids is read as a whole, the others window by window. */
    s->window = s->term.ids32 ? s->p->n_windows : -1;
    s->term.lo = 0;
    s->term.hi = s->term.ids32 ? s->term.df : 0;
    mt_segment_next(s);
}

/* Count the postings of each term. Returns what `tick` does. */
static int mt_merge_count(mt_segment *segments, int64_t n, int64_t n_terms, uint32_t *df, mt_ticker *ticker) {
    int64_t t, i;
    int status;
    for (i = 0; i < n; i++) segments[i].column = 0;
    for (t = 0; t < n_terms; t++)
        for (i = 0; i < n; i++) {
            mt_segment *s = &segments[i];
            int64_t before = df[t];
            mt_segment_open(s, t);
            if (s->gone)
                for (; s->doc != MT_NO_DOC; mt_segment_next(s)) df[t]++;
            else if (s->doc != MT_NO_DOC)
                df[t] += (uint32_t)s->term.df;
            if (df[t] > before && (status = mt_tick(ticker, df[t] - before))) return status;
        }
    return 0;
}

/* Write the windows that end before document `doc`; `n` postings are there so far. Returns the next window. */
static int64_t mt_merge_windows(const mt_block_parts *parts, int64_t window, int64_t last, int64_t n) {
    for (; window <= last; window++) {
        parts->offsets[window] = (uint32_t)n;
        if (parts->bitmaps && window) mt_finish_window(parts, window - 1);
    }
    return window;
}

/* Write the postings of all terms as `p` has planned them. `big` has room for all large frequencies.
 * `active` is room for n numbers. Returns what `tick` does. */
static int mt_merge_fill(const mt_postings *p, uint8_t *ids, uint8_t *tf, mt_segment *segments, int64_t n,
                         mt_big_list *big, int64_t *active, mt_ticker *ticker) {
    int64_t t, i;
    int status;
    for (i = 0; i < n; i++) segments[i].column = 0;
    for (t = 0; t < p->n_terms; t++) {
        int64_t df = p->indptr[t + 1] - p->indptr[t], start = p->indptr[t], n_active = 0, done = 0, window = 0;
        int64_t last = -1;
        mt_block_parts parts;
        if (!df) continue;
        parts = mt_parts(p, ids, t);
        for (i = 0; i < n; i++) {
            mt_segment_open(&segments[i], t);
            if (segments[i].doc != MT_NO_DOC) active[n_active++] = i;
        }
        while (n_active) {
            /* The segment with the smallest document, and how far it may go on alone. */
            int64_t best = 0, limit = MT_NO_DOC;
            mt_segment *s;
            for (i = 1; i < n_active; i++) {
                int64_t doc = segments[active[i]].doc;
                if (doc < segments[active[best]].doc) {
                    limit = segments[active[best]].doc;
                    best = i;
                } else if (doc < limit) {
                    limit = doc;
                }
            }
            s = &segments[active[best]];
            do {
                if (s->doc > last && s->doc < p->n_docs && done < df) {
                    uint32_t count = mt_tf(s->p, s->term.pos0 + s->at);
                    if (parts.offsets) {
                        window = mt_merge_windows(&parts, window, s->doc >> MT_WINDOW_BITS, done);
                        parts.ids16[done] = (uint16_t)s->doc;
                    } else {
                        parts.ids32[done] = (uint32_t)s->doc;
                    }
                    tf[start + done] = (uint8_t)(count < MT_BIG_TF ? count : MT_BIG_TF);
                    if (count >= MT_BIG_TF && big->n < big->room) {
                        big->pos[big->n] = start + done;
                        big->tf[big->n++] = count;
                    }
                    last = s->doc;
                    done++;
                }
                mt_segment_next(s);
                if ((status = mt_tick(ticker, 1))) return status;
            } while (s->doc < limit);
            if (s->doc == MT_NO_DOC) active[best] = active[--n_active];
        }
        if (parts.offsets) mt_merge_windows(&parts, window, p->n_windows, done);
    }
    return 0;
}

#endif
