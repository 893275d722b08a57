/* Keras tensors, and the calls of layers with them; see functional.h. */
#include "base/language.h"
#include "keras/models/functional.h"

#include <thalweg/keras.h>

#include "base/circles.h"
#include "function/function.h"
#include "keras/layers/layers.h"

/* ---- the class ---- */

static tw_status tensor_init(void *self, const void *given)
{
    (void)self, (void)given;
    return tw__fail(TW_TYPE_ERROR, "KerasTensor: Keras tensors are made by keras.Input and by calls of layers");
}

static void tensor_clear(void *self)
{
    tw_keras_tensor *tensor = self;
    tw_layer *layer = tensor->layer;
    tensor->layer = NULL;
    tw_release(layer);
}

static void tensor_destroy(void *self)
{
    tensor_clear(self);
    tw__free(((tw_keras_tensor *)self)->name);
}

static void tensor_visit(void *self, tw__visitor visitor, void *context)
{
    tw_keras_tensor *tensor = self;
    if (tensor->layer)
        visitor(context, &tensor->layer->trackable.object);
}

TW_CLASS(keras_tensor, "keras.__internal__.KerasTensor() -> keras_tensor", .size = sizeof(tw_keras_tensor), .init = tensor_init,
         .destroy = tensor_destroy, .visit = tensor_visit, .clear = tensor_clear,
         .doc = "Stands for what a layer of a model will give: a dtype and a shape.");

bool tw__is_keras_tensor(const void *object)
{
    return object && tw_class_of(object) == &tw__class_keras_tensor;
}

static tw_keras_tensor *tensor_new(tw_layer *layer, int node, int output)
{
    const tw__output_spec *spec = &layer->nodes[node]->outputs[output];
    tw_keras_tensor *tensor = tw__object_new(&tw__class_keras_tensor);
    if (!tensor)
        return NULL;
    tensor->dtype = spec->dtype;
    tensor->shape = spec->shape;
    tensor->name = tw__strdup(spec->name);
    tensor->layer = tw_retain(layer);
    tensor->node = node;
    tensor->output = output;
    if (tensor->name)
        return tensor;
    tw_release(tensor);
    return NULL;
}

TW_PROPERTY(keras_tensor_shape, "keras.__internal__.KerasTensor.shape(self: keras_tensor) -> shape",
            "The shape, None where it may differ.")
{
    return args->self->shape;
}

TW_PROPERTY(keras_tensor_dtype, "keras.__internal__.KerasTensor.dtype(self: keras_tensor) -> dtype", "The dtype.")
{
    return args->self->dtype;
}

TW_PROPERTY(keras_tensor_name, "keras.__internal__.KerasTensor.name(self: keras_tensor) -> str", "The name.")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(keras_tensor_history, "keras.__internal__.KerasTensor._keras_history(self: keras_tensor) -> value",
            "The layer that made it, the number of the layer's call, and the number of the output.")
{
    tw_value *items = tw__alloc_array(3, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    items[0] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(args->self->layer) };
    items[1] = (tw_value){ .kind = TW_VALUE_INT, .i = args->self->node };
    items[2] = (tw_value){ .kind = TW_VALUE_INT, .i = args->self->output };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 3 } };
}

TW_METHOD(keras_tensor_text, "keras.__internal__.KerasTensor._text(self: keras_tensor, whole: bool = False) -> str",
          "As it is printed.")
{
    const tw_keras_tensor *tensor = args->self;
    const char *layer = tensor->layer ? tensor->layer->name : "?";
    bool input = tensor->layer && tw__is(tensor->layer, &tw__class_layers_input_layer);
    char *shape = tw__shape_tuple(&tensor->shape), *text = NULL;
    if (shape && args->whole)
        text = tw__format(
            "KerasTensor(type_spec=TensorSpec(shape=%s, dtype=tf.%s, name=%s%s%s), name='%s', description=\"created by layer '%s'\")",
            shape, tw_dtype_name(tensor->dtype), input ? "'" : "", input ? tensor->name : "None", input ? "'" : "", tensor->name,
            layer);
    else if (shape)
        text = tw__format("<KerasTensor: shape=%s dtype=%s (created by layer '%s')>", shape, tw_dtype_name(tensor->dtype), layer);
    tw__free(shape);
    return text;
}

/* ---- structures ---- */

static bool is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_DICT;
}

static tw_keras_tensor *keras_tensor_of(const tw_value *value)
{
    return value->kind == TW_VALUE_OBJECT && tw__is_keras_tensor(value->object) ? value->object : NULL;
}

bool tw__has_keras_tensor(const tw_value *value)
{
    if (keras_tensor_of(value))
        return true;
    for (int64_t i = 0; is_list(value) && i < value->list.count; i++) {
        if (tw__has_keras_tensor(&value->list.items[i]))
            return true;
    }
    return false;
}

static bool comes_before(const tw_value *a, const tw_value *b)
{
    if (a->kind == TW_VALUE_INT && b->kind == TW_VALUE_INT)
        return a->i < b->i;
    return a->kind == TW_VALUE_STR && b->kind == TW_VALUE_STR && strcmp(a->s.data, b->s.data) < 0;
}

void tw__dict_order(const tw_value *dict, int64_t *order)
{
    int64_t count = dict->list.count / 2;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i;
        const tw_value *key = &dict->list.items[2 * i];
        while (at && comes_before(key, &dict->list.items[2 * order[at - 1]])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

tw_status tw__keras_tensors_of(const tw_value *value, tw_keras_tensor ***list, size_t *count, size_t *capacity)
{
    tw_keras_tensor *tensor = keras_tensor_of(value);
    if (tensor) {
        TW_TRY(TW_GROW(*list, *capacity, *count + 1));
        (*list)[(*count)++] = tensor;
        return TW_OK;
    }
    if (value->kind == TW_VALUE_DICT) {
        int64_t *order = tw__alloc_array((size_t)value->list.count + 1, sizeof *order);
        if (!order)
            return TW_RESOURCE_EXHAUSTED;
        tw__dict_order(value, order);
        tw_status status = TW_OK;
        for (int64_t i = 0; status == TW_OK && i < value->list.count / 2; i++)
            status = tw__keras_tensors_of(&value->list.items[2 * order[i] + 1], list, count, capacity);
        tw__free(order);
        return status;
    }
    for (int64_t i = 0; is_list(value) && i < value->list.count; i++)
        TW_TRY(tw__keras_tensors_of(&value->list.items[i], list, count, capacity));
    return TW_OK;
}

tw_status tw__replace_tensors(const tw_value *value, tw__replacement replace, void *context, tw_value *out)
{
    tw_keras_tensor *tensor = keras_tensor_of(value);
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (tensor) {
        *out = replace(context, tensor);
        return out->kind != TW_VALUE_NONE ? TW_OK : tw__error_status();
    }
    if (!is_list(value)) {
        *out = tw__value_copy(value);
        return out->kind == value->kind ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *out = (tw_value){ .kind = value->kind, .list = { items, value->list.count } };
    for (int64_t i = 0; i < value->list.count; i++)
        TW_TRY(tw__replace_tensors(&value->list.items[i], replace, context, &items[i]));
    return TW_OK;
}

tw_value tw__shapes_of(const tw_value *value)
{
    tw_keras_tensor *tensor = keras_tensor_of(value);
    if (tensor)
        return tw__shape_value(&tensor->shape);
    if (value->kind == TW_VALUE_TENSOR)
        return tw__shape_value(&value->tensor->shape);
    if (value->kind == TW_VALUE_FLOAT || value->kind == TW_VALUE_INT)
        return (tw_value){ .kind = TW_VALUE_LIST };
    tw_value *items = is_list(value) ? tw__alloc_array((size_t)value->list.count + 1, sizeof *items) : NULL;
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    bool dict = value->kind == TW_VALUE_DICT;
    for (int64_t i = 0; i < value->list.count; i++)
        items[i] = dict && i % 2 == 0 ? tw__value_copy(&value->list.items[i]) : tw__shapes_of(&value->list.items[i]);
    return (tw_value){ .kind = dict ? TW_VALUE_DICT : TW_VALUE_LIST, .list = { items, value->list.count } };
}

/* ---- nodes ---- */

static void node_free(tw__layer_node *node)
{
    tw_value_free(&node->arguments);
    tw_value_free(&node->named);
    tw_value_free(&node->structure);
    for (int i = 0; i < node->output_count; i++)
        tw__free(node->outputs[i].name);
    tw__free(node->outputs);
    tw__free(node);
}

void tw__layer_nodes_free(tw_layer *layer)
{
    tw__layer_node **nodes = layer->nodes;
    size_t count = layer->node_count;
    layer->nodes = NULL;
    layer->node_count = layer->node_capacity = 0;
    for (size_t i = 0; i < count; i++)
        node_free(nodes[i]);
    tw__free(nodes);
}

void tw__layer_drop_node(tw_layer *layer)
{
    node_free(layer->nodes[--layer->node_count]);
}

static void visit_value(const tw_value *value, tw__visitor visitor, void *context)
{
    if (value->kind == TW_VALUE_OBJECT)
        visitor(context, value->object);
    for (int64_t i = 0; is_list(value) && i < value->list.count; i++)
        visit_value(&value->list.items[i], visitor, context);
}

void tw__layer_nodes_visit(tw_layer *layer, tw__visitor visitor, void *context)
{
    for (size_t i = 0; i < layer->node_count; i++) {
        visit_value(&layer->nodes[i]->arguments, visitor, context);
        visit_value(&layer->nodes[i]->named, visitor, context);
    }
}

static tw_value result_at(const tw_value *structure, tw_layer *layer, int node)
{
    if (structure->kind == TW_VALUE_INT) {
        void *tensor = tensor_new(layer, node, (int)structure->i);
        return tensor ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = tensor } : (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_value *items = is_list(structure) ? tw__alloc_array((size_t)structure->list.count + 1, sizeof *items) : NULL;
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    bool dict = structure->kind == TW_VALUE_DICT;
    for (int64_t i = 0; i < structure->list.count; i++)
        items[i] =
            dict && i % 2 == 0 ? tw__value_copy(&structure->list.items[i]) : result_at(&structure->list.items[i], layer, node);
    return (tw_value){ .kind = structure->kind, .list = { items, structure->list.count } };
}

tw_value tw__node_results(tw_layer *layer, int node)
{
    return result_at(&layer->nodes[node]->structure, layer, node);
}

/* The structure of a result, and its tensors one by one. */
typedef struct flattening {
    tw_tensor **tensors; /* borrowed */
    size_t count, capacity;
    tw_keras_tensor **keras;
    size_t keras_capacity;
} flattening;

static tw_status flatten_result(const tw_value *value, flattening *f, tw_value *structure)
{
    *structure = (tw_value){ .kind = TW_VALUE_NONE };
    tw_keras_tensor *keras = keras_tensor_of(value);
    if (value->kind == TW_VALUE_TENSOR || keras) {
        TW_TRY(TW_GROW(f->tensors, f->capacity, f->count + 1));
        TW_TRY(TW_GROW(f->keras, f->keras_capacity, f->count + 1));
        f->tensors[f->count] = keras ? NULL : value->tensor;
        f->keras[f->count] = keras;
        *structure = (tw_value){ .kind = TW_VALUE_INT, .i = (int64_t)f->count++ };
        return TW_OK;
    }
    if (!is_list(value))
        return TW_OK; /* None and plain values are no outputs */
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *structure = (tw_value){ .kind = value->kind, .list = { items, value->list.count } };
    for (int64_t i = 0; i < value->list.count; i++) {
        if (value->kind == TW_VALUE_DICT && i % 2 == 0)
            items[i] = tw__value_copy(&value->list.items[i]);
        else
            TW_TRY(flatten_result(&value->list.items[i], f, &items[i]));
    }
    return TW_OK;
}

/* Takes the node. */
static void mark(tw_object *object)
{
    if (tw__is_keras_tensor(object) || tw__is(object, &tw__class_layer))
        tw__mark_circular(object);
}

static void mark_circles(void *layer, tw_object *argument)
{
    tw__reaches(argument, layer, mark);
}

static tw_status add_node(tw_layer *layer, tw__layer_node *node)
{
    tw_status status = TW_GROW(layer->nodes, layer->node_capacity, layer->node_count + 1);
    if (status != TW_OK) {
        node_free(node);
        return status;
    }
    layer->nodes[layer->node_count++] = node;
    if (layer->node_count > 1) { /* only then may its own output have come back to it */
        visit_value(&node->arguments, mark_circles, layer);
        visit_value(&node->named, mark_circles, layer);
    }
    return TW_OK;
}

tw_status tw__layer_note(tw_layer *layer, const tw_value *arguments, const tw_value *result)
{
    tw__layer_node *node = tw__alloc_zero(sizeof *node);
    if (!node)
        return TW_RESOURCE_EXHAUSTED;
    flattening f = { 0 };
    node->arguments = arguments ? tw__value_copy(arguments) : (tw_value){ .kind = TW_VALUE_TUPLE };
    node->is_input = !arguments;
    tw_status status = flatten_result(result, &f, &node->structure);
    if (status == TW_OK && !(node->outputs = tw__alloc_array(f.count + 1, sizeof *node->outputs)))
        status = TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; status == TW_OK && i < f.count; i++) {
        node->outputs[i] = (tw__output_spec){ f.keras[i]->dtype, f.keras[i]->shape, tw__strdup(f.keras[i]->name) };
        node->output_count++;
        status = node->outputs[i].name ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw__free(f.tensors);
    tw__free(f.keras);
    if (status == TW_OK)
        return add_node(layer, node);
    node_free(node);
    return status;
}

tw_keras_tensor *tw__input_tensor(tw_layer *layer)
{
    if (!layer->node_count) {
        tw__layer_node *node = tw__alloc_zero(sizeof *node);
        if (!node)
            return NULL;
        node->arguments = (tw_value){ .kind = TW_VALUE_TUPLE };
        node->structure = (tw_value){ .kind = TW_VALUE_INT };
        node->is_input = true;
        node->outputs = tw__alloc_zero(sizeof *node->outputs);
        char *name = node->outputs ? tw__strdup(layer->name) : NULL;
        if (!name) {
            node_free(node);
            return NULL;
        }
        node->outputs[0] = (tw__output_spec){ layer->dtype, layer->batch_input_shape, name };
        node->output_count = 1;
        if (add_node(layer, node) != TW_OK)
            return NULL;
    }
    return tensor_new(layer, 0, 0);
}

TW_API(
    input,
    "keras.Input|keras.layers.Input(shape: shape = None, batch_size: int = None, name: str = None, dtype: dtype = None, sparse: bool = False, "
    "ragged: bool = False, batch_input_shape: shape = None, batch_shape: shape = None) -> keras_tensor",
    "A Keras tensor that stands for an input of a model.")
{
    tw_shape whole = args->batch_shape.rank >= 0 ? args->batch_shape : args->batch_input_shape;
    if (args->shape.rank >= 0 && args->batch_shape.rank >= 0) {
        tw__fail(TW_VALUE_ERROR, "Only provide the `shape` OR `batch_shape` argument to Input, not both at the same time.");
        return NULL;
    }
    if (args->shape.rank < 0 && whole.rank < 0) {
        tw__fail(
            TW_VALUE_ERROR,
            "Please provide to Input a `shape` or a `tensor` or a `type_spec` argument. Note that `shape` does not include the "
            "batch dimension.");
        return NULL;
    }
    tw_layers_input_layer_args given = { .input_shape = args->shape,
                                         .batch_size = args->batch_size,
                                         .name = args->name,
                                         .dtype = args->dtype,
                                         .sparse = args->sparse,
                                         .ragged = args->ragged,
                                         .batch_input_shape = whole };
    tw_auto tw_layer *layer = tw_class_make(&tw__class_layers_input_layer, &given);
    return layer ? tw__input_tensor(layer) : NULL;
}

/* ---- calls ---- */

static int training_of(const tw_value *named, int training)
{
    const tw_value *said = named ? tw__value_get(named, "training") : NULL;
    return said && said->kind == TW_VALUE_BOOL ? said->b : said && said->kind == TW_VALUE_INT ? said->i != 0 : training;
}

tw_status tw__layer_invoke(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    enum { MOST = 8 };
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    if (layer->foreign_call && tw__language.invoke)
        return tw__language.invoke(layer, arguments, named, training, result);
    const tw__layer_methods *methods = tw__methods(layer);
    training = training_of(named, training);
    if (methods->invoke)
        return methods->invoke(layer, arguments, named, training, result);
    tw_value given[MOST] = { 0 }; /* borrowed */
    int most = methods->call_values ? tw__layer_argument_count(methods->arguments) : 1;
    if (arguments->list.count > most || most > MOST)
        return tw__fail(TW_TYPE_ERROR, "%s.call() takes %d arguments but %lld were given", tw_class_name(layer), most,
                        (long long)arguments->list.count);
    for (int64_t i = 0; i < arguments->list.count; i++)
        given[i] = arguments->list.items[i];
    for (int64_t i = 0; named && named->kind == TW_VALUE_DICT && i + 1 < named->list.count; i += 2) {
        const char *name = named->list.items[i].s.data;
        int at = methods->call_values ? tw__layer_argument(methods->arguments, name) : strcmp(name, "inputs") == 0 ? 0 : -1;
        if (at >= 0)
            given[at] = named->list.items[i + 1];
        else if (strcmp(name, "training") != 0 && named->list.items[i + 1].kind != TW_VALUE_NONE)
            return tw__fail(TW_TYPE_ERROR, "%s.call() got an unexpected keyword argument '%s'", tw_class_name(layer), name);
    }
    *result = tw__layer_call_values(layer, given, most, training);
    return result->kind != TW_VALUE_NONE ? TW_OK : tw__error_status();
}

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

static tw_value placeholder_for(void *context, tw_keras_tensor *tensor)
{
    const trial *t = context;
    for (size_t i = 0; i < t->count; i++) {
        if (t->tensors[i] == tensor)
            return (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(t->placeholders[i]) };
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
    flattening f = { 0 };
    tw_status status = tw__replace_tensors(t->arguments, placeholder_for, t, &given);
    if (status == TW_OK && t->named)
        status = tw__replace_tensors(t->named, placeholder_for, t, &named);
    if (status == TW_OK)
        status = tw__layer_invoke(t->layer, &given, &named, t->training, &result);
    if (status == TW_OK)
        status = flatten_result(&result, &f, &t->node->structure);
    if (status == TW_OK && !(t->node->outputs = tw__alloc_array(f.count + 1, sizeof(tw__output_spec))))
        status = TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; status == TW_OK && i < f.count; i++) {
        tw_tensor *tensor = f.tensors[i];
        bool input = !tensor->node || strcmp(tensor->node->op->name, "Placeholder") == 0;
        char *name = !tensor->node ? tw__strdup(t->layer->name)
                                   : tw__format("%s%s%s:%d", input ? "" : t->layer->name, input ? "" : "/", tensor->node->name,
                                                tensor->node_output);
        t->node->outputs[t->node->output_count++] = (tw__output_spec){ tensor->dtype, tensor->shape, name };
        status = name ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    *outputs = NULL;
    *output_count = 0;
    tw__free(f.tensors);
    tw__free(f.keras);
    tw_value_free(&given);
    tw_value_free(&named);
    tw_value_free(&result);
    return status;
}

static tw_status try_call(trial *t)
{
    tw_dtype *dtypes = tw__alloc_array(t->count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array(t->count + 1, sizeof *shapes);
    const char **names = tw__alloc_array(t->count + 1, sizeof *names);
    tw__function *function = NULL;
    if (dtypes && shapes && names) {
        for (size_t i = 0; i < t->count; i++) {
            dtypes[i] = t->tensors[i]->dtype;
            shapes[i] = t->tensors[i]->shape;
            names[i] = "Placeholder";
        }
        tw__outside outside = tw__root_begin();
        function = tw__function_trace_named("keras_graph", names, dtypes, shapes, (int)t->count, trial_body, t);
        tw__outside_end(outside);
    }
    tw__free(dtypes);
    tw__free(shapes);
    tw__free(names);
    if (!function)
        return tw__error_status();
    tw_release(function);
    return TW_OK;
}

tw_status tw__layer_connect(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
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
        node_free(t.node);
        return status != TW_OK ? status : TW_RESOURCE_EXHAUSTED;
    }
    bool first = layer->node_count == 0;
    TW_TRY(add_node(layer, t.node));
    if (first && arguments->list.count && !tw__is(layer, &tw__class_model))
        tw__layer_built_for(layer, tw__shapes_of(&arguments->list.items[0]));
    *result = tw__node_results(layer, (int)layer->node_count - 1);
    if (tw_error_code() != TW_OK)
        tw_value_free(result);
    return tw_error_code();
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
    tw_release(layer);
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
    tw_release(layer);
    return result.kind == TW_VALUE_OBJECT ? result.object : NULL;
}

/* ---- what layers answer about their nodes ---- */

static tw_value of_node(tw_layer *layer, size_t at, bool output)
{
    const tw__layer_node *node = layer->nodes[at];
    if (output || node->is_input)
        return tw__node_results(layer, (int)at);
    return node->arguments.list.count ? tw__value_copy(&node->arguments.list.items[0]) : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value first_tensors(tw_layer *layer, bool output)
{
    if (layer->node_count)
        return of_node(layer, 0, output);
    tw__fail(TW_ATTRIBUTE_ERROR, "Layer %s %s.", layer->name,
             output ? "has no inbound nodes" : "is not connected, no input to return");
    return (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value node_shapes(tw_layer *layer, size_t at, bool output)
{
    tw_value value = of_node(layer, at, output), shapes = tw__shapes_of(&value);
    tw_value_free(&value);
    tw_value *items = layer->nodes[at]->is_input && shapes.kind == TW_VALUE_TUPLE ? tw__alloc_array(1, sizeof *items) : NULL;
    if (!items)
        return shapes;
    items[0] = shapes; /* an InputLayer says it in a list */
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, 1 } };
}

static bool values_equal(const tw_value *a, const tw_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == TW_VALUE_INT)
        return a->i == b->i;
    if (a->kind < TW_VALUE_LIST)
        return true;
    bool equal = a->list.count == b->list.count;
    for (int64_t i = 0; equal && i < a->list.count; i++)
        equal = values_equal(&a->list.items[i], &b->list.items[i]);
    return equal;
}

tw_value tw__layer_shapes(tw_layer *layer, bool output)
{
    const char *what = output ? "output" : "input";
    tw_value none = { .kind = TW_VALUE_NONE };
    if (!layer->node_count) {
        tw__fail(TW_ATTRIBUTE_ERROR, "The layer \"%s\" has never been called and thus has no defined %s shape.", layer->name,
                 what);
        return none;
    }
    tw_value shapes = node_shapes(layer, 0, output);
    for (size_t i = 1; i < layer->node_count; i++) {
        tw_value other = node_shapes(layer, i, output);
        bool equal = values_equal(&shapes, &other);
        tw_value_free(&other);
        if (equal)
            continue;
        tw__fail(TW_ATTRIBUTE_ERROR,
                 "The layer \"%s\" has multiple inbound nodes, with different %s shapes. Hence the notion of \"%s shape\" is "
                 "ill-defined for the layer. Use `get_%s_shape_at(node_index)` instead.",
                 layer->name, what, what, what);
        tw_value_free(&shapes);
        return none;
    }
    return shapes;
}

TW_PROPERTY(layer_input, "keras.layers.Layer.input(self: layer) -> value", "The Keras tensor that it was called with.")
{
    return first_tensors(args->self, false);
}

TW_PROPERTY(layer_output, "keras.layers.Layer.output(self: layer) -> value", "The Keras tensor that it gave.")
{
    return first_tensors(args->self, true);
}

TW_PROPERTY(layer_input_shape, "keras.layers.Layer.input_shape(self: layer) -> value",
            "The shape of the Keras tensor that it was called with.")
{
    return tw__layer_shapes(args->self, false);
}

TW_PROPERTY(layer_output_shape, "keras.layers.Layer.output_shape(self: layer) -> value",
            "The shape of the Keras tensor that it gave.")
{
    return tw__layer_shapes(args->self, true);
}

static bool has_node(const tw_layer *layer, int64_t node, const char *what)
{
    if (node >= 0 && node < (int64_t)layer->node_count)
        return true;
    tw__fail(TW_VALUE_ERROR, "Asked to get %s at node %lld, but the layer has only %lld inbound nodes.", what, (long long)node,
             (long long)layer->node_count);
    return false;
}

TW_METHOD(layer_get_output_at, "keras.layers.Layer.get_output_at(self: layer, node_index: int) -> value",
          "What its n-th call gave.")
{
    return has_node(args->self, args->node_index, "output") ? of_node(args->self, (size_t)args->node_index, true)
                                                            : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(layer_get_input_at, "keras.layers.Layer.get_input_at(self: layer, node_index: int) -> value",
          "What its n-th call was given.")
{
    return has_node(args->self, args->node_index, "input") ? of_node(args->self, (size_t)args->node_index, false)
                                                           : (tw_value){ .kind = TW_VALUE_NONE };
}
