/* Named children; see trackable.h. */
#include "base/trackable.h"

tw__trackable_hooks tw__trackable_hook;

static void drop_children(void *self)
{
    tw_trackable *trackable = self;
    size_t count = trackable->child_count;
    tw__child *children = trackable->children;
    trackable->child_count = trackable->child_capacity = 0;
    trackable->children = NULL;
    for (size_t i = 0; i < count; i++) {
        tw__free(children[i].name);
        tw_release(children[i].object);
    }
    tw__free(children);
}

static void drop_slots(tw_trackable *trackable)
{
    size_t count = trackable->slot_count;
    tw__slot *slots = trackable->slots;
    trackable->slot_count = trackable->slot_capacity = 0;
    trackable->slots = NULL;
    for (size_t i = 0; i < count; i++) {
        tw__free(slots[i].name);
        tw_release(slots[i].variable);
        tw_release(slots[i].object);
    }
    tw__free(slots);
}

static void clear(void *self)
{
    drop_children(self);
    drop_slots(self);
}

static void destroy(void *self)
{
    tw_trackable *trackable = self;
    if (trackable->pending && tw__trackable_hook.forget)
        tw__trackable_hook.forget(trackable);
    clear(self);
}

static void visit(void *self, tw__visitor visitor, void *context)
{
    tw_trackable *trackable = self;
    for (size_t i = 0; i < trackable->child_count; i++)
        visitor(context, trackable->children[i].object);
    for (size_t i = 0; i < trackable->slot_count; i++) {
        visitor(context, trackable->slots[i].variable);
        visitor(context, trackable->slots[i].object);
    }
}

const tw_class tw__trackable_class = {
    .name = "Trackable",
    .size = sizeof(tw_trackable),
    .destroy = destroy,
    .visit = visit,
    .clear = clear,
};

static tw__child *find(const tw_trackable *parent, const char *name)
{
    for (size_t i = 0; i < parent->child_count; i++) {
        if (strcmp(parent->children[i].name, name) == 0)
            return &parent->children[i];
    }
    return NULL;
}

tw_trackable *tw__tracked(const tw_trackable *parent, const char *name)
{
    tw__child *child = find(parent, name);
    return child ? (tw_trackable *)child->object : NULL;
}

static tw_status bind(tw_trackable *parent, const char *name, void *object)
{
    return parent->pending && tw__trackable_hook.bind ? tw__trackable_hook.bind(parent, name, object) : TW_OK;
}

tw_status tw__track_new(tw_trackable *parent, const char *name, void *object)
{
    TW_TRY(TW_GROW(parent->children, parent->child_capacity, parent->child_count + 1));
    char *copy = tw__strdup(name);
    if (!copy)
        return TW_RESOURCE_EXHAUSTED;
    parent->children[parent->child_count++] = (tw__child){ copy, tw_retain(object) };
    return bind(parent, name, object);
}

tw_status tw__track(tw_trackable *parent, const char *name, void *object)
{
    tw__child *child = find(parent, name);
    if (!child)
        return tw__track_new(parent, name, object);
    tw__set(&child->object, object);
    return bind(parent, name, object);
}

static tw__slot *find_slot(const tw_trackable *owner, const void *variable, const char *name, size_t size)
{
    for (size_t i = 0; i < owner->slot_count; i++) {
        tw__slot *slot = &owner->slots[i];
        if ((const void *)slot->variable == variable && strlen(slot->name) == size && memcmp(slot->name, name, size) == 0)
            return slot;
    }
    return NULL;
}

tw_trackable *tw__tracked_slot(const tw_trackable *owner, const void *variable, const char *name, size_t name_size)
{
    tw__slot *slot = find_slot(owner, variable, name, name_size);
    return slot ? (tw_trackable *)slot->object : NULL;
}

tw_status tw__track_slot(tw_trackable *owner, void *variable, const char *name, void *object)
{
    tw__slot *slot = find_slot(owner, variable, name, strlen(name));
    if (slot) {
        tw__set(&slot->object, object);
    } else {
        TW_TRY(TW_GROW(owner->slots, owner->slot_capacity, owner->slot_count + 1));
        char *copy = tw__strdup(name);
        if (!copy)
            return TW_RESOURCE_EXHAUSTED;
        owner->slots[owner->slot_count++] = (tw__slot){ copy, tw_retain(variable), tw_retain(object) };
    }
    if (owner->pending && tw__trackable_hook.bind_slot)
        return tw__trackable_hook.bind_slot(owner, variable, name, object);
    return TW_OK;
}

void tw__untrack(tw_trackable *parent, const char *name)
{
    tw__child *child = find(parent, name);
    if (!child)
        return;
    tw_object *object = child->object;
    tw__free(child->name);
    size_t index = (size_t)(child - parent->children);
    memmove(child, child + 1, (parent->child_count - index - 1) * sizeof *child);
    parent->child_count--;
    tw_release(object);
}

const tw_class tw__container_class = { .name = "Container", .parent = &tw__trackable_class, .size = sizeof(tw_trackable) };
const tw_class tw__tuple_class = { .name = "Tuple", .parent = &tw__container_class, .size = sizeof(tw_trackable) };
const tw_class tw__dict_class = { .name = "Dict", .parent = &tw__container_class, .size = sizeof(tw_trackable) };

tw_trackable *tw__container_new(void)
{
    return tw__object_new(&tw__container_class);
}

tw_status tw__container_append(tw_trackable *container, void *child)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", container->child_count);
    return tw__track(container, name, child);
}
