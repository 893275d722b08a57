/* keras.layers.Normalization: (x - mean) / max(sqrt(variance), epsilon), or the other way round with `invert`.
 *
 * Mean and variance are given, or `adapt` works them out for each index of the kept axes: weights `mean`, `variance` and `count`.
 * Calls use what finalize made of the weights: tensors that spread over the input. A function that was traced keeps them, as in
 * Keras. */
#include "api/composite.h"
#include "api/nn/nn.h"
#include "keras/layers/preprocessing/preprocessing.h"
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

typedef struct normalization {
    tw__preprocessing base;
    int rank;                   /* of the inputs it was built for */
    bool kept[TW_MAX_RANK];     /* those axes */
    int64_t shape[TW_MAX_RANK]; /* the sizes of kept axes, else 1 */
    tw_tensor *mean, *variance; /* of that shape; references, NULL before the build */
} normalization;

static const tw_layers_normalization_args *settings(const void *layer)
{
    return tw_object_config(layer);
}

static bool is_given(const void *layer)
{
    return settings(layer)->mean.kind != TW_VALUE_NONE;
}

static void normalization_destroy(void *self)
{
    normalization *layer = self;
    tw_release(layer->mean);
    tw_release(layer->variance);
}

/* "1.5", "[1.0, 2.0]", "None"; for tw__free. */
static char *number_text(const tw_value *value)
{
    if (value->kind == TW_VALUE_NONE)
        return tw__strdup("None");
    return tw_value_json(value);
}

static tw_status fail_with_numbers(const char *words, const tw_layers_normalization_args *args)
{
    tw__owned char *mean = number_text(&args->mean), *variance = number_text(&args->variance);
    return tw__fail(TW_VALUE_ERROR, words, mean ? mean : "", variance ? variance : "");
}

static tw_status normalization_settle(void *self, const void *given)
{
    const tw_layers_normalization_args *args = given;
    const struct {
        const char *name;
        const tw_value *value;
    } numbers[] = { { "mean", &args->mean }, { "variance", &args->variance } };
    (void)self;
    for (int i = 0; i < 2; i++) {
        if (numbers[i].value->kind == TW_VALUE_OBJECT && tw__is(numbers[i].value->object, &tw__class_variable))
            return tw__fail(TW_VALUE_ERROR, "Normalization does not support passing a Variable for the `%s` init arg.",
                            numbers[i].name);
    }
    if ((args->mean.kind == TW_VALUE_NONE) != (args->variance.kind == TW_VALUE_NONE))
        return fail_with_numbers("When setting values directly, both `mean` and `variance` must be set. Got mean: %s and "
                                 "variance: %s",
                                 args);
    return TW_OK;
}

/* ---- state ---- */

static tw_status replace(tw_tensor **place, tw_tensor *made)
{
    TW_NEED(made);
    tw_release(*place);
    *place = made;
    return TW_OK;
}

/* A weight, or a number that was given, of the kept axes' shape, as a tensor that spreads over inputs; takes it. */
static tw_tensor *spread(const normalization *layer, tw_tensor *value)
{
    tw_shape shape = { .rank = layer->rank };
    memcpy(shape.dims, layer->shape, sizeof shape.dims[0] * (size_t)layer->rank);
    tw_auto tw_tensor *taken = value, *wide = value ? tw__reshape(value, &shape) : NULL;
    return wide ? tw__cast(wide, layer->base.layer.compute_dtype) : NULL;
}

static tw_status normalization_finalize(tw_layer *self)
{
    normalization *layer = (normalization *)self;
    if (is_given(self) || !self->built)
        return TW_OK;
    tw__outside outside = tw__root_begin();
    tw_status status = replace(&layer->mean, spread(layer, tw__layer_read(self, "mean")));
    if (status == TW_OK)
        status = replace(&layer->variance, spread(layer, tw__layer_read(self, "variance")));
    tw__outside_end(outside);
    return status;
}

static tw_status set_all(tw_layer *self, const char *name, const tw_op *like)
{
    tw_variable *variable = tw__layer_variable(self, name);
    tw_auto tw_tensor *old = tw__layer_read(self, name);
    tw_tensor *value = NULL;
    int count = 1;
    TW_NEED(old);
    TW_TRY(tw__apply(like, TW_IN(old), 1, NULL, 0, &value, &count));
    tw_status status = tw__variable_update(variable, &tw__op_AssignVariableOp, value);
    tw_release(value);
    return status;
}

static tw_status normalization_reset(tw_layer *self)
{
    if (is_given(self) || !self->built)
        return TW_OK;
    TW_TRY(set_all(self, "mean", &tw__op_ZerosLike));
    TW_TRY(set_all(self, "variance", &tw__op_OnesLike));
    return set_all(self, "count", &tw__op_ZerosLike);
}

/* ---- building ---- */

/* As Python writes a tuple; for tw__free. */
static char *axes_text(tw_ints axes)
{
    tw__text text = { 0 };
    tw__text_add(&text, "(");
    for (int64_t i = 0; i < axes.count; i++)
        tw__text_format(&text, "%s%lld", i ? ", " : "", (long long)axes.items[i]);
    tw__text_add(&text, axes.count == 1 ? ",)" : ")");
    return text.data;
}

static tw_status check_axes(const tw_shape *input, tw_ints axes)
{
    for (int64_t i = 0; i < axes.count; i++) {
        if (axes.items[i] >= -input->rank && axes.items[i] < input->rank)
            continue;
        tw__owned char *text = axes_text(axes);
        return tw__fail(TW_VALUE_ERROR, "All `axis` values must be in the range [-ndim, ndim). Found ndim: `%d`, axis: %s",
                        input->rank, text ? text : "");
    }
    return TW_OK;
}

static tw_status take_axes(normalization *layer, const tw_shape *input)
{
    tw_ints axes = settings(layer)->axis;
    if (input->rank < 0)
        return tw__fail(TW_VALUE_ERROR, "as_list() is not defined on an unknown TensorShape.");
    TW_TRY(check_axes(input, axes));
    layer->rank = input->rank;
    memset(layer->kept, 0, sizeof layer->kept);
    for (int64_t i = 0; i < axes.count; i++)
        layer->kept[axes.items[i] < 0 ? axes.items[i] + input->rank : axes.items[i]] = true;
    for (int i = 0; i < input->rank; i++) {
        layer->shape[i] = layer->kept[i] ? input->dims[i] : 1;
        if (layer->shape[i] >= 0)
            continue;
        tw__owned char *text = axes_text(axes);
        return tw__fail(TW_VALUE_ERROR,
                        "All `axis` values to be kept must have known shape. Got axis: %s, input shape: %s, with unknown axis at "
                        "index: %d",
                        text ? text : "", tw__shape_text(input), i);
    }
    return TW_OK;
}

static tw_shape kept_shape(const normalization *layer)
{
    tw_shape shape = { .rank = 0 };
    for (int i = 0; i < layer->rank; i++) {
        if (layer->kept[i])
            shape.dims[shape.rank++] = layer->shape[i];
    }
    return shape;
}

/* A number or list that was given, in the shape of the kept axes. */
static tw_tensor *given_tensor(const normalization *layer, const tw_value *value)
{
    tw_shape shape = kept_shape(layer);
    tw_auto tw_tensor *numbers = tw__value_tensor(value, TW_FLOAT64, "Normalization"), *wide = tw__cast(numbers, TW_FLOAT64);
    tw_auto tw_tensor *sizes = wide ? tw__ints_tensor(shape.dims, shape.rank, TW_INT32) : NULL;
    return sizes ? spread(layer, TW_CALL(BroadcastTo, wide, sizes)) : NULL;
}

static tw_status normalization_build(tw_layer *self, const tw_shape *input)
{
    normalization *layer = (normalization *)self;
    TW_TRY(take_axes(layer, input));
    if (is_given(self)) {
        tw__outside outside = tw__root_begin();
        tw_status status = replace(&layer->mean, given_tensor(layer, &settings(self)->mean));
        if (status == TW_OK)
            status = replace(&layer->variance, given_tensor(layer, &settings(self)->variance));
        tw__outside_end(outside);
        return status;
    }
    tw_shape shape = kept_shape(layer), scalar = TW_SCALAR;
    if (!tw__layer_add_weight(self, "mean", &shape, self->compute_dtype, "zeros", false) ||
        !tw__layer_add_weight(self, "variance", &shape, self->compute_dtype, "ones", false) ||
        !tw__layer_add_weight(self, "count", &scalar, TW_INT64, "zeros", false))
        return tw__error_status();
    self->built = true;
    return normalization_finalize(self);
}

/* ---- adapting ---- */

static tw_tensor *batch_tensor(tw_layer *self, const tw_value *batch)
{
    if (batch->kind == TW_VALUE_OBJECT && !tw__is(batch->object, &tw__class_variable)) {
        tw__fail(TW_TYPE_ERROR, "Normalization \"%s\": a tensor is expected, got a %s", self->name, tw_class_name(batch->object));
        return NULL;
    }
    tw_auto tw_tensor *data = tw__value_tensor(batch, TW_DTYPE_NONE, "Normalization");
    return data ? tw__cast(data, self->compute_dtype) : NULL;
}

/* How many numbers each mean is of: the product of the sizes of the other axes. */
static tw_tensor *batch_count(tw__temps *t, const int64_t *axes, int64_t count, tw_tensor *data)
{
    if (!count)
        return tw__temp(t, tw_tensor_int64(1));
    tw_tensor *sizes = TW_TEMP(Shape, data, TW_A_TYPE("out_type", TW_INT64));
    tw_tensor *others = TW_TEMP(GatherV2, sizes, tw__temp(t, tw__ints_tensor(axes, count, TW_INT32)), 0);
    return TW_TEMP(Prod, others, 0);
}

static tw_tensor *weighed(tw__temps *t, tw_tensor *old, tw_tensor *old_weight, tw_tensor *batch, tw_tensor *weight)
{
    return TW_TEMP(AddV2, TW_TEMP(Mul, old, old_weight), TW_TEMP(Mul, batch, weight));
}

/* A variance, and how far its mean is from the new one. */
static tw_tensor *moved(tw__temps *t, tw_tensor *variance, tw_tensor *mean, tw_tensor *total_mean)
{
    return TW_TEMP(AddV2, variance, TW_TEMP(Square, TW_TEMP(Sub, mean, total_mean)));
}

static tw_status normalization_update(tw_layer *self, const tw_value *batch)
{
    TW_TEMPS(t);
    normalization *layer = (normalization *)self;
    if (is_given(self))
        return fail_with_numbers(
            "Cannot `adapt` a Normalization layer that is initialized with static `mean` and `variance`, you "
            "passed mean %s and variance %s.",
            settings(self));
    if (!self->built)
        return tw__fail(TW_RUNTIME_ERROR, "`build` must be called before `update_state`.");
    tw_tensor *data = tw__temp(t, batch_tensor(self, batch)), *moments[2];
    TW_NEED(data);
    int64_t axes[TW_MAX_RANK], count = 0;
    for (int i = 0; i < layer->rank; i++) {
        if (!layer->kept[i])
            axes[count++] = i;
    }
    TW_TRY(
        tw__temp_all(t, moments, 2, tw__moments(data, (tw_ints){ axes, count, true, false }, false, &moments[0], &moments[1])));
    tw_tensor *old_mean = tw__temp(t, tw__layer_read(self, "mean")), *old = tw__temp(t, tw__layer_read(self, "variance"));
    tw_tensor *number = batch_count(t, axes, count, data), *seen = tw__temp(t, tw__layer_read(self, "count"));
    tw_tensor *total = TW_TEMP(AddV2, number, seen);
    tw_tensor *weight =
        TW_TEMP(RealDiv, tw__temp_cast(t, number, self->compute_dtype), tw__temp_cast(t, total, self->compute_dtype));
    tw_tensor *old_weight = TW_TEMP(Sub, 1.0, weight);
    tw_tensor *mean = weighed(t, old_mean, old_weight, moments[0], weight);
    tw_tensor *variance = weighed(t, moved(t, old, old_mean, mean), old_weight, moved(t, moments[1], moments[0], mean), weight);
    TW_NEED(variance);
    TW_TRY(tw__variable_update(tw__layer_variable(self, "mean"), &tw__op_AssignVariableOp, mean));
    TW_TRY(tw__variable_update(tw__layer_variable(self, "variance"), &tw__op_AssignVariableOp, variance));
    return tw__variable_update(tw__layer_variable(self, "count"), &tw__op_AssignVariableOp, total);
}

/* ---- calling ---- */

static tw_tensor *normalization_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    normalization *layer = (normalization *)self;
    tw_tensor *x = tw__temp_cast(t, input, self->compute_dtype), *width = TW_TEMP(Sqrt, layer->variance);
    width = TW_TEMP(Maximum, width, tw__keras_epsilon());
    if (settings(self)->invert)
        return TW_CALL(AddV2, layer->mean, TW_TEMP(Mul, x, width));
    return TW_CALL(RealDiv, TW_TEMP(Sub, x, layer->mean), width);
}

/* ---- config ---- */

static tw_value number_config(const tw_value *value)
{
    return value->kind == TW_VALUE_TENSOR ? tw__tensor_config(value->tensor) : tw__value_copy(value);
}

static tw_value axes_value(tw_ints axes)
{
    tw_value *items = tw__alloc_array((size_t)axes.count + 1, sizeof *items);
    for (int64_t i = 0; items && i < axes.count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_INT, .i = axes.items[i] };
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, axes.count } } : (tw_value){ .kind = TW_VALUE_NONE };
}

static void normalization_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_normalization_args *args = settings(self);
    tw__dict_put(dict, "axis", axes_value(args->axis));
    tw__dict_put(dict, "invert", (tw_value){ .kind = TW_VALUE_BOOL, .b = args->invert });
    tw__dict_put(dict, "mean", number_config(&args->mean));
    tw__dict_put(dict, "variance", number_config(&args->variance));
}

static const tw__preprocessing_methods normalization_methods = { .layer = { .build = normalization_build,
                                                                            .call = normalization_call,
                                                                            .own_config = " axis invert mean variance ",
                                                                            .config = normalization_config },
                                                                 .update = normalization_update,
                                                                 .finalize = normalization_finalize,
                                                                 .reset = normalization_reset };

TW_CLASS(
    layers_normalization,
    "keras.layers.Normalization|keras.layers.experimental.preprocessing.Normalization(axis: ints? = -1, mean: value = None, "
    "variance: value = None, invert: bool = False, **layer) -> layer",
    .parent = &tw__class_layers_preprocessing, .size = sizeof(normalization), .settle = normalization_settle,
    .destroy = normalization_destroy, .refused = " axis mean variance ", .methods = &normalization_methods,
    .doc =
        "Inputs shifted and scaled to mean 0 and variance 1, as `adapt` found them in data or as they are given.\n"
        "axis: the dimensions whose indices have a mean and a variance each; None: one for all\n"
        "mean: the mean, instead of `adapt`; the variance must be given, too\n"
        "variance: the variance, instead of `adapt`\n"
        "invert: True: the way back\n"
        "example: tf.keras.layers.Normalization(axis=None, mean=3.0, variance=4.0)(tf.constant([1.0, 3.0, 5.0])).numpy().tolist()  # [-1.0, 0.0, 1.0]");

TW_PROPERTY(normalization_mean, "keras.layers.Normalization.mean(self: layer) -> tensor",
            "What is taken from inputs, of a shape that spreads over them.")
{
    normalization *layer = (normalization *)args->self;
    if (!layer->mean)
        tw__fail(TW_ATTRIBUTE_ERROR, "'Normalization' object has no attribute 'mean'");
    return tw_retain(layer->mean);
}

TW_PROPERTY(normalization_variance, "keras.layers.Normalization.variance(self: layer) -> tensor",
            "The variance that inputs are divided by the root of, of a shape that spreads over them.")
{
    normalization *layer = (normalization *)args->self;
    if (!layer->variance)
        tw__fail(TW_ATTRIBUTE_ERROR, "'Normalization' object has no attribute 'variance'");
    return tw_retain(layer->variance);
}

static tw_variable *weight(tw_layer *layer, const char *name)
{
    tw_variable *variable = tw__layer_variable(layer, name);
    if (!variable)
        tw__fail(TW_ATTRIBUTE_ERROR, "'Normalization' object has no attribute 'adapt_%s'", name);
    return tw_retain(variable);
}

TW_PROPERTY(normalization_adapt_mean, "keras.layers.Normalization.adapt_mean(self: layer) -> variable", "The weight `mean`.")
{
    return weight(args->self, "mean");
}

TW_PROPERTY(normalization_adapt_variance, "keras.layers.Normalization.adapt_variance(self: layer) -> variable",
            "The weight `variance`.")
{
    return weight(args->self, "variance");
}
