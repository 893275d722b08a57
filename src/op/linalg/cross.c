/* Cross: products of vectors of three. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status shape_of(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    TW_TRY(tw__need_rank_at_least(inference, 1, 1));
    if (!tw__shape_compatible(a, b))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Both inputs must be of same shape: %s vs. %s", tw__shape_text(a),
                          tw__shape_text(b));
    if (a->rank > 0 && a->dims[a->rank - 1] >= 0 && a->dims[a->rank - 1] != 3)
        return TW_OP_FAIL(inference, TW_FAILED_PRECONDITION, "Cross-products are only defined for 3-element vectors.");
    inference->out_shapes[0] = a->rank >= 0 ? *a : *b;
    return TW_OK;
}

#define CROSS(type)                                                                \
    for (int64_t v = 3 * begin; v < 3 * end; v += 3) {                             \
        const type *x = (const type *)a->data + v, *y = (const type *)b->data + v; \
        type *z = (type *)out->data + v;                                           \
        z[0] = x[1] * y[2] - x[2] * y[1];                                          \
        z[1] = x[2] * y[0] - x[0] * y[2];                                          \
        z[2] = x[0] * y[1] - x[1] * y[0];                                          \
    }

static void cross(void *context, int64_t begin, int64_t end)
{
    tw__kernel *kernel = context;
    const tw_tensor *a = kernel->inputs[0], *b = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    size_t size = tw__element_size(out->dtype);
    if (out->dtype == TW_FLOAT32) {
        CROSS(float)
        return;
    }
    if (out->dtype == TW_FLOAT64) {
        CROSS(double)
        return;
    }
    for (int64_t v = 3 * begin; v < 3 * end; v += 3) {
        for (int64_t i = 0; i < 3; i++) {
            char left[8], right[8];
            int64_t j = v + (i + 1) % 3, k = v + (i + 2) % 3;
            tw__binary_row(&tw__binary_multiply, out->dtype, (char *)a->data + (size_t)j * size,
                           (char *)b->data + (size_t)k * size, left, 1, TW_ROW_BOTH);
            tw__binary_row(&tw__binary_multiply, out->dtype, (char *)a->data + (size_t)k * size,
                           (char *)b->data + (size_t)j * size, right, 1, TW_ROW_BOTH);
            tw__binary_row(&tw__binary_subtract, out->dtype, left, right, (char *)out->data + (size_t)(v + i) * size, 1,
                           TW_ROW_BOTH);
        }
    }
}

static tw_status compute(tw__kernel *kernel)
{
    tw__parallel(kernel->outputs[0]->count / 3, 8192, cross, kernel);
    return TW_OK;
}

static tw_status gradient(tw__gradient *g)
{
    tw_tensor *dy = g->output_grads[0];
    if (g->wanted[0])
        tw__grad_set(g, 0, TW_CALL(Cross, g->inputs[1], dy));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(Cross, dy, g->inputs[0]));
    return tw__grad_status(g);
}

TW_OP(Cross, .inputs = "a: T, b: T", .outputs = "product: T",
      .attrs = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}", .shape = shape_of,
      .compute = compute, .gradient = gradient,
      .function = "linalg.cross|compat.v1.cross(a: tensor<T>, b: tensor<T>, name: str = None) -> tensor",
      .doc = "The cross products of vectors of three, which are the last dimension.\n"
             "a: vectors [..., 3]\n"
             "b: vectors of the same shape\n"
             "example: tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()  # [0, 0, 1]");
