/* tf.sets, whose sets are the rows of tensors or sparse tensors, and tf.edit_distance. */
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

static bool is_sparse(const tw_value *value)
{
    return value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_sparse_tensor);
}

/* A sparse first and a dense second change places, and so do the differences. */
static tw_sparse_tensor *operate(const tw_value *a, const tw_value *b, const char *operation, bool validate)
{
    TW_TEMPS(t);
    if (is_sparse(a) && !is_sparse(b)) {
        const tw_value *swap = a;
        a = b;
        b = swap;
        operation = strcmp(operation, "a-b") == 0 ? "b-a" : strcmp(operation, "b-a") == 0 ? "a-b" : operation;
    }
    const tw_sparse_tensor *second = is_sparse(b) ? b->object : NULL;
    tw_tensor *inputs[6], *made[3] = { NULL };
    int count = 0, outputs = 3;
    if (is_sparse(a)) {
        const tw_sparse_tensor *first = a->object;
        inputs[count++] = first->indices;
        inputs[count++] = first->values;
        inputs[count++] = first->dense_shape;
    } else {
        tw_dtype dtype = second ? second->values->dtype : TW_DTYPE_NONE;
        inputs[count] = tw__temp(t, tw__value_tensor(a, dtype, "sets"));
        if (!inputs[count++])
            return NULL;
    }
    if (second) {
        inputs[count++] = second->indices;
        inputs[count++] = second->values;
        inputs[count++] = second->dense_shape;
    } else {
        inputs[count] = tw__temp(t, tw__value_tensor(b, inputs[0]->dtype, "sets"));
        if (!inputs[count++])
            return NULL;
    }
    const tw_op *op = count == 2   ? &tw__op_DenseToDenseSetOperation
                      : count == 4 ? &tw__op_DenseToSparseSetOperation
                                   : &tw__op_SparseToSparseSetOperation;
    tw_status status =
        tw__apply(op, inputs, count, TW_WITH(TW_A_STRING("set_operation", operation), TW_A_BOOL("validate_indices", validate)), 2,
                  made, &outputs);
    return status == TW_OK ? tw__sparse_of_outputs(made) : NULL;
}

TW_API(sets_intersection,
       "sets.intersection(a: value, b: value, validate_indices: bool = "
       "True) -> sparse_tensor",
       "What rows have in common with rows.\n"
       "a: sets, one in each row: a tensor or sparse tensor\n"
       "b: others, with as many rows")
{
    return operate(&args->a, &args->b, "intersection", args->validate_indices);
}

TW_API(sets_union,
       "sets.union(a: value, b: value, validate_indices: bool = True) -> "
       "sparse_tensor",
       "What is in rows or in the others.\n"
       "a: sets, one in each row: a tensor or sparse tensor\n"
       "b: others, with as many rows")
{
    return operate(&args->a, &args->b, "union", args->validate_indices);
}

TW_API(sets_difference,
       "sets.difference(a: value, b: value, aminusb: bool = True, "
       "validate_indices: bool = True) -> sparse_tensor",
       "What is in rows and not in the others, or the other way round.\n"
       "a: sets, one in each row: a tensor or sparse tensor\n"
       "b: others, with as many rows\n"
       "aminusb: True: `a` without `b`; False: `b` without `a`")
{
    return operate(&args->a, &args->b, args->aminusb ? "a-b" : "b-a", args->validate_indices);
}

TW_API(sets_size, "sets.size(a: sparse_tensor, validate_indices: bool = True) -> tensor",
       "How many different values each row has.\n"
       "a: sets, one in each row")
{
    return TW_CALL(SetSize, args->a->indices, args->a->values, args->a->dense_shape,
                   TW_A_BOOL("validate_indices", args->validate_indices));
}

TW_API(edit_distance,
       "edit_distance(hypothesis: sparse_tensor, truth: sparse_tensor, normalize: bool = True, name: str = "
       "edit_distance) -> tensor",
       "How many changes make one row of another; with `normalize` for each value of the true one.\n"
       "hypothesis: the sequences, one in each row\n"
       "truth: what they should be\n"
       "normalize: True: divide by the length of the true sequence")
{
    const tw_sparse_tensor *a = args->hypothesis, *b = args->truth;
    return TW_CALL(EditDistance, a->indices, a->values, a->dense_shape, b->indices, b->values, b->dense_shape,
                   TW_A_BOOL("normalize", args->normalize));
}
