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
    tw__owned tw_tensor **all = tw__alloc_array((size_t)(inner + outputs) + 1, sizeof *all);
    tw_tensor **given = all ? all + inner : NULL;
    TW_NEED(all);
    TW_TRY(tw__cursor_next(cursor->input, all, end));
    if (*end)
        return TW_OK;
    tw_status called = tw__data_call(&self->f, c->state, self->state_count, all, inner, given);
    tw__element_end(all, inner);
    TW_TRY(called);
    for (int i = 0; i < outputs; i++) {
        if (i < self->state_count) {
            tw_release(c->state[i]);
            c->state[i] = given[i];
        } else {
            element[i - self->state_count] = given[i];
        }
    }
    return TW_OK;
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
    TW_NEED(self);
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
    tw_auto choose_dataset *self = tw__dataset_make(kernel, &scan_kind, true);
    TW_NEED(self);
    int states = tw__data_list_count(kernel, "Tstate");
    self->preserves = TW_ATTR(kernel, "preserve_cardinality")->b;
    self->state = tw__alloc_array((size_t)states + 1, sizeof *self->state);
    TW_NEED(self->state);
    for (int i = 0; i < states; i++)
        self->state[self->state_count++] = tw_retain(kernel->inputs[1 + i]);
    TW_TRY(tw__data_function_read(&self->f, kernel, "f", 1 + states, tw__data_list_count(kernel, "Targuments")));
    if (self->f.function->output_count != states + self->base.count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s gives %d tensors, expected %d of state and %d of the element",
                          self->f.function->name, self->f.function->output_count, states, self->base.count);
    return tw__dataset_give(kernel, TW_TAKE(self));
}

/* ---- reduce ---- */

static tw_status reduce_with(tw__kernel *kernel, tw__cursor *cursor, const tw__data_function *f, tw_tensor **state, int states)
{
    int inner = cursor->dataset->count;
    tw__owned tw_tensor **space = tw__alloc_array((size_t)(inner + states) + 1, sizeof *space);
    tw_tensor **next = space ? space + inner : NULL;
    TW_NEED(space);
    bool end = false;
    if (f->function->output_count != states)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s gives %d tensors, expected %d of state", f->function->name,
                          f->function->output_count, states);
    for (;;) {
        TW_TRY(tw__pause());
        TW_TRY(tw__cursor_next(cursor, space, &end));
        if (end)
            return TW_OK;
        tw_status called = tw__data_call(f, state, states, space, inner, next);
        tw__element_end(space, inner);
        TW_TRY(called);
        for (int i = 0; i < states; i++) {
            tw_release(state[i]);
            state[i] = next[i];
        }
    }
}

static tw_status reduce_compute(tw__kernel *kernel)
{
    int states = tw__data_list_count(kernel, "Tstate");
    tw__dataset *dataset = tw__dataset_of(kernel->op->name, kernel->inputs[0]);
    tw__auto(tw__data_function_end) tw__data_function f = { 0 };
    tw__held tw_tensor **state = tw__held_new((size_t)states);
    tw__auto(tw__cursor_end) tw__cursor *cursor = dataset && state ? tw__cursor_new(dataset) : NULL;
    TW_NEED(cursor);
    TW_TRY(tw__data_function_read(&f, kernel, "f", 1 + states, tw__data_list_count(kernel, "Targuments")));
    for (int i = 0; i < states; i++)
        state[i] = tw_retain(kernel->inputs[1 + i]);
    if (states != kernel->output_count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d tensors of state and %d results", states, kernel->output_count);
    TW_TRY(tw__data_plain_error(reduce_with(kernel, cursor, &f, state, states)));
    for (int i = 0; i < states; i++)
        kernel->outputs[i] = TW_TAKE(state[i]);
    return TW_OK;
}

static tw_status give_single(tw__kernel *kernel)
{
    tw__dataset *dataset = tw__dataset_of(kernel->op->name, kernel->inputs[0]);
    tw__auto(tw__cursor_end) tw__cursor *cursor = dataset ? tw__cursor_new(dataset) : NULL;
    tw__owned tw_tensor **more = cursor ? tw__alloc_array((size_t)dataset->count + 1, sizeof *more) : NULL;
    bool end = false;
    TW_NEED(more);
    if (dataset->count != kernel->output_count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "elements have %d components, expected %d", dataset->count,
                          kernel->output_count);
    TW_TRY(tw__cursor_next(cursor, kernel->outputs, &end));
    if (end)
        return tw__fail(TW_INVALID_ARGUMENT, "Dataset was empty.");
    TW_TRY(tw__cursor_next(cursor, more, &end));
    if (end)
        return TW_OK;
    tw__element_end(more, dataset->count);
    return tw__fail(TW_INVALID_ARGUMENT, "Dataset had more than one element.");
}

static tw_status single_compute(tw__kernel *kernel)
{
    return tw__data_plain_error(give_single(kernel));
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

static tw_status ask_init(struct tw_dataset *self, const struct tw_dataset *input, tw__traced *traced, const tw_op *op)
{
    tw_status status = tw__dataset_apply_function(self, input, op, "predicate", traced->function, NULL, NULL, 0, NULL, 0);
    tw__data_traced_end(traced);
    return status;
}

static tw_status filter_init(void *self, const void *arguments)
{
    const tw_dataset_filter_args *args = arguments;
    tw__traced traced;
    TW_TRY(tw__data_predicate(args->predicate, "filter", ", but its return type is ", args->self, &traced));
    return ask_init(self, args->self, &traced, &tw__op_FilterDataset);
}

TW_CLASS(dataset_filter,
         "data._FilterDataset|data.Dataset.filter(self: dataset, predicate: function, name: str = None) -> dataset",
         TW_STEP(filter_init),
         .doc = "The elements of which a predicate is true.\n"
                "example: list(tf.data.Dataset.range(5).filter(lambda x: x % 2 == 0).as_numpy_iterator())  # [0, 2, 4]");

static tw_status take_while_init(void *self, const void *arguments)
{
    const tw_dataset_take_while_args *args = arguments;
    tw__traced traced;
    TW_TRY(tw__data_predicate(args->predicate, "take_while", " but its return type is", args->self, &traced));
    return ask_init(self, args->self, &traced, &tw__op_TakeWhileDataset);
}

TW_CLASS(dataset_take_while,
         "data._TakeWhileDataset|data.Dataset.take_while(self: dataset, predicate: function, name: str = None) -> dataset",
         TW_STEP(take_while_init),
         .doc = "The elements before the first of which a predicate is false.\n"
                "example: list(tf.data.Dataset.range(9).take_while(lambda x: x < 3).as_numpy_iterator())  # [0, 1, 2]");

/* ---- functions of a state and an element ---- */

typedef struct stateful {
    tw_value spec; /* what holds of the state in every round */
    tw_tensors initial;
    tw__traced f;
} stateful;

static void stateful_end(stateful *s)
{
    tw_value_free(&s->spec);
    tw__element_tensors_free(s->initial.items, (int)s->initial.count);
    tw__data_traced_end(&s->f);
}

static tw_status no_pair(const tw__traced *f)
{
    tw__owned char *text = tw__element_text(&f->result);
    tw_status status = tw__fail(
        TW_TYPE_ERROR,
        "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but its return "
        "type is %s.",
        text ? text : "");
    return status;
}

tw_status tw__data_trace_state(tw_value *state, void *function, const char *name, const tw_value *element, const char *invalid,
                               bool pairs, tw__traced *f)
{
    for (int round = 0; round < 2; round++) {
        tw_value relaxed = { .kind = TW_VALUE_NONE };
        TW_TRY(tw__data_trace(function, name, TW_STRUCTURES(state, element), 2, f));
        if (round)
            return TW_OK;
        if (pairs && !(f->result.kind == TW_VALUE_TUPLE && f->result.list.count == 2))
            return no_pair(f);
        TW_TRY(tw__element_state(state, pairs ? &f->result.list.items[0] : &f->result, invalid, &relaxed));
        bool same = tw__element_same(&relaxed, state);
        tw_value_free(state);
        *state = relaxed;
        if (same)
            return TW_OK;
        tw__data_traced_end(f);
    }
    return TW_OK;
}

static tw_status stateful_begin(stateful *s, const tw_value *initial, void *function, const char *name,
                                const struct tw_dataset *input, bool pairs)
{
    int count = 0;
    TW_TRY(tw__element_structure(initial, &s->spec));
    s->initial.items = tw__element_tensors(initial, &s->spec, &count);
    s->initial.count = s->initial.items ? count : 0;
    TW_NEED(s->initial.items);
    return tw__data_trace_state(&s->spec, function, name, &input->structure, pairs ? "scan_func" : NULL, pairs, &s->f);
}

/* The dataset, the state, the captures: an array from tw__alloc. */
static tw_tensor **state_inputs(const struct tw_dataset *input, tw_tensors state, const tw__function *f, int *count)
{
    tw__owned tw_tensor **first = tw__alloc_array((size_t)state.count + 2, sizeof *first);
    if (!first)
        return NULL;
    first[0] = input->variant;
    for (int64_t i = 0; i < state.count; i++)
        first[1 + i] = state.items[i];
    return tw__data_inputs(first, (int)state.count + 1, &f, 1, NULL, 0, count);
}

static tw_dtype *state_types(tw_tensors state)
{
    tw_dtype *types = tw__alloc_array((size_t)state.count + 1, sizeof *types);
    for (int64_t i = 0; types && i < state.count; i++)
        types[i] = state.items[i]->dtype;
    return types;
}

static tw_status apply_scan(struct tw_dataset *self, const struct tw_dataset *input, const stateful *s)
{
    tw_spec *specs = NULL;
    int count = 0, states = (int)s->initial.count;
    tw__function *f = s->f.function;
    TW_TRY(tw__data_results(f, &specs));
    tw__owned tw_tensor **inputs = state_inputs(input, s->initial, f, &count);
    tw_dtype *captured;
    tw__owned tw_dtype *state = state_types(s->initial);
    tw_attr attrs[] = { TW_A_FUNC("f", f), TW_A_BOOL("preserve_cardinality", true), TW_A_TYPES("Tstate", state, states),
                        tw__data_capture_types("Targuments", f, &captured) };
    tw_status status = inputs && captured && state ? tw__dataset_apply(self, &tw__op_ScanDataset, inputs, count, attrs, 4,
                                                                       specs + states, f->output_count - states)
                                                   : tw__error_status();
    tw__free(captured);
    tw__free(specs);
    return status;
}

static tw_status scan_init(void *self, const void *arguments)
{
    const tw_dataset_scan_args *args = arguments;
    tw__auto(stateful_end) stateful s = { .spec = { .kind = TW_VALUE_NONE } };
    tw_status status = stateful_begin(&s, &args->initial_state, args->scan_func, "scan", args->self, true);
    tw_value element = { .kind = TW_VALUE_NONE };
    if (status == TW_OK) {
        status = apply_scan(self, args->self, &s);
        element = tw__value_copy(&s.f.result.list.items[1]);
    }
    status = tw__dataset_settle(self, status, element, false);
    return status;
}

TW_CLASS(
    dataset_scan,
    "data._ScanDataset|data.Dataset.scan(self: dataset, initial_state: value<element>, scan_func: function, name: str = None) -> dataset",
    TW_STEP(scan_init),
    .doc =
        "What a function makes of a state and each element: the next state, and an element.\n"
        "initial_state: the first state: a tensor, or tensors in tuples and dicts\n"
        "scan_func: a function of the state and an element that gives (next state, output)\n"
        "example: list(tf.data.Dataset.range(1, 4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)).as_numpy_iterator())  # [1, 3, 6]");

/* The last state's tensors, references in `results`. */
static tw_status apply_reduce(const struct tw_dataset *input, const stateful *s, tw_tensor **results)
{
    int count = 0, states = (int)s->initial.count, made = states, known = 0;
    tw__function *f = s->f.function;
    tw__owned tw_tensor **inputs = state_inputs(input, s->initial, f, &count);
    tw__owned tw_dtype *dtypes = state_types(s->initial), *captured = NULL;
    tw_attr arguments = tw__data_capture_types("Targuments", f, &captured);
    tw__owned tw_spec *specs = tw__element_specs(&s->spec, &known);
    tw__owned tw_shape *shapes = specs ? tw__alloc_array((size_t)states + 1, sizeof *shapes) : NULL;
    for (int i = 0; shapes && i < states && i < known; i++)
        shapes[i] = specs[i].shape;
    TW_NEED(inputs && dtypes && captured && shapes);
    tw_attr attrs[] = { TW_A_FUNC("f", f),
                        TW_A_TYPES("Tstate", dtypes, states),
                        arguments,
                        TW_A_TYPES("output_types", dtypes, states),
                        { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = states, .shapes = shapes } };
    return tw__apply(&tw__op_ReduceDataset, inputs, count, attrs, 5, results, &made);
}

TW_METHOD(dataset_reduce,
          "data.Dataset.reduce(self: dataset, initial_state: value<element>, reduce_func: function, name: str = None) -> value",
          "What is left of a state after a function of it and an element was called with every element.\n"
          "initial_state: the first state: a tensor, or tensors in tuples and dicts\n"
          "reduce_func: a function of the state and an element that gives the next state, of the same shapes and dtypes\n"
          "returns: the last state\n"
          "example: tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda total, x: total + x).numpy()  # 10")
{
    tw__auto(stateful_end) stateful s = { .spec = { .kind = TW_VALUE_NONE } };
    tw_value value = { .kind = TW_VALUE_NONE };
    tw_status status = stateful_begin(&s, &args->initial_state, args->reduce_func, "reduce", args->self, false);
    int states = (int)s.initial.count;
    tw__owned tw_tensor **results = status == TW_OK ? tw__alloc_array((size_t)states + 1, sizeof *results) : NULL;
    if (results && apply_reduce(args->self, &s, results) == TW_OK)
        tw__element_pack(&s.spec, results, states, &value);
    return value;
}

TW_METHOD(dataset_single_element, "data.Dataset.get_single_element(self: dataset, name: str = None) -> value",
          "The only element.")
{
    return tw__data_element_by_op(&tw__op_DatasetToSingleElement, args->self->variant, &args->self->structure);
}
