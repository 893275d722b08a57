/* Calls of ops in expressions, and the scalars, casts and small compositions that go with them.
 *
 *     tw_tensor *y = TW_CALL(Mul, x, 2.0);             a new reference; inputs are borrowed
 *
 *     TW_TEMPS(t);                                     (base/temps.h)
 *     tw_tensor *mean = TW_TEMP(Mean, x, axes, TW_A_BOOL("keep_dims", true));      left to t, which releases it at the block's
 * end return TW_CALL(Mul, TW_TEMP(Sub, x, mean), TW_TEMP(Rsqrt, variance));        so calls nest
 *
 * The arguments are the op's inputs, then its attrs. An input is
 *     a tensor      borrowed. NULL, after a failure, gives NULL: only the last result is looked at
 *     a double      a scalar of the dtype of the first tensor among the inputs
 *     an int        a scalar of int32, such as an axis
 *     an int64_t    a scalar of int64
 * TW_CALL_ALL and TW_TEMP_ALL are for ops with several outputs, which they put into an array: `tw_tensor *made[2]`. They give a
 * status; after a failure the array holds NULLs.
 * TW_CALL_OP and TW_TEMP_OP take the op as a pointer; tw__call (op.h) is the same with arrays. */
#ifndef TW_CALLS_H
#define TW_CALLS_H

#include "base/temps.h"
#include "op/op.h"

#define TW_CALL(op_name, ...) TW_CALL_OP(&tw__op_##op_name, __VA_ARGS__)
#define TW_TEMP(op_name, ...) TW_TEMP_OP(&tw__op_##op_name, __VA_ARGS__)
#define TW_CALL_OP(op_, ...) TW_ORDERED(__COUNTER__, (tw__call_of, op_), __VA_ARGS__)
#define TW_TEMP_OP(op_, ...) TW_ORDERED(__COUNTER__, (tw__temp_of, t, op_), __VA_ARGS__)
#define TW_CALL_ALL(outputs_, op_name, ...)                                                                            \
    TW_ORDERED(__COUNTER__, (tw__call_all, &tw__op_##op_name, outputs_, (int)(sizeof(outputs_) / sizeof *(outputs_))), \
               __VA_ARGS__)
#define TW_TEMP_ALL(outputs_, op_name, ...) \
    tw__temp_all(t, outputs_, (int)(sizeof(outputs_) / sizeof *(outputs_)), TW_CALL_ALL(outputs_, op_name, __VA_ARGS__))

/* ---- arguments of calls ---- */
/* They follow a number that tells their kinds, three bits each, the first one lowest; so a call is a few instructions. Variables
 * hold them before, as arguments of calls are evaluated in any order, and ops shall run from left to right. */
#define TW_MAX_OPERANDS 13
#define TW_OPERAND_BITS 3
enum { TW_OPERAND_END, TW_OPERAND_TENSOR, TW_OPERAND_NUMBER, TW_OPERAND_INT, TW_OPERAND_INT64, TW_OPERAND_ATTR };

/* clang-format off */
#define TW_KIND(x)                                                                                                       \
    (uint64_t)_Generic((x), tw_tensor *: TW_OPERAND_TENSOR, void *: TW_OPERAND_TENSOR, double: TW_OPERAND_NUMBER,        \
                       int: TW_OPERAND_INT, int64_t: TW_OPERAND_INT64, tw_attr: TW_OPERAND_ATTR)
#define TW_PASSED(x) _Generic((x), tw_attr: &(x), default: (x))
/* `id` makes the variables' names the call's own, `head` is the function and its first arguments in brackets. */
#define TW_ORDERED(id, head, ...) TW_ORDERED_BY(TW_ARGUMENT_COUNT(__VA_ARGS__), id, head, __VA_ARGS__)
#define TW_ORDERED_BY(count, id, head, ...)                                           \
    __extension__({                                                                   \
        TW_JOIN(TW_VARIABLES_, count)(id, __VA_ARGS__);                               \
        TW_HEAD head, TW_JOIN(TW_KINDS_, count)(id), TW_JOIN(TW_PASSED_, count)(id)); \
    })
#define TW_HEAD(function, ...) function(__VA_ARGS__
#define TW_ARGUMENT_COUNT(...) TW_ARGUMENT_14(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )
#define TW_ARGUMENT_14(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n
#define TW_VARIABLES_1(id, a) __auto_type TW_JOIN(operand_1_, id) = (a)
#define TW_VARIABLES_2(id, a, ...) __auto_type TW_JOIN(operand_2_, id) = (a); TW_VARIABLES_1(id, __VA_ARGS__)
#define TW_VARIABLES_3(id, a, ...) __auto_type TW_JOIN(operand_3_, id) = (a); TW_VARIABLES_2(id, __VA_ARGS__)
#define TW_VARIABLES_4(id, a, ...) __auto_type TW_JOIN(operand_4_, id) = (a); TW_VARIABLES_3(id, __VA_ARGS__)
#define TW_VARIABLES_5(id, a, ...) __auto_type TW_JOIN(operand_5_, id) = (a); TW_VARIABLES_4(id, __VA_ARGS__)
#define TW_VARIABLES_6(id, a, ...) __auto_type TW_JOIN(operand_6_, id) = (a); TW_VARIABLES_5(id, __VA_ARGS__)
#define TW_VARIABLES_7(id, a, ...) __auto_type TW_JOIN(operand_7_, id) = (a); TW_VARIABLES_6(id, __VA_ARGS__)
#define TW_VARIABLES_8(id, a, ...) __auto_type TW_JOIN(operand_8_, id) = (a); TW_VARIABLES_7(id, __VA_ARGS__)
#define TW_VARIABLES_9(id, a, ...) __auto_type TW_JOIN(operand_9_, id) = (a); TW_VARIABLES_8(id, __VA_ARGS__)
#define TW_VARIABLES_10(id, a, ...) __auto_type TW_JOIN(operand_10_, id) = (a); TW_VARIABLES_9(id, __VA_ARGS__)
#define TW_VARIABLES_11(id, a, ...) __auto_type TW_JOIN(operand_11_, id) = (a); TW_VARIABLES_10(id, __VA_ARGS__)
#define TW_VARIABLES_12(id, a, ...) __auto_type TW_JOIN(operand_12_, id) = (a); TW_VARIABLES_11(id, __VA_ARGS__)
#define TW_VARIABLES_13(id, a, ...) __auto_type TW_JOIN(operand_13_, id) = (a); TW_VARIABLES_12(id, __VA_ARGS__)
#define TW_KINDS_1(id) TW_KIND(TW_JOIN(operand_1_, id))
#define TW_KINDS_2(id) (TW_KIND(TW_JOIN(operand_2_, id)) | TW_KINDS_1(id) << TW_OPERAND_BITS)
#define TW_KINDS_3(id) (TW_KIND(TW_JOIN(operand_3_, id)) | TW_KINDS_2(id) << TW_OPERAND_BITS)
#define TW_KINDS_4(id) (TW_KIND(TW_JOIN(operand_4_, id)) | TW_KINDS_3(id) << TW_OPERAND_BITS)
#define TW_KINDS_5(id) (TW_KIND(TW_JOIN(operand_5_, id)) | TW_KINDS_4(id) << TW_OPERAND_BITS)
#define TW_KINDS_6(id) (TW_KIND(TW_JOIN(operand_6_, id)) | TW_KINDS_5(id) << TW_OPERAND_BITS)
#define TW_KINDS_7(id) (TW_KIND(TW_JOIN(operand_7_, id)) | TW_KINDS_6(id) << TW_OPERAND_BITS)
#define TW_KINDS_8(id) (TW_KIND(TW_JOIN(operand_8_, id)) | TW_KINDS_7(id) << TW_OPERAND_BITS)
#define TW_KINDS_9(id) (TW_KIND(TW_JOIN(operand_9_, id)) | TW_KINDS_8(id) << TW_OPERAND_BITS)
#define TW_KINDS_10(id) (TW_KIND(TW_JOIN(operand_10_, id)) | TW_KINDS_9(id) << TW_OPERAND_BITS)
#define TW_KINDS_11(id) (TW_KIND(TW_JOIN(operand_11_, id)) | TW_KINDS_10(id) << TW_OPERAND_BITS)
#define TW_KINDS_12(id) (TW_KIND(TW_JOIN(operand_12_, id)) | TW_KINDS_11(id) << TW_OPERAND_BITS)
#define TW_KINDS_13(id) (TW_KIND(TW_JOIN(operand_13_, id)) | TW_KINDS_12(id) << TW_OPERAND_BITS)
#define TW_PASSED_1(id) TW_PASSED(TW_JOIN(operand_1_, id))
#define TW_PASSED_2(id) TW_PASSED(TW_JOIN(operand_2_, id)), TW_PASSED_1(id)
#define TW_PASSED_3(id) TW_PASSED(TW_JOIN(operand_3_, id)), TW_PASSED_2(id)
#define TW_PASSED_4(id) TW_PASSED(TW_JOIN(operand_4_, id)), TW_PASSED_3(id)
#define TW_PASSED_5(id) TW_PASSED(TW_JOIN(operand_5_, id)), TW_PASSED_4(id)
#define TW_PASSED_6(id) TW_PASSED(TW_JOIN(operand_6_, id)), TW_PASSED_5(id)
#define TW_PASSED_7(id) TW_PASSED(TW_JOIN(operand_7_, id)), TW_PASSED_6(id)
#define TW_PASSED_8(id) TW_PASSED(TW_JOIN(operand_8_, id)), TW_PASSED_7(id)
#define TW_PASSED_9(id) TW_PASSED(TW_JOIN(operand_9_, id)), TW_PASSED_8(id)
#define TW_PASSED_10(id) TW_PASSED(TW_JOIN(operand_10_, id)), TW_PASSED_9(id)
#define TW_PASSED_11(id) TW_PASSED(TW_JOIN(operand_11_, id)), TW_PASSED_10(id)
#define TW_PASSED_12(id) TW_PASSED(TW_JOIN(operand_12_, id)), TW_PASSED_11(id)
#define TW_PASSED_13(id) TW_PASSED(TW_JOIN(operand_13_, id)), TW_PASSED_12(id)
/* clang-format on */

tw_tensor *tw__call_of(const tw_op *op, uint64_t kinds, ...);
tw_tensor *tw__temp_of(tw__temps *t, const tw_op *op, uint64_t kinds, ...);
tw_status tw__call_all(const tw_op *op, tw_tensor **outputs, int room, uint64_t kinds, ...);
tw_status tw__temp_all(tw__temps *t, tw_tensor *const *tensors, int count, tw_status status);

/* ---- scalars, casts, reductions: new references; NULL gives NULL ---- */
tw_tensor *tw__float_scalar(tw_dtype dtype, double value);         /* an error for other dtypes than floats */
tw_tensor *tw__grad_constant(double value, const tw_tensor *like); /* a scalar of the same dtype */
tw_tensor *tw__count_scalar(tw_tensor *tensor, tw_dtype dtype); /* how many elements it has; by ops where that is not known yet */
void tw__scalar_set(tw_tensor *scalar, double value);           /* of a float scalar that nobody else has */
tw_tensor *tw__cast(tw_tensor *tensor, tw_dtype dtype); /* a new reference; the tensor itself if it has the dtype already */
/* Sum or Mean over one axis; TW_NO_INT: over all. */
tw_tensor *tw__reduce_axis(const tw_op *op, tw_tensor *tensor, int64_t axis, bool keep_dims);

/* ---- left to a list of temporaries (temps.c) ---- */
tw_tensor *tw__temp_int(tw__temps *t, int64_t value, tw_dtype dtype);                         /* a scalar of int32 or int64 */
tw_tensor *tw__temp_ints(tw__temps *t, const int64_t *values, int64_t count, tw_dtype dtype); /* a vector */
tw_tensor *tw__temp_float(tw__temps *t, tw_dtype dtype, double value);                        /* as tw__float_scalar */
tw_tensor *tw__temp_cast(tw__temps *t, tw_tensor *x, tw_dtype dtype);
tw_tensor *tw__temp_shape(tw__temps *t, tw_tensor *x, tw_dtype dtype);  /* as a vector */
tw_tensor *tw__temp_at(tw__temps *t, tw_tensor *vector, int64_t index); /* x[index] along the first dimension */
tw_tensor *tw__temp_slice(tw__temps *t, tw_tensor *x, int64_t begin,
                          int64_t end); /* x[begin:end]; TW_NO_INT: from or to the end */
tw_tensor *tw__temp_concat(tw__temps *t, tw_tensor *const *parts, int count, int64_t axis);
tw_tensor *tw__temp_gather(tw__temps *t, tw_tensor *params, tw_tensor *indices, int64_t axis);
tw_tensor *tw__temp_column(tw__temps *t, tw_tensor *matrix, int64_t index); /* x[:, index] */
tw_tensor *tw__temp_reshape(tw__temps *t, tw_tensor *x, const int64_t *dims, int rank);
tw_tensor *tw__temp_range(tw__temps *t, tw_tensor *limit);                 /* 0 … limit - 1 of its dtype */
tw_tensor *tw__temp_zeros(tw__temps *t, tw_tensor *sizes, tw_dtype dtype); /* zeros or empty texts of that shape */

#endif
