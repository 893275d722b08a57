/* Functions of tf.math, tf.linalg and tf.nn that are a few ops each. */
#include "device/device.h"
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "op/calls.h"
#include "rows.h"

TW_API(
    math_l2_normalize,
    "math.l2_normalize|linalg.l2_normalize|nn.l2_normalize(x: tensor, axis: ints = None, epsilon: float = 1e-12, name: str = None, "
    "dim: ints = None) -> tensor",
    "x divided by its Euclidean norm over axes; a norm below the root of epsilon counts as that.\n"
    "dim: an old name of `axis`\n"
    "example: tf.math.l2_normalize([3.0, 4.0]).numpy().round(4).tolist()  # [0.6000000238418579, 0.800000011920929]\n"
    "axis: the dimensions that the norm is computed over; None: all of them")
{
    TW_TEMPS(t);
    if (args->axis.given && args->dim.given) {
        tw__fail(TW_VALUE_ERROR, "Cannot specify both 'axis' and 'dim'.");
        return NULL;
    }
    bool wide = tw__dtype_is_complex(args->x->dtype);
    tw_auto tw_tensor *squares = TW_CALL(Square, wide ? tw__temp(t, tw_abs(args->x)) : args->x);
    tw_auto tw_tensor *sum = tw__reduce_axes(&tw__op_Sum, squares, args->dim.given ? args->dim : args->axis, true);
    tw_tensor *inverse = TW_TEMP(Rsqrt, TW_TEMP(Maximum, sum, sum ? tw__temp(t, tw__grad_constant(args->epsilon, sum)) : NULL));
    if (!wide)
        return TW_CALL(Mul, args->x, inverse);
    tw_attr real = TW_A_TYPE("Tout", args->x->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64);
    return TW_CALL(Complex, TW_TEMP(Mul, TW_TEMP(Real, args->x, real), inverse),
                   TW_TEMP(Mul, TW_TEMP(Imag, args->x, real), inverse), TW_A_TYPE("Tout", args->x->dtype));
}

static tw_tensor *cast_to(tw_tensor *x, tw_dtype dtype)
{
    return TW_CALL(Cast, x, TW_A_TYPE("DstT", dtype));
}

/* Whether elements differ from zero; texts from the empty one. */
static tw_tensor *not_zero(tw_tensor *x)
{
    tw_auto tw_tensor *zero = tw_tensor_new(x->dtype, TW_SCALAR, NULL);
    return TW_CALL(NotEqual, x, zero);
}

TW_API(
    math_count_nonzero,
    "math.count_nonzero(input: tensor, axis: ints = None, keepdims: bool = False shown None, dtype: dtype = int64, name: str = None) -> tensor",
    "How many elements over axes are not zero; texts that are not empty.\n"
    "input: numbers, booleans or texts\n"
    "example: tf.math.count_nonzero([0, 3, 0, 7]).numpy()  # 2")
{
    tw_auto tw_tensor *mask = not_zero(args->input);
    tw_auto tw_tensor *ones = cast_to(mask, TW_INT64);
    tw_auto tw_tensor *count = tw__reduce_axes(&tw__op_Sum, ones, args->axis, args->keepdims);
    return !count || args->dtype == TW_INT64 ? tw_retain(count) : cast_to(count, args->dtype);
}

TW_API(math_zero_fraction, "math.zero_fraction|nn.zero_fraction(value: tensor, name: str = None) -> tensor",
       "The part of the elements that is zero.\n"
       "value: numbers\n"
       "example: tf.math.zero_fraction([0, 1, 0, 0]).numpy()  # 0.75")
{
    TW_TEMPS(t);
    tw_auto tw_tensor *mask = not_zero(args->value);
    tw_auto tw_tensor *ones = cast_to(mask, TW_INT64);
    tw_auto tw_tensor *count = tw__reduce_axes(&tw__op_Sum, ones, (tw_ints){ 0 }, false);
    tw_auto tw_tensor *size = count ? TW_CALL(Size, args->value, TW_A_TYPE("out_type", TW_INT64)) : NULL;
    tw_auto tw_tensor *zeros = TW_CALL(Sub, size, count);
    return TW_CALL(RealDiv, tw__temp(t, cast_to(zeros, TW_FLOAT32)), tw__temp(t, cast_to(size, TW_FLOAT32)));
}

TW_API(linalg_trace, "linalg.trace|compat.v1.trace(x: tensor, name: str = None) -> tensor",
       "The sum of the diagonal of each matrix.")
{
    tw_auto tw_tensor *diagonal = tw_linalg_diag_part(args->x);
    return tw__reduce_axes(&tw__op_Sum, diagonal, TW_INTS(-1), false);
}

TW_API(linalg_adjoint, "linalg.adjoint(matrix: tensor, name: str = None) -> tensor", "Each matrix transposed and conjugated.")
{
    return tw_linalg_matrix_transpose(args->matrix, .conjugate = true);
}

TW_API(
    linalg_normalize,
    "linalg.normalize(tensor: tensor, ord: value = None shown 'euclidean', axis: ints = None, name: str = None) -> tensors<tuple>",
    "The tensor divided by its norm over axes, and the norm.\n"
    "tensor: a tensor\n"
    "ord: which norm, as for `tf.norm`; None: `euclidean`\n"
    "returns: the tensor that is scaled, and the norm")
{
    tw_auto tw_tensor *norm = tw_norm(args->tensor, .ord = args->ord, .axis = args->axis, .keepdims = true);
    tw_auto tw_tensor *scaled = TW_CALL(RealDiv, args->tensor, norm);
    tw_tensors result = { scaled ? tw__alloc_array(2, sizeof(tw_tensor *)) : NULL, 2 };
    if (!result.items)
        return (tw_tensors){ 0 };
    result.items[0] = tw_retain(scaled);
    result.items[1] = tw_retain(norm);
    return result;
}

/* ---- neighbours in order ---- */

/* As TensorFlow, by the differences: those of unsigned integers are never below 0, that of two infinities is NaN. */
static tw_tensor *each_follows(tw_tensor *x, const tw_op *compare)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *flat = TW_CALL(Reshape, x, tw__temp_ints(t, (const int64_t[]){ -1 }, 1, TW_INT32));
    tw_auto tw_tensor *size = TW_CALL(Size, flat);
    tw_auto tw_tensor *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32),
                      *zero = tw__ints_tensor((const int64_t[]){ 0 }, 1, TW_INT32);
    tw_auto tw_tensor *fewer = TW_CALL(Maximum, TW_TEMP(Sub, TW_TEMP(Reshape, size, one), one), zero);
    tw_auto tw_tensor *first = TW_CALL(Slice, flat, zero, fewer);
    tw_auto tw_tensor *start = TW_CALL(Minimum, one, fewer);
    tw_auto tw_tensor *next = TW_CALL(Slice, flat, start, fewer);
    tw_auto tw_tensor *step = TW_CALL(Sub, next, first), *nothing = step ? TW_CALL(ZerosLike, step) : NULL;
    tw_auto tw_tensor *good = nothing ? tw__call(compare, TW_IN(nothing, step), 2, NULL, 0) : NULL;
    return tw__reduce_axes(&tw__op_All, good, (tw_ints){ 0 }, false);
}

TW_API(math_is_non_decreasing, "math.is_non_decreasing|compat.v1.is_non_decreasing(x: tensor, name: str = None) -> tensor",
       "Whether no element is less than the one before it.")
{
    return each_follows(args->x, &tw__op_LessEqual);
}

TW_API(math_is_strictly_increasing,
       "math.is_strictly_increasing|compat.v1.is_strictly_increasing(x: tensor, name: str = None) -> tensor",
       "Whether every element is greater than the one before it.")
{
    return each_follows(args->x, &tw__op_Less);
}

TW_API(math_polyval, "math.polyval(coeffs: tensors<T>, x: tensor<T>, name: str = None) -> tensor",
       "The polynomial with these coefficients, the highest first, at x.\n"
       "coeffs: a list of the coefficients, the highest first\n"
       "example: tf.math.polyval([1.0, 2.0, 3.0], 2.0).numpy()  # 11.0")
{
    TW_TEMPS(t);
    tw_tensor *sum = args->coeffs.count ? tw_retain(args->coeffs.items[0]) : TW_CALL(ZerosLike, args->x);
    for (int64_t i = 1; sum && i < args->coeffs.count; i++)
        sum = TW_CALL(AddV2, args->coeffs.items[i], TW_TEMP(Mul, tw__temp(t, sum), args->x));
    return sum;
}

/* ---- segments ---- */

static tw_tensor *segment_counts(tw_tensor *data, tw_tensor *ids, tw_tensor *segments)
{
    tw_auto tw_tensor *ones = TW_CALL(OnesLike, data);
    tw_auto tw_tensor *count = TW_CALL(UnsortedSegmentSum, ones, ids, segments);
    return TW_CALL(Maximum, count, 1.0);
}

TW_API(
    math_unsorted_segment_mean,
    "math.unsorted_segment_mean|compat.v1.unsorted_segment_mean(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, name: str = None) -> tensor",
    "Means of the rows of each segment.\n"
    "data: the rows\n"
    "segment_ids: for each row the number of its segment, in any order; rows with a negative one do not count")
{
    tw_auto tw_tensor *count = segment_counts(args->data, args->segment_ids, args->num_segments);
    tw_auto tw_tensor *sum = count ? tw_math_unsorted_segment_sum(args->data, args->segment_ids, args->num_segments) : NULL;
    return TW_CALL(RealDiv, sum, count);
}

TW_API(
    math_unsorted_segment_sqrt_n,
    "math.unsorted_segment_sqrt_n|compat.v1.unsorted_segment_sqrt_n(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, name: str = None) -> tensor",
    "Sums of the rows of each segment, divided by the root of their number.\n"
    "data: the rows\n"
    "segment_ids: for each row the number of its segment, in any order; rows with a negative one do not count")
{
    TW_TEMPS(t);
    tw_auto tw_tensor *count = segment_counts(args->data, args->segment_ids, args->num_segments);
    tw_auto tw_tensor *sum = count ? tw_math_unsorted_segment_sum(args->data, args->segment_ids, args->num_segments) : NULL;
    return TW_CALL(RealDiv, sum, TW_TEMP(Sqrt, count));
}

/* ---- tf.nn ---- */

TW_API(nn_crelu, "nn.crelu(features: tensor, axis: int = -1, name: str = None) -> tensor",
       "relu of the features and of their negatives, one behind the other.\n"
       "axis: the dimension that the negative parts are joined along\n"
       "example: tf.nn.crelu([-1.0, 2.0]).numpy().tolist()  # [0.0, 2.0, 1.0, 0.0]")
{
    tw_auto tw_tensor *negative = TW_CALL(Neg, args->features);
    tw_auto tw_tensor *both = TW_CALL(ConcatV2, args->features, negative, (int)((int32_t)args->axis), TW_A_INT("N", 2));
    return TW_CALL(Relu, both);
}

TW_API(
    nn_weighted_cross_entropy_with_logits,
    "nn.weighted_cross_entropy_with_logits(labels: tensor<T>, logits: tensor<T>, pos_weight: tensor<T>, name: str = None) -> tensor",
    "The cross-entropy of sigmoid(logits) with the labels, positive ones weighted.\n"
    "labels: numbers from 0 to 1\n"
    "pos_weight: the factor of the loss of positive labels; above 1 fewer are missed")
{
    TW_TEMPS(t);
    tw_tensor *x = args->logits, *z = args->labels;
    if (!tw__shape_compatible(&x->shape, &z->shape)) {
        char *logits = tw__shape_tuple(&x->shape), *labels = tw__shape_tuple(&z->shape);
        tw__fail(TW_VALUE_ERROR, "`logits` and `labels` must have the same shape, received (%s vs %s).", logits ? logits : "",
                 labels ? labels : "");
        tw__free(logits);
        tw__free(labels);
        return NULL;
    }
    /* (1 - z) x + (1 + (q - 1) z) (log(1 + exp(-|x|)) + max(-x, 0)) */
    tw_tensor *rest = TW_TEMP(AddV2, TW_TEMP(Log1p, TW_TEMP(Exp, TW_TEMP(Neg, TW_TEMP(Abs, x)))), TW_TEMP(Relu, TW_TEMP(Neg, x)));
    tw_tensor *weight = TW_TEMP(AddV2, 1.0, TW_TEMP(Mul, TW_TEMP(Sub, args->pos_weight, 1.0), z));
    return TW_CALL(AddV2, TW_TEMP(Mul, TW_TEMP(Sub, 1.0, z), x), TW_TEMP(Mul, weight, rest));
}

TW_API(
    nn_log_poisson_loss,
    "nn.log_poisson_loss(targets: tensor<T>, log_input: tensor<T>, compute_full_loss: bool = False, name: str = None) -> tensor",
    "exp(log_input) - log_input * targets; in full with Stirling's term.\n"
    "targets: the counts\n"
    "log_input: the logarithms of the predicted means\n"
    "compute_full_loss: True: add an approximation of log(targets!)")
{
    TW_TEMPS(t);
    tw_tensor *z = args->targets, *c = args->log_input;
    tw_tensor *loss = TW_CALL(Sub, TW_TEMP(Exp, c), TW_TEMP(Mul, c, z));
    if (!loss || !args->compute_full_loss)
        return loss;
    tw_auto tw_tensor *one = tw__grad_constant(1, z), *zeros = TW_CALL(ZerosLike, z);
    tw_tensor *stirling = TW_TEMP(AddV2, TW_TEMP(Sub, TW_TEMP(Mul, z, TW_TEMP(Log, z)), z),
                                  TW_TEMP(Mul, 0.5, TW_TEMP(Log, TW_TEMP(Mul, (double)(2 * 3.14159265358979323846), z))));
    tw_tensor *inside = TW_TEMP(LogicalAnd, TW_TEMP(GreaterEqual, z, zeros), TW_TEMP(LessEqual, z, one));
    return TW_CALL(AddV2, tw__temp(t, loss), TW_TEMP(SelectV2, inside, zeros, stirling));
}

TW_API(nn_scale_regularization_loss, "nn.scale_regularization_loss(regularization_loss: tensor) -> tensor",
       "The sum of the losses, divided by the number of a strategy's replicas.\n"
       "regularization_loss: the losses")
{
    TW_TEMPS(t);
    tw_tensor *sum = tw__reduce_axes(&tw__op_Sum, args->regularization_loss, (tw_ints){ 0 }, false);
    return sum && tw__replicas > 1 ? TW_CALL(RealDiv, tw__temp(t, sum), (double)tw__replicas) : sum;
}

TW_API(
    nn_compute_average_loss,
    "nn.compute_average_loss(per_example_loss: tensor<T>, sample_weight: tensor<T> = None, global_batch_size: int = None) -> tensor",
    "The sum of the losses, weighted if weights are given, divided by the size of the batch of all replicas.\n"
    "per_example_loss: a loss for each sample\n"
    "global_batch_size: the size of the batch of all replicas; None: that of the losses times the number of replicas\n"
    "example: tf.nn.compute_average_loss([1.0, 3.0]).numpy()  # 2.0")
{
    TW_TEMPS(t);
    tw_tensor *loss = args->per_example_loss;
    if (loss->shape.rank == 0) {
        tw__fail(TW_VALUE_ERROR, "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1.");
        return NULL;
    }
    tw_tensor *weighted = args->sample_weight ? TW_CALL(Mul, loss, args->sample_weight) : tw_retain(loss);
    tw_auto tw_tensor *kept = weighted;
    tw_tensor *sum = tw__reduce_axes(&tw__op_Sum, kept, (tw_ints){ 0 }, false);
    if (args->global_batch_size != TW_NO_INT)
        return TW_CALL(RealDiv, tw__temp(t, sum), (double)args->global_batch_size);
    tw_auto tw_tensor *shape = TW_CALL(Shape, loss), *zero = tw_tensor_int(0);
    tw_auto tw_tensor *rows = TW_CALL(GatherV2, shape, zero, zero);
    tw_tensor *size = cast_to(rows, loss->dtype);
    return TW_CALL(RealDiv, tw__temp(t, sum),
                   tw__replicas > 1 ? TW_TEMP(Mul, (double)tw__replicas, tw__temp(t, size)) : tw__temp(t, size));
}
