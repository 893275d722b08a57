/* StridedSlice, the op behind t[a:b:c, ..., None, 3], StridedSliceGrad that puts such a slice back into zeros, and
 * ResourceStridedSliceAssign that puts it into a variable.
 *
 * The given items are `sparse`: an ellipsis stands for as many dimensions as are missing, a new axis for none. They are laid out
 * over the dimensions of the input first (begin, size and step of each); the result's shape then takes in new axes and leaves out
 * shrunk ones. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/partial.h"
#include "op/resource.h"
#include "op/wording.h"
#include "rows.h"

typedef struct layout {
    tw_shape processed; /* sizes over the input's dimensions; -1: not known */
    int64_t first[TW_MAX_RANK], steps[TW_MAX_RANK];
    tw_shape final;
} layout;

typedef struct item_masks {
    int64_t begin, end, ellipsis, new_axis, shrink;
} item_masks;

/* The given items, at most 31. */
typedef struct slice_items {
    int64_t count, begin[32], end[32], steps[32];
    bool bounds_unknown; /* begin or end is not known: sizes are where both are left out, or the dimension is shrunk */
} slice_items;

static tw_status items_differ(const tw_shape *begin, const tw_shape *end, const tw_shape *strides)
{
    return tw__fail(TW_INVALID_ARGUMENT,
                    "Expected begin, end, and strides to be 1D equal size tensors, but got shapes %s, %s, and %s instead.",
                    tw__shape_text(begin), tw__shape_text(end), tw__shape_text(strides));
}

static tw_status read_items(const tw_tensor *begin, const tw_tensor *end, const tw_tensor *strides, slice_items *items)
{
    items->count = strides->count;
    items->bounds_unknown = false;
    if (begin->shape.rank != 1 || end->shape.rank != 1 || strides->shape.rank != 1 || begin->count != items->count ||
        end->count != items->count || items->count >= 32)
        return items_differ(&begin->shape, &end->shape, &strides->shape);
    for (int64_t i = 0; i < items->count; i++) {
        items->begin[i] = tw_tensor_int_at(begin, i);
        items->end[i] = tw_tensor_int_at(end, i);
        items->steps[i] = tw_tensor_int_at(strides, i);
    }
    return TW_OK;
}

static item_masks read_masks(const tw_op *op, const tw_attr *attrs)
{
    return (item_masks){ tw__attr_find(op, attrs, "begin_mask")->i, tw__attr_find(op, attrs, "end_mask")->i,
                         tw__attr_find(op, attrs, "ellipsis_mask")->i, tw__attr_find(op, attrs, "new_axis_mask")->i,
                         tw__attr_find(op, attrs, "shrink_axis_mask")->i };
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* One ordinary item over dimension `axis` of size `dim`. */
static tw_status lay_item(layout *l, int axis, int64_t dim, int64_t begin, int64_t end, int64_t step, bool begin_masked,
                          bool end_masked, bool shrink, int item)
{
    if (step == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "strides[%d] must be non-zero", item);
    if (shrink && step <= 0)
        return tw__fail(TW_INVALID_ARGUMENT, "only stride 1 allowed on non-range indexing.");
    l->steps[axis] = step;
    if (shrink) {
        l->processed.dims[axis] = 1;
        if (dim < 0)
            return TW_OK;
        int64_t place = begin < 0 ? dim + begin : begin;
        if (place < 0 || place >= dim)
            return tw__fail(TW_INVALID_ARGUMENT, "slice index %lld of dimension %d out of bounds.", (long long)begin, axis);
        l->first[axis] = place;
        l->steps[axis] = 1;
        return TW_OK;
    }
    if (dim < 0) {
        l->processed.dims[axis] = -1;
        return TW_OK;
    }
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
    int64_t from = begin_masked ? (step > 0 ? low : high) : clamp(begin < 0 ? dim + begin : begin, low, high);
    int64_t to = end_masked ? (step > 0 ? high : low) : clamp(end < 0 ? dim + end : end, low, high);
    int64_t length = to - from, size = 0;
    if (length != 0 && (length < 0) == (step < 0))
        size = length / step + (length % step != 0);
    l->first[axis] = size ? from : 0;
    l->processed.dims[axis] = size;
    return TW_OK;
}

static tw_status lay_out(const tw_op *op, const tw_attr *attrs, const tw_shape *in, const slice_items *given, layout *l)
{
    item_masks masks = read_masks(op, attrs);
    int64_t count = given->count;
    int64_t items = (int64_t)1 << count, ellipsis = masks.ellipsis & (items - 1);
    if (ellipsis & (ellipsis - 1))
        return tw__fail(TW_INVALID_ARGUMENT, "Multiple ellipses in slice spec not allowed");
    int ordinary = 0; /* items that take a dimension */
    for (int i = 0; i < count; i++) {
        int64_t bit = (int64_t)1 << i;
        ordinary += !(ellipsis & bit) && !(masks.new_axis & bit);
    }
    if (ordinary > in->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "Index out of range using input dim %d; input has only %d dims", in->rank, in->rank);
    int axis = 0, missing = in->rank - ordinary;
    l->processed.rank = in->rank;
    tw_shape final = { .rank = 0 };
    for (int i = 0; i <= count; i++) {
        int64_t bit = (int64_t)1 << i;
        bool spread = i < count ? (ellipsis & bit) != 0 : !ellipsis; /* the end stands for an ellipsis where there is none */
        if (final.rank + (spread ? missing : 1) > TW_MAX_RANK)
            return tw__fail(TW_UNIMPLEMENTED, "%s: the result would have more than %d dimensions", op->name, TW_MAX_RANK);
        if (spread) {
            for (int k = 0; k < missing; k++, axis++) {
                l->first[axis] = 0;
                l->steps[axis] = 1;
                final.dims[final.rank++] = l->processed.dims[axis] = in->dims[axis];
            }
        } else if (i < count && (masks.new_axis & bit)) {
            final.dims[final.rank++] = 1;
        } else if (i < count) {
            bool open = masks.begin & bit && masks.end & bit, shrunk = masks.shrink & bit;
            int64_t dim = given->bounds_unknown && !open ? -1 : in->dims[axis];
            TW_TRY(lay_item(l, axis, dim, given->begin[i], given->end[i], given->steps[i], masks.begin & bit, masks.end & bit,
                            shrunk, i));
            if (!shrunk)
                final.dims[final.rank++] = l->processed.dims[axis];
            axis++;
        }
    }
    l->final = final;
    return TW_OK;
}

/* The integers of an input: given, or all known while a graph is made. */
static bool known_integers(const tw__inference *inference, int input, int64_t count, int64_t *out)
{
    const tw_tensor *value = inference->values[input];
    tw_shape known;
    if (!value && (!tw__partial_input(inference, input, &known) || known.rank != count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        out[i] = value ? tw_tensor_int_at(value, i) : known.dims[i];
        if (!value && out[i] < 0)
            return false;
    }
    return true;
}

/* Whether a vector may have so many elements. */
static bool may_have(const tw_shape *shape, int64_t count)
{
    return shape->rank < 0 || (shape->rank == 1 && (shape->dims[0] < 0 || shape->dims[0] == count));
}

static tw_status strided_shape(tw__inference *inference)
{
    layout l;
    slice_items items = { 0 };
    tw_tensor *const *v = inference->values;
    const tw_shape *const *shapes = inference->shapes;
    if (v[1] && v[2] && v[3]) {
        TW_TRY(read_items(v[1], v[2], v[3], &items));
    } else {
        int64_t count = items.count = shapes[3]->rank == 1 ? shapes[3]->dims[0] : -1;
        if (shapes[3]->rank < 0 || (shapes[3]->rank == 1 && count < 0))
            return TW_OK;
        if (count < 0 || count >= 32 || !may_have(shapes[1], count) || !may_have(shapes[2], count))
            return items_differ(shapes[1], shapes[2], shapes[3]);
        if (!known_integers(inference, 3, count, items.steps))
            return TW_OK;
        items.bounds_unknown =
            !known_integers(inference, 1, count, items.begin) || !known_integers(inference, 2, count, items.end);
    }
    if (shapes[0]->rank < 0)
        return TW_OK;
    TW_TRY(lay_out(inference->op, inference->attrs, shapes[0], &items, &l));
    inference->out_shapes[0] = l.final;
    return TW_OK;
}

static tw_status strided_compute(tw__kernel *kernel)
{
    layout l;
    tw_tensor *const *in = kernel->inputs;
    slice_items items;
    TW_TRY(read_items(in[1], in[2], in[3], &items));
    TW_TRY(lay_out(kernel->op, kernel->attrs, &in[0]->shape, &items, &l));
    return tw__give_box(kernel, in[0], &l.processed, l.first, l.steps, &l.final);
}

#define MASKS "begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0"

/* The five masks, as they stand in the attrs of both ops. */
static void copy_masks(const tw__gradient *gradient, tw_attr *attrs)
{
    static const char *const names[] = { "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask" };
    for (int i = 0; i < 5; i++)
        attrs[i] = TW_A_INT(names[i], TW_ATTR(gradient, names[i])->i);
}

static tw_status strided_gradient(tw__gradient *gradient)
{
    tw_tensor *const *in = gradient->inputs;
    tw_attr attrs[5];
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    copy_masks(gradient, attrs);
    tw_auto tw_tensor *shape = tw__shape_as_tensor(in[0], in[1]->dtype);
    gradient->input_grads[0] =
        tw__call(&tw__op_StridedSliceGrad, TW_IN(shape, in[1], in[2], in[3], gradient->output_grads[0]), 5, attrs, 5);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool strided_slice_words(tw__wording *w)
{
    w->values = strncmp(w->own, "Index out of range", 18) == 0 ? 8 : 2 | 4 | 8;
    return false;
}

/* Of a vector: begin, end and step of its one dimension, or one element. */
static bool strided_slice_partial(const tw__partial_call *call, tw_shape *elements)
{
    tw_shape whole;
    int64_t place[3];
    for (int i = 0; i < 3; i++) {
        const tw_tensor *value = call->constant(call, i + 1);
        if (!value || value->count != 1 || (value->dtype != TW_INT32 && value->dtype != TW_INT64))
            return false;
        place[i] = tw_tensor_int_at(value, 0);
    }
    if (!call->vector(call, 0, &whole) || TW_ATTR(call, "ellipsis_mask")->i || TW_ATTR(call, "new_axis_mask")->i)
        return false;
    int64_t size = whole.rank, begin = place[0] < 0 ? place[0] + size : place[0], end = place[1] < 0 ? place[1] + size : place[1];
    if (TW_ATTR(call, "shrink_axis_mask")->i & 1) {
        *elements = TW_SHAPE(begin >= 0 && begin < size ? whole.dims[begin] : -1);
        return true;
    }
    begin = TW_ATTR(call, "begin_mask")->i & 1 ? 0 : begin;
    end = TW_ATTR(call, "end_mask")->i & 1 ? size : end;
    if (place[2] != 1)
        return false;
    begin = begin < 0 ? 0 : begin > size ? size : begin;
    end = end < begin ? begin : end > size ? size : end;
    elements->rank = (int32_t)(end - begin);
    memcpy(elements->dims, whole.dims + begin, (size_t)(end - begin) * sizeof *elements->dims);
    return true;
}

TW_OP(StridedSlice, .inputs = "input: T, begin: Index, end: Index, strides: Index", .outputs = "output: T",
      .attrs = "T: type, Index: {int16, int32, int64}, " MASKS, .shape = strided_shape, .compute = strided_compute,
      .gradient = strided_gradient, .makes_outputs = true, .words = strided_slice_words, .node_name = "strided_slice",
      .scope = TW_SCOPE_ALWAYS, .partial = strided_slice_partial, .input_names = ",stack,stack_1,stack_2",
      .doc = "A slice by begin, end and step, with ellipsis, new and shrunk axes.");

/* ---- StridedSliceGrad ---- */

static tw_status grad_shape(tw__inference *inference)
{
    if (inference->values[0])
        return tw__shape_of_values(inference->op, inference->values[0], "shape", false, &inference->out_shapes[0]);
    return TW_OK;
}

static tw_status grad_compute(tw__kernel *kernel)
{
    layout l;
    tw_tensor *const *in = kernel->inputs;
    tw_tensor *out = kernel->outputs[0], *dy = in[4];
    slice_items items;
    TW_TRY(read_items(in[1], in[2], in[3], &items));
    TW_TRY(lay_out(kernel->op, kernel->attrs, &out->shape, &items, &l));
    if (!tw__shape_equal(&l.final, &dy->shape))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "shape of dy was %s instead of %s", tw__shape_text(&dy->shape),
                          tw__shape_text(&l.final));
    size_t size = tw__element_size(out->dtype);
    if (out->dtype != TW_STRING)
        memset(out->data, 0, (size_t)out->count * size);
    if (dy->count == 0)
        return TW_OK;
    int64_t strides[TW_MAX_RANK], from[TW_MAX_RANK], offset = 0;
    tw__walk walk = { 0 };
    tw__strides(&out->shape, strides);
    tw__strides(&l.processed, from);
    for (int i = 0; i < out->shape.rank; i++) {
        offset += l.first[i] * strides[i];
        tw__walk_add(&walk, l.processed.dims[i], l.processed.dims[i] == 1 ? 0 : strides[i] * l.steps[i], from[i]);
    }
    return tw__copy_walk(out->dtype, (char *)out->data + (size_t)offset * size, dy->data, &walk);
}

static tw_status grad_gradient(tw__gradient *gradient)
{
    tw_tensor *const *in = gradient->inputs;
    tw_attr attrs[5];
    if (!gradient->output_grads[0] || !gradient->wanted[4])
        return TW_OK;
    copy_masks(gradient, attrs);
    gradient->input_grads[4] = tw__call(&tw__op_StridedSlice, TW_IN(gradient->output_grads[0], in[1], in[2], in[3]), 4, attrs, 5);
    return gradient->input_grads[4] ? TW_OK : tw__error_status();
}

TW_OP(StridedSliceGrad, .inputs = "shape: Index, begin: Index, end: Index, strides: Index, dy: T", .outputs = "output: T",
      .attrs = "T: type, Index: {int32, int64}, " MASKS, .shape = grad_shape, .compute = grad_compute, .gradient = grad_gradient,
      .doc = "Zeros, with dy where the slice lies.");

/* ---- ResourceStridedSliceAssign ---- */

static tw_status put_slice(tw__kernel *kernel, tw_tensor *held)
{
    layout l;
    tw_tensor *const *in = kernel->inputs;
    const tw_tensor *value = in[4];
    slice_items items;
    TW_TRY(read_items(in[1], in[2], in[3], &items));
    TW_TRY(lay_out(kernel->op, kernel->attrs, &held->shape, &items, &l));
    if (value->dtype != held->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable is of dtype %s, the value of %s", tw_dtype_name(held->dtype),
                          tw_dtype_name(value->dtype));
    bool fits = value->shape.rank <= l.final.rank;
    for (int i = 1; fits && i <= value->shape.rank; i++) {
        int64_t dim = value->shape.dims[value->shape.rank - i];
        fits = dim == 1 || dim == l.final.dims[l.final.rank - i];
    }
    if (!fits)
        return tw__fail(TW_INVALID_ARGUMENT, "Cannot broadcast input shape %s into final shape %s", tw__shape_text(&value->shape),
                        tw__shape_text(&l.final));
    /* The result's shape, dimension by dimension: where new axes stand the variable does not move, where axes were shrunk the
     * value has none. Walking the final shape from behind pairs each kept axis with its own. */
    item_masks masks = read_masks(kernel->op, kernel->attrs);
    int64_t count = in[3]->count, strides[TW_MAX_RANK], own[TW_MAX_RANK], offset = 0;
    int axes[TW_MAX_RANK], kept = 0, axis = 0, ordinary = 0;
    int64_t ellipsis = masks.ellipsis & (((int64_t)1 << count) - 1);
    for (int i = 0; i < count; i++)
        ordinary += !((ellipsis | masks.new_axis) >> i & 1);
    for (int i = 0; i <= count; i++) {
        bool spread = i < count ? (ellipsis >> i & 1) != 0 : !ellipsis;
        for (int k = 0; spread && k < held->shape.rank - ordinary; k++)
            axes[kept++] = axis++;
        if (spread || i == count)
            continue;
        if (masks.new_axis >> i & 1)
            axes[kept++] = -1;
        else if (masks.shrink >> i & 1)
            axis++;
        else
            axes[kept++] = axis++;
    }
    tw__strides(&held->shape, strides);
    tw__strides(&value->shape, own);
    for (int i = 0; i < held->shape.rank; i++) {
        if (l.processed.dims[i] == 0)
            return TW_OK;
        offset += l.first[i] * strides[i];
    }
    tw__walk walk = { 0 };
    for (int i = 0; i < kept; i++) {
        int place = i - (l.final.rank - value->shape.rank);
        int64_t from = place >= 0 && value->shape.dims[place] != 1 ? own[place] : 0;
        tw__walk_add(&walk, l.final.dims[i], axes[i] < 0 ? 0 : strides[axes[i]] * l.steps[axes[i]], from);
    }
    return tw__copy_walk(held->dtype, (char *)held->data + (size_t)offset * tw__element_size(held->dtype), value->data, &walk);
}

static tw_status slice_assign_compute(tw__kernel *kernel)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    if (resource->dtype == TW_RESOURCE || resource->dtype == TW_VARIANT)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(resource->dtype));
    TW_TRY(tw__resource_lock(resource, &data));
    tw_status status = put_slice(kernel, resource->value);
    tw__resource_unlock(resource);
    return status;
}

TW_OP(ResourceStridedSliceAssign, .inputs = "ref: resource, begin: Index, end: Index, strides: Index, value: T",
      .attrs = "T: type, Index: {int32, int64}, " MASKS, .shape = tw_shape_none, .compute = slice_assign_compute,
      .stateful = true, .doc = "Sets a slice of a variable.");

static tw_status update_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    if (out->dtype == TW_RESOURCE || out->dtype == TW_VARIANT || out->dtype == TW_STRING)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(out->dtype));
    TW_TRY(tw__copy_elements(out->dtype, out->data, kernel->inputs[0]->data, out->count));
    return put_slice(kernel, out);
}

/* What was written over has no part in the result. */
static tw_status update_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *const *in = g->inputs, *dy = g->output_grads[0];
    tw_attr attrs[5];
    if (!dy)
        return TW_OK;
    copy_masks(g, attrs);
    if (g->wanted[0]) {
        tw_tensor *zeros = TW_TEMP(ZerosLike, in[4]);
        g->input_grads[0] =
            zeros ? tw__call(&tw__op_TensorStridedSliceUpdate, TW_IN(dy, in[1], in[2], in[3], zeros), 5, attrs, 5) : NULL;
    }
    if (g->wanted[4])
        tw__grad_set(g, 4, tw__call(&tw__op_StridedSlice, TW_IN(dy, in[1], in[2], in[3]), 4, attrs, 5));
    bool made = (g->input_grads[0] || !g->wanted[0]) && (g->input_grads[4] || !g->wanted[4]);
    return made ? TW_OK : tw__error_status();
}

TW_OP(TensorStridedSliceUpdate, .inputs = "input: T, begin: Index, end: Index, strides: Index, value: T", .outputs = "output: T",
      .attrs = "T: type, Index: {int32, int64}, " MASKS, .shape = tw_shape_same, .compute = update_compute,
      .gradient = update_gradient, .doc = "A copy of a tensor in which a slice is set.");
