/* Passes over the masks of a filter, which are as long as the collection. */
#ifndef MEMTREE_FILTER_H
#define MEMTREE_FILTER_H

#include "_postings.h"

/* Count the documents of each window that a byte mask leaves. */
static void mt_count_bytes(const uint8_t *mask, int64_t n, uint32_t *left) {
    int64_t start, i;
    for (start = 0; start < n; start += MT_WINDOW) {
        const int64_t size = n - start < MT_WINDOW ? n - start : MT_WINDOW;
        uint32_t count = 0;
        for (i = 0; i < size; i++) count += mask[start + i] != 0;
        left[start >> MT_WINDOW_BITS] = count;
    }
}

/* The same for weights; returns the largest, or -1 and where it stands if one is negative or not finite. Weights that
 * are allowed are ordered as their bits are. */
static float mt_count_weights(const float *weights, int64_t n, uint32_t *left, int64_t *bad) {
    int32_t most = 0;
    int64_t start, i;
    float largest;
    for (start = 0; start < n; start += MT_WINDOW) {
        const int64_t size = n - start < MT_WINDOW ? n - start : MT_WINDOW;
        const float *at = weights + start;
        int32_t least = 0, above = 0;
        uint32_t count = 0;
        for (i = 0; i < size; i++) {
            int32_t bits;
            memcpy(&bits, at + i, 4);
            count += bits != 0;
            least = bits < least ? bits : least;
            above = bits > above ? bits : above;
        }
        left[start >> MT_WINDOW_BITS] = count;
        if (least < 0 || above > 0x7F7FFFFF)
            for (i = 0; i < size; i++)
                if (!(at[i] >= 0.0f && at[i] <= 3.4028235e38f)) {
                    *bad = start + i;
                    return -1.0f;
                }
        most = above > most ? above : most;
    }
    memcpy(&largest, &most, 4);
    return largest;
}

/* Whether eight documents from `i` on are all left out, for sure. */
static inline int mt_eight_out(const uint8_t *mask, const float *weights, int64_t i) {
    uint64_t words[4];
    if (mask) {
        memcpy(words, mask + i, 8);
        return words[0] == 0;
    }
    memcpy(words, weights + i, 32);
    return (words[0] | words[1] | words[2] | words[3]) == 0;
}

/* Ids of the documents that the masks (NULL: all) leave, no more than `room` (someone may write to a mask meanwhile), of
 * which eight are spare; returns how many. */
static int64_t mt_list_left(const uint8_t *mask, const float *weights, int64_t n, uint32_t *ids, int64_t room) {
    int64_t i, j, count = 0;
    for (i = 0; i < n && count < room - 8; i += 8) {
        const int64_t end = i + 8 < n ? i + 8 : n;
        if (end == i + 8 && mt_eight_out(mask, weights, i)) continue;
        for (j = i; j < end; j++) {
            ids[count] = (uint32_t)j;
            count += (!mask || mask[j]) && (!weights || weights[j] > 0.0f);
        }
    }
    return count;
}

/* Check ids; `ascends` tells whether they ascend strictly. Returns the place of one that is out of range, or -1. */
static int64_t mt_check_ids(const int64_t *ids, int64_t n, int64_t n_docs, int *ascends) {
    int64_t i;
    int rises = 1, fits = 1;
    for (i = 0; i < n; i++) {
        fits &= (uint64_t)ids[i] < (uint64_t)n_docs;
        rises &= i == 0 || ids[i] > ids[i - 1];
    }
    *ascends = rises;
    for (i = 0; !fits && i < n; i++)
        if ((uint64_t)ids[i] >= (uint64_t)n_docs) return i;
    return -1;
}

static void mt_mark_ids(const int64_t *ids, int64_t n, uint8_t *mask) {
    int64_t i;
    for (i = 0; i < n; i++) mask[ids[i]] = 1;
}

#endif
