/* DenseCountSparseOutput, SparseCountSparseOutput, RaggedCountSparseOutput: how often each number occurs in every row, as a
 * sparse tensor. */
#include <stdlib.h>

#include "op/ragged/ragged.h"
#include "op/sparse/sparse.h"
#include "rows.h"

typedef struct entry {
    int64_t row, value, place;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static tw_status count_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(-1, -1);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(-1);
    return TW_OK;
}

static void store(tw_tensor *out, int64_t at, double number)
{
    if (out->dtype == TW_INT32)
        ((int32_t *)out->data)[at] = (int32_t)number;
    else if (out->dtype == TW_INT64)
        ((int64_t *)out->data)[at] = (int64_t)number;
    else if (out->dtype == TW_FLOAT32)
        ((float *)out->data)[at] = (float)number;
    else
        ((double *)out->data)[at] = number;
}

/* Takes the entries. `batched`: results have a row in front. */
static tw_status give(tw__kernel *kernel, entry *entries, int64_t count, int64_t rows, bool batched, const tw_tensor *weights)
{
    int64_t least = TW_ATTR(kernel, "minlength")->i, most = TW_ATTR(kernel, "maxlength")->i, highest = -1, kept = 0, groups = 0;
    bool binary = TW_ATTR(kernel, "binary_output")->b, weighted = weights->count > 0;
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (entries[i].value < 0)
            status = tw__fail(TW_INVALID_ARGUMENT, "Input values must all be non-negative");
        highest = entries[i].value > highest ? entries[i].value : highest;
        if (most < 0 || entries[i].value < most)
            entries[kept++] = entries[i];
    }
    qsort(entries, (size_t)kept, sizeof *entries, compare_entries);
    for (int64_t i = 0; i < kept; i++)
        groups += i == 0 || entries[i].row != entries[i - 1].row || entries[i].value != entries[i - 1].value;
    int rank = 1 + batched;
    tw_tensor *indices = status == TW_OK ? tw__output(kernel, 0, &TW_SHAPE(groups, rank)) : NULL;
    tw_tensor *values = indices ? tw__output(kernel, 1, &TW_SHAPE(groups)) : NULL,
              *shape = values ? tw__output(kernel, 2, &TW_SHAPE(rank)) : NULL;
    if (status == TW_OK && !shape)
        status = tw__error_status();
    int64_t at = -1;
    double sum = 0;
    for (int64_t i = 0; status == TW_OK && i < kept; i++) {
        bool fresh = i == 0 || entries[i].row != entries[i - 1].row || entries[i].value != entries[i - 1].value;
        at += fresh;
        double one = weighted ? tw_tensor_double_at(weights, entries[i].place) : 1;
        sum = fresh || binary ? (binary ? 1 : one) : sum + one;
        if (batched)
            ((int64_t *)indices->data)[at * rank] = entries[i].row;
        ((int64_t *)indices->data)[at * rank + rank - 1] = entries[i].value;
        store(values, at, sum);
    }
    if (status == TW_OK) {
        if (batched)
            ((int64_t *)shape->data)[0] = rows;
        ((int64_t *)shape->data)[rank - 1] = most >= 0              ? most
                                             : highest == INT64_MAX ? highest
                                             : highest + 1 > least  ? highest + 1
                                                                    : least;
    }
    tw__free(entries);
    return status;
}

static tw_status check_weights(const tw_tensor *values, const tw_tensor *weights)
{
    if (weights->count && weights->count != values->count)
        return tw__fail(TW_INVALID_ARGUMENT, "Weights and values must have the same shape. Weight shape: %s; values shape: %s",
                        tw__shape_text(&weights->shape), tw__shape_text(&values->shape));
    return TW_OK;
}

static tw_status dense_compute(tw__kernel *kernel)
{
    const tw_tensor *values = kernel->inputs[0], *weights = kernel->inputs[1];
    TW_TRY(check_weights(values, weights));
    if (values->shape.rank < 1 || values->shape.rank > 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Input must be a 1 or 2-dimensional tensor. Got: %s",
                        tw__shape_text(&values->shape));
    bool batched = values->shape.rank == 2;
    int64_t width = batched ? values->shape.dims[1] : values->count;
    entry *entries = tw__alloc_array((size_t)values->count + 1, sizeof *entries);
    if (!entries)
        return tw__error_status();
    for (int64_t i = 0; i < values->count; i++)
        entries[i] = (entry){ batched ? i / width : 0, tw_tensor_int_at(values, i), i };
    return give(kernel, entries, values->count, batched ? values->shape.dims[0] : 1, batched, weights);
}

static tw_status sparse_compute(tw__kernel *kernel)
{
    tw__sparse s;
    const tw_tensor *weights = kernel->inputs[3];
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    TW_TRY(check_weights(s.values, weights));
    if (s.rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "The shape argument requires at least one element.");
    bool batched = s.rank > 1;
    entry *entries = tw__alloc_array((size_t)s.count + 1, sizeof *entries);
    if (!entries)
        return tw__error_status();
    for (int64_t i = 0; i < s.count; i++)
        entries[i] = (entry){ batched ? s.indices[i * s.rank] : 0, tw_tensor_int_at(s.values, i), i };
    return give(kernel, entries, s.count, s.shape[0], batched, weights);
}

static tw_status ragged_compute(tw__kernel *kernel)
{
    const tw_tensor *values = kernel->inputs[1], *weights = kernel->inputs[2];
    tw__levels levels = { 0 };
    TW_TRY(check_weights(values, weights));
    tw_status status = tw__levels_read(kernel->op, kernel->inputs, 1, values->count, &levels);
    entry *entries = status == TW_OK ? tw__alloc_array((size_t)values->count + 1, sizeof *entries) : NULL;
    for (int64_t row = 0; entries && row < levels.rows[0]; row++) {
        for (int64_t i = levels.splits[0][row]; i < levels.splits[0][row + 1]; i++)
            entries[i] = (entry){ row, tw_tensor_int_at(values, i), i };
    }
    if (status == TW_OK)
        status = entries ? give(kernel, entries, values->count, levels.rows[0], true, weights) : tw__error_status();
    tw__levels_free(&levels);
    return status;
}

#define OUTPUTS .outputs = "output_indices: int64, output_values: output_type, output_dense_shape: int64", .shape = count_shape
#define ATTRS                                                                                                              \
    .attrs = "T: {int32, int64}, minlength: int >= -1 = -1, maxlength: int >= -1 = -1, binary_output: bool, output_type: " \
             "{int32, int64, "                                                                                             \
             "float, double}"

TW_OP(DenseCountSparseOutput, .no_gradient = true, .inputs = "values: T, weights: output_type", OUTPUTS, ATTRS,
      .compute = dense_compute, .doc = "How often each number occurs in every row of a tensor.");

TW_OP(SparseCountSparseOutput, .no_gradient = true,
      .inputs = "indices: int64, values: T, dense_shape: int64, weights: output_type", OUTPUTS, ATTRS, .compute = sparse_compute,
      .doc = "How often each number occurs in every row of a sparse tensor.");

TW_OP(RaggedCountSparseOutput, .no_gradient = true, .inputs = "splits: int64, values: T, weights: output_type", OUTPUTS, ATTRS,
      .compute = ragged_compute, .doc = "How often each number occurs in every row of a ragged tensor.");
