/* Text that grows, and small string helpers. */
#include "base/base.h"

static bool reserve(tw__text *text, size_t more)
{
    size_t need;
    if (text->failed)
        return false;
    if (__builtin_add_overflow(text->size, more, &need) || __builtin_add_overflow(need, (size_t)1, &need)) {
        tw__no_memory(SIZE_MAX);
        text->failed = true;
    } else if (TW_GROW(text->data, text->capacity, need) != TW_OK) {
        text->failed = true;
    }
    return !text->failed;
}

void tw__text_bytes(tw__text *text, const void *data, size_t size)
{
    if (!reserve(text, size))
        return;
    if (size)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

void tw__text_add(tw__text *text, const char *string)
{
    tw__text_bytes(text, string, strlen(string));
}

static void add_formatted(tw__text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size >= 0 && reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void tw__text_format(tw__text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_formatted(text, format, arguments);
    va_end(arguments);
}

void tw__text_clear(tw__text *text)
{
    text->size = 0;
    if (text->data)
        text->data[0] = 0;
}

void tw__text_free(tw__text *text)
{
    tw__free(text->data);
    *text = (tw__text){ 0 };
}

char *tw__text_take(tw__text *text)
{
    if (!reserve(text, 0)) {
        tw__text_free(text);
        return NULL;
    }
    char *data = text->data;
    data[text->size] = 0;
    *text = (tw__text){ 0 };
    return data;
}

char *tw__format(const char *format, ...)
{
    tw__text text = { 0 };
    va_list arguments;
    va_start(arguments, format);
    add_formatted(&text, format, arguments);
    va_end(arguments);
    return tw__text_take(&text);
}

bool tw__starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool tw__ends_with(const char *text, const char *suffix)
{
    size_t size = strlen(text), end = strlen(suffix);
    return size >= end && memcmp(text + size - end, suffix, end) == 0;
}
