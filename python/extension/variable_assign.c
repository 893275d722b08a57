/* What an assignment to a variable gives: the variable again, read behind the assignment. */
#include "extension.h"

/* In a graph that of the assignment. */
static PyObject *name_of_unread(PyObject *self, __attribute__((unused)) void *closure)
{
    PyObject *operation = tw__py_kept(self, "_assigned_op");
    const tw_variable *variable = tw__py_self(self);
    return operation ? PyObject_GetAttrString(operation, "name") : variable ? PyUnicode_FromString(variable->name) : NULL;
}

static PyGetSetDef unread_properties[] = {
    { "name", name_of_unread, NULL, NULL, NULL },
    { 0 },
};

static PyType_Slot unread_slots[] = { { Py_tp_getset, unread_properties }, { 0 } };

/* The variable again, but printed as TensorFlow prints what comes out of assign: it holds the variable and is no peer of its own.
 */
PyObject *tw__py_unread(PyObject *variable)
{
    if (!variable || !tw__py_is_variable(variable))
        return variable;
    const tw_variable *own = tw__py_self(variable);
    if (own->mirror && tw__replica >= 0) { /* the replica's copy, also when the replica is done */
        PyObject *copy = tw__py_wrap(tw__mirror_component(own, tw__replica));
        Py_DECREF(variable);
        if (!copy)
            return NULL;
        variable = copy;
    }
    if (!tw__py_unread_type) {
        PyTypeObject *parent = tw__py_type_of(&tw__class_variable);
        tw__py_unread_type = tw__py_class_new("thalweg.UnreadVariable", "UnreadVariable", unread_slots, parent);
    }
    allocfunc allocate = tw__py_unread_type ? PyType_GetSlot(tw__py_unread_type, Py_tp_alloc) : NULL;
    PyObject *out = allocate ? allocate(tw__py_unread_type, 0) : NULL;
    if (out && tw__py_remember(out, tw__py_handle(variable)))
        tw_retain(tw__py_handle(variable));
    else
        Py_CLEAR(out);
    Py_DECREF(variable);
    return out;
}

/* In a lasting graph an assignment is an operation, and its value is what is read after it. */
static PyObject *with_operation(PyObject *unread, size_t before)
{
    tw__graph *graph = tw__tracing;
    if (!unread || !graph || !graph->lasting || graph->node_count <= before)
        return unread;
    tw__node *node = graph->nodes[graph->node_count - 1];
    tw_tensor *value = tw__control_push(graph, &node, 1, false) == TW_OK ? tw__py_read_named(unread) : NULL;
    tw__control_pop(graph);
    tw__py_auto PyObject *tensor = value ? tw__py_wrap_tensor(value) : tw__py_raise();
    tw__py_auto PyObject *operation = tensor ? tw__py_wrap_operation(node) : NULL;
    tw__py_auto PyObject *dict = operation ? PyObject_GenericGetDict(unread, NULL) : NULL;
    if (!dict || PyDict_SetItemString(dict, "_assigned_value", tensor) < 0 ||
        PyDict_SetItemString(dict, "_assigned_op", operation) < 0)
        Py_CLEAR(unread);
    return unread;
}

PyObject *tw__py_variable_assign(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names)
{
    size_t before = tw__tracing ? tw__tracing->node_count : 0;
    PyObject *variable = tw__py_function_call(function, arguments, count, names);
    Py_ssize_t places = TW_VECTOR_COUNT(count), keywords = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; variable && i < keywords; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), "read_value") == 0 &&
            !PyObject_IsTrue(arguments[places + i])) {
            Py_DECREF(variable);
            if (tw__tracing && tw__tracing->lasting && tw__tracing->node_count > before)
                return tw__py_wrap_operation(tw__tracing->nodes[tw__tracing->node_count - 1]);
            Py_RETURN_NONE;
        }
    }
    return with_operation(tw__py_unread(variable), before);
}
