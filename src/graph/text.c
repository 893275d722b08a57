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
    tw__owned char *tuple = tw__shape_tuple(&shape);
    if (!tuple)
        return TW_RESOURCE_EXHAUSTED;
    tw__text_add(text, tuple);
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
    tw_auto tw_tensor *first = tw__tensor_message_read(&message, FIRST_ELEMENTS, &budget);
    if (!first)
        return tw__error_status();
    tw__auto(tw__text_free) tw__text elements = { 0 };
    tw_status status = tw__print_elements(&elements, first, ", ", 0);
    if (elements.size && message.count > FIRST_ELEMENTS) {
        tw__text_bytes(text, elements.data, elements.size - 1);
        tw__text_add(text, ", …]");
    } else if (elements.size) {
        tw__text_add(text, elements.data);
    }
    text->failed |= elements.failed;
    return status;
}

static tw_status print_function_name(tw__text *text, tw_string bytes)
{
    tw__NameAttrList function;
    if (!tw__read_NameAttrList(bytes, &function))
        return tw__fail(TW_DATA_LOSS, "a function's name that can't be read");
    tw__text_add(text, "@");
    print_plain(text, function.name);
    return TW_OK;
}

static void print_number(tw__text *text, uint32_t type, uint64_t bits)
{
    if (type == TW_FIELD_FLOAT)
        tw__print_float(text, tw__float_of(bits), TW_FLOAT32);
    else if (type == TW_FIELD_BOOL)
        tw__text_add(text, bits ? "true" : "false");
    else if (type == TW_FIELD_ENUM)
        print_type(text, bits);
    else
        tw__text_format(text, "%lld", (long long)bits);
}

static tw_status print_quoted_bytes(tw__text *text, tw_string bytes)
{
    print_quoted(text, bytes);
    return TW_OK;
}

static tw_status print_list(tw__text *text, tw_string bytes)
{
    tw__AttrValue_ListValue list;
    if (!tw__read_AttrValue_ListValue(bytes, &list))
        return tw__fail(TW_DATA_LOSS, "a list that can't be read");
    const struct {
        tw__many many;
        tw_status (*print)(tw__text *text, tw_string bytes); /* NULL: numbers */
    } members[] = { { list.s, print_quoted_bytes },
                    { list.i, NULL },
                    { list.f, NULL },
                    { list.b, NULL },
                    { list.type, NULL },
                    { list.shape, print_shape },
                    { list.tensor, print_tensor },
                    { list.func, print_function_name } };
    const char *between = "";
    tw__text_add(text, "[");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        tw__numbers numbers = tw__numbers_of(members[i].many);
        uint64_t bits;
        for (tw_string item; members[i].print && tw__next_bytes(&numbers.many, &item); between = ", ") {
            tw__text_add(text, between);
            TW_TRY(members[i].print(text, item));
        }
        for (; !members[i].print && tw__next_number(&numbers, &bits); between = ", ") {
            tw__text_add(text, between);
            print_number(text, members[i].many.type, bits);
        }
        if (numbers.many.failed)
            return tw__fail(TW_DATA_LOSS, "a list that can't be read");
    }
    tw__text_add(text, "]");
    return TW_OK;
}

tw_status tw__attr_message_print(tw__text *text, tw_string bytes)
{
    tw__AttrValue value;
    if (!tw__read_AttrValue(bytes, &value))
        return tw__fail(TW_DATA_LOSS, "a value that can't be read");
    switch (value.which_value) {
    case TW_AttrValue_s:
        return print_quoted_bytes(text, value.s);
    case TW_AttrValue_i:
        print_number(text, TW_FIELD_INT64, (uint64_t)value.i);
        return TW_OK;
    case TW_AttrValue_f:
        tw__print_float(text, value.f, TW_FLOAT32);
        return TW_OK;
    case TW_AttrValue_b:
        print_number(text, TW_FIELD_BOOL, value.b);
        return TW_OK;
    case TW_AttrValue_type:
        print_type(text, (uint64_t)(int64_t)value.type);
        return TW_OK;
    case TW_AttrValue_shape:
        return print_shape(text, value.shape);
    case TW_AttrValue_tensor:
        return print_tensor(text, value.tensor);
    case TW_AttrValue_list:
        return print_list(text, value.list);
    case TW_AttrValue_func:
        return print_function_name(text, value.func);
    default:
        tw__text_add(text, "?");
        return TW_OK;
    }
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
