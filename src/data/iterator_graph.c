/* Iterators of graphs that programs build: a session keeps them from run to run, as the state of the node that stands for them.
 *
 * IteratorV2 is at no dataset until MakeIterator was run. OneShotIterator begins by itself: it holds a function that makes its
 * dataset, a copy of the nodes that the dataset is made of. A string handle names an iterator of a session; as long as the node
 * that gave it has its state, the iterator can be found by it. */
#include <pthread.h>
#include <stdlib.h>

#include "codec/message.h"
#include "data/data.h"
#include "rows.h"
#include "session/session.h"

static void release_state(void *state)
{
    tw_release(state);
}

/* The iterator that the node stands for, made if there is none; borrowed. */
static struct tw_iterator *kept_iterator(tw__kernel *kernel)
{
    if (!kernel->state) {
        tw__fail(TW_UNIMPLEMENTED, "%s: iterators of this kind are for graphs; iter(dataset) is one that runs at once",
                 kernel->op->name);
        return NULL;
    }
    if (!*kernel->state)
        *kernel->state = tw_class_make(&tw__class_iterator, &(tw_iterator_args){ 0 });
    return *kernel->state;
}

static tw_status give_handle(tw__kernel *kernel, struct tw_iterator *iterator)
{
    tw_tensor *handle = iterator ? tw__tensor_of_object(TW_RESOURCE, iterator) : NULL;
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

static tw_status iterator_compute(tw__kernel *kernel)
{
    return give_handle(kernel, kept_iterator(kernel));
}

static tw_status start_one_shot(tw__kernel *kernel, struct tw_iterator *iterator)
{
    tw__data_function factory = { 0 };
    tw_tensor *variant = NULL;
    TW_TRY(tw__data_function_read(&factory, kernel, "dataset_factory", 0, 0));
    tw_status status = factory.function->output_count == 1
                           ? tw__data_call(&factory, NULL, 0, NULL, 0, &variant)
                           : TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the factory gives %d tensors, expected one dataset",
                                        factory.function->output_count);
    tw__dataset *dataset = status == TW_OK ? tw__dataset_of(kernel->op->name, variant) : NULL;
    status = dataset ? tw__iterator_start(iterator, dataset) : tw__error_status();
    tw_release(variant);
    tw__data_function_end(&factory);
    return status;
}

static tw_status one_shot_compute(tw__kernel *kernel)
{
    bool first = kernel->state && !*kernel->state;
    struct tw_iterator *iterator = kept_iterator(kernel);
    if (first && iterator && start_one_shot(kernel, iterator) != TW_OK) {
        tw_release(iterator);
        *kernel->state = NULL; /* the next run tries again */
        return tw__error_status();
    }
    return give_handle(kernel, iterator);
}

TW_OP(IteratorV2, .inputs = "", .outputs = "handle: resource", .attrs = "shared_name: string, container: string, " TW_ELEMENTS,
      .shape = tw_shape_scalar, .compute = iterator_compute, .stateful = true, .makes_outputs = true, .free_state = release_state,
      .no_gradient = true, .doc = "An iterator that the session keeps.");

TW_OP(Iterator, .inputs = "", .outputs = "handle: resource", .attrs = "shared_name: string, container: string, " TW_ELEMENTS,
      .shape = tw_shape_scalar, .compute = iterator_compute, .stateful = true, .makes_outputs = true, .free_state = release_state,
      .no_gradient = true, .doc = "IteratorV2 in an earlier form.");

TW_OP(OneShotIterator, .inputs = "", .outputs = "handle: resource",
      .attrs = "dataset_factory: func, " TW_ELEMENTS ", container: string = '', shared_name: string = ''",
      .shape = tw_shape_scalar, .compute = one_shot_compute, .stateful = true, .makes_outputs = true, .free_state = release_state,
      .no_gradient = true,
      .doc = "An iterator that the session keeps, over the dataset that a function makes when the first element is asked for.");

/* ---- string handles ---- */

typedef struct named {
    tw_object object;
    struct tw_iterator *iterator;
    int64_t number;
    struct named *next;
} named;

static tw__lock names_lock = TW__LOCK;
static named *names;
static int64_t numbers;

static void named_destroy(void *pointer)
{
    named *self = pointer;
    tw__lock_take(&names_lock);
    for (named **at = &names; *at; at = &(*at)->next) {
        if (*at == self) {
            *at = self->next;
            break;
        }
    }
    tw__lock_give(&names_lock);
    tw_release(self->iterator);
}

static const tw_class named_class = { .name = "IteratorName", .size = sizeof(named), .destroy = named_destroy };

static named *name_iterator(struct tw_iterator *iterator)
{
    named *self = tw__object_new(&named_class);
    if (!self)
        return NULL;
    self->iterator = tw_retain(iterator);
    tw__lock_take(&names_lock);
    self->number = ++numbers;
    self->next = names;
    names = self;
    tw__lock_give(&names_lock);
    return self;
}

/* A new reference; NULL: none has that number. */
static struct tw_iterator *iterator_numbered(int64_t number)
{
    struct tw_iterator *found = NULL;
    tw__lock_take(&names_lock);
    for (const named *at = names; at && !found; at = at->next) {
        if (at->number == number)
            found = tw_retain(at->iterator);
    }
    tw__lock_give(&names_lock);
    return found;
}

static const char type_name[] = "N10tensorflow4data16IteratorResourceE", place[] = "/job:localhost/replica:0/task:0/device:CPU:0";

static tw_status to_string_compute(tw__kernel *kernel)
{
    struct tw_iterator *iterator = tw__iterator_of(kernel, 0);
    if (!iterator)
        return tw__error_status();
    if (!kernel->state)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "names of iterators are for graphs");
    named *kept = *kernel->state;
    if (!kept || kept->iterator != iterator) {
        tw_release(kept);
        *kernel->state = kept = name_iterator(iterator);
    }
    char *name = kept ? tw__format("_%lld_IteratorV2", (long long)kept->number) : NULL;
    if (!name)
        return tw__error_status();
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__put_ResourceHandleProto_device(&text, place, sizeof place - 1);
    tw__put_ResourceHandleProto_container(&text, "localhost", 9);
    tw__put_ResourceHandleProto_name(&text, name, strlen(name));
    tw__put_ResourceHandleProto_maybe_type_name(&text, type_name, sizeof type_name - 1);
    tw_tensor *handle = text.failed ? NULL : tw_tensor_string(text.data, text.size);
    tw__free(name);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

static tw_status from_string_compute(tw__kernel *kernel)
{
    if (kernel->inputs[0]->shape.rank != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "string_handle must be a scalar");
    tw_string bytes = tw_tensor_string_at(kernel->inputs[0], 0);
    tw__ResourceHandleProto handle;
    char name[32] = "", *rest = name;
    if (tw__read_ResourceHandleProto(bytes, &handle) && handle.name.size < sizeof name)
        snprintf(name, sizeof name, "%.*s", (int)handle.name.size, handle.name.data);
    long long number = name[0] == '_' ? strtoll(name + 1, &rest, 10) : 0;
    if (number <= 0 || *rest != '_')
        return tw__fail(TW_INVALID_ARGUMENT, "Could not parse string_handle as a valid ResourceHandle");
    tw_auto struct tw_iterator *iterator = iterator_numbered(number);
    if (!iterator)
        return tw__fail(TW_NOT_FOUND, "Resource localhost/%s/%s does not exist.", name, type_name);
    tw_status status = give_handle(kernel, iterator);
    return status;
}

TW_OP(IteratorToStringHandle, .inputs = "resource_handle: resource", .outputs = "string_handle: string", .attrs = "",
      .shape = tw_shape_scalar, .compute = to_string_compute, .stateful = true, .makes_outputs = true,
      .free_state = release_state, .no_gradient = true, .doc = "A text by which an iterator can be found.");

TW_OP(IteratorFromStringHandleV2, .inputs = "string_handle: string", .outputs = "resource_handle: resource",
      .attrs = "output_types: list(type) >= 0 = [], output_shapes: list(shape) >= 0 = []", .shape = tw_shape_scalar,
      .compute = from_string_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "The iterator that a text names.");

TW_OP(IteratorFromStringHandle, .inputs = "string_handle: string", .outputs = "resource_handle: resource",
      .attrs = "output_types: list(type) >= 0 = [], output_shapes: list(shape) >= 0 = []", .shape = tw_shape_scalar,
      .compute = from_string_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "IteratorFromStringHandleV2 in an earlier form.");

/* ---- the function of a one-shot iterator ---- */

/* Whether what a node gives can be had again by calling it again. */
static tw_status check_copied(const tw__node *node)
{
    if (tw__node_is(node, TW_ROLE_PLACEHOLDER))
        return tw__fail(TW_VALUE_ERROR, "Cannot capture a placeholder (name:%s, type:%s) by value.", node->name, node->op->name);
    bool makes_dataset = strstr(node->op->name, "Dataset") || strstr(node->op->name, "SeedGenerator");
    if (node->op->free_state || (node->op->stateful && !makes_dataset))
        return tw__fail(
            TW_VALUE_ERROR,
            "Cannot capture a stateful node (name:%s, type:%s) by value.: A likely cause of this error is that the dataset for which you "
            "are calling `make_one_shot_iterator()` captures a stateful object, such as a `tf.Variable` or `tf.lookup.StaticHashTable`, "
            "which is not supported. Use `make_initializable_iterator()` instead.",
            node->name, node->op->name);
    return TW_OK;
}

static tw_status check_all_copied(const tw__graph *graph, const tw__node *last)
{
    tw__owned bool *needed = tw__alloc_array(graph->node_count + 1, sizeof *needed);
    TW_NEED(needed);
    needed[last->id] = true;
    for (size_t i = (size_t)last->id + 1; i-- > 0;) {
        const tw__node *node = graph->nodes[i];
        for (int k = 0; needed[i] && k < node->input_count; k++)
            needed[node->inputs[k].node->id] = true;
        for (int k = 0; needed[i] && k < node->control_count; k++)
            needed[node->controls[k]->id] = true;
        if (needed[i])
            TW_TRY(check_copied(node));
    }
    return TW_OK;
}

static tw_tensor *bind_nothing(__attribute__((unused)) void *context, const tw__node *node,
                               __attribute__((unused)) tw_tensor *outside)
{
    tw__fail(TW_VALUE_ERROR, "Cannot capture a stateful node (name:%s, type:%s) by value.", node->name, node->op->name);
    return NULL;
}

static tw__function *factory_of(const tw_tensor *variant)
{
    tw__graph *graph = variant->node->graph;
    tw__fetch fetch = { variant->node, variant->node_output };
    if (check_all_copied(graph, variant->node) != TW_OK)
        return NULL;
    tw__prepared *prepared = tw__prepare(graph, NULL, 0, &fetch, 1, true, bind_nothing, NULL);
    tw__function *function = prepared ? tw_retain(prepared->function) : NULL;
    if (prepared)
        tw__prepared_free(prepared);
    return function;
}

/* Calls an op that stands for an iterator over elements like the dataset's. */
static tw_tensor *call_for(const tw_op *op, const struct tw_dataset *dataset, tw_attr first, tw_attr second, const char *usual)
{
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)dataset->count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)dataset->count + 1, sizeof *shapes);
    tw_tensor *handle = NULL;
    for (int i = 0; dtypes && shapes && i < dataset->count; i++) {
        dtypes[i] = dataset->specs[i].dtype;
        shapes[i] = dataset->specs[i].shape;
    }
    tw__naming naming = tw__naming_begin();
    if (dtypes && shapes)
        handle = tw__call(op, NULL, 0,
                          (tw_attr[]){
                              first,
                              second,
                              TW_A_TYPES("output_types", dtypes, dataset->count),
                              { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = dataset->count, .shapes = shapes } },
                          4);
    if (tw__naming_end(naming, NULL, usual, handle) != TW_OK) {
        tw_release(handle);
        handle = NULL;
    }
    return handle;
}

static bool in_graph(const struct tw_dataset *dataset, const char *who)
{
    bool fine = tw__in_lasting() && dataset->variant->node && dataset->variant->node->graph == tw__tracing;
    if (!fine && !tw__in_lasting())
        tw__fail(TW_RUNTIME_ERROR, "`%s()` is not supported in eager mode. Use Python-style iteration instead.", who);
    else if (!fine)
        tw__fail(TW_VALUE_ERROR,
                 "The graph of the iterator is different from the graph the dataset was created in. If you are using the "
                 "Estimator API, make sure that no part of the dataset returned by the `input_fn` function is defined outside "
                 "the `input_fn` function. Otherwise, make sure that all datasets in the input pipeline are created in the same "
                 "graph as the iterator.");
    return fine;
}

TW_API(data_one_shot_iterator, "compat.v1.data._one_shot(dataset: dataset) -> tensor",
       "In a graph: an iterator over the dataset, which goes through it once in every session. IteratorGetNext steps.")
{
    if (!in_graph(args->dataset, "make_one_shot_iterator"))
        return NULL;
    tw_auto tw__function *factory = factory_of(args->dataset->variant);
    tw_tensor *handle = NULL;
    if (factory)
        handle = call_for(&tw__op_OneShotIterator, args->dataset, TW_A_FUNC("dataset_factory", factory),
                          TW_A_STRING("container", ""), "OneShotIterator");
    return handle;
}

TW_API(data_initializable_iterator, "compat.v1.data._initializable(dataset: dataset, shared_name: str = None) -> tensor",
       "In a graph: an iterator for datasets like this one, at none yet: run MakeIterator.")
{
    if (!in_graph(args->dataset, "make_initializable_iterator"))
        return NULL;
    return call_for(&tw__op_IteratorV2, args->dataset, TW_A_STRING("shared_name", args->shared_name ? args->shared_name : ""),
                    TW_A_STRING("container", ""), "IteratorV2");
}
