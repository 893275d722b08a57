/* keras.Sequential: layers one behind the other.
 *
 * If the first layer says its input's shape, every layer is built when it is added; else all are at the first call. Names of variables have no
 * model in front. Children in checkpoints, per layer i: "layer_with_weights-K" (K counts those with weights), then "layer-i". */
#include "graph/graph.h"
#include "keras/keras.h"

typedef struct sequential {
    tw__model model;
    tw_layer **layers; /* references */
    size_t count, capacity;
    bool settled;  /* input and output shape are known, and the children are those of built layers */
    bool inferred; /* from the first call's input */
    tw_shape input_shape, output_shape;
} sequential;

static tw_status track_layers(sequential *self)
{
    tw_trackable *object = &self->model.layer.trackable;
    size_t with_weights = 0;
    char name[48];
    for (size_t i = 0; i < self->count; i++) {
        if (tw__has_variables(&self->layers[i]->trackable)) {
            snprintf(name, sizeof name, "layer_with_weights-%zu", with_weights++);
            TW_TRY(tw__track(object, name, self->layers[i]));
        }
        snprintf(name, sizeof name, "layer-%zu", i);
        TW_TRY(tw__track(object, name, self->layers[i]));
    }
    return TW_OK;
}

static bool is_layer_name(const char *name)
{
    return tw__starts_with(name, "layer-") || tw__starts_with(name, "layer_with_weights-");
}

/* The children anew, in order; what else the model holds stays behind them. */
static tw_status retrack(sequential *self)
{
    tw_trackable *object = &self->model.layer.trackable;
    tw__child *old = object->children;
    size_t count = object->child_count;
    object->children = NULL;
    object->child_count = object->child_capacity = 0;
    tw_status status = track_layers(self);
    for (size_t i = 0; i < count; i++) {
        if (status == TW_OK && !is_layer_name(old[i].name))
            status = tw__track(object, old[i].name, old[i].object);
        tw__free(old[i].name);
        tw_release(old[i].object);
    }
    tw__free(old);
    return status;
}

/* The shapes of every layer from the input's on; builds what is not built. */
static tw_status settle(sequential *self, const tw_shape *input_shape)
{
    tw_shape shape = *input_shape;
    bool at_root = !tw__in_lasting(); /* in a graph that a program builds, a model's layers stand in its own scope */
    if (at_root)
        TW_TRY(tw__scope_push(NULL));
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < self->count; i++) {
        tw_shape next;
        status = tw__layer_output_shape(self->layers[i], &shape, &next);
        shape = next;
    }
    if (at_root)
        tw__scope_pop();
    TW_TRY(status);
    self->input_shape = *input_shape;
    self->output_shape = shape;
    self->settled = self->model.layer.built = true;
    return TW_OK;
}

static void count_call_of(tw_layer *layer)
{
    const tw__layer_methods *methods = layer->trackable.object.class->methods;
    if (methods->count_call)
        methods->count_call(layer);
}

/* Twice if it would learn its shape there. */
static void sequential_count_call(tw_layer *self)
{
    const sequential *model = (const sequential *)self;
    for (int times = model->settled ? 1 : 2; times > 0; times--) {
        for (size_t i = 0; i < model->count; i++)
            count_call_of(model->layers[i]);
    }
}

static tw_status add_layer(sequential *self, tw_layer *layer)
{
    if (!tw__is(layer, &tw__class_layer))
        return tw__fail(TW_TYPE_ERROR, "The added layer must be an instance of class Layer. Received: an object of class %s",
                        tw_class_name(layer));
    if (layer == &self->model.layer)
        return tw__fail(TW_VALUE_ERROR, "model \"%s\" can't be added to itself", layer->name);
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->layers[i]->name, layer->name) == 0)
            return tw__fail(TW_VALUE_ERROR, "All layers added to a Sequential model should have unique names. Name \"%s\" is already the name of "
                            "a layer in this model. Update the `name` argument to pass a unique name.", layer->name);
    }
    tw_shape shape = self->count == 0 ? layer->batch_input_shape : self->output_shape, next;
    bool known = self->count == 0 ? shape.rank >= 0 : self->settled;
    if (known) {
        TW_TRY(tw__scope_push(NULL));
        tw_status status = tw__layer_output_shape(layer, &shape, &next);
        tw__scope_pop();
        TW_TRY(status);
    }
    TW_TRY(TW_GROW(self->layers, self->capacity, self->count + 1));
    self->layers[self->count++] = tw_retain(layer);
    if (known) {
        if (self->count == 1)
            self->model.layer.batch_input_shape = self->input_shape = shape;
        self->output_shape = next;
        self->settled = self->model.layer.built = true;
    } else {
        self->model.layer.built = false;
    }
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
}

static void sequential_clear(void *self)
{
    sequential *model = self;
    tw_layer **layers = model->layers;
    size_t count = model->count;
    model->layers = NULL;
    model->count = model->capacity = 0;
    for (size_t i = 0; i < count; i++)
        tw_release(layers[i]);
    tw__free(layers);
}

/* Dimensions that differ from call to call are not known. */
static void relax(tw_shape *shape, const tw_shape *other)
{
    for (int i = 0; shape->rank == other->rank && i < shape->rank; i++) {
        if (shape->dims[i] != other->dims[i])
            shape->dims[i] = -1;
    }
}

static tw_tensor *sequential_call(tw_layer *self, tw_tensor *input, int training)
{
    sequential *model = (sequential *)self;
    tw_tensor *x = tw_retain(input);
    for (size_t i = 0; !model->settled && training == 1 && i < model->count; i++)
        count_call_of(model->layers[i]);
    for (size_t i = 0; x && i < model->count; i++) {
        tw_tensor *next = tw__layer_call(model->layers[i], x, training);
        tw_release(x);
        x = next;
    }
    if (x && model->settled && model->inferred) {
        relax(&model->input_shape, &input->shape);
        relax(&model->output_shape, &x->shape);
    } else if (x && !model->settled && model->count) {
        model->input_shape = input->shape;
        model->output_shape = x->shape;
        model->settled = model->inferred = true;
        if (retrack(model) != TW_OK) {
            tw_release(x);
            return NULL;
        }
    }
    return x;
}

static tw_status sequential_output_shape(tw_layer *self, const tw_shape *input_shape, tw_shape *output_shape)
{
    sequential *model = (sequential *)self;
    bool was_settled = model->settled;
    TW_TRY(settle(model, input_shape));
    if (!was_settled)
        TW_TRY(retrack(model));
    *output_shape = model->output_shape;
    return TW_OK;
}

static const tw__layer_methods sequential_methods = { .call = sequential_call, .output_shape = sequential_output_shape,
                                                   .count_call = sequential_count_call, .any_dtype = true };

TW_CLASS(sequential, "keras.Sequential|keras.models.Sequential(layers: list<layer> = None, name: str = None) -> model",
    .parent = &tw__class_model, .size = sizeof(sequential), .init = sequential_init, .destroy = sequential_clear,
    .visit = sequential_visit, .clear = sequential_clear, .methods = &sequential_methods, .drop_config = true,
    .doc = "Layers one behind the other.");

static sequential *of(tw_layer *layer)
{
    if (tw__is(layer, &tw__class_sequential))
        return (sequential *)layer;
    tw__fail(TW_TYPE_ERROR, "model \"%s\" is no Sequential but a %s", layer->name, tw_class_name(layer));
    return NULL;
}

TW_METHOD(sequential_add, "keras.Sequential.add(self: model, layer: layer)", "Puts a layer behind the others.")
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
    tw_layer *last = model->layers[--model->count];
    tw_status status = TW_OK;
    if (!model->count)
        model->settled = model->model.layer.built = false;
    else if (model->settled)
        status = settle(model, &model->input_shape);
    if (status == TW_OK)
        status = retrack(model);
    tw_release(last);
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

TW_METHOD(sequential_build, "keras.Sequential.build(self: model, input_shape: shape)", "Makes the weights for inputs of that shape.")
{
    tw_shape output;
    sequential *model = of(args->self);
    if (!model)
        return tw__error_status();
    return model->settled ? TW_OK : sequential_output_shape(args->self, &args->input_shape, &output);
}

TW_PROPERTY(sequential_input_shape, "keras.Sequential.input_shape(self: model) -> value", "The shape of inputs, None where it may differ.")
{
    sequential *model = of(args->self);
    if (model && !model->settled)
        tw__fail(TW_ATTRIBUTE_ERROR, "The layer \"%s\" has never been called and thus has no defined input shape.", args->self->name);
    return model && model->settled ? tw__shape_value(&model->input_shape) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_PROPERTY(sequential_output_shape, "keras.Sequential.output_shape(self: model) -> value", "The shape of outputs, None where it may differ.")
{
    sequential *model = of(args->self);
    if (model && !model->settled)
        tw__fail(TW_ATTRIBUTE_ERROR, "The layer \"%s\" has never been called and thus has no defined output shape.", args->self->name);
    return model && model->settled ? tw__shape_value(&model->output_shape) : (tw_value){ .kind = TW_VALUE_NONE };
}

/* ---- config ---- */

static tw_value input_layer(const sequential *model)
{
    tw__dict config = { 0 }, dict = { 0 };
    char *name = tw__format("%s_input", model->layers[0]->name);
    tw__dict_put(&config, "batch_input_shape", tw__shape_value(&model->input_shape));
    tw__dict_put_str(&config, "dtype", tw_dtype_name(model->layers[0]->dtype));
    tw__dict_put(&config, "sparse", (tw_value){ .kind = TW_VALUE_BOOL, .b = false });
    tw__dict_put(&config, "ragged", (tw_value){ .kind = TW_VALUE_BOOL, .b = false });
    tw__dict_put_str(&config, "name", name);
    tw__free(name);
    tw__dict_put_str(&dict, "module", "keras.layers");
    tw__dict_put_str(&dict, "class_name", "InputLayer");
    tw__dict_put(&dict, "config", tw__dict_take(&config));
    tw__dict_put(&dict, "registered_name", (tw_value){ .kind = TW_VALUE_NONE });
    return tw__dict_take(&dict);
}

/* A layer's entry; with the shape that it was built for, if it was. */
static tw_value layer_entry(tw_layer *layer, const tw_shape *shape)
{
    tw_value entry = tw__serialize(layer, tw__is(layer, &tw__class_model) ? "keras" : "keras.layers");
    if (!shape || entry.kind != TW_VALUE_DICT)
        return entry;
    tw__dict dict = { entry.list.items, (size_t)entry.list.count, (size_t)entry.list.count, false }, build = { 0 };
    tw__dict_put(&build, "input_shape", tw__shape_value(shape));
    tw__dict_put(&dict, "build_config", tw__dict_take(&build));
    return tw__dict_take(&dict);
}

TW_METHOD(sequential_get_config, "keras.Sequential.get_config(self: model) -> value", "The name and the configs of all layers.")
{
    sequential *model = of(args->self);
    tw_value *items = model ? tw__alloc_array(model->count + 2, sizeof *items) : NULL;
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    int64_t count = 0;
    tw_shape shape = model->input_shape;
    bool known = model->settled && model->count;
    if (known)
        items[count++] = input_layer(model);
    for (size_t i = 0; i < model->count; i++) {
        tw_shape next;
        items[count++] = layer_entry(model->layers[i], known ? &shape : NULL);
        known = known && i + 1 < model->count && tw__layer_output_shape(model->layers[i], &shape, &next) == TW_OK;
        if (known)
            shape = next;
    }
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "name", args->self->name);
    tw__dict_put(&dict, "layers", (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } });
    return tw__dict_take(&dict);
}
