/* Matrix products: MatMul of two matrices, and the BatchMatMul family, whose leading dimensions are a batch (V2 and V3 broadcast
 * them). MatMul's transposes only exchange strides; adj_x and adj_y also conjugate complex numbers. */
#include "kernel/gemm/gemm.h"
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "op/linalg/linalg.h"
#include "op/wording.h"
#include "rows.h"

/* ---- MatMul ---- */

enum { TRANSPOSE_A, TRANSPOSE_B }; /* the attrs' places */

static tw_status matmul_shape(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "In[0] and In[1] has different ndims: %s vs. %s", tw__shape_text(a),
                        tw__shape_text(b));
    for (int i = 0; i < 2; i++) {
        if (inference->shapes[i]->rank >= 0 && inference->shapes[i]->rank != 2)
            return tw__fail(TW_INVALID_ARGUMENT, "In[0] and In[1] ndims must be == 2: %d", inference->shapes[i]->rank);
    }
    bool transpose_a = inference->attrs[TRANSPOSE_A].b, transpose_b = inference->attrs[TRANSPOSE_B].b;
    int64_t m = a->rank < 0 ? -1 : a->dims[transpose_a], a_inner = a->rank < 0 ? -1 : a->dims[!transpose_a];
    int64_t n = b->rank < 0 ? -1 : b->dims[!transpose_b], b_inner = b->rank < 0 ? -1 : b->dims[transpose_b];
    if (a_inner >= 0 && b_inner >= 0 && a_inner != b_inner)
        return tw__fail(TW_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: %s, In[1]: %s", tw__shape_text(a),
                        tw__shape_text(b));
    inference->out_shapes[0] = TW_SHAPE(m, n);
    return TW_OK;
}

/* The matrix of `tensor` that begins at `data`, rows and columns being its last two dimensions. */
static tw__matrix matrix_of(const tw_tensor *tensor, const void *data, bool transpose, bool conjugate)
{
    int64_t columns = tensor->shape.dims[tensor->shape.rank - 1];
    return transpose ? (tw__matrix){ data, 1, columns, conjugate } : (tw__matrix){ data, columns, 1, conjugate };
}

static tw_status matmul_compute(tw__kernel *kernel)
{
    const tw_tensor *a = kernel->inputs[0], *b = kernel->inputs[1];
    bool transpose_a = kernel->attrs[TRANSPOSE_A].b, transpose_b = kernel->attrs[TRANSPOSE_B].b;
    tw_tensor *out = kernel->outputs[0];
    return tw__gemm(out->dtype, out->shape.dims[0], out->shape.dims[1], a->shape.dims[!transpose_a],
                    matrix_of(a, a->data, transpose_a, false), matrix_of(b, b->data, transpose_b, false), out->data);
}

static tw_tensor *matmul(tw_tensor *a, tw_tensor *b, bool transpose_a, bool transpose_b)
{
    return TW_CALL(MatMul, a, b, TW_A_BOOL("transpose_a", transpose_a), TW_A_BOOL("transpose_b", transpose_b));
}

static tw_status matmul_gradient(tw__gradient *gradient)
{
    bool transpose_a = gradient->attrs[TRANSPOSE_A].b, transpose_b = gradient->attrs[TRANSPOSE_B].b;
    tw_tensor *grad = gradient->output_grads[0];
    if (gradient->wanted[0]) {
        tw_auto tw_tensor *b = tw__grad_conj(gradient->inputs[1]);
        tw__grad_set(gradient, 0, transpose_a ? matmul(b, grad, transpose_b, true) : matmul(grad, b, false, !transpose_b));
    }
    if (gradient->wanted[1]) {
        tw_auto tw_tensor *a = tw__grad_conj(gradient->inputs[0]);
        tw__grad_set(gradient, 1, transpose_b ? matmul(grad, a, true, transpose_a) : matmul(a, grad, !transpose_a, false));
    }
    return tw__grad_status(gradient);
}

/* Products of matrices, one or many; `first` and `second` say which operand is transposed. */
static bool product_words(tw__wording *w, bool many, bool first, bool second)
{
    const tw_shape *a = w->in->shapes[0], *b = w->in->shapes[1];
    if (many && (tw__say_rank_at_least(w, a, 2) || tw__say_rank_at_least(w, b, 2)))
        return true;
    for (int i = 0; !many && i < 2; i++) {
        if (w->in->shapes[i]->rank >= 0 && w->in->shapes[i]->rank != 2)
            return tw__say_rank(w, 2, w->in->shapes[i]->rank);
    }
    if (a->rank < 2 || b->rank < 2)
        return false;
    int64_t x = a->dims[a->rank - (first ? 2 : 1)], y = b->dims[b->rank - (second ? 1 : 2)];
    if (tw__sizes_differ(x, y))
        return tw__say_dims(w, x, y);
    tw_shape outer = tw__shape_part(a, 0, a->rank - 2), other = tw__shape_part(b, 0, b->rank - 2);
    return tw__say_broadcast(w, &outer, &other);
}

static bool mat_mul_words(tw__wording *w)
{
    return product_words(w, false, TW_ATTR(w->in, "transpose_a")->b, TW_ATTR(w->in, "transpose_b")->b);
}

TW_OP(MatMul, .inputs = "a: T, b: T", .outputs = "product: T",
      .attrs = "transpose_a: bool = false, transpose_b: bool = false, "
               "T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
      .shape = matmul_shape, .compute = matmul_compute, .gradient = matmul_gradient, .words = mat_mul_words,
      .scope = TW_SCOPE_ALWAYS, .transposes = { "transpose_a", "transpose_b" }, .doc = "The product of two matrices.");

/* ---- BatchMatMul ---- */

/* The leading dimensions alone. */
static tw_shape batch_of(const tw_shape *shape)
{
    tw_shape batch = *shape;
    if (batch.rank >= 0)
        batch.rank -= 2;
    return batch;
}

static tw_status batch_shape(tw__inference *inference, bool broadcasts)
{
    const tw_shape *x = inference->shapes[0], *y = inference->shapes[1];
    if (!broadcasts && x->rank >= 0 && y->rank >= 0 && x->rank != y->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "In[0] and In[1] has different ndims: %s vs. %s", tw__shape_text(x),
                        tw__shape_text(y));
    for (int i = 0; i < 2; i++) {
        if (inference->shapes[i]->rank >= 0 && inference->shapes[i]->rank < 2)
            return tw__fail(TW_INVALID_ARGUMENT, "In[%d] ndims must be >= 2: %d", i, inference->shapes[i]->rank);
    }
    if (x->rank < 0 || y->rank < 0)
        return TW_OK;
    bool adj_x = TW_ATTR(inference, "adj_x")->b, adj_y = TW_ATTR(inference, "adj_y")->b;
    tw_shape x_batch = batch_of(x), y_batch = batch_of(y), out;
    for (int i = 0; !broadcasts && i < x_batch.rank; i++) {
        if (x->dims[i] >= 0 && y->dims[i] >= 0 && x->dims[i] != y->dims[i])
            return tw__fail(TW_INVALID_ARGUMENT, "In[0].dim(%d) and In[1].dim(%d) must be the same: %s vs %s", i, i,
                            tw__shape_text(x), tw__shape_text(y));
    }
    if (!tw__shape_broadcast(&x_batch, &y_batch, &out))
        return tw__fail(TW_INVALID_ARGUMENT, "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                        tw__shape_text(x), tw__shape_text(y));
    int64_t x_inner = x->dims[x->rank - 1 - adj_x], y_inner = y->dims[y->rank - 2 + adj_y];
    if (x_inner >= 0 && y_inner >= 0 && x_inner != y_inner)
        return tw__fail(TW_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: %s, In[1]: %s", tw__shape_text(x),
                        tw__shape_text(y));
    out.dims[out.rank++] = x->dims[x->rank - 2 + adj_x];
    out.dims[out.rank++] = y->dims[y->rank - 1 - adj_y];
    inference->out_shapes[0] = out;
    return TW_OK;
}

static tw_status batch_shape_same(tw__inference *inference)
{
    return batch_shape(inference, false);
}

static tw_status batch_shape_broadcast(tw__inference *inference)
{
    return batch_shape(inference, true);
}

/* Which matrix of an input goes with matrix number `index` of the output. */
static int64_t matrix_index(const tw_shape *input, const tw_shape *output, int64_t index)
{
    int64_t at = 0, scale = 1;
    for (int i = 0; i < input->rank - 2; i++) {
        int64_t own = input->dims[input->rank - 3 - i], all = output->dims[output->rank - 3 - i];
        at += (own == 1 ? 0 : index % all) * scale;
        scale *= own;
        index /= all;
    }
    return at;
}

typedef struct batch {
    const tw_tensor *x, *y;
    tw_tensor *out;
    bool adj_x, adj_y;
    int64_t m, n, k;
    _Atomic int status;
} batch;

static void batch_body(void *context, int64_t begin, int64_t end)
{
    batch *of = context;
    size_t size = tw__element_size(of->out->dtype);
    for (int64_t i = begin; i < end; i++) {
        const char *x =
            (const char *)of->x->data + (size_t)(matrix_index(&of->x->shape, &of->out->shape, i) * of->m * of->k) * size;
        const char *y =
            (const char *)of->y->data + (size_t)(matrix_index(&of->y->shape, &of->out->shape, i) * of->k * of->n) * size;
        tw_status status =
            tw__gemm(of->out->dtype, of->m, of->n, of->k, matrix_of(of->x, x, of->adj_x, of->adj_x),
                     matrix_of(of->y, y, of->adj_y, of->adj_y), (char *)of->out->data + (size_t)(i * of->m * of->n) * size);
        if (status != TW_OK)
            atomic_store(&of->status, (int)status);
    }
}

static tw_status multiply_batch(tw__kernel *kernel, const tw_tensor *x, const tw_tensor *y, tw_tensor *out)
{
    if (out->count == 0)
        return TW_OK;
    batch of = { x, y, out, TW_ATTR(kernel, "adj_x")->b, TW_ATTR(kernel, "adj_y")->b, .status = TW_OK };
    of.m = out->shape.dims[out->shape.rank - 2];
    of.n = out->shape.dims[out->shape.rank - 1];
    of.k = x->shape.dims[x->shape.rank - 1 - of.adj_x];
    int64_t matrices = out->count / (of.m * of.n);
    /* Several products side by side, or each product spread over the threads by itself. */
    double work = (double)of.m * (double)of.n * (double)(of.k + 1);
    if (matrices == 1 || (matrices < 4 && work > 1e6))
        batch_body(&of, 0, matrices);
    else
        tw__parallel(matrices, (int64_t)(5e5 / work) + 1, batch_body, &of);
    tw_status status = (tw_status)atomic_load(&of.status);
    return status == TW_OK ? TW_OK : tw__fail(status, "%s: the product failed", kernel->op->name);
}

static tw_status batch_compute(tw__kernel *kernel)
{
    return multiply_batch(kernel, kernel->inputs[0], kernel->inputs[1], kernel->outputs[0]);
}

/* V3 takes inputs of different dtypes: they are cast to the result's first. */
static tw_status batch_cast_compute(tw__kernel *kernel)
{
    tw_dtype dtype = kernel->outputs[0]->dtype;
    tw_auto tw_tensor *x = tw__kernel_cast(kernel->op, kernel->inputs[0], dtype);
    tw_auto tw_tensor *y = tw__kernel_cast(kernel->op, kernel->inputs[1], dtype);
    return x && y ? multiply_batch(kernel, x, y, kernel->outputs[0]) : tw__error_status();
}

static tw_tensor *batch_matmul(const tw_op *op, tw_tensor *x, tw_tensor *y, bool adj_x, bool adj_y)
{
    return tw__call(op, TW_IN(x, y), 2, TW_WITH(TW_A_BOOL("adj_x", adj_x), TW_A_BOOL("adj_y", adj_y)), 2);
}

static tw_status batch_gradient(tw__gradient *gradient)
{
    const tw_op *op = gradient->op == &tw__op_BatchMatMul ? gradient->op : &tw__op_BatchMatMulV2;
    bool adj_x = TW_ATTR(gradient, "adj_x")->b, adj_y = TW_ATTR(gradient, "adj_y")->b;
    tw_tensor *x = gradient->inputs[0], *y = gradient->inputs[1], *grad = gradient->output_grads[0];
    if (x->dtype != y->dtype || x->dtype != grad->dtype)
        return TW_OP_FAIL(gradient, TW_UNIMPLEMENTED, "the gradient for inputs of different dtypes (%s, %s)",
                          tw_dtype_name(x->dtype), tw_dtype_name(y->dtype));
    if (gradient->wanted[0])
        tw__grad_set(gradient, 0, adj_x ? batch_matmul(op, y, grad, adj_y, true) : batch_matmul(op, grad, y, false, !adj_y));
    if (gradient->wanted[1])
        tw__grad_set(gradient, 1, adj_y ? batch_matmul(op, grad, x, true, adj_x) : batch_matmul(op, x, grad, !adj_x, false));
    return tw__grad_status(gradient);
}

TW_OP(
    BatchMatMul, .inputs = "x: T, y: T", .outputs = "output: T",
    .attrs = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}, adj_x: bool = false, adj_y: bool = false",
    .shape = batch_shape_same, .compute = batch_compute, .gradient = batch_gradient, .transposes = { "adj_x", "adj_y" },
    .doc = "The products of matrices in two batches of the same shape.");

static bool batch_mat_mul_words(tw__wording *w)
{
    return product_words(w, true, TW_ATTR(w->in, "adj_x")->b, TW_ATTR(w->in, "adj_y")->b);
}

TW_OP(BatchMatMulV2, .inputs = "x: T, y: T", .outputs = "output: T",
      .attrs = "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}, "
               "adj_x: bool = false, adj_y: bool = false",
      .shape = batch_shape_broadcast, .compute = batch_compute, .gradient = batch_gradient, .words = batch_mat_mul_words,
      .scope = TW_SCOPE_ALWAYS, .transposes = { "adj_x", "adj_y" },
      .doc = "The products of matrices in two batches, which are broadcast.");

TW_OP(
    BatchMatMulV3, .inputs = "x: Ta, y: Tb", .outputs = "output: Tout",
    .attrs =
        "Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}, "
        "Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}, "
        "Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}, adj_x: bool = false, adj_y: bool = false",
    .shape = batch_shape_broadcast, .compute = batch_cast_compute, .gradient = batch_gradient,
    .doc = "The products of matrices in two batches, which are broadcast, as another dtype.");
