/* sparse_batch: dense elements of different shapes as the rows of one sparse tensor. */
#include "api/sparse/sparse.h"
#include "api/tensor_spec.h"
#include "data/state.h"
#include "op/calls.h"
#include "rows.h"

typedef struct sparse_dataset {
    tw__dataset base;
    int64_t size;
    tw_shape row; /* -1: as much as the largest needs */
} sparse_dataset;

/* The shape of the batch; every row must fit in. */
static tw_status batch_shape(const sparse_dataset *self, const tw__elements *rows, tw_shape *shape)
{
    *shape = (tw_shape){ .rank = self->row.rank + 1, .dims = { (int64_t)rows->size } };
    for (int d = 0; d < self->row.rank; d++)
        shape->dims[d + 1] = self->row.dims[d] < 0 ? 0 : self->row.dims[d];
    for (size_t i = 0; i < rows->size; i++) {
        const tw_shape *own = &rows->items[i]->shape;
        if (own->rank != self->row.rank)
            return tw__fail(TW_INVALID_ARGUMENT, "Input element had shape (%s) that is incompatible with the row shape (%s).",
                            tw__shape_text(own), tw__shape_text(&self->row));
        for (int d = 0; d < own->rank; d++) {
            int64_t *size = &shape->dims[d + 1];
            if (own->dims[d] > *size && self->row.dims[d] >= 0)
                return tw__fail(TW_DATA_LOSS, "Input element had shape (%s) that is larger than the row shape (%s).",
                                tw__shape_text(own), tw__shape_text(&self->row));
            *size = own->dims[d] > *size ? own->dims[d] : *size;
        }
    }
    return TW_OK;
}

/* The places of all elements of a row, one behind the other. */
static int64_t *put_places(int64_t *to, int64_t row, const tw_tensor *tensor)
{
    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t left = i;
        *to = row;
        for (int d = tensor->shape.rank; d > 0; d--) {
            to[d] = left % tensor->shape.dims[d - 1];
            left /= tensor->shape.dims[d - 1];
        }
        to += tensor->shape.rank + 1;
    }
    return to;
}

/* The rows as the variants that carry a sparse tensor. */
static tw_tensor *joined(const sparse_dataset *self, const tw__elements *rows)
{
    TW_TEMPS(t);
    tw_shape shape;
    int64_t total = 0;
    tw_tensor **parts = tw__temp_memory(t, tw__alloc_array(rows->size + 1, sizeof *parts));
    if (!parts || batch_shape(self, rows, &shape) != TW_OK)
        return NULL;
    for (size_t i = 0; i < rows->size; i++) {
        parts[i] = tw__temp(t, tw__tensor_view(rows->items[i], &TW_SHAPE(rows->items[i]->count)));
        total += rows->items[i]->count;
    }
    tw_tensor *indices = tw__temp(t, tw__tensor_empty(TW_INT64, &TW_SHAPE(total, shape.rank)));
    int64_t *to = indices ? indices->data : NULL;
    for (size_t i = 0; to && i < rows->size; i++)
        to = put_places(to, (int64_t)i, rows->items[i]);
    tw_tensor *values = tw__temp_concat(t, parts, (int)rows->size, 0),
              *sizes = tw__temp(t, tw__tensor_of_shape(&shape, TW_INT64));
    return TW_CALL(SerializeSparse, indices, values, sizes, TW_A_TYPE("out_type", TW_VARIANT));
}

static tw_status sparse_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const sparse_dataset *self = (const sparse_dataset *)cursor->dataset;
    tw__auto(tw__elements_free) tw__elements rows = { .count = 1 };
    while ((int64_t)rows.size < self->size) {
        tw_tensor **room = tw__elements_room(&rows);
        bool over = false;
        TW_NEED(room);
        TW_TRY(tw__pause());
        TW_TRY(tw__cursor_next(cursor->input, room, &over));
        if (over)
            break;
        rows.size++;
    }
    *end = rows.size == 0;
    if (!*end)
        TW_NEED(element[0] = joined(self, &rows));
    return TW_OK;
}

static int64_t sparse_cardinality(tw__dataset *dataset)
{
    int64_t size = ((const sparse_dataset *)dataset)->size, n = tw__dataset_cardinality(dataset->input);
    return n < 0 ? n : n / size + (n % size != 0);
}

static void sparse_state(tw__cursor *cursor, tw__state *state)
{
    tw__state_same(state, "batch_size", ((const sparse_dataset *)cursor->dataset)->size);
}

static const tw__dataset_kind sparse_kind = {
    .class = TW_DATASET_CLASS("DenseToSparseBatchDataset", sparse_dataset, NULL),
    .next = sparse_next,
    .cardinality = sparse_cardinality,
    .state = sparse_state,
};

static tw_status sparse_compute(tw__kernel *kernel)
{
    tw_auto sparse_dataset *self = tw__dataset_make(kernel, &sparse_kind, true);
    TW_NEED(self);
    const tw_tensor *row = kernel->inputs[2];
    self->size = tw_tensor_int_at(kernel->inputs[1], 0);
    if (self->size < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Batch size must be greater than zero.");
    if (row->shape.rank != 1 || row->count > TW_MAX_RANK - 1 || self->base.input->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "row_shape must be a vector, and the input of one component");
    self->row.rank = (int32_t)row->count;
    for (int d = 0; d < self->row.rank; d++) {
        self->row.dims[d] = tw_tensor_int_at(row, d);
        if (self->row.dims[d] < -1)
            return tw__fail(TW_INVALID_ARGUMENT, "Dimension %lld must be >= -1", (long long)self->row.dims[d]);
    }
    return tw__dataset_give(kernel, tw_retain(self));
}

TW_OP(DenseToSparseBatchDataset, .inputs = "input_dataset: variant, batch_size: int64, row_shape: int64", .attrs = TW_ELEMENTS,
      TW_DATASET_OP, .shape = tw_shape_scalar, .compute = sparse_compute,
      .doc = "Elements as the rows of sparse tensors, batch_size at a time.");

static tw_status sparse_init(void *self, const void *arguments)
{
    const tw_dataset_sparse_batch_args *args = arguments;
    const struct tw_dataset *input = args->self;
    const tw_tensor_spec *spec = tw__element_leaf(&input->structure, &tw__class_tensor_spec);
    if (!spec) {
        tw__auto(tw__text_free) tw__text types = { 0 };
        for (int i = 0; i < input->count; i++)
            tw__text_format(&types, "%stf.%s", i ? ", " : "", tw_dtype_name(input->specs[i].dtype));
        return tw__fail(TW_TYPE_ERROR,
                        "`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the given "
                        "dataset has the following component types: (%s%s).",
                        types.data ? types.data : "", input->count == 1 ? "," : "");
    }
    tw_shape shape = tw__shape_stacked(&args->row_shape, -1);
    tw_value element = { .kind = TW_VALUE_OBJECT, .object = tw__sparse_spec_new(&shape, spec->dtype) };
    int count = 0;
    tw__owned tw_spec *specs = element.object ? tw__element_specs(&element, &count) : NULL;
    tw_auto tw_tensor *size = tw__data_number(args->batch_size, args->batch_size_object, "batch_size");
    tw_auto tw_tensor *row = tw__tensor_of_shape(&args->row_shape, TW_INT64);
    tw_status status = specs && size && row ? tw__dataset_apply(self, &tw__op_DenseToSparseBatchDataset,
                                                                TW_IN(input->variant, size, row), 3, NULL, 0, specs, count)
                                            : tw__error_status();
    return tw__dataset_settle(self, status, element, true);
}

TW_CLASS(
    dataset_sparse_batch,
    "data._DenseToSparseBatchDataset|data.Dataset.sparse_batch(self: dataset, batch_size: number, row_shape: shape, name: str = None) "
    "-> dataset",
    TW_STEP(sparse_init),
    .doc = "Elements of different shapes stacked as sparse tensors with rows of one shape.\n"
           "row_shape: the shape of the rows; elements must not be larger");
