/* tf.nn.isotonic_regression: along any axis, falling or rising. */
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "op/calls.h"
#include "rows.h"

/* Floats stay; small integers become float32, others float64. */
static tw_dtype result_of(tw_dtype dtype)
{
    if (tw__dtype_is_float(dtype))
        return dtype;
    return dtype == TW_INT8 || dtype == TW_INT16 ? TW_FLOAT32 : TW_FLOAT64;
}

/* The rows of a matrix with the last dimension of x. */
static tw_tensor *rows_of(tw__temps *t, tw_tensor *x)
{
    int64_t all = -1;
    tw_tensor *last = tw__temp_slice(t, tw__temp_shape(t, x, TW_INT32), -1, TW_NO_INT);
    tw_tensor *shape = last ? tw__temp_concat(t, (tw_tensor *[]){ tw__temp_ints(t, &all, 1, TW_INT32), last }, 2, 0) : NULL;
    return TW_TEMP(Reshape, x, shape);
}

TW_API(nn_isotonic_regression,
       "nn.isotonic_regression(inputs: tensor, decreasing: bool = True, axis: int = -1) -> tensors<IsotonicRegression>",
       "The falling (or rising) numbers that are nearest to the inputs along an axis, and the runs in which they are equal.\n"
       "decreasing: True: the result falls; False: it rises\n"
       "axis: the dimension along which values fall or rise\n"
       "inputs: the numbers")
{
    TW_TEMPS(t);
    tw_tensor *x = args->inputs, *made[2], *turned = x;
    tw_tensors result = { NULL, 2 };
    int axis, rank = x->shape.rank;
    if (rank < 1 || !tw__axis_normal(args->axis, rank, &axis)) {
        tw__fail(TW_VALUE_ERROR, "isotonic_regression: axis %lld of a tensor of rank %d", (long long)args->axis, rank);
        return (tw_tensors){ 0 };
    }
    if (axis != rank - 1)
        turned = tw__temp(t, tw__swap_with_last(x, axis));
    tw_tensor *rows = turned ? rows_of(t, turned) : NULL;
    if (rows && !args->decreasing)
        rows = TW_TEMP(Neg, rows);
    if (!rows || TW_TEMP_ALL(made, IsotonicRegression, rows, TW_A_TYPE("output_dtype", result_of(x->dtype))) != TW_OK)
        return (tw_tensors){ 0 };
    if (!args->decreasing)
        made[0] = TW_TEMP(Neg, made[0]);
    for (int i = 0; i < 2 && made[0]; i++) {
        made[i] = TW_TEMP(Reshape, made[i], tw__temp_shape(t, turned, TW_INT32));
        if (made[i] && axis != rank - 1)
            made[i] = tw__temp(t, tw__swap_with_last(made[i], axis));
    }
    if (!made[0] || !made[1] || !(result.items = tw__alloc_array(2, sizeof *result.items)))
        return (tw_tensors){ 0 };
    for (int i = 0; i < 2; i++)
        result.items[i] = tw_retain(made[i]);
    return result;
}
