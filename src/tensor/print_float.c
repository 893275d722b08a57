/* Floating-point numbers as text: shortest digits that read back, Python's repr. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensor/print.h"

static bool reads_back(const char *text, double value, tw_dtype dtype)
{
    switch (dtype) {
    case TW_FLOAT32:
    case TW_COMPLEX64:
        return strtof(text, NULL) == (float)value;
    case TW_FLOAT16:
        return tw__float_to_half(strtof(text, NULL)) == tw__float_to_half((float)value);
    case TW_BFLOAT16:
        return tw__float_to_bfloat16(strtof(text, NULL)) == tw__float_to_bfloat16((float)value);
    default:
        return strtod(text, NULL) == value;
    }
}

/* Takes "-d.ddde-xx" apart; zeros at the end go. */
static void take_apart(tw__decimal *decimal, const char *text)
{
    const char *e = strchr(text, 'e');
    decimal->negative = *text == '-';
    decimal->count = 0;
    for (const char *c = text; c < e; c++) {
        if (*c >= '0' && *c <= '9' && decimal->count < (int)sizeof decimal->digits)
            decimal->digits[decimal->count++] = *c;
    }
    decimal->point = atoi(e + 1) + 1;
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

void tw__decimal_shortest(tw__decimal *decimal, double value, tw_dtype dtype)
{
    char text[48];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (reads_back(text, value, dtype))
            break;
    }
    take_apart(decimal, text);
}

void tw__decimal_cut(tw__decimal *decimal, double value, int digits)
{
    if (decimal->count - decimal->point <= digits)
        return;
    /* Numbers that reach here have few digits before the point: those with digits behind it are below 2^53. */
    char text[64];
    snprintf(text, sizeof text, "%.*f", digits, value);
    decimal->count = 0;
    const char *c = text + (*text == '-');
    const char *point = strchr(text, '.');
    decimal->point = (int)((point ? point : c + strlen(c)) - c);
    while (*c == '0' || *c == '.') { /* zeros in front */
        if (*c == '0')
            decimal->point--;
        c++;
    }
    for (; *c; c++) {
        if (*c != '.' && decimal->count < (int)sizeof decimal->digits)
            decimal->digits[decimal->count++] = *c;
    }
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
    if (decimal->count == 0) {
        decimal->digits[decimal->count++] = '0';
        decimal->point = 1;
    }
}

void tw__decimal_scientific(tw__decimal *decimal, double value, int digits)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", digits, value);
    take_apart(decimal, text);
}

int tw__float_repr(char *text, double value, tw_dtype dtype, bool add_zero)
{
    tw__decimal decimal, *d = &decimal;
    int n = 0;
    tw__decimal_shortest(d, value, dtype);
    if (d->negative)
        text[n++] = '-';
    double magnitude = fabs(value);
    if (magnitude != 0 &&
        (magnitude < 1e-4 || magnitude >= 1e16)) { /* the number itself decides, not its digits: float32's 0.0001 is less */
        int exponent = d->point - 1;
        text[n++] = d->digits[0];
        if (d->count > 1) {
            text[n++] = '.';
            memcpy(text + n, d->digits + 1, (size_t)d->count - 1);
            n += d->count - 1;
        }
        return n + sprintf(text + n, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    for (int i = 0; i < (d->point > 0 ? d->point : 1); i++)
        text[n++] = d->point > 0 && i < d->count ? d->digits[i] : '0';
    if (d->count > d->point) {
        text[n++] = '.';
        for (int i = d->point; i < d->count; i++)
            text[n++] = i < 0 ? '0' : d->digits[i];
    } else if (add_zero) {
        text[n++] = '.';
        text[n++] = '0';
    }
    text[n] = 0;
    return n;
}

void tw__print_float(tw__text *text, double value, tw_dtype dtype)
{
    if (isnan(value)) {
        tw__text_add(text, "nan");
    } else if (isinf(value)) {
        tw__text_add(text, value < 0 ? "-inf" : "inf");
    } else {
        char digits[48];
        tw__text_bytes(text, digits, (size_t)tw__float_repr(digits, value, dtype, true));
    }
}
