/* Nested structures of tf.function: arguments into keys and tensors, and structures into others of the same form (structure.c).
 */
#ifndef TW_PY_STRUCTURE_H
#define TW_PY_STRUCTURE_H

#include "extension.h"

/* ---- kinds of values ---- */
extern PyObject *tw__py_structures; /* thalweg._structure, once loaded */
extern PyTypeObject *tw__py_weak_type, *tw__py_members_type, *tw__py_ndarray_type;
bool tw__py_structures_load(void);             /* false: an exception is set */
bool tw__py_too_deep(int depth);               /* sets the exception */
bool tw__py_is_array(PyObject *value);         /* something that becomes a tensor as an argument, but no tensor or variable */
PyObject *tw__py_ordered_keys(PyObject *dict); /* a new list: as they compare, or by their texts if they can't be compared */
PyObject *tw__py_members_of(
    PyObject *value); /* of a value of several tensors that Python makes: (how, list of members), new; None for others */
void *tw__py_object_of(PyObject *value); /* the C object, borrowed; or NULL */
/* Types whose instances are told by identity, neither structures nor arrays: the last ones seen; references. */
PyTypeObject **tw__py_plain_place(PyTypeObject *type);

/* ---- keys (call_key.c) ---- */
/* An array whose memory a tensor of the call is on. */
typedef struct tw__py_lent {
    Py_buffer view;
    size_t tensor; /* its place in the walk's tensors */
} tw__py_lent;

/* The tensors of a call, and what tells it from others. */
typedef struct tw__py_walk {
    tw__key_writer key;
    tw_tensor *
        *tensors; /* borrowed, of the arguments or of `made`; variables by their handles, each once. NULL where a spec stands */
    tw_tensor **made; /* references */
    size_t tensor_count, tensor_capacity, made_count, made_capacity;
    PyObject *owner;  /* the tracer: knows values that are compared by equality. NULL: tensors only, other values don't count */
    bool takes_specs; /* specs may stand for tensors */
    bool named;       /* and their names count */
    int lent_count;
    tw__py_lent lent[4]; /* further arrays are copied */
    tw_tensor *few_tensors[16], *few_made[8];
} tw__py_walk;
void tw__py_walk_begin(tw__py_walk *walk, PyObject *owner, bool takes_specs);
void tw__py_walk_end(tw__py_walk *walk);
/* Takes one argument in; false: an exception is set. */
bool tw__py_walk_value(tw__py_walk *walk, PyObject *value, int depth);
/* The same for an argument that a signature describes: what is no tensor is made one of the spec's dtype. */
bool tw__py_walk_cast(tw__py_walk *walk, PyObject *value, PyObject *spec, int depth);
/* A tensor on an array's memory becomes a copy that may be kept; false: an exception is set. */
bool tw__py_walk_copy(tw__py_walk *walk, size_t tensor);

/* ---- structures into structures (structure.c) ---- */
/* A structure of the same form with other leaves. `name` is the leaf's path, or NULL if none is wanted. Gives a new reference. */
typedef PyObject *(*tw__py_leaf)(void *context, PyObject *leaf, PyObject *name);
PyObject *tw__py_map(PyObject *value, tw__py_leaf leaf, void *context, PyObject *name, int depth);

/* An argument described: specs where tensors and variables are, objects that are told by identity held weakly. Appends to
 * `inputs` what the graph takes (TensorSpecs, variables), to `names` their paths and to `labels` what the placeholders are
 * called. */
typedef struct tw__py_description {
    PyObject *owner;                   /* the tracer: makes weak references */
    PyObject *inputs, *names, *labels; /* lists: what the graph takes, by path and by argument */
    PyObject *label;                   /* of the argument that is described */
    const tw_shape *shapes;            /* of the key's tensors in order; those that are known by more calls */
    int next_shape, variable_count;
} tw__py_description;
PyObject *tw__py_describe(tw__py_description *description, PyObject *value, PyObject *name);
/* A described structure with values in the places of the specs: `values` is a list. */
PyObject *tw__py_pack(PyObject *structure, PyObject *values);
/* What a traced body gave, described; its tensors are appended to the list. */
PyObject *tw__py_results(PyObject *value, PyObject *tensors, PyObject *function);
bool tw__py_structures_start(PyObject *module);

#endif
