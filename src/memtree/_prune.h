/* Windowed MaxScore with upper bounds in bytes.
 *
 * The terms that together can't lift a document to the bar need no scan of their own (MaxScore: Turtle and Flood,
 * "Query evaluation: strategies and optimizations", 1995). What the others add is summed up for all documents of the
 * span in bytes that are rounded up and saturate: from the levels of a list's postings, or from the row of levels of
 * a frequent term (64 look-ups in one instruction, as in product quantisation: Andre, Kermarrec and Le Scouarnec, "Cache
 * locality is not enough", 2015). Only documents whose bytes reach the bar are scored, exactly, in query order.
 */
#ifndef MEMTREE_PRUNE_H
#define MEMTREE_PRUNE_H

#include "_plain.h"

/* Longer queries are scanned. */
#define MT_PRUNED_TERMS 64
/* The bar in units of the bytes when their scale is chosen; chosen anew when the bar has grown beyond a byte. */
#define MT_BAR_UNITS 200

/* Most spans in a row that are scanned because the scan was cheaper before. */
#define MT_MOST_WAIT 8
#define MT_LEAST_EXCESS 1.5f
/* How a span is searched. */
typedef enum { MT_SCAN_ALL, MT_EACH, MT_BY_ROWS, MT_BY_POSTINGS } mt_plan;

/* What a pruned search remembers from span to span. */
typedef struct {
    int order[MT_PRUNED_TERMS]; /* terms by ascending cap */
    int with_row[MT_PRUNED_TERMS], n_rows;
    uint8_t luts[MT_PRUNED_TERMS * MT_LEVELS]; /* a level's value in bytes, for each term with a row */
    float scale;                               /* of the bytes; 0: not yet chosen */
    /* The present span: the first `n_rest` terms together can add `rest`, less than the bar. Postings of all terms,
     * of the others, and of those without a row. */
    int n_rest;
    float rest;
    int64_t total, essential, listed;
    /* Documents that the others make possible, as guessed; how many they were, a guess. */
    float guess, touched;
    /* What late spans came to: documents to score, in units of those expected, as the k best of w spans alike lie
     * evenly in them, and so k / w of the best of w + 1 lie in the next. */
    float excess;
    int64_t seen;      /* documents left in the spans before */
    int scanned, wait; /* how often in a row the scan was cheaper; spans to scan without asking */
} mt_pruner;

static void mt_prune_start(const mt_query *q, mt_pruner *pr) {
    int i;
    memset(pr, 0, sizeof(*pr));
    pr->excess = MT_LEAST_EXCESS;
    pr->touched = 1.0f;
    for (i = 0; i < q->n_terms; i++) {
        mt_term *t = &q->terms[i];
        pr->order[i] = i;
        if (t->bounds->row) {
            t->probe = MT_COST_LEVEL + t->probe * (float)t->df / (float)q->postings->n_docs;
            t->row_number = pr->n_rows;
            pr->with_row[pr->n_rows++] = i;
        }
    }
}

/* Value in bytes, never too small. */
static inline uint32_t mt_in_bytes(float value) { return value < 254.0f ? 1 + (uint32_t)value : 255; }

/* The bytes that others must reach when `left` may be added: a little is allowed for the rounding of sums. */
static inline int mt_without(int least, float left) {
    return least - (int)mt_in_bytes((left > 0.0f ? left : 0.0f) + 0.01f);
}

/* Choose the scale of the bytes for a bar; 0 if there is none. */
static int mt_set_scale(const mt_query *q, mt_pruner *pr, float bar) {
    int i, level;
    pr->scale = MT_BAR_UNITS / bar;
    for (i = 0; i < q->n_terms; i++) {
        mt_term *t = &q->terms[i];
        const float step = t->coef * q->slack * pr->scale * t->bounds->most / MT_POSTING_LEVELS * 65536.0f;
        /* Beyond this, level 1 is more than a byte holds. */
        t->step = step < 16e6f ? 1 + (uint32_t)(step * (1.0f + 1e-6f)) : 1 << 24;
    }
    for (i = 0; i < pr->n_rows; i++) {
        const mt_term *t = &q->terms[pr->with_row[i]];
        uint8_t *lut = pr->luts + i * MT_LEVELS;
        const float unit = t->coef * q->slack * pr->scale;
        lut[0] = 0;
        for (level = 1; level < MT_LEVELS; level++) lut[level] = (uint8_t)mt_in_bytes(unit * t->bounds->level[level]);
    }
    return 1;
}

/* Look the candidates up in the row of a term, in bytes. */
static void mt_add_levels(const mt_query *q, const mt_pruner *pr, const mt_span *v, int r, int64_t n, mt_scratch *s) {
    const uint8_t *row = q->terms[pr->with_row[r]].bounds->row + v->w * MT_ROW, *lut = pr->luts + r * MT_LEVELS;
    int64_t i;
    for (i = 0; i < n; i++) {
        const int sum = s->bytes[i] + lut[mt_row_level(row, s->ids[i])];
        s->bytes[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

/* The same in its postings. */
static void mt_add_postings(const mt_span *v, const mt_term *t, int64_t n, mt_scratch *s) {
    float cost = 0.0f;
    const int scan = mt_by_scan(t, (float)n, &cost);
    int64_t i;
    if (scan) mt_scan_bytes(t, v->limit, s->sums);
    for (i = 0; i < n; i++) {
        const uint32_t local = s->ids[i];
        uint32_t sum = s->bytes[i];
        if (scan) {
            sum += s->sums[local];
        } else {
            const int64_t at = mt_probe(t, v->doc0 + local);
            if (at >= 0) sum += mt_level_step(t->bounds->levels[at], t->step);
        }
        s->bytes[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
    if (scan) mt_clear_bytes(t, v->limit, s->sums);
}

/* Drop candidates that the rest can't lift to `least`: look them up in the rows and in the lists, strongest first.
 * Returns how many remain. */
static int64_t mt_complete(const mt_query *q, const mt_pruner *pr, const mt_span *v, int rows_first, int least,
                           int64_t n, mt_scratch *s) {
    /* The terms in turn, and what those from each on may add: summed up, as what a strong one leaves of a difference may
     * lack the weak ones. */
    const mt_term *turns[MT_PRUNED_TERMS];
    float left[MT_PRUNED_TERMS + 1];
    int64_t i, kept;
    int turn, r, n_turns = 0;
    for (turn = 0; turn < 2; turn++)
        for (r = pr->n_rest - 1; r >= 0; r--) {
            const mt_term *t = &q->terms[pr->order[r]];
            if (t->lo < t->hi && (t->bounds->row != NULL) == (turn != rows_first)) turns[n_turns++] = t;
        }
    left[n_turns] = 0.0f;
    for (r = n_turns - 1; r >= 0; r--) left[r] = left[r + 1] + turns[r]->cap;
    for (r = 0; r < n_turns && n > 0; r++) {
        const int bar = mt_without(least, left[r + 1] * pr->scale);
        if (turns[r]->bounds->row)
            mt_add_levels(q, pr, v, turns[r]->row_number, n, s);
        else
            mt_add_postings(v, turns[r], n, s);
        for (i = kept = 0; i < n; i++) {
            s->ids[kept] = s->ids[i];
            s->bytes[kept] = s->bytes[i];
            kept += s->bytes[i] >= bar;
        }
        n = kept;
    }
    return n;
}

/* Drop candidates that are no hits by the filter or by removal. */
static int64_t mt_narrow(const mt_query *q, mt_span *v, int64_t n, mt_scratch *s) {
    int64_t i, kept = 0;
    if (!n || (!q->filtered && !q->n_removed)) return n;
    mt_admit(q, v, s);
    for (i = 0; i < n; i++) {
        const uint32_t local = s->ids[i];
        s->ids[kept] = (uint16_t)local;
        s->bytes[kept] = s->bytes[i];
        kept += mt_may_be_hit(v, local) && !(q->n_removed && mt_is_removed(q, v->doc0 + local));
    }
    mt_dismiss(q, v, s);
    return kept;
}

/* Order the terms by what they can add in the span, and part off the rest; then `n_rest` is set. */
static void mt_part_terms(const mt_query *q, mt_pruner *pr, int64_t w, float bar) {
    float reach = 0.0f;
    int64_t i;
    int j, r;
    for (j = 0; j < q->n_terms; j++) {
        const int term = pr->order[j];
        mt_term *t = &q->terms[term];
        float most;
        if (t->ids16) {
            const int64_t end = w + (t->span >> MT_WINDOW_BITS);
            for (most = 0.0f, i = w; i < end && i < t->n_windows; i++)
                most = t->bounds->window_most[i] > most ? t->bounds->window_most[i] : most;
        } else {
            mt_seek(t, w);
            most = t->lo == t->hi ? 0.0f : t->bounds->most;
        }
        t->cap = t->coef * most * q->slack;
        /* The order of the span before is nearly right. */
        for (r = j; r > 0 && q->terms[pr->order[r - 1]].cap > t->cap; r--) pr->order[r] = pr->order[r - 1];
        pr->order[r] = term;
    }
    pr->n_rest = 0;
    pr->rest = 0.0f;
    for (j = 0; j < q->n_terms; j++) {
        reach += q->terms[pr->order[j]].cap;
        if (!(reach < bar)) break;
        pr->n_rest = j + 1;
        pr->rest = reach;
    }
}

/* Bring the terms to the span and count their postings. */
static void mt_seek_terms(const mt_query *q, mt_pruner *pr, int64_t w) {
    int j;
    pr->total = pr->listed = 0;
    for (j = 0; j < q->n_terms; j++) {
        mt_term *t = &q->terms[pr->order[j]];
        if (t->ids16) mt_seek(t, w);
        pr->total += t->hi - t->lo;
        if (!t->bounds->row) pr->listed += t->hi - t->lo;
    }
}

/* Whether to clear the bytes of so many postings one by one, in a span of so many windows. */
static inline int mt_clears_each(int64_t n, float share) { return (float)n * MT_COST_CLEAR < share * MT_COST_WIPE; }

/* Choose the rest, no more than the present one: the more terms it has, the fewer postings are scanned, but the more
 * of them belong to documents that the rest makes possible. Returns the cost of a search by postings before scores. */
static float mt_choose_rest(const mt_query *q, mt_pruner *pr, float bar, float share) {
    float least = 0.0f, rest = 0.0f;
    int r, j, most = pr->n_rest;
    for (r = 0; r <= most; r++) {
        float cost, guess = 0.0f, left;
        int64_t essential = 0;
        if (r > 0) rest += q->terms[pr->order[r - 1]].cap;
        for (j = r; j < q->n_terms; j++) {
            const mt_term *t = &q->terms[pr->order[j]];
            const float n = (float)(t->hi - t->lo);
            const int enough = !(t->cap * 1.01f + rest < bar);
            guess += enough ? n : 0.02f * n;
            essential += t->hi - t->lo;
        }
        cost = (float)essential * MT_COST_BYTE;
        cost += mt_clears_each(essential, share) ? (float)essential * MT_COST_CLEAR : share * MT_COST_WIPE;
        left = pr->touched * guess;
        /* Many are dropped after the strongest terms of the rest. */
        for (j = r - 1; j >= 0; j--, left *= 0.5f) mt_by_scan(&q->terms[pr->order[j]], left, &cost);
        if (r == 0 || cost < least) {
            least = cost;
            pr->n_rest = r;
            pr->rest = rest;
            pr->essential = essential;
            pr->guess = guess;
        }
    }
    return least;
}

/* The cheapest way to find the span's best, when `due` documents of it are expected among them. */
static mt_plan mt_choose(const mt_query *q, mt_pruner *pr, const mt_span *v, float bar, float due) {
    const int64_t limit = v->limit;
    const float share = (float)limit / MT_WINDOW, expected = pr->excess * due;
    const float found = expected * (float)limit / (float)v->n_left; /* by a search that does not ask the filter */
    const float total = (float)pr->total, listed = (float)pr->listed;
    float scan, each, by_rows, by_postings;
    int j;
    scan = mt_is_sparse(pr->total, v->limit) ? total * MT_COST_SPARSE
                                             : total * MT_COST_POSTING + share * MT_COST_COLLECT[mt_path];
    by_rows = listed * MT_COST_BYTE + share * (MT_COST_SIFT[mt_path] + (float)pr->n_rows * MT_COST_ROW[mt_path]) +
              expected * MT_COST_SCORE + found * MT_COST_LEVEL;
    by_postings = mt_choose_rest(q, pr, bar, share) + expected * MT_COST_SCORE + found * MT_COST_LEVEL;
    for (j = 0; j < q->n_terms; j++) {
        const mt_term *t = &q->terms[pr->order[j]];
        mt_by_scan(t, expected, &by_rows);
        mt_by_scan(t, expected, &by_postings);
    }
    { static int force=-1; if(force<0) force=getenv("FORCE")?atoi(getenv("FORCE")):0; if(force==1) return MT_BY_POSTINGS; if(force==2) return pr->n_rows?MT_BY_ROWS:MT_BY_POSTINGS;}
    if (q->filtered) {
        float left = (float)v->n_left;
        each = mt_cost_list(q, v) + expected * MT_COST_SCORE;
        /* Most are dropped after their strongest terms. */
        for (j = (int)q->n_terms - 1; j >= 0; j--, left *= 0.5f) mt_by_scan(&q->terms[pr->order[j]], left, &each);
        if (each < scan && each < by_postings && (!pr->n_rows || each < by_rows)) return MT_EACH;
    }
    if (scan < by_postings && (!pr->n_rows || scan < by_rows)) {
        pr->excess = MT_LEAST_EXCESS + 0.9f * (pr->excess - MT_LEAST_EXCESS);
        if (pr->scanned < MT_MOST_WAIT && scan < 10.0f * (float)q->n_terms * MT_COST_CHOICE) pr->scanned++;
        pr->wait = pr->scanned;
        return MT_SCAN_ALL;
    }
    pr->scanned = 0;
    return pr->n_rows && by_rows < by_postings ? MT_BY_ROWS : MT_BY_POSTINGS;
}

/* Candidates: documents whose bytes, over all terms, reach `least`; returns how many. */
static int64_t mt_find_by_rows(const mt_query *q, const mt_pruner *pr, mt_span *v, int least, mt_scratch *s) {
    const uint8_t *rows[MT_PRUNED_TERMS];
    int j;
    for (j = 0; j < pr->n_rows; j++) rows[j] = q->terms[pr->with_row[j]].bounds->row + v->w * MT_ROW;
    for (j = 0; j < q->n_terms; j++) {
        const mt_term *t = &q->terms[j];
        if (!t->bounds->row) mt_scan_bytes(t, v->limit, s->sums);
    }
    return mt_narrow(q, v,
                     MT_SIFT[mt_path](s->sums, (v->limit + 127) / 128 * 128, rows, pr->luts, pr->n_rows, least, s->ids,
                                      s->bytes),
                     s);
}

/* The same from the postings of the essential terms; the rest is looked up for what they leave possible. */
static int64_t mt_find_by_postings(const mt_query *q, mt_pruner *pr, mt_span *v, int least, mt_scratch *s) {
    const int need = mt_without(least, pr->rest * pr->scale), reach = need > 1 ? need : 1;
    int64_t i, n = 0;
    int j;
    for (j = (int)q->n_terms - 1; j >= pr->n_rest; j--) {
        n = mt_reach(&q->terms[pr->order[j]], v->limit, (uint32_t)reach, s->sums, s->ids, n);
    }
    for (i = 0; i < n; i++) s->bytes[i] = s->sums[s->ids[i]];
    if (mt_clears_each(pr->essential, (float)v->limit / MT_WINDOW))
        for (j = pr->n_rest; j < q->n_terms; j++) mt_clear_bytes(&q->terms[pr->order[j]], v->limit, s->sums);
    else
        memset(s->sums, 0, v->limit);
    pr->touched = 0.5f * (pr->touched + (float)n / (pr->guess + 1.0f));
    n = mt_narrow(q, v, n, s);
    return pr->n_rest ? mt_complete(q, pr, v, 1, least, n, s) : n;
}

/* The same from the documents that the filter leaves. */
static int64_t mt_find_each(const mt_query *q, mt_pruner *pr, const mt_span *v, int least, mt_scratch *s) {
    const int64_t n = mt_list_span(q, v, s);
    memset(s->bytes, 0, (size_t)n);
    pr->n_rest = (int)q->n_terms;
    return mt_complete(q, pr, v, 0, least, n, s);
}

/* Skip the span or prune it; 0 if it is to be scanned. */
static int mt_prune_span(const mt_query *q, mt_pruner *pr, mt_span *v, mt_scratch *s, mt_top *top) {
    const float k = (float)top->k, due = pr->seen ? k * (float)v->n_left / (float)pr->seen : 2.0f * k;
    float bar = mt_least(q, top);
    int64_t n;
    int least;
    mt_plan plan;
    pr->seen += v->n_left;
    if (pr->wait > 0) {
        pr->wait--;
        return 0;
    }
    /* Sums in another order differ by at most a few rounding errors. */
    bar -= (float)(q->n_terms + 4) * 1.2e-7f * (bar + fabsf(q->base));
    if (!(bar > 1e-37f && bar < 1e37f)) return 0;
    mt_part_terms(q, pr, v->w, bar);
    if (pr->n_rest == q->n_terms) return 1;
    mt_seek_terms(q, pr, v->w);
    plan = mt_choose(q, pr, v, bar, due);
    if (plan == MT_SCAN_ALL || (!(pr->scale * bar <= 254.0f && pr->scale > 0.0f) && !mt_set_scale(q, pr, bar)))
        return 0;
    least = (int)(pr->scale * bar * (1.0f - 1e-6f));
    n = plan == MT_EACH      ? mt_find_each(q, pr, v, least, s)
        : plan == MT_BY_ROWS ? mt_find_by_rows(q, pr, v, least, s)
                             : mt_find_by_postings(q, pr, v, least, s);
    pr->excess = 0.5f * (pr->excess + (float)n / due);
    if (pr->excess < MT_LEAST_EXCESS) pr->excess = MT_LEAST_EXCESS;
    /* What remains has passed; the bytes of admitted ids are gone. */
    v->passes = NULL;
    mt_offer_all(q, v, n, s, top);
    return 1;
}

#endif
