/* The thread's error: a code, a text, and what is known of where it happened. The first one is kept until somebody takes or
 * clears it, so that a chain of calls on NULL handles still tells what went wrong first. The message is composed when it is asked
 * for: Incompatible shapes: [2] vs. [3] [Op:AddV2] Memory is straight from the C library: reporting a failed allocation must not
 * depend on another. */
#include <stdlib.h>

#include "base/base.h"
#include "base/environment.h"
#include "base/language.h"

static _Thread_local tw__saved_error now;

void tw__error_drop(tw__saved_error *e)
{
    free(e->text);
    free(e->op);
    free(e->call_name);
    free(e->node);
    tw_release(e->origin);
    free(e->function);
    free(e->where);
    free(e->gaps);
    free(e->composed);
    *e = (tw__saved_error){ .code = TW_OK };
}

static void put(char **place, char *text)
{
    free(*place);
    *place = text;
}

/* Something of the error changed. */
static void changed(void)
{
    put(&now.composed, NULL);
}

/* The thread's error, unless it has one already. */
static tw_status fail(tw_status code, const char *op, tw__reason reason, const char *format, va_list arguments)
{
    if (now.code != TW_OK)
        return now.code;
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    tw__error_drop(&now);
    now.code = code;
    now.text = text;
    now.op = op ? strdup(op) : NULL;
    now.reason = reason;
    return code;
}

tw_status tw__fail(tw_status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tw_status status = fail(code, NULL, TW_REASON_NONE, format, arguments);
    va_end(arguments);
    return status;
}

tw_status tw__fail_op(const char *op, tw_status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tw_status status = fail(code, op, TW_REASON_NONE, format, arguments);
    va_end(arguments);
    return status;
}

tw_status tw__fail_because(tw__reason reason, tw_status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tw_status status = fail(code, NULL, reason, format, arguments);
    va_end(arguments);
    return status;
}

void tw__error_because(tw__reason reason)
{
    now.reason = reason;
}

tw_status tw__no_memory(size_t size)
{
    return tw__fail(TW_RESOURCE_EXHAUSTED, "out of memory: could not allocate %zu bytes", size);
}

/* ---- what is known ---- */

tw_status tw__fail_unnamed(tw_status code, const char *text, const size_t *gaps, size_t count)
{
    tw__fail(code, "%s", text);
    size_t *copy = count ? malloc(count * sizeof *copy) : NULL;
    if (copy) {
        memcpy(copy, gaps, count * sizeof *copy);
        free(now.gaps);
        now.gaps = copy;
        now.gap_count = count;
    }
    return code;
}

void tw__error_fill(const char *name)
{
    size_t size = now.text ? strlen(now.text) : 0, each = strlen(name), at = 0;
    char *text = now.gap_count ? malloc(size + now.gap_count * each + 1) : NULL, *end = text;
    if (!text)
        return;
    for (size_t i = 0; i < now.gap_count; i++) {
        end = mempcpy(mempcpy(end, now.text + at, now.gaps[i] - at), name, each);
        at = now.gaps[i];
    }
    memcpy(end, now.text + at, size - at + 1);
    put(&now.text, text);
    free(now.gaps);
    now.gaps = NULL;
    now.gap_count = 0;
    changed();
}

void tw__error_at_op(const char *op)
{
    if (now.code == TW_OK || now.op || now.node || now.function)
        return;
    now.op = strdup(op);
    changed();
}

void tw__error_call_name(const char *name)
{
    if (now.code != TW_OK)
        put(&now.call_name, strdup(name));
    changed();
}

void tw__error_at_node(const char *name, tw_object *origin)
{
    if (now.code == TW_OK)
        return;
    char *whole = NULL;
    if (!now.node)
        now.origin = origin ? tw_retain(origin) : NULL;
    if (asprintf(&whole, "%s%s%s", name, now.node ? "/" : "", now.node ? now.node : "") >= 0)
        put(&now.node, whole);
    changed();
}

void tw__error_in_function(const char *name, const char *where)
{
    if (now.code == TW_OK)
        return;
    put(&now.function, strdup(name));
    put(&now.where, strdup(where));
    changed();
}

void tw__error_prefix(const char *format, ...)
{
    if (now.code == TW_OK)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *prefix = NULL, *whole = NULL;
    if (vasprintf(&prefix, format, arguments) < 0)
        prefix = NULL;
    va_end(arguments);
    if (prefix && asprintf(&whole, "%s%s", prefix, now.text ? now.text : "") >= 0)
        put(&now.text, whole);
    free(prefix);
    changed();
}

void tw__error_wrap(const char *head, const char *tail)
{
    char *whole = NULL;
    if (now.code == TW_OK || asprintf(&whole, "%s%s%s", head, tw_error_message(), tail) < 0)
        return;
    tw_status code = now.code;
    tw__error_drop(&now);
    now.code = code;
    now.text = whole;
}

tw_status tw__error_status(void)
{
    return now.code != TW_OK ? now.code : tw__fail(TW_INTERNAL, "a call failed without saying why");
}

/* ---- the message ---- */

/* Errors that ops and graphs have in TensorFlow; the others are Python's, which tell nothing but their text. */
static bool is_canonical(tw_status code)
{
    return (int)code > 0 && code <= TW_UNAUTHENTICATED;
}

const char *tw__error_message_of(tw__saved_error *e)
{
    const char *text = e->text ? e->text : "out of memory";
    char *made = NULL;
    int size = 0;
    if (e->code == TW_OK)
        return "";
    if (e->composed)
        return e->composed;
    if (e->node && !is_canonical(e->code))
        size = asprintf(&made, "node %s: %s", e->node, text);
    else if (e->node && e->function)
        size = asprintf(&made,
                        "Graph execution error:\n\nDetected at node %s defined at (most recent call last):\n%s%s\n\t [[{{node "
                        "%s}}]] [Op:%s]",
                        e->node, e->where && *e->where ? e->where : "<stack traces unavailable>\n", text, e->node, e->function);
    else if (e->node)
        size = asprintf(&made, "%s\n\t [[{{node %s}}]]", text, e->node);
    else if (e->op && is_canonical(e->code))
        size = asprintf(&made, "%s [Op:%s]%s%s", text, e->op, e->call_name ? " name: " : "", e->call_name ? e->call_name : "");
    else
        return text;
    e->composed = size < 0 ? NULL : made;
    return e->composed ? e->composed : text;
}

const char *tw_error_message(void)
{
    return tw__error_message_of(&now);
}

const tw__saved_error *tw__error_now(void)
{
    return &now;
}

tw__saved_error tw__error_take(void)
{
    tw__saved_error saved = now;
    now = (tw__saved_error){ .code = TW_OK };
    return saved;
}

void tw__error_restore(tw__saved_error saved)
{
    if (saved.code == TW_OK) {
        tw__error_drop(&saved);
        return;
    }
    tw__error_drop(&now);
    now = saved;
}

tw_status tw_error_code(void)
{
    return now.code;
}

void tw_clear_error(void)
{
    tw__error_drop(&now);
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
    if (now.code == TW_OK)
        return 0;
    if (stream)
        fprintf(stream, "%s: %s\n", tw_status_name(now.code), tw_error_message());
    return 1;
}

char *tw_take_error(tw_status *code)
{
    tw__saved_error saved = tw__error_take();
    if (code)
        *code = saved.code;
    char *message = NULL;
    if (saved.code != TW_OK) {
        const char *text = tw__error_message_of(&saved);
        message = strdup(text && *text ? text : "out of memory");
    }
    tw__error_drop(&saved);
    return message;
}

tw_status tw_status_kind(tw_status status)
{
    switch (status) {
    case TW_INDEX_ERROR:
        return TW_OUT_OF_RANGE;
    case TW_KEY_ERROR:
    case TW_LOOKUP_ERROR:
    case TW_ATTRIBUTE_ERROR:
        return TW_NOT_FOUND;
    case TW_RUNTIME_ERROR:
        return TW_FAILED_PRECONDITION;
    case TW_NOT_IMPLEMENTED_ERROR:
        return TW_UNIMPLEMENTED;
    case TW_OS_ERROR:
        return TW_UNAVAILABLE;
    case TW_FOREIGN_ERROR:
        return TW_UNKNOWN;
    default:
        return status >= TW_TYPE_ERROR ? TW_INVALID_ARGUMENT : status;
    }
}

/* ---- messages ---- */

static struct {
    pthread_mutex_t lock;
    tw_log log;
    void *user;
} messages = { .lock = PTHREAD_MUTEX_INITIALIZER };

void tw_set_log(tw_log log, void *user)
{
    pthread_mutex_lock(&messages.lock);
    messages.log = log;
    messages.user = user;
    pthread_mutex_unlock(&messages.lock);
}

static int least_level;

static void read_level(void)
{
    const char *text = getenv("TF_CPP_MIN_LOG_LEVEL");
    least_level = text ? atoi(text) : 0;
}

bool tw__log_wanted(int level)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_level);
    return level >= least_level;
}

void tw_log_line(void *stream, const char *level, const char *text)
{
    fprintf(stream ? (FILE *)stream : stderr, "%s:tensorflow:%s\n", level ? level : "", text ? text : "");
}

void tw__log(const char *level, const char *format, ...)
{
    pthread_mutex_lock(&messages.lock);
    tw_log log = messages.log;
    void *user = messages.user;
    pthread_mutex_unlock(&messages.lock);
    if (!log)
        return;
    va_list arguments;
    va_start(arguments, format);
    char text[4096];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log(user, level, text);
}

/* ---- the end ---- */

static _Atomic(tw__ending *) endings;

void tw__at_shutdown(tw__ending *ending)
{
    if (atomic_load_explicit(&ending->known, memory_order_relaxed) || atomic_exchange(&ending->known, true))
        return;
    ending->next = atomic_load(&endings);
    while (!atomic_compare_exchange_weak(&endings, &ending->next, ending))
        ;
}

void tw_shutdown(void)
{
    for (tw__ending *e; (e = atomic_load(&endings));) { /* one that runs may add others */
        atomic_store(&endings, e->next);
        atomic_store(&e->known, false);
        e->end();
    }
    tw_clear_error();
}

const char *tw_version(void)
{
    return TW_VERSION;
}
