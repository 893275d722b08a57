/* FFT, IFFT, RFFT, IRFFT over the last one, two or three axes, and the forms over any axes. What they differ in is one
 * description each. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/signal/signal.h"
#include "rows.h"

typedef struct kind {
    const tw_op *op;
    tw__spectrum spectrum;
    int rank; /* of the transform; 0: the axes are an input */
    const tw_op *inverse;
    bool backward;
} kind;

#define FORWARD(op_, rank_, inverse_)                                        \
    {                                                                        \
        &tw__op_##op_, TW_SPECTRUM_COMPLEX, rank_, &tw__op_##inverse_, false \
    }
#define BACKWARD(op_, rank_, inverse_)                                      \
    {                                                                       \
        &tw__op_##op_, TW_SPECTRUM_COMPLEX, rank_, &tw__op_##inverse_, true \
    }
#define OF_REAL(op_, rank_, inverse_)                                        \
    {                                                                        \
        &tw__op_##op_, TW_SPECTRUM_OF_REAL, rank_, &tw__op_##inverse_, false \
    }
#define TO_REAL(op_, rank_, inverse_)                                       \
    {                                                                       \
        &tw__op_##op_, TW_SPECTRUM_TO_REAL, rank_, &tw__op_##inverse_, true \
    }
static const kind kinds[] = {
    FORWARD(FFT, 1, IFFT),       FORWARD(FFT2D, 2, IFFT2D),  FORWARD(FFT3D, 3, IFFT3D),   BACKWARD(IFFT, 1, FFT),
    BACKWARD(IFFT2D, 2, FFT2D),  BACKWARD(IFFT3D, 3, FFT3D), OF_REAL(RFFT, 1, IRFFT),     OF_REAL(RFFT2D, 2, IRFFT2D),
    OF_REAL(RFFT3D, 3, IRFFT3D), TO_REAL(IRFFT, 1, RFFT),    TO_REAL(IRFFT2D, 2, RFFT2D), TO_REAL(IRFFT3D, 3, RFFT3D),
    FORWARD(FFTND, 0, IFFTND),   BACKWARD(IFFTND, 0, FFTND), OF_REAL(RFFTND, 0, IRFFTND), TO_REAL(IRFFTND, 0, RFFTND),
};

static const kind *kind_of(const tw_op *op)
{
    const kind *k = kinds;
    while (k->op != op)
        k++;
    return k;
}

/* ---- shapes ---- */

static tw_status need_rank(const tw__inference *inference, int least)
{
    const tw_shape *in = inference->shapes[0];
    if (in->rank >= 0 && in->rank < least)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input must have rank of at least %d but got: %s", least,
                          tw__shape_text(in));
    return TW_OK;
}

static tw_status complex_shape(tw__inference *inference)
{
    TW_TRY(need_rank(inference, kind_of(inference->op)->rank));
    inference->out_shapes[0] = *inference->shapes[0];
    return TW_OK;
}

/* One axis of the result, and what the input must have of it. */
static tw_status fit(const tw__inference *inference, const kind *k, int axis, int64_t length, bool half, tw_shape *out)
{
    int64_t in = inference->shapes[0]->dims[axis], need = length;
    if (length < 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "fft_length[%d] must be >= 0, but got: %lld", axis, (long long)length);
    bool real = half && k->spectrum != TW_SPECTRUM_COMPLEX;
    if (real && k->spectrum == TW_SPECTRUM_TO_REAL)
        need = length ? length / 2 + 1 : 0;
    if (k->rank && in > 0 && in < need)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input dimension %d must have length of at least %lld but got: %lld",
                          axis, (long long)need, (long long)in);
    out->dims[axis] = real && k->spectrum == TW_SPECTRUM_OF_REAL && length ? length / 2 + 1 : length;
    return TW_OK;
}

static tw_status real_shape(tw__inference *inference)
{
    const kind *k = kind_of(inference->op);
    const tw_shape *in = inference->shapes[0], *lengths = inference->shapes[1];
    tw_shape *out = &inference->out_shapes[0];
    TW_TRY(need_rank(inference, k->rank));
    if (lengths->rank >= 0 && (lengths->rank != 1 || (lengths->dims[0] >= 0 && lengths->dims[0] != k->rank)))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "fft_length must have shape [%d]", k->rank);
    if (in->rank < 0)
        return TW_OK;
    *out = *in;
    tw_shape partial = { .rank = -1 };
    bool partly = !inference->values[1] && tw__partial_input(inference, 1, &partial) && partial.rank == k->rank;
    for (int i = 0; i < k->rank; i++) {
        int axis = in->rank - k->rank + i;
        int64_t length = inference->values[1] ? tw_tensor_int_at(inference->values[1], i) : partly ? partial.dims[i] : -1;
        out->dims[axis] = -1;
        if (inference->values[1] || length >= 0)
            TW_TRY(fit(inference, k, axis, length, i == k->rank - 1, out));
    }
    return TW_OK;
}

/* The axes, in [0, rank), each once. */
static tw_status read_axes(const tw_op *op, const tw_tensor *axes, int rank, int *normal, int *count)
{
    bool seen[TW_MAX_RANK] = { false };
    if (axes->shape.rank != 1 || axes->count > rank)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "axes must be a vector of at most %d axes, got shape %s", rank,
                           tw__shape_text(&axes->shape));
    for (int64_t i = 0; i < axes->count; i++) {
        int64_t axis = tw_tensor_int_at(axes, i);
        if (!tw__axis_normal(axis, rank, &normal[i]) || seen[normal[i]])
            return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "axes[%lld] = %lld is %s", (long long)i, (long long)axis,
                               axis < -rank || axis >= rank ? "no axis of the input" : "there twice");
        seen[normal[i]] = true;
    }
    *count = (int)axes->count;
    return TW_OK;
}

static tw_status axes_shape(tw__inference *inference)
{
    const kind *k = kind_of(inference->op);
    const tw_shape *in = inference->shapes[0];
    tw_tensor *lengths = inference->values[1], *axes = inference->values[2];
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 0)
        return TW_OK;
    *out = *in;
    if (!lengths || !axes) {
        for (int d = 0; d < in->rank; d++)
            out->dims[d] = -1;
        return TW_OK;
    }
    int normal[TW_MAX_RANK], count;
    TW_TRY(read_axes(inference->op, axes, in->rank, normal, &count));
    if (lengths->count != count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "fft_length must have shape [%d]", count);
    for (int i = 0; i < count; i++)
        TW_TRY(fit(inference, k, normal[i], tw_tensor_int_at(lengths, i), i == count - 1, out));
    return TW_OK;
}

/* ---- kernels ---- */

static tw_status fft_compute(tw__kernel *kernel)
{
    const kind *k = kind_of(kernel->op);
    const tw_tensor *in = kernel->inputs[0];
    tw__transform transform = { .kind = k->spectrum, .inverse = k->backward, .count = k->rank };
    int rank = in->shape.rank;
    if (!k->rank)
        TW_TRY(read_axes(kernel->op, kernel->inputs[2], rank, transform.axes, &transform.count));
    for (int i = 0; i < transform.count; i++) {
        if (k->rank)
            transform.axes[i] = rank - k->rank + i;
        transform.length[i] =
            kernel->input_count > 1 ? tw_tensor_int_at(kernel->inputs[1], i) : in->shape.dims[transform.axes[i]];
        if (transform.length[i] <= 0 && kernel->outputs[0]->count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "fft_length[%d] must be positive, got %lld", i,
                              (long long)transform.length[i]);
    }
    if (!transform.count) {
        if (in->dtype != kernel->outputs[0]->dtype)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "axes must not be empty");
        memcpy(kernel->outputs[0]->data, in->data, (size_t)in->count * tw__element_size(in->dtype));
        return TW_OK;
    }
    return tw__transform_run(&transform, in, kernel->outputs[0]);
}

/* ---- gradients ---- */

/* The product of the last `rank` sizes, or of a vector of them, as a scalar of dtype. */
static tw_tensor *product(tw__temps *t, tw_tensor *sizes, tw_dtype dtype)
{
    return tw__temp_cast(t, TW_TEMP(Prod, sizes, 0), dtype);
}

static tw_status complex_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    const kind *k = kind_of(g->op);
    tw_tensor *gradient = g->output_grads[0], *lengths, *back;
    if (k->rank) {
        lengths = tw__temp_slice(t, tw__temp_shape(t, gradient, TW_INT32), -k->rank, TW_NO_INT);
        back = TW_TEMP_OP(k->inverse, gradient);
    } else {
        lengths = g->inputs[1];
        if (!tw__shape_compatible(&g->inputs[0]->shape, &gradient->shape))
            return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient where fft_length differs from the input's sizes");
        back = TW_TEMP_OP(k->inverse, gradient, lengths, g->inputs[2]);
    }
    tw_tensor *size = product(t, lengths, gradient->dtype);
    tw__grad_set(g, 0, k->backward ? TW_CALL(RealDiv, back, size) : TW_CALL(Mul, back, size));
    return tw__grad_status(g);
}

/* How often the numbers along the half axis count: once the first, and the middle one of an even length; `others` the rest. */
static tw_tensor *weights(tw__temps *t, tw_tensor *lengths, tw_dtype dtype, double others)
{
    tw_tensor *length = tw__temp_at(t, lengths, -1), *half = TW_TEMP(FloorDiv, length, tw__temp_int(t, 2, TW_INT32));
    tw_tensor *k = tw__temp_range(t, TW_TEMP(AddV2, half, tw__temp_int(t, 1, TW_INT32)));
    tw_tensor *once =
        TW_TEMP(LogicalOr, TW_TEMP(Equal, k, tw__temp_int(t, 0, TW_INT32)), TW_TEMP(Equal, TW_TEMP(AddV2, k, k), length));
    tw_dtype real = dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64;
    return tw__temp_cast(t, TW_TEMP(SelectV2, once, tw__temp_float(t, real, 1), tw__temp_float(t, real, others)), dtype);
}

/* Zeros behind, where the input was longer than what the transform took. */
static tw_tensor *pad_back(tw__temps *t, tw_tensor *gradient, tw_tensor *input)
{
    if (!gradient || (tw__shape_known(&gradient->shape) && tw__shape_equal(&gradient->shape, &input->shape)))
        return gradient ? tw_retain(gradient) : NULL;
    tw_tensor *missing = TW_TEMP(Sub, tw__temp_shape(t, input, TW_INT32), tw__temp_shape(t, gradient, TW_INT32));
    tw_tensor *none = TW_TEMP(ZerosLike, missing);
    tw_auto tw_tensor *pads = tw__call(&tw__op_Pack, TW_IN(none, missing), 2, TW_WITH(TW_A_INT("axis", 1)), 1);
    return TW_CALL(Pad, gradient, pads);
}

static tw_status real_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    const kind *k = kind_of(g->op);
    tw_tensor *gradient = g->output_grads[0], *lengths = g->inputs[1], *in = g->inputs[0];
    if (!g->wanted[0])
        return TW_OK;
    if (k->spectrum == TW_SPECTRUM_OF_REAL) {
        tw_tensor *weighted = TW_TEMP(Mul, gradient, weights(t, lengths, gradient->dtype, 0.5));
        tw_tensor *back = TW_TEMP_OP(k->inverse, weighted, lengths, TW_A_TYPE("Treal", in->dtype));
        tw__grad_set(g, 0, pad_back(t, TW_TEMP(Mul, back, product(t, lengths, in->dtype)), in));
    } else {
        tw_tensor *back = TW_TEMP_OP(k->inverse, gradient, lengths, TW_A_TYPE("Tcomplex", in->dtype));
        tw_tensor *weighted = TW_TEMP(Mul, back, weights(t, lengths, in->dtype, 2));
        tw__grad_set(g, 0, pad_back(t, TW_TEMP(RealDiv, weighted, product(t, lengths, in->dtype)), in));
    }
    return tw__grad_status(g);
}

/* ---- rows ---- */

#define COMPLEX_ATTRS "Tcomplex: {complex64, complex128} = complex64"
#define REAL_ATTRS "Treal: {float, double} = float, Tcomplex: {complex64, complex128} = complex64"
#define COMPLEX_ROW                                                                                             \
    .inputs = "input: Tcomplex", .outputs = "output: Tcomplex", .attrs = COMPLEX_ATTRS, .shape = complex_shape, \
    .compute = fft_compute, .gradient = complex_gradient
#define OF_REAL_ROW                                                                                                       \
    .inputs = "input: Treal, fft_length: int32", .outputs = "output: Tcomplex", .attrs = REAL_ATTRS, .shape = real_shape, \
    .compute = fft_compute, .gradient = real_gradient
#define TO_REAL_ROW                                                                                                       \
    .inputs = "input: Tcomplex, fft_length: int32", .outputs = "output: Treal", .attrs = REAL_ATTRS, .shape = real_shape, \
    .compute = fft_compute, .gradient = real_gradient
#define AXES_INPUTS ", fft_length: int32, axes: int32"

TW_OP(FFT, COMPLEX_ROW,
      .function = "signal.fft|compat.v1.spectral.fft|compat.v1.fft(input: tensor<complex64>, name: str = None) -> tensor",
      .doc = "The Fourier transform over the last axis.\n"
             "input: complex numbers");
TW_OP(IFFT, COMPLEX_ROW,
      .function = "signal.ifft|compat.v1.spectral.ifft|compat.v1.ifft(input: tensor<complex64>, name: str = None) -> tensor",
      .doc = "What has this Fourier transform over the last axis.\n"
             "input: complex numbers");
TW_OP(FFT2D, COMPLEX_ROW,
      .function = "signal.fft2d|compat.v1.spectral.fft2d|compat.v1.fft2d(input: tensor<complex64>, name: str = None) -> tensor",
      .doc = "The Fourier transform over the last two axes.\n"
             "input: complex numbers");
TW_OP(
    IFFT2D, COMPLEX_ROW,
    .function = "signal.ifft2d|compat.v1.spectral.ifft2d|compat.v1.ifft2d(input: tensor<complex64>, name: str = None) -> tensor",
    .doc = "What has this Fourier transform over the last two axes.\n"
           "input: complex numbers");
TW_OP(FFT3D, COMPLEX_ROW,
      .function = "signal.fft3d|compat.v1.spectral.fft3d|compat.v1.fft3d(input: tensor<complex64>, name: str = None) -> tensor",
      .doc = "The Fourier transform over the last three axes.\n"
             "input: complex numbers");
TW_OP(
    IFFT3D, COMPLEX_ROW,
    .function = "signal.ifft3d|compat.v1.spectral.ifft3d|compat.v1.ifft3d(input: tensor<complex64>, name: str = None) -> tensor",
    .doc = "What has this Fourier transform over the last three axes.\n"
           "input: complex numbers");
TW_OP(RFFT, OF_REAL_ROW, .doc = "The first half of the Fourier transform of real numbers.");
TW_OP(RFFT2D, OF_REAL_ROW, .doc = "The same over two axes; the last one is halved.");
TW_OP(RFFT3D, OF_REAL_ROW, .doc = "The same over three axes; the last one is halved.");
TW_OP(IRFFT, TO_REAL_ROW, .doc = "The real numbers of which this is the first half of the Fourier transform.");
TW_OP(IRFFT2D, TO_REAL_ROW, .doc = "The same over two axes; of the last one there is half.");
TW_OP(IRFFT3D, TO_REAL_ROW, .doc = "The same over three axes; of the last one there is half.");
TW_OP(FFTND, .inputs = "input: Tcomplex" AXES_INPUTS, .outputs = "output: Tcomplex", .attrs = COMPLEX_ATTRS, .shape = axes_shape,
      .compute = fft_compute, .gradient = complex_gradient, .doc = "The Fourier transform over some axes.");
TW_OP(IFFTND, .inputs = "input: Tcomplex" AXES_INPUTS, .outputs = "output: Tcomplex", .attrs = COMPLEX_ATTRS, .shape = axes_shape,
      .compute = fft_compute, .gradient = complex_gradient, .doc = "What has this Fourier transform over some axes.");
TW_OP(RFFTND, .no_gradient = true, .inputs = "input: Treal" AXES_INPUTS, .outputs = "output: Tcomplex", .attrs = REAL_ATTRS,
      .shape = axes_shape, .compute = fft_compute,
      .doc = "The Fourier transform of real numbers over some axes; the last of them is halved.");
TW_OP(IRFFTND, .no_gradient = true, .inputs = "input: Tcomplex" AXES_INPUTS, .outputs = "output: Treal", .attrs = REAL_ATTRS,
      .shape = axes_shape, .compute = fft_compute,
      .doc = "The real numbers that have this Fourier transform over some axes; of the last of them there is half.");
