/* What layers of TensorFlow 1 (tf.compat.v1.layers) compute otherwise than Keras's: whether they train may be a tensor, and the
 * moving averages of a normalization follow by operations of the graph, which the program runs. */
#include <thalweg/function.h>

#include "api/api.h"
#include "api/composite.h"
#include "api/nn/nn.h"
#include "op/calls.h"
#include "session/session.h"
#include "v1/v1.h"

static bool trains(const tw_value *training)
{
    return training->kind == TW_VALUE_BOOL  ? training->b
           : training->kind == TW_VALUE_INT ? training->i != 0
                                            : training->kind != TW_VALUE_NONE;
}

/* One of two bodies: at once by a value that is known, in the graph by a tensor. */
static tw_tensors chosen(const tw_value *training, tw_body yes, tw_body no, void *user)
{
    tw_tensors none = { NULL, 0 };
    if (training->kind == TW_VALUE_TENSOR) {
        tw_auto tw_tensor *predicate = tw__cast(training->tensor, TW_BOOL);
        return predicate ? tw_cond(predicate, yes, no, user) : none;
    }
    return trains(training) ? yes(user, none) : no(user, none);
}

/* ---- dropout ---- */

static tw_tensors drop(void *user, tw_tensors none)
{
    (void)none;
    const tw_v1_layers_dropout_args *args = user;
    return tw__tensors_of_one(tw__dropout(args->inputs, args->rate, &args->noise_shape, args->seed, "dropout"));
}

static tw_tensors keep(void *user, tw_tensors none)
{
    (void)none;
    const tw_v1_layers_dropout_args *args = user;
    return tw__tensors_of_one(tw_identity(args->inputs));
}

TW_API(
    v1_layers_dropout,
    "compat.v1.layers._dropout(inputs: tensor, training: value, rate: float = 0.5, noise_shape: shape = None, seed: int = None) "
    "-> tensor",
    "The inputs, some of them set to zero at random while training.")
{
    tw__auto(tw_tensors_free) tw_tensors result = chosen(&args->training, drop, keep, (void *)args);
    return result.count ? tw_retain(result.items[0]) : NULL;
}

/* ---- normalization ---- */

typedef struct normalization {
    tw__temps *temps;
    const tw_v1_layers_normalize_args *args;
    tw_tensor *gamma, *beta;
    int axis;
} normalization;

static tw_tensors three(tw_tensor *const *items, int count)
{
    tw_tensors list = { tw__alloc_array(3, sizeof(tw_tensor *)), 0 };
    for (int i = 0; list.items && i < count; i++)
        list.items[list.count++] = tw_retain(items[i]);
    return list;
}

/* (outputs, mean, variance) */
static tw_tensors fused(const normalization *n, bool training)
{
    const tw_v1_layers_normalize_args *args = n->args;
    TW_TEMPS(t);
    tw_tensor *mean = tw__temp(t, tw__variable_read(args->moving_mean)),
              *variance = tw__temp(t, tw__variable_read(args->moving_variance));
    tw_attr attrs[] = { TW_A_FLOAT("epsilon", (float)args->epsilon), TW_A_STRING("data_format", n->axis == 1 ? "NCHW" : "NHWC"),
                        TW_A_BOOL("is_training", training), TW_A_FLOAT("exponential_avg_factor", 1) };
    tw_tensor *outputs[6];
    int count = 6;
    if (!mean || !variance ||
        tw__apply(&tw__op_FusedBatchNormV3, TW_IN(args->inputs, n->gamma, n->beta, mean, variance), 5, attrs, 4, outputs,
                  &count) != TW_OK)
        return (tw_tensors){ NULL, 0 };
    for (int i = 0; i < count; i++)
        tw__temp(t, outputs[i]);
    return three(outputs, 3);
}

static tw_tensors fused_yes(void *user, tw_tensors none)
{
    (void)none;
    return fused(user, true);
}

static tw_tensors fused_no(void *user, tw_tensors none)
{
    (void)none;
    return fused(user, false);
}

/* (mean, variance) */
static tw_tensors of_batch(void *user, tw_tensors none)
{
    (void)none;
    const normalization *n = user;
    int64_t axes[TW_MAX_RANK];
    int count = 0;
    for (int i = 0; i < n->args->inputs->shape.rank; i++) {
        if (i != n->axis)
            axes[count++] = i;
    }
    return tw_nn_moments(n->args->inputs, (tw_ints){ .items = axes, .count = count, .given = true });
}

static tw_tensors of_averages(void *user, tw_tensors none)
{
    (void)none;
    const normalization *n = user;
    TW_TEMPS(t);
    tw_tensor *both[] = { tw__temp(t, tw__variable_read(n->args->moving_mean)),
                          tw__temp(t, tw__variable_read(n->args->moving_variance)) };
    if (!both[0] || !both[1])
        return (tw_tensors){ NULL, 0 };
    for (int i = 0; i < 2; i++)
        both[i] = TW_TEMP(Identity, both[i]);
    return both[0] && both[1] ? three(both, 2) : (tw_tensors){ NULL, 0 };
}

/* A vector of channels along the axis. */
static tw_tensor *wide(tw__temps *t, const normalization *n, tw_tensor *vector)
{
    int64_t dims[TW_MAX_RANK];
    int rank = n->args->inputs->shape.rank;
    for (int i = 0; i < rank; i++)
        dims[i] = i == n->axis ? n->args->inputs->shape.dims[i] : 1;
    return !vector || n->axis == rank - 1 ? vector : tw__temp_reshape(t, vector, dims, rank);
}

static tw_tensor *constant(double number)
{
    tw__part part = tw__part_plain();
    tw_auto tw_tensor *value = tw_tensor_float((float)number);
    return tw__part_result(&part, tw__part_constant(&part, value, "Const"));
}

static tw_tensors momentum_of(void *user, tw_tensors none)
{
    (void)none;
    const normalization *n = user;
    return tw__tensors_of_one(constant(n->args->momentum));
}

static tw_tensors momentum_stays(void *user, tw_tensors none)
{
    (void)user;
    (void)none;
    return tw__tensors_of_one(constant(1));
}

/* gamma or beta; for the kernel ones or zeros where the layer has none. */
static tw_tensor *parameter(tw__temps *t, tw_variable *variable, double otherwise, const normalization *n, bool by_kernel)
{
    tw_tensor *read = tw__temp(t, variable ? tw__variable_read(variable) : NULL);
    if (read && by_kernel && tw__in_graph())
        tw__graph_settle(tw__tracing); /* named by itself, not by the node that uses it */
    if (variable || !by_kernel)
        return read;
    tw_auto tw_tensor *made = tw_tensor_new(TW_FLOAT32, TW_SHAPE(n->args->inputs->shape.dims[n->axis]), NULL);
    for (int64_t i = 0; made && i < made->count; i++)
        ((float *)made->data)[i] = (float)otherwise;
    return tw__temp(t, tw_retain(made));
}

/* Lets an average follow. *update: the operation, in a graph. */
static tw_status follow(tw_variable *variable, tw_tensor *value, tw_tensor *momentum, double number, tw_value *update)
{
    tw__node *node = NULL;
    TW_TRY(tw__v1_follow(variable, (tw_object *)value, momentum, number, &node));
    if (node)
        *update = tw__value_of_object(tw__operation_of(node));
    return TW_OK;
}

/* The outputs, and what follows them: operations of a graph. */
static tw_status normalize(normalization *n, bool by_kernel, tw_value *results)
{
    const tw_v1_layers_normalize_args *args = n->args;
    tw__temps *t = n->temps;
    bool later = args->training.kind == TW_VALUE_TENSOR, follows = trains(&args->training);
    tw__auto(tw_tensors_free) tw_tensors found =
        chosen(&args->training, by_kernel ? fused_yes : of_batch, by_kernel ? fused_no : of_averages, n);
    if (found.count < (by_kernel ? 3 : 2))
        return tw__error_status();
    tw_tensor *mean = found.items[found.count - 2], *variance = found.items[found.count - 1];
    tw__auto(tw_tensors_free) tw_tensors momentum = { NULL, 0 };
    tw_status status = TW_OK;
    if (follows && (by_kernel || later)) {
        momentum = chosen(&args->training, momentum_of, momentum_stays, n);
        status = momentum.count ? TW_OK : tw__error_status();
    }
    tw_tensor *rate = momentum.count ? momentum.items[0] : NULL;
    if (status == TW_OK && follows)
        status = follow(args->moving_mean, mean, rate, args->momentum, &results[1]);
    if (status == TW_OK && follows)
        status = follow(args->moving_variance, variance, rate, args->momentum, &results[2]);
    if (status != TW_OK)
        return status;
    if (!by_kernel) {
        n->gamma = parameter(t, args->gamma, 1, n, false);
        n->beta = parameter(t, args->beta, 0, n, false);
        if ((args->gamma && !n->gamma) || (args->beta && !n->beta))
            return tw__error_status();
    }
    results[0] =
        tw__value_of_tensor(by_kernel ? tw_retain(found.items[0])
                                      : tw_nn_batch_normalization(args->inputs, wide(t, n, mean), wide(t, n, variance),
                                                                  wide(t, n, n->beta), wide(t, n, n->gamma), args->epsilon));
    return results[0].kind == TW_VALUE_TENSOR ? TW_OK : tw__error_status();
}

TW_API(
    v1_layers_normalize,
    "compat.v1.layers._normalize(inputs: tensor, training: value, moving_mean: variable, moving_variance: variable, "
    "gamma: variable = None, beta: variable = None, axis: int = -1, epsilon: float = 0.001, momentum: float = 0.99, "
    "fused: value = None) -> value",
    "The inputs with mean 0 and variance 1 per channel: by the batch while training, by the moving averages else. Behind them, in a "
    "graph, the operations by which the averages follow.")
{
    TW_TEMPS(t);
    int rank = args->inputs->shape.rank;
    tw_value list = { .kind = TW_VALUE_NONE };
    normalization n = { .temps = t, .args = args, .axis = (int)(args->axis < 0 ? args->axis + rank : args->axis) };
    if (rank < 0 || n.axis < 0 || n.axis >= rank) {
        tw__fail(TW_VALUE_ERROR, "Invalid axis: %lld", (long long)args->axis);
        return list;
    }
    bool by_kernel = rank == 4 && n.axis == 3 && (args->fused.kind == TW_VALUE_NONE || args->fused.b);
    n.gamma = by_kernel ? parameter(t, args->gamma, 1, &n, true) : NULL;
    n.beta = n.gamma ? parameter(t, args->beta, 0, &n, true) : NULL;
    if (by_kernel && !n.beta)
        return list;
    tw_value *items = tw__alloc_zero(3 * sizeof *items);
    if (!items)
        return list;
    tw_status status = normalize(&n, by_kernel, items);
    int64_t count = items[1].kind == TW_VALUE_OBJECT && items[2].kind == TW_VALUE_OBJECT ? 3 : 1;
    list = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, status == TW_OK ? count : 3, NULL } };
    if (status != TW_OK) {
        tw_value_free(&list);
        list = (tw_value){ .kind = TW_VALUE_NONE };
    }
    return list;
}
