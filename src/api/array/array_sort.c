/* Places of extremes, the greatest few, sorting, values without repetition. */
#include "graph/graph.h"
#include "api/array/array.h"
#include "api/later.h"
#include "op/calls.h"
#include "rows.h"

TW_API(math_argmax, "math.argmax|argmax(input: tensor, axis: int = None, output_type: dtype = int64, name: str = None) -> tensor",
       "Where the greatest element along an axis (the first if none is named) stands.\n"
       "input: numbers\n"
       "axis: the dimension to search; None: 0\n"
       "example: tf.argmax([3, 1, 2]).numpy()  # 0")
{
    return tw__call_axis(&tw__op_ArgMax, args->input, args->axis == TW_NO_INT ? 0 : args->axis,
                         TW_WITH(TW_A_TYPE("output_type", args->output_type)), 1);
}

TW_API(math_argmin, "math.argmin|argmin(input: tensor, axis: int = None, output_type: dtype = int64, name: str = None) -> tensor",
       "Where the least element along an axis (the first if none is named) stands.\n"
       "input: numbers\n"
       "axis: the dimension to search; None: 0\n"
       "example: tf.argmin([3, 1, 2]).numpy()  # 1")
{
    return tw__call_axis(&tw__op_ArgMin, args->input, args->axis == TW_NO_INT ? 0 : args->axis,
                         TW_WITH(TW_A_TYPE("output_type", args->output_type)), 1);
}

TW_API(unique, "unique(x: tensor, out_idx: dtype = int32, name: str = None) -> tensors<Unique>",
       "The different values of a vector, and where each element's value is among them.\n"
       "x: a vector\n"
       "out_idx: the dtype of the places\n"
       "returns: `y`, the values in the order of their first occurrence, and `idx`, a place in it for each element\n"
       "example: tf.unique([4, 7, 4]).idx.numpy().tolist()  # [0, 1, 0]")
{
    return tw__call_many(&tw__op_Unique, TW_IN(args->x), 1, TW_WITH(TW_A_TYPE("out_idx", args->out_idx)), 1, 2);
}

TW_API(unique_with_counts, "unique_with_counts(x: tensor, out_idx: dtype = int32, name: str = None) -> tensors<UniqueWithCounts>",
       "The different values of a vector, where each element's value is among them, and how often each occurs.\n"
       "x: a vector\n"
       "out_idx: the dtype of the places and counts\n"
       "returns: `y`, the values in the order of their first occurrence, `idx`, a place in it for each element, and `count`\n"
       "example: tf.unique_with_counts([4, 7, 4]).count.numpy().tolist()  # [2, 1]")
{
    return tw__call_many(&tw__op_UniqueWithCounts, TW_IN(args->x), 1, TW_WITH(TW_A_TYPE("out_idx", args->out_idx)), 1, 3);
}

/* ---- sorting ---- */

/* k < 0: all of a row, whose size is not known yet. */
static tw_tensors top_k(tw_tensor *input, int64_t k, bool sorted, tw_dtype index_type)
{
    tw_auto tw_tensor *number = k < 0 ? tw__axis_size_later(input, input->shape.rank - 1) : tw__whole_tensor(k);
    if (!number)
        return (tw_tensors){ 0 };
    return tw__call_many(&tw__op_TopKV2, TW_IN(input, number), 2,
                         TW_WITH(TW_A_BOOL("sorted", sorted), TW_A_TYPE("index_type", index_type)), 2, 2);
}

TW_API(
    math_top_k,
    "math.top_k|nn.top_k|compat.v1.top_k(input: tensor, k: int = 1, sorted: bool = True, index_type: dtype = int32, name: str = None) -> tensors<TopKV2>",
    "The k greatest elements of each row, and where they stand.\n"
    "input: numbers; rows are along the last dimension\n"
    "k: how many of each row are taken\n"
    "sorted: True: the greatest first; False: in any order\n"
    "index_type: the dtype of the indices\n"
    "returns: `values` and `indices`\n"
    "example: tf.math.top_k([1, 9, 5], k=2).values.numpy().tolist()  # [9, 5]")
{
    if (args->k < 0) {
        tw__fail_op("TopKV2", TW_INVALID_ARGUMENT, "Need k >= 0, got %lld", (long long)args->k);
        return (tw_tensors){ 0 };
    }
    return top_k(args->input, args->k, args->sorted, args->index_type);
}

TW_API(
    math_in_top_k,
    "math.in_top_k|nn.in_top_k|compat.v1.in_top_k(targets: tensor<I>, predictions: tensor<float32>, k: tensor<I>, name: str = None) -> tensor",
    "Whether each target is among its row's k greatest predictions.\n"
    "targets: a class for each row\n"
    "predictions: a score for each class, [batch, classes]\n"
    "k: how many of the greatest scores count\n"
    "returns: a vector of booleans")
{
    return TW_CALL(InTopKV2, args->predictions, args->targets, args->k);
}

/* What puts the least first where the greatest came first; its own inverse. Takes x. */
static tw_tensor *turned(tw_tensor *x)
{
    TW_TEMPS(t);
    if (!x)
        return NULL;
    if (tw__dtype_is_integer(x->dtype)) { /* -x - 1 has no overflow; nor has it without a sign */
        tw_tensor *result = TW_CALL(Invert, x);
        tw_release(x);
        return result;
    }
    return TW_CALL(Neg, tw__temp(t, x));
}

/* Likewise, of a tensor whose rank is not known yet. */
static tw_tensor *sorted_later(tw_tensor *values, int64_t axis, bool up, int part)
{
    TW_TEMPS(t);
    tw_tensor *parts[2], *x = axis == -1 ? values : tw__temp(t, tw__swap_axes_later(values, axis, -1));
    x = up && x ? tw__temp(t, turned(tw_retain(x))) : x;
    tw_tensor *size = tw__temp_slice(t, tw__temp_shape(t, x, TW_INT32), -1, TW_NO_INT);
    tw_tensor *count = TW_TEMP(Reshape, size, tw__temp_ints(t, NULL, 0, TW_INT32));
    if (!count || TW_TEMP_ALL(parts, TopKV2, x, count) != TW_OK)
        return NULL;
    tw_tensor *out = up && part == 0 ? tw__temp(t, turned(tw_retain(parts[0]))) : parts[part];
    return axis == -1 ? tw_retain(out) : tw__swap_axes_later(out, axis, -1);
}

/* Sorts along the axis: the values (part 0) or where they stood (part 1). */
static tw_tensor *sorted_part(tw_tensor *values, int64_t given, const char *direction, int part, const char *path)
{
    TW_TEMPS(t);
    bool up = strcmp(direction, "ASCENDING") == 0;
    int axis, rank = values->shape.rank;
    if (!up && strcmp(direction, "DESCENDING") != 0) {
        tw__fail(TW_VALUE_ERROR, "Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction=%s",
                 direction);
        return NULL;
    }
    if (rank < 0)
        return sorted_later(values, given, up, part);
    if (!tw__axis_normal(given, rank, &axis)) {
        tw__fail(TW_VALUE_ERROR, "tf.%s: axis %lld of a tensor of shape %s", path, (long long)given,
                 tw__shape_text(&values->shape));
        return NULL;
    }
    int64_t order[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        order[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    bool moves = axis != rank - 1;
    tw_tensor *x = moves ? TW_CALL(Transpose, values, tw__temp_ints(t, order, rank, TW_INT32)) : tw_retain(values);
    if (up)
        x = turned(x);
    if (!x)
        return NULL;
    tw_tensors best = top_k(x, x->shape.dims[rank - 1], true, TW_INT32);
    tw_release(x);
    if (!best.items)
        return NULL;
    tw_tensor *out = tw_retain(best.items[part]);
    tw_tensors_free(&best);
    if (up && part == 0)
        out = turned(out);
    return moves ? TW_CALL(Transpose, tw__temp(t, out), tw__temp_ints(t, order, rank, TW_INT32)) : out;
}

TW_API(sort, "sort(values: tensor, axis: int = -1, direction: str = ASCENDING, name: str = None) -> tensor",
       "Sorts along an axis.\n"
       "values: numbers\n"
       "direction: `ASCENDING` or `DESCENDING`\n"
       "example: tf.sort([3, 1, 2], direction='DESCENDING').numpy().tolist()  # [3, 2, 1]")
{
    return sorted_part(args->values, args->axis, args->direction, 0, "sort");
}

TW_API(argsort,
       "argsort(values: tensor, axis: int = -1, direction: str = ASCENDING, stable: bool = False, name: str = None) -> tensor",
       "Where the elements in order stand along an axis; equal ones keep their order.\n"
       "values: numbers\n"
       "direction: `ASCENDING` or `DESCENDING`\n"
       "stable: kept for programs that set it; equal elements always keep their order\n"
       "returns: indices (int32) of the shape of `values`\n"
       "example: tf.argsort([3, 1, 2]).numpy().tolist()  # [1, 2, 0]")
{
    return sorted_part(args->values, args->axis, args->direction, 1, "argsort");
}
