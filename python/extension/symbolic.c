/* Tensors of a graph that is being traced: the same objects as eager ones, but without elements. What needs elements is refused
 * in TensorFlow's words. Also the questions about tracing: _core.is_symbolic, executing_eagerly, init_scope. */
#include "extension.h"

bool tw__py_is_symbolic(PyObject *value)
{
    return Py_TYPE(value) == tw__py_symbolic_type;
}

tw_tensor *tw__py_into_graph(tw_tensor *tensor)
{
    if (!tensor || !tw__tracing || (tensor->node && tensor->node->graph == tw__tracing) || tensor->dtype == TW_RESOURCE)
        return tensor;
    if (tw__slices_of(tensor)) /* a gradient of the graph's tensors: no value, and nothing that a graph can hold */
        return tensor;
    bool fresh = !tensor->node && atomic_load(&tensor->object.references) == 1; /* made by this call: a constant */
    tw_tensor *inside = fresh ? tw__graph_constant(tw__tracing, tensor, NULL) : tw__graph_import(tw__tracing, tensor);
    tw_release(tensor);
    return inside;
}

bool tw__py_is_lasting(PyObject *value)
{
    return Py_TYPE(value) == tw__py_symbolic_type && TW_TENSOR(value)->node->graph->lasting;
}

/* ---- printing ---- */

static const tw__node *node_of(PyObject *self)
{
    return TW_TENSOR(self)->node;
}

static PyObject *name_of(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("%s:%d", node_of(self)->name, TW_TENSOR(self)->node_output);
}

static PyObject *describe(PyObject *self, bool for_str)
{
    const tw_tensor *tensor = TW_TENSOR(self);
    tw__owned char *shape = tw__shape_tuple(&tensor->shape);
    if (!shape)
        return tw__py_raise();
    const char *dtype = tw_dtype_name(tensor->dtype);
    PyObject *out = NULL;
    if (!for_str)
        out =
            PyUnicode_FromFormat("<tf.Tensor '%s:%d' shape=%s dtype=%s>", node_of(self)->name, tensor->node_output, shape, dtype);
    else if (tensor->shape.rank < 0)
        out = PyUnicode_FromFormat("Tensor(\"%s:%d\", dtype=%s)", node_of(self)->name, tensor->node_output, dtype);
    else
        out =
            PyUnicode_FromFormat("Tensor(\"%s:%d\", shape=%s, dtype=%s)", node_of(self)->name, tensor->node_output, shape, dtype);
    return out;
}

static PyObject *repr(PyObject *self)
{
    return describe(self, false);
}

static PyObject *str(PyObject *self)
{
    return describe(self, true);
}

/* ---- what is not allowed ---- */

static PyObject *not_allowed(const char *what)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg.errors");
    tw__py_auto PyObject *class = module ? PyObject_GetAttrString(module, "OperatorNotAllowedInGraphError") : NULL;
    if (class)
        tw__py_error(
            class,
            "%s is not allowed. You can attempt the following resolutions to the problem: If you are running in Graph mode, use "
            "Eager execution mode or decorate this function with @tf.function. If you are using AutoGraph, you can try decorating "
            "this function with @tf.function. If that does not work, then you may be using an unsupported feature or your source "
            "code may not be visible to AutoGraph. See "
            "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/"
            "limitations.md#access-to-source-code for more information.",
            what);
    return NULL;
}

static int truth(PyObject *self)
{
    (void)self;
    not_allowed("Using a symbolic `tf.Tensor` as a Python `bool`");
    return -1;
}

static PyObject *iterate(PyObject *self)
{
    (void)self;
    return not_allowed("Iterating over a symbolic `tf.Tensor`");
}

static Py_ssize_t length(PyObject *self)
{
    tw__py_auto PyObject *name = name_of(self, NULL);
    if (name)
        tw__py_error(
            PyExc_TypeError,
            "len is not well defined for a symbolic Tensor (%U). Please call `x.shape` rather than `len(x)` for shape information.",
            name);
    return -1;
}

static PyObject *array(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    (void)arguments;
    (void)keywords;
    tw__py_auto PyObject *name = name_of(self, NULL);
    if (name)
        tw__py_error(
            PyExc_NotImplementedError,
            "Cannot convert a symbolic tf.Tensor (%U) to a numpy array. This error may indicate that you're trying to pass a Tensor "
            "to a NumPy call, which is not supported.",
            name);
    return NULL;
}

/* x.eval(feed_dict=None, session=None) */
static PyObject *eval(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = { "feed_dict", "session", NULL };
    PyObject *feed_dict = Py_None, *session = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:eval", names, &feed_dict, &session))
        return NULL;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._graph_mode.session");
    return module ? PyObject_CallMethod(module, "evaluate", "OOO", self, feed_dict, session) : NULL;
}

static Py_hash_t hash(PyObject *self)
{
    if (!tw__py_is_lasting(self)) {
        tw__py_error(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
        return -1;
    }
    return (Py_hash_t)((uintptr_t)node_of(self) >> 4) + TW_TENSOR(self)->node_output;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return tw__py_error(PyExc_TypeError, "a symbolic tensor can't be pickled: %R", self);
}

/* ---- attributes ---- */

static PyObject *get_op(PyObject *self, void *unused)
{
    (void)unused;
    return tw__py_wrap_operation(TW_TENSOR(self)->node);
}

static PyObject *get_graph(PyObject *self, void *unused)
{
    (void)unused;
    return tw__py_wrap_graph(TW_TENSOR(self)->node->graph);
}

static PyObject *get_index(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(TW_TENSOR(self)->node_output);
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    const char *device = TW_TENSOR(self)->node->device;
    return PyUnicode_FromString(device ? device : "");
}

/* x.set_shape(s): what is known of the shape from now on. */
static PyObject *set_shape(PyObject *self, PyObject *value)
{
    tw_tensor *tensor = TW_TENSOR(self);
    tw_shape shape;
    if (!tw__py_as_shape(value, &shape))
        return NULL;
    tw_shape *own = &tensor->shape;
    if (!tw__shape_compatible(own, &shape)) {
        tw__auto(tw__text_free) tw__text text = { 0 };
        tw__shape_difference(&text, own, &shape);
        tw__py_error(PyExc_ValueError, "%s", text.data ? text.data : "");
        return NULL;
    }
    if (tw__symbolic_refine(tensor, &shape) != TW_OK)
        return tw__py_raise();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "__array__", (PyCFunction)(void (*)(void))array, METH_VARARGS | METH_KEYWORDS, NULL },
    { "__reduce__", reduce, METH_NOARGS, NULL },
    { "eval", (PyCFunction)(void (*)(void))eval, METH_VARARGS | METH_KEYWORDS, "The value, in a session." },
    { "set_shape", set_shape, METH_O, TW_SIGNATURE("set_shape($self, shape)") "Tells what is known of the shape." },
    { 0 },
};

static PyGetSetDef getters[] = {
    { "name", name_of, NULL, "The node's name and the output's number.", NULL },
    { "op", get_op, NULL, "The node.", NULL },
    { "graph", get_graph, NULL, "The graph it belongs to.", NULL },
    { "value_index", get_index, NULL, "Which output of the node it is.", NULL },
    { "device", get_device, NULL, "Where the node is to run, as the program said.", NULL },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_repr, repr },
    { Py_tp_str, str },
    { Py_tp_hash, hash },
    { Py_tp_richcompare, tw__py_compare },
    { Py_tp_iter, iterate },
    { Py_tp_methods, methods },
    { Py_mp_length, length },
    { Py_tp_getset, getters },
    { Py_nb_bool, truth },
    { Py_tp_dealloc, tw__py_tensor_end },
    { 0 },
};

/* ---- questions about tracing ---- */

static PyObject *is_symbolic(PyObject *self, PyObject *value)
{
    (void)self;
    return PyBool_FromLong(tw__py_is_symbolic(value));
}

static PyObject *executing_eagerly(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(tw__tracing == NULL);
}

static PyObject *tracing_graph(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    if (!tw__tracing)
        Py_RETURN_NONE;
    return tw__py_wrap_graph(tw__tracing);
}

/* What init_scope hides: the graph and the tapes of the thread. */
typedef struct scope {
    PyObject_HEAD tw__graph *graph;
    tw__tape_stack tapes;
    bool inside;
} scope;

static PyObject *scope_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    scope *s = (scope *)self;
    if (s->inside)
        return tw__py_error(PyExc_RuntimeError, "init_scope: this scope is open already");
    s->graph = tw_retain(tw__tracing);
    s->tapes = tw__tapes_hide();
    s->inside = true;
    tw__tracing = tw__graph_root(s->graph);
    Py_RETURN_NONE;
}

static PyObject *scope_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    scope *s = (scope *)self;
    if (s->inside) {
        tw__tracing = s->graph;
        tw__tapes_show(s->tapes);
        tw_release(s->graph); /* the trace that goes on holds it */
        s->graph = NULL;
        s->inside = false;
    }
    Py_RETURN_FALSE;
}

static void scope_end(PyObject *self)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    tw_release(((scope *)self)->graph);
    PyObject_Free(self);
}

static PyMethodDef scope_methods[] = {
    { "__enter__", scope_enter, METH_NOARGS, NULL },
    { "__exit__", scope_exit, METH_VARARGS, NULL },
    { 0 },
};
static PyType_Slot scope_slots[] = {
    { Py_tp_methods, scope_methods },
    { Py_tp_dealloc, scope_end },
    { Py_tp_doc, "A context outside of all tracing: operations run at once, tapes don't record." },
    { 0 },
};
static PyType_Spec scope_spec = { "thalweg.init_scope", sizeof(scope), 0, Py_TPFLAGS_DEFAULT, scope_slots };

/* variable_creation(watched, refused, made, called, deferred) sets what a trace may do about variables; gives what was. */
static PyObject *variable_creation(PyObject *self, PyObject *arguments)
{
    (void)self;
    int watched, refused, called = false;
    long long made, deferred = 0;
    if (!PyArg_ParseTuple(arguments, "ppL|pL:variable_creation", &watched, &refused, &made, &called, &deferred))
        return NULL;
    tw__variable_creation old = tw__variables_made;
    tw__variables_made =
        (tw__variable_creation){ .watched = watched, .refused = refused, .called = called, .made = made, .deferred = deferred };
    return Py_BuildValue("NNLNL", PyBool_FromLong(old.watched), PyBool_FromLong(old.refused), (long long)old.made,
                         PyBool_FromLong(old.called), (long long)old.deferred);
}

/* eager_tensor(value, dtype): a tensor with elements, also while a graph is built. */
static PyObject *eager_tensor(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *value, *type;
    tw_dtype dtype;
    if (!PyArg_ParseTuple(arguments, "OO:eager_tensor", &value, &type) || !tw__py_as_dtype(type, &dtype))
        return NULL;
    tw__outside outside = tw__outside_begin();
    tw_tensor *tensor = tw__py_to_tensor(value, dtype, TW_FORCE);
    tw__outside_end(outside);
    return tensor ? tw__py_wrap_tensor(tensor) : NULL;
}

/* call_eagerly(function, *arguments, **keywords): outside of all graphs, lasting ones too. */
static PyObject *call_eagerly(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    (void)self;
    Py_ssize_t count = PyTuple_Size(arguments);
    tw__py_auto PyObject *rest =
        count > 0 ? PyTuple_GetSlice(arguments, 1, count) : tw__py_error(PyExc_TypeError, "call_eagerly: no function");
    if (!rest)
        return NULL;
    tw__outside outside = tw__outside_begin();
    PyObject *out = PyObject_Call(PyTuple_GetItem(arguments, 0), rest, keywords);
    tw__outside_end(outside);
    return out;
}

static PyMethodDef functions[] = {
    { "call_eagerly", (PyCFunction)(void (*)(void))call_eagerly, METH_VARARGS | METH_KEYWORDS,
      "Calls a function outside of all graphs." },
    { "eager_tensor", eager_tensor, METH_VARARGS, "A tensor with elements, whatever is being traced." },
    { "variable_creation", variable_creation, METH_VARARGS, NULL },
    { "is_symbolic", is_symbolic, METH_O, "Whether the value is a tensor of a graph." },
    { "executing_eagerly", executing_eagerly, METH_NOARGS,
      TW_SIGNATURE("executing_eagerly($module)") "Whether operations run at once." },
    { "tracing_graph", tracing_graph, METH_NOARGS, "The graph that is being traced, or None." },
    { 0 },
};

bool tw__py_symbolic_start(PyObject *module)
{
    PyType_Spec spec = { "tensorflow.python.framework.ops.SymbolicTensor", sizeof(tw__py_tensor), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
    tw__py_symbolic_type = (PyTypeObject *)PyType_FromSpecWithBases(&spec, (PyObject *)tw__py_tensor_type);
    PyObject *scope_type = PyType_FromSpec(&scope_spec);
    bool good = tw__py_symbolic_type && scope_type &&
                PyModule_AddObjectRef(module, "SymbolicTensor", (PyObject *)tw__py_symbolic_type) == 0 &&
                PyModule_AddObjectRef(module, "init_scope", scope_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
    Py_XDECREF(scope_type);
    tw__py_origin_start();
    return good;
}
