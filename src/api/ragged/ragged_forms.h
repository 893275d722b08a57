/* Forms that functions have for ragged tensors, and what these are made with: inside of ragged_call*.c. */
#ifndef TW_API_RAGGED_FORMS_H
#define TW_API_RAGGED_FORMS_H

#include "api/ragged/ragged_call.h"

typedef struct tw__composite_call {
    tw__temps *t;
    const tw_signature *row;
    const char *args;
    const tw__mixed *mixed;
} tw__composite_call;

/* The place of the row's argument number `which` of that kind; -1: it has none. */
int tw__call_field(const tw_signature *row, tw_kind kind, int which);
/* The value of the tensor argument `which`: a composite, a tensor, or NULL if it was left out. */
void *tw__call_argument(const tw__composite_call *c, int which);
/* Calls the row itself with tensors in the place of its first tensor arguments. */
tw_tensor *tw__call_with(const tw__composite_call *c, tw_tensor *const *tensors, int count);
/* From 0 on; -1 and an error if it is out of bounds. */
int64_t tw__normal_axis(int64_t axis, int rank);

/* A tensor or composite that t owns; NULL on failure. */
void *tw__ragged_expand_form(const tw__composite_call *c);
void *tw__ragged_squeeze_form(const tw__composite_call *c);
void *tw__ragged_reduce_form(const tw__composite_call *c);
void *tw__ragged_reduce_join_form(const tw__composite_call *c);
void *tw__ragged_softmax_form(const tw__composite_call *c);
void *tw__ragged_concat_form(const tw__composite_call *c);
void *tw__ragged_stack_form(const tw__composite_call *c);
void *tw__ragged_members_form(const tw__composite_call *c);
void *tw__ragged_gather_form(const tw__composite_call *c);
void *tw__ragged_gather_nd_form(const tw__composite_call *c);
void *tw__ragged_where_form(const tw__composite_call *c);
void *tw__ragged_tile_form(const tw__composite_call *c);
void *tw__ragged_reverse_form(const tw__composite_call *c);
void *tw__ragged_rank_form(const tw__composite_call *c);
void *tw__ragged_size_form(const tw__composite_call *c);
void *tw__ragged_shape_form(const tw__composite_call *c);
void *tw__ragged_reshape_form(const tw__composite_call *c);
void *tw__ragged_embedding_form(const tw__composite_call *c);
void *tw__ragged_cumsum_form(const tw__composite_call *c);
void *tw__ragged_bincount_form(const tw__composite_call *c);
tw_status tw__ragged_split_form(const tw__composite_call *c, tw_value *result); /* gives a list */

#endif
