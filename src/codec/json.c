/* JSON text, written value by value onto a tw__text; what `--json` prints.
 * Strings may hold any bytes: what is not UTF-8 becomes U+FFFD, so the text is always valid. */
#include <math.h>
#include <stdlib.h>

#include "codec/codec.h"

static void begin_value(tw__json *json)
{
    if (json->follows)
        tw__text_add(json->text, ", ");
    json->follows = true;
}

void tw__json_begin(tw__json *json, char bracket)
{
    begin_value(json);
    tw__text_bytes(json->text, &bracket, 1);
    json->follows = false;
}

void tw__json_end(tw__json *json, char bracket)
{
    tw__text_bytes(json->text, &bracket, 1);
    json->follows = true;
}

/* The size of the UTF-8 character at `at`, 0 if there is none: shortest form, no surrogates, up to U+10FFFF. */
static size_t character_size(const uint8_t *at, size_t left)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xf0 && at[0] < 0xf8 ? 4 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3 : at[0] >= 0xc0 && at[0] < 0xe0 ? 2 : 0;
    if (size == 0 || size > left)
        return 0;
    uint32_t code = at[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code < smallest[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

static const char *short_escape(uint8_t byte)
{
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    }
    return NULL;
}

static void add_quoted(tw__text *text, const uint8_t *data, size_t size)
{
    tw__text_add(text, "\"");
    for (size_t i = 0; i < size;) {
        const char *escape = short_escape(data[i]);
        size_t character = character_size(data + i, size - i);
        if (escape)
            tw__text_add(text, escape);
        else if (data[i] < 0x20 || data[i] == 0x7f)
            tw__text_format(text, "\\u%04x", data[i]);
        else if (character == 0)
            tw__text_add(text, "\\ufffd");
        else
            tw__text_bytes(text, data + i, character);
        i += character ? character : 1;
    }
    tw__text_add(text, "\"");
}

void tw__json_string(tw__json *json, const void *data, size_t size)
{
    begin_value(json);
    add_quoted(json->text, data, size);
}

void tw__json_key(tw__json *json, const char *key)
{
    begin_value(json);
    add_quoted(json->text, (const uint8_t *)key, strlen(key));
    tw__text_add(json->text, ": ");
    json->follows = false;
}

void tw__json_integer(tw__json *json, int64_t value)
{
    begin_value(json);
    tw__text_format(json->text, "%lld", (long long)value);
}

void tw__json_unsigned(tw__json *json, uint64_t value)
{
    begin_value(json);
    tw__text_format(json->text, "%llu", (unsigned long long)value);
}

void tw__json_number(tw__json *json, double value)
{
    begin_value(json);
    if (isnan(value)) {
        tw__text_add(json->text, "\"NaN\"");
        return;
    }
    if (isinf(value)) {
        tw__text_add(json->text, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        return;
    }
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    tw__text_add(json->text, digits);
}

void tw__json_bool(tw__json *json, bool value)
{
    begin_value(json);
    tw__text_add(json->text, value ? "true" : "false");
}

void tw__json_null(tw__json *json)
{
    begin_value(json);
    tw__text_add(json->text, "null");
}

void tw__json_raw(tw__json *json, const char *text)
{
    begin_value(json);
    tw__text_add(json->text, text);
}
