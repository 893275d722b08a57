/* tf.image: how alike images are (psnr, ssim), and what changes in them (gradients, edges, total variation). */
#include <math.h>

#include "api/image/image.h"
#include "op/calls.h"
#include "rows.h"

/* ---- signal to noise ---- */

/* Images as floats, and the largest value that they may have as their dtype's images have it. */
static bool as_floats(tw__temps *t, tw_tensor *a, tw_tensor *b, tw_tensor *largest, tw_tensor **floats)
{
    tw_tensor *most = tw__temp_cast(t, largest, a->dtype);
    floats[0] = tw__temp(t, tw__image_convert(a, TW_FLOAT32, false));
    floats[1] = tw__temp(t, tw__image_convert(b, TW_FLOAT32, false));
    floats[2] = most ? tw__temp(t, tw__image_convert(most, TW_FLOAT32, false)) : NULL;
    return floats[0] && floats[1] && floats[2];
}

static tw_tensor *mean_over(tw__temps *t, tw_tensor *x, const int64_t *axes, int count)
{
    return TW_TEMP(Mean, x, tw__temp_ints(t, axes, count, TW_INT32));
}

TW_API(image_psnr, "image.psnr(a: tensor, b: tensor, max_val: tensor, name: str = None) -> tensor",
       "The peak signal-to-noise ratio of images, in decibels; max_val: the range of their values.\n"
       "a: images [..., height, width, channels]\n"
       "b: images that are compared with them\n"
       "returns: a number for each image")
{
    TW_TEMPS(t);
    tw_tensor *x[3];
    if (!as_floats(t, args->a, args->b, args->max_val, x))
        return NULL;
    tw_tensor *error = mean_over(t, TW_TEMP(SquaredDifference, x[0], x[1]), (int64_t[]){ -3, -2, -1 }, 3);
    tw_tensor *peak = TW_TEMP(Mul, TW_TEMP(Log, x[2]), 20 / M_LN10);
    return TW_CALL(Sub, peak, TW_TEMP(Mul, TW_TEMP(Log, error), 10 / M_LN10));
}

/* ---- structural similarity ---- */

typedef struct likeness {
    int64_t size;
    double sigma, k1, k2;
} likeness;

/* x [..., height, width, channels] as a batch of images. */
static tw_tensor *flat_images(tw__temps *t, tw_tensor *x, tw_tensor **outer)
{
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT32), *all = tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32);
    tw_tensor *last = tw__temp_slice(t, shape, -3, TW_NO_INT);
    *outer = tw__temp_slice(t, shape, TW_NO_INT, -3);
    return last && all ? TW_TEMP(Reshape, x, tw__temp_concat(t, TW_IN(all, last), 2, 0)) : NULL;
}

/* The images again below the dimensions that they had. */
static tw_tensor *unflat(tw__temps *t, tw_tensor *x, tw_tensor *outer)
{
    tw_tensor *last = x ? tw__temp_slice(t, tw__temp_shape(t, x, TW_INT32), 1, TW_NO_INT) : NULL;
    return last && outer ? TW_TEMP(Reshape, x, tw__temp_concat(t, TW_IN(outer, last), 2, 0)) : NULL;
}

/* Averages with the weights of a bell, for each channel. */
static tw_tensor *blurred(tw__temps *t, tw_tensor *x, tw_tensor *bell)
{
    static const int64_t ones[] = { 1, 1, 1, 1 };
    tw_tensor *outer, *flat = x ? flat_images(t, x, &outer) : NULL;
    return flat ? unflat(t,
                         TW_TEMP(DepthwiseConv2dNative, flat, bell, TW_A_INTS("strides", ones, 4),
                                 TW_A_STRING("padding", "VALID")),
                         outer)
                : NULL;
}

/* [size, size, channels, 1] */
static tw_tensor *bell_of(tw__temps *t, const likeness *l, tw_tensor *images)
{
    tw__owned double *values = tw__alloc_array((size_t)(l->size * l->size), sizeof *values);
    if (!values)
        return NULL;
    double sum = 0, middle = (double)(l->size - 1) / 2;
    for (int64_t i = 0; i < l->size * l->size; i++) {
        double y = (double)(i / l->size) - middle, x = (double)(i % l->size) - middle;
        sum += values[i] = exp(-0.5 * (y * y + x * x) / (l->sigma * l->sigma));
    }
    tw_auto tw_tensor *wide = tw__tensor_empty(TW_FLOAT32, &TW_SHAPE(l->size, l->size, 1, 1));
    if (!wide)
        return NULL;
    for (int64_t i = 0; i < wide->count; i++)
        ((float *)wide->data)[i] = (float)(values[i] / sum);
    tw_tensor *channels = tw__temp_slice(t, tw__temp_shape(t, images, TW_INT32), -1, TW_NO_INT),
              *one = tw__temp_ints(t, (int64_t[]){ 1, 1 }, 2, TW_INT32);
    tw_tensor *last = tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32);
    return channels && one && last ? TW_TEMP(Tile, wide, tw__temp_concat(t, TW_IN(one, channels, last), 3, 0)) : NULL;
}

static bool large_enough(const tw_tensor *x, int64_t size)
{
    if (x->shape.rank >= 0 && x->shape.rank < 3) {
        tw__fail(TW_VALUE_ERROR, "Shape %s must have rank at least 3", tw__shape_text(&x->shape));
        return false;
    }
    for (int i = 0; x->shape.rank > 0 && i < 2; i++) {
        int64_t side = x->shape.dims[x->shape.rank - 3 + i];
        if (side >= 0 && side < size) {
            tw__fail(TW_INVALID_ARGUMENT, "images of shape %s are smaller than the filter of %lld x %lld",
                     tw__shape_text(&x->shape), (long long)size, (long long)size);
            return false;
        }
    }
    return true;
}

/* Of each place: how alike brightness and contrast are. */
static bool compare(tw__temps *t, tw_tensor *x, tw_tensor *y, tw_tensor *largest, const likeness *l, tw_tensor **light,
                    tw_tensor **contrast)
{
    if (l->size < 1 || l->size > 1 << 12) {
        tw__fail(TW_VALUE_ERROR, "filter_size must be between 1 and 4096, got %lld", (long long)l->size);
        return false;
    }
    if (!large_enough(x, l->size) || !large_enough(y, l->size))
        return false;
    tw_tensor *bell = bell_of(t, l, x), *bell_y = bell_of(t, l, y);
    tw_tensor *c1 = TW_TEMP(Square, TW_TEMP(Mul, largest, l->k1)), *c2 = TW_TEMP(Square, TW_TEMP(Mul, largest, l->k2));
    tw_tensor *mean_x = blurred(t, x, bell), *mean_y = blurred(t, y, bell_y);
    tw_tensor *product = TW_TEMP(Mul, TW_TEMP(Mul, mean_x, mean_y), 2.0),
              *squares = TW_TEMP(AddV2, TW_TEMP(Square, mean_x), TW_TEMP(Square, mean_y));
    *light = TW_TEMP(RealDiv, TW_TEMP(AddV2, product, c1), TW_TEMP(AddV2, squares, c1));
    tw_tensor *both = TW_TEMP(Mul, blurred(t, TW_TEMP(Mul, x, y), bell), 2.0);
    tw_tensor *each = blurred(t, TW_TEMP(AddV2, TW_TEMP(Square, x), TW_TEMP(Square, y)), bell);
    *contrast =
        TW_TEMP(RealDiv, TW_TEMP(AddV2, TW_TEMP(Sub, both, product), c2), TW_TEMP(AddV2, TW_TEMP(Sub, each, squares), c2));
    return *light && *contrast;
}

static const int64_t SIDES[] = { -3, -2 };

TW_API(
    image_ssim,
    "image.ssim(img1: tensor, img2: tensor, max_val: tensor, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, "
    "k2: float = 0.03, return_index_map: bool = False) -> tensor",
    "The structural similarity of images; max_val: the range of their values.\n"
    "img1: images [..., height, width, channels]\n"
    "img2: images that are compared with them\n"
    "filter_sigma: the width of the window's bell curve\n"
    "return_index_map: True: give a number for each place instead of one for each image\n"
    "returns: a number for each image, 1 where both are equal")
{
    TW_TEMPS(t);
    tw_tensor *x[3], *light, *contrast;
    likeness l = { args->filter_size, args->filter_sigma, args->k1, args->k2 };
    if (!as_floats(t, args->img1, args->img2, args->max_val, x) || !compare(t, x[0], x[1], x[2], &l, &light, &contrast))
        return NULL;
    tw_tensor *whole = TW_TEMP(Mul, light, contrast);
    whole = args->return_index_map ? whole : mean_over(t, whole, SIDES, 2);
    return tw__keep(t, mean_over(t, whole, (int64_t[]){ -1 }, 1));
}

/* Half as high and wide; what is odd has its last row or column twice. */
static tw_tensor *halved(tw__temps *t, tw_tensor *x)
{
    static const int64_t two[] = { 1, 2, 2, 1 };
    tw_tensor *outer, *flat = flat_images(t, x, &outer), *shape = flat ? tw__temp_shape(t, flat, TW_INT32) : NULL;
    tw_tensor *odd = TW_TEMP(FloorMod, shape, tw__temp_int(t, 2, TW_INT32));
    tw_tensor *rows = TW_TEMP(Mul, odd, tw__temp_ints(t, (int64_t[]){ 0, 1, 1, 0 }, 4, TW_INT32)),
              *none = TW_TEMP(ZerosLike, rows);
    tw_tensor *pads = none ? tw__temp(t, tw__call(&tw__op_Pack, TW_IN(none, rows), 2, TW_WITH(TW_A_INT("axis", 1)), 1)) : NULL;
    tw_tensor *even = TW_TEMP(MirrorPad, flat, pads, TW_A_STRING("mode", "SYMMETRIC"));
    return unflat(t,
                  TW_TEMP(AvgPool, even, TW_A_INTS("ksize", two, 4), TW_A_INTS("strides", two, 4),
                          TW_A_STRING("padding", "VALID")),
                  outer);
}

enum { MOST_SCALES = 16 };

static int scales_of(const tw_value *value, double *powers)
{
    static const double usual[] = { 0.0448, 0.2856, 0.3001, 0.2363, 0.1333 };
    if (value->kind == TW_VALUE_NONE) {
        memcpy(powers, usual, sizeof usual);
        return 5;
    }
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE,
         good = list && value->list.count > 0 && value->list.count <= MOST_SCALES;
    for (int64_t i = 0; good && i < value->list.count; i++)
        good = tw__value_plain_number(&value->list.items[i], &powers[i]);
    if (!good)
        tw__fail(TW_VALUE_ERROR, "ssim_multiscale: power_factors must be a list of 1 to %d numbers", MOST_SCALES);
    return good ? (int)value->list.count : 0;
}

TW_API(
    image_ssim_multiscale,
    "image.ssim_multiscale(img1: tensor, img2: tensor, max_val: tensor, power_factors: value = None shown (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: int = 11, "
    "filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> tensor",
    "The structural similarity of images and of images half as large, and so on, each to a power.\n"
    "img1: images [..., height, width, channels]\n"
    "img2: images that are compared with them\n"
    "power_factors: the exponent of each scale, the full size first; None: the five that are usual\n"
    "filter_sigma: the width of the window's bell curve\n"
    "returns: a number for each image, 1 where both are equal")
{
    TW_TEMPS(t);
    double powers[MOST_SCALES];
    tw_tensor *x[3], *light, *contrast, *product = NULL;
    likeness l = { args->filter_size, args->filter_sigma, args->k1, args->k2 };
    int count = scales_of(&args->power_factors, powers);
    if (!count || !as_floats(t, args->img1, args->img2, args->max_val, x))
        return NULL;
    for (int i = 0; i < count; i++) {
        if (i) {
            x[0] = halved(t, x[0]);
            x[1] = halved(t, x[1]);
        }
        if (!x[0] || !x[1] || !compare(t, x[0], x[1], x[2], &l, &light, &contrast))
            return NULL;
        tw_tensor *value = i == count - 1 ? TW_TEMP(Mul, light, contrast) : contrast;
        tw_tensor *power = TW_TEMP(Pow, TW_TEMP(Relu, mean_over(t, value, SIDES, 2)), powers[i]);
        product = product ? TW_TEMP(Mul, product, power) : power;
    }
    return tw__keep(t, mean_over(t, product, (int64_t[]){ -1 }, 1));
}

/* ---- changes ---- */

/* x[begin:end] along one of its axes, by ends from its two sides. */
static tw_tensor *part_of(tw__temps *t, tw_tensor *x, int axis, int64_t begin, int64_t end)
{
    int64_t first[4] = { 0 }, last[4] = { 0 }, steps[4] = { 1, 1, 1, 1 }, all = (1 << 4) - 1;
    first[axis] = begin;
    last[axis] = end;
    int64_t open = end ? all & ~(1 << axis) : all;
    return TW_TEMP(StridedSlice, x, tw__temp_ints(t, first, axis + 1, TW_INT32), tw__temp_ints(t, last, axis + 1, TW_INT32),
                   tw__temp_ints(t, steps, axis + 1, TW_INT32),
                   TW_A_INT("begin_mask", all & ~(1 << axis) & ((1 << (axis + 1)) - 1)),
                   TW_A_INT("end_mask", open & ((1 << (axis + 1)) - 1)));
}

/* How much each element differs from the one before it along an axis. */
static tw_tensor *steps_along(tw__temps *t, tw_tensor *x, int axis)
{
    return TW_TEMP(Sub, part_of(t, x, axis, 1, 0), part_of(t, x, axis, 0, -1));
}

TW_API(image_image_gradients, "image.image_gradients(image: tensor) -> value",
       "(dy, dx): how much images change from pixel to pixel, zero in the last row or column.")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    if (args->image->shape.rank != 4) {
        tw__fail(TW_VALUE_ERROR, "image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.",
                 tw__shape_text(&args->image->shape));
        return none;
    }
    tw_value *pair = tw__alloc_array(2, sizeof *pair);
    for (int i = 0; pair && i < 2; i++) {
        int64_t pads[8] = { 0 };
        pads[2 * (i + 1) + 1] = 1;
        tw_tensor *flat = tw__temp_ints(t, pads, 8, TW_INT32),
                  *paddings = flat ? tw__temp_reshape(t, flat, (int64_t[]){ 4, 2 }, 2) : NULL;
        tw_tensor *made = TW_CALL(Pad, steps_along(t, args->image, i + 1), paddings);
        if (!made) {
            if (i)
                tw_release(pair[0].tensor);
            tw__free(pair);
            return none;
        }
        pair[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = made };
    }
    return pair ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2, NULL } } : none;
}

TW_API(image_sobel_edges, "image.sobel_edges(image: tensor) -> tensor",
       "The edges of images by Sobel's filters: [..., (dy, dx)].")
{
    static const float filters[18] = { -1, -1, -2, 0, -1, 1, 0, -2, 0, 0, 0, 2, 1, -1, 2, 0, 1, 1 };
    static const int64_t ones[] = { 1, 1, 1, 1 };
    TW_TEMPS(t);
    tw_tensor *image = args->image;
    if (image->shape.rank != 4) {
        tw__fail(TW_VALUE_ERROR, "sobel_edges expects images [batch_size, h, w, d], not %s", tw__shape_text(&image->shape));
        return NULL;
    }
    tw_tensor *both = tw__temp(t, tw_tensor_new(TW_FLOAT32, TW_SHAPE(3, 3, 1, 2), filters)),
              *shape = tw__temp_shape(t, image, TW_INT32);
    tw_tensor *two = tw__temp_ints(t, (int64_t[]){ 1, 1 }, 2, TW_INT32), *one = tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32);
    tw_tensor *depth = tw__temp_slice(t, shape, -1, TW_NO_INT), *pair = tw__temp_ints(t, (int64_t[]){ 2 }, 1, TW_INT32);
    if (!both || !two || !one || !depth || !pair)
        return NULL;
    tw_tensor *kernels = TW_TEMP(Tile, tw__temp_cast(t, both, image->dtype), tw__temp_concat(t, TW_IN(two, depth, one), 3, 0));
    tw_tensor *flat = tw__temp_ints(t, (int64_t[]){ 0, 0, 1, 1, 1, 1, 0, 0 }, 8, TW_INT32);
    tw_tensor *padded = TW_TEMP(MirrorPad, image, flat ? tw__temp_reshape(t, flat, (int64_t[]){ 4, 2 }, 2) : NULL,
                                TW_A_STRING("mode", "REFLECT"));
    tw_tensor *made =
        TW_TEMP(DepthwiseConv2dNative, padded, kernels, TW_A_INTS("strides", ones, 4), TW_A_STRING("padding", "VALID"));
    return TW_CALL(Reshape, made, tw__temp_concat(t, TW_IN(shape, pair), 2, 0));
}

TW_API(image_total_variation, "image.total_variation(images: tensor, name: str = None) -> tensor",
       "The sum of the differences of neighbours in images.")
{
    TW_TEMPS(t);
    int rank = args->images->shape.rank;
    if (rank != 3 && rank != 4) {
        tw__fail(TW_VALUE_ERROR, "'images' must be either 3 or 4-dimensional.");
        return NULL;
    }
    tw_tensor *axes =
        rank == 3 ? tw__temp_ints(t, (int64_t[]){ 0, 1, 2 }, 3, TW_INT32) : tw__temp_ints(t, (int64_t[]){ 1, 2, 3 }, 3, TW_INT32);
    tw_tensor *rows = TW_TEMP(Sum, TW_TEMP(Abs, steps_along(t, args->images, rank - 3)), axes);
    return TW_CALL(AddV2, rows, TW_TEMP(Sum, TW_TEMP(Abs, steps_along(t, args->images, rank - 2)), axes));
}
