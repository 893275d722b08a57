/* The variables of layers and models, in Keras's order.
 *
 * A layer's own variables (attributes, also inside lists and dicts) come before those of the layers below it, the trainable ones
 * first. A model goes through what it holds in the order of tracking and puts its own variables last; a Sequential holds its
 * layers and variables alone, whatever else is an attribute of it. A frozen layer counts all of them as not trainable. Variables
 * of metrics count where the metrics hang on a model or on another metric, not on a layer. */
#include <stdlib.h>

#include "keras/keras.h"

enum { FEW = 32 }; /* so many variables, and objects that were entered, are searched one by one */

typedef struct gathering {
    void **items;
    size_t count, capacity;
    tw__pointer_map seen; /* in use beyond FEW items */
    struct {
        const tw_trackable *object;
        int64_t walks; /* that went into it, as bits */
    } entered[FEW];
    size_t entered_count;
    tw__pointer_map entered_more; /* the same for objects beyond these */
    tw_status status;
} gathering;

/* All but `entered`, whose entries are written before they are read. */
static void start(gathering *g)
{
    g->items = NULL;
    g->count = g->capacity = g->entered_count = 0;
    g->seen = g->entered_more = (tw__pointer_map){ 0 };
    g->status = TW_OK;
}

/* The way from the root to where the walk stands: an object that holds one of its own ancestors is not entered again. */
typedef struct way {
    const tw_trackable *object;
    const struct way *up;
} way;

static bool is_on_way(const way *path, const tw_trackable *object)
{
    for (; path; path = path->up) {
        if (path->object == object)
            return true;
    }
    return false;
}

/* The walks, each a bit; those that ask for some of the variables take one bit for each tw__which from theirs on. */
enum { WALK_LAYER = 1, WALK_BELOW = 8, WALK_CONTAINER = 64, WALK_OWN = 512, WALK_LAYERS = 2048 };

/* True if this walk goes into the object for the first time. What is held twice would double the work at every level: a
 * Sequential holds its layers under two names. */
static bool enters(gathering *g, const tw_trackable *object, const way *path, int64_t walk)
{
    if (g->status != TW_OK || is_on_way(path, object))
        return false;
    for (size_t i = 0; i < g->entered_count; i++) {
        if (g->entered[i].object == object) {
            bool first = !(g->entered[i].walks & walk);
            g->entered[i].walks |= walk;
            return first;
        }
    }
    if (g->entered_count < FEW) {
        g->entered[g->entered_count].object = object;
        g->entered[g->entered_count++].walks = walk;
        return true;
    }
    int64_t walks = tw__pointer_map_get(&g->entered_more, object, 0);
    if (walks & walk)
        return false;
    g->status = tw__pointer_map_put(&g->entered_more, object, walks | walk);
    return g->status == TW_OK;
}

static bool is_new(const gathering *g, const void *item)
{
    if (g->count > FEW)
        return !tw__pointer_map_get(&g->seen, item, 0);
    for (size_t i = 0; i < g->count; i++) {
        if (g->items[i] == item)
            return false;
    }
    return true;
}

static void add(gathering *g, void *item)
{
    if (g->status != TW_OK || !is_new(g, item))
        return;
    g->status = TW_GROW(g->items, g->capacity, g->count + 1);
    if (g->status != TW_OK)
        return;
    g->items[g->count++] = item;
    /* The first item beyond the few brings all of them into the map. */
    for (size_t i = g->count == FEW + 1 ? 0 : g->count - 1; g->count > FEW && g->status == TW_OK && i < g->count; i++)
        g->status = tw__pointer_map_put(&g->seen, g->items[i], 1);
}

static bool is_variable(const tw__child *child)
{
    return tw__is(child->object, &tw__class_variable);
}

static bool is_layer(const tw__child *child)
{
    return tw__is(child->object, &tw__class_layer);
}

static bool is_container(const tw__child *child)
{
    return tw__is(child->object, &tw__container_class);
}

static bool is_metric(const tw__child *child)
{
    return tw__is(child->object, &tw__class_metric);
}

/* Variables that stand directly on the object or, with `deep`, in lists and dicts on it. */
static void gather_own(gathering *g, const tw_trackable *object, bool trainable, bool deep, const way *up)
{
    way path = { object, up };
    const tw_layer *layer = tw__is(object, &tw__class_layer) ? (const tw_layer *)object : NULL;
    for (size_t i = 0; layer && i < layer->extra_count; i++) {
        if (layer->extra[i]->trainable == trainable)
            add(g, layer->extra[i]);
    }
    for (size_t i = 0; i < object->child_count; i++) {
        const tw__child *child = &object->children[i];
        if (is_variable(child)) {
            if (((tw_variable *)child->object)->trainable == trainable)
                add(g, child->object);
        } else if (deep && is_container(child) && enters(g, (tw_trackable *)child->object, &path, WALK_OWN << trainable)) {
            gather_own(g, (tw_trackable *)child->object, trainable, true, &path);
        }
    }
}

static void gather(gathering *g, const tw_trackable *object, tw__which which, const way *up);

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const tw__child *const *)a)->name, (*(const tw__child *const *)b)->name);
}

/* A dict's children by their keys; for tw__free. NULL: the object is no dict, or the gathering failed. */
static const tw__child **children_by_key(gathering *g, const tw_trackable *object)
{
    if (!tw__is(object, &tw__dict_class))
        return NULL;
    const tw__child **children = tw__alloc_array(object->child_count + 1, sizeof *children);
    if (!children) {
        g->status = TW_RESOURCE_EXHAUSTED;
        return NULL;
    }
    for (size_t i = 0; i < object->child_count; i++)
        children[i] = &object->children[i];
    qsort(children, object->child_count, sizeof *children, by_key);
    return children;
}

/* Variables of the layers below, through lists and dicts; with `metrics` of those, too. */
static void gather_below(gathering *g, const tw_trackable *object, tw__which which, bool metrics, const way *up)
{
    way path = { object, up };
    const tw__child **sorted = children_by_key(g, object);
    for (size_t i = 0; i < object->child_count; i++) {
        const tw__child *child = sorted ? sorted[i] : &object->children[i];
        tw_trackable *below = (tw_trackable *)child->object;
        if (is_variable(child)) /* most children of a layer: the quick answer first */
            continue;
        if (is_layer(child) && (metrics || !is_metric(child)) && enters(g, below, &path, WALK_LAYER << which))
            gather(g, below, which, &path);
        else if (is_container(child) && enters(g, below, &path, WALK_BELOW << which))
            gather_below(g, below, which, metrics, &path);
    }
    tw__free(sorted);
}

/* Of all variables of a list or dict those come first that may be trained, whichever of its layers they belong to. */
static void gather_container(gathering *g, const tw_trackable *container, tw__which which, const way *up)
{
    if (which == TW_ALL_VARIABLES) {
        gather_container(g, container, TW_TRAINABLE_VARIABLES, up);
        gather_container(g, container, TW_NON_TRAINABLE_VARIABLES, up);
        return;
    }
    gather_below(g, container, which, true, up);
    gather_own(g, container, which == TW_TRAINABLE_VARIABLES, true, up);
}

static void gather_model(gathering *g, const tw_layer *model, tw__which which, const way *up)
{
    const tw_trackable *object = &model->trackable;
    way path = { object, up };
    size_t step_count = 0;
    tw_layer *const *steps = tw__sequential_layers(model, &step_count);
    bool frozen = !model->trainable, sequential = steps != NULL;
    if (which == TW_TRAINABLE_VARIABLES && frozen)
        return;
    for (int pass = frozen && which == TW_NON_TRAINABLE_VARIABLES ? 0 : 1; pass < 2; pass++) {
        tw__which asked = pass == 0 ? TW_TRAINABLE_VARIABLES : which;
        for (size_t i = 0; i < step_count; i++) {
            if (enters(g, &steps[i]->trackable, &path, WALK_LAYER << asked))
                gather(g, &steps[i]->trackable, asked, &path);
        }
        for (size_t i = 0; !sequential && i < object->child_count; i++) {
            const tw__child *child = &object->children[i];
            tw_trackable *below = (tw_trackable *)child->object;
            if (is_layer(child) && enters(g, below, &path, WALK_LAYER << asked))
                gather(g, below, asked, &path);
            else if (is_container(child) && enters(g, below, &path, WALK_CONTAINER << asked))
                gather_container(g, below, asked, &path);
        }
        if (pass == 0 || (pass == 1 && which != TW_NON_TRAINABLE_VARIABLES))
            gather_own(g, object, true, sequential, up);
    }
    if (which != TW_TRAINABLE_VARIABLES)
        gather_own(g, object, false, sequential, up);
}

static void gather(gathering *g, const tw_trackable *object, tw__which which, const way *up)
{
    if (!tw__is(object, &tw__class_layer)) {
        gather_container(g, object, which, up);
        return;
    }
    const tw_layer *layer = (const tw_layer *)object;
    if (tw__is(layer, &tw__class_model)) {
        gather_model(g, layer, which, up);
        return;
    }
    if (which == TW_ALL_VARIABLES) {
        gather(g, object, TW_TRAINABLE_VARIABLES, up);
        gather(g, object, TW_NON_TRAINABLE_VARIABLES, up);
        return;
    }
    if (layer->trainable) {
        gather_own(g, object, which == TW_TRAINABLE_VARIABLES, true, up);
        gather_below(g, object, which, tw__is(layer, &tw__class_metric), up);
    } else if (which == TW_NON_TRAINABLE_VARIABLES) {
        gather_own(g, object, true, true, up);
        gather_own(g, object, false, true, up);
        gather_below(g, object, TW_ALL_VARIABLES, tw__is(layer, &tw__class_metric), up);
    }
}

static tw_status finish(gathering *g, void ***items, int64_t *count)
{
    tw__pointer_map_free(&g->seen);
    tw__pointer_map_free(&g->entered_more);
    if (g->status != TW_OK) {
        tw__free(g->items);
        g->items = NULL;
        g->count = 0;
    }
    *items = g->items;
    *count = (int64_t)g->count;
    return g->status;
}

tw_status tw__collect_variables(tw_trackable *root, tw__which which, tw_variable ***variables, int64_t *count)
{
    gathering g;
    start(&g);
    gather(&g, root, which, NULL);
    return finish(&g, (void ***)variables, count);
}

bool tw__has_variables(tw_trackable *root)
{
    gathering g;
    start(&g);
    gather(&g, root, TW_ALL_VARIABLES, NULL);
    bool found = g.count != 0;
    tw__pointer_map_free(&g.seen);
    tw__pointer_map_free(&g.entered_more);
    tw__free(g.items);
    return found;
}

static void gather_layers(gathering *g, const tw_trackable *object, bool deep, const way *up)
{
    way path = { object, up };
    const tw__child **sorted = children_by_key(g, object);
    for (size_t i = 0; i < object->child_count; i++) {
        const tw__child *child = sorted ? sorted[i] : &object->children[i];
        tw_trackable *below = (tw_trackable *)child->object;
        if (is_on_way(&path, below))
            continue;
        if (is_layer(child) && (deep || !is_metric(child)))
            add(g, below);
        if ((is_container(child) || (deep && is_layer(child))) && enters(g, below, &path, WALK_LAYERS))
            gather_layers(g, below, deep, &path);
    }
    tw__free(sorted);
}

tw_status tw__collect_layers(tw_trackable *root, bool deep, tw_layer ***layers, int64_t *count)
{
    gathering g;
    start(&g);
    size_t step_count = 0;
    tw_layer *const *steps =
        !deep && tw__is(root, &tw__class_model) ? tw__sequential_layers((tw_layer *)root, &step_count) : NULL;
    for (size_t i = 0; i < step_count; i++)
        add(&g, steps[i]);
    if (!steps)
        gather_layers(&g, root, deep, NULL);
    return finish(&g, (void ***)layers, count);
}

static void gather_metrics(gathering *g, const tw_trackable *object, const way *up)
{
    way path = { object, up };
    const tw__child **sorted = children_by_key(g, object);
    for (size_t i = 0; i < object->child_count; i++) {
        const tw__child *child = sorted ? sorted[i] : &object->children[i];
        tw_trackable *below = (tw_trackable *)child->object;
        if (is_metric(child))
            add(g, below);
        else if (is_container(child) && enters(g, below, &path, WALK_LAYERS))
            gather_metrics(g, below, &path);
    }
    tw__free(sorted);
}

tw_status tw__collect_own_metrics(tw_trackable *root, struct tw_metric ***metrics, int64_t *count)
{
    gathering g;
    start(&g);
    gather_metrics(&g, root, NULL);
    return finish(&g, (void ***)metrics, count);
}
