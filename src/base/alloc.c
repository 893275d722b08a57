/* Memory: every allocation of the library is made here, so that a test can make the n-th one
 * fail and see that the failure is reported and nothing leaks. */
#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

static _Atomic long fail_countdown;
static _Atomic long allocation_count;

static bool must_fail(void)
{
    atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0, 1))
        return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

void tw__alloc_fail_at(long n)
{
    atomic_store(&fail_countdown, n);
}

long tw__alloc_count(void)
{
    return atomic_load(&allocation_count);
}

void *tw__alloc(size_t size)
{
    void *memory = NULL;
    if (!must_fail() && size <= SIZE_MAX / 2) {
        if (size < 64)
            memory = malloc(size ? size : 1);
        else if (posix_memalign(&memory, 64, size) != 0)
            memory = NULL;
    }
    if (!memory)
        tw__no_memory(size);
    return memory;
}

void *tw__alloc_zero(size_t size)
{
    void *memory = must_fail() ? NULL : calloc(1, size ? size : 1);
    if (!memory)
        tw__no_memory(size);
    return memory;
}

void *tw__alloc_array(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        tw__no_memory(SIZE_MAX);
        return NULL;
    }
    return tw__alloc_zero(total);
}

void *tw__realloc(void *memory, size_t size)
{
    void *moved = must_fail() ? NULL : realloc(memory, size ? size : 1);
    if (!moved)
        tw__no_memory(size);
    return moved;
}

void tw__free(void *memory)
{
    free(memory);
}

char *tw__strndup(const char *text, size_t size)
{
    char *copy = tw__alloc(size + 1);
    if (copy) {
        if (size) /* nothing may be at NULL */
            memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}

char *tw__strdup(const char *text)
{
    return text ? tw__strndup(text, strlen(text)) : NULL;
}

tw_status tw__grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size)
{
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    if (need <= *capacity)
        return TW_OK;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < need) {
        if (__builtin_mul_overflow(wanted, (size_t)2, &wanted))
            return tw__no_memory(SIZE_MAX);
    }
    size_t bytes;
    if (__builtin_mul_overflow(wanted, item_size, &bytes))
        return tw__no_memory(SIZE_MAX);
    void *moved = tw__realloc(items, bytes);
    if (!moved)
        return TW_RESOURCE_EXHAUSTED;
    memcpy(items_pointer, &moved, sizeof moved);
    *capacity = wanted;
    return TW_OK;
}
