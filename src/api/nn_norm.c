/* tf.nn: moments and batch normalization, composed of plain ops. */
#include "api/array.h"
#include "api/nn.h"
#include "graph/graph.h"
#include "op/gradient.h"
#include "rows.h"

static tw_tensor *cast(tw_tensor *x, tw_dtype dtype)
{
    if (!x || x->dtype == dtype)
        return tw_retain(x);
    return tw__call(&tw__op_Cast, TW_IN(x), 1, TW_WITH(TW_A_TYPE("DstT", dtype)), 1);
}

tw_status tw__moments(tw_tensor *x, tw_ints axes, bool keepdims, tw_tensor **mean, tw_tensor **variance)
{
    *mean = *variance = NULL;
    tw__part part = tw__part_begin(NULL, "moments");
    tw_dtype dtype = x->dtype == TW_FLOAT16 ? TW_FLOAT32 : x->dtype; /* halves overflow when squared */
    tw_auto tw_tensor *wide = cast(x, dtype);
    tw_auto tw_tensor *center = wide ? tw__reduce_axes(&tw__op_Mean, wide, axes, true) : NULL;
    tw_auto tw_tensor *fixed = TW_UNARY(StopGradient, center);
    tw_auto tw_tensor *squares = TW_BINARY(SquaredDifference, wide, fixed);
    tw_auto tw_tensor *spread = tw__reduce_axes(&tw__op_Mean, squares, axes, keepdims);
    tw_auto tw_tensor *shaped = center && spread ? tw__reshape_like(tw_retain(center), spread) : NULL;
    *mean = cast(shaped, x->dtype);
    *variance = *mean ? cast(spread, x->dtype) : NULL;
    if (tw__part_end(&part) == TW_OK && *variance)
        return TW_OK;
    tw_release(*variance);
    *variance = NULL;
    tw_release(*mean);
    *mean = NULL;
    return tw__error_status();
}

TW_API(nn_moments, "nn.moments(x: tensor, axes: ints, shift: value = None, keepdims: bool = False, name: str = None) -> tensors",
       "The mean and the variance over axes.")
{
    tw_tensors result = { tw__alloc_array(2, sizeof(tw_tensor *)), 2 };
    if (!result.items || tw__moments(args->x, args->axes, args->keepdims, &result.items[0], &result.items[1]) != TW_OK) {
        tw__free(result.items);
        return (tw_tensors){ 0 };
    }
    return result;
}

tw_tensor *tw__normalize(tw_tensor *x, tw_tensor *mean, tw_tensor *variance, tw_tensor *offset, tw_tensor *scale, double epsilon)
{
    tw__part part = tw__part_begin(NULL, "batchnorm");
    tw_auto tw_tensor *small = tw__grad_constant(epsilon, variance);
    tw_auto tw_tensor *sum = TW_BINARY(AddV2, variance, small);
    tw_auto tw_tensor *root = TW_UNARY(Rsqrt, sum);
    tw_auto tw_tensor *factor = scale ? TW_BINARY(Mul, root, scale) : tw_retain(root);
    tw_auto tw_tensor *x_factor = factor ? cast(factor, x->dtype) : NULL;
    tw_auto tw_tensor *product = TW_BINARY(Mul, x, x_factor);
    tw_auto tw_tensor *shift = product ? TW_BINARY(Mul, mean, factor) : NULL;
    tw_auto tw_tensor *constant = offset ? TW_BINARY(Sub, offset, shift) : TW_UNARY(Neg, shift);
    tw_auto tw_tensor *x_constant = constant ? cast(constant, x->dtype) : NULL;
    return tw__part_result(&part, TW_BINARY(AddV2, product, x_constant));
}

TW_API(nn_batch_normalization,
       "nn.batch_normalization(x: tensor, mean: tensor, variance: tensor, offset: tensor?, scale: tensor?, "
       "variance_epsilon: float, "
       "name: str = None) -> tensor",
       "(x - mean) / sqrt(variance + variance_epsilon) * scale + offset.")
{
    return tw__normalize(args->x, args->mean, args->variance, args->offset, args->scale, args->variance_epsilon);
}
