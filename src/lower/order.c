/* Lowerings of what depends on the order of elements: sorting, the greatest, places in sorted rows, first occurrences. */
#include <stdio.h>

#include "lower/words.h"

tw__hlo tw__hlo_sort(tw__lowering *l, const char *direction, tw__hlo x, int dim, tw_dtype places_dtype, tw__hlo *places)
{
    tw__hlo numbers = tw__hlo_iota(l, places_dtype, &x.shape, dim);
    const char *t = tw__hlo_dtype(x.dtype), *n = tw__hlo_dtype(places_dtype);
    char both[600];
    if (x.id < 0 || numbers.id < 0)
        return (tw__hlo){ .id = -1 };
    snprintf(both, sizeof both, "%s, %s", tw__hlo_type_text(x), tw__hlo_type_text(numbers));
    *places = (tw__hlo){ .id = l->next++, .dtype = places_dtype, .shape = x.shape };
    tw__hlo sorted = { .id = l->next++, .dtype = x.dtype, .shape = x.shape };
    tw__text_format(l->text,
                    "%%%d, %%%d = \"stablehlo.sort\"(%%%d, %%%d) <{dimension = %d : i64, is_stable = true}> ({\n"
                    "^bb0(%%x: tensor<%s>, %%y: tensor<%s>, %%xi: tensor<%s>, %%yi: tensor<%s>):\n"
                    "%%c = stablehlo.compare %s, %%x, %%y : (tensor<%s>, tensor<%s>) -> tensor<i1>\n"
                    "stablehlo.return %%c : tensor<i1>\n}) : (%s) -> (%s)\n",
                    sorted.id, places->id, x.id, numbers.id, dim, t, t, n, n, direction, t, t, both, both);
    return sorted;
}

/* TopKV2(x, k), TopK(x): rows in falling order; of equal ones the first goes first. */
static bool top(tw__lowering *l)
{
    int axis = X.shape.rank - 1;
    int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK];
    tw__hlo places;
    if (axis < 0 || X.dtype == TW_BOOL || tw__dtype_is_complex(X.dtype))
        return false;
    tw__hlo sorted = tw__hlo_sort(l, "GT", X, axis, l->outputs[1].dtype, &places);
    memcpy(end, l->outputs[0].shape.dims, sizeof end);
    return sorted.id >= 0 && GIVE(tw__hlo_slice(l, sorted, begin, end, NULL)) &&
           tw__lower_give(l, 1, tw__hlo_slice(l, places, begin, end, NULL));
}

/* InTopKV2(predictions, targets, k), InTopK(predictions, targets): less than k predictions of the row are greater. */
static bool in_top(tw__lowering *l)
{
    tw__hlo targets = tw__hlo_broadcast_in(l, Y, &X.shape, (int[]){ 0 }), zero = NUMBER(X.dtype, 0);
    tw__hlo hot = COMPARE("EQ", tw__hlo_iota(l, Y.dtype, &X.shape, 1), targets);
    tw__hlo finite = COMPARE("LT", UNARY("abs", X), tw__hlo_infinity(l, X.dtype, false));
    tw__hlo value = tw__hlo_reduce(l, "add", SELECT(hot, X, zero), 2);
    tw__hlo greater = COMPARE("GT", X, tw__hlo_broadcast_in(l, value, &X.shape, (int[]){ 0 }));
    tw__hlo count = tw__hlo_reduce(l, "add", tw__hlo_convert(l, greater, Y.dtype), 2);
    tw__hlo k = l->input_count > 2 ? l->inputs[2] : NUMBER(Y.dtype, (double)TW_ATTR(l, "k")->i);
    tw__hlo valid = BINARY("and", tw__hlo_reduce(l, "or", hot, 2), tw__hlo_reduce(l, "and", finite, 2));
    return GIVE(BINARY("and", valid, COMPARE("LT", count, k)));
}

/* How many of a last dimension are true. */
static tw__hlo count_true(tw__lowering *l, tw__hlo flags, tw_dtype dtype)
{
    return tw__hlo_reduce(l, "add", tw__hlo_convert(l, flags, dtype), 1u << (flags.shape.rank - 1));
}

/* The number of boundaries that are not greater; NaN is behind all. */
static bool bucketize(tw__lowering *l)
{
    const tw_attr *bounds = TW_ATTR(l, "boundaries");
    tw_dtype dtype = X.dtype == TW_FLOAT64 ? TW_FLOAT64 : TW_FLOAT32;
    tw_shape wide = X.shape, last = TW_SHAPE(bounds->count);
    tw__owned double *values = tw__alloc_array((size_t)bounds->count + 1, sizeof *values);
    int dims[TW_MAX_RANK];
    if (!values || !bounds->count || X.shape.rank == TW_MAX_RANK)
        return false;
    for (int64_t i = 0; i < bounds->count; i++) {
        if (dtype == TW_FLOAT64)
            values[i] = (double)(float)bounds->floats[i];
        else
            ((float *)values)[i] = (float)bounds->floats[i];
    }
    wide.dims[wide.rank++] = bounds->count;
    for (int i = 0; i < X.shape.rank; i++)
        dims[i] = i;
    tw__hlo x = tw__hlo_broadcast_in(l, tw__hlo_convert(l, X, dtype), &wide, dims);
    return GIVE(count_true(l,
                           COMPARE("GE", x,
                                   tw__hlo_bytes(l, dtype, &last, values, (size_t)bounds->count * (dtype == TW_FLOAT64 ? 8 : 4))),
                           TW_INT32));
}

/* LowerBound(sorted, values), UpperBound: how many of the row are less, or not greater. */
static bool bound(tw__lowering *l)
{
    tw_shape wide = TW_SHAPE(Y.shape.dims[0], Y.shape.dims[1], X.shape.dims[1]);
    tw__hlo sorted = tw__hlo_broadcast_in(l, X, &wide, (int[]){ 0, 2 }),
            values = tw__hlo_broadcast_in(l, Y, &wide, (int[]){ 0, 1 });
    return !tw__dtype_is_complex(X.dtype) && GIVE(count_true(l, COMPARE(l->argument, sorted, values), l->outputs[0].dtype));
}

/* Unique(ids) whose result is as long as its input: an id stands where it came first, other places hold -1. The second result is
 * the first place of each. Plans ask for it only where what is made of such places is left out in the end. */
static bool unique(tw__lowering *l)
{
    tw_dtype dtype = l->outputs[1].dtype;
    int64_t size = X.shape.dims[0];
    tw__hlo places, zero = NUMBER(dtype, 0);
    if (X.shape.rank != 1 || size < 1 || !tw__shape_equal(&l->outputs[0].shape, &X.shape))
        return false;
    tw__hlo sorted = tw__hlo_sort(l, "LT", X, 0, dtype, &places), numbers = tw__hlo_iota(l, dtype, &X.shape, 0);
    if (sorted.id < 0)
        return false;
    tw__hlo before = tw__hlo_concatenate(l,
                                         (tw__hlo[]){ tw__hlo_slice(l, sorted, (int64_t[]){ 0 }, (int64_t[]){ 1 }, NULL),
                                                      tw__hlo_slice(l, sorted, (int64_t[]){ 0 }, (int64_t[]){ size - 1 }, NULL) },
                                         2, 0);
    /* The start of each run of equal ids, handed on along the run: steps of 1, 2, 4, … */
    tw__hlo start = SELECT(COMPARE("NE", sorted, before), numbers, zero);
    for (int64_t step = 1; step < size; step *= 2)
        start = BINARY("maximum", start, tw__hlo_pad(l, start, zero, (int64_t[]){ step }, (int64_t[]){ -step }, NULL));
    tw__hlo first = tw__hlo_rows(l, places, start, 0, 0, true);
    first = tw__hlo_scatter_rows(l, NULL, tw__hlo_fill(l, first, 0), places, first);
    return GIVE(SELECT(COMPARE("EQ", first, numbers), X, NUMBER(X.dtype, -1))) && tw__lower_give(l, 1, first);
}

const tw__lower_row tw__lower_order[] = {
    { "TopKV2", top, NULL },
    { "TopK", top, NULL },
    { "InTopKV2", in_top, NULL },
    { "InTopK", in_top, NULL },
    { "Bucketize", bucketize, NULL },
    { "LowerBound", bound, "LT" },
    { "UpperBound", bound, "LE" },
    { "Unique", unique, NULL },
    { NULL, NULL, NULL },
};
