/* IDX, the format of the MNIST files: two zero bytes, the kind of the elements, the number of dimensions, the dimensions (32 bits
 * each), the elements; all big-endian. The file may be compressed by gzip, whose last four bytes tell the size before. */
#include "codec/codec.h"
#include "format/format.h"

#define FILE_LIMIT ((size_t)1 << 36)

static tw_dtype dtype_of(uint8_t kind)
{
    switch (kind) {
    case 0x08:
        return TW_UINT8;
    case 0x09:
        return TW_INT8;
    case 0x0b:
        return TW_INT16;
    case 0x0c:
        return TW_INT32;
    case 0x0d:
        return TW_FLOAT32;
    case 0x0e:
        return TW_FLOAT64;
    }
    return TW_DTYPE_NONE;
}

static tw_tensor *parse(const char *path, const uint8_t *data, size_t size)
{
    tw_shape shape = { .rank = 0 };
    int64_t count;
    size_t wanted;
    tw_dtype dtype = size >= 4 && data[0] == 0 && data[1] == 0 ? dtype_of(data[2]) : TW_DTYPE_NONE;
    if (dtype == TW_DTYPE_NONE || data[3] > TW_MAX_RANK || size < 4 + 4 * (size_t)data[3]) {
        tw__fail(TW_DATA_LOSS, "%s: not an IDX file", path);
        return NULL;
    }
    shape.rank = data[3];
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = __builtin_bswap32(tw__get32(data + 4 + 4 * i));
    size_t begin = 4 + 4 * (size_t)shape.rank;
    if (tw__shape_count(&shape, &count) != TW_OK)
        return NULL;
    if (__builtin_mul_overflow((size_t)count, tw_dtype_size(dtype), &wanted) || wanted != size - begin) {
        tw__fail(TW_DATA_LOSS, "%s: an IDX file of shape %s and dtype %s must not have %zu bytes of elements", path,
                 tw__shape_text(&shape), tw_dtype_name(dtype), size - begin);
        return NULL;
    }
    tw_tensor *tensor = tw_tensor_new(dtype, shape, data + begin);
    if (tensor)
        tw__swap_bytes(tensor->data, wanted, tw_dtype_size(dtype));
    return tensor;
}

tw_tensor *tw__idx_read(const char *path)
{
    size_t size;
    tw__owned uint8_t *data = (uint8_t *)tw__file_read_all(path, FILE_LIMIT, &size);
    if (!data)
        return NULL;
    if (size >= 18 && data[0] == 0x1f && data[1] == 0x8b) {
        size_t plain_size = tw__get32(data + size - 4);
        uint8_t *plain = NULL;
        if (plain_size <= tw__inflate_limit(size))
            plain = tw__alloc(plain_size);
        if (!plain || !tw__inflate(data, size, TW_DEFLATED_GZIP, plain, plain_size)) {
            tw__fail(TW_DATA_LOSS, "%s: the compressed bytes are damaged", path);
            tw__free(plain);
            plain = NULL;
        }
        tw__free(data);
        data = plain;
        size = plain_size;
    }
    return data ? parse(path, data, size) : NULL;
}
