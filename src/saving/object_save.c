/* Writes the objects under a root as one bundle: the values of variables and the states of iterators in the order of their nodes,
 * then the graph.
 *
 *     key of a value = names on the way from the root, each with . as .. and / as .S, joined by /, then
 * /.ATTRIBUTES/VARIABLE_VALUE (of an iterator: ITERATOR_STATE; of a table: table-keys and table-values) key of a slot  = the
 * variable's way, .OPTIMIZER_SLOT, the optimizer's way, the slot's name, then the same graph          = TrackableObjectGraph
 *
 * A variable's value is taken once, as the tensor it is at that moment, and written from its own memory. */
#include "codec/message.h"
#include "lookup/lookup.h"
#include "op/calls.h"
#include "saving/saving.h"

static void add_escaped(tw__text *text, const char *name)
{
    for (const char *c = name; *c; c++) {
        if (*c == '.')
            tw__text_add(text, "..");
        else if (*c == '/')
            tw__text_add(text, ".S");
        else
            tw__text_bytes(text, c, 1);
    }
}

typedef struct parts {
    tw__text graph, node, part, key;
} parts;

/* The names on the way from the root. */
static tw_status add_way(const tw__object_walk *walk, size_t node, tw__text *key)
{
    size_t *path = NULL, capacity = 0, depth = 0;
    for (size_t n = node; n != 0; n = walk->nodes[n].parent) {
        if (TW_GROW(path, capacity, depth + 1) != TW_OK) {
            tw__free(path);
            return TW_RESOURCE_EXHAUSTED;
        }
        path[depth++] = n;
    }
    while (depth-- > 0) {
        add_escaped(key, walk->nodes[path[depth]].name);
        if (depth > 0)
            tw__text_add(key, "/");
    }
    tw__free(path);
    return TW_OK;
}

tw_status tw__walk_key(const tw__object_walk *walk, size_t node, tw__text *key)
{
    const tw__walk_node *own = &walk->nodes[node];
    tw__text_clear(key);
    TW_TRY(add_way(walk, own->variable ? own->variable : node, key));
    if (own->variable) {
        tw__text_add(key, "/" TW__SLOT_NAME "/");
        TW_TRY(add_way(walk, own->parent, key));
        tw__text_add(key, own->parent ? "/" : "");
        add_escaped(key, own->name);
    }
    const char *attribute = tw__attribute_of(walk->nodes[node].object);
    tw__text_format(key, "/.ATTRIBUTES/%s", attribute ? attribute : TW__VALUE_NAME);
    return key->failed ? tw__error_status() : TW_OK;
}

void tw__walk_write_slots(const tw__object_walk *walk, size_t node, tw__text *text)
{
    tw__text part = { 0 };
    for (size_t i = 0; walk->nodes[node].object->slot_count && i < walk->count; i++) {
        const tw__walk_node *slot = &walk->nodes[i];
        if (!slot->variable || slot->parent != node)
            continue;
        tw__text_clear(&part);
        tw__put_TrackableObjectGraph_TrackableObject_SlotVariableReference_original_variable_node_id(&part,
                                                                                                     (int64_t)slot->variable);
        tw__put_TrackableObjectGraph_TrackableObject_SlotVariableReference_slot_name(&part, slot->name, strlen(slot->name));
        tw__put_TrackableObjectGraph_TrackableObject_SlotVariableReference_slot_variable_node_id(&part, (int64_t)i);
        tw__put_TrackableObjectGraph_TrackableObject_slot_variables(text, part.data, part.size);
    }
    text->failed |= part.failed;
    tw__text_free(&part);
}

/* Marks the nodes that hold a value or lead to one. Children have higher numbers but for cycles, so one pass backwards is
 * mostly enough. */
static bool *find_values(const tw__object_walk *walk)
{
    bool *values = tw__alloc_array(walk->count, sizeof *values);
    bool changed = values != NULL;
    for (size_t i = 0; values && i < walk->count; i++)
        values[i] = tw__attribute_of(walk->nodes[i].object) || walk->nodes[i].object->slot_count;
    while (changed) {
        changed = false;
        for (size_t node = walk->count; node-- > 0;) {
            size_t count = values[node] ? 0 : tw__walk_child_count(walk, node);
            for (size_t i = 0; i < count && !values[node]; i++) {
                if (values[tw__pointer_map_get(&walk->ids, tw__walk_child(walk, node, i)->object, 0)])
                    changed = values[node] = true;
            }
        }
    }
    return values;
}

static tw_status add_node(parts *p, const tw__object_walk *walk, size_t node, bool has_values)
{
    tw__text_clear(&p->node);
    size_t count = tw__walk_child_count(walk, node);
    for (size_t i = 0; i < count; i++) {
        const tw__child *child = tw__walk_child(walk, node, i);
        uint64_t id = (uint64_t)tw__pointer_map_get(&walk->ids, child->object, 0);
        tw__text_clear(&p->part);
        if (id)
            tw__put_TrackableObjectGraph_TrackableObject_ObjectReference_node_id(&p->part, (int64_t)id);
        if (*child->name)
            tw__put_TrackableObjectGraph_TrackableObject_ObjectReference_local_name(&p->part, child->name, strlen(child->name));
        tw__put_TrackableObjectGraph_TrackableObject_children(&p->node, p->part.data, p->part.size);
    }
    const tw_trackable *object = walk->nodes[node].object;
    const char *attribute = tw__attribute_of(object);
    if (attribute) {
        const char *name = tw__holds_value(object) ? ((const tw_variable *)object)->name : "";
        size_t size = strlen(name);
        if (tw__ends_with(name, ":0"))
            size -= 2;
        TW_TRY(tw__walk_key(walk, node, &p->key));
        tw__text_clear(&p->part);
        tw__put_TrackableObjectGraph_TrackableObject_SerializedTensor_name(&p->part, attribute, strlen(attribute));
        if (size)
            tw__put_TrackableObjectGraph_TrackableObject_SerializedTensor_full_name(&p->part, name, size);
        tw__put_TrackableObjectGraph_TrackableObject_SerializedTensor_checkpoint_key(&p->part, p->key.data, p->key.size);
        tw__put_TrackableObjectGraph_TrackableObject_attributes(&p->node, p->part.data, p->part.size);
    }
    tw__walk_write_slots(walk, node, &p->node);
    size_t values = tw__open_TrackableObjectGraph_TrackableObject_has_checkpoint_values(&p->node);
    if (has_values)
        tw__put_BoolValue_value(&p->node, true);
    tw__close(&p->node, values);
    tw__put_TrackableObjectGraph_nodes(&p->graph, p->node.data, p->node.size);
    return p->graph.failed || p->node.failed || p->part.failed ? tw__error_status() : TW_OK;
}

/* All keys under the table's key with -keys, all values with -values. */
static tw_status save_table(const struct tw_lookup_table *table, parts *p, tw__bundle_writer *writer)
{
    static const char *const ends[] = { "-keys", "-values" };
    TW_TEMPS(t);
    tw_tensor *both[2] = { NULL, NULL };
    TW_TRY(tw__temp_all(t, both, 2, tw__lookup_export(table, table->handle, both)));
    for (int i = 0; i < 2; i++) {
        const char *key = tw__temp_memory(t, tw__format("%s%s", p->key.data, ends[i]));
        TW_NEED(key);
        TW_TRY(tw__bundle_add(writer, key, both[i]));
    }
    return TW_OK;
}

static tw_status save_walk(parts *p, const tw__object_walk *walk, const bool *values, tw__bundle_writer *writer)
{
    for (size_t node = 0; node < walk->count; node++) {
        TW_TRY(add_node(p, walk, node, values[node]));
        tw_trackable *object = walk->nodes[node].object;
        if (!tw__attribute_of(object))
            continue;
        if (tw__lookup_saves(object)) {
            TW_TRY(save_table((const struct tw_lookup_table *)object, p, writer));
            continue;
        }
        tw_tensor *value = tw__attribute_value(object);
        tw_status status = value ? tw__bundle_add(writer, p->key.data, value) : tw__error_status();
        tw_release(value);
        TW_TRY(status);
    }
    tw_auto tw_tensor *graph = tw_tensor_string(p->graph.data, p->graph.size);
    tw_status status = graph ? tw__bundle_add(writer, TW__GRAPH_KEY, graph) : tw__error_status();
    return status;
}

tw_status tw__save_walk(const tw__object_walk *walk, const char *prefix)
{
    parts p = { 0 };
    bool *values = find_values(walk);
    tw__bundle_writer *writer = values ? tw__bundle_create(prefix) : NULL;
    tw_status status = writer ? save_walk(&p, walk, values, writer) : tw__error_status();
    if (status == TW_OK)
        status = tw__bundle_finish(writer);
    else
        tw__bundle_abandon(writer);
    tw__free(values);
    tw__text_free(&p.graph);
    tw__text_free(&p.node);
    tw__text_free(&p.part);
    tw__text_free(&p.key);
    return status;
}

tw_status tw__save_objects(const tw__saving_view *view, const char *prefix)
{
    tw__object_walk walk;
    tw_status status = tw__walk_objects(&walk, view);
    if (status == TW_OK)
        status = tw__save_walk(&walk, prefix);
    tw__walk_free(&walk);
    return status;
}
