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
    TW_TEMPS(t);
    double epsilon = tw__keras_epsilon();
    double high = p->dtype == TW_FLOAT64 ? 1 - epsilon : (double)(1.0f - (float)epsilon);
    return TW_CALL(ClipByValue, p, tw__temp_float(t, p->dtype, epsilon), high);
}

static tw_tensor *clipped_log(tw_tensor *p)
{
    tw_auto tw_tensor *clipped = tw__clip_probabilities(p);
    return TW_CALL(Log, clipped);
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
    tw_auto tw_tensor *permutation = tw_tensor_new(TW_INT32, TW_SHAPE(rank), order);
    return TW_CALL(Transpose, x, permutation);
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
    TW_TEMPS(t);
    tw_tensor *wide = tw__temp_cast(t, labels, TW_INT64), *counts = TW_TEMP(NotEqual, wide, ignored);
    tw_tensor *safe = TW_TEMP(SelectV2, counts, wide, (int64_t)0);
    tw_tensor *losses = safe ? tw__temp(t, sparse_losses(safe, logits)) : NULL;
    if (!losses)
        return NULL;
    tw_tensor *mask = tw__temp(t, tw__reshape_like(tw_retain(counts), losses));
    tw_tensor *output = TW_TEMP(SelectV2, mask, losses, tw__temp_float(t, losses->dtype, 0));
    return output && tw__mask_set(output, mask) == TW_OK ? tw__keep(t, output) : NULL;
}

TW_API(
    sparse_categorical_crossentropy,
    "keras.losses.sparse_categorical_crossentropy|keras.metrics.sparse_categorical_crossentropy(y_true: tensor, y_pred: tensor, "
    "from_logits: bool = False, axis: int = -1, ignore_class: int = None) -> tensor",
    "Cross-entropy of predicted distributions with classes given by number.")
{
    TW_TEMPS(t);
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
    tw_tensor *labels = tw__temp_cast(t, args->y_true, args->y_true->dtype == TW_INT32 ? TW_INT32 : TW_INT64);
    tw_tensor *logits = labels ? tw__temp(t, logits_from(y_pred, args->from_logits)) : NULL;
    if (logits && rank >= 0 && axis != rank - 1)
        logits = tw__temp(t, move_last(logits, axis));
    return !logits                           ? NULL
           : args->ignore_class == TW_NO_INT ? sparse_losses(labels, logits)
                                             : sparse_ignoring(labels, logits, args->ignore_class);
}

/* ---- categorical and binary ---- */

/* y_true · (1 - smoothing) + extra */
tw_tensor *tw__smooth_labels(tw_tensor *y_true, double smoothing, double extra)
{
    TW_TEMPS(t);
    return smoothing == 0 ? tw_retain(y_true)
                          : TW_CALL(AddV2, TW_TEMP(Mul, y_true, tw__temp_float(t, y_true->dtype, 1 - smoothing)), extra);
}

tw_tensor *tw__smooth_classes(tw_tensor *y_true, double smoothing)
{
    TW_TEMPS(t);
    int rank = y_true->shape.rank;
    int64_t classes = rank > 0 ? y_true->shape.dims[rank - 1] : -1;
    if (smoothing == 0 || classes >= 0)
        return tw__smooth_labels(y_true, smoothing, smoothing / (double)classes);
    tw_tensor *number = tw__temp_cast(t, tw__temp(t, tw__sizes_later(y_true, -1, 0)), y_true->dtype);
    tw_tensor *shift = TW_TEMP(RealDiv, tw__temp_float(t, y_true->dtype, smoothing), number);
    return TW_CALL(AddV2, TW_TEMP(Mul, y_true, 1 - smoothing), shift);
}

TW_API(categorical_crossentropy,
       "keras.losses.categorical_crossentropy|keras.metrics.categorical_crossentropy(y_true: tensor, y_pred: tensor, "
       "from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> tensor",
       "Cross-entropy of predicted distributions with given ones.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = need_float(args->y_pred, "categorical_crossentropy");
    if (!y_pred)
        return NULL;
    if (y_pred->shape.rank == 0 || !tw__shape_compatible(&y_pred->shape, &args->y_true->shape)) {
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", tw__shape_text(&args->y_true->shape),
                 tw__shape_text(&y_pred->shape));
        return NULL;
    }
    tw_tensor *given = tw__temp_cast(t, args->y_true, y_pred->dtype);
    tw_tensor *labels = given ? tw__temp(t, tw__smooth_classes(given, args->label_smoothing)) : NULL;
    tw_tensor *kept = tw__logits_of(y_pred, &tw__op_Softmax);
    if (!labels || kept || args->from_logits)
        return labels ? tw__cross_entropy_of(labels, kept ? kept : y_pred, args->axis) : NULL;
    tw_tensor *shares = TW_TEMP(RealDiv, y_pred, tw__temp(t, tw__reduce_axis(&tw__op_Sum, y_pred, args->axis, true)));
    tw_tensor *logs = shares ? tw__temp(t, clipped_log(shares)) : NULL;
    return TW_CALL(Neg, tw__temp(t, tw__sum_axis(TW_TEMP(Mul, labels, logs), args->axis)));
}

/* max(x, 0) - x z + log(1 + exp(-|x|)). Chosen by x >= 0 and not by Relu and Abs, whose derivatives at 0 are others. */
static tw_tensor *binary_from_logits(tw_tensor *z, tw_tensor *x)
{
    TW_TEMPS(t);
    tw_tensor *zero = tw__temp_float(t, x->dtype, 0), *above = TW_TEMP(GreaterEqual, x, zero);
    tw_tensor *positive = TW_TEMP(SelectV2, above, x, zero), *negative = TW_TEMP(SelectV2, above, TW_TEMP(Neg, x), x);
    return TW_CALL(AddV2, TW_TEMP(Sub, positive, TW_TEMP(Mul, x, z)), TW_TEMP(Log1p, TW_TEMP(Exp, negative)));
}

/* -(z log(p + e) + (1 - z) log(1 - p + e)) */
static tw_tensor *binary_from_probabilities(tw_tensor *z, tw_tensor *given)
{
    TW_TEMPS(t);
    double e = tw__keras_epsilon();
    tw_tensor *p = tw__temp(t, tw__clip_probabilities(given));
    tw_tensor *left = TW_TEMP(Mul, z, TW_TEMP(Log, TW_TEMP(AddV2, p, e)));
    tw_tensor *right = TW_TEMP(Mul, TW_TEMP(Sub, 1.0, z), TW_TEMP(Log, TW_TEMP(AddV2, TW_TEMP(Sub, 1.0, p), e)));
    return TW_CALL(Neg, TW_TEMP(AddV2, left, right));
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
    "Cross-entropy of predicted probabilities with labels of 0 and 1, averaged over an axis.\n"
    "axis: the dimension that the mean goes over")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = need_float(args->y_pred, "binary_crossentropy");
    tw_tensor *given = y_pred ? tw__temp_cast(t, args->y_true, y_pred->dtype) : NULL;
    tw_tensor *labels = given ? tw__temp(t, tw__smooth_labels(given, args->label_smoothing, 0.5 * args->label_smoothing)) : NULL;
    tw_tensor *each = labels ? tw__temp(t, tw__binary_losses(labels, y_pred, args->from_logits)) : NULL;
    return tw__reduce_axis(&tw__op_Mean, each, args->axis, false);
}

/* ---- mean squared error ---- */

TW_API(
    mean_squared_error,
    "keras.losses.mean_squared_error|keras.losses.mse|keras.losses.MSE|keras.metrics.mean_squared_error|keras.metrics.mse|keras.metrics.MSE"
    "(y_true: tensor, y_pred: tensor) -> tensor",
    "The squared differences, averaged over the last axis.")
{
    TW_TEMPS(t);
    return tw__mean_last(TW_TEMP(SquaredDifference, args->y_pred, tw__temp_cast(t, args->y_true, args->y_pred->dtype)));
}
