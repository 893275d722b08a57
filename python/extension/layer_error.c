/* Exceptions out of layers, told in Keras's words: which layer it was and what it was called with
 * (python/thalweg/_layer_error.py). */
#include "extension.h"

/* What the function of _layer_error makes of the exception is set in its place, with its traceback. Takes the arguments'
 * reference. */
static void replace(const char *function, PyObject *type, PyObject *error, PyObject *traceback, PyObject *arguments)
{
    PyObject *module = arguments ? PyImport_ImportModule("thalweg._layer_error") : NULL;
    PyObject *call = module ? PyObject_GetAttrString(module, function) : NULL,
             *made = call ? PyObject_CallObject(call, arguments) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(call);
    Py_XDECREF(arguments);
    PyErr_Clear(); /* then the exception stays as it was */
    if (made && made != error && PyExceptionInstance_Check(made)) {
        PyException_SetCause(made, NULL);
        PyException_SetContext(made, NULL);
        if (traceback)
            PyException_SetTraceback(made, traceback);
        PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(made)), made, traceback);
        Py_XDECREF(type);
        Py_XDECREF(error);
        return;
    }
    Py_XDECREF(made);
    PyErr_Restore(type, error, traceback);
}

void tw__py_layer_failed(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) /* not Ctrl-C */
        return;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    replace("of_call", type, error, traceback, Py_BuildValue("(OOOO)", error, self, arguments, keywords));
}

bool tw__py_layer_words(const char *head, const char *tail)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_raise();
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        replace("with_words", type, error, traceback, Py_BuildValue("(Oss)", error, head, tail));
    }
    tw__py_failed();
    return true;
}
