/* Calls of ops in expressions, and the scalars and casts that go with them. Of all of them NULL, after a failure, gives NULL: so
 * calls nest and stand one behind the other, and only the last result is looked at.
 *
 *     tw_auto tw_tensor *shifted = TW_BINARY(Sub, x, mean), *squares = TW_UNARY(Square, shifted);     these borrow (op.h)
 *     return TW_G2(Mul, tw_retain(dy), TW_G1(Cos, tw__grad_conj(x)));                                 these take
 */
#ifndef TW_CALLS_H
#define TW_CALLS_H

#include "op/op.h"

/* They take what they are given. */
tw_tensor *tw__grad_call_1(const tw_op *op, tw_tensor *x);
tw_tensor *tw__grad_call_2(const tw_op *op, tw_tensor *x, tw_tensor *y);
tw_tensor *tw__grad_call_number(const tw_op *op, double number, tw_tensor *y); /* op(number, y) */
tw_tensor *tw__grad_call_3(const tw_op *op, tw_tensor *x, tw_tensor *y, tw_tensor *z);
#define TW_G3(op_name, x, y, z) tw__grad_call_3(&tw__op_##op_name, x, y, z)
#define TW_G1(op_name, x) tw__grad_call_1(&tw__op_##op_name, x)
#define TW_G2(op_name, x, y) tw__grad_call_2(&tw__op_##op_name, x, y)
#define TW_GN(op_name, number, y) tw__grad_call_number(&tw__op_##op_name, number, y)

/* Sum or Mean over one axis; TW_NO_INT: over all. */
tw_tensor *tw__reduce_axis(const tw_op *op, tw_tensor *tensor, int64_t axis, bool keep_dims);

/* ---- scalars and casts ---- */
tw_tensor *tw__float_scalar(tw_dtype dtype, double value);         /* an error for other dtypes than floats */
tw_tensor *tw__grad_constant(double value, const tw_tensor *like); /* a scalar of the same dtype */
tw_tensor *tw__count_scalar(tw_tensor *tensor, tw_dtype dtype); /* how many elements it has; by ops where that is not known yet */
void tw__scalar_set(tw_tensor *scalar, double value);           /* of a float scalar that nobody else has */
tw_tensor *tw__cast(tw_tensor *tensor, tw_dtype dtype); /* a new reference; the tensor itself if it has the dtype already */

#endif
