/* Functions of one tensor as users name them: tf.exp, tf.math.erf, … Each is one op. */
#include "op/gradient.h"
#include "rows.h"

static tw_tensor *part_of(const tw_op *op, tw_tensor *x)
{
    tw_attr type = TW_A_TYPE("Tout", x->dtype == TW_COMPLEX128 ? TW_FLOAT64 : TW_FLOAT32);
    return tw__call(op, &x, 1, &type, 1);
}

TW_API(negative, "negative|math.negative(x: tensor, name: str = None) -> tensor", "-x, element by element.")
{
    return TW_UNARY(Neg, args->x);
}

TW_API(sign, "sign|math.sign(x: tensor, name: str = None) -> tensor", "-1, 0 or 1 as the sign of each element is.")
{
    if (!tw__dtype_is_complex(args->x->dtype))
        return TW_UNARY(Sign, args->x);
    /* As TensorFlow writes it: the op's own gradient is zero, that of x / |x| is not. */
    tw_auto tw_tensor *length = part_of(&tw__op_ComplexAbs, args->x);
    tw_auto tw_tensor *divisor = length ? tw_cast(length, args->x->dtype) : NULL;
    return divisor ? TW_BINARY(DivNoNan, args->x, divisor) : NULL;
}

TW_API(square, "square|math.square(x: tensor, name: str = None) -> tensor", "x * x, element by element.")
{
    return TW_UNARY(Square, args->x);
}

TW_API(sqrt, "sqrt|math.sqrt(x: tensor, name: str = None) -> tensor", "The square root of each element.")
{
    return TW_UNARY(Sqrt, args->x);
}

TW_API(exp, "exp|math.exp(x: tensor, name: str = None) -> tensor", "e to the power of each element.")
{
    return TW_UNARY(Exp, args->x);
}

TW_API(sin, "sin|math.sin(x: tensor, name: str = None) -> tensor", "The sine of each element.")
{
    return TW_UNARY(Sin, args->x);
}

TW_API(cos, "cos|math.cos(x: tensor, name: str = None) -> tensor", "The cosine of each element.")
{
    return TW_UNARY(Cos, args->x);
}

TW_API(tan, "tan|math.tan(x: tensor, name: str = None) -> tensor", "The tangent of each element.")
{
    return TW_UNARY(Tan, args->x);
}

TW_API(asin, "asin|math.asin(x: tensor, name: str = None) -> tensor", "The inverse of sine.")
{
    return TW_UNARY(Asin, args->x);
}

TW_API(acos, "acos|math.acos(x: tensor, name: str = None) -> tensor", "The inverse of cosine.")
{
    return TW_UNARY(Acos, args->x);
}

TW_API(atan, "atan|math.atan(x: tensor, name: str = None) -> tensor", "The inverse of tangent.")
{
    return TW_UNARY(Atan, args->x);
}

TW_API(sinh, "sinh|math.sinh(x: tensor, name: str = None) -> tensor", "The hyperbolic sine.")
{
    return TW_UNARY(Sinh, args->x);
}

TW_API(cosh, "cosh|math.cosh(x: tensor, name: str = None) -> tensor", "The hyperbolic cosine.")
{
    return TW_UNARY(Cosh, args->x);
}

TW_API(asinh, "asinh|math.asinh(x: tensor, name: str = None) -> tensor", "The inverse of hyperbolic sine.")
{
    return TW_UNARY(Asinh, args->x);
}

TW_API(acosh, "acosh|math.acosh(x: tensor, name: str = None) -> tensor", "The inverse of hyperbolic cosine.")
{
    return TW_UNARY(Acosh, args->x);
}

TW_API(atanh, "atanh|math.atanh(x: tensor, name: str = None) -> tensor", "The inverse of hyperbolic tangent.")
{
    return TW_UNARY(Atanh, args->x);
}

TW_API(floor, "floor|math.floor(x: tensor, name: str = None) -> tensor", "The largest integer not above each element.")
{
    return TW_UNARY(Floor, args->x);
}

TW_API(tanh, "tanh|math.tanh|nn.tanh(x: tensor, name: str = None) -> tensor", "The hyperbolic tangent.")
{
    return TW_UNARY(Tanh, args->x);
}

TW_API(sigmoid, "sigmoid|math.sigmoid|nn.sigmoid(x: tensor, name: str = None) -> tensor",
       "1 / (1 + exp(-x)), element by element.")
{
    return TW_UNARY(Sigmoid, args->x);
}

TW_API(math_rsqrt, "math.rsqrt(x: tensor, name: str = None) -> tensor", "1 / sqrt(x), element by element.")
{
    return TW_UNARY(Rsqrt, args->x);
}

TW_API(math_expm1, "math.expm1(x: tensor, name: str = None) -> tensor", "exp(x) - 1, precise near zero.")
{
    return TW_UNARY(Expm1, args->x);
}

TW_API(math_log, "math.log(x: tensor, name: str = None) -> tensor", "The natural logarithm of each element.")
{
    return TW_UNARY(Log, args->x);
}

TW_API(math_log1p, "math.log1p(x: tensor, name: str = None) -> tensor", "log(1 + x), precise near zero.")
{
    return TW_UNARY(Log1p, args->x);
}

TW_API(math_erf, "math.erf(x: tensor, name: str = None) -> tensor", "The error function.")
{
    return TW_UNARY(Erf, args->x);
}

TW_API(math_erfc, "math.erfc(x: tensor, name: str = None) -> tensor", "1 - erf(x).")
{
    return TW_UNARY(Erfc, args->x);
}

TW_API(math_lgamma, "math.lgamma(x: tensor, name: str = None) -> tensor",
       "The logarithm of the absolute value of the gamma function.")
{
    return TW_UNARY(Lgamma, args->x);
}

TW_API(math_zeta, "math.zeta(x: tensor<T>, q: tensor<T>, name: str = None) -> tensor", "The sum of (q + k)^-x over k = 0, 1, …")
{
    return TW_BINARY(Zeta, args->x, args->q);
}

TW_API(math_polygamma, "math.polygamma(a: tensor<T>, x: tensor<T>, name: str = None) -> tensor",
       "The a-th derivative of digamma.")
{
    return TW_BINARY(Polygamma, args->a, args->x);
}

TW_API(math_digamma, "math.digamma(x: tensor, name: str = None) -> tensor", "The derivative of lgamma.")
{
    return TW_UNARY(Digamma, args->x);
}

TW_API(math_reciprocal, "math.reciprocal(x: tensor, name: str = None) -> tensor", "1 / x, element by element.")
{
    return TW_UNARY(Reciprocal, args->x);
}

TW_API(math_ceil, "math.ceil(x: tensor, name: str = None) -> tensor", "The smallest integer not below each element.")
{
    return TW_UNARY(Ceil, args->x);
}

TW_API(math_rint, "math.rint(x: tensor, name: str = None) -> tensor", "The nearest integer, of two the even one.")
{
    return TW_UNARY(Rint, args->x);
}

TW_API(math_is_nan, "math.is_nan(x: tensor, name: str = None) -> tensor", "Whether each element is not a number.")
{
    return TW_UNARY(IsNan, args->x);
}

TW_API(math_is_inf, "math.is_inf(x: tensor, name: str = None) -> tensor", "Whether each element is infinite.")
{
    return TW_UNARY(IsInf, args->x);
}

TW_API(math_is_finite, "math.is_finite(x: tensor, name: str = None) -> tensor",
       "Whether each element is neither infinite nor not a number.")
{
    return TW_UNARY(IsFinite, args->x);
}

TW_API(logical_not, "logical_not|math.logical_not(x: tensor<bool>, name: str = None) -> tensor", "Whether each element is false.")
{
    return TW_UNARY(LogicalNot, args->x);
}

TW_API(bitwise_invert, "bitwise.invert(x: tensor, name: str = None) -> tensor", "Every bit flipped.")
{
    return TW_UNARY(Invert, args->x);
}

TW_API(abs, "abs|math.abs(x: tensor, name: str = None) -> tensor",
       "The absolute value of each element; of complex numbers the distance from zero.")
{
    return tw__dtype_is_complex(args->x->dtype) ? part_of(&tw__op_ComplexAbs, args->x) : TW_UNARY(Abs, args->x);
}

TW_API(round, "round|math.round(x: tensor, name: str = None) -> tensor", "The nearest integer, of two the even one.")
{
    return tw__dtype_is_integer(args->x->dtype) ? tw_retain(args->x) : TW_UNARY(Round, args->x);
}

TW_API(math_reciprocal_no_nan, "math.reciprocal_no_nan(x: tensor, name: str = None) -> tensor",
       "1 / x, and zero where x is zero.")
{
    tw_auto tw_tensor *one = tw__grad_constant(1, args->x);
    return TW_BINARY(DivNoNan, one, args->x);
}

/* ---- complex numbers; real ones have a part too ---- */

TW_API(math_real, "math.real(input: tensor, name: str = None) -> tensor", "The real part of each element.")
{
    return tw__dtype_is_complex(args->input->dtype) ? part_of(&tw__op_Real, args->input) : tw_retain(args->input);
}

TW_API(math_imag, "math.imag(input: tensor, name: str = None) -> tensor", "The imaginary part of each element.")
{
    return tw__dtype_is_complex(args->input->dtype) ? part_of(&tw__op_Imag, args->input) : TW_UNARY(ZerosLike, args->input);
}

TW_API(math_conj, "math.conj(x: tensor, name: str = None) -> tensor", "The complex conjugate of each element.")
{
    return tw__dtype_is_complex(args->x->dtype) ? TW_UNARY(Conj, args->x) : tw_retain(args->x);
}

TW_API(math_angle, "math.angle(input: tensor, name: str = None) -> tensor", "The angle of each element in the complex plane.")
{
    tw_tensor *input = args->input;
    if (tw__dtype_is_complex(input->dtype))
        return part_of(&tw__op_Angle, input);
    tw_auto tw_tensor *zero = tw__grad_constant(0, input);
    tw_auto tw_tensor *pi = tw__grad_constant(3.14159265358979323846, input);
    tw_auto tw_tensor *negative = TW_BINARY(Less, input, zero);
    return negative && pi ? tw__call(&tw__op_SelectV2, TW_IN(negative, pi, zero), 3, NULL, 0) : NULL;
}

TW_API(complex, "complex|dtypes.complex(real: tensor<T>, imag: tensor<T>, name: str = None) -> tensor",
       "The complex numbers with these real and imaginary parts.")
{
    tw_dtype dtype = args->real->dtype;
    if (dtype != args->imag->dtype || (dtype != TW_FLOAT32 && dtype != TW_FLOAT64)) {
        tw__fail(
            TW_TYPE_ERROR,
            "The `real` and `imag` components have incorrect types: %s %s. They must be consistent, and one of float32, float64",
            tw_dtype_name(dtype), tw_dtype_name(args->imag->dtype));
        return NULL;
    }
    tw_attr type = TW_A_TYPE("Tout", dtype == TW_FLOAT64 ? TW_COMPLEX128 : TW_COMPLEX64);
    return tw__call(&tw__op_Complex, TW_IN(args->real, args->imag), 2, &type, 1);
}
