/* Errors both ways: the thread's error becomes a Python exception (tf.errors classes, TypeError …); an exception in Python code
 * that C called becomes TW_FOREIGN_ERROR, and comes out again unchanged when the error reaches Python. */
#include "extension.h"

enum { CODES = 17 };
static PyObject *classes[CODES];
static _Thread_local PyObject *kept_type, *kept_value, *kept_traceback;

static PyObject *python_class(tw_status code)
{
    switch ((int)code) {
    case TW_TYPE_ERROR:
        return PyExc_TypeError;
    case TW_VALUE_ERROR:
        return PyExc_ValueError;
    case TW_INDEX_ERROR:
        return PyExc_IndexError;
    case TW_KEY_ERROR:
        return PyExc_KeyError;
    case TW_LOOKUP_ERROR:
        return PyExc_LookupError;
    case TW_ATTRIBUTE_ERROR:
        return PyExc_AttributeError;
    case TW_ASSERTION_ERROR:
        return PyExc_AssertionError;
    case TW_RUNTIME_ERROR:
        return PyExc_RuntimeError;
    case TW_NOT_IMPLEMENTED_ERROR:
        return PyExc_NotImplementedError;
    default:
        return NULL;
    }
}

PyObject *tw__py_raise(void)
{
    tw_status code = tw_error_code();
    if (code == TW_FOREIGN_ERROR && kept_type) {
        PyErr_Restore(kept_type, kept_value, kept_traceback);
        kept_type = kept_value = kept_traceback = NULL;
        tw_clear_error();
        return NULL;
    }
    if (PyErr_Occurred()) {
        tw_clear_error();
        return NULL;
    }
    PyObject *message = PyUnicode_DecodeUTF8(tw_error_message(), (Py_ssize_t)strlen(tw_error_message()), "replace");
    PyObject *plain = python_class(code);
    tw_clear_error();
    if (!message)
        return NULL;
    if (plain) {
        PyErr_SetObject(plain, message);
    } else {
        int index = (int)code > 0 && (int)code < CODES ? (int)code : TW_INTERNAL;
        PyObject *error = classes[index] ? PyObject_CallFunction(classes[index], "OOO", Py_None, Py_None, message) : NULL;
        if (error)
            PyErr_SetObject(classes[index], error);
        else if (!PyErr_Occurred())
            PyErr_SetObject(PyExc_RuntimeError, message);
        Py_XDECREF(error);
    }
    Py_DECREF(message);
    return NULL;
}

tw_status tw__py_failed(void)
{
    if (tw_error_code() == TW_OK) {
        Py_XDECREF(kept_type);
        Py_XDECREF(kept_value);
        Py_XDECREF(kept_traceback);
        PyErr_Fetch(&kept_type, &kept_value, &kept_traceback);
    } else {
        PyErr_Clear();
    }
    return tw__fail(TW_FOREIGN_ERROR, "an exception in Python");
}

PyObject *tw__py_error(PyObject *type, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(type, format, arguments);
    va_end(arguments);
    return NULL;
}

/* Python only notes a signal; whoever runs long asks for it. */
static tw_status check_signals(void)
{
    tw__py_lock_state state = tw__py_enter();
    tw_status status = PyErr_CheckSignals() < 0 ? tw__py_failed() : TW_OK;
    tw__py_leave(state);
    return status;
}

bool tw__py_errors_start(PyObject *errors)
{
    tw__interrupt_hook = check_signals;
    PyObject *list = PyObject_GetAttrString(errors, "_classes"); /* by code; the first is None */
    for (int i = 1; list && i < CODES; i++) {
        classes[i] = PySequence_GetItem(list, i);
        if (!classes[i])
            break;
    }
    Py_XDECREF(list);
    return !PyErr_Occurred();
}
