/* Reading functions out of GraphDefs; see library.h.
 *
 * A function is built after all that it calls. They are found with a stack of our own, as the depth of nesting is the file's to
 * choose; but calls nest on the machine's stack when they run, so more than NESTING levels are refused. */
#include "function/library_inside.h"

#include "graph/lower.h"
#include "op/guard.h"

enum { NESTING = 256 };

static void library_destroy(void *self)
{
    tw__library *library = self;
    for (size_t i = 0; library->entries && i < library->message.function_count; i++)
        tw_release(library->entries[i].function);
    tw__free(library->entries);
    tw__map_free(&library->names, NULL);
    for (size_t i = 0; i < library->gradient_count; i++)
        tw_release(library->gradients[i]);
    tw__free(library->gradients);
    tw__map_free(&library->gradient_types, NULL);
    tw__free(library->wanted);
    tw__graph_message_free(&library->message);
    tw__free(library->bytes);
    tw__free(library->guard);
}

const tw_class tw__library_class = { .name = "Library", .size = sizeof(tw__library), .destroy = library_destroy };

const tw__graph_message *tw__library_message(const tw__library *library)
{
    return &library->message;
}

static tw_status read_all(tw__library *library, size_t size)
{
    tw__graph_message *message = &library->message;
    TW_TRY(tw__graph_message_read(message, library->bytes, size));
    TW_TRY(tw__graph_lower(message));
    if (message->min_consumer > TW_GRAPH_PRODUCER)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "GraphDef min consumer version %lld above current version %d for TensorFlow 2.15. Please upgrade TensorFlow.",
            (long long)message->min_consumer, TW_GRAPH_PRODUCER);
    library->entries = tw__alloc_array(message->function_count + 1, sizeof *library->entries);
    TW_NEED(library->entries);
    for (size_t i = 0; i < message->function_count; i++) {
        tw_string name = message->functions[i].name;
        if (!name.size || memchr(name.data, 0, name.size))
            return tw__fail(TW_INVALID_ARGUMENT, "GraphDef: function %zu of the library has no proper name", i);
        if (tw__map_has(&library->names, name.data, name.size))
            return tw__fail(TW_INVALID_ARGUMENT, "GraphDef: the library has two functions named '%.*s'", TW_SHOWN(name));
        TW_TRY(tw__map_put(&library->names, name.data, name.size, (void *)(intptr_t)(i + 1)));
    }
    return tw__library_read_gradients(library);
}

/* Takes the bytes. */
static tw__library *library_of(char *bytes, size_t size)
{
    tw__library *library = bytes ? tw__object_new(&tw__library_class) : NULL;
    if (!library) {
        tw__free(bytes);
        return NULL;
    }
    library->bytes = bytes;
    /* What may be made beyond the file's own size: constants of one repeated value. */
    library->budget = (size_t)1 << 30;
    library->budget += size < SIZE_MAX / 64 ? size * 16 : 0;
    library->guard = tw__guard_loading ? tw__guard_path(tw__guard_loading) : NULL;
    if ((tw__guard_loading && !library->guard) || read_all(library, size) != TW_OK) {
        tw_release(library);
        return NULL;
    }
    return library;
}

tw__library *tw__library_read(const void *data, size_t size)
{
    char *bytes = tw__alloc(size + 1);
    if (bytes && size)
        memcpy(bytes, data, size);
    return library_of(bytes, size);
}

tw__library *tw__library_read_file(const char *path)
{
    size_t size = 0;
    char *bytes = tw__file_read_all(path, (size_t)1 << 31, &size);
    tw__library *library = library_of(bytes, size);
    if (!library && bytes)
        tw__error_prefix("%s: ", path);
    return library;
}

/* The node that an input or a fetch names: "^a", "a:1" are "a". */
static tw_string node_name(tw_string text)
{
    if (text.size && text.data[0] == '^') {
        text.data++;
        text.size--;
    }
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    text.size = colon ? (size_t)(colon - text.data) : text.size;
    return text;
}

static void mark(const tw__map *places, tw_string text, size_t *queue, size_t *count, bool *needed)
{
    tw_string name = node_name(text);
    intptr_t place = (intptr_t)tw__map_get(places, name.data, name.size);
    if (place && !needed[place - 1]) {
        needed[place - 1] = true;
        queue[(*count)++] = (size_t)(place - 1);
    }
}

tw_status tw__library_keep(tw__library *library, const tw_string *names, size_t count)
{
    tw__graph_message *message = &library->message;
    tw__auto(tw__map_end) tw__map places = { 0 };
    tw__owned bool *needed = tw__alloc_array(message->node_count + 1, sizeof *needed);
    tw__owned size_t *queue = tw__alloc_array(message->node_count + 1, sizeof *queue);
    size_t queued = 0, kept = 0;
    TW_NEED(needed && queue);
    for (size_t i = 0; i < message->node_count; i++)
        TW_TRY(tw__map_put(&places, message->nodes[i].name.data, message->nodes[i].name.size, (void *)(intptr_t)(i + 1)));
    for (size_t i = 0; i < count; i++)
        mark(&places, names[i], queue, &queued, needed);
    for (size_t next = 0; next < queued; next++) {
        const tw__node_message *node = &message->nodes[queue[next]];
        for (size_t k = 0; k < node->input_count; k++)
            mark(&places, node->inputs[k], queue, &queued, needed);
    }
    for (size_t i = 0; i < message->node_count; i++) {
        if (needed[i]) {
            message->nodes[kept++] = message->nodes[i];
        } else {
            tw__free(message->nodes[i].inputs);
            tw__free(message->nodes[i].attrs);
        }
    }
    message->node_count = kept;
    return TW_OK;
}

/* ---- building one function ---- */

int tw__library_find(const tw__library *library, tw_string name)
{
    return (int)((intptr_t)tw__map_get(&library->names, name.data, name.size) - 1);
}

/* For attrs of nodes: what a function calls is built before it. */
static void *find_built(void *context, tw_string name)
{
    tw__library *library = context;
    int index = tw__library_find(library, name);
    if (index < 0 || !library->entries[index].function) {
        tw__fail(TW_NOT_FOUND, "the function '%.*s', which is not in the library", TW_SHOWN(name));
        return NULL;
    }
    return library->entries[index].function;
}

static tw_status argument_shape(const tw__argument_message *argument, tw_shape *shape)
{
    *shape = TW_UNKNOWN_SHAPE;
    if (argument->dtype == TW_RESOURCE || argument->dtype == TW_VARIANT)
        *shape = argument->dtype == TW_RESOURCE ? TW_SCALAR : TW_UNKNOWN_SHAPE;
    if (!argument->shapes.data || argument->dtype == TW_RESOURCE)
        return TW_OK;
    tw_attr attr = { 0 };
    tw__owned void *block = NULL;
    void *object = NULL;
    size_t budget = 0;
    TW_TRY(tw__attr_message_read(argument->shapes, TW_ATTR_SHAPES, NULL, &budget, &attr, &block, &object));
    if (attr.count == 1)
        *shape = attr.shapes[0];
    return TW_OK;
}

/* The arguments as placeholders, and under their names what bodies refer to: "x", and "^x" for order. */
static tw_status make_arguments(const tw__function_message *message, tw__graph *graph, tw__node **inputs, tw__edge *edges,
                                tw__map *given)
{
    for (size_t i = 0; i < message->argument_count; i++) {
        const tw__argument_message *argument = &message->arguments[i];
        if (!argument->plain || !argument->name.size || argument->name.size > 10000 ||
            memchr(argument->name.data, 0, argument->name.size))
            return tw__fail(TW_UNIMPLEMENTED, "argument %zu ('%.*s') has no dtype of its own", i, TW_SHOWN(argument->name));
        tw_shape shape;
        TW_TRY(argument_shape(argument, &shape));
        tw__owned char *text = tw__format("^%.*s", (int)argument->name.size, argument->name.data);
        tw_tensor *placeholder = text ? tw__graph_placeholder(graph, argument->dtype, &shape, text + 1) : NULL;
        tw_status status = placeholder ? TW_OK : tw__error_status();
        if (placeholder) {
            inputs[i] = placeholder->node;
            edges[i] = (tw__edge){ placeholder->node, 0 };
            tw_release(placeholder);
            status = tw__map_put(given, text, strlen(text), &edges[i]);
            if (status == TW_OK)
                status = tw__map_put(given, text + 1, strlen(text + 1), &edges[i]);
        }
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status find_results(const tw__function_message *message, const tw__build *build, tw__edge *results)
{
    for (size_t i = 0; i < message->result_count; i++) {
        const tw__argument_message *result = &message->results[i];
        tw_string text = { NULL, 0 };
        for (size_t k = message->return_count; k-- > 0 && !text.data;) {
            tw_string name = message->returns[k].name;
            if (name.size == result->name.size && memcmp(name.data, result->name.data, name.size) == 0)
                text = message->returns[k].value;
        }
        if (!text.data)
            return tw__fail(TW_INVALID_ARGUMENT, "the result '%.*s' is not returned", TW_SHOWN(result->name));
        TW_TRY(tw__build_edge(build, text, &results[i]));
        const tw__node *node = results[i].node;
        if (!result->plain || text.data[0] == '^' || node->out_dtypes[results[i].output] != result->dtype)
            return tw__fail(TW_INVALID_ARGUMENT, "the result '%.*s' is %s, but %.*s is something else", TW_SHOWN(result->name),
                            tw_dtype_name(result->dtype), TW_SHOWN(text));
    }
    return TW_OK;
}

static tw__function *build_function(tw__library *library, const tw__function_message *message)
{
    tw_auto tw__graph *graph = tw__graph_new(NULL);
    tw__owned char *name = tw__strndup(message->name.data, message->name.size);
    tw__owned tw__node **inputs = tw__alloc_array(message->argument_count + 1, sizeof *inputs);
    tw__owned tw__edge *edges = tw__alloc_array(message->argument_count + 1, sizeof *edges);
    tw__owned tw__edge *results = tw__alloc_array(message->result_count + 1, sizeof *results);
    tw__auto(tw__map_end) tw__map given = { 0 };
    tw__auto(tw__build_end) tw__build build = { .graph = graph,
                                                .nodes = message->nodes,
                                                .count = message->node_count,
                                                .function = !message->flat,
                                                .given = &given,
                                                .functions = { find_built, library },
                                                .budget = &library->budget,
                                                .guard = library->guard,
                                                .own_gradient = tw__library_own_gradient,
                                                .gradient_context = library };
    tw_status status = graph && name && inputs && edges && results ? TW_OK : tw__error_status();
    if (graph && name) {
        graph->read = true;
        graph->name = tw__strdup(name);
        status = graph->name ? status : TW_RESOURCE_EXHAUSTED;
    }
    if (status == TW_OK && (message->generic || message->argument_count > INT32_MAX / 4 || message->result_count > INT32_MAX / 4))
        status = tw__fail(TW_UNIMPLEMENTED, "it has attrs that its callers choose");
    if (status == TW_OK)
        status = make_arguments(message, graph, inputs, edges, &given);
    if (status == TW_OK)
        status = tw__graph_build(&build);
    if (status == TW_OK)
        status = find_results(message, &build, results);
    tw__function *function = NULL;
    if (status == TW_OK)
        function = tw__function_of_graph(name, graph, inputs, (int)message->argument_count, results, (int)message->result_count);
    if (status != TW_OK)
        tw__error_prefix("function '%.*s': ", TW_SHOWN(message->name));
    return function;
}

/* ---- functions that call functions ---- */

tw_status tw__library_add_called(void *context, tw_string name)
{
    tw__called *list = context;
    int index = tw__library_find(list->library, name);
    if (index < 0)
        return tw__fail(TW_NOT_FOUND, "node '%.*s' calls the function '%.*s', which is not in the library", TW_SHOWN(list->node),
                        TW_SHOWN(name));
    TW_TRY(TW_GROW(list->items, list->capacity, list->count + 1));
    list->items[list->count++] = index;
    return TW_OK;
}

tw_status tw__library_find_called(tw__called *list, const tw__node_message *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        list->node = nodes[i].name;
        for (size_t k = 0; k < nodes[i].attr_count; k++) {
            tw_string name = nodes[i].attrs[k].name;
            if (!name.size || name.data[0] != '_')
                TW_TRY(tw__attr_message_functions(nodes[i].attrs[k].value, tw__library_add_called, list));
        }
    }
    return TW_OK;
}

/* One level of the walk: a function, and where its calls stand in the list. */
typedef struct level {
    int index;
    size_t first, next;
} level;

static tw_status enter(tw__called *list, level *levels, size_t *depth, int index)
{
    tw__library *library = list->library;
    const tw__function_message *message = &library->message.functions[index];
    size_t first = list->count;
    if (tw__library_find_called(list, message->nodes, message->node_count) != TW_OK) {
        tw__error_prefix("function '%.*s': ", TW_SHOWN(message->name));
        return tw__error_status();
    }
    library->entries[index].open = true;
    library->entries[index].height = 1;
    levels[(*depth)++] = (level){ index, first, first };
    return TW_OK;
}

static tw_status leave(tw__called *list, level *levels, size_t *depth)
{
    tw__library *library = list->library;
    level *top = &levels[--*depth];
    tw__library_entry *done = &library->entries[top->index];
    const tw__function_message *message = &library->message.functions[top->index];
    done->open = false;
    list->count = top->first;
    if (done->height > NESTING)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "function '%.*s': functions are nested more than %d deep", TW_SHOWN(message->name),
                        NESTING);
    done->function = build_function(library, message);
    return done->function ? TW_OK : tw__error_status();
}

/* Builds what is in the list, and before it what that calls. */
tw_status tw__library_build_called(tw__called *list)
{
    tw__library *library = list->library;
    tw__owned level *levels = tw__alloc_array(library->message.function_count + 2, sizeof *levels);
    TW_NEED(levels);
    size_t depth = 1;
    levels[0] = (level){ -1, 0, 0 };
    tw_status status = TW_OK;
    while (status == TW_OK) {
        level *top = &levels[depth - 1];
        if (top->next == list->count) {
            if (depth == 1)
                break;
            int height = library->entries[top->index].height;
            status = leave(list, levels, &depth);
            tw__library_entry *caller = depth > 1 ? &library->entries[levels[depth - 1].index] : NULL;
            if (caller && caller->height <= height)
                caller->height = height + 1;
            continue;
        }
        int index = list->items[top->next++];
        const tw__library_entry *next = &library->entries[index];
        if (next->open) {
            status =
                tw__fail(TW_INVALID_ARGUMENT, "function '%.*s' calls itself", TW_SHOWN(library->message.functions[index].name));
        } else if (next->function) {
            tw__library_entry *caller = top->index >= 0 ? &library->entries[top->index] : NULL;
            if (caller && caller->height <= next->height)
                caller->height = next->height + 1;
        } else {
            status = enter(list, levels, &depth, index);
        }
    }
    while (depth > 1)
        library->entries[levels[--depth].index].open = false;
    return status;
}

tw__function *tw__library_function(tw__library *library, const char *name)
{
    tw_string wanted = { name, strlen(name) };
    int index = tw__library_find(library, wanted);
    if (index < 0) {
        tw__fail(TW_NOT_FOUND, "there is no function '%s' in the library", name);
        return NULL;
    }
    tw__auto(tw__called_end) tw__called list = { .library = library };
    if (tw__library_add_called(&list, wanted) != TW_OK)
        return NULL;
    if (tw__library_build_called(&list) != TW_OK)
        return NULL;
    if (tw__library_build_gradients(library) != TW_OK)
        return NULL;
    return library->entries[index].function;
}

tw_status tw__library_add_to(tw__library *library, tw__graph *graph, const char *prefix, const tw__map *given, tw__build *build)
{
    const tw__graph_message *message = &library->message;
    *build = (tw__build){ .graph = graph,
                          .nodes = message->nodes,
                          .count = message->node_count,
                          .prefix = prefix,
                          .given = given,
                          .functions = { find_built, library },
                          .budget = &library->budget,
                          .guard = library->guard,
                          .own_gradient = tw__library_own_gradient,
                          .gradient_context = library };
    tw__auto(tw__called_end) tw__called list = { .library = library };
    TW_TRY(tw__library_find_called(&list, message->nodes, message->node_count));
    TW_TRY(tw__library_build_called(&list));
    TW_TRY(tw__graph_build(build));
    return tw__library_build_gradients(library);
}

tw__graph *tw__graphdef_read(tw__library *library)
{
    tw_auto tw__graph *graph = tw__graph_new(NULL);
    tw__auto(tw__build_end) tw__build build = { 0 };
    if (!graph)
        return NULL;
    if (tw__library_add_to(library, graph, NULL, NULL, &build) != TW_OK)
        return NULL;
    return TW_TAKE(graph);
}
