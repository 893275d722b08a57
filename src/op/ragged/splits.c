/* What the ops on ragged tensors share: reading and checking row splits. */
#include "op/ragged/ragged.h"

tw_status tw__levels_check(const tw__levels *levels, int64_t values)
{
    for (int k = 0; k < levels->count; k++) {
        const int64_t *s = levels->splits[k];
        int64_t rows = levels->rows[k], below = k + 1 < levels->count ? levels->rows[k + 1] : values;
        if (s[0] != 0)
            return tw__fail(TW_INVALID_ARGUMENT, "row splits must begin with 0, got %lld", (long long)s[0]);
        for (int64_t i = 0; i < rows; i++) {
            if (s[i + 1] < s[i])
                return tw__fail(TW_INVALID_ARGUMENT, "row splits must not decrease, got %lld behind %lld", (long long)s[i + 1],
                                (long long)s[i]);
        }
        if (s[rows] != below)
            return tw__fail(TW_INVALID_ARGUMENT, "row splits must end with the number of values: got %lld, expected %lld",
                            (long long)s[rows], (long long)below);
    }
    return TW_OK;
}

tw_status tw__levels_read(const tw_op *op, tw_tensor *const *splits, int count, int64_t values, tw__levels *levels)
{
    *levels = (tw__levels){ 0 };
    if (count > TW_RAGGED_LEVELS)
        return tw__fail(TW_UNIMPLEMENTED, "%s: more than %d ragged dimensions are not supported", op->name, TW_RAGGED_LEVELS);
    for (int k = 0; k < count; k++) {
        if (splits[k]->shape.rank != 1 || splits[k]->count < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "row splits must be a vector that is not empty, got shape %s",
                            tw__shape_text(&splits[k]->shape));
        int64_t *s = tw__alloc_array((size_t)splits[k]->count, sizeof *s);
        if (!s)
            return tw__error_status();
        levels->splits[levels->count] = s;
        levels->rows[levels->count++] = splits[k]->count - 1;
        for (int64_t i = 0; i < splits[k]->count; i++)
            s[i] = tw_tensor_int_at(splits[k], i);
    }
    return tw__levels_check(levels, values);
}

void tw__levels_free(tw__levels *levels)
{
    for (int i = 0; i < levels->count; i++)
        tw__free(levels->splits[i]);
    levels->count = 0;
}

tw_status tw__splits_give(tw__kernel *kernel, int output, const int64_t *splits, int64_t count)
{
    tw_tensor *out = tw__output(kernel, output, &TW_SHAPE(count));
    if (!out)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        if (out->dtype == TW_INT64)
            ((int64_t *)out->data)[i] = splits[i];
        else
            ((int32_t *)out->data)[i] = (int32_t)splits[i];
    }
    return TW_OK;
}

int64_t tw__row_elements(const tw_shape *shape)
{
    int64_t count = 1;
    for (int i = 1; i < shape->rank; i++)
        count *= shape->dims[i];
    return count;
}
