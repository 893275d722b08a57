/* Calls of tf.functions. The C type Function binds the arguments of a call to the parameters of the Python function, walks over
 * them (call_key.c) and asks the tracer (function/tracer.h) for the trace that serves such calls; a call that was seen before
 * runs no Python code. What has to be traced is described (structure.c) and handed to the Python side, thalweg/_function.py,
 * which runs the body. */
#include <time.h>

#include "function_call.h"

enum { PARAMETER_LIMIT = 24 };

static bool run_eagerly;

/* ---- arguments to parameters ---- */

/* The arguments of one call, by parameter. */
typedef struct bound {
    PyObject *few[PARAMETER_LIMIT], **values; /* borrowed */
    PyObject *rest, *named;                   /* new: of *args and **kwargs */
} bound;

static void unbind(bound *b)
{
    if (b->values != b->few)
        tw__free(b->values);
    Py_XDECREF(b->rest);
    Py_XDECREF(b->named);
}

static bool bind_rest(bound *b, int place, PyObject *const *arguments, Py_ssize_t from, Py_ssize_t count)
{
    Py_ssize_t size = count > from ? count - from : 0;
    b->rest = b->values[place] = PyTuple_New(size);
    for (Py_ssize_t i = 0; b->rest && i < size; i++) {
        Py_INCREF(arguments[from + i]);
        PyTuple_SetItem(b->rest, i, arguments[from + i]);
    }
    return b->rest != NULL;
}

static int find_parameter(const tw__py_traced *self, PyObject *name)
{
    int found = -1;
    for (int i = 0; i < self->parameter_count && found < 0; i++) /* names of calls are interned, as a rule */
        found = self->parameters[i].name == name ? i : -1;
    for (int i = 0; i < self->parameter_count && found < 0; i++)
        found = PyUnicode_Compare(self->parameters[i].name, name) == 0 ? i : -1;
    tw__py_parameter_kind is = found < 0 ? VAR_KEYWORD : self->parameters[found].kind;
    return is == POSITIONAL_OR_KEYWORD || is == KEYWORD_ONLY ? found : -1;
}

/* False: they do not fit (Python says why), or an exception is set. */
static bool bind_arguments(const tw__py_traced *self, bound *b, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    b->values = b->few;
    b->rest = b->named = NULL;
    if (self->parameter_count > PARAMETER_LIMIT &&
        !(b->values = tw__alloc_array((size_t)self->parameter_count, sizeof *b->values))) {
        tw__py_raise();
        return false;
    }
    Py_ssize_t used = 0;
    int catcher = -1;
    for (int i = 0; i < self->parameter_count; i++) {
        const tw__py_parameter *p = &self->parameters[i];
        b->values[i] = NULL;
        if (p->kind <= POSITIONAL_OR_KEYWORD && used < count) {
            b->values[i] = arguments[used++];
        } else if (p->kind == VAR_POSITIONAL) {
            if (!bind_rest(b, i, arguments, used, count))
                return false;
            used = count > used ? count : used;
        } else if (p->kind == VAR_KEYWORD) {
            catcher = i;
            b->named = b->values[i] = PyDict_New();
            if (!b->named)
                return false;
        }
    }
    if (used < count)
        return false;
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        int place = find_parameter(self, name);
        if (place >= 0 && !b->values[place])
            b->values[place] = arguments[count + i];
        else if (place >= 0 || catcher < 0 || PyDict_SetItem(b->named, name, arguments[count + i]) < 0)
            return false;
    }
    for (int i = 0; i < self->parameter_count; i++) {
        if (!b->values[i] && !(b->values[i] = self->parameters[i].initial))
            return false;
    }
    return true;
}

/* ---- tracing ---- */

typedef struct tracing {
    tw__py_traced *self;
    const bound *arguments;
} tracing;

void *tw__py_hold_value(void *value)
{
    Py_INCREF((PyObject *)value);
    return value;
}

void tw__py_drop_value(void *value)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_DECREF((PyObject *)value);
}

void tw__py_hold_code(const void *code, bool held)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    if (held)
        Py_INCREF((PyObject *)code);
    else
        Py_DECREF((PyObject *)code);
}

/* One argument described. The members of *args and **kwargs are arguments of their own. */
static PyObject *describe(tw__py_description *d, const tw__py_parameter *p, PyObject *value)
{
    PyObject *source = p->spec ? p->spec : value;
    if (p->kind == VAR_KEYWORD && PyDict_Check(source)) {
        tw__py_auto PyObject *keys = tw__py_ordered_keys(source);
        PyObject *made = keys ? PyDict_Copy(source) : NULL;
        for (Py_ssize_t i = 0; made && i < PyList_Size(keys); i++) {
            PyObject *key = PyList_GetItem(keys, i);
            tw__py_auto PyObject *member = tw__py_describe(d, PyDict_GetItem(source, key), key);
            if (!member || PyDict_SetItem(made, key, member) < 0)
                Py_CLEAR(made);
        }
        return made;
    }
    if (p->kind != VAR_POSITIONAL || !PyTuple_Check(source))
        return tw__py_describe(d, source, p->name);
    PyObject *made = PyTuple_New(PyTuple_Size(source));
    for (Py_ssize_t i = 0; made && i < PyTuple_Size(source); i++) {
        tw__py_auto PyObject *name = PyUnicode_FromFormat("%U_%zd", p->name, i);
        PyObject *member = name ? tw__py_describe(d, PyTuple_GetItem(source, i), name) : NULL;
        if (!member || PyTuple_SetItem(made, i, member) < 0)
            Py_CLEAR(made);
    }
    return made;
}

/* A tw__trace_maker: an instance of GraphFunction. */
static void *make_trace(void *context, const tw_shape *shapes, bool *once)
{
    const tracing *t = context;
    tw__py_traced *self = t->self;
    tw__py_description d = {
        .owner = self->tracer, .inputs = PyList_New(0), .names = PyList_New(0), .labels = PyList_New(0), .shapes = shapes
    };
    PyObject *signature = d.inputs && d.names && d.labels ? PyList_New(self->parameter_count) : NULL;
    for (int i = 0; signature && i < self->parameter_count; i++) {
        PyObject *part = describe(&d, &self->parameters[i], t->arguments->values[i]);
        if (!part || PyList_SetItem(signature, i, part) < 0)
            Py_CLEAR(signature);
    }
    PyObject *made =
        signature ? PyObject_CallMethod(self->tracer, "_trace", "OOOO", signature, d.inputs, d.names, d.labels) : NULL;
    Py_XDECREF(signature);
    Py_XDECREF(d.inputs);
    Py_XDECREF(d.names);
    Py_XDECREF(d.labels);
    if (made && !PyObject_TypeCheck(made, tw__py_graph_function_type)) {
        tw__py_error(PyExc_TypeError, "a trace must be a graph function, not %R", made);
        Py_CLEAR(made);
    }
    const tw__function *f = made ? ((tw__py_graph_function *)made)->function : NULL;
    for (int i = 0; f && i < f->input_count - f->argument_count; i++)
        *once |= f->captures[i]->node != NULL; /* it uses tensors of a graph around it */
    return made;
}

/* Waits until no other thread traces; others may run Python code meanwhile. False: a signal's exception is set. */
static bool begin_tracing(void)
{
    while (!tw__tracing_try()) {
        PyThreadState *thread = tw__py_unlock();
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
        tw__py_lock(thread);
        if (PyErr_CheckSignals() < 0)
            return false;
    }
    return true;
}

static bool walk(tw__py_traced *self, tw__py_walk *w, const bound *b)
{
    bool good = true;
    for (int i = 0; good && i < self->parameter_count; i++) {
        const tw__py_parameter *p = &self->parameters[i];
        tw__key_argument(&w->key);
        good = p->spec ? tw__py_walk_cast(w, b->values[i], p->spec, 0) : tw__py_walk_value(w, b->values[i], 0);
    }
    if (good && w->key.status != TW_OK)
        tw__py_raise();
    return good && w->key.status == TW_OK;
}

/* The graph function for such arguments; new. `called`: for a call with them. */
static PyObject *find(tw__py_traced *self, const bound *b, const tw__py_walk *w, bool called)
{
    tw__call_key key = tw__key_of(&w->key);
    PyObject *found = tw__tracer_find(&self->traces, &key);
    if (found)
        return found;
    if (!begin_tracing())
        return NULL;
    found = tw__tracer_find(&self->traces, &key); /* another thread may have traced it meanwhile */
    if (!found)
        found = tw__tracer_trace(&self->traces, &key, called, make_trace, &(tracing){ self, b });
    tw__tracing_end();
    return found ? found : tw__py_raise();
}

/* ---- calling ---- */

/* The arguments as Python passes them on: a tuple and a dict. */
static bool as_python(PyObject *const *arguments, Py_ssize_t count, PyObject *names, PyObject **positional, PyObject **keywords)
{
    *positional = PyTuple_New(count);
    *keywords = *positional ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; *keywords && i < count; i++) {
        Py_INCREF(arguments[i]);
        PyTuple_SetItem(*positional, i, arguments[i]);
    }
    bool good = *keywords != NULL;
    for (Py_ssize_t i = 0; good && names && i < PyTuple_Size(names); i++)
        good = PyDict_SetItem(*keywords, PyTuple_GetItem(names, i), arguments[count + i]) == 0;
    return good;
}

static PyObject *ask_tracer(tw__py_traced *self, const char *method, PyObject *const *arguments, Py_ssize_t count,
                            PyObject *names)
{
    tw__py_auto PyObject *positional = NULL;
    tw__py_auto PyObject *keywords = NULL;
    PyObject *out = NULL;
    if (as_python(arguments, count, names, &positional, &keywords))
        out = PyObject_CallMethod(self->tracer, method, "OO", positional, keywords);
    return out;
}

/* The arguments don't fit the parameters or the signature: Python words it. */
static PyObject *refuse(tw__py_traced *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (type && !PyErr_GivenExceptionMatches(type, PyExc_TypeError) && !PyErr_GivenExceptionMatches(type, PyExc_ValueError)) {
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    tw__py_auto PyObject *positional = NULL, *keywords = NULL, *out = NULL;
    if (as_python(arguments, count, names, &positional, &keywords))
        out = PyObject_CallMethod(self->tracer, "_refuse", "OOO", positional, keywords, value ? value : Py_None);
    if (out)
        PyErr_SetString(PyExc_TypeError, "the arguments do not fit the function");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
}

static PyObject *run(PyObject *found, tw__py_walk *w)
{
    tw__function *f = ((tw__py_graph_function *)found)->function;
    if ((size_t)f->argument_count != w->tensor_count)
        return tw__py_error(PyExc_RuntimeError, "%s takes %d tensors, the call has %zu", f->name, f->argument_count,
                            w->tensor_count);
    for (int i = 0; i < w->lent_count; i++) {
        size_t tensor = w->lent[i].tensor;
        if (tw__function_keeps(f, (int)tensor) && !tw__py_walk_copy(w, tensor))
            return NULL;
    }
    tw_tensor *few[8], **outputs = f->output_count <= 8 ? few : tw__alloc_array((size_t)f->output_count, sizeof *outputs);
    if (!outputs)
        return tw__py_raise();
    PyObject *out = tw__py_run(f, w->tensors, outputs) == TW_OK ? tw__py_function_results(found, outputs) : tw__py_raise();
    if (outputs != few)
        tw__free(outputs);
    return out;
}

PyObject *tw__py_traced_call(PyObject *callable, PyObject *const *arguments, size_t size, PyObject *names)
{
    tw__py_traced *self = (tw__py_traced *)callable;
    Py_ssize_t count = TW_VECTOR_COUNT(size);
    if (!self->tracer)
        return tw__py_error(PyExc_RuntimeError, "this function was collected");
    if (run_eagerly)
        return ask_tracer(self, "_run_eagerly", arguments, count, names);
    bound b;
    bool fits = bind_arguments(self, &b, arguments, count, names), walked = false;
    PyObject *found = NULL, *out = NULL;
    tw__py_walk w;
    if (fits) {
        tw__py_walk_begin(&w, self->tracer, false);
        walked = walk(self, &w, &b);
        found = walked ? find(self, &b, &w, true) : NULL;
        out = found ? run(found, &w) : NULL;
        tw__py_walk_end(&w);
        Py_XDECREF(found);
    }
    unbind(&b);
    return !fits || !walked ? refuse(self, arguments, count, names) : out;
}

/* _concrete(args, kwargs, named): the graph function for such a call; specs may stand for tensors. `named`: one whose
 * placeholders have their names. */
PyObject *tw__py_traced_concrete(PyObject *callable, PyObject *given)
{
    tw__py_traced *self = (tw__py_traced *)callable;
    PyObject *args, *kwargs;
    int named_too = 0;
    if (!PyArg_ParseTuple(given, "O!O!|p:_concrete", &PyTuple_Type, &args, &PyDict_Type, &kwargs, &named_too))
        return NULL;
    Py_ssize_t count = PyTuple_Size(args), named = PyDict_Size(kwargs);
    tw__owned PyObject **arguments = tw__alloc_array((size_t)(count + named) + 1, sizeof *arguments);
    tw__py_auto PyObject *keys = arguments ? PyDict_Keys(kwargs) : tw__py_raise();
    tw__py_auto PyObject *names = keys ? PyList_AsTuple(keys) : NULL;
    PyObject *out = NULL;
    for (Py_ssize_t i = 0; names && i < count + named; i++)
        arguments[i] = i < count ? PyTuple_GetItem(args, i) : PyDict_GetItem(kwargs, PyTuple_GetItem(names, i - count));
    if (names) {
        bound b;
        bool fits = bind_arguments(self, &b, arguments, count, names), walked = false;
        tw__py_walk w;
        if (fits) {
            tw__py_walk_begin(&w, self->tracer, true);
            w.named = named_too;
            walked = walk(self, &w, &b);
            out = walked ? find(self, &b, &w, false) : NULL;
            tw__py_walk_end(&w);
        }
        unbind(&b);
        if (!fits || !walked)
            refuse(self, arguments, count, names);
    }
    return out;
}

static PyObject *set_run_eagerly(PyObject *self, PyObject *value)
{
    (void)self;
    int is = PyObject_IsTrue(value);
    if (is < 0)
        return NULL;
    run_eagerly = is;
    Py_RETURN_NONE;
}

static PyObject *get_run_eagerly(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(run_eagerly);
}

/* Messages of the library go through Python's logger. */
static void write_log(void *unused, const char *level, const char *text)
{
    (void)unused;
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *module = PyImport_ImportModule("thalweg._log");
    PyObject *done = module ? PyObject_CallMethod(module, "message", "ss", level, text) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    PyErr_Clear(); /* a message that can't be shown stops nothing */
    PyErr_Restore(type, value, traceback);
}

static PyObject *begin_outside(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    if (!begin_tracing())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *end_outside(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    tw__tracing_end();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "begin_tracing", begin_outside, METH_NOARGS, "Waits until no other thread traces." },
    { "end_tracing", end_outside, METH_NOARGS, "Others may trace again." },
    { "run_functions_eagerly", set_run_eagerly, METH_O, "Whether tf.functions run their Python code at every call." },
    { "functions_run_eagerly", get_run_eagerly, METH_NOARGS, TW_SIGNATURE("functions_run_eagerly($module)") "Whether they do." },
    { 0 },
};

bool tw__py_function_calls_start(PyObject *module)
{
    tw_set_log(write_log, NULL);
    PyTypeObject *function_type = (PyTypeObject *)PyType_FromSpec(&tw__py_traced_spec);
    return function_type && PyModule_AddObjectRef(module, "Function", (PyObject *)function_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}
