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

#endif
