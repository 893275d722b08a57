/* Values that are no finite numbers: what checks of numbers look for. */
#ifndef TW_NUMERICS_H
#define TW_NUMERICS_H

#include "op/op.h"

typedef struct tw__nonfinite {
    int64_t below, above, not_numbers; /* how many are -Inf, +Inf, NaN */
} tw__nonfinite;

/* Of a float tensor with elements; of any other one there are none. */
tw__nonfinite tw__nonfinite_of(const tw_tensor *tensor);
/* "-Inf, +Inf, and NaN", or whichever of them there are; NULL: none. */
const char *tw__nonfinite_words(const tw__nonfinite *found);

#endif
