/* Reference cycles: objects that hold each other and that nobody else holds. Reference counts alone never free them. The
 * embedding language's collector frees those that have wrappers; this frees those that only C knows. */
#include "base/circles.h"

typedef struct member {
    tw_object *object;
    int32_t inside; /* references from other members */
    bool held;      /* from outside, or by such a member */
} member;

typedef struct search {
    tw__pointer_map places;
    member *members;
    size_t count, capacity;
    bool failed, marking;
    bool grew; /* while marking */
} search;

static void meet(void *context, tw_object *child)
{
    search *s = context;
    if (!child || child->peer || s->failed)
        return;
    int64_t at = tw__pointer_map_get(&s->places, child, -1);
    if (s->marking) {
        s->grew |= at >= 0 && !s->members[at].held;
        if (at >= 0)
            s->members[at].held = true;
        return;
    }
    if (at < 0) {
        at = (int64_t)s->count;
        s->failed =
            TW_GROW(s->members, s->capacity, s->count + 1) != TW_OK || tw__pointer_map_put(&s->places, child, at) != TW_OK;
        if (s->failed)
            return;
        s->members[s->count++] = (member){ .object = child };
    }
    s->members[at].inside++;
}

/* The start counts as held by one member: by who asks. */
static void reach(search *s, tw_object *start)
{
    meet(s, start);
    for (size_t i = 0; i < s->count && !s->failed; i++)
        tw__object_visit(s->members[i].object, meet, s);
}

static void mark_held(search *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->members[i].held = (atomic_load(&s->members[i].object->references) & ~TW_CIRCULAR) > s->members[i].inside;
    s->marking = true;
    do {
        s->grew = false;
        for (size_t i = 0; i < s->count; i++) {
            if (s->members[i].held)
                tw__object_visit(s->members[i].object, meet, s);
        }
    } while (s->grew);
}

void tw__mark_circular(tw_object *object)
{
    if (!object->peer)
        atomic_fetch_or(&object->references, TW_CIRCULAR);
}

bool tw__reaches(tw_object *start, const tw_object *end, void (*each)(tw_object *object))
{
    search s = { 0 };
    reach(&s, start);
    bool found = !s.failed && tw__pointer_map_get(&s.places, end, -1) >= 0;
    for (size_t i = 0; found && i < s.count; i++)
        each(s.members[i].object);
    tw__pointer_map_free(&s.places);
    tw__free(s.members);
    return found;
}

void tw__end_circle(tw_object *object)
{
    static _Thread_local bool busy;
    if (busy || object->peer)
        return;
    busy = true;
    search s = { 0 };
    reach(&s, object);
    if (!s.failed && s.count)
        mark_held(&s);
    if (!s.failed && s.count && !s.members[0].held) {
        for (size_t i = 0; i < s.count; i++)
            tw_retain(s.members[i].held ? NULL : s.members[i].object);
        for (size_t i = 0; i < s.count; i++) {
            if (!s.members[i].held)
                tw__object_clear(s.members[i].object);
        }
        for (size_t i = 0; i < s.count; i++)
            tw_release(s.members[i].held ? NULL : s.members[i].object);
    }
    busy = false;
    tw__pointer_map_free(&s.places);
    tw__free(s.members);
}
