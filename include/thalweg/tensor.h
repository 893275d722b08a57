/* Tensors: immutable n-dimensional arrays of TensorFlow's dtypes, in C order. */
#ifndef THALWEG_TENSOR_H
#define THALWEG_TENSOR_H

#include <thalweg/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of TensorFlow's DataType, as they stand in files. */
typedef enum tw_dtype {
    TW_DTYPE_NONE = 0,
    TW_FLOAT32 = 1,
    TW_FLOAT64 = 2,
    TW_INT32 = 3,
    TW_UINT8 = 4,
    TW_INT16 = 5,
    TW_INT8 = 6,
    TW_STRING = 7,
    TW_COMPLEX64 = 8,
    TW_INT64 = 9,
    TW_BOOL = 10,
    TW_QINT8 = 11,
    TW_QUINT8 = 12,
    TW_QINT32 = 13,
    TW_BFLOAT16 = 14,
    TW_QINT16 = 15,
    TW_QUINT16 = 16,
    TW_UINT16 = 17,
    TW_COMPLEX128 = 18,
    TW_FLOAT16 = 19,
    TW_RESOURCE = 20,
    TW_VARIANT = 21,
    TW_UINT32 = 22,
    TW_UINT64 = 23,
    TW_DTYPE_LIMIT = 24
} tw_dtype;

/* Policies, for `dtype` of layers alone: variables of 32 bits, computations in 16. */
#define TW_MIXED_FLOAT16 ((tw_dtype)0x101)
#define TW_MIXED_BFLOAT16 ((tw_dtype)0x102)

typedef tw_dtype tw_dtype_option __attribute__((aligned(8))); /* as tw_flag */

#define TW_MAX_RANK 8

/* rank -1: nothing known; a dimension of -1: not known. A tensor's own shape is always complete. */
typedef struct tw_shape {
    int32_t rank;
    int64_t dims[TW_MAX_RANK];
} tw_shape;

#define TW_SHAPE(...) \
    ((tw_shape){ .rank = (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), .dims = { __VA_ARGS__ } })
#define TW_SCALAR ((tw_shape){ .rank = 0 })
#define TW_UNKNOWN_SHAPE ((tw_shape){ .rank = -1 })

/* Bytes: an element of a string tensor, a text in a tw_value. Where the library gives one, a zero byte follows: a text may be
 * printed and passed on as `data` alone. */
typedef struct tw_string {
    const char *data;
    size_t size;
} tw_string;

/* A borrowed list of integers, for example axes: TW_INTS(0, 1). */
typedef struct tw_ints {
    const int64_t *items;
    int64_t count;
    bool given;  /* false: the argument was left out */
    bool single; /* it was one integer, not a list */
} tw_ints;
#define TW_INTS(...) \
    ((tw_ints){ (const int64_t[]){ __VA_ARGS__ }, (int64_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), true, false })
#define TW_NO_INTS ((tw_ints){ NULL, 0, true, false })

/* A list of tensors. As an argument it is borrowed; as a result it is the caller's, to be given to tw_tensors_free. */
typedef struct tw_tensors {
    tw_tensor **items;
    int64_t count;
} tw_tensors;
#define TW_TENSORS(...) \
    ((tw_tensors){ (tw_tensor *[]){ __VA_ARGS__ }, (int64_t)(sizeof((tw_tensor *[]){ __VA_ARGS__ }) / sizeof(tw_tensor *)) })
TW_API_FUNCTION void tw_tensors_free(tw_tensors *tensors);

TW_API_FUNCTION const char *tw_dtype_name(tw_dtype dtype);
TW_API_FUNCTION tw_dtype tw_dtype_from_name(const char *name); /* TW_DTYPE_NONE if there is none of that name; sets no error */
TW_API_FUNCTION size_t tw_dtype_size(tw_dtype dtype);          /* bytes of one element; 0 for resource and variant */

/* Makers. `data` is copied; NULL gives zeros (empty strings). */
TW_API_FUNCTION tw_tensor *tw_tensor_new(tw_dtype dtype, tw_shape shape, const void *data);
TW_API_FUNCTION tw_tensor *tw_tensor_float(float value);
TW_API_FUNCTION tw_tensor *tw_tensor_double(double value);
TW_API_FUNCTION tw_tensor *tw_tensor_int(int32_t value);
TW_API_FUNCTION tw_tensor *tw_tensor_int64(int64_t value);
TW_API_FUNCTION tw_tensor *tw_tensor_bool(bool value);
TW_API_FUNCTION tw_tensor *tw_tensor_string(const char *data, size_t size);
/* Numbers and texts where a tensor is wanted, inside of a scope: tw_multiply(x, TW_F(2)). */
#define TW_F(value) tw_tensor_float(value)
#define TW_I(value) tw_tensor_int(value)
#define TW_S(text) tw_tensor_string((text), __builtin_strlen(text))
/* Memory of the caller's, used in place: `free_data(context)` is called when the tensor is done with it. If the tensor
 * can't be made, free_data is called at once. */
TW_API_FUNCTION tw_tensor *tw_tensor_borrow(tw_dtype dtype, tw_shape shape, void *data, void (*free_data)(void *context),
                                            void *context);

TW_API_FUNCTION tw_dtype tw_tensor_dtype(const tw_tensor *tensor);
TW_API_FUNCTION tw_shape tw_tensor_shape(const tw_tensor *tensor);
TW_API_FUNCTION int tw_tensor_rank(const tw_tensor *tensor);
TW_API_FUNCTION int64_t tw_tensor_dim(const tw_tensor *tensor, int axis);
TW_API_FUNCTION int64_t tw_tensor_count(const tw_tensor *tensor);
TW_API_FUNCTION size_t tw_tensor_bytes(const tw_tensor *tensor);
TW_API_FUNCTION const void *tw_tensor_data(const tw_tensor *tensor);
/* The value at a flat index, converted; 0 (NAN for double) and an error where that makes no sense. */
TW_API_FUNCTION double tw_tensor_double_at(const tw_tensor *tensor, int64_t index);
TW_API_FUNCTION int64_t tw_tensor_int_at(const tw_tensor *tensor, int64_t index);
TW_API_FUNCTION tw_string tw_tensor_string_at(const tw_tensor *tensor, int64_t index);

/* As Python's str() and repr() print it. The text is the caller's, for free(). */
TW_API_FUNCTION char *tw_tensor_str(const tw_tensor *tensor);
TW_API_FUNCTION char *tw_tensor_repr(const tw_tensor *tensor);
TW_API_FUNCTION tw_status tw_tensor_print(FILE *stream, const tw_tensor *tensor);

/* Lists and values in scopes; see <thalweg/base.h>. */
TW_API_FUNCTION tw_tensors tw_made_tensors(tw_tensors list);
#ifdef TW_SCOPES
static inline void tw_scope_tensors_free(tw_tensors *list)
{
    tw_scope_forget(list ? list->items : NULL);
    tw_tensors_free(list);
}
#define tw_tensors_free(list) tw_scope_tensors_free(list)
#endif

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_tensor_new(...) TW_MADE(tw_tensor *, tw_tensor_new(__VA_ARGS__))
#define tw_tensor_float(...) TW_MADE(tw_tensor *, tw_tensor_float(__VA_ARGS__))
#define tw_tensor_double(...) TW_MADE(tw_tensor *, tw_tensor_double(__VA_ARGS__))
#define tw_tensor_int(...) TW_MADE(tw_tensor *, tw_tensor_int(__VA_ARGS__))
#define tw_tensor_int64(...) TW_MADE(tw_tensor *, tw_tensor_int64(__VA_ARGS__))
#define tw_tensor_bool(...) TW_MADE(tw_tensor *, tw_tensor_bool(__VA_ARGS__))
#define tw_tensor_string(...) TW_MADE(tw_tensor *, tw_tensor_string(__VA_ARGS__))
#define tw_tensor_borrow(...) TW_MADE(tw_tensor *, tw_tensor_borrow(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
