/* Datasets: iterating from Python without its lock, and what C asks of Python while it waits. */
#include "data/data.h"
#include "extension.h"

/* ---- waiting ---- */

static void *begin_wait(void)
{
    return tw__py_holds_lock() ? tw__py_unlock() : NULL;
}

static void end_wait(void *thread)
{
    tw__py_lock(thread);
}

/* ---- elements ---- */

typedef struct elements {
    PyObject_HEAD struct tw_iterator *iterator;
    PyObject *pack; /* None: the only tensor; True: a tuple of all; else called with the list of them */
} elements;

static PyTypeObject *elements_type;

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

static PyObject *next_element(PyObject *self)
{
    elements *e = (elements *)self;
    int count = tw__iterator_count(e->iterator);
    tw_tensor *few[16], **tensors = count <= 16 ? few : tw__alloc_array((size_t)count, sizeof *tensors);
    if (!tensors)
        return tw__py_raise();
    bool end = false;
    PyThreadState *thread = tw__py_unlock();
    tw_status status = tw__iterator_next(e->iterator, tensors, &end);
    tw__py_lock(thread);
    PyObject *out = status != TW_OK ? tw__py_raise() : end ? NULL : pack_element(e->pack, tensors, count);
    if (tensors != few)
        tw__free(tensors);
    return out;
}

static void end_elements(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    tw_release(((elements *)self)->iterator);
    Py_XDECREF(((elements *)self)->pack);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static int visit_elements(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((elements *)self)->pack);
    return 0;
}

/* elements(iterator, pack) */
static PyObject *make_elements(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object, *pack;
    if (!PyArg_ParseTuple(arguments, "OO", &object, &pack))
        return NULL;
    struct tw_iterator *iterator = tw__py_unwrap(object, &tw__class_iterator);
    if (!iterator)
        return tw__py_error(PyExc_TypeError, "an iterator is expected, got %R", object);
    if (pack == Py_None && tw__iterator_count(iterator) != 1)
        return tw__py_error(PyExc_ValueError, "an element has %d tensors", tw__iterator_count(iterator));
    elements *made = (elements *)PyType_GenericAlloc(elements_type, 0);
    if (!made)
        return NULL;
    made->iterator = tw_retain(iterator);
    Py_INCREF(pack);
    made->pack = pack;
    return (PyObject *)made;
}

static PyType_Slot elements_slots[] = {
    { Py_tp_dealloc, end_elements }, { Py_tp_traverse, visit_elements }, { Py_tp_iter, PyObject_SelfIter },
    { Py_tp_iternext, next_element }, { 0 },
};
static PyType_Spec elements_spec = { "thalweg.Elements", sizeof(elements), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, elements_slots };

static PyMethodDef functions[] = {
    { "elements", make_elements, METH_VARARGS, "elements(iterator, pack): the elements as Python sees them." },
    { 0 },
};

bool tw__py_datasets_start(PyObject *module)
{
    tw__wait_begin_hook = begin_wait;
    tw__wait_end_hook = end_wait;
    tw__data_foreign_hook = tw__py_plain_error;
    elements_type = (PyTypeObject *)PyType_FromSpec(&elements_spec);
    return elements_type && PyModule_AddFunctions(module, functions) == 0;
}
