/* CropAndResize: parts of images, each brought to one size. */
#include <math.h>

#include "op/array/array.h"
#include "op/image/image.h"
#include "rows.h"

static tw_status crop_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(tw__need_rank(inference, 1, 2));
    TW_TRY(tw__need_rank(inference, 2, 1));
    TW_TRY(tw__need_pair(inference, 3, "crop_size"));
    const tw_shape *image = inference->shapes[0], *boxes = inference->shapes[1], *which = inference->shapes[2];
    if (boxes->rank == 2 && boxes->dims[1] >= 0 && boxes->dims[1] != 4)
        return tw__fail(TW_INVALID_ARGUMENT, "boxes must have 4 columns, got shape %s", tw__shape_text(boxes));
    int64_t count = boxes->rank == 2 && boxes->dims[0] >= 0 ? boxes->dims[0]
                    : which->rank == 1                      ? which->dims[0]
                                                            : -1,
            size[2] = { -1, -1 };
    if (which->rank == 1 && which->dims[0] >= 0 && count >= 0 && which->dims[0] != count)
        return tw__fail(TW_INVALID_ARGUMENT, "box_ind has incompatible shape: %s for boxes of %s", tw__shape_text(which),
                        tw__shape_text(boxes));
    if (inference->values[3]) {
        TW_TRY(tw__tensor_read_ints(inference->values[3], "crop_size", size, 2));
        if (size[0] <= 0 || size[1] <= 0)
            return tw__fail(TW_INVALID_ARGUMENT, "crop dimensions must be positive");
    }
    inference->out_shapes[0] = TW_SHAPE(count, size[0], size[1], image->rank == 4 ? image->dims[3] : -1);
    return TW_OK;
}

typedef struct crop {
    const float *in;
    float *out;
    int64_t height, width, channels, crop_height, crop_width;
    const float *boxes;
    const int32_t *which;
    float outside;
    bool nearest;
} crop;

/* Where place i of `count` lies along a side of `size` pixels, between `low` and `high`. */
static float place_of(float low, float high, int64_t size, int64_t count, int64_t i)
{
    if (count > 1) {
        float scale = (high - low) * (float)(size - 1) / (float)(count - 1);
        return low * (float)(size - 1) + (float)i * scale;
    }
    return 0.5f * (low + high) * (float)(size - 1);
}

static void crop_pixel(const crop *r, const float *image, float y, float x, float *out)
{
    if (!(y >= 0 && y <= (float)(r->height - 1) && x >= 0 && x <= (float)(r->width - 1))) {
        for (int64_t c = 0; c < r->channels; c++)
            out[c] = r->outside;
        return;
    }
    if (r->nearest) {
        memcpy(out, image + ((int64_t)roundf(y) * r->width + (int64_t)roundf(x)) * r->channels,
               (size_t)r->channels * sizeof *out);
        return;
    }
    int64_t top = (int64_t)floorf(y), bottom = (int64_t)ceilf(y), left = (int64_t)floorf(x), right = (int64_t)ceilf(x);
    float down = y - (float)top, along = x - (float)left;
    for (int64_t c = 0; c < r->channels; c++) {
        float a = image[(top * r->width + left) * r->channels + c], b = image[(top * r->width + right) * r->channels + c];
        float d = image[(bottom * r->width + left) * r->channels + c], e = image[(bottom * r->width + right) * r->channels + c];
        float upper = a + (b - a) * along, lower = d + (e - d) * along;
        out[c] = upper + (lower - upper) * down;
    }
}

static void crop_boxes(void *context, int64_t begin, int64_t end)
{
    const crop *r = context;
    for (int64_t box = begin; box < end; box++) {
        const float *b = r->boxes + 4 * box, *image = r->in + r->which[box] * r->height * r->width * r->channels;
        float *out = r->out + box * r->crop_height * r->crop_width * r->channels;
        for (int64_t y = 0; y < r->crop_height; y++) {
            for (int64_t x = 0; x < r->crop_width; x++, out += r->channels)
                crop_pixel(r, image, place_of(b[0], b[2], r->height, r->crop_height, y),
                           place_of(b[1], b[3], r->width, r->crop_width, x), out);
        }
    }
}

static tw_status crop_compute(tw__kernel *kernel)
{
    const tw_tensor *image = kernel->inputs[0];
    const tw_shape *out = &kernel->outputs[0]->shape;
    crop r = { .out = kernel->outputs[0]->data,
               .height = image->shape.dims[1],
               .width = image->shape.dims[2],
               .channels = image->shape.dims[3],
               .crop_height = out->dims[1],
               .crop_width = out->dims[2],
               .boxes = kernel->inputs[1]->data,
               .which = kernel->inputs[2]->data,
               .outside = (float)TW_ATTR(kernel, "extrapolation_value")->f,
               .nearest = TW_ATTR(kernel, "method")->s.data[0] == 'n' };
    if (r.height <= 0 || r.width <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "image dimensions must be positive");
    for (int64_t i = 0; i < out->dims[0]; i++) {
        if (r.which[i] < 0 || r.which[i] >= image->shape.dims[0])
            return tw__fail(TW_OUT_OF_RANGE, "box_index has values outside [0, batch_size)");
    }
    if (!kernel->outputs[0]->count)
        return TW_OK;
    float *copy;
    r.in = tw__image_floats(image, &copy);
    if (!r.in)
        return TW_RESOURCE_EXHAUSTED;
    tw__parallel(out->dims[0], 1, crop_boxes, &r);
    tw__free(copy);
    return TW_OK;
}

TW_OP(CropAndResize, .inputs = "image: T, boxes: float, box_ind: int32, crop_size: int32", .outputs = "crops: float",
      .attrs =
          "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}, method: {'bilinear', 'nearest'} = 'bilinear', "
          "extrapolation_value: float = 0",
      .shape = crop_shape, .compute = crop_compute, .gradient = tw__crop_gradient,
      .function = "image.crop_and_resize(image: tensor, boxes: tensor<float32>, box_indices: tensor<int32>, "
                  "crop_size: tensor<int32>, method: str = bilinear, extrapolation_value: float = 0.0, "
                  "name: str = None) -> tensor",
      .doc = "Boxes of images (y1, x1, y2, x2 from 0 to 1), each resized to crop_size.\n"
             "image: images [batch, height, width, channels]\n"
             "box_indices: for each box the number of its image\n"
             "crop_size: the height and width of the results\n"
             "extrapolation_value: what stands outside of the image\n"
             "returns: [boxes, height, width, channels], float32");
