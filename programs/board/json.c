/* JSON of what event files hold, which may be anything: the answer is valid all the same. And JSON of requests, read in place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

size_t board_utf8(const uint8_t *text, size_t size)
{
    uint8_t c = size ? text[0] : 0xff;
    size_t count = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (!count || count > size)
        return 0;
    for (size_t i = 1; i < count; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90);
    bool surrogate = c == 0xed && text[1] >= 0xa0, beyond = c == 0xf4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : count;
}

/* Letters that stand for themselves; no markup of the data's own. */
static bool is_plain(uint8_t c)
{
    return c >= 32 && c < 127 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

void board_put_text(FILE *out, const void *data, size_t size)
{
    const uint8_t *text = data;
    fputc('"', out);
    for (size_t i = 0; i < size;) {
        size_t part = 0;
        while (i + part < size && is_plain(text[i + part]))
            part++;
        if (!part && text[i] >= 128)
            part = board_utf8(text + i, size - i);
        if (part)
            fwrite(text + i, 1, part, out);
        else if (text[i] >= 128)
            fputs("\\ufffd", out);
        else if (text[i] == '"' || text[i] == '\\')
            fprintf(out, "\\%c", text[i]);
        else
            fprintf(out, "\\u%04x", text[i]);
        i += part ? part : 1;
    }
    fputc('"', out);
}

void board_put_string(FILE *out, const char *text)
{
    board_put_text(out, text, strlen(text));
}

void board_put_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
}

/* ---- reading ---- */

enum { DEPTH_LIMIT = 64 };

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Behind a string, or NULL. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && !*++at)
            return NULL;
    }
    return *at ? at + 1 : NULL;
}

static const char *skip_value(const char *at, int depth);

/* Behind the members of an object or the elements of an array, or NULL. */
static const char *skip_parts(const char *at, int depth)
{
    char end = *at == '{' ? '}' : ']';
    bool named = *at == '{';
    at = skip_space(at + 1);
    if (*at == end)
        return at + 1;
    for (;;) {
        if (named) {
            at = *at == '"' ? skip_string(at) : NULL;
            at = at ? skip_space(at) : NULL;
            at = at && *at == ':' ? skip_space(at + 1) : NULL;
        }
        at = at ? skip_value(at, depth + 1) : NULL;
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return NULL;
        at = skip_space(at + 1);
    }
}

static const char *skip_value(const char *at, int depth)
{
    if (depth > DEPTH_LIMIT)
        return NULL;
    if (*at == '{' || *at == '[')
        return skip_parts(at, depth);
    if (*at == '"')
        return skip_string(at);
    size_t size = strcspn(at, ",]} \t\r\n");
    char *end;
    bool word = (size == 4 && strncmp(at, "true", 4) == 0) || (size == 5 && strncmp(at, "false", 5) == 0) ||
                (size == 4 && strncmp(at, "null", 4) == 0);
    (void)strtod(at, &end);
    return word || (size && (size_t)(end - at) == size) ? at + size : NULL;
}

bool board_json_valid(const char *json)
{
    const char *end = json ? skip_value(skip_space(json), 0) : NULL;
    return end && !*skip_space(end);
}

const char *board_json_element(const char *json, size_t index)
{
    const char *at = json ? skip_space(json) : "";
    if (*at != '[')
        return NULL;
    at = skip_space(at + 1);
    for (size_t i = 0; *at && *at != ']'; i++) {
        if (i == index)
            return at;
        at = skip_value(at, 0);
        at = at ? skip_space(at) : "";
        at = *at == ',' ? skip_space(at + 1) : "";
    }
    return NULL;
}

const char *board_json_member(const char *json, const char *key)
{
    const char *at = json ? skip_space(json) : "";
    char name[256];
    if (*at != '{')
        return NULL;
    at = skip_space(at + 1);
    while (*at == '"') {
        bool found = board_json_string(at, name, sizeof name) && strcmp(name, key) == 0;
        at = skip_string(at);
        at = at ? skip_space(at) : "";
        if (*at != ':')
            return NULL;
        at = skip_space(at + 1);
        if (found)
            return at;
        at = skip_value(at, 0);
        at = at ? skip_space(at) : "";
        at = *at == ',' ? skip_space(at + 1) : "";
    }
    return NULL;
}

static size_t put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    out[0] = (char)((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | code >> (6 * more));
    for (int i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (code >> (6 * (more - i)) & 63));
    return (size_t)more + 1;
}

static bool hex4(const char *at, unsigned *code)
{
    char digits[5] = { 0 };
    if (strspn(at, "0123456789abcdefABCDEF") < 4)
        return false;
    memcpy(digits, at, 4);
    *code = (unsigned)strtoul(digits, NULL, 16);
    return true;
}

bool board_json_string(const char *json, char *out, size_t room)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    size_t size = 0;
    if (!json || *json != '"')
        return false;
    for (const char *at = json + 1; *at && *at != '"'; at++) {
        if (size + 5 >= room)
            return false;
        unsigned code, low;
        const char *letter;
        if (*at != '\\') {
            out[size++] = *at;
        } else if (*++at == 'u' && hex4(at + 1, &code)) {
            at += 4;
            if (code >= 0xd800 && code < 0xdc00 && at[1] == '\\' && at[2] == 'u' && hex4(at + 3, &low) && low >= 0xdc00 &&
                low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            }
            size += put_utf8(out + size, code ? code : 0xfffd);
        } else if (!*at) {
            return false;
        } else {
            letter = strchr(letters, *at);
            out[size++] = letter ? meant[letter - letters] : *at;
        }
    }
    out[size] = 0;
    return true;
}

bool board_json_number(const char *json, double *out)
{
    char *end = NULL;
    if (!json || (*json != '-' && (*json < '0' || *json > '9')))
        return false;
    *out = strtod(json, &end);
    return end > json;
}
