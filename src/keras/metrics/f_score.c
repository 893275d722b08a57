/* F scores of classes: FBetaScore and F1Score. The counts have a number per class, or one for all (average "micro"); they are
 * made when the first batch shows how many classes there are. */
#include <math.h>

#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "op/gradient.h"

enum { TRUE_POSITIVES, FALSE_POSITIVES, FALSE_NEGATIVES, WEIGHTS, SUMS };

typedef struct f_score {
    tw_metric metric;
    tw_variable *sums[SUMS];              /* borrowed: children */
    tw_metrics_fbeta_score_args settings; /* by name: F1Score's too. average NULL: a score per class; threshold NAN: the
                                             greatest prediction of a row counts */
} f_score;

static tw_status f_score_settle(void *self, const void *given)
{
    (void)given;
    tw_metrics_fbeta_score_args *args = &((f_score *)self)->settings;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_metrics_fbeta_score, args);
    const char *average = args->average;
    if (average && strcmp(average, "micro") != 0 && strcmp(average, "macro") != 0 && strcmp(average, "weighted") != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. Received: "
                        "average=%s",
                        average);
    if (!(args->beta > 0))
        return tw__fail(TW_VALUE_ERROR, "Invalid `beta` argument value. It should be > 0. Received: beta=%g", args->beta);
    if (args->threshold > 1 || args->threshold <= 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: threshold=%g",
                        args->threshold);
    return TW_OK;
}

static bool is_micro(const f_score *self)
{
    return self->settings.average && strcmp(self->settings.average, "micro") == 0;
}

/* ---- a batch ---- */

static tw_status build(f_score *self, const tw_shape *labels, const tw_shape *predictions)
{
    static const char *const names[SUMS] = { "true_positives", "false_positives", "false_negatives", "intermediate_weights" };
    if (self->sums[WEIGHTS])
        return TW_OK;
    TW_TRY(tw__metric_expect_rows("FBetaScore", labels, predictions));
    tw_shape shape = is_micro(self) ? TW_SCALAR : TW_SHAPE(predictions->dims[1]);
    for (int i = 0; i < SUMS; i++) {
        self->sums[i] = tw__layer_add_weight(&self->metric.layer, names[i], &shape, TW_DTYPE_NONE, "zeros", false);
        if (!self->sums[i])
            return tw__error_status();
    }
    self->metric.layer.built = true;
    return TW_OK;
}

/* 1 where a prediction counts as positive, else 0; left to t. */
static tw_tensor *positive(tw__temps *t, const f_score *self, tw_tensor *predictions)
{
    tw_dtype dtype = self->metric.layer.dtype;
    if (!isnan(self->settings.threshold))
        return tw__temp_cast(t, TW_TEMP(Greater, predictions, tw__temp_float(t, dtype, self->settings.threshold)), dtype);
    tw_tensor *most = TW_TEMP(GreaterEqual, predictions, tw__temp(t, tw__reduce_axis(&tw__op_Max, predictions, -1, true)));
    tw_tensor *some = TW_TEMP(Greater, TW_TEMP(Abs, predictions), tw__temp_float(t, dtype, 1e-9)); /* zeros have no greatest */
    return tw__temp_cast(t, TW_TEMP(LogicalAnd, most, some), dtype);
}

/* Adds the sum of values, by the examples' weights. */
static tw_status add(f_score *self, int which, tw_tensor *values, tw_tensor *weights)
{
    TW_TEMPS(t);
    tw_tensor *weighted = weights ? TW_TEMP(Mul, values, weights) : values;
    return tw__metric_add(self->sums[which], tw__temp(t, tw__sum_axis(weighted, is_micro(self) ? TW_NO_INT : 0)));
}

static tw_status f_score_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    f_score *self = (f_score *)metric;
    tw_dtype dtype = metric->layer.dtype;
    tw_tensor *labels = tw__temp_cast(t, y_true, dtype), *given = tw__temp_cast(t, y_pred, dtype), *weights = NULL;
    if (!labels || !given)
        return tw__error_status();
    TW_TRY(build(self, &labels->shape, &given->shape));
    if (sample_weight)
        TW_NEED(weights = TW_TEMP(ExpandDims, tw__temp_cast(t, sample_weight, dtype), 1));
    tw_tensor *found = positive(t, self, given), *one = tw__temp_float(t, dtype, 1);
    TW_TRY(add(self, TRUE_POSITIVES, TW_TEMP(Mul, found, labels), weights));
    TW_TRY(add(self, FALSE_POSITIVES, TW_TEMP(Mul, found, TW_TEMP(Sub, one, labels)), weights));
    TW_TRY(add(self, FALSE_NEGATIVES, TW_TEMP(Mul, TW_TEMP(Sub, one, found), labels), weights));
    return add(self, WEIGHTS, labels, weights);
}

/* ---- the result ---- */

/* The true positives' part of them and another count, left to t. */
static tw_tensor *share(tw__temps *t, const f_score *self, int other)
{
    tw_tensor *part = tw__temp(t, tw__variable_read(self->sums[TRUE_POSITIVES]));
    return TW_TEMP(DivNoNan, part, TW_TEMP(AddV2, part, tw__temp(t, tw__variable_read(self->sums[other]))));
}

static tw_tensor *f_score_result(tw_metric *metric)
{
    TW_TEMPS(t);
    const f_score *self = (f_score *)metric;
    if (!self->sums[WEIGHTS]) {
        tw__fail(TW_ATTRIBUTE_ERROR, "'%s' object has no attribute 'true_positives'", tw_class_name(metric));
        return NULL;
    }
    double square = (double)((float)self->settings.beta * (float)self->settings.beta);
    tw_tensor *precision = share(t, self, FALSE_POSITIVES), *recall = share(t, self, FALSE_NEGATIVES);
    tw_tensor *factor = tw__temp_float(t, metric->layer.dtype, square);
    tw_tensor *below = TW_TEMP(AddV2, TW_TEMP(Mul, factor, precision), recall);
    tw_tensor *scores = TW_TEMP(Mul, TW_TEMP(DivNoNan, TW_TEMP(Mul, precision, recall), below), TW_TEMP(AddV2, 1.0, factor));
    if (!self->settings.average)
        return tw__keep(t, scores);
    if (strcmp(self->settings.average, "weighted") != 0)
        return tw__reduce_axis(&tw__op_Mean, scores, TW_NO_INT, false);
    tw_tensor *weights = tw__temp(t, tw__variable_read(self->sums[WEIGHTS]));
    tw_tensor *parts = TW_TEMP(DivNoNan, weights, tw__temp(t, tw__sum_axis(weights, TW_NO_INT)));
    return tw__sum_axis(TW_TEMP(Mul, scores, parts), TW_NO_INT);
}

static const tw__metric_methods f_score_methods = { .update = f_score_update, .result = f_score_result };

/* ---- the classes ---- */

TW_CLASS(metrics_fbeta_score,
         "keras.metrics.FBetaScore(average: str = None, beta: float = 1.0, threshold: float = None, name: str = fbeta_score, "
         "dtype: dtype = None) -> metric",
         .parent = &tw__class_counting_metric, .size = sizeof(f_score), .settle = f_score_settle, .methods = &f_score_methods,
         .doc = "Precision and recall as one number, recall beta times as important.\n"
                "average: how the scores of classes become one: `micro`, `macro` or `weighted`; None: a score for each class\n"
                "beta: how many times as much recall counts\n"
                "threshold: the value above which a class is predicted; None: the class with the greatest value is");
TW_CLASS(
    metrics_f1_score,
    "keras.metrics.F1Score(average: str = None, threshold: float = None, name: str = f1_score, dtype: dtype = None) -> metric",
    .parent = &tw__class_metrics_fbeta_score, .size = sizeof(f_score), .methods = &f_score_methods,
    .doc = "The harmonic mean of precision and recall.\n"
           "average: how the scores of classes become one: `micro`, `macro` or `weighted`; None: a score for each class\n"
           "threshold: the value above which a class is predicted; None: the class with the greatest value is");
