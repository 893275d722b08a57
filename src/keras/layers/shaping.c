/* Layers that move elements: Permute, RepeatVector, UpSampling, ZeroPadding, Cropping of sequences, images and volumes. */
#include "api/image/image.h"
#include "keras/layers/layers.h"
#include "op/array/array.h"
#include "op/calls.h"

typedef struct shaping {
    tw_layer layer;
    int axes; /* 1: sequences, 2: images, 3: volumes */
    bool channels_first;
    int64_t sizes[6]; /* factors, or before and after of each axis */
    char interpolation[16];
} shaping;

static int first_axis(const shaping *layer)
{
    return layer->channels_first ? 2 : 1;
}

/* ---- Permute ---- */

static tw_status permute_settle(void *self, const void *given)
{
    const tw_layers_permute_args *args = given;
    bool seen[TW_MAX_RANK + 1] = { 0 };
    bool good = args->dims.count < TW_MAX_RANK;
    for (int64_t i = 0; good && i < args->dims.count; i++) {
        int64_t dim = args->dims.items[i];
        good = dim >= 1 && dim <= args->dims.count && !seen[dim];
        if (good)
            seen[dim] = true;
    }
    if (good)
        return TW_OK;
    return tw__fail(
        TW_VALUE_ERROR,
        "Invalid permutation argument `dims` for Permute Layer \"%s\". The set of indices in `dims` must be consecutive and "
        "start from 1.",
        ((tw_layer *)self)->name);
}

static tw_tensor *permute_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_permute_args *args = tw_object_config(self);
    int64_t order[TW_MAX_RANK] = { 0 };
    memcpy(order + 1, args->dims.items, (size_t)args->dims.count * sizeof *order);
    tw_auto tw_tensor *axes = tw__ints_tensor(order, args->dims.count + 1, TW_INT32);
    if (tw__layer_need_rank(self, &input->shape, (int)args->dims.count + 1) != TW_OK || !axes)
        return NULL;
    return TW_CALL(Transpose, input, axes);
}

static tw_status permute_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_permute_args *args = tw_object_config(self);
    TW_TRY(tw__layer_need_rank(self, input, (int)args->dims.count + 1));
    *output = *input;
    for (int64_t i = 0; i < args->dims.count; i++)
        output->dims[i + 1] = input->dims[args->dims.items[i]];
    return TW_OK;
}

static void permute_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_permute_args *args = tw_object_config(self);
    tw__dict_put(dict, "dims", tw__sizes_value(args->dims.items, (int)args->dims.count));
}

static const tw__layer_methods permute_methods = {
    .call = permute_call, .output_shape = permute_shape, .config = permute_config, .own_config = " dims "
};

TW_CLASS(layers_permute, "keras.layers.Permute(dims: ints, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .settle = permute_settle, .methods = &permute_methods,
         .doc = "Exchanges axes; 1 is the first one behind the batch.\n"
                "dims: the dimensions in their new order, from 1 on\n"
                "example: tf.keras.layers.Permute((2, 1))(tf.ones([5, 2, 3])).shape  # TensorShape([5, 3, 2])");

/* ---- RepeatVector ---- */

static tw_tensor *repeat_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    const tw_layers_repeat_vector_args *args = tw_object_config(self);
    if (tw__layer_need_rank(self, &input->shape, 2) != TW_OK)
        return NULL;
    tw_dtype dtype = args->n > INT32_MAX ? TW_INT64 : TW_INT32;
    return TW_CALL(Tile, TW_TEMP(ExpandDims, input, 1), tw__temp_ints(t, (int64_t[]){ 1, args->n, 1 }, 3, dtype));
}

static tw_status repeat_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_repeat_vector_args *args = tw_object_config(self);
    TW_TRY(tw__layer_need_rank(self, input, 2));
    *output = TW_SHAPE(input->dims[0], args->n, input->dims[1]);
    return TW_OK;
}

static const tw__layer_methods repeat_methods = { .call = repeat_call, .output_shape = repeat_shape };

TW_CLASS(layers_repeat_vector, "keras.layers.RepeatVector(n: int, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &repeat_methods,
         .doc = "[batch, features] n times: [batch, n, features].\n"
                "n: how often the vector is repeated");

/* ---- UpSampling ---- */

/* Every element along the axis `times` times; takes x. */
static tw_tensor *repeat_along(tw_tensor *x, int axis, int64_t times)
{
    TW_TEMPS(t);
    if (!tw__temp(t, x) || times == 1)
        return tw__keep(t, x);
    int rank = x->shape.rank;
    int64_t factors[TW_MAX_RANK];
    tw_shape shape = x->shape;
    for (int i = 0; i <= rank; i++)
        factors[i] = i == axis + 1 ? times : 1;
    shape.dims[axis] = shape.dims[axis] < 0 ? -1 : shape.dims[axis] * times;
    tw_tensor *tiled = TW_TEMP(Tile, TW_TEMP(ExpandDims, x, axis + 1), tw__temp_ints(t, factors, rank + 1, TW_INT32));
    if (!tiled)
        return NULL;
    int unknown = 0;
    for (int i = 0; i < rank; i++)
        unknown += shape.dims[i] < 0;
    if (unknown < 2)
        return tw__reshape(tiled, &shape);
    for (int i = 0; i < rank; i++)
        factors[i] = i == axis ? times : 1;
    return TW_CALL(Reshape, tiled, TW_TEMP(Mul, TW_TEMP(Shape, x), tw__temp_ints(t, factors, rank, TW_INT32)));
}

/* The size is computed where that of the images is not known. */
static tw_tensor *resize(const shaping *layer, tw_tensor *input)
{
    TW_TEMPS(t);
    tw_tensor *images = tw__temp(t, layer->channels_first ? tw__channels_moved(tw_retain(input), false) : tw_retain(input));
    if (!images)
        return NULL;
    const tw_shape *shape = &images->shape;
    bool known = shape->dims[1] >= 0 && shape->dims[2] >= 0;
    int64_t sizes[2] = { shape->dims[1] * layer->sizes[0], shape->dims[2] * layer->sizes[1] };
    tw_tensor *size = known ? tw__temp_ints(t, sizes, 2, TW_INT32)
                            : TW_TEMP(Mul, tw__temp_slice(t, tw__temp_shape(t, images, TW_INT32), 1, 3),
                                      tw__temp_ints(t, layer->sizes, 2, TW_INT32));
    tw_tensor *out = size ? tw__temp(t, tw__image_resize(images, size, layer->interpolation, false, false)) : NULL;
    out = out ? tw__temp_cast(t, out, images->dtype) : NULL;
    return layer->channels_first ? tw__channels_moved(tw__keep(t, out), true) : tw__keep(t, out);
}

static tw_tensor *up_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    shaping *layer = (shaping *)self;
    if (tw__layer_need_rank(self, &input->shape, layer->axes + 2) != TW_OK)
        return NULL;
    if (*layer->interpolation && strcmp(layer->interpolation, "nearest") != 0)
        return resize(layer, input);
    tw_tensor *x = tw_retain(input);
    for (int i = 0; i < layer->axes; i++)
        x = repeat_along(x, first_axis(layer) + i, layer->sizes[i]);
    tw_auto tw_tensor *same = x == input ? x : NULL; /* the mask does not go on with it */
    return same ? tw__masked_copy(same, NULL) : x;
}

static tw_status up_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    shaping *layer = (shaping *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    *output = *input;
    for (int i = 0; i < layer->axes; i++) {
        int64_t *dim = &output->dims[first_axis(layer) + i];
        *dim = *dim < 0 ? -1 : *dim * layer->sizes[i];
    }
    return TW_OK;
}

static tw_status up1d_settle(void *self, const void *given)
{
    shaping *layer = self;
    layer->axes = 1;
    layer->sizes[0] = ((const tw_layers_up_sampling1d_args *)given)->size;
    return TW_OK;
}

static const tw__layer_methods up1d_methods = { .call = up_call, .output_shape = up_shape };

TW_CLASS(layers_up_sampling1d, "keras.layers.UpSampling1D(size: int > 0 = 2, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(shaping), .settle = up1d_settle, .methods = &up1d_methods,
         .doc = "Repeats every step of a sequence.\n"
                "size: how often each step is repeated");

static void put_format(const shaping *layer, tw__dict *dict)
{
    tw__dict_put_str(dict, "data_format", layer->channels_first ? "channels_first" : "channels_last");
}

static void up_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "size", tw__sizes_value(((shaping *)self)->sizes, ((shaping *)self)->axes));
    put_format((shaping *)self, dict);
}

static const tw__layer_methods up_methods = {
    .call = up_call, .output_shape = up_shape, .config = up_config, .own_config = " size data_format "
};

static tw_status up2d_settle(void *self, const void *given)
{
    shaping *layer = self;
    const tw_layers_up_sampling2d_args *args = given;
    layer->axes = 2;
    snprintf(layer->interpolation, sizeof layer->interpolation, "%s", args->interpolation);
    TW_TRY(tw__layer_channels_first(args->data_format, &layer->channels_first));
    return tw__layer_sizes("size", args->size, 2, false, layer->sizes);
}

TW_CLASS(
    layers_up_sampling2d,
    "keras.layers.UpSampling2D(size: ints = (2, 2), data_format: str = None, interpolation: str {area, bicubic, bilinear, gaussian, lanczos3, "
    "lanczos5, mitchellcubic, nearest} = nearest, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(shaping), .settle = up2d_settle, .methods = &up_methods,
    .doc = "Makes images larger.\n"
           "size: the factors of height and width");

static tw_status up3d_settle(void *self, const void *given)
{
    shaping *layer = self;
    const tw_layers_up_sampling3d_args *args = given;
    layer->axes = 3;
    TW_TRY(tw__layer_channels_first(args->data_format, &layer->channels_first));
    return tw__layer_sizes("size", args->size, 3, false, layer->sizes);
}

TW_CLASS(layers_up_sampling3d, "keras.layers.UpSampling3D(size: ints = (2, 2, 2), data_format: str = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(shaping), .settle = up3d_settle, .methods = &up_methods,
         .doc = "Makes volumes larger.\n"
                "size: the factors of the three spatial dimensions");

/* ---- padding and cropping ---- */

/* One number for all, one per axis, or two per axis. */
static tw_status read_edges(shaping *layer, const char *name, tw_ints given)
{
    int64_t *edges = layer->sizes;
    bool good = given.count == 1 || given.count == layer->axes || given.count == 2 * layer->axes;
    for (int i = 0; good && i < 2 * layer->axes; i++) {
        edges[i] = given.items[given.count == 1 ? 0 : given.count == 2 * layer->axes ? i : i / 2];
        good = edges[i] >= 0;
    }
    if (good)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR,
                    "`%s` should be an int, a tuple of %d ints >= 0, or a tuple of %d tuples of 2 ints (layer \"%s\")", name,
                    layer->axes, layer->axes, layer->layer.name);
}

static tw_value edges_value(const shaping *layer)
{
    if (layer->axes == 1)
        return tw__sizes_value(layer->sizes, 2);
    tw_value *items = tw__alloc_array((size_t)layer->axes, sizeof *items);
    for (int i = 0; items && i < layer->axes; i++)
        items[i] = tw__sizes_value(layer->sizes + 2 * i, 2);
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, items ? layer->axes : 0 } };
}

static tw_tensor *pad_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    shaping *layer = (shaping *)self;
    int rank = layer->axes + 2;
    int32_t amounts[10] = { 0 };
    if (tw__layer_need_rank(self, &input->shape, rank) != TW_OK)
        return NULL;
    for (int i = 0; i < 2 * layer->axes; i++)
        amounts[2 * first_axis(layer) + i] = (int32_t)layer->sizes[i];
    tw_auto tw_tensor *paddings = tw_tensor_new(TW_INT32, TW_SHAPE(rank, 2), amounts);
    return TW_CALL(Pad, input, paddings);
}

static tw_status edge_shape(tw_layer *self, const tw_shape *input, tw_shape *output, int sign)
{
    shaping *layer = (shaping *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    *output = *input;
    for (int i = 0; i < layer->axes; i++) {
        int64_t *dim = &output->dims[first_axis(layer) + i];
        if (*dim >= 0)
            *dim += sign * (layer->sizes[2 * i] + layer->sizes[2 * i + 1]);
    }
    return TW_OK;
}

static tw_status pad_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    return edge_shape(self, input, output, 1);
}

static tw_tensor *crop_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    shaping *layer = (shaping *)self;
    int rank = layer->axes + 2, first = first_axis(layer);
    int64_t begin[5] = { 0 }, end[5] = { 0 }, ones[5] = { 1, 1, 1, 1, 1 }, open = 0;
    if (tw__layer_need_rank(self, &input->shape, rank) != TW_OK)
        return NULL;
    for (int i = 0; i < rank; i++) {
        bool inside = i >= first && i < first + layer->axes;
        int64_t after = inside ? layer->sizes[2 * (i - first) + 1] : 0, before = inside ? layer->sizes[2 * (i - first)] : 0;
        begin[i] = before;
        end[i] = -after;
        open |= after == 0 ? 1 << i : 0;
        if (layer->axes < 3 && inside && input->shape.dims[i] >= 0 && input->shape.dims[i] <= before + after) {
            tw__fail(TW_VALUE_ERROR,
                     "`cropping` parameter of `%s` layer must be smaller than the input shape. Received: input_shape=%s",
                     tw_class_name(self), tw__shape_text(&input->shape));
            return NULL;
        }
    }
    tw_auto tw_tensor *from = tw__ints_tensor(begin, rank, TW_INT32), *to = tw__ints_tensor(end, rank, TW_INT32),
                      *strides = tw__ints_tensor(ones, rank, TW_INT32);
    return TW_CALL(StridedSlice, input, from, to, strides, TW_A_INT("end_mask", open));
}

static tw_status crop_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    return edge_shape(self, input, output, -1);
}

static void pad_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "padding", edges_value((shaping *)self));
    if (((shaping *)self)->axes > 1)
        put_format((shaping *)self, dict);
}

static void crop_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "cropping", edges_value((shaping *)self));
    if (((shaping *)self)->axes > 1)
        put_format((shaping *)self, dict);
}

static const tw__layer_methods pad_methods = {
    .call = pad_call, .output_shape = pad_shape, .config = pad_config, .own_config = " padding data_format "
};
static const tw__layer_methods crop_methods = {
    .call = crop_call, .output_shape = crop_shape, .config = crop_config, .own_config = " cropping data_format "
};

#define EDGES(id, count, field, format)                                   \
    static tw_status id##_settle(void *self, const void *given)           \
    {                                                                     \
        shaping *layer = self;                                            \
        const tw_layers_##id##_args *args = given;                        \
        layer->axes = count;                                              \
        TW_TRY(tw__layer_channels_first(format, &layer->channels_first)); \
        return read_edges(layer, #field, args->field);                    \
    }
EDGES(zero_padding1d, 1, padding, NULL)
EDGES(zero_padding2d, 2, padding, args->data_format)
EDGES(cropping1d, 1, cropping, NULL)
EDGES(cropping2d, 2, cropping, args->data_format)
EDGES(zero_padding3d, 3, padding, args->data_format)
EDGES(cropping3d, 3, cropping, args->data_format)

TW_CLASS(layers_zero_padding1d, "keras.layers.ZeroPadding1D(padding: ints = 1, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(shaping), .settle = zero_padding1d_settle, .methods = &pad_methods,
         .doc = "Zeros before and after a sequence.");

TW_CLASS(layers_zero_padding2d, "keras.layers.ZeroPadding2D(padding: ints = (1, 1), data_format: str = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(shaping), .settle = zero_padding2d_settle, .methods = &pad_methods,
         .doc = "Zeros around images.");

TW_CLASS(layers_cropping1d, "keras.layers.Cropping1D(cropping: ints = (1, 1), **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(shaping), .settle = cropping1d_settle, .methods = &crop_methods,
         .doc = "Takes steps away at both ends of a sequence.");

TW_CLASS(
    layers_cropping2d,
    "keras.layers.Cropping2D(cropping: ints = (0, 0, 0, 0) shown ((0, 0), (0, 0)), data_format: str = None, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(shaping), .settle = cropping2d_settle, .methods = &crop_methods,
    .doc = "Takes rows and columns away at the edges of images.");

TW_CLASS(layers_zero_padding3d,
         "keras.layers.ZeroPadding3D(padding: ints = (1, 1, 1), data_format: str = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(shaping), .settle = zero_padding3d_settle, .methods = &pad_methods,
         .doc = "Zeros around volumes.");

TW_CLASS(
    layers_cropping3d,
    "keras.layers.Cropping3D(cropping: ints = (1, 1, 1, 1, 1, 1) shown ((1, 1), (1, 1), (1, 1)), data_format: str = None, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(shaping), .settle = cropping3d_settle, .methods = &crop_methods,
    .doc = "Takes planes away at the faces of volumes.");
