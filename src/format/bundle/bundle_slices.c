/* Partitioned tensors of a bundle: the entry of the name tells the whole shape and the slices; each slice has an entry of its
 * own, with a key of this form ("ordered code", so that keys sort as their parts do):
 *
 *     00, the name with 00 -> 00 ff and ff -> ff 00, 00 01, the rank (a size byte, then that many bytes, big-endian), and for
 * each dimension start and length as signed numbers: 1..10 bytes, as many leading ones as bytes, big-endian; a length of -1 is
 * the full extent
 *
 * All slices together must cover the tensor exactly once. */
#include "codec/message.h"
#include "format/bundle/bundle.h"

/* A small number as a byte: sign bit turned over. Others get the bytes they need, the marks of the size xored into the first two.
 */
static void add_signed(tw__text *key, int64_t value)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? ~value : value);
    int size = 1; /* size bytes hold 7 * size - 1 bits and a sign */
    while (size < 10 && magnitude >> (7 * size - 1 < 63 ? 7 * size - 1 : 63))
        size++;
    uint8_t bytes[10];
    for (int i = 0; i < 10; i++)
        bytes[i] = (uint8_t)(i < 2 ? (value < 0 ? 0xff : 0) : (uint64_t)value >> 8 * (9 - i));
    uint8_t *begin = bytes + 10 - size;
    uint16_t mark = (uint16_t)(0xffff0000u >> size); /* `size` ones */
    begin[0] ^= (uint8_t)(mark >> 8);
    if (size > 1)
        begin[1] ^= (uint8_t)mark;
    tw__text_bytes(key, begin, (size_t)size);
}

void tw__slice_key(tw__text *key, const char *name, size_t name_size, const tw__slice *slice)
{
    tw__text_clear(key);
    tw__text_bytes(key, "", 1);
    for (size_t i = 0; i < name_size; i++) {
        tw__text_bytes(key, &name[i], 1);
        if (name[i] == 0)
            tw__text_bytes(key, "\xff", 1);
        else if (name[i] == '\xff')
            tw__text_bytes(key, "", 1);
    }
    tw__text_bytes(key, "\0\1", 2);
    uint8_t rank[2] = { 1, (uint8_t)slice->whole.rank };
    tw__text_bytes(key, rank[1] ? rank : (const uint8_t *)"", rank[1] ? 2 : 1);
    for (int i = 0; i < slice->whole.rank; i++) {
        add_signed(key, slice->start[i]);
        add_signed(key, slice->length[i]);
    }
}

static bool read_slice(tw_string bytes, const tw_shape *shape, tw__slice *slice)
{
    tw__TensorSliceProto from;
    int rank = 0;
    slice->whole = *shape;
    if (!tw__read_TensorSliceProto(bytes, &from) || from.extent.count != (uint32_t)shape->rank)
        return false;
    for (TW_EACH(TensorSliceProto_Extent, extent, from.extent)) {
        int64_t dim = shape->dims[rank], start = extent.start, length = extent.which_has_length ? extent.length : -1;
        if (start < 0 || start > dim || length < -1 || (length == -1 ? start != 0 : length > dim - start))
            return false;
        slice->start[rank] = start;
        slice->length[rank++] = length;
    }
    return !from.extent.failed;
}

/* Copies a slice's elements to their place, and marks them in `covered`. False: one was there before. */
static bool place_slice(const tw_shape *whole, const tw_shape *part, const tw__slice *slice, size_t element, const char *from,
                        char *to, uint8_t *covered)
{
    int rank = whole->rank;
    int64_t run = rank ? part->dims[rank - 1] : 1, index[TW_MAX_RANK] = { 0 };
    for (int i = 0; i < rank; i++) {
        if (part->dims[i] == 0)
            return true;
    }
    for (;;) {
        int64_t at = 0;
        for (int i = 0; i < rank; i++)
            at = at * whole->dims[i] + slice->start[i] + index[i];
        for (int64_t i = at; i < at + run; i++) {
            if (covered[i / 8] >> i % 8 & 1)
                return false;
            covered[i / 8] |= (uint8_t)(1 << i % 8);
        }
        memcpy(to + (size_t)at * element, from, (size_t)run * element);
        from += (size_t)run * element;
        int axis = rank - 2;
        while (axis >= 0 && ++index[axis] == part->dims[axis])
            index[axis--] = 0;
        if (axis < 0)
            return true;
    }
}

typedef struct assembly {
    tw__bundle_reader *reader;
    const tw__bundle_entry *entry;
    char *data;       /* NULL: only the entries are checked */
    uint8_t *covered; /* a bit for each element */
    int64_t elements; /* in the slices so far */
    tw__text key;
} assembly;

static void assembly_end(assembly *work)
{
    tw__text_free(&work->key);
    tw__free(work->covered);
}

static tw_status bad(const assembly *work, const char *why)
{
    return tw__fail(TW_DATA_LOSS, "the slices of the partitioned tensor \"%s\" %s", work->entry->key, why);
}

static tw_status read_part(assembly *work, const tw__slice *slice)
{
    const tw__bundle_entry *entry = work->entry;
    tw_shape shape = entry->shape;
    int64_t count;
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = slice->length[i] < 0 ? shape.dims[i] : slice->length[i];
    tw__slice_key(&work->key, entry->key, entry->key_size, slice);
    if (work->key.failed)
        return TW_RESOURCE_EXHAUSTED;
    const tw__bundle_entry *part = tw__bundle_find_bytes(work->reader, work->key.data, work->key.size);
    if (!part)
        return bad(work, "are not all in the checkpoint");
    if (part->slices || part->dtype != entry->dtype || !tw__shape_equal(&part->shape, &shape))
        return bad(work, "are not of its dtype and the shapes it names");
    TW_TRY(tw__shape_count(&shape, &count));
    if (__builtin_add_overflow(work->elements, count, &work->elements))
        return bad(work, "overlap");
    size_t size;
    TW_TRY(tw__bundle_check_entry(work->reader, part, &size));
    if (!work->data)
        return TW_OK;
    tw__owned char *bytes = tw__alloc(size);
    if (!bytes)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(tw__bundle_read_bytes(work->reader, part, bytes));
    return !place_slice(&entry->shape, &shape, slice, tw_dtype_size(entry->dtype), bytes, work->data, work->covered)
               ? bad(work, "overlap")
               : TW_OK;
}

tw_status tw__bundle_read_slices(tw__bundle_reader *reader, const tw__bundle_entry *entry, void *data)
{
    tw__auto(assembly_end) assembly work = { .reader = reader, .entry = entry, .data = data };
    tw__many slices = tw__many_of(&tw__type_BundleEntryProto, TW_BundleEntryProto_slices,
                                  (tw_string){ (const char *)entry->slices, entry->slices_size });
    int64_t count;
    if (entry->dtype == TW_STRING)
        return tw__fail(TW_UNIMPLEMENTED, "the partitioned tensor \"%s\" of strings can't be read", entry->key);
    TW_TRY(tw__shape_count(&entry->shape, &count));
    if (data && !(work.covered = tw__alloc_zero((size_t)(count / 8 + 1))))
        return TW_RESOURCE_EXHAUSTED;
    for (tw_string bytes; tw__next_bytes(&slices, &bytes);) {
        tw__slice slice;
        TW_TRY(read_slice(bytes, &entry->shape, &slice) ? read_part(&work, &slice) : bad(&work, "are malformed"));
    }
    if (work.elements != count)
        return bad(&work, "do not cover it exactly once");
    return TW_OK;
}
