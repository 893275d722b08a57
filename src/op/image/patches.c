/* ExtractImagePatches and ExtractVolumePatches: the windows of images and volumes, each laid out as the channels of one place. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

enum { MOST_SIDES = 3 };

typedef struct windows {
    int sides; /* 2 or 3 */
    int64_t in[MOST_SIDES], out[MOST_SIDES], size[MOST_SIDES], stride[MOST_SIDES], rate[MOST_SIDES], before[MOST_SIDES];
    int64_t channels;
} windows;

/* The middle entries of a list of sides; its first and last ones must be 1. */
static tw_status read_sides(const tw_op *op, const tw_attr *attr, int sides, int64_t *values)
{
    if (attr->count != sides + 2)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "%s must contain %d values, got %d", attr->name, sides + 2,
                           attr->count);
    if (attr->ints[0] != 1 || attr->ints[sides + 1] != 1)
        return tw__fail_op(op->name, TW_UNIMPLEMENTED, "Only support %s across space.", attr->name);
    for (int i = 0; i < sides; i++) {
        values[i] = attr->ints[i + 1];
        if (values[i] < 1 || values[i] > INT32_MAX)
            return tw__fail_op(op->name, TW_OUT_OF_RANGE, "%s is out of range.", attr->name);
    }
    return TW_OK;
}

/* `in`: what is known of the input's shape. */
static tw_status read_windows(const tw_op *op, const tw_attr *attrs, const tw_shape *in, windows *w)
{
    *w = (windows){ .sides = op == &tw__op_ExtractImagePatches ? 2 : 3, .rate = { 1, 1, 1 }, .channels = -1 };
    TW_TRY(read_sides(op, tw__attr_find(op, attrs, "ksizes"), w->sides, w->size));
    TW_TRY(read_sides(op, tw__attr_find(op, attrs, "strides"), w->sides, w->stride));
    if (w->sides == 2)
        TW_TRY(read_sides(op, tw__attr_find(op, attrs, "rates"), w->sides, w->rate));
    if (in->rank >= 0 && in->rank != w->sides + 2)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "input must be %d-dimensional%s", w->sides + 2, tw__shape_text(in));
    bool same = tw__attr_find(op, attrs, "padding")->s.data[0] == 'S';
    for (int i = 0; i < w->sides; i++) {
        int64_t side = in->rank < 0 ? -1 : in->dims[i + 1], reach = (w->size[i] - 1) * w->rate[i] + 1;
        w->in[i] = w->out[i] = side;
        if (side < 0)
            continue;
        w->out[i] = same ? (side + w->stride[i] - 1) / w->stride[i] : (side - reach + w->stride[i]) / w->stride[i];
        if (!same && side < reach - w->stride[i] + 1 && side - reach + w->stride[i] < 0)
            return tw__fail_op(
                op->name, TW_INVALID_ARGUMENT,
                "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, stride: %lld]",
                (long long)w->out[i], (long long)side, (long long)reach, (long long)w->stride[i]);
        int64_t around = (w->out[i] - 1) * w->stride[i] + reach - side;
        w->before[i] = same && around > 0 ? around / 2 : 0;
    }
    if (in->rank >= 0)
        w->channels = in->dims[w->sides + 1];
    return TW_OK;
}

static tw_status patches_shape(tw__inference *inference)
{
    windows w;
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    TW_TRY(read_windows(inference->op, inference->attrs, in, &w));
    out->rank = w.sides + 2;
    out->dims[0] = in->rank < 0 ? -1 : in->dims[0];
    int64_t depth = w.channels;
    for (int i = 0; i < w.sides; i++) {
        out->dims[i + 1] = w.out[i];
        if (depth >= 0 && __builtin_mul_overflow(depth, w.size[i], &depth))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the patches are too large");
    }
    out->dims[w.sides + 1] = depth;
    return TW_OK;
}

typedef struct job {
    windows w;
    const char *in;
    char *out;
    size_t pixel; /* bytes of one place's channels */
} job;

/* One window, at `place` of one image. */
static void one_window(const job *j, const char *image, const int64_t *place, char *out)
{
    const windows *w = &j->w;
    int64_t all = 1, at[MOST_SIDES];
    for (int i = 0; i < w->sides; i++)
        all *= w->size[i];
    for (int64_t k = 0; k < all; k++, out += j->pixel) {
        int64_t rest = k, offset = 0;
        bool inside = true;
        for (int i = w->sides - 1; i >= 0; i--) {
            at[i] = place[i] * w->stride[i] + rest % w->size[i] * w->rate[i] - w->before[i];
            rest /= w->size[i];
            inside = inside && at[i] >= 0 && at[i] < w->in[i];
        }
        for (int i = 0; i < w->sides; i++)
            offset = offset * w->in[i] + at[i];
        if (inside)
            memcpy(out, image + (size_t)offset * j->pixel, j->pixel);
        else
            memset(out, 0, j->pixel);
    }
}

static void places(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    size_t image = j->pixel, patch = j->pixel;
    int64_t each = 1;
    for (int i = 0; i < j->w.sides; i++) {
        image *= (size_t)j->w.in[i];
        patch *= (size_t)j->w.size[i];
        each *= j->w.out[i];
    }
    for (int64_t n = begin; n < end; n++) {
        int64_t place[MOST_SIDES], rest = n % each;
        for (int i = j->w.sides - 1; i >= 0; i--) {
            place[i] = rest % j->w.out[i];
            rest /= j->w.out[i];
        }
        one_window(j, j->in + (size_t)(n / each) * image, place, j->out + (size_t)n * patch);
    }
}

static tw_status patches_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    job j = { .in = in->data, .out = out->data };
    TW_TRY(read_windows(kernel->op, kernel->attrs, &in->shape, &j.w));
    j.pixel = tw__element_size(in->dtype) * (size_t)j.w.channels;
    if (!out->count)
        return TW_OK;
    int64_t count = out->count / out->shape.dims[out->shape.rank - 1];
    tw__parallel(count, 65536 / (out->shape.dims[out->shape.rank - 1] + 1) + 1, places, &j);
    return TW_OK;
}

/* Each element of the input gets the sum of the gradients of its copies. The patches of an image of numbers say whose copies they
 * are. */
static tw_status patches_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    int sides = g->op == &tw__op_ExtractImagePatches ? 2 : 3;
    tw_tensor *shape = tw__temp_shape(t, g->inputs[0], TW_INT32), *gradient = g->output_grads[0],
              *one = tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32);
    tw_tensor *space = tw__temp_slice(t, shape, 1, -1), *places_ = TW_TEMP(Prod, space, 0);
    tw_tensor *numbers = places_ ? TW_TEMP(AddV2, tw__temp_range(t, places_), tw__temp_int(t, 1, TW_INT32)) : NULL;
    tw_tensor *plane = space && one ? TW_TEMP(Reshape, numbers, tw__temp_concat(t, TW_IN(one, space, one), 3, 0)) : NULL;
    TW_NEED(plane);
    tw_attr attrs[4];
    int count = 0;
    static const char *const names[] = { "ksizes", "strides", "padding", "rates" };
    for (int i = 0; i < (sides == 2 ? 4 : 3); i++)
        attrs[count++] = *TW_ATTR(g, names[i]);
    tw_tensor *owners = tw__temp(t, tw__call(g->op, TW_IN(plane), 1, attrs, count));
    tw_tensor *ids =
        TW_TEMP(Sub, owners ? tw__temp_reshape(t, owners, (int64_t[]){ -1 }, 1) : NULL, tw__temp_int(t, 1, TW_INT32));
    /* [batch, copies, channels] by copies */
    tw_tensor *batch = tw__temp_slice(t, shape, 0, 1), *channels = tw__temp_slice(t, shape, -1, TW_NO_INT),
              *many = TW_TEMP(Shape, ids);
    TW_NEED(batch && channels && many);
    tw_tensor *parted = TW_TEMP(Reshape, gradient, tw__temp_concat(t, TW_IN(batch, many, channels), 3, 0));
    tw_tensor *turned = TW_TEMP(Transpose, parted, tw__temp_ints(t, (int64_t[]){ 1, 0, 2 }, 3, TW_INT32));
    tw_tensor *sums = TW_TEMP(UnsortedSegmentSum, turned, ids, places_);
    tw_tensor *back = TW_TEMP(Transpose, sums, tw__temp_ints(t, (int64_t[]){ 1, 0, 2 }, 3, TW_INT32));
    tw__grad_set(g, 0, TW_CALL(Reshape, back, shape));
    return tw__grad_status(g);
}

TW_OP(
    ExtractImagePatches, .inputs = "images: T", .outputs = "patches: T",
    .attrs =
        "ksizes: list(int) >= 4, strides: list(int) >= 4, rates: list(int) >= 4, "
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128, bool}, "
        "padding: {'SAME', 'VALID'}",
    .shape = patches_shape, .compute = patches_compute, .gradient = patches_gradient,
    .doc = "The windows of images: each place of the result has the elements of one, row by row.");

TW_OP(
    ExtractVolumePatches, .inputs = "input: T", .outputs = "patches: T",
    .attrs =
        "ksizes: list(int) >= 5, strides: list(int) >= 5, "
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}, padding: {'SAME', 'VALID'}",
    .shape = patches_shape, .compute = patches_compute, .gradient = patches_gradient,
    .doc = "The windows of volumes: each place of the result has the elements of one.");
