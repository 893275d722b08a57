/* Graph functions and calls of tf.functions, shared by graph_function.c and function_call.c. */
#ifndef TW_PY_FUNCTION_CALL_H
#define TW_PY_FUNCTION_CALL_H

#include "structure.h"

typedef struct tw__py_graph_function {
    PyObject_HEAD tw__function *function;
    PyObject *results; /* their structure; NULL: nothing */
    bool single;       /* they are one tensor */
} tw__py_graph_function;
extern PyTypeObject *tw__py_graph_function_type;

PyObject *tw__py_tensor_list(tw_tensor **tensors, int count); /* takes the tensors */
/* Runs it. Other Python threads may run meanwhile if it takes long. */
tw_status tw__py_run(tw__function *function, tw_tensor *const *arguments, tw_tensor **outputs);
/* The outputs, which are taken, in the structure that was traced. */
PyObject *tw__py_function_results(PyObject *graph_function, tw_tensor **outputs);
bool tw__py_function_calls_start(PyObject *module); /* function_call.c */

/* ---- tf.functions (function_call.c, function_type.c) ---- */
typedef enum tw__py_parameter_kind {
    POSITIONAL_ONLY,
    POSITIONAL_OR_KEYWORD,
    VAR_POSITIONAL,
    KEYWORD_ONLY,
    VAR_KEYWORD
} tw__py_parameter_kind;

typedef struct tw__py_parameter {
    PyObject *name;    /* interned */
    PyObject *initial; /* the default, or NULL */
    PyObject *spec;    /* what input_signature says of it, or NULL */
    tw__py_parameter_kind kind;
} tw__py_parameter;

typedef struct tw__py_traced {
    PyObject_HEAD tw__py_vectorcall vectorcall;
    PyObject *tracer; /* the Python side: traces, and has the public methods */
    PyObject *dict, *weak;
    tw__tracer traces;
    tw__py_parameter *parameters;
    int parameter_count;
} tw__py_traced;

extern PyType_Spec tw__py_traced_spec;
PyObject *tw__py_traced_call(PyObject *callable, PyObject *const *arguments, size_t size, PyObject *names);
PyObject *tw__py_traced_concrete(PyObject *callable, PyObject *given);
/* What keys and traces hold of Python. */
void *tw__py_hold_value(void *value);
void tw__py_drop_value(void *value);
void tw__py_hold_code(const void *code, bool held);

#endif
