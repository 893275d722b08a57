/* tf.image.random_* and stateless_random_*: an amount is drawn, then the function without chance is called. */
#include "api/image/image.h"
#include "api/random/random.h"
#include "op/calls.h"
#include "rows.h"

/* A scalar from [low, high): of the stream with that seed, or a function of `stateless`. */
static tw_tensor *draw(double low, double high, int64_t seed, tw_tensor *stateless, tw_tensor *shape)
{
    tw_auto tw_tensor *none = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL), *minimum = tw__image_float(low, TW_FLOAT32);
    tw_auto tw_tensor *maximum = tw__image_float(high, TW_FLOAT32);
    if (!none || !minimum || !maximum)
        return NULL;
    return stateless ? tw_random_stateless_uniform(shape ? shape : none, stateless, minimum, maximum)
                     : tw_random_uniform(shape ? shape : none, minimum, maximum, .seed = seed);
}

static bool not_negative(double amount, const char *name)
{
    if (amount >= 0)
        return true;
    tw__fail(TW_VALUE_ERROR, "%s must be non-negative.", name);
    return false;
}

static bool ordered(double lower, double upper)
{
    if (upper > lower && lower >= 0)
        return true;
    if (upper <= lower)
        tw__fail(TW_VALUE_ERROR, "upper must be > lower.");
    else
        tw__fail(TW_VALUE_ERROR, "lower must be non-negative.");
    return false;
}

static tw_tensor *brightness(tw_tensor *image, double max_delta, int64_t seed, tw_tensor *stateless)
{
    tw_auto tw_tensor *delta = not_negative(max_delta, "max_delta") ? draw(-max_delta, max_delta, seed, stateless, NULL) : NULL;
    return delta ? tw__image_adjust_brightness(image, delta) : NULL;
}

static tw_tensor *adjust(const tw_op *op, tw_tensor *image, double low, double high, int64_t seed, tw_tensor *stateless)
{
    tw_auto tw_tensor *amount = draw(low, high, seed, stateless, NULL);
    return amount ? tw__image_adjust(op, image, amount) : NULL;
}

static tw_tensor *hue(tw_tensor *image, double max_delta, int64_t seed, tw_tensor *stateless)
{
    if (max_delta < 0 || max_delta > 0.5) {
        tw__fail(TW_VALUE_ERROR, max_delta < 0 ? "max_delta must be non-negative." : "max_delta must be <= 0.5.");
        return NULL;
    }
    return adjust(&tw__op_AdjustHue, image, -max_delta, max_delta, seed, stateless);
}

/* One image is turned with probability one half; of a batch each on its own. */
static tw_tensor *flip(tw_tensor *image, int side, int64_t seed, tw_tensor *stateless)
{
    TW_TEMPS(t);
    int rank = image->shape.rank;
    if (rank != 3 && rank != 4) {
        tw__fail(TW_VALUE_ERROR, "'image' (shape %s) must have either 3 or 4 dimensions.", tw__shape_text(&image->shape));
        return NULL;
    }
    tw_auto tw_tensor *turned = tw__image_reverse(image, rank == 4 ? side : side - 1, -1);
    if (rank == 3) {
        tw_auto tw_tensor *chance = draw(0, 1, seed, stateless, NULL), *half = tw_tensor_float(0.5f);
        tw_auto tw_tensor *which = TW_CALL(Less, chance, half);
        return TW_CALL(SelectV2, which, turned, image);
    }
    tw_auto tw_tensor *shape = TW_CALL(Shape, image), *from = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ 0 });
    tw_auto tw_tensor *one = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ 1 });
    tw_auto tw_tensor *batch = TW_CALL(Slice, shape, from, one);
    tw_auto tw_tensor *chance = batch ? draw(0, 1, seed, stateless, batch) : NULL;
    tw_auto tw_tensor *wide = tw_tensor_new(TW_INT32, TW_SHAPE(4), (int32_t[]){ -1, 1, 1, 1 });
    tw_auto tw_tensor *spread = TW_CALL(Reshape, chance, wide), *round = TW_CALL(Round, spread);
    tw_auto tw_tensor *flips = round ? tw_cast(round, image->dtype) : NULL, *whole = tw__image_float(1, image->dtype);
    if (!flips || !whole || !turned)
        return NULL;
    return TW_CALL(AddV2, TW_TEMP(Mul, flips, turned), TW_TEMP(Mul, TW_TEMP(Sub, whole, flips), image));
}

static tw_tensor *crop(tw_tensor *value, tw_tensor *size, int64_t seed, tw_tensor *stateless)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *shape = TW_CALL(Shape, value), *one = tw__image_number(1), *rank = TW_CALL(Shape, size);
    if (shape && shape->data && size->data && shape->count == size->count) {
        for (int64_t i = 0; i < size->count; i++) {
            if (tw_tensor_int_at(size, i) > tw_tensor_int_at(shape, i)) {
                tw__fail(TW_INVALID_ARGUMENT, "Need value.shape >= size, got %s and dimension %lld of the size %lld",
                         tw__shape_text(&value->shape), (long long)i, (long long)tw_tensor_int_at(size, i));
                return NULL;
            }
        }
    }
    tw_auto tw_tensor *limit = TW_CALL(AddV2, TW_TEMP(Sub, shape, size), one);
    tw_auto tw_tensor *least = tw_tensor_int(0), *most = tw_tensor_int(INT32_MAX);
    if (!limit || !rank || !least || !most)
        return NULL;
    tw_auto tw_tensor *drawn = stateless ? tw_random_stateless_uniform(rank, stateless, .maxval = most, .dtype = TW_INT32)
                                         : tw_random_uniform(rank, .maxval = most, .dtype = TW_INT32, .seed = seed);
    tw_auto tw_tensor *offset = TW_CALL(FloorMod, drawn, limit);
    return TW_CALL(Slice, value, offset, size);
}

static tw_tensor *jpeg_quality(tw_tensor *image, int64_t low, int64_t high, int64_t seed, tw_tensor *stateless)
{
    if (low < 0 || high < 0 || low > 100 || high > 100 || low >= high) {
        tw__fail(TW_VALUE_ERROR, low >= high && low >= 0 && high >= 0 ? "`min_jpeg_quality` must be less than `max_jpeg_quality`."
                                                                      : "jpeg encoding range must be between 0 and 100.");
        return NULL;
    }
    tw_auto tw_tensor *none = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL), *minimum = tw__image_number(low),
                      *maximum = tw__image_number(high);
    if (!none || !minimum || !maximum)
        return NULL;
    tw_auto tw_tensor *quality = stateless ? tw_random_stateless_uniform(none, stateless, minimum, maximum, TW_INT32)
                                           : tw_random_uniform(none, minimum, maximum, TW_INT32, seed);
    return quality ? tw__image_adjust_jpeg_quality(image, quality) : NULL;
}

TW_API(image_random_brightness, "image.random_brightness(image: tensor, max_delta: float, seed: int = None) -> tensor",
       "Images made brighter or darker by an amount from [-max_delta, max_delta).")
{
    return brightness(args->image, args->max_delta, args->seed, NULL);
}

TW_API(image_stateless_random_brightness,
       "image.stateless_random_brightness(image: tensor, max_delta: float, seed: tensor<int32>) -> tensor",
       "random_brightness as a function of a seed, two integers.")
{
    return brightness(args->image, args->max_delta, TW_NO_INT, args->seed);
}

TW_API(image_random_contrast, "image.random_contrast(image: tensor, lower: float, upper: float, seed: int = None) -> tensor",
       "adjust_contrast with a factor from [lower, upper).")
{
    return ordered(args->lower, args->upper)
               ? adjust(&tw__op_AdjustContrastv2, args->image, args->lower, args->upper, args->seed, NULL)
               : NULL;
}

TW_API(image_stateless_random_contrast,
       "image.stateless_random_contrast(image: tensor, lower: float, upper: float, seed: tensor<int32>) -> tensor",
       "random_contrast as a function of a seed, two integers.")
{
    return ordered(args->lower, args->upper)
               ? adjust(&tw__op_AdjustContrastv2, args->image, args->lower, args->upper, TW_NO_INT, args->seed)
               : NULL;
}

TW_API(image_random_saturation, "image.random_saturation(image: tensor, lower: float, upper: float, seed: int = None) -> tensor",
       "adjust_saturation with a factor from [lower, upper).")
{
    return ordered(args->lower, args->upper)
               ? adjust(&tw__op_AdjustSaturation, args->image, args->lower, args->upper, args->seed, NULL)
               : NULL;
}

TW_API(image_stateless_random_saturation,
       "image.stateless_random_saturation(image: tensor, lower: float, upper: float, seed: tensor<int32>) -> tensor",
       "random_saturation as a function of a seed, two integers.")
{
    return ordered(args->lower, args->upper)
               ? adjust(&tw__op_AdjustSaturation, args->image, args->lower, args->upper, TW_NO_INT, args->seed)
               : NULL;
}

TW_API(image_random_hue, "image.random_hue(image: tensor, max_delta: float, seed: int = None) -> tensor",
       "adjust_hue by an amount from [-max_delta, max_delta).")
{
    return hue(args->image, args->max_delta, args->seed, NULL);
}

TW_API(image_stateless_random_hue, "image.stateless_random_hue(image: tensor, max_delta: float, seed: tensor<int32>) -> tensor",
       "random_hue as a function of a seed, two integers.")
{
    return hue(args->image, args->max_delta, TW_NO_INT, args->seed);
}

TW_API(image_random_flip_left_right, "image.random_flip_left_right(image: tensor, seed: int = None) -> tensor",
       "flip_left_right with probability one half, each image of a batch on its own.")
{
    return flip(args->image, 2, args->seed, NULL);
}

TW_API(image_random_flip_up_down, "image.random_flip_up_down(image: tensor, seed: int = None) -> tensor",
       "flip_up_down with probability one half, each image of a batch on its own.")
{
    return flip(args->image, 1, args->seed, NULL);
}

TW_API(image_stateless_random_flip_left_right,
       "image.stateless_random_flip_left_right(image: tensor, seed: tensor<int32>) -> tensor",
       "random_flip_left_right as a function of a seed, two integers.")
{
    return flip(args->image, 2, TW_NO_INT, args->seed);
}

TW_API(image_stateless_random_flip_up_down, "image.stateless_random_flip_up_down(image: tensor, seed: tensor<int32>) -> tensor",
       "random_flip_up_down as a function of a seed, two integers.")
{
    return flip(args->image, 1, TW_NO_INT, args->seed);
}

TW_API(
    image_random_crop,
    "image.random_crop|compat.v1.random_crop(value: tensor, size: tensor<int32>, seed: int = None, name: str = None) -> tensor",
    "A part of that size at a place by chance.\n"
    "value: a tensor of any rank\n"
    "size: the lengths of the part along each dimension")
{
    return crop(args->value, args->size, args->seed, NULL);
}

TW_API(image_stateless_random_crop,
       "image.stateless_random_crop(value: tensor, size: tensor<int32>, seed: tensor<int32>, name: str = None) -> tensor",
       "random_crop as a function of a seed, two integers.\n"
       "value: a tensor of any rank\n"
       "size: the lengths of the part along each dimension")
{
    return crop(args->value, args->size, TW_NO_INT, args->seed);
}

TW_API(image_random_jpeg_quality,
       "image.random_jpeg_quality(image: tensor, min_jpeg_quality: int, max_jpeg_quality: int, seed: int = None) -> tensor",
       "adjust_jpeg_quality with a quality from [min_jpeg_quality, max_jpeg_quality).\n"
       "min_jpeg_quality: the least quality, from 0 on\n"
       "max_jpeg_quality: the bound above all qualities, at most 100")
{
    return jpeg_quality(args->image, args->min_jpeg_quality, args->max_jpeg_quality, args->seed, NULL);
}

TW_API(
    image_stateless_random_jpeg_quality,
    "image.stateless_random_jpeg_quality(image: tensor, min_jpeg_quality: int, max_jpeg_quality: int, seed: tensor<int32>) -> tensor",
    "random_jpeg_quality as a function of a seed, two integers.\n"
    "min_jpeg_quality: the least quality, from 0 on\n"
    "max_jpeg_quality: the bound above all qualities, at most 100")
{
    return jpeg_quality(args->image, args->min_jpeg_quality, args->max_jpeg_quality, TW_NO_INT, args->seed);
}
