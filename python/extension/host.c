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

/* in_graph(function, tensors, dtypes, arrays): the results of a node that calls the function, which takes and gives a list. */
static PyObject *in_graph(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *tensors, *dtypes;
    int arrays, input_count = 0;
    if (!PyArg_ParseTuple(args, "OOO!p:in_graph", &function, &tensors, &PyList_Type, &dtypes, &arrays))
        return NULL;
    Py_ssize_t count = PyList_Size(dtypes);
    tw_tensor **inputs = tw__py_read_tensors(tensors, &input_count);
    tw__owned tw_dtype *wanted = tw__alloc_array((size_t)count + 1, sizeof *wanted);
    tw_tensor **outputs = tw__alloc_zero(((size_t)count + 1) * sizeof *outputs);
    bool good = inputs && wanted && outputs;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = tw__py_as_dtype(PyList_GetItem(dtypes, i), &wanted[i]);
    tw__host_function *made = good ? tw__host_register("pyfunc_", NULL, Py_NewRef(function), end_function) : NULL;
    tw__naming naming = tw__naming_begin();
    tw_status status = made ? tw__host_in_graph(made, arrays, (tw_tensors){ inputs, input_count }, wanted, (int)count, outputs)
                            : TW_RESOURCE_EXHAUSTED;
    tw_status named = tw__naming_end(naming, NULL, NULL, NULL);
    tw__host_drop(made);
    PyObject *list = NULL;
    bool failed = status != TW_OK || named != TW_OK;
    if (failed && !PyErr_Occurred())
        tw__py_raise();
    else if (!failed && !count && tw__in_lasting() && tw__tracing->node_count) /* an operation, to be run or followed */
        list = tw__py_wrap_operation(tw__tracing->nodes[tw__tracing->node_count - 1]);
    else if (!failed)
        list = tw__py_wrap_list(outputs, (int)count);
    tw__py_release_all(inputs, input_count);
    tw__py_release_all(outputs, outputs ? (int)count : 0);
    return list;
}

static PyMethodDef functions[] = {
    { "host_in_graph", in_graph, METH_VARARGS, "The results of a node that calls a function." },
    { "told", told, METH_O, "The error that py_function makes of an exception." },
    { 0 },
};

bool tw__py_host_start(PyObject *module)
{
    tw__language.host_call = host_call;
    return PyModule_AddFunctions(module, functions) == 0;
}
