/* Tensors made without inputs of data: Const, Fill. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "op/wording.h"
#include "rows.h"

static tw_status const_shape(tw__inference *inference)
{
    const tw_tensor *value = TW_ATTR(inference, "value")->tensor;
    if (!value)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the attr value is missing");
    if (value->dtype != TW_ATTR(inference, "dtype")->type)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the value has dtype %s, expected %s", tw_dtype_name(value->dtype),
                          tw_dtype_name(TW_ATTR(inference, "dtype")->type));
    inference->out_shapes[0] = value->shape;
    return TW_OK;
}

static tw_status const_compute(tw__kernel *kernel)
{
    tw_tensor *value = TW_ATTR(kernel, "value")->tensor;
    return tw__output_take(kernel, 0, tw__tensor_view(value, &value->shape));
}

TW_OP(Const, .outputs = "output: dtype", .attrs = "value: tensor, dtype: type", .shape = const_shape, .compute = const_compute,
      .makes_outputs = true, .role = TW_ROLE_CONSTANT, .doc = "A constant.");

static tw_status fill_shape(tw__inference *inference)
{
    const tw_shape *value = inference->shapes[1];
    bool one = value->rank == 0 || (value->rank == 1 && value->dims[0] == 1);
    if (tw__shape_known(value) && !one)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "value must represent a scalar, got shape %s", tw__shape_text(value));
    return tw__shape_input(inference, 0, "dims");
}

static tw_status fill_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    return tw__fill_elements(out->dtype, out->data, kernel->inputs[1]->data, out->count);
}

static tw_status fill_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[1])
        return TW_OK;
    tw_auto tw_tensor *all = tw__all_axes(dy);
    gradient->input_grads[1] = tw__reshape_like(TW_CALL(Sum, dy, all), gradient->inputs[1]);
    return gradient->input_grads[1] ? TW_OK : tw__error_status();
}

static bool fill_words(tw__wording *w)
{
    w->partials = 1;
    tw__text_add(&w->text, "Fill dimensions must be >= 0");
    return true;
}

TW_OP(Fill, .inputs = "dims: index_type, value: T", .outputs = "output: T",
      .attrs = "T: type, index_type: {int32, int64} = int32", .shape = fill_shape, .compute = fill_compute,
      .gradient = fill_gradient, .words = fill_words, .static_value = true, .doc = "A tensor of one value.");
