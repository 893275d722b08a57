/* keras.layers.EinsumDense: activation(einsum(equation, inputs, kernel) + bias). "...x,xy->...y" may leave out axes on the left.
 */
#include "keras/layers/layers.h"
#include "op/array/array.h"
#include "op/calls.h"

enum { MOST = TW_MAX_RANK };

typedef struct einsum_dense {
    tw_layer layer;
    bool left; /* axes are left out on the left */
    char input[MOST + 1], kernel[MOST + 1], output[MOST + 1];
} einsum_dense;

/* Letters up to `end`; false: something else, or too many. */
static bool read_letters(const char **at, char *letters)
{
    size_t count = strspn(*at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (!count || count > MOST)
        return false;
    memcpy(letters, *at, count);
    letters[count] = 0;
    *at += count;
    return true;
}

static bool skip(const char **at, const char *text)
{
    bool there = strncmp(*at, text, strlen(text)) == 0;
    *at += there ? strlen(text) : 0;
    return there;
}

static tw_status einsum_settle(void *self, const void *given)
{
    einsum_dense *layer = self;
    const tw_layers_einsum_dense_args *args = given;
    const char *at = args->equation;
    layer->left = skip(&at, "...");
    bool good = read_letters(&at, layer->input) && skip(&at, ",") && read_letters(&at, layer->kernel) && skip(&at, "->") &&
                skip(&at, "...") == layer->left && read_letters(&at, layer->output) && !*at;
    if (!good)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid einsum equation '%s'. Equations must be in the form [X],[Y]->[Z] or ...[X],[Y]->...[Z].",
                        args->equation);
    return TW_OK;
}

/* Keras takes the activity's regularizer and forgets it; one that is set later acts. */
static tw_status einsum_init(void *self, const void *given)
{
    (void)given;
    einsum_dense *layer = self;
    tw_layers_einsum_dense_args none = { 0 }, old = { 0 };
    const tw_signature *signature = tw_class_signature(tw_class_of(self));
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        if (signature != &tw__signature_layers_einsum_dense || strcmp(field->name, "activity_regularizer") != 0)
            continue;
        if (!tw__args_put(field, &none, (void *)tw_object_config(self), &old))
            return tw__error_status();
        tw__args_drop(field, &old);
    }
    tw__set(&layer->layer.activity_regularizer, NULL);
    return TW_OK;
}

/* The whole output's shape: axes that are left out, then one per letter; -1: as said by None, and not known from the input. */
static tw_status einsum_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    einsum_dense *layer = (einsum_dense *)self;
    const tw_layers_einsum_dense_args *args = tw_object_config(self);
    int letters = (int)strlen(layer->output), given = args->output_shape.rank, in = (int)strlen(layer->input);
    int elided = layer->left ? input->rank - in : 0;
    if (input->rank < 0 || elided < 0 || input->rank != in + elided)
        return tw__fail(TW_VALUE_ERROR, "EinsumDense \"%s\": an input of shape %s for the equation %s", self->name,
                        tw__shape_text(input), args->equation);
    int whole = letters + elided, first = whole - given;
    if (given > whole || whole > MOST)
        return tw__fail(TW_VALUE_ERROR, "EinsumDense \"%s\": output_shape has rank %d, the output %d", self->name, given, whole);
    *output = (tw_shape){ .rank = whole };
    for (int i = 0; i < whole; i++) {
        output->dims[i] = i >= first ? args->output_shape.dims[i - first] : -1;
        const char *found = i >= elided ? strchr(layer->input, layer->output[i - elided]) : NULL;
        int64_t known = i < elided ? input->dims[i] : found ? input->dims[elided + (found - layer->input)] : -1;
        output->dims[i] = output->dims[i] < 0 ? known : output->dims[i];
    }
    return TW_OK;
}

static tw_status einsum_build(tw_layer *self, const tw_shape *input)
{
    einsum_dense *layer = (einsum_dense *)self;
    const tw_layers_einsum_dense_args *args = tw_object_config(self);
    tw_shape output, kernel = { .rank = (int32_t)strlen(layer->kernel) }, bias = { .rank = 0 };
    TW_TRY(einsum_shape(self, input, &output));
    int elided = layer->left ? input->rank - (int)strlen(layer->input) : 0;
    for (int i = 0; i < kernel.rank; i++) {
        const char *in = strchr(layer->input, layer->kernel[i]), *out = strchr(layer->output, layer->kernel[i]);
        kernel.dims[i] = in ? input->dims[elided + (in - layer->input)] : out ? output.dims[elided + (out - layer->output)] : -1;
        if (kernel.dims[i] < 0)
            return tw__fail(
                TW_VALUE_ERROR,
                "Weight dimension '%c' did not have a match in either the input spec '%s' or the output spec '%s'. For this layer, "
                "the weight must be fully specified.",
                layer->kernel[i], layer->input, layer->output);
    }
    TW_TRY(tw__layer_add_part(self, "kernel", &kernel));
    for (size_t i = 0; args->bias_axes && layer->output[i]; i++) {
        bool has = strchr(args->bias_axes, layer->output[i]) != NULL;
        if (has || bias.rank)
            bias.dims[bias.rank++] = has ? output.dims[elided + (int)i] : 1;
    }
    return args->bias_axes ? tw__layer_add_part(self, "bias", &bias) : TW_OK;
}

static tw_tensor *einsum_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_einsum_dense_args *args = tw_object_config(self);
    TW_TEMPS(t);
    tw_tensor *kernel = tw__temp(t, tw__layer_read(self, "kernel"));
    tw_tensor *output = TW_TEMP(Einsum, input, kernel, TW_A_STRING("equation", args->equation));
    if (tw__tracked(&self->trackable, "bias"))
        output = TW_TEMP(AddV2, output, tw__temp(t, tw__layer_read(self, "bias")));
    return tw__activate(args->activation, output);
}

static const tw__layer_methods einsum_methods = { .build = einsum_build, .call = einsum_call, .output_shape = einsum_shape };

TW_CLASS(
    layers_einsum_dense,
    "keras.layers.EinsumDense|keras.layers.experimental.EinsumDense(equation: str, output_shape: shape, "
    "activation: named<activation> = None, bias_axes: str = None, " TW_KERNEL_AND_BIAS ", **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(einsum_dense), .init = einsum_init, .settle = einsum_settle,
    .fixed = " output_shape ", .methods = &einsum_methods,
    .doc =
        "A dense layer over axes that an equation names.\n"
        "equation: the sum in Einstein's notation, such as `ab,bc->ac`: input, kernel, output; `...` stands for dimensions of the input that stay\n"
        "output_shape: the shape of the output without the batch; None for dimensions that are the input's\n"
        "bias_axes: the letters of the output's dimensions that the bias has; None: there is no bias\n"
        "example: tf.keras.layers.EinsumDense('ab,bc->ac', output_shape=4)(tf.ones([2, 3])).shape  # TensorShape([2, 4])");
