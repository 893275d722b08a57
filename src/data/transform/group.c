/* Elements grouped by a key: group_by_window. */
#include "data/element_spec.h"
#include "data/state.h"
#include "op/calls.h"
#include "rows.h"

typedef struct group {
    int64_t key, size;
    tw__elements elements;
} group;

enum { KEY, REDUCE, SIZE, FUNCTIONS };
static const char *const names[FUNCTIONS] = { "key_func", "reduce_func", "window_size_func" };

typedef struct grouped_dataset {
    tw__dataset base;
    tw__data_function functions[FUNCTIONS];
} grouped_dataset;

typedef struct grouped_cursor {
    tw__cursor base;
    group *groups; /* by key */
    size_t count, capacity;
    tw__cursor *current;
    tw_tensor *arguments[2]; /* the key and the elements that it was made of, for the state */
    bool input_ended;
} grouped_cursor;

static void grouped_destroy(void *pointer)
{
    grouped_dataset *self = pointer;
    for (int i = 0; i < FUNCTIONS; i++)
        tw__data_function_end(&self->functions[i]);
}

static void grouped_stop(tw__cursor *cursor)
{
    grouped_cursor *c = (grouped_cursor *)cursor;
    for (size_t i = 0; i < c->count; i++)
        tw__elements_free(&c->groups[i].elements);
    tw__free(c->groups);
    tw__cursor_free(c->current);
    tw__element_end(c->arguments, 2);
}

static group *group_of(grouped_cursor *c, const grouped_dataset *self, int64_t key)
{
    size_t at = 0;
    while (at < c->count && c->groups[at].key < key)
        at++;
    if (at < c->count && c->groups[at].key == key)
        return &c->groups[at];
    tw_auto tw_tensor *number = tw_tensor_int64(key);
    group made = { .key = key, .elements = { .count = self->base.input->count } };
    if (!number || tw__data_number_of(&self->functions[SIZE], &number, 1, "GroupByWindowDataset", &made.size) != TW_OK)
        return NULL;
    if (made.size < 1) {
        tw__fail(TW_INVALID_ARGUMENT, "Window size must be greater than zero, but got %lld.", (long long)made.size);
        return NULL;
    }
    if (TW_GROW(c->groups, c->capacity, c->count + 1) != TW_OK)
        return NULL;
    memmove(&c->groups[at + 1], &c->groups[at], (c->count - at) * sizeof *c->groups);
    c->groups[at] = made;
    c->count++;
    return &c->groups[at];
}

/* Begins with the dataset that reduce_func makes of the arguments. */
static tw_status begin_current(grouped_cursor *c, const grouped_dataset *self)
{
    c->current = c->arguments[0] && c->arguments[1] ? tw__data_cursor_of(&self->functions[REDUCE], c->arguments, 2, NULL, 0,
                                                                         "GroupByWindowDataset", self->base.count)
                                                    : NULL;
    if (c->current)
        return TW_OK;
    tw__element_end(c->arguments, 2);
    return tw__error_status();
}

/* The group's elements become the dataset that is gone through next; the group is gone. */
static tw_status begin_group(grouped_cursor *c, const grouped_dataset *self, group *g)
{
    const tw__dataset *input = self->base.input;
    c->arguments[0] = tw_tensor_int64(g->key);
    tw__dataset *window = tw__dataset_of_elements(&g->elements, input->dtypes, input->shapes);
    c->arguments[1] = window ? tw__tensor_of_object(TW_VARIANT, window) : NULL;
    tw_release(window);
    size_t at = (size_t)(g - c->groups);
    memmove(&c->groups[at], &c->groups[at + 1], (c->count - at - 1) * sizeof *c->groups);
    c->count--;
    return begin_current(c, self);
}

/* One more element into its group. */
static tw_status sort_in(grouped_cursor *c, const grouped_dataset *self)
{
    int count = self->base.input->count;
    tw__owned tw_tensor **element = tw__alloc_array((size_t)count + 1, sizeof *element);
    int64_t key = 0;
    tw_status status = element ? tw__cursor_next(c->base.input, element, &c->input_ended) : tw__error_status();
    bool got = status == TW_OK && !c->input_ended;
    if (got)
        status = tw__data_number_of(&self->functions[KEY], element, count, "GroupByWindowDataset", &key);
    group *g = got && status == TW_OK ? group_of(c, self, key) : NULL;
    tw_tensor **room = g ? tw__elements_room(&g->elements) : NULL;
    if (room) {
        memcpy(room, element, (size_t)count * sizeof *element);
        g->elements.size++;
        if ((int64_t)g->elements.size >= g->size)
            status = begin_group(c, self, g);
    } else if (got) {
        tw__element_end(element, count);
        status = tw__error_status();
    }
    return status;
}

static tw_status grouped_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    grouped_cursor *c = (grouped_cursor *)cursor;
    const grouped_dataset *self = (const grouped_dataset *)cursor->dataset;
    for (;;) {
        TW_TRY(tw__pause());
        if (c->current) {
            TW_TRY(tw__cursor_next(c->current, element, end));
            if (!*end)
                return TW_OK;
            tw__cursor_free(c->current);
            c->current = NULL;
            tw__element_end(c->arguments, 2);
        }
        *end = c->input_ended && c->count == 0;
        if (*end)
            return TW_OK;
        TW_TRY(c->input_ended ? begin_group(c, self, &c->groups[0]) : sort_in(c, self));
    }
}

static void groups_state(grouped_cursor *c, const grouped_dataset *self, tw__state *state)
{
    int64_t count = (int64_t)c->count;
    tw__state_int(state, "groups", &count);
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        if (!state->saving && TW_GROW(c->groups, c->capacity, (size_t)i + 1) != TW_OK) {
            state->status = tw__error_status();
            return;
        }
        if (!state->saving) {
            c->groups[i] = (group){ .elements = { .count = self->base.input->count } };
            c->count = (size_t)i + 1;
        }
        tw__state_int(state, "key", &c->groups[i].key);
        tw__state_int(state, "size", &c->groups[i].size);
        tw__state_elements(state, "elements", &c->groups[i].elements);
    }
}

static void grouped_state(tw__cursor *cursor, tw__state *state)
{
    grouped_cursor *c = (grouped_cursor *)cursor;
    const grouped_dataset *self = (const grouped_dataset *)cursor->dataset;
    for (int i = 0; i < FUNCTIONS; i++)
        tw__state_function(state, &self->functions[i]);
    groups_state(c, self, state);
    tw__state_bool(state, "input_ended", &c->input_ended);
    tw__state_tensor(state, "key", &c->arguments[0]);
    tw__state_tensor(state, "window", &c->arguments[1]);
    if (!tw__state_good(state) || !c->arguments[0])
        return;
    if (!state->saving && begin_current(c, self) != TW_OK)
        state->status = tw__error_status();
    else
        tw__state_cursor(state, "current", &c->current, c->current->dataset);
}

static const tw__dataset_kind grouped_kind = {
    .class = TW_DATASET_CLASS("GroupByWindowDataset", grouped_dataset, grouped_destroy),
    .cursor_size = sizeof(grouped_cursor),
    .next = grouped_next,
    .stop = grouped_stop,
    .cardinality = tw__cardinality_unknown,
    .state = grouped_state,
};

static tw_status grouped_compute(tw__kernel *kernel)
{
    tw_auto grouped_dataset *self = tw__dataset_make(kernel, &grouped_kind, true);
    TW_NEED(self);
    TW_TRY(tw__data_functions_read(self->functions, kernel, names, FUNCTIONS));
    return tw__dataset_give(kernel, tw_retain(self));
}

TW_OP(
    GroupByWindowDataset,
    .inputs = "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, reduce_func_other_arguments: "
              "Treduce_func_other_arguments, window_size_func_other_arguments: Twindow_size_func_other_arguments",
    .attrs = "key_func: func, reduce_func: func, window_size_func: func, Tkey_func_other_arguments: list(type) >= 0, "
             "Treduce_func_other_arguments: list(type) >= 0, Twindow_size_func_other_arguments: list(type) >= 0, " TW_ELEMENTS
             ", metadata: string = ''",
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = grouped_compute,
    .doc =
        "Elements grouped by a key; a group that has its size, and at the end every group, becomes the dataset that reduce_func makes of it.");

/* A function whose only result becomes an int64. */
typedef struct cast_body {
    tw__function *function;
} cast_body;

static tw_tensors cast_result(void *user, tw_tensors in)
{
    tw_auto tw_tensor *number = NULL;
    if (tw__function_call(((cast_body *)user)->function, in.items, &number) != TW_OK)
        return TW_GIVE_FAILURE;
    return tw_give(TW_CALL(Cast, number, TW_A_TYPE("DstT", TW_INT64)));
}

/* The traced function, or one around it that casts its number. */
static tw_status as_int64(tw__traced *traced, const tw_spec *specs, int count)
{
    const tw_tensor_spec *spec = tw__element_leaf(&traced->result, &tw__class_tensor_spec);
    if (!spec || spec->dtype == TW_INT64 || !tw__dtype_is_integer(spec->dtype))
        return TW_OK;
    tw_auto tw_function *around =
        tw_function_new(cast_result, &(cast_body){ traced->function }, .name = "key", .signature = { specs, count });
    tw__function *made = around ? tw__function_concrete(around, specs, count) : NULL;
    TW_NEED(made);
    tw_release(traced->function);
    traced->function = made;
    return TW_OK;
}

static tw_tensors constant_size(void *user, __attribute__((unused)) tw_tensors in)
{
    return tw_give(tw_retain(user));
}

/* The function of a key that tells how many elements a group has: given, or a number. */
static tw_status trace_size(const tw_dataset_group_by_window_args *args, const tw_value *key, tw__traced *traced)
{
    const tw_spec spec = { TW_INT64, TW_SCALAR };
    if (args->window_size_func) {
        TW_TRY(tw__data_trace(args->window_size_func, "group_by_window", TW_STRUCTURES(key), 1, traced));
        return as_int64(traced, &spec, 1);
    }
    tw_auto tw_tensor *size = tw__data_number(args->window_size, args->window_size_object, "window_size");
    tw_auto tw_function *constant =
        size ? tw_function_new(constant_size, size, .name = "window_size", .signature = { &spec, 1 }) : NULL;
    return constant ? tw__data_trace(constant, "group_by_window", TW_STRUCTURES(key), 1, traced) : tw__error_status();
}

/* What the elements of the function's datasets are. */
static tw_status group_structure(const tw__traced *reduce, const struct tw_dataset *element, struct tw_dataset *like)
{
    const tw_dataset_spec *spec = tw__element_leaf(&reduce->result, &tw__class_dataset_spec);
    const tw_tensor_spec *variant = tw__element_leaf(&reduce->result, &tw__class_tensor_spec);
    if (!spec && !element && variant && variant->dtype == TW_VARIANT) {
        TW_TRY(tw__data_inner_specs(reduce->function, NULL, "Dataset.group_by_window", &like->specs, &like->count));
        return tw__element_of_specs(like->specs, like->count, &like->structure);
    }
    if (!spec && !element) {
        char *text = tw__element_text(&reduce->result);
        tw__fail(TW_TYPE_ERROR,
                 "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return type is %s.",
                 text ? text : "");
        tw__free(text);
        return tw__error_status();
    }
    like->structure = tw__value_copy(spec ? &spec->element : &element->structure);
    like->specs = tw__element_specs(&like->structure, &like->count);
    return like->specs ? TW_OK : tw__error_status();
}

static tw_status trace_all(const tw_dataset_group_by_window_args *args, tw__traced *functions, struct tw_dataset *like)
{
    const struct tw_dataset *input = args->self;
    tw__auto(tw_value_free) tw_value key = { .kind = TW_VALUE_OBJECT, .object = tw__tensor_spec_new(TW_INT64, &TW_SCALAR, NULL) };
    tw__auto(tw_value_free) tw_value members = tw__dataset_spec_new(&input->structure);
    TW_NEED(key.object && members.object);
    TW_TRY(tw__data_trace(args->key_func, "group_by_window", TW_STRUCTURES(&input->structure), 1, &functions[KEY]));
    TW_TRY(as_int64(&functions[KEY], input->specs, input->count));
    TW_TRY(trace_size(args, &key, &functions[SIZE]));
    TW_TRY(tw__data_trace(args->reduce_func, "group_by_window", TW_STRUCTURES(&key, &members), 2, &functions[REDUCE]));
    return group_structure(&functions[REDUCE], args->element, like);
}

static tw_status grouped_init(void *self, const void *arguments)
{
    const tw_dataset_group_by_window_args *args = arguments;
    struct tw_dataset like = { .count = 0 };
    tw__traced functions[FUNCTIONS] = { { 0 } };
    if (!tw__data_given(args->window_size, args->window_size_object) == !args->window_size_func)
        return tw__fail(TW_VALUE_ERROR,
                        "Either the `window_size` argument or the `window_size_func` argument must be specified.");
    tw_status status = trace_all(args, functions, &like);
    if (status == TW_OK)
        status = tw__dataset_apply_functions(self, args->self, &tw__op_GroupByWindowDataset, names, functions, FUNCTIONS,
                                             like.specs, like.count);
    status = tw__dataset_settle(self, status, like.structure, false);
    for (int i = 0; i < FUNCTIONS; i++)
        tw__data_traced_end(&functions[i]);
    tw__free(like.specs);
    return status;
}

TW_CLASS(
    dataset_group_by_window,
    "data._GroupByWindowDataset|data.Dataset.group_by_window(self: dataset, key_func: function, reduce_func: function, window_size: number "
    "= None, window_size_func: function = None, name: str = None, *, element: dataset = None) -> dataset",
    TW_STEP(grouped_init),
    .doc = "Elements grouped by a key, each group as the dataset that a function makes of it.\n"
           "key_func: a function that gives the key of an element, an int64\n"
           "reduce_func: a function of a key and a dataset of its elements that gives a dataset\n"
           "window_size: how many elements of a key make a group\n"
           "window_size_func: a function that gives that number for a key, instead of one for all\n"
           "element: a dataset like those of `reduce_func`, for functions whose graph does not tell");
