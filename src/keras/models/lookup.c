/* Losses and metrics by name: classes ("MeanSquaredError"), and functions of labels and predictions ("mse"), which become a loss
 * or a mean. And calls of metrics, which an embedding language may have written. */
#include "base/language.h"
#include "distribute/distribute.h"
#include "keras/models/training.h"

/* Calls a function row of labels and predictions, its other arguments as they are by default. */
static tw_tensor *call_row(const char *path, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_signature *signature = tw_signature_find(path);
    tw__owned char *args = signature ? tw__alloc_zero(signature->args_size) : NULL;
    if (!args)
        return NULL;
    tw_args_default(signature, args);
    *(tw_tensor **)(args + signature->fields[0].offset) = y_true;
    *(tw_tensor **)(args + signature->fields[1].offset) = y_pred;
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_status status = tw_signature_invoke(signature, args, &result);
    return status == TW_OK && result.kind == TW_VALUE_TENSOR ? result.tensor : NULL;
}

static bool is_row(const tw_signature *signature)
{
    return signature && signature->role == TW_ROLE_FUNCTION && signature->field_count >= 2 &&
           signature->fields[0].kind == TW_KIND_TENSOR && signature->fields[1].kind == TW_KIND_TENSOR;
}

/* Names that are no public functions, or mean something else there. */
static const struct {
    const char *group, *name, *row;
} other_names[] = { { "losses", "bce", "binary_crossentropy" },
                    { "losses", "BCE", "binary_crossentropy" },
                    { "losses", "huber_loss", "huber" },
                    { "metrics", "cosine_similarity", "_cosine_similarity" },
                    { "metrics", "cosine_proximity", "_cosine_similarity" } };

static const tw_signature *find(const char *group, const char *name, char **path)
{
    const char *row = name[0] != '_' ? name : NULL;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (strcmp(other_names[i].group, group) == 0 && strcmp(other_names[i].name, name) == 0)
            row = other_names[i].row;
    }
    *path = tw__format("keras.%s.%s", group, row ? row : name);
    return *path && row ? tw_signature_find(*path) : NULL;
}

static tw_tensor *function_loss_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    return call_row(((const tw_losses_function_args *)tw_object_config(self))->function, y_true, y_pred);
}

static const tw__loss_methods function_loss_methods = { function_loss_call, NULL };

TW_CLASS(losses_function, "keras.losses._FunctionLoss(function: str, reduction: str = auto, name: str = None) -> loss",
         .parent = &tw__class_loss, .size = sizeof(tw_loss), .methods = &function_loss_methods,
         .doc = "A function of the library as a loss.");

static tw_tensor *function_values(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    return call_row(((const tw_metrics_function_args *)tw_object_config(self))->function, y_true, y_pred);
}

static const tw__metric_methods function_metric_methods = { .values = function_values };

TW_CLASS(metrics_function, "keras.metrics._FunctionMetric(function: str, name: str = None, dtype: dtype = None) -> metric",
         .parent = &tw__class_metrics_mean_metric_wrapper, .size = sizeof(tw_metric), .methods = &function_metric_methods,
         .doc = "The mean of a function of the library.");

tw_loss *tw__loss_get(const tw_value *value)
{
    if (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_loss))
        return tw_retain(value->object);
    if (value->kind != TW_VALUE_STR) {
        tw__fail(TW_VALUE_ERROR, "Loss should be a callable, received: %s",
                 value->kind == TW_VALUE_OBJECT ? tw_class_name(value->object) : "?");
        return NULL;
    }
    char *path;
    const tw_signature *signature = find("losses", value->s.data, &path);
    tw_loss *loss = NULL;
    if (is_row(signature)) {
        tw_losses_function_args args = { .function = path, .reduction = "auto", .name = value->s.data };
        loss = tw_class_make(&tw__class_losses_function, &args);
    } else if (signature && signature->role == TW_ROLE_CLASS) {
        loss = tw__class_make_default(signature->class_row);
    } else {
        tw__fail_because(
            TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR,
            "Unknown loss function: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is "
            "included in the scope. See https://www.tensorflow.org/guide/keras/save_and_serialize#registering_the_custom_object for details.",
            value->s.data);
    }
    tw__free(path);
    return loss;
}

tw_metric *tw__metric_get(const char *name, const char *called)
{
    char *path, *other = NULL;
    const tw_signature *signature = find("metrics", name, &path);
    tw_metric *metric = NULL;
    if (!signature && path) /* every loss is a metric, too */
        signature = find("losses", name, &other);
    if (is_row(signature)) {
        tw_metrics_function_args args = { .function = other ? other : path, .name = called };
        metric = tw_class_make(&tw__class_metrics_function, &args);
    } else if (signature && !other && signature->role == TW_ROLE_CLASS) {
        metric = tw__class_make_default(signature->class_row);
    } else {
        tw__fail_because(
            TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR,
            "Unknown metric function: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object "
            "is included in the scope. See https://www.tensorflow.org/guide/keras/save_and_serialize#registering_the_custom_object for details.",
            name);
    }
    tw__free(path);
    tw__free(other);
    return metric;
}

TW_API(losses_get, "keras.losses.get(identifier: value) -> loss",
       "The loss of that name, or the object itself.\n"
       "identifier: a name, a dict that describes one, or a loss")
{
    return tw__loss_get(&args->identifier);
}

TW_API(metrics_get, "keras.metrics.get(identifier: value) -> metric",
       "The metric of that name, or the object itself.\n"
       "identifier: a name, a dict that describes one, or a metric")
{
    const tw_value *value = &args->identifier;
    if (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_metric))
        return tw_retain(value->object);
    if (value->kind == TW_VALUE_STR)
        return tw__metric_get(value->s.data, value->s.data);
    tw__fail(TW_VALUE_ERROR, "Could not interpret metric identifier: %s",
             value->kind == TW_VALUE_OBJECT ? tw_class_name(value->object) : "?");
    return NULL;
}

/* ---- calls ---- */

static bool is_foreign(const tw_metric *metric)
{
    return metric->layer.trackable.object.peer != NULL;
}

tw_status tw__metric_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *weight)
{
    bool own = false;
    if (is_foreign(metric) && tw__language.metric_update)
        TW_TRY(tw__language.metric_update(metric, y_true, y_pred, weight, &own));
    if (own)
        return TW_OK;
    return tw__impl_metric_update(
        &(tw_metric_update_args){ .self = metric, .y_true = y_true, .y_pred = y_pred, .sample_weight = weight });
}

tw_status tw__metric_reset(tw_metric *metric)
{
    bool own = false;
    if (is_foreign(metric) && tw__language.metric_reset)
        TW_TRY(tw__language.metric_reset(metric, &own));
    return own ? TW_OK : tw__impl_metric_reset_state(&(tw_metric_reset_state_args){ .self = metric });
}

static tw_tensor *result_of(void *self)
{
    tw_metric *metric = self;
    bool own = false;
    tw_tensor *result = NULL;
    if (is_foreign(metric) && tw__language.metric_result && tw__language.metric_result(metric, &result, &own) != TW_OK)
        return NULL;
    return own ? result : tw__impl_metric_result(&(tw_metric_result_args){ .self = metric });
}

tw_tensor *tw__metric_result(tw_metric *metric)
{
    return tw__replicas_once(result_of, metric);
}
