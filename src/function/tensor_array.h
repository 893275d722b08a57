/* tf.TensorArray: tensors by index, for loops.
 *
 * An array has one of two forms. Outside of graphs it is a growing table of tensors that writes change: the result of a write is
 * the array itself, and gradients go through the tensors as they are. In a graph it is a list value (op/list): a write gives
 * another array over the changed list, and all of them share what is known of the elements' shape. An array of the first form
 * belongs to one thread at a time. */
#ifndef TW_TENSOR_ARRAY_H
#define TW_TENSOR_ARRAY_H

#include "function/function.h"

typedef struct tw__array_place {
    tw_tensor *tensor; /* NULL: nothing was written, or it was read */
    bool was_read;
} tw__array_place;

typedef struct tw__array_shape {
    tw_object object;
    tw_shape shape;
} tw__array_shape;

struct tw_tensor_array {
    tw_object object;
    tw_dtype dtype;
    bool dynamic, infers, clears; /* may grow; learns the elements' shape; gives up what was read */
    tw__array_shape *element;     /* shared with the arrays that come of this one */
    tw_tensor *flow;              /* the list; NULL: the table is it */
    tw_tensor *size;              /* of a list: as it was given */
    tw__array_place *places;
    int64_t count;
    size_t capacity;
};

/* One for loops: `size` may be symbolic; `shape` NULL: unknown. */
struct tw_tensor_array *tw__array_new(tw_dtype dtype, tw_tensor *size, const tw_shape *shape, bool infers);
tw_tensor *tw__array_read(struct tw_tensor_array *array, tw_tensor *index, const char *name);
struct tw_tensor_array *tw__array_write(struct tw_tensor_array *array, tw_tensor *index, tw_tensor *value, const char *name);
struct tw_tensor_array *tw__array_unstack(struct tw_tensor_array *array, tw_tensor *value, const char *name);
tw_tensor *tw__array_stack(struct tw_tensor_array *array, const char *name);
tw_tensor *tw__array_concat(struct tw_tensor_array *array, const char *name);
/* The array as one tensor, for loops and branches: its list; outside of graphs a variant that holds the array itself. */
tw_tensor *tw__array_flow(struct tw_tensor_array *array);
/* The array that such a tensor is; a new reference. */
struct tw_tensor_array *tw__array_with(struct tw_tensor_array *like, tw_tensor *flow);

/* ---- shared by tensor_array.c and tensor_array_whole.c ---- */
bool tw__array_at_once(const struct tw_tensor_array *array);             /* it is used as a table */
tw_tensor *tw__array_list(struct tw_tensor_array *array);                /* its list; one is made of a table */
tw_tensor *tw__array_item(struct tw_tensor_array *array, int64_t index); /* of a table, or zeros; a new reference */
tw_status tw__array_set(struct tw_tensor_array *array, int64_t index, tw_tensor *value);
/* The places of a table become these tensors, which are taken. */
tw_status tw__array_replace(struct tw_tensor_array *array, tw_tensor **tensors, int64_t count);
tw_status tw__array_check_shape(struct tw_tensor_array *array,
                                const tw_shape *shape); /* of an element that is written into a list */
/* The elements' shape as an input of an op on lists. */
tw_tensor *tw__array_shape_tensor(const tw__part *part, const tw_shape *shape);
tw_shape tw__array_row_shape(const tw_tensor *rows);
#define TW_ARRAY_DTYPE(array_) TW_WITH(TW_A_TYPE("element_dtype", (array_)->dtype))

#endif
