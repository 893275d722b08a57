/* Ragged tensors joined, stacked, taken apart by index, and brought to the same rows. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

/* ---- parts ---- */

void *tw__value_between(tw__temps *t, void *value, tw_tensor *begin, tw_tensor *end)
{
    if (!value || !begin || !end)
        return NULL;
    tw_dtype dtype = tw__is_ragged(value) ? ((tw_ragged_tensor *)value)->splits->dtype : begin->dtype;
    const int64_t one[1] = { 1 };
    begin = tw__temp_cast(t, begin, dtype);
    end = tw__temp_cast(t, end, dtype);
    tw_tensor *from = tw__temp_reshape(t, begin, one, 1), *to = tw__temp_reshape(t, end, one, 1),
              *step = tw__temp_ints(t, one, 1, dtype);
    if (!tw__is_ragged(value))
        return TW_TEMP(StridedSlice, value, from, to, step);
    const tw_ragged_tensor *ragged = value;
    tw_tensor *splits = TW_TEMP(StridedSlice, ragged->splits, from, TW_TEMP(AddV2, to, tw__temp_int(t, 1, dtype)), step);
    tw_tensor *first = tw__temp_at(t, splits, 0);
    void *values = splits ? tw__value_between(t, ragged->values, first, tw__temp_at(t, splits, -1)) : NULL;
    return tw__temp_ragged(t, values, TW_TEMP(Sub, splits, first), ragged->uniform);
}

tw_ragged_tensor *tw__ragged_of_ranges(tw__temps *t, void *values, tw_tensor *begins, tw_tensor *ends, tw_tensor *step)
{
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (!values || !begins || !ends || !step ||
        tw__apply(&tw__op_RaggedRange, TW_IN(begins, ends, step), 3, TW_WITH(TW_A_TYPE("Tsplits", begins->dtype)), 1, made,
                  &count) != TW_OK)
        return NULL;
    tw_tensor *splits = tw__temp(t, made[0]), *places = tw__temp(t, made[1]);
    return splits && places ? tw__temp_ragged(t, tw__value_gather(t, values, places), splits, -1) : NULL;
}

void *tw__value_gather(tw__temps *t, void *params, void *indices)
{
    if (!params || !indices)
        return NULL;
    if (tw__is_ragged(indices))
        return tw__temp_with_values(t, indices, tw__value_gather(t, params, ((tw_ragged_tensor *)indices)->values));
    if (!tw__is_ragged(params))
        return tw__temp_gather(t, params, indices, 0);
    tw_tensor *picks = indices;
    if (picks->shape.rank < 0) {
        tw__fail(TW_VALUE_ERROR, "rank(indices) must be known statically");
        return NULL;
    }
    if (picks->shape.rank == 0) {
        tw_tensor *next = TW_TEMP(AddV2, picks, tw__temp_int(t, 1, picks->dtype));
        tw_ragged_tensor *row = tw__value_between(t, params, picks, next);
        return row ? row->values : NULL;
    }
    tw_tensor *inputs[TW_RAGGED_PARTS + 2], *made[TW_RAGGED_PARTS + TW_MAX_RANK] = { NULL };
    int levels = 0, outer = picks->shape.rank - 1;
    for (tw_ragged_tensor *r = params; tw__is_ragged(r); r = r->values)
        inputs[levels++] = r->splits;
    int outputs = levels + outer + 1;
    inputs[levels] = tw__flat_values(params);
    inputs[levels + 1] = picks;
    if (tw__apply(&tw__op_RaggedGather, inputs, levels + 2, TW_WITH(TW_A_INT("OUTPUT_RAGGED_RANK", levels + outer)), 1, made,
                  &outputs) != TW_OK)
        return NULL;
    for (int i = 0; i < outputs; i++)
        made[i] = tw__temp(t, made[i]);
    void *value = made[outputs - 1];
    for (int i = outputs - 2; value && i >= 0; i--) {
        int64_t uniform = i < outer ? picks->shape.dims[i + 1] : -1;
        const tw_ragged_tensor *level = params;
        for (int k = outer; k < i; k++)
            level = level->values;
        value = tw__temp_ragged(t, value, made[i], i < outer ? uniform : level->uniform);
    }
    return value;
}

/* ---- joining ---- */

/* A value with at least that many ragged dimensions. */
static void *raised(tw__temps *t, void *value, int ragged_rank, tw_dtype dtype)
{
    if (!value || ragged_rank == 0)
        return value;
    if (!tw__is_ragged(value))
        return tw__ragged_of_tensor(t, value, ragged_rank, dtype);
    tw_ragged_tensor *ragged = value;
    return tw__temp_ragged(t, raised(t, ragged->values, ragged_rank - 1, dtype), tw__temp_cast(t, ragged->splits, dtype),
                           ragged->uniform);
}

static void *concat_rows(tw__temps *t, void *const *values, int64_t count)
{
    if (!tw__is_ragged(values[0]))
        return tw__temp_concat(t, (tw_tensor *const *)values, (int)count, 0);
    void **inner = tw__alloc_array((size_t)count, sizeof *inner), *result = NULL;
    tw_tensor **splits = inner ? tw__alloc_array((size_t)count, sizeof *splits) : NULL, *offset = NULL;
    int64_t uniform = ((const tw_ragged_tensor *)values[0])->uniform;
    for (int64_t i = 0; splits && i < count; i++) {
        const tw_ragged_tensor *ragged = values[i];
        inner[i] = ragged->values;
        splits[i] = i == 0 ? ragged->splits : TW_TEMP(AddV2, tw__temp_slice(t, ragged->splits, 1, TW_NO_INT), offset);
        offset = tw__temp_at(t, splits[i], -1);
        if (i && offset && splits[i]->shape.rank == 1 && splits[i]->shape.dims[0] == 0) /* no rows: the last end stays */
            offset = tw__temp_at(t, splits[i - 1], -1);
        uniform = ragged->uniform == uniform ? uniform : -1;
    }
    if (splits && tw_error_code() == TW_OK)
        result = tw__temp_ragged(t, concat_rows(t, inner, count), tw__temp_concat(t, splits, (int)count, 0), uniform);
    tw__free(inner);
    tw__free(splits);
    return result;
}

/* Row i of every member side by side: joined to one row, or as rows of a row. */
static void *beside(tw__temps *t, void *const *values, int64_t count, bool stack)
{
    tw_ragged_tensor *all = concat_rows(t, values, count);
    if (!all)
        return NULL;
    tw_dtype dtype = all->splits->dtype;
    tw_tensor *numbers = tw__temp_range(t, tw__splits_rows(t, all->splits)), *width = tw__temp_int(t, count, dtype);
    tw_tensor *grid = tw__temp_reshape(t, numbers, (const int64_t[]){ count, -1 }, 2);
    tw_tensor *order = tw__temp_reshape(t, TW_TEMP(Transpose, grid, tw__temp_ints(t, (const int64_t[]){ 1, 0 }, 2, TW_INT32)),
                                        (const int64_t[]){ -1 }, 1);
    tw_ragged_tensor *mixed = order ? tw__value_gather(t, all, order) : NULL;
    if (!mixed)
        return NULL;
    tw_tensor *rows = tw__splits_rows(t, ((const tw_ragged_tensor *)values[0])->splits);
    tw_tensor *starts = tw__splits_uniform(t, tw__temp_cast(t, rows, dtype), width);
    return stack ? tw__temp_ragged(t, mixed, starts, count)
                 : tw__temp_ragged(t, mixed->values, tw__temp_gather(t, mixed->splits, starts, 0), -1);
}

/* What both functions below do first; `shared` gets the members with equal numbers of ragged dimensions. NULL: it is done,
 * *result says with what. */
static void **prepare(tw__temps *t, void *const *values, int64_t count, int least)
{
    tw_dtype dtype = TW_INT32;
    int most = least;
    bool any = false;
    for (int64_t i = 0; i < count; i++) {
        int rank = tw__ragged_rank(values[i]);
        most = rank > most ? rank : most;
        for (const tw_ragged_tensor *r = values[i]; tw__is_ragged(r); r = r->values) {
            any = true;
            dtype = r->splits->dtype == TW_INT64 ? TW_INT64 : dtype;
        }
    }
    dtype = any ? dtype : TW_INT64;
    void **shared = tw__alloc_array((size_t)count + 1, sizeof *shared);
    for (int64_t i = 0; shared && i < count; i++) {
        tw_shape shape = tw__value_shape(values[i]);
        if (!tw__is_ragged(values[i]) && shape.rank >= 0 && shape.rank <= most) {
            tw__fail(TW_VALUE_ERROR, "a tensor of shape %s can't be joined with ragged tensors of rank %d",
                     tw__shape_text(&shape), most + 1);
            tw__free(shared);
            return NULL;
        }
        shared[i] = raised(t, values[i], most, dtype);
        if (!shared[i]) {
            tw__free(shared);
            return NULL;
        }
    }
    return shared;
}

static void *join_inner(tw__temps *t, void *const *values, int64_t count, int64_t axis, bool stack)
{
    if (!tw__is_ragged(values[0])) {
        if (!stack)
            return tw__temp_concat(t, (tw_tensor *const *)values, (int)count, axis);
        return tw__temp(t, tw__call(&tw__op_Pack, (tw_tensor *const *)values, (int)count, TW_WITH(TW_A_INT("axis", axis)), 1));
    }
    if (axis == 0) {
        void *joined = concat_rows(t, values, count);
        if (!stack || !joined)
            return joined;
        tw_dtype dtype = ((tw_ragged_tensor *)values[0])->splits->dtype;
        tw_tensor **lengths = tw__alloc_array((size_t)count, sizeof *lengths), *all = NULL;
        for (int64_t i = 0; lengths && i < count; i++)
            lengths[i] = tw__value_rows(t, values[i], dtype);
        if (lengths)
            all = tw__temp(t, tw__call(&tw__op_Pack, lengths, (int)count, TW_WITH(TW_A_INT("axis", 0)), 1));
        tw__free(lengths);
        return all ? tw__temp_ragged(t, joined, tw__splits_of_lengths(t, all), -1) : NULL;
    }
    if (axis == 1)
        return beside(t, values, count, stack);
    tw__owned void **inner = tw__alloc_array((size_t)count, sizeof *inner);
    for (int64_t i = 0; inner && i < count; i++)
        inner[i] = ((tw_ragged_tensor *)values[i])->values;
    void *joined = inner ? join_inner(t, inner, count, axis - 1, stack) : NULL;
    return joined ? tw__temp_with_values(t, values[0], joined) : NULL;
}

static void *join(tw__temps *t, void *const *values, int64_t count, int64_t axis, bool stack)
{
    int rank = -1, ragged = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!values[i])
            return NULL;
        int own = tw__value_shape(values[i]).rank;
        rank = own >= 0 ? own : rank;
        ragged += tw__is_ragged(values[i]);
    }
    int64_t given = axis, out_rank = rank + stack;
    axis = axis < 0 && rank >= 0 ? axis + out_rank : axis;
    if (axis < 0 || (rank >= 0 && axis >= out_rank)) {
        tw__fail(TW_VALUE_ERROR, "axis=%lld out of bounds: expected %lld<=axis<%lld", (long long)given, (long long)-out_rank,
                 (long long)out_rank);
        return NULL;
    }
    if (count == 1 && !stack)
        return values[0];
    if (stack && rank == 0 && !ragged)
        return tw__temp(t, tw__call(&tw__op_Pack, (tw_tensor *const *)values, (int)count, TW_WITH(TW_A_INT("axis", 0)), 1));
    if (stack && rank == 1 && axis == 0 && !ragged) { /* rows as they are */
        tw_tensor **lengths = tw__alloc_array((size_t)count, sizeof *lengths), *all = NULL;
        for (int64_t i = 0; lengths && i < count; i++)
            lengths[i] = tw__value_rows(t, values[i], TW_INT64);
        if (lengths)
            all = tw__temp(t, tw__call(&tw__op_Pack, lengths, (int)count, TW_WITH(TW_A_INT("axis", 0)), 1));
        tw__free(lengths);
        return all ? tw__temp_ragged(t, tw__temp_concat(t, (tw_tensor *const *)values, (int)count, 0),
                                     tw__splits_of_lengths(t, all), -1)
                   : NULL;
    }
    if (!ragged && axis == rank - 1 + stack)
        return join_inner(t, values, count, axis, stack);
    tw__owned void **shared = prepare(t, values, count, ragged ? 0 : 1);
    void *joined = shared ? join_inner(t, shared, count, axis, stack) : NULL;
    return joined;
}

void *tw__values_concat(tw__temps *t, void *const *values, int64_t count, int64_t axis)
{
    return join(t, values, count, axis, false);
}

void *tw__values_stack(tw__temps *t, void *const *values, int64_t count, int64_t axis)
{
    return join(t, values, count, axis, true);
}

/* ---- the same rows ---- */

/* Whether two splits are the same, as far as it is known. */
static bool same_splits(tw_tensor *a, tw_tensor *b)
{
    if (a == b || !a->data || !b->data)
        return true;
    bool same = a->count == b->count;
    for (int64_t i = 0; same && i < a->count; i++)
        same = tw_tensor_int_at(a, i) == tw_tensor_int_at(b, i);
    return same;
}

/* The first three elements, as an error shows them. */
static void show_first(tw__text *text, const char *name, const tw_tensor *x)
{
    int64_t count = x->count < 3 ? x->count : 3;
    tw__text_format(text, "First %lld elements of %s:\n[", (long long)count, name);
    for (int64_t i = 0; i < count; i++)
        tw__text_format(text, "%s%lld", i ? " " : "", (long long)tw_tensor_int_at(x, i));
    tw__text_add(text, "]");
}

static bool rows_differ(const tw_tensor *x, const tw_tensor *y)
{
    tw__text text = { 0 }, places = { 0 }, left = { 0 }, right = { 0 };
    int64_t shown = 0;
    for (int64_t i = 0; x->count == y->count && i < x->count && shown < 3; i++) {
        int64_t a = tw_tensor_int_at(x, i), b = tw_tensor_int_at(y, i);
        if (a == b)
            continue;
        tw__text_format(&places, "%s[%lld]", shown ? "\n " : "", (long long)i);
        tw__text_format(&left, "%s%lld", shown ? " " : "", (long long)a);
        tw__text_format(&right, "%s%lld", shown ? " " : "", (long long)b);
        shown++;
    }
    tw__text_add(&text, "Condition x == y did not hold.\n");
    if (shown)
        tw__text_format(
            &text,
            "Indices of first %lld different values:\n[%s]\nCorresponding x values:\n[%s]\nCorresponding y values:\n[%s]\n",
            (long long)shown, places.data, left.data, right.data);
    show_first(&text, "x", x);
    tw__text_add(&text, "\n");
    show_first(&text, "y", y);
    tw__fail(TW_INVALID_ARGUMENT, "%s", text.data ? text.data : "");
    tw__text_free(&text);
    tw__text_free(&places);
    tw__text_free(&left);
    tw__text_free(&right);
    return false;
}

/* A value of fewer dimensions gets ones in front; rows of length one and tensors are repeated to the other's rows. */
static void *broadcast(tw__temps *t, void *value, tw_ragged_tensor *like)
{
    if (!value)
        return NULL;
    tw_shape shape = tw__value_shape(value), wanted = tw__value_shape(like);
    if (shape.rank < 0 || wanted.rank < 0) {
        tw__fail(TW_UNIMPLEMENTED, "RaggedTensor: operands of unknown rank are not supported");
        return NULL;
    }
    if (!tw__is_ragged(value) && shape.rank <= wanted.rank - tw__ragged_rank(like) - 0 &&
        shape.rank < wanted.rank - tw__ragged_rank(like) + 1 && shape.rank <= tw__flat_values(like)->shape.rank - 1)
        return value; /* it goes with the inner dimensions of the flat values as it is */
    if (shape.rank < wanted.rank && !tw__is_ragged(value)) {
        value = TW_TEMP(ExpandDims, value, tw__temp_int(t, 0, TW_INT32));
        return broadcast(t, value, like);
    }
    if (shape.rank < wanted.rank) {
        tw_tensor *rows = tw__temp_int(t, 1, ((tw_ragged_tensor *)value)->splits->dtype);
        tw_tensor *length = tw__value_rows(t, value, ((tw_ragged_tensor *)value)->splits->dtype);
        return broadcast(t, tw__temp_ragged(t, value, tw__splits_uniform(t, rows, length), -1), like);
    }
    tw_tensor *one = NULL, *splits = like->splits;
    /* Rows: all, or one that is repeated. */
    if (shape.dims[0] == 1 && wanted.dims[0] != 1) {
        tw_tensor *rows = tw__splits_rows(t, splits);
        one = tw__temp_zeros(t, tw__temp_reshape(t, rows, (const int64_t[]){ 1 }, 1), TW_INT32);
        value = tw__value_gather(t, value, one);
    }
    if (!value)
        return NULL;
    void *inner = NULL;
    if (!tw__is_ragged(value)) {
        const tw_tensor *tensor = value;
        if (tensor->shape.rank < 2)
            return value;
        if (tensor->shape.dims[1] == 1) { /* one column for all values of the row */
            tw_tensor *column = TW_TEMP(Squeeze, value, TW_A_INTS("squeeze_dims", (const int64_t[]){ 1 }, 1));
            inner = tw__temp_gather(t, column, tw__splits_rowids(t, splits), 0);
        } else {
            tw_ragged_tensor *rows = tw__ragged_of_tensor(t, value, 1, splits->dtype);
            if (!rows || !(same_splits(splits, rows->splits) || rows_differ(splits, rows->splits)))
                return NULL;
            inner = rows->values;
        }
    } else {
        tw_ragged_tensor *ragged = value;
        bool ones = ragged->uniform == 1;
        if (ones && like->uniform != 1) {
            inner = tw__value_gather(t, ragged->values, tw__splits_rowids(t, splits));
        } else {
            if (!same_splits(splits, ragged->splits) && !rows_differ(splits, ragged->splits))
                return NULL;
            inner = ragged->values;
        }
    }
    if (inner && tw__is_ragged(like->values))
        inner = broadcast(t, inner, like->values);
    return inner ? tw__temp_with_values(t, like, inner) : NULL;
}

bool tw__values_match(tw__temps *t, void **x, void **y)
{
    bool left = tw__is_ragged(*x), right = tw__is_ragged(*y);
    if (!*x || !*y || (!left && !right))
        return *x && *y;
    if (!left || !right) {
        void **plain = left ? y : x;
        if (tw__value_shape(*plain).rank == 0)
            return true;
        *plain = broadcast(t, *plain, left ? *x : *y);
        return *plain != NULL;
    }
    int a = tw__ragged_rank(*x), b = tw__ragged_rank(*y);
    bool same = a == b;
    const tw_ragged_tensor *p = *x, *q = *y;
    for (; same && tw__is_ragged(p); p = p->values, q = q->values)
        same = same_splits(p->splits, q->splits);
    if (same)
        return true;
    /* The one of more dimensions gives the rows; of equal ones, that whose rows are not all of length one. */
    int rank_x = tw__value_shape(*x).rank, rank_y = tw__value_shape(*y).rank;
    p = *x;
    q = *y;
    bool to_x = rank_x != rank_y ? rank_x > rank_y : a != b ? a > b : !(p->uniform == 1 && q->uniform != 1);
    if (to_x)
        *y = broadcast(t, *y, *x);
    else
        *x = broadcast(t, *x, *y);
    return *x && *y;
}
