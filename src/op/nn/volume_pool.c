/* MaxPool3D, AvgPool3D and their gradients as ops. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/nn/volume.h"
#include "rows.h"

static tw_status fit(tw__volume_case *of, const tw_op *op, const tw_attr *attrs, const tw_shape *input, const tw_shape *gradient)
{
    const tw_attr *ksize = tw__attr_find(op, attrs, "ksize");
    TW_TRY(tw__volume_read(of, op, attrs));
    if (ksize->count != 5)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window ksize field must specify 5 dimensions");
    if (ksize->ints[0] != 1 || ksize->ints[4] != 1)
        return TW_WINDOW_FAIL(op, TW_UNIMPLEMENTED, "Pooling is not yet supported on the batch or the depth dimension.");
    for (int i = 0; i < 3; i++) {
        if (ksize->ints[1 + i] <= 0 || ksize->ints[1 + i] > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window ksize must be positive, got %lld",
                                  (long long)ksize->ints[1 + i]);
        of->volume.filter[i] = ksize->ints[1 + i];
    }
    TW_TRY(tw__volume_need_rank(op, input, "tensor_in"));
    of->volume.out_channels = input->rank == 5 ? input->dims[4] : -1;
    TW_TRY(tw__volume_places(of, input));
    if (gradient && !tw__shape_compatible(gradient, &of->output))
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Expected grad shape to be %s, but got %s", tw__shape_text(&of->output),
                              tw__shape_text(gradient));
    return TW_OK;
}

static tw_status forward_shape(tw__inference *inference)
{
    tw__volume_case of;
    TW_TRY(fit(&of, inference->op, inference->attrs, inference->shapes[0], NULL));
    inference->out_shapes[0] = of.output;
    return TW_OK;
}

static tw_status forward_compute(tw__kernel *kernel)
{
    tw__volume_case of;
    const tw_tensor *input = kernel->inputs[0];
    TW_TRY(fit(&of, kernel->op, kernel->attrs, &input->shape, NULL));
    tw__volume_pool_kind kind = kernel->op == &tw__op_MaxPool3D ? TW_VOLUME_MAX : TW_VOLUME_MEAN;
    return tw__volume_pool(kind, input->dtype, &of.volume, input->data, NULL, NULL, kernel->outputs[0]->data);
}

/* MaxPool3DGrad(input, output, gradient as the output), MaxPool3DGradGrad(input, output, gradient as the input). */
static tw_status max_fit(tw__volume_case *of, const tw_op *op, const tw_attr *attrs, const tw_shape *input,
                         const tw_shape *output, const tw_shape *gradient)
{
    bool back = op == &tw__op_MaxPool3DGradGrad;
    TW_TRY(fit(of, op, attrs, input, back ? NULL : gradient));
    if (!tw__shape_compatible(output, &of->output))
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Expected orig_output shape to be %s, but got %s",
                              tw__shape_text(&of->output), tw__shape_text(output));
    if (back && !tw__shape_compatible(gradient, input))
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Expected grad shape to be %s, but got %s", tw__shape_text(input),
                              tw__shape_text(gradient));
    return TW_OK;
}

static tw_status max_grad_shape(tw__inference *inference)
{
    tw__volume_case of;
    TW_TRY(max_fit(&of, inference->op, inference->attrs, inference->shapes[0], inference->shapes[1], inference->shapes[2]));
    inference->out_shapes[0] = inference->op == &tw__op_MaxPool3DGrad ? *inference->shapes[0] : of.output;
    return TW_OK;
}

static tw_status max_grad_compute(tw__kernel *kernel)
{
    tw__volume_case of;
    tw_tensor *const *in = kernel->inputs;
    TW_TRY(max_fit(&of, kernel->op, kernel->attrs, &in[0]->shape, &in[1]->shape, &in[2]->shape));
    if (in[0]->dtype != in[2]->dtype)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "orig_input of dtype %s and grad of dtype %s; they must be the same",
                          tw_dtype_name(in[0]->dtype), tw_dtype_name(in[2]->dtype));
    if (!tw__dtype_is_float(in[0]->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(in[0]->dtype));
    tw__volume_pool_kind kind = kernel->op == &tw__op_MaxPool3DGrad ? TW_VOLUME_MAX_GRAD : TW_VOLUME_MAX_BACK;
    return tw__volume_pool(kind, in[0]->dtype, &of.volume, in[0]->data, in[1]->data, in[2]->data, kernel->outputs[0]->data);
}

static tw_status mean_grad_shape(tw__inference *inference)
{
    tw__volume_case of;
    TW_TRY(tw__volume_sizes(inference->op, inference->values[0], "orig_input_shape", &inference->out_shapes[0]));
    TW_TRY(tw__volume_need_rank(inference->op, inference->shapes[1], "grad"));
    return fit(&of, inference->op, inference->attrs, &inference->out_shapes[0], inference->shapes[1]);
}

static tw_status mean_grad_compute(tw__kernel *kernel)
{
    tw__volume_case of;
    tw_shape shape;
    const tw_tensor *gradient = kernel->inputs[1];
    TW_TRY(tw__volume_sizes(kernel->op, kernel->inputs[0], "orig_input_shape", &shape));
    TW_TRY(fit(&of, kernel->op, kernel->attrs, &shape, &gradient->shape));
    tw_tensor *output = tw__output(kernel, 0, &shape);
    return output ? tw__volume_pool(TW_VOLUME_MEAN_GRAD, gradient->dtype, &of.volume, NULL, NULL, gradient->data, output->data)
                  : tw__error_status();
}

/* ---- gradients ---- */

static tw_status max_gradient(tw__gradient *g)
{
    tw__grad_set(g, 0, tw__volume_call(g, &tw__op_MaxPool3DGrad, TW_IN(g->inputs[0], g->outputs[0], g->output_grads[0]), 3));
    return tw__grad_status(g);
}

static tw_status mean_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(g->inputs[0], TW_INT32);
    tw__grad_set(g, 0, tw__volume_call(g, &tw__op_AvgPool3DGrad, TW_IN(sizes, g->output_grads[0]), 2));
    return tw__grad_status(g);
}

/* The choice does not change by small steps: input and output get zeros. */
static tw_status max_grad_gradient(tw__gradient *g)
{
    const tw_op *back = g->op == &tw__op_MaxPool3DGrad ? &tw__op_MaxPool3DGradGrad : &tw__op_MaxPool3DGrad;
    for (int i = 0; i < 2; i++) {
        if (g->wanted[i])
            tw__grad_set(g, i, TW_CALL(ZerosLike, g->inputs[i]));
    }
    if (g->wanted[2])
        tw__grad_set(g, 2, tw__volume_call(g, back, TW_IN(g->inputs[0], g->inputs[1], g->output_grads[0]), 3));
    return tw__grad_status(g);
}

static tw_status mean_grad_gradient(tw__gradient *g)
{
    if (g->wanted[1])
        g->input_grads[1] = tw__volume_call(g, &tw__op_AvgPool3D, TW_IN(g->output_grads[0]), 1);
    return !g->wanted[1] || g->input_grads[1] ? TW_OK : tw__error_status();
}

/* ---- rows ---- */

#define WINDOW \
    "ksize: list(int) >= 5, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format: {'NDHWC', 'NCDHW'} = 'NDHWC', "

TW_OP(MaxPool3D, .inputs = "input: T", .outputs = "output: T", .attrs = WINDOW "T: {half, bfloat16, float}",
      .shape = forward_shape, .compute = forward_compute, .gradient = max_gradient,
      .doc = "The largest element of each window of the volumes.");

TW_OP(MaxPool3DGrad, .inputs = "orig_input: TInput, orig_output: TInput, grad: T", .outputs = "output: T",
      .attrs = WINDOW "T: {half, bfloat16, float} = float, TInput: {half, bfloat16, float} = float", .shape = max_grad_shape,
      .compute = max_grad_compute, .gradient = max_grad_gradient, .doc = "The gradient of MaxPool3D.");

TW_OP(MaxPool3DGradGrad, .inputs = "orig_input: T, orig_output: T, grad: T", .outputs = "output: T",
      .attrs = WINDOW "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}",
      .shape = max_grad_shape, .compute = max_grad_compute, .gradient = max_grad_gradient,
      .doc = "The gradient of MaxPool3DGrad.");

TW_OP(AvgPool3D, .inputs = "input: T", .outputs = "output: T", .attrs = WINDOW "T: {half, bfloat16, float, double}",
      .shape = forward_shape, .compute = forward_compute, .gradient = mean_gradient,
      .doc = "The mean of each window of the volumes.");

TW_OP(AvgPool3DGrad, .inputs = "orig_input_shape: int32, grad: T", .outputs = "output: T",
      .attrs = WINDOW "T: {half, bfloat16, float, double}", .shape = mean_grad_shape, .compute = mean_grad_compute,
      .gradient = mean_grad_gradient, .doc = "The gradient of AvgPool3D.");
