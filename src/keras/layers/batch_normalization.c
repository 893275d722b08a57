/* keras.layers.BatchNormalization: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
 *
 * Training, the mean and variance are the batch's, and the moving ones follow them. Batches of images with their channels last or
 * second go through FusedBatchNormV3, whose moving variance is the unbiased one; all others through plain ops, with the biased
 * one: as in Keras. In checkpoints `axis` is a child of its own, a list that holds no variables. */
#include "api/nn/nn.h"
#include "device/device.h"
#include "graph/graph.h"
#include "keras/constraints/constraints.h"
#include "keras/layers/layers.h"
#include "keras/regularizers/regularizers.h"
#include "op/calls.h"

typedef struct batch_normalization {
    tw_layer layer;
    bool center, scale, fused; /* center, scale: as they were when it was built */
    int axis_count;
    int64_t axes[TW_MAX_RANK];  /* as given; from the build on, not negative */
    int rank;                   /* of the inputs it was built for */
    int64_t sizes[TW_MAX_RANK]; /* of those axes */
    tw_tensor *ones, *zeros;    /* for gamma and beta where there are none */
} batch_normalization;

static tw_status norm_settle(void *self, const void *given)
{
    batch_normalization *layer = self;
    const tw_layers_batch_normalization_args *args = given;
    TW_TRY(tw__layer_take_axes(&layer->layer, args->axis, layer->axes, &layer->axis_count, layer->rank));
    if (!layer->layer.built) { /* as in Keras */
        layer->center = args->center;
        layer->scale = args->scale;
    }
    return TW_OK;
}

static const tw_layers_batch_normalization_args *settings(const batch_normalization *layer)
{
    return tw_object_config(layer);
}

static void norm_destroy(void *self)
{
    batch_normalization *layer = self;
    tw_release(layer->ones);
    tw_release(layer->zeros);
}

/* ---- weights ---- */

static tw_dtype parameter_dtype(const batch_normalization *layer)
{
    tw_dtype dtype = layer->layer.dtype;
    return dtype == TW_FLOAT16 || dtype == TW_BFLOAT16 ? TW_FLOAT32 : dtype;
}

static tw_status resolve_axes(batch_normalization *layer, const tw_shape *input)
{
    for (int i = 0; i < layer->axis_count; i++) {
        int64_t axis = layer->axes[i] < 0 ? layer->axes[i] + input->rank : layer->axes[i];
        if (axis < 0 || axis >= input->rank)
            return tw__fail(TW_VALUE_ERROR,
                            "Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank=%d). "
                            "Received: axis=(%lld,)",
                            input->rank, (long long)axis);
        for (int k = 0; k < i; k++) {
            if (layer->axes[k] == axis)
                return tw__fail(TW_VALUE_ERROR, "Duplicate axis: %lld", (long long)axis);
        }
        if (input->dims[axis] < 0)
            return tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                                    "Input has undefined `axis` dimension. Received input with shape %s. Axis value: %lld",
                                    tw__shape_text(input), (long long)axis);
        layer->axes[i] = axis;
        layer->sizes[i] = input->dims[axis];
    }
    return TW_OK;
}

static tw_status track_axis(batch_normalization *layer)
{
    tw_auto tw_trackable *list = tw__container_new();
    TW_NEED(list);
    return tw__track(&layer->layer.trackable, "axis", list);
}

static tw_status norm_build(tw_layer *self, const tw_shape *input)
{
    batch_normalization *layer = (batch_normalization *)self;
    const tw_layers_batch_normalization_args *args = tw_object_config(self);
    if (input->rank < 0 || !args)
        return tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR, "Input has undefined rank. Received: input_shape=<unknown>.");
    TW_TRY(resolve_axes(layer, input));
    TW_TRY(track_axis(layer));
    layer->rank = input->rank;
    layer->fused = !args->synchronized && input->rank == 4 && layer->axis_count == 1 &&
                   (layer->axes[0] == 1 || layer->axes[0] == 3) && self->dtype != TW_FLOAT64;
    tw_shape shape = TW_SHAPE(layer->sizes[0]);
    if (layer->axis_count > 1) { /* as large as the input, ones elsewhere */
        shape.rank = input->rank;
        for (int i = 0; i < shape.rank; i++)
            shape.dims[i] = 1;
        for (int i = 0; i < layer->axis_count; i++)
            shape.dims[layer->axes[i]] = layer->sizes[i];
    }
    const struct {
        const char *name;
        tw_named initializer;
        bool wanted, trainable;
    } weights[] = { { "gamma", args->gamma_initializer, layer->scale, true },
                    { "beta", args->beta_initializer, layer->center, true },
                    { "moving_mean", args->moving_mean_initializer, true, false },
                    { "moving_variance", args->moving_variance_initializer, true, false } };
    for (int i = 0; i < 4; i++) {
        if (!weights[i].wanted)
            continue;
        tw_variable *weight = tw__layer_add_weight(self, weights[i].name, &shape, parameter_dtype(layer), weights[i].initializer,
                                                   weights[i].trainable);
        if (!weight)
            return tw__error_status();
        weight->autocasts = false;   /* 32 bits beside inputs of 16 */
        if (!weights[i].trainable) { /* replicas of a strategy keep their own; what others see is their mean */
            weight->synchronization = TW_SYNCHRONIZE_ON_READ;
            weight->aggregation = TW_AGGREGATE_MEAN;
        }
    }
    return TW_OK;
}

/* ---- calling ---- */

static tw_status check_input(const batch_normalization *layer, const tw_shape *shape)
{
    TW_TRY(tw__layer_need_rank(&layer->layer, shape, layer->rank));
    for (int i = 0; i < layer->axis_count; i++) {
        int64_t size = shape->dims[layer->axes[i]];
        if (size < 0 || size == layer->sizes[i])
            continue;
        tw__owned char *text = tw__shape_tuple(shape);
        return tw__fail_because(
            TW_REASON_INPUTS, TW_VALUE_ERROR,
            "Input 0 of layer \"%s\" is incompatible with the layer: expected axis %lld of input shape to have value %lld, "
            "but received input with shape %s",
            layer->layer.name, (long long)layer->axes[i], (long long)layer->sizes[i], text ? text : "");
    }
    return TW_OK;
}

static tw_status assign(tw_layer *self, const char *name, const tw_op *op, tw_tensor *value)
{
    tw_variable *variable = tw__layer_variable(self, name);
    return variable && value ? tw__variable_update(variable, op, value) : tw__error_status();
}

/* gamma or beta; a constant where the layer has none. */
static tw_tensor *parameter(batch_normalization *layer, bool gamma)
{
    if (gamma ? layer->scale : layer->center)
        return tw__layer_read(&layer->layer, gamma ? "gamma" : "beta");
    tw_tensor **slot = gamma ? &layer->ones : &layer->zeros;
    if (!*slot) {
        tw_tensor *made = tw_tensor_new(TW_FLOAT32, TW_SHAPE(layer->sizes[0]), NULL);
        for (int64_t i = 0; made && gamma && i < layer->sizes[0]; i++)
            ((float *)made->data)[i] = 1;
        *slot = made;
    }
    return tw_retain(*slot);
}

/* A replica of a strategy may be left without rows: then `otherwise`, or zeros. What follows is left to t. */
static tw_tensor *if_rows(tw__temps *t, tw_tensor *x, tw_tensor *value, tw_tensor *otherwise)
{
    if (!value || tw__replica < 0 || tw__replicas == 1)
        return value;
    return TW_TEMP(SelectV2, TW_TEMP(Greater, TW_TEMP(Size, x), 0), value, otherwise ? otherwise : TW_TEMP(ZerosLike, value));
}

static tw_tensor *call_fused(batch_normalization *layer, tw_tensor *x, bool training)
{
    TW_TEMPS(t);
    tw_layer *self = &layer->layer;
    tw_auto tw_tensor *gamma = parameter(layer, true);
    tw_auto tw_tensor *beta = parameter(layer, false);
    if (tw__in_graph())
        tw__graph_settle(tw__tracing); /* these are named by themselves, those below by the node that uses them */
    tw_auto tw_tensor *mean = tw__layer_read(self, "moving_mean");
    tw_auto tw_tensor *variance = tw__layer_read(self, "moving_variance");
    if (!gamma || !beta || !mean || !variance)
        return NULL;
    tw_attr attrs[] = { TW_A_FLOAT("epsilon", settings(layer)->epsilon),
                        TW_A_STRING("data_format", layer->axes[0] == 1 ? "NCHW" : "NHWC"), TW_A_BOOL("is_training", training),
                        TW_A_FLOAT("exponential_avg_factor", training ? 1 - settings(layer)->momentum : 1) };
    tw_tensor *outputs[6];
    int count = 6;
    tw_status status = tw__apply(&tw__op_FusedBatchNormV3, TW_IN(x, gamma, beta, mean, variance), 5, attrs, 4, outputs, &count);
    if (status != TW_OK || tw__temp_all(t, outputs, 6, status) != TW_OK)
        return NULL;
    if (training && x->count &&
        (assign(self, "moving_mean", &tw__op_AssignVariableOp, if_rows(t, x, outputs[1], mean)) != TW_OK ||
         assign(self, "moving_variance", &tw__op_AssignVariableOp, if_rows(t, x, outputs[2], variance)) != TW_OK))
        return NULL;
    return tw__keep(t, outputs[0]);
}

/* moving -= (moving - value) * (1 - momentum) */
static tw_status follow(tw__temps *t, batch_normalization *layer, tw_tensor *x, const char *name, tw_tensor *value)
{
    tw_tensor *moving = tw__temp(t, tw__layer_read(&layer->layer, name));
    TW_NEED(moving);
    tw_tensor *distance = TW_TEMP(Sub, moving, tw__temp_cast(t, value, moving->dtype));
    tw_tensor *step = if_rows(t, x, TW_TEMP(Mul, distance, 1 - settings(layer)->momentum), NULL);
    return assign(&layer->layer, name, &tw__op_AssignSubVariableOp, step);
}

/* A parameter in the shape that goes with the input; NULL stays NULL. */
static tw_tensor *spread(tw__temps *t, const batch_normalization *layer, tw_tensor *value)
{
    if (!value || value->shape.rank == layer->rank || layer->axes[0] == layer->rank - 1)
        return value;
    tw_shape shape = { .rank = layer->rank };
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = i == layer->axes[0] ? layer->sizes[0] : 1;
    return tw__temp(t, tw__reshape(value, &shape));
}

/* The moments of the batch over all axes but the layer's own; only where the mask is true, if there is one. */
static tw_status batch_moments(const batch_normalization *layer, tw_tensor *x, tw_tensor *mask, tw_tensor **mean,
                               tw_tensor **variance)
{
    int64_t others[TW_MAX_RANK], count = 0;
    for (int i = 0; i < layer->rank; i++) {
        bool own = false;
        for (int k = 0; k < layer->axis_count; k++)
            own |= layer->axes[k] == i;
        if (!own)
            others[count++] = i;
    }
    tw_ints axes = { others, count, true, false };
    if (!mask)
        return tw__moments(x, axes, layer->axis_count > 1, mean, variance);
    tw_auto tw_tensor *numbers = tw__cast(mask, x->dtype), *weights = TW_CALL(ExpandDims, numbers, -1);
    return weights ? tw__weighted_moments(x, axes, weights, layer->axis_count > 1, mean, variance) : tw__error_status();
}

static tw_tensor *call_plain(batch_normalization *layer, tw_tensor *x, tw_tensor *mask, bool training)
{
    TW_TEMPS(t);
    tw_layer *self = &layer->layer;
    tw_tensor *gamma = layer->scale ? tw__temp(t, tw__layer_read(self, "gamma")) : NULL;
    tw_tensor *beta = layer->center ? tw__temp(t, tw__layer_read(self, "beta")) : NULL;
    tw_tensor *moments[2] = { NULL };
    if ((layer->scale && !gamma) || (layer->center && !beta))
        return NULL;
    if (training) {
        if (tw__temp_all(t, moments, 2, batch_moments(layer, x, mask, &moments[0], &moments[1])) != TW_OK)
            return NULL;
        for (int i = 0; i < 2; i++)
            moments[i] = if_rows(t, x, moments[i], NULL);
    } else {
        moments[0] = tw__temp(t, tw__layer_read(self, "moving_mean"));
        moments[1] = tw__temp(t, tw__layer_read(self, "moving_variance"));
    }
    if (!moments[0] || !moments[1])
        return NULL;
    if (training && x->count &&
        (follow(t, layer, x, "moving_mean", moments[0]) != TW_OK || follow(t, layer, x, "moving_variance", moments[1]) != TW_OK))
        return NULL;
    tw_tensor *mean = spread(t, layer, moments[0]), *variance = spread(t, layer, moments[1]);
    tw_tensor *wide_beta = spread(t, layer, beta), *wide_gamma = spread(t, layer, gamma);
    bool good = mean && variance && (wide_beta || !beta) && (wide_gamma || !gamma);
    return good ? tw__normalize(x, mean, variance, wide_beta, wide_gamma, settings(layer)->epsilon) : NULL;
}

static tw_value norm_call(tw_layer *self, const tw_value *given, int training)
{
    batch_normalization *layer = (batch_normalization *)self;
    tw_tensor *input = tw__value_first_tensor(&given[0]), *mask = tw__value_first_tensor(&given[2]);
    if (!input)
        tw__fail(TW_TYPE_ERROR, "BatchNormalization \"%s\" takes one tensor", self->name);
    if (!input || check_input(layer, &input->shape) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    bool learns = training == 1 && self->trainable; /* a frozen layer keeps to its moving averages */
    if (learns && settings(layer)->synchronized && tw__replica >= 0 && tw__replicas > 1) {
        tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": batches of several replicas are not normalized together", tw_class_name(self),
                 self->name);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    if (layer->fused && mask)
        tw__log("WARNING", "Masking is not supported by the normalization of pictures: the mask is ignored by the layer \"%s\".",
                self->name);
    if (layer->fused)
        return tw__tensor_value(call_fused(layer, input, learns));
    tw_auto tw_tensor *x = tw__cast(input, input->dtype == TW_BFLOAT16 || input->dtype == TW_FLOAT16 ? TW_FLOAT32 : input->dtype);
    tw_auto tw_tensor *result = x ? call_plain(layer, x, mask, learns) : NULL;
    return tw__tensor_value(result ? tw__cast(result, input->dtype) : NULL);
}

static tw_status norm_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    *output = *input;
    return check_input((batch_normalization *)self, input);
}

/* From the build on the axis is a list. */
static void norm_config(tw_layer *self, tw__dict *dict)
{
    batch_normalization *layer = (batch_normalization *)self;
    tw_value axis = { .kind = TW_VALUE_INT, .i = layer->axes[0] };
    const tw_layers_batch_normalization_args *args = tw_object_config(self);
    if (self->built || !args->axis.single) {
        axis = tw__sizes_value(layer->axes, layer->axis_count);
        axis.kind = TW_VALUE_LIST;
    }
    tw__dict_put(dict, "axis", axis);
}

static const tw__layer_methods norm_methods = { .supports_masking = true,
                                                .build = norm_build,
                                                .arguments = "inputs training mask",
                                                .call_values = norm_call,
                                                .output_shape = norm_output_shape,
                                                .config = norm_config,
                                                .own_config = " axis synchronized " };

TW_CLASS(
    layers_batch_normalization,
    "keras.layers.BatchNormalization(axis: ints = -1, momentum: float = 0.99, epsilon: float = 0.001, center: bool = True, "
    "scale: bool = True, beta_initializer: named<initializer> = zeros, gamma_initializer: named<initializer> = ones, "
    "moving_mean_initializer: named<initializer> = zeros, moving_variance_initializer: named<initializer> = ones, "
    "beta_regularizer: named<regularizer> = None, gamma_regularizer: named<regularizer> = None, "
    "beta_constraint: named<constraint> = None, gamma_constraint: named<constraint> = None, synchronized: bool = False, "
    "**layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(batch_normalization), .settle = norm_settle, .inert = " synchronized ",
    .destroy = norm_destroy, .methods = &norm_methods,
    .doc =
        "Gives every channel the mean 0 and the variance 1 over the batch, then a scale and an offset that are learnt.\n"
        "axis: the dimension of the channels; all other ones are averaged over\n"
        "momentum: how much of the moving mean and variance is kept at each step\n"
        "epsilon: a small number that is added to the variance\n"
        "moving_mean_initializer: what makes the first moving mean\n"
        "moving_variance_initializer: what makes the first moving variance\n"
        "synchronized: True: mean and variance are those of all replicas together\n"
        "example: tf.keras.layers.BatchNormalization(epsilon=0.0)(tf.constant([[1.0], [3.0]]), training=True).numpy().tolist()  # [[-1.0], [1.0]]");

TW_CLASS(layers_sync_batch_normalization,
         "keras.layers.experimental.SyncBatchNormalization(axis: ints = -1, momentum: float = 0.99, epsilon: float = 0.001, "
         "center: bool = True, "
         "scale: bool = True, beta_initializer: named<initializer> = zeros, gamma_initializer: named<initializer> = ones, "
         "moving_mean_initializer: named<initializer> = zeros, moving_variance_initializer: named<initializer> = ones, "
         "beta_regularizer: named<regularizer> = None, gamma_regularizer: named<regularizer> = None, "
         "beta_constraint: named<constraint> = None, gamma_constraint: named<constraint> = None, *, synchronized: bool = True, "
         "**layer) -> layer",
         .parent = &tw__class_layers_batch_normalization, .size = sizeof(batch_normalization), .inert = " synchronized ",
         .doc = "BatchNormalization(synchronized=True) by its old name; the arguments are the same, in the same places.\n"
                "axis: the dimension of the channels; all other ones are averaged over\n"
                "moving_mean_initializer: what makes the first moving mean\n"
                "moving_variance_initializer: what makes the first moving variance\n"
                "synchronized: True: mean and variance are those of all replicas together");
