/* tf.image and tf.io: pictures in files, as users name the ops; and what functions on images share. */
#include <math.h>

#include "api/image.h"
#include "rows.h"

/* ---- files ---- */

TW_API(
    image_decode_jpeg,
    "image.decode_jpeg|io.decode_jpeg(contents: tensor<string>, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, "
    "try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = '', name: str = None) -> tensor",
    "The pixels of a JPEG picture.")
{
    return tw__call(&tw__op_DecodeJpeg, TW_IN(args->contents), 1,
                    TW_WITH(TW_A_INT("channels", args->channels), TW_A_INT("ratio", args->ratio),
                            TW_A_BOOL("fancy_upscaling", !args->no_fancy_upscaling),
                            TW_A_BOOL("try_recover_truncated", args->try_recover_truncated),
                            TW_A_FLOAT("acceptable_fraction", args->acceptable_fraction),
                            TW_A_STRING("dct_method", args->dct_method ? args->dct_method : "")),
                    6);
}

TW_API(
    image_decode_and_crop_jpeg,
    "image.decode_and_crop_jpeg|io.decode_and_crop_jpeg(contents: tensor<string>, crop_window: tensor<int32>, channels: int = 0, ratio: int = 1, "
    "fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = '', name: str = None) "
    "-> tensor",
    "The pixels of a part of a JPEG picture: y, x, height, width.")
{
    return tw__call(&tw__op_DecodeAndCropJpeg, TW_IN(args->contents, args->crop_window), 2,
                    TW_WITH(TW_A_INT("channels", args->channels), TW_A_INT("ratio", args->ratio),
                            TW_A_BOOL("fancy_upscaling", !args->no_fancy_upscaling),
                            TW_A_BOOL("try_recover_truncated", args->try_recover_truncated),
                            TW_A_FLOAT("acceptable_fraction", args->acceptable_fraction),
                            TW_A_STRING("dct_method", args->dct_method ? args->dct_method : "")),
                    6);
}

TW_API(
    image_extract_jpeg_shape,
    "image.extract_jpeg_shape|io.extract_jpeg_shape(contents: tensor<string>, output_type: dtype = int32, name: str = None) -> tensor",
    "Height, width and channels of a JPEG picture.")
{
    return tw__call(&tw__op_ExtractJpegShape, TW_IN(args->contents), 1, TW_WITH(TW_A_TYPE("output_type", args->output_type)), 1);
}

TW_API(
    image_decode_png,
    "image.decode_png|io.decode_png(contents: tensor<string>, channels: int = 0, dtype: dtype = uint8, name: str = None) -> tensor",
    "The pixels of a PNG picture.")
{
    return tw__call(&tw__op_DecodePng, TW_IN(args->contents), 1,
                    TW_WITH(TW_A_INT("channels", args->channels), TW_A_TYPE("dtype", args->dtype)), 2);
}

TW_API(image_decode_gif, "image.decode_gif|io.decode_gif(contents: tensor<string>, name: str = None) -> tensor",
       "The frames of a GIF picture.")
{
    return TW_UNARY(DecodeGif, args->contents);
}

TW_API(image_decode_bmp,
       "image.decode_bmp|io.decode_bmp(contents: tensor<string>, channels: int = 0, name: str = None) -> tensor",
       "The pixels of a BMP picture.")
{
    return tw__call(&tw__op_DecodeBmp, TW_IN(args->contents), 1, TW_WITH(TW_A_INT("channels", args->channels)), 1);
}

TW_API(
    image_decode_image,
    "image.decode_image|io.decode_image(contents: tensor<string>, channels: int = None, dtype: dtype = uint8, name: str = None, "
    "expand_animations: bool = True) -> tensor",
    "The pixels of a JPEG, PNG, GIF or BMP picture.")
{
    bool direct = args->dtype == TW_UINT8 || args->dtype == TW_UINT16 || args->dtype == TW_FLOAT32;
    tw_tensor *made = tw__call(&tw__op_DecodeImage, TW_IN(args->contents), 1,
                               TW_WITH(TW_A_INT("channels", args->channels == TW_NO_INT ? 0 : args->channels),
                                       TW_A_TYPE("dtype", direct ? args->dtype : TW_UINT16),
                                       TW_A_BOOL("expand_animations", !args->no_expand_animations)),
                               3);
    return direct ? made : tw__image_convert_take(made, args->dtype, false);
}

TW_API(
    image_encode_jpeg,
    "image.encode_jpeg|io.encode_jpeg(image: tensor<uint8>, format: str = '', quality: int = 95, progressive: bool = False, "
    "optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str = in, x_density: int = 300, y_density: int = 300, "
    "xmp_metadata: str = '', name: str = None) -> tensor",
    "A JPEG picture of pixels.")
{
    return tw__call(&tw__op_EncodeJpeg, TW_IN(args->image), 1,
                    TW_WITH(TW_A_STRING("format", args->format ? args->format : ""), TW_A_INT("quality", args->quality),
                            TW_A_BOOL("progressive", args->progressive), TW_A_BOOL("optimize_size", args->optimize_size),
                            TW_A_BOOL("chroma_downsampling", !args->no_chroma_downsampling),
                            TW_A_STRING("density_unit", args->density_unit), TW_A_INT("x_density", args->x_density),
                            TW_A_INT("y_density", args->y_density),
                            TW_A_STRING("xmp_metadata", args->xmp_metadata ? args->xmp_metadata : "")),
                    9);
}

/* Numbers in lists come as int32: they are pixels of eight bits if they fit. */
static bool are_bytes(const tw_tensor *image)
{
    const int32_t *values = image->dtype == TW_INT32 && !image->node ? image->data : NULL;
    for (int64_t i = 0; values && i < image->count; i++) {
        if (values[i] < 0 || values[i] > 255)
            return false;
    }
    return values || (image->dtype == TW_INT32 && !image->node && !image->count);
}

TW_API(image_encode_png, "image.encode_png|io.encode_png(image: tensor, compression: int = -1, name: str = None) -> tensor",
       "PNG pictures of pixels, of uint8 or uint16.")
{
    tw_auto tw_tensor *bytes = are_bytes(args->image) ? tw_cast(args->image, TW_UINT8) : tw_retain(args->image);
    return bytes ? tw__call(&tw__op_EncodePng, TW_IN(bytes), 1, TW_WITH(TW_A_INT("compression", args->compression)), 1) : NULL;
}

TW_API(image_is_jpeg, "image.is_jpeg|io.is_jpeg(contents: tensor<string>, name: str = None) -> tensor",
       "Whether bytes begin as a JPEG picture does.")
{
    tw_auto tw_tensor *begin = TW_G3(Substr, tw_retain(args->contents), tw__image_number(0), tw__image_number(3));
    tw_auto tw_tensor *magic = tw_tensor_string("\xff\xd8\xff", 3);
    return begin && magic ? TW_BINARY(Equal, begin, magic) : NULL;
}

/* ---- what functions share ---- */

tw_tensor *tw__image_number(int64_t value)
{
    return tw_tensor_int((int32_t)value);
}

tw_tensor *tw__image_float(double value, tw_dtype dtype)
{
    tw_auto tw_tensor *made = tw_tensor_double(value);
    return made ? tw_cast(made, dtype) : NULL;
}

tw_tensor *tw__image_pack(int count, tw_tensor **items)
{
    tw_tensor *made = tw__call(&tw__op_Pack, items, count, NULL, 0);
    for (int i = 0; i < count; i++)
        tw_release(items[i]);
    return made;
}

tw_tensor *tw__image_side(tw_tensor *image, int side)
{
    int rank = image->shape.rank;
    int64_t known = rank == 3 ? image->shape.dims[side - 1] : rank == 4 ? image->shape.dims[side] : -1;
    if (known >= 0)
        return tw__image_number(known);
    if (rank != 3 && rank != 4) {
        tw__fail(TW_VALUE_ERROR, "'image' must have either 3 or 4 dimensions.");
        return NULL;
    }
    tw_auto tw_tensor *shape = TW_UNARY(Shape, image), *at = tw__image_number(rank == 3 ? side - 1 : side),
                      *axis = tw__image_number(0);
    return shape && at && axis ? tw__call(&tw__op_GatherV2, TW_IN(shape, at, axis), 3, NULL, 0) : NULL;
}

tw_tensor *tw__image_batch(const char *what, tw_tensor *image, bool *single)
{
    *single = image->shape.rank == 3;
    if (image->shape.rank == 4)
        return tw_retain(image);
    if (image->shape.rank == 3)
        return TW_G2(ExpandDims, tw_retain(image), tw__image_number(0));
    if (image->shape.rank < 0)
        tw__fail(TW_VALUE_ERROR, "%s: '%s' contains no shape.", what, "images");
    else
        tw__fail(TW_VALUE_ERROR, "'%s' must have either 3 or 4 dimensions.", what);
    return NULL;
}

tw_tensor *tw__image_unbatch(tw_tensor *images, bool single)
{
    if (!images || !single)
        return images;
    const int64_t first = 0;
    tw_tensor *made = tw__call(&tw__op_Squeeze, TW_IN(images), 1, TW_WITH(TW_A_INTS("squeeze_dims", &first, 1)), 1);
    tw_release(images);
    return made;
}

tw_tensor *tw__image_reverse(tw_tensor *image, int64_t axis, int64_t other)
{
    int64_t axes[] = { axis, other };
    tw_auto tw_tensor *which = tw__ints_tensor(axes, other == -1 ? 1 : 2, TW_INT32);
    return which ? TW_BINARY(ReverseV2, image, which) : NULL;
}

/* ---- dtypes ---- */

/* The largest value, as tf.DType.max says it; the least one is 0 or minus it minus 1. */
static double largest(tw_dtype dtype)
{
    int bits = (int)tw_dtype_size(dtype) * 8;
    bool is_signed = dtype == TW_INT8 || dtype == TW_INT16 || dtype == TW_INT32 || dtype == TW_INT64;
    return ldexp(1, is_signed ? bits - 1 : bits) - 1;
}

static double least(tw_dtype dtype)
{
    bool is_signed = dtype == TW_INT8 || dtype == TW_INT16 || dtype == TW_INT32 || dtype == TW_INT64;
    return is_signed ? -largest(dtype) - 1 : 0;
}

/* Values that don't fit become the nearest that do. Takes. */
static tw_tensor *cast_saturated(tw_tensor *values, tw_dtype dtype)
{
    if (!values)
        return NULL;
    tw_dtype own = values->dtype;
    double low = least(dtype), high = largest(dtype);
    if (tw__dtype_is_integer(own)) {
        low = fmax(low, least(own));
        high = fmin(high, largest(own));
    } else if (own == TW_FLOAT32 && high > 16777216) {
        high = nextafterf((float)(high + 1), 0); /* the largest float below */
    }
    values = TW_G2(Minimum, values, tw__image_float(high, own));
    values = TW_G2(Maximum, values, tw__image_float(low, own));
    tw_tensor *made = values ? tw_cast(values, dtype) : NULL;
    tw_release(values);
    return made;
}

static tw_tensor *cast_take(tw_tensor *values, tw_dtype dtype)
{
    tw_tensor *made = values ? tw_cast(values, dtype) : NULL;
    tw_release(values);
    return made;
}

tw_tensor *tw__image_convert(tw_tensor *image, tw_dtype dtype, bool saturate)
{
    tw_dtype own = image->dtype;
    bool from_integer = tw__dtype_is_integer(own), to_integer = tw__dtype_is_integer(dtype);
    if (own == dtype)
        return tw_retain(image);
    if ((!from_integer && !tw__dtype_is_float(own)) || (!to_integer && !tw__dtype_is_float(dtype))) {
        tw__fail(TW_ATTRIBUTE_ERROR, "dtype must be either floating point or integer");
        return NULL;
    }
    if (!from_integer && !to_integer)
        return tw_cast(image, dtype);
    if (from_integer && !to_integer)
        return TW_G2(Mul, tw_cast(image, dtype), tw__image_float(1.0 / largest(own), dtype));
    if (!from_integer) {
        tw_tensor *scaled = TW_G2(Mul, tw_retain(image), tw__image_float(largest(dtype) + 0.5, own));
        return saturate ? cast_saturated(scaled, dtype) : cast_take(scaled, dtype);
    }
    if (largest(own) > largest(dtype)) {
        tw_tensor *scaled = TW_G2(FloorDiv, tw_retain(image), tw__image_float((largest(own) + 1) / (largest(dtype) + 1), own));
        return saturate ? cast_saturated(scaled, dtype) : cast_take(scaled, dtype);
    }
    tw_tensor *wide = saturate ? cast_saturated(tw_retain(image), dtype) : tw_cast(image, dtype);
    return TW_G2(Mul, wide, tw__image_float((largest(dtype) + 1) / (largest(own) + 1), dtype));
}

tw_tensor *tw__image_convert_take(tw_tensor *image, tw_dtype dtype, bool saturate)
{
    tw_tensor *made = image ? tw__image_convert(image, dtype, saturate) : NULL;
    tw_release(image);
    return made;
}

TW_API(image_convert_image_dtype,
       "image.convert_image_dtype(image: tensor, dtype: dtype, saturate: bool = False, name: str = None) -> tensor",
       "An image of another dtype: floats lie in [0, 1], integers in their whole range.")
{
    return tw__image_convert(args->image, args->dtype, args->saturate);
}
