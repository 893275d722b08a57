/* Loops of the activation functions. Comparisons are written so that a NaN goes through, as in TensorFlow. */
#include "kernel/elementwise/loops.h"
#include "kernel/nn.h"

#define SELU_SCALE ((element)1.0507009873554804934193349852946)
#define SELU_SCALE_ALPHA ((element)1.7580993408473768599402175208123)

#define ALL(L, name, e) TW_REALS(L, name, e) TW_INTEGERS(L, name, e)

TW_REALS(TW_UNARY_LOOP, relu, a < 0 ? 0 : a)
TW_INTEGERS(TW_UNARY_LOOP, relu, a > 0 ? a : 0)
TW_REALS(TW_UNARY_LOOP, relu6, a < 0 ? 0 : (a > 6 ? 6 : a))
TW_INTEGERS(TW_UNARY_LOOP, relu6, a > 6 ? 6 : a > 0 ? a : 0)
TW_REALS(TW_UNARY_LOOP, elu, a < 0 ? expm1(a) : a)
TW_REALS(TW_UNARY_LOOP, selu, a < 0 ? SELU_SCALE_ALPHA * expm1(a) : SELU_SCALE * a)
TW_REALS(TW_UNARY_LOOP, softsign, a / (1 + fabs(a)))

/* log(1 + exp(x)): where exp(x) is smaller than the rounding of 1, exp(x); where 1 is smaller than that of exp(x), x. */
#define FLAT ((element)(sizeof(element) == 4 ? 13.942385 : 34.04365338911715))
TW_REALS(TW_UNARY_LOOP, softplus, a > FLAT ? a : a < -FLAT ? exp(a) : log1p(exp(a)))

ALL(TW_BINARY_LOOP, relu_grad, b > 0 ? a : 0)
ALL(TW_BINARY_LOOP, relu6_grad, b > 0 && b < 6 ? a : 0)
TW_REALS(TW_BINARY_LOOP, elu_grad, b < 0 ? (b + 1) * a : a)
TW_REALS(TW_BINARY_LOOP, selu_grad, b < 0 ? (b + SELU_SCALE_ALPHA) * a : SELU_SCALE * a)
TW_REALS(TW_BINARY_LOOP, softplus_grad, a / (exp(-b) + 1))
TW_REALS(TW_BINARY_LOOP, softsign_grad, a / ((1 + fabs(b)) * (1 + fabs(b))))

#define ALL_LOOPS(name)                             \
    {                                               \
        TW_REAL_LOOPS(name), TW_INTEGER_LOOPS(name) \
    }
#define REAL_LOOPS(name)    \
    {                       \
        TW_REAL_LOOPS(name) \
    }
const tw__unary tw__unary_relu = { .loops = ALL_LOOPS(relu) };
const tw__unary tw__unary_relu6 = { .loops = ALL_LOOPS(relu6) };
const tw__unary tw__unary_elu = { .loops = REAL_LOOPS(elu), .slow = true };
const tw__unary tw__unary_selu = { .loops = REAL_LOOPS(selu), .slow = true };
const tw__unary tw__unary_softplus = { .loops = REAL_LOOPS(softplus), .slow = true };
const tw__unary tw__unary_softsign = { .loops = REAL_LOOPS(softsign) };
const tw__binary tw__binary_relu_grad = { .loops = ALL_LOOPS(relu_grad) };
const tw__binary tw__binary_relu6_grad = { .loops = ALL_LOOPS(relu6_grad) };
const tw__binary tw__binary_elu_grad = { .loops = REAL_LOOPS(elu_grad) };
const tw__binary tw__binary_selu_grad = { .loops = REAL_LOOPS(selu_grad) };
const tw__binary tw__binary_softplus_grad = { .loops = REAL_LOOPS(softplus_grad), .slow = true };
const tw__binary tw__binary_softsign_grad = { .loops = REAL_LOOPS(softsign_grad) };

/* ---- the one with a parameter ---- */

enum { TILE = 512, GRAIN = 1 << 15 };

typedef struct leaky {
    tw_dtype dtype;
    double alpha;
    const void *gradients, *features; /* gradients: NULL forwards */
    void *out;
} leaky;

#define LEAKY_ROW(type)                                                                                                       \
    static TW_CLONES void leaky_row_##type(type alpha, const type *gradients, const type *features, type *out, int64_t count) \
    {                                                                                                                         \
        if (gradients) {                                                                                                      \
            TW_INDEPENDENT                                                                                                    \
            for (int64_t i = 0; i < count; i++)                                                                               \
                out[i] = features[i] > 0 ? gradients[i] : gradients[i] * alpha;                                               \
        } else {                                                                                                              \
            TW_INDEPENDENT                                                                                                    \
            for (int64_t i = 0; i < count; i++)                                                                               \
                out[i] = features[i] > 0 ? features[i] : features[i] * alpha;                                                 \
        }                                                                                                                     \
    }
LEAKY_ROW(float)
LEAKY_ROW(double)

static void leaky_body(void *context, int64_t begin, int64_t end)
{
    const leaky *of = context;
    if (of->dtype == TW_FLOAT32) {
        leaky_row_float((float)of->alpha, of->gradients ? (const float *)of->gradients + begin : NULL,
                        (const float *)of->features + begin, (float *)of->out + begin, end - begin);
        return;
    }
    if (of->dtype == TW_FLOAT64) {
        leaky_row_double(of->alpha, of->gradients ? (const double *)of->gradients + begin : NULL,
                         (const double *)of->features + begin, (double *)of->out + begin, end - begin);
        return;
    }
    float features[TILE], gradients[TILE];
    for (int64_t i = begin; i < end; i += TILE) {
        int64_t count = end - i < TILE ? end - i : TILE;
        tw__small_float_read(of->dtype, (const uint16_t *)of->features + i, features, count);
        if (of->gradients)
            tw__small_float_read(of->dtype, (const uint16_t *)of->gradients + i, gradients, count);
        leaky_row_float((float)of->alpha, of->gradients ? gradients : NULL, features, features, count);
        tw__small_float_write(of->dtype, features, (uint16_t *)of->out + i, count);
    }
}

void tw__leaky_relu(tw_dtype dtype, double alpha, const void *x, void *y, int64_t count)
{
    tw__leaky_relu_grad(dtype, alpha, NULL, x, y, count);
}

void tw__leaky_relu_grad(tw_dtype dtype, double alpha, const void *gradients, const void *features, void *y, int64_t count)
{
    leaky of = { dtype, alpha, gradients, features, y };
    if (count <= GRAIN)
        leaky_body(&of, 0, count);
    else
        tw__parallel(count, GRAIN, leaky_body, &of);
}
