/* Unique: the different values of a vector in the order they first stand, and where each element's value is among them.
 * Bitcast: the same bytes as another dtype. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "rows.h"

static tw_status unique_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    if (in->rank >= 0 && in->rank != 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "unique expects a 1D vector. [Op:%s]", inference->op->name);
    inference->out_shapes[0] = TW_SHAPE(-1);
    inference->out_shapes[1] = TW_SHAPE(in->rank == 1 ? in->dims[0] : -1);
    return TW_OK;
}

/* The bytes that tell an element from others: -0.0 is 0.0, strings are their text. */
static const void *element_key(const tw_tensor *tensor, int64_t index, size_t *size, void *space)
{
    if (tensor->dtype == TW_STRING) {
        tw_string string = tw_tensor_string_at(tensor, index);
        *size = string.size;
        return string.data;
    }
    *size = tw__element_size(tensor->dtype);
    const char *data = (const char *)tensor->data + (size_t)index * *size;
    if (tensor->dtype == TW_FLOAT32 && *(const float *)data == 0)
        return memset(space, 0, *size);
    if (tensor->dtype == TW_FLOAT64 && *(const double *)data == 0)
        return memset(space, 0, *size);
    if ((tensor->dtype == TW_FLOAT16 || tensor->dtype == TW_BFLOAT16) && *(const uint16_t *)data == 0x8000)
        return memset(space, 0, *size);
    return data;
}

static bool is_nan(const tw_tensor *tensor, int64_t index)
{
    if (!tw__dtype_is_float(tensor->dtype))
        return false;
    double value = tw_tensor_double_at(tensor, index);
    return value != value;
}

static tw_status unique_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *places = kernel->outputs[1];
    tw__map seen = { 0 };
    int64_t *firsts = tw__alloc_array((size_t)in->count + 1, sizeof *firsts), found = 0;
    tw_status status = firsts ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < in->count; i++) {
        size_t size;
        char space[16];
        const void *key = element_key(in, i, &size, space);
        /* What is not a number equals nothing, itself included. */
        bool nan = is_nan(in, i);
        intptr_t known = nan ? 0 : (intptr_t)tw__map_get(&seen, key, size);
        if (!known) {
            firsts[found++] = i;
            known = (intptr_t)found;
            if (!nan)
                status = tw__map_put(&seen, key, size, (void *)known);
        }
        if (places->dtype == TW_INT64)
            ((int64_t *)places->data)[i] = known - 1;
        else
            ((int32_t *)places->data)[i] = (int32_t)(known - 1);
    }
    tw__map_free(&seen, NULL);
    tw_tensor *out = status == TW_OK ? tw__output(kernel, 0, &TW_SHAPE(found)) : NULL;
    if (status == TW_OK && !out)
        status = tw__error_status();
    size_t size = tw__element_size(in->dtype);
    for (int64_t i = 0; status == TW_OK && i < found; i++)
        status = tw__copy_elements(out->dtype, (char *)out->data + (size_t)i * size, (const char *)in->data + (size_t)firsts[i] * size, 1);
    tw__free(firsts);
    return status;
}

TW_OP(Unique,
    .inputs = "x: T", .outputs = "y: T, idx: out_idx", .attrs = "T: type, out_idx: {int32, int64} = int32",
    .shape = unique_shape, .compute = unique_compute,
    .doc = "The different values of a vector, and where each element's value is among them.");

/* ---- Bitcast ---- */

static tw_status bitcast_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_dtype from_type = inference->dtypes[0], to_type = inference->out_dtypes[0];
    int64_t from = (int64_t)tw__element_size(from_type), to = (int64_t)tw__element_size(to_type);
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 0)
        return TW_OK;
    *out = *in;
    if (from > to) {
        if (in->rank == TW_MAX_RANK)
            return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", in->rank + 1, TW_MAX_RANK);
        out->dims[out->rank++] = from / to;
    } else if (from < to) {
        if (in->rank == 0 || (in->dims[in->rank - 1] >= 0 && in->dims[in->rank - 1] != to / from))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Cannot bitcast from %d to %d: a tensor of shape %s and dtype %s to %s [Op:Bitcast]",
                              (int)from_type, (int)to_type, tw__shape_text(in), tw_dtype_name(from_type), tw_dtype_name(to_type));
        out->rank--;
    }
    return TW_OK;
}

static tw_status bitcast_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    if (out->count)
        memcpy(out->data, kernel->inputs[0]->data, (size_t)out->count * tw__element_size(out->dtype));
    return TW_OK;
}

#define PLAIN "bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128"

TW_OP(Bitcast,
    .inputs = "input: T", .outputs = "output: type", .attrs = "T: {" PLAIN "}, type: {" PLAIN "}",
    .shape = bitcast_shape, .compute = bitcast_compute,
    .doc = "The same bytes as another dtype.");
