/* Graphs of functions as Python sees them, views of a C graph: two views of the same graph are equal. tf.Graph and tf.Operation
 * are classes of rows (src/session/graph.c); here is what their rows can't say. */
#include <stdlib.h>

#include "extension.h"

typedef struct view {
    PyObject_HEAD tw__graph *graph;
} view;

static PyTypeObject *graph_type;

PyObject *tw__py_wrap_graph(tw__graph *graph)
{
    if (graph->lasting)
        return tw__py_wrap(tw__graph_object(graph));
    view *v = PyObject_New(view, graph_type);
    if (v)
        v->graph = tw_retain(graph);
    return (PyObject *)v;
}

PyObject *tw__py_wrap_operation(tw__node *node)
{
    return tw__py_wrap(tw__operation_of(node));
}

static void end(PyObject *self)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    tw_release(((view *)self)->graph);
    PyObject_Free(self);
}

static Py_hash_t hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)((view *)self)->graph >> 4);
}

static PyObject *compare(PyObject *self, PyObject *other, int which)
{
    if ((which != Py_EQ && which != Py_NE) || Py_TYPE(self) != Py_TYPE(other))
        Py_RETURN_NOTIMPLEMENTED;
    bool same = ((view *)self)->graph == ((view *)other)->graph;
    return PyBool_FromLong(same == (which == Py_EQ));
}

/* ---- graphs ---- */

/* The graph of the function that is being traced, or None. */
PyObject *tw__py_present_graph(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!tw__tracing || tw__tracing->lasting)
        Py_RETURN_NONE;
    return tw__py_wrap_graph(tw__tracing);
}

/* What the program called it: "step" of "__inference_step_12". */
static PyObject *graph_name(PyObject *self, void *unused)
{
    (void)unused;
    static const char prefix[] = "__inference_";
    const char *name = ((view *)self)->graph->name ? ((view *)self)->graph->name : "", *end = strrchr(name, '_');
    bool numbered = end && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !numbered || end < name + sizeof prefix - 1)
        return PyUnicode_FromString(name);
    name += sizeof prefix - 1;
    return PyUnicode_FromStringAndSize(name, end - name);
}

static PyObject *graph_repr(PyObject *self)
{
    PyObject *name = graph_name(self, NULL);
    PyObject *text =
        name ? PyUnicode_FromFormat("FuncGraph(name=%U, id=%zu)", name, (size_t)(uintptr_t)((view *)self)->graph) : NULL;
    Py_XDECREF(name);
    return text;
}

static PyObject *get_operations(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__graph *graph = ((view *)self)->graph;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < graph->node_count; i++) {
        tw__py_auto PyObject *operation = tw__py_wrap_operation(graph->nodes[i]);
        if (!operation || PyList_Append(list, operation) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *operation_by_name(PyObject *self, PyObject *name)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text)
        return PyErr_Occurred()
                   ? NULL
                   : tw__py_error(PyExc_TypeError, "Operation names are strings (or similar), not %R.", Py_TYPE(name));
    tw__node *node = tw__graph_find(((view *)self)->graph, text);
    return node ? tw__py_wrap_operation(node)
                : tw__py_error(PyExc_KeyError, "The name '%s' refers to an Operation not in the graph.", text);
}

static PyObject *tensor_by_name(PyObject *self, PyObject *name)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text)
        return PyErr_Occurred() ? NULL
                                : tw__py_error(PyExc_TypeError, "Tensor names are strings (or similar), not %R.", Py_TYPE(name));
    const char *colon = strrchr(text, ':');
    tw__owned char *own = colon ? tw__strndup(text, (size_t)(colon - text)) : NULL;
    if (!own)
        return colon ? tw__py_raise()
                     : tw__py_error(
                           PyExc_ValueError,
                           "The name '%s' looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the form "
                           "\"<op_name>:<output_index>\".",
                           text);
    tw__node *node = tw__graph_find(((view *)self)->graph, own);
    char *rest = NULL;
    long output = strtol(colon + 1, &rest, 10);
    if (!node || *rest || output < 0 || output >= node->output_count)
        return tw__py_error(PyExc_KeyError, "The name '%s' refers to a Tensor which does not exist.", text);
    return tw__py_wrap_tensor(tw__node_output(node, (int)output));
}

static PyObject *outer_graph(PyObject *self, void *unused)
{
    (void)unused;
    tw__graph *outer = ((view *)self)->graph->outer;
    if (!outer)
        Py_RETURN_NONE;
    return tw__py_wrap_graph(outer);
}

static PyObject *as_graph_def(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = { "from_version", "add_shapes", NULL };
    PyObject *from_version = Py_None;
    int shapes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Op", names, &from_version, &shapes))
        return NULL;
    if (from_version != Py_None)
        return tw__py_error(PyExc_NotImplementedError, "Graph.as_graph_def: from_version is not supported");
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_status status =
        tw__graphdef_write(&text, ((view *)self)->graph, TW_GRAPH_TRACED | (shapes ? TW_GRAPH_SHAPES : 0), NULL, 0);
    tw__py_auto PyObject *messages =
        status == TW_OK && !text.failed ? PyImport_ImportModule("thalweg._messages") : tw__py_raise();
    tw__py_auto PyObject *type = messages ? PyObject_GetAttrString(messages, "GraphDef") : NULL;
    return type ? PyObject_CallMethod(type, "FromString", "y#", text.data ? text.data : "", (Py_ssize_t)text.size) : NULL;
}

static PyMethodDef graph_methods[] = {
    { "as_graph_def", (PyCFunction)(void (*)(void))as_graph_def, METH_VARARGS | METH_KEYWORDS,
      "The graph, and the functions it calls, as a GraphDef." },
    { "get_operations", get_operations, METH_NOARGS, "All nodes, in order." },
    { "get_operation_by_name", operation_by_name, METH_O, "The node of that name." },
    { "get_tensor_by_name", tensor_by_name, METH_O, "The tensor of that name, \"add:0\"." },
    { 0 },
};
/* Who asks isinstance is told that it is a tf.Graph, as TensorFlow's is. */
static PyObject *graph_class(PyObject *self, void *closure)
{
    (void)self;
    (void)closure;
    tw__py_auto PyObject *package = PyImport_ImportModule("thalweg");
    return package ? PyObject_GetAttrString(package, "Graph") : NULL;
}

static PyGetSetDef graph_getters[] = {
    { "__class__", graph_class, NULL, "tf.Graph.", NULL },
    { "name", graph_name, NULL, "The function's name.", NULL },
    { "outer_graph", outer_graph, NULL, "The graph that was traced when this one began, or None.", NULL },
    { 0 },
};
static PyType_Slot graph_slots[] = {
    { Py_tp_repr, graph_repr },
    { Py_tp_hash, hash },
    { Py_tp_richcompare, compare },
    { Py_tp_dealloc, end },
    { Py_tp_methods, graph_methods },
    { Py_tp_getset, graph_getters },
    { 0 },
};
static PyType_Spec graph_spec = { "thalweg.FuncGraph", sizeof(view), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  graph_slots };

/* ---- operations ---- */

static tw__node *node_of(PyObject *self)
{
    struct tw_operation *operation = tw__py_self(self);
    return operation ? operation->node : NULL;
}

static PyObject *operation_repr(PyObject *self)
{
    const tw__node *node = node_of(self);
    if (!node)
        return NULL;
    return PyUnicode_FromFormat("<tf.Operation '%s' type=%s>", node->name, node->op->name);
}

static PyObject *operation_graph(PyObject *self, void *unused)
{
    (void)unused;
    const tw__node *node = node_of(self);
    return node ? tw__py_wrap_graph(node->graph) : NULL;
}

static PyObject *operation_inputs(PyObject *self, void *unused)
{
    (void)unused;
    const tw__node *node = node_of(self);
    PyObject *tuple = node ? PyTuple_New(node->input_count) : NULL;
    for (int i = 0; tuple && i < node->input_count; i++) {
        PyObject *tensor = tw__py_wrap_tensor(tw__node_output(node->inputs[i].node, node->inputs[i].output));
        if (!tensor || PyTuple_SetItem(tuple, i, tensor) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static Py_hash_t operation_hash(PyObject *self)
{
    const tw__node *node = node_of(self);
    return node ? (Py_hash_t)((uintptr_t)node >> 4) : -1;
}

static PyObject *operation_compare(PyObject *self, PyObject *other, int which)
{
    if ((which != Py_EQ && which != Py_NE) || Py_TYPE(self) != Py_TYPE(other))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((node_of(self) == node_of(other)) == (which == Py_EQ));
}

static PyGetSetDef operation_getters[] = {
    { "graph", operation_graph, NULL, "The graph it belongs to.", NULL },
    { "inputs", operation_inputs, NULL, "The tensors it takes.", NULL },
    { 0 },
};
PyType_Slot tw__py_operation_slots[] = {
    { Py_tp_repr, operation_repr },
    { Py_tp_hash, operation_hash },
    { Py_tp_richcompare, operation_compare },
    { Py_tp_getset, operation_getters },
    { 0 },
};

bool tw__py_graph_types_start(PyObject *module)
{
    graph_type = (PyTypeObject *)PyType_FromSpec(&graph_spec);
    return graph_type && PyModule_AddObjectRef(module, "FuncGraph", (PyObject *)graph_type) == 0;
}
