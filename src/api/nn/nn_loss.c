/* tf.nn's cross-entropies for logits of any rank: the ops take matrices, so leading dimensions are joined and given back; half
 * and bfloat16 are computed as float. */
#include "api/later.h"
#include "api/nn/nn.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *as_dtype(tw_tensor *x, tw_dtype dtype)
{
    return x->dtype == dtype ? tw_retain(x) : TW_CALL(Cast, x, TW_A_TYPE("DstT", dtype));
}

static tw_dtype precise(tw_dtype dtype)
{
    return dtype == TW_FLOAT16 || dtype == TW_BFLOAT16 ? TW_FLOAT32 : dtype;
}

static tw_tensor *reshaped(tw_tensor *x, const tw_shape *shape)
{
    tw_auto tw_tensor *dims = tw__tensor_of_shape(shape, TW_INT64);
    return TW_CALL(Reshape, x, dims);
}

/* [leading, last] of any shape of rank 1 and up. */
static tw_tensor *as_matrix(tw_tensor *x)
{
    if (x->shape.rank == 2)
        return tw_retain(x);
    if (!tw__shape_known(&x->shape)) {
        int64_t last = x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : -1;
        tw_auto tw_tensor *any = tw__ints_tensor(&(int64_t){ -1 }, 1, TW_INT64);
        tw_auto tw_tensor *columns = last > 0 ? tw__ints_tensor(&last, 1, TW_INT64) : tw__sizes_later(x, -1, 0);
        return tw__reshape_to(tw_retain(x), TW_IN(any, columns), 2);
    }
    int64_t columns = x->shape.dims[x->shape.rank - 1], rows = 1;
    for (int i = 0; i < x->shape.rank - 1; i++)
        rows *= x->shape.dims[i];
    return reshaped(x, &TW_SHAPE(rows, columns));
}

/* The op's first output; the second is only for its gradient. */
static tw_tensor *loss_of(const tw_op *op, tw_tensor *logits, tw_tensor *labels)
{
    tw_tensor *outputs[2] = { NULL, NULL };
    int count = 2;
    if (!logits || !labels || tw__apply(op, TW_IN(logits, labels), 2, NULL, 0, outputs, &count) != TW_OK)
        return NULL;
    tw_release(outputs[1]);
    return outputs[0];
}

/* The loss [rows] in the logits' dtype and their leading dimensions. */
static tw_tensor *finished(tw_tensor *loss, tw_tensor *logits)
{
    TW_TEMPS(t);
    tw_shape leading = logits->shape;
    leading.rank--;
    bool known = leading.rank >= 0 && tw__shape_known(&leading);
    tw_auto tw_tensor *shaped = !loss || leading.rank == 1 ? tw_retain(loss)
                                : known                    ? reshaped(loss, &leading)
                                                           : TW_CALL(Reshape, loss, tw__temp(t, tw__sizes_later(logits, 0, -1)));
    return shaped ? as_dtype(shaped, logits->dtype) : NULL;
}

static tw_status check_sparse(const tw_tensor *labels, const tw_tensor *logits)
{
    if (logits->shape.rank == 0)
        return tw__fail(TW_VALUE_ERROR, "`logits` cannot be a scalar. Received logits of shape ()");
    tw_shape leading = logits->shape;
    leading.rank -= leading.rank >= 0;
    if (tw__shape_compatible(&labels->shape, &leading))
        return TW_OK;
    char *label_text = tw__shape_tuple(&labels->shape), *logit_text = tw__shape_tuple(&logits->shape);
    const char *own = label_text ? label_text : "", *other = logit_text ? logit_text : "";
    if (labels->shape.rank != leading.rank)
        tw__fail(
            TW_VALUE_ERROR,
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=%s of rank %d and logits.shape=%s of rank %d",
            own, labels->shape.rank, other, logits->shape.rank);
    else
        tw__fail(
            TW_VALUE_ERROR,
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape=%s and logits.shape=%s",
            own, other);
    tw__free(label_text);
    tw__free(logit_text);
    return TW_VALUE_ERROR;
}

tw_tensor *tw__sparse_cross_entropy_of(tw_tensor *labels, tw_tensor *logits)
{
    if (check_sparse(labels, logits) != TW_OK)
        return NULL;
    if (logits->shape.rank == 2 && logits->dtype == precise(logits->dtype))
        return loss_of(&tw__op_SparseSoftmaxCrossEntropyWithLogits, logits, labels);
    tw_auto tw_tensor *wide = as_dtype(logits, precise(logits->dtype));
    tw_auto tw_tensor *matrix = wide ? as_matrix(wide) : NULL;
    tw_auto tw_tensor *row = labels->shape.rank == 1
                                 ? tw_retain(labels)
                                 : reshaped(labels, &TW_SHAPE(tw__shape_known(&labels->shape) ? labels->count : -1));
    tw_auto tw_tensor *loss = loss_of(&tw__op_SparseSoftmaxCrossEntropyWithLogits, matrix, row);
    return finished(loss, logits);
}

TW_API(nn_sparse_softmax_cross_entropy_with_logits,
       "nn.sparse_softmax_cross_entropy_with_logits(labels: tensor, logits: tensor, name: str = None) -> tensor",
       "The cross-entropy of softmax(logits) along the last dimension, where each label is the number of the right class.")
{
    return tw__sparse_cross_entropy_of(args->labels, args->logits);
}

/* Along an axis of logits whose rank is known only when the graph runs. It changes places with the last one, and its rest, of
 * size one, goes back there before it falls away. */
static tw_tensor *cross_entropy_later(tw_tensor *labels, tw_tensor *logits, int64_t axis)
{
    tw_auto tw_tensor *turned = tw__swap_axes_later(logits, axis, -1), *turned_labels = tw__swap_axes_later(labels, axis, -1);
    tw_auto tw_tensor *loss = turned && turned_labels ? tw__cross_entropy_of(turned_labels, turned, -1) : NULL;
    tw_auto tw_tensor *rest = TW_CALL(ExpandDims, loss, -1);
    tw_auto tw_tensor *back = rest ? tw__swap_axes_later(rest, axis, -1) : NULL;
    return TW_CALL(Squeeze, back, TW_A_INTS("squeeze_dims", &axis, 1));
}

tw_tensor *tw__cross_entropy_of(tw_tensor *labels, tw_tensor *logits, int64_t axis)
{
    int last = logits->shape.rank - 1, normal = last;
    bool ranked = logits->shape.rank >= 0;
    if (!ranked && axis != -1)
        return cross_entropy_later(labels, logits, axis);
    if (ranked && !tw__axis_normal(axis, logits->shape.rank, &normal)) {
        tw__fail(TW_INVALID_ARGUMENT, "`axis` must be in the range [%d, %d). Received: axis=%lld", -last - 1, last + 1,
                 (long long)axis);
        return NULL;
    }
    tw_auto tw_tensor *wide = as_dtype(logits, precise(logits->dtype));
    tw_auto tw_tensor *wide_labels = as_dtype(labels, precise(logits->dtype));
    if (!wide || !wide_labels)
        return NULL;
    if (logits->shape.rank == 2 && normal == last) { /* the op broadcasts the labels */
        tw_auto tw_tensor *loss = loss_of(&tw__op_SoftmaxCrossEntropyWithLogits, wide, wide_labels);
        return loss ? as_dtype(loss, logits->dtype) : NULL;
    }
    if (!tw__shape_compatible(&logits->shape, &labels->shape)) {
        tw__fail(TW_INVALID_ARGUMENT, "logits and labels must be broadcastable: logits_size=%s labels_size=%s",
                 tw__shape_text(&logits->shape), tw__shape_text(&labels->shape));
        return NULL;
    }
    tw_auto tw_tensor *turned = normal == last ? tw_retain(wide) : tw__swap_with_last(wide, normal);
    tw_auto tw_tensor *turned_labels = normal == last ? tw_retain(wide_labels) : tw__swap_with_last(wide_labels, normal);
    tw_auto tw_tensor *matrix = turned ? as_matrix(turned) : NULL;
    tw_auto tw_tensor *label_matrix = turned_labels ? as_matrix(turned_labels) : NULL;
    tw_auto tw_tensor *loss = loss_of(&tw__op_SoftmaxCrossEntropyWithLogits, matrix, label_matrix);
    if (!loss)
        return NULL;
    /* The axis falls away; those behind it move up. */
    tw_auto tw_tensor *back = finished(loss, turned);
    if (back && normal < last) { /* the last dimension stood in the axis's place */
        int64_t order[TW_MAX_RANK];
        for (int i = 0; i < last; i++)
            order[i] = i < normal ? i : i < last - 1 ? i + 1 : normal;
        tw_auto tw_tensor *permutation = tw__ints_tensor(order, last, TW_INT32);
        tw_auto tw_tensor *result = TW_CALL(Transpose, back, permutation);
        return result ? as_dtype(result, logits->dtype) : NULL;
    }
    return back ? as_dtype(back, logits->dtype) : NULL;
}

TW_API(nn_softmax_cross_entropy_with_logits,
       "nn.softmax_cross_entropy_with_logits(labels: tensor, logits: tensor, axis: int = -1, name: str = None) -> tensor",
       "The cross-entropy of softmax(logits) with the labels' probabilities along an axis.")
{
    return tw__cross_entropy_of(args->labels, args->logits, args->axis);
}

/* max(x, 0) - x * z + log(1 + exp(-abs(x))), with TensorFlow's way of writing max and abs, which decides the gradient at 0. */
tw_tensor *tw__sigmoid_cross_entropy_of(tw_tensor *labels, tw_tensor *logits)
{
    if (!tw__shape_compatible(&labels->shape, &logits->shape)) {
        char *own = tw__shape_tuple(&logits->shape), *other = tw__shape_tuple(&labels->shape);
        tw__fail(TW_VALUE_ERROR, "`logits` and `labels` must have the same shape, received (%s vs %s).", own ? own : "",
                 other ? other : "");
        tw__free(own);
        tw__free(other);
        return NULL;
    }
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, logits);
    tw_auto tw_tensor *positive = TW_CALL(GreaterEqual, logits, zeros);
    tw_auto tw_tensor *minus = TW_CALL(Neg, logits);
    tw_auto tw_tensor *relu = TW_CALL(SelectV2, positive, logits, zeros);
    tw_auto tw_tensor *away = TW_CALL(SelectV2, positive, minus, logits);
    tw_auto tw_tensor *product = TW_CALL(Mul, logits, labels);
    tw_auto tw_tensor *difference = TW_CALL(Sub, relu, product);
    tw_auto tw_tensor *exponential = TW_CALL(Exp, away);
    tw_auto tw_tensor *logarithm = TW_CALL(Log1p, exponential);
    return TW_CALL(AddV2, difference, logarithm);
}

TW_API(
    nn_sigmoid_cross_entropy_with_logits,
    "nn.sigmoid_cross_entropy_with_logits(labels: tensor<T>|ragged = None, logits: tensor<T>|ragged = None, name: str = None) -> tensor",
    "The cross-entropy of sigmoid(logits) with the labels, element by element.")
{
    if (!args->labels || !args->logits) {
        tw__fail(TW_VALUE_ERROR, "Both `labels` and `logits` must be provided for sigmoid_cross_entropy_with_logits");
        return NULL;
    }
    return tw__sigmoid_cross_entropy_of(args->labels, args->logits);
}
