/* RaggedFillEmptyRows: every row of a ragged tensor, given by the numbers of its values' rows, gets a value. */
#include "kernel/copy.h"
#include "op/forms.h"
#include "op/sparse/sparse.h"
#include "rows.h"

static tw_status fill_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    TW_TRY(tw__need_rank(inference, 2, 0));
    TW_TRY(tw__need_rank(inference, 3, 0));
    int64_t rows = inference->values[2] ? tw_tensor_int_at(inference->values[2], 0) : -1;
    inference->out_shapes[0] = inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(rows < 0 ? -1 : rows);
    inference->out_shapes[3] = TW_SHAPE(inference->shapes[0]->rank == 1 ? inference->shapes[0]->dims[0] : -1);
    return TW_OK;
}

static tw_status fill_compute(tw__kernel *kernel)
{
    const tw_tensor *ids = kernel->inputs[0], *given = kernel->inputs[1];
    int64_t rows = tw_tensor_int_at(kernel->inputs[2], 0), total = ids->count, filled = 0, at = 0;
    const int64_t *id = ids->data;
    if (rows < 0 || ids->count != given->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%lld rows, %lld numbers of rows and %lld values", (long long)rows,
                          (long long)ids->count, (long long)given->count);
    for (int64_t i = 0; i < ids->count; i++) {
        if (id[i] < 0 || id[i] >= rows || (i && id[i] < id[i - 1]))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "value_rowids(%lld) = %lld is not in [%lld, %lld)", (long long)i,
                              (long long)id[i], (long long)(i ? id[i - 1] : 0), (long long)rows);
        filled += !i || id[i] != id[i - 1];
    }
    total += rows - filled;
    tw_tensor *numbers = tw__output(kernel, 0, &TW_SHAPE(total)), *values = tw__output(kernel, 1, &TW_SHAPE(total)),
              *empty = tw__output(kernel, 2, &TW_SHAPE(rows)), *map = tw__output(kernel, 3, &TW_SHAPE(ids->count));
    if (!numbers || !values || !empty || !map)
        return tw__error_status();
    size_t size = tw__element_size(values->dtype);
    for (int64_t row = 0, i = 0; row < rows; row++) {
        bool none = ((bool *)empty->data)[row] = i == ids->count || id[i] != row;
        do {
            const char *from = none ? kernel->inputs[3]->data : (const char *)given->data + (size_t)i * size;
            TW_TRY(tw__copy_elements(values->dtype, (char *)values->data + (size_t)at * size, from, 1));
            if (!none)
                ((int64_t *)map->data)[i++] = at;
            ((int64_t *)numbers->data)[at++] = row;
        } while (!none && i < ids->count && id[i] == row);
    }
    return TW_OK;
}

static tw_status fill_gradient(tw__gradient *g)
{
    return tw__fill_rows_gradient(g, &tw__op_RaggedFillEmptyRowsGrad);
}

TW_OP(RaggedFillEmptyRows, .inputs = "value_rowids: int64, values: T, nrows: int64, default_value: T",
      .outputs = "output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
      .attrs = "T: type", .shape = fill_shape, .compute = fill_compute, .gradient = fill_gradient,
      .doc = "The values of a ragged tensor and the numbers of their rows, with a value for each row that has none.");

TW_FORM(fill_back, SparseFillEmptyRowsGrad)
TW_OP(RaggedFillEmptyRowsGrad, .inputs = "reverse_index_map: int64, grad_values: T", .outputs = "d_values: T, d_default_value: T",
      .attrs = "T: type", TW_FORM_ROW(fill_back), .doc = "The gradient of RaggedFillEmptyRows.");
