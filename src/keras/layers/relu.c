/* keras.layers.ReLU and LeakyReLU. */
#include <math.h>

#include "keras/layers/layers.h"
#include "op/calls.h"

/* ---- ReLU ---- */

static tw_status relu_settle(void *self, const void *given)
{
    const tw_layers_re_lu_args *args = given;
    const char *wrong = args->max_value < 0            ? "max_value"
                        : !(args->negative_slope >= 0) ? "negative_slope"
                        : !(args->threshold >= 0)      ? "threshold"
                                                       : NULL;
    if (!wrong)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "%s of a ReLU layer cannot be a negative value. Received: %g (layer \"%s\")", wrong,
                    *wrong == 'm'   ? args->max_value
                    : *wrong == 'n' ? args->negative_slope
                                    : args->threshold,
                    ((tw_layer *)self)->name);
}

/* x above the threshold, 0 below. */
static tw_tensor *above(tw_tensor *x, double threshold)
{
    tw_auto tw_tensor *limit = tw__grad_constant(threshold, x);
    tw_auto tw_tensor *greater = TW_CALL(Greater, x, limit);
    tw_auto tw_tensor *kept = TW_CALL(Cast, greater, TW_A_TYPE("DstT", x->dtype));
    return TW_CALL(Mul, x, kept);
}

static tw_tensor *cut(tw_tensor *x, double largest)
{
    tw_auto tw_tensor *limit = x ? tw__grad_constant(largest, x) : NULL;
    return TW_CALL(Minimum, x, limit);
}

/* y - slope * max(threshold - x, 0) */
static tw_tensor *with_slope(tw_tensor *y, tw_tensor *x, double slope, double threshold)
{
    tw_auto tw_tensor *limit = tw__grad_constant(threshold, x);
    tw_auto tw_tensor *distance = TW_CALL(Sub, limit, x);
    tw_auto tw_tensor *below = TW_CALL(Relu, distance);
    tw_auto tw_tensor *factor = tw__grad_constant(slope, x);
    tw_auto tw_tensor *part = TW_CALL(Mul, factor, below);
    return TW_CALL(Sub, y, part);
}

static tw_tensor *relu_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_re_lu_args *args = tw_object_config(self);
    if (!args)
        return TW_CALL(Relu, input);
    bool bounded = !isnan(args->max_value);
    if (args->negative_slope != 0 && !bounded && args->threshold == 0)
        return TW_CALL(LeakyRelu, input, TW_A_FLOAT("alpha", args->negative_slope));
    bool six = bounded && args->max_value == 6 && args->threshold == 0;
    tw_tensor *output = args->threshold != 0 ? above(input, args->threshold) : six ? TW_CALL(Relu6, input) : TW_CALL(Relu, input);
    if (bounded && !six) {
        tw_tensor *less = cut(output, args->max_value);
        tw_release(output);
        output = less;
    }
    if (output && args->negative_slope != 0) {
        tw_tensor *sloped = with_slope(output, input, args->negative_slope, args->threshold);
        tw_release(output);
        output = sloped;
    }
    return output;
}

/* As Keras keeps it: a float32. */
static tw_value narrow(double number)
{
    return isnan(number) ? (tw_value){ .kind = TW_VALUE_NONE } : (tw_value){ .kind = TW_VALUE_FLOAT, .f = (double)(float)number };
}

static void relu_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_re_lu_args *args = tw_object_config(self);
    tw__dict_put(dict, "max_value", narrow(args ? args->max_value : NAN));
    tw__dict_put(dict, "negative_slope", narrow(args ? args->negative_slope : 0));
    tw__dict_put(dict, "threshold", narrow(args ? args->threshold : 0));
}

static const tw__layer_methods relu_methods = { .flat = true,
                                                .supports_masking = true,
                                                .call = relu_call,
                                                .config = relu_config,
                                                .own_config = " max_value negative_slope threshold " };

TW_CLASS(layers_re_lu,
         "keras.layers.ReLU(max_value: float = None, negative_slope: float = 0.0, threshold: float = 0.0, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .settle = relu_settle, .methods = &relu_methods,
         .doc =
             "max(x, 0), with an upper bound, a slope below and a threshold if wanted.\n"
             "max_value: the greatest output; None: there is no bound\n"
             "negative_slope: the slope below the threshold\n"
             "threshold: the value below which inputs count as small\n"
             "example: tf.keras.layers.ReLU(max_value=1.0)(tf.constant([-1.0, 0.5, 2.0])).numpy().tolist()  # [0.0, 0.5, 1.0]");

/* ---- LeakyReLU ---- */

static tw_tensor *leaky_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_leaky_re_lu_args *args = tw_object_config(self);
    return TW_CALL(LeakyRelu, input, TW_A_FLOAT("alpha", args ? args->alpha : 0.3));
}

static void leaky_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_leaky_re_lu_args *args = tw_object_config(self);
    tw__dict_put(dict, "alpha", narrow(args ? args->alpha : 0));
}

static const tw__layer_methods leaky_methods = {
    .flat = true, .supports_masking = true, .call = leaky_call, .config = leaky_config, .own_config = " alpha "
};

TW_CLASS(layers_leaky_re_lu, "keras.layers.LeakyReLU(alpha: float = 0.3, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &leaky_methods,
         .doc = "x above 0, alpha * x below.\n"
                "alpha: the slope below 0");
