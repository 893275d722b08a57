/* Protocol buffers as text, as protobuf prints them: fields in the order of the table, an entry of a map with its key and value
 * whatever they are. The other way is codec/proto_text.c. */
#include <math.h>
#include <stdlib.h>

#include "codec/message.h"
#include "rows.h"
#include "tensor/tensor.h"

enum { DEPTH_LIMIT = 200 };

static bool print_message(tw__text *out, const tw__message *type, tw_string bytes, int depth);

static void print_name(tw__text *out, int depth, const char *name, const char *mark)
{
    tw__text_format(out, "%*s%s%s", 2 * depth, "", name, mark);
}

static void print_string(tw__text *out, tw_string value, bool is_text)
{
    static const char plain[] = "\nn\rr\tt\"\"''\\\\";
    tw__text_add(out, "\"");
    for (size_t i = 0; i < value.size; i++) {
        unsigned char c = (unsigned char)value.data[i];
        const char *found = c ? strchr(plain, c) : NULL;
        if (found && (found - plain) % 2 == 0)
            tw__text_format(out, "\\%c", found[1]);
        else if ((c >= 32 && c < 127) || (is_text && c > 127))
            tw__text_bytes(out, &c, 1);
        else
            tw__text_format(out, "\\%03o", c);
    }
    tw__text_add(out, "\"");
}

static void print_float(tw__text *out, double value, tw_dtype dtype)
{
    if (!isfinite(value))
        tw__text_add(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    else if (value == trunc(value) && fabs(value) < 1e15)
        tw__text_format(out, "%.0f", value);
    else
        tw__print_float(out, value, dtype);
}

static void print_enum(tw__text *out, const tw__enum *values, int64_t number)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->values[i].number == number) {
            tw__text_add(out, values->values[i].name);
            return;
        }
    }
    tw__text_format(out, "%lld", (long long)number);
}

static void print_number(tw__text *out, const tw__message_field *field, uint64_t bits)
{
    switch ((tw__field_type)field->type) {
    case TW_FIELD_FLOAT:
        print_float(out, (double)tw__float_of(bits), TW_FLOAT32);
        return;
    case TW_FIELD_DOUBLE:
        print_float(out, tw__double_of(bits), TW_FLOAT64);
        return;
    case TW_FIELD_BOOL:
        tw__text_add(out, bits ? "true" : "false");
        return;
    case TW_FIELD_ENUM:
        print_enum(out, field->values, (int64_t)bits);
        return;
    case TW_FIELD_UINT32:
    case TW_FIELD_UINT64:
    case TW_FIELD_FIXED32:
    case TW_FIELD_FIXED64:
        tw__text_format(out, "%llu", (unsigned long long)bits);
        return;
    default:
        tw__text_format(out, "%lld", (long long)bits);
    }
}

/* One string or message; of a map's entry, also what is not there. */
static bool print_bytes(tw__text *out, const tw__message_field *field, tw_string value, int depth)
{
    if (field->type != TW_FIELD_MESSAGE) {
        print_name(out, depth, field->name, ": ");
        print_string(out, value, field->type == TW_FIELD_STRING);
        tw__text_add(out, "\n");
        return true;
    }
    print_name(out, depth, field->name, " {\n");
    bool good = print_message(out, field->message, value, depth + 1);
    print_name(out, depth, "}", "\n");
    return good;
}

/* ---- maps ---- */

typedef struct entry {
    tw_string bytes, text;
    int64_t number; /* the key: a text or a number */
} entry;

/* Numbers upwards, texts downwards, but one that another begins with comes before it. */
static int by_key(const void *a_, const void *b_)
{
    const entry *a = a_, *b = b_;
    size_t size = a->text.size < b->text.size ? a->text.size : b->text.size;
    int order = size ? memcmp(a->text.data, b->text.data, size) : 0;
    if (order == 0)
        return a->text.size != b->text.size ? (a->text.size > b->text.size ? 1 : -1)
                                            : (a->number > b->number) - (a->number < b->number);
    return order < 0 ? 1 : -1;
}

static bool print_map(tw__text *out, const tw__message_field *field, tw__many many, int depth)
{
    const tw__message_field *key = &field->message->fields[0];
    bool is_unsigned = key->type == TW_FIELD_UINT64 || key->type == TW_FIELD_FIXED64;
    size_t count = 0, at = 0;
    tw_string bytes;
    for (tw__many each = many; tw__next_bytes(&each, &bytes);)
        count++;
    tw__owned entry *entries = tw__alloc_array(count + 1, sizeof *entries);
    bool good = entries != NULL;
    for (; good && at < count && tw__next_bytes(&many, &bytes); at++) {
        entries[at] = (entry){ .bytes = bytes };
        tw__many found = tw__many_of(field->message, key->number, bytes);
        tw__numbers numbers = tw__numbers_of(found);
        uint64_t bits = 0;
        if (key->type == TW_FIELD_STRING)
            tw__next_bytes(&found, &entries[at].text);
        else
            tw__next_number(&numbers, &bits);
        entries[at].number = (int64_t)(is_unsigned ? bits ^ (uint64_t)1 << 63 : bits); /* in order */
    }
    if (good && count)
        qsort(entries, count, sizeof *entries, by_key);
    for (size_t i = 0; good && i < count; i++)
        good = print_bytes(out, field, entries[i].bytes, depth);
    return good;
}

/* ---- messages ---- */

static bool print_field(tw__text *out, const tw__message *type, const tw__message_field *field, tw_string bytes, int depth)
{
    tw__many many = tw__many_of(type, field->number, bytes);
    bool good = true, is_number = tw__field_wire(field->type) != TW_WIRE_BYTES;
    tw__numbers numbers = tw__numbers_of(many);
    uint64_t bits = 0;
    tw_string value = { "", 0 };
    if (field->map)
        return print_map(out, field, many, depth);
    for (bool always = type->entry; good; always = false) {
        bool there = is_number ? tw__next_number(&numbers, &bits) : tw__next_bytes(&many, &value);
        if (!there && !always)
            break;
        if (!is_number) {
            good = print_bytes(out, field, value, depth);
            continue;
        }
        print_name(out, depth, field->name, ": ");
        print_number(out, field, bits);
        tw__text_add(out, "\n");
    }
    return good && !many.failed && !numbers.many.failed;
}

static bool print_message(tw__text *out, const tw__message *type, tw_string bytes, int depth)
{
    bool good = depth < DEPTH_LIMIT;
    for (int i = 0; good && i < type->count; i++)
        good = print_field(out, type, &type->fields[i], bytes, depth);
    return good;
}

TW_API(
    message_text, "io._message_text(type: str, message: value) -> str",
    "A serialized protocol buffer as text. type: the message's name, \"GraphDef\" or \"AttrValue.ListValue\"; message: its bytes.")
{
    const tw__message *type = tw__message_named(args->type, strlen(args->type));
    bool is_bytes = args->message.kind == TW_VALUE_BYTES || args->message.kind == TW_VALUE_STR;
    tw__text out = { 0 };
    tw__text_add(&out, "");
    if (!type || type->entry)
        tw__fail(TW_VALUE_ERROR, "there is no message %s", args->type);
    else if (!is_bytes)
        tw__fail(TW_TYPE_ERROR, "the bytes of a %s are expected", type->name);
    else if (!print_message(&out, type, args->message.s, 0))
        tw__fail(TW_VALUE_ERROR, "the bytes are no %s, or one too deep", type->name);
    else
        return tw__text_take(&out);
    tw__text_free(&out);
    return NULL;
}
