/* tf.experimental.numpy: functions of one tensor, element by element. */
#include "api/numpy/numpy.h"

#include "rows.h"

static const double pi = 3.14159265358979323846;

/* An op of floats; integers and truths become floats. */
static tw_tensor *of_floats(const tw_op *op, tw_tensor *x)
{
    TW_TEMPS(t);
    tw_tensor *number = tw__numpy_floating(t, x);
    return number ? tw__call(op, &number, 1, NULL, 0) : NULL;
}

static tw_tensor *part_of(tw__temps *t, const tw_op *op, tw_tensor *x)
{
    return TW_TEMP_OP(op, x, TW_A_TYPE("Tout", x->dtype == TW_COMPLEX128 ? TW_FLOAT64 : TW_FLOAT32));
}

/* A function of floats that tells something; of complex numbers of both parts, joined by an op. */
static tw_tensor *of_parts(const tw_op *op, tw_tensor *x, const tw_op *joined)
{
    TW_TEMPS(t);
    if (!tw__dtype_is_complex(x->dtype))
        return of_floats(op, x);
    return TW_CALL_OP(joined, TW_TEMP_OP(op, part_of(t, &tw__op_Real, x)), TW_TEMP_OP(op, part_of(t, &tw__op_Imag, x)));
}

static tw_tensor *everywhere(tw_tensor *x, bool value)
{
    TW_TEMPS(t);
    return TW_CALL(Fill, tw__temp_shape(t, x, TW_INT32), (tw_tensor *)tw__temp(t, tw_tensor_bool(value)));
}

TW_API(numpy_exp, "experimental.numpy.exp(x: tensor<array>) -> tensor", "numpy.exp.")
{
    return of_floats(&tw__op_Exp, args->x);
}
TW_API(numpy_log, "experimental.numpy.log(x: tensor<array>) -> tensor", "numpy.log.")
{
    return of_floats(&tw__op_Log, args->x);
}
TW_API(numpy_sqrt, "experimental.numpy.sqrt(x: tensor<array>) -> tensor", "numpy.sqrt.")
{
    return of_floats(&tw__op_Sqrt, args->x);
}
TW_API(numpy_ceil, "experimental.numpy.ceil(x: tensor<array>) -> tensor", "numpy.ceil.")
{
    return of_floats(&tw__op_Ceil, args->x);
}
TW_API(numpy_floor, "experimental.numpy.floor(x: tensor<array>) -> tensor", "numpy.floor.")
{
    return of_floats(&tw__op_Floor, args->x);
}
TW_API(numpy_reciprocal, "experimental.numpy.reciprocal(x: tensor<array>) -> tensor", "numpy.reciprocal.")
{
    return of_floats(&tw__op_Reciprocal, args->x);
}
TW_API(numpy_sin, "experimental.numpy.sin(x: tensor<array>) -> tensor", "numpy.sin.")
{
    return of_floats(&tw__op_Sin, args->x);
}
TW_API(numpy_cos, "experimental.numpy.cos(x: tensor<array>) -> tensor", "numpy.cos.")
{
    return of_floats(&tw__op_Cos, args->x);
}
TW_API(numpy_tan, "experimental.numpy.tan(x: tensor<array>) -> tensor", "numpy.tan.")
{
    return of_floats(&tw__op_Tan, args->x);
}
TW_API(numpy_sinh, "experimental.numpy.sinh(x: tensor<array>) -> tensor", "numpy.sinh.")
{
    return of_floats(&tw__op_Sinh, args->x);
}
TW_API(numpy_cosh, "experimental.numpy.cosh(x: tensor<array>) -> tensor", "numpy.cosh.")
{
    return of_floats(&tw__op_Cosh, args->x);
}
TW_API(numpy_tanh, "experimental.numpy.tanh(x: tensor<array>) -> tensor", "numpy.tanh.")
{
    return of_floats(&tw__op_Tanh, args->x);
}
TW_API(numpy_arcsin, "experimental.numpy.arcsin(x: tensor<array>) -> tensor", "numpy.arcsin.")
{
    return of_floats(&tw__op_Asin, args->x);
}
TW_API(numpy_arccos, "experimental.numpy.arccos(x: tensor<array>) -> tensor", "numpy.arccos.")
{
    return of_floats(&tw__op_Acos, args->x);
}
TW_API(numpy_arctan, "experimental.numpy.arctan(x: tensor<array>) -> tensor", "numpy.arctan.")
{
    return of_floats(&tw__op_Atan, args->x);
}
TW_API(numpy_arcsinh, "experimental.numpy.arcsinh(x: tensor<array>) -> tensor", "numpy.arcsinh.")
{
    return of_floats(&tw__op_Asinh, args->x);
}
TW_API(numpy_arccosh, "experimental.numpy.arccosh(x: tensor<array>) -> tensor", "numpy.arccosh.")
{
    return of_floats(&tw__op_Acosh, args->x);
}
TW_API(numpy_arctanh, "experimental.numpy.arctanh(x: tensor<array>) -> tensor", "numpy.arctanh.")
{
    return of_floats(&tw__op_Atanh, args->x);
}
TW_API(numpy_expm1, "experimental.numpy.expm1(x: tensor<array>) -> tensor", "numpy.expm1.")
{
    return of_floats(&tw__op_Expm1, args->x);
}
TW_API(numpy_log1p, "experimental.numpy.log1p(x: tensor<array>) -> tensor", "numpy.log1p.")
{
    return of_floats(&tw__op_Log1p, args->x);
}
TW_API(numpy_isnan, "experimental.numpy.isnan(x: tensor<array>) -> tensor", "numpy.isnan.")
{
    return of_parts(&tw__op_IsNan, args->x, &tw__op_LogicalOr);
}
TW_API(numpy_isinf, "experimental.numpy.isinf(x: tensor<array>) -> tensor", "numpy.isinf.")
{
    return of_parts(&tw__op_IsInf, args->x, &tw__op_LogicalOr);
}
TW_API(numpy_isfinite, "experimental.numpy.isfinite(x: tensor<array>) -> tensor", "numpy.isfinite.")
{
    return of_parts(&tw__op_IsFinite, args->x, &tw__op_LogicalAnd);
}
TW_API(numpy_negative, "experimental.numpy.negative(x: tensor<array>) -> tensor", "numpy.negative.")
{
    return TW_CALL(Neg, args->x);
}
TW_API(numpy_square, "experimental.numpy.square(x: tensor<array>) -> tensor", "numpy.square.")
{
    return TW_CALL(Square, args->x);
}
TW_API(numpy_positive, "experimental.numpy.positive(x: tensor<array>) -> tensor", "numpy.positive.")
{
    return TW_CALL(Identity, args->x);
}
TW_API(numpy_abs, "experimental.numpy.abs|experimental.numpy.absolute|experimental.numpy.fabs(x: tensor<array>) -> tensor",
       "numpy.abs.")
{
    return args->x->dtype == TW_BOOL ? tw_retain(args->x) : tw_abs(args->x);
}
TW_API(numpy_conj, "experimental.numpy.conj|experimental.numpy.conjugate(x: tensor<array>) -> tensor", "numpy.conj.")
{
    return tw_math_conj(args->x);
}
TW_API(numpy_logical_not, "experimental.numpy.logical_not(x: tensor<array>) -> tensor", "Whether an element is zero.")
{
    TW_TEMPS(t);
    return TW_CALL(LogicalNot, tw__temp_cast(t, args->x, TW_BOOL));
}
TW_API(numpy_bitwise_not, "experimental.numpy.bitwise_not(x: tensor<array>) -> tensor",
       "The bits turned round; of truths the opposite.")
{
    return args->x->dtype == TW_BOOL ? TW_CALL(LogicalNot, args->x) : TW_CALL(Invert, args->x);
}
TW_API(numpy_signbit, "experimental.numpy.signbit(x: tensor<array>) -> tensor", "Whether an element is less than zero.")
{
    return args->x->dtype == TW_BOOL ? everywhere(args->x, false) : TW_CALL(Less, args->x, 0.0);
}

/* ---- of several ops ---- */

/* x times a number. */
static tw_tensor *scaled(tw_tensor *x, double factor)
{
    TW_TEMPS(t);
    return TW_CALL(Mul, tw__numpy_floating(t, x), factor);
}

TW_API(numpy_deg2rad, "experimental.numpy.deg2rad(x: tensor<array>) -> tensor", "Degrees as radians.")
{
    return scaled(args->x, pi / 180);
}
TW_API(numpy_rad2deg, "experimental.numpy.rad2deg(x: tensor<array>) -> tensor", "Radians as degrees.")
{
    return scaled(args->x, 180 / pi);
}

TW_API(numpy_cbrt, "experimental.numpy.cbrt(x: tensor<array>) -> tensor", "The cube root.")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__numpy_floating(t, args->x), *length = x ? tw__temp(t, tw_abs(x)) : NULL;
    return TW_CALL(Mul, TW_TEMP(Sign, x), TW_TEMP(Pow, length, 1.0 / 3));
}

TW_API(numpy_exp2, "experimental.numpy.exp2(x: tensor<array>) -> tensor", "Two to the power of x.")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__numpy_floating(t, args->x);
    return TW_CALL(Pow, (tw_tensor *)tw__temp(t, tw__grad_constant(2, x)), x);
}

static tw_tensor *log_of_base(tw_tensor *x, double log_base)
{
    TW_TEMPS(t);
    return TW_CALL(RealDiv, TW_TEMP(Log, tw__numpy_floating(t, x)), log_base);
}

TW_API(numpy_log2, "experimental.numpy.log2(x: tensor<array>) -> tensor", "numpy.log2.")
{
    return log_of_base(args->x, 0.69314718055994530942);
}
TW_API(numpy_log10, "experimental.numpy.log10(x: tensor<array>) -> tensor", "numpy.log10.")
{
    return log_of_base(args->x, 2.30258509299404568402);
}

TW_API(numpy_fix, "experimental.numpy.fix(x: tensor<array>) -> tensor", "Rounded towards zero.")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__numpy_floating(t, args->x);
    return TW_CALL(SelectV2, TW_TEMP(Less, x, 0.0), TW_TEMP(Ceil, x), TW_TEMP(Floor, x));
}

static tw_tensor *infinite(tw_tensor *given, const tw_op *compare)
{
    TW_TEMPS(t);
    tw_tensor *x = tw__numpy_floating(t, given);
    return TW_CALL(LogicalAnd, TW_TEMP(IsInf, x), TW_TEMP_OP(compare, x, 0.0));
}

TW_API(numpy_isposinf, "experimental.numpy.isposinf(x: tensor<array>) -> tensor", "numpy.isposinf.")
{
    return infinite(args->x, &tw__op_Greater);
}
TW_API(numpy_isneginf, "experimental.numpy.isneginf(x: tensor<array>) -> tensor", "numpy.isneginf.")
{
    return infinite(args->x, &tw__op_Less);
}

TW_API(numpy_sinc, "experimental.numpy.sinc(x: tensor<array>) -> tensor", "sin(pi * x) / (pi * x).")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__numpy_floating(t, args->x), *turned = TW_TEMP(Mul, x, pi), *zero = TW_TEMP(Equal, x, 0.0),
              *one = TW_TEMP(OnesLike, x);
    return TW_CALL(SelectV2, zero, one, TW_TEMP(RealDiv, TW_TEMP(Sin, turned), TW_TEMP(SelectV2, zero, one, turned)));
}

static tw_tensor *imaginary(tw_tensor *x, const tw_op *compare, bool otherwise)
{
    TW_TEMPS(t);
    return tw__dtype_is_complex(x->dtype) ? TW_CALL_OP(compare, part_of(t, &tw__op_Imag, x), 0.0) : everywhere(x, otherwise);
}

TW_API(numpy_iscomplex, "experimental.numpy.iscomplex(x: tensor<array>) -> tensor", "Whether the imaginary part is not zero.")
{
    return imaginary(args->x, &tw__op_NotEqual, false);
}
TW_API(numpy_isreal, "experimental.numpy.isreal(x: tensor<array>) -> tensor", "Whether the imaginary part is zero.")
{
    return imaginary(args->x, &tw__op_Equal, true);
}
TW_API(numpy_iscomplexobj, "experimental.numpy.iscomplexobj(x: tensor<array>) -> bool", "Whether the dtype is complex.")
{
    return tw__dtype_is_complex(args->x->dtype);
}
TW_API(numpy_isrealobj, "experimental.numpy.isrealobj(x: tensor<array>) -> bool", "Whether the dtype is not complex.")
{
    return !tw__dtype_is_complex(args->x->dtype);
}
TW_API(numpy_imag, "experimental.numpy.imag(val: tensor<array>) -> tensor", "The imaginary part; zero of other numbers.")
{
    return tw_math_imag(args->val);
}
TW_API(numpy_real, "experimental.numpy.real(val: tensor<array>) -> tensor", "The real part.")
{
    return tw_math_real(args->val);
}

TW_API(numpy_angle, "experimental.numpy.angle(z: tensor<array>, deg: bool = False) -> tensor",
       "The angle of complex numbers.\n"
       "z: complex or real numbers\n"
       "deg: True: in degrees")
{
    TW_TEMPS(t);
    tw_tensor *z = tw__numpy_floating(t, args->z), *made;
    if (!z)
        return NULL;
    if (tw__dtype_is_complex(z->dtype)) {
        made = part_of(t, &tw__op_Angle, z);
    } else { /* of single precision, whatever z is */
        tw_tensor *turn = tw__temp_float(t, TW_FLOAT32, pi), *none = tw__temp_float(t, TW_FLOAT32, 0);
        made = TW_TEMP(SelectV2, TW_TEMP(Less, z, 0.0), turn, none);
    }
    return args->deg ? TW_CALL(Mul, made, 180 / pi) : tw_retain(made);
}

TW_API(numpy_sign, "experimental.numpy.sign(x: tensor<array>, out: value = None, where: value = None) -> tensor",
       "-1, 0 or 1; of complex numbers that of the real part.\n"
       "where: must be None")
{
    TW_TEMPS(t);
    if (args->out.kind != TW_VALUE_NONE || args->where.kind != TW_VALUE_NONE)
        return TW_NUMPY_VALUE_ERROR("tf.numpy doesnt support setting %s", args->out.kind != TW_VALUE_NONE ? "out." : "where");
    if (!tw__dtype_is_complex(args->x->dtype))
        return TW_CALL(Sign, args->x);
    return tw__cast(TW_TEMP(Sign, part_of(t, &tw__op_Real, args->x)), args->x->dtype);
}

TW_API(numpy_around, "experimental.numpy.around|experimental.numpy.round(a: tensor<array>, decimals: int = 0) -> tensor",
       "Rounded to a number of decimals, halves to even.\n"
       "decimals: how many decimals stay; negative ones count to the left of the point")
{
    TW_TEMPS(t);
    tw_dtype kept = args->a->dtype;
    if (tw__numpy_whole(kept) && args->decimals >= 0)
        return tw_retain(args->a);
    double factor = 1;
    for (int64_t i = args->decimals < 0 ? -args->decimals : args->decimals; i > 0 && factor < 1e308; i--)
        factor *= 10;
    if (args->decimals < 0)
        factor = (float)(1 / factor); /* TensorFlow's is of single precision */
    tw_tensor *a = tw__numpy_floating(t, args->a), *factors = a ? tw__temp(t, tw__grad_constant(factor, a)) : NULL;
    return tw__cast(TW_TEMP(RealDiv, TW_TEMP(Round, TW_TEMP(Mul, a, factors)), factors), kept);
}
