/* Losses as functions of labels and predictions, with Keras's arithmetic. Each gives one value per example: the last axis is
 * gone.
 *
 * Predictions are probabilities unless from_logits says otherwise. Those that a Keras softmax or sigmoid made still carry what
 * went into it, and so do those that any softmax or sigmoid made in a graph; then the loss is computed from that, which is exact
 * where probabilities have run into 0 or 1. */
#include "api/nn/nn.h"
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

/* Between epsilon and 1 - epsilon, so that the logarithm is finite. */
tw_tensor *tw__clip_probabilities(tw_tensor *p)
{
    double epsilon = tw__keras_epsilon();
    double high = p->dtype == TW_FLOAT64 ? 1 - epsilon : (double)(1.0f - (float)epsilon);
    tw_tensor *low = tw__float_scalar(p->dtype, epsilon), *limit = tw__float_scalar(p->dtype, high);
    tw_tensor *clipped = TW_CALL(ClipByValue, p, low, limit);
    tw_release(low);
    tw_release(limit);
    return clipped;
}

static tw_tensor *clipped_log(tw_tensor *p)
{
    tw_tensor *clipped = tw__clip_probabilities(p);
    tw_tensor *log = clipped ? TW_CALL(Log, clipped) : NULL;
    tw_release(clipped);
    return log;
}

static tw_tensor *need_float(tw_tensor *y_pred, const char *function)
{
    if (tw__dtype_is_float(y_pred->dtype))
        return y_pred;
    tw__fail(TW_TYPE_ERROR, "%s: y_pred has dtype %s, expected a float", function, tw_dtype_name(y_pred->dtype));
    return NULL;
}

/* The logits: given, remembered, or the logarithm of the clipped probabilities. A new reference. */
static tw_tensor *logits_from(tw_tensor *y_pred, bool from_logits)
{
    tw_tensor *kept = tw__logits_of(y_pred, &tw__op_Softmax);
    if (kept)
        return tw_retain(kept);
    return from_logits ? tw_retain(y_pred) : clipped_log(y_pred);
}

/* ---- sparse categorical ---- */

/* The class axis goes last. */
static tw_tensor *move_last(tw_tensor *x, int64_t axis)
{
    int rank = x->shape.rank;
    int32_t order[TW_MAX_RANK];
    for (int i = 0, k = 0; i < rank; i++) {
        if (i != axis)
            order[k++] = i;
    }
    order[rank - 1] = (int32_t)axis;
    tw_tensor *permutation = tw_tensor_new(TW_INT32, TW_SHAPE(rank), order);
    tw_tensor *output = TW_CALL(Transpose, x, permutation);
    tw_release(permutation);
    return output;
}

/* One loss per label; labels [n], logits [n, classes], or with more leading axes. Labels of another rank are taken one after the
 * other. */
static tw_tensor *sparse_losses(tw_tensor *labels, tw_tensor *logits)
{
    int rank = logits->shape.rank;
    if (rank < 0 || labels->shape.rank < 0 || labels->shape.rank == rank - 1)
        return tw__sparse_cross_entropy_of(labels, logits);
    tw_auto tw_tensor *rows = tw__ints_tensor(&(int64_t){ -1 }, 1, TW_INT64);
    tw_auto tw_tensor *columns = logits->shape.dims[rank - 1] >= 0 ? tw__ints_tensor(&logits->shape.dims[rank - 1], 1, TW_INT64)
                                                                   : tw__sizes_later(logits, -1, 0);
    tw_auto tw_tensor *matrix = columns ? tw__reshape_to(tw_retain(logits), TW_IN(rows, columns), 2) : NULL;
    tw_auto tw_tensor *vector = matrix ? tw__reshape(labels, &TW_SHAPE(-1)) : NULL;
    tw_auto tw_tensor *losses = vector ? tw__sparse_cross_entropy_of(vector, matrix) : NULL;
    return losses && rank > 2 ? tw__reshape_leading(losses, logits, -1) : tw_retain(losses);
}

/* Examples of the class that does not count have loss 0, whatever their logits are, and a mask goes along that says which do. */
static tw_tensor *sparse_ignoring(tw_tensor *labels, tw_tensor *logits, int64_t ignored)
{
    tw_tensor *wide = tw__cast(labels, TW_INT64), *class_number = tw_tensor_int64(ignored), *zero = tw_tensor_int64(0);
    tw_tensor *counts = TW_CALL(NotEqual, wide, class_number);
    tw_tensor *safe = TW_CALL(SelectV2, counts, wide, zero);
    tw_tensor *losses = safe ? sparse_losses(safe, logits) : NULL;
    tw_tensor *none = losses ? tw__float_scalar(losses->dtype, 0) : NULL;
    tw_tensor *mask = losses ? tw__reshape_like(tw_retain(counts), losses) : NULL;
    tw_tensor *output = none && mask ? TW_CALL(SelectV2, mask, losses, none) : NULL;
    if (output && tw__mask_set(output, mask) != TW_OK) {
        tw_release(output);
        output = NULL;
    }
    void *made[] = { wide, class_number, zero, counts, safe, losses, none, mask };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        tw_release(made[i]);
    return output;
}

TW_API(
    sparse_categorical_crossentropy,
    "keras.losses.sparse_categorical_crossentropy|keras.metrics.sparse_categorical_crossentropy(y_true: tensor, y_pred: tensor, "
    "from_logits: bool = False, axis: int = -1, ignore_class: int = None) -> tensor",
    "Cross-entropy of predicted distributions with classes given by number.")
{
    tw_tensor *y_pred = need_float(args->y_pred, "sparse_categorical_crossentropy");
    int rank = args->y_pred->shape.rank;
    int64_t axis = args->axis < 0 ? args->axis + rank : args->axis;
    if (!y_pred)
        return NULL;
    if (rank < 0 ? args->axis != -1 : axis < 0 || axis >= rank) {
        tw__fail(TW_VALUE_ERROR, "sparse_categorical_crossentropy: axis=%lld, y_pred has shape %s", (long long)args->axis,
                 tw__shape_text(&args->y_pred->shape));
        return NULL;
    }
    tw_dtype labels_dtype = args->y_true->dtype == TW_INT32 ? TW_INT32 : TW_INT64;
    tw_tensor *labels = tw__cast(args->y_true, labels_dtype);
    tw_tensor *logits = labels ? logits_from(y_pred, args->from_logits) : NULL;
    if (logits && rank >= 0 && axis != rank - 1) {
        tw_tensor *moved = move_last(logits, axis);
        tw_release(logits);
        logits = moved;
    }
    tw_tensor *losses = !logits                           ? NULL
                        : args->ignore_class == TW_NO_INT ? sparse_losses(labels, logits)
                                                          : sparse_ignoring(labels, logits, args->ignore_class);
    tw_release(labels);
    tw_release(logits);
    return losses;
}

/* ---- categorical and binary ---- */

/* y_true · (1 - smoothing) + extra */
tw_tensor *tw__smooth_labels(tw_tensor *y_true, double smoothing, double extra)
{
    if (smoothing == 0)
        return tw_retain(y_true);
    tw_auto tw_tensor *factor = tw__float_scalar(y_true->dtype, 1 - smoothing), *shift = tw__float_scalar(y_true->dtype, extra);
    tw_auto tw_tensor *scaled = factor && shift ? TW_CALL(Mul, y_true, factor) : NULL;
    return scaled ? TW_CALL(AddV2, scaled, shift) : NULL;
}

tw_tensor *tw__smooth_classes(tw_tensor *y_true, double smoothing)
{
    int rank = y_true->shape.rank;
    int64_t classes = rank > 0 ? y_true->shape.dims[rank - 1] : -1;
    if (smoothing == 0 || classes >= 0)
        return tw__smooth_labels(y_true, smoothing, smoothing / (double)classes);
    tw_auto tw_tensor *factor = tw__float_scalar(y_true->dtype, 1 - smoothing),
                      *share = tw__float_scalar(y_true->dtype, smoothing);
    tw_auto tw_tensor *size = tw__sizes_later(y_true, -1, 0), *number = size ? tw__cast(size, y_true->dtype) : NULL;
    tw_auto tw_tensor *shift = number && share ? TW_CALL(RealDiv, share, number) : NULL;
    tw_auto tw_tensor *scaled = factor && shift ? TW_CALL(Mul, y_true, factor) : NULL;
    return scaled ? TW_CALL(AddV2, scaled, shift) : NULL;
}

static tw_tensor *negative_sum(tw_tensor *labels, tw_tensor *logs, int64_t axis)
{
    tw_tensor *product = logs ? TW_CALL(Mul, labels, logs) : NULL;
    tw_tensor *sum = product ? tw__reduce_axis(&tw__op_Sum, product, axis, false) : NULL;
    tw_tensor *output = sum ? TW_CALL(Neg, sum) : NULL;
    tw_release(product);
    tw_release(sum);
    return output;
}

TW_API(categorical_crossentropy,
       "keras.losses.categorical_crossentropy|keras.metrics.categorical_crossentropy(y_true: tensor, y_pred: tensor, "
       "from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> tensor",
       "Cross-entropy of predicted distributions with given ones.")
{
    tw_tensor *y_pred = need_float(args->y_pred, "categorical_crossentropy"), *losses = NULL;
    if (!y_pred)
        return NULL;
    if (y_pred->shape.rank == 0 || !tw__shape_compatible(&y_pred->shape, &args->y_true->shape)) {
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", tw__shape_text(&args->y_true->shape),
                 tw__shape_text(&y_pred->shape));
        return NULL;
    }
    tw_tensor *cast = tw__cast(args->y_true, y_pred->dtype);
    tw_tensor *labels = cast ? tw__smooth_classes(cast, args->label_smoothing) : NULL;
    tw_tensor *kept = tw__logits_of(y_pred, &tw__op_Softmax);
    if (labels && (kept || args->from_logits)) {
        losses = tw__cross_entropy_of(labels, kept ? kept : y_pred, args->axis);
    } else if (labels) {
        tw_tensor *total = tw__reduce_axis(&tw__op_Sum, y_pred, args->axis, true);
        tw_tensor *shares = TW_CALL(RealDiv, y_pred, total);
        tw_tensor *logs = shares ? clipped_log(shares) : NULL;
        losses = negative_sum(labels, logs, args->axis);
        tw_release(total);
        tw_release(shares);
        tw_release(logs);
    }
    tw_release(cast);
    tw_release(labels);
    return losses;
}

/* max(x, 0) - x z + log(1 + exp(-|x|)). Chosen by x >= 0 and not by Relu and Abs, whose derivatives at 0 are others. */
static tw_tensor *binary_from_logits(tw_tensor *z, tw_tensor *x)
{
    tw_tensor *zero = tw__float_scalar(x->dtype, 0), *minus = TW_CALL(Neg, x), *product = TW_CALL(Mul, x, z);
    tw_tensor *above = TW_CALL(GreaterEqual, x, zero);
    tw_tensor *positive = TW_CALL(SelectV2, above, x, zero);
    tw_tensor *negative = TW_CALL(SelectV2, above, minus, x);
    tw_tensor *power = TW_CALL(Exp, negative), *log = TW_CALL(Log1p, power);
    tw_tensor *difference = TW_CALL(Sub, positive, product);
    tw_tensor *output = TW_CALL(AddV2, difference, log);
    void *made[] = { zero, minus, product, above, positive, negative, power, log, difference };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        tw_release(made[i]);
    return output;
}

/* log(p + epsilon) */
static tw_tensor *shifted_log(tw_tensor *p, tw_tensor *shift)
{
    tw_tensor *sum = p ? TW_CALL(AddV2, p, shift) : NULL;
    tw_tensor *log = sum ? TW_CALL(Log, sum) : NULL;
    tw_release(sum);
    return log;
}

/* -(z log(p + e) + (1 - z) log(1 - p + e)) */
static tw_tensor *binary_from_probabilities(tw_tensor *z, tw_tensor *given)
{
    tw_tensor *p = tw__clip_probabilities(given), *one = tw__float_scalar(given->dtype, 1),
              *shift = tw__float_scalar(given->dtype, tw__keras_epsilon());
    bool good = p && one && shift;
    tw_tensor *first = good ? shifted_log(p, shift) : NULL, *rest = good ? TW_CALL(Sub, one, p) : NULL;
    tw_tensor *second = shifted_log(rest, shift), *other = good ? TW_CALL(Sub, one, z) : NULL;
    tw_tensor *left = first ? TW_CALL(Mul, z, first) : NULL, *right = second && other ? TW_CALL(Mul, other, second) : NULL;
    tw_tensor *sum = left && right ? TW_CALL(AddV2, left, right) : NULL;
    tw_tensor *output = sum ? TW_CALL(Neg, sum) : NULL;
    void *made[] = { p, one, shift, first, rest, second, other, left, right, sum };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        tw_release(made[i]);
    return output;
}

tw_tensor *tw__binary_losses(tw_tensor *labels, tw_tensor *y_pred, bool from_logits)
{
    tw_tensor *kept = tw__logits_of(y_pred, &tw__op_Sigmoid);
    return kept || from_logits ? binary_from_logits(labels, kept ? kept : y_pred) : binary_from_probabilities(labels, y_pred);
}

TW_API(
    binary_crossentropy,
    "keras.losses.binary_crossentropy|keras.metrics.binary_crossentropy(y_true: tensor, y_pred: tensor, from_logits: bool = False, "
    "label_smoothing: float = 0.0, axis: int = -1) -> tensor",
    "Cross-entropy of predicted probabilities with labels of 0 and 1, averaged over an axis.")
{
    tw_tensor *y_pred = need_float(args->y_pred, "binary_crossentropy");
    tw_tensor *cast = y_pred ? tw__cast(args->y_true, y_pred->dtype) : NULL;
    tw_tensor *labels = cast ? tw__smooth_labels(cast, args->label_smoothing, 0.5 * args->label_smoothing) : NULL;
    tw_tensor *each = labels ? tw__binary_losses(labels, y_pred, args->from_logits) : NULL;
    tw_tensor *losses = each ? tw__reduce_axis(&tw__op_Mean, each, args->axis, false) : NULL;
    tw_release(cast);
    tw_release(labels);
    tw_release(each);
    return losses;
}

/* ---- mean squared error ---- */

TW_API(
    mean_squared_error,
    "keras.losses.mean_squared_error|keras.losses.mse|keras.losses.MSE|keras.metrics.mean_squared_error|keras.metrics.mse|keras.metrics.MSE"
    "(y_true: tensor, y_pred: tensor) -> tensor",
    "The squared differences, averaged over the last axis.")
{
    tw_tensor *y_true = tw__cast(args->y_true, args->y_pred->dtype);
    tw_tensor *squares = TW_CALL(SquaredDifference, args->y_pred, y_true);
    tw_tensor *losses = squares ? tw__reduce_axis(&tw__op_Mean, squares, -1, false) : NULL;
    tw_release(y_true);
    tw_release(squares);
    return losses;
}
