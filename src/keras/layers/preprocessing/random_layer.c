/* What layers that change images by chance share: their generators, the numbers that bound them, crops that fall back to
 * resizing.
 */
#include "keras/layers/preprocessing/random_layers.h"

#include <ctype.h>
#include <stdio.h>

#include "function/control.h"
#include "keras/initializers/initializers.h"
#include "op/calls.h"

/* ---- generators ---- */

void tw__random_layer_destroy(void *self)
{
    tw_release(((tw__random_layer *)self)->generator);
}

tw__random_layer *tw__random_layer_of(tw_layer *layer)
{
    const tw__layer_methods *methods = tw__methods(layer);
    return methods && methods->build == tw__random_layer_build ? (tw__random_layer *)layer : NULL;
}

/* The seed that its class was made with. */
static tw_status seed_of(tw_layer *self, int64_t *seed)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(self));
    const char *config = tw_object_config(self);
    for (int i = 0; signature && config && i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        if (strcmp(field->name, "seed") == 0)
            *seed = *(const int64_t *)(config + field->offset);
    }
    return *seed == TW_NO_INT ? tw__keras_seed_next(seed) : TW_OK;
}

tw_status tw__random_layer_build(tw_layer *self, const tw_shape *input)
{
    tw__random_layer *layer = (tw__random_layer *)self;
    int64_t seed = TW_NO_INT;
    (void)input;
    if (layer->generator)
        return TW_OK;
    TW_TRY(seed_of(self, &seed));
    tw__variable_creation made = tw__variables_made; /* it is none of a function that is traced */
    tw__variables_made.refused = false;
    tw__outside outside = tw__root_begin();
    tw_auto tw_tensor *state = tw__ints_tensor((int64_t[]){ seed, 0, 0 }, 3, TW_INT64);
    if (state)
        layer->generator = tw_class_make(&tw__class_generator, &(tw_generator_args){ .state = state, .alg = 1 });
    tw__outside_end(outside);
    tw__variables_made = made;
    return layer->generator ? TW_OK : tw__error_status();
}

tw_tensor *tw__random_layer_draw(tw_layer *self, tw_tensor *shape, tw__bounds bounds)
{
    TW_TEMPS(t);
    tw_tensor *low = tw__temp_float(t, TW_FLOAT32, bounds.low), *high = tw__temp_float(t, TW_FLOAT32, bounds.high);
    if (!shape || !low || !high)
        return NULL;
    return tw__impl_generator_uniform(&(tw_generator_uniform_args){
        .self = ((tw__random_layer *)self)->generator, .shape = shape, .minval = low, .maxval = high, .dtype = TW_FLOAT32 });
}

tw_tensor *tw__random_layer_integers(tw_layer *self)
{
    TW_TEMPS(t);
    tw_tensor *shape = tw__temp_ints(t, (int64_t[]){ 2 }, 1, TW_INT32), *low = tw__temp_int(t, 0, TW_INT32),
              *high = tw__temp_int(t, INT32_MAX, TW_INT32);
    if (!shape || !low || !high)
        return NULL;
    return tw__impl_generator_uniform(&(tw_generator_uniform_args){
        .self = ((tw__random_layer *)self)->generator, .shape = shape, .minval = low, .maxval = high, .dtype = TW_INT32 });
}

tw_tensor *tw__random_layer_seed(tw_layer *self)
{
    tw_auto tw_tensor *seeds = tw__impl_generator_make_seeds(
        &(tw_generator_make_seeds_args){ .self = ((tw__random_layer *)self)->generator, .count = 1 });
    return seeds ? tw__reshape(seeds, &TW_SHAPE(2)) : NULL;
}

/* ---- arguments ---- */

void tw__random_layer_config(tw_layer *self, tw__dict *dict)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(self));
    const char *config = tw_object_config(self), *own = ((const tw__layer_methods *)tw__methods(self))->own_config;
    for (int i = 0; signature && config && i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        char name[64];
        snprintf(name, sizeof name, " %s ", field->name);
        if (field->kind == TW_KIND_VALUE && strstr(own, name))
            tw__dict_put(dict, field->name, tw__value_copy((const tw_value *)(config + field->offset)));
    }
}

static bool number_of(const tw_value *value, double *number)
{
    bool whole = value->kind == TW_VALUE_INT;
    *number = whole ? (double)value->i : value->f;
    return whole || value->kind == TW_VALUE_FLOAT;
}

char *tw__random_text(const tw_value *given)
{
    if (given->kind != TW_VALUE_TUPLE)
        return tw_value_json(given);
    tw_value list = *given;
    list.kind = TW_VALUE_LIST;
    char *text = tw_value_json(&list);
    if (text && *text) {
        text[0] = '(';
        text[strlen(text) - 1] = ')';
    }
    return text;
}

tw_status tw__random_bounds(const char *name, const tw_value *given, tw__bounds *bounds)
{
    if (number_of(given, &bounds->high)) {
        bounds->low = -bounds->high;
        return TW_OK;
    }
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (list && given->list.count >= 2 && number_of(&given->list.items[0], &bounds->low) &&
        number_of(&given->list.items[1], &bounds->high))
        return TW_OK;
    return tw__fail(TW_TYPE_ERROR, "`%s` must be a number or a pair of numbers", name);
}

char *tw__image_layer_method(const char *interpolation)
{
    char *method = tw__strdup(interpolation);
    for (char *c = method; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return method;
}

tw_status tw__image_layer_check_method(const char *interpolation)
{
    static const char *const known[] = { "bilinear", "nearest",  "bicubic",  "area",
                                         "lanczos3", "lanczos5", "gaussian", "mitchellcubic" };
    tw__owned char *method = tw__image_layer_method(interpolation);
    TW_NEED(method);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(method, known[i]) == 0)
            return TW_OK;
    }
    return tw__fail(TW_NOT_IMPLEMENTED_ERROR,
                    "Value not recognized for `interpolation`: %s. Supported values are: dict_keys(['bilinear', 'nearest', "
                    "'bicubic', 'area', 'lanczos3', 'lanczos5', 'gaussian', 'mitchellcubic'])",
                    method);
}

tw_status tw__image_layer_shape(const tw_layer *self, const tw_shape *input, int64_t height, int64_t width, tw_shape *output)
{
    if (input->rank != 3 && input->rank != 4)
        return tw__fail(TW_VALUE_ERROR, "%s \"%s\": images have rank 3 or 4, the shape is %s", tw_class_name(self), self->name,
                        tw__shape_text(input));
    *output = *input;
    output->dims[input->rank - 3] = height;
    output->dims[input->rank - 2] = width;
    return TW_OK;
}

/* ---- crops ---- */

tw_tensor *tw__smart_resize(tw_tensor *images, int64_t height, int64_t width, const char *method)
{
    TW_TEMPS(t);
    tw_tensor *size = tw__temp_ints(t, (int64_t[]){ height, width }, 2, TW_INT32);
    tw_tensor *made = size ? tw__temp(t, tw__impl_image_smart_resize(
                                             &(tw_image_smart_resize_args){ .x = images, .size = size, .interpolation = method }))
                           : NULL;
    tw_shape shape = images->shape;
    if (made && made->node && shape.rank >= 3) {
        shape.dims[shape.rank - 3] = height;
        shape.dims[shape.rank - 2] = width;
        if (tw__symbolic_refine(made, &shape) != TW_OK)
            return NULL;
    }
    return tw__keep(t, made);
}

typedef struct crop {
    tw_layer *layer;
    tw_tensor *images, *rest_height, *rest_width; /* borrowed */
    int64_t height, width;
    tw__crop_start start;
} crop;

static tw_status give(tw_tensor *made, tw_tensor ***outputs, int *count)
{
    TW_NEED(made);
    *outputs = tw__alloc_array(1, sizeof **outputs);
    if (!*outputs) {
        tw_release(made);
        return tw__error_status();
    }
    (*outputs)[0] = made;
    *count = 1;
    return TW_OK;
}

/* The output has the shape that is asked for, whatever is known of the images. Takes it. */
static tw_tensor *told(const crop *c, tw_tensor *made)
{
    tw_shape shape = c->images->shape;
    if (!made || !made->node)
        return made;
    shape.dims[shape.rank - 3] = c->height;
    shape.dims[shape.rank - 2] = c->width;
    if (tw__symbolic_refine(made, &shape) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

static tw_status crop_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const crop *c = context;
    tw_tensor *top, *left;
    (void)arguments, (void)count;
    TW_TRY(c->start(c->layer, c->rest_height, c->rest_width, &top, &left));
    return give(told(c, tw__image_crop(c->images, top, left, tw__image_number(c->height), tw__image_number(c->width))), outputs,
                output_count);
}

static tw_status resize_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const crop *c = context;
    (void)arguments, (void)count;
    tw_auto tw_tensor *made = tw__smart_resize(c->images, c->height, c->width, "bilinear");
    return give(told(c, tw__cast(made, c->layer->compute_dtype)), outputs, output_count);
}

tw_tensor *tw__crop_or_resize(tw_layer *self, tw_tensor *images, int64_t height, int64_t width, tw__crop_start start,
                              bool training)
{
    TW_TEMPS(t);
    tw_shape shape;
    if (tw__image_layer_shape(self, &images->shape, height, width, &shape) != TW_OK)
        return NULL;
    crop c = {
        .layer = self, .images = tw__temp_cast(t, images, self->compute_dtype), .height = height, .width = width, .start = start
    };
    tw_tensor *high = tw__temp(t, tw__image_side(images, 1)), *wide = tw__temp(t, tw__image_side(images, 2));
    c.rest_height = TW_TEMP(Sub, high, (int)height);
    c.rest_width = TW_TEMP(Sub, wide, (int)width);
    if (!c.images || !c.rest_height || !c.rest_width)
        return NULL;
    int64_t has_height = images->shape.dims[shape.rank - 3], has_width = images->shape.dims[shape.rank - 2];
    tw__owned tw_tensor **outputs = NULL;
    int count = 0;
    tw_status status;
    if (!training || (has_height >= 0 && has_height < height) || (has_width >= 0 && has_width < width)) {
        status = resize_body(&c, NULL, 0, &outputs, &count);
    } else if (has_height >= 0 && has_width >= 0) {
        status = crop_body(&c, NULL, 0, &outputs, &count);
    } else {
        tw_tensor *fits = TW_TEMP(LogicalAnd, TW_TEMP(GreaterEqual, c.rest_height, 0), TW_TEMP(GreaterEqual, c.rest_width, 0));
        status = fits ? tw__cond(fits, crop_body, &c, resize_body, &c, &outputs, &count) : tw__error_status();
    }
    tw_tensor *made = status == TW_OK && count ? outputs[0] : NULL;
    return made;
}
