/* tf.ragged: constant, range, stack, boolean_mask, stack_dynamic_partitions. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

/* ---- constant ---- */

static bool is_nested(const tw_value *v)
{
    return v->kind == TW_VALUE_LIST || v->kind == TW_VALUE_TUPLE || (v->kind == TW_VALUE_TENSOR && v->tensor->shape.rank > 0);
}

/* How deep numbers stand (-1: there are none), and how deep lists go. */
static tw_status look(const tw_value *v, int depth, int *scalars, int *deepest)
{
    if (depth > 60)
        return tw__fail(TW_VALUE_ERROR, "ragged.constant: a list is nested deeper than 60 levels");
    int rank = v->kind == TW_VALUE_TENSOR ? v->tensor->shape.rank : 0;
    bool list = v->kind == TW_VALUE_LIST || v->kind == TW_VALUE_TUPLE;
    if (!list) {
        if (*scalars >= 0 && *scalars != depth + rank)
            return tw__fail(TW_VALUE_ERROR, "all scalar values must have the same nesting depth");
        *scalars = depth + rank;
        *deepest = depth + rank > *deepest ? depth + rank : *deepest;
        return TW_OK;
    }
    *deepest = depth + 1 > *deepest ? depth + 1 : *deepest;
    for (int64_t i = 0; i < v->list.count; i++)
        TW_TRY(look(&v->list.items[i], depth + 1, scalars, deepest));
    return TW_OK;
}

typedef struct items {
    tw_value *items; /* borrowed members; those that `owned` says are the caller's */
    size_t count, capacity;
} items;

static void items_end(items *list)
{
    tw__free(list->items);
}

static tw_status push(items *list, const tw_value *v)
{
    TW_TRY(TW_GROW(list->items, list->capacity, list->count + 1));
    list->items[list->count++] = *v;
    return TW_OK;
}

/* The members of all lists one level down, and the splits between them. Rows of tensors become tensors, kept by the temps. */
static tw_status descend(tw__temps *t, items *level, tw_tensor **splits, tw_dtype dtype)
{
    tw__auto(items_end) items below = { 0 };
    tw_tensor *made = tw__temp(t, tw__tensor_empty(TW_INT64, &TW_SHAPE((int64_t)level->count + 1)));
    TW_NEED(made);
    ((int64_t *)made->data)[0] = 0;
    for (size_t i = 0; i < level->count; i++) {
        const tw_value *v = &level->items[i];
        int64_t count = v->kind == TW_VALUE_TENSOR ? v->tensor->shape.dims[0] : v->list.count;
        for (int64_t k = 0; k < count; k++) {
            tw_value item = v->kind == TW_VALUE_TENSOR
                                ? (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw__temp_at(t, v->tensor, k) }
                                : v->list.items[k];
            TW_TRY(v->kind == TW_VALUE_TENSOR && !item.tensor ? tw__error_status() : push(&below, &item));
        }
        ((int64_t *)made->data)[i + 1] = (int64_t)below.count;
    }
    items above = *level;
    *level = below;
    below = above;
    *splits = tw__temp_cast(t, made, dtype);
    return *splits ? TW_OK : tw__error_status();
}

/* The values of the innermost rows as one tensor. */
static tw_tensor *flat_values(tw__temps *t, const tw_ragged_constant_args *args, const items *level)
{
    bool shaped = args->inner_shape.rank >= 0;
    int64_t dims[TW_MAX_RANK] = { -1 };
    int inner = shaped ? args->inner_shape.rank : 0;
    for (int i = 0; i < inner; i++)
        dims[i + 1] = args->inner_shape.dims[i];
    if (level->count == 0) {
        tw_shape shape = { .rank = 1 + inner };
        memcpy(shape.dims + 1, dims + 1, (size_t)inner * sizeof *dims);
        return tw__temp(t, tw_tensor_new(args->dtype == TW_DTYPE_NONE ? TW_FLOAT32 : args->dtype, shape, NULL));
    }
    tw_value whole = { .kind = TW_VALUE_LIST, .list = { level->items, (int64_t)level->count } };
    tw_tensor *flat = tw__temp(t, tw__value_tensor(&whole, args->dtype, "ragged.constant"));
    if (flat && shaped)
        flat = tw__temp_reshape(t, flat, dims, inner + 1);
    if (args->dtype == TW_DTYPE_NONE || !flat || flat->dtype == args->dtype)
        return flat;
    tw__fail(TW_TYPE_ERROR, "ragged.constant: values can't be of dtype %s", tw_dtype_name(args->dtype));
    return NULL;
}

static void *constant(tw__temps *t, const tw_ragged_constant_args *args)
{
    int scalars = -1, deepest = 0;
    const tw_value *list = &args->pylist;
    int inner = args->inner_shape.rank >= 0 ? args->inner_shape.rank : 0;
    if (look(list, 0, &scalars, &deepest) != TW_OK)
        return NULL;
    if (!is_nested(list)) {
        if ((args->ragged_rank != TW_NO_INT && args->ragged_rank != 0) || inner) {
            tw__fail(TW_VALUE_ERROR, "Invalid pylist: incompatible with ragged_rank=%lld or inner_shape of rank %d",
                     (long long)args->ragged_rank, inner);
            return NULL;
        }
        return tw__temp(t, tw__value_tensor(list, args->dtype, "ragged.constant"));
    }
    int depth = scalars >= 0 ? scalars : deepest;
    if (args->ragged_rank != TW_NO_INT && scalars >= 0 && scalars <= args->ragged_rank) {
        tw__fail(TW_VALUE_ERROR,
                 "pylist has scalar values depth %d, but ragged_rank=%lld requires scalar value depth greater than %lld", scalars,
                 (long long)args->ragged_rank, (long long)args->ragged_rank);
        return NULL;
    }
    int64_t rank = args->ragged_rank != TW_NO_INT ? args->ragged_rank : depth - 1 - inner > 0 ? depth - 1 - inner : 0;
    if (rank < 0 || rank + 1 > TW_RAGGED_PARTS) {
        tw__fail(TW_VALUE_ERROR, "Argument `ragged_rank` must be nonnegative and below %d. Received %lld.", TW_RAGGED_PARTS,
                 (long long)rank);
        return NULL;
    }
    tw_tensor *splits[TW_RAGGED_PARTS];
    tw__auto(items_end) items level = { 0 };
    if (list->kind == TW_VALUE_TENSOR) { /* an array: its rows */
        for (int64_t k = 0; k < list->tensor->shape.dims[0]; k++) {
            tw_value row = { .kind = TW_VALUE_TENSOR, .tensor = tw__temp_at(t, list->tensor, k) };
            if (!row.tensor)
                return NULL;
            if (push(&level, &row) != TW_OK)
                return NULL;
        }
    } else {
        for (int64_t k = 0; k < list->list.count; k++)
            if (push(&level, &list->list.items[k]) != TW_OK)
                return NULL;
    }
    for (int i = 0; i < rank; i++)
        if (descend(t, &level, &splits[i], args->row_splits_dtype) != TW_OK)
            return NULL;
    void *value = flat_values(t, args, &level);
    for (int i = (int)rank - 1; value && i >= 0; i--)
        value = tw__temp_ragged(t, value, splits[i], -1);
    return value;
}

TW_API(
    ragged_constant,
    "ragged.constant(pylist: value, dtype: dtype = None, ragged_rank: int = None, inner_shape: shape = None, name: str = None, "
    "row_splits_dtype: dtype = int64) -> value",
    "A ragged tensor of nested lists.\n"
    "pylist: nested lists\n"
    "ragged_rank: how many dimensions are ragged; None: all but the inner ones\n"
    "inner_shape: the shape of the innermost values; None: they are single\n"
    "returns: a `tf.RaggedTensor`, or a tensor where nothing is ragged\n"
    "example: tf.ragged.constant([[1, 2], [3]]).to_list()  # [[1, 2], [3]]")
{
    TW_TEMPS(t);
    return tw__value_result(t, constant(t, args));
}

/* ---- others ---- */

TW_API(
    ragged_range,
    "ragged.range(starts: value, limits: value = None, deltas: value = None shown 1, dtype: dtype = None, name: str = None, row_splits_dtype: dtype = int64) -> "
    "ragged_tensor",
    "Rows of numbers, one for each start, limit and step.\n"
    "starts: the first number of each row; without `limits` it is the limit, and rows begin with 0\n"
    "limits: the bound of each row, which does not belong to it\n"
    "deltas: the step of each row; None: 1\n"
    "example: tf.ragged.range([3, 1]).to_list()  # [[0, 1, 2], [0]]")
{
    TW_TEMPS(t);
    tw_value zero = { .kind = TW_VALUE_INT, .i = 0 }, one = { .kind = TW_VALUE_INT, .i = 1 };
    const tw_value *given[3] = { args->limits.kind == TW_VALUE_NONE ? &zero : &args->starts,
                                 args->limits.kind == TW_VALUE_NONE ? &args->starts : &args->limits,
                                 args->deltas.kind == TW_VALUE_NONE ? &one : &args->deltas };
    static const tw_dtype order[] = { TW_INT32, TW_INT64, TW_FLOAT32, TW_FLOAT64 };
    tw_tensor *x[3], *made[2] = { NULL, NULL };
    int highest = 0, outputs = 2;
    for (int i = 0; i < 3; i++) {
        x[i] = tw__temp(t, tw__value_tensor(given[i], args->dtype, "ragged.range"));
        for (int k = 0; x[i] && k < 4; k++)
            highest = x[i]->dtype == order[k] && k > highest ? k : highest;
    }
    tw_dtype dtype = args->dtype == TW_DTYPE_NONE ? order[highest] : args->dtype;
    for (int i = 0; i < 3; i++)
        x[i] = tw__temp_cast(t, x[i], dtype);
    if (!x[0] || !x[1] || !x[2] ||
        tw__apply(&tw__op_RaggedRange, x, 3, TW_WITH(TW_A_TYPE("Tsplits", args->row_splits_dtype)), 1, made, &outputs) != TW_OK)
        return NULL;
    tw_tensor *splits = tw__temp(t, made[0]), *values = tw__temp(t, made[1]);
    return tw__keep(t, splits && values ? tw__temp_ragged(t, values, splits, -1) : NULL);
}

TW_API(ragged_stack, "ragged.stack(values: value, axis: int = 0, name: str = None) -> value",
       "Values of different lengths stacked along a new dimension.\n"
       "values: tensors or ragged tensors\n"
       "axis: where the new dimension stands in the result\n"
       "example: tf.ragged.stack([[1, 2], [3]]).to_list()  # [[1, 2], [3]]")
{
    TW_TEMPS(t);
    bool list = args->values.kind == TW_VALUE_LIST || args->values.kind == TW_VALUE_TUPLE;
    int64_t count = list ? args->values.list.count : 1;
    void **members = count ? tw__alloc_array((size_t)count, sizeof *members) : NULL, *made = NULL;
    if (count == 0)
        tw__fail(TW_VALUE_ERROR, "rt_inputs may not be empty.");
    bool good = members != NULL;
    for (int64_t i = 0; good && i < count; i++)
        good = (members[i] = tw__value_given(t, list ? &args->values.list.items[i] : &args->values, TW_DTYPE_NONE,
                                             "ragged.stack")) != NULL;
    if (good)
        made = tw__values_stack(t, members, count, args->axis);
    tw__free(members);
    return tw__value_result(t, made);
}

/* ---- boolean_mask ---- */

static void *masked(tw__temps *t, void *data, void *mask)
{
    if (tw__is_ragged(mask)) { /* inside of rows: what is left of each */
        tw_ragged_tensor *rows = data, *bits = mask;
        if (!tw__is_ragged(data)) {
            rows = tw__ragged_of_tensor(t, data, tw__ragged_rank(mask), bits->splits->dtype);
            data = rows;
        }
        if (!rows)
            return NULL;
        void *below = bits->values;
        if (!tw__is_ragged(below) && ((tw_tensor *)below)->shape.rank > 1) {
            bits =
                tw__temp_with_values(t, bits,
                                     tw__ragged_of_tensor(t, below, ((tw_tensor *)below)->shape.rank - 1, bits->splits->dtype));
            if (!bits)
                return NULL;
        }
        void *values = masked(t, rows->values, bits->values);
        if (tw__is_ragged(bits->values)) /* the mask goes on below: these rows stay */
            return values ? tw__temp_with_values(t, rows, values) : NULL;
        tw_tensor *numbers = tw__temp_cast(t, bits->values, rows->splits->dtype);
        tw_tensor *sums = TW_TEMP(Cumsum, numbers, tw__temp_int(t, 0, TW_INT32));
        tw_tensor *counts =
            tw__temp_concat(t, TW_IN(tw__temp_ints(t, (const int64_t[]){ 0 }, 1, rows->splits->dtype), sums), 2, 0);
        return values ? tw__temp_ragged(t, values, tw__temp_gather(t, counts, rows->splits, 0), -1) : NULL;
    }
    tw_tensor *bits = mask;
    if (bits->shape.rank == 1) {
        tw_tensor *places = tw__temp_reshape(t, TW_TEMP(Where, bits), (const int64_t[]){ -1 }, 1);
        return tw__value_gather(t, data, places);
    }
    return masked(t, data, tw__ragged_of_tensor(t, bits, bits->shape.rank - 1, TW_INT64));
}

TW_API(ragged_boolean_mask, "ragged.boolean_mask(data: value, mask: value, name: str = None) -> value",
       "The elements for which a mask is true, rows kept as rows.\n"
       "data: a tensor or ragged tensor\n"
       "mask: booleans for its leading dimensions\n"
       "example: tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]).to_list()  # [[1], [3, 4]]")
{
    TW_TEMPS(t);
    void *data = tw__value_given(t, &args->data, TW_DTYPE_NONE, "boolean_mask: data"), *made = NULL;
    void *mask = data ? tw__value_given(t, &args->mask, TW_BOOL, "boolean_mask: mask") : NULL;
    if (mask && tw__value_shape(mask).rank < 0)
        tw__fail(TW_VALUE_ERROR, "mask.shape.ndims must be known statically.");
    else if (mask && tw__value_dtype(mask) != TW_BOOL)
        tw__fail(TW_TYPE_ERROR, "boolean_mask: mask must be of dtype bool, got %s", tw_dtype_name(tw__value_dtype(mask)));
    else if (mask && tw__value_shape(mask).rank == 0)
        tw__fail(TW_VALUE_ERROR, "mask cannot be scalar.");
    else if (mask)
        made = masked(t, data, mask);
    return tw__value_result(t, made);
}

/* The rows' numbers, one for each value. One that is no row's is an error, in a graph when it runs: they are looked up. */
static tw_tensor *checked_partitions(tw__temps *t, void *data, tw_tensor *partitions, tw_tensor *rows)
{
    tw_shape shape = tw__value_shape(data);
    int64_t values = shape.rank > 0 ? shape.dims[0] : -1, numbers = partitions->shape.dims[0];
    if (shape.rank == 0 || (values >= 0 && numbers >= 0 && values != numbers)) {
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", tw__shape_text(&partitions->shape), tw__shape_text(&shape));
        return NULL;
    }
    tw_tensor *all = TW_TEMP(Range, tw__temp_int(t, 0, TW_INT64), rows, tw__temp_int(t, 1, TW_INT64));
    return all ? tw__temp_gather(t, all, partitions, 0) : NULL;
}

TW_API(ragged_stack_dynamic_partitions,
       "ragged.stack_dynamic_partitions(data: value, partitions: tensor, num_partitions: value, name: str = None) -> value",
       "Values sorted into rows by the number of their row.\n"
       "data: the values\n"
       "partitions: for each value the number of its row\n"
       "num_partitions: how many rows there are\n"
       "example: tf.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 2).to_list()  # [[2], [1, 3]]")
{
    TW_TEMPS(t);
    void *data = tw__value_given(t, &args->data, TW_DTYPE_NONE, "stack_dynamic_partitions: data");
    tw_tensor *rows =
        data ? tw__temp_cast(t, tw__temp(t, tw__value_tensor(&args->num_partitions, TW_INT64, "num_partitions")), TW_INT64)
             : NULL;
    if (!rows || args->partitions->shape.rank != 1) {
        tw__fail(TW_UNIMPLEMENTED, "ragged.stack_dynamic_partitions: partitions must be a vector, got shape %s",
                 tw__shape_text(&args->partitions->shape));
        return tw__value_result(t, NULL);
    }
    /* A stable order by partition: the greatest of -partition first, equal ones as they come. */
    tw_tensor *ids = checked_partitions(t, data, args->partitions, rows), *made[2] = { NULL, NULL };
    tw_tensor *count = !ids ? NULL : tw__temp_at(t, tw__temp_shape(t, ids, TW_INT32), 0);
    int outputs = 2;
    if (!ids || !count || tw__apply(&tw__op_TopKV2, TW_IN(TW_TEMP(Neg, ids), count), 2, NULL, 0, made, &outputs) != TW_OK)
        return tw__value_result(t, NULL);
    tw_tensor *sorted = TW_TEMP(Neg, tw__temp(t, made[0])), *order = tw__temp(t, made[1]);
    return tw__value_result(t, tw__temp_ragged(t, tw__value_gather(t, data, order), tw__splits_of_rowids(t, sorted, rows), -1));
}
