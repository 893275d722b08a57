/* Functions that choose elements, called with ragged tensors. */
#include "api/ragged/ragged_forms.h"
#include "op/calls.h"
#include "rows.h"

/* Indices into rows of the same place: rows of params and of indices go together. */
static void *gather_in_rows(const tw__composite_call *c, void *params, void *indices)
{
    tw__temps *t = c->t;
    tw_dtype dtype = TW_INT64;
    if (!tw__is_ragged(params))
        params = tw__ragged_of_tensor(t, params, 1, dtype);
    if (params && !tw__is_ragged(indices))
        indices = tw__ragged_of_tensor(t, indices, 1, dtype);
    if (!params || !indices)
        return NULL;
    tw_ragged_tensor *rows = params, *picks = indices;
    if (tw__is_ragged(picks->values)) {
        tw__fail(TW_UNIMPLEMENTED, "gather: batch_dims with indices of ragged rank 2 or more are not supported");
        return NULL;
    }
    tw_tensor *begins = tw__temp_slice(t, rows->splits, TW_NO_INT, -1),
              *ids = tw__temp_cast(t, tw__splits_rowids(t, picks->splits), rows->splits->dtype);
    tw_tensor *offsets = tw__temp_cast(t, tw__temp_gather(t, begins, ids, 0), tw__value_dtype(picks));
    tw_tensor *flat = TW_TEMP(AddV2, picks->values, offsets);
    return flat ? tw__temp_with_values(t, picks, tw__value_gather(t, rows->values, flat)) : NULL;
}

static void *gather_along(const tw__composite_call *c, void *params, void *indices, int64_t axis)
{
    if (axis == 0 || !params)
        return tw__value_gather(c->t, params, indices);
    if (!tw__is_ragged(params)) {
        tw__fail(TW_UNIMPLEMENTED, "gather: ragged indices along an inner axis are not supported");
        return NULL;
    }
    tw_ragged_tensor *ragged = params;
    if (axis > 1)
        return tw__temp_with_values(c->t, ragged, gather_along(c, ragged->values, indices, axis - 1));
    if (tw__is_ragged(indices) || ((tw_tensor *)indices)->shape.rank != 1) {
        tw__fail(TW_UNIMPLEMENTED, "gather: along a ragged dimension only indices that are a vector are supported");
        return NULL;
    }
    /* The same columns of every row. */
    tw__temps *t = c->t;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *columns = tw__temp_cast(t, indices, dtype), *begins = tw__temp_slice(t, ragged->splits, TW_NO_INT, -1);
    tw_tensor *places = TW_TEMP(AddV2, TW_TEMP(ExpandDims, begins, tw__temp_int(t, 1, TW_INT32)), columns);
    return tw__value_gather(t, ragged->values, places);
}

void *tw__ragged_gather_form(const tw__composite_call *c)
{
    const tw_gather_args *args = (const void *)c->args;
    void *params = tw__call_argument(c, 0), *indices = tw__call_argument(c, 1);
    int rank = tw__value_shape(params).rank;
    int64_t axis = args->axis == TW_NO_INT ? args->batch_dims : args->axis;
    axis = rank > 0 ? tw__normal_axis(axis, rank) : axis;
    if (axis < 0)
        return NULL;
    if (args->batch_dims == 0)
        return gather_along(c, params, indices, axis);
    if (args->batch_dims == 1 && axis == 1)
        return gather_in_rows(c, params, indices);
    tw__fail(TW_UNIMPLEMENTED, "gather: of ragged tensors with batch_dims=%lld and axis=%lld", (long long)args->batch_dims,
             (long long)axis);
    return NULL;
}

void *tw__ragged_gather_nd_form(const tw__composite_call *c)
{
    const tw_gather_nd_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    void *params = tw__call_argument(c, 0), *indices = tw__call_argument(c, 1);
    if (args->batch_dims || tw__is_ragged(indices) || ((tw_tensor *)indices)->shape.rank != 2 ||
        ((tw_tensor *)indices)->shape.dims[1] < 1) {
        tw__fail(TW_UNIMPLEMENTED, "gather_nd: of ragged tensors only with indices that are a matrix, without batch_dims");
        return NULL;
    }
    tw_tensor *picks = indices;
    int64_t width = picks->shape.dims[1];
    void *value = params;
    tw_tensor *place = tw__temp_column(t, picks, 0);
    for (int64_t k = 1; place && k < width && tw__is_ragged(value); k++) { /* from rows to the places of their members */
        tw_ragged_tensor *ragged = value;
        tw_tensor *begin = tw__temp_gather(t, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), place, 0);
        place = TW_TEMP(AddV2, begin, tw__temp_cast(t, tw__temp_column(t, picks, k), ragged->splits->dtype));
        value = ragged->values;
        width = tw__is_ragged(value) ? width : k + 1 < width ? -1 : width;
    }
    if (width < 0) {
        tw__fail(TW_UNIMPLEMENTED, "gather_nd: indices into uniform inner dimensions of ragged tensors are not supported");
        return NULL;
    }
    return tw__value_gather(t, value, place);
}

void *tw__ragged_where_form(const tw__composite_call *c)
{
    void *condition = tw__call_argument(c, 0), *x = tw__call_argument(c, 1), *y = tw__call_argument(c, 2);
    tw__temps *t = c->t;
    if (!x && !y) {
        tw_ragged_tensor *ragged = condition;
        tw_tensor *inputs[TW_RAGGED_PARTS + 1], *made[3] = { NULL, NULL, NULL };
        int count = 0, outputs = 3;
        for (; tw__is_ragged(ragged); ragged = ragged->values)
            inputs[count++] = ragged->splits;
        inputs[count++] = tw__flat_values(condition);
        if (tw__apply(&tw__op_RaggedTensorToSparse, inputs, count, NULL, 0, made, &outputs) != TW_OK)
            return NULL;
        tw_tensor *indices = tw__temp(t, made[0]), *values = tw__temp(t, made[1]);
        tw__temp(t, made[2]);
        return tw__temp_gather(t, indices, tw__temp_reshape(t, TW_TEMP(Where, values), (const int64_t[]){ -1 }, 1), 0);
    }
    if (!x || !y) {
        tw__fail(TW_VALUE_ERROR, "Either both or neither `x` and `y` should be specified.");
        return NULL;
    }
    void *like = tw__is_ragged(condition) ? condition : tw__is_ragged(x) ? x : y;
    void *a = like, *b = like, *d = like;
    if (!tw__values_match(t, &a, &condition) || !tw__values_match(t, &b, &x) || !tw__values_match(t, &d, &y))
        return NULL;
    return tw__temp_with_flat(t, like, TW_TEMP(SelectV2, tw__flat_values(condition), tw__flat_values(x), tw__flat_values(y)));
}

void *tw__ragged_embedding_form(const tw__composite_call *c)
{
    void *params = tw__call_argument(c, 0), *ids = tw__call_argument(c, 1);
    tw_tensor *found = tw__call_with(c, TW_IN(params, tw__flat_values(ids)), 2);
    return found ? tw__temp_with_flat(c->t, ids, found) : NULL;
}
