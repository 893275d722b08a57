/* Writing a graph and all functions that it reaches as one GraphDef; see library.h.
 *
 * Functions are written in the order in which they are met; each new one is put at the end of a list that is worked off, so the
 * depth of nesting does not matter. */
#include <ctype.h>
#include <stdio.h>

#include "function/library.h"

typedef struct writing {
    tw__function **functions; /* in the order of writing; borrowed */
    char **names;
    size_t count, capacity, name_capacity;
    tw__pointer_map places; /* function -> place in the list */
    tw__map taken;          /* names */
    bool shapes;            /* nodes tell their shapes */
} writing;

static void writing_end(writing *w)
{
    for (size_t i = 0; i < w->count; i++)
        tw__free(w->names[i]);
    tw__free(w->names);
    tw__free(w->functions);
    tw__pointer_map_free(&w->places);
    tw__map_free(&w->taken, NULL);
}

static uint64_t mix(uint64_t sum, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
    return sum;
}

static const char *name_for_sum(void *context, void *object)
{
    (void)context;
    return tw__is(object, &tw__function_class) ? ((tw__function *)object)->name : NULL;
}

/* A number that follows from what a function does: from its nodes, and from those of the functions it calls. */
static uint64_t sum_of(const tw__function *function, int depth)
{
    tw__text text = { 0 };
    tw__node_writer writer = { .ordered = true, .functions = { name_for_sum, NULL } };
    if (tw__graph_write_nodes(&text, TW_GraphDef_node, function->graph, &writer) != TW_OK)
        tw_clear_error(); /* what can't be written is refused when it is written */
    uint64_t sum = mix(0xcbf29ce484222325, text.data, text.size);
    tw__text_free(&text);
    for (int i = 0; i < function->output_count; i++) {
        char *edge = tw__edge_text(function->outputs[i], &writer);
        sum = mix(sum, edge, edge ? strlen(edge) : 0);
        tw__free(edge);
    }
    for (size_t n = 0; depth > 0 && n < function->graph->node_count; n++) {
        const tw__node *node = function->graph->nodes[n];
        for (int i = 0; i < node->attr_count; i++) {
            const tw_attr *attr = &node->attrs[i];
            int count = attr->kind == TW_ATTR_FUNC ? 1 : attr->kind == TW_ATTR_FUNCS ? attr->count : 0;
            for (int k = 0; k < count; k++) {
                const void *called = attr->kind == TW_ATTR_FUNC ? attr->func : attr->funcs[k];
                uint64_t inner = tw__is(called, &tw__function_class) ? sum_of(called, depth - 1) : 0;
                sum = mix(sum, &inner, sizeof inner);
            }
        }
    }
    return sum;
}

/* Bodies of loops and branches are named after what they are. Two files that hold such go together in one program all the same:
 * what has one name there is one function. */
static char *first_name(const tw__function *function)
{
    enum { DEPTH = 8 };
    static const char *const bodies[] = { "while_body", "while_cond", "cond_true", "cond_false",
                                          "switch_case_indexed_case_branch" };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (strncmp(function->name, bodies[i], strlen(bodies[i])) == 0)
            return tw__format("%s_%016llx", function->name, (unsigned long long)sum_of(function, DEPTH));
    }
    return tw__strdup(function->name);
}

/* The name under which a function is in the file. */
static const char *name_of(void *context, void *object)
{
    writing *w = context;
    int64_t place = tw__pointer_map_get(&w->places, object, -1);
    if (place >= 0)
        return w->names[place];
    if (!tw__is(object, &tw__function_class))
        return NULL;
    tw__function *function = object;
    char *first = first_name(function), *name = tw__strdup(first);
    for (int i = 1; name && tw__map_has(&w->taken, name, strlen(name)); i++) {
        tw__free(name);
        name = tw__format("%s_%d", first, i);
    }
    tw__free(first);
    if (!name || TW_GROW(w->functions, w->capacity, w->count + 1) != TW_OK ||
        TW_GROW(w->names, w->name_capacity, w->count + 1) != TW_OK || tw__map_put(&w->taken, name, strlen(name), name) != TW_OK ||
        tw__pointer_map_put(&w->places, function, (int64_t)w->count) != TW_OK) {
        tw__free(name);
        return NULL;
    }
    w->functions[w->count] = function;
    w->names[w->count++] = name;
    return name;
}

static void write_argument(tw__text *text, uint32_t number, const char *name, tw_dtype dtype)
{
    size_t argument = tw__open(text, number);
    tw__put_OpDef_ArgDef_name(text, name, strlen(name));
    tw__put_OpDef_ArgDef_type(text, dtype);
    tw__close(text, argument);
}

static void write_pair(tw__text *text, uint32_t number, const char *key, const char *value)
{
    size_t entry = tw__open(text, number);
    tw__put_FunctionDef_ret_key(text, key, strlen(key));
    tw__put_FunctionDef_ret_value(text, value, strlen(value));
    tw__close(text, entry);
}

/* The shape of an argument: { index, { _output_shapes: [shape] } }. */
static tw_status write_argument_shape(tw__text *text, int index, const tw_shape *shape)
{
    tw_attr attr = { .name = TW_SHAPES_NOTE, .kind = TW_ATTR_SHAPES, .count = 1, .shapes = shape };
    size_t entry = tw__open_FunctionDef_arg_attr(text);
    tw__put_FunctionDef_arg_attr_key(text, index);
    size_t attrs = tw__open_FunctionDef_arg_attr_value(text);
    tw_status status = tw__attr_message_write(text, TW_FunctionDef_ArgAttrs_attr, &attr, NULL);
    tw__close(text, attrs);
    tw__close(text, entry);
    return status;
}

/* The shapes of all arguments: { _input_shapes: [shape, ...] }. */
static tw_status write_input_shapes(tw__text *text, const tw__function *function)
{
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)function->input_count + 1, sizeof *shapes);
    for (int i = 0; shapes && i < function->input_count; i++)
        shapes[i] = function->inputs[i]->out_shapes[0];
    tw_attr attr = { .name = "_input_shapes", .kind = TW_ATTR_SHAPES, .count = function->input_count, .shapes = shapes };
    return shapes ? tw__attr_message_write(text, TW_FunctionDef_attr, &attr, NULL) : TW_RESOURCE_EXHAUSTED;
}

static tw_status write_results(tw__text *text, const tw__function *function, const tw__node_writer *writer)
{
    for (int i = 0; i < function->output_count; i++) {
        char name[32], *edge = tw__edge_text(function->outputs[i], writer);
        if (!edge)
            return TW_RESOURCE_EXHAUSTED;
        snprintf(name, sizeof name, "output_%d", i);
        write_pair(text, TW_FunctionDef_ret, name, edge);
        tw__free(edge);
    }
    return TW_OK;
}

/* "mul/ReadVariableOp/resource" is mul_readvariableop_resource; for tw__free. Other nodes and the arguments before it may have
 * that name already. */
static char *argument_name(const tw__function *function, int argument, char *const *before)
{
    const char *own = function->inputs[argument]->name;
    tw__owned char *base = tw__format("%s%s", isalpha((unsigned char)*own) ? "" : "arg_", own);
    for (char *c = base; c && *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
    char *name = tw__strdup(base ? base : "");
    for (int number = 1; base && name; number++) {
        const tw__node *taken = tw__graph_find(function->graph, name);
        bool good = !taken || taken == function->inputs[argument];
        for (int i = 0; good && i < argument; i++)
            good = strcmp(before[i], name) != 0;
        if (good)
            break;
        tw__free(name);
        name = tw__format("%s_%d", base, number);
    }
    return name;
}

static tw_status write_body(tw__text *text, tw__text *signature, tw__function *function, const char *name,
                            tw__node_writer *writer)
{
    tw__put_OpDef_name(signature, name, strlen(name));
    for (int i = 0; i < function->input_count; i++)
        write_argument(signature, TW_OpDef_input_arg, writer->argument_names[i], function->inputs[i]->out_dtypes[0]);
    for (int i = 0; i < function->output_count; i++) {
        char result[32];
        snprintf(result, sizeof result, "output_%d", i);
        write_argument(signature, TW_OpDef_output_arg, result, tw__function_output_dtype(function, i));
    }
    if (function->stateful)
        tw__put_OpDef_is_stateful(signature, true);
    TW_TRY(tw__graph_write_nodes(text, TW_FunctionDef_node_def, function->graph, writer));
    TW_TRY(write_results(text, function, writer));
    if (writer->last_effect) {
        const char *last = writer->last_effect->name;
        tw__put_OpDef_control_output(signature, last, strlen(last));
        write_pair(text, TW_FunctionDef_control_ret, last, last);
    }
    for (int i = 0; i < function->input_count; i++)
        TW_TRY(write_argument_shape(text, i, &function->inputs[i]->out_shapes[0]));
    return writer->shapes ? write_input_shapes(text, function) : TW_OK;
}

static tw_status write_function(tw__text *library, writing *w, size_t place)
{
    tw__function *function = w->functions[place];
    tw__text text = { 0 }, signature = { 0 };
    tw__pointer_map arguments = { 0 };
    char **names = tw__alloc_array((size_t)function->input_count + 1, sizeof *names);
    tw_status status = names ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < function->input_count; i++) {
        names[i] = argument_name(function, i, names);
        status = names[i] ? tw__pointer_map_put(&arguments, function->inputs[i], i) : TW_RESOURCE_EXHAUSTED;
    }
    tw__node_writer writer = { .function = true,
                               .arguments = &arguments,
                               .argument_names = names,
                               .ordered = true,
                               .shapes = w->shapes,
                               .functions = { name_of, w } };
    if (status == TW_OK)
        status = write_body(&text, &signature, function, w->names[place], &writer);
    size_t whole = tw__open_FunctionDefLibrary_function(library);
    tw__put_FunctionDef_signature(library, signature.data, signature.size);
    tw__text_bytes(library, text.data, text.size);
    tw__close(library, whole);
    library->failed |= text.failed || signature.failed;
    if (status != TW_OK)
        tw__error_prefix("function '%s': ", w->names[place]);
    tw__pointer_map_free(&arguments);
    for (int i = 0; names && i < function->input_count; i++)
        tw__free(names[i]);
    tw__free(names);
    tw__text_free(&text);
    tw__text_free(&signature);
    return status;
}

/* What nodes of the function call an argument, or a node's output: for registered gradients. */
static char *value_name(const tw__function *function, tw__edge edge)
{
    char **names = tw__alloc_array((size_t)function->input_count + 1, sizeof *names), *text = NULL;
    int argument = 0, made = 0;
    while (argument < function->input_count && function->inputs[argument] != edge.node)
        argument++;
    if (argument == function->input_count)
        text = tw__format("%s:%d", edge.node->name, edge.output);
    for (; names && !text && made <= argument; made++)
        names[made] = argument_name(function, made, names);
    if (names && !text)
        text = tw__format("%s:0", names[argument] ? names[argument] : "");
    for (int i = 0; i < made; i++)
        tw__free(names[i]);
    tw__free(names);
    return text;
}

/* { 1 function, 2 op type } as field 3 of the library. */
static tw_status write_gradient(tw__text *library, writing *w, tw__written_gradient *gradient)
{
    const char *name = name_of(w, gradient->function);
    gradient->name = name ? tw__strdup(name) : NULL;
    if (!gradient->name)
        return tw__error_status();
    size_t registered = tw__open_FunctionDefLibrary_registered_gradients(library);
    tw__put_RegisteredGradient_gradient_func(library, gradient->name, strlen(gradient->name));
    tw__put_RegisteredGradient_registered_op_type(library, gradient->type, strlen(gradient->type));
    tw__close(library, registered);
    for (size_t i = 0; i < gradient->capture_count; i++) {
        tw__gradient_capture *capture = &gradient->captures[i];
        if (!capture->within)
            continue;
        const char *owner = name_of(w, capture->within);
        capture->name = value_name(capture->within, capture->edge);
        capture->owner = owner ? tw__strdup(owner) : NULL;
        if (!capture->name || !capture->owner)
            return tw__error_status();
    }
    return TW_OK;
}

tw_status tw__graphdef_write(tw__text *text, const tw__graph *graph, unsigned how, tw__function *const *functions,
                             int function_count)
{
    return tw__graphdef_write_all(text, graph, how, functions, function_count, NULL, 0);
}

tw_status tw__graphdef_write_all(tw__text *text, const tw__graph *graph, unsigned how, tw__function *const *functions,
                                 int function_count, tw__written_gradient *const *gradients, size_t gradient_count)
{
    tw__auto(writing_end) writing w = { .shapes = how & TW_GRAPH_SHAPES };
    tw__auto(tw__text_free) tw__text library = { 0 };
    for (int i = 0; i < function_count; i++)
        TW_NEED(name_of(&w, functions[i]));
    for (size_t i = 0; i < gradient_count; i++)
        TW_NEED(name_of(&w, gradients[i]->function));
    tw__node_writer writer = { .ordered = how & TW_GRAPH_TRACED, .shapes = w.shapes, .functions = { name_of, &w } };
    if (graph)
        TW_TRY(tw__graph_write_nodes(text, TW_GraphDef_node, graph, &writer));
    for (size_t i = 0; i < w.count; i++)
        TW_TRY(write_function(&library, &w, i));
    for (size_t i = 0; i < gradient_count; i++)
        TW_TRY(write_gradient(&library, &w, gradients[i]));
    if (w.count)
        tw__put_GraphDef_library(text, library.data, library.size);
    size_t versions = tw__open_GraphDef_versions(text);
    tw__put_VersionDef_producer(text, TW_GRAPH_PRODUCER);
    if (w.count) /* readers that know functions */
        tw__put_VersionDef_min_consumer(text, TW_GRAPH_MIN_CONSUMER);
    tw__close(text, versions);
    text->failed |= library.failed;
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
