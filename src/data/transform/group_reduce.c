/* Elements grouped by a key, each group reduced to one element: tf.data.experimental.group_by_reducer. */
#include "data/element_spec.h"
#include "data/state.h"
#include "op/calls.h"
#include "rows.h"

enum { KEY, INIT, REDUCE, FINALIZE, FUNCTIONS };
static const char *const names[FUNCTIONS] = { "key_func", "init_func", "reduce_func", "finalize_func" };

typedef struct group {
    int64_t key;
    tw_tensor **state;
} group;

typedef struct reduced_dataset {
    tw__dataset base;
    tw__data_function functions[FUNCTIONS];
} reduced_dataset;

typedef struct reduced_cursor {
    tw__cursor base;
    group *groups; /* by key */
    size_t count, capacity;
    int64_t at;   /* the group that is given next */
    bool reduced; /* the input was read */
} reduced_cursor;

static int state_count(const reduced_dataset *self)
{
    return self->functions[INIT].function->output_count;
}

static void reduced_destroy(void *pointer)
{
    reduced_dataset *self = pointer;
    for (int i = 0; i < FUNCTIONS; i++)
        tw__data_function_end(&self->functions[i]);
}

static void reduced_stop(tw__cursor *cursor)
{
    reduced_cursor *c = (reduced_cursor *)cursor;
    for (size_t i = 0; i < c->count; i++) {
        tw__element_end(c->groups[i].state, state_count((const reduced_dataset *)cursor->dataset));
        tw__free(c->groups[i].state);
    }
    tw__free(c->groups);
}

/* A place for one more group before that of number `at`. */
static group *add_group(reduced_cursor *c, const reduced_dataset *self, size_t at, int64_t key)
{
    if (TW_GROW(c->groups, c->capacity, c->count + 1) != TW_OK)
        return NULL;
    group made = { key, tw__alloc_array((size_t)state_count(self) + 1, sizeof *made.state) };
    if (!made.state)
        return NULL;
    memmove(&c->groups[at + 1], &c->groups[at], (c->count - at) * sizeof *c->groups);
    c->groups[at] = made;
    c->count++;
    return &c->groups[at];
}

static group *group_of(reduced_cursor *c, const reduced_dataset *self, int64_t key)
{
    size_t first = 0, end = c->count;
    while (first < end) {
        size_t middle = (first + end) / 2;
        if (c->groups[middle].key < key)
            first = middle + 1;
        else
            end = middle;
    }
    if (first < c->count && c->groups[first].key == key)
        return &c->groups[first];
    tw_auto tw_tensor *number = tw_tensor_int64(key);
    tw__owned tw_tensor **state = tw__alloc_array((size_t)state_count(self) + 1, sizeof *state);
    if (!number || !state || tw__data_call(&self->functions[INIT], &number, 1, NULL, 0, state) != TW_OK)
        return NULL;
    group *made = add_group(c, self, first, key);
    if (made)
        memcpy(made->state, state, (size_t)state_count(self) * sizeof *state);
    else
        tw__element_end(state, state_count(self));
    return made;
}

/* One more element into the state of its group. */
static tw_status take(reduced_cursor *c, const reduced_dataset *self, tw_tensor *const *element)
{
    int inner = self->base.input->count, states = state_count(self);
    int64_t key = 0;
    TW_TRY(tw__data_number_of(&self->functions[KEY], element, inner, "GroupByReducerDataset", &key));
    const group *g = group_of(c, self, key);
    tw__owned tw_tensor **next = g ? tw__alloc_array((size_t)states + 1, sizeof *next) : NULL;
    TW_NEED(next);
    TW_TRY(tw__data_call(&self->functions[REDUCE], g->state, states, element, inner, next));
    tw__element_end(g->state, states);
    memcpy(g->state, next, (size_t)states * sizeof *next);
    return TW_OK;
}

static tw_status reduce_all(reduced_cursor *c, const reduced_dataset *self)
{
    int inner = self->base.input->count;
    tw__owned tw_tensor **element = tw__alloc_array((size_t)inner + 1, sizeof *element);
    TW_NEED(element);
    for (;;) {
        TW_TRY(tw__pause());
        TW_TRY(tw__cursor_next(c->base.input, element, &c->reduced));
        if (c->reduced)
            return TW_OK;
        tw_status status = take(c, self, element);
        tw__element_end(element, inner);
        TW_TRY(status);
    }
}

static tw_status reduced_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    reduced_cursor *c = (reduced_cursor *)cursor;
    const reduced_dataset *self = (const reduced_dataset *)cursor->dataset;
    if (!c->reduced)
        TW_TRY(reduce_all(c, self));
    *end = c->at >= (int64_t)c->count;
    return *end ? TW_OK
                : tw__data_call(&self->functions[FINALIZE], c->groups[c->at++].state, state_count(self), NULL, 0, element);
}

static void reduced_state(tw__cursor *cursor, tw__state *state)
{
    reduced_cursor *c = (reduced_cursor *)cursor;
    const reduced_dataset *self = (const reduced_dataset *)cursor->dataset;
    int64_t count = (int64_t)c->count;
    for (int i = 0; i < FUNCTIONS; i++)
        tw__state_function(state, &self->functions[i]);
    tw__state_bool(state, "reduced", &c->reduced);
    tw__state_int(state, "at", &c->at);
    tw__state_int(state, "groups", &count);
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        if (!state->saving && !add_group(c, self, c->count, 0)) {
            state->status = tw__error_status();
            return;
        }
        tw__state_int(state, "key", &c->groups[i].key);
        tw__state_tensors(state, "state", &c->groups[i].state, state_count(self));
    }
}

static const tw__dataset_kind reduced_kind = {
    .class = TW_DATASET_CLASS("GroupByReducerDataset", reduced_dataset, reduced_destroy),
    .cursor_size = sizeof(reduced_cursor),
    .next = reduced_next,
    .stop = reduced_stop,
    .cardinality = tw__cardinality_unknown,
    .state = reduced_state,
};

static tw_status check(tw__kernel *kernel, const reduced_dataset *self)
{
    int states = state_count(self), reduced = self->functions[REDUCE].function->output_count;
    if (reduced != states || self->functions[FINALIZE].function->output_count != self->base.count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "the functions give states of %d and %d tensors, and %d tensors in the end, expected %d", states,
                          reduced, self->functions[FINALIZE].function->output_count, self->base.count);
    return TW_OK;
}

static tw_status reduced_compute(tw__kernel *kernel)
{
    tw_auto reduced_dataset *self = tw__dataset_make(kernel, &reduced_kind, true);
    TW_NEED(self);
    TW_TRY(tw__data_functions_read(self->functions, kernel, names, FUNCTIONS));
    TW_TRY(check(kernel, self));
    return tw__dataset_give(kernel, tw_retain(self));
}

#define ARGUMENTS(name) #name "_func_other_arguments: T" #name "_func_other_arguments"
#define TYPES(name) "T" #name "_func_other_arguments: list(type) >= 0, "
TW_OP(
    GroupByReducerDataset,
    .inputs = "input_dataset: variant, " ARGUMENTS(key) ", " ARGUMENTS(init) ", " ARGUMENTS(reduce) ", " ARGUMENTS(finalize),
    .attrs = "key_func: func, init_func: func, reduce_func: func, finalize_func: func, " TYPES(key) TYPES(init) TYPES(reduce)
        TYPES(finalize) TW_ELEMENTS,
    TW_DATASET_OP, .stateful = true, .shape = tw_shape_scalar, .compute = reduced_compute,
    .doc =
        "Elements grouped by a key; each group is one element: what finalize_func makes of the state after all of its elements.");

/* ---- the class ---- */

static tw_status check_key(const tw__traced *traced)
{
    const tw_tensor_spec *spec = tw__element_leaf(&traced->result, &tw__class_tensor_spec);
    if (spec && spec->dtype == TW_INT64 && spec->shape.rank <= 0)
        return TW_OK;
    tw__owned char *text = tw__element_text(&traced->result), *shape = spec ? tw__shape_tuple(&spec->shape) : NULL;
    const char *type = spec ? tw_dtype_name(spec->dtype) : NULL;
    return tw__fail(
        TW_VALUE_ERROR,
        "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but instead `key_func` has output "
        "types=%s%s%s and shapes=%s.",
        type ? "<dtype: '" : "",
        type   ? type
        : text ? text
               : "",
        type ? "'>" : "", shape ? shape : "None");
}

static tw_status trace_all(const tw_dataset_group_by_reducer_args *args, tw__traced *functions)
{
    static const char name[] = "group_by_reducer";
    const tw_value *element = &args->self->structure;
    tw__auto(tw_value_free) tw_value key = { .kind = TW_VALUE_OBJECT, .object = tw__tensor_spec_new(TW_INT64, &TW_SCALAR, NULL) };
    TW_NEED(key.object);
    TW_TRY(tw__data_trace(args->key_func, name, TW_STRUCTURES(element), 1, &functions[KEY]));
    TW_TRY(check_key(&functions[KEY]));
    TW_TRY(tw__data_trace(args->init_func, name, TW_STRUCTURES(&key), 1, &functions[INIT]));
    tw__auto(tw_value_free) tw_value state = tw__value_copy(&functions[INIT].result);
    TW_TRY(tw__data_trace_state(&state, args->reduce_func, name, element, "reducer", false, &functions[REDUCE]));
    return tw__data_trace(args->finalize_func, name, TW_STRUCTURES(&state), 1, &functions[FINALIZE]);
}

static tw_status reduced_init(void *self, const void *arguments)
{
    const tw_dataset_group_by_reducer_args *args = arguments;
    tw__traced functions[FUNCTIONS] = { { 0 } };
    int count = 0;
    tw_value element = { .kind = TW_VALUE_NONE };
    tw_status status = trace_all(args, functions);
    tw__owned tw_spec *specs = status == TW_OK ? tw__element_specs(&functions[FINALIZE].result, &count) : NULL;
    if (specs) {
        element = tw__value_copy(&functions[FINALIZE].result);
        status = tw__dataset_apply_functions(self, args->self, &tw__op_GroupByReducerDataset, names, functions, FUNCTIONS, specs,
                                             count);
    }
    status = tw__dataset_settle(self, specs || status != TW_OK ? status : tw__error_status(), element, false);
    for (int i = 0; i < FUNCTIONS; i++)
        tw__data_traced_end(&functions[i]);
    return status;
}

TW_CLASS(dataset_group_by_reducer,
         "data._GroupByReducerDataset(self: dataset, key_func: function, init_func: function, reduce_func: function, "
         "finalize_func: function, name: str = None) -> dataset",
         TW_STEP(reduced_init), .doc = "Elements grouped by a key, each group reduced to one element; in the order of the keys.");
