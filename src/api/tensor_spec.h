/* tf.TensorSpec, and the type of variables among a function's arguments. */
#ifndef TW_API_TENSOR_SPEC_H
#define TW_API_TENSOR_SPEC_H

#include "api/composite.h"

typedef struct tw_tensor_spec {
    struct tw_type_spec spec;
    tw_shape shape;
    tw_dtype dtype;
    char *name; /* or NULL */
} tw_tensor_spec;

typedef struct tw_variable_spec {
    struct tw_type_spec spec;
    tw_shape shape;
    tw_dtype dtype;
    bool trainable;
    int64_t alias_id; /* variables of one call with the same number are the same; -1: none */
} tw_variable_spec;

/* New references; the name is copied and may be NULL. */
tw_tensor_spec *tw__tensor_spec_new(tw_dtype dtype, const tw_shape *shape, const char *name);
tw_variable_spec *tw__variable_spec_new(tw_dtype dtype, const tw_shape *shape, bool trainable, int64_t alias_id);
/* TYPE_ERROR "Can not cast … to …" unless a tensor is one of the spec. */
tw_status tw__tensor_spec_check(const tw_tensor_spec *spec, const tw_tensor *tensor);

#endif
