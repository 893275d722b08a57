/* Keras's step of Adam on a variable and its slots, all under their locks, in one pass over memory (kernel/adam.h). The eager
 * optimizer takes it, and plans take it in the place of the dozen ops that Keras traces. */
#include "kernel/adam.h"
#include "op/resource.h"

/* All of that shape and dtype, no two the same. */
static bool slots_fit(tw__resource *const *slots, int count, tw_dtype dtype, const tw_shape *shape)
{
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < k; i++) {
            if (slots[i] == slots[k])
                return false;
        }
        tw_tensor *value = slots[k]->value ? tw__resource_read(slots[k]) : NULL;
        bool fits = value && value->dtype == dtype && tw__shape_equal(&value->shape, shape);
        tw_release(value);
        if (!fits)
            return false;
    }
    return true;
}

bool tw__adam_fits(tw__resource *const *slots, int count, const tw_tensor *gradient)
{
    return (gradient->dtype == TW_FLOAT32 || gradient->dtype == TW_FLOAT64) &&
           slots_fit(slots, count, gradient->dtype, &gradient->shape);
}

bool tw__adam_fits_product(tw__resource *const *slots, int count, const tw_tensor *a, const tw_tensor *b, bool transpose_a)
{
    if (a->dtype != TW_FLOAT32 || b->dtype != TW_FLOAT32 || a->shape.rank != 2 || b->shape.rank != 2 ||
        a->shape.dims[!transpose_a] != b->shape.dims[0])
        return false;
    tw_shape shape = TW_SHAPE(a->shape.dims[transpose_a], b->shape.dims[1]);
    return tw__adam_takes_product(shape.dims[0], shape.dims[1], b->shape.dims[0], false) &&
           slots_fit(slots, count, TW_FLOAT32, &shape);
}

static tw_status check(tw__resource *const *slots, int count, tw_dtype dtype, int64_t elements)
{
    for (int k = 0; k < count; k++) {
        if (slots[k]->value->count != elements || slots[k]->value->dtype != dtype)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Adam: variable %s is of shape %s and dtype %s, the gradient has %lld elements of dtype %s",
                            slots[k]->name, tw__shape_text(&slots[k]->value->shape), tw_dtype_name(slots[k]->value->dtype),
                            (long long)elements, tw_dtype_name(dtype));
    }
    return TW_OK;
}

tw_status tw__adam_update(tw__resource *const *slots, int count, const tw_tensor *gradient, const tw__adam *numbers)
{
    void *data[TW_RESOURCES_AT_ONCE] = { NULL };
    TW_TRY(tw__resources_lock(slots, count, data));
    tw_status status = check(slots, count, gradient->dtype, gradient->count);
    uint64_t denormals = tw__denormals_flush();
    if (status == TW_OK)
        tw__adam_step(gradient->dtype, data[0], data[1], data[2], data[3], gradient->data, gradient->count, numbers);
    tw__denormals_restore(denormals);
    tw__resources_unlock(slots, count);
    return status;
}

tw_status tw__adam_update_product(tw__resource *const *slots, const tw_tensor *a, const tw_tensor *b, bool transpose_a,
                                  const tw__adam *numbers)
{
    int64_t rows = a->shape.dims[transpose_a], depth = b->shape.dims[0], columns = b->shape.dims[1];
    tw__matrix left = transpose_a ? (tw__matrix){ a->data, 1, rows, false } : (tw__matrix){ a->data, depth, 1, false };
    tw__matrix right = { b->data, columns, 1, false };
    void *data[TW_RESOURCES_AT_ONCE] = { NULL };
    TW_TRY(tw__resources_lock(slots, 3, data));
    tw_status status = check(slots, 3, TW_FLOAT32, rows * columns);
    if (status == TW_OK)
        status = tw__adam_step_product(data[0], data[1], data[2], rows, columns, depth, left, right, numbers);
    tw__resources_unlock(slots, 3);
    return status;
}
