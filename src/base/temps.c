/* Temporary values of a function, released at the end of its block; see temps.h. */
#include "base/temps.h"

static void end_item(const struct tw__temps_item *item)
{
    if (item->end)
        item->end(item->what);
    else
        tw_release(item->what);
}

static tw_status make_room(tw__temps *t)
{
    if (t->items != t->room)
        return TW_GROW(t->items, t->capacity, t->count + 1);
    struct tw__temps_item *items = tw__alloc_array(t->capacity * 2, sizeof *items);
    if (!items)
        return tw__error_status();
    memcpy(items, t->room, sizeof t->room);
    t->items = items;
    t->capacity *= 2;
    return TW_OK;
}

void *tw__temp_by(tw__temps *t, void *what, void (*end)(void *what))
{
    struct tw__temps_item item = { what, end };
    if (!what)
        return NULL;
    if (t->count == t->capacity && make_room(t) != TW_OK) {
        end_item(&item);
        return NULL;
    }
    t->items[t->count++] = item;
    return what;
}

void *tw__temp_memory(tw__temps *t, void *memory)
{
    return tw__temp_by(t, memory, tw__free);
}

void *tw__keep(tw__temps *t, void *what)
{
    for (size_t i = t->count; what && i-- > 0;) { /* mostly the last one */
        if (t->items[i].what == what) {
            t->items[i] = t->items[--t->count];
            return what;
        }
    }
    return what ? tw_retain(what) : NULL;
}

void tw__temps_back(tw__temps *t, size_t count)
{
    while (t->count > count)
        end_item(&t->items[--t->count]);
}

void tw__temps_end(void *list)
{
    tw__temps *t = list;
    tw__temps_back(t, 0);
    if (t->items != t->room)
        tw__free(t->items);
    t->items = t->room;
    t->capacity = sizeof t->room / sizeof *t->room;
}
