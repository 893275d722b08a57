/* Protocol buffers as text:
 *
 *     node { name: "x" attr { key: "T" value { type: DT_FLOAT } } input: ["a", "b"] } # a comment
 *
 * A table tells names from numbers (tw__text_types, codec.h). The bytes that come of it are what the message's own readers read.
 */
#include <ctype.h>
#include <stdlib.h>

#include "codec/codec.h"

enum { DEPTH_LIMIT = 200, WORD_LIMIT = 512 };

typedef struct reading {
    const tw__text_types *types;
    const char *at, *end;
    int line, depth;
    const char *error; /* what is wrong at the line, or NULL */
} reading;

typedef struct member {
    uint32_t number;
    char kind;               /* see tw__text_types */
    const tw__text_type *of; /* the message or enum; NULL: none that is known */
} member;

static bool fail(reading *r, const char *why)
{
    if (!r->error)
        r->error = why;
    return false;
}

/* ---- the table ---- */

static const tw__text_type *find_type(const tw__text_type *types, size_t count, const char *name, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(types[i].name) == size && memcmp(types[i].name, name, size) == 0)
            return &types[i];
    }
    return NULL;
}

static const tw__text_type *message_of(const reading *r, const char *name, size_t size)
{
    return find_type(r->types->messages, r->types->message_count, name, size);
}

/* The words behind "name " in the members of a type; NULL if there is no such. */
static const char *find_member(const tw__text_type *type, const char *name, size_t size)
{
    for (const char *p = type->members; p && *p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, name, size) == 0 && p[size] == ' ')
            return p + size + 1;
    }
    return NULL;
}

static bool member_of(const reading *r, const tw__text_type *type, const char *name, size_t size, member *m)
{
    const char *words = find_member(type, name, size);
    if (!words)
        return false;
    char *end;
    m->number = (uint32_t)strtoul(words, &end, 10);
    m->kind = end[1];
    m->of = NULL;
    if (m->kind == 'm' || m->kind == 'e') {
        const char *child = end + 3;
        size_t length = strcspn(child, "|");
        m->of = m->kind == 'm' ? message_of(r, child, length) : find_type(r->types->enums, r->types->enum_count, child, length);
    }
    return true;
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

/* A name, or its number. Enums without a table are those that nobody here reads. */
static bool choice(reading *r, const tw__text_type *type, uint64_t *value)
{
    char text[WORD_LIMIT], *end = text;
    size_t size = word(r, text);
    bool number = size && (isdigit((unsigned char)text[0]) || text[0] == '-');
    const char *found = number ? text : type ? find_member(type, text, size) : "0";
    *value = found ? (uint64_t)strtoll(found, &end, 10) : 0;
    return size && found && !(number && *end) ? true : fail(r, "a name that its enum does not have");
}

static bool message(reading *r, const tw__text_type *type, char end, tw__text *out);

static bool nested(reading *r, const member *m, tw__text *out)
{
    tw__text inner = { 0 };
    bool angle = take(r, '<'), good = angle || take(r, '{') ? true : fail(r, "{ is expected");
    good = good && (m->of || fail(r, "a message that is not known")) && message(r, m->of, angle ? '>' : '}', &inner);
    if (good)
        tw__proto_add_bytes(out, m->number, inner.data ? inner.data : "", inner.size);
    good = good && !inner.failed;
    tw__text_free(&inner);
    return good;
}

static bool scalar(reading *r, const member *m, tw__text *out)
{
    uint64_t number = 0;
    double real = 0;
    tw__text text = { 0 };
    bool good = false;
    switch (m->kind) {
    case 's':
        if ((good = string(r, &text) && !text.failed))
            tw__proto_add_bytes(out, m->number, text.data ? text.data : "", text.size);
        tw__text_free(&text);
        return good;
    case 'f':
    case 'd':
        if ((good = fraction(r, &real)) && m->kind == 'f') {
            float single = (float)real;
            uint32_t bits;
            memcpy(&bits, &single, sizeof bits);
            tw__proto_add_fixed32(out, m->number, bits);
        } else if (good) {
            memcpy(&number, &real, sizeof number);
            tw__proto_add_fixed64(out, m->number, number);
        }
        return good;
    case 'x':
        if ((good = whole_number(r, &number)))
            tw__proto_add_fixed64(out, m->number, number);
        return good;
    case 'X':
        if ((good = whole_number(r, &number)))
            tw__proto_add_fixed32(out, m->number, (uint32_t)number);
        return good;
    case 'b':
        good = truth(r, &number);
        break;
    case 'e':
        good = choice(r, m->of, &number);
        break;
    default:
        good = whole_number(r, &number);
        if (m->kind == 'z')
            number = (number << 1) ^ (uint64_t)((int64_t)number >> 63);
    }
    if (good)
        tw__proto_add_varint(out, m->number, number);
    return good;
}

static bool value(reading *r, const member *m, tw__text *out)
{
    skip(r);
    bool opens = r->at < r->end && (*r->at == '{' || *r->at == '<');
    return m->kind == 'm' ? nested(r, m, out) : opens ? fail(r, "a value is expected") : scalar(r, m, out);
}

static bool values(reading *r, const member *m, tw__text *out)
{
    bool colon = take(r, ':');
    if (!colon && m->kind != 'm')
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
    member m = { 2, 'm', message_of(r, name, (size_t)(begin + size - name)) };
    if (!take(r, ']'))
        return fail(r, "] is expected");
    tw__proto_add_bytes(out, 1, begin, size);
    take(r, ':');
    return nested(r, &m, out);
}

static bool message(reading *r, const tw__text_type *type, char end, tw__text *out)
{
    if (++r->depth > DEPTH_LIMIT)
        return fail(r, "messages are nested too deep");
    for (;;) {
        char name[WORD_LIMIT];
        member m;
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
        } else if (!member_of(r, type, name, strlen(name), &m)) {
            return fail(r, "a name that the message does not have");
        } else if (!values(r, &m, out)) {
            return false;
        }
        if (!take(r, ';'))
            take(r, ',');
    }
}

const char *tw__proto_from_text(tw__text *out, const tw__text_types *types, const char *name, const char *text, size_t size,
                                int *line)
{
    reading r = { .types = types, .at = text, .end = text + size, .line = 1 };
    const tw__text_type *type = message_of(&r, name, strlen(name));
    if (!type || !message(&r, type, 0, out))
        fail(&r, "out of memory");
    *line = r.line;
    return r.error;
}
