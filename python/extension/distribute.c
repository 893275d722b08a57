/* Strategies: Python functions as what replicas do. Exceptions are kept by Python's side (thalweg/_distribute): those that come
 * out here end the run with a plain error. */
#include <thalweg/distribute.h>

#include "extension.h"

static tw_status run_body(int replica, void *body)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *result = PyObject_CallFunction(body, "i", replica);
    tw_status status = TW_OK;
    if (!result) {
        tw__py_failed();
        status = tw__py_plain_error();
    } else if (result == Py_False) { /* it failed, and keeps its exception */
        status = tw__fail(TW_CANCELLED, "an exception in Python");
    }
    return status;
}

/* strategy_run(strategy, body): body(replica) in every replica; False ends the run. */
static PyObject *strategy_run(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *object, *body;
    if (!PyArg_ParseTuple(arguments, "OO", &object, &body))
        return NULL;
    tw_strategy *strategy = tw__py_unwrap(object, &tw__class_strategy);
    if (!strategy)
        return tw__py_error(PyExc_TypeError, "a strategy is expected, got %R", object);
    if (tw_strategy_run(strategy, run_body, body) != TW_OK)
        return tw__py_raise();
    Py_RETURN_NONE;
}

typedef struct contribution {
    PyObject *value, *result;
} contribution;

static tw_status merge_all(void *const *given, int count, void *function)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *values = PyList_New(count), *results = NULL;
    for (int i = 0; values && i < count; i++) {
        PyObject *value = ((contribution *)given[i])->value;
        Py_INCREF(value);
        PyList_SetItem(values, i, value);
    }
    if (values)
        results = PyObject_CallFunctionObjArgs(function, values, NULL);
    bool good = results && PySequence_Size(results) == count;
    for (int i = 0; good && i < count; i++)
        good = (((contribution *)given[i])->result = PySequence_GetItem(results, i)) != NULL;
    tw_status status = TW_OK;
    if (!good) {
        if (!PyErr_Occurred())
            tw__py_error(PyExc_ValueError, "a merge gave %R where one result for each of %d replicas is expected", results,
                         count);
        tw__py_failed();
        status = tw__py_plain_error();
    }
    return status;
}

/* replica_merge(function, value): function(values of all replicas) gives a list with a result for each. */
static PyObject *replica_merge(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *function;
    contribution own = { NULL, NULL };
    if (!PyArg_ParseTuple(arguments, "OO", &function, &own.value))
        return NULL;
    if (tw_replica_merge(merge_all, function, &own) == TW_OK)
        return own.result;
    Py_XDECREF(own.result);
    return tw__py_raise();
}

static PyMethodDef functions[] = {
    { "strategy_run", strategy_run, METH_VARARGS, "strategy_run(strategy, body): calls body(replica) for every replica." },
    { "replica_merge", replica_merge, METH_VARARGS,
      "replica_merge(function, value): what a function makes of the values of all replicas." },
    { 0 },
};

bool tw__py_strategies_start(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
