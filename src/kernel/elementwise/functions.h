/* Functions of one float that several loops contain. */
#ifndef TW_KERNEL_FUNCTIONS_H
#define TW_KERNEL_FUNCTIONS_H

#include "kernel/simd.h"

/* tanh of a float as TensorFlow computes it, to the bit: a quotient of polynomials in a², which rounds to 1 from the limit on. */
#define TANH_LIMIT 7.90531110763549805f
#define TANH_OF(a)                                                                     \
    ({                                                                                 \
        float x_ = (a) < -TANH_LIMIT ? -TANH_LIMIT : (a);                              \
        x_ = x_ > TANH_LIMIT ? TANH_LIMIT : x_;                                        \
        float s_ = x_ * x_, up_ = s_ * -2.76076847742355e-16f + 2.00018790482477e-13f; \
        up_ = s_ * up_ + -8.60467152213735e-11f;                                       \
        up_ = s_ * up_ + 5.12229709037114e-08f;                                        \
        up_ = s_ * up_ + 1.48572235717979e-05f;                                        \
        up_ = s_ * up_ + 6.37261928875436e-04f;                                        \
        up_ = x_ * (s_ * up_ + 4.89352455891786e-03f);                                 \
        float down_ = s_ * 1.19825839466702e-06f + 1.18534705686654e-04f;              \
        down_ = s_ * down_ + 2.26843463243900e-03f;                                    \
        down_ = s_ * down_ + 4.89352518554385e-03f;                                    \
        fabsf(a) < 0.0004f ? (a) : up_ / down_;                                        \
    })

/* The exponential of a negative number can't overflow. */
static inline float tw__sigmoid_of_float(float a)
{
    float e = expf(-fabsf(a));
    return (a < 0 ? e : 1.0f) / (1.0f + e);
}

#endif
