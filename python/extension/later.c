/* What the package and its modules have once it is asked for: the package's own __getattr__, and the one around those of Python.
 */
#include "extension.h"

/* What is imported only when it is asked for. */
static const struct {
    const char *name, *module;
} lazy[] = {
    { "UnconnectedGradients", "thalweg._enums" },
    { "VariableSynchronization", "thalweg._enums" },
    { "VariableAggregation", "thalweg._enums" },
    { "cond", "thalweg._control" },
    { "while_loop", "thalweg._control" },
    { "switch_case", "thalweg._control" },
    { "case", "thalweg._control" },
    { "map_fn", "thalweg._control" },
    { "vectorized_map", "thalweg._control" },
    { "scan", "thalweg._control" },
    { "foldl", "thalweg._control" },
    { "foldr", "thalweg._control" },
    { "get_static_value", "thalweg._debugging" },
    { "group", "thalweg._debugging" },
    { "grad_pass_through", "thalweg._debugging" },
    { "function", "thalweg._function" },
    { "print", "thalweg._host" },
    { "py_function", "thalweg._host" },
    { "numpy_function", "thalweg._host" },
    { "custom_gradient", "thalweg._gradients" },
    { "recompute_grad", "thalweg._gradients" },
    { "gradients", "thalweg._gradients" },
    { "AggregationMethod", "thalweg._surface" },
    { "CriticalSection", "thalweg._surface" },
    { "IndexedSlicesSpec", "thalweg._specs" },
    { "OptionalSpec", "thalweg._specs" },
    { "TensorArraySpec", "thalweg._specs" },
    { "RegisterGradient", "thalweg._surface" },
    { "get_current_name_scope", "thalweg._surface" },
    { "is_symbolic_tensor", "thalweg._surface" },
    { "load_library", "thalweg._surface" },
    { "load_op_library", "thalweg._surface" },
    { "no_gradient", "thalweg._surface" },
    { "nondifferentiable_batch_function", "thalweg._surface" },
    { "register_tensor_conversion_function", "thalweg._surface" },
    { "variable_creator_scope", "thalweg._surface" },
    { "DeviceSpec", "thalweg._device" },
    { "device", "thalweg._device" },
};
/* What the package has once TensorFlow 1's part is filled, and packages of their own. */
static const char *const filled[] = {
    "Graph", "Operation", "ConfigProto", "enable_eager_execution", "control_dependencies", "import_graph_def"
};
static const char *const packages[] = { "autograph", "nest" };

/* The package's __getattr__. */
static PyObject *later(PyObject *package, PyObject *name)
{
    for (size_t i = 0; i < sizeof lazy / sizeof *lazy; i++) {
        if (PyUnicode_CompareWithASCIIString(name, lazy[i].name) != 0)
            continue;
        PyObject *module = PyImport_ImportModule(lazy[i].module);
        PyObject *value = module ? PyObject_GetAttr(module, name) : NULL;
        Py_XDECREF(module);
        if (value && PyObject_SetAttr(package, name, value) < 0)
            Py_CLEAR(value);
        return value;
    }
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++) {
        if (PyUnicode_CompareWithASCIIString(name, filled[i]) != 0)
            continue;
        PyObject *done = PyObject_CallMethod(package, "_fill_compat", NULL); /* once; then the package has them itself */
        PyObject *dict = done ? PyModule_GetDict(package) : NULL, *value = dict ? PyDict_GetItem(dict, name) : NULL;
        Py_XDECREF(done);
        if (value) {
            Py_INCREF(value);
            return value;
        }
        if (PyErr_Occurred())
            return NULL;
    }
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        if (PyUnicode_CompareWithASCIIString(name, packages[i]) != 0)
            continue;
        tw__owned char *whole = tw__format("thalweg.%s", packages[i]);
        PyObject *module = whole ? PyImport_ImportModule(whole) : tw__py_raise();
        return module;
    }
    tw__py_auto PyObject *own = PyObject_GetAttrString(package, "__name__");
    tw__py_error(PyExc_AttributeError, "module '%S' has no attribute '%U'", own, name);
    return NULL;
}

/* The package's __dir__: those names, too. */
static PyObject *names_of(PyObject *package, PyObject *unused)
{
    (void)unused;
    PyObject *dict = PyModule_GetDict(package), *list = dict ? PyDict_Keys(dict) : NULL;
    tw__py_auto PyObject *all = list ? PySet_New(list) : NULL;
    Py_XDECREF(list);
    size_t counts[] = { sizeof lazy / sizeof *lazy, sizeof filled / sizeof *filled, sizeof packages / sizeof *packages };
    for (size_t i = 0; all && i < counts[0] + counts[1] + counts[2]; i++) {
        const char *text = i < counts[0]               ? lazy[i].name
                           : i < counts[0] + counts[1] ? filled[i - counts[0]]
                                                       : packages[i - counts[0] - counts[1]];
        tw__py_auto PyObject *name = PyUnicode_FromString(text);
        if (!name || PySet_Add(all, name) < 0)
            Py_CLEAR(all);
    }
    return all ? PySequence_List(all) : NULL;
}

PyMethodDef tw__py_package_methods[] = { { "__getattr__", later, METH_O, NULL },
                                         { "__dir__", names_of, METH_NOARGS, NULL },
                                         { 0 } };

/* ---- around a module's __getattr__ ---- */

/* A name that a module does not have is the caller's error: the traceback ends at the caller's line, not in the function that
 * looked for it. */
static void forget_own_frame(void)
{
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *next = traceback ? PyObject_GetAttrString(traceback, "tb_next") : NULL;
    if (next == Py_None) { /* deeper ones are faults inside of what was loaded */
        PyException_SetTraceback(value, Py_None);
        Py_CLEAR(traceback);
    }
    Py_XDECREF(next);
    PyErr_Restore(type, value, traceback);
}

/* `self` is the function, and a lock that is held meanwhile or None. */
static PyObject *ask(PyObject *self, PyObject *name)
{
    PyObject *get = PyTuple_GetItem(self, 0), *lock = PyTuple_GetItem(self, 1);
    PyObject *held = lock == Py_None ? NULL : PyObject_CallMethod(lock, "acquire", NULL);
    if (lock != Py_None && !held)
        return NULL;
    PyObject *value = PyObject_CallFunctionObjArgs(get, name, NULL);
    if (!value)
        forget_own_frame();
    if (!held)
        return value;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *released = PyObject_CallMethod(lock, "release", NULL);
    Py_DECREF(held);
    if (!released) {
        Py_XDECREF(value);
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        return NULL;
    }
    Py_DECREF(released);
    PyErr_Restore(type, error, traceback);
    return value;
}

static PyMethodDef ask_method = { "__getattr__", ask, METH_O, NULL };

static PyObject *make_getter(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *get, *lock;
    if (!PyArg_ParseTuple(args, "OO:_getter", &get, &lock))
        return NULL;
    return PyCFunction_NewEx(&ask_method, args, NULL);
}

PyMethodDef tw__py_later_functions[] = {
    { "_getter", make_getter, METH_VARARGS,
      "A module's __getattr__ that calls a function, while it holds a lock if there is one." },
    { 0 },
};
