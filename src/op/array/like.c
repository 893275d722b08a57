/* Ones and zeros like another tensor. */
#include "kernel/copy.h"
#include "op/list/list.h"
#include "rows.h"

static tw_status fill_ones(tw_tensor *tensor)
{
    _Alignas(16) char one[16] = { 0 };
    switch (tensor->dtype) {
    case TW_FLOAT32:
    case TW_COMPLEX64: /* the real part */
        *(float *)(void *)one = 1;
        break;
    case TW_FLOAT64:
    case TW_COMPLEX128:
        *(double *)(void *)one = 1;
        break;
    case TW_FLOAT16:
        *(uint16_t *)(void *)one = 0x3c00;
        break;
    case TW_BFLOAT16:
        *(uint16_t *)(void *)one = 0x3f80;
        break;
    default: /* integers and bool: a one in the lowest byte */
        one[0] = 1;
    }
    return tw__fill_elements(tensor->dtype, tensor->data, one, tensor->count);
}

static tw_status ones_compute(tw__kernel *kernel)
{
    return fill_ones(kernel->outputs[0]);
}

static tw_status zeros_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    if (out->dtype == TW_VARIANT && out->count == 1)
        return tw__output_take(kernel, 0, tw__list_zeros_like(kernel->op, kernel->inputs[0]));
    if (out->dtype != TW_STRING && out->dtype != TW_VARIANT && out->dtype != TW_RESOURCE)
        memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    return TW_OK;
}

TW_OP(
    OnesLike, .inputs = "x: T", .outputs = "y: T",
    .attrs =
        "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, complex128, bool}",
    .shape = tw_shape_same, .compute = ones_compute, .node_name = "ones_like", .fills = 1 + 1,
    .doc = "Ones of the same shape and dtype.");

TW_OP(ZerosLike, .inputs = "x: T", .outputs = "y: T", .attrs = "T: type", .shape = tw_shape_same, .compute = zeros_compute,
      .node_name = "zeros_like", .fills = 1 + 0, .doc = "Zeros of the same shape and dtype.");
