/* Shared by the rows of Fourier transforms: which op does what, and the transform of tensors (transform.c). */
#ifndef TW_OP_SIGNAL_H
#define TW_OP_SIGNAL_H

#include "op/op.h"

typedef enum tw__spectrum { TW_SPECTRUM_COMPLEX, TW_SPECTRUM_OF_REAL, TW_SPECTRUM_TO_REAL } tw__spectrum;

/* A transform over some axes of an array. The last of the axes is the one that real numbers have only half of. */
typedef struct tw__transform {
    tw__spectrum kind;
    bool inverse;
    int count;             /* of axes */
    int axes[TW_MAX_RANK]; /* each once */
    int64_t
        length[TW_MAX_RANK]; /* of the transform along each; where the input is longer it is cut, where shorter zeros follow */
} tw__transform;

tw_status tw__transform_run(const tw__transform *transform, const tw_tensor *input, tw_tensor *output);

#endif
