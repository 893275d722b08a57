/* RaggedGather (rows by index, with everything below them) and RaggedRange (a row of numbers for each start, limit and step). */
#include <math.h>

#include "op/array/array.h"
#include "op/gradient.h"
#include "op/ragged/ragged.h"
#include "rows.h"

/* ---- RaggedGather ---- */

static tw_status gather_shape(tw__inference *inference)
{
    int levels = inference->input_count - 2;
    const tw_shape *indices = inference->shapes[levels + 1];
    int64_t outputs = TW_ATTR(inference, "OUTPUT_RAGGED_RANK")->i;
    if (indices->rank >= 0 && outputs != levels + indices->rank - 1)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "OUTPUT_RAGGED_RANK is %lld, where %d ragged dimensions and indices of rank %d make %d",
                        (long long)outputs, levels, indices->rank, levels + indices->rank - 1);
    for (int i = 0; i < outputs; i++)
        inference->out_shapes[i] = TW_SHAPE(-1);
    if (outputs && indices->rank > 0 && indices->dims[0] >= 0)
        inference->out_shapes[0] = TW_SHAPE(indices->dims[0] + 1);
    inference->out_shapes[outputs] = *inference->shapes[levels];
    if (inference->out_shapes[outputs].rank > 0)
        inference->out_shapes[outputs].dims[0] = -1;
    return TW_OK;
}

/* The rows below `picks`, in order; their splits go to an output. */
static tw_status below(tw__kernel *kernel, const int64_t *splits, const int64_t *picks, int64_t count, int output, int64_t **rows,
                       int64_t *row_count)
{
    int64_t total = 0;
    tw__owned int64_t *made = tw__alloc_array((size_t)count + 1, sizeof *made);
    TW_NEED(made);
    for (int64_t i = 0; i < count; i++) {
        total += splits[picks[i] + 1] - splits[picks[i]];
        made[i + 1] = total;
    }
    *row_count = total;
    TW_NEED(*rows = tw__alloc_array((size_t)total + 1, sizeof **rows));
    for (int64_t i = 0, at = 0; i < count; i++) {
        for (int64_t k = splits[picks[i]]; k < splits[picks[i] + 1]; k++)
            (*rows)[at++] = k;
    }
    return tw__splits_give(kernel, output, made, count + 1);
}

static tw_status gather_values(tw__kernel *kernel, int output, const tw_tensor *values, const int64_t *rows, int64_t count)
{
    tw_shape shape = values->shape;
    shape.dims[0] = count;
    tw_tensor *out = tw__output(kernel, output, &shape);
    if (!out)
        return tw__error_status();
    int64_t inner = tw__row_elements(&shape);
    size_t size = (size_t)inner * tw__element_size(out->dtype);
    for (int64_t i = 0; i < count; i++)
        TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + (size_t)i * size,
                                 (const char *)values->data + (size_t)rows[i] * size, inner));
    return TW_OK;
}

static tw_status gather_levels(tw__kernel *kernel, const tw__levels *levels)
{
    const tw_tensor *values = kernel->inputs[levels->count], *indices = kernel->inputs[levels->count + 1];
    int output = 0;
    int64_t above = 1, count = indices->count;
    tw__owned int64_t *rows = tw__alloc_array((size_t)count + 1, sizeof *rows);
    TW_NEED(rows);
    for (int64_t i = 0; i < count; i++) {
        rows[i] = tw_tensor_int_at(indices, i);
        if (rows[i] < 0 || rows[i] >= levels->rows[0])
            return tw__fail(TW_INVALID_ARGUMENT, "indices[%lld] = %lld is not in [0, %lld)", (long long)i, (long long)rows[i],
                            (long long)levels->rows[0]);
    }
    for (int d = 0; d + 1 < indices->shape.rank; d++) { /* the indices' own dimensions are uniform */
        above *= indices->shape.dims[d];
        tw__owned int64_t *s = tw__alloc_array((size_t)above + 1, sizeof *s);
        TW_NEED(s);
        for (int64_t i = 0; i <= above; i++)
            s[i] = i * indices->shape.dims[d + 1];
        TW_TRY(tw__splits_give(kernel, output++, s, above + 1));
    }
    for (int k = 0; k < levels->count; k++) {
        tw__owned int64_t *before = TW_TAKE(rows);
        TW_TRY(below(kernel, levels->splits[k], before, count, output++, &rows, &count));
    }
    return gather_values(kernel, output, values, rows, count);
}

static tw_status gather_compute(tw__kernel *kernel)
{
    int count = kernel->input_count - 2;
    const tw_tensor *values = kernel->inputs[count], *indices = kernel->inputs[count + 1];
    tw__auto(tw__levels_free) tw__levels levels = { 0 };
    if (values->shape.rank < 1 || indices->shape.rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "values and indices must have a rank of 1 or more");
    TW_TRY(tw__levels_read(kernel->op, kernel->inputs, count, values->shape.dims[0], &levels));
    return gather_levels(kernel, &levels);
}

/* Where each value came from is found by gathering their numbers in the same way. */
static tw_status gather_gradient(tw__gradient *g)
{
    int count = g->input_count - 2, outputs = g->output_count;
    if (!g->wanted[count] || !g->output_grads[outputs - 1] || outputs > TW_RAGGED_LEVELS + 8)
        return TW_OK;
    TW_TEMPS(t);
    tw_tensor *sizes = TW_TEMP(Shape, g->inputs[count], TW_A_TYPE("out_type", TW_INT64));
    tw_tensor *total = TW_TEMP(GatherV2, sizes, (int64_t)0, 0), *numbers = tw__temp_range(t, total);
    TW_NEED(numbers);
    tw_tensor *inputs[TW_RAGGED_LEVELS + 2], *made[TW_RAGGED_LEVELS + 8] = { NULL };
    for (int i = 0; i < g->input_count; i++)
        inputs[i] = i == count ? numbers : g->inputs[i];
    TW_TRY(tw__apply(&tw__op_RaggedGather, inputs, g->input_count, TW_WITH(TW_A_INT("OUTPUT_RAGGED_RANK", outputs - 1)), 1, made,
                     &outputs));
    TW_TRY(tw__temp_all(t, made, outputs, TW_OK));
    tw__grad_set(g, count, TW_CALL(UnsortedSegmentSum, g->output_grads[outputs - 1], made[outputs - 1], total));
    return g->input_grads[count] ? TW_OK : tw__error_status();
}

TW_OP(RaggedGather,
      .inputs = "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices",
      .outputs = "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
      .attrs = "Tvalues: type, Tindices: {int32, int64}, Tsplits: {int32, int64} = int64, PARAMS_RAGGED_RANK: int >= 1, "
               "OUTPUT_RAGGED_RANK: int >= 0",
      .shape = gather_shape, .compute = gather_compute, .gradient = gather_gradient, .doc = "Rows of a ragged tensor by index.");

/* ---- RaggedRange ---- */

static tw_status range_shape(tw__inference *inference)
{
    int64_t rows = 1;
    for (int i = 0; i < 3; i++) {
        const tw_shape *shape = inference->shapes[i];
        if (shape->rank > 1)
            return tw__fail(TW_INVALID_ARGUMENT, "starts, limits and deltas must be scalars or vectors, got %s",
                            tw__shape_text(shape));
        if (shape->rank == 1 && rows >= 0)
            rows = shape->dims[0];
        if (shape->rank < 0)
            rows = -1;
    }
    inference->out_shapes[0] = TW_SHAPE(rows < 0 ? -1 : rows + 1);
    inference->out_shapes[1] = TW_SHAPE(-1);
    return TW_OK;
}

static int64_t at_row(const tw_tensor *tensor, int64_t row)
{
    return tensor->shape.rank ? row : 0;
}

/* How many numbers a row has. */
static tw_status range_size(tw_tensor *const *in, int64_t r, int64_t *size)
{
    const int64_t most = (int64_t)1 << 40;
    *size = 0;
    if (tw__dtype_is_integer(in[0]->dtype)) {
        int64_t start = tw_tensor_int_at(in[0], at_row(in[0], r)), limit = tw_tensor_int_at(in[1], at_row(in[1], r)),
                delta = tw_tensor_int_at(in[2], at_row(in[2], r));
        if (delta == 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Requires delta != 0");
        if (delta > 0 ? start < limit : start > limit) {
            uint64_t distance = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
            uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
            *size = (int64_t)(distance / step + (distance % step != 0));
        }
    } else {
        double start = tw_tensor_double_at(in[0], at_row(in[0], r)), limit = tw_tensor_double_at(in[1], at_row(in[1], r)),
               delta = tw_tensor_double_at(in[2], at_row(in[2], r));
        double count = ceil(fabs((limit - start) / delta));
        if (delta == 0 || !(count < 1e18))
            return tw__fail(TW_INVALID_ARGUMENT, "Requires delta != 0 and finite bounds");
        if (delta > 0 ? start < limit : start > limit)
            *size = (int64_t)count;
    }
    return *size >= 0 && *size <= most
               ? TW_OK
               : tw__fail(TW_INVALID_ARGUMENT, "Requires ((limit - start) / delta) <= %lld", (long long)most);
}

/* The k-th number of a row, at `to`; floats are summed up. */
static void range_put(tw_tensor *out, tw_tensor *const *in, int64_t r, int64_t k, int64_t to)
{
    int64_t first = at_row(in[0], r), step = at_row(in[2], r);
    if (tw__dtype_is_integer(out->dtype)) {
        int64_t value =
            (int64_t)((uint64_t)tw_tensor_int_at(in[0], first) + (uint64_t)k * (uint64_t)tw_tensor_int_at(in[2], step));
        if (out->dtype == TW_INT64)
            ((int64_t *)out->data)[to] = value;
        else
            ((int32_t *)out->data)[to] = (int32_t)value;
    } else if (out->dtype == TW_FLOAT64) {
        double start = ((const double *)in[0]->data)[first], delta = ((const double *)in[2]->data)[step];
        ((double *)out->data)[to] = k ? ((double *)out->data)[to - 1] + delta : start;
    } else if (out->dtype == TW_FLOAT32) {
        float start = ((const float *)in[0]->data)[first], delta = ((const float *)in[2]->data)[step];
        ((float *)out->data)[to] = k ? ((float *)out->data)[to - 1] + delta : start;
    } else {
        float start = (float)tw_tensor_double_at(in[0], first), delta = (float)tw_tensor_double_at(in[2], step);
        float last = k ? tw__bfloat16_to_float(((uint16_t *)out->data)[to - 1]) + delta : start;
        ((uint16_t *)out->data)[to] = tw__float_to_bfloat16(last);
    }
}

static tw_status range_compute(tw__kernel *kernel)
{
    tw_tensor *const *in = kernel->inputs;
    int64_t rows = 1, total = 0, size;
    bool vector = false;
    for (int i = 0; i < 3; i++) {
        if (in[i]->shape.rank == 1 && vector && rows != in[i]->count)
            return tw__fail(TW_INVALID_ARGUMENT, "starts, limits, and deltas must have the same shape");
        if (in[i]->shape.rank == 1) {
            rows = in[i]->count;
            vector = true;
        }
    }
    tw__owned int64_t *splits = tw__alloc_array((size_t)rows + 1, sizeof *splits);
    TW_NEED(splits);
    for (int64_t r = 0; r < rows; r++) {
        TW_TRY(range_size(in, r, &size));
        if (total > ((int64_t)1 << 40))
            return tw__fail(TW_INVALID_ARGUMENT, "Requires ((limit - start) / delta) <= %lld", (long long)((int64_t)1 << 40));
        total += size;
        splits[r + 1] = total;
    }
    TW_TRY(tw__splits_give(kernel, 0, splits, rows + 1));
    tw_tensor *out = tw__output(kernel, 1, &TW_SHAPE(total));
    TW_NEED(out);
    for (int64_t r = 0, to = 0; r < rows; r++) {
        for (int64_t k = 0; k < splits[r + 1] - splits[r]; k++, to++)
            range_put(out, in, r, k, to);
    }
    return TW_OK;
}

TW_OP(RaggedRange, .inputs = "starts: T, limits: T, deltas: T", .outputs = "rt_nested_splits: Tsplits, rt_dense_values: T",
      .attrs = "T: {bfloat16, float, double, int32, int64} = int32, Tsplits: {int32, int64} = int64", .shape = range_shape,
      .compute = range_compute, .doc = "Rows of numbers, one for each start, limit and step.");
