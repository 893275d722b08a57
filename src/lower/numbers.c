/* Lowerings of elementwise ops on complex numbers, bits and integers, and of special functions. */
#include "lower/words.h"

/* An operation whose result has another dtype. */
static tw__hlo typed(tw__lowering *l, const char *name, tw__hlo x, tw_dtype dtype)
{
    tw__hlo out = { .dtype = dtype, .shape = x.shape };
    return x.id < 0 ? x
                    : tw__hlo_line(l, dtype, &x.shape, "stablehlo.%s %%%d : (%s) -> %s", name, x.id, tw__hlo_type_text(x),
                                   tw__hlo_type_text(out));
}

static tw_dtype part_of(tw_dtype dtype)
{
    return dtype == TW_COMPLEX128 ? TW_FLOAT64 : TW_FLOAT32;
}

static tw__hlo complex_of(tw__lowering *l, tw__hlo real, tw__hlo imaginary)
{
    tw__hlo out = { .dtype = real.dtype == TW_FLOAT64 ? TW_COMPLEX128 : TW_COMPLEX64, .shape = real.shape };
    return real.id < 0 || imaginary.id < 0 ? (tw__hlo){ .id = -1 }
                                           : tw__hlo_line(l, out.dtype, &out.shape, "stablehlo.complex %%%d, %%%d : %s", real.id,
                                                          imaginary.id, tw__hlo_type_text(out));
}

static bool make_complex(tw__lowering *l)
{
    const tw_shape *shape = &l->outputs[0].shape;
    return GIVE(complex_of(l, tw__hlo_broadcast(l, X, shape), tw__hlo_broadcast(l, Y, shape)));
}

static bool complex_part(tw__lowering *l) /* real, imag, abs */
{
    return tw__dtype_is_complex(X.dtype) && GIVE(typed(l, l->argument, X, part_of(X.dtype)));
}

static bool angle(tw__lowering *l)
{
    tw_dtype part = part_of(X.dtype);
    return tw__dtype_is_complex(X.dtype) && GIVE(BINARY("atan2", typed(l, "imag", X, part), typed(l, "real", X, part)));
}

static tw__hlo conjugate_of(tw__lowering *l, tw__hlo x)
{
    tw_dtype part = part_of(x.dtype);
    return tw__dtype_is_complex(x.dtype) ? complex_of(l, typed(l, "real", x, part), UNARY("negate", typed(l, "imag", x, part)))
                                         : x;
}

static bool conjugate(tw__lowering *l)
{
    return GIVE(conjugate_of(l, X));
}

static bool conjugate_transpose(tw__lowering *l)
{
    int64_t order[TW_MAX_RANK];
    int places[TW_MAX_RANK], count;
    if (!tw__lower_ints(l, 1, order, TW_MAX_RANK, &count) || count != X.shape.rank)
        return false;
    for (int i = 0; i < count; i++)
        places[i] = (int)(order[i] < 0 ? order[i] + count : order[i]);
    return GIVE(tw__hlo_transpose(l, conjugate_of(l, X), places));
}

/* ---- bits ---- */

static int bits_of(tw_dtype dtype)
{
    static const int8_t bits[TW_DTYPE_LIMIT] = { [TW_INT8] = 8,  [TW_INT16] = 16,  [TW_INT32] = 32,  [TW_INT64] = 64,
                                                 [TW_UINT8] = 8, [TW_UINT16] = 16, [TW_UINT32] = 32, [TW_UINT64] = 64 };
    return bits[dtype];
}

static bool is_signed(tw_dtype dtype)
{
    return dtype == TW_INT8 || dtype == TW_INT16 || dtype == TW_INT32 || dtype == TW_INT64;
}

/* By at least 0 and at most all bits but one. */
static bool shift(tw__lowering *l)
{
    const char *right = is_signed(X.dtype) ? "shift_right_arithmetic" : "shift_right_logical";
    if (!bits_of(X.dtype))
        return false;
    tw__hlo by = BINARY("minimum", Y, NUMBER(Y.dtype, bits_of(Y.dtype) - 1));
    by = is_signed(Y.dtype) ? BINARY("maximum", by, NUMBER(Y.dtype, 0)) : by;
    return GIVE(BINARY(l->argument ? l->argument : right, X, by));
}

static bool count_bits(tw__lowering *l)
{
    return bits_of(X.dtype) && GIVE(tw__hlo_convert(l, UNARY("popcnt", X), TW_UINT8));
}

static bool bitcast(tw__lowering *l)
{
    const tw__hlo *out = &l->outputs[0];
    return X.dtype != TW_BOOL && out->dtype != TW_BOOL && !tw__dtype_is_complex(X.dtype) && !tw__dtype_is_complex(out->dtype) &&
           tw__hlo_dtype(out->dtype) &&
           GIVE(tw__hlo_line(l, out->dtype, &out->shape, "stablehlo.bitcast_convert %%%d : (%s) -> %s", X.id,
                             tw__hlo_type_text(X), tw__hlo_type_text(*out)));
}

static bool to_bool(tw__lowering *l)
{
    int64_t count;
    if (X.shape.rank == 0)
        return X.dtype == TW_BOOL ? GIVE(X) : GIVE(COMPARE("NE", X, FILL(0)));
    return tw__shape_count(&X.shape, &count) == TW_OK && GIVE(NUMBER(TW_BOOL, count > 0));
}

/* ---- division ---- */

/* Integers are divided here only by numbers that are known to be positive: the host tells of a division by zero. */
static bool divisor_is_positive(const tw__lowering *l)
{
    const tw_tensor *known = Y.constant;
    int64_t values[TW_MAX_RANK];
    if (!known || known->count > TW_MAX_RANK || known->dtype == TW_UINT64)
        return false;
    if (tw__tensor_read_ints(known, "", values, TW_MAX_RANK) != TW_OK) {
        tw_clear_error();
        return false;
    }
    for (int64_t i = 0; i < known->count; i++) {
        if (values[i] <= 0)
            return false;
    }
    return true;
}

static tw__hlo truncated(tw__lowering *l, tw__hlo x)
{
    tw__hlo zero = tw__hlo_fill(l, x, 0);
    return SELECT(COMPARE("LT", x, zero), UNARY("ceil", x), UNARY("floor", x));
}

static bool divide(tw__lowering *l)
{
    if (tw__dtype_is_integer(X.dtype))
        return divisor_is_positive(l) && GIVE(BINARY("divide", X, Y));
    tw__hlo quotient = BINARY("divide", X, Y);
    return GIVE(l->argument && tw__dtype_is_float(X.dtype) ? truncated(l, quotient) : quotient);
}

static bool remainder_of(tw__lowering *l)
{
    return (tw__dtype_is_float(X.dtype) || (tw__dtype_is_integer(X.dtype) && divisor_is_positive(l))) &&
           GIVE(BINARY("remainder", X, Y));
}

/* The quotient that is rounded down, and what is left. */
static bool floor_divide(tw__lowering *l)
{
    if (tw__dtype_is_float(X.dtype))
        return GIVE(UNARY("floor", BINARY("divide", X, Y)));
    if (!tw__dtype_is_integer(X.dtype) || !divisor_is_positive(l))
        return false;
    tw__hlo quotient = BINARY("divide", X, Y), rest = BINARY("remainder", X, Y);
    return GIVE(is_signed(X.dtype)
                    ? BINARY("subtract", quotient, tw__hlo_convert(l, COMPARE("LT", rest, tw__hlo_fill(l, rest, 0)), X.dtype))
                    : quotient);
}

static bool floor_modulo(tw__lowering *l)
{
    if (!tw__dtype_is_float(X.dtype) && !(tw__dtype_is_integer(X.dtype) && divisor_is_positive(l)))
        return false;
    tw__hlo zero = NUMBER(X.dtype, 0), rest = BINARY("remainder", X, Y);
    tw__hlo signs = BINARY("xor", COMPARE("LT", rest, zero), COMPARE("LT", Y, zero));
    return GIVE(SELECT(BINARY("and", signs, COMPARE("NE", rest, zero)), BINARY("add", rest, Y), rest));
}

/* ---- conversions ---- */

/* Numbers that no integer of that size is near, and NaN, become the least one: processors do so. */
static tw__hlo integer_of(tw__lowering *l, tw__hlo x, tw_dtype dtype)
{
    double limit = dtype == TW_INT32 ? 2147483648.0 : 9223372036854775808.0;
    if (x.dtype == TW_FLOAT16 || x.dtype == TW_BFLOAT16)
        x = tw__hlo_convert(l, x, TW_FLOAT32);
    tw__hlo low = x.dtype == TW_FLOAT64 && dtype == TW_INT32 ? COMPARE("GT", x, tw__hlo_fill(l, x, -limit - 1))
                                                             : COMPARE("GE", x, tw__hlo_fill(l, x, -limit));
    tw__hlo inside = BINARY("and", low, COMPARE("LT", x, tw__hlo_fill(l, x, limit)));
    return SELECT(inside, tw__hlo_convert(l, x, dtype), tw__hlo_infinity(l, dtype, true));
}

static bool cast(tw__lowering *l)
{
    tw_dtype from = X.dtype, to = l->outputs[0].dtype;
    if (!tw__hlo_dtype(to))
        return false;
    if (tw__dtype_is_float(from) && tw__dtype_is_integer(to))
        return (to == TW_INT32 || to == TW_INT64) && GIVE(integer_of(l, X, to));
    if (tw__dtype_is_complex(from) && !tw__dtype_is_complex(to))
        return tw__dtype_is_float(to) && GIVE(tw__hlo_convert(l, typed(l, "real", X, part_of(from)), to));
    return GIVE(tw__hlo_convert(l, X, to));
}

/* ---- special functions ---- */

static bool chlo_binary(tw__lowering *l)
{
    const tw_shape *shape = &l->outputs[0].shape;
    tw__hlo a = tw__hlo_broadcast(l, X, shape), b = tw__hlo_broadcast(l, Y, shape);
    const char *type = tw__hlo_type_text(a);
    return a.id >= 0 && b.id >= 0 && tw__dtype_is_float(a.dtype) &&
           GIVE(tw__hlo_line(l, a.dtype, shape, "chlo.%s %%%d, %%%d : %s, %s -> %s", l->argument, a.id, b.id, type, type, type));
}

static bool near(tw__lowering *l)
{
    tw__hlo distance = UNARY("abs", BINARY("subtract", X, Y));
    return tw__dtype_is_float(X.dtype) && GIVE(COMPARE("LT", distance, FILL((float)TW_ATTR(l, "tolerance")->f)));
}

/* Along a last dimension of three. */
static bool cross(tw__lowering *l)
{
    int axis = X.shape.rank - 1;
    tw__hlo parts[2][3], out[3];
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < 3; k++) {
            int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK];
            memcpy(end, X.shape.dims, sizeof end);
            begin[axis] = k;
            end[axis] = k + 1;
            parts[side][k] = tw__hlo_slice(l, l->inputs[side], begin, end, NULL);
        }
    }
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = BINARY("subtract", BINARY("multiply", parts[0][a], parts[1][b]), BINARY("multiply", parts[0][b], parts[1][a]));
    }
    return GIVE(tw__hlo_concatenate(l, out, 3, axis));
}

static bool linspace(tw__lowering *l) /* LinSpace(start, stop, count) */
{
    const tw_shape *shape = &l->outputs[0].shape;
    int64_t count = shape->dims[0];
    if (shape->rank != 1 || count < 2 || X.shape.rank != 0)
        return false;
    tw__hlo step = BINARY("divide", BINARY("subtract", Y, X), NUMBER(X.dtype, (double)(count - 1)));
    tw__hlo places = tw__hlo_iota(l, X.dtype, shape, 0);
    tw__hlo value = BINARY("add", X, BINARY("multiply", places, step));
    return GIVE(SELECT(COMPARE("EQ", places, NUMBER(X.dtype, (double)(count - 1))), Y, value));
}

static bool forward(tw__lowering *l)
{
    return GIVE(X);
}

const tw__lower_row tw__lower_numbers[] = {
    { "Complex", make_complex, NULL },
    { "Real", complex_part, "real" },
    { "Imag", complex_part, "imag" },
    { "ComplexAbs", complex_part, "abs" },
    { "Angle", angle, NULL },
    { "Conj", conjugate, NULL },
    { "ConjugateTranspose", conjugate_transpose, NULL },
    { "LeftShift", shift, "shift_left" },
    { "RightShift", shift, NULL },
    { "PopulationCount", count_bits, NULL },
    { "Bitcast", bitcast, NULL },
    { "ToBool", to_bool, NULL },
    { "Div", divide, NULL },
    { "RealDiv", divide, NULL },
    { "TruncateDiv", divide, "truncate" },
    { "TruncateMod", remainder_of, NULL },
    { "Mod", remainder_of, NULL },
    { "FloorDiv", floor_divide, NULL },
    { "FloorMod", floor_modulo, NULL },
    { "Cast", cast, NULL },
    { "Polygamma", chlo_binary, "polygamma" },
    { "Zeta", chlo_binary, "zeta" },
    { "NextAfter", chlo_binary, "next_after" },
    { "ApproximateEqual", near, NULL },
    { "Cross", cross, NULL },
    { "LinSpace", linspace, NULL },
    { "EnsureShape", forward, NULL },
    { "GuaranteeConst", forward, NULL },
    { "Copy", forward, NULL },
    { "CopyHost", forward, NULL },
    { "DeepCopy", forward, NULL },
    { NULL, NULL, NULL },
};
