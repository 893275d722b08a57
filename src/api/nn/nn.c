/* tf.nn: activations, softmax, biases, dropout. */
#include <math.h>

#include "api/later.h"
#include "api/nn/nn.h"
#include "api/random/random.h"
#include "graph/graph.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

TW_API(nn_leaky_relu, "nn.leaky_relu(features: tensor|ragged, alpha: float = 0.2, name: str = None) -> tensor",
       "features above 0, alpha * features below.\n"
       "alpha: the slope below 0\n"
       "example: tf.nn.leaky_relu([-10.0, 3.0]).numpy().tolist()  # [-2.0, 3.0]")
{
    tw_attr alpha = TW_A_FLOAT("alpha", args->alpha), type = TW_A_TYPE("DstT", TW_FLOAT32);
    if (!tw__dtype_is_integer(args->features->dtype))
        return TW_CALL(LeakyRelu, args->features, alpha);
    tw_auto tw_tensor *features = TW_CALL(Cast, args->features, type);
    return TW_CALL(LeakyRelu, features, alpha);
}

/* ---- composed ---- */

/* x * number, x + number */
static tw_tensor *times(tw_tensor *x, double number)
{
    tw_auto tw_tensor *constant = x ? tw__grad_constant(number, x) : NULL;
    return TW_CALL(Mul, x, constant);
}

static tw_tensor *plus(tw_tensor *x, double number)
{
    tw_auto tw_tensor *constant = x ? tw__grad_constant(number, x) : NULL;
    return TW_CALL(AddV2, x, constant);
}

tw_tensor *tw__silu(tw_tensor *x, double beta)
{
    tw_auto tw_tensor *scaled = beta == 1 ? tw_retain(x) : times(x, beta);
    tw_auto tw_tensor *sigmoid = TW_CALL(Sigmoid, scaled);
    return TW_CALL(Mul, x, sigmoid);
}

tw_tensor *tw__gelu(tw_tensor *x, bool approximate)
{
    if (!tw__dtype_is_float(x->dtype)) {
        tw__fail(TW_VALUE_ERROR, "`features.dtype` must be a floating point tensor.Received:features.dtype=<dtype: '%s'>",
                 tw_dtype_name(x->dtype));
        return NULL;
    }
    tw__part part = tw__part_begin(NULL, "Gelu");
    tw_auto tw_tensor *half = times(x, 0.5); /* TensorFlow's other constants are floats that were cast */
    tw_auto tw_tensor *cumulated = NULL;
    if (approximate) {
        tw_auto tw_tensor *square = TW_CALL(Square, x);
        tw_auto tw_tensor *cube = TW_CALL(Mul, square, x);
        tw_auto tw_tensor *small = times(cube, (double)0.044715F);
        tw_auto tw_tensor *sum = TW_CALL(AddV2, x, small);
        tw_auto tw_tensor *inner = times(sum, 0.7978845608028654);
        cumulated = TW_CALL(Tanh, inner);
    } else {
        tw_auto tw_tensor *inner = TW_CALL(RealDiv, x, (double)1.4142135623730951F);
        cumulated = TW_CALL(Erf, inner);
    }
    tw_auto tw_tensor *above = plus(cumulated, 1);
    return tw__part_result(&part, TW_CALL(Mul, half, above));
}

TW_API(nn_silu, "nn.silu|nn.swish(features: tensor|ragged, beta: float = 1.0) -> tensor",
       "features * sigmoid(beta * features).\n"
       "beta: the factor inside of the sigmoid\n"
       "example: tf.nn.silu([0.0]).numpy().tolist()  # [0.0]")
{
    return tw__silu(args->features, args->beta);
}

TW_API(nn_gelu, "nn.gelu(features: tensor|ragged, approximate: bool = False, name: str = None) -> tensor",
       "features times the probability that a normal value lies below it.\n"
       "approximate: True: compute it with tanh, which is faster and a little off")
{
    return tw__gelu(args->features, args->approximate);
}

/* ---- softmax ---- */

tw_tensor *tw__swap_with_last(tw_tensor *x, int64_t axis)
{
    int64_t order[TW_MAX_RANK];
    int rank = x->shape.rank;
    for (int i = 0; i < rank; i++)
        order[i] = i;
    order[axis] = rank - 1;
    order[rank - 1] = axis;
    tw_auto tw_tensor *permutation = tw__ints_tensor(order, rank, TW_INT32);
    return TW_CALL(Transpose, x, permutation);
}

tw_tensor *tw__softmax_along(const tw_op *op, tw_tensor *logits, int64_t axis)
{
    int rank = logits->shape.rank, normal;
    if (axis == -1 || (rank >= 0 && axis == rank - 1))
        return tw__call(op, TW_IN(logits), 1, NULL, 0);
    if (rank < 0) {
        tw_auto tw_tensor *turned = tw__swap_axes_later(logits, axis, -1),
                          *made = turned ? tw__call(op, TW_IN(turned), 1, NULL, 0) : NULL;
        return made ? tw__swap_axes_later(made, axis, -1) : NULL;
    }
    if (!tw__axis_normal(axis, rank, &normal)) {
        tw__fail(TW_INVALID_ARGUMENT,
                 "`dim` must be in the range [%d, %d) where %d is the number of dimensions in the input. Received: dim=%lld",
                 -rank, rank, rank, (long long)axis);
        return NULL;
    }
    tw_auto tw_tensor *swapped = tw__swap_with_last(logits, normal);
    tw_auto tw_tensor *result = tw__call(op, TW_IN(swapped), 1, NULL, 0);
    return result ? tw__swap_with_last(result, normal) : NULL;
}

TW_API(nn_softmax, "nn.softmax|math.softmax(logits: tensor, axis: int = None, name: str = None) -> tensor",
       "exp(logits) / sum(exp(logits)) along an axis.\n"
       "example: tf.nn.softmax([1.0, 1.0]).numpy().tolist()  # [0.5, 0.5]")
{
    return tw__softmax_along(&tw__op_Softmax, args->logits, args->axis == TW_NO_INT ? -1 : args->axis);
}

TW_API(nn_log_softmax, "nn.log_softmax|math.log_softmax(logits: tensor, axis: int = None, name: str = None) -> tensor",
       "logits - log(sum(exp(logits))) along an axis.")
{
    return tw__softmax_along(&tw__op_LogSoftmax, args->logits, args->axis == TW_NO_INT ? -1 : args->axis);
}

/* ---- biases ---- */

TW_API(nn_bias_add, "nn.bias_add(value: tensor<T>, bias: tensor<T>, data_format: str = None, name: str = None) -> tensor",
       "value + bias, the bias being a number per channel: the last dimension, or with NC… the second.\n"
       "bias: a vector with a number for each channel\n"
       "raises: InvalidArgumentError: the bias is no vector, or its length is not the number of channels\n"
       "example: tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]).numpy().tolist()  # [[11.0, 22.0], [13.0, 24.0]]")
{
    const char *format = args->data_format;
    size_t size = format ? strlen(format) : 0;
    bool second = size >= 2 && strncmp(format, "NC", 2) == 0, last = size >= 2 && format[0] == 'N' && format[size - 1] == 'C';
    if (format && !second && !last) {
        tw__fail(TW_VALUE_ERROR, "`data_format` must be of the form `N...C` or `NC...`. Received: data_format=%s", format);
        return NULL;
    }
    return TW_CALL(BiasAdd, args->value, args->bias, TW_A_STRING("data_format", second ? "NCHW" : "NHWC"));
}

/* ---- dropout ---- */

tw_tensor *tw__noise_dims(tw_tensor *x, const tw_shape *noise_shape)
{
    tw_shape shape = noise_shape && noise_shape->rank >= 0 ? *noise_shape : x->shape;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dims[i] < 0 && shape.rank == x->shape.rank)
            shape.dims[i] = x->shape.dims[i];
    }
    if (tw__shape_known(&shape))
        return tw__tensor_of_shape(&shape, TW_INT32);
    tw_tensor *whole = TW_CALL(Shape, x);
    if (!noise_shape || noise_shape->rank < 0 || !whole)
        return whole;
    tw_auto tw_tensor *own = whole;
    tw_auto tw_tensor *given = tw__tensor_of_shape(&shape, TW_INT32);
    tw_auto tw_tensor *missing = TW_CALL(Less, given, 0);
    return TW_CALL(SelectV2, missing, own, given);
}

/* Dropped or not, it has the shape that it had. */
static tw_tensor *shaped_like(tw_tensor *dropped, const tw_tensor *x)
{
    if (dropped && dropped->node && tw__shape_compatible(&dropped->shape, &x->shape) &&
        tw__symbolic_refine(dropped, &x->shape) != TW_OK) {
        tw_release(dropped);
        return NULL;
    }
    return dropped;
}

/* The same in a lasting graph, node by node as TensorFlow makes them. */
static tw_tensor *dropout_in_graph(tw_tensor *x, double rate, const tw_shape *noise_shape, int64_t seed, const char *name)
{
    tw__part part = tw__part_begin(name, "dropout");
    tw_auto tw_tensor *factor = tw__grad_constant(1 / (1 - rate), x), *factor_node = tw__part_constant(&part, factor, "Const");
    tw_auto tw_tensor *scaled = factor_node ? tw__part_call(&part, "Mul", &tw__op_Mul, TW_IN(x, factor_node), 2, NULL, 0) : NULL;
    tw_auto tw_tensor *dims = scaled ? tw__noise_dims(x, noise_shape) : NULL,
                      *dims_node = tw__part_constant(&part, dims, "Shape");
    tw_auto tw_tensor *uniform = dims_node ? tw_random_uniform(dims_node, .dtype = x->dtype, .seed = seed) : NULL;
    tw_auto tw_tensor *limit = tw__grad_constant(rate, x);
    tw_auto tw_tensor *keep = TW_CALL(GreaterEqual, uniform, limit);
    tw_auto tw_tensor *zero = tw__grad_constant(0, x), *zero_node = keep ? tw__part_constant(&part, zero, "Const") : NULL;
    return shaped_like(tw__part_result(&part, TW_CALL(SelectV2, keep, scaled, zero_node)), x);
}

tw_tensor *tw__dropout(tw_tensor *x, double rate, const tw_shape *noise_shape, int64_t seed, const char *name)
{
    if (!(rate >= 0 && rate < 1)) {
        tw__fail(TW_VALUE_ERROR, "`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=%g", rate);
        return NULL;
    }
    if (!tw__dtype_is_float(x->dtype)) {
        tw__fail(TW_VALUE_ERROR,
                 "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype=<dtype: '%s'>",
                 tw_dtype_name(x->dtype));
        return NULL;
    }
    if (rate == 0) {
        bool refused = tw__seed_pair(seed).refused; /* a seed is drawn nevertheless */
        return refused ? NULL : tw_retain(x);
    }
    if (tw__in_graph())
        return dropout_in_graph(x, rate, noise_shape, seed, name);
    tw_auto tw_tensor *dims = tw__noise_dims(x, noise_shape);
    if (!dims)
        return NULL;
    tw_auto tw_tensor *uniform = tw__random_uniform(dims, x->dtype, tw__seed_pair(seed));
    tw_auto tw_tensor *limit = tw__grad_constant(rate, x);
    tw_auto tw_tensor *keep = TW_CALL(GreaterEqual, uniform, limit);
    tw_auto tw_tensor *scaled = times(x, 1 / (1 - rate));
    tw_auto tw_tensor *zero = tw__grad_constant(0, x);
    return shaped_like(TW_CALL(SelectV2, keep, scaled, zero), x);
}

TW_API(nn_dropout,
       "nn.dropout(x: tensor|ragged, rate: float, noise_shape: shape = None, seed: int = None, name: str = None) -> tensor",
       "Sets elements to 0 with the probability rate and scales the others up, so that the sum stays the same on average.")
{
    return tw__dropout(args->x, args->rate, &args->noise_shape, args->seed, args->name);
}
