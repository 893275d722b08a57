/* What functions of api/ and the front ends share. */
#ifndef TW_API_H
#define TW_API_H

#include "op/op.h"

tw_tensor *tw__true_divide(tw_tensor *x, tw_tensor *y); /* tf.divide and the operator /: integers become floats */

/* A whole number as graphs hold it: int32 where that has room. */
static inline tw_tensor *tw__whole_tensor(int64_t value)
{
    return value == (int32_t)value ? tw_tensor_int((int32_t)value) : tw_tensor_int64(value);
}

#endif
