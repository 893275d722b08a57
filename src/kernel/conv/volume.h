/* Convolutions and pooling of volumes [batch, planes, rows, columns, channels]. */
#ifndef TW_VOLUME_H
#define TW_VOLUME_H

#include "kernel/conv/conv.h"

/* Triples are planes, rows, columns; filters are [planes, rows, columns, channels of one group, output channels]. */
typedef struct tw__volume {
    int64_t batch, in_channels, out_channels, groups, depth;
    int64_t in[3], out[3], filter[3], stride[3], dilation[3], before[3], after[3];
} tw__volume;

/* Like tw__conv_run: plane by plane of the filter, each a convolution of the planes that it meets (conv_volume.c). */
tw_status tw__volume_conv(tw__conv_kind kind, tw_dtype dtype, const tw__volume *volume, const void *a, const void *b,
                          void *result);

/* Pooling (pool_volume.c): `filter` is the window. Floats; of max_grad also what goes back: result [as the output] takes the
 * elements of `gradient` [as the input] that were chosen. */
typedef enum tw__volume_pool_kind {
    TW_VOLUME_MAX,
    TW_VOLUME_MAX_GRAD,
    TW_VOLUME_MAX_BACK,
    TW_VOLUME_MEAN,
    TW_VOLUME_MEAN_GRAD
} tw__volume_pool_kind;
tw_status tw__volume_pool(tw__volume_pool_kind kind, tw_dtype dtype, const tw__volume *volume, const void *input,
                          const void *output, const void *gradient, void *result);

static inline int64_t tw__volume_in_count(const tw__volume *v)
{
    return v->batch * v->in[0] * v->in[1] * v->in[2] * v->in_channels;
}

static inline int64_t tw__volume_out_count(const tw__volume *v)
{
    return v->batch * v->out[0] * v->out[1] * v->out[2] * v->out_channels;
}

static inline int64_t tw__volume_filter_count(const tw__volume *v)
{
    return v->filter[0] * v->filter[1] * v->filter[2] * v->depth * v->out_channels;
}

#endif
