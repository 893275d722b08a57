/* Convolutions by a filter of one pixel with strides are convolutions without strides of the pixels that the filter meets. */
#include "kernel/conv/conv.h"

enum { GRAIN_ELEMENTS = 1 << 14 };

tw__conv tw__conv_without_strides(const tw__conv *conv)
{
    tw__conv plain = *conv;
    for (int i = 0; i < 2; i++) {
        plain.in[i] = conv->out[i];
        plain.stride[i] = plain.dilation[i] = 1;
        plain.before[i] = plain.after[i] = 0;
    }
    return plain;
}

typedef struct copying {
    const tw__conv *conv;
    const float *from; /* of one kind of image */
    float *to;         /* of the other */
    bool back;
} copying;

/* Rows [begin, end) of all images' outputs. */
static void copy_rows(void *context, int64_t begin, int64_t end)
{
    const copying *k = context;
    const tw__conv *c = k->conv;
    size_t bytes = (size_t)c->in_channels * sizeof(float);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i % c->out[0] * c->stride[0] - c->before[0], image = i / c->out[0];
        for (int64_t s = 0; s < c->out[1]; s++) {
            int64_t column = s * c->stride[1] - c->before[1];
            bool inside = row >= 0 && row < c->in[0] && column >= 0 && column < c->in[1];
            int64_t pixel = (i * c->out[1] + s) * c->in_channels;
            int64_t place = ((image * c->in[0] + row) * c->in[1] + column) * c->in_channels;
            if (inside && k->back)
                memcpy(k->to + place, k->from + pixel, bytes);
            else if (inside)
                memcpy(k->to + pixel, k->from + place, bytes);
            else if (!k->back)
                memset(k->to + pixel, 0, bytes);
        }
    }
}

static void copy(const tw__conv *conv, const float *from, float *to, bool back)
{
    copying k = { conv, from, to, back };
    tw__parallel(conv->batch * conv->out[0], GRAIN_ELEMENTS / (conv->out[1] * conv->in_channels + 1) + 1, copy_rows, &k);
}

void tw__conv_take_pixels(const tw__conv *conv, const float *input, float *pixels)
{
    copy(conv, input, pixels, false);
}

void tw__conv_give_pixels(const tw__conv *conv, const float *pixels, float *input)
{
    memset(input, 0, (size_t)tw__conv_input_count(conv) * sizeof(float));
    copy(conv, pixels, input, true);
}
