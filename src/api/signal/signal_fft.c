/* tf.signal: Fourier transforms of real numbers, over any axes, and the shift of their middle. */
#include <math.h>

#include "api/signal/signal.h"
#include "graph/graph.h"
#include "rows.h"

/* ---- helpers of tf.signal ---- */

bool tw__signal_rank(const tw_tensor *x, int least)
{
    if (x->shape.rank < 0 || x->shape.rank >= least)
        return true;
    tw__owned char *shape = tw__shape_tuple(&x->shape);
    tw__fail(TW_VALUE_ERROR, "Shape %s must have rank at least %d", shape ? shape : "", least);
    return false;
}

tw_tensor *tw__signal_last(tw__temps *t, tw_tensor *x, int from_end)
{
    if (!x)
        return NULL;
    int64_t known = x->shape.rank >= from_end ? x->shape.dims[x->shape.rank - from_end] : -1;
    if (known >= 0 && known <= INT32_MAX)
        return tw__temp_int(t, known, TW_INT32);
    return tw__temp_at(t, TW_TEMP(Shape, x), -from_end);
}

tw_tensor *tw__signal_told(tw_tensor *made, const tw_tensor *x, int drop, int count, const int64_t *dims)
{
    tw_shape shape = x->shape;
    if (!made || !made->node || shape.rank < drop || shape.rank - drop + count > TW_MAX_RANK)
        return made;
    shape.rank -= drop;
    for (int i = 0; i < count; i++)
        shape.dims[shape.rank++] = dims[i];
    return tw__symbolic_refine(made, &shape) == TW_OK ? made : NULL;
}

tw_tensor *tw__signal_part(tw__temps *t, tw_tensor *x, int64_t begin, tw_tensor *end, int64_t step)
{
    /* x[..., begin:end:step]: the dots are one bit of the mask, the part is the second entry */
    tw_tensor *first = tw__temp_ints(t, (int64_t[]){ 0, begin }, 2, TW_INT32),
              *steps = tw__temp_ints(t, (int64_t[]){ 1, step }, 2, TW_INT32);
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32);
    tw_tensor *last = zero ? tw__temp(t, tw__call(&tw__op_Pack, TW_IN(zero, end ? end : zero), 2, NULL, 0)) : NULL;
    return TW_TEMP(StridedSlice, x, first, last, steps, TW_A_INT("ellipsis_mask", 1), TW_A_INT("end_mask", end ? 0 : 2));
}

/* Zeros behind the last `count` axes, until they have these sizes, a vector of int32. */
static tw_tensor *fill_axes(tw__temps *t, tw_tensor *x, tw_tensor *sizes, int count)
{
    if (!x || !sizes)
        return NULL;
    bool known = sizes->data && x->shape.rank >= count && sizes->count == count, enough = known;
    int32_t pads_known[TW_MAX_RANK][2] = { { 0 } };
    for (int i = 0; known && i < count; i++) {
        int axis = x->shape.rank - count + i;
        int64_t have = x->shape.dims[axis], want = tw_tensor_int_at(sizes, i);
        known = have >= 0;
        enough = enough && have >= want;
        pads_known[axis][1] = have >= want ? 0 : (int32_t)(want - have);
    }
    if (enough || (sizes->shape.rank == 1 && sizes->shape.dims[0] >= 0 && sizes->shape.dims[0] != count))
        return x; /* or the op says what is wrong */
    if (known)
        return TW_TEMP(Pad, x, tw__temp(t, tw_tensor_new(TW_INT32, TW_SHAPE(x->shape.rank, 2), pads_known)));
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT32), *zero = tw__temp_int(t, 0, TW_INT32);
    tw_tensor *missing = TW_TEMP(Maximum, TW_TEMP(Sub, sizes, tw__temp_slice(t, shape, -count, TW_NO_INT)), zero);
    tw_tensor *before = TW_TEMP(ZerosLike, tw__temp_slice(t, shape, TW_NO_INT, -count));
    tw_tensor *behind = before && missing ? tw__temp_concat(t, TW_IN(before, missing), 2, 0) : NULL;
    tw_tensor *none = TW_TEMP(ZerosLike, behind);
    tw_tensor *pads = none ? tw__temp(t, tw__call(&tw__op_Pack, TW_IN(none, behind), 2, TW_WITH(TW_A_INT("axis", 1)), 1)) : NULL;
    return TW_TEMP(Pad, x, pads);
}

/* A scalar as a vector; a constant stays one. */
static tw_tensor *vector_of(tw__temps *t, tw_tensor *scalar)
{
    if (!scalar)
        return NULL;
    if (!scalar->data)
        return tw__temp_reshape(t, scalar, (int64_t[]){ 1 }, 1);
    int64_t value = tw_tensor_int_at(scalar, 0);
    return tw__temp_ints(t, &value, 1, TW_INT32);
}

tw_tensor *tw__signal_fill(tw__temps *t, tw_tensor *x, tw_tensor *size)
{
    return fill_axes(t, x, vector_of(t, size), 1);
}

static tw_dtype complex_of(tw_dtype real)
{
    return real == TW_FLOAT64 ? TW_COMPLEX128 : TW_COMPLEX64;
}

static tw_dtype real_of(tw_dtype complex)
{
    return complex == TW_COMPLEX128 ? TW_FLOAT64 : TW_FLOAT32;
}

/* ---- real numbers ---- */

static tw_tensor *of_real(tw__temps *t, const tw_op *op, tw_tensor *x, tw_tensor *lengths, int count)
{
    if (!x)
        return NULL;
    if (x->dtype != TW_FLOAT32 && x->dtype != TW_FLOAT64) {
        tw__fail(TW_VALUE_ERROR, "RFFT requires tf.float32 or tf.float64 inputs, got: %s", tw_dtype_name(x->dtype));
        return NULL;
    }
    if (!tw__signal_rank(x, count))
        return NULL;
    if (lengths)
        x = fill_axes(t, x, lengths, count);
    else
        lengths = tw__temp_slice(t, tw__temp_shape(t, x, TW_INT32), -count, TW_NO_INT);
    return x ? TW_CALL_OP(op, x, lengths, TW_A_TYPE("Tcomplex", complex_of(x->dtype))) : NULL;
}

/* How much of each axis there is where the transform has these lengths: of the last one half. */
static tw_tensor *halves(tw__temps *t, tw_tensor *lengths, int count)
{
    tw_tensor *last = tw__temp_slice(t, lengths, -1, TW_NO_INT), *one = tw__temp_int(t, 1, TW_INT32);
    tw_tensor *half = TW_TEMP(AddV2, TW_TEMP(FloorDiv, last, tw__temp_int(t, 2, TW_INT32)), one);
    if (count == 1)
        return half;
    tw_tensor *first = tw__temp_slice(t, lengths, TW_NO_INT, -1);
    return first && half ? tw__temp_concat(t, TW_IN(first, half), 2, 0) : NULL;
}

static tw_tensor *to_real(tw__temps *t, const tw_op *op, tw_tensor *x, tw_tensor *lengths, int count)
{
    if (!x)
        return NULL;
    if (!tw__dtype_is_complex(x->dtype)) {
        tw__fail(TW_VALUE_ERROR, "IRFFT requires tf.complex64 or tf.complex128 inputs, got: %s", tw_dtype_name(x->dtype));
        return NULL;
    }
    if (!tw__signal_rank(x, count))
        return NULL;
    if (lengths) {
        bool fits = lengths->shape.rank == 1 && lengths->shape.dims[0] == count;
        x = fits ? fill_axes(t, x, halves(t, lengths, count), count) : x;
    } else {
        tw_tensor *shape = tw__temp_shape(t, x, TW_INT32), *zero = tw__temp_int(t, 0, TW_INT32);
        tw_tensor *last = TW_TEMP(Sub, tw__temp_slice(t, shape, -1, TW_NO_INT), tw__temp_int(t, 1, TW_INT32));
        tw_tensor *whole = TW_TEMP(Maximum, TW_TEMP(AddV2, last, last), zero);
        tw_tensor *first = count > 1 ? tw__temp_slice(t, shape, -count, -1) : NULL;
        lengths = count == 1 ? whole : first && whole ? tw__temp_concat(t, TW_IN(first, whole), 2, 0) : NULL;
    }
    return x ? TW_CALL_OP(op, x, lengths, TW_A_TYPE("Treal", real_of(x->dtype))) : NULL;
}

tw_tensor *tw__signal_rfft(tw__temps *t, tw_tensor *x, tw_tensor *length)
{
    tw_tensor *lengths = vector_of(t, length);
    return lengths ? tw__temp(t, of_real(t, &tw__op_RFFT, x, lengths, 1)) : NULL;
}

tw_tensor *tw__signal_irfft(tw__temps *t, tw_tensor *x, tw_tensor *length)
{
    tw_tensor *lengths = vector_of(t, length);
    return lengths ? tw__temp(t, to_real(t, &tw__op_IRFFT, x, lengths, 1)) : NULL;
}

TW_API(
    signal_rfft,
    "signal.rfft|compat.v1.spectral.rfft(input_tensor: tensor<float32>, fft_length: tensor<int32> = None, name: str = None) -> tensor",
    "The first half of the Fourier transform of real numbers, over the last axis. fft_length: the input is cut, or zeros follow.")
{
    TW_TEMPS(t);
    return of_real(t, &tw__op_RFFT, args->input_tensor, args->fft_length, 1);
}

TW_API(
    signal_rfft2d,
    "signal.rfft2d|compat.v1.spectral.rfft2d(input_tensor: tensor<float32>, fft_length: tensor<int32> = None, name: str = None) -> tensor",
    "rfft over the last two axes, the last of which is halved.")
{
    TW_TEMPS(t);
    return of_real(t, &tw__op_RFFT2D, args->input_tensor, args->fft_length, 2);
}

TW_API(
    signal_rfft3d,
    "signal.rfft3d|compat.v1.spectral.rfft3d(input_tensor: tensor<float32>, fft_length: tensor<int32> = None, name: str = None) -> tensor",
    "rfft over the last three axes, the last of which is halved.")
{
    TW_TEMPS(t);
    return of_real(t, &tw__op_RFFT3D, args->input_tensor, args->fft_length, 3);
}

TW_API(
    signal_irfft,
    "signal.irfft|compat.v1.spectral.irfft(input_tensor: tensor<complex64>, fft_length: tensor<int32> = None, name: str = None) -> tensor",
    "The real numbers whose Fourier transform begins with these, over the last axis.")
{
    TW_TEMPS(t);
    return to_real(t, &tw__op_IRFFT, args->input_tensor, args->fft_length, 1);
}

TW_API(
    signal_irfft2d,
    "signal.irfft2d|compat.v1.spectral.irfft2d(input_tensor: tensor<complex64>, fft_length: tensor<int32> = None, name: str = None) -> tensor",
    "irfft over the last two axes.")
{
    TW_TEMPS(t);
    return to_real(t, &tw__op_IRFFT2D, args->input_tensor, args->fft_length, 2);
}

TW_API(
    signal_irfft3d,
    "signal.irfft3d|compat.v1.spectral.irfft3d(input_tensor: tensor<complex64>, fft_length: tensor<int32> = None, name: str = None) -> tensor",
    "irfft over the last three axes.")
{
    TW_TEMPS(t);
    return to_real(t, &tw__op_IRFFT3D, args->input_tensor, args->fft_length, 3);
}

/* ---- any axes ---- */

/* The axes that are meant: the last ones where only lengths are given, all where nothing is. */
static tw_tensor *axes_of(tw__temps *t, tw_tensor *x, tw_ints axes, tw_ints lengths)
{
    int64_t all[TW_MAX_RANK], count = axes.given ? axes.count : lengths.given ? lengths.count : x->shape.rank;
    if (count > TW_MAX_RANK || x->shape.rank < 0) {
        tw__fail(TW_VALUE_ERROR,
                 x->shape.rank < 0 ? "the rank of the input must be known" : "there are more axes than the input has");
        return NULL;
    }
    for (int i = 0; i < count; i++)
        all[i] = axes.given ? axes.items[i] : x->shape.rank - count + i;
    return tw__temp_ints(t, all, count, TW_INT32);
}

/* half: the last axis has half of the numbers. */
static tw_tensor *any_axes(const tw_op *op, tw_tensor *x, tw_ints lengths, tw_ints axes, const char *norm, bool inverse,
                           bool half)
{
    TW_TEMPS(t);
    tw_tensor *chosen = axes_of(t, x, axes, lengths);
    if (!chosen)
        return NULL;
    int64_t sizes[TW_MAX_RANK], product = 1;
    int axis = 0;
    if (lengths.given && lengths.count != chosen->count) {
        tw__fail(TW_VALUE_ERROR, "fft_length has %lld entries for %lld axes", (long long)lengths.count, (long long)chosen->count);
        return NULL;
    }
    for (int64_t i = 0; i < chosen->count; i++) {
        if (!tw__axis_normal(tw_tensor_int_at(chosen, i), x->shape.rank, &axis)) {
            tw__fail(TW_VALUE_ERROR, "axes[%lld] is no axis of the input", (long long)i);
            return NULL;
        }
        sizes[i] = lengths.given ? lengths.items[i] : x->shape.dims[axis];
        if (!lengths.given && half && i == chosen->count - 1)
            sizes[i] = 2 * (sizes[i] - 1);
        if (sizes[i] < 1 || __builtin_mul_overflow(product, sizes[i], &product)) {
            tw__fail(TW_VALUE_ERROR, "the size of axis %d must be known and positive, got %lld", axis, (long long)sizes[i]);
            return NULL;
        }
    }
    tw_tensor *made = TW_TEMP_OP(op, x, tw__temp_ints(t, sizes, chosen->count, TW_INT32), chosen);
    double scale = !norm || strcmp(norm, "backward") == 0 ? 1
                   : strcmp(norm, "ortho") == 0           ? (inverse ? sqrt((double)product) : 1 / sqrt((double)product))
                   : strcmp(norm, "forward") == 0         ? (inverse ? (double)product : 1 / (double)product)
                                                          : 0;
    if (scale == 0) {
        tw__fail(TW_VALUE_ERROR, "Invalid normalization mode: \"%s\"; expected \"backward\", \"ortho\" or \"forward\"", norm);
        return NULL;
    }
    if (scale == 1 || !made)
        return made ? tw__keep(t, made) : NULL;
    tw_tensor *factor = tw__temp_float(t, tw__dtype_is_complex(made->dtype) ? real_of(made->dtype) : made->dtype, scale);
    return TW_CALL(Mul, made, tw__temp_cast(t, factor, made->dtype));
}

TW_API(
    signal_fftnd,
    "signal.fftnd(input_tensor: tensor<complex64>, fft_length: ints = None, axes: ints = None, norm: str = None, name: str = None) -> tensor",
    "The Fourier transform over axes, all if none are given.\n"
    "input_tensor: the tensor to transform\n"
    "axes: the dimensions to transform; None: all\n"
    "norm: how the result is scaled: None or `backward`, `ortho` or `forward`")
{
    return any_axes(&tw__op_FFTND, args->input_tensor, args->fft_length, args->axes, args->norm, false, false);
}

TW_API(
    signal_ifftnd,
    "signal.ifftnd(input_tensor: tensor<complex64>, fft_length: ints = None, axes: ints = None, norm: str = None, name: str = None) -> tensor",
    "What has this Fourier transform over axes.\n"
    "input_tensor: the tensor to transform\n"
    "axes: the dimensions to transform; None: all\n"
    "norm: how the result is scaled: None or `backward`, `ortho` or `forward`")
{
    return any_axes(&tw__op_IFFTND, args->input_tensor, args->fft_length, args->axes, args->norm, true, false);
}

/* The op's result has a dtype of its own. */
static tw_tensor *real_axes(const tw_op *op, tw_tensor *x, bool fits, tw_ints lengths, tw_ints axes, const char *norm,
                            bool inverse)
{
    if (!fits) {
        tw__fail(TW_VALUE_ERROR, "%s: inputs of dtype %s are not supported", op->name, tw_dtype_name(x->dtype));
        return NULL;
    }
    return any_axes(op, x, lengths, axes, norm, inverse, inverse);
}

TW_API(
    signal_rfftnd,
    "signal.rfftnd(input_tensor: tensor<float32>, fft_length: ints = None, axes: ints = None, norm: str = None, name: str = None) -> tensor",
    "The Fourier transform of real numbers over axes, the last of which is halved.\n"
    "input_tensor: the tensor to transform\n"
    "axes: the dimensions to transform; None: all\n"
    "norm: how the result is scaled: None or `backward`, `ortho` or `forward`")
{
    return real_axes(&tw__op_RFFTND, args->input_tensor, args->input_tensor->dtype == TW_FLOAT32, args->fft_length, args->axes,
                     args->norm, false);
}

TW_API(
    signal_irfftnd,
    "signal.irfftnd(input_tensor: tensor<complex64>, fft_length: ints = None, axes: ints = None, norm: str = None, name: str = None) -> tensor",
    "The real numbers that have this Fourier transform over axes.\n"
    "input_tensor: the tensor to transform\n"
    "axes: the dimensions to transform; None: all\n"
    "norm: how the result is scaled: None or `backward`, `ortho` or `forward`")
{
    return real_axes(&tw__op_IRFFTND, args->input_tensor, args->input_tensor->dtype == TW_COMPLEX64, args->fft_length, args->axes,
                     args->norm, true);
}

/* ---- the middle ---- */

static tw_tensor *shift(tw_tensor *x, tw_ints axes, bool back)
{
    TW_TEMPS(t);
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT32), *which, *two = tw__temp_int(t, 2, TW_INT32);
    if (axes.given) {
        which = tw__temp_ints(t, axes.items, axes.count, TW_INT32);
        for (int64_t i = 0; x->shape.rank >= 0 && i < axes.count; i++) {
            int normal;
            if (!tw__axis_normal(axes.items[i], x->shape.rank, &normal)) {
                tw__fail(TW_INVALID_ARGUMENT, "slice index %lld of dimension 0 out of bounds.", (long long)axes.items[i]);
                return NULL;
            }
        }
    } else {
        which = tw__temp(t, tw__all_axes(x));
    }
    /* an axis may count from the end */
    tw_tensor *rank = TW_TEMP(Size, shape);
    tw_tensor *sizes = tw__temp_gather(t, shape, TW_TEMP(FloorMod, which, rank), 0);
    tw_tensor *half = TW_TEMP(FloorDiv, sizes, two);
    return TW_CALL(Roll, x, back ? TW_TEMP(Neg, half) : half, which);
}

TW_API(signal_fftshift, "signal.fftshift(x: tensor, axes: ints = None, name: str = None) -> tensor",
       "The frequency zero in the middle of the axes, all if none are given.\n"
       "axes: the dimensions to move along; None: all\n"
       "example: tf.signal.fftshift([0, 1, 2, 3]).numpy().tolist()  # [2, 3, 0, 1]")
{
    return shift(args->x, args->axes, false);
}

TW_API(signal_ifftshift, "signal.ifftshift(x: tensor, axes: ints = None, name: str = None) -> tensor",
       "What fftshift did, undone.\n"
       "axes: the dimensions to move along; None: all")
{
    return shift(args->x, args->axes, true);
}
