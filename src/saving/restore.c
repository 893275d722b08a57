/* Restoring: the graph in the file and the objects are walked together, breadth-first, and names decide.
 *
 *     file (root) ── model ── kernel          bound[node] = object, while both live
 *     here (root) ── model                    "kernel" waits on `model` until a child of that name is tracked
 *
 * Slots (what an optimizer keeps for a variable) are no children: they are bound when their owner and their variable are. The
 * owner waits for those that do not exist yet under the name TW__SLOT_NAME, which no child has.
 *
 * An object's `pending` is a tw__waiting: the restores whose children it waits for, where it stands in `bound`, and which restore
 * gave it its value last. Of several restores the newest wins, in whatever order things come. The bundle stays open (so its files
 * may be removed meanwhile) until nothing waits for it any more. When a restore ends with values that found no object, it says
 * so. */
#include <stdlib.h>

#include "data/data.h"
#include "lookup/lookup.h"
#include "saving/saving.h"

static _Atomic uint64_t last_uid;

/* ---- what an object knows of restores ---- */

tw__waiting *tw__waiting_of(tw_trackable *object)
{
    if (!object->pending)
        object->pending = tw__alloc_zero(sizeof(tw__waiting));
    return object->pending;
}

uint64_t tw__restored_by(const tw_trackable *object)
{
    const tw__waiting *waiting = object->pending;
    return waiting ? waiting->updated : 0;
}

tw_status tw__restore_link(tw__restore *restore, size_t node, tw_trackable *object)
{
    tw__waiting *waiting = tw__waiting_of(object);
    TW_NEED(waiting);
    TW_TRY(TW_GROW(waiting->links, waiting->link_capacity, waiting->link_count + 1));
    waiting->links[waiting->link_count++] = (struct tw__link){ restore, node };
    restore->bound[node] = object;
    return TW_OK;
}

static void unlink_object(tw__restore *restore, tw_trackable *object)
{
    tw__waiting *waiting = object->pending;
    for (size_t i = 0; waiting && i < waiting->link_count;) {
        if (waiting->links[i].restore == restore)
            waiting->links[i] = waiting->links[--waiting->link_count];
        else
            i++;
    }
}

/* Ends a wait: its name is freed and its reference given up. */
static void drop_deferral(struct tw__deferral *deferral)
{
    tw__free(deferral->name);
    if (--deferral->restore->waiting == 0 && deferral->restore->users == 0 && !deferral->restore->by_name)
        tw__restore_close(deferral->restore);
    tw_release(deferral->restore);
}

static void forget(tw_trackable *object)
{
    tw__owned tw__waiting *waiting = object->pending;
    object->pending = NULL;
    for (size_t i = 0; i < waiting->link_count; i++)
        waiting->links[i].restore->bound[waiting->links[i].node] = NULL;
    for (size_t i = 0; i < waiting->deferred_count; i++)
        drop_deferral(&waiting->deferred[i]);
    for (size_t i = 0; i < waiting->by_name_count; i++)
        tw_release(waiting->by_name[i]);
    tw__free(waiting->links);
    tw__free(waiting->deferred);
    tw__free(waiting->by_name);
}

void tw__restore_forget_child(tw_trackable *parent, const char *name)
{
    tw__waiting *waiting = parent->pending;
    for (size_t i = waiting ? waiting->deferred_count : 0; i-- > 0;) {
        struct tw__deferral deferral = waiting->deferred[i];
        if (strcmp(deferral.name, name) != 0)
            continue;
        waiting->deferred[i] = waiting->deferred[--waiting->deferred_count];
        drop_deferral(&deferral);
    }
}

/* ---- the end of a restore ---- */

static void warn_of_unused(tw__restore *restore)
{
    static const char first[] =
        "Detecting that an object or model or tf.train.Checkpoint is being deleted with unrestored values. See the following logs for the "
        "specific values in question. To silence these warnings, use `status.expect_partial()`. See "
        "https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restorefor details about the status object returned by the "
        "restore function.";
    tw__saved_error kept = tw__error_take();
    tw__saved_names names = { 0 };
    tw__text name = { 0 };
    bool any = false;
    for (size_t i = 0; i < restore->graph.count; i++) {
        if (restore->graph.nodes[i].attribute_count == 0 || restore->matched[i])
            continue;
        if (!any) {
            tw__log("WARNING", "%s", first);
            if (tw__saved_names_find(&names, &restore->graph) != TW_OK)
                break;
        }
        any = true;
        tw__text_clear(&name);
        tw__saved_name_add(&name, &names, i);
        tw__log("WARNING", "Value in checkpoint could not be found in the restored object: %s", name.data ? name.data : "");
    }
    tw__saved_names_free(&names);
    tw__text_free(&name);
    tw_clear_error();
    tw__error_restore(kept);
}

static void restore_destroy(void *self)
{
    tw__restore *restore = self;
    if (!restore->expect_partial && restore->matched)
        warn_of_unused(restore);
    for (size_t i = 0; restore->bound && i < restore->bound_count; i++) {
        if (restore->bound[i])
            unlink_object(restore, restore->bound[i]);
    }
    tw__restore_close(restore);
    tw__saved_graph_free(&restore->graph);
    tw__free(restore->prefix);
    tw__free(restore->bound);
    tw__free(restore->matched);
    tw__free(restore->unused);
}

static const tw_class restore_class = { .name = "Restore", .size = sizeof(tw__restore), .destroy = restore_destroy };

/* ---- the walk ---- */

typedef struct assignment {
    tw_trackable *object; /* a variable, an iterator or a table */
    char *key;
    struct tw__cursor *cursor; /* of an iterator: where it will stand, */
    tw_tensor *saved;          /* and what says so */
    tw_tensor *table[2];       /* keys and values */
} assignment;

typedef struct binding {
    tw__restore *restore;
    size_t *queue; /* nodes that were bound and wait for their turn */
    size_t count, next, capacity;
    assignment *assignments;
    size_t assignment_count, assignment_capacity;
} binding;

/* Binds and queues the node unless it is bound already. */
static tw_status bind_node(binding *w, size_t node, tw_trackable *object)
{
    tw__restore *restore = w->restore;
    restore->matched[node] = true;
    tw_trackable *other = restore->bound[node];
    if (!other) {
        TW_TRY(TW_GROW(w->queue, w->capacity, w->count + 1));
        TW_TRY(tw__restore_link(restore, node, object));
        w->queue[w->count++] = node;
    } else if (other != object) {
        tw__owned char *one = tw__trackable_repr(other), *two = tw__trackable_repr(object);
        tw__log("WARNING",
                "Inconsistent references when loading the checkpoint into this object graph. For example, in the saved "
                "checkpoint object, `model.layer.weight` and `model.layer_copy.weight` reference the same variable, while in "
                "the current object these are two different variables. The referenced variables are:(%s and %s).",
                one ? one : "", two ? two : "");
    }
    return TW_OK;
}

static bool is_named(tw__saved_text name, const char *attribute)
{
    return attribute && name.size == strlen(attribute) && memcmp(name.data, attribute, name.size) == 0;
}

/* Notes which values of the file the object takes. */
static tw_status gather(binding *w, size_t node, tw_trackable *object)
{
    tw__restore *restore = w->restore;
    tw__waiting *waiting = object->pending;
    if (restore->uid <= waiting->updated)
        return TW_OK;
    waiting->updated = restore->uid;
    const tw__saved_node *saved = &restore->graph.nodes[node];
    for (size_t i = 0; i < saved->attribute_count; i++) {
        const tw__saved_attribute *attribute = &saved->attributes[i];
        if (!is_named(attribute->name, tw__attribute_of(object))) {
            TW_TRY(TW_GROW(restore->unused, restore->unused_capacity, restore->unused_count + 1));
            restore->unused[restore->unused_count].node = node;
            restore->unused[restore->unused_count++].attribute = i;
            continue;
        }
        TW_TRY(TW_GROW(w->assignments, w->assignment_capacity, w->assignment_count + 1));
        char *key = tw__strndup(attribute->key.data ? attribute->key.data : "", attribute->key.size);
        TW_NEED(key);
        w->assignments[w->assignment_count++] = (assignment){ .object = object, .key = key };
    }
    return TW_OK;
}

static bool has_values(const tw__saved_node *node)
{
    return node->says_values ? node->has_values
                             : node->child_count || node->attribute_count || node->slot_count || node->has_saver;
}

static tw_status defer(tw__restore *restore, size_t node, tw_trackable *parent, tw__saved_text name)
{
    tw__waiting *waiting = parent->pending;
    TW_TRY(TW_GROW(waiting->deferred, waiting->deferred_capacity, waiting->deferred_count + 1));
    char *copy = tw__strndup(name.data ? name.data : "", name.size);
    TW_NEED(copy);
    waiting->deferred[waiting->deferred_count++] = (struct tw__deferral){ copy, tw_retain(restore), node };
    restore->waiting++;
    return TW_OK;
}

static tw_trackable *find_child(const tw_trackable *object, tw__saved_text name)
{
    for (size_t i = 0; i < object->child_count; i++) {
        const char *own = object->children[i].name;
        if (strlen(own) == name.size && memcmp(own, name.data, name.size) == 0)
            return (tw_trackable *)object->children[i].object;
    }
    return NULL;
}

static tw_status visit_children(binding *w, size_t node, tw_trackable *object)
{
    tw__restore *restore = w->restore;
    const tw__saved_node *saved = &restore->graph.nodes[node];
    for (size_t i = 0; i < saved->child_count; i++) {
        const tw__saved_child *child = &saved->children[i];
        if (restore->bound[child->node])
            continue;
        tw_trackable *own = find_child(object, child->name);
        if (own)
            TW_TRY(bind_node(w, child->node, own));
        else if (has_values(&restore->graph.nodes[child->node]))
            TW_TRY(defer(restore, child->node, object, child->name));
    }
    return TW_OK;
}

/* Binds the slots of the node's object that exist; how many of those with a value do not. */
static tw_status visit_slots(binding *w, size_t node, size_t *missing)
{
    tw__restore *restore = w->restore;
    const tw__saved_node *saved = &restore->graph.nodes[node];
    for (size_t i = 0; i < saved->slot_count; i++) {
        const tw__saved_slot *slot = &saved->slots[i];
        const tw_trackable *variable = restore->bound[slot->variable];
        if (restore->bound[slot->node])
            continue;
        tw_trackable *own = variable ? tw__tracked_slot(restore->bound[node], variable, slot->name.data, slot->name.size) : NULL;
        if (own)
            TW_TRY(bind_node(w, slot->node, own));
        else
            *missing += has_values(&restore->graph.nodes[slot->node]);
    }
    return TW_OK;
}

static bool waits_for_slots(const tw__restore *restore, const tw_trackable *object)
{
    const tw__waiting *waiting = object->pending;
    for (size_t i = 0; i < waiting->deferred_count; i++) {
        if (waiting->deferred[i].restore == restore && strcmp(waiting->deferred[i].name, TW__SLOT_NAME) == 0)
            return true;
    }
    return false;
}

static tw_status visit_all_slots(binding *w)
{
    tw__restore *restore = w->restore;
    for (size_t node = 0; node < restore->graph.count; node++) {
        tw_trackable *owner = restore->graph.nodes[node].slot_count ? restore->bound[node] : NULL;
        size_t missing = 0;
        if (!owner)
            continue;
        TW_TRY(visit_slots(w, node, &missing));
        if (missing && !waits_for_slots(restore, owner))
            TW_TRY(defer(restore, node, owner, (tw__saved_text){ TW__SLOT_NAME, strlen(TW__SLOT_NAME) }));
    }
    return TW_OK;
}

/* Whether the value fits; nothing that the program has is changed. */
static tw_status check_assignment(tw__restore *restore, assignment *a)
{
    if (tw__lookup_saves(a->object))
        return tw__restore_table(restore, a->key, (const struct tw_lookup_table *)a->object, a->table);
    if (tw__holds_value(a->object))
        return tw__restore_check(restore, a->key, (tw_variable *)a->object, ((tw_variable *)a->object)->name);
    const tw__bundle_entry *entry = tw__bundle_find(restore->reader, a->key);
    if (!entry)
        return tw__fail(TW_NOT_FOUND, "Key %s not found in checkpoint %s", a->key, restore->prefix);
    if (entry->dtype != TW_STRING)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "%s in checkpoint %s is %s %s: the state of an iterator that TensorFlow saved, which can't be restored here; expected a string",
            a->key, restore->prefix, tw_dtype_name(entry->dtype), tw__shape_text(&entry->shape));
    a->saved = tw__bundle_read(restore->reader, a->key);
    a->cursor = a->saved ? tw__iterator_restored((struct tw_iterator *)a->object, a->saved) : NULL;
    if (a->cursor)
        return TW_OK;
    tw__error_prefix("%s in checkpoint %s: ", a->key, restore->prefix);
    return tw_error_code();
}

static tw_status assign(tw__restore *restore, assignment *a)
{
    if (tw__holds_value(a->object))
        return tw__restore_value(restore, a->key, (tw_variable *)a->object);
    if (a->table[0]) {
        const struct tw_lookup_table *table = (const struct tw_lookup_table *)a->object;
        tw__outside outside = tw__outside_begin();
        tw_status status = tw__lookup_import(table, table->handle, a->table[0], a->table[1]);
        tw__outside_end(outside);
        return status;
    }
    tw__cursor *cursor = a->cursor;
    a->cursor = NULL;
    return tw__iterator_install((struct tw_iterator *)a->object, cursor, a->saved);
}

static tw_status run(binding *w)
{
    for (int round = 0; round < 2; round++) { /* slots have no slots */
        while (w->next < w->count) {
            size_t node = w->queue[w->next++];
            tw_trackable *object = w->restore->bound[node];
            TW_TRY(gather(w, node, object));
            TW_TRY(visit_children(w, node, object));
        }
        if (round == 0)
            TW_TRY(visit_all_slots(w));
    }
    if (w->assignment_count == 0)
        return TW_OK;
    TW_TRY(tw__restore_hold(w->restore));
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < w->assignment_count; i++)
        status = check_assignment(w->restore, &w->assignments[i]);
    for (size_t i = 0; status == TW_OK && i < w->assignment_count; i++)
        status = assign(w->restore, &w->assignments[i]);
    tw__restore_let_go(w->restore);
    return status;
}

/* Binds the node to the object and goes on from there. */
static tw_status bind_position(tw__restore *restore, size_t node, tw_trackable *object)
{
    binding w = { .restore = restore };
    tw_status status = bind_node(&w, node, object);
    if (status == TW_OK && w.count > 0)
        status = run(&w);
    for (size_t i = 0; i < w.assignment_count; i++) {
        tw__free(w.assignments[i].key);
        tw__cursor_free(w.assignments[i].cursor);
        tw_release(w.assignments[i].saved);
        tw_release(w.assignments[i].table[0]);
        tw_release(w.assignments[i].table[1]);
    }
    tw__free(w.assignments);
    tw__free(w.queue);
    return status;
}

/* ---- what waits ---- */

static int newest_first(const void *a, const void *b)
{
    uint64_t x = ((const struct tw__deferral *)a)->restore->uid, y = ((const struct tw__deferral *)b)->restore->uid;
    return x < y ? 1 : x > y ? -1 : 0;
}

tw_status tw__restore_waiting(tw_trackable *parent, const char *name, tw_trackable *child)
{
    tw__waiting *waiting = parent->pending;
    size_t count = 0;
    for (size_t i = 0; waiting && i < waiting->deferred_count; i++)
        count += strcmp(waiting->deferred[i].name, name) == 0;
    if (count == 0)
        return TW_OK;
    tw__owned struct tw__deferral *due = tw__alloc_array(count, sizeof *due);
    TW_NEED(due);
    size_t taken = 0, left = 0;
    for (size_t i = 0; i < waiting->deferred_count; i++) {
        if (strcmp(waiting->deferred[i].name, name) == 0)
            due[taken++] = waiting->deferred[i];
        else
            waiting->deferred[left++] = waiting->deferred[i];
    }
    waiting->deferred_count = left;
    qsort(due, count, sizeof *due, newest_first);
    tw_status status = TW_OK;
    for (size_t i = 0; i < count; i++) { /* all are dropped, also behind one that failed */
        if (status == TW_OK)
            status = bind_position(due[i].restore, due[i].node, child);
        drop_deferral(&due[i]);
    }
    return status;
}

static tw_status bind_slot(tw_trackable *owner, tw_trackable *variable, const char *name, tw_trackable *slot)
{
    tw__waiting *waiting = owner->pending;
    tw__restore *newest = NULL;
    size_t found = 0;
    for (size_t i = 0; i < waiting->deferred_count; i++) {
        const struct tw__deferral *deferral = &waiting->deferred[i];
        tw__restore *restore = deferral->restore;
        if (strcmp(deferral->name, TW__SLOT_NAME) != 0 || (newest && restore->uid < newest->uid))
            continue;
        const tw__saved_node *saved = &restore->graph.nodes[deferral->node];
        for (size_t k = 0; k < saved->slot_count; k++) {
            if (restore->bound[saved->slots[k].variable] == variable && strlen(name) == saved->slots[k].name.size &&
                memcmp(name, saved->slots[k].name.data, saved->slots[k].name.size) == 0) {
                newest = restore;
                found = saved->slots[k].node;
            }
        }
    }
    return newest ? bind_position(newest, found, slot) : TW_OK;
}

static tw_status pass_on(tw__restore *restore, tw_trackable *child)
{
    TW_TRY(tw__restore_hold(restore));
    tw_status status = tw__restore_by_name(restore, child);
    tw__restore_let_go(restore);
    return status;
}

static tw_status bind(tw_trackable *parent, const char *name, tw_trackable *child)
{
    TW_TRY(tw__restore_waiting(parent, name, child));
    tw__waiting *waiting = parent->pending;
    for (size_t i = waiting->by_name_count; i-- > 0;)
        TW_TRY(pass_on(waiting->by_name[i], child));
    return TW_OK;
}

/* ---- the beginning ---- */

static tw_status read_graph(tw__restore *restore)
{
    tw_auto tw_tensor *bytes = tw__bundle_read(restore->reader, TW__GRAPH_KEY);
    TW_NEED(bytes);
    tw_status status;
    if (bytes->dtype != TW_STRING || bytes->count != 1) {
        status = tw__fail(TW_DATA_LOSS, "%s: the tensor %s is no object graph: a scalar string was expected, got %s of shape %s",
                          restore->prefix, TW__GRAPH_KEY, tw_dtype_name(bytes->dtype), tw__shape_text(&bytes->shape));
    } else {
        tw_string text = *(tw_string *)bytes->data;
        status = tw__saved_graph_parse(&restore->graph, text.data, text.size, restore->prefix);
    }
    return status;
}

static tw_status restore_graph(tw__restore *restore, const tw__saving_view *view)
{
    size_t count = restore->graph.count;
    restore->bound = tw__alloc_array(count, sizeof *restore->bound);
    bool *matched = tw__alloc_array(count, sizeof *matched);
    restore->bound_count = count;
    if (!restore->bound || !matched) {
        tw__free(matched);
        return TW_RESOURCE_EXHAUSTED;
    }
    restore->matched = matched;
    TW_TRY(bind_position(restore, 0, view->root));
    /* They are no children of the root, which by now waits for them. */
    for (size_t i = 0; i < view->attached_count; i++) {
        if ((tw_trackable *)view->attached[i].object != view->root)
            TW_TRY(tw__restore_waiting(view->root, view->attached[i].name, (tw_trackable *)view->attached[i].object));
    }
    return TW_OK;
}

static tw_status restore_names(tw__restore *restore, const tw__saving_view *view)
{
    tw__auto(tw__walk_free) tw__object_walk walk = { 0 };
    TW_TRY(tw__walk_objects(&walk, view));
    for (size_t i = 0; i < walk.count; i++)
        TW_TRY(tw__restore_by_name(restore, walk.nodes[i].object));
    return TW_OK;
}

static tw_status start(tw__restore *restore, const tw__saving_view *view)
{
    restore->by_name = !tw__bundle_find(restore->reader, TW__GRAPH_KEY);
    if (restore->by_name)
        return restore_names(restore, view);
    TW_TRY(read_graph(restore));
    return restore_graph(restore, view);
}

tw__restore *tw__restore_start(const char *prefix, const tw__saving_view *view)
{
    tw__restore *restore = tw__object_new(&restore_class);
    if (!restore)
        return NULL;
    tw__trackable_hook = (tw__trackable_hooks){ .bind = bind, .bind_slot = bind_slot, .forget = forget };
    restore->uid = ++last_uid;
    restore->prefix = tw__strdup(prefix);
    tw_status status = restore->prefix ? tw__restore_hold(restore) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        status = start(restore, view);
        tw__restore_let_go(restore);
    }
    if (status != TW_OK) {
        tw_release(restore);
        return NULL;
    }
    return restore;
}
