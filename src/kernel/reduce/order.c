/* Ordering of rows. An element becomes a number of 64 bits that rises as its rank falls: 32 bits of the value, then the place.
 * Long rows are sorted by digits, from the lowest, shorter ones by merging; a few first elements are kept in a heap. */
#include "kernel/reduce/order.h"

#include "base/pause.h"
#include "kernel/kernel.h"
#include "kernel/simd.h"

enum {
    DIGIT = 11,
    BUCKETS = 1 << DIGIT,
    DIGITS = 3,
    RUN = 8,
    MERGED = 1024,
    PIECE = 1024,
    TASK_ELEMENTS = 16384,
    STRETCH = 1 << 18
};

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

#define RANKS(type, rank)                            \
    TW_INDEPENDENT                                   \
    for (int64_t i = 0; i < count; i++) {            \
        type value = ((const type *)row)[first + i]; \
        ranks[i] = rank;                             \
    }                                                \
    break

/* The upper halves of the items: of equal values the first stands first. */
static TW_CLONES void make_ranks(tw_dtype dtype, const void *row, int64_t first, int64_t count, uint32_t *restrict ranks)
{
    switch (dtype) {
    case TW_FLOAT32:
        RANKS(float, rank_of_float(value));
    case TW_FLOAT16:
        RANKS(uint16_t, rank_of_float(tw__half_to_float(value)));
    case TW_BFLOAT16:
        RANKS(uint16_t, rank_of_float(tw__bfloat16_to_float(value)));
    case TW_INT8:
        RANKS(int8_t, ~((uint32_t)value ^ 0x80000000u));
    case TW_UINT8:
        RANKS(uint8_t, ~(uint32_t)value);
    case TW_INT16:
        RANKS(int16_t, ~((uint32_t)value ^ 0x80000000u));
    case TW_UINT16:
        RANKS(uint16_t, ~(uint32_t)value);
    case TW_INT32:
        RANKS(int32_t, ~((uint32_t)value ^ 0x80000000u));
    default:
        RANKS(uint32_t, ~value);
    }
}

static void make_items(tw_dtype dtype, const void *row, int64_t columns, uint64_t *items)
{
    uint32_t ranks[PIECE];
    for (int64_t first = 0; first < columns; first += PIECE) {
        int64_t count = columns - first < PIECE ? columns - first : PIECE;
        make_ranks(dtype, row, first, count, ranks);
        for (int64_t i = 0; i < count; i++)
            items[first + i] = (uint64_t)ranks[i] << 32 | (uint32_t)(first + i);
    }
}

static void count_digits(const uint64_t *items, int64_t count, uint32_t (*counts)[BUCKETS])
{
    for (int64_t i = 0; i < count; i++) {
        for (int d = 0; d < DIGITS; d++)
            counts[d][items[i] >> (32 + d * DIGIT) & (BUCKETS - 1)]++;
    }
}

/* The sorted items: in `items` or in `other`. Places rise at the start, and each pass keeps the order of equals. NULL: it shall
 * stop. */
static uint64_t *sort_digits(uint64_t *items, uint64_t *other, int64_t count, tw__stopper *stopper)
{
    uint32_t counts[DIGITS][BUCKETS];
    memset(counts, 0, sizeof counts);
    for (int64_t first = 0; first < count; first += STRETCH) {
        if (tw__stopper_asked(stopper))
            return NULL;
        count_digits(items + first, count - first < STRETCH ? count - first : STRETCH, counts);
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
        for (int64_t i = 0; i < count; i++) {
            other[at[items[i] >> (32 + d * DIGIT) & (BUCKETS - 1)]++] = items[i];
            if (i % STRETCH == 0 && tw__stopper_asked(stopper))
                return NULL;
        }
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

/* Runs of RUN items, then pairs of runs from both ends at once, without branches: no two items are equal. The sorted items: in
 * `items` or in `other`. */
static uint64_t *sort_runs(uint64_t *items, uint64_t *other, int64_t count)
{
    for (int64_t i = 0; i < count; i += RUN)
        sort_few(items + i, count - i < RUN ? count - i : RUN);
    for (int64_t run = RUN; run < count; run *= 2) {
        for (int64_t i = 0; i < count; i += 2 * run) {
            int64_t middle = i + run < count ? i + run : count, end = middle + run < count ? middle + run : count;
            const uint64_t *x = items + i, *y = items + middle, *x_last = y - 1, *y_last = items + end - 1;
            uint64_t *from = other + i, *to = other + end - 1;
            if (end - middle < run) { /* of different length: one end, which may run out */
                const uint64_t *x_end = items + middle, *y_end = items + end;
                while (x < x_end && y < y_end)
                    *from++ = *x < *y ? *x++ : *y++;
                memcpy(from, x, (size_t)(x_end - x) * sizeof *x);
                memcpy(from + (x_end - x), y, (size_t)(y_end - y) * sizeof *y);
                continue;
            }
            for (int64_t k = 0; k < run; k++) {
                bool left = *x<*y, right = *x_last> * y_last;
                *from++ = left ? *x : *y;
                *to-- = right ? *x_last : *y_last;
                x += left;
                y += !left;
                x_last -= right;
                y_last -= !right;
            }
        }
        uint64_t *swap = items;
        items = other;
        other = swap;
    }
    return items;
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

static TW_CLONES uint32_t least_of(const uint32_t *ranks, int64_t count)
{
    uint32_t least = UINT32_MAX;
    for (int64_t i = 0; i < count; i++)
        least = ranks[i] < least ? ranks[i] : least;
    return least;
}

/* The `keep` first of the row's items, in order. Pieces that have none of them are passed over as a whole. */
static void keep_first(tw_dtype dtype, const void *row, int64_t columns, uint64_t *items, int64_t keep)
{
    uint32_t ranks[PIECE];
    int64_t have = 0;
    for (int64_t first = 0; first < columns; first += PIECE) {
        int64_t count = columns - first < PIECE ? columns - first : PIECE, i = 0;
        make_ranks(dtype, row, first, count, ranks);
        for (; i < count && have < keep; i++) {
            items[have++] = (uint64_t)ranks[i] << 32 | (uint32_t)(first + i);
            for (int64_t k = keep / 2 - 1; have == keep && k >= 0; k--)
                sift(items, keep, k);
        }
        if (i == count || least_of(ranks + i, count - i) >= items[0] >> 32)
            continue; /* an equal one that comes later stands behind */
        for (; i < count; i++) {
            if (ranks[i] < items[0] >> 32) {
                items[0] = (uint64_t)ranks[i] << 32 | (uint32_t)(first + i);
                sift(items, keep, 0);
            }
        }
    }
    for (int64_t size = keep - 1; size > 0; size--) {
        uint64_t greatest = items[0];
        items[0] = items[size];
        items[size] = greatest;
        sift(items, size, 0);
    }
}

/* The first item alone. */
static uint32_t first_place(tw_dtype dtype, const void *row, int64_t columns)
{
    uint32_t ranks[PIECE], best = UINT32_MAX, place = 0;
    for (int64_t first = 0; first < columns; first += PIECE) {
        int64_t count = columns - first < PIECE ? columns - first : PIECE, i = 0;
        make_ranks(dtype, row, first, count, ranks);
        uint32_t least = least_of(ranks, count);
        if (least >= best)
            continue;
        while (ranks[i] != least)
            i++;
        best = least;
        place = (uint32_t)(first + i);
    }
    return place;
}

typedef struct job {
    tw_dtype dtype;
    const char *data;
    int64_t columns, keep;
    uint32_t *places;
    tw__stopper *stopper;
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
    for (int64_t r = begin; r < end && !tw__stopper_asked(j->stopper); r++) {
        const char *row = j->data + (size_t)(r * j->columns) * tw__element_size(j->dtype);
        if (j->keep == 1) {
            j->places[r] = first_place(j->dtype, row, j->columns);
            continue;
        }
        uint64_t *sorted = items;
        if (j->keep <= j->columns / 8) {
            keep_first(j->dtype, row, j->columns, items, j->keep);
        } else {
            make_items(j->dtype, row, j->columns, items);
            sorted =
                j->columns <= MERGED ? sort_runs(items, other, j->columns) : sort_digits(items, other, j->columns, j->stopper);
        }
        if (!sorted)
            break;
        for (int64_t i = 0; i < j->keep; i++)
            j->places[r * j->keep + i] = (uint32_t)sorted[i];
    }
    tw__buffer_release(buffer);
}

tw_status tw__order_rows(tw_dtype dtype, const void *data, int64_t rows, int64_t columns, int64_t keep, uint32_t *places)
{
    tw__stopper stopper;
    tw__stopper_begin(&stopper);
    job j = { .dtype = dtype, .data = data, .columns = columns, .keep = keep, .places = places, .stopper = &stopper };
    if (rows <= 0 || columns <= 0 || keep <= 0)
        return TW_OK;
    tw__parallel(rows, TASK_ELEMENTS / columns + 1, run_rows, &j);
    return j.failed ? tw__fail(TW_RESOURCE_EXHAUSTED, "no memory to order rows of %lld elements", (long long)columns)
                    : tw__stopper_status(&stopper);
}
