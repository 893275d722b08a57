/* tf.linalg: orthogonal factors, eigenvalues, singular values, and what is made of them: ranks, pseudo-inverses; the exponential.
 */
#include <math.h>

#include "api/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

TW_API(linalg_qr, "linalg.qr|compat.v1.qr(input: tensor, full_matrices: bool = False, name: str = None) -> tensors<Qr>",
       "Each matrix as orthogonal columns times an upper triangular matrix.\n"
       "input: matrices [..., M, N]\n"
       "full_matrices: True: `q` is square; False: it has as many columns as the matrix, or rows if these are fewer\n"
       "returns: `q` and `r`")
{
    return tw__call_many(&tw__op_Qr, TW_IN(args->input), 1, TW_WITH(TW_A_BOOL("full_matrices", args->full_matrices)), 1, 2);
}

/* ---- Hermitian matrices ---- */

static tw_tensors eigen(tw_tensor *tensor, bool vectors)
{
    return tw__call_many(&tw__op_SelfAdjointEigV2, TW_IN(tensor), 1, TW_WITH(TW_A_BOOL("compute_v", vectors)), 1, 2);
}

TW_API(linalg_eigh, "linalg.eigh|compat.v1.self_adjoint_eig(tensor: tensor, name: str = None) -> tensors<tuple>",
       "Eigenvalues, ascending, and eigenvectors (columns) of each Hermitian matrix, whose lower triangle counts.\n"
       "returns: eigenvalues [..., M] and eigenvectors [..., M, M]")
{
    return eigen(args->tensor, true);
}

/* One of several results, a new reference; the others end. */
static tw_tensor *only(tw_tensors results, int64_t index)
{
    tw_tensor *one = results.items && index < results.count ? tw_retain(results.items[index]) : NULL;
    if (results.items)
        tw_tensors_free(&results);
    return one;
}

TW_API(linalg_eigvalsh, "linalg.eigvalsh|compat.v1.self_adjoint_eigvals(tensor: tensor, name: str = None) -> tensor",
       "Eigenvalues, ascending, of each Hermitian matrix.")
{
    return only(eigen(args->tensor, false), 0);
}

/* ---- singular values ---- */

static tw_tensors singular(tw_tensor *tensor, bool full, bool vectors)
{
    return tw__call_many(&tw__op_Svd, TW_IN(tensor), 1,
                         TW_WITH(TW_A_BOOL("compute_uv", vectors), TW_A_BOOL("full_matrices", full)), 2, 3);
}

/* The values of complex matrices come as real numbers. Takes s. */
static tw_tensor *real_values(tw_tensor *s)
{
    if (!s || !tw__dtype_is_complex(s->dtype))
        return s;
    tw_tensor *real = TW_CALL(Real, s, TW_A_TYPE("Tout", s->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64));
    tw_release(s);
    return real;
}

TW_API(
    linalg_svd,
    "linalg.svd|compat.v1.svd(tensor: tensor, full_matrices: bool = False, compute_uv: bool = True, name: str = None) -> value",
    "Singular values, descending, and singular vectors u, v of each matrix: u diag(s) v^H; or the values alone.\n"
    "tensor: matrices [..., M, N]\n"
    "full_matrices: True: `u` and `v` are square\n"
    "compute_uv: False: the singular values alone\n"
    "returns: `s`, `u` and `v`, or `s`")
{
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_tensors all = singular(args->tensor, args->full_matrices, args->compute_uv);
    if (!all.items || !(all.items[0] = real_values(all.items[0]))) {
        if (all.items)
            tw_tensors_free(&all);
        return result;
    }
    if (!args->compute_uv)
        return (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = only(all, 0) };
    tw_value *items = tw__alloc_array(3, sizeof *items);
    for (int i = 0; items && i < 3; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(all.items[i]) };
    tw_tensors_free(&all);
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 3 } } : result;
}

/* ---- ranks and pseudo-inverses ---- */

static tw_status check_matrix(const tw_tensor *x)
{
    if (!tw__dtype_is_float(x->dtype))
        return tw__fail(TW_TYPE_ERROR, "Input `a` must have `float`-like `dtype` (saw %s).", tw_dtype_name(x->dtype));
    if (x->shape.rank >= 0 && x->shape.rank < 2)
        return tw__fail(TW_VALUE_ERROR, "Input `a` must have at least 2 dimensions (saw: %d).", x->shape.rank);
    return TW_OK;
}

static double precision_of(tw_dtype dtype)
{
    return dtype == TW_FLOAT32 ? 0x1p-23 : dtype == TW_FLOAT16 ? 0x1p-10 : dtype == TW_BFLOAT16 ? 0x1p-7 : 0x1p-52;
}

/* The dtype's precision times the longer side of the matrices, times `factor`; of x's dtype. */
static tw_tensor *default_tolerance(tw_tensor *x, double factor)
{
    int64_t m = tw__matrix_dim(&x->shape, 2), n = tw__matrix_dim(&x->shape, 1);
    double each = factor * precision_of(x->dtype);
    if (m >= 0 && n >= 0) {
        double value = each * (double)(m > n ? m : n);
        tw_auto tw_tensor *number = tw_tensor_new(TW_FLOAT64, TW_SCALAR, &value);
        return number ? tw_cast(number, x->dtype) : NULL;
    }
    tw_auto tw_tensor *sides = tw__sizes_later(x, -2, 0);
    tw_auto tw_tensor *longer = sides ? tw__reduce_axes(&tw__op_Max, sides, TW_INTS(0), false) : NULL,
                      *number = longer ? tw_cast(longer, x->dtype) : NULL;
    return TW_CALL(Mul, (double)each, number);
}

TW_API(linalg_matrix_rank,
       "linalg.matrix_rank(a: tensor<T>, tol: tensor<T> = None, validate_args: bool = False, name: str = None) -> tensor",
       "How many singular values of each matrix are greater than tol, which is broadcast against them.\n"
       "tol: up to which value singular values count as zero; None: what rounding leaves\n"
       "example: tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy()  # 1")
{
    TW_TEMPS(t);
    if (check_matrix(args->a) != TW_OK)
        return NULL;
    tw_auto tw_tensor *s = only(singular(args->a, false, false), 0);
    tw_auto tw_tensor *largest = s && !args->tol ? tw__reduce_axes(&tw__op_Max, s, TW_INTS(-1), true) : NULL;
    tw_tensor *limit = args->tol ? tw_retain(args->tol) : TW_CALL(Mul, tw__temp(t, default_tolerance(args->a, 1)), largest);
    tw_auto tw_tensor *counts = s && limit ? TW_CALL(Greater, s, tw__temp(t, limit)) : NULL;
    tw_auto tw_tensor *ones = TW_CALL(Cast, counts, TW_A_TYPE("DstT", TW_INT32));
    return ones ? tw__reduce_axes(&tw__op_Sum, ones, TW_INTS(-1), false) : NULL;
}

TW_API(
    linalg_pinv, "linalg.pinv(a: tensor<T>, rcond: tensor<T> = None, validate_args: bool = False, name: str = None) -> tensor",
    "The pseudo-inverse of each matrix: singular values up to rcond times the greatest count as zero.\n"
    "rcond: the part of the greatest singular value up to which others count as zero; None: 10 * max(M, N) * the dtype's epsilon")
{
    TW_TEMPS(t);
    if (check_matrix(args->a) != TW_OK)
        return NULL;
    tw_tensors all = singular(args->a, false, true);
    if (!all.items)
        return NULL;
    tw_tensor *s = all.items[0];
    tw_auto tw_tensor *factor = args->rcond ? tw_retain(args->rcond) : default_tolerance(args->a, 10);
    tw_auto tw_tensor *largest = factor ? tw__reduce_axes(&tw__op_Max, s, TW_INTS(-1), false) : NULL;
    tw_auto tw_tensor *cutoff = TW_CALL(Mul, factor, largest);
    tw_auto tw_tensor *counts =
        cutoff ? TW_CALL(Greater, s, tw__temp(t, tw__call_axis(&tw__op_ExpandDims, cutoff, -1, NULL, 0))) : NULL;
    tw_auto tw_tensor *never = counts ? tw__grad_constant((double)INFINITY, s) : NULL;
    tw_auto tw_tensor *safe = TW_CALL(SelectV2, counts, s, never);
    tw_tensor *columns =
        safe ? TW_CALL(RealDiv, all.items[2], tw__temp(t, tw__call_axis(&tw__op_ExpandDims, safe, -2, NULL, 0))) : NULL;
    tw_tensor *result = tw_retain(tw__mm(t, tw__temp(t, columns), all.items[1], false, true));
    tw_tensors_free(&all);
    return result;
}

/* ---- the exponential ---- */

/* Padé's approximation of order 13 of x that has been scaled: (V + U) / (V - U). Borrows x. */
static tw_tensor *pade(tw_tensor *x)
{
    TW_TEMPS(t);
    static const double b[] = { 64764752532480000,
                                32382376266240000,
                                7771770303897600,
                                1187353796428800,
                                129060195264000,
                                10559470521600,
                                670442572800,
                                33522128640,
                                1323241920,
                                40840800,
                                960960,
                                16380,
                                182,
                                1 };
    tw_tensor *eye = tw__eye_like(t, x), *x2 = tw__mm(t, x, x, false, false);
    tw_tensor *x4 = tw__mm(t, x2, x2, false, false), *x6 = tw__mm(t, x4, x2, false, false);
    tw_tensor *sums[2];
    for (int odd = 0; odd < 2; odd++) {
        tw_tensor *high =
            TW_TEMP(AddV2, TW_TEMP(Mul, (double)(b[12 + odd]), x6),
                    TW_TEMP(AddV2, TW_TEMP(Mul, (double)(b[10 + odd]), x4), TW_TEMP(Mul, (double)(b[8 + odd]), x2)));
        tw_tensor *low = TW_TEMP(AddV2, TW_TEMP(Mul, (double)(b[6 + odd]), x6),
                                 TW_TEMP(AddV2, TW_TEMP(Mul, (double)(b[4 + odd]), x4), TW_TEMP(Mul, (double)(b[2 + odd]), x2)));
        sums[odd] = TW_TEMP(AddV2, tw__mm(t, x6, high, false, false), TW_TEMP(AddV2, low, TW_TEMP(Mul, (double)(b[odd]), eye)));
    }
    tw_tensor *even = sums[0], *product = tw__mm(t, x, sums[1], false, false);
    return tw_retain(tw__solve(t, TW_TEMP(Sub, even, product), TW_TEMP(AddV2, even, product), false));
}

TW_API(linalg_expm, "linalg.expm(input: tensor, name: str = None) -> tensor", "The exponential of each square matrix.")
{
    TW_TEMPS(t);
    /* Matrices are halved until their norm is below 5.4, and the result is squared as often. */
    tw_auto tw_tensor *sizes = TW_CALL(StopGradient, tw__temp(t, tw_abs(args->input))),
                      *sums = sizes ? tw__reduce_axes(&tw__op_Sum, sizes, TW_INTS(-2), true) : NULL;
    tw_auto tw_tensor *norm = sums ? tw__reduce_axes(&tw__op_Max, sums, TW_INTS(-1), true) : NULL;
    if (!norm)
        return NULL;
    /* One matrix that is not finite makes the whole batch no numbers, as in TensorFlow. */
    tw_tensor *finite = tw__temp(t, tw__reduce_axes(&tw__op_All, TW_TEMP(IsFinite, norm), (tw_ints){ 0 }, false));
    tw_tensor *input = TW_TEMP(SelectV2, finite, args->input, TW_TEMP(ZerosLike, args->input));
    tw_tensor *size = TW_TEMP(SelectV2, finite, norm, TW_TEMP(ZerosLike, norm));
    tw_auto tw_tensor *scaled = TW_CALL(RealDiv, size, 5.371920351148152);
    tw_tensor *logs = TW_CALL(RealDiv, TW_TEMP(Log, scaled), (double)(log(2)));
    tw_auto tw_tensor *times = TW_CALL(Maximum, TW_TEMP(Ceil, tw__temp(t, logs)), 0.0);
    tw_auto tw_tensor *factor = TW_CALL(Pow, 0.5, times);
    tw_auto tw_tensor *wide =
        factor && factor->dtype != args->input->dtype ? tw_cast(factor, args->input->dtype) : tw_retain(factor);
    tw_auto tw_tensor *small = TW_CALL(Mul, input, wide);
    tw_tensor *result = small ? pade(small) : NULL;
    double most = times && times->data ? 0 : 32; /* while a function is traced the number is not known */
    for (int64_t i = 0; times && times->data && i < times->count; i++)
        most = fmax(most, fmin(tw_tensor_double_at(times, i), 1024));
    for (int i = 0; result && i < (int)most; i++) {
        tw_auto tw_tensor *before = result, *number = tw__grad_constant(i, times);
        tw_auto tw_tensor *more = TW_CALL(Less, number, times), *square = TW_CALL(BatchMatMulV2, before, before);
        result = TW_CALL(SelectV2, more, square, before);
    }
    return TW_CALL(SelectV2, finite, tw__temp(t, result), tw__temp(t, result ? tw__grad_constant(NAN, result) : NULL));
}
