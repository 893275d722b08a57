/* The nodes of layers: calls with Keras tensors that were noted, and what layers answer about them; see functional.h. */
#include "api/composite.h"
#include "base/circles.h"
#include "keras/layers/layers.h"
#include "keras/models/functional.h"

void tw__layer_node_free(tw__layer_node *node)
{
    tw_value_free(&node->arguments);
    tw_value_free(&node->named);
    tw_value_free(&node->structure);
    for (int i = 0; i < node->output_count; i++) {
        tw__free(node->outputs[i].name);
        tw_release(node->outputs[i].spec);
    }
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
        tw__layer_node_free(nodes[i]);
    tw__free(nodes);
}

void tw__layer_drop_node(tw_layer *layer)
{
    tw__layer_node_free(layer->nodes[--layer->node_count]);
}

static void visit_value(const tw_value *value, tw__visitor visitor, void *context)
{
    if (value->kind == TW_VALUE_OBJECT)
        visitor(context, value->object);
    for (int64_t i = 0; tw__is_structure(value) && i < value->list.count; i++)
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
        void *tensor = tw__keras_tensor_new(layer, node, (int)structure->i);
        return tensor ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = tensor } : (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_value *items = tw__is_structure(structure) ? tw__alloc_array((size_t)structure->list.count + 1, sizeof *items) : NULL;
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    bool dict = structure->kind == TW_VALUE_DICT;
    for (int64_t i = 0; i < structure->list.count; i++)
        items[i] =
            dict && i % 2 == 0 ? tw__value_copy(&structure->list.items[i]) : result_at(&structure->list.items[i], layer, node);
    return (tw_value){ .kind = structure->kind, .list = { items, structure->list.count, tw_retain(structure->list.form) } };
}

tw_value tw__node_results(tw_layer *layer, int node)
{
    return result_at(&layer->nodes[node]->structure, layer, node);
}

/* The outputs of a dict have their numbers in the order of the keys: configs name them by these. */
static tw_status flatten_dict(const tw_value *dict, tw__flattening *f, tw_value *items)
{
    tw__owned int64_t *order = tw__alloc_array((size_t)dict->list.count + 1, sizeof *order);
    TW_NEED(order);
    tw__dict_order(dict, order);
    for (int64_t i = 0; i < dict->list.count / 2; i++) {
        int64_t key = 2 * order[i];
        items[key] = tw__value_copy(&dict->list.items[key]);
        TW_TRY(tw__flatten_result(&dict->list.items[key + 1], f, &items[key + 1]));
    }
    return TW_OK;
}

tw_status tw__flatten_result(const tw_value *value, tw__flattening *f, tw_value *structure)
{
    *structure = (tw_value){ .kind = TW_VALUE_NONE };
    tw_keras_tensor *keras = tw__keras_tensor_of(value);
    bool composite = value->kind == TW_VALUE_OBJECT && tw__is_composite(value->object);
    if (value->kind == TW_VALUE_TENSOR || composite || keras) {
        TW_TRY(TW_GROW(f->values, f->capacity, f->count + 1));
        TW_TRY(TW_GROW(f->keras, f->keras_capacity, f->count + 1));
        f->values[f->count] = keras ? NULL : composite ? value->object : (void *)value->tensor;
        f->keras[f->count] = keras;
        *structure = (tw_value){ .kind = TW_VALUE_INT, .i = (int64_t)f->count++ };
        return TW_OK;
    }
    if (!tw__is_structure(value))
        return TW_OK; /* None and plain values are no outputs */
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *structure = (tw_value){ .kind = value->kind, .list = { items, value->list.count, tw_retain(value->list.form) } };
    if (value->kind == TW_VALUE_DICT)
        return flatten_dict(value, f, items);
    for (int64_t i = 0; i < value->list.count; i++)
        TW_TRY(tw__flatten_result(&value->list.items[i], f, &items[i]));
    return TW_OK;
}

static void mark(tw_object *object)
{
    if (tw__is_keras_tensor(object) || tw__is(object, &tw__class_layer))
        tw__mark_circular(object);
}

static void mark_circles(void *layer, tw_object *argument)
{
    tw__reaches(argument, layer, mark);
}

tw_status tw__layer_add_node(tw_layer *layer, tw__layer_node *node)
{
    tw_status status = TW_GROW(layer->nodes, layer->node_capacity, layer->node_count + 1);
    if (status != TW_OK) {
        tw__layer_node_free(node);
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
    tw__flattening f = { 0 };
    node->arguments = arguments ? tw__value_copy(arguments) : (tw_value){ .kind = TW_VALUE_TUPLE };
    node->is_input = !arguments;
    tw_status status = tw__flatten_result(result, &f, &node->structure);
    if (status == TW_OK && !(node->outputs = tw__alloc_array(f.count + 1, sizeof *node->outputs)))
        status = TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; status == TW_OK && i < f.count; i++) {
        node->outputs[i] =
            (tw__output_spec){ f.keras[i]->dtype, f.keras[i]->shape, tw__strdup(f.keras[i]->name), tw_retain(f.keras[i]->spec) };
        node->output_count++;
        status = node->outputs[i].name ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw__free(f.values);
    tw__free(f.keras);
    if (status == TW_OK)
        return tw__layer_add_node(layer, node);
    tw__layer_node_free(node);
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
            tw__layer_node_free(node);
            return NULL;
        }
        node->outputs[0] = (tw__output_spec){ layer->dtype, layer->batch_input_shape, name, tw__input_spec_of(layer) };
        node->output_count = 1;
        if (tw_error_code() != TW_OK) {
            tw__layer_node_free(node);
            return NULL;
        }
        if (tw__layer_add_node(layer, node) != TW_OK)
            return NULL;
    }
    return tw__keras_tensor_new(layer, 0, 0);
}

/* Input(tensor=…) and Input(type_spec=…): of that dtype and shape, and of that kind. */
static tw_keras_tensor *input_of_type(const tw_input_args *args)
{
    tw_layers_input_layer_args given = { .batch_size = TW_NO_INT, .name = args->name, .input_shape = TW_UNKNOWN_SHAPE };
    void *spec = args->type_spec.kind == TW_VALUE_OBJECT ? args->type_spec.object : NULL;
    if (args->shape.rank >= 0 || args->batch_shape.rank >= 0 || args->batch_input_shape.rank >= 0) {
        tw__fail(TW_VALUE_ERROR, "When providing the `%s` argument to Input, a shape must not be given as well.",
                 args->tensor ? "tensor" : "type_spec");
        return NULL;
    }
    if (args->tensor) {
        given.batch_input_shape = args->tensor->shape;
        given.dtype = args->tensor->dtype;
    } else if (!tw__input_of_spec(spec, &given)) {
        return NULL;
    }
    tw_auto tw_layer *layer = tw_class_make(&tw__class_layers_input_layer, &given);
    return layer ? tw__input_tensor(layer) : NULL;
}

TW_API(
    input,
    "keras.Input|keras.layers.Input(shape: shape = None, batch_size: int = None, name: str = None, dtype: dtype = None, sparse: bool = False shown None, "
    "tensor: tensor = None since 0.2, ragged: bool = False shown None, type_spec: value<spec> = None since 0.2, *, "
    "batch_input_shape: shape = None, batch_shape: shape = None) -> keras_tensor",
    "A Keras tensor that stands for an input of a model.\n"
    "shape: the shape of one sample; None for dimensions of any length\n"
    "batch_size: the fixed size of batches; None: any\n"
    "name: the name of the input; None: one is made\n"
    "dtype: the dtype of the input; None: float32, or as the global setting says\n"
    "sparse: True: a sparse tensor comes in\n"
    "ragged: True: a ragged tensor comes in\n"
    "batch_shape: the shape with the batch's dimension, in place of `shape`\n"
    "tensor: a tensor to be taken instead of a new input\n"
    "type_spec: a spec that says shape, dtype and kind at once\n"
    "example: tf.keras.Input(shape=(32,)).shape  # TensorShape([None, 32])")
{
    tw_shape whole = args->batch_shape.rank >= 0 ? args->batch_shape : args->batch_input_shape;
    if (args->tensor || args->type_spec.kind != TW_VALUE_NONE)
        return input_of_type(args);
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
    if (!layer->node_count) {
        tw__fail(TW_RUNTIME_ERROR, "The layer %s has never been called and thus has no defined %s.", layer->name, what);
        return false;
    }
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

TW_METHOD(layer_get_output_shape_at, "keras.layers.Layer.get_output_shape_at(self: layer, node_index: int) -> value",
          "The shape of what its n-th call gave.")
{
    return has_node(args->self, args->node_index, "output shape") ? node_shapes(args->self, (size_t)args->node_index, true)
                                                                  : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(layer_get_input_shape_at, "keras.layers.Layer.get_input_shape_at(self: layer, node_index: int) -> value",
          "The shape of what its n-th call was given.")
{
    return has_node(args->self, args->node_index, "input shape") ? node_shapes(args->self, (size_t)args->node_index, false)
                                                                 : (tw_value){ .kind = TW_VALUE_NONE };
}
