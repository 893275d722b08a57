/* tf.DType: one object per dtype, made at the start. Compares with names and NumPy's dtypes too. */
#include <float.h>

#include "structure.h"

typedef struct dtype_object {
    PyObject_HEAD tw_dtype dtype;
} dtype_object;

PyTypeObject *tw__py_dtype_type;
static PyObject *objects[TW_DTYPE_LIMIT];

static tw_dtype of(PyObject *self)
{
    return ((dtype_object *)self)->dtype;
}

const char *tw__py_c_name(tw_dtype dtype)
{
    return dtype == TW_FLOAT32 ? "float" : dtype == TW_FLOAT64 ? "double" : dtype == TW_FLOAT16 ? "half" : tw_dtype_name(dtype);
}

PyObject *tw__py_wrap_dtype(tw_dtype dtype)
{
    PyObject *object = tw__dtype_is_valid(dtype) ? objects[dtype] : Py_None;
    Py_INCREF(object);
    return object;
}

/* The dtype of a name as Python and NumPy write it; NONE if there is no such. */
static tw_dtype by_name(const char *name)
{
    static const struct {
        const char *name;
        tw_dtype dtype;
    } others[] = { { "bool_", TW_BOOL },     { "object_", TW_STRING }, { "str_", TW_STRING },      { "bytes_", TW_STRING },
                   { "single", TW_FLOAT32 }, { "longlong", TW_INT64 }, { "ulonglong", TW_UINT64 }, { "bool8", TW_BOOL } };
    tw_dtype dtype = tw_dtype_from_name(name);
    for (size_t i = 0; dtype == TW_DTYPE_NONE && i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].name, name) == 0)
            dtype = others[i].dtype;
    }
    return dtype;
}

static tw_dtype by_attribute(PyObject *value, const char *attribute)
{
    tw_dtype dtype = TW_DTYPE_NONE;
    PyObject *name = PyObject_GetAttrString(value, attribute);
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (text)
        dtype = by_name(text);
    Py_XDECREF(name);
    PyErr_Clear();
    return dtype;
}

/* TW_DTYPE_NONE, without an exception, if it says no dtype. */
static tw_dtype find(PyObject *value)
{
    if (Py_TYPE(value) == tw__py_dtype_type)
        return of(value);
    if (PyUnicode_Check(value)) {
        const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
        PyErr_Clear();
        return text ? by_name(text) : TW_DTYPE_NONE;
    }
    if (value == (PyObject *)&PyFloat_Type)
        return TW_FLOAT32;
    if (value == (PyObject *)&PyBool_Type)
        return TW_BOOL;
    if (value == (PyObject *)&PyComplex_Type || value == (PyObject *)&PyLong_Type || value == (PyObject *)&PyUnicode_Type)
        return TW_DTYPE_NONE;
    if (value == (PyObject *)&PyBytes_Type || value == (PyObject *)&PyBaseObject_Type)
        return TW_STRING;
    if (PyLong_CheckExact(value)) {
        long number = PyLong_AsLong(value);
        PyErr_Clear();
        return number > 0 && number < TW_DTYPE_LIMIT && tw__dtype_is_valid((tw_dtype)number) ? (tw_dtype)number : TW_DTYPE_NONE;
    }
    if (PyType_Check(value))
        return by_attribute(value, "__name__");
    PyObject *kind = PyObject_GetAttrString(value, "kind"); /* numpy.dtype */
    const char *text = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    tw_dtype dtype = text && strchr("SUO", *text) ? TW_STRING : TW_DTYPE_NONE;
    Py_XDECREF(kind);
    PyErr_Clear();
    return dtype != TW_DTYPE_NONE ? dtype : by_attribute(value, "name");
}

bool tw__py_as_dtype(PyObject *value, tw_dtype *dtype)
{
    *dtype = find(value);
    if (*dtype == TW_DTYPE_NONE)
        tw__py_error(PyExc_TypeError, "Cannot convert the argument `type_value`: %R to a TensorFlow DType.", value);
    return *dtype != TW_DTYPE_NONE;
}

/* What a layer's dtype may be besides: a Policy, or the name of a mixed one. */
static tw_dtype policy_of(PyObject *value)
{
    void *object = tw__py_object_of(value);
    if (object)
        return tw__policy_code(object);
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    PyErr_Clear();
    return text ? tw__policy_from_name(text) : TW_DTYPE_NONE;
}

bool tw__py_worded_dtype(const char *word, PyObject *value, tw_dtype *dtype)
{
    if (word && strcmp(word, "numpy") == 0)
        return tw__py_numpy_dtype(value, dtype);
    return (word && (*dtype = policy_of(value))) || tw__py_as_dtype(value, dtype);
}

static PyObject *repr(PyObject *self)
{
    return PyUnicode_FromFormat("tf.%s", tw_dtype_name(of(self)));
}

static PyObject *str(PyObject *self)
{
    return PyUnicode_FromFormat("<dtype: '%s'>", tw_dtype_name(of(self)));
}

static Py_hash_t hash(PyObject *self)
{
    return (Py_hash_t)of(self);
}

static PyObject *compare(PyObject *self, PyObject *other, int operation)
{
    if (operation != Py_EQ && operation != Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    bool equal = other != Py_None && !PyLong_Check(other) && find(other) == of(self);
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)type;
    PyObject *value;
    tw_dtype dtype;
    if (keywords && PyDict_Size(keywords))
        return tw__py_error(PyExc_TypeError, "DType() takes no keyword arguments");
    if (!PyArg_ParseTuple(arguments, "O:DType", &value) || !tw__py_as_dtype(value, &dtype))
        return NULL;
    return tw__py_wrap_dtype(dtype);
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._core");
    PyObject *maker = module ? PyObject_GetAttrString(module, "as_dtype") : NULL;
    return maker ? Py_BuildValue("N(s)", maker, tw_dtype_name(of(self))) : NULL;
}

/* ---- what a dtype tells of itself ---- */

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tw_dtype_name(of(self)));
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(of(self) == TW_STRING ? 1 : tw_dtype_size(of(self)) ? tw_dtype_size(of(self)) : 1);
}

static PyObject *get_enum(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong((long)of(self));
}

static PyObject *get_numpy(PyObject *self, void *unused)
{
    (void)unused;
    tw_dtype dtype = of(self);
    if (dtype == TW_STRING || dtype == TW_RESOURCE || dtype == TW_VARIANT) {
        Py_INCREF((PyObject *)&PyBaseObject_Type);
        return (PyObject *)&PyBaseObject_Type;
    }
    if (dtype == TW_BFLOAT16) {
        tw__py_auto PyObject *types = PyImport_ImportModule("ml_dtypes");
        PyObject *out = types ? PyObject_GetAttrString(types, "bfloat16") : NULL;
        return out;
    }
    PyObject *numpy = tw__py_numpy();
    return numpy ? PyObject_GetAttrString(numpy, dtype == TW_BOOL ? "bool_" : tw_dtype_name(dtype)) : NULL;
}

static PyObject *get_limit(PyObject *self, void *which)
{
    bool maximum = which != NULL;
    tw_dtype dtype = of(self);
    if (tw__dtype_is_integer(dtype)) {
        int bits = (int)tw_dtype_size(dtype) * 8;
        if (tw_dtype_name(dtype)[0] == 'u')
            return maximum ? PyLong_FromUnsignedLongLong(~0ULL >> (64 - bits)) : PyLong_FromLong(0);
        long long most = (long long)(~0ULL >> (65 - bits));
        return PyLong_FromLongLong(maximum ? most : -most - 1);
    }
    PyObject *numpy = tw__dtype_is_float(dtype) && dtype != TW_BFLOAT16 ? tw__py_numpy() : NULL;
    if (dtype == TW_BFLOAT16)
        return PyFloat_FromDouble(maximum ? 0x1.fep127 : -0x1.fep127);
    if (!numpy)
        return PyErr_Occurred() ? NULL
                                : tw__py_error(PyExc_TypeError, "Cannot find %s value of %S with type %S.",
                                               maximum ? "maximum" : "minimum", self, self);
    double most = dtype == TW_FLOAT64 ? DBL_MAX : dtype == TW_FLOAT32 ? FLT_MAX : 65504;
    return PyObject_CallMethod(numpy, tw_dtype_name(dtype), "d", maximum ? most : -most);
}

static PyObject *get_limits(PyObject *self, void *unused)
{
    (void)unused;
    tw_dtype dtype = of(self);
    if (!tw__dtype_is_integer(dtype))
        return Py_BuildValue("(ii)", 0, 1);
    return Py_BuildValue("(NN)", get_limit(self, NULL), get_limit(self, &objects));
}

enum property { FLOATING, INTEGER, COMPLEX, BOOLEAN, UNSIGNED, QUANTIZED, COMPATIBLE };

static PyObject *get_is(PyObject *self, void *which)
{
    tw_dtype dtype = of(self);
    const char *name = tw_dtype_name(dtype);
    bool is = false;
    switch ((enum property)(intptr_t)which) {
    case FLOATING:
        is = tw__dtype_is_float(dtype);
        break;
    case INTEGER:
        is = tw__dtype_is_integer(dtype);
        break;
    case COMPLEX:
        is = tw__dtype_is_complex(dtype);
        break;
    case BOOLEAN:
        is = dtype == TW_BOOL;
        break;
    case UNSIGNED:
        is = tw__dtype_is_integer(dtype) && *name == 'u';
        break;
    case QUANTIZED:
        is = *name == 'q';
        break;
    case COMPATIBLE:
        is = dtype != TW_RESOURCE && dtype != TW_VARIANT;
        break;
    }
    return PyBool_FromLong(is);
}

static PyObject *get_self(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF(self);
    return self;
}

static PyObject *get_real(PyObject *self, void *unused)
{
    (void)unused;
    tw_dtype dtype = of(self);
    return tw__py_wrap_dtype(dtype == TW_COMPLEX64 ? TW_FLOAT32 : dtype == TW_COMPLEX128 ? TW_FLOAT64 : dtype);
}

static PyObject *is_compatible_with(PyObject *self, PyObject *other)
{
    tw_dtype dtype;
    if (!tw__py_as_dtype(other, &dtype))
        return NULL;
    return PyBool_FromLong(dtype == of(self));
}

static PyGetSetDef getters[] = {
    { "name", get_name, NULL, "The name.", NULL },
    { "size", get_size, NULL, "Bytes of one element.", NULL },
    { "as_datatype_enum", get_enum, NULL, "The number in files.", NULL },
    { "as_numpy_dtype", get_numpy, NULL, "NumPy's type.", NULL },
    { "min", get_limit, NULL, "The smallest value.", NULL },
    { "max", get_limit, NULL, "The largest value.", &objects },
    { "limits", get_limits, NULL, "The range of intensities.", NULL },
    { "is_floating", get_is, NULL, "A real floating-point dtype.", (void *)FLOATING },
    { "is_integer", get_is, NULL, "An integer dtype.", (void *)INTEGER },
    { "is_complex", get_is, NULL, "A complex dtype.", (void *)COMPLEX },
    { "is_bool", get_is, NULL, "Bool.", (void *)BOOLEAN },
    { "is_unsigned", get_is, NULL, "An unsigned integer dtype.", (void *)UNSIGNED },
    { "is_quantized", get_is, NULL, "A quantized dtype.", (void *)QUANTIZED },
    { "is_numpy_compatible", get_is, NULL, "NumPy has such a type.", (void *)COMPATIBLE },
    { "base_dtype", get_self, NULL, "The dtype itself.", NULL },
    { "real_dtype", get_real, NULL, "The dtype of a complex number's parts.", NULL },
    { 0 },
};

static PyMethodDef methods[] = {
    { "__reduce__", reduce, METH_NOARGS, NULL },
    { "is_compatible_with", is_compatible_with, METH_O,
      TW_SIGNATURE("is_compatible_with($self, other)") "Whether the other is the same dtype." },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_new, make },
    { Py_tp_repr, repr },
    { Py_tp_str, str },
    { Py_tp_hash, hash },
    { Py_tp_richcompare, compare },
    { Py_tp_getset, getters },
    { Py_tp_methods, methods },
    { Py_tp_doc, TW_SIGNATURE("DType(type_enum)") "The type of a tensor's elements." },
    { 0 },
};

static PyType_Spec spec = { "tensorflow.python.framework.dtypes.DType", sizeof(dtype_object), 0, Py_TPFLAGS_DEFAULT, slots };

bool tw__py_dtypes_start(PyObject *module)
{
    tw__py_dtype_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!tw__py_dtype_type || PyModule_AddObjectRef(module, "DType", (PyObject *)tw__py_dtype_type) < 0)
        return false;
    for (int i = 1; i < TW_DTYPE_LIMIT; i++) {
        if (!tw__dtype_is_valid((tw_dtype)i))
            continue;
        dtype_object *object = PyObject_New(dtype_object, tw__py_dtype_type);
        if (!object)
            return false;
        object->dtype = (tw_dtype)i;
        objects[i] = (PyObject *)object;
    }
    return true;
}
