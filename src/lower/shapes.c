/* Lowerings of ops that move elements: shapes, slices, joins, rows of tables. Sizes and axes must be known. */
#include "lower/words.h"

/* The integers of an input whose value is known. */
bool tw__lower_ints(const tw__lowering *l, int input, int64_t *values, int limit, int *count)
{
    const tw_tensor *known = l->inputs[input].constant;
    if (!known || known->count > limit)
        return false;
    if (tw__tensor_read_ints(known, "", values, limit) != TW_OK) {
        tw_clear_error();
        return false;
    }
    *count = (int)known->count;
    return true;
}

bool tw__lower_axis(const tw__lowering *l, int input, int rank, int *axis)
{
    int64_t value;
    int count;
    if (!tw__lower_ints(l, input, &value, 1, &count) || count != 1 || value < -rank || value >= rank)
        return false;
    *axis = (int)(value < 0 ? value + rank : value);
    return true;
}

static bool reshape(tw__lowering *l)
{
    return GIVE(X); /* under the output's shape */
}

static bool transpose(tw__lowering *l)
{
    int64_t order[TW_MAX_RANK];
    int places[TW_MAX_RANK], count;
    if (!tw__lower_ints(l, 1, order, TW_MAX_RANK, &count) || count != X.shape.rank)
        return false;
    for (int i = 0; i < count; i++)
        places[i] = (int)(order[i] < 0 ? order[i] + count : order[i]);
    return GIVE(tw__hlo_transpose(l, X, places));
}

static bool broadcast(tw__lowering *l)
{
    return GIVE(tw__hlo_broadcast(l, X, &l->outputs[0].shape));
}

static bool fill(tw__lowering *l)
{
    return GIVE(tw__hlo_broadcast(l, l->inputs[1], &l->outputs[0].shape));
}

/* ConcatV2: the axis is the last input. */
static bool concatenate(tw__lowering *l)
{
    int axis;
    return tw__lower_axis(l, l->input_count - 1, X.shape.rank, &axis) &&
           GIVE(tw__hlo_concatenate(l, l->inputs, l->input_count - 1, axis));
}

static bool pack(tw__lowering *l)
{
    enum { MOST = 64 };
    tw__hlo parts[MOST];
    int rank = l->outputs[0].shape.rank, axis = (int)TW_ATTR(l, "axis")->i;
    axis = axis < 0 ? axis + rank : axis;
    if (l->input_count > MOST)
        return false;
    tw_shape shape = l->outputs[0].shape;
    shape.dims[axis] = 1;
    for (int i = 0; i < l->input_count; i++)
        parts[i] = tw__hlo_reshape(l, l->inputs[i], &shape);
    return GIVE(tw__hlo_concatenate(l, parts, l->input_count, axis));
}

/* Output k is a piece of the input along an axis. */
static bool give_pieces(tw__lowering *l, tw__hlo x, int axis)
{
    int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK];
    memcpy(end, x.shape.dims, sizeof end);
    for (int k = 0, at = 0; k < l->output_count; k++) {
        const tw_shape *shape = &l->outputs[k].shape;
        int64_t size = shape->rank == x.shape.rank ? shape->dims[axis] : 1;
        begin[axis] = at;
        end[axis] = at += (int)size;
        if (!tw__lower_give(l, k, tw__hlo_slice(l, x, begin, end, NULL)))
            return false;
    }
    return true;
}

static bool unpack(tw__lowering *l)
{
    int axis = (int)TW_ATTR(l, "axis")->i;
    return give_pieces(l, X, axis < 0 ? axis + X.shape.rank : axis);
}

static bool split(tw__lowering *l) /* Split(axis, value) */
{
    int axis;
    return tw__lower_axis(l, 0, l->inputs[1].shape.rank, &axis) && give_pieces(l, l->inputs[1], axis);
}

static bool split_sizes(tw__lowering *l) /* SplitV(value, sizes, axis) */
{
    int axis;
    return tw__lower_axis(l, 2, X.shape.rank, &axis) && give_pieces(l, X, axis);
}

static bool slice(tw__lowering *l)
{
    int64_t begin[TW_MAX_RANK], end[TW_MAX_RANK];
    int count;
    if (!tw__lower_ints(l, 1, begin, TW_MAX_RANK, &count))
        return false;
    for (int i = 0; i < X.shape.rank; i++)
        end[i] = begin[i] + l->outputs[0].shape.dims[i];
    return GIVE(tw__hlo_slice(l, X, begin, end, NULL));
}

bool tw__lower_region(const tw__lowering *l, const tw_shape *from, int first, tw__region *r)
{
    int64_t begin[TW_MAX_RANK], end[TW_MAX_RANK], stride[TW_MAX_RANK];
    int count, same;
    int64_t begins = TW_ATTR(l, "begin_mask")->i, ends = TW_ATTR(l, "end_mask")->i, dots = TW_ATTR(l, "ellipsis_mask")->i,
            news = TW_ATTR(l, "new_axis_mask")->i, singles = TW_ATTR(l, "shrink_axis_mask")->i;
    if (!tw__lower_ints(l, first, begin, TW_MAX_RANK, &count) || !tw__lower_ints(l, first + 1, end, TW_MAX_RANK, &same) ||
        !tw__lower_ints(l, first + 2, stride, TW_MAX_RANK, &same))
        return false;
    int at = 0, named = 0;
    for (int i = 0; i < count; i++)
        named += !(dots >> i & 1) && !(news >> i & 1);
    r->kept = *from;
    for (int i = 0; i < from->rank; i++)
        r->begin[i] = 0, r->end[i] = from->dims[i], r->stride[i] = 1;
    for (int i = 0; i < count; i++) {
        if (dots >> i & 1) {
            at += from->rank - named;
            continue;
        }
        if (news >> i & 1)
            continue;
        if (at >= from->rank || stride[i] < 1)
            return false;
        int64_t size = from->dims[at], b = begin[i] < 0 ? begin[i] + size : begin[i], e = end[i] < 0 ? end[i] + size : end[i];
        b = begins >> i & 1 && !(singles >> i & 1) ? 0 : b < 0 ? 0 : b > size ? size : b;
        e = singles >> i & 1 ? b + 1 : ends >> i & 1 ? size : e < 0 ? 0 : e > size ? size : e;
        r->begin[at] = b;
        r->end[at] = e < b ? b : e;
        r->stride[at] = singles >> i & 1 ? 1 : stride[i];
        r->kept.dims[at] = (r->end[at] - b + r->stride[at] - 1) / r->stride[at];
        at++;
    }
    return true;
}

static bool strided_slice(tw__lowering *l)
{
    tw__region r;
    return tw__lower_region(l, &X.shape, 1, &r) && GIVE(tw__hlo_slice(l, X, r.begin, r.end, r.stride));
}

/* StridedSliceGrad(shape, begin, end, strides, dy): dy among zeros. */
static bool strided_slice_gradient(tw__lowering *l)
{
    tw__region r;
    const tw_shape *whole = &l->outputs[0].shape;
    int64_t high[TW_MAX_RANK], between[TW_MAX_RANK];
    if (!tw__lower_region(l, whole, 1, &r))
        return false;
    tw__hlo dy = tw__hlo_reshape(l, l->inputs[4], &r.kept);
    for (int i = 0; i < whole->rank; i++) {
        int64_t count = r.kept.dims[i];
        if (count == 0)
            return false;
        between[i] = r.stride[i] - 1;
        high[i] = whole->dims[i] - r.begin[i] - ((count - 1) * r.stride[i] + 1);
    }
    return GIVE(tw__hlo_pad(l, dy, tw__hlo_constant(l, dy.dtype, &TW_SCALAR, 0), r.begin, high, between));
}

static bool pad(tw__lowering *l)
{
    int64_t pairs[2 * TW_MAX_RANK], low[TW_MAX_RANK], high[TW_MAX_RANK];
    int count;
    if (!tw__lower_ints(l, 1, pairs, 2 * TW_MAX_RANK, &count))
        return false;
    for (int i = 0; i < X.shape.rank; i++)
        low[i] = pairs[2 * i], high[i] = pairs[2 * i + 1];
    tw__hlo value = l->input_count > 2 ? l->inputs[2] : tw__hlo_constant(l, X.dtype, &TW_SCALAR, 0);
    return GIVE(tw__hlo_pad(l, X, value, low, high, NULL));
}

/* Axis by axis: [before, n] as [before, times, n]. */
static bool tile(tw__lowering *l)
{
    int64_t times[TW_MAX_RANK], before = 1, rest;
    int count;
    tw__hlo x = X;
    if (!tw__lower_ints(l, 1, times, TW_MAX_RANK, &count) || count != X.shape.rank || tw__shape_count(&X.shape, &rest) != TW_OK ||
        rest == 0)
        return false;
    for (int i = 0; i < count; i++) {
        if (times[i] != 1)
            x = tw__hlo_broadcast_in(l, tw__hlo_reshape(l, x, &TW_SHAPE(before, rest)), &TW_SHAPE(before, times[i], rest),
                                     (int[]){ 0, 2 });
        before *= X.shape.dims[i] * times[i];
        rest /= X.shape.dims[i];
    }
    return GIVE(x);
}

static bool reverse(tw__lowering *l)
{
    int64_t axes[TW_MAX_RANK];
    int count;
    unsigned dims = 0;
    if (!tw__lower_ints(l, 1, axes, TW_MAX_RANK, &count))
        return false;
    for (int i = 0; i < count; i++)
        dims |= 1u << (axes[i] < 0 ? axes[i] + X.shape.rank : axes[i]);
    return GIVE(tw__hlo_reverse(l, X, dims));
}

static bool one_hot(tw__lowering *l) /* OneHot(indices, depth, on, off) */
{
    const tw_shape *shape = &l->outputs[0].shape;
    int axis = (int)TW_ATTR(l, "axis")->i, dims[TW_MAX_RANK];
    axis = axis < 0 ? shape->rank - 1 : axis;
    for (int i = 0; i < X.shape.rank; i++)
        dims[i] = i < axis ? i : i + 1;
    tw__hlo places = tw__hlo_broadcast_in(l, X, shape, dims), numbers = tw__hlo_iota(l, X.dtype, shape, axis);
    return GIVE(tw__hlo_select(l, tw__hlo_compare(l, "EQ", places, numbers), l->inputs[2], l->inputs[3]));
}

static bool range(tw__lowering *l)
{
    tw__hlo count = tw__hlo_iota(l, l->outputs[0].dtype, &l->outputs[0].shape, 0);
    return GIVE(tw__hlo_binary(l, "add", X, tw__hlo_binary(l, "multiply", count, l->inputs[2])));
}

/* Size, Rank: of an input whose shape is known. */
static bool size(tw__lowering *l)
{
    int64_t count = X.shape.rank;
    return (l->argument || tw__shape_count(&X.shape, &count) == TW_OK) && GIVE(NUMBER(l->outputs[0].dtype, (double)count));
}

/* Shape, ShapeN */
static bool shape(tw__lowering *l)
{
    for (int k = 0; k < l->output_count; k++) {
        tw__hlo sizes[TW_MAX_RANK];
        int rank = l->inputs[k].shape.rank;
        for (int i = 0; i < rank; i++)
            sizes[i] = tw__hlo_constant(l, l->outputs[k].dtype, &TW_SHAPE(1), (double)l->inputs[k].shape.dims[i]);
        if (!rank || !tw__lower_give(l, k, tw__hlo_concatenate(l, sizes, rank, 0)))
            return false;
    }
    return true;
}

static bool band(tw__lowering *l) /* MatrixBandPart(x, lower, upper) */
{
    int64_t lower, upper;
    int count, rank = X.shape.rank;
    if (!tw__lower_ints(l, 1, &lower, 1, &count) || !tw__lower_ints(l, 2, &upper, 1, &count) || rank < 2)
        return false;
    tw__hlo row = tw__hlo_iota(l, TW_INT64, &X.shape, rank - 2), column = tw__hlo_iota(l, TW_INT64, &X.shape, rank - 1);
    tw__hlo below = tw__hlo_binary(l, "subtract", row, column), value = X, zero = tw__hlo_constant(l, X.dtype, &TW_SCALAR, 0);
    if (lower >= 0)
        value = tw__hlo_select(l, tw__hlo_compare(l, "LE", below, tw__hlo_constant(l, TW_INT64, &TW_SCALAR, (double)lower)),
                               value, zero);
    if (upper >= 0)
        value = tw__hlo_select(l, tw__hlo_compare(l, "GE", below, tw__hlo_constant(l, TW_INT64, &TW_SCALAR, -(double)upper)),
                               value, zero);
    return GIVE(value);
}

const tw__lower_row tw__lower_shapes[] = {
    { "Reshape", reshape, NULL },
    { "ExpandDims", reshape, NULL },
    { "Squeeze", reshape, NULL },
    { "Transpose", transpose, NULL },
    { "BroadcastTo", broadcast, NULL },
    { "Fill", fill, NULL },
    { "ConcatV2", concatenate, NULL },
    { "Pack", pack, NULL },
    { "Unpack", unpack, NULL },
    { "Split", split, NULL },
    { "SplitV", split_sizes, NULL },
    { "Slice", slice, NULL },
    { "StridedSlice", strided_slice, NULL },
    { "StridedSliceGrad", strided_slice_gradient, NULL },
    { "Pad", pad, NULL },
    { "PadV2", pad, NULL },
    { "Tile", tile, NULL },
    { "ReverseV2", reverse, NULL },
    { "OneHot", one_hot, NULL },
    { "Range", range, NULL },
    { "MatrixBandPart", band, NULL },
    { "Size", size, NULL },
    { "Rank", size, "rank" },
    { "Shape", shape, NULL },
    { "ShapeN", shape, NULL },
    { NULL, NULL, NULL },
};
