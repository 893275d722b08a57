/* Running ops: the thread's context, the one door (apply), variables, gradient tapes. */
#ifndef TW_EAGER_H
#define TW_EAGER_H

#include "op/op.h"
#include "base/trackable.h"

/* ---- variables (variable.c) ---- */
/* The state behind a variable's handle; ops see it as a scalar tensor of dtype resource that holds this object. */
typedef struct tw__resource {
    tw_object object;
    tw_dtype dtype;
    tw_shape shape;        /* may be partial */
    tw_tensor *value;      /* NULL: not initialized */
    char *name;
    atomic_flag lock;      /* held while the value is exchanged or changed in place */
    bool trainable;
    uint64_t version;      /* counts the changes */
} tw__resource;

extern const tw_class tw__resource_class;
tw__resource *tw__resource_new(tw_dtype dtype, const tw_shape *shape, const char *name);
tw__resource *tw__resource_of(const tw_tensor *handle); /* borrowed; NULL and an error if it is none */
tw_tensor *tw__resource_read(tw__resource *resource);   /* a new reference; FAILED_PRECONDITION if not initialized */
tw_status tw__resource_assign(tw__resource *resource, tw_tensor *value); /* dtype and shape checked */
/* Under the lock: the value's memory, made exclusive (copied if somebody else sees it), for changing in place. */
tw_status tw__resource_lock(tw__resource *resource, void **data);
void tw__resource_unlock(tw__resource *resource);

struct tw_variable {
    tw_trackable trackable;
    tw_tensor *handle;
    tw__resource *resource;  /* borrowed from the handle */
    char *name;              /* "dense/kernel:0" */
    bool trainable;
};
extern const tw_class tw__class_variable;
tw_variable *tw__variable_new(tw_tensor *initial, const char *name, bool trainable, const tw_shape *shape);
tw_tensor *tw__variable_read(tw_variable *variable); /* through the door, so tapes see it */

/* ---- tapes (tape.c) ---- */
/* Records the call on every tape of the thread that watches one of its inputs; cheap when there is none. */
tw_status tw__tapes_record(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                           tw_tensor *const *outputs, int output_count);
extern _Thread_local int tw__active_tapes; /* recording tapes of the thread */

#endif
