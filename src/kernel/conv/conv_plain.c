/* Convolutions without a library. One group: patches of the input are laid out as rows of a matrix [pixels, filter rows * filter
 * columns * channels], a block of pixels at a time, so that each block is one matrix product. Several groups: plain loops over
 * the channels. */
#include "base/pause.h"
#include "kernel/conv/conv.h"
#include "kernel/copy.h"
#include "kernel/gemm/gemm.h"
#include "kernel/simd.h"

enum { BLOCK_BYTES = 1 << 20 };

/* Calls for each filter position of an output pixel that lies on the input. Sets `pixel` (its place in the input image) and
 * `tap`. */
#define FOR_TAPS(c, row, column, pixel, tap)                                                           \
    for (int64_t tap = 0, pixel, y_, x_; tap < (c)->filter[0] * (c)->filter[1]; tap++)                 \
        if (y_ = (row) * (c)->stride[0] - (c)->before[0] + tap / (c)->filter[1] * (c)->dilation[0],    \
            x_ = (column) * (c)->stride[1] - (c)->before[1] + tap % (c)->filter[1] * (c)->dilation[1], \
            pixel = y_ * (c)->in[1] + x_, y_ >= 0 && y_ < (c)->in[0] && x_ >= 0 && x_ < (c)->in[1])

/* ---- one group ---- */

typedef struct block {
    const tw__conv *conv;
    size_t size; /* of an element */
    tw_dtype dtype;
    const char *image; /* NULL: rows are added to `target` instead */
    char *target, *patches;
    int64_t first; /* pixel of the output image */
} block;

/* The rows of pixels [begin, end) of the block. */
static void gather_patches(void *context, int64_t begin, int64_t end)
{
    const block *b = context;
    const tw__conv *c = b->conv;
    size_t channels = (size_t)c->in_channels * b->size, width = channels * (size_t)(c->filter[0] * c->filter[1]);
    for (int64_t i = begin; i < end; i++) {
        char *row = b->patches + (size_t)i * width;
        memset(row, 0, width);
        FOR_TAPS(c, (b->first + i) / c->out[1], (b->first + i) % c->out[1], pixel, tap)
        memcpy(row + (size_t)tap * channels, b->image + (size_t)pixel * channels, channels);
    }
}

/* Adds the rows back to where they came from. */
static tw_status scatter_patches(const block *b, int64_t count)
{
    const tw__conv *c = b->conv;
    size_t channels = (size_t)c->in_channels * b->size, width = channels * (size_t)(c->filter[0] * c->filter[1]);
    for (int64_t i = 0; i < count; i++) {
        const char *row = b->patches + (size_t)i * width;
        FOR_TAPS(c, (b->first + i) / c->out[1], (b->first + i) % c->out[1], pixel, tap)
        TW_TRY(tw__combine_elements(TW__COMBINE_ADD, b->dtype, b->target + (size_t)pixel * channels, row + (size_t)tap * channels,
                                    c->in_channels));
    }
    return TW_OK;
}

static tw_status run_block(tw__conv_kind kind, block *b, const char *filter, const char *output, char *result, char *part,
                           int64_t count)
{
    const tw__conv *c = b->conv;
    int64_t width = c->filter[0] * c->filter[1] * c->in_channels, n = c->out_channels;
    int64_t grain = 1 + 16384 / (width + 1);
    tw__matrix gradient = { output, n, 1, false };
    if (kind == TW_CONV_INPUT) {
        TW_TRY(tw__gemm(b->dtype, count, width, n, gradient, (tw__matrix){ filter, 1, n, false }, b->patches));
        return scatter_patches(b, count);
    }
    tw__parallel(count, grain, gather_patches, b);
    if (kind == TW_CONV_OUTPUT)
        return tw__gemm(b->dtype, count, n, width, (tw__matrix){ b->patches, width, 1, false },
                        (tw__matrix){ filter, n, 1, false }, result);
    TW_TRY(tw__gemm(b->dtype, width, n, count, (tw__matrix){ b->patches, 1, width, false }, gradient, part));
    return tw__combine_elements(TW__COMBINE_ADD, b->dtype, result, part, width * n);
}

static tw_status run_dense(tw__conv_kind kind, tw_dtype dtype, const tw__conv *c, const char *input, const char *filter,
                           const char *output, char *result)
{
    size_t size = tw__element_size(dtype);
    int64_t width = c->filter[0] * c->filter[1] * c->in_channels, pixels = c->out[0] * c->out[1];
    int64_t in_image = c->in[0] * c->in[1] * c->in_channels;
    int64_t rows = BLOCK_BYTES / (width * (int64_t)size) + 1;
    if (rows > pixels)
        rows = pixels;
    size_t patches = (size_t)(rows * width) * size, part = kind == TW_CONV_FILTER ? (size_t)(width * c->out_channels) * size : 0;
    tw__buffer *buffer = tw__buffer_new(patches + part);
    if (!buffer)
        return tw__error_status();
    tw_status status = TW_OK;
    for (int64_t image = 0; image < c->batch && status == TW_OK; image++) {
        for (int64_t first = 0; first < pixels && status == TW_OK; first += rows) {
            block b = { c, size, dtype, .patches = buffer->data, .first = first };
            size_t at = (size_t)((image * pixels + first) * c->out_channels) * size;
            b.image = input ? input + (size_t)(image * in_image) * size : NULL;
            b.target = kind == TW_CONV_INPUT ? result + (size_t)(image * in_image) * size : NULL;
            status = run_block(kind, &b, filter, output ? output + at : NULL, kind == TW_CONV_OUTPUT ? result + at : result,
                               (char *)buffer->data + patches, pixels - first < rows ? pixels - first : rows);
            status = status == TW_OK ? tw__pause() : status;
        }
    }
    tw__buffer_release(buffer);
    return status;
}

/* ---- several groups ---- */

typedef struct grouped {
    const tw__conv *conv;
    tw__conv_kind kind;
    tw_dtype dtype;
    void *input, *filter, *output;
    tw__stopper stopper;
} grouped;

/* A step at one tap: x [in_channels], w [channels of a group, out_channels], y [out_channels]; one of the three is changed. */
#define GROUP_STEPS(type)                                                                                                     \
    static TW_CLONES void step_##type(tw__conv_kind kind, int64_t groups, int64_t in, int64_t out, type *x, type *w, type *y) \
    {                                                                                                                         \
        if (in == 1 && out == 1) {                                                                                            \
            if (kind == TW_CONV_OUTPUT)                                                                                       \
                TW_INDEPENDENT for (int64_t g = 0; g < groups; g++) y[g] += x[g] * w[g];                                      \
            else if (kind == TW_CONV_INPUT)                                                                                   \
                TW_INDEPENDENT for (int64_t g = 0; g < groups; g++) x[g] += y[g] * w[g];                                      \
            else                                                                                                              \
                TW_INDEPENDENT for (int64_t g = 0; g < groups; g++) w[g] += x[g] * y[g];                                      \
            return;                                                                                                           \
        }                                                                                                                     \
        for (int64_t i = 0; i < in; i++) {                                                                                    \
            type *row = w + i * groups * out;                                                                                 \
            for (int64_t g = 0; g < groups; g++) {                                                                            \
                for (int64_t o = g * out; o < (g + 1) * out; o++) {                                                           \
                    if (kind == TW_CONV_OUTPUT)                                                                               \
                        y[o] += x[g * in + i] * row[o];                                                                       \
                    else if (kind == TW_CONV_INPUT)                                                                           \
                        x[g * in + i] += y[o] * row[o];                                                                       \
                    else                                                                                                      \
                        row[o] += x[g * in + i] * y[o];                                                                       \
                }                                                                                                             \
            }                                                                                                                 \
        }                                                                                                                     \
    }                                                                                                                         \
    static void images_##type(grouped *g, int64_t begin, int64_t end)                                                         \
    {                                                                                                                         \
        const tw__conv *c = g->conv;                                                                                          \
        type *x = g->input, *w = g->filter, *y = g->output;                                                                   \
        int64_t in = c->in_channels / c->groups, out = c->out_channels / c->groups, pixels = c->out[0] * c->out[1];           \
        for (int64_t image = begin; image < end; image++) {                                                                   \
            for (int64_t i = 0; i < pixels && (i % c->out[1] || !tw__stopper_asked(&g->stopper)); i++) {                      \
                type *pixel_out = y + (image * pixels + i) * c->out_channels;                                                 \
                FOR_TAPS(c, i / c->out[1], i % c->out[1], pixel, tap)                                                         \
                step_##type(g->kind, c->groups, in, out, x + (image * c->in[0] * c->in[1] + pixel) * c->in_channels,          \
                            w + tap * in * c->out_channels, pixel_out);                                                       \
            }                                                                                                                 \
        }                                                                                                                     \
    }
GROUP_STEPS(float)
GROUP_STEPS(double)
GROUP_STEPS(int32_t)

static void run_images(void *context, int64_t begin, int64_t end)
{
    grouped *g = context;
    if (g->dtype == TW_FLOAT32)
        images_float(g, begin, end);
    else if (g->dtype == TW_FLOAT64)
        images_double(g, begin, end);
    else
        images_int32_t(g, begin, end);
}

tw_status tw__conv_plain(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, const void *b, void *result)
{
    if (dtype != TW_FLOAT32 && dtype != TW_FLOAT64 && dtype != TW_INT32)
        return tw__fail(TW_UNIMPLEMENTED, "a convolution of %s", tw_dtype_name(dtype));
    if (kind != TW_CONV_OUTPUT || conv->groups > 1) {
        int64_t count = kind == TW_CONV_OUTPUT  ? tw__conv_output_count(conv)
                        : kind == TW_CONV_INPUT ? tw__conv_input_count(conv)
                                                : tw__conv_filter_count(conv);
        memset(result, 0, (size_t)count * tw__element_size(dtype));
    }
    const void *input = kind == TW_CONV_INPUT ? NULL : a, *filter = kind == TW_CONV_OUTPUT ? b : kind == TW_CONV_INPUT ? a : NULL;
    const void *output = kind == TW_CONV_OUTPUT ? NULL : b;
    if (conv->groups == 1)
        return run_dense(kind, dtype, conv, input, filter, output, result);
    /* The loops change one of the three, `result`, alone. */
    grouped g = { conv,
                  kind,
                  dtype,
                  kind == TW_CONV_INPUT ? result : (void *)(uintptr_t)input,
                  kind == TW_CONV_FILTER ? result : (void *)(uintptr_t)filter,
                  kind == TW_CONV_OUTPUT ? result : (void *)(uintptr_t)output,
                  .stopper = { 0 } };
    tw__stopper_begin(&g.stopper);
    if (kind == TW_CONV_FILTER) /* every image adds to the same filter */
        run_images(&g, 0, conv->batch);
    else
        tw__parallel(conv->batch, 1, run_images, &g);
    return tw__stopper_status(&g.stopper);
}
