/* tf.nn: moments and batch normalization, composed of plain ops. */
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *cast(tw_tensor *x, tw_dtype dtype)
{
    if (!x || x->dtype == dtype)
        return tw_retain(x);
    return TW_CALL(Cast, x, TW_A_TYPE("DstT", dtype));
}

/* In a lasting graph: the mean over axes, all of them kept, under a name. */
static tw_tensor *named_mean(const tw__part *part, const char *name, tw_tensor *x, tw_ints axes)
{
    tw_auto tw_tensor *indices = x ? tw__ints_tensor(axes.items, (int)axes.count, TW_INT32) : NULL;
    tw_attr keep = TW_A_BOOL("keep_dims", true);
    return indices ? tw__part_call(part, name, &tw__op_Mean, TW_IN(x, indices), 2, &keep, 1) : NULL;
}

static tw_tensor *squeezed(tw_tensor *x, tw_ints axes, bool keepdims)
{
    return !x || keepdims ? tw_retain(x) : TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", axes.items, (int)axes.count));
}

static tw_status moments_in_graph(tw_tensor *x, tw_ints axes, bool keepdims, tw_tensor **mean, tw_tensor **variance)
{
    tw__part part = tw__part_begin(NULL, "moments");
    tw_dtype dtype = x->dtype == TW_FLOAT16 ? TW_FLOAT32 : x->dtype;
    tw_auto tw_tensor *wide = cast(x, dtype), *center = named_mean(&part, "mean", wide, axes);
    tw_auto tw_tensor *fixed = TW_CALL(StopGradient, center);
    tw_auto tw_tensor *squares = TW_CALL(SquaredDifference, wide, fixed);
    tw_auto tw_tensor *spread = named_mean(&part, "variance", squares, axes);
    tw_auto tw_tensor *flat_center = spread ? squeezed(center, axes, keepdims) : NULL;
    tw_auto tw_tensor *flat_spread = flat_center ? squeezed(spread, axes, keepdims) : NULL;
    *mean = flat_spread ? cast(flat_center, x->dtype) : NULL;
    *variance = *mean ? cast(flat_spread, x->dtype) : NULL;
    if (tw__part_end(&part) == TW_OK && *variance)
        return TW_OK;
    tw_release(*mean);
    tw_release(*variance);
    *mean = *variance = NULL;
    return tw__error_status();
}

tw_status tw__moments(tw_tensor *x, tw_ints axes, bool keepdims, tw_tensor **mean, tw_tensor **variance)
{
    if (tw__in_graph() && axes.count)
        return moments_in_graph(x, axes, keepdims, mean, variance);
    *mean = *variance = NULL;
    tw_dtype dtype = x->dtype == TW_FLOAT16 ? TW_FLOAT32 : x->dtype; /* halves overflow when squared */
    tw_auto tw_tensor *wide = cast(x, dtype);
    tw_auto tw_tensor *center = wide ? tw__reduce_axes(&tw__op_Mean, wide, axes, true) : NULL;
    tw_auto tw_tensor *fixed = TW_CALL(StopGradient, center);
    tw_auto tw_tensor *squares = TW_CALL(SquaredDifference, wide, fixed);
    tw_auto tw_tensor *spread = tw__reduce_axes(&tw__op_Mean, squares, axes, keepdims);
    tw_auto tw_tensor *shaped = center && spread ? tw__reshape_like(tw_retain(center), spread) : NULL;
    *mean = cast(shaped, x->dtype);
    *variance = *mean ? cast(spread, x->dtype) : NULL;
    if (*variance)
        return TW_OK;
    tw_release(*mean);
    *mean = NULL;
    return tw__error_status();
}

TW_API(nn_moments,
       "nn.moments(x: tensor, axes: ints, shift: value = None, keepdims: bool = False, name: str = None) -> tensors<tuple>",
       "The mean and the variance over axes.\n"
       "axes: the dimensions to reduce\n"
       "shift: kept for old programs; it is not used\n"
       "returns: the mean and the variance\n"
       "example: [float(m) for m in tf.nn.moments(tf.constant([1.0, 3.0]), [0])]  # [2.0, 1.0]")
{
    tw_tensors result = { tw__alloc_array(2, sizeof(tw_tensor *)), 2 };
    if (!result.items || tw__moments(args->x, args->axes, args->keepdims, &result.items[0], &result.items[1]) != TW_OK) {
        tw__free(result.items);
        return (tw_tensors){ 0 };
    }
    return result;
}

/* The sum over axes of weights times values, divided by the sum of the weights, all axes kept. */
static tw_tensor *weighted_mean(tw_tensor *values, tw_tensor *weights, tw_tensor *total, tw_ints axes)
{
    tw_auto tw_tensor *products = TW_CALL(Mul, weights, values);
    tw_auto tw_tensor *sum = products ? tw__reduce_axes(&tw__op_Sum, products, axes, true) : NULL;
    return TW_CALL(DivNoNan, sum, total);
}

tw_status tw__weighted_moments(tw_tensor *x, tw_ints axes, tw_tensor *weights, bool keepdims, tw_tensor **mean,
                               tw_tensor **variance)
{
    tw__part part = tw__part_begin(NULL, "weighted_moments");
    tw_auto tw_tensor *wide = cast(x, x->dtype == TW_FLOAT16 ? TW_FLOAT32 : x->dtype),
                      *given = wide ? cast(weights, wide->dtype) : NULL;
    tw_auto tw_tensor *zeros = given ? TW_CALL(ZerosLike, wide) : NULL, *spread = TW_CALL(AddV2, given, zeros);
    tw_auto tw_tensor *total = spread ? tw__reduce_axes(&tw__op_Sum, spread, axes, true) : NULL;
    tw_auto tw_tensor *center = total ? weighted_mean(wide, given, total, axes) : NULL;
    tw_auto tw_tensor *squares = TW_CALL(SquaredDifference, wide, center);
    tw_auto tw_tensor *distance = squares ? weighted_mean(squares, given, total, axes) : NULL;
    tw_auto tw_tensor *flat_center = distance ? squeezed(center, axes, keepdims) : NULL;
    tw_auto tw_tensor *flat_distance = flat_center ? squeezed(distance, axes, keepdims) : NULL;
    *mean = flat_distance ? cast(flat_center, x->dtype) : NULL;
    *variance = *mean ? cast(flat_distance, x->dtype) : NULL;
    if (tw__part_end(&part) == TW_OK && *variance)
        return TW_OK;
    tw_release(*mean);
    tw_release(*variance);
    *mean = *variance = NULL;
    return tw__error_status();
}

TW_API(
    nn_weighted_moments,
    "nn.weighted_moments(x: tensor, axes: ints, frequency_weights: tensor, keepdims: bool = False, name: str = None) -> tensors<tuple>",
    "The mean and the variance over axes, every element counted as often as its weight says.\n"
    "axes: the dimensions to reduce\n"
    "frequency_weights: a weight for each element; its shape can be broadcast with that of `x`")
{
    tw_tensors result = { tw__alloc_array(2, sizeof(tw_tensor *)), 2 };
    if (!result.items || tw__weighted_moments(args->x, args->axes, args->frequency_weights, args->keepdims, &result.items[0],
                                              &result.items[1]) != TW_OK) {
        tw__free(result.items);
        return (tw_tensors){ 0 };
    }
    return result;
}

tw_tensor *tw__normalize(tw_tensor *x, tw_tensor *mean, tw_tensor *variance, tw_tensor *offset, tw_tensor *scale, double epsilon)
{
    tw__part part = tw__part_begin(NULL, "batchnorm");
    tw_auto tw_tensor *small = tw__grad_constant(epsilon, variance);
    tw_auto tw_tensor *sum = TW_CALL(AddV2, variance, small);
    tw_auto tw_tensor *root = TW_CALL(Rsqrt, sum);
    tw_auto tw_tensor *factor = scale ? TW_CALL(Mul, root, scale) : tw_retain(root);
    tw_auto tw_tensor *x_factor = factor ? cast(factor, x->dtype) : NULL;
    tw_auto tw_tensor *product = TW_CALL(Mul, x, x_factor);
    tw_auto tw_tensor *shift = product ? TW_CALL(Mul, mean, factor) : NULL;
    tw_auto tw_tensor *constant = offset ? TW_CALL(Sub, offset, shift) : TW_CALL(Neg, shift);
    tw_auto tw_tensor *x_constant = constant ? cast(constant, x->dtype) : NULL;
    return tw__part_result(&part, TW_CALL(AddV2, product, x_constant));
}

TW_API(nn_batch_normalization,
       "nn.batch_normalization(x: tensor, mean: tensor, variance: tensor, offset: tensor?, scale: tensor?, "
       "variance_epsilon: float, "
       "name: str = None) -> tensor",
       "(x - mean) / sqrt(variance + variance_epsilon) * scale + offset.\n"
       "mean: the mean, of a shape that can be broadcast with `x`\n"
       "variance: the variance, of a shape that can be broadcast with `x`\n"
       "offset: what is added in the end; None: nothing\n"
       "scale: the factor; None: 1\n"
       "variance_epsilon: a small number that is added to the variance")
{
    return tw__normalize(args->x, args->mean, args->variance, args->offset, args->scale, args->variance_epsilon);
}

TW_API(nn_batch_norm_with_global_normalization,
       "nn.batch_norm_with_global_normalization(input: tensor, mean: tensor, variance: tensor, beta: tensor, gamma: tensor, "
       "variance_epsilon: float, scale_after_normalization: bool, name: str = None) -> tensor",
       "(input - mean) / sqrt(variance + variance_epsilon), times gamma if scale_after_normalization, + beta.\n"
       "mean: the mean of each channel\n"
       "variance: the variance of each channel\n"
       "beta: what is added to each channel\n"
       "gamma: the factor of each channel\n"
       "variance_epsilon: a small number that is added to the variance\n"
       "scale_after_normalization: whether to multiply with `gamma`")
{
    return tw__normalize(args->input, args->mean, args->variance, args->beta,
                         args->scale_after_normalization ? args->gamma : NULL, args->variance_epsilon);
}

/* ---- moments by sums ---- */

/* How many elements the axes have together, as a scalar of x's dtype. */
static tw_tensor *elements_of_axes(tw__temps *t, tw_tensor *x, tw_tensor *axes)
{
    tw_tensor *sizes = tw__temp_gather(t, tw__temp_shape(t, x, TW_INT32), axes, 0);
    return tw__temp_cast(t, TW_TEMP(Prod, sizes, 0), x->dtype);
}

TW_API(nn_sufficient_statistics,
       "nn.sufficient_statistics(x: tensor, axes: ints, shift: tensor = None, keepdims: bool = False, name: str = None) -> value",
       "The number of elements over axes, the sum of x - shift, that of its squares, and the shift.\n"
       "axes: the dimensions to reduce\n"
       "shift: a value near to the mean that is subtracted first, which keeps sums exact; None: 0")
{
    TW_TEMPS(t);
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_tensor *x = args->x, *shift = args->shift, *parts[4] = { NULL, NULL, NULL, shift };
    int64_t axes[TW_MAX_RANK];
    if (args->axes.count > TW_MAX_RANK) {
        tw__fail(TW_VALUE_ERROR, "sufficient_statistics: %lld axes, at most %d are possible", (long long)args->axes.count,
                 TW_MAX_RANK);
        return result;
    }
    for (int64_t i = 0; i < args->axes.count; i++) {
        int normal = (int)args->axes.items[i];
        if (x->shape.rank >= 0 && !tw__axis_normal(args->axes.items[i], x->shape.rank, &normal)) {
            tw__fail(TW_VALUE_ERROR, "sufficient_statistics: axis %lld does not exist in a tensor of rank %d",
                     (long long)args->axes.items[i], x->shape.rank);
            return result;
        }
        axes[i] = normal;
    }
    parts[0] = elements_of_axes(t, x, tw__temp_ints(t, axes, args->axes.count, TW_INT32));
    tw_tensor *moved = shift ? TW_TEMP(Sub, x, shift) : x;
    tw_tensor *squares = shift ? TW_TEMP(SquaredDifference, x, shift) : TW_TEMP(Square, x);
    parts[1] = tw__temp(t, moved ? tw__reduce_axes(&tw__op_Sum, moved, args->axes, args->keepdims) : NULL);
    parts[2] = tw__temp(t, squares ? tw__reduce_axes(&tw__op_Sum, squares, args->axes, args->keepdims) : NULL);
    if (!parts[0] || !parts[1] || !parts[2])
        return result;
    result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array(4, sizeof(tw_value)), 4, NULL } };
    for (int i = 0; result.list.items && i < 4; i++)
        result.list.items[i] = parts[i] ? TW_LEAF(tw_retain(parts[i])) : (tw_value){ .kind = TW_VALUE_NONE };
    return result.list.items ? result : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(
    nn_normalize_moments,
    "nn.normalize_moments(counts: tensor, mean_ss: tensor, variance_ss: tensor, shift: tensor?, name: str = None) -> tensors<tuple>",
    "Mean and variance of what sufficient_statistics gives.\n"
    "counts: how many elements were summed\n"
    "mean_ss: the sum of the elements, less the shift\n"
    "variance_ss: the sum of the squares of the elements less the shift\n"
    "shift: the shift of `sufficient_statistics`; None: 0\n"
    "returns: the mean and the variance")
{
    TW_TEMPS(t);
    tw_tensor *divisor = TW_TEMP(Reciprocal, args->counts), *moved = TW_TEMP(Mul, args->mean_ss, divisor);
    tw_tensor *mean = args->shift ? TW_TEMP(AddV2, moved, args->shift) : moved;
    tw_tensor *variance = TW_TEMP(Sub, TW_TEMP(Mul, args->variance_ss, divisor), TW_TEMP(Square, moved));
    tw_tensors result = { mean && variance ? tw__alloc_array(2, sizeof(tw_tensor *)) : NULL, 2 };
    if (!result.items)
        return (tw_tensors){ 0 };
    result.items[0] = tw_retain(mean);
    result.items[1] = tw_retain(variance);
    return result;
}
