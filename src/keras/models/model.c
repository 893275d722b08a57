/* keras.Model: a layer made of layers. Python subclasses it, C programs give it a function (tw_model_new). */
#include <thalweg/keras.h>

#include "distribute/distribute.h"
#include "keras/keras.h"

static tw_tensor *call_program(tw__model *model, tw_tensor *input, int training)
{
    size_t scope = tw_scope_begin();
    tw_tensor *output = model->call(&model->layer, input, training, model->state);
    tw__scope_end_with(scope, (void *[]){ output }, 1);
    return output;
}

static tw_tensor *model_call(tw_layer *self, tw_tensor *input, int training)
{
    tw__model *model = (tw__model *)self;
    if (model->call)
        return call_program(model, input, training);
    tw__fail(TW_NOT_IMPLEMENTED_ERROR,
             "Unimplemented `tf.keras.Model.call()` (model \"%s\"): the Functional API is not supported; subclass "
             "`Model` with an overridden `call()` method.",
             self->name);
    return NULL;
}

/* What a subclass has for arguments only it knows. */
static tw_value no_config(tw_layer *self)
{
    (void)self;
    return (tw_value){ .kind = TW_VALUE_DICT };
}

static const tw__layer_methods model_methods = { .call = model_call, .whole_config = no_config };

static tw_status model_init(void *self, const void *given)
{
    (void)given;
    ((tw__model *)self)->strategy = tw_retain(tw__strategy_now());
    return TW_OK;
}

static void model_visit(void *self, tw__visitor visitor, void *context)
{
    const tw__model *model = self;
    if (model->trainer)
        visitor(context, (tw_object *)model->trainer);
    if (model->strategy)
        visitor(context, &model->strategy->object);
}

static void model_clear(void *self)
{
    tw_value_free(&((tw__model *)self)->save_spec);
    tw__set(&((tw__model *)self)->trainer, NULL);
    tw__set(&((tw__model *)self)->strategy, NULL);
}

TW_CLASS(model, "keras.Model|keras.models.Model(**layer)", .parent = &tw__class_layer, .size = sizeof(tw__model),
         .init = model_init, .visit = model_visit, .clear = model_clear, .destroy = model_clear, .methods = &model_methods,
         .doc = "Layers that work together; to be subclassed.");

/* The names of what build() makes have no model in front, as in TensorFlow, which traces the bare `call` there. */
TW_METHOD(model_build, "keras.Model.build(self: layer, input_shape: shape)",
          "Makes the weights by running the model on zeros of that shape.\n"
          "input_shape: the shape of the input with the batch's dimension, which may be None")
{
    tw_layer *layer = args->self;
    tw_shape output;
    bool at_root = layer->at_root, built = layer->built;
    layer->at_root = layer->built = true; /* built: a subclass's own build, which calls this one, is not called again */
    tw_status status = tw__layer_run_on_zeros(layer, &args->input_shape, &output);
    layer->at_root = at_root;
    if (status == TW_OK)
        tw__layer_built_for(layer, tw__shape_value(&args->input_shape));
    else
        layer->built = built;
    return status;
}

static void no_such_layer(const char *name, tw_layer *const *layers, int64_t count)
{
    tw__text text = { 0 };
    for (int64_t i = 0; i < count; i++)
        tw__text_format(&text, "%s'%s'", i ? ", " : "", layers[i]->name);
    tw__fail(TW_VALUE_ERROR, "No such layer: %s. Existing layers are: [%s].", name, text.data ? text.data : "");
    tw__text_free(&text);
}

TW_METHOD(model_get_layer, "keras.Model.get_layer(self: layer, name: str = None, index: int = None) -> layer",
          "The layer of that name, or the one at that index.\n"
          "name: the name of the layer\n"
          "index: its place among the layers, instead of the name\n"
          "raises: ValueError: there is no such layer, or neither or both are given")
{
    tw_layer **layers, *found = NULL;
    int64_t count;
    if (tw__collect_layers(&args->self->trackable, false, &layers, &count) != TW_OK)
        return NULL;
    if (args->name && args->index != TW_NO_INT) {
        tw__fail(TW_VALUE_ERROR, "Provide only a layer name or a layer index. Received: index=%lld, name=%s.",
                 (long long)args->index, args->name);
    } else if (args->index != TW_NO_INT) {
        int64_t index = args->index < 0 ? args->index + count : args->index;
        if (index >= 0 && index < count)
            found = layers[index];
        else
            tw__fail(TW_VALUE_ERROR, "Was asked to retrieve layer at index %lld but model only has %lld layers.",
                     (long long)args->index, (long long)count);
    } else if (args->name) {
        for (int64_t i = 0; i < count && !found; i++)
            found = strcmp(layers[i]->name, args->name) == 0 ? layers[i] : NULL;
        if (!found)
            no_such_layer(args->name, layers, count);
    } else {
        tw__fail(TW_VALUE_ERROR, "Provide either a layer name or layer index at `get_layer`.");
    }
    tw_retain(found);
    tw__free(layers);
    return found;
}

/* ---- for C programs ---- */

tw_model *tw_model_new_(tw_model_function call, void *state, tw_model *model)
{
    if (!tw__check(model, &tw__class_model, "tw_model_new"))
        return NULL;
    ((tw__model *)model)->call = call;
    ((tw__model *)model)->state = state;
    return model;
}

void *tw_track(void *parent, const char *name, void *child)
{
    tw_status status = TW_OK;
    if (!parent || !child || !name)
        status = tw__fail(TW_INVALID_ARGUMENT, "tw_track: the %s is NULL", !parent ? "parent" : !child ? "child" : "name");
    else if (!tw__is(parent, &tw__trackable_class) || !tw__is(child, &tw__trackable_class))
        status =
            tw__fail(TW_INVALID_ARGUMENT, "tw_track: %s can't be tracked by %s", tw_class_name(child), tw_class_name(parent));
    else
        status = tw__track(parent, name, child);
    return status == TW_OK ? child : NULL;
}

tw_tensor *tw_model_call(tw_model *model, tw_tensor *input)
{
    return tw_layer_call(model, input);
}

tw_tensor *tw_model_call_training(tw_model *model, tw_tensor *input)
{
    bool good = tw__check(model, &tw__class_layer, "tw_model_call_training") &&
                tw__check(input, &tw__tensor_class, "tw_model_call_training");
    return good ? tw__layer_call(model, input, 1) : NULL;
}
