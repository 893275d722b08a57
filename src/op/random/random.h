/* Shared by the rows of random ops. */
#ifndef TW_OP_RANDOM_H
#define TW_OP_RANDOM_H

#include "kernel/random.h"
#include "op/op.h"

/* Output 0 has the shape that input 0 holds. */
tw_status tw__random_shape(tw__inference *inference);
/* Fills output 0 from the stream. */
tw_status tw__random_output(tw__kernel *kernel, tw__distribution distribution, tw__philox philox);
/* Fills output 0 with integers in [minval, maxval): inputs `minval` and the one behind it. */
tw_status tw__random_integers(tw__kernel *kernel, int minval, tw__philox philox);
/* Samples classes: logits [rows, classes] -> output 0 [rows, samples]. */
tw_status tw__multinomial_shape(tw__inference *inference);
tw_status tw__multinomial(tw__kernel *kernel, tw__philox philox);

#endif
