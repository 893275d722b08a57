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
#define TW_CALL_OP(op_, ...) tw__call_of(op_, TW_OPERANDS(__VA_ARGS__))
#define TW_TEMP_OP(op_, ...) ((tw_tensor *)tw__temp(t, tw__call_of(op_, TW_OPERANDS(__VA_ARGS__))))
#define TW_CALL_ALL(outputs_, op_name, ...) \
    tw__call_all(&tw__op_##op_name, outputs_, (int)(sizeof(outputs_) / sizeof *(outputs_)), TW_OPERANDS(__VA_ARGS__))
#define TW_TEMP_ALL(outputs_, op_name, ...) \
    tw__temp_all(t, outputs_, (int)(sizeof(outputs_) / sizeof *(outputs_)), TW_CALL_ALL(outputs_, op_name, __VA_ARGS__))

/* ---- arguments of calls ---- */
#define TW_MAX_OPERANDS 13
typedef struct tw__operand {
    enum { TW_OPERAND_TENSOR, TW_OPERAND_NUMBER, TW_OPERAND_INT, TW_OPERAND_INT64, TW_OPERAND_ATTR } kind;
    union {
        tw_tensor *tensor;
        double number;
        int64_t integer;
        tw_attr attr;
    };
} tw__operand;

static inline tw__operand tw__operand_tensor(tw_tensor *x)
{
    return (tw__operand){ .kind = TW_OPERAND_TENSOR, .tensor = x };
}

static inline tw__operand tw__operand_number(double x)
{
    return (tw__operand){ .kind = TW_OPERAND_NUMBER, .number = x };
}

static inline tw__operand tw__operand_int(int x)
{
    return (tw__operand){ .kind = TW_OPERAND_INT, .integer = x };
}

static inline tw__operand tw__operand_int64(int64_t x)
{
    return (tw__operand){ .kind = TW_OPERAND_INT64, .integer = x };
}

static inline tw__operand tw__operand_attr(tw_attr x)
{
    return (tw__operand){ .kind = TW_OPERAND_ATTR, .attr = x };
}

#define TW_OPERAND(x)                     \
    _Generic((x), tw_attr                 \
             : tw__operand_attr, double   \
             : tw__operand_number, int    \
             : tw__operand_int, int64_t   \
             : tw__operand_int64, default \
             : tw__operand_tensor)(x)
#define TW_OPERANDS(...) (const tw__operand[]){ TW_OPERANDS_OF(__VA_ARGS__) }, TW_ARGUMENT_COUNT(__VA_ARGS__)
#define TW_ARGUMENT_COUNT(...) TW_ARGUMENT_14(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )
#define TW_ARGUMENT_14(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n
#define TW_OPERANDS_OF(...) TW_JOIN(TW_OPERANDS_, TW_ARGUMENT_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define TW_OPERANDS_1(a) TW_OPERAND(a)
#define TW_OPERANDS_2(a, ...) TW_OPERAND(a), TW_OPERANDS_1(__VA_ARGS__)
#define TW_OPERANDS_3(a, ...) TW_OPERAND(a), TW_OPERANDS_2(__VA_ARGS__)
#define TW_OPERANDS_4(a, ...) TW_OPERAND(a), TW_OPERANDS_3(__VA_ARGS__)
#define TW_OPERANDS_5(a, ...) TW_OPERAND(a), TW_OPERANDS_4(__VA_ARGS__)
#define TW_OPERANDS_6(a, ...) TW_OPERAND(a), TW_OPERANDS_5(__VA_ARGS__)
#define TW_OPERANDS_7(a, ...) TW_OPERAND(a), TW_OPERANDS_6(__VA_ARGS__)
#define TW_OPERANDS_8(a, ...) TW_OPERAND(a), TW_OPERANDS_7(__VA_ARGS__)
#define TW_OPERANDS_9(a, ...) TW_OPERAND(a), TW_OPERANDS_8(__VA_ARGS__)
#define TW_OPERANDS_10(a, ...) TW_OPERAND(a), TW_OPERANDS_9(__VA_ARGS__)
#define TW_OPERANDS_11(a, ...) TW_OPERAND(a), TW_OPERANDS_10(__VA_ARGS__)
#define TW_OPERANDS_12(a, ...) TW_OPERAND(a), TW_OPERANDS_11(__VA_ARGS__)
#define TW_OPERANDS_13(a, ...) TW_OPERAND(a), TW_OPERANDS_12(__VA_ARGS__)

tw_tensor *tw__call_of(const tw_op *op, const tw__operand *operands, int count);
tw_status tw__call_all(const tw_op *op, tw_tensor **outputs, int room, const tw__operand *operands, int count);
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
