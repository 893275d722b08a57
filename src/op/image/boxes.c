/* NonMaxSuppression in all its versions, and over given overlaps. The versions differ in what is an input and in what they give
 * besides the numbers of the boxes; one description per version says where things are. */
#include <float.h>

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/image/suppress.h"
#include "rows.h"

/* Inputs by number; 0: it has none. */
typedef struct version {
    const tw_op *op;
    int threshold, score_threshold, sigma;
    bool overlaps, padded;
    int scores_output, count_output;
} version;

static const version versions[] = {
    { &tw__op_NonMaxSuppression, 0, 0, 0, false, false, 0, 0 },
    { &tw__op_NonMaxSuppressionV2, 3, 0, 0, false, false, 0, 0 },
    { &tw__op_NonMaxSuppressionV3, 3, 4, 0, false, false, 0, 0 },
    { &tw__op_NonMaxSuppressionV4, 3, 4, 0, false, true, 0, 1 },
    { &tw__op_NonMaxSuppressionV5, 3, 4, 5, false, true, 1, 2 },
    { &tw__op_NonMaxSuppressionWithOverlaps, 3, 4, 0, true, false, 0, 0 },
};

static const version *version_of(const tw_op *op)
{
    const version *v = versions;
    while (v->op != op)
        v++;
    return v;
}

#define FAIL(context, format, ...) tw__fail(TW_INVALID_ARGUMENT, format, ##__VA_ARGS__)

static tw_status boxes_shape(tw__inference *inference)
{
    const version *v = version_of(inference->op);
    const tw_shape *boxes = inference->shapes[0], *scores = inference->shapes[1];
    if (boxes->rank >= 0 && boxes->rank != 2)
        return FAIL(inference, "%s must be 2-D%s", v->overlaps ? "overlaps" : "boxes", tw__shape_text(boxes));
    if (boxes->rank == 2 && !v->overlaps && boxes->dims[1] >= 0 && boxes->dims[1] != 4)
        return FAIL(inference, "boxes must have 4 columns");
    if (boxes->rank == 2 && v->overlaps && boxes->dims[0] >= 0 && boxes->dims[1] >= 0 && boxes->dims[0] != boxes->dims[1])
        return FAIL(inference, "overlaps must be square");
    if (scores->rank >= 0 && scores->rank != 1)
        return FAIL(inference, "scores must be 1-D%s", tw__shape_text(scores));
    if (boxes->rank == 2 && scores->rank == 1 && boxes->dims[0] >= 0 && scores->dims[0] >= 0 && boxes->dims[0] != scores->dims[0])
        return FAIL(inference, "scores has incompatible shape");
    for (int i = 2; i < inference->input_count; i++) {
        if (inference->shapes[i]->rank > 0)
            return FAIL(inference, "%s must be 0-D, got shape %s", tw__op_signature_of(inference->op)->inputs[i].name,
                        tw__shape_text(inference->shapes[i]));
    }
    int64_t count = -1;
    if (v->padded && TW_ATTR(inference, "pad_to_max_output_size")->b && inference->values[2])
        TW_TRY(tw__scalar_value(inference->op, inference->values[2], "max_output_size", &count));
    inference->out_shapes[0] = TW_SHAPE(count < 0 ? -1 : count);
    if (v->scores_output)
        inference->out_shapes[v->scores_output] = inference->out_shapes[0];
    if (v->count_output)
        inference->out_shapes[v->count_output] = TW_SCALAR;
    return TW_OK;
}

static tw_status read_job(tw__kernel *kernel, const version *v, tw__suppression *job)
{
    int64_t limit;
    TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[2], "max_output_size", &limit));
    job->count = kernel->inputs[1]->count;
    job->limit = limit < job->count ? limit : job->count;
    job->score_step = 1;
    job->box_step = 4;
    job->threshold =
        v->threshold ? (float)tw_tensor_double_at(kernel->inputs[v->threshold], 0) : (float)TW_ATTR(kernel, "iou_threshold")->f;
    job->score_threshold = v->score_threshold ? (float)tw_tensor_double_at(kernel->inputs[v->score_threshold], 0) : -FLT_MAX;
    job->sigma = v->sigma ? (float)tw_tensor_double_at(kernel->inputs[v->sigma], 0) : 0;
    if (limit < 0)
        return FAIL(kernel, "output size must be non-negative");
    if (!v->overlaps && !(job->threshold >= 0 && job->threshold <= 1))
        return FAIL(kernel, "iou_threshold must be in [0, 1]");
    if (!(job->sigma >= 0))
        return FAIL(kernel, "soft_nms_sigma must be >= 0, got %g", (double)job->sigma);
    return TW_OK;
}

static void write_floats(tw_tensor *to, const float *from, int64_t count)
{
    if (to->dtype == TW_FLOAT32)
        memcpy(to->data, from, (size_t)count * sizeof *from);
    else
        tw__small_float_write(to->dtype, from, to->data, count);
}

/* The chosen ones, and zeros up to the size asked for. */
static tw_status give(tw__kernel *kernel, const version *v, const int64_t *chosen, float *scores, int64_t count)
{
    int64_t size = v->padded && TW_ATTR(kernel, "pad_to_max_output_size")->b ? tw_tensor_int_at(kernel->inputs[2], 0) : count;
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(size));
    if (!out)
        return tw__error_status();
    for (int64_t i = 0; i < size; i++)
        ((int32_t *)out->data)[i] = i < count ? (int32_t)chosen[i] : 0;
    if (v->scores_output) {
        tw_tensor *values = tw__output(kernel, v->scores_output, &TW_SHAPE(size));
        if (!values)
            return tw__error_status();
        memset(values->data, 0, (size_t)size * tw__element_size(values->dtype));
        write_floats(values, scores, count);
    }
    if (v->count_output) {
        tw_tensor *valid = tw__output(kernel, v->count_output, &TW_SCALAR);
        if (!valid)
            return tw__error_status();
        *(int32_t *)valid->data = (int32_t)count;
    }
    return TW_OK;
}

static const float *as_floats(const tw_tensor *tensor, float *room)
{
    if (tensor->dtype == TW_FLOAT32)
        return tensor->data;
    tw__small_float_read(tensor->dtype, tensor->data, room, tensor->count);
    return room;
}

static tw_status boxes_compute(tw__kernel *kernel)
{
    const version *v = version_of(kernel->op);
    const tw_tensor *boxes = kernel->inputs[0], *values = kernel->inputs[1];
    tw__suppression job = { 0 };
    TW_TRY(read_job(kernel, v, &job));
    tw__owned float *room = tw__alloc_array((size_t)(boxes->count + values->count) + 1, sizeof *room);
    tw__owned float *scores = tw__alloc_array((size_t)job.limit + 1, sizeof *scores);
    tw__owned int64_t *chosen = tw__alloc_array((size_t)job.limit + 1, sizeof *chosen);
    TW_NEED(room && scores && chosen);
    const float *areas = as_floats(boxes, room);
    job.boxes = v->overlaps ? NULL : areas;
    job.overlaps = v->overlaps ? areas : NULL;
    job.scores = as_floats(values, room + boxes->count);
    int64_t count = tw__suppress(&job, chosen, scores);
    return count < 0 ? tw__error_status() : give(kernel, v, chosen, scores, count);
}

#define BOXES_ROW .shape = boxes_shape, .compute = boxes_compute, .makes_outputs = true
#define TYPES "T: {half, float} = float"
#define BOX_INPUTS "boxes: T, scores: T, max_output_size: int32"

TW_OP(NonMaxSuppression, .inputs = "boxes: float, scores: float, max_output_size: int32", .outputs = "selected_indices: int32",
      .attrs = "iou_threshold: float = 0.5", BOXES_ROW,
      .doc = "The numbers of the boxes with the best scores that do not overlap with better ones.");

TW_OP(NonMaxSuppressionV2, .inputs = BOX_INPUTS ", iou_threshold: T_threshold", .outputs = "selected_indices: int32",
      .attrs = TYPES ", T_threshold: {half, float} = float", BOXES_ROW, .doc = "NonMaxSuppression, the threshold an input.");

TW_OP(NonMaxSuppressionV3, .inputs = BOX_INPUTS ", iou_threshold: T_threshold, score_threshold: T_threshold",
      .outputs = "selected_indices: int32", .attrs = TYPES ", T_threshold: {half, float} = float", BOXES_ROW,
      .doc = "NonMaxSuppressionV2 of the boxes above a score.");

TW_OP(NonMaxSuppressionV4, .inputs = BOX_INPUTS ", iou_threshold: T_threshold, score_threshold: T_threshold",
      .outputs = "selected_indices: int32, valid_outputs: int32",
      .attrs = TYPES ", T_threshold: {half, float} = float, pad_to_max_output_size: bool = false", BOXES_ROW,
      .doc = "NonMaxSuppressionV3, and how many were chosen.");

TW_OP(NonMaxSuppressionV5, .no_gradient = true, .inputs = BOX_INPUTS ", iou_threshold: T, score_threshold: T, soft_nms_sigma: T",
      .outputs = "selected_indices: int32, selected_scores: T, valid_outputs: int32",
      .attrs = TYPES ", pad_to_max_output_size: bool = false", BOXES_ROW,
      .doc = "NonMaxSuppressionV4, and the scores; with soft_nms_sigma boxes that overlap lose score.");

TW_OP(NonMaxSuppressionWithOverlaps,
      .inputs = "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, score_threshold: float",
      .outputs = "selected_indices: int32", BOXES_ROW, .doc = "NonMaxSuppressionV3 of boxes whose overlaps are given.");
