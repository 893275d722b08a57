/* Keras models as SavedModels: what Keras adds to the objects and functions that any SavedModel has (saving/saved_model.h).
 *
 *     root: identifier _tf_keras_sequential, _tf_keras_network or _tf_keras_model; layers are _tf_keras_layer, named layer-0, layer_with_weights-0 …
 *     __call__                                     inputs, training, mask: two traces
 *     keras_api/call_and_return_conditional_losses the same with a list of losses beside the result: what classes that nobody knows run
 *     variables, trainable_variables               lists
 *     serving_default                              the call without training; its result has the last layer's name
 *
 *     keras_metadata.pb   SavedMetadata { 1 { 2 node, 3 path "root.layer-0", 4 identifier, 5 JSON, 6 version { 1 producer, 2 min_consumer } } }
 *
 * A model is loaded of the class and config in the JSON, and its weights by their names; a model of a class that nobody knows keeps the functions
 * of the file instead. */
#include "keras/saving/saved_model.h"

/* ---- words ---- */

static const char *identifier_of(const tw_trackable *object)
{
    if (tw__is(object, &tw__class_sequential))
        return "_tf_keras_sequential";
    const tw_class *functional = tw_class_find("functional"), *input = tw_class_find("layers_input_layer");
    if (functional && tw__is(object, functional))
        return "_tf_keras_network";
    if (tw__is(object, &tw__class_model))
        return "_tf_keras_model";
    if (input && tw__is(object, input))
        return "_tf_keras_input_layer";
    return tw__is(object, &tw__class_layer) ? "_tf_keras_layer" : NULL;
}

static tw__object_words words_of(const tw_trackable *object)
{
    return (tw__object_words){ identifier_of(object), 1 };
}

/* ---- what is known of the input ---- */

tw_status tw__shape_of_value(const tw_value *value, tw_shape *shape)
{
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
    *shape = TW_UNKNOWN_SHAPE;
    if (value->kind == TW_VALUE_SHAPE)
        *shape = *value->shape;
    if (!list || value->list.count > TW_MAX_RANK)
        return TW_OK;
    for (int64_t i = 0; i < value->list.count; i++) {
        int kind = value->list.items[i].kind;
        if (kind != TW_VALUE_INT && kind != TW_VALUE_NONE)
            return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "SavedModels of models with several inputs are not supported");
        shape->dims[i] = kind == TW_VALUE_INT ? value->list.items[i].i : -1;
    }
    shape->rank = (int32_t)value->list.count;
    return TW_OK;
}

static tw_status find_input(tw_layer *model, tw_shape *shape, tw_dtype *dtype)
{
    const tw__model *own = (const tw__model *)model;
    *dtype = own->input_dtype ? own->input_dtype : TW_FLOAT32;
    *shape = model->batch_input_shape;
    if (shape->rank < 0 && model->built) {
        tw_value value = tw__is(model, &tw__class_sequential) ? tw_sequential_input_shape(model) : tw__value_copy(&model->build_shape);
        tw_status status = tw_error_code() == TW_OK ? tw__shape_of_value(&value, shape) : tw_error_code();
        tw_value_free(&value);
        TW_TRY(status);
    }
    if (shape->rank < 0)
        return tw__fail(TW_VALUE_ERROR, "Model %s cannot be saved either because the input shape is not available or because the forward pass of the "
                        "model is not defined.To define a forward pass, please override `Model.call()`. To specify an input shape, either call "
                        "`build(input_shape)` directly, or call the model on actual data using `Model()`, `Model.fit()`, or `Model.predict()`. If you "
                        "have a custom training step, please make sure to invoke the forward pass in train step through `Model.__call__`, i.e. "
                        "`model(inputs)`, as opposed to `model.call()`.", model->name);
    tw_shape output;
    if (!model->built)
        TW_TRY(tw__layer_run_on_zeros(model, shape, &output));
    model->built = true;
    if (shape->rank > 0)
        shape->dims[0] = -1;
    return TW_OK;
}

TW_METHOD(model_set_inputs, "keras.Model._set_inputs(self: layer, inputs: value, outputs: value = None, training: value = None)",
          "Says what inputs are like, for a model that was not called on any.")
{
    tw__model *model = (tw__model *)args->self;
    tw_spec spec;
    if (tw__value_spec(&args->inputs, &spec)) {
        model->layer.batch_input_shape = spec.shape;
        model->input_dtype = spec.dtype;
    } else if (args->inputs.kind == TW_VALUE_TENSOR) {
        model->layer.batch_input_shape = args->inputs.tensor->shape;
        model->input_dtype = args->inputs.tensor->dtype;
    } else {
        return tw__fail(TW_TYPE_ERROR, "_set_inputs: a tf.TensorSpec or a tensor is expected");
    }
    if (model->layer.batch_input_shape.rank > 0)
        model->layer.batch_input_shape.dims[0] = -1;
    return TW_OK;
}

/* ---- functions ---- */

typedef struct call {
    tw_layer *model;
    int training;
} call;

static tw_status run_model(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const call *c = context;
    (void)count;
    *outputs = tw__alloc_array(1, sizeof **outputs);
    if (!*outputs || !((*outputs)[0] = tw__layer_call(c->model, arguments[0], c->training)))
        return tw__error_status();
    *output_count = 1;
    return tw__function_name_results(*outputs, 1);
}

static tw__function *trace(tw_layer *model, const char *what, const char *name, const tw_shape *shape, tw_dtype dtype, int training)
{
    static _Atomic uint64_t number;
    char *text = tw__format("__inference_%s_%llu", what, (unsigned long long)++number);
    tw__outside outside = tw__outside_begin();
    tw__function *made = text ? tw__function_trace_named(text, &name, &dtype, shape, 1, run_model, &(call){ model, training }) : NULL;
    tw__outside_end(outside);
    tw__free(text);
    return made;
}

static tw_value list_of(int kind, size_t count, const tw_value *members)
{
    tw_value *items = tw__alloc_array(count + 1, sizeof *items);
    if (items && count)
        memcpy(items, members, count * sizeof *items);
    return (tw_value){ .kind = (unsigned)kind, .list = { items, items ? (int64_t)count : 0 } };
}
#define LIST(kind_, ...) list_of(kind_, sizeof((tw_value[]){ __VA_ARGS__ }) / sizeof(tw_value), (tw_value[]){ __VA_ARGS__ })
#define NONE ((tw_value){ .kind = TW_VALUE_NONE })

/* inspect.FullArgSpec(args=['inputs', 'training', 'mask'], defaults=(False, None)). */
static tw_value call_specification(void)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, TW_NAMED_TUPLE, "FullArgSpec");
    tw__dict_put(&dict, "args", LIST(TW_VALUE_LIST, tw__value_str("inputs"), tw__value_str("training"), tw__value_str("mask")));
    tw__dict_put(&dict, "varargs", NONE);
    tw__dict_put(&dict, "varkw", NONE);
    tw__dict_put(&dict, "defaults", LIST(TW_VALUE_TUPLE, { .kind = TW_VALUE_BOOL, .b = false }, NONE));
    tw__dict_put(&dict, "kwonlyargs", (tw_value){ .kind = TW_VALUE_LIST });
    tw__dict_put(&dict, "kwonlydefaults", NONE);
    tw__dict_put(&dict, "annotations", (tw_value){ .kind = TW_VALUE_DICT });
    return LIST(TW_VALUE_TUPLE, tw__dict_take(&dict), NONE);
}

/* __call__, or the same with losses. */
static tw_saved_function *call_function(tw__function *const *traces, const tw_shape *shape, tw_dtype dtype, bool with_losses)
{
    tw_saved_function *function = tw__saved_function_new(call_specification());
    for (int training = 0; function && training < 2; training++) {
        const tw__function *f = traces[training];
        tw_value output = tw__spec_value(tw__function_output_dtype(f, 0), tw__function_output_shape(f, 0), NULL);
        if (with_losses)
            output = LIST(TW_VALUE_TUPLE, output, { .kind = TW_VALUE_LIST });
        tw_value inputs = LIST(TW_VALUE_TUPLE,
                               LIST(TW_VALUE_TUPLE, tw__spec_value(dtype, shape, "inputs"), { .kind = TW_VALUE_BOOL, .b = training != 0 }, NONE),
                               { .kind = TW_VALUE_DICT });
        tw_saved_concrete *concrete = tw__saved_concrete_new(traces[training], inputs, output);
        tw_status status = concrete ? tw__saved_concrete_keywords(concrete, (const char *const[]){ "inputs" }, 1, -1) : TW_RESOURCE_EXHAUSTED;
        if (status == TW_OK)
            status = tw__saved_function_add(function, concrete);
        tw_release(concrete);
        if (status != TW_OK) {
            tw_release(function);
            return NULL;
        }
    }
    return function;
}

static tw_status add_list(tw__extra *extra, tw_layer *model, const char *name, tw__which which)
{
    tw_variable **variables = NULL;
    int64_t count = 0;
    tw_saved_object *list = tw__saved_object_new("trackable_list_wrapper");
    tw_status status = list ? tw__collect_variables(&model->trackable, which, &variables, &count) : TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%lld", (long long)i);
        status = tw__track(&list->trackable, place, variables[i]);
    }
    tw__free(variables);
    if (status == TW_OK)
        status = tw__extra_add(extra, &model->trackable, name, list);
    tw_release(list);
    return status;
}

/* Two traces, with and without training; those with losses have graphs of their own, since a name in a file is one function's. */
static tw_status add_calls(tw__extra *extra, tw_layer *model, const tw_shape *shape, tw_dtype dtype)
{
    tw_saved_object *api = tw__saved_object_new("_generic_user_object");
    tw_status status = api ? tw__extra_add(extra, &model->trackable, "keras_api", api) : TW_RESOURCE_EXHAUSTED;
    for (int losses = 0; status == TW_OK && losses < 2; losses++) {
        const char *what = losses ? "call_and_return_conditional_losses" : "call";
        tw__function *traces[2] = { trace(model, what, "inputs", shape, dtype, 0), NULL };
        if (traces[0])
            traces[1] = trace(model, what, "inputs", shape, dtype, 1);
        tw_saved_function *function = traces[0] && traces[1] ? call_function(traces, shape, dtype, losses) : NULL;
        if (!function)
            status = tw__error_status();
        else if (losses)
            status = tw__track(&api->trackable, what, function);
        else
            status = tw__extra_add(extra, &model->trackable, "__call__", function);
        tw_release(function);
        tw_release(traces[0]);
        tw_release(traces[1]);
    }
    tw_release(api);
    return status;
}

/* The names under which the model serves: "dense_input" -> "dense_1" of a Sequential, "input_1" -> "output_1" of others. */
static tw_saved_concrete *default_signature(tw_layer *model, const tw_shape *shape, tw_dtype dtype)
{
    char *input = NULL, *output = NULL;
    tw_objects layers = { 0 };
    if (tw__is(model, &tw__class_sequential))
        layers = tw_sequential_layers(model);
    if (layers.count) {
        input = tw__format("%s_input", ((const tw_layer *)layers.items[0])->name);
        output = tw__strdup(((const tw_layer *)layers.items[layers.count - 1])->name);
    }
    const char *name = input ? input : "input_1";
    tw__function *f = trace(model, "serving", name, shape, dtype, 0);
    tw_saved_concrete *made = NULL, *signature = NULL;
    if (f) {
        tw__dict results = { 0 };
        tw__dict_put(&results, output ? output : "output_1", tw__spec_value(tw__function_output_dtype(f, 0), tw__function_output_shape(f, 0), NULL));
        tw_value inputs = LIST(TW_VALUE_TUPLE, LIST(TW_VALUE_TUPLE, tw__spec_value(dtype, shape, name)), { .kind = TW_VALUE_DICT });
        made = tw__saved_concrete_new(f, inputs, tw__dict_take(&results));
    }
    if (made && tw__saved_concrete_keywords(made, &name, 1, -1) == TW_OK)
        signature = tw__signature_of(made, "serving_default");
    tw_release(made);
    tw_release(f);
    tw_objects_free(&layers);
    tw__free(input);
    tw__free(output);
    return signature;
}

/* ---- metadata ---- */

static void put_bool(tw__dict *dict, const char *key, bool value)
{
    tw__dict_put(dict, key, (tw_value){ .kind = TW_VALUE_BOOL, .b = value });
}

static tw_value shape_entry(const tw_value *shape)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", "TensorShape");
    tw_value items = tw__value_copy(shape);
    if (items.kind == TW_VALUE_SHAPE) {
        tw_value_free(&items);
        items = tw__shape_value(shape->shape);
    }
    tw__dict_put(&dict, "items", items);
    return tw__dict_take(&dict);
}

/* The class and config of a layer; a class that does not say its config has none. */
static tw_value class_and_config(tw_layer *layer)
{
    tw_value entry = tw__serialize(layer, tw__is(layer, &tw__class_model) ? "keras" : "keras.layers");
    bool plain_model = tw__is(layer, &tw__class_model) && strcmp(identifier_of(&layer->trackable), "_tf_keras_model") == 0;
    if (entry.kind == TW_VALUE_DICT && !plain_model)
        return entry;
    const char *known = entry.kind == TW_VALUE_DICT ? tw__value_text(&entry, "class_name") : NULL;
    char *name = tw__strdup(known ? known : tw_class_name(layer));
    tw_value_free(&entry);
    tw_clear_error();
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", name);
    tw__dict_put(&dict, "config", (tw_value){ .kind = TW_VALUE_DICT });
    tw__free(name);
    return tw__dict_take(&dict);
}

static char *metadata_of(tw_layer *layer, bool root)
{
    tw_value entry = class_and_config(layer);
    const tw_value *config = entry.kind == TW_VALUE_DICT ? tw__value_get(&entry, "config") : NULL;
    if (!config)
        return NULL;
    tw__dict dict = { 0 };
    bool network = strcmp(identifier_of(&layer->trackable), "_tf_keras_model") != 0;
    tw__dict_put_str(&dict, "name", layer->name);
    put_bool(&dict, "trainable", layer->trainable);
    put_bool(&dict, "expects_training_arg", true);
    tw__dict_put_str(&dict, "dtype", tw_dtype_name(layer->dtype));
    tw__dict_put(&dict, "batch_input_shape", layer->batch_input_shape.rank >= 0 ? tw__shape_value(&layer->batch_input_shape) : NONE);
    put_bool(&dict, "must_restore_from_config", false);
    tw__dict_put_str(&dict, "class_name", tw__value_text(&entry, "class_name"));
    tw__dict_put(&dict, "config", tw__value_copy(config));
    if (layer->build_shape.kind != TW_VALUE_NONE)
        tw__dict_put(&dict, "build_input_shape", shape_entry(&layer->build_shape));
    if (root) {
        tw__dict whole = { 0 };
        put_bool(&dict, "is_graph_network", network);
        tw__dict_put_str(&dict, "keras_version", "2.15.0");
        tw__dict_put_str(&dict, "backend", "tensorflow");
        tw__dict_put_str(&whole, "class_name", tw__value_text(&entry, "class_name"));
        tw__dict_put(&whole, "config", tw__value_copy(config));
        tw__dict_put(&dict, "model_config", tw__dict_take(&whole));
    }
    tw_value value = tw__dict_take(&dict);
    char *text = value.kind == TW_VALUE_DICT ? tw_value_json(&value) : NULL;
    tw_value_free(&value);
    tw_value_free(&entry);
    return text;
}

static void add_path(tw__text *text, const tw__walk *walk, size_t node)
{
    if (node == 0) {
        tw__text_add(text, "root");
        return;
    }
    add_path(text, walk, walk->nodes[node].parent);
    tw__text_format(text, ".%s", walk->nodes[node].name);
}

static tw_status make_metadata(void *context, const tw__walk *walk, tw__text *text)
{
    (void)context;
    for (size_t i = 0; i < walk->count; i++) {
        tw_trackable *object = walk->nodes[i].object;
        if (!tw__is(object, &tw__class_layer))
            continue;
        tw__text node = { 0 }, path = { 0 };
        char *json = metadata_of((tw_layer *)object, i == 0);
        if (!json)
            return tw__error_status();
        const char *identifier = identifier_of(object);
        add_path(&path, walk, i);
        if (i)
            tw__proto_add_varint(&node, 2, i);
        tw__proto_add_bytes(&node, 3, path.data, path.size);
        tw__proto_add_bytes(&node, 4, identifier, strlen(identifier));
        tw__proto_add_bytes(&node, 5, json, strlen(json));
        tw__proto_add_bytes(&node, 6, "\x08\x02\x10\x01", 4);
        tw__proto_add_bytes(text, 1, node.data, node.size);
        text->failed |= node.failed || path.failed;
        tw__text_free(&node);
        tw__text_free(&path);
        tw__free(json);
    }
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__model_save_tf(tw_layer *model, const char *directory, tw__extra *extra, tw_saved_object *signatures)
{
    tw_shape shape;
    tw_dtype dtype;
    TW_TRY(find_input(model, &shape, &dtype));
    if (!tw__tracked(&model->trackable, "__call__")) { /* a model that was loaded without its class has all of these */
        TW_TRY(add_list(extra, model, "variables", TW_ALL_VARIABLES));
        TW_TRY(add_list(extra, model, "trainable_variables", TW_TRAINABLE_VARIABLES));
        TW_TRY(add_calls(extra, model, &shape, dtype));
    }
    if (!signatures->trackable.child_count) {
        tw_saved_concrete *signature = default_signature(model, &shape, dtype);
        tw_status status = signature ? tw__track(&signatures->trackable, "serving_default", signature) : tw__error_status();
        tw_release(signature);
        TW_TRY(status);
    }
    tw__object_words_hook = words_of;
    tw__saving_view view = { .root = &model->trackable, .extra = extra };
    return tw__saved_model_save(&view, signatures, directory, "keras_metadata.pb", make_metadata, NULL);
}
