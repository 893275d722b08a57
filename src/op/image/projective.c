/* ImageProjectiveTransformV2 and V3: images seen through a projection. Row (a0 … a7) of the transforms says from where pixel
 * (x, y) of the result comes: ((a0 x + a1 y + a2) / k, (a3 x + a4 y + a5) / k), with k = a6 x + a7 y + 1. Places outside of the
 * image are reflected, wrapped around, moved to its edge, or have the fill value. */
#include <math.h>

#include "op/gradient.h"
#include "op/image/image.h"
#include "rows.h"

/* ---- shapes ---- */

static tw_status projective_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(tw__need_rank(inference, 1, 2));
    TW_TRY(tw__need_pair(inference, 2, "output_shape"));
    const tw_shape *images = inference->shapes[0];
    int64_t size[2] = { -1, -1 };
    if (inference->values[2])
        TW_TRY(tw__tensor_read_ints(inference->values[2], "output_shape", size, 2));
    if (inference->values[2] && (size[0] <= 0 || size[1] <= 0))
        return tw__fail(TW_INVALID_ARGUMENT, "output dimensions must be positive");
    bool known = images->rank == 4;
    inference->out_shapes[0] = TW_SHAPE(known ? images->dims[0] : -1, size[0], size[1], known ? images->dims[3] : -1);
    return TW_OK;
}

/* ---- places ---- */

typedef enum edge { EDGE_CONSTANT, EDGE_REFLECT, EDGE_WRAP, EDGE_NEAREST } edge;

static float between(float place, int64_t size)
{
    float last = (float)(size - 1);
    return place < 0 ? 0 : place > last ? last : place;
}

/* abcd lies in dcba|abcd|dcba. */
static float reflected(float place, int64_t size)
{
    float whole = (float)(2 * size);
    if (size <= 1)
        return 0;
    if (place < 0) {
        if (place < whole)
            place = whole * (float)(int64_t)(-place / whole) + place;
        place = place < (float)-size ? place + whole : -place - 1;
    } else if (place > (float)(size - 1)) {
        place -= whole * (float)(int64_t)(place / whole);
        if (place >= (float)size)
            place = whole - place - 1;
    }
    return between(place, size);
}

/* abcd lies in abcd|abcd|abcd. */
static float wrapped(float place, int64_t size)
{
    float step = (float)(size - 1);
    if (size <= 1)
        return 0;
    if (place < 0)
        place += (float)(size * ((int64_t)(-place / step) + 1));
    else if (place > step)
        place -= (float)(size * (int64_t)(place / step));
    return between(place, size);
}

static float place_in(float place, int64_t size, edge outside)
{
    /* what is no number, or further away than integers reach, is nowhere */
    if (!(fabsf(place) < 1e15f))
        return outside == EDGE_CONSTANT ? -2 : 0;
    switch (outside) {
    case EDGE_REFLECT:
        return reflected(place, size);
    case EDGE_WRAP:
        return wrapped(place, size);
    case EDGE_NEAREST:
        return between(place, size);
    default:
        return place;
    }
}

/* ---- pixels ---- */

typedef struct projection {
    const char *in;
    char *out;
    size_t item; /* bytes of an element */
    int64_t height, width, channels, out_height, out_width;
    const float *transforms;
    int64_t stride; /* from one image's transform to the next; 0: one for all */
    edge outside;
    float fill;
    char fill_item[8]; /* the same as an element */
    bool nearest;
    float (*load)(const void *at);
    void (*store)(void *at, float value);
} projection;

#define ACCESS(name_, type_)                         \
    static float load_##name_(const void *at)        \
    {                                                \
        return (float)*(const type_ *)at;            \
    }                                                \
    static void store_##name_(void *at, float value) \
    {                                                \
        *(type_ *)at = (type_)value;                 \
    }
ACCESS(uint8, uint8_t)
ACCESS(int32, int32_t)
ACCESS(int64, int64_t)
ACCESS(float, float)
ACCESS(double, double)

static float load_half(const void *at)
{
    return tw__half_to_float(*(const uint16_t *)at);
}

static void store_half(void *at, float value)
{
    *(uint16_t *)at = tw__float_to_half(value);
}

static const char *pixel(const projection *p, const char *image, int64_t y, int64_t x)
{
    bool inside = y >= 0 && y < p->height && x >= 0 && x < p->width;
    return inside ? image + (size_t)((y * p->width + x) * p->channels) * p->item : NULL;
}

static void nearest_pixel(const projection *p, const char *image, float y, float x, char *out)
{
    const char *from = pixel(p, image, (int64_t)roundf(y), (int64_t)roundf(x));
    if (from) {
        memcpy(out, from, (size_t)p->channels * p->item);
        return;
    }
    for (int64_t c = 0; c < p->channels; c++)
        memcpy(out + (size_t)c * p->item, p->fill_item, p->item);
}

static float value_of(const projection *p, const char *at, int64_t channel)
{
    return at ? p->load(at + (size_t)channel * p->item) : p->fill;
}

static void bilinear_pixel(const projection *p, const char *image, float y, float x, char *out)
{
    float top = floorf(y), left = floorf(x), bottom = top + 1, right = left + 1;
    int64_t row = (int64_t)top, column = (int64_t)left;
    const char *corners[4] = { pixel(p, image, row, column), pixel(p, image, row, column + 1), pixel(p, image, row + 1, column),
                               pixel(p, image, row + 1, column + 1) };
    for (int64_t c = 0; c < p->channels; c++) {
        float upper = (right - x) * value_of(p, corners[0], c) + (x - left) * value_of(p, corners[1], c);
        float lower = (right - x) * value_of(p, corners[2], c) + (x - left) * value_of(p, corners[3], c);
        p->store(out + (size_t)c * p->item, (bottom - y) * upper + (y - top) * lower);
    }
}

/* Rows of all images, one behind the other. */
static void project_rows(void *context, int64_t begin, int64_t end)
{
    const projection *p = context;
    size_t pixel_size = (size_t)p->channels * p->item;
    for (int64_t row = begin; row < end; row++) {
        int64_t number = row / p->out_height;
        float y = (float)(row % p->out_height);
        const float *t = p->transforms + number * p->stride;
        const char *image = p->in + (size_t)(number * p->height * p->width) * pixel_size;
        char *out = p->out + (size_t)(row * p->out_width) * pixel_size;
        for (int64_t i = 0; i < p->out_width; i++, out += pixel_size) {
            float x = (float)i, scale = t[6] * x + t[7] * y + 1;
            if (scale == 0) {
                for (int64_t c = 0; c < p->channels; c++)
                    memcpy(out + (size_t)c * p->item, p->fill_item, p->item);
                continue;
            }
            float in_x = place_in((t[0] * x + t[1] * y + t[2]) / scale, p->width, p->outside);
            float in_y = place_in((t[3] * x + t[4] * y + t[5]) / scale, p->height, p->outside);
            (p->nearest ? nearest_pixel : bilinear_pixel)(p, image, in_y, in_x, out);
        }
    }
}

/* ---- the kernel ---- */

static tw_status choose_dtype(projection *p, tw_dtype dtype)
{
    static const struct {
        tw_dtype dtype;
        float (*load)(const void *);
        void (*store)(void *, float);
    } all[] = { { TW_UINT8, load_uint8, store_uint8 },   { TW_INT32, load_int32, store_int32 },
                { TW_INT64, load_int64, store_int64 },   { TW_FLOAT16, load_half, store_half },
                { TW_FLOAT32, load_float, store_float }, { TW_FLOAT64, load_double, store_double } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].dtype == dtype) {
            p->load = all[i].load;
            p->store = all[i].store;
        }
    }
    p->item = tw_dtype_size(dtype);
    return p->load ? TW_OK : tw__fail(TW_UNIMPLEMENTED, "images of dtype %s are not supported", tw_dtype_name(dtype));
}

static tw_status choose_words(projection *p, const char *interpolation, const char *mode)
{
    static const char *const modes[] = { "CONSTANT", "REFLECT", "WRAP", "NEAREST" };
    p->nearest = strcmp(interpolation, "NEAREST") == 0;
    if (!p->nearest && strcmp(interpolation, "BILINEAR") != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid interpolation %s. Supported types: NEAREST, BILINEAR", interpolation);
    for (int i = 0; i < 4; i++) {
        if (strcmp(mode, modes[i]) == 0) {
            p->outside = (edge)i;
            return TW_OK;
        }
    }
    return tw__fail(TW_INVALID_ARGUMENT, "Invalid mode %s. Supported types: REFLECT, WRAP, CONSTANT, NEAREST", mode);
}

static tw_status projective_compute(tw__kernel *kernel)
{
    const tw_tensor *images = kernel->inputs[0], *transforms = kernel->inputs[1];
    const tw_shape *in = &images->shape, *out = &kernel->outputs[0]->shape;
    int64_t count = transforms->shape.dims[0];
    if ((count != in->dims[0] && count != 1) || transforms->shape.dims[1] != 8)
        return tw__fail(TW_INVALID_ARGUMENT, "Input transform should be num_images x 8 or 1 x 8");
    projection p = { .in = images->data,
                     .out = kernel->outputs[0]->data,
                     .height = in->dims[1],
                     .width = in->dims[2],
                     .channels = in->dims[3],
                     .out_height = out->dims[1],
                     .out_width = out->dims[2],
                     .transforms = transforms->data,
                     .stride = count == 1 ? 0 : 8 };
    TW_TRY(choose_words(&p, TW_ATTR(kernel, "interpolation")->s.data, TW_ATTR(kernel, "fill_mode")->s.data));
    TW_TRY(choose_dtype(&p, images->dtype));
    if (kernel->input_count > 3)
        p.fill = *(const float *)kernel->inputs[3]->data;
    p.store(p.fill_item, p.fill);
    p.fill = p.load(p.fill_item);
    if (kernel->outputs[0]->count)
        tw__parallel(in->dims[0] * p.out_height, 1 + 4096 / (p.out_width * p.channels), project_rows, &p);
    return TW_OK;
}

/* ---- gradients: the way back, by the inverse, as TensorFlow has it ---- */

static tw_tensor *columns(tw__temps *t, tw_tensor *matrix, int64_t first, int64_t count)
{
    return TW_TEMP(Slice, matrix, tw__temp_ints(t, (int64_t[]){ 0, first }, 2, TW_INT32),
                   tw__temp_ints(t, (int64_t[]){ -1, count }, 2, TW_INT32));
}

static tw_tensor *inverse(tw__temps *t, tw_tensor *transforms)
{
    tw_tensor *ones = TW_TEMP(OnesLike, columns(t, transforms, 0, 1));
    tw_tensor *whole = tw__temp_concat(t, TW_IN(transforms, ones), 2, 1);
    tw_tensor *matrices = whole ? tw__temp_reshape(t, whole, (int64_t[]){ -1, 3, 3 }, 3) : NULL;
    tw_tensor *inverted = TW_TEMP(MatrixInverse, matrices);
    tw_tensor *flat = inverted ? tw__temp_reshape(t, inverted, (int64_t[]){ -1, 9 }, 2) : NULL;
    return columns(t, TW_TEMP(RealDiv, flat, columns(t, flat, 8, 1)), 0, 8);
}

static tw_status projective_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    if (!g->wanted[0])
        return TW_OK;
    tw_tensor *transforms = inverse(t, g->inputs[1]);
    tw_tensor *size = tw__temp_slice(t, tw__temp_shape(t, g->inputs[0], TW_INT32), 1, 3);
    tw_attr how[] = { TW_A_STRING("interpolation", TW_ATTR(g, "interpolation")->s.data),
                      TW_A_STRING("fill_mode", TW_ATTR(g, "fill_mode")->s.data) };
    tw_tensor *fill = g->input_count > 3 ? tw__temp_float(t, TW_FLOAT32, 0) : NULL;
    if (!transforms || !size || (g->input_count > 3 && !fill))
        return tw__error_status();
    tw__grad_set(g, 0, tw__call(g->op, TW_IN(g->output_grads[0], transforms, size, fill), g->input_count, how, 2));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

#define PROJECTIVE_ATTRS \
    "dtype: {uint8, int32, int64, half, float, double}, interpolation: string, fill_mode: string = 'CONSTANT'"

TW_OP(ImageProjectiveTransformV2, .inputs = "images: dtype, transforms: float, output_shape: int32",
      .outputs = "transformed_images: dtype", .attrs = PROJECTIVE_ATTRS, .shape = projective_shape, .compute = projective_compute,
      .gradient = projective_gradient, .doc = "Images seen through projections; 0 outside.");

TW_OP(ImageProjectiveTransformV3, .inputs = "images: dtype, transforms: float, output_shape: int32, fill_value: float",
      .outputs = "transformed_images: dtype", .attrs = PROJECTIVE_ATTRS, .shape = projective_shape, .compute = projective_compute,
      .gradient = projective_gradient, .doc = "Images seen through projections; outside, the fill value.");
