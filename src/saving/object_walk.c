/* The objects under a root, breadth-first, each once: the order in which TensorFlow numbers them. Children come in the order of
 * their tracking; an object with several names is met, and named, on the shortest way, the first of equals. */
#include "data/data.h"
#include "lookup/lookup.h"
#include "rows.h"
#include "saving/saving.h"

bool tw__holds_value(const tw_trackable *object)
{
    return tw__is(object, &tw__class_variable);
}

const char *tw__attribute_of(const tw_trackable *object)
{
    return tw__holds_value(object)               ? TW__VALUE_NAME
           : tw__is(object, &tw__class_iterator) ? TW__ITERATOR_NAME
           : tw__lookup_saves(object)            ? TW__TABLE_NAME
                                                 : NULL;
}

tw_tensor *tw__attribute_value(tw_trackable *object)
{
    return tw__holds_value(object) ? tw__variable_value((tw_variable *)object) : tw__iterator_save((struct tw_iterator *)object);
}

/* What the object has beyond its own children. */
static const struct tw__extra_children *extra_of(const tw__object_walk *walk, size_t node)
{
    int64_t place = walk->view.extra ? tw__pointer_map_get(&walk->view.extra->places, walk->nodes[node].object, -1) : -1;
    return place >= 0 ? &walk->view.extra->lists[place] : NULL;
}

size_t tw__walk_child_count(const tw__object_walk *walk, size_t node)
{
    const struct tw__extra_children *extra = extra_of(walk, node);
    return walk->nodes[node].object->child_count + (node == 0 ? walk->view.attached_count : 0) + (extra ? extra->count : 0);
}

const tw__child *tw__walk_child(const tw__object_walk *walk, size_t node, size_t index)
{
    const tw_trackable *object = walk->nodes[node].object;
    if (index < object->child_count)
        return &object->children[index];
    index -= object->child_count;
    size_t attached = node == 0 ? walk->view.attached_count : 0;
    return index < attached ? &walk->view.attached[index] : &extra_of(walk, node)->items[index - attached];
}

tw_status tw__extra_add(tw__extra *extra, const tw_trackable *parent, const char *name, void *child)
{
    int64_t place = tw__pointer_map_get(&extra->places, parent, -1);
    if (place < 0) {
        TW_TRY(TW_GROW(extra->lists, extra->capacity, extra->count + 1));
        TW_TRY(tw__pointer_map_put(&extra->places, parent, place = (int64_t)extra->count));
        extra->lists[extra->count++] = (struct tw__extra_children){ 0 };
    }
    struct tw__extra_children *list = &extra->lists[place];
    TW_TRY(TW_GROW(list->items, list->capacity, list->count + 1));
    char *copy = tw__strdup(name);
    TW_NEED(copy);
    list->items[list->count++] = (tw__child){ copy, tw_retain(child) };
    return TW_OK;
}

void tw__extra_free(tw__extra *extra)
{
    for (size_t i = 0; i < extra->count; i++) {
        for (size_t k = 0; k < extra->lists[i].count; k++) {
            tw__free(extra->lists[i].items[k].name);
            tw_release(extra->lists[i].items[k].object);
        }
        tw__free(extra->lists[i].items);
    }
    tw__free(extra->lists);
    tw__pointer_map_free(&extra->places);
}

static tw_status add(tw__object_walk *walk, tw_trackable *object, size_t parent, const char *name)
{
    TW_TRY(TW_GROW(walk->nodes, walk->capacity, walk->count + 1));
    TW_TRY(tw__pointer_map_put(&walk->ids, object, (int64_t)walk->count));
    walk->nodes[walk->count++] = (tw__walk_node){ object, parent, name, 0 };
    return TW_OK;
}

/* The node's slots: name by name, for the variables in their order. */
static tw_status add_slots(tw__object_walk *walk, size_t node, size_t count)
{
    const tw_trackable *owner = walk->nodes[node].object;
    for (size_t first = 0; first < owner->slot_count; first++) {
        const char *name = owner->slots[first].name;
        bool again = false;
        for (size_t i = 0; i < first; i++)
            again |= strcmp(owner->slots[i].name, name) == 0;
        for (size_t variable = 1; !again && variable < count; variable++) {
            tw_trackable *slot = tw__tracked_slot(owner, walk->nodes[variable].object, name, strlen(name));
            if (!slot || tw__pointer_map_get(&walk->ids, slot, -1) >= 0)
                continue;
            TW_TRY(add(walk, slot, node, name));
            walk->nodes[walk->count - 1].variable = variable;
        }
    }
    return TW_OK;
}

tw_status tw__walk_objects(tw__object_walk *walk, const tw__saving_view *view)
{
    *walk = (tw__object_walk){ .view = *view };
    TW_TRY(add(walk, view->root, 0, NULL));
    for (size_t node = 0; node < walk->count; node++) {
        size_t count = tw__walk_child_count(walk, node);
        for (size_t i = 0; i < count; i++) {
            const tw__child *child = tw__walk_child(walk, node, i);
            if (tw__pointer_map_get(&walk->ids, child->object, -1) < 0)
                TW_TRY(add(walk, (tw_trackable *)child->object, node, child->name));
        }
    }
    size_t count = walk->count;
    for (size_t node = 0; node < count; node++)
        TW_TRY(add_slots(walk, node, count));
    return TW_OK;
}

void tw__walk_free(tw__object_walk *walk)
{
    tw__free(walk->nodes);
    tw__pointer_map_free(&walk->ids);
    *walk = (tw__object_walk){ 0 };
}
