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
        if (other && size == length && s->tag[id] == tag && memcmp(other, text, length) == 0)
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

/* The id of a string, new (== the old n) if it was not there; MEMTREE_NO_ID without memory. */
static inline uint32_t memtree_strings_intern(memtree_strings *s, const uint8_t *text, size_t length,
                                              uint8_t tag)
{
    uint64_t place, hash = memtree_hash(text, length, tag, s->seed);
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

#endif
