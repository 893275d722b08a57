/* Functions that cast, choose, clip, sum and hand on. */
#include "api/api.h"
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

TW_API(cast, "cast|dtypes.cast(x: tensor|ragged|sparse, dtype: dtype, name: str = None) -> tensor", "x as another dtype.")
{
    if (args->x->dtype == args->dtype)
        return tw_retain(args->x);
    return TW_CALL(Cast, args->x, TW_A_TYPE("DstT", args->dtype));
}

static tw_tensors apply_to_all(tw_tensors inputs, const tw_op *op)
{
    tw_tensors none = { 0 }, out = { tw__alloc_array((size_t)inputs.count + 1, sizeof(tw_tensor *)), inputs.count };
    int count = (int)inputs.count;
    if (!out.items)
        return none;
    if (inputs.count > INT32_MAX || tw__apply(op, inputs.items, count, NULL, 0, out.items, &count) != TW_OK) {
        tw__free(out.items);
        return none;
    }
    return out;
}

TW_API(identity_n, "identity_n(input: tensors, name: str = None) -> tensors",
       "Tensors with the same values.\n"
       "input: tensors")
{
    return apply_to_all(args->input, &tw__op_IdentityN);
}

/* ---- choosing ---- */

TW_API(where, "where|compat.v1.where_v2(condition: tensor, x: tensor<T> = None, y: tensor<T> = None, name: str = None) -> tensor",
       "x where the condition is true, else y; without x and y the indices of what is true.\n"
       "condition: booleans\n"
       "x: what to take where the condition is true\n"
       "y: what to take elsewhere\n"
       "returns: a tensor of the shape that all three have together, or indices [n, rank] of what is true\n"
       "example: tf.where([True, False, True], [1, 2, 3], 0).numpy().tolist()  # [1, 0, 3]\n"
       "example: tf.where([True, False, True]).numpy().tolist()  # [[0], [2]]")
{
    if (!args->x != !args->y) {
        tw__fail(TW_VALUE_ERROR, "x and y must both be non-None or both be None.");
        return NULL;
    }
    if (!args->x)
        return TW_CALL(Where, args->condition);
    return TW_CALL(SelectV2, args->condition, args->x, args->y);
}

TW_API(clip_by_value,
       "clip_by_value(t: tensor<T>|ragged, clip_value_min: tensor<T>, clip_value_max: tensor<T>, name: str = None) -> tensor",
       "t, with what lies below the minimum or above the maximum set to that limit.\n"
       "t: a tensor\n"
       "clip_value_min: the least value\n"
       "clip_value_max: the greatest value\n"
       "example: tf.clip_by_value([-5, 3, 50], 0, 10).numpy().tolist()  # [0, 3, 10]")
{
    tw_auto tw_tensor *low = TW_CALL(Minimum, args->t, args->clip_value_max);
    tw_tensor *out = TW_CALL(Maximum, low, args->clip_value_min);
    if (out && !tw__shape_compatible(&out->shape, &args->t->shape)) {
        char *given = tw__shape_tuple(&args->t->shape), *made = tw__shape_tuple(&out->shape);
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", given ? given : "", made ? made : "");
        tw__free(given);
        tw__free(made);
        tw_release(out);
        return NULL;
    }
    return out;
}

/* ---- norms ---- */

static tw_tensor *sum_of_squares(tw_tensor *t, tw_ints axes, bool keep)
{
    tw_auto tw_tensor *squares = TW_CALL(Mul, t, t);
    return tw__reduce_axes(&tw__op_Sum, squares, axes.items ? axes : (tw_ints){ 0 }, keep);
}

tw_tensor *tw__clip_by_squares(tw_tensor *t, tw_tensor *limit, tw_tensor *sum)
{
    if (!sum)
        return NULL;
    /* The root of zero has no derivative: it is kept out of the way. */
    tw_auto tw_tensor *positive = TW_CALL(Greater, sum, 0.0);
    tw_auto tw_tensor *ones = positive ? TW_CALL(OnesLike, sum) : NULL;
    tw_auto tw_tensor *safe = TW_CALL(SelectV2, positive, sum, ones);
    tw_auto tw_tensor *root = TW_CALL(Sqrt, safe);
    tw_auto tw_tensor *norm = TW_CALL(SelectV2, positive, root, sum);
    tw_auto tw_tensor *scaled = norm ? TW_CALL(Mul, t, limit) : NULL;
    if (scaled && !tw__shape_compatible(&scaled->shape, &t->shape)) {
        tw__fail(TW_VALUE_ERROR, "clip_norm of shape %s changes the shape %s of t", tw__shape_text(&limit->shape),
                 tw__shape_text(&t->shape));
        return NULL;
    }
    tw_auto tw_tensor *largest = scaled ? TW_CALL(Maximum, norm, limit) : NULL;
    return TW_CALL(RealDiv, scaled, largest);
}

TW_API(clip_by_norm, "clip_by_norm(t: tensor<T>, clip_norm: tensor<T>, axes: ints = None, name: str = None) -> tensor",
       "t, scaled down where its norm along the axes is above clip_norm.\n"
       "t: a tensor\n"
       "clip_norm: the greatest norm, above 0\n"
       "axes: the dimensions that the norm is computed over; None: all")
{
    tw_auto tw_tensor *sum = sum_of_squares(args->t, args->axes, true);
    return tw__clip_by_squares(args->t, args->clip_norm, sum);
}

static tw_tensor *global_norm(tw_tensors list)
{
    TW_TEMPS(t);
    tw_tensor *total = NULL;
    if (list.count == 0) {
        tw__fail(TW_VALUE_ERROR, "t_list is empty: there is no norm");
        return NULL;
    }
    for (int64_t i = 0; i < list.count; i++) {
        tw_tensor *part = tw__temp(t, sum_of_squares(list.items[i], (tw_ints){ 0 }, false));
        total = i ? TW_TEMP(AddV2, total, part) : part;
    }
    return TW_CALL(Sqrt, total);
}

TW_API(linalg_global_norm, "linalg.global_norm|compat.v1.global_norm(t_list: tensors<T>, name: str = None) -> tensor",
       "The square root of the sum of the squares of all elements of all tensors.\n"
       "t_list: tensors\n"
       "example: tf.linalg.global_norm([[3.0], [4.0]]).numpy()  # 5.0")
{
    return global_norm(args->t_list);
}

/* (clipped, norm) as a value: a list and a tensor in a tuple. Takes both. */
static tw_value pair_of(tw_tensors clipped, tw_tensor *norm)
{
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_value *items = tw__alloc_array((size_t)clipped.count + 1, sizeof *items);
    tw_value *pair = tw__alloc_array(2, sizeof *pair);
    if (!items || !pair) {
        tw__free(items);
        tw__free(pair);
        tw_tensors_free(&clipped);
        tw_release(norm);
        return none;
    }
    for (int64_t i = 0; i < clipped.count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = clipped.items[i] };
    tw__free(clipped.items);
    pair[0] = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, clipped.count } };
    pair[1] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = norm };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } };
}

TW_API(clip_by_global_norm,
       "clip_by_global_norm(t_list: tensors<T>, clip_norm: tensor<T>, use_norm: tensor<T> = None, name: str = None) -> value",
       "The tensors scaled so that their global norm is at most clip_norm, and that norm as it was.\n"
       "t_list: tensors\n"
       "clip_norm: the greatest norm that all of them may have together\n"
       "use_norm: the global norm, if it is known; None: it is computed\n"
       "returns: the list of tensors, and the global norm")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_tensor *norm = args->use_norm ? args->use_norm : tw__temp(t, global_norm(args->t_list));
    /* clip_norm * min(1 / norm, 1 / clip_norm), and not a number if the norm is not finite */
    tw_tensor *least = TW_TEMP(Minimum, TW_TEMP(RealDiv, 1.0, norm), TW_TEMP(RealDiv, 1.0, args->clip_norm));
    tw_tensor *scale = TW_TEMP(AddV2, TW_TEMP(Mul, args->clip_norm, least), TW_TEMP(Sub, norm, norm));
    tw_tensors clipped = { scale ? tw__alloc_array((size_t)args->t_list.count + 1, sizeof(tw_tensor *)) : NULL,
                           args->t_list.count };
    if (!clipped.items)
        return none;
    for (int64_t i = 0; i < clipped.count; i++) {
        if (!(clipped.items[i] = TW_CALL(Mul, args->t_list.items[i], scale))) {
            tw_tensors_free(&clipped);
            return none;
        }
    }
    return pair_of(clipped, tw_retain(norm));
}

/* ---- sums of many ---- */

static tw_tensor *add_all(tw_tensors inputs)
{
    if (inputs.count == 0) {
        tw__fail(TW_VALUE_ERROR,
                 "inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape.");
        return NULL;
    }
    if (inputs.count > INT32_MAX)
        return NULL;
    if (inputs.count == 1)
        return TW_CALL(Identity, inputs.items[0]);
    return tw__call(&tw__op_AddN, inputs.items, (int)inputs.count, NULL, 0);
}

TW_API(add_n, "add_n|math.add_n(inputs: tensors<T>, name: str = None) -> tensor",
       "The sum of all inputs, element by element.\n"
       "inputs: tensors of one shape and dtype\n"
       "example: tf.add_n([[1, 2], [10, 20]]).numpy().tolist()  # [11, 22]")
{
    return add_all(args->inputs);
}

TW_API(
    math_accumulate_n,
    "math.accumulate_n|compat.v1.accumulate_n(inputs: tensors<T>, shape: shape = None, tensor_dtype: dtype = None, name: str = None) -> tensor",
    "The sum of all inputs, element by element; the shape and dtype are checked if given.\n"
    "inputs: tensors of one shape and dtype\n"
    "shape: the shape that they must have; None: any\n"
    "tensor_dtype: the dtype that they must have; None: any")
{
    for (int64_t i = 0; i < args->inputs.count; i++) {
        const tw_tensor *input = args->inputs.items[i];
        if (!tw__shape_compatible(&args->shape, &input->shape)) {
            tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", tw__shape_text(&input->shape),
                     tw__shape_text(&args->shape));
            return NULL;
        }
        if (args->tensor_dtype != TW_DTYPE_NONE && args->tensor_dtype != input->dtype) {
            tw__fail(TW_TYPE_ERROR, "tensor_dtype is %s, but input is of type %s", tw_dtype_name(args->tensor_dtype),
                     tw_dtype_name(input->dtype));
            return NULL;
        }
    }
    return add_all(args->inputs);
}
