/* What layers add to the loss: penalties of their weights (regularizers), computed when they are asked for; losses of the last
 * call, among them those of the activity regularizer; functions that give losses. A call of the outermost layer forgets the
 * losses of the call before. */
#include "keras/callable.h"
#include "keras/layers/layers.h"
#include "keras/models/functional.h"
#include "keras/regularizers/regularizers.h"
#include "op/calls.h"

typedef struct function_of {
    tw_callable *function; /* a reference */
    tw_variable *variable; /* what it is called with, a reference; NULL: nothing */
} function_of;

struct tw__layer_losses {
    tw_tensor **items; /* references */
    size_t count, capacity;
    function_of *functions;
    size_t function_count, function_capacity;
};

static _Atomic bool any_losses; /* a loss of a call was ever kept: until then there is nothing to clear */

static tw__layer_losses *losses_of(tw_layer *layer)
{
    if (!layer->losses)
        layer->losses = tw__alloc_zero(sizeof *layer->losses);
    return layer->losses;
}

static tw_status add_function(tw_layer *layer, tw_callable *function, tw_variable *variable)
{
    tw__layer_losses *losses = losses_of(layer);
    if (!losses)
        return tw__error_status();
    TW_TRY(TW_GROW(losses->functions, losses->function_capacity, losses->function_count + 1));
    losses->functions[losses->function_count++] = (function_of){ tw_retain(function), tw_retain(variable) };
    return TW_OK;
}

tw_status tw__layer_regularize(tw_layer *layer, tw_variable *variable, tw_named regularizer)
{
    tw_auto tw_callable *function = tw__regularizer_get(regularizer);
    return function ? add_function(layer, function, variable) : tw__error_status();
}

_Thread_local bool tw__reconnecting;

tw_status tw__layer_add_loss(tw_layer *layer, tw_tensor *loss)
{
    if (tw__reconnecting)
        return loss ? TW_OK : tw__error_status();
    tw__layer_losses *losses = loss ? losses_of(layer) : NULL;
    if (!losses)
        return tw__error_status();
    TW_TRY(TW_GROW(losses->items, losses->capacity, losses->count + 1));
    losses->items[losses->count++] = tw_retain(loss);
    any_losses = true;
    return TW_OK;
}

static void clear_one(tw_layer *layer)
{
    tw__layer_losses *losses = layer->losses;
    for (; losses && losses->count; losses->count--)
        tw_release(losses->items[losses->count - 1]);
}

void tw__layer_clear_losses(tw_layer *layer)
{
    if (!any_losses)
        return;
    clear_one(layer);
    tw_layer **below;
    int64_t count;
    if (tw__collect_layers(&layer->trackable, true, &below, &count) != TW_OK)
        return;
    for (int64_t i = 0; i < count; i++)
        clear_one(below[i]);
    tw__free(below);
}

void tw__layer_losses_visit(tw_layer *layer, tw__visitor visitor, void *context)
{
    tw__layer_losses *losses = layer->losses;
    if (layer->activity_regularizer)
        visitor(context, &layer->activity_regularizer->object);
    for (size_t i = 0; losses && i < losses->function_count; i++) {
        visitor(context, &losses->functions[i].function->object);
        if (losses->functions[i].variable)
            visitor(context, &losses->functions[i].variable->trackable.object);
    }
}

void tw__layer_losses_free(tw_layer *layer)
{
    tw__layer_losses *losses = layer->losses;
    clear_one(layer);
    layer->losses = NULL;
    tw__set(&layer->activity_regularizer, NULL);
    for (size_t i = 0; losses && i < losses->function_count; i++) {
        tw_release(losses->functions[i].function);
        tw_release(losses->functions[i].variable);
    }
    if (losses) {
        tw__free(losses->functions);
        tw__free(losses->items);
    }
    tw__free(losses);
}

typedef struct found {
    tw_tensor **items;
    size_t count, capacity;
} found;

static tw_status put(found *all, tw_tensor *loss) /* takes it */
{
    if (!loss || TW_GROW(all->items, all->capacity, all->count + 1) != TW_OK) {
        tw_release(loss);
        return tw__error_status();
    }
    all->items[all->count++] = loss;
    return TW_OK;
}

static tw_status collect(found *all, tw_layer *layer)
{
    tw__layer_losses *losses = layer->losses;
    for (size_t i = 0; losses && i < losses->count; i++)
        TW_TRY(put(all, tw_retain(losses->items[i])));
    for (size_t i = 0; losses && i < losses->function_count; i++) {
        const function_of *entry = &losses->functions[i];
        tw_auto tw_tensor *value = entry->variable ? tw__variable_read(entry->variable) : NULL;
        if (entry->variable && !value)
            return tw__error_status();
        TW_TRY(put(all, entry->function->call(entry->function, value)));
    }
    return TW_OK;
}

tw_status tw__layer_losses_of(tw_layer *layer, tw_tensors *losses)
{
    found all = { 0 };
    tw_layer **below = NULL;
    int64_t count = 0;
    tw_status status = collect(&all, layer);
    if (status == TW_OK)
        status = tw__collect_layers(&layer->trackable, true, &below, &count);
    for (int64_t i = 0; status == TW_OK && i < count; i++)
        status = collect(&all, below[i]);
    tw__free(below);
    if (status == TW_OK && !all.items && !(all.items = tw__alloc_array(1, sizeof *all.items)))
        status = tw__error_status();
    *losses = (tw_tensors){ all.items, (int64_t)all.count };
    if (status != TW_OK)
        tw_tensors_free(losses);
    return status;
}

TW_PROPERTY(layer_losses, "keras.layers.Layer.losses(self: layer) -> tensors",
            "What the layer and those below add to the loss: of the last call, and the penalties of weights, computed now.")
{
    tw_tensors losses;
    return tw__layer_losses_of(args->self, &losses) == TW_OK ? losses : (tw_tensors){ 0 };
}

static tw_status add_value(tw_layer *layer, const tw_value *value)
{
    switch (value->kind) {
    case TW_VALUE_NONE:
        return TW_OK;
    case TW_VALUE_TENSOR:
        return tw__layer_add_loss(layer, value->tensor);
    case TW_VALUE_INT:
    case TW_VALUE_FLOAT: {
        tw_auto tw_tensor *number = tw_tensor_float(value->kind == TW_VALUE_INT ? (float)value->i : (float)value->f);
        return number ? tw__layer_add_loss(layer, number) : tw__error_status();
    }
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(add_value(layer, &value->list.items[i]));
        return TW_OK;
    case TW_VALUE_OBJECT:
        if (tw__is_callable(value->object))
            return add_function(layer, value->object, NULL);
        if (tw__is_keras_tensor(value->object))
            return tw__functional_add_loss(layer, value->object);
        if (tw__is(value->object, &tw__class_variable)) {
            tw_auto tw_tensor *read = tw__variable_read(value->object);
            return read ? tw__layer_add_loss(layer, read) : tw__error_status();
        }
        break;
    default:
        break;
    }
    return tw__fail(TW_TYPE_ERROR, "layer \"%s\", add_loss: losses are tensors, numbers or functions without arguments",
                    layer->name);
}

TW_METHOD(layer_add_loss, "keras.layers.Layer.add_loss(self: layer, losses: value)",
          "Adds losses to those of the layer.\n"
          "losses: tensors, which belong to this call alone, or functions without arguments that give one each time")
{
    return add_value(args->self, &args->losses);
}

/* ---- the activity regularizer ---- */

tw_status tw__layer_find_activity_regularizer(tw_layer *layer)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(layer));
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        if (field->kind != TW_KIND_NAMED || strcmp(field->name, "activity_regularizer") != 0)
            continue;
        tw_named named = *(const tw_named *)((const char *)tw_object_config(layer) + field->offset);
        if (field->inherited && !named) /* the class may have one of its own */
            return TW_OK;
        tw_auto tw_callable *function = named ? tw__regularizer_get(named) : NULL;
        tw__set(&layer->activity_regularizer, function);
        return function || !named ? TW_OK : tw__error_status();
    }
    return TW_OK;
}

/* Per example of the batch, as the loss is. */
tw_status tw__layer_regularize_activity(tw_layer *layer, tw_tensor *output)
{
    TW_TEMPS(t);
    tw_callable *regularizer = tw__temp(t, tw_retain(layer->activity_regularizer));
    tw_tensor *penalty = tw__temp(t, regularizer->call(regularizer, output));
    TW_NEED(penalty);
    tw_tensor *batch = TW_TEMP(GatherV2, TW_TEMP(Shape, output), 0, 0);
    tw_tensor *mean = TW_TEMP(RealDiv, penalty, TW_TEMP(Cast, batch, TW_A_TYPE("DstT", penalty->dtype)));
    TW_NEED(mean);
    return tw__layer_add_loss(layer, mean);
}
