/* DynamicPartition: rows dealt out by number. ParallelConcat: tensors of one row one below the other. Empty: zeros. Inplace…:
 * rows of a copy changed. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status partition_shape(tw__inference *inference)
{
    const tw_shape *data = inference->shapes[0], *numbers = inference->shapes[1];
    if (data->rank < 0 || numbers->rank < 0)
        return TW_OK;
    bool starts = numbers->rank <= data->rank;
    for (int i = 0; starts && i < numbers->rank; i++)
        starts = numbers->dims[i] < 0 || data->dims[i] < 0 || numbers->dims[i] == data->dims[i];
    if (!starts)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "data.shape must start with partitions.shape, got data.shape = %s, partitions.shape = %s",
                          tw__shape_text(data), tw__shape_text(numbers));
    if (data->rank - numbers->rank + 1 > TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", data->rank + 1, TW_MAX_RANK);
    for (int k = 0; k < inference->output_count; k++) {
        tw_shape *out = &inference->out_shapes[k];
        *out = (tw_shape){ .rank = data->rank - numbers->rank + 1, .dims = { -1 } };
        for (int i = 1; i < out->rank; i++)
            out->dims[i] = data->dims[numbers->rank + i - 1];
    }
    return TW_OK;
}

static tw_status partition_compute(tw__kernel *kernel)
{
    const tw_tensor *data = kernel->inputs[0], *numbers = kernel->inputs[1];
    const int32_t *number = numbers->data;
    int count = kernel->output_count;
    tw__owned int64_t *sizes = tw__alloc_array((size_t)count, sizeof *sizes); /* cleared */
    TW_NEED(sizes);
    for (int64_t i = 0; i < numbers->count; i++) {
        if (number[i] < 0 || number[i] >= count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "partitions[%lld] = %d is not in [0, %d)", (long long)i, number[i],
                              count);
        sizes[number[i]]++;
    }
    tw_shape shape = { .rank = data->shape.rank - numbers->shape.rank + 1 };
    int64_t inner = 1;
    for (int i = 1; i < shape.rank; i++)
        inner *= shape.dims[i] = data->shape.dims[numbers->shape.rank + i - 1];
    for (int k = 0; k < count; k++) {
        shape.dims[0] = sizes[k];
        TW_NEED(tw__output(kernel, k, &shape));
        sizes[k] = 0;
    }
    size_t row = tw__element_size(data->dtype) * (size_t)inner;
    for (int64_t i = 0; i < numbers->count; i++) {
        tw_tensor *out = kernel->outputs[number[i]];
        TW_TRY(tw__copy_elements(data->dtype, (char *)out->data + row * (size_t)sizes[number[i]]++,
                                 (const char *)data->data + row * (size_t)i, inner));
    }
    return TW_OK;
}

/* The rows come back to where the parts of 0, 1, 2 … say. */
static tw_status partition_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    int count = g->output_count;
    if (!g->wanted[0])
        return TW_OK;
    tw_tensor *shape = tw__temp_shape(t, g->inputs[1], TW_INT32);
    tw_tensor *rows = tw__temp_range(t, TW_TEMP(Size, g->inputs[1]));
    rows = TW_TEMP(Reshape, rows, shape);
    tw_tensor **parts = tw__alloc_array(2 * (size_t)count, sizeof *parts);
    TW_NEED(parts);
    int made = count;
    tw_status status = rows ? tw__apply(&tw__op_DynamicPartition, TW_IN(rows, g->inputs[1]), 2,
                                        TW_WITH(TW_A_INT("num_partitions", count)), 1, parts, &made)
                            : tw__error_status();
    if (status == TW_OK)
        status = tw__join_gradients(g, parts + count);
    tw_auto tw_tensor *stitched = status == TW_OK ? tw__call(&tw__op_DynamicStitch, parts, 2 * count, NULL, 0) : NULL;
    for (int i = 0; i < 2 * count; i++)
        tw_release(parts[i]);
    tw__free(parts);
    g->input_grads[0] = stitched ? tw__reshape_like(tw_retain(stitched), g->inputs[0]) : NULL;
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(DynamicPartition, .inputs = "data: T, partitions: int32", .outputs = "outputs: num_partitions * T",
      .attrs = "num_partitions: int >= 1, T: type", .shape = partition_shape, .compute = partition_compute,
      .gradient = partition_gradient, .doc = "The rows whose number is 0, those whose number is 1, and so on.");

/* ---- ParallelConcat ---- */

static tw_status rows_shape(tw__inference *inference)
{
    const tw_shape *out = TW_ATTR(inference, "shape")->shape;
    if (!tw__shape_known(out))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "All input shapes must be fully defined.");
    for (int i = 0; i < inference->input_count; i++) {
        const tw_shape *in = inference->shapes[i];
        tw_shape expected = *out;
        if (expected.rank)
            expected.dims[0] = 1;
        if (in->rank >= 0 && (!out->rank || !tw__shape_compatible(in, &expected)))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "All input shapes must be fully defined and compatible: got %s, expected %s", tw__shape_text(in),
                              tw__shape_text(&expected));
    }
    if (out->dims[0] != inference->input_count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "shape's first dimension is %lld, but there are %d values",
                          (long long)out->dims[0], inference->input_count);
    inference->out_shapes[0] = *out;
    return TW_OK;
}

static tw_status rows_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    int64_t inner = out->count / kernel->input_count;
    size_t row = tw__element_size(out->dtype) * (size_t)inner;
    for (int i = 0; i < kernel->input_count; i++)
        TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + row * (size_t)i, kernel->inputs[i]->data, inner));
    return TW_OK;
}

TW_OP(ParallelConcat, .inputs = "values: N * T", .outputs = "output: T", .attrs = "N: int >= 1, T: type, shape: shape",
      .shape = rows_shape, .compute = rows_compute, .no_gradient = true, .doc = "Tensors of one row, one below the other.");

/* ---- Empty ---- */

static tw_status empty_shape(tw__inference *inference)
{
    return tw__shape_input(inference, 0, "shape");
}

static tw_status empty_compute(tw__kernel *kernel)
{
    tw_shape shape;
    TW_TRY(tw__shape_of_values(kernel->op, kernel->inputs[0], "shape", false, &shape));
    tw_tensor *out = tw__output(kernel, 0, &shape);
    TW_NEED(out);
    if (out->dtype != TW_STRING && out->count)
        memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    return TW_OK;
}

TW_OP(Empty, .inputs = "shape: int32", .outputs = "output: dtype", .attrs = "dtype: type, init: bool = false",
      .shape = empty_shape, .compute = empty_compute, .stateful = true,
      .doc = "A tensor of that shape; it holds zeros, whether `init` asks for them or not.");

/* ---- Inplace… ---- */

static tw_status rows_change(tw__kernel *kernel, bool update, tw__combination kind)
{
    const tw_tensor *x = kernel->inputs[0], *rows = kernel->inputs[1], *v = kernel->inputs[2];
    tw_tensor *y = kernel->outputs[0];
    if (!x->shape.rank || x->shape.rank != v->shape.rank)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "x and v shape doesn't match (ranks differ): %s vs. %s",
                          tw__shape_text(&x->shape), tw__shape_text(&v->shape));
    for (int i = 1; i < x->shape.rank; i++) {
        if (x->shape.dims[i] != v->shape.dims[i])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "x and v shape doesn't match at index %d : %s vs. %s", i,
                              tw__shape_text(&x->shape), tw__shape_text(&v->shape));
    }
    if (rows->shape.rank != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "i must be a vector. %s", tw__shape_text(&rows->shape));
    if (rows->count != v->shape.dims[0])
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "i and x shape doesn't match at index 0: %s vs. %s",
                          tw__shape_text(&rows->shape), tw__shape_text(&v->shape));
    TW_TRY(tw__copy_elements(y->dtype, y->data, x->data, x->count));
    int64_t count = x->shape.dims[0], inner = count ? x->count / count : 0;
    size_t row = tw__element_size(x->dtype) * (size_t)inner;
    for (int64_t k = 0; k < rows->count && count; k++) {
        int64_t at = tw_tensor_int_at(rows, k) % count;
        char *to = (char *)y->data + row * (size_t)(at < 0 ? at + count : at);
        const char *from = (const char *)v->data + row * (size_t)k;
        if (update)
            memcpy(to, from, row);
        else
            TW_TRY(tw__combine_elements(kind, x->dtype, to, from, inner));
    }
    return TW_OK;
}

static tw_status rows_update(tw__kernel *kernel)
{
    if (kernel->inputs[0]->dtype == TW_STRING || kernel->inputs[0]->dtype == TW_VARIANT ||
        kernel->inputs[0]->dtype == TW_RESOURCE)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(kernel->inputs[0]->dtype));
    return rows_change(kernel, true, TW__COMBINE_ADD);
}

static tw_status rows_add(tw__kernel *kernel)
{
    return rows_change(kernel, false, TW__COMBINE_ADD);
}

static tw_status rows_subtract(tw__kernel *kernel)
{
    return rows_change(kernel, false, TW__COMBINE_SUB);
}

#define INPLACE \
    .inputs = "x: T, i: int32, v: T", .outputs = "y: T", .attrs = "T: type", .shape = tw_shape_same, .no_gradient = true
TW_OP(InplaceUpdate, INPLACE, .compute = rows_update, .doc = "A copy of x in which the rows i are those of v.");
TW_OP(InplaceAdd, INPLACE, .compute = rows_add, .doc = "A copy of x with the rows of v added to its rows i.");
TW_OP(InplaceSub, INPLACE, .compute = rows_subtract, .doc = "A copy of x with the rows of v subtracted from its rows i.");
