/* Methods of variables that change a part of the value: rows (`updates` at `indices`), parts by index, rows of each member of a
 * batch. */
#include "eager/eager.h"
#include "op/array/array.h"
#include "rows.h"

static tw_variable *scatter(tw_variable *variable, const tw_op *op, tw_tensor *indices, tw_tensor *updates)
{
    return tw__variable_apply(variable, op, TW_IN(variable->handle, indices, updates), 3, NULL, 0) == TW_OK ? tw_retain(variable)
                                                                                                            : NULL;
}

TW_METHOD(variable_scatter_update, "Variable._scatter_update(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Sets rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterUpdate, args->indices, args->updates);
}

TW_METHOD(variable_scatter_add, "Variable._scatter_add(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Adds to rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterAdd, args->indices, args->updates);
}

TW_METHOD(variable_scatter_sub, "Variable._scatter_sub(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Subtracts from rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterSub, args->indices, args->updates);
}

TW_METHOD(variable_scatter_mul, "Variable._scatter_mul(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Multiplies rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterMul, args->indices, args->updates);
}

TW_METHOD(variable_scatter_div, "Variable._scatter_div(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Divides rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterDiv, args->indices, args->updates);
}

TW_METHOD(variable_scatter_min, "Variable._scatter_min(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Lowers rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterMin, args->indices, args->updates);
}

TW_METHOD(variable_scatter_max, "Variable._scatter_max(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Raises rows.")
{
    return scatter(args->self, &tw__op_ResourceScatterMax, args->indices, args->updates);
}

/* ---- by index ---- */

TW_METHOD(variable_scatter_nd_update,
          "Variable.scatter_nd_update(self: variable, indices: tensor, updates: tensor<self>, name: str = None) -> variable",
          "Sets the elements or slices that the rows of the indices name.\n"
          "indices: the last dimension holds an index for each leading dimension of the variable\n"
          "updates: the elements or slices, one for each index\n"
          "returns: the variable")
{
    return scatter(args->self, &tw__op_ResourceScatterNdUpdate, args->indices, args->updates);
}

TW_METHOD(variable_scatter_nd_add,
          "Variable.scatter_nd_add(self: variable, indices: tensor, updates: tensor<self>, name: str = None) -> variable",
          "Adds to the elements or slices that the rows of the indices name.\n"
          "indices: the last dimension holds an index for each leading dimension of the variable\n"
          "updates: the elements or slices, one for each index\n"
          "returns: the variable")
{
    return scatter(args->self, &tw__op_ResourceScatterNdAdd, args->indices, args->updates);
}

TW_METHOD(variable_scatter_nd_sub,
          "Variable.scatter_nd_sub(self: variable, indices: tensor, updates: tensor<self>, name: str = None) -> variable",
          "Subtracts from the elements or slices that the rows of the indices name.\n"
          "indices: the last dimension holds an index for each leading dimension of the variable\n"
          "updates: the elements or slices, one for each index\n"
          "returns: the variable")
{
    return scatter(args->self, &tw__op_ResourceScatterNdSub, args->indices, args->updates);
}

TW_METHOD(variable_scatter_nd_max,
          "Variable.scatter_nd_max(self: variable, indices: tensor, updates: tensor<self>, name: str = None) -> variable",
          "Raises the elements or slices that the rows of the indices name.\n"
          "indices: the last dimension holds an index for each leading dimension of the variable\n"
          "updates: the elements or slices, one for each index\n"
          "returns: the variable")
{
    return scatter(args->self, &tw__op_ResourceScatterNdMax, args->indices, args->updates);
}

TW_METHOD(variable_scatter_nd_min,
          "Variable.scatter_nd_min(self: variable, indices: tensor, updates: tensor<self>, name: str = None) -> variable",
          "Lowers the elements or slices that the rows of the indices name.\n"
          "indices: the last dimension holds an index for each leading dimension of the variable\n"
          "updates: the elements or slices, one for each index\n"
          "returns: the variable")
{
    return scatter(args->self, &tw__op_ResourceScatterNdMin, args->indices, args->updates);
}

/* ---- rows of each member of a batch ---- */

/* The place along `axis` of each element of a shape. */
static tw_tensor *places(const tw_shape *shape, int axis, tw_dtype dtype)
{
    tw_tensor *out = tw__tensor_empty(dtype, shape);
    int64_t inner = 1;
    for (int i = axis + 1; i < shape->rank; i++)
        inner *= shape->dims[i];
    for (int64_t i = 0; out && i < out->count; i++) {
        int64_t place = i / inner % shape->dims[axis];
        if (dtype == TW_INT64)
            ((int64_t *)out->data)[i] = place;
        else
            ((int32_t *)out->data)[i] = (int32_t)place;
    }
    return out;
}

TW_METHOD(variable_scatter_batch, "Variable._scatter_batch(self: variable, indices: tensor, updates: tensor<self>) -> variable",
          "Sets rows of each member of a batch: all dimensions of the indices but the last are the batch.")
{
    const tw_shape *shape = &args->indices->shape;
    tw_tensor *parts[TW_MAX_RANK] = { NULL };
    tw_variable *changed = NULL;
    if (!tw__shape_known(shape) || shape->rank < 1 || (args->indices->dtype != TW_INT32 && args->indices->dtype != TW_INT64)) {
        tw__fail(
            TW_UNIMPLEMENTED,
            "batch_scatter_update: indices of shape %s and dtype %s; expected int32 or int64 of a known shape and rank 1 or more",
            tw__shape_text(shape), tw_dtype_name(args->indices->dtype));
        return NULL;
    }
    bool made = true;
    for (int i = 0; i < shape->rank - 1; i++)
        made &= (parts[i] = places(shape, i, args->indices->dtype)) != NULL;
    parts[shape->rank - 1] = tw_retain(args->indices);
    tw_attr axis = TW_A_INT("axis", -1);
    tw_auto tw_tensor *indices = made ? tw__call(&tw__op_Pack, parts, shape->rank, &axis, 1) : NULL;
    if (indices)
        changed = scatter(args->self, &tw__op_ResourceScatterNdUpdate, indices, args->updates);
    for (int i = 0; i < shape->rank; i++)
        tw_release(parts[i]);
    return changed;
}

TW_METHOD(variable_count_up_to, "Variable.count_up_to(self: variable, limit: int) -> tensor",
          "Adds 1 unless the limit is reached; gives what it was.")
{
    tw_attr attrs[] = { TW_A_INT("limit", args->limit), TW_A_TYPE("T", args->self->resource->dtype) };
    return tw__call(&tw__op_ResourceCountUpTo, &args->self->handle, 1, attrs, 2);
}
