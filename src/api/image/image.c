/* tf.image and tf.io: pictures in files, as users name the ops; and what functions on images share. */
#include <math.h>

#include "api/image/image.h"
#include "op/calls.h"
#include "rows.h"

/* ---- files ---- */

TW_API(
    image_decode_image,
    "image.decode_image|io.decode_image(contents: tensor<string>, channels: int = None, dtype: dtype = uint8, name: str = None, "
    "expand_animations: bool = True) -> tensor",
    "The pixels of a JPEG, PNG, GIF or BMP picture.\n"
    "dtype: the dtype of the pixels: uint8, uint16, or float32 from 0 to 1\n"
    "expand_animations: True: a GIF gives all of its frames [frames, height, width, 3]; False: the first")
{
    bool direct = args->dtype == TW_UINT8 || args->dtype == TW_UINT16 || args->dtype == TW_FLOAT32;
    tw_tensor *made =
        TW_CALL(DecodeImage, args->contents, TW_A_INT("channels", args->channels == TW_NO_INT ? 0 : args->channels),
                TW_A_TYPE("dtype", direct ? args->dtype : TW_UINT16), TW_A_BOOL("expand_animations", args->expand_animations));
    return direct ? made : tw__image_convert_take(made, args->dtype, false);
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
       "PNG pictures of pixels, of uint8 or uint16.\n"
       "compression: from 0 (large, fast) to 9 (small, slow); -1: in between\n"
       "returns: a string, the bytes of the file")
{
    tw_auto tw_tensor *bytes = are_bytes(args->image) ? tw_cast(args->image, TW_UINT8) : tw_retain(args->image);
    return TW_CALL(EncodePng, bytes, TW_A_INT("compression", args->compression));
}

TW_API(image_is_jpeg, "image.is_jpeg|io.is_jpeg(contents: tensor<string>, name: str = None) -> tensor",
       "Whether bytes begin as a JPEG picture does.")
{
    TW_TEMPS(t);
    tw_auto tw_tensor *begin =
        TW_CALL(Substr, args->contents, tw__temp(t, tw__image_number(0)), tw__temp(t, tw__image_number(3)));
    tw_auto tw_tensor *magic = tw_tensor_string("\xff\xd8\xff", 3);
    return TW_CALL(Equal, begin, magic);
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
    tw_auto tw_tensor *shape = TW_CALL(Shape, image), *at = tw__image_number(rank == 3 ? side - 1 : side),
                      *axis = tw__image_number(0);
    return TW_CALL(GatherV2, shape, at, axis);
}

tw_tensor *tw__image_batch(const char *what, tw_tensor *image, bool *single)
{
    TW_TEMPS(t);
    *single = image->shape.rank == 3;
    if (image->shape.rank == 4)
        return tw_retain(image);
    if (image->shape.rank == 3)
        return TW_CALL(ExpandDims, image, tw__temp(t, tw__image_number(0)));
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
    tw_tensor *made = TW_CALL(Squeeze, images, TW_A_INTS("squeeze_dims", &first, 1));
    tw_release(images);
    return made;
}

tw_tensor *tw__image_reverse(tw_tensor *image, int64_t axis, int64_t other)
{
    int64_t axes[] = { axis, other };
    tw_auto tw_tensor *which = tw__ints_tensor(axes, other == -1 ? 1 : 2, TW_INT32);
    return TW_CALL(ReverseV2, image, which);
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
    TW_TEMPS(t);
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
    values = TW_CALL(Minimum, tw__temp(t, values), tw__temp(t, tw__image_float(high, own)));
    values = TW_CALL(Maximum, tw__temp(t, values), tw__temp(t, tw__image_float(low, own)));
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
    TW_TEMPS(t);
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
        return TW_CALL(Mul, tw__temp(t, tw_cast(image, dtype)), tw__temp(t, tw__image_float(1.0 / largest(own), dtype)));
    if (!from_integer) {
        tw_tensor *scaled = TW_CALL(Mul, image, tw__temp(t, tw__image_float(largest(dtype) + 0.5, own)));
        return saturate ? cast_saturated(scaled, dtype) : cast_take(scaled, dtype);
    }
    if (largest(own) > largest(dtype)) {
        tw_tensor *scaled =
            TW_CALL(FloorDiv, image, tw__temp(t, tw__image_float((largest(own) + 1) / (largest(dtype) + 1), own)));
        return saturate ? cast_saturated(scaled, dtype) : cast_take(scaled, dtype);
    }
    tw_tensor *wide = saturate ? cast_saturated(tw_retain(image), dtype) : tw_cast(image, dtype);
    return TW_CALL(Mul, tw__temp(t, wide), tw__temp(t, tw__image_float((largest(dtype) + 1) / (largest(own) + 1), dtype)));
}

tw_tensor *tw__image_convert_take(tw_tensor *image, tw_dtype dtype, bool saturate)
{
    tw_tensor *made = image ? tw__image_convert(image, dtype, saturate) : NULL;
    tw_release(image);
    return made;
}

TW_API(image_convert_image_dtype,
       "image.convert_image_dtype(image: tensor, dtype: dtype, saturate: bool = False, name: str = None) -> tensor",
       "An image of another dtype: floats lie in [0, 1], integers in their whole range.\n"
       "dtype: the dtype of the result\n"
       "saturate: True: values that do not fit become the least or greatest that do\n"
       "example: tf.image.convert_image_dtype(tf.constant([[[255]]], tf.uint8), tf.float32).numpy().tolist()  # [[[1.0]]]")
{
    return tw__image_convert(args->image, args->dtype, args->saturate);
}
