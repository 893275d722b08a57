/* Attrs of nodes that are rewritten, as AttrValues; see lower.h. */
#include "graph/lower.h"

tw_status tw__low_attr(tw__low_graph *graph, tw__low_node *node, const char *name, tw__text *value)
{
    size_t size = value->size;
    bool failed = value->failed;
    char *bytes = failed ? NULL : tw__alloc(size + 1);
    if (bytes && size)
        memcpy(bytes, value->data, size);
    tw__text_free(value);
    tw__graph_message *message = graph->message;
    if (!bytes || TW_GROW(message->owned, message->owned_capacity, message->owned_count + 1) != TW_OK) {
        tw__free(bytes);
        return TW_RESOURCE_EXHAUSTED;
    }
    message->owned[message->owned_count++] = bytes;
    TW_TRY(TW_GROW(node->attrs, node->attr_capacity, node->attr_count + 1));
    node->attrs[node->attr_count++] = (tw__pair){ { name, strlen(name) }, { bytes, size } };
    return TW_OK;
}

tw_status tw__low_attr_type(tw__low_graph *graph, tw__low_node *node, const char *name, tw_dtype dtype)
{
    tw__text value = { 0 };
    tw__put_AttrValue_type(&value, dtype);
    return tw__low_attr(graph, node, name, &value);
}

tw_status tw__low_attr_types(tw__low_graph *graph, tw__low_node *node, const char *name, const tw_dtype *dtypes, size_t count)
{
    tw__text value = { 0 };
    size_t list = tw__open_AttrValue_list(&value), packed = count ? tw__open_AttrValue_ListValue_type(&value) : 0;
    for (size_t i = 0; i < count; i++)
        tw__varint_add(&value, (uint64_t)dtypes[i]);
    if (count)
        tw__close(&value, packed);
    tw__close(&value, list);
    return tw__low_attr(graph, node, name, &value);
}

tw_status tw__low_attr_function(tw__low_graph *graph, tw__low_node *node, const char *name, tw_string function)
{
    tw__text value = { 0 };
    size_t body = tw__open_AttrValue_func(&value);
    tw__put_NameAttrList_name(&value, function.data, function.size);
    tw__close(&value, body);
    return tw__low_attr(graph, node, name, &value);
}

/* Whole numbers; rank 0 or 1. */
static tw_status constant(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, int rank, const int64_t *values, size_t count)
{
    tw__text attr = { 0 };
    size_t tensor = tw__open_AttrValue_tensor(&attr);
    tw__put_TensorProto_dtype(&attr, dtype);
    tw__shape_message_write(&attr, TW_TensorProto_tensor_shape, &(tw_shape){ .rank = rank, .dims = { (int64_t)count } });
    if (count) {
        size_t packed = dtype == TW_INT64 ? tw__open_TensorProto_int64_val(&attr) : tw__open_TensorProto_int_val(&attr);
        for (size_t i = 0; i < count; i++)
            tw__varint_add(&attr, (uint64_t)values[i]);
        tw__close(&attr, packed);
    }
    tw__close(&attr, tensor);
    TW_TRY(tw__low_attr(graph, node, "value", &attr));
    return tw__low_attr_type(graph, node, "dtype", dtype);
}

tw_status tw__low_attr_constant(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, bool empty, int32_t value)
{
    return constant(graph, node, dtype, empty, &(int64_t){ value }, empty ? 0 : 1);
}

tw_status tw__low_attr_number(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, int64_t value)
{
    return constant(graph, node, dtype, 0, &value, 1);
}

tw_status tw__low_attr_numbers(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, const int64_t *values, size_t count)
{
    return constant(graph, node, dtype, 1, values, count);
}

/* References have the numbers of what they refer to and a hundred more. */
static tw_dtype plain_type(uint64_t number)
{
    number = number > 100 ? number - 100 : number;
    return number < TW_DTYPE_LIMIT ? (tw_dtype)number : TW_DTYPE_NONE;
}

bool tw__low_value(const tw__low_node *node, const char *attr, tw__AttrValue *value)
{
    return tw__read_AttrValue(tw__pair_find(node->attrs, node->attr_count, attr), value);
}

tw_dtype tw__low_type(const tw__low_node *node, const char *attr)
{
    tw__AttrValue value;
    bool found = tw__low_value(node, attr, &value) && value.which_value == TW_AttrValue_type;
    return found ? plain_type((uint64_t)(int64_t)value.type) : TW_DTYPE_NONE;
}

int64_t tw__low_number(const tw__low_node *node, const char *attr)
{
    tw__AttrValue value;
    return tw__low_value(node, attr, &value) && value.which_value == TW_AttrValue_i ? value.i : -1;
}

/* The dtype at a place of a list(type), and how long the list is. */
static tw_dtype type_at(const tw__low_node *node, const char *attr, int64_t place, int64_t *count)
{
    tw_string value = tw__pair_find(node->attrs, node->attr_count, attr);
    tw_attr list = { 0 };
    void *block = NULL, *object = NULL;
    size_t budget = (size_t)1 << 20;
    tw_dtype dtype = TW_DTYPE_NONE;
    *count = 0;
    if (value.data && tw__attr_message_read(value, TW_ATTR_TYPES, NULL, &budget, &list, &block, &object) == TW_OK) {
        *count = list.count;
        if (place >= 0 && place < list.count)
            dtype = plain_type((uint64_t)list.types[place]);
    }
    tw_clear_error();
    tw__free(block);
    tw_release(object);
    return dtype;
}

static const tw__op_signature *signature_of(tw_string op)
{
    char *name = tw__strndup(op.data, op.size);
    const tw_op *found = name ? tw__op_find(name) : NULL;
    tw__free(name);
    const char *fresh = found ? NULL : tw__lower_fresh(op);
    if (!found && !fresh)
        fresh = tw__lower_older(op);
    if (fresh)
        found = tw__op_find(fresh);
    return found ? tw__op_signature_of(found) : NULL;
}

int32_t tw__low_output_port(const tw__low_node *node, tw_string name, int64_t port)
{
    const tw__op_signature *signature = signature_of(node->op);
    if (!signature) /* nodes of loops and branches, changes of references; ops that are not known are refused later */
        return tw__string_is(name, "output_true") || tw__string_is(name, "value_index") ? 1 : (int32_t)port;
    int64_t at = 0, members = 1;
    for (int i = 0; i < signature->output_count; i++, at += members) {
        const tw__arg *arg = &signature->outputs[i];
        members = 1;
        if (arg->count_attr >= 0)
            members = tw__low_number(node, signature->attrs[arg->count_attr].name);
        else if (arg->types_attr >= 0)
            type_at(node, signature->attrs[arg->types_attr].name, 0, &members);
        if (members < 0 || members > INT32_MAX / 4 || at > INT32_MAX / 4)
            break;
        if (tw__string_is(name, arg->name) && port < members)
            return (int32_t)(at + port);
    }
    tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' (%.*s) has no output '%.*s:%lld'", TW_SHOWN(node->name), TW_SHOWN(node->op),
             TW_SHOWN(name), (long long)port);
    return -1;
}

tw_dtype tw__low_output_type(const tw__low_graph *graph, tw__low_input output)
{
    const tw__low_node *node = &graph->nodes[output.node];
    if (tw__low_is(node, "_Arg"))
        return tw__low_type(node, "T");
    char *name = tw__strndup(node->op.data, node->op.size);
    const tw_op *op = name ? tw__op_find(name) : NULL;
    const tw__op_signature *signature = op ? tw__op_signature_of(op) : NULL;
    bool pass = name && (strcmp(name, "Switch") == 0 || strcmp(name, "Merge") == 0 || strcmp(name, "Enter") == 0 ||
                         strcmp(name, "Exit") == 0 || strcmp(name, "NextIteration") == 0);
    tw__free(name);
    tw_dtype dtype = TW_DTYPE_NONE;
    if (pass)
        dtype = tw__string_is(node->op, "Merge") && output.port == 1 ? TW_INT32 : tw__low_type(node, "T");
    int64_t at = output.port;
    for (int i = 0; signature && dtype == TW_DTYPE_NONE && i < signature->output_count && at >= 0; i++) {
        const tw__arg *arg = &signature->outputs[i];
        int64_t members = arg->count_attr >= 0 ? tw__low_number(node, signature->attrs[arg->count_attr].name) : 1;
        tw_dtype listed =
            arg->types_attr >= 0 ? type_at(node, signature->attrs[arg->types_attr].name, at, &members) : TW_DTYPE_NONE;
        if (at < members) {
            const tw__attr_def *def = arg->type_attr >= 0 ? &signature->attrs[arg->type_attr] : NULL;
            dtype = listed != TW_DTYPE_NONE ? listed : def ? tw__low_type(node, def->name) : arg->dtype;
            if (dtype == TW_DTYPE_NONE && def && def->has_default)
                dtype = def->value.type;
        }
        at -= members;
    }
    if (dtype == TW_DTYPE_NONE)
        tw__fail(op || pass ? TW_INVALID_ARGUMENT : TW_NOT_FOUND,
                 op || pass ? "node '%.*s' (%.*s): the dtype of its output %d is not known"
                            : "node '%.*s': Op type not registered '%.*s' (output %d)",
                 TW_SHOWN(node->name), TW_SHOWN(node->op), (int)output.port);
    return dtype;
}
