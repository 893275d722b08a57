/* Sparse tensors with ordinary ones: SparseToDense, SparseTensorDenseAdd, SparseTensorDenseMatMul, SparseDenseCwiseAdd, -Mul and
 * -Div. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

/* ---- SparseToDense ---- */

/* Indices may be a scalar or a vector where the whole is a vector, values one for all. */
static tw_status to_dense_shape(tw__inference *inference)
{
    if (inference->shapes[0]->rank > 2)
        return tw__fail(TW_INVALID_ARGUMENT, "sparse_indices should be a scalar, vector, or matrix, got shape %s",
                        tw__shape_text(inference->shapes[0]));
    TW_TRY(tw__need_rank(inference, 1, 1));
    if (inference->values[1])
        return tw__shape_of_values(inference->op, inference->values[1], "output_shape", false, &inference->out_shapes[0]);
    if (inference->shapes[1]->rank == 1 && inference->shapes[1]->dims[0] >= 0 && inference->shapes[1]->dims[0] <= TW_MAX_RANK) {
        inference->out_shapes[0].rank = (int32_t)inference->shapes[1]->dims[0];
        for (int i = 0; i < inference->out_shapes[0].rank; i++)
            inference->out_shapes[0].dims[i] = -1;
    }
    return TW_OK;
}

static tw_status to_dense_compute(tw__kernel *kernel)
{
    const tw_tensor *given = kernel->inputs[0], *sizes = kernel->inputs[1], *values = kernel->inputs[2],
                    *other = kernel->inputs[3];
    int64_t count = given->shape.rank > 0 ? given->shape.dims[0] : 1, width = given->shape.rank > 1 ? given->shape.dims[1] : 1;
    if (sizes->shape.rank != 1 || sizes->count != width)
        return tw__fail(TW_INVALID_ARGUMENT, "output_shape has incorrect number of elements: %lld should be: %lld",
                        (long long)sizes->count, (long long)width);
    if (values->shape.rank > 1 || (values->shape.rank == 1 && values->count != count))
        return tw__fail(TW_INVALID_ARGUMENT, "sparse_values has incorrect shape %s, should be [] or [%lld]",
                        tw__shape_text(&values->shape), (long long)count);
    if (other->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "default_value should be a scalar.");
    tw_shape shape;
    TW_TRY(tw__shape_of_values(kernel->op, sizes, "output_shape", false, &shape));
    tw_auto tw_tensor *wide = NULL;
    if (given->dtype != TW_INT64) {
        wide = tw__tensor_empty(TW_INT64, &given->shape);
        for (int64_t i = 0; wide && i < given->count; i++)
            ((int64_t *)wide->data)[i] = tw_tensor_int_at(given, i);
        if (!wide)
            return tw__error_status();
        given = wide;
    }
    tw__sparse s = { given->data, shape.dims, NULL, count, shape.rank };
    TW_TRY(tw__sparse_check(&s));
    if (TW_ATTR(kernel, "validate_indices")->b)
        TW_TRY(tw__sparse_need_order(&s));
    tw_tensor *out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    int64_t strides[TW_MAX_RANK];
    tw__strides(&shape, strides);
    bool plain = out->dtype != TW_STRING && out->dtype != TW_RESOURCE && out->dtype != TW_VARIANT;
    if (plain || count == 0)
        TW_TRY(tw__fill_elements(out->dtype, out->data, other->data, out->count));
    /* A text must be written once only: places are noted first. */
    int64_t *from = plain || count == 0 ? NULL : tw__alloc_array((size_t)out->count + 1, sizeof *from);
    if (!plain && count && !from)
        return tw__error_status();
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        int64_t at = 0;
        for (int k = 0; k < shape.rank; k++)
            at += s.indices[i * shape.rank + k] * strides[k];
        if (plain)
            status =
                tw__copy_elements(out->dtype, tw__element_at(out, at), tw__element_at(values, values->shape.rank ? i : 0), 1);
        else
            from[at] = i + 1;
    }
    for (int64_t at = 0; status == TW_OK && from && at < out->count; at++) {
        const void *element = from[at] ? tw__element_at(values, values->shape.rank ? from[at] - 1 : 0) : tw__element_at(other, 0);
        status = tw__copy_elements(out->dtype, tw__element_at(out, at), element, 1);
    }
    tw__free(from);
    return status;
}

static tw_tensor *sum_of_all(tw_tensor *x)
{
    tw_auto tw_tensor *axes = x ? tw__all_axes(x) : NULL;
    return TW_CALL(Sum, x, axes);
}

static tw_status to_dense_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *picked = TW_CALL(GatherNd, g->output_grads[0], g->inputs[0]);
    if (!picked)
        return tw__error_status();
    if (g->wanted[3])
        tw__grad_set(g, 3, TW_CALL(Sub, tw__temp(t, sum_of_all(g->output_grads[0])), tw__temp(t, sum_of_all(picked))));
    if (g->wanted[2])
        tw__grad_set(g, 2, tw_retain(picked));
    if ((g->wanted[2] && !g->input_grads[2]) || (g->wanted[3] && !g->input_grads[3]))
        return tw__error_status();
    return TW_OK;
}

TW_OP(SparseToDense, .inputs = "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T",
      .outputs = "dense: T", .attrs = "validate_indices: bool = true, T: type, Tindices: {int32, int64}", .shape = to_dense_shape,
      .compute = to_dense_compute, .gradient = to_dense_gradient,
      .doc = "A tensor with values at some places and one value at all others.");

/* ---- SparseTensorDenseAdd ---- */

static tw_status add_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    inference->out_shapes[0] = *inference->shapes[3];
    return TW_OK;
}

/* Where a row lies in an array of that shape; dimensions of size one are broadcast if `loose`. */
static int64_t place_of(const int64_t *row, const tw_shape *shape, const int64_t *strides, int skipped)
{
    int64_t at = 0;
    for (int k = 0; k < shape->rank; k++)
        at += shape->dims[k] == 1 ? 0 : row[skipped + k] * strides[k];
    return at;
}

static tw_status add_compute(tw__kernel *kernel)
{
    tw_tensor *b = kernel->inputs[3], *out = tw__output(kernel, 0, &b->shape);
    tw__sparse s;
    if (!out)
        return tw__error_status();
    if (kernel->inputs[0]->dtype != TW_INT64)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "indices of dtype %s are not supported",
                          tw_dtype_name(kernel->inputs[0]->dtype));
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    bool same = s.rank == b->shape.rank;
    for (int i = 0; same && i < s.rank; i++)
        same = s.shape[i] == b->shape.dims[i];
    if (!same)
        return tw__fail(TW_INVALID_ARGUMENT, "Dimensions of the sparse tensor and of b (%s) are not equal",
                        tw__shape_text(&b->shape));
    TW_TRY(tw__copy_elements(out->dtype, out->data, b->data, b->count));
    int64_t strides[TW_MAX_RANK];
    tw__strides(&b->shape, strides);
    for (int64_t i = 0; i < s.count; i++) {
        int64_t at = 0;
        for (int k = 0; k < s.rank; k++)
            at += s.indices[i * s.rank + k] * strides[k];
        TW_TRY(tw__combine_elements(TW__COMBINE_ADD, out->dtype, tw__element_at(out, at), tw__element_at(s.values, i), 1));
    }
    return TW_OK;
}

static tw_status add_gradient(tw__gradient *g)
{
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(GatherNd, g->output_grads[0], g->inputs[0]));
    if (g->wanted[3])
        tw__grad_set(g, 3, tw_retain(g->output_grads[0]));
    return (g->wanted[1] && !g->input_grads[1]) ? tw__error_status() : TW_OK;
}

TW_OP(SparseTensorDenseAdd, .inputs = "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T", .outputs = "output: T",
      .attrs = "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, "
               "quint16, uint16, complex128, "
               "half, uint32, uint64}, Tindices: {int32, int64}",
      .shape = add_shape, .compute = add_compute, .gradient = add_gradient,
      .doc = "A sparse tensor plus a tensor of the same shape.");

/* ---- SparseDenseCwiseAdd, -Mul, -Div: only at the places that are there ---- */

static tw_status cwise_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    inference->out_shapes[0] = TW_SHAPE(inference->shapes[0]->rank == 2 ? inference->shapes[0]->dims[0] : -1);
    return TW_OK;
}

/* The elements of the dense tensor, broadcast, that stand where the values do. */
static tw_tensor *picked_elements(tw__kernel *kernel, const tw__sparse *s)
{
    const tw_tensor *dense = kernel->inputs[3];
    int skipped = s->rank - dense->shape.rank;
    bool fits = skipped >= 0;
    for (int k = 0; fits && k < dense->shape.rank; k++)
        fits = dense->shape.dims[k] == 1 || dense->shape.dims[k] == s->shape[skipped + k];
    if (!fits) {
        tw__fail(TW_INVALID_ARGUMENT,
                 "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: dense side is %s",
                 tw__shape_text(&dense->shape));
        return NULL;
    }
    int64_t strides[TW_MAX_RANK];
    tw__strides(&dense->shape, strides);
    tw_tensor *picked = tw__tensor_empty(dense->dtype, &TW_SHAPE(s->count));
    for (int64_t i = 0; picked && i < s->count; i++) {
        int64_t at = place_of(s->indices + i * s->rank, &dense->shape, strides, skipped);
        if (tw__copy_elements(dense->dtype, tw__element_at(picked, i), tw__element_at(dense, at), 1) != TW_OK) {
            tw_release(picked);
            return NULL;
        }
    }
    return picked;
}

/* The kernel of an op of two inputs, run on vectors. */
static tw_status run_binary(const tw_op *op, tw_tensor *x, tw_tensor *y, tw_tensor *out)
{
    tw_dtype dtype = out->dtype;
    tw_attr attrs[1] = { { .name = "T", .kind = TW_ATTR_TYPE, .type = dtype } };
    tw__kernel inner = { .op = op,
                         .input_count = 2,
                         .output_count = 1,
                         .inputs = TW_IN(x, y),
                         .outputs = &out,
                         .attrs = attrs,
                         .out_dtypes = &dtype };
    return op->compute(&inner);
}

static tw_status cwise_compute(tw__kernel *kernel)
{
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(s.count));
    tw_auto tw_tensor *picked = out ? picked_elements(kernel, &s) : NULL;
    if (!picked)
        return tw__error_status();
    const tw_op *op = kernel->op == &tw__op_SparseDenseCwiseAdd   ? &tw__op_AddV2
                      : kernel->op == &tw__op_SparseDenseCwiseMul ? &tw__op_Mul
                                                                  : &tw__op_Div;
    return run_binary(op, kernel->inputs[1], picked, out);
}

/* The dense tensor's elements at the values, by ops: broadcasting is done beforehand. */
static tw_tensor *dense_values(const tw__gradient *g)
{
    tw_auto tw_tensor *whole = TW_CALL(BroadcastTo, g->inputs[3], g->inputs[2]);
    return TW_CALL(GatherNd, whole, g->inputs[0]);
}

/* Values at the places of the sparse tensor, summed into the shape of the dense one; takes them. */
static tw_tensor *scattered(const tw__gradient *g, tw_tensor *values)
{
    tw_auto tw_tensor *whole = TW_CALL(ScatterNd, g->inputs[0], values, g->inputs[2]);
    tw_release(values);
    return whole ? tw__grad_unbroadcast(tw_retain(whole), g->inputs[3]) : NULL;
}

static tw_status multiply_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(Mul, tw__temp(t, dense_values(g)), g->output_grads[0]));
    if (g->wanted[3])
        tw__grad_set(g, 3, scattered(g, TW_CALL(Mul, g->inputs[1], g->output_grads[0])));
    return (g->wanted[1] && !g->input_grads[1]) || (g->wanted[3] && !g->input_grads[3]) ? tw__error_status() : TW_OK;
}

static tw_status divide_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *dense = dense_values(g);
    if (!dense)
        return tw__error_status();
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(Div, g->output_grads[0], dense));
    if (g->wanted[3]) {
        tw_tensor *share = TW_TEMP(Div, TW_TEMP(Neg, g->inputs[1]), TW_TEMP(Square, dense));
        tw__grad_set(g, 3, scattered(g, TW_CALL(Mul, g->output_grads[0], share)));
    }
    return (g->wanted[1] && !g->input_grads[1]) || (g->wanted[3] && !g->input_grads[3]) ? tw__error_status() : TW_OK;
}

#define CWISE_ATTRS                                                                                                              \
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, "                                                                                                         \
    "uint32, uint64}"

TW_OP(SparseDenseCwiseAdd, .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T", .outputs = "output: T",
      .attrs = CWISE_ATTRS, .shape = cwise_shape, .compute = cwise_compute, .no_gradient = true,
      .doc = "The values of a sparse tensor plus what stands at their places in a tensor.");

TW_OP(SparseDenseCwiseMul, .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T", .outputs = "output: T",
      .attrs = CWISE_ATTRS, .shape = cwise_shape, .compute = cwise_compute, .gradient = multiply_gradient,
      .doc = "The values of a sparse tensor times what stands at their places in a tensor.");

TW_OP(SparseDenseCwiseDiv, .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T", .outputs = "output: T",
      .attrs = CWISE_ATTRS, .shape = cwise_shape, .compute = cwise_compute, .gradient = divide_gradient,
      .doc = "The values of a sparse tensor by what stands at their places in a tensor.");
