/* keras.layers.InputSpec: which dtype, rank and sizes a layer expects of its input; and Layer.input_spec, which programs set and
 * built-in layers answer. */
#include "keras/layers/layers.h"

typedef struct input_spec {
    tw_object object;
    tw_dtype dtype;
    tw_shape shape;            /* rank -1: not said */
    int64_t ndim, least, most; /* TW_NO_INT: not said */
    tw_value axes;             /* a dict of axis and size */
    bool squeezes;             /* the last axis may be 1 or not be there */
    char *name;
} input_spec;

static tw_status spec_init(void *self, const void *given)
{
    input_spec *spec = self;
    const tw_input_spec_args *args = given;
    spec->dtype = args->dtype;
    spec->shape = args->shape;
    spec->ndim = args->shape.rank >= 0 ? args->shape.rank : args->ndim;
    spec->most = args->max_ndim;
    spec->least = args->min_ndim;
    spec->squeezes = args->allow_last_axis_squeeze;
    spec->axes = tw__value_copy(&args->axes);
    spec->name = args->name ? tw__strdup(args->name) : NULL;
    const tw_value *axes = &spec->axes;
    for (int64_t i = 0; axes->kind == TW_VALUE_DICT && i + 1 < axes->list.count; i += 2) {
        const tw_value *axis = &axes->list.items[i], *size = &axes->list.items[i + 1];
        if (axis->kind != TW_VALUE_INT || (size->kind != TW_VALUE_INT && size->kind != TW_VALUE_NONE))
            return tw__fail(TW_TYPE_ERROR, "Argument `axes` must be a dict with integer keys. Received: axes of another kind");
        int64_t rank = spec->ndim != TW_NO_INT ? spec->ndim : spec->most;
        if (rank != TW_NO_INT && axis->i >= rank)
            return tw__fail(TW_VALUE_ERROR, "Axis %lld is greater than the maximum allowed value: %lld", (long long)axis->i,
                            (long long)rank - 1);
    }
    if (axes->kind != TW_VALUE_DICT && axes->kind != TW_VALUE_NONE)
        return tw__fail(TW_TYPE_ERROR, "InputSpec: `axes` must be a dict of integers");
    return TW_OK;
}

static void spec_destroy(void *self)
{
    tw_value_free(&((input_spec *)self)->axes);
    tw__free(((input_spec *)self)->name);
}

TW_CLASS(
    input_spec,
    "keras.layers.InputSpec|keras.InputSpec(dtype: dtype = None, shape: shape = None, ndim: int = None, max_ndim: int = None, "
    "min_ndim: int = None, axes: value = None, allow_last_axis_squeeze: bool = False, name: str = None) -> input_spec",
    .size = sizeof(input_spec), .init = spec_init, .destroy = spec_destroy, .drop_config = true,
    .doc = "Which dtype, rank and sizes a layer expects of an input.\n"
           "dtype: the dtype that is expected; None: any\n"
           "shape: the shape that is expected, None for dimensions of any length; None: any\n"
           "ndim: the rank that is expected\n"
           "max_ndim: the greatest rank that is allowed\n"
           "min_ndim: the least rank that is allowed\n"
           "axes: a dict of dimensions and the length that each of them must have\n"
           "allow_last_axis_squeeze: True: a last dimension of length 1 may be missing, or be one too many\n"
           "name: the name that is expected where inputs are a dict");

static tw_value whole(int64_t number)
{
    return number == TW_NO_INT ? (tw_value){ .kind = TW_VALUE_NONE } : (tw_value){ .kind = TW_VALUE_INT, .i = number };
}

static tw_value axes_of(const input_spec *spec)
{
    return spec->axes.kind == TW_VALUE_DICT ? tw__value_copy(&spec->axes) : (tw_value){ .kind = TW_VALUE_DICT };
}

static input_spec *own(const void *object)
{
    return (input_spec *)(uintptr_t)object;
}

TW_METHOD(input_spec_get_config, "keras.layers.InputSpec.get_config(self: input_spec) -> value", "The arguments, as a dict.")
{
    const input_spec *spec = own(args->self);
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "dtype", spec->dtype ? tw_dtype_name(spec->dtype) : NULL);
    tw__dict_put(&dict, "shape", spec->shape.rank < 0 ? (tw_value){ .kind = TW_VALUE_NONE } : tw__shape_value(&spec->shape));
    tw__dict_put(&dict, "ndim", whole(spec->ndim));
    tw__dict_put(&dict, "max_ndim", whole(spec->most));
    tw__dict_put(&dict, "min_ndim", whole(spec->least));
    tw__dict_put(&dict, "axes", axes_of(spec));
    return tw__dict_take(&dict);
}

TW_PROPERTY(input_spec_shape, "keras.layers.InputSpec.shape(self: input_spec) -> value", "The shape, or None.")
{
    const input_spec *spec = own(args->self);
    return spec->shape.rank < 0 ? (tw_value){ .kind = TW_VALUE_NONE } : tw__shape_value(&spec->shape);
}

TW_PROPERTY(input_spec_dtype, "keras.layers.InputSpec.dtype(self: input_spec) -> value", "The name of the dtype, or None.")
{
    tw_dtype dtype = own(args->self)->dtype;
    return dtype ? tw__value_str(tw_dtype_name(dtype)) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_PROPERTY(input_spec_ndim, "keras.layers.InputSpec.ndim(self: input_spec) -> value", "The rank, or None.")
{
    return whole(own(args->self)->ndim);
}

TW_PROPERTY(input_spec_max_ndim, "keras.layers.InputSpec.max_ndim(self: input_spec) -> value", "The largest rank, or None.")
{
    return whole(own(args->self)->most);
}

TW_PROPERTY(input_spec_min_ndim, "keras.layers.InputSpec.min_ndim(self: input_spec) -> value", "The smallest rank, or None.")
{
    return whole(own(args->self)->least);
}

TW_PROPERTY(input_spec_axes, "keras.layers.InputSpec.axes(self: input_spec) -> value", "Sizes by axis.")
{
    return axes_of(own(args->self));
}

static void add(tw__text *text, const char *name, const char *format, const char *value, int64_t number)
{
    tw__text_format(text, "%s%s=", text->size ? ", " : "", name);
    value ? tw__text_format(text, format, value) : tw__text_format(text, format, (long long)number);
}

TW_METHOD(input_spec_text, "keras.layers.InputSpec.__repr__(self: input_spec) -> str", "As it is printed.")
{
    const input_spec *spec = own(args->self);
    tw__text text = { 0 };
    tw__owned char *shape = spec->shape.rank >= 0 ? tw__shape_tuple(&spec->shape) : NULL;
    if (spec->dtype)
        add(&text, "dtype", "%s", tw_dtype_name(spec->dtype), 0);
    if (shape)
        add(&text, "shape", "%s", shape, 0);
    if (spec->ndim != TW_NO_INT && spec->ndim)
        add(&text, "ndim", "%lld", NULL, spec->ndim);
    if (spec->most != TW_NO_INT && spec->most)
        add(&text, "max_ndim", "%lld", NULL, spec->most);
    if (spec->least != TW_NO_INT && spec->least)
        add(&text, "min_ndim", "%lld", NULL, spec->least);
    if (spec->axes.kind == TW_VALUE_DICT && spec->axes.list.count) {
        tw__text_format(&text, "%saxes={", text.size ? ", " : "");
        for (int64_t i = 0; i + 1 < spec->axes.list.count; i += 2) {
            const tw_value *size = &spec->axes.list.items[i + 1];
            tw__text_format(&text, "%s%lld: ", i ? ", " : "", (long long)spec->axes.list.items[i].i);
            size->kind == TW_VALUE_INT ? tw__text_format(&text, "%lld", (long long)size->i) : tw__text_add(&text, "None");
        }
        tw__text_add(&text, "}");
    }
    tw__owned char *inner = tw__text_take(&text);
    return tw__format("InputSpec(%s)", inner ? inner : "");
}

/* ---- what a layer expects ---- */

static tw_status wrong(const tw_layer *layer, const tw_shape *shape, const char *what, int64_t expected)
{
    tw__owned char *text = tw__shape_tuple(shape);
    return tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                            "Input 0 of layer \"%s\" is incompatible with the layer: expected %s=%lld, found ndim=%d. Full shape "
                            "received: %s",
                            layer->name, what, (long long)expected, shape->rank, text ? text : "");
}

static tw_status check_axes(const tw_layer *layer, const input_spec *spec, const tw_shape *shape)
{
    const tw_value *axes = &spec->axes;
    for (int64_t i = 0; axes->kind == TW_VALUE_DICT && i + 1 < axes->list.count; i += 2) {
        int64_t axis = axes->list.items[i].i, at = axis < 0 ? axis + shape->rank : axis, size = axes->list.items[i + 1].i;
        bool known = axes->list.items[i + 1].kind == TW_VALUE_INT && at >= 0 && at < shape->rank && shape->dims[at] >= 0;
        if (!known || shape->dims[at] == size)
            continue;
        tw__owned char *text = tw__shape_tuple(shape);
        return tw__fail_because(
            TW_REASON_INPUTS, TW_VALUE_ERROR,
            "Input 0 of layer \"%s\" is incompatible with the layer: expected axis %lld of input shape to have "
            "value %lld, but received input with shape %s",
            layer->name, (long long)axis, (long long)size, text ? text : "");
    }
    return TW_OK;
}

tw_status tw__input_spec_check(const tw_layer *layer, const tw_value *value, const tw_shape *shape)
{
    while ((value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) && value->list.count)
        value = &value->list.items[0];
    const input_spec *spec =
        value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_input_spec) ? value->object : NULL;
    if (!spec || shape->rank < 0)
        return TW_OK;
    if (spec->ndim != TW_NO_INT && !spec->squeezes && shape->rank != spec->ndim)
        return wrong(layer, shape, "ndim", spec->ndim);
    if (spec->most != TW_NO_INT && shape->rank > spec->most)
        return wrong(layer, shape, "max_ndim", spec->most);
    if (spec->least != TW_NO_INT && shape->rank < spec->least)
        return wrong(layer, shape, "min_ndim", spec->least);
    TW_TRY(check_axes(layer, spec, shape));
    if (spec->shape.rank < 0 || tw__shape_compatible(&spec->shape, shape) || spec->squeezes)
        return TW_OK;
    return tw__layer_wrong_shape(layer, 0, &spec->shape, shape);
}

TW_METHOD(layer_set_input_spec, "keras.layers.Layer._set_input_spec(self: layer, value: value)",
          "Says what the layer expects of its inputs: an InputSpec, or a structure of them, or None.")
{
    const tw_value *value = &args->value;
    bool object = value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_input_spec);
    if (!object && value->kind != TW_VALUE_NONE && value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE &&
        value->kind != TW_VALUE_DICT)
        return tw__fail(TW_TYPE_ERROR, "Layer input_spec must be an instance of InputSpec. Got: something else");
    tw_value_free(&args->self->input_spec);
    args->self->input_spec = tw__value_copy(value);
    return TW_OK;
}

TW_PROPERTY(layer_input_spec, "keras.layers.Layer.input_spec(self: layer) -> value",
            "What the layer expects of its input: an InputSpec, or None.")
{
    tw_layer *layer = args->self;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (layer->input_spec.kind != TW_VALUE_NONE || (!layer->minimum_rank && layer->last_axis < 0))
        return tw__value_copy(&layer->input_spec);
    tw_value pair[2] = { { .kind = TW_VALUE_INT, .i = -1 }, { .kind = TW_VALUE_INT, .i = layer->last_axis } };
    tw_input_spec_args given = { .shape = TW_UNKNOWN_SHAPE, .ndim = TW_NO_INT, .max_ndim = TW_NO_INT, .min_ndim = TW_NO_INT };
    if (layer->minimum_rank)
        given.min_ndim = layer->minimum_rank;
    if (layer->last_axis >= 0)
        given.axes = (tw_value){ .kind = TW_VALUE_DICT, .list = { pair, 2 } };
    void *made = tw_class_make(&tw__class_input_spec, &given);
    return made ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = made } : none;
}
