/* The gradients of CropAndResize: by the images (CropAndResizeGradImage) and by the boxes (CropAndResizeGradBoxes). */
#include <math.h>

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/image/image.h"
#include "rows.h"

/* What both know of one pixel of a crop. */
typedef struct tap {
    int64_t top, bottom, left, right;
    float down, along; /* between top and bottom, left and right */
    bool inside;
} tap;

/* Where place i of `count` lies along a side of `size` pixels. */
static float place_of(float low, float high, int64_t size, int64_t count, int64_t i)
{
    if (count > 1)
        return low * (float)(size - 1) + (float)i * ((high - low) * (float)(size - 1) / (float)(count - 1));
    return 0.5f * (low + high) * (float)(size - 1);
}

static tap tap_of(const float *box, int64_t height, int64_t width, int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    float y = place_of(box[0], box[2], height, rows, row), x = place_of(box[1], box[3], width, columns, column);
    tap p = { .inside = y >= 0 && y <= (float)(height - 1) && x >= 0 && x <= (float)(width - 1) };
    if (p.inside) {
        p.top = (int64_t)floorf(y), p.bottom = (int64_t)ceilf(y), p.left = (int64_t)floorf(x), p.right = (int64_t)ceilf(x);
        p.down = y - (float)p.top;
        p.along = x - (float)p.left;
    }
    return p;
}

static tw_status check_boxes(tw__kernel *kernel, const tw_tensor *boxes, const tw_tensor *which, int64_t crops, int64_t images)
{
    const int32_t *index = which->data;
    if (boxes->shape.dims[1] != 4 || boxes->shape.dims[0] != crops || which->count != crops)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "boxes and grads have incompatible shape");
    for (int64_t i = 0; i < crops; i++) {
        if (index[i] < 0 || index[i] >= images)
            return TW_OP_FAIL(kernel, TW_OUT_OF_RANGE, "box_index has values outside [0, batch_size)");
    }
    return TW_OK;
}

/* ---- by the images ---- */

static tw_status image_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(tw__need_rank(inference, 1, 2));
    TW_TRY(tw__need_rank(inference, 2, 1));
    tw_shape *out = &inference->out_shapes[0];
    *out = TW_SHAPE(-1, -1, -1, -1);
    if (inference->shapes[3]->rank >= 0 &&
        (inference->shapes[3]->rank != 1 || (inference->shapes[3]->dims[0] >= 0 && inference->shapes[3]->dims[0] != 4)))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "image_size must have 4 elements%s",
                          tw__shape_text(inference->shapes[3]));
    return inference->values[3] ? tw__shape_of_values(inference->op, inference->values[3], "image_size", false, out) : TW_OK;
}

static tw_status image_compute(tw__kernel *kernel)
{
    const tw_tensor *grads = kernel->inputs[0], *boxes = kernel->inputs[1];
    const int32_t *which = kernel->inputs[2]->data;
    tw_tensor *out = kernel->outputs[0];
    const tw_shape *from = &grads->shape, *to = &out->shape;
    int64_t height = to->dims[1], width = to->dims[2], depth = to->dims[3], rows = from->dims[1], columns = from->dims[2];
    bool nearest = TW_ATTR(kernel, "method")->s.data[0] == 'n';
    if (height <= 0 || width <= 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "image dimensions must be positive");
    if (from->dims[3] != depth)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "image_size and grads are incompatible");
    TW_TRY(check_boxes(kernel, boxes, kernel->inputs[2], from->dims[0], to->dims[0]));
    tw__owned float *sums = tw__alloc_array((size_t)out->count + 1, sizeof *sums);
    TW_NEED(sums);
    const float *g = grads->data;
    for (int64_t n = 0; depth && n < from->dims[0] * rows * columns; n++, g += depth) {
        int64_t box = n / (rows * columns);
        tap p = tap_of((const float *)boxes->data + 4 * box, height, width, rows, columns, n / columns % rows, n % columns);
        float *image = sums + which[box] * height * width * depth;
        if (!p.inside)
            continue;
        if (nearest) { /* halves are rounded up */
            p.top = p.bottom = p.down >= 0.5f ? p.bottom : p.top;
            p.left = p.right = p.along >= 0.5f ? p.right : p.left;
            p.down = p.along = 0;
        }
        for (int64_t c = 0; c < depth; c++) {
            float upper = (1 - p.down) * g[c], lower = p.down * g[c];
            image[(p.top * width + p.left) * depth + c] += (1 - p.along) * upper;
            image[(p.top * width + p.right) * depth + c] += p.along * upper;
            image[(p.bottom * width + p.left) * depth + c] += (1 - p.along) * lower;
            image[(p.bottom * width + p.right) * depth + c] += p.along * lower;
        }
    }
    tw__cast_run(TW_FLOAT32, out->dtype, sums, out->data, out->count, false);
    return TW_OK;
}

TW_OP(CropAndResizeGradImage, .no_gradient = true, .inputs = "grads: float, boxes: float, box_ind: int32, image_size: int32",
      .outputs = "output: T", .attrs = "T: {float, half, double}, method: {'bilinear', 'nearest'} = 'bilinear'",
      .shape = image_shape, .compute = image_compute, .doc = "The gradient of CropAndResize by the images.");

/* ---- by the boxes ---- */

static tw_status boxes_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(tw__need_rank(inference, 1, 4));
    TW_TRY(tw__need_rank(inference, 2, 2));
    TW_TRY(tw__need_rank(inference, 3, 1));
    inference->out_shapes[0] = *inference->shapes[2];
    return TW_OK;
}

/* What one pixel of a crop adds to the gradient of its box: by its place along an axis, whose two ends move it. */
static void add_ends(float slope, int64_t size, int64_t count, int64_t i, float *low, float *high)
{
    float whole = (float)(size - 1), part = count > 1 ? (float)i * whole / (float)(count - 1) : 0.5f * whole;
    *low += slope * (count > 1 ? whole - part : part);
    *high += slope * part;
}

static tw_status boxes_compute(tw__kernel *kernel)
{
    const tw_tensor *grads = kernel->inputs[0], *image = kernel->inputs[1], *boxes = kernel->inputs[2];
    const tw_shape *from = &grads->shape, *of = &image->shape;
    const int32_t *which = kernel->inputs[3]->data;
    int64_t height = of->dims[1], width = of->dims[2], depth = of->dims[3], rows = from->dims[1], columns = from->dims[2];
    if (height <= 0 || width <= 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "image dimensions must be positive");
    if (from->dims[3] != depth)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "image, grads depth differ");
    TW_TRY(check_boxes(kernel, boxes, kernel->inputs[3], from->dims[0], of->dims[0]));
    float *copy = NULL, *out = kernel->outputs[0]->data;
    const float *pixels = tw__image_floats(image, &copy), *g = grads->data;
    TW_NEED(pixels || !image->count);
    memset(out, 0, (size_t)kernel->outputs[0]->count * sizeof *out);
    for (int64_t n = 0; depth && n < from->dims[0] * rows * columns; n++, g += depth) {
        int64_t box = n / (rows * columns), row = n / columns % rows, column = n % columns;
        tap p = tap_of((const float *)boxes->data + 4 * box, height, width, rows, columns, row, column);
        const float *all = pixels + which[box] * height * width * depth;
        float by_y = 0, by_x = 0;
        for (int64_t c = 0; p.inside && c < depth; c++) {
            float a = all[(p.top * width + p.left) * depth + c], b = all[(p.top * width + p.right) * depth + c];
            float d = all[(p.bottom * width + p.left) * depth + c], e = all[(p.bottom * width + p.right) * depth + c];
            by_y += ((1 - p.along) * (d - a) + p.along * (e - b)) * g[c];
            by_x += ((1 - p.down) * (b - a) + p.down * (e - d)) * g[c];
        }
        if (p.inside) {
            add_ends(by_y, height, rows, row, &out[4 * box], &out[4 * box + 2]);
            add_ends(by_x, width, columns, column, &out[4 * box + 1], &out[4 * box + 3]);
        }
    }
    tw__free(copy);
    return TW_OK;
}

TW_OP(CropAndResizeGradBoxes, .no_gradient = true, .inputs = "grads: float, image: T, boxes: float, box_ind: int32",
      .outputs = "output: float",
      .attrs = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}, method: {'bilinear'} = 'bilinear'",
      .shape = boxes_shape, .compute = boxes_compute, .doc = "The gradient of CropAndResize by the boxes.");

tw_status tw__crop_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *image = g->inputs[0], *gradient = g->output_grads[0];
    if (g->wanted[0] && tw__dtype_is_float(image->dtype))
        tw__grad_set(g, 0,
                     TW_CALL(CropAndResizeGradImage, gradient, g->inputs[1], g->inputs[2], tw__temp_shape(t, image, TW_INT32),
                             TW_A_TYPE("T", image->dtype), *TW_ATTR(g, "method")));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(CropAndResizeGradBoxes, gradient, image, g->inputs[1], g->inputs[2]));
    return (g->wanted[0] && tw__dtype_is_float(image->dtype) && !g->input_grads[0]) || (g->wanted[1] && !g->input_grads[1])
               ? tw__error_status()
               : TW_OK;
}
