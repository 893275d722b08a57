/* The two walks over a nested sequence that becomes a tensor: one for its shape and the kind of its leaves, one to fill. */
#include <math.h>

#include "convert.h"

tw__py_leaf tw__py_classify(PyObject *value)
{
    if (PyFloat_CheckExact(value))
        return FLOAT_LEAF;
    if (PyBool_Check(value))
        return BOOL_LEAF;
    if (PyLong_CheckExact(value))
        return INT_LEAF;
    if (PyList_Check(value) || PyTuple_Check(value))
        return SEQUENCE;
    if (PyUnicode_Check(value) || PyBytes_Check(value))
        return STRING_LEAF;
    if (tw__py_is_tensor_like(value) || PyObject_CheckBuffer(value))
        return ARRAY_LEAF;
    if (PyFloat_Check(value))
        return FLOAT_LEAF;
    if (PyLong_Check(value))
        return INT_LEAF;
    if (PyComplex_Check(value))
        return COMPLEX_LEAF;
    if (tw__py_shape_of(value))
        return SEQUENCE;
    if (PyObject_HasAttrString(value, "__array__") || PyObject_HasAttrString(value, "__array_interface__"))
        return ARRAY_LEAF;
    return PySequence_Check(value) && !PyObject_HasAttrString(value, "keys") ? SEQUENCE : NO_LEAF;
}

static bool unsupported(PyObject *value)
{
    tw__py_error(PyExc_ValueError, "Attempt to convert a value (%R) with an unsupported type (%R) to a Tensor.", value,
                 Py_TYPE(value));
    return false;
}

bool tw__py_mixed(void)
{
    tw__py_error(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
    return false;
}

bool tw__py_out_of_range(void)
{
    PyErr_Clear();
    tw__py_error(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
    return false;
}

bool tw__py_too_large(void)
{
    tw__py_error(PyExc_ValueError, "Can't convert Python sequence with a value out of range for a double-precision float.");
    return false;
}

/* A finite number that is infinite as a float: an error where nobody asked for that dtype, but only outside of graphs. */
bool tw__py_overflows(double number)
{
    return isfinite(number) && isinf((float)number) && !tw__tracing;
}

/* ---- first walk ---- */

Py_ssize_t tw__py_sequence_size(PyObject *value)
{
    return PyList_Check(value) ? PyList_Size(value) : PyTuple_Check(value) ? PyTuple_Size(value) : PySequence_Size(value);
}

/* A new reference: what is done with an item may run code that takes it out of its list. */
PyObject *tw__py_sequence_item(PyObject *value, Py_ssize_t index)
{
    PyObject *item = PyList_Check(value)    ? PyList_GetItem(value, index)
                     : PyTuple_Check(value) ? PyTuple_GetItem(value, index)
                                            : NULL;
    if (!item)
        return PyErr_Occurred() ? NULL : PySequence_GetItem(value, index);
    Py_INCREF(item);
    return item;
}

static tw__py_leaf kind_of_dtype(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype)     ? FLOAT_LEAF
           : tw__dtype_is_integer(dtype) ? INT_LEAF
           : tw__dtype_is_complex(dtype) ? COMPLEX_LEAF
           : dtype == TW_BOOL            ? BOOL_LEAF
           : dtype == TW_STRING          ? STRING_LEAF
                                         : NO_LEAF;
}

static bool merge_kind(tw__py_leaves *w, tw__py_leaf kind)
{
    if (w->kind == NO_LEAF)
        w->kind = kind;
    else if (w->kind == kind || (kind == BOOL_LEAF && w->kind != STRING_LEAF) ||
             (kind == INT_LEAF && (w->kind == FLOAT_LEAF || w->kind == COMPLEX_LEAF)) ||
             (kind == FLOAT_LEAF && w->kind == COMPLEX_LEAF))
        return true;
    else if (w->kind == INT_LEAF && kind == FLOAT_LEAF)
        w->kind = FLOAT_LEAF;
    else
        return tw__py_mixed();
    return true;
}

static bool note_leaf(tw__py_leaves *w, PyObject *value, tw__py_leaf kind)
{
    if (kind == NO_LEAF)
        return w->kind == NO_LEAF ? unsupported(value) : tw__py_mixed();
    if (kind == ARRAY_LEAF) {
        w->any_array = true;
        if (tw__py_is_tensor_like(value)) {
            w->any_tensor = true;
            return true;
        }
        /* NumPy's numbers count as Python's, but a float that comes first keeps its precision. */
        tw_dtype dtype = tw__py_array_dtype(value);
        kind = kind_of_dtype(dtype);
        if (kind == NO_LEAF)
            return true;
        if (w->kind == NO_LEAF && (kind == FLOAT_LEAF || kind == COMPLEX_LEAF))
            w->first_dtype = dtype;
        return merge_kind(w, kind);
    }
    if (kind == INT_LEAF && (!w->wide || !w->beyond)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        w->wide |= overflow || number < INT32_MIN || number > INT32_MAX;
        w->beyond |= overflow && w->kind != FLOAT_LEAF && w->kind != COMPLEX_LEAF;
    }
    return merge_kind(w, kind);
}

bool tw__py_leaves_of(tw__py_leaves *w, PyObject *value, int depth, bool first)
{
    tw__py_leaf kind = tw__py_classify(value);
    if (kind != SEQUENCE) {
        if (first)
            w->shape.rank = depth;
        else if (kind != ARRAY_LEAF && !w->any_array && depth != w->shape.rank)
            return depth < w->shape.rank
                       ? tw__py_mixed()
                       : (tw__py_error(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor."), false);
        return note_leaf(w, value, kind);
    }
    if (depth >= TW_MAX_RANK) {
        tw__py_error(PyExc_ValueError, "a sequence nested deeper than %d levels can't become a Tensor", TW_MAX_RANK);
        return false;
    }
    Py_ssize_t size = tw__py_sequence_size(value);
    if (size < 0)
        return false;
    if (first)
        w->shape.dims[depth] = size;
    else if (!w->any_array && depth >= w->shape.rank)
        return tw__py_mixed();
    else if (!w->any_array && w->shape.dims[depth] != size) {
        tw__py_error(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
        return false;
    }
    if (size == 0 && first)
        w->shape.rank = depth + 1;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = tw__py_sequence_item(value, i);
        bool good = item && tw__py_leaves_of(w, item, depth + 1, first && i == 0);
        Py_XDECREF(item);
        if (!good)
            return false;
    }
    return true;
}

/* ---- second walk ---- */

static bool store_string(tw__py_filling *f, PyObject *value)
{
    Py_ssize_t size = 0;
    char *bytes = NULL;
    const char *text = NULL;
    if (PyUnicode_Check(value))
        text = PyUnicode_AsUTF8AndSize(value, &size);
    else if (PyBytes_AsStringAndSize(value, &bytes, &size) == 0)
        text = bytes;
    if (!text)
        return false;
    if (tw__string_set(f->tensor, f->at++, text, (size_t)size) != TW_OK) {
        tw__py_raise();
        return false;
    }
    return true;
}

static bool store_integer(void *place, tw_dtype dtype, PyObject *value)
{
    /* With a dtype that was asked for, what does not fit wraps around. */
    unsigned long long number = PyLong_AsUnsignedLongLongMask(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred())
        return tw__py_out_of_range();
    switch (tw_dtype_size(dtype)) {
    case 1:
        *(uint8_t *)place = (uint8_t)number;
        break;
    case 2:
        *(uint16_t *)place = (uint16_t)number;
        break;
    case 4:
        *(uint32_t *)place = (uint32_t)number;
        break;
    default:
        *(uint64_t *)place = number;
    }
    return true;
}

static bool store_number(tw__py_filling *f, PyObject *value)
{
    tw_dtype dtype = f->tensor->dtype;
    void *place = (char *)f->tensor->data + (size_t)f->at++ * tw__element_size(dtype);
    if (tw__dtype_is_integer(dtype))
        return store_integer(place, dtype, value);
    if (dtype == TW_BOOL) {
        *(bool *)place = value == Py_True;
        return true;
    }
    double real, imaginary = 0;
    if (PyComplex_Check(value)) {
        real = PyComplex_RealAsDouble(value);
        imaginary = PyComplex_ImagAsDouble(value);
    } else {
        real = PyFloat_AsDouble(value);
    }
    if (real == -1 && PyErr_Occurred())
        return !PyErr_ExceptionMatches(PyExc_OverflowError) ? false
               : f->natural                                 ? (PyErr_Clear(), tw__py_too_large())
                                                            : tw__py_out_of_range();
    switch (dtype) {
    case TW_FLOAT32:
        if (f->natural && PyFloat_Check(value) && tw__py_overflows(real))
            return tw__py_too_large();
        *(float *)place = (float)real;
        break;
    case TW_FLOAT64:
        *(double *)place = real;
        break;
    case TW_FLOAT16:
        *(uint16_t *)place = tw__float_to_half((float)real);
        break;
    case TW_BFLOAT16:
        *(uint16_t *)place = tw__float_to_bfloat16((float)real);
        break;
    case TW_COMPLEX64:
        ((float *)place)[0] = (float)real;
        ((float *)place)[1] = (float)imaginary;
        break;
    default: /* complex128 */
        ((double *)place)[0] = real;
        ((double *)place)[1] = imaginary;
    }
    return true;
}

bool tw__py_fill_value(tw__py_filling *f, PyObject *value, int depth)
{
    if (depth == f->tensor->shape.rank) {
        if (f->at >= f->tensor->count) { /* a sequence that grew while it was read */
            tw__py_error(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
            return false;
        }
        return f->tensor->dtype == TW_STRING ? store_string(f, value) : store_number(f, value);
    }
    int64_t size = f->tensor->shape.dims[depth];
    for (int64_t i = 0; i < size; i++) {
        PyObject *item = tw__py_sequence_item(value, (Py_ssize_t)i);
        bool good = item && tw__py_fill_value(f, item, depth + 1);
        Py_XDECREF(item);
        if (!good)
            return false;
    }
    return true;
}
