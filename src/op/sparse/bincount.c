/* SparseBincount, RaggedBincount: how often each number occurs in every row of a sparse or ragged tensor, as a dense matrix. What
 * is not there is not counted. */
#include "op/array/array.h"
#include "op/ragged/ragged.h"
#include "op/sparse/sparse.h"
#include "rows.h"

/* Rows of so many bins; weights: one for each value, or none. */
typedef struct counting {
    const tw_tensor *values, *weights;
    tw_tensor *out;
    int64_t size;
    bool binary;
} counting;

static void count_one(const counting *c, int64_t row, int64_t value, int64_t place)
{
    if (value >= c->size)
        return;
    int64_t at = row * c->size + value;
    bool weighted = c->weights->count && !c->binary;
#define ADD(type)                                                                                            \
    do {                                                                                                     \
        type one = weighted ? ((const type *)c->weights->data)[place] : 1, *bin = (type *)c->out->data + at; \
        *bin = c->binary ? 1 : (type)(*bin + one);                                                           \
    } while (0)
    if (c->out->dtype == TW_INT32)
        ADD(uint32_t); /* goes round */
    else if (c->out->dtype == TW_INT64)
        ADD(uint64_t);
    else if (c->out->dtype == TW_FLOAT32)
        ADD(float);
    else
        ADD(double);
#undef ADD
}

/* An output of zeros of the shape [rows, size], or [size] where rows is -1. */
static tw_status begin(tw__kernel *kernel, int values, int64_t rows, counting *c)
{
    int64_t size = tw_tensor_int_at(kernel->inputs[values + 1 + (kernel->op == &tw__op_SparseBincount)], 0);
    *c = (counting){ .values = kernel->inputs[values],
                     .weights = kernel->inputs[kernel->input_count - 1],
                     .size = size,
                     .binary = TW_ATTR(kernel, "binary_output")->b };
    if (size < 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "size (%lld) must be non-negative", (long long)size);
    if (c->weights->count && c->weights->count != c->values->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input indices and weights must have the same size.");
    c->out = tw__output(kernel, 0, rows < 0 ? &TW_SHAPE(size) : &TW_SHAPE(rows, size));
    TW_NEED(c->out);
    memset(c->out->data, 0, (size_t)c->out->count * tw__element_size(c->out->dtype));
    for (int64_t i = 0; i < c->values->count; i++) {
        if (tw_tensor_int_at(c->values, i) < 0)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input must be non-negative");
    }
    return TW_OK;
}

static tw_status sparse_compute(tw__kernel *kernel)
{
    tw__sparse s;
    counting c;
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    bool batched = s.rank > 1;
    TW_TRY(begin(kernel, 1, batched ? s.shape[0] : -1, &c));
    for (int64_t i = 0; i < s.count; i++)
        count_one(&c, batched ? s.indices[i * s.rank] : 0, tw_tensor_int_at(s.values, i), i);
    return TW_OK;
}

static tw_status ragged_compute(tw__kernel *kernel)
{
    tw__auto(tw__levels_free) tw__levels levels = { 0 };
    counting c;
    const tw_tensor *values = kernel->inputs[1];
    TW_TRY(tw__levels_read(kernel->op, kernel->inputs, 1, values->count, &levels));
    TW_TRY(begin(kernel, 1, levels.rows[0], &c));
    for (int64_t row = 0; row < levels.rows[0]; row++) {
        for (int64_t i = levels.splits[0][row]; i < levels.splits[0][row + 1]; i++)
            count_one(&c, row, tw_tensor_int_at(values, i), i);
    }
    return TW_OK;
}

static tw_status known_size(tw__inference *inference, int input, int64_t *size)
{
    *size = -1;
    if (!inference->values[input])
        return TW_OK;
    TW_TRY(tw__scalar_value(inference->op, inference->values[input], "size", size));
    if (*size < 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "size (%lld) must be non-negative", (long long)*size);
    return TW_OK;
}

/* Complete only where the number of rows is not needed, since the kernel makes its output. */
static tw_status sparse_shape(tw__inference *inference)
{
    int64_t size;
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    TW_TRY(known_size(inference, 3, &size));
    const tw_shape *dense = inference->shapes[2];
    if (dense->rank == 1 && dense->dims[0] == 1)
        inference->out_shapes[0] = TW_SHAPE(size);
    else if (dense->rank == 1 && dense->dims[0] > 1)
        inference->out_shapes[0] = TW_SHAPE(-1, size);
    return TW_OK;
}

static tw_status ragged_shape(tw__inference *inference)
{
    int64_t size;
    const tw_shape *splits = inference->shapes[0], *values = inference->shapes[1];
    if ((splits->rank >= 0 && splits->rank != 1) || (values->rank >= 0 && values->rank != 1))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Shape must be rank 1 but is rank %d",
                          splits->rank != 1 ? splits->rank : values->rank);
    TW_TRY(known_size(inference, 2, &size));
    inference->out_shapes[0] = TW_SHAPE(splits->rank == 1 && splits->dims[0] > 0 ? splits->dims[0] - 1 : -1, size);
    return TW_OK;
}

#define ATTRS .attrs = "Tidx: {int32, int64}, T: {int32, int64, float, double}, binary_output: bool = false"

TW_OP(SparseBincount, .no_gradient = true, .inputs = "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T",
      .outputs = "output: T", ATTRS, .shape = sparse_shape, .compute = sparse_compute,
      .doc = "How often (or with what weight) each number below size occurs in every row of a sparse tensor.");

TW_OP(RaggedBincount, .no_gradient = true, .inputs = "splits: int64, values: Tidx, size: Tidx, weights: T",
      .outputs = "output: T", ATTRS, .shape = ragged_shape, .compute = ragged_compute,
      .doc = "How often (or with what weight) each number below size occurs in every row of a ragged tensor.");
