/* What a model is called with, as specs in their structure: noted at its first call, or said before it. A model is saved for such
 * inputs; Model.save_spec tells them. */
#include "api/tensor_spec.h"
#include "keras/models/functional.h"
#include "keras/saving/saved_model.h"
#include "rows.h"
#include "saving/saved_model.h"
#include "spec/structure.h"

/* The name of a member: a key, or a number from 1 on, behind the names of what holds it. */
static char *name_inside(const char *outer, const tw_value *key, int64_t at)
{
    const char *text = key && key->kind == TW_VALUE_STR ? key->s.data : NULL;
    long long number = key && key->kind == TW_VALUE_INT ? key->i : at + 1;
    const char *start = outer ? outer : text ? "" : "input", *between = outer || !text ? "_" : "";
    return text ? tw__format("%s%s%s", start, between, text) : tw__format("%s%s%lld", start, between, number);
}

/* Specs of tensors, with names, and of specs; what is neither is None. */
static tw_value specs_of(const tw_value *value, const char *name, bool any_batch)
{
    bool dict = value->kind == TW_VALUE_DICT, nested = dict || value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
    tw_spec spec = { 0 };
    bool tensor = value->kind == TW_VALUE_TENSOR, known = tensor || tw__value_spec(value, &spec);
    if (known) {
        const char *own = tensor ? NULL : ((const tw_tensor_spec *)value->object)->name;
        if (tensor)
            spec = (tw_spec){ value->tensor->dtype, value->tensor->shape };
        if (any_batch && spec.shape.rank > 0)
            spec.shape.dims[0] = -1;
        return tw__spec_value(spec.dtype, &spec.shape, tensor ? name ? name : "input_1" : own);
    }
    tw_value made = { .kind = nested ? value->kind : TW_VALUE_NONE };
    if (!nested)
        return made;
    made.list.items = tw__alloc_array((size_t)value->list.count + 1, sizeof *made.list.items);
    made.list.count = made.list.items ? value->list.count : 0;
    for (int64_t i = 0; i < made.list.count; i++) {
        const tw_value *item = &value->list.items[i];
        if (dict && i % 2 == 0) {
            made.list.items[i] = tw__value_copy(item);
            continue;
        }
        tw__owned char *inside = name_inside(name, dict ? item - 1 : NULL, i);
        made.list.items[i] = specs_of(item, inside, any_batch);
    }
    return made;
}

bool tw__model_is_new(const tw_layer *layer)
{
    return tw__is(layer, &tw__class_model) && !layer->at_root && ((const tw__model *)layer)->save_spec.kind == TW_VALUE_NONE;
}

void tw__model_called(tw_layer *layer, const tw_value *inputs)
{
    if (tw__model_is_new(layer))
        ((tw__model *)layer)->save_spec = specs_of(inputs, NULL, false);
}

tw_value tw__model_save_spec(const tw_layer *model, bool any_batch)
{
    return specs_of(&((const tw__model *)model)->save_spec, NULL, any_batch);
}

TW_METHOD(model_set_save_spec, "keras.Model._set_save_spec(self: layer, inputs: value, args: value = None, kwargs: value = None)",
          "Says what inputs are like, for a model that was not called on any.")
{
    if (tw__is_nested(&args->args) && args->args.list.count)
        return tw__fail(TW_UNIMPLEMENTED, "_set_save_spec: `args` is not supported");
    if (tw__is_nested(&args->kwargs) && args->kwargs.list.count)
        return tw__fail(TW_UNIMPLEMENTED, "_set_save_spec: `kwargs` is not supported");
    tw__model_called(args->self, &args->inputs);
    return TW_OK;
}

TW_METHOD(model_save_spec, "keras.Model.save_spec(self: layer, dynamic_batch: bool = True) -> value",
          "What the model is called with: a list of specs and a dict of specs by name; None if that is not known.\n"
          "dynamic_batch: True: the batch's dimension is None; False: as the model was called")
{
    tw_value inputs = { .kind = TW_VALUE_NONE };
    if (tw__functional_of(args->self) || tw__is(args->self, &tw__class_sequential)) {
        if (args->self->built && tw__model_inputs(args->self, &inputs) != TW_OK)
            tw_clear_error();
    } else {
        inputs = tw__model_save_spec(args->self, args->dynamic_batch);
    }
    tw_value *both = inputs.kind == TW_VALUE_NONE ? NULL : tw__alloc_array(2, sizeof *both);
    if (!both)
        return inputs;
    tw_value *list = tw__alloc_array(1, sizeof *list);
    list ? (void)(list[0] = inputs) : tw_value_free(&inputs);
    both[0] = (tw_value){ .kind = TW_VALUE_LIST, .list = { list, list ? 1 : 0 } };
    both[1] = (tw_value){ .kind = TW_VALUE_DICT };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { both, 2 } };
}

TW_PROPERTY(model_is_graph_network, "keras.Model._is_graph_network(self: layer) -> bool",
            "Whether the model is a graph of layers.")
{
    return tw__functional_of(args->self) || (tw__is(args->self, &tw__class_sequential) && tw__sequential_end(args->self, false));
}
