/* Masks: which steps of a sequence count. A mask goes along with a tensor, from the layer that made it (Embedding, Masking)
 * through those that support masks to those that use them (RNN, losses).
 *
 * A tensor's `config` holds what Keras noted of it: nothing, the logits it was made of (a tensor), or both kinds of notes in one
 * object. */
#include "keras/layers/layers.h"
#include "op/calls.h"

typedef struct notes {
    tw_object object;
    tw_tensor *logits, *mask; /* references */
    void *metric;             /* whose result the tensor is; a reference */
} notes;

static void notes_destroy(void *self)
{
    notes *n = self;
    tw_release(n->logits);
    tw_release(n->mask);
    tw_release(n->metric);
}

static const tw_class notes_class = { .name = "Notes", .size = sizeof(notes), .destroy = notes_destroy };

/* The tensor's notes, made if there are none. */
static notes *notes_of(tw_tensor *tensor)
{
    void *config = tensor->object.config;
    if (tw__is(config, &notes_class))
        return config;
    notes *n = tw__object_new(&notes_class);
    if (n) {
        if (tw__is(config, &tw__tensor_class))
            n->logits = config; /* its reference */
        else
            tw_release(config); /* the value on a device: only a copy */
        tensor->object.config = n;
    }
    return n;
}

struct tw_metric *tw__noted_metric(const tw_tensor *tensor)
{
    void *config = tensor->object.config;
    return config && tw__is(config, &notes_class) ? ((notes *)config)->metric : NULL;
}

tw_tensor *tw__note_metric(tw_tensor *tensor, struct tw_metric *metric)
{
    notes *n = tensor ? notes_of(tensor) : NULL;
    if (n)
        tw__set(&n->metric, metric);
    else
        tw_release(tensor);
    return n ? tensor : NULL;
}

void tw__note_logits(tw_tensor *tensor, tw_tensor *logits)
{
    if (tw__is(tensor->object.config, &notes_class) || tw__is(tensor->object.config, &tw__tensor_class))
        return;
    tw_release(tensor->object.config);
    tensor->object.config = tw_retain(logits);
}

tw_tensor *tw__noted_logits(const tw_tensor *tensor)
{
    void *config = tensor->object.config;
    if (tw__is(config, &tw__tensor_class))
        return config;
    return tw__is(config, &notes_class) ? ((notes *)config)->logits : NULL;
}

tw_tensor *tw__mask_of(const tw_tensor *tensor)
{
    void *config = tensor->object.config;
    return config && tw__is(config, &notes_class) ? ((notes *)config)->mask : NULL;
}

tw_status tw__mask_set(tw_tensor *tensor, tw_tensor *mask)
{
    if (!mask && !tw__mask_of(tensor))
        return TW_OK;
    notes *n = notes_of(tensor);
    if (!n)
        return tw__error_status();
    tw__set(&n->mask, mask);
    return TW_OK;
}

tw_tensor *tw__masked_copy(tw_tensor *tensor, tw_tensor *mask)
{
    tw_tensor *copy = TW_CALL(Identity, tensor);
    if (copy && tw__mask_set(copy, mask) == TW_OK)
        return copy;
    tw_release(copy);
    return NULL;
}

tw_status tw__layer_finish(tw_layer *layer, tw_tensor *input, tw_tensor *mask, tw_tensor *output)
{
    if (layer->activity_regularizer)
        TW_TRY(tw__layer_regularize_activity(layer, output));
    if (!layer->supports_masking || tw__is(layer, &tw__class_model))
        return TW_OK;
    const tw__layer_methods *methods = tw__methods(layer);
    if (!methods->mask)
        return mask ? tw__mask_set(output, mask) : TW_OK;
    tw_auto tw_tensor *made = methods->mask(layer, input, mask);
    return made ? tw__mask_set(output, made) : tw_error_code() == TW_OK ? TW_OK : tw__error_status();
}

TW_PROPERTY(layer_supports_masking, "keras.layers.Layer.supports_masking(self: layer) -> bool",
            "Whether masks of inputs reach the output.")
{
    return args->self->supports_masking;
}

TW_METHOD(layer_set_supports_masking, "keras.layers.Layer._set_supports_masking(self: layer, value: bool)",
          "Says whether masks of inputs reach the output.")
{
    args->self->supports_masking = args->value;
    return TW_OK;
}

TW_METHOD(layer_compute_mask, "keras.layers.Layer.compute_mask(self: layer, inputs: tensor, mask: tensor = None) -> value",
          "The mask of the output for an input with that mask.\n"
          "inputs: a tensor, or several\n"
          "mask: the mask of the inputs; None: there is none\n"
          "returns: a mask, or None")
{
    const tw__layer_methods *methods = tw__methods(args->self);
    if (!args->self->supports_masking) {
        if (args->mask)
            tw__fail(TW_TYPE_ERROR, "Layer %s does not support masking, but was passed an input_mask.", args->self->name);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return tw__tensor_value(methods->mask ? methods->mask(args->self, args->inputs, args->mask) : tw_retain(args->mask));
}

TW_API(mask_of, "keras._mask_of(tensor: tensor) -> value", "The mask that goes along with a tensor, or None.")
{
    return tw__tensor_value(tw_retain(tw__mask_of(args->tensor)));
}

TW_API(mask_set, "keras._set_mask(tensor: tensor, mask: tensor = None)", "Lets a mask go along with a tensor.")
{
    return tw__mask_set(args->tensor, args->mask);
}
