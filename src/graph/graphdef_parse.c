/* A GraphDef's bytes divided into nodes, attrs and functions; see graphdef.h. Nothing is copied: a message points into the bytes.
 */
#include "graph/graphdef.h"

static tw_status bad(const char *what)
{
    return tw__fail(TW_DATA_LOSS, "GraphDef: %s can't be read: the bytes are damaged or of another format", what);
}

static tw_string bytes_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

#define WALK(proto_, field_, bytes_)                                 \
    tw__proto_field field_;                                          \
    tw__proto proto_ = tw__proto_read((bytes_).data, (bytes_).size); \
    while (tw__proto_next(&proto_, &field_))

/* A place for one more item at the end, cleared; NULL if memory runs out. */
#define MORE(items, count, capacity) \
    (TW_GROW(items, capacity, (count) + 1) == TW_OK ? (memset(&(items)[count], 0, sizeof *(items)), &(items)[(count)++]) : NULL)

static tw_status read_pair(tw_string bytes, tw__pair *pair)
{
    *pair = (tw__pair){ { "", 0 }, { "", 0 } };
    WALK(proto, field, bytes)
    {
        if (field.wire == TW_WIRE_BYTES && field.number == 1)
            pair->name = bytes_of(&field);
        else if (field.wire == TW_WIRE_BYTES && field.number == 2)
            pair->value = bytes_of(&field);
    }
    return proto.failed ? bad("an attr") : TW_OK;
}

static tw_status read_node(tw_string bytes, tw__node_message *node)
{
    node->name = node->op = node->device = (tw_string){ "", 0 };
    WALK(proto, field, bytes)
    {
        if (field.wire != TW_WIRE_BYTES)
            continue;
        if (field.number == 1) {
            node->name = bytes_of(&field);
        } else if (field.number == 2) {
            node->op = bytes_of(&field);
        } else if (field.number == 3) {
            tw_string *input = MORE(node->inputs, node->input_count, node->input_capacity);
            if (!input)
                return TW_RESOURCE_EXHAUSTED;
            *input = bytes_of(&field);
        } else if (field.number == 4) {
            node->device = bytes_of(&field);
        } else if (field.number == 5) {
            tw__pair *attr = MORE(node->attrs, node->attr_count, node->attr_capacity);
            if (!attr)
                return TW_RESOURCE_EXHAUSTED;
            TW_TRY(read_pair(bytes_of(&field), attr));
        }
    }
    return proto.failed ? bad("a node") : TW_OK;
}

static tw_status read_argument(tw_string bytes, tw__argument_message *argument)
{
    argument->name = (tw_string){ "", 0 };
    bool fixed = true;
    WALK(proto, field, bytes)
    {
        if (field.number == 1 && field.wire == TW_WIRE_BYTES)
            argument->name = bytes_of(&field);
        else if (field.number == 3 && field.wire == TW_WIRE_VARINT)
            argument->dtype = field.value < TW_DTYPE_LIMIT ? (tw_dtype)field.value : TW_DTYPE_NONE;
        else if (field.number >= 4 && field.number <= 6)
            fixed = false;
    }
    argument->plain = fixed && argument->dtype != TW_DTYPE_NONE;
    return proto.failed ? bad("an argument of a function") : TW_OK;
}

static tw_status read_signature(tw_string bytes, tw__function_message *function)
{
    WALK(proto, field, bytes)
    {
        if (field.number == 1 && field.wire == TW_WIRE_BYTES) {
            function->name = bytes_of(&field);
        } else if ((field.number == 2 || field.number == 3) && field.wire == TW_WIRE_BYTES) {
            tw__argument_message *argument =
                field.number == 2 ? MORE(function->arguments, function->argument_count, function->argument_capacity)
                                  : MORE(function->results, function->result_count, function->result_capacity);
            if (!argument)
                return TW_RESOURCE_EXHAUSTED;
            TW_TRY(read_argument(bytes_of(&field), argument));
        } else if (field.number == 4) {
            function->generic = true;
        } else if (field.number == 17 && field.wire == TW_WIRE_VARINT) {
            function->stateful = field.value != 0;
        }
    }
    return proto.failed ? bad("a function's signature") : TW_OK;
}

/* Attrs of arguments: of them only the shape matters. */
static tw_status read_argument_attrs(tw_string bytes, tw__function_message *function)
{
    uint64_t index = 0;
    tw_string attrs = { "", 0 };
    WALK(proto, field, bytes)
    {
        if (field.number == 1 && field.wire == TW_WIRE_VARINT)
            index = field.value;
        else if (field.number == 2 && field.wire == TW_WIRE_BYTES)
            attrs = bytes_of(&field);
    }
    if (proto.failed)
        return bad("an argument's attrs");
    WALK(inner, attr, attrs)
    {
        if (attr.number != 1 || attr.wire != TW_WIRE_BYTES)
            continue;
        tw__pair pair;
        TW_TRY(read_pair(bytes_of(&attr), &pair));
        if (tw__string_is(pair.name, "_output_shapes") && index < function->argument_count)
            function->arguments[index].shapes = pair.value;
    }
    return inner.failed ? bad("an argument's attrs") : TW_OK;
}

static tw_status read_function(tw_string bytes, tw__function_message *function)
{
    function->name = (tw_string){ "", 0 };
    {
        WALK(proto, field, bytes)
        {
            if (field.number == 1 && field.wire == TW_WIRE_BYTES)
                TW_TRY(read_signature(bytes_of(&field), function));
        }
    }
    WALK(proto, field, bytes)
    {
        if (field.wire != TW_WIRE_BYTES)
            continue;
        tw__pair *pair = NULL;
        if (field.number == 3) {
            tw__node_message *node = MORE(function->nodes, function->node_count, function->node_capacity);
            TW_TRY(node ? read_node(bytes_of(&field), node) : TW_RESOURCE_EXHAUSTED);
            continue;
        } else if (field.number == 4) {
            pair = MORE(function->returns, function->return_count, function->return_capacity);
        } else if (field.number == 5) {
            pair = MORE(function->attrs, function->attr_count, function->attr_capacity);
        } else if (field.number == 6) {
            pair = MORE(function->control_returns, function->control_return_count, function->control_return_capacity);
        } else if (field.number == 7) {
            TW_TRY(read_argument_attrs(bytes_of(&field), function));
            continue;
        } else {
            continue;
        }
        TW_TRY(pair ? read_pair(bytes_of(&field), pair) : TW_RESOURCE_EXHAUSTED);
    }
    return proto.failed ? bad("a function") : TW_OK;
}

/* { 1 the function's name, 2 the op type } as { op type, function }. */
static tw_status read_gradient(tw_string bytes, tw__pair *gradient)
{
    tw__pair pair;
    TW_TRY(read_pair(bytes, &pair));
    *gradient = (tw__pair){ pair.value, pair.name };
    return TW_OK;
}

static tw_status read_library(tw_string bytes, tw__graph_message *message)
{
    WALK(proto, field, bytes)
    {
        if (field.number == 3 && field.wire == TW_WIRE_BYTES) {
            tw__pair *gradient = MORE(message->gradients, message->gradient_count, message->gradient_capacity);
            TW_TRY(gradient ? read_gradient(bytes_of(&field), gradient) : TW_RESOURCE_EXHAUSTED);
        }
        if (field.number != 1 || field.wire != TW_WIRE_BYTES)
            continue;
        tw__function_message *function = MORE(message->functions, message->function_count, message->function_capacity);
        TW_TRY(function ? read_function(bytes_of(&field), function) : TW_RESOURCE_EXHAUSTED);
    }
    return proto.failed ? bad("the library of functions") : TW_OK;
}

static tw_status read_versions(tw_string bytes, tw__graph_message *message)
{
    WALK(proto, field, bytes)
    {
        if (field.wire == TW_WIRE_VARINT && field.number == 1)
            message->producer = (int32_t)field.value;
        else if (field.wire == TW_WIRE_VARINT && field.number == 2)
            message->min_consumer = (int32_t)field.value;
    }
    return proto.failed ? bad("the versions") : TW_OK;
}

tw_status tw__graph_message_read(tw__graph_message *message, const void *data, size_t size)
{
    *message = (tw__graph_message){ 0 };
    tw_string bytes = { data, size };
    WALK(proto, field, bytes)
    {
        if (field.number > 5 || (field.number != 3 && field.wire != TW_WIRE_BYTES))
            return bad("a field");
        if (field.number == 1) {
            tw__node_message *node = MORE(message->nodes, message->node_count, message->node_capacity);
            TW_TRY(node ? read_node(bytes_of(&field), node) : TW_RESOURCE_EXHAUSTED);
        } else if (field.number == 2) {
            TW_TRY(read_library(bytes_of(&field), message));
        } else if (field.number == 4) {
            TW_TRY(read_versions(bytes_of(&field), message));
        }
    }
    if (proto.failed)
        return bad("the message");
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
    WALK(proto, field, value)
    {
        if (field.number == 2 && field.wire == TW_WIRE_BYTES)
            type = bytes_of(&field);
    }
    return type;
}
