/* Metrics that count true and false positives and negatives above one or several thresholds: the four counts, Precision,
 * Recall. AUC is in auc.c. */
#include <math.h>
#include <stdlib.h>

#include "keras/losses/losses.h"
#include "keras/metrics/confusion.h"
#include "op/array/array.h"
#include "op/calls.h"

const char *const tw__confusion_names[TW_CONFUSIONS] = { "true_positives", "true_negatives", "false_positives",
                                                         "false_negatives" };

tw_status tw__confusion_settle(void *self, const void *given)
{
    (void)given;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_metrics_precision,
                     &((tw__confusion *)self)->settings);
    return TW_OK;
}

void tw__confusion_visit(void *self, tw__visitor visitor, void *context)
{
    for (int i = 0; i < TW_CONFUSIONS; i++) {
        if (((tw__confusion *)self)->counts[i])
            visitor(context, &((tw__confusion *)self)->counts[i]->trackable.object);
    }
}

void tw__confusion_clear(void *self)
{
    for (int i = 0; i < TW_CONFUSIONS; i++)
        tw__set(&((tw__confusion *)self)->counts[i], NULL);
}

void tw__confusion_destroy(void *self)
{
    tw__confusion_clear(self);
    tw__set(&((tw__confusion *)self)->thresholds, NULL);
    tw__set(&((tw__confusion *)self)->label_weights, NULL);
}

tw_status tw__confusion_make_counts(tw__confusion *self, const char *const names[TW_CONFUSIONS], const tw_shape *shape)
{
    self->metric.layer.built = true;
    for (int i = 0; i < TW_CONFUSIONS; i++) {
        if (names[i] && !(self->counts[i] = tw_retain(
                              tw__layer_add_weight(&self->metric.layer, names[i], shape, TW_DTYPE_NONE, "zeros", false))))
            return tw__error_status();
    }
    return TW_OK;
}

/* Even thresholds are kept as their numbers. */
static void find_even(tw__confusion *self)
{
    float *values = self->thresholds->data;
    int64_t count = self->thresholds->count;
    self->even = count >= 3;
    for (int64_t i = 0; self->even && i < count; i++) {
        double place = (double)i / (double)(count - 1);
        self->even = fabs(values[i] - place) <= tw__keras_epsilon() + 1e-5 * place;
    }
    for (int64_t i = 0; self->even && i < count; i++)
        values[i] = (float)i;
}

tw_status tw__confusion_setup(tw__confusion *self, tw_tensor *thresholds, double usual, const char *const names[TW_CONFUSIONS])
{
    int64_t count = thresholds ? thresholds->count : 1;
    tw_shape shape = self->multi_label ? TW_SHAPE(count, 1, 1) : TW_SHAPE(count, 1);
    self->thresholds = tw__tensor_empty(TW_FLOAT32, &shape);
    TW_NEED(self->thresholds);
    for (int64_t i = 0; i < count; i++) {
        double value = thresholds ? tw_tensor_double_at(thresholds, i) : usual;
        if (thresholds && !(value >= 0 && value <= 1))
            return tw__fail(TW_VALUE_ERROR, "Threshold values must be in [0, 1]. Received: %g", value);
        ((float *)self->thresholds->data)[i] = (float)value;
    }
    self->one = count == 1;
    find_even(self);
    return self->multi_label ? TW_OK : tw__confusion_make_counts(self, names, &TW_SHAPE(count));
}

/* ---- a batch ---- */

/* Predictions that are not among the k greatest of their row become very small; of equal ones the first count. Left to t. */
static tw_tensor *keep_top(tw__temps *t, tw_tensor *y_pred, int64_t k)
{
    int last = y_pred->shape.rank - 1;
    tw_tensor *found[2];
    if (last < 0 || y_pred->shape.dims[last] < 0) {
        tw__fail(TW_VALUE_ERROR, "top_k: y_pred has shape %s, expected a known number of classes",
                 tw__shape_text(&y_pred->shape));
        return NULL;
    }
    if (TW_TEMP_ALL(found, TopKV2, y_pred, (int)k, TW_A_BOOL("sorted", false)) != TW_OK)
        return NULL;
    tw_tensor *one = tw__temp(t, tw_tensor_float(1));
    tw_tensor *hot = TW_TEMP(OneHot, found[1], (int)y_pred->shape.dims[last], one, tw__temp(t, tw_tensor_float(0)));
    tw_tensor *kept = tw__temp(t, tw__sum_axis(hot, -2));
    return TW_TEMP(AddV2, TW_TEMP(Mul, y_pred, kept), TW_TEMP(Mul, (double)-1e10f, TW_TEMP(Sub, 1.0, kept)));
}

/* The class's column, left to t. */
static tw_tensor *column(tw__temps *t, tw_tensor *x, int64_t class_id)
{
    return TW_TEMP(GatherV2, x, (int)class_id, -1);
}

/* All examples in a row, [1, n]; with counts per label [1, n, labels]. Left to t. */
static tw_tensor *as_row(tw__temps *t, const tw__confusion *self, tw_tensor *x)
{
    return self->multi_label ? TW_TEMP(ExpandDims, x, 0)
                             : TW_TEMP(Reshape, x, tw__temp_ints(t, (const int64_t[]){ 1, -1 }, 2, TW_INT32));
}

/* Which predictions lie above which thresholds. Keras finds the place of a prediction among even thresholds by its value, as one
 * between 0 and 1. Left to t. */
static tw_tensor *places_above(tw__temps *t, const tw__confusion *self, tw_tensor *y_pred)
{
    tw_tensor *row = as_row(t, self, y_pred);
    if (!self->even)
        return TW_TEMP(Greater, row, self->thresholds);
    tw_tensor *within = TW_TEMP(Maximum, TW_TEMP(Minimum, row, 1.0), 0.0);
    tw_tensor *place = TW_TEMP(Sub, TW_TEMP(Ceil, TW_TEMP(Mul, within, (double)(self->thresholds->count - 1))), 1.0);
    return TW_TEMP(GreaterEqual, self->above_first ? TW_TEMP(Maximum, place, 0.0) : place, self->thresholds);
}

/* The sum over examples of weight where both are true. */
static tw_tensor *counted(tw__temps *t, tw_tensor *a, tw_tensor *b, tw_tensor *weights, tw_dtype dtype)
{
    tw_tensor *ones = tw__temp_cast(t, TW_TEMP(LogicalAnd, a, b), dtype);
    return tw__temp(t, tw__sum_axis(weights ? TW_TEMP(Mul, ones, weights) : ones, 1));
}

static tw_status count(tw__confusion *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    tw_dtype dtype = self->metric.layer.dtype;
    bool by_label = self->label_weights && !self->multi_label;
    tw_tensor *weights = sample_weight || by_label ? TW_TEMP(OnesLike, y_pred) : NULL;
    if (sample_weight)
        weights = TW_TEMP(Mul, weights, tw__temp(t, tw__match_weights(sample_weight, y_pred)));
    if (by_label)
        weights = TW_TEMP(Mul, weights, self->label_weights);
    if (sample_weight || by_label)
        TW_NEED(weights = as_row(t, self, tw__temp_cast(t, weights, dtype)));
    tw_tensor *label = as_row(t, self, TW_TEMP(NotEqual, y_true, 0.0)), *other = TW_TEMP(LogicalNot, label);
    tw_tensor *above = places_above(t, self, y_pred), *below = TW_TEMP(LogicalNot, above);
    tw_tensor *pairs[TW_CONFUSIONS][2] = { { label, above }, { other, below }, { other, above }, { label, below } };
    for (int i = 0; i < TW_CONFUSIONS; i++) {
        if (self->counts[i])
            TW_TRY(tw__metric_add(self->counts[i], counted(t, pairs[i][0], pairs[i][1], weights, dtype)));
    }
    return TW_OK;
}

tw_status tw__confusion_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    tw__confusion *self = (tw__confusion *)metric;
    tw_tensor *given = tw__temp_cast(t, y_true, TW_FLOAT32), *predicted = tw__temp_cast(t, y_pred, TW_FLOAT32);
    if (!given || !predicted)
        return tw__error_status();
    tw_tensor *labels, *predictions;
    TW_TRY(tw__match_ranks(given, predicted, &labels, &predictions));
    labels = tw__temp(t, labels), predictions = tw__temp(t, predictions);
    if (predictions && self->settings.top_k != TW_NO_INT)
        predictions = keep_top(t, predictions, self->settings.top_k);
    if (self->settings.class_id != TW_NO_INT) {
        predictions = column(t, predictions, self->settings.class_id);
        labels = column(t, labels, self->settings.class_id);
    }
    return labels && predictions ? count(self, labels, predictions, sample_weight) : tw__error_status();
}

/* The first of a vector of one, else the vector; a new reference. */
static tw_tensor *single(const tw__confusion *self, tw_tensor *x)
{
    return self->one ? TW_CALL(GatherV2, x, 0, 0) : tw_retain(x);
}

#define V(kind) tw__temp(t, tw__variable_read(self->counts[kind]))
/* ---- one count ---- */

static tw_tensor *count_result(tw_metric *metric)
{
    TW_TEMPS(t);
    const tw__confusion *self = (tw__confusion *)metric;
    int kind = 0;
    while (kind < TW_CONFUSIONS - 1 && !self->counts[kind])
        kind++;
    return single(self, V(kind));
}

static const tw__metric_methods count_methods = { .update = tw__confusion_update, .result = count_result };

static tw_status count_init(tw__confusion *self, tw_tensor *thresholds, int kind)
{
    const char *names[TW_CONFUSIONS] = { NULL };
    names[kind] = "accumulator";
    return tw__confusion_setup(self, thresholds, 0.5, names);
}

static tw_status true_positives_init(void *self, const void *given)
{
    return count_init(self, ((const tw_metrics_true_positives_args *)given)->thresholds, TW_TRUE_POSITIVES);
}

static tw_status true_negatives_init(void *self, const void *given)
{
    return count_init(self, ((const tw_metrics_true_negatives_args *)given)->thresholds, TW_TRUE_NEGATIVES);
}

static tw_status false_positives_init(void *self, const void *given)
{
    return count_init(self, ((const tw_metrics_false_positives_args *)given)->thresholds, TW_FALSE_POSITIVES);
}

static tw_status false_negatives_init(void *self, const void *given)
{
    return count_init(self, ((const tw_metrics_false_negatives_args *)given)->thresholds, TW_FALSE_NEGATIVES);
}

TW_CLASS(metrics_true_positives,
         "keras.metrics.TruePositives(thresholds: tensor<float32> = None, name: str = None, dtype: dtype = None) -> metric",
         TW_CONFUSION_CLASS, .init = true_positives_init, .methods = &count_methods,
         .doc = "How many predictions above the threshold are right.");
TW_CLASS(metrics_true_negatives,
         "keras.metrics.TrueNegatives(thresholds: tensor<float32> = None, name: str = None, dtype: dtype = None) -> metric",
         TW_CONFUSION_CLASS, .init = true_negatives_init, .methods = &count_methods,
         .doc = "How many predictions not above the threshold are right.");
TW_CLASS(metrics_false_positives,
         "keras.metrics.FalsePositives(thresholds: tensor<float32> = None, name: str = None, dtype: dtype = None) -> metric",
         TW_CONFUSION_CLASS, .init = false_positives_init, .methods = &count_methods,
         .doc = "How many predictions above the threshold are wrong.");
TW_CLASS(metrics_false_negatives,
         "keras.metrics.FalseNegatives(thresholds: tensor<float32> = None, name: str = None, dtype: dtype = None) -> metric",
         TW_CONFUSION_CLASS, .init = false_negatives_init, .methods = &count_methods,
         .doc = "How many predictions not above the threshold are wrong.");

/* ---- precision and recall ---- */

tw_tensor *tw__confusion_share(tw__temps *t, const tw__confusion *self, int a, int b)
{
    tw_tensor *part = V(a);
    return TW_TEMP(DivNoNan, part, TW_TEMP(AddV2, part, V(b)));
}

static tw_tensor *share_result(tw_metric *metric)
{
    TW_TEMPS(t);
    const tw__confusion *self = (tw__confusion *)metric;
    int other = self->counts[TW_FALSE_POSITIVES] ? TW_FALSE_POSITIVES : TW_FALSE_NEGATIVES;
    return single(self, tw__confusion_share(t, self, TW_TRUE_POSITIVES, other));
}

static const tw__metric_methods share_methods = { .update = tw__confusion_update, .result = share_result };

static tw_status share_init(tw__confusion *self, tw_tensor *thresholds, int64_t top_k, bool precision)
{
    const char *names[TW_CONFUSIONS] = { [TW_TRUE_POSITIVES] = "true_positives" };
    int other = precision ? TW_FALSE_POSITIVES : TW_FALSE_NEGATIVES;
    names[other] = tw__confusion_names[other];
    return tw__confusion_setup(self, thresholds, top_k == TW_NO_INT ? 0.5 : -1e10, names);
}

static tw_status precision_init(void *self, const void *given)
{
    const tw_metrics_precision_args *args = given;
    return share_init(self, args->thresholds, args->top_k, true);
}

static tw_status recall_init(void *self, const void *given)
{
    const tw_metrics_recall_args *args = given;
    return share_init(self, args->thresholds, args->top_k, false);
}

TW_CLASS(
    metrics_precision,
    "keras.metrics.Precision(thresholds: tensor<float32> = None, top_k: int = None, class_id: int = None, name: str = None, dtype: dtype = None) "
    "-> metric",
    TW_CONFUSION_CLASS, .init = precision_init, .methods = &share_methods,
    .doc = "The part of the positive predictions that is right.\n"
           "example: tf.keras.metrics.Precision()([0, 1, 1, 0], [1, 1, 0, 0]).numpy()  # 0.5");
TW_CLASS(
    metrics_recall,
    "keras.metrics.Recall(thresholds: tensor<float32> = None, top_k: int = None, class_id: int = None, name: str = None, dtype: dtype = None) "
    "-> metric",
    TW_CONFUSION_CLASS, .init = recall_init, .methods = &share_methods,
    .doc = "The part of the positive labels that is predicted.\n"
           "example: tf.keras.metrics.Recall()([0, 1, 1, 0], [1, 1, 0, 0]).numpy()  # 0.5");
