/* One rate at the best threshold that keeps another rate: SensitivityAtSpecificity, SpecificityAtSensitivity, PrecisionAtRecall,
 * RecallAtPrecision. */
#include "keras/losses/losses.h"
#include "keras/metrics/confusion.h"
#include "op/gradient.h"

typedef struct point {
    tw__confusion confusion;
    double value; /* what the kept rate must reach */
} point;

/* Thresholds from 0 to 1 at equal distances; one alone is 0.5. */
static tw_status point_init(point *self, const char *name, double value, int64_t thresholds)
{
    if (!(value >= 0 && value <= 1))
        return tw__fail(TW_VALUE_ERROR, "Argument `%s` must be in the range [0, 1]. Received: %s=%g", name, name, value);
    if (thresholds <= 0 || thresholds > 1 << 24)
        return tw__fail(TW_VALUE_ERROR, "Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=%lld",
                        (long long)thresholds);
    tw_auto tw_tensor *all = tw__tensor_empty(TW_FLOAT32, &TW_SHAPE(thresholds));
    TW_NEED(all);
    for (int64_t i = 0; i < thresholds; i++)
        ((float *)all->data)[i] = thresholds == 1 ? 0.5f : (float)((double)i / (double)(thresholds - 1));
    self->value = value;
    return tw__confusion_setup(&self->confusion, all, 0, tw__confusion_names);
}

/* The greatest of `rate` where `kept` reaches the value, 0 if it does nowhere. */
static tw_tensor *greatest(const point *self, tw_tensor *kept, tw_tensor *rate)
{
    TW_TEMPS(t);
    tw_dtype dtype = self->confusion.metric.layer.dtype;
    tw_tensor *reached = TW_TEMP(GreaterEqual, kept, tw__temp_float(t, dtype, self->value));
    return tw__reduce_axis(&tw__op_Max, TW_TEMP(SelectV2, reached, rate, tw__temp_float(t, dtype, 0)), TW_NO_INT, false);
}

static tw_tensor *sensitivity(tw__temps *t, const tw__confusion *self)
{
    return tw__confusion_share(t, self, TW_TRUE_POSITIVES, TW_FALSE_NEGATIVES);
}

static tw_tensor *specificity(tw__temps *t, const tw__confusion *self)
{
    return tw__confusion_share(t, self, TW_TRUE_NEGATIVES, TW_FALSE_POSITIVES);
}

static tw_tensor *precision(tw__temps *t, const tw__confusion *self)
{
    return tw__confusion_share(t, self, TW_TRUE_POSITIVES, TW_FALSE_POSITIVES);
}

#define POINT(id, kept_name, rate, kept)                                             \
    static tw_status id##_init(void *self, const void *given)                        \
    {                                                                                \
        const tw_metrics_##id##_args *args = given;                                  \
        return point_init(self, #kept_name, args->kept_name, args->num_thresholds);  \
    }                                                                                \
    static tw_tensor *id##_result(tw_metric *metric)                                 \
    {                                                                                \
        TW_TEMPS(t);                                                                 \
        const point *self = (point *)metric;                                         \
        return greatest(self, kept(t, &self->confusion), rate(t, &self->confusion)); \
    }                                                                                \
    static const tw__metric_methods id##_methods = { .update = tw__confusion_update, .result = id##_result };

POINT(sensitivity_at_specificity, specificity, sensitivity, specificity)
POINT(specificity_at_sensitivity, sensitivity, specificity, sensitivity)
POINT(precision_at_recall, recall, precision, sensitivity)
POINT(recall_at_precision, precision, sensitivity, precision)

#define CLASS(id)                                                                                                            \
    .parent = &tw__class_counting_metric, .size = sizeof(point), .visit = tw__confusion_visit, .clear = tw__confusion_clear, \
    .destroy = tw__confusion_destroy, .init = id##_init, .settle = tw__confusion_settle, .methods = &id##_methods

TW_CLASS(metrics_sensitivity_at_specificity,
         "keras.metrics.SensitivityAtSpecificity(specificity: float, num_thresholds: int = 200, class_id: int = None, "
         "name: str = None, dtype: dtype = None) -> metric",
         CLASS(sensitivity_at_specificity),
         .doc = "The best sensitivity at a specificity of at least this.\n"
                "specificity: the specificity that must be reached, between 0 and 1");
TW_CLASS(metrics_specificity_at_sensitivity,
         "keras.metrics.SpecificityAtSensitivity(sensitivity: float, num_thresholds: int = 200, class_id: int = None, "
         "name: str = None, dtype: dtype = None) -> metric",
         CLASS(specificity_at_sensitivity),
         .doc = "The best specificity at a sensitivity of at least this.\n"
                "sensitivity: the sensitivity that must be reached, between 0 and 1");
TW_CLASS(metrics_precision_at_recall,
         "keras.metrics.PrecisionAtRecall(recall: float, num_thresholds: int = 200, class_id: int = None, name: str = None, "
         "dtype: dtype = None) -> metric",
         CLASS(precision_at_recall),
         .doc = "The best precision at a recall of at least this.\n"
                "recall: the recall that must be reached, between 0 and 1");
TW_CLASS(metrics_recall_at_precision,
         "keras.metrics.RecallAtPrecision(precision: float, num_thresholds: int = 200, class_id: int = None, "
         "name: str = None, dtype: dtype = None) -> metric",
         CLASS(recall_at_precision),
         .doc = "The best recall at a precision of at least this.\n"
                "precision: the precision that must be reached, between 0 and 1");
