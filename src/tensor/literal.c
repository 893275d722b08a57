/* Tensors of numbers and texts that a program writes down: scalars, and vectors of texts. */
#include <string.h>

#include <thalweg/literal.h>

#include "tensor/tensor.h"

tw_tensor *tw_tensor_float(float value)
{
    return tw_tensor_new(TW_FLOAT32, TW_SCALAR, &value);
}

tw_tensor *tw_tensor_double(double value)
{
    return tw_tensor_new(TW_FLOAT64, TW_SCALAR, &value);
}

tw_tensor *tw_tensor_int(int32_t value)
{
    return tw_tensor_new(TW_INT32, TW_SCALAR, &value);
}

tw_tensor *tw_tensor_int64(int64_t value)
{
    return tw_tensor_new(TW_INT64, TW_SCALAR, &value);
}

tw_tensor *tw_tensor_bool(bool value)
{
    return tw_tensor_new(TW_BOOL, TW_SCALAR, &value);
}

tw_tensor *tw_tensor_string(const char *data, size_t size)
{
    tw_string string = { data, size };
    return tw_tensor_new(TW_STRING, TW_SCALAR, &string);
}

tw_tensor *tw_tensor_strings(const char *const *texts)
{
    if (!tw__check_given(texts, "the texts", "tw_tensor_strings"))
        return NULL;
    int64_t count = 0;
    while (texts[count])
        count++;
    tw_tensor *tensor = tw__tensor_empty(TW_STRING, &TW_SHAPE(count));
    for (int64_t i = 0; tensor && i < count; i++) {
        if (tw__string_set(tensor, i, texts[i], strlen(texts[i])) != TW_OK) {
            tw_release(tensor);
            return NULL;
        }
    }
    return tensor;
}
