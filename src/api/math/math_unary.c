/* Functions of one tensor that are more than one op, or another one for complex numbers and integers. Those that are an op stand
 * in its row. */
#include "op/calls.h"
#include "rows.h"

static tw_tensor *part_of(const tw_op *op, tw_tensor *x)
{
    tw_attr type = TW_A_TYPE("Tout", x->dtype == TW_COMPLEX128 ? TW_FLOAT64 : TW_FLOAT32);
    return tw__call(op, &x, 1, &type, 1);
}

TW_API(sign, "sign|math.sign(x: tensor|ragged|sparse, name: str = None) -> tensor", "-1, 0 or 1 as the sign of each element is.")
{
    if (!tw__dtype_is_complex(args->x->dtype))
        return TW_CALL(Sign, args->x);
    /* As TensorFlow writes it: the op's own gradient is zero, that of x / |x| is not. */
    tw_auto tw_tensor *length = part_of(&tw__op_ComplexAbs, args->x);
    tw_auto tw_tensor *divisor = length ? tw_cast(length, args->x->dtype) : NULL;
    return TW_CALL(DivNoNan, args->x, divisor);
}

TW_API(abs, "abs|math.abs(x: tensor|ragged|sparse, name: str = None) -> tensor",
       "The absolute value of each element; of complex numbers the distance from zero.")
{
    return tw__dtype_is_complex(args->x->dtype) ? part_of(&tw__op_ComplexAbs, args->x) : TW_CALL(Abs, args->x);
}

TW_API(round, "round|math.round(x: tensor|ragged, name: str = None) -> tensor", "The nearest integer, of two the even one.")
{
    return tw__dtype_is_integer(args->x->dtype) ? tw_retain(args->x) : TW_CALL(Round, args->x);
}

TW_API(math_reciprocal_no_nan, "math.reciprocal_no_nan(x: tensor|ragged, name: str = None) -> tensor",
       "1 / x, and zero where x is zero.")
{
    return TW_CALL(DivNoNan, 1.0, args->x);
}

/* ---- complex numbers; real ones have a part too ---- */

TW_API(math_real, "math.real|compat.v1.real(input: tensor|ragged, name: str = None) -> tensor",
       "The real part of each element.\n"
       "input: complex or real numbers")
{
    return tw__dtype_is_complex(args->input->dtype) ? part_of(&tw__op_Real, args->input) : tw_retain(args->input);
}

TW_API(math_imag, "math.imag|compat.v1.imag(input: tensor|ragged, name: str = None) -> tensor",
       "The imaginary part of each element.\n"
       "input: complex or real numbers")
{
    return tw__dtype_is_complex(args->input->dtype) ? part_of(&tw__op_Imag, args->input) : TW_CALL(ZerosLike, args->input);
}

TW_API(math_conj, "math.conj|compat.v1.conj(x: tensor|ragged, name: str = None) -> tensor",
       "The complex conjugate of each element.")
{
    return tw__dtype_is_complex(args->x->dtype) ? TW_CALL(Conj, args->x) : tw_retain(args->x);
}

TW_API(math_angle, "math.angle|compat.v1.angle(input: tensor|ragged, name: str = None) -> tensor",
       "The angle of each element in the complex plane.\n"
       "input: complex or real numbers")
{
    tw_tensor *input = args->input;
    if (tw__dtype_is_complex(input->dtype))
        return part_of(&tw__op_Angle, input);
    tw_auto tw_tensor *zero = tw__grad_constant(0, input);
    tw_auto tw_tensor *pi = tw__grad_constant(3.14159265358979323846, input);
    tw_auto tw_tensor *negative = TW_CALL(Less, input, zero);
    return TW_CALL(SelectV2, negative, pi, zero);
}

TW_API(complex, "complex|dtypes.complex(real: tensor<T>|ragged, imag: tensor<T>|ragged, name: str = None) -> tensor",
       "The complex numbers with these real and imaginary parts.\n"
       "real: the real parts, floats\n"
       "imag: the imaginary parts, of the same dtype\n"
       "example: tf.complex(1.0, 2.0).numpy().tolist()  # (1+2j)")
{
    tw_dtype dtype = args->real->dtype;
    if (dtype != args->imag->dtype || (dtype != TW_FLOAT32 && dtype != TW_FLOAT64)) {
        tw__fail(
            TW_TYPE_ERROR,
            "The `real` and `imag` components have incorrect types: %s %s. They must be consistent, and one of float32, float64",
            tw_dtype_name(dtype), tw_dtype_name(args->imag->dtype));
        return NULL;
    }
    return TW_CALL(Complex, args->real, args->imag, TW_A_TYPE("Tout", dtype == TW_FLOAT64 ? TW_COMPLEX128 : TW_COMPLEX64));
}

/* ---- of the error function and the gamma function ---- */

TW_API(math_erfcinv, "math.erfcinv(x: tensor|ragged, name: str = None) -> tensor", "The inverse of erfc.")
{
    TW_TEMPS(t);
    return TW_CALL(Mul, TW_TEMP(Neg, TW_TEMP(Ndtri, TW_TEMP(Mul, 0.5, args->x))), 0.70710678118654752440);
}

TW_API(math_lbeta, "math.lbeta|compat.v1.lbeta(x: tensor, name: str = None) -> tensor",
       "The logarithm of the absolute value of the beta function of each row.")
{
    TW_TEMPS(t);
    tw_tensor *parts = tw__temp(t, tw__reduce_axis(&tw__op_Sum, TW_TEMP(Lgamma, args->x), -1, false));
    tw_tensor *whole = TW_TEMP(Lgamma, tw__temp(t, tw__reduce_axis(&tw__op_Sum, args->x, -1, false)));
    return TW_CALL(Sub, parts, whole);
}
