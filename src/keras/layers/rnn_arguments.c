/* What recurrent layers are called with: inputs, states to begin with, constants. Of Keras tensors they are one list of inputs,
 * [inputs, states…, constants…], in nodes and in files; `num_constants` in configs says where the constants begin. */
#include "keras/layers/recurrent.h"
#include "keras/models/functional.h"

tw__rnn *tw__recurrent_of(tw_layer *layer)
{
    bool both = tw__is(layer, &tw__class_layers_bidirectional);
    void *found = both ? tw__tracked(&layer->trackable, "forward_layer") : (void *)layer;
    return tw__is(found, &tw__class_layers_rnn) ? found : NULL;
}

static int64_t count_of(const tw_value *value)
{
    return value->kind == TW_VALUE_NONE ? 0 : tw__value_is_list(value) ? value->list.count : 1;
}

void tw__recurrent_split(tw__rnn *rnn, tw_value *parts)
{
    const tw_value all = parts[0];
    if (parts[2].kind != TW_VALUE_NONE)
        rnn->constant_count = count_of(&parts[2]);
    if (!tw__value_is_list(&all) || all.list.count < 2)
        return;
    int64_t constants = rnn->constant_count < all.list.count ? rnn->constant_count : 0;
    int64_t states = all.list.count - 1 - constants;
    parts[0] = all.list.items[0];
    if (states)
        parts[1] = (tw_value){ .kind = TW_VALUE_LIST, .list = { all.list.items + 1, states } };
    if (constants)
        parts[2] = (tw_value){ .kind = TW_VALUE_LIST, .list = { all.list.items + 1 + states, constants } };
}

/* ---- configs ---- */

void tw__recurrent_config(tw_layer *layer, tw__dict *dict)
{
    const tw__rnn *rnn = tw__recurrent_of(layer);
    if (rnn && rnn->constant_count && !tw__starts_with(layer->name, "forward_"))
        tw__dict_put(dict, "num_constants", (tw_value){ .kind = TW_VALUE_INT, .i = rnn->constant_count });
}

tw_status tw__recurrent_take_config(tw_layer *layer, const tw_value *config)
{
    tw__rnn *rnn = tw__recurrent_of(layer);
    const tw_value *count = tw__value_get(config, "num_constants");
    if (!rnn || !count || count->kind == TW_VALUE_NONE)
        return TW_OK;
    if (count->kind != TW_VALUE_INT || count->i < 0 || count->i > TW_MOST_STATES)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": the config's `num_constants` must be a number from 0 to %d",
                        tw_class_name(layer), layer->name, TW_MOST_STATES);
    rnn->constant_count = count->i;
    return TW_OK;
}

/* ---- calls with Keras tensors ---- */

static const tw_value *argument(const tw_value *arguments, const tw_value *named, int at, const char *name)
{
    static const tw_value none = { .kind = TW_VALUE_NONE };
    const tw_value *value = arguments->list.count > at ? &arguments->list.items[at] : named ? tw__value_get(named, name) : NULL;
    return value ? value : &none;
}

static bool all_keras(const tw_value *value)
{
    bool all = true;
    for (int64_t i = 0; tw__value_is_list(value) && i < value->list.count; i++)
        all = all && all_keras(&value->list.items[i]);
    return all && (value->kind == TW_VALUE_NONE || tw__value_is_list(value) || tw__keras_tensor_of(value));
}

static int64_t append(tw_value *items, int64_t at, const tw_value *value)
{
    if (!tw__value_is_list(value)) {
        if (value->kind != TW_VALUE_NONE)
            items[at++] = tw__value_copy(value);
        return at;
    }
    for (int64_t i = 0; i < value->list.count; i++)
        items[at++] = tw__value_copy(&value->list.items[i]);
    return at;
}

bool tw__recurrent_join(tw_layer *layer, const tw_value *arguments, const tw_value *named, tw_value *joined, tw_value *rest)
{
    tw__rnn *rnn = layer->foreign_call ? NULL : tw__recurrent_of(layer);
    if (!rnn || arguments->list.count < 1 || arguments->list.count > 3 || !tw__keras_tensor_of(&arguments->list.items[0]))
        return false;
    const tw_value *states = argument(arguments, named, 1, "initial_state"),
                   *constants = argument(arguments, named, 2, "constants");
    int64_t count = count_of(states) + count_of(constants);
    if (!count || !all_keras(states) || !all_keras(constants))
        return false;
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items), *only = tw__alloc_array(1, sizeof *only);
    if (!items || !only) {
        tw__free(items);
        tw__free(only);
        return false;
    }
    int64_t at = append(items, 0, &arguments->list.items[0]);
    at = append(items, append(items, at, states), constants);
    *only = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, at } };
    *joined = (tw_value){ .kind = arguments->kind, .list = { only, 1 } };
    *rest = named ? tw__value_copy(named) : tw__value_none();
    if (rest->kind == TW_VALUE_DICT) {
        tw__value_drop(rest, "initial_state");
        tw__value_drop(rest, "constants");
    }
    if (constants->kind != TW_VALUE_NONE)
        rnn->constant_count = count_of(constants);
    return true;
}
