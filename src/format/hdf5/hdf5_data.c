/* What HDF5 files hold: types, shapes, strings in heaps, elements of arrays.
 *
 * A type is a byte of class (low half) and version, three of flags, four of size, then properties. Elements are read if they are
 * integers, floats, booleans (enumerations of two bytes, as h5py makes them) or strings: of a fixed length, or of any length in
 * "global heaps", of which an element has length, address and index. Arrays lie in one piece, in their header (compact) or in
 * chunks, which may be compressed (shuffle, deflate). */
#include "codec/codec.h"
#include "format/hdf5/hdf5.h"

enum { CLASS_INTEGER = 0, CLASS_FLOAT = 1, CLASS_STRING = 3, CLASS_ENUM = 8, CLASS_VARIABLE = 9 };

typedef struct element {
    tw_dtype dtype;
    size_t size; /* of a stored element */
    bool big_endian;
    bool variable;    /* a string in a heap */
    unsigned padding; /* of a fixed string: 0 ends at a zero byte, 1 zeros at the end, 2 spaces at the end */
} element;

static unsigned get16(const uint8_t *data)
{
    return data[0] | (unsigned)data[1] << 8;
}

static tw_dtype integer_dtype(size_t size, bool is_signed)
{
    switch (size) {
    case 1:
        return is_signed ? TW_INT8 : TW_UINT8;
    case 2:
        return is_signed ? TW_INT16 : TW_UINT16;
    case 4:
        return is_signed ? TW_INT32 : TW_UINT32;
    case 8:
        return is_signed ? TW_INT64 : TW_UINT64;
    default:
        return TW_DTYPE_NONE;
    }
}

static tw_status read_type(const tw__hdf5 *file, const uint8_t *type, size_t size, element *out)
{
    if (size < 8)
        return tw__hdf5_fail(file, "it is damaged: a type is cut off");
    unsigned class = type[0] & 15, flags = type[1];
    *out = (element){ .size = tw__get32(type + 4) };
    if (class == CLASS_INTEGER && size >= 12) {
        if (get16(type + 8) == 0 && get16(type + 10) == 8 * out->size)
            out->dtype = integer_dtype(out->size, flags & 8);
        out->big_endian = flags & 1;
    } else if (class == CLASS_FLOAT && size >= 20) {
        unsigned exponent = type[13];
        out->dtype = out->size == 4 && exponent == 8    ? TW_FLOAT32
                     : out->size == 8 && exponent == 11 ? TW_FLOAT64
                     : out->size == 2 && exponent == 5  ? TW_FLOAT16
                     : out->size == 2 && exponent == 8  ? TW_BFLOAT16
                                                        : TW_DTYPE_NONE;
        if (get16(type + 8) != 0 || get16(type + 10) != 8 * out->size)
            out->dtype = TW_DTYPE_NONE;
        out->big_endian = flags & 1;
    } else if (class == CLASS_STRING) {
        out->dtype = TW_STRING;
        out->padding = flags & 15;
    } else if (class == CLASS_ENUM) {
        if (out->size == 1 && get16(type + 1) == 2)
            out->dtype = TW_BOOL;
    } else if (class == CLASS_VARIABLE) {
        if ((flags & 15) == 1 && out->size == 16) {
            out->dtype = TW_STRING;
            out->variable = true;
        }
    } else if (class == CLASS_INTEGER || class == CLASS_FLOAT || class > 11) {
        return tw__hdf5_fail(file, "it is damaged: a type is none");
    }
    return TW_OK;
}

tw_status tw__hdf5_dtype(const tw__hdf5 *file, const uint8_t *type, size_t size, tw_dtype *dtype)
{
    element e;
    *dtype = TW_DTYPE_NONE;
    TW_TRY(read_type(file, type, size, &e));
    *dtype = e.dtype;
    return TW_OK;
}

tw_status tw__hdf5_shape(const tw__hdf5 *file, const uint8_t *data, size_t size, tw_shape *shape, size_t *used)
{
    if (size < 4 || data[0] < 1 || data[0] > 2)
        return tw__hdf5_fail(file, "it is damaged: a shape is none");
    size_t rank = data[1], at = data[0] == 1 ? 8 : 4;
    if (rank > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: an array of %zu dimensions, expected at most %d", file->file.path, rank,
                        TW_MAX_RANK);
    *used = at + 8 * rank;
    if (*used > size)
        return tw__hdf5_fail(file, "it is damaged: a shape is cut off");
    *shape = (tw_shape){ .rank = (int32_t)rank };
    for (size_t i = 0; i < rank; i++) {
        uint64_t dimension = tw__get64(data + at + 8 * i);
        if (dimension > INT64_MAX)
            return tw__hdf5_fail(file, "it is damaged: a dimension is too large");
        shape->dims[i] = (int64_t)dimension;
    }
    if (data[0] == 2 && data[3] == 2) /* "null": no elements */
        *shape = TW_SHAPE(0);
    return TW_OK;
}

/* ---- strings ---- */

/* A collection is read once. It begins with "GCOL", a version, its size at 8; objects of index, references, size and data follow.
 */
static const uint8_t *collection(tw__hdf5 *file, uint64_t address, uint64_t *size)
{
    uint8_t *block = tw__map_get(&file->heaps, &address, sizeof address);
    if (block) {
        *size = tw__get64(block + 8);
        return block;
    }
    tw__owned uint8_t *head = tw__hdf5_block(file, address, 16);
    if (!head)
        return NULL;
    bool good = memcmp(head, "GCOL\1", 5) == 0;
    *size = tw__get64(head + 8);
    if (!good || *size < 16) {
        tw__hdf5_fail(file, "it is damaged: a heap of strings is not where it should be");
        return NULL;
    }
    block = tw__hdf5_block(file, address, *size);
    if (block && tw__map_put(&file->heaps, &address, sizeof address, block) != TW_OK) {
        tw__free(block);
        block = NULL;
    }
    return block;
}

static tw_status read_string(tw__hdf5 *file, const uint8_t *place, tw_tensor *tensor, int64_t index)
{
    uint64_t length = tw__get32(place), address = tw__get64(place + 4), size = 0;
    uint32_t wanted = tw__get32(place + 12);
    if (!length || address == 0 || address == TW_HDF5_NONE)
        return TW_OK; /* empty */
    const uint8_t *heap = collection(file, address, &size);
    TW_NEED(heap);
    for (uint64_t at = 16; size - at >= 16;) {
        uint32_t object = get16(heap + at);
        uint64_t bytes = tw__get64(heap + at + 8);
        if (!object || bytes > size - at - 16)
            break;
        if (object == wanted && bytes >= length)
            return tw__string_set(tensor, index, heap + at + 16, length);
        at += 16 + ((bytes + 7) & ~(uint64_t)7);
        if (at > size)
            break;
    }
    return tw__hdf5_fail(file, "it is damaged: a string is not in its heap");
}

static size_t fixed_length(const uint8_t *text, size_t size, unsigned padding)
{
    if (padding == 0)
        return strnlen((const char *)text, size);
    while (size && text[size - 1] == (padding == 2 ? ' ' : 0))
        size--;
    return size;
}

/* ---- elements ---- */

/* From stored elements that are all there. `data` may be the tensor's own memory. */
static tw_status convert(tw__hdf5 *file, const element *e, tw_tensor *tensor, const uint8_t *data)
{
    size_t bytes = (size_t)tensor->count * e->size;
    if (e->dtype == TW_STRING) {
        for (int64_t i = 0; i < tensor->count; i++) {
            const uint8_t *at = data + (size_t)i * e->size;
            TW_TRY(e->variable ? read_string(file, at, tensor, i)
                               : tw__string_set(tensor, i, at, fixed_length(at, e->size, e->padding)));
        }
        return TW_OK;
    }
    if (bytes && data != tensor->data)
        memcpy(tensor->data, data, bytes);
    if (e->big_endian)
        tw__swap_bytes(tensor->data, bytes, e->size);
    for (int64_t i = 0; e->dtype == TW_BOOL && i < tensor->count; i++)
        ((uint8_t *)tensor->data)[i] = ((uint8_t *)tensor->data)[i] != 0;
    return TW_OK;
}

/* The bytes of so many elements; at most `limit`. */
static tw_status byte_count(const tw__hdf5 *file, const element *e, const tw_shape *shape, uint64_t limit, size_t *bytes)
{
    int64_t count;
    TW_TRY(tw__shape_count(shape, &count));
    if (__builtin_mul_overflow((size_t)count, e->size, bytes) || *bytes > limit)
        return tw__hdf5_fail(file, "it is truncated or damaged: an array is larger than the bytes that are there");
    return TW_OK;
}

tw_tensor *tw__hdf5_decode(tw__hdf5 *file, const uint8_t *type, size_t type_size, const tw_shape *shape, const uint8_t *data,
                           size_t size)
{
    element e;
    size_t bytes;
    if (read_type(file, type, type_size, &e) != TW_OK || byte_count(file, &e, shape, size, &bytes) != TW_OK)
        return NULL;
    if (!e.size) { /* strings of no length: there are as many as the shape says, which nothing bounds */
        tw__hdf5_fail(file, "it is damaged: a type has no size");
        return NULL;
    }
    tw_auto tw_tensor *tensor = tw__tensor_empty(e.dtype, shape);
    return tensor && convert(file, &e, tensor, data) == TW_OK ? tw_retain(tensor) : NULL;
}

/* ---- chunks ---- */

typedef struct chunks {
    tw__hdf5 *file;
    const element *element;
    const tw_shape *shape;
    tw_shape chunk;
    size_t chunk_bytes;
    const uint8_t *filters;
    size_t filters_size;
    uint8_t *out;
} chunks;

/* Each byte of every element together -> elements. */
static void unshuffle(uint8_t *data, uint8_t *work, size_t size, size_t unit)
{
    size_t count = size / unit;
    for (size_t byte = 0; byte < unit; byte++) {
        for (size_t i = 0; i < count; i++)
            work[i * unit + byte] = data[byte * count + i];
    }
    memcpy(data, work, count * unit);
}

enum { FILTER_DEFLATE = 1, FILTER_SHUFFLE = 2, FILTER_LIMIT = 8 };

/* The numbers of the filters, in the order of writing. */
static tw_status filters_of(const chunks *c, unsigned *numbers, int *count)
{
    const uint8_t *data = c->filters;
    size_t size = c->filters_size;
    *count = 0;
    if (!data)
        return TW_OK;
    if (size < 2 || data[0] < 1 || data[0] > 2 || data[1] > FILTER_LIMIT)
        return tw__hdf5_fail(c->file, "it is damaged: a list of filters is none");
    bool old = data[0] == 1;
    size_t at = old ? 8 : 2;
    for (int i = 0; i < data[1]; i++) {
        size_t head = old || (at + 2 <= size && get16(data + at) >= 256) ? 8 : 6;
        if (at > size || size - at < head)
            return tw__hdf5_fail(c->file, "it is damaged: a list of filters is cut off");
        unsigned number = get16(data + at), name = head == 8 ? get16(data + at + 2) : 0, values = get16(data + at + head - 2);
        at += head + (old ? (name + 7) & ~7u : name) + 4 * (size_t)values + (old && values % 2 ? 4 : 0);
        if (number != FILTER_DEFLATE && number != FILTER_SHUFFLE)
            return tw__fail(TW_UNIMPLEMENTED,
                            "%s: an array is stored with the HDF5 filter %u, expected none, deflate (1) or shuffle (2)",
                            c->file->file.path, number);
        numbers[(*count)++] = number;
    }
    return TW_OK;
}

/* The bytes of a chunk, unpacked, for tw__free. */
static uint8_t *unpack(const chunks *c, uint64_t address, uint32_t stored, uint32_t mask)
{
    unsigned numbers[FILTER_LIMIT];
    int count;
    if (filters_of(c, numbers, &count) != TW_OK)
        return NULL;
    uint8_t *data = tw__hdf5_block(c->file, address, stored);
    size_t size = stored;
    bool good = data != NULL;
    for (int i = count - 1; good && i >= 0; i--) {
        if (mask & 1u << i)
            continue;
        bool inflates = numbers[i] == FILTER_DEFLATE;
        bool possible = inflates ? c->chunk_bytes <= tw__inflate_limit(size) : size == c->chunk_bytes;
        uint8_t *next = possible ? tw__alloc(c->chunk_bytes) : NULL;
        if (inflates && next) {
            good = tw__inflate(data, size, TW_DEFLATED_ZLIB, next, c->chunk_bytes);
            tw__free(data);
            data = next;
            size = c->chunk_bytes;
        } else {
            good = next != NULL;
            if (good)
                unshuffle(data, next, size, c->element->size);
            tw__free(next);
        }
    }
    if (good && size == c->chunk_bytes)
        return data;
    if (data)
        tw__hdf5_fail(c->file, "it is damaged: a chunk of an array does not have its size");
    tw__free(data);
    return NULL;
}

/* Copies what of a chunk is inside the array, row by row along the last axis. */
static void place_chunk(const chunks *c, const int64_t *offset, const uint8_t *data)
{
    int rank = c->shape->rank;
    int64_t index[TW_MAX_RANK] = { 0 };
    for (;;) {
        int64_t from = 0, to = 0, run = 1;
        bool inside = true;
        for (int i = 0; i < rank; i++) {
            from = from * c->chunk.dims[i] + index[i];
            to = to * c->shape->dims[i] + offset[i] + index[i];
            inside = inside && offset[i] + index[i] < c->shape->dims[i];
        }
        if (rank) {
            int64_t left = c->shape->dims[rank - 1] - offset[rank - 1];
            run = c->chunk.dims[rank - 1] < left ? c->chunk.dims[rank - 1] : left;
        }
        if (inside)
            memcpy(c->out + (size_t)to * c->element->size, data + (size_t)from * c->element->size,
                   (size_t)run * c->element->size);
        int axis = rank - 2;
        while (axis >= 0 && ++index[axis] == c->chunk.dims[axis])
            index[axis--] = 0;
        if (axis < 0)
            return;
    }
}

/* A B-tree like those of groups (type 1): keys are stored size, filters that were left out, and the place of the chunk. */
static tw_status read_chunks(const chunks *c, uint64_t address, int level)
{
    size_t rank = (size_t)c->shape->rank, key = 8 + 8 * (rank + 1);
    tw__owned uint8_t *head = tw__hdf5_block(c->file, address, 24);
    TW_NEED(head);
    bool good = memcmp(head, "TREE", 4) == 0 && head[4] == 1 && (level < 0 ? head[5] <= 8 : head[5] == level);
    unsigned count = get16(head + 6);
    level = head[5];
    if (!good)
        return tw__hdf5_fail(c->file, "it is damaged: the index of an array's chunks is not where it should be");
    tw__owned uint8_t *keys = tw__hdf5_block(c->file, address + 24, (uint64_t)count * (key + 8));
    TW_NEED(keys);
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *at = keys + i * (key + 8);
        uint64_t child = tw__get64(at + key);
        int64_t offset[TW_MAX_RANK];
        if (level) {
            TW_TRY(read_chunks(c, child, level - 1));
            continue;
        }
        for (size_t axis = 0; axis < rank; axis++) {
            uint64_t place = tw__get64(at + 8 + 8 * axis);
            good = good && place < (uint64_t)c->shape->dims[axis];
            offset[axis] = (int64_t)place;
        }
        tw__owned uint8_t *data = good ? unpack(c, child, tw__get32(at), tw__get32(at + 4)) : NULL;
        if (data)
            place_chunk(c, offset, data);
        else
            TW_TRY(good ? tw__error_status() : tw__hdf5_fail(c->file, "it is damaged: a chunk lies outside of its array"));
    }
    return TW_OK;
}

static tw_status read_chunked(tw__hdf5 *file, const tw__hdf5_node *node, const element *e, uint8_t *out, size_t bytes)
{
    const uint8_t *layout = node->storage.layout;
    size_t rank = (size_t)node->shape.rank;
    chunks c = { .file = file,
                 .element = e,
                 .shape = &node->shape,
                 .chunk = { .rank = node->shape.rank },
                 .filters = node->storage.filters,
                 .filters_size = node->storage.filters_size,
                 .out = out };
    if (node->storage.layout_size < 11 + 4 * (rank + 1) || layout[2] != rank + 1 || tw__get32(layout + 11 + 4 * rank) != e->size)
        return tw__hdf5_fail(file, "it is damaged: an array's layout is none");
    for (size_t i = 0; i < rank; i++) {
        c.chunk.dims[i] = tw__get32(layout + 11 + 4 * i);
        if (!c.chunk.dims[i])
            return tw__hdf5_fail(file, "it is damaged: a chunk of an array is empty");
    }
    memset(out, 0, bytes);
    TW_TRY(byte_count(file, e, &c.chunk, UINT32_MAX, &c.chunk_bytes));
    uint64_t tree = tw__get64(layout + 3);
    file->budget += 2 * file->size + tw__inflate_limit(0); /* chunks are structure and data at once */
    return tree == TW_HDF5_NONE ? TW_OK : read_chunks(&c, tree, -1);
}

static tw_status read_elements(tw__hdf5 *file, const tw__hdf5_node *node, const element *e, uint8_t *out, size_t bytes)
{
    const uint8_t *layout = node->storage.layout;
    size_t size = node->storage.layout_size;
    if (size < 4 || layout[0] != 3)
        return tw__fail(TW_UNIMPLEMENTED, "%s: an array's layout has version %d, expected 3", file->file.path,
                        size ? layout[0] : 0);
    if (layout[1] == 0) {
        if (get16(layout + 2) < bytes || size - 4 < bytes)
            return tw__hdf5_fail(file, "it is damaged: an array is cut off");
        memcpy(out, layout + 4, bytes);
        return TW_OK;
    }
    if (layout[1] == 2)
        return read_chunked(file, node, e, out, bytes);
    if (layout[1] != 1 || size < 18)
        return tw__hdf5_fail(file, "it is damaged: an array's layout is none");
    uint64_t address = tw__get64(layout + 2);
    if (address == TW_HDF5_NONE) { /* never written */
        memset(out, 0, bytes);
        return TW_OK;
    }
    if (address > file->size || bytes > file->size - address)
        return tw__hdf5_fail(file, "it is truncated or damaged: an array is not in the file");
    return tw__file_read_at(&file->file, (int64_t)(file->base + address), out, bytes);
}

tw_tensor *tw__hdf5_value(tw__hdf5 *file, const tw__hdf5_node *node)
{
    element e;
    size_t bytes;
    if (!node->is_array) {
        tw__fail(TW_VALUE_ERROR, "%s: \"%s\" is a group, expected an array", file->file.path, node->name ? node->name : "/");
        return NULL;
    }
    if (read_type(file, node->storage.type, node->storage.type_size, &e) != TW_OK)
        return NULL;
    if (!e.dtype || !e.size) {
        tw__fail(TW_UNIMPLEMENTED,
                 "%s: the elements of \"%s\" are neither numbers nor strings (HDF5 class %d, %zu bytes), which can't be read",
                 file->file.path, node->name, node->storage.type[0] & 15, e.size);
        return NULL;
    }
    /* A file that is compressed, or has elements that were never written, may stand for more than its bytes. */
    bool in_place = node->storage.layout[1] != 2;
    if (byte_count(file, &e, &node->shape, in_place ? file->size : tw__inflate_limit(file->size), &bytes) != TW_OK)
        return NULL;
    tw_auto tw_tensor *tensor = tw__tensor_empty(e.dtype, &node->shape);
    if (!tensor)
        return NULL;
    uint8_t *raw = e.dtype == TW_STRING ? tw__alloc(bytes ? bytes : 1) : tensor->data;
    bool good = !bytes || (raw && read_elements(file, node, &e, raw, bytes) == TW_OK);
    good = good && convert(file, &e, tensor, raw) == TW_OK;
    if (e.dtype == TW_STRING)
        tw__free(raw);
    return good ? tw_retain(tensor) : NULL;
}
