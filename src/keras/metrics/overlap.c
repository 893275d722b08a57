/* Intersection over union of classes, from a confusion matrix of all batches: IoU, MeanIoU, BinaryIoU, OneHotIoU,
 * OneHotMeanIoU. */
#include <math.h>

#include "keras/losses/losses.h"
#include "keras/metrics/metrics.h"
#include "op/array/array.h"
#include "op/gradient.h"

typedef struct overlap {
    tw_metric metric;
    tw_variable *matrix; /* borrowed: a child. A row per label, a column per prediction */
    tw_tensor *targets;  /* numbers of classes, int32; NULL: all */
    int64_t classes;
    tw_metrics_iou_args settings; /* by name */
} overlap;

static void overlap_destroy(void *self)
{
    tw__set(&((overlap *)self)->targets, NULL);
}

static void read_settings(overlap *self)
{
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_metrics_iou, &self->settings);
}

static tw_status overlap_init(void *given_self, const void *given)
{
    (void)given;
    overlap *self = given_self;
    read_settings(self);
    int64_t classes = tw__is(self, &tw__class_metrics_binary_iou) ? 2 : self->settings.num_classes;
    if (classes < 1 || classes > 1 << 15)
        return tw__fail(TW_VALUE_ERROR, "%s: num_classes must be from 1 to 32768, got %lld", tw_class_name(self),
                        (long long)classes);
    self->classes = classes;
    self->metric.layer.built = true;
    self->matrix = tw__layer_add_weight(&self->metric.layer, "total_confusion_matrix", &TW_SHAPE(classes, classes), TW_DTYPE_NONE,
                                        "zeros", false);
    return self->matrix ? TW_OK : tw__error_status();
}

static tw_status take_targets(overlap *self, const tw_ints *targets)
{
    for (int64_t i = 0, most = 0; targets && i < targets->count; i++) {
        most = targets->items[i] > most ? targets->items[i] : most;
        if (targets->items[i] < 0)
            return tw__fail(TW_VALUE_ERROR, "%s: the target class id %lld is below 0", tw_class_name(self),
                            (long long)targets->items[i]);
        if (i == targets->count - 1 && most >= self->classes)
            return tw__fail(TW_VALUE_ERROR, "Target class id %lld is out of range, which is [0, %lld).", (long long)most,
                            (long long)self->classes);
    }
    if (targets && !targets->count)
        return tw__fail(TW_VALUE_ERROR, "%s: target_class_ids is empty", tw_class_name(self));
    tw_auto tw_tensor *numbers = targets ? tw__ints_tensor(targets->items, targets->count, TW_INT32) : NULL;
    tw__set(&self->targets, numbers);
    return numbers || !targets ? TW_OK : tw__error_status();
}

static tw_status overlap_settle(void *given_self, const void *given)
{
    (void)given;
    overlap *self = given_self;
    bool one_hot_mean = tw__is(self, &tw__class_metrics_one_hot_mean_iou);
    read_settings(self);
    if (one_hot_mean || tw__is(self, &tw__class_metrics_one_hot_iou)) /* always a value per class */
        self->settings.sparse_y_true = false;
    bool all = one_hot_mean || tw__is(self, &tw__class_metrics_mean_iou);
    return take_targets(self, all ? NULL : &self->settings.target_class_ids);
}

/* ---- a batch ---- */

/* Numbers of classes in the metric's dtype, as a vector; left to t. */
static tw_tensor *numbers(tw__temps *t, const overlap *self, tw_tensor *x, bool are_numbers)
{
    tw_tensor *index = are_numbers ? x : TW_TEMP(ArgMax, x, (int)self->settings.axis);
    tw_tensor *classes = tw__temp_cast(t, index, self->metric.layer.dtype);
    return classes && classes->shape.rank != 1 ? tw__temp_reshape(t, classes, (const int64_t[]){ -1 }, 1) : classes;
}

static tw_status add(overlap *self, tw_tensor *labels, tw_tensor *predictions, tw_tensor *weights)
{
    tw_auto tw_tensor *count = tw_tensor_int64(self->classes);
    TW_NEED(count);
    tw_auto tw_tensor *matrix = tw_math_confusion_matrix(labels, predictions, .num_classes = count, .weights = weights,
                                                         .dtype = self->metric.layer.dtype);
    return tw__metric_add(self->matrix, matrix);
}

static tw_status overlap_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    overlap *self = (overlap *)metric;
    tw_dtype dtype = metric->layer.dtype;
    tw_tensor *given[3] = { y_true, y_pred, sample_weight }, *parts[3] = { NULL };
    if (tw__is(self, &tw__class_metrics_binary_iou)) {
        double threshold = ((const tw_metrics_binary_iou_args *)tw_object_config(self))->threshold;
        TW_NEED(given[1] = TW_TEMP(GreaterEqual, tw__temp_cast(t, y_pred, dtype), tw__temp_float(t, dtype, threshold)));
    }
    const bool are_numbers[3] = { self->settings.sparse_y_true, self->settings.sparse_y_pred, true };
    for (int i = 0; i < 3; i++) {
        if (given[i])
            TW_NEED(parts[i] = numbers(t, self, given[i], are_numbers[i]));
    }
    if (self->settings.ignore_class == TW_NO_INT)
        return add(self, parts[0], parts[1], parts[2]);
    tw_tensor *valid = TW_TEMP(NotEqual, parts[0], tw__temp_float(t, dtype, (double)self->settings.ignore_class));
    TW_NEED(valid);
    for (int i = 0; i < 3; i++) {
        if (parts[i])
            TW_NEED(parts[i] = tw__temp(t, tw_boolean_mask(parts[i], valid)));
    }
    return add(self, parts[0], parts[1], parts[2]);
}

/* The mean over the targets that occur at all. */
static tw_tensor *overlap_result(tw_metric *metric)
{
    TW_TEMPS(t);
    const overlap *self = (overlap *)metric;
    tw_tensor *matrix = tw__temp(t, tw__variable_read(self->matrix)), *both = TW_TEMP(DiagPart, matrix);
    tw_tensor *either =
        TW_TEMP(Sub, TW_TEMP(AddV2, tw__temp(t, tw__sum_axis(matrix, 0)), tw__temp(t, tw__sum_axis(matrix, 1))), both);
    if (self->targets) {
        both = tw__temp_gather(t, both, self->targets, 0);
        either = tw__temp_gather(t, either, self->targets, 0);
    }
    tw_tensor *occurs = TW_TEMP(NotEqual, either, tw__temp_float(t, metric->layer.dtype, 0));
    tw_tensor *ones = tw__temp_cast(t, occurs, metric->layer.dtype), *shares = TW_TEMP(DivNoNan, both, either);
    return TW_CALL(DivNoNan, tw__temp(t, tw__sum_axis(shares, TW_NO_INT)), tw__temp(t, tw__sum_axis(ones, TW_NO_INT)));
}

static const tw__metric_methods overlap_methods = { .update = overlap_update, .result = overlap_result };

/* ---- the classes ---- */

#define CLASS                                                                                                        \
    .parent = &tw__class_counting_metric, .size = sizeof(overlap), .destroy = overlap_destroy, .init = overlap_init, \
    .settle = overlap_settle, .refused = " num_classes ", .methods = &overlap_methods

TW_CLASS(metrics_iou,
         "keras.metrics.IoU(num_classes: int, target_class_ids: ints, name: str = None, dtype: dtype = None, "
         "ignore_class: int = None, sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: int = -1) -> metric",
         CLASS, .doc = "The mean over some classes of intersection over union of labels and predictions.");
TW_CLASS(metrics_mean_iou,
         "keras.metrics.MeanIoU(num_classes: int, name: str = None, dtype: dtype = None, ignore_class: int = None, "
         "sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: int = -1) -> metric",
         CLASS, .doc = "The mean over all classes of intersection over union.");
TW_CLASS(metrics_one_hot_iou,
         "keras.metrics.OneHotIoU(num_classes: int, target_class_ids: ints, name: str = None, dtype: dtype = None, "
         "ignore_class: int = None, sparse_y_pred: bool = False, axis: int = -1) -> metric",
         CLASS, .doc = "IoU of labels that have a value per class.");
TW_CLASS(metrics_one_hot_mean_iou,
         "keras.metrics.OneHotMeanIoU(num_classes: int, name: str = None, dtype: dtype = None, ignore_class: int = None, "
         "sparse_y_pred: bool = False, axis: int = -1) -> metric",
         CLASS, .doc = "MeanIoU of labels that have a value per class.");
TW_CLASS(metrics_binary_iou,
         "keras.metrics.BinaryIoU(target_class_ids: ints = (0, 1), threshold: float = 0.5, name: str = None, "
         "dtype: dtype = None) -> metric",
         CLASS, .doc = "IoU of two classes, told apart by a threshold.");
