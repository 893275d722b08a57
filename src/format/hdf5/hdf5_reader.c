/* The structure of an HDF5 file: the superblock, object headers, groups, attributes become a tree; elements of arrays are read
 * later (hdf5_data.c).
 *
 * Numbers are little-endian, addresses count from the superblock. An object is a header: messages of type, size and data, in one
 * or more blocks. A group has a message that leads to a B-tree of symbol nodes (names in a heap, addresses of headers). Every
 * object may be reached once only and every byte of structure is paid for out of a budget of a few times the file's size, so that
 * no file makes the reader run in circles. */
#include <stdlib.h>

#include "codec/codec.h"
#include "format/hdf5/hdf5.h"

#define SIGNATURE "\x89HDF\r\n\x1a\n"
#define DEPTH_LIMIT 1000
#define LEVEL_LIMIT 8 /* of an index: 32 to the 8th names */

enum {
    MESSAGE_SPACE = 0x01,
    MESSAGE_LINK_INFO = 0x02,
    MESSAGE_TYPE = 0x03,
    MESSAGE_LAYOUT = 0x08,
    MESSAGE_FILTERS = 0x0b,
    MESSAGE_ATTRIBUTE = 0x0c,
    MESSAGE_CONTINUATION = 0x10,
    MESSAGE_SYMBOLS = 0x11,
    MESSAGE_ATTRIBUTE_INFO = 0x15
};

static unsigned get16(const uint8_t *data)
{
    return data[0] | (unsigned)data[1] << 8;
}

tw_status tw__hdf5_fail(const tw__hdf5 *file, const char *what)
{
    return tw__fail(TW_OS_ERROR, "Unable to read the HDF5 file %s: %s", file->file.path, what);
}

static tw_status refuse(const tw__hdf5 *file, const char *what)
{
    return tw__fail(TW_UNIMPLEMENTED, "%s: this HDF5 file has %s, which can't be read; files that Keras writes have none",
                    file->file.path, what);
}

uint8_t *tw__hdf5_block(tw__hdf5 *file, uint64_t address, uint64_t size)
{
    if (address > file->size || size > file->size - address) {
        tw__hdf5_fail(file, "it is truncated or damaged: an address is not in the file");
        return NULL;
    }
    if (size + 16 > file->budget) {
        tw__hdf5_fail(file, "it is damaged: parts of its structure overlap");
        return NULL;
    }
    file->budget -= size + 16;
    uint8_t *block = tw__alloc(size ? size : 1);
    if (block && tw__file_read_at(&file->file, (int64_t)(file->base + address), block, size) != TW_OK) {
        tw__free(block);
        return NULL;
    }
    return block;
}

/* ---- attributes ---- */

static size_t padded(size_t size, bool old)
{
    return old ? (size + 7) & ~(size_t)7 : size;
}

static tw_status read_attribute(tw__hdf5 *file, tw__hdf5_node *node, const uint8_t *data, size_t size)
{
    unsigned version = size >= 9 ? data[0] : 0;
    if (version < 1 || version > 3)
        return tw__hdf5_fail(file, "it is damaged: an attribute of an unknown version");
    if (version > 1 && data[1])
        return refuse(file, "attributes of a shared type");
    size_t name_size = get16(data + 2), type_size = get16(data + 4), space_size = get16(data + 6);
    size_t name = version == 3 ? 9 : 8, type = name + padded(name_size, version == 1),
           space = type + padded(type_size, version == 1);
    size_t value = space + padded(space_size, version == 1), used;
    tw_shape shape;
    if (value > size || !name_size || data[name + name_size - 1])
        return tw__hdf5_fail(file, "it is damaged: an attribute does not fit in its header");
    TW_TRY(tw__hdf5_shape(file, data + space, space_size, &shape, &used));
    tw_dtype dtype;
    TW_TRY(tw__hdf5_dtype(file, data + type, type_size, &dtype));
    if (!dtype)
        return TW_OK; /* Keras has no such attributes: they are another program's */
    tw_tensor *tensor = tw__hdf5_decode(file, data + type, type_size, &shape, data + value, size - value);
    const char *text = (const char *)data + name;
    return tensor && tw__hdf5_attribute_add(node, text, strlen(text), tensor) ? TW_OK : tw__error_status();
}

/* ---- object headers ---- */

typedef struct header {
    tw__hdf5_node *node;
    uint64_t tree, heap; /* of a group */
    bool is_group, has_space;
} header;

static tw_status keep(const uint8_t *data, size_t size, uint8_t **copy, size_t *copy_size)
{
    tw__free(*copy);
    *copy = tw__alloc(size ? size : 1);
    if (!*copy)
        return TW_RESOURCE_EXHAUSTED;
    memcpy(*copy, data, size);
    *copy_size = size;
    return TW_OK;
}

static tw_status read_message(tw__hdf5 *file, header *object, unsigned type, unsigned flags, const uint8_t *data, size_t size)
{
    tw__hdf5_storage *storage = &object->node->storage;
    size_t used;
    bool mine = type == MESSAGE_SPACE || type == MESSAGE_TYPE || type == MESSAGE_FILTERS || type == MESSAGE_ATTRIBUTE;
    if (mine && flags & 2)
        return refuse(file, "types that objects share");
    switch (type) {
    case MESSAGE_SPACE:
        object->has_space = true;
        return tw__hdf5_shape(file, data, size, &object->node->shape, &used);
    case MESSAGE_TYPE:
        return keep(data, size, &storage->type, &storage->type_size);
    case MESSAGE_LAYOUT:
        return keep(data, size, &storage->layout, &storage->layout_size);
    case MESSAGE_FILTERS:
        return keep(data, size, &storage->filters, &storage->filters_size);
    case MESSAGE_ATTRIBUTE:
        return read_attribute(file, object->node, data, size);
    case MESSAGE_SYMBOLS:
        if (size < 16)
            return tw__hdf5_fail(file, "it is damaged: a group is cut off");
        object->is_group = true;
        object->tree = tw__get64(data);
        object->heap = tw__get64(data + 8);
        return TW_OK;
    case MESSAGE_LINK_INFO:
    case MESSAGE_ATTRIBUTE_INFO:
        return refuse(file, "groups of the new kind (libver=\"latest\")");
    default:
        return TW_OK;
    }
}

/* The messages of one block; continuations are put at the end of the list of blocks. */
typedef struct block {
    uint64_t address, size;
} block;

typedef struct blocks {
    block *items;
    size_t count, capacity;
    unsigned messages; /* that are still to come */
} blocks;

static void blocks_end(blocks *list)
{
    tw__free(list->items);
}

static tw_status read_block(tw__hdf5 *file, header *object, blocks *list, block place)
{
    tw__owned uint8_t *data = tw__hdf5_block(file, place.address, place.size);
    TW_NEED(data);
    tw_status status = TW_OK;
    for (size_t at = 0; status == TW_OK && list->messages && place.size - at >= 8;) {
        unsigned type = get16(data + at), size = get16(data + at + 2), flags = data[at + 4];
        at += 8;
        list->messages--;
        if (size > place.size - at)
            status = tw__hdf5_fail(file, "it is damaged: a message does not fit in its header");
        else if (type != MESSAGE_CONTINUATION)
            status = read_message(file, object, type, flags, data + at, size);
        else if (size < 16)
            status = tw__hdf5_fail(file, "it is damaged: a header's continuation is cut off");
        else if ((status = TW_GROW(list->items, list->capacity, list->count + 1)) == TW_OK)
            list->items[list->count++] = (block){ tw__get64(data + at), tw__get64(data + at + 8) };
        at += size;
    }
    return status;
}

static tw_status read_header(tw__hdf5 *file, header *object, uint64_t address)
{
    tw__owned uint8_t *prefix = tw__hdf5_block(file, address, 16);
    TW_NEED(prefix);
    bool new_kind = memcmp(prefix, "OHDR", 4) == 0, good = prefix[0] == 1;
    unsigned messages = get16(prefix + 2);
    uint64_t size = tw__get32(prefix + 8);
    if (new_kind)
        return refuse(file, "objects of the new kind (libver=\"latest\")");
    if (!good)
        return tw__hdf5_fail(file, "it is damaged: no object is where one should be");
    if (tw__pointer_map_get(&file->seen, (void *)(uintptr_t)(address + 1), 0))
        return tw__hdf5_fail(file, "it is damaged, or an object in it has several names");
    TW_TRY(tw__pointer_map_put(&file->seen, (void *)(uintptr_t)(address + 1), 1));
    tw__auto(blocks_end) blocks list = { .messages = messages };
    TW_TRY(TW_GROW(list.items, list.capacity, 1));
    list.items[list.count++] = (block){ address + 16, size };
    for (size_t i = 0; i < list.count; i++)
        TW_TRY(read_block(file, object, &list, list.items[i]));
    return TW_OK;
}

/* ---- groups ---- */

typedef struct names {
    uint8_t *data;
    uint64_t size;
} names;

static tw_status read_object(tw__hdf5 *file, tw__hdf5_node *node, uint64_t address, int depth);

static tw_status read_symbols(tw__hdf5 *file, tw__hdf5_node *group, const names *heap, uint64_t address, int depth)
{
    tw__owned uint8_t *head = tw__hdf5_block(file, address, 8);
    TW_NEED(head);
    bool good = memcmp(head, "SNOD", 4) == 0 && head[4] == 1;
    unsigned count = get16(head + 6);
    if (!good)
        return tw__hdf5_fail(file, "it is damaged: a group's list of names is not where it should be");
    tw__owned uint8_t *entries = tw__hdf5_block(file, address + 8, (uint64_t)count * 40);
    TW_NEED(entries);
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *entry = entries + i * 40;
        uint64_t name = tw__get64(entry);
        const char *text = (const char *)heap->data + (name < heap->size ? name : 0);
        size_t size = name < heap->size ? strnlen(text, heap->size - name) : 0;
        if (name >= heap->size || size == heap->size - name || !size || memchr(text, '/', size))
            TW_TRY(tw__hdf5_fail(file, "it is damaged: a name is not where it should be"));
        else if (tw__get32(entry + 16) == 2)
            TW_TRY(refuse(file, "symbolic links"));
        else if (tw__hdf5_child(group, text, size))
            TW_TRY(tw__hdf5_fail(file, "it is damaged: a name comes twice"));
        tw__hdf5_node *node = tw__hdf5_add(group, text, size);
        TW_NEED(node);
        TW_TRY(read_object(file, node, tw__get64(entry + 8), depth + 1));
    }
    return TW_OK;
}

/* `level`: what the node's must be, -1: any. */
static tw_status read_tree(tw__hdf5 *file, tw__hdf5_node *group, const names *heap, uint64_t address, int level, int depth)
{
    tw__owned uint8_t *head = tw__hdf5_block(file, address, 24);
    TW_NEED(head);
    bool good = memcmp(head, "TREE", 4) == 0 && head[4] == 0 && (level < 0 ? head[5] <= LEVEL_LIMIT : head[5] == level);
    unsigned count = get16(head + 6);
    level = head[5];
    if (!good)
        return tw__hdf5_fail(file, "it is damaged: a group's index is not where it should be");
    tw__owned uint8_t *keys = tw__hdf5_block(file, address + 24, (uint64_t)count * 16);
    TW_NEED(keys);
    for (unsigned i = 0; i < count; i++) {
        uint64_t child = tw__get64(keys + i * 16 + 8);
        TW_TRY(level ? read_tree(file, group, heap, child, level - 1, depth) : read_symbols(file, group, heap, child, depth));
    }
    return TW_OK;
}

static tw_status read_group(tw__hdf5 *file, const header *object, int depth)
{
    tw__owned uint8_t *head = tw__hdf5_block(file, object->heap, 32);
    TW_NEED(head);
    bool good = memcmp(head, "HEAP", 4) == 0 && head[4] == 0;
    names heap = { .size = tw__get64(head + 8) };
    uint64_t place = tw__get64(head + 24);
    if (!good)
        return tw__hdf5_fail(file, "it is damaged: a group's names are not where they should be");
    heap.data = tw__hdf5_block(file, place, heap.size);
    TW_NEED(heap.data);
    tw_status status = read_tree(file, object->node, &heap, object->tree, -1, depth);
    tw__free(heap.data);
    return status;
}

static tw_status read_object(tw__hdf5 *file, tw__hdf5_node *node, uint64_t address, int depth)
{
    header object = { .node = node };
    if (depth > DEPTH_LIMIT)
        return tw__hdf5_fail(file, "its groups are nested too deeply");
    TW_TRY(read_header(file, &object, address));
    if (object.is_group)
        return read_group(file, &object, depth);
    if (!object.has_space || !node->storage.type || node->storage.layout_size < 4)
        return tw__hdf5_fail(file, "it is damaged: an object is neither a group nor an array");
    node->is_array = true;
    return tw__hdf5_dtype(file, node->storage.type, node->storage.type_size, &node->dtype);
}

/* ---- files ---- */

static tw_status read_file(tw__hdf5 *file)
{
    tw__owned uint8_t *super = tw__hdf5_block(file, 0, file->size < 96 ? file->size : 96);
    TW_NEED(super);
    uint64_t root = 0;
    if (file->size < 48 || memcmp(super, SIGNATURE, 8) != 0)
        TW_TRY(tw__hdf5_fail(file, "file signature not found"));
    else if (super[8] >= 2)
        TW_TRY(super[8] <= 3 ? refuse(file, "a superblock of the new kind (libver=\"latest\")")
                             : tw__hdf5_fail(file, "it is damaged"));
    else if (file->size < 96 || super[13] != 8 || super[14] != 8)
        TW_TRY(tw__hdf5_fail(file, "its superblock is damaged"));
    else
        root = tw__get64(super + (super[8] ? 4 : 0) + 64);
    if (tw__get64(super + (super[8] ? 4 : 0) + 24) != 0)
        TW_TRY(refuse(file, "a base address other than 0"));
    uint64_t end = tw__get64(super + (super[8] ? 4 : 0) + 40);
    if (end > file->size)
        return tw__fail(TW_OS_ERROR, "Unable to read the HDF5 file %s: truncated file: it has %llu bytes, expected %llu",
                        file->file.path, (unsigned long long)file->size, (unsigned long long)end);
    return read_object(file, file->root, root, 0);
}

tw__hdf5 *tw__hdf5_open_at(const char *path, uint64_t offset, uint64_t size)
{
    tw__hdf5 *file = tw__alloc_zero(sizeof *file);
    if (!file)
        return NULL;
    if (tw__file_open(&file->file, path) != TW_OK) {
        tw__free(file);
        return NULL;
    }
    uint64_t whole = (uint64_t)file->file.size;
    file->base = offset < whole ? offset : whole;
    file->size = size < whole - file->base ? size : whole - file->base;
    file->budget = 4 * file->size + 4096;
    file->root = tw__hdf5_tree();
    if (!file->root || read_file(file) != TW_OK) {
        tw__hdf5_close(file);
        return NULL;
    }
    return file;
}

tw__hdf5 *tw__hdf5_open(const char *path)
{
    return tw__hdf5_open_at(path, 0, UINT64_MAX);
}

void tw__hdf5_close(tw__hdf5 *file)
{
    if (!file)
        return;
    tw__hdf5_free(file->root);
    tw__map_free(&file->heaps, tw__free);
    tw__pointer_map_free(&file->seen);
    tw__file_close(&file->file);
    tw__free(file);
}

bool tw__hdf5_is(const char *path)
{
    tw__saved_error saved = tw__error_take();
    tw__file_reader reader;
    char head[8];
    bool found = tw__file_open(&reader, path) == TW_OK;
    if (found) {
        found = reader.size >= 8 && tw__file_read_at(&reader, 0, head, 8) == TW_OK && memcmp(head, SIGNATURE, 8) == 0;
        tw__file_close(&reader);
    }
    tw_clear_error();
    tw__error_restore(saved);
    return found;
}
