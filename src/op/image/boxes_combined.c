/* CombinedNonMaxSuppression: for each image of a batch, the best boxes of each class, then the best of all classes. */
#include <stdlib.h>

#include "op/array/array.h"
#include "op/image/suppress.h"
#include "rows.h"

#define FAIL(context, format, ...) tw__fail(TW_INVALID_ARGUMENT, format, ##__VA_ARGS__)

typedef struct result {
    const float *box;
    float score;
    int64_t class, place;
} result;

static int falling(const void *a, const void *b)
{
    const result *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->place > y->place) - (x->place < y->place);
}

/* How many boxes an image has in the output; -1: not known. */
static tw_status output_size(const tw_op *op, const tw_attr *attrs, const tw_tensor *per_class, const tw_tensor *total,
                             int64_t classes, int64_t *size)
{
    int64_t each, all;
    *size = -1;
    if (!total || !per_class)
        return TW_OK;
    TW_TRY(tw__scalar_value(op, total, "max_total_size", &all));
    TW_TRY(tw__scalar_value(op, per_class, "max_output_size_per_class", &each));
    if (each <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "max_output_size_per_class must be positive, got %lld", (long long)each);
    if (all <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "max_total_size must be > 0, got %lld", (long long)all);
    bool cut = tw__attr_find(op, attrs, "pad_per_class")->b;
    if (cut && classes < 0)
        return TW_OK;
    *size = cut && each * classes < all ? each * classes : all;
    return TW_OK;
}

static tw_status combined_shape(tw__inference *inference)
{
    const tw_shape *boxes = inference->shapes[0], *scores = inference->shapes[1];
    if (boxes->rank >= 0 && (boxes->rank != 4 || (boxes->dims[3] >= 0 && boxes->dims[3] != 4)))
        return FAIL(inference, "boxes must be 4-D with 4 columns, got %s", tw__shape_text(boxes));
    if (scores->rank >= 0 && scores->rank != 3)
        return FAIL(inference, "scores must be 3-D, got %s", tw__shape_text(scores));
    bool known = boxes->rank == 4 && scores->rank == 3;
    for (int i = 0; known && i < 2; i++) {
        if (boxes->dims[i] >= 0 && scores->dims[i] >= 0 && boxes->dims[i] != scores->dims[i])
            return FAIL(inference, "boxes and scores must have the same images and boxes, got %s and %s", tw__shape_text(boxes),
                        tw__shape_text(scores));
    }
    if (known && boxes->dims[2] >= 0 && scores->dims[2] >= 0 && boxes->dims[2] != 1 && boxes->dims[2] != scores->dims[2])
        return FAIL(inference, "third dimension of boxes must be either 1 or num classes");
    for (int i = 2; i < 6; i++) {
        if (inference->shapes[i]->rank > 0)
            return FAIL(inference, "%s must be 0-D, got shape %s", tw__op_signature_of(inference->op)->inputs[i].name,
                        tw__shape_text(inference->shapes[i]));
    }
    int64_t size, batch = boxes->rank == 4 ? boxes->dims[0] : -1;
    TW_TRY(output_size(inference->op, inference->attrs, inference->values[2], inference->values[3],
                       scores->rank == 3 ? scores->dims[2] : -1, &size));
    inference->out_shapes[0] = TW_SHAPE(batch, size, 4);
    inference->out_shapes[1] = inference->out_shapes[2] = TW_SHAPE(batch, size);
    inference->out_shapes[3] = TW_SHAPE(batch);
    return TW_OK;
}

typedef struct combination {
    tw__kernel *kernel;
    int64_t boxes, groups, classes, size, each;
    float threshold, score_threshold;
    bool clip;
    int64_t *chosen;
    float *scores;
    result *results;
} combination;

static void combination_end(combination *c)
{
    tw__free(c->chosen);
    tw__free(c->scores);
    tw__free(c->results);
}

static tw_status one_image(const combination *c, int64_t image)
{
    const float *boxes = (const float *)c->kernel->inputs[0]->data + image * c->boxes * c->groups * 4;
    const float *scores = (const float *)c->kernel->inputs[1]->data + image * c->boxes * c->classes;
    int64_t count = 0;
    for (int64_t k = 0; k < c->classes; k++) {
        tw__suppression job = { .boxes = boxes + (c->groups > 1 ? k * 4 : 0),
                                .box_step = c->groups * 4,
                                .scores = scores + k,
                                .score_step = c->classes,
                                .count = c->boxes,
                                .limit = c->each,
                                .threshold = c->threshold,
                                .score_threshold = c->score_threshold };
        int64_t found = tw__suppress(&job, c->chosen, c->scores);
        if (found < 0)
            return tw__error_status();
        for (int64_t i = 0; i < found; i++, count++)
            c->results[count] = (result){ job.boxes + c->chosen[i] * job.box_step, c->scores[i], k, count };
    }
    qsort(c->results, (size_t)count, sizeof *c->results, falling);
    count = count < c->size ? count : c->size;
    tw_tensor *const *out = c->kernel->outputs;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = image * c->size + i;
        for (int d = 0; d < 4; d++) {
            float edge = c->results[i].box[d];
            ((float *)out[0]->data)[4 * at + d] = !c->clip ? edge : edge < 0 ? 0 : edge > 1 ? 1 : edge;
        }
        ((float *)out[1]->data)[at] = c->results[i].score;
        ((float *)out[2]->data)[at] = (float)c->results[i].class;
    }
    ((int32_t *)out[3]->data)[image] = (int32_t)count;
    return TW_OK;
}

static tw_status combined_compute(tw__kernel *kernel)
{
    const tw_shape *boxes = &kernel->inputs[0]->shape, *scores = &kernel->inputs[1]->shape;
    tw__auto(combination_end) combination c = { .kernel = kernel,
                                                .boxes = boxes->dims[1],
                                                .groups = boxes->dims[2],
                                                .classes = scores->dims[2],
                                                .threshold = (float)tw_tensor_double_at(kernel->inputs[4], 0),
                                                .score_threshold = (float)tw_tensor_double_at(kernel->inputs[5], 0),
                                                .clip = TW_ATTR(kernel, "clip_boxes")->b };
    TW_TRY(output_size(kernel->op, kernel->attrs, kernel->inputs[2], kernel->inputs[3], c.classes, &c.size));
    if (!(c.threshold >= 0 && c.threshold <= 1))
        return FAIL(kernel, "iou_threshold must be in [0, 1]");
    int64_t batch = boxes->dims[0], each = tw_tensor_int_at(kernel->inputs[2], 0);
    c.each = each < c.boxes ? each : c.boxes;
    tw_shape shapes[4] = { TW_SHAPE(batch, c.size, 4), TW_SHAPE(batch, c.size), TW_SHAPE(batch, c.size), TW_SHAPE(batch) };
    for (int i = 0; i < 4; i++) {
        tw_tensor *out = tw__output(kernel, i, &shapes[i]);
        if (!out)
            return tw__error_status();
        memset(out->data, 0, (size_t)out->count * 4);
    }
    c.chosen = tw__alloc_array((size_t)c.each + 1, sizeof *c.chosen);
    c.scores = tw__alloc_array((size_t)c.each + 1, sizeof *c.scores);
    c.results = tw__alloc_array((size_t)(c.each * c.classes) + 1, sizeof *c.results);
    TW_NEED(c.chosen && c.scores && c.results);
    for (int64_t i = 0; i < batch; i++)
        TW_TRY(one_image(&c, i));
    return TW_OK;
}

TW_OP(
    CombinedNonMaxSuppression,
    .inputs =
        "boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, iou_threshold: float, score_threshold: float",
    .outputs = "nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, valid_detections: int32",
    .attrs = "pad_per_class: bool = false, clip_boxes: bool = true", .shape = combined_shape, .compute = combined_compute,
    .makes_outputs = true, .doc = "The best boxes of each image that do not overlap with better ones of their class.");
