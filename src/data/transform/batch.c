/* Elements stacked: batch. Rows of tensors are handed on as they lie. */
#include "data/state.h"
#include "rows.h"

typedef struct batch_dataset {
    tw__dataset base;
    int64_t size;
    bool drop_remainder;
} batch_dataset;

static tw_status batch_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const batch_dataset *self = (const batch_dataset *)cursor->dataset;
    const tw__dataset_kind *input = tw__kind_of(cursor->dataset->input);
    int count = cursor->dataset->input->count;
    if (input->rows) {
        int64_t got = 0;
        TW_TRY(input->rows(cursor->input, self->size, element, &got));
        *end = got == 0 || (self->drop_remainder && got < self->size);
        if (*end && got)
            tw__element_end(element, count);
        return TW_OK;
    }
    tw__auto(tw__elements_free) tw__elements elements = { .count = count };
    TW_TRY(tw__elements_fill(&elements, cursor->input, self->size));
    *end = elements.size == 0 || (self->drop_remainder && (int64_t)elements.size < self->size);
    return *end ? TW_OK : tw__elements_stack(elements.items, (int64_t)elements.size, count, element);
}

static int64_t batch_cardinality(tw__dataset *dataset)
{
    const batch_dataset *self = (const batch_dataset *)dataset;
    int64_t n = tw__dataset_cardinality(dataset->input);
    return n < 0 ? n : n / self->size + (!self->drop_remainder && n % self->size);
}

static void batch_state(tw__cursor *cursor, tw__state *state)
{
    const batch_dataset *self = (const batch_dataset *)cursor->dataset;
    tw__state_same(state, "batch_size", self->size);
    tw__state_same(state, "drop_remainder", self->drop_remainder);
}

static const tw__dataset_kind batch_kind = {
    .class = TW_DATASET_CLASS("BatchDataset", batch_dataset, NULL),
    .next = batch_next,
    .cardinality = batch_cardinality,
    .state = batch_state,
};

static tw_status make_batches(tw__kernel *kernel, int drop_remainder)
{
    batch_dataset *self = tw__dataset_make(kernel, &batch_kind, true);
    if (self) {
        self->size = tw_tensor_int_at(kernel->inputs[1], 0);
        self->drop_remainder = *(const bool *)kernel->inputs[drop_remainder]->data;
    }
    if (self && self->size < 1) {
        tw_release(self);
        return tw__fail(TW_INVALID_ARGUMENT, "Batch size must be greater than zero.");
    }
    return tw__dataset_give(kernel, self);
}

static tw_status batch_compute(tw__kernel *kernel)
{
    return make_batches(kernel, 2);
}

static tw_status parallel_batch_compute(tw__kernel *kernel)
{
    return make_batches(kernel, 3);
}

TW_OP(
    BatchDatasetV2, .inputs = "input_dataset: variant, batch_size: int64, drop_remainder: bool", .outputs = "handle: variant",
    .attrs = "parallel_copy: bool = false, output_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = ''",
    .shape = tw__scalars_shape, .compute = batch_compute, .makes_outputs = true, .no_gradient = true,
    .doc = "Elements stacked, batch_size at a time.");

TW_OP(
    ParallelBatchDataset, .inputs = "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    .outputs = "handle: variant",
    .attrs =
        "parallel_copy: bool = false, output_types: list(type) >= 1, output_shapes: list(shape) >= 1, deterministic: string = 'default', "
        "metadata: string = ''",
    .shape = tw__scalars_shape, .compute = parallel_batch_compute, .makes_outputs = true, .no_gradient = true,
    .doc = "Elements stacked, batch_size at a time; batches come in their order, one after the other.");

/* The specs of batches; the size is known if it has a value and no batch is smaller. NULL: no memory. */
static tw_spec *batch_specs(const struct tw_dataset *input, const tw_tensor *size, bool drop_remainder)
{
    int64_t known = drop_remainder && size && size->data ? tw_tensor_int_at(size, 0) : -1;
    tw_spec *specs = tw__alloc_array((size_t)input->count + 1, sizeof *specs);
    for (int i = 0; specs && i < input->count; i++)
        specs[i] = (tw_spec){ input->specs[i].dtype, tw__shape_stacked(&input->specs[i].shape, known) };
    return specs;
}

static const tw_class parallel_batch_class = TW_STEP_CLASS("_ParallelBatchDataset", dataset_batch);

static tw_status apply_batch(struct tw_dataset *self, const tw_dataset_batch_args *args, tw_tensor *size)
{
    const struct tw_dataset *input = args->self;
    tw_spec *specs = batch_specs(input, size, args->drop_remainder);
    if (!tw__data_given(args->num_parallel_calls, args->num_parallel_calls_object))
        return tw__dataset_step(self, input, specs, &tw__op_BatchDatasetV2, TW_IN(size, tw_tensor_bool(args->drop_remainder)), 2,
                                TW_WITH(TW_A_BOOL("parallel_copy", true)), 1);
    tw_tensor *calls = tw__data_number(args->num_parallel_calls, args->num_parallel_calls_object, "num_parallel_calls");
    tw__dataset_become(self, &parallel_batch_class);
    return tw__dataset_step(self, input, specs, &tw__op_ParallelBatchDataset,
                            TW_IN(size, calls, tw_tensor_bool(args->drop_remainder)), 3,
                            TW_WITH(TW_A_STRING("deterministic", tw__data_determinism(args->deterministic))), 1);
}

static tw_status batch_init(void *self, const void *arguments)
{
    const tw_dataset_batch_args *args = arguments;
    tw_tensor *size = tw__data_number(args->batch_size, args->batch_size_object, "batch_size");
    int64_t known = args->drop_remainder && size && size->data ? tw_tensor_int_at(size, 0) : -1;
    tw_value structure = { .kind = TW_VALUE_NONE };
    tw_status status = apply_batch(self, args, size);
    if (status == TW_OK)
        status = tw__element_batched(&args->self->structure, known, &structure);
    return tw__dataset_settle(self, status, structure, false);
}

TW_CLASS(
    dataset_batch,
    "data._BatchDataset|data.Dataset.batch(self: dataset, batch_size: number, drop_remainder: bool = False, num_parallel_calls: number = "
    "None, deterministic: int = None, name: str = None) -> dataset",
    TW_STEP(batch_init),
    .doc = "Elements stacked, batch_size at a time; with drop_remainder the last batch is left out if it is smaller.\n"
           "example: [b.tolist() for b in tf.data.Dataset.range(5).batch(2).as_numpy_iterator()]  # [[0, 1], [2, 3], [4]]");
