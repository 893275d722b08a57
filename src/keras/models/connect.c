/* Calls of layers with Keras tensors: each is tried in a graph that is thrown away, and noted; see functional.h. */
#include <thalweg/keras.h>

#include "api/composite.h"
#include "base/language.h"
#include "function/function.h"
#include "keras/layers/layers.h"
#include "keras/layers/recurrent.h"
#include "keras/models/functional.h"

/* What is said of `training`, by name or by position. */
static int training_of(const char *takes, const tw_value *arguments, const tw_value *named, int training)
{
    const tw_value *said = named ? tw__value_get(named, "training") : NULL;
    int at = takes ? tw__layer_argument(takes, "training") : -1;
    if (!said && at >= 0 && at < arguments->list.count)
        said = &arguments->list.items[at];
    return said && said->kind == TW_VALUE_BOOL ? said->b : said && said->kind == TW_VALUE_INT ? said->i != 0 : training;
}

/* The arguments in their order, borrowed: those by position, then those by name. */
static tw_status arrange(tw_layer *layer, const tw_value *arguments, const tw_value *named, const char *takes, int most,
                         tw_value *given)
{
    if (arguments->list.count > most)
        return tw__fail(TW_TYPE_ERROR, "%s.call() takes %d arguments but %lld were given", tw_class_name(layer), most,
                        (long long)arguments->list.count);
    for (int64_t i = 0; i < arguments->list.count; i++)
        given[i] = arguments->list.items[i];
    for (int64_t i = 0; named && named->kind == TW_VALUE_DICT && i + 1 < named->list.count; i += 2) {
        const char *name = named->list.items[i].s.data;
        int at = tw__layer_argument(takes, name);
        if (at >= 0)
            given[at] = named->list.items[i + 1];
        else if (strcmp(name, "training") != 0 && named->list.items[i + 1].kind != TW_VALUE_NONE)
            return tw__fail(TW_TYPE_ERROR, "%s.call() got an unexpected keyword argument '%s'", tw_class_name(layer), name);
    }
    return TW_OK;
}

tw_status tw__layer_invoke(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    enum { MOST = 8 };
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    if (layer->foreign_call && tw__language.invoke)
        return tw__language.invoke(layer, arguments, named, training, result);
    const tw__layer_methods *methods = tw__methods(layer);
    const char *takes = methods->arguments ? methods->arguments : "inputs";
    training = training_of(takes, arguments, named, training);
    if (methods->invoke)
        return methods->invoke(layer, arguments, named, training, result);
    tw_value given[MOST] = { 0 };
    int most = tw__layer_argument_count(takes), mask = methods->call_values ? -1 : tw__layer_argument(takes, "mask");
    if (most > MOST)
        return tw__fail(TW_INTERNAL, "%s.call() takes more than %d arguments", tw_class_name(layer), MOST);
    TW_TRY(arrange(layer, arguments, named, takes, most, given));
    if (mask >= 0 && given[mask].kind != TW_VALUE_NONE)
        return tw__fail(TW_TYPE_ERROR, "%s.call() got an unexpected keyword argument 'mask'", tw_class_name(layer));
    *result = tw__layer_call_values(layer, given, methods->call_values ? most : 1, training);
    return result->kind != TW_VALUE_NONE ? TW_OK : tw__error_status();
}

_Thread_local bool tw__connecting;

/* A trial call: the graph's placeholders stand for the Keras tensors. */
typedef struct trial {
    tw_layer *layer;
    const tw_value *arguments, *named;
    int training;
    tw_keras_tensor **tensors;
    size_t count;
    tw_tensor *const *placeholders;
    tw__layer_node *node;
    int *outputs; /* of the graph function: which placeholder or node each result is */
} trial;

/* How many placeholders stand for a value of that type. */
static int parts_of(const struct tw_type_spec *spec)
{
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    return tw__spec_parts(spec, shapes, dtypes);
}

static tw_value placeholder_for(void *context, tw_keras_tensor *tensor)
{
    const trial *t = context;
    int64_t at = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct tw_type_spec *spec = t->tensors[i]->spec;
        int parts = spec ? parts_of(spec) : 1;
        if (t->tensors[i] == tensor && !spec)
            return (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(t->placeholders[at]) };
        if (t->tensors[i] == tensor) {
            void *made = tw__spec_pack(spec, t->placeholders + at, parts);
            return (tw_value){ .kind = made ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = made };
        }
        at += parts;
    }
    tw__fail(TW_INTERNAL, "a Keras tensor is not among those of the call");
    return (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_status trial_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    trial *t = context;
    (void)count;
    t->placeholders = arguments;
    tw_value given = { .kind = TW_VALUE_NONE }, named = { .kind = TW_VALUE_NONE }, result = { .kind = TW_VALUE_NONE };
    tw__flattening f = { 0 };
    tw_status status = tw__replace_tensors(t->arguments, placeholder_for, t, &given);
    if (status == TW_OK && t->named)
        status = tw__replace_tensors(t->named, placeholder_for, t, &named);
    if (status == TW_OK) {
        tw__connecting = true;
        status = tw__layer_invoke(t->layer, &given, &named, t->training, &result);
        tw__connecting = false;
    }
    if (status == TW_OK)
        status = tw__flatten_result(&result, &f, &t->node->structure);
    if (status == TW_OK && !(t->node->outputs = tw__alloc_array(f.count + 1, sizeof(tw__output_spec))))
        status = TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; status == TW_OK && i < f.count; i++) {
        tw__output_spec *made = &t->node->outputs[t->node->output_count++];
        if (tw__is_composite(f.values[i])) {
            tw__composite_output(f.values[i], made);
            made->name = made->spec ? tw__strdup(t->layer->name) : NULL;
            status = made->name ? TW_OK : tw__error_status();
            continue;
        }
        tw_tensor *tensor = f.values[i];
        bool input = !tensor->node || strcmp(tensor->node->op->name, "Placeholder") == 0;
        char *name = !tensor->node ? tw__strdup(t->layer->name)
                                   : tw__format("%s%s%s:%d", input ? "" : t->layer->name, input ? "" : "/", tensor->node->name,
                                                tensor->node_output);
        *made = (tw__output_spec){ tensor->dtype, tensor->shape, name, NULL };
        status = name ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    *outputs = NULL;
    *output_count = 0;
    tw__free(f.values);
    tw__free(f.keras);
    tw_value_free(&given);
    tw_value_free(&named);
    tw_value_free(&result);
    return status;
}

static tw_status try_call(trial *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        count += t->tensors[i]->spec ? (size_t)parts_of(t->tensors[i]->spec) : 1;
    tw_dtype *dtypes = tw__alloc_array(count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array(count + 1, sizeof *shapes);
    const char **names = tw__alloc_array(count + 1, sizeof *names);
    tw_auto tw__function *function = NULL;
    if (dtypes && shapes && names) {
        size_t at = 0;
        for (size_t i = 0; i < t->count; i++) {
            const tw_keras_tensor *tensor = t->tensors[i];
            dtypes[at] = tensor->dtype;
            shapes[at] = tensor->shape;
            at += tensor->spec ? (size_t)tw__spec_parts(tensor->spec, shapes + at, dtypes + at) : 1;
        }
        for (size_t i = 0; i < count; i++)
            names[i] = "Placeholder";
        tw__outside outside = tw__root_begin();
        function = tw__function_trace_named("keras_graph", names, dtypes, shapes, (int)count, trial_body, t);
        tw__outside_end(outside);
    }
    tw__free(dtypes);
    tw__free(shapes);
    tw__free(names);
    if (!function)
        return tw__error_status();
    return TW_OK;
}

static tw_status connect_given(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    trial t = { .layer = layer, .arguments = arguments, .named = named, .training = training };
    size_t capacity = 0;
    tw_status status = tw__keras_tensors_of(arguments, &t.tensors, &t.count, &capacity);
    if (status == TW_OK && named)
        status = tw__keras_tensors_of(named, &t.tensors, &t.count, &capacity);
    t.node = status == TW_OK ? tw__alloc_zero(sizeof *t.node) : NULL;
    if (!t.node) {
        tw__free(t.tensors);
        return tw__error_status();
    }
    t.node->arguments = tw__value_copy(arguments);
    t.node->named = named ? tw__value_copy(named) : (tw_value){ .kind = TW_VALUE_NONE };
    status = try_call(&t);
    tw__free(t.tensors);
    if (status != TW_OK || t.node->arguments.kind != arguments->kind) {
        tw__layer_node_free(t.node);
        return status != TW_OK ? status : TW_RESOURCE_EXHAUSTED;
    }
    bool first = layer->node_count == 0;
    TW_TRY(tw__layer_add_node(layer, t.node));
    if (first && arguments->list.count && !tw__reconnecting && !tw__is(layer, &tw__class_model))
        tw__layer_built_for(layer, tw__shapes_of(&arguments->list.items[0]));
    *result = tw__node_results(layer, (int)layer->node_count - 1);
    if (tw_error_code() != TW_OK)
        tw_value_free(result);
    return tw_error_code();
}

tw_status tw__layer_connect(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    tw_value joined, rest;
    if (!tw__recurrent_join(layer, arguments, named, &joined, &rest))
        return connect_given(layer, arguments, named, training, result);
    tw_status status =
        connect_given(layer, &joined, rest.kind == TW_VALUE_DICT && rest.list.count ? &rest : NULL, training, result);
    tw_value_free(&joined);
    tw_value_free(&rest);
    return status;
}

tw_keras_tensor *tw__layer_connect_one(tw_layer *layer, tw_keras_tensor *input)
{
    tw_value item = { .kind = TW_VALUE_OBJECT, .object = input }, result;
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { &item, 1 } };
    if (tw__layer_connect(layer, &arguments, NULL, -1, &result) != TW_OK)
        return NULL;
    if (result.kind == TW_VALUE_OBJECT)
        return result.object;
    tw_value_free(&result);
    tw__fail(TW_VALUE_ERROR, "layer \"%s\" gives several tensors where one is expected", layer->name);
    return NULL;
}

/* ---- for C programs ---- */

tw_keras_tensor *tw_connect(tw_layer *layer, tw_keras_tensor *input)
{
    tw_keras_tensor *output = NULL;
    if (tw__check(layer, &tw__class_layer, "tw_connect") && tw__check(input, &tw__class_keras_tensor, "tw_connect"))
        output = tw__layer_connect_one(layer, input);
    return output;
}

tw_keras_tensor *tw_connect_all(tw_layer *layer, tw_objects inputs)
{
    int64_t count = inputs.items && inputs.count > 0 ? inputs.count : 0;
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items), result = { .kind = TW_VALUE_NONE };
    bool good = items && tw__check(layer, &tw__class_layer, "tw_connect_all");
    for (int64_t i = 0; good && i < count; i++) {
        good = tw__check(inputs.items[i], &tw__class_keras_tensor, "tw_connect_all");
        items[i] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = inputs.items[i] };
    }
    tw_value list = { .kind = TW_VALUE_LIST, .list = { items, count } };
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { &list, 1 } };
    if (good && tw__layer_connect(layer, &arguments, NULL, -1, &result) == TW_OK && result.kind != TW_VALUE_OBJECT) {
        tw_value_free(&result);
        tw__fail(TW_VALUE_ERROR, "layer \"%s\" gives several tensors where one is expected", layer->name);
    }
    tw__free(items);
    return result.kind == TW_VALUE_OBJECT ? result.object : NULL;
}
