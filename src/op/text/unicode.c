/* Unicode: strings in any encoding to characters and back. Characters travel as tensors of int32 with row splits, as of a ragged
 * tensor.
 *
 * UTF-8, -16 and -32 are read here, a malformed part as long as a character could have begun with it standing for one
 * replacement; all other encodings by the C library's iconv, one character at a time. */
#include <errno.h>
#include <iconv.h>
#include <strings.h>

#include "op/text/text.h"
#include "rows.h"

enum { REPLACEMENT = 0xFFFD, LAST_CODE = 0x10FFFF, LONGEST = 8 };

static bool is_surrogate(uint32_t code)
{
    return code >= 0xD800 && code <= 0xDFFF;
}

uint32_t tw__utf8_next(tw_string s, size_t *at, bool *bad)
{
    const unsigned char *p = (const unsigned char *)s.data + *at;
    size_t left = s.size - *at;
    size_t more = p[0] < 0x80                   ? 0
                  : p[0] >= 0xC2 && p[0] < 0xE0 ? 1
                  : p[0] >= 0xE0 && p[0] < 0xF0 ? 2
                  : p[0] >= 0xF0 && p[0] < 0xF5 ? 3
                                                : 4;
    uint32_t code = p[0];
    *bad = more == 4;
    if (more > 0 && more < 4)
        code &= 0x3Fu >> more;
    size_t i = 1;
    for (; !*bad && i <= more; i++) {
        unsigned char low = 0x80,
                      high = 0xBF; /* what may stand second keeps out overlong forms, surrogates, and what lies above Unicode */
        if (i == 1) {
            low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : low;
            high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : high;
        }
        if (i >= left || p[i] < low || p[i] > high) {
            *bad = true;
            break;
        }
        code = code << 6 | (p[i] & 0x3F);
    }
    *at += i;
    return *bad ? REPLACEMENT : code;
}

void tw__utf8_add(tw__text *text, uint32_t code)
{
    char bytes[4];
    int count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (int i = count - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    bytes[0] = (char)(first[count] | code);
    tw__text_bytes(text, bytes, (size_t)count);
}

/* ---- reading ---- */

typedef enum form { FORM_UTF8, FORM_UTF16, FORM_UTF32, FORM_OTHER } form;

typedef struct reader {
    form form;
    bool little, marked; /* marked: a byte order mark may say which end comes first */
    bool controls;       /* bytes from 0x80 to 0x9F that stand for no character are the control characters of that number */
    iconv_t conversion;
} reader;

static tw_status reader_open(tw_string encoding, reader *r)
{
    static const struct {
        const char *name;
        form form;
        bool little, marked;
    } forms[] = {
        { "UTF-8", FORM_UTF8, false, false },      { "UTF8", FORM_UTF8, false, false },
        { "UTF-16-BE", FORM_UTF16, false, false }, { "UTF-16BE", FORM_UTF16, false, false },
        { "UTF-16-LE", FORM_UTF16, true, false },  { "UTF-16LE", FORM_UTF16, true, false },
        { "UTF-16", FORM_UTF16, false, true },     { "UTF-32-BE", FORM_UTF32, false, false },
        { "UTF-32BE", FORM_UTF32, false, false },  { "UTF-32-LE", FORM_UTF32, true, false },
        { "UTF-32LE", FORM_UTF32, true, false },   { "UTF-32", FORM_UTF32, false, true },
    };
    char name[64] = "";
    *r = (reader){ .form = FORM_OTHER, .conversion = (iconv_t)-1 };
    if (encoding.size && encoding.size < sizeof name)
        memcpy(name, encoding.data, encoding.size);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcasecmp(name, forms[i].name) == 0) {
            *r = (reader){ forms[i].form, forms[i].little, forms[i].marked, false, (iconv_t)-1 };
            return TW_OK;
        }
    }
    r->controls = strncasecmp(name, "windows-125", 11) == 0 || strncasecmp(name, "cp125", 5) == 0;
    if (name[0] && !strchr(name, '/'))
        r->conversion = iconv_open("UTF-32BE", name);
    if (r->conversion == (iconv_t)-1)
        return tw__fail(TW_INVALID_ARGUMENT, "Could not create converter for input encoding: %.*s",
                        (int)(encoding.size < 200 ? encoding.size : 200), encoding.size ? encoding.data : "");
    return TW_OK;
}

static void reader_close(reader *r)
{
    if (r->conversion != (iconv_t)-1)
        iconv_close(r->conversion);
}

static uint32_t unit(const unsigned char *p, int bytes, bool little)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | p[little ? bytes - 1 - i : i];
    return value;
}

static uint32_t utf16_next(const reader *r, tw_string s, size_t *at, bool *bad)
{
    const unsigned char *p = (const unsigned char *)s.data + *at;
    size_t left = s.size - *at;
    uint32_t code = left < 2 ? 0xDC00 : unit(p, 2, r->little);
    *at += left < 2 ? left : 2;
    *bad = is_surrogate(code);
    if (*bad && code < 0xDC00 && left >= 4) {
        uint32_t second = unit(p + 2, 2, r->little);
        if (second >= 0xDC00 && second <= 0xDFFF) {
            *bad = false;
            *at += 2;
            return 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        }
    } else if (*bad && code < 0xDC00) {
        *at = s.size; /* a half of a pair at the end, and what is left behind it */
    }
    return *bad ? REPLACEMENT : code;
}

static uint32_t utf32_next(const reader *r, tw_string s, size_t *at, bool *bad)
{
    size_t left = s.size - *at;
    uint32_t code = left < 4 ? UINT32_MAX : unit((const unsigned char *)s.data + *at, 4, r->little);
    *at += left < 4 ? left : 4;
    *bad = code > LAST_CODE || is_surrogate(code);
    return *bad ? REPLACEMENT : code;
}

/* More and more bytes, until they are a character. */
static uint32_t other_next(const reader *r, tw_string s, size_t *at, bool *bad)
{
    size_t left = s.size - *at;
    for (size_t size = 1; size <= left && size <= LONGEST; size++) {
        char *from = (char *)s.data + *at, *to;
        unsigned char out[4 * LONGEST];
        size_t in_left = size, out_left = sizeof out;
        to = (char *)out;
        iconv(r->conversion, NULL, NULL, NULL, NULL);
        size_t result = iconv(r->conversion, &from, &in_left, &to, &out_left);
        if (result != (size_t)-1 && sizeof out - out_left >= 4) {
            *at += size;
            *bad = false;
            return unit(out, 4, false);
        }
        if (result == (size_t)-1 && errno == EILSEQ)
            break;
    }
    unsigned char byte = (unsigned char)s.data[(*at)++];
    *bad = !r->controls || byte < 0x80 || byte > 0x9F;
    return *bad ? REPLACEMENT : byte;
}

/* Behind the byte order mark, if there is one, which sets the reader. */
static size_t reader_begin(reader *r, tw_string s)
{
    size_t size = r->form == FORM_UTF16 ? 2 : 4;
    if (!r->marked || s.size < size)
        return 0;
    r->little = unit((const unsigned char *)s.data, (int)size, true) == 0xFEFF;
    return r->little || unit((const unsigned char *)s.data, (int)size, false) == 0xFEFF ? size : 0;
}

static uint32_t reader_next(const reader *r, tw_string s, size_t *at, bool *bad)
{
    switch (r->form) {
    case FORM_UTF8:
        return tw__utf8_next(s, at, bad);
    case FORM_UTF16:
        return utf16_next(r, s, at, bad);
    case FORM_UTF32:
        return utf32_next(r, s, at, bad);
    default:
        return other_next(r, s, at, bad);
    }
}

/* ---- what to do with characters that are none ---- */

typedef struct policy {
    bool strict, ignore, controls; /* controls: characters below a space are replaced too */
    uint32_t replacement;
} policy;

static tw_status policy_read(const tw__kernel *kernel, policy *p)
{
    tw_string errors = TW_ATTR(kernel, "errors")->s;
    int64_t replacement = TW_ATTR(kernel, "replacement_char")->i;
    *p = (policy){ .strict = errors.size == 6 && errors.data[0] == 's',
                   .ignore = errors.size == 6 && errors.data[0] == 'i',
                   .replacement = (uint32_t)replacement };
    if (replacement < 0 || replacement > LAST_CODE)
        return tw__fail(TW_INVALID_ARGUMENT, "replacement_char out of unicode codepoint range");
    return TW_OK;
}

static tw_status malformed(void)
{
    return tw__fail(TW_INVALID_ARGUMENT, "Invalid formatting on input string");
}

/* ---- writing ---- */

static void put_unit(tw__text *text, uint32_t value, int bytes)
{
    char out[4];
    for (int i = 0; i < bytes; i++)
        out[i] = (char)(value >> 8 * (bytes - 1 - i));
    tw__text_bytes(text, out, (size_t)bytes);
}

static form output_form(const tw__kernel *kernel)
{
    tw_string name = TW_ATTR(kernel, "output_encoding")->s;
    return name.size == 5 ? FORM_UTF8 : name.data[4] == '1' ? FORM_UTF16 : FORM_UTF32;
}

static void put(tw__text *text, form output, uint32_t code)
{
    if (output == FORM_UTF8) {
        tw__utf8_add(text, is_surrogate(code) ? REPLACEMENT : code);
    } else if (output == FORM_UTF32) {
        put_unit(text, code, 4);
    } else if (code >= 0x10000) {
        put_unit(text, 0xD800 + ((code - 0x10000) >> 10), 2);
        put_unit(text, 0xDC00 + (code & 0x3FF), 2);
    } else {
        put_unit(text, code, 2);
    }
}

/* ---- UnicodeTranscode ---- */

static tw_status transcode_compute(tw__kernel *kernel)
{
    policy p;
    reader r;
    TW_TRY(policy_read(kernel, &p));
    p.controls = TW_ATTR(kernel, "replace_control_characters")->b;
    form output = output_form(kernel);
    TW_TRY(reader_open(TW_ATTR(kernel, "input_encoding")->s, &r));
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < kernel->outputs[0]->count; i++) {
        tw_string s = tw__strings(kernel->inputs[0])[i];
        for (size_t at = reader_begin(&r, s); status == TW_OK && at < s.size;) {
            bool bad;
            uint32_t code = reader_next(&r, s, &at, &bad);
            bad = bad || (p.controls && code < ' ');
            if (bad && p.strict)
                status = malformed();
            else if (!bad || !p.ignore)
                put(&text, output, bad ? p.replacement : code);
        }
        if (status == TW_OK)
            status = tw__string_from_text(kernel->outputs[0], i, &text);
    }
    reader_close(&r);
    return status;
}

#define ERRORS "errors: {'strict', 'replace', 'ignore'} = 'replace'"
#define REPLACEMENT_CHAR "replacement_char: int = 65533"
#define OUTPUT_ENCODING "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"

TW_OP(UnicodeTranscode, .inputs = "input: string", .outputs = "output: string",
      .attrs = "input_encoding: string, " OUTPUT_ENCODING ", " ERRORS ", " REPLACEMENT_CHAR
               ", replace_control_characters: bool = false",
      .shape = tw_shape_same, .compute = transcode_compute,
      .function = "strings.unicode_transcode(input: tensor<string>|ragged, input_encoding: str, output_encoding: str, "
                  "errors: str = replace, replacement_char: int = 65533, replace_control_characters: bool = False, "
                  "name: str = None) -> tensor",
      .doc = "Strings in one encoding brought to another.");

/* ---- UnicodeDecode, UnicodeDecodeWithOffsets ---- */

static tw_status decode_shape(tw__inference *inference)
{
    int64_t count = 1;
    const tw_shape *in = inference->shapes[0];
    for (int i = 0; i < in->rank; i++)
        count = count < 0 || in->dims[i] < 0 ? -1 : count * in->dims[i];
    inference->out_shapes[0] = TW_SHAPE(in->rank < 0 || count < 0 ? -1 : count + 1);
    for (int i = 1; i < inference->output_count; i++)
        inference->out_shapes[i] = TW_SHAPE(-1);
    return TW_OK;
}

typedef struct characters {
    int32_t *codes;
    int64_t *starts;
    size_t count, code_capacity, start_capacity;
} characters;

static tw_status characters_add(characters *c, uint32_t code, size_t start)
{
    TW_TRY(TW_GROW(c->codes, c->code_capacity, c->count + 1));
    TW_TRY(TW_GROW(c->starts, c->start_capacity, c->count + 1));
    c->starts[c->count] = (int64_t)start;
    c->codes[c->count++] = (int32_t)code;
    return TW_OK;
}

static void put_split(tw_tensor *splits, int64_t index, size_t value)
{
    if (splits->dtype == TW_INT32)
        ((int32_t *)splits->data)[index] = (int32_t)value;
    else
        ((int64_t *)splits->data)[index] = (int64_t)value;
}

static tw_status decode_string(reader *r, const policy *p, tw_string s, characters *found)
{
    for (size_t at = reader_begin(r, s), base = at; at < s.size;) {
        bool bad;
        size_t start = at;
        uint32_t code = reader_next(r, s, &at, &bad);
        if (bad && p->strict)
            return malformed();
        bad = bad || (p->controls && code < ' ');
        if (!bad || !p->ignore)
            TW_TRY(characters_add(found, bad ? p->replacement : code, start - base));
    }
    return TW_OK;
}

static tw_status decode_compute(tw__kernel *kernel)
{
    policy p;
    reader r;
    const tw_tensor *in = kernel->inputs[0];
    TW_TRY(policy_read(kernel, &p));
    p.controls = TW_ATTR(kernel, "replace_control_characters")->b;
    TW_TRY(reader_open(TW_ATTR(kernel, "input_encoding")->s, &r));
    characters found = { 0 };
    tw_tensor *splits = tw__output(kernel, 0, &TW_SHAPE(in->count + 1));
    tw_status status = splits ? TW_OK : tw__error_status();
    if (splits)
        put_split(splits, 0, 0);
    for (int64_t i = 0; status == TW_OK && i < in->count; i++) {
        status = decode_string(&r, &p, tw__strings(in)[i], &found);
        put_split(splits, i + 1, found.count);
    }
    reader_close(&r);
    if (status == TW_OK && splits->dtype == TW_INT32 && found.count > INT32_MAX)
        status = tw__fail(TW_INVALID_ARGUMENT, "%zu characters are more than Tsplits int32 can count", found.count);
    for (int k = 1; status == TW_OK && k < kernel->output_count; k++) {
        tw_tensor *out = tw__output(kernel, k, &TW_SHAPE((int64_t)found.count));
        if (!out)
            status = tw__error_status();
        else if (found.count)
            memcpy(out->data, k == 1 ? (void *)found.codes : (void *)found.starts, tw_tensor_bytes(out));
    }
    tw__free(found.codes);
    tw__free(found.starts);
    return status;
}

#define DECODE_ATTRS                                        \
    "input_encoding: string, " ERRORS ", " REPLACEMENT_CHAR \
    ", replace_control_characters: bool = false, Tsplits: {int32, int64} = int64"

TW_OP(UnicodeDecode, .inputs = "input: string", .outputs = "row_splits: Tsplits, char_values: int32", .attrs = DECODE_ATTRS,
      .shape = decode_shape, .compute = decode_compute, .doc = "The characters of strings, as rows of a ragged tensor.");

TW_OP(UnicodeDecodeWithOffsets, .inputs = "input: string",
      .outputs = "row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64", .attrs = DECODE_ATTRS,
      .shape = decode_shape, .compute = decode_compute,
      .doc = "The characters of strings and the bytes they begin at, as rows of a ragged tensor.");

/* ---- UnicodeEncode ---- */

static tw_status encode_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    int64_t splits = inference->shapes[1]->rank < 0 ? -1 : inference->shapes[1]->dims[0];
    inference->out_shapes[0] = TW_SHAPE(splits < 1 ? -1 : splits - 1);
    return TW_OK;
}

static tw_status check_splits(const tw_tensor *splits, int64_t values)
{
    if (splits->count == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Input_splits should contain elements, but given input_values has 0 elements");
    if (tw_tensor_int_at(splits, 0) != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "First value in input_splits must be zero.");
    if (tw_tensor_int_at(splits, splits->count - 1) != values)
        return tw__fail(TW_INVALID_ARGUMENT, "Last value in input_splits must be equal to length of input_tensor.");
    for (int64_t i = 1; i < splits->count; i++) {
        if (tw_tensor_int_at(splits, i) < tw_tensor_int_at(splits, i - 1))
            return tw__fail(TW_INVALID_ARGUMENT, "Values in input_splits must be equal or in ascending order.");
    }
    return TW_OK;
}

static tw_status encode_compute(tw__kernel *kernel)
{
    policy p;
    const tw_tensor *values = kernel->inputs[0], *splits = kernel->inputs[1];
    TW_TRY(policy_read(kernel, &p));
    TW_TRY(check_splits(splits, values->count));
    form output = output_form(kernel);
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(splits->count - 1));
    tw__auto(tw__text_free) tw__text text = { 0 };
    TW_NEED(out);
    for (int64_t i = 0; i < out->count; i++) {
        for (int64_t k = tw_tensor_int_at(splits, i); k < tw_tensor_int_at(splits, i + 1); k++) {
            uint32_t code = (uint32_t)((const int32_t *)values->data)[k];
            bool bad = code > LAST_CODE || is_surrogate(code) || (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
            if (bad && p.strict)
                return tw__fail(TW_INVALID_ARGUMENT, "Code point is out of range for Unicode, or a noncharacter.");
            if (!p.ignore || code <= LAST_CODE) /* to ignore is to let pass what has a form */
                put(&text, output, bad && !p.ignore ? p.replacement : code);
        }
        TW_TRY(tw__string_from_text(out, i, &text));
    }
    return TW_OK;
}

TW_OP(UnicodeEncode, .inputs = "input_values: int32, input_splits: Tsplits", .outputs = "output: string",
      .attrs = ERRORS ", " OUTPUT_ENCODING ", " REPLACEMENT_CHAR ", Tsplits: {int32, int64} = int64", .shape = encode_shape,
      .compute = encode_compute, .doc = "Strings of characters that are rows of a ragged tensor.");
