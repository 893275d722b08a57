/* tf.compat.v1.metrics: means and counts of right and wrong answers. Each metric is a pair of tensors, the value so far and the
 * one that takes in a batch and gives the new value; what is counted stands in local variables of the graph. */
#include "v1/metrics.h"

#include "op/calls.h"

/* ---- means ---- */

/* The mean over all elements of all batches, in a scope that the caller has opened. */
static void mean_of(tw__v1_metric *m, tw_tensor *given, tw_tensor *given_weights, tw_tensor **value, tw_tensor **update)
{
    tw__temps *t = m->temps;
    tw_tensor *values = given ? tw__temp_cast(t, given, TW_FLOAT32) : NULL;
    tw_variable *total = values ? tw__v1_local(m, "total", &TW_SCALAR, TW_FLOAT32) : NULL;
    tw_variable *count = total ? tw__v1_local(m, "count", &TW_SCALAR, TW_FLOAT32) : NULL;
    if (!count)
        return;
    tw_tensor *number = NULL;
    if (given_weights) {
        tw_tensor *weights = tw__v1_wide(t, given_weights, values);
        values = TW_TEMP(Mul, values, weights);
        number = tw__v1_sum(t, weights);
    } else {
        number = tw__temp(t, tw__count_scalar(values, TW_FLOAT32));
    }
    tw_tensor *more = tw__v1_add(m, total, tw__v1_sum(t, values), NULL), *counted = tw__v1_add(m, count, number, values);
    *value = tw__v1_ratio(m, tw__v1_read(m, total), tw__v1_read(m, count), "value");
    *update = tw__v1_ratio(m, more, counted, "update_op");
}

#define NOTHING ((tw_value){ .kind = TW_VALUE_NONE })

/* What a mean is of, element by element; labels and predictions have one rank. */
typedef tw_tensor *(*of_elements)(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args);

/* The row `function`: the mean of `values`, and of the result what `after` makes, if that is given. Its scope has the usual name;
 * if it is `own`, with a number behind it where that is taken. */
typedef struct mean_rule {
    const char *function, *usual;
    of_elements values;
    tw_tensor *(*after)(tw__temps *t, tw_tensor *mean);
    bool own;
} mean_rule;

static tw_value mean_row(const mean_rule *rule, const tw__v1_told *told, tw_tensor *labels, tw_tensor *predictions,
                         tw_tensor *weights, const void *args)
{
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, told, rule->function) != TW_OK)
        return NOTHING;
    tw__temps *t = m.temps;
    if (predictions)
        tw__v1_match(t, &labels, &predictions);
    tw_tensor *values = labels ? rule->values(t, labels, predictions, args) : NULL, *value = NULL, *update = NULL;
    const char *name = told->name ? told->name : rule->usual;
    if (values && tw__v1_metric_enter(&m, rule->own ? NULL : name, name) == TW_OK)
        mean_of(&m, values, weights, &value, &update);
    if (tw__v1_metric_leave(&m) != TW_OK)
        value = NULL;
    if (rule->after) {
        value = value ? rule->after(t, value) : NULL;
        update = value && update ? rule->after(t, update) : NULL;
    }
    return tw__v1_metric_end(&m, value, update);
}
#define MEAN_ROW(function_, values_, after_, own_)                                                                              \
    mean_row(&(const mean_rule){ function_, function_, values_, after_, own_ }, &TW_V1_TOLD(), args->labels, args->predictions, \
             args->weights, args)

TW_API(v1_metrics_mean, "compat.v1.metrics.mean(values: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "The mean of all values, weighted.\n"
       "values: the values of the batch")
{
    tw__v1_told told = TW_V1_TOLD();
    tw__v1_metric m;
    tw_tensor *value = NULL, *update = NULL;
    if (tw__v1_metric_begin(&m, &told, "mean") == TW_OK && tw__v1_metric_enter(&m, told.name, "mean") == TW_OK)
        mean_of(&m, args->values, args->weights, &value, &update);
    return tw__v1_metric_end(&m, value, update);
}

static tw_tensor *right(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    (void)args;
    tw_tensor *equal = TW_TEMP(Equal, tw__temp_cast(t, predictions, labels->dtype), labels);
    return equal ? tw__temp_cast(t, equal, TW_FLOAT32) : NULL;
}

TW_API(v1_metrics_accuracy, "compat.v1.metrics.accuracy(labels: tensor, predictions: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "How often predictions are the labels.")
{
    return MEAN_ROW("accuracy", right, NULL, false);
}

/* |predictions - labels|, in float32 */
static tw_tensor *absolute(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    (void)args;
    return TW_TEMP(Abs, TW_TEMP(Sub, tw__temp_cast(t, predictions, TW_FLOAT32), tw__temp_cast(t, labels, TW_FLOAT32)));
}

TW_API(v1_metrics_mean_absolute_error,
       "compat.v1.metrics.mean_absolute_error(labels: tensor, predictions: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "The mean of |predictions - labels|.")
{
    return MEAN_ROW("mean_absolute_error", absolute, NULL, false);
}

static tw_tensor *squared(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *args)
{
    (void)args;
    return TW_TEMP(SquaredDifference, tw__temp_cast(t, labels, TW_FLOAT32), tw__temp_cast(t, predictions, TW_FLOAT32));
}

TW_API(v1_metrics_mean_squared_error,
       "compat.v1.metrics.mean_squared_error(labels: tensor, predictions: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "The mean of (predictions - labels)^2.")
{
    return MEAN_ROW("mean_squared_error", squared, NULL, false);
}

static tw_tensor *root(tw__temps *t, tw_tensor *mean)
{
    return TW_TEMP(Sqrt, mean);
}

TW_API(v1_metrics_root_mean_squared_error,
       "compat.v1.metrics.root_mean_squared_error(labels: tensor, predictions: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "The root of the mean of (predictions - labels)^2.")
{
    return MEAN_ROW("root_mean_squared_error", squared, root, true);
}

static tw_tensor *relative(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *given)
{
    const tw_v1_metrics_mean_relative_error_args *args = given;
    tw_tensor *by = tw__temp_cast(t, args->normalizer, TW_FLOAT32), *none = TW_TEMP(Equal, by, 0.0);
    tw_tensor *share = TW_TEMP(RealDiv, absolute(t, labels, predictions, args), by);
    return TW_TEMP(SelectV2, none, TW_TEMP(ZerosLike, share), share);
}

TW_API(v1_metrics_mean_relative_error,
       "compat.v1.metrics.mean_relative_error(labels: tensor, predictions: tensor, normalizer: tensor, " TW_METRIC_ARGUMENTS
       ") -> value",
       "The mean of |labels - predictions| / normalizer, 0 where that is 0.\n"
       "normalizer: what errors are divided by")
{
    return MEAN_ROW("mean_relative_error", relative, NULL, false);
}

static tw_tensor *similar(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, const void *given)
{
    const tw_v1_metrics_mean_cosine_distance_args *args = given;
    tw_tensor *products = TW_TEMP(Mul, tw__temp_cast(t, predictions, TW_FLOAT32), tw__temp_cast(t, labels, TW_FLOAT32));
    return tw__temp(t, products ? tw__reduce_axis(&tw__op_Sum, products, args->dim, true) : NULL);
}

static tw_tensor *distance(tw__temps *t, tw_tensor *mean)
{
    return TW_TEMP(Sub, 1.0, mean);
}

TW_API(v1_metrics_mean_cosine_distance,
       "compat.v1.metrics.mean_cosine_distance(labels: tensor, predictions: tensor, dim: int, " TW_METRIC_ARGUMENTS ") -> value",
       "1 - the mean of the products along a dimension.\n"
       "dim: the dimension that the sum goes over")
{
    return MEAN_ROW("mean_cosine_distance", similar, distance, false);
}

static tw_tensor *below(tw__temps *t, tw_tensor *values, tw_tensor *none, const void *given)
{
    const tw_v1_metrics_percentage_below_args *args = given;
    (void)none;
    tw_tensor *less = TW_TEMP(Less, values, tw__temp_cast(t, args->threshold, values->dtype));
    return less ? tw__temp_cast(t, less, TW_FLOAT32) : NULL;
}

TW_API(v1_metrics_percentage_below,
       "compat.v1.metrics.percentage_below(values: tensor, threshold: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "How many values are below a threshold.\n"
       "values: the values of the batch\n"
       "threshold: the bound")
{
    return mean_row(&(const mean_rule){ "percentage_below", "percentage_below_threshold", below, NULL, false }, &TW_V1_TOLD(),
                    args->values, NULL, args->weights, args);
}

TW_API(v1_metrics_mean_tensor, "compat.v1.metrics.mean_tensor(values: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "The mean of every element of the values.\n"
       "values: the values of the batch, always of the same shape")
{
    tw__v1_told told = TW_V1_TOLD();
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, &told, "mean_tensor") != TW_OK)
        return NOTHING;
    tw__temps *t = m.temps;
    tw_tensor *value = NULL, *update = NULL;
    if (!tw__shape_known(&args->values->shape))
        tw__fail(TW_VALUE_ERROR, "tf.metrics.mean_tensor: the shape of the values must be known, got %s",
                 tw__shape_text(&args->values->shape));
    else if (tw__v1_metric_enter(&m, told.name, "mean") == TW_OK) {
        tw_tensor *values = tw__temp_cast(t, args->values, TW_FLOAT32);
        tw_variable *total = tw__v1_local(&m, "total_tensor", &args->values->shape, TW_FLOAT32);
        tw_variable *count = total ? tw__v1_local(&m, "count_tensor", &args->values->shape, TW_FLOAT32) : NULL;
        tw_tensor *number = args->weights ? tw__v1_wide(t, args->weights, values) : values ? TW_TEMP(OnesLike, values) : NULL;
        values = args->weights && number ? TW_TEMP(Mul, values, number) : values;
        tw_tensor *more = tw__v1_add(&m, total, values, NULL), *counted = more ? tw__v1_add(&m, count, number, values) : NULL;
        value = counted ? tw__v1_ratio(&m, tw__v1_read(&m, total), tw__v1_read(&m, count), "value") : NULL;
        update = value ? tw__v1_ratio(&m, more, counted, "update_op") : NULL;
    }
    return tw__v1_metric_end(&m, value, update);
}

/* ---- right and wrong answers ---- */

/* What counts: the label, then the prediction. */
typedef struct kind {
    const char *name;
    bool label, prediction;
} kind;
static const kind kinds[] = { { "true_positives", true, true },
                              { "false_positives", false, true },
                              { "true_negatives", false, false },
                              { "false_negatives", true, false } };

static tw_tensor *truth(tw__temps *t, bool value)
{
    return tw__temp(t, tw_tensor_new(TW_BOOL, TW_SCALAR, &value));
}

/* Booleans of one rank. */
static bool answers(tw__temps *t, tw_tensor **labels, tw_tensor **predictions)
{
    *predictions = tw__temp_cast(t, *predictions, TW_BOOL);
    *labels = *predictions ? tw__temp_cast(t, *labels, TW_BOOL) : NULL;
    if (*labels)
        tw__v1_match(t, labels, predictions);
    return *labels && *predictions;
}

/* How many answers of that kind a batch has. */
static tw_tensor *found(tw__temps *t, const kind *what, tw_tensor *labels, tw_tensor *predictions, tw_tensor *weights)
{
    tw_tensor *both = TW_TEMP(LogicalAnd, TW_TEMP(Equal, labels, truth(t, what->label)),
                              TW_TEMP(Equal, predictions, truth(t, what->prediction)));
    tw_tensor *numbers = both ? tw__temp_cast(t, both, TW_FLOAT32) : NULL;
    if (numbers && weights)
        numbers = TW_TEMP(Mul, numbers, tw__v1_wide(t, weights, numbers));
    return tw__v1_sum(t, numbers);
}

static tw_value counting(const tw__v1_told *told, const kind *what, tw_tensor *labels, tw_tensor *predictions, tw_tensor *weights)
{
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, told, what->name) != TW_OK)
        return NOTHING;
    tw_tensor *change = NULL, *value = NULL;
    tw_variable *variable = NULL;
    if (tw__v1_metric_enter(&m, told->name, what->name) == TW_OK && answers(m.temps, &labels, &predictions)) {
        variable = tw__v1_local(&m, "count", &TW_SCALAR, TW_FLOAT32);
        change = variable ? found(m.temps, what, labels, predictions, weights) : NULL;
        tw_tensor *read = change ? tw__v1_read(&m, variable) : NULL;
        value = tw__temp(m.temps, read ? TW_CALL(Identity, read) : NULL);
    }
    return tw__v1_metric_change(&m, value, variable, change);
}

TW_API(v1_metrics_count,
       "compat.v1.metrics._count(kind: str {true_positives, false_positives, true_negatives, false_negatives}, labels: tensor, "
       "predictions: tensor, weights: tensor = None, metrics_collections: value = None, name: str = None) -> value",
       "Counts right or wrong answers: the number so far, the variable that has it, and what a batch adds to it.")
{
    tw__v1_told told = { args->name, &args->metrics_collections, NULL };
    const kind *what = kinds;
    while (strcmp(what->name, args->kind) != 0)
        what++;
    return counting(&told, what, args->labels, args->predictions, args->weights);
}

/* true positives / (true positives + others) */
static tw_value of_two(const tw__v1_told *told, const char *name, const kind *other, tw_tensor *labels, tw_tensor *predictions,
                       tw_tensor *weights)
{
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, told, name) != TW_OK)
        return NOTHING;
    tw__temps *t = m.temps;
    tw_tensor *value = NULL, *update = NULL;
    bool good = tw__v1_metric_enter(&m, told->name, name) == TW_OK && answers(t, &labels, &predictions);
    tw__v1_counter counters[2] = { { NULL, NULL, NULL } };
    for (int i = 0; good && i < 2; i++) {
        const kind *what = i ? other : kinds;
        tw_auto tw_variable_scope *inner = tw_variable_scope_enter(.default_name = what->name);
        tw_tensor *change = inner ? found(t, what, labels, predictions, weights) : NULL;
        counters[i] = tw__v1_count(&m, "count", change);
        good = counters[i].update != NULL;
        if (inner)
            good = tw_variable_scope_exit() == TW_OK && good;
    }
    if (good) {
        value = tw__v1_ratio(&m, counters[0].value, TW_TEMP(AddV2, counters[0].value, counters[1].value), "value");
        update = tw__v1_ratio(&m, counters[0].update, TW_TEMP(AddV2, counters[0].update, counters[1].update), "update_op");
    }
    return tw__v1_metric_end(&m, value, update);
}

TW_API(v1_metrics_precision, "compat.v1.metrics.precision(labels: tensor, predictions: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "true positives / (true positives + false positives)")
{
    tw__v1_told told = TW_V1_TOLD();
    return of_two(&told, "precision", &kinds[1], args->labels, args->predictions, args->weights);
}

TW_API(v1_metrics_recall, "compat.v1.metrics.recall(labels: tensor, predictions: tensor, " TW_METRIC_ARGUMENTS ") -> value",
       "true positives / (true positives + false negatives)")
{
    tw__v1_told told = TW_V1_TOLD();
    return of_two(&told, "recall", &kinds[3], args->labels, args->predictions, args->weights);
}
