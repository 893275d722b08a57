/* Keras tensors, and structures of them; see functional.h. */
#include "keras/models/functional.h"

#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"

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
    tw_release(((tw_keras_tensor *)self)->spec);
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

tw_keras_tensor *tw__keras_tensor_new(tw_layer *layer, int node, int output)
{
    const tw__output_spec *spec = &layer->nodes[node]->outputs[output];
    tw_keras_tensor *tensor = tw__object_new(&tw__class_keras_tensor);
    if (!tensor)
        return NULL;
    tensor->dtype = spec->dtype;
    tensor->shape = spec->shape;
    tensor->name = tw__strdup(spec->name);
    tensor->spec = tw_retain(spec->spec);
    tensor->layer = tw_retain(layer);
    tensor->node = node;
    tensor->output = output;
    if (tensor->name)
        return tensor;
    tw_release(tensor);
    return NULL;
}

void tw__composite_output(void *composite, tw__output_spec *output)
{
    bool ragged = tw__is_ragged(composite);
    output->spec = tw__composite_spec(composite);
    output->dtype = ragged                                        ? tw__value_dtype(composite)
                    : tw__is(composite, &tw__class_sparse_tensor) ? ((struct tw_sparse_tensor *)composite)->values->dtype
                                                                  : TW_DTYPE_NONE;
    output->shape = ragged                                        ? tw__value_shape(composite)
                    : tw__is(composite, &tw__class_sparse_tensor) ? ((struct tw_sparse_tensor *)composite)->shape
                                                                  : TW_UNKNOWN_SHAPE;
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
    tw__owned char *spec = tensor->spec ? tw__spec_text(tensor->spec) : NULL;
    if (shape && args->whole && spec)
        text =
            tw__format("KerasTensor(type_spec=%s, name='%s', description=\"created by layer '%s'\")", spec, tensor->name, layer);
    else if (shape && spec)
        text = tw__format("<KerasTensor: type_spec=%s (created by layer '%s')>", spec, layer);
    else if (shape && args->whole)
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

bool tw__has_keras_tensor(const tw_value *value)
{
    if (tw__keras_tensor_of(value))
        return true;
    for (int64_t i = 0; tw__is_structure(value) && i < value->list.count; i++) {
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
    tw_keras_tensor *tensor = tw__keras_tensor_of(value);
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
    for (int64_t i = 0; tw__is_structure(value) && i < value->list.count; i++)
        TW_TRY(tw__keras_tensors_of(&value->list.items[i], list, count, capacity));
    return TW_OK;
}

tw_status tw__replace_tensors(const tw_value *value, tw__replacement replace, void *context, tw_value *out)
{
    tw_keras_tensor *tensor = tw__keras_tensor_of(value);
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (tensor) {
        *out = replace(context, tensor);
        return out->kind != TW_VALUE_NONE ? TW_OK : tw__error_status();
    }
    if (!tw__is_structure(value)) {
        *out = tw__value_copy(value);
        return out->kind == value->kind ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *out = (tw_value){ .kind = value->kind, .list = { items, value->list.count, tw_retain(value->list.form) } };
    for (int64_t i = 0; i < value->list.count; i++)
        TW_TRY(tw__replace_tensors(&value->list.items[i], replace, context, &items[i]));
    return TW_OK;
}

tw_value tw__shapes_of(const tw_value *value)
{
    tw_keras_tensor *tensor = tw__keras_tensor_of(value);
    if (tensor)
        return tw__shape_value(&tensor->shape);
    if (value->kind == TW_VALUE_TENSOR)
        return tw__shape_value(&value->tensor->shape);
    if (value->kind == TW_VALUE_FLOAT || value->kind == TW_VALUE_INT)
        return (tw_value){ .kind = TW_VALUE_LIST };
    tw_value *items = tw__is_structure(value) ? tw__alloc_array((size_t)value->list.count + 1, sizeof *items) : NULL;
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    bool dict = value->kind == TW_VALUE_DICT;
    for (int64_t i = 0; i < value->list.count; i++)
        items[i] = dict && i % 2 == 0 ? tw__value_copy(&value->list.items[i]) : tw__shapes_of(&value->list.items[i]);
    return (tw_value){ .kind = dict ? TW_VALUE_DICT : TW_VALUE_LIST, .list = { items, value->list.count } };
}
