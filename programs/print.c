/* How the command prints names, shapes, JSON and sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

static bool is_control(unsigned char c)
{
    return c < 32 || c == 127;
}

int print_name(FILE *stream, const char *name)
{
    int width = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (is_control(*c))
            width += fprintf(stream, "\\x%02x", *c);
        else {
            fputc(*c, stream);
            width += (*c & 0xc0) != 0x80;
        }
    }
    return width;
}

int name_width(const char *name)
{
    int width = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        width += is_control(*c) ? 4 : (*c & 0xc0) != 0x80;
    return width;
}

/* Colours are for terminals, and for nobody who set NO_COLOR (no-color.org). */
const char *colour(FILE *stream, const char *code)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool plain = (none && *none) || (terminal && strcmp(terminal, "dumb") == 0) || !isatty(fileno(stream));
    return plain ? "" : code;
}

void print_heading(const char *text)
{
    printf("%s%s%s", colour(stdout, BOLD), text, colour(stdout, NORMAL));
}

void print_padded(const char *name, int width)
{
    int printed = print_name(stdout, name);
    printf("%*s", width > printed ? width - printed : 0, "");
}

void print_shape(const tw_shape *shape)
{
    if (shape->rank < 0) {
        fputs("<unknown>", stdout);
        return;
    }
    putchar('(');
    for (int i = 0; i < shape->rank; i++) {
        fputs(i ? ", " : "", stdout);
        if (shape->dims[i] < 0)
            fputs("None", stdout);
        else
            printf("%lld", (long long)shape->dims[i]);
    }
    fputs(shape->rank == 1 ? ",)" : ")", stdout);
}

static bool print_piece(void *stream, const char *text, size_t size)
{
    return fwrite(text, 1, size, stream) == size;
}

void print_json(const tw_value *value)
{
    tw_value_json_write(value, print_piece, stdout);
}

void print_json_text(const char *text)
{
    tw_value value = { .kind = TW_VALUE_STR, .s = { text, strlen(text) } };
    print_json(&value);
}

void print_json_shape(const tw_shape *shape)
{
    tw_shape copy = *shape;
    tw_value value = { .kind = TW_VALUE_SHAPE, .shape = &copy };
    if (shape->rank < 0)
        fputs("null", stdout);
    else
        print_json(&value);
}

void print_count(double bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    int unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1000;
    printf(unit && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

void show_progress(const char *what, int64_t done, int64_t total)
{
    static bool shown;
    if (!isatty(STDERR_FILENO))
        return;
    if (total < 0 || (total && done >= total)) {
        fputs(shown ? "\r\033[K" : "", stderr);
        shown = false;
    } else {
        fprintf(stderr, "\r\033[K%s: %lld", what, (long long)done);
        if (total)
            fprintf(stderr, " of %lld (%d %%)", (long long)total, (int)(100.0 * (double)done / (double)total));
        shown = true;
    }
    fflush(stderr);
}
