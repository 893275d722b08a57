/* tf.signal: cosine transforms, and cepstral coefficients, which are one of them. */
#include <math.h>

#include "api/signal/signal.h"
#include "rows.h"

bool tw__signal_ortho(const char *norm, bool *ortho)
{
    *ortho = norm && strcmp(norm, "ortho") == 0;
    if (norm && !*ortho)
        tw__fail(TW_VALUE_ERROR, "Unknown normalization. Expected None or 'ortho', got: %s", norm);
    return !norm || *ortho;
}

static tw_dtype complex_of(tw_dtype real)
{
    return real == TW_FLOAT64 ? TW_COMPLEX128 : TW_COMPLEX64;
}

/* 0, 1 … size - 1 as that dtype. */
static tw_tensor *series(tw__temps *t, tw_tensor *size, tw_dtype dtype)
{
    return size ? tw__temp_cast(t, tw__temp_range(t, size), dtype) : NULL;
}

/* exp(sign i pi k / (2 size)) for k < size, times `factor`. */
static tw_tensor *turns(tw__temps *t, tw_tensor *size, tw_dtype dtype, double sign, double factor)
{
    tw_tensor *double_size = tw__temp_cast(t, TW_TEMP(AddV2, size, size), dtype);
    tw_tensor *angle = TW_TEMP(RealDiv, TW_TEMP(Mul, series(t, size, dtype), sign * M_PI), double_size);
    tw_tensor *real = TW_TEMP(Mul, TW_TEMP(Cos, angle), factor), *imaginary = TW_TEMP(Mul, TW_TEMP(Sin, angle), factor);
    return TW_TEMP(Complex, real, imaginary, TW_A_TYPE("Tout", complex_of(dtype)));
}

/* The first of `size` numbers times one factor, the others times another: both are `by` the root of size. */
static tw_tensor *scaled(tw__temps *t, tw_tensor *x, tw_tensor *size, double first, double others, bool divide)
{
    if (!x || !size)
        return NULL;
    tw_tensor *root = TW_TEMP(Sqrt, tw__temp_cast(t, size, x->dtype));
    tw_tensor *begins = TW_TEMP(Equal, tw__temp_range(t, size), tw__temp_int(t, 0, TW_INT32));
    tw_tensor *factor = TW_TEMP(SelectV2, begins, tw__temp_float(t, x->dtype, first), tw__temp_float(t, x->dtype, others));
    return TW_TEMP(Mul, x, divide ? TW_TEMP(RealDiv, factor, root) : TW_TEMP(Mul, factor, root));
}

/* Type II of numbers that are followed by zeros until there are `size`: 2 sum x_j cos(pi k (2 j + 1) / (2 size)). */
static tw_tensor *type_two(tw__temps *t, tw_tensor *x, tw_tensor *size)
{
    if (!x || !size)
        return NULL;
    tw_tensor *spectrum = tw__signal_rfft(t, x, TW_TEMP(AddV2, size, size));
    tw_tensor *part = tw__signal_part(t, spectrum, 0, size, 1);
    return TW_TEMP(Real, TW_TEMP(Mul, part, turns(t, size, x->dtype, -1, 2)), TW_A_TYPE("Tout", x->dtype));
}

static tw_tensor *type_three(tw__temps *t, tw_tensor *x, tw_tensor *size)
{
    tw_tensor *twice = TW_TEMP(AddV2, size, size);
    tw_tensor *factor = tw__temp_cast(t, twice, x->dtype), *grown = TW_TEMP(Mul, x, factor);
    tw_tensor *spectrum = TW_TEMP(Mul, tw__temp_cast(t, grown, complex_of(x->dtype)), turns(t, size, x->dtype, 1, 1));
    return tw__signal_part(t, tw__signal_irfft(t, spectrum, twice), 0, size, 1);
}

/* Type I is the transform of the numbers and, behind them, those between the ends in reverse. */
static tw_tensor *type_one(tw__temps *t, tw_tensor *x, tw_tensor *size)
{
    tw_tensor *inner = tw__signal_part(t, x, 1, tw__temp_int(t, -1, TW_INT32), 1);
    tw_tensor *back = TW_TEMP(ReverseV2, inner, tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32));
    tw_tensor *around = back ? tw__temp_concat(t, TW_IN(x, back), 2, -1) : NULL;
    tw_tensor *length = TW_TEMP(Sub, TW_TEMP(AddV2, size, size), tw__temp_int(t, 2, TW_INT32));
    return TW_TEMP(Real, tw__signal_rfft(t, around, length), TW_A_TYPE("Tout", x->dtype));
}

static tw_tensor *of_type(tw__temps *t, tw_tensor *x, int64_t type, bool ortho)
{
    tw_tensor *size = tw__signal_last(t, x, 1), *made;
    switch (type) {
    case 1:
        return type_one(t, x, size);
    case 2:
        made = type_two(t, x, size);
        return ortho ? scaled(t, made, size, 0.5, M_SQRT1_2, true) : made;
    case 3:
        if (!ortho)
            return type_three(t, x, size);
        x = scaled(t, x, size, 1, M_SQRT1_2, true);
        return x ? type_three(t, x, size) : NULL;
    default: /* every other number of type II of twice as many */
        made = tw__signal_part(t, type_two(t, x, TW_TEMP(AddV2, size, size)), 1, NULL, 2);
        return ortho ? scaled(t, made, size, M_SQRT1_2, M_SQRT1_2, true) : made;
    }
}

tw_tensor *tw__signal_dct(tw__temps *t, tw_tensor *x, int64_t type, bool ortho)
{
    if (!x)
        return NULL;
    return tw__signal_told(of_type(t, x, type, ortho), x, 1, 1,
                           (int64_t[]){ x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : -1 });
}

/* Cut, or followed by zeros, so that there are n. */
static tw_tensor *with_size(tw__temps *t, tw_tensor *x, int64_t n)
{
    if (n == TW_NO_INT)
        return x;
    tw_tensor *size = tw__temp_int(t, n, TW_INT32);
    return tw__signal_fill(t, tw__signal_part(t, x, 0, size, 1), size);
}

static tw_tensor *checked_dct(tw__temps *t, tw_tensor *x, int64_t type, int64_t n, int64_t axis, const char *norm)
{
    bool ortho;
    int64_t known = x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : -1;
    const char *wrong = type < 1 || type > 4                              ? "Types I, II, III and IV (I)DCT are supported."
                        : n != TW_NO_INT && (n < 1 || n > INT32_MAX / 8)  ? "n should be a positive integer or None"
                        : type == 1 && norm && strcmp(norm, "ortho") == 0 ? "Normalization is not supported for the Type-I DCT."
                        : type == 1 && (n == 1 || (n == TW_NO_INT && known >= 0 && known < 2))
                            ? "Type-I DCT requires the dimension to be greater than one."
                            : NULL;
    if (axis != -1) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "axis must be -1. Got: %lld", (long long)axis);
        return NULL;
    }
    if (wrong) {
        tw__fail(TW_VALUE_ERROR, "%s", wrong);
        return NULL;
    }
    if (!tw__signal_ortho(norm, &ortho) || !tw__signal_rank(x, 1))
        return NULL;
    if (x->dtype != TW_FLOAT32 && x->dtype != TW_FLOAT64) {
        tw__fail(TW_TYPE_ERROR, "dct: an input of dtype %s; float32 and float64 are supported", tw_dtype_name(x->dtype));
        return NULL;
    }
    return tw__signal_dct(t, with_size(t, x, n), type, ortho);
}

TW_API(
    signal_dct,
    "signal.dct|compat.v1.spectral.dct(input: tensor, type: int = 2, n: int = None, axis: int = -1, norm: str = None, name: str = None) -> tensor",
    "The cosine transform of type I to IV over the last axis, of n numbers; norm 'ortho' makes it orthonormal.\n"
    "input: floats\n"
    "type: the type of the transform, from 1 to 4\n"
    "n: how many numbers of the axis count, filled with zeros if there are fewer; None: all\n"
    "axis: the axis, which must be the last\n"
    "norm: None, or `ortho`, which is not there for type 1")
{
    TW_TEMPS(t);
    return tw__keep(t, checked_dct(t, args->input, args->type, args->n, args->axis, args->norm));
}

TW_API(
    signal_idct,
    "signal.idct|compat.v1.spectral.idct(input: tensor, type: int = 2, n: int = None, axis: int = -1, norm: str = None, name: str = None) -> tensor",
    "What has this cosine transform, up to a factor unless norm is 'ortho'.\n"
    "input: floats\n"
    "type: the type of the transform, from 1 to 4\n"
    "n: how many numbers of the axis count, filled with zeros if there are fewer; None: all\n"
    "axis: the axis, which must be the last\n"
    "norm: None, or `ortho`, which is not there for type 1")
{
    TW_TEMPS(t);
    int64_t type = args->type == 2 ? 3 : args->type == 3 ? 2 : args->type;
    return tw__keep(t, checked_dct(t, args->input, type, args->n, args->axis, args->norm));
}

TW_API(signal_mfccs, "signal.mfccs_from_log_mel_spectrograms(log_mel_spectrograms: tensor<float32>, name: str = None) -> tensor",
       "Mel-frequency cepstral coefficients of logarithms of mel spectrograms.\n"
       "log_mel_spectrograms: logarithms of mel spectrograms, [..., bins]\n"
       "returns: coefficients of the same shape")
{
    TW_TEMPS(t);
    tw_tensor *x = args->log_mel_spectrograms;
    if (x->shape.rank > 0 && x->shape.dims[x->shape.rank - 1] == 0) {
        tw__fail(TW_VALUE_ERROR, "num_mel_bins must be positive. Got: %s", tw__shape_text(&x->shape));
        return NULL;
    }
    tw_tensor *made = checked_dct(t, x, 2, TW_NO_INT, -1, NULL), *size = made ? tw__signal_last(t, x, 1) : NULL;
    tw_tensor *twice = size ? tw__temp_cast(t, TW_TEMP(AddV2, size, size), x->dtype) : NULL;
    return TW_CALL(Mul, made, TW_TEMP(Rsqrt, twice));
}
