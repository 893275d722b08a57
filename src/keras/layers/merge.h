/* What the layer Dot shares with keras.backend. */
#ifndef TW_MERGE_H
#define TW_MERGE_H

#include "keras/layers/layers.h"

/* Products over one axis of each, batch by batch: a new reference. Ranks are 2 to 6, the axes at least 1. */
tw_tensor *tw__batch_dot(tw_tensor *x, tw_tensor *y, int64_t a, int64_t b);

#endif
