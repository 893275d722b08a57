/* Layers that bring images to a size: Resizing, CenterCrop, RandomCrop; and RandomHeight and RandomWidth, which choose one. */
#include "graph/graph.h"
#include "keras/layers/preprocessing/random_layers.h"
#include "op/array/array.h"
#include "op/calls.h"

/* ---- Resizing ---- */

static tw_status resizing_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_resizing_args *args = tw_object_config(self);
    return tw__image_layer_shape(self, input, args->height, args->width, output);
}

static tw_status resizing_settle(void *self, const void *given)
{
    (void)self;
    return tw__image_layer_check_method(((const tw_layers_resizing_args *)given)->interpolation);
}

static tw_tensor *resizing_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_resizing_args *args = tw_object_config(self);
    tw_shape shape;
    tw__owned char *method = tw__image_layer_method(args->interpolation);
    if (!method || resizing_shape(self, &input->shape, &shape) != TW_OK)
        return NULL;
    tw_auto tw_tensor *size = tw__ints_tensor((int64_t[]){ args->height, args->width }, 2, TW_INT32);
    tw_auto tw_tensor *images = tw__cast(input, strcmp(args->interpolation, "nearest") == 0 ? self->compute_dtype : TW_FLOAT32);
    if (!size || !images)
        return NULL;
    tw_auto tw_tensor *out = args->crop_to_aspect_ratio ? tw__smart_resize(images, args->height, args->width, method)
                                                        : tw__image_resize(images, size, method, false, false);
    return tw__cast(out, self->compute_dtype);
}

static const tw__layer_methods resizing_methods = { .call = resizing_call, .output_shape = resizing_shape };

TW_CLASS(layers_resizing,
         "keras.layers.Resizing|keras.layers.experimental.preprocessing.Resizing(height: int, width: int, "
         "interpolation: str = bilinear, crop_to_aspect_ratio: bool = False, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .settle = resizing_settle, .refused = " interpolation ",
         .methods = &resizing_methods,
         .doc = "Gives images another height and width. interpolation: a method of tf.image.resize. crop_to_aspect_ratio: their "
                "middle, so that nothing is distorted.");

/* ---- CenterCrop ---- */

static tw_status center_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_center_crop_args *args = tw_object_config(self);
    return tw__image_layer_shape(self, input, args->height, args->width, output);
}

static tw_tensor *half(tw_tensor *rest)
{
    TW_TEMPS(t);
    return tw__cast(TW_TEMP(RealDiv, tw__temp_cast(t, rest, TW_FLOAT64), 2.0), TW_INT32);
}

static tw_status center_start(tw_layer *self, tw_tensor *rest_height, tw_tensor *rest_width, tw_tensor **top, tw_tensor **left)
{
    (void)self;
    *top = half(rest_height);
    *left = half(rest_width);
    if (*top && *left)
        return TW_OK;
    tw_release(*top);
    tw_release(*left);
    return tw__error_status();
}

static tw_tensor *center_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    const tw_layers_center_crop_args *args = tw_object_config(self);
    return tw__crop_or_resize(self, input, args->height, args->width, center_start, true);
}

static const tw__layer_methods center_methods = { .call = center_call, .output_shape = center_shape, .any_dtype = true };

TW_CLASS(layers_center_crop,
         "keras.layers.CenterCrop|keras.layers.experimental.preprocessing.CenterCrop(height: int, width: int, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &center_methods,
         .doc = "The middle of images, of that height and width; smaller images are resized to it.");

/* ---- RandomCrop ---- */

static tw_status crop_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_random_crop_args *args = tw_object_config(self);
    return tw__image_layer_shape(self, input, args->height, args->width, output);
}

static tw_status random_start(tw_layer *self, tw_tensor *rest_height, tw_tensor *rest_width, tw_tensor **top, tw_tensor **left)
{
    TW_TEMPS(t);
    tw_tensor *drawn = tw__temp(t, tw__random_layer_integers(self));
    TW_NEED(drawn);
    *top = TW_CALL(FloorMod, tw__temp_at(t, drawn, 0), TW_TEMP(AddV2, rest_height, 1));
    *left = TW_CALL(FloorMod, tw__temp_at(t, drawn, 1), TW_TEMP(AddV2, rest_width, 1));
    if (*top && *left)
        return TW_OK;
    tw_release(*top);
    tw_release(*left);
    return tw__error_status();
}

static tw_tensor *crop_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_random_crop_args *args = tw_object_config(self);
    return tw__crop_or_resize(self, input, args->height, args->width, random_start, training != 0);
}

static const tw__layer_methods crop_methods = { .arguments = "inputs training",
                                                .build = tw__random_layer_build,
                                                .call = crop_call,
                                                .output_shape = crop_shape,
                                                .any_dtype = true };

TW_CLASS(layers_random_crop,
         "keras.layers.RandomCrop|keras.layers.experimental.preprocessing.RandomCrop(height: int, width: int, seed: int = None, "
         "**layer) -> layer",
         TW_RANDOM_LAYER, .methods = &crop_methods,
         .doc = "Parts of images of that height and width, chosen by chance, the same for a batch; smaller images, and all of "
                "them when not training, are resized to it.");

/* ---- RandomHeight, RandomWidth ---- */

static tw_status check_side(const char *interpolation, const tw_value *factor, const char *lesser)
{
    tw__bounds bounds;
    TW_TRY(tw__random_bounds("factor", factor, &bounds));
    tw__owned char *text = tw__random_text(factor);
    if (bounds.high < bounds.low)
        return tw__fail(TW_VALUE_ERROR,
                        "`factor` argument cannot have an upper bound %s than the lower bound. Received: factor=%s", lesser,
                        text ? text : "");
    if (bounds.low < -1 || bounds.high < -1)
        return tw__fail(TW_VALUE_ERROR, "`factor` argument must have values larger than -1. Received: factor=%s",
                        text ? text : "");
    return tw__image_layer_check_method(interpolation);
}

/* Resizes one side by a number from [1 + low, 1 + high). */
static tw_tensor *stretch(tw_layer *self, tw_tensor *input, const tw_value *factor, const char *interpolation, int side)
{
    TW_TEMPS(t);
    tw__bounds bounds;
    tw_shape shape = input->shape;
    tw__owned char *method = tw__image_layer_method(interpolation);
    if (!method || tw__random_bounds("factor", factor, &bounds) != TW_OK ||
        tw__image_layer_shape(self, &input->shape, -1, -1, &shape) != TW_OK)
        return NULL;
    tw_tensor *sides[2] = { tw__temp(t, tw__image_side(input, 1)), tw__temp(t, tw__image_side(input, 2)) };
    tw_tensor *none = tw__temp_ints(t, NULL, 0, TW_INT32);
    tw_tensor *drawn = tw__temp(t, tw__random_layer_draw(self, none, (tw__bounds){ 1 + bounds.low, 1 + bounds.high }));
    sides[side] = tw__temp_cast(t, TW_TEMP(Mul, drawn, tw__temp_cast(t, sides[side], TW_FLOAT32)), TW_INT32);
    tw_tensor *size = TW_TEMP(Pack, sides[0], sides[1]);
    tw_tensor *made = size ? tw__temp(t, tw__image_resize(input, size, method, false, false)) : NULL;
    tw_auto tw_tensor *out = made ? tw__cast(made, self->compute_dtype) : NULL;
    if (out && out->node) {
        shape = input->shape;
        shape.dims[shape.rank - 3 + side] = -1;
        if (tw__symbolic_refine(out, &shape) != TW_OK)
            return NULL;
    }
    return tw_retain(out);
}

static tw_status side_shape(tw_layer *self, const tw_shape *input, tw_shape *output, int side)
{
    TW_TRY(tw__image_layer_shape(self, input, -1, -1, output));
    int other = input->rank - 3 + !side;
    output->dims[other] = input->dims[other];
    return TW_OK;
}

static tw_status height_settle(void *self, const void *given)
{
    const tw_layers_random_height_args *args = given;
    (void)self;
    return check_side(args->interpolation, &args->factor, "lesser");
}

static tw_tensor *height_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_random_height_args *args = tw_object_config(self);
    return training ? stretch(self, input, &args->factor, args->interpolation, 0) : tw_retain(input);
}

static tw_status height_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    return side_shape(self, input, output, 0);
}

static const tw__layer_methods height_methods = { .arguments = "inputs training",
                                                  .build = tw__random_layer_build,
                                                  .own_config = " factor ",
                                                  .config = tw__random_layer_config,
                                                  .call = height_call,
                                                  .output_shape = height_shape };

TW_CLASS(layers_random_height,
         "keras.layers.RandomHeight|keras.layers.experimental.preprocessing.RandomHeight(factor: value, "
         "interpolation: str = bilinear, seed: int = None, **layer) -> layer",
         TW_RANDOM_LAYER, .settle = height_settle, .methods = &height_methods,
         .doc = "While training, images become higher or lower, by the same part for a batch.\n"
                "factor: the range of that part: (low, high), or x for (-x, x)");

static tw_status width_settle(void *self, const void *given)
{
    const tw_layers_random_width_args *args = given;
    (void)self;
    return check_side(args->interpolation, &args->factor, "less");
}

static tw_tensor *width_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_random_width_args *args = tw_object_config(self);
    return training ? stretch(self, input, &args->factor, args->interpolation, 1) : tw_retain(input);
}

static tw_status width_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    return side_shape(self, input, output, 1);
}

static const tw__layer_methods width_methods = { .arguments = "inputs training",
                                                 .build = tw__random_layer_build,
                                                 .own_config = " factor ",
                                                 .config = tw__random_layer_config,
                                                 .call = width_call,
                                                 .output_shape = width_shape };

TW_CLASS(layers_random_width,
         "keras.layers.RandomWidth|keras.layers.experimental.preprocessing.RandomWidth(factor: value, "
         "interpolation: str = bilinear, seed: int = None, **layer) -> layer",
         TW_RANDOM_LAYER, .settle = width_settle, .methods = &width_methods,
         .doc = "While training, images become wider or narrower, by the same part for a batch.\n"
                "factor: the range of that part: (low, high), or x for (-x, x)");
