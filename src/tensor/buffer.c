/* Buffers: memory that tensors share, from a cache by size class.
 *
 * Eager code makes and drops results of the same few sizes over and over. A thread keeps some of what it frees, by size class
 * (four classes to each doubling, so at most a quarter is wasted), and hands it out again without asking the system: no page
 * faults, no lock. Memory freed on another thread simply goes into that thread's cache. What is kept is bounded. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "tensor/tensor.h"

enum { SMALLEST_SHIFT = 7, CLASS_COUNT = 4 * 24, KEPT_PER_CLASS = 16 };
static const size_t kept_bytes_limit = (size_t)256 << 20;
static const size_t huge_from = (size_t)4 << 20, huge_page = (size_t)2 << 20;

typedef struct cache {
    tw__buffer *kept[CLASS_COUNT][KEPT_PER_CLASS];
    uint8_t count[CLASS_COUNT];
    size_t bytes;
} cache;

static _Thread_local cache *thread_cache;
static pthread_key_t cache_key;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;

static void buffer_destroy(tw__buffer *buffer)
{
    if (buffer->free_data)
        buffer->free_data(buffer->context);
    tw__free(buffer);
}

static void cache_empty(cache *c)
{
    for (int i = 0; i < CLASS_COUNT; i++) {
        while (c->count[i])
            buffer_destroy(c->kept[i][--c->count[i]]);
    }
    c->bytes = 0;
}

static void cache_end(void *memory)
{
    thread_cache = NULL;
    cache_empty(memory);
    free(memory);
}

static void make_key(void)
{
    pthread_key_create(&cache_key, cache_end);
}

static void end_own(void)
{
    void *own = thread_cache;
    if (own) {
        pthread_setspecific(cache_key, NULL);
        cache_end(own);
    }
}

static cache *get_cache(void)
{
    if (__builtin_expect(!thread_cache, 0)) {
        pthread_once(&cache_once, make_key);
        thread_cache = calloc(1, sizeof *thread_cache);
        if (thread_cache) {
            static tw__ending ending = { .end = end_own };
            pthread_setspecific(cache_key, thread_cache);
            tw__at_shutdown(&ending);
        }
    }
    return thread_cache;
}

void tw__buffer_trim(void)
{
    if (thread_cache)
        cache_empty(thread_cache);
}

/* The class whose size is the smallest not below `size`, or -1; *rounded is that size. */
static int class_of(size_t size, size_t *rounded)
{
    if (size < (size_t)1 << SMALLEST_SHIFT)
        size = (size_t)1 << SMALLEST_SHIFT;
    int shift = 63 - __builtin_clzll(size);
    size_t quarter = ((size_t)1 << shift) / 4;
    size_t steps = (size - ((size_t)1 << shift) + quarter - 1) / quarter; /* 0 … 4 */
    int index = (shift - SMALLEST_SHIFT) * 4 + (int)steps;
    *rounded = ((size_t)1 << shift) + steps * quarter;
    return index < CLASS_COUNT ? index : -1;
}

static void free_large(void *memory)
{
    free(memory);
}

/* What the machine has, with swap. The system may hand out more, but ends whoever touches it: a size out of a file or a program
 * is refused instead. */
static size_t machine_bytes(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    struct sysinfo info;
    if (!bytes) {
        bytes = sysinfo(&info) == 0 ? ((size_t)info.totalram + info.totalswap) * info.mem_unit : SIZE_MAX;
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

tw__buffer *tw__buffer_new(size_t size)
{
    size_t rounded;
    if (size > (size_t)1 << 62) {
        tw__no_memory(size);
        return NULL;
    }
    int class = class_of(size, &rounded);
    cache *c = get_cache();
    if (class >= 0 && c && c->count[class]) {
        tw__buffer *buffer = c->kept[class][--c->count[class]];
        c->bytes -= rounded;
        atomic_store_explicit(&buffer->references, 1, memory_order_relaxed);
        buffer->size = size;
        return buffer;
    }
    tw__buffer *buffer;
    if (rounded < huge_from) {
        buffer = tw__alloc(64 + rounded);
        if (!buffer)
            return NULL;
        *buffer = (tw__buffer){ .data = (char *)buffer + 64 };
    } else {
        void *memory = NULL;
        if (rounded > machine_bytes()) {
            tw__no_memory(size);
            return NULL;
        }
        buffer = tw__alloc(sizeof *buffer);
        if (!buffer)
            return NULL;
        size_t whole = (rounded + huge_page - 1) & ~(huge_page - 1);
        if (posix_memalign(&memory, huge_page, whole) != 0) {
            tw__free(buffer);
            tw__no_memory(size);
            return NULL;
        }
        madvise(memory, whole, MADV_HUGEPAGE);
        *buffer = (tw__buffer){ .data = memory, .free_data = free_large, .context = memory };
    }
    atomic_init(&buffer->references, 1);
    buffer->size_class = class;
    buffer->size = size;
    return buffer;
}

void tw__buffer_retain(tw__buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
}

void tw__buffer_release(tw__buffer *buffer)
{
    if (!buffer || atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) != 1)
        return;
    if (buffer->end_elements) {
        buffer->end_elements(buffer);
        buffer->end_elements = NULL;
    }
    int class = buffer->size_class;
    cache *c = class >= 0 ? get_cache() : NULL;
    if (c && c->count[class] < KEPT_PER_CLASS) {
        size_t rounded;
        class_of(buffer->size, &rounded);
        if (c->bytes + rounded <= kept_bytes_limit) {
            c->bytes += rounded;
            c->kept[class][c->count[class]++] = buffer;
            return;
        }
    }
    buffer_destroy(buffer);
}
