/* tf.experimental.numpy: the same elements under another shape or in another order. */
#include "api/numpy/numpy.h"

#include "rows.h"

TW_API(numpy_ravel, "experimental.numpy.ravel(a: tensor<array>) -> tensor", "All elements as a vector.")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__numpy_flat(t, args->a));
}
TW_API(numpy_flatten, "experimental.numpy.flatten(a: tensor<array>, order: str = C) -> tensor",
       "All elements as a vector, rows (C) or columns (F) first.\n"
       "order: `C`: rows first; `F`: columns first; `A` and `K`: as `C`")
{
    TW_TEMPS(t);
    tw_tensor *a = args->a;
    if (strlen(args->order) != 1 || !strchr("CFAK", *args->order))
        return TW_NUMPY_VALUE_ERROR("Invalid value for argument `order`: %s. Supported values are: ['C', 'F', 'A', 'K']",
                                    args->order);
    if (*args->order == 'F')
        a = tw__temp(t, tw_transpose(a));
    return tw__keep(t, tw__numpy_flat(t, a));
}
TW_API(numpy_reshape, "experimental.numpy.reshape(a: tensor<array>, newshape: tensor<int32>, order: str = C) -> tensor",
       "The elements in another shape.\n"
       "newshape: the new shape; one dimension may be -1, which is then computed\n"
       "order: `C`: elements are read rows first; `F`: columns first")
{
    TW_TEMPS(t);
    bool columns = strcmp(args->order, "F") == 0;
    if (!columns && strcmp(args->order, "C") != 0)
        return TW_NUMPY_VALUE_ERROR("Unsupported order argument %s", args->order);
    tw_tensor *shape = args->newshape->shape.rank == 0 ? tw__numpy_flat(t, args->newshape) : args->newshape;
    if (shape && !tw__dtype_is_integer(shape->dtype))
        shape = tw__temp_cast(t, shape, TW_INT32);
    if (!columns)
        return TW_CALL(Reshape, args->a, shape);
    shape = TW_TEMP(ReverseV2, shape, tw__numpy_ints(t, 0, 1));
    tw_tensor *made = TW_TEMP(Reshape, (tw_tensor *)tw__temp(t, tw_transpose(args->a)), shape);
    return made ? tw_transpose(made) : NULL;
}
TW_API(numpy_expand_dims, "experimental.numpy.expand_dims(a: tensor<array>, axis: int) -> tensor",
       "One more dimension.\n"
       "axis: where the new dimension stands in the result; negative ones count from the end")
{
    return tw__call_axis(&tw__op_ExpandDims, args->a, args->axis, NULL, 0);
}
TW_API(numpy_squeeze, "experimental.numpy.squeeze(a: tensor<array>, axis: ints = None) -> tensor",
       "Without dimensions of one element.")
{
    return tw_squeeze(args->a, .axis = args->axis);
}
TW_API(numpy_transpose, "experimental.numpy.transpose(a: tensor<array>, axes: ints = None) -> tensor",
       "The axes in another order.\n"
       "axes: the order of the dimensions in the result; None: reversed")
{
    return tw_transpose(args->a, .perm = args->axes);
}

/* Axis i of the result is axis order[i]. */
static tw_tensor *reordered(tw__temps *t, tw_tensor *a, const int64_t *order)
{
    return TW_TEMP(Transpose, a, tw__temp_ints(t, order, a->shape.rank, TW_INT32));
}

static tw_tensor *moved(tw__temps *t, tw_tensor *a, tw_ints source, tw_ints destination)
{
    int rank = a->shape.rank, from, to;
    int64_t order[TW_MAX_RANK];
    bool taken[TW_MAX_RANK] = { false }, placed[TW_MAX_RANK] = { false };
    if (source.count != destination.count)
        return TW_NUMPY_VALUE_ERROR("The lengths of source and destination must equal");
    for (int64_t i = 0; i < source.count; i++) {
        if (!tw__numpy_axis(a, source.items[i], "moveaxis", &from) || !tw__numpy_axis(a, destination.items[i], "moveaxis", &to))
            return NULL;
        if (taken[from] || placed[to])
            return TW_NUMPY_VALUE_ERROR("moveaxis: an axis is named twice");
        taken[from] = placed[to] = true;
        order[to] = from;
    }
    for (int i = 0, next = 0; i < rank; i++) {
        if (placed[i])
            continue;
        while (taken[next])
            next++;
        order[i] = next++;
    }
    return reordered(t, a, order);
}

tw_tensor *tw__numpy_move(tw__temps *t, tw_tensor *x, int64_t from, int64_t to)
{
    return x ? moved(t, x, TW_INTS(from), TW_INTS(to)) : NULL;
}

TW_API(numpy_moveaxis, "experimental.numpy.moveaxis(a: tensor<array>, source: ints, destination: ints) -> tensor",
       "Some axes at other places, the others in their order.\n"
       "source: the dimensions to move\n"
       "destination: where they stand in the result")
{
    TW_TEMPS(t);
    return tw__numpy_rank_known(args->a, "moveaxis") ? tw__keep(t, moved(t, args->a, args->source, args->destination)) : NULL;
}

static tw_tensor *swapped(tw__temps *t, tw_tensor *a, int64_t axis1, int64_t axis2)
{
    int first, second;
    int64_t order[TW_MAX_RANK];
    if (!a || !tw__numpy_axis(a, axis1, "swapaxes", &first) || !tw__numpy_axis(a, axis2, "swapaxes", &second))
        return NULL;
    for (int i = 0; i < a->shape.rank; i++)
        order[i] = i == first ? second : i == second ? first : i;
    return reordered(t, a, order);
}

TW_API(numpy_swapaxes, "experimental.numpy.swapaxes(a: tensor<array>, axis1: int, axis2: int) -> tensor",
       "Two axes in each other's place.\n"
       "axis1: the one dimension\n"
       "axis2: the other dimension")
{
    TW_TEMPS(t);
    return tw__keep(t, swapped(t, args->a, args->axis1, args->axis2));
}

/* ---- turned round ---- */

static tw_tensor *flipped(tw__temps *t, tw_tensor *m, tw_ints axis)
{
    if (!m)
        return NULL;
    tw_tensor *axes = axis.given ? tw__temp_ints(t, axis.items, axis.count, TW_INT32) : tw__temp(t, tw__all_axes(m));
    return TW_TEMP(ReverseV2, m, axes);
}

TW_API(numpy_flip, "experimental.numpy.flip(m: tensor<array>, axis: ints = None) -> tensor",
       "The elements in reverse order along axes.")
{
    TW_TEMPS(t);
    return tw__keep(t, flipped(t, args->m, args->axis));
}
TW_API(numpy_flipud, "experimental.numpy.flipud(m: tensor<array>) -> tensor", "The rows in reverse order.")
{
    TW_TEMPS(t);
    return tw__keep(t, flipped(t, args->m, TW_INTS(0)));
}
TW_API(numpy_fliplr, "experimental.numpy.fliplr(m: tensor<array>) -> tensor", "The columns in reverse order.")
{
    TW_TEMPS(t);
    return tw__keep(t, flipped(t, args->m, TW_INTS(1)));
}
TW_API(numpy_roll, "experimental.numpy.roll(a: tensor<array>, shift: tensor<int32>, axis: tensor<int32> = None) -> tensor",
       "The elements moved along axes, round and round.\n"
       "shift: by how many places elements move; negative ones move to the front")
{
    TW_TEMPS(t);
    if (args->axis)
        return tw_roll(args->a, args->shift, args->axis);
    tw_tensor *flat = tw__numpy_flat(t, args->a),
              *moved = flat ? tw__temp(t, tw_roll(flat, args->shift, tw__temp_int(t, 0, TW_INT32))) : NULL;
    return TW_CALL(Reshape, moved, tw__temp_shape(t, args->a, TW_INT32));
}
TW_API(numpy_rot90, "experimental.numpy.rot90(m: tensor<array>, k: int = 1, axes: ints = (0, 1)) -> tensor",
       "Turned by 90 degrees, k times.\n"
       "k: how often\n"
       "axes: the two dimensions of the plane")
{
    TW_TEMPS(t);
    tw_tensor *m = args->m;
    int first, second, turns = (int)(args->k % 4 + 4) % 4;
    if (args->axes.count != 2)
        return TW_NUMPY_VALUE_ERROR("len(axes) must be 2.");
    if (!tw__numpy_axis(m, args->axes.items[0], "rot90", &first) || !tw__numpy_axis(m, args->axes.items[1], "rot90", &second))
        return NULL;
    if (turns == 1 || turns == 2)
        m = flipped(t, m, TW_INTS(second));
    if (turns == 2)
        m = flipped(t, m, TW_INTS(first));
    if (turns == 1 || turns == 3)
        m = swapped(t, m, first, second);
    if (turns == 3)
        m = flipped(t, m, TW_INTS(second));
    return m ? tw_retain(m) : NULL;
}
TW_API(
    numpy_pad,
    "experimental.numpy.pad(array: tensor<array>, pad_width: tensor<int32>, mode: str, *, constant_values: tensor<array> = None) -> tensor",
    "With margins: of a value (constant), or of the elements in reverse (reflect, symmetric).\n"
    "array: an array, or what can become one\n"
    "pad_width: for each dimension how many elements are added before and behind\n"
    "mode: `constant`, `reflect` (the border is not repeated) or `symmetric` (it is)\n"
    "constant_values: what the margins are made of where the mode is `constant`; None: 0")
{
    TW_TEMPS(t);
    if (strcmp(args->mode, "constant") != 0 && strcmp(args->mode, "reflect") != 0 && strcmp(args->mode, "symmetric") != 0)
        return TW_NUMPY_VALUE_ERROR("Unsupported padding mode: %s", args->mode);
    tw_tensor *value = args->constant_values ? tw__temp_cast(t, args->constant_values, args->array->dtype)
                                             : tw__temp(t, tw_tensor_new(args->array->dtype, TW_SCALAR, NULL));
    return value ? tw_pad(args->array, args->pad_width, args->mode, value) : NULL;
}

/* ---- repeated ---- */

TW_API(numpy_repeat, "experimental.numpy.repeat(a: tensor<array>, repeats: tensor<int32>, axis: int = None) -> tensor",
       "Each element several times.\n"
       "repeats: how often each is repeated: one number, or one for each")
{
    return tw_repeat(args->a, args->repeats, .axis = args->axis);
}
TW_API(numpy_tile, "experimental.numpy.tile(a: tensor<array>, reps: tensor<int32>) -> tensor",
       "The whole several times.\n"
       "reps: how often each dimension is repeated")
{
    TW_TEMPS(t);
    tw_tensor *a = args->a, *reps = tw__numpy_flat(t, tw__temp_cast(t, args->reps, TW_INT32));
    if (!reps || !tw__numpy_rank_known(a, "tile"))
        return NULL;
    int64_t count = reps->shape.dims[0], rank = a->shape.rank;
    if (count < 0 || count > TW_MAX_RANK)
        return TW_NUMPY_VALUE_ERROR("tile: reps must be a list of known length, at most %d numbers", TW_MAX_RANK);
    if (count < rank)
        reps = tw__temp_concat(t, TW_IN(tw__numpy_ints(t, 1, rank - count), reps), 2, 0);
    return TW_CALL(Tile, tw__numpy_wider(t, a, (int)(count - rank), 0), reps);
}
