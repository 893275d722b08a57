/* Layers that make one tensor of several: Add, Subtract, Multiply, Average, Maximum, Minimum, Concatenate, Dot; and the same as
 * functions.
 *
 * Inputs of different ranks are brought together by axes of size 1 behind the batch's, as in Keras. */
#include "keras/layers/merge.h"

#include "keras/models/functional.h"
#include "op/calls.h"

typedef struct merge {
    tw_layer layer;
    int64_t axis;    /* of Concatenate */
    int64_t axes[2]; /* of Dot */
    bool normalize;
} merge;

typedef struct parts {
    tw_tensor **items; /* borrowed */
    int64_t count;
} parts;

static tw_status read_parts(const tw_layer *self, const tw_value *given, int64_t least, parts *out)
{
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (!list || given->list.count < least)
        return tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                                "A merge layer should be called on a list of at least %lld input%s. Received: %s (layer \"%s\")",
                                (long long)least, least == 1 ? "" : "s", list ? "fewer" : "not a list of tensors", self->name);
    out->count = given->list.count;
    out->items = tw__alloc_array((size_t)out->count + 1, sizeof *out->items);
    for (int64_t i = 0; out->items && i < out->count; i++) {
        if (given->list.items[i].kind != TW_VALUE_TENSOR) {
            tw__free(out->items);
            return tw__fail(TW_VALUE_ERROR, "%s \"%s\": input %lld is no tensor", tw_class_name(self), self->name, (long long)i);
        }
        out->items[i] = given->list.items[i].tensor;
    }
    return out->items ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static char *shapes_text(const parts *p)
{
    tw__text text = { 0 };
    for (int64_t i = 0; i < p->count; i++) {
        char *shape = tw__shape_tuple(&p->items[i]->shape);
        tw__text_format(&text, "%s%s", i ? ", " : "[", shape ? shape : "");
        tw__free(shape);
    }
    tw__text_add(&text, "]");
    return tw__text_take(&text);
}

/* Axes of size 1 are put behind the first until the rank fits. */
static tw_tensor *widened(tw_tensor *tensor, int rank)
{
    tw_tensor *wide = tw_retain(tensor);
    while (wide && wide->shape.rank >= 0 && wide->shape.rank < rank) {
        tw_auto tw_tensor *axis = tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ 1 });
        tw_tensor *next = TW_CALL(ExpandDims, wide, axis);
        tw_release(wide);
        wide = next;
    }
    return wide;
}

static tw_value merge_pairwise(tw_layer *self, const tw_value *given, const tw_op *op, int64_t least, int64_t most, bool mean)
{
    parts p;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (read_parts(self, &given[0], least, &p) != TW_OK)
        return none;
    int rank = 0;
    for (int64_t i = 0; i < p.count; i++)
        rank = p.items[i]->shape.rank > rank ? p.items[i]->shape.rank : rank;
    if (most && p.count > most) {
        tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                         "A `%s` layer should be called on exactly %lld inputs. Received: %lld inputs", tw_class_name(self),
                         (long long)most, (long long)p.count);
        tw__free(p.items);
        return none;
    }
    tw_shape shape = p.items[0]->shape;
    for (int64_t i = 1; i < p.count; i++) { /* the batch is never broadcast */
        tw_shape a = shape, b = p.items[i]->shape, all;
        if (a.rank == b.rank && !tw__shape_broadcast(&a, &b, &all)) {
            char *text = shapes_text(&p);
            tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR, "Inputs have incompatible shapes. Received shapes %s",
                             text ? text : "");
            tw__free(text);
            tw__free(p.items);
            return none;
        }
    }
    tw_tensor *sum = widened(p.items[0], rank);
    for (int64_t i = 1; sum && i < p.count; i++) {
        tw_auto tw_tensor *other = widened(p.items[i], rank);
        tw_tensor *next = other ? tw__call(op, TW_IN(sum, other), 2, NULL, 0) : NULL;
        tw_release(sum);
        sum = next;
    }
    if (sum && mean) {
        tw_auto tw_tensor *number = tw_tensor_new(TW_FLOAT64, TW_SCALAR, &(double){ (double)p.count });
        tw_attr target = TW_A_TYPE("DstT", sum->dtype);
        tw_auto tw_tensor *count = number ? tw__call(&tw__op_Cast, (tw_tensor *[]){ number }, 1, &target, 1) : NULL;
        tw_tensor *next = count ? TW_CALL(RealDiv, sum, count) : NULL;
        tw_release(sum);
        sum = next;
    }
    tw__free(p.items);
    return tw__tensor_value(sum);
}

/* True where all masks are. */
static tw_tensor *all_masks(tw_layer *self, const tw_value *inputs, const tw_value *masks)
{
    (void)self, (void)inputs;
    tw_tensor *all = NULL;
    for (int64_t i = 0; i < masks->list.count; i++) {
        tw_tensor *mask = masks->list.items[i].kind == TW_VALUE_TENSOR ? masks->list.items[i].tensor : NULL;
        if (!mask)
            continue;
        tw_tensor *next = all ? TW_CALL(LogicalAnd, all, mask) : tw_retain(mask);
        tw_release(all);
        if (!(all = next))
            return NULL;
    }
    return all;
}

#define MERGE(name_, op_, least_, most_, mean_)                                                                  \
    static tw_value name_##_values(tw_layer *self, const tw_value *given, int training)                          \
    {                                                                                                            \
        (void)training;                                                                                          \
        return merge_pairwise(self, given, &tw__op_##op_, least_, most_, mean_);                                 \
    }                                                                                                            \
    static const tw__layer_methods name_##_methods = {                                                           \
        .supports_masking = true, .arguments = "inputs", .call_values = name_##_values, .merge_masks = all_masks \
    }
MERGE(add, AddV2, 1, 0, false);
MERGE(subtract, Sub, 2, 2, false);
MERGE(multiply, Mul, 1, 0, false);
MERGE(average, AddV2, 1, 0, true);
MERGE(maximum, Maximum, 1, 0, false);
MERGE(minimum, Minimum, 1, 0, false);

TW_CLASS(layers_add, "keras.layers.Add(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(merge),
         .methods = &add_methods, .doc = "The sum of its inputs.");
TW_CLASS(layers_subtract, "keras.layers.Subtract(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(merge),
         .methods = &subtract_methods, .doc = "The first of two inputs minus the second.");
TW_CLASS(layers_multiply, "keras.layers.Multiply(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(merge),
         .methods = &multiply_methods, .doc = "The product of its inputs, element by element.");
TW_CLASS(layers_average, "keras.layers.Average(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(merge),
         .methods = &average_methods, .doc = "The mean of its inputs.");
TW_CLASS(layers_maximum, "keras.layers.Maximum(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(merge),
         .methods = &maximum_methods, .doc = "The largest of its inputs, element by element.");
TW_CLASS(layers_minimum, "keras.layers.Minimum(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(merge),
         .methods = &minimum_methods, .doc = "The smallest of its inputs, element by element.");

/* ---- Concatenate ---- */

static tw_status concatenate_settle(void *self, const void *given)
{
    ((merge *)self)->axis = ((const tw_layers_concatenate_args *)given)->axis;
    return TW_OK;
}

/* The mask of one input with the input's rank; inputs without one are true everywhere. */
static tw_tensor *wide_mask(tw_tensor *input, tw_tensor *mask)
{
    tw_attr to_bool = TW_A_TYPE("DstT", TW_BOOL);
    if (!mask) {
        tw_auto tw_tensor *ones = TW_CALL(OnesLike, input);
        return ones ? TW_CALL(Cast, ones, to_bool) : NULL;
    }
    tw_auto tw_tensor *last = tw_tensor_int(-1);
    return mask->shape.rank >= input->shape.rank ? tw_retain(mask) : TW_CALL(ExpandDims, mask, last);
}

/* The masks side by side along the layer's axis, then true where the last axis is. */
static tw_tensor *concatenated_masks(tw_layer *self, const tw_value *inputs, const tw_value *masks)
{
    int64_t count = masks->list.count;
    tw_tensor **all = tw__alloc_array((size_t)count + 1, sizeof *all), *result = NULL;
    bool good = all != NULL;
    for (int64_t i = 0; good && i < count; i++)
        good = (all[i] = wide_mask(inputs->list.items[i].tensor,
                                   masks->list.items[i].kind == TW_VALUE_TENSOR ? masks->list.items[i].tensor : NULL));
    if (good && (all[count] = tw_tensor_int((int32_t)((merge *)self)->axis))) {
        tw_attr size = TW_A_INT("N", count);
        tw_auto tw_tensor *joined = count == 1 ? tw_retain(all[0]) : tw__call(&tw__op_ConcatV2, all, (int)count + 1, &size, 1),
                          *last = tw_tensor_int(-1);
        result = joined && last ? TW_CALL(All, joined, last) : NULL;
    }
    for (int64_t i = 0; all && i <= count; i++)
        tw_release(all[i]);
    tw__free(all);
    return result;
}

static tw_value concatenate_values(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    parts p;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (read_parts(self, &given[0], 1, &p) != TW_OK)
        return none;
    int rank = p.items[0]->shape.rank;
    int64_t axis = ((merge *)self)->axis, at = axis < 0 ? axis + rank : axis;
    bool fits = true;
    for (int64_t i = 1; i < p.count; i++) {
        const tw_shape *shape = &p.items[i]->shape, *first = &p.items[0]->shape;
        fits &= shape->rank < 0 || rank < 0 || shape->rank == rank;
        for (int k = 0; fits && shape->rank == rank && k < rank; k++)
            fits &= k == at || shape->dims[k] < 0 || first->dims[k] < 0 || shape->dims[k] == first->dims[k];
    }
    tw_tensor *out = NULL;
    if (!fits) {
        char *text = shapes_text(&p);
        tw__fail_because(
            TW_REASON_INPUTS, TW_VALUE_ERROR,
            "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. Received: input_shape=%s",
            text ? text : "");
        tw__free(text);
    } else {
        tw_auto tw_tensor *number = tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ (int32_t)axis });
        tw_tensor **inputs = number ? tw__alloc_array((size_t)p.count + 1, sizeof *inputs) : NULL;
        if (inputs) {
            memcpy(inputs, p.items, (size_t)p.count * sizeof *inputs);
            inputs[p.count] = number;
            tw_attr size = TW_A_INT("N", p.count);
            out = p.count == 1 ? tw_retain(p.items[0]) : tw__call(&tw__op_ConcatV2, inputs, (int)p.count + 1, &size, 1);
        }
        tw__free(inputs);
    }
    tw__free(p.items);
    return tw__tensor_value(out);
}

static const tw__layer_methods concatenate_methods = {
    .supports_masking = true, .arguments = "inputs", .call_values = concatenate_values, .merge_masks = concatenated_masks
};

TW_CLASS(layers_concatenate, "keras.layers.Concatenate(axis: int = -1, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(merge), .settle = concatenate_settle, .methods = &concatenate_methods,
         .doc = "Its inputs one behind the other along an axis.");

/* ---- Dot ---- */

static tw_status dot_settle(void *self, const void *given)
{
    merge *layer = self;
    const tw_layers_dot_args *args = given;
    if (args->axes.count != 1 && args->axes.count != 2)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid format for argument `axes`: expected two elements list. Received: axes of %lld elements",
                        (long long)args->axes.count);
    layer->axes[0] = args->axes.items[0];
    layer->axes[1] = args->axes.items[args->axes.count - 1];
    layer->normalize = args->normalize;
    return TW_OK;
}

static tw_tensor *unit(tw_tensor *x, int64_t axis)
{
    return tw_math_l2_normalize(x, .axis = { &axis, 1, true });
}

tw_tensor *tw__batch_dot(tw_tensor *x, tw_tensor *y, int64_t a, int64_t b)
{
    char left[20] = "z", right[20] = "z", out[40] = "z", equation[96];
    int at = 0, used = 1;
    for (int i = 1; i < x->shape.rank; i++)
        left[i] = i == a ? 'k' : (char)('a' + at++);
    for (int i = 1; i < y->shape.rank; i++)
        right[i] = i == b ? 'k' : (char)('l' + at++);
    for (int i = 1; i < x->shape.rank; i++) {
        if (i != a)
            out[used++] = left[i];
    }
    for (int i = 1; i < y->shape.rank; i++) {
        if (i != b)
            out[used++] = right[i];
    }
    snprintf(equation, sizeof equation, "%s,%s->%s", left, right, out);
    tw_attr attrs[] = { TW_A_STRING("equation", equation), TW_A_INT("N", 2) };
    tw_tensor *product = tw__call(&tw__op_Einsum, TW_IN(x, y), 2, attrs, 2);
    if (!product || used > 1)
        return product;
    tw_auto tw_tensor *axis = tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ 1 }); /* [batch] becomes [batch, 1] */
    tw_tensor *column = TW_CALL(ExpandDims, product, axis);
    tw_release(product);
    return column;
}

static tw_value dot_values(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    const merge *layer = (const merge *)self;
    parts p;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (read_parts(self, &given[0], 2, &p) != TW_OK)
        return none;
    tw_tensor *x = p.items[0], *y = p.items[1], *product = NULL;
    int64_t count = p.count, a = layer->axes[0], b = layer->axes[1];
    tw__free(p.items);
    a += a < 0 ? x->shape.rank : 0;
    b += b < 0 ? y->shape.rank : 0;
    if (count != 2 || x->shape.rank < 2 || y->shape.rank < 2 || x->shape.rank > 6 || y->shape.rank > 6 || a < 1 || b < 1 ||
        a >= x->shape.rank || b >= y->shape.rank) {
        tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                         "A `Dot` layer should be called on a list of 2 inputs with axes of theirs (layer \"%s\")", self->name);
        return none;
    }
    int64_t left = x->shape.dims[a], right = y->shape.dims[b];
    if (left >= 0 && right >= 0 && left != right) {
        tw__fail(TW_VALUE_ERROR,
                 "Incompatible input shapes: axis values %lld (at axis %lld) != %lld (at axis %lld). Full input shapes: %s, %s",
                 (long long)left, (long long)a, (long long)right, (long long)b, tw__shape_text(&x->shape),
                 tw__shape_text(&y->shape));
        return none;
    }
    tw_auto tw_tensor *first = layer->normalize ? unit(x, a) : tw_retain(x);
    tw_auto tw_tensor *second = layer->normalize ? unit(y, b) : tw_retain(y);
    if (first && second)
        product = tw__batch_dot(first, second, a, b);
    return tw__tensor_value(product);
}

static void dot_config(tw_layer *self, tw__dict *dict)
{
    const merge *layer = (const merge *)self;
    const tw_layers_dot_args *args = tw_object_config(self);
    if (args && args->axes.count == 1)
        tw__dict_put(dict, "axes", (tw_value){ .kind = TW_VALUE_INT, .i = layer->axes[0] });
    else
        tw__dict_put(dict, "axes", tw__sizes_value(layer->axes, 2));
}

static const tw__layer_methods dot_methods = {
    .arguments = "inputs", .call_values = dot_values, .config = dot_config, .own_config = " axes "
};

TW_CLASS(layers_dot, "keras.layers.Dot(axes: ints, normalize: bool = False, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(merge), .settle = dot_settle, .methods = &dot_methods,
         .doc = "Products of two inputs over an axis of each, for every element of the batch.\n"
                "axes: the dimension of each input that the sum goes over, one for both or two\n"
                "normalize: True: both inputs get the length 1 along that dimension first, so that products are cosines");

/* ---- as functions ---- */

/* Of tensors or of Keras tensors; takes the layer. */
static tw_value merged(tw_layer *layer, const tw_value *inputs)
{
    tw_value result = { .kind = TW_VALUE_NONE }, item = *inputs;
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { &item, 1 } };
    if (layer && tw__has_keras_tensor(inputs))
        tw__layer_connect(layer, &arguments, NULL, -1, &result);
    else if (layer)
        tw__layer_invoke(layer, &arguments, NULL, -1, &result);
    tw_release(layer);
    return result;
}

TW_API(layers_add_of, "keras.layers.add(inputs: value, *, name: str = None) -> value",
       "The sum of tensors.\n"
       "example: tf.keras.layers.add([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]).numpy().tolist()  # [4.0, 6.0]")
{
    return merged(tw_layers_add(.name = args->name), &args->inputs);
}

TW_API(layers_subtract_of, "keras.layers.subtract(inputs: value, *, name: str = None) -> value",
       "The first of two tensors minus the second.\n"
       "inputs: two tensors of the same shape")
{
    return merged(tw_layers_subtract(.name = args->name), &args->inputs);
}

TW_API(layers_multiply_of, "keras.layers.multiply(inputs: value, *, name: str = None) -> value", "The product of tensors.")
{
    return merged(tw_layers_multiply(.name = args->name), &args->inputs);
}

TW_API(layers_average_of, "keras.layers.average(inputs: value, *, name: str = None) -> value", "The mean of tensors.")
{
    return merged(tw_layers_average(.name = args->name), &args->inputs);
}

TW_API(layers_maximum_of, "keras.layers.maximum(inputs: value, *, name: str = None) -> value", "The largest of tensors.")
{
    return merged(tw_layers_maximum(.name = args->name), &args->inputs);
}

TW_API(layers_minimum_of, "keras.layers.minimum(inputs: value, *, name: str = None) -> value", "The smallest of tensors.")
{
    return merged(tw_layers_minimum(.name = args->name), &args->inputs);
}

TW_API(layers_concatenate_of, "keras.layers.concatenate(inputs: value, axis: int = -1, *, name: str = None) -> value",
       "Tensors one behind the other.\n"
       "axis: the dimension along which they are joined; the other ones must be equal\n"
       "example: tf.keras.layers.concatenate([tf.ones([2, 3]), tf.ones([2, 1])]).shape  # TensorShape([2, 4])")
{
    return merged(tw_layers_concatenate(.axis = args->axis, .name = args->name), &args->inputs);
}

TW_API(layers_dot_of, "keras.layers.dot(inputs: value, axes: ints, normalize: bool = False, *, name: str = None) -> value",
       "Products over an axis.\n"
       "axes: the dimension of each input that the sum goes over, one for both or two\n"
       "normalize: True: both inputs get the length 1 along that dimension first, so that products are cosines\n"
       "inputs: two tensors")
{
    return merged(tw_layers_dot(args->axes, .normalize = args->normalize, .name = args->name), &args->inputs);
}
