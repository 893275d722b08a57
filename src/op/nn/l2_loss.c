/* L2Loss: half the sum of squares. */
#include "kernel/kernel.h"
#include "kernel/simd.h"
#include "op/calls.h"
#include "rows.h"

enum { TILE = 1024, LANES = 16 };

/* In blocks, so that float's rounding stays small; the blocks' sums are double. */
#define SQUARES(type)                                                    \
    static TW_CLONES double squares_##type(const type *x, int64_t count) \
    {                                                                    \
        type lanes[LANES] = { 0 };                                       \
        int64_t i = 0;                                                   \
        for (; i + LANES <= count; i += LANES) {                         \
            for (int j = 0; j < LANES; j++)                              \
                lanes[j] += x[i + j] * x[i + j];                         \
        }                                                                \
        double sum = 0;                                                  \
        for (int j = 0; j < LANES; j++)                                  \
            sum += (double)lanes[j];                                     \
        for (; i < count; i++)                                           \
            sum += (double)x[i] * (double)x[i];                          \
        return sum;                                                      \
    }
SQUARES(float)
SQUARES(double)

static tw_status l2_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    void *out = kernel->outputs[0]->data;
    double sum = 0;
    float wide[TILE];
    for (int64_t i = 0; i < x->count; i += TILE) {
        int64_t count = x->count - i < TILE ? x->count - i : TILE;
        if (x->dtype == TW_FLOAT64) {
            sum += squares_double((const double *)x->data + i, count);
        } else if (x->dtype == TW_FLOAT32) {
            sum += squares_float((const float *)x->data + i, count);
        } else {
            tw__small_float_read(x->dtype, (const uint16_t *)x->data + i, wide, count);
            sum += squares_float(wide, count);
        }
    }
    float narrow = (float)(sum / 2);
    if (x->dtype == TW_FLOAT64)
        *(double *)out = sum / 2;
    else if (x->dtype == TW_FLOAT32)
        *(float *)out = narrow;
    else
        tw__small_float_write(x->dtype, &narrow, out, 1);
    return TW_OK;
}

static tw_status l2_gradient(tw__gradient *gradient)
{
    gradient->input_grads[0] = TW_CALL(Mul, gradient->inputs[0], gradient->output_grads[0]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(L2Loss, .inputs = "t: T", .outputs = "output: T", .attrs = "T: {half, bfloat16, float, double}", .shape = tw_shape_scalar,
      .compute = l2_compute, .gradient = l2_gradient, .function = "nn.l2_loss(t: tensor, name: str = None) -> tensor",
      .doc = "sum(t ** 2) / 2.\n"
             "t: floats of any shape\n"
             "returns: a number\n"
             "example: tf.nn.l2_loss([3.0, 4.0]).numpy()  # 12.5");
