/* tf.image: brightness, contrast, colours, and what is random about them. */
#include "api/image/image.h"
#include "api/random/random.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

/* ---- adjusting ---- */

static tw_tensor *as_float(tw_tensor *image)
{
    return image->dtype == TW_FLOAT16 || image->dtype == TW_FLOAT32 ? tw_retain(image)
                                                                    : tw__image_convert(image, TW_FLOAT32, false);
}

tw_tensor *tw__image_adjust_brightness(tw_tensor *image, tw_tensor *delta)
{
    TW_TEMPS(t);
    tw_tensor *real = as_float(image);
    tw_tensor *sum = TW_CALL(AddV2, tw__temp(t, real), real ? tw__temp(t, tw_cast(delta, real->dtype)) : NULL);
    return tw__image_convert_take(sum, image->dtype, true);
}

TW_API(image_adjust_brightness, "image.adjust_brightness(image: tensor, delta: tensor<float32>) -> tensor",
       "Images with an amount added to every pixel.")
{
    return tw__image_adjust_brightness(args->image, args->delta);
}

tw_tensor *tw__image_adjust(const tw_op *op, tw_tensor *image, tw_tensor *amount)
{
    bool contrast = op == &tw__op_AdjustContrastv2; /* the only one that rounds, and saturates when it converts back */
    tw_auto tw_tensor *real = contrast ? tw__image_convert(image, TW_FLOAT32, false) : as_float(image);
    return real ? tw__image_convert_take(tw__call(op, TW_IN(real, amount), 2, NULL, 0), image->dtype, contrast) : NULL;
}

TW_API(image_adjust_contrast, "image.adjust_contrast(images: tensor, contrast_factor: tensor<float32>) -> tensor",
       "Images whose distances from each channel's mean are multiplied.\n"
       "contrast_factor: the factor; below 1 images get dull")
{
    return tw__image_adjust(&tw__op_AdjustContrastv2, args->images, args->contrast_factor);
}

TW_API(image_adjust_saturation,
       "image.adjust_saturation(image: tensor, saturation_factor: tensor<float32>, name: str = None) -> tensor",
       "Images whose saturation is multiplied.\n"
       "saturation_factor: the factor; 0 makes images grey")
{
    return tw__image_adjust(&tw__op_AdjustSaturation, args->image, args->saturation_factor);
}

TW_API(image_adjust_hue, "image.adjust_hue(image: tensor, delta: tensor<float32>, name: str = None) -> tensor",
       "Images whose hue is moved along the circle; delta is in [-1, 1].\n"
       "delta: what is added to the hue, from -1 to 1, a full turn")
{
    if (args->delta->data && args->delta->count == 1 &&
        !(tw_tensor_double_at(args->delta, 0) >= -1 && tw_tensor_double_at(args->delta, 0) <= 1)) {
        tw__fail(TW_INVALID_ARGUMENT, "delta must be in the interval [-1, 1]");
        return NULL;
    }
    return tw__image_adjust(&tw__op_AdjustHue, args->image, args->delta);
}

TW_API(image_adjust_gamma,
       "image.adjust_gamma(image: tensor, gamma: tensor<float32> = None shown 1, gain: tensor<float32> = None shown 1) -> tensor",
       "gain * image ** gamma, each 1 if not given.\n"
       "gamma: the exponent, from 0 on; above 1 images get darker\n"
       "gain: the factor")
{
    TW_TEMPS(t);
    if (args->gamma && args->gamma->data && args->gamma->count == 1 && tw_tensor_double_at(args->gamma, 0) < 0) {
        tw__fail(TW_VALUE_ERROR, "Gamma should be a non-negative real number.");
        return NULL;
    }
    tw_tensor *real = as_float(args->image);
    if (!real)
        return NULL;
    tw_dtype dtype = real->dtype;
    tw_tensor *power = TW_TEMP(Pow, tw__temp(t, real),
                               args->gamma ? tw__temp(t, tw_cast(args->gamma, dtype)) : tw__temp(t, tw__image_float(1, dtype)));
    tw_tensor *scaled =
        TW_CALL(Mul, args->gain ? tw__temp(t, tw_cast(args->gain, dtype)) : tw__temp(t, tw__image_float(1, dtype)), power);
    return tw__image_convert_take(scaled, args->image->dtype, true);
}

tw_tensor *tw__image_adjust_jpeg_quality(tw_tensor *image, tw_tensor *quality)
{
    tw_auto tw_tensor *bytes = tw__image_convert(image, TW_UINT8, true);
    tw_auto tw_tensor *file = TW_CALL(EncodeJpegVariableQuality, bytes, quality);
    int64_t channels = image->shape.rank == 3 && image->shape.dims[2] > 0 ? image->shape.dims[2] : 0;
    tw_tensor *back = TW_CALL(DecodeJpeg, file, TW_A_INT("channels", channels));
    return tw__image_convert_take(back, image->dtype, true);
}

TW_API(image_adjust_jpeg_quality,
       "image.adjust_jpeg_quality(image: tensor, jpeg_quality: tensor<int32>, name: str = None) -> tensor",
       "An image as JPEG of a quality leaves it.\n"
       "jpeg_quality: from 0 (worst) to 100")
{
    return tw__image_adjust_jpeg_quality(args->image, args->jpeg_quality);
}

/* The rank less a number, as a vector of one; of the shape's own size, if the rank is not known. */
static tw_tensor *rank_less(tw_tensor *shape, int rank, int32_t less)
{
    if (rank >= 0)
        return tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ rank - less });
    tw_auto tw_tensor *size = TW_CALL(Shape, shape), *number = tw_tensor_new(TW_INT32, TW_SHAPE(1), &less);
    return TW_CALL(Sub, size, number);
}

TW_API(image_per_image_standardization, "image.per_image_standardization(image: tensor) -> tensor",
       "Each image less its mean, divided by its standard deviation (or 1 / sqrt(number of values), if that is more).")
{
    TW_TEMPS(t);
    tw_tensor *image = args->image;
    if (image->shape.rank >= 0 && image->shape.rank < 3) {
        tw__fail(TW_VALUE_ERROR, "image must be at least three-dimensional, got shape %s", tw__shape_text(&image->shape));
        return NULL;
    }
    tw_dtype dtype = image->dtype == TW_FLOAT16 || image->dtype == TW_FLOAT32 ? image->dtype : TW_FLOAT32;
    tw_auto tw_tensor *real = tw_cast(image, dtype);
    tw_ints axes = TW_INTS(-1, -2, -3);
    tw_auto tw_tensor *mean = real ? tw__reduce_axes(&tw__op_Mean, real, axes, true) : NULL;
    tw_auto tw_tensor *away = TW_CALL(Sub, real, mean), *squares = TW_CALL(Square, away);
    tw_auto tw_tensor *variance = squares ? tw__reduce_axes(&tw__op_Mean, squares, axes, true) : NULL;
    tw_auto tw_tensor *shape = TW_CALL(Shape, image), *last = shape ? rank_less(shape, image->shape.rank, 3) : NULL;
    tw_auto tw_tensor *three = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ 3 }), *axis = tw__image_number(0);
    tw_auto tw_tensor *sides = TW_CALL(Slice, shape, last, three);
    tw_auto tw_tensor *count = TW_CALL(Prod, sides, axis), *number = count ? tw_cast(count, dtype) : NULL;
    tw_auto tw_tensor *deviation = TW_CALL(Maximum, TW_TEMP(Sqrt, variance), TW_TEMP(Rsqrt, number));
    return TW_CALL(RealDiv, away, deviation);
}

/* ---- colour spaces ---- */

/* What is known of images with other channels than they had. Takes `made`. */
static tw_tensor *of_channels(tw_tensor *made, const tw_tensor *images, int64_t channels)
{
    tw_shape known = images->shape;
    if (!made || !made->node || known.rank < 1)
        return made;
    known.dims[known.rank - 1] = channels;
    if (tw__symbolic_refine(made, &known) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

/* The last axis of three, multiplied by a matrix of three rows. */
static tw_tensor *mix(tw_tensor *images, const double *matrix, int64_t columns)
{
    if (!tw__dtype_is_float(images->dtype)) {
        tw__fail(TW_TYPE_ERROR, "Cannot convert a matrix of fractions to EagerTensor of dtype %s", tw_dtype_name(images->dtype));
        return NULL;
    }
    tw_auto tw_tensor *flat = NULL;
    tw_auto tw_tensor *given = tw_tensor_new(TW_FLOAT64, TW_SHAPE(3, columns), matrix),
                      *cast = given ? tw_cast(given, images->dtype) : NULL;
    if (!cast)
        return NULL;
    tw_auto tw_tensor *rows = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ -1, 3 });
    flat = TW_CALL(Reshape, images, rows);
    tw_auto tw_tensor *product = TW_CALL(MatMul, flat, cast);
    tw_auto tw_tensor *shape = tw__shape_as_tensor(images, TW_INT32),
                      *from = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ 0 });
    tw_auto tw_tensor *size = shape ? rank_less(shape, images->shape.rank, 1) : NULL;
    tw_auto tw_tensor *front = TW_CALL(Slice, shape, from, size);
    tw_auto tw_tensor *last = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ (int32_t)columns }), *axis = tw__image_number(0);
    tw_auto tw_tensor *whole = TW_CALL(ConcatV2, front, last, axis);
    return of_channels(TW_CALL(Reshape, product, whole), images, columns);
}

static bool three_channels(tw_tensor *images)
{
    int rank = images->shape.rank;
    if (rank < 0 || (rank >= 1 && (images->shape.dims[rank - 1] == 3 || images->shape.dims[rank - 1] < 0)))
        return true;
    if (rank < 1)
        tw__fail(TW_VALUE_ERROR, "images must have a rank of at least 1");
    else
        tw__fail(TW_VALUE_ERROR, "images must have 3 channels in the last dimension, got shape %s",
                 tw__shape_text(&images->shape));
    return false;
}

TW_API(image_rgb_to_grayscale, "image.rgb_to_grayscale(images: tensor, name: str = None) -> tensor",
       "How bright colours are, one channel.")
{
    static const double weights[] = { 0.2989, 0.5870, 0.1140 };
    if (!three_channels(args->images))
        return NULL;
    tw_auto tw_tensor *real = tw__image_convert(args->images, TW_FLOAT32, false);
    return real ? tw__image_convert_take(mix(real, weights, 1), args->images->dtype, false) : NULL;
}

TW_API(image_grayscale_to_rgb, "image.grayscale_to_rgb(images: tensor, name: str = None) -> tensor", "One channel three times.")
{
    int rank = args->images->shape.rank;
    if (rank < 0) {
        tw_auto tw_tensor *axis = tw__image_number(-1);
        return TW_CALL(ConcatV2, args->images, args->images, args->images, axis);
    }
    if (rank < 1 || (args->images->shape.dims[rank - 1] >= 0 && args->images->shape.dims[rank - 1] != 1)) {
        tw__fail(TW_VALUE_ERROR, "Last dimension of a grayscale image should be size 1");
        return NULL;
    }
    int64_t times[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        times[i] = i == rank - 1 ? 3 : 1;
    tw_auto tw_tensor *multiples = tw__ints_tensor(times, rank, TW_INT32);
    return of_channels(TW_CALL(Tile, args->images, multiples), args->images, 3);
}

TW_API(image_rgb_to_yiq, "image.rgb_to_yiq(images: tensor) -> tensor", "Colours as YIQ.")
{
    static const double matrix[] = { 0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617, 0.114, -0.32134392, 0.31119955 };
    return three_channels(args->images) ? mix(args->images, matrix, 3) : NULL;
}

TW_API(image_yiq_to_rgb, "image.yiq_to_rgb(images: tensor) -> tensor", "Colours of YIQ.")
{
    static const double matrix[] = { 1, 1, 1, 0.95598634, -0.27201283, -1.10674021, 0.6208248, -0.64720424, 1.70423049 };
    return three_channels(args->images) ? mix(args->images, matrix, 3) : NULL;
}

TW_API(image_rgb_to_yuv, "image.rgb_to_yuv(images: tensor) -> tensor", "Colours as YUV.")
{
    static const double matrix[] = { 0.299,       -0.14714119, 0.61497538, 0.587,      -0.28886916,
                                     -0.51496512, 0.114,       0.43601035, -0.10001026 };
    return three_channels(args->images) ? mix(args->images, matrix, 3) : NULL;
}

TW_API(image_yuv_to_rgb, "image.yuv_to_rgb(images: tensor) -> tensor", "Colours of YUV.")
{
    static const double matrix[] = { 1, 1, 1, 0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0 };
    return three_channels(args->images) ? mix(args->images, matrix, 3) : NULL;
}
