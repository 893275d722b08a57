/* Pictures from files and arrays, as Keras and Pillow make them: pixels with so many channels and of a told size. */
#include <math.h>
#include <stdlib.h>

#include "keras/pictures/pictures.h"

/* ---- channels ---- */

/* A channel that says that every pixel is there. */
static tw_tensor *with_alpha(tw__temps *t, tw_tensor *pixels)
{
    tw_shape edges = TW_SHAPE(3, 2);
    const int64_t values[] = { 0, 0, 0, 0, 0, 1 };
    tw_tensor *flat = tw__temp_ints(t, values, 6, TW_INT32), *full = tw__temp(t, tw__tensor_empty(TW_UINT8, &TW_SCALAR));
    if (!flat || !full)
        return NULL;
    *(uint8_t *)full->data = 255;
    return TW_TEMP(PadV2, pixels, tw__temp(t, tw__tensor_view(flat, &edges)), full);
}

/* The brightness of pixels, as Pillow weighs and rounds it. */
static tw_tensor *gray(tw__temps *t, tw_tensor *pixels)
{
    static const int64_t shares[] = { 19595, 38470, 7471 };
    tw_tensor *weighed = TW_TEMP(Mul, tw__temp_cast(t, pixels, TW_INT32), tw__temp_ints(t, shares, 3, TW_INT32));
    tw_tensor *sum = TW_TEMP(Sum, weighed, -1, TW_A_BOOL("keep_dims", true));
    tw_tensor *rounded = TW_TEMP(AddV2, sum, 32768);
    return tw__temp_cast(t, TW_TEMP(FloorDiv, rounded, 65536), TW_UINT8);
}

tw_tensor *tw__picture_convert(tw__temps *t, tw_tensor *pixels, const char *color_mode)
{
    bool alpha = strcmp(color_mode, "rgba") == 0, one = strcmp(color_mode, "grayscale") == 0;
    if (!alpha && !one && strcmp(color_mode, "rgb") != 0) {
        tw__fail(TW_VALUE_ERROR, "a picture's color_mode is \"%s\", expected \"rgb\", \"rgba\" or \"grayscale\"", color_mode);
        return NULL;
    }
    int64_t channels = alpha ? 4 : one ? 1 : 3;
    if (!pixels || pixels->shape.dims[2] == channels)
        return pixels;
    static const int64_t none[] = { 0, 0, 0 };
    const int64_t three[] = { -1, -1, 3 };
    if (pixels->shape.dims[2] == 4)
        pixels = TW_TEMP(Slice, pixels, tw__temp_ints(t, none, 3, TW_INT32), tw__temp_ints(t, three, 3, TW_INT32));
    else if (pixels->shape.dims[2] == 1)
        pixels = tw__temp_concat(t, (tw_tensor *const[]){ pixels, pixels, pixels }, 3, 2);
    return alpha ? with_alpha(t, pixels) : one ? gray(t, pixels) : pixels;
}

/* ---- files ---- */

tw_tensor *tw__picture_decode(tw__temps *t, tw_tensor *contents, const char *color_mode)
{
    const tw_string *bytes = contents ? tw__tensor_values(contents, "picture") : NULL;
    if (!bytes)
        return NULL;
    if (contents->dtype != TW_STRING || contents->count != 1) {
        tw__fail(TW_VALUE_ERROR, "a picture's contents are of dtype %s and shape %s, expected one string",
                 tw_dtype_name(contents->dtype), tw__shape_text(&contents->shape));
        return NULL;
    }
    bool jpeg = bytes->size > 2 && memcmp(bytes->data, "\xff\xd8", 2) == 0;
    bool png = bytes->size > 4 && memcmp(bytes->data, "\x89PNG", 4) == 0;
    tw_tensor *pixels;
    if (jpeg)
        pixels = TW_TEMP(DecodeJpeg, contents, TW_A_INT("channels", 3), TW_A_STRING("dct_method", "INTEGER_ACCURATE"));
    else if (png && strcmp(color_mode, "rgba") == 0)
        pixels = TW_TEMP(DecodePng, contents, TW_A_INT("channels", 4));
    else
        pixels = TW_TEMP(DecodeImage, contents, TW_A_INT("channels", 3), TW_A_BOOL("expand_animations", false));
    return pixels ? tw__picture_convert(t, pixels, color_mode) : NULL;
}

/* The part in the middle with the new picture's ratio of sides. */
static tw__picture_box middle(const tw_tensor *pixels, int64_t height, int64_t width)
{
    int64_t tall = pixels->shape.dims[0], wide = pixels->shape.dims[1];
    int64_t own_height = wide * height / width, own_width = tall * width / height;
    own_height = own_height < tall ? own_height : tall;
    own_width = own_width < wide ? own_width : wide;
    int64_t top = (tall - own_height) / 2, left = (wide - own_width) / 2;
    return (tw__picture_box){ (double)left, (double)top, (double)(left + own_width), (double)(top + own_height) };
}

static tw_tensor *sized(tw_tensor *pixels, int64_t height, int64_t width, const char *method, bool keep_aspect_ratio)
{
    height = height == TW_NO_INT ? pixels->shape.dims[0] : height;
    width = width == TW_NO_INT ? pixels->shape.dims[1] : width;
    if (height == pixels->shape.dims[0] && width == pixels->shape.dims[1])
        return tw_retain(pixels);
    bool cut = keep_aspect_ratio && height > 0 && width > 0 && height < INT32_MAX && width < INT32_MAX;
    tw__picture_box box = cut ? middle(pixels, height, width) : (tw__picture_box){ 0 };
    return tw__picture_resize(pixels, height, width, method, cut ? &box : NULL);
}

TW_API(
    picture_read,
    "keras.utils._picture(path: str, color_mode: str = rgb, height: int = None, width: int = None, interpolation: str = nearest since 0.2, "
    "keep_aspect_ratio: bool = False since 0.2) -> tensor",
    "The pixels of a file (uint8), rgb, rgba or grayscale; of that size, if one is given, by interpolation (nearest, bilinear, bicubic, "
    "hamming, box or lanczos, with Pillow's pixels). keep_aspect_ratio: what does not fit is cut off at the sides instead of distorted.")
{
    TW_TEMPS(t);
    tw_tensor *contents = TW_TEMP(ReadFile, tw__temp(t, tw_tensor_string(args->path, strlen(args->path))));
    tw_tensor *pixels = tw__picture_decode(t, contents, args->color_mode);
    return pixels ? sized(pixels, args->height, args->width, args->interpolation, args->keep_aspect_ratio) : NULL;
}

TW_API(picture_decode, "keras.utils._picture_decode(contents: tensor, color_mode: str = rgb) -> tensor",
       "The pixels (uint8) of a file's bytes, a string: JPEG, PNG, BMP or GIF; rgb, rgba or grayscale.")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__picture_decode(t, args->contents, args->color_mode));
}

TW_API(picture_convert, "keras.utils._picture_convert(pixels: tensor, color_mode: str) -> tensor",
       "A picture (uint8, [height, width, 1, 3 or 4]) as rgb, rgba or grayscale.")
{
    TW_TEMPS(t);
    return tw__picture_check(args->pixels, "picture_convert")
               ? tw__keep(t, tw__picture_convert(t, args->pixels, args->color_mode))
               : NULL;
}

TW_API(
    picture_resize,
    "keras.utils._picture_resize(pixels: tensor, height: int, width: int, interpolation: str = bicubic, box: tensor<float64> = None) -> "
    "tensor",
    "A picture (uint8, [height, width, 1, 3 or 4]) at another size, with Pillow's pixels: nearest, bilinear, bicubic, hamming, box or "
    "lanczos. box: left, top, right and bottom of the part that is taken; without it all of the picture is.")
{
    if (!args->box)
        return tw__picture_resize(args->pixels, args->height, args->width, args->interpolation, NULL);
    const double *edges = tw__tensor_values(args->box, "picture_resize");
    if (edges && args->box->count != 4)
        tw__fail(TW_VALUE_ERROR, "box must be a sequence of length 4");
    if (!edges || args->box->count != 4)
        return NULL;
    tw__picture_box box = { edges[0], edges[1], edges[2], edges[3] };
    return tw__picture_resize(args->pixels, args->height, args->width, args->interpolation, &box);
}

/* ---- arrays ---- */

/* Fractions are cut off; what does not fit in 8 bits keeps its last 8. */
static uint8_t last_bits(double value)
{
    return fabs(value) < 2147483648.0 ? (uint8_t)(int32_t)value : 0;
}

TW_API(
    picture_of_array,
    "keras.utils._picture_of_array(x: tensor, data_format: str {channels_first, channels_last} = channels_last, scale: bool = True) -> tensor",
    "The picture of an array of floats of 1, 3 or 4 channels: uint8 [height, width, channels]; int32 where a single channel has values "
    "above 255. scale: the smallest value becomes 0, the largest 255.")
{
    TW_TEMPS(t);
    tw_tensor *x = args->x;
    if (x->shape.rank != 3 || !tw__dtype_is_float(x->dtype)) {
        tw__fail(TW_VALUE_ERROR, "Expected image array to have rank 3 (single image). Got array with shape: %s and dtype %s",
                 tw__shape_text(&x->shape), tw_dtype_name(x->dtype));
        return NULL;
    }
    static const int64_t turned[] = { 1, 2, 0 };
    if (strcmp(args->data_format, "channels_first") == 0)
        x = TW_TEMP(Transpose, x, tw__temp_ints(t, turned, 3, TW_INT32));
    const int64_t all[] = { 0, 1, 2 };
    tw_tensor *axes = tw__temp_ints(t, all, 3, TW_INT32);
    if (x && args->scale && x->count) {
        x = TW_TEMP(Sub, x, TW_TEMP(Min, x, axes));
        tw_tensor *most = TW_TEMP(Max, x, axes);
        x = most && tw_tensor_double_at(most, 0) != 0 ? TW_TEMP(RealDiv, x, most) : x;
        x = TW_TEMP(Mul, x, 255.0);
    }
    x = tw__temp_cast(t, x, TW_FLOAT64);
    if (!x || !tw__tensor_values(x, "picture_of_array"))
        return NULL;
    const double *values = x->data;
    bool large = false;
    for (int64_t i = 0; x->shape.dims[2] == 1 && i < x->count; i++)
        large |= values[i] > 255;
    if (large)
        return tw__keep(t, tw__temp_cast(t, x, TW_INT32));
    tw_tensor *made = tw__tensor_empty(TW_UINT8, &x->shape);
    for (int64_t i = 0; made && i < x->count; i++)
        ((uint8_t *)made->data)[i] = last_bits(values[i]);
    return made;
}
