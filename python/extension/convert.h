/* Python values into tensors: what convert.c and convert_walk.c share. */
#ifndef TW_PY_CONVERT_H
#define TW_PY_CONVERT_H

#include "extension.h"

typedef enum tw__py_leaf {
    NO_LEAF,
    BOOL_LEAF,
    INT_LEAF,
    FLOAT_LEAF,
    COMPLEX_LEAF,
    STRING_LEAF,
    ARRAY_LEAF,
    SEQUENCE
} tw__py_leaf;
tw__py_leaf tw__py_classify(PyObject *value);

typedef struct tw__py_leaves {
    tw_shape shape;
    tw__py_leaf kind;
    bool any_array, any_tensor, wide; /* wide: an integer that needs 64 bits */
    bool beyond;                      /* one that needs more stands before the first float */
    tw_dtype first_dtype;             /* of the first leaf, if that is an array of floats */
} tw__py_leaves;
bool tw__py_leaves_of(tw__py_leaves *w, PyObject *value, int depth, bool first);

typedef struct tw__py_filling {
    tw_tensor *tensor;
    int64_t at;
    bool natural; /* nobody asked for the dtype */
} tw__py_filling;
bool tw__py_fill_value(tw__py_filling *f, PyObject *value, int depth);

Py_ssize_t tw__py_sequence_size(PyObject *value);
/* A new reference: what is done with an item may run code that takes it out of its list. */
PyObject *tw__py_sequence_item(PyObject *value, Py_ssize_t index);

/* Errors; false. */
bool tw__py_mixed(void);
bool tw__py_out_of_range(void);
bool tw__py_too_large(void);
/* A finite number that is infinite as a float: an error where nobody asked for that dtype, but only outside of graphs. */
bool tw__py_overflows(double number);

#endif
