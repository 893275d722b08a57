/* What tracing a Python callable makes, tf.function's concrete functions below: a graph function and the structure of its
 * results. Calls of tf.functions are in function_call.c. */
#include "function_call.h"

/* ---- graph functions ---- */

typedef tw__py_graph_function graph_function;

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((graph_function *)self)->results);
    return 0;
}

static int clear(PyObject *self)
{
    Py_CLEAR(((graph_function *)self)->results);
    return 0;
}

static void end_graph_function(PyObject *self)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    tw_release(((graph_function *)self)->function);
    freefunc end = PyType_GetSlot(type, Py_tp_free);
    end(self);
}

void *tw__py_graph_function_of(PyObject *value)
{
    return PyObject_TypeCheck(value, tw__py_graph_function_type) ? ((graph_function *)value)->function : NULL;
}

PyObject *tw__py_tensor_list(tw_tensor **tensors, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; i < count; i++) {
        PyObject *item = list ? tw__py_wrap_tensor(tensors[i]) : NULL;
        if (!list)
            tw_release(tensors[i]);
        if (list && (!item || PyList_SetItem(list, i, item) < 0))
            Py_CLEAR(list);
    }
    return list;
}

/* ---- tracing ---- */

typedef struct traced {
    PyObject *callable;      /* takes the list of arguments, gives a list of tensors */
    PyObject *inputs;        /* what the arguments are: a TensorSpec, or a variable */
    tw_variable **stand_ins; /* for the variables; references */
} traced;

static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const traced *t = context;
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *item = t->stand_ins[i] ? tw__py_wrap(tw_retain(t->stand_ins[i])) : tw__py_wrap_tensor(tw_retain(arguments[i]));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    PyObject *results = list ? PyObject_CallFunctionObjArgs(t->callable, list, NULL) : NULL;
    Py_XDECREF(list);
    Py_ssize_t size = results && PyList_Check(results) ? PyList_Size(results) : -1;
    if (results && size < 0)
        tw__py_error(PyExc_TypeError, "the traced body must give a list, got %R", results);
    tw_tensor **made = size >= 0 ? tw__alloc_array((size_t)size + 1, sizeof *made) : NULL;
    bool good = made != NULL;
    for (Py_ssize_t i = 0; good && i < size; i++) {
        made[i] = tw__py_to_tensor(PyList_GetItem(results, i), TW_DTYPE_NONE, TW_HINT);
        good = made[i] != NULL;
        *output_count = (int)i + good;
    }
    Py_XDECREF(results);
    *outputs = made;
    if (good)
        return tw__function_name_results(made, (int)size);
    return PyErr_Occurred() ? tw__py_failed() : tw__error_status();
}

typedef struct taken {
    const char **names;
    tw_dtype *dtypes;
    tw_shape *shapes;
    tw_tensor **handles;
    tw_variable **stand_ins;
} taken;

static bool read_inputs(PyObject *names, PyObject *inputs, Py_ssize_t count, taken *a)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyList_GetItem(names, i), *input = PyList_GetItem(inputs, i);
        const tw_tensor_spec *spec = input ? tw__py_unwrap(input, &tw__class_tensor_spec) : NULL;
        tw_variable *variable = input ? tw__py_unwrap(input, &tw__class_variable) : NULL;
        if (!name || (!spec && !variable)) {
            tw__py_error(PyExc_TypeError, "a graph takes tensors and variables, not %R", input);
            return false;
        }
        a->names[i] = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
        a->dtypes[i] = spec ? spec->dtype : TW_RESOURCE;
        a->shapes[i] = spec ? spec->shape : TW_SCALAR;
        if (variable) {
            a->stand_ins[i] = tw__variable_stand_in(variable);
            a->handles[i] = a->stand_ins[i] ? a->stand_ins[i]->handle : NULL;
            if (!a->handles[i])
                tw__py_raise();
        }
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

/* An instance of GraphFunction or a type below it; takes the function. */
static PyObject *new_of_type(PyTypeObject *type, tw__function *function)
{
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    graph_function *out = PyType_IsSubtype(type, tw__py_graph_function_type) ? (graph_function *)allocate(type, 0) : NULL;
    if (out)
        out->function = function;
    else
        tw_release(function);
    return (PyObject *)out;
}

/* trace(type, name, names, inputs, callable): a new instance of the type, GraphFunction or one below. */
static PyObject *trace(PyObject *self, PyObject *given)
{
    (void)self;
    const char *name;
    PyObject *type, *names, *inputs, *callable;
    if (!PyArg_ParseTuple(given, "OsO!O!O:trace", &type, &name, &PyList_Type, &names, &PyList_Type, &inputs, &callable))
        return NULL;
    size_t count = (size_t)PyList_Size(names);
    taken a = { (const char **)tw__alloc_array(count + 1, sizeof *a.names), tw__alloc_array(count + 1, sizeof *a.dtypes),
                tw__alloc_array(count + 1, sizeof *a.shapes), tw__alloc_array(count + 1, sizeof *a.handles),
                tw__alloc_array(count + 1, sizeof *a.stand_ins) };
    tw__function *function = NULL;
    if (!a.names || !a.dtypes || !a.shapes || !a.handles || !a.stand_ins) {
        tw__py_raise();
    } else if (read_inputs(names, inputs, (Py_ssize_t)count, &a)) {
        function = tw__function_trace_with(name, a.names, a.dtypes, a.shapes, a.handles, (int)count, body,
                                           &(traced){ callable, inputs, a.stand_ins });
        void (*told)(tw__function *) = tw__function_noted;
        if (!function)
            tw__py_raise();
        else if (told)
            told(function);
    }
    for (size_t i = 0; a.stand_ins && i < count; i++)
        tw_release(a.stand_ins[i]);
    tw__free((void *)a.names);
    tw__free(a.dtypes);
    tw__free(a.shapes);
    tw__free(a.handles);
    tw__free(a.stand_ins);
    return function ? new_of_type((PyTypeObject *)type, function) : NULL;
}

tw_status tw__py_run(tw__function *f, tw_tensor *const *arguments, tw_tensor **outputs)
{
    bool is_long = !tw__tracing && tw__function_takes_long(f);
    if (!is_long)
        return tw__function_call(f, arguments, outputs);
    PyThreadState *thread = tw__py_unlock();
    tw_status status = tw__function_call(f, arguments, outputs);
    tw__py_lock(thread);
    return status;
}

static PyObject *call_flat(PyObject *self, PyObject *list)
{
    tw__function *f = ((graph_function *)self)->function;
    if (!PyList_Check(list) || PyList_Size(list) != f->argument_count)
        return tw__py_error(PyExc_TypeError, "%s takes a list of %d tensors", f->name, f->argument_count);
    tw__held tw_tensor **arguments = tw__held_new((size_t)f->argument_count);
    tw__owned tw_tensor **outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
    bool good = arguments && outputs;
    if (!good)
        tw__py_raise();
    for (int i = 0; good && i < f->argument_count; i++)
        good = (arguments[i] = tw__py_to_tensor(PyList_GetItem(list, i), f->inputs[i]->out_dtypes[0], TW_HINT)) != NULL;
    PyObject *out = NULL;
    if (good)
        out = tw__py_run(f, arguments, outputs) == TW_OK ? tw__py_tensor_list(outputs, f->output_count) : tw__py_raise();
    return out;
}

/* plan(list of tensors, or None): how it runs, as text. */
static PyObject *plan_text(PyObject *self, PyObject *list)
{
    tw__function *f = ((graph_function *)self)->function;
    bool given = list != Py_None, good = true;
    if (given && (!PyList_Check(list) || PyList_Size(list) != f->argument_count))
        return tw__py_error(PyExc_TypeError, "%s takes a list of %d tensors", f->name, f->argument_count);
    tw__held tw_tensor **arguments = tw__held_new((size_t)f->argument_count);
    if (!arguments)
        return tw__py_raise();
    for (int i = 0; good && given && i < f->argument_count; i++)
        good = (arguments[i] = tw__py_to_tensor(PyList_GetItem(list, i), f->inputs[i]->out_dtypes[0], TW_HINT)) != NULL;
    tw__owned char *text = good ? tw__function_plan_text(f, given ? arguments : NULL) : NULL;
    return text ? PyUnicode_FromString(text) : good ? tw__py_raise() : NULL;
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((graph_function *)self)->function->name);
}

static PyObject *get_graph(PyObject *self, void *unused)
{
    (void)unused;
    return tw__py_wrap_graph(((graph_function *)self)->function->graph);
}

static PyObject *get_inputs(PyObject *self, void *unused)
{
    (void)unused;
    tw__function *f = ((graph_function *)self)->function;
    PyObject *list = PyList_New(f->input_count);
    for (int i = 0; list && i < f->input_count; i++) {
        PyObject *item = tw__py_wrap_tensor(tw__node_output(f->inputs[i], 0));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_outputs(PyObject *self, void *unused)
{
    (void)unused;
    tw__function *f = ((graph_function *)self)->function;
    PyObject *list = PyList_New(f->output_count);
    for (int i = 0; list && i < f->output_count; i++) {
        PyObject *item = tw__py_wrap_tensor(tw__node_output(f->outputs[i].node, f->outputs[i].output));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_captures(PyObject *self, void *unused)
{
    (void)unused;
    tw__function *f = ((graph_function *)self)->function;
    int count = f->input_count - f->argument_count;
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *item = tw__py_wrap_tensor(tw_retain(f->captures[i]));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* The variables among the captures that still exist. */
static PyObject *get_variables(PyObject *self, void *unused)
{
    (void)unused;
    tw__function *f = ((graph_function *)self)->function;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < f->input_count - f->argument_count; i++) {
        const tw_tensor *capture = f->captures[i];
        tw_object *object =
            capture->dtype == TW_RESOURCE && !capture->node && capture->count == 1 ? *(tw_object **)capture->data : NULL;
        if (!object || !tw__is(object, &tw__resource_class) || !((tw__resource *)object)->variable)
            continue;
        tw__py_auto PyObject *item = tw__py_wrap(tw_retain(((tw__resource *)object)->variable));
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_results(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *results = ((graph_function *)self)->results ? ((graph_function *)self)->results : Py_None;
    Py_INCREF(results);
    return results;
}

/* What the results are: a structure with specs (structure.h). */
static int set_results(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    graph_function *f = (graph_function *)self;
    Py_XINCREF(value);
    PyObject *old = f->results;
    f->results = value;
    Py_XDECREF(old);
    f->single = value && f->function->output_count == 1 && tw__py_unwrap(value, &tw__class_tensor_spec) != NULL;
    return 0;
}

PyObject *tw__py_function_results(PyObject *self, tw_tensor **outputs)
{
    graph_function *f = (graph_function *)self;
    if (f->single)
        return tw__py_wrap_tensor(outputs[0]);
    tw__py_auto PyObject *list = tw__py_tensor_list(outputs, f->function->output_count);
    return list ? tw__py_pack(f->results ? f->results : Py_None, list) : NULL;
}

/* call(list of tensors): the results as they were traced. */
static PyObject *call_structured(PyObject *self, PyObject *list)
{
    tw__py_auto PyObject *values = call_flat(self, list);
    PyObject *results = ((graph_function *)self)->results;
    return values ? tw__py_pack(results ? results : Py_None, values) : NULL;
}

/* _compile(): plans of it are to run on a plug-in's device. */
static PyObject *set_compiled(PyObject *self, PyObject *none)
{
    (void)none;
    ((graph_function *)self)->function->graph->compiled = true;
    Py_RETURN_NONE;
}

static PyMethodDef graph_function_methods[] = {
    { "_compile", set_compiled, METH_NOARGS, "Its plans run on the device of a PJRT plug-in, if there is one." },
    { "call", call_structured, METH_O, "Calls it with a list of tensors." },
    { "call_flat", call_flat, METH_O, "Calls it with a list of tensors; gives a list." },
    { "plan", plan_text, METH_O, "How it runs with such tensors, as text." },
    { 0 },
};
static PyGetSetDef graph_function_getters[] = {
    { "name", get_name, NULL, NULL, NULL },
    { "graph", get_graph, NULL, NULL, NULL },
    { "inputs", get_inputs, NULL, NULL, NULL },
    { "outputs", get_outputs, NULL, NULL, NULL },
    { "captures", get_captures, NULL, NULL, NULL },
    { "variables", get_variables, NULL, NULL, NULL },
    { "_results", get_results, set_results, NULL, NULL },
    { 0 },
};
static PyType_Slot graph_function_slots[] = {
    { Py_tp_dealloc, end_graph_function },
    { Py_tp_traverse, traverse },
    { Py_tp_clear, clear },
    { Py_tp_methods, graph_function_methods },
    { Py_tp_getset, graph_function_getters },
    { 0 },
};
static PyType_Spec graph_function_spec = { "thalweg.GraphFunction", sizeof(graph_function), 0,
                                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, graph_function_slots };

PyTypeObject *tw__py_graph_function_type;

/* A new instance of the type over the function of one trace in a SavedModel; the function is built now. */
static PyObject *saved_graph_function(PyObject *self, PyObject *given)
{
    (void)self;
    PyObject *type, *saved;
    if (!PyArg_ParseTuple(given, "OO:saved_graph_function", &type, &saved))
        return NULL;
    tw_saved_concrete *concrete = tw__py_unwrap(saved, &tw__class_saved_concrete);
    tw__function *function = concrete ? tw__saved_concrete_build(concrete) : NULL;
    if (!function)
        return concrete ? tw__py_raise()
                        : tw__py_error(PyExc_TypeError, "a function of a SavedModel was expected, got %R", saved);
    return new_of_type((PyTypeObject *)type, tw_retain(function));
}

/* saved_concrete(GraphFunction, inputs, outputs): one trace, to be saved. */
static PyObject *saved_concrete(PyObject *self, PyObject *given)
{
    (void)self;
    PyObject *function, *inputs, *outputs;
    if (!PyArg_ParseTuple(given, "O!OO:saved_concrete", tw__py_graph_function_type, &function, &inputs, &outputs))
        return NULL;
    tw_value arguments, results;
    if (!tw__py_read_value(inputs, &arguments))
        return NULL;
    if (!tw__py_read_value(outputs, &results)) {
        tw_value_free(&arguments);
        return NULL;
    }
    return tw__py_wrap(tw__saved_concrete_new(((graph_function *)function)->function, arguments, results));
}

static PyMethodDef functions[] = {
    { "saved_graph_function", saved_graph_function, METH_VARARGS,
      "saved_graph_function(type, trace): the graph function of a SavedModel's trace." },
    { "saved_concrete", saved_concrete, METH_VARARGS, "saved_concrete(function, inputs, outputs): a trace to be saved." },
    { "trace", trace, METH_VARARGS, "trace(type, name, names, inputs, callable): a graph function of that type." },
    { 0 },
};

bool tw__py_graph_functions_start(PyObject *module)
{
    if (!tw__py_host_start(module))
        return false;
    tw__py_graph_function_type = (PyTypeObject *)PyType_FromSpec(&graph_function_spec);
    return tw__py_graph_function_type &&
           PyModule_AddObjectRef(module, "GraphFunction", (PyObject *)tw__py_graph_function_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0 && tw__py_structures_start(module) &&
           tw__py_function_calls_start(module);
}
