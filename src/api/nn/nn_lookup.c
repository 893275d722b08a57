/* tf.nn.embedding_lookup, and tables in several parts.
 *
 * Ids are dealt out to the parts in turn ("mod"), or in runs ("div": the first parts have one row more where the rows do not
 * divide). Each part is asked for its own rows, so that its gradient names these alone. */
#include <math.h>

#include "api/array/array.h"
#include "api/composite.h"
#include "api/nn/nn.h"
#include "op/calls.h"
#include "op/gradient.h"
#include "rows.h"

/* Each row at most max_norm long: the norm is over what stands behind the dimensions of the ids. */
static tw_tensor *clipped(tw__temps *t, tw_tensor *rows, tw_tensor *ids, double max_norm)
{
    if (!rows || isnan(max_norm))
        return rows;
    int from = ids->shape.rank, to = rows->shape.rank;
    tw_tensor *first = from < 0 ? TW_TEMP(Rank, ids) : tw__temp_int(t, from, TW_INT32);
    tw_tensor *end = to < 0 ? TW_TEMP(Rank, rows) : tw__temp_int(t, to, TW_INT32);
    tw_tensor *axes = TW_TEMP(Range, first, end, 1), *squares = TW_TEMP(Mul, rows, rows);
    tw_tensor *sum = axes ? TW_TEMP(Sum, squares, axes, TW_A_BOOL("keep_dims", true)) : NULL;
    tw_tensor *limit = sum ? tw__temp(t, tw__grad_constant(max_norm, rows)) : NULL;
    return limit ? tw__temp(t, tw__clip_by_squares(rows, limit, sum)) : NULL;
}

tw_tensor *tw__lookup(tw__temps *t, tw_tensor *table, tw_tensor *ids, double max_norm)
{
    return clipped(t, TW_TEMP(GatherV2, table, ids, 0), ids, max_norm);
}

/* The numbers of the parts that hold the ids, and of the rows there. */
static bool deal(tw__temps *t, tw_tensor *const *parts, int count, tw_tensor *ids, bool modulo, tw_tensor **owner,
                 tw_tensor **row)
{
    tw_dtype dtype = ids->dtype;
    tw_tensor *number = tw__temp_int(t, count, dtype), *total = tw__temp_int(t, 0, dtype);
    if (modulo) {
        *owner = TW_TEMP(FloorMod, ids, number);
        *row = TW_TEMP(FloorDiv, ids, number);
        return *owner && *row;
    }
    for (int i = 0; i < count; i++) {
        tw_tensor *sizes = tw__temp_shape(t, parts[i], dtype == TW_INT64 ? TW_INT64 : TW_INT32);
        total = TW_TEMP(AddV2, total, sizes ? TW_TEMP(GatherV2, sizes, 0, 0) : NULL);
    }
    tw_tensor *run = TW_TEMP(FloorDiv, total, number), *extra = TW_TEMP(FloorMod, total, number);
    tw_tensor *longer = run ? TW_TEMP(AddV2, run, tw__temp_int(t, 1, dtype)) : NULL, *rest = TW_TEMP(Sub, ids, extra);
    *owner = TW_TEMP(Maximum, TW_TEMP(FloorDiv, ids, longer), TW_TEMP(FloorDiv, rest, run));
    *row = TW_TEMP(SelectV2, TW_TEMP(Less, *owner, extra), TW_TEMP(FloorMod, ids, longer), TW_TEMP(FloorMod, rest, run));
    return *owner && *row;
}

static tw_status dealt_out(tw__temps *t, tw_tensor *values, tw_tensor *owner, int count, tw_tensor **made)
{
    int got = count;
    tw_attr attr = TW_A_INT("num_partitions", count);
    TW_TRY(tw__apply(&tw__op_DynamicPartition, TW_IN(values, owner), 2, &attr, 1, made, &got));
    for (int i = 0; i < got; i++)
        tw__temp(t, made[i]);
    return TW_OK;
}

tw_tensor *tw__lookup_parts(tw__temps *t, tw_tensor *const *parts, int count, tw_tensor *ids, bool modulo, double max_norm)
{
    if (count == 1)
        return tw__lookup(t, parts[0], ids, max_norm);
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)count * 3, sizeof *inputs);
    tw_tensor **rows = inputs ? inputs + 2 * count : NULL;
    if (ids->dtype != TW_INT32 && ids->dtype != TW_INT64)
        ids = tw__temp_cast(t, ids, TW_INT32);
    int64_t all = -1;
    tw_tensor *flat = ids ? TW_TEMP(Reshape, ids, tw__temp_ints(t, &all, 1, TW_INT32)) : NULL, *owner, *row;
    if (!inputs || !flat || !deal(t, parts, count, flat, modulo, &owner, &row))
        return NULL;
    owner = tw__temp_cast(t, owner, TW_INT32);
    tw_tensor *places = TW_TEMP(Range, 0, TW_TEMP(Size, flat), 1);
    if (!owner || !places || dealt_out(t, row, owner, count, rows) != TW_OK ||
        dealt_out(t, places, owner, count, inputs) != TW_OK)
        return NULL;
    for (int i = 0; i < count; i++) {
        inputs[count + i] = tw__lookup(t, parts[i], rows[i], max_norm);
        if (!inputs[count + i])
            return NULL;
    }
    tw_tensor *found = tw__temp(t, tw__call(&tw__op_DynamicStitch, inputs, 2 * count, NULL, 0));
    tw_tensor *front = tw__temp_shape(t, ids, TW_INT32), *sizes = found ? tw__temp_shape(t, parts[0], TW_INT32) : NULL;
    tw_tensor *back = sizes ? tw__temp_slice(t, sizes, 1, TW_NO_INT) : NULL;
    return front && back ? TW_TEMP(Reshape, found, tw__temp_concat(t, TW_IN(front, back), 2, 0)) : NULL;
}

tw_tensor **tw__lookup_tables(tw__temps *t, const tw_value *params, const char *what, int *count)
{
    bool several = params->kind == TW_VALUE_LIST || params->kind == TW_VALUE_TUPLE;
    const tw_value *items = several ? params->list.items : params;
    *count = several ? (int)params->list.count : 1;
    if (*count < 1) {
        tw__fail(TW_VALUE_ERROR, "%s: Argument `params` should not be empty.", what);
        return NULL;
    }
    tw_tensor **tables = tw__alloc_array((size_t)*count, sizeof *tables);
    for (int i = 0; tables && i < *count; i++) {
        tables[i] = tw__temp(t, tw__value_tensor(&items[i], TW_DTYPE_NONE, what));
        if (!tables[i]) {
            tw__free(tables);
            return NULL;
        }
    }
    return tables;
}

TW_API(nn_embedding_lookup,
       "nn.embedding_lookup(params: tensor, ids: tensor<int32>, max_norm: float = None, name: str = None) -> tensor",
       "The rows of params that the ids name, each scaled down to the norm max_norm if that is given.\n"
       "params: the table, a row for each id, or a list of its parts\n"
       "ids: the numbers of the rows\n"
       "max_norm: the greatest Euclidean norm of a row; None: rows stay as they are\n"
       "returns: a tensor of the shape of `ids`, then that of a row\n"
       "example: tf.nn.embedding_lookup(tf.constant([[1, 2], [3, 4], [5, 6]]), [2, 0]).numpy().tolist()  # [[5, 6], [1, 2]]")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__lookup(t, args->params, args->ids, args->max_norm));
}

TW_API(nn_embedding_lookup_parts,
       "nn._embedding_lookup_parts(params: value, ids: tensor<int32>, max_norm: float = None, name: str = None, "
       "partition_strategy: str {div, mod} = div) -> tensor",
       "The rows of a table in several parts: the ids are dealt out to the parts in runs (div), or in turn (mod).")
{
    TW_TEMPS(t);
    int count;
    tw__owned tw_tensor **tables = tw__lookup_tables(t, &args->params, "embedding_lookup", &count);
    bool modulo = strcmp(args->partition_strategy, "mod") == 0;
    return tables ? tw__keep(t, tw__lookup_parts(t, tables, count, args->ids, modulo, args->max_norm)) : NULL;
}
