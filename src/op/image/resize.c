/* ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, ResizeArea and the gradients of the first three.
 *
 * The arithmetic is TensorFlow's, operation by operation, in float: bilinear interpolates along the row and then between the
 * rows; bicubic looks its weights up in a table of 1024 steps; area weighs what is covered. */
#include <math.h>

#include "kernel/kernel.h"
#include "op/calls.h"
#include "op/gradient.h"
#include "op/image/image.h"
#include "rows.h"

enum { WORTH_A_THREAD = 1 << 15, STEPS = 1024 };

typedef struct resize {
    const tw_tensor *images;
    const float *in;
    const void *pixels; /* of bilinear: bytes or floats */
    void *out;
    int64_t batch, channels, in_height, in_width, out_height, out_width;
    float height_scale, width_scale;
    bool align, half;
    tw__taps y, x; /* which pixels of the columns and rows make one */
    float *copy;   /* of pixels, as floats */
    size_t pixel;  /* bytes, of nearest */
} resize;

typedef tw_status (*choose)(tw__taps *taps, int64_t in, int64_t out, float scale, bool half);

static void resize_end(resize *r)
{
    tw__taps_free(&r->y);
    tw__taps_free(&r->x);
    tw__free(r->copy);
}

static tw_status choose_both(resize *r, choose make)
{
    TW_TRY(make(&r->y, r->in_height, r->out_height, r->height_scale, r->half));
    return make(&r->x, r->in_width, r->out_width, r->width_scale, r->half);
}

static resize begin(const tw__kernel *kernel, const tw_shape *in, const tw_shape *out)
{
    resize r = { .batch = in->dims[0],
                 .channels = in->dims[3],
                 .in_height = in->dims[1],
                 .in_width = in->dims[2],
                 .out_height = out->dims[1],
                 .out_width = out->dims[2] };
    r.align = TW_ATTR(kernel, "align_corners")->b;
    r.half = kernel->op != &tw__op_ResizeArea && TW_ATTR(kernel, "half_pixel_centers")->b;
    r.height_scale = tw__resize_scale(r.in_height, r.out_height, r.align);
    r.width_scale = tw__resize_scale(r.in_width, r.out_width, r.align);
    return r;
}

/* Of a map from images to the kernel's output; `nothing`: it has no elements (no channels, and perhaps billions of pixels). */
static tw_status start(const tw__kernel *kernel, resize *r, bool *nothing)
{
    const tw_tensor *images = kernel->inputs[0], *out = kernel->outputs[0];
    TW_TRY(tw__resize_check(&images->shape, &out->shape));
    *nothing = !out->count;
    if (!*nothing)
        *r = begin(kernel, &images->shape, &out->shape);
    r->images = images;
    r->out = out->data;
    return TW_OK;
}

static tw_status read_floats(resize *r)
{
    r->in = tw__image_floats(r->images, &r->copy);
    return r->in ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status need_one_kind(const tw__inference *inference)
{
    if (TW_ATTR(inference, "align_corners")->b && TW_ATTR(inference, "half_pixel_centers")->b)
        return tw__fail(TW_INVALID_ARGUMENT, "If half_pixel_centers is True, align_corners must be False.");
    return TW_OK;
}

static tw_status resize_shape(tw__inference *inference)
{
    TW_TRY(need_one_kind(inference));
    return tw__resize_shape(inference);
}

static int64_t bound(int64_t value, int64_t limit)
{
    return value < 0 ? 0 : value < limit ? value : limit - 1;
}

static int64_t rows_for_a_thread(const resize *r)
{
    int64_t row = r->out_width * r->channels;
    return row > 0 && row < WORTH_A_THREAD ? WORTH_A_THREAD / row : 1;
}

/* ---- bilinear ---- */

/* index: the lower and the upper pixel; weight[1]: how far it is from the lower one. */
static tw_status bilinear_taps(tw__taps *taps, int64_t in, int64_t out, float scale, bool half)
{
    TW_TRY(tw__taps_new(taps, in, out, 2));
    for (int64_t i = 0; i < out; i++) {
        float place = tw__resize_place(i, scale, half), below = floorf(place);
        taps->count[i] = 2;
        taps->index[2 * i] = bound((int64_t)below, in);
        taps->index[2 * i + 1] = bound((int64_t)ceilf(place), in);
        taps->weight[2 * i + 1] = place - below;
        taps->weight[2 * i] = 1.0f - (place - below);
    }
    return TW_OK;
}

/* Rows of images of bytes or floats; the usual numbers of channels are constants for the compiler. */
#define BILINEAR(type)                                                                                                          \
    static inline __attribute__((always_inline)) void bilinear_row_##type(const resize *r, int64_t row, const int64_t channels) \
    {                                                                                                                           \
        int64_t image = row / r->out_height, y = row % r->out_height, line = r->in_width * channels;                            \
        const type *in = r->pixels;                                                                                             \
        const type *top = in + (image * r->in_height + r->y.index[2 * y]) * line;                                               \
        const type *bottom = in + (image * r->in_height + r->y.index[2 * y + 1]) * line;                                        \
        float down = r->y.weight[2 * y + 1], *out = (float *)r->out + row * r->out_width * channels;                            \
        for (int64_t x = 0; x < r->out_width; x++) {                                                                            \
            int64_t left = r->x.index[2 * x] * channels, right = r->x.index[2 * x + 1] * channels;                              \
            float along = r->x.weight[2 * x + 1];                                                                               \
            for (int64_t c = 0; c < channels; c++) {                                                                            \
                float a = (float)top[left + c], b = (float)top[right + c], d = (float)bottom[left + c],                         \
                      e = (float)bottom[right + c];                                                                             \
                float upper = a + (b - a) * along, lower = d + (e - d) * along;                                                 \
                *out++ = upper + (lower - upper) * down;                                                                        \
            }                                                                                                                   \
        }                                                                                                                       \
    }                                                                                                                           \
    static void bilinear_rows_##type(void *context, int64_t first, int64_t last)                                                \
    {                                                                                                                           \
        const resize *r = context;                                                                                              \
        for (int64_t row = first; row < last; row++) {                                                                          \
            if (r->channels == 3)                                                                                               \
                bilinear_row_##type(r, row, 3);                                                                                 \
            else if (r->channels == 1)                                                                                          \
                bilinear_row_##type(r, row, 1);                                                                                 \
            else                                                                                                                \
                bilinear_row_##type(r, row, r->channels);                                                                       \
        }                                                                                                                       \
    }
BILINEAR(float)
BILINEAR(uint8_t)

static tw_status bilinear_compute(tw__kernel *kernel)
{
    tw__auto(resize_end) resize r = { 0 };
    bool nothing, bytes = kernel->inputs[0]->dtype == TW_UINT8;
    TW_TRY(start(kernel, &r, &nothing));
    if (nothing)
        return TW_OK;
    if (r.in_height == r.out_height && r.in_width == r.out_width) {
        tw__cast_run(r.images->dtype, TW_FLOAT32, r.images->data, r.out, r.images->count, false);
        return TW_OK;
    }
    if (!bytes)
        TW_TRY(read_floats(&r));
    r.pixels = bytes ? r.images->data : r.in;
    TW_TRY(choose_both(&r, bilinear_taps));
    tw__parallel(r.batch * r.out_height, rows_for_a_thread(&r), bytes ? bilinear_rows_uint8_t : bilinear_rows_float, &r);
    return TW_OK;
}

/* op(grads, other) with the attrs of the op that the gradient is of. */
static tw_status by_op(tw__gradient *g, const tw_op *op, tw_tensor *other)
{
    tw__grad_set(g, 0,
                 !other ? NULL
                        : tw__call(op, TW_IN(g->output_grads[0], other), 2,
                                   TW_WITH(TW_A_BOOL("align_corners", TW_ATTR(g, "align_corners")->b),
                                           TW_A_BOOL("half_pixel_centers", TW_ATTR(g, "half_pixel_centers")->b)),
                                   2));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

/* ResizeBilinearGrad(grads, images) for ResizeBilinear(images, size), and bicubic's likewise. */
static tw_status resize_gradient(tw__gradient *g, const tw_op *op)
{
    return tw__dtype_is_float(g->inputs[0]->dtype) ? by_op(g, op, g->inputs[0]) : TW_OK;
}

static tw_status bilinear_gradient(tw__gradient *g)
{
    return resize_gradient(g, &tw__op_ResizeBilinearGrad);
}

#define RESIZE_ATTRS "align_corners: bool = false, half_pixel_centers: bool = false"

TW_OP(ResizeBilinear, .inputs = "images: T, size: int32", .outputs = "resized_images: float",
      .attrs = "T: " TW_IMAGE_TYPES ", " RESIZE_ATTRS, .shape = resize_shape, .compute = bilinear_compute,
      .gradient = bilinear_gradient, .doc = "Images of another size, interpolated between four pixels.");

static tw_status grad_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(tw__need_rank(inference, 1, 4));
    TW_TRY(need_one_kind(inference));
    inference->out_shapes[0] = *inference->shapes[1];
    return TW_OK;
}

/* The gradient by the images: the transposed map. */
static tw_status spread(tw__kernel *kernel, choose make)
{
    const tw_tensor *grads = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    if (grads->shape.dims[0] != out->shape.dims[0] || grads->shape.dims[3] != out->shape.dims[3])
        return tw__fail(TW_INVALID_ARGUMENT, "grads and original_image differ in batch or channels: %s and %s",
                        tw__shape_text(&grads->shape), tw__shape_text(&out->shape));
    TW_TRY(tw__resize_check(&out->shape, &grads->shape));
    tw__auto(resize_end) resize r = begin(kernel, &out->shape, &grads->shape);
    if (out->dtype != TW_FLOAT32)
        TW_NEED(r.copy = tw__alloc_array((size_t)out->count, sizeof *r.copy));
    TW_TRY(choose_both(&r, make));
    TW_TRY(tw__taps_spread(&r.y, &r.x, grads->data, r.batch, r.channels, r.copy ? r.copy : out->data));
    if (r.copy)
        tw__cast_run(TW_FLOAT32, out->dtype, r.copy, out->data, out->count, false);
    return TW_OK;
}

static tw_status bilinear_grad_compute(tw__kernel *kernel)
{
    return spread(kernel, bilinear_taps);
}

TW_OP(ResizeBilinearGrad, .inputs = "grads: float, original_image: T", .outputs = "output: T",
      .attrs = "T: {float, bfloat16, half, double}, " RESIZE_ATTRS, .shape = grad_shape, .compute = bilinear_grad_compute,
      .no_gradient = true, .doc = "The gradient of ResizeBilinear.");

/* ---- nearest ---- */

static int64_t nearest(int64_t i, float scale, const resize *r, int64_t limit)
{
    float place = r->half ? ((float)i + 0.5f) * scale : (float)i * scale;
    return bound((int64_t)(r->align ? roundf(place) : floorf(place)), limit);
}

static void nearest_rows(void *context, int64_t first, int64_t last)
{
    const resize *r = context;
    const char *in = r->images->data;
    for (int64_t row = first; row < last; row++) {
        int64_t image = row / r->out_height, y = nearest(row % r->out_height, r->height_scale, r, r->in_height);
        const char *line = in + (size_t)((image * r->in_height + y) * r->in_width) * r->pixel;
        char *out = (char *)r->out + (size_t)(row * r->out_width) * r->pixel;
        for (int64_t x = 0; x < r->out_width; x++, out += r->pixel)
            memcpy(out, line + (size_t)nearest(x, r->width_scale, r, r->in_width) * r->pixel, r->pixel);
    }
}

static tw_status nearest_compute(tw__kernel *kernel)
{
    resize r = { 0 };
    bool nothing;
    TW_TRY(start(kernel, &r, &nothing));
    if (nothing)
        return TW_OK;
    r.pixel = (size_t)r.channels * tw__element_size(r.images->dtype);
    tw__parallel(r.batch * r.out_height, rows_for_a_thread(&r), nearest_rows, &r);
    return TW_OK;
}

/* Height and width of images. */
static tw_tensor *size_of(tw__temps *t, tw_tensor *images)
{
    const int64_t *dims = images->shape.dims;
    if (images->shape.rank == 4 && dims[1] >= 0 && dims[2] >= 0)
        return tw__temp_ints(t, dims + 1, 2, TW_INT32);
    return TW_TEMP(Slice, TW_TEMP(Shape, images), tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32),
                   tw__temp_ints(t, (int64_t[]){ 2 }, 1, TW_INT32)); /* known only when it runs */
}

static tw_status nearest_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    return by_op(g, &tw__op_ResizeNearestNeighborGrad, size_of(t, g->inputs[0]));
}

TW_OP(ResizeNearestNeighbor, .inputs = "images: T, size: int32", .outputs = "resized_images: T",
      .attrs = "T: " TW_IMAGE_TYPES ", " RESIZE_ATTRS, .shape = resize_shape, .compute = nearest_compute,
      .gradient = nearest_gradient, .doc = "Images of another size, of the nearest pixels.");

static tw_status nearest_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *grads = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    TW_TRY(tw__resize_check(&out->shape, &grads->shape));
    resize r = begin(kernel, &out->shape, &grads->shape);
    size_t size = tw__element_size(out->dtype);
    memset(out->data, 0, (size_t)out->count * size);
    for (int64_t row = 0; row < r.batch * r.out_height; row++) {
        int64_t image = row / r.out_height, y = nearest(row % r.out_height, r.height_scale, &r, r.in_height);
        for (int64_t x = 0; x < r.out_width; x++) {
            int64_t to = ((image * r.in_height + y) * r.in_width + nearest(x, r.width_scale, &r, r.in_width)) * r.channels;
            char *sum = (char *)out->data + (size_t)to * size;
            tw__binary_row(&tw__binary_add, out->dtype, sum,
                           (const char *)grads->data + (size_t)((row * r.out_width + x) * r.channels) * size, sum, r.channels,
                           TW_ROW_BOTH);
        }
    }
    return TW_OK;
}

static tw_status nearest_grad_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    return by_op(g, &tw__op_ResizeNearestNeighbor, size_of(t, g->inputs[0]));
}

TW_OP(ResizeNearestNeighborGrad, .inputs = "grads: T, size: int32", .outputs = "output: T",
      .attrs = "T: {uint8, int8, int32, half, float, double, bfloat16}, " RESIZE_ATTRS, .shape = resize_shape,
      .compute = nearest_grad_compute, .gradient = nearest_grad_gradient, .doc = "The gradient of ResizeNearestNeighbor.");

/* ---- bicubic ---- */

/* The weight of a pixel at distance `offset / STEPS` (second 0) or one more (second 1). */
static float cubic(int64_t offset, int second, bool keys)
{
    double a = keys ? -0.5 : -0.75;
    float x = (float)((double)offset * 1.0 / STEPS);
    if (!second)
        return (float)(((a + 2) * (double)x - (a + 3)) * (double)x * (double)x + 1);
    x += 1.0f;
    return (float)(((a * (double)x - 5 * a) * (double)x + 8 * a) * (double)x - 4 * a);
}

static tw_status bicubic_taps(tw__taps *taps, int64_t in, int64_t out, float scale, bool half)
{
    TW_TRY(tw__taps_new(taps, in, out, 4));
    for (int64_t i = 0; i < out; i++) {
        float place = tw__resize_place(i, scale, half), sum = 0;
        int64_t below = (int64_t)floorf(place);
        int64_t offset = lrintf((place - (float)below) * STEPS);
        float *weight = taps->weight + 4 * i;
        weight[0] = cubic(offset, 1, half);
        weight[1] = cubic(offset, 0, half);
        weight[2] = cubic(STEPS - offset, 0, half);
        weight[3] = cubic(STEPS - offset, 1, half);
        taps->count[i] = 4;
        for (int k = 0; k < 4; k++) {
            int64_t index = below - 1 + k;
            taps->index[4 * i + k] = bound(index, in);
            if (half && taps->index[4 * i + k] != index) /* what is outside has no weight */
                weight[k] = 0;
            sum += weight[k];
        }
        if (half && fabsf(sum) >= 1000.0f * 1.17549435e-38f) {
            float inverse = 1.0f / sum;
            for (int k = 0; k < 4; k++)
                weight[k] *= inverse;
        }
    }
    return TW_OK;
}

static tw_status bicubic_compute(tw__kernel *kernel)
{
    tw__auto(resize_end) resize r = { 0 };
    bool nothing;
    TW_TRY(start(kernel, &r, &nothing));
    if (nothing)
        return TW_OK;
    TW_TRY(read_floats(&r));
    TW_TRY(choose_both(&r, bicubic_taps));
    return tw__taps_apply(&r.y, &r.x, r.in, r.batch, r.channels, r.out);
}

static tw_status bicubic_gradient(tw__gradient *g)
{
    return g->inputs[0]->dtype == TW_FLOAT32 || g->inputs[0]->dtype == TW_FLOAT64 ? resize_gradient(g, &tw__op_ResizeBicubicGrad)
                                                                                  : TW_OK;
}

TW_OP(ResizeBicubic, .inputs = "images: T, size: int32", .outputs = "resized_images: float",
      .attrs = "T: " TW_IMAGE_TYPES ", " RESIZE_ATTRS, .shape = resize_shape, .compute = bicubic_compute,
      .gradient = bicubic_gradient, .doc = "Images of another size, interpolated between sixteen pixels.");

static tw_status bicubic_grad_compute(tw__kernel *kernel)
{
    return spread(kernel, bicubic_taps);
}

TW_OP(ResizeBicubicGrad, .inputs = "grads: float, original_image: T", .outputs = "output: T",
      .attrs = "T: {float, double}, " RESIZE_ATTRS, .shape = grad_shape, .compute = bicubic_grad_compute, .no_gradient = true,
      .doc = "The gradient of ResizeBicubic.");

/* ---- area ---- */

/* How much of pixel `i` lies between `low` and `high`, which are `scale` apart. */
static float share(int64_t i, float low, float high, float scale)
{
    float at = (float)i;
    return at < low ? (at + 1 > high ? scale : at + 1 - low) : (at + 1 > high ? high - at : 1.0f);
}

/* What a column of the result covers: pixels [first, end), and how much of the outer two. */
typedef struct cover {
    int64_t first, end;
    float of_first, of_last;
} cover;

static cover cover_of(int64_t x, float scale)
{
    float low = (float)x * scale, high = (float)(x + 1) * scale;
    cover c = { .first = (int64_t)floorf(low), .end = (int64_t)ceilf(high) };
    c.of_first = share(c.first, low, high, scale);
    c.of_last = share(c.end - 1, low, high, scale);
    return c;
}

static float area_row(const resize *r, const float *line, const cover *x)
{
    float sum = line[bound(x->first, r->in_width) * r->channels] * x->of_first;
    if (x->first + 1 == x->end)
        return sum;
    for (int64_t i = x->first + 1; i < x->end - 1; i++)
        sum += line[bound(i, r->in_width) * r->channels];
    return sum + line[bound(x->end - 1, r->in_width) * r->channels] * x->of_last;
}

static void area_rows(void *context, int64_t first, int64_t last)
{
    const resize *r = context;
    float whole = 1.0f / (r->height_scale * r->width_scale), *out = (float *)r->out + first * r->out_width * r->channels;
    int64_t line = r->in_width * r->channels;
    for (int64_t row = first; row < last; row++) {
        const float *image = r->in + row / r->out_height * r->in_height * line;
        cover y = cover_of(row % r->out_height, r->height_scale);
        for (int64_t x = 0; x < r->out_width; x++) {
            cover across = cover_of(x, r->width_scale);
            for (int64_t c = 0; c < r->channels; c++) {
                float sum = 0;
                for (int64_t i = y.first; i < y.end; i++)
                    sum += area_row(r, image + bound(i, r->in_height) * line + c, &across) * (i == y.first     ? y.of_first
                                                                                              : i == y.end - 1 ? y.of_last
                                                                                                               : 1.0f);
                *out++ = sum * whole;
            }
        }
    }
}

static tw_status area_compute(tw__kernel *kernel)
{
    tw__auto(resize_end) resize r = { 0 };
    bool nothing;
    TW_TRY(start(kernel, &r, &nothing));
    if (nothing)
        return TW_OK;
    TW_TRY(read_floats(&r));
    tw__parallel(r.batch * r.out_height, rows_for_a_thread(&r), area_rows, &r);
    return TW_OK;
}

TW_OP(ResizeArea, .inputs = "images: T, size: int32", .outputs = "resized_images: float",
      .attrs = "T: " TW_IMAGE_TYPES ", align_corners: bool = false", .shape = tw__resize_shape, .compute = area_compute,
      .no_gradient = true, .doc = "Images of another size, of what each pixel covers.");
