/* tf.experimental.numpy: joining tensors, cutting them, and choosing elements. */
#include "api/numpy/numpy.h"

#include "rows.h"

/* ---- joining ---- */

/* At least so many dimensions: of a vector among three, it is the middle one. */
static tw_tensor *widened(tw__temps *t, tw_tensor *a, int count)
{
    int rank = a->shape.rank;
    if (!tw__numpy_rank_known(a, "atleast") || rank >= count)
        return rank < 0 ? NULL : a;
    return count < 3 ? tw__numpy_wider(t, a, count - rank, 0) : tw__numpy_wider(t, a, rank < 2, rank == 0 ? 2 : 1);
}

static tw_tensor *joined(tw__temps *t, tw_tensor **parts, int64_t count, int64_t axis)
{
    return parts && count == (int)count ? tw__temp(t, tw_concat(((tw_tensors){ parts, count }), axis)) : NULL;
}

/* Of at least `rank` dimensions each, along an axis; of vectors along the first. */
static tw_tensor *stacked(tw_tensors given, int rank, int64_t axis)
{
    TW_TEMPS(t);
    tw_tensor **parts = tw__numpy_promoted(t, given);
    if (!given.count)
        return TW_NUMPY_VALUE_ERROR("need at least one array to concatenate");
    for (int64_t i = 0; parts && i < given.count; i++) {
        if (!(parts[i] = widened(t, parts[i], rank)))
            return NULL;
    }
    return parts ? tw__keep(t, joined(t, parts, given.count, axis == 1 && parts[0]->shape.rank == 1 ? 0 : axis)) : NULL;
}

TW_API(numpy_concatenate, "experimental.numpy.concatenate(arys: tensors<common>, axis: int? = 0) -> tensor",
       "The tensors one behind the other; without an axis all their elements.")
{
    TW_TEMPS(t);
    int64_t count = args->arys.count;
    if (!count)
        return TW_NUMPY_VALUE_ERROR("Need at least one array to concatenate. Received empty input.");
    tw_tensor **parts = tw__numpy_promoted(t, args->arys);
    for (int64_t i = 0; parts && args->axis == TW_NO_INT && i < count; i++) {
        if (!(parts[i] = tw__numpy_flat(t, parts[i])))
            return NULL;
    }
    return tw__keep(t, joined(t, parts, count, args->axis == TW_NO_INT ? 0 : args->axis));
}
TW_API(numpy_append, "experimental.numpy.append(arr: tensor<common>, values: tensor<common>, axis: int = None) -> tensor",
       "Two tensors one behind the other.\n"
       "values: what is put behind")
{
    return tw_numpy_concatenate(TW_TENSORS(args->arr, args->values), args->axis);
}
TW_API(numpy_stack, "experimental.numpy.stack(arrays: tensors<common>, axis: int = 0) -> tensor",
       "The tensors along a new axis.\n"
       "arrays: arrays of one shape\n"
       "axis: where the new dimension stands in the result")
{
    TW_TEMPS(t);
    tw_tensor **parts = tw__numpy_promoted(t, args->arrays);
    return parts ? tw_stack(((tw_tensors){ parts, args->arrays.count }), args->axis) : NULL;
}
TW_API(numpy_hstack, "experimental.numpy.hstack(tup: tensors<common>) -> tensor",
       "Side by side.\n"
       "tup: arrays")
{
    return stacked(args->tup, 1, 1);
}
TW_API(numpy_vstack, "experimental.numpy.vstack(tup: tensors<common>) -> tensor",
       "One below the other.\n"
       "tup: arrays")
{
    return stacked(args->tup, 2, 0);
}
TW_API(numpy_dstack, "experimental.numpy.dstack(tup: tensors<common>) -> tensor",
       "One behind the other, along the third axis.\n"
       "tup: arrays")
{
    return stacked(args->tup, 3, 2);
}

/* Takes the tensors' references: a list, or the one tensor itself. NULL among them: None, and the error. */
static tw_value listed(tw_tensor *const *made, int64_t count, bool one_alone)
{
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items), none = { .kind = TW_VALUE_NONE };
    bool good = items != NULL;
    for (int64_t i = 0; i < count; i++)
        good = good && made[i];
    for (int64_t i = 0; i < count; i++) {
        if (good)
            items[i] = TW_LEAF(made[i]);
        else
            tw_release(made[i]);
    }
    tw_value one = good && count ? items[0] : none;
    if (!good || (one_alone && count == 1)) {
        tw__free(items);
        return one;
    }
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count, NULL } };
}

static tw_value at_least(tw_tensors given, int rank)
{
    TW_TEMPS(t);
    tw_tensor **made = tw__temp_memory(t, tw__alloc_array((size_t)given.count + 1, sizeof *made));
    for (int64_t i = 0; made && i < given.count; i++) {
        tw_tensor *wide = widened(t, given.items[i], rank);
        made[i] = wide ? tw_retain(wide) : NULL;
    }
    return made ? listed(made, given.count, true) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(numpy_atleast_1d, "experimental.numpy.atleast_1d(*arys: tensors<array>) -> value", "Numbers as vectors.")
{
    return at_least(args->arys, 1);
}
TW_API(numpy_atleast_2d, "experimental.numpy.atleast_2d(*arys: tensors<array>) -> value", "Vectors as matrices of one row.")
{
    return at_least(args->arys, 2);
}
TW_API(numpy_atleast_3d, "experimental.numpy.atleast_3d(*arys: tensors<array>) -> value", "Tensors of three dimensions at least.")
{
    return at_least(args->arys, 3);
}

/* ---- grids ---- */

TW_API(numpy_ix_, "experimental.numpy.ix_(*args: tensors<array>) -> tensors",
       "Vectors along axes of their own, so that they index a grid.\n"
       "args: vectors of integers or booleans")
{
    TW_TEMPS(t);
    tw_tensors given = args->args, none = { 0 },
               out = { tw__alloc_array((size_t)given.count + 1, sizeof(tw_tensor *)), given.count };
    for (int64_t i = 0; out.items && i < given.count; i++) {
        tw_tensor *a = given.items[i];
        if (a->shape.rank != 1 || given.count > TW_MAX_RANK) {
            tw__fail(TW_VALUE_ERROR, "Arguments must be 1-d, got arg %lld of rank %d", (long long)i, a->shape.rank);
            a = NULL;
        } else if (a->dtype == TW_BOOL) {
            a = tw__numpy_flat(t, TW_TEMP(Where, a));
        } else if (!tw__dtype_is_integer(a->dtype)) {
            a = tw__temp_cast(t, a, TW_INT64);
        }
        a = tw__numpy_wider(t, a, (int)i, (int)(given.count - i - 1));
        if (!(out.items[i] = a ? tw_retain(a) : NULL)) {
            tw_tensors_free(&out);
            return none;
        }
    }
    return out.items ? out : none;
}
TW_API(
    numpy_meshgrid,
    "experimental.numpy.meshgrid(*xi: tensors<array>, *, copy: bool = True, sparse: bool = False, indexing: str {xy, ij} = xy) -> tensors",
    "Vectors repeated along each other.\n"
    "xi: vectors\n"
    "copy: must be True\n"
    "sparse: must be False\n"
    "indexing: `xy`: the first vector runs along the columns; `ij`: along the rows")
{
    if (args->sparse || !args->copy) {
        tw__fail(TW_VALUE_ERROR, args->sparse
                                     ? "Function `meshgrid` does not support returning sparse arrays yet. Received: sparse=True"
                                     : "Function `meshgrid` only supports copy=True. Received: copy=False");
        return (tw_tensors){ 0 };
    }
    return tw_meshgrid(args->xi, .indexing = args->indexing);
}
TW_API(numpy_broadcast_arrays, "experimental.numpy.broadcast_arrays(*args: tensors<array>, *, subok: bool = False) -> tensors",
       "The tensors in one shape.\n"
       "args: arrays\n"
       "subok: must be False")
{
    TW_TEMPS(t);
    tw_tensors given = args->args, none = { 0 };
    if (args->subok) {
        tw__fail(TW_VALUE_ERROR, "subok=True is not supported.");
        return none;
    }
    tw_tensor *whole = tw__numpy_ints(t, 0, 0);
    for (int64_t i = 0; i < given.count; i++)
        whole = TW_TEMP(BroadcastArgs, whole, tw__temp_shape(t, given.items[i], TW_INT32));
    tw_tensors out = { whole ? tw__alloc_array((size_t)given.count + 1, sizeof(tw_tensor *)) : NULL, given.count };
    for (int64_t i = 0; out.items && i < given.count; i++) {
        if (!(out.items[i] = TW_CALL(BroadcastTo, given.items[i], whole))) {
            tw_tensors_free(&out);
            return none;
        }
    }
    return out.items ? out : none;
}

/* ---- cutting ---- */

/* Into so many equal parts, or before the indices. */
static tw_tensors cut(tw_tensor *a, tw_ints where, int64_t axis)
{
    TW_TEMPS(t);
    tw_tensors none = { 0 };
    int place;
    if (!tw__numpy_axis(a, axis, "split", &place))
        return none;
    int64_t size = a->shape.dims[place];
    tw_tensor *along = tw__temp_int(t, place, TW_INT32);
    if (where.single) {
        int64_t parts = where.items[0];
        if (parts < 1 || (size >= 0 && size % parts)) {
            tw__fail(TW_VALUE_ERROR, "array split does not result in an equal division");
            return none;
        }
        return along ? tw__call_many(&tw__op_Split, TW_IN(along, a), 2, TW_WITH(TW_A_INT("num_split", parts)), 1, parts) : none;
    }
    if (size < 0) {
        tw__fail(TW_VALUE_ERROR, "split: the size of axis %d must be known for indices", place);
        return none;
    }
    int64_t *sizes = tw__temp_memory(t, tw__alloc_array((size_t)where.count + 1, sizeof *sizes)), begin = 0;
    for (int64_t i = 0; sizes && i <= where.count; i++) {
        int64_t end = i == where.count ? size : where.items[i];
        end = end < 0 ? end + size : end;
        end = end < 0 ? 0 : end > size ? size : end;
        sizes[i] = end > begin ? end - begin : 0;
        begin = end;
    }
    tw_tensor *lengths = sizes ? tw__temp_ints(t, sizes, where.count + 1, TW_INT64) : NULL;
    if (!lengths || !along)
        return none;
    return tw__call_many(&tw__op_SplitV, TW_IN(a, lengths, along), 3, TW_WITH(TW_A_INT("num_split", where.count + 1)), 1,
                         where.count + 1);
}

TW_API(numpy_split, "experimental.numpy.split(ary: tensor<array>, indices_or_sections: ints, axis: int = 0) -> tensors",
       "Parts of a tensor along an axis: so many, or before the indices.\n"
       "indices_or_sections: how many equal parts there are, or where each part but the first begins")
{
    return cut(args->ary, args->indices_or_sections, args->axis);
}
TW_API(numpy_vsplit, "experimental.numpy.vsplit(ary: tensor<array>, indices_or_sections: ints) -> tensors",
       "The same along the first axis.\n"
       "indices_or_sections: how many equal parts there are, or where each part but the first begins")
{
    return cut(args->ary, args->indices_or_sections, 0);
}
TW_API(numpy_hsplit, "experimental.numpy.hsplit(ary: tensor<array>, indices_or_sections: ints) -> tensors",
       "The same along the second axis, of vectors along the first.\n"
       "indices_or_sections: how many equal parts there are, or where each part but the first begins")
{
    return cut(args->ary, args->indices_or_sections, args->ary->shape.rank == 1 ? 0 : 1);
}
TW_API(numpy_dsplit, "experimental.numpy.dsplit(ary: tensor<array>, indices_or_sections: ints) -> tensors",
       "The same along the third axis.\n"
       "indices_or_sections: how many equal parts there are, or where each part but the first begins")
{
    return cut(args->ary, args->indices_or_sections, 2);
}

/* ---- choosing ---- */

static tw_tensors nonzero(tw_tensor *given)
{
    TW_TEMPS(t);
    tw_tensor *a = tw__numpy_rank_known(given, "nonzero") ? widened(t, given, 1) : NULL;
    tw_tensor *places = a ? TW_TEMP(Where, tw__temp_cast(t, a, TW_BOOL)) : NULL;
    return places ? tw_unstack(places, .num = a->shape.rank, .axis = 1) : (tw_tensors){ 0 };
}

TW_API(numpy_nonzero, "experimental.numpy.nonzero(a: tensor<array>) -> tensors",
       "The indices of what is not zero, a vector for each axis.")
{
    return nonzero(args->a);
}
TW_API(numpy_where,
       "experimental.numpy.where(condition: tensor<array>, x: tensor<common> = None, y: tensor<common> = None) -> value",
       "x where the condition is true, else y; without these, the indices where it is.\n"
       "condition: booleans\n"
       "example: tf.experimental.numpy.where([True, False], 1, 0).numpy().tolist()  # [1, 0]")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_tensor *x[] = { args->x, args->y };
    if (!x[0] && !x[1]) {
        tw_tensors places = nonzero(args->condition);
        tw_value list = places.items ? listed(places.items, places.count, false) : none;
        tw__free(places.items);
        return list;
    }
    if (!x[0] || !x[1]) {
        tw__fail(TW_VALUE_ERROR, "Both x and y must be ndarrays, or both must be None.");
        return none;
    }
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return none;
    tw_tensor *made = TW_CALL(SelectV2, tw__temp_cast(t, args->condition, TW_BOOL), x[0], x[1]);
    return made ? TW_LEAF(made) : none;
}
TW_API(
    numpy_select,
    "experimental.numpy.select(condlist: tensors<array>, choicelist: tensors<common>, default: tensor<common> = None shown 0) -> tensor",
    "Of the first choice whose condition is true, else the default (0).\n"
    "condlist: arrays of booleans\n"
    "choicelist: an array for each condition\n"
    "default: what stands where no condition is true; None: 0")
{
    TW_TEMPS(t);
    int64_t count = args->condlist.count;
    if (count != args->choicelist.count)
        return TW_NUMPY_VALUE_ERROR("condlist must have length equal to choicelist (%lld vs %lld)", (long long)count,
                                    (long long)args->choicelist.count);
    if (!count)
        return TW_NUMPY_VALUE_ERROR("condlist must be non-empty");
    tw_tensor **x = tw__temp_memory(t, tw__alloc_array((size_t)count + 1, sizeof *x));
    if (!x)
        return NULL;
    memcpy(x, args->choicelist.items, (size_t)count * sizeof *x);
    x[count] = args->default_;
    if (tw__numpy_promote(t, x, count + 1) != TW_OK)
        return NULL;
    tw_tensor *made = x[count];
    if (!made) { /* zero, which is a whole number beside truths */
        made = tw__temp(t, tw_tensor_new(x[0]->dtype == TW_BOOL ? TW_INT64 : x[0]->dtype, TW_SCALAR, NULL));
        x[count] = made;
        if (!made || tw__numpy_promote(t, x, count + 1) != TW_OK)
            return NULL;
    }
    for (int64_t i = count; i-- > 0;)
        made = TW_TEMP(SelectV2, tw__temp_cast(t, args->condlist.items[i], TW_BOOL), x[i], made);
    return made ? tw_retain(made) : NULL;
}
TW_API(numpy_compress, "experimental.numpy.compress(condition: tensor<array>, a: tensor<array>, axis: int = None) -> tensor",
       "The slices whose condition is true.\n"
       "condition: a vector of booleans")
{
    TW_TEMPS(t);
    if (args->condition->shape.rank != 1)
        return TW_NUMPY_VALUE_ERROR("condition must be a 1-d array.");
    bool flat = args->axis == TW_NO_INT;
    tw_tensor *places = tw__numpy_flat(t, TW_TEMP(Where, tw__temp_cast(t, args->condition, TW_BOOL)));
    return tw__keep(t, tw__temp_gather(t, flat ? tw__numpy_flat(t, args->a) : args->a, places, flat ? 0 : args->axis));
}
TW_API(
    numpy_take,
    "experimental.numpy.take(a: tensor<array>, indices: tensor<array>, axis: int = None, out: value = None, mode: str = clip) -> tensor",
    "The elements at indices; beyond the ends the last ones (clip) or round and round (wrap).\n"
    "mode: what indices beyond the ends mean: `clip` or `wrap`")
{
    TW_TEMPS(t);
    bool clip = strcmp(args->mode, "clip") == 0, flat = args->axis == TW_NO_INT;
    if (args->out.kind != TW_VALUE_NONE)
        return TW_NUMPY_VALUE_ERROR("out argument is not supported in take.");
    if (strcmp(args->mode, "raise") == 0)
        return TW_NUMPY_VALUE_ERROR("The 'raise' mode to take is not supported.");
    if (!clip && strcmp(args->mode, "wrap") != 0)
        return TW_NUMPY_VALUE_ERROR("Invalid mode '%s' for take", args->mode);
    int axis = 0;
    tw_tensor *a = flat ? tw__numpy_flat(t, args->a) : args->a, *indices = args->indices;
    if (!a || (!flat && !tw__numpy_axis(a, args->axis, "take", &axis)))
        return NULL;
    tw_tensor *size = tw__temp_cast(t, tw__temp_at(t, tw__temp_shape(t, a, TW_INT32), axis), indices->dtype);
    if (clip)
        indices = TW_TEMP(Maximum, TW_TEMP(Minimum, indices, TW_TEMP(Sub, size, 1.0)), 0.0);
    else
        indices = TW_TEMP(FloorMod, indices, size);
    return tw__keep(t, tw__temp_gather(t, a, indices, axis));
}
TW_API(numpy_take_along_axis,
       "experimental.numpy.take_along_axis(arr: tensor<array>, indices: tensor<array>, axis: int?) -> tensor",
       "For each place the element at an index of its own along the axis.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->axis == TW_NO_INT ? tw__numpy_flat(t, args->arr) : args->arr, args->indices }, *sizes[2], *line[2];
    int axis = 0;
    if (!x[0] || (args->axis != TW_NO_INT && !tw__numpy_axis(x[0], args->axis, "take_along_axis", &axis)))
        return NULL;
    int rank = x[0]->shape.rank;
    if (x[1]->shape.rank != rank)
        return TW_NUMPY_VALUE_ERROR("take_along_axis: `arr` and `indices` must have the same rank, got %d and %d", rank,
                                    x[1]->shape.rank);
    for (int i = 0; i < 2; i++) { /* all other axes are broadcast */
        sizes[i] = tw__temp_shape(t, x[i], TW_INT32);
        line[i] = tw__temp_concat(t,
                                  TW_IN(tw__temp_slice(t, sizes[i], 0, axis), tw__numpy_ints(t, 1, 1),
                                        tw__temp_slice(t, sizes[i], axis + 1, TW_NO_INT)),
                                  3, 0);
    }
    tw_tensor *common = TW_TEMP(BroadcastArgs, line[0], line[1]);
    for (int i = 0; i < 2; i++) {
        tw_tensor *whole = tw__temp_concat(t,
                                           TW_IN(tw__temp_slice(t, common, 0, axis), tw__temp_slice(t, sizes[i], axis, axis + 1),
                                                 tw__temp_slice(t, common, axis + 1, TW_NO_INT)),
                                           3, 0);
        x[i] = tw__numpy_move(t, TW_TEMP(BroadcastTo, x[i], whole), axis, -1);
    }
    if (!x[0] || !x[1])
        return NULL;
    tw_tensor *size = tw__temp_cast(t, tw__temp_at(t, tw__temp_shape(t, x[0], TW_INT32), rank - 1), x[1]->dtype);
    tw_tensor *indices = TW_TEMP(SelectV2, TW_TEMP(Less, x[1], 0.0), TW_TEMP(AddV2, x[1], size), x[1]);
    tw_tensor *made = indices ? tw__temp(t, tw_gather(x[0], indices, .axis = rank - 1, .batch_dims = rank - 1)) : NULL;
    return tw__keep(t, tw__numpy_move(t, made, -1, axis));
}
