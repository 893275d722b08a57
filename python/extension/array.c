/* Arrays both ways, by the buffer protocol and NumPy's Python functions: no NumPy headers, and NumPy is imported only when an
 * array is asked for.
 *
 * Into tensors the elements are copied: the array's owner may change it later. Out of tensors: .numpy() gives an array of its
 * own, as TensorFlow does; when nobody else can see the tensor's memory it is handed over without a copy. np.asarray(t) is a
 * read-only view. */
#include "extension.h"

typedef struct memory_object {
    PyObject_HEAD tw_tensor *tensor;
    bool writable;
} memory_object;

static PyTypeObject *memory_type;
static PyObject *numpy;

PyObject *tw__py_numpy(void)
{
    if (!numpy)
        numpy = PyImport_ImportModule("numpy");
    return numpy;
}

/* ---- into tensors ---- */

static tw_dtype dtype_of_format(const char *format, Py_ssize_t size)
{
    if (*format == '@' || *format == '=' || *format == '<' || *format == '|')
        format++;
    bool complex = *format == 'Z';
    format += complex;
    if (!format[0] || format[1])
        return TW_DTYPE_NONE;
    if (complex)
        return *format == 'f' ? TW_COMPLEX64 : *format == 'd' ? TW_COMPLEX128 : TW_DTYPE_NONE;
    switch (*format) {
    case '?':
        return TW_BOOL;
    case 'e':
        return TW_FLOAT16;
    case 'f':
        return TW_FLOAT32;
    case 'd':
        return TW_FLOAT64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
        return size == 1 ? TW_INT8 : size == 2 ? TW_INT16 : size == 4 ? TW_INT32 : TW_INT64;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
        return size == 1 ? TW_UINT8 : size == 2 ? TW_UINT16 : size == 4 ? TW_UINT32 : TW_UINT64;
    default:
        return TW_DTYPE_NONE;
    }
}

static bool set_text(tw_tensor *tensor, int64_t index, PyObject *value)
{
    Py_ssize_t size;
    char *bytes;
    const char *text = NULL;
    if (PyUnicode_Check(value))
        text = PyUnicode_AsUTF8AndSize(value, &size);
    else if (PyBytes_Check(value) && PyBytes_AsStringAndSize(value, &bytes, &size) == 0)
        text = bytes;
    if (!text && !PyErr_Occurred()) {
        tw__py_auto PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
        if (name)
            tw__py_error(PyExc_ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported object type %S).", name);
    }
    if (!text)
        return false;
    if (tw__string_set(tensor, index, text, (size_t)size) == TW_OK)
        return true;
    tw__py_raise();
    return false;
}

/* Arrays of objects ('O'), of bytes ("5s") and of text ("5w"). */
static bool fill_strings(tw_tensor *tensor, const char *data, Py_ssize_t item, char kind)
{
    bool good = true;
    for (int64_t i = 0; good && i < tensor->count; i++, data += item) {
        if (kind == 'O') {
            good = *(PyObject *const *)data && set_text(tensor, i, *(PyObject *const *)data);
        } else if (kind == 'w') {
            Py_ssize_t size = item / 4;
            int order = 0;
            uint32_t last;
            while (size && (memcpy(&last, data + (size - 1) * 4, 4), last == 0))
                size--;
            tw__py_auto PyObject *text = PyUnicode_DecodeUTF32(data, size * 4, NULL, &order);
            good = text && set_text(tensor, i, text);
        } else {
            Py_ssize_t size = item;
            while (size && !data[size - 1])
                size--;
            good = tw__string_set(tensor, i, data, (size_t)size) == TW_OK;
            if (!good)
                tw__py_raise();
        }
    }
    return good;
}

static tw_tensor *from_buffer(Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    tw_dtype dtype = dtype_of_format(format, view->itemsize);
    char kind = format[strlen(format) ? strlen(format) - 1 : 0];
    if (dtype == TW_DTYPE_NONE && (kind == 'O' || kind == 'w' || kind == 's') && *format != '>')
        dtype = TW_STRING;
    if (dtype == TW_DTYPE_NONE) {
        tw__py_error(PyExc_ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported format %s).", format);
        return NULL;
    }
    if (view->ndim > TW_MAX_RANK) {
        tw__py_error(PyExc_ValueError, "an array of %d dimensions can't become a Tensor: at most %d are supported", view->ndim,
                     TW_MAX_RANK);
        return NULL;
    }
    tw_shape shape = { .rank = view->ndim };
    for (int i = 0; i < view->ndim; i++)
        shape.dims[i] = view->shape[i];
    tw_tensor *tensor = tw__tensor_empty(dtype, &shape);
    if (!tensor) {
        tw__py_raise();
        return NULL;
    }
    bool good = true;
    if (dtype == TW_STRING) {
        tw__owned char *flat = tw__alloc((size_t)view->len + 1);
        good = flat && PyBuffer_ToContiguous(flat, view, view->len, 'C') == 0 && fill_strings(tensor, flat, view->itemsize, kind);
        if (!flat)
            tw__py_raise();
    } else if (view->len && PyBuffer_IsContiguous(view, 'C')) {
        memcpy(tensor->data, view->buf, (size_t)view->len);
    } else if (view->len) {
        good = PyBuffer_ToContiguous(tensor->data, view, view->len, 'C') == 0;
    }
    if (good)
        return tensor;
    tw_release(tensor);
    return NULL;
}

/* What the buffer protocol does not tell: ml_dtypes' bfloat16 as its bits, foreign byte order as native. */
static PyObject *plain_array(PyObject *value, bool *bfloat16)
{
    PyErr_Clear();
    *bfloat16 = false;
    PyObject *np = tw__py_numpy();
    tw__py_auto PyObject *array = np ? PyObject_CallMethod(np, "asarray", "(O)", value) : NULL;
    tw__py_auto PyObject *dtype = array ? PyObject_GetAttrString(array, "dtype") : NULL;
    tw__py_auto PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    PyObject *out = NULL;
    if (text && strcmp(text, "bfloat16") == 0) {
        *bfloat16 = true;
        out = PyObject_CallMethod(array, "view", "s", "uint16");
    } else if (text &&
               (strncmp(text, "datetime", 8) == 0 || strncmp(text, "timedelta", 9) == 0 || strncmp(text, "void", 4) == 0)) {
        tw__py_error(PyExc_ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: %s).", text);
    } else if (text) {
        tw__py_auto PyObject *native = PyObject_CallMethod(dtype, "newbyteorder", "s", "=");
        out = native ? PyObject_CallMethod(array, "astype", "(O)", native) : NULL;
    }
    return out;
}

/* NumPy's datetime scalars show their bytes. */
static bool is_opaque(PyObject *value, const Py_buffer *view)
{
    if (!view->format || strcmp(view->format, "B") != 0 || view->ndim != 1)
        return false;
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *text = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, NULL) : "";
    bool opaque = text && (*text == 'M' || *text == 'm' || *text == 'V');
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    PyErr_Clear();
    return opaque;
}

static tw_tensor *from_view(PyObject *value)
{
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_FULL_RO) != 0)
        return NULL;
    tw_tensor *tensor = from_buffer(&view);
    PyBuffer_Release(&view);
    return tensor;
}

tw_dtype tw__py_array_dtype(PyObject *value)
{
    Py_buffer view;
    tw_dtype dtype = TW_DTYPE_NONE;
    if (PyObject_CheckBuffer(value) && PyObject_GetBuffer(value, &view, PyBUF_FULL_RO) == 0) {
        dtype = dtype_of_format(view.format ? view.format : "B", view.itemsize);
        PyBuffer_Release(&view);
    }
    PyErr_Clear();
    return dtype;
}

tw_tensor *tw__py_from_array(PyObject *value)
{
    Py_buffer view;
    if (PyObject_CheckBuffer(value) && PyObject_GetBuffer(value, &view, PyBUF_FULL_RO) == 0) {
        bool foreign = (view.format && *view.format == '>') || is_opaque(value, &view);
        tw_tensor *tensor = foreign ? NULL : from_buffer(&view);
        PyBuffer_Release(&view);
        if (!foreign)
            return tensor;
    }
    bool bfloat16;
    tw__py_auto PyObject *plain = plain_array(value, &bfloat16);
    if (!plain)
        return NULL;
    tw_tensor *tensor = PyObject_CheckBuffer(plain) ? from_view(plain) : NULL;
    if (!tensor && !PyErr_Occurred())
        tw__py_error(PyExc_ValueError, "Attempt to convert a value (%R) with an unsupported type (%R) to a Tensor.", value,
                     Py_TYPE(value));
    if (tensor && bfloat16)
        tensor->dtype = TW_BFLOAT16;
    return tensor;
}

tw_tensor *tw__py_borrow_array(PyObject *value, Py_buffer *view)
{
    enum { WORTH = 4096 }; /* bytes, from which a copy costs more */
    if (!PyObject_CheckBuffer(value) || PyObject_GetBuffer(value, view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear();
        return NULL;
    }
    tw_dtype dtype = dtype_of_format(view->format ? view->format : "B", view->itemsize);
    tw_tensor *tensor = NULL;
    if (view->len >= WORTH && view->ndim <= TW_MAX_RANK && dtype != TW_DTYPE_NONE &&
        (uintptr_t)view->buf % (size_t)view->itemsize == 0 && PyBuffer_IsContiguous(view, 'C') && !is_opaque(value, view)) {
        tw_shape shape = { .rank = view->ndim };
        for (int i = 0; i < view->ndim; i++)
            shape.dims[i] = view->shape[i];
        tensor = tw_tensor_borrow(dtype, shape, view->buf, NULL, NULL);
        if (!tensor)
            tw_clear_error();
    }
    if (!tensor)
        PyBuffer_Release(view);
    return tensor;
}

/* ---- out of tensors ---- */

static const char *format_of(tw_dtype dtype)
{
    switch (dtype) {
    case TW_FLOAT32:
        return "f";
    case TW_FLOAT64:
        return "d";
    case TW_FLOAT16:
        return "e";
    case TW_INT8:
    case TW_QINT8:
        return "b";
    case TW_UINT8:
    case TW_QUINT8:
        return "B";
    case TW_INT16:
    case TW_QINT16:
        return "h";
    case TW_UINT16:
    case TW_QUINT16:
    case TW_BFLOAT16: /* its bits */
        return "H";
    case TW_INT32:
    case TW_QINT32:
        return "i";
    case TW_UINT32:
        return "I";
    case TW_INT64:
        return "l";
    case TW_UINT64:
        return "L";
    case TW_BOOL:
        return "?";
    case TW_COMPLEX64:
        return "Zf";
    case TW_COMPLEX128:
        return "Zd";
    default:
        return NULL;
    }
}

static int fill_view(PyObject *self, tw_tensor *tensor, bool writable, Py_buffer *view, int flags)
{
    const char *format = format_of(tensor->dtype);
    if (!tw__tensor_values(tensor, "the memory of a tensor")) {
        view->obj = NULL;
        tw__py_raise();
        return -1;
    }
    if (!format || ((flags & PyBUF_WRITABLE) && !writable)) {
        view->obj = NULL;
        PyErr_Format(PyExc_BufferError, format ? "a tensor is read-only" : "a tensor of dtype %s has no plain memory",
                     tw_dtype_name(tensor->dtype));
        return -1;
    }
    int rank = tensor->shape.rank;
    Py_ssize_t *sizes = tw__alloc_array((size_t)(2 * rank) + 1, sizeof *sizes);
    if (!sizes) {
        view->obj = NULL;
        tw__py_raise();
        return -1;
    }
    Py_ssize_t item = (Py_ssize_t)tw__element_size(tensor->dtype), stride = item;
    for (int i = rank - 1; i >= 0; i--) {
        sizes[i] = (Py_ssize_t)tensor->shape.dims[i];
        sizes[rank + i] = stride;
        stride *= sizes[i];
    }
    Py_INCREF(self);
    *view = (Py_buffer){ .buf = tensor->data,
                         .obj = self,
                         .len = (Py_ssize_t)tensor->count * item,
                         .itemsize = item,
                         .readonly = !writable,
                         .ndim = rank,
                         .format = flags & PyBUF_FORMAT ? (char *)format : NULL,
                         .shape = sizes,
                         .strides = sizes + rank,
                         .internal = sizes };
    if (!(flags & PyBUF_ND)) {
        view->ndim = 1;
        view->shape = NULL;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
        view->strides = NULL;
    return 0;
}

int tw__py_get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    return fill_view(self, TW_TENSOR(self), false, view, flags);
}

void tw__py_release_buffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    tw__free(view->internal);
}

static int memory_get(PyObject *self, Py_buffer *view, int flags)
{
    memory_object *memory = (memory_object *)self;
    return fill_view(self, memory->tensor, memory->writable, view, flags);
}

static void memory_end(PyObject *self)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    tw_release(((memory_object *)self)->tensor);
    PyObject_Free(self);
}

static PyType_Slot memory_slots[] = {
    { Py_bf_getbuffer, memory_get },
    { Py_bf_releasebuffer, tw__py_release_buffer },
    { Py_tp_dealloc, memory_end },
    { 0 },
};
static PyType_Spec memory_spec = { "thalweg.Memory", sizeof(memory_object), 0, Py_TPFLAGS_DEFAULT, memory_slots };

PyObject *tw__py_item(const tw_tensor *tensor, int64_t index)
{
    const void *data = tw__tensor_values(tensor, "an element of a tensor");
    if (!data)
        return tw__py_raise();
    switch (tensor->dtype) {
    case TW_BOOL:
        return PyBool_FromLong(((const bool *)data)[index]);
    case TW_UINT64:
        return PyLong_FromUnsignedLongLong(((const uint64_t *)data)[index]);
    case TW_COMPLEX64:
        return PyComplex_FromDoubles(((const float *)data)[2 * index], ((const float *)data)[2 * index + 1]);
    case TW_COMPLEX128:
        return PyComplex_FromDoubles(((const double *)data)[2 * index], ((const double *)data)[2 * index + 1]);
    case TW_STRING: {
        tw_string s = ((const tw_string *)data)[index];
        return PyBytes_FromStringAndSize(s.data, (Py_ssize_t)s.size);
    }
    default:
        if (tw__dtype_is_float(tensor->dtype))
            return PyFloat_FromDouble(tw_tensor_double_at(tensor, index));
        if (tw__dtype_is_integer(tensor->dtype))
            return PyLong_FromLongLong(tw_tensor_int_at(tensor, index));
        return tw__py_error(PyExc_NotImplementedError, "Cannot convert a Tensor of dtype %s to a NumPy array.",
                            tw_dtype_name(tensor->dtype));
    }
}

static PyObject *shape_tuple(const tw_shape *shape)
{
    PyObject *tuple = PyTuple_New(shape->rank);
    for (int i = 0; tuple && i < shape->rank; i++)
        PyTuple_SetItem(tuple, i, PyLong_FromLongLong(shape->dims[i]));
    return tuple;
}

static PyObject *string_array(tw_tensor *tensor)
{
    PyObject *np = tw__py_numpy();
    tw__py_auto PyObject *shape = np ? shape_tuple(&tensor->shape) : NULL;
    PyObject *array = shape ? PyObject_CallMethod(np, "empty", "OO", shape, &PyBaseObject_Type) : NULL;
    PyObject *flat = array ? PyObject_CallMethod(array, "reshape", "i", -1) : NULL; /* a view: the array is contiguous */
    for (int64_t i = 0; flat && i < tensor->count; i++) {
        PyObject *bytes = tw__py_item(tensor, i), *index = PyLong_FromLongLong(i);
        if (!bytes || !index || PyObject_SetItem(flat, index, bytes) < 0)
            Py_CLEAR(array);
        Py_XDECREF(bytes);
        Py_XDECREF(index);
        if (!array)
            break;
    }
    Py_XDECREF(flat);
    return array;
}

/* bfloat16 is ml_dtypes' type where that is installed, else float32. */
static PyObject *bfloat16_array(tw_tensor *tensor, bool writable)
{
    PyObject *types = PyImport_ImportModule("ml_dtypes");
    PyErr_Clear();
    if (!types) {
        tw_auto tw_tensor *wide = tw__py_cast_value(tw_retain(tensor), TW_FLOAT32);
        PyObject *array = wide ? tw__py_to_array(wide, writable, true) : NULL;
        return array;
    }
    tw_auto tw_tensor *bits = tw__tensor_copy(tensor);
    tw__py_auto PyObject *type = bits ? PyObject_GetAttrString(types, "bfloat16") : tw__py_raise();
    tw__py_auto PyObject *array = NULL;
    PyObject *out = NULL;
    if (type) {
        bits->dtype = TW_UINT16;
        PyObject *rank1 = bits->shape.rank ? NULL : Py_None;
        if (rank1)
            bits->shape = TW_SHAPE(1);
        array = tw__py_to_array(bits, writable, true);
        out = array ? PyObject_CallMethod(array, "view", "(O)", type) : NULL;
        if (out && rank1) {
            PyObject *scalar = PySequence_GetItem(out, 0);
            Py_DECREF(out);
            out = scalar;
        }
    }
    Py_DECREF(types);
    return out;
}

PyObject *tw__py_to_array(tw_tensor *tensor, bool writable, bool give_up)
{
    if (!tw__tensor_values(tensor, "a tensor as a NumPy array"))
        return tw__py_raise();
    if (tensor->dtype == TW_BFLOAT16)
        return bfloat16_array(tensor, writable);
    if (tensor->dtype == TW_STRING)
        return tensor->shape.rank ? string_array(tensor) : tw__py_item(tensor, 0);
    PyObject *np = format_of(tensor->dtype) ? tw__py_numpy() : NULL;
    if (!np)
        return PyErr_Occurred() ? NULL
                                : tw__py_error(PyExc_NotImplementedError, "Cannot convert a Tensor of dtype %s to a NumPy array.",
                                               tw_dtype_name(tensor->dtype));
    const char *name = tensor->dtype == TW_BOOL ? "bool_" : tw_dtype_name(tensor->dtype);
    if (*name == 'q')
        name++; /* the integer type behind it */
    if (tensor->shape.rank == 0) {
        tw__py_auto PyObject *item = tw__py_item(tensor, 0);
        PyObject *scalar = item ? PyObject_CallMethod(np, name, "(O)", item) : NULL;
        return scalar;
    }
    tw__py_auto memory_object *memory = PyObject_New(memory_object, memory_type);
    if (!memory)
        return NULL;
    bool take = !writable || (give_up && tw__tensor_is_exclusive(tensor));
    memory->tensor = take ? tw_retain(tensor) : tw__tensor_copy(tensor);
    memory->writable = writable;
    PyObject *array = NULL;
    tw__py_auto PyObject *type = memory->tensor ? PyObject_GetAttrString(np, name) : tw__py_raise();
    tw__py_auto PyObject *shape = type ? shape_tuple(&tensor->shape) : NULL;
    if (shape && tensor->count)
        array = PyObject_CallMethod(np, "ndarray", "OOO", shape, type, memory);
    else if (shape)
        array = PyObject_CallMethod(np, "empty", "OO", shape, type);
    return array;
}

bool tw__py_arrays_start(PyObject *module)
{
    (void)module;
    memory_type = (PyTypeObject *)PyType_FromSpec(&memory_spec);
    return memory_type != NULL;
}
