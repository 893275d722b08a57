/* map: what a function makes of every element. */
#include "data/parallel.h"
#include "data/state.h"
#include "rows.h"

typedef struct map_dataset {
    tw__dataset base;
    tw__data_function f;
    bool preserves;   /* the cardinality */
    int64_t parallel; /* calls at a time; TW_AUTOTUNE. 0: one, in the thread that asks */
    bool sloppy;      /* results in the order in which they are ready */
} map_dataset;

static void map_destroy(void *self)
{
    tw__data_function_end(&((map_dataset *)self)->f);
}

static tw_status map_element(void *dataset, tw_tensor **input, tw_tensor **element)
{
    const map_dataset *self = dataset;
    int count = self->base.input->count;
    tw_status status = tw__data_call(&self->f, input, count, NULL, 0, element);
    tw__element_end(input, count);
    return status;
}

static tw_status map_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    int count = cursor->dataset->input->count;
    tw_tensor *few[16], **input = count <= 16 ? few : tw__alloc_array((size_t)count, sizeof *input);
    tw_status status = input ? tw__cursor_next(cursor->input, input, end) : tw__error_status();
    if (status == TW_OK && !*end)
        status = map_element(cursor->dataset, input, element);
    if (input != few)
        tw__free(input);
    return status;
}

static int64_t map_cardinality(tw__dataset *dataset)
{
    return ((map_dataset *)dataset)->preserves ? tw__cardinality_same(dataset) : TW_UNKNOWN_COUNT;
}

static void map_state(tw__cursor *cursor, tw__state *state)
{
    tw__state_function(state, &((const map_dataset *)cursor->dataset)->f);
}

static const tw__dataset_kind map_kind = {
    .class = TW_DATASET_CLASS("MapDataset", map_dataset, map_destroy),
    .next = map_next,
    .cardinality = map_cardinality,
    .state = map_state,
};

/* ---- several at a time ---- */

typedef struct parallel_cursor {
    tw__cursor base;
    tw__workers *workers;
} parallel_cursor;

static tw_status parallel_start(tw__cursor *cursor)
{
    const map_dataset *self = (const map_dataset *)cursor->dataset;
    tw__cursor *input = tw__cursor_new(cursor->dataset->input);
    TW_NEED(input);
    ((parallel_cursor *)cursor)->workers = tw__workers_start(cursor->dataset, input, map_element, self->parallel, self->sloppy);
    return ((parallel_cursor *)cursor)->workers ? TW_OK : tw__error_status();
}

static tw_status parallel_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    return tw__workers_next(((parallel_cursor *)cursor)->workers, element, end);
}

static void parallel_stop(tw__cursor *cursor)
{
    tw__workers_stop(((parallel_cursor *)cursor)->workers);
}

static void parallel_state(tw__cursor *cursor, tw__state *state)
{
    map_state(cursor, state);
    tw__workers_state(((parallel_cursor *)cursor)->workers, state);
}

static const tw__dataset_kind parallel_kind = {
    .class = TW_DATASET_CLASS("ParallelMapDataset", map_dataset, map_destroy),
    .cursor_size = sizeof(parallel_cursor),
    .starts_inputs = true,
    .start = parallel_start,
    .next = parallel_next,
    .stop = parallel_stop,
    .cardinality = map_cardinality,
    .state = parallel_state,
};

static tw_status make_map(tw__kernel *kernel, const tw__dataset_kind *kind, map_dataset **made)
{
    map_dataset *self = *made = tw__dataset_make(kernel, kind, true);
    TW_NEED(self);
    self->preserves = TW_ATTR(kernel, "preserve_cardinality")->b;
    tw_status status = tw__data_function_read(&self->f, kernel, "f", 1, tw__data_list_count(kernel, "Targuments"));
    if (status == TW_OK && self->f.function->output_count != self->base.count)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s gives %d tensors; elements have %d", self->f.function->name,
                            self->f.function->output_count, self->base.count);
    if (status != TW_OK)
        tw_release(self);
    return status;
}

static tw_status map_compute(tw__kernel *kernel)
{
    map_dataset *self = NULL;
    TW_TRY(make_map(kernel, &map_kind, &self));
    return tw__dataset_give(kernel, self);
}

static tw_status parallel_compute(tw__kernel *kernel)
{
    map_dataset *self = NULL;
    TW_TRY(make_map(kernel, &parallel_kind, &self));
    self->parallel = tw_tensor_int_at(kernel->inputs[kernel->input_count - 1], 0);
    const tw_attr *deterministic = TW_ATTR(kernel, "deterministic");
    self->sloppy = deterministic->s.size == 5 && memcmp(deterministic->s.data, "false", 5) == 0;
    if (self->parallel < 1 && self->parallel != TW_AUTOTUNE) {
        tw_release(self);
        return tw__fail(TW_INVALID_ARGUMENT, "num_parallel_calls must be greater than zero.");
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(MapDataset, .inputs = "input_dataset: variant, other_arguments: Targuments", .outputs = "handle: variant",
      .attrs = "f: func, Targuments: list(type) >= 0, output_types: list(type) >= 1, output_shapes: list(shape) >= 1, "
               "use_inter_op_parallelism: bool = true, preserve_cardinality: bool = false, metadata: string = ''",
      .shape = tw_shape_scalar, .compute = map_compute, .makes_outputs = true, .no_gradient = true,
      .doc = "What f makes of every element.");

TW_OP(
    ParallelMapDatasetV2, .inputs = "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64",
    .outputs = "handle: variant",
    .attrs =
        "f: func, Targuments: list(type) >= 0, output_types: list(type) >= 1, output_shapes: list(shape) >= 1, "
        "use_inter_op_parallelism: bool = true, deterministic: string = 'default', preserve_cardinality: bool = false, metadata: string = ''",
    .shape = tw_shape_scalar, .compute = parallel_compute, .makes_outputs = true, .no_gradient = true,
    .doc = "What f makes of every element, for several elements at a time; -1: as many as there are processors.");

static const tw_class parallel_map_class = TW_STEP_CLASS("_ParallelMapDataset", dataset_map);

static tw_status apply_map(struct tw_dataset *self, const tw_dataset_map_args *args, const tw__traced *traced, tw_tensor *calls)
{
    const tw__function *f = traced->function;
    tw_spec *specs = NULL;
    TW_TRY(tw__data_results(f, &specs));
    int count = 0;
    tw__owned tw_tensor **inputs = tw__data_inputs(&args->self->variant, 1, &f, 1, &calls, calls != NULL, &count);
    const tw_attr attrs[] = { TW_A_FUNC("f", traced->function), TW_A_BOOL("preserve_cardinality", true),
                              TW_A_STRING("deterministic", tw__data_determinism(args->deterministic)) };
    const tw_op *op = calls ? &tw__op_ParallelMapDatasetV2 : &tw__op_MapDataset;
    tw_status status =
        inputs ? tw__dataset_apply(self, op, inputs, count, attrs, calls ? 3 : 2, specs, f->output_count) : tw__error_status();
    tw__free(specs);
    return status;
}

static tw_status map_init(void *self, const void *arguments)
{
    const tw_dataset_map_args *args = arguments;
    bool parallel = tw__data_given(args->num_parallel_calls, args->num_parallel_calls_object);
    tw_auto tw_tensor *calls =
        parallel ? tw__data_number(args->num_parallel_calls, args->num_parallel_calls_object, "num_parallel_calls") : NULL;
    tw__traced traced = { 0 };
    if (parallel && !calls)
        return tw__error_status();
    TW_TRY(tw__data_trace(args->map_func, "map", TW_STRUCTURES(&args->self->structure), 1, &traced));
    if (parallel)
        tw__dataset_become(self, &parallel_map_class);
    tw_status status = apply_map(self, args, &traced, calls);
    status = tw__dataset_settle(self, status, traced.result, false);
    traced.result.kind = TW_VALUE_NONE;
    tw__data_traced_end(&traced);
    return status;
}

TW_CLASS(
    dataset_map,
    "data._MapDataset|data.Dataset.map(self: dataset, map_func: function, num_parallel_calls: number = None, deterministic: int = None, "
    "name: str = None) -> dataset",
    TW_STEP(map_init),
    .doc =
        "What a function makes of every element; with num_parallel_calls of several elements at a time (-1: as many as there are "
        "processors).\n"
        "example: list(tf.data.Dataset.range(3).map(lambda x: x * x).as_numpy_iterator())  # [0, 1, 4]");
