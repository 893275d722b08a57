/* Descriptions of datasets and the cursors that go through them; see data.h. */
#include <time.h>

#include "data/state.h"
#include "op/list/list.h"
#include "rows.h"

enum { DEPTH_LIMIT = 1000 };

static void dataset_destroy(void *self)
{
    tw__dataset *dataset = self;
    tw__free(dataset->dtypes);
    tw__free(dataset->shapes);
    tw_release(dataset->input);
}

const tw_class tw__dataset_class = { .name = "DatasetVariant", .size = sizeof(tw__dataset), .destroy = dataset_destroy };

tw_status tw__dataset_set_types(tw__dataset *dataset, const tw_dtype *dtypes, const tw_shape *shapes, int count)
{
    dataset->dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    dataset->shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    TW_NEED(dataset->dtypes && dataset->shapes);
    memcpy(dataset->dtypes, dtypes, (size_t)count * sizeof *dtypes);
    for (int i = 0; i < count; i++)
        dataset->shapes[i] = shapes ? shapes[i] : TW_UNKNOWN_SHAPE;
    dataset->count = count;
    return TW_OK;
}

static const tw_attr *find_attr(const tw__kernel *kernel, const char *name)
{
    const tw__op_signature *signature = tw__op_signature_of(kernel->op);
    for (int i = 0; signature && i < signature->attr_count; i++) {
        if (strcmp(signature->attrs[i].name, name) == 0)
            return &kernel->attrs[i];
    }
    return NULL;
}

static tw_status set_types_of_op(tw__kernel *kernel, tw__dataset *dataset)
{
    const tw_attr *types = find_attr(kernel, "output_types"), *shapes = find_attr(kernel, "output_shapes");
    types = types ? types : find_attr(kernel, "Toutput_types");
    if (!types) /* records and lines */
        return tw__dataset_set_types(dataset, &(tw_dtype){ TW_STRING }, &TW_SCALAR, 1);
    if (shapes && shapes->count != types->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d output_types and %d output_shapes", types->count, shapes->count);
    return tw__dataset_set_types(dataset, types->types, shapes ? shapes->shapes : NULL, types->count);
}

void *tw__dataset_make(tw__kernel *kernel, const tw__dataset_kind *kind, bool over_input)
{
    tw__dataset *input = over_input ? tw__dataset_of(kernel->op->name, kernel->inputs[0]) : NULL;
    if (over_input && !input)
        return NULL;
    if (input && input->depth >= DEPTH_LIMIT) {
        TW_OP_FAIL(kernel, TW_RESOURCE_EXHAUSTED, "datasets are nested more than %d deep", DEPTH_LIMIT);
        return NULL;
    }
    tw__dataset *made = tw__object_new(&kind->class);
    if (!made)
        return NULL;
    made->input = tw_retain(input);
    made->depth = input ? input->depth + 1 : 0;
    if (set_types_of_op(kernel, made) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

tw_status tw__dataset_give(tw__kernel *kernel, void *dataset)
{
    tw_tensor *variant = dataset ? tw__tensor_of_object(TW_VARIANT, dataset) : NULL;
    tw_release(dataset);
    return variant ? tw__output_take(kernel, 0, variant) : tw__error_status();
}

tw__dataset *tw__dataset_of(const char *who, const tw_tensor *variant)
{
    tw_object *object = variant && variant->dtype == TW_VARIANT ? tw__tensor_object(variant) : NULL;
    if (object && tw__is(object, &tw__dataset_class))
        return (tw__dataset *)object;
    tw__fail(TW_INVALID_ARGUMENT, "%s: the input is no dataset but %s", who, object ? tw_class_name(object) : "an empty variant");
    return NULL;
}

int64_t tw__dataset_cardinality(tw__dataset *dataset)
{
    const tw__dataset_kind *kind = tw__kind_of(dataset);
    return kind->cardinality ? kind->cardinality(dataset) : TW_UNKNOWN_COUNT;
}

int64_t tw__cardinality_same(tw__dataset *dataset)
{
    return tw__dataset_cardinality(dataset->input);
}

int64_t tw__cardinality_unknown(tw__dataset *dataset)
{
    (void)dataset;
    return TW_UNKNOWN_COUNT;
}

/* ---- cursors ---- */

static tw_status cursor_start(tw__cursor *cursor)
{
    const tw__dataset *dataset = cursor->dataset;
    const tw__dataset_kind *kind = tw__kind_of(dataset);
    if (dataset->input && !kind->starts_inputs && !(cursor->input = tw__cursor_new(dataset->input)))
        return tw__error_status();
    return kind->start ? kind->start(cursor) : TW_OK;
}

tw__cursor *tw__cursor_new(tw__dataset *dataset)
{
    const tw__dataset_kind *kind = tw__kind_of(dataset);
    tw__cursor *cursor = tw__alloc_zero(kind->cursor_size ? kind->cursor_size : sizeof *cursor);
    if (!cursor)
        return NULL;
    cursor->dataset = tw_retain(dataset);
    tw__stream_set *outer = tw__streams_now;
    cursor->streams = tw__streams_now = outer && outer->of_iteration ? tw_retain(outer) : tw__streams_new();
    if (cursor->streams)
        cursor->streams->of_iteration = true;
    tw_status status = cursor->streams ? cursor_start(cursor) : tw__error_status();
    tw__streams_now = outer;
    if (status == TW_OK)
        return cursor;
    tw__cursor_free(cursor);
    return NULL;
}

void tw__cursor_free(tw__cursor *cursor)
{
    if (!cursor)
        return;
    const tw__dataset_kind *kind = tw__kind_of(cursor->dataset);
    if (kind->stop)
        kind->stop(cursor);
    tw__cursor_free(cursor->input);
    tw_release(cursor->streams);
    tw_release(cursor->dataset);
    tw__free(cursor);
}

/* For profiles, as TensorFlow calls iterators: a step of kind PrefetchDataset is Iterator::Prefetch. */
static void report(const tw__dataset *dataset, int64_t began)
{
    char name[80];
    const char *kind = dataset->object.class->name, *end = strstr(kind, "Dataset");
    snprintf(name, sizeof name, "Iterator::%.*s", end ? (int)(end - kind) : (int)strlen(kind), kind);
    tw__op_report(name, NULL, began);
}

tw_status tw__cursor_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    *end = cursor->ended;
    if (cursor->ended)
        return TW_OK;
    tw__stream_set *outer = tw__streams_now;
    uint64_t path = tw__streams_path;
    tw__streams_now = cursor->streams;
    tw__streams_path = 0;
    int64_t began = atomic_load_explicit(&tw__op_reports, memory_order_relaxed) ? tw__step_clock() : 0;
    tw_status status = tw__kind_of(cursor->dataset)->next(cursor, element, end);
    if (began)
        report(cursor->dataset, began);
    tw__streams_now = outer;
    tw__streams_path = path;
    *end = status == TW_OK && *end; /* a step may have met the end of one dataset, and an error in the next one */
    cursor->ended = *end;
    return status;
}

void tw__element_end(tw_tensor **element, int count)
{
    for (int i = 0; i < count; i++) {
        tw_release(element[i]);
        element[i] = NULL;
    }
}

/* ---- several elements ---- */

tw_tensor **tw__elements_room(tw__elements *elements)
{
    size_t width = (size_t)elements->count;
    if (TW_GROW(elements->items, elements->capacity, (elements->size + 1) * width) != TW_OK)
        return NULL;
    return elements->items + elements->size * width;
}

tw_status tw__elements_fill(tw__elements *elements, tw__cursor *cursor, int64_t size)
{
    while ((int64_t)elements->size < size) {
        tw_tensor **room = tw__elements_room(elements);
        bool end = false;
        TW_NEED(room);
        TW_TRY(tw__pause());
        TW_TRY(tw__cursor_next(cursor, room, &end));
        if (end)
            break;
        elements->size++;
    }
    return TW_OK;
}

void tw__elements_free(tw__elements *elements)
{
    for (size_t i = 0; i < elements->size * (size_t)elements->count; i++)
        tw_release(elements->items[i]);
    tw__free(elements->items);
    *elements = (tw__elements){ .count = elements->count };
}

static tw_status stack_one(tw_tensor *const *items, int64_t size, int stride, tw_tensor **stacked)
{
    const tw_tensor *first = items[0];
    if (first->shape.rank >= TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "a batch of tensors of rank %d", first->shape.rank);
    tw_shape shape = tw__shape_stacked(&first->shape, size);
    tw_auto tw_tensor *out = tw__tensor_empty(first->dtype, &shape);
    TW_NEED(out);
    for (int64_t i = 0; i < size; i++) {
        const tw_tensor *item = items[i * stride];
        if (item->dtype != first->dtype || !tw__shape_equal(&item->shape, &first->shape))
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: %s, [batch]: %s",
                tw__shape_text(&item->shape), tw__shape_text(&first->shape));
        TW_TRY(tw__list_copy_elements(out, i * first->count, item, 0, first->count));
    }
    *stacked = TW_TAKE(out);
    return TW_OK;
}

tw_status tw__elements_stack(tw_tensor *const *items, int64_t size, int count, tw_tensor **stacked)
{
    for (int k = 0; k < count; k++) {
        tw_status status = stack_one(items + k, size, count, &stacked[k]);
        if (status != TW_OK) {
            tw__element_end(stacked, k);
            return status;
        }
    }
    return TW_OK;
}

/* ---- elements that are there ---- */

typedef struct listed_dataset {
    tw__dataset base;
    tw__elements elements;
} listed_dataset;

typedef struct listed_cursor {
    tw__cursor base;
    size_t at;
} listed_cursor;

static void listed_destroy(void *self)
{
    tw__elements_free(&((listed_dataset *)self)->elements);
}

static tw_status listed_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    listed_cursor *c = (listed_cursor *)cursor;
    const tw__elements *all = &((listed_dataset *)cursor->dataset)->elements;
    *end = c->at >= all->size;
    for (int i = 0; !*end && i < all->count; i++)
        element[i] = tw_retain(all->items[c->at * (size_t)all->count + (size_t)i]);
    c->at++;
    return TW_OK;
}

static int64_t listed_cardinality(tw__dataset *dataset)
{
    return (int64_t)((listed_dataset *)dataset)->elements.size;
}

static void listed_state(tw__cursor *cursor, tw__state *state)
{
    int64_t at = (int64_t)((listed_cursor *)cursor)->at;
    tw__state_int(state, "at", &at);
    ((listed_cursor *)cursor)->at = (size_t)at;
}

static const tw__dataset_kind listed_kind = {
    .class = TW_DATASET_CLASS("Window", listed_dataset, listed_destroy),
    .cursor_size = sizeof(listed_cursor),
    .next = listed_next,
    .cardinality = listed_cardinality,
    .state = listed_state,
};

tw__dataset *tw__dataset_of_elements(tw__elements *elements, const tw_dtype *dtypes, const tw_shape *shapes)
{
    listed_dataset *made = tw__object_new(&listed_kind.class);
    if (!made || tw__dataset_set_types(&made->base, dtypes, shapes, elements->count) != TW_OK) {
        tw_release(made);
        tw__elements_free(elements);
        return NULL;
    }
    made->elements = *elements;
    *elements = (tw__elements){ .count = elements->count };
    return &made->base;
}

static tw__dataset *listed_make(const tw_dtype *dtypes, const tw_shape *shapes, int count)
{
    tw__elements none = { .count = count };
    return tw__dataset_of_elements(&none, dtypes, shapes);
}

static void listed_elements_state(tw__dataset *dataset, tw__state *state)
{
    tw__state_elements(state, "elements", &((listed_dataset *)dataset)->elements);
}

const tw__packed_dataset tw__packed_listed = { .class = &listed_kind.class, .make = listed_make, .state = listed_elements_state };

/* ---- for the rows ---- */

tw_status tw__scalars_shape(tw__inference *inference)
{
    for (int i = 0; i < inference->input_count; i++)
        TW_TRY(tw__need_rank(inference, i, 0));
    return tw_shape_scalar(inference);
}

tw_status tw__elements_shape(tw__inference *inference)
{
    const tw_attr *shapes = TW_ATTR(inference, "output_shapes");
    if (shapes->count != inference->output_count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%d output_shapes for %d components", shapes->count,
                          inference->output_count);
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = shapes->shapes[i];
    return TW_OK;
}
