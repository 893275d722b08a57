/* Layers around layers: Wrapper, TimeDistributed (the layer on every step), Bidirectional (a recurrent layer forwards and
 * backwards). */
#include "keras/layers/layers.h"
#include "keras/layers/recurrent.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "spec/spec.h"

typedef tw__wrapper wrapper;

static tw_status wrapper_init(void *self, const void *given)
{
    wrapper *w = self;
    const tw_layers_wrapper_args *args = given;
    if (!args->layer)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": layer must not be None", tw_class_name(self), w->layer.name);
    return tw__is(self, &tw__class_layers_bidirectional) ? TW_OK : tw__track(&w->layer.trackable, "layer", args->layer);
}

static tw_status wrapper_settle(void *self, const void *given)
{
    ((wrapper *)self)->inner = ((const tw_layers_wrapper_args *)given)->layer;
    return TW_OK;
}

static tw_status wrapper_build(tw_layer *self, const tw_shape *input)
{
    return tw__layer_build(((wrapper *)self)->inner, input);
}

static void wrapper_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "layer", tw__serialize(((wrapper *)self)->inner, "keras.layers"));
}

static tw_tensor *wrapper_call(tw_layer *self, tw_tensor *input, int training)
{
    return tw__layer_call(((wrapper *)self)->inner, input, training);
}

static const tw__layer_methods wrapper_methods = {
    .build = wrapper_build, .call = wrapper_call, .config = wrapper_config, .own_config = " layer "
};

TW_CLASS(layers_wrapper, "keras.layers.Wrapper(layer: layer, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(wrapper), .init = wrapper_init, .settle = wrapper_settle, .methods = &wrapper_methods,
         .doc = "A layer that holds another one; to be subclassed.");

/* ---- TimeDistributed ---- */

/* [batch, time, …] -> [batch * time, …] */
static void join(const tw_shape *input, tw_shape *joined)
{
    *joined = *input;
    joined->rank--;
    joined->dims[0] = input->dims[0] < 0 || input->dims[1] < 0 ? -1 : input->dims[0] * input->dims[1];
    memmove(joined->dims + 1, input->dims + 2, (size_t)(input->rank - 2) * sizeof *joined->dims);
}

static tw_status distributed_build(tw_layer *self, const tw_shape *input)
{
    tw_shape shape;
    if (input->rank < 3)
        return tw__fail(TW_VALUE_ERROR,
                        "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: %s",
                        tw__shape_text(input));
    join(input, &shape);
    shape.dims[0] = input->dims[0];
    TW_TRY(tw__layer_build(((wrapper *)self)->inner, &shape));
    tw__layer_built_for(((wrapper *)self)->inner, (tw_value){ .kind = TW_VALUE_NONE }); /* as in Keras, whose configs show it */
    return TW_OK;
}

static tw_tensor *distributed_call(tw_layer *self, tw_tensor *input, int training)
{
    tw_shape shape;
    join(&input->shape, &shape);
    tw_auto tw_tensor *flat = NULL, *output = NULL;
    int unknown = 0;
    for (int i = 0; i < shape.rank; i++)
        unknown += shape.dims[i] < 0;
    if (unknown > 1) {
        tw__fail(TW_UNIMPLEMENTED, "TimeDistributed \"%s\": the input's shape %s is not known well enough", self->name,
                 tw__shape_text(&input->shape));
        return NULL;
    }
    flat = tw__reshape(input, &shape);
    output = flat ? tw__layer_call(((wrapper *)self)->inner, flat, training) : NULL;
    if (!output)
        return NULL;
    if (output->shape.rank < 1 || output->shape.rank >= TW_MAX_RANK) {
        tw__fail(TW_VALUE_ERROR, "TimeDistributed \"%s\": the inner layer gave shape %s, expected a batch of rank at most %d",
                 self->name, tw__shape_text(&output->shape), TW_MAX_RANK - 1);
        return NULL;
    }
    tw_shape whole = { .rank = output->shape.rank + 1, .dims = { input->shape.dims[0], input->shape.dims[1] } };
    memcpy(whole.dims + 2, output->shape.dims + 1, (size_t)(output->shape.rank - 1) * sizeof *whole.dims);
    unknown = 0;
    for (int i = 0; i < whole.rank; i++)
        unknown += whole.dims[i] < 0;
    if (unknown < 2)
        return tw__reshape(output, &whole);
    TW_TEMPS(t);
    tw_tensor *first = tw__temp_slice(t, tw__temp_shape(t, input, TW_INT32), 0, 2);
    tw_tensor *rest = tw__temp_ints(t, whole.dims + 2, whole.rank - 2, TW_INT32);
    return TW_CALL(Reshape, output, TW_TEMP(ConcatV2, first, rest, 0));
}

static tw_status distributed_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    tw_shape one, made;
    join(input, &one);
    one.dims[0] = input->dims[0];
    TW_TRY(tw__layer_output_shape(((wrapper *)self)->inner, &one, &made));
    if (made.rank < 1 || made.rank >= TW_MAX_RANK) {
        *output = TW_UNKNOWN_SHAPE;
        return TW_OK;
    }
    *output = made;
    output->rank++;
    memmove(output->dims + 2, made.dims + 1, (size_t)(made.rank - 1) * sizeof *made.dims);
    output->dims[1] = input->dims[1];
    return TW_OK;
}

static void distributed_count_call(tw_layer *self)
{
    tw__layer_count_call(((wrapper *)self)->inner);
}

static const tw__layer_methods distributed_methods = { .arguments = "inputs training mask",
                                                       .supports_masking = true,
                                                       .minimum_rank = 3,
                                                       .build = distributed_build,
                                                       .count_call = distributed_count_call,
                                                       .call = distributed_call,
                                                       .output_shape = distributed_output_shape,
                                                       .config = wrapper_config,
                                                       .own_config = " layer " };

TW_CLASS(layers_time_distributed, "keras.layers.TimeDistributed(layer: layer, **layer) -> layer",
         .parent = &tw__class_layers_wrapper, .size = sizeof(wrapper), .methods = &distributed_methods,
         .doc = "Applies a layer to every step of a sequence.");

/* ---- Bidirectional ---- */

static void put_in(tw_value *dict, const char *key, tw_value value)
{
    for (int64_t i = 0; i + 1 < dict->list.count; i += 2) {
        if (strcmp(dict->list.items[i].s.data, key) == 0) {
            tw_value_free(&dict->list.items[i + 1]);
            dict->list.items[i + 1] = value;
            return;
        }
    }
    tw_value_free(&value);
}

#define BACKWARD "backward_"

/* Another layer of the same class and config, under another name. The layer itself stands for its class in the entry: an
 * embedding language need not know that by name. */
static tw_layer *copy_of(tw_layer *layer, const char *prefix, const char *name, bool backwards)
{
    tw__auto(tw_value_free) tw_value entry = tw__serialize(layer, "keras.layers");
    tw_value *config = (tw_value *)(uintptr_t)(entry.kind == TW_VALUE_DICT ? tw__value_get(&entry, "config") : NULL);
    char *full = tw__format("%s_%s", prefix, name);
    tw_layer *made = NULL;
    if (config && full) {
        put_in(config, "name", tw__value_str(full));
        put_in(config, "go_backwards", (tw_value){ .kind = TW_VALUE_BOOL, .b = backwards });
        put_in(&entry, "registered_name", (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(layer) });
        made = tw__deserialize(&entry, "layer");
    }
    tw__free(full);
    return made;
}

static tw_status both_init(void *self, const void *given)
{
    wrapper *w = self;
    const tw_layers_bidirectional_args *args = given;
    if (!tw__is(args->layer, &tw__class_layers_rnn))
        return tw__fail(TW_VALUE_ERROR, "Bidirectional \"%s\": the layer is a %s, expected a recurrent layer", w->layer.name,
                        tw_class_name(args->layer));
    tw__rnn *rnn = (tw__rnn *)args->layer;
    tw_auto tw_layer *forward = copy_of(args->layer, "forward", args->layer->name, rnn->settings.go_backwards);
    tw_auto tw_layer *backward = !forward ? NULL
                                 : args->backward_layer
                                     ? tw_retain(args->backward_layer)
                                     : copy_of(args->layer, "backward", args->layer->name, !rnn->settings.go_backwards);
    if (!forward || !backward)
        return tw__error_status();
    if (!tw__is(forward, &tw__class_layers_rnn) || !tw__is(backward, &tw__class_layers_rnn))
        return tw__fail(TW_VALUE_ERROR, "backward_layer need to be a `keras.layers.RNN` instance. Received: a %s",
                        tw_class_name(backward));
    /* As in Keras: steps that do not count are zero in both directions. */
    ((tw__rnn *)forward)->zero_forced = ((tw__rnn *)backward)->zero_forced = rnn->settings.return_sequences;
    if (args->backward_layer) { /* the layer itself, under a name of its own */
        char *name = tw__format(BACKWARD "%s", backward->name);
        if (!name)
            return tw__error_status();
        tw__free(backward->name);
        backward->name = name;
    }
    TW_TRY(tw__track(&w->layer.trackable, "forward_layer", forward));
    return tw__track(&w->layer.trackable, "backward_layer", backward);
}

static tw_status both_settle(void *self, const void *given)
{
    wrapper *w = self;
    const tw_layers_bidirectional_args *args = given;
    static const char *const modes[] = { "concat", "sum", "ave", "mul" };
    if (args->weights.count)
        return tw__fail(TW_UNIMPLEMENTED, "Bidirectional \"%s\": the argument `weights` is not supported", w->layer.name);
    w->merge = 0;
    for (int i = 0; args->merge_mode && i < 4; i++)
        w->merge = strcmp(args->merge_mode, modes[i]) == 0 ? modes[i][0] : w->merge;
    return !args->merge_mode || w->merge
               ? TW_OK
               : tw__fail(TW_VALUE_ERROR,
                          "Invalid merge mode. Received: %s. Merge mode should be one of {\"sum\", \"mul\", \"ave\", \"concat\", "
                          "None}",
                          args->merge_mode);
}

/* One of the two, borrowed: its child. */
static tw_layer *direction(const tw_layer *self, const char *name)
{
    tw_trackable *layer = tw__tracked((tw_trackable *)(uintptr_t)self, name);
    if (!tw__is(layer, &tw__class_layers_rnn)) {
        tw__fail(TW_VALUE_ERROR, "Bidirectional \"%s\": its `%s` is no recurrent layer", self->name, name);
        return NULL;
    }
    return (tw_layer *)layer;
}

static tw_status both_build(tw_layer *self, const tw_shape *input)
{
    tw_layer *layers[2] = { direction(self, "forward_layer"), direction(self, "backward_layer") };
    for (int i = 0; i < 2; i++) {
        if (!layers[i])
            return tw__error_status();
        TW_TRY(tw__layer_begin(layers[i]));
        tw_status status = tw__layer_build(layers[i], input);
        tw__layer_end(layers[i]);
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_tensor *merge(const wrapper *w, tw_tensor *a, tw_tensor *b)
{
    TW_TEMPS(t);
    switch (w->merge) {
    case 'c':
        return TW_CALL(ConcatV2, a, b, -1);
    case 's':
        return TW_CALL(AddV2, a, b);
    case 'a':
        return TW_CALL(RealDiv, TW_TEMP(AddV2, a, b), 2.0);
    default:
        return TW_CALL(Mul, a, b);
    }
}

/* initial states: the first half is the forward layer's */
static tw_value half_of(const tw_value *states, int which)
{
    if (states->kind != TW_VALUE_LIST && states->kind != TW_VALUE_TUPLE)
        return *states;
    int64_t half = states->list.count / 2;
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { states->list.items + which * half, half } };
}

static tw_value both_call(tw_layer *self, const tw_value *given, int training)
{
    wrapper *w = (wrapper *)self;
    tw_layer *layers[2] = { direction(self, "forward_layer"), direction(self, "backward_layer") };
    const tw__rnn *rnn = (tw__rnn *)layers[0];
    tw_value parts[2] = { { .kind = TW_VALUE_NONE }, { .kind = TW_VALUE_NONE } }, result = { .kind = TW_VALUE_NONE };
    tw_tensor *outputs[2] = { 0 };
    tw_value all[] = { given[0], given[1], given[2] };
    int64_t more = 0;
    if (!layers[0] || !layers[1])
        return result;
    tw__recurrent_split((tw__rnn *)layers[0], all);
    for (int i = 0; i < 2; i++) {
        tw_value call[4] = { all[0], half_of(&all[1], i), all[2], given[3] };
        parts[i] = tw__layer_call_values(layers[i], call, 4, training);
        outputs[i] = tw_retain(tw__value_first_tensor(&parts[i]));
        more += parts[i].kind == TW_VALUE_LIST ? parts[i].list.count - 1 : 0;
        if (!outputs[i])
            goto end;
    }
    if (rnn->settings.return_sequences) {
        tw_auto tw_tensor *taken = outputs[1],
                          *axis = tw__ints_tensor((int64_t[]){ rnn->settings.time_major ? 0 : 1 }, 1, TW_INT32);
        outputs[1] = TW_CALL(ReverseV2, taken, axis);
        if (!outputs[1])
            goto end;
    }
    if (w->merge) {
        tw_tensor *merged = merge(w, outputs[0], outputs[1]);
        tw_release(outputs[0]);
        tw_release(outputs[1]);
        outputs[0] = merged;
        outputs[1] = NULL;
    }
    if (outputs[0] && w->merge && !more) {
        result = tw__tensor_value(outputs[0]);
        outputs[0] = NULL;
    } else if (outputs[0]) {
        tw_value *items = tw__alloc_array((size_t)more + 2, sizeof *items);
        int64_t at = 0;
        for (int i = 0; items && i < 2; i++) {
            if (outputs[i])
                items[at++] = tw__tensor_value(outputs[i]);
            outputs[i] = NULL;
        }
        for (int i = 0; items && i < 2; i++) {
            for (int64_t k = 1; parts[i].kind == TW_VALUE_LIST && k < parts[i].list.count; k++) {
                items[at++] = parts[i].list.items[k];
                parts[i].list.items[k].kind = TW_VALUE_NONE;
            }
        }
        result = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, at } };
    }
end:
    for (int i = 0; i < 2; i++) {
        tw_value_free(&parts[i]);
        tw_release(outputs[i]);
    }
    return result;
}

static tw_status both_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    wrapper *w = (wrapper *)self;
    tw_layer *forward = direction(self, "forward_layer");
    TW_TRY(forward ? tw__layer_output_shape(forward, input, output) : tw__error_status());
    if (w->merge == 'c')
        output->dims[output->rank - 1] *= 2;
    return TW_OK;
}

static tw_tensor *both_mask(tw_layer *self, tw_tensor *input, tw_tensor *mask)
{
    (void)input;
    tw_layer *forward = direction(self, "forward_layer");
    return forward && ((tw__rnn *)forward)->settings.return_sequences ? tw_retain(mask) : NULL;
}

static void both_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_bidirectional_args *args = tw_object_config(self);
    wrapper_config(self, dict);
    tw__recurrent_config(self, dict);
    if (!args->backward_layer)
        return;
    tw_value entry = tw__serialize(args->backward_layer, "keras.layers");
    tw__value_drop(&entry, "build_config"); /* as in Keras, which tells it of the other layer alone */
    tw_value *config = (tw_value *)(uintptr_t)(entry.kind == TW_VALUE_DICT ? tw__value_get(&entry, "config") : NULL);
    const char *name = config ? tw__value_text(config, "name") : NULL;
    if (config && !((const tw__rnn *)args->backward_layer)->settings.zero_output_for_mask)
        tw__value_drop(config, "zero_output_for_mask"); /* it was not said: Bidirectional wants it */
    if (name && tw__starts_with(name, BACKWARD))        /* the name that it came with */
        put_in(config, "name", tw__value_str(name + strlen(BACKWARD)));
    tw__dict_put(dict, "backward_layer", entry);
}

static const tw__layer_methods both_methods = { .supports_masking = true,
                                                .build = both_build,
                                                .arguments = "inputs initial_state constants mask training",
                                                .call_values = both_call,
                                                .output_shape = both_output_shape,
                                                .mask = both_mask,
                                                .config = both_config,
                                                .own_config = " layer backward_layer weights ",
                                                .flat = true };

TW_CLASS(
    layers_bidirectional,
    "keras.layers.Bidirectional(layer: layer, merge_mode: str = concat, weights: tensors = None, backward_layer: layer = None, **layer) -> layer",
    .parent = &tw__class_layers_wrapper, .size = sizeof(wrapper), .init = both_init, .settle = both_settle, .fixed = " weights ",
    .methods = &both_methods,
    .doc = "A recurrent layer forwards and another one backwards, their outputs joined.\n"
           "layer: the recurrent layer that goes forwards\n"
           "merge_mode: how the two outputs become one: `concat`, `sum`, `mul` or `ave`; None: they come as a list\n"
           "backward_layer: the layer that goes backwards; None: a copy of the first one, turned around\n"
           "raises: ValueError: `merge_mode` is none of these");
