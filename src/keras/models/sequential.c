/* keras.Sequential: layers one behind the other.
 *
 * If the first layer says its input's shape, every layer is built when it is added; else all are at the first call. Names of
 * variables have no model in front. Children in checkpoints, per layer i: "layer_with_weights-K" (K counts those with weights),
 * then "layer-i". */
#include "function/tracer.h"
#include "graph/graph.h"
#include "keras/keras.h"
#include "keras/models/functional.h"
#include "saving/saved_model.h"
#include "spec/structure.h"

typedef struct sequential {
    tw__model model;
    tw_layer **layers; /* references */
    size_t count, capacity;
    _Atomic bool settled;      /* input and output shape are known, and the children are those of built layers */
    bool inferred;             /* from the first call's input */
    tw_layer *input;           /* the InputLayer, once the input's shape is known; a reference, or NULL */
    tw_keras_tensor **tensors; /* what goes in and what each layer gives, as far as they are connected; references */
    size_t connected, tensor_capacity;
    tw_shape input_shape, output_shape;
    tw_value specs; /* of a model whose input is a dict of tensors: what they were in the first call */
} sequential;

tw_layer *const *tw__sequential_layers(const tw_layer *model, size_t *count)
{
    static tw_layer *const none[1];
    if (!tw__is(model, &tw__class_sequential))
        return NULL;
    const sequential *self = (const sequential *)model;
    *count = self->count;
    return self->layers ? self->layers : none;
}

static tw_status retrack(sequential *self)
{
    return tw__model_track_layers(&self->model.layer, self->layers, self->count);
}

/* The InputLayer that stands before the first layer: "dense_input". */
static tw_status name_input(sequential *self)
{
    tw__layer_built_for(&self->model.layer, tw__shape_value(&self->input_shape));
    if (self->input)
        return TW_OK;
    tw__owned char *name = tw__format("%s_input", self->layers[0]->name);
    tw_layers_input_layer_args args =
        TW_ARGS(layers_input_layer, .name = name, .dtype = self->layers[0]->dtype, .batch_input_shape = self->input_shape);
    self->input = name ? tw_class_make(&tw__class_layers_input_layer, &args) : NULL;
    return self->input ? TW_OK : tw__error_status();
}

static void disconnect(sequential *self, size_t from)
{
    while (self->connected > from)
        tw_release(self->tensors[--self->connected]);
}

/* The model's own node: from the input to what the last layer gives. */
static tw_status note_self(sequential *self)
{
    tw_layer *layer = &self->model.layer;
    if (self->connected < 2)
        return TW_OK;
    tw_value input = { .kind = TW_VALUE_OBJECT, .object = self->tensors[0] };
    tw_value output = { .kind = TW_VALUE_OBJECT, .object = self->tensors[self->connected - 1] };
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { &input, 1 } };
    TW_TRY(tw__layer_note(layer, &arguments, &output));
    if (layer->node_count > 1) { /* it takes the place of the one before */
        tw__layer_node *old = layer->nodes[0];
        layer->nodes[0] = layer->nodes[layer->node_count - 1];
        layer->nodes[layer->node_count - 1] = old;
        tw__layer_drop_node(layer);
    }
    return TW_OK;
}

/* Connects layers, from those that are connected on. Graphs that programs build have no Keras tensors: their layers are only
 * built. */
static tw_status connect(sequential *self)
{
    TW_TRY(TW_GROW(self->tensors, self->tensor_capacity, self->count + 1));
    if (!self->connected) {
        if (!(self->tensors[0] = tw__input_tensor(self->input)))
            return tw__error_status();
        self->connected = 1;
    }
    TW_TRY(tw__scope_push(NULL));
    tw_status status = TW_OK;
    while (status == TW_OK && self->connected <= self->count) {
        tw_keras_tensor *next = tw__layer_connect_one(self->layers[self->connected - 1], self->tensors[self->connected - 1]);
        status = next ? TW_OK : tw__error_status();
        if (next)
            self->tensors[self->connected++] = next;
    }
    tw__scope_pop();
    TW_TRY(status);
    self->output_shape = self->tensors[self->connected - 1]->shape;
    return note_self(self);
}

/* The last layer's shape for an input of that shape. */
static tw_status follow(const sequential *self, const tw_shape *input_shape, tw_shape *output_shape)
{
    *output_shape = *input_shape;
    for (size_t i = 0; i < self->count; i++) {
        tw_shape next;
        TW_TRY(tw__layer_output_shape(self->layers[i], output_shape, &next));
        *output_shape = next;
    }
    return TW_OK;
}

/* The shapes of every layer from the input's on; builds what is not built. */
static tw_status settle(sequential *self, const tw_shape *input_shape)
{
    self->input_shape = *input_shape;
    TW_TRY(name_input(self));
    if (!tw__in_lasting()) {
        TW_TRY(connect(self));
    } else { /* in a graph that a program builds, a model's layers stand in its own scope */
        TW_TRY(follow(self, input_shape, &self->output_shape));
    }
    self->settled = self->model.layer.built = true;
    return TW_OK;
}

/* Twice if it would learn its shape there. */
static void sequential_count_call(tw_layer *self)
{
    const sequential *model = (const sequential *)self;
    for (int times = model->settled ? 1 : 2; times > 0; times--) {
        for (size_t i = 0; i < model->count; i++)
            tw__layer_count_call(model->layers[i]);
    }
}

static tw_status add_settled(sequential *self, tw_layer *layer)
{
    TW_TRY(name_input(self));
    if (!tw__in_lasting())
        return connect(self);
    tw_shape shape = self->count == 1 ? self->input_shape : self->output_shape;
    TW_TRY(tw__scope_push(NULL));
    tw_status status = tw__layer_output_shape(layer, &shape, &self->output_shape);
    tw__scope_pop();
    return status;
}

static tw_status add_layer(sequential *self, tw_layer *layer)
{
    if (!tw__is(layer, &tw__class_layer))
        return tw__fail(TW_TYPE_ERROR, "The added layer must be an instance of class Layer. Received: an object of class %s",
                        tw_class_name(layer));
    if (layer == &self->model.layer)
        return tw__fail(TW_VALUE_ERROR, "model \"%s\" can't be added to itself", layer->name);
    if (tw__is(layer, &tw__class_layers_input_layer)) {
        if (self->count || self->input)
            return tw__fail(TW_VALUE_ERROR, "Sequential \"%s\": an InputLayer must be the first layer", self->model.layer.name);
        self->input = tw_retain(layer);
        self->input_shape = self->output_shape = self->model.layer.batch_input_shape = layer->batch_input_shape;
        self->settled = true;
        return TW_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        if (self->layers[i] == layer)
            return tw__fail(
                TW_VALUE_ERROR,
                "layer \"%s\" stands in the model already. Files hold a layer of a Sequential model once: use a functional "
                "model to call a layer several times.",
                layer->name);
        if (strcmp(self->layers[i]->name, layer->name) == 0)
            return tw__fail(TW_VALUE_ERROR,
                            "All layers added to a Sequential model should have unique names. Name \"%s\" is already the name of "
                            "a layer in this model. Update the `name` argument to pass a unique name.",
                            layer->name);
    }
    bool first = self->count == 0 && !self->input;
    bool known = first ? layer->batch_input_shape.rank >= 0 : self->settled;
    TW_TRY(TW_GROW(self->layers, self->capacity, self->count + 1));
    self->layers[self->count++] = tw_retain(layer);
    if (!known) {
        self->model.layer.built = false;
        return retrack(self);
    }
    if (first)
        self->model.layer.batch_input_shape = self->input_shape = layer->batch_input_shape;
    tw_status status = add_settled(self, layer);
    if (status != TW_OK) {
        tw_release(self->layers[--self->count]);
        if (first)
            tw__set(&self->input, NULL);
        return status;
    }
    self->settled = self->model.layer.built = true;
    return retrack(self);
}

static tw_status sequential_init(void *self, const void *given)
{
    sequential *model = self;
    const tw_sequential_args *args = given;
    model->model.layer.at_root = true;
    model->input_shape = model->output_shape = TW_UNKNOWN_SHAPE;
    for (int64_t i = 0; i < args->layers.count; i++) {
        if (!args->layers.items[i])
            return tw__fail(TW_INVALID_ARGUMENT, "Sequential \"%s\": layer %lld is NULL", model->model.layer.name, (long long)i);
        TW_TRY(add_layer(model, args->layers.items[i]));
    }
    return TW_OK;
}

static void sequential_visit(void *self, tw__visitor visitor, void *context)
{
    sequential *model = self;
    for (size_t i = 0; i < model->count; i++)
        visitor(context, &model->layers[i]->trackable.object);
    if (model->input)
        visitor(context, &model->input->trackable.object);
    for (size_t i = 0; i < model->connected; i++)
        visitor(context, &model->tensors[i]->object);
}

static void sequential_clear(void *self)
{
    sequential *model = self;
    disconnect(model, 0);
    tw__free(model->tensors);
    model->tensors = NULL;
    model->tensor_capacity = 0;
    tw_layer **layers = model->layers;
    size_t count = model->count;
    model->layers = NULL;
    model->count = model->capacity = 0;
    for (size_t i = 0; i < count; i++)
        tw_release(layers[i]);
    tw__free(layers);
    tw_layer *input = model->input;
    model->input = NULL;
    tw_release(input);
    tw_value_free(&model->specs);
}

/* Dimensions that differ from call to call are not known. */
static void relax(tw_shape *shape, const tw_shape *other)
{
    for (int i = 0; shape->rank == other->rank && i < shape->rank; i++) {
        if (shape->dims[i] != other->dims[i])
            shape->dims[i] = -1;
    }
}

/* After the first call: layers of an embedding language are not called again only to be connected. */
static tw_status connect_known(sequential *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->layers[i]->foreign_call)
            return TW_OK;
    }
    tw_shape output = self->output_shape;
    bool off = tw__reconnecting;
    tw__reconnecting = true; /* they belong to the call around this one */
    tw_status status = tw__in_lasting() ? TW_OK : connect(self);
    tw__reconnecting = off;
    if (status != TW_OK) {
        tw_clear_error(); /* it ran: so what can't be connected is no mistake */
        disconnect(self, 0);
    }
    self->output_shape = output;
    return TW_OK;
}

static tw_tensor *call_layers(sequential *model, tw_tensor *input, int training)
{
    tw_tensor *x = tw_retain(input);
    for (size_t i = 0; x && i < model->count; i++) {
        tw_tensor *next = tw__layer_call(model->layers[i], x, training);
        tw_release(x);
        x = next;
    }
    return x;
}

/* The first call, which says the shapes. */
static tw_tensor *call_unsettled(sequential *model, tw_tensor *input, int training)
{
    for (size_t i = 0; training == 1 && i < model->count; i++)
        tw__layer_count_call(model->layers[i]);
    tw_tensor *x = call_layers(model, input, training);
    if (!x || !model->count)
        return x;
    model->input_shape = input->shape;
    model->output_shape = x->shape;
    model->inferred = true;
    model->settled = true;
    if (name_input(model) == TW_OK && connect_known(model) == TW_OK && retrack(model) == TW_OK)
        return x;
    tw_release(x);
    return NULL;
}

/* A model that was told the shape of its input refuses others itself, whatever its first layer thinks of them. */
static tw_status check_declared(const sequential *model, const tw_shape *found)
{
    tw_shape expected = model->model.layer.batch_input_shape;
    bool one_more = found->rank == expected.rank + 1 && found->dims[found->rank - 1] == 1;
    bool one_less = found->rank == expected.rank - 1 && expected.rank > 0 && expected.dims[expected.rank - 1] == 1;
    if (expected.rank > 0)
        expected.dims[0] = -1;
    if (expected.rank < 0 || one_more || one_less || tw__shape_compatible(&expected, found))
        return TW_OK;
    return tw__layer_wrong_shape(&model->model.layer, 0, &expected, found);
}

/* Calls with another shape: what differs is not known any more, and the layers are connected anew for that. */
static void loosen(sequential *model, const tw_shape *input, int training)
{
    tw_shape shape = model->input_shape;
    relax(&shape, input);
    if (tw__shape_equal(&shape, &model->input_shape))
        return;
    model->input_shape = shape;
    for (size_t i = 0; training == 1 && i < model->count; i++)
        tw__layer_count_call(model->layers[i]);
    for (size_t i = 1; i < model->connected; i++) { /* nodes of other models come after ours: then all stay */
        if (model->layers[i - 1]->node_count != (size_t)model->tensors[i]->node + 1)
            return;
    }
    for (size_t i = 1; i < model->connected; i++)
        tw__layer_drop_node(model->layers[i - 1]);
    disconnect(model, 0);
    tw__set(&model->input, NULL);
    if (name_input(model) != TW_OK || connect_known(model) != TW_OK)
        tw_clear_error();
}

static tw_tensor *sequential_call(tw_layer *self, tw_tensor *input, int training)
{
    sequential *model = (sequential *)self;
    if (check_declared(model, &input->shape) != TW_OK)
        return NULL;
    if (!model->settled) {
        tw__tracing_begin();
        bool first = !model->settled; /* another thread may have called it meanwhile */
        tw_tensor *output = first ? call_unsettled(model, input, training) : NULL;
        tw__tracing_end();
        if (first)
            return output;
    }
    if (!model->inferred)
        return call_layers(model, input, training);
    tw__tracing_begin();
    loosen(model, &input->shape, training);
    tw__tracing_end();
    tw_tensor *x = call_layers(model, input, training);
    if (x) {
        static tw__lock shapes_lock = TW__LOCK;
        tw__lock_take(&shapes_lock);
        relax(&model->output_shape, &x->shape);
        tw__lock_give(&shapes_lock);
    }
    return x;
}

const tw_value *tw__sequential_specs(const tw_layer *model)
{
    const sequential *self = tw__is(model, &tw__class_sequential) ? (const sequential *)model : NULL;
    return self && self->specs.kind == TW_VALUE_DICT ? &self->specs : NULL;
}

/* The first layer takes a dict or list of features and gives a tensor. Such a model has no shape of its input: its layers are
 * built by the first call. */
static tw_value sequential_call_structure(tw_layer *self, const tw_value *input, int training)
{
    sequential *model = (sequential *)self;
    tw_value result = { .kind = TW_VALUE_NONE };
    bool single = (input->kind == TW_VALUE_LIST || input->kind == TW_VALUE_TUPLE) && input->list.count == 1;
    if (single && input->list.items[0].kind == TW_VALUE_TENSOR && tw__sequential_end(self, false)) /* the one input, in a list */
        return tw__tensor_value(tw__layer_call(self, input->list.items[0].tensor, training));
    if (!model->count) {
        tw__fail(TW_TYPE_ERROR, "Sequential \"%s\" takes one tensor", self->name);
        return result;
    }
    self->at_root = false; /* its layers are not connected: they are named as those of a subclass's model are */
    if (tw__layer_begin(self) != TW_OK)
        return result;
    bool first = !self->built;
    if (first)
        tw__tracing_begin();
    result = tw__layer_call_values(model->layers[0], input, 1, training);
    for (size_t i = 1; result.kind != TW_VALUE_NONE && i < model->count; i++) {
        tw_value given = result;
        result = tw__layer_call_values(model->layers[i], &given, 1, training);
        tw_value_free(&given);
    }
    if (first && result.kind != TW_VALUE_NONE) {
        self->built = true;
        tw_value_free(&model->specs);
        model->specs = tw__sequential_dict_specs(input);
        if (retrack(model) != TW_OK)
            tw_value_free(&result);
    }
    if (first)
        tw__tracing_end();
    tw__layer_end(self);
    return result;
}

static tw_status sequential_output_shape(tw_layer *self, const tw_shape *input_shape, tw_shape *output_shape)
{
    sequential *model = (sequential *)self;
    if (model->settled && model->count) /* the model's own shapes stay */
        return follow(model, input_shape, output_shape);
    if (!model->count) { /* nothing has a shape yet: layers may still come */
        model->model.layer.built = true;
        *output_shape = *input_shape;
        return TW_OK;
    }
    TW_TRY(settle(model, input_shape));
    TW_TRY(retrack(model));
    *output_shape = model->output_shape;
    return TW_OK;
}

static tw_value sequential_config(tw_layer *self);
static void *sequential_from_config(const tw_value *config);

static const tw__layer_methods sequential_methods = { .arguments = "inputs training mask",
                                                      .call = sequential_call,
                                                      .call_composite = tw__sequential_composite,
                                                      .call_structure = sequential_call_structure,
                                                      .output_shape = sequential_output_shape,
                                                      .count_call = sequential_count_call,
                                                      .any_dtype = true,
                                                      .whole_config = sequential_config,
                                                      .from_config = sequential_from_config };

TW_CLASS(sequential, "keras.Sequential|keras.models.Sequential(layers: list<layer> = None, name: str = None) -> model",
         .parent = &tw__class_model, .size = sizeof(sequential), .init = sequential_init, .destroy = sequential_clear,
         .visit = sequential_visit, .clear = sequential_clear, .methods = &sequential_methods, .drop_config = true,
         .doc = "Layers one behind the other.\n"
                "layers: the layers, the first one first; None: `add` brings them\n"
                "example: tf.keras.Sequential([tf.keras.layers.Dense(2)])(tf.ones([3, 4])).shape  # TensorShape([3, 2])\n"
                "name: the model's name; None: one is made");

static sequential *of(tw_layer *layer)
{
    if (tw__is(layer, &tw__class_sequential))
        return (sequential *)layer;
    tw__fail(TW_TYPE_ERROR, "model \"%s\" is no Sequential but a %s", layer->name, tw_class_name(layer));
    return NULL;
}

tw_keras_tensor *tw__sequential_end(tw_layer *model, bool output)
{
    const sequential *self = tw__is(model, &tw__class_sequential) ? (const sequential *)model : NULL;
    if (!self || self->connected < 2)
        return NULL;
    return self->tensors[output ? self->connected - 1 : 0];
}

TW_METHOD(sequential_add, "keras.Sequential.add(self: model, layer: layer)",
          "Puts a layer behind the others.\n"
          "layer: the layer; it must have one input and one output")
{
    sequential *model = of(args->self);
    return model ? add_layer(model, args->layer) : tw__error_status();
}

TW_METHOD(sequential_pop, "keras.Sequential.pop(self: model)", "Takes the last layer away.")
{
    sequential *model = of(args->self);
    if (!model)
        return tw__error_status();
    if (!model->count)
        return tw__fail(TW_TYPE_ERROR, "There are no layers in the model.");
    tw_auto tw_layer *last = model->layers[--model->count];
    tw_status status = TW_OK;
    disconnect(model, model->count + 1);
    if (!model->count) {
        disconnect(model, 0);
        tw__set(&model->input, NULL);
        tw__layer_nodes_free(&model->model.layer);
        model->settled = model->model.layer.built = false;
    } else if (model->connected) {
        model->output_shape = model->tensors[model->connected - 1]->shape;
        status = note_self(model);
    } else if (model->settled) {
        status = settle(model, &model->input_shape);
    }
    if (status == TW_OK)
        status = retrack(model);
    return status;
}

TW_PROPERTY(sequential_layers, "keras.Sequential.layers(self: model) -> list<layer>", "The layers, first to last.")
{
    sequential *model = of(args->self);
    void **items = model ? tw__alloc_array(model->count + 1, sizeof *items) : NULL;
    if (!items)
        return (tw_objects){ 0 };
    for (size_t i = 0; i < model->count; i++)
        items[i] = tw_retain(model->layers[i]);
    return (tw_objects){ items, (int64_t)model->count };
}

TW_METHOD(sequential_build, "keras.Sequential.build(self: model, input_shape: shape)",
          "Makes the weights for inputs of that shape.\n"
          "input_shape: the shape of the input with the batch's dimension, which may be None")
{
    tw_shape output;
    sequential *model = of(args->self);
    if (!model)
        return tw__error_status();
    return model->settled ? TW_OK : sequential_output_shape(args->self, &args->input_shape, &output);
}

TW_PROPERTY(sequential_input_shape, "keras.Sequential.input_shape(self: model) -> value",
            "The shape of inputs, None where it may differ.")
{
    sequential *model = of(args->self);
    if (model && !model->settled)
        tw__fail(TW_ATTRIBUTE_ERROR, "The layer \"%s\" has never been called and thus has no defined input shape.",
                 args->self->name);
    return model && model->settled ? tw__shape_value(&model->input_shape) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_PROPERTY(sequential_output_shape, "keras.Sequential.output_shape(self: model) -> value",
            "The shape of outputs, None where it may differ.")
{
    sequential *model = of(args->self);
    if (model && !model->settled)
        tw__fail(TW_ATTRIBUTE_ERROR, "The layer \"%s\" has never been called and thus has no defined output shape.",
                 args->self->name);
    return model && model->settled ? tw__shape_value(&model->output_shape) : (tw_value){ .kind = TW_VALUE_NONE };
}

/* ---- config ---- */

static tw_value sequential_config(tw_layer *self)
{
    const sequential *model = (const sequential *)self;
    tw_value *items = tw__alloc_array(model->count + 2, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    int64_t count = 0;
    if (model->input)
        items[count++] = tw__serialize(model->input, "keras.layers");
    for (size_t i = 0; i < model->count; i++)
        items[count++] = tw__serialize(model->layers[i], tw__is(model->layers[i], &tw__class_model) ? "keras" : "keras.layers");
    tw__dict dict = { 0 };
    dict.failed = tw_error_code() != TW_OK;
    tw__dict_put_str(&dict, "name", self->name);
    tw__dict_put(&dict, "layers", (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } });
    return tw__dict_take(&dict);
}

static void *sequential_from_config(const tw_value *config)
{
    const tw_value *entries = config->kind == TW_VALUE_LIST ? config : tw__value_get(config, "layers");
    if (!entries || entries->kind != TW_VALUE_LIST) {
        tw__fail(TW_VALUE_ERROR, "Sequential: the config has no list `layers`");
        return NULL;
    }
    tw_sequential_args args = TW_ARGS(sequential, .name = tw__value_text(config, "name"));
    sequential *model = tw_class_make(&tw__class_sequential, &args);
    bool good = model != NULL;
    for (int64_t i = 0; good && i < entries->list.count; i++) {
        tw_layer *layer = tw__deserialize(&entries->list.items[i], "layer");
        good = layer && add_layer(model, layer) == TW_OK;
        tw_release(layer);
    }
    const tw_value *built = tw__value_get(config, "build_input_shape");
    if (good && built && built->kind == TW_VALUE_LIST && !model->settled && built->list.count <= TW_MAX_RANK) {
        tw_shape shape = { .rank = (int32_t)built->list.count }, output;
        for (int64_t i = 0; i < built->list.count; i++)
            shape.dims[i] = built->list.items[i].kind == TW_VALUE_INT ? built->list.items[i].i : -1;
        good = sequential_output_shape(&model->model.layer, &shape, &output) == TW_OK;
    }
    if (good)
        return model;
    tw_release(model);
    return NULL;
}
