/* LRN: elements divided by a power of the sum of squares of their neighbours among the channels; and its gradient. */
#include <math.h>

#include "op/gradient.h"
#include "op/nn/wide.h"
#include "rows.h"

static tw_status lrn_shape(tw__inference *inference)
{
    const tw_op *op = inference->op;
    for (int i = 0; i < inference->input_count; i++) {
        if (inference->shapes[i]->rank >= 0 && inference->shapes[i]->rank != 4)
            return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "in must be 4-dimensional");
        if (!tw__shape_compatible(inference->shapes[0], inference->shapes[i]))
            return tw__fail_op(op->name, TW_INVALID_ARGUMENT,
                               "input_grads, input_image, and out_image should have the same shape");
    }
    if (TW_ATTR(inference, "depth_radius")->i < 0)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "depth_radius = %lld must be >= 0",
                           (long long)TW_ATTR(inference, "depth_radius")->i);
    inference->out_shapes[0] = inference->shapes[0]->rank == 4 ? *inference->shapes[0] : TW_SHAPE(-1, -1, -1, -1);
    return TW_OK;
}

static int64_t first_of(int64_t at, int64_t radius)
{
    return at > radius ? at - radius : 0;
}

static int64_t end_of(int64_t at, int64_t radius, int64_t depth)
{
    return radius < depth - at ? at + radius + 1 < depth ? at + radius + 1 : depth : depth;
}

/* bias + alpha * the sum of squares around `at`. */
static double norm_at(const tw__kernel *kernel, const double *row, int64_t at, int64_t depth)
{
    int64_t radius = TW_ATTR(kernel, "depth_radius")->i;
    double sum = 0;
    for (int64_t k = first_of(at, radius); k < end_of(at, radius, depth); k++)
        sum += row[k] * row[k];
    return TW_ATTR(kernel, "bias")->f + TW_ATTR(kernel, "alpha")->f * sum;
}

static tw_status lrn_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0];
    double beta = TW_ATTR(kernel, "beta")->f;
    int64_t depth = input->shape.dims[3];
    tw__owned double *x = tw__wide_read(input), *y = tw__wide_new(input->count);
    if (!x || !y)
        return tw__error_status();
    for (int64_t r = 0; r < input->count; r += depth) {
        for (int64_t j = 0; j < depth; j++)
            y[r + j] = x[r + j] * pow(norm_at(kernel, x + r, j, depth), -beta);
    }
    tw__wide_write(kernel->outputs[0], y);
    return TW_OK;
}

static tw_status lrn_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[1];
    double alpha = TW_ATTR(kernel, "alpha")->f, beta = TW_ATTR(kernel, "beta")->f;
    int64_t depth = input->shape.dims[3], radius = TW_ATTR(kernel, "depth_radius")->i;
    tw__owned double *g = tw__wide_read(kernel->inputs[0]), *x = tw__wide_read(input), *y = tw__wide_read(kernel->inputs[2]),
                     *out = tw__wide_new(input->count);
    if (!g || !x || !y || !out)
        return tw__error_status();
    for (int64_t r = 0; r < input->count; r += depth) {
        for (int64_t j = 0; j < depth; j++) {
            double norm = norm_at(kernel, x + r, j, depth);
            for (int64_t k = first_of(j, radius); k < end_of(j, radius, depth); k++)
                out[r + k] += g[r + j] * (-2 * alpha * beta * x[r + k] * y[r + j] / norm + (k == j ? pow(norm, -beta) : 0));
        }
    }
    tw__wide_write(kernel->outputs[0], out);
    return TW_OK;
}

static tw_status lrn_gradient(tw__gradient *g)
{
    tw_attr attrs[] = { *TW_ATTR(g, "depth_radius"), *TW_ATTR(g, "bias"), *TW_ATTR(g, "alpha"), *TW_ATTR(g, "beta") };
    if (g->wanted[0])
        tw__grad_set(g, 0, tw__call(&tw__op_LRNGrad, TW_IN(g->output_grads[0], g->inputs[0], g->outputs[0]), 3, attrs, 4));
    return tw__grad_status(g);
}

#define LRN_ATTRS \
    "depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, T: {half, bfloat16, float} = float"

TW_OP(LRN, .inputs = "input: T", .outputs = "output: T", .attrs = LRN_ATTRS, .shape = lrn_shape, .compute = lrn_compute,
      .gradient = lrn_gradient,
      .function = "nn.local_response_normalization|nn.lrn(input: tensor, depth_radius: int = 5, bias: float = 1, "
                  "alpha: float = 1, beta: float = 0.5, name: str = None) -> tensor",
      .doc = "input / (bias + alpha * the sum of squares of depth_radius channels on both sides) ** beta.\n"
             "depth_radius: how many channels on each side are summed\n"
             "bias: what is added to the sum\n"
             "alpha: the factor of the sum\n"
             "beta: the exponent");

TW_OP(LRNGrad, .inputs = "input_grads: T, input_image: T, output_image: T", .outputs = "output: T", .attrs = LRN_ATTRS,
      .shape = lrn_shape, .compute = lrn_grad_compute, .no_gradient = true, .doc = "The gradient of LRN.");
