/* Large pages for large arrays that are read or written at random: each small page costs a walk through its tables. */
#ifndef MEMTREE_PAGES_H
#define MEMTREE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Ask for them, as NumPy does for its arrays; to be called before the memory is touched. A refusal does not matter. */
static inline void memtree_large_pages(void *start, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= (size_t)2 << 20) {
        uintptr_t skipped = -(uintptr_t)start & 4095;
        madvise((char *)start + skipped, size - skipped, MADV_HUGEPAGE);
    }
#else
    (void)start;
    (void)size;
#endif
}

#endif
