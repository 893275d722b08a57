/* rt[key]: rows by number, slices of rows and of what is inside of rows.
 *
 * A key comes as a list of items: an integer or a scalar tensor; None for a new dimension; the text "..."; or a tuple (begin,
 * end, step) of integers, tensors and None. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

static bool is_slice(const tw_value *item)
{
    return item->kind == TW_VALUE_TUPLE;
}

static bool is_whole(const tw_value *item)
{
    const tw_value *parts = item->list.items;
    return is_slice(item) && parts[0].kind == TW_VALUE_NONE && parts[1].kind == TW_VALUE_NONE && parts[2].kind == TW_VALUE_NONE;
}

static bool is_ellipsis(const tw_value *item)
{
    return item->kind == TW_VALUE_STR;
}

static tw_tensor *number(tw__temps *t, const tw_value *given, tw_dtype dtype)
{
    tw_tensor *made = tw__temp(t, tw__value_tensor(given, dtype, "RaggedTensor: an index"));
    if (made && (made->shape.rank > 0 || !tw__dtype_is_integer(made->dtype))) {
        tw__fail(TW_TYPE_ERROR, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                                "tensors are valid indices");
        return NULL;
    }
    return tw__temp_cast(t, made, dtype);
}

/* tensor[keys], by StridedSlice. */
static tw_tensor *slice_tensor(tw__temps *t, tw_tensor *tensor, const tw_value *keys, int64_t count)
{
    if (!tensor || count == 0)
        return tensor;
    if (count > 2 * TW_MAX_RANK) {
        tw__fail(TW_INVALID_ARGUMENT, "RaggedTensor: too many indices");
        return NULL;
    }
    tw_tensor *begins[2 * TW_MAX_RANK], *ends[2 * TW_MAX_RANK], *steps[2 * TW_MAX_RANK], *zero = tw__temp_int(t, 0, TW_INT64),
                                                                                         *one = tw__temp_int(t, 1, TW_INT64);
    int64_t begin_mask = 0, end_mask = 0, ellipsis = 0, new_axis = 0, shrink = 0;
    for (int64_t i = 0; i < count; i++) {
        const tw_value *key = &keys[i];
        int64_t bit = (int64_t)1 << i;
        begins[i] = ends[i] = zero;
        steps[i] = one;
        if (is_ellipsis(key)) {
            ellipsis |= bit;
        } else if (key->kind == TW_VALUE_NONE) {
            new_axis |= bit;
        } else if (is_slice(key)) {
            const tw_value *parts = key->list.items;
            begin_mask |= parts[0].kind == TW_VALUE_NONE ? bit : 0;
            end_mask |= parts[1].kind == TW_VALUE_NONE ? bit : 0;
            begins[i] = parts[0].kind == TW_VALUE_NONE ? zero : number(t, &parts[0], TW_INT64);
            ends[i] = parts[1].kind == TW_VALUE_NONE ? zero : number(t, &parts[1], TW_INT64);
            steps[i] = parts[2].kind == TW_VALUE_NONE ? one : number(t, &parts[2], TW_INT64);
        } else {
            begins[i] = number(t, key, TW_INT64);
            ends[i] = TW_TEMP(AddV2, begins[i], one);
            shrink |= bit;
        }
    }
    tw_attr axis = TW_A_INT("axis", 0);
    tw_tensor *begin = tw__temp(t, tw__call(&tw__op_Pack, begins, (int)count, &axis, 1)),
              *end = tw__temp(t, tw__call(&tw__op_Pack, ends, (int)count, &axis, 1));
    tw_tensor *step = tw__temp(t, tw__call(&tw__op_Pack, steps, (int)count, &axis, 1));
    return TW_TEMP(StridedSlice, tensor, begin, end, step, TW_A_INT("begin_mask", begin_mask), TW_A_INT("end_mask", end_mask),
                   TW_A_INT("ellipsis_mask", ellipsis), TW_A_INT("new_axis_mask", new_axis),
                   TW_A_INT("shrink_axis_mask", shrink));
}

static void *get(tw__temps *t, void *value, const tw_value *keys, int64_t count);
static void *get_inner(tw__temps *t, void *value, const tw_value *keys, int64_t count);

/* An ellipsis stands for as many whole slices as are missing. */
static void *spread(tw__temps *t, void *value, const tw_value *keys, int64_t count, bool inner)
{
    int rank = tw__value_shape(value).rank;
    int64_t used = inner;
    for (int64_t i = 1; i < count; i++)
        used += keys[i].kind != TW_VALUE_NONE;
    if (rank < 0) {
        tw__fail(TW_VALUE_ERROR, "Ellipsis not supported for unknown shape RaggedTensors");
        return NULL;
    }
    int64_t missing = rank - used > 0 ? rank - used : 0;
    tw_value *items = tw__alloc_array((size_t)(missing + count), sizeof *items), none[3] = { { 0 } };
    void *found = NULL;
    if (items) {
        for (int64_t i = 0; i < missing; i++)
            items[i] = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { none, 3 } };
        memcpy(items + missing, keys + 1, (size_t)(count - 1) * sizeof *items);
        found = inner ? get_inner(t, value, items, missing + count - 1) : get(t, value, items, missing + count - 1);
    }
    tw__free(items);
    return found;
}

/* One end of a slice inside of rows: counted from where rows begin or, if it is negative, from where they end; kept inside of
 * them. */
static tw_tensor *slice_end(tw__temps *t, const tw_value *given, tw_tensor *starts, tw_tensor *limits, tw_tensor *otherwise,
                            tw_tensor *low, tw_tensor *high)
{
    if (given->kind == TW_VALUE_NONE)
        return otherwise;
    tw_tensor *offset = number(t, given, starts->dtype), *zero = tw__temp_int(t, 0, starts->dtype);
    tw_tensor *place =
        TW_TEMP(SelectV2, TW_TEMP(GreaterEqual, offset, zero), TW_TEMP(AddV2, starts, offset), TW_TEMP(AddV2, limits, offset));
    return TW_TEMP(Maximum, low, TW_TEMP(Minimum, high, place));
}

static tw_ragged_tensor *slice_columns(tw__temps *t, tw_ragged_tensor *ragged, const tw_value *key)
{
    tw_dtype dtype = ragged->splits->dtype;
    const tw_value *parts = key->list.items;
    tw_tensor *starts = tw__temp_slice(t, ragged->splits, TW_NO_INT, -1),
              *limits = tw__temp_slice(t, ragged->splits, 1, TW_NO_INT);
    tw_tensor *one = tw__temp_int(t, 1, dtype), *step = parts[2].kind == TW_VALUE_NONE ? one : number(t, &parts[2], dtype);
    if (!starts || !limits || !step)
        return NULL;
    if (!step->data) {
        tw__fail(TW_UNIMPLEMENTED, "RaggedTensor: a slice with a step that is not known while tracing is not supported");
        return NULL;
    }
    int64_t by = tw_tensor_int_at(step, 0);
    if (by == 0) {
        tw__fail(TW_VALUE_ERROR, "slice step cannot be zero");
        return NULL;
    }
    tw_tensor *low = by > 0 ? starts : TW_TEMP(Sub, starts, one), *high = by > 0 ? limits : TW_TEMP(Sub, limits, one);
    tw_tensor *begins = slice_end(t, &parts[0], starts, limits, by > 0 ? starts : high, low, high);
    tw_tensor *ends = slice_end(t, &parts[1], starts, limits, by > 0 ? limits : low, low, high);
    tw_ragged_tensor *cut = tw__ragged_of_ranges(t, ragged->values, begins, ends, step);
    if (cut && ragged->uniform >= 0 && cut->splits->data && cut->splits->count > 1)
        cut->uniform = tw_tensor_int_at(cut->splits, 1) - tw_tensor_int_at(cut->splits, 0);
    return cut;
}

/* The dimensions behind the rows. */
static void *get_inner(tw__temps *t, void *value, const tw_value *keys, int64_t count)
{
    if (!value || count == 0)
        return value;
    if (is_ellipsis(&keys[0]))
        return spread(t, value, keys, count, true);
    if (!tw__is_ragged(value)) {
        tw_value all[2 * TW_MAX_RANK + 1], none[3] = { { 0 } };
        if (count > 2 * TW_MAX_RANK) {
            tw__fail(TW_INVALID_ARGUMENT, "RaggedTensor: too many indices");
            return NULL;
        }
        all[0] = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { none, 3 } };
        memcpy(all + 1, keys, (size_t)count * sizeof *all);
        return slice_tensor(t, value, all, count + 1);
    }
    tw_ragged_tensor *ragged = value;
    if (keys[0].kind == TW_VALUE_NONE) { /* every row gets a row around it */
        void *inner = get_inner(t, ragged, keys + 1, count - 1);
        tw_dtype dtype = ragged->splits->dtype;
        tw_tensor *rows = tw__value_rows(t, inner, dtype);
        return inner ? tw__temp_ragged(t, inner, tw__splits_uniform(t, rows, tw__temp_int(t, 1, dtype)), 1) : NULL;
    }
    if (is_slice(&keys[0])) {
        tw_ragged_tensor *cut = is_whole(&keys[0]) ? ragged : slice_columns(t, ragged, &keys[0]);
        return cut ? tw__temp_with_values(t, cut, get_inner(t, cut->values, keys + 1, count - 1)) : NULL;
    }
    if (ragged->uniform < 0) {
        tw__fail(TW_VALUE_ERROR, "Cannot index into an inner ragged dimension.");
        return NULL;
    }
    /* A column of rows that all have one length. */
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *column = number(t, &keys[0], dtype), *zero = tw__temp_int(t, 0, dtype),
              *length = tw__temp_int(t, ragged->uniform, dtype);
    if (column && column->data &&
        (tw_tensor_int_at(column, 0) < -ragged->uniform || tw_tensor_int_at(column, 0) >= ragged->uniform)) {
        tw__fail(TW_VALUE_ERROR, "Column index %lld out of bounds for dimension of size %lld",
                 (long long)tw_tensor_int_at(column, 0), (long long)ragged->uniform);
        return NULL;
    }
    column = TW_TEMP(SelectV2, TW_TEMP(Less, column, zero), TW_TEMP(AddV2, column, length), column);
    tw_tensor *places = TW_TEMP(AddV2, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), column);
    return get_inner(t, tw__value_gather(t, ragged->values, places), keys + 1, count - 1);
}

static void *slice_rows(tw__temps *t, tw_ragged_tensor *ragged, const tw_value *key)
{
    if (is_whole(key))
        return ragged;
    const tw_value *step = &key->list.items[2];
    tw_tensor *starts = slice_tensor(t, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), key, 1);
    tw_tensor *limits = slice_tensor(t, tw__temp_slice(t, ragged->splits, 1, TW_NO_INT), key, 1);
    tw_ragged_tensor *cut = NULL;
    if (step->kind == TW_VALUE_NONE ||
        (step->kind == TW_VALUE_INT && step->i == 1)) { /* they lie together: no values are picked */
        tw_dtype dtype = ragged->splits->dtype;
        tw_tensor *zero = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, dtype),
                  *first = tw__temp_slice(t, tw__temp_concat(t, TW_IN(starts, zero), 2, 0), TW_NO_INT, 1);
        tw_tensor *splits = tw__temp_concat(t, TW_IN(first, limits), 2, 0), *from = tw__temp_at(t, splits, 0);
        void *values = splits ? tw__value_between(t, ragged->values, from, tw__temp_at(t, splits, -1)) : NULL;
        cut = tw__temp_ragged(t, values, TW_TEMP(Sub, splits, from), ragged->uniform);
    } else {
        cut = tw__ragged_of_ranges(t, ragged->values, starts, limits, tw__temp_int(t, 1, ragged->splits->dtype));
        if (cut)
            cut->uniform = ragged->uniform;
    }
    return cut;
}

static void *get(tw__temps *t, void *value, const tw_value *keys, int64_t count)
{
    if (!value || count == 0)
        return value;
    if (!tw__is_ragged(value))
        return slice_tensor(t, value, keys, count);
    tw_ragged_tensor *ragged = value;
    if (is_ellipsis(&keys[0]))
        return spread(t, value, keys, count, false);
    if (keys[0].kind == TW_VALUE_NONE) {
        void *inner = get(t, value, keys + 1, count - 1);
        tw_dtype dtype = ragged->splits->dtype;
        tw_tensor *rows = tw__value_rows(t, inner, dtype);
        tw_tensor *splits = rows ? tw__splits_uniform(t, tw__temp_int(t, 1, dtype), rows) : NULL;
        return tw__temp_ragged(t, inner, splits, rows && rows->data ? tw_tensor_int_at(rows, 0) : -1);
    }
    if (is_slice(&keys[0]))
        return get_inner(t, slice_rows(t, ragged, &keys[0]), keys + 1, count - 1);
    tw_tensor *row = number(t, &keys[0], ragged->splits->dtype);
    if (!row)
        return NULL;
    int64_t rows = ragged->splits->shape.rank == 1 ? ragged->splits->shape.dims[0] - 1 : -1;
    if (row->data && rows >= 0 && (tw_tensor_int_at(row, 0) >= rows || tw_tensor_int_at(row, 0) < -rows)) {
        tw__fail(TW_INDEX_ERROR, "Row key %lld out of bounds", (long long)tw_tensor_int_at(row, 0));
        return NULL;
    }
    const tw_value place = { .kind = TW_VALUE_TENSOR, .tensor = row };
    tw_tensor *begin = slice_tensor(t, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), &place, 1);
    tw_tensor *end = slice_tensor(t, tw__temp_slice(t, ragged->splits, 1, TW_NO_INT), &place, 1);
    return get(t, tw__value_between(t, ragged->values, begin, end), keys + 1, count - 1);
}

TW_METHOD(ragged_tensor_get, "RaggedTensor._get(self: ragged_tensor, key: value) -> value",
          "Rows, and parts of them: a key is a list of numbers, None, three dots and (begin, end, step).")
{
    TW_TEMPS(t);
    if (args->key.kind != TW_VALUE_LIST) {
        tw__fail(TW_TYPE_ERROR, "RaggedTensor: a key must be a list");
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return tw__value_result(t, get(t, args->self, args->key.list.items, args->key.list.count));
}
