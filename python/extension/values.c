/* Values of any kind (tw_value) from Python and to Python: results of rows, and arguments that may be anything. */
#include "extension.h"

/* A text that is an argument; what it is made of is kept in the frame. NULL: an exception is set. */
const char *tw__py_text(tw__py_frame *frame, PyObject *value, const char *function, const char *argument)
{
    if (PyUnicode_Check(value)) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(value, &size);
        if (text && strlen(text) != (size_t)size) {
            tw__py_error(PyExc_ValueError, "%s(): the argument '%s' holds a zero character", function, argument);
            return NULL;
        }
        return text;
    }
    if (PyBytes_Check(value))
        return PyBytes_AsString(value);
    if (TW_IS_TENSOR(value) && TW_TENSOR(value)->dtype == TW_STRING && !TW_TENSOR(value)->data) {
        tw__py_error(
            PyExc_TypeError,
            "%s(): the argument '%s' must be a string, got %R, whose value is not known while a function is traced or a graph is built",
            function, argument, value);
        return NULL;
    }
    if (TW_IS_TENSOR(value) && TW_TENSOR(value)->dtype == TW_STRING && TW_TENSOR(value)->count == 1) {
        PyObject *bytes = tw__py_item(TW_TENSOR(value), 0);
        const char *text = bytes ? PyBytes_AsString(bytes) : NULL;
        return tw__py_keep_python(frame, bytes) ? text : NULL;
    }
    PyObject *path = PyOS_FSPath(value);
    if (path) {
        const char *text = PyUnicode_Check(path) ? PyUnicode_AsUTF8AndSize(path, NULL) : PyBytes_AsString(path);
        return tw__py_keep_python(frame, path) ? text : NULL;
    }
    PyErr_Clear();
    tw__py_error(PyExc_TypeError, "%s(): the argument '%s' must be a string, got %R of type %R", function, argument, value,
                 Py_TYPE(value));
    return NULL;
}

PyObject *tw__py_value(tw_value *value)
{
    PyObject *out = NULL;
    switch (value->kind) {
    case TW_VALUE_TENSOR:
        return tw__py_wrap_tensor(value->tensor);
    case TW_VALUE_NONE:
        Py_RETURN_NONE;
    case TW_VALUE_OBJECT:
        return tw__py_wrap(value->object);
    case TW_VALUE_BOOL:
        return PyBool_FromLong(value->b);
    case TW_VALUE_INT:
        return PyLong_FromLongLong(value->i);
    case TW_VALUE_FLOAT:
        return PyFloat_FromDouble(value->f);
    case TW_VALUE_DTYPE:
        return tw__py_wrap_dtype(value->dtype);
    case TW_VALUE_STR:
        out = PyUnicode_DecodeUTF8(value->s.data, (Py_ssize_t)value->s.size, "replace");
        break;
    case TW_VALUE_BYTES:
        out = PyBytes_FromStringAndSize(value->s.data, (Py_ssize_t)value->s.size);
        break;
    case TW_VALUE_SHAPE:
        out = tw__py_wrap_shape(value->shape);
        break;
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE: {
        if (value->list.form) {
            out = tw__py_formed(value, false);
            break;
        }
        bool tuple = value->kind == TW_VALUE_TUPLE;
        out = tuple ? PyTuple_New((Py_ssize_t)value->list.count) : PyList_New((Py_ssize_t)value->list.count);
        for (int64_t i = 0; out && i < value->list.count; i++) {
            PyObject *item = tw__py_value(&value->list.items[i]);
            value->list.items[i].kind = TW_VALUE_NONE;
            if (!item || (tuple ? PyTuple_SetItem(out, (Py_ssize_t)i, item) : PyList_SetItem(out, (Py_ssize_t)i, item)) < 0)
                Py_CLEAR(out);
        }
        break;
    }
    case TW_VALUE_DICT:
        out = value->list.form ? tw__py_formed(value, false) : PyDict_New();
        for (int64_t i = 0; out && !value->list.form && i + 1 < value->list.count; i += 2) {
            tw__py_auto PyObject *key = tw__py_value(&value->list.items[i]), *item = tw__py_value(&value->list.items[i + 1]);
            value->list.items[i].kind = value->list.items[i + 1].kind = TW_VALUE_NONE;
            if (!key || !item || PyDict_SetItem(out, key, item) < 0)
                Py_CLEAR(out);
        }
        break;
    }
    tw_value_free(value);
    return out;
}

static PyObject *array_of(tw_value *value)
{
    PyObject *array = tw__py_to_array(value->tensor, true, true);
    tw_value_free(value);
    return array;
}

static PyObject *arrays_of_dict(tw_value *value)
{
    PyObject *dict = PyDict_New();
    for (int64_t i = 0; dict && i + 1 < value->list.count; i += 2) {
        tw__py_auto PyObject *key = tw__py_value(&value->list.items[i]), *item = tw__py_arrays(&value->list.items[i + 1]);
        value->list.items[i].kind = value->list.items[i + 1].kind = TW_VALUE_NONE;
        if (!key || !item || PyDict_SetItem(dict, key, item) < 0)
            Py_CLEAR(dict);
    }
    tw_value_free(value);
    return dict;
}

/* Rows that say "-> tensor<numpy>": arrays, which nobody else sees. */
PyObject *tw__py_arrays(tw_value *value)
{
    bool tuple = value->kind == TW_VALUE_TUPLE;
    if (value->kind == TW_VALUE_TENSOR)
        return array_of(value);
    if ((tuple || value->kind == TW_VALUE_DICT) && value->list.form) {
        PyObject *made = tw__py_formed(value, true);
        tw_value_free(value);
        return made;
    }
    if (value->kind == TW_VALUE_DICT)
        return arrays_of_dict(value);
    if (value->kind != TW_VALUE_LIST && !tuple)
        return tw__py_value(value);
    PyObject *list = PyList_New((Py_ssize_t)value->list.count);
    for (int64_t i = 0; list && i < value->list.count; i++) {
        PyObject *item = tw__py_arrays(&value->list.items[i]);
        value->list.items[i].kind = TW_VALUE_NONE;
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    tw_value_free(value);
    PyObject *made = tuple && list ? PyList_AsTuple(list) : list;
    if (tuple)
        Py_XDECREF(list);
    return made;
}

/* Whether it is of a class below dict that is not Python's own: results keep it, as tf.nest does. */
static bool is_own_dict(PyObject *dict)
{
    if (PyDict_CheckExact(dict))
        return false;
    tw__py_auto PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(dict), "__module__");
    PyErr_Clear();
    return module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "collections") != 0;
}

/* Its pairs by their keys, and its form; keys that can't be sorted make it a plain dict. */
static bool sort_own_dict(PyObject *dict, PyObject *pairs, void **form)
{
    tw__py_auto PyObject *keys = PyList_New(PyList_Size(pairs));
    if (PyList_Sort(pairs) < 0) {
        PyErr_Clear();
        return true;
    }
    for (Py_ssize_t i = 0; keys && i < PyList_Size(pairs); i++)
        PyList_SetItem(keys, i, Py_NewRef(PyTuple_GetItem(PyList_GetItem(pairs, i), 0)));
    return keys && tw__py_form_of_mapping(dict, keys, form);
}

bool tw__py_read_value(PyObject *value, tw_value *out)
{
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (value == Py_None)
        return true;
    if (value == Py_Ellipsis) { /* any number of dimensions */
        *out = tw__value_str("*");
        return out->kind == TW_VALUE_STR || (tw__py_raise(), false);
    }
    if (Py_TYPE(value) == tw__py_shape_type) {
        tw__py_auto PyObject *sizes = PySequence_Tuple(value);
        bool good = sizes && tw__py_read_value(sizes, out);
        return good;
    }
    if (PyBool_Check(value)) {
        *out = (tw_value){ .kind = TW_VALUE_BOOL, .b = value == Py_True };
    } else if (PyLong_Check(value)) {
        *out = (tw_value){ .kind = TW_VALUE_INT, .i = PyLong_AsLongLong(value) };
        return !PyErr_Occurred();
    } else if (PyFloat_Check(value)) {
        *out = (tw_value){ .kind = TW_VALUE_FLOAT, .f = PyFloat_AsDouble(value) };
    } else if (PyUnicode_Check(value) || PyBytes_Check(value)) {
        Py_ssize_t size;
        char *bytes = NULL;
        const char *text = NULL;
        if (PyUnicode_Check(value))
            text = PyUnicode_AsUTF8AndSize(value, &size);
        else if (PyBytes_AsStringAndSize(value, &bytes, &size) == 0)
            text = bytes;
        char *copy = text ? tw__strndup(text, (size_t)size) : NULL;
        if (!copy)
            return text ? (tw__py_raise(), false) : false;
        *out = (tw_value){ .kind = PyUnicode_Check(value) ? TW_VALUE_STR : TW_VALUE_BYTES, .s = { copy, (size_t)size } };
    } else if (TW_IS_TENSOR(value)) {
        *out = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(TW_TENSOR(value)) };
    } else if (tw__py_is_object(value)) {
        void *object = tw__py_self(value);
        *out = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(object) };
        return object != NULL;
    } else if (Py_TYPE(value) == tw__py_dtype_type) {
        out->kind = TW_VALUE_DTYPE;
        return tw__py_as_dtype(value, &out->dtype);
    } else if (PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value)) {
        if (Py_EnterRecursiveCall(" in a nested value"))
            return false;
        bool dict = PyDict_Check(value);
        PyObject *pairs = dict ? PyDict_Items(value) : NULL;
        Py_ssize_t count = dict ? 2 * PyList_Size(pairs) : PySequence_Size(value);
        tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
        *out = (tw_value){ .kind = dict                  ? TW_VALUE_DICT
                                   : PyList_Check(value) ? TW_VALUE_LIST
                                                         : TW_VALUE_TUPLE,
                           .list = { items, 0 } };
        bool good = items != NULL;
        if (!good)
            tw__py_raise();
        good = good && (!PyTuple_Check(value) || tw__py_form_of_tuple(value, &out->list.form));
        good = good && (!dict || !is_own_dict(value) || sort_own_dict(value, pairs, &out->list.form));
        for (Py_ssize_t i = 0; good && i < count; i++) {
            tw__py_auto PyObject *item =
                dict ? PySequence_GetItem(PyList_GetItem(pairs, i / 2), i % 2) : PySequence_GetItem(value, i);
            good = item && tw__py_read_value(item, &items[i]);
            if (item)
                out->list.count = i + 1;
        }
        Py_XDECREF(pairs);
        Py_LeaveRecursiveCall();
        return good;
    } else if (PyObject_HasAttrString(value, "__fspath__")) {
        tw__py_auto PyObject *path = PyOS_FSPath(value);
        return path && tw__py_read_value(path, out);
    } else if (PyCallable_Check(value)) {
        void *made = tw__py_make_callable(value);
        *out = (tw_value){ .kind = TW_VALUE_OBJECT, .object = made };
        return made != NULL;
    } else {
        tw_tensor *tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
        if (!tensor)
            return false;
        *out = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor };
    }
    return true;
}
