/* JSON of what event files hold, which may be anything: the answer is valid all the same. */
#include <math.h>
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
