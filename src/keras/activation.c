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

typedef struct found {             /* nothing: the identity */
    const tw_op *op;               /* plain ops go straight to dispatch */
    const tw_signature *signature; /* any other function of the API, with its defaults */
    const void *object;            /* a callable or a layer; borrowed */
    bool keeps_input;              /* softmax and sigmoid: cross-entropies work on what went in (tw__logits_of) */
} found;

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

static tw_status find_plain(found *activation, const char *name)
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

/* Functions of tf.nn that Keras knows as activations, too. */
static const char *const others[] = { "relu6", "leaky_relu", "log_softmax", "silu" };

bool tw__activation_is_known(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s", keras_prefix, name);
    bool known = tw_signature_find(path) != NULL;
    for (size_t i = 0; !known && i < sizeof others / sizeof *others; i++)
        known = strcmp(name, others[i]) == 0;
    return known;
}

/* A name without dots is one of Keras's. */
static const tw_signature *find_function(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s", keras_prefix, name);
    const tw_signature *signature = tw_signature_find(strchr(name, '.') ? name : path);
    if (!signature && !strchr(name, '.') && tw__activation_is_known(name)) {
        snprintf(path, sizeof path, "nn.%s", name);
        signature = tw_signature_find(path);
    }
    if (!signature || signature->role != TW_ROLE_FUNCTION || !signature->field_count ||
        signature->fields[0].kind != TW_KIND_TENSOR || signature->result != TW_KIND_TENSOR) {
        tw__fail_because(TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR, "Unknown activation function '%s' cannot be deserialized.",
                         name);
        return NULL;
    }
    return signature;
}

static tw_status find(found *activation, tw_named named)
{
    *activation = (found){ 0 };
    if (!named)
        return TW_OK;
    if (tw__named_is_object(named)) {
        if (!tw__is_callable(named) && !tw__is(named, &tw__class_layer))
            return tw__fail(TW_TYPE_ERROR, "Could not interpret activation function identifier: an object of class %s",
                            tw_class_name(named));
        activation->object = named;
        return TW_OK;
    }
    char name[96];
    size_t size = strcspn(named, "|");
    size = size < sizeof name ? size : sizeof name - 1;
    memcpy(name, named, size);
    name[size] = 0;
    if (find_plain(activation, name) == TW_OK)
        return TW_OK;
    activation->signature = find_function(name);
    return activation->signature ? TW_OK : tw__error_status();
}

tw_status tw__activation_check(tw_named named)
{
    return find(&(found){ 0 }, named);
}

bool tw__activation_is(tw_named named, const tw_op *op)
{
    found activation;
    return find(&activation, named) == TW_OK && activation.op == op;
}

tw_status tw__activation_settle(tw_named *place)
{
    static const tw_class *const layers[] = { &tw__class_layers_re_lu,   &tw__class_layers_leaky_re_lu,
                                              &tw__class_layers_p_re_lu, &tw__class_layers_elu,
                                              &tw__class_layers_softmax, &tw__class_layers_thresholded_re_lu };
    for (size_t i = 0; *place && !tw__named_is_object(*place) && i < sizeof layers / sizeof *layers; i++) {
        if (strcmp(*place, layers[i]->name) != 0)
            continue;
        const tw_signature *signature = tw_class_signature(layers[i]);
        void *arguments = alloca(signature->args_size), *made;
        tw_args_default(signature, arguments);
        if (!(made = tw_class_make(layers[i], arguments)))
            return tw__error_status();
        tw__free((char *)(uintptr_t)*place);
        *place = made;
    }
    return tw__activation_check(*place);
}

/* ---- calling ---- */

static tw_tensor *call_function(const tw_signature *signature, tw_tensor *input)
{
    void *arguments = alloca(signature->args_size);
    tw_args_default(signature, arguments);
    *(tw_tensor **)((char *)arguments + signature->fields[0].offset) = input;
    tw_value result = { .kind = TW_VALUE_NONE };
    if (tw_signature_invoke(signature, arguments, &result) != TW_OK || result.kind != TW_VALUE_TENSOR) {
        tw_value_free(&result);
        return NULL;
    }
    return result.tensor;
}

static tw_tensor *call_op(const found *activation, tw_tensor *input)
{
    /* The one activation that Keras checks the rank for. */
    if (activation->op == &tw__op_Softmax && activation->keeps_input && input->shape.rank < 2) {
        tw__fail(TW_VALUE_ERROR, "Cannot apply softmax to a tensor that is 1D. Received input of shape %s",
                 tw__shape_text(&input->shape));
        return NULL;
    }
    tw_tensor *output = tw__call(activation->op, &input, 1, NULL, 0);
    if (output && activation->keeps_input)
        tw__note_logits(output, input);
    return output;
}

tw_tensor *tw__activate(tw_named named, tw_tensor *input)
{
    found activation;
    if (!input || find(&activation, named) != TW_OK)
        return NULL;
    if (activation.op)
        return call_op(&activation, input);
    if (activation.signature)
        return call_function(activation.signature, input);
    tw_auto void *object = tw_retain(activation.object); /* it may be set to another meanwhile */
    if (!object)
        return tw_retain(input);
    return tw__is_callable(object) ? ((tw_callable *)object)->call(object, input) : tw__layer_call(object, input, -1);
}

tw_tensor *tw__logits_of(const tw_tensor *output, const tw_op *like)
{
    tw_tensor *noted = tw__noted_logits(output);
    if (noted)
        return noted;
    return output->node && output->node->op == like ? output->symbolic_input : NULL;
}
