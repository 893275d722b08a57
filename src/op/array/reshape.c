/* The same elements under another shape: Reshape, ExpandDims, Squeeze. Their outputs share the input's memory. */
#include "op/array/array.h"
#include "op/wording.h"
#include "rows.h"

/* The output as a view of input 0. */
static tw_status give_view(tw__kernel *kernel, const tw_shape *shape)
{
    return tw__output_take(kernel, 0, tw__tensor_view(kernel->inputs[0], shape));
}

/* ---- Reshape ---- */

static tw_status requested_shape(const tw_op *op, const tw_tensor *sizes, const tw_shape *input, tw_shape *shape)
{
    if (sizes->shape.rank > 1) /* a scalar counts as a vector of one */
        return tw__fail(TW_INVALID_ARGUMENT, "%s: sizes input must be 1-D, not %s", op->name, tw__shape_text(&sizes->shape));
    if (sizes->count > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: rank %lld, at most %d are supported", op->name, (long long)sizes->count,
                        TW_MAX_RANK);
    int unknown = -1;
    int64_t product = 1, count;
    shape->rank = (int32_t)sizes->count;
    TW_TRY(tw__tensor_read_ints(sizes, "shape", shape->dims, TW_MAX_RANK));
    for (int i = 0; i < shape->rank; i++) {
        int64_t size = shape->dims[i];
        if (size == -1) {
            if (unknown >= 0)
                return tw__fail(TW_INVALID_ARGUMENT, "Only one input size may be -1, not both %d and %d", unknown, i);
            unknown = i;
        } else if (size < 0) {
            return tw__fail(TW_INVALID_ARGUMENT, "Size %d must be non-negative, not %lld", i, (long long)size);
        } else if (__builtin_mul_overflow(product, size, &product)) {
            product = 0;
            for (int k = 0; k < shape->rank; k++) {
                if (shape->dims[k] == 0)
                    product = -1; /* a zero elsewhere: the true product is zero */
            }
            if (product == 0)
                return tw__fail(TW_INVALID_ARGUMENT, "Shape %s would have more than 2**63 - 1 elements", tw__shape_text(shape));
            product = 0;
        }
    }
    if (!tw__shape_known(input))
        return TW_OK;
    TW_TRY(tw__shape_count(input, &count));
    if (unknown >= 0) {
        int64_t missing = product > 0 ? count / product : 0;
        if (product == 0 && count == 0) { /* dimensions of zero on both sides cancel each other */
            int64_t have = 1, want = 1;
            for (int i = 0; i < input->rank; i++)
                have *= input->dims[i] ? input->dims[i] : 1;
            for (int i = 0; i < shape->rank; i++)
                want *= i != unknown && shape->dims[i] ? shape->dims[i] : 1;
            missing = have / want;
        }
        if (product * missing != count)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Input to reshape is a tensor with %lld values, but the requested shape requires a multiple of %lld",
                            (long long)count, (long long)product);
        shape->dims[unknown] = missing;
    } else if (product != count) {
        return tw__fail(TW_INVALID_ARGUMENT, "Input to reshape is a tensor with %lld values, but the requested shape has %lld",
                        (long long)count, (long long)product);
    }
    return TW_OK;
}

static tw_status reshape_shape(tw__inference *inference)
{
    if (inference->values[1])
        return requested_shape(inference->op, inference->values[1], inference->shapes[0], &inference->out_shapes[0]);
    const tw_shape *sizes = inference->shapes[1], *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    if (tw__partial_input(inference, 1, out)) {
        int64_t count = 1, product = 1;
        int open = 0, last = 0;
        bool fits = tw__shape_known(in) && tw__shape_count(in, &count) == TW_OK;
        for (int i = 0; i < out->rank; i++) {
            open += out->dims[i] < 0;
            last = out->dims[i] < 0 ? i : last;
            fits = fits && (out->dims[i] < 0 || !__builtin_mul_overflow(product, out->dims[i], &product));
        }
        if (fits && open == 1 && product > 0 && count % product == 0)
            out->dims[last] = count / product;
        return TW_OK;
    }
    out->rank = -1;
    if (sizes->rank == 0) {
        inference->out_shapes[0] = TW_SHAPE(-1);
    } else if (sizes->rank == 1 && sizes->dims[0] >= 0 && sizes->dims[0] <= TW_MAX_RANK) {
        inference->out_shapes[0].rank = (int32_t)sizes->dims[0];
        for (int i = 0; i < inference->out_shapes[0].rank; i++)
            inference->out_shapes[0].dims[i] = -1;
    }
    return TW_OK;
}

static tw_status reshape_compute(tw__kernel *kernel)
{
    tw_shape shape;
    TW_TRY(requested_shape(kernel->op, kernel->inputs[1], &kernel->inputs[0]->shape, &shape));
    return give_view(kernel, &shape);
}

static tw_status reshape_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = tw__reshape_like(tw_retain(gradient->output_grads[0]), gradient->inputs[0]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool reshape_words(tw__wording *w)
{
    tw_shape to;
    int64_t count, known = 1;
    w->partials = 2;
    if (!tw__shape_known(w->in->shapes[0]) || tw__shape_count(w->in->shapes[0], &count) != TW_OK ||
        !tw__wording_vector(w, 1, &to))
        return false;
    int open = 0;
    for (int i = 0; i < to.rank; i++) {
        open += to.dims[i] < 0;
        if (__builtin_mul_overflow(known, to.dims[i] < 0 ? 1 : to.dims[i], &known))
            return false;
    }
    if (open > 1)
        return false;
    if (!open)
        tw__text_format(&w->text, "Cannot reshape a tensor with %lld elements to shape %s (%lld elements)", (long long)count,
                        tw__shape_text(&to), (long long)known);
    else
        tw__text_format(&w->text, "Dimension size must be evenly divisible by %lld but is %lld", (long long)known,
                        (long long)count);
    return true;
}

TW_OP(Reshape, .inputs = "tensor: T, shape: Tshape", .outputs = "output: T", .attrs = "T: type, Tshape: {int32, int64} = int32",
      .shape = reshape_shape, .compute = reshape_compute, .gradient = reshape_gradient, .makes_outputs = true,
      .words = reshape_words, .reshapes = true, .doc = "The same elements under another shape; one dimension may be -1.");

/* ---- ExpandDims ---- */

static tw_status expanded_shape(const tw_op *op, const tw_tensor *dim, const tw_shape *input, tw_shape *shape)
{
    int64_t axis;
    int place;
    if (dim->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "'dim' must be a tensor with a single value, got shape %s",
                        tw__shape_text(&dim->shape));
    TW_TRY(tw__tensor_read_ints(dim, "dim", &axis, 1));
    if (input->rank < 0)
        return TW_OK;
    if (!tw__axis_normal(axis, input->rank + 1, &place))
        return tw__fail(TW_INVALID_ARGUMENT, "Tried to expand dim index %lld for tensor with %d dimensions.", (long long)axis,
                        input->rank);
    if (input->rank == TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: rank %d, at most %d are supported", op->name, input->rank + 1, TW_MAX_RANK);
    shape->rank = input->rank + 1;
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = i < place ? input->dims[i] : i == place ? 1 : input->dims[i - 1];
    return TW_OK;
}

static tw_status expand_shape(tw__inference *inference)
{
    if (inference->values[1])
        return expanded_shape(inference->op, inference->values[1], inference->shapes[0], &inference->out_shapes[0]);
    return TW_OK;
}

static tw_status expand_compute(tw__kernel *kernel)
{
    tw_shape shape;
    TW_TRY(expanded_shape(kernel->op, kernel->inputs[1], &kernel->inputs[0]->shape, &shape));
    return give_view(kernel, &shape);
}

static bool expand_dims_words(tw__wording *w)
{
    int64_t axis;
    int rank = w->in->shapes[0]->rank;
    w->values = 2;
    if (rank < 0 || !tw__wording_number(w, 1, &axis))
        return false;
    tw__text_format(&w->text, "dim %lld not in the interval [%d, %d].", (long long)axis, -rank - 1, rank);
    return true;
}

TW_OP(ExpandDims, .inputs = "input: T, dim: Tdim", .outputs = "output: T", .attrs = "T: type, Tdim: {int32, int64} = int32",
      .shape = expand_shape, .compute = expand_compute, .gradient = reshape_gradient, .makes_outputs = true,
      .words = expand_dims_words, .reshapes = true, .doc = "Puts in a dimension of one.");

/* ---- Squeeze ---- */

static tw_status squeezed_shape(const tw_op *op, const tw_attr *attrs, const tw_shape *input, tw_shape *shape)
{
    const tw_attr *dims = tw__attr_find(op, attrs, "squeeze_dims");
    bool wanted[TW_MAX_RANK] = { false };
    if (input->rank < 0)
        return TW_OK;
    for (int i = 0; i < dims->count; i++) {
        int axis;
        if (!tw__axis_normal(dims->ints[i], input->rank, &axis))
            return tw__fail(TW_INVALID_ARGUMENT, "Tried to squeeze dim index %lld for tensor with %d dimensions.",
                            (long long)dims->ints[i], input->rank);
        wanted[axis] = true;
    }
    tw_shape out = { .rank = 0 };
    for (int i = 0; i < input->rank; i++) {
        if (dims->count && wanted[i] && input->dims[i] > 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Can not squeeze dim[%d], expected a dimension of 1, got %lld", i,
                            (long long)input->dims[i]);
        if (dims->count && wanted[i] && input->dims[i] == 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Can not squeeze dim[%d], expected a dimension of 1, got 0", i);
        if (!dims->count && input->dims[i] < 0)
            return TW_OK; /* whether it goes is not known yet, nor is the rank */
        if (dims->count ? !wanted[i] : input->dims[i] != 1)
            out.dims[out.rank++] = input->dims[i];
    }
    *shape = out;
    return TW_OK;
}

static tw_status squeeze_shape(tw__inference *inference)
{
    return squeezed_shape(inference->op, inference->attrs, inference->shapes[0], &inference->out_shapes[0]);
}

static tw_status squeeze_compute(tw__kernel *kernel)
{
    tw_shape shape;
    TW_TRY(squeezed_shape(kernel->op, kernel->attrs, &kernel->inputs[0]->shape, &shape));
    return give_view(kernel, &shape);
}

TW_OP(Squeeze, .inputs = "input: T", .outputs = "output: T", .attrs = "T: type, squeeze_dims: list(int) >= 0 = []",
      .shape = squeeze_shape, .compute = squeeze_compute, .gradient = reshape_gradient, .makes_outputs = true, .reshapes = true,
      .doc = "Takes out dimensions of one.");
