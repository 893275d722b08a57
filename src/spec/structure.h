/* Nested structures: a list, tuple or dict holds others, any other value is a leaf. Leaves stand in the order of the members, of
 * a dict in that of its keys. A container of the embedding language (a named tuple, an ordered dict) is a tuple or dict with a
 * form. */
#ifndef TW_SPEC_STRUCTURE_H
#define TW_SPEC_STRUCTURE_H

#include "spec/spec.h"

bool tw__is_nested(const tw_value *value);
int64_t tw__structure_count(const tw_value *structure); /* of leaves */
/* Visits the leaves in order, until one gives an error. */
typedef tw_status (*tw__leaf_visit)(void *context, const tw_value *leaf);
tw_status tw__structure_each(const tw_value *structure, tw__leaf_visit visit, void *context);
/* The same structure around other leaves, which the function puts into `mapped`. The result owns what it points to. */
typedef tw_status (*tw__leaf_map)(void *context, const tw_value *leaf, tw_value *mapped);
tw_status tw__structure_map(const tw_value *structure, tw__leaf_map map, void *context, tw_value *result);
/* The leaves, borrowed, in an array for tw__free. NULL: no memory. */
const tw_value **tw__structure_leaves(const tw_value *structure, int64_t *count);
/* Whether both are nested alike: tuples of as many members, dicts of the same keys. */
bool tw__structure_alike(const tw_value *one, const tw_value *other);
/* Brings the members of dicts into the order of their keys, which must be texts or integers, and refuses what is too deep. */
tw_status tw__structure_settle(tw_value *structure);
/* As Python writes it; `leaf` writes a leaf. A container with a form is written by the embedding language. */
void tw__structure_text(const tw_value *structure, void (*leaf)(tw__text *text, const tw_value *leaf), tw__text *text);

#endif
