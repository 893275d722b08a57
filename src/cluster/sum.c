/* Sums and broadcasts over the processes of a cluster.
 *
 * Few bytes go from each to each, and everybody adds them in the same order. Many go round a ring in as many parts as there are
 * processes: each process ends up with the sum of one part, which then goes round. Either way all have the same bits. */
#include "cluster/cluster.h"
#include "base/pause.h"

enum { FEW = 1 << 16, CHUNK = 1 << 20 };

bool tw__cluster_sums(tw_dtype dtype)
{
    return dtype == TW_FLOAT32 || dtype == TW_FLOAT64 || dtype == TW_FLOAT16 || dtype == TW_BFLOAT16 || dtype == TW_INT32 ||
           dtype == TW_INT64;
}

#define ADD(type)                                                         \
    do {                                                                  \
        type *a = to;                                                     \
        const type *b = from;                                             \
        for (int64_t i = 0; i < count; i++)                               \
            a[i] = (type)((unsigned_##type)a[i] + (unsigned_##type)b[i]); \
    } while (0)
typedef float unsigned_float;
typedef double unsigned_double;
typedef uint32_t unsigned_int32_t;
typedef uint64_t unsigned_int64_t;

static void add(void *to, const void *from, int64_t count, tw_dtype dtype)
{
    if (dtype == TW_FLOAT32)
        ADD(float);
    else if (dtype == TW_FLOAT64)
        ADD(double);
    else if (dtype == TW_INT32)
        ADD(int32_t);
    else if (dtype == TW_INT64)
        ADD(int64_t);
    uint16_t *a = to;
    const uint16_t *b = from;
    for (int64_t i = 0; dtype == TW_FLOAT16 && i < count; i++)
        a[i] = tw__float_to_half(tw__half_to_float(a[i]) + tw__half_to_float(b[i]));
    for (int64_t i = 0; dtype == TW_BFLOAT16 && i < count; i++)
        a[i] = tw__float_to_bfloat16(tw__bfloat16_to_float(a[i]) + tw__bfloat16_to_float(b[i]));
}

/* Every process's bytes, in their order. */
static tw_status sum_few(tw__cluster *c, char *data, size_t bytes, int64_t count, tw_dtype dtype, uint64_t tag)
{
    tw__owned char *all = tw__alloc_array((size_t)c->size, bytes);
    TW_NEED(all);
    memcpy(all + (size_t)c->rank * bytes, data, bytes);
    for (int step = 1; step < c->size; step++) {
        int to = (c->rank + step) % c->size, from = (c->rank - step + c->size) % c->size;
        TW_TRY(tw__cluster_exchange(c, to, data, bytes, from, all + (size_t)from * bytes, bytes, tag));
    }
    for (int i = 1; i < c->size; i++)
        add(all, all + (size_t)i * bytes, count, dtype);
    memcpy(data, all, bytes);
    return TW_OK;
}

/* Two processes: both ways at once, part by part. */
static tw_status sum_two(tw__cluster *c, char *data, size_t bytes, size_t unit, tw_dtype dtype, uint64_t tag)
{
    tw__owned char *other = tw__alloc(CHUNK);
    TW_NEED(other);
    for (size_t at = 0; at < bytes; at += CHUNK) {
        size_t part = bytes - at < CHUNK ? bytes - at : CHUNK;
        TW_TRY(tw__cluster_exchange(c, 1 - c->rank, data + at, part, 1 - c->rank, other, part, tag));
        add(data + at, other, (int64_t)(part / unit), dtype);
    }
    return TW_OK;
}

static tw_status sum_ring(tw__cluster *c, char *data, int64_t count, size_t unit, tw_dtype dtype, uint64_t tag)
{
    int64_t each = (count + c->size - 1) / c->size;
    int to = (c->rank + 1) % c->size, from = (c->rank - 1 + c->size) % c->size;
    tw__owned char *other = tw__alloc_array((size_t)each, unit);
    TW_NEED(other);
    for (int step = 0; step < 2 * (c->size - 1); step++) {
        bool adds = step < c->size - 1;
        int64_t out = (c->rank - step + 2 * c->size + (adds ? 0 : c->size)) % c->size, in = (out - 1 + c->size) % c->size;
        int64_t out_from = out * each < count ? out * each : count, in_from = in * each < count ? in * each : count;
        int64_t out_count = count - out_from < each ? count - out_from : each,
                in_count = count - in_from < each ? count - in_from : each;
        TW_TRY(tw__cluster_exchange(c, to, data + (size_t)out_from * unit, (size_t)out_count * unit, from,
                                    adds ? other : data + (size_t)in_from * unit, (size_t)in_count * unit, tag + (uint64_t)step));
        if (adds)
            add(data + (size_t)in_from * unit, other, in_count, dtype);
    }
    return TW_OK;
}

/* What a call is, so that another one is not taken for it. */
static uint64_t tag_of(tw__cluster *c, uint64_t kind, uint64_t size)
{
    uint64_t tag = (++c->sequence << 8 | kind) ^ size * 0x9e3779b97f4a7c15u;
    return tag & ~(uint64_t)0xff;
}

tw_status tw__cluster_sum(tw__cluster *c, void *data, int64_t count, tw_dtype dtype)
{
    if (!tw__cluster_sums(dtype))
        return tw__fail(TW_UNIMPLEMENTED, "workers: sums of %s are not supported", tw_dtype_name(dtype));
    size_t unit = tw__element_size(dtype), bytes = (size_t)count * unit;
    void *state = tw__wait_begin();
    tw__lock_take(&c->lock);
    uint64_t tag = tag_of(c, dtype, bytes);
    tw_status status = c->size == 1 || !bytes ? TW_OK
                       : bytes <= FEW         ? sum_few(c, data, bytes, count, dtype, tag)
                       : c->size == 2         ? sum_two(c, data, bytes, unit, dtype, tag)
                                              : sum_ring(c, data, count, unit, dtype, tag);
    tw__lock_give(&c->lock);
    tw__wait_end(state);
    return status;
}

tw_status tw__cluster_broadcast(tw__cluster *c, void *data, size_t bytes, int root)
{
    tw_status status = TW_OK;
    void *state = tw__wait_begin();
    tw__lock_take(&c->lock);
    uint64_t tag = tag_of(c, 0xff, bytes);
    if (c->rank != root)
        status = tw__cluster_exchange(c, -1, NULL, 0, root, data, bytes, tag);
    for (int i = 0; c->rank == root && status == TW_OK && i < c->size; i++) {
        if (i != root)
            status = tw__cluster_exchange(c, i, data, bytes, -1, NULL, 0, tag);
    }
    tw__lock_give(&c->lock);
    tw__wait_end(state);
    return status;
}
