/* Activations: a name, a function of the API, a callable or a layer becomes something that can be called quickly.
 *
 * Names that are plain ops go straight to dispatch; other functions of the API are called through their signature with its
 * defaults. */
#include <alloca.h>

#include "graph/graph.h"
#include "keras/callable.h"
#include "keras/keras.h"

/* ---- callables ---- */

static void callable_destroy(void *self)
{
    tw_callable *callable = self;
    if (callable->end)
        callable->end(callable);
    tw__free(callable->name);
}

const tw_class tw__callable_class = { .name = "Callable", .size = sizeof(tw_callable), .destroy = callable_destroy };

tw_callable *tw__callable_new(const char *name, tw_tensor *(*call)(tw_callable *self, tw_tensor *input),
                              void (*end)(tw_callable *self), void *state)
{
    tw_callable *callable = tw__object_new(&tw__callable_class);
    if (!callable)
        return NULL;
    callable->name = tw__strdup(name);
    if (!callable->name) {
        tw_release(callable);
        return NULL;
    }
    callable->call = call;
    callable->end = end;
    callable->state = state;
    return callable;
}

/* ---- finding ---- */

static const struct {
    const char *name;
    const tw_op *op;
    bool keeps_input;
} plain[] = {
    { "relu", &tw__op_Relu, false },         { "softmax", &tw__op_Softmax, true },    { "sigmoid", &tw__op_Sigmoid, true },
    { "tanh", &tw__op_Tanh, false },         { "elu", &tw__op_Elu, false },           { "selu", &tw__op_Selu, false },
    { "softplus", &tw__op_Softplus, false }, { "softsign", &tw__op_Softsign, false },
};

static const char keras_prefix[] = "keras.activations.";

static tw_status find_plain(tw__activation *activation, const char *name)
{
    bool of_keras = tw__starts_with(name, keras_prefix) || !strchr(name, '.');
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    if (of_keras && strcmp(last, "linear") == 0)
        return TW_OK;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(plain[i].name, last) == 0 && (of_keras || tw__starts_with(name, "nn.") || tw__starts_with(name, "math."))) {
            activation->op = plain[i].op;
            activation->keeps_input = of_keras && plain[i].keeps_input;
            return TW_OK;
        }
    }
    return TW_NOT_FOUND;
}

static tw_status find_function(tw__activation *activation, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s", keras_prefix, name);
    const tw_signature *signature = strchr(name, '.') ? NULL : tw_signature_find(path);
    if (!signature)
        signature = tw_signature_find(name);
    if (!signature || signature->role != TW_ROLE_FUNCTION || !signature->field_count ||
        signature->fields[0].kind != TW_KIND_TENSOR || signature->result != TW_KIND_TENSOR)
        return tw__fail(TW_VALUE_ERROR, "Unknown activation function '%s' cannot be deserialized.", name);
    activation->arguments = tw__alloc_zero(signature->args_size);
    if (!activation->arguments)
        return TW_RESOURCE_EXHAUSTED;
    tw_args_default(signature, activation->arguments);
    activation->signature = signature;
    return TW_OK;
}

tw_status tw__activation_find(tw__activation *activation, tw_named named)
{
    *activation = (tw__activation){ 0 };
    if (!named)
        return TW_OK;
    if (tw__named_is_object(named)) {
        if (!tw__is_callable(named) && !tw__is(named, &tw__class_layer))
            return tw__fail(TW_TYPE_ERROR, "Could not interpret activation function identifier: an object of class %s",
                            tw_class_name(named));
        activation->object = tw_retain(named);
        return TW_OK;
    }
    char name[96];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(named, "|"), (const char *)named);
    return find_plain(activation, name) == TW_OK ? TW_OK : find_function(activation, name);
}

void tw__activation_free(tw__activation *activation)
{
    tw__free(activation->arguments);
    tw_release(activation->object);
    *activation = (tw__activation){ 0 };
}

/* ---- calling ---- */

static tw_tensor *call_function(const tw__activation *activation, tw_tensor *input)
{
    const tw_signature *signature = activation->signature;
    void *arguments = alloca(signature->args_size);
    memcpy(arguments, activation->arguments, signature->args_size);
    *(tw_tensor **)((char *)arguments + signature->fields[0].offset) = input;
    tw_value result = { .kind = TW_VALUE_NONE };
    if (tw_signature_invoke(signature, arguments, &result) != TW_OK || result.kind != TW_VALUE_TENSOR) {
        tw_value_free(&result);
        return NULL;
    }
    return result.tensor;
}

tw_tensor *tw__activation_call(const tw__activation *activation, tw_tensor *input)
{
    if (!input)
        return NULL;
    if (activation->op) {
        /* The one activation that Keras checks the rank for. */
        if (activation->op == &tw__op_Softmax && activation->keeps_input && input->shape.rank < 2) {
            tw__fail(TW_VALUE_ERROR, "Cannot apply softmax to a tensor that is 1D. Received input of shape %s",
                     tw__shape_text(&input->shape));
            return NULL;
        }
        tw_tensor *output = tw__call(activation->op, &input, 1, NULL, 0);
        if (output && activation->keeps_input && !output->object.config)
            output->object.config = tw_retain(input);
        return output;
    }
    if (activation->signature)
        return call_function(activation, input);
    if (!activation->object)
        return tw_retain(input);
    if (tw__is_callable(activation->object))
        return ((tw_callable *)activation->object)->call(activation->object, input);
    return tw__layer_call(activation->object, input, -1);
}

tw_tensor *tw__logits_of(const tw_tensor *output, const tw_op *like)
{
    tw_tensor *noted = tw__noted_logits(output);
    if (noted)
        return noted;
    return output->node && output->node->op == like ? output->symbolic_input : NULL;
}
