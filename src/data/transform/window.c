/* Elements in groups without stacking them: window (a dataset per component), group_by_window; and unbatch, the inverse of batch.
 */
#include "data/state.h"
#include <math.h>

#include "data/element_spec.h"
#include "rows.h"

/* ---- window ---- */

typedef struct window_dataset {
    tw__dataset base;
    int64_t size, shift, stride;
    bool drop_remainder;
} window_dataset;

typedef struct window_cursor {
    tw__cursor base;
    tw__elements buffer;
    bool input_ended;
} window_cursor;

static int64_t span(const window_dataset *self)
{
    return (self->size - 1) * self->stride + 1;
}

static tw_status window_start(tw__cursor *cursor)
{
    ((window_cursor *)cursor)->buffer.count = cursor->dataset->input->count;
    return TW_OK;
}

static void window_stop(tw__cursor *cursor)
{
    tw__elements_free(&((window_cursor *)cursor)->buffer);
}

/* Elements at the front go. */
static void drop_first(tw__elements *buffer, size_t count)
{
    size_t width = (size_t)buffer->count, gone = count < buffer->size ? count : buffer->size;
    for (size_t i = 0; i < gone * width; i++)
        tw_release(buffer->items[i]);
    memmove(buffer->items, buffer->items + gone * width, (buffer->size - gone) * width * sizeof *buffer->items);
    buffer->size -= gone;
}

/* The dataset of component k of the elements of a window. */
static tw_tensor *component(const window_cursor *c, const window_dataset *self, int k)
{
    tw__elements one = { .count = 1 };
    const tw__dataset *input = self->base.input;
    for (int64_t i = 0; i < self->size && i * self->stride < (int64_t)c->buffer.size; i++) {
        tw_tensor **room = tw__elements_room(&one);
        if (!room) {
            tw__elements_free(&one);
            return NULL;
        }
        *room = tw_retain(c->buffer.items[i * self->stride * input->count + k]);
        one.size++;
    }
    tw__dataset *made = tw__dataset_of_elements(&one, &input->dtypes[k], &input->shapes[k]);
    tw_tensor *variant = made ? tw__tensor_of_object(TW_VARIANT, made) : NULL;
    tw_release(made);
    return variant;
}

static tw_status window_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    window_cursor *c = (window_cursor *)cursor;
    const window_dataset *self = (const window_dataset *)cursor->dataset;
    while (!c->input_ended && (int64_t)c->buffer.size < span(self)) {
        TW_TRY(tw__pause());
        tw_tensor **room = tw__elements_room(&c->buffer);
        if (!room)
            return tw__error_status();
        TW_TRY(tw__cursor_next(cursor->input, room, &c->input_ended));
        c->buffer.size += !c->input_ended;
    }
    *end = c->buffer.size == 0 || (self->drop_remainder && (int64_t)c->buffer.size < span(self));
    for (int k = 0; !*end && k < self->base.count; k++) {
        if (!(element[k] = component(c, self, k))) {
            tw__element_end(element, k);
            return tw__error_status();
        }
    }
    if (*end)
        return TW_OK;
    int64_t skipped = self->shift - (int64_t)c->buffer.size;
    drop_first(&c->buffer, (size_t)self->shift);
    for (int64_t i = 0; i < skipped && !c->input_ended; i++) {
        tw_tensor **room = tw__elements_room(&c->buffer);
        if (!room)
            return tw__error_status();
        tw_status status = tw__cursor_next(cursor->input, room, &c->input_ended);
        if (status == TW_OK && !c->input_ended)
            tw__element_end(room, c->buffer.count);
        if (status != TW_OK) {
            tw__element_end(element, self->base.count);
            return status;
        }
    }
    return TW_OK;
}

static int64_t window_cardinality(tw__dataset *dataset)
{
    const window_dataset *self = (const window_dataset *)dataset;
    int64_t n = tw__dataset_cardinality(dataset->input);
    if (n < 0)
        return n;
    int64_t whole = n < span(self) ? 0 : (n - span(self)) / self->shift + 1;
    return self->drop_remainder ? whole : (n + self->shift - 1) / self->shift;
}

static void window_state(tw__cursor *cursor, tw__state *state)
{
    window_cursor *c = (window_cursor *)cursor;
    const window_dataset *self = (const window_dataset *)cursor->dataset;
    tw__state_same(state, "size", self->size);
    tw__state_same(state, "shift", self->shift);
    tw__state_same(state, "stride", self->stride);
    tw__state_same(state, "drop_remainder", self->drop_remainder);
    tw__state_elements(state, "buffer", &c->buffer);
    tw__state_bool(state, "input_ended", &c->input_ended);
}

static const tw__dataset_kind window_kind = {
    .class = TW_DATASET_CLASS("WindowDataset", window_dataset, NULL),
    .cursor_size = sizeof(window_cursor),
    .start = window_start,
    .next = window_next,
    .stop = window_stop,
    .cardinality = window_cardinality,
    .state = window_state,
};

static tw_status window_compute(tw__kernel *kernel)
{
    static const char *const names[] = { "size", "shift", "stride" };
    int64_t values[3];
    for (int i = 0; i < 3; i++) {
        values[i] = tw_tensor_int_at(kernel->inputs[1 + i], 0);
        if (values[i] < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Window %s must be greater than zero.", names[i]);
    }
    window_dataset *self = tw__dataset_make(kernel, &window_kind, true);
    if (!self)
        return tw__error_status();
    self->size = values[0];
    self->shift = values[1];
    self->stride = values[2];
    self->drop_remainder = *(const bool *)kernel->inputs[4]->data;
    int64_t all;
    if (self->base.count != self->base.input->count || __builtin_mul_overflow(self->size, self->stride, &all)) {
        tw_release(self);
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a window of %lld by %lld elements", (long long)values[0],
                          (long long)values[2]);
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(WindowDataset, .inputs = "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool",
      .attrs = TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP, .shape = tw__scalars_shape, .compute = window_compute,
      .doc = "Datasets of size elements, every stride-th; the next one begins shift elements farther.");

static tw_status window_leaf(__attribute__((unused)) void *context, const tw_value *leaf, tw_value *mapped)
{
    *mapped = tw__dataset_spec_new(leaf);
    return mapped->kind == TW_VALUE_OBJECT ? TW_OK : tw__error_status();
}

static tw_status window_init(void *self, const void *arguments)
{
    const tw_dataset_window_args *args = arguments;
    bool shifted = args->shift_object || args->shift == args->shift;
    tw_spec *specs = tw__alloc_array((size_t)args->self->count + 1, sizeof *specs);
    for (int i = 0; specs && i < args->self->count; i++)
        specs[i] = (tw_spec){ TW_VARIANT, TW_SCALAR };
    if (!specs)
        return tw__error_status();
    tw_value structure = { .kind = TW_VALUE_NONE };
    tw_status status = tw__dataset_step(self, args->self, specs, &tw__op_WindowDataset,
                                        TW_IN(tw__data_number(args->size, args->size_object, "size"),
                                              shifted ? tw__data_number(args->shift, args->shift_object, "shift")
                                                      : tw__data_number(args->size, args->size_object, "size"),
                                              tw__data_number(args->stride, args->stride_object, "stride"),
                                              tw_tensor_bool(args->drop_remainder)),
                                        4, NULL, 0);
    if (status == TW_OK)
        status = tw__structure_map(&args->self->structure, window_leaf, NULL, &structure);
    return tw__dataset_settle(self, status, structure, true);
}

TW_CLASS(
    dataset_window,
    "data._WindowDataset|data.Dataset.window(self: dataset, size: number, shift: number = None, stride: number = 1, drop_remainder: bool = "
    "False, name: str = None) -> dataset",
    TW_STEP(window_init), .doc = "Elements in groups: each component of an element is a dataset of the group's.");

/* ---- group_by_window ---- */

typedef struct group {
    int64_t key, size;
    tw__elements elements;
} group;

typedef struct grouped_dataset {
    tw__dataset base;
    tw__data_function key, reduce, size;
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
    tw__data_function_end(&self->key);
    tw__data_function_end(&self->reduce);
    tw__data_function_end(&self->size);
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
    if (!number || tw__data_number_of(&self->size, &number, 1, "GroupByWindowDataset", &made.size) != TW_OK)
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
    c->current = c->arguments[0] && c->arguments[1]
                     ? tw__data_cursor_of(&self->reduce, c->arguments, 2, NULL, 0, "GroupByWindowDataset", self->base.count)
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
    tw_tensor **element = tw__alloc_array((size_t)count + 1, sizeof *element);
    int64_t key = 0;
    tw_status status = element ? tw__cursor_next(c->base.input, element, &c->input_ended) : tw__error_status();
    bool got = status == TW_OK && !c->input_ended;
    if (got)
        status = tw__data_number_of(&self->key, element, count, "GroupByWindowDataset", &key);
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
    tw__free(element);
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
    tw__state_function(state, &self->key);
    tw__state_function(state, &self->reduce);
    tw__state_function(state, &self->size);
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
    grouped_dataset *self = tw__dataset_make(kernel, &grouped_kind, true);
    if (!self)
        return tw__error_status();
    int keys = tw__data_list_count(kernel, "Tkey_func_other_arguments"),
        reduces = tw__data_list_count(kernel, "Treduce_func_other_arguments");
    tw_status status = tw__data_function_read(&self->key, kernel, "key_func", 1, keys);
    if (status == TW_OK)
        status = tw__data_function_read(&self->reduce, kernel, "reduce_func", 1 + keys, reduces);
    if (status == TW_OK)
        status = tw__data_function_read(&self->size, kernel, "window_size_func", 1 + keys + reduces,
                                        tw__data_list_count(kernel, "Twindow_size_func_other_arguments"));
    if (status != TW_OK) {
        tw_release(self);
        return status;
    }
    return tw__dataset_give(kernel, self);
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
    return tw_give(TW_CALL(Cast, TW_IN(number), TW_WITH(TW_A_TYPE("DstT", TW_INT64))));
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
    if (!made)
        return tw__error_status();
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

/* functions: of the key, of the group, of the group's size. */
static tw_status apply_grouped(struct tw_dataset *self, const struct tw_dataset *input, tw__traced *functions,
                               const struct tw_dataset *like)
{
    const tw__function *all[3] = { functions[0].function, functions[1].function, functions[2].function };
    tw_dtype *captured[3] = { NULL };
    int count = 0;
    tw_tensor **inputs = tw__data_inputs(&input->variant, 1, all, 3, NULL, 0, &count);
    tw_status status = inputs ? TW_OK : tw__error_status();
    if (inputs) {
        tw_attr attrs[] = { TW_A_FUNC("key_func", functions[0].function),
                            TW_A_FUNC("reduce_func", functions[1].function),
                            TW_A_FUNC("window_size_func", functions[2].function),
                            tw__data_capture_types("Tkey_func_other_arguments", all[0], &captured[0]),
                            tw__data_capture_types("Treduce_func_other_arguments", all[1], &captured[1]),
                            tw__data_capture_types("Twindow_size_func_other_arguments", all[2], &captured[2]) };
        status = captured[0] && captured[1] && captured[2]
                     ? tw__dataset_apply(self, &tw__op_GroupByWindowDataset, inputs, count, attrs, 6, like->specs, like->count)
                     : tw__error_status();
    }
    for (int i = 0; i < 3; i++)
        tw__free(captured[i]);
    tw__free(inputs);
    return status;
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

static tw_status grouped_init(void *self, const void *arguments)
{
    const tw_dataset_group_by_window_args *args = arguments;
    const struct tw_dataset *input = args->self;
    struct tw_dataset like = { .count = 0 };
    tw__traced functions[3] = { { 0 } };
    if (!tw__data_given(args->window_size, args->window_size_object) == !args->window_size_func)
        return tw__fail(TW_VALUE_ERROR,
                        "Either the `window_size` argument or the `window_size_func` argument must be specified.");
    tw_value key = { .kind = TW_VALUE_OBJECT, .object = tw__tensor_spec_new(TW_INT64, &TW_SCALAR, NULL) };
    tw_value members = tw__dataset_spec_new(&input->structure);
    tw_status status = key.object && members.object ? TW_OK : tw__error_status();
    if (status == TW_OK)
        status = tw__data_trace(args->key_func, "group_by_window", TW_STRUCTURES(&input->structure), 1, &functions[0]);
    if (status == TW_OK)
        status = as_int64(&functions[0], input->specs, input->count);
    if (status == TW_OK)
        status = trace_size(args, &key, &functions[2]);
    if (status == TW_OK)
        status = tw__data_trace(args->reduce_func, "group_by_window", TW_STRUCTURES(&key, &members), 2, &functions[1]);
    if (status == TW_OK)
        status = group_structure(&functions[1], args->element, &like);
    if (status == TW_OK)
        status = apply_grouped(self, input, functions, &like);
    status = tw__dataset_settle(self, status, like.structure, false);
    for (int i = 0; i < 3; i++)
        tw__data_traced_end(&functions[i]);
    tw__free(like.specs);
    tw_value_free(&key);
    tw_value_free(&members);
    return status;
}

TW_CLASS(
    dataset_group_by_window,
    "data._GroupByWindowDataset|data.Dataset.group_by_window(self: dataset, key_func: function, reduce_func: function, window_size: number "
    "= None, window_size_func: function = None, name: str = None, *, element: dataset = None) -> dataset",
    TW_STEP(grouped_init), .doc = "Elements grouped by a key, each group as the dataset that a function makes of it.");

/* ---- unbatch ---- */

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
    tw_value value = { .kind = TW_VALUE_NONE }, row = { .kind = TW_VALUE_NONE };
    int count = 0;
    tw_tensor **tensors = tw__alloc_array((size_t)in.count + 1, sizeof *tensors);
    for (int64_t i = 0; tensors && i < in.count; i++)
        tensors[i] = tw_retain(in.items[i]);
    tw_status status = tensors ? tw__element_pack(&dataset->structure, tensors, (int)in.count, &value) : tw__error_status();
    tw__free(tensors);
    tw_tensor **rows = status == TW_OK ? tw__element_rows(&value, &row, &count) : NULL;
    tw_tensors given = rows ? tw_give_((tw_tensors){ rows, count }) : TW_GIVE_FAILURE;
    tw__free(rows);
    tw_value_free(&value);
    tw_value_free(&row);
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
         TW_STEP(unbatch_init), .doc = "The rows of elements: the inverse of batch.");
