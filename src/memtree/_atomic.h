/* What threads without a common lock may do to one field: see all that was written before it, or nothing. */
#ifndef MEMTREE_ATOMIC_H
#define MEMTREE_ATOMIC_H

#include <stddef.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static inline void *mt_load(void *const *at) { return _InterlockedCompareExchangePointer((void *volatile *)at, NULL, NULL); }
static inline void mt_publish(void **at, void *value) { _InterlockedExchangePointer((void *volatile *)at, value); }
static inline void *mt_swap(void **at, void *value) { return _InterlockedExchangePointer((void *volatile *)at, value); }
#else
static inline void *mt_load(void *const *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static inline void mt_publish(void **at, void *value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
static inline void *mt_swap(void **at, void *value) { return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL); }
#endif

#endif
