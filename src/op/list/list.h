/* Lists of tensors as values: what a variant tensor holds for the TensorList ops.
 *
 * A list never changes; ops make new ones. So that a loop may push or set n items in O(n), lists share a store: a list sees those
 * of the store's items that are not younger than itself. The youngest list of a store may fill places that nobody has filled;
 * every other change copies the store first (pointers only). A place without a tensor counts as zeros. */
#ifndef TW_LIST_H
#define TW_LIST_H

#include "op/op.h"

typedef struct tw__list_store {
    tw_object object;
    _Atomic uint32_t lock; /* tw__hold_take */
    tw_tensor **items;     /* NULL: none yet */
    uint64_t *ages;        /* per item: when it came */
    size_t item_capacity, age_capacity;
    int64_t count;
    uint64_t latest;
} tw__list_store;

typedef struct tw__list {
    tw_object object;
    tw_dtype dtype;
    tw_shape shape; /* of every item; may be partial */
    tw__list_store *store;
    int64_t count;
    uint64_t age;
    int64_t limit; /* of the count; -1: none */
} tw__list;

extern const tw_class tw__list_class;

tw__list *tw__list_new(tw_dtype dtype, const tw_shape *shape, int64_t count);
tw__list *tw__list_of(const tw_op *op, const tw_tensor *handle); /* borrowed; NULL and an error if it is none */
/* Item i, a new reference, or NULL without an error: nothing is there. */
tw_tensor *tw__list_get(tw__list *list, int64_t index);
/* New lists. `item` is retained; index == count makes it longer. */
tw__list *tw__list_with(tw__list *list, int64_t index, tw_tensor *item);
tw__list *tw__list_resized(tw__list *list, int64_t count);
tw_tensor *tw__list_zeros_like(const tw_op *op, const tw_tensor *handle);         /* a variant tensor */
tw_tensor *tw__list_add(const tw_op *op, const tw_tensor *a, const tw_tensor *b); /* the same, item by item */

tw_tensor *tw__list_sum(const tw_op *op, tw_tensor *a, tw_tensor *b); /* of two items */

/* ---- for the rows ---- */
/* The list as output i (taken). */
tw_status tw__list_output(tw__kernel *kernel, int index, tw__list *list);
/* The shape that a tensor of dimensions says; -1 alone is the unknown shape. */
tw_status tw__list_shape_from(const tw_op *op, const tw_tensor *tensor, tw_shape *shape);
/* What both say; false: they differ. */
bool tw__list_merge_shapes(const tw_shape *a, const tw_shape *b, tw_shape *out);
tw_status tw__list_check_dtype(const tw__list *list, tw_dtype dtype);
tw_status tw__list_scalar(const tw_op *op, const tw_tensor *tensor, const char *what, int64_t *value);
tw_status tw__list_copy_elements(tw_tensor *to, int64_t at, const tw_tensor *from, int64_t from_at, int64_t count);
tw_tensor *tw__list_zeros(tw_dtype dtype, const tw_shape *shape);
tw_status tw__list_unequal(const tw_shape *a, const tw_shape *b); /* fails */
/* The shape that every item has, as far as the items and the list say; an error if one differs. */
tw_status tw__list_item_shape(tw__list *list, const tw_shape *given, tw_shape *shape);

tw_status tw__list_push_gradient(tw__gradient *g);
tw_status tw__list_pop_gradient(tw__gradient *g);
tw_status tw__list_set_gradient(tw__gradient *g);
tw_status tw__list_get_gradient(tw__gradient *g);
tw_status tw__list_resize_gradient(tw__gradient *g);
tw_status tw__list_stack_gradient(tw__gradient *g);
tw_status tw__list_from_tensor_gradient(tw__gradient *g);
tw_status tw__list_gather_gradient(tw__gradient *g);
tw_status tw__list_scatter_gradient(tw__gradient *g);
tw_status tw__list_scatter_into_gradient(tw__gradient *g);
tw_status tw__list_concat_gradient(tw__gradient *g);
tw_status tw__list_split_gradient(tw__gradient *g);

#endif
