/* keras.layers.LayerNormalization, GroupNormalization (mean 0 and variance 1 within every example, or within groups of its
 * channels, then a scale and an offset that are learnt) and UnitNormalization (length 1). */
#include "api/nn/nn.h"
#include "keras/constraints/constraints.h"
#include "keras/layers/layers.h"
#include "keras/regularizers/regularizers.h"
#include "op/array/array.h"
#include "op/calls.h"

typedef struct norm {
    tw_layer layer;
    tw_layers_layer_normalization_args settings; /* by name: GroupNormalization's too */
    bool center, scale, by_groups, axis_single;  /* axis_single: it was given as a number */
    int64_t groups;
    int axis_count;
    int64_t axes[TW_MAX_RANK]; /* as given; from the build on not negative */
    int rank;                  /* of the inputs it was built for */
} norm;

static tw_status settle(norm *layer, tw_ints axis)
{
    tw__args_project(tw_class_signature(tw_class_of(layer)), tw_object_config(layer), &tw__signature_layers_layer_normalization,
                     &layer->settings);
    if (!layer->layer.built || layer->by_groups) { /* as in Keras */
        layer->center = layer->settings.center;
        layer->scale = layer->settings.scale;
    }
    layer->axis_single = axis.single;
    return tw__layer_take_axes(&layer->layer, axis, layer->axes, &layer->axis_count, layer->rank);
}

static tw_status settle_axes(norm *layer, const tw_shape *input)
{
    for (int i = 0; i < layer->axis_count; i++) {
        int64_t *axis = &layer->axes[i];
        if (input->rank < 0 || *axis < -input->rank || *axis >= input->rank)
            return tw__fail(
                TW_VALUE_ERROR,
                "Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank=%d). Received: axis=%lld",
                input->rank, (long long)*axis);
        *axis += *axis < 0 ? input->rank : 0;
    }
    return TW_OK;
}

static tw_status norm_build(tw_layer *self, const tw_shape *input)
{
    norm *layer = (norm *)self;
    TW_TRY(settle_axes(layer, input));
    layer->rank = input->rank;
    tw_shape shape = { .rank = layer->axis_count };
    for (int i = 0; i < layer->axis_count; i++) {
        shape.dims[i] = input->dims[layer->axes[i]];
        if (shape.dims[i] < 0)
            return tw__fail(
                TW_VALUE_ERROR,
                "Axis %lld of input tensor should have a defined dimension but the layer received an input with shape %s.",
                (long long)layer->axes[i], tw__shape_text(input));
    }
    if (layer->by_groups) {
        int64_t channels = shape.dims[0];
        layer->groups = layer->groups == -1 ? channels : layer->groups;
        if (layer->groups <= 0 || channels < layer->groups || channels % layer->groups)
            return tw__fail(TW_VALUE_ERROR, "Number of groups (%lld) must be a divisor of the number of channels (%lld).",
                            (long long)layer->groups, (long long)channels);
    }
    TW_TRY(layer->scale ? tw__layer_add_part(self, "gamma", &shape) : TW_OK);
    return layer->center ? tw__layer_add_part(self, "beta", &shape) : TW_OK;
}

/* gamma or beta in a shape that stretches over the input; NULL without an error: there is none. */
static tw_tensor *parameter(norm *layer, const char *name, bool has, int rank)
{
    tw_auto tw_tensor *value = has ? tw__layer_read(&layer->layer, name) : NULL;
    if (!value)
        return NULL;
    tw_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++)
        shape.dims[i] = 1;
    for (int i = 0; i < layer->axis_count; i++)
        shape.dims[layer->axes[i]] = value->shape.dims[i];
    return tw__reshape(value, &shape);
}

static tw_tensor *normalized(norm *layer, tw_tensor *x, tw_ints axes, tw_tensor *gamma, tw_tensor *beta)
{
    tw_auto tw_tensor *mean = NULL, *variance = NULL;
    if (tw__moments(x, axes, true, &mean, &variance) != TW_OK)
        return NULL;
    return tw__normalize(x, mean, variance, beta, gamma, layer->settings.epsilon);
}

static tw_tensor *norm_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    norm *layer = (norm *)self;
    tw_auto tw_tensor *gamma = parameter(layer, "gamma", layer->scale, input->shape.rank),
                      *beta = parameter(layer, "beta", layer->center, input->shape.rank);
    if ((layer->scale && !gamma) || (layer->center && !beta))
        return NULL;
    return normalized(layer, input, (tw_ints){ layer->axes, layer->axis_count, true, false }, gamma, beta);
}

/* The channels' axis becomes two, groups and channels of one; statistics go over all but the batch and the groups. */
static tw_tensor *group_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    norm *layer = (norm *)self;
    int rank = input->shape.rank, axis = (int)layer->axes[0], unknown = 0, count = 0;
    int64_t over[TW_MAX_RANK];
    if (rank + 1 > TW_MAX_RANK) {
        tw__fail(TW_INVALID_ARGUMENT, "GroupNormalization \"%s\": an input of rank %d", self->name, rank);
        return NULL;
    }
    tw_shape apart = { .rank = rank + 1 };
    for (int i = 0; i <= rank; i++) {
        apart.dims[i] = i < axis        ? input->shape.dims[i]
                        : i == axis     ? layer->groups
                        : i == axis + 1 ? input->shape.dims[axis] / layer->groups
                                        : input->shape.dims[i - 1];
        unknown += apart.dims[i] < 0;
        if (i > 0 && i != axis)
            over[count++] = i;
    }
    if (unknown > 1) {
        tw__fail(TW_UNIMPLEMENTED, "GroupNormalization \"%s\": the input's shape %s is not known well enough", self->name,
                 tw__shape_text(&input->shape));
        return NULL;
    }
    tw_auto tw_tensor *gamma = parameter(layer, "gamma", layer->scale, rank),
                      *beta = parameter(layer, "beta", layer->center, rank);
    tw_auto tw_tensor *groups = tw__reshape(input, &apart);
    if (!groups || (layer->scale && !gamma) || (layer->center && !beta))
        return NULL;
    /* gamma and beta in the shape of the groups */
    tw_shape wide = { .rank = rank + 1 };
    for (int i = 0; i <= rank; i++)
        wide.dims[i] = i == axis || i == axis + 1 ? apart.dims[i] : 1;
    tw_auto tw_tensor *scale = gamma ? tw__reshape(gamma, &wide) : NULL, *offset = beta ? tw__reshape(beta, &wide) : NULL;
    if ((gamma && !scale) || (beta && !offset))
        return NULL;
    tw_auto tw_tensor *out = normalized(layer, groups, (tw_ints){ over, count, true, false }, scale, offset);
    return out ? tw__reshape(out, &input->shape) : NULL;
}

static void norm_config(tw_layer *self, tw__dict *dict)
{
    norm *layer = (norm *)self;
    tw_value axis = { .kind = TW_VALUE_INT, .i = layer->axes[0] };
    if (!layer->by_groups && (self->built || !layer->axis_single)) {
        axis = tw__sizes_value(layer->axes, layer->axis_count);
        axis.kind = TW_VALUE_LIST;
    } else if (layer->by_groups) {
        axis.i = ((const tw_layers_group_normalization_args *)tw_object_config(self))->axis;
        tw__dict_put(dict, "groups", (tw_value){ .kind = TW_VALUE_INT, .i = layer->groups });
    }
    tw__dict_put(dict, "axis", axis);
}

static const tw__layer_methods norm_methods = {
    .supports_masking = true, .build = norm_build, .call = norm_call, .config = norm_config, .own_config = " axis "
};

static tw_status layer_norm_settle(void *self, const void *given)
{
    return settle(self, ((const tw_layers_layer_normalization_args *)given)->axis);
}

TW_CLASS(
    layers_layer_normalization,
    "keras.layers.LayerNormalization(axis: ints = -1, epsilon: float = 0.001, center: bool = True, scale: bool = True, "
    "beta_initializer: named<initializer> = zeros, gamma_initializer: named<initializer> = ones, beta_regularizer: named<regularizer> = None, "
    "gamma_regularizer: named<regularizer> = None, beta_constraint: named<constraint> = None, gamma_constraint: named<constraint> = None, "
    "**layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(norm), .settle = layer_norm_settle, .methods = &norm_methods,
    .doc = "Gives every example the mean 0 and the variance 1, then a scale and an offset that are learnt.\n"
           "axis: the dimensions that mean and variance go over\n"
           "epsilon: a small number that is added to the variance");

static const tw__layer_methods group_methods = {
    .supports_masking = true, .build = norm_build, .call = group_call, .config = norm_config, .own_config = " axis groups "
};

static tw_status group_norm_settle(void *self, const void *given)
{
    const tw_layers_group_normalization_args *args = given;
    norm *layer = self;
    layer->by_groups = true;
    if (args->groups != -1 || !layer->layer.built) /* -1 was settled by the build */
        layer->groups = args->groups;
    return settle(layer, (tw_ints){ &args->axis, 1, true, true });
}

TW_CLASS(
    layers_group_normalization,
    "keras.layers.GroupNormalization(groups: int = 32, axis: int = -1, epsilon: float = 0.001, center: bool = True, scale: bool = True, "
    "beta_initializer: named<initializer> = zeros, gamma_initializer: named<initializer> = ones, beta_regularizer: named<regularizer> = None, "
    "gamma_regularizer: named<regularizer> = None, beta_constraint: named<constraint> = None, gamma_constraint: named<constraint> = None, "
    "**layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(norm), .settle = group_norm_settle, .methods = &group_methods,
    .doc =
        "Gives every group of channels of an example the mean 0 and the variance 1, then a scale and an offset that are learnt.\n"
        "groups: into how many groups the channels are split; -1: each channel is one\n"
        "axis: the dimension of the channels\n"
        "epsilon: a small number that is added to the variance");

/* ---- UnitNormalization ---- */

typedef struct unit {
    tw_layer layer;
    int rank; /* of the inputs it was built for */
} unit;

static tw_status unit_settle(void *self, const void *given)
{
    const tw_layers_unit_normalization_args *args = given;
    (void)self;
    if (args->axis.count < 1 || args->axis.count > TW_MAX_RANK)
        return tw__fail(TW_TYPE_ERROR,
                        "Invalid value for `axis` argument: expected an int or a list/tuple of ints. Received %lld of them",
                        (long long)args->axis.count);
    return TW_OK;
}

static tw_tensor *unit_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    const tw_layers_unit_normalization_args *args = tw_object_config(self);
    tw_tensor *axes = tw__temp_ints(t, args->axis.items, args->axis.count, TW_INT32);
    tw_tensor *sums = TW_TEMP(Sum, TW_TEMP(Square, input), axes, TW_A_BOOL("keep_dims", true));
    return TW_CALL(Mul, input, TW_TEMP(Rsqrt, TW_TEMP(Maximum, 1e-12, sums)));
}

/* From the build on the axis is a list, and not negative. */
static void unit_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_unit_normalization_args *args = tw_object_config(self);
    tw_value axis = { .kind = TW_VALUE_INT, .i = args->axis.items[0] };
    if (self->built || !args->axis.single) {
        axis = tw__sizes_value(args->axis.items, (int)args->axis.count);
        axis.kind = TW_VALUE_LIST;
        for (int64_t i = 0; i < axis.list.count; i++) {
            tw_value *item = &axis.list.items[i];
            if (args->axis.items[i] < 0)
                *item = (tw_value){ .kind = TW_VALUE_INT, .i = args->axis.items[i] + (self->built ? ((unit *)self)->rank : 0) };
        }
    }
    tw__dict_put(dict, "axis", axis);
}

static tw_status unit_build(tw_layer *self, const tw_shape *input)
{
    ((unit *)self)->rank = input->rank;
    return TW_OK;
}

static const tw__layer_methods unit_methods = {
    .supports_masking = true, .build = unit_build, .call = unit_call, .config = unit_config, .own_config = " axis "
};

TW_CLASS(layers_unit_normalization, "keras.layers.UnitNormalization(axis: ints = -1, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(unit), .settle = unit_settle, .methods = &unit_methods,
         .doc = "Gives inputs the length 1 along an axis.\n"
                "axis: the dimensions that the length goes over\n"
                "example: tf.keras.layers.UnitNormalization()(tf.constant([[3.0, 0.0]])).numpy().tolist()  # [[1.0, 0.0]]");
