/* SparseTensorDenseMatMul: a sparse matrix times a dense one, a row of the result for each value. */
#include "kernel/simd.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

typedef struct product {
    const int64_t *indices;
    const tw_tensor *values, *b;
    tw_tensor *out;
    int64_t count, columns, b_row, b_column; /* b_row, b_column: strides of b as it is used */
    bool adjoint_a, adjoint_b;
} product;

static tw_status multiply_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    TW_TRY(tw__need_rank(inference, 3, 2));
    bool adjoint_a = TW_ATTR(inference, "adjoint_a")->b, adjoint_b = TW_ATTR(inference, "adjoint_b")->b;
    const tw_tensor *sizes = inference->values[2];
    int64_t rows = sizes && sizes->count == 2 ? tw_tensor_int_at(sizes, adjoint_a) : -1;
    int64_t columns = inference->shapes[3]->rank == 2 ? inference->shapes[3]->dims[!adjoint_b] : -1;
    inference->out_shapes[0] = TW_SHAPE(rows, columns);
    return TW_OK;
}

#define LOOP(name, type, conjugate)                                                                                  \
    static void name(const product *p)                                                                               \
    {                                                                                                                \
        const type *values = p->values->data, *b = p->b->data;                                                       \
        type *out = p->out->data;                                                                                    \
        for (int64_t i = 0; i < p->count; i++) {                                                                     \
            const int64_t *at = p->indices + 2 * i;                                                                  \
            const type *row = b + at[!p->adjoint_a] * p->b_row;                                                      \
            type *to = out + at[p->adjoint_a] * p->columns, value = p->adjoint_a ? conjugate(values[i]) : values[i]; \
            if (!p->adjoint_b) {                                                                                     \
                TW_INDEPENDENT                                                                                       \
                for (int64_t k = 0; k < p->columns; k++)                                                             \
                    to[k] += value * row[k];                                                                         \
                continue;                                                                                            \
            }                                                                                                        \
            for (int64_t k = 0; k < p->columns; k++)                                                                 \
                to[k] += value * conjugate(row[k * p->b_column]);                                                    \
        }                                                                                                            \
    }
#define SAME(x) (x)
LOOP(multiply_float, float, SAME)
LOOP(multiply_double, double, SAME)
LOOP(multiply_int, uint32_t, SAME) /* wraps around, with the same bits */
LOOP(multiply_complex, float complex, conjf)
LOOP(multiply_double_complex, double complex, conj)

static tw_status multiply_compute(tw__kernel *kernel)
{
    const tw_tensor *indices = kernel->inputs[0], *b = kernel->inputs[3];
    tw__sparse s;
    if (indices->dtype != TW_INT64)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "indices of dtype %s are not supported", tw_dtype_name(indices->dtype));
    if (kernel->inputs[2]->count != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Tensor 'a_shape' must have 2 elements");
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    bool adjoint_a = TW_ATTR(kernel, "adjoint_a")->b, adjoint_b = TW_ATTR(kernel, "adjoint_b")->b;
    int64_t inner = s.shape[!adjoint_a], rows = s.shape[adjoint_a], columns = b->shape.dims[!adjoint_b];
    if (b->shape.dims[adjoint_b] != inner)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Cannot multiply A and B because inner dimension does not match: %lld vs. %lld.  Did you forget a "
                        "transpose?  Dimensions of A: [%lld, %lld).  Dimensions of B: %s",
                        (long long)inner, (long long)b->shape.dims[adjoint_b], (long long)s.shape[0], (long long)s.shape[1],
                        tw__shape_text(&b->shape));
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(rows, columns));
    if (!out)
        return tw__error_status();
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    product p = {
        s.indices, s.values, b, out, s.count, columns, adjoint_b ? 1 : b->shape.dims[1], adjoint_b ? b->shape.dims[1] : 1,
        adjoint_a, adjoint_b
    };
    switch (out->dtype) {
    case TW_FLOAT32:
        multiply_float(&p);
        return TW_OK;
    case TW_FLOAT64:
        multiply_double(&p);
        return TW_OK;
    case TW_INT32:
        multiply_int(&p);
        return TW_OK;
    case TW_COMPLEX64:
        multiply_complex(&p);
        return TW_OK;
    case TW_COMPLEX128:
        multiply_double_complex(&p);
        return TW_OK;
    default:
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s is not supported", tw_dtype_name(out->dtype));
    }
}

/* A column of the indices. */
static tw_tensor *column(tw_tensor *indices, int64_t which)
{
    tw_auto tw_tensor *begin = tw__ints_tensor((const int64_t[]){ 0, which }, 2, TW_INT32);
    tw_auto tw_tensor *end = begin ? tw__ints_tensor((const int64_t[]){ 0, which + 1 }, 2, TW_INT32) : NULL;
    tw_auto tw_tensor *steps = end ? tw__ints_tensor((const int64_t[]){ 1, 1 }, 2, TW_INT32) : NULL;
    return TW_CALL(StridedSlice, indices, begin, end, steps, TW_A_INT("begin_mask", 1), TW_A_INT("end_mask", 1),
                   TW_A_INT("shrink_axis_mask", 2));
}

static tw_tensor *gathered(tw_tensor *params, tw_tensor *indices)
{
    return TW_CALL(GatherV2, params, indices, 0);
}

static tw_tensor *adjoint(tw_tensor *matrix) /* takes it */
{
    tw_auto tw_tensor *order = matrix ? tw__ints_tensor((const int64_t[]){ 1, 0 }, 2, TW_INT32) : NULL;
    tw_auto tw_tensor *turned = TW_CALL(Transpose, matrix, order);
    tw_release(matrix);
    return turned ? tw__grad_conj(turned) : NULL;
}

static tw_status multiply_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool adjoint_a = TW_ATTR(g, "adjoint_a")->b, adjoint_b = TW_ATTR(g, "adjoint_b")->b;
    tw_tensor *dy = g->output_grads[0], *indices = g->inputs[0], *b = g->inputs[3];
    if (g->wanted[3]) {
        tw_tensor *back =
            TW_CALL(SparseTensorDenseMatMul, indices, g->inputs[1], g->inputs[2], dy, TW_A_BOOL("adjoint_a", !adjoint_a));
        tw__grad_set(g, 3, adjoint_b ? adjoint(back) : back);
    }
    if (g->wanted[1]) {
        tw_auto tw_tensor *rows = column(indices, adjoint_a), *columns = rows ? column(indices, !adjoint_a) : NULL;
        tw_auto tw_tensor *used = columns ? (adjoint_b ? adjoint(tw_retain(b)) : tw_retain(b)) : NULL;
        tw_auto tw_tensor *parts_a = used ? gathered(dy, rows) : NULL, *parts_b = parts_a ? gathered(used, columns) : NULL;
        tw_tensor *products = parts_b ? TW_CALL(Mul, parts_a, tw__temp(t, tw__grad_conj(parts_b))) : NULL;
        tw_tensor *axis = products ? tw_tensor_int(1) : NULL;
        tw_tensor *sums = TW_CALL(Sum, products, axis);
        if (sums && adjoint_a) {
            tw_tensor *turned = tw__grad_conj(sums);
            tw_release(sums);
            sums = turned;
        }
        tw_release(products);
        tw_release(axis);
        tw__grad_set(g, 1, sums);
    }
    return (g->wanted[1] && !g->input_grads[1]) || (g->wanted[3] && !g->input_grads[3]) ? tw__error_status() : TW_OK;
}

TW_OP(SparseTensorDenseMatMul, .inputs = "a_indices: Tindices, a_values: T, a_shape: int64, b: T", .outputs = "product: T",
      .attrs = "T: type, Tindices: {int32, int64} = int64, adjoint_a: bool = false, adjoint_b: bool = false",
      .shape = multiply_shape, .compute = multiply_compute, .gradient = multiply_gradient,
      .doc = "A sparse matrix times a dense one.");
