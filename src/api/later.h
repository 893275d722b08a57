/* Axes of tensors whose rank is known only when a graph runs. Negative axes count from the end; one that does not exist is an
 * error of the run. */
#ifndef TW_API_LATER_H
#define TW_API_LATER_H

#include "api/array/array.h"

/* x with two axes in each other's place. */
tw_tensor *tw__swap_axes_later(tw_tensor *x, int64_t first, int64_t second);
/* tf.tensordot over `count` axes of each. */
tw_tensor *tw__tensordot_later(tw_tensor *a, tw_tensor *b, const int64_t *a_axes, const int64_t *b_axes, int64_t count);

#endif
