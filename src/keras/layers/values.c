/* Calls of layers with several values: lists of inputs, states, masks. Such a layer's row has `arguments` and `call_values`. */
#include "api/composite.h"
#include "base/language.h"
#include "function/tracer.h"
#include "keras/layers/layers.h"

enum { MOST_ARGUMENTS = 8 };

/* Position of a name in "inputs states training"; -1: it is not there. */
int tw__layer_argument(const char *arguments, const char *name)
{
    size_t size = strlen(name);
    int at = 0;
    for (const char *word = arguments; word && *word; at++) {
        size_t length = strcspn(word, " ");
        if (length == size && strncmp(word, name, size) == 0)
            return at;
        word += length + (word[length] == ' ');
    }
    return -1;
}

int tw__layer_argument_count(const char *arguments)
{
    int count = 1;
    for (; *arguments; arguments++)
        count += *arguments == ' ';
    return count;
}

tw_tensor *tw__value_first_tensor(const tw_value *value)
{
    if (value->kind == TW_VALUE_TENSOR)
        return value->tensor;
    if (value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE)
        return NULL;
    for (int64_t i = 0; i < value->list.count; i++) {
        tw_tensor *found = tw__value_first_tensor(&value->list.items[i]);
        if (found)
            return found;
    }
    return NULL;
}

tw_value tw__values_list(tw_tensor *const *tensors, int count, bool tuple)
{
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    bool good = items != NULL;
    for (int i = 0; i < count; i++) {
        good = good && tensors[i];
        if (items)
            items[i] = tw__tensor_value(tensors[i]);
        else
            tw_release(tensors[i]);
    }
    tw_value list = { .kind = tuple ? TW_VALUE_TUPLE : TW_VALUE_LIST, .list = { items, items ? count : 0 } };
    if (!good)
        tw_value_free(&list);
    return list;
}

/* Tensors in the same structure, cast as inputs of the layer; variables are read. */
static tw_status ready(tw_layer *layer, const tw_value *value, bool first, tw_value *out)
{
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (value->kind == TW_VALUE_TENSOR || (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_variable))) {
        tw_auto tw_tensor *tensor = value->kind == TW_VALUE_TENSOR ? tw_retain(value->tensor) : tw__variable_read(value->object);
        *out = tw__tensor_value(!tensor ? NULL : first ? tw__layer_input(layer, tensor) : tw_retain(tensor));
        return out->kind == TW_VALUE_TENSOR ? TW_OK : tw__error_status();
    }
    if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) {
        tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
        if (!items)
            return tw__error_status();
        *out = (tw_value){ .kind = value->kind, .list = { items, value->list.count } };
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(ready(layer, &value->list.items[i], first, &items[i]));
        return TW_OK;
    }
    if (value->kind == TW_VALUE_DICT || value->kind == TW_VALUE_STR)
        *out = tw__value_copy(value);
    else if (value->kind == TW_VALUE_BOOL || value->kind == TW_VALUE_INT || value->kind == TW_VALUE_FLOAT)
        *out = *value;
    else if (value->kind == TW_VALUE_OBJECT)
        *out = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(value->object) };
    return TW_OK;
}

/* The masks of a structure of inputs: of one tensor its own, of a list a list. */
static tw_value masks_of(const tw_value *inputs)
{
    if (inputs->kind == TW_VALUE_TENSOR)
        return tw__tensor_value(tw_retain(tw__mask_of(inputs->tensor)));
    tw_value none = { .kind = TW_VALUE_NONE };
    if (inputs->kind != TW_VALUE_LIST && inputs->kind != TW_VALUE_TUPLE)
        return none;
    bool any = false;
    for (int64_t i = 0; i < inputs->list.count; i++)
        any |= inputs->list.items[i].kind == TW_VALUE_TENSOR && tw__mask_of(inputs->list.items[i].tensor);
    tw_value *items = any ? tw__alloc_array((size_t)inputs->list.count + 1, sizeof *items) : NULL;
    if (!items)
        return none;
    for (int64_t i = 0; i < inputs->list.count; i++)
        items[i] = masks_of(&inputs->list.items[i]);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, inputs->list.count } };
}

static tw_status build_of_values(tw_layer *layer, const tw_value *given)
{
    const tw__layer_methods *methods = tw__methods(layer);
    TW_TRY(methods->build_values(layer, given));
    TW_TRY(tw__layer_take_weights(layer));
    layer->built = true;
    return TW_OK;
}

static tw_status build(tw_layer *layer, const tw_value *given)
{
    const tw__layer_methods *methods = tw__methods(layer);
    if (layer->built)
        return TW_OK;
    if (methods->build_values) {
        tw__tracing_begin();
        tw_status status = layer->built ? TW_OK : build_of_values(layer, given);
        tw__tracing_end();
        return status;
    }
    tw_tensor *first = tw__value_first_tensor(&given[0]);
    tw_shape unknown = TW_UNKNOWN_SHAPE;
    return tw__layer_build(layer, first ? &first->shape : &unknown);
}

/* Outputs behind the first: states, scores. */
static tw_status regularize_others(tw_layer *layer, const tw_value *result)
{
    bool several = result->kind == TW_VALUE_LIST || result->kind == TW_VALUE_TUPLE;
    for (int64_t i = 1; several && layer->activity_regularizer && i < result->list.count; i++) {
        if (result->list.items[i].kind == TW_VALUE_TENSOR)
            TW_TRY(tw__layer_regularize_activity(layer, result->list.items[i].tensor));
    }
    return TW_OK;
}

/* Outputs are regularized; the first gets the mask. */
static tw_status finish(tw_layer *layer, const tw_value *given, const tw_value *mask, const tw_value *result)
{
    tw_tensor *input = tw__value_first_tensor(&given[0]), *output = tw__value_first_tensor(result);
    const tw__layer_methods *methods = tw__methods(layer);
    if (!input || !output)
        return TW_OK;
    if (methods->merge_masks) {
        TW_TRY(tw__layer_finish(layer, input, NULL, output));
        bool masked = mask->kind == TW_VALUE_LIST;
        tw_auto tw_tensor *made = masked ? methods->merge_masks(layer, &given[0], mask) : NULL;
        return !masked ? TW_OK : made ? tw__mask_set(output, made) : tw__error_status();
    }
    TW_TRY(tw__layer_finish(layer, input, tw__value_first_tensor(mask), output));
    return regularize_others(layer, result);
}

tw_value tw__layer_call_values(tw_layer *layer, const tw_value *given, int count, int training)
{
    if (training < 0)
        training = tw__learning_phase();
    if (layer->foreign_call && tw__language.invoke) {
        while (count > 1 && given[count - 1].kind == TW_VALUE_NONE)
            count--;
        tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { (tw_value *)(uintptr_t)given, count } },
                 made = { .kind = TW_VALUE_NONE };
        tw__language.invoke(layer, &arguments, NULL, training, &made);
        return made;
    }
    const tw__layer_methods *methods = tw__methods(layer);
    tw_value all[MOST_ARGUMENTS] = { 0 }, result = { .kind = TW_VALUE_NONE }, mask = { .kind = TW_VALUE_NONE };
    int most = methods->call_values ? tw__layer_argument_count(methods->arguments) : 1;
    if (count > most || most > MOST_ARGUMENTS) {
        tw__fail(TW_TYPE_ERROR, "%s.call() takes %d arguments but %d were given", tw_class_name(layer), most, count);
        return result;
    }
    if (!methods->call_values) { /* an ordinary layer */
        if (given[0].kind == TW_VALUE_TENSOR)
            return tw__tensor_value(tw__layer_call(layer, given[0].tensor, training));
        if (given[0].kind == TW_VALUE_OBJECT && tw__is_composite(given[0].object))
            return tw__layer_call_composite(layer, given[0].object, training);
        if (methods->call_structure && given[0].kind != TW_VALUE_NONE)
            return methods->call_structure(layer, &given[0], training);
        tw__fail(TW_TYPE_ERROR, "%s \"%s\" takes one tensor", tw_class_name(layer), layer->name);
        return result;
    }
    if (methods->flat && given[0].kind == TW_VALUE_OBJECT && tw__is_composite(given[0].object))
        return tw__layer_call_ragged(layer, given, count, training);
    tw_status status = TW_OK;
    for (int i = 0; i < count && status == TW_OK; i++)
        status = ready(layer, &given[i], i == 0, &all[i]);
    int mask_at = tw__layer_argument(methods->arguments, "mask");
    bool masked = mask_at >= 0 && all[mask_at].kind != TW_VALUE_NONE;
    if (status == TW_OK && layer->supports_masking) {
        tw_value implicit = masked ? (tw_value){ .kind = TW_VALUE_NONE } : masks_of(&given[0]);
        if (mask_at >= 0 && !masked)
            all[mask_at] = implicit; /* freed with it */
        else
            mask = implicit;
    }
    if (status == TW_OK && tw__layer_begin(layer) == TW_OK) {
        if (build(layer, all) == TW_OK)
            result = methods->call_values(layer, all, training);
        if (result.kind == TW_VALUE_NONE && tw_error_code() == TW_OK)
            tw__fail(TW_TYPE_ERROR, "expected a tensor or a list of tensors, got a %s",
                     all[0].kind == TW_VALUE_DICT ? "dict" : "value of another kind");
        if (result.kind == TW_VALUE_NONE && layer->built)
            tw__layer_explain(layer, methods->arguments, all, most);
        if (result.kind != TW_VALUE_NONE && finish(layer, all, mask_at >= 0 ? &all[mask_at] : &mask, &result) != TW_OK)
            tw_value_free(&result);
        tw__layer_end(layer);
    }
    tw_value_free(&mask);
    for (int i = 0; i < most; i++)
        tw_value_free(&all[i]);
    return result;
}

/* ---- a layer's own computation, without what a call does besides ---- */

/* Arguments by name at their places; borrowed. */
static tw_status place(const tw_layer *layer, const char *arguments, const tw_value *named, tw_value *all)
{
    for (int64_t i = 0; named->kind == TW_VALUE_DICT && i + 1 < named->list.count; i += 2) {
        const tw_value *name = &named->list.items[i], *value = &named->list.items[i + 1];
        int at = tw__layer_argument(arguments, name->s.data);
        if (value->kind == TW_VALUE_NONE)
            continue;
        if (at < 1)
            return tw__fail(TW_TYPE_ERROR, "%s.call() got an unexpected keyword argument '%s'", tw_class_name(layer),
                            name->s.data);
        all[at] = *value;
    }
    return TW_OK;
}

/* Of a layer of one tensor, which may get a mask. */
static tw_value call_one(tw_layer *layer, tw_value *all, const char *arguments, const tw_value *training)
{
    int mask_at = tw__layer_argument(arguments, "mask");
    const tw_value *mask = mask_at > 0 ? &all[mask_at] : NULL;
    tw_auto tw_tensor *input = all[0].kind != TW_VALUE_TENSOR          ? NULL
                               : mask && mask->kind == TW_VALUE_TENSOR ? tw__masked_copy(all[0].tensor, mask->tensor)
                                                                       : tw_retain(all[0].tensor);
    if (!input && tw_error_code() == TW_OK)
        tw__fail(TW_TYPE_ERROR, "%s \"%s\" takes one tensor", tw_class_name(layer), layer->name);
    tw_layer_own_call_args one = { .tw_size = sizeof one, .self = layer, .inputs = input, .training = *training };
    return tw__tensor_value(input ? tw__impl_layer_own_call(&one) : NULL);
}

TW_METHOD(layer_call_named,
          "keras.layers.Layer._call(self: layer, inputs: value, named: value = None, training: value = None) -> value",
          "What the layer computes of several arguments, without what a call of it does besides.\n"
          "inputs: a tensor, or several in a list, tuple or dict\n"
          "named: a dict of the other arguments that the layer's `call` takes, by their names\n"
          "training: whether the layer trains; None: as the call around it says")
{
    tw_layer *layer = args->self;
    const tw__layer_methods *methods = tw__methods(layer);
    const char *arguments = methods->arguments ? methods->arguments : "inputs";
    tw_value all[MOST_ARGUMENTS] = { args->inputs }, result = { .kind = TW_VALUE_NONE };
    const tw_value *training = &args->training;
    int said = training->kind == TW_VALUE_BOOL ? training->b : training->kind == TW_VALUE_INT ? training->i != 0 : -1;
    if (place(layer, arguments, &args->named, all) != TW_OK)
        return result;
    if (methods->call_structure && all[0].kind != TW_VALUE_TENSOR)
        return methods->call_structure(layer, &all[0], said);
    if (!methods->call_values)
        return call_one(layer, all, arguments, training);
    if (build(layer, all) == TW_OK)
        result = methods->call_values(layer, all, said);
    if (result.kind == TW_VALUE_NONE && tw_error_code() == TW_OK)
        tw__fail(TW_TYPE_ERROR, "%s \"%s\": arguments of other kinds are expected", tw_class_name(layer), layer->name);
    return result;
}
