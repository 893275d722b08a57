/* Rows by index: GatherV2 (any axis, with leading batch dimensions), GatherNd, ResourceGather (rows of a variable). */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/slices.h"
#include "op/resource.h"
#include "op/wording.h"
#include "rows.h"

/* "[1,0]": where element `at` of an array lies. */
static void place_text(const tw_shape *shape, int64_t at, char *text, size_t size)
{
    size_t used = 0;
    int64_t strides[TW_MAX_RANK];
    tw__strides(shape, strides);
    text[0] = 0;
    for (int i = 0; i < shape->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "," : "", (long long)(at / strides[i] % shape->dims[i]));
}

typedef struct gathering {
    int axis, batch_dims;
    int64_t batch, outer, rows, inner, picks; /* params [batch, outer, rows, inner], indices [batch, picks] */
    tw_shape out;
} gathering;

static tw_status plan_gather(const tw_op *op, const tw_shape *params, const tw_shape *indices, int64_t axis, int64_t batch_dims,
                             gathering *g)
{
    if (params->rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "params must be at least 1 dimensional");
    if (!tw__axis_normal(axis, params->rank, &g->axis))
        return tw__fail(TW_INVALID_ARGUMENT, "Shape must be at least rank %llu but is rank %d",
                        axis < 0 ? -(unsigned long long)axis : (unsigned long long)axis + 1, params->rank);
    if (batch_dims < -indices->rank || batch_dims > indices->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected batch_dims in the range [-%d, %d], but got %lld", indices->rank,
                        indices->rank, (long long)batch_dims);
    g->batch_dims = (int)(batch_dims < 0 ? batch_dims + indices->rank : batch_dims);
    if (g->batch_dims >= params->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "batch_dims (%d) must be less than rank(params) (%d).", g->batch_dims, params->rank);
    if (g->batch_dims > g->axis)
        return tw__fail(TW_INVALID_ARGUMENT, "batch_dims (%d) must be less than or equal to axis (%d).", g->batch_dims, g->axis);
    g->batch = g->outer = g->inner = g->picks = 1;
    for (int i = 0; i < g->batch_dims; i++) {
        if (params->dims[i] >= 0 && indices->dims[i] >= 0 && params->dims[i] != indices->dims[i])
            return tw__fail(TW_INVALID_ARGUMENT, "params.shape[%d]: %lld should be equal to indices.shape[%d]: %lld", i,
                            (long long)params->dims[i], i, (long long)indices->dims[i]);
        g->batch *= params->dims[i];
    }
    if (params->rank - 1 + indices->rank - g->batch_dims > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: the result would have more than %d dimensions", op->name, TW_MAX_RANK);
    tw_shape out = { .rank = 0 };
    for (int i = 0; i < g->axis; i++)
        out.dims[out.rank++] = params->dims[i];
    for (int i = g->batch_dims; i < g->axis; i++)
        g->outer *= params->dims[i];
    for (int i = g->batch_dims; i < indices->rank; i++) {
        out.dims[out.rank++] = indices->dims[i];
        g->picks *= indices->dims[i];
    }
    for (int i = g->axis + 1; i < params->rank; i++) {
        out.dims[out.rank++] = params->dims[i];
        g->inner *= params->dims[i];
    }
    g->rows = params->dims[g->axis];
    g->out = out;
    return TW_OK;
}

static tw_status gather_rows(const gathering *g, const tw_tensor *params, const tw_tensor *indices, tw_tensor *out)
{
    size_t size = tw__element_size(out->dtype), row = (size_t)g->inner * size;
    bool plain = out->dtype != TW_STRING && out->dtype != TW_RESOURCE && out->dtype != TW_VARIANT;
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t index = tw_tensor_int_at(indices, i);
        if (index < 0 || index >= g->rows) {
            char place[160];
            place_text(&indices->shape, i, place, sizeof place);
            return tw__fail(TW_INVALID_ARGUMENT, "indices%s%s%s = %lld is not in [0, %lld)", *place ? "[" : "", place,
                            *place ? "]" : "", (long long)index, (long long)g->rows);
        }
    }
    for (int64_t b = 0; b < g->batch; b++) {
        for (int64_t o = 0; o < g->outer; o++) {
            const char *from = (const char *)params->data + (size_t)((b * g->outer + o) * g->rows * g->inner) * size;
            char *to = (char *)out->data + (size_t)((b * g->outer + o) * g->picks * g->inner) * size;
            for (int64_t p = 0; p < g->picks; p++, to += row) {
                int64_t index = indices->dtype == TW_INT32   ? ((const int32_t *)indices->data)[b * g->picks + p]
                                : indices->dtype == TW_INT64 ? ((const int64_t *)indices->data)[b * g->picks + p]
                                                             : tw_tensor_int_at(indices, b * g->picks + p);
                if (plain)
                    memcpy(to, from + (size_t)index * row, row);
                else
                    TW_TRY(tw__copy_elements(out->dtype, to, from + (size_t)index * row, g->inner));
            }
        }
    }
    return TW_OK;
}

static tw_status gather_shape(tw__inference *inference)
{
    const tw_shape *params = inference->shapes[0], *indices = inference->shapes[1];
    gathering g;
    int64_t axis;
    if (params->rank < 0 || indices->rank < 0 || !inference->values[2])
        return TW_OK;
    TW_TRY(tw__scalar_value(inference->op, inference->values[2], "axis", &axis));
    TW_TRY(plan_gather(inference->op, params, indices, axis, TW_ATTR(inference, "batch_dims")->i, &g));
    inference->out_shapes[0] = g.out;
    return TW_OK;
}

static tw_status gather_compute(tw__kernel *kernel)
{
    gathering g;
    const tw_tensor *params = kernel->inputs[0], *indices = kernel->inputs[1];
    TW_TRY(plan_gather(kernel->op, &params->shape, &indices->shape, tw_tensor_int_at(kernel->inputs[2], 0),
                       TW_ATTR(kernel, "batch_dims")->i, &g));
    return gather_rows(&g, params, indices, kernel->outputs[0]);
}

/* Takes x; NULL stays NULL. */
static tw_tensor *reshaped(tw_tensor *x, const int64_t *dims, int rank)
{
    tw_auto tw_tensor *shape = x ? tw__ints_tensor(dims, rank, TW_INT64) : NULL;
    tw_tensor *result = TW_CALL(Reshape, x, shape);
    tw_release(x);
    return result;
}

static tw_tensor *swap_middle(tw_tensor *x) /* [a, b, c, d] -> [a, c, b, d]; takes x */
{
    tw_auto tw_tensor *order = x ? tw__ints_tensor((const int64_t[]){ 0, 2, 1, 3 }, 4, TW_INT32) : NULL;
    tw_tensor *result = TW_CALL(Transpose, x, order);
    tw_release(x);
    return result;
}

/* dy of the form [batch, outer, picks, inner] summed by index into the shape of params. */
static tw_tensor *scatter_back(const gathering *g, tw_tensor *dy, tw_tensor *indices, const tw_shape *params)
{
    tw_tensor *ids = reshaped(tw_retain(indices), (const int64_t[]){ g->batch, g->picks }, 2);
    if (ids && g->batch > 1) { /* each batch has segments of its own */
        int64_t limit = g->batch * g->rows;
        tw_tensor *offsets = tw__tensor_empty(ids->dtype, &TW_SHAPE(g->batch, 1));
        if (offsets && ids->dtype != TW_INT64 && limit > INT32_MAX) {
            tw_release(offsets);
            offsets = NULL;
            tw__fail(TW_INVALID_ARGUMENT, "GatherV2: %lld rows are too many for indices of dtype int32", (long long)limit);
        }
        for (int64_t b = 0; offsets && b < g->batch; b++) {
            if (ids->dtype == TW_INT64)
                ((int64_t *)offsets->data)[b] = b * g->rows;
            else
                ((int32_t *)offsets->data)[b] = (int32_t)(b * g->rows);
        }
        tw_tensor *sum = TW_CALL(AddV2, ids, offsets);
        tw_release(offsets);
        tw_release(ids);
        ids = sum;
    }
    ids = reshaped(ids, (const int64_t[]){ g->batch * g->picks }, 1);
    tw_tensor *rows = reshaped(tw_retain(dy), (const int64_t[]){ g->batch, g->outer, g->picks, g->inner }, 4);
    if (g->outer != 1)
        rows = swap_middle(rows);
    rows = reshaped(rows, (const int64_t[]){ g->batch * g->picks, g->outer * g->inner }, 2);
    tw_tensor *segments = tw_tensor_int64(g->batch * g->rows), *result = NULL;
    if (ids && rows && segments)
        result = TW_CALL(UnsortedSegmentSum, rows, ids, segments);
    tw_release(ids);
    tw_release(rows);
    tw_release(segments);
    if (g->outer != 1) {
        result = reshaped(result, (const int64_t[]){ g->batch, g->rows, g->outer, g->inner }, 4);
        result = swap_middle(result);
    }
    return reshaped(result, params->dims, params->rank);
}

/* The rows of dy, one per index, as slices of something of this shape. */
static tw_tensor *rows_back(tw_tensor *dy, tw_tensor *indices, const tw_shape *whole)
{
    int64_t dims[TW_MAX_RANK] = { 1 };
    for (int i = 0; i < indices->shape.rank; i++)
        dims[0] *= indices->shape.dims[i];
    for (int i = 1; i < whole->rank; i++)
        dims[i] = whole->dims[i];
    tw_auto tw_tensor *shape = tw__ints_tensor(whole->dims, whole->rank, TW_INT32);
    tw_auto tw_tensor *rows = shape ? reshaped(tw_retain(dy), dims, whole->rank) : NULL;
    tw_auto tw_tensor *flat = rows ? reshaped(tw_retain(indices), dims, 1) : NULL;
    return flat ? tw__slices_make(rows, flat, shape) : NULL;
}

/* The same by ops, where sizes are not known yet. Takes the shape. */
static tw_tensor *rows_back_later(tw_tensor *dy, tw_tensor *indices, tw_tensor *given)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *shape = given;
    tw_auto tw_tensor *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32);
    tw_auto tw_tensor *rest = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32);
    if (!shape || !one || !rest)
        return NULL;
    tw_tensor *inner = TW_TEMP(Slice, shape, one, rest);
    tw_tensor *count = TW_TEMP(Reshape, TW_TEMP(Size, indices), one);
    tw_auto tw_tensor *rows = TW_CALL(Reshape, dy, TW_TEMP(ConcatV2, count, inner, 0));
    tw_auto tw_tensor *flat = TW_CALL(Reshape, indices, rest);
    return rows && flat ? tw__slices_make(rows, flat, shape) : NULL;
}

/* What scatter_back does, by ops, where sizes are not known yet; the axis is counted from the front. */
static tw_tensor *scatter_back_later(tw_tensor *dy, tw_tensor *indices, tw_tensor *shape, int64_t axis, int64_t batch_dims)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *batch = tw__sizes_product(shape, 0, batch_dims), *outer = tw__sizes_product(shape, batch_dims, axis);
    tw_auto tw_tensor *rows = tw__sizes_product(shape, axis, axis + 1), *inner = tw__sizes_product(shape, axis + 1, -1);
    tw_auto tw_tensor *any = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT64),
                      *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT64);
    tw_auto tw_tensor *none = tw__ints_tensor(NULL, 0, TW_INT64);
    tw_tensor *wide = TW_CALL(Cast, indices, TW_A_TYPE("DstT", TW_INT64));
    tw_auto tw_tensor *ids = tw__reshape_to(wide, TW_IN(batch, any), 2);
    if (!ids || !outer || !rows || !inner || !one || !none)
        return NULL;
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(ids, TW_INT64), *picks = tw__sizes_product(sizes, 1, 2);
    tw_auto tw_tensor *count = TW_CALL(Reshape, TW_TEMP(Mul, batch, rows), none);
    tw_tensor *step = TW_TEMP(Reshape, TW_TEMP(Maximum, rows, one), none);
    tw_tensor *offsets = TW_CALL(Range, (int64_t)0, count, step); /* each batch has segments of its own */
    tw_auto tw_tensor *flat =
        TW_CALL(Reshape, TW_TEMP(AddV2, ids, tw__temp(t, tw__reshape_to(offsets, TW_IN(any, one), 2))), any);
    tw_tensor *values = swap_middle(tw__reshape_to(tw_retain(dy), TW_IN(batch, outer, picks, inner), 4));
    tw_auto tw_tensor *many = TW_CALL(Mul, batch, picks), *wide_rows = TW_CALL(Mul, outer, inner);
    tw_auto tw_tensor *table = tw__reshape_to(values, TW_IN(many, wide_rows), 2);
    tw_tensor *sum = TW_CALL(UnsortedSegmentSum, table, flat, count);
    return TW_CALL(Reshape, tw__temp(t, swap_middle(tw__reshape_to(sum, TW_IN(batch, rows, outer, inner), 4))), shape);
}

/* The gradient where the shapes, or the axis, are not known while tracing. */
static tw_tensor *gather_back_later(tw__gradient *gradient)
{
    tw_tensor *params = gradient->inputs[0], *indices = gradient->inputs[1], *dy = gradient->output_grads[0];
    const tw_tensor *given = gradient->inputs[2];
    int64_t axis = given->data ? tw_tensor_int_at(given, 0) : -1, batch_dims = TW_ATTR(gradient, "batch_dims")->i;
    if (axis < 0 && params->shape.rank >= 0 && given->data)
        axis += params->shape.rank;
    if (batch_dims < 0 && indices->shape.rank >= 0)
        batch_dims += indices->shape.rank;
    if (axis < 0 || batch_dims < 0) {
        TW_OP_FAIL(gradient, TW_UNIMPLEMENTED, "the gradient along an axis that is not known while tracing (%s)",
                   tw__shape_text(&params->shape));
        return NULL;
    }
    if (axis == 0 && batch_dims == 0)
        return rows_back_later(dy, indices, tw__shape_as_tensor(params, TW_INT32));
    tw_auto tw_tensor *shape = tw__shape_as_tensor(params, TW_INT64);
    return scatter_back_later(dy, indices, shape, axis, batch_dims);
}

static tw_status gather_gradient(tw__gradient *gradient)
{
    gathering g;
    tw_tensor *params = gradient->inputs[0], *indices = gradient->inputs[1];
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    const tw_tensor *axis = gradient->inputs[2];
    if (!axis->data || !tw__shape_known(&params->shape) || !tw__shape_known(&indices->shape)) {
        gradient->input_grads[0] = gather_back_later(gradient);
        return gradient->input_grads[0] ? TW_OK : tw__error_status();
    }
    TW_TRY(plan_gather(gradient->op, &params->shape, &indices->shape, tw_tensor_int_at(axis, 0),
                       TW_ATTR(gradient, "batch_dims")->i, &g));
    bool whole_rows = g.batch == 1 && g.outer == 1 && TW_ATTR(gradient, "batch_dims")->i == 0 && tw_tensor_int_at(axis, 0) == 0;
    gradient->input_grads[0] = whole_rows ? rows_back(gradient->output_grads[0], indices, &params->shape)
                                          : scatter_back(&g, gradient->output_grads[0], indices, &params->shape);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool gather_words(tw__wording *w)
{
    int64_t axis;
    w->values = 4;
    return tw__wording_number(w, 2, &axis) && tw__say_rank_at_least(w, w->in->shapes[0], tw__ranks_of_axis(axis));
}

TW_OP(GatherV2, .inputs = "params: Tparams, indices: Tindices, axis: Taxis", .outputs = "output: Tparams",
      .attrs = "batch_dims: int = 0, Tparams: type, Tindices: {int16, int32, int64}, Taxis: {int32, int64}",
      .shape = gather_shape, .compute = gather_compute, .gradient = gather_gradient, .words = gather_words, .elements = 1u << 1,
      .doc = "Slices of params along an axis, by index.");

/* ---- ResourceGather ---- */

static tw_status resource_shape(tw__inference *inference)
{
    gathering g;
    if (!inference->values[0] || inference->shapes[1]->rank < 0)
        return TW_OK;
    tw__resource *resource = tw__resource_of(inference->values[0]);
    if (!resource)
        return tw__error_status();
    if (resource->shape.rank < 0)
        return TW_OK;
    int64_t batch_dims = TW_ATTR(inference, "batch_dims")->i;
    TW_TRY(plan_gather(inference->op, &resource->shape, inference->shapes[1], batch_dims, batch_dims, &g));
    inference->out_shapes[0] = g.out;
    return TW_OK;
}

static tw_status resource_compute(tw__kernel *kernel)
{
    gathering g;
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    tw_auto tw_tensor *value = resource ? tw__resource_read(resource) : NULL;
    if (!value)
        return tw__error_status();
    int64_t batch_dims = TW_ATTR(kernel, "batch_dims")->i;
    TW_TRY(value->dtype == kernel->out_dtypes[0]
               ? plan_gather(kernel->op, &value->shape, &kernel->inputs[1]->shape, batch_dims, batch_dims, &g)
               : TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable has dtype %s, expected %s", tw_dtype_name(value->dtype),
                            tw_dtype_name(kernel->out_dtypes[0])));
    tw_tensor *out = tw__output(kernel, 0, &g.out);
    TW_NEED(out);
    return gather_rows(&g, value, kernel->inputs[1], out);
}

static tw_status resource_gradient(tw__gradient *gradient)
{
    gathering g;
    tw_tensor *handle = gradient->inputs[0], *indices = gradient->inputs[1], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    int64_t batch_dims = TW_ATTR(gradient, "batch_dims")->i;
    tw_object *object = tw__tensor_object(handle);
    const tw_shape *shape = tw__is(object, &tw__resource_class) ? &((tw__resource *)object)->shape : NULL;
    if (shape && tw__shape_known(shape) && tw__shape_known(&indices->shape)) {
        TW_TRY(plan_gather(gradient->op, shape, &indices->shape, batch_dims, batch_dims, &g));
        gradient->input_grads[0] = batch_dims ? scatter_back(&g, dy, indices, shape) : rows_back(dy, indices, shape);
    } else if (batch_dims == 0) { /* the variable is an argument of a function, or its shape varies */
        gradient->input_grads[0] = rows_back_later(dy, indices, TW_CALL(VariableShape, handle));
    } else {
        batch_dims += batch_dims < 0 && indices->shape.rank >= 0 ? indices->shape.rank : 0;
        if (batch_dims < 0)
            return TW_OP_FAIL(gradient, TW_UNIMPLEMENTED,
                              "the gradient with negative batch_dims of ranks that are not known while tracing");
        tw_auto tw_tensor *sizes = TW_CALL(VariableShape, handle, TW_A_TYPE("out_type", TW_INT64));
        gradient->input_grads[0] = scatter_back_later(dy, indices, sizes, batch_dims, batch_dims);
    }
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(ResourceGather, .inputs = "resource: resource, indices: Tindices", .outputs = "output: dtype",
      .attrs = "batch_dims: int = 0, validate_indices: bool = true, dtype: type, Tindices: {int32, int64}",
      .shape = resource_shape, .compute = resource_compute, .gradient = resource_gradient, .stateful = true,
      .makes_outputs = true, .reads_variable = true, .reads_rows = true, .doc = "Rows of a variable, by index.");

/* ---- GatherNd ---- */

static tw_status nd_shape(tw__inference *inference)
{
    const tw_shape *params = inference->shapes[0], *indices = inference->shapes[1];
    tw_shape *out = &inference->out_shapes[0];
    if (params->rank == 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "params must be at least a vector");
    if (indices->rank == 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "indices must be at least a vector");
    if (params->rank < 0 || indices->rank < 0 || indices->dims[indices->rank - 1] < 0)
        return TW_OK;
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth > params->rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "index innermost dimension length must be <= params rank; saw: %lld vs. %d", (long long)depth,
                          params->rank);
    if (indices->rank - 1 + params->rank - depth > TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "the result would have more than %d dimensions", TW_MAX_RANK);
    out->rank = 0;
    for (int i = 0; i + 1 < indices->rank; i++)
        out->dims[out->rank++] = indices->dims[i];
    for (int i = (int)depth; i < params->rank; i++)
        out->dims[out->rank++] = params->dims[i];
    return TW_OK;
}

tw_status tw__nd_offset(const tw_tensor *indices, int64_t row, const tw_shape *shape, const char *what, int64_t *offset)
{
    int depth = (int)indices->shape.dims[indices->shape.rank - 1];
    int64_t strides[TW_MAX_RANK];
    tw__strides(shape, strides);
    *offset = 0;
    bool inside = true;
    for (int i = 0; i < depth; i++) {
        int64_t index = tw_tensor_int_at(indices, row * depth + i);
        inside &= index >= 0 && index < shape->dims[i];
        *offset += inside ? index * strides[i] : 0;
    }
    if (inside)
        return TW_OK;
    char place[160];
    tw_shape outer = indices->shape;
    outer.rank--;
    place_text(&outer, row, place, sizeof place);
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int i = 0; i < depth; i++)
        tw__text_format(&text, "%s%lld", i ? ", " : "", (long long)tw_tensor_int_at(indices, row * depth + i));
    tw__fail(TW_INVALID_ARGUMENT, "indices[%s] = [%s] does not index into %s %s", place, text.data ? text.data : "", what,
             tw__shape_text(shape));
    return TW_INVALID_ARGUMENT;
}

/* Slices of plain elements by indices that were not checked yet; `outside`: one of them is outside. */
typedef struct nd_job {
    const tw_tensor *params, *indices;
    tw_tensor *out;
    int depth;
    int64_t strides[TW_MAX_RANK];
    size_t bytes, size;
    bool outside;
} nd_job;

#define ND_ROWS(type)                                                                    \
    for (int64_t r = begin; r < end; r++) {                                              \
        const type *index = (const type *)job->indices->data + r * job->depth;           \
        uint64_t offset = 0; /* of an index that is outside it may be anything */        \
        bool inside = true;                                                              \
        for (int i = 0; i < job->depth; i++) {                                           \
            inside &= index[i] >= 0 && index[i] < job->params->shape.dims[i];            \
            offset += (uint64_t)index[i] * (uint64_t)job->strides[i];                    \
        }                                                                                \
        if (!inside) {                                                                   \
            __atomic_store_n(&job->outside, true, __ATOMIC_RELAXED);                     \
            return;                                                                      \
        }                                                                                \
        const char *from = (const char *)job->params->data + (size_t)offset * job->size; \
        char *to = (char *)job->out->data + (size_t)r * job->bytes;                      \
        if (job->bytes == 4)                                                             \
            memcpy(to, from, 4);                                                         \
        else if (job->bytes == 8)                                                        \
            memcpy(to, from, 8);                                                         \
        else                                                                             \
            memcpy(to, from, job->bytes);                                                \
    }

static void nd_rows(void *context, int64_t begin, int64_t end)
{
    nd_job *job = context;
    if (job->indices->dtype == TW_INT32) {
        ND_ROWS(int32_t)
    } else {
        ND_ROWS(int64_t)
    }
}

static tw_status nd_compute(tw__kernel *kernel)
{
    const tw_tensor *params = kernel->inputs[0], *indices = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    int64_t depth = indices->shape.dims[indices->shape.rank - 1], rows = 1, inner = 1;
    for (int i = 0; i + 1 < indices->shape.rank; i++)
        rows *= indices->shape.dims[i];
    for (int i = (int)depth; i < params->shape.rank; i++)
        inner *= params->shape.dims[i];
    size_t size = tw__element_size(out->dtype);
    bool plain = out->dtype != TW_STRING && out->dtype != TW_RESOURCE && out->dtype != TW_VARIANT;
    if (plain && (indices->dtype == TW_INT32 || indices->dtype == TW_INT64)) {
        nd_job job = {
            .params = params, .indices = indices, .out = out, .depth = (int)depth, .bytes = (size_t)inner * size, .size = size
        };
        tw__strides(&params->shape, job.strides);
        if (rows * (inner + 16) < 65536)
            nd_rows(&job, 0, rows);
        else
            tw__parallel(rows, 16384 / (inner + 16) + 1, nd_rows, &job);
        if (!job.outside)
            return TW_OK;
    }
    for (int64_t r = 0; r < rows; r++) {
        int64_t offset;
        TW_TRY(tw__nd_offset(indices, r, &params->shape, "param shape", &offset));
        TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + (size_t)(r * inner) * size,
                                 (const char *)params->data + (size_t)offset * size, inner));
    }
    return TW_OK;
}

static tw_status nd_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *shape = tw__shape_as_tensor(gradient->inputs[0], gradient->inputs[1]->dtype);
    gradient->input_grads[0] = TW_CALL(ScatterNd, gradient->inputs[1], gradient->output_grads[0], shape);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool gather_nd_words(tw__wording *w)
{
    tw__text_format(&w->text, "indices.shape[-1] must be <= params.rank, but saw indices shape: %s and params shape: %s",
                    tw__shape_text(w->in->shapes[1]), tw__shape_text(w->in->shapes[0]));
    return true;
}

TW_OP(GatherNd, .inputs = "params: Tparams, indices: Tindices", .outputs = "output: Tparams",
      .attrs = "Tparams: type, Tindices: {int16, int32, int64}", .shape = nd_shape, .compute = nd_compute,
      .gradient = nd_gradient, .words = gather_nd_words, .elements = 1u << 1,
      .doc = "Slices of params, by indices over several leading dimensions.");
