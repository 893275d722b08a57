/* Activation functions and their gradient ops. Which value a gradient op takes beside the gradients differs: the features, or
 * for Elu and Selu the outputs. */
#include "kernel/nn.h"
#include "op/calls.h"
#include "rows.h"

static tw_status same_shapes(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (!tw__shape_compatible(a, b))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s != input 1: %s",
                        inference->op->name, inference->op->name, tw__shape_text(a), tw__shape_text(b));
    inference->out_shapes[0] = tw__shape_known(a) ? *a : *b;
    return TW_OK;
}

/* The gradient by input `index`; OK unless it is NULL. */
static tw_status give(tw__gradient *gradient, int index, tw_tensor *value)
{
    gradient->input_grads[index] = value;
    return value ? TW_OK : tw__error_status();
}

/* ---- first order: the gradient op of the features or of the outputs ---- */

#define FROM_FEATURES(name, Op)                                                                      \
    static tw_status name##_gradient(tw__gradient *gradient)                                         \
    {                                                                                                \
        return give(gradient, 0, TW_CALL(Op##Grad, gradient->output_grads[0], gradient->inputs[0])); \
    }
#define FROM_OUTPUTS(name, Op)                                                                        \
    static tw_status name##_gradient(tw__gradient *gradient)                                          \
    {                                                                                                 \
        return give(gradient, 0, TW_CALL(Op##Grad, gradient->output_grads[0], gradient->outputs[0])); \
    }
FROM_OUTPUTS(relu, Relu)
FROM_OUTPUTS(relu6, Relu6)
FROM_OUTPUTS(elu, Elu)
FROM_OUTPUTS(selu, Selu)
FROM_FEATURES(softplus, Softplus)
FROM_FEATURES(softsign, Softsign)

/* ---- second order ---- */

/* Linear in the gradients, flat in the features. */
static tw_status relu_grad_gradient(tw__gradient *gradient)
{
    if (gradient->wanted[0])
        TW_TRY(give(gradient, 0, tw__call(gradient->op, TW_IN(gradient->output_grads[0], gradient->inputs[1]), 2, NULL, 0)));
    return gradient->wanted[1] ? give(gradient, 1, TW_CALL(ZerosLike, gradient->inputs[1])) : TW_OK;
}

/* By the outputs: the gradients where the output is negative. */
static tw_status elu_grad_gradient(tw__gradient *gradient)
{
    tw_tensor *grad = gradient->output_grads[0], *outputs = gradient->inputs[1];
    if (gradient->wanted[0])
        TW_TRY(give(gradient, 0, tw__call(gradient->op, TW_IN(grad, outputs), 2, NULL, 0)));
    if (!gradient->wanted[1])
        return TW_OK;
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, outputs);
    tw_auto tw_tensor *negative = TW_CALL(Less, outputs, zeros);
    tw_auto tw_tensor *product = TW_CALL(Mul, grad, gradient->inputs[0]);
    return give(gradient, 1, TW_CALL(SelectV2, negative, product, zeros));
}

static tw_status softplus_grad_gradient(tw__gradient *gradient)
{
    tw_tensor *grad = gradient->output_grads[0], *x = gradient->inputs[1];
    if (gradient->wanted[0])
        TW_TRY(give(gradient, 0, TW_CALL(SoftplusGrad, grad, x)));
    if (!gradient->wanted[1])
        return TW_OK;
    /* grad * dy * sigmoid(x) * sigmoid(-x) */
    tw_auto tw_tensor *product = TW_CALL(Mul, grad, gradient->inputs[0]);
    tw_auto tw_tensor *minus = TW_CALL(Neg, x);
    tw_auto tw_tensor *right = TW_CALL(Sigmoid, x);
    tw_auto tw_tensor *left = TW_CALL(Sigmoid, minus);
    tw_auto tw_tensor *slope = TW_CALL(Mul, left, right);
    return give(gradient, 1, TW_CALL(Mul, product, slope));
}

#define NUMBERS "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define REALS "T: {half, bfloat16, float, double}"

TW_OP(Relu, .inputs = "features: T", .outputs = "activations: T", .attrs = "T: {" NUMBERS ", qint8}", .shape = tw_shape_same,
      .compute = tw__unary_compute, .unary = &tw__unary_relu, .gradient = relu_gradient, .activates = true,
      .function = "nn.relu(features: tensor|ragged, name: str = None) -> tensor",
      .doc = "max(features, 0).\n"
             "example: tf.nn.relu([-1.0, 2.0]).numpy().tolist()  # [0.0, 2.0]");

TW_OP(ReluGrad, .inputs = "gradients: T, features: T", .outputs = "backprops: T", .attrs = "T: {" NUMBERS "}",
      .shape = same_shapes, .compute = tw__binary_compute, .binary = &tw__binary_relu_grad, .gradient = relu_grad_gradient,
      .doc = "gradients where features > 0, else 0. Features may be Relu's inputs or outputs.");

TW_OP(Relu6, .inputs = "features: T", .outputs = "activations: T", .attrs = "T: {" NUMBERS "}", .shape = tw_shape_same,
      .compute = tw__unary_compute, .unary = &tw__unary_relu6, .gradient = relu6_gradient, .scope = TW_SCOPE_ALWAYS,
      .activates = true, .function = "nn.relu6(features: tensor|ragged, name: str = None) -> tensor",
      .doc = "min(max(features, 0), 6).\n"
             "example: tf.nn.relu6([-1.0, 9.0]).numpy().tolist()  # [0.0, 6.0]");

TW_OP(Relu6Grad, .inputs = "gradients: T, features: T", .outputs = "backprops: T", .attrs = "T: {" NUMBERS "}",
      .shape = same_shapes, .compute = tw__binary_compute, .binary = &tw__binary_relu6_grad, .gradient = relu_grad_gradient,
      .doc = "gradients where 0 < features < 6, else 0.");

TW_OP(Elu, .inputs = "features: T", .outputs = "activations: T", .attrs = REALS, .shape = tw_shape_same,
      .compute = tw__unary_compute, .unary = &tw__unary_elu, .gradient = elu_gradient, .activates = true,
      .function = "nn.elu(features: tensor|ragged, name: str = None) -> tensor",
      .doc = "exp(features) - 1 below 0, features above.");

TW_OP(EluGrad, .inputs = "gradients: T, outputs: T", .outputs = "backprops: T", .attrs = REALS, .shape = same_shapes,
      .compute = tw__binary_compute, .binary = &tw__binary_elu_grad, .gradient = elu_grad_gradient,
      .doc = "gradients * (outputs + 1) where outputs < 0, else gradients.");

TW_OP(Selu, .inputs = "features: T", .outputs = "activations: T", .attrs = REALS, .shape = tw_shape_same,
      .compute = tw__unary_compute, .unary = &tw__unary_selu, .gradient = selu_gradient, .activates = true,
      .function = "nn.selu(features: tensor|ragged, name: str = None) -> tensor",
      .doc = "scale * alpha * (exp(features) - 1) below 0, scale * features above.");

TW_OP(SeluGrad, .inputs = "gradients: T, outputs: T", .outputs = "backprops: T", .attrs = REALS, .shape = same_shapes,
      .compute = tw__binary_compute, .binary = &tw__binary_selu_grad, .gradient = elu_grad_gradient,
      .doc = "gradients * (outputs + scale * alpha) where outputs < 0, else gradients * scale.");

TW_OP(Softplus, .inputs = "features: T", .outputs = "activations: T", .attrs = REALS, .shape = tw_shape_same,
      .compute = tw__unary_compute, .unary = &tw__unary_softplus, .gradient = softplus_gradient, .activates = true,
      .function = "nn.softplus|math.softplus(features: tensor|ragged, name: str = None) -> tensor",
      .doc = "log(exp(features) + 1).");

TW_OP(SoftplusGrad, .inputs = "gradients: T, features: T", .outputs = "backprops: T", .attrs = REALS, .shape = same_shapes,
      .compute = tw__binary_compute, .binary = &tw__binary_softplus_grad, .gradient = softplus_grad_gradient,
      .doc = "gradients / (1 + exp(-features)).");

TW_OP(Softsign, .inputs = "features: T", .outputs = "activations: T", .attrs = REALS, .shape = tw_shape_same,
      .compute = tw__unary_compute, .unary = &tw__unary_softsign, .gradient = softsign_gradient, .activates = true,
      .function = "nn.softsign|math.softsign(features: tensor|ragged, name: str = None) -> tensor",
      .doc = "features / (abs(features) + 1).");

TW_OP(SoftsignGrad, .inputs = "gradients: T, features: T", .outputs = "backprops: T", .attrs = REALS, .shape = same_shapes,
      .compute = tw__binary_compute, .binary = &tw__binary_softsign_grad, .no_gradient = true,
      .doc = "gradients / (1 + abs(features)) ** 2.");

/* ---- LeakyRelu ---- */

/* An attr is a float, also for doubles. */
static tw_status leaky_relu_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    tw__leaky_relu(x->dtype, (float)TW_ATTR(kernel, "alpha")->f, x->data, kernel->outputs[0]->data, x->count);
    return TW_OK;
}

static tw_status leaky_relu_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *gradients = kernel->inputs[0];
    tw__leaky_relu_grad(gradients->dtype, (float)TW_ATTR(kernel, "alpha")->f, gradients->data, kernel->inputs[1]->data,
                        kernel->outputs[0]->data, gradients->count);
    return TW_OK;
}

static tw_tensor *leaky_relu_grad(tw__gradient *gradient, tw_tensor *gradients, tw_tensor *features)
{
    return TW_CALL(LeakyReluGrad, gradients, features, TW_A_FLOAT("alpha", TW_ATTR(gradient, "alpha")->f));
}

static tw_status leaky_relu_gradient(tw__gradient *gradient)
{
    return give(gradient, 0, leaky_relu_grad(gradient, gradient->output_grads[0], gradient->inputs[0]));
}

static tw_status leaky_relu_grad_gradient(tw__gradient *gradient)
{
    if (gradient->wanted[0])
        TW_TRY(give(gradient, 0, leaky_relu_grad(gradient, gradient->output_grads[0], gradient->inputs[1])));
    return gradient->wanted[1] ? give(gradient, 1, TW_CALL(ZerosLike, gradient->inputs[1])) : TW_OK;
}

TW_OP(LeakyRelu, .inputs = "features: T", .outputs = "activations: T",
      .attrs = "alpha: float = 0.2, T: {half, bfloat16, float, double} = float", .shape = tw_shape_same,
      .compute = leaky_relu_compute, .gradient = leaky_relu_gradient, .scope = TW_SCOPE_ALWAYS,
      .doc = "features above 0, alpha * features below.");

TW_OP(LeakyReluGrad, .inputs = "gradients: T, features: T", .outputs = "backprops: T",
      .attrs = "alpha: float = 0.2, T: {half, bfloat16, float, double} = float", .shape = same_shapes,
      .compute = leaky_relu_grad_compute, .gradient = leaky_relu_grad_gradient,
      .doc = "gradients where features > 0, else alpha * gradients.");
