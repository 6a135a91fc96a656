/* Hot loops of the kernel: add a run of postings to the accumulators of one span, find accumulators that matter. */
#ifndef MEMTREE_SCAN_H
#define MEMTREE_SCAN_H

#include "_bounds.h"

/* Do something with each posting i of the span, and its `id` within it; ids from `limit` on are corrupt and skipped. */
#define MT_EACH_POSTING(...)                                                                                   \
    {                                                                                                          \
        const uint16_t *ids16 = t->ids16;                                                                      \
        const uint32_t *ids32 = t->ids32, mask = t->span - 1;                                                  \
        const int64_t lo = t->lo, hi = t->hi;                                                                  \
        int64_t i;                                                                                             \
        if (ids32) {                                                                                           \
            for (i = lo; i < hi; i++) {                                                                        \
                const uint32_t id = ids32[i] & mask;                                                           \
                if (MT_UNLIKELY(id >= limit)) continue;                                                        \
                __VA_ARGS__                                                                                    \
            }                                                                                                  \
        } else {                                                                                               \
            for (i = lo; i < hi; i++) {                                                                        \
                const uint32_t id = ids16[i] & mask;                                                           \
                if (MT_UNLIKELY(id >= limit)) continue;                                                        \
                __VA_ARGS__                                                                                    \
            }                                                                                                  \
        }                                                                                                      \
    }

/* acc[id] += coef * saturation for the term's postings in the span that starts with document `doc0`. */
static void mt_scan(const mt_postings *p, const mt_term *t, int64_t doc0, uint32_t limit, float *MT_RESTRICT acc) {
    const mt_norms *norms = t->norms;
    const uint16_t *MT_RESTRICT code = norms->code + doc0;
    const float *MT_RESTRICT factor = norms->factor;
    const uint8_t *MT_RESTRICT tf = t->tf;
    const float coef = t->coef;
    const int64_t pos0 = t->pos0;
    if (MT_UNLIKELY(!norms->coded))
        MT_EACH_POSTING({ acc[id] += coef * mt_factor(p, norms, pos0 + i, (uint32_t)doc0 + id); })
    else
        /* The table covers nearly all postings; the rest is worked out apart. */
        MT_EACH_POSTING({
            const uint32_t f = tf[i];
            if (MT_UNLIKELY(f >= MT_TABLE_TF))
                acc[id] += coef * mt_slow_factor(p, norms, pos0 + i, (uint32_t)doc0 + id);
            else
                acc[id] += coef * factor[(uint32_t)code[id] * MT_TABLE_TF + f];
        })
}

/* The same in bytes that saturate: sums[id] += what the posting's level stands for, which is never too little. */
static void mt_scan_bytes(const mt_term *t, uint32_t limit, uint8_t *MT_RESTRICT sums) {
    const uint8_t *MT_RESTRICT levels = t->bounds->levels;
    const uint32_t step = t->step;
    MT_EACH_POSTING({
        const uint32_t sum = sums[id] + mt_level_step(levels[i], step);
        sums[id] = (uint8_t)(sum < 255 ? sum : 255);
    })
}

/* The same, and list the documents that reach `need` (above 0) by it. `reached` holds `n` of them, each once; returns
 * how many then. */
static int64_t mt_reach(const mt_term *t, uint32_t limit, uint32_t need, uint8_t *MT_RESTRICT sums,
                        uint16_t *MT_RESTRICT reached, int64_t n) {
    const uint8_t *MT_RESTRICT levels = t->bounds->levels;
    const uint32_t step = t->step;
    MT_EACH_POSTING({
        const uint32_t before = sums[id], sum = before + mt_level_step(levels[i], step);
        sums[id] = (uint8_t)(sum < 255 ? sum : 255);
        reached[n] = (uint16_t)id;
        n += (before < need) & (sum >= need);
    })
    return n;
}

static void mt_clear_bytes(const mt_term *t, uint32_t limit, uint8_t *MT_RESTRICT bytes) {
    MT_EACH_POSTING({ bytes[id] = 0; })
}

static void mt_clear_sums(const mt_term *t, uint32_t limit, float *MT_RESTRICT sums) {
    MT_EACH_POSTING({ sums[id] = 0.0f; })
}

/* Note which documents of a span a term reaches. */
static void mt_mark(const mt_term *t, uint32_t limit, uint8_t *MT_RESTRICT marks) {
    MT_EACH_POSTING({ marks[id] = 1; })
}

/* Move the accumulators of at least `least` (above 0) to `ids` (ascending) and `values`, clear all; returns how many.
 * `n` is a multiple of 64. One loop in three widths: the comparison gives the same answer in each. */
#define MT_COLLECT_MASK(I, MASK, VALUES)                                                                       \
    {                                                                                                          \
        uint64_t mask = MASK;                                                                                  \
        for (; mask; mask &= mask - 1) {                                                                       \
            int bit = mt_lowest_bit(mask);                                                                     \
            ids[count] = (uint16_t)((I) + bit);                                                                \
            values[count++] = (VALUES)[bit];                                                                   \
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

/* Add the levels' values of `n_rows` rows to the bytes of a span's `n` documents, which saturate; move those of at
 * least `least` (above 0) to `ids` (ascending) and `values`, clear all; returns how many. `n` is a multiple of 128. */
static int64_t mt_sift_portable(uint8_t *sums, int64_t n, const uint8_t *const *rows, const uint8_t *luts, int n_rows,
                                int least, uint16_t *ids, uint8_t *values) {
    int64_t i, count = 0;
    int j, r;
    for (i = 0; i < n; i += 64) {
        uint8_t *sum = sums + i;
        uint8_t most = 0;
        for (r = 0; r < n_rows; r++) {
            const uint8_t *row = rows[r] + (i >> 7 << 6), *lut = luts + r * MT_LEVELS;
            const int shift = i & 64 ? 4 : 0;
            for (j = 0; j < 64; j++) {
                int value = sum[j] + lut[row[j] >> shift & 15];
                sum[j] = (uint8_t)(value < 255 ? value : 255);
            }
        }
        for (j = 0; j < 64; j++) most = sum[j] > most ? sum[j] : most;
        if (most >= least)
            for (j = 0; j < 64; j++)
                if (sum[j] >= least) {
                    ids[count] = (uint16_t)(i + j);
                    values[count++] = sum[j];
                }
        memset(sum, 0, 64);
    }
    return count;
}

typedef int64_t (*mt_collect_loop)(float *, int64_t, float, uint16_t *, float *);
typedef int64_t (*mt_sift_loop)(uint8_t *, int64_t, const uint8_t *const *, const uint8_t *, int, int, uint16_t *,
                                uint8_t *);
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
                               (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(d, bar, _CMP_GE_OQ)) << 24,
                        acc + i)
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
                               (uint64_t)_mm512_cmp_ps_mask(d, bar, _CMP_GE_OQ) << 48,
                        acc + i)
        _mm512_storeu_ps(acc + i, zero);
        _mm512_storeu_ps(acc + i + 16, zero);
        _mm512_storeu_ps(acc + i + 32, zero);
        _mm512_storeu_ps(acc + i + 48, zero);
    }
    return count;
}

__attribute__((target("avx2"))) static int64_t mt_sift_avx2(uint8_t *sums, int64_t n, const uint8_t *const *rows,
                                                            const uint8_t *luts, int n_rows, int least, uint16_t *ids,
                                                            uint8_t *values) {
    int64_t i, count = 0;
    int half, r;
    const __m256i bar = _mm256_set1_epi8((char)least), low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    for (i = 0; i < n; i += 128)
        for (half = 0; half < 64; half += 32) {
            __m256i *at = (__m256i *)(sums + i + half), *far = (__m256i *)(sums + i + half + 64);
            __m256i a = _mm256_loadu_si256(at), b = _mm256_loadu_si256(far);
            uint32_t reach_a, reach_b;
            for (r = 0; r < n_rows; r++) {
                __m256i levels = _mm256_loadu_si256((const __m256i *)(rows[r] + (i >> 1) + half));
                __m256i lut = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(luts + r * MT_LEVELS)));
                a = _mm256_adds_epu8(a, _mm256_shuffle_epi8(lut, _mm256_and_si256(levels, low)));
                levels = _mm256_and_si256(_mm256_srli_epi16(levels, 4), low);
                b = _mm256_adds_epu8(b, _mm256_shuffle_epi8(lut, levels));
            }
            reach_a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(a, bar), a));
            reach_b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(b, bar), b));
            if (MT_UNLIKELY(reach_a | reach_b)) {
                uint8_t found[64];
                _mm256_storeu_si256((__m256i *)found, a);
                _mm256_storeu_si256((__m256i *)(found + 32), b);
                MT_COLLECT_MASK(i + half, reach_a, found)
                MT_COLLECT_MASK(i + half + 64, reach_b, found + 32)
            }
            _mm256_storeu_si256(at, zero);
            _mm256_storeu_si256(far, zero);
        }
    return count;
}

__attribute__((target("avx512f,avx512bw"))) static int64_t mt_sift_avx512(uint8_t *sums, int64_t n,
                                                                          const uint8_t *const *rows,
                                                                          const uint8_t *luts, int n_rows, int least,
                                                                          uint16_t *ids, uint8_t *values) {
    int64_t i, count = 0;
    int r;
    const __m512i bar = _mm512_set1_epi8((char)least), low = _mm512_set1_epi8(15), zero = _mm512_setzero_si512();
    for (i = 0; i < n; i += 128) {
        __m512i a = _mm512_loadu_si512(sums + i), b = _mm512_loadu_si512(sums + i + 64);
        uint64_t reach_a, reach_b;
        for (r = 0; r < n_rows; r++) {
            __m512i levels = _mm512_loadu_si512(rows[r] + (i >> 1));
            __m512i lut = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(luts + r * MT_LEVELS)));
            a = _mm512_adds_epu8(a, _mm512_shuffle_epi8(lut, _mm512_and_si512(levels, low)));
            levels = _mm512_and_si512(_mm512_srli_epi16(levels, 4), low);
            b = _mm512_adds_epu8(b, _mm512_shuffle_epi8(lut, levels));
        }
        reach_a = _mm512_cmpge_epu8_mask(a, bar);
        reach_b = _mm512_cmpge_epu8_mask(b, bar);
        if (MT_UNLIKELY(reach_a | reach_b)) {
            uint8_t found[128];
            _mm512_storeu_si512(found, a);
            _mm512_storeu_si512(found + 64, b);
            MT_COLLECT_MASK(i, reach_a, found)
            MT_COLLECT_MASK(i + 64, reach_b, found + 64)
        }
        _mm512_storeu_si512(sums + i, zero);
        _mm512_storeu_si512(sums + i + 64, zero);
    }
    return count;
}

static const mt_collect_loop MT_COLLECT[] = {mt_collect_portable, mt_collect_avx2, mt_collect_avx512};
static const mt_sift_loop MT_SIFT[] = {mt_sift_portable, mt_sift_avx2, mt_sift_avx512};

static int mt_best_path(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") ? MT_AVX512 
           : __builtin_cpu_supports("avx2") ? MT_AVX2
                                            : MT_PORTABLE;
}
#elif defined(__aarch64__)
#include <arm_neon.h>
#define MT_NEON 1

static int64_t mt_sift_neon(uint8_t *sums, int64_t n, const uint8_t *const *rows, const uint8_t *luts, int n_rows,
                            int least, uint16_t *ids, uint8_t *values) {
    int64_t i, count = 0;
    int part, far, j, r;
    for (i = 0; i < n; i += 128) {
        for (part = 0; part < 64; part += 16) {
            uint8x16_t a = vld1q_u8(sums + i + part), b = vld1q_u8(sums + i + part + 64);
            for (r = 0; r < n_rows; r++) {
                const uint8x16_t lut = vld1q_u8(luts + r * MT_LEVELS), levels = vld1q_u8(rows[r] + (i >> 1) + part);
                a = vqaddq_u8(a, vqtbl1q_u8(lut, vandq_u8(levels, vdupq_n_u8(15))));
                b = vqaddq_u8(b, vqtbl1q_u8(lut, vshrq_n_u8(levels, 4)));
            }
            vst1q_u8(sums + i + part, a);
            vst1q_u8(sums + i + part + 64, b);
        }
        for (far = 0; far < 128; far += 16) {
            uint8_t *sum = sums + i + far;
            if (vmaxvq_u8(vld1q_u8(sum)) >= least)
                for (j = 0; j < 16; j++)
                    if (sum[j] >= least) {
                        ids[count] = (uint16_t)(i + far + j);
                        values[count++] = sum[j];
                    }
            vst1q_u8(sum, vdupq_n_u8(0));
        }
    }
    return count;
}

/* Neon is part of the baseline: the compiler uses it for the rest. */
static const mt_collect_loop MT_COLLECT[] = {mt_collect_portable};
static const mt_sift_loop MT_SIFT[] = {mt_sift_neon};
static int mt_best_path(void) { return MT_PORTABLE; }
#else
static const mt_collect_loop MT_COLLECT[] = {mt_collect_portable};
static const mt_sift_loop MT_SIFT[] = {mt_sift_portable};
static int mt_best_path(void) { return MT_PORTABLE; }
#endif

/* Chosen once at import; tests set it to compare the paths. */
static int mt_path = MT_PORTABLE;

#endif
