/* Datasets that a function makes of elements, one behind the other (flat_map) or in turns (interleave). */
#include <unistd.h>

#include "data/parallel.h"
#include "data/state.h"
#include "data/element_spec.h"
#include "rows.h"

typedef struct flat_dataset {
    tw__dataset base;
    tw__data_function f;
    int64_t cycle, block;
    bool ahead; /* a thread per open dataset */
} flat_dataset;

typedef struct turn {
    tw_tensor **argument; /* what the function made the dataset of, for the state */
    tw__cursor *cursor;
    tw__workers *ahead; /* steps through the cursor, which it holds */
} turn;

typedef struct flat_cursor {
    tw__cursor base;
    turn *turns;
    int64_t at, given, open; /* whose turn it is, how many it gave in its block, how many datasets are open */
    bool input_ended;
} flat_cursor;

static void flat_destroy(void *self)
{
    tw__data_function_end(&((flat_dataset *)self)->f);
}

static tw_status flat_start(tw__cursor *cursor)
{
    flat_cursor *c = (flat_cursor *)cursor;
    c->turns = tw__alloc_array((size_t)((flat_dataset *)cursor->dataset)->cycle, sizeof *c->turns);
    return c->turns ? TW_OK : tw__error_status();
}

static void turn_end(turn *t, int arguments)
{
    if (t->argument)
        tw__element_end(t->argument, arguments);
    tw__free(t->argument);
    tw__workers_stop(t->ahead);
    tw__cursor_free(t->cursor);
    *t = (turn){ 0 };
}

static void flat_stop(tw__cursor *cursor)
{
    flat_cursor *c = (flat_cursor *)cursor;
    for (int64_t i = 0; c->turns && i < ((flat_dataset *)cursor->dataset)->cycle; i++)
        turn_end(&c->turns[i], cursor->dataset->input->count);
    tw__free(c->turns);
}

/* Begins with the dataset that the function makes of the turn's argument. */
static tw_status begin_turn(const flat_dataset *self, turn *t)
{
    tw__cursor *cursor =
        tw__data_cursor_of(&self->f, t->argument, self->base.input->count, NULL, 0, tw_class_name(self), self->base.count);
    if (cursor && self->ahead) {
        tw_auto tw__dataset *dataset = tw_retain(cursor->dataset);
        t->ahead = tw__workers_prefetch(dataset, cursor, TW_AUTOTUNE);
    } else {
        t->cursor = cursor;
    }
    return t->cursor || t->ahead ? TW_OK : tw__error_status();
}

static tw_status open_turn(flat_cursor *c, const flat_dataset *self, turn *t)
{
    int count = self->base.input->count;
    tw_tensor **input = tw__alloc_array((size_t)count + 1, sizeof *input);
    tw_status status = input ? tw__cursor_next(c->base.input, input, &c->input_ended) : tw__error_status();
    if (status != TW_OK || c->input_ended) {
        tw__free(input);
        return status;
    }
    t->argument = input;
    status = begin_turn(self, t);
    if (status == TW_OK)
        c->open++;
    else
        turn_end(t, count);
    return status;
}

static void turn_state(turn *t, const flat_dataset *self, tw__state *state)
{
    tw__state_tensors(state, "argument", &t->argument, self->base.input->count);
    if (!tw__state_good(state) || !t->argument)
        return;
    if (!state->saving && begin_turn(self, t) != TW_OK)
        state->status = tw__error_status();
    else if (t->ahead)
        tw__workers_state(t->ahead, state);
    else
        tw__state_cursor(state, "dataset", &t->cursor, t->cursor->dataset);
}

static void flat_state(tw__cursor *cursor, tw__state *state)
{
    flat_cursor *c = (flat_cursor *)cursor;
    const flat_dataset *self = (const flat_dataset *)cursor->dataset;
    tw__state_function(state, &self->f);
    tw__state_same(state, "cycle_length", self->cycle);
    tw__state_same(state, "block_length", self->block);
    tw__state_same(state, "parallel", self->ahead);
    tw__state_int(state, "at", &c->at);
    tw__state_int(state, "given", &c->given);
    tw__state_int(state, "open", &c->open);
    tw__state_bool(state, "input_ended", &c->input_ended);
    if (tw__state_good(state) && (c->at < 0 || c->at >= self->cycle))
        tw__state_fail(state, TW_DATA_LOSS, "the turn of %lld of %lld", (long long)c->at, (long long)self->cycle);
    for (int64_t i = 0; tw__state_good(state) && i < self->cycle; i++)
        turn_state(&c->turns[i], self, state);
}

static void advance(flat_cursor *c, const flat_dataset *self)
{
    c->given = 0;
    c->at = (c->at + 1) % self->cycle;
}

static tw_status flat_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    flat_cursor *c = (flat_cursor *)cursor;
    const flat_dataset *self = (const flat_dataset *)cursor->dataset;
    while (!c->input_ended || c->open) {
        turn *t = &c->turns[c->at];
        TW_TRY(tw__pause());
        if (t->cursor || t->ahead) {
            TW_TRY(t->ahead ? tw__workers_next(t->ahead, element, end) : tw__cursor_next(t->cursor, element, end));
            if (!*end) {
                if (++c->given >= self->block)
                    advance(c, self);
                return TW_OK;
            }
            turn_end(t, self->base.input->count);
            c->open--;
            advance(c, self);
        } else if (!c->input_ended) {
            TW_TRY(open_turn(c, self, t));
        } else {
            advance(c, self);
        }
    }
    *end = true;
    return TW_OK;
}

#define FLAT_KIND(name_)                                                                                                       \
    {                                                                                                                          \
        .class = TW_DATASET_CLASS(name_, flat_dataset, flat_destroy), .cursor_size = sizeof(flat_cursor), .start = flat_start, \
        .next = flat_next, .stop = flat_stop, .cardinality = tw__cardinality_unknown, .state = flat_state                      \
    }
static const tw__dataset_kind flat_map_kind = FLAT_KIND("FlatMapDataset");
static const tw__dataset_kind interleave_kind = FLAT_KIND("InterleaveDataset");

static tw_status make_flat(tw__kernel *kernel, const tw__dataset_kind *kind, int64_t cycle, int64_t block, bool ahead)
{
    if (cycle == TW_AUTOTUNE)
        cycle = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    if (cycle < 1 || cycle > 1 << 20)
        return tw__fail(TW_INVALID_ARGUMENT, "cycle_length must be greater than zero.");
    if (block < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "block_length must be greater than zero.");
    flat_dataset *self = tw__dataset_make(kernel, kind, true);
    TW_NEED(self);
    self->cycle = cycle;
    self->block = block;
    self->ahead = ahead;
    if (tw__data_function_read(&self->f, kernel, "f", 1, tw__data_list_count(kernel, "Targuments")) != TW_OK) {
        tw_release(self);
        return tw__error_status();
    }
    return tw__dataset_give(kernel, self);
}

static tw_status flat_map_compute(tw__kernel *kernel)
{
    return make_flat(kernel, &flat_map_kind, 1, INT64_MAX, false);
}

static tw_status interleave_compute(tw__kernel *kernel)
{
    int first = kernel->input_count - 2;
    return make_flat(kernel, &interleave_kind, tw_tensor_int_at(kernel->inputs[first], 0),
                     tw_tensor_int_at(kernel->inputs[first + 1], 0), false);
}

static tw_status parallel_interleave_compute(tw__kernel *kernel)
{
    int first = kernel->input_count - 5;
    int64_t calls = tw_tensor_int_at(kernel->inputs[first + 4], 0), cycle = tw_tensor_int_at(kernel->inputs[first], 0);
    if (calls < 1 && calls != TW_AUTOTUNE)
        return tw__fail(TW_INVALID_ARGUMENT, "`num_parallel_calls` must be > 0");
    if (calls > cycle && cycle != TW_AUTOTUNE)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either `tf.data.AUTOTUNE` or a value less than or "
            "equal to `cycle_length`. However, `num_parallel_calls` is %lld and `cycle_length` is %lld",
            (long long)calls, (long long)cycle);
    return make_flat(kernel, &interleave_kind, tw_tensor_int_at(kernel->inputs[first], 0),
                     tw_tensor_int_at(kernel->inputs[first + 1], 0), true);
}

TW_OP(FlatMapDataset, .inputs = "input_dataset: variant, other_arguments: Targuments",
      .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw_shape_scalar, .compute = flat_map_compute,
      .doc = "The elements of the datasets that f makes of elements, one dataset behind the other.");

TW_OP(InterleaveDataset,
      .inputs = "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64",
      .attrs = "f: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw_shape_scalar, .compute = interleave_compute,
      .doc = "The elements of the datasets that f makes of elements, of cycle_length datasets in turns.");

TW_OP(
    ParallelInterleaveDatasetV4,
    .inputs =
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, "
        "prefetch_input_elements: int64, num_parallel_calls: int64",
    .attrs = "f: func, deterministic: string = 'default', Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''",
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = parallel_interleave_compute,
    .doc = "InterleaveDataset with a thread per open dataset; the order is the same.");

/* What the elements of the function's datasets are: as its result says, or `element`, a dataset like those, or the graph. */
static tw_status inner_structure(const tw__traced *traced, const struct tw_dataset *element, const char *who,
                                 struct tw_dataset *like)
{
    const tw_dataset_spec *spec = tw__element_leaf(&traced->result, &tw__class_dataset_spec);
    if (spec || element) {
        like->structure = tw__value_copy(spec ? &spec->element : &element->structure);
        like->specs = tw__element_specs(&like->structure, &like->count);
        return like->specs ? TW_OK : tw__error_status();
    }
    const tw_tensor_spec *variant = tw__element_leaf(&traced->result, &tw__class_tensor_spec);
    if (!variant || variant->dtype != TW_VARIANT) {
        char *text = tw__element_text(&traced->result);
        tw__fail(TW_TYPE_ERROR, "The `map_func` argument must return a `Dataset` object. Got %s.", text ? text : "");
        tw__free(text);
        return tw__error_status();
    }
    return tw__data_inner_specs(traced->function, NULL, who, &like->specs, &like->count);
}

/* Takes `last`. */
static tw_status flat_init(struct tw_dataset *self, const struct tw_dataset *input, void *function,
                           const struct tw_dataset *element, const tw_op *op, tw_tensor *const *last, int last_count,
                           const char *name)
{
    tw__traced traced = { 0 };
    struct tw_dataset like = { .count = 0 };
    tw_status status = tw__data_trace(function, name, TW_STRUCTURES(&input->structure), 1, &traced);
    if (status == TW_OK)
        status = inner_structure(&traced, element, name, &like);
    for (int i = 0; i < last_count; i++)
        status = last[i] ? status : tw__error_status();
    if (status == TW_OK)
        status = tw__dataset_apply_function(self, input, op, "f", traced.function, &like, last, last_count, NULL, 0);
    tw__free(like.specs);
    tw_value_free(&like.structure);
    tw__data_traced_end(&traced);
    for (int i = 0; i < last_count; i++)
        tw_release(last[i]);
    return status;
}

static tw_status flat_map_init(void *self, const void *arguments)
{
    const tw_dataset_flat_map_args *args = arguments;
    return flat_init(self, args->self, args->map_func, args->element, &tw__op_FlatMapDataset, NULL, 0, "flat_map");
}

TW_CLASS(
    dataset_flat_map,
    "data._FlatMapDataset|data.Dataset.flat_map(self: dataset, map_func: function, name: str = None, *, element: dataset = None) -> dataset",
    TW_STEP(flat_map_init),
    .doc =
        "The elements of the datasets that a function makes of elements, one dataset behind the other.\n"
        "map_func: a function of an element that gives a dataset\n"
        "element: a dataset like those, for functions whose graph does not tell\n"
        "example: list(tf.data.Dataset.range(1, 4).flat_map(lambda n: tf.data.Dataset.range(n)).as_numpy_iterator())  # [0, 0, 1, 0, 1, 2]");

static const tw_class parallel_interleave_class = TW_STEP_CLASS("_ParallelInterleaveDataset", dataset_interleave);

static tw_tensor *number_or(double value, void *object, const char *what, int64_t otherwise)
{
    return tw__data_given(value, object) ? tw__data_number(value, object, what) : tw_tensor_int64(otherwise);
}

static tw_status interleave_init(void *self, const void *arguments)
{
    const tw_dataset_interleave_args *args = arguments;
    tw_tensor *last[5] = { number_or(args->cycle_length, args->cycle_length_object, "cycle_length", TW_AUTOTUNE),
                           number_or(args->block_length, args->block_length_object, "block_length", 1) };
    if (!tw__data_given(args->num_parallel_calls, args->num_parallel_calls_object))
        return flat_init(self, args->self, args->map_func, args->element, &tw__op_InterleaveDataset, last, 2, "interleave");
    last[2] = tw_tensor_int64(TW_AUTOTUNE);
    last[3] = tw_tensor_int64(TW_AUTOTUNE);
    last[4] = tw__data_number(args->num_parallel_calls, args->num_parallel_calls_object, "num_parallel_calls");
    tw__dataset_become(self, &parallel_interleave_class);
    return flat_init(self, args->self, args->map_func, args->element, &tw__op_ParallelInterleaveDatasetV4, last, 5, "interleave");
}

TW_CLASS(
    dataset_interleave,
    "data._InterleaveDataset|data.Dataset.interleave(self: dataset, map_func: function, cycle_length: number = None, block_length: number "
    "= None, num_parallel_calls: number = None, deterministic: int = None, name: str = None, *, element: dataset = None) -> dataset",
    TW_STEP(interleave_init),
    .doc =
        "The elements of the datasets that a function makes of elements, of several datasets in turns.\n"
        "map_func: a function of an element that gives a dataset\n"
        "cycle_length: how many datasets are open at once; None: as many as there are processors\n"
        "block_length: how many elements of one dataset follow each other; None: 1\n"
        "num_parallel_calls: how many of the open datasets compute side by side; None: one after the other\n"
        "element: a dataset like those of `map_func`, for functions whose graph does not tell\n"
        "example: list(tf.data.Dataset.range(2).interleave(lambda n: tf.data.Dataset.range(n * 10, n * 10 + 2), cycle_length=2).as_numpy_iterator())  # [0, 10, 1, 11]");
