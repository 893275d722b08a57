/* Tracing from Python at its barest: `_core._trace_and_call(function, tensors, relax=0, times=1)` traces a Python function of
 * flat tensors and calls what came of it with these tensors, as often as said; it gives the results of all calls in one list.
 * relax 1 traces with every dimension unknown, relax 2 with ranks unknown. The tests replay op cases with it; tf.function stands
 * on the same C functions. */
#include "extension.h"

/* The tensors of a sequence as new references, an array from tw__alloc_array; NULL: an exception is set. */
tw_tensor **tw__py_read_tensors(PyObject *value, int *count)
{
    tw__py_auto PyObject *list = PySequence_List(value);
    if (!list)
        return NULL;
    Py_ssize_t size = PyList_Size(list);
    tw_tensor **tensors = size < INT32_MAX / 2 ? tw__alloc_array((size_t)size + 1, sizeof *tensors) : NULL;
    *count = 0;
    if (!tensors)
        tw__py_raise();
    for (Py_ssize_t i = 0; tensors && i < size; i++) {
        tensors[i] = tw__py_to_tensor(PyList_GetItem(list, i), TW_DTYPE_NONE, TW_HINT);
        if (tensors[i]) {
            *count = (int)i + 1;
            continue;
        }
        while (i-- > 0)
            tw_release(tensors[i]);
        tw__free(tensors);
        tensors = NULL;
    }
    return tensors;
}

PyObject *tw__py_wrap_list(tw_tensor *const *tensors, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *item = tw__py_wrap_tensor(tw_retain(tensors[i]));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

tw_status tw__py_flat_body(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs,
                           int *output_count)
{
    PyObject *list = tw__py_wrap_list(arguments, argument_count);
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    PyObject *result = tuple ? PyObject_CallObject(context, tuple) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(tuple);
    tw_tensor **results = result ? tw__py_read_tensors(result, output_count) : NULL;
    Py_XDECREF(result);
    *outputs = results;
    return results ? TW_OK : tw__py_failed();
}

static tw__function *trace(PyObject *function, tw_tensor *const *tensors, int count, int relax)
{
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    for (int i = 0; dtypes && shapes && i < count; i++) {
        dtypes[i] = tensors[i]->dtype;
        shapes[i] = relax == 2 ? TW_UNKNOWN_SHAPE : tensors[i]->shape;
        for (int k = 0; relax == 1 && k < shapes[i].rank; k++)
            shapes[i].dims[k] = -1;
    }
    return dtypes && shapes ? tw__function_trace_named("traced", NULL, dtypes, shapes, count, tw__py_flat_body, function) : NULL;
}

PyObject *tw__py_trace_and_call(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *function, *values;
    int relax = 0, count = 0, times = 1;
    if (!PyArg_ParseTuple(arguments, "OO|ii", &function, &values, &relax, &times))
        return NULL;
    tw__owned tw_tensor **tensors = tw__py_read_tensors(values, &count);
    if (!tensors)
        return NULL;
    tw_auto tw__function *f = trace(function, tensors, count, relax);
    tw__owned tw_tensor **results = f ? tw__alloc_array((size_t)f->output_count + 1, sizeof *results) : NULL;
    PyObject *list = results ? PyList_New(0) : tw__py_raise();
    for (int call = 0; list && call < times; call++) {
        bool called = tw__function_call(f, tensors, results) == TW_OK;
        tw__py_auto PyObject *part = called ? tw__py_wrap_list(results, f->output_count) : tw__py_raise();
        for (int i = 0; called && i < f->output_count; i++)
            tw_release(results[i]);
        Py_ssize_t end = PyList_Size(list);
        if (!part || PyList_SetSlice(list, end, end, part) < 0)
            Py_CLEAR(list);
    }
    for (int i = 0; i < count; i++)
        tw_release(tensors[i]);
    return list;
}
