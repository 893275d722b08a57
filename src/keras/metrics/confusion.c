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

tw_status tw__confusion_setup(tw__confusion *self, tw_tensor *thresholds, double usual, const char *const names[TW_CONFUSIONS])
{
    int64_t count = thresholds ? thresholds->count : 1;
    tw_shape shape = self->multi_label ? TW_SHAPE(count, 1, 1) : TW_SHAPE(count, 1);
    self->thresholds = tw__tensor_empty(TW_FLOAT32, &shape);
    if (!self->thresholds)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        double value = thresholds ? tw_tensor_double_at(thresholds, i) : usual;
        if (thresholds && !(value >= 0 && value <= 1))
            return tw__fail(TW_VALUE_ERROR, "Threshold values must be in [0, 1]. Received: %g", value);
        ((float *)self->thresholds->data)[i] = (float)value;
    }
    self->one = count == 1;
    return self->multi_label ? TW_OK : tw__confusion_make_counts(self, names, &TW_SHAPE(count));
}

/* ---- a batch ---- */

/* Predictions that are not among the k greatest of their row become very small; of equal ones the first count. Takes x. */
static tw_tensor *keep_top(tw_tensor *x, int64_t k)
{
    tw_auto tw_tensor *y_pred = x, *number = tw_tensor_int((int32_t)k);
    tw_tensor *found[2] = { NULL, NULL };
    int outputs = 2;
    if (y_pred && (y_pred->shape.rank < 1 || y_pred->shape.dims[y_pred->shape.rank - 1] < 0)) {
        tw__fail(TW_VALUE_ERROR, "top_k: y_pred has shape %s, expected a known number of classes",
                 tw__shape_text(&y_pred->shape));
        return NULL;
    }
    if (!y_pred || !number ||
        tw__apply(&tw__op_TopKV2, TW_IN(y_pred, number), 2, TW_WITH(TW_A_BOOL("sorted", false)), 1, found, &outputs) != TW_OK)
        return NULL;
    tw_auto tw_tensor *indices = found[1], *width = tw_tensor_int((int32_t)y_pred->shape.dims[y_pred->shape.rank - 1]);
    tw_release(found[0]);
    tw_auto tw_tensor *on = tw_tensor_float(1), *off = tw_tensor_float(0);
    tw_auto tw_tensor *hot = TW_CALL(OneHot, indices, width, on, off);
    tw_auto tw_tensor *kept = hot ? tw__reduce_axis(&tw__op_Sum, hot, -2, false) : NULL;
    tw_tensor *rest = kept ? TW_G2(Sub, tw_tensor_float(1), tw_retain(kept)) : NULL;
    return TW_G2(AddV2, TW_G2(Mul, tw_retain(y_pred), tw_retain(kept)), TW_G2(Mul, tw_tensor_float(-1e10f), rest));
}

/* The class's column; takes x. */
static tw_tensor *column(tw_tensor *x, int64_t class_id)
{
    return TW_G3(GatherV2, x, tw_tensor_int((int32_t)class_id), tw_tensor_int(-1));
}

/* All examples in a row, [1, n]; with counts per label [1, n, labels]. Takes x. */
static tw_tensor *as_row(const tw__confusion *self, tw_tensor *x)
{
    if (self->multi_label)
        return TW_G2(ExpandDims, x, tw_tensor_int(0));
    return TW_G2(Reshape, x, tw__ints_tensor((const int64_t[]){ 1, -1 }, 2, TW_INT32));
}

/* The sum over examples of weight where both are true; borrows all. */
static tw_tensor *counted(tw_tensor *a, tw_tensor *b, tw_tensor *weights, tw_dtype dtype)
{
    tw_auto tw_tensor *both = TW_CALL(LogicalAnd, a, b), *ones = both ? tw__cast(both, dtype) : NULL;
    tw_auto tw_tensor *weighted = ones && weights ? TW_CALL(Mul, ones, weights) : tw_retain(ones);
    return weighted ? tw__reduce_axis(&tw__op_Sum, weighted, 1, false) : NULL;
}

static tw_status count(tw__confusion *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    tw_dtype dtype = self->metric.layer.dtype;
    tw_auto tw_tensor *spread =
        sample_weight ? TW_G2(Mul, TW_CALL(OnesLike, y_pred), tw__match_weights(sample_weight, y_pred)) : NULL;
    bool by_label = self->label_weights && !self->multi_label;
    tw_tensor *ones = by_label ? TW_CALL(OnesLike, y_pred) : NULL;
    tw_auto tw_tensor *labels =
        by_label ? TW_G2(Mul, spread ? (tw_release(ones), tw_retain(spread)) : ones, tw_retain(self->label_weights))
                 : tw_retain(spread);
    bool weighted = sample_weight || by_label;
    tw_auto tw_tensor *weights = labels ? as_row(self, tw__cast(labels, dtype)) : NULL;
    tw_auto tw_tensor *zero = tw_tensor_float(0), *label = as_row(self, TW_G2(NotEqual, tw_retain(y_true), tw_retain(zero)));
    tw_auto tw_tensor *row = as_row(self, tw_retain(y_pred)), *above = row ? TW_CALL(Greater, row, self->thresholds) : NULL;
    if (!label || !above || (weighted && !weights))
        return tw__error_status();
    tw_auto tw_tensor *below = TW_CALL(LogicalNot, above), *other = TW_CALL(LogicalNot, label);
    tw_tensor *pairs[TW_CONFUSIONS][2] = { { label, above }, { other, below }, { other, above }, { label, below } };
    for (int i = 0; below && other && i < TW_CONFUSIONS; i++) {
        if (!self->counts[i])
            continue;
        tw_auto tw_tensor *sum = counted(pairs[i][0], pairs[i][1], weights, dtype);
        TW_TRY(tw__metric_add(self->counts[i], sum));
    }
    return below && other ? TW_OK : tw__error_status();
}

tw_status tw__confusion_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    tw__confusion *self = (tw__confusion *)metric;
    tw_auto tw_tensor *labels = tw__cast(y_true, TW_FLOAT32), *given = tw__cast(y_pred, TW_FLOAT32);
    tw_auto tw_tensor *predictions = given && self->from_logits ? TW_CALL(Sigmoid, given) : tw_retain(given);
    if (!labels || !predictions)
        return tw__error_status();
    tw_tensor *matched_labels = NULL, *matched = NULL;
    TW_TRY(tw__match_ranks(labels, predictions, &matched_labels, &matched));
    if (self->top_k != TW_NO_INT)
        matched = keep_top(matched, self->top_k);
    if (self->class_id != TW_NO_INT) {
        matched = column(matched, self->class_id);
        matched_labels = column(matched_labels, self->class_id);
    }
    tw_auto tw_tensor *t = matched_labels, *p = matched;
    return t && p ? count(self, t, p, sample_weight) : tw__error_status();
}

/* The first of a vector of one, else the vector. Takes x. */
static tw_tensor *single(const tw__confusion *self, tw_tensor *x)
{
    return self->one ? TW_G3(GatherV2, x, tw_tensor_int(0), tw_tensor_int(0)) : x;
}

#define V(kind) tw__variable_read(self->counts[kind])
/* ---- one count ---- */

static tw_tensor *count_result(tw_metric *metric)
{
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
    self->top_k = self->class_id = TW_NO_INT;
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

tw_tensor *tw__confusion_share(const tw__confusion *self, int a, int b)
{
    tw_auto tw_tensor *part = V(a);
    return TW_G2(DivNoNan, tw_retain(part), TW_G2(AddV2, tw_retain(part), V(b)));
}

static tw_tensor *share_result(tw_metric *metric)
{
    const tw__confusion *self = (tw__confusion *)metric;
    return single(self, tw__confusion_share(self, TW_TRUE_POSITIVES,
                                            self->counts[TW_FALSE_POSITIVES] ? TW_FALSE_POSITIVES : TW_FALSE_NEGATIVES));
}

static const tw__metric_methods share_methods = { .update = tw__confusion_update, .result = share_result };

static tw_status share_init(tw__confusion *self, tw_tensor *thresholds, int64_t top_k, bool precision)
{
    const char *names[TW_CONFUSIONS] = { [TW_TRUE_POSITIVES] = "true_positives" };
    int other = precision ? TW_FALSE_POSITIVES : TW_FALSE_NEGATIVES;
    names[other] = tw__confusion_names[other];
    return tw__confusion_setup(self, thresholds, top_k == TW_NO_INT ? 0.5 : -1e10, names);
}

static tw_status share_settle(void *self, const void *given)
{
    (void)given;
    tw_metrics_precision_args args; /* by name: Recall's too */
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_metrics_precision, &args);
    ((tw__confusion *)self)->top_k = args.top_k;
    ((tw__confusion *)self)->class_id = args.class_id;
    return TW_OK;
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
    TW_CONFUSION_CLASS, .init = precision_init, .settle = share_settle, .methods = &share_methods,
    .doc = "The part of the positive predictions that is right.");
TW_CLASS(
    metrics_recall,
    "keras.metrics.Recall(thresholds: tensor<float32> = None, top_k: int = None, class_id: int = None, name: str = None, dtype: dtype = None) "
    "-> metric",
    TW_CONFUSION_CLASS, .init = recall_init, .settle = share_settle, .methods = &share_methods,
    .doc = "The part of the positive labels that is predicted.");
