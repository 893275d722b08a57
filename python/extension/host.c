/* Python functions as ops: tf.py_function and tf.numpy_function. The graph's node holds a function of the
 * registry (op/host/host.h) whose user is the Python function: it takes a list of tensors or arrays and gives a list of tensors.
 */
#include "extension.h"

/* What the function raised, as an error of the op: its class by TensorFlow's rule, its text and its traceback. Ctrl-C stays what
 * it is. */
static tw_status tell_raised(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        PyException_SetTraceback(value, traceback);
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._host");
    tw__py_auto PyObject *text = module ? PyObject_CallMethod(module, "traceback_of", "O", value) : NULL;
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    tw__py_failed();
    tw_status status = tw__py_plain_error();
    const char *lines = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (status != TW_FOREIGN_ERROR && lines) {
        tw__error_wrap("", "\n");
        tw__error_wrap("", lines);
    }
    return status;
}

/* told(exception): the error that py_function makes of what its function raised. */
static PyObject *told(PyObject *self, PyObject *exception)
{
    (void)self;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    tell_raised();
    tw__py_raise();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

static tw_status call(PyObject *function, const char *token, bool arrays, tw_tensor *const *inputs, int input_count,
                      tw_tensor **outputs, int output_count)
{
    PyObject *list = PyList_New(input_count);
    for (int i = 0; list && i < input_count; i++) {
        PyObject *item = arrays ? tw__py_to_array(inputs[i], true, false) : tw__py_wrap_tensor(tw_retain(inputs[i]));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    tw__py_auto PyObject *results = list ? PyObject_CallFunctionObjArgs(function, list, NULL) : NULL;
    Py_XDECREF(list);
    if (results && (!PyList_Check(results) || PyList_Size(results) != output_count))
        tw__py_error(PyExc_ValueError, "%s returns %zd values, but expects to see %d values.", token,
                     PyList_Check(results) ? PyList_Size(results) : (Py_ssize_t)1, output_count);
    for (int i = 0; results && !PyErr_Occurred() && i < output_count; i++) {
        PyObject *item = PyList_GetItem(results, i);
        if (TW_IS_TENSOR(item) && TW_TENSOR(item)->data)
            outputs[i] = tw_retain(TW_TENSOR(item));
        else
            tw__py_error(PyExc_TypeError, "%s: result %d is no eager tensor: %R", token, i, item);
    }
    return PyErr_Occurred() ? tell_raised() : TW_OK;
}

static tw_status host_call(void *function, const char *token, bool arrays, tw_tensor *const *inputs, int input_count,
                           tw_tensor **outputs, int output_count)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    return call(function, token, arrays, inputs, input_count, outputs, output_count);
}

static void end_function(void *function)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_DECREF((PyObject *)function);
}

/* with_host(function, use): use(token), while the token names the function; nodes that are made there hold it further. */
static PyObject *with_host(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *use;
    if (!PyArg_ParseTuple(args, "OO:with_host", &function, &use))
        return NULL;
    tw__host_function *made = tw__host_register("pyfunc_", NULL, Py_NewRef(function), end_function);
    if (!made)
        return tw__py_raise();
    PyObject *result = PyObject_CallFunction(use, "s", tw__host_token(made));
    tw__host_drop(made);
    return result;
}

static PyMethodDef functions[] = {
    { "with_host", with_host, METH_VARARGS, "Calls the second function with a token of the first." },
    { "told", told, METH_O, "The error that py_function makes of an exception." },
    { 0 },
};

bool tw__py_host_start(PyObject *module)
{
    tw__language.host_call = host_call;
    return PyModule_AddFunctions(module, functions) == 0;
}
