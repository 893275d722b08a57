/* Values that a function makes on its way and lets go of together at its end, so that calls nest:
 *
 *     tw__temps t = { 0 };
 *     tw_tensor *lengths = TW_K(Sub, tw__tail(&t, splits), tw__head(&t, splits));
 *     return tw__temps_end(&t, lengths);
 *
 * NULL, after a failure, passes through every call. The macros need the temps as `t`, a pointer. */
#ifndef TW_API_TEMPS_H
#define TW_API_TEMPS_H

#include "api/array/array.h"

typedef struct tw__temps {
    void **items;
    size_t count, capacity;
} tw__temps;

void *tw__temp(tw__temps *t, void *made); /* takes it, gives it back borrowed */
void tw__temps_free(tw__temps *t);
void *tw__temps_end(tw__temps *t, void *result); /* the result as a reference of its own; everything else goes */

#define TW_K(op_name, ...)                                                    \
    ((tw_tensor *)tw__temp(t, tw__call(&tw__op_##op_name, TW_IN(__VA_ARGS__), \
                                       (int)(sizeof(TW_IN(__VA_ARGS__)) / sizeof(tw_tensor *)), NULL, 0)))
/* With attrs: TW_KA(Cast, TW_IN(x), TW_WITH(TW_A_TYPE("DstT", dtype))). */
#define TW_KA(op_name, inputs_, attrs_) ((tw_tensor *)tw__temp(t, TW_CALL(op_name, inputs_, attrs_)))

tw_tensor *tw__temp_int(tw__temps *t, int64_t value, tw_dtype dtype);                         /* a scalar of int32 or int64 */
tw_tensor *tw__temp_ints(tw__temps *t, const int64_t *values, int64_t count, tw_dtype dtype); /* a vector */
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
