/* Metrics that layers add while they are called (add_metric), and the layers by which a functional model adds a loss or a metric
 * of one of its Keras tensors: AddLoss and AddMetric, which hand on what they are given. */
#include "keras/layers/layers.h"
#include "keras/metrics/metrics.h"
#include "keras/models/functional.h"

void tw__layer_metrics_visit(tw_layer *layer, tw__visitor visitor, void *context)
{
    for (size_t i = 0; i < layer->metric_count; i++)
        visitor(context, &layer->metrics[i]->layer.trackable.object);
}

void tw__layer_metrics_free(tw_layer *layer)
{
    tw_metric **metrics = layer->metrics;
    size_t count = layer->metric_count;
    layer->metrics = NULL;
    layer->metric_count = layer->metric_capacity = 0;
    for (size_t i = 0; i < count; i++)
        tw_release(metrics[i]);
    tw__free(metrics);
}

/* ---- adding ---- */

static tw_status keep(tw_layer *layer, tw_metric *metric)
{
    for (size_t i = 0; i < layer->metric_count; i++) {
        if (layer->metrics[i] == metric)
            return TW_OK;
    }
    TW_TRY(TW_GROW(layer->metrics, layer->metric_capacity, layer->metric_count + 1));
    layer->metrics[layer->metric_count++] = tw_retain(metric);
    return TW_OK;
}

/* The layer's mean of that name, made if there is none; borrowed. */
static tw_metric *mean_named(tw_layer *layer, const char *name, tw_dtype dtype)
{
    for (size_t i = 0; i < layer->metric_count; i++) {
        if (strcmp(layer->metrics[i]->layer.name, name) == 0)
            return layer->metrics[i];
    }
    tw_metrics_mean_args args = { .name = name, .dtype = tw__dtype_is_float(dtype) ? dtype : TW_FLOAT32 };
    tw_auto tw_metric *made = tw_class_make(&tw__class_metrics_mean, &args);
    return made && keep(layer, made) == TW_OK ? made : NULL;
}

static tw_status add_metric(tw_layer *layer, tw_tensor *value, const char *name)
{
    tw_metric *metric = tw__noted_metric(value);
    if (metric)
        return keep(layer, metric);
    if (!name)
        return tw__fail(TW_VALUE_ERROR,
                        "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                        "name='mean_activation')` (layer \"%s\")",
                        layer->name);
    if (!(metric = mean_named(layer, name, value->dtype)))
        return tw__error_status();
    return tw__impl_mean_update_state(&(tw_mean_update_state_args){ .self = metric, .values = value });
}

TW_METHOD(
    layer_add_metric, "keras.layers.Layer.add_metric(self: layer, value: value, name: str = None, aggregation: str = None)",
    "Adds a metric: the mean of a tensor over the batches, or the metric whose result is given. It is among the model's metrics.\n"
    "value: a tensor, whose mean is the metric, or the result of a metric\n"
    "name: the name of the metric\n"
    "aggregation: `mean` where the value is a tensor; None where it is a metric's result")
{
    const tw_value *value = &args->value;
    if (args->aggregation && strcmp(args->aggregation, "mean") != 0)
        return tw__fail(TW_VALUE_ERROR, "layer \"%s\", add_metric: aggregation is '%s', expected 'mean' or None",
                        args->self->name, args->aggregation);
    if (value->kind == TW_VALUE_TENSOR)
        return add_metric(args->self, value->tensor, args->name);
    if (value->kind == TW_VALUE_OBJECT && tw__is_keras_tensor(value->object))
        return tw__functional_add_metric(args->self, value->object, args->name, args->aggregation);
    if (value->kind == TW_VALUE_INT || value->kind == TW_VALUE_FLOAT) {
        tw_auto tw_tensor *number = tw_tensor_float(value->kind == TW_VALUE_INT ? (float)value->i : (float)value->f);
        return number ? add_metric(args->self, number, args->name) : tw__error_status();
    }
    return tw__fail(TW_TYPE_ERROR, "layer \"%s\", add_metric: value should be a tensor", args->self->name);
}

/* ---- collecting ---- */

typedef struct found {
    tw_metric **items;
    size_t count, capacity;
} found;

static tw_status put(found *all, tw_metric *metric)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i] == metric)
            return TW_OK;
    }
    TW_TRY(TW_GROW(all->items, all->capacity, all->count + 1));
    all->items[all->count++] = metric;
    return TW_OK;
}

/* Those that are attributes of the layer, then those that it added. */
static tw_status put_own(found *all, tw_layer *layer)
{
    tw__owned tw_metric **own = NULL;
    int64_t count = 0;
    TW_TRY(tw__collect_own_metrics(&layer->trackable, &own, &count));
    for (int64_t i = 0; i < count; i++)
        TW_TRY(put(all, own[i]));
    for (size_t i = 0; i < layer->metric_count; i++)
        TW_TRY(put(all, layer->metrics[i]));
    return TW_OK;
}

tw_status tw__collect_metrics(tw_layer *model, tw_metric ***metrics, int *count)
{
    found all = { 0 };
    tw_layer **below;
    int64_t layers;
    TW_TRY(tw__collect_layers(&model->trackable, true, &below, &layers));
    tw_status status = put_own(&all, model);
    for (int64_t i = 0; status == TW_OK && i < layers; i++)
        status = tw__is(below[i], &tw__class_metric) ? TW_OK : put_own(&all, below[i]);
    tw__free(below);
    if (status == TW_OK) {
        *metrics = all.items;
        *count = (int)all.count;
    } else {
        tw__free(all.items);
    }
    return status;
}

TW_PROPERTY(layer_metrics, "keras.layers.Layer.metrics(self: layer) -> list<metric>", "The metrics of the layer and those below.")
{
    tw_metric **metrics = NULL;
    int count = 0;
    if (tw__collect_metrics(args->self, &metrics, &count) != TW_OK)
        return (tw_objects){ 0 };
    for (int i = 0; i < count; i++)
        tw_retain(metrics[i]);
    return (tw_objects){ (void *const *)metrics, count };
}

/* ---- AddLoss, AddMetric ---- */

static tw_tensor *add_loss_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    return tw__layer_add_loss(self, input) == TW_OK ? tw_retain(input) : NULL;
}

static const tw__layer_methods add_loss_methods = { .call = add_loss_call };

TW_CLASS(layers_add_loss, "keras.src.engine.base_layer.AddLoss(unconditional: bool = False, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &add_loss_methods,
         .doc = "Adds what it is given to the model's loss.\n"
                "unconditional: True: the loss does not depend on the inputs");

static tw_tensor *add_metric_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_add_metric_args *args = tw_object_config(self);
    return add_metric(self, input, args->metric_name) == TW_OK ? tw_retain(input) : NULL;
}

static const tw__layer_methods add_metric_methods = { .call = add_metric_call };

TW_CLASS(layers_add_metric,
         "keras.src.engine.base_layer.AddMetric(aggregation: str = None, metric_name: str = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &add_metric_methods,
         .doc = "The mean of what it is given is a metric of the model.\n"
                "aggregation: `mean`\n"
                "metric_name: the name of the metric");

tw_status tw__functional_add_loss(tw_layer *model, tw_keras_tensor *tensor)
{
    tw_auto tw_layer *layer = tw__class_make_default(&tw__class_layers_add_loss);
    return layer ? tw__functional_extend(model, layer, tensor) : tw__error_status();
}

tw_status tw__functional_add_metric(tw_layer *model, tw_keras_tensor *tensor, const char *name, const char *aggregation)
{
    if (!name)
        return tw__fail(TW_VALUE_ERROR,
                        "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                        "name='mean_activation')` (model \"%s\")",
                        model->name);
    tw_layers_add_metric_args args = TW_ARGS(layers_add_metric, .metric_name = name, .aggregation = aggregation);
    tw_args_complete(tw_class_signature(&tw__class_layers_add_metric), &args);
    tw_auto tw_layer *layer = tw_class_make(&tw__class_layers_add_metric, &args);
    return layer ? tw__functional_extend(model, layer, tensor) : tw__error_status();
}
