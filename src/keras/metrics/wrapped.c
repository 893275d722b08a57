/* Means of losses and of matches: the metrics that are a function of labels and predictions; and Sum. */
#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "op/array/array.h"

/* ---- functions ---- */

TW_API(binary_accuracy, "keras.metrics.binary_accuracy(y_true: tensor, y_pred: tensor, threshold: float = 0.5) -> tensor",
       "How often predictions, 1 above the threshold and else 0, equal labels; averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_dtype dtype = args->y_pred->dtype;
    tw_tensor *above = TW_TEMP(Greater, args->y_pred, tw__temp_float(t, dtype, args->threshold));
    tw_tensor *equal = TW_TEMP(Equal, tw__temp_cast(t, args->y_true, dtype), tw__temp_cast(t, above, dtype));
    return tw__mean_last(tw__temp_cast(t, equal, TW_FLOAT32));
}

/* Whether each label (a class's number) is among the k greatest predictions, as float32. */
static tw_tensor *in_top(tw_tensor *labels, tw_tensor *y_pred, int64_t k)
{
    TW_TEMPS(t);
    int rank = y_pred->shape.rank;
    if (rank < 1) {
        tw__fail(TW_VALUE_ERROR, "y_pred has shape %s, expected one value per class", tw__shape_text(&y_pred->shape));
        return NULL;
    }
    tw_tensor *classes = tw__temp_cast(t, labels, TW_INT32), *rows = tw__temp_cast(t, y_pred, TW_FLOAT32);
    if (!classes || classes->shape.rank != 1)
        classes = tw__temp_reshape(t, classes, (const int64_t[]){ -1 }, 1);
    if (rank != 2)
        rows = tw__temp_reshape(t, rows, (const int64_t[]){ -1, y_pred->shape.dims[rank - 1] }, 2);
    return tw__reshape_like(tw_retain(tw__temp_cast(t, TW_TEMP(InTopKV2, rows, classes, (int)k), TW_FLOAT32)), labels);
}

TW_API(sparse_top_k_categorical_accuracy,
       "keras.metrics.sparse_top_k_categorical_accuracy(y_true: tensor, y_pred: tensor, k: int = 5) -> tensor",
       "1 where the label is among the k greatest predictions, else 0.")
{
    return in_top(args->y_true, args->y_pred, args->k);
}

TW_API(top_k_categorical_accuracy,
       "keras.metrics.top_k_categorical_accuracy(y_true: tensor, y_pred: tensor, k: int = 5) -> tensor",
       "1 where the greatest label is among the k greatest predictions, else 0.")
{
    tw_auto tw_tensor *labels = TW_CALL(ArgMax, args->y_true, -1);
    return labels ? in_top(labels, args->y_pred, args->k) : NULL;
}

/* ---- metrics ---- */

#define VALUES(name, expression)                                                                 \
    static tw_tensor *name##_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred) \
    {                                                                                            \
        (void)self;                                                                              \
        return expression;                                                                       \
    }                                                                                            \
    static const tw__metric_methods name##_methods = { .values = name##_values };

VALUES(squared, tw_mean_squared_error(y_true, y_pred))
VALUES(absolute, tw_mean_absolute_error(y_true, y_pred))
VALUES(percentage, tw_mean_absolute_percentage_error(y_true, y_pred))
VALUES(logarithmic, tw_mean_squared_logarithmic_error(y_true, y_pred))
VALUES(hinge, tw_hinge(y_true, y_pred))
VALUES(squared_hinge, tw_squared_hinge(y_true, y_pred))
VALUES(categorical_hinge, tw_categorical_hinge(y_true, y_pred))
VALUES(divergence, tw_kl_divergence(y_true, y_pred))
VALUES(poisson, tw_poisson_loss(y_true, y_pred))
VALUES(log_cosh, tw_log_cosh(y_true, y_pred))

#define CLASS .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric)

TW_CLASS(metrics_mean_squared_error,
         "keras.metrics.MeanSquaredError(name: str = mean_squared_error, dtype: dtype = None) -> metric", CLASS,
         .methods = &squared_methods, .doc = "The mean of squared differences.");
TW_CLASS(metrics_mean_absolute_error,
         "keras.metrics.MeanAbsoluteError(name: str = mean_absolute_error, dtype: dtype = None) -> metric", CLASS,
         .methods = &absolute_methods, .doc = "The mean of absolute differences.");
TW_CLASS(metrics_mean_absolute_percentage_error,
         "keras.metrics.MeanAbsolutePercentageError(name: str = mean_absolute_percentage_error, dtype: dtype = None) -> metric",
         CLASS, .methods = &percentage_methods, .doc = "The mean of absolute differences in percent of the labels.");
TW_CLASS(metrics_mean_squared_logarithmic_error,
         "keras.metrics.MeanSquaredLogarithmicError(name: str = mean_squared_logarithmic_error, dtype: dtype = None) -> metric",
         CLASS, .methods = &logarithmic_methods, .doc = "The mean of squared differences of log(1 + x).");
TW_CLASS(metrics_hinge, "keras.metrics.Hinge(name: str = hinge, dtype: dtype = None) -> metric", CLASS, .methods = &hinge_methods,
         .doc = "The mean of max(1 - y_true * y_pred, 0).");
TW_CLASS(metrics_squared_hinge, "keras.metrics.SquaredHinge(name: str = squared_hinge, dtype: dtype = None) -> metric", CLASS,
         .methods = &squared_hinge_methods, .doc = "The mean of max(1 - y_true * y_pred, 0) squared.");
TW_CLASS(metrics_categorical_hinge,
         "keras.metrics.CategoricalHinge(name: str = categorical_hinge, dtype: dtype = None) -> metric", CLASS,
         .methods = &categorical_hinge_methods, .doc = "The mean categorical hinge.");
TW_CLASS(metrics_kl_divergence,
         "keras.metrics.KLDivergence(name: str = kullback_leibler_divergence, dtype: dtype = None) -> metric", CLASS,
         .methods = &divergence_methods, .doc = "The mean Kullback-Leibler divergence.");
TW_CLASS(metrics_poisson, "keras.metrics.Poisson(name: str = poisson, dtype: dtype = None) -> metric", CLASS,
         .methods = &poisson_methods, .doc = "The mean of y_pred - y_true * log(y_pred).");
TW_CLASS(metrics_log_cosh_error, "keras.metrics.LogCoshError(name: str = logcosh, dtype: dtype = None) -> metric", CLASS,
         .methods = &log_cosh_methods, .doc = "The mean logarithm of the hyperbolic cosine of the differences.");

/* The arguments with which the metric was made, and the call of its function with them. */
#define MADE(type) const type *made = tw_object_config(self)
#define CALL(name, ...) tw__impl_##name(&(tw_##name##_args){ .y_true = y_true, .y_pred = y_pred, __VA_ARGS__ })

static tw_tensor *binary_accuracy_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_binary_accuracy_args);
    return CALL(binary_accuracy, .threshold = made->threshold);
}
static const tw__metric_methods binary_accuracy_methods = { .values = binary_accuracy_values };
TW_CLASS(metrics_binary_accuracy,
         "keras.metrics.BinaryAccuracy(name: str = binary_accuracy, dtype: dtype = None, threshold: float = 0.5) -> metric",
         CLASS, .methods = &binary_accuracy_methods,
         .doc = "How often predictions, 1 above the threshold and else 0, equal labels.");

static tw_tensor *top_k_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_top_k_categorical_accuracy_args);
    return CALL(top_k_categorical_accuracy, .k = made->k);
}
static const tw__metric_methods top_k_methods = { .values = top_k_values };
TW_CLASS(
    metrics_top_k_categorical_accuracy,
    "keras.metrics.TopKCategoricalAccuracy(k: int = 5, name: str = top_k_categorical_accuracy, dtype: dtype = None) -> metric",
    CLASS, .methods = &top_k_methods, .doc = "How often the greatest label is among the k greatest predictions.");

static tw_tensor *sparse_top_k_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_sparse_top_k_categorical_accuracy_args);
    return CALL(sparse_top_k_categorical_accuracy, .k = made->k);
}
static const tw__metric_methods sparse_top_k_methods = { .values = sparse_top_k_values };
TW_CLASS(
    metrics_sparse_top_k_categorical_accuracy,
    "keras.metrics.SparseTopKCategoricalAccuracy(k: int = 5, name: str = sparse_top_k_categorical_accuracy, dtype: dtype = None) -> metric",
    CLASS, .methods = &sparse_top_k_methods, .doc = "How often the label is among the k greatest predictions.");

static tw_tensor *binary_crossentropy_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_binary_crossentropy_args);
    return CALL(binary_crossentropy, .from_logits = made->from_logits, .label_smoothing = made->label_smoothing, .axis = -1);
}
static const tw__metric_methods binary_crossentropy_methods = { .values = binary_crossentropy_values };
TW_CLASS(metrics_binary_crossentropy,
         "keras.metrics.BinaryCrossentropy(name: str = binary_crossentropy, dtype: dtype = None, from_logits: bool = False, "
         "label_smoothing: float = 0) -> metric",
         CLASS, .methods = &binary_crossentropy_methods,
         .doc = "The mean cross-entropy of probabilities with labels of 0 and 1.");

static tw_tensor *categorical_crossentropy_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_categorical_crossentropy_args);
    return CALL(categorical_crossentropy, .from_logits = made->from_logits, .label_smoothing = made->label_smoothing,
                .axis = made->axis);
}
static const tw__metric_methods categorical_crossentropy_methods = { .values = categorical_crossentropy_values };
TW_CLASS(
    metrics_categorical_crossentropy,
    "keras.metrics.CategoricalCrossentropy(name: str = categorical_crossentropy, dtype: dtype = None, from_logits: bool = False, "
    "label_smoothing: float = 0, axis: int = -1) -> metric",
    CLASS, .methods = &categorical_crossentropy_methods, .doc = "The mean cross-entropy of distributions.");

static tw_tensor *sparse_crossentropy_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_sparse_categorical_crossentropy_args);
    return CALL(sparse_categorical_crossentropy, .from_logits = made->from_logits, .ignore_class = made->ignore_class,
                .axis = made->axis);
}
static const tw__metric_methods sparse_crossentropy_methods = { .values = sparse_crossentropy_values };
TW_CLASS(
    metrics_sparse_categorical_crossentropy,
    "keras.metrics.SparseCategoricalCrossentropy(name: str = sparse_categorical_crossentropy, dtype: dtype = None, from_logits: bool = False, "
    "ignore_class: int = None, axis: int = -1) -> metric",
    CLASS, .methods = &sparse_crossentropy_methods,
    .doc = "The mean cross-entropy of distributions with classes given by number.");

static tw_tensor *cosine_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    MADE(tw_metrics_cosine_similarity_args);
    tw_auto tw_tensor *loss = CALL(cosine_similarity, .axis = made->axis);
    return TW_CALL(Neg, loss); /* which is minus the similarity */
}
static const tw__metric_methods cosine_methods = { .values = cosine_values };
TW_CLASS(metrics_cosine_similarity,
         "keras.metrics.CosineSimilarity(name: str = cosine_similarity, dtype: dtype = None, axis: int = -1) -> metric", CLASS,
         .methods = &cosine_methods,
         .doc = "The mean cosine of the angle between labels and predictions.\n"
                "axis: the dimension of the vectors");

/* ---- the root of the mean ---- */

static tw_tensor *root_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)self;
    return TW_CALL(SquaredDifference, y_pred, y_true);
}

static tw_tensor *root_result(tw_metric *self)
{
    tw_auto tw_tensor *mean = tw__metric_mean(self);
    return TW_CALL(Sqrt, mean);
}

static const tw__metric_methods root_methods = { .values = root_values, .result = root_result };

TW_CLASS(metrics_root_mean_squared_error,
         "keras.metrics.RootMeanSquaredError(name: str = root_mean_squared_error, dtype: dtype = None) -> metric", CLASS,
         .methods = &root_methods, .doc = "The root of the mean of squared differences.");

/* ---- Sum ---- */

typedef struct sum {
    tw_metric metric;
    tw_variable *total; /* a reference */
} sum;

static tw_status sum_init(void *self, const void *given)
{
    (void)given;
    sum *metric = self;
    tw_shape scalar = TW_SCALAR;
    metric->metric.layer.built = true;
    metric->total = tw_retain(tw__layer_add_weight(&metric->metric.layer, "total", &scalar, TW_DTYPE_NONE, "zeros", false));
    return metric->total ? TW_OK : tw__error_status();
}

static void sum_visit(void *self, tw__visitor visitor, void *context)
{
    if (((sum *)self)->total)
        visitor(context, &((sum *)self)->total->trackable.object);
}

static void sum_clear(void *self)
{
    tw__set(&((sum *)self)->total, NULL);
}

static tw_tensor *sum_result(tw_metric *self)
{
    return tw__variable_read(((sum *)self)->total);
}

static const tw__metric_methods sum_methods = { .result = sum_result };

TW_CLASS(metrics_sum, "keras.metrics.Sum(name: str = sum, dtype: dtype = None) -> metric", .parent = &tw__class_metric,
         .size = sizeof(sum), .init = sum_init, .visit = sum_visit, .clear = sum_clear, .destroy = sum_clear,
         .methods = &sum_methods, .doc = "The sum of all values so far.");

static tw_status sum_update(tw_metric *self, tw_tensor *given, tw_tensor *sample_weight)
{
    tw_auto tw_tensor *values = tw__cast(given, self->layer.dtype);
    tw_auto tw_tensor *total = NULL;
    if (values && sample_weight)
        TW_TRY(tw__metric_weigh(values, sample_weight, true, &total, NULL));
    else if (values)
        total = tw__sum_axis(values, TW_NO_INT);
    return tw__metric_add(((sum *)self)->total, total);
}

TW_METHOD(sum_update_state, "keras.metrics.Sum.update_state(self: metric, values: tensor, sample_weight: tensor = None)",
          "Adds values.")
{
    return sum_update(args->self, args->values, args->sample_weight);
}

TW_METHOD(sum_call, "keras.metrics.Sum.__call__(self: metric, values: tensor, sample_weight: tensor = None) -> tensor",
          "Adds values and gives the sum.")
{
    size_t since = tw__metric_call_begins();
    return tw__metric_called(args->self, since, sum_update(args->self, args->values, args->sample_weight));
}
