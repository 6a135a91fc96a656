/* An insert-only table of byte strings with a small tag each: string <-> dense id.

   Strings lie one after the other in `text`; string i spans start[i] .. start[i + 1]. `slots` is an
   open-addressing hash table, linear probing, at most three quarters full; the lower half of a string's hash,
   scaled to the size, is its first slot; a slot is (upper half of the hash) << 32 | id + 1, 0 for free. All arrays may be borrowed from a mapped file (capacity 0), so every id and offset read is
   checked. */
#ifndef MEMTREE_STRINGS_H
#define MEMTREE_STRINGS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_pages.h"

#define MEMTREE_NO_ID 0xFFFFFFFFu

typedef struct {
    uint32_t n, capacity;
    uint64_t n_slots;
    uint64_t seed;
    uint64_t text_size, text_capacity;
    uint32_t *start;           /* n + 1 */
    uint8_t *tag;              /* n */
    uint8_t *text;
    uint64_t *slots;
} memtree_strings;

static inline uint64_t memtree_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ 0x9E3779B97F4A7C15ull) * (b | 1);
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ull;
    return x ^ x >> 29;
}

/* Multiply-mix, eight bytes a step; the seed makes collisions unforeseeable for who writes the text. */
static inline uint64_t memtree_hash(const uint8_t *text, size_t length, uint8_t tag, uint64_t seed)
{
    uint64_t h = seed ^ ((uint64_t)length << 8 | tag), word;
    while (length >= 8) {
        memcpy(&word, text, 8);
        h = memtree_mix(h ^ word, seed + 0xA0761D6478BD642Full) + word;
        text += 8;
        length -= 8;
    }
    word = 0;
    switch (length) {  /* a fixed-size copy each: far cheaper than memcpy of a variable size */
    case 7: word |= (uint64_t)text[6] << 48; /* fall through */
    case 6: word |= (uint64_t)text[5] << 40; /* fall through */
    case 5: word |= (uint64_t)text[4] << 32; /* fall through */
    case 4: word |= (uint64_t)text[3] << 24; /* fall through */
    case 3: word |= (uint64_t)text[2] << 16; /* fall through */
    case 2: word |= (uint64_t)text[1] << 8;  /* fall through */
    case 1: word |= text[0];
    }
    return memtree_mix(h ^ word, seed + 0xE7037ED1A0B428DBull);
}

static void memtree_strings_free(memtree_strings *s)
{
    if (s->capacity) {
        free(s->start);
        free(s->tag);
        free(s->text);
        free(s->slots);
    }
    memset(s, 0, sizeof *s);
}

/* Forget all strings, keep the memory. */
static void memtree_strings_clear(memtree_strings *s)
{
    s->n = 0;
    s->text_size = 0;
    memset(s->slots, 0, s->n_slots * sizeof *s->slots);
}

static inline uint64_t memtree_slots_for(uint32_t n)
{
    return n + n / 3ull + 1;
}

static inline uint64_t memtree_first_slot(uint64_t hash, uint64_t n_slots)
{
    return (hash & 0xFFFFFFFFu) * n_slots >> 32;
}

/* Enter all strings into `n_slots` empty slots, more than there are strings. */
static void memtree_strings_fill(const memtree_strings *s, uint64_t *slots, uint64_t n_slots)
{
    for (uint32_t id = 0; id < s->n; id++) {
        uint64_t hash = memtree_hash(s->text + s->start[id], s->start[id + 1] - s->start[id], s->tag[id], s->seed);
        uint64_t i = memtree_first_slot(hash, n_slots);
        while (slots[i])
            i = i + 1 == n_slots ? 0 : i + 1;
        slots[i] = (hash >> 32) << 32 | (id + 1ull);
    }
}

static int memtree_strings_init(memtree_strings *s, uint32_t capacity, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->capacity = capacity < 16 ? 16 : capacity;
    s->seed = seed;
    s->n_slots = memtree_slots_for(s->capacity);
    s->text_capacity = (uint64_t)s->capacity * 8;
    s->start = malloc((s->capacity + 1ull) * sizeof *s->start);
    s->tag = malloc(s->capacity);
    s->text = malloc(s->text_capacity);
    s->slots = calloc(s->n_slots, sizeof *s->slots);
    if (!s->start || !s->tag || !s->text || !s->slots) {
        memtree_strings_free(s);
        return -1;
    }
    s->start[0] = 0;
    return 0;
}

/* The bytes of string `id`; NULL (and length 0) if the table is damaged there. */
static inline const uint8_t *memtree_strings_get(const memtree_strings *s, uint32_t id, size_t *length)
{
    *length = 0;
    if (id >= s->n)
        return NULL;
    uint32_t from = s->start[id], to = s->start[id + 1];
    if (from > to || to > s->text_size)
        return NULL;
    *length = to - from;
    return s->text + from;
}

static inline int memtree_same(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint64_t x, y;
    uint32_t u, v;
    while (length >= 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y)
            return 0;
        a += 8;
        b += 8;
        length -= 8;
    }
    if (length >= 4) {
        memcpy(&u, a, 4);
        memcpy(&v, b, 4);
        if (u != v)
            return 0;
        a += 4;
        b += 4;
        length -= 4;
    }
    for (; length; a++, b++, length--)
        if (*a != *b)
            return 0;
    return 1;
}

static inline uint32_t memtree_strings_find(const memtree_strings *s, const uint8_t *text, size_t length,
                                            uint8_t tag, uint64_t hash, uint64_t *place)
{
    uint64_t i = memtree_first_slot(hash, s->n_slots), probes;
    for (probes = 0; probes < s->n_slots; probes++, i = i + 1 == s->n_slots ? 0 : i + 1) {
        uint64_t slot = s->slots[i];
        if (!slot)
            break;
        if ((slot ^ hash) >> 32)
            continue;
        uint32_t id = (uint32_t)slot - 1;
        size_t size;
        const uint8_t *other = memtree_strings_get(s, id, &size);
        if (other && size == length && s->tag[id] == tag && memtree_same(other, text, length))
            return id;
    }
    *place = i;
    return MEMTREE_NO_ID;
}

static int memtree_strings_grow(memtree_strings *s, size_t length)
{
    if (s->text_size + length > 0xFFFFFFFFu)
        return -1;
    if (s->text_size + length > s->text_capacity) {
        uint64_t capacity = s->text_capacity * 2;
        while (s->text_size + length > capacity)
            capacity *= 2;
        uint8_t *text = realloc(s->text, capacity);
        if (!text)
            return -1;
        memtree_large_pages(text, capacity);
        s->text = text;
        s->text_capacity = capacity;
    }
    if (s->n < s->capacity)
        return 0;
    if (s->capacity >= 0x40000000u)
        return -1;
    uint32_t capacity = s->capacity * 2;
    uint32_t *start = realloc(s->start, (capacity + 1ull) * sizeof *start);
    if (!start)
        return -1;
    s->start = start;
    uint8_t *tag = realloc(s->tag, capacity);
    if (!tag)
        return -1;
    s->tag = tag;
    uint64_t n_slots = memtree_slots_for(capacity);
    uint64_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return -1;
    memtree_large_pages(slots, n_slots * sizeof *slots);
    memtree_strings_fill(s, slots, n_slots);
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    s->capacity = capacity;
    return 0;
}

static inline uint32_t memtree_strings_lookup(const memtree_strings *s, const uint8_t *text, size_t length,
                                              uint8_t tag)
{
    uint64_t place;
    if (!s->n)
        return MEMTREE_NO_ID;
    return memtree_strings_find(s, text, length, tag, memtree_hash(text, length, tag, s->seed), &place);
}

static inline uint32_t memtree_strings_intern_hashed(memtree_strings *s, const uint8_t *text, size_t length,
                                                     uint8_t tag, uint64_t hash)
{
    uint64_t place;
    uint32_t id = memtree_strings_find(s, text, length, tag, hash, &place);
    if (id != MEMTREE_NO_ID)
        return id;
    if (s->n == s->capacity || s->text_size + length > s->text_capacity) {
        if (memtree_strings_grow(s, length))
            return MEMTREE_NO_ID;
        memtree_strings_find(s, text, length, tag, hash, &place);
    }
    id = s->n++;
    s->slots[place] = (hash >> 32) << 32 | (id + 1ull);
    memcpy(s->text + s->text_size, text, length);
    s->text_size += length;
    s->start[id + 1] = (uint32_t)s->text_size;
    s->tag[id] = tag;
    return id;
}

/* The id of a string, new (== the old n) if it was not there; MEMTREE_NO_ID without memory. */
static inline uint32_t memtree_strings_intern(memtree_strings *s, const uint8_t *text, size_t length,
                                              uint8_t tag)
{
    return memtree_strings_intern_hashed(s, text, length, tag, memtree_hash(text, length, tag, s->seed));
}

/* Strings that wait to be looked up together, so that the waits for memory overlap: a large table is in no cache. */
#define MEMTREE_BATCH 32
#define MEMTREE_BATCH_TEXT 2048

typedef struct {
    int n;
    uint32_t used;
    uint32_t start[MEMTREE_BATCH], length[MEMTREE_BATCH];
    uint64_t hash[MEMTREE_BATCH];
    uint8_t tag[MEMTREE_BATCH];
    uint8_t text[MEMTREE_BATCH_TEXT];
} memtree_batch;

#if defined(__GNUC__) || defined(__clang__)
#define memtree_prefetch(address) __builtin_prefetch(address)
#else
#define memtree_prefetch(address) ((void)(address))
#endif

/* Whether there is room for a string of this length. */
static inline int memtree_batch_fits(const memtree_batch *batch, size_t length)
{
    return batch->n < MEMTREE_BATCH && batch->used + length <= MEMTREE_BATCH_TEXT;
}

static inline void memtree_batch_add(memtree_batch *batch, const memtree_strings *s, const uint8_t *text,
                                     size_t length, uint8_t tag)
{
    int i = batch->n++;
    batch->start[i] = batch->used;
    batch->length[i] = (uint32_t)length;
    batch->tag[i] = tag;
    batch->hash[i] = memtree_hash(text, length, tag, s->seed);
    memtree_prefetch(&s->slots[memtree_first_slot(batch->hash[i], s->n_slots)]);
    memcpy(batch->text + batch->used, text, length);
    batch->used += (uint32_t)length;
}

/* Intern all strings that wait, in order; their ids to `out`. Returns 0, or -1 without memory. */
static int memtree_batch_intern(memtree_batch *batch, memtree_strings *s, uint32_t *out)
{
    uint32_t likely[MEMTREE_BATCH];
    int i, n = batch->n;
    for (i = 0; i < n; i++) {
        uint64_t slot = s->slots[memtree_first_slot(batch->hash[i], s->n_slots)];
        likely[i] = slot && !((slot ^ batch->hash[i]) >> 32) ? (uint32_t)slot - 1 : MEMTREE_NO_ID;
        if (likely[i] != MEMTREE_NO_ID) {
            memtree_prefetch(&s->start[likely[i]]);
            memtree_prefetch(&s->tag[likely[i]]);
        }
    }
    for (i = 0; i < n; i++)
        if (likely[i] < s->n)
            memtree_prefetch(s->text + s->start[likely[i]]);
    for (i = 0; i < n; i++) {
        out[i] = memtree_strings_intern_hashed(s, batch->text + batch->start[i], batch->length[i], batch->tag[i],
                                               batch->hash[i]);
        if (out[i] == MEMTREE_NO_ID)
            return -1;
    }
    batch->n = 0;
    batch->used = 0;
    return 0;
}

#endif
