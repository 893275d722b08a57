/* NumPy's .npy: one array.
 *
 *     93 "NUMPY", version (major, minor), the header's size (2 bytes in version 1, else 4, little-endian), the header, the
 * elements; the header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Numbers and booleans of either byte order and either order of dimensions are read; structures and objects are not. */
#include <stdlib.h>

#include "codec/codec.h"
#include "format/format.h"

#define FILE_LIMIT ((size_t)1 << 38)

typedef struct header {
    const char *at, *end;
    const char *name; /* the file's */
    tw_dtype dtype;
    bool swapped, fortran;
    tw_shape shape;
    unsigned seen; /* a bit for each of the three fields */
} header;

static tw_status fail(const header *in, const char *what)
{
    return tw__fail(TW_DATA_LOSS, "%s: not an array of NumPy: %s", in->name, what);
}

static void skip_space(header *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n' || *in->at == '\t'))
        in->at++;
}

static bool take(header *in, char wanted)
{
    skip_space(in);
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

/* A quoted string without escapes; true if there is one. */
static bool take_string(header *in, const char **text, size_t *size)
{
    skip_space(in);
    if (in->at == in->end || (*in->at != '\'' && *in->at != '"'))
        return false;
    char quote = *in->at++;
    *text = in->at;
    while (in->at < in->end && *in->at != quote)
        in->at++;
    *size = (size_t)(in->at - *text);
    return in->at < in->end && in->at++;
}

static tw_status take_descr(header *in)
{
    static const struct {
        char code[3];
        tw_dtype dtype;
    } known[] = { { "b1", TW_BOOL },    { "i1", TW_INT8 },    { "i2", TW_INT16 },    { "i4", TW_INT32 },  { "i8", TW_INT64 },
                  { "u1", TW_UINT8 },   { "u2", TW_UINT16 },  { "u4", TW_UINT32 },   { "u8", TW_UINT64 }, { "f2", TW_FLOAT16 },
                  { "f4", TW_FLOAT32 }, { "f8", TW_FLOAT64 }, { "c8", TW_COMPLEX64 } };
    const char *text;
    size_t size;
    if (!take_string(in, &text, &size))
        return tw__fail(TW_UNIMPLEMENTED, "%s: arrays of structures can't be read", in->name);
    if (size < 2 || !strchr("<>|=", text[0]))
        return fail(in, "its descr is no dtype");
    in->swapped = text[0] == '>';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (size == 3 && memcmp(known[i].code, text + 1, 2) == 0)
            in->dtype = known[i].dtype;
    }
    if (size == 4 && memcmp("c16", text + 1, 3) == 0)
        in->dtype = TW_COMPLEX128;
    if (in->dtype == TW_DTYPE_NONE)
        return tw__fail(TW_UNIMPLEMENTED, "%s: arrays of dtype '%.*s' can't be read", in->name, (int)(size < 40 ? size : 40),
                        text);
    return TW_OK;
}

static tw_status take_shape(header *in)
{
    if (!take(in, '('))
        return fail(in, "its shape is no tuple");
    while (!take(in, ')')) {
        int64_t dim = 0;
        const char *begin = in->at;
        for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
            if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, *in->at - '0', &dim))
                return fail(in, "its shape is too large");
        }
        if (in->at == begin)
            return fail(in, "its shape is no tuple of numbers");
        if (in->shape.rank == TW_MAX_RANK)
            return tw__fail(TW_UNIMPLEMENTED, "%s: arrays of more than %d dimensions can't be read", in->name, TW_MAX_RANK);
        in->shape.dims[in->shape.rank++] = dim;
        if (!take(in, ',')) {
            if (!take(in, ')'))
                return fail(in, "its shape is no tuple of numbers");
            break;
        }
    }
    return TW_OK;
}

static tw_status take_field(header *in)
{
    static const char *const names[] = { "descr", "fortran_order", "shape" };
    const char *text;
    size_t size;
    int field = -1;
    if (!take_string(in, &text, &size) || !take(in, ':'))
        return fail(in, "its header is no dictionary");
    for (int i = 0; i < 3; i++) {
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0)
            field = i;
    }
    if (field < 0 || in->seen & 1u << field)
        return fail(in, "its header has other fields");
    in->seen |= 1u << field;
    if (field == 0)
        return take_descr(in);
    if (field == 2)
        return take_shape(in);
    skip_space(in);
    size_t left = (size_t)(in->end - in->at);
    in->fortran = left >= 4 && memcmp(in->at, "True", 4) == 0;
    if (!in->fortran && (left < 5 || memcmp(in->at, "False", 5) != 0))
        return fail(in, "its fortran_order is no boolean");
    in->at += in->fortran ? 4 : 5;
    return TW_OK;
}

static tw_status take_header(header *in)
{
    if (!take(in, '{'))
        return fail(in, "its header is no dictionary");
    while (!take(in, '}')) {
        TW_TRY(take_field(in));
        if (!take(in, ',')) {
            if (!take(in, '}'))
                return fail(in, "its header is no dictionary");
            break;
        }
    }
    return in->seen == 7 ? TW_OK : fail(in, "its header lacks a field");
}

/* From the order in which the first index runs fastest. */
static void copy_turned(const header *in, size_t element, const uint8_t *from, uint8_t *to, int64_t count)
{
    int64_t strides[TW_MAX_RANK], index[TW_MAX_RANK] = { 0 }, stride = 1, at = 0;
    for (int i = 0; i < in->shape.rank; i++) {
        strides[i] = stride;
        stride *= in->shape.dims[i];
    }
    for (int64_t n = 0; n < count; n++) {
        memcpy(to + (size_t)n * element, from + (size_t)at * element, element);
        for (int axis = in->shape.rank - 1; axis >= 0; axis--) {
            at += strides[axis];
            if (++index[axis] < in->shape.dims[axis])
                break;
            at -= strides[axis] * in->shape.dims[axis];
            index[axis] = 0;
        }
    }
}

tw_tensor *tw__npy_parse(const void *data, size_t size, const char *name)
{
    const uint8_t *bytes = data;
    header in = { .name = name };
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3 || (bytes[6] > 1 && size < 12)) {
        fail(&in, "it does not begin as one");
        return NULL;
    }
    size_t begin = bytes[6] == 1 ? 10 : 12, header_size = bytes[6] == 1 ? bytes[8] | (size_t)bytes[9] << 8 : tw__get32(bytes + 8);
    if (header_size > size - begin) {
        fail(&in, "its header is cut off");
        return NULL;
    }
    in.at = (const char *)bytes + begin;
    in.end = in.at + header_size;
    int64_t count;
    size_t wanted, element;
    if (take_header(&in) != TW_OK || tw__shape_count(&in.shape, &count) != TW_OK)
        return NULL;
    element = tw_dtype_size(in.dtype);
    if (__builtin_mul_overflow((size_t)count, element, &wanted) || wanted > size - begin - header_size) {
        tw__fail(TW_DATA_LOSS, "%s: an array of shape %s and dtype %s does not fit in the %zu bytes that are there", name,
                 tw__shape_text(&in.shape), tw_dtype_name(in.dtype), size - begin - header_size);
        return NULL;
    }
    tw_tensor *tensor = tw__tensor_empty(in.dtype, &in.shape);
    if (!tensor)
        return NULL;
    if (in.fortran && in.shape.rank > 1)
        copy_turned(&in, element, bytes + begin + header_size, tensor->data, count);
    else if (wanted)
        memcpy(tensor->data, bytes + begin + header_size, wanted);
    if (in.swapped)
        tw__swap_bytes(tensor->data, wanted, tw__dtype_is_complex(in.dtype) ? element / 2 : element);
    if (in.dtype == TW_BOOL) {
        for (int64_t i = 0; i < count; i++)
            ((uint8_t *)tensor->data)[i] = ((uint8_t *)tensor->data)[i] != 0;
    }
    return tensor;
}

tw_tensor *tw__npy_read(const char *path)
{
    size_t size;
    tw__owned char *data = tw__file_read_all(path, FILE_LIMIT, &size);
    if (!data)
        return NULL;
    return tw__npy_parse(data, size, path);
}
