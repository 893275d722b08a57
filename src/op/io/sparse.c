/* Sparse tensors in one tensor of three elements (indices, values, shape), so that datasets can carry and stack them:
 * SerializeSparse, SerializeManySparse, DeserializeSparse, DeserializeManySparse. An element is a variant that holds the part, or
 * a string: its TensorProto. */
#include "format/array/tensor_message.h"
#include "op/list/list.h"
#include "op/op.h"
#include "op/text/text.h"
#include "rows.h"

enum { INDICES, VALUES, SHAPE, PARTS };

static tw_status put_part(tw_tensor *out, int64_t at, tw_tensor *part)
{
    if (!part)
        return tw__error_status();
    tw_status status = TW_OK;
    if (out->dtype == TW_VARIANT) {
        ((tw_object **)out->data)[at] = tw_retain(part);
    } else {
        tw__text text = { 0 };
        status = tw__tensor_message_body(&text, part);
        if (status == TW_OK)
            status = tw__string_from_text(out, at, &text);
        tw__text_free(&text);
    }
    tw_release(part);
    return status;
}

static tw_status check(tw__kernel *kernel)
{
    const tw_tensor *indices = kernel->inputs[INDICES], *values = kernel->inputs[VALUES], *shape = kernel->inputs[SHAPE];
    if (indices->shape.rank != 2 || values->shape.rank != 1 || shape->shape.rank != 1 ||
        indices->shape.dims[0] != values->count || indices->shape.dims[1] != shape->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices %s, values %s and shape %s don't make a sparse tensor",
                          tw__shape_text(&indices->shape), tw__shape_text(&values->shape), tw__shape_text(&shape->shape));
    return TW_OK;
}

static tw_status one_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(PARTS);
    return TW_OK;
}

static tw_status one_compute(tw__kernel *kernel)
{
    TW_TRY(check(kernel));
    for (int i = 0; i < PARTS; i++)
        TW_TRY(put_part(kernel->outputs[0], i, tw_retain(kernel->inputs[i])));
    return TW_OK;
}

#define SPARSE_PARTS "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
#define OUT_TYPE "T: type, out_type: {string, variant} = string"

TW_OP(SerializeSparse, .inputs = SPARSE_PARTS, .outputs = "serialized_sparse: out_type", .attrs = OUT_TYPE, .shape = one_shape,
      .compute = one_compute, .no_gradient = true, .doc = "A sparse tensor as a vector of three elements.");

/* ---- the rows of one ---- */

static tw_status many_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(-1, PARTS);
    return TW_OK;
}

/* Elements [begin, end) belong to the row. */
static tw_status put_row(tw__kernel *kernel, tw_tensor *out, int64_t row, int64_t begin, int64_t end)
{
    const tw_tensor *indices = kernel->inputs[INDICES], *shape = kernel->inputs[SHAPE];
    int64_t rank = shape->count;
    tw_tensor *inner = tw__tensor_empty(TW_INT64, &TW_SHAPE(end - begin, rank - 1));
    for (int64_t i = 0; inner && i < end - begin; i++)
        memcpy((int64_t *)inner->data + i * (rank - 1), (const int64_t *)indices->data + (begin + i) * rank + 1,
               (size_t)(rank - 1) * sizeof(int64_t));
    TW_TRY(put_part(out, row * PARTS + INDICES, inner));
    TW_TRY(put_part(out, row * PARTS + VALUES, tw__tensor_slice_view(kernel->inputs[VALUES], &TW_SHAPE(end - begin), begin)));
    return put_part(out, row * PARTS + SHAPE, tw_tensor_new(TW_INT64, TW_SHAPE(rank - 1), (const int64_t *)shape->data + 1));
}

static tw_status many_compute(tw__kernel *kernel)
{
    TW_TRY(check(kernel));
    const int64_t *indices = kernel->inputs[INDICES]->data, *dims = kernel->inputs[SHAPE]->data;
    int64_t rank = kernel->inputs[SHAPE]->count, count = kernel->inputs[VALUES]->count, at = 0;
    if (rank < 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Rank of input SparseTensor should be > 1, but saw rank: %lld",
                          (long long)rank);
    if (dims[0] < 0 || dims[0] > INT32_MAX)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a sparse tensor of %lld rows", (long long)dims[0]);
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(dims[0], PARTS));
    if (!out)
        return tw__error_status();
    for (int64_t row = 0; row < dims[0]; row++) {
        int64_t begin = at;
        while (at < count && indices[at * rank] == row)
            at++;
        TW_TRY(put_row(kernel, out, row, begin, at));
    }
    if (at < count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Received unexpected column 0 value in input SparseTensor: %lld is out of range or out of order",
                          (long long)indices[at * rank]);
    return TW_OK;
}

TW_OP(SerializeManySparse, .inputs = SPARSE_PARTS, .outputs = "serialized_sparse: out_type", .attrs = OUT_TYPE,
      .shape = many_shape, .compute = many_compute, .no_gradient = true,
      .doc = "The rows of a sparse tensor, each as three elements.");

/* ---- and back ---- */

/* Part `part` of row `row`; a new reference. */
static tw_tensor *take_part(tw__kernel *kernel, int64_t row, int part)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_dtype wanted = part == VALUES ? TW_ATTR(kernel, "dtype")->type : TW_INT64;
    tw_tensor *made = NULL;
    if (in->dtype == TW_VARIANT) {
        tw_object *object = ((tw_object *const *)in->data)[row * PARTS + part];
        made = object && tw__is(object, &tw__tensor_class) ? tw_retain(object) : NULL;
    } else {
        tw__tensor_message message;
        tw_string bytes = tw__strings(in)[row * PARTS + part];
        size_t budget = bytes.size + 64;
        made = tw__tensor_message_open(bytes, &message) == TW_OK ? tw__tensor_message_read(&message, -1, &budget) : NULL;
        tw_clear_error();
    }
    if (made && made->dtype == wanted && made->shape.rank == (part == INDICES ? 2 : 1))
        return made;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "serialized_sparse[%lld, %d] is no tensor of dtype %s and rank %d", (long long)row,
               part, tw__dtype_text(wanted), part == INDICES ? 2 : 1);
    tw_release(made);
    return NULL;
}

static tw_status from_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    if (in->rank == 0 || (in->rank > 0 && in->dims[in->rank - 1] >= 0 && in->dims[in->rank - 1] != PARTS))
        return tw__fail(TW_INVALID_ARGUMENT, "Serialized sparse should have non-zero rank and three columns, got shape %s",
                        tw__shape_text(in));
    inference->out_shapes[0] = TW_SHAPE(-1, -1);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(-1);
    return TW_OK;
}

/* Rows that are `outer` dimensions of the result: indices of all rows behind each other, each behind its row's own. */
static tw_status join(tw__kernel *kernel, const tw_shape *outer, int64_t rows, tw_tensor **parts)
{
    int64_t total = 0, inner = rows ? parts[SHAPE]->count : 0, rank = outer->rank + inner, at = 0;
    for (int64_t i = 0; i < rows; i++) {
        tw_tensor *const *p = parts + i * PARTS;
        if (p[SHAPE]->count != inner || p[INDICES]->shape.dims[1] != inner || p[INDICES]->shape.dims[0] != p[VALUES]->count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Inconsistent shape across SparseTensors: row %lld", (long long)i);
        total += p[VALUES]->count;
    }
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(total, rank)), *values = tw__output(kernel, 1, &TW_SHAPE(total));
    tw_tensor *shape = tw__output(kernel, 2, &TW_SHAPE(rank));
    if (!indices || !values || !shape)
        return tw__error_status();
    int64_t *to = indices->data, *dims = shape->data;
    memset(dims, 0, (size_t)rank * sizeof *dims);
    memcpy(dims, outer->dims, (size_t)outer->rank * sizeof *dims);
    for (int64_t i = 0; i < rows; i++) {
        tw_tensor *const *p = parts + i * PARTS;
        const int64_t *from = p[INDICES]->data, *size = p[SHAPE]->data;
        for (int64_t j = 0; j < p[VALUES]->count; j++, from += inner) {
            int64_t rest = i;
            for (int k = outer->rank - 1; k >= 0; k--) {
                to[k] = rest % outer->dims[k];
                rest /= outer->dims[k];
            }
            to += outer->rank;
            memcpy(to, from, (size_t)inner * sizeof *to);
            to += inner;
        }
        for (int64_t k = 0; k < inner; k++)
            dims[outer->rank + k] = size[k] > dims[outer->rank + k] ? size[k] : dims[outer->rank + k];
        TW_TRY(tw__list_copy_elements(values, at, p[VALUES], 0, p[VALUES]->count));
        at += p[VALUES]->count;
    }
    return TW_OK;
}

static tw_status from_compute(tw__kernel *kernel)
{
    tw_shape outer = kernel->inputs[0]->shape;
    outer.rank--;
    int64_t rows = kernel->inputs[0]->count / PARTS;
    tw__held tw_tensor **parts = tw__held_new((size_t)rows * PARTS);
    TW_NEED(parts);
    for (int64_t i = 0; i < rows * PARTS; i++) {
        parts[i] = take_part(kernel, i / PARTS, (int)(i % PARTS));
        TW_NEED(parts[i]);
    }
    return join(kernel, &outer, rows, parts);
}

TW_OP(DeserializeSparse, .inputs = "serialized_sparse: Tserialized",
      .outputs = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
      .attrs = "dtype: type, Tserialized: {string, variant} = string", .shape = from_shape, .compute = from_compute,
      .no_gradient = true, .doc = "The sparse tensor that three elements are, or a tensor of such rows.");

TW_OP(DeserializeManySparse, .inputs = "serialized_sparse: string",
      .outputs = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64", .attrs = "dtype: type", .shape = from_shape,
      .compute = from_compute, .no_gradient = true, .doc = "The sparse tensor that rows of three strings are.");
