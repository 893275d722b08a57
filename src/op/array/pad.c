/* Pad, PadV2: a border of zeros or of another value. MirrorPad: a border that mirrors what is inside; MirrorPadGrad folds it
 * back. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

static tw_status read_paddings(const tw_shape *in, const tw_tensor *paddings, int64_t *before, int64_t *after)
{
    const tw_shape *shape = &paddings->shape;
    if (shape->rank != 2 || shape->dims[1] != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "paddings must be a matrix with 2 columns: %s", tw__shape_text(shape));
    if (shape->dims[0] != in->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "The first dimension of paddings must be the rank of inputs%s %s",
                        tw__shape_text(shape), tw__shape_text(in));
    for (int i = 0; i < in->rank; i++) {
        before[i] = tw_tensor_int_at(paddings, 2 * i);
        after[i] = tw_tensor_int_at(paddings, 2 * i + 1);
        if (before[i] < 0 || after[i] < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Paddings must be non-negative: %lld %lld", (long long)before[i],
                            (long long)after[i]);
    }
    return TW_OK;
}

static tw_status pad_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    if (in->rank < 0) {
        *out = tw__shape_of_rank(inference->shapes[1]);
        return TW_OK;
    }
    if (inference->input_count == 3 && tw__shape_known(inference->shapes[2]) && inference->shapes[2]->rank != 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "constant_values must be a scalar. Found: %s",
                          tw__shape_text(inference->shapes[2]));
    if (inference->values[1])
        TW_TRY(read_paddings(in, inference->values[1], before, after));
    for (int i = 0; i < in->rank; i++) {
        out->dims[i] = -1;
        if (inference->values[1] && in->dims[i] >= 0 &&
            (__builtin_add_overflow(in->dims[i], before[i], &out->dims[i]) ||
             __builtin_add_overflow(out->dims[i], after[i], &out->dims[i])))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "paddings of dimension %d are too large", i);
    }
    out->rank = in->rank;
    return TW_OK;
}

static tw_status pad_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK], from[TW_MAX_RANK], to[TW_MAX_RANK], offset = 0;
    size_t size = tw__element_size(out->dtype);
    TW_TRY(read_paddings(&in->shape, kernel->inputs[1], before, after));
    if (kernel->input_count == 3 && out->dtype != TW_STRING)
        TW_TRY(tw__fill_elements(out->dtype, out->data, kernel->inputs[2]->data, out->count));
    else if (out->dtype != TW_STRING)
        memset(out->data, 0, (size_t)out->count * size);
    if (in->count == 0 && out->dtype != TW_STRING)
        return TW_OK;
    tw__walk walk = { 0 };
    tw__strides(&in->shape, from);
    tw__strides(&out->shape, to);
    for (int i = 0; i < in->shape.rank; i++) {
        offset += before[i] * to[i];
        tw__walk_add(&walk, in->shape.dims[i], to[i], from[i]);
    }
    TW_TRY(tw__copy_walk(out->dtype, (char *)out->data + (size_t)offset * size, in->data, &walk));
    if (kernel->input_count == 3 && out->dtype == TW_STRING) { /* places that are not inside */
        for (int64_t at = 0; at < out->count; at++) {
            bool inside = true;
            for (int i = 0; i < in->shape.rank; i++) {
                int64_t place = at / to[i] % out->shape.dims[i];
                inside &= place >= before[i] && place < before[i] + in->shape.dims[i];
            }
            if (!inside)
                TW_TRY(tw__copy_elements(TW_STRING, (tw_string *)out->data + at, kernel->inputs[2]->data, 1));
        }
    }
    return TW_OK;
}

static tw_status pad_gradient(tw__gradient *gradient)
{
    TW_TEMPS(t);
    tw_tensor *x = gradient->inputs[0], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    int64_t begin[TW_MAX_RANK], after[TW_MAX_RANK];
    tw_tensor *paddings = gradient->inputs[1], *first = NULL, *size = NULL;
    if (x->shape.rank >= 0 && paddings->data) {
        TW_TRY(read_paddings(&x->shape, paddings, begin, after));
        first = tw__ints_tensor(begin, x->shape.rank, TW_INT64);
        size = tw__shape_as_tensor(x, TW_INT64);
    } else {
        tw_tensor *column = TW_TEMP(Slice, paddings, tw__temp_ints(t, (int64_t[]){ 0, 0 }, 2, TW_INT32),
                                    tw__temp_ints(t, (int64_t[]){ -1, 1 }, 2, TW_INT32));
        first = TW_CALL(Reshape, column, tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32));
        size = tw__shape_as_tensor(x, paddings->dtype);
    }
    gradient->input_grads[0] = TW_CALL(Slice, dy, first, size);
    tw_release(first);
    tw_release(size);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool pad_words(tw__wording *w)
{
    const tw_shape *paddings = w->in->shapes[1];
    int rank = w->in->shapes[0]->rank;
    return rank >= 0 && paddings->rank == 2 && tw__sizes_differ(paddings->dims[0], rank) &&
           tw__say_rank(w, (int)paddings->dims[0], rank);
}

TW_OP(Pad, .inputs = "input: T, paddings: Tpaddings", .outputs = "output: T",
      .attrs = "T: type, Tpaddings: {int32, int64} = int32", .shape = pad_shape, .compute = pad_compute, .gradient = pad_gradient,
      .words = pad_words, .doc = "Puts zeros around a tensor.");

TW_OP(PadV2, .inputs = "input: T, paddings: Tpaddings, constant_values: T", .outputs = "output: T",
      .attrs = "T: type, Tpaddings: {int32, int64} = int32", .shape = pad_shape, .compute = pad_compute, .gradient = pad_gradient,
      .words = pad_words, .doc = "Puts a value around a tensor.");

/* ---- MirrorPad ---- */

/* 0 if the border repeats the edge (SYMMETRIC), 1 if not. */
static int mirror_offset(const tw_op *op, const tw_attr *attrs)
{
    return tw__attr_find(op, attrs, "mode")->s.data[0] == 'R';
}

static tw_status check_mirror(const tw_shape *inside, int offset, const int64_t *before, const int64_t *after)
{
    for (int i = 0; i < inside->rank; i++) {
        int64_t limit = inside->dims[i] - offset;
        if (inside->dims[i] >= 0 && (before[i] > limit || after[i] > limit))
            return tw__fail(TW_INVALID_ARGUMENT, "paddings must be %s the dimension size: %lld, %lld not %s %lld",
                            offset ? "less than" : "no greater than", (long long)before[i], (long long)after[i],
                            offset ? "less than" : "no greater than", (long long)inside->dims[i]);
    }
    return TW_OK;
}

static tw_status mirror_shape(tw__inference *inference)
{
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    TW_TRY(pad_shape(inference));
    if (inference->shapes[0]->rank < 0 || !inference->values[1])
        return TW_OK;
    TW_TRY(read_paddings(inference->shapes[0], inference->values[1], before, after));
    return check_mirror(inference->shapes[0], mirror_offset(inference->op, inference->attrs), before, after);
}

/* Which place inside the place `at` of the padded dimension shows. */
static int64_t mirrored(int64_t at, int64_t before, int64_t dim, int offset)
{
    int64_t place = at - before;
    if (place < 0)
        return -place - 1 + offset;
    return place < dim ? place : 2 * dim - 1 - place - offset;
}

/* The inner dimensions that are not padded are one: `rank` outer ones are left, and elements that stand together. */
static int whole_inside(const tw_shape *padded, const tw_shape *inside, int64_t *together)
{
    int rank = padded->rank;
    for (*together = 1; rank > 0 && padded->dims[rank - 1] == inside->dims[rank - 1]; rank--)
        *together *= padded->dims[rank - 1];
    return rank;
}

/* For each run of elements of the padded array, the run inside that it shows; `apply` gets both flat indices and the length.
 * Along the last padded dimension the middle is one run. */
static tw_status mirror_walk(const tw_shape *padded, const tw_shape *inside, const int64_t *before, int offset,
                             tw_status (*apply)(void *context, int64_t outer, int64_t inner, int64_t count), void *context)
{
    int64_t together, from[TW_MAX_RANK], rows = 1;
    int rank = whole_inside(padded, inside, &together);
    tw__strides(inside, from);
    if (rank == 0)
        return apply(context, 0, 0, together);
    int64_t width = padded->dims[rank - 1], middle = inside->dims[rank - 1], first = before[rank - 1];
    for (int i = 0; i + 1 < rank; i++)
        rows *= padded->dims[i];
    for (int64_t row = 0; together && row < rows; row++) {
        int64_t base = 0, rest = row, outer = row * width * together;
        for (int i = rank - 2; i >= 0; i--) {
            base += mirrored(rest % padded->dims[i], before[i], inside->dims[i], offset) * from[i];
            rest /= padded->dims[i];
        }
        for (int64_t at = 0; at < width;) {
            int64_t inner = base + mirrored(at, first, middle, offset) * together;
            int64_t count = at == first && middle ? middle : 1;
            TW_TRY(apply(context, outer + at * together, inner, count * together));
            at += count;
        }
    }
    return TW_OK;
}

typedef struct mirror_pair {
    tw_tensor *to;
    const tw_tensor *from;
} mirror_pair;

static tw_status copy_run(void *context, int64_t outer, int64_t inner, int64_t count)
{
    const mirror_pair *m = context;
    size_t size = tw__element_size(m->to->dtype);
    return tw__copy_elements(m->to->dtype, (char *)m->to->data + (size_t)outer * size,
                             (const char *)m->from->data + (size_t)inner * size, count);
}

static tw_status add_run(void *context, int64_t outer, int64_t inner, int64_t count)
{
    const mirror_pair *m = context;
    size_t size = tw__element_size(m->to->dtype);
    return tw__combine_elements(TW__COMBINE_ADD, m->to->dtype, (char *)m->to->data + (size_t)inner * size,
                                (const char *)m->from->data + (size_t)outer * size, count);
}

static tw_status mirror_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    TW_TRY(read_paddings(&in->shape, kernel->inputs[1], before, after));
    mirror_pair pair = { kernel->outputs[0], in };
    return mirror_walk(&kernel->outputs[0]->shape, &in->shape, before, mirror_offset(kernel->op, kernel->attrs), copy_run, &pair);
}

static tw_status mirror_gradient(tw__gradient *gradient)
{
    const tw_op *other = gradient->op == &tw__op_MirrorPad ? &tw__op_MirrorPadGrad : &tw__op_MirrorPad;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = tw__call(other, TW_IN(gradient->output_grads[0], gradient->inputs[1]), 2,
                                        TW_WITH(TW_A_STRING("mode", TW_ATTR(gradient, "mode")->s.data)), 1);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(MirrorPad, .inputs = "input: T, paddings: Tpaddings", .outputs = "output: T",
      .attrs = "T: type, Tpaddings: {int32, int64} = int32, mode: {'REFLECT', 'SYMMETRIC'}", .shape = mirror_shape,
      .compute = mirror_compute, .gradient = mirror_gradient, .words = pad_words,
      .doc = "Puts a mirror image of a tensor around it.");

static tw_status fold_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    if (in->rank < 0 || !inference->values[1])
        return TW_OK;
    TW_TRY(read_paddings(in, inference->values[1], before, after));
    *out = *in;
    for (int i = 0; i < in->rank; i++) {
        if (in->dims[i] < 0)
            continue;
        if (before[i] > in->dims[i] || after[i] > in->dims[i] - before[i])
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "paddings %lld and %lld of dimension %d of size %lld",
                              (long long)before[i], (long long)after[i], i, (long long)in->dims[i]);
        out->dims[i] = in->dims[i] - before[i] - after[i];
    }
    return check_mirror(out, mirror_offset(inference->op, inference->attrs), before, after);
}

static tw_status fold_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    TW_TRY(read_paddings(&in->shape, kernel->inputs[1], before, after));
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    mirror_pair pair = { out, in };
    return mirror_walk(&in->shape, &out->shape, before, mirror_offset(kernel->op, kernel->attrs), add_run, &pair);
}

TW_OP(MirrorPadGrad, .inputs = "input: T, paddings: Tpaddings", .outputs = "output: T",
      .attrs = "T: type, Tpaddings: {int32, int64} = int32, mode: {'REFLECT', 'SYMMETRIC'}", .shape = fold_shape,
      .compute = fold_compute, .gradient = mirror_gradient, .doc = "The gradient of MirrorPad: what was mirrored is added back.");
