/* The words of graphs for shapes that do not fit: an operation that runs at once speaks of its arguments, a graph of dimensions and ranks. Operations
 * that are used often are here; others keep their own words. */
#include "graph/shape_words.h"
#include "rows.h"

bool tw__wording_vector(const tw__wording *w, int input, tw_shape *shape)
{
    const tw_tensor *tensor = w->in->values[input];
    if (!tensor)
        return tw__partial_input(w->in, input, shape);
    if (!tensor->data || tensor->shape.rank != 1 || tensor->count > TW_MAX_RANK || (tensor->dtype != TW_INT32 && tensor->dtype != TW_INT64))
        return false;
    shape->rank = (int)tensor->count;
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = tensor->dtype == TW_INT32 ? ((const int32_t *)tensor->data)[i] : ((const int64_t *)tensor->data)[i];
    return true;
}

/* ---- the sentences ---- */

static bool say_dims(tw__wording *w, int64_t a, int64_t b)
{
    tw__text_format(&w->text, "Dimensions must be equal, but are %lld and %lld", (long long)a, (long long)b);
    return true;
}

static bool differ(int64_t a, int64_t b)
{
    return a >= 0 && b >= 0 && a != b;
}

static bool say_rank(tw__wording *w, int wanted, int rank)
{
    tw__text_format(&w->text, "Shape must be rank %d but is rank %d", wanted, rank);
    return true;
}

static bool rank_at_least(tw__wording *w, const tw_shape *shape, int64_t wanted)
{
    if (shape->rank < 0 || shape->rank >= wanted)
        return false;
    tw__text_format(&w->text, "Shape must be at least rank %lld but is rank %d", (long long)wanted, shape->rank);
    return true;
}

void tw__shape_difference(tw__text *text, const tw_shape *a, const tw_shape *b)
{
    if (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank)
        tw__text_format(text, "Shapes must be equal rank, but are %d and %d", a->rank, b->rank);
    for (int i = 0; a->rank == b->rank && i < a->rank; i++) {
        if (differ(a->dims[i], b->dims[i])) {
            tw__text_format(text, "Dimension %d in both shapes must be equal, but are %lld and %lld. Shapes are %s and %s.", i, (long long)a->dims[i],
                            (long long)b->dims[i], tw__shape_text(a), tw__shape_text(b));
            return;
        }
    }
}

/* How many dimensions it takes to have the axis. */
static int64_t ranks_of(int64_t axis)
{
    return axis == INT64_MIN || axis == INT64_MAX ? INT64_MAX : axis < 0 ? -axis : axis + 1;
}

/* Two shapes that must be one. */
static bool merge(tw__wording *w, const tw_shape *a, const tw_shape *b)
{
    size_t before = w->text.size;
    tw__shape_difference(&w->text, a, b);
    return w->text.size > before;
}

static bool broadcast_shapes(tw__wording *w, const tw_shape *a, const tw_shape *b)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    if (a->rank < 0 || b->rank < 0)
        return false;
    for (int i = 0; i < rank; i++) {
        int64_t x = i < rank - a->rank ? 1 : a->dims[i - (rank - a->rank)], y = i < rank - b->rank ? 1 : b->dims[i - (rank - b->rank)];
        if (x != 1 && y != 1 && differ(x, y))
            return say_dims(w, x, y);
    }
    return false;
}

static tw_shape part(const tw_shape *shape, int from, int to)
{
    tw_shape out = { .rank = to - from };
    for (int i = from; i < to; i++)
        out.dims[i - from] = shape->dims[i];
    return out;
}

/* One known whole number among the inputs. */
static bool number(const tw__wording *w, int input, int64_t *value)
{
    const tw_tensor *tensor = w->in->values[input];
    if (!tensor || !tensor->data || tensor->count != 1 || (tensor->dtype != TW_INT32 && tensor->dtype != TW_INT64))
        return false;
    *value = tensor->dtype == TW_INT32 ? *(const int32_t *)tensor->data : *(const int64_t *)tensor->data;
    return true;
}

/* ---- the operations ---- */

static bool binary(tw__wording *w)
{
    return broadcast_shapes(w, w->in->shapes[0], w->in->shapes[1]);
}

static bool select_shapes(tw__wording *w)
{
    return broadcast_shapes(w, w->in->shapes[1], w->in->shapes[2]) || broadcast_shapes(w, w->in->shapes[0], w->in->shapes[1]) ||
           broadcast_shapes(w, w->in->shapes[0], w->in->shapes[2]);
}

/* Products of matrices, one or many; `first` and `second` say which operand is transposed. */
static bool product(tw__wording *w, bool many, bool first, bool second)
{
    const tw_shape *a = w->in->shapes[0], *b = w->in->shapes[1];
    if (many && (rank_at_least(w, a, 2) || rank_at_least(w, b, 2)))
        return true;
    for (int i = 0; !many && i < 2; i++) {
        if (w->in->shapes[i]->rank >= 0 && w->in->shapes[i]->rank != 2)
            return say_rank(w, 2, w->in->shapes[i]->rank);
    }
    if (a->rank < 2 || b->rank < 2)
        return false;
    int64_t x = a->dims[a->rank - (first ? 2 : 1)], y = b->dims[b->rank - (second ? 1 : 2)];
    if (differ(x, y))
        return say_dims(w, x, y);
    tw_shape outer = part(a, 0, a->rank - 2), other = part(b, 0, b->rank - 2);
    return broadcast_shapes(w, &outer, &other);
}

static bool mat_mul(tw__wording *w)
{
    return product(w, false, TW_ATTR(w->in, "transpose_a")->b, TW_ATTR(w->in, "transpose_b")->b);
}

static bool batch_mat_mul(tw__wording *w)
{
    return product(w, true, TW_ATTR(w->in, "adj_x")->b, TW_ATTR(w->in, "adj_y")->b);
}

static bool concat(tw__wording *w)
{
    int last = w->in->input_count - 1, rank = -1;
    int64_t axis;
    for (int i = 0; i < last; i++) {
        int own = w->in->shapes[i]->rank;
        if (own >= 0 && rank >= 0 && own != rank)
            return say_rank(w, rank, own);
        rank = rank < 0 ? own : rank;
    }
    w->values = 1u << (last < 31 ? last : 31);
    if (last < 1 || rank < 0 || !number(w, last, &axis))
        return false;
    if (rank_at_least(w, w->in->shapes[0], ranks_of(axis)))
        return true;
    int at = (int)(axis < 0 ? axis + rank : axis);
    for (int i = 1; i < last; i++) {
        tw_shape a = part(w->in->shapes[0], 0, at), b = part(w->in->shapes[i], 0, at);
        tw_shape c = part(w->in->shapes[0], at + 1, rank), d = part(w->in->shapes[i], at + 1, rank);
        if (w->in->shapes[i]->rank == rank && (merge(w, &a, &b) || merge(w, &c, &d)))
            return true;
    }
    return false;
}

static bool pack(tw__wording *w)
{
    for (int i = 1; i < w->in->input_count; i++) {
        if (merge(w, w->in->shapes[0], w->in->shapes[i])) {
            tw__text_format(&w->text, "\n\tFrom merging shape %d with other shapes.", i - 1);
            return true;
        }
    }
    return false;
}

static bool reshape(tw__wording *w)
{
    tw_shape to;
    int64_t count, known = 1;
    w->partials = 2;
    if (!tw__shape_known(w->in->shapes[0]) || tw__shape_count(w->in->shapes[0], &count) != TW_OK || !tw__wording_vector(w, 1, &to))
        return false;
    int open = 0;
    for (int i = 0; i < to.rank; i++) {
        open += to.dims[i] < 0;
        if (__builtin_mul_overflow(known, to.dims[i] < 0 ? 1 : to.dims[i], &known))
            return false;
    }
    if (open > 1)
        return false;
    if (!open)
        tw__text_format(&w->text, "Cannot reshape a tensor with %lld elements to shape %s (%lld elements)", (long long)count, tw__shape_text(&to),
                        (long long)known);
    else
        tw__text_format(&w->text, "Dimension size must be evenly divisible by %lld but is %lld", (long long)known, (long long)count);
    return true;
}

static bool transpose(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0], *perm = w->in->shapes[1];
    if (shape->rank >= 0 && perm->rank == 1 && differ(shape->rank, perm->dims[0])) {
        tw__text_format(&w->text, "Dimension must be %d but is %lld", shape->rank, (long long)perm->dims[0]);
        return true;
    }
    w->values = 2;
    tw_shape order;
    for (int i = 0; shape->rank >= 0 && tw__wording_vector(w, 1, &order) && i < order.rank; i++) {
        if (order.dims[i] >= shape->rank || order.dims[i] < -shape->rank) {
            tw__text_format(&w->text, "perm dim %lld is out of range of input rank %d", (long long)order.dims[i], shape->rank);
            return true;
        }
    }
    return false;
}

static bool reduction(tw__wording *w)
{
    const tw_tensor *axes = w->in->values[1];
    int rank = w->in->shapes[0]->rank;
    w->values = 2;
    for (int64_t i = 0; axes && axes->data && rank >= 0 && i < axes->count; i++) {
        int64_t axis = axes->dtype == TW_INT32 ? ((const int32_t *)axes->data)[i] : ((const int64_t *)axes->data)[i];
        if (axis < -rank || axis >= rank) {
            tw__text_format(&w->text, "Invalid reduction dimension %lld for input with %d dimensions.", (long long)axis, rank);
            return true;
        }
    }
    return false;
}

static bool arg_max(tw__wording *w)
{
    int64_t axis;
    int rank = w->in->shapes[0]->rank;
    w->values = 2;
    if (rank < 0 || !number(w, 1, &axis))
        return false;
    tw__text_format(&w->text, "Dimension (%lld) must be in the range [%d, %d), where %d is the number of dimensions in the input.", (long long)axis,
                    -rank, rank, rank);
    return true;
}

static bool expand_dims(tw__wording *w)
{
    int64_t axis;
    int rank = w->in->shapes[0]->rank;
    w->values = 2;
    if (rank < 0 || !number(w, 1, &axis))
        return false;
    tw__text_format(&w->text, "dim %lld not in the interval [%d, %d].", (long long)axis, -rank - 1, rank);
    return true;
}

static bool strided_slice(tw__wording *w)
{
    w->values = strncmp(w->own, "Index out of range", 18) == 0 ? 8 : 2 | 4 | 8;
    return false;
}

static bool gather(tw__wording *w)
{
    int64_t axis;
    w->values = 4;
    return number(w, 2, &axis) && rank_at_least(w, w->in->shapes[0], ranks_of(axis));
}

static bool tile(tw__wording *w)
{
    const tw_shape *multiples = w->in->shapes[1];
    int rank = w->in->shapes[0]->rank;
    return rank >= 0 && multiples->rank == 1 && differ(multiples->dims[0], rank) && say_rank(w, rank, (int)multiples->dims[0]);
}

static bool pad(tw__wording *w)
{
    const tw_shape *paddings = w->in->shapes[1];
    int rank = w->in->shapes[0]->rank;
    return rank >= 0 && paddings->rank == 2 && differ(paddings->dims[0], rank) && say_rank(w, (int)paddings->dims[0], rank);
}

/* The size of the axis that a split is along. */
static bool split_size(tw__wording *w, int value, int axis_input, int64_t *size)
{
    int64_t axis;
    const tw_shape *shape = w->in->shapes[value];
    if (shape->rank < 0 || !number(w, axis_input, &axis) || axis < -shape->rank || axis >= shape->rank)
        return false;
    *size = shape->dims[axis < 0 ? axis + shape->rank : axis];
    return true;
}

static bool split(tw__wording *w)
{
    int64_t size;
    w->values = 1;
    if (!split_size(w, 1, 0, &size))
        return false;
    tw__text_format(&w->text, "Dimension size must be evenly divisible by %lld but is %lld\n\tNumber of ways to split should evenly divide the split "
                    "dimension", (long long)w->in->output_count, (long long)size);
    return true;
}

static bool split_v(tw__wording *w)
{
    int64_t size;
    tw_shape sizes;
    w->values = 2 | 4;
    if (!split_size(w, 0, 2, &size) || !tw__wording_vector(w, 1, &sizes))
        return false;
    tw__text_format(&w->text, "can't split axis of size %lld into pieces of size %s", (long long)size, tw__shape_text(&sizes));
    return true;
}

static bool unpack(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    int64_t axis = TW_ATTR(w->in, "axis")->i, num = TW_ATTR(w->in, "num")->i;
    axis += axis < 0 ? shape->rank : 0;
    if (shape->rank < 0 || axis < 0 || axis >= shape->rank || !differ(num, shape->dims[axis]))
        return false;
    tw__text_format(&w->text, "Dimension must be %lld but is %lld", (long long)num, (long long)shape->dims[axis]);
    return true;
}

static bool convolution(tw__wording *w)
{
    const tw_shape *in = w->in->shapes[0], *filter = w->in->shapes[1];
    for (int i = 0; i < 2; i++) {
        if (w->in->shapes[i]->rank >= 0 && w->in->shapes[i]->rank != 4)
            return say_rank(w, 4, w->in->shapes[i]->rank);
    }
    if (in->rank < 0 || filter->rank < 0 || w->in->op != &tw__op_Conv2D)
        return false;
    tw_string format = TW_ATTR(w->in, "data_format")->s;
    int64_t depth = in->dims[format.size && format.data[1] == 'C' ? 1 : 3];
    if (depth < 0 || filter->dims[2] <= 0 || depth % filter->dims[2] == 0)
        return false;
    tw__text_format(&w->text, "Depth of input (%lld) is not a multiple of input depth of filter (%lld)", (long long)depth, (long long)filter->dims[2]);
    return true;
}

static bool bias_add(tw__wording *w)
{
    const tw_shape *in = w->in->shapes[0], *bias = w->in->shapes[1];
    if (bias->rank >= 0 && bias->rank != 1)
        return say_rank(w, 1, bias->rank);
    tw_string format = TW_ATTR(w->in, "data_format")->s;
    if (in->rank < 2 || bias->rank < 0)
        return rank_at_least(w, in, 2);
    int64_t depth = in->dims[format.size > 1 && format.data[1] == 'C' ? 1 : in->rank - 1];
    return differ(depth, bias->dims[0]) && say_dims(w, depth, bias->dims[0]);
}

static bool broadcast_to(tw__wording *w)
{
    tw_shape to;
    const tw_shape *from = w->in->shapes[0];
    w->partials = 2;
    if (from->rank < 0 || !tw__wording_vector(w, 1, &to))
        return false;
    if (from->rank > to.rank)
        return rank_at_least(w, &to, from->rank);
    for (int i = 1; i <= from->rank; i++) {
        int64_t have = from->dims[from->rank - i], wanted = to.dims[to.rank - i];
        if (have != 1 && differ(have, wanted))
            return say_dims(w, have, wanted);
    }
    return false;
}

static bool one_hot(tw__wording *w)
{
    int64_t depth;
    w->values = 2;
    if (!number(w, 1, &depth) || depth >= 0)
        return false;
    tw__text_format(&w->text, "Dimension size, given by scalar input 1, must be non-negative but is %lld", (long long)depth);
    return true;
}

static bool fill(tw__wording *w)
{
    w->partials = 1;
    tw__text_add(&w->text, "Fill dimensions must be >= 0");
    return true;
}

static bool square(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    return rank_at_least(w, shape, 2) || (shape->rank >= 2 && differ(shape->dims[shape->rank - 2], shape->dims[shape->rank - 1]) &&
                                          say_dims(w, shape->dims[shape->rank - 2], shape->dims[shape->rank - 1]));
}

/* Each label stands for one size: the first that does not. */
static bool einsum(tw__wording *w)
{
    tw_string equation = TW_ATTR(w->in, "equation")->s;
    int64_t sizes[256];
    memset(sizes, -1, sizeof sizes);
    int input = 0, axis = 0;
    for (size_t i = 0; i < equation.size && equation.data[i] != '-' && equation.data[i] != '.' && input < w->in->input_count; i++) {
        unsigned char label = (unsigned char)equation.data[i];
        const tw_shape *shape = w->in->shapes[input];
        if (label == ',') {
            input++;
            axis = 0;
            continue;
        }
        int64_t size = axis < shape->rank ? shape->dims[axis++] : -1;
        if (differ(sizes[label], size))
            return say_dims(w, sizes[label], size);
        sizes[label] = sizes[label] < 0 ? size : sizes[label];
    }
    return false;
}

static bool ensure_shape(tw__wording *w)
{
    return merge(w, TW_ATTR(w->in, "shape")->shape, w->in->shapes[0]);
}

static bool gather_nd(tw__wording *w)
{
    tw__text_format(&w->text, "indices.shape[-1] must be <= params.rank, but saw indices shape: %s and params shape: %s",
                    tw__shape_text(w->in->shapes[1]), tw__shape_text(w->in->shapes[0]));
    return true;
}

static bool scatter_nd(tw__wording *w)
{
    const tw_shape *indices = w->in->shapes[0], *updates = w->in->shapes[1];
    if (indices->rank < 1 || updates->rank < indices->rank - 1)
        return false;
    tw_shape a = part(indices, 0, indices->rank - 1), b = part(updates, 0, indices->rank - 1);
    size_t before = w->text.size;
    tw__text_format(&w->text, "Dimensions [0,%d) of indices[shape=%s] = ", a.rank, tw__shape_text(indices));
    tw__text_format(&w->text, "%s must match dimensions [0,%d) of updates[shape=%s] = ", tw__shape_text(&a), a.rank, tw__shape_text(updates));
    tw__text_format(&w->text, "%s: ", tw__shape_text(&b));
    if (merge(w, &a, &b))
        return true;
    w->text.size = before;
    return false;
}

static bool top_k(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    int64_t k;
    w->values = 2;
    if (rank_at_least(w, shape, 1))
        return true;
    if (!number(w, 1, &k))
        return false;
    tw__text_format(&w->text, "input must have last dimension >= k = %lld but is %lld", (long long)k, (long long)shape->dims[shape->rank - 1]);
    return true;
}

static bool reverse(tw__wording *w)
{
    w->values = 2;
    return false;
}

static bool pooling(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    return shape->rank >= 0 && shape->rank != 4 && say_rank(w, 4, shape->rank);
}

static const struct {
    const tw_op *op;
    bool (*say)(tw__wording *w);
} wordings[] = {
    { &tw__op_MatMul, mat_mul },           { &tw__op_BatchMatMulV2, batch_mat_mul }, { &tw__op_ConcatV2, concat },
    { &tw__op_Pack, pack },                { &tw__op_Reshape, reshape },             { &tw__op_Transpose, transpose },
    { &tw__op_ArgMax, arg_max },           { &tw__op_ArgMin, arg_max },              { &tw__op_ExpandDims, expand_dims },
    { &tw__op_StridedSlice, strided_slice }, { &tw__op_GatherV2, gather },           { &tw__op_Tile, tile },
    { &tw__op_Pad, pad },                  { &tw__op_PadV2, pad },                   { &tw__op_MirrorPad, pad },
    { &tw__op_Split, split },              { &tw__op_SplitV, split_v },              { &tw__op_Unpack, unpack },
    { &tw__op_SelectV2, select_shapes },   { &tw__op_Conv2D, convolution },          { &tw__op_DepthwiseConv2dNative, convolution },
    { &tw__op_BiasAdd, bias_add },         { &tw__op_SoftmaxCrossEntropyWithLogits, binary }, { &tw__op_BroadcastTo, broadcast_to },
    { &tw__op_OneHot, one_hot },           { &tw__op_Fill, fill },                   { &tw__op_MatrixInverse, square },
    { &tw__op_MatrixDeterminant, square }, { &tw__op_Cholesky, square },             { &tw__op_Einsum, einsum },
    { &tw__op_EnsureShape, ensure_shape }, { &tw__op_GatherNd, gather_nd },          { &tw__op_TopKV2, top_k },
    { &tw__op_ReverseV2, reverse },        { &tw__op_MaxPool, pooling },             { &tw__op_AvgPool, pooling },
    { &tw__op_Sum, reduction },            { &tw__op_Mean, reduction },              { &tw__op_Max, reduction },
    { &tw__op_Min, reduction },            { &tw__op_Prod, reduction },              { &tw__op_All, reduction },
    { &tw__op_Any, reduction },            { &tw__op_Equal, binary },                { &tw__op_NotEqual, binary },
    { &tw__op_ScatterNd, scatter_nd },
};

bool tw__shape_words(tw__wording *w)
{
    if (w->in->op->shape == tw_shape_broadcast && binary(w))
        return true;
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
        if (wordings[i].op == w->in->op)
            return wordings[i].say(w);
    }
    return false;
}
