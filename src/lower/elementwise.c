/* Lowerings of elementwise ops: arithmetic, comparisons, activations and their gradients. */
#include "lower/words.h"

static bool unary(tw__lowering *l)
{
    return GIVE(UNARY(l->argument, X));
}

static bool chlo(tw__lowering *l)
{
    return !tw__dtype_is_complex(X.dtype) && GIVE(tw__hlo_chlo(l, l->argument, X));
}

static bool binary(tw__lowering *l)
{
    return GIVE(BINARY(l->argument, X, Y));
}

/* NaN wins, whichever side it is on. */
static bool extreme(tw__lowering *l)
{
    tw__hlo value = BINARY(l->argument, X, Y);
    if (tw__dtype_is_float(X.dtype)) {
        value = tw__hlo_select(l, tw__hlo_compare(l, "NE", Y, Y), Y, value);
        value = tw__hlo_select(l, tw__hlo_compare(l, "NE", X, X), X, value);
    }
    return GIVE(value);
}

static bool compare(tw__lowering *l)
{
    return GIVE(tw__hlo_compare(l, l->argument, X, Y));
}

static bool forward(tw__lowering *l)
{
    for (int i = 0; i < l->output_count; i++) {
        if (l->inputs[i].id < 0 || !tw__lower_give(l, i, l->inputs[i]))
            return false;
    }
    return true;
}

/* Integers to negative powers are an error, which only the host tells. */
static bool power(tw__lowering *l)
{
    return !tw__dtype_is_integer(X.dtype) && GIVE(BINARY("power", X, Y));
}

static bool divide_no_nan(tw__lowering *l)
{
    tw__hlo zero = tw__hlo_constant(l, X.dtype, &TW_SCALAR, 0);
    return !tw__dtype_is_integer(X.dtype) &&
           GIVE(tw__hlo_select(l, tw__hlo_compare(l, "EQ", Y, zero), zero, BINARY(l->argument, X, Y)));
}

static bool square(tw__lowering *l)
{
    return GIVE(BINARY("multiply", X, X));
}

static bool squared_difference(tw__lowering *l)
{
    tw__hlo difference = BINARY("subtract", X, Y);
    return !tw__dtype_is_complex(X.dtype) && GIVE(BINARY("multiply", difference, difference));
}

static bool reciprocal(tw__lowering *l)
{
    return !tw__dtype_is_integer(X.dtype) && GIVE(BINARY("divide", FILL(1), X));
}

static bool is_nan(tw__lowering *l)
{
    return tw__dtype_is_float(X.dtype) && GIVE(tw__hlo_compare(l, "NE", X, X));
}

static bool is_inf(tw__lowering *l)
{
    return tw__dtype_is_float(X.dtype) && GIVE(tw__hlo_compare(l, "EQ", UNARY("abs", X), tw__hlo_infinity(l, X.dtype, false)));
}

static bool is_finite(tw__lowering *l)
{
    tw__hlo infinity = tw__hlo_infinity(l, X.dtype, false);
    return tw__dtype_is_float(X.dtype) && GIVE(tw__hlo_compare(l, "LT", UNARY("abs", X), infinity));
}

static bool select_one(tw__lowering *l)
{
    return l->inputs[0].shape.rank <= l->outputs[0].shape.rank && GIVE(tw__hlo_select(l, X, Y, l->inputs[2]));
}

/* The old Select: a vector of conditions chooses rows. */
static bool select_rows(tw__lowering *l)
{
    tw__hlo condition = X;
    if (condition.shape.rank == 1 && Y.shape.rank > 1)
        condition = tw__hlo_broadcast_in(l, condition, &Y.shape, (int[]){ 0 });
    return GIVE(tw__hlo_select(l, condition, Y, l->inputs[2]));
}

static bool add_many(tw__lowering *l)
{
    tw__hlo sum = X;
    for (int i = 1; i < l->input_count; i++)
        sum = BINARY("add", sum, l->inputs[i]);
    return GIVE(sum);
}

static bool zeros_like(tw__lowering *l)
{
    return GIVE(FILL(l->argument ? 1 : 0));
}

/* ---- activations ---- */

static bool relu(tw__lowering *l)
{
    return GIVE(BINARY("maximum", X, FILL(0)));
}

static bool relu6(tw__lowering *l)
{
    return GIVE(BINARY("minimum", BINARY("maximum", X, FILL(0)), FILL(6)));
}

static bool relu_gradient(tw__lowering *l)
{
    return GIVE(tw__hlo_select(l, tw__hlo_compare(l, "GT", Y, FILL(0)), X, FILL(0)));
}

static bool relu6_gradient(tw__lowering *l)
{
    tw__hlo inside = BINARY("and", tw__hlo_compare(l, "GT", Y, FILL(0)), tw__hlo_compare(l, "LT", Y, FILL(6)));
    return GIVE(tw__hlo_select(l, inside, X, FILL(0)));
}

static bool leaky(tw__lowering *l)
{
    double slope = (float)TW_ATTR(l, "alpha")->f;
    tw__hlo positive = tw__hlo_compare(l, "GT", l->argument ? Y : X, FILL(0));
    return GIVE(tw__hlo_select(l, positive, X, BINARY("multiply", X, FILL(slope))));
}

static bool elu(tw__lowering *l)
{
    return GIVE(tw__hlo_select(l, tw__hlo_compare(l, "LT", X, FILL(0)), UNARY("exponential_minus_one", X), X));
}

/* The second operand is the output. */
static bool elu_gradient(tw__lowering *l)
{
    tw__hlo slope = BINARY("add", Y, FILL(1));
    return GIVE(tw__hlo_select(l, tw__hlo_compare(l, "LT", Y, FILL(0)), BINARY("multiply", X, slope), X));
}

static const double selu_scale = 1.0507009873554804934193349852946, selu_alpha = 1.7580993408473768599402175208123;

static bool selu(tw__lowering *l)
{
    tw__hlo below = BINARY("multiply", UNARY("exponential_minus_one", X), FILL(selu_alpha));
    return GIVE(tw__hlo_select(l, tw__hlo_compare(l, "LT", X, FILL(0)), below, BINARY("multiply", X, FILL(selu_scale))));
}

static bool selu_gradient(tw__lowering *l)
{
    tw__hlo slope = tw__hlo_select(l, tw__hlo_compare(l, "LT", Y, FILL(0)), BINARY("add", Y, FILL(selu_alpha)), FILL(selu_scale));
    return GIVE(BINARY("multiply", X, slope));
}

static bool softplus(tw__lowering *l)
{
    tw__hlo tail = UNARY("log_plus_one", UNARY("exponential", UNARY("negate", UNARY("abs", X))));
    return GIVE(BINARY("add", BINARY("maximum", X, FILL(0)), tail));
}

static bool softplus_gradient(tw__lowering *l)
{
    return GIVE(BINARY("multiply", X, UNARY("logistic", Y)));
}

static bool softsign(tw__lowering *l)
{
    return GIVE(BINARY("divide", X, BINARY("add", FILL(1), UNARY("abs", X))));
}

static bool softsign_gradient(tw__lowering *l)
{
    tw__hlo below = BINARY("add", FILL(1), UNARY("abs", Y));
    return GIVE(BINARY("divide", X, BINARY("multiply", below, below)));
}

/* Gradients by the output y and the incoming dy: SigmoidGrad(y, dy) and its kin. */
static bool sigmoid_gradient(tw__lowering *l)
{
    return !tw__dtype_is_complex(X.dtype) && GIVE(BINARY("multiply", BINARY("multiply", Y, X), BINARY("subtract", FILL(1), X)));
}

static bool tanh_gradient(tw__lowering *l)
{
    return !tw__dtype_is_complex(X.dtype) && GIVE(BINARY("multiply", Y, BINARY("subtract", FILL(1), BINARY("multiply", X, X))));
}

/* A gradient of zero stays zero whatever it is multiplied by. */
static bool give_unless_zero(tw__lowering *l, tw__hlo value)
{
    tw__hlo zero = FILL(0);
    return !tw__dtype_is_complex(X.dtype) && GIVE(tw__hlo_select(l, tw__hlo_compare(l, "EQ", Y, zero), zero, value));
}

static bool sqrt_gradient(tw__lowering *l)
{
    return give_unless_zero(l, BINARY("divide", BINARY("multiply", Y, FILL(0.5)), X));
}

static bool rsqrt_gradient(tw__lowering *l)
{
    tw__hlo cube = BINARY("multiply", X, BINARY("multiply", X, X));
    return give_unless_zero(l, BINARY("multiply", BINARY("multiply", Y, FILL(-0.5)), cube));
}

static bool reciprocal_gradient(tw__lowering *l)
{
    return give_unless_zero(l, BINARY("multiply", UNARY("negate", Y), BINARY("multiply", X, X)));
}

static bool clip(tw__lowering *l)
{
    return GIVE(BINARY("maximum", BINARY("minimum", X, l->inputs[2]), Y));
}

static bool atan_one(tw__lowering *l)
{
    return tw__dtype_is_float(X.dtype) && GIVE(BINARY("atan2", X, FILL(1)));
}

static bool times_or_zero(tw__lowering *l) /* Xlogy, Xdivy, Xlog1py */
{
    tw__hlo zero = tw__hlo_constant(l, X.dtype, &TW_SCALAR, 0);
    tw__hlo value = strcmp(l->argument, "divide") == 0 ? BINARY("divide", X, Y) : BINARY("multiply", X, UNARY(l->argument, Y));
    return !tw__dtype_is_complex(X.dtype) && GIVE(tw__hlo_select(l, tw__hlo_compare(l, "EQ", X, zero), zero, value));
}

const tw__lower_row tw__lower_elementwise[] = {
    { "Abs", unary, "abs" },
    { "Neg", unary, "negate" },
    { "Exp", unary, "exponential" },
    { "Expm1", unary, "exponential_minus_one" },
    { "Log", unary, "log" },
    { "Log1p", unary, "log_plus_one" },
    { "Sqrt", unary, "sqrt" },
    { "Rsqrt", unary, "rsqrt" },
    { "Tanh", unary, "tanh" },
    { "Sigmoid", unary, "logistic" },
    { "Sin", unary, "sine" },
    { "Cos", unary, "cosine" },
    { "Tan", unary, "tan" },
    { "Floor", unary, "floor" },
    { "Ceil", unary, "ceil" },
    { "Round", unary, "round_nearest_even" },
    { "Rint", unary, "round_nearest_even" },
    { "Sign", unary, "sign" },
    { "LogicalNot", unary, "not" },
    { "Invert", unary, "not" },
    { "Erf", chlo, "erf" },
    { "Erfc", chlo, "erfc" },
    { "Lgamma", chlo, "lgamma" },
    { "Digamma", chlo, "digamma" },
    { "Erfinv", chlo, "erf_inv" },
    { "Asin", chlo, "asin" },
    { "Acos", chlo, "acos" },
    { "Sinh", chlo, "sinh" },
    { "Cosh", chlo, "cosh" },
    { "Asinh", chlo, "asinh" },
    { "Acosh", chlo, "acosh" },
    { "BesselI1e", chlo, "bessel_i1e" },
    { "Atanh", chlo, "atanh" },
    { "Atan", atan_one, NULL },
    { "AddV2", binary, "add" },
    { "Add", binary, "add" },
    { "Sub", binary, "subtract" },
    { "Mul", binary, "multiply" },
    { "Maximum", extreme, "maximum" },
    { "Minimum", extreme, "minimum" },
    { "Pow", power, NULL },
    { "Atan2", binary, "atan2" },
    { "LogicalAnd", binary, "and" },
    { "LogicalOr", binary, "or" },
    { "BitwiseAnd", binary, "and" },
    { "BitwiseOr", binary, "or" },
    { "BitwiseXor", binary, "xor" },
    { "DivNoNan", divide_no_nan, "divide" },
    { "MulNoNan", divide_no_nan, "multiply" },
    { "Equal", compare, "EQ" },
    { "NotEqual", compare, "NE" },
    { "Less", compare, "LT" },
    { "LessEqual", compare, "LE" },
    { "Greater", compare, "GT" },
    { "GreaterEqual", compare, "GE" },
    { "Square", square, NULL },
    { "SquaredDifference", squared_difference, NULL },
    { "Reciprocal", reciprocal, NULL },
    { "Inv", reciprocal, NULL },
    { "IsNan", is_nan, NULL },
    { "IsInf", is_inf, NULL },
    { "IsFinite", is_finite, NULL },
    { "SelectV2", select_one, NULL },
    { "Select", select_rows, NULL },
    { "AddN", add_many, NULL },
    { "ZerosLike", zeros_like, NULL },
    { "OnesLike", zeros_like, "1" },
    { "Identity", forward, NULL },
    { "IdentityN", forward, NULL },
    { "StopGradient", forward, NULL },
    { "PreventGradient", forward, NULL },
    { "Snapshot", forward, NULL },
    { "Relu", relu, NULL },
    { "Relu6", relu6, NULL },
    { "ReluGrad", relu_gradient, NULL },
    { "Relu6Grad", relu6_gradient, NULL },
    { "LeakyRelu", leaky, NULL },
    { "LeakyReluGrad", leaky, "gradient" },
    { "Elu", elu, NULL },
    { "EluGrad", elu_gradient, NULL },
    { "Selu", selu, NULL },
    { "SeluGrad", selu_gradient, NULL },
    { "Softplus", softplus, NULL },
    { "SoftplusGrad", softplus_gradient, NULL },
    { "Softsign", softsign, NULL },
    { "SoftsignGrad", softsign_gradient, NULL },
    { "SigmoidGrad", sigmoid_gradient, NULL },
    { "TanhGrad", tanh_gradient, NULL },
    { "SqrtGrad", sqrt_gradient, NULL },
    { "RsqrtGrad", rsqrt_gradient, NULL },
    { "ReciprocalGrad", reciprocal_gradient, NULL },
    { "InvGrad", reciprocal_gradient, NULL },
    { "ClipByValue", clip, NULL },
    { "Xlogy", times_or_zero, "log" },
    { "Xlog1py", times_or_zero, "log_plus_one" },
    { "Xdivy", times_or_zero, "divide" },
    { NULL, NULL, NULL },
};
