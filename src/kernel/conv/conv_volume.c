/* Convolutions of volumes, and their gradients: plane k of the filter meets plane p * stride + k * dilation - before of the input
 * for every plane p of the output. The planes that it meets are put side by side and are the batch of one convolution of images
 * (conv.h). What several planes of the filter give is added in their order, so results do not depend on threads. Half and
 * bfloat16 run as float. */
#include "kernel/copy.h"
#include "kernel/kernel.h"
#include "kernel/conv/volume.h"

typedef struct planes {
    const tw__volume *v;
    size_t element;
    int64_t in_size, out_size; /* elements of a plane */
    char *input, *output;      /* packed ones */
} planes;

/* The input's plane that plane k of the filter meets for the output's plane p; -1: none. */
static int64_t met(const tw__volume *v, int64_t k, int64_t p)
{
    int64_t at = p * v->stride[0] + k * v->dilation[0] - v->before[0];
    return at >= 0 && at < v->in[0] ? at : -1;
}

/* Copies all pairs of planes that plane k of the filter joins; gives their number. */
static int64_t pack(planes *w, int64_t k, const char *input, const char *output)
{
    const tw__volume *v = w->v;
    int64_t count = 0;
    for (int64_t b = 0; b < v->batch; b++) {
        for (int64_t p = 0; p < v->out[0]; p++) {
            int64_t at = met(v, k, p);
            if (at < 0)
                continue;
            size_t in = (size_t)w->in_size * w->element, out = (size_t)w->out_size * w->element;
            if (input)
                memcpy(w->input + (size_t)count * in, input + (size_t)(b * v->in[0] + at) * in, in);
            if (output)
                memcpy(w->output + (size_t)count * out, output + (size_t)(b * v->out[0] + p) * out, out);
            count++;
        }
    }
    return count;
}

/* Adds packed planes to where they belong. */
static tw_status add(const planes *w, int64_t k, tw_dtype dtype, bool to_input, char *result)
{
    const tw__volume *v = w->v;
    int64_t count = 0, size = to_input ? w->in_size : w->out_size;
    for (int64_t b = 0; b < v->batch; b++) {
        for (int64_t p = 0; p < v->out[0]; p++) {
            int64_t at = met(v, k, p);
            if (at < 0)
                continue;
            int64_t place = to_input ? b * v->in[0] + at : b * v->out[0] + p;
            const char *from = (to_input ? w->input : w->output) + (size_t)(count++ * size) * w->element;
            TW_TRY(tw__combine_elements(TW__COMBINE_ADD, dtype, result + (size_t)(place * size) * w->element, from, size));
        }
    }
    return TW_OK;
}

static tw__conv conv_of(const tw__volume *v, int64_t images)
{
    tw__conv conv = {
        .batch = images, .in_channels = v->in_channels, .out_channels = v->out_channels, .groups = v->groups, .depth = v->depth
    };
    for (int i = 0; i < 2; i++) {
        conv.in[i] = v->in[1 + i];
        conv.out[i] = v->out[1 + i];
        conv.filter[i] = v->filter[1 + i];
        conv.stride[i] = v->stride[1 + i];
        conv.dilation[i] = v->dilation[1 + i];
        conv.before[i] = v->before[1 + i];
        conv.after[i] = v->after[1 + i];
    }
    return conv;
}

static tw_status one_plane(planes *w, int64_t k, tw__conv_kind kind, tw_dtype dtype, const char *a, const char *b, char *result)
{
    const tw__volume *v = w->v;
    size_t filter = (size_t)(v->filter[1] * v->filter[2] * v->depth * v->out_channels) * w->element;
    int64_t images = pack(w, k, kind == TW_CONV_INPUT ? NULL : a, kind == TW_CONV_OUTPUT ? NULL : b);
    tw__conv conv = conv_of(v, images);
    if (kind == TW_CONV_FILTER)
        return images ? tw__conv_run(kind, dtype, &conv, w->input, w->output, result + (size_t)k * filter) : TW_OK;
    if (!images)
        return TW_OK;
    if (kind == TW_CONV_OUTPUT)
        TW_TRY(tw__conv_run(kind, dtype, &conv, w->input, b + (size_t)k * filter, w->output));
    else
        TW_TRY(tw__conv_run(kind, dtype, &conv, a + (size_t)k * filter, w->output, w->input));
    return add(w, k, dtype, kind == TW_CONV_INPUT, result);
}

static int64_t count_of(const tw__volume *v, tw__conv_kind kind, int operand)
{
    /* operand 0, 1: a and b; 2: the result */
    static const char parts[3][3] = { { 'i', 'f', 'o' }, { 'f', 'o', 'i' }, { 'i', 'o', 'f' } };
    char part = parts[kind][operand];
    return part == 'i' ? tw__volume_in_count(v) : part == 'o' ? tw__volume_out_count(v) : tw__volume_filter_count(v);
}

static tw_status run(tw__conv_kind kind, tw_dtype dtype, const tw__volume *v, const void *a, const void *b, void *result)
{
    planes w = { .v = v,
                 .element = tw__element_size(dtype),
                 .in_size = v->in[1] * v->in[2] * v->in_channels,
                 .out_size = v->out[1] * v->out[2] * v->out_channels };
    memset(result, 0, (size_t)count_of(v, kind, 2) * w.element);
    if (!count_of(v, kind, 0) || !count_of(v, kind, 1) || !count_of(v, kind, 2))
        return TW_OK;
    size_t room = (size_t)(v->batch * v->out[0]);
    w.input = tw__alloc_array(room * (size_t)w.in_size, w.element);
    w.output = tw__alloc_array(room * (size_t)w.out_size, w.element);
    tw_status status = w.input && w.output ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int64_t k = 0; status == TW_OK && k < v->filter[0]; k++)
        status = one_plane(&w, k, kind, dtype, a, b, result);
    tw__free(w.input);
    tw__free(w.output);
    return status;
}

tw_status tw__volume_conv(tw__conv_kind kind, tw_dtype dtype, const tw__volume *v, const void *a, const void *b, void *result)
{
    if (dtype != TW_FLOAT16 && dtype != TW_BFLOAT16)
        return run(kind, dtype, v, a, b, result);
    float *floats[3];
    tw_status status = TW_OK;
    for (int i = 0; i < 3; i++) {
        floats[i] = tw__alloc_array((size_t)count_of(v, kind, i) + 1, sizeof(float));
        status = floats[i] ? status : TW_RESOURCE_EXHAUSTED;
    }
    if (status == TW_OK) {
        tw__small_float_read(dtype, a, floats[0], count_of(v, kind, 0));
        tw__small_float_read(dtype, b, floats[1], count_of(v, kind, 1));
        status = run(kind, TW_FLOAT32, v, floats[0], floats[1], floats[2]);
    }
    if (status == TW_OK)
        tw__small_float_write(dtype, floats[2], result, count_of(v, kind, 2));
    for (int i = 0; i < 3; i++)
        tw__free(floats[i]);
    return status;
}
