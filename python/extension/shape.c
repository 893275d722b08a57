/* tf.TensorShape: a tuple of dimensions, each a number or None, or nothing known at all. */
#include "extension.h"

typedef struct shape_object {
    PyObject_HEAD tw_shape shape;
} shape_object;

PyTypeObject *tw__py_shape_type;

static tw_shape *of(PyObject *self)
{
    return &((shape_object *)self)->shape;
}

const tw_shape *tw__py_shape_of(PyObject *value)
{
    return Py_TYPE(value) == tw__py_shape_type ? of(value) : NULL;
}

PyObject *tw__py_wrap_shape(const tw_shape *shape)
{
    shape_object *object = PyObject_New(shape_object, tw__py_shape_type);
    if (object)
        object->shape = *shape;
    return (PyObject *)object;
}

static bool read_dimension(PyObject *value, int64_t *dimension)
{
    if (value == Py_None) {
        *dimension = -1;
        return true;
    }
    PyObject *index = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;
    if (!index) {
        PyErr_Clear();
        tw__py_error(PyExc_TypeError,
                     "Dimension value must be integer or None or have an __index__ method, got value '%R' with type '%R'", value,
                     Py_TYPE(value));
        return false;
    }
    *dimension = PyLong_AsLongLong(index);
    Py_DECREF(index);
    if (*dimension == -1 && PyErr_Occurred())
        return false;
    if (*dimension < 0)
        tw__py_error(PyExc_ValueError, "Dimension %lld must be >= 0", (long long)*dimension);
    return *dimension >= 0;
}

bool tw__py_as_shape(PyObject *value, tw_shape *shape)
{
    *shape = TW_UNKNOWN_SHAPE;
    if (value == Py_None)
        return true;
    if (Py_TYPE(value) == tw__py_shape_type) {
        *shape = *of(value);
        return true;
    }
    tw__py_auto PyObject *index = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;
    if (index) {
        shape->rank = 1;
        return read_dimension(index, &shape->dims[0]);
    }
    PyErr_Clear(); /* arrays with one dimension say that they might be an index, too */
    PyObject *items = PyUnicode_Check(value) || PyBytes_Check(value) ? NULL : PySequence_List(value);
    if (!items) {
        PyErr_Clear();
        tw__py_error(PyExc_TypeError,
                     "Dimension value must be integer or None or have an __index__ method, got value '%R' with type '%R'", value,
                     Py_TYPE(value));
        return false;
    }
    Py_ssize_t count = PyList_Size(items);
    bool good = count <= TW_MAX_RANK;
    if (!good)
        tw__py_error(PyExc_ValueError, "a shape of rank %zd: at most %d dimensions are supported", count, TW_MAX_RANK);
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = read_dimension(PyList_GetItem(items, i), &shape->dims[i]);
    shape->rank = (int32_t)count;
    Py_DECREF(items);
    return good;
}

static PyObject *dimension(int64_t value)
{
    if (value < 0)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(value);
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)type;
    static char *names[] = { "dims", NULL };
    PyObject *value;
    tw_shape shape;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:TensorShape", names, &value) || !tw__py_as_shape(value, &shape))
        return NULL;
    return tw__py_wrap_shape(&shape);
}

static PyObject *str(PyObject *self)
{
    tw__owned char *text = tw__shape_tuple(of(self));
    return text ? PyUnicode_FromString(text) : tw__py_raise();
}

static PyObject *as_list(PyObject *self, PyObject *unused)
{
    (void)unused;
    const tw_shape *shape = of(self);
    if (shape->rank < 0)
        return tw__py_error(PyExc_ValueError, "as_list() is not defined on an unknown TensorShape.");
    PyObject *list = PyList_New(shape->rank);
    for (int i = 0; list && i < shape->rank; i++)
        PyList_SetItem(list, i, dimension(shape->dims[i]));
    return list;
}

static PyObject *repr(PyObject *self)
{
    if (of(self)->rank < 0)
        return PyUnicode_FromString("TensorShape(None)");
    tw__py_auto PyObject *list = as_list(self, NULL);
    return list ? PyUnicode_FromFormat("TensorShape(%R)", list) : NULL;
}

static Py_ssize_t length(PyObject *self)
{
    if (of(self)->rank < 0)
        tw__py_error(PyExc_ValueError, "Cannot take the length of shape with unknown rank.");
    return of(self)->rank;
}

static PyObject *item(PyObject *self, Py_ssize_t index)
{
    const tw_shape *shape = of(self);
    if (shape->rank < 0)
        Py_RETURN_NONE;
    if (index < 0 || index >= shape->rank)
        return tw__py_error(PyExc_IndexError, "tuple index out of range");
    return dimension(shape->dims[index]);
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    const tw_shape *shape = of(self);
    if (!PySlice_Check(key)) {
        Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (index == -1 && PyErr_Occurred())
            return NULL;
        return item(self, index < 0 && shape->rank > 0 ? index + shape->rank : index);
    }
    if (shape->rank < 0)
        return tw__py_wrap_shape(shape);
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return NULL;
    Py_ssize_t count = PySlice_AdjustIndices(shape->rank, &start, &stop, step);
    tw_shape part = { .rank = (int32_t)count };
    for (Py_ssize_t i = 0; i < count; i++)
        part.dims[i] = shape->dims[start + i * step];
    return tw__py_wrap_shape(&part);
}

static PyObject *iterate(PyObject *self)
{
    if (of(self)->rank < 0)
        return tw__py_error(PyExc_ValueError, "Cannot iterate over a shape with unknown rank.");
    tw__py_auto PyObject *list = as_list(self, NULL);
    return list ? PyObject_GetIter(list) : NULL;
}

static int truth(PyObject *self)
{
    return of(self)->rank >= 0;
}

static Py_hash_t hash(PyObject *self)
{
    tw__py_auto PyObject *list = of(self)->rank < 0 ? PyList_New(0) : as_list(self, NULL);
    tw__py_auto PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    return tuple ? PyObject_Hash(tuple) : -1;
}

static PyObject *compare(PyObject *self, PyObject *other, int operation)
{
    tw_shape shape;
    if (operation != Py_EQ && operation != Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    if (!tw__py_as_shape(other, &shape)) {
        PyErr_Clear();
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyBool_FromLong(tw__shape_equal(of(self), &shape) == (operation == Py_EQ));
}

static PyObject *join(const tw_shape *a, const tw_shape *b)
{
    tw_shape whole = TW_UNKNOWN_SHAPE;
    if (a->rank >= 0 && b->rank >= 0) {
        if (a->rank + b->rank > TW_MAX_RANK)
            return tw__py_error(PyExc_ValueError, "a shape of rank %d: at most %d dimensions are supported", a->rank + b->rank,
                                TW_MAX_RANK);
        whole = *a;
        memcpy(whole.dims + a->rank, b->dims, (size_t)b->rank * sizeof *b->dims);
        whole.rank += b->rank;
    }
    return tw__py_wrap_shape(&whole);
}

static PyObject *add(PyObject *a, PyObject *b)
{
    tw_shape first, second;
    if (!tw__py_as_shape(a, &first) || !tw__py_as_shape(b, &second))
        return NULL;
    return join(&first, &second);
}

static PyObject *num_elements(PyObject *self, PyObject *unused)
{
    (void)unused;
    int64_t count;
    if (!tw__shape_known(of(self)))
        Py_RETURN_NONE;
    if (tw__shape_count(of(self), &count) != TW_OK)
        return tw__py_raise();
    return PyLong_FromLongLong(count);
}

static PyObject *is_compatible_with(PyObject *self, PyObject *other)
{
    tw_shape shape;
    if (!tw__py_as_shape(other, &shape))
        return NULL;
    return PyBool_FromLong(tw__shape_compatible(of(self), &shape));
}

static PyObject *assert_is_compatible_with(PyObject *self, PyObject *other)
{
    tw_shape shape;
    if (!tw__py_as_shape(other, &shape))
        return NULL;
    if (!tw__shape_compatible(of(self), &shape))
        return tw__py_error(PyExc_ValueError, "Shapes %S and %S are incompatible", self, other);
    Py_RETURN_NONE;
}

static PyObject *merge_with(PyObject *self, PyObject *other)
{
    tw_shape shape;
    const tw_shape *own = of(self);
    if (!tw__py_as_shape(other, &shape))
        return NULL;
    if (!tw__shape_compatible(own, &shape)) {
        tw__py_auto PyObject *text = tw__py_wrap_shape(&shape);
        tw__py_error(PyExc_ValueError, "Shapes %S and %S are not compatible", self, text);
        return NULL;
    }
    if (shape.rank < 0)
        shape = *own;
    for (int i = 0; own->rank >= 0 && i < shape.rank; i++) {
        if (shape.dims[i] < 0)
            shape.dims[i] = own->dims[i];
    }
    return tw__py_wrap_shape(&shape);
}

static PyObject *concatenate(PyObject *self, PyObject *other)
{
    return add(self, other);
}

static PyObject *is_fully_defined(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(tw__shape_known(of(self)));
}

static PyObject *with_rank(PyObject *self, PyObject *rank)
{
    long value = PyLong_AsLong(rank);
    if (value == -1 && PyErr_Occurred())
        return NULL;
    if (of(self)->rank >= 0 && of(self)->rank != value)
        return tw__py_error(PyExc_ValueError, "Shape %S must have rank %ld", self, value);
    tw_shape shape = *of(self);
    if (shape.rank < 0) {
        if (value < 0 || value > TW_MAX_RANK)
            return tw__py_error(PyExc_ValueError, "a shape of rank %ld: 0 to %d dimensions are supported", value, TW_MAX_RANK);
        shape.rank = (int32_t)value;
        for (int i = 0; i < shape.rank; i++)
            shape.dims[i] = -1;
    }
    return tw__py_wrap_shape(&shape);
}

static PyObject *get_rank(PyObject *self, void *unused)
{
    (void)unused;
    return dimension(of(self)->rank);
}

static PyObject *get_dims(PyObject *self, void *unused)
{
    (void)unused;
    if (of(self)->rank < 0)
        Py_RETURN_NONE;
    return as_list(self, NULL);
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._core");
    PyObject *maker = module ? PyObject_GetAttrString(module, "as_shape") : NULL;
    return maker ? Py_BuildValue("N(N)", maker, get_dims(self, NULL)) : NULL;
}

static PyMethodDef methods[] = {
    { "as_list", as_list, METH_NOARGS, TW_SIGNATURE("as_list($self)") "The dimensions as a list." },
    { "num_elements", num_elements, METH_NOARGS, TW_SIGNATURE("num_elements($self)") "The product of the dimensions, or None." },
    { "is_compatible_with", is_compatible_with, METH_O,
      TW_SIGNATURE("is_compatible_with($self, other)") "Whether both could be one shape." },
    { "assert_is_compatible_with", assert_is_compatible_with, METH_O,
      TW_SIGNATURE("assert_is_compatible_with($self, other)") "ValueError unless both could be one shape." },
    { "merge_with", merge_with, METH_O, TW_SIGNATURE("merge_with($self, other)") "What both know together." },
    { "concatenate", concatenate, METH_O, TW_SIGNATURE("concatenate($self, other)") "These dimensions, then those." },
    { "is_fully_defined", is_fully_defined, METH_NOARGS,
      TW_SIGNATURE("is_fully_defined($self)") "Whether every dimension is known." },
    { "with_rank", with_rank, METH_O, TW_SIGNATURE("with_rank($self, rank)") "The shape, which must have that rank." },
    { "__reduce__", reduce, METH_NOARGS, NULL },
    { 0 },
};

static PyGetSetDef getters[] = {
    { "rank", get_rank, NULL, "The number of dimensions, or None.", NULL },
    { "ndims", get_rank, NULL, "The number of dimensions, or None.", NULL },
    { "dims", get_dims, NULL, "The dimensions, or None.", NULL },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_new, make },
    { Py_tp_repr, repr },
    { Py_tp_str, str },
    { Py_tp_hash, hash },
    { Py_tp_richcompare, compare },
    { Py_tp_iter, iterate },
    { Py_sq_length, length },
    { Py_sq_item, item },
    { Py_mp_length, length },
    { Py_mp_subscript, subscript },
    { Py_nb_bool, truth },
    { Py_nb_add, add },
    { Py_tp_methods, methods },
    { Py_tp_getset, getters },
    { Py_tp_doc, TW_SIGNATURE("TensorShape(dims)") "The dimensions of a tensor; None where one is not known." },
    { 0 },
};

static PyType_Spec spec = { "tensorflow.python.framework.tensor_shape.TensorShape", sizeof(shape_object), 0, Py_TPFLAGS_DEFAULT,
                            slots };

bool tw__py_shapes_start(PyObject *module)
{
    tw__py_shape_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return tw__py_shape_type && PyModule_AddObjectRef(module, "TensorShape", (PyObject *)tw__py_shape_type) >= 0;
}
