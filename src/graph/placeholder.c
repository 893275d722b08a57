/* Placeholders: values that come from the caller of a graph. NoOp: a node that stands for what it follows. */
#include "rows.h"

static tw_status placeholder_shape(tw__inference *inference)
{
    inference->out_shapes[0] = *TW_ATTR(inference, "shape")->shape;
    return TW_OK;
}

static tw_status placeholder_compute(tw__kernel *kernel)
{
    return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "You must feed a value for placeholder tensor with dtype %s",
                      tw_dtype_name(TW_ATTR(kernel, "dtype")->type));
}

TW_OP(Placeholder, .outputs = "output: dtype", .attrs = "dtype: type, shape: shape = unknown", .shape = placeholder_shape,
      .compute = placeholder_compute, .makes_outputs = true, .role = TW_ROLE_PLACEHOLDER,
      .doc = "A value that the caller of the graph feeds.");

static tw_status default_shape(tw__inference *inference)
{
    const tw_shape *shape = TW_ATTR(inference, "shape")->shape;
    if (!tw__shape_compatible(shape, inference->shapes[0]))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the input has shape %s, expected %s",
                          tw__shape_text(inference->shapes[0]), tw__shape_text(shape));
    inference->out_shapes[0] = *shape;
    return TW_OK;
}

static tw_status default_compute(tw__kernel *kernel)
{
    kernel->outputs[0] = tw_retain(kernel->inputs[0]);
    return TW_OK;
}

static tw_status default_gradient(tw__gradient *gradient)
{
    gradient->input_grads[0] = tw_retain(gradient->output_grads[0]);
    return TW_OK;
}

TW_OP(PlaceholderWithDefault, .inputs = "input: dtype", .outputs = "output: dtype", .attrs = "dtype: type, shape: shape",
      .shape = default_shape, .compute = default_compute, .gradient = default_gradient, .makes_outputs = true,
      .doc = "A value that the caller of the graph may feed; else its input.");

static tw_status no_op_compute(tw__kernel *kernel)
{
    (void)kernel;
    return TW_OK;
}

TW_OP(NoOp, .shape = tw_shape_none, .compute = no_op_compute, .makes_outputs = true,
      .doc = "Does nothing; other nodes are ordered by it.");
