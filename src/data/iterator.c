/* Iterators: where programs stand in a dataset. In graphs an iterator is a resource: AnonymousIteratorV3 makes one, MakeIterator
 * puts it at the beginning of a dataset, IteratorGetNext steps. One that is there for Python or C programs is the same object. */
#include <pthread.h>

#include "base/pause.h"
#include "base/trackable.h"
#include "data/state.h"
#include "rows.h"

struct tw_iterator {
    tw_trackable trackable;
    tw__cursor *cursor;   /* NULL: not at a dataset yet */
    pthread_mutex_t lock; /* held while it steps */
    uint32_t generation;
    tw__external_state policy;
    tw_value structure; /* of an element; None if it was made without a dataset */
};

/* As TensorFlow's options call it; without one a state that can't be exact is refused. */
static tw_status read_policy(const char *name, tw__external_state *policy)
{
    static const char *const names[] = {
        [TW_EXTERNAL_WARN] = "WARN", [TW_EXTERNAL_IGNORE] = "IGNORE", [TW_EXTERNAL_FAIL] = "FAIL"
    };
    *policy = TW_EXTERNAL_FAIL;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *policy = (tw__external_state)i;
            return TW_OK;
        }
    }
    return name ? tw__fail(TW_INVALID_ARGUMENT, "iterator: external_state is \"%s\", expected WARN, IGNORE or FAIL", name)
                : TW_OK;
}

static tw_status iterator_init(void *pointer, const void *arguments)
{
    struct tw_iterator *self = pointer;
    const tw_iterator_args *args = arguments;
    pthread_mutex_init(&self->lock, NULL);
    self->generation = atomic_load(&tw__process_generation);
    TW_TRY(read_policy(args->external_state, &self->policy));
    if (!args->dataset)
        return TW_OK;
    tw__dataset *dataset = tw__dataset_of("iter", args->dataset->variant);
    TW_NEED(dataset);
    self->cursor = tw__cursor_new(dataset);
    self->structure = tw__value_copy(&args->dataset->structure);
    return self->cursor && self->structure.kind == args->dataset->structure.kind ? TW_OK : tw__error_status();
}

static void iterator_destroy(void *pointer)
{
    struct tw_iterator *self = pointer;
    tw__cursor_free(self->cursor);
    tw_value_free(&self->structure);
    pthread_mutex_destroy(&self->lock);
}

TW_CLASS(
    iterator, "data._Iterator(dataset: dataset = None, external_state: str = None) -> iterator", .parent = &tw__trackable_class,
    .size = sizeof(struct tw_iterator), .init = iterator_init, .destroy = iterator_destroy, .drop_config = true,
    .doc =
        "Goes through a dataset. A checkpoint saves and restores where it stands. external_state (WARN, IGNORE or FAIL) says what a save does "
        "about functions whose results depend on more than elements.");

static void take_lock(struct tw_iterator *self)
{
    uint32_t now = atomic_load(&tw__process_generation);
    if (self->generation != now) { /* forked: the thread that held it is not here */
        pthread_mutex_init(&self->lock, NULL);
        self->generation = now;
    }
    tw__mutex_take(&self->lock);
}

tw_status tw__iterator_next(struct tw_iterator *self, tw_tensor **element, bool *end)
{
    take_lock(self);
    tw__outside outside = tw__outside_begin();
    tw_status status =
        self->cursor ? tw__cursor_next(self->cursor, element, end)
                     : tw__fail(TW_FAILED_PRECONDITION, "GetNext() failed because the iterator has not been initialized. Ensure "
                                                        "that you have run the initializer operation for this iterator before "
                                                        "getting the next element.");
    status = tw__data_plain_error(status);
    if (status != TW_OK)
        tw__error_at_op("IteratorGetNext"); /* which Python and C programs do not call, but mean */
    tw__outside_end(outside);
    pthread_mutex_unlock(&self->lock);
    return status;
}

int tw__iterator_count(const struct tw_iterator *self)
{
    return self->cursor ? self->cursor->dataset->count : 0;
}

TW_METHOD(iterator_next, "data._Iterator.next_element(self: iterator) -> tensors",
          "The tensors of the next element; none at the end.")
{
    int count = tw__iterator_count(args->self);
    tw_tensors element = { tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    bool end = false;
    if (!element.items)
        return (tw_tensors){ 0 };
    if (tw__iterator_next(args->self, element.items, &end) != TW_OK || end) {
        tw__free(element.items);
        return (tw_tensors){ 0 };
    }
    return element;
}

const tw_value *tw__iterator_structure(const struct tw_iterator *self)
{
    return &self->structure;
}

TW_METHOD(iterator_element, "data._Iterator.element(self: iterator) -> value",
          "The next element in its structure: a tensor, or tuples and dicts of such; None at the end.")
{
    tw_value element = { .kind = TW_VALUE_NONE };
    int count = tw__iterator_count(args->self);
    tw__owned tw_tensor **tensors = tw__alloc_array((size_t)count + 1, sizeof *tensors);
    bool end = false;
    if (tensors && tw__iterator_next(args->self, tensors, &end) == TW_OK && !end)
        tw__element_pack(&args->self->structure, tensors, count, &element);
    return element;
}

TW_PROPERTY(iterator_resource, "data._Iterator._resource(self: iterator) -> tensor",
            "The tensor that stands for the iterator in graphs.")
{
    return tw__tensor_of_object(TW_RESOURCE, args->self);
}

/* ---- ops ---- */

struct tw_iterator *tw__iterator_of(tw__kernel *kernel, int input)
{
    tw_object *object = kernel->inputs[input]->dtype == TW_RESOURCE ? tw__tensor_object(kernel->inputs[input]) : NULL;
    if (object && tw__is(object, &tw__class_iterator))
        return (struct tw_iterator *)object;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the input is no iterator");
    return NULL;
}

static tw_status anonymous_compute(tw__kernel *kernel)
{
    tw_auto struct tw_iterator *made = tw_class_make(&tw__class_iterator, &(tw_iterator_args){ 0 });
    tw_tensor *handle = made ? tw__tensor_of_object(TW_RESOURCE, made) : NULL;
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

tw_status tw__iterator_start(struct tw_iterator *iterator, tw__dataset *dataset)
{
    tw__cursor *cursor = tw__cursor_new(dataset);
    TW_NEED(cursor);
    return tw__iterator_install(iterator, cursor, NULL);
}

tw_status tw__iterator_install(struct tw_iterator *iterator, tw__cursor *cursor, const tw_tensor *saved)
{
    take_lock(iterator);
    tw__outside outside = tw__outside_begin();
    tw__cursor *before = iterator->cursor;
    /* The threads of the old cursor draw seeds and fill caches of the same datasets. */
    tw_status status = saved && before ? tw__cursor_rest(before) : TW_OK;
    if (status == TW_OK) {
        iterator->cursor = cursor;
        tw__cursor_free(before);
        status = saved ? tw__cursor_settle(cursor, saved) : TW_OK;
    } else {
        tw__cursor_free(cursor);
    }
    tw__outside_end(outside);
    pthread_mutex_unlock(&iterator->lock);
    return status;
}

tw_tensor *tw__iterator_save(struct tw_iterator *iterator)
{
    take_lock(iterator);
    tw__outside outside = tw__outside_begin();
    tw_tensor *saved = NULL;
    if (iterator->cursor)
        saved = tw__cursor_save(iterator->cursor, iterator->policy);
    else
        tw__fail(TW_FAILED_PRECONDITION,
                 "Save() failed because the iterator has not been initialized. Ensure that you have run the initializer "
                 "operation for this iterator before saving it.");
    tw__outside_end(outside);
    pthread_mutex_unlock(&iterator->lock);
    return saved;
}

tw__cursor *tw__iterator_restored(struct tw_iterator *iterator, const tw_tensor *saved)
{
    take_lock(iterator);
    tw__dataset *dataset = iterator->cursor ? tw_retain(iterator->cursor->dataset) : NULL;
    pthread_mutex_unlock(&iterator->lock);
    if (!dataset) {
        tw__fail(TW_FAILED_PRECONDITION,
                 "Restore() failed because the iterator has not been initialized. Ensure that you have run the initializer "
                 "operation for this iterator before restoring it.");
        return NULL;
    }
    tw__outside outside = tw__outside_begin();
    tw__cursor *cursor = tw__cursor_restore(dataset, saved);
    tw__outside_end(outside);
    tw_release(dataset);
    return cursor;
}

TW_METHOD(iterator_save_state, "data._Iterator._save_state(self: iterator) -> tensor", "Where the iterator stands, as a string.")
{
    return tw__iterator_save(args->self);
}

TW_METHOD(iterator_restore_state, "data._Iterator._restore_state(self: iterator, state: tensor<string>)",
          "Puts the iterator where one over a dataset of the same steps stood.")
{
    tw__cursor *cursor = tw__iterator_restored(args->self, args->state);
    TW_NEED(cursor);
    return tw__iterator_install(args->self, cursor, args->state);
}

static tw_status make_compute(tw__kernel *kernel)
{
    struct tw_iterator *iterator = tw__iterator_of(kernel, 1);
    tw__dataset *dataset = iterator ? tw__dataset_of(kernel->op->name, kernel->inputs[0]) : NULL;
    return dataset ? tw__iterator_start(iterator, dataset) : tw__error_status();
}

static tw_status check_types(tw__kernel *kernel, tw_tensor *const *element, int count)
{
    const tw_attr *types = TW_ATTR(kernel, "output_types");
    if (types->count != count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "elements have %d components, expected %d", count, types->count);
    for (int i = 0; i < count; i++) {
        if (element[i]->dtype != types->types[i])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "component %d is %s, expected %s", i, tw_dtype_name(element[i]->dtype),
                              tw_dtype_name(types->types[i]));
    }
    return TW_OK;
}

/* The next element of the iterator in input 0, into an array from tw__alloc; NULL items at the end. */
static tw_status step(tw__kernel *kernel, tw_tensor ***items, int *count)
{
    struct tw_iterator *iterator = tw__iterator_of(kernel, 0);
    *items = NULL;
    TW_NEED(iterator);
    *count = tw__iterator_count(iterator);
    tw__owned tw_tensor **element = tw__alloc_array((size_t)*count + 1, sizeof *element);
    bool end = false;
    TW_NEED(element);
    TW_TRY(tw__iterator_next(iterator, element, &end));
    if (end)
        return TW_OK;
    tw_status checked = check_types(kernel, element, *count);
    if (checked != TW_OK)
        tw__element_end(element, *count);
    else
        *items = TW_TAKE(element);
    return checked;
}

static tw_status next_compute(tw__kernel *kernel)
{
    tw_tensor **element = NULL;
    int count = 0;
    TW_TRY(step(kernel, &element, &count));
    if (!element)
        return tw__fail(TW_OUT_OF_RANGE, "End of sequence");
    for (int i = 0; i < count; i++)
        kernel->outputs[i] = element[i];
    tw__free(element);
    return TW_OK;
}

TW_OP(AnonymousIteratorV3, .inputs = "", .outputs = "handle: resource",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", .shape = tw_shape_scalar,
      .compute = anonymous_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "A new iterator, at no dataset yet.");

TW_OP(AnonymousIterator, .inputs = "", .outputs = "handle: resource",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", .shape = tw_shape_scalar,
      .compute = anonymous_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "AnonymousIteratorV3 in an earlier form.");

TW_OP(MakeIterator, .inputs = "dataset: variant, iterator: resource", .outputs = "", .attrs = "", .shape = tw_shape_none,
      .compute = make_compute, .stateful = true, .no_gradient = true, .doc = "Puts an iterator at the beginning of a dataset.");

TW_OP(IteratorGetNext, .inputs = "iterator: resource", .outputs = "components: output_types",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", .shape = tw__elements_shape,
      .compute = next_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The next element; OUT_OF_RANGE at the end.");

TW_OP(IteratorGetNextSync, .inputs = "iterator: resource", .outputs = "components: output_types",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", .shape = tw__elements_shape,
      .compute = next_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The next element; OUT_OF_RANGE at the end.");

/* ---- optionals: an element, or nothing ---- */

typedef struct optional {
    tw_object object;
    tw_tensor **items; /* NULL: nothing */
    int count;
} optional;

static void optional_destroy(void *pointer)
{
    optional *self = pointer;
    for (int i = 0; self->items && i < self->count; i++)
        tw_release(self->items[i]);
    tw__free(self->items);
}

static const tw_class optional_class = { .name = "Optional", .size = sizeof(optional), .destroy = optional_destroy };

/* Takes the items. */
static tw_status give_optional(tw__kernel *kernel, tw_tensor **items, int count)
{
    optional *made = tw__object_new(&optional_class);
    if (!made) {
        tw__element_end(items, items ? count : 0);
        tw__free(items);
        return tw__error_status();
    }
    made->items = items;
    made->count = count;
    tw_tensor *variant = tw__tensor_of_object(TW_VARIANT, made);
    tw_release(made);
    return variant ? tw__output_take(kernel, 0, variant) : tw__error_status();
}

static tw_status next_optional_compute(tw__kernel *kernel)
{
    tw_tensor **element = NULL;
    int count = 0;
    TW_TRY(step(kernel, &element, &count));
    return give_optional(kernel, element, count);
}

static tw_status from_value_compute(tw__kernel *kernel)
{
    tw_tensor **items = tw__alloc_array((size_t)kernel->input_count + 1, sizeof *items);
    TW_NEED(items);
    for (int i = 0; i < kernel->input_count; i++)
        items[i] = tw_retain(kernel->inputs[i]);
    return give_optional(kernel, items, kernel->input_count);
}

static tw_status none_compute(tw__kernel *kernel)
{
    return give_optional(kernel, NULL, 0);
}

static optional *optional_of(tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (object && tw__is(object, &optional_class))
        return (optional *)object;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the input is no optional");
    return NULL;
}

static tw_status has_value_compute(tw__kernel *kernel)
{
    const optional *o = optional_of(kernel);
    TW_NEED(o);
    *(bool *)kernel->outputs[0]->data = o->items != NULL;
    return TW_OK;
}

static tw_status get_value_compute(tw__kernel *kernel)
{
    const optional *o = optional_of(kernel);
    TW_NEED(o);
    if (!o->items)
        return tw__fail(TW_INVALID_ARGUMENT, "The given optional does not have a value.");
    TW_TRY(check_types(kernel, o->items, o->count));
    for (int i = 0; i < o->count; i++)
        kernel->outputs[i] = tw_retain(o->items[i]);
    return TW_OK;
}

TW_OP(IteratorGetNextAsOptional, .inputs = "iterator: resource", .outputs = "optional: variant",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", .shape = tw_shape_scalar,
      .compute = next_optional_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The next element, or nothing at the end.");

TW_OP(OptionalFromValue, .inputs = "components: Toutput_types", .outputs = "optional: variant",
      .attrs = "Toutput_types: list(type) >= 1", .shape = tw_shape_scalar, .compute = from_value_compute, .makes_outputs = true,
      .no_gradient = true, .doc = "An optional that has a value.");

TW_OP(OptionalNone, .inputs = "", .outputs = "optional: variant", .attrs = "", .shape = tw_shape_scalar, .compute = none_compute,
      .makes_outputs = true, .no_gradient = true, .doc = "An optional without a value.");

TW_OP(OptionalHasValue, .inputs = "optional: variant", .outputs = "has_value: bool", .attrs = "", .shape = tw_shape_scalar,
      .compute = has_value_compute, .no_gradient = true, .doc = "Whether there is a value.");

TW_OP(OptionalGetValue, .inputs = "optional: variant", .outputs = "components: output_types",
      .attrs = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", .shape = tw__elements_shape,
      .compute = get_value_compute, .makes_outputs = true, .no_gradient = true, .doc = "The value; an error if there is none.");
