/* tf.compat.v1.losses: what each is of single elements, and what they share: weights, reduction, and a collection of the graph.
 */
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"
#include "v1/v1.h"

/* The arguments that all of them have. */
typedef struct common {
    tw_tensor *labels, *predictions, *weights;
    const char *scope, *collection, *reduction;
    const char *words[2]; /* what the first two are called */
} common;
#define COMMON(labels_, predictions_)  \
    (&(common){ args->labels_,         \
                args->predictions_,    \
                args->weights,         \
                args->scope,           \
                args->loss_collection, \
                args->reduction,       \
                { #labels_, #predictions_ } })

/* ---- weights and reduction ---- */

/* Weights are a scalar, or have the losses' rank and in each dimension their size or 1. */
static tw_status check_weights(const tw_shape *weights, const tw_shape *losses)
{
    if (weights->rank <= 0 || losses->rank < 0)
        return TW_OK;
    bool fits = weights->rank == losses->rank;
    for (int i = 0; fits && i < weights->rank; i++)
        fits = weights->dims[i] == 1 || weights->dims[i] < 0 || losses->dims[i] < 0 || weights->dims[i] == losses->dims[i];
    if (fits)
        return TW_OK;
    char *own = tw__shape_tuple(weights), *other = tw__shape_tuple(losses);
    tw__fail(TW_VALUE_ERROR,
             "weights can not be broadcast to values. values.rank=%d. weights.rank=%d. values.shape=%s. weights.shape=%s.",
             losses->rank, weights->rank, other ? other : "", own ? own : "");
    tw__free(own);
    tw__free(other);
    return TW_VALUE_ERROR;
}

static tw_status check_reduction(const char *reduction)
{
    static const char *const all[] = { "none", "weighted_sum", "weighted_mean", "weighted_sum_over_batch_size",
                                       "weighted_sum_by_nonzero_weights" };
    for (size_t i = 0; reduction && i < sizeof all / sizeof *all; i++) {
        if (strcmp(reduction, all[i]) == 0)
            return TW_OK;
    }
    return tw__fail(TW_VALUE_ERROR, "Invalid Reduction Key %s. Key should be one of ('%s', '%s', '%s', '%s', '%s', '%s').",
                    reduction ? reduction : "None", all[0], all[1], all[2], all[3], all[4], all[4]);
}

static tw_tensor *sum(tw__temps *t, tw_tensor *values)
{
    return tw__temp(t, values ? tw__reduce_axis(&tw__op_Sum, values, TW_NO_INT, false) : NULL);
}

/* How many losses have a weight, in float32. */
static tw_tensor *present(tw__temps *t, tw_tensor *losses, tw_tensor *weights)
{
    return sum(t, TW_TEMP(Mul, TW_TEMP(OnesLike, losses), tw__temp_cast(t, TW_TEMP(NotEqual, weights, 0.0), TW_FLOAT32)));
}

/* By what the sum is divided, in float32. */
static tw_tensor *divisor(tw__temps *t, tw_tensor *losses, tw_tensor *weights, const char *reduction)
{
    if (strcmp(reduction, "weighted_sum_over_batch_size") == 0)
        return tw__temp(t, tw__count_scalar(losses, TW_FLOAT32));
    if (strcmp(reduction, "weighted_mean") == 0)
        return sum(t, TW_TEMP(Mul, TW_TEMP(OnesLike, losses), weights));
    return present(t, losses, weights);
}

static tw_tensor *weights_of(tw__temps *t, tw_tensor *given)
{
    return given ? tw__temp_cast(t, given, TW_FLOAT32) : tw__temp(t, tw_tensor_float(1));
}

/* The losses times their weights, summed, and divided as the reduction says; 0 where that would be by 0. */
static tw_tensor *weighted(const tw__part *part, tw__temps *t, tw_tensor *given, tw_tensor *given_weights, const char *reduction)
{
    tw_tensor *losses = given ? tw__temp_cast(t, given, TW_FLOAT32) : NULL, *weights = weights_of(t, given_weights);
    if (!losses || !weights || check_weights(&weights->shape, &losses->shape) != TW_OK)
        return NULL;
    tw_tensor *result = TW_TEMP(Mul, losses, weights);
    if (strcmp(reduction, "none") != 0)
        result = sum(t, result);
    if (result && strcmp(reduction, "none") != 0 && strcmp(reduction, "weighted_sum") != 0) {
        tw_tensor *by = divisor(t, losses, weights, reduction);
        result = by ? tw__temp(t, tw__part_call(part, "value", &tw__op_DivNoNan, TW_IN(result, by), 2, NULL, 0)) : NULL;
    }
    return result ? tw__temp_cast(t, result, given->dtype) : NULL;
}

/* ---- one loss ---- */

typedef struct loss {
    tw__part part;
    tw__temps temps[1];
    bool functions; /* how nodes were named outside */
} loss;

static void begin(loss *own, const char *scope, const char *usual)
{
    own->part = tw__part_begin(scope, usual);
    own->functions = tw__named_as_functions;
    own->temps->items = own->temps->room;
    own->temps->count = 0;
    own->temps->capacity = sizeof own->temps->room / sizeof *own->temps->room;
    tw__named_as_functions = true;
}

static tw_tensor *end(loss *own, tw_tensor *made, const char *collection)
{
    tw_auto tw_tensor *kept = tw__keep(own->temps, made);
    tw__temps_end(own->temps);
    tw__named_as_functions = own->functions;
    tw_tensor *result = tw__part_result(&own->part, tw_retain(kept));
    if (result && tw__v1_collect(collection, result) == TW_OK)
        return result;
    tw_release(result);
    return NULL;
}

static tw_status check_shapes(const tw_tensor *one, const tw_tensor *other)
{
    if (tw__shape_compatible(&one->shape, &other->shape))
        return TW_OK;
    char *a = tw__shape_tuple(&one->shape), *b = tw__shape_tuple(&other->shape);
    tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", a ? a : "", b ? b : "");
    tw__free(a);
    tw__free(b);
    return TW_VALUE_ERROR;
}

/* Arguments that must be given, but are told to be None. */
static tw_status check_given(const tw_tensor *one, const char *word, const tw_tensor *other, const char *other_word)
{
    return one && other ? TW_OK : tw__fail(TW_VALUE_ERROR, "Argument `%s` must not be None.", one ? other_word : word);
}

typedef tw_tensor *(*of_elements)(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args);

/* A loss of labels and predictions of one shape, in float32. */
static tw_tensor *of_pair(const char *usual, const common *given, of_elements elements, const void *args)
{
    if (check_given(given->labels, given->words[0], given->predictions, given->words[1]) != TW_OK ||
        check_reduction(given->reduction) != TW_OK)
        return NULL;
    loss own;
    begin(&own, given->scope, usual);
    tw__temps *t = own.temps;
    tw_tensor *predictions = tw__temp_cast(t, given->predictions, TW_FLOAT32);
    tw_tensor *labels = tw__temp_cast(t, given->labels, TW_FLOAT32);
    bool good = predictions && labels && check_shapes(predictions, labels) == TW_OK;
    tw_tensor *losses = good ? elements(t, labels, predictions, args) : NULL;
    return end(&own, losses ? weighted(&own.part, t, losses, given->weights, given->reduction) : NULL, given->collection);
}

/* Arguments that all losses have. */
#define LOSS_ARGUMENTS "scope: str = None, loss_collection: str? = losses, reduction: str = weighted_sum_by_nonzero_weights"

TW_API(
    v1_compute_weighted_loss,
    "compat.v1.losses.compute_weighted_loss(losses: tensor, weights: tensor = None, "
    "scope: str = None since 0.2, loss_collection: str? = losses since 0.2, reduction: str = weighted_sum_by_nonzero_weights) -> tensor",
    "The losses times their weights, summed, and divided as the reduction says; 0 where that would be by 0.\n"
    "losses: the losses")
{
    if (check_reduction(args->reduction) != TW_OK)
        return NULL;
    loss own;
    begin(&own, args->scope, "weighted_loss");
    return end(&own, weighted(&own.part, own.temps, args->losses, args->weights, args->reduction), args->loss_collection);
}

static tw_tensor *absolute(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    (void)args;
    return TW_TEMP(Abs, TW_TEMP(Sub, predictions, labels));
}

TW_API(v1_absolute_difference,
       "compat.v1.losses.absolute_difference(labels: tensor?, predictions: tensor?, weights: tensor = None, " LOSS_ARGUMENTS
       ") -> tensor",
       "|predictions - labels|.")
{
    return of_pair("absolute_difference", COMMON(labels, predictions), absolute, args);
}

static tw_tensor *squared(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    (void)args;
    return TW_TEMP(SquaredDifference, predictions, labels);
}

TW_API(v1_mean_squared_error,
       "compat.v1.losses.mean_squared_error(labels: tensor?, predictions: tensor?, weights: tensor = None, " LOSS_ARGUMENTS
       ") -> tensor",
       "(predictions - labels)^2.")
{
    return of_pair("mean_squared_error", COMMON(labels, predictions), squared, args);
}

static tw_tensor *hinge(tw__temps *t, tw_tensor *labels, tw_tensor *logits, const void *args)
{
    (void)args;
    tw_tensor *signs = TW_TEMP(Sub, TW_TEMP(Mul, 2.0, labels), 1.0);
    return TW_TEMP(Relu, TW_TEMP(Sub, 1.0, TW_TEMP(Mul, signs, logits)));
}

TW_API(v1_hinge_loss,
       "compat.v1.losses.hinge_loss(labels: tensor?, logits: tensor?, weights: tensor = None, " LOSS_ARGUMENTS ") -> tensor",
       "max(0, 1 - (2 labels - 1) logits).")
{
    return of_pair("hinge_loss", COMMON(labels, logits), hinge, args);
}

static tw_tensor *huber(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    double delta = ((const tw_v1_huber_loss_args *)args)->delta;
    tw_tensor *error = TW_TEMP(Abs, TW_TEMP(Sub, predictions, labels)), *quadratic = TW_TEMP(Minimum, error, delta);
    tw_tensor *half = TW_TEMP(Mul, 0.5, TW_TEMP(Mul, quadratic, quadratic));
    return TW_TEMP(AddV2, half, TW_TEMP(Mul, delta, TW_TEMP(Sub, error, quadratic)));
}

TW_API(
    v1_huber_loss,
    "compat.v1.losses.huber_loss(labels: tensor?, predictions: tensor?, weights: tensor = None, delta: float = 1.0, " LOSS_ARGUMENTS
    ") -> tensor",
    "Half the square of errors up to delta, linear beyond.\n"
    "delta: where the square becomes a line")
{
    return of_pair("huber_loss", COMMON(labels, predictions), huber, args);
}

static tw_tensor *logarithmic(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    double epsilon = ((const tw_v1_log_loss_args *)args)->epsilon;
    tw_tensor *yes = TW_TEMP(Neg, TW_TEMP(Mul, labels, TW_TEMP(Log, TW_TEMP(AddV2, predictions, epsilon))));
    tw_tensor *no = TW_TEMP(Log, TW_TEMP(AddV2, TW_TEMP(Sub, 1.0, predictions), epsilon));
    return TW_TEMP(Sub, yes, TW_TEMP(Mul, TW_TEMP(Sub, 1.0, labels), no));
}

TW_API(
    v1_log_loss,
    "compat.v1.losses.log_loss(labels: tensor?, predictions: tensor?, weights: tensor = None, epsilon: float = 1e-7, " LOSS_ARGUMENTS
    ") -> tensor",
    "-labels log(predictions) - (1 - labels) log(1 - predictions).")
{
    return of_pair("log_loss", COMMON(labels, predictions), logarithmic, args);
}

static tw_tensor *cosine(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *given)
{
    const tw_v1_cosine_distance_args *args = given;
    tw_tensor *products = TW_TEMP(Mul, predictions, labels);
    int64_t axis = args->axis == TW_NO_INT ? args->dim : args->axis;
    tw_tensor *similar = tw__temp(t, products ? tw__reduce_axis(&tw__op_Sum, products, axis, true) : NULL);
    return TW_TEMP(Sub, 1.0, similar);
}

TW_API(v1_cosine_distance,
       "compat.v1.losses.cosine_distance(labels: tensor?, predictions: tensor?, axis: int = None, "
       "weights: tensor = None, " LOSS_ARGUMENTS ", dim: int = None) -> tensor",
       "1 - the sum of labels * predictions along an axis.\n"
       "axis: the dimension that the sum goes over\n"
       "dim: the old name of `axis`")
{
    if (args->axis != TW_NO_INT && args->dim != TW_NO_INT)
        tw__fail(TW_VALUE_ERROR, "Cannot specify both 'axis' and 'dim'");
    else if (args->axis == TW_NO_INT && args->dim == TW_NO_INT)
        tw__fail(TW_VALUE_ERROR, "You must specify argument `axis`.");
    else
        return of_pair("cosine_distance_loss", COMMON(labels, predictions), cosine, args);
    return NULL;
}

/* ---- pairs of elements ---- */

/* The mean over pairs of the squared difference between their errors; `present` is the number of weighted elements. */
static tw_tensor *of_pairs(const tw__part *part, tw__temps *t, tw_tensor *errors, tw_tensor *weights)
{
    int64_t axes[TW_MAX_RANK];
    for (int i = 1; i < errors->shape.rank; i++)
        axes[i - 1] = i;
    tw_ints inner = { .items = axes, .count = errors->shape.rank > 1 ? errors->shape.rank - 1 : 0, .given = true };
#define OVER(values_) tw__temp(t, inner.count ? tw__reduce_axes(&tw__op_Sum, values_, inner, true) : tw_retain(values_))
    tw_tensor *counted = tw__temp_cast(t, TW_TEMP(NotEqual, weights, 0.0), TW_FLOAT32);
    tw_tensor *count = OVER(TW_TEMP(Mul, counted, TW_TEMP(OnesLike, errors)));
    tw_tensor *others = TW_TEMP(Sub, count, 1.0);
#define SHARE(values_, number_)                                                                                              \
    tw__temp(t, (values_) && (number_) ? tw__part_call(part, "value", &tw__op_DivNoNan, TW_IN(values_, number_), 2, NULL, 0) \
                                       : NULL)
    tw_tensor *squares = OVER(TW_TEMP(Square, errors)), *whole = TW_TEMP(Square, OVER(errors));
    tw_tensor *some = TW_TEMP(Maximum, others, 0.0), *all = TW_TEMP(Maximum, TW_TEMP(Mul, count, others), 0.0);
    tw_tensor *first = TW_TEMP(Mul, 2.0, SHARE(squares, some)), *second = TW_TEMP(Mul, 2.0, SHARE(whole, all));
    tw_tensor *total = sum(t, TW_TEMP(Mul, TW_TEMP(Sub, first, second), weights));
    tw_tensor *any = TW_TEMP(Greater, sum(t, count), 0.0), *none = TW_TEMP(ZerosLike, total);
    return any && none ? tw__temp(t, tw__part_call(part, "value", &tw__op_SelectV2, TW_IN(any, total, none), 3, NULL, 0)) : NULL;
#undef SHARE
#undef OVER
}

TW_API(
    v1_mean_pairwise_squared_error,
    "compat.v1.losses.mean_pairwise_squared_error(labels: tensor?, predictions: tensor?, weights: tensor = None, scope: str = None, loss_collection: str? = losses) -> tensor",
    "The mean over pairs of elements of the squared difference between their errors.")
{
    if (check_given(args->labels, "labels", args->predictions, "predictions") != TW_OK)
        return NULL;
    loss own;
    begin(&own, args->scope, "mean_pairwise_squared_error");
    tw__temps *t = own.temps;
    tw_tensor *labels = tw__temp_cast(t, args->labels, TW_FLOAT32), *weights = weights_of(t, args->weights);
    tw_tensor *predictions = tw__temp_cast(t, args->predictions, TW_FLOAT32), *result = NULL;
    if (labels && predictions && weights && check_shapes(predictions, labels) == TW_OK &&
        check_weights(&weights->shape, &labels->shape) == TW_OK) {
        tw_tensor *errors = TW_TEMP(Sub, predictions, labels);
        if (errors && errors->shape.rank < 0)
            tw__fail(TW_UNIMPLEMENTED, "mean_pairwise_squared_error: the rank of labels or predictions must be known");
        else if (errors)
            result = of_pairs(&own.part, t, errors, weights);
    }
    return end(&own, result, args->loss_collection);
}

/* ---- cross-entropies ---- */

/* labels * (1 - smoothing) + smoothing * share; what is smoothed has the logits' dtype. */
static tw_tensor *smooth(tw__temps *t, tw_tensor *labels, double smoothing, double share)
{
    return TW_TEMP(AddV2, TW_TEMP(Mul, labels, 1 - smoothing), smoothing * share);
}

TW_API(v1_sigmoid_cross_entropy,
       "compat.v1.losses.sigmoid_cross_entropy(multi_class_labels: tensor?, logits: tensor?, weights: tensor = None, "
       "label_smoothing: float = 0, " LOSS_ARGUMENTS ") -> tensor",
       "The cross-entropy of independent classes.\n"
       "multi_class_labels: the true values of each class, 0 or 1")
{
    if (check_given(args->multi_class_labels, "multi_class_labels", args->logits, "logits") != TW_OK ||
        check_reduction(args->reduction) != TW_OK)
        return NULL;
    loss own;
    begin(&own, args->scope, "sigmoid_cross_entropy_loss");
    tw__temps *t = own.temps;
    tw_tensor *labels = tw__temp_cast(t, args->multi_class_labels, args->logits->dtype), *losses = NULL;
    if (labels && check_shapes(args->logits, labels) == TW_OK) {
        labels = args->label_smoothing > 0 ? smooth(t, labels, args->label_smoothing, 0.5) : labels;
        losses = labels ? tw_nn_sigmoid_cross_entropy_with_logits(labels, args->logits, .name = "xentropy") : NULL;
    }
    tw__temp(t, losses);
    return end(&own, losses ? weighted(&own.part, t, losses, args->weights, args->reduction) : NULL, args->loss_collection);
}

/* The labels, with a part of each spread over all classes. */
static tw_tensor *spread(tw__temps *t, tw_tensor *labels, double smoothing)
{
    int rank = labels->shape.rank;
    if (rank > 0 && labels->shape.dims[rank - 1] > 0)
        return smooth(t, labels, smoothing, 1.0 / (double)labels->shape.dims[rank - 1]);
    tw_tensor *classes = tw__temp_cast(t, tw__temp_at(t, tw__temp_shape(t, labels, TW_INT32), -1), labels->dtype);
    return TW_TEMP(AddV2, TW_TEMP(Mul, labels, 1 - smoothing), TW_TEMP(RealDiv, smoothing, classes));
}

TW_API(v1_softmax_cross_entropy,
       "compat.v1.losses.softmax_cross_entropy(onehot_labels: tensor?, logits: tensor?, weights: tensor = None, "
       "label_smoothing: float = 0, " LOSS_ARGUMENTS ") -> tensor",
       "The cross-entropy of distributions over classes.\n"
       "onehot_labels: the true distribution over the classes")
{
    if (check_given(args->onehot_labels, "onehot_labels", args->logits, "logits") != TW_OK ||
        check_reduction(args->reduction) != TW_OK)
        return NULL;
    loss own;
    begin(&own, args->scope, "softmax_cross_entropy_loss");
    tw__temps *t = own.temps;
    tw_tensor *labels = tw__temp_cast(t, args->onehot_labels, args->logits->dtype), *losses = NULL;
    if (labels && check_shapes(args->logits, labels) == TW_OK) {
        labels = args->label_smoothing > 0 ? spread(t, labels, args->label_smoothing) : labels;
        labels = tw__temp(t, labels ? tw_stop_gradient(labels, .name = "labels_stop_gradient") : NULL);
        losses = labels ? tw_nn_softmax_cross_entropy_with_logits(labels, args->logits, .name = "xentropy") : NULL;
    }
    tw__temp(t, losses);
    return end(&own, losses ? weighted(&own.part, t, losses, args->weights, args->reduction) : NULL, args->loss_collection);
}

/* Without a last dimension of 1, where the rank is one more than the other's. */
static tw_tensor *without_last(tw__temps *t, tw_tensor *tensor, int rank)
{
    int own = tensor->shape.rank;
    if (rank < 0 || own != rank + 1 || (tensor->shape.dims[own - 1] != 1 && tensor->shape.dims[own - 1] >= 0))
        return tensor;
    int64_t last[] = { -1 };
    return TW_TEMP(Squeeze, tensor, TW_A_INTS("squeeze_dims", last, 1));
}

TW_API(v1_sparse_softmax_cross_entropy,
       "compat.v1.losses.sparse_softmax_cross_entropy(labels: tensor?, logits: tensor?, weights: tensor = None, " LOSS_ARGUMENTS
       ") -> tensor",
       "The cross-entropy of distributions with classes given by number.")
{
    if (check_given(args->labels, "labels", args->logits, "logits") != TW_OK || check_reduction(args->reduction) != TW_OK)
        return NULL;
    loss own;
    begin(&own, args->scope, "sparse_softmax_cross_entropy_loss");
    tw__temps *t = own.temps;
    tw_tensor *labels = without_last(t, args->labels, args->logits->shape.rank - 1);
    tw_tensor *weights = labels && args->weights ? without_last(t, args->weights, labels->shape.rank) : args->weights;
    tw_tensor *losses = labels ? tw_nn_sparse_softmax_cross_entropy_with_logits(labels, args->logits, .name = "xentropy") : NULL;
    tw__temp(t, losses);
    return end(&own, losses ? weighted(&own.part, t, losses, weights, args->reduction) : NULL, args->loss_collection);
}
