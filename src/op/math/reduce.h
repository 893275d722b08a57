/* Shared by the rows of reductions and their gradients. */
#ifndef TW_OP_REDUCE_H
#define TW_OP_REDUCE_H

#include "op/array/array.h"

/* A bit per axis named in `indices`. */
tw_status tw__reduced_axes(const tw_tensor *indices, int rank, unsigned *axes);
void tw__reduced_shape(const tw_shape *shape, unsigned axes, bool keep_dims, tw_shape *out);

tw_status tw__sum_gradient(tw__gradient *gradient);
tw_status tw__mean_gradient(tw__gradient *gradient);
tw_status tw__prod_gradient(tw__gradient *gradient);
tw_status tw__extremum_gradient(tw__gradient *gradient);
tw_status tw__norm_gradient(tw__gradient *gradient);

#endif
