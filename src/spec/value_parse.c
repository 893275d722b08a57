/* JSON text into a value: configurations of models, training settings.
 *
 * Numbers with a point or an exponent are floats, others integers. NaN, Infinity and -Infinity are numbers, as Python writes
 * them. Texts keep their UTF-8; what is escaped beyond it (lone surrogates) becomes U+FFFD. Nesting is limited, so hostile text
 * can't exhaust the stack. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "spec/spec.h"

enum { MAX_DEPTH = 200 };

typedef struct reader {
    const char *start, *at, *end;
    int depth;
} reader;

static tw_status wrong(const reader *r, const char *expected)
{
    return tw__fail(TW_VALUE_ERROR, "JSON: expected %s at character %lld", expected, (long long)(r->at - r->start));
}

static void skip_space(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static bool take(reader *r, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return false;
    r->at += size;
    return true;
}

static void put_character(tw__text *text, uint32_t code)
{
    char bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (size == 1) {
        bytes[0] = (char)code;
    } else {
        for (size_t i = size - 1; i > 0; i--, code >>= 6)
            bytes[i] = (char)(0x80 | (code & 0x3f));
        bytes[0] = (char)((0xf00u >> size) | code);
    }
    tw__text_bytes(text, bytes, size);
}

static bool read_hex(reader *r, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        if (r->at >= r->end)
            return false;
        char c = *r->at;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

static bool read_escape(reader *r, tw__text *text)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at >= r->end)
        return false;
    char c = *r->at++;
    const char *plain = c ? strchr(from, c) : NULL;
    if (plain) {
        tw__text_bytes(text, &to[plain - from], 1);
        return true;
    }
    uint32_t code, low;
    if (c != 'u' || !read_hex(r, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && take(r, "\\u")) {
        if (!read_hex(r, &low))
            return false;
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    } else if (code >= 0xd800 && code < 0xe000) {
        code = 0xfffd;
    }
    put_character(text, code);
    return true;
}

static tw_status read_text(reader *r, tw_value *value)
{
    tw__text text = { 0 };
    tw__text_add(&text, "");
    r->at++;
    while (r->at < r->end && *r->at != '"') {
        if (*r->at == '\\') {
            r->at++;
            if (!read_escape(r, &text)) {
                tw__text_free(&text);
                return wrong(r, "an escape");
            }
        } else {
            const char *from = r->at;
            while (r->at < r->end && *r->at != '"' && *r->at != '\\')
                r->at++;
            tw__text_bytes(&text, from, (size_t)(r->at - from));
        }
    }
    if (r->at >= r->end) {
        tw__text_free(&text);
        return wrong(r, "the end of a text");
    }
    r->at++;
    size_t size = text.size;
    char *data = tw__text_take(&text);
    if (!data)
        return TW_RESOURCE_EXHAUSTED;
    *value = (tw_value){ .kind = TW_VALUE_STR, .s = { data, size } };
    return TW_OK;
}

static tw_status read_number(reader *r, tw_value *value)
{
    char digits[64];
    size_t size = 0;
    bool real = false;
    while (r->at + size < r->end && size < sizeof digits - 1 && r->at[size] && strchr("+-0123456789.eE", r->at[size])) {
        real |= r->at[size] == '.' || r->at[size] == 'e' || r->at[size] == 'E';
        digits[size] = r->at[size];
        size++;
    }
    digits[size] = 0;
    char *end = digits;
    errno = 0;
    long long integer = real ? 0 : strtoll(digits, &end, 10);
    if (real || errno == ERANGE)
        *value = (tw_value){ .kind = TW_VALUE_FLOAT, .f = strtod(digits, &end) };
    else
        *value = (tw_value){ .kind = TW_VALUE_INT, .i = integer };
    if (!size || *end)
        return wrong(r, "a value");
    r->at += size;
    return TW_OK;
}

static tw_status read_value(reader *r, tw_value *value);

static tw_status read_list(reader *r, tw_value *value, bool dict)
{
    char close = dict ? '}' : ']';
    size_t capacity = 0;
    *value = (tw_value){ .kind = dict ? TW_VALUE_DICT : TW_VALUE_LIST };
    r->at++;
    for (skip_space(r); r->at < r->end && *r->at != close;) {
        TW_TRY(TW_GROW(value->list.items, capacity, (size_t)value->list.count + 2));
        if (dict) {
            if (*r->at != '"')
                return wrong(r, "a name");
            tw_value *name = &value->list.items[value->list.count++];
            *name = (tw_value){ .kind = TW_VALUE_NONE };
            value->list.items[value->list.count++] = (tw_value){ .kind = TW_VALUE_NONE };
            TW_TRY(read_text(r, name));
            skip_space(r);
            if (!take(r, ":"))
                return wrong(r, "':'");
        } else {
            value->list.items[value->list.count++] = (tw_value){ .kind = TW_VALUE_NONE };
        }
        TW_TRY(read_value(r, &value->list.items[value->list.count - 1]));
        skip_space(r);
        if (take(r, ",")) {
            skip_space(r);
            if (r->at < r->end && *r->at == close)
                return wrong(r, "a value behind ','");
        } else if (r->at < r->end && *r->at != close) {
            return wrong(r, "','");
        }
    }
    if (r->at >= r->end)
        return wrong(r, dict ? "'}'" : "']'");
    r->at++;
    return TW_OK;
}

static tw_status read_value(reader *r, tw_value *value)
{
    *value = (tw_value){ .kind = TW_VALUE_NONE };
    skip_space(r);
    if (r->at >= r->end)
        return wrong(r, "a value");
    if (*r->at == '"')
        return read_text(r, value);
    if (*r->at == '{' || *r->at == '[') {
        if (++r->depth > MAX_DEPTH)
            return tw__fail(TW_VALUE_ERROR, "JSON: more than %d values inside each other at character %lld", MAX_DEPTH,
                            (long long)(r->at - r->start));
        tw_status status = read_list(r, value, *r->at == '{');
        r->depth--;
        return status;
    }
    if (take(r, "null"))
        return TW_OK;
    bool is_true = take(r, "true");
    if (is_true || take(r, "false")) {
        *value = (tw_value){ .kind = TW_VALUE_BOOL, .b = is_true };
        return TW_OK;
    }
    static const struct {
        const char *word;
        double number;
    } words[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (take(r, words[i].word)) {
            *value = (tw_value){ .kind = TW_VALUE_FLOAT, .f = words[i].number };
            return TW_OK;
        }
    }
    return read_number(r, value);
}

tw_status tw__value_parse(const char *text, size_t size, tw_value *value)
{
    reader r = { text, text, text + size, 0 };
    tw_status status = read_value(&r, value);
    skip_space(&r);
    if (status == TW_OK && r.at < r.end)
        status = wrong(&r, "the end");
    if (status != TW_OK)
        tw_value_free(value);
    return status;
}
