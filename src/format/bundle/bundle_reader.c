/* Reading the tensors of an open bundle: either byte order, strings, partitioned tensors (bundle_slices.c).
 *
 * A tensor's bytes go straight into its memory and are checked there; large ones in pieces by several threads, whose checksums
 * are then combined. Before memory is asked for, the entry must agree with itself and its bytes must be in the file. */
#include <stdlib.h>

#include "codec/codec.h"
#include "format/bundle/bundle.h"

#define PIECE ((size_t)1 << 20) /* of a large tensor, read and checked by one thread */

static tw_status wrong_checksum(const tw__bundle_reader *reader, const tw__bundle_entry *entry, uint32_t stored, uint32_t found)
{
    return tw__fail(
        TW_DATA_LOSS,
        "TensorBundle at %s shard %d (%lld bytes): Checksum does not match: stored %u vs. calculated on the restored bytes "
        "%u (tensor \"%s\")",
        reader->prefix, (int)entry->shard, (long long)entry->size, stored, found, entry->key);
}

/* A large read in pieces, shared between threads; an error is a thread's own, so it is carried over. */
typedef struct piecewise {
    const tw__file_reader *file;
    int64_t offset;
    char *data;
    size_t size;
    uint32_t *checksums;
    atomic_flag failed;
    tw__saved_error error;
} piecewise;

static void read_pieces(void *context, int64_t begin, int64_t end)
{
    piecewise *work = context;
    for (int64_t i = begin; i < end; i++) {
        size_t at = (size_t)i * PIECE, size = work->size - at < PIECE ? work->size - at : PIECE;
        tw__saved_error before = tw__error_take();
        if (tw__file_read_at(work->file, work->offset + (int64_t)at, work->data + at, size) != TW_OK) {
            tw__saved_error error = tw__error_take();
            if (atomic_flag_test_and_set(&work->failed))
                tw__error_drop(&error);
            else
                work->error = error;
        } else {
            work->checksums[i] = tw__crc32c(work->data + at, size);
        }
        tw__error_restore(before);
    }
}

static tw_status read_large(const tw__file_reader *file, int64_t offset, void *data, size_t size, uint32_t *crc)
{
    int64_t pieces = (int64_t)((size + PIECE - 1) / PIECE);
    piecewise work = { .file = file, .offset = offset, .data = data, .size = size, .failed = ATOMIC_FLAG_INIT };
    work.checksums = tw__alloc_array((size_t)pieces, sizeof *work.checksums);
    TW_NEED(work.checksums);
    tw__parallel(pieces, 1, read_pieces, &work);
    tw_status status = work.error.code;
    if (status != TW_OK)
        tw__error_restore(work.error);
    for (int64_t i = 0; i < pieces; i++)
        *crc = tw__crc32c_combine(*crc, work.checksums[i], i + 1 < pieces ? PIECE : size - (size_t)i * PIECE);
    tw__free(work.checksums);
    return status;
}

tw_status tw__bundle_check_entry(tw__bundle_reader *reader, const tw__bundle_entry *entry, size_t *size)
{
    int64_t count;
    tw_dtype dtype = entry->dtype;
    if (!tw__dtype_is_valid(dtype) || dtype == TW_VARIANT || dtype == TW_RESOURCE)
        return tw__fail(TW_UNIMPLEMENTED, "%s: tensor \"%s\" has dtype %s (number %d), which can't be read", reader->prefix,
                        entry->key, tw_dtype_name(dtype), (int)dtype);
    if (entry->shape.rank < 0)
        return tw__fail(TW_UNIMPLEMENTED, "%s: tensor \"%s\" has more than %d dimensions", reader->prefix, entry->key,
                        TW_MAX_RANK);
    TW_TRY(tw__shape_count(&entry->shape, &count));
    if (dtype == TW_STRING) {
        /* a byte for each length and the four of the checksum are the least */
        if (entry->size < 4 || count > entry->size - 4)
            return tw__fail(TW_DATA_LOSS, "%s: Invalid size in bundle entry: key %s; stored size %lld; expected at least %lld",
                            reader->prefix, entry->key, (long long)entry->size, (long long)count + 4);
        *size = (size_t)entry->size;
    } else if (__builtin_mul_overflow((size_t)count, tw_dtype_size(dtype), size) ||
               (!entry->slices && *size != (uint64_t)entry->size)) {
        return tw__fail(TW_DATA_LOSS, "%s: Invalid size in bundle entry: key %s; stored size %lld; expected size %zu",
                        reader->prefix, entry->key, (long long)entry->size, *size);
    }
    if (entry->slices)
        return tw__bundle_read_slices(reader, entry, NULL);
    tw__file_reader own;
    const tw__file_reader *file;
    TW_TRY(tw__bundle_find_shard(reader, entry, &own, &file));
    tw__file_close(&own);
    return TW_OK;
}

tw_status tw__bundle_read_bytes(tw__bundle_reader *reader, const tw__bundle_entry *entry, void *data)
{
    tw__file_reader own;
    const tw__file_reader *file;
    TW_TRY(tw__bundle_find_shard(reader, entry, &own, &file));
    size_t size = (size_t)entry->size;
    uint32_t crc = 0;
    tw_status status;
    if (size >= 2 * PIECE) {
        status = read_large(file, entry->offset, data, size, &crc);
    } else {
        status = tw__file_read_at(file, entry->offset, data, size);
        if (status == TW_OK)
            crc = tw__crc32c(data, size);
    }
    tw__file_close(&own);
    TW_TRY(status);
    if (entry->dtype == TW_STRING)
        return TW_OK; /* their checksum runs over other bytes */
    if (crc != tw__crc32c_unmask(entry->crc))
        return wrong_checksum(reader, entry, tw__crc32c_unmask(entry->crc), crc);
    if (reader->big_endian) {
        size_t unit = tw_dtype_size(entry->dtype);
        tw__swap_bytes(data, size, tw__dtype_is_complex(entry->dtype) ? unit / 2 : unit);
    }
    return TW_OK;
}

/* The lengths of the strings, then their bytes; checksums as bundle_writer.c says. */
static tw_status parse_strings(tw__bundle_reader *reader, const tw__bundle_entry *entry, const uint8_t *data, tw_tensor *tensor)
{
    const size_t size = (size_t)entry->size;
    size_t lengths_end = 0, total = 0;
    uint32_t crc = 0;
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t length;
        uint8_t bytes[8];
        size_t used = tw__varint_get(data + lengths_end, size - lengths_end, &length);
        if (used == 0 || length > size - total)
            return tw__fail(TW_DATA_LOSS, "%s: the lengths of the strings of \"%s\" are malformed", reader->prefix, entry->key);
        lengths_end += used;
        total += length;
        size_t width = length > UINT32_MAX ? 8 : 4;
        tw__put64(bytes, length);
        if (reader->big_endian)
            tw__swap_bytes(bytes, width, width);
        crc = tw__crc32c_extend(crc, bytes, width);
    }
    if (size - lengths_end < 4 || size - lengths_end - 4 != total)
        return tw__fail(TW_DATA_LOSS, "%s: the strings of \"%s\" have %zu bytes, the entry says %lld", reader->prefix, entry->key,
                        lengths_end + 4 + total, (long long)entry->size);
    uint32_t stored = tw__get32(data + lengths_end);
    if (tw__crc32c_unmask(reader->big_endian ? __builtin_bswap32(stored) : stored) != crc)
        return tw__fail(TW_DATA_LOSS, "%s: The length checksum does not match for the strings of \"%s\"", reader->prefix,
                        entry->key);
    crc = tw__crc32c_extend(crc, data + lengths_end, size - lengths_end);
    if (crc != tw__crc32c_unmask(entry->crc))
        return wrong_checksum(reader, entry, tw__crc32c_unmask(entry->crc), crc);
    const uint8_t *length_at = data, *at = data + lengths_end + 4;
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t length = 0;
        length_at += tw__varint_get(length_at, TW_VARINT_MAX, &length);
        TW_TRY(tw__string_set(tensor, i, at, length));
        at += length;
    }
    return TW_OK;
}

static tw_status read_strings(tw__bundle_reader *reader, const tw__bundle_entry *entry, tw_tensor *tensor)
{
    tw__owned uint8_t *data = tw__alloc((size_t)entry->size);
    TW_NEED(data);
    TW_TRY(tw__bundle_read_bytes(reader, entry, data));
    return parse_strings(reader, entry, data, tensor);
}

static const tw__bundle_entry *must_find(tw__bundle_reader *reader, const char *key)
{
    const tw__bundle_entry *entry = tw__bundle_find(reader, key);
    if (!entry)
        tw__fail(TW_NOT_FOUND, "Key %s not found in checkpoint", key);
    return entry;
}

static tw_status read_elements(tw__bundle_reader *reader, const tw__bundle_entry *entry, void *data)
{
    return entry->slices ? tw__bundle_read_slices(reader, entry, data) : tw__bundle_read_bytes(reader, entry, data);
}

tw_tensor *tw__bundle_read(tw__bundle_reader *reader, const char *key)
{
    const tw__bundle_entry *entry = must_find(reader, key);
    size_t size;
    if (!entry || tw__bundle_check_entry(reader, entry, &size) != TW_OK)
        return NULL;
    tw_tensor *tensor = tw__tensor_empty(entry->dtype, &entry->shape);
    if (!tensor)
        return NULL;
    tw_status status =
        entry->dtype == TW_STRING ? read_strings(reader, entry, tensor) : read_elements(reader, entry, tensor->data);
    if (status != TW_OK) {
        tw_release(tensor);
        return NULL;
    }
    return tensor;
}

/* The names that TensorFlow's runtime prints. */
const char *tw__bundle_dtype_name(tw_dtype dtype)
{
    return dtype == TW_FLOAT32 ? "float" : dtype == TW_FLOAT64 ? "double" : dtype == TW_FLOAT16 ? "half" : tw_dtype_name(dtype);
}

tw_status tw__bundle_read_into(tw__bundle_reader *reader, const char *key, tw_dtype dtype, const tw_shape *shape, void *data)
{
    const tw__bundle_entry *entry = must_find(reader, key);
    size_t size;
    TW_NEED(entry);
    if (entry->dtype != dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "tensor_name = %s; expected dtype %s does not equal original dtype %s", key,
                        tw__bundle_dtype_name(dtype), tw__bundle_dtype_name(entry->dtype));
    if (!tw__shape_equal(&entry->shape, shape))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "tensor_name = %s; shape in shape_and_slice spec %s does not match the shape stored in checkpoint: %s",
                        key, tw__shape_text(shape), tw__shape_text(&entry->shape));
    if (dtype == TW_STRING)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: tensor \"%s\" of strings can't be read into plain memory", reader->prefix, key);
    TW_TRY(tw__bundle_check_entry(reader, entry, &size));
    return read_elements(reader, entry, data);
}
