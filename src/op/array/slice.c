/* Slice: a box out of a tensor, by where it begins and how large it is. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

/* The box; a size of -1 means up to the end. */
static tw_status read_box(const tw_shape *in, const tw_tensor *begin, const tw_tensor *size, int64_t *first, tw_shape *out)
{
    if (begin->shape.rank != 1 || size->shape.rank != 1 || begin->count != in->rank || size->count != in->rank)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Expected begin and size arguments to be 1-D tensors of size %d, but got shapes %s and %s instead.",
                        in->rank, tw__shape_text(&begin->shape), tw__shape_text(&size->shape));
    out->rank = in->rank;
    for (int i = 0; i < in->rank; i++) {
        int64_t dim = in->dims[i], b = tw_tensor_int_at(begin, i), s = tw_tensor_int_at(size, i);
        first[i] = b;
        out->dims[i] = s;
        if (dim < 0)
            continue; /* not known yet; -1 stays -1 */
        if (b < 0 || b > dim)
            return tw__fail(TW_INVALID_ARGUMENT, "Expected begin[%d] in [0, %lld], but got %lld", i, (long long)dim,
                            (long long)b);
        if (s == -1)
            s = dim - b;
        if (s < 0 || s > dim - b)
            return tw__fail(TW_INVALID_ARGUMENT, "Expected size[%d] in [0, %lld], but got %lld", i, (long long)(dim - b),
                            (long long)s);
        out->dims[i] = s;
    }
    return TW_OK;
}

static tw_status slice_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t first[TW_MAX_RANK];
    if (in->rank < 0 || !inference->values[1] || !inference->values[2]) {
        const tw_shape *sizes = inference->shapes[2];
        int64_t rank = in->rank >= 0 ? in->rank : sizes->rank == 1 ? sizes->dims[0] : -1;
        inference->out_shapes[0].rank = rank <= TW_MAX_RANK ? (int32_t)rank : -1;
        tw_shape partial; /* a size of -1 stands for all that is left, which is not known either */
        bool partly = tw__partial_input(inference, 2, &partial) && partial.rank == inference->out_shapes[0].rank;
        const tw_tensor *given = inference->values[2];
        bool known = given && given->data && given->count == inference->out_shapes[0].rank;
        for (int i = 0; i < inference->out_shapes[0].rank; i++)
            inference->out_shapes[0].dims[i] = known ? tw_tensor_int_at(given, i) : partly ? partial.dims[i] : -1;
        return TW_OK;
    }
    return read_box(in, inference->values[1], inference->values[2], first, &inference->out_shapes[0]);
}

tw_status tw__give_box(tw__kernel *kernel, tw_tensor *in, const tw_shape *processed, const int64_t *first, const int64_t *steps,
                       const tw_shape *final)
{
    int64_t strides[TW_MAX_RANK], to[TW_MAX_RANK], offset = 0;
    bool together = true, partial = false; /* one partial dimension may follow dimensions of one, whole ones behind it */
    int64_t count = 1;
    tw__strides(&in->shape, strides);
    for (int i = 0; i < processed->rank; i++) {
        int64_t size = processed->dims[i];
        together &= (size == 1 || steps[i] == 1) && (!partial || size == in->shape.dims[i]);
        partial |= size != 1;
        offset += first[i] * strides[i];
        count *= size;
    }
    if (count == 0) {
        tw_tensor *out = tw__output(kernel, 0, final);
        return out ? TW_OK : tw__error_status();
    }
    if (together)
        return tw__output_take(kernel, 0, tw__tensor_slice_view(in, final, offset));
    tw_tensor *out = tw__output(kernel, 0, final);
    if (!out)
        return tw__error_status();
    tw__walk walk = { 0 };
    tw__strides(processed, to);
    for (int i = 0; i < processed->rank; i++)
        tw__walk_add(&walk, processed->dims[i], to[i],
                     processed->dims[i] == 1 ? 0 : strides[i] * steps[i]); /* one step may be any size */
    return tw__copy_walk(out->dtype, out->data, (const char *)in->data + (size_t)offset * tw__element_size(in->dtype), &walk);
}

static tw_status slice_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[0];
    int64_t first[TW_MAX_RANK], steps[TW_MAX_RANK];
    tw_shape shape;
    TW_TRY(read_box(&in->shape, kernel->inputs[1], kernel->inputs[2], first, &shape));
    for (int i = 0; i < shape.rank; i++)
        steps[i] = 1;
    return tw__give_box(kernel, in, &shape, first, steps, &shape);
}

static tw_status slice_gradient(tw__gradient *gradient)
{
    TW_TEMPS(t);
    tw_tensor *x = gradient->inputs[0], *y = gradient->outputs[0], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    if (!tw__shape_known(&x->shape) || !tw__shape_known(&y->shape) || !gradient->inputs[1]->data) {
        tw_tensor *begin = gradient->inputs[1];
        tw_tensor *rest = TW_TEMP(Sub, tw__temp_shape(t, x, begin->dtype), tw__temp_shape(t, y, begin->dtype));
        tw_auto tw_tensor *after = TW_CALL(Sub, rest, begin);
        tw_auto tw_tensor *sides = TW_CALL(Pack, begin, after, TW_A_INT("axis", 1));
        gradient->input_grads[0] = TW_CALL(Pad, dy, sides);
        return gradient->input_grads[0] ? TW_OK : tw__error_status();
    }
    int64_t values[2 * TW_MAX_RANK];
    for (int i = 0; i < x->shape.rank; i++) {
        values[2 * i] = tw_tensor_int_at(gradient->inputs[1], i);
        values[2 * i + 1] = x->shape.dims[i] - y->shape.dims[i] - values[2 * i];
    }
    tw_auto tw_tensor *flat = tw__ints_tensor(values, 2 * x->shape.rank, TW_INT64);
    tw_auto tw_tensor *paddings = flat ? tw__tensor_view(flat, &TW_SHAPE(x->shape.rank, 2)) : NULL;
    gradient->input_grads[0] = TW_CALL(Pad, dy, paddings);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(Slice, .inputs = "input: T, begin: Index, size: Index", .outputs = "output: T", .attrs = "T: type, Index: {int32, int64}",
      .shape = slice_shape, .compute = slice_compute, .gradient = slice_gradient, .makes_outputs = true,
      .function = "slice(input_: tensor, begin: tensor<I>, size: tensor<I>, name: str = None) -> tensor",
      .doc = "A box out of a tensor: where it begins and how large it is (-1: up to the end).\n"
             "input_: a tensor\n"
             "begin: where the box begins along each dimension\n"
             "size: how long it is along each dimension; -1: up to the end\n"
             "example: tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).numpy().tolist()  # [[2, 3], [5, 6]]");
