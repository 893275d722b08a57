/* Functions of one tensor, element by element, with their gradients. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "rows.h"

tw_status tw__unary_compute(tw__kernel *kernel)
{
    const tw__unary *operation = kernel->op->unary;
    const tw_tensor *x = kernel->inputs[0];
    if (!tw__unary_has(operation, x->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(x->dtype));
    tw__unary_run(operation, x->dtype, x->data, kernel->outputs[0]->data, x->count);
    return TW_OK;
}

/* In a gradient: dy is what arrives, x the input and y the output, complex ones conjugated. */
#define DY g->output_grads[0]
#define X tw__temp(t, tw__grad_conj(g->inputs[0]))
#define Y tw__temp(t, tw__grad_conj(g->outputs[0]))
#define GRADIENT(name, expression)                    \
    static tw_status name##_gradient(tw__gradient *g) \
    {                                                 \
        TW_TEMPS(t);                                  \
        tw__grad_set(g, 0, expression);               \
        return tw__grad_status(g);                    \
    }

GRADIENT(abs, TW_CALL(Mul, DY, TW_TEMP(Sign, g->inputs[0])))
GRADIENT(negate, TW_CALL(Neg, DY))
GRADIENT(sign, TW_CALL(ZerosLike, g->inputs[0]))
GRADIENT(square, TW_CALL(Mul, DY, TW_TEMP(Mul, 2.0, X)))
GRADIENT(sqrt, TW_CALL(SqrtGrad, g->outputs[0], DY))
GRADIENT(rsqrt, TW_CALL(RsqrtGrad, g->outputs[0], DY))
GRADIENT(reciprocal, TW_CALL(ReciprocalGrad, g->outputs[0], DY))
GRADIENT(exp, TW_CALL(Mul, DY, Y))
GRADIENT(expm1, TW_CALL(Mul, DY, TW_TEMP(Exp, X)))
GRADIENT(log, TW_CALL(Mul, DY, TW_TEMP(Reciprocal, X)))
GRADIENT(log1p, TW_CALL(Mul, DY, TW_TEMP(Reciprocal, TW_TEMP(AddV2, 1.0, X))))
GRADIENT(sin, TW_CALL(Mul, DY, TW_TEMP(Cos, X)))
GRADIENT(cos, TW_CALL(Mul, TW_TEMP(Neg, DY), TW_TEMP(Sin, X)))
GRADIENT(tan, TW_CALL(Mul, DY, TW_TEMP(Square, TW_TEMP(Reciprocal, TW_TEMP(Cos, X)))))
GRADIENT(asin, TW_CALL(Mul, DY, TW_TEMP(Rsqrt, TW_TEMP(Sub, 1.0, TW_TEMP(Square, X)))))
GRADIENT(acos, TW_CALL(Mul, TW_TEMP(Neg, DY), TW_TEMP(Rsqrt, TW_TEMP(Sub, 1.0, TW_TEMP(Square, X)))))
GRADIENT(atan, TW_CALL(Mul, DY, TW_TEMP(Reciprocal, TW_TEMP(AddV2, 1.0, TW_TEMP(Square, X)))))
GRADIENT(sinh, TW_CALL(Mul, DY, TW_TEMP(Cosh, X)))
GRADIENT(cosh, TW_CALL(Mul, DY, TW_TEMP(Sinh, X)))
GRADIENT(asinh, TW_CALL(RealDiv, DY, TW_TEMP(Cosh, Y)))
GRADIENT(acosh, TW_CALL(RealDiv, DY, TW_TEMP(Sinh, Y)))
GRADIENT(atanh, TW_CALL(Mul, DY, TW_TEMP(Reciprocal, TW_TEMP(Sub, 1.0, TW_TEMP(Square, X)))))
GRADIENT(tanh, TW_CALL(TanhGrad, Y, DY))
GRADIENT(sigmoid, TW_CALL(SigmoidGrad, Y, DY))
/* 2 / sqrt(pi) * exp(-x^2) */
GRADIENT(erf, TW_CALL(Mul, DY, TW_TEMP(Mul, 1.1283791670955126, TW_TEMP(Exp, TW_TEMP(Neg, TW_TEMP(Square, X))))))
GRADIENT(erfc, TW_CALL(Mul, DY, TW_TEMP(Mul, -1.1283791670955126, TW_TEMP(Exp, TW_TEMP(Neg, TW_TEMP(Square, X))))))
GRADIENT(lgamma, TW_CALL(Mul, DY, TW_TEMP(Digamma, X)))

#define ROW .inputs = "x: T", .outputs = "y: T", .shape = tw_shape_same
#define REALS "T: {bfloat16, half, float, double}"
#define NUMBERS "T: {bfloat16, half, float, double, complex64, complex128}"
#define SIGNED_NUMBERS "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"

TW_OP(Abs, ROW, .attrs = "T: {bfloat16, half, float, double, int8, int16, int32, int64}", .compute = tw__unary_compute,
      .unary = &tw__unary_abs, .gradient = abs_gradient, .scope = TW_SCOPE_ALWAYS, .doc = "The absolute value.");
TW_OP(Neg, ROW, .attrs = SIGNED_NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_negate, .gradient = negate_gradient,
      .function = "negative|math.negative(x: tensor|ragged|sparse, name: str = None) -> tensor",
      .doc = "-x, element by element.");
TW_OP(Sign, ROW, .attrs = SIGNED_NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_sign, .gradient = sign_gradient,
      .doc = "-1, 0 or 1 as the sign of x is; of complex numbers x / |x|, or 0.");
TW_OP(Square, ROW,
      .attrs =
          "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
      .compute = tw__unary_compute, .unary = &tw__unary_square, .gradient = square_gradient, .functions_in_gradient = true,
      .function = "square|math.square(x: tensor|ragged|sparse, name: str = None) -> tensor", .doc = "x * x, element by element.");
TW_OP(Sqrt, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_sqrt, .gradient = sqrt_gradient,
      .function = "sqrt|math.sqrt(x: tensor|ragged|sparse, name: str = None) -> tensor",
      .doc = "The square root of each element.");
TW_OP(Rsqrt, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_rsqrt, .gradient = rsqrt_gradient,
      .function = "math.rsqrt|compat.v1.rsqrt(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "1 / sqrt(x), element by element.");
TW_OP(Reciprocal, ROW, .attrs = SIGNED_NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_reciprocal,
      .gradient = reciprocal_gradient,
      .function = "math.reciprocal|compat.v1.reciprocal(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "1 / x, element by element.");
TW_OP(Inv, ROW, .attrs = SIGNED_NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_reciprocal,
      .gradient = reciprocal_gradient, .doc = "1 / x.");
TW_OP(Exp, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_exp, .gradient = exp_gradient,
      .function = "exp|math.exp(x: tensor|ragged, name: str = None) -> tensor", .doc = "e to the power of each element.");
TW_OP(Expm1, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_expm1, .gradient = expm1_gradient,
      .function = "math.expm1|compat.v1.expm1(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "exp(x) - 1, precise near zero.");
TW_OP(Log, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_log, .gradient = log_gradient,
      .function = "math.log|compat.v1.log(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The natural logarithm of each element.");
TW_OP(Log1p, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_log1p, .gradient = log1p_gradient,
      .function = "math.log1p|compat.v1.log1p(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "log(1 + x), precise near zero.");
TW_OP(Sin, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_sin, .gradient = sin_gradient,
      .function = "sin|math.sin(x: tensor|ragged, name: str = None) -> tensor", .doc = "The sine of each element.");
TW_OP(Cos, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_cos, .gradient = cos_gradient,
      .function = "cos|math.cos(x: tensor|ragged, name: str = None) -> tensor", .doc = "The cosine of each element.");
TW_OP(Tan, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_tan, .gradient = tan_gradient,
      .function = "tan|math.tan(x: tensor|ragged, name: str = None) -> tensor", .doc = "The tangent of each element.");
TW_OP(Asin, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_asin, .gradient = asin_gradient,
      .function = "asin|math.asin(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of sine.");
TW_OP(Acos, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_acos, .gradient = acos_gradient,
      .function = "acos|math.acos(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of cosine.");
TW_OP(Atan, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_atan, .gradient = atan_gradient,
      .function = "atan|math.atan(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of tangent.");
TW_OP(Sinh, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_sinh, .gradient = sinh_gradient,
      .function = "sinh|math.sinh(x: tensor|ragged, name: str = None) -> tensor", .doc = "The hyperbolic sine.");
TW_OP(Cosh, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_cosh, .gradient = cosh_gradient,
      .function = "cosh|math.cosh(x: tensor|ragged, name: str = None) -> tensor", .doc = "The hyperbolic cosine.");
TW_OP(Asinh, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_asinh, .gradient = asinh_gradient,
      .function = "asinh|math.asinh(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of hyperbolic sine.");
TW_OP(Acosh, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_acosh, .gradient = acosh_gradient,
      .function = "acosh|math.acosh(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of hyperbolic cosine.");
TW_OP(Atanh, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_atanh, .gradient = atanh_gradient,
      .function = "atanh|math.atanh(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of hyperbolic tangent.");
TW_OP(Tanh, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_tanh, .gradient = tanh_gradient,
      .activates = true, .function = "tanh|math.tanh|nn.tanh(x: tensor|ragged|sparse, name: str = None) -> tensor",
      .doc = "The hyperbolic tangent.");
TW_OP(Sigmoid, ROW, .attrs = NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_sigmoid, .gradient = sigmoid_gradient,
      .scope = TW_SCOPE_ALWAYS, .activates = true, .keeps_logits = true,
      .function = "sigmoid|math.sigmoid|nn.sigmoid(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "1 / (1 + exp(-x)), element by element.");
TW_OP(Erf, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_erf, .gradient = erf_gradient,
      .function = "math.erf|compat.v1.erf(x: tensor|ragged|sparse, name: str = None) -> tensor", .doc = "The error function.");
TW_OP(Erfc, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_erfc, .gradient = erfc_gradient,
      .function = "math.erfc|compat.v1.erfc(x: tensor|ragged, name: str = None) -> tensor", .doc = "1 - erf(x).");
TW_OP(Lgamma, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_lgamma, .gradient = lgamma_gradient,
      .function = "math.lgamma|compat.v1.lgamma(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The logarithm of the absolute value of the gamma function.");
static tw_status digamma_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *x = g->inputs[0];
    if (x->dtype != TW_FLOAT32 && x->dtype != TW_FLOAT64)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient for dtype %s: Polygamma is there for float32 and float64",
                          tw_dtype_name(x->dtype));
    tw__grad_set(g, 0, TW_CALL(Mul, g->output_grads[0], TW_TEMP(Polygamma, tw__temp(t, tw__grad_constant(1, x)), x)));
    return tw__grad_status(g);
}

TW_OP(Digamma, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_digamma, .gradient = digamma_gradient,
      .function = "math.digamma|compat.v1.digamma(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The derivative of lgamma.");
TW_OP(Floor, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_floor,
      .function = "floor|math.floor(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The largest integer not above each element.");
TW_OP(Ceil, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_ceil,
      .function = "math.ceil|compat.v1.ceil(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The smallest integer not below each element.");
TW_OP(Round, ROW, .attrs = SIGNED_NUMBERS, .compute = tw__unary_compute, .unary = &tw__unary_round,
      .doc = "The nearest integer, of two the even one.");
TW_OP(Rint, ROW, .attrs = REALS, .compute = tw__unary_compute, .unary = &tw__unary_round,
      .function = "math.rint|compat.v1.rint(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The nearest integer, of two the even one.");

#define QUESTION .inputs = "x: T", .outputs = "y: bool", .shape = tw_shape_same, .attrs = REALS
TW_OP(IsNan, QUESTION, .compute = tw__unary_compute, .unary = &tw__unary_is_nan,
      .function = "math.is_nan|compat.v1.is_nan(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "Whether each element is not a number.");
TW_OP(IsInf, QUESTION, .compute = tw__unary_compute, .unary = &tw__unary_is_inf,
      .function = "math.is_inf|compat.v1.is_inf(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "Whether each element is infinite.");
TW_OP(IsFinite, QUESTION, .compute = tw__unary_compute, .unary = &tw__unary_is_finite,
      .function = "math.is_finite|compat.v1.is_finite(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "Whether each element is neither infinite nor not a number.");

TW_OP(LogicalNot, .inputs = "x: bool", .outputs = "y: bool", .shape = tw_shape_same, .compute = tw__unary_compute,
      .unary = &tw__unary_logical_not,
      .function = "logical_not|math.logical_not(x: tensor<bool>|ragged, name: str = None) -> tensor",
      .doc = "Whether each element is false.");
TW_OP(Invert, ROW, .attrs = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}", .compute = tw__unary_compute,
      .unary = &tw__unary_invert, .function = "bitwise.invert(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "Every bit flipped.");

/* ---- parts of complex numbers ---- */

/* The real type that belongs to the complex one, and the other way round. */
static tw_status check_pair(tw__inference *inference)
{
    tw_dtype in = inference->dtypes[0], out = inference->out_dtypes[0];
    bool small = in == TW_COMPLEX64 || in == TW_FLOAT32, small_out = out == TW_COMPLEX64 || out == TW_FLOAT32;
    if (small != small_out)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Tout is %s, which does not go with inputs of %s", tw_dtype_name(out),
                          tw_dtype_name(in));
    return TW_OK;
}

static tw_status part_shape(tw__inference *inference)
{
    TW_TRY(check_pair(inference));
    return tw_shape_same(inference);
}

/* A complex tensor of two real ones; the part that is NULL is zero. */
static tw_tensor *complex_of(tw_tensor *real, tw_tensor *imaginary)
{
    tw_tensor *like = real ? real : imaginary;
    tw_auto tw_tensor *zeros = real && imaginary ? NULL : TW_CALL(ZerosLike, like);
    tw_dtype dtype = like && like->dtype == TW_FLOAT64 ? TW_COMPLEX128 : TW_COMPLEX64;
    return TW_CALL(Complex, real ? real : zeros, imaginary ? imaginary : zeros, TW_A_TYPE("Tout", dtype));
}

static tw_tensor *part_of(const tw_op *op, tw_tensor *x)
{
    tw_attr type = TW_A_TYPE("Tout", x->dtype == TW_COMPLEX128 ? TW_FLOAT64 : TW_FLOAT32);
    return tw__call(op, &x, 1, &type, 1);
}

#define PART_OF(op_name) tw__temp(t, part_of(&tw__op_##op_name, g->inputs[0]))
GRADIENT(real, complex_of(DY, NULL))
GRADIENT(imag, complex_of(NULL, DY))
GRADIENT(conj, TW_CALL(Conj, DY))
GRADIENT(complex_abs, TW_CALL(DivNoNan, TW_TEMP(Mul, tw__temp(t, complex_of(DY, NULL)), g->inputs[0]),
                              tw__temp(t, complex_of(g->outputs[0], NULL))))
/* -dy / (imag + i * real) */
GRADIENT(angle, TW_CALL(Mul, TW_TEMP(Neg, tw__temp(t, complex_of(DY, NULL))),
                        TW_TEMP(Reciprocal, tw__temp(t, complex_of(PART_OF(Imag), PART_OF(Real))))))

#define PART .attrs = "T: {complex64, complex128} = complex64, Tout: {float, double} = float", .shape = part_shape
TW_OP(Real, .inputs = "input: T", .outputs = "output: Tout", PART, .compute = tw__unary_compute, .unary = &tw__unary_real,
      .gradient = real_gradient, .doc = "The real part.");
TW_OP(Imag, .inputs = "input: T", .outputs = "output: Tout", PART, .compute = tw__unary_compute, .unary = &tw__unary_imag,
      .gradient = imag_gradient, .doc = "The imaginary part.");
TW_OP(Angle, .inputs = "input: T", .outputs = "output: Tout", PART, .compute = tw__unary_compute, .unary = &tw__unary_angle,
      .gradient = angle_gradient, .doc = "The angle in the complex plane.");
TW_OP(ComplexAbs, .inputs = "x: T", .outputs = "y: Tout", PART, .compute = tw__unary_compute, .unary = &tw__unary_abs,
      .gradient = complex_abs_gradient, .scope = TW_SCOPE_ALWAYS, .doc = "The distance from zero.");
TW_OP(Conj, .inputs = "input: T", .outputs = "output: T", .attrs = "T: {complex64, complex128, variant} = complex64",
      .shape = tw_shape_same, .compute = tw__unary_compute, .unary = &tw__unary_conj, .gradient = conj_gradient,
      .doc = "The complex conjugate.");

static tw_status complex_shape(tw__inference *inference)
{
    TW_TRY(check_pair(inference));
    return tw_shape_broadcast(inference);
}

static tw_status complex_compute(tw__kernel *kernel)
{
    const tw_tensor *real = kernel->inputs[0], *imaginary = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    tw__broadcast plan;
    tw__broadcast_plan(&plan, &out->shape, (const tw_shape *const[]){ &real->shape, &imaginary->shape }, 2);
    int last = plan.rank - 1;
    int64_t length = plan.dims[last], rs = plan.strides[0][last], is = plan.strides[1][last];
    for (int64_t row = 0; out->count && row < plan.rows; row++) {
        int64_t r = tw__broadcast_offset(&plan, 0, row), i = tw__broadcast_offset(&plan, 1, row), at = 2 * row * length;
        for (int64_t k = 0; k < length; k++, at += 2) {
            if (real->dtype == TW_FLOAT32) {
                ((float *)out->data)[at] = ((const float *)real->data)[r + k * rs];
                ((float *)out->data)[at + 1] = ((const float *)imaginary->data)[i + k * is];
            } else {
                ((double *)out->data)[at] = ((const double *)real->data)[r + k * rs];
                ((double *)out->data)[at + 1] = ((const double *)imaginary->data)[i + k * is];
            }
        }
    }
    return TW_OK;
}

static tw_status complex_gradient(tw__gradient *g)
{
    if (g->wanted[0])
        tw__grad_set(g, 0, part_of(&tw__op_Real, g->output_grads[0]));
    if (g->wanted[1])
        tw__grad_set(g, 1, part_of(&tw__op_Imag, g->output_grads[0]));
    return tw__grad_status(g);
}

TW_OP(Complex, .inputs = "real: T, imag: T", .outputs = "out: Tout",
      .attrs = "T: {float, double} = float, Tout: {complex64, complex128} = complex64", .shape = complex_shape,
      .compute = complex_compute, .gradient = complex_gradient, .scope = TW_SCOPE_ALWAYS,
      .doc = "The complex numbers with these real and imaginary parts.");
