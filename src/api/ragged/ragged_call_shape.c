/* Functions of shapes, called with ragged tensors: dimensions more and less, pieces joined, cut, repeated and turned round,
 * sizes. */
#include "api/ragged/ragged_forms.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

void *tw__value_expand(tw__temps *t, void *value, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return TW_TEMP(ExpandDims, value, tw__temp_int(t, axis, TW_INT32));
    tw_ragged_tensor *ragged = value;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *one = tw__temp_int(t, 1, dtype), *rows = tw__splits_rows(t, ragged->splits);
    if (axis == 0)
        return tw__temp_ragged(t, ragged, tw__splits_uniform(t, one, rows), rows && rows->data ? tw_tensor_int_at(rows, 0) : -1);
    if (axis == 1)
        return tw__temp_ragged(t, ragged, tw__splits_uniform(t, rows, one), 1);
    return tw__temp_with_values(t, ragged, tw__value_expand(t, ragged->values, axis - 1));
}

void *tw__ragged_expand_form(const tw__composite_call *c)
{
    const tw_expand_dims_args *args = (const void *)c->args;
    void *value = tw__call_argument(c, 0);
    int64_t axis = tw__normal_axis(args->axis, tw__value_shape(value).rank + 1);
    return axis < 0 ? NULL : tw__value_expand(c->t, value, axis);
}

static void *squeezed(tw__temps *t, void *value, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return TW_TEMP(Squeeze, value, TW_A_INTS("squeeze_dims", &axis, 1));
    tw_ragged_tensor *ragged = value;
    tw_shape shape = tw__value_shape(value);
    if (axis > 1)
        return tw__temp_with_values(t, ragged, squeezed(t, ragged->values, axis - 1));
    bool one = axis == 1 ? ragged->uniform == 1 : shape.dims[0] == 1;
    if (axis == 1 && !one && ragged->splits->data) {
        one = true;
        for (int64_t i = 0; one && i < ragged->splits->count; i++)
            one = tw_tensor_int_at(ragged->splits, i) == i;
    }
    if (!one) {
        tw__fail(TW_INVALID_ARGUMENT, "Can not squeeze dim[%lld], expected a dimension of 1", (long long)axis);
        return NULL;
    }
    return ragged->values;
}

void *tw__ragged_squeeze_form(const tw__composite_call *c)
{
    const tw_squeeze_args *args = (const void *)c->args;
    void *value = tw__call_argument(c, 0);
    int rank = tw__value_shape(value).rank;
    bool chosen[TW_MAX_RANK] = { false };
    if (!args->axis.given) {
        tw__fail(TW_VALUE_ERROR, "Ragged.squeeze must have an axis argument.");
        return NULL;
    }
    for (int64_t i = 0; i < args->axis.count; i++) {
        int64_t axis = tw__normal_axis(args->axis.items[i], rank);
        if (axis < 0)
            return NULL;
        chosen[axis] = true;
    }
    for (int i = rank - 1; value && i >= 0; i--)
        value = chosen[i] ? squeezed(c->t, value, i) : value;
    return value;
}

void *tw__ragged_concat_form(const tw__composite_call *c)
{
    const tw_concat_args *args = (const void *)c->args;
    const tw_objects *list = &c->mixed->lists[tw__call_field(c->row, TW_KIND_TENSORS, 0)];
    return tw__values_concat(c->t, list->items, list->count, args->axis);
}

void *tw__ragged_stack_form(const tw__composite_call *c)
{
    const tw_stack_args *args = (const void *)c->args;
    const tw_objects *list = &c->mixed->lists[tw__call_field(c->row, TW_KIND_TENSORS, 0)];
    return tw__values_stack(c->t, list->items, list->count, args->axis);
}

/* Rows cut into pieces of the same number, or of the numbers given: a list. */
tw_status tw__ragged_split_form(const tw__composite_call *c, tw_value *result)
{
    const tw_split_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    void *value = tw__call_argument(c, 0);
    const tw_value *given = &args->num_or_size_splits;
    tw_shape shape = tw__value_shape(value);
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    int64_t pieces = list ? given->list.count : given->kind == TW_VALUE_INT ? given->i : 0, begin = 0;
    if (tw__normal_axis(args->axis, shape.rank) != 0 || pieces < 1 || shape.dims[0] < 0)
        return tw__fail(TW_UNIMPLEMENTED,
                        "split: a ragged tensor can only be cut between its rows, into a number of pieces that is known");
    if (!list && shape.dims[0] % pieces)
        return tw__fail(TW_INVALID_ARGUMENT, "Cannot exactly split %lld rows into %lld pieces", (long long)shape.dims[0],
                        (long long)pieces);
    tw_value *items = tw__alloc_array((size_t)pieces, sizeof *items);
    tw_value whole = { .kind = TW_VALUE_LIST, .list = { items, 0 } };
    for (; items && whole.list.count < pieces; whole.list.count++) {
        const tw_value *size = list ? &given->list.items[whole.list.count] : NULL;
        int64_t end = begin + (size ? (size->kind == TW_VALUE_INT ? size->i : -1) : shape.dims[0] / pieces);
        if (end < begin || end > shape.dims[0]) {
            tw__fail(TW_INVALID_ARGUMENT, "split: the sizes of the pieces do not make %lld rows", (long long)shape.dims[0]);
            break;
        }
        void *piece = tw__value_between(t, value, tw__temp_int(t, begin, TW_INT64), tw__temp_int(t, end, TW_INT64));
        if (!piece)
            break;
        items[whole.list.count] = tw__value_of_object(tw_retain(piece));
        begin = end;
    }
    if (items && whole.list.count == pieces && begin == shape.dims[0]) {
        *result = whole;
        return TW_OK;
    }
    tw_value_free(&whole);
    return tw_error_code() != TW_OK
               ? tw_error_code()
               : tw__fail(TW_INVALID_ARGUMENT, "split: the sizes of the pieces do not make %lld rows", (long long)shape.dims[0]);
}

void *tw__ragged_tile_form(const tw__composite_call *c)
{
    void *value = tw__call_argument(c, 0);
    tw_tensor *multiples = tw__call_argument(c, 1);
    tw__temps *t = c->t;
    int ragged_rank = tw__ragged_rank(value), rank = tw__value_shape(value).rank;
    if (!multiples->data || multiples->count != rank || tw__is_ragged(multiples)) {
        tw__fail(TW_VALUE_ERROR, "tile: multiples must be known, one for each of the %d dimensions of the ragged tensor", rank);
        return NULL;
    }
    for (int axis = 0; value && axis < rank; axis++) {
        int64_t times = tw_tensor_int_at(multiples, axis);
        if (times == 1)
            continue;
        if (axis > ragged_rank) { /* uniform: of the flat values */
            int64_t all[TW_MAX_RANK];
            tw_tensor *flat = tw__flat_values(value);
            for (int i = 0; i < flat->shape.rank; i++)
                all[i] = i + ragged_rank == axis ? times : 1;
            value = tw__temp_with_flat(t, value, TW_TEMP(Tile, flat, tw__temp_ints(t, all, flat->shape.rank, TW_INT32)));
            continue;
        }
        if (times < 1 || times > 100000) {
            tw__fail(TW_UNIMPLEMENTED, "tile: a ragged dimension can't be repeated %lld times", (long long)times);
            return NULL;
        }
        void **copies = tw__alloc_array((size_t)times, sizeof *copies);
        for (int64_t i = 0; copies && i < times; i++)
            copies[i] = value;
        value = copies ? tw__values_concat(t, copies, times, axis) : NULL;
        tw__free(copies);
    }
    return value;
}

static void *reversed(tw__temps *t, void *value, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return TW_TEMP(ReverseV2, value, tw__temp_ints(t, &axis, 1, TW_INT32));
    tw_ragged_tensor *ragged = value;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *one = tw__temp_int(t, 1, dtype), *less = tw__temp_int(t, -1, dtype);
    if (axis == 0) {
        tw_tensor *rows = tw__splits_rows(t, ragged->splits);
        return tw__value_gather(t, ragged, TW_TEMP(Range, TW_TEMP(Sub, rows, one), less, less));
    }
    if (axis > 1)
        return tw__temp_with_values(t, ragged, reversed(t, ragged->values, axis - 1));
    tw_tensor *begins = TW_TEMP(Sub, tw__temp_slice(t, ragged->splits, 1, TW_NO_INT), one),
              *ends = TW_TEMP(Sub, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), one);
    tw_ragged_tensor *turned = tw__ragged_of_ranges(t, ragged->values, begins, ends, less);
    return turned ? tw__temp_with_values(t, ragged, turned->values) : NULL;
}

void *tw__ragged_reverse_form(const tw__composite_call *c)
{
    const tw_reverse_args *args = (const void *)c->args;
    void *value = tw__call_argument(c, 0);
    int rank = tw__value_shape(value).rank;
    for (int64_t i = 0; value && i < args->axis.count; i++) {
        int64_t axis = tw__normal_axis(args->axis.items[i], rank);
        value = axis < 0 ? NULL : reversed(c->t, value, axis);
    }
    return value;
}

void *tw__ragged_rank_form(const tw__composite_call *c)
{
    void *value = tw__call_argument(c, 0);
    int rank = tw__is_ragged(value) ? tw__value_shape(value).rank : ((tw_sparse_tensor *)value)->shape.rank;
    if (rank >= 0)
        return tw__temp_int(c->t, rank, TW_INT32);
    tw__fail(TW_UNIMPLEMENTED, "rank: of a value of unknown rank");
    return NULL;
}

void *tw__ragged_size_form(const tw__composite_call *c)
{
    const tw_size_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    void *value = tw__call_argument(c, 0);
    tw_dtype dtype = args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type;
    if (tw__is_ragged(value))
        return TW_TEMP(Size, tw__flat_values(value), TW_A_TYPE("out_type", dtype));
    return tw__temp_cast(t, TW_TEMP(Prod, ((tw_sparse_tensor *)value)->dense_shape, tw__temp_int(t, 0, TW_INT32)), dtype);
}

void *tw__ragged_shape_form(const tw__composite_call *c)
{
    const tw_shape_args *args = (const void *)c->args;
    void *value = tw__call_argument(c, 0);
    if (!tw__is_ragged(value))
        return tw__temp_cast(c->t, ((tw_sparse_tensor *)value)->dense_shape,
                             args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type);
    tw__fail(TW_UNIMPLEMENTED, "shape: a ragged tensor has no shape; bounding_shape() gives the smallest one that holds it");
    return NULL;
}

void *tw__ragged_reshape_form(const tw__composite_call *c)
{
    tw__temps *t = c->t;
    void *value = tw__call_argument(c, 0), *shape = tw__call_argument(c, 1);
    tw_tensor *sizes = shape;
    if (tw__is_ragged(shape) || sizes->shape.rank != 1 || sizes->shape.dims[0] != 1) {
        tw__fail(TW_UNIMPLEMENTED, "reshape: a ragged tensor can only be made a vector of its values");
        return NULL;
    }
    return TW_TEMP(Reshape, tw__flat_values(value), sizes);
}
