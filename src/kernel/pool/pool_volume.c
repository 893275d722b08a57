/* Pooling of volumes: plain loops for float and double; half and bfloat16 run as float. Of equal largest elements of a window,
 * each gets the gradient. */
#include "kernel/kernel.h"
#include "kernel/conv/volume.h"

typedef struct pooling {
    const tw__volume *v;
    const void *input, *output, *gradient;
    void *result;
    tw__volume_pool_kind kind;
} pooling;

/* The part of window `place` along an axis that lies inside. */
static void inside(const tw__volume *v, int axis, int64_t place, int64_t *first, int64_t *end)
{
    int64_t begin = place * v->stride[axis] - v->before[axis];
    *first = begin < 0 ? 0 : begin;
    *end = begin + v->filter[axis] < v->in[axis] ? begin + v->filter[axis] : v->in[axis];
}

#define LOOPS(type)                                                                                                              \
    static void window_##type(const pooling *p, int64_t b, const int64_t first[3], const int64_t end[3], int64_t out, int64_t c) \
    {                                                                                                                            \
        const tw__volume *v = p->v;                                                                                              \
        const type *input = p->input, *gradient = p->gradient;                                                                   \
        type *result = p->result, best = 0, sum = 0;                                                                             \
        int64_t chosen = -1, count = 0;                                                                                          \
        for (int64_t z = first[0]; z < end[0]; z++) {                                                                            \
            for (int64_t y = first[1]; y < end[1]; y++) {                                                                        \
                for (int64_t x = first[2]; x < end[2]; x++) {                                                                    \
                    int64_t at = (((b * v->in[0] + z) * v->in[1] + y) * v->in[2] + x) * v->in_channels + c;                      \
                    count++;                                                                                                     \
                    if (p->kind == TW_VOLUME_MEAN)                                                                               \
                        sum += input[at];                                                                                        \
                    else if (p->kind != TW_VOLUME_MEAN_GRAD && (chosen < 0 || input[at] > best || input[at] != input[at]))       \
                        best = input[chosen = at];                                                                               \
                }                                                                                                                \
            }                                                                                                                    \
        }                                                                                                                        \
        if (p->kind == TW_VOLUME_MEAN)                                                                                           \
            result[out] = sum / (type)count;                                                                                     \
        else if (p->kind == TW_VOLUME_MAX)                                                                                       \
            result[out] = best;                                                                                                  \
        else if (p->kind == TW_VOLUME_MAX_BACK)                                                                                  \
            result[out] = chosen < 0 ? 0 : gradient[chosen];                                                                     \
        bool spreads = p->kind == TW_VOLUME_MEAN_GRAD || (p->kind == TW_VOLUME_MAX_GRAD && chosen >= 0);                         \
        for (int64_t z = first[0]; spreads && z < end[0]; z++) {                                                                 \
            for (int64_t y = first[1]; y < end[1]; y++) {                                                                        \
                for (int64_t x = first[2]; x < end[2]; x++) {                                                                    \
                    int64_t at = (((b * v->in[0] + z) * v->in[1] + y) * v->in[2] + x) * v->in_channels + c;                      \
                    if (p->kind == TW_VOLUME_MEAN_GRAD)                                                                          \
                        result[at] += gradient[out] / (type)count;                                                               \
                    else if (input[at] == best)                                                                                  \
                        result[at] += gradient[out];                                                                             \
                }                                                                                                                \
            }                                                                                                                    \
        }                                                                                                                        \
    }
LOOPS(float)
LOOPS(double)

/* Whole volumes of the batch: their windows share no element with those of others. */
static void volumes(void *context, int64_t begin, int64_t end_batch, bool wide)
{
    const pooling *p = context;
    const tw__volume *v = p->v;
    int64_t first[3], end[3];
    for (int64_t b = begin; b < end_batch; b++) {
        for (int64_t z = 0; z < v->out[0]; z++) {
            inside(v, 0, z, &first[0], &end[0]);
            for (int64_t y = 0; y < v->out[1]; y++) {
                inside(v, 1, y, &first[1], &end[1]);
                for (int64_t x = 0; x < v->out[2]; x++) {
                    inside(v, 2, x, &first[2], &end[2]);
                    int64_t out = (((b * v->out[0] + z) * v->out[1] + y) * v->out[2] + x) * v->in_channels;
                    for (int64_t c = 0; c < v->in_channels; c++)
                        (wide ? window_double : window_float)(p, b, first, end, out + c, c);
                }
            }
        }
    }
}

static void float_volumes(void *context, int64_t begin, int64_t end)
{
    volumes(context, begin, end, false);
}

static void double_volumes(void *context, int64_t begin, int64_t end)
{
    volumes(context, begin, end, true);
}

static bool gives_input(tw__volume_pool_kind kind)
{
    return kind == TW_VOLUME_MAX_GRAD || kind == TW_VOLUME_MEAN_GRAD;
}

static void run(tw_dtype dtype, pooling *p)
{
    int64_t count = gives_input(p->kind) ? tw__volume_in_count(p->v) : tw__volume_out_count(p->v);
    memset(p->result, 0, (size_t)count * tw__element_size(dtype));
    tw__parallel(p->v->batch, 1, dtype == TW_FLOAT64 ? double_volumes : float_volumes, p);
}

tw_status tw__volume_pool(tw__volume_pool_kind kind, tw_dtype dtype, const tw__volume *v, const void *input, const void *output,
                          const void *gradient, void *result)
{
    pooling p = { v, input, output, gradient, result, kind };
    if (dtype == TW_FLOAT32 || dtype == TW_FLOAT64) {
        run(dtype, &p);
        return TW_OK;
    }
    int64_t in = tw__volume_in_count(v), out = tw__volume_out_count(v), given = kind == TW_VOLUME_MAX_BACK ? in : out,
            made = gives_input(kind) ? in : out;
    tw__owned float *floats = tw__alloc_array((size_t)(in + given + made) + 1, sizeof *floats);
    if (!floats)
        return TW_RESOURCE_EXHAUSTED;
    if (input)
        tw__small_float_read(dtype, input, floats, in);
    if (gradient)
        tw__small_float_read(dtype, gradient, floats + in, given);
    p = (pooling){ v, floats, NULL, floats + in, floats + in + given, kind };
    run(TW_FLOAT32, &p);
    tw__small_float_write(dtype, floats + in + given, result, made);
    return TW_OK;
}
