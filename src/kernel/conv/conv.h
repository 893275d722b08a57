/* Convolutions of images [batch, rows, columns, channels] and their two gradients.
 *
 * Filters are [rows, columns, channels of one group, output channels]. A depthwise filter [rows, columns, channels, multiplier]
 * is the same memory with as many groups as there are channels. Padding adds zeros that are never stored.
 *
 * conv.c chooses: oneDNN (conv_onednn.c) for floats if the library is there, else conv_plain.c. Half and bfloat16 run as float.
 * No result depends on the number of threads. The environment's THALWEG_ONEDNN=0 leaves the library out. */
#ifndef TW_CONV_H
#define TW_CONV_H

#include "kernel/gemm/epilogue.h"

/* Pairs are rows, columns. All members are int64_t: the struct is compared as bytes. */
typedef struct tw__conv {
    int64_t batch, in_channels, out_channels, groups;
    int64_t depth; /* of the filter: the channels of one group */
    int64_t in[2], out[2], filter[2], stride[2], dilation[2];
    int64_t before[2], after[2]; /* padding */
} tw__conv;

typedef enum tw__conv_kind {
    TW_CONV_OUTPUT, /* input, filter -> output */
    TW_CONV_INPUT,  /* filter, output's gradient -> input's gradient */
    TW_CONV_FILTER, /* input, output's gradient -> filter's gradient */
} tw__conv_kind;

/* `a` and `b` are the two operands in the order above. The sizes are known to fit each other and their products not to overflow.
 */
tw_status tw__conv_run(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, const void *b, void *result);
/* input, filter -> output, and then the epilogue over its channels (NULL: none). */
tw_status tw__conv_then(tw_dtype dtype, const tw__conv *conv, const void *input, const void *filter, void *output,
                        const tw__epilogue *then);

/* The first does nothing and says false where the library is missing or has no fast form; no error is set then. */
bool tw__conv_onednn(tw__conv_kind kind, const tw__conv *conv, const float *a, const float *b, float *result,
                     const tw__epilogue *then, tw_status *status);
tw_status tw__conv_plain(tw__conv_kind kind, tw_dtype dtype, const tw__conv *conv, const void *a, const void *b, void *result);

/* Part of a large product by the library, in the calling thread alone: c = a · b for float32, with strides as in gemm.h. False,
 * and nothing is done: the library is missing, or has no form for these strides. */
bool tw__gemm_onednn(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                     int64_t b_row, int64_t b_column, float *c, int64_t c_row);
bool tw__gemm_onednn_has(int64_t a_row, int64_t a_column, int64_t b_row, int64_t b_column);

/* Tests: so many bytes lie behind each piece of memory that the library gets for a convolution, and it is an error if they
 * change. */
extern size_t tw__conv_guard;

/* A filter of one pixel that skips some of the input's: what it skips can be left out before (conv_stride.c). */
static inline bool tw__conv_strides_only(const tw__conv *conv)
{
    return conv->filter[0] == 1 && conv->filter[1] == 1 && (conv->stride[0] > 1 || conv->stride[1] > 1);
}
/* The same convolution of the pixels that count, without strides and padding. */
tw__conv tw__conv_without_strides(const tw__conv *conv);
/* These pixels of an input, and back: what was skipped is zero. */
void tw__conv_take_pixels(const tw__conv *conv, const float *input, float *pixels);
void tw__conv_give_pixels(const tw__conv *conv, const float *pixels, float *input);

/* Numbers of elements. */
static inline int64_t tw__conv_input_count(const tw__conv *conv)
{
    return conv->batch * conv->in[0] * conv->in[1] * conv->in_channels;
}

static inline int64_t tw__conv_output_count(const tw__conv *conv)
{
    return conv->batch * conv->out[0] * conv->out[1] * conv->out_channels;
}

static inline int64_t tw__conv_filter_count(const tw__conv *conv)
{
    return conv->filter[0] * conv->filter[1] * conv->depth * conv->out_channels;
}

#endif
