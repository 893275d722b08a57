/* Keras tensors in Python: printing, operators, indices; and calls of layers and functions with them, which C notes instead of
 * running. */
#include "extension.h"

static PyTypeObject *keras_tensor_type(void)
{
    static PyTypeObject *type;
    return type ? type : (type = tw__py_type_of(&tw__class_keras_tensor));
}

bool tw__py_is_keras_tensor(PyObject *value)
{
    return Py_TYPE(value) == keras_tensor_type();
}

void *tw__py_input_layer(PyObject *tensor)
{
    const tw_keras_tensor *object = tw__py_self(tensor);
    return object && tw__is(object->layer, &tw__class_layers_input_layer) ? object->layer : NULL;
}

bool tw__py_has_keras_tensor(PyObject *value)
{
    if (tw__py_is_keras_tensor(value))
        return true;
    bool list = PyList_Check(value), tuple = PyTuple_Check(value);
    if (!list && !tuple && !PyDict_Check(value))
        return false;
    if (Py_EnterRecursiveCall(" in a structure of tensors")) {
        PyErr_Clear();
        return false;
    }
    bool found = false;
    if (PyDict_Check(value)) {
        PyObject *key, *item;
        Py_ssize_t position = 0;
        while (!found && PyDict_Next(value, &position, &key, &item))
            found = tw__py_has_keras_tensor(item);
    } else {
        Py_ssize_t count = list ? PyList_Size(value) : PyTuple_Size(value);
        for (Py_ssize_t i = 0; !found && i < count; i++)
            found = tw__py_has_keras_tensor(list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i));
    }
    Py_LeaveRecursiveCall();
    return found;
}

/* Slices as Keras writes them: {"start", "stop", "step"}; "..." for an ellipsis. */
static PyObject *slice_spec(PyObject *key)
{
    if (PySlice_Check(key)) {
        PyObject *start = PyObject_GetAttrString(key, "start"), *stop = PyObject_GetAttrString(key, "stop"),
                 *step = PyObject_GetAttrString(key, "step");
        return Py_BuildValue("{sNsNsN}", "start", start, "stop", stop, "step", step);
    }
    if (key == Py_Ellipsis)
        return PyUnicode_FromString("...");
    if (!PyTuple_Check(key)) {
        Py_INCREF(key);
        return key;
    }
    Py_ssize_t count = PyTuple_Size(key);
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *item = slice_spec(PyTuple_GetItem(key, i));
        if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *tw__py_connect(void *layer, PyObject *arguments, PyObject *keywords, int training)
{
    tw__auto(tw_value_free) tw_value given = { .kind = TW_VALUE_NONE };
    tw__auto(tw_value_free) tw_value named = { .kind = TW_VALUE_NONE };
    tw_value result = { .kind = TW_VALUE_NONE };
    bool good = tw__py_read_value(arguments, &given) && (!keywords || tw__py_read_value(keywords, &named));
    if (good && tw__layer_connect(layer, &given, named.kind == TW_VALUE_DICT && named.list.count ? &named : NULL, training,
                                  &result) != TW_OK) {
        tw_value_free(&result);
        tw__py_raise();
        good = false;
    }
    return good ? tw__py_value(&result) : NULL;
}

/* Makes a layer of a function and calls it. */
PyObject *tw__py_keras_call(const char *path, PyObject *arguments, PyObject *keywords)
{
    tw__auto(tw_value_free) tw_value given = { .kind = TW_VALUE_NONE }, named = { .kind = TW_VALUE_NONE };
    PyObject *out = NULL;
    if (tw__py_read_value(arguments, &given) && (!keywords || tw__py_read_value(keywords, &named))) {
        tw_call_keras_op_args args = { .function = path, .arguments = given, .named = named };
        tw_value result = tw__impl_call_keras_op(&args);
        out = result.kind == TW_VALUE_NONE && tw_error_code() != TW_OK ? tw__py_raise() : tw__py_value(&result);
    }
    return out;
}

static PyObject *binary(const char *path, PyObject *left, PyObject *right)
{
    const char *second = strcmp(path, "linalg.matmul") == 0 ? "b" : "y";
    tw__py_auto PyObject *arguments = NULL;
    tw__py_auto PyObject *keywords = Py_BuildValue("{sOsO}", second, right, "name", Py_None);
    PyObject *out = NULL;
    if (PyLong_Check(left)) /* a number on the left becomes one of the tensor's kind */
        arguments = Py_BuildValue("(N)", PyNumber_Float(left));
    else
        arguments = Py_BuildValue("(O)", left);
    if (arguments && keywords)
        out = tw__py_keras_call(path, arguments, keywords);
    return out;
}

static PyObject *unary(const char *path, PyObject *self)
{
    tw__py_auto PyObject *arguments = Py_BuildValue("(O)", self);
    PyObject *out = NULL;
    tw__py_auto PyObject *keywords = strcmp(path, "math.abs") == 0 ? PyDict_New() : Py_BuildValue("{sO}", "name", Py_None);
    if (arguments && keywords)
        out = tw__py_keras_call(path, arguments, keywords);
    return out;
}

TW_BINARY_SLOT(add, "__operators__.add")
TW_BINARY_SLOT(subtract, "math.subtract")
TW_BINARY_SLOT(multiply, "math.multiply")
TW_BINARY_SLOT(true_divide, "math.truediv")
TW_BINARY_SLOT(floor_divide, "compat.v1.floor_div")
TW_BINARY_SLOT(modulo, "math.floormod")
TW_BINARY_SLOT(matrix_multiply, "linalg.matmul")
TW_BINARY_SLOT(and, "math.logical_and")
TW_BINARY_SLOT(or, "math.logical_or")
TW_BINARY_SLOT(xor, "math.logical_xor")

static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    (void)modulus;
    return binary("math.pow", left, right);
}

TW_UNARY_SLOT(negative, "math.negative")
TW_UNARY_SLOT(absolute, "math.abs")
TW_UNARY_SLOT(invert, "math.logical_not")

static PyObject *compare(PyObject *self, PyObject *other, int which)
{
    static const char *const paths[] = {
        [Py_LT] = "math.less", [Py_LE] = "math.less_equal", [Py_GT] = "math.greater", [Py_GE] = "math.greater_equal"
    };
    if (which == Py_EQ || which == Py_NE)
        return PyBool_FromLong((self == other) == (which == Py_EQ));
    return binary(paths[which], self, other);
}

static Py_hash_t hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)self >> 4);
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    tw__py_auto PyObject *spec = slice_spec(key), *arguments = Py_BuildValue("(O)", self);
    tw__py_auto PyObject *keywords = spec ? Py_BuildValue("{sO}", "slice_spec", spec) : NULL;
    return arguments && keywords ? tw__py_keras_call("__operators__.getitem", arguments, keywords) : NULL;
}

static PyObject *refuse(const char *what)
{
    return tw__py_error(PyExc_TypeError, "%s", what);
}

static PyObject *iterate(PyObject *self)
{
    (void)self;
    return refuse("Cannot iterate over a Tensor with unknown first dimension.");
}

static int truth(PyObject *self)
{
    (void)self;
    refuse("Using a symbolic Keras tensor as a Python `bool` is not allowed.");
    return -1;
}

static PyObject *text(PyObject *self, bool whole)
{
    tw_keras_tensor_text_args args = { .self = tw__py_self(self), .whole = whole };
    tw__owned char *made = args.self ? tw__impl_keras_tensor_text(&args) : NULL;
    return made ? PyUnicode_FromString(made) : tw__py_raise();
}

static PyObject *repr(PyObject *self)
{
    return text(self, false);
}

static PyObject *str(PyObject *self)
{
    return text(self, true);
}

PyType_Slot tw__py_keras_tensor_slots[] = {
    TW_NUMBER_SLOTS,      { Py_nb_bool, truth },   { Py_tp_richcompare, compare },
    { Py_tp_hash, hash }, { Py_tp_iter, iterate }, { Py_mp_subscript, subscript },
    { Py_tp_repr, repr }, { Py_tp_str, str },      { 0 },
};

/* A row was called with Keras tensors: its arguments by position, and by name. */
PyObject *tw__py_keras_row(const tw_signature *signature, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    tw__py_auto PyObject *positional = PyTuple_New(count), *named = PyDict_New();
    bool good = positional && named;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        Py_INCREF(arguments[i]);
        good = PyTuple_SetItem(positional, i, arguments[i]) == 0;
    }
    for (Py_ssize_t i = 0; good && names && i < PyTuple_Size(names); i++)
        good = PyDict_SetItem(named, PyTuple_GetItem(names, i), arguments[count + i]) == 0;
    /* The first argument stands by itself; others are kept by name. */
    PyObject *first = good && count ? PyTuple_GetSlice(positional, 0, 1) : NULL;
    for (Py_ssize_t i = 1; good && i < count && i < signature->field_count; i++)
        good = PyDict_SetItemString(named, signature->fields[i].name, arguments[i]) == 0;
    if (good && !first && signature->field_count) {
        PyObject *value = PyDict_GetItemString(named, signature->fields[0].name);
        first = value ? Py_BuildValue("(O)", value) : PyTuple_New(0);
        if (value)
            PyDict_DelItemString(named, signature->fields[0].name);
    }
    /* Functions that are one op are called with their name, too. */
    if (good && signature->field_count == 2 && strcmp(signature->fields[1].name, "name") == 0 &&
        !PyDict_GetItemString(named, "name"))
        good = PyDict_SetItemString(named, "name", Py_None) == 0;
    char path[160];
    const char *known = strstr(signature->path, "|math."); /* TensorFlow's own name of reduce_sum is math.reduce_sum */
    if (!known || memchr(signature->path, '.', strcspn(signature->path, "|")))
        known = strstr(signature->path, "|linalg.matmul");
    known = known ? known + 1 : signature->path;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(known, "|"), known);
    PyObject *out = good && first ? tw__py_keras_call(path, first, named) : NULL;
    Py_XDECREF(first);
    return out;
}
