/* Ordering of rows. An element becomes a number of 64 bits that rises as its rank falls: 32 bits of the value, then the place. Whole rows
 * are sorted by digits, from the lowest; a few first elements are kept in a heap. */
#include "kernel/order.h"

#include "kernel/kernel.h"

enum { DIGIT = 11, BUCKETS = 1 << DIGIT, DIGITS = 3, FEW = 48, TASK_ELEMENTS = 16384 };

bool tw__order_has(tw_dtype dtype, int64_t columns)
{
    switch (dtype) {
    case TW_FLOAT32:
    case TW_FLOAT16:
    case TW_BFLOAT16:
    case TW_INT8:
    case TW_UINT8:
    case TW_INT16:
    case TW_UINT16:
    case TW_INT32:
    case TW_UINT32:
        return columns <= UINT32_MAX;
    default:
        return false;
    }
}

static inline uint32_t rank_of_float(float value)
{
    uint32_t bits;
    if (value != value)
        return UINT32_MAX;
    value += 0.0f; /* one zero */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

#define ITEMS(type, rank)                                                          \
    for (int64_t i = 0; i < columns; i++) {                                        \
        type value = ((const type *)row)[i];                                       \
        items[i] = (uint64_t)(rank) << 32 | (uint32_t)i;                           \
    }                                                                              \
    break

static void make_items(tw_dtype dtype, const void *row, int64_t columns, uint64_t *items)
{
    switch (dtype) {
    case TW_FLOAT32:
        ITEMS(float, rank_of_float(value));
    case TW_FLOAT16:
        ITEMS(uint16_t, rank_of_float(tw__half_to_float(value)));
    case TW_BFLOAT16:
        ITEMS(uint16_t, rank_of_float(tw__bfloat16_to_float(value)));
    case TW_INT8:
        ITEMS(int8_t, ~((uint32_t)value ^ 0x80000000u));
    case TW_UINT8:
        ITEMS(uint8_t, ~(uint32_t)value);
    case TW_INT16:
        ITEMS(int16_t, ~((uint32_t)value ^ 0x80000000u));
    case TW_UINT16:
        ITEMS(uint16_t, ~(uint32_t)value);
    case TW_INT32:
        ITEMS(int32_t, ~((uint32_t)value ^ 0x80000000u));
    default:
        ITEMS(uint32_t, ~value);
    }
}

/* The sorted items: in `items` or in `other`. Places rise at the start, and each pass keeps the order of equals. */
static uint64_t *sort_digits(uint64_t *items, uint64_t *other, int64_t count)
{
    uint32_t counts[DIGITS][BUCKETS];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < count; i++) {
        for (int d = 0; d < DIGITS; d++)
            counts[d][items[i] >> (32 + d * DIGIT) & (BUCKETS - 1)]++;
    }
    for (int d = 0; d < DIGITS; d++) {
        uint32_t *at = counts[d], sum = 0;
        if (at[items[0] >> (32 + d * DIGIT) & (BUCKETS - 1)] == count)
            continue; /* all the same */
        for (int b = 0; b < BUCKETS; b++) {
            uint32_t here = at[b];
            at[b] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < count; i++)
            other[at[items[i] >> (32 + d * DIGIT) & (BUCKETS - 1)]++] = items[i];
        uint64_t *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

static void sort_few(uint64_t *items, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        int64_t k = i;
        for (; k > 0 && items[k - 1] > item; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

/* The root is the greatest: the last of those kept. */
static void sift(uint64_t *heap, int64_t size, int64_t at)
{
    uint64_t item = heap[at];
    for (int64_t child; (child = 2 * at + 1) < size; at = child) {
        child += child + 1 < size && heap[child + 1] > heap[child];
        if (heap[child] <= item)
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void keep_first(uint64_t *items, int64_t count, int64_t keep)
{
    for (int64_t i = keep / 2 - 1; i >= 0; i--)
        sift(items, keep, i);
    for (int64_t i = keep; i < count; i++) {
        if (items[i] < items[0]) {
            items[0] = items[i];
            sift(items, keep, 0);
        }
    }
    for (int64_t size = keep - 1; size > 0; size--) {
        uint64_t greatest = items[0];
        items[0] = items[size];
        items[size] = greatest;
        sift(items, size, 0);
    }
}

typedef struct job {
    tw_dtype dtype;
    const char *data;
    int64_t columns, keep;
    uint32_t *places;
    _Atomic bool failed;
} job;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    tw__buffer *buffer = tw__buffer_new((size_t)j->columns * 2 * sizeof(uint64_t));
    if (!buffer) {
        tw_clear_error(); /* this thread's; the caller reports it */
        j->failed = true;
        return;
    }
    uint64_t *items = buffer->data, *other = items + j->columns;
    for (int64_t r = begin; r < end; r++) {
        make_items(j->dtype, j->data + (size_t)(r * j->columns) * tw__element_size(j->dtype), j->columns, items);
        uint64_t *sorted = items;
        if (j->columns <= FEW)
            sort_few(items, j->columns);
        else if (j->keep <= j->columns / 8)
            keep_first(items, j->columns, j->keep);
        else
            sorted = sort_digits(items, other, j->columns);
        for (int64_t i = 0; i < j->keep; i++)
            j->places[r * j->keep + i] = (uint32_t)sorted[i];
    }
    tw__buffer_release(buffer);
}

tw_status tw__order_rows(tw_dtype dtype, const void *data, int64_t rows, int64_t columns, int64_t keep, uint32_t *places)
{
    job j = { .dtype = dtype, .data = data, .columns = columns, .keep = keep, .places = places };
    if (rows <= 0 || columns <= 0 || keep <= 0)
        return TW_OK;
    tw__parallel(rows, TASK_ELEMENTS / columns + 1, run_rows, &j);
    return j.failed ? tw__fail(TW_RESOURCE_EXHAUSTED, "no memory to order rows of %lld elements", (long long)columns) : TW_OK;
}
