/* The specs of what datasets hold besides tensors (element_spec.c). */
#ifndef TW_DATA_ELEMENT_SPEC_H
#define TW_DATA_ELEMENT_SPEC_H

#include "api/tensor_spec.h"

/* Datasets as elements or arguments; optionals; None. */
typedef struct tw_dataset_spec {
    struct tw_type_spec spec;
    tw_value element; /* the structure of the elements */
    tw_shape shape;
} tw_dataset_spec;
typedef struct tw_optional {
    tw_object object;
    tw_tensor *variant;
    tw_value element;
} tw_optional;
typedef struct tw_optional_spec {
    struct tw_type_spec spec;
    tw_value element;
} tw_optional_spec;

typedef struct tw_nothing_spec {
    struct tw_type_spec spec;
} tw_nothing_spec;

/* New references; the structure is copied. */
tw_value tw__dataset_spec_new(const tw_value *element);
tw_value tw__nothing_spec_new(void);
void *tw__optional_new(tw_tensor *variant, const tw_value *element);
void *tw__optional_spec_new(const tw_value *element);

#endif
