/* A GraphDef as text to read, and as JSON; ops and functions need not be known here.
 *
 *     x = Placeholder() {dtype: float32, shape: (None, 2)}
 *     split = Split(axis, add) {T: float32, num_split: 2}
 *     function f(x: float32) -> (y: float32) {
 *       …
 *       return y = add:z:0
 *     }
 *
 * Attrs are sorted by name, as their order in files is chance. Constants show their first elements. */
#include <stdlib.h>

#include "graph/graphdef.h"

enum { FIRST_ELEMENTS = 8 };

static tw_string bytes_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

/* Text of a file on a terminal: what is not printable ASCII or UTF-8's upper half is shown as \xNN. */
static void print_plain(tw__text *text, tw_string string)
{
    for (size_t i = 0; i < string.size; i++) {
        unsigned char c = (unsigned char)string.data[i];
        if (c < 32 || c == 127)
            tw__text_format(text, "\\x%02x", c);
        else
            tw__text_bytes(text, &c, 1);
    }
}

static void print_quoted(tw__text *text, tw_string string)
{
    tw__text_add(text, "\"");
    for (size_t i = 0; i < string.size; i++) {
        unsigned char c = (unsigned char)string.data[i];
        if (c == '"' || c == '\\')
            tw__text_format(text, "\\%c", c);
        else if (c < 32 || c >= 127)
            tw__text_format(text, "\\x%02x", c);
        else
            tw__text_bytes(text, &c, 1);
    }
    tw__text_add(text, "\"");
}

static void print_type(tw__text *text, uint64_t number)
{
    if (number < TW_DTYPE_LIMIT && tw__dtype_is_valid((tw_dtype)number))
        tw__text_add(text, tw_dtype_name((tw_dtype)number));
    else
        tw__text_format(text, "dtype %llu", (unsigned long long)number);
}

static tw_status print_shape(tw__text *text, tw_string bytes)
{
    tw_shape shape;
    TW_TRY(tw__shape_message_read(bytes, &shape));
    char *tuple = tw__shape_tuple(&shape);
    if (!tuple)
        return TW_RESOURCE_EXHAUSTED;
    tw__text_add(text, tuple);
    tw__free(tuple);
    return TW_OK;
}

static tw_status print_tensor(tw__text *text, tw_string bytes)
{
    tw__tensor_message message;
    size_t budget = 1 << 20;
    TW_TRY(tw__tensor_message_open(bytes, &message));
    char *tuple = tw__shape_tuple(&message.shape);
    if (!tuple)
        return TW_RESOURCE_EXHAUSTED;
    tw__text_format(text, "%s %s ", tw_dtype_name(message.dtype), tuple);
    tw__free(tuple);
    if (message.dtype == TW_RESOURCE || message.dtype == TW_VARIANT)
        return TW_OK;
    tw_tensor *first = tw__tensor_message_read(&message, FIRST_ELEMENTS, &budget);
    if (!first)
        return tw__error_status();
    tw__text elements = { 0 };
    tw_status status = tw__print_elements(&elements, first, ", ", 0);
    if (elements.size && message.count > FIRST_ELEMENTS) {
        tw__text_bytes(text, elements.data, elements.size - 1);
        tw__text_add(text, ", …]");
    } else if (elements.size) {
        tw__text_add(text, elements.data);
    }
    text->failed |= elements.failed;
    tw__text_free(&elements);
    tw_release(first);
    return status;
}

/* One value of an AttrValue or a member of its list: the numbers of the fields are the same but for functions. */
static tw_status print_value(tw__text *text, const tw__proto_field *field, bool in_list)
{
    tw_string bytes = bytes_of(field);
    if (field->wire == TW_WIRE_VARINT && field->number == 3) {
        tw__text_format(text, "%lld", (long long)field->value);
    } else if (field->wire == TW_WIRE_FIXED32 && field->number == 4) {
        uint32_t bits = (uint32_t)field->value;
        float value;
        memcpy(&value, &bits, sizeof value);
        tw__print_float(text, value, TW_FLOAT32);
    } else if (field->wire == TW_WIRE_VARINT && field->number == 5) {
        tw__text_add(text, field->value ? "true" : "false");
    } else if (field->wire == TW_WIRE_VARINT && field->number == 6) {
        print_type(text, field->value);
    } else if (field->wire != TW_WIRE_BYTES) {
        tw__text_add(text, "?");
    } else if (field->number == 2) {
        print_quoted(text, bytes);
    } else if (field->number == 7) {
        return print_shape(text, bytes);
    } else if (field->number == 8) {
        return print_tensor(text, bytes);
    } else if (field->number == (in_list ? 9 : 10)) {
        tw__proto_field part;
        tw__proto name = tw__proto_nested(field);
        tw__text_add(text, "@");
        while (tw__proto_next(&name, &part)) {
            if (part.number == 1 && part.wire == TW_WIRE_BYTES)
                print_plain(text, bytes_of(&part));
        }
    } else {
        tw__text_add(text, "?");
    }
    return TW_OK;
}

static tw_status print_list(tw__text *text, tw_string bytes)
{
    bool follows = false;
    tw__proto_field field;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__text_add(text, "[");
    while (tw__proto_next(&proto, &field)) {
        bool packed = field.wire == TW_WIRE_BYTES && field.number >= 3 && field.number <= 6;
        for (size_t at = 0; !packed || at < field.size;) {
            tw__proto_field member = field;
            if (packed) {
                member.wire = field.number == 4 ? TW_WIRE_FIXED32 : TW_WIRE_VARINT;
                size_t left = field.size - at;
                size_t used = field.number == 4 ? 4 : tw__varint_get(field.data + at, left, &member.value);
                if (!used || used > left)
                    return tw__fail(TW_DATA_LOSS, "a list that can't be read");
                if (field.number == 4)
                    member.value = tw__get32(field.data + at);
                at += used;
            }
            tw__text_add(text, follows ? ", " : "");
            TW_TRY(print_value(text, &member, true));
            follows = true;
            if (!packed)
                break;
        }
    }
    tw__text_add(text, "]");
    return proto.failed ? tw__fail(TW_DATA_LOSS, "a list that can't be read") : TW_OK;
}

tw_status tw__attr_message_print(tw__text *text, tw_string bytes)
{
    tw__proto_field field, last = { 0 };
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    while (tw__proto_next(&proto, &field))
        last = field;
    if (proto.failed)
        return tw__fail(TW_DATA_LOSS, "a value that can't be read");
    return last.number == 1 && last.wire == TW_WIRE_BYTES ? print_list(text, bytes_of(&last)) : print_value(text, &last, false);
}

static int by_name(const void *a, const void *b)
{
    tw_string x = ((const tw__pair *)a)->name, y = ((const tw__pair *)b)->name;
    size_t size = x.size < y.size ? x.size : y.size;
    int order = size ? memcmp(x.data, y.data, size) : 0;
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

static tw__pair *sorted(const tw__node_message *node)
{
    tw__pair *attrs = tw__alloc_array(node->attr_count + 1, sizeof *attrs);
    if (attrs && node->attr_count) {
        memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
        qsort(attrs, node->attr_count, sizeof *attrs, by_name);
    }
    return attrs;
}

static tw_status print_node(tw__text *text, const tw__node_message *node, const char *indent)
{
    tw__text_add(text, indent);
    print_plain(text, node->name);
    tw__text_add(text, " = ");
    print_plain(text, node->op);
    tw__text_add(text, "(");
    for (size_t i = 0; i < node->input_count; i++) {
        tw__text_add(text, i ? ", " : "");
        print_plain(text, node->inputs[i]);
    }
    tw__text_add(text, ")");
    tw__pair *attrs = sorted(node);
    tw_status status = attrs ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; status == TW_OK && i < node->attr_count; i++) {
        tw__text_add(text, i ? ", " : " {");
        print_plain(text, attrs[i].name);
        tw__text_add(text, ": ");
        status = tw__attr_message_print(text, attrs[i].value);
        tw__text_add(text, i + 1 == node->attr_count ? "}" : "");
    }
    tw__free(attrs);
    if (node->device.size) {
        tw__text_add(text, " on ");
        print_plain(text, node->device);
    }
    tw__text_add(text, "\n");
    if (status != TW_OK)
        tw__error_prefix("node '%.*s': ", TW_SHOWN(node->name));
    return status;
}

static void print_arguments(tw__text *text, const tw__argument_message *arguments, size_t count)
{
    tw__text_add(text, "(");
    for (size_t i = 0; i < count; i++) {
        tw__text_add(text, i ? ", " : "");
        print_plain(text, arguments[i].name);
        tw__text_add(text, ": ");
        if (arguments[i].plain)
            print_type(text, (uint64_t)arguments[i].dtype);
        else
            tw__text_add(text, "?");
    }
    tw__text_add(text, ")");
}

static void print_returns(tw__text *text, const char *word, const tw__pair *returns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tw__text_add(text, word);
        print_plain(text, returns[i].name);
        tw__text_add(text, " = ");
        print_plain(text, returns[i].value);
        tw__text_add(text, "\n");
    }
}

static tw_status print_function(tw__text *text, const tw__function_message *function)
{
    tw__text_add(text, function->stateful ? "\nstateful function " : "\nfunction ");
    print_plain(text, function->name);
    print_arguments(text, function->arguments, function->argument_count);
    tw__text_add(text, " -> ");
    print_arguments(text, function->results, function->result_count);
    tw__text_add(text, " {\n");
    for (size_t i = 0; i < function->node_count; i++)
        TW_TRY(print_node(text, &function->nodes[i], "  "));
    print_returns(text, "  return ", function->returns, function->return_count);
    print_returns(text, "  after ", function->control_returns, function->control_return_count);
    tw__text_add(text, "}\n");
    return TW_OK;
}

tw_status tw__graph_message_print(tw__text *text, const tw__graph_message *message)
{
    tw__text_format(text, "graph: %zu nodes, %zu functions, producer %lld, min_consumer %lld\n", message->node_count,
                    message->function_count, (long long)message->producer, (long long)message->min_consumer);
    for (size_t i = 0; i < message->node_count; i++)
        TW_TRY(print_node(text, &message->nodes[i], ""));
    for (size_t i = 0; i < message->function_count; i++)
        TW_TRY(print_function(text, &message->functions[i]));
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
