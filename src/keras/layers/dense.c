/* keras.layers.Dense: activation(inputs @ kernel + bias) over the last axis. */
#include "api/sparse/sparse.h"
#include "keras/layers/layers.h"
#include "op/calls.h"

static tw_status dense_settle(void *self, const void *given)
{
    (void)self;
    const tw_layers_dense_args *args = given;
    return args->units >= 0 ? TW_OK
                            : tw__fail(TW_VALUE_ERROR,
                                       "Received an invalid value for `units`, expected a positive integer. Received: units=%lld",
                                       (long long)args->units);
}

static tw_status dense_build(tw_layer *self, const tw_shape *input_shape)
{
    const tw_layers_dense_args *args = tw_object_config(self);
    if (!tw__dtype_is_float(self->dtype) && !tw__dtype_is_complex(self->dtype))
        return tw__fail(TW_TYPE_ERROR, "A Dense layer can only be built with a floating-point dtype. Received: dtype=%s",
                        tw_dtype_name(self->dtype));
    int64_t last = input_shape->rank > 0 ? input_shape->dims[input_shape->rank - 1] : -1;
    if (last < 0) {
        tw__owned char *shape = tw__shape_tuple(input_shape);
        return tw__fail(TW_VALUE_ERROR,
                        "The last dimension of the inputs to a Dense layer should be defined. Found None. "
                        "Full input shape received: %s",
                        shape ? shape : "");
    }
    TW_TRY(tw__layer_add_part(self, "kernel", &TW_SHAPE(last, args->units)));
    if (args->use_bias)
        TW_TRY(tw__layer_add_part(self, "bias", &TW_SHAPE(args->units)));
    self->last_axis = last;
    return TW_OK;
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
    tw_auto tw_tensor *matrix = tw__reshape(x, &flat), *product = TW_CALL(MatMul, matrix, kernel);
    return product ? tw__reshape_leading(product, x, kernel->shape.dims[1]) : NULL;
}

static tw_tensor *dense_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_dense_args *args = tw_object_config(self);
    TW_TEMPS(t);
    tw_tensor *x = tw__temp_cast(t, input, self->compute_dtype), *kernel = tw__temp(t, tw__layer_read(self, "kernel"));
    if (!x || !kernel)
        return NULL;
    tw_tensor *output = tw__temp(t, multiply(x, kernel));
    if (args->use_bias)
        output = TW_TEMP(BiasAdd, output, tw__temp(t, tw__layer_read(self, "bias")));
    return tw__activate(args->activation, output);
}

/* A sparse matrix times the kernel. */
static void *dense_sparse(tw_layer *self, void *input, int training)
{
    (void)training;
    TW_TEMPS(t);
    const tw_layers_dense_args *args = tw_object_config(self);
    const struct tw_sparse_tensor *x = input;
    if (!tw__is(input, &tw__class_sparse_tensor))
        return NULL; /* a ragged one goes by its values */
    if (x->shape.rank >= 0 && x->shape.rank != 2) {
        tw__fail(TW_VALUE_ERROR, "Dense \"%s\": the sparse input has shape %s, expected a matrix", self->name,
                 tw__shape_text(&x->shape));
        return NULL;
    }
    tw_tensor *values = tw__temp_cast(t, x->values, self->compute_dtype), *kernel = tw__temp(t, tw__layer_read(self, "kernel"));
    tw_tensor *output = values && kernel ? TW_TEMP(SparseTensorDenseMatMul, x->indices, values, x->dense_shape, kernel) : NULL;
    if (output && x->shape.rank == 2 && output->shape.dims[0] < 0)
        output = tw__temp(t, tw__reshape(output, &TW_SHAPE(x->shape.dims[0], args->units)));
    if (args->use_bias)
        output = TW_TEMP(BiasAdd, output, tw__temp(t, tw__layer_read(self, "bias")));
    return tw__activate(args->activation, output);
}

static tw_status dense_output_shape(tw_layer *self, const tw_shape *input_shape, tw_shape *output_shape)
{
    *output_shape = *input_shape;
    output_shape->dims[input_shape->rank - 1] = ((const tw_layers_dense_args *)tw_object_config(self))->units;
    return TW_OK;
}

static const tw__layer_methods dense_methods = { .supports_masking = true,
                                                 .minimum_rank = 2,
                                                 .build = dense_build,
                                                 .call = dense_call,
                                                 .output_shape = dense_output_shape,
                                                 .call_composite = dense_sparse,
                                                 .flat = true };

TW_CLASS(layers_dense,
         "keras.layers.Dense(units: int, activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS
         ", **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .settle = dense_settle, .methods = &dense_methods,
         .doc = "Fully connected layer: activation(inputs @ kernel + bias).");
