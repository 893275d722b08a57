/* What the rows of image/ share: scales, taps (which pixels of an axis make one of the result, and how much of each), checks of
 * shapes. */
#ifndef TW_OP_IMAGE_H
#define TW_OP_IMAGE_H

#include "op/op.h"

#define TW_IMAGE_TYPES "{int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"

/* How far a step of the result goes in the image. */
static inline float tw__resize_scale(int64_t in, int64_t out, bool align_corners)
{
    return align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

/* Where place x of the result lies in the image. */
static inline float tw__resize_place(int64_t x, float scale, bool half_pixel)
{
    return half_pixel ? ((float)x + 0.5f) * scale - 0.5f : (float)x * scale;
}

/* Of one axis: place x of the result is the sum over k < count[x] of weight[x * most + k] * image[index[x * most + k]]. */
typedef struct tw__taps {
    int64_t in, out, most;
    int64_t *index, *count;
    float *weight;
} tw__taps;
tw_status tw__taps_new(tw__taps *taps, int64_t in, int64_t out, int64_t most);
void tw__taps_free(tw__taps *taps);

/* images [batch, in, in, channels] to [batch, out, out, channels]: along the columns first, sums in the order of the taps. */
tw_status tw__taps_apply(const tw__taps *y, const tw__taps *x, const float *images, int64_t batch, int64_t channels, float *out);
/* The transposed map: the gradients of the result, spread over the image (which is set to zero before). */
tw_status tw__taps_spread(const tw__taps *y, const tw__taps *x, const float *grads, int64_t batch, int64_t channels, float *out);

/* The elements as floats: the tensor's own, or in *copy, which the caller frees. NULL: no memory. */
const float *tw__image_floats(const tw_tensor *images, float **copy);

/* Output 0 is [batch, size[0], size[1], channels]; input 0 is checked to be such images and input 1 to be a size. */
tw_status tw__resize_shape(tw__inference *inference);
/* An input that is a vector of two. */
tw_status tw__need_pair(const tw__inference *inference, int input, const char *what);
/* Whether there are pixels and are to be some. */
tw_status tw__resize_check(const tw_shape *in, const tw_shape *out);

/* The gradient of CropAndResize (crop_grad.c). */
tw_status tw__crop_gradient(tw__gradient *gradient);

#endif
