/* Hot loops of the kernel: add a run of postings to the accumulators of one window, find accumulators that matter. */
#ifndef MEMTREE_SCAN_H
#define MEMTREE_SCAN_H

#include "_postings.h"

/* The loop of mt_scan for one width of ids. The table covers nearly all postings; the rest is worked out apart. */
#define MT_SCAN_LOOP(ID_TYPE, IDS, MASK)                                                                       \
    {                                                                                                          \
        const ID_TYPE *ids = IDS;                                                                              \
        for (i = lo; i < hi; i++) {                                                                            \
            uint32_t id = ids[i] & (MASK), f = tf[i];                                                          \
            if (MT_UNLIKELY(id >= limit)) continue;                                                            \
            if (MT_UNLIKELY(f >= MT_TABLE_TF))                                                                 \
                acc[id] += coef * mt_slow_factor(p, norms, pos0 + i, (uint32_t)doc0 + id);                     \
            else                                                                                               \
                acc[id] += coef * factor[(uint32_t)code[id] * MT_TABLE_TF + f];                                \
        }                                                                                                      \
    }

/* acc[id] += coef * saturation for the postings [lo, hi) of one window; ids from `limit` on are corrupt and skipped.
 * `doc0` is the window's first document. */
static void mt_scan(const mt_postings *p, const mt_term *t, int64_t lo, int64_t hi, int64_t doc0, uint32_t limit,
                    float *MT_RESTRICT acc) {
    const mt_norms *norms = t->norms;
    const uint16_t *MT_RESTRICT code = norms->code + doc0;
    const float *MT_RESTRICT factor = norms->factor;
    const uint8_t *MT_RESTRICT tf = t->tf;
    const float coef = t->coef;
    const int64_t pos0 = t->pos0;
    int64_t i;
    if (MT_UNLIKELY(!norms->coded)) {
        for (i = lo; i < hi; i++) {
            uint32_t id = mt_local_id(t, i);
            if (id < limit) acc[id] += coef * mt_factor(p, norms, pos0 + i, (uint32_t)doc0 + id);
        }
    } else if (t->ids32) {
        MT_SCAN_LOOP(uint32_t, t->ids32, MT_WINDOW - 1)
    } else {
        MT_SCAN_LOOP(uint16_t, t->ids16, 0xFFFF)
    }
}

/* Note which documents of a window a term reaches. */
static void mt_mark(const mt_term *t, int64_t lo, int64_t hi, uint32_t limit, uint8_t *marks) {
    int64_t i;
    for (i = lo; i < hi; i++) {
        uint32_t id = mt_local_id(t, i);
        if (id < limit) marks[id] = 1;
    }
}

/* Move the accumulators of at least `least` (above 0) to `ids` (ascending) and `values`, clear all; returns how many.
 * `n` is a multiple of 64. One loop in three widths: the comparison gives the same answer in each. */
#define MT_COLLECT_MASK(I, MASK)                                                                               \
    {                                                                                                          \
        uint64_t mask = MASK;                                                                                  \
        for (; mask; mask &= mask - 1) {                                                                       \
            int bit = mt_lowest_bit(mask);                                                                     \
            ids[count] = (uint16_t)((I) + bit);                                                                \
            values[count++] = acc[(I) + bit];                                                                  \
        }                                                                                                      \
    }

static int64_t mt_collect_portable(float *acc, int64_t n, float least, uint16_t *ids, float *values) {
    int64_t i, count = 0;
    int j;
    for (i = 0; i < n; i += 16) {
        int any = 0;
        for (j = 0; j < 16; j++) any |= acc[i + j] >= least;
        if (any)
            for (j = 0; j < 16; j++)
                if (acc[i + j] >= least) {
                    ids[count] = (uint16_t)(i + j);
                    values[count++] = acc[i + j];
                }
        memset(acc + i, 0, 16 * sizeof(float));
    }
    return count;
}

typedef int64_t (*mt_collect_loop)(float *, int64_t, float, uint16_t *, float *);
enum { MT_PORTABLE = 0, MT_AVX2 = 1, MT_AVX512 = 2 };

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#include <immintrin.h>
#define mt_lowest_bit __builtin_ctzll

__attribute__((target("avx2"))) static int64_t mt_collect_avx2(float *acc, int64_t n, float least, uint16_t *ids,
                                                               float *values) {
    int64_t i, count = 0;
    const __m256 bar = _mm256_set1_ps(least), zero = _mm256_setzero_ps();
    for (i = 0; i < n; i += 32) {
        __m256 a = _mm256_loadu_ps(acc + i), b = _mm256_loadu_ps(acc + i + 8);
        __m256 c = _mm256_loadu_ps(acc + i + 16), d = _mm256_loadu_ps(acc + i + 24);
        MT_COLLECT_MASK(i, (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, bar, _CMP_GE_OQ)) |
                               (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(b, bar, _CMP_GE_OQ)) << 8 |
                               (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(c, bar, _CMP_GE_OQ)) << 16 |
                               (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(d, bar, _CMP_GE_OQ)) << 24)
        _mm256_storeu_ps(acc + i, zero);
        _mm256_storeu_ps(acc + i + 8, zero);
        _mm256_storeu_ps(acc + i + 16, zero);
        _mm256_storeu_ps(acc + i + 24, zero);
    }
    return count;
}

__attribute__((target("avx512f"))) static int64_t mt_collect_avx512(float *acc, int64_t n, float least,
                                                                    uint16_t *ids, float *values) {
    int64_t i, count = 0;
    const __m512 bar = _mm512_set1_ps(least), zero = _mm512_setzero_ps();
    for (i = 0; i < n; i += 64) {
        __m512 a = _mm512_loadu_ps(acc + i), b = _mm512_loadu_ps(acc + i + 16);
        __m512 c = _mm512_loadu_ps(acc + i + 32), d = _mm512_loadu_ps(acc + i + 48);
        MT_COLLECT_MASK(i, (uint64_t)_mm512_cmp_ps_mask(a, bar, _CMP_GE_OQ) |
                               (uint64_t)_mm512_cmp_ps_mask(b, bar, _CMP_GE_OQ) << 16 |
                               (uint64_t)_mm512_cmp_ps_mask(c, bar, _CMP_GE_OQ) << 32 |
                               (uint64_t)_mm512_cmp_ps_mask(d, bar, _CMP_GE_OQ) << 48)
        _mm512_storeu_ps(acc + i, zero);
        _mm512_storeu_ps(acc + i + 16, zero);
        _mm512_storeu_ps(acc + i + 32, zero);
        _mm512_storeu_ps(acc + i + 48, zero);
    }
    return count;
}

static const mt_collect_loop MT_COLLECT[] = {mt_collect_portable, mt_collect_avx2, mt_collect_avx512};

static int mt_best_path(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? MT_AVX512 : __builtin_cpu_supports("avx2") ? MT_AVX2 : MT_PORTABLE;
}
#else
static const mt_collect_loop MT_COLLECT[] = {mt_collect_portable};
static int mt_best_path(void) { return MT_PORTABLE; }
#endif

/* Chosen once at import; tests set it to compare the paths. */
static int mt_path = MT_PORTABLE;

#endif
