/* Results far larger than the caches are written past them, tile by tile, so that memory is not read first only to be
 * overwritten. */
#ifndef TW_STREAM_H
#define TW_STREAM_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Elements of a tile: its arrays stay in the first cache, and chunks that are multiples of it round alike wherever they begin. */
enum { TW_TILE = 1024 };

/* Of a tile's memory. Large tensors begin at a page: a load that has the low 12 bits of a store shortly before it waits for that
 * store, which costs a quarter of the time where the two are a line apart and nothing where they are the same place of their
 * pages. */
#define TW_TILE_ALIGNMENT 4096

static inline bool tw__streams(const void *to, int64_t bytes)
{
    return bytes >= (int64_t)8 << 20 && (uintptr_t)to % 16 == 0;
}

/* `to` is aligned to 16 bytes. */
static inline void tw__stream(char *to, const char *from, size_t size)
{
    size_t done = 0;
#ifdef __SSE2__
    for (; done + 64 <= size; done += 64) {
        for (size_t k = 0; k < 64; k += 16)
            _mm_stream_si128((__m128i *)(void *)(to + done + k),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + done + k)));
    }
#endif
    memcpy(to + done, from + done, size - done);
}

/* After the last of them, before others may read. */
static inline void tw__stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static inline void tw__prefetch(const char *from, size_t size)
{
    for (size_t k = 0; k < size; k += 64)
        __builtin_prefetch(from + k);
}

#endif
