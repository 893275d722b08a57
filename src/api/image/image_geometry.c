/* tf.image: other sizes, parts, turns. Sides that are not known while a function is traced are computed by ops. */
#include <math.h>

#include "api/debugging/debugging.h"
#include "api/image/image.h"
#include "api/later.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

/* ---- resizing ---- */

/* The size that fits into `size` with the images' own ratio of sides. */
static tw_tensor *fit(tw_tensor *images, tw_tensor *size)
{
    tw_auto tw_tensor *own = tw__image_pack(2, TW_IN(tw__image_side(images, 1), tw__image_side(images, 2)));
    tw_auto tw_tensor *sides = own ? tw_cast(own, TW_FLOAT32) : NULL, *wanted = tw_cast(size, TW_FLOAT32);
    tw_auto tw_tensor *ratios = TW_CALL(RealDiv, wanted, sides);
    tw_auto tw_tensor *axis = tw__image_number(0), *factor = TW_CALL(Min, ratios, axis);
    tw_auto tw_tensor *scaled = TW_CALL(Mul, sides, factor), *rounded = TW_CALL(Round, scaled);
    return rounded ? tw_cast(rounded, TW_INT32) : NULL;
}

static tw_tensor *scale_and_translate(tw_tensor *images, tw_tensor *size, const char *kernel, bool antialias)
{
    tw_auto tw_tensor *own = tw__image_pack(2, TW_IN(tw__image_side(images, 1), tw__image_side(images, 2)));
    tw_auto tw_tensor *sides = own ? tw_cast(own, TW_FLOAT32) : NULL, *wanted = tw_cast(size, TW_FLOAT32);
    tw_auto tw_tensor *scale = TW_CALL(RealDiv, wanted, sides);
    tw_auto tw_tensor *nothing = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL);
    if (!scale || !nothing)
        return NULL;
    return TW_CALL(ScaleAndTranslate, images, size, scale, nothing, TW_A_STRING("kernel_type", kernel),
                   TW_A_BOOL("antialias", antialias));
}

static tw_tensor *resize_batch(tw_tensor *images, tw_tensor *size, const char *method, bool antialias)
{
    static const struct {
        const char *name, *kernel;
        const tw_op *op; /* NULL: by the kernel only */
        bool whole;      /* it has no centers of pixels */
    } methods[] = { { "bilinear", "triangle", &tw__op_ResizeBilinear, false },
                    { "nearest", NULL, &tw__op_ResizeNearestNeighbor, false },
                    { "bicubic", "keyscubic", &tw__op_ResizeBicubic, false },
                    { "area", NULL, &tw__op_ResizeArea, true },
                    { "lanczos3", "lanczos3", NULL, false },
                    { "lanczos5", "lanczos5", NULL, false },
                    { "gaussian", "gaussian", NULL, false },
                    { "mitchellcubic", "mitchellcubic", NULL, false } };
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, method) != 0)
            continue;
        if (!methods[i].op || (antialias && methods[i].kernel))
            return scale_and_translate(images, size, methods[i].kernel, antialias);
        if (methods[i].whole)
            return tw__call(methods[i].op, TW_IN(images, size), 2, NULL, 0);
        return tw__call(methods[i].op, TW_IN(images, size), 2, TW_WITH(TW_A_BOOL("half_pixel_centers", true)), 1);
    }
    tw__fail(TW_VALUE_ERROR, "Resize method is not implemented: %s", method);
    return NULL;
}

tw_tensor *tw__image_resize(tw_tensor *images, tw_tensor *size, const char *method, bool keep_ratio, bool antialias)
{
    bool single;
    if (size->shape.rank >= 0 && (size->shape.rank != 1 || (size->shape.dims[0] >= 0 && size->shape.dims[0] != 2))) {
        tw__fail(TW_VALUE_ERROR, "'size' must be a 1-D Tensor of 2 elements: new_height, new_width");
        return NULL;
    }
    tw_auto tw_tensor *batch = tw__image_batch("images", images, &single);
    tw_auto tw_tensor *fitted = batch && keep_ratio ? fit(batch, size) : tw_retain(size);
    return batch && fitted ? tw__image_unbatch(resize_batch(batch, fitted, method, antialias), single) : NULL;
}

TW_API(
    image_resize,
    "image.resize(images: tensor, size: tensor<int32>, method: str = bilinear, preserve_aspect_ratio: bool = False, antialias: bool = False, "
    "name: str = None) -> tensor",
    "Images of another height and width: bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic.")
{
    return tw__image_resize(args->images, args->size, args->method, args->preserve_aspect_ratio, args->antialias);
}

/* ---- parts ---- */

tw_tensor *tw__image_crop(tw_tensor *image, tw_tensor *top, tw_tensor *left, tw_tensor *height, tw_tensor *width)
{
    bool batch = image->shape.rank == 4;
    tw_auto tw_tensor *begin = batch ? tw__image_pack(4, TW_IN(tw__image_number(0), top, left, tw__image_number(0)))
                                     : tw__image_pack(3, TW_IN(top, left, tw__image_number(0)));
    tw_auto tw_tensor *size = batch ? tw__image_pack(4, TW_IN(tw__image_number(-1), height, width, tw__image_number(-1)))
                                    : tw__image_pack(3, TW_IN(height, width, tw__image_number(-1)));
    return TW_CALL(Slice, image, begin, size);
}

/* Zeros all around, so that the image lies at (top, left) of one of that height and width. */
tw_tensor *tw__image_pad(tw_tensor *image, tw_tensor *top, tw_tensor *left, tw_tensor *height, tw_tensor *width)
{
    TW_TEMPS(t);
    tw_tensor *below = TW_CALL(Sub, TW_TEMP(Sub, tw__temp(t, height), top ? top : NULL), tw__temp(t, tw__image_side(image, 1)));
    tw_tensor *beside = TW_CALL(Sub, TW_TEMP(Sub, tw__temp(t, width), left ? left : NULL), tw__temp(t, tw__image_side(image, 2)));
    tw_tensor *none[] = { tw__image_number(0), tw__image_number(0), tw__image_number(0), tw__image_number(0) };
    bool batch = image->shape.rank == 4;
    tw_auto tw_tensor *flat = batch ? tw__image_pack(8, TW_IN(none[0], none[1], top, below, left, beside, none[2], none[3]))
                                    : tw__image_pack(6, TW_IN(top, below, left, beside, none[0], none[1]));
    if (!batch) {
        tw_release(none[2]);
        tw_release(none[3]);
    }
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ batch ? 4 : 3, 2 });
    tw_auto tw_tensor *paddings = TW_CALL(Reshape, flat, shape);
    return TW_CALL(Pad, image, paddings);
}

static bool has_sides(tw_tensor *image)
{
    int rank = image->shape.rank;
    bool sides = rank == 3 || rank == 4, empty = false;
    for (int i = rank - 3; sides && i < rank; i++)
        empty |= image->shape.dims[i] == 0;
    if (sides && !empty)
        return true;
    tw__owned char *shape = tw__shape_tuple(&image->shape);
    if (empty)
        return tw__fail(TW_VALUE_ERROR, "inner 3 dims of 'image.shape' must be > 0: %s", shape ? shape : "") == TW_OK;
    if (shape)
        tw__fail(TW_VALUE_ERROR,
                 image->shape.rank >= 0 && image->shape.rank < 3 ? "'image' (shape %s) must be at least three-dimensional."
                                                                 : "'image' (shape %s) must have either 3 or 4 dimensions.",
                 shape);
    return false;
}

/* The image, new; one of unknown rank is a single picture, as TensorFlow takes it. NULL: it has no sides. */
static tw_tensor *with_sides(tw_tensor *image)
{
    if (image->shape.rank >= 0)
        return has_sides(image) ? tw_retain(image) : NULL;
    return TW_CALL(EnsureShape, image, TW_A_SHAPE("shape", &TW_SHAPE(-1, -1, -1)));
}

/* A side that is known, -1: not. */
static int64_t side_of(const tw_tensor *image, int side)
{
    return image->shape.dims[image->shape.rank == 4 ? side : side - 1];
}

/* What is known of images of another size (-1: not known): how many there are, and their channels. Takes `made`. */
static tw_tensor *told(tw_tensor *made, const tw_tensor *image, int64_t height, int64_t width)
{
    tw_shape shape = image->shape;
    if (!made || !made->node || shape.rank < 3)
        return made;
    shape.dims[shape.rank - 3] = height;
    shape.dims[shape.rank - 2] = width;
    if (tw__symbolic_refine(made, &shape) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

/* ---- boxes ---- */

/* An integer that is known, or that of a tensor; wide: as int64. */
typedef struct number {
    bool known;
    int64_t value; /* -1: not known */
    tw_tensor *wide;
} number;

static number known_number(tw__temps *t, int64_t value)
{
    return (number){ true, value, tw__temp_int(t, value, TW_INT64) };
}

static tw_status number_of(tw__temps *t, const tw_value *given, const char *name, number *out)
{
    tw_tensor *tensor = given->kind == TW_VALUE_TENSOR ? given->tensor : NULL;
    bool integer = tensor && (tensor->dtype == TW_INT32 || tensor->dtype == TW_INT64);
    if (given->kind != TW_VALUE_INT && (!integer || tensor->shape.rank > 0))
        return tw__fail(tensor ? TW_INVALID_ARGUMENT : TW_TYPE_ERROR, "%s must be an integer, or a scalar of int32 or int64",
                        name);
    *out = tensor ? (number){ false, -1, tw__temp_cast(t, tensor, TW_INT64) } : known_number(t, given->i);
    return out->wide ? TW_OK : tw__error_status();
}

/* most >= a + b, at once or by an Assert. */
static tw_status need(tw__temps *t, const number *most, const number *a, const number *b, const char *words)
{
    if (most->known && a->known && b->known)
        return most->value >= a->value + b->value ? TW_OK : tw__fail(TW_VALUE_ERROR, "%s", words);
    tw__check_data data = { 0 };
    tw__check_add_words(&data, words);
    tw__auto(tw_value_free) tw_value operation =
        tw__check_assert_all(TW_CALL(GreaterEqual, most->wide, TW_TEMP(AddV2, a->wide, b->wide)), &data, TW_NO_INT);
    return tw_error_code();
}

/* The int32 of it, new; more than that holds is the most that it holds. */
static tw_tensor *narrow(tw__temps *t, const number *n)
{
    return tw_cast(TW_TEMP(Minimum, n->wide, tw__temp_int(t, INT32_MAX, TW_INT64)), TW_INT32);
}

enum { TOP, LEFT, HEIGHT, WIDTH };

static tw_status check_box(tw__temps *t, tw_tensor *image, bool pads, const number *box)
{
    number zero = known_number(t, 0), one = known_number(t, 1), sides[2];
    bool known = box[TOP].known && box[LEFT].known && box[HEIGHT].known && box[WIDTH].known;
    for (int i = 0; i < 2; i++) {
        int64_t side = side_of(image, i + 1);
        sides[i] = side >= 0 ? known_number(t, side)
                             : (number){ false, -1,
                                         known ? NULL : tw__temp_cast(t, tw__temp(t, tw__image_side(image, i + 1)), TW_INT64) };
    }
    TW_TRY(need(t, &box[pads ? TOP : LEFT], &zero, &zero, pads ? "offset_height must be >= 0" : "offset_width must be >= 0."));
    TW_TRY(need(t, &box[pads ? LEFT : TOP], &zero, &zero, pads ? "offset_width must be >= 0" : "offset_height must be >= 0."));
    if (!pads) {
        TW_TRY(need(t, &box[WIDTH], &zero, &one, "target_width must be > 0."));
        TW_TRY(need(t, &box[HEIGHT], &zero, &one, "target_height must be > 0."));
    }
    for (int i = 1; i >= 0; i--) { /* where it is not known, Slice and Pad look at numbers that are */
        const number *inner = pads ? &sides[i] : &box[HEIGHT + i], *outer = pads ? &box[HEIGHT + i] : &sides[i];
        static const char *const words[2][2] = { { "height must be >= target + offset.", "width must be >= target + offset." },
                                                 { "height must be <= target - offset", "width must be <= target - offset" } };
        if (sides[i].wide)
            TW_TRY(need(t, outer, inner, &box[i], words[pads][i]));
    }
    return TW_OK;
}

static tw_tensor *to_box(tw_tensor *given, bool pads, const tw_value *numbers)
{
    TW_TEMPS(t);
    static const char *const names[] = { "offset_height", "offset_width", "target_height", "target_width" };
    tw_tensor *image = tw__temp(t, with_sides(given)), *parts[4];
    number box[4];
    for (int i = 0; i < 4; i++) {
        if (!image || number_of(t, &numbers[i], names[i], &box[i]) != TW_OK)
            return NULL;
    }
    if (check_box(t, image, pads, box) != TW_OK)
        return NULL;
    for (int i = 0; i < 4; i++)
        parts[i] = box[i].known ? tw__image_number(box[i].value) : narrow(t, &box[i]);
    return told((pads ? tw__image_pad : tw__image_crop)(image, parts[TOP], parts[LEFT], parts[HEIGHT], parts[WIDTH]), image,
                box[HEIGHT].value, box[WIDTH].value);
}

TW_API(image_to_box,
       "image._to_bounding_box(image: tensor, pads: bool, offset_height: value, offset_width: value, target_height: value, "
       "target_width: value) -> tensor",
       "crop_to_bounding_box or pad_to_bounding_box with numbers that are integers or tensors.")
{
    const tw_value numbers[] = { args->offset_height, args->offset_width, args->target_height, args->target_width };
    return to_box(args->image, args->pads, numbers);
}

/* The four numbers of such a function, as values. */
#define BOX(args_)                                                                                                   \
    (const tw_value[])                                                                                               \
    {                                                                                                                \
        { .kind = TW_VALUE_INT, .i = (args_)->offset_height }, { .kind = TW_VALUE_INT, .i = (args_)->offset_width }, \
            { .kind = TW_VALUE_INT, .i = (args_)->target_height },                                                   \
        {                                                                                                            \
            .kind = TW_VALUE_INT, .i = (args_)->target_width                                                         \
        }                                                                                                            \
    }

TW_API(
    image_crop_to_bounding_box,
    "image.crop_to_bounding_box(image: tensor, offset_height: int, offset_width: int, target_height: int, target_width: int) -> tensor",
    "The part of images that begins at an offset and has a height and a width.\n"
    "offset_height: the first row of the part\n"
    "offset_width: its first column\n"
    "target_height: its rows\n"
    "target_width: its columns\n"
    "raises: ValueError: the part does not lie in the images")
{
    return to_box(args->image, false, BOX(args));
}

TW_API(
    image_pad_to_bounding_box,
    "image.pad_to_bounding_box(image: tensor, offset_height: int, offset_width: int, target_height: int, target_width: int) -> tensor",
    "Images with zeros around them, of a height and a width, in which they lie at an offset.\n"
    "offset_height: rows of zeros above the images\n"
    "offset_width: columns of zeros on their left\n"
    "target_height: rows of the result\n"
    "target_width: columns of the result\n"
    "raises: ValueError: the images do not fit there")
{
    return to_box(args->image, true, BOX(args));
}

/* max(floor(x / 2), 0). Takes. */
static tw_tensor *half_above_zero(tw_tensor *x)
{
    TW_TEMPS(t);
    return TW_CALL(Maximum, TW_TEMP(FloorDiv, tw__temp(t, x), tw__temp(t, tw__image_number(2))),
                   tw__temp(t, tw__image_number(0)));
}

static tw_tensor *crop_or_pad(tw_tensor *image, int64_t height, int64_t width)
{
    TW_TEMPS(t);
    tw_tensor *sides[2] = { tw__image_side(image, 1), tw__image_side(image, 2) }, *crop[2], *pad[2], *size[2];
    int64_t target[2] = { height, width };
    for (int i = 0; i < 2; i++) {
        crop[i] = half_above_zero(TW_CALL(Sub, sides[i], tw__temp(t, tw__image_number(target[i]))));
        pad[i] = half_above_zero(TW_CALL(Sub, tw__temp(t, tw__image_number(target[i])), sides[i]));
        size[i] = TW_CALL(Minimum, tw__temp(t, sides[i]), tw__temp(t, tw__image_number(target[i])));
    }
    tw_auto tw_tensor *cropped = tw__image_crop(image, crop[0], crop[1], size[0], size[1]);
    if (cropped)
        return tw__image_pad(cropped, pad[0], pad[1], tw__image_number(height), tw__image_number(width));
    tw_release(pad[0]);
    tw_release(pad[1]);
    return NULL;
}

static bool positive(int64_t height, int64_t width)
{
    if (height > 0 && width > 0)
        return true;
    tw__fail(TW_VALUE_ERROR, "%s must be > 0.", width <= 0 ? "target_width" : "target_height");
    return false;
}

TW_API(
    image_resize_with_crop_or_pad,
    "image.resize_with_crop_or_pad|compat.v1.image.resize_image_with_crop_or_pad(image: tensor, target_height: int, target_width: int) -> tensor",
    "The middle of images, or zeros around them, so that they get a height and a width.")
{
    tw_auto tw_tensor *image = with_sides(args->image);
    return image && positive(args->target_height, args->target_width)
               ? told(crop_or_pad(image, args->target_height, args->target_width), image, args->target_height, args->target_width)
               : NULL;
}

/* max(floor((target - side) / 2), 0) of a side that is not rounded yet. */
static tw_tensor *margin(tw_tensor *side, int64_t target)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *rest = TW_CALL(Sub, tw__temp(t, tw__image_float((double)target, TW_FLOAT64)), side);
    tw_auto tw_tensor *half = TW_CALL(RealDiv, rest ? rest : NULL, tw__temp(t, tw__image_float(2, TW_FLOAT64)));
    tw_auto tw_tensor *least = TW_CALL(Maximum, TW_TEMP(Floor, half), tw__temp(t, tw__image_float(0, TW_FLOAT64)));
    return least ? tw_cast(least, TW_INT32) : NULL;
}

TW_API(
    image_resize_with_pad,
    "image.resize_with_pad(image: tensor, target_height: int, target_width: int, method: str = bilinear, antialias: bool = False) -> tensor",
    "Images resized without a change of their ratio of sides, with zeros around them.")
{
    TW_TEMPS(t);
    tw_auto tw_tensor *image = with_sides(args->image);
    if (!image || !positive(args->target_height, args->target_width))
        return NULL;
    tw_auto tw_tensor *height = NULL, *width = NULL, *h = tw__image_side(image, 1), *w = tw__image_side(image, 2);
    if (!h || !w)
        return NULL;
    /* In double, as TensorFlow does it: sides divided by the larger of the two ratios, rounded down. */
    tw_auto tw_tensor *fh = tw_cast(h, TW_FLOAT64), *fw = tw_cast(w, TW_FLOAT64);
    tw_auto tw_tensor *ratio =
        TW_CALL(Maximum, TW_TEMP(RealDiv, fw, tw__temp(t, tw__image_float((double)args->target_width, TW_FLOAT64))),
                TW_TEMP(RealDiv, fh, tw__temp(t, tw__image_float((double)args->target_height, TW_FLOAT64))));
    if (!ratio)
        return NULL;
    tw_auto tw_tensor *rh = TW_CALL(RealDiv, fh, ratio), *rw = TW_CALL(RealDiv, fw, ratio);
    height = rh ? tw_cast(rh, TW_INT32) : NULL;
    width = rw ? tw_cast(rw, TW_INT32) : NULL;
    tw_auto tw_tensor *size = height && width ? tw__image_pack(2, TW_IN(tw_retain(height), tw_retain(width))) : NULL;
    tw_auto tw_tensor *resized = size ? tw__image_resize(image, size, args->method, false, args->antialias) : NULL;
    if (!resized)
        return NULL;
    tw_tensor *top = margin(rh, args->target_height);
    tw_tensor *left = margin(rw, args->target_width);
    tw_tensor *padded =
        tw__image_pad(resized, top, left, tw__image_number(args->target_height), tw__image_number(args->target_width));
    return told(padded, image, args->target_height, args->target_width);
}

/* Where the central part of a side begins. */
static tw_tensor *central_begin(tw_tensor *image, int side, double fraction)
{
    TW_TEMPS(t);
    int64_t known = side_of(image, side);
    if (known >= 0)
        return tw__image_number((int64_t)(((double)known - (double)known * fraction) / 2));
    tw_auto tw_tensor *length = tw__image_side(image, side), *real = length ? tw_cast(length, TW_FLOAT64) : NULL;
    tw_auto tw_tensor *part = TW_CALL(Mul, real ? real : NULL, tw__temp(t, tw__image_float(fraction, TW_FLOAT64)));
    tw_auto tw_tensor *rest = TW_CALL(Sub, real, part);
    tw_auto tw_tensor *begin = TW_CALL(RealDiv, rest ? rest : NULL, tw__temp(t, tw__image_float(2, TW_FLOAT64)));
    return begin ? tw_cast(begin, TW_INT32) : NULL;
}

TW_API(image_central_crop, "image.central_crop(image: tensor, central_fraction: float) -> tensor",
       "The middle of images, a fraction of each side.\n"
       "central_fraction: the part of height and width that stays, above 0 and at most 1")
{
    TW_TEMPS(t);
    if (!(args->central_fraction > 0 && args->central_fraction <= 1)) {
        tw__fail(TW_VALUE_ERROR, "central_fraction must be within (0, 1]");
        return NULL;
    }
    if (args->central_fraction == 1)
        return tw_retain(args->image);
    if (!has_sides(args->image))
        return NULL;
    tw_tensor *begin[2], *size[2];
    for (int i = 0; i < 2; i++) {
        begin[i] = central_begin(args->image, i + 1, args->central_fraction);
        size[i] = TW_CALL(Sub, tw__temp(t, tw__image_side(args->image, i + 1)),
                          TW_TEMP(Mul, begin[i] ? begin[i] : NULL, tw__temp(t, tw__image_number(2))));
    }
    return told(tw__image_crop(args->image, begin[0], begin[1], size[0], size[1]), args->image, -1, -1);
}

/* ---- turns ---- */

enum { ROWS = -3, COLUMNS = -2, NEITHER = -1 }; /* axes, from the end: the rank need not be known */

static bool can_turn(tw_tensor *image)
{
    return image->shape.rank < 0 || has_sides(image);
}

TW_API(image_flip_left_right, "image.flip_left_right(image: tensor) -> tensor", "Images as a mirror shows them.")
{
    return can_turn(args->image) ? tw__image_reverse(args->image, COLUMNS, NEITHER) : NULL;
}

TW_API(image_flip_up_down, "image.flip_up_down(image: tensor) -> tensor", "Images upside down, as water shows them.")
{
    return can_turn(args->image) ? tw__image_reverse(args->image, ROWS, NEITHER) : NULL;
}

static tw_tensor *transpose(tw_tensor *image)
{
    static const int64_t one[] = { 1, 0, 2 }, many[] = { 0, 2, 1, 3 };
    if (image->shape.rank < 0)
        return tw__swap_axes_later(image, ROWS, COLUMNS);
    bool batch = image->shape.rank == 4;
    tw_auto tw_tensor *order = tw__ints_tensor(batch ? many : one, batch ? 4 : 3, TW_INT32);
    return TW_CALL(Transpose, image, order);
}

TW_API(image_transpose, "image.transpose|compat.v1.image.transpose_image(image: tensor, name: str = None) -> tensor",
       "Images with rows and columns exchanged.")
{
    return can_turn(args->image) ? transpose(args->image) : NULL;
}

TW_API(image_rot90, "image.rot90(image: tensor, k: int = 1, name: str = None) -> tensor",
       "Images turned left by k quarters.\n"
       "k: how many quarters")
{
    if (!can_turn(args->image))
        return NULL;
    int64_t k = args->k % 4 < 0 ? args->k % 4 + 4 : args->k % 4;
    if (k == 0)
        return tw_retain(args->image);
    if (k == 2)
        return tw__image_reverse(args->image, ROWS, COLUMNS);
    tw_auto tw_tensor *first = k == 1 ? tw__image_reverse(args->image, COLUMNS, NEITHER) : transpose(args->image);
    return !first ? NULL : k == 1 ? transpose(first) : tw__image_reverse(first, COLUMNS, NEITHER);
}
