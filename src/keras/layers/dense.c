/* keras.layers.Dense: activation(inputs @ kernel + bias) over the last axis. */
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/keras.h"
#include "keras/regularizers/regularizers.h"
#include "op/calls.h"

typedef struct dense {
    tw_layer layer;
    int64_t units;
    bool has_bias;
    tw__activation activation;
} dense;

static tw_status dense_init(void *self, const void *given)
{
    dense *layer = self;
    const tw_layers_dense_args *args = given;
    if (args->units < 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Received an invalid value for `units`, expected a positive integer. Received: units=%lld",
                        (long long)args->units);
    TW_TRY(tw__regularizer_check(args->kernel_regularizer));
    TW_TRY(tw__regularizer_check(args->bias_regularizer));
    TW_TRY(tw__regularizer_check(args->activity_regularizer));
    TW_TRY(tw__constraint_check(args->kernel_constraint));
    TW_TRY(tw__constraint_check(args->bias_constraint));
    const tw_named initializers[] = { args->kernel_initializer, args->bias_initializer };
    for (int i = 0; i < 2; i++) { /* a wrong name is told here, not at the first call */
        tw_initializer *initializer = initializers[i] ? tw__initializer_get(initializers[i]) : NULL;
        if (initializers[i] && !initializer)
            return tw__error_status();
        tw_release(initializer);
    }
    layer->units = args->units;
    layer->has_bias = args->use_bias;
    layer->layer.minimum_rank = 2;
    layer->layer.supports_masking = true;
    return tw__activation_find(&layer->activation, args->activation);
}

static void dense_visit(void *self, tw__visitor visitor, void *context)
{
    dense *layer = self;
    if (layer->activation.object)
        visitor(context, layer->activation.object);
}

static void dense_clear(void *self)
{
    tw__activation_free(&((dense *)self)->activation);
}

static tw_status dense_build(tw_layer *self, const tw_shape *input_shape)
{
    dense *layer = (dense *)self;
    const tw_layers_dense_args *args = tw_object_config(self);
    if (!tw__dtype_is_float(self->dtype) && !tw__dtype_is_complex(self->dtype))
        return tw__fail(TW_TYPE_ERROR, "A Dense layer can only be built with a floating-point dtype. Received: dtype=%s",
                        tw_dtype_name(self->dtype));
    int64_t last = input_shape->rank > 0 ? input_shape->dims[input_shape->rank - 1] : -1;
    if (last < 0 || !args)
        return tw__fail(TW_VALUE_ERROR,
                        "The last dimension of the inputs to a Dense layer should be defined. Found None. "
                        "Full input shape received: %s",
                        tw__shape_text(input_shape));
    tw_shape kernel = TW_SHAPE(last, layer->units), bias = TW_SHAPE(layer->units);
    if (!tw__layer_add_weight(self, "kernel", &kernel, self->dtype, args->kernel_initializer, true))
        return tw__error_status();
    if (layer->has_bias && !tw__layer_add_weight(self, "bias", &bias, self->dtype, args->bias_initializer, true))
        return tw__error_status();
    self->last_axis = last;
    return TW_OK;
}

static tw_tensor *read_weight(tw_layer *self, const char *name)
{
    tw_trackable *variable = tw__tracked(&self->trackable, name);
    if (!variable || !tw__is(variable, &tw__class_variable)) {
        tw__fail(TW_FAILED_PRECONDITION, "Dense \"%s\" has no variable `%s`", self->name, name);
        return NULL;
    }
    return tw__variable_read((tw_variable *)variable);
}

/* x [..., n] @ kernel [n, units] */
static tw_tensor *multiply(tw_tensor *x, tw_tensor *kernel)
{
    int rank = x->shape.rank;
    if (rank == 2)
        return TW_CALL(MatMul, x, kernel);
    if (rank < 2) {
        tw__fail(TW_VALUE_ERROR, "Dense: the rank of the input is not known while tracing");
        return NULL;
    }
    int64_t last = x->shape.dims[rank - 1], rows = 1;
    for (int i = 0; i < rank - 1; i++)
        rows = x->shape.dims[i] < 0 || rows < 0 ? -1 : rows * x->shape.dims[i];
    tw_shape flat = TW_SHAPE(rows, last);
    tw_tensor *matrix = tw__reshape(x, &flat);
    tw_tensor *product = TW_CALL(MatMul, matrix, kernel);
    tw_tensor *output = product ? tw__reshape_leading(product, x, kernel->shape.dims[1]) : NULL;
    tw_release(matrix);
    tw_release(product);
    return output;
}

static tw_tensor *dense_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    dense *layer = (dense *)self;
    tw_attr target = TW_A_TYPE("DstT", self->dtype);
    tw_tensor *x = input->dtype == self->dtype ? tw_retain(input) : TW_CALL(Cast, input, target);
    tw_tensor *kernel = x ? read_weight(self, "kernel") : NULL;
    tw_tensor *output = kernel ? multiply(x, kernel) : NULL;
    tw_release(kernel);
    tw_release(x);
    if (output && layer->has_bias) {
        tw_tensor *bias = read_weight(self, "bias");
        tw_tensor *sum = bias ? TW_CALL(BiasAdd, output, bias) : NULL;
        tw_release(bias);
        tw_release(output);
        output = sum;
    }
    tw_tensor *result = tw__activation_call(&layer->activation, output);
    tw_release(output);
    return result;
}

static tw_status dense_output_shape(tw_layer *self, const tw_shape *input_shape, tw_shape *output_shape)
{
    *output_shape = *input_shape;
    output_shape->dims[input_shape->rank - 1] = ((dense *)self)->units;
    return TW_OK;
}

static const tw__layer_methods dense_methods = { .build = dense_build, .call = dense_call, .output_shape = dense_output_shape };

TW_CLASS(layers_dense,
         "keras.layers.Dense(units: int, activation: named<activation> = None, use_bias: bool = True, "
         "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
         "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
         "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
         "bias_constraint: named<constraint> = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(dense), .init = dense_init, .destroy = dense_clear, .visit = dense_visit,
         .clear = dense_clear, .methods = &dense_methods, .doc = "Fully connected layer: activation(inputs @ kernel + bias).");
