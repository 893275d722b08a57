/* Shapes as values: Shape, ShapeN, Size, Rank. */
#include "op/array/array.h"
#include "op/partial.h"
#include "rows.h"

static tw_status shape_shape(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = TW_SHAPE(inference->shapes[i]->rank < 0 ? -1 : inference->shapes[i]->rank);
    return TW_OK;
}

static tw_status put_number(const tw__kernel *kernel, tw_tensor *out, int64_t at, int64_t value)
{
    if (out->dtype == TW_INT64) {
        ((int64_t *)out->data)[at] = value;
        return TW_OK;
    }
    if (value > INT32_MAX)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%lld does not fit into int32; use out_type int64", (long long)value);
    ((int32_t *)out->data)[at] = (int32_t)value;
    return TW_OK;
}

static tw_status shape_compute(tw__kernel *kernel)
{
    for (int i = 0; i < kernel->output_count; i++) {
        const tw_shape *shape = &kernel->inputs[i]->shape;
        for (int k = 0; k < shape->rank; k++)
            TW_TRY(put_number(kernel, kernel->outputs[i], k, shape->dims[k]));
    }
    return TW_OK;
}

static bool shape_partial(const tw__partial_call *call, tw_shape *elements)
{
    *elements = *call->shape(call, call->output);
    return elements->rank >= 0;
}

TW_OP(Shape, .inputs = "input: T", .outputs = "output: out_type", .attrs = "T: type, out_type: {int32, int64} = int32",
      .shape = shape_shape, .compute = shape_compute, .asks_shapes = true, .partial = shape_partial,
      .doc = "The dimensions of a tensor.");

TW_OP(ShapeN, .inputs = "input: N * T", .outputs = "output: N * out_type",
      .attrs = "N: int >= 1, T: type, out_type: {int32, int64} = int32", .shape = shape_shape, .compute = shape_compute,
      .asks_shapes = true, .partial = shape_partial, .doc = "The dimensions of several tensors.");

static tw_status size_compute(tw__kernel *kernel)
{
    return put_number(kernel, kernel->outputs[0], 0, kernel->inputs[0]->count);
}

static bool size_partial(const tw__partial_call *call, tw_shape *elements)
{
    *elements = TW_SHAPE(tw__partial_product(call->shape(call, 0)));
    return true;
}

TW_OP(Size, .inputs = "input: T", .outputs = "output: out_type", .attrs = "T: type, out_type: {int32, int64} = int32",
      .shape = tw_shape_scalar, .compute = size_compute, .asks_shapes = true, .partial = size_partial,
      .doc = "The number of elements.");

static tw_status rank_compute(tw__kernel *kernel)
{
    return put_number(kernel, kernel->outputs[0], 0, kernel->inputs[0]->shape.rank);
}

static bool rank_partial(const tw__partial_call *call, tw_shape *elements)
{
    *elements = TW_SHAPE(call->shape(call, 0)->rank);
    return true;
}

TW_OP(Rank, .inputs = "input: T", .outputs = "output: int32", .attrs = "T: type", .shape = tw_shape_scalar,
      .compute = rank_compute, .asks_shapes = true, .partial = rank_partial, .doc = "The number of dimensions.");
