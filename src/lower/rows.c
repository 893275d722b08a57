/* Lowerings of rows by index: gather and scatter, sums of segments. StableHLO has no errors: a row that is not there is NaN for
 * floats, other dtypes run on the host unless the indices are known; updates of rows that are not there are left out. */
#include "lower/words.h"

static const tw__hlo nothing = { .id = -1 };

/* "0, 1, 2" from `first` on. */
static void add_range(tw__text *text, int first, int count)
{
    for (int i = 0; i < count; i++)
        tw__text_format(text, i ? ", %d" : "%d", first + i);
}

/* The line of an operation, once its text is complete. */
static tw__hlo finish(tw__lowering *l, tw__text *line, tw_dtype dtype, const tw_shape *shape)
{
    tw__hlo result = line->failed ? nothing : tw__hlo_line(l, dtype, shape, "%s", line->data);
    tw__text_free(line);
    return result;
}

tw__hlo tw__hlo_gather(tw__lowering *l, tw__hlo x, tw__hlo indices, int batch, int axis, int depth)
{
    tw_shape shape = { .rank = 0 };
    int count = indices.shape.rank - 1, rest = axis + depth;
    if (x.id < 0 || indices.id < 0 || axis + count - batch + x.shape.rank - rest > TW_MAX_RANK)
        return nothing;
    for (int i = 0; i < x.shape.rank; i++) {
        if (x.shape.dims[i] == 0)
            return nothing;
    }
    for (int i = 0; i < axis; i++)
        shape.dims[shape.rank++] = x.shape.dims[i];
    for (int i = batch; i < count; i++)
        shape.dims[shape.rank++] = indices.shape.dims[i];
    for (int i = rest; i < x.shape.rank; i++)
        shape.dims[shape.rank++] = x.shape.dims[i];
    tw__text line = { 0 };
    tw__text_format(&line, "\"stablehlo.gather\"(%%%d, %%%d) <{dimension_numbers = #stablehlo.gather<offset_dims = [", x.id,
                    indices.id);
    add_range(&line, batch, axis - batch);
    tw__text_add(&line, axis > batch && rest < x.shape.rank ? ", " : "");
    add_range(&line, axis + count - batch, x.shape.rank - rest);
    tw__text_add(&line, "], collapsed_slice_dims = [");
    add_range(&line, axis, depth);
    if (batch) {
        tw__text_add(&line, "], operand_batching_dims = [");
        add_range(&line, 0, batch);
        tw__text_add(&line, "], start_indices_batching_dims = [");
        add_range(&line, 0, batch);
    }
    tw__text_add(&line, "], start_index_map = [");
    add_range(&line, axis, depth);
    tw__text_format(&line, "], index_vector_dim = %d>, indices_are_sorted = false, slice_sizes = array<i64: ", count);
    for (int i = 0; i < x.shape.rank; i++)
        tw__text_format(&line, "%s%lld", i ? ", " : "", (long long)(i < batch || (i >= axis && i < rest) ? 1 : x.shape.dims[i]));
    tw__hlo out = { .dtype = x.dtype, .shape = shape };
    tw__text_format(&line, ">}> : (%s, %s) -> %s", tw__hlo_type_text(x), tw__hlo_type_text(indices), tw__hlo_type_text(out));
    return finish(l, &line, x.dtype, &shape);
}

tw__hlo tw__hlo_scatter(tw__lowering *l, const char *name, tw__hlo x, tw__hlo indices, tw__hlo updates, int depth)
{
    const char *type = tw__hlo_dtype(x.dtype);
    int count = indices.shape.rank - 1;
    if (!type || x.id < 0 || indices.id < 0 || updates.id < 0 || updates.dtype != x.dtype ||
        updates.shape.rank != count + x.shape.rank - depth)
        return nothing;
    tw__text line = { 0 };
    tw__text_format(&line,
                    "\"stablehlo.scatter\"(%%%d, %%%d, %%%d) <{indices_are_sorted = false, scatter_dimension_numbers = "
                    "#stablehlo.scatter<update_window_dims = [",
                    x.id, indices.id, updates.id);
    add_range(&line, count, x.shape.rank - depth);
    tw__text_add(&line, "], inserted_window_dims = [");
    add_range(&line, 0, depth);
    tw__text_add(&line, "], scatter_dims_to_operand_dims = [");
    add_range(&line, 0, depth);
    tw__text_format(&line, "], index_vector_dim = %d>, unique_indices = false}> ({\n^bb0(%%x: tensor<%s>, %%y: tensor<%s>):\n",
                    count, type, type);
    if (name)
        tw__text_format(&line, "%%s = stablehlo.%s %%x, %%y : tensor<%s>\n", name, type);
    tw__text_format(&line, "stablehlo.return %s : tensor<%s>\n}) : (%s, %s, %s) -> %s", name ? "%s" : "%y", type,
                    tw__hlo_type_text(x), tw__hlo_type_text(indices), tw__hlo_type_text(updates), tw__hlo_type_text(x));
    return finish(l, &line, x.dtype, &x.shape);
}

/* Indices with a last dimension of one number. */
static tw__hlo pointed(tw__lowering *l, tw__hlo indices)
{
    tw_shape shape = indices.shape;
    if (shape.rank == TW_MAX_RANK)
        return nothing;
    shape.dims[shape.rank++] = 1;
    return tw__hlo_reshape(l, indices, &shape);
}

tw__hlo tw__hlo_scatter_rows(tw__lowering *l, const char *name, tw__hlo x, tw__hlo indices, tw__hlo updates)
{
    return tw__hlo_scatter(l, name, x, pointed(l, indices), updates, 1);
}

bool tw__lower_within(tw__hlo indices, int64_t size)
{
    const tw_tensor *known = indices.constant;
    for (int64_t i = 0; known && i < known->count; i++) {
        int64_t index = known->dtype == TW_INT32   ? ((const int32_t *)known->data)[i]
                        : known->dtype == TW_INT64 ? ((const int64_t *)known->data)[i]
                                                   : -1;
        if (index < 0 || index >= size)
            return false;
    }
    return known != NULL;
}

tw__hlo tw__hlo_rows(tw__lowering *l, tw__hlo x, tw__hlo indices, int axis, int batch, bool known)
{
    int dims[TW_MAX_RANK], rank = indices.shape.rank;
    tw__hlo found = tw__hlo_gather(l, x, pointed(l, indices), batch, axis, 1);
    if (known || found.id < 0)
        return found;
    if (!tw__dtype_is_float(x.dtype))
        return nothing;
    tw__hlo zero = NUMBER(indices.dtype, 0), count = NUMBER(indices.dtype, (double)x.shape.dims[axis]);
    tw__hlo inside = BINARY("and", COMPARE("GE", indices, zero), COMPARE("LT", indices, count));
    for (int i = 0; i < rank; i++)
        dims[i] = i < batch ? i : axis - batch + i;
    tw__hlo none = NUMBER(x.dtype, 0);
    return SELECT(tw__hlo_broadcast_in(l, inside, &found.shape, dims), found, BINARY("divide", none, none));
}

/* GatherV2(x, indices, axis), Gather(x, indices) */
static bool gather(tw__lowering *l)
{
    int axis = 0, batch = l->argument ? (int)TW_ATTR(l, "batch_dims")->i : 0;
    if (l->input_count > 2 && !tw__lower_axis(l, 2, X.shape.rank, &axis))
        return false;
    batch = batch < 0 ? batch + Y.shape.rank : batch;
    return axis >= batch && X.shape.dims[axis] > 0 &&
           GIVE(tw__hlo_rows(l, X, Y, axis, batch, tw__lower_within(Y, X.shape.dims[axis])));
}

static bool gather_variable(tw__lowering *l)
{
    tw__hlo value;
    return TW_ATTR(l, "batch_dims")->i == 0 && tw__lower_variable(l, 0, l->outputs[0].dtype, &value) && value.shape.rank > 0 &&
           value.shape.dims[0] > 0 && GIVE(tw__hlo_rows(l, value, Y, 0, 0, tw__lower_within(Y, value.shape.dims[0])));
}

static bool gather_nd(tw__lowering *l)
{
    int depth = (int)Y.shape.dims[Y.shape.rank - 1];
    tw_shape each = { .rank = Y.shape.rank - 1 };
    memcpy(each.dims, Y.shape.dims, sizeof each.dims);
    if (depth == 0 || !tw__dtype_is_float(X.dtype))
        return false;
    tw__hlo found = tw__hlo_gather(l, X, Y, 0, 0, depth), none = NUMBER(X.dtype, 0), inside = { .id = -1 };
    for (int i = 0; i < depth; i++) {
        int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK];
        if (X.shape.dims[i] == 0)
            return false;
        memcpy(end, Y.shape.dims, sizeof end);
        begin[each.rank] = i;
        end[each.rank] = i + 1;
        tw__hlo index = tw__hlo_reshape(l, tw__hlo_slice(l, Y, begin, end, NULL), &each);
        tw__hlo good = BINARY("and", COMPARE("GE", index, NUMBER(Y.dtype, 0)),
                              COMPARE("LT", index, NUMBER(Y.dtype, (double)X.shape.dims[i])));
        inside = i ? BINARY("and", inside, good) : good;
    }
    int dims[TW_MAX_RANK];
    for (int i = 0; i < each.rank; i++)
        dims[i] = i;
    return GIVE(SELECT(tw__hlo_broadcast_in(l, inside, &found.shape, dims), found, BINARY("divide", none, none)));
}

/* ---- changed slices ---- */

/* Subtraction is the addition of what is negated: the order of several updates then matters to no device. */
static tw__hlo changed(tw__lowering *l, tw__hlo x, tw__hlo indices, tw__hlo updates, int depth)
{
    bool subtract = l->argument && strcmp(l->argument, "subtract") == 0;
    return tw__hlo_scatter(l, subtract ? "add" : l->argument, x, indices, subtract ? UNARY("negate", updates) : updates, depth);
}

static int depth_of(tw__hlo indices)
{
    return indices.shape.rank > 0 ? (int)indices.shape.dims[indices.shape.rank - 1] : 0;
}

/* TensorScatter…(x, indices, updates) */
static bool scatter_tensor(tw__lowering *l)
{
    return depth_of(Y) > 0 && GIVE(changed(l, X, Y, l->inputs[2], depth_of(Y)));
}

/* ScatterNd(indices, updates, shape) */
static bool scatter_nd(tw__lowering *l)
{
    return depth_of(X) > 0 && Y.dtype != TW_BOOL &&
           GIVE(tw__hlo_scatter(l, "add", tw__hlo_constant(l, Y.dtype, &l->outputs[0].shape, 0), X, Y, depth_of(X)));
}

/* ResourceScatterNd…(variable, indices, updates) */
static bool scatter_variable_nd(tw__lowering *l)
{
    tw__hlo value;
    return Y.shape.rank > 1 && depth_of(Y) > 0 && tw__lower_variable(l, 0, l->inputs[2].dtype, &value) &&
           tw__lower_write(l, 0, changed(l, value, Y, l->inputs[2], depth_of(Y)));
}

/* ResourceScatter…(variable, rows, updates); updates may be one number. */
static bool scatter_variable(tw__lowering *l)
{
    tw__hlo value, updates = l->inputs[2];
    if (!tw__lower_variable(l, 0, updates.dtype, &value) || value.shape.rank < 1 ||
        Y.shape.rank + value.shape.rank - 1 > TW_MAX_RANK)
        return false;
    tw_shape shape = Y.shape;
    for (int i = 1; i < value.shape.rank; i++)
        shape.dims[shape.rank++] = value.shape.dims[i];
    return tw__lower_write(l, 0, changed(l, value, pointed(l, Y), tw__hlo_broadcast(l, updates, &shape), 1));
}

/* ---- segments ---- */

/* What an empty segment has: the number that changes nothing, as a finite one. */
static tw__hlo empty_segments(tw__lowering *l, const char *name, tw_dtype dtype, const tw_shape *shape)
{
    static const double greatest[TW_DTYPE_LIMIT] = { [TW_FLOAT32] = 3.4028234663852886e38,
                                                     [TW_FLOAT64] = 1.7976931348623157e308,
                                                     [TW_FLOAT16] = 65504,
                                                     [TW_BFLOAT16] = 3.3895313892515355e38 };
    bool maximum = strcmp(name, "maximum") == 0, extreme = maximum || strcmp(name, "minimum") == 0;
    if (!extreme)
        return tw__hlo_constant(l, dtype, shape, strcmp(name, "multiply") == 0);
    if (greatest[dtype] > 0)
        return tw__hlo_constant(l, dtype, shape, maximum ? -greatest[dtype] : greatest[dtype]);
    return tw__hlo_broadcast(l, tw__hlo_infinity(l, dtype, maximum), shape);
}

/* UnsortedSegment…(data, ids, count): ids that are no segment's are left out. */
static bool unsorted_segments(tw__lowering *l)
{
    const char *name = l->argument;
    return Y.shape.rank >= 1 && GIVE(tw__hlo_scatter_rows(l, name, empty_segments(l, name, X.dtype, &l->outputs[0].shape), Y, X));
}

/* Per segment how many ids it has, as numbers of a dtype, under a shape of that rank. */
static tw__hlo segment_sizes(tw__lowering *l, tw__hlo ids, tw_dtype dtype, int64_t segments, int rank)
{
    tw__hlo ones = tw__hlo_constant(l, dtype, &ids.shape, 1);
    tw__hlo sizes = tw__hlo_scatter_rows(l, "add", tw__hlo_constant(l, dtype, &TW_SHAPE(segments), 0), ids, ones);
    tw_shape shape = { .rank = rank, .dims = { segments } };
    for (int i = 1; i < rank; i++)
        shape.dims[i] = 1;
    return tw__hlo_reshape(l, sizes, &shape);
}

/* A sum as the kind says: itself, or divided by how many there were, or by the root of that. */
static tw__hlo shared(tw__lowering *l, const char *kind, tw__hlo sum, tw__hlo sizes)
{
    if (strcmp(kind, "sum") == 0)
        return sum;
    tw__hlo most = BINARY("maximum", sizes, tw__hlo_fill(l, sizes, 1));
    return BINARY("divide", sum, strcmp(kind, "mean") == 0 ? most : UNARY("sqrt", most));
}

/* SparseSegment…WithNumSegments(data, indices, ids, count); without the count the shape is not known. */
static bool sparse_segments(tw__lowering *l)
{
    tw__hlo ids = l->inputs[2];
    const tw_shape *shape = &l->outputs[0].shape;
    if (!tw__dtype_is_float(X.dtype) || Y.shape.rank != 1 || X.shape.rank < 1 || X.shape.dims[0] == 0)
        return false;
    tw__hlo rows = tw__hlo_rows(l, X, Y, 0, 0, tw__lower_within(Y, X.shape.dims[0]));
    tw__hlo sum = tw__hlo_scatter_rows(l, "add", tw__hlo_constant(l, X.dtype, shape, 0), ids, rows);
    return GIVE(shared(l, l->argument, sum, segment_sizes(l, ids, X.dtype, shape->dims[0], shape->rank)));
}

/* SparseSegment…Grad(dy, indices, ids, rows) */
static bool sparse_segments_gradient(tw__lowering *l)
{
    tw__hlo ids = l->inputs[2];
    if (!tw__dtype_is_float(X.dtype) || Y.shape.rank != 1 || X.shape.rank < 1 || X.shape.dims[0] == 0)
        return false;
    tw__hlo each = shared(l, l->argument, X, segment_sizes(l, ids, X.dtype, X.shape.dims[0], X.shape.rank));
    tw__hlo rows = tw__hlo_rows(l, each, ids, 0, 0, tw__lower_within(ids, X.shape.dims[0]));
    return GIVE(tw__hlo_scatter_rows(l, "add", tw__hlo_constant(l, X.dtype, &l->outputs[0].shape, 0), Y, rows));
}

const tw__lower_row tw__lower_rows[] = {
    { "GatherV2", gather, "batch_dims" },
    { "Gather", gather, NULL },
    { "GatherNd", gather_nd, NULL },
    { "ResourceGather", gather_variable, NULL },
    { "TensorScatterUpdate", scatter_tensor, NULL },
    { "TensorScatterAdd", scatter_tensor, "add" },
    { "TensorScatterSub", scatter_tensor, "subtract" },
    { "TensorScatterMax", scatter_tensor, "maximum" },
    { "TensorScatterMin", scatter_tensor, "minimum" },
    { "ScatterNd", scatter_nd, NULL },
    { "ScatterNdNonAliasingAdd", scatter_tensor, "add" },
    { "ResourceScatterNdUpdate", scatter_variable_nd, NULL },
    { "ResourceScatterNdAdd", scatter_variable_nd, "add" },
    { "ResourceScatterNdSub", scatter_variable_nd, "subtract" },
    { "ResourceScatterNdMax", scatter_variable_nd, "maximum" },
    { "ResourceScatterNdMin", scatter_variable_nd, "minimum" },
    { "ResourceScatterUpdate", scatter_variable, NULL },
    { "ResourceScatterAdd", scatter_variable, "add" },
    { "ResourceScatterSub", scatter_variable, "subtract" },
    { "ResourceScatterMul", scatter_variable, "multiply" },
    { "ResourceScatterMax", scatter_variable, "maximum" },
    { "ResourceScatterMin", scatter_variable, "minimum" },
    { "UnsortedSegmentSum", unsorted_segments, "add" },
    { "UnsortedSegmentProd", unsorted_segments, "multiply" },
    { "UnsortedSegmentMax", unsorted_segments, "maximum" },
    { "UnsortedSegmentMin", unsorted_segments, "minimum" },
    { "SparseSegmentSumWithNumSegments", sparse_segments, "sum" },
    { "SparseSegmentMeanWithNumSegments", sparse_segments, "mean" },
    { "SparseSegmentSqrtNWithNumSegments", sparse_segments, "root" },
    { "SparseSegmentSumGrad", sparse_segments_gradient, "sum" },
    { "SparseSegmentMeanGrad", sparse_segments_gradient, "mean" },
    { "SparseSegmentSqrtNGrad", sparse_segments_gradient, "root" },
    { NULL, NULL, NULL },
};
