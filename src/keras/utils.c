/* keras.utils: small helpers for labels and data. */
#include <math.h>

#include "op/calls.h"
#include "rows.h"

/* ---- labels by number as rows of zeros and a one ---- */

/* How many classes labels (int64) are of, and the shape of their rows. */
static tw_status classes_of(const tw_tensor *labels, int64_t told, const char *who, int64_t *count, tw_shape *rows)
{
    char words[80];
    snprintf(words, sizeof words, "%s (tf.one_hot takes symbolic tensors)", who);
    TW_NEED(tw__tensor_values(labels, words));
    int64_t classes = told;
    if (classes == TW_NO_INT || classes == 0) {
        if (!labels->count)
            return tw__fail(TW_VALUE_ERROR, "zero-size array to reduction operation maximum which has no identity");
        const int64_t *numbers = labels->data;
        int64_t largest = numbers[0];
        for (int64_t i = 1; i < labels->count; i++)
            largest = numbers[i] > largest ? numbers[i] : largest;
        classes = largest < INT32_MAX ? largest + 1 : -1;
    }
    if (classes < 0 || (!classes && labels->count))
        return tw__fail(TW_VALUE_ERROR, "%s: num_classes is %lld, expected a positive number below 2^31", who,
                        (long long)classes);
    tw_shape shape = labels->shape;
    if (shape.rank > 1 && shape.dims[shape.rank - 1] == 1) /* a column of labels is a list of them */
        shape.rank--;
    if (shape.rank == TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "%s: labels of %d dimensions, expected at most %d", who, shape.rank, TW_MAX_RANK - 1);
    shape.dims[shape.rank++] = classes;
    *count = classes;
    *rows = shape;
    return TW_OK;
}

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
    "keras.utils.to_categorical(y: tensor, num_classes: int = None, dtype: dtype = float32 shown 'float32') -> tensor<numpy>",
    "Classes by number as rows with a one in the place of the class: shape [..., num_classes]. Without num_classes the largest number says "
    "how many there are.\n"
    "y: the classes, integers from 0 on\n"
    "num_classes: how many classes there are; None: the greatest one plus 1\n"
    "example: tf.keras.utils.to_categorical([0, 2], 3).tolist()  # [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]")
{
    tw_auto tw_tensor *labels = tw__cast(args->y, TW_INT64);
    if (!labels)
        return NULL;
    int64_t classes;
    tw_shape shape;
    if (classes_of(labels, args->num_classes, "to_categorical", &classes, &shape) != TW_OK)
        return NULL;
    return one_hot_rows(labels, &shape, classes, args->dtype);
}

/* ---- ranks ---- */

TW_API(
    utils_to_ordinal,
    "keras.utils.to_ordinal(y: tensor, num_classes: int = None, dtype: dtype = float32 shown 'float32') -> tensor<numpy>",
    "Classes by number as rows of as many ones as the number says, then zeros: shape [..., num_classes - 1]. Without num_classes the largest "
    "number says how many there are.\n"
    "y: the classes, integers from 0 on\n"
    "num_classes: how many classes there are; None: the greatest one plus 1")
{
    TW_TEMPS(t);
    tw_tensor *labels = tw__temp_cast(t, args->y, TW_INT64);
    int64_t classes;
    tw_shape shape;
    if (!labels || classes_of(labels, args->num_classes, "to_ordinal", &classes, &shape) != TW_OK)
        return NULL;
    if (classes < 1) {
        tw__fail(TW_VALUE_ERROR, "to_ordinal: num_classes is %lld, expected a positive number", (long long)classes);
        return NULL;
    }
    shape.dims[shape.rank - 1] = classes - 1;
    tw_tensor *rows = tw__temp(t, tw_tensor_new(TW_UINT8, shape, NULL));
    for (int64_t i = 0; rows && i < labels->count; i++) {
        int64_t ones = ((int64_t *)labels->data)[i];
        ones = ones < 0 ? 0 : ones < classes - 1 ? ones : classes - 1;
        memset((uint8_t *)rows->data + i * (classes - 1), 1, (size_t)ones);
    }
    return rows ? tw__cast(rows, args->dtype) : NULL;
}

/* ---- norms ---- */

TW_API(
    utils_normalize, "keras.utils._normalize(x: tensor, axis: int = -1, order: float = 2) -> tensor<numpy>",
    "An array divided by its norms along an axis; norms of 0 count as 1. order: 2 for lengths, 1 for sums, infinity for the largest, 0 for "
    "how many are not 0. Integers become float64.")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__dtype_is_float(args->x->dtype) ? args->x : tw__temp_cast(t, args->x, TW_FLOAT64);
    if (!x || x->shape.rank < 1 || args->axis < -x->shape.rank || args->axis >= x->shape.rank) {
        tw__fail(TW_VALUE_ERROR, "axis %lld is out of bounds for array of dimension %d", (long long)args->axis,
                 args->x->shape.rank);
        return NULL;
    }
    tw_tensor *axis = tw__temp_int(t, args->axis, TW_INT32), *size = TW_TEMP(Abs, x), *norm;
    tw_attr keep = TW_A_BOOL("keep_dims", true);
    if (isinf(args->order))
        norm = args->order > 0 ? TW_TEMP(Max, size, axis, keep) : TW_TEMP(Min, size, axis, keep);
    else if (args->order == 0)
        norm = TW_TEMP(Sum, tw__temp_cast(t, TW_TEMP(NotEqual, x, 0.0), x->dtype), axis, keep);
    else if (args->order == 1)
        norm = TW_TEMP(Sum, size, axis, keep);
    else if (args->order == 2)
        norm = TW_TEMP(Sqrt, TW_TEMP(Sum, TW_TEMP(Square, x), axis, keep));
    else
        norm = TW_TEMP(Pow, TW_TEMP(Sum, TW_TEMP(Pow, size, args->order), axis, keep), 1 / args->order);
    tw_tensor *none = norm ? tw__temp_cast(t, TW_TEMP(Equal, norm, 0.0), x->dtype) : NULL;
    return tw__keep(t, TW_TEMP(RealDiv, x, TW_TEMP(AddV2, norm, none)));
}
