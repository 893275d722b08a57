/* Lowerings of ops that move elements about: diagonals, rolls, mirrored edges, blocks, parts that are replaced. */
#include "lower/words.h"

/* ---- diagonals ---- */

/* Where the column is `k` more than the row, in matrices of the last two dimensions. */
static tw__hlo on_diagonal(tw__lowering *l, const tw_shape *shape, int64_t k)
{
    tw__hlo row = tw__hlo_iota(l, TW_INT64, shape, shape->rank - 2), column = tw__hlo_iota(l, TW_INT64, shape, shape->rank - 1);
    return COMPARE("EQ", BINARY("subtract", column, row), NUMBER(TW_INT64, (double)k));
}

/* The number of the diagonal: one alone, no band. */
static bool diagonal_number(const tw__lowering *l, int input, int64_t *k)
{
    int64_t both[2];
    int count;
    *k = 0;
    if (input < 0)
        return true;
    if (!tw__lower_ints(l, input, both, 2, &count) || count < 1 || both[0] != both[count - 1])
        return false;
    *k = both[0];
    return true;
}

/* Vectors [..., n] as diagonals of matrices of that shape; what is beside them is anything. */
static tw__hlo spread(tw__lowering *l, tw__hlo vectors, const tw_shape *shape, int64_t k)
{
    int rank = shape->rank, along = k >= 0 ? rank - 2 : rank - 1, dims[TW_MAX_RANK];
    int64_t low[TW_MAX_RANK] = { 0 }, high[TW_MAX_RANK] = { 0 };
    tw_shape rows = *shape;
    rows.rank = rank - 1;
    rows.dims[rank - 2] = vectors.shape.dims[vectors.shape.rank - 1];
    vectors = tw__hlo_reshape(l, vectors, &rows);
    high[rank - 2] = shape->dims[along] - rows.dims[rank - 2];
    for (int i = 0; i < rank - 2; i++)
        dims[i] = i;
    dims[rank - 2] = along;
    vectors = tw__hlo_pad(l, vectors, NUMBER(vectors.dtype, 0), low, high, NULL);
    return tw__hlo_broadcast_in(l, vectors, shape, dims);
}

/* MatrixDiag(diagonal); of later versions (diagonal, k, rows, columns, padding) */
static bool matrix_of_diagonal(tw__lowering *l)
{
    const tw_shape *shape = &l->outputs[0].shape;
    int64_t k;
    if (!diagonal_number(l, l->argument ? 1 : -1, &k) || shape->rank < 2)
        return false;
    tw__hlo beside = l->argument ? l->inputs[4] : NUMBER(X.dtype, 0);
    return GIVE(SELECT(on_diagonal(l, shape, k), spread(l, X, shape, k), beside));
}

static tw__hlo diagonal_of(tw__lowering *l, tw__hlo x, int64_t k, int64_t length)
{
    int rank = x.shape.rank;
    int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK];
    tw__hlo zero = NUMBER(x.dtype, 0), only = SELECT(on_diagonal(l, &x.shape, k), x, zero);
    tw__hlo all = tw__hlo_reduce(l, x.dtype == TW_BOOL ? "or" : "add", only, 1u << (k >= 0 ? rank - 1 : rank - 2));
    memcpy(end, all.shape.dims, sizeof end);
    end[rank - 2] = length;
    return tw__hlo_slice(l, all, begin, end, NULL);
}

/* MatrixDiagPart(x); of later versions (x, k, padding) */
static bool matrix_diagonal(tw__lowering *l)
{
    int64_t k;
    const tw_shape *shape = &l->outputs[0].shape;
    return diagonal_number(l, l->argument ? 1 : -1, &k) && X.shape.rank >= 2 && shape->rank == X.shape.rank - 1 &&
           GIVE(diagonal_of(l, X, k, shape->dims[shape->rank - 1]));
}

/* MatrixSetDiag(x, diagonal); of later versions (x, diagonal, k) */
static bool set_diagonal(tw__lowering *l)
{
    int64_t k;
    return diagonal_number(l, l->argument ? 2 : -1, &k) && X.shape.rank >= 2 && Y.shape.rank == X.shape.rank - 1 &&
           GIVE(SELECT(on_diagonal(l, &X.shape, k), spread(l, Y, &X.shape, k), X));
}

static bool square_of(const tw_shape *shape, tw_shape *square)
{
    int64_t count;
    if (tw__shape_count(shape, &count) != TW_OK)
        return false;
    *square = TW_SHAPE(count, count);
    return true;
}

static bool tensor_of_diagonal(tw__lowering *l) /* Diag: over all dimensions */
{
    tw_shape square;
    return square_of(&X.shape, &square) &&
           GIVE(SELECT(on_diagonal(l, &square, 0), spread(l, tw__hlo_reshape(l, X, &TW_SHAPE(square.dims[0])), &square, 0),
                       NUMBER(X.dtype, 0)));
}

static bool tensor_diagonal(tw__lowering *l) /* DiagPart */
{
    tw_shape square;
    return square_of(&l->outputs[0].shape, &square) && GIVE(diagonal_of(l, tw__hlo_reshape(l, X, &square), 0, square.dims[0]));
}

/* ---- along axes ---- */

/* Elements [from, to) along an axis. */
static tw__hlo part(tw__lowering *l, tw__hlo x, int axis, int64_t from, int64_t to)
{
    int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK];
    memcpy(end, x.shape.dims, sizeof end);
    begin[axis] = from;
    end[axis] = to;
    return tw__hlo_slice(l, x, begin, end, NULL);
}

static bool roll(tw__lowering *l) /* Roll(x, shift, axis) */
{
    int64_t shifts[TW_MAX_RANK], axes[TW_MAX_RANK];
    int count, same, rank = X.shape.rank;
    tw__hlo x = X;
    if (!tw__lower_ints(l, 1, shifts, TW_MAX_RANK, &count) || !tw__lower_ints(l, 2, axes, TW_MAX_RANK, &same) || count != same)
        return false;
    for (int i = 0; i < count; i++) {
        int axis = (int)(axes[i] < 0 ? axes[i] + rank : axes[i]);
        if (axis < 0 || axis >= rank)
            return false;
        int64_t size = X.shape.dims[axis], by = size ? ((shifts[i] % size) + size) % size : 0;
        if (by)
            x = tw__hlo_concatenate(l, (tw__hlo[]){ part(l, x, axis, size - by, size), part(l, x, axis, 0, size - by) }, 2, axis);
    }
    return GIVE(x);
}

static bool reverse_marked(tw__lowering *l) /* Reverse(x, dims: bools) */
{
    const tw_tensor *known = Y.constant;
    unsigned dims = 0;
    if (!known || known->dtype != TW_BOOL || known->count != X.shape.rank)
        return false;
    for (int i = 0; i < X.shape.rank; i++)
        dims |= ((const bool *)known->data)[i] ? 1u << i : 0;
    return GIVE(tw__hlo_reverse(l, X, dims));
}

static bool concatenate_first(tw__lowering *l) /* Concat(axis, values…) */
{
    int axis;
    return tw__lower_axis(l, 0, Y.shape.rank, &axis) && GIVE(tw__hlo_concatenate(l, l->inputs + 1, l->input_count - 1, axis));
}

/* The edges that mirroring adds; 1 where the outermost element is not repeated. */
static bool mirror_pairs(const tw__lowering *l, int64_t *pairs, int64_t *skip)
{
    int count;
    *skip = TW_ATTR(l, "mode")->s.data[0] == 'R';
    return tw__lower_ints(l, 1, pairs, 2 * TW_MAX_RANK, &count);
}

static bool mirror(tw__lowering *l)
{
    int64_t pairs[2 * TW_MAX_RANK], skip;
    tw__hlo x = X;
    if (!mirror_pairs(l, pairs, &skip))
        return false;
    for (int axis = 0; axis < X.shape.rank; axis++) {
        int64_t low = pairs[2 * axis], high = pairs[2 * axis + 1], size = X.shape.dims[axis];
        tw__hlo parts[] = { tw__hlo_reverse(l, part(l, x, axis, skip, skip + low), 1u << axis), x,
                            tw__hlo_reverse(l, part(l, x, axis, size - skip - high, size - skip), 1u << axis) };
        int first = low ? 0 : 1, count = 1 + (low > 0) + (high > 0);
        if (low + skip > size || high + skip > size)
            return false;
        x = count > 1 ? tw__hlo_concatenate(l, parts + first, count, axis) : x;
    }
    return GIVE(x);
}

/* x among zeros, along an axis. */
static tw__hlo placed(tw__lowering *l, tw__hlo x, int axis, int64_t before, int64_t size)
{
    int64_t low[TW_MAX_RANK] = { 0 }, high[TW_MAX_RANK] = { 0 };
    low[axis] = before;
    high[axis] = size - before - x.shape.dims[axis];
    return tw__hlo_pad(l, x, NUMBER(x.dtype, 0), low, high, NULL);
}

/* The edges go back to where they came from. */
static bool mirror_gradient(tw__lowering *l)
{
    int64_t pairs[2 * TW_MAX_RANK], skip;
    tw__hlo x = X;
    if (!mirror_pairs(l, pairs, &skip))
        return false;
    for (int axis = 0; axis < X.shape.rank; axis++) {
        int64_t low = pairs[2 * axis], high = pairs[2 * axis + 1], size = X.shape.dims[axis] - low - high;
        tw__hlo sum = part(l, x, axis, low, low + size);
        if (low)
            sum = BINARY("add", sum, placed(l, tw__hlo_reverse(l, part(l, x, axis, 0, low), 1u << axis), axis, skip, size));
        if (high)
            sum = BINARY("add", sum,
                         placed(l, tw__hlo_reverse(l, part(l, x, axis, low + size, low + size + high), 1u << axis), axis,
                                size - skip - high, size));
        x = sum;
    }
    return GIVE(x);
}

/* Row b is turned around up to its length. */
static bool reverse_sequence(tw__lowering *l)
{
    int time = (int)TW_ATTR(l, "seq_dim")->i, batch = (int)TW_ATTR(l, "batch_dim")->i, rank = X.shape.rank;
    int order[TW_MAX_RANK], back[TW_MAX_RANK], at = 2;
    time += time < 0 ? rank : 0;
    batch += batch < 0 ? rank : 0;
    if (rank < 2 || time == batch || X.shape.dims[time] == 0)
        return false;
    order[0] = batch;
    order[1] = time;
    for (int i = 0; i < rank; i++) {
        if (i != batch && i != time)
            order[at++] = i;
    }
    for (int i = 0; i < rank; i++)
        back[order[i]] = i;
    tw_shape places = TW_SHAPE(X.shape.dims[batch], X.shape.dims[time]);
    tw__hlo step = tw__hlo_iota(l, Y.dtype, &places, 1), length = tw__hlo_broadcast_in(l, Y, &places, (int[]){ 0 });
    tw__hlo turned = BINARY("subtract", BINARY("subtract", length, NUMBER(Y.dtype, 1)), step);
    tw__hlo from = SELECT(COMPARE("LT", step, length), turned, step);
    tw__hlo rows = tw__hlo_rows(l, tw__hlo_transpose(l, X, order), from, 1, 1, true);
    return GIVE(tw__hlo_transpose(l, rows, back));
}

/* ---- blocks ---- */

static bool depth_blocks(tw__lowering *l) /* SpaceToDepth, DepthToSpace */
{
    int64_t size = TW_ATTR(l, "block_size")->i;
    const int64_t *d = X.shape.dims, *o = l->outputs[0].shape.dims;
    if (X.shape.rank != 4 || strncmp(TW_ATTR(l, "data_format")->s.data, "NHWC", 4) != 0)
        return false;
    tw_shape blocks = l->argument ? TW_SHAPE(d[0], o[1], size, o[2], size, d[3]) : TW_SHAPE(d[0], d[1], d[2], size, size, o[3]);
    static const int order[] = { 0, 1, 3, 2, 4, 5 };
    return GIVE(tw__hlo_transpose(l, tw__hlo_reshape(l, X, &blocks), order));
}

/* The block sizes and the edges of SpaceToBatch and its kin. The old forms have one size for two dimensions. */
static bool read_blocks(const tw__lowering *l, int64_t *sizes, int64_t *edges, int *count)
{
    int pairs;
    bool old = l->input_count == 2;
    if (!tw__lower_ints(l, old ? 1 : 2, edges, 2 * TW_MAX_RANK, &pairs))
        return false;
    if (old) {
        sizes[0] = sizes[1] = TW_ATTR(l, "block_size")->i;
        *count = 2;
        return true;
    }
    return tw__lower_ints(l, 1, sizes, TW_MAX_RANK, count) && X.shape.rank + *count <= TW_MAX_RANK;
}

static bool space_to_batch(tw__lowering *l)
{
    int64_t sizes[TW_MAX_RANK], edges[2 * TW_MAX_RANK], low[TW_MAX_RANK] = { 0 }, high[TW_MAX_RANK] = { 0 };
    int count, order[TW_MAX_RANK], rank = X.shape.rank;
    if (!read_blocks(l, sizes, edges, &count))
        return false;
    for (int i = 0; i < count; i++)
        low[i + 1] = edges[2 * i], high[i + 1] = edges[2 * i + 1];
    tw__hlo x = tw__hlo_pad(l, X, NUMBER(X.dtype, 0), low, high, NULL);
    tw_shape blocks = { .rank = 1, .dims = { x.shape.dims[0] } };
    for (int i = 0; i < count; i++) {
        blocks.dims[blocks.rank++] = x.shape.dims[i + 1] / sizes[i];
        blocks.dims[blocks.rank++] = sizes[i];
        order[i] = 2 + 2 * i;
        order[count + 1 + i] = 1 + 2 * i;
    }
    order[count] = 0;
    for (int i = count + 1; i < rank; i++) {
        order[blocks.rank] = blocks.rank;
        blocks.dims[blocks.rank++] = x.shape.dims[i];
    }
    return GIVE(tw__hlo_transpose(l, tw__hlo_reshape(l, x, &blocks), order));
}

static bool batch_to_space(tw__lowering *l)
{
    int64_t sizes[TW_MAX_RANK], edges[2 * TW_MAX_RANK], begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK], all = 1;
    int count, order[TW_MAX_RANK], rank = X.shape.rank;
    if (!read_blocks(l, sizes, edges, &count))
        return false;
    tw_shape blocks = { .rank = 0 }, whole = X.shape;
    for (int i = 0; i < count; i++) {
        blocks.dims[blocks.rank++] = sizes[i];
        all *= sizes[i];
    }
    blocks.dims[blocks.rank++] = X.shape.dims[0] / all;
    order[0] = count;
    whole.dims[0] = X.shape.dims[0] / all;
    for (int i = 1; i < rank; i++) {
        if (i <= count) {
            order[2 * i - 1] = blocks.rank;
            order[2 * i] = i - 1;
            whole.dims[i] *= sizes[i - 1];
        } else {
            order[count + i] = blocks.rank;
        }
        blocks.dims[blocks.rank++] = X.shape.dims[i];
    }
    tw__hlo x = tw__hlo_reshape(l, tw__hlo_transpose(l, tw__hlo_reshape(l, X, &blocks), order), &whole);
    memcpy(end, whole.dims, sizeof end);
    for (int i = 0; i < count; i++) {
        begin[i + 1] = edges[2 * i];
        end[i + 1] -= edges[2 * i + 1];
    }
    return GIVE(tw__hlo_slice(l, x, begin, end, NULL));
}

/* ---- parts that are replaced ---- */

/* The value in its place, and where that is: (…, begin, end, strides, value), of which `first` is begin. */
static tw__hlo replaced(tw__lowering *l, tw__hlo x, int first)
{
    tw__region r;
    int64_t high[TW_MAX_RANK], between[TW_MAX_RANK];
    tw__hlo none = { .id = -1 };
    if (!tw__lower_region(l, &x.shape, first, &r))
        return none;
    int64_t given, wanted;
    tw__hlo value = l->inputs[first + 3];
    for (int i = 0; i < x.shape.rank; i++) {
        int64_t count = r.kept.dims[i];
        if (count == 0)
            return none;
        between[i] = r.stride[i] - 1;
        high[i] = x.shape.dims[i] - r.begin[i] - ((count - 1) * r.stride[i] + 1);
    }
    if (tw__shape_count(&value.shape, &given) != TW_OK || tw__shape_count(&r.kept, &wanted) != TW_OK || given != wanted)
        return none;
    tw__hlo wide = tw__hlo_pad(l, tw__hlo_reshape(l, value, &r.kept), NUMBER(x.dtype, 0), r.begin, high, between);
    tw__hlo there = tw__hlo_pad(l, tw__hlo_constant(l, TW_BOOL, &r.kept, 1), NUMBER(TW_BOOL, 0), r.begin, high, between);
    return SELECT(there, wide, x);
}

static bool replace_part(tw__lowering *l) /* TensorStridedSliceUpdate(x, begin, end, strides, value) */
{
    return GIVE(replaced(l, X, 1));
}

static bool replace_part_of_variable(tw__lowering *l) /* ResourceStridedSliceAssign(variable, begin, end, strides, value) */
{
    tw__hlo value;
    return tw__lower_variable(l, 0, l->inputs[4].dtype, &value) && tw__lower_write(l, 0, replaced(l, value, 1));
}

const tw__lower_row tw__lower_moves[] = {
    { "MatrixDiag", matrix_of_diagonal, NULL },
    { "MatrixDiagV2", matrix_of_diagonal, "k" },
    { "MatrixDiagV3", matrix_of_diagonal, "k" },
    { "MatrixDiagPart", matrix_diagonal, NULL },
    { "MatrixDiagPartV2", matrix_diagonal, "k" },
    { "MatrixDiagPartV3", matrix_diagonal, "k" },
    { "MatrixSetDiag", set_diagonal, NULL },
    { "MatrixSetDiagV2", set_diagonal, "k" },
    { "MatrixSetDiagV3", set_diagonal, "k" },
    { "Diag", tensor_of_diagonal, NULL },
    { "DiagPart", tensor_diagonal, NULL },
    { "Roll", roll, NULL },
    { "Reverse", reverse_marked, NULL },
    { "Concat", concatenate_first, NULL },
    { "MirrorPad", mirror, NULL },
    { "MirrorPadGrad", mirror_gradient, NULL },
    { "ReverseSequence", reverse_sequence, NULL },
    { "SpaceToDepth", depth_blocks, "space" },
    { "DepthToSpace", depth_blocks, NULL },
    { "SpaceToBatch", space_to_batch, NULL },
    { "SpaceToBatchND", space_to_batch, NULL },
    { "BatchToSpace", batch_to_space, NULL },
    { "BatchToSpaceND", batch_to_space, NULL },
    { "TensorStridedSliceUpdate", replace_part, NULL },
    { "ResourceStridedSliceAssign", replace_part_of_variable, NULL },
    { NULL, NULL, NULL },
};
