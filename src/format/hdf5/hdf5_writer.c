/* Writes a tree as an HDF5 file of the first version, as h5py makes them by default: superblock, heaps of strings, objects from
 * the leaves up, then the elements of all arrays. Everything but the elements is made in memory; places of elements are put in
 * when its size is known. */
#include <stdlib.h>

#include "codec/codec.h"
#include "format/hdf5/hdf5.h"

#define SUPERBLOCK 96
#define NODE_NAMES 8     /* of a symbol node: twice the superblock's number 4 */
#define NODE_CHILDREN 32 /* of a B-tree's node: twice the number 16 */
#define HEAP_MINIMUM 4096
#define HEAP_OBJECTS 60000
#define MESSAGE_LIMIT 65528
#define DEPTH_LIMIT 1000

typedef struct plan {
    const char *name; /* of the file, for errors */
    tw__text bytes;   /* the file up to the elements */
    struct {
        size_t at;
        uint64_t offset;
    } * patches; /* places of elements, and what to put there */
    size_t patch_count, patch_capacity;
    uint64_t data_size;                        /* of the elements so far */
    uint64_t *heaps;                           /* addresses */
    size_t heap_count, heap_capacity, strings; /* strings that were asked for */
} plan;

static void put(tw__text *text, uint64_t value, int size)
{
    uint8_t bytes[8];
    tw__put64(bytes, value);
    tw__text_bytes(text, bytes, (size_t)size);
}

static void pad(tw__text *text)
{
    static const char zeros[8];
    if (text->size % 8)
        tw__text_bytes(text, zeros, 8 - text->size % 8);
}

/* ---- types and shapes ---- */

static void put_type(tw__text *text, tw_dtype dtype)
{
    size_t size = tw_dtype_size(dtype);
    if (tw__dtype_is_float(dtype)) {
        static const struct {
            uint8_t sign, exponent_at, exponent, mantissa;
            uint32_t bias;
        } kinds[] = { { 15, 10, 5, 10, 15 }, { 31, 23, 8, 23, 127 }, { 63, 52, 11, 52, 1023 }, { 15, 7, 8, 7, 127 } };
        int kind = dtype == TW_FLOAT16 ? 0 : dtype == TW_FLOAT32 ? 1 : dtype == TW_FLOAT64 ? 2 : 3;
        put(text, 0x2011u | (uint32_t)kinds[kind].sign << 16, 4);
        put(text, size, 4);
        put(text, (uint64_t)size * 8 << 16, 4);
        put(text, kinds[kind].exponent_at | (uint32_t)kinds[kind].exponent << 8 | (uint32_t)kinds[kind].mantissa << 24, 4);
        put(text, kinds[kind].bias, 4);
        return;
    }
    if (dtype == TW_BOOL) {
        tw__text_bytes(text, "\x18\x02\0\0\x01\0\0\0", 8);
        put_type(text, TW_INT8);
        tw__text_bytes(text, "FALSE\0\0\0TRUE\0\0\0\0\0\x01", 18);
        return;
    }
    bool is_signed = dtype == TW_INT8 || dtype == TW_INT16 || dtype == TW_INT32 || dtype == TW_INT64;
    put(text, 0x10 | (is_signed ? 0x800 : 0), 4);
    put(text, size, 4);
    put(text, (uint64_t)size * 8 << 16, 4);
}

static void put_shape(tw__text *text, const tw_shape *shape)
{
    put(text, 1 | (uint64_t)shape->rank << 8, 8);
    for (int i = 0; i < shape->rank; i++)
        put(text, (uint64_t)shape->dims[i], 8);
}

static bool has_type(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_integer(dtype) || dtype == TW_BOOL;
}

/* ---- heaps of strings ---- */

/* In the order of the walk, which `refer` repeats. */
static void each_string(plan *p, const tw__hdf5_node *node, void (*use)(plan *p, tw_string text))
{
    for (size_t i = 0; i < node->child_count; i++)
        each_string(p, node->children[i], use);
    for (size_t i = 0; i < node->attribute_count; i++) {
        const tw__hdf5_attribute *attribute = &node->attributes[i];
        for (int64_t k = 0; attribute->value->dtype == TW_STRING && !attribute->fixed && k < attribute->value->count; k++)
            use(p, tw_tensor_string_at(attribute->value, k));
    }
}

/* Ends the heap that is being made: what is left of it is one free object. */
static void end_heap(plan *p)
{
    size_t begin = p->heaps[p->heap_count - 1], used = p->bytes.size - begin;
    size_t size = used + 16 > HEAP_MINIMUM ? used + 16 : HEAP_MINIMUM;
    put(&p->bytes, 0, 8);
    put(&p->bytes, size - used, 8);
    while (p->bytes.size < begin + size && !p->bytes.failed)
        put(&p->bytes, 0, 8);
    if (!p->bytes.failed)
        tw__put64(p->bytes.data + begin + 8, size);
}

static void store_string(plan *p, tw_string text)
{
    size_t index = p->strings++ % HEAP_OBJECTS;
    if (!index) {
        if (p->heap_count)
            end_heap(p);
        if (TW_GROW(p->heaps, p->heap_capacity, p->heap_count + 1) != TW_OK) {
            p->bytes.failed = true;
            return;
        }
        p->heaps[p->heap_count++] = p->bytes.size;
        tw__text_bytes(&p->bytes, "GCOL\1\0\0\0\0\0\0\0\0\0\0", 16);
    }
    put(&p->bytes, index + 1, 8);
    put(&p->bytes, text.size, 8);
    tw__text_bytes(&p->bytes, text.data, text.size);
    pad(&p->bytes);
}

static void refer(plan *p, tw__text *text, tw_string string)
{
    size_t number = p->strings++;
    put(text, string.size, 4);
    put(text, p->heaps[number / HEAP_OBJECTS], 8);
    put(text, number % HEAP_OBJECTS + 1, 4);
}

/* ---- messages ---- */

typedef struct messages {
    tw__text text;
    unsigned count;
} messages;

static tw_status add_message(const plan *p, messages *m, unsigned type, tw__text *data)
{
    pad(data);
    if (data->failed)
        return TW_RESOURCE_EXHAUSTED;
    if (data->size > MESSAGE_LIMIT || m->count == UINT16_MAX)
        return tw__fail(TW_RUNTIME_ERROR,
                        "%s: Unable to create attribute (object header message is too large): %zu bytes, expected at most %d",
                        p->name, data->size, MESSAGE_LIMIT);
    put(&m->text, type | (uint64_t)data->size << 16, 8);
    tw__text_bytes(&m->text, data->data, data->size);
    m->count++;
    tw__text_clear(data);
    return m->text.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

static tw_status add_attribute(plan *p, messages *m, const tw__hdf5_attribute *attribute, tw__text *data)
{
    const tw_tensor *value = attribute->value;
    bool text = value->dtype == TW_STRING, heap = text && !attribute->fixed;
    size_t longest = 1, name_size = strlen(attribute->name) + 1;
    if (!text && !has_type(value->dtype))
        return tw__fail(TW_TYPE_ERROR, "%s: attribute \"%s\": dtype %s has no native HDF5 equivalent", p->name, attribute->name,
                        tw_dtype_name(value->dtype));
    for (int64_t i = 0; text && i < value->count; i++)
        longest = tw_tensor_string_at(value, i).size > longest ? tw_tensor_string_at(value, i).size : longest;
    tw__text type = { 0 };
    if (heap) {
        put(&type, 0x119u | (attribute->unicode ? 0x10000u : 0), 4);
        put(&type, 16, 4);
        put(&type, 0x13u | (attribute->unicode ? 0x1000u : 0), 4);
        put(&type, 1, 4);
    } else if (text) {
        put(&type, 0x113, 4);
        put(&type, longest, 4);
    } else {
        put_type(&type, value->dtype);
    }
    put(data, 1 | (uint64_t)name_size << 16 | (uint64_t)type.size << 32 | (uint64_t)(8 + 8 * value->shape.rank) << 48, 8);
    tw__text_bytes(data, attribute->name, name_size);
    pad(data);
    tw__text_bytes(data, type.data, type.size);
    data->failed |= type.failed;
    tw__text_free(&type);
    pad(data);
    put_shape(data, &value->shape);
    for (int64_t i = 0; text && i < value->count; i++) {
        tw_string string = tw_tensor_string_at(value, i);
        if (heap) {
            refer(p, data, string);
            continue;
        }
        tw__text_bytes(data, string.data, string.size);
        for (size_t k = string.size; k < longest; k++)
            put(data, 0, 1);
    }
    if (!text && value->count)
        tw__text_bytes(data, value->data, tw_tensor_bytes(value));
    return add_message(p, m, 0x0c, data);
}

/* ---- groups ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const tw__hdf5_node *const *)a)->name, (*(const tw__hdf5_node *const *)b)->name);
}

typedef struct index_entry {
    uint64_t address, last; /* of a node; the place of its last name */
} index_entry;

/* One level of a group's B-tree over the entries, which become those of the level. */
static void put_level(plan *p, index_entry *entries, size_t *count, int level)
{
    size_t nodes = *count ? (*count + NODE_CHILDREN - 1) / NODE_CHILDREN : 1, node_size = 24 + NODE_CHILDREN * 16 + 8;
    uint64_t before = 0, first = p->bytes.size;
    for (size_t n = 0; n < nodes; n++) {
        size_t begin = n * NODE_CHILDREN, held = *count - begin < NODE_CHILDREN ? *count - begin : NODE_CHILDREN,
               end = p->bytes.size + node_size;
        tw__text_bytes(&p->bytes, "TREE", 4);
        put(&p->bytes, (uint64_t)level << 8 | held << 16, 4);
        put(&p->bytes, n ? first + (n - 1) * node_size : TW_HDF5_NONE, 8);
        put(&p->bytes, n + 1 < nodes ? first + (n + 1) * node_size : TW_HDF5_NONE, 8);
        put(&p->bytes, before, 8);
        for (size_t i = begin; i < begin + held; i++) {
            put(&p->bytes, entries[i].address, 8);
            put(&p->bytes, entries[i].last, 8);
            before = entries[i].last;
        }
        while (p->bytes.size < end && !p->bytes.failed)
            put(&p->bytes, 0, 8);
        entries[n] = (index_entry){ first + n * node_size, before };
    }
    *count = nodes;
}

/* Names, symbol nodes and index of a group whose members are written; where index and names are. */
static tw_status put_group(plan *p, tw__hdf5_node *const *members, size_t count, uint64_t *tree, uint64_t *heap)
{
    tw__owned uint64_t *places = tw__alloc_array(count + 1, sizeof *places);
    tw__owned index_entry *entries = tw__alloc_array(count / NODE_NAMES + 2, sizeof *entries);
    if (!places || !entries)
        return TW_RESOURCE_EXHAUSTED;
    size_t begin = p->bytes.size + 32, nodes = 0;
    *heap = p->bytes.size;
    tw__text_bytes(&p->bytes, "HEAP\0\0\0", 8);
    size_t size_at = p->bytes.size;
    put(&p->bytes, 0, 8);
    put(&p->bytes, 1, 8);
    put(&p->bytes, begin, 8);
    put(&p->bytes, 0, 8);
    for (size_t i = 0; i < count; i++) {
        places[i] = p->bytes.size - begin;
        tw__text_bytes(&p->bytes, members[i]->name, strlen(members[i]->name) + 1);
        pad(&p->bytes);
    }
    if (!p->bytes.failed)
        tw__put64(p->bytes.data + size_at, p->bytes.size - begin);
    for (size_t at = 0; at < count; at += NODE_NAMES, nodes++) {
        size_t held = count - at < NODE_NAMES ? count - at : NODE_NAMES;
        entries[nodes] = (index_entry){ p->bytes.size, places[at + held - 1] };
        tw__text_bytes(&p->bytes, "SNOD\1", 6);
        put(&p->bytes, held, 2);
        for (size_t i = 0; i < NODE_NAMES; i++) {
            bool used = i < held;
            put(&p->bytes, used ? places[at + i] : 0, 8);
            put(&p->bytes, used ? members[at + i]->address : 0, 8);
            for (int k = 0; k < 3; k++)
                put(&p->bytes, 0, 8);
        }
    }
    for (int level = 0; level == 0 || nodes > 1; level++)
        put_level(p, entries, &nodes, level);
    *tree = entries[0].address;
    return p->bytes.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

/* ---- objects ---- */

static tw_status put_object(plan *p, tw__hdf5_node *node, int depth, uint64_t *tree, uint64_t *heap);

static tw_status group_messages(plan *p, const tw__hdf5_node *node, int depth, messages *m, tw__text *data, uint64_t *tree,
                                uint64_t *heap)
{
    size_t count = node->child_count;
    tw__owned tw__hdf5_node **members = tw__alloc_array(count + 1, sizeof *members);
    uint64_t inner_tree = 0, inner_heap = 0;
    TW_NEED(members);
    for (size_t i = 0; i < count; i++) {
        members[i] = node->children[i];
        TW_TRY(put_object(p, members[i], depth + 1, &inner_tree, &inner_heap));
    }
    if (count)
        qsort(members, count, sizeof *members, by_name);
    TW_TRY(put_group(p, members, count, tree, heap));
    put(data, *tree, 8);
    put(data, *heap, 8);
    return add_message(p, m, 0x11, data);
}

static tw_status array_messages(plan *p, const tw__hdf5_node *node, messages *m, tw__text *data, size_t *patch_at)
{
    const tw_tensor *value = node->value;
    if (!has_type(value->dtype))
        return tw__fail(TW_TYPE_ERROR, "%s: \"%s\": dtype %s has no native HDF5 equivalent", p->name, node->name,
                        tw_dtype_name(value->dtype));
    put_shape(data, &value->shape);
    TW_TRY(add_message(p, m, 0x01, data));
    put_type(data, value->dtype);
    TW_TRY(add_message(p, m, 0x03, data));
    put(data, 0x20102, 8);
    TW_TRY(add_message(p, m, 0x05, data));
    *patch_at = m->text.size + 8 + 2;
    put(data, 0x103, 2);
    put(data, TW_HDF5_NONE, 8);
    put(data, tw_tensor_bytes(value), 8);
    return add_message(p, m, 0x08, data);
}

static tw_status put_messages(plan *p, tw__hdf5_node *node, int depth, messages *m, tw__text *data, uint64_t *tree,
                              uint64_t *heap)
{
    size_t patch_at = 0;
    TW_TRY(node->is_array ? array_messages(p, node, m, data, &patch_at) : group_messages(p, node, depth, m, data, tree, heap));
    for (size_t i = 0; i < node->attribute_count; i++)
        TW_TRY(add_attribute(p, m, &node->attributes[i], data));
    node->address = p->bytes.size;
    put(&p->bytes, 1 | (uint64_t)m->count << 16 | (uint64_t)1 << 32, 8);
    put(&p->bytes, m->text.size, 8);
    if (node->is_array && node->value->count) {
        TW_TRY(TW_GROW(p->patches, p->patch_capacity, p->patch_count + 1));
        p->patches[p->patch_count].at = p->bytes.size + patch_at;
        p->patches[p->patch_count++].offset = p->data_size;
        p->data_size += (tw_tensor_bytes(node->value) + 7) & ~(size_t)7;
    }
    tw__text_bytes(&p->bytes, m->text.data, m->text.size);
    return p->bytes.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

static tw_status put_object(plan *p, tw__hdf5_node *node, int depth, uint64_t *tree, uint64_t *heap)
{
    if (depth > DEPTH_LIMIT)
        return tw__fail(TW_VALUE_ERROR, "%s: groups are nested more than %d deep", p->name, DEPTH_LIMIT);
    messages m = { 0 };
    tw__auto(tw__text_free) tw__text data = { 0 };
    tw_status status = put_messages(p, node, depth, &m, &data, tree, heap);
    tw__text_free(&m.text);
    return status;
}

/* ---- files ---- */

static tw_status make_plan(plan *p, tw__hdf5_node *root)
{
    for (int i = 0; i < SUPERBLOCK / 8; i++)
        put(&p->bytes, 0, 8);
    each_string(p, root, store_string);
    if (p->heap_count)
        end_heap(p);
    p->strings = 0;
    if (p->bytes.failed)
        return TW_RESOURCE_EXHAUSTED;
    uint64_t tree = 0, heap = 0;
    TW_TRY(put_object(p, root, 0, &tree, &heap));
    for (size_t i = 0; i < p->patch_count; i++)
        tw__put64(p->bytes.data + p->patches[i].at, p->bytes.size + p->patches[i].offset);
    char *super = p->bytes.data;
    memcpy(super, "\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10", 19);
    const uint64_t numbers[] = { 0, TW_HDF5_NONE, p->bytes.size + p->data_size, TW_HDF5_NONE, 0, root->address, 1, tree, heap };
    for (size_t i = 0; i < 9; i++)
        tw__put64(super + 24 + 8 * i, numbers[i]);
    return TW_OK;
}

static tw_status emit_elements(const tw__hdf5_node *node, tw__hdf5_sink sink, void *context)
{
    static const char zeros[8];
    for (size_t i = 0; i < node->child_count; i++)
        TW_TRY(emit_elements(node->children[i], sink, context));
    size_t size = node->is_array ? tw_tensor_bytes(node->value) : 0;
    if (size)
        TW_TRY(sink(context, node->value->data, size));
    return size % 8 ? sink(context, zeros, 8 - size % 8) : TW_OK;
}

tw_status tw__hdf5_emit(tw__hdf5_node *root, const char *name, tw__hdf5_sink sink, void *context)
{
    plan p = { .name = name };
    tw_status status = make_plan(&p, root);
    if (status == TW_OK)
        status = sink(context, p.bytes.data, p.bytes.size);
    tw__text_free(&p.bytes);
    tw__free(p.patches);
    tw__free(p.heaps);
    return status == TW_OK ? emit_elements(root, sink, context) : status == TW_RESOURCE_EXHAUSTED ? tw__error_status() : status;
}

static tw_status to_file(void *context, const void *data, size_t size)
{
    return tw__file_write(context, data, size);
}

tw_status tw__hdf5_write(tw__hdf5_node *root, const char *path)
{
    tw__file_writer *writer = tw__file_create(path);
    TW_NEED(writer);
    tw_status status = tw__hdf5_emit(root, path, to_file, writer);
    if (status == TW_OK)
        return tw__file_commit(writer);
    tw__file_abandon(writer);
    return status;
}
