/* The thread's error: a code and a text. The first one is kept until somebody takes or clears it, so that a chain of
 * calls on NULL handles still tells what went wrong first. */
#include <stdlib.h>

#include "base/language.h"
#include "base/base.h"

static _Thread_local tw_status thread_code;
static _Thread_local char *thread_message;

static void set(tw_status code, char *message)
{
    free(thread_message);
    thread_message = message;
    thread_code = code;
}

tw_status tw__fail(tw_status code, const char *format, ...)
{
    if (thread_code != TW_OK)
        return thread_code;
    va_list arguments;
    va_start(arguments, format);
    char *message = NULL; /* straight from the C library: reporting a failed allocation must not depend on another */
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    set(code, message);
    return code;
}

tw_status tw__no_memory(size_t size)
{
    return tw__fail(TW_RESOURCE_EXHAUSTED, "out of memory: could not allocate %zu bytes", size);
}

void tw__error_prefix(const char *format, ...)
{
    if (thread_code == TW_OK)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *prefix = NULL, *whole = NULL;
    if (vasprintf(&prefix, format, arguments) < 0)
        prefix = NULL;
    va_end(arguments);
    if (prefix && asprintf(&whole, "%s%s", prefix, thread_message ? thread_message : "") >= 0)
        set(thread_code, whole);
    free(prefix);
}

tw_status tw__error_status(void)
{
    return thread_code != TW_OK ? thread_code : tw__fail(TW_INTERNAL, "a call failed without saying why");
}

tw__saved_error tw__error_take(void)
{
    tw__saved_error saved = { thread_code, thread_message };
    thread_code = TW_OK;
    thread_message = NULL;
    return saved;
}

void tw__error_restore(tw__saved_error saved)
{
    if (saved.code == TW_OK) {
        free(saved.message);
        return;
    }
    set(saved.code, saved.message);
}

tw_status tw_error_code(void)
{
    return thread_code;
}

const char *tw_error_message(void)
{
    return thread_code == TW_OK ? "" : thread_message ? thread_message : "out of memory";
}

void tw_clear_error(void)
{
    set(TW_OK, NULL);
}

const char *tw_status_name(tw_status status)
{
    static const char *const canonical[] = {
        "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED",
    };
    static const char *const python[] = {
        "TypeError",      "ValueError",   "IndexError",          "KeyError",    "AttributeError",
        "AssertionError", "RuntimeError", "NotImplementedError", "LookupError", "OSError",
    };
    if ((int)status >= 0 && (size_t)status < sizeof canonical / sizeof *canonical)
        return canonical[status];
    if (status >= TW_TYPE_ERROR && status <= TW_OS_ERROR)
        return python[status - TW_TYPE_ERROR];
    return "UNKNOWN";
}

int tw_report(FILE *stream)
{
    if (thread_code == TW_OK)
        return 0;
    if (stream)
        fprintf(stream, "%s: %s\n", tw_status_name(thread_code), tw_error_message());
    return 1;
}

void tw__log(const char *level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[4096];
    if (tw__language.log) {
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        tw__language.log(level, text);
        return;
    }
    flockfile(stderr);
    fprintf(stderr, "%s:tensorflow:", level);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

const char *tw_version(void)
{
    return TW_VERSION;
}
