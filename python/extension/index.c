/* t[...] for tensors and variables, and iteration. Indices are composed into one StridedSlice, so they can be differentiated. */
#include "extension.h"

static PyObject *bad_index(PyObject *key)
{
    return tw__py_error(
        PyExc_TypeError,
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid "
        "indices, got %R",
        key);
}

typedef struct spec {
    int32_t begin[TW_MAX_RANK * 2], end[TW_MAX_RANK * 2], stride[TW_MAX_RANK * 2];
    tw_tensor *begin_of[TW_MAX_RANK * 2], *end_of[TW_MAX_RANK * 2],
        *stride_of[TW_MAX_RANK * 2]; /* of a graph: in place of the number; borrowed */
    int count;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
} spec;

/* False with an exception: no valid index. A tensor of a graph has no number: it is kept itself. */
static bool read_integer(PyObject *value, int32_t *out, tw_tensor **symbolic)
{
    if (TW_IS_TENSOR(value) && (TW_TENSOR(value)->shape.rank != 0 || !tw__dtype_is_integer(TW_TENSOR(value)->dtype))) {
        bad_index(value);
        return false;
    }
    if (TW_IS_TENSOR(value) && !TW_TENSOR(value)->data) {
        *symbolic = TW_TENSOR(value);
        return true;
    }
    PyObject *number = NULL;
    if (TW_IS_TENSOR(value))
        number = tw__py_item(TW_TENSOR(value), 0);
    else if (PyIndex_Check(value))
        number = PyNumber_Index(value);
    else if (tw__py_is_variable(value))
        number = PyNumber_Long(value);
    PyErr_Clear();
    if (!number) {
        bad_index(value);
        return false;
    }
    int overflow;
    long long wide = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow || wide > INT32_MAX || wide < INT32_MIN) /* slices end at the tensor's end anyway */
        wide = overflow < 0 || wide < 0 ? INT32_MIN : INT32_MAX;
    *out = (int32_t)wide;
    return true;
}

static PyObject *slice_part(PyObject *slice, const char *name)
{
    PyObject *part = PyObject_GetAttrString(slice, name);
    if (part == Py_None) {
        Py_DECREF(part);
        return NULL;
    }
    return part;
}

static bool read_slice(spec *s, PyObject *slice)
{
    int at = s->count;
    bool good = true;
    PyObject *start = slice_part(slice, "start"), *stop = slice_part(slice, "stop"), *step = slice_part(slice, "step");
    s->begin[at] = s->end[at] = 0;
    s->stride[at] = 1;
    if (start)
        good = read_integer(start, &s->begin[at], &s->begin_of[at]);
    else
        s->begin_mask |= 1 << at;
    if (good && stop)
        good = read_integer(stop, &s->end[at], &s->end_of[at]);
    else if (!stop)
        s->end_mask |= 1 << at;
    if (good && step)
        good = read_integer(step, &s->stride[at], &s->stride_of[at]);
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    s->count++;
    return good;
}

static bool read_key(spec *s, PyObject *key)
{
    int at = s->count;
    if (at == TW_MAX_RANK * 2) {
        tw__py_error(PyExc_ValueError, "more than %d indices", TW_MAX_RANK * 2);
        return false;
    }
    if (PySlice_Check(key))
        return read_slice(s, key);
    s->begin[at] = s->end[at] = 0;
    s->stride[at] = 1;
    if (key == Py_Ellipsis) {
        s->ellipsis_mask |= 1 << at;
    } else if (key == Py_None) {
        s->new_axis_mask |= 1 << at;
    } else {
        if (!read_integer(key, &s->begin[at], &s->begin_of[at]))
            return false;
        s->end[at] = s->begin[at] < INT32_MAX ? s->begin[at] + 1 : INT32_MAX; /* not looked at where the axis goes */
        s->shrink_mask |= 1 << at;
    }
    s->count++;
    return true;
}

/* The numbers as a vector; with tensors among them it is packed. */
static tw_tensor *vector(const int32_t *numbers, tw_tensor *const *tensors, int count)
{
    bool symbolic = false;
    for (int i = 0; i < count; i++)
        symbolic |= tensors[i] != NULL;
    if (!symbolic)
        return tw_tensor_new(TW_INT32, TW_SHAPE(count), numbers);
    tw_tensor *items[TW_MAX_RANK * 2] = { 0 }, *out = NULL;
    tw_attr to = TW_A_TYPE("DstT", TW_INT32);
    bool good = true;
    for (int i = 0; good && i < count; i++) {
        items[i] = !tensors[i]                     ? tw_tensor_new(TW_INT32, TW_SCALAR, &numbers[i])
                   : tensors[i]->dtype == TW_INT32 ? tw_retain(tensors[i])
                                                   : tw__call(&tw__op_Cast, &tensors[i], 1, &to, 1);
        good = items[i] != NULL;
    }
    if (good)
        out = tw__call(&tw__op_Pack, items, count, NULL, 0);
    for (int i = 0; i < count; i++)
        tw_release(items[i]);
    return out;
}

static tw_tensor *slice(tw_tensor *tensor, const spec *s)
{
    static const tw_op *op;
    if (!op && !(op = tw__op_find("StridedSlice"))) {
        tw__fail(TW_UNIMPLEMENTED, "StridedSlice is not in the table of ops");
        return NULL;
    }
    tw_auto tw_tensor *begin = vector(s->begin, s->begin_of, s->count), *end = vector(s->end, s->end_of, s->count);
    tw_auto tw_tensor *stride = vector(s->stride, s->stride_of, s->count);
    tw_tensor *out = NULL;
    tw_attr attrs[] = { TW_A_INT("begin_mask", s->begin_mask), TW_A_INT("end_mask", s->end_mask),
                        TW_A_INT("ellipsis_mask", s->ellipsis_mask), TW_A_INT("new_axis_mask", s->new_axis_mask),
                        TW_A_INT("shrink_axis_mask", s->shrink_mask) };
    if (begin && end && stride)
        out = tw__call(op, TW_IN(tensor, begin, end, stride), 4, attrs, 5);
    return out;
}

/* t[mask] with a bool tensor or array: tf.boolean_mask. */
static PyObject *masked(PyObject *self, PyObject *key)
{
    tw__py_auto PyObject *package = PyImport_ImportModule("thalweg");
    return package ? PyObject_CallMethod(package, "boolean_mask", "OO", self, key) : NULL;
}

static bool is_mask(PyObject *key)
{
    if (TW_IS_TENSOR(key))
        return TW_TENSOR(key)->dtype == TW_BOOL;
    if (PyBool_Check(key))
        return true;
    if (PyList_Check(key) || PyTuple_Check(key) || PyLong_CheckExact(key) || PySlice_Check(key) || !PyObject_CheckBuffer(key))
        return false;
    Py_buffer view;
    if (PyObject_GetBuffer(key, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    bool is = view.format && strcmp(view.format, "?") == 0;
    PyBuffer_Release(&view);
    return is;
}

static bool read_keys(spec *s, PyObject *key)
{
    bool many = PyTuple_Check(key) || PyList_Check(key);
    Py_ssize_t count = many ? PySequence_Size(key) : 1;
    int ellipses = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = many ? PySequence_GetItem(key, i) : key;
        ellipses += item == Py_Ellipsis;
        bool good = item && read_key(s, item);
        if (many)
            Py_XDECREF(item);
        if (!good)
            return false;
    }
    if (ellipses > 1)
        tw__py_error(PyExc_ValueError, "Multiple ellipses in slice spec not allowed");
    return ellipses <= 1;
}

/* ---- v[…].assign(value) ---- */

static bool assign_slice(tw_variable *variable, const spec *s, tw_tensor *value)
{
    tw_auto tw_tensor *begin = vector(s->begin, s->begin_of, s->count), *end = vector(s->end, s->end_of, s->count);
    tw_auto tw_tensor *stride = vector(s->stride, s->stride_of, s->count);
    tw_attr attrs[] = { TW_A_INT("begin_mask", s->begin_mask), TW_A_INT("end_mask", s->end_mask),
                        TW_A_INT("ellipsis_mask", s->ellipsis_mask), TW_A_INT("new_axis_mask", s->new_axis_mask),
                        TW_A_INT("shrink_axis_mask", s->shrink_mask) };
    return begin && end && stride &&
           tw__variable_apply(variable, &tw__op_ResourceStridedSliceAssign, TW_IN(variable->handle, begin, end, stride, value), 5,
                              attrs, 5) == TW_OK;
}

/* Bound to (variable, key). */
static PyObject *assign(PyObject *target, PyObject *arguments, PyObject *keywords)
{
    PyObject *self = PyTuple_GetItem(target, 0), *given, *name = NULL;
    static char *names[] = { "value", "name", NULL };
    spec s = { .count = 0 };
    tw_variable *variable = tw__py_self(self);
    if (!variable || !PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:assign", names, &given, &name) ||
        !read_keys(&s, PyTuple_GetItem(target, 1)))
        return NULL;
    tw_tensor *value = tw__py_to_tensor(given, variable->resource->dtype, TW_FORCE);
    if (!value)
        return NULL;
    bool good = assign_slice(variable, &s, value);
    tw_release(value);
    if (!good)
        return tw__py_raise();
    return tw__py_unread(tw__py_wrap(tw_retain(variable)));
}

static PyMethodDef assign_method = { "assign", (PyCFunction)(void (*)(void))assign, METH_VARARGS | METH_KEYWORDS,
                                     "Sets this slice of the variable." };

/* Takes the tensor that a subscript of a variable gave. */
static PyObject *add_assign(PyObject *out, PyObject *self, PyObject *key)
{
    tw__py_auto PyObject *target = out ? PyTuple_Pack(2, self, key) : NULL;
    tw__py_auto PyObject *method = target ? PyCFunction_NewEx(&assign_method, target, NULL) : NULL;
    if (out && (!method || PyObject_SetAttrString(out, "assign", method) < 0))
        Py_CLEAR(out);
    return out;
}

PyObject *tw__py_subscript(PyObject *self, PyObject *key)
{
    if (is_mask(key))
        return masked(self, key);
    spec s = { .count = 0 };
    if (!read_keys(&s, key))
        return NULL;
    tw_auto tw_tensor *tensor = tw__py_to_tensor(self, TW_DTYPE_NONE, TW_HINT);
    PyObject *out = tensor ? tw__py_wrap_tensor(slice(tensor, &s)) : NULL;
    return tw__py_is_variable(self) ? add_assign(out, self, key) : out;
}

/* ---- iteration ---- */

typedef struct iterator {
    PyObject_HEAD PyObject *tensor;
    int64_t at, count;
} iterator;

static PyTypeObject *iterator_type;

static void end(PyObject *self)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((iterator *)self)->tensor);
    PyObject_Free(self);
}

static PyObject *next(PyObject *self)
{
    iterator *i = (iterator *)self;
    if (i->at >= i->count)
        return NULL;
    spec s = { .count = 1, .begin = { (int32_t)i->at }, .end = { (int32_t)i->at + 1 }, .stride = { 1 }, .shrink_mask = 1 };
    i->at++;
    return tw__py_wrap_tensor(slice(TW_TENSOR(i->tensor), &s));
}

static PyType_Slot slots[] = {
    { Py_tp_dealloc, end },
    { Py_tp_iter, PyObject_SelfIter },
    { Py_tp_iternext, next },
    { 0 },
};
static PyType_Spec iterator_spec = { "thalweg.TensorIterator", sizeof(iterator), 0, Py_TPFLAGS_DEFAULT, slots };

PyObject *tw__py_iterate(PyObject *self)
{
    tw_tensor *tensor = tw__py_to_tensor(self, TW_DTYPE_NONE, TW_HINT);
    if (!tensor)
        return NULL;
    if (tensor->shape.rank == 0) {
        tw_release(tensor);
        return tw__py_error(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    }
    if (!iterator_type)
        iterator_type = (PyTypeObject *)PyType_FromSpec(&iterator_spec);
    iterator *out = iterator_type ? PyObject_New(iterator, iterator_type) : NULL;
    if (!out) {
        tw_release(tensor);
        return NULL;
    }
    out->at = 0;
    out->count = tensor->shape.dims[0];
    out->tensor = tw__py_wrap_tensor(tensor);
    if (!out->tensor)
        Py_CLEAR(out);
    return (PyObject *)out;
}
