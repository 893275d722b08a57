/* Element by element, two inputs. */
#include "rows.h"

static tw_status add_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    const tw_tensor *a = kernel->inputs[0], *b = kernel->inputs[1];
    if (out->dtype != TW_FLOAT32 || a->count != b->count)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s", tw_dtype_name(out->dtype));
    for (int64_t i = 0; i < out->count; i++)
        ((float *)out->data)[i] = ((const float *)a->data)[i] + ((const float *)b->data)[i];
    return TW_OK;
}

TW_OP(AddV2,
    .inputs = "x: T, y: T", .outputs = "z: T", .attrs = "T: type",
    .shape = tw_shape_broadcast, .compute = add_compute,
    .doc = "x + y, element by element.");
