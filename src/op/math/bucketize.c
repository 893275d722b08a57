/* Bucketize: how many boundaries do not lie above each element. */
#include "op/op.h"
#include "rows.h"

/* The first boundary above the value; what is not a number stands behind all. Boundaries are floats, whatever the dtype is. */
static int32_t bucket_of(double value, const double *boundaries, int64_t count)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (value < (double)(float)boundaries[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return (int32_t)low;
}

static tw_status bucketize_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    const tw_attr *attr = TW_ATTR(kernel, "boundaries");
    for (int64_t i = 1; i < attr->count; i++) {
        if ((float)attr->floats[i] < (float)attr->floats[i - 1])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected sorted boundaries");
    }
    bool whole = tw__dtype_is_integer(in->dtype);
    for (int64_t i = 0; i < in->count; i++) {
        double value = whole ? (double)(float)tw_tensor_int_at(in, i) : tw_tensor_double_at(in, i);
        ((int32_t *)kernel->outputs[0]->data)[i] = bucket_of(value, attr->floats, attr->count);
    }
    return TW_OK;
}

TW_OP(Bucketize, .inputs = "input: T", .outputs = "output: int32",
      .attrs = "T: {int32, int64, float, double}, boundaries: list(float)", .shape = tw_shape_same, .compute = bucketize_compute,
      .doc = "For each element the number of boundaries, which are sorted, that do not lie above it.");
