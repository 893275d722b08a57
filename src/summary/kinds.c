/* Kinds of summaries as users name them: scalar, histogram, image, audio, text, and tensors as they are. What a kind writes is
 * TensorBoard's form of it: a plugin's name in the metadata and one tensor. Preparing is done by ops, so that functions do it
 * too. */
#include "api/image/image.h"
#include "op/calls.h"
#include "rows.h"
#include "summary/summary.h"

TW_API(summary_write,
       "summary._write(tag: str, tensor: tensor, step: tensor<int64> = None, metadata: value = None, name: str = None) -> tensor",
       "Writes a tensor under a tag; metadata is a serialized SummaryMetadata.")
{
    tw__summary_job job = { .name = args->tag, .data = args->tensor, .step = args->step, .whole_tag = true };
    if (args->metadata.kind == TW_VALUE_BYTES)
        job.metadata = args->metadata.s;
    else if (args->metadata.kind != TW_VALUE_NONE) {
        tw__fail(TW_TYPE_ERROR, "summary.write: metadata must be a SummaryMetadata or its bytes");
        return NULL;
    }
    return tw__summary_record(&job);
}

TW_API(summary_write_graph, "summary._write_graph(graph_def: tensor<string>, step: tensor<int64> = None) -> tensor",
       "Writes a serialized GraphDef.")
{
    tw__summary_job job = { .name = "", .data = args->graph_def, .step = args->step, .op = &tw__op_WriteGraphSummary };
    return tw__summary_record(&job);
}

TW_API(summary_write_raw_pb,
       "summary.experimental.write_raw_pb(tensor: tensor<string>, step: tensor<int64> = None, name: str = None) -> tensor",
       "Writes a serialized Summary.\n"
       "tensor: the bytes of a `Summary`")
{
    tw__summary_job job = { .name = "", .data = args->tensor, .step = args->step, .op = &tw__op_WriteRawProtoSummary };
    return tw__summary_record(&job);
}

/* ---- scalars and text ---- */

static tw_tensor *prepare_scalar(const tw__summary_job *job)
{
    return tw_cast(job->data, TW_FLOAT32);
}

TW_API(summary_scalar, "summary.scalar(name: str, data: tensor, step: tensor<int64> = None, description: str = None) -> tensor",
       "Writes a number.\n"
       "data: one number")
{
    if (args->data->shape.rank > 0) {
        tw__owned char *shape = tw__shape_tuple(&args->data->shape);
        if (shape)
            tw__fail(TW_VALUE_ERROR, "Expected scalar shape, saw shape: %s.", shape);
        return NULL;
    }
    tw__summary_job job = { .name = args->name,
                            .data = args->data,
                            .step = args->step,
                            .prepare = prepare_scalar,
                            .plugin = "scalars",
                            .description = args->description };
    return tw__summary_record(&job);
}

TW_API(summary_text,
       "summary.text(name: str, data: tensor<string>, step: tensor<int64> = None, description: str = None) -> tensor",
       "Writes text (Markdown).\n"
       "data: texts, a tensor of any shape")
{
    if (args->data->dtype != TW_STRING) {
        tw__fail(TW_TYPE_ERROR, "summary.text: data must be strings, got %s", tw_dtype_name(args->data->dtype));
        return NULL;
    }
    tw__summary_job job = {
        .name = args->name, .data = args->data, .step = args->step, .plugin = "text", .description = args->description
    };
    return tw__summary_record(&job);
}

/* ---- histograms ---- */

static tw_tensor *pick(tw_tensor *condition, tw_tensor *yes, tw_tensor *no)
{
    tw_tensor *made = condition && yes && no ? TW_CALL(SelectV2, condition, yes, no) : NULL;
    tw_release(yes);
    tw_release(no);
    return made;
}

static tw_tensor *number(double value)
{
    return tw_tensor_double(value);
}

static tw_tensor *keep(tw_tensor *tensor)
{
    return tensor ? tw_retain(tensor) : NULL;
}

/* 0, 1 … count - 1 as doubles. */
static tw_tensor *counting(int64_t count)
{
    tw_tensor *made = tw_tensor_new(TW_FLOAT64, TW_SHAPE(count), NULL);
    for (int64_t i = 0; made && i < count; i++)
        ((double *)made->data)[i] = (double)i;
    return made;
}

/* Rows of left, right, count. All values equal: every bucket is that value, and the last has them all; no values: zeros. */
static tw_tensor *prepare_histogram(const tw__summary_job *job)
{
    TW_TEMPS(t);
    int64_t buckets = job->number, all = -1;
    tw_auto tw_tensor *flat_shape = tw__ints_tensor(&all, 1, TW_INT32), *axis = tw__image_number(0),
                      *wide = tw_cast(job->data, TW_FLOAT64);
    tw_auto tw_tensor *x = TW_CALL(Reshape, wide, flat_shape), *size = TW_CALL(Size, x);
    if (buckets == 0)
        return tw_tensor_new(TW_FLOAT64, TW_SHAPE(0, 3), NULL);
    tw_auto tw_tensor *count = size ? tw_cast(size, TW_FLOAT64) : NULL;
    tw_auto tw_tensor *some = TW_CALL(Greater, tw__temp(t, keep(count)), tw__temp(t, number(0)));
    tw_auto tw_tensor *low = pick(some, TW_CALL(Min, x, axis), number(0));
    tw_auto tw_tensor *high = pick(some, TW_CALL(Max, x, axis), number(0));
    tw_auto tw_tensor *range = low && high ? TW_CALL(Sub, high, low) : NULL,
                      *several = TW_CALL(Greater, tw__temp(t, keep(range)), tw__temp(t, number(0)));
    tw_auto tw_tensor *width = TW_CALL(RealDiv, tw__temp(t, keep(range)), tw__temp(t, number((double)buckets)));
    tw_auto tw_tensor *step = pick(several, keep(width), number(1));
    /* where each value falls */
    tw_auto tw_tensor *place = TW_CALL(Floor, TW_TEMP(RealDiv, x && low ? TW_TEMP(Sub, x, low) : NULL, tw__temp(t, keep(step))));
    tw_auto tw_tensor *inside = TW_CALL(Minimum, tw__temp(t, keep(place)), tw__temp(t, number((double)(buckets - 1)))),
                      *index = inside ? tw_cast(inside, TW_INT32) : NULL;
    tw_auto tw_tensor *ones = TW_CALL(OnesLike, x), *segments = tw__image_number(buckets);
    tw_auto tw_tensor *spread = ones && index && segments ? TW_CALL(UnsortedSegmentSum, ones, index, segments) : NULL;
    tw_auto tw_tensor *last = tw_tensor_new(TW_FLOAT64, TW_SHAPE(buckets), NULL);
    if (!last)
        return NULL;
    ((double *)last->data)[buckets - 1] = 1;
    tw_auto tw_tensor *counts = pick(several, keep(spread), count ? TW_CALL(Mul, last, count) : NULL);
    /* edges: low + i * width, the last one exactly the highest value */
    tw_auto tw_tensor *steps = counting(buckets + 1),
                      *edges = TW_CALL(AddV2, TW_TEMP(Mul, tw__temp(t, keep(steps)), tw__temp(t, keep(width))),
                                       tw__temp(t, keep(low)));
    int64_t begin = 0, second = 1, most = buckets;
    tw_auto tw_tensor *from = tw__ints_tensor(&begin, 1, TW_INT32), *after = tw__ints_tensor(&second, 1, TW_INT32);
    tw_auto tw_tensor *length = tw__ints_tensor(&most, 1, TW_INT32);
    tw_auto tw_tensor *left = TW_CALL(Slice, edges, from, length);
    tw_auto tw_tensor *ends = TW_CALL(Slice, edges, after, length);
    tw_auto tw_tensor *is_last = TW_CALL(Greater, tw__temp(t, keep(last)), tw__temp(t, number(0.5))),
                      *right = pick(is_last, keep(high), keep(ends));
    if (!left || !right || !counts)
        return NULL;
    return TW_CALL(Pack, left, right, counts, TW_A_INT("axis", 1));
}

TW_API(
    summary_histogram,
    "summary.histogram(name: str, data: tensor, step: tensor<int64> = None, buckets: int = None, description: str = None) -> tensor",
    "Writes how values are distributed, over 30 buckets if nothing else is said.\n"
    "data: numbers of any shape\n"
    "buckets: over how many ranges they are counted; None: 30")
{
    tw__summary_job job = { .name = args->name,
                            .data = args->data,
                            .step = args->step,
                            .prepare = prepare_histogram,
                            .plugin = "histograms",
                            .number = args->buckets == TW_NO_INT ? 30 : args->buckets,
                            .description = args->description };
    if (job.number < 0) {
        tw__fail(TW_VALUE_ERROR, "summary.histogram: buckets must not be negative, got %lld", (long long)job.number);
        return NULL;
    }
    return tw__summary_record(&job);
}

/* ---- pictures and sounds ---- */

static bool need_rank(const tw_tensor *data, int rank)
{
    if (data->shape.rank < 0 || data->shape.rank == rank)
        return true;
    tw__owned char *shape = tw__shape_tuple(&data->shape);
    if (shape)
        tw__fail(TW_VALUE_ERROR, "Tensor  must have rank %d.  Received rank %d, shape %s", rank, data->shape.rank, shape);
    return false;
}

/* The first `count` along the first axis. */
static tw_tensor *first_of(tw_tensor *data, int64_t count)
{
    const int64_t zero = 0, one = 1;
    tw_auto tw_tensor *begin = tw__ints_tensor(&zero, 1, TW_INT32), *end = tw__ints_tensor(&count, 1, TW_INT32);
    tw_auto tw_tensor *step = tw__ints_tensor(&one, 1, TW_INT32);
    return TW_CALL(StridedSlice, data, begin, end, step);
}

static tw_tensor *prepare_image(const tw__summary_job *job)
{
    tw_auto tw_tensor *bytes = tw__image_convert(job->data, TW_UINT8, true), *first = bytes ? first_of(bytes, job->number) : NULL;
    tw_auto tw_tensor *files = first ? TW_CALL(EncodePng, first) : NULL;
    tw_auto tw_tensor *height = tw__image_side(job->data, 1), *width = tw__image_side(job->data, 2);
    tw_auto tw_tensor *h = height ? TW_CALL(AsString, height) : NULL, *w = width ? TW_CALL(AsString, width) : NULL;
    tw_auto tw_tensor *sides = h && w ? TW_CALL(Pack, w, h) : NULL, *axis = tw__image_number(0);
    return sides && files && axis ? TW_CALL(ConcatV2, sides, files, axis) : NULL;
}

TW_API(
    summary_image,
    "summary.image(name: str, data: tensor, step: tensor<int64> = None, max_outputs: int > -1 = 3, description: str = None) -> tensor",
    "Writes pictures.\n"
    "data: the pictures, [number, height, width, channels]; floats lie between 0 and 1\n"
    "max_outputs: how many of the pictures are kept at most")
{
    tw__summary_job job = { .name = args->name,
                            .data = args->data,
                            .step = args->step,
                            .prepare = prepare_image,
                            .plugin = "images",
                            .number = args->max_outputs,
                            .description = args->description };
    return need_rank(args->data, 4) ? tw__summary_record(&job) : NULL;
}

static tw_tensor *prepare_audio(const tw__summary_job *job)
{
    tw_auto tw_tensor *first = first_of(job->data, job->number), *rate = job->extra ? tw_cast(job->extra, TW_INT32) : NULL;
    if (!first || !rate)
        return NULL;
    if (first->shape.rank != 3 || first->shape.dims[0] < 0) {
        tw__fail(TW_UNIMPLEMENTED, "summary.audio: the number of sounds must be known while a function is traced");
        return NULL;
    }
    int64_t count = first->shape.dims[0];
    tw__held tw_tensor **rows = tw__held_new((size_t)count);
    bool good = rows != NULL;
    for (int64_t i = 0; good && i < count; i++) {
        tw_auto tw_tensor *at = tw__image_number(i), *axis = tw__image_number(0), *label = tw_tensor_string("", 0);
        tw_auto tw_tensor *sound = TW_CALL(GatherV2, first, at, axis);
        tw_auto tw_tensor *file = TW_CALL(EncodeWav, sound, rate);
        rows[i] = TW_CALL(Pack, file, label);
        good = rows[i] != NULL;
    }
    return !good   ? NULL
           : count ? tw__call(&tw__op_Pack, rows, (int)count, NULL, 0)
                   : tw_tensor_new(TW_STRING, TW_SHAPE(0, 2), NULL);
}

TW_API(
    summary_audio,
    "summary.audio(name: str, data: tensor<float32>, sample_rate: tensor<int32>, step: tensor<int64> = None, max_outputs: int > -1 = 3, "
    "encoding: str = None, description: str = None) -> tensor",
    "Writes sounds as WAV.\n"
    "data: the sounds, [number, samples, channels], between -1 and 1\n"
    "sample_rate: how many samples a second has\n"
    "max_outputs: how many of the sounds are kept at most\n"
    "encoding: `wav`, or None for it")
{
    if (args->encoding && strcmp(args->encoding, "wav") != 0) {
        tw__fail(TW_VALUE_ERROR, "Unknown encoding: '%s'", args->encoding);
        return NULL;
    }
    tw__summary_job job = { .name = args->name,
                            .data = args->data,
                            .step = args->step,
                            .extra = args->sample_rate,
                            .prepare = prepare_audio,
                            .plugin = "audio",
                            .content = { "\x10\x0b", 2 },
                            .number = args->max_outputs,
                            .description = args->description };
    return need_rank(args->data, 3) ? tw__summary_record(&job) : NULL;
}
