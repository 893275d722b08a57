/* Steps that are composed of others: functions of elements that are written in C and see values, not flat tensors. */
#ifndef TW_DATA_COMPOSE_H
#define TW_DATA_COMPOSE_H

#include "data/data.h"

/* Gets the arguments as values of their structures, borrowed, and gives a value, which is the caller's. */
typedef tw_status (*tw__element_body)(void *user, const tw_value *arguments, int count, tw_value *result);
/* For an argument of kind `function` of a step; `user` has to live until the step is made. A new reference. */
void *tw__data_function_of(tw__element_body body, void *user);

/* The dataset with what the body gives of its elements; `exact`: the structure that its elements have then, or NULL. */
struct tw_dataset *tw__data_mapped(struct tw_dataset *input, tw__element_body body, void *user, const tw_value *exact);
/* The same with a function of flat tensors. */
struct tw_dataset *tw__data_mapped_flat(struct tw_dataset *input, tw_body body, void *user);
/* Elements of two datasets as pairs. */
struct tw_dataset *tw__data_zipped(struct tw_dataset *one, struct tw_dataset *other);
/* One tensor as a dataset: once, or again and again. */
struct tw_dataset *tw__data_constant(tw_tensor *tensor, bool for_ever);

/* padded_batch; dimensions that the shapes leave open have the size `filler`, an int64 scalar. */
struct tw_dataset_padded_batch_args;
struct tw_dataset *tw__data_padded(const struct tw_dataset_padded_batch_args *args, tw_tensor *filler);

#endif
