/* DynamicStitch: rows put into order by index. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status stitch_shape(tw__inference *inference)
{
    int parts = inference->input_count / 2;
    tw_shape inner = TW_UNKNOWN_SHAPE;
    for (int i = 0; i < parts; i++) {
        const tw_shape *ids = inference->shapes[i], *data = inference->shapes[parts + i];
        if (ids->rank < 0 || data->rank < 0)
            continue;
        bool starts = ids->rank <= data->rank;
        for (int k = 0; starts && k < ids->rank; k++)
            starts = ids->dims[k] < 0 || data->dims[k] < 0 || ids->dims[k] == data->dims[k];
        if (!starts)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "data[%d].shape = %s does not start with indices[%d].shape = %s", i,
                              tw__shape_text(data), i, tw__shape_text(ids));
        tw_shape rest = { .rank = data->rank - ids->rank };
        for (int k = 0; k < rest.rank; k++)
            rest.dims[k] = data->dims[ids->rank + k];
        if (!tw__shape_compatible(&inner, &rest))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, data[%d].shape = %s",
                              inference->shapes[0]->rank, i, ids->rank, tw__shape_text(inference->shapes[parts]), i,
                              tw__shape_text(data));
        inner = inner.rank < 0 ? rest : inner;
    }
    if (inner.rank < 0)
        return TW_OK;
    if (inner.rank == TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "the result would have more than %d dimensions", TW_MAX_RANK);
    tw_shape *out = &inference->out_shapes[0];
    out->rank = inner.rank + 1;
    out->dims[0] = -1;
    for (int i = 0; i < inner.rank; i++)
        out->dims[i + 1] = inner.dims[i];
    return TW_OK;
}

static tw_status stitch_compute(tw__kernel *kernel)
{
    int parts = kernel->input_count / 2;
    int64_t last = -1, inner = 1;
    for (int i = 0; i < parts; i++) {
        const tw_tensor *ids = kernel->inputs[i];
        for (int64_t k = 0; k < ids->count; k++) {
            int64_t id = tw_tensor_int_at(ids, k);
            if (id < 0)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices[%lld] is out of range", (long long)k);
            last = id > last ? id : last;
        }
    }
    const tw_shape *ids = &kernel->inputs[0]->shape, *data = &kernel->inputs[parts]->shape;
    tw_shape shape = { .rank = data->rank - ids->rank + 1, .dims = { last + 1 } };
    for (int i = 1; i < shape.rank; i++)
        inner *= shape.dims[i] = data->dims[ids->rank + i - 1];
    tw_tensor *out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    size_t size = tw__element_size(out->dtype);
    if (out->dtype != TW_STRING)
        memset(out->data, 0, (size_t)out->count * size);
    for (int i = 0; i < parts; i++) {
        for (int64_t k = 0; k < kernel->inputs[i]->count; k++) {
            int64_t at = tw_tensor_int_at(kernel->inputs[i], k) * inner;
            const char *from = (const char *)kernel->inputs[parts + i]->data + (size_t)(k * inner) * size;
            for (int64_t j = 0; out->dtype == TW_STRING && j < inner; j++)
                TW_TRY(tw__string_set(out, at + j, ((const tw_string *)from)[j].data, ((const tw_string *)from)[j].size));
            if (out->dtype != TW_STRING)
                TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + (size_t)at * size, from, inner));
        }
    }
    return TW_OK;
}

static tw_tensor *gather(tw_tensor *rows, tw_tensor *indices)
{
    return TW_CALL(GatherV2, rows, indices, 0);
}

static tw_status stitch_gradient(tw__gradient *gradient)
{
    int parts = gradient->input_count / 2;
    for (int i = 0; gradient->output_grads[0] && i < parts; i++) {
        if (gradient->wanted[parts + i] &&
            !(gradient->input_grads[parts + i] = gather(gradient->output_grads[0], gradient->inputs[i])))
            return tw__error_status();
    }
    return TW_OK;
}

TW_OP(DynamicStitch, .inputs = "indices: N * int32, data: N * T", .outputs = "merged: T", .attrs = "N: int >= 1, T: type",
      .shape = stitch_shape, .compute = stitch_compute, .gradient = stitch_gradient,
      .doc = "Rows of several tensors in one, each where its index says; a later one wins.");
