/* Elements in groups without stacking them: window, a dataset per component. */
#include "data/element_spec.h"
#include "data/state.h"
#include "rows.h"

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
    tw_auto tw__dataset *made = tw__dataset_of_elements(&one, &input->dtypes[k], &input->shapes[k]);
    return made ? tw__tensor_of_object(TW_VARIANT, made) : NULL;
}

static tw_status window_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    window_cursor *c = (window_cursor *)cursor;
    const window_dataset *self = (const window_dataset *)cursor->dataset;
    while (!c->input_ended && (int64_t)c->buffer.size < span(self)) {
        TW_TRY(tw__pause());
        tw_tensor **room = tw__elements_room(&c->buffer);
        TW_NEED(room);
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
        TW_NEED(room);
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
    TW_NEED(self);
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
    TW_NEED(specs);
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
    TW_STEP(window_init),
    .doc =
        "Elements in groups: each component of an element is a dataset of the group's.\n"
        "size: how many elements a group has\n"
        "shift: by how many elements groups move; None: `size`\n"
        "stride: the distance between two elements of a group\n"
        "example: [list(w.as_numpy_iterator()) for w in tf.data.Dataset.range(5).window(3, shift=2, drop_remainder=True)]  # [[0, 1, 2], [2, 3, 4]]");
