/* Functions that deal out, count and compare: dynamic_partition, parallel_stack, histograms, fingerprints, nearest values, shapes
 * that broadcast, the clock. */
#include "api/array/array.h"
#include "graph/graph.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

TW_API(dynamic_partition,
       "dynamic_partition(data: tensor, partitions: tensor<int32>, num_partitions: int, name: str = "
       "None) -> tensors",
       "Deals out the rows of a tensor to so many, by their numbers.\n"
       "data: the rows\n"
       "partitions: for each row the number of its part\n"
       "num_partitions: how many parts there are\n"
       "returns: a list of so many tensors\n"
       "example: [t.numpy().tolist() for t in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]  # [[1, 3], [2]]")
{
    return tw__call_many(&tw__op_DynamicPartition, TW_IN(args->data, args->partitions), 2,
                         TW_WITH(TW_A_INT("num_partitions", args->num_partitions)), 1,
                         args->num_partitions > 0 && args->num_partitions < INT32_MAX ? args->num_partitions : 1);
}

TW_API(parallel_stack, "parallel_stack(values: tensors, name: str = parallel_stack) -> tensor",
       "Stacks tensors of one shape, which must be known, along a new first axis.\n"
       "values: tensors of one shape and dtype")
{
    TW_TEMPS(t);
    if (!tw__tracing) {
        tw__fail(TW_RUNTIME_ERROR, "tf.parallel_stack() is not compatible with eager execution.");
        return NULL;
    }
    if (!args->values.count) {
        tw__fail(TW_VALUE_ERROR, "parallel_stack: no values");
        return NULL;
    }
    tw_shape shape = args->values.items[0]->shape;
    if (!tw__shape_known(&shape) || shape.rank >= TW_MAX_RANK) {
        tw__fail(TW_VALUE_ERROR, "parallel_stack: the shape of the values is %s; it must be known, with less than %d dimensions",
                 tw__shape_text(&shape), TW_MAX_RANK);
        return NULL;
    }
    memmove(shape.dims + 1, shape.dims, (size_t)shape.rank++ * sizeof *shape.dims);
    tw__owned tw_tensor **rows = tw__alloc_array((size_t)args->values.count, sizeof *rows);
    for (int64_t i = 0; rows && i < args->values.count; i++) {
        if (!(rows[i] = TW_TEMP(ExpandDims, args->values.items[i], 0)))
            return NULL;
    }
    shape.dims[0] = args->values.count;
    return rows ? tw__call(&tw__op_ParallelConcat, rows, (int)args->values.count, TW_WITH(TW_A_SHAPE("shape", &shape)), 1) : NULL;
}

TW_API(fingerprint, "fingerprint(data: tensor, method: str = farmhash64, name: str = None) -> tensor",
       "Eight bytes for each row that tell it from others.\n"
       "data: a tensor whose first dimension is that of the rows\n"
       "method: `farmhash64`, the only one\n"
       "returns: bytes (uint8) of the shape [rows, 8]")
{
    tw_auto tw_tensor *method = tw_tensor_string(args->method, strlen(args->method));
    return TW_CALL(Fingerprint, args->data, method);
}

TW_API(timestamp, "timestamp(name: str = None) -> tensor", "The seconds since 1970; of a function, those when it runs.")
{
    return tw__call(&tw__op_Timestamp, NULL, 0, NULL, 0);
}

TW_API(broadcast_static_shape, "broadcast_static_shape(shape_x: shape, shape_y: shape) -> shape",
       "The shape that two shapes broadcast to, as far as they are known.\n"
       "shape_x: a shape\n"
       "shape_y: another one\n"
       "raises: ValueError: the shapes can't be broadcast\n"
       "example: tf.broadcast_static_shape(tf.TensorShape([3, 1]), tf.TensorShape([1, 4]))  # TensorShape([3, 4])")
{
    tw_shape out = TW_UNKNOWN_SHAPE;
    if (!tw__shape_broadcast(&args->shape_x, &args->shape_y, &out)) {
        tw__owned char *x = tw__shape_tuple(&args->shape_x), *y = tw__shape_tuple(&args->shape_y);
        tw__fail(TW_VALUE_ERROR,
                 "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either "
                 "equal or one of them is 1. Received: %s and %s.",
                 x ? x : "", y ? y : "");
    }
    return out;
}

/* ---- histograms ---- */

TW_API(
    histogram_fixed_width,
    "histogram_fixed_width(values: tensor<T>, value_range: tensor<T>, nbins: tensor<int32> = None shown 100, dtype: dtype = int32, name: str = None) -> tensor",
    "How many values lie in each of `nbins` bins of equal width; the first and the last take those outside.\n"
    "values: the numbers\n"
    "value_range: the lower end of the first bin and the upper end of the last\n"
    "nbins: how many bins there are")
{
    tw_auto tw_tensor *hundred = tw_tensor_int(100);
    tw_tensor *nbins = args->nbins ? args->nbins : hundred;
    return TW_CALL(HistogramFixedWidth, args->values, args->value_range, nbins, TW_A_TYPE("dtype", args->dtype));
}

TW_API(histogram_fixed_width_bins,
       "histogram_fixed_width_bins(values: tensor<T>, value_range: tensor<T>, nbins: int = "
       "100, dtype: dtype = int32, name: str = None) -> tensor",
       "In which of `nbins` bins of equal width each value lies.\n"
       "values: the numbers\n"
       "value_range: the lower end of the first bin and the upper end of the last\n"
       "nbins: how many bins there are")
{
    TW_TEMPS(t);
    if (args->nbins < 1 || args->nbins > INT32_MAX) {
        tw__fail(TW_INVALID_ARGUMENT, "nbins should be a positive number, but got %lld", (long long)args->nbins);
        return NULL;
    }
    tw_tensor *low = tw__temp_at(t, args->value_range, 0), *high = tw__temp_at(t, args->value_range, 1);
    tw_dtype dtype = args->values->dtype;
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_INVALID_ARGUMENT, "histogram_fixed_width_bins: values of dtype %s, expected floats", tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *scaled = TW_TEMP(RealDiv, TW_TEMP(Sub, args->values, low), TW_TEMP(Sub, high, low));
    tw_tensor *places = TW_TEMP(Floor, TW_TEMP(Mul, (double)args->nbins, scaled));
    places = TW_TEMP(Minimum, TW_TEMP(Maximum, places, 0.0), (double)(args->nbins - 1));
    return places ? tw__cast(places, args->dtype) : NULL;
}
