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
    int64_t classes, axis, ignored /* or TW_NO_INT */;
    bool labels_are_numbers, predictions_are_numbers; /* else: one value per class along the axis */
    double threshold;                                 /* of BinaryIoU; NAN elsewhere */
} overlap;

static void overlap_destroy(void *self)
{
    tw__set(&((overlap *)self)->targets, NULL);
}

static tw_status overlap_init(overlap *self, int64_t classes)
{
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

/* ---- a batch ---- */

/* Numbers of classes in the metric's dtype, as a vector. */
static tw_tensor *numbers(const overlap *self, tw_tensor *x, bool are_numbers)
{
    tw_auto tw_tensor *index = are_numbers ? tw_retain(x) : TW_G2(ArgMax, tw_retain(x), tw_tensor_int((int32_t)self->axis));
    tw_tensor *classes = index ? tw__cast(index, self->metric.layer.dtype) : NULL;
    return classes && classes->shape.rank != 1 ? TW_G2(Reshape, classes, tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32))
                                               : classes;
}

static tw_status add(overlap *self, tw_tensor *labels, tw_tensor *predictions, tw_tensor *weights)
{
    tw_auto tw_tensor *count = tw_tensor_new(TW_INT64, TW_SCALAR, &self->classes);
    tw_auto tw_tensor *matrix = count ? tw_math_confusion_matrix(labels, predictions, .num_classes = count, .weights = weights,
                                                                 .dtype = self->metric.layer.dtype)
                                      : NULL;
    return tw__metric_add(self->matrix, matrix);
}

static tw_status overlap_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    overlap *self = (overlap *)metric;
    tw_dtype dtype = metric->layer.dtype;
    tw_auto tw_tensor *given = NULL;
    if (isnan(self->threshold)) {
        given = tw_retain(y_pred);
    } else {
        tw_tensor *cast = tw__cast(y_pred, dtype);
        given = TW_G2(GreaterEqual, cast, tw__float_scalar(dtype, self->threshold));
    }
    tw_auto tw_tensor *labels = numbers(self, y_true, self->labels_are_numbers);
    tw_auto tw_tensor *predictions = given ? numbers(self, given, self->predictions_are_numbers) : NULL;
    tw_auto tw_tensor *weights = sample_weight ? numbers(self, sample_weight, true) : NULL;
    if (!labels || !predictions || (sample_weight && !weights))
        return tw__error_status();
    if (self->ignored == TW_NO_INT)
        return add(self, labels, predictions, weights);
    tw_auto tw_tensor *valid = TW_G2(NotEqual, tw_retain(labels), tw__float_scalar(dtype, (double)self->ignored));
    tw_auto tw_tensor *kept = valid ? tw_boolean_mask(labels, valid) : NULL;
    tw_auto tw_tensor *kept_predictions = kept ? tw_boolean_mask(predictions, valid) : NULL;
    tw_auto tw_tensor *kept_weights = kept && weights ? tw_boolean_mask(weights, valid) : NULL;
    return kept_predictions && (kept_weights || !weights) ? add(self, kept, kept_predictions, kept_weights) : tw__error_status();
}

/* The mean over the targets that occur at all. */
static tw_tensor *overlap_result(tw_metric *metric)
{
    const overlap *self = (overlap *)metric;
    tw_auto tw_tensor *matrix = tw__variable_read(self->matrix);
    if (!matrix)
        return NULL;
    tw_tensor *both = TW_CALL(DiagPart, matrix);
    tw_tensor *either =
        TW_G2(AddV2, tw__reduce_axis(&tw__op_Sum, matrix, 0, false), tw__reduce_axis(&tw__op_Sum, matrix, 1, false));
    either = TW_G2(Sub, either, tw_retain(both));
    if (self->targets) {
        both = TW_G3(GatherV2, both, tw_retain(self->targets), tw_tensor_int(0));
        either = TW_G3(GatherV2, either, tw_retain(self->targets), tw_tensor_int(0));
    }
    tw_auto tw_tensor *occurs = TW_G2(NotEqual, tw_retain(either), tw__float_scalar(metric->layer.dtype, 0));
    tw_auto tw_tensor *ones = occurs ? tw__cast(occurs, metric->layer.dtype) : NULL;
    tw_auto tw_tensor *shares = TW_G2(DivNoNan, both, either);
    return ones && shares ? TW_G2(DivNoNan, tw__reduce_axis(&tw__op_Sum, shares, TW_NO_INT, false),
                                  tw__reduce_axis(&tw__op_Sum, ones, TW_NO_INT, false))
                          : NULL;
}

static const tw__metric_methods overlap_methods = { .update = overlap_update, .result = overlap_result };

/* ---- the classes ---- */

/* What all but BinaryIoU are told; a class without the argument sparse_y_true has labels with a value per class. */
#define SETTINGS(id, labels, predictions, targets)                                       \
    static tw_status id##_init(void *self, const void *given)                            \
    {                                                                                    \
        return overlap_init(self, ((const tw_metrics_##id##_args *)given)->num_classes); \
    }                                                                                    \
    static tw_status id##_settle(void *given_self, const void *given)                    \
    {                                                                                    \
        const tw_metrics_##id##_args *args = given;                                      \
        overlap *self = given_self;                                                      \
        self->axis = args->axis;                                                         \
        self->ignored = args->ignore_class;                                              \
        self->labels_are_numbers = labels;                                               \
        self->predictions_are_numbers = predictions;                                     \
        self->threshold = NAN;                                                           \
        return take_targets(self, targets);                                              \
    }
SETTINGS(iou, args->sparse_y_true, args->sparse_y_pred, &args->target_class_ids)
SETTINGS(mean_iou, args->sparse_y_true, args->sparse_y_pred, NULL)
SETTINGS(one_hot_iou, false, args->sparse_y_pred, &args->target_class_ids)
SETTINGS(one_hot_mean_iou, false, args->sparse_y_pred, NULL)

static tw_status binary_iou_init(void *self, const void *given)
{
    (void)given;
    return overlap_init(self, 2);
}

static tw_status binary_iou_settle(void *self, const void *given)
{
    const tw_metrics_binary_iou_args *args = given;
    overlap *binary = self;
    binary->labels_are_numbers = binary->predictions_are_numbers = true;
    binary->threshold = args->threshold;
    binary->ignored = TW_NO_INT;
    return take_targets(binary, &args->target_class_ids);
}

#define CLASS(id)                                                                                                 \
    .parent = &tw__class_counting_metric, .size = sizeof(overlap), .destroy = overlap_destroy, .init = id##_init, \
    .settle = id##_settle, .refused = " num_classes ", .methods = &overlap_methods

TW_CLASS(metrics_iou,
         "keras.metrics.IoU(num_classes: int, target_class_ids: ints, name: str = None, dtype: dtype = None, "
         "ignore_class: int = None, sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: int = -1) -> metric",
         CLASS(iou), .doc = "The mean over some classes of intersection over union of labels and predictions.");
TW_CLASS(metrics_mean_iou,
         "keras.metrics.MeanIoU(num_classes: int, name: str = None, dtype: dtype = None, ignore_class: int = None, "
         "sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: int = -1) -> metric",
         CLASS(mean_iou), .doc = "The mean over all classes of intersection over union.");
TW_CLASS(metrics_one_hot_iou,
         "keras.metrics.OneHotIoU(num_classes: int, target_class_ids: ints, name: str = None, dtype: dtype = None, "
         "ignore_class: int = None, sparse_y_pred: bool = False, axis: int = -1) -> metric",
         CLASS(one_hot_iou), .doc = "IoU of labels that have a value per class.");
TW_CLASS(metrics_one_hot_mean_iou,
         "keras.metrics.OneHotMeanIoU(num_classes: int, name: str = None, dtype: dtype = None, ignore_class: int = None, "
         "sparse_y_pred: bool = False, axis: int = -1) -> metric",
         CLASS(one_hot_mean_iou), .doc = "MeanIoU of labels that have a value per class.");
TW_CLASS(metrics_binary_iou,
         "keras.metrics.BinaryIoU(target_class_ids: ints = (0, 1), threshold: float = 0.5, name: str = None, "
         "dtype: dtype = None) -> metric",
         CLASS(binary_iou), .doc = "IoU of two classes, told apart by a threshold.");
