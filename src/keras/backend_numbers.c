/* keras.backend: products of batches, normalization, and losses element by element. */
#include "api/composite.h"
#include "keras/keras.h"
#include "keras/layers/merge.h"
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

/* ---- products ---- */

static tw_status refuse_shapes(tw__temps *t, const tw_tensor *x, const tw_tensor *y, const char *what)
{
    const char *first = tw__temp_memory(t, tw__shape_tuple(&x->shape)), *second = tw__temp_memory(t, tw__shape_tuple(&y->shape));
    return tw__fail(TW_VALUE_ERROR, "Cannot do batch_dot on inputs with %s. Received inputs with shapes %s and %s.", what,
                    first ? first : "", second ? second : "");
}

/* The axis of each tensor over which the product is, at least 1: one number for both, a pair, or as it is usual. */
static tw_status target_axes(const tw_value *axes, const int *ranks, int64_t *found)
{
    bool pair = (axes->kind == TW_VALUE_TUPLE || axes->kind == TW_VALUE_LIST) && axes->list.count == 2;
    for (int i = 0; i < 2; i++) {
        const tw_value *one = pair ? &axes->list.items[i] : axes;
        if (axes->kind == TW_VALUE_NONE)
            found[i] = i == 0 || ranks[1] == 2 ? ranks[i] - 1 : ranks[i] - 2;
        else if (one->kind == TW_VALUE_INT)
            found[i] = one->i + (one->i < 0 ? ranks[i] : 0);
        else
            return tw__fail(TW_VALUE_ERROR, "Multiple target dimensions are not supported. Expected: None, int, (int, int)");
        if (found[i] < 0 || found[i] >= ranks[i])
            return tw__fail(TW_VALUE_ERROR, "keras.backend.batch_dot: axis %lld of an input of rank %d", (long long)found[i],
                            ranks[i]);
    }
    if (found[0] && found[1])
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
                                    "dimension to your inputs using K.expand_dims(x, 0)");
}

TW_API(
    backend_batch_dot, "keras.backend.batch_dot(x: tensor, y: tensor, axes: value = None) -> tensor",
    "The product of two batches, example by example, over an axis of each.\n"
    "axes: the dimension of each that the sum goes over, one for both or two; None: the last of `x` and the last but one of `y`, or its last if it has rank 2\n"
    "example: tf.keras.backend.batch_dot(tf.ones([2, 3]), tf.ones([2, 3]), axes=1).numpy().tolist()  # [[3.0], [3.0]]")
{
    enum { MOST = 6 };
    TW_TEMPS(t);
    const tw_shape *x = &args->x->shape, *y = &args->y->shape;
    int64_t axes[2] = { 0, 0 };
    if (x->rank < 2 || y->rank < 2) {
        refuse_shapes(t, args->x, args->y, "rank < 2");
        return NULL;
    }
    if (x->rank > MOST || y->rank > MOST) {
        tw__fail(TW_UNIMPLEMENTED, "keras.backend.batch_dot: ranks %d and %d, expected at most %d", x->rank, y->rank, MOST);
        return NULL;
    }
    if (x->dims[0] >= 0 && y->dims[0] >= 0 && x->dims[0] != y->dims[0]) {
        refuse_shapes(t, args->x, args->y, "different batch sizes");
        return NULL;
    }
    if (target_axes(&args->axes, (int[]){ x->rank, y->rank }, axes) != TW_OK)
        return NULL;
    int64_t m = x->dims[axes[0]], n = y->dims[axes[1]];
    if (m < 0 || n < 0 || m == n)
        return tw__batch_dot(args->x, args->y, axes[0], axes[1]);
    const char *first = tw__temp_memory(t, tw__shape_tuple(x)), *second = tw__temp_memory(t, tw__shape_tuple(y));
    tw__fail(
        TW_VALUE_ERROR,
        "Cannot do batch_dot on inputs with shapes %s and %s with axes=[%lld, %lld]. x.shape[%lld] != y.shape[%lld] (%lld != "
        "%lld).",
        first ? first : "", second ? second : "", (long long)axes[0], (long long)axes[1], (long long)axes[0], (long long)axes[1],
        (long long)m, (long long)n);
    return NULL;
}

/* ---- normalization ---- */

/* A vector along one axis (or several, whose sizes are `wide`) of a tensor of that rank; NULL stays NULL. */
static tw_tensor *along(tw__temps *t, tw_tensor *part, tw_tensor *wide)
{
    return part && wide ? TW_TEMP(Reshape, part, wide) : part;
}

static tw_tensor *normalized(tw__temps *t, tw_tensor *x, tw_tensor *const *parts, tw_tensor *wide, double epsilon)
{
    tw_tensor *made[4]; /* mean, variance, beta, gamma */
    for (int i = 0; i < 4; i++) {
        made[i] = along(t, parts[i], wide);
        if (parts[i] && !made[i])
            return NULL;
    }
    return tw_nn_batch_normalization(x, made[0], made[1], made[2], made[3], epsilon);
}

TW_API(backend_batch_normalization,
       "keras.backend.batch_normalization(x: tensor, mean: tensor, var: tensor, beta: tensor?, gamma: tensor?, axis: int = -1, "
       "epsilon: float = 0.001) -> tensor",
       "(x - mean) / sqrt(var + epsilon) * gamma + beta.\n"
       "mean: the mean of each channel\n"
       "var: the variance of each channel\n"
       "beta: the offset; None: 0\n"
       "gamma: the scale; None: 1\n"
       "axis: the dimension of the channels")
{
    TW_TEMPS(t);
    int rank = args->x->shape.rank;
    int64_t axis = args->axis + (args->axis < 0 ? rank : 0), sizes[TW_MAX_RANK];
    if (rank < 1 || axis < 0 || axis >= rank) {
        tw__fail(TW_VALUE_ERROR, "keras.backend.batch_normalization: axis %lld of an input of rank %d", (long long)args->axis,
                 rank);
        return NULL;
    }
    for (int i = 0; i < rank; i++)
        sizes[i] = i == axis ? -1 : 1;
    tw_tensor *wide = axis == rank - 1 ? NULL : tw__temp_ints(t, sizes, rank, TW_INT32);
    return normalized(t, args->x, (tw_tensor *[]){ args->mean, args->var, args->beta, args->gamma }, wide, args->epsilon);
}

static tw_tensors three(tw_tensor *taken, tw_tensor *second, tw_tensor *third)
{
    tw_tensors all = { taken ? tw__alloc_array(3, sizeof *all.items) : NULL, 0 };
    if (!all.items) {
        tw_release(taken);
        return all;
    }
    all.items[all.count++] = taken;
    all.items[all.count++] = tw_retain(second);
    all.items[all.count++] = tw_retain(third);
    return all;
}

/* Images of float32 by their channels. */
static tw_tensors fused(tw__temps *t, tw_tensor *x, tw_tensor *gamma, tw_tensor *beta, double epsilon)
{
    tw_tensor *made[6], *shape = tw__temp_shape(t, x, TW_INT32), *depth = shape ? tw__temp_slice(t, shape, -1, TW_NO_INT) : NULL;
    gamma = gamma ? gamma : TW_TEMP(Fill, depth, tw__temp_float(t, TW_FLOAT32, 1));
    beta = beta ? beta : TW_TEMP(Fill, depth, tw__temp_float(t, TW_FLOAT32, 0));
    tw_tensor *none = tw__temp(t, tw_tensor_new(TW_FLOAT32, TW_SHAPE(0), NULL));
    if (!none || TW_TEMP_ALL(made, FusedBatchNormV3, x, gamma, beta, none, none, TW_A_FLOAT("epsilon", epsilon)) != TW_OK)
        return (tw_tensors){ NULL, 0 };
    return three(tw_retain(made[0]), made[1], made[2]);
}

TW_API(backend_normalize_batch_in_training,
       "keras.backend.normalize_batch_in_training(x: tensor, gamma: tensor?, beta: tensor?, reduction_axes: ints, "
       "epsilon: float = 0.001) -> tensors",
       "A batch with mean 0 and variance 1, then scaled and shifted; its mean and variance.\n"
       "gamma: the scale; None: 1\n"
       "beta: the offset; None: 0\n"
       "reduction_axes: the dimensions that mean and variance go over\n"
       "returns: the result, the mean and the variance")
{
    TW_TEMPS(t);
    int rank = args->x->shape.rank;
    bool reduced[TW_MAX_RANK] = { false }, front = args->reduction_axes.count == rank - 1;
    for (int64_t i = 0; i < args->reduction_axes.count; i++) {
        int64_t axis = args->reduction_axes.items[i];
        if (axis < 0 || axis >= rank) {
            tw__fail(TW_VALUE_ERROR, "keras.backend.normalize_batch_in_training: axis %lld of an input of rank %d",
                     (long long)axis, rank);
            return (tw_tensors){ NULL, 0 };
        }
        reduced[axis] = true;
    }
    for (int i = 0; i < rank - 1; i++)
        front &= reduced[i];
    if (rank == 4 && front && args->x->dtype == TW_FLOAT32)
        return fused(t, args->x, args->gamma, args->beta, args->epsilon);
    tw__auto(tw_tensors_free) tw_tensors moments = tw_nn_moments(args->x, args->reduction_axes);
    tw_tensor *shape = moments.count == 2 ? tw__temp_shape(t, args->x, TW_INT32) : NULL, *wide = NULL;
    if (!shape)
        return (tw_tensors){ NULL, 0 };
    if (!front) { /* the sizes of the axes that stay, ones for the others */
        tw_tensor *ones = tw__temp(t, tw_tensor_new(TW_INT32, TW_SHAPE(rank), NULL));
        tw_tensor *stay = tw__temp(t, tw_tensor_new(TW_BOOL, TW_SHAPE(rank), NULL));
        for (int i = 0; ones && stay && i < rank; i++) {
            ((int32_t *)ones->data)[i] = 1;
            ((bool *)stay->data)[i] = !reduced[i];
        }
        wide = ones && stay ? TW_TEMP(SelectV2, stay, shape, ones) : NULL;
        if (!wide)
            return (tw_tensors){ NULL, 0 };
    }
    tw_tensor *parts[] = { moments.items[0], moments.items[1], args->beta, args->gamma };
    return three(normalized(t, args->x, parts, wide, args->epsilon), moments.items[0], moments.items[1]);
}

/* ---- losses, element by element ---- */

static tw_tensor *cross_entropy(tw__temps *t, tw_tensor *target, tw_tensor *output, bool from_logits)
{
    double small = tw__keras_epsilon();
    if (from_logits)
        return tw__temp(t, tw_nn_sigmoid_cross_entropy_with_logits(.labels = target, .logits = output));
    tw_tensor *p = TW_TEMP(ClipByValue, output, small, 1 - small);
    tw_tensor *yes = TW_TEMP(Mul, target, TW_TEMP(Log, TW_TEMP(AddV2, p, small)));
    tw_tensor *no = TW_TEMP(Mul, TW_TEMP(Sub, 1.0, target), TW_TEMP(Log, TW_TEMP(AddV2, TW_TEMP(Sub, 1.0, p), small)));
    return TW_TEMP(Neg, TW_TEMP(AddV2, yes, no));
}

TW_API(backend_binary_crossentropy,
       "keras.backend.binary_crossentropy(target: tensor<T>, output: tensor<T>, from_logits: bool = False) -> tensor",
       "The cross-entropy of probabilities (or logits), element by element.")
{
    TW_TEMPS(t);
    return tw__keep(t, cross_entropy(t, args->target, args->output, args->from_logits));
}

/* a where the target is 1, 1 - a where it is 0. */
static tw_tensor *by_target(tw__temps *t, tw_tensor *target, tw_tensor *a)
{
    return TW_TEMP(AddV2, TW_TEMP(Mul, target, a), TW_TEMP(Mul, TW_TEMP(Sub, 1.0, target), TW_TEMP(Sub, 1.0, a)));
}

TW_API(backend_binary_focal_crossentropy,
       "keras.backend.binary_focal_crossentropy(target: tensor, output: tensor, apply_class_balancing: bool = False, "
       "alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False) -> tensor",
       "Cross-entropy that weighs elements less the better they are known, element by element.\n"
       "alpha: the weight of class 1; that of class 0 is 1 - alpha")
{
    TW_TEMPS(t);
    tw_tensor *output = args->output, *target = tw__temp_cast(t, args->target, output->dtype);
    tw_tensor *known = by_target(t, target, args->from_logits ? TW_TEMP(Sigmoid, output) : output);
    tw_tensor *loss =
        TW_TEMP(Mul, TW_TEMP(Pow, TW_TEMP(Sub, 1.0, known), args->gamma), cross_entropy(t, target, output, args->from_logits));
    if (args->apply_class_balancing)
        loss = TW_TEMP(Mul, by_target(t, target, tw__temp_float(t, output->dtype, args->alpha)), loss);
    return tw__keep(t, loss);
}

TW_API(backend_categorical_focal_crossentropy,
       "keras.backend.categorical_focal_crossentropy(target: tensor, output: tensor, alpha: float = 0.25, gamma: float = 2.0, "
       "from_logits: bool = False, axis: int = -1) -> tensor",
       "Cross-entropy of classes that weighs examples less the better they are known.\n"
       "alpha: the factor of the loss\n"
       "axis: the dimension of the classes")
{
    TW_TEMPS(t);
    double small = tw__keras_epsilon();
    tw_tensor *output = args->output, *target = tw__temp_cast(t, args->target, output->dtype);
    if (args->from_logits)
        output = tw__temp(t, tw_nn_softmax(output, .axis = args->axis));
    tw_tensor *sum = output ? tw__temp(t, tw__reduce_axis(&tw__op_Sum, output, args->axis, true)) : NULL;
    tw_tensor *p = TW_TEMP(ClipByValue, TW_TEMP(RealDiv, output, sum), small, 1 - small);
    tw_tensor *weight = TW_TEMP(Mul, TW_TEMP(Pow, TW_TEMP(Sub, 1.0, p), args->gamma), args->alpha);
    tw_tensor *loss = TW_TEMP(Mul, weight, TW_TEMP(Mul, TW_TEMP(Neg, target), TW_TEMP(Log, p)));
    return loss ? tw__reduce_axis(&tw__op_Sum, loss, args->axis, false) : NULL;
}
