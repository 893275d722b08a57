/* JSON of a request: the text is checked as a whole once, then values are read where they stand. NaN, Infinity and -Infinity are
 * numbers, as TensorFlow Serving takes them. */
#include <math.h>
#include <stdlib.h>

#include "saving/request.h"

enum { DEPTH_LIMIT = 64, SHOWN = 100 };

/* Whether a number or a word may go on with this letter. */
static bool goes_on(char c)
{
    return (unsigned char)c > ' ' && c != ',' && c != ']' && c != '}';
}

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* ---- checking ---- */

typedef struct check {
    const char *start, *wrong; /* what is wrong, and where */
    const char *place;
} check;

static const char *refuse(check *c, const char *place, const char *wrong)
{
    c->wrong = wrong;
    c->place = place;
    return NULL;
}

static const char *check_string(check *c, const char *at)
{
    const char *start = at;
    for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < 32)
            return refuse(c, *at ? at : start, *at ? "a control character in a string" : "a string without an end");
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u') {
            for (int i = 1; i <= 4; i++) {
                if (!*at || !strchr("0123456789abcdefABCDEF", at[1]) || !at[1])
                    return refuse(c, at, "four hexadecimal digits are expected");
                at++;
            }
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
            return refuse(c, at, "there is no such escape");
        }
    }
    return at + 1;
}

static size_t digits(const char *at)
{
    size_t count = 0;
    while (at[count] >= '0' && at[count] <= '9')
        count++;
    return count;
}

static const char *check_number(check *c, const char *at)
{
    const char *start = at;
    at += *at == '-';
    if (strncmp(at, "Infinity", 8) == 0)
        return at + 8;
    if (strncmp(at, "NaN", 3) == 0 || strncmp(at, "Inf", 3) == 0)
        return at + 3;
    size_t whole = digits(at);
    if (!whole || (whole > 1 && *at == '0'))
        return refuse(c, start, "a value is expected");
    at += whole;
    if (*at == '.') {
        size_t behind = digits(at + 1);
        if (!behind)
            return refuse(c, at, "digits are expected behind the point");
        at += behind + 1;
    }
    bool simple = whole < 200; /* certainly no infinity */
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        if (!digits(at))
            return refuse(c, at, "digits are expected in the exponent");
        simple = simple && digits(at) < 3;
        at += digits(at);
    }
    return simple || isfinite(strtod(start, NULL)) ? at : refuse(c, start, "the number is too large");
}

static const char *check_value(check *c, const char *at, int depth);

static const char *check_parts(check *c, const char *at, int depth)
{
    char end = *at == '{' ? '}' : ']';
    bool named = *at == '{';
    if (depth == DEPTH_LIMIT)
        return refuse(c, at, "too many brackets inside of each other");
    at = skip_space(at + 1);
    if (*at == end)
        return at + 1;
    for (;;) {
        if (named) {
            if (*at != '"')
                return refuse(c, at, "the name of a member is expected");
            at = check_string(c, at);
            at = at ? skip_space(at) : NULL;
            if (at && *at != ':')
                return refuse(c, at, "a colon is expected");
            at = at ? skip_space(at + 1) : NULL;
        }
        at = at ? check_value(c, at, depth + 1) : NULL;
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return refuse(c, at, named ? "a comma or a } is expected" : "a comma or a ] is expected");
        at = skip_space(at + 1);
    }
}

static const char *check_value(check *c, const char *at, int depth)
{
    static const char *const words[] = { "true", "false", "null" };
    if (*at == '{' || *at == '[')
        return check_parts(c, at, depth);
    if (*at == '"')
        return check_string(c, at);
    for (size_t i = 0; i < 3 && (*at == 't' || *at == 'f' || *at == 'n'); i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    return check_number(c, at);
}

const char *tw__json_check(const char *text, size_t size)
{
    check c = { .start = text };
    const char *root = skip_space(text);
    if (!*root && root == text + size) {
        tw__fail(TW_INVALID_ARGUMENT, "JSON Parse error: The document is empty");
        return NULL;
    }
    const char *end = check_value(&c, root, 0);
    if (end) {
        end = skip_space(end);
        if (end != text + size)
            end = refuse(&c, end, *end ? "something follows the value" : "a zero byte");
    }
    if (!end)
        tw__fail(TW_INVALID_ARGUMENT, "JSON Parse error: %s at offset: %lld", c.wrong, (long long)(c.place - text));
    return end ? root : NULL;
}

/* ---- reading what was checked ---- */

tw__json_kind tw__json_kind_of(const char *value)
{
    switch (*value) {
    case '{':
        return TW_JSON_OBJECT;
    case '[':
        return TW_JSON_ARRAY;
    case '"':
        return TW_JSON_STRING;
    case 't':
    case 'f':
        return TW_JSON_BOOL;
    case 'n':
        return TW_JSON_NULL;
    default:
        return TW_JSON_NUMBER;
    }
}

const char *tw__json_kind_name(const char *value)
{
    static const char *const names[] = { "Null", "", "Number", "String", "Array", "Object" };
    return *value == 't' ? "True" : *value == 'f' ? "False" : names[tw__json_kind_of(value)];
}

const char *tw__json_skip(const char *value)
{
    int depth = 0;
    do {
        if (*value == '"') {
            for (value++; *value != '"'; value++)
                value += *value == '\\';
        } else if (*value == '[' || *value == '{') {
            depth++;
        } else if (*value == ']' || *value == '}') {
            depth--;
        } else if (!depth) {
            while (goes_on(*value))
                value++;
            return value;
        } else {
            value += strcspn(value, "\"[]{}");
            continue;
        }
        value++;
    } while (depth);
    return value;
}

static const char *part_at(const char *at, const char **key)
{
    at = skip_space(at);
    if (*at == ']' || *at == '}')
        return NULL;
    *key = NULL;
    return at;
}

static const char *behind_key(const char *at, const char **key)
{
    *key = at;
    at = skip_space(tw__json_skip(at));
    return skip_space(at + 1);
}

const char *tw__json_first(const char *value, const char **key)
{
    const char *at = part_at(value + 1, key);
    return at && *value == '{' ? behind_key(at, key) : at;
}

const char *tw__json_next(const char *part, const char **key)
{
    bool named = *key != NULL;
    const char *at = skip_space(tw__json_skip(part));
    if (*at != ',')
        return NULL;
    at = part_at(at + 1, key);
    return at && named ? behind_key(at, key) : at;
}

static bool hex4(const char *at, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const char *found = strchr("0123456789abcdef", at[i] | 32);
        *code = *code << 4 | (uint32_t)(found ? found - "0123456789abcdef" : 0);
    }
    return true;
}

static void add_utf8(tw__text *text, uint32_t code)
{
    char bytes[4];
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[0] = (char)(more ? (0xf80u >> more & 0xff) | code >> (6 * more) : code);
    for (int i = 1; i <= more; i++)
        bytes[i] = (char)(0x80 | (code >> (6 * (more - i)) & 63));
    tw__text_bytes(text, bytes, (size_t)more + 1);
}

/* Appends what the escape at `at` stands for; gives the place behind it. */
static const char *add_escape(tw__text *text, const char *at)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *letter = strchr(letters, at[1]);
    uint32_t code, low;
    if (at[1] != 'u') {
        tw__text_bytes(text, letter ? &meant[letter - letters] : at + 1, 1);
        return at + 2;
    }
    hex4(at + 2, &code);
    at += 6;
    if (code >= 0xd800 && code < 0xdc00 && at[0] == '\\' && at[1] == 'u') {
        hex4(at + 2, &low);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    add_utf8(text, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return at;
}

void tw__json_text(const char *string, tw__text *text)
{
    const char *at = string + 1;
    while (*at != '"') {
        size_t plain = strcspn(at, "\"\\");
        tw__text_bytes(text, at, plain);
        at += plain;
        if (*at == '\\')
            at = add_escape(text, at);
    }
}

bool tw__json_is(const char *string, const char *text)
{
    size_t size = strlen(text);
    if (strncmp(string + 1, text, size) == 0 && string[size + 1] == '"')
        return !strchr(text, '\\');
    if (!memchr(string, '\\', (size_t)(tw__json_skip(string) - string)))
        return false;
    tw__auto(tw__text_free) tw__text read = { 0 };
    tw__json_text(string, &read);
    return read.size == size && (!size || memcmp(read.data, text, size) == 0);
}

const char *tw__json_member(const char *object, const char *name)
{
    const char *key;
    for (const char *part = tw__json_first(object, &key); part; part = tw__json_next(part, &key)) {
        if (tw__json_is(key, name))
            return part;
    }
    return NULL;
}

int tw__json_shown(const char *value)
{
    size_t size = (size_t)(tw__json_skip(value) - value);
    return size < SHOWN ? (int)size : SHOWN;
}
