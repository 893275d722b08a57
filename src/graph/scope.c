/* Name scopes: what stands in front of the names of variables that the thread makes, and of the nodes of lasting graphs.
 *
 * One text per thread, "mlp/dense/", and a stack of what to cut it back to. A scope at the root (a Sequential makes its layers
 * there) hides what is below it: the names begin behind the last such place. While a graph is built, a scope is opened once under
 * its name: the second "a" is "a_1". */
#include "graph/graph.h"
#include "rows.h"

typedef struct level {
    size_t size;      /* of the text before the scope */
    size_t start;     /* where names began before it */
    size_t variables; /* those of variables */
} level;

/* Scopes are opened at every call of a layer, so the usual ones need no allocation. */
enum { FEW_LEVELS = 16, SHORT_TEXT = 256 };

typedef struct scopes {
    char *text;
    size_t size, capacity, start, variables;
    level *levels;
    size_t level_count, level_capacity;
    char short_text[SHORT_TEXT];
    level few_levels[FEW_LEVELS];
} scopes;

static _Thread_local scopes thread;

/* Room for `need` items, in the thread's own place while they fit there. */
static tw_status room(void **items, size_t *capacity, size_t need, size_t item_size, void *own, size_t own_capacity)
{
    if (need <= *capacity)
        return TW_OK;
    if (need <= own_capacity) {
        *items = own;
        *capacity = own_capacity;
        return TW_OK;
    }
    void *memory = tw__alloc_array(2 * need, item_size);
    TW_NEED(memory);
    if (*items)
        memcpy(memory, *items, *capacity * item_size);
    if (*items != own)
        tw__free(*items);
    *items = memory;
    *capacity = 2 * need;
    return TW_OK;
}

static tw_status push(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    TW_TRY(room((void **)&thread.text, &thread.capacity, thread.size + length + 2, 1, thread.short_text, SHORT_TEXT));
    TW_TRY(room((void **)&thread.levels, &thread.level_capacity, thread.level_count + 1, sizeof(level), thread.few_levels,
                FEW_LEVELS));
    thread.levels[thread.level_count++] = (level){ thread.size, thread.start, thread.variables };
    if (length) {
        if (name[length - 1] == '/') /* a whole name, as __enter__ gave it: it is opened again where it stood */
            thread.start = thread.variables = thread.size;
        memcpy(thread.text + thread.size, name, length);
        thread.size += length;
        if (name[length - 1] != '/')
            thread.text[thread.size++] = '/';
    } else {
        thread.start = thread.variables = thread.size;
    }
    thread.text[thread.size] = 0;
    return TW_OK;
}

tw_status tw__scope_push(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (!length || name[length - 1] == '/' || !tw__tracing)
        return push(name);
    TW_TRY(tw__graph_check_name(name, *tw__scope() != 0));
    tw__owned char *inside = tw__format("%s%s", tw__scope(), name);
    tw__owned char *whole = inside ? tw__graph_unique_name(tw__tracing, inside, true) : NULL;
    TW_NEED(whole);
    return push(whole + strlen(tw__scope()));
}

void tw__scope_pop(void)
{
    if (!thread.level_count)
        return;
    if (__builtin_expect(tw__tracing != NULL, 0) && tw__tracing->pending)
        tw__graph_settle(tw__tracing);
    level last = thread.levels[--thread.level_count];
    thread.size = last.size;
    thread.start = last.start;
    thread.variables = last.variables;
    thread.text[thread.size] = 0; /* what was pushed before is whole again */
    if (!thread.level_count) {
        if (thread.text != thread.short_text)
            tw__free(thread.text);
        if (thread.levels != thread.few_levels)
            tw__free(thread.levels);
        thread.text = NULL;
        thread.levels = NULL;
        thread.capacity = thread.level_capacity = 0;
    }
}

tw_status tw__scope_open(const char *name, bool root)
{
    if (root && !tw__tracing) /* there are variables only */
        return push(NULL);
    if (tw__in_lasting())
        return tw__scope_push(name);
    TW_TRY(push(name));
    if (root)
        thread.variables = thread.size;
    return TW_OK;
}

const char *tw__variable_scope(void)
{
    return thread.text ? thread.text + thread.variables : "";
}

const char *tw__scope(void)
{
    return thread.text ? thread.text + thread.start : "";
}

TW_CLASS(name_scope, "name_scope(name: str)", .size = sizeof(tw_object),
         .doc = "Names of variables made inside it begin with the scope's.");

TW_METHOD(name_scope_enter, "name_scope.__enter__(self: name_scope) -> str",
          "Opens the scope; gives its whole name, with a slash.")
{
    const tw_name_scope_args *made = tw_object_config(args->self);
    return tw__scope_push(made->name) == TW_OK ? tw__strdup(tw__scope()) : NULL;
}

TW_METHOD(name_scope_exit, "name_scope.__exit__(self: name_scope)", "Closes the scope.")
{
    tw__scope_pop();
    return TW_OK;
}
