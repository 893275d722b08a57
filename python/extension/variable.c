/* tf.Variable: what its row can't say: operators, numbers, arrays, printing, pickling. */
#include <stdlib.h>

#include "extension.h"

static PyTypeObject *variable_type; /* found at first use: the row's */
PyTypeObject *tw__py_unread_type;

bool tw__py_is_variable(PyObject *value)
{
    if (__builtin_expect(!variable_type, 0)) {
        variable_type = tw__py_type_of(&tw__class_variable);
        if (variable_type == tw__py_object_type) {
            variable_type = NULL;
            return false;
        }
    }
    PyTypeObject *type = Py_TYPE(value);
    return (type == variable_type || PyType_IsSubtype(type, variable_type)) && tw__py_handle(value);
}

static tw_variable *of(PyObject *self)
{
    return tw__py_self(self);
}

tw_tensor *tw__py_read_variable(PyObject *self)
{
    PyObject *assigned = tw__tracing && Py_TYPE(self) == tw__py_unread_type ? tw__py_kept(self, "_assigned_op") : NULL;
    struct tw_operation *operation = assigned ? tw__py_unwrap(assigned, &tw__class_operation) : NULL;
    if (!operation)
        return tw__variable_read(of(self));
    tw__graph *graph = operation->graph;
    if (graph != tw__tracing) { /* inside a function: what is read there is read behind the assignment */
        PyObject *value = tw__py_kept(self, "_assigned_value");
        return tw_retain(TW_TENSOR(value));
    }
    tw_tensor *value = tw__control_push(graph, &operation->node, 1, false) == TW_OK ? tw__variable_read(of(self)) : NULL;
    tw__control_pop(graph);
    return value;
}

tw_tensor *tw__py_read_named(PyObject *self)
{
    tw__naming naming = tw__naming_begin();
    tw_tensor *value = tw__py_read_variable(self);
    if (tw__naming_end(naming, NULL, NULL, value) == TW_OK)
        return value;
    tw_release(value);
    return NULL;
}

/* A Python tensor of the value now. */
static PyObject *read_now(PyObject *self)
{
    tw_variable *variable = of(self);
    return variable ? tw__py_wrap_tensor(tw__py_read_named(self)) : NULL;
}

static PyObject *through_value(PyObject *self, PyObject *(*function)(PyObject *))
{
    tw__py_auto PyObject *value = read_now(self);
    return value ? function(value) : NULL;
}

static PyObject *value(PyObject *self, PyObject *unused)
{
    (void)unused;
    return read_now(self);
}

static PyObject *numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw_variable *variable = of(self);
    if (tw__tracing)
        return tw__py_error(PyExc_NotImplementedError, "numpy() is only available when eager execution is enabled.");
    tw_auto tw_tensor *tensor = variable ? tw__variable_value(variable) : NULL;
    if (!tensor)
        return PyErr_Occurred() ? NULL : tw__py_raise();
    return tw__py_to_array(tensor, true, false);
}

static PyObject *array(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    tw__py_auto PyObject *tensor = read_now(self);
    tw__py_auto PyObject *method = tensor ? PyObject_GetAttrString(tensor, "__array__") : NULL;
    return method ? PyObject_Call(method, arguments, keywords) : NULL;
}

/* In a graph it has none. */
static PyObject *repr_without_value(PyObject *self, const tw_variable *variable)
{
    tw__owned char *shape = tw__shape_tuple(&variable->resource->shape);
    PyObject *operation = tw__py_kept(self, "_assigned_op");
    struct tw_operation *assigned = operation ? tw__py_unwrap(operation, &tw__class_operation) : NULL;
    return shape ? PyUnicode_FromFormat("<tf.Variable '%s' shape=%s dtype=%s>",
                                        assigned                              ? assigned->node->name
                                        : Py_TYPE(self) == tw__py_unread_type ? "UnreadVariable"
                                                                              : variable->name,
                                        shape, tw_dtype_name(variable->resource->dtype))
                 : tw__py_raise();
}

/* Of a variable with copies, all of them. */
static PyObject *repr_copies(PyObject *self)
{
    tw__py_auto PyObject *kind = PyObject_GetAttrString(self, "_mirror_kind"),
                         *copies = kind ? PyObject_GetAttrString(self, "_components") : NULL;
    tw__py_auto PyObject *out = copies ? PyUnicode_FromFormat("%U:{", kind) : NULL;
    for (Py_ssize_t i = 0; out && i < PyList_Size(copies); i++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s\n  %zd: %R", out, i ? "," : "", i, PyList_GetItem(copies, i));
        Py_DECREF(out);
        out = longer;
    }
    return out ? PyUnicode_FromFormat("%U\n}", out) : NULL;
}

static PyObject *repr(PyObject *self)
{
    tw_variable *variable = of(self);
    if (variable && variable->mirror && Py_TYPE(self) != tw__py_unread_type)
        return repr_copies(self);
    if (variable && (tw__tracing || variable->graph))
        return repr_without_value(self, variable);
    tw_auto tw_tensor *tensor = variable ? tw__variable_value(variable) : NULL;
    if (!tensor)
        return PyErr_Occurred() ? NULL : tw__py_raise();
    tw__owned char *shape = tw__shape_tuple(&variable->resource->shape);
    char *text = tw_tensor_repr(tensor);
    const char *numbers = text ? strstr(text, "numpy=") : NULL; /* "<tf.Tensor: shape=…, dtype=…, numpy=3.0>" */
    PyObject *out = NULL;
    if (shape && numbers) {
        size_t skip = strlen("numpy=") + (numbers[6] == '\n');
        out = PyUnicode_FromFormat("<tf.Variable '%s' shape=%s dtype=%s, numpy=%s%s",
                                   Py_TYPE(self) == tw__py_unread_type ? "UnreadVariable" : variable->name, shape,
                                   tw_dtype_name(variable->resource->dtype), numbers[6] == '\n' ? "\n" : "", numbers + skip);
    } else {
        tw__py_raise();
    }
    free(text);
    return out;
}

static Py_hash_t hash(PyObject *self)
{
    tw_variable *variable = of(self);
    if (variable && variable->graph) /* in graphs they are told apart by identity */
        return (Py_hash_t)((uintptr_t)variable >> 4);
    tw__py_error(PyExc_TypeError, "Variable is unhashable. Instead, use variable.ref() as the key. (Variable: %R)", self);
    return -1;
}

static PyObject *to_int(PyObject *self)
{
    return through_value(self, PyNumber_Long);
}

static PyObject *to_float(PyObject *self)
{
    return through_value(self, PyNumber_Float);
}

static int truth(PyObject *self)
{
    tw__py_auto PyObject *tensor = read_now(self);
    return tensor ? PyObject_IsTrue(tensor) : -1;
}

static PyObject *to_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *tensor = read_now(self);
    return tensor ? PyObject_CallMethod(tensor, "__complex__", NULL) : NULL;
}

static PyObject *get_shape(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw_variable *variable = of(self);
    return variable ? tw__py_wrap_shape(&variable->resource->shape) : NULL;
}

static PyObject *set_shape(PyObject *self, PyObject *shape)
{
    PyObject *own = get_shape(self, NULL);
    PyObject *merged = own ? PyObject_CallMethod(own, "merge_with", "(O)", shape) : NULL;
    Py_XDECREF(own);
    Py_XDECREF(merged);
    if (!merged)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *get_constraint(PyObject *self, void *unused);

/* Pickling and copying make a variable of the same value, name and trainability. */
static PyObject *remade(PyObject *self, PyObject **maker)
{
    tw_variable *variable = of(self);
    PyObject *package = variable ? PyImport_ImportModule("thalweg") : NULL;
    *maker = package ? PyObject_GetAttrString(package, "Variable") : NULL;
    PyObject *elements = *maker ? numpy(self, NULL) : NULL;
    Py_XDECREF(package);
    if (!elements)
        return NULL;
    Py_ssize_t size = (Py_ssize_t)strlen(variable->name);
    if (size > 2 && strcmp(variable->name + size - 2, ":0") == 0)
        size -= 2;
    /* initial_value, trainable, validate_shape, caching_device, name, variable_def, dtype, import_scope, constraint */
    return Py_BuildValue("(NOOOs#ONON)", elements, variable->trainable ? Py_True : Py_False, Py_True, Py_None, variable->name,
                         size, Py_None, tw__py_wrap_dtype(variable->resource->dtype), Py_None, get_constraint(self, NULL));
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *maker = NULL;
    tw__py_auto PyObject *arguments = remade(self, &maker);
    return arguments ? Py_BuildValue("OO", maker, arguments) : NULL;
}

static PyObject *deep_copy(PyObject *self, PyObject *memo)
{
    tw__py_auto PyObject *maker = NULL;
    tw__py_auto PyObject *arguments = remade(self, &maker);
    PyObject *out = arguments ? PyObject_Call(maker, arguments, NULL) : NULL;
    tw__py_auto PyObject *key = out ? PyLong_FromVoidPtr(self) : NULL;
    if (key && PyDict_Check(memo) && PyDict_SetItem(memo, key, out) < 0)
        Py_CLEAR(out);
    return out;
}

/* The name of an enumeration's member, given as the member or as its number; NULL: it is none of them (no exception). */
static PyObject *member_name(const char *class, PyObject *given)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._enums");
    tw__py_auto PyObject *type = module ? PyObject_GetAttrString(module, class) : NULL;
    tw__py_auto PyObject *number = PyObject_GetAttrString(given, "value");
    if (!number) {
        PyErr_Clear();
        number = given;
        Py_INCREF(number);
    }
    tw__py_auto PyObject *member = type ? PyObject_CallFunctionObjArgs(type, number, NULL) : NULL;
    PyObject *name = member ? PyObject_GetAttrString(member, "name") : NULL;
    PyErr_Clear();
    return name;
}

/* Replaces an enumeration's member among the arguments by its name. */
static bool name_member(PyObject *all, const char *argument, const char *class, const char *what)
{
    PyObject *given = PyDict_GetItemString(all, argument);
    if (!given)
        return true;
    if (given == Py_None)
        return PyDict_DelItemString(all, argument) == 0;
    PyObject *name = member_name(class, given);
    if (!name) {
        PyObject *variable = PyDict_GetItemString(all, "name");
        tw__py_error(PyExc_ValueError, "Invalid variable %s mode: %S for variable: %S", what, given,
                     variable ? variable : Py_None);
        return false;
    }
    bool good = PyDict_SetItemString(all, argument, name) == 0;
    Py_DECREF(name);
    return good;
}

/* Everything but the first value by name, as the row wants it. A new dict; NULL: an exception is set. */
static PyObject *by_name(PyObject *arguments, PyObject *keywords)
{
    static const char *const names[] = { "initial_value", "trainable",       "validate_shape", "caching_device",
                                         "name",          "variable_def",    "dtype",          "import_scope",
                                         "constraint",    "synchronization", "aggregation",    "shape" };
    PyObject *all = keywords ? PyDict_Copy(keywords) : PyDict_New();
    Py_ssize_t count = PyTuple_Size(arguments);
    for (Py_ssize_t i = 1; all && i < count && i < (Py_ssize_t)(sizeof names / sizeof *names); i++) {
        if (PyDict_GetItemString(all, names[i])) {
            tw__py_error(PyExc_TypeError, "Variable() got multiple values for argument '%s'", names[i]);
            Py_CLEAR(all);
        } else if (PyDict_SetItemString(all, names[i], PyTuple_GetItem(arguments, i)) < 0) {
            Py_CLEAR(all);
        }
    }
    return all;
}

static bool read_arguments(PyObject *all)
{
    PyObject *trainable = PyDict_GetItemString(all, "trainable"), *constraint = PyDict_GetItemString(all, "constraint");
    PyObject *definition = PyDict_GetItemString(all, "variable_def");
    if (definition && definition != Py_None) {
        tw__py_error(
            PyExc_ValueError,
            "The variable_def and initial_value args to `tf.Variable` are mutually exclusive, but got both: variable_def=%S",
            definition);
        return false;
    }
    if (constraint && constraint != Py_None && !PyCallable_Check(constraint)) {
        tw__py_error(PyExc_ValueError, "Argument `constraint` must be None or a callable. a callable. Got a %S:  %S",
                     Py_TYPE(constraint), constraint);
        return false;
    }
    if (!name_member(all, "synchronization", "VariableSynchronization", "synchronization") ||
        !name_member(all, "aggregation", "VariableAggregation", "aggregation"))
        return false;
    PyObject *synchronization = PyDict_GetItemString(all, "synchronization");
    if (trainable && trainable != Py_None)
        return true;
    if (synchronization &&
        PyUnicode_CompareWithASCIIString(synchronization, "ON_READ") == 0) /* such variables are not trained unless told so */
        return PyDict_SetItemString(all, "trainable", Py_False) == 0;
    return !trainable || PyDict_DelItemString(all, "trainable") == 0;
}

/* What the function gives; in a lasting graph its operations stand in the scope "NAME/Initializer/". */
static PyObject *first_value(PyObject *function, PyObject *arguments)
{
    if (!tw__in_lasting())
        return PyObject_CallNoArgs(function);
    PyObject *given = PyDict_GetItemString(arguments, "name");
    const char *name = given && PyUnicode_Check(given) ? PyUnicode_AsUTF8AndSize(given, NULL) : NULL;
    tw__owned char *inside = tw__format("%s%s", tw__scope(), name && *name ? name : "Variable");
    tw__part part = inside ? tw__first_value_begin(inside) : (tw__part){ 0 };
    PyObject *made = inside ? PyObject_CallNoArgs(function) : tw__py_raise();
    if (tw__first_value_end(&part) != TW_OK && made) {
        Py_CLEAR(made);
        tw__py_raise();
    }
    return made;
}

static int init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    /* initial_value may be a function that gives it. */
    PyObject *first = PyTuple_Size(arguments) > 0 ? PyTuple_GetItem(arguments, 0)
                      : keywords                  ? PyDict_GetItemString(keywords, "initial_value")
                                                  : NULL;
    if (!first || first == Py_None) {
        tw__py_error(PyExc_ValueError,
                     "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                     "`variable_def`. You provided neither.");
        return -1;
    }
    initproc base = PyType_GetSlot(tw__py_object_type, Py_tp_init);
    tw__py_auto PyObject *all = by_name(arguments, keywords), *values = NULL;
    int result = -1;
    if (all && read_arguments(all)) {
        bool called = PyCallable_Check(first) && !TW_IS_TENSOR(first);
        PyObject *value = called ? first_value(first, all) : (Py_INCREF(first), first);
        if (PyDict_GetItemString(all, "initial_value"))
            PyDict_DelItemString(all, "initial_value");
        values = value && !PyErr_Occurred() ? PyTuple_Pack(1, value) : NULL;
        Py_XDECREF(value);
        result = values ? base(self, values, all) : -1;
        PyObject *given = result == 0 ? PyDict_GetItemString(all, "shape") : NULL;
        const tw_shape *shape = given ? tw__py_shape_of(given) : NULL;
        if (shape && shape->rank < 0) /* TensorShape(None): every shape, where None is that of the first value */
            of(self)->resource->shape = TW_UNKNOWN_SHAPE;
    }
    return result;
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    const tw_variable *variable = of(self);
    if (!variable)
        return NULL;
    if (variable->handle_node)
        return PyUnicode_FromString(variable->handle_node->device ? variable->handle_node->device : "");
    if (variable->mirror)
        return PyUnicode_FromString(
            ((const tw_strategy *)variable->mirror->strategy)->devices[tw__replica < 0 ? 0 : tw__replica]);
    return tw__py_place(variable->handle ? variable->handle->device : 0);
}

static PyObject *get_copies(PyObject *self, void *unused)
{
    (void)unused;
    const tw_variable *variable = of(self);
    if (!variable)
        return NULL;
    if (!variable->mirror)
        return tw__py_error(PyExc_AttributeError, "'ResourceVariable' object has no attribute 'values'");
    tw__py_auto PyObject *list = PyObject_GetAttrString(self, "_components");
    return list ? PySequence_Tuple(list) : NULL;
}

static PyObject *get_none(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    Py_RETURN_NONE;
}

static PyObject *get_priority(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromLong(100); /* NumPy leaves operators to us */
}

/* `names`: the row's property that names the member, the enumeration, and that of the member NONE. */
static PyObject *get_enum(PyObject *self, void *names)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._enums");
    tw__py_auto PyObject *name = module ? PyObject_GetAttrString(self, ((const char *const *)names)[0]) : NULL;
    bool none = name && PyUnicode_CompareWithASCIIString(name, "NONE") == 0;
    tw__py_auto PyObject *class = name ? PyObject_GetAttrString(module, ((const char *const *)names)[none ? 2 : 1]) : NULL;
    return class ? PyObject_GetItem(class, name) : NULL;
}

static const char *const synchronization[] = { "_synchronization", "VariableSynchronization", "VariableSynchronization" };
static const char *const aggregation[] = { "_aggregation", "VariableAggregationV2", "VariableAggregationV1" };

/* The function itself, not the object that C calls it through. */
static PyObject *get_constraint(PyObject *self, void *unused)
{
    (void)unused;
    tw_variable *variable = of(self);
    if (!variable)
        return NULL;
    if (!variable->constraint)
        Py_RETURN_NONE;
    PyObject *function = tw__py_callable_function(variable->constraint);
    if (!function)
        return tw__py_wrap(tw_retain(variable->constraint));
    Py_INCREF(function);
    return function;
}

static PyMethodDef methods[] = {
    { "numpy", numpy, METH_NOARGS, TW_SIGNATURE("numpy($self)") "The value as a NumPy array or scalar." },
    { "value", value, METH_NOARGS, TW_SIGNATURE("value($self)") "The value as a tensor." },
    { "__array__", (PyCFunction)(void (*)(void))array, METH_VARARGS | METH_KEYWORDS, NULL },
    { "__complex__", to_complex, METH_NOARGS, NULL },
    { "__reduce__", reduce, METH_NOARGS, NULL },
    { "__deepcopy__", deep_copy, METH_O, NULL },
    { "get_shape", get_shape, METH_NOARGS, TW_SIGNATURE("get_shape($self)") "The shape." },
    { "set_shape", set_shape, METH_O,
      TW_SIGNATURE("set_shape($self, shape)") "Checks that the shape is compatible with another." },
    { "ref", tw__py_reference, METH_NOARGS, TW_SIGNATURE("ref($self)") "A hashable reference to this variable." },
    { "experimental_ref", tw__py_reference, METH_NOARGS,
      TW_SIGNATURE("experimental_ref($self)") "A hashable reference to this variable." },
    { 0 },
};

static PyGetSetDef getters[] = {
    { "device", get_device, NULL, "Where the variable is.", NULL },
    { "values", get_copies, NULL, "The copies on the devices of a strategy.", NULL },
    { "constraint", get_constraint, NULL, "The function that projects the value after an update, or None.", NULL },
    { "synchronization", get_enum, NULL, "How copies are kept together.", (void *)synchronization },
    { "aggregation", get_enum, NULL, "How updates are combined.", (void *)aggregation },
    { "__array_priority__", get_priority, NULL, NULL, NULL },
    { "initializer", get_none, NULL, "None: variables are initialized when they are made.", NULL },
    { 0 },
};

PyType_Slot tw__py_variable_slots[64] = {
    { Py_tp_init, init },       { Py_tp_repr, repr },           { Py_tp_str, repr },
    { Py_tp_hash, hash },       { Py_tp_iter, tw__py_iterate }, { Py_mp_subscript, tw__py_subscript },
    { Py_nb_bool, truth },      { Py_nb_int, to_int },          { Py_nb_float, to_float },
    { Py_tp_methods, methods }, { Py_tp_getset, getters },
};
