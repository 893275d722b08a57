/* The rows of elements: unbatch, the inverse of batch. */
#include <math.h>

#include "data/element_spec.h"
#include "data/state.h"
#include "rows.h"

typedef struct unbatch_cursor {
    tw__cursor base;
    tw_tensor **batch;
    int64_t at, rows;
} unbatch_cursor;

static void unbatch_stop(tw__cursor *cursor)
{
    unbatch_cursor *c = (unbatch_cursor *)cursor;
    for (int i = 0; c->batch && i < cursor->dataset->count; i++)
        tw_release(c->batch[i]);
    tw__free(c->batch);
}

static tw_status next_batch(unbatch_cursor *c, int count, bool *end)
{
    if (!c->batch && !(c->batch = tw__alloc_array((size_t)count + 1, sizeof *c->batch)))
        return tw__error_status();
    tw__element_end(c->batch, count);
    c->at = c->rows = 0;
    TW_TRY(tw__cursor_next(c->base.input, c->batch, end));
    for (int i = 0; !*end && i < count; i++) {
        const tw_shape *shape = &c->batch[i]->shape;
        if (shape->rank < 1 || (i && shape->dims[0] != c->rows)) {
            tw__element_end(c->batch, count);
            c->rows = 0;
            return shape->rank < 1
                       ? tw__fail(TW_INVALID_ARGUMENT, "Input element must have a non-scalar value in each component.")
                       : tw__fail(TW_INVALID_ARGUMENT, "Input element must have the same batch size in each component.");
        }
        c->rows = shape->dims[0];
    }
    return TW_OK;
}

static tw_status unbatch_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    unbatch_cursor *c = (unbatch_cursor *)cursor;
    int count = cursor->dataset->count;
    while (c->at >= c->rows) {
        TW_TRY(tw__pause());
        TW_TRY(next_batch(c, count, end));
        if (*end)
            return TW_OK;
    }
    for (int i = 0; i < count; i++) {
        tw_shape row = tw__shape_row(&c->batch[i]->shape);
        element[i] = tw__tensor_slice_view(c->batch[i], &row, c->at * (c->batch[i]->count / c->rows));
        if (!element[i]) {
            tw__element_end(element, i);
            return tw__error_status();
        }
    }
    c->at++;
    return TW_OK;
}

static int64_t unbatch_cardinality(tw__dataset *dataset)
{
    int64_t n = tw__dataset_cardinality(dataset->input), rows = -1;
    for (int i = 0; i < dataset->count; i++) {
        const tw_shape *shape = &dataset->input->shapes[i];
        rows = shape->rank > 0 && shape->dims[0] >= 0 ? shape->dims[0] : rows;
    }
    return n == TW_INFINITE || n == 0 ? n : n < 0 || rows < 1 ? TW_UNKNOWN_COUNT : n * rows;
}

static void unbatch_state(tw__cursor *cursor, tw__state *state)
{
    unbatch_cursor *c = (unbatch_cursor *)cursor;
    tw__state_tensors(state, "batch", &c->batch, cursor->dataset->count);
    tw__state_int(state, "at", &c->at);
    tw__state_int(state, "rows", &c->rows);
}

static const tw__dataset_kind unbatch_kind = {
    .class = TW_DATASET_CLASS("UnbatchDataset", tw__dataset, NULL),
    .cursor_size = sizeof(unbatch_cursor),
    .next = unbatch_next,
    .stop = unbatch_stop,
    .cardinality = unbatch_cardinality,
    .state = unbatch_state,
};

static tw_status unbatch_compute(tw__kernel *kernel)
{
    tw__dataset *self = tw__dataset_make(kernel, &unbatch_kind, true);
    if (self && self->count != self->input->count) {
        tw_release(self);
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "elements of another number of components");
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(UnbatchDataset, .inputs = "input_dataset: variant", .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw__scalars_shape, .compute = unbatch_compute, .doc = "The rows of elements.");

/* Ragged and sparse tensors have no rows that could be taken by themselves: each element becomes the tensors whose rows are its
 * rows. */
static tw_tensors rows_of_element(void *user, tw_tensors in)
{
    const struct tw_dataset *dataset = user;
    tw__auto(tw_value_free) tw_value value = { .kind = TW_VALUE_NONE }, row = { .kind = TW_VALUE_NONE };
    int count = 0;
    tw__owned tw_tensor **tensors = tw__alloc_array((size_t)in.count + 1, sizeof *tensors);
    for (int64_t i = 0; tensors && i < in.count; i++)
        tensors[i] = tw_retain(in.items[i]);
    tw_status status = tensors ? tw__element_pack(&dataset->structure, tensors, (int)in.count, &value) : tw__error_status();
    tw__owned tw_tensor **rows = status == TW_OK ? tw__element_rows(&value, &row, &count) : NULL;
    tw_tensors given = rows ? tw_give_((tw_tensors){ rows, count }) : TW_GIVE_FAILURE;
    return given;
}

static struct tw_dataset *rows_as_variants(const struct tw_dataset *given)
{
    tw_auto tw_function *function = tw_function_new(rows_of_element, (void *)(uintptr_t)given, .name = "unbatch",
                                                    .signature = { given->specs, given->count });
    return function ? tw_class_make(&tw__class_dataset_map, &(tw_dataset_map_args){ .self = (tw_dataset *)(uintptr_t)given,
                                                                                    .map_func = function,
                                                                                    .num_parallel_calls = NAN,
                                                                                    .deterministic = TW_NO_INT })
                    : NULL;
}

static tw_status unbatch_init(void *self, const void *arguments)
{
    const struct tw_dataset *given = ((const tw_dataset_unbatch_args *)arguments)->self;
    tw_auto struct tw_dataset *mapped = tw__element_is_composite(&given->structure) ? rows_as_variants(given) : NULL;
    const struct tw_dataset *input = mapped ? mapped : given;
    tw_value structure = { .kind = TW_VALUE_NONE };
    if (!mapped && tw_error_code() != TW_OK)
        return tw__error_status();
    tw_spec *specs = tw__alloc_array((size_t)input->count + 1, sizeof *specs);
    for (int i = 0; specs && i < input->count; i++) {
        if (input->specs[i].shape.rank == 0) {
            tw__free(specs);
            return tw__fail(TW_VALUE_ERROR, "Cannot unbatch an input with scalar components.");
        }
        specs[i] = (tw_spec){ input->specs[i].dtype, tw__shape_row(&input->specs[i].shape) };
    }
    tw_status status =
        specs ? tw__dataset_step(self, input, specs, &tw__op_UnbatchDataset, NULL, 0, NULL, 0) : tw__error_status();
    if (status == TW_OK)
        status = tw__element_row(&given->structure, &structure);
    return tw__dataset_settle(self, status, structure, false);
}

TW_CLASS(dataset_unbatch, "data._UnbatchDataset|data.Dataset.unbatch(self: dataset, name: str = None) -> dataset",
         TW_STEP(unbatch_init),
         .doc = "The rows of elements: the inverse of batch.\n"
                "example: list(tf.data.Dataset.from_tensors([1, 2]).unbatch().as_numpy_iterator())  # [1, 2]");
