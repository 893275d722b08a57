/* Scopes: what C programs make while one is open belongs to it, and ends with it. See <thalweg/base.h>.
 *
 * The entries of all open scopes of a thread stand in one list; a scope is the place where its own begin. Programs come here by
 * the macros of the public headers; the library's own calls do not. Around a program's function that the library calls there is a
 * scope, too: what it gives back is taken out of it (tw__scope_end_with). */
#include "base/base.h"

typedef struct entry {
    void *key; /* an object, or memory; NULL: taken out */
    int64_t count;
    tw__scope_ender end; /* NULL: an object */
    int32_t retained;    /* how often the program retained it while it stood here, less its releases */
} entry;

static _Thread_local struct {
    entry *items;
    size_t count, capacity;
    size_t open; /* scopes */
} scopes;

size_t tw_scope_begin(void)
{
    scopes.open++;
    return scopes.count;
}

static void end_entry(const entry *e)
{
    if (e->key && e->end)
        e->end(e->key, e->count);
    else
        tw_release(e->key);
}

void tw_scope_end(const size_t *start)
{
    if (!start || !scopes.open)
        return;
    while (scopes.count > *start) { /* what ends may run a program's function, which makes and ends others */
        entry last = scopes.items[--scopes.count];
        end_entry(&last);
    }
    if (--scopes.open > 0)
        return;
    tw__free(scopes.items);
    scopes.items = NULL;
    scopes.capacity = 0;
}

/* The last entry of an object or piece of memory, from `start` on. */
static entry *find(const void *key, size_t start)
{
    for (size_t i = scopes.count; key && i > start; i--) {
        if (scopes.items[i - 1].key == key)
            return &scopes.items[i - 1];
    }
    return NULL;
}

static void take_out(entry *e)
{
    e->key = NULL;
    if (e == &scopes.items[scopes.count - 1])
        scopes.count--;
}

bool tw__scope_add(void *key, int64_t count, tw__scope_ender end)
{
    if (!key || !scopes.open)
        return true;
    entry e = { key, count, end, 0 };
    if (TW_GROW(scopes.items, scopes.capacity, scopes.count + 1) != TW_OK) {
        end_entry(&e);
        return false;
    }
    scopes.items[scopes.count++] = e;
    return true;
}

void *tw_made(void *object)
{
    return tw__scope_add(object, 0, NULL) ? object : NULL;
}

static void end_text(void *text, int64_t count)
{
    (void)count;
    tw__free(text);
}

char *tw_made_text(char *text)
{
    return tw__scope_add(text, 0, end_text) ? text : NULL;
}

void tw_scope_forget(const void *key)
{
    entry *e = find(key, 0);
    if (e)
        take_out(e);
}

void tw__scope_end_with(size_t start, void *const *results, int64_t count)
{
    for (int64_t i = 0; results && i < count; i++) {
        entry *e = find(results[i], start);
        if (e && !e->retained) /* else it is returned with a reference of its own */
            take_out(e);
    }
    tw_scope_end(&start);
}

void *tw_scope_retain(const void *object)
{
    entry *e = find(object, 0);
    if (e)
        e->retained++;
    return tw_retain(object);
}

void tw_scope_release(const void *object)
{
    entry *e = find(object, 0);
    if (e && e->retained > 0)
        e->retained--;
    else if (e)
        take_out(e);
    tw_release(object);
}

void tw_scope_leave(const void *object)
{
    tw_scope_forget(object);
    tw_release(object);
}
