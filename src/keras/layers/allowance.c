/* The allowance of models that are read from files. */
#include "keras/layers/allowance.h"

enum { MOST_INPUT = 1 << 26 }; /* elements of an input that a model is tried on */

static _Thread_local int64_t allowed = TW_NO_ALLOWANCE;

int64_t tw__weights_allow(int64_t elements)
{
    int64_t before = allowed;
    allowed = elements;
    return before;
}

tw_status tw__weights_take(const char *layer, const char *weight, const tw_shape *shape)
{
    int64_t count;
    if (allowed == TW_NO_ALLOWANCE)
        return TW_OK;
    TW_TRY(tw__shape_count(shape, &count));
    if (count > allowed)
        return tw__fail(
            TW_VALUE_ERROR,
            "layer \"%s\": the config asks for a weight `%s` of shape %s, but the file has room for %lld more elements of weights",
            layer, weight, tw__shape_text(shape), (long long)allowed);
    allowed -= count;
    return TW_OK;
}

tw_status tw__weights_check_input(const char *layer, const tw_shape *shape)
{
    int64_t count;
    if (allowed == TW_NO_ALLOWANCE)
        return TW_OK;
    TW_TRY(tw__shape_count(shape, &count));
    return count <= MOST_INPUT
               ? TW_OK
               : tw__fail(TW_VALUE_ERROR,
                          "layer \"%s\": the file says that it was built for inputs of shape %s, expected at most %d elements",
                          layer, tw__shape_text(shape), MOST_INPUT);
}
