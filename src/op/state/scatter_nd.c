/* Changing parts of a variable by index: each row of `indices` names an element or slice that takes, or is combined with, one of
 * `updates`. And the counter that stops. */
#include "op/array/array.h"
#include "op/resource.h"
#include "rows.h"

static tw_status check_shapes(tw__kernel *kernel, const tw_shape *held)
{
    const tw_shape *indices = &kernel->inputs[1]->shape, *updates = &kernel->inputs[2]->shape;
    if (held->rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "params must be at least 1-D, got shape %s", tw__shape_text(held));
    if (indices->rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Indices shape must have rank at least one. Found:%s", tw__shape_text(indices));
    bool vector = indices->rank == 1; /* one index along the first dimension */
    int64_t depth = vector ? 1 : indices->dims[indices->rank - 1];
    int rows = vector ? 1 : indices->rank - 1;
    for (int i = 0; i < rows; i++) {
        if (i >= updates->rank || updates->dims[i] != indices->dims[i])
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "Dimensions [0,%d) of indices[shape=%s] = %lld must match dimensions [0,%d) of updates[shape=%s] = %lld", rows,
                tw__shape_text(indices), (long long)indices->dims[i], rows, tw__shape_text(updates),
                (long long)(i < updates->rank ? updates->dims[i] : 0));
    }
    bool match = depth <= held->rank && updates->rank - rows == held->rank - depth;
    for (int i = 0; match && i < updates->rank - rows; i++)
        match = updates->dims[rows + i] == held->dims[depth + i];
    if (!match)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Dimensions [%lld,%d) of input[shape=%s] must match dimensions [%lld,%d) of updates[shape=%s]",
                        (long long)depth, held->rank, tw__shape_text(held), (long long)depth, updates->rank,
                        tw__shape_text(updates));
    return TW_OK;
}

/* All of them before anything is written: an error leaves the variable as it was. */
static tw_status check_indices(const tw_tensor *indices, const tw_shape *held)
{
    int64_t rows = 1, offset;
    for (int i = 0; i + 1 < indices->shape.rank; i++)
        rows *= indices->shape.dims[i];
    for (int64_t i = 0; i < rows; i++)
        TW_TRY(tw__nd_offset(indices, i, held, "shape", &offset));
    return TW_OK;
}

static tw_status change(tw__kernel *kernel, bool update, tw__combination kind)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    const tw_tensor *updates = kernel->inputs[2];
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    if (resource->dtype != updates->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable is of dtype %s, the updates of %s",
                          tw_dtype_name(resource->dtype), tw_dtype_name(updates->dtype));
    bool number = tw__dtype_is_integer(updates->dtype) || tw__dtype_is_float(updates->dtype) ||
                  (tw__dtype_is_complex(updates->dtype) && kind <= TW__COMBINE_SUB);
    if (updates->dtype == TW_RESOURCE || updates->dtype == TW_VARIANT || (!update && !number))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(updates->dtype));
    tw_tensor *given = kernel->inputs[1];
    if (given->shape.rank == 1 && given->count > 1) /* of which TensorFlow takes the first alone */
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "indices of shape %s; give one row for each index",
                          tw__shape_text(&given->shape));
    tw_auto tw_tensor *indices = given->shape.rank == 1 ? tw__tensor_view(given, &TW_SHAPE(given->count, 1)) : tw_retain(given);
    if (!indices)
        return tw__error_status();
    TW_TRY(tw__resource_lock(resource, &data));
    tw_status status = check_shapes(kernel, &resource->value->shape);
    if (status == TW_OK)
        status = check_indices(indices, &resource->value->shape);
    if (status == TW_OK)
        status = tw__scatter_nd(resource->value, indices, updates, update, kind);
    tw__resource_unlock(resource);
    return status;
}

#define COMPUTE(name, update, kind)                     \
    static tw_status name##_compute(tw__kernel *kernel) \
    {                                                   \
        return change(kernel, update, kind);            \
    }
COMPUTE(update, true, TW__COMBINE_ADD)
COMPUTE(add, false, TW__COMBINE_ADD)
COMPUTE(sub, false, TW__COMBINE_SUB)
COMPUTE(max, false, TW__COMBINE_MAX)
COMPUTE(min, false, TW__COMBINE_MIN)

#define SCATTER                                                                                                          \
    .inputs = "ref: resource, indices: Tindices, updates: T", .shape = tw_shape_none, .stateful = true, .lets_go = true, \
    .attrs = "T: type, Tindices: {int32, int64}, use_locking: bool = true"
TW_OP(ResourceScatterNdUpdate, SCATTER, .compute = update_compute, .doc = "Sets parts of a variable, by index.");
TW_OP(ResourceScatterNdAdd, SCATTER, .compute = add_compute, .doc = "Adds to parts of a variable, by index.");
TW_OP(ResourceScatterNdSub, SCATTER, .compute = sub_compute, .doc = "Subtracts from parts of a variable, by index.");
TW_OP(ResourceScatterNdMax, SCATTER, .compute = max_compute, .doc = "Raises parts of a variable, by index.");
TW_OP(ResourceScatterNdMin, SCATTER, .compute = min_compute, .doc = "Lowers parts of a variable, by index.");

/* ---- ResourceCountUpTo ---- */

static tw_status count_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    tw_tensor *out = kernel->outputs[0];
    int64_t limit = TW_ATTR(kernel, "limit")->i, before = 0;
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    if (resource->dtype != out->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable is of dtype %s, T is %s", tw_dtype_name(resource->dtype),
                          tw_dtype_name(out->dtype));
    TW_TRY(tw__resource_lock(resource, &data));
    tw_status status = TW_OK;
    const tw_shape *shape = &resource->value->shape;
    if (shape->rank != 0)
        status = tw__fail(TW_INVALID_ARGUMENT, "input is not a scalar: %s", tw__shape_text(shape));
    else if ((before = tw_tensor_int_at(resource->value, 0)) >= limit)
        status = tw__fail(TW_OUT_OF_RANGE, "Reached limit of %lld", (long long)limit);
    else if (out->dtype == TW_INT32)
        *(int32_t *)data = (int32_t)before + 1;
    else
        *(int64_t *)data = before + 1;
    tw__resource_unlock(resource);
    if (out->dtype == TW_INT32)
        *(int32_t *)out->data = (int32_t)before;
    else
        *(int64_t *)out->data = before;
    return status;
}

TW_OP(ResourceCountUpTo, .inputs = "resource: resource", .outputs = "output: T", .attrs = "limit: int, T: {int32, int64}",
      .shape = tw_shape_scalar, .compute = count_compute, .stateful = true,
      .doc = "Adds 1 to a variable that is below a limit, and gives what it was.");
