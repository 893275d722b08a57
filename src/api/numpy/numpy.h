/* tf.experimental.numpy: NumPy's functions on tensors. A row takes its operands as tensors, brings them to the dtype that NumPy
 * gives them together (numpy_types.c), and calls an op or two. What a front end makes of numbers and lists follows from the words
 * in signatures:
 *
 *     tensor<array>    as NumPy's asarray: floats are float64, integers int64
 *     tensor<common>   likewise, but numbers have the common dtype of all such operands
 *     dtype<numpy>     Python's float is float64 */
#ifndef TW_API_NUMPY_H
#define TW_API_NUMPY_H

#include "api/array/array.h"
#include "api/operators.h"
#include "op/calls.h"
#include "spec/spec.h"

/* The dtypes of operands; bit i is dtype i. Numbers alone may give way to arrays. */
typedef struct tw__numpy_types {
    uint32_t arrays, numbers;
    uint32_t least; /* the smallest dtypes that hold the numbers, but those in */
    uint32_t small; /* unsigned ones whose number is not greater than the signed dtype of that size can hold */
} tw__numpy_types;
void tw__numpy_add(tw__numpy_types *types, tw_dtype dtype);
void tw__numpy_add_number(tw__numpy_types *types, const tw_tensor *scalar);
tw_dtype tw__numpy_result(const tw__numpy_types *types); /* TW_DTYPE_NONE: an error is set */
tw_dtype tw__numpy_float(void);                          /* what a float is: float64, unless float32 is preferred */
/* Operators of tensors promote dtypes: experimental_enable_numpy_behavior was called. */
extern _Atomic bool tw__numpy_behaves;
/* A new reference; `plain` tells that the operator is not one of those that promote. */
tw_tensor *tw__numpy_operate(tw__operator which, tw_tensor *a, tw_tensor *b);
bool tw__numpy_operates(tw__operator which);

/* ---- inside of src/api/numpy; what they give is left to t ---- */
/* Casts all to their common dtype, in place. */
tw_status tw__numpy_promote(tw__temps *t, tw_tensor **operands, int64_t count);
/* The same in an array of their own. NULL: an error is set. */
tw_tensor **tw__numpy_promoted(tw__temps *t, tw_tensors operands);
tw_tensor *tw__numpy_floating(tw__temps *t, tw_tensor *x);             /* of integers and truths floats */
tw_tensor *tw__numpy_cast(tw__temps *t, tw_tensor *x, tw_dtype dtype); /* TW_DTYPE_NONE: it stays as it is */
tw_tensor *tw__numpy_flat(tw__temps *t, tw_tensor *x);
tw_tensor *tw__numpy_ints(tw__temps *t, int64_t value, int64_t count); /* a vector of int32 */
/* With ones for dimensions before the first, or behind the last. */
tw_tensor *tw__numpy_wider(tw__temps *t, tw_tensor *x, int before, int behind);
tw_tensor *tw__numpy_move(tw__temps *t, tw_tensor *x, int64_t from, int64_t to);
tw_tensor *tw__numpy_spread(tw__temps *t, tw_tensor *x, tw_tensor *shape); /* broadcast; a number is a shape, too */
bool tw__numpy_rank_known(const tw_tensor *x, const char *function);
bool tw__numpy_axis(const tw_tensor *x, int64_t axis, const char *function, int *normal);
tw_value tw__numpy_pair(tw_tensor *first, tw_tensor *second); /* takes both: a tuple, or None and the error */
tw_tensor *tw__numpy_diagonal(tw__temps *t, tw_tensor *x, int64_t offset, int64_t axis1, int64_t axis2);
static inline bool tw__numpy_whole(tw_dtype dtype) /* integers and truths */
{
    return dtype == TW_BOOL || tw__dtype_is_integer(dtype);
}

#define TW_NUMPY_VALUE_ERROR(...) (tw__fail(TW_VALUE_ERROR, __VA_ARGS__), NULL)

#endif
