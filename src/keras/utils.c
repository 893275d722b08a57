/* keras.utils: small helpers for labels and data. */
#include "op/calls.h"
#include "rows.h"

/* ---- labels by number as rows of zeros and a one ---- */

static tw_tensor *one_hot_rows(const tw_tensor *labels, const tw_shape *shape, int64_t classes, tw_dtype dtype)
{
    const int64_t *numbers = labels->data;
    tw_auto tw_tensor *rows = tw_tensor_new(TW_UINT8, *shape, NULL); /* zeros */
    for (int64_t i = 0; rows && i < labels->count; i++) {
        int64_t at = numbers[i] < 0 ? numbers[i] + classes : numbers[i];
        if (at < 0 || at >= classes) {
            tw__fail(TW_INDEX_ERROR, "index %lld is out of bounds for axis 1 with size %lld", (long long)numbers[i],
                     (long long)classes);
            return NULL;
        }
        ((uint8_t *)rows->data)[i * classes + at] = 1;
    }
    return tw__cast(rows, dtype);
}

TW_API(
    utils_to_categorical,
    "keras.utils.to_categorical(y: tensor, num_classes: int = None, dtype: dtype = float32) -> tensor<numpy>",
    "Classes by number as rows with a one in the place of the class: shape [..., num_classes]. Without num_classes the largest number says "
    "how many there are.")
{
    tw_auto tw_tensor *labels = tw__cast(args->y, TW_INT64);
    if (!labels)
        return NULL;
    if (!tw__tensor_values(labels, "to_categorical (tf.one_hot takes symbolic tensors)"))
        return NULL;
    int64_t classes = args->num_classes;
    if (classes == TW_NO_INT || classes == 0) {
        if (!labels->count) {
            tw__fail(TW_VALUE_ERROR, "zero-size array to reduction operation maximum which has no identity");
            return NULL;
        }
        const int64_t *numbers = labels->data;
        int64_t largest = numbers[0];
        for (int64_t i = 1; i < labels->count; i++)
            largest = numbers[i] > largest ? numbers[i] : largest;
        classes = largest < INT32_MAX ? largest + 1 : -1;
    }
    if (classes < 0 || (!classes && labels->count)) {
        tw__fail(TW_VALUE_ERROR, "to_categorical: num_classes is %lld, expected a positive number below 2^31",
                 (long long)classes);
        return NULL;
    }
    tw_shape shape = labels->shape;
    if (shape.rank > 1 && shape.dims[shape.rank - 1] == 1) /* a column of labels is a list of them */
        shape.rank--;
    if (shape.rank == TW_MAX_RANK) {
        tw__fail(TW_VALUE_ERROR, "to_categorical: labels of %d dimensions, expected at most %d", shape.rank, TW_MAX_RANK - 1);
        return NULL;
    }
    shape.dims[shape.rank++] = classes;
    return one_hot_rows(labels, &shape, classes, args->dtype);
}
