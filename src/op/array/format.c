/* Small ops on layouts, texts and truth: DataFormatDimMap, DataFormatVecPermute, ToBool, Fingerprint, Timestamp. */
#include <stdio.h>
#include <time.h>

#include "op/array/array.h"
#include "op/text/text.h"
#include "rows.h"

/* ---- layouts of images ---- */

/* to[i]: where the letter that stands at i in the first layout stands in the second. */
static tw_status letters(tw__kernel *kernel, int places[8], int *count)
{
    tw_string from = TW_ATTR(kernel, "src_format")->s, to = TW_ATTR(kernel, "dst_format")->s;
    bool good = from.size == to.size && (from.size == 4 || from.size == 5);
    for (size_t i = 0; good && i < from.size; i++) {
        const char *found = memchr(to.data, from.data[i], to.size);
        good = found && memchr(from.data, from.data[i], from.size) == from.data + i;
        places[i] = good ? (int)(found - to.data) : 0;
    }
    *count = (int)from.size;
    if (!good)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Source and destination formats must have 4 or 5 letters, the same ones, each once: '%.*s', '%.*s'",
                          (int)(from.size < 20 ? from.size : 20), from.data, (int)(to.size < 20 ? to.size : 20), to.data);
    return TW_OK;
}

static void set_int(tw_tensor *to, int64_t at, int64_t value)
{
    if (to->dtype == TW_INT64)
        ((int64_t *)to->data)[at] = value;
    else
        ((int32_t *)to->data)[at] = (int32_t)value;
}

static tw_status dim_map_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    int places[8], count;
    TW_TRY(letters(kernel, places, &count));
    for (int64_t i = 0; i < x->count; i++) {
        int64_t axis = tw_tensor_int_at(x, i);
        if (axis < -count || axis >= count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "x[%lld] = %lld is not in [%d, %d)", (long long)i, (long long)axis,
                              -count, count);
        set_int(kernel->outputs[0], i, places[axis < 0 ? axis + count : axis]);
    }
    return TW_OK;
}

static tw_status permute_shape(tw__inference *inference)
{
    if (inference->shapes[0]->rank > 2 || inference->shapes[0]->rank == 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be a vector or 2D tensor, but got shape %s",
                          tw__shape_text(inference->shapes[0]));
    return tw_shape_same(inference);
}

/* One value, or a pair of them, for each letter; or only for height and width. */
static tw_status permute_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    int places[8], count;
    TW_TRY(letters(kernel, places, &count));
    int64_t rows = x->shape.dims[0], columns = x->shape.rank == 2 ? x->shape.dims[1] : 1;
    if ((rows != count && rows != count - 2) || (x->shape.rank == 2 && columns != 2))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input must have %d or %d elements or rows of 2, but got shape %s",
                          count - 2, count, tw__shape_text(&x->shape));
    tw_string from = TW_ATTR(kernel, "src_format")->s, to = TW_ATTR(kernel, "dst_format")->s;
    int64_t row = 0;
    for (int i = 0; i < count; i++) {
        bool skip = rows < count && (from.data[i] == 'N' || from.data[i] == 'C');
        int64_t target = places[i];
        for (int k = 0; rows < count && k < places[i]; k++)
            target -= to.data[k] == 'N' || to.data[k] == 'C';
        for (int64_t k = 0; !skip && row < rows && target < rows && k < columns; k++)
            set_int(kernel->outputs[0], target * columns + k, tw_tensor_int_at(x, row * columns + k));
        row += !skip;
    }
    return TW_OK;
}

#define FORMATS                                               \
    .inputs = "x: T", .outputs = "y: T", .no_gradient = true, \
    .attrs = "T: {int32, int64} = int32, src_format: string = 'NHWC', dst_format: string = 'NCHW'"
TW_OP(DataFormatDimMap, FORMATS, .shape = tw_shape_same, .compute = dim_map_compute,
      .doc = "Axes of one layout of images as axes of another.");
TW_OP(DataFormatVecPermute, FORMATS, .shape = permute_shape, .compute = permute_compute,
      .doc = "Values for the dimensions of one layout of images, in the order of another.");

/* ---- ToBool ---- */

static tw_status truth_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    bool truth = x->count > 0;
    if (x->shape.rank == 0 && x->dtype == TW_STRING)
        truth = tw_tensor_string_at(x, 0).size > 0;
    else if (x->shape.rank == 0 && x->dtype != TW_RESOURCE && x->dtype != TW_VARIANT && !tw__dtype_is_complex(x->dtype))
        truth = tw_tensor_double_at(x, 0) != 0;
    else if (x->shape.rank == 0)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(x->dtype));
    *(bool *)kernel->outputs[0]->data = truth;
    return TW_OK;
}

TW_OP(ToBool, .inputs = "input: T", .outputs = "output: bool", .attrs = "T: type", .shape = tw_shape_scalar,
      .compute = truth_compute, .no_gradient = true,
      .doc = "A scalar: whether it is not zero or not an empty text; another tensor: whether it has elements.");

/* ---- Fingerprint ---- */

static tw_status fingerprint_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 0));
    inference->out_shapes[0] = TW_SHAPE(inference->shapes[0]->rank > 0 ? inference->shapes[0]->dims[0] : -1, 8);
    return TW_OK;
}

static void put_fingerprint(tw_tensor *out, int64_t row, tw_string bytes)
{
    uint64_t print = tw__fingerprint64(bytes);
    for (int k = 0; k < 8; k++)
        ((uint8_t *)out->data)[row * 8 + k] = (uint8_t)(print >> 8 * k);
}

static tw_status fingerprint_compute(tw__kernel *kernel)
{
    const tw_tensor *data = kernel->inputs[0];
    tw_string method = tw_tensor_string_at(kernel->inputs[1], 0);
    if (method.size != 10 || memcmp(method.data, "farmhash64", 10) != 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Unsupported fingerprint method: %.*s",
                          (int)(method.size < 100 ? method.size : 100), method.data);
    if (data->dtype == TW_RESOURCE || data->dtype == TW_VARIANT)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Type not supported: %s", tw_dtype_name(data->dtype));
    int64_t rows = data->shape.dims[0], size = rows ? data->count / rows : 0;
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(rows, 8));
    TW_NEED(out);
    size_t bytes = tw__element_size(data->dtype) * (size_t)size;
    for (int64_t i = 0; i < rows; i++) {
        if (data->dtype != TW_STRING) {
            put_fingerprint(out, i, (tw_string){ (const char *)data->data + bytes * (size_t)i, bytes });
        } else if (data->shape.rank == 1) {
            put_fingerprint(out, i, tw_tensor_string_at(data, i));
        } else { /* the fingerprint of the row's fingerprints */
            tw__owned uint64_t *prints = tw__alloc_array((size_t)size + 1, sizeof *prints);
            TW_NEED(prints);
            for (int64_t k = 0; k < size; k++)
                prints[k] = tw__fingerprint64(tw_tensor_string_at(data, i * size + k));
            put_fingerprint(out, i, (tw_string){ (const char *)prints, (size_t)size * sizeof *prints });
        }
    }
    return TW_OK;
}

TW_OP(Fingerprint, .inputs = "data: T, method: string", .outputs = "fingerprint: uint8", .attrs = "T: type",
      .shape = fingerprint_shape, .compute = fingerprint_compute, .no_gradient = true,
      .doc = "Eight bytes for each row that tell it from others.");

/* ---- Timestamp ---- */

static tw_status time_compute(tw__kernel *kernel)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *(double *)kernel->outputs[0]->data = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    return TW_OK;
}

TW_OP(Timestamp, .outputs = "ts: double", .shape = tw_shape_scalar, .compute = time_compute, .stateful = true,
      .no_gradient = true, .doc = "The seconds since 1970; of a graph, those when it runs.");
