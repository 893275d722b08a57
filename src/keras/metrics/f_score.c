/* F scores of classes: FBetaScore and F1Score. The counts have a number per class, or one for all (average "micro"); they are
 * made when the first batch shows how many classes there are. */
#include <math.h>

#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "op/gradient.h"

enum { TRUE_POSITIVES, FALSE_POSITIVES, FALSE_NEGATIVES, WEIGHTS, SUMS };

typedef struct f_score {
    tw_metric metric;
    tw_variable *sums[SUMS]; /* borrowed: children */
    const char *average;     /* of the arguments; NULL: a score per class */
    double beta, threshold;  /* a NAN: the greatest prediction of a row counts */
} f_score;

static tw_status f_score_settle(f_score *self, const char *average, double beta, double threshold)
{
    if (average && strcmp(average, "micro") != 0 && strcmp(average, "macro") != 0 && strcmp(average, "weighted") != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. Received: "
                        "average=%s",
                        average);
    if (!(beta > 0))
        return tw__fail(TW_VALUE_ERROR, "Invalid `beta` argument value. It should be > 0. Received: beta=%g", beta);
    if (threshold > 1 || threshold <= 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: threshold=%g",
                        threshold);
    self->average = average;
    self->beta = beta;
    self->threshold = threshold;
    return TW_OK;
}

/* ---- a batch ---- */

static tw_status build(f_score *self, const tw_shape *labels, const tw_shape *predictions)
{
    static const char *const names[SUMS] = { "true_positives", "false_positives", "false_negatives", "intermediate_weights" };
    if (self->sums[WEIGHTS])
        return TW_OK;
    TW_TRY(tw__metric_expect_rows("FBetaScore", labels, predictions));
    bool one = self->average && strcmp(self->average, "micro") == 0;
    tw_shape shape = one ? TW_SCALAR : TW_SHAPE(predictions->dims[1]);
    for (int i = 0; i < SUMS; i++) {
        self->sums[i] = tw__layer_add_weight(&self->metric.layer, names[i], &shape, TW_DTYPE_NONE, "zeros", false);
        if (!self->sums[i])
            return tw__error_status();
    }
    self->metric.layer.built = true;
    return TW_OK;
}

/* 1 where a prediction counts as positive, else 0. */
static tw_tensor *positive(const f_score *self, tw_tensor *predictions)
{
    tw_dtype dtype = self->metric.layer.dtype;
    tw_auto tw_tensor *found = NULL;
    if (!isnan(self->threshold)) {
        found = TW_G2(Greater, tw_retain(predictions), tw__float_scalar(dtype, self->threshold));
    } else { /* a row of zeros has no greatest */
        tw_tensor *most = TW_G2(GreaterEqual, tw_retain(predictions), tw__reduce_axis(&tw__op_Max, predictions, -1, true));
        found = TW_G2(LogicalAnd, most, TW_G2(Greater, TW_G1(Abs, tw_retain(predictions)), tw__float_scalar(dtype, 1e-9)));
    }
    return found ? tw__cast(found, dtype) : NULL;
}

/* Adds the sum of values, by the examples' weights; takes them. */
static tw_status add(f_score *self, int which, tw_tensor *values, tw_tensor *weights)
{
    tw_auto tw_tensor *weighted = weights ? TW_G2(Mul, values, tw_retain(weights)) : values;
    bool one = self->average && strcmp(self->average, "micro") == 0;
    tw_auto tw_tensor *sum = weighted ? tw__reduce_axis(&tw__op_Sum, weighted, one ? TW_NO_INT : 0, false) : NULL;
    return tw__metric_add(self->sums[which], sum);
}

static tw_tensor *rest(tw_tensor *x)
{
    return TW_G2(Sub, tw__float_scalar(x->dtype, 1), tw_retain(x));
}

static tw_status f_score_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    f_score *self = (f_score *)metric;
    tw_auto tw_tensor *labels = tw__cast(y_true, metric->layer.dtype), *given = tw__cast(y_pred, metric->layer.dtype);
    if (!labels || !given)
        return tw__error_status();
    TW_TRY(build(self, &labels->shape, &given->shape));
    tw_auto tw_tensor *weights =
        sample_weight ? TW_G2(ExpandDims, tw__cast(sample_weight, metric->layer.dtype), tw_tensor_int(1)) : NULL;
    tw_auto tw_tensor *found = positive(self, given);
    if (!found || (sample_weight && !weights))
        return tw__error_status();
    TW_TRY(add(self, TRUE_POSITIVES, TW_CALL(Mul, found, labels), weights));
    TW_TRY(add(self, FALSE_POSITIVES, TW_G2(Mul, tw_retain(found), rest(labels)), weights));
    TW_TRY(add(self, FALSE_NEGATIVES, TW_G2(Mul, rest(found), tw_retain(labels)), weights));
    return add(self, WEIGHTS, tw_retain(labels), weights);
}

/* ---- the result ---- */

/* The true positives' part of them and another count. */
static tw_tensor *share(const f_score *self, int other)
{
    tw_auto tw_tensor *part = tw__variable_read(self->sums[TRUE_POSITIVES]);
    return TW_G2(DivNoNan, tw_retain(part), TW_G2(AddV2, tw_retain(part), tw__variable_read(self->sums[other])));
}

static tw_tensor *f_score_result(tw_metric *metric)
{
    const f_score *self = (f_score *)metric;
    if (!self->sums[WEIGHTS]) {
        tw__fail(TW_ATTRIBUTE_ERROR, "'%s' object has no attribute 'true_positives'", tw_class_name(metric));
        return NULL;
    }
    tw_dtype dtype = metric->layer.dtype;
    tw_auto tw_tensor *precision = share(self, FALSE_POSITIVES), *recall = share(self, FALSE_NEGATIVES);
    tw_tensor *square = tw__float_scalar(dtype, (double)((float)self->beta * (float)self->beta));
    tw_tensor *below = TW_G2(AddV2, TW_G2(Mul, tw_retain(square), tw_retain(precision)), tw_retain(recall));
    tw_tensor *mean = TW_G2(DivNoNan, TW_G2(Mul, tw_retain(precision), tw_retain(recall)), below);
    tw_auto tw_tensor *scores = TW_G2(Mul, mean, TW_G2(AddV2, tw__float_scalar(dtype, 1), square));
    if (!scores || !self->average)
        return tw_retain(scores);
    if (strcmp(self->average, "weighted") != 0)
        return tw__reduce_axis(&tw__op_Mean, scores, TW_NO_INT, false);
    tw_auto tw_tensor *weights = tw__variable_read(self->sums[WEIGHTS]);
    tw_auto tw_tensor *parts =
        TW_G2(DivNoNan, tw_retain(weights), weights ? tw__reduce_axis(&tw__op_Sum, weights, TW_NO_INT, false) : NULL);
    tw_auto tw_tensor *weighted = TW_G2(Mul, tw_retain(scores), tw_retain(parts));
    return weighted ? tw__reduce_axis(&tw__op_Sum, weighted, TW_NO_INT, false) : NULL;
}

static const tw__metric_methods f_score_methods = { .update = f_score_update, .result = f_score_result };

/* ---- the classes ---- */

static tw_status fbeta_settle(void *self, const void *given)
{
    const tw_metrics_fbeta_score_args *args = given;
    return f_score_settle(self, args->average, args->beta, args->threshold);
}

static tw_status f1_settle(void *self, const void *given)
{
    const tw_metrics_f1_score_args *args = given;
    return f_score_settle(self, args->average, 1, args->threshold);
}

TW_CLASS(metrics_fbeta_score,
         "keras.metrics.FBetaScore(average: str = None, beta: float = 1.0, threshold: float = None, name: str = fbeta_score, "
         "dtype: dtype = None) -> metric",
         .parent = &tw__class_counting_metric, .size = sizeof(f_score), .settle = fbeta_settle, .methods = &f_score_methods,
         .doc = "Precision and recall as one number, recall beta times as important.");
TW_CLASS(
    metrics_f1_score,
    "keras.metrics.F1Score(average: str = None, threshold: float = None, name: str = f1_score, dtype: dtype = None) -> metric",
    .parent = &tw__class_metrics_fbeta_score, .size = sizeof(f_score), .settle = f1_settle, .methods = &f_score_methods,
    .doc = "The harmonic mean of precision and recall.");
