/* Taps: linear maps along height and width, and their transposes. The ops differ only in how they choose the taps. */
#include "kernel/kernel.h"
#include "op/image/image.h"

enum { WORTH_A_THREAD = 1 << 15 };

tw_status tw__taps_new(tw__taps *taps, int64_t in, int64_t out, int64_t most)
{
    int64_t all;
    *taps = (tw__taps){ .in = in, .out = out, .most = most };
    if (__builtin_mul_overflow(out, most, &all))
        return tw__no_memory(SIZE_MAX);
    taps->index = tw__alloc_array((size_t)all, sizeof *taps->index);
    taps->count = tw__alloc_array((size_t)out, sizeof *taps->count);
    taps->weight = tw__alloc_array((size_t)all, sizeof *taps->weight);
    return taps->index && taps->count && taps->weight ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

void tw__taps_free(tw__taps *taps)
{
    tw__free(taps->index);
    tw__free(taps->count);
    tw__free(taps->weight);
}

const float *tw__image_floats(const tw_tensor *images, float **copy)
{
    *copy = NULL;
    if (images->dtype == TW_FLOAT32)
        return images->data;
    *copy = tw__alloc_array((size_t)images->count, sizeof **copy);
    if (*copy)
        tw__cast_run(images->dtype, TW_FLOAT32, images->data, *copy, images->count, false);
    return *copy;
}

typedef struct work {
    const tw__taps *y, *x;
    const float *from;
    float *to;
    int64_t channels;
    _Atomic bool failed;
} work;

static void add_scaled(float *to, const float *from, float weight, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += weight * from[i];
}

/* Rows [begin, end) of all results, counted through the batch. */
static void apply_rows(void *context, int64_t begin, int64_t end)
{
    work *w = context;
    const tw__taps *y = w->y, *x = w->x;
    int64_t line = x->in * w->channels;
    float *sum = tw__alloc_array((size_t)line, sizeof *sum);
    if (!sum)
        w->failed = true;
    for (int64_t row = begin; sum && row < end; row++) {
        int64_t image = row / y->out, place = row % y->out;
        memset(sum, 0, (size_t)line * sizeof *sum);
        for (int64_t k = 0; k < y->count[place]; k++)
            add_scaled(sum, w->from + (image * y->in + y->index[place * y->most + k]) * line, y->weight[place * y->most + k],
                       line);
        float *out = w->to + row * x->out * w->channels;
        for (int64_t i = 0; i < x->out; i++, out += w->channels) {
            memset(out, 0, (size_t)w->channels * sizeof *out);
            for (int64_t k = 0; k < x->count[i]; k++)
                add_scaled(out, sum + x->index[i * x->most + k] * w->channels, x->weight[i * x->most + k], w->channels);
        }
    }
    tw__free(sum);
}

static int64_t grain(const tw__taps *x, int64_t channels)
{
    int64_t row = (x->in + x->out * x->most) * channels;
    return row > 0 && row < WORTH_A_THREAD ? WORTH_A_THREAD / row : 1;
}

tw_status tw__taps_apply(const tw__taps *y, const tw__taps *x, const float *images, int64_t batch, int64_t channels, float *out)
{
    work w = { .y = y, .x = x, .from = images, .to = out, .channels = channels };
    tw__parallel(batch * y->out, grain(x, channels), apply_rows, &w);
    return w.failed ? tw__no_memory((size_t)(x->in * channels) * sizeof *out) : TW_OK;
}

/* Images [begin, end): one thread writes to one image. */
static void spread_images(void *context, int64_t begin, int64_t end)
{
    work *w = context;
    const tw__taps *y = w->y, *x = w->x;
    int64_t line = x->in * w->channels;
    float *sum = tw__alloc_array((size_t)line, sizeof *sum);
    if (!sum)
        w->failed = true;
    for (int64_t row = begin * y->out; sum && row < end * y->out; row++) {
        int64_t image = row / y->out, place = row % y->out;
        const float *from = w->from + row * x->out * w->channels;
        memset(sum, 0, (size_t)line * sizeof *sum);
        for (int64_t i = 0; i < x->out; i++, from += w->channels) {
            for (int64_t k = 0; k < x->count[i]; k++)
                add_scaled(sum + x->index[i * x->most + k] * w->channels, from, x->weight[i * x->most + k], w->channels);
        }
        for (int64_t k = 0; k < y->count[place]; k++)
            add_scaled(w->to + (image * y->in + y->index[place * y->most + k]) * line, sum, y->weight[place * y->most + k], line);
    }
    tw__free(sum);
}

tw_status tw__taps_spread(const tw__taps *y, const tw__taps *x, const float *grads, int64_t batch, int64_t channels, float *out)
{
    work w = { .y = y, .x = x, .from = grads, .to = out, .channels = channels };
    memset(out, 0, (size_t)(batch * y->in * x->in * channels) * sizeof *out);
    tw__parallel(batch, 1, spread_images, &w);
    return w.failed ? tw__no_memory((size_t)(x->in * channels) * sizeof *out) : TW_OK;
}

/* ---- shapes ---- */

tw_status tw__need_pair(const tw__inference *inference, int input, const char *what)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank < 0 || (shape->rank == 1 && (shape->dims[0] < 0 || shape->dims[0] == 2)))
        return TW_OK;
    return tw__fail(TW_INVALID_ARGUMENT, "%s must have two elements%s", what, tw__shape_text(shape));
}

tw_status tw__resize_shape(tw__inference *inference)
{
    const tw_shape *images = inference->shapes[0];
    if (images->rank >= 0 && images->rank != 4)
        return tw__fail(TW_INVALID_ARGUMENT, "input must be 4-dimensional%s", tw__shape_text(images));
    if (inference->shapes[1]->rank > 1 || inference->shapes[1]->rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "shape_t must be 1-dimensional%s", tw__shape_text(inference->shapes[1]));
    TW_TRY(tw__need_pair(inference, 1, "shape_t"));
    int64_t size[2] = { -1, -1 };
    if (inference->values[1]) {
        TW_TRY(tw__tensor_read_ints(inference->values[1], "size", size, 2));
        if (size[0] <= 0 || size[1] <= 0)
            return tw__fail(TW_INVALID_ARGUMENT, "output dimensions must be positive");
    }
    bool known = images->rank == 4;
    inference->out_shapes[0] = TW_SHAPE(known ? images->dims[0] : -1, size[0], size[1], known ? images->dims[3] : -1);
    return TW_OK;
}

tw_status tw__resize_check(const tw_shape *in, const tw_shape *out)
{
    if (in->dims[1] <= 0 || in->dims[2] <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "input image must be of non-zero size");
    if (out->dims[1] <= 0 || out->dims[2] <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "output dimensions must be positive");
    return TW_OK;
}
