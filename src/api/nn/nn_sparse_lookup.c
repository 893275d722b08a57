/* tf.nn: embeddings of sparse ids, put together for each row. */
#include <math.h>

#include "api/array/array.h"
#include "api/composite.h"
#include "api/nn/nn.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

enum { MEAN, SQRTN, SUM };

static tw_status read_combiner(const char *text, int *kind)
{
    static const char *const names[] = { "mean", "sqrtn", "sum" };
    for (*kind = 0; *kind < 3; ++*kind) {
        if (strcmp(text ? text : "mean", names[*kind]) == 0)
            return TW_OK;
    }
    return tw__fail(TW_VALUE_ERROR, "combiner must be one of 'mean', 'sqrtn' or 'sum', got %s", text);
}

/* A table: its parts, and how ids are dealt out to them. */
typedef struct table {
    tw_tensor **parts;
    int count;
    bool modulo;
} table;

/* Rows with weights: their sum, divided by what the combiner says. */
static tw_tensor *weighted(tw__temps *t, tw_tensor *rows, tw_tensor *weights, tw_tensor *segments, int kind)
{
    tw_tensor *factor = tw__temp_cast(t, weights, rows->dtype);
    int64_t dims[TW_MAX_RANK] = { -1 };
    for (int i = 1; i < rows->shape.rank; i++)
        dims[i] = 1;
    tw_tensor *spread = tw__temp_reshape(t, factor, dims, rows->shape.rank > 0 ? rows->shape.rank : 2);
    tw_tensor *sum = TW_TEMP(SegmentSum, TW_TEMP(Mul, rows, spread), segments);
    if (kind == SUM || !sum)
        return sum;
    tw_tensor *total = TW_TEMP(SegmentSum, kind == MEAN ? spread : TW_TEMP(Square, spread), segments);
    return TW_TEMP(DivNoNan, sum, kind == MEAN ? total : TW_TEMP(Sqrt, total));
}

static tw_tensor *lookup(tw__temps *t, const table *of, tw_tensor *indices, tw_tensor *ids, tw_tensor *weights, int kind,
                         double max_norm)
{
    static const tw_op *const plain[] = { &tw__op_SparseSegmentMean, &tw__op_SparseSegmentSqrtN, &tw__op_SparseSegmentSum };
    tw_tensor *segments = tw__temp_cast(t, tw__temp_column(t, indices, 0), TW_INT32), *found[2];
    if (!segments || TW_TEMP_ALL(found, Unique, ids) != TW_OK)
        return NULL;
    tw_tensor *rows = tw__lookup_parts(t, of->parts, of->count, found[0], of->modulo, max_norm);
    if (!weights)
        return rows ? TW_TEMP_OP(plain[kind], rows, found[1], segments) : NULL;
    rows = rows ? tw__temp_gather(t, rows, found[1], 0) : NULL;
    return rows ? weighted(t, rows, weights, segments, kind) : NULL;
}

static bool read_table(tw__temps *t, const tw_value *params, bool modulo, table *of)
{
    of->modulo = modulo;
    return (of->parts = tw__lookup_tables(t, params, "embedding_lookup_sparse: params", &of->count)) != NULL;
}

tw_tensor *tw__lookup_sparse(const tw_value *params, const tw_sparse_tensor *ids, const tw_sparse_tensor *weights,
                             const char *combiner, double max_norm, bool modulo)
{
    TW_TEMPS(t);
    int kind;
    table of;
    if (read_combiner(combiner, &kind) != TW_OK || !read_table(t, params, modulo, &of))
        return NULL;
    tw_tensor *rows = lookup(t, &of, ids->indices, ids->values, weights ? weights->values : NULL, kind, max_norm);
    tw__free(of.parts);
    return tw__keep(t, rows);
}

TW_API(
    nn_embedding_lookup_sparse,
    "nn.embedding_lookup_sparse(params: value, sp_ids: sparse_tensor, sp_weights: sparse_tensor = None, combiner: str = None, "
    "max_norm: float = None, name: str = None, allow_fast_lookup: bool = False) -> tensor",
    "The rows of a table that each row of sparse ids names, put together by their mean, sum, or sum divided by the root of the "
    "number (sqrtn). A table may be a list of its parts, which hold one run of rows each.\n"
    "params: the table, a row for each id, or a list of its parts\n"
    "sp_ids: the ids of each row, as a sparse tensor\n"
    "sp_weights: a weight for each id; None: 1\n"
    "combiner: how a row's entries become one: `mean`, `sqrtn` or `sum`; None: `mean`\n"
    "max_norm: the greatest Euclidean norm of an entry of the table; None: they stay as they are\n"
    "allow_fast_lookup: kept for programs that set it; the numbers are the same")
{
    return tw__lookup_sparse(&args->params, args->sp_ids, args->sp_weights, args->combiner, args->max_norm, false);
}

/* ---- safe: ids below 0 are left out, rows without ids are zeros or the default's ---- */

typedef struct entries {
    tw_tensor *indices, *ids, *weights, *shape;
} entries;

static void keep_where(tw__temps *t, entries *e, tw_tensor *good)
{
    int64_t all = -1;
    tw_tensor *places = good ? TW_TEMP(Reshape, TW_TEMP(Where, good), tw__temp_ints(t, &all, 1, TW_INT32)) : NULL;
    e->indices = places ? tw__temp_gather(t, e->indices, places, 0) : NULL;
    e->ids = places ? tw__temp_gather(t, e->ids, places, 0) : NULL;
    if (e->weights)
        e->weights = places ? tw__temp_gather(t, e->weights, places, 0) : NULL;
}

/* Ids of any rank as those of a matrix. */
static tw_status flatten(tw__temps *t, const tw_sparse_tensor *ids, const tw_sparse_tensor *weights, entries *e)
{
    tw_tensor *last = tw__temp_slice(t, ids->dense_shape, -1, TW_NO_INT), *front = tw__temp_slice(t, ids->dense_shape, 0, -1),
              *made[2];
    tw_tensor *shape =
        front ? tw__temp_concat(t, (tw_tensor *[]){ TW_TEMP(Prod, front, 0, TW_A_BOOL("keep_dims", true)), last }, 2, 0) : NULL;
    if (!shape || TW_TEMP_ALL(made, SparseReshape, ids->indices, ids->dense_shape, shape) != TW_OK)
        return tw__error_status();
    *e = (entries){ made[0], ids->values, weights ? weights->values : NULL, made[1] };
    return TW_OK;
}

static tw_status safe_lookup(tw__temps *t, const tw_nn_safe_embedding_lookup_sparse_args *args, const table *of, int kind,
                             tw_tensor **result)
{
    entries e;
    tw_tensor *filled[4];
    TW_TRY(flatten(t, args->sparse_ids, args->sparse_weights, &e));
    tw_dtype type = e.ids->dtype;
    tw_tensor *good = TW_TEMP(GreaterEqual, e.ids, tw__temp_int(t, 0, type));
    keep_where(t, &e, good);
    if (e.weights && kind != SUM)
        keep_where(t, &e, TW_TEMP(Greater, e.weights, 0.0));
    bool zeros = args->default_id == TW_NO_INT;
    tw_tensor *other = tw__temp_int(t, zeros ? 0 : args->default_id, type);
    if (!e.ids || !other || TW_TEMP_ALL(filled, SparseFillEmptyRows, e.indices, e.ids, e.shape, other) != TW_OK)
        return tw__error_status();
    tw_tensor *empty = filled[2];
    if (e.weights) {
        tw_tensor *made[4], *one = tw__temp_float(t, e.weights->dtype, 1);
        if (!one || TW_TEMP_ALL(made, SparseFillEmptyRows, e.indices, e.weights, e.shape, one) != TW_OK)
            return tw__error_status();
        e.weights = made[1];
    }
    tw_tensor *rows = lookup(t, of, filled[0], filled[1], e.weights, kind, args->max_norm);
    if (rows && zeros)
        rows = TW_TEMP(SelectV2, TW_TEMP(ExpandDims, empty, 1), TW_TEMP(ZerosLike, rows), rows);
    tw_tensor *front = tw__temp_cast(t, tw__temp_slice(t, args->sparse_ids->dense_shape, 0, -1), TW_INT32);
    tw_tensor *shape = rows ? tw__temp_slice(t, tw__temp_shape(t, rows, TW_INT32), 1, TW_NO_INT) : NULL;
    TW_NEED(*result = shape && front ? TW_CALL(Reshape, rows, tw__temp_concat(t, TW_IN(front, shape), 2, 0)) : NULL);
    return TW_OK;
}

tw_tensor *tw__lookup_safely(const tw_nn_safe_embedding_lookup_sparse_args *args, bool modulo)
{
    TW_TEMPS(t);
    int kind;
    table of;
    tw_tensor *result = NULL;
    if (read_combiner(args->combiner, &kind) != TW_OK || !read_table(t, &args->embedding_weights, modulo, &of))
        return NULL;
    (void)safe_lookup(t, args, &of, kind, &result);
    tw__free(of.parts);
    return result;
}

TW_API(
    nn_safe_embedding_lookup_sparse,
    "nn.safe_embedding_lookup_sparse(embedding_weights: value, sparse_ids: sparse_tensor, sparse_weights: sparse_tensor = None, "
    "combiner: str = mean, default_id: int = None, max_norm: float = None, name: str = None, allow_fast_lookup: bool = False) -> "
    "tensor",
    "As embedding_lookup_sparse; ids below 0 and weights that are not above 0 are left out, and rows without ids are zeros, or "
    "the row of default_id.\n"
    "embedding_weights: the table, a row for each id, or a list of its parts\n"
    "sparse_ids: the ids of each row, as a sparse tensor\n"
    "sparse_weights: a weight for each id; None: 1\n"
    "combiner: how a row's entries become one: `mean`, `sqrtn` or `sum`\n"
    "default_id: the id that rows without ids have; None: they are zeros\n"
    "max_norm: the greatest Euclidean norm of an entry of the table; None: they stay as they are\n"
    "allow_fast_lookup: kept for programs that set it; the numbers are the same")
{
    return tw__lookup_safely(args, false);
}
