/* keras.layers' pooling of sequences, images and volumes by the greatest or the mean; the Global ones take the whole of every
 * channel. */
#include "keras/layers/layers.h"
#include "op/calls.h"

typedef struct pooling {
    tw_layer layer;
    const tw_op *op;
    int axes; /* 1: sequences, 2: images, 3: volumes; both as the class has them */
    bool channels_first;
    bool keepdims; /* of the global ones */
    char padding[8];
    int64_t size[3], stride[3];
} pooling;

/* What a class is. */
typedef struct pooling_methods {
    tw__layer_methods layer;
    const tw_op *op;
    int axes;
} pooling_methods;

/* The class's op and number of axes, and its settings, which all classes of windows, or of whole channels, have. */
static void take(pooling *layer, const tw_signature *signature, void *settings)
{
    const pooling_methods *methods = tw__methods(layer);
    layer->op = methods->op;
    layer->axes = methods->axes;
    tw__args_project(tw_class_signature(tw_class_of(layer)), tw_object_config(layer), signature, settings);
}

/* ---- windows ---- */

static tw_status settle(void *self, const void *given)
{
    (void)given;
    pooling *layer = self;
    tw_layers_max_pooling2d_args own;
    take(layer, &tw__signature_layers_max_pooling2d, &own);
    TW_TRY(tw__layer_sizes("pool_size", own.pool_size, layer->axes, false, layer->size));
    TW_TRY(tw__layer_sizes("strides", own.strides.given ? own.strides : own.pool_size, layer->axes, true, layer->stride));
    TW_TRY(tw__layer_padding(own.padding, false, layer->padding));
    return tw__layer_channels_first(own.data_format, &layer->channels_first);
}

/* Images or volumes whose channels come last. */
static tw_tensor *pool(const pooling *layer, tw_tensor *x)
{
    int64_t sizes[5] = { 1, 1, 1, 1, 1 }, strides[5] = { 1, 1, 1, 1, 1 };
    int rank = x->shape.rank;
    for (int i = 0; i < layer->axes; i++) {
        sizes[1 + i] = layer->size[i];
        strides[1 + i] = layer->stride[i];
    }
    tw_attr attrs[] = { TW_A_INTS("ksize", sizes, rank), TW_A_INTS("strides", strides, rank),
                        TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID") };
    return tw__call(layer->op, TW_IN(x), 1, attrs, 3);
}

/* Sequences are images one pixel wide. */
static tw_tensor *pool_sequences(pooling *layer, tw_tensor *steps)
{
    TW_TEMPS(t);
    int64_t wide = 2;
    tw_tensor *images = TW_TEMP(ExpandDims, steps, tw__temp_int(t, wide, TW_INT32));
    tw_tensor *pooled = images ? tw__temp(t, pool(layer, images)) : NULL;
    return TW_CALL(Squeeze, pooled, TW_A_INTS("squeeze_dims", &wide, 1));
}

/* What has its channels first is turned around and back: ops refuse that format on a processor. */
static tw_tensor *pool_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    pooling *layer = (pooling *)self;
    if (tw__layer_need_rank(self, &input->shape, layer->axes + 2) != TW_OK)
        return NULL;
    tw_auto tw_tensor *x = layer->channels_first ? tw__channels_moved(tw_retain(input), false) : tw_retain(input);
    tw_tensor *pooled = !x ? NULL : layer->axes == 1 ? pool_sequences(layer, x) : pool(layer, x);
    return layer->channels_first ? tw__channels_moved(pooled, true) : pooled;
}

static tw_status pool_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    pooling *layer = (pooling *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    int first = layer->channels_first ? 2 : 1;
    *output = *input;
    for (int i = 0; i < layer->axes && input->rank > 0; i++) {
        if (layer->stride[i] == 0)
            return tw__fail(TW_VALUE_ERROR, "%s \"%s\": strides must be positive", tw_class_name(self), self->name);
        output->dims[first + i] = tw__layer_places(input->dims[first + i], layer->size[i], layer->stride[i], 1, layer->padding);
    }
    return TW_OK;
}

static void pool_config(tw_layer *self, tw__dict *dict)
{
    pooling *layer = (pooling *)self;
    tw__dict_put(dict, "pool_size", tw__sizes_value(layer->size, layer->axes));
    tw__dict_put_str(dict, "padding", layer->padding);
    tw__dict_put(dict, "strides", tw__sizes_value(layer->stride, layer->axes));
    tw__dict_put_str(dict, "data_format", layer->channels_first ? "channels_first" : "channels_last");
}

#define METHODS(op_name, axes_)                                               \
    {                                                                         \
        .layer = { .call = pool_call,                                         \
                   .output_shape = pool_output_shape,                         \
                   .config = pool_config,                                     \
                   .own_config = " pool_size padding strides data_format " }, \
        .op = &tw__op_##op_name, .axes = axes_                                \
    }
static const pooling_methods max1d = METHODS(MaxPool, 1), max2d = METHODS(MaxPool, 2), max3d = METHODS(MaxPool3D, 3),
                             mean1d = METHODS(AvgPool, 1), mean2d = METHODS(AvgPool, 2), mean3d = METHODS(AvgPool3D, 3);

#define CLASS .parent = &tw__class_layer, .size = sizeof(pooling), .settle = settle

TW_CLASS(layers_max_pooling2d,
         "keras.layers.MaxPooling2D|keras.layers.MaxPool2D(pool_size: ints = (2, 2), strides: ints = None, padding: str = valid, "
         "data_format: str = None, **layer) -> layer",
         CLASS, .methods = &max2d,
         .doc = "The greatest value of each window of images.\n"
                "example: tf.keras.layers.MaxPooling2D(2)(tf.ones([1, 10, 10, 3])).shape  # TensorShape([1, 5, 5, 3])");

TW_CLASS(
    layers_average_pooling2d,
    "keras.layers.AveragePooling2D|keras.layers.AvgPool2D(pool_size: ints = (2, 2), strides: ints = None, padding: str = valid, "
    "data_format: str = None, **layer) -> layer",
    CLASS, .methods = &mean2d, .doc = "The mean of each window of images.");

TW_CLASS(layers_max_pooling1d,
         "keras.layers.MaxPooling1D|keras.layers.MaxPool1D(pool_size: ints = 2, strides: ints = None, padding: str = valid, "
         "data_format: str = channels_last, **layer) -> layer",
         CLASS, .methods = &max1d, .doc = "The greatest value of each window of sequences.");

TW_CLASS(layers_average_pooling1d,
         "keras.layers.AveragePooling1D|keras.layers.AvgPool1D(pool_size: ints = 2, strides: ints = None, padding: str = valid, "
         "data_format: str = channels_last, **layer) -> layer",
         CLASS, .methods = &mean1d, .doc = "The mean of each window of sequences.");

TW_CLASS(layers_max_pooling3d,
         "keras.layers.MaxPooling3D|keras.layers.MaxPool3D(pool_size: ints = (2, 2, 2), strides: ints = None, "
         "padding: str = valid, data_format: str = None, **layer) -> layer",
         CLASS, .methods = &max3d, .doc = "The greatest value of each window of volumes.");

TW_CLASS(layers_average_pooling3d,
         "keras.layers.AveragePooling3D|keras.layers.AvgPool3D(pool_size: ints = (2, 2, 2), strides: ints = None, "
         "padding: str = valid, data_format: str = None, **layer) -> layer",
         CLASS, .methods = &mean3d, .doc = "The mean of each window of volumes.");

/* ---- the whole of every channel ---- */

static tw_status settle_global(void *self, const void *given)
{
    (void)given;
    pooling *layer = self;
    tw_layers_global_max_pooling2d_args own;
    take(layer, &tw__signature_layers_global_max_pooling2d, &own);
    layer->keepdims = own.keepdims;
    layer->layer.supports_masking = ((const tw__layer_methods *)tw__methods(layer))->call_values != NULL; /* takes a mask */
    return tw__layer_channels_first(own.data_format, &layer->channels_first);
}

static tw_tensor *global_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    pooling *layer = (pooling *)self;
    if (tw__layer_need_rank(self, &input->shape, layer->axes + 2) != TW_OK)
        return NULL;
    int32_t first = layer->channels_first ? 2 : 1, axes[3] = { first, first + 1, first + 2 };
    tw_auto tw_tensor *over = tw_tensor_new(TW_INT32, TW_SHAPE(layer->axes), axes);
    return tw__call(layer->op, TW_IN(input, over), 2, TW_WITH(TW_A_BOOL("keep_dims", layer->keepdims)), 1);
}

static tw_status global_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    pooling *layer = (pooling *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    int64_t batch = input->rank > 0 ? input->dims[0] : -1;
    int64_t channels = input->rank > 0 ? input->dims[layer->channels_first ? 1 : layer->axes + 1] : -1;
    *output = TW_SHAPE(batch, channels);
    if (!layer->keepdims)
        return TW_OK;
    output->rank = layer->axes + 2;
    for (int i = 1; i < output->rank; i++)
        output->dims[i] = 1;
    output->dims[layer->channels_first ? 1 : layer->axes + 1] = channels;
    return TW_OK;
}

static void global_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put_str(dict, "data_format", ((pooling *)self)->channels_first ? "channels_first" : "channels_last");
}

#define GLOBAL_METHODS(op_name, axes_)                  \
    {                                                   \
        .layer = { .call = global_call,                 \
                   .output_shape = global_output_shape, \
                   .config = global_config,             \
                   .own_config = " data_format " },     \
        .op = &tw__op_##op_name, .axes = axes_          \
    }
static const pooling_methods whole_max1d = GLOBAL_METHODS(Max, 1), whole_max2d = GLOBAL_METHODS(Max, 2),
                             whole_max3d = GLOBAL_METHODS(Max, 3), whole_mean2d = GLOBAL_METHODS(Mean, 2),
                             whole_mean3d = GLOBAL_METHODS(Mean, 3);

/* Steps whose mask is false do not count. */
static tw_value masked_mean(tw_layer *self, const tw_value *given, int training)
{
    pooling *layer = (pooling *)self;
    tw_tensor *input = tw__value_first_tensor(&given[0]), *mask = tw__value_first_tensor(&given[1]);
    if (!mask || !input)
        return tw__tensor_value(input ? global_call(self, input, training) : NULL);
    int32_t steps = layer->channels_first ? 2 : 1, wide = layer->channels_first ? 1 : 2;
    tw_auto tw_tensor *axis = tw_tensor_int(wide), *over = tw_tensor_int(steps);
    tw_auto tw_tensor *flags = TW_CALL(Cast, mask, TW_A_TYPE("DstT", input->dtype));
    tw_auto tw_tensor *factors = TW_CALL(ExpandDims, flags, axis), *kept = TW_CALL(Mul, input, factors);
    tw_attr keep = TW_A_BOOL("keep_dims", layer->keepdims);
    tw_auto tw_tensor *sum = TW_CALL(Sum, kept, over, keep);
    tw_auto tw_tensor *count = sum ? TW_CALL(Sum, factors, over, keep) : NULL;
    return tw__tensor_value(count ? TW_CALL(RealDiv, sum, count) : NULL);
}

static tw_tensor *no_mask(tw_layer *self, tw_tensor *input, tw_tensor *mask)
{
    (void)self, (void)input, (void)mask;
    return NULL;
}

static const pooling_methods whole_mean1d = { .layer = { .arguments = "inputs mask",
                                                         .call_values = masked_mean,
                                                         .output_shape = global_output_shape,
                                                         .mask = no_mask,
                                                         .config = global_config,
                                                         .own_config = " data_format " },
                                              .op = &tw__op_Mean,
                                              .axes = 1 };

#define GLOBAL_CLASS .parent = &tw__class_layer, .size = sizeof(pooling), .settle = settle_global

TW_CLASS(layers_global_max_pooling2d,
         "keras.layers.GlobalMaxPooling2D|keras.layers.GlobalMaxPool2D(data_format: str = None, keepdims: bool = False, "
         "**layer) -> layer",
         GLOBAL_CLASS, .methods = &whole_max2d, .doc = "The greatest value of every channel of an image.");

TW_CLASS(layers_global_average_pooling2d,
         "keras.layers.GlobalAveragePooling2D|keras.layers.GlobalAvgPool2D(data_format: str = None, keepdims: bool = False, "
         "**layer) -> layer",
         GLOBAL_CLASS, .methods = &whole_mean2d, .doc = "The mean of every channel of an image.");

TW_CLASS(layers_global_max_pooling1d,
         "keras.layers.GlobalMaxPooling1D|keras.layers.GlobalMaxPool1D(data_format: str = channels_last, "
         "keepdims: bool = False, **layer) -> layer",
         GLOBAL_CLASS, .methods = &whole_max1d, .doc = "The greatest value of every channel of a sequence.");

TW_CLASS(
    layers_global_average_pooling1d,
    "keras.layers.GlobalAveragePooling1D|keras.layers.GlobalAvgPool1D(data_format: str = channels_last, *, keepdims: bool = False, "
    "**layer) -> layer",
    GLOBAL_CLASS, .methods = &whole_mean1d, .doc = "The mean of every channel of a sequence.");

TW_CLASS(layers_global_max_pooling3d,
         "keras.layers.GlobalMaxPooling3D|keras.layers.GlobalMaxPool3D(data_format: str = None, keepdims: bool = False, "
         "**layer) -> layer",
         GLOBAL_CLASS, .methods = &whole_max3d, .doc = "The greatest value of every channel of a volume.");

TW_CLASS(layers_global_average_pooling3d,
         "keras.layers.GlobalAveragePooling3D|keras.layers.GlobalAvgPool3D(data_format: str = None, keepdims: bool = False, "
         "**layer) -> layer",
         GLOBAL_CLASS, .methods = &whole_mean3d, .doc = "The mean of every channel of a volume.");
