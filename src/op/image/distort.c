/* SampleDistortedBoundingBox in its versions: a part of an image by chance, of a range of areas and ratios of sides, that covers
 * enough of one of the boxes. The draws are TensorFlow's, one by one. */
#include <math.h>

#include "op/array/array.h"
#include "op/random/random.h"
#include "rows.h"

typedef struct rectangle {
    int64_t left, top, right, bottom;
} rectangle;

typedef struct limits {
    float ratio[2], area[2], covered;
    int64_t attempts;
} limits;

static tw_status distort_shape(tw__inference *inference)
{
    const tw_shape *size = inference->shapes[0], *boxes = inference->shapes[1];
    if (size->rank >= 0 && size->rank != 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "image_size must be 1-dimensional%s", tw__shape_text(size));
    if (size->rank == 1 && size->dims[0] >= 0 && size->dims[0] != 3)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "image_size must contain 3 elements%s", tw__shape_text(size));
    if (boxes->rank >= 0 && boxes->rank != 3)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "bounding_boxes must be 3-dimensional [batch, num_boxes, coords]%s",
                          tw__shape_text(boxes));
    if (boxes->rank == 3 && boxes->dims[2] >= 0 && boxes->dims[2] != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "bounding boxes must have shape [4]%s", tw__shape_text(boxes));
    if (inference->op == &tw__op_StatelessSampleDistortedBoundingBox)
        TW_TRY(tw__random_check_seed(inference, 3));
    inference->out_shapes[0] = inference->out_shapes[1] = TW_SHAPE(3);
    inference->out_shapes[2] = TW_SHAPE(1, 1, 4);
    return TW_OK;
}

static tw_status read_limits(tw__kernel *kernel, limits *l)
{
    const tw_attr *ratio = TW_ATTR(kernel, "aspect_ratio_range"), *area = TW_ATTR(kernel, "area_range");
    if (ratio->count != 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Aspect ratio range field must specify 2 dimensions");
    if (area->count != 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Area range field must specify 2 dimensions");
    for (int i = 0; i < 2; i++) {
        l->ratio[i] = (float)ratio->floats[i];
        l->area[i] = (float)area->floats[i];
    }
    if (!(l->ratio[0] > 0 && l->ratio[1] > 0))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Aspect ratio range must be non-negative: [%g, %g]", (double)l->ratio[0],
                          (double)l->ratio[1]);
    if (!(l->area[0] > 0 && l->area[1] > 0))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Area range must be non-negative: [%g, %g]", (double)l->area[0],
                          (double)l->area[1]);
    if (!(l->area[0] <= 1 && l->area[1] <= 1))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Area range must be less then or equal to 1.0: [%g, %g]",
                          (double)l->area[0], (double)l->area[1]);
    l->attempts = TW_ATTR(kernel, "max_attempts")->i;
    if (l->attempts <= 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Max attempts must be non-negative: %lld", (long long)l->attempts);
    bool old = kernel->op == &tw__op_SampleDistortedBoundingBox;
    if (!old && kernel->inputs[2]->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "min_object_covered must be 0-D, got shape %s",
                          tw__shape_text(&kernel->inputs[2]->shape));
    l->covered = old ? (float)TW_ATTR(kernel, "min_object_covered")->f : *(const float *)kernel->inputs[2]->data;
    if (!(l->covered >= 0))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Min object covered must be non-negative: %g", (double)l->covered);
    return TW_OK;
}

/* ---- draws ---- */

/* [0, 1), of the low bits of a word. */
static float draw_float(tw__words *words)
{
    union {
        uint32_t bits;
        float value;
    } both = { .bits = (tw__words_next(words) & 0x7fffff) | 0x3f800000 };
    return both.value - 1;
}

/* [0, limit), each as likely: words that would make the first ones likelier are dropped. */
static int64_t draw_below(tw__words *words, int64_t limit)
{
    uint32_t n = (uint32_t)limit, word, few;
    if ((n & (n - 1)) == 0)
        return n ? tw__words_next(words) & (n - 1) : (tw__words_next(words), 0);
    few = UINT32_MAX % n + 1;
    do
        word = tw__words_next(words);
    while (word < few);
    return word % n;
}

static int64_t round_of(float x)
{
    return x < 2e9f ? (int64_t)lrintf(x) : 2000000000;
}

/* The height of a part of that ratio, drawn between what the areas allow. */
static int64_t draw_height(tw__words *words, int64_t width, int64_t height, float least, float most, float ratio)
{
    int64_t low = round_of(sqrtf(least / ratio)), high = round_of(sqrtf(most / ratio));
    if (round_of((float)high * ratio) > width) {
        double fitting = ((double)width + 0.5 - 1e-7) / (double)ratio; /* the largest that rounds to no more than the width */
        high = fitting < 2e9 ? (int64_t)fitting : 2000000000;
        if (round_of((float)high * ratio) > width)
            high--;
    }
    high = high < height ? high : height;
    low = low < high ? low : high;
    return low < high ? low + draw_below(words, high - low + 1) : low;
}

static bool draw_part(tw__words *words, int64_t width, int64_t height, const limits *l, float ratio, rectangle *part)
{
    if (ratio <= 0 || width <= 0 || height <= 0 || l->area[0] > l->area[1])
        return false;
    float least = l->area[0] * (float)width * (float)height, most = l->area[1] * (float)width * (float)height;
    int64_t h = draw_height(words, width, height, least, most, ratio), w = round_of((float)h * ratio);
    float area = (float)(w * h);
    if (area < least) { /* what rounding did may be mended by one row */
        w = round_of((float)++h * ratio);
        area = (float)(w * h);
    }
    if (area > most) {
        w = round_of((float)--h * ratio);
        area = (float)(w * h);
    }
    if (area < least || area > most || w > width || h > height || w <= 0 || h <= 0)
        return false;
    int64_t top = h < height ? draw_below(words, height - h) : 0, left = w < width ? draw_below(words, width - w) : 0;
    *part = (rectangle){ left, top, left + w, top + h };
    return true;
}

/* ---- boxes ---- */

static float area_of(rectangle r)
{
    return r.right > r.left && r.bottom > r.top ? (float)((r.right - r.left) * (r.bottom - r.top)) : 0;
}

static bool covers(rectangle part, const float *boxes, int64_t count, int64_t width, int64_t height, float least)
{
    for (int64_t i = 0; i < count && area_of(part) >= 1; i++) {
        rectangle box = { 0, 0, width, height };
        if (boxes)
            box = (rectangle){ (int64_t)(boxes[4 * i + 1] * (float)width), (int64_t)(boxes[4 * i] * (float)height),
                               (int64_t)(boxes[4 * i + 3] * (float)width), (int64_t)(boxes[4 * i + 2] * (float)height) };
        rectangle both = { box.left > part.left ? box.left : part.left, box.top > part.top ? box.top : part.top,
                           box.right < part.right ? box.right : part.right, box.bottom < part.bottom ? box.bottom : part.bottom };
        if (area_of(box) >= 1 && area_of(both) / area_of(box) >= least)
            return true;
    }
    return false;
}

static tw_status check_boxes(tw__kernel *kernel, const tw_tensor *boxes)
{
    const float *values = boxes->data;
    for (int64_t i = 0; i < boxes->count; i++) {
        if (!(values[i] >= 0 && values[i] <= 1))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "All bounding box coordinates must be in [0.0, 1.0]: %g",
                              (double)values[i]);
    }
    if (!boxes->count && !TW_ATTR(kernel, "use_image_if_no_bounding_boxes")->b)
        return TW_OP_FAIL(
            kernel, TW_INVALID_ARGUMENT,
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide any bounding "
            "boxes.");
    return TW_OK;
}

static void give(tw__kernel *kernel, rectangle part, int64_t width, int64_t height)
{
    int64_t begin[3] = { part.top, part.left, 0 }, size[3] = { part.bottom - part.top, part.right - part.left, -1 };
    float *box = kernel->outputs[2]->data;
    for (int i = 0; i < 2; i++) {
        tw_tensor *out = kernel->outputs[i];
        const int64_t *from = i ? size : begin;
        for (int k = 0; k < 3; k++) {
            switch (tw__element_size(out->dtype)) {
            case 1:
                ((int8_t *)out->data)[k] = (int8_t)from[k];
                break;
            case 2:
                ((int16_t *)out->data)[k] = (int16_t)from[k];
                break;
            case 4:
                ((int32_t *)out->data)[k] = (int32_t)from[k];
                break;
            default:
                ((int64_t *)out->data)[k] = from[k];
            }
        }
    }
    box[0] = (float)part.top / (float)height;
    box[1] = (float)part.left / (float)width;
    box[2] = (float)part.bottom / (float)height;
    box[3] = (float)part.right / (float)width;
}

static tw_status distort_compute(tw__kernel *kernel)
{
    const tw_tensor *boxes = kernel->inputs[1];
    int64_t height = tw_tensor_int_at(kernel->inputs[0], 0), width = tw_tensor_int_at(kernel->inputs[0], 1);
    limits l = { .attempts = 0 };
    tw__philox philox;
    TW_TRY(read_limits(kernel, &l));
    TW_TRY(check_boxes(kernel, boxes));
    if (height < 0 || width < 0 || height > INT32_MAX / 2 || width > INT32_MAX / 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Image height and width must not be negative, or larger than 2**30: %lld, %lld", (long long)height,
                          (long long)width);
    if (kernel->op == &tw__op_StatelessSampleDistortedBoundingBox)
        philox = tw__philox_of_seed(kernel->inputs[3]);
    else
        TW_TRY(tw__random_draw(kernel, (uint64_t)l.attempts, &philox));
    tw__words words = tw__words_of(philox);
    rectangle part = { 0, 0, width, height };
    bool found = false;
    for (int64_t i = 0; !found && i < l.attempts; i++) {
        float ratio = draw_float(&words) * (l.ratio[1] - l.ratio[0]) + l.ratio[0];
        rectangle drawn;
        found = draw_part(&words, width, height, &l, ratio, &drawn) &&
                covers(drawn, boxes->count ? boxes->data : NULL, boxes->count ? boxes->count / 4 : 1, width, height, l.covered);
        part = found ? drawn : part;
    }
    give(kernel, part, width, height);
    return TW_OK;
}

#define OUTPUTS "begin: T, size: T, bboxes: float"
#define ATTRS                                                                                                        \
    "aspect_ratio_range: list(float) = [0.75, 1.33], area_range: list(float) = [0.05, 1], max_attempts: int = 100, " \
    "use_image_if_no_bounding_boxes: bool = false"
#define TYPE "T: {uint8, int8, int16, int32, int64}, "

TW_OP(SampleDistortedBoundingBox, .inputs = "image_size: T, bounding_boxes: float", .outputs = OUTPUTS,
      .attrs = TYPE "seed: int = 0, seed2: int = 0, min_object_covered: float = 0.1, " ATTRS, .shape = distort_shape,
      .compute = distort_compute, .stateful = true, .free_state = tw__free,
      .doc = "A part of an image that covers enough of a box.");
TW_OP(SampleDistortedBoundingBoxV2, .inputs = "image_size: T, bounding_boxes: float, min_object_covered: float",
      .outputs = OUTPUTS, .attrs = TYPE "seed: int = 0, seed2: int = 0, " ATTRS, .shape = distort_shape,
      .compute = distort_compute, .stateful = true, .free_state = tw__free,
      .doc = "A part of an image that covers enough of a box.");
TW_OP(StatelessSampleDistortedBoundingBox, .no_gradient = true,
      .inputs = "image_size: T, bounding_boxes: float, min_object_covered: float, seed: Tseed", .outputs = OUTPUTS,
      .attrs = TYPE "Tseed: {int32, int64}, " ATTRS, .shape = distort_shape, .compute = distort_compute,
      .doc = "A part of an image that covers enough of a box, as a function of a seed.");
