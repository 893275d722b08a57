/* Ragged and sparse tensors in Python: as arguments of functions of tensors, operators and indices of tf.RaggedTensor, taking
 * them apart. */
#include "extension.h"

void *tw__py_composite(PyObject *value)
{
    tw_object *object = tw__py_is_object(value) ? tw__py_handle(value) : NULL;
    return tw__is_composite(object) ? object : NULL;
}

static bool prepare(tw__py_frame *frame, const tw_signature *signature)
{
    if (frame->mixed_values)
        return true;
    size_t count = (size_t)signature->field_count + 1;
    frame->mixed_values = tw__py_keep_block(frame, count * sizeof(void *));
    frame->mixed_lists = frame->mixed_values ? tw__py_keep_block(frame, count * sizeof(tw_objects)) : NULL;
    return frame->mixed_lists != NULL;
}

bool tw__py_mixed_value(tw__py_frame *frame, const tw_signature *signature, int field, void *composite)
{
    if (!prepare(frame, signature))
        return false;
    frame->mixed_values[field] = composite; /* the argument keeps it */
    return true;
}

bool tw__py_mixed_list(tw__py_frame *frame, const tw_signature *signature, int field, PyObject *list, tw_dtype dtype,
                       tw__py_how how)
{
    Py_ssize_t count = PyList_Size(list);
    void **items = prepare(frame, signature) ? tw__py_keep_block(frame, (size_t)count * sizeof *items) : NULL;
    bool good = items != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        items[i] = tw__py_composite(item);
        if (items[i])
            tw_retain(items[i]);
        else
            items[i] = tw__py_to_tensor(item, dtype, how);
        good = tw__py_keep_object(frame, items[i]);
    }
    if (good)
        ((tw_objects *)frame->mixed_lists)[field] = (tw_objects){ items, count };
    return good;
}

tw_status tw__py_call_mixed(const tw_signature *signature, const tw__py_frame *frame, const void *args, tw_value *result)
{
    return tw__call_composite(signature, args, &(tw__mixed){ frame->mixed_values, frame->mixed_lists }, result);
}

/* ---- operators ---- */

static PyObject *operate(const char *path, PyObject *left, PyObject *right)
{
    bool reflected = !tw__py_unwrap(left, &tw__class_ragged_tensor);
    PyObject *own = reflected ? right : left, *other = reflected ? left : right;
    tw_value given = { .kind = TW_VALUE_NONE };
    if (other && !tw__py_read_value(other, &given)) {
        tw_value_free(&given);
        return NULL;
    }
    tw_ragged_tensor_operate_args args = {
        .self = tw__py_unwrap(own, &tw__class_ragged_tensor), .path = path, .other = given, .reflected = reflected
    };
    tw_value result = tw__impl_ragged_tensor_operate(&args);
    tw_value_free(&given);
    if (tw_error_code() != TW_OK) {
        tw_value_free(&result);
        return tw__py_raise();
    }
    return tw__py_value(&result);
}

#define BINARY(name, path)                                 \
    static PyObject *name(PyObject *left, PyObject *right) \
    {                                                      \
        return operate(path, left, right);                 \
    }
BINARY(add, "math.add")
BINARY(subtract, "math.subtract")
BINARY(multiply, "math.multiply")
BINARY(divide, "math.truediv")
BINARY(floor_divide, "math.floordiv")
BINARY(remainder_of, "math.floormod")

/* and, or, xor of truth values or of bits. */
static PyObject *logical(const char *of_truth, const char *of_bits, PyObject *left, PyObject *right)
{
    tw_ragged_tensor *own = tw__py_unwrap(left, &tw__class_ragged_tensor);
    own = own ? own : tw__py_unwrap(right, &tw__class_ragged_tensor);
    return operate(tw__value_dtype(own) == TW_BOOL ? of_truth : of_bits, left, right);
}

static PyObject *both(PyObject *left, PyObject *right)
{
    return logical("math.logical_and", "bitwise.bitwise_and", left, right);
}

static PyObject *either(PyObject *left, PyObject *right)
{
    return logical("math.logical_or", "bitwise.bitwise_or", left, right);
}

static PyObject *one_of(PyObject *left, PyObject *right)
{
    return logical("math.logical_xor", "bitwise.bitwise_xor", left, right);
}

static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    if (modulus != Py_None)
        return tw__py_error(PyExc_TypeError, "pow() of ragged tensors takes no third argument");
    return operate("math.pow", left, right);
}

static PyObject *negative(PyObject *self)
{
    return operate("math.negative", self, NULL);
}

static PyObject *absolute(PyObject *self)
{
    return operate("math.abs", self, NULL);
}

static PyObject *invert(PyObject *self)
{
    return operate(tw__value_dtype(tw__py_self(self)) == TW_BOOL ? "math.logical_not" : "bitwise.invert", self, NULL);
}

static PyObject *compare(PyObject *self, PyObject *other, int which)
{
    static const char *const paths[] = {
        [Py_LT] = "math.less",      [Py_LE] = "math.less_equal", [Py_EQ] = "math.equal",
        [Py_NE] = "math.not_equal", [Py_GT] = "math.greater",    [Py_GE] = "math.greater_equal"
    };
    if (other == Py_None && (which == Py_EQ || which == Py_NE))
        return PyBool_FromLong(which == Py_NE);
    return operate(paths[which], self, other);
}

/* ---- indices ---- */

static bool read_item(PyObject *item, tw_value *out)
{
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (item == Py_None)
        return true;
    if (item == Py_Ellipsis) {
        *out = tw__value_str("...");
        return out->kind == TW_VALUE_STR || tw__py_raise() != NULL;
    }
    if (PyObject_TypeCheck(item, &PySlice_Type)) {
        static const char *const names[] = { "start", "stop", "step" };
        *out = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array(3, sizeof(tw_value)), 3 } };
        bool good = out->list.items != NULL || tw__py_raise() != NULL;
        for (int i = 0; good && i < 3; i++) {
            tw__py_auto PyObject *part = PyObject_GetAttrString(item, names[i]);
            good = part && read_item(part, &out->list.items[i]);
        }
        return good;
    }
    if (PyLong_Check(item) && !PyBool_Check(item))
        return tw__py_read_value(item, out);
    if (tw__py_is_tensor_like(item) || (PyIndex_Check(item) && !PyBool_Check(item))) {
        tw_tensor *tensor = tw__py_to_tensor(item, TW_DTYPE_NONE, TW_HINT);
        *out = (tw_value){ .kind = tensor ? TW_VALUE_TENSOR : TW_VALUE_NONE, .tensor = tensor };
        return tensor != NULL;
    }
    tw__py_error(
        PyExc_TypeError,
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid "
        "indices, got %R",
        item);
    return false;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    bool tuple = PyTuple_Check(key);
    Py_ssize_t count = tuple ? PyTuple_Size(key) : 1;
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)count + 1, sizeof(tw_value)), 0 } };
    bool good = list.list.items != NULL || tw__py_raise() != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        good = read_item(tuple ? PyTuple_GetItem(key, i) : key, &list.list.items[i]);
        list.list.count = i + 1;
    }
    tw_value result = { .kind = TW_VALUE_NONE };
    if (good) {
        result = tw__impl_ragged_tensor_get(&(tw_ragged_tensor_get_args){ .self = tw__py_self(self), .key = list });
        good = tw_error_code() == TW_OK || tw__py_raise() != NULL;
    }
    tw_value_free(&list);
    if (good)
        return tw__py_value(&result);
    tw_value_free(&result);
    return NULL;
}

static PyObject *iterate(PyObject *self)
{
    const tw_ragged_tensor *ragged = tw__py_self(self);
    if (!ragged->splits->data || ragged->splits->node)
        return tw__py_error(
            PyExc_TypeError,
            "Iterating over a symbolic `tf.RaggedTensor` is not allowed: AutoGraph did convert this function. This might "
            "indicate you are trying to use an unsupported feature.");
    tw__py_auto PyObject *rows = PyList_New(0);
    for (int64_t i = 0; rows && i + 1 < ragged->splits->count; i++) {
        tw__py_auto PyObject *number = PyLong_FromLongLong(i), *row = number ? subscript(self, number) : NULL;
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
    }
    return rows ? PyObject_GetIter(rows) : NULL;
}

static PyObject *to_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._ragged");
    return module ? PyObject_CallMethod(module, "numpy_of", "O", self) : NULL;
}

static PyMethodDef methods[] = { { "numpy", to_numpy, METH_NOARGS,
                                   TW_SIGNATURE(
                                       "numpy($self)") "The rows as a NumPy array; of objects if their lengths differ." },
                                 { 0 } };

PyType_Slot tw__py_ragged_slots[] = {
    { Py_nb_add, add },
    { Py_nb_subtract, subtract },
    { Py_nb_multiply, multiply },
    { Py_nb_true_divide, divide },
    { Py_nb_floor_divide, floor_divide },
    { Py_nb_remainder, remainder_of },
    { Py_nb_power, power },
    { Py_nb_and, both },
    { Py_nb_or, either },
    { Py_nb_xor, one_of },
    { Py_nb_negative, negative },
    { Py_nb_absolute, absolute },
    { Py_nb_invert, invert },
    { Py_tp_richcompare, compare },
    { Py_mp_subscript, subscript },
    { Py_tp_iter, iterate },
    { Py_tp_methods, methods },
    { 0 },
};

/* ---- taking apart ---- */

PyObject *tw__py_composite_parts(PyObject *self, PyObject *value)
{
    (void)self;
    void *composite = tw__py_composite(value);
    if (!composite)
        Py_RETURN_NONE;
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    return tw__py_wrap_list(parts, tw__composite_parts(composite, parts));
}

PyObject *tw__py_is_any_tensor(PyObject *self, PyObject *value)
{
    (void)self;
    return PyBool_FromLong(PyObject_TypeCheck(value, tw__py_tensor_type) || tw__py_is_variable(value) || tw__py_composite(value));
}
