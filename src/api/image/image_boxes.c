/* tf.image: boxes of images: which to keep, where to draw them, parts by chance; windows and glimpses. */
#include <math.h>

#include "api/image/image.h"
#include "api/random/random.h"
#include "op/calls.h"
#include "rows.h"

/* ---- the choice of boxes ---- */

/* A number that was not given. */
static tw_tensor *given_or(tw__temps *t, tw_tensor *value, double other, tw_dtype dtype)
{
    return value ? tw__temp_cast(t, value, dtype) : tw__temp_float(t, dtype, other);
}

/* Two tensors as a tuple; takes them. */
static tw_value pair_of(tw_tensor *first, tw_tensor *second)
{
    tw_value *pair = first && second ? tw__alloc_array(2, sizeof *pair) : NULL;
    if (!pair) {
        tw_release(first);
        tw_release(second);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    pair[0] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = first };
    pair[1] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = second };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2, NULL } };
}

/* Arguments of the functions that draw a part of an image. */
#define CROP_ARGUMENTS                                                                                              \
    "min_object_covered: tensor<float32> = None shown 0.1, aspect_ratio_range: value = None, "                      \
    "area_range: value = None, max_attempts: int = None, use_image_if_no_bounding_boxes: bool = False shown None, " \
    "name: str = None"

TW_API(
    image_non_max_suppression,
    "image.non_max_suppression(boxes: tensor<float32>, scores: tensor<float32>, max_output_size: tensor<int32>, "
    "iou_threshold: tensor<float32> = None shown 0.5, score_threshold: tensor<float32> = None shown -inf, name: str = None) -> tensor",
    "The numbers of the best boxes that do not overlap with better ones by more than iou_threshold (0.5).")
{
    TW_TEMPS(t);
    return TW_CALL(NonMaxSuppressionV3, args->boxes, args->scores, args->max_output_size,
                   given_or(t, args->iou_threshold, 0.5, TW_FLOAT32), given_or(t, args->score_threshold, -INFINITY, TW_FLOAT32));
}

TW_API(
    image_non_max_suppression_overlaps,
    "image.non_max_suppression_overlaps(overlaps: tensor<float32>, scores: tensor<float32>, max_output_size: tensor<int32>, "
    "overlap_threshold: tensor<float32> = None shown 0.5, score_threshold: tensor<float32> = None shown -inf, name: str = None) -> tensor",
    "The same where a matrix says how much boxes overlap.\n"
    "overlaps: how much each box overlaps each other, [number, number]\n"
    "overlap_threshold: boxes that overlap a better one by more are dropped\n"
    "returns: the numbers of the boxes that are kept")
{
    TW_TEMPS(t);
    return TW_CALL(NonMaxSuppressionWithOverlaps, args->overlaps, args->scores, args->max_output_size,
                   given_or(t, args->overlap_threshold, 0.5, TW_FLOAT32),
                   given_or(t, args->score_threshold, -INFINITY, TW_FLOAT32));
}

TW_API(
    image_non_max_suppression_with_scores,
    "image.non_max_suppression_with_scores(boxes: tensor<float32>, scores: tensor<float32>, max_output_size: tensor<int32>, "
    "iou_threshold: tensor<float32> = None shown 0.5, score_threshold: tensor<float32> = None shown -inf, soft_nms_sigma: tensor<float32> = None shown 0.0, name: str = None) -> value",
    "(numbers, scores) of the best boxes; with a sigma, boxes lose some of their score by overlapping instead of being dropped.\n"
    "soft_nms_sigma: how slowly scores sink with the overlap; 0: boxes are dropped instead")
{
    TW_TEMPS(t);
    tw_tensor *made[3];
    tw_dtype dtype = args->boxes->dtype;
    if (TW_CALL_ALL(made, NonMaxSuppressionV5, args->boxes, args->scores, args->max_output_size,
                    given_or(t, args->iou_threshold, 0.5, dtype), given_or(t, args->score_threshold, -INFINITY, dtype),
                    given_or(t, args->soft_nms_sigma, 0, dtype), TW_A_BOOL("pad_to_max_output_size", false)) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw_release(made[2]);
    return pair_of(made[0], made[1]);
}

/* Of one image. */
static tw_status padded(tw__temps *t, tw_tensor *boxes, tw_tensor *scores, tw_tensor *most, tw_tensor *threshold,
                        tw_tensor *least, bool pad, tw_tensor **made)
{
    tw_tensor *both[2];
    tw_status status =
        TW_TEMP_ALL(both, NonMaxSuppressionV4, boxes, scores, most, threshold, least, TW_A_BOOL("pad_to_max_output_size", pad));
    made[0] = both[0];
    made[1] = both[1];
    return status;
}

enum { MOST_IMAGES = 1024 };

TW_API(
    image_non_max_suppression_padded,
    "image.non_max_suppression_padded(boxes: tensor<float32>, scores: tensor<float32>, max_output_size: tensor<int32>, "
    "iou_threshold: tensor<float32> = None shown 0.5, score_threshold: tensor<float32> = None shown -inf, pad_to_max_output_size: bool = False, name: str = None, "
    "sorted_input: bool = False, canonicalized_coordinates: bool = False, tile_size: int = 512) -> value",
    "(numbers, count): non_max_suppression, filled up with zeros to max_output_size; also of batches.\n"
    "pad_to_max_output_size: True: the result is `max_output_size` long\n"
    "sorted_input: True: boxes are in the order of their scores already\n"
    "canonicalized_coordinates: True: each box has its least corner first\n"
    "tile_size: how many boxes are compared at a time; the result is the same")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_tensor *threshold = given_or(t, args->iou_threshold, 0.5, TW_FLOAT32),
              *least = given_or(t, args->score_threshold, -INFINITY, TW_FLOAT32);
    tw_tensor *made[2], *numbers[MOST_IMAGES], *counts[MOST_IMAGES];
    const tw_shape *shape = &args->boxes->shape;
    if (shape->rank != 3) {
        if (padded(t, args->boxes, args->scores, args->max_output_size, threshold, least, args->pad_to_max_output_size, made) !=
            TW_OK)
            return none;
        return pair_of(tw_retain(made[0]), tw_retain(made[1]));
    }
    if (!args->pad_to_max_output_size) {
        tw__fail(TW_VALUE_ERROR, "'pad_to_max_output_size' (value False) must be True for batched input");
        return none;
    }
    if (shape->dims[0] < 1 || shape->dims[0] > MOST_IMAGES) {
        tw__fail(TW_UNIMPLEMENTED, "non_max_suppression_padded: a batch of boxes of shape %s; from 1 to %d images are supported",
                 tw__shape_text(shape), MOST_IMAGES);
        return none;
    }
    for (int i = 0; i < shape->dims[0]; i++) {
        tw_tensor *boxes = tw__temp_at(t, args->boxes, i), *scores = boxes ? tw__temp_at(t, args->scores, i) : NULL;
        if (!scores || padded(t, boxes, scores, args->max_output_size, threshold, least, true, made) != TW_OK)
            return none;
        numbers[i] = made[0];
        counts[i] = made[1];
    }
    return pair_of(tw__call(&tw__op_Pack, numbers, (int)shape->dims[0], NULL, 0),
                   tw__call(&tw__op_Pack, counts, (int)shape->dims[0], NULL, 0));
}

TW_API(
    image_combined_non_max_suppression,
    "image.combined_non_max_suppression(boxes: tensor<float32>, scores: tensor<float32>, max_output_size_per_class: tensor<int32>, "
    "max_total_size: tensor<int32>, iou_threshold: tensor<float32> = None shown 0.5, score_threshold: tensor<float32> = None shown -inf, pad_per_class: bool = False, "
    "clip_boxes: bool = True, name: str = None) -> tensors<CombinedNonMaxSuppression>",
    "For each image of a batch, the best boxes of each class, then the best of all classes.\n"
    "boxes: [batch, number, classes or 1, 4]\n"
    "scores: [batch, number, classes]\n"
    "max_output_size_per_class: how many boxes of a class are kept at most\n"
    "max_total_size: how many boxes of an image are kept at most\n"
    "pad_per_class: True: results are as long as the smaller of `max_total_size` and `max_output_size_per_class` times the classes\n"
    "clip_boxes: True: boxes are cut to lie between 0 and 1\n"
    "returns: boxes, scores, classes, and how many of them count for each image")
{
    TW_TEMPS(t);
    tw_tensor *threshold = given_or(t, args->iou_threshold, 0.5, TW_FLOAT32),
              *least = given_or(t, args->score_threshold, -INFINITY, TW_FLOAT32);
    return tw__call_many(&tw__op_CombinedNonMaxSuppression,
                         TW_IN(args->boxes, args->scores, args->max_output_size_per_class, args->max_total_size, threshold,
                               least),
                         6, TW_WITH(TW_A_BOOL("pad_per_class", args->pad_per_class), TW_A_BOOL("clip_boxes", args->clip_boxes)),
                         2, 4);
}

/* ---- drawing, windows, glimpses ---- */

static tw_tensor *draw(tw_tensor *images, tw_tensor *boxes, tw_tensor *colors)
{
    return colors ? TW_CALL(DrawBoundingBoxesV2, images, boxes, colors) : TW_CALL(DrawBoundingBoxes, images, boxes);
}

TW_API(
    image_draw_bounding_boxes,
    "image.draw_bounding_boxes(images: tensor<float32>, boxes: tensor<float32>, colors: tensor<float32> = None, name: str = None) -> tensor",
    "Images with frames of boxes, of the colours in turn.\n"
    "colors: colours [number, channels]; None: those built in")
{
    return draw(args->images, args->boxes, args->colors);
}

TW_API(
    v1_image_draw_bounding_boxes,
    "compat.v1.image.draw_bounding_boxes(images: tensor<float32>, boxes: tensor<float32>, name: str = None, colors: tensor<float32> = None) -> tensor",
    "Images with frames of boxes.\n"
    "colors: colours [number, channels]; None: those built in")
{
    return draw(args->images, args->boxes, args->colors);
}

static tw_tensor *patches(tw_tensor *images, tw_ints sizes, tw_ints strides, tw_ints rates, const char *padding)
{
    return TW_CALL(ExtractImagePatches, images, TW_A_INTS("ksizes", sizes.items, sizes.count),
                   TW_A_INTS("strides", strides.items, strides.count), TW_A_INTS("rates", rates.items, rates.count),
                   TW_A_STRING("padding", padding));
}

TW_API(image_extract_patches,
       "image.extract_patches(images: tensor, sizes: ints, strides: ints, rates: ints, padding: str, name: str = None) -> tensor",
       "The windows of images, each laid out as the channels of one place.\n"
       "sizes: the size of windows: [1, rows, columns, 1]\n"
       "rates: the distance between the pixels of a window: [1, rows, columns, 1]\n"
       "strides: by how much windows move: [1, rows, columns, 1]\n"
       "returns: [batch, rows, columns, elements of a window]")
{
    return patches(args->images, args->sizes, args->strides, args->rates, args->padding);
}

TW_API(
    v1_image_extract_image_patches,
    "compat.v1.image.extract_image_patches|compat.v1.extract_image_patches(images: tensor, ksizes: ints = None, strides: ints = None, "
    "rates: ints = None, padding: str = None, name: str = None, sizes: ints = None) -> tensor",
    "extract_patches as it was called.\n"
    "ksizes: the size of windows: [1, rows, columns, 1]\n"
    "sizes: the same as `ksizes`\n"
    "rates: the distance between the pixels of a window: [1, rows, columns, 1]\n"
    "strides: by how much windows move: [1, rows, columns, 1]")
{
    if (args->ksizes.given == args->sizes.given || !args->strides.given || !args->rates.given || !args->padding) {
        tw__fail(TW_VALUE_ERROR, "extract_image_patches: ksizes or sizes, and strides, rates and padding must be given");
        return NULL;
    }
    return patches(args->images, args->ksizes.given ? args->ksizes : args->sizes, args->strides, args->rates, args->padding);
}

TW_API(
    image_extract_glimpse,
    "image.extract_glimpse(input: tensor<float32>, size: tensor<int32>, offsets: tensor<float32>, centered: bool = True, normalized: bool = True, "
    "noise: str = uniform, name: str = None) -> tensor",
    "A window of each image around a point; what lies outside is noise.\n"
    "input: images [batch, height, width, channels]\n"
    "size: height and width of the windows\n"
    "offsets: the middle of each window, [batch, 2], rows first\n"
    "centered: True: 0 is the middle of the image; False: its upper left corner\n"
    "normalized: True: offsets are parts of the image's sides; False: pixels\n"
    "noise: what stands outside of the image: `uniform`, `gaussian` or `zero`")
{
    return TW_CALL(ExtractGlimpseV2, args->input, args->size, args->offsets, TW_A_BOOL("centered", args->centered),
                   TW_A_BOOL("normalized", args->normalized), TW_A_BOOL("uniform_noise", false),
                   TW_A_STRING("noise", args->noise));
}

TW_API(
    v1_image_extract_glimpse,
    "compat.v1.image.extract_glimpse(input: tensor<float32>, size: tensor<int32>, offsets: tensor<float32>, centered: bool = True, "
    "normalized: bool = True, uniform_noise: bool = True, name: str = None) -> tensor",
    "A window of each image around a point.\n"
    "input: images [batch, height, width, channels]\n"
    "size: height and width of the windows\n"
    "offsets: the middle of each window, [batch, 2], rows first\n"
    "centered: True: 0 is the middle of the image; False: its upper left corner\n"
    "normalized: True: offsets are parts of the image's sides; False: pixels\n"
    "uniform_noise: True: what stands outside of the image is drawn uniformly; False: normally")
{
    return TW_CALL(ExtractGlimpse, args->input, args->size, args->offsets, TW_A_BOOL("centered", args->centered),
                   TW_A_BOOL("normalized", args->normalized), TW_A_BOOL("uniform_noise", args->uniform_noise));
}

/* ---- parts by chance ---- */

/* An attr of two floats of what was given. False: it is no list of numbers. */
static bool range_attr(const tw_value *value, const char *name, double low, double high, double *room, tw_attr *attr)
{
    *attr = (tw_attr){ .name = name, .kind = TW_ATTR_FLOATS, .count = 2, .floats = room };
    room[0] = low;
    room[1] = high;
    if (value->kind == TW_VALUE_NONE)
        return true;
    bool good =
        (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) && value->list.count >= 0 && value->list.count <= 2;
    for (int64_t i = 0; good && i < value->list.count; i++)
        good = tw__value_plain_number(&value->list.items[i], &room[i]);
    attr->count = good ? (int32_t)value->list.count : 2;
    if (!good)
        tw__fail(TW_TYPE_ERROR, "%s must be a list of two numbers", name);
    return good;
}

typedef struct chance {
    const tw_value *ratios, *areas;
    int64_t attempts;
    bool whole; /* where there are no boxes */
} chance;

static tw_tensors distorted(tw_tensor *size, tw_tensor *boxes, tw_tensor *covered, tw_tensor *seed, tw__seeds seeds,
                            const chance *c)
{
    TW_TEMPS(t);
    double ratios[2], areas[2];
    tw_attr attrs[6] = { [2] = TW_A_INT("max_attempts", c->attempts == TW_NO_INT ? 100 : c->attempts),
                         [3] = TW_A_BOOL("use_image_if_no_bounding_boxes", c->whole),
                         [4] = TW_A_INT("seed", seeds.seed),
                         [5] = TW_A_INT("seed2", seeds.seed2) };
    if (!range_attr(c->ratios, "aspect_ratio_range", 0.75, 1.33, ratios, &attrs[0]) ||
        !range_attr(c->areas, "area_range", 0.05, 1, areas, &attrs[1]))
        return (tw_tensors){ 0 };
    covered = given_or(t, covered, 0.1, TW_FLOAT32);
    if (seed)
        return tw__call_many(&tw__op_StatelessSampleDistortedBoundingBox, TW_IN(size, boxes, covered, seed), 4, attrs, 4, 3);
    return tw__call_many(&tw__op_SampleDistortedBoundingBoxV2, TW_IN(size, boxes, covered), 3, attrs, 6, 3);
}

#define CHANCE                                                                                                 \
    &(chance)                                                                                                  \
    {                                                                                                          \
        &args->aspect_ratio_range, &args->area_range, args->max_attempts, args->use_image_if_no_bounding_boxes \
    }

TW_API(image_sample_distorted_bounding_box,
       "image.sample_distorted_bounding_box(image_size: tensor, bounding_boxes: tensor<float32>, seed: int = 0, " CROP_ARGUMENTS
       ") -> tensors<SampleDistortedBoundingBoxV2>",
       "Begin, size and box of a part of an image by chance that covers enough of one of the boxes.")
{
    tw__seeds seeds = args->seed ? tw__seed_pair(args->seed) : (tw__seeds){ 0 };
    return distorted(args->image_size, args->bounding_boxes, args->min_object_covered, NULL, seeds, CHANCE);
}

TW_API(image_stateless_sample_distorted_bounding_box,
       "image.stateless_sample_distorted_bounding_box(image_size: tensor, bounding_boxes: tensor<float32>, "
       "seed: tensor<int32>, " CROP_ARGUMENTS ") -> tensors<StatelessSampleDistortedBoundingBox>",
       "sample_distorted_bounding_box as a function of a seed, two integers.")
{
    return distorted(args->image_size, args->bounding_boxes, args->min_object_covered, args->seed, (tw__seeds){ 0 }, CHANCE);
}

TW_API(v1_image_sample_distorted_bounding_box,
       "compat.v1.image.sample_distorted_bounding_box(image_size: tensor, bounding_boxes: tensor<float32>, "
       "seed: int = None, seed2: int = None, " CROP_ARGUMENTS ") -> tensors<SampleDistortedBoundingBoxV2>",
       "Begin, size and box of a part of an image by chance; both seeds are the op's.\n"
       "seed2: a second seed")
{
    tw__seeds seeds = { .seed = args->seed == TW_NO_INT ? 0 : args->seed, .seed2 = args->seed2 == TW_NO_INT ? 0 : args->seed2 };
    return distorted(args->image_size, args->bounding_boxes, args->min_object_covered, NULL, seeds, CHANCE);
}
