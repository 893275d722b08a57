/* Conv3D and its gradients as ops, which are each other's gradients. */
#include "op/nn/volume.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

/* ---- attrs and shapes ---- */

static const tw_attr *find(const tw_op *op, const tw_attr *attrs, const char *name)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    for (int i = 0; signature && i < signature->attr_count; i++) {
        if (strcmp(signature->attrs[i].name, name) == 0)
            return &attrs[i];
    }
    return NULL;
}

tw_status tw__volume_read(tw__volume_case *of, const tw_op *op, const tw_attr *attrs)
{
    *of = (tw__volume_case){ .op = op, .padding = tw__attr_find(op, attrs, "padding")->s.data[0] };
    const tw_attr *format = find(op, attrs, "data_format"), *strides = find(op, attrs, "strides"),
                  *dilations = find(op, attrs, "dilations");
    if (format && format->s.data[1] == 'C')
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "%s only supports NDHWC on the CPU, got NCDHW", op->name);
    if (strides->count != 5)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window strides field must specify 5 dimensions");
    if (dilations && dilations->count != 5)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Dilation rates field must specify 5 dimensions");
    if (strides->ints[0] != 1 || strides->ints[4] != 1)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT,
                              "Current implementation does not yet support strides in the batch and depth dimensions.");
    if (dilations && (dilations->ints[0] != 1 || dilations->ints[4] != 1))
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT,
                              "Current implementation does not yet support dilation rates in the batch and depth dimensions.");
    for (int i = 0; i < 3; i++) {
        int64_t stride = strides->ints[1 + i], dilation = dilations ? dilations->ints[1 + i] : 1;
        if (stride <= 0 || stride > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Spatial strides should be larger than 0.");
        if (dilation <= 0 || dilation > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Dilated rates should be larger than 0.");
        of->volume.stride[i] = stride;
        of->volume.dilation[i] = dilation;
    }
    return TW_OK;
}

tw_status tw__volume_need_rank(const tw_op *op, const tw_shape *shape, const char *what)
{
    if (shape->rank >= 0 && shape->rank != 5)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "%s must be 5-dimensional, got %s", what, tw__shape_text(shape));
    return TW_OK;
}

tw_status tw__volume_places(tw__volume_case *of, const tw_shape *input)
{
    tw__volume *v = &of->volume;
    v->batch = input->rank == 5 ? input->dims[0] : -1;
    v->in_channels = input->rank == 5 ? input->dims[4] : -1;
    of->output = TW_SHAPE(v->batch, -1, -1, -1, v->out_channels);
    for (int i = 0; i < 3; i++) {
        tw__window window = { .stride = { v->stride[i], 1 }, .dilation = { v->dilation[i], 1 }, .padding = of->padding };
        v->in[i] = input->rank == 5 ? input->dims[1 + i] : -1;
        TW_TRY(tw__window_places(of->op, &window, 0, v->in[i], v->filter[i], &v->out[i], &v->before[i], &v->after[i]));
        of->output.dims[1 + i] = v->out[i];
    }
    return tw__window_check_count(of->op, &of->output);
}

tw_status tw__volume_sizes(const tw_op *op, const tw_tensor *sizes, const char *what, tw_shape *shape)
{
    *shape = TW_SHAPE(-1, -1, -1, -1, -1);
    if (!sizes)
        return TW_OK;
    TW_TRY(tw__shape_of_values(op, sizes, what, false, shape));
    TW_TRY(tw__volume_need_rank(op, shape, what));
    return tw__window_check_count(op, shape);
}

/* Checks the shapes against each other; `gradient` may be NULL. */
static tw_status fit(tw__volume_case *of, const tw_shape *input, const tw_shape *filter, const tw_shape *gradient)
{
    tw__volume *v = &of->volume;
    TW_TRY(tw__volume_need_rank(of->op, input, "input"));
    TW_TRY(tw__volume_need_rank(of->op, filter, "filter"));
    for (int i = 0; i < 3; i++)
        v->filter[i] = filter->rank == 5 ? filter->dims[i] : -1;
    v->depth = filter->rank == 5 ? filter->dims[3] : -1;
    v->out_channels = filter->rank == 5 ? filter->dims[4] : -1;
    TW_TRY(tw__volume_places(of, input));
    v->groups = 1;
    if (v->depth >= 0 && v->in_channels >= 0) {
        if (v->depth == 0 || v->in_channels % v->depth)
            return TW_WINDOW_FAIL(of->op, TW_INVALID_ARGUMENT,
                                  "input depth must be evenly divisible by filter depth: %lld vs %lld", (long long)v->in_channels,
                                  (long long)v->depth);
        v->groups = v->in_channels / v->depth;
        if (v->groups > 1 && v->out_channels >= 0 && v->out_channels % v->groups)
            return TW_WINDOW_FAIL(of->op, TW_INVALID_ARGUMENT,
                                  "output depth must be evenly divisible by number of groups: %lld vs %lld",
                                  (long long)v->out_channels, (long long)v->groups);
    }
    if (gradient && !tw__shape_compatible(gradient, &of->output))
        return TW_WINDOW_FAIL(of->op, TW_INVALID_ARGUMENT, "out_backprop should have the shape %s, got %s",
                              tw__shape_text(&of->output), tw__shape_text(gradient));
    return TW_OK;
}

/* ---- rows' functions; input 0 of the gradient by the input, and input 1 of that by the filter, are shapes ---- */

static tw_status conv_shape(tw__inference *inference)
{
    tw__volume_case of;
    TW_TRY(tw__volume_read(&of, inference->op, inference->attrs));
    TW_TRY(fit(&of, inference->shapes[0], inference->shapes[1], NULL));
    inference->out_shapes[0] = of.output;
    return TW_OK;
}

static bool by_filter_op(const tw_op *op)
{
    return op == &tw__op_Conv3DBackpropFilterV2;
}

static tw_status gradient_fit(tw__volume_case *of, const tw_op *op, const tw_attr *attrs, const tw_shape *first,
                              const tw_shape *second, const tw_tensor *sizes, const tw_shape *gradient, tw_shape *shape)
{
    bool filter = by_filter_op(op);
    TW_TRY(tw__volume_read(of, op, attrs));
    TW_TRY(tw__volume_sizes(op, sizes, filter ? "filter_sizes" : "input_sizes", shape));
    TW_TRY(tw__volume_need_rank(op, gradient, "out_backprop"));
    return fit(of, filter ? first : shape, filter ? shape : second, gradient);
}

static tw_status gradient_shape(tw__inference *inference)
{
    tw__volume_case of;
    int sizes = by_filter_op(inference->op) ? 1 : 0;
    return gradient_fit(&of, inference->op, inference->attrs, inference->shapes[0], inference->shapes[1],
                        inference->values[sizes], inference->shapes[2], &inference->out_shapes[0]);
}

static tw_status conv_compute(tw__kernel *kernel)
{
    tw__volume_case of;
    const tw_tensor *input = kernel->inputs[0], *filter = kernel->inputs[1];
    TW_TRY(tw__volume_read(&of, kernel->op, kernel->attrs));
    TW_TRY(fit(&of, &input->shape, &filter->shape, NULL));
    return tw__volume_conv(TW_CONV_OUTPUT, input->dtype, &of.volume, input->data, filter->data, kernel->outputs[0]->data);
}

static tw_status gradient_compute(tw__kernel *kernel)
{
    tw__volume_case of;
    tw_shape shape;
    bool filter = by_filter_op(kernel->op);
    const tw_tensor *other = kernel->inputs[filter ? 0 : 1], *gradient = kernel->inputs[2];
    TW_TRY(gradient_fit(&of, kernel->op, kernel->attrs, &kernel->inputs[0]->shape, &kernel->inputs[1]->shape,
                        kernel->inputs[filter ? 1 : 0], &gradient->shape, &shape));
    tw_tensor *output = tw__output(kernel, 0, &shape);
    return output ? tw__volume_conv(filter ? TW_CONV_FILTER : TW_CONV_INPUT, other->dtype, &of.volume, other->data,
                                    gradient->data, output->data)
                  : tw__error_status();
}

/* ---- gradients ---- */

tw_tensor *tw__volume_call(const tw__gradient *g, const tw_op *op, tw_tensor *const *inputs, int count)
{
    tw_attr attrs[TW_MAX_ATTRS];
    int attr_count = 0;
    const tw__op_signature *own = tw__op_signature_of(g->op), *other = tw__op_signature_of(op);
    for (int i = 0; own && other && i < own->attr_count; i++) {
        bool shared = false;
        for (int k = 0; k < other->attr_count; k++)
            shared |= strcmp(own->attrs[i].name, other->attrs[k].name) == 0;
        if (shared && own->attrs[i].kind != TW_ATTR_TYPE)
            attrs[attr_count++] = g->attrs[i];
    }
    return tw__call(op, inputs, count, attrs, attr_count);
}

static tw_tensor *by_input(const tw__gradient *g, tw_tensor *input, tw_tensor *filter, tw_tensor *gradient)
{
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(input, TW_INT32);
    return tw__volume_call(g, &tw__op_Conv3DBackpropInputV2, TW_IN(sizes, filter, gradient), 3);
}

static tw_tensor *by_filter(const tw__gradient *g, tw_tensor *input, tw_tensor *filter, tw_tensor *gradient)
{
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(filter, TW_INT32);
    return tw__volume_call(g, &tw__op_Conv3DBackpropFilterV2, TW_IN(input, sizes, gradient), 3);
}

static tw_status conv_gradient(tw__gradient *g)
{
    tw_tensor *input = g->inputs[0], *filter = g->inputs[1], *gradient = g->output_grads[0];
    if (g->wanted[0])
        tw__grad_set(g, 0, by_input(g, input, filter, gradient));
    if (g->wanted[1])
        tw__grad_set(g, 1, by_filter(g, input, filter, gradient));
    return tw__grad_status(g);
}

static tw_status input_gradient(tw__gradient *g)
{
    tw_tensor *filter = g->inputs[1], *gradient = g->inputs[2], *incoming = g->output_grads[0];
    if (g->wanted[1] && !(g->input_grads[1] = by_filter(g, incoming, filter, gradient)))
        return tw__error_status();
    if (g->wanted[2] && !(g->input_grads[2] = tw__volume_call(g, &tw__op_Conv3D, TW_IN(incoming, filter), 2)))
        return tw__error_status();
    return TW_OK;
}

static tw_status filter_gradient(tw__gradient *g)
{
    tw_tensor *input = g->inputs[0], *gradient = g->inputs[2], *incoming = g->output_grads[0];
    if (g->wanted[0] && !(g->input_grads[0] = by_input(g, input, incoming, gradient)))
        return tw__error_status();
    if (g->wanted[2] && !(g->input_grads[2] = tw__volume_call(g, &tw__op_Conv3D, TW_IN(input, incoming), 2)))
        return tw__error_status();
    return TW_OK;
}

/* ---- rows ---- */

#define TYPES "T: {half, bfloat16, float, double}, "
#define WINDOW "strides: list(int) >= 5, padding: {'SAME', 'VALID'}, "
#define FORMAT "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC', "
#define DILATIONS "dilations: list(int) = [1, 1, 1, 1, 1]"

TW_OP(Conv3D, .inputs = "input: T, filter: T", .outputs = "output: T", .attrs = TYPES WINDOW FORMAT DILATIONS,
      .shape = conv_shape, .compute = conv_compute, .gradient = conv_gradient,
      .doc = "The sums of products of the filter with each window of the volumes.");

TW_OP(Conv3DBackpropInputV2, .inputs = "input_sizes: Tshape, filter: T, out_backprop: T", .outputs = "output: T",
      .attrs = TYPES WINDOW FORMAT DILATIONS ", Tshape: {int32, int64} = int32", .shape = gradient_shape,
      .compute = gradient_compute, .gradient = input_gradient,
      .doc = "The gradient of Conv3D by its input; also a transposed convolution.");

TW_OP(Conv3DBackpropFilterV2, .inputs = "input: T, filter_sizes: int32, out_backprop: T", .outputs = "output: T",
      .attrs = TYPES WINDOW FORMAT DILATIONS, .shape = gradient_shape, .compute = gradient_compute, .gradient = filter_gradient,
      .function = "compat.v1.nn.conv3d_backprop_filter|compat.v1.nn.conv3d_backprop_filter_v2(input: tensor<T>, "
                  "filter_sizes: tensor<int32>, out_backprop: tensor<T>, strides: ints, padding: str, "
                  "data_format: str = NDHWC, dilations: ints = (1, 1, 1, 1, 1), name: str = None) -> tensor",
      .doc = "The gradient of Conv3D by its filter.\n"
             "filter_sizes: the shape of the filter\n"
             "out_backprop: the gradient by the convolution's result");
