/* Changing some rows of a variable: the rows that `indices` names take, or are combined with, those of `updates`. */
#include "kernel/kernel.h"
#include "op/resource.h"
#include "rows.h"

/* indices' shape, then the variable's without its first dimension; or a scalar that stands for all of it. */
static tw_status check_shapes(tw__kernel *kernel, const tw_shape *held)
{
    const tw_shape *indices = &kernel->inputs[1]->shape, *updates = &kernel->inputs[2]->shape;
    if (held->rank < 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable is a scalar: it has no rows");
    if (updates->rank == 0)
        return TW_OK;
    bool fits = updates->rank == indices->rank + held->rank - 1;
    for (int i = 0; fits && i < updates->rank; i++)
        fits = updates->dims[i] == (i < indices->rank ? indices->dims[i] : held->dims[i - indices->rank + 1]);
    if (!fits)
        return TW_OP_FAIL(
            kernel, TW_INVALID_ARGUMENT,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape %s, "
            "indices.shape %s, params.shape %s",
            tw__shape_text(updates), tw__shape_text(indices), tw__shape_text(held));
    return TW_OK;
}

static int64_t index_at(const tw_tensor *indices, int64_t i)
{
    return indices->dtype == TW_INT32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
}

static bool any_zero(const tw_tensor *tensor)
{
    static const char zero[16];
    size_t size = tw__element_size(tensor->dtype);
    for (int64_t i = 0; i < tensor->count; i++) {
        if (memcmp((const char *)tensor->data + (size_t)i * size, zero, size) == 0)
            return true;
    }
    return false;
}

static tw_status check_values(tw__kernel *kernel, const tw_tensor *held, const tw__binary *operation)
{
    const tw_tensor *indices = kernel->inputs[1], *updates = kernel->inputs[2];
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t index = index_at(indices, i);
        if (index < 0 || index >= held->shape.dims[0])
            return tw__fail(TW_INVALID_ARGUMENT, "indices[%lld] = %lld is not in [0, %lld)", (long long)i, (long long)index,
                            (long long)held->shape.dims[0]);
    }
    if (updates->dtype != held->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable is of dtype %s, the updates of %s",
                          tw_dtype_name(held->dtype), tw_dtype_name(updates->dtype));
    if (operation && !tw__binary_has(operation, held->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(held->dtype));
    return operation == &tw__binary_divide && any_zero(updates) ? tw__fail(TW_INVALID_ARGUMENT, "updates must not contain 0")
                                                                : TW_OK;
}

/* Without an operation the updates replace what is there. */
static tw_status change_rows(tw__kernel *kernel, tw_tensor *held, const tw__binary *operation)
{
    const tw_tensor *indices = kernel->inputs[1], *updates = kernel->inputs[2];
    size_t size = tw__element_size(held->dtype);
    int64_t length = held->shape.dims[0] ? held->count / held->shape.dims[0] : 0;
    bool scalar = updates->shape.rank == 0;
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t first = index_at(indices, i) * length;
        char *row = (char *)held->data + (size_t)first * size;
        const char *update = (const char *)updates->data + (scalar ? 0 : (size_t)(i * length) * size);
        if (operation) {
            tw__binary_row(operation, held->dtype, row, update, row, length, scalar ? TW_ROW_Y_SCALAR : TW_ROW_BOTH);
        } else if (held->dtype == TW_STRING) {
            for (int64_t k = 0; k < length; k++) {
                tw_string s = tw_tensor_string_at(updates, scalar ? 0 : i * length + k);
                TW_TRY(tw__string_set(held, first + k, s.data, s.size));
            }
        } else {
            for (int64_t k = 0; scalar && k < length; k++)
                memcpy(row + (size_t)k * size, update, size);
            if (!scalar)
                memcpy(row, update, (size_t)length * size);
        }
    }
    return TW_OK;
}

static tw_status scatter(tw__kernel *kernel, const tw__binary *operation)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    if (resource->dtype == TW_RESOURCE || resource->dtype == TW_VARIANT)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(resource->dtype));
    TW_TRY(tw__resource_lock(resource, &data));
    tw_tensor *held = resource->value;
    tw_status status = check_shapes(kernel, &held->shape);
    if (status == TW_OK)
        status = check_values(kernel, held, operation);
    if (status == TW_OK)
        status = change_rows(kernel, held, operation);
    tw__resource_unlock(resource);
    return status;
}

#define COMPUTE(name, operation)                        \
    static tw_status name##_compute(tw__kernel *kernel) \
    {                                                   \
        return scatter(kernel, operation);              \
    }
COMPUTE(add, &tw__binary_add)
COMPUTE(sub, &tw__binary_subtract)
COMPUTE(mul, &tw__binary_multiply)
COMPUTE(div, &tw__binary_divide)
COMPUTE(min, &tw__binary_minimum)
COMPUTE(max, &tw__binary_maximum)
COMPUTE(update, NULL)

#define SCATTER \
    .inputs = "resource: resource, indices: Tindices, updates: dtype", .shape = tw_shape_none, .stateful = true, .lets_go = true
#define NUMBERS                                                                                                                      \
    "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, uint32, uint64}, Tindices: {int32, int64}"
TW_OP(ResourceScatterAdd, SCATTER, .attrs = NUMBERS, .compute = add_compute,
      .doc = "Adds the updates to the named rows of a variable.");
TW_OP(ResourceScatterSub, SCATTER, .attrs = NUMBERS, .compute = sub_compute,
      .doc = "Subtracts the updates from the named rows of a variable.");
TW_OP(ResourceScatterMul, SCATTER, .attrs = NUMBERS, .compute = mul_compute,
      .doc = "Multiplies the named rows of a variable by the updates.");
TW_OP(ResourceScatterDiv, SCATTER, .attrs = NUMBERS, .compute = div_compute,
      .doc = "Divides the named rows of a variable by the updates.");
TW_OP(ResourceScatterMin, SCATTER, .attrs = NUMBERS, .compute = min_compute,
      .doc = "Lowers the named rows of a variable to the updates.");
TW_OP(ResourceScatterMax, SCATTER, .attrs = NUMBERS, .compute = max_compute,
      .doc = "Raises the named rows of a variable to the updates.");
TW_OP(ResourceScatterUpdate, SCATTER, .attrs = "dtype: type, Tindices: {int32, int64}", .compute = update_compute,
      .doc = "Sets the named rows of a variable.");
