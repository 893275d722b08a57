/* Datasets: iterating from Python without its lock, and what C asks of Python while it waits. */
#include "extension.h"

/* ---- elements ---- */

/* Whether all members are TensorSpecs. */
static bool is_plain_tuple(const tw_value *structure)
{
    bool plain = structure->kind == TW_VALUE_TUPLE && !structure->list.form;
    for (int64_t i = 0; plain && i < structure->list.count; i++)
        plain = tw__element_leaf(&structure->list.items[i], &tw__class_tensor_spec) != NULL;
    return plain;
}

/* The element of these tensors, which are taken. */
static PyObject *pack_element(const tw_value *structure, tw_tensor **tensors, int count)
{
    if (tw__element_leaf(structure, &tw__class_tensor_spec))
        return tw__py_wrap_tensor(tensors[0]);
    if (!is_plain_tuple(structure)) {
        tw_value value = { .kind = TW_VALUE_NONE };
        return tw__element_pack(structure, tensors, count, &value) == TW_OK ? tw__py_value(&value) : tw__py_raise();
    }
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; i < count; i++) {
        PyObject *item = tuple ? tw__py_wrap_tensor(tensors[i]) : NULL;
        if (!tuple)
            tw_release(tensors[i]);
        else if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* next_element(iterator) */
static PyObject *next_element(PyObject *self, PyObject *argument)
{
    (void)self;
    struct tw_iterator *iterator = tw__py_unwrap(argument, &tw__class_iterator);
    if (!iterator)
        return PyErr_Occurred() ? NULL : tw__py_error(PyExc_TypeError, "an iterator is expected, got %R", argument);
    int count = tw__iterator_count(iterator);
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
        out = pack_element(tw__iterator_structure(iterator), tensors, count);
    if (tensors != few)
        tw__free(tensors);
    return out;
}

static PyMethodDef functions[] = {
    { "next_element", next_element, METH_O, "next_element(iterator): an element as Python sees it." },
    { 0 },
};

bool tw__py_datasets_start(PyObject *module)
{
    tw__language.error_plain = tw__py_plain_error;
    tw__py_elements_start();
    return PyModule_AddFunctions(module, functions) == 0;
}
