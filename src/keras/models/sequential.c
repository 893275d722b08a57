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
    tw_layer *input; /* the InputLayer, once the input's shape is known; a reference, or NULL */
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

/* The InputLayer that stands before the first layer: "dense_input". */
static tw_status name_input(sequential *self)
{
    tw__layer_built_for(&self->model.layer, tw__shape_value(&self->input_shape));
    if (self->input)
        return TW_OK;
    char *name = tw__format("%s_input", self->layers[0]->name);
    tw_layers_input_layer_args args = { .name = name, .dtype = self->layers[0]->dtype, .batch_input_shape = self->input_shape,
                                        .input_shape = TW_UNKNOWN_SHAPE, .batch_size = TW_NO_INT };
    self->input = name ? tw_class_make(&tw__class_layers_input_layer, &args) : NULL;
    tw__free(name);
    return self->input ? TW_OK : tw__error_status();
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
    return name_input(self);
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
    if (tw__is(layer, &tw__class_layers_input_layer)) {
        if (self->count || self->input)
            return tw__fail(TW_VALUE_ERROR, "Sequential \"%s\": an InputLayer must be the first layer", self->model.layer.name);
        self->input = tw_retain(layer);
        self->input_shape = self->output_shape = self->model.layer.batch_input_shape = layer->batch_input_shape;
        self->settled = true;
        return TW_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->layers[i]->name, layer->name) == 0)
            return tw__fail(TW_VALUE_ERROR, "All layers added to a Sequential model should have unique names. Name \"%s\" is already the name of "
                            "a layer in this model. Update the `name` argument to pass a unique name.", layer->name);
    }
    bool first = self->count == 0 && !self->input;
    tw_shape shape = first ? layer->batch_input_shape : self->output_shape, next;
    bool known = first ? shape.rank >= 0 : self->settled;
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
        TW_TRY(name_input(self));
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
    if (model->input)
        visitor(context, &model->input->trackable.object);
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
    tw_layer *input = model->input;
    model->input = NULL;
    tw_release(input);
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
        if (name_input(model) != TW_OK || retrack(model) != TW_OK) {
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

static tw_value sequential_config(tw_layer *self);
static void *sequential_from_config(const tw_value *config);

static const tw__layer_methods sequential_methods = { .call = sequential_call, .output_shape = sequential_output_shape,
                                                   .count_call = sequential_count_call, .any_dtype = true,
                                                   .whole_config = sequential_config, .from_config = sequential_from_config };

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
    if (!model->count) {
        tw__set(&model->input, NULL);
        model->settled = model->model.layer.built = false;
    }
    if (model->count && model->settled)
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
    tw_sequential_args args = { .name = tw__value_text(config, "name") };
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
