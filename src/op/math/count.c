/* Counting and placing numbers: PopulationCount (bits), HistogramFixedWidth, NthElement, UnravelIndex. */
#include <math.h>
#include <stdlib.h>

#include "base/pause.h"
#include "kernel/copy.h"
#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

/* ---- PopulationCount ---- */

static tw_status bits_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    uint8_t *y = kernel->outputs[0]->data;
    size_t size = tw__element_size(x->dtype);
    for (int64_t i = 0; i < x->count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)x->data + (size_t)i * size, size);
        y[i] = (uint8_t)__builtin_popcountll(bits);
    }
    return TW_OK;
}

TW_OP(PopulationCount, .inputs = "x: T", .outputs = "y: uint8",
      .attrs = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}", .shape = tw_shape_same, .compute = bits_compute,
      .no_gradient = true, .doc = "How many bits of each element are ones.");

/* ---- HistogramFixedWidth ---- */

static tw_status histogram_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 1, 1));
    TW_TRY(tw__need_rank(inference, 2, 0));
    int64_t bins = inference->values[2] ? tw_tensor_int_at(inference->values[2], 0) : -1;
    if (inference->values[2] && bins <= 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "nbins should be a positive number, but got '%lld'", (long long)bins);
    inference->out_shapes[0] = TW_SHAPE(bins);
    return TW_OK;
}

static tw_status histogram_compute(tw__kernel *kernel)
{
    const tw_tensor *values = kernel->inputs[0], *range = kernel->inputs[1];
    if (range->shape.rank != 1 || range->count != 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "value_range should be a vector of 2 elements, but got shape %s",
                          tw__shape_text(&range->shape));
    double low = tw_tensor_double_at(range, 0), high = tw_tensor_double_at(range, 1);
    if (!(low < high))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "value_range should satisfy value_range[0] < value_range[1], but got '[%g, %g]'", low, high);
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(tw_tensor_int_at(kernel->inputs[2], 0)));
    TW_NEED(out);
    double step = (high - low) / (double)out->count;
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    for (int64_t i = 0; i < values->count; i++) {
        double value = tw_tensor_double_at(values, i), above = value > low ? value - low : 0;
        if (values->dtype == TW_FLOAT32)
            above = value > low ? (double)((float)value - (float)low) : 0;
        double place = above / step, last = (double)(out->count - 1);
        int64_t bin = isnan(value) ? 0 : (int64_t)(place < last ? place : last);
        if (out->dtype == TW_INT64)
            ((int64_t *)out->data)[bin]++;
        else
            ((int32_t *)out->data)[bin]++;
    }
    return TW_OK;
}

TW_OP(HistogramFixedWidth, .inputs = "values: T, value_range: T, nbins: int32", .outputs = "out: dtype",
      .attrs = "T: {int32, int64, float, double}, dtype: {int32, int64} = int32", .shape = histogram_shape,
      .compute = histogram_compute, .no_gradient = true, .doc = "How many values lie in each of some bins of equal width.");

/* ---- NthElement ---- */

static tw_status nth_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    TW_TRY(tw__need_rank(inference, 1, 0));
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    int64_t n = inference->values[1] ? tw_tensor_int_at(inference->values[1], 0) : 0;
    if (n < 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "n must be non-negative, got %lld", (long long)n);
    if (in->rank < 0)
        return TW_OK;
    if (in->dims[in->rank - 1] >= 0 && n >= in->dims[in->rank - 1] && inference->values[1])
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input must have last dimension > n = %lld", (long long)n);
    inference->out_shapes[0] = *in;
    inference->out_shapes[0].rank--;
    return TW_OK;
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int by_integer(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_unsigned(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static tw_status nth_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_shape shape = in->shape;
    int64_t n = tw_tensor_int_at(kernel->inputs[1], 0), size = shape.dims[--shape.rank];
    tw_tensor *out = tw__output(kernel, 0, &shape);
    TW_NEED(out);
    if (n < 0 || n >= size)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input must have last dimension > n = %lld", (long long)n);
    n = TW_ATTR(kernel, "reverse")->b ? size - 1 - n : n;
    bool real = tw__dtype_is_float(in->dtype);
    tw_dtype wide = real ? TW_FLOAT64 : in->dtype == TW_UINT64 ? TW_UINT64 : TW_INT64;
    tw__owned int64_t *row = tw__alloc_array((size_t)size, sizeof *row);
    TW_NEED(row);
    size_t element = tw__element_size(in->dtype);
    for (int64_t i = 0; i < out->count; i++) {
        TW_TRY(tw__pause());
        const char *from = (const char *)in->data + (size_t)(i * size) * element;
        tw__cast_run(in->dtype, wide, from, row, size, false);
        qsort(row, (size_t)size, sizeof *row, real ? by_double : wide == TW_UINT64 ? by_unsigned : by_integer);
        tw__cast_run(wide, out->dtype, &row[n], (char *)out->data + (size_t)i * element, 1, false);
    }
    return TW_OK;
}

/* Those that equal the n-th share its gradient. */
static tw_status nth_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *x = g->inputs[0];
    if (!g->output_grads[0] || !g->wanted[0])
        return TW_OK;
    tw_tensor *same = tw__temp_cast(t, TW_TEMP(Equal, TW_TEMP(ExpandDims, g->outputs[0], -1), x), x->dtype);
    tw_tensor *count = tw__temp(t, tw__reduce_axis(&tw__op_Sum, same, -1, true));
    g->input_grads[0] = TW_CALL(Mul, TW_TEMP(RealDiv, same, count), TW_TEMP(ExpandDims, g->output_grads[0], -1));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(NthElement, .inputs = "input: T, n: int32", .outputs = "values: T",
      .attrs =
          "reverse: bool = false, T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}",
      .shape = nth_shape, .compute = nth_compute, .gradient = nth_gradient, .doc = "The n-th smallest element of each row.");

/* ---- UnravelIndex ---- */

static tw_status unravel_shape(tw__inference *inference)
{
    const tw_shape *indices = inference->shapes[0], *dims = inference->shapes[1];
    TW_TRY(tw__need_rank(inference, 1, 1));
    if (indices->rank > 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "The indices can only be scalar or vector got %s",
                          tw__shape_text(indices));
    int64_t rank = dims->rank == 1 ? dims->dims[0] : -1;
    if (indices->rank == 0)
        inference->out_shapes[0] = TW_SHAPE(rank);
    else if (indices->rank == 1)
        inference->out_shapes[0] = TW_SHAPE(rank, indices->dims[0]);
    return TW_OK;
}

static tw_status unravel_compute(tw__kernel *kernel)
{
    const tw_tensor *indices = kernel->inputs[0], *dims = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    int64_t rank = dims->count, total = 1;
    for (int64_t k = 0; k < rank; k++) {
        int64_t dim = tw_tensor_int_at(dims, k);
        if (dim <= 0)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "Input dims cannot contain a dim of zero, but dims contains %s[%lld] = %lld", "dims", (long long)k,
                              (long long)dim);
        if (__builtin_mul_overflow(total, dim, &total))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input dims product is causing integer overflow");
    }
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t rest = tw_tensor_int_at(indices, i);
        if (rest < 0 || rest >= total)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "index is out of bound as with dims");
        for (int64_t k = rank - 1; k >= 0; k--) {
            int64_t dim = tw_tensor_int_at(dims, k), at = rest % dim;
            rest /= dim;
            if (out->dtype == TW_INT64)
                ((int64_t *)out->data)[k * indices->count + i] = at;
            else
                ((int32_t *)out->data)[k * indices->count + i] = (int32_t)at;
        }
    }
    return TW_OK;
}

TW_OP(UnravelIndex, .inputs = "indices: Tidx, dims: Tidx", .outputs = "output: Tidx", .attrs = "Tidx: {int32, int64} = int32",
      .shape = unravel_shape, .compute = unravel_compute, .no_gradient = true,
      .function = "unravel_index(indices: tensor<int32>, dims: tensor<int32>, name: str = None) -> tensor",
      .doc = "The places in an array of that shape which flat indices name.\n"
             "indices: flat indices, one or a vector\n"
             "dims: the shape of the array\n"
             "returns: a row for each dimension, a column for each index\n"
             "example: tf.unravel_index([5], [2, 3]).numpy().tolist()  # [[1], [2]]");
