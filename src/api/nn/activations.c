/* keras.activations: functions of one tensor that layers take by name. */
#include <math.h>

#include "api/nn/nn.h"
#include "device/pjrt.h"
#include "op/calls.h"
#include "rows.h"

/* Keras's relu: x from max_value on is max_value, below the threshold alpha * (x - threshold). */
static tw_tensor *relu(tw_tensor *x, double alpha, double max_value, double threshold)
{
    bool clip = !isnan(max_value);
    if (alpha != 0 && !clip && threshold == 0)
        return TW_CALL(LeakyRelu, x, TW_A_FLOAT("alpha", alpha));
    tw_auto tw_tensor *limit = tw__grad_constant(threshold, x);
    tw_auto tw_tensor *negative = NULL;
    if (alpha != 0) { /* relu(threshold - x), or relu(-x) */
        tw_auto tw_tensor *below = TW_CALL(Sub, limit, x);
        negative = TW_CALL(Relu, below);
    }
    tw_auto tw_tensor *result = NULL;
    if (threshold != 0) {
        tw_auto tw_tensor *above = TW_CALL(Greater, x, limit);
        tw_auto tw_tensor *mask = TW_CALL(Cast, above, TW_A_TYPE("DstT", x->dtype));
        result = TW_CALL(Mul, x, mask);
    } else if (clip && max_value == 6) {
        result = TW_CALL(Relu6, x);
        clip = false;
    } else {
        result = TW_CALL(Relu, x);
    }
    if (clip && result) {
        tw_auto tw_tensor *zero = tw__grad_constant(0, x);
        tw_auto tw_tensor *most = tw__grad_constant(max_value, x);
        tw_tensor *clipped = TW_CALL(ClipByValue, result, zero, most);
        tw_release(result);
        result = clipped;
    }
    if (alpha == 0)
        return tw_retain(result);
    tw_auto tw_tensor *slope = tw__grad_constant(alpha, x);
    tw_auto tw_tensor *part = TW_CALL(Mul, slope, negative);
    return TW_CALL(Sub, result, part);
}

TW_API(
    activations_relu,
    "keras.activations.relu(x: tensor, alpha: float = 0.0, max_value: float = None, threshold: float = 0.0) -> tensor",
    "max(x, 0), with a slope below the threshold and a highest value if they are given.\n"
    "alpha: the slope below `threshold`\n"
    "max_value: the highest result; None: no bound\n"
    "threshold: from which value on inputs pass unchanged\n"
    "example: tf.keras.activations.relu(tf.constant([-2.0, 1.0, 7.0]), alpha=0.5, max_value=6.0).numpy().tolist()  # [-1.0, 1.0, 6.0]")
{
    if (args->alpha == 0 && isnan(args->max_value) && args->threshold == 0)
        return TW_CALL(Relu, args->x);
    return relu(args->x, args->alpha, args->max_value, args->threshold);
}

/* Keras's cross-entropies work on what went into these two, if they can. */
static tw_tensor *keep_logits(tw_tensor *output, tw_tensor *logits)
{
    if (output && (!output->object.config || tw__is(output->object.config, &tw__remote_class))) {
        tw_release(output->object.config);
        output->object.config = tw_retain(logits);
    }
    return output;
}

TW_API(activations_softmax, "keras.activations.softmax(x: tensor, axis: int = -1) -> tensor",
       "exp(x) / sum(exp(x)) along an axis.")
{
    if (args->x->shape.rank == 0 || args->x->shape.rank == 1) {
        tw__fail(TW_VALUE_ERROR, "Cannot apply softmax to a tensor that is 1D. Received input of shape %s",
                 tw__shape_text(&args->x->shape));
        return NULL;
    }
    return keep_logits(tw__softmax_along(&tw__op_Softmax, args->x, args->axis), args->x);
}

TW_API(activations_sigmoid, "keras.activations.sigmoid(x: tensor) -> tensor", "1 / (1 + exp(-x)).")
{
    return keep_logits(TW_CALL(Sigmoid, args->x), args->x);
}

TW_API(activations_tanh, "keras.activations.tanh(x: tensor) -> tensor", "The hyperbolic tangent.")
{
    return TW_CALL(Tanh, args->x);
}

TW_API(activations_linear, "keras.activations.linear(x: tensor) -> tensor", "x itself.")
{
    return tw_retain(args->x);
}

TW_API(activations_elu, "keras.activations.elu(x: tensor, alpha: float = 1.0) -> tensor",
       "alpha * (exp(x) - 1) below 0, x above.\n"
       "alpha: minus the limit that results have far below 0")
{
    if (args->alpha == 1)
        return TW_CALL(Elu, args->x);
    tw_auto tw_tensor *elu = TW_CALL(Elu, args->x);
    tw_auto tw_tensor *positive = TW_CALL(Greater, args->x, 0.0);
    tw_auto tw_tensor *alpha = tw__grad_constant(args->alpha, args->x);
    tw_auto tw_tensor *scaled = TW_CALL(Mul, alpha, elu);
    return TW_CALL(SelectV2, positive, elu, scaled);
}

TW_API(activations_selu, "keras.activations.selu(x: tensor) -> tensor", "scale * alpha * (exp(x) - 1) below 0, scale * x above.")
{
    return TW_CALL(Selu, args->x);
}

TW_API(activations_softplus, "keras.activations.softplus(x: tensor) -> tensor", "log(exp(x) + 1).")
{
    return TW_CALL(Softplus, args->x);
}

TW_API(activations_softsign, "keras.activations.softsign(x: tensor) -> tensor", "x / (abs(x) + 1).")
{
    return TW_CALL(Softsign, args->x);
}

TW_API(activations_swish, "keras.activations.swish(x: tensor) -> tensor", "x * sigmoid(x).")
{
    return tw__silu(args->x, 1);
}

TW_API(activations_gelu, "keras.activations.gelu(x: tensor, approximate: bool = False) -> tensor",
       "x times the probability that a normal value lies below it.\n"
       "approximate: True: compute it with tanh, which is faster and a little off")
{
    return tw__gelu(args->x, args->approximate);
}

TW_API(activations_exponential, "keras.activations.exponential(x: tensor) -> tensor", "exp(x).")
{
    return TW_CALL(Exp, args->x);
}

TW_API(activations_hard_sigmoid, "keras.activations.hard_sigmoid(x: tensor) -> tensor", "0.2 * x + 0.5, cut to [0, 1].")
{
    tw_auto tw_tensor *product = TW_CALL(Mul, 0.2, args->x);
    tw_auto tw_tensor *line = TW_CALL(AddV2, product, 0.5);
    tw_auto tw_tensor *zero = tw__grad_constant(0, args->x);
    tw_auto tw_tensor *one = tw__grad_constant(1, args->x);
    return TW_CALL(ClipByValue, line, zero, one);
}

TW_API(activations_mish, "keras.activations.mish(x: tensor) -> tensor", "x * tanh(softplus(x)).")
{
    tw_auto tw_tensor *softplus = TW_CALL(Softplus, args->x);
    tw_auto tw_tensor *tanh = TW_CALL(Tanh, softplus);
    return TW_CALL(Mul, args->x, tanh);
}
