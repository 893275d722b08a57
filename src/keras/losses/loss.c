/* keras.losses classes: a function of labels and predictions, weights for the examples, and a reduction to one number. */
#include "device/device.h"
#include "graph/graph.h"
#include "keras/losses/losses.h"
#include "keras/own.h"
#include "op/calls.h"

_Thread_local bool tw__losses_of_parts;

static tw_status loss_settle(void *self, const void *given)
{
    tw_loss *loss = self;
    const tw_loss_args *args = given;
    loss->reduction = TW_MEAN_LOSS;
    if (strcmp(args->reduction, "sum") == 0)
        loss->reduction = TW_SUM_LOSS;
    else if (strcmp(args->reduction, "none") == 0)
        loss->reduction = TW_EACH_LOSS;
    else if (strcmp(args->reduction, "auto") != 0 && strcmp(args->reduction, "sum_over_batch_size") != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid Reduction Key: %s. Expected keys are \"('auto', 'none', 'sum', 'sum_over_batch_size')\"",
                        args->reduction);
    tw__free(loss->name);
    loss->name = tw__strdup(args->name);
    return args->name && !loss->name ? tw__error_status() : TW_OK;
}

static void loss_destroy(void *self)
{
    tw__free(((tw_loss *)self)->name);
}

TW_CLASS(loss, "keras.losses.Loss(reduction: str = auto, name: str = None)", .size = sizeof(tw_loss), .settle = loss_settle,
         .inert = " axis label_smoothing from_logits delta ignore_class alpha gamma apply_class_balancing ",
         .destroy = loss_destroy, .doc = "The base of losses; a subclass gives `call(y_true, y_pred)`.");

/* What the class in C gives, also where a subclass overrides it: that one may ask for it. */
static tw_tensor *own_values(tw_loss *loss, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw__loss_methods *methods = tw__methods(loss);
    if (!methods) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Must be implemented in subclasses: %s.call(y_true, y_pred)", tw_class_name(loss));
        return NULL;
    }
    tw_auto tw_tensor *labels = NULL, *predictions = NULL;
    return tw__match_ranks(y_true, y_pred, &labels, &predictions) == TW_OK ? methods->call(loss, labels, predictions) : NULL;
}

static tw_tensor *values(tw_loss *loss, tw_tensor *y_true, tw_tensor *y_pred)
{
    return loss->foreign_call ? loss->foreign_call(loss, y_true, y_pred) : own_values(loss, y_true, y_pred);
}

/* Which values count: what the mask of the predictions says, and that of the values themselves (classes that are ignored). NULL
 * without an error: all do. A new reference. */
static tw_tensor *mask_of(const tw_tensor *each, const tw_tensor *y_pred)
{
    tw_tensor *in = tw__mask_of(y_pred), *out = tw__mask_of(each);
    return in && out ? TW_CALL(LogicalAnd, in, out) : tw_retain(in ? in : out);
}

/* The weights of values of which only some count. In a mean over all values those that count weigh all / counting each, so that
 * it becomes the mean over them. A new reference. */
static tw_tensor *masked_weights(const tw_loss *self, const tw_tensor *each, tw_tensor *sample_weight, tw_tensor *mask)
{
    TW_TEMPS(t);
    tw_tensor *numbers = tw__temp_cast(t, mask, each->dtype);
    if (!numbers || self->reduction != TW_MEAN_LOSS)
        return tw__mask_weights(sample_weight, numbers);
    tw_tensor *all = tw__temp(t, tw__count_scalar(numbers, numbers->dtype));
    tw_tensor *share = TW_TEMP(RealDiv, all, tw__temp(t, tw__sum_axis(numbers, TW_NO_INT)));
    tw_tensor *scaled = TW_TEMP(Mul, numbers, share);
    return scaled ? tw__mask_weights(sample_weight, scaled) : NULL;
}

/* The values of the examples, weighted, as one number if the loss says so. */
static tw_tensor *reduced(const tw_loss *self, tw_tensor *each, tw_tensor *sample_weight)
{
    TW_TEMPS(t);
    if (sample_weight)
        each = TW_TEMP(Mul, each, tw__temp(t, tw__match_weights(sample_weight, each)));
    if (!each || self->reduction == TW_EACH_LOSS)
        return tw__keep(t, each);
    if (tw__replica >= 0 && tw__replicas > 1 && self->reduction != TW_SUM_LOSS && !tw__losses_of_parts) {
        tw__fail(
            TW_VALUE_ERROR,
            "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction when losses are "
            "used with `tf.distribute.Strategy`, except for specifying losses in `Model.compile()` for use by the built-in training looop "
            "`Model.fit()`.\nPlease see https://www.tensorflow.org/tutorials/distribute/custom_training for more details.");
        return NULL;
    }
    tw_tensor *total = tw__temp(t, tw__sum_axis(each, TW_NO_INT));
    if (!total || self->reduction == TW_SUM_LOSS)
        return tw__keep(t, total);
    return TW_CALL(DivNoNan, total, tw__temp(t, tw__count_scalar(each, total->dtype)));
}

TW_METHOD(loss_call,
          "keras.losses.Loss.__call__(self: loss, y_true: tensor, y_pred: tensor, sample_weight: tensor = None) -> tensor",
          "The loss of predictions, weighted and reduced.")
{
    const char *name = args->self->name ? args->self->name : tw_class_name(args->self);
    tw__part part = tw__part_begin(NULL, strcmp(name, "<lambda>") == 0 ? "lambda" : *name == '_' ? name + 1 : name);
    tw_auto tw_tensor *each = values(args->self, args->y_true, args->y_pred);
    bool masked = each && (tw__mask_of(args->y_pred) || tw__mask_of(each));
    tw_auto tw_tensor *mask = masked ? mask_of(each, args->y_pred) : NULL;
    tw_auto tw_tensor *weights =
        mask ? masked_weights(args->self, each, args->sample_weight, mask) : tw_retain(args->sample_weight);
    if (!each || (masked && !weights))
        return tw__part_result(&part, NULL);
    tw__part inner = tw__part_begin(NULL, "weighted_loss");
    return tw__part_result(&part, tw__part_result(&inner, reduced(args->self, each, weights)));
}

TW_METHOD(loss_own_call, "keras.losses.Loss.call(self: loss, y_true: tensor, y_pred: tensor) -> tensor", "One value per example.")
{
    return own_values(args->self, args->y_true, args->y_pred);
}

tw_tensor *tw__loss_of(tw_loss *loss, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    if (loss->foreign_whole)
        return loss->foreign_whole(loss, y_true, y_pred, sample_weight);
    return tw__impl_loss_call(
        &(tw_loss_call_args){ .self = loss, .y_true = y_true, .y_pred = y_pred, .sample_weight = sample_weight });
}

TW_PROPERTY(loss_name, "keras.losses.Loss.name(self: loss) -> str", "The name.")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(loss_reduction, "keras.losses.Loss.reduction(self: loss) -> str", "How the values of the examples become one.")
{
    const tw_class *class_row = tw_class_of(args->self);
    tw_loss_args made;
    tw__args_project(class_row->signature, tw_object_config(args->self), &tw__signature_loss, &made);
    return tw__strdup(made.reduction);
}

TW_METHOD(loss_get_config, "keras.losses.Loss.get_config(self: loss) -> value",
          "The arguments that would make the same loss again.")
{
    if (tw__is_own(args->self))
        return tw__own_config(args->self);
    const tw__loss_methods *methods = tw__methods(args->self);
    tw_loss_args made;
    tw__args_project(tw_class_of(args->self)->signature, tw_object_config(args->self), &tw__signature_loss, &made);
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "reduction", made.reduction);
    tw__dict_put_str(&dict, "name", args->self->name);
    tw__dict_put_config(&dict, args->self, " reduction name ");
    if (methods)
        tw__dict_put_str(&dict, "fn", methods->function);
    return tw__dict_take(&dict);
}

/* ---- the classes ---- */

static tw_tensor *sparse_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_losses_sparse_categorical_crossentropy_args *made = tw_object_config(self);
    tw_sparse_categorical_crossentropy_args args = {
        .y_true = y_true,
        .y_pred = y_pred,
        .from_logits = made->from_logits,
        .axis = -1,
        .ignore_class = made->ignore_class,
    };
    return tw__impl_sparse_categorical_crossentropy(&args);
}

static const tw__loss_methods sparse_methods = { sparse_call, "sparse_categorical_crossentropy" };

TW_CLASS(losses_sparse_categorical_crossentropy,
         "keras.losses.SparseCategoricalCrossentropy(from_logits: bool = False, ignore_class: int = None, reduction: str = auto, "
         "name: str = sparse_categorical_crossentropy) -> loss",
         .parent = &tw__class_loss, .size = sizeof(tw_loss), .methods = &sparse_methods,
         .doc = "Cross-entropy of predicted distributions with classes given by number.");

static tw_tensor *categorical_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_losses_categorical_crossentropy_args *made = tw_object_config(self);
    tw_categorical_crossentropy_args args = {
        .y_true = y_true,
        .y_pred = y_pred,
        .from_logits = made->from_logits,
        .label_smoothing = made->label_smoothing,
        .axis = made->axis,
    };
    return tw__impl_categorical_crossentropy(&args);
}

static const tw__loss_methods categorical_methods = { categorical_call, "categorical_crossentropy" };

TW_CLASS(
    losses_categorical_crossentropy,
    "keras.losses.CategoricalCrossentropy(from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1, reduction: str = auto, "
    "name: str = categorical_crossentropy) -> loss",
    .parent = &tw__class_loss, .size = sizeof(tw_loss), .methods = &categorical_methods,
    .doc = "Cross-entropy of predicted distributions with given ones.");

static tw_tensor *binary_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_losses_binary_crossentropy_args *made = tw_object_config(self);
    tw_binary_crossentropy_args args = {
        .y_true = y_true,
        .y_pred = y_pred,
        .from_logits = made->from_logits,
        .label_smoothing = made->label_smoothing,
        .axis = made->axis,
    };
    return tw__impl_binary_crossentropy(&args);
}

static const tw__loss_methods binary_methods = { binary_call, "binary_crossentropy" };

TW_CLASS(
    losses_binary_crossentropy,
    "keras.losses.BinaryCrossentropy(from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1, reduction: str = auto, "
    "name: str = binary_crossentropy) -> loss",
    .parent = &tw__class_loss, .size = sizeof(tw_loss), .methods = &binary_methods,
    .doc = "Cross-entropy of predicted probabilities with labels of 0 and 1.\n"
           "axis: the dimension that the mean goes over");

static tw_tensor *mean_squared_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)self;
    tw_mean_squared_error_args args = { .y_true = y_true, .y_pred = y_pred };
    return tw__impl_mean_squared_error(&args);
}

static const tw__loss_methods mean_squared_methods = { mean_squared_call, "mean_squared_error" };

TW_CLASS(losses_mean_squared_error,
         "keras.losses.MeanSquaredError(reduction: str = auto, name: str = mean_squared_error) -> loss",
         .parent = &tw__class_loss, .size = sizeof(tw_loss), .methods = &mean_squared_methods,
         .doc = "The mean of the squared differences.\n"
                "example: tf.keras.losses.MeanSquaredError()([0.0, 1.0], [1.0, 1.0]).numpy()  # 0.5");
