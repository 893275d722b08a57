/* tf.norm, tf.math.log_sigmoid, tf.saturate_cast. */
#include <float.h>
#include <math.h>

#include "api/array/array.h"
#include "op/gradient.h"
#include "rows.h"

TW_API(math_log_sigmoid, "math.log_sigmoid|compat.v1.log_sigmoid(x: tensor|ragged, name: str = None) -> tensor",
       "log(1 / (1 + exp(-x))), element by element.")
{
    tw_auto tw_tensor *negative = TW_CALL(Neg, args->x);
    tw_auto tw_tensor *soft = TW_CALL(Softplus, negative);
    return TW_CALL(Neg, soft);
}

/* ---- norm ---- */

static bool is_text(const tw_value *value, const char *text)
{
    return value->kind == TW_VALUE_STR && value->s.size == strlen(text) && memcmp(value->s.data, text, value->s.size) == 0;
}

/* The p of an order: a number; 0 for the Euclidean (Frobenius) norm; NAN, and an error, for what is no order. */
static double order_of(const tw_value *order, bool matrix)
{
    double p = NAN;
    if (order->kind == TW_VALUE_INT)
        p = (double)order->i;
    else if (order->kind == TW_VALUE_FLOAT)
        p = order->f;
    else if (order->kind == TW_VALUE_NONE || is_text(order, "euclidean") || (is_text(order, "fro") && matrix))
        return 0;
    if (!(p > 0) || (matrix && p != 1 && p != 2 && !isinf(p))) {
        tw__text text = { 0 };
        if (order->kind == TW_VALUE_STR)
            tw__text_format(&text, "%.*s", (int)order->s.size, order->s.data);
        else if (order->kind == TW_VALUE_INT)
            tw__text_format(&text, "%lld", (long long)order->i);
        else if (order->kind == TW_VALUE_FLOAT)
            tw__print_float(&text, order->f, TW_FLOAT64);
        tw__fail(TW_VALUE_ERROR, "'ord' must be a supported %s, got %s",
                 matrix ? "matrix norm in ['euclidean', 'fro', 1, 2, inf]" : "vector norm",
                 text.data ? text.data : "a value that is no number");
        tw__text_free(&text);
        return NAN;
    }
    return p;
}

static tw_tensor *one_axis(const tw_op *op, tw_tensor *x, int64_t axis)
{
    return tw__reduce_axes(op, x, (tw_ints){ &axis, 1, true, false }, true);
}

/* The greatest singular value of each matrix, with every dimension kept. */
static tw_tensor *spectral_norm(tw_tensor *x, tw_ints axis)
{
    TW_TEMPS(t);
    int64_t order[TW_MAX_RANK], back[TW_MAX_RANK];
    int rank = x->shape.rank, at = 0, pair[2];
    if (rank < 0 || !tw__axis_normal(axis.items[0], rank, &pair[0]) || !tw__axis_normal(axis.items[1], rank, &pair[1]) ||
        pair[0] == pair[1]) {
        tw__fail(TW_VALUE_ERROR,
                 "'axis' must be None, an integer, or a tuple of 2 unique integers, got [%lld, %lld] for shape %s",
                 (long long)axis.items[0], (long long)axis.items[1], tw__shape_text(&x->shape));
        return NULL;
    }
    for (int i = 0; i < rank; i++) {
        if (i != pair[0] && i != pair[1])
            order[at++] = i;
    }
    order[at++] = pair[0];
    order[at++] = pair[1];
    for (int i = 0; i < rank; i++)
        back[order[i]] = i;
    tw_tensor *parts[3], *last = TW_TEMP(Transpose, x, tw__temp_ints(t, order, rank, TW_INT32));
    if (!last || TW_TEMP_ALL(parts, Svd, last, TW_A_BOOL("compute_uv", false)) != TW_OK)
        return NULL;
    tw_tensor *greatest = tw__temp(t, tw__reduce_axes(&tw__op_Max, parts[0], TW_INTS(-1), true));
    return TW_CALL(Transpose, TW_TEMP(ExpandDims, greatest, -1), tw__temp_ints(t, back, rank, TW_INT32));
}

/* With every dimension kept. */
static tw_tensor *norm_of(tw_tensor *x, double p, tw_ints axis)
{
    if (p == 2 && axis.given && axis.count == 2)
        return spectral_norm(x, axis);
    if (p == 0 || p == 2) {
        tw_auto tw_tensor *conjugate = tw__grad_conj(x);
        tw_auto tw_tensor *squares = TW_CALL(Mul, x, conjugate);
        tw_auto tw_tensor *sum = tw__reduce_axes(&tw__op_Sum, squares, axis, true);
        return TW_CALL(Sqrt, sum);
    }
    tw_auto tw_tensor *size = tw__dtype_is_complex(x->dtype)
                                  ? TW_CALL(ComplexAbs, x, TW_A_TYPE("Tout", x->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64))
                                  : TW_CALL(Abs, x);
    if (axis.count == 2) {
        tw_auto tw_tensor *sums = one_axis(&tw__op_Sum, size, axis.items[isinf(p) ? 1 : 0]);
        return one_axis(&tw__op_Max, sums, axis.items[isinf(p) ? 0 : 1]);
    }
    if (isinf(p))
        return tw__reduce_axes(&tw__op_Max, size, axis, true);
    if (p == 1)
        return tw__reduce_axes(&tw__op_Sum, size, axis, true);
    tw_auto tw_tensor *power = size ? tw__grad_constant(p, size) : NULL;
    tw_auto tw_tensor *root = power ? tw__grad_constant(1 / p, size) : NULL;
    tw_auto tw_tensor *powers = TW_CALL(Pow, size, power);
    tw_auto tw_tensor *sum = tw__reduce_axes(&tw__op_Sum, powers, axis, true);
    return TW_CALL(Pow, sum, root);
}

TW_API(
    norm,
    "norm|linalg.norm(tensor: tensor, ord: value = None shown 'euclidean', axis: ints = None, keepdims: bool = False shown None, name: str = None) -> tensor",
    "The norm of vectors (one axis, or all elements) or matrices (two axes): Euclidean if ord is not given.\n"
    "tensor: floats or complex numbers\n"
    "ord: which norm: `euclidean`, `fro` (matrices), 1, 2, `np.inf` or another number above 0; None: `euclidean`\n"
    "example: tf.norm([3.0, 4.0]).numpy()  # 5.0")
{
    bool matrix = args->axis.given && args->axis.count == 2;
    if (args->axis.given && args->axis.count != 1 && args->axis.count != 2) {
        tw__fail(TW_VALUE_ERROR, "'axis' must be None, an integer, or a tuple of 2 unique integers, got %lld",
                 (long long)args->axis.count);
        return NULL;
    }
    double p = order_of(&args->ord, matrix);
    tw_auto tw_tensor *norm = isnan(p) ? NULL : norm_of(args->tensor, p, args->axis);
    if (!norm || args->keepdims)
        return norm ? tw_retain(norm) : NULL;
    if (!args->axis.given && norm->shape.rank < 0) {
        tw_auto tw_tensor *scalar = tw__ints_tensor(NULL, 0, TW_INT32);
        return TW_CALL(Reshape, norm, scalar);
    }
    return TW_CALL(Squeeze, norm, TW_A_INTS("squeeze_dims", args->axis.items, args->axis.given ? args->axis.count : 0));
}

/* ---- saturate_cast ---- */

typedef struct kind {
    int digits; /* bits of an integer without its sign, of a float its precision */
    bool is_signed, is_float;
    double most; /* of floats */
} kind;

static bool kind_of(tw_dtype dtype, kind *out)
{
    switch (dtype) {
    case TW_INT8:
        *out = (kind){ 7, true, false, 0 };
        return true;
    case TW_INT16:
        *out = (kind){ 15, true, false, 0 };
        return true;
    case TW_INT32:
        *out = (kind){ 31, true, false, 0 };
        return true;
    case TW_INT64:
        *out = (kind){ 63, true, false, 0 };
        return true;
    case TW_UINT8:
        *out = (kind){ 8, false, false, 0 };
        return true;
    case TW_UINT16:
        *out = (kind){ 16, false, false, 0 };
        return true;
    case TW_UINT32:
        *out = (kind){ 32, false, false, 0 };
        return true;
    case TW_UINT64:
        *out = (kind){ 64, false, false, 0 };
        return true;
    case TW_FLOAT16:
        *out = (kind){ 11, true, true, 65504 };
        return true;
    case TW_BFLOAT16:
        *out = (kind){ 8, true, true, 0x1.fep127 };
        return true;
    case TW_FLOAT32:
        *out = (kind){ 24, true, true, FLT_MAX };
        return true;
    case TW_FLOAT64:
        *out = (kind){ 53, true, true, DBL_MAX };
        return true;
    default:
        return false;
    }
}

/* The largest number of `digits` significant bits that is no larger than `most`. */
static double rounded_down(double most, int digits)
{
    int exponent;
    double fraction = frexp(most, &exponent);
    return ldexp(floor(ldexp(fraction, digits)), exponent - digits);
}

TW_API(saturate_cast, "saturate_cast|dtypes.saturate_cast(value: tensor|ragged, dtype: dtype, name: str = None) -> tensor",
       "value as another dtype; what that can't hold becomes its lowest or highest value.\n"
       "value: the numbers\n"
       "dtype: the dtype of the result\n"
       "example: tf.saturate_cast([-5, 300], tf.uint8).numpy().tolist()  # [0, 255]")
{
    kind from, to;
    if (!kind_of(args->value->dtype, &from) || !kind_of(args->dtype, &to)) {
        tw__fail(TW_UNIMPLEMENTED, "saturate_cast: from %s to %s is not supported, only between real numbers",
                 tw_dtype_name(args->value->dtype), tw_dtype_name(args->dtype));
        return NULL;
    }
    tw_auto tw_tensor *low = NULL, *high = NULL;
    tw_tensor *value = args->value;
    if (!from.is_float && !to.is_float) {
        int digits = from.digits < to.digits ? from.digits : to.digits;
        bool negative = from.is_signed && to.is_signed;
        int64_t most = digits >= 63 ? INT64_MAX : ((int64_t)1 << digits) - 1;
        tw_auto tw_tensor *most_64 = from.digits > to.digits ? tw_tensor_int64(most) : NULL;
        tw_auto tw_tensor *least_64 =
            from.is_signed && (!to.is_signed || from.digits > to.digits) ? tw_tensor_int64(negative ? -most - 1 : 0) : NULL;
        high = most_64 ? TW_CALL(Cast, most_64, TW_A_TYPE("DstT", value->dtype)) : NULL;
        low = least_64 ? TW_CALL(Cast, least_64, TW_A_TYPE("DstT", value->dtype)) : NULL;
    } else {
        double from_most = from.is_float ? from.most : ldexp(1, from.digits);
        /* 2^n - 1 with n above the precision is rounded down by hand: as a double it may already be 2^n. */
        double to_most = to.is_float ? rounded_down(to.most, from.is_float && from.digits < to.digits ? from.digits : 53)
                         : from.digits < to.digits ? ldexp(ldexp(1, from.digits) - 1, to.digits - from.digits)
                                                   : ldexp(1, to.digits) - 1;
        double to_least = to.is_float ? -to_most : to.is_signed ? -ldexp(1, to.digits) : 0;
        if (from_most > to_most)
            high = tw__grad_constant(to_most, value);
        if (from.is_signed && -from_most < to_least)
            low = tw__grad_constant(to_least, value);
    }
    tw_auto tw_tensor *below = high ? TW_CALL(Minimum, value, high) : tw_retain(value);
    tw_auto tw_tensor *within = low && below ? TW_CALL(Maximum, below, low) : tw_retain(below);
    if (!within || within->dtype == args->dtype)
        return tw_retain(within);
    return TW_CALL(Cast, within, TW_A_TYPE("DstT", args->dtype));
}
