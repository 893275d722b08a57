/* tf.compat.v1.metrics: counts at thresholds, the area under a curve, and what confusion matrices tell. */
#include <stdlib.h>

#include "op/calls.h"
#include "v1/metrics.h"

#define NOTHING ((tw_value){ .kind = TW_VALUE_NONE })

/* ---- at thresholds ---- */

typedef enum which { TRUE_POSITIVES, FALSE_NEGATIVES, TRUE_NEGATIVES, FALSE_POSITIVES } which;
static const char *const names[] = { "true_positives", "false_negatives", "true_negatives", "false_positives" };

/* The batch against each threshold: a row of each. */
typedef struct batch {
    tw_tensor *labels, *positive, *weights; /* [1, examples], [thresholds, examples], [1, examples] or NULL */
    tw_shape shape;                         /* [thresholds] */
} batch;

static tw_tensor *row_of(tw__temps *t, tw_tensor *tensor, tw_dtype dtype)
{
    tw_tensor *cast = tensor ? tw__temp_cast(t, tensor, dtype) : NULL;
    return cast ? tw__temp_reshape(t, cast, (const int64_t[]){ 1, -1 }, 2) : NULL;
}

static bool take(tw__temps *t, tw_tensor *labels, tw_tensor *predictions, tw_tensor *thresholds, tw_tensor *weights, batch *out)
{
    if (thresholds->shape.rank != 1) {
        tw__fail(TW_VALUE_ERROR, "tf.metrics: thresholds are a list of numbers, got the shape %s",
                 tw__shape_text(&thresholds->shape));
        return false;
    }
    tw_tensor *row = row_of(t, predictions, TW_FLOAT32);
    out->labels = row ? row_of(t, labels, TW_BOOL) : NULL;
    tw_tensor *column = out->labels ? tw__temp_reshape(t, thresholds, (const int64_t[]){ -1, 1 }, 2) : NULL;
    out->positive = column ? TW_TEMP(Greater, row, column) : NULL;
    out->shape = thresholds->shape;
    out->weights = NULL;
    if (out->positive && weights) {
        tw_tensor *wide =
            TW_TEMP(Mul, tw__temp_cast(t, weights, TW_FLOAT32), TW_TEMP(OnesLike, tw__temp_cast(t, labels, TW_FLOAT32)));
        out->weights = row_of(t, wide, TW_FLOAT32);
        return out->weights != NULL;
    }
    return out->positive != NULL;
}

/* How many examples are of that kind at each threshold. */
static tw_tensor *change_of(tw__temps *t, const batch *b, which kind)
{
    bool label = kind == TRUE_POSITIVES || kind == FALSE_NEGATIVES,
         prediction = kind == TRUE_POSITIVES || kind == FALSE_POSITIVES;
    tw_tensor *labels = label ? b->labels : TW_TEMP(LogicalNot, b->labels);
    tw_tensor *both = TW_TEMP(LogicalAnd, labels, prediction ? b->positive : TW_TEMP(LogicalNot, b->positive));
    tw_tensor *numbers = both ? tw__temp_cast(t, both, TW_FLOAT32) : NULL;
    if (numbers && b->weights)
        numbers = TW_TEMP(Mul, numbers, b->weights);
    tw_tensor *sums = tw__temp(t, numbers ? tw__reduce_axis(&tw__op_Sum, numbers, 1, false) : NULL);
    return sums ? tw__temp_reshape(t, sums, b->shape.dims, 1) : NULL;
}

/* Counters of these kinds; false after a failure. */
static bool count_all(tw__v1_metric *m, const batch *b, const which *kinds, int count, tw__v1_counter *out)
{
    for (int i = 0; i < count; i++) {
        out[i] = tw__v1_count(m, names[kinds[i]], change_of(m->temps, b, kinds[i]));
        if (!out[i].update)
            return false;
    }
    return true;
}

TW_API(
    v1_metrics_count_at,
    "compat.v1.metrics._count_at(kind: str {true_positives, false_negatives, true_negatives, false_positives}, labels: tensor, "
    "predictions: tensor, thresholds: tensor<float32>, weights: tensor = None, metrics_collections: value = None, "
    "name: str = None) -> value",
    "Counts right or wrong answers at thresholds: the numbers so far, the variable that has them, and what a batch adds to it.")
{
    tw__v1_told told = { args->name, &args->metrics_collections, NULL };
    which kind = TRUE_POSITIVES;
    while (strcmp(names[kind], args->kind) != 0)
        kind++;
    char function[64];
    snprintf(function, sizeof function, "%s_at_thresholds", names[kind]);
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, &told, function) != TW_OK)
        return NOTHING;
    tw_tensor *value = NULL, *change = NULL;
    tw_variable *variable = NULL;
    batch b;
    if (tw__v1_metric_enter(&m, told.name, names[kind]) == TW_OK &&
        take(m.temps, args->labels, args->predictions, args->thresholds, args->weights, &b)) {
        change = change_of(m.temps, &b, kind);
        variable = change ? tw__v1_local(&m, names[kind], &b.shape, TW_FLOAT32) : NULL;
        tw_tensor *read = variable ? tw__v1_read(&m, variable) : NULL;
        value = tw__temp(m.temps, read ? TW_CALL(Identity, read) : NULL);
    }
    return tw__v1_metric_change(&m, value, variable, change);
}

/* true positives / (true positives + others) at each threshold */
static tw_value share_at(const tw__v1_told *told, const char *name, which other, tw_tensor *labels, tw_tensor *predictions,
                         tw_tensor *thresholds, tw_tensor *weights)
{
    char title[64];
    tw__v1_metric m;
    snprintf(title, sizeof title, "%s_at_thresholds", name);
    if (tw__v1_metric_begin(&m, told, title) != TW_OK)
        return NOTHING;
    tw__temps *t = m.temps;
    tw_tensor *results[2] = { NULL, NULL };
    tw__v1_counter counters[2];
    batch b;
    if (tw__v1_metric_enter(&m, told->name, title) == TW_OK && take(t, labels, predictions, thresholds, weights, &b) &&
        count_all(&m, &b, (const which[]){ TRUE_POSITIVES, other }, 2, counters)) {
        for (int i = 0; i < 2; i++) {
            tw_tensor *right = i ? counters[0].update : counters[0].value, *wrong = i ? counters[1].update : counters[1].value;
            tw_tensor *whole = TW_TEMP(AddV2, TW_TEMP(AddV2, 1e-7, right), wrong);
            snprintf(title, sizeof title, "%s_%s", name, i ? "update_op" : "value");
            results[i] =
                tw__temp(t, whole ? tw__part_call(&m.part, title, &tw__op_RealDiv, TW_IN(right, whole), 2, NULL, 0) : NULL);
        }
    }
    return tw__v1_metric_end(&m, results[0], results[1]);
}

TW_API(
    v1_metrics_precision_at_thresholds,
    "compat.v1.metrics.precision_at_thresholds(labels: tensor, predictions: tensor, thresholds: tensor<float32>, " TW_METRIC_ARGUMENTS
    ") -> value",
    "true positives / (true positives + false positives) at every threshold.\n"
    "thresholds: the thresholds above which a prediction counts as true")
{
    tw__v1_told told = TW_V1_TOLD();
    return share_at(&told, "precision", FALSE_POSITIVES, args->labels, args->predictions, args->thresholds, args->weights);
}

TW_API(
    v1_metrics_recall_at_thresholds,
    "compat.v1.metrics.recall_at_thresholds(labels: tensor, predictions: tensor, thresholds: tensor<float32>, " TW_METRIC_ARGUMENTS
    ") -> value",
    "true positives / (true positives + false negatives) at every threshold.\n"
    "thresholds: the thresholds above which a prediction counts as true")
{
    tw__v1_told told = TW_V1_TOLD();
    return share_at(&told, "recall", FALSE_NEGATIVES, args->labels, args->predictions, args->thresholds, args->weights);
}

/* ---- the area under a curve ---- */

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* From a bit below 0 to a bit above 1: those that are given, or so many at equal distances. */
static tw_tensor *places(tw_tensor *given, int64_t count)
{
    if (given && (!given->data || given->node || given->shape.rank != 1 || given->dtype != TW_FLOAT32)) {
        tw__fail(TW_VALUE_ERROR, "tf.metrics.auc: thresholds are a list of numbers");
        return NULL;
    }
    int64_t inner = given ? given->count : count - 2;
    float *all = inner >= 0 ? tw__alloc_array((size_t)inner + 2, sizeof *all) : NULL;
    if (!all) {
        if (inner < 0)
            tw__fail(TW_VALUE_ERROR, "tf.metrics.auc: num_thresholds must be at least 2, got %lld", (long long)count);
        return NULL;
    }
    for (int64_t i = 0; i < inner; i++)
        all[i + 1] = given ? ((const float *)given->data)[i] : (float)((double)(i + 1) / (double)(count - 1));
    if (given)
        qsort(all + 1, (size_t)inner, sizeof *all, ascending);
    all[0] = -1e-7F;
    all[inner + 1] = (float)(1.0 + 1e-7);
    tw_tensor *made = tw_tensor_new(TW_FLOAT32, TW_SHAPE(inner + 2), all);
    tw__free(all);
    return made;
}

/* All but the last, all but the first. */
static void split(tw__temps *t, tw_tensor *x, tw_tensor **before, tw_tensor **after)
{
    *before = x ? tw__temp_slice(t, x, TW_NO_INT, -1) : NULL;
    *after = x ? tw__temp_slice(t, x, 1, TW_NO_INT) : NULL;
}

/* The area under precision and recall; between two thresholds the counts are interpolated, not the precision. */
static tw_tensor *interpolated(tw__v1_metric *m, tw_tensor *tp, tw_tensor *fn, tw_tensor *fp)
{
    tw__temps *t = m->temps;
    tw_tensor *hits, *hit, *said, *say, *missed, *miss;
    split(t, tp, &hits, &hit);
    split(t, fn, &missed, &miss);
    split(t, TW_TEMP(AddV2, tp, fp), &said, &say);
    tw_tensor *gained = TW_TEMP(Sub, hits, hit), *slope = TW_TEMP(DivNoNan, gained, TW_TEMP(Sub, said, say));
    tw_tensor *rest = TW_TEMP(Sub, hit, TW_TEMP(Mul, slope, say));
    tw_tensor *some = TW_TEMP(LogicalAnd, TW_TEMP(Greater, said, 0.0), TW_TEMP(Greater, say, 0.0));
    tw_tensor *ratio = TW_TEMP(SelectV2, some, TW_TEMP(DivNoNan, said, say), TW_TEMP(OnesLike, say));
    tw_tensor *grown = TW_TEMP(Mul, slope, TW_TEMP(AddV2, gained, TW_TEMP(Mul, rest, TW_TEMP(Log, ratio))));
    tw_tensor *parts = TW_TEMP(DivNoNan, grown, TW_TEMP(AddV2, hit, miss)),
              *axis = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, TW_INT32);
    return parts && axis ? tw__temp(t, tw__part_call(&m->part, "interpolate_pr_auc", &tw__op_Sum, TW_IN(parts, axis), 2, NULL, 0))
                         : NULL;
}

static tw_tensor *area(tw__v1_metric *m, tw_tensor *const *counts, bool roc, const char *method, const char *name)
{
    tw__temps *t = m->temps;
    if (*method == 'c' && !roc)
        return interpolated(m, counts[0], counts[1], counts[3]);
    tw_tensor *tp = counts[0], *fn = counts[1], *tn = counts[2], *fp = counts[3];
    tw_tensor *right = TW_TEMP(AddV2, tp, 1e-6);
    tw_tensor *recall = TW_TEMP(RealDiv, right, TW_TEMP(AddV2, TW_TEMP(AddV2, tp, fn), 1e-6));
    tw_tensor *x = roc ? TW_TEMP(RealDiv, fp, TW_TEMP(AddV2, TW_TEMP(AddV2, fp, tn), 1e-6)) : recall;
    tw_tensor *y = roc ? recall : TW_TEMP(RealDiv, right, TW_TEMP(AddV2, TW_TEMP(AddV2, tp, fp), 1e-6));
    if (!x || !y)
        return NULL;
    tw_tensor *a, *b, *left, *right_of;
    split(t, y, &a, &b);
    split(t, x, &left, &right_of);
    tw_tensor *heights = *method != 'm'     ? TW_TEMP(RealDiv, TW_TEMP(AddV2, a, b), 2.0)
                         : method[1] == 'i' ? TW_TEMP(Minimum, a, b)
                                            : TW_TEMP(Maximum, a, b);
    tw_tensor *parts = TW_TEMP(Mul, TW_TEMP(Sub, left, right_of), heights),
              *axis = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, TW_INT32);
    return parts && axis ? tw__temp(t, tw__part_call(&m->part, name, &tw__op_Sum, TW_IN(parts, axis), 2, NULL, 0)) : NULL;
}

TW_API(
    v1_metrics_auc,
    "compat.v1.metrics.auc(labels: tensor, predictions: tensor, weights: tensor = None, num_thresholds: int = 200, "
    "metrics_collections: value = None, updates_collections: value = None, curve: str = ROC, name: str = None, "
    "summation_method: str = trapezoidal, thresholds: tensor<float32> = None) -> value",
    "The area under the curve of rates (ROC) or of precision and recall (PR).\n"
    "num_thresholds: at how many thresholds the curve is measured\n"
    "curve: `ROC` or `PR`\n"
    "summation_method: the area between two points: `trapezoidal`, `careful_interpolation` (for `PR`), `minoring` or `majoring`\n"
    "thresholds: the thresholds themselves, in place of their number")
{
    tw__v1_told told = TW_V1_TOLD();
    const char *method = args->summation_method ? args->summation_method : "";
    bool roc = args->curve && strcmp(args->curve, "ROC") == 0;
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, &told, "auc") != TW_OK)
        return NOTHING;
    tw_tensor *value = NULL, *update = NULL;
    if (!roc && (!args->curve || strcmp(args->curve, "PR") != 0)) {
        tw__fail(TW_VALUE_ERROR, "curve must be either ROC or PR, %s unknown", args->curve ? args->curve : "None");
    } else if (strcmp(method, "trapezoidal") != 0 && strcmp(method, "minoring") != 0 && strcmp(method, "majoring") != 0 &&
               strcmp(method, "careful_interpolation") != 0) {
        tw__fail(
            TW_VALUE_ERROR,
            "Invalid summation_method: %s summation_method should be 'trapezoidal', 'careful_interpolation', 'minoring', or 'majoring'.",
            method);
    } else if (tw__v1_metric_enter(&m, told.name, "auc") == TW_OK) {
        tw_tensor *thresholds = tw__temp(m.temps, places(args->thresholds, args->num_thresholds));
        tw__v1_counter counters[4];
        batch b;
        if (thresholds && take(m.temps, args->labels, args->predictions, thresholds, args->weights, &b) &&
            count_all(&m, &b, (const which[]){ TRUE_POSITIVES, FALSE_NEGATIVES, TRUE_NEGATIVES, FALSE_POSITIVES }, 4, counters)) {
            tw_tensor *now[4], *then[4];
            for (int i = 0; i < 4; i++) {
                now[i] = counters[i].value;
                then[i] = counters[i].update;
            }
            value = area(&m, now, roc, method, "value");
            update = value ? area(&m, then, roc, method, "update_op") : NULL;
        }
    }
    return tw__v1_metric_end(&m, value, update);
}

/* ---- classes ---- */

TW_API(
    v1_metrics_mean_iou,
    "compat.v1.metrics._mean_iou(labels: tensor, predictions: tensor, num_classes: int > 0, weights: tensor = None, "
    "metrics_collections: value = None, name: str = None) -> value",
    "The mean over classes of intersection over union: its value so far, the variable with the confusion matrix, and what a batch "
    "adds to that.")
{
    tw__v1_told told = { args->name, &args->metrics_collections, NULL };
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, &told, "mean_iou") != TW_OK)
        return NOTHING;
    tw__temps *t = m.temps;
    tw_variable *matrix = NULL;
    tw_tensor *change = NULL, *value = NULL;
    if (tw__v1_metric_enter(&m, told.name, "mean_iou") == TW_OK)
        matrix = tw__v1_local(&m, "total_confusion_matrix", &TW_SHAPE(args->num_classes, args->num_classes), TW_FLOAT64);
    tw_tensor *labels = matrix ? tw__v1_flat(t, args->labels, TW_INT64) : NULL;
    tw_tensor *predictions = labels ? tw__v1_flat(t, args->predictions, TW_INT64) : NULL;
    tw_tensor *weights = predictions && args->weights ? tw__v1_flat(t, args->weights, TW_FLOAT64) : NULL;
    tw_tensor *classes = tw__temp_int(t, args->num_classes, TW_INT64);
    if (predictions && classes && (weights || !args->weights))
        change = tw__temp(t, tw_math_confusion_matrix(labels, predictions, .num_classes = classes, .weights = weights,
                                                      .dtype = TW_FLOAT64));
    tw_tensor *whole = change ? tw__v1_read(&m, matrix) : NULL;
    if (whole) {
        tw_tensor *rows = tw__temp_cast(t, tw__temp(t, tw__reduce_axis(&tw__op_Sum, whole, 0, false)), TW_FLOAT32);
        tw_tensor *columns = tw__temp_cast(t, tw__temp(t, tw__reduce_axis(&tw__op_Sum, whole, 1, false)), TW_FLOAT32);
        tw_tensor *both = tw__temp_cast(t, TW_TEMP(DiagPart, whole), TW_FLOAT32);
        tw_tensor *either = TW_TEMP(Sub, TW_TEMP(AddV2, rows, columns), both);
        tw_tensor *seen = either ? tw__v1_sum(t, tw__temp_cast(t, TW_TEMP(NotEqual, either, 0.0), TW_FLOAT32)) : NULL;
        tw_tensor *safe = seen ? TW_TEMP(SelectV2, TW_TEMP(Greater, either, 0.0), either, TW_TEMP(OnesLike, either)) : NULL;
        tw_tensor *mean = safe ? TW_TEMP(RealDiv, tw__v1_sum(t, TW_TEMP(RealDiv, both, safe)), seen) : NULL;
        tw_tensor *any = mean ? TW_TEMP(Greater, seen, 0.0) : NULL, *none = tw__v1_number(t, 0);
        value =
            tw__temp(t, any ? tw__part_call(&m.part, "Select_1", &tw__op_SelectV2, TW_IN(any, mean, none), 3, NULL, 0) : NULL);
    }
    return tw__v1_metric_change(&m, value, matrix, change);
}

TW_API(v1_metrics_mean_per_class_accuracy,
       "compat.v1.metrics.mean_per_class_accuracy(labels: tensor, predictions: tensor, num_classes: int > 0, " TW_METRIC_ARGUMENTS
       ") -> value",
       "The mean over classes of the accuracy in each; the update is the accuracy of each.")
{
    tw__v1_told told = TW_V1_TOLD();
    tw__v1_metric m;
    if (tw__v1_metric_begin(&m, &told, "mean_per_class_accuracy") != TW_OK)
        return NOTHING;
    tw__temps *t = m.temps;
    tw_tensor *value = NULL, *update = NULL;
    if (tw__v1_metric_enter(&m, told.name, "mean_accuracy") == TW_OK) {
        tw_shape shape = TW_SHAPE(args->num_classes);
        tw_tensor *labels = tw__v1_flat(t, args->labels, TW_INT64), *predictions = tw__v1_flat(t, args->predictions, TW_INT64);
        tw_variable *total = labels && predictions ? tw__v1_local(&m, "total", &shape, TW_FLOAT32) : NULL;
        tw_variable *count = total ? tw__v1_local(&m, "count", &shape, TW_FLOAT32) : NULL;
        tw_tensor *right = count ? tw__temp_cast(t, TW_TEMP(Equal, labels, predictions), TW_FLOAT32) : NULL;
        tw_tensor *weight = !right ? NULL : args->weights ? tw__v1_flat(t, args->weights, TW_FLOAT32) : TW_TEMP(OnesLike, right);
        tw_tensor *classes = tw__temp_int(t, args->num_classes, TW_INT32);
        tw_tensor *all = TW_TEMP(UnsortedSegmentSum, weight, labels, classes);
        tw_tensor *good = all ? TW_TEMP(UnsortedSegmentSum, TW_TEMP(Mul, right, weight), labels, classes) : NULL;
        tw_tensor *counted = tw__v1_add(&m, count, all, NULL), *more = tw__v1_add(&m, total, good, NULL);
        tw_tensor *each = more && counted ? tw__v1_ratio(&m, tw__v1_read(&m, total), tw__v1_read(&m, count), NULL) : NULL;
        tw_tensor *axis = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, TW_INT32);
        value = tw__temp(t, each && axis ? tw__part_call(&m.part, "mean_accuracy", &tw__op_Mean, TW_IN(each, axis), 2, NULL, 0)
                                         : NULL);
        update = value ? tw__v1_ratio(&m, more, counted, "update_op") : NULL;
    }
    return tw__v1_metric_end(&m, value, update);
}
