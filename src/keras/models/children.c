/* What Sequential and Functional models have in common: their children in checkpoints, per layer i "layer_with_weights-K" (K
 * counts those with weights), then "layer-i"; and the questions for inputs and outputs. */
#include "keras/models/functional.h"

/* Of an object that has no children. */
static tw_status track_layers(tw_trackable *object, tw_layer *const *layers, size_t count)
{
    size_t with_weights = 0;
    char name[48];
    for (size_t i = 0; i < count; i++) {
        if (tw__has_variables(&layers[i]->trackable)) {
            snprintf(name, sizeof name, "layer_with_weights-%zu", with_weights++);
            TW_TRY(tw__track_new(object, name, layers[i]));
        }
        snprintf(name, sizeof name, "layer-%zu", i);
        TW_TRY(tw__track_new(object, name, layers[i]));
    }
    return TW_OK;
}

static bool is_layer_name(const char *name)
{
    return tw__starts_with(name, "layer-") || tw__starts_with(name, "layer_with_weights-");
}

/* What else the model holds stays behind them. */
tw_status tw__model_track_layers(tw_layer *model, tw_layer *const *layers, size_t layer_count)
{
    tw_trackable *object = &model->trackable;
    tw__owned tw__child *old = object->children;
    size_t count = object->child_count;
    object->children = NULL;
    object->child_count = object->child_capacity = 0;
    tw_status status = track_layers(object, layers, layer_count);
    for (size_t i = 0; i < count; i++) {
        if (status == TW_OK && !is_layer_name(old[i].name))
            status = tw__track_new(object, old[i].name, old[i].object);
        tw__free(old[i].name);
        tw_release(old[i].object);
    }
    return status;
}

/* ---- inputs and outputs ---- */

static const char *never_called = "The layer \"%s\" has never been called and thus has no defined %s.";

tw_value tw__model_ends(tw_layer *model, bool outputs)
{
    const tw__functional *functional = tw__functional_of(model);
    if (functional)
        return tw__value_copy(outputs ? &functional->outputs : &functional->inputs);
    tw_keras_tensor *end = tw__sequential_end(model, outputs);
    if (end)
        return (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(end) };
    tw__fail(TW_ATTRIBUTE_ERROR, never_called, model->name, outputs ? "output" : "input");
    return (tw_value){ .kind = TW_VALUE_NONE };
}

/* As a flat list; None for a model that has none. */
static tw_value flat_ends(tw_layer *model, bool outputs)
{
    tw_value none = { .kind = TW_VALUE_NONE };
    if (!tw__functional_of(model) && !tw__sequential_end(model, outputs))
        return none;
    tw__auto(tw_value_free) tw_value ends = tw__model_ends(model, outputs);
    tw__owned tw_keras_tensor **tensors = NULL;
    size_t count = 0, capacity = 0;
    tw_status status = tw__keras_tensors_of(&ends, &tensors, &count, &capacity);
    tw_value *items = status == TW_OK ? tw__alloc_array(count + 1, sizeof *items) : NULL;
    for (size_t i = 0; items && i < count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(tensors[i]) };
    return items ? (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)count } } : none;
}

TW_PROPERTY(model_inputs, "keras.Model.inputs(self: layer) -> value",
            "The Keras tensors that go in, as a list; None if it has none.")
{
    return flat_ends(args->self, false);
}

TW_PROPERTY(model_outputs, "keras.Model.outputs(self: layer) -> value",
            "The Keras tensors that come out, as a list; None if it has none.")
{
    return flat_ends(args->self, true);
}

TW_PROPERTY(model_input, "keras.Model.input(self: layer) -> value",
            "The Keras tensor that goes in, or several in their structure.")
{
    return tw__model_ends(args->self, false);
}

TW_PROPERTY(model_output, "keras.Model.output(self: layer) -> value",
            "The Keras tensor that comes out, or several in their structure.")
{
    return tw__model_ends(args->self, true);
}

static tw_value end_shapes(tw_layer *model, bool outputs)
{
    tw_value ends = { .kind = TW_VALUE_NONE }, shapes = ends;
    if (!tw__functional_of(model) && !tw__sequential_end(model, outputs)) {
        tw__fail(TW_ATTRIBUTE_ERROR, never_called, model->name, outputs ? "output shape" : "input shape");
        return shapes;
    }
    ends = tw__model_ends(model, outputs);
    shapes = tw__shapes_of(&ends);
    tw_value_free(&ends);
    return shapes;
}

TW_PROPERTY(model_input_shape, "keras.Model.input_shape(self: layer) -> value",
            "The shape of the input, None where it may differ.")
{
    return end_shapes(args->self, false);
}

TW_PROPERTY(model_output_shape, "keras.Model.output_shape(self: layer) -> value",
            "The shape of the output, None where it may differ.")
{
    return end_shapes(args->self, true);
}

static bool is_taken(const tw_value *names, int64_t count, const char *name)
{
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(names->list.items[i].s.data, name) == 0)
            return true;
    }
    return false;
}

/* Names of the layers that the tensors come from, numbered if one layer gives several. */
static tw_value end_names(tw_layer *model, bool outputs)
{
    tw_value ends = flat_ends(model, outputs);
    for (int64_t i = 0; ends.kind == TW_VALUE_LIST && i < ends.list.count; i++) {
        tw_keras_tensor *tensor = ends.list.items[i].object;
        char *name = tw__strdup(tensor->layer->name);
        for (int64_t number = 1; name && is_taken(&ends, i, name); number++) {
            tw__free(name);
            name = tw__format("%s_%lld", tensor->layer->name, (long long)number);
        }
        tw_release(tensor);
        ends.list.items[i] =
            name ? (tw_value){ .kind = TW_VALUE_STR, .s = { name, strlen(name) } } : (tw_value){ .kind = TW_VALUE_NONE };
        if (!name) {
            tw_value_free(&ends);
            break;
        }
    }
    return ends;
}

TW_PROPERTY(model_input_names, "keras.Model.input_names(self: layer) -> value", "The names of the inputs.")
{
    return end_names(args->self, false);
}

TW_PROPERTY(model_output_names, "keras.Model.output_names(self: layer) -> value", "The names of the outputs.")
{
    return end_names(args->self, true);
}
