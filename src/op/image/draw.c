/* DrawBoundingBoxes: frames of boxes on images. ExtractGlimpse: a window of each image, around a point of its own. */
#include <math.h>

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/image/image.h"
#include "op/random/random.h"
#include "rows.h"

/* ---- boxes ---- */

static tw_status draw_shape(tw__inference *inference)
{
    const tw_shape *images = inference->shapes[0], *boxes = inference->shapes[1];
    if (images->rank >= 0 && images->rank != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "The rank of the images should be 4");
    if (boxes->rank >= 0 && boxes->rank != 3)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "The rank of the boxes tensor should be 3");
    if (images->rank == 4 && boxes->rank == 3 && images->dims[0] >= 0 && boxes->dims[0] >= 0 && images->dims[0] != boxes->dims[0])
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "The batch sizes should be the same");
    if (boxes->rank == 3 && boxes->dims[2] >= 0 && boxes->dims[2] != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "The size of the third dimension of the box must be 4. Received: %lld",
                          (long long)boxes->dims[2]);
    int64_t depth = images->rank == 4 ? images->dims[3] : -1;
    if (depth >= 0 && depth != 1 && depth != 3 && depth != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
    inference->out_shapes[0] = *images;
    return TW_OK;
}

typedef struct canvas {
    tw_dtype dtype;
    char *image;
    int64_t height, width, depth;
    const float *color;
} canvas;

static void dot(const canvas *c, int64_t row, int64_t column)
{
    int64_t at = (row * c->width + column) * c->depth;
    for (int64_t k = 0; k < c->depth; k++) {
        if (c->dtype == TW_FLOAT32)
            ((float *)c->image)[at + k] = c->color[k];
        else
            ((uint16_t *)c->image)[at + k] = tw__float_to_half(c->color[k]);
    }
}

/* A coordinate in pixels; what is far outside stays there. */
static int64_t pixel_of(float place, int64_t side)
{
    float pixel = place * (float)(side - 1);
    return !(pixel > -1e9f) ? -1000000000 : pixel > 1e9f ? 1000000000 : (int64_t)pixel;
}

static void frame(const canvas *c, const float *box)
{
    int64_t top = pixel_of(box[0], c->height), left = pixel_of(box[1], c->width);
    int64_t bottom = pixel_of(box[2], c->height), right = pixel_of(box[3], c->width);
    if (top > bottom || left > right || top >= c->height || left >= c->width || bottom < 0 || right < 0)
        return;
    int64_t first_row = top > 0 ? top : 0, last_row = bottom < c->height ? bottom : c->height - 1;
    int64_t first = left > 0 ? left : 0, last = right < c->width ? right : c->width - 1;
    for (int64_t x = first; x <= last; x++) {
        if (top >= 0)
            dot(c, top, x);
        if (bottom < c->height)
            dot(c, bottom, x);
    }
    for (int64_t y = first_row; y <= last_row; y++) {
        if (left >= 0)
            dot(c, y, left);
        if (right < c->width)
            dot(c, y, right);
    }
}

static tw_status draw_compute(tw__kernel *kernel)
{
    static const float table[10][4] = { { 1, 1, 0, 1 },       { 0, 0, 1, 1 },       { 1, 0, 0, 1 },    { 0, 1, 0, 1 },
                                        { 0.5f, 0, 0.5f, 1 }, { 0.5f, 0.5f, 0, 1 }, { 0.5f, 0, 0, 1 }, { 0, 0, 0.5f, 1 },
                                        { 0, 1, 1, 1 },       { 1, 0, 1, 1 } };
    static const float white[4] = { 1, 1, 1, 1 };
    const tw_tensor *images = kernel->inputs[0], *boxes = kernel->inputs[1],
                    *colors = kernel->input_count > 2 ? kernel->inputs[2] : NULL;
    const tw_shape *shape = &images->shape;
    tw_tensor *out = kernel->outputs[0];
    canvas c = { .dtype = images->dtype, .height = shape->dims[1], .width = shape->dims[2], .depth = shape->dims[3] };
    if (colors && colors->shape.rank != 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "colors must be a 2-D matrix%s", tw__shape_text(&colors->shape));
    if (colors && colors->shape.dims[1] < c.depth)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "colors must have equal or more channels than the image provided: %s",
                          tw__shape_text(&colors->shape));
    size_t bytes = (size_t)(c.height * c.width * c.depth) * tw__element_size(images->dtype);
    memcpy(out->data, images->data, bytes * (size_t)shape->dims[0]);
    if (!bytes)
        return TW_OK;
    for (int64_t b = 0; b < shape->dims[0]; b++) {
        c.image = (char *)out->data + (size_t)b * bytes;
        for (int64_t k = 0; k < boxes->shape.dims[1]; k++) {
            if (colors && colors->count)
                c.color = (const float *)colors->data + k % colors->shape.dims[0] * colors->shape.dims[1];
            else
                c.color = c.depth == 1 ? white : table[k % 10];
            frame(&c, (const float *)boxes->data + (b * boxes->shape.dims[1] + k) * 4);
        }
    }
    return TW_OK;
}

TW_OP(DrawBoundingBoxes, .inputs = "images: T, boxes: float", .outputs = "output: T", .attrs = "T: {float, half} = float",
      .shape = draw_shape, .compute = draw_compute, .doc = "Images with frames of boxes, of ten colours in turn.");
TW_OP(DrawBoundingBoxesV2, .no_gradient = true, .inputs = "images: T, boxes: float, colors: float", .outputs = "output: T",
      .attrs = "T: {float, half} = float", .shape = draw_shape, .compute = draw_compute,
      .doc = "Images with frames of boxes, of the colours in turn.");

/* ---- glimpses ---- */

static tw_status glimpse_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0], *size = inference->shapes[1], *offsets = inference->shapes[2];
    if (in->rank >= 0 && in->rank != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be 4-dimensional (batch_size, height, width, depth)%s",
                          tw__shape_text(in));
    if (size->rank >= 0 && (size->rank != 1 || (size->dims[0] >= 0 && size->dims[0] != 2)))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be a vector of size 2 (height, width)%s",
                          tw__shape_text(size));
    if (offsets->rank >= 0 && offsets->rank != 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be a matrix%s", tw__shape_text(offsets));
    if (in->rank == 4 && offsets->rank == 2 && in->dims[0] >= 0 && offsets->dims[0] >= 0 && in->dims[0] != offsets->dims[0])
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "first dimension should be batch%s", tw__shape_text(offsets));
    if (offsets->rank == 2 && offsets->dims[1] >= 0 && offsets->dims[1] != 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "second dimension should be of size 2 (y,x)%s",
                          tw__shape_text(offsets));
    int64_t sides[2] = { -1, -1 };
    if (inference->values[1]) {
        TW_TRY(tw__tensor_read_ints(inference->values[1], "size", sides, 2));
        if (sides[0] <= 0 || sides[1] <= 0 || sides[0] > INT32_MAX || sides[1] > INT32_MAX)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s must be strictly positive: %lld",
                              sides[0] <= 0 ? "image_height" : "image_width", (long long)(sides[0] <= 0 ? sides[0] : sides[1]));
    }
    inference->out_shapes[0] = TW_SHAPE(in->rank == 4 ? in->dims[0] : -1, sides[0], sides[1], in->rank == 4 ? in->dims[3] : -1);
    return TW_OK;
}

/* Where a glimpse begins along an axis. */
static int64_t glimpse_start(float place, int64_t in, int64_t size, bool centered, bool normalized, bool old)
{
    if (normalized)
        place *= (float)in;
    if (old || normalized) {
        if (centered)
            place = place / 2 + (float)in / 2;
        if (centered || old)
            place -= (float)size / 2;
    } else if (centered) {
        place += (float)in / 2;
    }
    return !(place > -1e9f) ? -1000000000 : place > 1e9f ? 1000000000 : (int64_t)place;
}

/* What lies outside of an image: zeros, or values as they are in it by chance. */
static void noise(tw__words *words, char kind, const float *image, int64_t count, float *out, int64_t out_count)
{
    double least = INFINITY, most = -INFINITY, sum = 0, squares = 0;
    for (int64_t i = 0; kind != 'z' && i < count; i++) {
        double value = (double)image[i];
        least = value < least ? value : least;
        most = value > most ? value : most;
        sum += value;
        squares += value * value;
    }
    double mean = sum / (double)count, variance = squares / (double)count - mean * mean,
           spread = sqrt(variance > 0 ? variance : 0);
    for (int64_t i = 0; i < out_count; i++) {
        double first = kind == 'z' ? 0 : tw__words_uniform(words);
        if (kind == 'u')
            out[i] = (float)(least + (most - least) * first);
        else if (kind == 'g')
            out[i] = (float)(mean + spread * sqrt(-2 * log(1 - first)) * cos(2 * M_PI * tw__words_uniform(words)));
        else
            out[i] = 0;
    }
}

static tw_status noise_kind(tw__kernel *kernel, char *kind)
{
    tw_string word = TW_ATTR(kernel, "noise")->s;
    bool uniform = TW_ATTR(kernel, "uniform_noise")->b, says_uniform = word.size == 7 && memcmp(word.data, "uniform", 7) == 0;
    if (uniform && word.size && !says_uniform)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "The uniform_noise and noise could not be specified at the same time");
    if (says_uniform || (!word.size && uniform))
        *kind = 'u';
    else if (!word.size || (word.size == 8 && memcmp(word.data, "gaussian", 8) == 0))
        *kind = 'g';
    else if (word.size == 4 && memcmp(word.data, "zero", 4) == 0)
        *kind = 'z';
    else
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "The noise could only be uniform, gaussian, or zero, got%.*s",
                          (int)word.size, word.data);
    return TW_OK;
}

static tw_status glimpse_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    const tw_shape *from = &in->shape, *to = &kernel->outputs[0]->shape;
    const float *offsets = kernel->inputs[2]->data;
    bool old = kernel->op == &tw__op_ExtractGlimpse, centered = TW_ATTR(kernel, "centered")->b,
         normalized = TW_ATTR(kernel, "normalized")->b;
    int64_t depth = from->dims[3], size = from->dims[1] * from->dims[2] * depth, out_size = to->dims[1] * to->dims[2] * depth;
    char kind = 0;
    TW_TRY(noise_kind(kernel, &kind));
    tw__words words = tw__words_of(tw__philox_seeded((int64_t)tw__random_entropy(), (int64_t)tw__random_entropy()));
    for (int64_t b = 0; b < to->dims[0]; b++) {
        const float *image = (const float *)in->data + b * size;
        float *out = (float *)kernel->outputs[0]->data + b * out_size;
        int64_t top = glimpse_start(offsets[2 * b], from->dims[1], to->dims[1], centered, normalized, old);
        int64_t left = glimpse_start(offsets[2 * b + 1], from->dims[2], to->dims[2], centered, normalized, old);
        if (top < 0 || left < 0 || top + to->dims[1] >= from->dims[1] || left + to->dims[2] >= from->dims[2])
            noise(&words, kind, image, size, out, out_size);
        for (int64_t y = 0; y < to->dims[1]; y++) {
            for (int64_t x = 0; x < to->dims[2]; x++) {
                bool inside = top + y >= 0 && top + y < from->dims[1] && left + x >= 0 && left + x < from->dims[2];
                if (inside)
                    memcpy(out + (y * to->dims[2] + x) * depth, image + ((top + y) * from->dims[2] + left + x) * depth,
                           (size_t)depth * sizeof *out);
            }
        }
    }
    return TW_OK;
}

#define GLIMPSE                                                                                                       \
    .inputs = "input: float, size: int32, offsets: float", .outputs = "glimpse: float",                               \
    .attrs = "centered: bool = true, normalized: bool = true, uniform_noise: bool = true, noise: string = 'uniform'", \
    .shape = glimpse_shape, .compute = glimpse_compute

TW_OP(ExtractGlimpse, GLIMPSE, .doc = "A window of each image around a point; what lies outside is noise.");
TW_OP(ExtractGlimpseV2, .no_gradient = true, GLIMPSE,
      .doc = "The same; coordinates that are not normalized and centred count from the window's corner.");
