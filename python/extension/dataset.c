/* Datasets: iterating from Python without its lock, and what C asks of Python while it waits. */
#include "extension.h"

/* ---- elements ---- */

/* How an element is packed. None: the only tensor; True: a tuple of all; else called with the list of them. */
static PyObject *pack_element(PyObject *pack, tw_tensor **tensors, int count)
{
    if (pack == Py_None)
        return tw__py_wrap_tensor(tensors[0]);
    PyObject *list = pack == Py_True ? PyTuple_New(count) : PyList_New(count);
    for (int i = 0; i < count; i++) {
        PyObject *item = list ? tw__py_wrap_tensor(tensors[i]) : NULL;
        if (!list)
            tw_release(tensors[i]);
        else if (!item || (pack == Py_True ? PyTuple_SetItem(list, i, item) : PyList_SetItem(list, i, item)) < 0)
            Py_CLEAR(list);
    }
    if (!list || pack == Py_True)
        return list;
    PyObject *out = PyObject_CallFunctionObjArgs(pack, list, NULL);
    Py_DECREF(list);
    return out;
}

/* next_element(iterator, pack) */
static PyObject *next_element(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    (void)self;
    struct tw_iterator *iterator = given == 2 ? tw__py_unwrap(arguments[0], &tw__class_iterator) : NULL;
    if (!iterator)
        return PyErr_Occurred() ? NULL : tw__py_error(PyExc_TypeError, "an iterator and how elements are packed are expected");
    int count = tw__iterator_count(iterator);
    if (arguments[1] == Py_None && count != 1)
        return tw__py_error(PyExc_ValueError, "an element has %d tensors", count);
    tw_tensor *few[16], **tensors = count <= 16 ? few : tw__alloc_array((size_t)count, sizeof *tensors);
    if (!tensors)
        return tw__py_raise();
    bool end = false;
    PyThreadState *thread = tw__py_unlock();
    tw_status status = tw__iterator_next(iterator, tensors, &end);
    tw__py_lock(thread);
    PyObject *out = NULL;
    if (status != TW_OK)
        out = tw__py_raise();
    else if (end)
        PyErr_SetNone(PyExc_StopIteration);
    else
        out = pack_element(arguments[1], tensors, count);
    if (tensors != few)
        tw__free(tensors);
    return out;
}

static PyMethodDef functions[] = {
    { "next_element", (PyCFunction)(void (*)(void))next_element, METH_FASTCALL,
      "next_element(iterator, pack): an element as Python sees it." },
    { 0 },
};

bool tw__py_datasets_start(PyObject *module)
{
    tw__language.error_plain = tw__py_plain_error;
    return PyModule_AddFunctions(module, functions) == 0;
}
