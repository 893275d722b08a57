/* AUC: the area under a curve of rates over thresholds, of all labels together or as a mean over the labels. */
#include <stdlib.h>

#include "keras/losses/losses.h"
#include "keras/metrics/confusion.h"
#include "op/array/array.h"
#include "op/calls.h"

#define V(kind) tw__temp(t, tw__variable_read(self->counts[kind]))

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Of the metric's dtype, none below 0. */
static tw_status take_label_weights(tw__confusion *self, tw_tensor *given)
{
    if (!given)
        return TW_OK;
    if (!(self->label_weights = tw__cast(given, self->metric.layer.dtype)))
        return tw__error_status();
    for (int64_t i = 0; i < given->count; i++) {
        if (tw_tensor_double_at(given, i) < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "All values of `label_weights` must be non-negative.");
    }
    return given->shape.rank == 1 ? TW_OK
                                  : tw__fail(TW_VALUE_ERROR, "AUC: label_weights has rank %d, expected 1", given->shape.rank);
}

static tw_status make_counts(tw__confusion *self, const tw_shape *predictions)
{
    if (self->counts[0])
        return TW_OK;
    if (predictions->rank == 2 && predictions->dims[1] >= 0) {
        tw_value_free(&self->metric.layer.build_shape);
        self->metric.layer.build_shape = tw__shape_value(predictions);
        return tw__confusion_make_counts(self, tw__confusion_names, &TW_SHAPE(self->thresholds->count, predictions->dims[1]));
    }
    tw__owned char *shape = tw__shape_tuple(predictions);
    return tw__fail(TW_VALUE_ERROR,
                    "`y_pred` must have rank 2 when `multi_label=True`. Found rank %d. Full shape received for `y_pred`: %s",
                    predictions->rank, shape ? shape : "");
}

static tw_status auc_init(void *self, const void *given)
{
    const tw_metrics_auc_args *args = given;
    tw__confusion *metric = self;
    bool labels = args->num_labels != TW_NO_INT && args->num_labels != 0;
    if (labels && !args->multi_label)
        return tw__fail(TW_VALUE_ERROR, "`num_labels` is needed only when `multi_label` is True.");
    if (labels && args->num_labels < 0)
        return tw__fail(TW_VALUE_ERROR, "AUC: num_labels is %lld, expected a positive number", (long long)args->num_labels);
    TW_TRY(take_label_weights(metric, args->label_weights));
    metric->multi_label = args->multi_label;
    int64_t inner = args->thresholds ? args->thresholds->count : args->num_thresholds - 2;
    if (inner < 0 || inner > 1 << 24)
        return tw__fail(TW_VALUE_ERROR, "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=%lld",
                        (long long)args->num_thresholds);
    tw_auto tw_tensor *all = tw__tensor_empty(TW_FLOAT32, &TW_SHAPE(inner + 2));
    TW_NEED(all);
    float *values = all->data;
    for (int64_t i = 0; i < inner; i++)
        values[i + 1] =
            (float)(args->thresholds ? tw_tensor_double_at(args->thresholds, i) : (double)(i + 1) / (double)(inner + 1));
    qsort(values + 1, (size_t)inner, sizeof *values, by_value);
    values[0] = 0;
    values[inner + 1] = 1;
    TW_TRY(tw__confusion_setup(metric, all, 0, tw__confusion_names));
    metric->above_first = true;
    if (!metric->even) { /* so that 0 lies above the first and 1 below the last */
        ((float *)metric->thresholds->data)[0] = (float)(0 - tw__keras_epsilon());
        ((float *)metric->thresholds->data)[inner + 1] = (float)(1 + tw__keras_epsilon());
    }
    return labels ? make_counts(metric, &TW_SHAPE(-1, args->num_labels)) : TW_OK;
}

/* ---- a batch ---- */

/* The number of labels is the same everywhere; Keras checks it where there are weights of labels. */
static tw_status check_labels(const tw__confusion *self, const tw_shape *labels, const tw_shape *predictions)
{
    const tw_tensor *weights = self->label_weights;
    int64_t counted = self->multi_label ? self->counts[0]->resource->shape.dims[1] : labels->rank == 2 ? labels->dims[1] : -1;
    if (weights && labels->rank >= 0 && labels->rank != 2)
        return tw__fail(TW_VALUE_ERROR, "Number of labels is not consistent..  Tensor y_true must have rank 2.  Received rank %d",
                        labels->rank);
    if (weights && labels->rank == 2 && labels->dims[1] >= 0 && labels->dims[1] != weights->count) {
        tw__owned char *shape = tw__shape_tuple(labels);
        return tw__fail(
            TW_VALUE_ERROR,
            "Number of labels is not consistent..  Specified by tensor shape=%s dtype=float32 dimension 1.  Tensor shape=(%lld,) "
            "dtype=float32 dimension 0 must have size %lld.  Received size %lld, shape (%lld,)",
            shape ? shape : "", (long long)weights->count, (long long)labels->dims[1], (long long)weights->count,
            (long long)weights->count);
    }
    if (self->multi_label && predictions->rank == 2 && predictions->dims[1] >= 0 && predictions->dims[1] != counted)
        return tw__fail(TW_VALUE_ERROR, "AUC: y_pred has %lld labels, expected %lld", (long long)predictions->dims[1],
                        (long long)counted);
    return TW_OK;
}

static tw_status auc_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    tw__confusion *self = (tw__confusion *)metric;
    if (self->multi_label)
        TW_TRY(make_counts(self, &y_pred->shape));
    TW_TRY(check_labels(self, &y_true->shape, &y_pred->shape));
    tw_auto tw_tensor *logits = tw__cast(y_pred, TW_FLOAT32);
    bool from_logits = ((const tw_metrics_auc_args *)tw_object_config(self))->from_logits;
    tw_auto tw_tensor *predictions = from_logits ? TW_CALL(Sigmoid, logits) : tw_retain(logits);
    TW_NEED(predictions);
    return tw__confusion_update(metric, y_true, predictions, sample_weight);
}

/* ---- the result ---- */

/* Elements from the first on, or from the second on, one fewer than there are; left to t. */
static tw_tensor *but_one(tw__temps *t, tw_tensor *x, int first)
{
    int rank = x ? x->shape.rank : 0;
    const int64_t begin[] = { first, 0 }, size[] = { x ? x->shape.dims[0] - 1 : 0, -1 };
    return TW_TEMP(Slice, x, tw__temp_ints(t, begin, rank, TW_INT32), tw__temp_ints(t, size, rank, TW_INT32));
}

/* The sum; with labels the mean of their sums, weighted if there are weights. */
static tw_tensor *total_of(const tw__confusion *self, tw_tensor *terms)
{
    TW_TEMPS(t);
    if (!self->multi_label)
        return tw__sum_axis(terms, TW_NO_INT);
    tw_tensor *areas = tw__temp(t, tw__sum_axis(terms, 0));
    if (!self->label_weights)
        return tw__reduce_axis(&tw__op_Mean, areas, TW_NO_INT, false);
    tw_tensor *weighted = TW_TEMP(Mul, areas, self->label_weights);
    return TW_CALL(DivNoNan, tw__temp(t, tw__sum_axis(weighted, TW_NO_INT)),
                   tw__temp(t, tw__sum_axis(self->label_weights, TW_NO_INT)));
}

/* Precision over recall with the counts themselves interpolated between thresholds. */
static tw_tensor *interpolated(const tw__confusion *self)
{
    TW_TEMPS(t);
    tw_tensor *tp = V(TW_TRUE_POSITIVES), *p = TW_TEMP(AddV2, tp, V(TW_FALSE_POSITIVES));
    tw_tensor *tp_next = but_one(t, tp, 1), *p_first = but_one(t, p, 0), *p_next = but_one(t, p, 1);
    tw_tensor *rise = TW_TEMP(Sub, but_one(t, tp, 0), tp_next), *run = TW_TEMP(Sub, p_first, p_next);
    tw_tensor *slope = TW_TEMP(DivNoNan, rise, TW_TEMP(Maximum, run, 0.0));
    tw_tensor *base = TW_TEMP(Sub, tp_next, TW_TEMP(Mul, slope, p_next));
    tw_tensor *some = TW_TEMP(LogicalAnd, TW_TEMP(Greater, p_first, 0.0), TW_TEMP(Greater, p_next, 0.0));
    tw_tensor *ratio =
        TW_TEMP(SelectV2, some, TW_TEMP(DivNoNan, p_first, TW_TEMP(Maximum, p_next, 0.0)), TW_TEMP(OnesLike, p_next));
    tw_tensor *part = TW_TEMP(Mul, slope, TW_TEMP(AddV2, rise, TW_TEMP(Mul, base, TW_TEMP(Log, ratio))));
    tw_tensor *labels = TW_TEMP(AddV2, tp_next, but_one(t, V(TW_FALSE_NEGATIVES), 1));
    return total_of(self, TW_TEMP(DivNoNan, part, TW_TEMP(Maximum, labels, 0.0)));
}

static tw_tensor *auc_result(tw_metric *metric)
{
    TW_TEMPS(t);
    const tw__confusion *self = (tw__confusion *)metric;
    const tw_metrics_auc_args *args = tw_object_config(self);
    bool pr = strcmp(args->curve, "PR") == 0;
    if (!self->counts[0]) {
        tw__fail(TW_ATTRIBUTE_ERROR, "'AUC' object has no attribute 'true_positives'");
        return NULL;
    }
    if (pr && strcmp(args->summation_method, "interpolation") == 0)
        return interpolated(self);
    tw_tensor *recall = tw__confusion_share(t, self, TW_TRUE_POSITIVES, TW_FALSE_NEGATIVES);
    tw_tensor *x = pr ? recall : tw__confusion_share(t, self, TW_FALSE_POSITIVES, TW_TRUE_NEGATIVES);
    tw_tensor *y = pr ? tw__confusion_share(t, self, TW_TRUE_POSITIVES, TW_FALSE_POSITIVES) : recall;
    tw_tensor *first = but_one(t, y, 0), *second = but_one(t, y, 1);
    tw_tensor *heights = strcmp(args->summation_method, "interpolation") == 0
                             ? TW_TEMP(RealDiv, TW_TEMP(AddV2, first, second), 2.0)
                         : strcmp(args->summation_method, "minoring") == 0 ? TW_TEMP(Minimum, first, second)
                                                                           : TW_TEMP(Maximum, first, second);
    return total_of(self, TW_TEMP(Mul, TW_TEMP(Sub, but_one(t, x, 0), but_one(t, x, 1)), heights));
}

/* Thresholds that were given are counted with the two at the ends; those that follow from their number are not told. */
static void auc_config(tw_layer *self, tw__dict *dict)
{
    const tw_metrics_auc_args *made = tw_object_config(self);
    int64_t count = made->thresholds ? made->thresholds->count + 2 : made->num_thresholds;
    tw__dict_put(dict, "num_thresholds", (tw_value){ .kind = TW_VALUE_INT, .i = count });
    if (made->thresholds)
        tw__dict_put(dict, "thresholds", tw__tensor_config(made->thresholds));
}

static const tw__metric_methods auc_methods = { .layer = { .config = auc_config, .own_config = " num_thresholds thresholds " },
                                                .update = auc_update,
                                                .result = auc_result };

TW_CLASS(
    metrics_auc,
    "keras.metrics.AUC(num_thresholds: int = 200, curve: str {ROC, PR} = ROC, summation_method: str {interpolation, minoring, majoring} = "
    "interpolation, name: str = None, dtype: dtype = None, thresholds: tensor<float32> = None, multi_label: bool = False, num_labels: int = None, "
    "label_weights: tensor = None, from_logits: bool = False) -> metric",
    .parent = &tw__class_counting_metric, .size = sizeof(tw__confusion), .visit = tw__confusion_visit,
    .clear = tw__confusion_clear, .destroy = tw__confusion_destroy, .settle = tw__confusion_settle, .fixed = " thresholds ",
    .inert = " from_logits ", .refused = " num_thresholds multi_label num_labels label_weights ", .init = auc_init,
    .methods = &auc_methods,
    .doc = "The area under the curve of recall over false positives, or of precision over recall.\n"
           "curve: the curve: recall over the rate of false positives, or precision over recall\n"
           "summation_method: the height between two points: in between them, the lower one or the higher one\n"
           "thresholds: the thresholds themselves, between 0 and 1, in place of their number\n"
           "multi_label: True: the area of each label, then their mean; False: of all labels as one\n"
           "num_labels: how many labels there are, if `multi_label`; None: the first batch tells\n"
           "label_weights: the weight of each label in that mean, or, without `multi_label`, of its predictions\n"
           "example: tf.keras.metrics.AUC()([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]).numpy()  # 1.0");
