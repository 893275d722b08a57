/* get_config(): the arguments an object was made with, as a dict in Keras's form, made from the field tables. */
#include <math.h>
#include <stdlib.h>

#include "base/language.h"
#include "keras/callable.h"
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/keras.h"
#include "keras/regularizers/regularizers.h"
#include "keras/own.h"
#include "rows.h"

void tw__dict_put(tw__dict *dict, const char *key, tw_value value)
{
    tw_value name = { .kind = TW_VALUE_NONE };
    dict->failed |= value.kind == TW_VALUE_NONE && tw_error_code() != TW_OK; /* what makes None of a failure */
    if (!dict->failed) {
        name = tw__value_str(key);
        dict->failed = name.kind != TW_VALUE_STR || TW_GROW(dict->items, dict->capacity, dict->count + 2) != TW_OK;
    }
    if (dict->failed) {
        tw_value_free(&name);
        tw_value_free(&value);
        return;
    }
    dict->items[dict->count++] = name;
    dict->items[dict->count++] = value;
}

void tw__dict_put_str(tw__dict *dict, const char *key, const char *text)
{
    tw_value value = { .kind = TW_VALUE_NONE };
    if (text) {
        value = tw__value_str(text);
        dict->failed |= value.kind != TW_VALUE_STR;
    }
    tw__dict_put(dict, key, value);
}

tw_value tw__dict_take(tw__dict *dict)
{
    tw_value value = { .kind = TW_VALUE_DICT, .list = { dict->items, (int64_t)dict->count } };
    if (dict->failed)
        tw_value_free(&value);
    *dict = (tw__dict){ 0 };
    return value;
}

tw_value tw__shape_value(const tw_shape *shape)
{
    if (shape->rank < 0)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw_value *items = tw__alloc_array((size_t)shape->rank + 1, sizeof *items);
    for (int i = 0; items && i < shape->rank; i++) {
        if (shape->dims[i] >= 0)
            items[i] = (tw_value){ .kind = TW_VALUE_INT, .i = shape->dims[i] };
    }
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, items ? shape->rank : 0 } };
}

void tw__value_drop(tw_value *dict, const char *key)
{
    tw_value *place = dict->kind == TW_VALUE_DICT ? (tw_value *)(uintptr_t)tw__value_get(dict, key) : NULL;
    if (!place)
        return;
    tw_value *pair = place - 1, *end = dict->list.items + dict->list.count;
    tw_value_free(&pair[0]);
    tw_value_free(&pair[1]);
    memmove(pair, pair + 2, sizeof *pair * (size_t)(end - pair - 2));
    dict->list.count -= 2;
}

/* ---- fields ---- */

static tw_value str_or_none(const char *text)
{
    return text ? tw__value_str(text) : (tw_value){ .kind = TW_VALUE_NONE };
}

/* "nn.relu" is "relu" in a config. */
static tw_value activation_value(tw_named named)
{
    if (!named)
        return tw__value_str("linear");
    if (tw__is_callable(named))
        return tw__serialize(named, NULL);
    if (tw__named_is_object(named))
        return tw__serialize(named, "keras.layers");
    const char *text = named, *dot = strrchr(text, '.'), *name = dot ? dot + 1 : text;
    return tw__value_str(strcmp(name, "silu") == 0 ? "swish" : name); /* which is the function's name in TensorFlow */
}

static tw_value named_value(const tw_field *field, tw_named named)
{
    if (strcmp(field->word, "activation") == 0)
        return activation_value(named);
    if (!named)
        return (tw_value){ .kind = TW_VALUE_NONE };
    if (strcmp(field->word, "initializer") == 0) {
        tw_initializer *initializer = tw__initializer_get(named);
        tw_value value = initializer ? tw__serialize(initializer, "keras.initializers") : (tw_value){ .kind = TW_VALUE_NONE };
        tw_release(initializer);
        return value;
    }
    if (strcmp(field->word, "constraint") == 0) {
        tw_callable *constraint = tw__constraint_get(named);
        tw_value value = !constraint                                 ? (tw_value){ .kind = TW_VALUE_NONE }
                         : tw__is(constraint, &tw__class_constraint) ? tw__serialize(constraint, "keras.constraints")
                                                                     : str_or_none(constraint->name);
        tw_release(constraint);
        return value;
    }
    if (strcmp(field->word, "regularizer") == 0) {
        tw_callable *regularizer = tw__regularizer_get(named);
        tw_value value = !regularizer                                  ? (tw_value){ .kind = TW_VALUE_NONE }
                         : tw__is(regularizer, &tw__class_regularizer) ? tw__serialize(regularizer, "keras.regularizers")
                                                                       : str_or_none(regularizer->name);
        tw_release(regularizer);
        return value;
    }
    return tw__named_is_object(named) ? tw__serialize(named, "keras") : tw__value_str(named);
}

static tw_value float_value(double number)
{
    if (isnan(number))
        return (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_FLOAT, .f = number };
}

static tw_value ints_value(const tw_ints *ints)
{
    tw_value *items = ints->given ? tw__alloc_array((size_t)ints->count + 1, sizeof *items) : NULL;
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    for (int64_t i = 0; i < ints->count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_INT, .i = ints->items[i] };
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, ints->count } };
}

/* The elements from `*next` on that lie under the first `depth` dimensions: a number, or lists of lists. */
static tw_value nested(const tw_tensor *tensor, int depth, int64_t *next)
{
    if (depth == tensor->shape.rank) {
        int64_t i = (*next)++;
        if (!tw__dtype_is_float(tensor->dtype))
            return (tw_value){ .kind = TW_VALUE_INT, .i = tw_tensor_int_at(tensor, i) };
        return (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw__shortest(tw_tensor_double_at(tensor, i), tensor->dtype) };
    }
    int64_t count = tensor->shape.dims[depth];
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    for (int64_t i = 0; i < count; i++)
        items[i] = nested(tensor, depth + 1, next);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } };
}

tw_value tw__tensor_config(const tw_tensor *tensor)
{
    int64_t next = 0;
    return tensor ? nested(tensor, 0, &next) : (tw_value){ .kind = TW_VALUE_NONE };
}

double tw__shortest(double value, tw_dtype dtype)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__print_float(&text, value, dtype);
    double number = text.data ? strtod(text.data, NULL) : value;
    return number;
}

static tw_value field_value(const tw_field *field, const void *args)
{
    const void *place = (const char *)args + field->offset;
    switch (field->kind) {
    case TW_KIND_INT: {
        int64_t number = *(const int64_t *)place;
        return number == TW_NO_INT ? (tw_value){ .kind = TW_VALUE_NONE } : (tw_value){ .kind = TW_VALUE_INT, .i = number };
    }
    case TW_KIND_FLOAT:
        return float_value(*(const double *)place);
    case TW_KIND_NUMBER:
        if (((void *const *)place)[1])
            return tw__serialize(((void *const *)place)[1], "keras.optimizers.schedules");
        return float_value(*(const double *)place);
    case TW_KIND_BOOL:
        return (tw_value){ .kind = TW_VALUE_BOOL, .b = *(const bool *)place };
    case TW_KIND_STR:
        return str_or_none(*(const char *const *)place);
    case TW_KIND_DTYPE: {
        tw_dtype dtype = *(const tw_dtype *)place;
        return dtype ? tw__value_str(tw_dtype_name(dtype)) : (tw_value){ .kind = TW_VALUE_NONE };
    }
    case TW_KIND_SHAPE:
        return tw__shape_value(place);
    case TW_KIND_INTS: {
        const tw_ints *ints = place;
        bool number = ints->single && strcmp(field->name, "axis") == 0; /* one axis stays a number */
        return number ? (tw_value){ .kind = TW_VALUE_INT, .i = ints->items[0] } : ints_value(ints);
    }
    case TW_KIND_TENSOR:
        return tw__tensor_config(*(tw_tensor *const *)place);
    case TW_KIND_NAMED:
        return named_value(field, *(const tw_named *)place);
    case TW_KIND_HANDLE:
        return *(void *const *)place ? tw__serialize(*(void *const *)place, "keras") : (tw_value){ .kind = TW_VALUE_NONE };
    default:
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
}

/* The value of a key, taken out of the dict; false if there is none. */
static bool take_out(tw__dict *dict, const char *key, tw_value *value)
{
    for (size_t i = 0; i + 1 < dict->count; i += 2) {
        if (dict->items[i].kind != TW_VALUE_STR || strcmp(dict->items[i].s.data, key) != 0)
            continue;
        *value = dict->items[i + 1];
        tw_value_free(&dict->items[i]);
        memmove(&dict->items[i], &dict->items[i + 2], (dict->count - i - 2) * sizeof *dict->items);
        dict->count -= 2;
        return true;
    }
    return false;
}

/* In the fields' order; the values in `own` come in their fields' places, those that `order` names together in that order. */
static void put_fields(tw__dict *dict, const void *object, const char *skip, tw__dict *own, const char *order)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(object));
    const void *config = tw_object_config(object);
    for (int i = 0; signature && config && i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        bool untold =
            field->inherited || signature == &tw__signature_layer; /* base classes take a regularizer, and do not tell */
        char word[80];
        tw_value value;
        snprintf(word, sizeof word, " %s ", field->name);
        for (const char *o = order && strstr(order, word) ? order + 1 : ""; *o; o += strcspn(o, " ") + 1) {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(o, " "), o);
            if (take_out(own, word, &value))
                tw__dict_put(dict, word, value);
        }
        snprintf(word, sizeof word, " %s ", field->name);
        if (take_out(own, field->name, &value))
            tw__dict_put(dict, field->name, value);
        else if (!strstr(skip, word) && !(untold && strcmp(field->name, "activity_regularizer") == 0))
            tw__dict_put(dict, field->name, field_value(field, config));
    }
}

void tw__dict_put_config(tw__dict *dict, const void *object, const char *skip)
{
    put_fields(dict, object, skip, &(tw__dict){ 0 }, NULL);
}

/* ---- layers ---- */

static const char layer_fields[] =
    " name trainable dtype dynamic input_shape input_dim batch_size batch_input_shape weights autocast ";

static tw_value layer_config(const tw_layer *layer)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "name", layer->name);
    tw__dict_put(&dict, "trainable", (tw_value){ .kind = TW_VALUE_BOOL, .b = layer->trainable });
    tw__dict_put(&dict, "dtype", tw__policy_config(tw__layer_policy(layer)));
    if (layer->batch_input_shape.rank >= 0)
        tw__dict_put(&dict, "batch_input_shape", tw__shape_value(&layer->batch_input_shape));
    const tw__layer_methods *methods = tw__methods(layer);
    char skip[sizeof layer_fields + 100];
    snprintf(skip, sizeof skip, "%s%s%s", layer_fields, methods->own_config ? methods->own_config : "",
             tw_class_of(layer) == &tw__class_layer ? " activity_regularizer " : "");
    tw__dict own = { 0 };
    if (methods->config)
        methods->config((tw_layer *)(uintptr_t)layer, &own);
    put_fields(&dict, layer, skip, &own, methods->own_config);
    dict.failed |= own.failed;
    for (size_t i = 0; i + 1 < own.count; i += 2) {
        tw__dict_put(&dict, own.items[i].s.data, own.items[i + 1]);
        tw_value_free(&own.items[i]);
    }
    tw__free(own.items);
    return tw__dict_take(&dict);
}

tw_value tw__config_of(const void *object)
{
    tw_value own = { .kind = TW_VALUE_NONE };
    if (tw__language.config && (tw__language.config(object, &own) || tw_error_code() != TW_OK))
        return own;
    if (tw__is_own(object))
        return tw__own_config(object);
    if (tw__is(object, &tw__class_metric))
        return tw__impl_metric_get_config(&(tw_metric_get_config_args){ .self = (tw_metric *)(uintptr_t)object });
    if (tw__is(object, &tw__class_layer)) {
        const tw__layer_methods *methods = tw__methods(object);
        return methods->whole_config ? methods->whole_config((tw_layer *)(uintptr_t)object) : layer_config(object);
    }
    if (tw__is(object, &tw__class_loss))
        return tw__impl_loss_get_config(&(tw_loss_get_config_args){ .self = (tw_loss *)(uintptr_t)object });
    if (tw__is(object, &tw__class_optimizer))
        return tw__impl_optimizer_get_config(&(tw_optimizer_get_config_args){ .self = (tw_optimizer *)(uintptr_t)object });
    tw__dict dict = { 0 };
    tw__dict_put_config(&dict, object, "");
    return tw__dict_take(&dict);
}

TW_METHOD(layer_get_config, "keras.layers.Layer.get_config(self: layer) -> value",
          "The arguments that would make the same layer again.")
{
    if (tw__is_own(args->self))
        return tw__own_config(args->self);
    const tw__layer_methods *methods = tw__methods(args->self);
    return methods->whole_config ? methods->whole_config(args->self) : layer_config(args->self);
}
