/* tf.function from the C side: tracing a Python callable into a graph function, and calling what was traced.
 *
 * A Function knows the calls it has seen by patterns: per argument a tensor's dtype and shape (arrays count as tensors), a literal, or an
 * object by identity. A call that fits a pattern runs its graph function without any Python code; any other goes to the tracer
 * (thalweg/_function.py), which keys, traces and remembers. Patterns are few and the last one used stands first. */
#include "extension.h"
#include "function/function.h"
#include "op/resource.h"

enum { PATTERN_LIMIT = 16, ARGUMENT_LIMIT = 24 };

/* ---- graph functions ---- */

typedef struct graph_function {
    PyObject_HEAD tw__function *function;
} graph_function;

static PyTypeObject *graph_function_type, *function_type, *ndarray_type;
static bool run_eagerly;

static void end_graph_function(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tw_release(((graph_function *)self)->function);
    PyObject_Free(self);
    Py_DECREF(type);
}

void *tw__py_graph_function_of(PyObject *value)
{
    return Py_TYPE(value) == graph_function_type ? ((graph_function *)value)->function : NULL;
}

static PyObject *tensor_list(tw_tensor **tensors, int count)
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

/* The traced body: a Python callable that takes the list of arguments and gives a list of tensors. */
static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *item = tw__py_wrap_tensor(tw_retain(arguments[i]));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    PyObject *results = list ? PyObject_CallFunctionObjArgs(context, list, NULL) : NULL;
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
    return good ? TW_OK : PyErr_Occurred() ? tw__py_failed() : tw__error_status();
}

static bool read_specs(PyObject *names, PyObject *dtypes, PyObject *shapes, Py_ssize_t count, const char **texts, tw_dtype *types, tw_shape *dims)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyList_GetItem(names, i), *dtype = PyList_GetItem(dtypes, i), *shape = PyList_GetItem(shapes, i);
        if (!name || !dtype || !shape || !tw__py_as_dtype(dtype, &types[i]) || !tw__py_as_shape(shape, &dims[i]))
            return false;
        texts[i] = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

/* trace(name, names, dtypes, shapes, callable) */
static PyObject *trace(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *name;
    PyObject *names, *dtypes, *shapes, *callable;
    if (!PyArg_ParseTuple(arguments, "sO!O!O!O:trace", &name, &PyList_Type, &names, &PyList_Type, &dtypes, &PyList_Type, &shapes, &callable))
        return NULL;
    Py_ssize_t count = PyList_Size(names);
    const char **texts = tw__alloc_array((size_t)count + 1, sizeof *texts);
    tw_dtype *types = tw__alloc_array((size_t)count + 1, sizeof *types);
    tw_shape *dims = tw__alloc_array((size_t)count + 1, sizeof *dims);
    tw__function *function = NULL;
    if (!texts || !types || !dims)
        tw__py_raise();
    else if (read_specs(names, dtypes, shapes, count, texts, types, dims)) {
        function = tw__function_trace_named(name, texts, types, dims, (int)count, body, callable);
        if (!function)
            tw__py_raise();
    }
    tw__free((void *)texts);
    tw__free(types);
    tw__free(dims);
    graph_function *out = function ? PyObject_New(graph_function, graph_function_type) : NULL;
    if (out)
        out->function = function;
    else
        tw_release(function);
    return (PyObject *)out;
}

/* Runs it. Other Python threads may run meanwhile if it takes long. */
static tw_status run(tw__function *f, tw_tensor *const *arguments, tw_tensor **outputs)
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
    tw_tensor **arguments = tw__alloc_array((size_t)f->argument_count + 1, sizeof *arguments);
    tw_tensor **outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
    bool good = arguments && outputs;
    if (!good)
        tw__py_raise();
    for (int i = 0; good && i < f->argument_count; i++)
        good = (arguments[i] = tw__py_to_tensor(PyList_GetItem(list, i), f->inputs[i]->out_dtypes[0], TW_HINT)) != NULL;
    PyObject *out = NULL;
    if (good)
        out = run(f, arguments, outputs) == TW_OK ? tensor_list(outputs, f->output_count) : tw__py_raise();
    for (int i = 0; arguments && i < f->argument_count; i++)
        tw_release(arguments[i]);
    tw__free(arguments);
    tw__free(outputs);
    return out;
}

/* plan(list of tensors, or None): how it runs, as text. */
static PyObject *plan_text(PyObject *self, PyObject *list)
{
    tw__function *f = ((graph_function *)self)->function;
    bool given = list != Py_None, good = true;
    if (given && (!PyList_Check(list) || PyList_Size(list) != f->argument_count))
        return tw__py_error(PyExc_TypeError, "%s takes a list of %d tensors", f->name, f->argument_count);
    tw_tensor **arguments = tw__alloc_array((size_t)f->argument_count + 1, sizeof *arguments);
    if (!arguments)
        return tw__py_raise();
    for (int i = 0; good && given && i < f->argument_count; i++)
        good = (arguments[i] = tw__py_to_tensor(PyList_GetItem(list, i), f->inputs[i]->out_dtypes[0], TW_HINT)) != NULL;
    char *text = good ? tw__function_plan_text(f, given ? arguments : NULL) : NULL;
    PyObject *out = text ? PyUnicode_FromString(text) : good ? tw__py_raise() : NULL;
    for (int i = 0; i < f->argument_count; i++)
        tw_release(arguments[i]);
    tw__free(arguments);
    tw__free(text);
    return out;
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
        tw_object *object = capture->dtype == TW_RESOURCE && !capture->node && capture->count == 1 ? *(tw_object **)capture->data : NULL;
        if (!object || !tw__is(object, &tw__resource_class) || !((tw__resource *)object)->variable)
            continue;
        PyObject *item = tw__py_wrap(tw_retain(((tw__resource *)object)->variable));
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef graph_function_methods[] = {
    { "call_flat", call_flat, METH_O, "Calls it with a list of tensors; gives a list." },
    { "plan", plan_text, METH_O, "How it runs with such tensors, as text." },
    { 0 },
};
static PyGetSetDef graph_function_getters[] = {
    { "name", get_name, NULL, NULL, NULL },       { "graph", get_graph, NULL, NULL, NULL },
    { "inputs", get_inputs, NULL, NULL, NULL },   { "outputs", get_outputs, NULL, NULL, NULL },
    { "captures", get_captures, NULL, NULL, NULL }, { "variables", get_variables, NULL, NULL, NULL }, { 0 },
};
static PyType_Slot graph_function_slots[] = {
    { Py_tp_dealloc, end_graph_function },
    { Py_tp_methods, graph_function_methods },
    { Py_tp_getset, graph_function_getters },
    { 0 },
};
static PyType_Spec graph_function_spec = { "thalweg.GraphFunction", sizeof(graph_function), 0,
                                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, graph_function_slots };

/* ---- patterns ---- */

typedef enum part_kind { TENSOR_PART, LITERAL_PART, OBJECT_PART } part_kind;

typedef struct part {
    part_kind kind;
    tw_dtype dtype;
    tw_shape shape;   /* may be partial */
    PyObject *object; /* the literal; a weak reference to the object */
} part;

typedef struct pattern {
    int count;          /* arguments, keyword ones last */
    PyObject *names;    /* of the keyword ones, or NULL */
    PyObject *function; /* a graph_function */
    PyObject *pack;     /* None: one tensor; True: nothing; else called with the list of results */
    int8_t sources[ARGUMENT_LIMIT]; /* per tensor of the graph function: which argument */
    part parts[];
} pattern;

typedef struct function {
    PyObject_HEAD tw__py_vectorcall vectorcall;
    PyObject *tracer; /* keys, traces, remembers; has the public methods */
    PyObject *dict, *weak;
    pattern *patterns[PATTERN_LIMIT];
    int pattern_count;
    int64_t fast_calls; /* since the tracer asked */
} function;

static void end_pattern(pattern *p)
{
    for (int i = 0; i < p->count; i++)
        Py_XDECREF(p->parts[i].object);
    Py_XDECREF(p->names);
    Py_XDECREF(p->function);
    Py_XDECREF(p->pack);
    tw__free(p);
}

static bool is_literal(PyObject *value)
{
    return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) ||
           PyBytes_Check(value);
}

static bool shape_fits(const tw_shape *pattern_shape, const tw_shape *shape)
{
    if (pattern_shape->rank < 0)
        return true;
    bool fits = pattern_shape->rank == shape->rank;
    for (int i = 0; fits && i < shape->rank; i++)
        fits = pattern_shape->dims[i] < 0 || pattern_shape->dims[i] == shape->dims[i];
    return fits;
}

static bool part_fits(const part *p, PyObject *argument, const tw_tensor *tensor)
{
    if (p->kind == TENSOR_PART)
        return tensor && tensor->dtype == p->dtype && shape_fits(&p->shape, &tensor->shape);
    if (tensor)
        return false;
    if (p->kind == OBJECT_PART)
        return PyWeakref_GetObject(p->object) == argument;
    if (p->object == argument)
        return true;
    return Py_TYPE(argument) == Py_TYPE(p->object) && is_literal(argument) && PyObject_RichCompareBool(argument, p->object, Py_EQ) == 1;
}

static bool names_fit(PyObject *a, PyObject *b)
{
    return a == b || (a && b && PyObject_RichCompareBool(a, b, Py_EQ) == 1);
}

static pattern *find(function *self, PyObject *const *arguments, int count, PyObject *names, tw_tensor *const *tensors)
{
    for (int i = 0; i < self->pattern_count; i++) {
        pattern *p = self->patterns[i];
        bool fits = p->count == count && names_fit(p->names, names);
        for (int k = 0; fits && k < count; k++)
            fits = part_fits(&p->parts[k], arguments[k], tensors[k]);
        if (!fits)
            continue;
        if (i) {
            memmove(self->patterns + 1, self->patterns, (size_t)i * sizeof *self->patterns);
            self->patterns[0] = p;
        }
        return p;
    }
    return NULL;
}

/* ---- calling ---- */

static PyObject *call_slow(function *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *positional = PyTuple_New(count), *keywords = NULL;
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; positional && i < count; i++) {
        Py_INCREF(arguments[i]);
        PyTuple_SetItem(positional, i, arguments[i]);
    }
    keywords = positional ? PyDict_New() : NULL;
    bool good = keywords != NULL;
    for (Py_ssize_t i = 0; good && i < named; i++)
        good = PyDict_SetItem(keywords, PyTuple_GetItem(names, i), arguments[count + i]) == 0;
    PyObject *out = good ? PyObject_CallMethod(self->tracer, "call", "OOO", (PyObject *)self, positional, keywords) : NULL;
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return out;
}

/* `borrowed`: bits of the tensors that are on somebody else's memory, which the function may not keep. */
static PyObject *call_fast(pattern *p, tw_tensor *const *tensors, uint32_t borrowed)
{
    tw__function *f = ((graph_function *)p->function)->function;
    tw_tensor *few[8], **outputs = f->output_count <= 8 ? few : tw__alloc_array((size_t)f->output_count, sizeof *outputs);
    if (!outputs)
        return tw__py_raise();
    tw_tensor *inputs[ARGUMENT_LIMIT], *copies[ARGUMENT_LIMIT];
    int copy_count = 0;
    bool good = true;
    for (int i = 0; good && i < f->argument_count; i++) {
        inputs[i] = tensors[p->sources[i]];
        if ((borrowed >> p->sources[i] & 1) && tw__function_keeps(f, i)) {
            inputs[i] = copies[copy_count] = tw__tensor_copy(inputs[i]);
            good = inputs[i] != NULL;
            copy_count += good;
        }
    }
    PyObject *keep = p->function, *pack = p->pack, *out = NULL; /* the pattern may be dropped by what runs inside */
    Py_INCREF(keep);
    Py_INCREF(pack);
    if (!good || run(f, inputs, outputs) != TW_OK) {
        tw__py_raise();
    } else if (pack == Py_None) {
        out = tw__py_wrap_tensor(outputs[0]);
    } else if (pack == Py_True) {
        out = Py_None;
        Py_INCREF(out);
    } else {
        PyObject *list = tensor_list(outputs, f->output_count);
        out = list ? PyObject_CallFunctionObjArgs(pack, list, NULL) : NULL;
        Py_XDECREF(list);
    }
    if (outputs != few)
        tw__free(outputs);
    while (copy_count)
        tw_release(copies[--copy_count]);
    Py_DECREF(keep);
    Py_DECREF(pack);
    return out;
}

static PyObject *call(PyObject *callable, PyObject *const *arguments, size_t size, PyObject *names)
{
    function *self = (function *)callable;
    Py_ssize_t positional = TW_VECTOR_COUNT(size), count = positional + (names ? PyTuple_Size(names) : 0);
    if (count > ARGUMENT_LIMIT || !self->pattern_count || run_eagerly)
        return call_slow(self, arguments, positional, names);
    tw_tensor *tensors[ARGUMENT_LIMIT], *made[ARGUMENT_LIMIT];
    Py_buffer views[ARGUMENT_LIMIT];
    int made_count = 0, view_count = 0;
    uint32_t borrowed = 0;
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        tensors[i] = NULL;
        if (TW_IS_TENSOR(arguments[i])) {
            tensors[i] = TW_TENSOR(arguments[i]);
        } else if (Py_TYPE(arguments[i]) == ndarray_type) {
            tensors[i] = tw__py_borrow_array(arguments[i], &views[view_count]);
            if (tensors[i]) {
                view_count++;
                borrowed |= 1u << i;
            } else {
                tensors[i] = tw__py_from_array(arguments[i]);
            }
            made[made_count] = tensors[i];
            good = tensors[i] != NULL;
            made_count += good;
        }
    }
    PyErr_Clear();
    pattern *p = good ? find(self, arguments, (int)count, names, tensors) : NULL;
    PyObject *out = NULL;
    if (p) {
        self->fast_calls++;
        out = call_fast(p, tensors, borrowed);
    }
    for (int i = 0; i < made_count; i++)
        tw_release(made[i]);
    for (int i = 0; i < view_count; i++)
        PyBuffer_Release(&views[i]);
    return p ? out : call_slow(self, arguments, positional, names);
}

/* ---- what the tracer tells ---- */

static bool make_part(part *out, PyObject *value, PyObject *array_type)
{
    if (TW_IS_TENSOR(value)) {
        *out = (part){ .kind = TENSOR_PART, .dtype = TW_TENSOR(value)->dtype, .shape = TW_TENSOR(value)->shape };
        return true;
    }
    if ((PyObject *)Py_TYPE(value) == array_type) {
        tw_tensor *tensor = tw__py_from_array(value);
        if (tensor)
            *out = (part){ .kind = TENSOR_PART, .dtype = tensor->dtype, .shape = tensor->shape };
        tw_release(tensor);
        return tensor != NULL;
    }
    if (is_literal(value)) {
        Py_INCREF(value);
        *out = (part){ .kind = LITERAL_PART, .object = value };
        return true;
    }
    if (PyList_Check(value) || PyDict_Check(value) || PyTuple_Check(value))
        return false;
    PyObject *reference = PyWeakref_NewRef(value, NULL);
    *out = (part){ .kind = OBJECT_PART, .object = reference };
    return reference != NULL;
}

/* remember(arguments, keywords, sources, graph_function, pack): a call with such arguments is this one. What can't be told by a pattern is
 * left to the tracer. */
static PyObject *remember(PyObject *callable, PyObject *given)
{
    function *self = (function *)callable;
    PyObject *arguments, *keywords, *sources, *target, *pack;
    if (!PyArg_ParseTuple(given, "O!O!O!OO", &PyTuple_Type, &arguments, &PyDict_Type, &keywords, &PyList_Type, &sources, &target, &pack))
        return NULL;
    Py_ssize_t positional = PyTuple_Size(arguments), count = positional + PyDict_Size(keywords), inputs = PyList_Size(sources);
    if (count > ARGUMENT_LIMIT || inputs > ARGUMENT_LIMIT || Py_TYPE(target) != graph_function_type ||
        ((graph_function *)target)->function->argument_count != inputs || (pack == Py_None && ((graph_function *)target)->function->output_count != 1))
        Py_RETURN_FALSE;
    pattern *p = tw__alloc_zero(sizeof *p + (size_t)count * sizeof(part));
    if (!p)
        return tw__py_raise();
    if (!ndarray_type) {
        PyObject *numpy = tw__py_numpy();
        ndarray_type = numpy ? (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray") : NULL;
    }
    PyObject *names = PyDict_Size(keywords) ? PyList_AsTuple(PyDict_Keys(keywords)) : NULL, *values = PyDict_Values(keywords);
    bool good = values != NULL && ndarray_type;
    for (Py_ssize_t i = 0; good && i < inputs; i++) {
        p->sources[i] = (int8_t)PyLong_AsLong(PyList_GetItem(sources, i));
        good = p->sources[i] >= 0 && p->sources[i] < count;
    }
    for (Py_ssize_t i = 0; good && i < count; i++) {
        good = make_part(&p->parts[i], i < positional ? PyTuple_GetItem(arguments, i) : PyList_GetItem(values, i - positional),
                         (PyObject *)ndarray_type);
        p->count = (int)i + good;
    }
    for (Py_ssize_t i = 0; good && i < inputs; i++) { /* a graph that takes several shapes serves them all */
        const tw_shape *shape = &((graph_function *)target)->function->inputs[i]->out_shapes[0];
        part *from = &p->parts[p->sources[i]];
        if (from->kind == TENSOR_PART && !tw__shape_known(shape))
            from->shape = *shape;
    }
    Py_XDECREF(values);
    PyErr_Clear();
    p->names = names;
    if (!good) {
        end_pattern(p);
        Py_RETURN_FALSE;
    }
    Py_INCREF(target);
    Py_INCREF(pack);
    p->function = target;
    p->pack = pack;
    pattern *dropped = self->pattern_count == PATTERN_LIMIT ? self->patterns[--self->pattern_count] : NULL;
    memmove(self->patterns + 1, self->patterns, (size_t)self->pattern_count * sizeof *self->patterns);
    self->patterns[0] = p;
    self->pattern_count++;
    if (dropped)
        end_pattern(dropped);
    Py_RETURN_TRUE;
}

static PyObject *forget(PyObject *callable, PyObject *unused)
{
    (void)unused;
    function *self = (function *)callable;
    while (self->pattern_count)
        end_pattern(self->patterns[--self->pattern_count]);
    Py_RETURN_NONE;
}

static PyObject *take_calls(PyObject *callable, PyObject *unused)
{
    (void)unused;
    int64_t calls = ((function *)callable)->fast_calls;
    ((function *)callable)->fast_calls = 0;
    return PyLong_FromLongLong(calls);
}

/* ---- the type ---- */

static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError) || !((function *)self)->tracer)
        return value;
    PyErr_Clear();
    value = PyObject_GetAttr(((function *)self)->tracer, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError))
        tw__py_error(PyExc_AttributeError, "'Function' object has no attribute '%U'", name);
    return value;
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    if (object)
        return PyObject_CallMethod(((function *)self)->tracer, "bind", "OO", object, type ? type : Py_None);
    Py_INCREF(self);
    return self;
}

static int traverse(PyObject *callable, visitproc visit, void *arg)
{
    function *self = (function *)callable;
    Py_VISIT(Py_TYPE(callable));
    Py_VISIT(self->tracer);
    Py_VISIT(self->dict);
    for (int i = 0; i < self->pattern_count; i++)
        Py_VISIT(self->patterns[i]->pack);
    return 0;
}

static int clear(PyObject *callable)
{
    function *self = (function *)callable;
    while (self->pattern_count)
        end_pattern(self->patterns[--self->pattern_count]);
    Py_CLEAR(self->tracer);
    Py_CLEAR(self->dict);
    return 0;
}

static void end(PyObject *callable)
{
    PyTypeObject *type = Py_TYPE(callable);
    PyObject_GC_UnTrack(callable);
    if (((function *)callable)->weak)
        PyObject_ClearWeakRefs(callable);
    clear(callable);
    PyObject_GC_Del(callable);
    Py_DECREF(type);
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *tracer;
    if ((keywords && PyDict_Size(keywords)) || !PyArg_ParseTuple(arguments, "O:Function", &tracer))
        return PyErr_Occurred() ? NULL : tw__py_error(PyExc_TypeError, "Function takes no keyword arguments");
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    function *self = (function *)allocate(type, 0);
    if (self) {
        self->vectorcall = call;
        Py_INCREF(tracer);
        self->tracer = tracer;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    { "_remember", remember, METH_VARARGS, NULL },
    { "_forget", forget, METH_NOARGS, NULL },
    { "_take_calls", take_calls, METH_NOARGS, NULL },
    { 0 },
};
static PyGetSetDef getters[] = {
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { 0 },
};
static PyMemberDef members[] = {
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(function, vectorcall), READONLY, NULL },
    { "__dictoffset__", T_PYSSIZET, offsetof(function, dict), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(function, weak), READONLY, NULL },
    { "_tracer", T_OBJECT, offsetof(function, tracer), READONLY, NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_new, make },          { Py_tp_dealloc, end },        { Py_tp_traverse, traverse }, { Py_tp_clear, clear },
    { Py_tp_call, PyVectorcall_Call }, { Py_tp_descr_get, bind }, { Py_tp_getattro, get_attribute }, { Py_tp_methods, methods },
    { Py_tp_getset, getters },    { Py_tp_members, members },    { 0 },
};
static PyType_Spec function_spec = { "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function", sizeof(function), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots };

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

static PyMethodDef functions[] = {
    { "trace", trace, METH_VARARGS, "trace(name, names, dtypes, shapes, callable): a graph function." },
    { "run_functions_eagerly", set_run_eagerly, METH_O, "Whether tf.functions run their Python code at every call." },
    { "functions_run_eagerly", get_run_eagerly, METH_NOARGS, "Whether they do." },
    { 0 },
};

bool tw__py_graph_functions_start(PyObject *module)
{
    tw__py_host_start();
    graph_function_type = (PyTypeObject *)PyType_FromSpec(&graph_function_spec);
    function_type = (PyTypeObject *)PyType_FromSpec(&function_spec);
    return graph_function_type && function_type && PyModule_AddObjectRef(module, "Function", (PyObject *)function_type) == 0 &&
           PyModule_AddObjectRef(module, "GraphFunction", (PyObject *)graph_function_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}
