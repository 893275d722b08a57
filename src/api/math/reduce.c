/* Reductions as users name them: tf.reduce_sum and its kin, and those composed of several ops (variance, logsumexp). */
#include "graph/graph.h"
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *axes_of(tw_tensor *x, tw_ints axis)
{
    return axis.given ? tw__ints_tensor(axis.items, axis.count, TW_INT32) : tw__all_axes(x);
}

tw_tensor *tw__reduce_axes(const tw_op *op, tw_tensor *x, tw_ints axis, bool keepdims)
{
    if (!x)
        return NULL;
    tw_auto tw_tensor *axes = axes_of(x, axis);
    if (!axes)
        return NULL;
    tw_attr keep = TW_A_BOOL("keep_dims", keepdims);
    tw_tensor *result = tw__call(op, TW_IN(x, axes), 2, &keep, 1);
    if (result && !axis.given && !keepdims && result->shape.rank < 0 && tw__symbolic_refine(result, &TW_SHAPE()) != TW_OK) {
        tw_release(result);
        return NULL;
    }
    return result;
}

#define REDUCE(op_name) tw__reduce_axes(&tw__op_##op_name, args->input_tensor, args->axis, args->keepdims)

/* Arguments of reductions. */
#define REDUCTION "input_tensor: tensor, axis: ints = None, keepdims: bool = False, name: str = None"

TW_API(reduce_sum, "reduce_sum|math.reduce_sum(" REDUCTION ") -> tensor",
       "The sum of the elements over axes, all of them if none is named.\n"
       "example: tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()  # [4, 6]")
{
    return REDUCE(Sum);
}

TW_API(reduce_mean, "reduce_mean|math.reduce_mean(" REDUCTION ") -> tensor",
       "The mean of the elements over axes, all of them if none is named.\n"
       "example: tf.reduce_mean([1.0, 2.0, 6.0]).numpy()  # 3.0")
{
    return REDUCE(Mean);
}

TW_API(reduce_max, "reduce_max|math.reduce_max(" REDUCTION ") -> tensor",
       "The greatest element over axes, all of them if none is named.\n"
       "example: tf.reduce_max([[1, 5], [7, 2]], axis=1).numpy().tolist()  # [5, 7]")
{
    return REDUCE(Max);
}

TW_API(reduce_min, "reduce_min|math.reduce_min(" REDUCTION ") -> tensor",
       "The least element over axes, all of them if none is named.\n"
       "example: tf.reduce_min([[1, 5], [7, 2]], axis=1).numpy().tolist()  # [1, 2]")
{
    return REDUCE(Min);
}

TW_API(reduce_prod, "reduce_prod|math.reduce_prod(" REDUCTION ") -> tensor",
       "The product of the elements over axes, all of them if none is named.\n"
       "example: tf.reduce_prod([2, 3, 4]).numpy()  # 24")
{
    return REDUCE(Prod);
}

TW_API(
    reduce_any,
    "reduce_any|math.reduce_any(input_tensor: tensor<bool>, axis: ints = None, keepdims: bool = False, name: str = None) -> tensor",
    "Whether an element over axes is true.\n"
    "example: tf.reduce_any([[True, False], [False, False]], axis=1).numpy().tolist()  # [True, False]")
{
    return REDUCE(Any);
}

TW_API(
    reduce_all,
    "reduce_all|math.reduce_all(input_tensor: tensor<bool>, axis: ints = None, keepdims: bool = False, name: str = None) -> tensor",
    "Whether all elements over axes are true.\n"
    "example: tf.reduce_all([[True, True], [True, False]], axis=1).numpy().tolist()  # [True, False]")
{
    return REDUCE(All);
}

TW_API(math_reduce_euclidean_norm, "math.reduce_euclidean_norm(" REDUCTION ") -> tensor",
       "The square root of the sum of squares over axes.")
{
    return REDUCE(EuclideanNorm);
}

/* The mean of squared (absolute) differences from the mean. */
static tw_tensor *variance(tw_tensor *x, tw_ints axis, bool keepdims)
{
    TW_TEMPS(t);
    if (!tw__dtype_is_float(x->dtype) && !tw__dtype_is_complex(x->dtype)) {
        tw__fail(TW_TYPE_ERROR, "Input must be either real or complex. Received integer type %s.", tw_dtype_name(x->dtype));
        return NULL;
    }
    tw_auto tw_tensor *mean = tw__reduce_axes(&tw__op_Mean, x, axis, true);
    tw_auto tw_tensor *difference = TW_CALL(Sub, x, mean);
    if (!difference)
        return NULL;
    tw_tensor *square;
    if (tw__dtype_is_complex(x->dtype)) {
        tw_tensor *product = TW_CALL(Mul, TW_TEMP(Conj, difference), difference);
        tw_dtype real = x->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64;
        square = TW_CALL(Real, product, TW_A_TYPE("Tout", real));
        tw_release(product);
    } else {
        square = TW_CALL(Square, difference);
    }
    tw_tensor *result = tw__reduce_axes(&tw__op_Mean, square, axis, keepdims);
    tw_release(square);
    return result;
}

TW_API(math_reduce_variance, "math.reduce_variance(" REDUCTION ") -> tensor", "The variance of the elements over axes.")
{
    tw__part part = tw__part_begin(args->name, "reduce_variance");
    return tw__part_result(&part, variance(args->input_tensor, args->axis, args->keepdims));
}

TW_API(math_reduce_std, "math.reduce_std(" REDUCTION ") -> tensor", "The standard deviation of the elements over axes.")
{
    tw__part part = tw__part_begin(args->name, "reduce_std"), inner = tw__part_begin(NULL, "reduce_variance");
    tw_auto tw_tensor *square = tw__part_result(&inner, variance(args->input_tensor, args->axis, args->keepdims));
    return tw__part_result(&part, TW_CALL(Sqrt, square));
}

TW_API(reduce_logsumexp, "reduce_logsumexp|math.reduce_logsumexp(" REDUCTION ") -> tensor",
       "log(sum(exp(elements))) over axes, without overflow.")
{
    /* The maximum is taken out first; where it is infinite or no number, nothing is. */
    tw_auto tw_tensor *greatest = tw__reduce_axes(&tw__op_Max, args->input_tensor, args->axis, true);
    tw_auto tw_tensor *finite = TW_CALL(IsFinite, greatest);
    tw_auto tw_tensor *zeros = finite ? TW_CALL(ZerosLike, greatest) : NULL;
    tw_auto tw_tensor *chosen = TW_CALL(SelectV2, finite, greatest, zeros);
    tw_auto tw_tensor *offset = TW_CALL(StopGradient, chosen);
    tw_auto tw_tensor *less = TW_CALL(Sub, args->input_tensor, offset);
    tw_auto tw_tensor *powers = TW_CALL(Exp, less);
    tw_auto tw_tensor *sum = tw__reduce_axes(&tw__op_Sum, powers, args->axis, args->keepdims);
    tw_auto tw_tensor *logarithm = TW_CALL(Log, sum);
    if (!logarithm)
        return NULL;
    tw_auto tw_tensor *shaped = tw__reshape_like(tw_retain(offset), logarithm);
    return TW_CALL(AddV2, logarithm, shaped);
}

TW_API(math_cumsum,
       "math.cumsum|cumsum(x: tensor, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str = None) -> tensor",
       "Running sums along an axis.\n"
       "exclusive: True: each result leaves its own element out\n"
       "reverse: True: run from the end\n"
       "example: tf.cumsum([1, 2, 3]).numpy().tolist()  # [1, 3, 6]")
{
    return tw__call_axis(&tw__op_Cumsum, args->x, args->axis,
                         TW_WITH(TW_A_BOOL("exclusive", args->exclusive), TW_A_BOOL("reverse", args->reverse)), 2);
}

TW_API(math_cumulative_logsumexp,
       "math.cumulative_logsumexp(x: tensor, axis: int = 0, exclusive: bool = False, reverse: "
       "bool = False, name: str = None) -> tensor",
       "Logarithms of running sums of exponentials along an axis.\n"
       "exclusive: True: each result leaves its own element out\n"
       "reverse: True: run from the end")
{
    return tw__call_axis(&tw__op_CumulativeLogsumexp, args->x, args->axis,
                         TW_WITH(TW_A_BOOL("exclusive", args->exclusive), TW_A_BOOL("reverse", args->reverse)), 2);
}

TW_API(
    math_cumprod,
    "math.cumprod|compat.v1.cumprod(x: tensor, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str = None) -> tensor",
    "Running products along an axis.\n"
    "exclusive: True: each result leaves its own element out\n"
    "reverse: True: run from the end\n"
    "example: tf.math.cumprod([2, 3, 4], exclusive=True).numpy().tolist()  # [1, 2, 6]")
{
    return tw__call_axis(&tw__op_Cumprod, args->x, args->axis,
                         TW_WITH(TW_A_BOOL("exclusive", args->exclusive), TW_A_BOOL("reverse", args->reverse)), 2);
}
