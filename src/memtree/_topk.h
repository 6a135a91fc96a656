/* The k best hits so far: higher score first, then lower document id.
 *
 * A hit is one integer, larger for a better hit: the score's bits in an order-preserving form, then the complement of
 * the id. Few hits are kept sorted; many are gathered, and halved by a selection when there is no more room.
 */
#ifndef MEMTREE_TOPK_H
#define MEMTREE_TOPK_H

#include <stdint.h>
#include <string.h>

/* Up to this k, hits are kept sorted. */
#define MT_SORTED_TOP 48
/* Most hits beyond k that are gathered. */
#define MT_GATHERED (1 << 14)

typedef struct {
    uint64_t *hits;
    int64_t n, k;
    uint64_t worst; /* a hit must be above it; 0 until k are held */
    uint32_t seed;
} mt_top;

/* How many hits there must be room for. */
static inline int64_t mt_top_room(int64_t k) { return k <= MT_SORTED_TOP ? k : k + (k < MT_GATHERED ? k : MT_GATHERED); }

static inline uint64_t mt_hit(float score, uint32_t doc) {
    uint32_t bits;
    score += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &score, 4);
    bits ^= bits >> 31 ? 0xFFFFFFFFu : 0x80000000u;
    return (uint64_t)bits << 32 | (uint32_t)~doc;
}

static inline uint32_t mt_hit_doc(uint64_t hit) { return ~(uint32_t)hit; }

static inline float mt_hit_score(uint64_t hit) {
    uint32_t bits = (uint32_t)(hit >> 32);
    float score;
    bits ^= bits >> 31 ? 0x80000000u : 0xFFFFFFFFu;
    memcpy(&score, &bits, 4);
    return score;
}

/* Order hits [lo, hi) around one of them, the better first; returns its place. The pivot is a median of three taken at
 * random: no order of hits makes this slow. */
static int64_t mt_partition(mt_top *top, int64_t lo, int64_t hi) {
    uint64_t *hits = top->hits, a, b, c, pivot;
    int64_t at[3], i, place = lo;
    int j;
    for (j = 0; j < 3; j++) {
        top->seed = top->seed * 1664525u + 1013904223u;
        at[j] = lo + (int64_t)((uint64_t)(hi - lo) * top->seed >> 32);
    }
    a = hits[at[0]], b = hits[at[1]], c = hits[at[2]];
    i = (a < b) == (b < c) ? at[1] : (b < a) == (a < c) ? at[0] : at[2];
    pivot = hits[i];
    hits[i] = hits[hi - 1];
    for (i = lo; i < hi - 1; i++) {
        uint64_t hit = hits[i];
        hits[i] = hits[place];
        hits[place] = hit;
        place += hit > pivot;
    }
    hits[hi - 1] = hits[place];
    hits[place] = pivot;
    return place;
}

/* Keep the k best. */
static void mt_select(mt_top *top) {
    int64_t lo = 0, hi = top->n;
    if (top->n <= top->k) return;
    while (hi - lo > 1) {
        int64_t place = mt_partition(top, lo, hi);
        if (place == top->k - 1) break;
        if (place < top->k)
            lo = place + 1;
        else
            hi = place;
    }
    top->n = top->k;
    top->worst = top->hits[top->k - 1];
}

/* The bounds of mt_select leave the k-th best in its place: all before it are better. */
static void mt_sort(mt_top *top, int64_t lo, int64_t hi) {
    while (hi - lo > 16) {
        int64_t place = mt_partition(top, lo, hi);
        if (place - lo < hi - place) {
            mt_sort(top, lo, place);
            lo = place + 1;
        } else {
            mt_sort(top, place + 1, hi);
            hi = place;
        }
    }
    for (; lo < hi; lo++) {
        uint64_t *best = top->hits + lo, hit = *best;
        int64_t i;
        for (i = lo + 1; i < hi; i++) {
            uint64_t other = top->hits[i];
            top->hits[i] = other > hit ? hit : other;
            hit = other > hit ? other : hit;
        }
        *best = hit;
    }
}

static void mt_offer(mt_top *top, float score, uint32_t doc) {
    const uint64_t hit = mt_hit(score, doc);
    int64_t i;
    if (hit <= top->worst) return;
    if (top->k <= MT_SORTED_TOP) {
        for (i = top->n < top->k ? top->n++ : top->k - 1; i > 0 && top->hits[i - 1] < hit; i--)
            top->hits[i] = top->hits[i - 1];
        top->hits[i] = hit;
        if (top->n == top->k) top->worst = top->hits[top->k - 1];
        return;
    }
    top->hits[top->n++] = hit;
    if (top->n == top->k) {
        for (top->worst = hit, i = 0; i < top->n; i++) top->worst = top->hits[i] < top->worst ? top->hits[i] : top->worst;
    } else if (top->n == mt_top_room(top->k)) {
        mt_select(top);
    }
}

/* Leave the k best, best first. */
static void mt_finish(mt_top *top) {
    if (top->k <= MT_SORTED_TOP) return;
    mt_select(top);
    mt_sort(top, 0, top->n);
}

#endif
