/* First values of weights, by the initializer's name. */
#include <math.h>

#include "keras/keras.h"

tw_tensor *tw__initial_value(tw_named initializer, const tw_shape *shape, tw_dtype dtype)
{
    const char *name = initializer;
    if (tw__named_is_object(initializer)) {
        tw__fail(TW_UNIMPLEMENTED, "an initializer of class %s is not supported", tw_class_name(initializer));
        return NULL;
    }
    tw_tensor *value = tw_tensor_new(dtype, *shape, NULL);
    if (!value || strcmp(name, "zeros") == 0)
        return value;
    if (strcmp(name, "glorot_uniform") != 0 || dtype != TW_FLOAT32) {
        tw__fail(TW_VALUE_ERROR, "Unknown initializer: '%s' for dtype %s", name, tw_dtype_name(dtype));
        tw_release(value);
        return NULL;
    }
    static uint64_t state = 1;
    double fan = 0;
    for (int i = 0; i < shape->rank; i++)
        fan += (double)shape->dims[i];
    double limit = sqrt(6 / fmax(fan, 1));
    for (int64_t i = 0; i < value->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ((float *)value->data)[i] = (float)(limit * (2 * (double)(state >> 33) / 2147483648.0 - 1));
    }
    return value;
}
