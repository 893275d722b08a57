/* tf.roll, tf.ensure_shape, tf.searchsorted, tf.sequence_mask, tf.math.confusion_matrix: functions that move, look up and count.
 */
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *cast_to(tw_tensor *x, tw_dtype dtype)
{
    if (!x || x->dtype == dtype)
        return x ? tw_retain(x) : NULL;
    return TW_CALL(Cast, x, TW_A_TYPE("DstT", dtype));
}

/* x as a matrix of rows along its last dimension. */
static tw_tensor *as_rows(tw_tensor *x, const char *what)
{
    int64_t sizes[2] = { 1, 0 };
    if (x->shape.rank < 1 || !tw__shape_known(&x->shape)) {
        tw__fail(x->shape.rank == 0 ? TW_INVALID_ARGUMENT : TW_UNIMPLEMENTED,
                 "searchsorted: %s must have a known shape of rank 1 or more, got %s", what, tw__shape_text(&x->shape));
        return NULL;
    }
    sizes[1] = x->shape.dims[x->shape.rank - 1];
    for (int i = 0; i + 1 < x->shape.rank; i++)
        sizes[0] *= x->shape.dims[i];
    tw_auto tw_tensor *shape = tw__ints_tensor(sizes, 2, TW_INT64);
    return TW_CALL(Reshape, x, shape);
}

TW_API(
    searchsorted,
    "searchsorted(sorted_sequence: tensor<T>, values: tensor<T>, side: str = left, out_type: dtype = int32, name: str = None) -> tensor",
    "Where values stand in sorted rows: before (side left) or behind (side right) those that equal them.\n"
    "sorted_sequence: rows in rising order\n"
    "values: what to look for in each row\n"
    "side: `left`: the first place that fits; `right`: the last\n"
    "example: tf.searchsorted([1, 3, 5], [3, 4]).numpy().tolist()  # [1, 2]")
{
    bool right = strcmp(args->side, "right") == 0;
    if (!right && strcmp(args->side, "left") != 0) {
        tw__fail(TW_VALUE_ERROR, "Argument `side` must be either 'right' or 'left'. Received: `side` = '%s'.", args->side);
        return NULL;
    }
    tw_auto tw_tensor *sorted = as_rows(args->sorted_sequence, "sorted_sequence");
    tw_auto tw_tensor *values = sorted ? as_rows(args->values, "values") : NULL;
    tw_tensor *places = tw__call(right ? &tw__op_UpperBound : &tw__op_LowerBound, TW_IN(sorted, values), 2,
                                 TW_WITH(TW_A_TYPE("out_type", args->out_type)), 1);
    return tw__reshape_like(places, args->values);
}

TW_API(sequence_mask,
       "sequence_mask(lengths: tensor<int32>, maxlen: tensor<int32> = None, dtype: dtype = bool, name: str = None) -> tensor",
       "True (or 1) in the first `lengths` places of rows that are maxlen long, the longest length if it is not given.\n"
       "lengths: how many places are true\n"
       "maxlen: how long rows are; None: as the greatest of the lengths\n"
       "example: tf.sequence_mask([1, 3]).numpy().tolist()  # [[True, False, False], [True, True, True]]")
{
    tw_auto tw_tensor *longest = NULL;
    if (args->maxlen) {
        if (args->maxlen->shape.rank > 0) {
            tw__fail(TW_VALUE_ERROR, "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` of shape %s",
                     tw__shape_text(&args->maxlen->shape));
            return NULL;
        }
        longest = tw_retain(args->maxlen);
    } else {
        tw_auto tw_tensor *most = tw__reduce_axes(&tw__op_Max, args->lengths, (tw_ints){ 0 }, false);
        tw_auto tw_tensor *none = most ? tw__grad_constant(0, most) : NULL;
        longest = TW_CALL(Maximum, none, most);
    }
    tw_auto tw_tensor *zero = longest ? tw__grad_constant(0, longest) : NULL;
    tw_auto tw_tensor *one = zero ? tw__grad_constant(1, longest) : NULL;
    tw_auto tw_tensor *places = TW_CALL(Range, zero, longest, one);
    tw_auto tw_tensor *column = places ? tw__call_axis(&tw__op_ExpandDims, args->lengths, -1, NULL, 0) : NULL;
    tw_auto tw_tensor *lengths = column ? cast_to(column, longest->dtype) : NULL;
    tw_auto tw_tensor *mask = TW_CALL(Less, places, lengths);
    return cast_to(mask, args->dtype);
}

/* ---- confusion_matrix ---- */

/* x as a vector of int64; a last dimension of one more than the other has is dropped. */
static tw_tensor *class_numbers(tw_tensor *x, const tw_tensor *other)
{
    tw_auto tw_tensor *flat = NULL;
    if (x->shape.rank == 2 && x->shape.rank == other->shape.rank + 1 && x->shape.dims[1] == 1)
        flat = TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", (const int64_t[]){ -1 }, 1));
    else
        flat = tw_retain(x);
    if (flat && flat->shape.rank != 1) {
        tw__fail(TW_VALUE_ERROR, "confusion_matrix: labels and predictions must be vectors, got the shape %s",
                 tw__shape_text(&flat->shape));
        return NULL;
    }
    return cast_to(flat, TW_INT64);
}

TW_API(
    math_confusion_matrix,
    "math.confusion_matrix|compat.v1.confusion_matrix(labels: tensor, predictions: tensor, num_classes: tensor<int64> = None, weights: tensor = None, "
    "dtype: dtype = int32, name: str = None) -> tensor",
    "How often (or with what weight) each class was taken for each other: a row per label, a column per prediction.\n"
    "labels: the true classes, from 0 on\n"
    "predictions: the classes that were predicted\n"
    "num_classes: how many classes there are; None: as many as occur\n"
    "weights: what each pair counts; None: 1\n"
    "dtype: the dtype of the result\n"
    "example: tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy().tolist()  # [[1, 0], [1, 1]]")
{
    tw_auto tw_tensor *labels = class_numbers(args->labels, args->predictions);
    tw_auto tw_tensor *predictions = labels ? class_numbers(args->predictions, args->labels) : NULL;
    if (!predictions)
        return NULL;
    if (!tw__shape_compatible(&labels->shape, &predictions->shape) ||
        (args->weights && !tw__shape_compatible(&args->weights->shape, &predictions->shape))) {
        tw__fail(TW_VALUE_ERROR, "confusion_matrix: labels, predictions and weights must have equal shapes, got %s, %s and %s",
                 tw__shape_text(&labels->shape), tw__shape_text(&predictions->shape),
                 args->weights ? tw__shape_text(&args->weights->shape) : "no weights");
        return NULL;
    }
    tw_auto tw_tensor *classes = NULL;
    if (args->num_classes) {
        classes = cast_to(args->num_classes, TW_INT64);
    } else {
        tw_auto tw_tensor *all = TW_CALL(Maximum, labels, predictions);
        tw_auto tw_tensor *most = tw__reduce_axes(&tw__op_Max, all, (tw_ints){ 0 }, false);
        classes = TW_CALL(AddV2, 1.0, most);
    }
    tw_auto tw_tensor *shape = TW_CALL(Pack, classes, classes, TW_A_INT("axis", 0));
    tw_auto tw_tensor *places = shape ? TW_CALL(Pack, labels, predictions, TW_A_INT("axis", 1)) : NULL;
    tw_auto tw_tensor *ones = places && !args->weights ? TW_CALL(OnesLike, predictions) : NULL;
    tw_auto tw_tensor *counts = places ? cast_to(args->weights ? args->weights : ones, args->dtype) : NULL;
    return TW_CALL(ScatterNd, places, counts, shape);
}
