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
    case TW_OS_ERROR:
        return PyExc_OSError;
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
    tw__py_auto PyObject *message = PyUnicode_DecodeUTF8(tw_error_message(), (Py_ssize_t)strlen(tw_error_message()), "replace");
    PyObject *plain = python_class(code);
    bool told = tw__error_now()->reason == TW_REASON_LAYER;
    tw_clear_error();
    if (!message)
        return NULL;
    int index = (int)code > 0 && (int)code < CODES ? (int)code : TW_INTERNAL;
    PyObject *kind = plain ? plain : classes[index] ? classes[index] : PyExc_RuntimeError;
    if (kind == plain && !told) {
        PyErr_SetObject(kind, message);
        return NULL;
    }
    tw__py_auto PyObject *error = kind == classes[index] ? PyObject_CallFunction(kind, "OOO", Py_None, Py_None, message)
                                                         : PyObject_CallFunctionObjArgs(kind, message, NULL);
    if (error && (!told || PyObject_SetAttrString(error, TW_TOLD, Py_True) == 0))
        PyErr_SetObject(kind, error);
    return NULL;
}

/* As TensorFlow names what Python functions in graphs raise. */
static tw_status code_of(PyObject *type)
{
    static PyObject *const *const invalid[] = { &PyExc_TypeError, &PyExc_ValueError };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        if (PyErr_GivenExceptionMatches(type, *invalid[i]))
            return TW_INVALID_ARGUMENT;
    }
    return PyErr_GivenExceptionMatches(type, PyExc_StopIteration)         ? TW_OUT_OF_RANGE
           : PyErr_GivenExceptionMatches(type, PyExc_MemoryError)         ? TW_RESOURCE_EXHAUSTED
           : PyErr_GivenExceptionMatches(type, PyExc_NotImplementedError) ? TW_UNIMPLEMENTED
                                                                          : TW_UNKNOWN;
}

tw_status tw__py_plain_error(void)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_status code = TW_FOREIGN_ERROR;
    if (kept_type && PyErr_GivenExceptionMatches(kept_type, PyExc_Exception)) { /* not Ctrl-C */
        PyErr_NormalizeException(&kept_type, &kept_value, &kept_traceback);
        PyObject *name = PyObject_GetAttrString(kept_type, "__name__"), *text = kept_value ? PyObject_Str(kept_value) : NULL;
        PyObject *message = name && text ? PyUnicode_FromFormat("%U: %U", name, text) : NULL;
        PyObject *own = kept_value ? PyObject_GetAttrString(kept_value, "error_code") : NULL; /* one of tf.errors */
        PyErr_Clear();
        code = own && PyLong_Check(own) ? (tw_status)PyLong_AsLong(own) : code_of(kept_type);
        const char *said = message ? PyUnicode_AsUTF8AndSize(own ? text : message, NULL) : NULL;
        tw_clear_error();
        code = tw__fail(code, "%s", said ? said : "an exception in Python");
        Py_XDECREF(own);
        Py_XDECREF(name);
        Py_XDECREF(text);
        Py_XDECREF(message);
        Py_CLEAR(kept_type);
        Py_CLEAR(kept_value);
        Py_CLEAR(kept_traceback);
        PyErr_Clear();
    }
    return code;
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

/* (type, value, traceback) of the exception that this thread keeps. */
static void *take_kept(void)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *parts[] = { kept_type, kept_value, kept_traceback }, *taken = kept_type ? PyTuple_New(3) : NULL;
    for (int i = 0; taken && i < 3; i++)
        PyTuple_SetItem(taken, i, parts[i] ? parts[i] : Py_NewRef(Py_None));
    if (taken)
        kept_type = kept_value = kept_traceback = NULL;
    else
        PyErr_Clear();
    return taken;
}

static PyObject *part_of(PyObject *tuple, Py_ssize_t i)
{
    PyObject *part = PyTuple_GetItem(tuple, i);
    return part == Py_None ? NULL : Py_NewRef(part);
}

static void give_kept(void *taken)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_XDECREF(kept_type);
    Py_XDECREF(kept_value);
    Py_XDECREF(kept_traceback);
    kept_type = part_of(taken, 0);
    kept_value = part_of(taken, 1);
    kept_traceback = part_of(taken, 2);
    Py_DECREF((PyObject *)taken);
}

PyObject *tw__py_error(PyObject *type, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(type, format, arguments);
    va_end(arguments);
    return NULL;
}

/* Python only notes a signal; whoever runs long asks for it. Who holds the lock meanwhile lets others have it. */
static tw_status check_signals(void)
{
    if (!PyGILState_GetThisThreadState()) /* C's own thread: signals are Python's main thread's */
        return TW_OK;
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_status status = PyErr_CheckSignals() < 0 ? tw__py_failed() : TW_OK;
    if (state.held)
        tw__py_lock(tw__py_unlock());
    return status;
}

bool tw__py_errors_start(PyObject *errors)
{
    tw__language.interrupted = check_signals;
    tw__language.error_take = take_kept;
    tw__language.error_give = give_kept;
    PyObject *list = PyObject_GetAttrString(errors, "_classes"); /* by code; the first is None */
    for (int i = 1; list && i < CODES; i++) {
        classes[i] = PySequence_GetItem(list, i);
        if (!classes[i])
            break;
    }
    Py_XDECREF(list);
    return !PyErr_Occurred();
}
