/* What ImageDataGenerator does with the values of pictures: shifts of channels and brightness, centering, whitening. */
#include <math.h>

#include "keras/pictures/pictures.h"

static tw_tensor *all_axes(tw__temps *t, const tw_tensor *x)
{
    static const int64_t axes[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    return tw__temp_ints(t, axes, x->shape.rank, TW_INT32);
}

static tw_tensor *as_floats(tw__temps *t, tw_tensor *x)
{
    return tw__dtype_is_float(x->dtype) ? x : tw__temp_cast(t, x, TW_FLOAT64);
}

TW_API(image_apply_channel_shift,
       "keras.preprocessing.image.apply_channel_shift(x: tensor, intensity: float, channel_axis: int = 0) -> tensor<numpy>",
       "A picture whose values are all larger by one number, but within the range that they had.\n"
       "x: the picture\n"
       "intensity: what is added\n"
       "channel_axis: the dimension of the channels; all of them are shifted alike")
{
    TW_TEMPS(t);
    if (args->channel_axis < -args->x->shape.rank || args->channel_axis >= args->x->shape.rank) {
        tw__fail(TW_VALUE_ERROR, "axis %lld is out of bounds for array of dimension %d", (long long)args->channel_axis,
                 args->x->shape.rank);
        return NULL;
    }
    tw_tensor *x = as_floats(t, args->x), *axes = all_axes(t, args->x);
    tw_tensor *least = TW_TEMP(Min, x, axes), *most = TW_TEMP(Max, x, axes), *shifted = TW_TEMP(AddV2, x, args->intensity);
    return tw__keep(t, TW_TEMP(Minimum, TW_TEMP(Maximum, shifted, least), most));
}

/* A byte at a brightness, as Pillow blends it with black. */
static uint8_t blended(uint8_t value, float brightness)
{
    float mixed = brightness * (float)value;
    return mixed <= 0 ? 0 : mixed >= 255 ? 255 : (uint8_t)mixed;
}

TW_API(
    image_apply_brightness_shift,
    "keras.preprocessing.image.apply_brightness_shift(x: tensor, brightness: float, scale: bool = True) -> tensor<numpy>",
    "A picture whose bytes are multiplied by a brightness.\n"
    "x: the picture, [height, width, channels]\n"
    "brightness: the factor\n"
    "scale: True: values are brought to 0 … 255 first; False: only where some are outside of that range, and brought back after\n"
    "returns: a NumPy array of float32")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__temp_cast(t, args->x, TW_FLOAT32), *axes = all_axes(t, args->x);
    tw_tensor *least = TW_TEMP(Min, x, axes), *most = TW_TEMP(Max, x, axes);
    if (!least || !most || !tw__tensor_values(least, "apply_brightness_shift") || !args->x->count)
        return NULL;
    bool far = tw_tensor_double_at(least, 0) < 0 || tw_tensor_double_at(most, 0) > 255;
    tw_tensor *pixels = tw__temp(t, tw_picture_of_array(x, .scale = far || args->scale));
    if (!pixels || (pixels->dtype == TW_UINT8 && !tw__picture_check(pixels, "apply_brightness_shift")))
        return NULL;
    tw_tensor *made = tw__temp(t, tw__tensor_empty(TW_FLOAT32, &pixels->shape));
    int64_t channels = pixels->shape.dims[2];
    for (int64_t i = 0; made && i < made->count; i++) {
        uint8_t value = pixels->dtype == TW_UINT8 ? ((uint8_t *)pixels->data)[i] : 255;
        bool alpha = channels == 4 && i % 4 == 3;
        ((float *)made->data)[i] = alpha ? value : args->brightness == 1 ? value : blended(value, (float)args->brightness);
    }
    if (args->scale || !far)
        return tw__keep(t, made);
    tw_tensor *range = TW_TEMP(Sub, most, least);
    return tw__keep(t, TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(RealDiv, made, 255.0), range), least));
}

/* Mean and deviation over the axes, which stay. */
static tw_tensor *mean_over(tw__temps *t, tw_tensor *x, tw_tensor *axes)
{
    return TW_TEMP(Mean, x, axes, TW_A_BOOL("keep_dims", true));
}

static tw_tensor *deviation_over(tw__temps *t, tw_tensor *x, tw_tensor *axes)
{
    tw_tensor *off = TW_TEMP(Sub, x, mean_over(t, x, axes));
    return TW_TEMP(Sqrt, mean_over(t, TW_TEMP(Square, off), axes));
}

TW_API(
    image_standardize,
    "keras.preprocessing.image._standardize(x: tensor, rescale: float = None, center: bool = False, normalize: bool = False, mean: tensor = "
    "None, deviation: tensor = None, whitening: tensor = None) -> tensor<numpy>",
    "A picture, or a batch, as a model gets it: times rescale; minus its own mean (center); divided by its own deviation (normalize); minus "
    "the mean and divided by the deviation of a data set; times the matrix of whitening. What is None is left out.")
{
    TW_TEMPS(t);
    tw_tensor *x = as_floats(t, args->x), *axes = all_axes(t, args->x);
    if (x && !isnan(args->rescale))
        x = TW_TEMP(Mul, x, args->rescale);
    if (args->center)
        x = TW_TEMP(Sub, x, mean_over(t, x, axes));
    if (args->normalize)
        x = TW_TEMP(RealDiv, x, TW_TEMP(AddV2, deviation_over(t, x, axes), 1e-6));
    if (x && args->mean)
        x = TW_TEMP(Sub, x, tw__temp_cast(t, args->mean, x->dtype));
    if (x && args->deviation)
        x = TW_TEMP(RealDiv, x, TW_TEMP(AddV2, tw__temp_cast(t, args->deviation, x->dtype), 1e-6));
    if (x && args->whitening) {
        tw_tensor *flat =
            tw__temp_reshape(t, x, (const int64_t[]){ -1, args->whitening->shape.rank > 0 ? args->whitening->shape.dims[0] : 1 },
                             2);
        tw_tensor *white = TW_TEMP(MatMul, flat, tw__temp_cast(t, args->whitening, x->dtype));
        x = tw__temp_reshape(t, white, args->x->shape.dims, args->x->shape.rank);
    }
    return tw__keep(t, x);
}

TW_API(
    image_statistics,
    "keras.preprocessing.image._statistics(x: tensor, channel_axis: int = 3, normalize: bool = False, whiten: bool = False, epsilon: float = "
    "1e-06) -> tensors<numpy>",
    "Of a batch of pictures (floats, four dimensions): the mean of each channel; with normalize also the deviation of each, with whiten the "
    "matrix that makes the pixels of centered pictures independent of each other, epsilon added to its singular values.")
{
    TW_TEMPS(t);
    tw_tensor *x = args->x;
    tw_tensors made = { 0 };
    if (x->shape.rank != 4 || !tw__dtype_is_float(x->dtype) || (args->channel_axis != 1 && args->channel_axis != 3)) {
        tw__fail(TW_VALUE_ERROR, "Input to `.fit()` should have rank 4. Got array with shape: %s", tw__shape_text(&x->shape));
        return made;
    }
    const int64_t others[] = { 0, args->channel_axis == 1 ? 2 : 1, args->channel_axis == 1 ? 3 : 2 };
    tw_tensor *axes = tw__temp_ints(t, others, 3, TW_INT32), *mean = mean_over(t, x, axes), *deviation = NULL, *matrix = NULL;
    x = TW_TEMP(Sub, x, mean);
    if (args->normalize) {
        deviation = deviation_over(t, x, axes);
        x = TW_TEMP(RealDiv, x, TW_TEMP(AddV2, deviation, 1e-6));
    }
    if (x && args->whiten) {
        tw_tensor *parts[3] = { NULL };
        int64_t count = x->shape.dims[0];
        tw_tensor *flat = tw__temp_reshape(t, x, (const int64_t[]){ count, count ? -1 : 1 }, 2);
        tw_tensor *turned = TW_TEMP(Transpose, flat, tw__temp_ints(t, (const int64_t[]){ 1, 0 }, 2, TW_INT32));
        if (!turned || TW_TEMP_ALL(parts, Svd, turned) != TW_OK)
            return made;
        tw_tensor *inverse =
            TW_TEMP(RealDiv, tw__temp_float(t, x->dtype, sqrt((double)count)), TW_TEMP(AddV2, parts[0], args->epsilon));
        matrix = TW_TEMP(MatMul, TW_TEMP(Mul, parts[1], inverse), parts[1], TW_A_BOOL("transpose_b", true));
    }
    if (!mean || (args->normalize && !deviation) || (args->whiten && !matrix))
        return made;
    tw_tensor *found[] = { mean, deviation, matrix };
    made.items = tw__alloc_array(3, sizeof *made.items);
    for (int i = 0; made.items && i < 3; i++) {
        if (found[i])
            made.items[made.count++] = tw_retain(found[i]);
    }
    return made;
}
