/* Dividing the bytes of a saved_model.pb; see saved_model.h. Errors say the file and the field. All numbers of nodes are below
 * the number of nodes afterwards. */
#include <stdio.h>

#include "saving/saved_model.h"

static tw_status damaged(const tw__saved_model_message *m, const char *field)
{
    return tw__fail(TW_DATA_LOSS, "%s: the field %s can't be read: the file is damaged or cut off", m->path, field);
}

/* ---- signatures ---- */

static tw_status read_info(const tw__saved_model_message *m, tw_string bytes, tw__tensor_info *info)
{
    tw__TensorInfo from;
    if (!tw__read_TensorInfo(bytes, &from))
        return damaged(m, "signature_def.TensorInfo");
    info->tensor = from.name;
    info->dtype = (tw_dtype)from.dtype;
    info->shape = TW_UNKNOWN_SHAPE;
    return tw__has(from.tensor_shape) ? tw__shape_message_read(from.tensor_shape, &info->shape) : TW_OK;
}

static tw_status read_infos(const tw__saved_model_message *m, tw__many many, tw__tensor_info **infos, size_t *count,
                            size_t *capacity)
{
    for (TW_EACH(SignatureDef_inputs, entry, many)) {
        tw__tensor_info info = { .name = entry.key };
        TW_TRY(read_info(m, entry.value, &info));
        TW_TRY(TW_GROW(*infos, *capacity, *count + 1));
        (*infos)[(*count)++] = info;
    }
    return many.failed ? damaged(m, "signature_def") : TW_OK;
}

static tw_status read_signature(tw__saved_model_message *m, tw_string name, tw_string bytes)
{
    TW_TRY(TW_GROW(m->signatures, m->signature_capacity, m->signature_count + 1));
    tw__signature_message *s = &m->signatures[m->signature_count++];
    tw__SignatureDef from;
    *s = (tw__signature_message){ .name = name };
    if (!tw__read_SignatureDef(bytes, &from))
        return damaged(m, "signature_def");
    s->method = from.method_name;
    TW_TRY(read_infos(m, from.inputs, &s->inputs, &s->input_count, &s->input_capacity));
    return read_infos(m, from.outputs, &s->outputs, &s->output_count, &s->output_capacity);
}

/* ---- the object graph ---- */

static tw_status read_node(tw__saved_model_message *m, const tw__SavedObject *from)
{
    TW_TRY(TW_GROW(m->nodes, m->node_capacity, m->node_count + 1));
    tw__object_message *node = &m->nodes[m->node_count++];
    tw__many children = from->children, slots = from->slot_variables;
    *node = (tw__object_message){ .body = { "", 0 }, .registered_name = from->registered_name };
    TW_TRY(TW_GROW(node->children, node->child_capacity, children.count));
    for (TW_EACH(TrackableObjectGraph_TrackableObject_ObjectReference, child, children))
        node->children[node->child_count++] =
            (tw__saved_child){ .node = tw__saved_index(child.node_id), .name = child.local_name };
    if (children.failed)
        return damaged(m, "object_graph_def.nodes.children");
    TW_TRY(TW_GROW(node->slots, node->slot_capacity, slots.count));
    for (TW_EACH(TrackableObjectGraph_TrackableObject_SlotVariableReference, slot, slots))
        node->slots[node->slot_count++] = (tw__saved_slot){ .variable = tw__saved_index(slot.original_variable_node_id),
                                                            .name = slot.slot_name,
                                                            .node = tw__saved_index(slot.slot_variable_node_id) };
    if (slots.failed)
        return damaged(m, "object_graph_def.nodes.slot_variables");
    node->kind = (tw__object_kind)from->which_kind;
    const struct {
        uint32_t kind;
        tw_string body;
    } bodies[] = { { TW_OBJECT_USER, from->user_object },
                   { TW_OBJECT_ASSET, from->asset },
                   { TW_OBJECT_FUNCTION, from->function },
                   { TW_OBJECT_VARIABLE, from->variable },
                   { TW_OBJECT_BARE, from->bare_concrete_function },
                   { TW_OBJECT_CONSTANT, from->constant },
                   { TW_OBJECT_RESOURCE, from->resource },
                   { TW_OBJECT_CAPTURED, from->captured_tensor } };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        node->body = bodies[i].kind == from->which_kind ? bodies[i].body : node->body;
    return TW_OK;
}

static tw_status read_concrete(tw__saved_model_message *m, const tw__SavedObjectGraph_concrete_functions *entry)
{
    TW_TRY(TW_GROW(m->concretes, m->concrete_capacity, m->concrete_count + 1));
    tw__concrete_message *concrete = &m->concretes[m->concrete_count++];
    *concrete = (tw__concrete_message){ .name = entry->key, .inputs = { "", 0 } };
    TW_TRY(tw__map_put(&m->concrete_names, concrete->name.data, concrete->name.size, (void *)(intptr_t)m->concrete_count));
    tw__SavedConcreteFunction from;
    if (!tw__read_SavedConcreteFunction(entry->value, &from))
        return damaged(m, "object_graph_def.concrete_functions");
    concrete->inputs = from.canonicalized_input_signature;
    concrete->outputs = from.output_signature;
    tw__numbers bound = tw__numbers_of(from.bound_inputs);
    for (uint64_t id; tw__next_number(&bound, &id);) {
        TW_TRY(TW_GROW(concrete->bound, concrete->bound_capacity, concrete->bound_count + 1));
        concrete->bound[concrete->bound_count++] = id > INT32_MAX ? -1 : (int32_t)id;
    }
    return bound.many.failed ? damaged(m, "object_graph_def.concrete_functions.bound_inputs") : TW_OK;
}

/* What slots are, and what they belong to, are variables. */
static tw_status check_slots(const tw__saved_model_message *m, size_t number)
{
    const tw__object_message *node = &m->nodes[number];
    for (size_t k = 0; k < node->slot_count; k++) {
        size_t ids[] = { node->slots[k].variable, node->slots[k].node };
        for (int i = 0; i < 2; i++) {
            if (ids[i] >= m->node_count || m->nodes[ids[i]].kind != TW_OBJECT_VARIABLE)
                return tw__fail(TW_DATA_LOSS,
                                "%s: object_graph_def.nodes[%zu].slot_variables[%zu].%s is %zu, which is no variable", m->path,
                                number, k, i ? "slot_variable_node_id" : "original_variable_node_id", ids[i]);
        }
    }
    return TW_OK;
}

static tw_status check_numbers(const tw__saved_model_message *m)
{
    for (size_t i = 0; i < m->node_count; i++) {
        TW_TRY(check_slots(m, i));
        for (size_t k = 0; k < m->nodes[i].child_count; k++) {
            if (m->nodes[i].children[k].node >= m->node_count)
                return tw__fail(TW_DATA_LOSS,
                                "%s: object_graph_def.nodes[%zu].children[%zu].node_id is %zu, but there are %zu nodes", m->path,
                                i, k, m->nodes[i].children[k].node, m->node_count);
        }
    }
    for (size_t i = 0; i < m->concrete_count; i++) {
        for (size_t k = 0; k < m->concretes[i].bound_count; k++) {
            int32_t id = m->concretes[i].bound[k];
            if (id < 0 || (size_t)id >= m->node_count)
                return tw__fail(TW_DATA_LOSS,
                                "%s: object_graph_def.concrete_functions['%.*s'].bound_inputs[%zu] is no node: there are %zu",
                                m->path, TW_SHOWN(m->concretes[i].name), k, m->node_count);
        }
    }
    return TW_OK;
}

static tw_status read_objects(tw__saved_model_message *m, tw_string bytes)
{
    tw__SavedObjectGraph from;
    m->has_objects = true;
    if (!tw__read_SavedObjectGraph(bytes, &from))
        return damaged(m, "object_graph_def");
    for (TW_EACH(SavedObject, node, from.nodes))
        TW_TRY(read_node(m, &node));
    for (TW_EACH(SavedObjectGraph_concrete_functions, entry, from.concrete_functions))
        TW_TRY(read_concrete(m, &entry));
    if (from.nodes.failed || from.concrete_functions.failed)
        return damaged(m, from.nodes.failed ? "object_graph_def.nodes" : "object_graph_def.concrete_functions");
    return check_numbers(m);
}

/* ---- meta graphs ---- */

static tw_status read_information(tw__saved_model_message *m, tw_string bytes)
{
    tw__MetaGraphDef_MetaInfoDef from;
    if (!tw__read_MetaGraphDef_MetaInfoDef(bytes, &from))
        return damaged(m, "meta_info_def");
    m->version = from.tensorflow_version;
    m->tag_count = 0;
    TW_TRY(TW_GROW(m->tags, m->tag_capacity, from.tags.count));
    for (tw_string tag; tw__next_bytes(&from.tags, &tag);)
        m->tags[m->tag_count++] = tag;
    return TW_OK;
}

static tw_status read_asset(tw__saved_model_message *m, const tw__AssetFileDef *from)
{
    tw__tensor_info info = { .tensor = { "", 0 } };
    TW_TRY(read_info(m, from->tensor_info, &info));
    TW_TRY(TW_GROW(m->assets, m->asset_capacity, m->asset_count + 1));
    TW_TRY(TW_GROW(m->asset_tensors, m->asset_tensor_capacity, m->asset_count + 1));
    m->asset_tensors[m->asset_count] = info.tensor;
    m->assets[m->asset_count++] = from->filename;
    return TW_OK;
}

/* AssetFileDefs where TensorFlow 1 has put them. */
static tw_status read_old_assets(tw__saved_model_message *m, tw_string list)
{
    tw__CollectionDef_AnyList from;
    tw__AssetFileDef asset;
    if (!tw__read_CollectionDef_AnyList(list, &from))
        return damaged(m, "collection_def");
    for (TW_EACH(Any, any, from.value)) {
        if (!tw__read_AssetFileDef(any.value, &asset))
            return damaged(m, "collection_def");
        TW_TRY(read_asset(m, &asset));
    }
    return from.value.failed ? damaged(m, "collection_def") : TW_OK;
}

static tw_status read_trainable(tw__saved_model_message *m, tw_string list)
{
    tw__CollectionDef_BytesList from;
    tw__VariableDef variable;
    if (!tw__read_CollectionDef_BytesList(list, &from))
        return damaged(m, "collection_def");
    TW_TRY(TW_GROW(m->trainable, m->trainable_capacity, m->trainable_count + from.value.count));
    for (tw_string bytes; tw__next_bytes(&from.value, &bytes);) {
        if (!tw__read_VariableDef(bytes, &variable))
            return damaged(m, "collection_def");
        m->trainable[m->trainable_count++] = variable.variable_name;
    }
    return TW_OK;
}

static tw_status read_collection(tw__saved_model_message *m, tw_string name, tw_string bytes)
{
    tw__CollectionDef from;
    tw__CollectionDef_NodeList nodes;
    if (!tw__read_CollectionDef(bytes, &from) || !tw__read_CollectionDef_NodeList(from.node_list, &nodes))
        return damaged(m, "collection_def");
    bool main_op = tw__string_is(name, "saved_model_main_op");
    if (main_op || (tw__string_is(name, "legacy_init_op") && !m->first_operation.size)) {
        m->first_operation = (tw_string){ "", 0 };
        tw__next_bytes(&nodes.value, &m->first_operation);
    }
    if (tw__string_is(name, "saved_model_assets") && !m->asset_count)
        TW_TRY(read_old_assets(m, from.any_list));
    return tw__string_is(name, "trainable_variables") ? read_trainable(m, from.bytes_list) : TW_OK;
}

static tw_status read_meta_graph(tw__saved_model_message *m, tw__MetaGraphDef *from)
{
    tw__SaverDef saver;
    TW_TRY(read_information(m, from->meta_info_def));
    m->graph = from->graph_def;
    if (!tw__read_SaverDef(from->saver_def, &saver))
        return damaged(m, "saver_def");
    m->saver_filename = saver.filename_tensor_name;
    m->saver_restore = saver.restore_op_name;
    for (TW_EACH(AssetFileDef, asset, from->asset_file_def))
        TW_TRY(read_asset(m, &asset));
    if (from->asset_file_def.failed)
        return damaged(m, "asset_file_def");
    for (TW_EACH(MetaGraphDef_collection_def, entry, from->collection_def))
        TW_TRY(read_collection(m, entry.key, entry.value));
    if (from->collection_def.failed)
        return damaged(m, "collection_def");
    for (TW_EACH(MetaGraphDef_signature_def, entry, from->signature_def))
        TW_TRY(read_signature(m, entry.key, entry.value));
    if (from->signature_def.failed)
        return damaged(m, "signature_def");
    return tw__has(from->object_graph_def) ? read_objects(m, from->object_graph_def) : TW_OK;
}

/* Whether the meta graph has exactly these tags; they are all it is told by. */
static tw_status has_tags(tw__saved_model_message *m, const tw__MetaGraphDef *meta, const char *const *tags, size_t count,
                          bool *fits, tw__text *seen)
{
    TW_TRY(read_information(m, meta->meta_info_def));
    *fits = m->tag_count == count;
    tw__text_add(seen, seen->size ? ", [" : "[");
    for (size_t i = 0; i < m->tag_count; i++) {
        bool found = false;
        for (size_t k = 0; k < count; k++)
            found |= tw__string_is(m->tags[i], tags[k]);
        *fits &= found;
        tw__text_format(seen, "%s'%.*s'", i ? ", " : "", TW_SHOWN(m->tags[i]));
    }
    tw__text_add(seen, "]");
    return TW_OK;
}

static tw_status choose(tw__saved_model_message *m, const char *const *tags, size_t tag_count, tw__text *seen)
{
    tw__SavedModel model;
    tw__MetaGraphDef chosen = { 0 };
    size_t fitting = 0;
    if (!tw__read_SavedModel((tw_string){ m->bytes, m->size }, &model))
        return damaged(m, "meta_graphs");
    if (model.saved_model_schema_version < 0 || model.saved_model_schema_version > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: saved_model_schema_version is %lld; versions up to 1 are known", m->path,
                        (long long)model.saved_model_schema_version);
    for (TW_EACH(MetaGraphDef, meta, model.meta_graphs)) {
        bool fits;
        TW_TRY(has_tags(m, &meta, tags, tag_count, &fits, seen));
        if (fits || !tag_count) {
            chosen = meta;
            fitting++;
        }
    }
    if (model.meta_graphs.failed)
        return damaged(m, "meta_graphs");
    if (!model.meta_graphs.count)
        return tw__fail(TW_DATA_LOSS, "%s: the file has no meta_graphs", m->path);
    if (!fitting && tag_count)
        return tw__fail(
            TW_RUNTIME_ERROR,
            "MetaGraphDef associated with tags '%s%s' could not be found in SavedModel, with available tags '[%s]'. To "
            "inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`.",
            tags[0], tag_count > 1 ? ", …" : "", seen->data ? seen->data : "");
    if (fitting > 1)
        return tw__fail(TW_VALUE_ERROR, "%s: the file has %u meta graphs with the tags %s; say which one is meant", m->path,
                        (unsigned)model.meta_graphs.count, seen->data ? seen->data : "");
    return read_meta_graph(m, &chosen);
}

tw_status tw__saved_model_message_parse(tw__saved_model_message *m, char *bytes, size_t size, const char *path,
                                        const char *const *tags, size_t tag_count)
{
    *m = (tw__saved_model_message){
        .bytes = bytes, .size = size, .path = tw__strdup(path), .graph = { "", 0 }, .version = { "", 0 }
    };
    if (!m->path)
        return TW_RESOURCE_EXHAUSTED;
    tw_string whole = { m->bytes, m->size };
    char *merged;
    if (!tw__message_merge(&tw__type_SavedModel, &whole, &merged))
        return tw__error_status();
    if (merged) {
        tw__free(m->bytes);
        m->bytes = merged;
        m->size = whole.size;
    }
    tw__auto(tw__text_free) tw__text seen = { 0 };
    tw_status status = choose(m, tags, tag_count, &seen);
    return status;
}

tw_status tw__saved_model_message_read(tw__saved_model_message *m, const char *directory, const char *const *tags,
                                       size_t tag_count)
{
    *m = (tw__saved_model_message){ 0 };
    tw_status status = TW_RESOURCE_EXHAUSTED;
    char *path = tw__path_join(directory, "saved_model.pb"), *text = path ? tw__format("%stxt", path) : NULL;
    size_t size = 0;
    bool binary = text && tw__path_exists(path);
    if (binary || (text && tw__path_exists(text))) {
        char *bytes = binary ? tw__file_read_all(path, (size_t)1 << 31, &size) : tw__saved_model_from_text(text, &size);
        status =
            bytes ? tw__saved_model_message_parse(m, bytes, size, binary ? path : text, tags, tag_count) : tw__error_status();
    } else if (text) {
        status = tw__fail(TW_OS_ERROR, "SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}", directory);
    }
    tw__free(path);
    tw__free(text);
    return status;
}

void tw__saved_model_message_free(tw__saved_model_message *m)
{
    for (size_t i = 0; i < m->node_count; i++) {
        tw__free(m->nodes[i].children);
        tw__free(m->nodes[i].slots);
    }
    for (size_t i = 0; i < m->concrete_count; i++)
        tw__free(m->concretes[i].bound);
    for (size_t i = 0; i < m->signature_count; i++) {
        tw__free(m->signatures[i].inputs);
        tw__free(m->signatures[i].outputs);
    }
    tw__map_free(&m->concrete_names, NULL);
    tw__free(m->nodes);
    tw__free(m->concretes);
    tw__free(m->signatures);
    tw__free(m->assets);
    tw__free(m->asset_tensors);
    tw__free(m->trainable);
    tw__free(m->tags);
    tw__free(m->bytes);
    tw__free(m->path);
    *m = (tw__saved_model_message){ 0 };
}
