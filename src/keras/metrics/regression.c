/* Metrics of numbers: R2Score, MeanRelativeError, and MeanTensor, a mean per element. */
#include <math.h>

#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "op/array/array.h"
#include "op/gradient.h"

/* ---- R2Score ---- */

enum { SQUARES, SUM, RESIDUAL, COUNT, SUMS };

typedef struct r2 {
    tw_metric metric;
    tw_variable *samples, *sums[SUMS]; /* borrowed: children */
    const char *aggregation;           /* of the arguments; NULL: a score per output */
    int64_t regressors;
} r2;

static tw_status r2_settle(void *self, const void *given)
{
    const tw_metrics_r2_score_args *args = given;
    r2 *metric = self;
    const char *how = args->class_aggregation;
    if (how && strcmp(how, "uniform_average") != 0 && strcmp(how, "variance_weighted_average") != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid value for argument `class_aggregation`. Expected one of (None, 'uniform_average', "
                        "'variance_weighted_average'). Received: class_aggregation=%s",
                        how);
    if (args->num_regressors < 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: num_regressors=%lld",
                        (long long)args->num_regressors);
    metric->aggregation = how;
    metric->regressors = args->num_regressors;
    return TW_OK;
}

static tw_status r2_init(void *self, const void *given)
{
    (void)given;
    r2 *metric = self;
    metric->samples = tw__layer_add_weight(&metric->metric.layer, "num_samples", &TW_SCALAR, TW_INT32, "zeros", false);
    return metric->samples ? TW_OK : tw__error_status();
}

static tw_status r2_build(r2 *self, const tw_shape *labels, const tw_shape *predictions)
{
    static const char *const names[SUMS] = { "squared_sum", "sum", "residual", "count" };
    if (self->sums[COUNT])
        return TW_OK;
    TW_TRY(tw__metric_expect_rows("R2Score", labels, predictions));
    for (int i = 0; i < SUMS; i++) {
        self->sums[i] =
            tw__layer_add_weight(&self->metric.layer, names[i], &TW_SHAPE(predictions->dims[1]), TW_DTYPE_NONE, "zeros", false);
        if (!self->sums[i])
            return tw__error_status();
    }
    self->metric.layer.built = true;
    return TW_OK;
}

/* Weights of the labels' shape. */
static tw_tensor *spread(tw_tensor *weights, tw_tensor *labels)
{
    tw_tensor *cast = weights ? tw__cast(weights, labels->dtype) : tw__float_scalar(labels->dtype, 1);
    if (cast && cast->shape.rank == 1)
        cast = TW_G2(ExpandDims, cast, tw_tensor_int(1));
    return TW_G2(Mul, TW_CALL(OnesLike, labels), cast);
}

/* Adds the sum over the examples; takes the values. */
static tw_status r2_add(r2 *self, int which, tw_tensor *values)
{
    tw_auto tw_tensor *given = values, *sum = given ? tw__reduce_axis(&tw__op_Sum, given, 0, false) : NULL;
    return tw__metric_add(self->sums[which], sum);
}

static tw_status r2_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    r2 *self = (r2 *)metric;
    tw_auto tw_tensor *labels = tw__cast(y_true, metric->layer.dtype), *predictions = tw__cast(y_pred, metric->layer.dtype);
    if (!labels || !predictions)
        return tw__error_status();
    TW_TRY(r2_build(self, &labels->shape, &predictions->shape));
    tw_auto tw_tensor *weights = spread(sample_weight, labels);
    tw_auto tw_tensor *weighted = TW_G2(Mul, tw_retain(labels), tw_retain(weights));
    if (!weighted)
        return tw__error_status();
    TW_TRY(r2_add(self, SUM, tw_retain(weighted)));
    TW_TRY(r2_add(self, SQUARES, TW_CALL(Mul, labels, weighted)));
    TW_TRY(r2_add(self, RESIDUAL, TW_G2(Mul, TW_G1(Square, TW_CALL(Sub, labels, predictions)), tw_retain(weights))));
    TW_TRY(r2_add(self, COUNT, tw_retain(weights)));
    tw_auto tw_tensor *size = tw__count_scalar(labels, TW_FLOAT32), *count = size ? tw__cast(size, TW_INT32) : NULL;
    return tw__metric_add(self->samples, count);
}

/* The score adjusted for the number of regressors, where there are examples enough. Takes it. */
static tw_tensor *adjusted(const r2 *self, tw_tensor *given)
{
    tw_auto tw_tensor *score = given, *samples = tw__variable_read(self->samples);
    if (!score || !samples)
        return NULL;
    tw_auto tw_tensor *n = tw__cast(samples, TW_FLOAT32);
    tw_tensor *one = tw_tensor_float(1), *above = TW_G2(Sub, tw_retain(n), tw_retain(one));
    tw_tensor *below = TW_G2(Sub, tw_retain(above), tw_tensor_float((float)self->regressors));
    tw_auto tw_tensor *enough = TW_G2(Greater, tw_retain(below), tw_tensor_float(0));
    tw_tensor *other = TW_G2(Sub, one, TW_G2(RealDiv, TW_G2(Mul, TW_G2(Sub, tw_retain(one), tw_retain(score)), above), below));
    return TW_G3(SelectV2, tw_retain(enough), other, tw_retain(score));
}

static tw_tensor *r2_result(tw_metric *metric)
{
    const r2 *self = (r2 *)metric;
    if (!self->sums[COUNT]) {
        tw__fail(TW_ATTRIBUTE_ERROR, "'R2Score' object has no attribute 'sum'");
        return NULL;
    }
    tw_auto tw_tensor *sum = tw__variable_read(self->sums[SUM]);
    tw_tensor *mean = TW_G2(RealDiv, tw_retain(sum), tw__variable_read(self->sums[COUNT]));
    tw_auto tw_tensor *total = TW_G2(Sub, tw__variable_read(self->sums[SQUARES]), TW_G2(Mul, tw_retain(sum), mean));
    tw_dtype dtype = metric->layer.dtype;
    tw_auto tw_tensor *raw =
        TW_G2(Sub, tw__float_scalar(dtype, 1), TW_G2(RealDiv, tw__variable_read(self->sums[RESIDUAL]), tw_retain(total)));
    tw_auto tw_tensor *scores = TW_G3(SelectV2, TW_G1(IsInf, tw_retain(raw)), tw__float_scalar(dtype, 0), tw_retain(raw));
    if (!scores)
        return NULL;
    tw_tensor *score;
    if (!self->aggregation) {
        score = tw_retain(scores);
    } else if (strcmp(self->aggregation, "uniform_average") == 0) {
        score = tw__reduce_axis(&tw__op_Mean, scores, TW_NO_INT, false);
    } else {
        tw_auto tw_tensor *weighted = TW_CALL(Mul, total, scores);
        score = weighted ? TW_G2(RealDiv, tw__reduce_axis(&tw__op_Sum, weighted, TW_NO_INT, false),
                                 tw__reduce_axis(&tw__op_Sum, total, TW_NO_INT, false))
                         : NULL;
    }
    return self->regressors ? adjusted(self, score) : score;
}

static const tw__metric_methods r2_methods = { .update = r2_update, .result = r2_result };

TW_CLASS(metrics_r2_score,
         "keras.metrics.R2Score(class_aggregation: str? = uniform_average, num_regressors: int = 0, name: str = r2_score, "
         "dtype: dtype = None) -> metric",
         .parent = &tw__class_counting_metric, .size = sizeof(r2), .init = r2_init, .settle = r2_settle, .methods = &r2_methods,
         .doc = "How much of the labels' variance the predictions explain.");

/* ---- MeanRelativeError ---- */

static tw_tensor *relative_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_metrics_mean_relative_error_args *args = tw_object_config(self);
    tw_auto tw_tensor *cast = tw__cast(args->normalizer, self->layer.dtype);
    if (!cast)
        return NULL;
    tw_tensor *predictions = NULL, *normalizer = NULL;
    if (tw__match_ranks(cast, y_pred, &normalizer, &predictions) != TW_OK)
        return NULL;
    return TW_G2(DivNoNan, TW_G1(Abs, TW_G2(Sub, tw_retain(y_true), predictions)), normalizer);
}

static const tw__metric_methods relative_methods = { .values = relative_values };

TW_CLASS(metrics_mean_relative_error,
         "keras.metrics.MeanRelativeError(normalizer: tensor, name: str = None, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric), .inert = " ", .methods = &relative_methods,
         .doc = "The mean of absolute errors, each divided by a number.");

/* ---- MeanTensor ---- */

typedef struct mean_tensor {
    tw_metric metric;
    tw_variable *total, *count; /* borrowed: children; NULL: no value yet */
} mean_tensor;

static tw_status mean_tensor_build(mean_tensor *self, const tw_shape *shape)
{
    self->total = tw__layer_add_weight(&self->metric.layer, "total", shape, TW_DTYPE_NONE, "zeros", false);
    self->count = self->total ? tw__layer_add_weight(&self->metric.layer, "count", shape, TW_DTYPE_NONE, "zeros", false) : NULL;
    self->metric.layer.built = true;
    self->metric.layer.build_shape = tw__shape_value(shape);
    return self->count ? TW_OK : tw__error_status();
}

static tw_status mean_tensor_init(void *self, const void *given)
{
    const tw_metrics_mean_tensor_args *args = given;
    return args->shape.rank >= 0 ? mean_tensor_build(self, &args->shape) : TW_OK;
}

static tw_tensor *mean_tensor_result(tw_metric *metric)
{
    const mean_tensor *self = (mean_tensor *)metric;
    if (!self->count) {
        tw__fail(TW_VALUE_ERROR, "MeanTensor does not have any value yet. Please call the MeanTensor instance or use "
                                 "`.update_state(value)` before retrieving the result.");
        return NULL;
    }
    return TW_G2(DivNoNan, tw__variable_read(self->total), tw__variable_read(self->count));
}

static tw_status mean_tensor_update(mean_tensor *self, tw_tensor *given, tw_tensor *sample_weight)
{
    tw_auto tw_tensor *values = tw__cast(given, self->metric.layer.dtype);
    if (!values)
        return tw__error_status();
    if (!self->count) {
        TW_TRY(mean_tensor_build(self, &values->shape));
    } else if (!tw__shape_equal(&values->shape, &self->total->resource->shape)) {
        char *expected = tw__shape_tuple(&self->total->resource->shape), *got = tw__shape_tuple(&values->shape);
        tw_status status = tw__fail(TW_VALUE_ERROR,
                                    "MeanTensor input values must always have the same shape. Expected shape (set during the "
                                    "first call): %s. Got: %s.",
                                    expected ? expected : "", got ? got : "");
        tw__free(expected);
        tw__free(got);
        return status;
    }
    tw_auto tw_tensor *weights = sample_weight ? tw__match_weights(sample_weight, values) : NULL;
    if (sample_weight && !weights)
        return tw__error_status();
    tw_auto tw_tensor *ones = TW_CALL(OnesLike, values);
    tw_auto tw_tensor *counts = weights ? TW_G2(Mul, tw_retain(ones), tw_retain(weights)) : tw_retain(ones);
    tw_auto tw_tensor *weighted = weights ? TW_CALL(Mul, values, weights) : tw_retain(values);
    TW_TRY(tw__metric_add(self->total, weighted));
    return tw__metric_add(self->count, counts);
}

static const tw__metric_methods mean_tensor_methods = { .layer = { .own_config = " shape " }, .result = mean_tensor_result };

TW_CLASS(metrics_mean_tensor,
         "keras.metrics.MeanTensor(name: str = mean_tensor, dtype: dtype = None, shape: shape = None) -> metric",
         .parent = &tw__class_metric, .size = sizeof(mean_tensor), .init = mean_tensor_init, .inert = " shape ",
         .methods = &mean_tensor_methods, .doc = "The mean of each element over all calls.");

TW_METHOD(mean_tensor_update_state,
          "keras.metrics.MeanTensor.update_state(self: metric, values: tensor, sample_weight: tensor = None)",
          "Adds values of one shape.")
{
    return mean_tensor_update((mean_tensor *)args->self, args->values, args->sample_weight);
}

TW_METHOD(mean_tensor_call,
          "keras.metrics.MeanTensor.__call__(self: metric, values: tensor, sample_weight: tensor = None) -> tensor",
          "Adds values and gives the means.")
{
    size_t since = tw__metric_call_begins();
    return tw__metric_called(args->self, since, mean_tensor_update((mean_tensor *)args->self, args->values, args->sample_weight));
}

TW_PROPERTY(mean_tensor_total, "keras.metrics.MeanTensor.total(self: metric) -> object", "The sums; None before the first value.")
{
    return tw_retain(((mean_tensor *)args->self)->total);
}

TW_PROPERTY(mean_tensor_count, "keras.metrics.MeanTensor.count(self: metric) -> object", "How many; None before the first value.")
{
    return tw_retain(((mean_tensor *)args->self)->count);
}
