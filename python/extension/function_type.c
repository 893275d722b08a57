/* The Python type Function: how a tf.function is made, what Python asks of it, and how the collector sees it. Calls are in
 * function_call.c. */
#include "function_call.h"

/* ---- methods that are Python's ---- */

/* tracer.METHOD(self, *args, **kwargs) */
static PyObject *python_method(PyObject *callable, const char *name, PyObject *args, PyObject *kwargs)
{
    tw__py_auto PyObject *method = PyObject_GetAttrString(((tw__py_traced *)callable)->tracer, name);
    Py_ssize_t count = PyTuple_Size(args);
    tw__py_auto PyObject *all = method ? PyTuple_New(count + 1) : NULL;
    for (Py_ssize_t i = 0; all && i <= count; i++) {
        PyObject *item = i ? PyTuple_GetItem(args, i - 1) : callable;
        Py_INCREF(item);
        PyTuple_SetItem(all, i, item);
    }
    return all ? PyObject_Call(method, all, kwargs) : NULL;
}

static PyObject *get_concrete_function(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return python_method(self, "_get_concrete_function", args, kwargs);
}

static PyObject *show_signatures(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return python_method(self, "_show_signatures", args, kwargs);
}

static PyObject *show_plan(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return python_method(self, "_plan", args, kwargs);
}

/* ---- what the Python side asks ---- */

static PyObject *forget_object(PyObject *callable, PyObject *number)
{
    void *identity = PyLong_AsVoidPtr(number);
    if (PyErr_Occurred())
        return NULL;
    tw__tracer_forget(&((tw__py_traced *)callable)->traces, identity);
    Py_RETURN_NONE;
}

static PyObject *tracing_count(PyObject *callable, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(tw__tracer_count(&((tw__py_traced *)callable)->traces));
}

static PyObject *list_traces(PyObject *callable, PyObject *unused)
{
    (void)unused;
    tw__py_traced *self = (tw__py_traced *)callable;
    int count = self->traces.cache ? tw__call_cache_count(self->traces.cache) : 0;
    tw__owned void **values = tw__alloc_array((size_t)count + 1, sizeof *values);
    PyObject *list =
        values && (!count || tw__call_cache_list(self->traces.cache, values) == TW_OK) ? PyList_New(count) : tw__py_raise();
    for (int i = 0; list && i < count; i++) {
        Py_INCREF((PyObject *)values[i]);
        PyList_SetItem(list, i, values[i]);
    }
    return list;
}

/* ---- the type ---- */

static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError) || !((tw__py_traced *)self)->tracer)
        return value;
    PyErr_Clear();
    value = PyObject_GetAttr(((tw__py_traced *)self)->tracer, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError))
        tw__py_error(PyExc_AttributeError, "'Function' object has no attribute '%U'", name);
    return value;
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    if (object)
        return PyObject_CallMethod(((tw__py_traced *)self)->tracer, "bind", "OO", object, type ? type : Py_None);
    Py_INCREF(self);
    return self;
}

typedef struct visiting {
    visitproc visit;
    void *arg;
    int result;
} visiting;

static void visit_trace(void *context, void *value)
{
    visiting *v = context;
    if (!v->result)
        v->result = v->visit(value, v->arg);
}

static int traverse(PyObject *callable, visitproc visit, void *arg)
{
    tw__py_traced *self = (tw__py_traced *)callable;
    Py_VISIT(Py_TYPE(callable));
    Py_VISIT(self->tracer);
    Py_VISIT(self->dict);
    for (int i = 0; i < self->parameter_count; i++) {
        Py_VISIT(self->parameters[i].initial);
        Py_VISIT(self->parameters[i].spec);
    }
    visiting v = { visit, arg, 0 };
    if (self->traces.cache)
        tw__call_cache_each(self->traces.cache, visit_trace, &v);
    return v.result;
}

static int clear(PyObject *callable)
{
    tw__py_traced *self = (tw__py_traced *)callable;
    Py_CLEAR(self->tracer);
    Py_CLEAR(self->dict);
    while (self->parameter_count) {
        tw__py_parameter *p = &self->parameters[--self->parameter_count];
        Py_XDECREF(p->name);
        Py_XDECREF(p->initial);
        Py_XDECREF(p->spec);
    }
    tw__tracer traces = self->traces;
    self->traces = (tw__tracer){ 0 };
    if (traces.cache)
        tw__tracer_end(&traces);
    return 0;
}

static void end(PyObject *callable)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(callable);
    PyObject_GC_UnTrack(callable);
    if (((tw__py_traced *)callable)->weak)
        PyObject_ClearWeakRefs(callable);
    clear(callable);
    tw__free(((tw__py_traced *)callable)->parameters);
    PyObject_GC_Del(callable);
}

/* One of the tracer's parameters: (name, kind, default or Parameter.empty's stand-in, spec or None). */
static bool read_parameter(tw__py_parameter *p, PyObject *row)
{
    PyObject *name, *initial, *spec;
    int kind_number, has_default, has_spec;
    if (!PyArg_ParseTuple(row, "UipOpO", &name, &kind_number, &has_default, &initial, &has_spec, &spec))
        return false;
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    Py_XINCREF(has_default ? initial : NULL);
    Py_XINCREF(has_spec ? spec : NULL);
    *p = (tw__py_parameter){ name, has_default ? initial : NULL, has_spec ? spec : NULL, (tw__py_parameter_kind)kind_number };
    return true;
}

static bool start(tw__py_traced *self, PyObject *tracer)
{
    tw__py_auto PyObject *rows = PyObject_GetAttrString(tracer, "_rows"), *name = PyObject_GetAttrString(tracer, "_shown"),
                         *code = NULL, *widens = NULL;
    Py_ssize_t count = rows && PyList_Check(rows) ? PyList_Size(rows) : -1;
    const char **names = count >= 0 ? (const char **)tw__alloc_array((size_t)count + 1, sizeof *names) : NULL;
    self->parameters = names ? tw__alloc_array((size_t)count + 1, sizeof *self->parameters) : NULL;
    bool good = self->parameters && name;
    if (!good && !PyErr_Occurred())
        tw__py_raise();
    for (Py_ssize_t i = 0; good && i < count; i++) {
        good = read_parameter(&self->parameters[i], PyList_GetItem(rows, i));
        self->parameter_count += good;
        names[i] = good ? PyUnicode_AsUTF8AndSize(self->parameters[i].name, NULL) : NULL;
        good = names[i] != NULL;
    }
    const char *shown = good ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    code = shown ? PyObject_GetAttrString(tracer, "_code") : NULL;
    widens = code ? PyObject_GetAttrString(tracer, "_reduce") : NULL;
    good = widens != NULL;
    if (good) {
        good = tw__tracer_start(&self->traces, shown, names, (int)count, code, tw__py_hold_value, tw__py_drop_value) == TW_OK;
        self->traces.widens = PyObject_IsTrue(widens) == 1;
        self->traces.code_held = tw__py_hold_code;
        if (!good)
            tw__py_raise();
    }
    tw__free((void *)names);
    return good;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *tracer;
    if ((keywords && PyDict_Size(keywords)) || !PyArg_ParseTuple(arguments, "O:Function", &tracer))
        return PyErr_Occurred() ? NULL : tw__py_error(PyExc_TypeError, "Function takes no keyword arguments");
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    tw__py_traced *self = (tw__py_traced *)allocate(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = tw__py_traced_call;
    Py_INCREF(tracer);
    self->tracer = tracer;
    if (!start(self, tracer)) {
        Py_DECREF(self);
        return NULL;
    }
    tw__py_auto PyObject *done = PyObject_CallMethod(tracer, "_made", "O", (PyObject *)self);
    if (!done)
        Py_CLEAR(self);
    return (PyObject *)self;
}

#define WITH_KEYWORDS(f) ((PyCFunction)(void (*)(void))(f)), METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
    { "get_concrete_function", WITH_KEYWORDS(get_concrete_function), "The graph for such a call; specs may stand for tensors." },
    { "pretty_printed_concrete_signatures", WITH_KEYWORDS(show_signatures), "The signatures of the graphs that were traced." },
    { "pretty_printed_signature", WITH_KEYWORDS(show_signatures), "The signatures of the graphs that were traced." },
    { "plan", WITH_KEYWORDS(show_plan), "How a call with these arguments runs, as text." },
    { "_concrete", tw__py_traced_concrete, METH_VARARGS, NULL },
    { "_forget_object", forget_object, METH_O, NULL },
    { "experimental_get_tracing_count", tracing_count, METH_NOARGS, "How often the function was traced." },
    { "_list_all_concrete_functions", list_traces, METH_NOARGS,
      "The concrete functions, in the order in which they were traced." },
    { 0 },
};
static PyGetSetDef getters[] = {
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { 0 },
};
static PyMemberDef members[] = {
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(tw__py_traced, vectorcall), READONLY, NULL },
    { "__dictoffset__", T_PYSSIZET, offsetof(tw__py_traced, dict), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(tw__py_traced, weak), READONLY, NULL },
    { "_tracer", T_OBJECT, offsetof(tw__py_traced, tracer), READONLY, NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_new, make },
    { Py_tp_dealloc, end },
    { Py_tp_traverse, traverse },
    { Py_tp_clear, clear },
    { Py_tp_call, PyVectorcall_Call },
    { Py_tp_descr_get, bind },
    { Py_tp_getattro, get_attribute },
    { Py_tp_methods, methods },
    { Py_tp_getset, getters },
    { Py_tp_members, members },
    { 0 },
};
PyType_Spec tw__py_traced_spec = { "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function",
                                   sizeof(tw__py_traced), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                                   slots };
