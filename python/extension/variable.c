/* tf.Variable: what its row can't say: operators, numbers, arrays, printing, pickling. */
#include <stdlib.h>

#include "extension.h"
#include "graph/graph.h"

static PyTypeObject *variable_type; /* found at first use: the row's */
static PyTypeObject *unread_type;

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
    return (type == variable_type || PyType_IsSubtype(type, variable_type)) && ((tw__py_object *)value)->object;
}

static tw_variable *of(PyObject *self)
{
    return tw__py_self(self);
}

/* A Python tensor of the value now. */
static PyObject *read_now(PyObject *self)
{
    tw_variable *variable = of(self);
    return variable ? tw__py_wrap_tensor(tw__variable_read(variable)) : NULL;
}

static PyObject *through_value(PyObject *self, PyObject *(*function)(PyObject *))
{
    PyObject *value = read_now(self);
    PyObject *out = value ? function(value) : NULL;
    Py_XDECREF(value);
    return out;
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
    tw_tensor *tensor = variable ? tw__resource_read(variable->resource) : NULL;
    if (!tensor)
        return PyErr_Occurred() ? NULL : tw__py_raise();
    PyObject *out = tw__py_to_array(tensor, true, false);
    tw_release(tensor);
    return out;
}

static PyObject *array(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *tensor = read_now(self);
    PyObject *method = tensor ? PyObject_GetAttrString(tensor, "__array__") : NULL;
    PyObject *out = method ? PyObject_Call(method, arguments, keywords) : NULL;
    Py_XDECREF(tensor);
    Py_XDECREF(method);
    return out;
}

/* In a graph it has none. */
static PyObject *repr_without_value(PyObject *self, const tw_variable *variable)
{
    char *shape = tw__shape_tuple(&variable->resource->shape);
    PyObject *out = shape ? PyUnicode_FromFormat("<tf.Variable '%s' shape=%s dtype=%s>",
                                                 Py_TYPE(self) == unread_type ? "UnreadVariable" : variable->name, shape,
                                                 tw_dtype_name(variable->resource->dtype))
                          : tw__py_raise();
    tw__free(shape);
    return out;
}

static PyObject *repr(PyObject *self)
{
    tw_variable *variable = of(self);
    if (variable && tw__tracing)
        return repr_without_value(self, variable);
    tw_tensor *tensor = variable ? tw__resource_read(variable->resource) : NULL;
    if (!tensor)
        return PyErr_Occurred() ? NULL : tw__py_raise();
    char *shape = tw__shape_tuple(&variable->resource->shape);
    char *text = tw_tensor_repr(tensor);
    const char *numbers = text ? strstr(text, "numpy=") : NULL; /* "<tf.Tensor: shape=…, dtype=…, numpy=3.0>" */
    PyObject *out = NULL;
    if (shape && numbers) {
        size_t skip = strlen("numpy=") + (numbers[6] == '\n');
        out = PyUnicode_FromFormat("<tf.Variable '%s' shape=%s dtype=%s, numpy=%s%s",
                                   Py_TYPE(self) == unread_type ? "UnreadVariable" : variable->name, shape,
                                   tw_dtype_name(variable->resource->dtype), numbers[6] == '\n' ? "\n" : "", numbers + skip);
    } else {
        tw__py_raise();
    }
    tw__free(shape);
    free(text);
    tw_release(tensor);
    return out;
}

static Py_hash_t hash(PyObject *self)
{
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
    PyObject *tensor = read_now(self);
    int is = tensor ? PyObject_IsTrue(tensor) : -1;
    Py_XDECREF(tensor);
    return is;
}

static PyObject *to_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *tensor = read_now(self);
    PyObject *out = tensor ? PyObject_CallMethod(tensor, "__complex__", NULL) : NULL;
    Py_XDECREF(tensor);
    return out;
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
    /* initial_value, trainable, validate_shape, caching_device, name, variable_def, dtype */
    return Py_BuildValue("(NOOOs#ON)", elements, variable->trainable ? Py_True : Py_False, Py_True, Py_None, variable->name, size,
                         Py_None, tw__py_wrap_dtype(variable->resource->dtype));
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *maker = NULL;
    PyObject *arguments = remade(self, &maker);
    PyObject *out = arguments ? Py_BuildValue("OO", maker, arguments) : NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(maker);
    return out;
}

static PyObject *deep_copy(PyObject *self, PyObject *memo)
{
    PyObject *maker = NULL;
    PyObject *arguments = remade(self, &maker);
    PyObject *out = arguments ? PyObject_Call(maker, arguments, NULL) : NULL;
    PyObject *key = out ? PyLong_FromVoidPtr(self) : NULL;
    if (key && PyDict_Check(memo) && PyDict_SetItem(memo, key, out) < 0)
        Py_CLEAR(out);
    Py_XDECREF(key);
    Py_XDECREF(arguments);
    Py_XDECREF(maker);
    return out;
}

/* VariableSynchronization.AUTO and VariableAggregation.NONE, which are what a variable does anyway: the members of value 0. */
static bool is_default(PyObject *given)
{
    PyObject *value = PyObject_GetAttrString(given, "value");
    bool is = value && PyLong_CheckExact(value) && PyLong_AsLong(value) == 0;
    Py_XDECREF(value);
    PyErr_Clear();
    return is;
}

/* Arguments that would have to change what the variable does. */
static bool supported(PyObject *arguments, PyObject *keywords)
{
    static const struct {
        const char *name;
        Py_ssize_t place;
    } refused[] = { { "caching_device", 3 }, { "variable_def", 5 },    { "import_scope", 7 },
                    { "constraint", 8 },     { "synchronization", 9 }, { "aggregation", 10 } };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        PyObject *given = refused[i].place < PyTuple_Size(arguments) ? PyTuple_GetItem(arguments, refused[i].place)
                          : keywords                                 ? PyDict_GetItemString(keywords, refused[i].name)
                                                                     : NULL;
        if (given && given != Py_None && !is_default(given)) {
            tw__py_error(PyExc_NotImplementedError, "tf.Variable: the argument '%s' is not supported, got %R", refused[i].name,
                         given);
            return false;
        }
    }
    return true;
}

/* Keywords without synchronization and aggregation, which `supported` has let through; a new dict, NULL for none. */
static PyObject *without_defaults(PyObject *keywords)
{
    PyObject *rest = keywords ? PyDict_Copy(keywords) : NULL;
    static const char *const names[] = { "synchronization", "aggregation" };
    for (size_t i = 0; rest && i < sizeof names / sizeof *names; i++) {
        if (PyDict_GetItemString(rest, names[i]) && PyDict_DelItemString(rest, names[i]) < 0)
            Py_CLEAR(rest);
    }
    return rest;
}

/* The first value, called if it is a function, and the rest to the row. */
static int make(PyObject *self, PyObject *arguments, PyObject *keywords, PyObject *first)
{
    initproc base = PyType_GetSlot(tw__py_object_type, Py_tp_init);
    if (!PyCallable_Check(first) || TW_IS_TENSOR(first))
        return base(self, arguments, keywords);
    PyObject *made = PyObject_CallNoArgs(first);
    Py_ssize_t count = PyTuple_Size(arguments);
    PyObject *changed = made ? PyTuple_New(count ? count : 1) : NULL, *others = NULL;
    int result = -1;
    if (changed) {
        PyTuple_SetItem(changed, 0, made);
        for (Py_ssize_t i = 1; i < count; i++) {
            PyObject *item = PyTuple_GetItem(arguments, i);
            Py_INCREF(item);
            PyTuple_SetItem(changed, i, item);
        }
        others = keywords ? PyDict_Copy(keywords) : NULL;
        if (others && !count)
            PyDict_DelItemString(others, "initial_value");
        result = PyErr_Occurred() ? -1 : base(self, changed, others);
    } else {
        Py_XDECREF(made);
    }
    Py_XDECREF(changed);
    Py_XDECREF(others);
    return result;
}

static int init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    /* initial_value may be a function that gives it; what is not supported is refused rather than ignored. */
    PyObject *first = PyTuple_Size(arguments) > 0 ? PyTuple_GetItem(arguments, 0)
                      : keywords                  ? PyDict_GetItemString(keywords, "initial_value")
                                                  : NULL;
    if (!first || first == Py_None) {
        tw__py_error(PyExc_ValueError,
                     "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                     "`variable_def`. You provided neither.");
        return -1;
    }
    if (!supported(arguments, keywords))
        return -1;
    PyObject *rest = without_defaults(keywords);
    int result = keywords && !rest ? -1 : make(self, arguments, rest, first);
    Py_XDECREF(rest);
    return result;
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_FromString("/job:localhost/replica:0/task:0/device:CPU:0");
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

static PyObject *get_enum(PyObject *self, void *names)
{
    (void)self;
    PyObject *module = PyImport_ImportModule("thalweg._enums");
    PyObject *class = module ? PyObject_GetAttrString(module, ((const char *const *)names)[0]) : NULL;
    PyObject *value = class ? PyObject_GetAttrString(class, ((const char *const *)names)[1]) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(class);
    return value;
}

static const char *const synchronization[] = { "VariableSynchronization", "AUTO" }, *const aggregation[] = {
    "VariableAggregation", "NONE"
};

static PyMethodDef methods[] = {
    { "numpy", numpy, METH_NOARGS, "The value as a NumPy array or scalar." },
    { "value", value, METH_NOARGS, "The value as a tensor." },
    { "__array__", (PyCFunction)(void (*)(void))array, METH_VARARGS | METH_KEYWORDS, NULL },
    { "__complex__", to_complex, METH_NOARGS, NULL },
    { "__reduce__", reduce, METH_NOARGS, NULL },
    { "__deepcopy__", deep_copy, METH_O, NULL },
    { "get_shape", get_shape, METH_NOARGS, "The shape." },
    { "set_shape", set_shape, METH_O, "Checks that the shape is compatible with another." },
    { "ref", tw__py_reference, METH_NOARGS, "A hashable reference to this variable." },
    { "experimental_ref", tw__py_reference, METH_NOARGS, "A hashable reference to this variable." },
    { 0 },
};

static PyGetSetDef getters[] = {
    { "device", get_device, NULL, "Where the variable is.", NULL },
    { "constraint", get_none, NULL, "The function that projects the value after an update; None.", NULL },
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

/* ---- what an assignment gives ---- */

/* The variable again, but printed as TensorFlow prints what comes out of assign: it holds the variable and is no peer of its own.
 */
static void end_unread(PyObject *self)
{
    tw__py_object *object = (tw__py_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (object->weak)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(object->dict);
    tw_release(object->object);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static int traverse_unread(PyObject *self, visitproc visit, void *arg)
{
    tw__py_object *object = (tw__py_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(object->dict);
    if (object->object)
        Py_VISIT((PyObject *)object->object->peer);
    return 0;
}

static int clear_unread(PyObject *self)
{
    Py_CLEAR(((tw__py_object *)self)->dict);
    return 0;
}

static PyType_Slot unread_slots[] = {
    { Py_tp_dealloc, end_unread },
    { Py_tp_traverse, traverse_unread },
    { Py_tp_clear, clear_unread },
    { 0 },
};
static PyType_Spec unread_spec = { "thalweg.UnreadVariable", sizeof(tw__py_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                   unread_slots };

PyObject *tw__py_unread(PyObject *variable)
{
    if (!variable || !tw__py_is_variable(variable))
        return variable;
    if (!unread_type) {
        PyObject *made = PyType_FromSpecWithBases(&unread_spec, (PyObject *)variable_type);
        if (!made) {
            Py_DECREF(variable);
            return NULL;
        }
        unread_type = (PyTypeObject *)made;
    }
    allocfunc allocate = PyType_GetSlot(unread_type, Py_tp_alloc);
    tw__py_object *out = (tw__py_object *)allocate(unread_type, 0);
    if (out)
        out->object = ((tw__py_object *)variable)->object; /* our reference to the peer becomes its */
    else
        Py_DECREF(variable);
    return (PyObject *)out;
}

PyObject *tw__py_variable_assign(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names)
{
    return tw__py_unread(tw__py_function_call(function, arguments, count, names));
}
