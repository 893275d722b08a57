/* Some of the elements, or all of them several times: take, skip, repeat, shard. */
#include "data/state.h"
#include "rows.h"

typedef struct part_dataset {
    tw__dataset base;
    int64_t count, index; /* how many; of a shard: of how many, and which */
} part_dataset;

typedef struct part_cursor {
    tw__cursor base;
    int64_t done;
    bool any; /* a round of a repetition gave an element */
} part_cursor;

static tw_status pass(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    return tw__cursor_next(cursor->input, element, end);
}

/* Steps over `count` elements. */
static tw_status step_over(tw__cursor *input, tw_tensor **element, int64_t count, bool *end)
{
    for (int64_t i = 0; i < count && !*end; i++) {
        TW_TRY(tw__pause());
        TW_TRY(tw__cursor_next(input, element, end));
        if (!*end)
            tw__element_end(element, input->dataset->count);
    }
    return TW_OK;
}

/* ---- take ---- */

static tw_status take_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    part_cursor *c = (part_cursor *)cursor;
    const part_dataset *self = (const part_dataset *)cursor->dataset;
    *end = self->count >= 0 && c->done >= self->count;
    if (*end)
        return TW_OK;
    TW_TRY(pass(cursor, element, end));
    c->done++;
    return TW_OK;
}

static int64_t take_cardinality(tw__dataset *dataset)
{
    int64_t count = ((part_dataset *)dataset)->count, n = tw__dataset_cardinality(dataset->input);
    if (count < 0 || n == TW_UNKNOWN_COUNT)
        return n;
    return n == TW_INFINITE || count < n ? count : n;
}

/* ---- skip ---- */

static tw_status skip_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    part_cursor *c = (part_cursor *)cursor;
    const part_dataset *self = (const part_dataset *)cursor->dataset;
    *end = self->count < 0;
    if (!*end && !c->done) {
        c->done = 1;
        TW_TRY(step_over(cursor->input, element, self->count, end));
    }
    return *end ? TW_OK : pass(cursor, element, end);
}

static int64_t skip_cardinality(tw__dataset *dataset)
{
    int64_t count = ((part_dataset *)dataset)->count, n = tw__dataset_cardinality(dataset->input);
    if (count < 0)
        return 0;
    return n < 0 ? n : n > count ? n - count : 0;
}

/* ---- repeat ---- */

static tw_status repeat_begin(tw__cursor *cursor)
{
    tw__cursor_free(cursor->input);
    cursor->input = tw__cursor_new(cursor->dataset->input);
    return cursor->input ? TW_OK : tw__error_status();
}

/* A pass begins as early as in TensorFlow, because shuffles draw their seeds then. */
static tw_status repeat_start(tw__cursor *cursor)
{
    return ((const part_dataset *)cursor->dataset)->count ? repeat_begin(cursor) : TW_OK;
}

/* TensorFlow begins another pass behind the last one, too, but not where the step below is a shuffle: that it joins with the
 * repetition. */
static bool begins_once_more(const part_dataset *self, int64_t done)
{
    return self->count >= 0 && (done < self->count || !tw__dataset_shuffles(self->base.input));
}

static tw_status repeat_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    part_cursor *c = (part_cursor *)cursor;
    const part_dataset *self = (const part_dataset *)cursor->dataset;
    for (;;) {
        *end = self->count >= 0 && c->done >= self->count;
        if (*end)
            return TW_OK;
        if (!cursor->input)
            TW_TRY(repeat_begin(cursor));
        TW_TRY(pass(cursor, element, end));
        if (!*end) {
            c->any = true;
            return TW_OK;
        }
        tw__cursor_free(cursor->input);
        cursor->input = NULL;
        c->done++;
        if (self->count < 0 && !c->any) /* nothing would come for ever */
            return TW_OK;
        c->any = false;
        if (begins_once_more(self, c->done))
            TW_TRY(repeat_begin(cursor));
    }
}

static int64_t repeat_cardinality(tw__dataset *dataset)
{
    int64_t count = ((part_dataset *)dataset)->count, n = tw__dataset_cardinality(dataset->input), all;
    if (count < 0)
        return n == 0 ? 0 : TW_INFINITE;
    if (count == 0 || n < 0)
        return count == 0 ? 0 : n;
    return __builtin_mul_overflow(count, n, &all) ? TW_UNKNOWN_COUNT : all;
}

/* ---- shard ---- */

static tw_status shard_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    part_cursor *c = (part_cursor *)cursor;
    const part_dataset *self = (const part_dataset *)cursor->dataset;
    TW_TRY(step_over(cursor->input, element, c->done++ ? self->count - 1 : self->index, end));
    return *end ? TW_OK : pass(cursor, element, end);
}

static int64_t shard_cardinality(tw__dataset *dataset)
{
    const part_dataset *self = (const part_dataset *)dataset;
    int64_t n = tw__dataset_cardinality(dataset->input);
    return n < 0 ? n : n / self->count + (self->index < n % self->count);
}

/* ---- where they stand ---- */

static void part_state(tw__cursor *cursor, tw__state *state)
{
    part_cursor *c = (part_cursor *)cursor;
    const part_dataset *self = (const part_dataset *)cursor->dataset;
    tw__state_same(state, "count", self->count);
    tw__state_same(state, "index", self->index);
    tw__state_int(state, "done", &c->done);
}

static void repeat_state(tw__cursor *cursor, tw__state *state)
{
    part_state(cursor, state);
    tw__state_bool(state, "any", &((part_cursor *)cursor)->any);
    tw__state_cursor(state, "input", &cursor->input, cursor->dataset->input);
}

/* ---- kernels ---- */

#define PART_KIND(name_, next_, cardinality_)                                                                    \
    {                                                                                                            \
        .class = TW_DATASET_CLASS(name_, part_dataset, NULL), .cursor_size = sizeof(part_cursor), .next = next_, \
        .cardinality = cardinality_, .state = part_state                                                         \
    }

static const tw__dataset_kind take_kind = PART_KIND("TakeDataset", take_next, take_cardinality);
static const tw__dataset_kind skip_kind = PART_KIND("SkipDataset", skip_next, skip_cardinality);
static const tw__dataset_kind shard_kind = PART_KIND("ShardDataset", shard_next, shard_cardinality);
static const tw__dataset_kind repeat_kind = {
    .class = TW_DATASET_CLASS("RepeatDataset", part_dataset, NULL),
    .cursor_size = sizeof(part_cursor),
    .starts_inputs = true,
    .start = repeat_start,
    .next = repeat_next,
    .cardinality = repeat_cardinality,
    .state = repeat_state,
};

static tw_status part_compute(tw__kernel *kernel, const tw__dataset_kind *kind)
{
    part_dataset *self = tw__dataset_make(kernel, kind, true);
    if (self)
        self->count = tw_tensor_int_at(kernel->inputs[1], 0);
    return tw__dataset_give(kernel, self);
}

static tw_status take_compute(tw__kernel *kernel)
{
    return part_compute(kernel, &take_kind);
}

static tw_status skip_compute(tw__kernel *kernel)
{
    return part_compute(kernel, &skip_kind);
}

static tw_status repeat_compute(tw__kernel *kernel)
{
    return part_compute(kernel, &repeat_kind);
}

static tw_status shard_compute(tw__kernel *kernel)
{
    int64_t count = tw_tensor_int_at(kernel->inputs[1], 0), index = tw_tensor_int_at(kernel->inputs[2], 0);
    if (count < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Number of shards must be greater than zero (currently num_shards = %lld).",
                        (long long)count);
    if (index < 0 || index >= count)
        return tw__fail(TW_INVALID_ARGUMENT, "Index must be between 0 and %lld (currently index = %lld).", (long long)count - 1,
                        (long long)index);
    part_dataset *self = tw__dataset_make(kernel, &shard_kind, true);
    if (self) {
        self->count = count;
        self->index = index;
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(TakeDataset, .inputs = "input_dataset: variant, count: int64", .outputs = "handle: variant",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = ''",
      .shape = tw__scalars_shape, .compute = take_compute, .makes_outputs = true, .no_gradient = true,
      .doc = "The first elements; -1: all of them.");

TW_OP(SkipDataset, .inputs = "input_dataset: variant, count: int64", .outputs = "handle: variant",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = ''",
      .shape = tw__scalars_shape, .compute = skip_compute, .makes_outputs = true, .no_gradient = true,
      .doc = "The elements behind the first ones; -1: none.");

TW_OP(RepeatDataset, .inputs = "input_dataset: variant, count: int64", .outputs = "handle: variant",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = ''",
      .shape = tw__scalars_shape, .compute = repeat_compute, .makes_outputs = true, .no_gradient = true,
      .doc = "The elements again and again; -1: without end.");

TW_OP(
    ShardDataset, .inputs = "input_dataset: variant, num_shards: int64, index: int64", .outputs = "handle: variant",
    .attrs =
        "require_non_empty: bool = false, output_types: list(type) >= 1, output_shapes: list(shape) >= 1, metadata: string = ''",
    .shape = tw__scalars_shape, .compute = shard_compute, .makes_outputs = true, .no_gradient = true,
    .doc = "Every num_shards-th element, from the one at index on.");

/* ---- classes ---- */

static tw_status take_init(void *self, const void *arguments)
{
    const tw_dataset_take_args *args = arguments;
    return tw__dataset_step(self, args->self, NULL, &tw__op_TakeDataset,
                            TW_IN(tw__data_number(args->count, args->count_object, "count")), 1, NULL, 0);
}

TW_CLASS(dataset_take, "data._TakeDataset|data.Dataset.take(self: dataset, count: number, name: str = None) -> dataset",
         .parent = &tw__class_dataset, .size = sizeof(struct tw_dataset), .init = take_init, .drop_config = true,
         .doc = "The first elements of a dataset.\n"
                "count: how many; -1: all\n"
                "example: list(tf.data.Dataset.range(5).take(2).as_numpy_iterator())  # [0, 1]");

static tw_status skip_init(void *self, const void *arguments)
{
    const tw_dataset_skip_args *args = arguments;
    return tw__dataset_step(self, args->self, NULL, &tw__op_SkipDataset,
                            TW_IN(tw__data_number(args->count, args->count_object, "count")), 1, NULL, 0);
}

TW_CLASS(dataset_skip, "data._SkipDataset|data.Dataset.skip(self: dataset, count: number, name: str = None) -> dataset",
         .parent = &tw__class_dataset, .size = sizeof(struct tw_dataset), .init = skip_init, .drop_config = true,
         .doc = "A dataset without its first elements.\n"
                "count: how many are left out; -1: all\n"
                "example: list(tf.data.Dataset.range(5).skip(3).as_numpy_iterator())  # [3, 4]");

static tw_status repeat_init(void *self, const void *arguments)
{
    const tw_dataset_repeat_args *args = arguments;
    bool given = tw__data_given(args->count, args->count_object);
    return tw__dataset_step(self, args->self, NULL, &tw__op_RepeatDataset,
                            TW_IN(given ? tw__data_number(args->count, args->count_object, "count") : tw_tensor_int64(-1)), 1,
                            NULL, 0);
}

TW_CLASS(dataset_repeat,
         "data._RepeatDataset|data.Dataset.repeat(self: dataset, count: number = None, name: str = None) -> dataset",
         .parent = &tw__class_dataset, .size = sizeof(struct tw_dataset), .init = repeat_init, .drop_config = true,
         .doc = "A dataset several times; None or -1: without end.\n"
                "example: list(tf.data.Dataset.range(2).repeat(2).as_numpy_iterator())  # [0, 1, 0, 1]");

static tw_status shard_init(void *self, const void *arguments)
{
    const tw_dataset_shard_args *args = arguments;
    return tw__dataset_step(self, args->self, NULL, &tw__op_ShardDataset,
                            TW_IN(tw__data_number(args->num_shards, args->num_shards_object, "num_shards"),
                                  tw__data_number(args->index, args->index_object, "index")),
                            2, NULL, 0);
}

TW_CLASS(dataset_shard,
         "data._ShardDataset|data.Dataset.shard(self: dataset, num_shards: number, index: number, name: str = None) -> dataset",
         .parent = &tw__class_dataset, .size = sizeof(struct tw_dataset), .init = shard_init, .drop_config = true,
         .doc = "Every num_shards-th element, from the one at index on.\n"
                "num_shards: how many parts there are\n"
                "index: the number of this part, from 0 on\n"
                "example: list(tf.data.Dataset.range(7).shard(3, 1).as_numpy_iterator())  # [1, 4]");
