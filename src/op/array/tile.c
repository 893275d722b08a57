/* Tile: a tensor repeated along its dimensions. OneHot: indices as vectors with a single 1. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

static tw_status tile_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    const tw_tensor *multiples = inference->values[1];
    TW_TRY(tw__need_rank(inference, 1, 1));
    tw_shape partial;
    bool partly = tw__partial_input(inference, 1, &partial);
    if (in->rank < 0) {
        out->rank = partly ? partial.rank : multiples && multiples->count <= TW_MAX_RANK ? (int32_t)multiples->count : -1;
        for (int i = 0; i < out->rank; i++)
            out->dims[i] = -1;
        return TW_OK;
    }
    if (multiples && multiples->count != in->rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "Expected multiples argument to be a vector of length %d but got length %lld", in->rank,
                          (long long)multiples->count);
    partly = partly && partial.rank == in->rank;
    for (int i = 0; i < in->rank; i++) {
        out->dims[i] = -1;
        if (!multiples && (!partly || partial.dims[i] < 0))
            continue;
        int64_t times = multiples ? tw_tensor_int_at(multiples, i) : partial.dims[i];
        if (times < 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Expected multiples[%d] >= 0, but got %lld", i, (long long)times);
        if (in->dims[i] >= 0 && __builtin_mul_overflow(in->dims[i], times, &out->dims[i]))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Encountered overflow when multiplying %lld with %lld",
                              (long long)in->dims[i], (long long)times);
    }
    out->rank = in->rank;
    return TW_OK;
}

static tw_status tile_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t from[TW_MAX_RANK], to[TW_MAX_RANK];
    tw__walk walk = { 0 };
    if (out->count == 0)
        return TW_OK;
    tw__strides(&in->shape, from);
    tw__strides(&out->shape, to);
    for (int i = 0; i < in->shape.rank; i++) {
        tw__walk_add(&walk, out->shape.dims[i] / in->shape.dims[i], to[i] * in->shape.dims[i], 0);
        tw__walk_add(&walk, in->shape.dims[i], to[i], from[i]);
    }
    return tw__copy_walk(out->dtype, out->data, in->data, &walk);
}

/* By ops: the gradient as [times, size, times, size …], summed over every other axis. Takes dy. */
static tw_tensor *untile_later(tw_tensor *dy, tw_tensor *multiples, tw_tensor *x)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *shape = tw__shape_as_tensor(x, multiples->dtype);
    tw_tensor *pairs = TW_TEMP(Pack, multiples, shape, TW_A_INT("axis", 1));
    tw_auto tw_tensor *split = TW_CALL(Reshape, pairs, tw__temp_ints(t, (const int64_t[]){ -1 }, 1, TW_INT32));
    tw_tensor *length = TW_TEMP(Size, split);
    tw_tensor *axes = TW_TEMP(Range, 0, length, 2);
    return tw__reshape_like(TW_CALL(Sum, TW_TEMP(Reshape, tw__temp(t, dy), split), axes), x);
}

/* Axis by axis: [before, times, rest] is summed over `times`. */
static tw_status tile_gradient(tw__gradient *gradient)
{
    TW_TEMPS(t);
    tw_tensor *x = gradient->inputs[0];
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    tw_tensor *sum = tw_retain(gradient->output_grads[0]);
    if (!tw__shape_known(&x->shape) || !tw__shape_known(&sum->shape) || !gradient->inputs[1]->data) {
        gradient->input_grads[0] = untile_later(sum, gradient->inputs[1], x);
        return gradient->input_grads[0] ? TW_OK : tw__error_status();
    }
    tw_shape shape = sum->shape;
    for (int i = 0; sum && i < shape.rank; i++) {
        int64_t times = tw_tensor_int_at(gradient->inputs[1], i), before = 1, rest = x->shape.dims[i];
        if (times == 1)
            continue;
        for (int k = 0; k < i; k++)
            before *= shape.dims[k];
        for (int k = i + 1; k < shape.rank; k++)
            rest *= shape.dims[k];
        tw_tensor *parts =
            TW_TEMP(Reshape, tw__temp(t, sum), tw__temp_ints(t, (const int64_t[]){ before, times, rest }, 3, TW_INT64));
        sum = TW_CALL(Sum, parts, tw__temp_ints(t, &(int64_t){ 1 }, 1, TW_INT32));
        shape.dims[i] = x->shape.dims[i];
    }
    gradient->input_grads[0] = tw__reshape_like(sum, x);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool tile_words(tw__wording *w)
{
    const tw_shape *multiples = w->in->shapes[1];
    int rank = w->in->shapes[0]->rank;
    return rank >= 0 && multiples->rank == 1 && tw__sizes_differ(multiples->dims[0], rank) &&
           tw__say_rank(w, rank, (int)multiples->dims[0]);
}

TW_OP(Tile, .inputs = "input: T, multiples: Tmultiples", .outputs = "output: T",
      .attrs = "T: type, Tmultiples: {int32, int64} = int32", .shape = tile_shape, .compute = tile_compute,
      .gradient = tile_gradient, .words = tile_words,
      .function = "tile(input: tensor, multiples: tensor<int32>, name: str = None) -> tensor",
      .doc = "Repeats a tensor along each dimension.\n"
             "input: a tensor\n"
             "multiples: how often each dimension is repeated\n"
             "example: tf.tile([1, 2], [2]).numpy().tolist()  # [1, 2, 1, 2]");

/* ---- OneHot ---- */

static tw_status one_hot_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t axis = TW_ATTR(inference, "axis")->i, depth = -1;
    static const char *const names[] = { "", "depth", "on_value", "off_value" };
    for (int i = 1; i < 4; i++) {
        if (inference->shapes[i]->rank > 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s must be a scalar, but got: %s", names[i],
                              tw__shape_text(inference->shapes[i]));
    }
    if (inference->values[1]) {
        depth = tw_tensor_int_at(inference->values[1], 0);
        if (depth < 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "depth must be non-negative, got: %lld", (long long)depth);
    }
    if (in->rank < 0)
        return TW_OK;
    if (axis < -1 || axis > in->rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Expected axis to be -1 or between [0, %d).  But received: %lld",
                          in->rank + 1, (long long)axis);
    if (in->rank == TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", in->rank + 1, TW_MAX_RANK);
    int place = axis < 0 ? in->rank : (int)axis;
    tw_shape *out = &inference->out_shapes[0];
    out->rank = in->rank + 1;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = i == place ? depth : in->dims[i < place ? i : i - 1];
    return TW_OK;
}

static tw_status one_hot_compute(tw__kernel *kernel)
{
    const tw_tensor *indices = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t axis = TW_ATTR(kernel, "axis")->i, depth = tw_tensor_int_at(kernel->inputs[1], 0), inner = 1;
    size_t size = tw__element_size(out->dtype);
    for (int i = axis < 0 ? indices->shape.rank : (int)axis; i < indices->shape.rank; i++)
        inner *= indices->shape.dims[i];
    if (out->dtype != TW_STRING)
        TW_TRY(tw__fill_elements(out->dtype, out->data, kernel->inputs[3]->data, out->count));
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t index = tw_tensor_int_at(indices, i), start = i / inner * depth * inner + i % inner;
        if (out->dtype == TW_STRING) {
            for (int64_t k = 0; k < depth; k++)
                TW_TRY(tw__copy_elements(TW_STRING, (tw_string *)out->data + start + k * inner,
                                         kernel->inputs[k == index ? 2 : 3]->data, 1));
        } else if (index >= 0 && index < depth) {
            memcpy((char *)out->data + (size_t)(start + index * inner) * size, kernel->inputs[2]->data, size);
        }
    }
    return TW_OK;
}

static bool one_hot_words(tw__wording *w)
{
    int64_t depth;
    w->values = 2;
    if (!tw__wording_number(w, 1, &depth) || depth >= 0)
        return false;
    tw__text_format(&w->text, "Dimension size, given by scalar input 1, must be non-negative but is %lld", (long long)depth);
    return true;
}

TW_OP(OneHot, .inputs = "indices: TI, depth: int32, on_value: T, off_value: T", .outputs = "output: T",
      .attrs = "axis: int = -1, T: type, TI: {uint8, int8, int32, int64} = int64", .shape = one_hot_shape,
      .compute = one_hot_compute, .words = one_hot_words, .node_name = "one_hot", .elements = 1u << 0,
      .doc = "on_value where the place along the new axis is the index, else off_value.");
