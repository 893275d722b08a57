/* Keras models as SavedModels: what Keras adds to the objects and functions that any SavedModel has (saving/saved_model.h).
 *
 *     root: identifier _tf_keras_sequential, _tf_keras_network or _tf_keras_model; layers are _tf_keras_layer, named layer-0,
 * layer_with_weights-0 …
 *     __call__                                     inputs, training, mask: two traces
 *     keras_api/call_and_return_conditional_losses the same with a list of losses beside the result: what classes that nobody
 * knows run variables, trainable_variables               lists serving_default                              the call without
 * training; its result has the last layer's name
 *
 *     keras_metadata.pb   SavedMetadata { 1 { 2 node, 3 path "root.layer-0", 4 identifier, 5 JSON, 6 version { 1 producer, 2
 * min_consumer } } }
 *
 * A model is loaded of the class and config in the JSON, and its weights by their names; a model of a class that nobody knows
 * keeps the functions of the file instead. */
#include "api/tensor_spec.h"
#include "base/language.h"
#include "keras/models/functional.h"
#include "keras/optimizers/optimizers.h"
#include "keras/saving/saved_model.h"
#include "spec/structure.h"

/* ---- words ---- */

static tw__object_words words_of(const tw_trackable *object)
{
    if (tw__is(object, &tw__class_optimizer)) /* slot variables are looked for in these alone */
        return (tw__object_words){ tw__optimizer_is_legacy((const tw_optimizer *)object) ? "optimizer" : "experimentalOptimizer",
                                   2 };
    return (tw__object_words){ tw__keras_identifier(object), 1 };
}

/* ---- values ---- */

static tw_value list_of(int kind, size_t count, const tw_value *members)
{
    tw_value *items = tw__alloc_array(count + 1, sizeof *items);
    if (items && count)
        memcpy(items, members, count * sizeof *items);
    return (tw_value){ .kind = (unsigned)kind, .list = { items, items ? (int64_t)count : 0 } };
}
#define LIST(kind_, ...) list_of(kind_, sizeof((tw_value[]){ __VA_ARGS__ }) / sizeof(tw_value), (tw_value[]){ __VA_ARGS__ })
#define NONE ((tw_value){ .kind = TW_VALUE_NONE })

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

/* What a model is called with: specs in their structure, and the names under which it serves. */
typedef struct model_input {
    tw_value structure;
    tw_dtype *dtypes;
    tw_shape *shapes;
    char **names;
    int count;
    bool fixed; /* the batch has its size: states do, too */
} model_input;

static void free_input(model_input *input)
{
    tw_value_free(&input->structure);
    for (int i = 0; input->names && i < input->count; i++)
        tw__free(input->names[i]);
    tw__free(input->names);
    tw__free(input->dtypes);
    tw__free(input->shapes);
}

static tw_status add_tensor(model_input *input, tw_dtype dtype, const tw_shape *shape, const char *name)
{
    size_t count = (size_t)input->count + 1;
    tw_dtype *dtypes = tw__realloc(input->dtypes, count * sizeof *dtypes);
    input->dtypes = dtypes ? dtypes : input->dtypes;
    tw_shape *shapes = tw__realloc(input->shapes, count * sizeof *shapes);
    input->shapes = shapes ? shapes : input->shapes;
    char **names = tw__realloc(input->names, count * sizeof *names), *copy = tw__strdup(name);
    input->names = names ? names : input->names;
    if (!dtypes || !shapes || !names || !copy) {
        tw__free(copy);
        return TW_RESOURCE_EXHAUSTED;
    }
    dtypes[count - 1] = dtype;
    shapes[count - 1] = *shape;
    if (shape->rank > 0 && !input->fixed)
        shapes[count - 1].dims[0] = -1;
    names[count - 1] = copy;
    input->count++;
    return TW_OK;
}

static tw_value spec_for(void *context, tw_keras_tensor *tensor)
{
    tw_shape shape = tensor->shape;
    if (shape.rank > 0 && !((const model_input *)context)->fixed)
        shape.dims[0] = -1;
    return tw__spec_value(tensor->dtype, &shape, tensor->name);
}

/* Of a model that is a graph of layers. */
static tw_status functional_input(const tw__functional *functional, model_input *input)
{
    for (size_t i = 0; i < functional->input_count; i++) {
        const tw_keras_tensor *tensor = functional->flat_inputs[i];
        TW_TRY(add_tensor(input, tensor->dtype, &tensor->shape, tensor->name));
    }
    return tw__replace_tensors(&functional->inputs, spec_for, input, &input->structure);
}

static tw_status no_input(const tw_layer *model)
{
    return tw__fail(
        TW_VALUE_ERROR,
        "Model %s cannot be saved either because the input shape is not available or because the forward pass of the "
        "model is not defined.To define a forward pass, please override `Model.call()`. To specify an input shape, either call "
        "`build(input_shape)` directly, or call the model on actual data using `Model()`, `Model.fit()`, or `Model.predict()`. If you "
        "have a custom training step, please make sure to invoke the forward pass in train step through `Model.__call__`, i.e. "
        "`model(inputs)`, as opposed to `model.call()`.",
        model->name);
}

static tw_status add_spec(void *context, const tw_value *leaf)
{
    model_input *input = context;
    char number[32];
    snprintf(number, sizeof number, "input_%d", input->count + 1);
    if (leaf->kind != TW_VALUE_OBJECT || !tw__is(leaf->object, &tw__class_tensor_spec))
        return TW_OK;
    const tw_tensor_spec *spec = leaf->object;
    return add_tensor(input, spec->dtype, &spec->shape, spec->name ? spec->name : number);
}

static tw_status find_input(tw_layer *model, model_input *input)
{
    tw__functional *functional = tw__functional_of(model);
    if (functional)
        return functional_input(functional, input);
    const tw_value *specs = tw__revived_input(model);
    bool sequential = tw__is(model, &tw__class_sequential);
    tw__auto(tw_value_free) tw_value called = tw__model_save_spec(model, !input->fixed);
    if (!specs)
        specs = sequential ? tw__sequential_specs(model) : &called;
    if (specs && tw__is_nested(specs)) {
        TW_TRY(tw__structure_each(specs, add_spec, input));
        input->structure = tw__value_copy(specs);
        return TW_OK;
    }
    const tw__model *own = (const tw__model *)model;
    tw_dtype dtype = own->input_dtype ? own->input_dtype : TW_FLOAT32;
    tw_shape shape = model->batch_input_shape, output;
    char *name = tw__strdup("input_1");
    tw_status status = name ? TW_OK : TW_RESOURCE_EXHAUSTED;
    tw_spec spec;
    if (shape.rank < 0 && tw__value_spec(&called, &spec)) {
        dtype = spec.dtype;
        shape = spec.shape;
    }
    if (status == TW_OK && shape.rank < 0 && model->built) {
        tw_value value = sequential ? tw_sequential_input_shape(model) : tw__value_copy(&model->build_shape);
        status = tw_error_code() == TW_OK ? tw__shape_of_value(&value, &shape) : tw_error_code();
        tw_value_free(&value);
    }
    if (status == TW_OK && shape.rank < 0)
        status = no_input(model);
    if (status == TW_OK && !model->built) {
        status = tw__layer_run_on_zeros(model, &shape, &output);
        model->built = status == TW_OK;
    }
    const tw_keras_tensor *first = sequential ? tw__sequential_end(model, false) : NULL;
    tw_objects layers = { 0 };
    if (status == TW_OK && sequential && !first)
        layers = tw_sequential_layers(model);
    if (first || layers.count) {
        tw__free(name);
        name = first ? tw__strdup(first->name) : tw__format("%s_input", ((const tw_layer *)layers.items[0])->name);
        dtype = first ? first->dtype : dtype;
    }
    tw_objects_free(&layers);
    if (status == TW_OK)
        status = name ? add_tensor(input, dtype, &shape, name) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        input->structure = tw__spec_value(dtype, &input->shapes[0], "inputs");
    tw__free(name);
    return status;
}

tw_status tw__model_inputs(tw_layer *model, tw_value *structure)
{
    tw__auto(free_input) model_input input = { .structure = NONE };
    tw_status status = find_input(model, &input);
    bool single = status == TW_OK && input.count == 1 && !tw__is_nested(&input.structure);
    *structure = single            ? tw__spec_value(input.dtypes[0], &input.shapes[0], input.names[0])
                 : status == TW_OK ? tw__value_copy(&input.structure)
                                   : NONE;
    return status;
}

TW_METHOD(model_set_inputs, "keras.Model._set_inputs(self: layer, inputs: value, outputs: value = None, training: value = None)",
          "Says what inputs are like, for a model that was not called on any.")
{
    tw__model *model = (tw__model *)args->self;
    tw_spec spec;
    if (args->outputs.kind != TW_VALUE_NONE || args->training.kind != TW_VALUE_NONE)
        return tw__fail(TW_UNIMPLEMENTED, "_set_inputs: `outputs` and `training` are not supported");
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
    const model_input *input;
    int training;
    tw_value results; /* specs in their structure */
} call;

tw_value tw__specs_exchange(const tw_value *value, tw_tensor **tensors, int *next)
{
    tw_spec spec;
    if (tensors && tw__value_spec(value, &spec))
        return (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(tensors[(*next)++]) };
    if (value->kind == TW_VALUE_TENSOR) {
        if (tensors)
            tensors[*next] = tw_retain(value->tensor);
        ++*next;
        return tw__spec_value(value->tensor->dtype, &value->tensor->shape, NULL);
    }
    if (value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE && value->kind != TW_VALUE_DICT)
        return tw__value_copy(value);
    bool dict = value->kind == TW_VALUE_DICT;
    tw_value made = { .kind = value->kind, .list = { .form = tw_retain(value->list.form) } };
    tw__owned int64_t *order = dict ? tw__alloc_array((size_t)value->list.count + 1, sizeof *order) : NULL;
    made.list.items = tw__alloc_array((size_t)value->list.count + 1, sizeof *made.list.items);
    if (made.list.items && (order || !dict)) {
        made.list.count = value->list.count;
        if (dict)
            tw__dict_order(value, order);
        for (int64_t i = 0; i < value->list.count / (dict ? 2 : 1); i++) {
            int64_t at = dict ? 2 * order[i] + 1 : i;
            if (dict)
                made.list.items[at - 1] = tw__value_copy(&value->list.items[at - 1]);
            made.list.items[at] = tw__specs_exchange(&value->list.items[at], tensors, next);
        }
    }
    return made;
}

static tw_status run_model(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    call *c = context;
    (void)count;
    int next = 0, found = 0;
    tw_value given = tw__specs_exchange(&c->input->structure, (tw_tensor **)arguments, &next), result;
    tw_status status =
        tw__layer_invoke(c->model, &(tw_value){ .kind = TW_VALUE_TUPLE, .list = { &given, 1 } }, NULL, c->training, &result);
    tw_value_free(&given);
    TW_TRY(status);
    tw_value counted = tw__specs_exchange(&result, NULL, &found);
    tw_value_free(&counted);
    *outputs = tw__alloc_array((size_t)found + 1, sizeof **outputs);
    next = 0;
    if (*outputs) {
        c->results = tw__specs_exchange(&result, *outputs, &next);
        *output_count = next;
    }
    tw_value_free(&result);
    return *outputs ? tw__function_name_results(*outputs, next) : TW_RESOURCE_EXHAUSTED;
}

static tw__function *trace(tw_layer *model, const char *what, const model_input *input, int training, tw_value *results)
{
    static _Atomic uint64_t number;
    call c = { .model = model, .input = input, .training = training };
    char *text = tw__format("__inference_%s_%llu", what, (unsigned long long)++number);
    tw__outside outside = tw__outside_begin();
    tw__function *made = text ? tw__function_trace_named(text, (const char *const *)input->names, input->dtypes, input->shapes,
                                                         input->count, run_model, &c)
                              : NULL;
    tw__outside_end(outside);
    tw__free(text);
    if (made)
        *results = c.results;
    else
        tw_value_free(&c.results);
    return made;
}

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

/* __call__, or the same with losses. A name in a file is one function's, so each is traced anew. */
static tw_status add_call(tw_saved_function *function, tw_layer *model, const model_input *input, const char *what,
                          bool with_losses, bool training)
{
    tw_value output = NONE;
    tw_auto tw__function *f = trace(model, what, input, training, &output);
    if (f && with_losses)
        output = LIST(TW_VALUE_TUPLE, output, { .kind = TW_VALUE_LIST });
    tw_value inputs =
        LIST(TW_VALUE_TUPLE,
             LIST(TW_VALUE_TUPLE, tw__value_copy(&input->structure), { .kind = TW_VALUE_BOOL, .b = training }, NONE),
             { .kind = TW_VALUE_DICT });
    tw_auto tw_saved_concrete *concrete = tw__saved_concrete_new(f, inputs, output);
    if (!f || !concrete)
        return tw__error_status();
    TW_TRY(tw__saved_concrete_keywords(concrete, (const char *const *)input->names, (size_t)input->count, -1));
    return tw__saved_function_add(function, concrete);
}

static tw_saved_function *call_function(tw_layer *model, const model_input *input, const char *what, bool with_losses)
{
    tw_auto tw_saved_function *function = tw__saved_function_new(call_specification());
    for (int training = 0; function && training < 2; training++) {
        if (add_call(function, model, input, what, with_losses, training) != TW_OK)
            return NULL;
    }
    return TW_TAKE(function);
}

static tw_status add_list(tw__extra *extra, tw_layer *model, const char *name, tw__which which)
{
    tw__owned tw_variable **variables = NULL;
    int64_t count = 0;
    tw_auto tw_saved_object *list = tw__saved_object_new("trackable_list_wrapper");
    TW_NEED(list);
    TW_TRY(tw__collect_variables(&model->trackable, which, &variables, &count));
    for (int64_t i = 0; i < count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%lld", (long long)i);
        TW_TRY(tw__track(&list->trackable, place, variables[i]));
    }
    return tw__extra_add(extra, &model->trackable, name, list);
}

static tw_status add_calls(tw__extra *extra, tw_layer *model, const model_input *input)
{
    tw_auto tw_saved_object *api = tw__saved_object_new("_generic_user_object");
    TW_NEED(api);
    TW_TRY(tw__extra_add(extra, &model->trackable, "keras_api", api));
    for (int losses = 0; losses < 2; losses++) {
        const char *what = losses ? "call_and_return_conditional_losses" : "call";
        tw_auto tw_saved_function *function = call_function(model, input, what, losses);
        TW_NEED(function);
        TW_TRY(losses ? tw__track(&api->trackable, what, function)
                      : tw__extra_add(extra, &model->trackable, "__call__", function));
    }
    return TW_OK;
}

/* Under which name a result is served: a dict's key, the layer that it comes from, or output_1, output_2 … */
/* ---- layers of the program's own classes: who does not know the class calls their functions ---- */

/* Gives the layer its functions if it can be called with one tensor of that kind. */
static tw_status add_layer_calls(tw__extra *extra, tw_layer *layer, tw_dtype dtype, const tw_shape *shape)
{
    tw__auto(free_input) model_input input = { .structure = NONE };
    TW_TRY(add_tensor(&input, dtype, shape, "inputs"));
    input.structure = tw__spec_value(dtype, &input.shapes[0], "inputs");
    tw__auto(tw_value_free) tw_value results = NONE; /* a first trace, before anything is attached */
    tw_auto tw__function *tried = trace(layer, "call", &input, false, &results);
    TW_NEED(tried);
    return add_calls(extra, layer, &input);
}

/* What it is called with is known by the shape that it was built for; the dtype is the first that it takes. */
static tw_status add_own_layer(tw__extra *extra, tw_layer *layer)
{
    tw_dtype dtypes[] = { layer->dtype, TW_INT32, TW_INT64, TW_STRING };
    tw_shape shape;
    if (tw__shape_of_value(&layer->build_shape, &shape) != TW_OK || shape.rank < 1) {
        tw_clear_error();
        return TW_OK;
    }
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tw_status status = add_layer_calls(extra, layer, dtypes[i], &shape);
        if (status == TW_OK || status == TW_RESOURCE_EXHAUSTED)
            return status;
        tw_clear_error(); /* one that takes something else can't be called by who does not know its class */
    }
    return TW_OK;
}

static tw_status add_own_layers(tw__extra *extra, tw_layer *model)
{
    tw__owned tw_layer **layers = NULL;
    int64_t count;
    TW_TRY(tw__collect_layers(&model->trackable, true, &layers, &count));
    for (int64_t i = 0; i < count; i++) {
        tw__auto(tw_value_free) tw_value name = NONE;
        bool own = layers[i] != model && layers[i]->built && !tw__is(layers[i], &tw__class_layers_rnn) &&
                   !tw__tracked(&layers[i]->trackable, "keras_api") && tw__language.class_name &&
                   tw__language.class_name(layers[i], &name) && name.kind == TW_VALUE_STR;
        if (own)
            TW_TRY(add_own_layer(extra, layers[i]));
    }
    return TW_OK;
}

static char *output_name(tw_layer *model, const tw_value *results, int index)
{
    const tw__functional *functional = tw__functional_of(model);
    if (results->kind == TW_VALUE_DICT) {
        int64_t *order = tw__alloc_array((size_t)results->list.count + 1, sizeof *order);
        if (order)
            tw__dict_order(results, order);
        char *name = order && 2 * index < results->list.count ? tw__strdup(results->list.items[2 * order[index]].s.data) : NULL;
        tw__free(order);
        return name;
    }
    if (functional && (size_t)index < functional->output_count) {
        const char *name = functional->flat_outputs[index]->layer->name;
        int before = 0;
        for (int i = 0; i < index; i++)
            before += functional->flat_outputs[i]->layer == functional->flat_outputs[index]->layer;
        return before ? tw__format("%s_%d", name, before) : tw__strdup(name);
    }
    char *name = NULL;
    tw__auto(tw_objects_free) tw_objects layers = { 0 };
    if (tw__is(model, &tw__class_sequential))
        layers = tw_sequential_layers(model);
    if (layers.count)
        name = tw__strdup(((const tw_layer *)layers.items[layers.count - 1])->name);
    return name ? name : tw__format("output_%d", index + 1);
}

static tw_saved_concrete *default_signature(tw_layer *model, const model_input *input)
{
    tw_value results = NONE;
    tw_auto tw__function *f = trace(model, "serving", input, 0, &results);
    tw_saved_concrete *made = NULL, *signature = NULL;
    tw__dict named = { 0 };
    for (int i = 0; f && i < f->output_count; i++) {
        char *name = output_name(model, &results, i);
        tw__dict_put(&named, name ? name : "",
                     tw__spec_value(tw__function_output_dtype(f, i), tw__function_output_shape(f, i), NULL));
        tw__free(name);
    }
    tw_value outputs = tw__dict_take(&named);
    tw_value_free(&results);
    if (f)
        made = tw__saved_concrete_new(f, NONE, outputs);
    else
        tw_value_free(&outputs);
    if (made && tw__saved_concrete_keywords(made, (const char *const *)input->names, (size_t)input->count, -1) == TW_OK) {
        made->as_written = true;
        signature = tw__signature_of(made, "serving_default");
    }
    tw_release(made);
    return signature;
}

/* ---- the whole ---- */

static tw_status save_with(tw_layer *model, const char *directory, tw__extra *extra, tw_saved_object *signatures,
                           const model_input *input, bool gradients)
{
    if (!tw__tracked(&model->trackable, "__call__")) { /* a model that was loaded without its class has all of these */
        TW_TRY(add_list(extra, model, "variables", TW_ALL_VARIABLES));
        TW_TRY(add_list(extra, model, "trainable_variables", TW_TRAINABLE_VARIABLES));
        TW_TRY(add_calls(extra, model, input));
        TW_TRY(add_own_layers(extra, model));
        TW_TRY(tw__keras_attach_states(extra, model));
    }
    if (!signatures->trackable.child_count) {
        tw_auto tw_saved_concrete *signature = default_signature(model, input);
        TW_NEED(signature);
        TW_TRY(tw__track(&signatures->trackable, "serving_default", signature));
    }
    tw__object_words_hook = words_of;
    tw__saving_view view = { .root = &model->trackable, .extra = extra, .no_gradients = !gradients };
    return tw__saved_model_save(&view, signatures, directory, "keras_metadata.pb", tw__keras_metadata, NULL);
}

tw_status tw__model_save_tf(tw_layer *model, const char *directory, tw__extra *extra, tw_saved_object *signatures, bool gradients)
{
    tw__auto(free_input) model_input input = { .structure = NONE, .fixed = tw__keras_is_stateful(model) };
    TW_TRY(find_input(model, &input));
    return save_with(model, directory, extra, signatures, &input, gradients);
}
