/* Keras's step of Adam on a variable and its slots, all under their locks, in one pass over memory (kernel/adam.h). The eager optimizer takes it, and
 * plans take it in the place of the dozen ops that Keras traces. */
#include "kernel/adam.h"
#include "op/resource.h"

bool tw__adam_fits(tw__resource *const *slots, int count, const tw_tensor *gradient)
{
    if (gradient->dtype != TW_FLOAT32 && gradient->dtype != TW_FLOAT64)
        return false;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < k; i++) {
            if (slots[i] == slots[k])
                return false;
        }
        tw_tensor *value = slots[k]->value ? tw__resource_read(slots[k]) : NULL;
        bool fits = value && value->dtype == gradient->dtype && tw__shape_equal(&value->shape, &gradient->shape);
        tw_release(value);
        if (!fits)
            return false;
    }
    return true;
}

tw_status tw__adam_update(tw__resource *const *slots, int count, const tw_tensor *gradient, const tw__adam *numbers)
{
    void *data[TW_RESOURCES_AT_ONCE] = { NULL };
    TW_TRY(tw__resources_lock(slots, count, data));
    tw_status status = TW_OK;
    for (int k = 0; k < count && status == TW_OK; k++) {
        if (slots[k]->value->count != gradient->count || slots[k]->value->dtype != gradient->dtype)
            status = tw__fail(TW_INVALID_ARGUMENT, "Adam: variable %s has shape %s, the gradient %s", slots[k]->name,
                              tw__shape_text(&slots[k]->value->shape), tw__shape_text(&gradient->shape));
    }
    if (status == TW_OK)
        tw__adam_step(gradient->dtype, data[0], data[1], data[2], data[3], gradient->data, gradient->count, numbers);
    tw__resources_unlock(slots, count);
    return status;
}
