/* keras.metrics: running means over batches. A metric is a layer with the variables `total` and `count`; its result is their
 * quotient.
 *
 * Mean takes values; the others compute values from labels and predictions first (MeanMetricWrapper). */
#include "distribute/distribute.h"
#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "keras/own.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "session/session.h"

static tw_status metric_init(void *self, const void *given)
{
    (void)given;
    tw_metric *metric = self;
    tw_shape scalar = TW_SCALAR;
    metric->layer.built = true;
    metric->total = tw_retain(tw__layer_add_weight(&metric->layer, "total", &scalar, TW_DTYPE_NONE, "zeros", false));
    metric->count =
        metric->total ? tw_retain(tw__layer_add_weight(&metric->layer, "count", &scalar, TW_DTYPE_NONE, "zeros", false)) : NULL;
    return metric->count ? TW_OK : tw__error_status();
}

static void metric_visit(void *self, tw__visitor visitor, void *context)
{
    tw_metric *metric = self;
    if (metric->total)
        visitor(context, &metric->total->trackable.object);
    if (metric->count)
        visitor(context, &metric->count->trackable.object);
}

static void metric_clear(void *self)
{
    tw_metric *metric = self;
    tw__set(&metric->total, NULL);
    tw__set(&metric->count, NULL);
}

/* Every metric's methods are of this type. */
static const tw__metric_methods base_methods = { .values = NULL };

TW_CLASS(metric, "keras.metrics.Metric(name: str = None, dtype: dtype = None)", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &base_methods, .doc = "The base of metrics.");

TW_CLASS(metrics_mean, "keras.metrics.Mean(name: str = mean, dtype: dtype = None) -> metric", .parent = &tw__class_metric,
         .size = sizeof(tw_metric), .fixed = " name dtype ", .init = metric_init, .destroy = metric_clear, .visit = metric_visit,
         .clear = metric_clear,
         .doc = "The mean of all values so far.\n"
                "example: tf.keras.metrics.Mean()([1.0, 3.0]).numpy()  # 2.0");

/* ---- updating ---- */

static tw_status check(const tw_metric *metric, const char *method)
{
    const tw__metric_methods *methods = tw__methods(metric);
    if ((methods && methods->result) || (tw__is(metric, &tw__class_metrics_mean) && metric->count))
        return TW_OK;
    return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "%s.%s: must be implemented in subclasses", tw_class_name(metric), method);
}

tw_status tw__metric_add(tw_variable *variable, tw_tensor *value)
{
    return value ? tw__variable_update(variable, &tw__op_AssignAddVariableOp, value) : tw__error_status();
}

tw_status tw__metric_expect_rows(const char *name, const tw_shape *labels, const tw_shape *predictions)
{
    bool rows = labels->rank == 2 && predictions->rank == 2;
    if (rows && labels->dims[1] >= 0 && predictions->dims[1] >= 0)
        return TW_OK;
    tw__owned char *got = tw__shape_tuple(predictions), *got_labels = tw__shape_tuple(labels);
    return tw__fail(TW_VALUE_ERROR,
                    "%s expects 2D inputs with shape (batch_size, output_dim)%s. Received input shapes: y_pred.shape=%s and "
                    "y_true.shape=%s.",
                    name, rows ? ", with output_dim fully defined (not None)" : "", got ? got : "", got_labels ? got_labels : "");
}

/* Values that have more axes than their weights are averaged over those, or summed. */
static tw_tensor *reduce_to_rank(tw_tensor *values, int rank, const tw_op *op)
{
    TW_TEMPS(t);
    while (values && values->shape.rank > rank)
        values = tw__temp(t, tw__reduce_axis(op, values, -1, false));
    return tw__keep(t, values);
}

/* Whether weights spread over the values: a scalar, or of the same rank with 1 or the same number in every place. */
static bool spreads(const tw_shape *weights, const tw_shape *values)
{
    if (weights->rank == 0 || weights->rank < 0 || values->rank < 0)
        return true;
    if (weights->rank != values->rank)
        return false;
    for (int i = 0; i < weights->rank; i++) {
        if (weights->dims[i] != 1 && weights->dims[i] >= 0 && values->dims[i] >= 0 && weights->dims[i] != values->dims[i])
            return false;
    }
    return true;
}

tw_status tw__metric_weigh(tw_tensor *values, tw_tensor *sample_weight, bool sums, tw_tensor **weighted_sum,
                           tw_tensor **weight_sum)
{
    TW_TEMPS(t);
    tw_tensor *weights = tw__temp(t, tw__match_weights(sample_weight, values)), *spread = weights;
    TW_NEED(weights);
    if (spreads(&weights->shape, &values->shape))
        spread = TW_TEMP(Mul, TW_TEMP(OnesLike, values), weights);
    else
        values = tw__temp(t, reduce_to_rank(values, weights->shape.rank, sums ? &tw__op_Sum : &tw__op_Mean));
    TW_NEED(*weighted_sum = tw__sum_axis(TW_TEMP(Mul, values, weights), TW_NO_INT));
    if (!weight_sum || (*weight_sum = tw__sum_axis(spread, TW_NO_INT)))
        return TW_OK;
    tw__set(weighted_sum, NULL);
    return tw__error_status();
}

static tw_status update(tw_metric *metric, tw_tensor *given, tw_tensor *sample_weight)
{
    tw_auto tw_tensor *values = tw__cast(given, metric->layer.dtype), *total = NULL, *count = NULL;
    TW_NEED(values);
    if (sample_weight) {
        TW_TRY(tw__metric_weigh(values, sample_weight, false, &total, &count));
    } else {
        total = values->shape.rank ? tw__sum_axis(values, TW_NO_INT) : tw_retain(values);
        count = tw__count_scalar(values, metric->layer.dtype);
    }
    TW_TRY(tw__metric_add(metric->total, total));
    return tw__metric_add(metric->count, count);
}

tw_tensor *tw__metric_mean(tw_metric *metric)
{
    tw_auto tw_tensor *total = tw__variable_read(metric->total), *count = tw__variable_read(metric->count);
    return TW_CALL(DivNoNan, total, count);
}

static tw_tensor *own_result(void *self)
{
    const tw__metric_methods *methods = tw__methods(self);
    return methods && methods->result ? methods->result(self) : tw__metric_mean(self);
}

static tw_tensor *result(tw_metric *metric)
{
    return tw__replicas_once(own_result, metric);
}

size_t tw__metric_call_begins(void)
{
    return tw__in_lasting() ? tw__tracing->node_count : 0;
}

/* In a graph that a session runs nothing happens for its place alone: the result has to follow the updates. */
static tw_status begin_result(size_t since)
{
    if (!tw__in_lasting())
        return TW_OK;
    int count = 0;
    tw__owned tw__node **updates = tw__effects_since(tw__tracing, since, &count);
    TW_NEED(updates);
    return tw__control_push(tw__tracing, updates, count, false);
}

static void end_result(void)
{
    if (tw__in_lasting())
        tw__control_pop(tw__tracing);
}

tw_tensor *tw__metric_called(tw_metric *metric, size_t since, tw_status updated)
{
    if (updated != TW_OK || begin_result(since) != TW_OK)
        return NULL;
    tw_tensor *output = tw__note_metric(result(metric), metric);
    end_result();
    return output;
}

/* The same for metrics whose methods are an embedding language's. */
TW_METHOD(metric_call_begins, "keras.metrics.Metric._call_begins(self: metric) -> int",
          "How large the session's graph is that is being made; -1 elsewhere.")
{
    (void)args;
    return tw__in_lasting() ? (int64_t)tw__tracing->node_count : -1;
}

TW_METHOD(metric_result_begins, "keras.metrics.Metric._result_begins(self: metric, since: int)",
          "What is added from here on follows the updates since a call began.")
{
    return args->since >= 0 ? begin_result((size_t)args->since) : TW_OK;
}

TW_METHOD(metric_result_ends, "keras.metrics.Metric._result_ends(self: metric, since: int)", "Ends what _result_begins began.")
{
    if (args->since >= 0)
        end_result();
    return TW_OK;
}

TW_METHOD(mean_update_state, "keras.metrics.Mean.update_state(self: metric, values: tensor, sample_weight: tensor = None)",
          "Adds values.")
{
    TW_TRY(check(args->self, "update_state"));
    return update(args->self, args->values, args->sample_weight);
}

TW_METHOD(mean_call, "keras.metrics.Mean.__call__(self: metric, values: tensor, sample_weight: tensor = None) -> tensor",
          "Adds values and gives the mean.")
{
    size_t since = tw__metric_call_begins();
    return check(args->self, "__call__") == TW_OK
               ? tw__metric_called(args->self, since, update(args->self, args->values, args->sample_weight))
               : NULL;
}

TW_METHOD(metric_result, "keras.metrics.Metric.result(self: metric) -> tensor",
          "The mean of everything added since the last reset.")
{
    return check(args->self, "result") == TW_OK ? result(args->self) : NULL;
}

TW_METHOD(metric_reset_state, "keras.metrics.Metric.reset_state|keras.metrics.Metric.reset_states(self: metric)", "Begins again.")
{
    tw__owned tw_variable **variables = NULL;
    int64_t count;
    TW_TRY(tw__collect_variables(&args->self->layer.trackable, TW_ALL_VARIABLES, &variables, &count));
    for (int64_t i = 0; i < count; i++) {
        tw_auto tw_tensor *zeros = tw_tensor_new(variables[i]->resource->dtype, variables[i]->resource->shape, NULL);
        TW_NEED(zeros);
        TW_TRY(tw__variable_update(variables[i], &tw__op_AssignVariableOp, zeros));
    }
    return TW_OK;
}

static tw_status merge(tw_metric *self, tw_metric *other)
{
    tw__owned tw_variable **own = NULL, **others = NULL;
    int64_t count, other_count;
    TW_TRY(tw__collect_variables(&self->layer.trackable, TW_ALL_VARIABLES, &own, &count));
    TW_TRY(tw__collect_variables(&other->layer.trackable, TW_ALL_VARIABLES, &others, &other_count));
    if (count != other_count)
        return tw__fail(TW_VALUE_ERROR, "Metric %s is not compatible with %s", other->layer.name, self->layer.name);
    for (int64_t i = 0; i < count; i++) {
        tw_auto tw_tensor *value = tw__variable_read(others[i]);
        TW_NEED(value);
        TW_TRY(tw__variable_update(own[i], &tw__op_AssignAddVariableOp, value));
    }
    return TW_OK;
}

TW_METHOD(metric_merge_state, "keras.metrics.Metric.merge_state(self: metric, metrics: list<metric>)",
          "Adds what other metrics of the same kind have gathered.\n"
          "metrics: the other metrics")
{
    for (int64_t i = 0; i < args->metrics.count; i++)
        TW_TRY(merge(args->self, args->metrics.items[i]));
    return TW_OK;
}

TW_METHOD(metric_note, "keras.metrics.Metric._note(self: metric, result: tensor) -> tensor",
          "The result, which is known to be this metric's from now on.")
{
    return tw__note_metric(tw_retain(args->result), args->self);
}

TW_METHOD(metric_get_config, "keras.metrics.Metric.get_config(self: metric) -> value",
          "The arguments that would make the same metric again.")
{
    if (tw__is_own(args->self))
        return tw__own_config(args->self);
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "name", args->self->layer.name);
    tw__dict_put_str(&dict, "dtype", tw_dtype_name(args->self->layer.dtype));
    const tw__metric_methods *methods = tw__methods(args->self);
    if (methods->layer.config)
        methods->layer.config(&args->self->layer, &dict);
    char skip[100];
    snprintf(skip, sizeof skip, " name dtype %s", methods->layer.own_config ? methods->layer.own_config : "");
    tw__dict_put_config(&dict, args->self, skip);
    return tw__dict_take(&dict);
}

/* ---- metrics of labels and predictions ---- */

/* TensorFlow keeps the function's arguments here; checkpoints have its node. RootMeanSquaredError has no function. */
static tw_status wrapper_init(void *self, const void *given)
{
    (void)given;
    if (tw_class_of(self) == &tw__class_metrics_root_mean_squared_error)
        return TW_OK;
    tw_auto tw_trackable *arguments = tw__container_new();
    TW_NEED(arguments);
    return tw__track(self, "_fn_kwargs", arguments);
}

TW_CLASS(metrics_mean_metric_wrapper, "keras.metrics.MeanMetricWrapper(name: str = None, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean, .size = sizeof(tw_metric), .init = wrapper_init, .inert = " *",
         .doc = "The mean of a function of labels and predictions; the base of such metrics.");

/* Both in the metric's dtype, and of ranks that fit: two new references. */
static tw_status match(const tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor **labels, tw_tensor **predictions)
{
    tw_auto tw_tensor *cast_labels = tw__cast(y_true, metric->layer.dtype);
    tw_auto tw_tensor *cast_predictions = cast_labels ? tw__cast(y_pred, metric->layer.dtype) : NULL;
    return cast_predictions ? tw__match_ranks(cast_labels, cast_predictions, labels, predictions) : tw__error_status();
}

/* Adds what a function gave, which may have a mask: classes that are ignored. */
static tw_status add_values(tw_metric *metric, tw_tensor *values, tw_tensor *sample_weight)
{
    if (!tw__mask_of(values))
        return update(metric, values, sample_weight);
    tw_auto tw_tensor *mask = tw__cast(tw__mask_of(values), values->dtype);
    tw_auto tw_tensor *weights = mask ? tw__mask_weights(sample_weight, mask) : NULL;
    return weights ? update(metric, values, weights) : tw__error_status();
}

static tw_status update_wrapped(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    const tw__metric_methods *methods = tw__methods(metric);
    if (methods && methods->update)
        return methods->update(metric, y_true, y_pred, sample_weight);
    if (!tw__is(metric, &tw__class_metrics_mean_metric_wrapper) || !methods->values)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "%s.update_state: must be implemented in subclasses", tw_class_name(metric));
    tw_auto tw_tensor *labels = NULL, *predictions = NULL;
    TW_TRY(match(metric, y_true, y_pred, &labels, &predictions));
    tw_auto tw_tensor *values = methods->values(metric, labels, predictions);
    return values ? add_values(metric, values, sample_weight) : tw__error_status();
}

TW_METHOD(wrapper_match, "keras.metrics.MeanMetricWrapper._match(self: metric, y_true: tensor, y_pred: tensor) -> tensors",
          "Labels and predictions as the function gets them.")
{
    tw_tensors pair = { tw__alloc_zero(2 * sizeof(tw_tensor *)), 2 };
    if (pair.items && match(args->self, args->y_true, args->y_pred, &pair.items[0], &pair.items[1]) == TW_OK)
        return pair;
    tw_tensors_free(&pair);
    return (tw_tensors){ NULL, 0 };
}

TW_METHOD(wrapper_add, "keras.metrics.MeanMetricWrapper._add(self: metric, values: tensor, sample_weight: tensor = None)",
          "Adds what the function gave.")
{
    return add_values(args->self, args->values, args->sample_weight);
}

TW_METHOD(
    metric_update,
    "keras.metrics.MeanMetricWrapper.update_state(self: metric, y_true: tensor, y_pred: tensor, sample_weight: tensor = None)",
    "Adds a batch.")
{
    return update_wrapped(args->self, args->y_true, args->y_pred, args->sample_weight);
}

TW_METHOD(
    metric_call,
    "keras.metrics.MeanMetricWrapper.__call__(self: metric, y_true: tensor, y_pred: tensor, sample_weight: tensor = None) -> tensor",
    "Adds a batch and gives the mean.")
{
    size_t since = tw__metric_call_begins();
    return tw__metric_called(args->self, since, update_wrapped(args->self, args->y_true, args->y_pred, args->sample_weight));
}

/* The base of metrics that count: they have variables of their own. */
TW_CLASS(counting_metric, "keras.metrics._CountingMetric(name: str = None, dtype: dtype = None) -> metric",
         .parent = &tw__class_metric, .size = sizeof(tw_metric), .doc = "The base of metrics that count labels and predictions.");

TW_METHOD(
    counting_metric_update,
    "keras.metrics._CountingMetric.update_state(self: metric, y_true: tensor, y_pred: tensor, sample_weight: tensor = None)",
    "Adds a batch.")
{
    return update_wrapped(args->self, args->y_true, args->y_pred, args->sample_weight);
}

TW_METHOD(
    counting_metric_call,
    "keras.metrics._CountingMetric.__call__(self: metric, y_true: tensor, y_pred: tensor, sample_weight: tensor = None) -> tensor",
    "Adds a batch and gives the result.")
{
    size_t since = tw__metric_call_begins();
    return tw__metric_called(args->self, since, update_wrapped(args->self, args->y_true, args->y_pred, args->sample_weight));
}

/* 1 where the two are equal, 0 elsewhere, as float32. */
static tw_tensor *matches(tw_tensor *a, tw_tensor *b)
{
    tw_auto tw_tensor *equal = TW_CALL(Equal, a, b);
    return tw__cast(equal, TW_FLOAT32);
}

static tw_tensor *sparse_categorical_matches(tw_tensor *y_true, tw_tensor *y_pred)
{
    TW_TEMPS(t);
    if (y_pred->shape.rank < 1) {
        tw__fail(TW_VALUE_ERROR, "sparse_categorical_accuracy: y_pred is a scalar, expected one value per class");
        return NULL;
    }
    bool same_rank = y_true->shape.rank == y_pred->shape.rank;
    int64_t last = same_rank ? y_true->shape.dims[y_true->shape.rank - 1] : 1;
    if (last != 1 && last != -1) {
        tw__fail(TW_INVALID_ARGUMENT, "sparse_categorical_accuracy: y_true has shape %s and y_pred %s",
                 tw__shape_text(&y_true->shape), tw__shape_text(&y_pred->shape));
        return NULL;
    }
    tw_tensor *labels = same_rank ? tw__temp(t, tw__drop_last_axis(y_true)) : y_true;
    tw_tensor *classes = labels ? tw__temp_cast(t, TW_TEMP(ArgMax, y_pred, -1), labels->dtype) : NULL;
    tw_tensor *found = matches(labels, classes);
    return same_rank ? tw__reshape_like(found, y_true) : found;
}

static tw_tensor *categorical_matches(tw_tensor *y_true, tw_tensor *y_pred)
{
    TW_TEMPS(t);
    return matches(TW_TEMP(ArgMax, y_true, -1), TW_TEMP(ArgMax, y_pred, -1));
}

TW_API(sparse_categorical_accuracy, "keras.metrics.sparse_categorical_accuracy(y_true: tensor, y_pred: tensor) -> tensor",
       "1 where the largest prediction is the label's, else 0.")
{
    return sparse_categorical_matches(args->y_true, args->y_pred);
}

TW_API(categorical_accuracy, "keras.metrics.categorical_accuracy(y_true: tensor, y_pred: tensor) -> tensor",
       "1 where the largest prediction stands where the largest label does, else 0.")
{
    return categorical_matches(args->y_true, args->y_pred);
}

static tw_tensor *sparse_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)self;
    return sparse_categorical_matches(y_true, y_pred);
}

static tw_tensor *categorical_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)self;
    return categorical_matches(y_true, y_pred);
}

static tw_tensor *equal_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)self;
    return matches(y_true, y_pred);
}

static const tw__metric_methods sparse_methods = { .values = sparse_values };

TW_CLASS(metrics_sparse_categorical_accuracy,
         "keras.metrics.SparseCategoricalAccuracy(name: str = sparse_categorical_accuracy, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric), .methods = &sparse_methods,
         .doc = "How often the largest prediction is the label's.");

static const tw__metric_methods categorical_methods = { .values = categorical_values };

TW_CLASS(metrics_categorical_accuracy,
         "keras.metrics.CategoricalAccuracy(name: str = categorical_accuracy, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric), .methods = &categorical_methods,
         .doc = "How often the largest prediction stands where the largest label does.");

static const tw__metric_methods accuracy_methods = { .values = equal_values };

TW_CLASS(metrics_accuracy, "keras.metrics.Accuracy(name: str = accuracy, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric), .methods = &accuracy_methods,
         .doc = "How often predictions equal labels.\n"
                "example: tf.keras.metrics.Accuracy()([1, 2, 3, 4], [1, 2, 3, 5]).numpy()  # 0.75");
