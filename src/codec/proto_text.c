/* Protocol buffers as text:
 *
 *     node { name: "x" attr { key: "T" value { type: DT_FLOAT } } input: ["a", "b"] } # a comment
 *
 * The tables tell names from numbers. The bytes that come of it are what the message's own readers read.
 */
#include <ctype.h>
#include <stdlib.h>

#include "codec/message.h"

enum { DEPTH_LIMIT = 200, WORD_LIMIT = 512 };

typedef struct reading {
    const char *at, *end;
    int line, depth;
    const char *error; /* what is wrong at the line, or NULL */
} reading;

static bool fail(reading *r, const char *why)
{
    if (!r->error)
        r->error = why;
    return false;
}

static const tw__message_field *field_named(const tw__message *type, const char *name)
{
    for (int i = 0; i < type->count; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    }
    return NULL;
}

static const tw__enum_value *value_named(const tw__enum *type, const char *name)
{
    for (size_t i = 0; i < type->count; i++) {
        if (strcmp(type->values[i].name, name) == 0)
            return &type->values[i];
    }
    return NULL;
}

/* ---- words ---- */

static void skip(reading *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '#') {
            while (r->at + 1 < r->end && r->at[1] != '\n')
                r->at++;
        } else if (!isspace((unsigned char)*r->at)) {
            return;
        } else {
            r->line += *r->at == '\n';
        }
    }
}

static bool take(reading *r, char c)
{
    skip(r);
    if (r->at >= r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* A name or a number, as far as it goes. */
static size_t word(reading *r, char *out)
{
    skip(r);
    size_t size = 0;
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || strchr("_.+-", *r->at)) && *r->at && size + 1 < WORD_LIMIT)
        out[size++] = *r->at++;
    out[size] = 0;
    return size;
}

static bool escape(reading *r, tw__text *out)
{
    static const char letters[] = "n\nr\rt\ta\ab\bf\fv\v\\\\''\"\"??";
    char c = *r->at++;
    unsigned value = 0;
    int digits = 0;
    if (c == 'x' || c == 'X') {
        for (; digits < 2 && r->at < r->end && isxdigit((unsigned char)*r->at); digits++, r->at++)
            value = value * 16 +
                    (unsigned)(isdigit((unsigned char)*r->at) ? *r->at - '0' : tolower((unsigned char)*r->at) - 'a' + 10);
    } else if (c >= '0' && c <= '7') {
        for (r->at--; digits < 3 && r->at < r->end && *r->at >= '0' && *r->at <= '7'; digits++, r->at++)
            value = value * 8 + (unsigned)(*r->at - '0');
    } else {
        for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
            if (letters[i] == c) {
                value = (unsigned char)letters[i + 1];
                digits = 1;
            }
        }
    }
    char byte = (char)value;
    tw__text_bytes(out, &byte, 1);
    return digits ? true : fail(r, "an escape that there is not");
}

/* Strings beside each other are one. */
static bool string(reading *r, tw__text *out)
{
    skip(r);
    if (r->at >= r->end || (*r->at != '"' && *r->at != '\''))
        return fail(r, "a string is expected");
    while (r->at < r->end && (*r->at == '"' || *r->at == '\'')) {
        char quote = *r->at++;
        while (r->at < r->end && *r->at != quote && *r->at != '\n') {
            if (*r->at == '\\' && r->at + 1 < r->end) {
                r->at++;
                if (!escape(r, out))
                    return false;
            } else {
                tw__text_bytes(out, r->at++, 1);
            }
        }
        if (r->at >= r->end || *r->at++ != quote)
            return fail(r, "a string without an end");
        skip(r);
    }
    return true;
}

/* ---- values ---- */

static bool whole_number(reading *r, uint64_t *value)
{
    char text[WORD_LIMIT], *end = text;
    bool any = word(r, text) > 0;
    *value = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return any && !*end ? true : fail(r, "a whole number is expected");
}

static bool fraction(reading *r, double *value)
{
    char text[WORD_LIMIT], *end = text;
    size_t size = word(r, text);
    *value = strtod(text, &end);
    bool whole = size && (!*end || ((*end == 'f' || *end == 'F') && !end[1]));
    return whole ? true : fail(r, "a number is expected");
}

static bool truth(reading *r, uint64_t *value)
{
    char text[WORD_LIMIT];
    word(r, text);
    *value = strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "t") == 0 || strcmp(text, "1") == 0;
    bool no = strcmp(text, "false") == 0 || strcmp(text, "False") == 0 || strcmp(text, "f") == 0 || strcmp(text, "0") == 0;
    return *value || no ? true : fail(r, "true or false is expected");
}

/* A name, or its number. */
static bool choice(reading *r, const tw__enum *type, uint64_t *value)
{
    char text[WORD_LIMIT], *end = text;
    size_t size = word(r, text);
    bool number = size && (isdigit((unsigned char)text[0]) || text[0] == '-');
    const tw__enum_value *found = number ? NULL : value_named(type, text);
    *value = number ? (uint64_t)strtoll(text, &end, 10) : found ? (uint64_t)(int64_t)found->number : 0;
    return found || (number && !*end) ? true : fail(r, "a name that its enum does not have");
}

static bool message(reading *r, const tw__message *type, char end, tw__text *out);

static bool nested(reading *r, uint32_t number, const tw__message *type, tw__text *out)
{
    bool angle = take(r, '<'), good = angle || take(r, '{') ? true : fail(r, "{ is expected");
    size_t start = tw__open(out, number);
    good = good && (type || fail(r, "a message that is not known")) && message(r, type, angle ? '>' : '}', out);
    tw__close(out, start);
    return good && !out->failed;
}

static bool scalar(reading *r, const tw__message_field *m, tw__text *out)
{
    uint64_t number = 0;
    double real = 0;
    bool good = false;
    size_t start;
    switch (m->type) {
    case TW_FIELD_STRING:
    case TW_FIELD_BYTES:
        start = tw__open(out, m->number);
        good = string(r, out);
        tw__close(out, start);
        return good && !out->failed;
    case TW_FIELD_FLOAT:
    case TW_FIELD_DOUBLE:
        good = fraction(r, &real);
        number = m->type == TW_FIELD_FLOAT ? tw__bits_of_float((float)real) : tw__bits_of_double(real);
        break;
    case TW_FIELD_BOOL:
        good = truth(r, &number);
        break;
    case TW_FIELD_ENUM:
        good = choice(r, m->values, &number);
        break;
    default:
        good = whole_number(r, &number);
        if (m->type == TW_FIELD_SINT64)
            number = (number << 1) ^ (uint64_t)((int64_t)number >> 63);
    }
    tw__wire wire = tw__field_wire(m->type);
    if (good && wire == TW_WIRE_FIXED32)
        tw__proto_add_fixed32(out, m->number, (uint32_t)number);
    else if (good && wire == TW_WIRE_FIXED64)
        tw__proto_add_fixed64(out, m->number, number);
    else if (good)
        tw__proto_add_varint(out, m->number, number);
    return good;
}

static bool value(reading *r, const tw__message_field *m, tw__text *out)
{
    skip(r);
    bool opens = r->at < r->end && (*r->at == '{' || *r->at == '<');
    return m->type == TW_FIELD_MESSAGE ? nested(r, m->number, m->message, out)
           : opens                     ? fail(r, "a value is expected")
                                       : scalar(r, m, out);
}

static bool values(reading *r, const tw__message_field *m, tw__text *out)
{
    bool colon = take(r, ':');
    if (!colon && m->type != TW_FIELD_MESSAGE)
        return fail(r, ": is expected");
    if (!take(r, '['))
        return value(r, m, out);
    if (take(r, ']'))
        return true;
    do {
        if (!value(r, m, out))
            return false;
    } while (take(r, ','));
    return take(r, ']') ? true : fail(r, "] is expected");
}

/* [type.googleapis.com/package.Name] { … } inside of an Any. */
static bool packed(reading *r, tw__text *out)
{
    const char *begin = r->at;
    while (r->at < r->end && *r->at != ']' && *r->at != '\n')
        r->at++;
    size_t size = (size_t)(r->at - begin);
    const char *name = begin;
    for (size_t i = 0; i < size; i++)
        name = begin[i] == '/' || (begin[i] == '.' && name > begin) ? begin + i + 1 : name;
    if (!take(r, ']'))
        return fail(r, "] is expected");
    tw__put_Any_type_url(out, begin, size);
    take(r, ':');
    return nested(r, TW_Any_value, tw__message_named(name, (size_t)(begin + size - name)), out);
}

static bool message(reading *r, const tw__message *type, char end, tw__text *out)
{
    if (++r->depth > DEPTH_LIMIT)
        return fail(r, "messages are nested too deep");
    for (;;) {
        char name[WORD_LIMIT];
        const tw__message_field *m;
        skip(r);
        if (r->at >= r->end ? !end : end && *r->at == end) {
            r->at += end != 0;
            r->depth--;
            return true;
        }
        if (r->at >= r->end)
            return fail(r, "the text ends inside of a message");
        if (take(r, '[')) {
            if (!packed(r, out))
                return false;
        } else if (!word(r, name)) {
            return fail(r, "a name is expected");
        } else if (!(m = field_named(type, name))) {
            return fail(r, "a name that the message does not have");
        } else if (!values(r, m, out)) {
            return false;
        }
        if (!take(r, ';'))
            take(r, ',');
    }
}

const char *tw__message_from_text(tw__text *out, const tw__message *type, const char *text, size_t size, int *line)
{
    reading r = { .at = text, .end = text + size, .line = 1 };
    if (!message(&r, type, 0, out))
        fail(&r, "out of memory");
    *line = r.line;
    return r.error;
}
