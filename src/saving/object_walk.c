/* The objects under a root, breadth-first, each once: the order in which TensorFlow numbers them. Children come in the order of their
 * tracking; an object with several names is met, and named, on the shortest way, the first of equals. */
#include "rows.h"
#include "saving/saving.h"

bool tw__holds_value(const tw_trackable *object)
{
    return tw__is(object, &tw__class_variable);
}

size_t tw__walk_child_count(const tw__walk *walk, size_t node)
{
    return walk->nodes[node].object->child_count + (node == 0 ? walk->view.attached_count : 0);
}

const tw__child *tw__walk_child(const tw__walk *walk, size_t node, size_t index)
{
    const tw_trackable *object = walk->nodes[node].object;
    return index < object->child_count ? &object->children[index] : &walk->view.attached[index - object->child_count];
}

static tw_status add(tw__walk *walk, tw_trackable *object, size_t parent, const char *name)
{
    TW_TRY(TW_GROW(walk->nodes, walk->capacity, walk->count + 1));
    TW_TRY(tw__pointer_map_put(&walk->ids, object, (int64_t)walk->count));
    walk->nodes[walk->count++] = (tw__walk_node){ object, parent, name };
    return TW_OK;
}

tw_status tw__walk_objects(tw__walk *walk, const tw__saving_view *view)
{
    *walk = (tw__walk){ .view = *view };
    TW_TRY(add(walk, view->root, 0, NULL));
    for (size_t node = 0; node < walk->count; node++) {
        size_t count = tw__walk_child_count(walk, node);
        for (size_t i = 0; i < count; i++) {
            const tw__child *child = tw__walk_child(walk, node, i);
            if (tw__pointer_map_get(&walk->ids, child->object, -1) < 0)
                TW_TRY(add(walk, (tw_trackable *)child->object, node, child->name));
        }
    }
    return TW_OK;
}

void tw__walk_free(tw__walk *walk)
{
    tw__free(walk->nodes);
    tw__pointer_map_free(&walk->ids);
    *walk = (tw__walk){ 0 };
}
