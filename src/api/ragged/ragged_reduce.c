/* Reductions of ragged tensors over rows and along them; softmax of rows. Everything is made of segments, so that gradients work.
 */
#include "api/api.h"
#include "api/ragged/ragged.h"
#include "api/ragged/ragged_call.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

typedef struct reduction {
    const tw_op *dense;   /* over uniform dimensions */
    const char *segments; /* the op that reduces by segment */
    bool keepdims;
    const char *separator; /* of texts, or NULL */
} reduction;

static tw_tensor *over_all(tw__temps *t, tw_tensor *x, const reduction *r)
{
    tw_tensor *axes = x ? tw__temp(t, tw__all_axes(x)) : NULL;
    tw_attr attrs[2] = { TW_A_BOOL("keep_dims", r->keepdims), TW_A_STRING("separator", r->separator ? r->separator : "") };
    return tw__temp(t, tw__call(r->dense, TW_IN(x, axes), 2, attrs, 1 + (r->separator != NULL)));
}

static tw_tensor *over_axis(tw__temps *t, tw_tensor *x, const reduction *r, int64_t axis)
{
    tw_attr attrs[2] = { TW_A_BOOL("keep_dims", r->keepdims), TW_A_STRING("separator", r->separator ? r->separator : "") };
    return tw__temp(t, tw__call(r->dense, TW_IN(x, tw__temp_ints(t, &axis, 1, TW_INT32)), 2, attrs, 1 + (r->separator != NULL)));
}

static void *by_segment(tw__temps *t, void *data, tw_tensor *ids, tw_tensor *count, const reduction *r)
{
    if (!data || !ids || !count)
        return NULL;
    if (!tw__is_ragged(data)) {
        const tw_op *op = tw__op_find(r->segments);
        if (!op) {
            tw__fail(TW_UNIMPLEMENTED, "the op %s is not in the table", r->segments);
            return NULL;
        }
        tw_attr separator = TW_A_STRING("separator", r->separator ? r->separator : "");
        return tw__temp(t, tw__call(op, TW_IN(data, ids, count), 3, &separator, r->separator != NULL));
    }
    /* Every row goes to the output row of its segment, which is as long as the longest of them. */
    tw_ragged_tensor *ragged = data;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *lengths = tw__splits_lengths(t, ragged->splits), *zero = tw__temp_int(t, 0, dtype);
    const tw_op *most = tw__op_find("UnsortedSegmentMax");
    if (!most) {
        tw__fail(TW_UNIMPLEMENTED, "the op UnsortedSegmentMax is not in the table");
        return NULL;
    }
    tw_tensor *longest = TW_TEMP(Maximum, tw__temp(t, tw__call(most, TW_IN(lengths, ids, count), 3, NULL, 0)), zero);
    tw_tensor *splits = tw__splits_of_lengths(t, longest), *begins = tw__temp_gather(t, splits, ids, 0),
              *ends = TW_TEMP(AddV2, begins, lengths);
    tw_tensor *made[2] = { NULL, NULL };
    int outputs = 2;
    if (!ends || tw__apply(&tw__op_RaggedRange, TW_IN(begins, ends, tw__temp_int(t, 1, dtype)), 3,
                           TW_WITH(TW_A_TYPE("Tsplits", dtype)), 1, made, &outputs) != TW_OK)
        return NULL;
    tw__temp(t, made[0]);
    void *values = by_segment(t, ragged->values, tw__temp(t, made[1]), tw__temp_at(t, splits, -1), r);
    return values ? tw__temp_ragged(t, values, splits, -1) : NULL;
}

static void *with_dimension(tw__temps *t, void *value, int64_t axis, bool keep)
{
    return keep && value ? tw__value_expand(t, value, axis) : value;
}

static void *along(tw__temps *t, void *value, const reduction *r, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return over_axis(t, value, r, axis);
    tw_ragged_tensor *ragged = value;
    tw_dtype dtype = ragged->splits->dtype;
    if (axis == 0) {
        tw_tensor *lengths = tw__splits_lengths(t, ragged->splits), *zero = tw__temp_int(t, 0, dtype),
                  *none = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, dtype);
        tw_tensor *most = TW_TEMP(Max, tw__temp_concat(t, TW_IN(lengths, none), 2, 0), tw__temp_int(t, 0, TW_INT32)),
                  *made[2] = { NULL, NULL };
        int outputs = 2;
        if (!most || tw__apply(&tw__op_RaggedRange, TW_IN(zero, lengths, tw__temp_int(t, 1, dtype)), 3,
                               TW_WITH(TW_A_TYPE("Tsplits", dtype)), 1, made, &outputs) != TW_OK)
            return NULL;
        tw__temp(t, made[0]);
        return with_dimension(t, by_segment(t, ragged->values, tw__temp(t, made[1]), most, r), 0, r->keepdims);
    }
    if (axis == 1)
        return with_dimension(t,
                              by_segment(t, ragged->values, tw__splits_rowids(t, ragged->splits),
                                         tw__splits_rows(t, ragged->splits), r),
                              1, r->keepdims);
    return tw__temp_with_values(t, ragged, along(t, ragged->values, r, axis - 1));
}

/* Over several axes, the last one first. */
static void *reduce(tw__temps *t, void *value, const reduction *r, tw_ints axis)
{
    tw_shape shape = tw__value_shape(value);
    bool chosen[TW_MAX_RANK] = { false };
    if (!axis.given) {
        void *all = over_all(t, tw__flat_values(value), r);
        for (int i = 1; r->keepdims && all && i < shape.rank; i++)
            all = tw__value_expand(t, all, 0); /* as TensorFlow, whatever dimensions the flat values have */
        return all;
    }
    if (shape.rank < 0) {
        tw__fail(TW_VALUE_ERROR, "reductions of ragged tensors need a rank that is known");
        return NULL;
    }
    for (int64_t i = 0; i < axis.count; i++) {
        int64_t place = axis.items[i] < 0 ? axis.items[i] + shape.rank : axis.items[i];
        if (place < 0 || place >= shape.rank) {
            tw__fail(TW_VALUE_ERROR, "axis=%lld out of bounds: expected %d<=axis<%d", (long long)axis.items[i], -shape.rank,
                     shape.rank);
            return NULL;
        }
        chosen[place] = true;
    }
    for (int i = shape.rank - 1; value && i >= 0; i--) {
        if (chosen[i])
            value = along(t, value, r, i);
    }
    return value;
}

static void *flat_cast(tw__temps *t, void *value, tw_dtype dtype)
{
    return value ? tw__temp_with_flat(t, value, tw__temp_cast(t, tw__flat_values(value), dtype)) : NULL;
}

/* total / count as Python divides: of integers a float. */
static void *flat_divide(tw__temps *t, void *total, void *count)
{
    return total && count
               ? tw__temp_with_flat(t, total, tw__temp(t, tw__true_divide(tw__flat_values(total), tw__flat_values(count))))
               : NULL;
}

static void *flat_binary(tw__temps *t, const tw_op *op, void *a, void *b)
{
    return a && b ? tw__temp_with_flat(t, a, tw__temp(t, tw__call(op, TW_IN(tw__flat_values(a), tw__flat_values(b)), 2, NULL, 0)))
                  : NULL;
}

static const reduction sums = { &tw__op_Sum, "UnsortedSegmentSum", false, NULL };

static void *mean(tw__temps *t, void *value, tw_ints axis, bool keepdims)
{
    reduction r = sums;
    r.keepdims = keepdims;
    tw_tensor *flat = tw__flat_values(value);
    void *total = reduce(t, value, &r, axis), *ones = tw__temp_with_flat(t, value, TW_TEMP(OnesLike, flat)),
         *count = ones ? reduce(t, ones, &r, axis) : NULL;
    return flat_divide(t, total, count);
}

static void *variance(tw__temps *t, void *value, tw_ints axis, bool keepdims)
{
    tw_tensor *flat = tw__flat_values(value);
    if (tw__dtype_is_complex(flat->dtype)) {
        tw__fail(TW_VALUE_ERROR, "reduce_variance is not supported for RaggedTensors with complex dtypes.");
        return NULL;
    }
    void *squares = mean(t, tw__temp_with_flat(t, value, TW_TEMP(Square, flat)), axis, keepdims),
         *average = squares ? mean(t, value, axis, keepdims) : NULL;
    void *square = average ? tw__temp_with_flat(t, average, TW_TEMP(Square, tw__flat_values(average))) : NULL;
    void *difference = flat_binary(t, &tw__op_Sub, squares, square);
    return difference ? tw__temp_with_flat(t, difference, TW_TEMP(Relu, tw__flat_values(difference))) : NULL;
}

void *tw__ragged_reduce(tw__temps *t, const char *id, void *value, tw_ints axis, bool keepdims)
{
    static const struct {
        const char *id;
        reduction how;
    } plain[] = {
        { "reduce_sum", { &tw__op_Sum, "UnsortedSegmentSum", false, NULL } },
        { "reduce_prod", { &tw__op_Prod, "UnsortedSegmentProd", false, NULL } },
        { "reduce_max", { &tw__op_Max, "UnsortedSegmentMax", false, NULL } },
        { "reduce_min", { &tw__op_Min, "UnsortedSegmentMin", false, NULL } },
        { "reduce_any", { &tw__op_Sum, "UnsortedSegmentSum", false, NULL } },
        { "reduce_all", { &tw__op_Prod, "UnsortedSegmentProd", false, NULL } },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(plain[i].id, id) != 0)
            continue;
        reduction r = plain[i].how;
        r.keepdims = keepdims;
        if (i < 4)
            return reduce(t, value, &r, axis);
        void *numbers = flat_cast(t, value, TW_INT32); /* whether one, or whether all are true */
        return numbers ? flat_cast(t, reduce(t, numbers, &r, axis), TW_BOOL) : NULL;
    }
    if (strcmp(id, "reduce_mean") == 0)
        return mean(t, value, axis, keepdims);
    void *spread = variance(t, value, axis, keepdims);
    if (strcmp(id, "math_reduce_variance") == 0 || !spread)
        return spread;
    return tw__temp_with_flat(t, spread, TW_TEMP(Sqrt, tw__flat_values(spread)));
}

void *tw__ragged_reduce_join(tw__temps *t, void *value, tw_ints axis, bool keepdims, const char *separator)
{
    reduction r = { &tw__op_ReduceJoin, "UnsortedSegmentJoin", keepdims, separator ? separator : "" };
    return reduce(t, value, &r, axis);
}

/* exp(x - max) / sum of the row. */
void *tw__ragged_softmax(tw__temps *t, void *value, int64_t axis)
{
    int rank = tw__value_shape(value).rank;
    const int64_t axes[1] = { axis };
    tw_ints along_axis = { axes, 1, true, false };
    if (axis != -1 && axis != rank - 1) {
        tw__fail(TW_UNIMPLEMENTED, "nn.softmax: of a ragged tensor only along the last dimension, got axis %lld",
                 (long long)axis);
        return NULL;
    }
    tw_tensor *flat = tw__flat_values(value);
    if (flat->shape.rank > 1) {
        tw_auto tw_tensor *made = TW_CALL(Softmax, flat);
        return tw__temp_with_flat(t, value, tw__temp(t, tw_retain(made)));
    }
    void *most = tw__ragged_reduce(t, "reduce_max", value, along_axis, true);
    if (!most || !tw__values_match(t, &value, &most))
        return NULL;
    tw_tensor *powers = TW_TEMP(Exp, TW_TEMP(Sub, flat, tw__flat_values(most)));
    void *grown = powers ? tw__temp_with_flat(t, value, powers) : NULL;
    void *total = grown ? tw__ragged_reduce(t, "reduce_sum", grown, along_axis, true) : NULL;
    return total && tw__values_match(t, &grown, &total) ? flat_binary(t, &tw__op_RealDiv, grown, total) : NULL;
}
