/* A GraphDef's bytes divided into nodes, attrs and functions; see graphdef.h. Nothing is copied: a message points into the bytes.
 */
#include "graph/graphdef.h"

static tw_status bad(const char *what)
{
    return tw__fail(TW_DATA_LOSS, "GraphDef: %s can't be read: the bytes are damaged or of another format", what);
}

/* A place for one more item at the end, cleared; NULL if memory runs out. */
#define MORE(items, count, capacity) \
    (TW_GROW(items, capacity, (count) + 1) == TW_OK ? (memset(&(items)[count], 0, sizeof *(items)), &(items)[(count)++]) : NULL)

/* Entries of a map from strings to strings or messages. */
static tw_status read_pairs(tw__many many, tw__pair **pairs, size_t *count, size_t *capacity)
{
    TW_TRY(TW_GROW(*pairs, *capacity, *count + many.count));
    for (TW_EACH(NodeDef_attr, entry, many))
        (*pairs)[(*count)++] = (tw__pair){ entry.key, entry.value };
    return many.failed ? bad("an attr") : TW_OK;
}

static tw_status read_node(const tw__NodeDef *from, tw__node_message *node)
{
    *node = (tw__node_message){ .name = from->name, .op = from->op, .device = from->device };
    tw__many inputs = from->input;
    TW_TRY(TW_GROW(node->inputs, node->input_capacity, inputs.count));
    for (tw_string input; tw__next_bytes(&inputs, &input);)
        node->inputs[node->input_count++] = input;
    return read_pairs(from->attr, &node->attrs, &node->attr_count, &node->attr_capacity);
}

static tw_status read_nodes(tw__many many, tw__node_message **nodes, size_t *count, size_t *capacity)
{
    TW_TRY(TW_GROW(*nodes, *capacity, *count + many.count));
    for (TW_EACH(NodeDef, node, many))
        TW_TRY(read_node(&node, &(*nodes)[(*count)++]));
    return many.failed ? bad("a node") : TW_OK;
}

static tw_status read_arguments(tw__many many, tw__argument_message **arguments, size_t *count, size_t *capacity)
{
    TW_TRY(TW_GROW(*arguments, *capacity, *count + many.count));
    for (TW_EACH(OpDef_ArgDef, from, many)) {
        bool fixed = !tw__has(from.type_attr) && !tw__has(from.number_attr) && !tw__has(from.type_list_attr);
        tw_dtype dtype = from.type >= 0 && from.type < TW_DTYPE_LIMIT ? (tw_dtype)from.type : TW_DTYPE_NONE;
        (*arguments)[(*count)++] =
            (tw__argument_message){ .name = from.name, .dtype = dtype, .plain = fixed && dtype != TW_DTYPE_NONE };
    }
    return many.failed ? bad("an argument of a function") : TW_OK;
}

static tw_status read_signature(tw_string bytes, tw__function_message *function)
{
    tw__OpDef from;
    if (!tw__read_OpDef(bytes, &from))
        return bad("a function's signature");
    function->name = from.name;
    function->generic = from.attr.count > 0;
    function->stateful = from.is_stateful;
    TW_TRY(read_arguments(from.input_arg, &function->arguments, &function->argument_count, &function->argument_capacity));
    return read_arguments(from.output_arg, &function->results, &function->result_count, &function->result_capacity);
}

/* Attrs of arguments: of them only the shape matters. */
static tw_status read_argument_attrs(tw__many many, tw__function_message *function)
{
    for (TW_EACH(FunctionDef_arg_attr, entry, many)) {
        tw__FunctionDef_ArgAttrs attrs;
        if (!tw__read_FunctionDef_ArgAttrs(entry.value, &attrs))
            return bad("an argument's attrs");
        for (TW_EACH(FunctionDef_ArgAttrs_attr, pair, attrs.attr)) {
            if (tw__string_is(pair.key, TW_SHAPES_NOTE) && entry.key < function->argument_count)
                function->arguments[entry.key].shapes = pair.value;
        }
        many.failed |= attrs.attr.failed;
    }
    return many.failed ? bad("an argument's attrs") : TW_OK;
}

static tw_status read_function(const tw__FunctionDef *from, tw__function_message *function)
{
    TW_TRY(read_signature(from->signature, function));
    TW_TRY(read_nodes(from->node_def, &function->nodes, &function->node_count, &function->node_capacity));
    TW_TRY(read_pairs(from->ret, &function->returns, &function->return_count, &function->return_capacity));
    TW_TRY(read_pairs(from->attr, &function->attrs, &function->attr_count, &function->attr_capacity));
    TW_TRY(read_pairs(from->control_ret, &function->control_returns, &function->control_return_count,
                      &function->control_return_capacity));
    return read_argument_attrs(from->arg_attr, function);
}

static tw_status read_library(tw_string bytes, tw__graph_message *message)
{
    tw__FunctionDefLibrary library;
    if (!tw__read_FunctionDefLibrary(bytes, &library))
        return bad("the library of functions");
    for (TW_EACH(RegisteredGradient, from, library.registered_gradients)) {
        tw__pair *gradient = MORE(message->gradients, message->gradient_count, message->gradient_capacity);
        if (!gradient)
            return TW_RESOURCE_EXHAUSTED;
        *gradient = (tw__pair){ from.registered_op_type, from.gradient_func };
    }
    for (TW_EACH(FunctionDef, from, library.function)) {
        tw__function_message *function = MORE(message->functions, message->function_count, message->function_capacity);
        TW_TRY(function ? read_function(&from, function) : TW_RESOURCE_EXHAUSTED);
    }
    return library.function.failed || library.registered_gradients.failed ? bad("a function") : TW_OK;
}

tw_status tw__graph_message_read(tw__graph_message *message, const void *data, size_t size)
{
    *message = (tw__graph_message){ 0 };
    tw__GraphDef graph;
    tw__VersionDef versions;
    tw_string bytes = { data, size };
    char *merged;
    if (!tw__message_merge(&tw__type_GraphDef, &bytes, &merged))
        return tw__error_status();
    if (merged) {
        char **owned = MORE(message->owned, message->owned_count, message->owned_capacity);
        if (!owned) {
            tw__free(merged);
            return TW_RESOURCE_EXHAUSTED;
        }
        *owned = merged;
    }
    if (!tw__read_GraphDef(bytes, &graph))
        return bad("the message");
    if (graph.unknown)
        return bad("a field");
    if (!tw__read_VersionDef(graph.versions, &versions))
        return bad("the versions");
    message->producer = versions.producer;
    message->min_consumer = versions.min_consumer;
    TW_TRY(read_nodes(graph.node, &message->nodes, &message->node_count, &message->node_capacity));
    TW_TRY(read_library(graph.library, message));
    if (message->node_count > INT32_MAX / 2 || message->function_count > INT32_MAX / 2)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "GraphDef: %zu nodes and %zu functions", message->node_count,
                        message->function_count);
    return TW_OK;
}

void tw__node_messages_free(tw__node_message *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tw__free(nodes[i].inputs);
        tw__free(nodes[i].attrs);
    }
    tw__free(nodes);
}

void tw__graph_message_free(tw__graph_message *message)
{
    tw__node_messages_free(message->nodes, message->node_count);
    for (size_t i = 0; i < message->function_count; i++) {
        tw__function_message *function = &message->functions[i];
        tw__node_messages_free(function->nodes, function->node_count);
        tw__free(function->arguments);
        tw__free(function->results);
        tw__free(function->returns);
        tw__free(function->control_returns);
        tw__free(function->attrs);
    }
    tw__free(message->functions);
    tw__free(message->gradients);
    for (size_t i = 0; i < message->owned_count; i++)
        tw__free(message->owned[i]);
    tw__free(message->owned);
    *message = (tw__graph_message){ 0 };
}

tw_string tw__pair_find(const tw__pair *pairs, size_t count, const char *name)
{
    while (count-- > 0) {
        if (tw__string_is(pairs[count].name, name))
            return pairs[count].value;
    }
    return (tw_string){ NULL, 0 };
}

tw_string tw__gradient_note(const tw__node_message *node)
{
    tw_string value = tw__pair_find(node->attrs, node->attr_count, TW_GRADIENT_NOTE), type = { "", 0 };
    if (!value.data || tw__string_is(node->op, "PartitionedCall") || tw__string_is(node->op, "StatefulPartitionedCall"))
        return type;
    tw__AttrValue attr;
    return tw__read_AttrValue(value, &attr) ? attr.s : type;
}
