/* Protocol buffers' text format of graphs and run metadata: a table of the fields of each message, in the order of their numbers.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "graph.h"

typedef struct message message;
typedef struct entry {
    uint32_t number;
    const char *name;
    char kind; /* i u b s f d, t: a dtype, m: a message, a: a map from text, n: one from numbers; its values are `of`, or texts */
    const message *of;
} entry;
struct message {
    entry entries[20];
};

static const message DIM = { { { 1, "size", 'i', 0 }, { 2, "name", 's', 0 } } };
static const message SHAPE = { { { 2, "dim", 'm', &DIM }, { 3, "unknown_rank", 'b', 0 } } };
static const message HANDLE = { { { 1, "device", 's', 0 },
                                  { 2, "container", 's', 0 },
                                  { 3, "name", 's', 0 },
                                  { 4, "hash_code", 'u', 0 },
                                  { 5, "maybe_type_name", 's', 0 } } };
static const message TENSOR = { { { 1, "dtype", 't', 0 },
                                  { 2, "tensor_shape", 'm', &SHAPE },
                                  { 3, "version_number", 'i', 0 },
                                  { 4, "tensor_content", 's', 0 },
                                  { 5, "float_val", 'f', 0 },
                                  { 6, "double_val", 'd', 0 },
                                  { 7, "int_val", 'i', 0 },
                                  { 8, "string_val", 's', 0 },
                                  { 9, "scomplex_val", 'f', 0 },
                                  { 10, "int64_val", 'i', 0 },
                                  { 11, "bool_val", 'b', 0 },
                                  { 12, "dcomplex_val", 'd', 0 },
                                  { 13, "half_val", 'i', 0 },
                                  { 14, "resource_handle_val", 'm', &HANDLE },
                                  { 16, "uint32_val", 'u', 0 },
                                  { 17, "uint64_val", 'u', 0 } } };
static const message ATTR;
static const message FUNC = { { { 1, "name", 's', 0 }, { 2, "attr", 'a', &ATTR } } };
static const message LIST = { { { 2, "s", 's', 0 },
                                { 3, "i", 'i', 0 },
                                { 4, "f", 'f', 0 },
                                { 5, "b", 'b', 0 },
                                { 6, "type", 't', 0 },
                                { 7, "shape", 'm', &SHAPE },
                                { 8, "tensor", 'm', &TENSOR },
                                { 9, "func", 'm', &FUNC } } };
static const message ATTR = { { { 1, "list", 'm', &LIST },
                                { 2, "s", 's', 0 },
                                { 3, "i", 'i', 0 },
                                { 4, "f", 'f', 0 },
                                { 5, "b", 'b', 0 },
                                { 6, "type", 't', 0 },
                                { 7, "shape", 'm', &SHAPE },
                                { 8, "tensor", 'm', &TENSOR },
                                { 9, "placeholder", 's', 0 },
                                { 10, "func", 'm', &FUNC } } };
static const message DEBUG = { { { 1, "original_node_names", 's', 0 }, { 2, "original_func_names", 's', 0 } } };
static const message NODE = { { { 1, "name", 's', 0 },
                                { 2, "op", 's', 0 },
                                { 3, "input", 's', 0 },
                                { 4, "device", 's', 0 },
                                { 5, "attr", 'a', &ATTR },
                                { 6, "experimental_debug_info", 'm', &DEBUG } } };
static const message ARGUMENT = { { { 1, "name", 's', 0 },
                                    { 2, "description", 's', 0 },
                                    { 3, "type", 't', 0 },
                                    { 4, "type_attr", 's', 0 },
                                    { 5, "number_attr", 's', 0 },
                                    { 6, "type_list_attr", 's', 0 },
                                    { 16, "is_ref", 'b', 0 } } };
static const message ATTR_DEF = { { { 1, "name", 's', 0 },
                                    { 2, "type", 's', 0 },
                                    { 3, "default_value", 'm', &ATTR },
                                    { 4, "description", 's', 0 },
                                    { 5, "has_minimum", 'b', 0 },
                                    { 6, "minimum", 'i', 0 },
                                    { 7, "allowed_values", 'm', &ATTR } } };
static const message OP = { { { 1, "name", 's', 0 },
                              { 2, "input_arg", 'm', &ARGUMENT },
                              { 3, "output_arg", 'm', &ARGUMENT },
                              { 4, "attr", 'm', &ATTR_DEF },
                              { 5, "summary", 's', 0 },
                              { 6, "description", 's', 0 },
                              { 16, "is_aggregate", 'b', 0 },
                              { 17, "is_stateful", 'b', 0 },
                              { 18, "is_commutative", 'b', 0 },
                              { 19, "allows_uninitialized_input", 'b', 0 },
                              { 20, "control_output", 's', 0 } } };
static const message ARGUMENT_ATTRS = { { { 1, "attr", 'a', &ATTR } } };
static const message FUNCTION = { { { 1, "signature", 'm', &OP },
                                    { 3, "node_def", 'm', &NODE },
                                    { 4, "ret", 'a', 0 },
                                    { 5, "attr", 'a', &ATTR },
                                    { 6, "control_ret", 'a', 0 },
                                    { 7, "arg_attr", 'n', &ARGUMENT_ATTRS } } };
static const message GRADIENT = { { { 1, "function_name", 's', 0 }, { 2, "gradient_func", 's', 0 } } };
static const message LIBRARY = { { { 1, "function", 'm', &FUNCTION }, { 2, "gradient", 'm', &GRADIENT } } };
static const message VERSIONS = { { { 1, "producer", 'i', 0 }, { 2, "min_consumer", 'i', 0 }, { 3, "bad_consumers", 'i', 0 } } };
static const message GRAPH = {
    { { 1, "node", 'm', &NODE }, { 2, "library", 'm', &LIBRARY }, { 3, "version", 'i', 0 }, { 4, "versions", 'm', &VERSIONS } }
};
static const message ALLOCATION = { { { 1, "requested_bytes", 'i', 0 },
                                      { 2, "allocated_bytes", 'i', 0 },
                                      { 3, "allocator_name", 's', 0 },
                                      { 4, "allocation_id", 'i', 0 },
                                      { 5, "has_single_reference", 'b', 0 },
                                      { 6, "ptr", 'u', 0 } } };
static const message DESCRIPTION = {
    { { 1, "dtype", 't', 0 }, { 2, "shape", 'm', &SHAPE }, { 4, "allocation_description", 'm', &ALLOCATION } }
};
static const message OUTPUT = { { { 1, "slot", 'i', 0 }, { 3, "tensor_description", 'm', &DESCRIPTION } } };
static const message MEMORY = { { { 1, "allocator_name", 's', 0 },
                                  { 2, "total_bytes", 'i', 0 },
                                  { 3, "peak_bytes", 'i', 0 },
                                  { 4, "live_bytes", 'i', 0 },
                                  { 5, "allocator_bytes_in_use", 'i', 0 } } };
static const message STATS = { { { 1, "node_name", 's', 0 },
                                 { 2, "all_start_micros", 'i', 0 },
                                 { 3, "op_start_rel_micros", 'i', 0 },
                                 { 4, "op_end_rel_micros", 'i', 0 },
                                 { 5, "all_end_rel_micros", 'i', 0 },
                                 { 6, "memory", 'm', &MEMORY },
                                 { 7, "output", 'm', &OUTPUT },
                                 { 8, "timeline_label", 's', 0 },
                                 { 9, "scheduled_micros", 'i', 0 },
                                 { 10, "thread_id", 'u', 0 },
                                 { 13, "all_start_nanos", 'i', 0 },
                                 { 14, "op_start_rel_nanos", 'i', 0 },
                                 { 15, "op_end_rel_nanos", 'i', 0 },
                                 { 16, "all_end_rel_nanos", 'i', 0 },
                                 { 17, "scheduled_nanos", 'i', 0 } } };
static const message DEVICE = { { { 1, "device", 's', 0 }, { 2, "node_stats", 'm', &STATS } } };
static const message STEP = { { { 1, "dev_stats", 'm', &DEVICE } } };
static const message GRAPHS = { { { 1, "partition_graphs", 'm', &GRAPH },
                                  { 2, "pre_optimization_graph", 'm', &GRAPH },
                                  { 3, "post_optimization_graph", 'm', &GRAPH } } };
static const message METADATA = {
    { { 1, "step_stats", 'm', &STEP }, { 3, "partition_graphs", 'm', &GRAPH }, { 4, "function_graphs", 'm', &GRAPHS } }
};

typedef struct printer {
    FILE *out;
    int depth;
    int64_t limit;     /* of attributes' bytes; 0: none */
    const char *large; /* the attribute that names those that are larger */
    bool wide;         /* everything on one line */
} printer;

enum { DEPTH_LIMIT = 60 };

static void indent(printer *p)
{
    if (p->wide)
        fputs(p->depth ? " " : "", p->out);
    for (int i = 0; !p->wide && i < p->depth; i++)
        fputs("  ", p->out);
}

static void end_line(printer *p)
{
    fputs(p->wide ? "" : "\n", p->out);
}

static void put_quoted(FILE *out, const uint8_t *text, size_t size)
{
    static const char named[] = "\n\r\t\"'\\", names[] = "nrt\"'\\";
    fputc('"', out);
    for (size_t i = 0; i < size; i++) {
        const char *found = text[i] ? strchr(named, text[i]) : NULL;
        if (found)
            fprintf(out, "\\%c", names[found - named]);
        else if (text[i] < 32 || text[i] > 126)
            fprintf(out, "\\%03o", text[i]);
        else
            fputc(text[i], out);
    }
    fputc('"', out);
}

static void put_float(FILE *out, double value, bool single)
{
    char text[40] = "nan";
    for (int digits = 1; isfinite(value) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (single ? (double)strtof(text, NULL) == value : strtod(text, NULL) == value)
            break;
    }
    if (isinf(value))
        snprintf(text, sizeof text, value > 0 ? "inf" : "-inf");
    fputs(text, out);
    fputs(isfinite(value) && !strpbrk(text, ".e") ? ".0" : "", out);
}

static void put_dtype(FILE *out, uint64_t number)
{
    static const char *const names[] = { "INVALID",    "FLOAT",  "DOUBLE",    "INT32",   "UINT8",   "INT16",
                                         "INT8",       "STRING", "COMPLEX64", "INT64",   "BOOL",    "QINT8",
                                         "QUINT8",     "QINT32", "BFLOAT16",  "QINT16",  "QUINT16", "UINT16",
                                         "COMPLEX128", "HALF",   "RESOURCE",  "VARIANT", "UINT32",  "UINT64" };
    uint64_t plain = number > 100 ? number - 100 : number;
    if (plain < sizeof names / sizeof *names)
        fprintf(out, "DT_%s%s", names[plain], number > 100 ? "_REF" : "");
    else
        fprintf(out, "%llu", (unsigned long long)number);
}

static void put_message(printer *p, const message *of, const uint8_t *data, size_t size);

static void put_block(printer *p, const char *name, const message *of, const uint8_t *data, size_t size)
{
    indent(p);
    fprintf(p->out, "%s {", name);
    end_line(p);
    p->depth++;
    if (p->depth < DEPTH_LIMIT)
        put_message(p, of, data, size);
    p->depth--;
    indent(p);
    fputc('}', p->out);
    end_line(p);
}

static void put_scalar(printer *p, const entry *e, const board_field *field)
{
    indent(p);
    fprintf(p->out, "%s: ", e->name);
    if (e->kind == 's')
        put_quoted(p->out, field->data, field->size);
    else if (e->kind == 'b')
        fputs(field->value ? "true" : "false", p->out);
    else if (e->kind == 't')
        put_dtype(p->out, field->value);
    else if (e->kind == 'f' || e->kind == 'd')
        put_float(p->out, e->kind == 'f' ? board_as_float(field->value) : board_as_double(field->value), e->kind == 'f');
    else
        fprintf(p->out, e->kind == 'u' ? "%llu" : "%lld", (long long)field->value);
    end_line(p);
}

static void put_packed(printer *p, const entry *e, const board_field *field)
{
    const uint8_t *at = field->data, *end = at + field->size;
    size_t bytes = e->kind == 'f' ? 4 : e->kind == 'd' ? 8 : 0;
    while (at < end) {
        board_field one = { 0 };
        if (bytes && (size_t)(end - at) < bytes)
            return;
        for (size_t i = bytes; i-- > 0;)
            one.value = one.value << 8 | at[i];
        at += bytes;
        if (!bytes && !board_varint(&at, end, &one.value))
            return;
        put_scalar(p, e, &one);
    }
}

/* A map's entry {1 key, 2 value}. */
static void put_entry(printer *p, const entry *e, const board_field *field)
{
    board_field key = { 0 }, value = { 0 };
    board_get_field(field->data, field->size, 1, &key);
    board_get_field(field->data, field->size, 2, &value);
    indent(p);
    fprintf(p->out, "%s {", e->name);
    end_line(p);
    p->depth++;
    put_scalar(p, &(entry){ 1, "key", e->kind == 'n' ? 'i' : 's', 0 }, &key);
    if (e->of)
        put_block(p, "value", e->of, value.data, value.size);
    else
        put_scalar(p, &(entry){ 2, "value", 's', 0 }, &value);
    p->depth--;
    indent(p);
    fputc('}', p->out);
    end_line(p);
}

static bool is_large(const printer *p, const message *of, const entry *e, const board_field *field)
{
    board_field value = { 0 };
    return p->limit > 0 && p->depth == 1 && of == &NODE && e->kind == 'a' &&
           board_get_field(field->data, field->size, 2, &value) && (int64_t)value.size > p->limit;
}

/* The names of a node's large attributes, as an attribute. */
static void put_large(printer *p, const uint8_t *data, size_t size)
{
    board_field field, key;
    char *memory = NULL;
    size_t length = 0;
    FILE *list = open_memstream(&memory, &length);
    for (const uint8_t *at = data; list && board_next_field(&at, data + size, &field);) {
        if (field.number == 5 && field.data && is_large(p, &NODE, &NODE.entries[4], &field) &&
            board_get_field(field.data, field.size, 1, &key)) {
            fputs("          s: ", list);
            put_quoted(list, key.data, key.size);
            fputc('\n', list);
        }
    }
    if (list)
        fclose(list);
    if (length) {
        fputs("  attr {\n    key: ", p->out);
        put_quoted(p->out, (const uint8_t *)p->large, strlen(p->large));
        fprintf(p->out, "\n    value {\n      list {\n");
        for (char *line = strtok(memory, "\n"); line; line = strtok(NULL, "\n"))
            fprintf(p->out, "%s\n", line + 2);
        fputs("      }\n    }\n  }\n", p->out);
    }
    free(memory);
}

static void put_message(printer *p, const message *of, const uint8_t *data, size_t size)
{
    for (const entry *e = of->entries; e->name; e++) {
        board_field field;
        for (const uint8_t *at = data; board_next_field(&at, data + size, &field);) {
            if (field.number != e->number || is_large(p, of, e, &field))
                continue;
            bool bytes = e->kind == 's' || e->kind == 'm' || e->kind == 'a' || e->kind == 'n';
            if (bytes && !field.data)
                continue;
            if (e->kind == 'm')
                put_block(p, e->name, e->of, field.data, field.size);
            else if (e->kind == 'a' || e->kind == 'n')
                put_entry(p, e, &field);
            else if (!bytes && field.data)
                put_packed(p, e, &field);
            else
                put_scalar(p, e, &field);
        }
    }
    if (of == &NODE && p->limit > 0 && p->depth == 1)
        put_large(p, data, size);
}

void board_put_graph_text(FILE *out, const uint8_t *data, size_t size, int64_t limit, const char *large)
{
    put_message(&(printer){ .out = out, .limit = limit, .large = large }, &GRAPH, data, size);
}

void board_put_metadata_text(FILE *out, const uint8_t *data, size_t size)
{
    put_message(&(printer){ .out = out }, &METADATA, data, size);
}

void board_put_attr_text(FILE *out, const uint8_t *data, size_t size)
{
    put_message(&(printer){ .out = out, .wide = true }, &ATTR, data, size);
}
