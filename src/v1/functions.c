/* Functions of tf.compat.v1 and tf.compat.v1.nn that are gone from tf, or do something else there. */
#include "api/array/array.h"
#include "api/random/random.h"
#include "op/calls.h"
#include "v1/v1.h"

/* x weights + biases in the scope, under that name in it: "" is the scope's own. */
static tw_tensor *affine(const tw__part *part, tw_tensor *x, tw_tensor *weights, tw_tensor *biases, const char *name)
{
    tw_auto tw_tensor *product = tw_matmul(x, weights);
    return product ? tw__part_call(part, name, &tw__op_BiasAdd, TW_IN(product, biases), 2, NULL, 0) : NULL;
}

TW_API(v1_xw_plus_b, "compat.v1.nn.xw_plus_b(x: tensor<T>, weights: tensor<T>, biases: tensor<T>, name: str = None) -> tensor",
       "x weights + biases\n"
       "x: a matrix [batch, inputs]\n"
       "weights: a matrix [inputs, outputs]\n"
       "biases: a vector [outputs]")
{
    tw__part part = tw__part_begin(args->name, "xw_plus_b");
    return tw__part_result(&part, affine(&part, args->x, args->weights, args->biases, ""));
}

TW_API(v1_relu_layer, "compat.v1.nn.relu_layer(x: tensor<T>, weights: tensor<T>, biases: tensor<T>, name: str = None) -> tensor",
       "relu(x weights + biases)\n"
       "x: a matrix [batch, inputs]\n"
       "weights: a matrix [inputs, outputs]\n"
       "biases: a vector [outputs]")
{
    tw__part part = tw__part_begin(args->name, "relu_layer");
    tw_auto tw_tensor *sum = affine(&part, args->x, args->weights, args->biases, "BiasAdd");
    return tw__part_result(&part, sum ? tw__part_call(&part, "", &tw__op_Relu, TW_IN(sum), 1, NULL, 0) : NULL);
}

TW_API(v1_crelu, "compat.v1.nn.crelu(features: tensor, name: str = None, axis: int = -1) -> tensor",
       "relu of the features and of their opposites, side by side along an axis.")
{
    tw__part part = tw__part_begin(args->name, "CRelu");
    tw_auto tw_tensor *opposite = TW_CALL(Neg, args->features), *axis = tw_tensor_int((int32_t)args->axis);
    tw_attr count = TW_A_INT("N", 2);
    tw_auto tw_tensor *both =
        opposite && axis ? tw__part_call(&part, "", &tw__op_ConcatV2, TW_IN(args->features, opposite, axis), 3, &count, 1) : NULL;
    return tw__part_result(&part, both ? TW_CALL(Relu, both) : NULL);
}

TW_API(
    v1_fused_batch_norm,
    "compat.v1.nn.fused_batch_norm(x: tensor, scale: tensor<float32>, offset: tensor<float32>, mean: tensor<float32> = None, "
    "variance: tensor<float32> = None, epsilon: float = 0.001, data_format: str = NHWC, is_training: bool = True, name: str = None, "
    "exponential_avg_factor: float = 1.0) -> value",
    "Normalization of a batch: the outputs, mean and variance.\n"
    "x: the activations, shaped as `data_format` says\n"
    "scale: the scale of each channel\n"
    "offset: the offset of each channel\n"
    "mean: the mean of each channel where it is not that of the batch\n"
    "variance: the variance of each channel where it is not that of the batch\n"
    "is_training: True: mean and variance are those of the batch; False: those that are given\n"
    "exponential_avg_factor: how much of the returned mean and variance is the batch's; the rest is what is given\n"
    "raises: ValueError: mean and variance are needed and not given")
{
    tw_value list = { .kind = TW_VALUE_NONE };
    if ((!args->is_training || args->exponential_avg_factor != 1) && (!args->mean || !args->variance)) {
        tw__fail(TW_VALUE_ERROR, "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
                                 "`exponential_avg_factor` != 1.0.");
        return list;
    }
    double epsilon = args->epsilon > 1.001e-5 ? args->epsilon : 1.001e-5; /* what CUDA can do */
    tw__part part = tw__part_plain();
    tw_auto tw_tensor *empty = tw_tensor_new(TW_FLOAT32, TW_SHAPE(0), NULL);
    tw_attr attrs[] = { TW_A_FLOAT("epsilon", (float)epsilon),
                        TW_A_STRING("data_format", args->data_format ? args->data_format : "NHWC"),
                        TW_A_BOOL("is_training", args->is_training),
                        TW_A_FLOAT("exponential_avg_factor", (float)args->exponential_avg_factor) };
    tw_tensor *inputs[] = { args->x, args->scale, args->offset, args->mean ? args->mean : empty,
                            args->variance ? args->variance : empty };
    tw_tensor *outputs[6] = { NULL };
    int count = 6;
    tw_status status = !empty ? tw__error_status()
                              : tw__part_apply(&part, args->name ? args->name : "FusedBatchNormV3", &tw__op_FusedBatchNormV3,
                                               inputs, 5, attrs, 4, outputs, &count);
    tw_status ended = tw__part_end(&part);
    if (status != TW_OK)
        return list;
    list.list.items = ended == TW_OK ? tw__alloc_zero(3 * sizeof *list.list.items) : NULL;
    for (int i = 0; i < count; i++) {
        if (list.list.items && i < 3)
            list.list.items[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = outputs[i] };
        else
            tw_release(outputs[i]);
    }
    if (list.list.items) {
        list.kind = TW_VALUE_TUPLE;
        list.list.count = 3;
    }
    return list;
}

TW_API(v1_where, "compat.v1.where(condition: tensor, x: tensor<T> = None, y: tensor<T> = None, name: str = None) -> tensor",
       "Where a condition holds; or x there, and y elsewhere: a condition of one dimension chooses rows.\n"
       "condition: where values are taken from `x`; without `x` and `y`, the places where it holds are the result\n"
       "x: the values where it holds\n"
       "y: the values elsewhere, of the same shape")
{
    if (!args->x != !args->y) {
        tw__fail(TW_VALUE_ERROR, "x and y must both be non-None or both be None.");
        return NULL;
    }
    if (!args->x)
        return tw_where(args->condition, .name = args->name);
    tw__part part = tw__part_plain();
    int rank = args->x->shape.rank;
    tw_auto tw_tensor *condition = tw_retain(args->condition);
    if (condition->shape.rank == 1 && rank > 1) {
        int32_t dims[TW_MAX_RANK] = { -1 };
        for (int i = 1; i < rank; i++)
            dims[i] = 1;
        tw_auto tw_tensor *sizes = tw_tensor_new(TW_INT32, TW_SHAPE(rank), dims);
        tw_tensor *rows = sizes ? TW_CALL(Reshape, condition, sizes) : NULL;
        tw_release(condition);
        condition = rows;
    }
    tw_tensor *chosen = condition ? tw__part_call(&part, args->name ? args->name : "Select", &tw__op_SelectV2,
                                                  TW_IN(condition, args->x, args->y), 3, NULL, 0)
                                  : NULL;
    return tw__part_result(&part, chosen);
}

TW_API(v1_clip_by_average_norm, "compat.v1.clip_by_average_norm(t: tensor<T>, clip_norm: tensor<T>, name: str = None) -> tensor",
       "The tensor, scaled so that its norm, divided by the number of elements, is at most clip_norm.\n"
       "t: the tensor\n"
       "clip_norm: the greatest of such norms")
{
    tw__part part = tw__part_begin(args->name, "clip_by_average_norm");
    TW_TEMPS(t);
    tw_tensor *x = args->t, *squares = TW_TEMP(Mul, x, x);
    tw_tensor *whole = tw__temp(t, squares ? tw__reduce_axis(&tw__op_Sum, squares, TW_NO_INT, false) : NULL);
    tw_tensor *norm = TW_TEMP(Mul, TW_TEMP(Rsqrt, whole), tw__temp(t, tw__count_scalar(x, x->dtype)));
    tw_tensor *most = TW_TEMP(RealDiv, 1.0, args->clip_norm);
    tw_tensor *clipped = TW_TEMP(Mul, TW_TEMP(Mul, x, args->clip_norm), TW_TEMP(Minimum, norm, most));
    tw_tensor *result = clipped ? tw__part_call(&part, "", &tw__op_Identity, TW_IN(clipped), 1, NULL, 0) : NULL;
    return tw__part_result(&part, result);
}

TW_API(v1_sparse_to_dense,
       "compat.v1.sparse_to_dense(sparse_indices: tensor, output_shape: tensor, sparse_values: tensor<T>, "
       "default_value: tensor<T> = None, validate_indices: bool = True, name: str = None) -> tensor",
       "A tensor with values at some places and one value, 0 if none is given, at all others.\n"
       "sparse_indices: the places of the values, [number, rank]; a vector for one dimension, a scalar for one value\n"
       "output_shape: the shape of the result\n"
       "sparse_values: the values, or one for all places\n"
       "default_value: the value at all other places; None: 0")
{
    tw__part part = tw__part_plain();
    TW_TEMPS(t);
    tw_tensor *shape = tw__temp_cast(t, args->output_shape, args->sparse_indices->dtype);
    tw_auto tw_tensor *scalar = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL);
    tw_tensor *other = args->default_value ? args->default_value
                       : scalar            ? tw__temp_zeros(t, scalar, args->sparse_values->dtype)
                                           : NULL;
    tw_attr validate = TW_A_BOOL("validate_indices", args->validate_indices);
    tw_tensor *inputs[] = { args->sparse_indices, shape, args->sparse_values, other };
    tw_tensor *result = shape && other ? tw__part_call(&part, args->name ? args->name : "SparseToDense", &tw__op_SparseToDense,
                                                       inputs, 4, &validate, 1)
                                       : NULL;
    return tw__part_result(&part, result);
}

TW_API(v1_get_seed, "compat.v1.random.get_seed|compat.v1.get_seed(op_seed: int?) -> value",
       "The two seeds of a random operation that was given this one; (None, None): chance.\n"
       "op_seed: the seed of the operation; None: it has none")
{
    tw__seeds seeds = tw__seed_pair(args->op_seed);
    bool none = !seeds.seed && !seeds.seed2;
    tw_value *items = seeds.refused ? NULL : tw__alloc_array(2, sizeof *items);
    if (items && !none) {
        items[0] = (tw_value){ .kind = TW_VALUE_INT, .i = seeds.seed };
        items[1] = (tw_value){ .kind = TW_VALUE_INT, .i = seeds.seed2 };
    }
    return (tw_value){ .kind = items ? TW_VALUE_TUPLE : TW_VALUE_NONE, .list = { items, items ? 2 : 0 } };
}
