/* Choosing between values: Select, SelectV2, Where, ClipByValue; and the sum of many tensors. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "op/list/list.h"
#include "op/wording.h"
#include "rows.h"

static tw_status select_elements(tw__kernel *kernel, const tw_shape *condition_shape)
{
    tw_tensor *const *in = kernel->inputs;
    const tw_tensor *condition = in[0], *x = in[1], *y = in[2];
    tw_tensor *z = kernel->outputs[0];
    if (z->dtype != TW_STRING && z->dtype != TW_RESOURCE && z->dtype != TW_VARIANT) {
        tw__select_run(tw__element_size(z->dtype), condition->data, condition_shape, x->data, &x->shape, y->data, &y->shape,
                       z->data, &z->shape);
        return TW_OK;
    }
    if (z->dtype != TW_STRING)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(z->dtype));
    tw__broadcast plan;
    tw__broadcast_plan(&plan, &z->shape, (const tw_shape *const[]){ condition_shape, &x->shape, &y->shape }, 3);
    int last = plan.rank - 1;
    int64_t length = plan.dims[last];
    for (int64_t i = 0; i < z->count; i++) {
        int64_t row = i / length, k = i % length;
        bool first = ((const bool *)condition->data)[tw__broadcast_offset(&plan, 0, row) + k * plan.strides[0][last]];
        int input = first ? 1 : 2;
        tw_string s = tw_tensor_string_at(in[input], tw__broadcast_offset(&plan, input, row) + k * plan.strides[input][last]);
        TW_TRY(tw__string_set(z, i, s.data, s.size));
    }
    return TW_OK;
}

/* ---- SelectV2: all three broadcast ---- */

static tw_status select_v2_shape(tw__inference *inference)
{
    const tw_shape *c = inference->shapes[0], *x = inference->shapes[1], *y = inference->shapes[2];
    tw_shape both;
    if (!tw__shape_broadcast(x, y, &both) || !tw__shape_broadcast(c, &both, &inference->out_shapes[0]))
        return tw__fail(TW_INVALID_ARGUMENT, "condition %s, then %s, and else %s must be broadcastable", tw__shape_text(c),
                        tw__shape_text(x), tw__shape_text(y));
    return TW_OK;
}

static tw_status select_v2_compute(tw__kernel *kernel)
{
    return select_elements(kernel, &kernel->inputs[0]->shape);
}

static tw_status select_v2_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0];
    tw_auto tw_tensor *zero = tw__grad_constant(0, dz);
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(SelectV2, g->inputs[0], dz, zero));
    if (g->wanted[2])
        tw__grad_set(g, 2, TW_CALL(SelectV2, g->inputs[0], zero, dz));
    return tw__grad_status(g);
}

static bool select_shapes_words(tw__wording *w)
{
    return tw__say_broadcast(w, w->in->shapes[1], w->in->shapes[2]) || tw__say_broadcast(w, w->in->shapes[0], w->in->shapes[1]) ||
           tw__say_broadcast(w, w->in->shapes[0], w->in->shapes[2]);
}

TW_OP(SelectV2, .inputs = "condition: bool, t: T, e: T", .outputs = "output: T", .attrs = "T: type", .shape = select_v2_shape,
      .compute = select_v2_compute, .gradient = select_v2_gradient, .words = select_shapes_words,
      .doc = "t where the condition is true, else e; all three are broadcast.");

/* ---- Select: t and e of one shape; the condition of that shape, a scalar, or a vector that chooses rows ---- */

static tw_status select_shape(tw__inference *inference)
{
    const tw_shape *c = inference->shapes[0], *x = inference->shapes[1], *y = inference->shapes[2];
    if (!tw__shape_compatible(x, y))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "'then' and 'else' must have the same size.  but received: %s vs. %s",
                          tw__shape_text(x), tw__shape_text(y));
    bool rows = c->rank == 1 && x->rank >= 1 && (c->dims[0] < 0 || x->dims[0] < 0 || c->dims[0] == x->dims[0]);
    if (c->rank > 0 && !rows && !tw__shape_compatible(c, x))
        return TW_OP_FAIL(
            inference, TW_INVALID_ARGUMENT,
            "the condition has the shape %s: it must be a scalar, or have the shape of t (%s) or the length of its first dimension",
            tw__shape_text(c), tw__shape_text(x));
    inference->out_shapes[0] = tw__shape_known(x) ? *x : *y;
    return TW_OK;
}

static tw_status select_compute(tw__kernel *kernel)
{
    tw_shape condition = kernel->inputs[0]->shape;
    int rank = kernel->outputs[0]->shape.rank;
    if (condition.rank == 1) { /* a column: it chooses rows */
        for (int i = 1; i < rank; i++)
            condition.dims[i] = 1;
        condition.rank = rank;
    }
    return select_elements(kernel, &condition);
}

static tw_status select_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0];
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, dz);
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(Select, g->inputs[0], dz, zeros));
    if (g->wanted[2])
        tw__grad_set(g, 2, TW_CALL(Select, g->inputs[0], zeros, dz));
    return tw__grad_status(g);
}

TW_OP(Select, .inputs = "condition: bool, t: T, e: T", .outputs = "output: T", .attrs = "T: type", .shape = select_shape,
      .compute = select_compute, .gradient = select_gradient, .doc = "t where the condition is true, else e.");

/* ---- Where: the places of what is true, or not zero ---- */

static tw_status where_shape(tw__inference *inference)
{
    int rank = inference->shapes[0]->rank;
    if (rank >= 0)
        inference->out_shapes[0] = (tw_shape){ .rank = 2, .dims = { -1, rank } };
    return TW_OK;
}

/* Eight at a time: a product by ones adds up the bytes of a word. */
static int64_t count_true(const bool *set, int64_t count)
{
    int64_t found = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t eight;
        memcpy(&eight, set + i, sizeof eight);
        found += (int64_t)(eight * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; i < count; i++)
        found += set[i];
    return found;
}

static tw_status where_compute(tw__kernel *kernel)
{
    tw_tensor *x = kernel->inputs[0];
    const tw_shape *shape = &x->shape;
    if (shape->rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "WhereOp : Unhandled input dimensions: 0");
    if (!tw__cast_has(x->dtype, TW_BOOL))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(x->dtype));
    tw_auto tw_tensor *truth = x->dtype == TW_BOOL ? tw_retain(x) : tw__tensor_empty(TW_BOOL, shape);
    if (!truth)
        return tw__error_status();
    if (truth != x && tw__dtype_is_complex(x->dtype)) { /* a cast looks at the real part only */
        tw_dtype part = x->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64;
        for (int64_t i = 0; i < x->count; i++) {
            bool both[2];
            tw__cast_run(part, TW_BOOL, (const char *)x->data + 2 * i * tw__element_size(part), both, 2, false);
            ((bool *)truth->data)[i] = both[0] || both[1];
        }
    } else if (truth != x) {
        tw__cast_run(x->dtype, TW_BOOL, x->data, truth->data, x->count, false);
    }
    const bool *set = truth->data;
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(count_true(set, x->count), shape->rank));
    if (!out)
        return tw__error_status();
    int64_t *place = out->data, row = shape->dims[shape->rank - 1], rows = row ? x->count / row : 0;
    for (int64_t r = 0; r < rows; r++, set += row) {
        int64_t lead[TW_MAX_RANK], rest = r;
        for (int axis = shape->rank - 2; axis >= 0; axis--) {
            lead[axis] = rest % shape->dims[axis];
            rest /= shape->dims[axis];
        }
        for (int64_t i = 0; i < row;) {
            uint64_t eight = 1;
            if (i + 8 <= row)
                memcpy(&eight, set + i, sizeof eight);
            if (!eight) { /* none of eight */
                i += 8;
                continue;
            }
            int64_t stop = i + 8 <= row ? i + 8 : row;
            for (; i < stop; i++) {
                if (!set[i])
                    continue;
                for (int axis = 0; axis < shape->rank - 1; axis++)
                    *place++ = lead[axis];
                *place++ = i;
            }
        }
    }
    return TW_OK;
}

TW_OP(
    Where, .inputs = "input: T", .outputs = "index: int64",
    .attrs =
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, "
        "complex128, half, uint32, uint64, bool} = bool",
    .shape = where_shape, .compute = where_compute,
    .doc = "The indices of elements that are true or not zero, a row for each, in order.");

/* ---- ClipByValue ---- */

static tw_status clip_shape(tw__inference *inference)
{
    const tw_shape *t = inference->shapes[0], *low = inference->shapes[1], *high = inference->shapes[2];
    if ((low->rank > 0 && !tw__shape_compatible(t, low)) || (high->rank > 0 && !tw__shape_compatible(t, high)))
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: %s"
            "clip_value_min shape: %sclip_value_max shape: %s",
            tw__shape_text(t), tw__shape_text(low), tw__shape_text(high));
    return tw_shape_same(inference);
}

static tw_status clip_compute(tw__kernel *kernel)
{
    const tw_tensor *t = kernel->inputs[0], *low = kernel->inputs[1], *high = kernel->inputs[2];
    tw_tensor *out = kernel->outputs[0];
    if (!tw__binary_has(&tw__binary_minimum, t->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(t->dtype));
    tw__binary_run(&tw__binary_minimum, t->dtype, t->data, &t->shape, high->data, &high->shape, out->data, &out->shape);
    tw__binary_run(&tw__binary_maximum, t->dtype, out->data, &out->shape, low->data, &low->shape, out->data, &out->shape);
    return TW_OK;
}

/* Where t lies outside, the gradient goes to the limit. */
static tw_status clip_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0], *t = g->inputs[0], *low = g->inputs[1], *high = g->inputs[2];
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, dz);
    tw_auto tw_tensor *below = TW_CALL(Less, t, low);
    tw_auto tw_tensor *above = TW_CALL(Greater, t, high);
    tw_auto tw_tensor *outside = TW_CALL(LogicalOr, below, above);
    if (g->wanted[0])
        tw__grad_set(g, 0, TW_CALL(SelectV2, outside, zeros, dz));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(SelectV2, below, dz, zeros));
    if (g->wanted[2])
        tw__grad_set(g, 2, TW_CALL(SelectV2, above, dz, zeros));
    return tw__grad_status(g);
}

#define NUMBERS                                                                                                               \
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, uint32, uint64"
TW_OP(ClipByValue, .inputs = "t: T, clip_value_min: T, clip_value_max: T", .outputs = "output: T", .attrs = "T: " NUMBERS "}",
      .shape = clip_shape, .compute = clip_compute, .gradient = clip_gradient,
      .doc = "t, with what lies below the minimum or above the maximum set to that limit.");

/* ---- AddN ---- */

static tw_status add_n_shape(tw__inference *inference)
{
    for (int i = 1; i < inference->input_count; i++) {
        if (!tw__shape_compatible(inference->shapes[0], inference->shapes[i]))
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "Inputs to operation AddN of type AddN must have the same size and shape.  Input 0: %s != input %d: %s",
                tw__shape_text(inference->shapes[0]), i, tw__shape_text(inference->shapes[i]));
    }
    inference->out_shapes[0] = *inference->shapes[0];
    return TW_OK;
}

typedef struct sum_run {
    tw__kernel *kernel;
    tw_dtype dtype;
    size_t size;
} sum_run;

/* In pieces that stay in the first cache while every input is added to them. */
static void add_pieces(void *context, int64_t begin, int64_t end)
{
    enum { PIECE = 2048 };
    const sum_run *r = context;
    tw_tensor *const *in = r->kernel->inputs;
    for (int64_t i = begin; i < end; i += PIECE) {
        int64_t n = end - i < PIECE ? end - i : PIECE;
        size_t at = (size_t)i * r->size;
        char *out = (char *)r->kernel->outputs[0]->data + at;
        const char *sum = (const char *)in[0]->data + at;
        for (int k = 1; k < r->kernel->input_count; k++) {
            tw__binary_row(&tw__binary_add, r->dtype, sum, (const char *)in[k]->data + at, out, n, TW_ROW_BOTH);
            sum = out;
        }
    }
}

static tw_status add_lists(tw__kernel *kernel)
{
    tw_tensor *sum = tw_retain(kernel->inputs[0]);
    for (int i = 1; sum && i < kernel->input_count; i++) {
        tw_tensor *next = tw__list_add(kernel->op, sum, kernel->inputs[i]);
        tw_release(sum);
        sum = next;
    }
    return tw__output_take(kernel, 0, sum);
}

static tw_status add_n_compute(tw__kernel *kernel)
{
    tw_tensor *first = kernel->inputs[0];
    if (first->dtype == TW_VARIANT)
        return add_lists(kernel);
    if (!tw__binary_has(&tw__binary_add, first->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(first->dtype));
    if (kernel->input_count == 1)
        return tw__output_take(kernel, 0, tw__tensor_view(first, &first->shape));
    sum_run r = { kernel, first->dtype, tw__element_size(first->dtype) };
    tw__parallel(first->count, 32768, add_pieces, &r);
    return TW_OK;
}

static tw_status add_n_gradient(tw__gradient *g)
{
    for (int i = 0; i < g->input_count; i++)
        g->input_grads[i] = tw_retain(g->output_grads[0]);
    return TW_OK;
}

static bool add_n_shows(const tw__inference *inference)
{
    return inference->input_count == 1;
}

TW_OP(AddN, .inputs = "inputs: N * T", .outputs = "sum: T", .attrs = "N: int >= 1, T: " NUMBERS ", variant}",
      .shape = add_n_shape, .compute = add_n_compute, .gradient = add_n_gradient, .shows_input = add_n_shows,
      .doc = "The sum of all inputs, element by element.");

/* ---- BroadcastGradientArgs ---- */

enum { RANK_LIMIT = 64 }; /* shapes here are values, not tensors' own */

static tw_status gradient_args_shape(tw__inference *inference)
{
    for (int i = 0; i < 2; i++) {
        TW_TRY(tw__need_rank(inference, i, 1));
        inference->out_shapes[i] = (tw_shape){ .rank = 1, .dims = { -1 } };
    }
    return TW_OK;
}

static tw_status gradient_args_compute(tw__kernel *kernel)
{
    int64_t dims[2][RANK_LIMIT], axes[2][RANK_LIMIT], counts[2] = { 0, 0 };
    int64_t ranks[2] = { kernel->inputs[0]->count, kernel->inputs[1]->count };
    for (int i = 0; i < 2; i++)
        TW_TRY(tw__tensor_read_ints(kernel->inputs[i], i ? "BroadcastGradientArgs: s1" : "BroadcastGradientArgs: s0", dims[i],
                                    RANK_LIMIT));
    int64_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];
    bool equal = ranks[0] == ranks[1] && memcmp(dims[0], dims[1], (size_t)rank * sizeof(int64_t)) == 0;
    for (int64_t k = 0; !equal && k < rank; k++) {
        int64_t at[2] = { k - (rank - ranks[0]), k - (rank - ranks[1]) };
        int64_t size[2] = { at[0] < 0 ? 1 : dims[0][at[0]], at[1] < 0 ? 1 : dims[1][at[1]] };
        if (size[0] != size[1] && size[0] != 1 && size[1] != 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Incompatible shapes: dimension %lld is %lld and %lld", (long long)k,
                              (long long)size[0], (long long)size[1]);
        for (int i = 0; i < 2; i++) {
            if (size[i] == 1)
                axes[i][counts[i]++] = k;
        }
    }
    for (int i = 0; i < 2; i++) {
        tw_tensor *out = tw__output(kernel, i, &TW_SHAPE(counts[i]));
        if (!out)
            return tw__error_status();
        tw__cast_run(TW_INT64, out->dtype, axes[i], out->data, counts[i], false);
    }
    return TW_OK;
}

TW_OP(BroadcastGradientArgs, .inputs = "s0: T, s1: T", .outputs = "r0: T, r1: T", .attrs = "T: {int32, int64} = int32",
      .shape = gradient_args_shape, .compute = gradient_args_compute,
      .doc = "The axes over which a gradient is summed for each of two shapes that were broadcast together.");
