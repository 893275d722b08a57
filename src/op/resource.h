/* The state behind variables, as ops see it. */
#ifndef TW_RESOURCE_H
#define TW_RESOURCE_H

#include "op/op.h"

/* The state behind a variable's handle; ops see it as a scalar tensor of dtype resource that holds this object. */
typedef struct tw__resource {
    tw_object object;
    tw_dtype dtype;
    tw_shape shape;   /* may be partial */
    tw_tensor *value; /* NULL: not initialized, or on a device alone */
    char *name;
    _Atomic uint32_t
        lock; /* held while the value is exchanged or changed in place: the holder's tw__process_generation; 0: free */
    bool trainable;
    void *variable;            /* the tw_variable that owns it; not a reference, NULL when it is gone */
    uint64_t version;          /* counts the changes */
    void *session;             /* of a variable in a lasting graph: the session whose value it holds, or NULL */
    struct tw__remote *remote; /* the value on a device (device/pjrt.h), or NULL */
    uint64_t remote_version;   /* the version that it is of: another one is out of date */
} tw__resource;

extern const tw_class tw__resource_class;
tw__resource *tw__resource_new(tw_dtype dtype, const tw_shape *shape, const char *name);
tw__resource *tw__resource_of(const tw_tensor *handle); /* borrowed; NULL and an error if it is none */
tw_tensor *tw__resource_read(tw__resource *resource);   /* a new reference; FAILED_PRECONDITION if not initialized */
tw_status tw__resource_assign(tw__resource *resource, tw_tensor *value); /* dtype and shape checked */
tw_tensor *tw__resource_take(tw__resource *resource); /* the value, which the variable has no longer; NULL if it had none */
bool tw__resource_has_value(tw__resource *resource);
/* The value on a device, put there if need be: a new reference. */
struct tw__remote *tw__resource_remote(tw__resource *resource, int device);
/* From now on the value is this one, on a device. */
void tw__resource_move(tw__resource *resource, struct tw__remote *value);
/* Under the lock: the value's memory, made exclusive (copied if somebody else sees it), for changing in place. */
tw_status tw__resource_lock(tw__resource *resource, void **data);
void tw__resource_unlock(tw__resource *resource);
/* Several at once, all or none, always in the order of their addresses, so that two such calls can't wait for each other. They
 * are different ones; at most TW_RESOURCES_AT_ONCE. data[k] is the memory of resources[k]. */
enum { TW_RESOURCES_AT_ONCE = 4 };
tw_status tw__resources_lock(tw__resource *const *resources, int count, void **data);
void tw__resources_unlock(tw__resource *const *resources, int count);

/* ---- the optimizers' ops (state/optimizer.c) ---- */
/* An op that changes a variable and its slots by a gradient, element by element: where its inputs are, and the loop. The first
 * inputs are the variable and its slots. */
typedef void tw__update_loop(void *const *slots, const void *grad, const double *numbers, int64_t count, bool flag);
enum { TW_UPDATE_NUMBERS = 6 };
typedef struct tw__update {
    int slots; /* inputs 0 … slots - 1, the variable first */
    int8_t numbers[TW_UPDATE_NUMBERS];
    int number_count;
    int grad;
    int indices;      /* of the rows that the gradient is of; 0: it is of the whole variable */
    const char *flag; /* the bool attr that the loop is told, or NULL */
    tw__update_loop *float_loop, *double_loop;
} tw__update;
const tw__update *tw__update_of(const tw_op *op); /* NULL: it is none, or one of rows */

/* ---- a step of Keras's Adam (state/adam.c) ---- */
struct tw__adam;
/* `slots` are the variable, the moments of the gradient and of its square, and with amsgrad the largest of the latter. Changes
 * nothing and says false, without an error, where one pass can't do it: other dtypes than float and double, unequal shapes or
 * dtypes, one variable in two places, one without a value. */
bool tw__adam_fits(tw__resource *const *slots, int count, const tw_tensor *gradient);
tw_status tw__adam_update(tw__resource *const *slots, int count, const tw_tensor *gradient, const struct tw__adam *numbers);
/* The same with a product as the gradient, float32 (tw__adam_step_product); the two sides as MatMul takes them, b not transposed.
 */
bool tw__adam_fits_product(tw__resource *const *slots, int count, const tw_tensor *a, const tw_tensor *b, bool transpose_a);
tw_status tw__adam_update_product(tw__resource *const *slots, const tw_tensor *a, const tw_tensor *b, bool transpose_a,
                                  const struct tw__adam *numbers);

#endif
