/* Steps that ask a function about elements: filter, take_while, and scan, whose function also keeps a state; and reduce, which
 * gives the state. */
#include "data/state.h"
#include "rows.h"

typedef struct choose_dataset {
    tw__dataset base;
    tw__data_function f;
    tw_tensor **state; /* of scan: at the beginning */
    int state_count;
    bool preserves;
} choose_dataset;

typedef struct scan_cursor {
    tw__cursor base;
    tw_tensor **state;
} scan_cursor;

static void choose_destroy(void *pointer)
{
    choose_dataset *self = pointer;
    tw__data_function_end(&self->f);
    for (int i = 0; self->state && i < self->state_count; i++)
        tw_release(self->state[i]);
    tw__free(self->state);
}

static tw_status filter_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const choose_dataset *self = (const choose_dataset *)cursor->dataset;
    for (;;) {
        TW_TRY(tw__pause());
        TW_TRY(tw__cursor_next(cursor->input, element, end));
        if (*end)
            return TW_OK;
        bool keep = false;
        tw_status status = tw__data_ask(&self->f, element, self->base.count, "FilterDataset", &keep);
        if (status == TW_OK && keep)
            return TW_OK;
        tw__element_end(element, self->base.count);
        TW_TRY(status);
    }
}

static tw_status take_while_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    const choose_dataset *self = (const choose_dataset *)cursor->dataset;
    TW_TRY(tw__cursor_next(cursor->input, element, end));
    if (*end)
        return TW_OK;
    bool keep = false;
    tw_status status = tw__data_ask(&self->f, element, self->base.count, "TakeWhileDataset", &keep);
    *end = status == TW_OK && !keep;
    if (status != TW_OK || *end)
        tw__element_end(element, self->base.count);
    return status;
}

/* ---- scan ---- */

static tw_status scan_start(tw__cursor *cursor)
{
    scan_cursor *c = (scan_cursor *)cursor;
    const choose_dataset *self = (const choose_dataset *)cursor->dataset;
    c->state = tw__alloc_array((size_t)self->state_count + 1, sizeof *c->state);
    for (int i = 0; c->state && i < self->state_count; i++)
        c->state[i] = tw_retain(self->state[i]);
    return c->state ? TW_OK : tw__error_status();
}

static void scan_stop(tw__cursor *cursor)
{
    scan_cursor *c = (scan_cursor *)cursor;
    if (c->state)
        tw__element_end(c->state, ((const choose_dataset *)cursor->dataset)->state_count);
    tw__free(c->state);
}

static tw_status scan_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    scan_cursor *c = (scan_cursor *)cursor;
    const choose_dataset *self = (const choose_dataset *)cursor->dataset;
    int inner = cursor->dataset->input->count, outputs = self->f.function->output_count;
    tw_tensor **all = tw__alloc_array((size_t)(inner + outputs) + 1, sizeof *all), **given = all ? all + inner : NULL;
    tw_status status = all ? tw__cursor_next(cursor->input, all, end) : tw__error_status();
    if (status == TW_OK && !*end) {
        status = tw__data_call(&self->f, c->state, self->state_count, all, inner, given);
        tw__element_end(all, inner);
        for (int i = 0; status == TW_OK && i < outputs; i++) {
            if (i < self->state_count) {
                tw_release(c->state[i]);
                c->state[i] = given[i];
            } else {
                element[i - self->state_count] = given[i];
            }
        }
    }
    tw__free(all);
    return status;
}

static int64_t scan_cardinality(tw__dataset *dataset)
{
    return ((choose_dataset *)dataset)->preserves ? tw__cardinality_same(dataset) : TW_UNKNOWN_COUNT;
}

static void choose_state(tw__cursor *cursor, tw__state *state)
{
    tw__state_function(state, &((const choose_dataset *)cursor->dataset)->f);
}

static void scan_state(tw__cursor *cursor, tw__state *state)
{
    choose_state(cursor, state);
    tw__state_tensors(state, "state", &((scan_cursor *)cursor)->state, ((const choose_dataset *)cursor->dataset)->state_count);
}

static const tw__dataset_kind filter_kind = {
    .class = TW_DATASET_CLASS("FilterDataset", choose_dataset, choose_destroy),
    .next = filter_next,
    .cardinality = tw__cardinality_unknown,
    .state = choose_state,
};
static const tw__dataset_kind take_while_kind = {
    .class = TW_DATASET_CLASS("TakeWhileDataset", choose_dataset, choose_destroy),
    .next = take_while_next,
    .cardinality = tw__cardinality_unknown,
    .state = choose_state,
};
static const tw__dataset_kind scan_kind = {
    .class = TW_DATASET_CLASS("ScanDataset", choose_dataset, choose_destroy),
    .cursor_size = sizeof(scan_cursor),
    .start = scan_start,
    .next = scan_next,
    .stop = scan_stop,
    .cardinality = scan_cardinality,
    .state = scan_state,
};

static tw_status choose_compute(tw__kernel *kernel, const tw__dataset_kind *kind)
{
    choose_dataset *self = tw__dataset_make(kernel, kind, true);
    if (!self)
        return tw__error_status();
    if (tw__data_function_read(&self->f, kernel, "predicate", 1, tw__data_list_count(kernel, "Targuments")) != TW_OK) {
        tw_release(self);
        return tw__error_status();
    }
    return tw__dataset_give(kernel, self);
}

static tw_status filter_compute(tw__kernel *kernel)
{
    return choose_compute(kernel, &filter_kind);
}

static tw_status take_while_compute(tw__kernel *kernel)
{
    return choose_compute(kernel, &take_while_kind);
}

static tw_status scan_compute(tw__kernel *kernel)
{
    choose_dataset *self = tw__dataset_make(kernel, &scan_kind, true);
    if (!self)
        return tw__error_status();
    int states = tw__data_list_count(kernel, "Tstate");
    self->preserves = TW_ATTR(kernel, "preserve_cardinality")->b;
    self->state = tw__alloc_array((size_t)states + 1, sizeof *self->state);
    tw_status status = self->state ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < states; i++)
        self->state[self->state_count++] = tw_retain(kernel->inputs[1 + i]);
    if (status == TW_OK)
        status = tw__data_function_read(&self->f, kernel, "f", 1 + states, tw__data_list_count(kernel, "Targuments"));
    if (status == TW_OK && self->f.function->output_count != states + self->base.count)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s gives %d tensors, expected %d of state and %d of the element",
                            self->f.function->name, self->f.function->output_count, states, self->base.count);
    if (status != TW_OK) {
        tw_release(self);
        return status;
    }
    return tw__dataset_give(kernel, self);
}

/* ---- reduce ---- */

static tw_status reduce_with(tw__kernel *kernel, tw__cursor *cursor, const tw__data_function *f, tw_tensor **state, int states)
{
    int inner = cursor->dataset->count;
    tw_tensor **space = tw__alloc_array((size_t)(inner + states) + 1, sizeof *space), **next = space ? space + inner : NULL;
    tw_status status = space ? TW_OK : tw__error_status();
    bool end = false;
    if (status == TW_OK && f->function->output_count != states)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s gives %d tensors, expected %d of state", f->function->name,
                            f->function->output_count, states);
    while (status == TW_OK && !end) {
        status = tw__pause();
        if (status == TW_OK)
            status = tw__cursor_next(cursor, space, &end);
        if (status != TW_OK || end)
            break;
        status = tw__data_call(f, state, states, space, inner, next);
        tw__element_end(space, inner);
        for (int i = 0; status == TW_OK && i < states; i++) {
            tw_release(state[i]);
            state[i] = next[i];
        }
    }
    tw__free(space);
    return status;
}

static tw_status reduce_compute(tw__kernel *kernel)
{
    int states = tw__data_list_count(kernel, "Tstate");
    tw__dataset *dataset = tw__dataset_of(kernel->op->name, kernel->inputs[0]);
    tw__data_function f = { 0 };
    tw_tensor **state = tw__alloc_array((size_t)states + 1, sizeof *state);
    tw__cursor *cursor = dataset && state ? tw__cursor_new(dataset) : NULL;
    tw_status status = cursor ? tw__data_function_read(&f, kernel, "f", 1 + states, tw__data_list_count(kernel, "Targuments"))
                              : tw__error_status();
    for (int i = 0; status == TW_OK && i < states; i++)
        state[i] = tw_retain(kernel->inputs[1 + i]);
    if (status == TW_OK && states != kernel->output_count)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d tensors of state and %d results", states, kernel->output_count);
    if (status == TW_OK)
        status = tw__data_plain_error(reduce_with(kernel, cursor, &f, state, states));
    for (int i = 0; state && i < states; i++) {
        if (status == TW_OK)
            kernel->outputs[i] = state[i];
        else
            tw_release(state[i]);
    }
    tw__free(state);
    tw__cursor_free(cursor);
    tw__data_function_end(&f);
    return status;
}

static tw_status single_compute(tw__kernel *kernel)
{
    tw__dataset *dataset = tw__dataset_of(kernel->op->name, kernel->inputs[0]);
    tw__cursor *cursor = dataset ? tw__cursor_new(dataset) : NULL;
    tw_tensor **more = cursor ? tw__alloc_array((size_t)dataset->count + 1, sizeof *more) : NULL;
    tw_status status = more ? TW_OK : tw__error_status();
    bool end = false;
    if (status == TW_OK && dataset->count != kernel->output_count)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "elements have %d components, expected %d", dataset->count,
                            kernel->output_count);
    if (status == TW_OK)
        status = tw__cursor_next(cursor, kernel->outputs, &end);
    if (status == TW_OK && end)
        status = tw__fail(TW_INVALID_ARGUMENT, "Dataset was empty.");
    else if (status == TW_OK && (status = tw__cursor_next(cursor, more, &end)) == TW_OK && !end) {
        tw__element_end(more, dataset->count);
        status = tw__fail(TW_INVALID_ARGUMENT, "Dataset had more than one element.");
    }
    tw__free(more);
    tw__cursor_free(cursor);
    return tw__data_plain_error(status);
}

TW_OP(FilterDataset, .inputs = "input_dataset: variant, other_arguments: Targuments",
      .attrs = "predicate: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw_shape_scalar, .compute = filter_compute, .doc = "The elements of which the predicate is true.");

TW_OP(TakeWhileDataset, .inputs = "input_dataset: variant, other_arguments: Targuments",
      .attrs = "predicate: func, Targuments: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw_shape_scalar, .compute = take_while_compute,
      .doc = "The elements before the first of which the predicate is false.");

TW_OP(ScanDataset, .inputs = "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments",
      .attrs = "f: func, Tstate: list(type) >= 1, Targuments: list(type) >= 0, " TW_ELEMENTS
               ", preserve_cardinality: bool = false, use_default_device: bool = true, metadata: string = ''",
      TW_DATASET_OP, .shape = tw_shape_scalar, .compute = scan_compute,
      .doc = "What f makes of a state and an element: the next state, and an element.");

TW_OP(ReduceDataset, .inputs = "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments",
      .outputs = "components: output_types",
      .attrs = "f: func, Tstate: list(type) >= 1, Targuments: list(type) >= 0, " TW_ELEMENTS
               ", use_inter_op_parallelism: bool = true, metadata: string = ''",
      .shape = tw__elements_shape, .compute = reduce_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The state after f was called with every element.");

TW_OP(DatasetToSingleElement, .inputs = "dataset: variant", .outputs = "components: output_types",
      .attrs = TW_ELEMENTS ", metadata: string = ''", .shape = tw__elements_shape, .compute = single_compute, .stateful = true,
      .makes_outputs = true, .no_gradient = true, .doc = "The only element.");

/* ---- classes ---- */

static tw_status ask_init(struct tw_dataset *self, const struct tw_dataset *input, void *function, const tw_op *op,
                          const char *who)
{
    tw_auto tw__function *f = tw__data_function_for(function, input->specs, input->count, who);
    return f ? tw__dataset_apply_function(self, input, op, "predicate", f, NULL, NULL, 0, NULL, 0) : tw__error_status();
}

static tw_status filter_init(void *self, const void *arguments)
{
    const tw_dataset_filter_args *args = arguments;
    return ask_init(self, args->input_dataset, args->predicate, &tw__op_FilterDataset, "Dataset.filter");
}

TW_CLASS(dataset_filter, "data._FilterDataset(input_dataset: dataset, predicate: function) -> dataset", TW_STEP(filter_init),
         .doc = "The elements of which a predicate is true.");

static tw_status take_while_init(void *self, const void *arguments)
{
    const tw_dataset_take_while_args *args = arguments;
    return ask_init(self, args->input_dataset, args->predicate, &tw__op_TakeWhileDataset, "Dataset.take_while");
}

TW_CLASS(dataset_take_while, "data._TakeWhileDataset(input_dataset: dataset, predicate: function) -> dataset",
         TW_STEP(take_while_init), .doc = "The elements before the first of which a predicate is false.");

/* The function for a state and an element. */
static tw__function *state_function(void *function, tw_tensors state, const struct tw_dataset *input, const char *who)
{
    int count = (int)state.count + input->count;
    tw_spec *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    for (int i = 0; specs && i < count; i++)
        specs[i] = i < state.count ? (tw_spec){ state.items[i]->dtype, state.items[i]->shape } : input->specs[i - state.count];
    tw__function *f = specs ? tw__data_function_for(function, specs, count, who) : NULL;
    tw__free(specs);
    if (f && f->output_count < state.count) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: the function gives %d tensors; the state alone has %d", who, f->output_count,
                 (int)state.count);
        tw_release(f);
        return NULL;
    }
    return f;
}

/* The dataset, the state, the captures: an array from tw__alloc. */
static tw_tensor **state_inputs(const struct tw_dataset *input, tw_tensors state, const tw__function *f, int *count)
{
    tw_tensor **first = tw__alloc_array((size_t)state.count + 2, sizeof *first);
    if (!first)
        return NULL;
    first[0] = input->variant;
    for (int64_t i = 0; i < state.count; i++)
        first[1 + i] = state.items[i];
    tw_tensor **inputs = tw__data_inputs(first, (int)state.count + 1, &f, 1, NULL, 0, count);
    tw__free(first);
    return inputs;
}

static tw_dtype *state_types(tw_tensors state)
{
    tw_dtype *types = tw__alloc_array((size_t)state.count + 1, sizeof *types);
    for (int64_t i = 0; types && i < state.count; i++)
        types[i] = state.items[i]->dtype;
    return types;
}

static tw_status scan_init(void *self, const void *arguments)
{
    const tw_dataset_scan_args *args = arguments;
    tw_auto tw__function *f = state_function(args->scan_func, args->initial_state, args->input_dataset, "Dataset.scan");
    tw_spec *specs = NULL;
    int count = 0, states = (int)args->initial_state.count;
    if (!f || tw__data_results(f, &specs) != TW_OK)
        return tw__error_status();
    tw_tensor **inputs = state_inputs(args->input_dataset, args->initial_state, f, &count);
    tw_dtype *captured, *state = state_types(args->initial_state);
    tw_attr attrs[] = { TW_A_FUNC("f", f), TW_A_BOOL("preserve_cardinality", true), TW_A_TYPES("Tstate", state, states),
                        tw__data_capture_types("Targuments", f, &captured) };
    tw_status status = inputs && captured && state ? tw__dataset_apply(self, &tw__op_ScanDataset, inputs, count, attrs, 4,
                                                                       specs + states, f->output_count - states)
                                                   : tw__error_status();
    tw__free(inputs);
    tw__free(captured);
    tw__free(state);
    tw__free(specs);
    return status;
}

TW_CLASS(dataset_scan, "data._ScanDataset(input_dataset: dataset, initial_state: tensors, scan_func: function) -> dataset",
         TW_STEP(scan_init), .doc = "What a function makes of a state and each element: the next state, and an element.");

TW_METHOD(dataset_reduce, "data.Dataset._reduce(self: dataset, initial_state: tensors, reduce_func: function) -> tensors",
          "The state after a function of the state and an element was called with every element.")
{
    tw_auto tw__function *f = state_function(args->reduce_func, args->initial_state, args->self, "Dataset.reduce");
    tw_tensors results = { 0 };
    int count = 0, states = (int)args->initial_state.count;
    tw_tensor **inputs = f ? state_inputs(args->self, args->initial_state, f, &count) : NULL;
    tw_dtype *dtypes = state_types(args->initial_state), *captured = NULL;
    tw_attr arguments = { 0 };
    if (f)
        arguments = tw__data_capture_types("Targuments", f, &captured);
    tw_shape *shapes = tw__alloc_array((size_t)states + 1, sizeof *shapes);
    results.items = tw__alloc_array((size_t)states + 1, sizeof *results.items);
    tw_status status = inputs && dtypes && captured && shapes && results.items ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < states; i++) {
        shapes[i] = *tw__function_output_shape(f, i);
        if (!tw__shape_equal(&shapes[i], &args->initial_state.items[i]->shape))
            shapes[i] = TW_UNKNOWN_SHAPE;
    }
    if (status == TW_OK) {
        tw_attr attrs[] = { TW_A_FUNC("f", f),
                            TW_A_TYPES("Tstate", dtypes, states),
                            arguments,
                            TW_A_TYPES("output_types", dtypes, states),
                            { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = states, .shapes = shapes } };
        int made = states;
        status = tw__apply(&tw__op_ReduceDataset, inputs, count, attrs, 5, results.items, &made);
        results.count = status == TW_OK ? made : 0;
    }
    tw__free(inputs);
    tw__free(dtypes);
    tw__free(captured);
    tw__free(shapes);
    if (status != TW_OK)
        tw_tensors_free(&results);
    return results;
}

TW_METHOD(dataset_single_element, "data.Dataset._single_element(self: dataset) -> tensors", "The tensors of the only element.")
{
    const struct tw_dataset *self = args->self;
    tw_tensors results = { tw__alloc_array((size_t)self->count + 1, sizeof(tw_tensor *)), 0 };
    tw_dtype *dtypes = tw__alloc_array((size_t)self->count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array((size_t)self->count + 1, sizeof *shapes);
    for (int i = 0; dtypes && shapes && i < self->count; i++) {
        dtypes[i] = self->specs[i].dtype;
        shapes[i] = self->specs[i].shape;
    }
    int made = self->count;
    if (results.items && dtypes && shapes) {
        tw_attr attrs[] = { TW_A_TYPES("output_types", dtypes, made),
                            { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = made, .shapes = shapes } };
        if (tw__apply(&tw__op_DatasetToSingleElement, &self->variant, 1, attrs, 2, results.items, &made) == TW_OK)
            results.count = made;
    }
    tw__free(dtypes);
    tw__free(shapes);
    if (!results.count)
        tw_tensors_free(&results);
    return results;
}
