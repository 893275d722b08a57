/* tf.experimental.numpy: reductions, sums along an axis, order. */
#include "api/numpy/numpy.h"

#include "rows.h"

/* Whole numbers of few bits, and truths, as the widest of their kind; unsigned: sums of unsigned numbers stay so. */
static tw_tensor *widened(tw__temps *t, tw_tensor *a, bool keeps_unsigned)
{
    if (!tw__numpy_whole(a->dtype) || (a->dtype != TW_BOOL && tw_dtype_size(a->dtype) == 8))
        return a;
    bool is_unsigned = a->dtype == TW_UINT8 || a->dtype == TW_UINT16 || a->dtype == TW_UINT32;
    return tw__temp_cast(t, a, is_unsigned && keeps_unsigned ? TW_UINT64 : TW_INT64);
}

/* A reduction of sums: of the dtype asked for, else of the widest. */
static tw_tensor *summed(const tw_op *op, tw_tensor *given, tw_ints axis, tw_dtype dtype, bool keepdims)
{
    TW_TEMPS(t);
    tw_tensor *a = dtype != TW_DTYPE_NONE ? tw__temp_cast(t, given, dtype) : widened(t, given, true);
    return tw__reduce_axes(op, a, axis, keepdims);
}

static tw_tensor *mean(tw_tensor *given, tw_ints axis, tw_dtype dtype, bool keepdims)
{
    TW_TEMPS(t);
    tw_tensor *a = dtype != TW_DTYPE_NONE ? tw__temp_cast(t, given, dtype) : tw__numpy_floating(t, given);
    return tw__reduce_axes(&tw__op_Mean, a, axis, keepdims);
}

static bool no_out(const tw_value *out)
{
    if (out->kind != TW_VALUE_NONE)
        tw__fail(TW_VALUE_ERROR, "Setting out is not supported.");
    return out->kind == TW_VALUE_NONE;
}

TW_API(numpy_sum,
       "experimental.numpy.sum(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, keepdims: bool = None) -> tensor",
       "The sum.")
{
    return summed(&tw__op_Sum, args->a, args->axis, args->dtype, args->keepdims);
}
TW_API(
    numpy_prod,
    "experimental.numpy.prod(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, keepdims: bool = None) -> tensor",
    "The product.")
{
    return summed(&tw__op_Prod, args->a, args->axis, args->dtype, args->keepdims);
}
TW_API(
    numpy_mean,
    "experimental.numpy.mean(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, out: value = None, keepdims: bool = None) -> tensor",
    "The mean.")
{
    return no_out(&args->out) ? mean(args->a, args->axis, args->dtype, args->keepdims) : NULL;
}

static tw_tensor *extreme(tw_tensor *a, tw_ints axis, bool keepdims, bool greatest)
{
    const tw_op *op = a->dtype == TW_BOOL ? (greatest ? &tw__op_Any : &tw__op_All) : greatest ? &tw__op_Max : &tw__op_Min;
    return tw__reduce_axes(op, a, axis, keepdims);
}

TW_API(numpy_amax,
       "experimental.numpy.amax(a: tensor<array>, axis: ints = None, out: value = None, keepdims: bool = None) -> tensor",
       "The greatest element.")
{
    return no_out(&args->out) ? extreme(args->a, args->axis, args->keepdims, true) : NULL;
}
TW_API(numpy_amin,
       "experimental.numpy.amin(a: tensor<array>, axis: ints = None, out: value = None, keepdims: bool = None) -> tensor",
       "The least element.")
{
    return no_out(&args->out) ? extreme(args->a, args->axis, args->keepdims, false) : NULL;
}
TW_API(numpy_max, "experimental.numpy.max(a: tensor<array>, axis: ints = None, keepdims: bool = None) -> tensor",
       "The greatest element.")
{
    return extreme(args->a, args->axis, args->keepdims, true);
}
TW_API(numpy_min, "experimental.numpy.min(a: tensor<array>, axis: ints = None, keepdims: bool = None) -> tensor",
       "The least element.")
{
    return extreme(args->a, args->axis, args->keepdims, false);
}
TW_API(numpy_ptp, "experimental.numpy.ptp(a: tensor<array>, axis: ints = None, keepdims: bool = None) -> tensor",
       "The distance of the greatest element from the least.")
{
    TW_TEMPS(t);
    tw_tensor *high = tw__temp(t, extreme(args->a, args->axis, args->keepdims, true));
    return TW_CALL(Sub, high, (tw_tensor *)tw__temp(t, high ? extreme(args->a, args->axis, args->keepdims, false) : NULL));
}

/* ---- the variance ---- */

/* How many elements each sum is of. */
static tw_tensor *count_of(tw__temps *t, tw_tensor *a, tw_ints axis, tw_dtype dtype)
{
    tw_tensor *sizes = tw__temp_shape(t, a, TW_INT32);
    if (axis.given) {
        tw_tensor *axes = tw__temp_ints(t, axis.items, axis.count, TW_INT32);
        sizes = tw__temp_gather(t, sizes, TW_TEMP(FloorMod, axes, TW_TEMP(Rank, a)), 0);
    }
    return tw__numpy_cast(t, TW_TEMP(Prod, sizes, 0), dtype);
}

static tw_tensor *variance(tw__temps *t, tw_tensor *a, tw_ints axis, tw_dtype dtype, double ddof, bool keepdims)
{
    bool floats = dtype != TW_DTYPE_NONE && tw__dtype_is_float(dtype);
    if (tw__numpy_whole(a->dtype) || (floats && tw_dtype_size(dtype) > tw_dtype_size(a->dtype)))
        a = tw__temp_cast(t, a, floats ? dtype : tw__numpy_float());
    tw_tensor *distance = TW_TEMP(Sub, a, (tw_tensor *)tw__temp(t, tw__reduce_axes(&tw__op_Mean, a, axis, true)));
    if (!distance)
        return NULL;
    tw_tensor *squares = TW_TEMP(Square, distance);
    if (tw__dtype_is_complex(a->dtype)) {
        squares = TW_TEMP(Mul, distance, TW_TEMP(Conj, distance));
        squares = squares ? tw__temp(t, tw_math_real(squares)) : NULL;
    }
    tw_tensor *made;
    if (ddof == 0 || !squares) {
        made = tw__temp(t, tw__reduce_axes(&tw__op_Mean, squares, axis, keepdims));
    } else {
        tw_tensor *count = count_of(t, a, axis, squares->dtype);
        made = TW_TEMP(RealDiv, (tw_tensor *)tw__temp(t, tw__reduce_axes(&tw__op_Sum, squares, axis, keepdims)),
                       TW_TEMP(Sub, count, ddof));
    }
    return tw__numpy_cast(t, made, dtype);
}

TW_API(
    numpy_var,
    "experimental.numpy.var(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, out: value = None, ddof: float = 0, keepdims: bool = None) -> tensor",
    "The mean of the squares of distances from the mean; ddof is taken from the number of elements.\n"
    "ddof: what is taken from the number of elements that the sum is divided by")
{
    TW_TEMPS(t);
    return no_out(&args->out) ? tw__keep(t, variance(t, args->a, args->axis, args->dtype, args->ddof, args->keepdims)) : NULL;
}

TW_API(numpy_std, "experimental.numpy.std(a: tensor<array>, axis: ints = None, keepdims: bool = None) -> tensor",
       "The root of the variance.")
{
    TW_TEMPS(t);
    return TW_CALL(Sqrt, variance(t, args->a, args->axis, TW_DTYPE_NONE, 0, args->keepdims));
}

/* ---- truths ---- */

static tw_tensor *of_truths(const tw_op *op, tw_tensor *a, tw_ints axis, bool keepdims)
{
    TW_TEMPS(t);
    return tw__reduce_axes(op, tw__temp_cast(t, a, TW_BOOL), axis, keepdims);
}

TW_API(numpy_all, "experimental.numpy.all(a: tensor<array>, axis: ints = None, keepdims: bool = None) -> tensor",
       "Whether all elements are true.")
{
    return of_truths(&tw__op_All, args->a, args->axis, args->keepdims);
}
TW_API(numpy_any, "experimental.numpy.any(a: tensor<array>, axis: ints = None, keepdims: bool = None) -> tensor",
       "Whether an element is true.")
{
    return of_truths(&tw__op_Any, args->a, args->axis, args->keepdims);
}
TW_API(numpy_count_nonzero, "experimental.numpy.count_nonzero(a: tensor<array>, axis: ints = None) -> tensor",
       "How many elements are not zero.")
{
    return tw_math_count_nonzero(args->a, .axis = args->axis);
}

/* ---- of what is a number ---- */

static tw_tensor *without_nan(tw__temps *t, tw_tensor *given, tw_dtype dtype, double value)
{
    tw_tensor *a = tw__numpy_cast(t, given, dtype);
    if (!a || tw__numpy_whole(a->dtype))
        return a;
    return TW_TEMP(SelectV2, (tw_tensor *)tw__temp(t, tw_numpy_isnan(a)), (tw_tensor *)tw__temp(t, tw__grad_constant(value, a)),
                   a);
}

TW_API(
    numpy_nansum,
    "experimental.numpy.nansum(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, keepdims: bool = False) -> tensor",
    "The sum of what is a number.")
{
    TW_TEMPS(t);
    tw_tensor *a = without_nan(t, args->a, args->dtype, 0);
    return a ? summed(&tw__op_Sum, a, args->axis, args->dtype, args->keepdims) : NULL;
}
TW_API(
    numpy_nanprod,
    "experimental.numpy.nanprod(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, keepdims: bool = False) -> tensor",
    "The product of what is a number.")
{
    TW_TEMPS(t);
    tw_tensor *a = without_nan(t, args->a, args->dtype, 1);
    return a ? summed(&tw__op_Prod, a, args->axis, args->dtype, args->keepdims) : NULL;
}
TW_API(
    numpy_nanmean,
    "experimental.numpy.nanmean(a: tensor<array>, axis: ints = None, dtype: dtype<numpy> = None, keepdims: bool = None) -> tensor",
    "The mean of what is a number.")
{
    TW_TEMPS(t);
    tw_tensor *a = tw__numpy_cast(t, args->a, args->dtype);
    if (!a || tw__numpy_whole(a->dtype))
        return a ? mean(a, args->axis, args->dtype, args->keepdims) : NULL;
    tw_tensor *numbers = tw__temp_cast(t, TW_TEMP(LogicalNot, (tw_tensor *)tw__temp(t, tw_numpy_isnan(a))), a->dtype);
    tw_tensor *total = tw__temp(t, tw__reduce_axes(&tw__op_Sum, without_nan(t, a, TW_DTYPE_NONE, 0), args->axis, args->keepdims));
    return TW_CALL(RealDiv, total, (tw_tensor *)tw__temp(t, tw__reduce_axes(&tw__op_Sum, numbers, args->axis, args->keepdims)));
}

/* ---- along an axis ---- */

/* The tensor whose axis that is: without one, all elements in a row. */
static tw_tensor *along(tw__temps *t, tw_tensor *a, int64_t *axis)
{
    if (*axis != TW_NO_INT)
        return a;
    *axis = 0;
    return tw__numpy_flat(t, a);
}

static tw_tensor *running(const tw_op *op, tw_tensor *given, int64_t axis, tw_dtype dtype)
{
    TW_TEMPS(t);
    tw_tensor *a = dtype != TW_DTYPE_NONE ? tw__temp_cast(t, given, dtype) : widened(t, given, false);
    a = a ? along(t, a, &axis) : NULL;
    return a ? tw__call_axis(op, a, axis, NULL, 0) : NULL;
}

TW_API(numpy_cumsum, "experimental.numpy.cumsum(a: tensor<array>, axis: int = None, dtype: dtype<numpy> = None) -> tensor",
       "Sums up to each element.")
{
    return running(&tw__op_Cumsum, args->a, args->axis, args->dtype);
}
TW_API(numpy_cumprod, "experimental.numpy.cumprod(a: tensor<array>, axis: int = None, dtype: dtype<numpy> = None) -> tensor",
       "Products up to each element.")
{
    return running(&tw__op_Cumprod, args->a, args->axis, args->dtype);
}

TW_API(
    numpy_average,
    "experimental.numpy.average(a: tensor<array>, axis: int = None, weights: tensor<array> = None, returned: bool = False) -> value",
    "The mean, with weights if there are any; returned: their sum, too.\n"
    "weights: what each element counts; None: 1\n"
    "returned: True: give the sum of the weights, too")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_ints axis = { &args->axis, 1, args->axis != TW_NO_INT, true };
    tw_tensor *x[] = { tw__numpy_floating(t, args->a), args->weights }, *made, *total = NULL;
    if (!x[0])
        return none;
    if (!args->weights) {
        made = tw__temp(t, tw__reduce_axes(&tw__op_Mean, x[0], axis, false));
        if (made && args->returned)
            total = TW_TEMP(BroadcastTo, count_of(t, x[0], axis, made->dtype), tw__temp_shape(t, made, TW_INT32));
    } else {
        if (tw__numpy_promote(t, x, 2) != TW_OK)
            return none;
        int place;
        if (x[1]->shape.rank == 1 && x[0]->shape.rank != 1) {
            if (!axis.given) {
                tw__fail(TW_VALUE_ERROR, "average: `axis` must be given if shapes of `a` and `weights` differ");
                return none;
            }
            if (!tw__numpy_axis(x[0], args->axis, "average", &place))
                return none;
            tw_tensor *line = tw__numpy_wider(t, x[1], 0, x[0]->shape.rank - 1 - place);
            x[1] = TW_TEMP(BroadcastTo, line, tw__temp_shape(t, x[0], TW_INT32));
        }
        total = tw__temp(t, tw__reduce_axes(&tw__op_Sum, x[1], axis, false));
        made = TW_TEMP(RealDiv, (tw_tensor *)tw__temp(t, tw__reduce_axes(&tw__op_Sum, TW_TEMP(Mul, x[0], x[1]), axis, false)),
                       total);
    }
    if (args->returned)
        return made && total ? tw__numpy_pair(tw_retain(made), tw_retain(total)) : none;
    return made ? TW_LEAF(tw_retain(made)) : none;
}

/* ---- order ---- */

/* What can be compared: truths as numbers; without an axis, and of a number, all elements in a row. */
static tw_tensor *ordered(tw__temps *t, tw_tensor *a, int64_t *axis)
{
    a = a->dtype == TW_BOOL ? tw__temp_cast(t, a, TW_INT8) : a;
    if (a && a->shape.rank == 0)
        *axis = TW_NO_INT;
    return a ? along(t, a, axis) : NULL;
}

static tw_tensor *position(const tw_op *op, tw_tensor *given, int64_t axis)
{
    TW_TEMPS(t);
    tw_tensor *a = ordered(t, given, &axis);
    return a ? tw__call_axis(op, a, axis, NULL, 0) : NULL;
}

TW_API(numpy_argmax, "experimental.numpy.argmax(a: tensor<array>, axis: int = None) -> tensor", "Where the greatest element is.")
{
    return position(&tw__op_ArgMax, args->a, args->axis);
}
TW_API(numpy_argmin, "experimental.numpy.argmin(a: tensor<array>, axis: int = None) -> tensor", "Where the least element is.")
{
    return position(&tw__op_ArgMin, args->a, args->axis);
}

static bool known_order(const char *kind, const tw_value *order, bool stable_too)
{
    if (strcmp(kind, "quicksort") != 0 && !(stable_too && strcmp(kind, "stable") == 0))
        tw__fail(TW_VALUE_ERROR, "Only the following sorting algorithms are supported: 'quicksort'%s, got '%s'",
                 stable_too ? ", 'stable'" : "", kind);
    else if (order->kind != TW_VALUE_NONE)
        tw__fail(TW_VALUE_ERROR, "The `order` argument is not supported. Pass order=None");
    else
        return true;
    return false;
}

TW_API(numpy_argsort,
       "experimental.numpy.argsort(a: tensor<array>, axis: int? = -1, kind: str = quicksort, order: value = None) -> tensor",
       "Where the elements are, from the least on.\n"
       "kind: `quicksort` or `stable`; the result is the same\n"
       "order: must be None")
{
    TW_TEMPS(t);
    int64_t axis = args->axis;
    tw_tensor *a = known_order(args->kind, &args->order, true) ? ordered(t, args->a, &axis) : NULL;
    return a ? tw__cast(tw__temp(t, tw_argsort(a, axis)), TW_INT64) : NULL;
}

TW_API(numpy_sort,
       "experimental.numpy.sort(a: tensor<array>, axis: int? = -1, kind: str = quicksort, order: value = None) -> tensor",
       "The elements, from the least on.\n"
       "kind: must be `quicksort`\n"
       "order: must be None")
{
    TW_TEMPS(t);
    int64_t axis = args->axis;
    tw_tensor *a = known_order(args->kind, &args->order, false) ? along(t, args->a, &axis) : NULL;
    return a ? tw_sort(a, axis) : NULL;
}
