/* The library's functions inside of libthalweg-pjrt.so: under their own names, through the table that was given at the start. */
#include <stdio.h>

#include "lower/program.h"

static tw__lower_host host;

#define TW_LOWER_FORWARD(type, name, parameters, arguments) \
    type name parameters                                    \
    {                                                       \
        return host.name arguments;                         \
    }
TW_LOWER_HOST(TW_LOWER_FORWARD)

void tw__text_add(tw__text *text, const char *string)
{
    tw__text_bytes(text, string, strlen(string));
}

void tw__text_format(tw__text *text, const char *format, ...)
{
    char few[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(few, sizeof few, format, arguments);
    va_end(arguments);
    if (size < (int)sizeof few) {
        tw__text_bytes(text, few, size < 0 ? 0 : (size_t)size);
        return;
    }
    tw__owned char *many = tw__alloc_array((size_t)size + 1, 1);
    text->failed |= !many;
    if (many) {
        va_start(arguments, format);
        vsnprintf(many, (size_t)size + 1, format, arguments);
        va_end(arguments);
        tw__text_bytes(text, many, (size_t)size);
    }
}

__attribute__((visibility("default"))) tw__lowerings_function tw__lowerings_open;

const tw__lowerings *tw__lowerings_open(const tw__lower_host *given)
{
    host = *given;
    return &tw__lowerings_table;
}
