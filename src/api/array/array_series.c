/* Functions that make arrays by a rule: numbers in a row, one-hot rows, repeating, grids, diagonals. */
#include "api/array/array.h"
#include "eager/eager.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

/* The number as a scalar of that dtype. */
static tw_tensor *number_of(double value, tw_dtype dtype)
{
    return tw__grad_constant(value, &(tw_tensor){ .dtype = dtype });
}

TW_API(
    one_hot,
    "one_hot(indices: tensor<int32>|ragged, depth: tensor<int32>, on_value: tensor<dtype> = None, off_value: tensor<dtype> = None, axis: int = None, dtype: dtype = None, name: str = None) -> tensor",
    "on_value (1) where the place along the new axis is the index, else off_value (0).\n"
    "indices: the places that are on; those that are out of range give none\n"
    "depth: the length of the new dimension\n"
    "on_value: what stands at the index; None: 1\n"
    "off_value: what stands elsewhere; None: 0\n"
    "axis: where the new dimension stands; None or -1: at the end\n"
    "dtype: the dtype of the result; None: that of the values, or float32\n"
    "example: tf.one_hot([0, 2], 3).numpy().tolist()  # [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]")
{
    tw_tensor *given = args->on_value ? args->on_value : args->off_value;
    tw_dtype dtype = args->dtype != TW_DTYPE_NONE ? args->dtype : given ? given->dtype : TW_FLOAT32;
    if (args->on_value && args->on_value->dtype != dtype) {
        tw__fail(TW_TYPE_ERROR, "dtype %s of on_value does not match dtype parameter %s", tw_dtype_name(args->on_value->dtype),
                 tw_dtype_name(dtype));
        return NULL;
    }
    if (args->off_value && args->off_value->dtype != dtype) {
        tw__fail(TW_TYPE_ERROR, "dtype %s of on_value does not match dtype %s of off_value", tw_dtype_name(dtype),
                 tw_dtype_name(args->off_value->dtype));
        return NULL;
    }
    if ((dtype == TW_STRING || dtype == TW_BOOL) && (!args->on_value || !args->off_value)) {
        tw__fail(TW_TYPE_ERROR, "Cannot convert 1 to EagerTensor of dtype %s", tw_dtype_name(dtype));
        return NULL;
    }
    tw_auto tw_tensor *on = args->on_value ? tw_retain(args->on_value) : number_of(1, dtype);
    tw_auto tw_tensor *off = args->off_value ? tw_retain(args->off_value) : number_of(0, dtype);
    if (!on || !off)
        return NULL;
    tw__part part = tw__part_begin(args->name, "one_hot");
    tw_auto tw_tensor *on_node = tw__part_constant(&part, on, "on_value"), *off_node = tw__part_constant(&part, off, "off_value");
    tw_auto tw_tensor *depth = on_node && off_node ? tw__part_constant(&part, args->depth, "depth") : NULL;
    tw_attr axis = TW_A_INT("axis", args->axis == TW_NO_INT ? -1 : args->axis);
    return tw__part_result(&part, depth ? tw__part_call(&part, "", &tw__op_OneHot, TW_IN(args->indices, depth, on_node, off_node),
                                                        4, &axis, 1)
                                        : NULL);
}

/* Takes x. */
static tw_tensor *cast_to(tw_tensor *x, tw_dtype dtype)
{
    if (!x || x->dtype == dtype)
        return x;
    tw_tensor *result = TW_CALL(Cast, x, TW_A_TYPE("DstT", dtype));
    tw_release(x);
    return result;
}

TW_API(
    range,
    "range(start: tensor<cast>, limit: tensor<cast> = None, delta: tensor<cast> = None shown 1, dtype: dtype = None, name: str = range) -> tensor",
    "start, start + delta, … before limit; with one number: 0, 1, … before it.\n"
    "start: the first number; alone it is the bound, and the numbers begin with 0\n"
    "example: tf.range(2, 10, 3).numpy().tolist()  # [2, 5, 8]")
{
    static const tw_dtype order[] = { TW_INT32, TW_INT64, TW_FLOAT32, TW_FLOAT64 };
    tw_tensor *given[] = { args->start, args->limit, args->delta };
    tw_dtype dtype = args->dtype;
    int highest = -1;
    for (int i = 0; dtype == TW_DTYPE_NONE && i < 3; i++) { /* the widest of the four; others stand for themselves */
        int rank = 0;
        while (given[i] && rank < 4 && order[rank] != given[i]->dtype)
            rank++;
        if (given[i] && rank == 4)
            dtype = given[i]->dtype;
        else if (given[i] && rank > highest)
            highest = rank;
    }
    if (dtype == TW_DTYPE_NONE)
        dtype = order[highest];
    tw_auto tw_tensor *start = args->limit ? cast_to(tw_retain(args->start), dtype) : number_of(0, dtype);
    tw_auto tw_tensor *limit = cast_to(tw_retain(args->limit ? args->limit : args->start), dtype);
    tw_auto tw_tensor *delta = args->delta ? cast_to(tw_retain(args->delta), dtype) : number_of(1, dtype);
    return TW_CALL(Range, start, limit, delta);
}

TW_API(linspace,
       "linspace|compat.v1.lin_space(start: tensor<T>, stop: tensor<T>, num: int, name: str = None, axis: int = 0) -> tensor",
       "num numbers from start to stop at equal distances; arrays of both give a new axis.\n"
       "example: tf.linspace(0.0, 1.0, 5).numpy().tolist()  # [0.0, 0.25, 0.5, 0.75, 1.0]")
{
    TW_TEMPS(t);
    tw_dtype dtype = args->start->dtype; /* integers: what a quotient of them has */
    if (tw__dtype_is_integer(dtype))
        dtype = tw__element_size(dtype) <= 2 ? TW_FLOAT32 : TW_FLOAT64;
    tw_auto tw_tensor *start = cast_to(tw_retain(args->start), dtype), *stop = cast_to(tw_retain(args->stop), dtype);
    tw_shape shape;
    int axis;
    if (!start || !stop)
        return NULL;
    if (args->num < 0) {
        tw__fail(TW_VALUE_ERROR, "Argument `num` must be positive. Received: num=%lld", (long long)args->num);
        return NULL;
    }
    if (!tw__shape_broadcast(&start->shape, &stop->shape, &shape) || !tw__axis_normal(args->axis, shape.rank + 1, &axis) ||
        shape.rank == TW_MAX_RANK) {
        tw__fail(TW_INVALID_ARGUMENT, "tf.linspace: shapes %s and %s, axis %lld", tw__shape_text(&start->shape),
                 tw__shape_text(&stop->shape), (long long)args->axis);
        return NULL;
    }
    bool follows = !start->data || !stop->data || tw__tapes_following(TW_IN(start, stop), 2); /* the op has no gradient */
    if (shape.rank == 0 && args->num > 0 && !follows) {
        tw_auto tw_tensor *num = tw_tensor_int64(args->num);
        return TW_CALL(LinSpace, start, stop, num);
    }
    /* start, start + i * (stop - start) / (num - 1), stop, the i along the new axis; of one number start alone */
    bool ends = args->num > 1;
    int64_t inner = ends ? args->num - 2 : args->num;
    tw_auto tw_tensor *wide_shape = tw__tensor_of_shape(&shape, TW_INT64), *place = tw_tensor_int(axis);
    tw_auto tw_tensor *from = wide_shape && place ? TW_CALL(BroadcastTo, start, wide_shape) : NULL;
    tw_auto tw_tensor *to = from ? TW_CALL(BroadcastTo, stop, wide_shape) : NULL;
    tw_auto tw_tensor *first = to ? TW_CALL(ExpandDims, from, place) : NULL, *last = TW_CALL(ExpandDims, to, place);
    tw_shape line = { .rank = shape.rank + 1 };
    for (int i = 0; i < line.rank; i++)
        line.dims[i] = i == axis ? inner : 1;
    tw_tensor *steps = TW_CALL(Range, (int64_t)ends, (int64_t)ends + inner, INT64_C(1));
    steps = TW_CALL(Reshape, tw__temp(t, cast_to(steps, dtype)), tw__temp(t, tw__tensor_of_shape(&line, TW_INT64)));
    tw_tensor *length = TW_CALL(Sub, last, first);
    tw_tensor *step =
        TW_TEMP(RealDiv, tw__temp(t, length), tw__temp(t, number_of(args->num > 1 ? (double)(args->num - 1) : 1, dtype)));
    tw_tensor *middle = TW_TEMP(AddV2, TW_TEMP(Mul, step, tw__temp(t, steps)), first);
    return ends ? tw__keep(t, middle ? tw__temp_concat(t, TW_IN(first, middle, last), 3, axis) : NULL) : tw__keep(t, middle);
}

/* ---- repeating ---- */

/* The size of an axis as a number of the graph. */
tw_tensor *tw__axis_size_later(tw_tensor *x, int axis)
{
    tw_auto tw_tensor *shape = TW_CALL(Shape, x), *at = tw_tensor_int(axis), *zero = tw_tensor_int(0);
    return TW_CALL(GatherV2, shape, at, zero);
}

/* By ops, where sizes or numbers are not known yet: row i is taken wherever as many rows as are before its end are not over. */
static tw_tensor *repeat_later(tw_tensor *x, tw_tensor *repeats, int axis)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *size = tw__axis_size_later(x, axis),
                      *vector = TW_CALL(Reshape, size, tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32));
    tw_auto tw_tensor *none = tw__ints_tensor((int64_t[]){ -1 }, 1, TW_INT32), *place = tw_tensor_int(axis),
                      *zero = tw_tensor_int(0);
    if (!vector || !none || !place || !zero)
        return NULL;
    tw_tensor *flat = TW_CALL(Reshape, repeats, none);
    tw_tensor *narrow = flat && flat->dtype != TW_INT32 ? TW_CALL(Cast, flat, TW_A_TYPE("DstT", TW_INT32)) : tw_retain(flat);
    tw_release(flat);
    tw_tensor *all = TW_CALL(BroadcastTo, tw__temp(t, narrow), vector);
    tw_auto tw_tensor *ends = TW_CALL(Cumsum, all, zero);
    tw_release(all);
    tw_auto tw_tensor *axes = tw__ints_tensor((int64_t[]){ 0 }, 1, TW_INT32);
    tw_auto tw_tensor *total = TW_CALL(Max, ends, axes);
    tw_tensor *count = TW_TEMP(Maximum, total, zero); /* of no rows the greatest is the least number */
    tw_auto tw_tensor *places = TW_CALL(Range, 0, count, 1);
    tw_auto tw_tensor *sorted = TW_CALL(Reshape, ends, tw__temp_ints(t, (int64_t[]){ 1, -1 }, 2, TW_INT32));
    tw_auto tw_tensor *wanted = TW_CALL(Reshape, places, tw__temp_ints(t, (int64_t[]){ 1, -1 }, 2, TW_INT32));
    tw_auto tw_tensor *rows = TW_CALL(Reshape, TW_TEMP(UpperBound, sorted, wanted), none);
    return TW_CALL(GatherV2, x, rows, place);
}

TW_API(repeat, "repeat(input: tensor, repeats: tensor<int32>, axis: int = None, name: str = None) -> tensor",
       "Repeats each element (or slice along an axis) so many times.\n"
       "input: a tensor\n"
       "repeats: how often each is repeated: one number, or one for each\n"
       "axis: the dimension whose slices are repeated; None: elements of the flat tensor\n"
       "example: tf.repeat([1, 2], [2, 3]).numpy().tolist()  # [1, 1, 2, 2, 2]")
{
    TW_TEMPS(t);
    int axis = 0;
    if (!tw__dtype_is_integer(args->repeats->dtype)) {
        tw__fail(TW_TYPE_ERROR, "repeats must be an integer tensor; dtype=%s", tw_dtype_name(args->repeats->dtype));
        return NULL;
    }
    tw_auto tw_tensor *x = args->axis == TW_NO_INT
                               ? TW_CALL(Reshape, args->input, tw__temp_ints(t, &(int64_t){ -1 }, 1, TW_INT64))
                               : tw_retain(args->input);
    if (!x)
        return NULL;
    if (x->shape.rank < 0 && args->axis >= 0 && args->axis < TW_MAX_RANK)
        return repeat_later(x, args->repeats, (int)args->axis);
    if (args->axis != TW_NO_INT && !tw__axis_normal(args->axis, x->shape.rank, &axis)) {
        tw__fail(TW_VALUE_ERROR, "tf.repeat: axis %lld of a tensor of shape %s", (long long)args->axis,
                 tw__shape_text(&x->shape));
        return NULL;
    }
    int64_t size = x->shape.dims[axis], total = 0;
    const tw_tensor *repeats = args->repeats;
    if (size < 0 || !repeats->data)
        return repeat_later(x, args->repeats, axis);
    bool one = repeats->count == 1;
    if (repeats->shape.rank > 1 || (!one && repeats->count != size)) {
        tw__fail(TW_VALUE_ERROR, "Dimensions %lld and %lld are not compatible: tf.repeat needs one number or one for each slice",
                 (long long)size, (long long)repeats->count);
        return NULL;
    }
    for (int64_t i = 0; i < size; i++) {
        int64_t times = tw_tensor_int_at(repeats, one ? 0 : i);
        if (times < 0 || __builtin_add_overflow(total, times, &total)) {
            tw__fail(TW_INVALID_ARGUMENT, "tf.repeat: repeats of %lld", (long long)times);
            return NULL;
        }
    }
    tw_auto tw_tensor *indices = tw__tensor_empty(TW_INT64, &TW_SHAPE(total)), *place = tw_tensor_int(axis);
    if (!indices || !place)
        return NULL;
    int64_t *next = indices->data;
    for (int64_t i = 0; i < size; i++) {
        for (int64_t times = tw_tensor_int_at(repeats, one ? 0 : i); times > 0; times--)
            *next++ = i;
    }
    return TW_CALL(GatherV2, x, indices, place);
}

TW_API(meshgrid, "meshgrid(*args: tensors, *, indexing: str {xy, ij} = xy, name: str = meshgrid) -> tensors",
       "Coordinates of a grid: each vector spread over the axes of the others.\n"
       "args: vectors\n"
       "indexing: `xy`: the first vector runs along the columns; `ij`: along the rows\n"
       "returns: a list with a tensor for each vector")
{
    TW_TEMPS(t);
    int64_t count = args->args.count;
    tw_tensors none = { 0 }, out = { tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    if (!out.items)
        return none;
    if (count > TW_MAX_RANK) {
        tw__fail(TW_UNIMPLEMENTED, "tf.meshgrid: %lld vectors, at most %d are supported", (long long)count, TW_MAX_RANK);
        tw_tensors_free(&out);
        return none;
    }
    bool swap = strcmp(args->indexing, "xy") == 0 && count > 1;
    tw_tensor *sizes[TW_MAX_RANK] = { 0 };
    for (int64_t i = 0; i < count; i++) /* constants where they are known */
        sizes[swap && i < 2 ? 1 - i : i] = TW_TEMP(Size, args->args.items[i], TW_A_TYPE("out_type", TW_INT64));
    tw_tensor *full = count ? tw__temp(t, tw_stack(((tw_tensors){ sizes, count }))) : NULL;
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = swap && i < 2 ? 1 - i : i;
        tw_shape line = { .rank = (int32_t)count };
        for (int k = 0; k < line.rank; k++)
            line.dims[k] = k == axis ? -1 : 1;
        tw_tensor *vector = TW_TEMP(Reshape, args->args.items[i], tw__temp(t, tw__tensor_of_shape(&line, TW_INT64)));
        if (!(out.items[i] = TW_CALL(BroadcastTo, vector, full))) {
            tw_tensors_free(&out);
            return none;
        }
    }
    return out;
}

/* ---- diagonals ---- */

TW_API(
    linalg_diag,
    "linalg.diag|compat.v1.matrix_diag(diagonal: tensor<T>, name: str = diag, k: tensor<int32> = None shown 0, num_rows: int = -1, num_cols: int = -1, "
    "padding_value: tensor<T> = None shown 0, align: str = RIGHT_LEFT) -> tensor",
    "Matrices with given diagonals.\n"
    "diagonal: the diagonals; with several, the dimension before the last counts them\n"
    "k: which diagonal: 0 the main one, positive ones above it, negative ones below; two numbers are a band from the lower to the higher one\n"
    "num_rows: how many rows the matrices have; -1: as few as hold the diagonals\n"
    "num_cols: how many columns they have; -1: as few as hold the diagonals\n"
    "padding_value: what stands outside of the diagonals; None: 0\n"
    "align: to which end diagonals that are shorter than the others are moved: that of those above the main one, `_`, that of those below\n"
    "example: tf.linalg.diag([1, 2]).numpy().tolist()  # [[1, 0], [0, 2]]")
{
    tw_auto tw_tensor *k = args->k ? tw_retain(args->k) : tw_tensor_int(0);
    tw_auto tw_tensor *rows = tw_tensor_int((int32_t)args->num_rows), *columns = tw_tensor_int((int32_t)args->num_cols);
    tw_auto tw_tensor *padding =
        args->padding_value ? tw_retain(args->padding_value) : tw_tensor_new(args->diagonal->dtype, TW_SCALAR, NULL);
    if (!k || !rows || !columns || !padding)
        return NULL;
    return TW_CALL(MatrixDiagV3, args->diagonal, k, rows, columns, padding, TW_A_STRING("align", args->align));
}

TW_API(
    linalg_diag_part,
    "linalg.diag_part|compat.v1.matrix_diag_part(input: tensor<T>, name: str = diag_part, k: tensor<int32> = None shown 0, padding_value: tensor<T> = None shown 0, "
    "align: str = RIGHT_LEFT) -> tensor",
    "Diagonals of matrices.\n"
    "input: matrices [..., M, N]\n"
    "k: which diagonal: 0 the main one, positive ones above it, negative ones below; two numbers are a band from the lower to the higher one\n"
    "padding_value: what fills diagonals that are shorter than the longest; None: 0\n"
    "align: to which end such diagonals are moved: that of those above the main one, `_`, that of those below\n"
    "example: tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()  # [1, 4]")
{
    tw_auto tw_tensor *k = args->k ? tw_retain(args->k) : tw_tensor_int(0);
    tw_auto tw_tensor *padding =
        args->padding_value ? tw_retain(args->padding_value) : tw_tensor_new(args->input->dtype, TW_SCALAR, NULL);
    if (!k || !padding)
        return NULL;
    return TW_CALL(MatrixDiagPartV3, args->input, k, padding, TW_A_STRING("align", args->align));
}
