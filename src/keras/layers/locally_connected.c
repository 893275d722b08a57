/* keras.layers.LocallyConnected1D and LocallyConnected2D: convolutions whose kernel is another one at every place.
 *
 * `implementation` says how the kernel is kept, as in Keras: 1 by places, [places, window * channels, filters]; 2 as a dense
 * matrix of all inputs by all outputs, of which only what a window sees counts; 3 as the list of what windows see, in the order
 * of outputs and then inputs. Implementation 1 gathers the windows of all places and multiplies them in one batch. */
#include "keras/layers/layers.h"
#include "op/array/array.h"
#include "op/calls.h"

typedef struct local {
    tw_layer layer;
    tw_layers_locally_connected2d_args settings; /* of both classes */
    int axes;
    bool channels_first;
    char padding[8];
    int64_t size[2], stride[2], in[2], out[2], channels; /* of sequences the first axis is 1 long */
} local;

static tw_status local_settle(void *self, const void *given)
{
    (void)given;
    local *layer = self;
    tw_layers_locally_connected2d_args *o = &layer->settings;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_locally_connected2d, o);
    layer->axes = tw__is(self, &tw__class_layers_locally_connected1d) ? 1 : 2;
    int64_t *size = layer->size + 2 - layer->axes, *stride = layer->stride + 2 - layer->axes;
    layer->size[0] = layer->stride[0] = 1;
    TW_TRY(tw__layer_sizes("kernel_size", o->kernel_size, layer->axes, false, size));
    TW_TRY(tw__layer_sizes("strides", o->strides, layer->axes, false, stride));
    TW_TRY(tw__layer_padding(o->padding, false, layer->padding));
    if (layer->padding[0] != 'v' && o->implementation == 1)
        return tw__fail(TW_VALUE_ERROR, "Invalid border mode for %s (only \"valid\" is supported if implementation is 1): %s",
                        tw_class_name(self), o->padding);
    if (o->filters <= 0)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": filters is %lld, expected a positive number", tw_class_name(self),
                        layer->layer.name, (long long)o->filters);
    return tw__layer_channels_first(o->data_format, &layer->channels_first);
}

/* ---- what windows see ---- */

typedef struct pair {
    int64_t place, input; /* of the output, of the input, both without channels */
    int64_t window;       /* the place inside of the window */
} pair;

/* Every input that every window sees, places in order; for tw__free. */
static pair *pairs_of(const local *layer, int64_t *count)
{
    int64_t before[2], most;
    for (int i = 0; i < 2; i++) /* as in Keras, not as in Conv2D */
        before[i] = layer->padding[0] == 's' ? layer->size[i] / 2 : 0;
    *count = 0;
    if (__builtin_mul_overflow(layer->out[0] * layer->out[1], layer->size[0] * layer->size[1], &most))
        most = INT64_MAX / (int64_t)sizeof(pair);
    pair *pairs = tw__alloc_array((size_t)most + 1, sizeof *pairs);
    for (int64_t place = 0; pairs && place < layer->out[0] * layer->out[1]; place++) {
        int64_t row = place / layer->out[1] * layer->stride[0] - before[0],
                column = place % layer->out[1] * layer->stride[1] - before[1];
        for (int64_t w = 0; w < layer->size[0] * layer->size[1]; w++) {
            int64_t r = row + w / layer->size[1], c = column + w % layer->size[1];
            if (r >= 0 && c >= 0 && r < layer->in[0] && c < layer->in[1])
                pairs[(*count)++] = (pair){ place, r * layer->in[1] + c, w };
        }
    }
    return pairs;
}

/* The place of a channel among all elements of an example. */
static int64_t element(const local *layer, int64_t at, int64_t channel, int64_t places, int64_t channels)
{
    return layer->channels_first ? channel * places + at : at * channels + channel;
}

static int64_t places_in(const local *layer)
{
    return layer->in[0] * layer->in[1];
}

static int64_t places_out(const local *layer)
{
    return layer->out[0] * layer->out[1];
}

/* ---- weights ---- */

static tw_status sizes_of(local *layer, const tw_shape *input)
{
    int first = layer->channels_first ? 2 : 1;
    TW_TRY(tw__layer_need_rank(&layer->layer, input, layer->axes + 2));
    layer->in[0] = layer->out[0] = 1;
    layer->channels = input->dims[layer->channels_first ? 1 : layer->axes + 1];
    bool known = layer->channels >= 0;
    for (int i = 0; i < layer->axes; i++) {
        int at = i + 2 - layer->axes;
        layer->in[at] = input->dims[first + i];
        known = known && layer->in[at] >= 0;
        layer->out[at] = tw__layer_places(layer->in[at], layer->size[at], layer->stride[at], 1, layer->padding);
    }
    if (!known)
        return tw__fail(TW_VALUE_ERROR,
                        "The spatial dimensions of the inputs to  a %s layer should be fully-defined, but layer received an "
                        "inputs shape of %s",
                        tw_class_name(layer), tw__shape_text(input));
    if (layer->out[0] <= 0 || layer->out[1] <= 0)
        return tw__fail(TW_VALUE_ERROR,
                        "One of the dimensions in the output is <= 0 due to downsampling in %s. Consider increasing the input "
                        "size. Received input shape %s which would produce output shape with a zero or negative value in a "
                        "dimension.",
                        layer->layer.name, tw__shape_text(input));
    return TW_OK;
}

/* [in…, channels, out…, filters], or the channels before. */
static void dense_shape(const local *layer, tw_shape *shape)
{
    shape->rank = 0;
    for (int side = 0; side < 2; side++) {
        int64_t channels = side ? layer->settings.filters : layer->channels;
        if (layer->channels_first)
            shape->dims[shape->rank++] = channels;
        for (int i = 2 - layer->axes; i < 2; i++)
            shape->dims[shape->rank++] = side ? layer->out[i] : layer->in[i];
        if (!layer->channels_first)
            shape->dims[shape->rank++] = channels;
    }
}

static tw_status local_build(tw_layer *self, const tw_shape *input)
{
    local *layer = (local *)self;
    TW_TRY(sizes_of(layer, input));
    int64_t filters = layer->settings.filters, count = 0;
    tw_shape shape = TW_SHAPE(places_out(layer), layer->size[0] * layer->size[1] * layer->channels, filters);
    if (layer->settings.implementation == 2) {
        dense_shape(layer, &shape);
    } else if (layer->settings.implementation == 3) {
        tw__owned pair *pairs = pairs_of(layer, &count);
        TW_NEED(pairs);
        shape = TW_SHAPE(count * layer->channels * filters);
    } else if (layer->settings.implementation != 1) {
        return tw__fail(TW_VALUE_ERROR, "Unrecognized implementation mode: %lld.", (long long)layer->settings.implementation);
    }
    TW_TRY(tw__layer_add_part(self, "kernel", &shape));
    if (!layer->channels_first)
        self->last_axis = layer->channels;
    tw_shape bias = layer->axes == 1 ? TW_SHAPE(layer->out[1], filters) : TW_SHAPE(layer->out[0], layer->out[1], filters);
    return layer->settings.use_bias ? tw__layer_add_part(self, "bias", &bias) : TW_OK;
}

/* ---- calling ---- */

/* Windows side by side, times the kernel of their place: [batch, places, filters]. Left to t. */
static tw_tensor *by_places(tw__temps *t, local *layer, tw_tensor *flat, tw_tensor *kernel)
{
    int64_t places = places_out(layer), window = layer->size[0] * layer->size[1], wide = window * layer->channels, count = 0;
    tw__owned pair *pairs = pairs_of(layer, &count);
    tw_tensor *indices = pairs ? tw__temp(t, tw_tensor_new(TW_INT32, TW_SHAPE(places, wide), NULL)) : NULL;
    if (!indices)
        return NULL;
    int32_t *items = indices->data;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t c = 0; c < layer->channels; c++)
            items[pairs[i].place * wide + element(layer, pairs[i].window, c, window, layer->channels)] =
                (int32_t)element(layer, pairs[i].input, c, places_in(layer), layer->channels);
    }
    tw_tensor *seen = tw__temp_gather(t, flat, indices, 1), *order = tw__temp_ints(t, (int64_t[]){ 1, 0, 2 }, 3, TW_INT32);
    tw_tensor *products = TW_TEMP(BatchMatMulV2, TW_TEMP(Transpose, seen, order), kernel);
    return TW_TEMP(Transpose, products, layer->channels_first ? tw__temp_ints(t, (int64_t[]){ 1, 2, 0 }, 3, TW_INT32) : order);
}

/* The flat index in a matrix of inputs by outputs of every element of the kernel that counts: [count, 2]. */
static tw_tensor *seen_elements(tw__temps *t, const local *layer, bool outputs_first)
{
    int64_t count = 0, filters = layer->settings.filters, at = 0, outputs = places_out(layer);
    tw__owned pair *pairs = pairs_of(layer, &count);
    tw_tensor *indices =
        pairs ? tw__temp(t, tw_tensor_new(TW_INT32, TW_SHAPE(count * layer->channels * filters, 2), NULL)) : NULL;
    if (!indices)
        return NULL;
    int32_t *items = indices->data;
    for (int64_t outer = 0; outer < outputs * filters; outer++) { /* in the order of outputs, then inputs */
        int64_t place = layer->channels_first ? outer % outputs : outer / filters;
        for (int64_t inner = 0; inner < (layer->channels_first ? layer->channels : 1); inner++) {
            for (int64_t i = 0; i < count; i++) {
                for (int64_t c = 0; pairs[i].place == place && c < (layer->channels_first ? 1 : layer->channels); c++) {
                    int64_t in =
                        element(layer, pairs[i].input, layer->channels_first ? inner : c, places_in(layer), layer->channels);
                    items[at++] = (int32_t)(outputs_first ? outer : in);
                    items[at++] = (int32_t)(outputs_first ? in : outer);
                }
            }
        }
    }
    return indices;
}

/* A dense matrix, of which only what windows see counts: [batch, outputs]. Left to t. */
static tw_tensor *by_matrix(tw__temps *t, local *layer, tw_tensor *flat, tw_tensor *kernel)
{
    int64_t inputs = places_in(layer) * layer->channels, outputs = places_out(layer) * layer->settings.filters;
    bool listed = layer->settings.implementation == 3;
    tw_tensor *indices = seen_elements(t, layer, false);
    tw_tensor *shape = tw__temp_ints(t, (int64_t[]){ inputs, outputs }, 2, TW_INT32), *matrix;
    if (!indices || !shape)
        return NULL;
    if (listed) {
        matrix = TW_TEMP(ScatterNd, indices, kernel, shape);
    } else {
        tw_tensor *ones = tw__temp(t, tw_tensor_new(kernel->dtype, TW_SHAPE(indices->shape.dims[0]), NULL));
        tw_tensor *seen = TW_TEMP(ScatterNd, indices, ones ? TW_TEMP(OnesLike, ones) : NULL, shape);
        matrix = TW_TEMP(Mul, seen, tw__temp_reshape(t, kernel, (int64_t[]){ inputs, outputs }, 2));
    }
    return TW_TEMP(MatMul, flat, matrix);
}

static tw_status local_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const local *layer = (local *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    *output = *input;
    for (int i = 0, first = layer->channels_first ? 2 : 1; i < layer->axes; i++) {
        int at = i + 2 - layer->axes;
        output->dims[first + i] = tw__layer_places(input->dims[first + i], layer->size[at], layer->stride[at], 1, layer->padding);
    }
    output->dims[layer->channels_first ? 1 : layer->axes + 1] = layer->settings.filters;
    return TW_OK;
}

static tw_tensor *local_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    TW_TEMPS(t);
    local *layer = (local *)self;
    tw_shape shape, given;
    if (local_shape(self, &input->shape, &shape) != TW_OK)
        return NULL;
    given = input->shape;
    for (int i = 0, first = layer->channels_first ? 2 : 1; i < layer->axes; i++) {
        int at = i + 2 - layer->axes;
        if (given.dims[first + i] != layer->in[at]) {
            tw__fail(TW_VALUE_ERROR, "%s \"%s\" was built for other sizes than those of the input, %s", tw_class_name(self),
                     self->name, tw__shape_text(&given));
            return NULL;
        }
    }
    tw_tensor *kernel = tw__temp(t, tw__layer_read(self, "kernel"));
    tw_tensor *flat = tw__temp_reshape(t, input, (int64_t[]){ input->shape.dims[0], places_in(layer) * layer->channels }, 2);
    tw_tensor *made = !kernel || !flat                      ? NULL
                      : layer->settings.implementation == 1 ? by_places(t, layer, flat, kernel)
                                                            : by_matrix(t, layer, flat, kernel);
    tw_tensor *output = made ? tw__temp(t, tw__reshape(made, &shape)) : NULL;
    if (output && layer->settings.use_bias) {
        tw_shape wide = shape;
        wide.dims[0] = 1;
        tw_tensor *bias = tw__temp(t, tw__layer_read(self, "bias"));
        output = TW_TEMP(AddV2, output, bias ? tw__temp(t, tw__reshape(bias, &wide)) : NULL);
    }
    return tw__activate(layer->settings.activation, output);
}

static void local_config(tw_layer *self, tw__dict *dict)
{
    const local *layer = (local *)self;
    tw__dict_put(dict, "kernel_size", tw__sizes_value(layer->size + 2 - layer->axes, layer->axes));
    tw__dict_put(dict, "strides", tw__sizes_value(layer->stride + 2 - layer->axes, layer->axes));
    tw__dict_put_str(dict, "padding", layer->padding);
    tw__dict_put_str(dict, "data_format", layer->channels_first ? "channels_first" : "channels_last");
}

static const tw__layer_methods local_methods = { .build = local_build,
                                                 .call = local_call,
                                                 .output_shape = local_shape,
                                                 .config = local_config,
                                                 .own_config = " kernel_size strides padding data_format " };

TW_CLASS(layers_locally_connected1d,
         "keras.layers.LocallyConnected1D(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
         "data_format: str = None, activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS
         ", implementation: int = 1, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(local), .settle = local_settle, .methods = &local_methods,
         .doc = "A convolution of sequences whose kernel is another one at every step.");

TW_CLASS(layers_locally_connected2d,
         "keras.layers.LocallyConnected2D(filters: int, kernel_size: ints, strides: ints = (1, 1), padding: str = valid, "
         "data_format: str = None, activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS
         ", implementation: int = 1, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(local), .settle = local_settle, .methods = &local_methods,
         .doc = "A convolution of images whose kernel is another one at every place.");
