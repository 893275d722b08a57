/* Branches and loops while a graph is traced, for the Python side (_control.py), which flattens structures: functions here take and give
 * lists of tensors. */
#include "extension.h"
#include "function/control.h"

PyObject *tw__py_is_tracing(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(tw__tracing != NULL);
}

static void release_all(tw_tensor **tensors, int count)
{
    for (int i = 0; tensors && i < count; i++)
        tw_release(tensors[i]);
    tw__free(tensors);
}

PyObject *tw__py_cond(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *predicate, *then_function, *else_function;
    if (!PyArg_ParseTuple(arguments, "OOO", &predicate, &then_function, &else_function))
        return NULL;
    tw_tensor *truth = tw__py_to_tensor(predicate, TW_DTYPE_NONE, TW_HINT);
    if (!truth)
        return NULL;
    tw_tensor **outputs = NULL;
    int count = 0;
    tw_status status = tw__cond(truth, tw__py_flat_body, then_function, tw__py_flat_body, else_function, &outputs, &count);
    tw_release(truth);
    PyObject *list = status == TW_OK ? tw__py_wrap_list(outputs, count) : tw__py_raise();
    if (status == TW_OK)
        release_all(outputs, count);
    return list;
}

PyObject *tw__py_while(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *cond, *body, *values, *invariants, *maximum;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &cond, &body, &values, &invariants, &maximum))
        return NULL;
    int count = 0;
    tw_tensor **tensors = tw__py_read_tensors(values, &count);
    if (!tensors)
        return NULL;
    tw_tensor **outputs = tw__alloc_array((size_t)count + 1, sizeof *outputs);
    tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    tw_tensor *limit = maximum == Py_None ? NULL : tw__py_to_tensor(maximum, TW_INT32, TW_FORCE);
    bool good = outputs && shapes && (limit || maximum == Py_None);
    for (int i = 0; good && i < count; i++) {
        PyObject *shape = PySequence_GetItem(invariants, i);
        const tw_shape *known = shape ? tw__py_shape_of(shape) : NULL;
        good = shape && (known || shape == Py_None);
        shapes[i] = known ? *known : tensors[i]->shape;
        Py_XDECREF(shape);
    }
    PyObject *list = NULL;
    if (good) {
        tw__loop loop = { .cond = tw__py_flat_body, .body = tw__py_flat_body, .cond_context = cond, .body_context = body, .values = tensors,
                          .shapes = shapes, .count = count, .maximum = limit };
        if (tw__while(&loop, outputs) != TW_OK) {
            tw__py_raise();
        } else {
            list = tw__py_wrap_list(outputs, count);
            release_all(outputs, count);
            outputs = NULL;
        }
    } else if (!PyErr_Occurred()) {
        tw__py_raise();
    }
    tw_release(limit);
    tw__free(outputs);
    tw__free(shapes);
    release_all(tensors, count);
    return list;
}
