/* What functions of api/ and the front ends share. */
#ifndef TW_API_H
#define TW_API_H

#include "op/op.h"

tw_tensor *tw__true_divide(tw_tensor *x, tw_tensor *y); /* tf.divide and the operator /: integers become floats */

#endif
