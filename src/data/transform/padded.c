/* padded_batch: elements of different shapes stacked, the smaller ones filled up. */
#include "data/state.h"
#include "op/list/list.h"
#include "rows.h"

typedef struct padded_dataset {
    tw__dataset base;
    int64_t size;
    bool drop_remainder;
    tw_shape *padded;   /* per component; -1: as much as the largest needs */
    tw_tensor **values; /* what is put in */
} padded_dataset;

static void padded_destroy(void *pointer)
{
    padded_dataset *self = pointer;
    for (int i = 0; self->values && i < self->base.count; i++)
        tw_release(self->values[i]);
    tw__free(self->values);
    tw__free(self->padded);
}

/* Copies `from` into the corner of a block of shape `to` that begins at `at` elements. */
static tw_status put_corner(tw_tensor *out, int64_t at, const tw_shape *to, const tw_tensor *from)
{
    if (!from->count)
        return TW_OK;
    int rank = to->rank;
    int64_t row = rank ? from->shape.dims[rank - 1] : 1, index[TW_MAX_RANK] = { 0 };
    for (int64_t start = 0; start < from->count; start += row) {
        int64_t place = 0;
        for (int d = 0; d < rank; d++)
            place = place * to->dims[d] + index[d];
        TW_TRY(tw__list_copy_elements(out, at + place, from, start, row));
        for (int d = rank - 2; d >= 0; d--) {
            if (++index[d] < from->shape.dims[d])
                break;
            index[d] = 0;
        }
    }
    return TW_OK;
}

static tw_status pad_one(const padded_dataset *self, tw_tensor *const *items, int64_t size, int k, tw_tensor **stacked)
{
    tw_shape shape = self->padded[k];
    int count = self->base.count;
    for (int64_t i = 0; i < size; i++) {
        const tw_shape *item = &items[i * count + k]->shape;
        if (item->rank != shape.rank)
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "All elements in a batch must have the same rank as the padded shape for component%d: expected rank %d but "
                "got element with rank %d",
                k, shape.rank, item->rank);
        for (int d = 0; d < shape.rank; d++) {
            if (self->padded[k].dims[d] < 0)
                shape.dims[d] = item->dims[d] > shape.dims[d] ? item->dims[d] : shape.dims[d];
            else if (item->dims[d] > shape.dims[d])
                return tw__fail(TW_DATA_LOSS, "Attempted to pad to a smaller size than the input element.");
        }
    }
    tw_shape whole = tw__shape_stacked(&shape, size);
    int64_t each = 0;
    if (whole.rank < 0)
        return tw__fail(TW_UNIMPLEMENTED, "PaddedBatchDatasetV2: tensors of rank %d", shape.rank);
    TW_TRY(tw__shape_count(&shape, &each));
    tw_tensor *out = tw__tensor_empty(self->base.dtypes[k], &whole);
    tw_status status = out ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < out->count; i++)
        status = tw__list_copy_elements(out, i, self->values[k], 0, 1);
    for (int64_t i = 0; status == TW_OK && i < size; i++)
        status = put_corner(out, i * each, &shape, items[i * count + k]);
    if (status != TW_OK) {
        tw_release(out);
        return status;
    }
    *stacked = out;
    return TW_OK;
}

static tw_status padded_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const padded_dataset *self = (const padded_dataset *)cursor->dataset;
    tw__elements elements = { .count = self->base.count };
    tw_status status = TW_OK;
    bool over = false;
    while (status == TW_OK && (int64_t)elements.size < self->size) {
        tw_tensor **room = tw__elements_room(&elements);
        status = room ? tw__cursor_next(cursor->input, room, &over) : tw__error_status();
        if (over)
            break;
        elements.size += status == TW_OK;
    }
    *end = status == TW_OK && (elements.size == 0 || (self->drop_remainder && (int64_t)elements.size < self->size));
    for (int k = 0; status == TW_OK && !*end && k < self->base.count; k++) {
        status = pad_one(self, elements.items, (int64_t)elements.size, k, &element[k]);
        if (status != TW_OK)
            tw__element_end(element, k);
    }
    tw__elements_free(&elements);
    return status;
}

static int64_t padded_cardinality(tw__dataset *dataset)
{
    const padded_dataset *self = (const padded_dataset *)dataset;
    int64_t n = tw__dataset_cardinality(dataset->input);
    return n < 0 ? n : n / self->size + (!self->drop_remainder && n % self->size);
}

static void padded_state(tw__cursor *cursor, tw__state *state)
{
    const padded_dataset *self = (const padded_dataset *)cursor->dataset;
    tw__state_same(state, "batch_size", self->size);
    tw__state_same(state, "drop_remainder", self->drop_remainder);
}

static const tw__dataset_kind padded_kind = {
    .class = TW_DATASET_CLASS("PaddedBatchDataset", padded_dataset, padded_destroy),
    .next = padded_next,
    .cardinality = padded_cardinality,
    .state = padded_state,
};

static tw_status read_padding(tw__kernel *kernel, padded_dataset *self)
{
    int count = self->base.count;
    self->padded = tw__alloc_array((size_t)count + 1, sizeof *self->padded);
    self->values = tw__alloc_array((size_t)count + 1, sizeof *self->values);
    if (!self->padded || !self->values)
        return tw__error_status();
    if (kernel->input_count != 2 * count + 3 || self->base.input->count != count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d inputs for elements of %d components", kernel->input_count, count);
    for (int k = 0; k < count; k++) {
        const tw_tensor *dims = kernel->inputs[2 + k], *value = kernel->inputs[2 + count + k];
        if (dims->shape.rank != 1 || dims->count > TW_MAX_RANK)
            return tw__fail(TW_INVALID_ARGUMENT, "All padded_shapes must be vectors");
        if (value->shape.rank != 0 || value->dtype != self->base.input->dtypes[k])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "All padding_values must be scalars of the components' dtypes");
        self->padded[k].rank = (int32_t)dims->count;
        for (int d = 0; d < dims->count; d++) {
            self->padded[k].dims[d] = tw_tensor_int_at(dims, d);
            if (self->padded[k].dims[d] < -1)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a padded dimension of %lld", (long long)self->padded[k].dims[d]);
        }
        self->values[k] = tw_retain(kernel->inputs[2 + count + k]);
    }
    return TW_OK;
}

static tw_status padded_compute(tw__kernel *kernel)
{
    padded_dataset *self = tw__dataset_make(kernel, &padded_kind, true);
    if (!self)
        return tw__error_status();
    self->size = tw_tensor_int_at(kernel->inputs[1], 0);
    self->drop_remainder = *(const bool *)kernel->inputs[kernel->input_count - 1]->data;
    tw_status status = read_padding(kernel, self);
    if (status == TW_OK && self->size < 1)
        status = tw__fail(TW_INVALID_ARGUMENT, "Batch size must be greater than zero.");
    if (status != TW_OK) {
        tw_release(self);
        return status;
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(
    PaddedBatchDatasetV2,
    .inputs =
        "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types, drop_remainder: bool",
    .attrs =
        "parallel_copy: bool = false, Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1, N: int >= 1, metadata: string = ''",
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = padded_compute, .doc = "Elements stacked, smaller ones filled up.");

static tw_status padded_init(void *pointer, const void *arguments)
{
    const tw_dataset_padded_batch_args *args = arguments;
    const struct tw_dataset *input = args->self;
    int count = input->count, all = 2 * count + 3;
    if (args->padded_shapes.count != count || args->padding_values.count != count)
        return tw__fail(TW_INVALID_ARGUMENT, "Dataset.padded_batch: %lld padded_shapes and %lld padding_values for %d components",
                        (long long)args->padded_shapes.count, (long long)args->padding_values.count, count);
    tw_auto tw_tensor *size = tw__data_number(args->batch_size, args->batch_size_object, "batch_size");
    tw_auto tw_tensor *drop = tw_tensor_bool(args->drop_remainder);
    tw_tensor **inputs = tw__alloc_array((size_t)all, sizeof *inputs);
    tw_spec *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    tw_status status = size && drop && inputs && specs ? TW_OK : tw__error_status();
    int64_t known = status == TW_OK && args->drop_remainder && size->data ? tw_tensor_int_at(size, 0) : -1;
    for (int i = 0; status == TW_OK && i < count; i++) {
        const tw_tensor *dims = args->padded_shapes.items[i];
        tw_shape shape = TW_UNKNOWN_SHAPE;
        if (dims->data && dims->shape.rank == 1 && dims->count <= TW_MAX_RANK) {
            shape.rank = (int32_t)dims->count;
            for (int d = 0; d < shape.rank; d++)
                shape.dims[d] = tw_tensor_int_at(dims, d);
        }
        specs[i] = (tw_spec){ input->specs[i].dtype, tw__shape_stacked(&shape, known) };
        inputs[2 + i] = args->padded_shapes.items[i];
        inputs[2 + count + i] = args->padding_values.items[i];
    }
    if (status == TW_OK) {
        inputs[0] = input->variant;
        inputs[1] = size;
        inputs[all - 1] = drop;
        status = tw__dataset_apply(pointer, &tw__op_PaddedBatchDatasetV2, inputs, all, NULL, 0, specs, count);
    }
    tw__free(inputs);
    tw__free(specs);
    return tw__dataset_settle(pointer, status, tw__value_copy(&input->structure), false);
}

TW_CLASS(
    dataset_padded_batch,
    "data._PaddedBatchDataset(self: dataset, batch_size: number, padded_shapes: tensors, padding_values: tensors, drop_remainder: bool "
    "= False) -> dataset",
    TW_STEP(padded_init),
    .doc = "Elements stacked, smaller ones filled up to padded_shapes (-1: to the largest of the batch) with padding_values.");
