/* rebatch: the rows of batches in batches of other sizes, which are taken in turns. */
#include "data/state.h"
#include "op/calls.h"
#include "rows.h"

typedef struct rebatch_dataset {
    tw__dataset base;
    int64_t *sizes;
    int64_t size_count;
    bool drop_remainder;
} rebatch_dataset;

typedef struct rebatch_cursor {
    tw__cursor base;
    tw_tensor **batch; /* of the input; rows from `row` on are left */
    int64_t row, rows;
    int64_t turn;
    bool ended;
} rebatch_cursor;

static void rebatch_destroy(void *self)
{
    tw__free(((rebatch_dataset *)self)->sizes);
}

static tw_status rebatch_start(tw__cursor *cursor)
{
    rebatch_cursor *c = (rebatch_cursor *)cursor;
    c->batch = tw__alloc_array((size_t)cursor->dataset->count + 1, sizeof *c->batch);
    return c->batch ? TW_OK : tw__error_status();
}

static void rebatch_stop(tw__cursor *cursor)
{
    rebatch_cursor *c = (rebatch_cursor *)cursor;
    if (c->batch)
        tw__element_end(c->batch, cursor->dataset->count);
    tw__free(c->batch);
}

/* The next batch of the input, if all rows of the last one are gone. */
static tw_status refill(rebatch_cursor *c)
{
    int count = c->base.dataset->count;
    while (!c->ended && c->row == c->rows) {
        tw__element_end(c->batch, count);
        c->row = c->rows = 0;
        TW_TRY(tw__cursor_next(c->base.input, c->batch, &c->ended));
        if (c->ended)
            return TW_OK;
        for (int i = 0; i < count; i++) {
            const tw_shape *shape = &c->batch[i]->shape;
            if (shape->rank < 1 || (i && shape->dims[0] != c->rows))
                return tw__fail(TW_INVALID_ARGUMENT, "Input element must have a non-scalar value in each component.");
            c->rows = shape->dims[0];
        }
    }
    return TW_OK;
}

/* Rows [row, row + take) behind the `have` that are in `out` already. */
static tw_status append(rebatch_cursor *c, tw_tensor **out, int64_t have, int64_t take)
{
    for (int i = 0; i < c->base.dataset->count; i++) {
        tw_shape shape = c->batch[i]->shape;
        int64_t unit = c->batch[i]->count / shape.dims[0];
        shape.dims[0] = take;
        tw_tensor *part = tw__tensor_slice_view(c->batch[i], &shape, c->row * unit), *whole = NULL;
        tw_auto tw_tensor *axis = have ? tw_tensor_int(0) : NULL;
        if (have)
            whole = part && axis ? TW_CALL(ConcatV2, out[i], part, axis) : NULL;
        else
            whole = tw_retain(part);
        tw_release(part);
        TW_NEED(whole);
        tw_release(out[i]);
        out[i] = whole;
    }
    c->row += take;
    return TW_OK;
}

static tw_status rebatch_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const rebatch_dataset *self = (const rebatch_dataset *)cursor->dataset;
    rebatch_cursor *c = (rebatch_cursor *)cursor;
    int count = cursor->dataset->count;
    int64_t size = self->sizes[c->turn++ % self->size_count], have = 0;
    memset(element, 0, (size_t)count * sizeof *element);
    tw_status status = TW_OK;
    do {
        status = refill(c);
        if (status != TW_OK || c->ended)
            break;
        int64_t left = c->rows - c->row, take = size - have < left ? size - have : left;
        status = append(c, element, have, take);
        have += take;
    } while (status == TW_OK && have < size);
    *end = status == TW_OK && c->ended && (have == 0 || (self->drop_remainder && have < size));
    if (*end || status != TW_OK)
        tw__element_end(element, count);
    return status;
}

static void rebatch_state(tw__cursor *cursor, tw__state *state)
{
    const rebatch_dataset *self = (const rebatch_dataset *)cursor->dataset;
    rebatch_cursor *c = (rebatch_cursor *)cursor;
    tw__state_same(state, "number of sizes", self->size_count);
    for (int64_t i = 0; i < self->size_count; i++)
        tw__state_same(state, "batch_size", self->sizes[i]);
    tw__state_same(state, "drop_remainder", self->drop_remainder);
    tw__state_tensors(state, "batch", &c->batch, cursor->dataset->count);
    tw__state_int(state, "row", &c->row);
    tw__state_int(state, "rows", &c->rows);
    tw__state_int(state, "turn", &c->turn);
    tw__state_bool(state, "input_ended", &c->ended);
}

static const tw__dataset_kind rebatch_kind = {
    .class = TW_DATASET_CLASS("RebatchDataset", rebatch_dataset, rebatch_destroy),
    .cursor_size = sizeof(rebatch_cursor),
    .start = rebatch_start,
    .next = rebatch_next,
    .stop = rebatch_stop,
    .cardinality = tw__cardinality_unknown,
    .state = rebatch_state,
};

static tw_status rebatch_compute(tw__kernel *kernel)
{
    const tw_tensor *sizes = kernel->inputs[1];
    tw_auto rebatch_dataset *self = tw__dataset_make(kernel, &rebatch_kind, true);
    TW_NEED(self);
    if (sizes->shape.rank > 1 || !sizes->count)
        return tw__fail(TW_INVALID_ARGUMENT, "`batch_sizes` must be a scalar or a vector.");
    self->drop_remainder = *(const bool *)kernel->inputs[2]->data;
    self->sizes = tw__alloc_array((size_t)sizes->count, sizeof *self->sizes);
    TW_NEED(self->sizes);
    for (; self->size_count < sizes->count; self->size_count++) {
        self->sizes[self->size_count] = tw_tensor_int_at(sizes, self->size_count);
        if (self->sizes[self->size_count] < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Batch size must be greater than zero, but got %lld.",
                            (long long)self->sizes[self->size_count]);
    }
    return tw__dataset_give(kernel, TW_TAKE(self));
}

TW_OP(RebatchDatasetV2, .inputs = "input_dataset: variant, batch_sizes: int64, drop_remainder: bool", .attrs = TW_ELEMENTS,
      TW_DATASET_OP, .shape = tw_shape_scalar, .compute = rebatch_compute,
      .doc = "The rows of batches in batches of other sizes.");

static tw_status rebatch_init(void *self, const void *arguments)
{
    const tw_dataset_rebatch_args *args = arguments;
    const struct tw_dataset *input = args->self;
    tw_spec *specs = tw__alloc_array((size_t)input->count + 1, sizeof *specs);
    bool known = args->drop_remainder && args->batch_size->data && args->batch_size->count == 1;
    for (int i = 0; specs && i < input->count; i++) {
        specs[i] = input->specs[i];
        if (specs[i].shape.rank > 0)
            specs[i].shape.dims[0] = known ? tw_tensor_int_at(args->batch_size, 0) : -1;
    }
    return tw__dataset_step(self, input, specs, &tw__op_RebatchDatasetV2,
                            TW_IN(tw_retain(args->batch_size), tw_tensor_bool(args->drop_remainder)), 2, NULL, 0);
}

TW_CLASS(
    dataset_rebatch,
    "data._RebatchDataset|data.Dataset.rebatch(self: dataset, batch_size: tensor<int64>, drop_remainder: bool = False, name: str = None) -> dataset",
    TW_STEP(rebatch_init),
    .doc = "The rows of batches in batches of other sizes, which are taken in turns.\n"
           "batch_size: how many rows make a batch; several numbers are taken in turns");
