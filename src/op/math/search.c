/* LowerBound and UpperBound: where values would stand in rows that are sorted. */
#include "op/op.h"
#include "rows.h"

static tw_status bound_shape(tw__inference *inference)
{
    const tw_shape *sorted = inference->shapes[0], *values = inference->shapes[1];
    TW_TRY(tw__need_rank(inference, 0, 2));
    TW_TRY(tw__need_rank(inference, 1, 2));
    if (sorted->rank == 2 && values->rank == 2 && sorted->dims[0] >= 0 && values->dims[0] >= 0 && sorted->dims[0] != values->dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "Leading dim_size of both tensors must match. [Op:%s]", inference->op->name);
    inference->out_shapes[0] = values->rank == 2 ? *values : TW_SHAPE(-1, -1);
    return TW_OK;
}

/* a < b. Integers are compared as such: as doubles the large ones would be rounded. */
static bool is_less(const tw_tensor *a, int64_t i, const tw_tensor *b, int64_t j)
{
    if (a->dtype == TW_UINT64)
        return ((const uint64_t *)a->data)[i] < ((const uint64_t *)b->data)[j];
    if (tw__dtype_is_integer(a->dtype))
        return tw_tensor_int_at(a, i) < tw_tensor_int_at(b, j);
    return tw_tensor_double_at(a, i) < tw_tensor_double_at(b, j);
}

static tw_status bound_compute(tw__kernel *kernel, bool upper)
{
    const tw_tensor *sorted = kernel->inputs[0], *values = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    if (!tw__dtype_is_integer(sorted->dtype) && !tw__dtype_is_float(sorted->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "T must be a real number's dtype, got %s", tw_dtype_name(sorted->dtype));
    int64_t size = sorted->shape.dims[1], columns = values->shape.dims[1];
    if (out->dtype == TW_INT32 && size > INT32_MAX)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "rows of %lld elements are too long for indices of int32", (long long)size);
    for (int64_t i = 0; i < values->count; i++) {
        int64_t row = i / columns * size, low = row, high = row + size;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            bool before = upper ? !is_less(values, i, sorted, middle) : is_less(sorted, middle, values, i);
            if (before)
                low = middle + 1;
            else
                high = middle;
        }
        if (out->dtype == TW_INT64)
            ((int64_t *)out->data)[i] = low - row;
        else
            ((int32_t *)out->data)[i] = (int32_t)(low - row);
    }
    return TW_OK;
}

static tw_status lower_compute(tw__kernel *kernel)
{
    return bound_compute(kernel, false);
}

static tw_status upper_compute(tw__kernel *kernel)
{
    return bound_compute(kernel, true);
}

#define BOUND .inputs = "sorted_inputs: T, values: T", .outputs = "output: out_type", \
    .attrs = "T: type, out_type: {int32, int64} = int32", .shape = bound_shape
TW_OP(LowerBound, BOUND, .compute = lower_compute, .doc = "Where each value stands in its sorted row: before those that equal it.");
TW_OP(UpperBound, BOUND, .compute = upper_compute, .doc = "Where each value stands in its sorted row: behind those that equal it.");
