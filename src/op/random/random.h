/* Shared by the rows of random ops. */
#ifndef TW_OP_RANDOM_H
#define TW_OP_RANDOM_H

#include "kernel/random/random.h"
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

/* The rows of input 0 in random order. */
tw_status tw__random_shuffle(tw__kernel *kernel, tw__philox philox);
/* The stream of a stateful op as it stands, which is then moved on by `groups`. */
tw_status tw__random_draw(tw__kernel *kernel, uint64_t groups, tw__philox *philox);
/* The same of a stream in a variable (input 0), which is moved on by 256 times `skip`. `before`: where the state as it was goes,
 * or NULL. */
tw_status tw__generator_draw(tw__kernel *kernel, int64_t algorithm, uint64_t skip, tw__philox *philox, int64_t *before);
/* The stream of a seed, and of a key, counter and algorithm (inputs 1 to 3), and the checks of their shapes. */
tw_status tw__random_check_seed(const tw__inference *inference, int input);
tw__philox tw__philox_of_seed(const tw_tensor *seed);
tw_status tw__random_key_shape(tw__inference *inference);
tw_status tw__philox_of_key(tw__kernel *kernel, tw__philox *philox);

#endif
