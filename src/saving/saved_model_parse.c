/* Dividing the bytes of a saved_model.pb; see saved_model.h.
 *
 *     SavedModel    1 schema version, 2 MetaGraphDef
 *     MetaGraphDef  1 MetaInfoDef { 4 tags, 5 version }, 2 GraphDef, 5 signature_def map, 6 AssetFileDef { 2 filename }, 7
 * SavedObjectGraph SavedObjectGraph  1 SavedObject { 1 children { 1 node, 2 name }, 4 … 12 the kind, 13 registered name }, 2 map
 * of SavedConcreteFunction { 2 bound_inputs, 3 inputs, 4 outputs } SignatureDef  1 map of TensorInfo { 1 name, 2 dtype, 3 shape
 * }: inputs; 2 outputs; 3 method
 *
 * Errors say the file and the field. All numbers of nodes are below the number of nodes afterwards. */
#include <stdio.h>

#include "saving/saved_model.h"

static tw_string string_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

static tw_status damaged(const tw__saved_model_message *m, const char *field)
{
    return tw__fail(TW_DATA_LOSS, "%s: the field %s can't be read: the file is damaged or cut off", m->path, field);
}

static tw_status want_bytes(const tw__saved_model_message *m, const tw__proto_field *f, const char *field)
{
    return f->wire == TW_WIRE_BYTES ? TW_OK : damaged(m, field);
}

/* A map's entry: { 1 key, 2 value }. */
static tw_status read_entry(const tw__saved_model_message *m, const tw__proto_field *entry, const char *field, tw_string *key,
                            tw_string *value)
{
    tw__proto_field f;
    tw__proto proto = tw__proto_nested(entry);
    *key = *value = (tw_string){ "", 0 };
    while (tw__proto_next(&proto, &f)) {
        if (f.number != 1 && f.number != 2)
            continue;
        TW_TRY(want_bytes(m, &f, field));
        *(f.number == 1 ? key : value) = string_of(&f);
    }
    return proto.failed ? damaged(m, field) : TW_OK;
}

/* ---- signatures ---- */

static tw_status read_info(const tw__saved_model_message *m, tw_string bytes, tw__tensor_info *info)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    info->shape = TW_UNKNOWN_SHAPE;
    info->tensor = (tw_string){ "", 0 };
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_BYTES)
            info->tensor = string_of(&f);
        else if (f.number == 2 && f.wire == TW_WIRE_VARINT)
            info->dtype = (tw_dtype)f.value;
        else if (f.number == 3 && f.wire == TW_WIRE_BYTES && tw__shape_message_read(string_of(&f), &info->shape) != TW_OK)
            return tw__error_status();
    }
    return proto.failed ? damaged(m, "signature_def.TensorInfo") : TW_OK;
}

static tw_status read_signature(tw__saved_model_message *m, tw_string name, tw_string bytes)
{
    TW_TRY(TW_GROW(m->signatures, m->signature_capacity, m->signature_count + 1));
    tw__signature_message *s = &m->signatures[m->signature_count++];
    *s = (tw__signature_message){ .name = name };
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 3 && f.wire == TW_WIRE_BYTES)
            s->method = string_of(&f);
        if (f.number != 1 && f.number != 2)
            continue;
        TW_TRY(want_bytes(m, &f, "signature_def"));
        tw__tensor_info info = { 0 };
        tw_string value;
        TW_TRY(read_entry(m, &f, "signature_def", &info.name, &value));
        TW_TRY(read_info(m, value, &info));
        if (f.number == 1) {
            TW_TRY(TW_GROW(s->inputs, s->input_capacity, s->input_count + 1));
            s->inputs[s->input_count++] = info;
        } else {
            TW_TRY(TW_GROW(s->outputs, s->output_capacity, s->output_count + 1));
            s->outputs[s->output_count++] = info;
        }
    }
    return proto.failed ? damaged(m, "signature_def") : TW_OK;
}

/* ---- the object graph ---- */

static tw_status read_child(const tw__saved_model_message *m, tw__object_message *node, const tw__proto_field *field)
{
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    TW_TRY(TW_GROW(node->children, node->child_capacity, node->child_count + 1));
    tw__saved_child *child = &node->children[node->child_count++];
    *child = (tw__saved_child){ .name = { "", 0 } };
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_VARINT)
            child->node = f.value > SIZE_MAX ? SIZE_MAX : (size_t)f.value;
        else if (f.number == 2 && f.wire == TW_WIRE_BYTES)
            child->name = (tw__saved_text){ (const char *)f.data, f.size };
    }
    return proto.failed ? damaged(m, "object_graph_def.nodes.children") : TW_OK;
}

static tw_status read_slot(const tw__saved_model_message *m, tw__object_message *node, const tw__proto_field *field)
{
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    TW_TRY(TW_GROW(node->slots, node->slot_capacity, node->slot_count + 1));
    tw__saved_slot *slot = &node->slots[node->slot_count++];
    *slot = (tw__saved_slot){ .name = { "", 0 } };
    while (tw__proto_next(&proto, &f)) {
        if ((f.number == 1 || f.number == 3) && f.wire == TW_WIRE_VARINT)
            *(f.number == 1 ? &slot->variable : &slot->node) = f.value > SIZE_MAX ? SIZE_MAX : (size_t)f.value;
        else if (f.number == 2 && f.wire == TW_WIRE_BYTES)
            slot->name = (tw__saved_text){ (const char *)f.data, f.size };
    }
    return proto.failed ? damaged(m, "object_graph_def.nodes.slot_variables") : TW_OK;
}

static tw_status read_node(tw__saved_model_message *m, const tw__proto_field *field)
{
    TW_TRY(TW_GROW(m->nodes, m->node_capacity, m->node_count + 1));
    tw__object_message *node = &m->nodes[m->node_count++];
    *node = (tw__object_message){ .body = { "", 0 } };
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.wire != TW_WIRE_BYTES)
            continue;
        if (f.number == 1) {
            TW_TRY(read_child(m, node, &f));
        } else if (f.number == 3) {
            TW_TRY(read_slot(m, node, &f));
        } else if (f.number == 13) {
            node->registered_name = string_of(&f);
        } else if ((f.number >= 4 && f.number <= 10) || f.number == 12) {
            node->kind = (tw__object_kind)f.number;
            node->body = string_of(&f);
        }
    }
    return proto.failed ? damaged(m, "object_graph_def.nodes") : TW_OK;
}

static tw_status add_bound(tw__concrete_message *concrete, uint64_t id)
{
    TW_TRY(TW_GROW(concrete->bound, concrete->bound_capacity, concrete->bound_count + 1));
    concrete->bound[concrete->bound_count++] = id > INT32_MAX ? -1 : (int32_t)id;
    return TW_OK;
}

static tw_status read_concrete(tw__saved_model_message *m, const tw__proto_field *field)
{
    static const char what[] = "object_graph_def.concrete_functions";
    tw_string value;
    TW_TRY(TW_GROW(m->concretes, m->concrete_capacity, m->concrete_count + 1));
    tw__concrete_message *concrete = &m->concretes[m->concrete_count++];
    *concrete = (tw__concrete_message){ .inputs = { "", 0 } };
    TW_TRY(read_entry(m, field, what, &concrete->name, &value));
    TW_TRY(tw__map_put(&m->concrete_names, concrete->name.data, concrete->name.size, (void *)(intptr_t)m->concrete_count));
    tw__proto proto = tw__proto_read(value.data, value.size);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 2 && f.wire == TW_WIRE_VARINT) {
            TW_TRY(add_bound(concrete, f.value));
        } else if (f.number == 2 && f.wire == TW_WIRE_BYTES) {
            for (size_t at = 0; at < f.size;) {
                uint64_t id;
                size_t used = tw__varint_get(f.data + at, f.size - at, &id);
                if (!used)
                    return damaged(m, "object_graph_def.concrete_functions.bound_inputs");
                TW_TRY(add_bound(concrete, id));
                at += used;
            }
        } else if ((f.number == 3 || f.number == 4) && f.wire == TW_WIRE_BYTES) {
            *(f.number == 3 ? &concrete->inputs : &concrete->outputs) = string_of(&f);
        }
    }
    return proto.failed ? damaged(m, what) : TW_OK;
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

static tw_status read_objects(tw__saved_model_message *m, const tw__proto_field *field)
{
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    m->has_objects = true;
    while (tw__proto_next(&proto, &f)) {
        if (f.number != 1 && f.number != 2)
            continue;
        TW_TRY(want_bytes(m, &f, "object_graph_def"));
        TW_TRY(f.number == 1 ? read_node(m, &f) : read_concrete(m, &f));
    }
    if (proto.failed)
        return damaged(m, "object_graph_def");
    return check_numbers(m);
}

/* ---- meta graphs ---- */

static tw_status read_information(tw__saved_model_message *m, const tw__proto_field *field)
{
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.wire != TW_WIRE_BYTES)
            continue;
        if (f.number == 5)
            m->version = string_of(&f);
        if (f.number == 4) {
            TW_TRY(TW_GROW(m->tags, m->tag_capacity, m->tag_count + 1));
            m->tags[m->tag_count++] = string_of(&f);
        }
    }
    return proto.failed ? damaged(m, "meta_info_def") : TW_OK;
}

static tw_status read_asset(tw__saved_model_message *m, tw_string bytes)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    tw_string name = { "", 0 };
    tw__tensor_info info = { .tensor = { "", 0 } };
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 2 && f.wire == TW_WIRE_BYTES)
            name = string_of(&f);
        else if (f.number == 1 && f.wire == TW_WIRE_BYTES)
            TW_TRY(read_info(m, string_of(&f), &info));
    }
    TW_TRY(TW_GROW(m->assets, m->asset_capacity, m->asset_count + 1));
    TW_TRY(TW_GROW(m->asset_tensors, m->asset_tensor_capacity, m->asset_count + 1));
    m->asset_tensors[m->asset_count] = info.tensor;
    m->assets[m->asset_count++] = name;
    return proto.failed ? damaged(m, "asset_file_def") : TW_OK;
}

static tw_status read_saver(tw__saved_model_message *m, const tw__proto_field *field)
{
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if ((f.number == 1 || f.number == 3) && f.wire == TW_WIRE_BYTES)
            *(f.number == 1 ? &m->saver_filename : &m->saver_restore) = string_of(&f);
    }
    return proto.failed ? damaged(m, "saver_def") : TW_OK;
}

/* The first field of that number in a message. */
static tw_string first_field(tw_string bytes, uint32_t number)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.number == number && f.wire == TW_WIRE_BYTES)
            return string_of(&f);
    }
    return (tw_string){ "", 0 };
}

/* AnyList { 1 Any { 2 value } }, of AssetFileDefs: where TensorFlow 1 has put them. */
static tw_status read_old_assets(tw__saved_model_message *m, tw_string list)
{
    tw__proto proto = tw__proto_read(list.data, list.size);
    tw__proto_field f;
    m->old_assets = true;
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_BYTES)
            TW_TRY(read_asset(m, first_field(string_of(&f), 2)));
    }
    return proto.failed ? damaged(m, "collection_def") : TW_OK;
}

/* CollectionDef { 1 node_list { 1 value }, 2 bytes_list { 1 value }, 5 any_list }; a VariableDef begins with 1 variable_name. */
static tw_status read_collection(tw__saved_model_message *m, const tw__proto_field *field)
{
    tw_string name, value;
    TW_TRY(read_entry(m, field, "collection_def", &name, &value));
    bool main_op = tw__string_is(name, "saved_model_main_op");
    if (main_op || (tw__string_is(name, "legacy_init_op") && !m->first_operation.size))
        m->first_operation = first_field(first_field(value, 1), 1);
    if (tw__string_is(name, "saved_model_assets") && !m->asset_count)
        TW_TRY(read_old_assets(m, first_field(value, 5)));
    tw_string list = tw__string_is(name, "trainable_variables") ? first_field(value, 2) : (tw_string){ "", 0 };
    tw__proto proto = tw__proto_read(list.data, list.size);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.number != 1 || f.wire != TW_WIRE_BYTES)
            continue;
        TW_TRY(TW_GROW(m->trainable, m->trainable_capacity, m->trainable_count + 1));
        m->trainable[m->trainable_count++] = first_field(string_of(&f), 1);
    }
    return proto.failed ? damaged(m, "collection_def") : TW_OK;
}

static tw_status read_meta_graph(tw__saved_model_message *m, const tw__proto_field *field)
{
    tw__proto proto = tw__proto_nested(field);
    tw__proto_field f;
    while (tw__proto_next(&proto, &f)) {
        if (f.number < 1 || f.number > 7)
            continue;
        TW_TRY(want_bytes(m, &f, "meta_graphs"));
        tw_string name, value;
        if (f.number == 1)
            TW_TRY(read_information(m, &f));
        else if (f.number == 2)
            m->graph = string_of(&f);
        else if (f.number == 3)
            TW_TRY(read_saver(m, &f));
        else if (f.number == 4)
            TW_TRY(read_collection(m, &f));
        else if (f.number == 6) {
            m->asset_count = m->old_assets ? 0 : m->asset_count;
            m->old_assets = false;
            TW_TRY(read_asset(m, string_of(&f)));
        } else if (f.number == 7)
            TW_TRY(read_objects(m, &f));
        else {
            TW_TRY(read_entry(m, &f, "signature_def", &name, &value));
            TW_TRY(read_signature(m, name, value));
        }
    }
    return proto.failed ? damaged(m, "meta_graphs") : TW_OK;
}

/* Whether the meta graph has exactly these tags; they are all it is told by. */
static tw_status has_tags(tw__saved_model_message *m, const tw__proto_field *meta, const char *const *tags, size_t count,
                          bool *fits, tw__text *seen)
{
    tw__proto proto = tw__proto_nested(meta);
    tw__proto_field f;
    m->tag_count = 0;
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_BYTES)
            TW_TRY(read_information(m, &f));
    }
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
    m->tag_count = 0;
    return proto.failed ? damaged(m, "meta_graphs") : TW_OK;
}

static tw_status choose(tw__saved_model_message *m, const char *const *tags, size_t tag_count, tw__text *seen)
{
    tw__proto proto = tw__proto_read(m->bytes, m->size);
    tw__proto_field f, chosen = { 0 };
    size_t count = 0, fitting = 0;
    while (tw__proto_next(&proto, &f)) {
        if (f.number == 1 && f.wire == TW_WIRE_VARINT && f.value > 1)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: saved_model_schema_version is %llu; versions up to 1 are known", m->path,
                            (unsigned long long)f.value);
        if (f.number != 2)
            continue;
        TW_TRY(want_bytes(m, &f, "meta_graphs"));
        bool fits;
        TW_TRY(has_tags(m, &f, tags, tag_count, &fits, seen));
        count++;
        if (fits || !tag_count) {
            chosen = f;
            fitting++;
        }
    }
    if (proto.failed)
        return damaged(m, "meta_graphs");
    if (!count)
        return tw__fail(TW_DATA_LOSS, "%s: the file has no meta_graphs", m->path);
    if (!fitting && tag_count)
        return tw__fail(
            TW_RUNTIME_ERROR,
            "MetaGraphDef associated with tags '%s%s' could not be found in SavedModel, with available tags '[%s]'. To "
            "inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`.",
            tags[0], tag_count > 1 ? ", …" : "", seen->data ? seen->data : "");
    if (fitting > 1)
        return tw__fail(TW_VALUE_ERROR, "%s: the file has %zu meta graphs with the tags %s; say which one is meant", m->path,
                        count, seen->data ? seen->data : "");
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
    tw__text seen = { 0 };
    tw_status status = choose(m, tags, tag_count, &seen);
    tw__text_free(&seen);
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
        status = tw__fail(TW_NOT_FOUND, "SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}", directory);
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
