/* Where the values are that gradient functions of a file captured; see registered.h.
 *
 * A value of the function that the node stands in is found there by its name. One of a function around that (TensorFlow writes
 * the outermost place) came in as an argument: the call that passes it is looked for. */
#include "function/registered.h"

#include "op/op.h"

enum { LEVELS = 6 };

typedef struct search {
    const tw__graph_message *message;
    const tw__registered_capture *capture;
} search;

static bool same(tw_string a, tw_string b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static const tw__function_message *find_function(const tw__graph_message *message, const char *name)
{
    for (size_t i = 0; i < message->function_count; i++) {
        if (tw__string_is(message->functions[i].name, name))
            return &message->functions[i];
    }
    return NULL;
}

/* Whether an input ("mul:z:0", or "x" of an argument) is the tensor "mul:0", "x:0". */
static bool is_tensor(const tw__function_message *function, tw_string input, const char *tensor)
{
    const char *colon = strrchr(tensor, ':'), *first = input.size ? memchr(input.data, ':', input.size) : NULL;
    tw_string name = { tensor, colon ? (size_t)(colon - tensor) : 0 };
    size_t length = first ? (size_t)(first - input.data) : input.size;
    if (!colon || !same(name, (tw_string){ input.data, length }))
        return false;
    if (!first)
        return strcmp(colon, ":0") == 0;
    const char *last = memrchr(input.data, ':', input.size);
    if (!tw__string_is((tw_string){ last, input.size - (size_t)(last - input.data) }, colon))
        return false;
    if (function->flat)
        return true;
    for (size_t i = 0; i < function->node_count; i++) {
        if (!same(function->nodes[i].name, name))
            continue;
        tw__owned char *text = tw__strndup(function->nodes[i].op.data, function->nodes[i].op.size);
        const tw_op *op = text ? tw__op_find(text) : NULL;
        const tw__op_signature *signature = op ? tw__op_signature_of(op) : NULL;
        return signature && signature->output_count == 1; /* then the number in it is the flat one */
    }
    return false;
}

typedef struct mention {
    tw_string name;
    bool found;
} mention;

static tw_status look(void *context, tw_string name)
{
    mention *m = context;
    m->found |= same(m->name, name);
    return TW_OK;
}

/* Which input of a call is the function's first argument; -1: it is no call of it. */
static int first_argument(const tw__node_message *node, tw_string function)
{
    bool loop = tw__string_is(node->op, "While") || tw__string_is(node->op, "StatelessWhile");
    bool branch = tw__string_is(node->op, "If") || tw__string_is(node->op, "StatelessIf") || tw__string_is(node->op, "Case") ||
                  tw__string_is(node->op, "StatelessCase");
    bool call = tw__string_is(node->op, "PartitionedCall") || tw__string_is(node->op, "StatefulPartitionedCall");
    mention m = { function, false };
    for (size_t i = 0; (loop || branch || call) && i < node->attr_count; i++) {
        if (!loop || tw__string_is(node->attrs[i].name, "body"))
            tw__attr_message_functions(node->attrs[i].value, look, &m);
    }
    return m.found ? branch : -1;
}

static int source_of(const search *s, const tw__function_message *function, tw_string value, int levels);

/* The argument that a function's result is; TW_NOWHERE: it is computed. */
static int source_of_result(const search *s, const tw__function_message *function, size_t index, int levels)
{
    for (size_t i = 0; index < function->result_count && i < function->return_count; i++) {
        if (same(function->returns[i].name, function->results[index].name))
            return source_of(s, function, function->returns[i].value, levels);
    }
    return TW_NOWHERE;
}

/* A call's output: the function may hand an argument on. */
static int source_of_call(const search *s, const tw__function_message *function, const tw__node_message *node, tw_string value,
                          int levels)
{
    const char *last = memrchr(value.data, ':', value.size);
    size_t output = 0;
    for (const char *c = last + 1; c < value.data + value.size && *c >= '0' && *c <= '9' && output < INT32_MAX / 16; c++)
        output = 10 * output + (size_t)(*c - '0');
    for (size_t i = 0; i < s->message->function_count; i++) {
        const tw__function_message *inner = &s->message->functions[i];
        if (first_argument(node, inner->name) < 0)
            continue;
        int argument = source_of_result(s, inner, output, levels - 1);
        return argument >= 0 && (size_t)argument < node->input_count ? source_of(s, function, node->inputs[argument], levels - 1)
                                                                     : TW_NOWHERE;
    }
    return TW_NOWHERE;
}

static int source_of(const search *s, const tw__function_message *function, tw_string value, int levels)
{
    for (size_t i = 0; i < function->argument_count; i++) {
        if (same(value, function->arguments[i].name))
            return (int)i;
    }
    const char *colon = value.size ? memchr(value.data, ':', value.size) : NULL;
    for (size_t i = 0; levels > 0 && colon && i < function->node_count; i++) {
        const tw__node_message *node = &function->nodes[i];
        if (!same(node->name, (tw_string){ value.data, (size_t)(colon - value.data) }))
            continue;
        if (tw__string_is(node->op, "Identity") && node->input_count)
            return source_of(s, function, node->inputs[0], levels - 1);
        bool call = tw__string_is(node->op, "PartitionedCall") || tw__string_is(node->op, "StatefulPartitionedCall");
        return call ? source_of_call(s, function, node, value, levels) : TW_NOWHERE;
    }
    return TW_NOWHERE;
}

/* The argument of a function that a caller gives the tensor as; TW_NOWHERE: none. */
static int argument_of(const search *s, const tw__function_message *function, int levels);

static int argument_in(const search *s, const tw__function_message *caller, const tw__function_message *function, int levels)
{
    tw__owned char *inner = NULL;
    for (size_t n = 0; n < caller->node_count; n++) {
        const tw__node_message *node = &caller->nodes[n];
        int first = first_argument(node, function->name), place = TW_NOWHERE;
        if (first < 0)
            continue;
        bool here = tw__string_is(caller->name, s->capture->function);
        int outer = here || inner ? TW_NOWHERE : argument_of(s, caller, levels - 1);
        if (outer >= 0)
            inner = tw__format("%.*s:0", (int)caller->arguments[outer].name.size, caller->arguments[outer].name.data);
        const char *tensor = here ? s->capture->tensor : inner;
        for (size_t i = (size_t)first; tensor && place < 0 && i < node->input_count; i++) {
            size_t argument = i - (size_t)first;
            bool passed = is_tensor(caller, node->inputs[i], tensor) && argument < function->argument_count;
            if (passed && (!(tw__string_is(node->op, "While") || tw__string_is(node->op, "StatelessWhile")) ||
                           source_of_result(s, function, argument, LEVELS) == (int)argument))
                place = (int)argument;
        }
        if (place >= 0 || !tensor)
            return place;
    }
    return TW_NOWHERE;
}

static int argument_of(const search *s, const tw__function_message *function, int levels)
{
    int place = TW_NOWHERE;
    for (size_t i = 0; levels > 0 && place < 0 && i < s->message->function_count; i++) {
        const tw__function_message *caller = &s->message->functions[i];
        if (caller != function)
            place = argument_in(s, caller, function, levels);
    }
    return place;
}

int tw__registered_place(const tw__graph_message *message, const tw__function_message *function, tw_string node, tw_string type,
                         const tw__registered_capture *capture)
{
    if (capture->value || !function || !capture->function || !capture->tensor)
        return capture->value ? TW_OWN_VALUE : TW_NOWHERE;
    if (tw__string_is(function->name, capture->function))
        return TW_OWN_VALUE;
    const tw__function_message *other = find_function(message, capture->function);
    for (size_t i = 0; other && i < other->node_count; i++) { /* a copy of the function, with other results: the same names */
        if (same(other->nodes[i].name, node) && same(tw__gradient_note(&other->nodes[i]), type))
            return TW_OWN_VALUE;
    }
    return other ? argument_of(&(search){ message, capture }, function, LEVELS) : TW_NOWHERE;
}
