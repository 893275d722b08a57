/* Layers that turn, move and recolour images by chance while training, and leave them alone else: RandomFlip, RandomTranslation,
 * RandomRotation, RandomZoom, RandomContrast, RandomBrightness. Numbers are drawn in Keras's order, so they are its for the same
 * seed. */
#include <math.h>

#include "graph/graph.h"
#include "keras/layers/preprocessing/random_layers.h"
#include "op/array/array.h"
#include "op/calls.h"

/* What call gives when it does not change images. */
static tw_tensor *as_they_are(tw_layer *self, tw_tensor *input)
{
    return tw__cast(input, self->compute_dtype);
}

/* ---- RandomFlip ---- */

static tw_status flip_settle(void *self, const void *given)
{
    const char *mode = ((const tw_layers_random_flip_args *)given)->mode;
    if (strcmp(mode, "horizontal") == 0 || strcmp(mode, "vertical") == 0 || strcmp(mode, "horizontal_and_vertical") == 0)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "RandomFlip layer %s received an unknown mode argument %s", ((tw_layer *)self)->name, mode);
}

static tw_tensor *flip_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    const char *mode = ((const tw_layers_random_flip_args *)tw_object_config(self))->mode;
    tw_tensor *images = tw__temp(t, as_they_are(self, input));
    if (training && images && strcmp(mode, "vertical") != 0) {
        tw_tensor *seed = tw__temp(t, tw__random_layer_seed(self));
        images = seed ? tw__temp(t, tw__impl_image_stateless_random_flip_left_right(
                                        &(tw_image_stateless_random_flip_left_right_args){ .image = images, .seed = seed }))
                      : NULL;
    }
    if (training && images && strcmp(mode, "horizontal") != 0) {
        tw_tensor *seed = tw__temp(t, tw__random_layer_seed(self));
        images = seed ? tw__temp(t, tw__impl_image_stateless_random_flip_up_down(
                                        &(tw_image_stateless_random_flip_up_down_args){ .image = images, .seed = seed }))
                      : NULL;
    }
    return tw__keep(t, images);
}

static const tw__layer_methods flip_methods = { .arguments = "inputs training",
                                                .build = tw__random_layer_build,
                                                .call = flip_call };

TW_CLASS(layers_random_flip,
         "keras.layers.RandomFlip|keras.layers.experimental.preprocessing.RandomFlip(mode: str = horizontal_and_vertical, "
         "seed: int = None, **layer) -> layer",
         TW_RANDOM_LAYER, .settle = flip_settle, .methods = &flip_methods,
         .doc = "While training, turns each image around with probability one half.\n"
                "mode: `horizontal`: left and right; `vertical`: top and bottom; `horizontal_and_vertical`: each of them");

/* ---- projections ---- */

static tw_status check_words(const char *fill_mode, const char *interpolation)
{
    if (strcmp(fill_mode, "reflect") != 0 && strcmp(fill_mode, "wrap") != 0 && strcmp(fill_mode, "constant") != 0 &&
        strcmp(fill_mode, "nearest") != 0)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR,
                        "Unknown `fill_mode` %s. Only `reflect`, `wrap`, `constant` and `nearest` are supported.", fill_mode);
    if (strcmp(interpolation, "nearest") != 0 && strcmp(interpolation, "bilinear") != 0)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Unknown `interpolation` %s. Only `nearest` and `bilinear` are supported.",
                        interpolation);
    return TW_OK;
}

/* What a layer asks for; its transforms are made by `columns`: eight vectors, one number for each image. NULL: zeros. */
typedef struct projecting {
    tw_layer *layer;
    tw__temps *t;
    tw_tensor *count;          /* how many images there are: a vector of one */
    tw_tensor *height, *width; /* of float32 */
    tw_tensor *columns[8];
    const char *fill_mode, *interpolation;
    double fill_value;
} projecting;

/* One number for each image; left to the temporaries. */
static tw_tensor *one_each(projecting *p, tw__bounds bounds)
{
    return p->count ? tw__temp(p->t, tw__random_layer_draw(p->layer, p->count, bounds)) : NULL;
}

static const char *upper(const char *word)
{
    static const char *const words[][2] = { { "reflect", "REFLECT" },
                                            { "wrap", "WRAP" },
                                            { "constant", "CONSTANT" },
                                            { "nearest", "NEAREST" },
                                            { "bilinear", "BILINEAR" } };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i][0], word) == 0)
            return words[i][1];
    }
    return word;
}

static tw_tensor *project(tw_layer *self, tw_tensor *input, projecting *p, tw_status (*columns)(projecting *p))
{
    TW_TEMPS(t);
    bool single;
    p->layer = self;
    p->t = t;
    tw_tensor *cast = tw__temp(t, as_they_are(self, input));
    tw_tensor *images = cast ? tw__temp(t, tw__image_batch("inputs", cast, &single)) : NULL;
    tw_tensor *shape = images ? tw__temp_shape(t, images, TW_INT32) : NULL;
    p->count = shape ? tw__temp_slice(t, shape, 0, 1) : NULL;
    p->height = p->count ? tw__temp_cast(t, tw__temp(t, tw__image_side(images, 1)), TW_FLOAT32) : NULL;
    p->width = p->height ? tw__temp_cast(t, tw__temp(t, tw__image_side(images, 2)), TW_FLOAT32) : NULL;
    if (!p->width || columns(p) != TW_OK)
        return NULL;
    tw_tensor *zeros = TW_TEMP(ZerosLike, p->columns[0]);
    for (int i = 0; i < 8; i++)
        p->columns[i] = p->columns[i] ? p->columns[i] : zeros;
    tw_tensor **c = p->columns;
    tw_tensor *transforms = TW_TEMP(Pack, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], TW_A_INT("axis", 1));
    tw_tensor *made = TW_CALL(ImageProjectiveTransformV3, images, transforms, tw__temp_slice(t, shape, 1, 3),
                              tw__temp_float(t, TW_FLOAT32, p->fill_value), TW_A_STRING("interpolation", upper(p->interpolation)),
                              TW_A_STRING("fill_mode", upper(p->fill_mode)));
    tw_auto tw_tensor *out = made ? tw__image_unbatch(made, single) : NULL;
    if (out && out->node && tw__symbolic_refine(out, &input->shape) != TW_OK)
        return NULL;
    return tw_retain(out);
}

/* ---- RandomTranslation ---- */

static tw_status check_move(const char *name, const tw_value *factor, const char *wrong)
{
    tw__bounds bounds;
    TW_TRY(tw__random_bounds(name, factor, &bounds));
    tw__owned char *text = tw__random_text(factor);
    if (bounds.high < bounds.low)
        return tw__fail(TW_VALUE_ERROR, "`%s` cannot have upper bound less than lower bound, got %s", name, text ? text : "");
    if (fabs(bounds.low) > 1 || fabs(bounds.high) > 1)
        return tw__fail(TW_VALUE_ERROR, wrong, text ? text : "");
    return TW_OK;
}

static tw_status translation_settle(void *self, const void *given)
{
    const tw_layers_random_translation_args *args = given;
    (void)self;
    TW_TRY(check_move("height_factor", &args->height_factor,
                      "`height_factor` argument must have values between [-1, 1]. Received: height_factor=%s"));
    TW_TRY(check_move("width_factor", &args->width_factor, "`width_factor` must have values between [-1, 1], got %s"));
    return check_words(args->fill_mode, args->interpolation);
}

static tw_status translation_columns(projecting *p)
{
    const tw_layers_random_translation_args *args = tw_object_config(p->layer);
    tw__temps *t = p->t;
    tw__bounds high, wide;
    TW_TRY(tw__random_bounds("height_factor", &args->height_factor, &high));
    TW_TRY(tw__random_bounds("width_factor", &args->width_factor, &wide));
    tw_tensor *down = TW_TEMP(Mul, one_each(p, high), p->height), *along = TW_TEMP(Mul, one_each(p, wide), p->width);
    p->columns[0] = p->columns[4] = TW_TEMP(OnesLike, down);
    p->columns[2] = TW_TEMP(Neg, along);
    p->columns[5] = TW_TEMP(Neg, down);
    return p->columns[0] && p->columns[2] && p->columns[5] ? TW_OK : tw__error_status();
}

static tw_tensor *translation_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_random_translation_args *args = tw_object_config(self);
    projecting p = { .fill_mode = args->fill_mode, .interpolation = args->interpolation, .fill_value = args->fill_value };
    return training ? project(self, input, &p, translation_columns) : as_they_are(self, input);
}

static const tw__layer_methods translation_methods = { .arguments = "inputs training",
                                                       .build = tw__random_layer_build,
                                                       .own_config = " height_factor width_factor ",
                                                       .config = tw__random_layer_config,
                                                       .call = translation_call };

TW_CLASS(
    layers_random_translation,
    "keras.layers.RandomTranslation|keras.layers.experimental.preprocessing.RandomTranslation(height_factor: value, "
    "width_factor: value, fill_mode: str = reflect, interpolation: str = bilinear, seed: int = None, fill_value: float = 0.0, "
    "**layer) -> layer",
    TW_RANDOM_LAYER, .settle = translation_settle, .methods = &translation_methods,
    .doc = "While training, moves each image by parts of its height and width. height_factor, width_factor: (low, high), or "
           "x for (-x, x). fill_mode: reflect, wrap, constant (fill_value) or nearest.");

/* ---- RandomRotation ---- */

static tw_status rotation_settle(void *self, const void *given)
{
    const tw_layers_random_rotation_args *args = given;
    tw__bounds bounds;
    (void)self;
    TW_TRY(tw__random_bounds("factor", &args->factor, &bounds));
    if (bounds.high < bounds.low) {
        tw__owned char *text = tw__random_text(&args->factor);
        return tw__fail(TW_VALUE_ERROR, "`factor` argument cannot have a negative value. Received: factor=%s", text ? text : "");
    }
    return check_words(args->fill_mode, args->interpolation);
}

static tw_status rotation_columns(projecting *p)
{
    const tw_layers_random_rotation_args *args = tw_object_config(p->layer);
    tw__temps *t = p->t;
    tw__bounds bounds;
    TW_TRY(tw__random_bounds("factor", &args->factor, &bounds));
    tw_tensor *angles = one_each(p, (tw__bounds){ bounds.low * 2.0 * M_PI, bounds.high * 2.0 * M_PI });
    tw_tensor *cosine = TW_TEMP(Cos, angles), *sine = TW_TEMP(Sin, angles);
    tw_tensor *wide = TW_TEMP(Sub, p->width, 1.0), *high = TW_TEMP(Sub, p->height, 1.0);
    tw_tensor *along = TW_TEMP(Sub, TW_TEMP(Mul, cosine, wide), TW_TEMP(Mul, sine, high));
    tw_tensor *down = TW_TEMP(AddV2, TW_TEMP(Mul, sine, wide), TW_TEMP(Mul, cosine, high));
    p->columns[0] = p->columns[4] = cosine;
    p->columns[1] = TW_TEMP(Neg, sine);
    p->columns[2] = TW_TEMP(RealDiv, TW_TEMP(Sub, wide, along), 2.0);
    p->columns[3] = sine;
    p->columns[5] = TW_TEMP(RealDiv, TW_TEMP(Sub, high, down), 2.0);
    return p->columns[1] && p->columns[2] && p->columns[5] ? TW_OK : tw__error_status();
}

static tw_tensor *rotation_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_random_rotation_args *args = tw_object_config(self);
    projecting p = { .fill_mode = args->fill_mode, .interpolation = args->interpolation, .fill_value = args->fill_value };
    return training ? project(self, input, &p, rotation_columns) : as_they_are(self, input);
}

static const tw__layer_methods rotation_methods = { .arguments = "inputs training",
                                                    .build = tw__random_layer_build,
                                                    .own_config = " factor ",
                                                    .config = tw__random_layer_config,
                                                    .call = rotation_call };

TW_CLASS(layers_random_rotation,
         "keras.layers.RandomRotation|keras.layers.experimental.preprocessing.RandomRotation(factor: value, "
         "fill_mode: str = reflect, interpolation: str = bilinear, seed: int = None, fill_value: float = 0.0, **layer) -> layer",
         TW_RANDOM_LAYER, .settle = rotation_settle, .methods = &rotation_methods,
         .doc = "While training, turns each image.\n"
                "factor: the range of angles, as parts of a whole turn: (low, high), or x for (-x, x)");

/* ---- RandomZoom ---- */

static tw_status zoom_settle(void *self, const void *given)
{
    const tw_layers_random_zoom_args *args = given;
    tw__bounds bounds;
    (void)self;
    TW_TRY(tw__random_bounds("height_factor", &args->height_factor, &bounds));
    if (fabs(bounds.low) > 1 || fabs(bounds.high) > 1) {
        tw__owned char *text = tw__random_text(&args->height_factor);
        return tw__fail(TW_VALUE_ERROR, "`height_factor` argument must have values between [-1, 1]. Received: height_factor=%s",
                        text ? text : "");
    }
    if (args->width_factor.kind != TW_VALUE_NONE) {
        TW_TRY(tw__random_bounds("width_factor", &args->width_factor, &bounds));
        tw__owned char *text = tw__random_text(&args->width_factor);
        if (bounds.low < -1 || bounds.high < -1)
            return tw__fail(TW_VALUE_ERROR, "`width_factor` argument must have values larger than -1. Received: width_factor=%s",
                            text ? text : "");
    }
    return check_words(args->fill_mode, args->interpolation);
}

/* What keeps the middle of a side in its place. */
static tw_tensor *centred(tw__temps *t, tw_tensor *side, tw_tensor *zoom)
{
    return TW_TEMP(Mul, TW_TEMP(RealDiv, TW_TEMP(Sub, side, 1.0), 2.0), TW_TEMP(Sub, 1.0, zoom));
}

static tw_status zoom_columns(projecting *p)
{
    const tw_layers_random_zoom_args *args = tw_object_config(p->layer);
    tw__temps *t = p->t;
    tw__bounds high, wide;
    TW_TRY(tw__random_bounds("height_factor", &args->height_factor, &high));
    tw_tensor *down = one_each(p, (tw__bounds){ 1 + high.low, 1 + high.high }), *along = down;
    if (args->width_factor.kind != TW_VALUE_NONE) {
        TW_TRY(tw__random_bounds("width_factor", &args->width_factor, &wide));
        along = one_each(p, (tw__bounds){ 1 + wide.low, 1 + wide.high });
    }
    p->columns[0] = along;
    p->columns[2] = centred(t, p->width, along);
    p->columns[4] = down;
    p->columns[5] = centred(t, p->height, down);
    return p->columns[0] && p->columns[2] && p->columns[4] && p->columns[5] ? TW_OK : tw__error_status();
}

static tw_tensor *zoom_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_random_zoom_args *args = tw_object_config(self);
    projecting p = { .fill_mode = args->fill_mode, .interpolation = args->interpolation, .fill_value = args->fill_value };
    return training ? project(self, input, &p, zoom_columns) : as_they_are(self, input);
}

static const tw__layer_methods zoom_methods = { .arguments = "inputs training",
                                                .build = tw__random_layer_build,
                                                .own_config = " height_factor width_factor ",
                                                .config = tw__random_layer_config,
                                                .call = zoom_call };

TW_CLASS(layers_random_zoom,
         "keras.layers.RandomZoom|keras.layers.experimental.preprocessing.RandomZoom(height_factor: value, "
         "width_factor: value = None, fill_mode: str = reflect, interpolation: str = bilinear, seed: int = None, "
         "fill_value: float = 0.0, **layer) -> layer",
         TW_RANDOM_LAYER, .settle = zoom_settle, .methods = &zoom_methods,
         .doc = "While training, makes each image larger (below 0) or smaller. height_factor: (low, high), or x for (-x, x); "
                "width_factor likewise, None: the sides keep their ratio. fill_mode: reflect, wrap, constant (fill_value) or "
                "nearest.");

/* ---- RandomContrast ---- */

static tw_status contrast_bounds(const tw_value *factor, tw__bounds *bounds)
{
    TW_TRY(tw__random_bounds("factor", factor, bounds));
    if (factor->kind == TW_VALUE_INT || factor->kind == TW_VALUE_FLOAT)
        bounds->low = bounds->high;
    return TW_OK;
}

static tw_status contrast_settle(void *self, const void *given)
{
    const tw_layers_random_contrast_args *args = given;
    tw__bounds bounds;
    (void)self;
    TW_TRY(contrast_bounds(&args->factor, &bounds));
    if (bounds.low >= 0 && bounds.high >= 0 && bounds.low <= 1)
        return TW_OK;
    tw__owned char *text = tw__random_text(&args->factor);
    return tw__fail(TW_VALUE_ERROR, "`factor` argument cannot have negative values or values greater than 1.Received: factor=%s",
                    text ? text : "");
}

/* x between two numbers; a new reference. */
static tw_tensor *clipped(tw_tensor *x, double low, double high)
{
    TW_TEMPS(t);
    return TW_CALL(Maximum, TW_TEMP(Minimum, x, high), low);
}

static tw_tensor *contrast_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    const tw_layers_random_contrast_args *args = tw_object_config(self);
    tw__bounds bounds;
    if (!training)
        return as_they_are(self, input);
    tw_tensor *images = tw__temp(t, as_they_are(self, input)), *seed = tw__temp(t, tw__random_layer_seed(self));
    if (!images || !seed || contrast_bounds(&args->factor, &bounds) != TW_OK)
        return NULL;
    tw_tensor *made = tw__temp(t, tw__impl_image_stateless_random_contrast(&(tw_image_stateless_random_contrast_args){
                                      .image = images, .lower = 1.0 - bounds.low, .upper = 1.0 + bounds.high, .seed = seed }));
    return made ? clipped(made, 0, 255) : NULL;
}

static const tw__layer_methods contrast_methods = { .arguments = "inputs training",
                                                    .build = tw__random_layer_build,
                                                    .own_config = " factor ",
                                                    .config = tw__random_layer_config,
                                                    .call = contrast_call };

TW_CLASS(
    layers_random_contrast,
    "keras.layers.RandomContrast|keras.layers.experimental.preprocessing.RandomContrast(factor: value, seed: int = None, "
    "**layer) -> layer",
    TW_RANDOM_LAYER, .settle = contrast_settle, .methods = &contrast_methods,
    .doc =
        "While training, multiplies distances from the channels' means by a number, one for a batch; results lie between 0 and 255.\n"
        "factor: the number is from [1 - low, 1 + high): (low, high), or x for both");

/* ---- RandomBrightness ---- */

static tw_status brightness_fail(const char *words, const tw_value *given)
{
    tw__owned char *text = tw__random_text(given);
    return tw__fail(TW_VALUE_ERROR, "%sGot %s", words, text ? text : "");
}

static bool is_pair(const tw_value *value)
{
    return (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) && value->list.count == 2;
}

static tw__bounds sorted(tw__bounds b)
{
    return b.low <= b.high ? b : (tw__bounds){ b.high, b.low };
}

static tw_status brightness_settle(void *self, const void *given)
{
    const char *factor_words = "The `factor` argument should be a number (or a list of two numbers) in the range [-1.0, 1.0]. ",
               *range_words = "The `value_range` argument should be a list of two numbers. ";
    const tw_layers_random_brightness_args *args = given;
    const tw_value *factor = &args->factor;
    tw__bounds bounds;
    (void)self;
    if (factor->kind != TW_VALUE_INT && factor->kind != TW_VALUE_FLOAT && !is_pair(factor))
        return brightness_fail(factor_words, factor);
    TW_TRY(tw__random_bounds("factor", factor, &bounds));
    if (fabs(bounds.low) > 1 || fabs(bounds.high) > 1)
        return brightness_fail(factor_words, factor);
    if (args->value_range.kind == TW_VALUE_NONE)
        return TW_OK;
    return is_pair(&args->value_range) ? tw__random_bounds("value_range", &args->value_range, &bounds)
                                       : brightness_fail(range_words, &args->value_range);
}

static tw__bounds value_range(const tw_layers_random_brightness_args *args)
{
    tw__bounds range = { 0, 255 };
    if (args->value_range.kind != TW_VALUE_NONE)
        tw__random_bounds("value_range", &args->value_range, &range);
    return sorted(range);
}

static tw_tensor *brightness_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    const tw_layers_random_brightness_args *args = tw_object_config(self);
    tw__bounds factor, range = value_range(args);
    tw_tensor *images = tw__temp(t, as_they_are(self, input));
    if (!training || !images)
        return tw__keep(t, images);
    int rank = images->shape.rank;
    if ((rank != 3 && rank != 4) || tw__random_bounds("factor", &args->factor, &factor) != TW_OK) {
        if (rank != 3 && rank != 4)
            tw__fail(TW_VALUE_ERROR, "Expected the input image to be rank 3 or 4. Got inputs.shape = %s",
                     tw__shape_text(&images->shape));
        return NULL;
    }
    tw_tensor *ones = tw__temp_ints(t, (int64_t[]){ 1, 1, 1 }, 3, TW_INT32), *shape = ones;
    if (rank == 4) {
        tw_tensor *count = tw__temp_slice(t, tw__temp_shape(t, images, TW_INT32), 0, 1);
        shape = count && ones ? tw__temp_concat(t, TW_IN(count, ones), 2, 0) : NULL;
    }
    tw_tensor *delta = tw__temp(t, tw__random_layer_draw(self, shape, sorted(factor)));
    delta = tw__temp_cast(t, TW_TEMP(Mul, delta, range.high - range.low), images->dtype);
    tw_tensor *brighter = TW_TEMP(AddV2, images, delta);
    return brighter ? clipped(brighter, range.low, range.high) : NULL;
}

/* Numbers stay integers where they were given as such. */
static tw_value number(double value, bool whole)
{
    return whole ? (tw_value){ .kind = TW_VALUE_INT, .i = (int64_t)value } : (tw_value){ .kind = TW_VALUE_FLOAT, .f = value };
}

static bool is_whole(const tw_value *given, double value)
{
    if (given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE)
        return given->kind != TW_VALUE_FLOAT;
    for (int64_t i = 0; i < given->list.count; i++) {
        const tw_value *item = &given->list.items[i];
        if (item->kind == TW_VALUE_FLOAT && item->f == value)
            return false;
    }
    return true;
}

static tw_value pair(const tw_value *given, tw__bounds b)
{
    tw_value *items = tw__alloc_array(2, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    items[0] = number(b.low, is_whole(given, b.low));
    items[1] = number(b.high, is_whole(given, b.high));
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, 2 } };
}

static void brightness_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_random_brightness_args *args = tw_object_config(self);
    tw__bounds factor = { 0, 0 };
    tw__random_bounds("factor", &args->factor, &factor);
    tw__dict_put(dict, "factor", pair(&args->factor, sorted(factor)));
    tw__dict_put(dict, "value_range", pair(&args->value_range, value_range(args)));
    tw__dict_put(dict, "seed",
                 args->seed == TW_NO_INT ? (tw_value){ .kind = TW_VALUE_NONE }
                                         : (tw_value){ .kind = TW_VALUE_INT, .i = args->seed });
}

static const tw__layer_methods brightness_methods = { .arguments = "inputs training",
                                                      .build = tw__random_layer_build,
                                                      .call = brightness_call,
                                                      .own_config = " factor value_range seed ",
                                                      .config = brightness_config };

TW_CLASS(
    layers_random_brightness,
    "keras.layers.RandomBrightness(factor: value, value_range: value = None shown (0, 255), seed: int = None, **layer) -> layer",
    TW_RANDOM_LAYER, .settle = brightness_settle, .methods = &brightness_methods,
    .doc = "While training, adds a part of the range of values to each image.\n"
           "factor: the range of that part: (low, high), or x for (-x, x)\n"
           "value_range: the least and the greatest value of images, between which results lie; None: 0 and 255");
