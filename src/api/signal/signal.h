/* What the functions of tf.signal share. What they make on the way is left to `t`; NULL, after a failure, gives NULL. */
#ifndef TW_API_SIGNAL_H
#define TW_API_SIGNAL_H

#include "api/array/array.h"
#include "op/gradient.h"

bool tw__signal_rank(const tw_tensor *x, int least); /* ValueError unless it has so many dimensions, or it is not known yet */
tw_tensor *tw__signal_last(tw__temps *t, tw_tensor *x,
                           int from_end); /* the size of an axis, counted from the end: 1 is the last */
/* While a graph is made: `made` has the dimensions of x without its last `drop` ones, and then these (-1: not known). */
tw_tensor *tw__signal_told(tw_tensor *made, const tw_tensor *x, int drop, int count, const int64_t *dims);
/* x[..., begin:end] by ops; end NULL: to the end. */
tw_tensor *tw__signal_part(tw__temps *t, tw_tensor *x, int64_t begin, tw_tensor *end, int64_t step);
/* Zeros behind the last axis until it has `size` elements; what is longer stays. */
tw_tensor *tw__signal_fill(tw__temps *t, tw_tensor *x, tw_tensor *size);
tw_tensor *tw__signal_rfft(tw__temps *t, tw_tensor *x, tw_tensor *length); /* over the last axis; length: a scalar */
tw_tensor *tw__signal_irfft(tw__temps *t, tw_tensor *x, tw_tensor *length);
tw_tensor *tw__signal_frame(tw__temps *t, tw_tensor *x, int64_t length, int64_t step, bool pad_end, tw_tensor *pad_value,
                            int64_t axis);
tw_tensor *tw__signal_overlap(tw__temps *t, tw_tensor *x, int64_t step);
tw_tensor *tw__signal_dct(tw__temps *t, tw_tensor *x, int64_t type, bool ortho);
bool tw__signal_ortho(const char *norm, bool *ortho); /* ValueError for another word */

#endif
