/* What many rows share: attrs by name, making outputs, common shape functions, and calls of dispatch. */
#include "op/op.h"

const tw_attr *tw__attr_find(const tw_op *op, const tw_attr *attrs, const char *name)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    for (int i = 0; i < signature->attr_count; i++) {
        if (strcmp(attrs[i].name, name) == 0)
            return &attrs[i];
    }
    static const tw_shape unknown = { .rank = -1 };
    static const tw_attr none = { .name = "", .kind = TW_ATTR_NONE, .shape = &unknown };
    return &none; /* a row that asks for an attr that it has not: the op's case in the tests shows it */
}

tw_tensor *tw__output(tw__kernel *kernel, int index, const tw_shape *shape)
{
    if (!kernel->outputs[index])
        kernel->outputs[index] = tw__tensor_empty(kernel->out_dtypes[index], shape);
    return kernel->outputs[index];
}

tw_status tw__output_take(tw__kernel *kernel, int index, tw_tensor *tensor)
{
    if (!tensor)
        return tw__error_status();
    tw_release(kernel->outputs[index]);
    kernel->outputs[index] = tensor;
    return TW_OK;
}

bool tw__partial_input(const tw__inference *inference, int input, tw_shape *shape)
{
    const tw__partial_reader *partial = &inference->partial;
    return !inference->values[input] && partial->read && partial->read(partial->context, input, shape) &&
           shape->rank <= TW_MAX_RANK;
}

tw_status tw_shape_same(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = *inference->shapes[0];
    return TW_OK;
}

tw_status tw_shape_broadcast(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (!tw__shape_broadcast(a, b, &inference->out_shapes[0]))
        return tw__fail(TW_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", tw__shape_text(a), tw__shape_text(b));
    return TW_OK;
}

tw_status tw_shape_scalar(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = TW_SCALAR;
    return TW_OK;
}

tw_status tw_shape_unknown(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

tw_status tw_shape_none(__attribute__((unused)) tw__inference *inference)
{
    return TW_OK;
}

tw_status tw__need_rank(const tw__inference *inference, int input, int rank)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank >= 0 && shape->rank != rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Shape must be rank %d but is rank %d for input %d with shape %s", rank,
                          shape->rank, input, tw__shape_text(shape));
    return TW_OK;
}

tw_status tw__need_rank_at_least(const tw__inference *inference, int input, int rank)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank >= 0 && shape->rank < rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "Shape must be at least rank %d but is rank %d for input %d with shape %s", rank, shape->rank, input,
                          tw__shape_text(shape));
    return TW_OK;
}

tw_tensor *tw__call(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count)
{
    tw_tensor *output = NULL;
    int output_count = 1;
    for (int i = 0; i < input_count; i++) {
        if (!inputs[i]) {
            tw__fail(TW_INVALID_ARGUMENT, "%s: input %d is NULL", op->name, i);
            return NULL;
        }
    }
    if (tw__apply(op, inputs, input_count, attrs, attr_count, &output, &output_count) != TW_OK)
        return NULL;
    return output;
}

int64_t tw__broadcast_index(const tw_shape *from, const tw_shape *shape, int64_t index)
{
    int64_t at = 0, step = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        int own = i - (shape->rank - from->rank);
        int64_t place = index % shape->dims[i];
        index /= shape->dims[i];
        if (own < 0)
            break;
        if (from->dims[own] != 1)
            at += place * step;
        step *= from->dims[own];
    }
    return at;
}
