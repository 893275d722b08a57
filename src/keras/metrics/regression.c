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
} r2;

static tw_status r2_settle(void *self, const void *given)
{
    (void)self;
    const tw_metrics_r2_score_args *args = given;
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

/* Weights of the labels' shape, left to t. */
static tw_tensor *spread(tw__temps *t, tw_tensor *weights, tw_tensor *labels)
{
    tw_tensor *given = weights ? tw__temp_cast(t, weights, labels->dtype) : tw__temp_float(t, labels->dtype, 1);
    if (given && given->shape.rank == 1)
        given = TW_TEMP(ExpandDims, given, 1);
    return TW_TEMP(Mul, TW_TEMP(OnesLike, labels), given);
}

/* Adds the sum over the examples. */
static tw_status r2_add(r2 *self, int which, tw_tensor *values)
{
    tw_auto tw_tensor *sum = tw__sum_axis(values, 0);
    return tw__metric_add(self->sums[which], sum);
}

static tw_status r2_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    r2 *self = (r2 *)metric;
    tw_tensor *labels = tw__temp_cast(t, y_true, metric->layer.dtype);
    tw_tensor *predictions = tw__temp_cast(t, y_pred, metric->layer.dtype);
    if (!labels || !predictions)
        return tw__error_status();
    TW_TRY(r2_build(self, &labels->shape, &predictions->shape));
    tw_tensor *weights = spread(t, sample_weight, labels), *weighted = TW_TEMP(Mul, labels, weights);
    TW_TRY(r2_add(self, SUM, weighted));
    TW_TRY(r2_add(self, SQUARES, TW_TEMP(Mul, labels, weighted)));
    TW_TRY(r2_add(self, RESIDUAL, TW_TEMP(Mul, TW_TEMP(Square, TW_TEMP(Sub, labels, predictions)), weights)));
    TW_TRY(r2_add(self, COUNT, weights));
    return tw__metric_add(self->samples, tw__temp_cast(t, tw__temp(t, tw__count_scalar(labels, TW_FLOAT32)), TW_INT32));
}

/* The score adjusted for the number of regressors, where there are examples enough. */
static tw_tensor *adjusted(const r2 *self, tw_tensor *score, int64_t regressors)
{
    TW_TEMPS(t);
    tw_tensor *samples = tw__temp_cast(t, tw__temp(t, tw__variable_read(self->samples)), TW_FLOAT32);
    tw_tensor *above = TW_TEMP(Sub, samples, 1.0), *below = TW_TEMP(Sub, above, (double)regressors);
    tw_tensor *rest = TW_TEMP(Sub, tw__temp(t, tw_tensor_float(1)), score);
    tw_tensor *other = TW_TEMP(Sub, 1.0, TW_TEMP(RealDiv, TW_TEMP(Mul, rest, above), below));
    return TW_CALL(SelectV2, TW_TEMP(Greater, below, 0.0), other, score);
}

#define V(which) tw__temp(t, tw__variable_read(self->sums[which]))
static tw_tensor *r2_result(tw_metric *metric)
{
    TW_TEMPS(t);
    const r2 *self = (r2 *)metric;
    const tw_metrics_r2_score_args *args = tw_object_config(self);
    if (!self->sums[COUNT]) {
        tw__fail(TW_ATTRIBUTE_ERROR, "'R2Score' object has no attribute 'sum'");
        return NULL;
    }
    tw_tensor *sum = V(SUM), *total = TW_TEMP(Sub, V(SQUARES), TW_TEMP(Mul, sum, TW_TEMP(RealDiv, sum, V(COUNT))));
    tw_dtype dtype = metric->layer.dtype;
    tw_tensor *raw = TW_TEMP(Sub, tw__temp_float(t, dtype, 1), TW_TEMP(RealDiv, V(RESIDUAL), total));
    tw_tensor *scores = TW_TEMP(SelectV2, TW_TEMP(IsInf, raw), tw__temp_float(t, dtype, 0), raw), *score = scores;
    if (args->class_aggregation && strcmp(args->class_aggregation, "uniform_average") == 0)
        score = tw__temp(t, tw__reduce_axis(&tw__op_Mean, scores, TW_NO_INT, false));
    else if (args->class_aggregation)
        score = TW_TEMP(RealDiv, tw__temp(t, tw__sum_axis(TW_TEMP(Mul, total, scores), TW_NO_INT)),
                        tw__temp(t, tw__sum_axis(total, TW_NO_INT)));
    return args->num_regressors ? adjusted(self, score, args->num_regressors) : tw__keep(t, score);
}
#undef V

static const tw__metric_methods r2_methods = { .update = r2_update, .result = r2_result };

TW_CLASS(
    metrics_r2_score,
    "keras.metrics.R2Score(class_aggregation: str? = uniform_average, num_regressors: int = 0, name: str = r2_score, "
    "dtype: dtype = None) -> metric",
    .parent = &tw__class_counting_metric, .size = sizeof(r2), .init = r2_init, .settle = r2_settle, .methods = &r2_methods,
    .doc =
        "How much of the labels' variance the predictions explain.\n"
        "class_aggregation: how the scores of outputs become one: `uniform_average` or `variance_weighted_average`; None: a score for each\n"
        "num_regressors: how many inputs the model has, for the adjusted score; 0: the plain score");

/* ---- MeanRelativeError ---- */

static tw_tensor *relative_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    TW_TEMPS(t);
    const tw_metrics_mean_relative_error_args *args = tw_object_config(self);
    tw_tensor *given = tw__temp_cast(t, args->normalizer, self->layer.dtype);
    tw_auto tw_tensor *predictions = NULL, *normalizer = NULL;
    if (!given || tw__match_ranks(given, y_pred, &normalizer, &predictions) != TW_OK)
        return NULL;
    return TW_CALL(DivNoNan, TW_TEMP(Abs, TW_TEMP(Sub, y_true, predictions)), normalizer);
}

static const tw__metric_methods relative_methods = { .values = relative_values };

TW_CLASS(metrics_mean_relative_error,
         "keras.metrics.MeanRelativeError(normalizer: tensor, name: str = None, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric), .inert = " ", .methods = &relative_methods,
         .doc = "The mean of absolute errors, each divided by a number.\n"
                "normalizer: what errors are divided by; where it is 0 the error counts as 0");

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
    tw_auto tw_tensor *total = tw__variable_read(self->total), *count = tw__variable_read(self->count);
    return TW_CALL(DivNoNan, total, count);
}

static tw_status mean_tensor_update(mean_tensor *self, tw_tensor *given, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    tw_tensor *values = tw__temp_cast(t, given, self->metric.layer.dtype);
    TW_NEED(values);
    if (!self->count) {
        TW_TRY(mean_tensor_build(self, &values->shape));
    } else if (!tw__shape_equal(&values->shape, &self->total->resource->shape)) {
        tw__owned char *expected = tw__shape_tuple(&self->total->resource->shape), *got = tw__shape_tuple(&values->shape);
        return tw__fail(
            TW_VALUE_ERROR,
            "MeanTensor input values must always have the same shape. Expected shape (set during the first call): %s. "
            "Got: %s.",
            expected ? expected : "", got ? got : "");
    }
    tw_tensor *ones = TW_TEMP(OnesLike, values), *weights = NULL;
    if (sample_weight)
        TW_NEED(weights = tw__temp(t, tw__match_weights(sample_weight, values)));
    TW_TRY(tw__metric_add(self->total, weights ? TW_TEMP(Mul, values, weights) : values));
    return tw__metric_add(self->count, weights ? TW_TEMP(Mul, ones, weights) : ones);
}

static const tw__metric_methods mean_tensor_methods = { .layer = { .own_config = " shape " }, .result = mean_tensor_result };

TW_CLASS(metrics_mean_tensor,
         "keras.metrics.MeanTensor(name: str = mean_tensor, dtype: dtype = None, shape: shape = None) -> metric",
         .parent = &tw__class_metric, .size = sizeof(mean_tensor), .init = mean_tensor_init, .inert = " shape ",
         .methods = &mean_tensor_methods,
         .doc = "The mean of each element over all calls.\n"
                "shape: the shape of the values; None: the first ones tell");

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
