/* The choice of boxes by their scores (suppress.c), for the rows of NonMaxSuppression (boxes.c) and CombinedNonMaxSuppression
 * (boxes_combined.c). */
#ifndef TW_SUPPRESS_H
#define TW_SUPPRESS_H

#include "op/op.h"

typedef struct tw__suppression {
    const float *boxes;    /* [count][4]: two corners, rows first; or NULL: */
    const float *overlaps; /* [count][count] */
    const float *scores;
    int64_t count, box_step; /* elements from one box to the next */
    int64_t score_step;
    int64_t limit;                           /* chosen ones at most */
    float threshold, score_threshold, sigma; /* sigma > 0: boxes that overlap lose score instead of being left out */
} tw__suppression;

/* The boxes with the best scores that do not overlap with better ones: their numbers and scores, in falling order. Both have room
 * for `limit` and for no more than `count`. Gives how many, or -1 and an error. */
int64_t tw__suppress(const tw__suppression *job, int64_t *chosen, float *scores);

#endif
