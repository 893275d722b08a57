/* Kinds of leaves of an element's structure, for element.c and element_value.c. */
#ifndef TW_DATA_ELEMENT_LEAF_H
#define TW_DATA_ELEMENT_LEAF_H

#include "data/element_spec.h"

typedef enum tw__leaf_kind { TENSOR, RAGGED, SPARSE, DATASET, OPTIONAL, NOTHING, PARTS } tw__leaf_kind;
tw__leaf_kind tw__leaf_kind_of(const void *spec);
/* How many tensors carry the leaf; what they are goes into `flat`, unless it is NULL. */
int tw__leaf_flat(const void *spec, tw_spec *flat);
tw_status tw__leaf_check(const tw_value *leaf); /* whether it is a spec */
/* The spec of a row of what the spec describes: a tree's leaf. */
tw_status tw__leaf_row(void *unused, const tw_value *leaf, tw_value *mapped);
static inline tw_value tw__leaf_of(void *object) /* takes it; NULL gives None */
{
    return (tw_value){ .kind = object ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = object };
}

#endif
