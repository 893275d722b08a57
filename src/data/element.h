/* Elements of datasets: structures of values (tensors, ragged and sparse tensors, datasets, optionals, nothing) and of their
 * specs, and the flat tensors that carry them through cursors and functions. Structures are nested by tuples and dicts; a leaf of
 * a spec's structure is an object below TypeSpec. */
#ifndef TW_DATA_ELEMENT_H
#define TW_DATA_ELEMENT_H

#include <thalweg/function.h>

#include "spec/structure.h"

/* ---- structures of specs ---- */
tw_status tw__element_check(const tw_value *structure); /* whether it is one */
/* What the flat tensors are: an array for tw__free. NULL: an error. */
tw_spec *tw__element_specs(const tw_value *structure, int *count);
/* One spec, or a tuple of several. */
tw_status tw__element_of_specs(const tw_spec *specs, int count, tw_value *structure);
/* The structure with other dtypes and shapes of its tensors; leaves that are no TensorSpec stay. */
tw_status tw__element_renewed(const tw_value *structure, const tw_spec *specs, tw_value *renewed);
/* That of batches of what is no tensor itself (size -1: unknown), and of rows. */
tw_status tw__element_batched(const tw_value *structure, int64_t size, tw_value *batched);
tw_status tw__element_row(const tw_value *structure, tw_value *row);
bool tw__element_same(const tw_value *one, const tw_value *other); /* equal specs, nested alike */
bool tw__element_fits(const tw_value *one, const tw_value *other); /* nested alike, of the same dtypes and kinds */
char *tw__element_text(const tw_value *structure);                 /* as Python writes it; for tw__free */
bool tw__element_is_composite(const tw_value *structure);          /* has a ragged or sparse leaf */
/* The spec, if the structure is a leaf of that class; borrowed. */
const void *tw__element_leaf(const tw_value *structure, const tw_class *class_row);

/* The structure that holds of a state in every round; a TypeError if the state changes more than its shapes. `invalid`: the
 * argument that errors name, "scan_func" or "reducer", or NULL. */
tw_status tw__element_state(const tw_value *before, const tw_value *after, const char *invalid, tw_value *state);

/* ---- values ---- */
/* The structure of a value's specs. */
tw_status tw__element_structure(const tw_value *value, tw_value *structure);
/* The flat tensors of a value of that structure: references, in an array for tw__free. NULL: an error. */
tw_tensor **tw__element_tensors(const tw_value *value, const tw_value *structure, int *count);
void tw__element_tensors_free(tw_tensor **tensors, int count);
/* The tensors whose rows are the value's rows, and the structure of a row. */
tw_tensor **tw__element_rows(const tw_value *value, tw_value *row, int *count);
/* The value of flat tensors, which are taken, also after a failure. */
tw_status tw__element_pack(const tw_value *structure, tw_tensor **tensors, int count, tw_value *value);

#endif
