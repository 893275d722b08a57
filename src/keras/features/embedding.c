/* Rows of a table for the ids of sparse rows, combined: what embedding columns give. */
#include <math.h>

#include "keras/features/features.h"

/* Without ids below 0, and, unless weights are summed, without weights that are not above 0. */
static bool prune(tw__temps *t, tw__feature_ids *ids, bool weights_too)
{
    tw_tensor *good = TW_TEMP(GreaterEqual, ids->ids->values, tw__temp_int(t, 0, TW_INT64));
    if (good && ids->weights && weights_too)
        good = TW_TEMP(LogicalAnd, good, TW_TEMP(Greater, ids->weights->values, tw__temp_float(t, TW_FLOAT32, 0)));
    ids->ids = good ? tw__temp(t, tw_sparse_retain(ids->ids, good)) : NULL;
    if (ids->ids && ids->weights)
        ids->weights = tw__temp(t, tw_sparse_retain(ids->weights, good));
    return ids->ids != NULL && tw_error_code() == TW_OK;
}

/* Rows without ids get id 0 with the weight 1; a mask of them. */
static tw_tensor *fill(tw__temps *t, tw__feature_ids *ids)
{
    tw_tensor *made[4], *others[4];
    tw_sparse_tensor *s = ids->ids;
    if (TW_TEMP_ALL(made, SparseFillEmptyRows, s->indices, s->values, s->dense_shape, tw__temp_int(t, 0, TW_INT64)) != TW_OK)
        return NULL;
    ids->ids = tw__temp(t, tw__sparse_new(made[0], made[1], s->dense_shape));
    if (ids->weights) {
        tw_tensor *one = tw__temp_float(t, TW_FLOAT32, 1);
        if (TW_TEMP_ALL(others, SparseFillEmptyRows, s->indices, ids->weights->values, s->dense_shape, one) != TW_OK)
            return NULL;
        ids->weights = tw__temp(t, tw__sparse_new(others[0], others[1], s->dense_shape));
    }
    return ids->ids ? made[2] : NULL;
}

static tw_tensor *weighted(tw__temps *t, tw_tensor *rows, tw_tensor *weights, tw_tensor *segments, const char *combiner)
{
    tw_tensor *column = tw__temp_reshape(t, weights, (const int64_t[]){ -1, 1 }, 2);
    tw_tensor *sums = column ? TW_TEMP(SegmentSum, TW_TEMP(Mul, rows, column), segments) : NULL;
    if (!sums || strcmp(combiner, "sum") == 0)
        return sums;
    if (strcmp(combiner, "mean") == 0)
        return TW_TEMP(DivNoNan, sums, TW_TEMP(SegmentSum, column, segments));
    return TW_TEMP(DivNoNan, sums, TW_TEMP(Sqrt, TW_TEMP(SegmentSum, TW_TEMP(Square, column), segments)));
}

static tw_tensor *combine(tw__temps *t, tw_tensor *table, const tw__feature_ids *ids, const char *combiner, double max_norm)
{
    tw_tensor *segments = tw__temp_cast(t, tw__temp_column(t, ids->ids->indices, 0), TW_INT32);
    tw_tensor *made[2];
    if (!segments || TW_TEMP_ALL(made, Unique, ids->ids->values) != TW_OK)
        return NULL;
    tw_tensor *rows = tw__temp(t, tw_nn_embedding_lookup(table, made[0], .max_norm = max_norm));
    if (!rows || ids->weights)
        return rows ? weighted(t, tw__temp_gather(t, rows, made[1], 0), ids->weights->values, segments, combiner) : NULL;
    if (strcmp(combiner, "sum") == 0)
        return TW_TEMP(SparseSegmentSum, rows, made[1], segments);
    if (strcmp(combiner, "mean") == 0)
        return TW_TEMP(SparseSegmentMean, rows, made[1], segments);
    return TW_TEMP(SparseSegmentSqrtN, rows, made[1], segments);
}

tw_tensor *tw__embed(tw__temps *t, tw_tensor *table, const tw__feature_ids *given, const char *combiner, double max_norm,
                     bool safe)
{
    tw__feature_ids ids = *given;
    if (!combiner)
        combiner = "mean";
    if (!safe)
        return combine(t, table, &ids, combiner, max_norm);
    if (!prune(t, &ids, strcmp(combiner, "sum") != 0))
        return NULL;
    tw_tensor *empty = fill(t, &ids);
    tw_tensor *rows = empty ? combine(t, table, &ids, combiner, max_norm) : NULL;
    tw_tensor *column = rows ? tw__temp_reshape(t, empty, (const int64_t[]){ -1, 1 }, 2) : NULL;
    return column ? TW_TEMP(SelectV2, column, TW_TEMP(ZerosLike, rows), rows) : NULL;
}
