/* keras.Sequential called with other values than a tensor: ragged and sparse tensors, and what dicts of tensors are. */
#include "keras/keras.h"
#include "keras/models/functional.h"
#include "saving/saved_model.h"
#include "spec/structure.h"

/* A ragged or sparse tensor: the layers one after the other, whatever they give. */
void *tw__sequential_composite(tw_layer *self, void *input, int training)
{
    size_t count = 0;
    tw_layer *const *layers = tw__sequential_layers(self, &count);
    tw_value value = { .kind = TW_VALUE_OBJECT, .object = tw_retain(input) };
    for (size_t i = 0; layers && i < count && value.kind != TW_VALUE_NONE; i++) {
        tw_value given = value;
        if (tw__is(layers[i], &tw__class_layers_input_layer))
            continue;
        value = tw__layer_call_values(layers[i], &given, 1, training);
        tw_value_free(&given);
    }
    if (value.kind == TW_VALUE_OBJECT || value.kind == TW_VALUE_TENSOR)
        return value.kind == TW_VALUE_OBJECT ? value.object : (void *)value.tensor;
    if (value.kind != TW_VALUE_NONE)
        tw__fail(TW_VALUE_ERROR, "model \"%s\": its last layer gives several tensors", self->name);
    tw_value_free(&value);
    return NULL;
}

/* What the tensors of a dict are, for batches of any size; None if it is no dict of tensors. */
tw_value tw__sequential_dict_specs(const tw_value *input)
{
    tw__dict dict = { 0 };
    for (int64_t i = 0; input->kind == TW_VALUE_DICT && i + 1 < input->list.count; i += 2) {
        const tw_value *key = &input->list.items[i], *value = key + 1;
        if (key->kind != TW_VALUE_STR || value->kind != TW_VALUE_TENSOR) {
            tw_value partial = tw__dict_take(&dict);
            tw_value_free(&partial);
            return (tw_value){ .kind = TW_VALUE_NONE };
        }
        tw_shape shape = value->tensor->shape;
        if (shape.rank > 0)
            shape.dims[0] = -1;
        tw__dict_put(&dict, key->s.data, tw__spec_value(value->tensor->dtype, &shape, key->s.data));
    }
    tw_value specs = tw__dict_take(&dict);
    if (specs.kind == TW_VALUE_DICT && tw__structure_settle(&specs) != TW_OK)
        tw_value_free(&specs);
    return specs;
}
