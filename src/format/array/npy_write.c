/* NumPy's files for C programs (<thalweg/arrays.h>), and writing .npy as numpy.save does: version 1.0, little-endian, C order, a
 * header that ends in a newline at a multiple of 64 bytes. */
#include <thalweg/arrays.h>

#include "format/format.h"

tw_tensor *tw_npy_read(const char *path)
{
    return tw__check_given(path, "the path", "tw_npy_read") ? tw__npy_read(path) : NULL;
}

tw_tensor *tw_npz_read(const char *path, const char *member)
{
    return tw__check_given(path, "the path", "tw_npz_read") && tw__check_given(member, "the member's name", "tw_npz_read")
               ? tw__npz_read(path, member)
               : NULL;
}

static const char *code_of(tw_dtype dtype)
{
    static const char *const codes[TW_DTYPE_LIMIT] = {
        [TW_FLOAT32] = "<f4",     [TW_FLOAT64] = "<f8",   [TW_INT32] = "<i4",  [TW_UINT8] = "|u1", [TW_INT16] = "<i2",
        [TW_INT8] = "|i1",        [TW_COMPLEX64] = "<c8", [TW_INT64] = "<i8",  [TW_BOOL] = "|b1",  [TW_UINT16] = "<u2",
        [TW_COMPLEX128] = "<c16", [TW_FLOAT16] = "<f2",   [TW_UINT32] = "<u4", [TW_UINT64] = "<u8"
    };
    return codes[dtype];
}

tw_status tw_npy_write(const char *path, const tw_tensor *tensor)
{
    enum { HEAD = 10, ALIGNED = 64 };
    if (!tw__check_given(path, "the path", "tw_npy_write") || !tw__check(tensor, &tw__tensor_class, "tw_npy_write"))
        return tw__error_status();
    const char *code = code_of(tensor->dtype);
    if (!code || !tensor->data)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_npy_write: %s: a tensor of %s%s can't be written", path,
                        tw_dtype_name(tensor->dtype), tensor->data ? "" : " without elements");
    tw__owned char *shape = tw__shape_tuple(&tensor->shape);
    tw__text text = { 0 };
    tw__text_format(&text, "%c%s%c%c%c%c{'descr': '%s', 'fortran_order': False, 'shape': %s, }", 0x93, "NUMPY", 1, 2, 3, 4, code,
                    shape ? shape : "");
    while (!text.failed && (text.size + 1) % ALIGNED)
        tw__text_add(&text, " ");
    tw__text_add(&text, "\n");
    bool failed = text.failed || !shape;
    tw__file_writer *writer = failed ? NULL : tw__file_create(path);
    if (!writer) {
        tw__text_free(&text);
        return tw__error_status();
    }
    size_t size = text.size - HEAD;
    memcpy(text.data + 6, (const char[]){ 1, 0, (char)(size & 0xff), (char)(size >> 8) }, 4);
    tw_status status = tw__file_write(writer, text.data, text.size);
    tw__text_free(&text);
    if (status == TW_OK)
        status = tw__file_write(writer, tensor->data, tw_tensor_bytes(tensor));
    if (status == TW_OK)
        return tw__file_commit(writer);
    tw__file_abandon(writer);
    return status;
}
