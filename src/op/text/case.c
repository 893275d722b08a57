/* Strings brought to one case: of ASCII alone, or with encoding utf-8 of all letters. The C library's locale C.UTF-8 knows
 * letters whose other case is one letter; those with several are listed here, as Unicode 13 has them, which TensorFlow goes by.
 */
#include <locale.h>
#include <pthread.h>
#include <wctype.h>

#include "op/text/text.h"
#include "rows.h"

static locale_t unicode;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_locale(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* Letters of which two or three large ones stand for one small one. */
static const uint16_t several[][4] = {
    { 0xDF, 0x53, 0x53 },
    { 0x149, 0x2BC, 0x4E },
    { 0x1F0, 0x4A, 0x30C },
    { 0x390, 0x399, 0x308, 0x301 },
    { 0x3B0, 0x3A5, 0x308, 0x301 },
    { 0x587, 0x535, 0x552 },
    { 0x1E96, 0x48, 0x331 },
    { 0x1E97, 0x54, 0x308 },
    { 0x1E98, 0x57, 0x30A },
    { 0x1E99, 0x59, 0x30A },
    { 0x1E9A, 0x41, 0x2BE },
    { 0x1F50, 0x3A5, 0x313 },
    { 0x1F52, 0x3A5, 0x313, 0x300 },
    { 0x1F54, 0x3A5, 0x313, 0x301 },
    { 0x1F56, 0x3A5, 0x313, 0x342 },
    { 0x1FB2, 0x1FBA, 0x399 },
    { 0x1FB3, 0x391, 0x399 },
    { 0x1FB4, 0x386, 0x399 },
    { 0x1FB6, 0x391, 0x342 },
    { 0x1FB7, 0x391, 0x342, 0x399 },
    { 0x1FBC, 0x391, 0x399 },
    { 0x1FC2, 0x1FCA, 0x399 },
    { 0x1FC3, 0x397, 0x399 },
    { 0x1FC4, 0x389, 0x399 },
    { 0x1FC6, 0x397, 0x342 },
    { 0x1FC7, 0x397, 0x342, 0x399 },
    { 0x1FCC, 0x397, 0x399 },
    { 0x1FD2, 0x399, 0x308, 0x300 },
    { 0x1FD3, 0x399, 0x308, 0x301 },
    { 0x1FD6, 0x399, 0x342 },
    { 0x1FD7, 0x399, 0x308, 0x342 },
    { 0x1FE2, 0x3A5, 0x308, 0x300 },
    { 0x1FE3, 0x3A5, 0x308, 0x301 },
    { 0x1FE4, 0x3A1, 0x313 },
    { 0x1FE6, 0x3A5, 0x342 },
    { 0x1FE7, 0x3A5, 0x308, 0x342 },
    { 0x1FF2, 0x1FFA, 0x399 },
    { 0x1FF3, 0x3A9, 0x399 },
    { 0x1FF4, 0x38F, 0x399 },
    { 0x1FF6, 0x3A9, 0x342 },
    { 0x1FF7, 0x3A9, 0x342, 0x399 },
    { 0x1FFC, 0x3A9, 0x399 },
    { 0xFB00, 0x46, 0x46 },
    { 0xFB01, 0x46, 0x49 },
    { 0xFB02, 0x46, 0x4C },
    { 0xFB03, 0x46, 0x46, 0x49 },
    { 0xFB04, 0x46, 0x46, 0x4C },
    { 0xFB05, 0x53, 0x54 },
    { 0xFB06, 0x53, 0x54 },
    { 0xFB13, 0x544, 0x546 },
    { 0xFB14, 0x544, 0x535 },
    { 0xFB15, 0x544, 0x53B },
    { 0xFB16, 0x54E, 0x546 },
    { 0xFB17, 0x544, 0x53D },
};

/* Letters that became such after Unicode 13. */
static bool is_newer(uint32_t code)
{
    return code == 0x2C2F || code == 0x2C5F || (code >= 0xA7C0 && code <= 0xA7C1) || (code >= 0xA7D0 && code <= 0xA7D9) ||
           (code >= 0x10570 && code <= 0x105BC);
}

static void add_upper(tw__text *text, uint32_t code)
{
    if (code >= 0x1F80 && code <= 0x1FAF) { /* Greek letters with a iota below */
        tw__utf8_add(text, (code & 7) + (code < 0x1F90 ? 0x1F08 : code < 0x1FA0 ? 0x1F28 : 0x1F68));
        tw__utf8_add(text, 0x399);
        return;
    }
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++) {
        for (int k = 1; several[i][0] == code && k < 4 && several[i][k]; k++)
            tw__utf8_add(text, several[i][k]);
        if (several[i][0] == code)
            return;
    }
    tw__utf8_add(text, is_newer(code) ? code : towupper_l(code, unicode));
}

static bool is_cased(uint32_t code)
{
    return iswupper_l(code, unicode) || iswlower_l(code, unicode);
}

/* What stands between the letters of a word without ending it. */
static bool is_ignored(uint32_t code)
{
    return code == '\'' || code == '.' || code == ':' || code == '^' || code == '`' || code == 0xA8 || code == 0xAD ||
           code == 0xAF || code == 0xB4 || code == 0xB7 || code == 0xB8 || (code >= 0x2B0 && code <= 0x36F) ||
           (code >= 0x483 && code <= 0x489) || code == 0x2018 || code == 0x2019 || code == 0x2024 || code == 0x2027 ||
           (code >= 0x200B && code <= 0x200F);
}

/* Whether the sigma before byte `at` ends a word; `after_letter`: it does not begin one. */
static bool ends_word(tw_string s, size_t at, bool after_letter)
{
    bool bad;
    while (after_letter && at < s.size) {
        uint32_t code = tw__utf8_next(s, &at, &bad);
        if (!is_ignored(code))
            return !is_cased(code);
    }
    return after_letter;
}

static void unicode_case(tw__text *text, tw_string s, bool upper)
{
    bool after_letter = false, bad;
    for (size_t at = 0; at < s.size;) {
        uint32_t code = tw__utf8_next(s, &at, &bad);
        if (upper)
            add_upper(text, code);
        else if (code == 0x3A3)
            tw__utf8_add(text, ends_word(s, at, after_letter) ? 0x3C2 : 0x3C3);
        else
            tw__utf8_add(text, is_newer(code) ? code : towlower_l(code, unicode));
        if (!upper && code == 0x130)
            tw__utf8_add(text, 0x307); /* the dot stays */
        if (!is_ignored(code))
            after_letter = is_cased(code);
    }
}

static void ascii_case(tw__text *text, tw_string s, bool upper)
{
    for (size_t k = 0; k < s.size; k++) {
        char c = s.data[k];
        c = (char)(upper && c >= 'a' && c <= 'z' ? c - 32 : !upper && c >= 'A' && c <= 'Z' ? c + 32 : c);
        tw__text_bytes(text, &c, 1);
    }
}

static tw_status change_case(tw__kernel *kernel, bool upper)
{
    tw_string encoding = TW_ATTR(kernel, "encoding")->s;
    bool utf8 = encoding.size == 5 && memcmp(encoding.data, "utf-8", 5) == 0;
    if (encoding.size && !utf8)
        return tw__fail(TW_INVALID_ARGUMENT, "only utf-8 or '' (no encoding) is supported, received %.*s", (int)encoding.size,
                        encoding.data);
    pthread_once(&once, load_locale);
    if (utf8 && !unicode)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "the system has no locale C.UTF-8, which knows the case of characters");
    tw__auto(tw__text_free) tw__text text = { 0 };
    const tw_string *in = tw__strings(kernel->inputs[0]);
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        if (utf8)
            unicode_case(&text, in[i], upper);
        else
            ascii_case(&text, in[i], upper);
        TW_TRY(tw__string_from_text(kernel->outputs[0], i, &text));
    }
    return TW_OK;
}

static tw_status lower_compute(tw__kernel *kernel)
{
    return change_case(kernel, false);
}

static tw_status upper_compute(tw__kernel *kernel)
{
    return change_case(kernel, true);
}

TW_OP(StringLower, .inputs = "input: string", .outputs = "output: string", .attrs = "encoding: string = ''",
      .shape = tw_shape_same, .compute = lower_compute,
      .function = "strings.lower(input: tensor<string>|ragged, encoding: str = '', name: str = None) -> tensor",
      .doc = "Every letter small.\n"
             "example: tf.strings.lower('ABc').numpy()  # b'abc'");

TW_OP(StringUpper, .inputs = "input: string", .outputs = "output: string", .attrs = "encoding: string = ''",
      .shape = tw_shape_same, .compute = upper_compute,
      .function = "strings.upper(input: tensor<string>|ragged, encoding: str = '', name: str = None) -> tensor",
      .doc = "Every letter large.\n"
             "example: tf.strings.upper('ABc').numpy()  # b'ABC'");
