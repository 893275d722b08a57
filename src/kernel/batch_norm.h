/* Batch normalization of rows [rows, channels]: y = (x - mean) * scale / sqrt(variance + epsilon) + offset, per channel. */
#ifndef TW_BATCH_NORM_H
#define TW_BATCH_NORM_H

#include "tensor/tensor.h"

/* The mean and the (biased) variance of each channel. */
tw_status tw__batch_moments(const float *x, int64_t rows, int64_t channels, float *mean, float *variance);
tw_status tw__batch_normalize(const float *x, int64_t rows, int64_t channels, const float *scale, const float *offset,
                              const float *mean, const float *variance, float epsilon, float *y);
/* `training`: the mean and variance are x's own and x has a part in them. */
tw_status tw__batch_norm_grad(const float *gradient, const float *x, int64_t rows, int64_t channels, const float *scale,
                              const float *mean, const float *variance, float epsilon, bool training, float *x_grad,
                              float *scale_grad, float *offset_grad);

#endif
