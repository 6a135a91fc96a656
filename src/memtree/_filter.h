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

/* Ids of the documents that the masks (NULL: all) leave, no more than `room` (someone may write to a mask meanwhile), of
 * which one is spare; returns how many. */
static int64_t mt_list_left(const uint8_t *mask, const float *weights, int64_t n, uint32_t *ids, int64_t room) {
    int64_t i, count = 0;
    for (i = 0; i < n && count < room - 1;) {
        uint64_t eight;
        if (i + 8 <= n) {
            /* Most of a mask that is listed is 0. */
            memcpy(&eight, mask ? (const void *)(mask + i) : (const void *)(weights + i), 8);
            if (!eight) {
                i += mask ? 8 : 2;
                continue;
            }
        }
        ids[count] = (uint32_t)i;
        count += (!mask || mask[i]) && (!weights || weights[i] > 0.0f);
        i++;
    }
    return count;
}

#endif
