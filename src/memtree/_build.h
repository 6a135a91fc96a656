/* Building postings: a counting sort by term of rows of term ids, or the packing of ready columns. */
#ifndef MEMTREE_BUILD_H
#define MEMTREE_BUILD_H

#include "_postings.h"

/* What bitmaps may cost, in hundredths of a byte a posting: with the rest, a posting stays under 5 bytes on file. */
#define MT_BITMAP_BUDGET 100
/* From this df a window on, offsets (4 bytes a window) and 2-byte ids are no larger than 4-byte ids. */
#define MT_WINDOWED_DF 4
#define MT_NO_TERM_DF ((int64_t)1 << 62)
/* Terms of a row come in any order: what is needed soon is fetched this many ahead. */
#define MT_AHEAD 16
#if defined(_MSC_VER) && !defined(__clang__)
#define MT_PREFETCH(address) ((void)(address))
#define MT_PREFETCH_FOR_WRITE(address) ((void)(address))
#else
#define MT_PREFETCH(address) __builtin_prefetch(address)
#define MT_PREFETCH_FOR_WRITE(address) __builtin_prefetch(address, 1)
#endif

static int mt_descending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Decide the layout from the document frequencies; fills indptr and block. Returns 0, or -1 without memory. */
static int mt_plan(mt_postings *p, const uint32_t *df, int64_t *indptr, int64_t *block) {
    int64_t t, n = 0, m, floor;
    uint32_t *candidates;
    indptr[0] = 0;
    for (t = 0; t < p->n_terms; t++) indptr[t + 1] = indptr[t] + df[t];
    p->n_postings = indptr[p->n_terms];
    p->n_windows = mt_windows(p->n_docs);
    p->windowed_min = MT_WINDOWED_DF * (p->n_windows > 0 ? p->n_windows : 1);
    p->bitmap_min = MT_NO_TERM_DF;
    /* The most frequent terms get bitmaps, as many as the budget allows; sparser than 1 in 512 a search is as good. */
    m = p->n_windows ? p->n_postings * MT_BITMAP_BUDGET / 100 / (p->n_windows * MT_BITMAP) : 0;
    floor = p->n_docs / 512 > p->windowed_min ? p->n_docs / 512 : p->windowed_min;
    if (m > 0) {
        for (t = 0; t < p->n_terms; t++) n += df[t] >= floor;
        candidates = (uint32_t *)malloc(sizeof(uint32_t) * (size_t)(n + 1));
        if (!candidates) return -1;
        for (n = t = 0; t < p->n_terms; t++)
            if (df[t] >= floor) candidates[n++] = df[t];
        qsort(candidates, (size_t)n, sizeof(uint32_t), mt_descending);
        if (n <= m)
            p->bitmap_min = floor;
        else
            p->bitmap_min = (int64_t)candidates[m] + 1; /* ties at the border all stay out */
        free(candidates);
    }
    block[0] = 0;
    for (t = 0; t < p->n_terms; t++) block[t + 1] = block[t] + (df[t] ? mt_block_size(p, df[t]) : 0);
    p->ids_size = block[p->n_terms];
    return 0;
}

/* Where the second pass is in the list of a term; one cache line, as terms come in any order. */
typedef struct {
    uint8_t *id, *tf; /* of the next posting */
    uint32_t last;    /* document + 1 of the posting before */
    uint32_t id_size; /* 2 or 4 bytes */
} mt_cursor;

/* Count the documents of each term; `cursors` (n_terms, zeroed) are left for mt_fill_rows to begin with.
 * `counts`: how often each entry counts; NULL: once. */
static int mt_count_rows(int64_t n_docs, int64_t n_terms, const int64_t *row, const uint32_t *terms,
                         const uint32_t *counts, uint32_t *df, mt_cursor *cursors, int64_t *bad) {
    int64_t d, i;
    for (d = 0; d < n_docs; d++)
        for (i = row[d]; i < row[d + 1]; i++) {
            uint32_t t = terms[i];
            /* A prefetch never faults, so that neither the end nor the id matters. */
            MT_PREFETCH(&cursors[terms[i + MT_AHEAD < row[n_docs] ? i + MT_AHEAD : i]]);
            if (t >= n_terms) {
                *bad = i;
                return -1;
            }
            if (counts && !counts[i]) continue;
            /* Here and below without a branch: whether a term repeats within its document would be guessed wrong. */
            cursors[t].id_size += cursors[t].last != (uint32_t)(d + 1);
            cursors[t].last = (uint32_t)(d + 1);
        }
    for (i = 0; i < n_terms; i++) df[i] = cursors[i].id_size;
    return 0;
}

typedef struct {
    int64_t *pos;
    uint32_t *tf;
    int64_t n, room;
} mt_big_list;

static int mt_big_append(mt_big_list *big, int64_t pos, uint32_t tf) {
    if (big->n == big->room) {
        int64_t room = big->room ? 2 * big->room : 64;
        int64_t *new_pos = (int64_t *)realloc(big->pos, sizeof(int64_t) * (size_t)room);
        uint32_t *new_tf;
        if (!new_pos) return -1;
        big->pos = new_pos;
        new_tf = (uint32_t *)realloc(big->tf, sizeof(uint32_t) * (size_t)room);
        if (!new_tf) return -1;
        big->tf = new_tf;
        big->room = room;
    }
    big->pos[big->n] = pos;
    big->tf[big->n++] = tf;
    return 0;
}

typedef struct {
    int64_t pos;
    uint32_t tf;
} mt_big_pair;

static int mt_big_order(const void *a, const void *b) {
    int64_t x = ((const mt_big_pair *)a)->pos, y = ((const mt_big_pair *)b)->pos;
    return x > y ? 1 : x < y ? -1 : 0;
}

static int mt_big_sort(mt_big_list *big) {
    int64_t i;
    mt_big_pair *pairs = (mt_big_pair *)malloc(sizeof(mt_big_pair) * (size_t)(big->n + 1));
    if (!pairs) return -1;
    for (i = 0; i < big->n; i++) pairs[i].pos = big->pos[i], pairs[i].tf = big->tf[i];
    qsort(pairs, (size_t)big->n, sizeof(mt_big_pair), mt_big_order);
    for (i = 0; i < big->n; i++) big->pos[i] = pairs[i].pos, big->tf[i] = pairs[i].tf;
    free(pairs);
    return 0;
}

/* Where the parts of a term's block lie, for writing. */
typedef struct {
    uint32_t *offsets;
    uint8_t *bitmaps;
    uint16_t *ids16;
    uint32_t *ids32;
} mt_block_parts;

static inline mt_block_parts mt_parts(const mt_postings *p, uint8_t *ids, int64_t term) {
    mt_block_parts parts = {0, 0, 0, 0};
    int64_t df = p->indptr[term + 1] - p->indptr[term];
    uint8_t *at = ids + p->block[term];
    if (df < p->windowed_min) {
        parts.ids32 = (uint32_t *)at;
        return parts;
    }
    parts.offsets = (uint32_t *)at;
    at += ((p->n_windows + 1) * 4 + 7) / 8 * 8;
    if (df >= p->bitmap_min) {
        parts.bitmaps = at;
        at += p->n_windows * MT_BITMAP;
    }
    parts.ids16 = (uint16_t *)at;
    return parts;
}

/* Set the bits of one window of a term with bitmaps, and each word's rank, once its ids are there. */
static void mt_finish_window(const mt_block_parts *parts, int64_t window) {
    uint64_t *bits = (uint64_t *)(parts->bitmaps + window * MT_BITMAP);
    uint16_t *rank = (uint16_t *)(bits + MT_WORDS);
    uint16_t before = 0;
    int64_t i;
    memset(bits, 0, MT_BITMAP);
    for (i = parts->offsets[window]; i < (int64_t)parts->offsets[window + 1]; i++)
        bits[(parts->ids16[i] & (MT_WINDOW - 1)) >> 6] |= (uint64_t)1 << (parts->ids16[i] & 63);
    for (i = 0; i < MT_WORDS; i++) {
        rank[i] = before;
        before = (uint16_t)(before + mt_popcount(bits[i]));
    }
}

static void mt_finish_bitmaps(const mt_postings *p, uint8_t *ids) {
    int64_t t, w;
    for (t = 0; t < p->n_terms; t++) {
        int64_t df = p->indptr[t + 1] - p->indptr[t];
        mt_block_parts parts;
        if (df < p->bitmap_min || df < p->windowed_min) continue;
        parts = mt_parts(p, ids, t);
        for (w = 0; w < p->n_windows; w++) mt_finish_window(&parts, w);
    }
}

/* Write a document's id of 2 or 4 bytes, as two halves, the lower one last: if it is of 2 bytes, both go to the same
 * place. Without a branch, as terms come in any order and it would be guessed wrong. */
static inline void mt_put_id(uint8_t *at, uint32_t size, uint32_t doc) {
    uint16_t high = (uint16_t)(doc >> 16), low = (uint16_t)doc;
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(at, &high, 2);
    memcpy(at + size - 2, &low, 2);
#else
    memcpy(at + size - 2, &high, 2);
    memcpy(at, &low, 2);
#endif
}

/* Second pass of the counting sort: place each (term, document) pair. */
static int mt_fill_rows(const mt_postings *p, const int64_t *row, const uint32_t *terms, const uint32_t *counts,
                        uint8_t *ids, uint8_t *tf, mt_cursor *cursors, mt_big_list *big) {
    int64_t d, i, t, w;
    int64_t n_windowed = 0, n = row[p->n_docs];
    uint32_t *slot = NULL, *windowed = NULL; /* slot: where a large frequency is counted */
    int status = -1;
    for (t = 0; t < p->n_terms; t++) n_windowed += p->indptr[t + 1] - p->indptr[t] >= p->windowed_min;
    windowed = (uint32_t *)malloc(sizeof(uint32_t) * (size_t)(n_windowed + 1));
    if (!windowed) return -1;
    for (n_windowed = t = 0; t < p->n_terms; t++) {
        mt_block_parts parts = mt_parts(p, ids, t);
        if (!parts.ids32) windowed[n_windowed++] = (uint32_t)t;
        cursors[t].id = parts.ids32 ? (uint8_t *)parts.ids32 : (uint8_t *)parts.ids16;
        cursors[t].id_size = parts.ids32 ? 4 : 2;
        cursors[t].tf = tf + p->indptr[t];
        cursors[t].last = 0;
    }
    for (w = 0; w <= p->n_windows; w++) {
        int64_t end = (w + 1) << MT_WINDOW_BITS;
        for (i = 0; i < n_windowed; i++) {
            t = windowed[i];
            mt_parts(p, ids, t).offsets[w] = (uint32_t)(cursors[t].tf - tf - p->indptr[t]);
        }
        if (end > p->n_docs) end = p->n_docs;
        for (d = w << MT_WINDOW_BITS; d < end; d++)
            for (i = row[d]; i < row[d + 1]; i++) {
                uint32_t term = terms[i], count = counts ? counts[i] : 1, before;
                mt_cursor *c = &cursors[term];
                int is_new;
                /* First the cursor; when it is there, the places it points to. */
                const mt_cursor *soon = &cursors[terms[i + MT_AHEAD < n ? i + MT_AHEAD : i]];
                MT_PREFETCH(&cursors[terms[i + 2 * MT_AHEAD < n ? i + 2 * MT_AHEAD : i]]);
                MT_PREFETCH_FOR_WRITE(soon->id);
                MT_PREFETCH_FOR_WRITE(soon->tf);
                if (!count) continue;
                is_new = c->last != (uint32_t)(d + 1);
                c->last = (uint32_t)(d + 1);
                c->id += is_new ? c->id_size : 0;
                c->tf += is_new;
                mt_put_id(c->id - c->id_size, c->id_size, (uint32_t)d);
                before = is_new ? 0 : c->tf[-1];
                if (MT_UNLIKELY(before == MT_BIG_TF)) {
                    big->tf[slot[term]] += count;
                    continue;
                }
                count += before;
                c->tf[-1] = (uint8_t)(count < MT_BIG_TF ? count : MT_BIG_TF);
                if (MT_UNLIKELY(count >= MT_BIG_TF)) {
                    if (!slot && !(slot = (uint32_t *)malloc(sizeof(uint32_t) * (size_t)p->n_terms))) goto done;
                    slot[term] = (uint32_t)big->n;
                    if (mt_big_append(big, c->tf - 1 - tf, count)) goto done;
                }
            }
    }
    mt_finish_bitmaps(p, ids);
    status = mt_big_sort(big);
done:
    free(slot);
    free(windowed);
    return status;
}

/* Pack ready columns: ids ascending within each column (checked by the caller), frequencies of 1 and more. */
static int mt_fill_columns(const mt_postings *p, const uint32_t *docs, const uint32_t *counts, uint8_t *ids,
                           uint8_t *tf, mt_big_list *big) {
    int64_t t, i, w;
    for (t = 0; t < p->n_terms; t++) {
        int64_t start = p->indptr[t], df = p->indptr[t + 1] - start;
        mt_block_parts parts = mt_parts(p, ids, t);
        for (i = 0; i < df; i++) {
            uint32_t count = counts[start + i];
            if (parts.ids32)
                parts.ids32[i] = docs[start + i];
            else
                parts.ids16[i] = (uint16_t)docs[start + i];
            tf[start + i] = (uint8_t)(count < MT_BIG_TF ? count : MT_BIG_TF);
            if (count >= MT_BIG_TF && mt_big_append(big, start + i, count)) return -1;
        }
        if (parts.offsets)
            for (i = w = 0; w <= p->n_windows; w++) {
                while (i < df && (int64_t)docs[start + i] < w << MT_WINDOW_BITS) i++;
                parts.offsets[w] = (uint32_t)i;
            }
    }
    mt_finish_bitmaps(p, ids);
    return 0;
}

#endif
