/* Python values into tensors: numbers, strings, nested sequences, arrays, variables.
 *
 * A sequence is walked twice: once for its shape and the kind of its leaves, once to fill. The first leaf decides the kind;
 * integers give way to floats behind them. A sequence with a tensor or an array in it is converted member by member and packed.
 */
#include <math.h>

#include "convert.h"

bool tw__py_is_tensor_like(PyObject *value)
{
    return TW_IS_TENSOR(value) || tw__py_is_variable(value);
}

tw_dtype tw__py_dtype_of_value(PyObject *value)
{
    if (TW_IS_TENSOR(value))
        return TW_TENSOR(value)->dtype;
    if (tw__py_is_variable(value))
        return tw__variable_read_dtype((tw_variable *)tw__py_handle(value));
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    void *object = tw__py_is_object(value) ? tw__py_self(value) : NULL;
    if (object && tw__is(object, &tw__class_tensor_array))
        return ((tw_tensor_array *)object)->dtype;
    void *composite = tw__py_composite(value);
    if (composite && tw__composite_parts(composite, parts))
        return parts[tw__is_ragged(composite) ? 0 : 1]->dtype;
    return TW_DTYPE_NONE;
}

/* ---- packing of tensors ---- */

static tw_tensor *pack(PyObject *value, tw_dtype dtype, tw__py_how how)
{
    Py_ssize_t count = tw__py_sequence_size(value);
    tw_tensor **members = count > 0 ? tw__alloc_array((size_t)count, sizeof *members) : NULL;
    tw_tensor *whole = NULL;
    static const tw_op *op;
    if (!op)
        op = tw__op_find("Pack");
    if (!members) {
        tw__py_error(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
        return NULL;
    }
    /* The first tensor's dtype is that of all, unless one was asked for. */
    for (Py_ssize_t i = 0; dtype == TW_DTYPE_NONE && i < count; i++) {
        PyObject *item = tw__py_sequence_item(value, i);
        if (item)
            dtype = tw__py_dtype_of_value(item);
        Py_XDECREF(item);
        how = TW_FORCE;
    }
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        tw__py_auto PyObject *item = tw__py_sequence_item(value, i);
        members[i] = item ? tw__py_to_tensor(item, dtype, how) : NULL;
        if (members[i] && dtype == TW_DTYPE_NONE)
            dtype = members[i]->dtype;
        if (members[i] && members[i]->dtype != dtype && tw__dtype_is_integer(dtype) && tw__dtype_is_integer(members[i]->dtype)) {
            tw_tensor *cast = tw_cast(members[i], dtype); /* [rows, 2] where rows is an int64 tensor */
            tw_release(members[i]);
            members[i] = cast;
            if (!cast)
                tw__py_raise();
        }
        good = members[i] != NULL;
    }
    if (good && !op) {
        tw__fail(TW_UNIMPLEMENTED, "Pack is not in the table of ops");
        tw__py_raise();
    } else if (good) {
        int outputs = 1;
        tw_attr axis = TW_A_INT("axis", 0);
        if (tw__apply(op, members, (int)count, &axis, 1, &whole, &outputs) != TW_OK) {
            whole = NULL;
            tw__py_raise();
        }
    }
    for (Py_ssize_t i = 0; i < count; i++)
        tw_release(members[i]);
    tw__free(members);
    return whole;
}

/* ---- the conversion ---- */

static bool fits(tw__py_leaf kind, tw_dtype dtype)
{
    switch (kind) {
    case BOOL_LEAF:
        return dtype == TW_BOOL || tw__dtype_is_integer(dtype) || tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
    case INT_LEAF:
        return tw__dtype_is_integer(dtype) || tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
    case FLOAT_LEAF:
        return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
    case COMPLEX_LEAF:
        return tw__dtype_is_complex(dtype);
    case STRING_LEAF:
        return dtype == TW_STRING;
    default:
        return true;
    }
}

static tw_dtype natural(tw__py_leaf kind, bool wide)
{
    switch (kind) {
    case BOOL_LEAF:
        return TW_BOOL;
    case INT_LEAF:
        return wide ? TW_INT64 : TW_INT32;
    case COMPLEX_LEAF:
        return TW_COMPLEX128;
    case STRING_LEAF:
        return TW_STRING;
    default:
        return TW_FLOAT32;
    }
}

static tw_tensor *cannot(PyObject *value, tw_dtype dtype)
{
    tw__py_error(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", value, tw__py_c_name(dtype));
    return NULL;
}

static bool too_wide(PyObject *value)
{
    int overflow;
    PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow != 0;
}

/* Whether an integer of the sequence does not even fit 64 bits; asked only when one does not fit 32. */
static bool any_too_wide(PyObject *value)
{
    tw__py_leaf kind = tw__py_classify(value);
    if (kind != SEQUENCE)
        return kind == INT_LEAF && too_wide(value);
    Py_ssize_t size = tw__py_sequence_size(value);
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = tw__py_sequence_item(value, i);
        bool is = item && any_too_wide(item);
        Py_XDECREF(item);
        if (is)
            return true;
    }
    return false;
}

/* The same of floats that are too large for 32 bits. */
static bool any_overflows(PyObject *value)
{
    tw__py_leaf kind = tw__py_classify(value);
    if (PyFloat_Check(value)) /* NumPy's double is one of Python's floats too */
        return tw__py_overflows(PyFloat_AsDouble(value));
    if (kind != SEQUENCE)
        return false;
    Py_ssize_t size = tw__py_sequence_size(value);
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = tw__py_sequence_item(value, i);
        bool is = item && any_overflows(item);
        Py_XDECREF(item);
        if (is)
            return true;
    }
    return false;
}

/* A sequence of NumPy's arrays and numbers, perhaps with Python's. Integers become int32 if all fit. */
static tw_tensor *pack_arrays(PyObject *value, const tw__py_leaves *w)
{
    if (w->kind == NO_LEAF)
        return pack(value, TW_DTYPE_NONE, TW_HINT);
    if (w->kind != INT_LEAF) {
        tw_dtype dtype = w->first_dtype != TW_DTYPE_NONE ? w->first_dtype : natural(w->kind, false);
        return dtype == TW_FLOAT32 && any_overflows(value) ? (tw__py_too_large(), NULL) : pack(value, dtype, TW_FORCE);
    }
    tw_tensor *wide = pack(value, TW_INT64, TW_FORCE);
    for (int64_t i = 0; wide && i < wide->count; i++) {
        int64_t number = ((const int64_t *)wide->data)[i];
        if (number < INT32_MIN || number > INT32_MAX)
            return wide;
    }
    return tw__py_cast_value(wide, TW_INT32);
}

static tw_tensor *from_python(PyObject *value, tw_dtype dtype, tw__py_how how)
{
    tw__py_leaves w = { .shape = TW_SCALAR };
    if (!tw__py_leaves_of(&w, value, 0, true))
        return NULL;
    if (w.any_tensor)
        return pack(value, dtype, how);
    if (w.any_array && how == TW_FORCE && dtype != TW_DTYPE_NONE && !fits(w.kind, dtype))
        return cannot(value, dtype);
    if (w.any_array) { /* what a program has as numbers is a value, also while a graph is made */
        tw__outside outside = tw__outside_begin();
        tw_tensor *packed = dtype != TW_DTYPE_NONE ? pack(value, dtype, how) : pack_arrays(value, &w);
        tw__outside_end(outside);
        return packed;
    }
    tw_dtype target = dtype;
    if (dtype != TW_DTYPE_NONE && !fits(w.kind, dtype)) {
        if (how == TW_FORCE)
            return cannot(value, dtype);
        target = TW_DTYPE_NONE;
    }
    if (how == TW_DEFAULT && dtype == TW_INT32 && w.wide)
        target = TW_DTYPE_NONE;
    bool found = target == TW_DTYPE_NONE; /* by the numbers alone: they are read as integers up to the first float */
    if (found)
        target = natural(w.kind, w.wide);
    if (found && w.beyond && !tw__tracing) {
        tw__py_out_of_range();
        return NULL;
    }
    if (w.wide && tw__dtype_is_integer(target) && target != TW_UINT64 && any_too_wide(value)) {
        tw__py_out_of_range();
        return NULL;
    }
    if (target == TW_RESOURCE || target == TW_VARIANT)
        return cannot(value, target);
    tw__py_filling f = { tw__tensor_empty(target, &w.shape), 0, dtype == TW_DTYPE_NONE };
    if (!f.tensor) {
        tw__py_raise();
        return NULL;
    }
    if (!tw__py_fill_value(&f, value, 0)) {
        tw_release(f.tensor);
        return NULL;
    }
    return f.tensor;
}

static tw_tensor *from_shape(PyObject *value, tw_dtype dtype, tw__py_how how)
{
    const tw_shape *shape = tw__py_shape_of(value);
    if (!tw__shape_known(shape)) {
        tw__py_error(PyExc_ValueError, "Cannot convert a partially known TensorShape %S to a Tensor.", value);
        return NULL;
    }
    bool wide = false;
    for (int i = 0; i < shape->rank; i++)
        wide |= shape->dims[i] > INT32_MAX;
    tw_tensor *tensor = tw__tensor_of_shape(shape, wide || dtype == TW_INT64 ? TW_INT64 : TW_INT32);
    if (!tensor) {
        tw__py_raise();
        return NULL;
    }
    if (dtype != TW_DTYPE_NONE && tensor->dtype != dtype && how == TW_FORCE)
        return tw__py_cast_value(tensor, dtype);
    return tensor;
}

tw_tensor *tw__py_cast(tw_tensor *tensor, tw_dtype dtype)
{
    static const tw_op *op;
    if (!tensor || tensor->dtype == dtype)
        return tensor;
    if (!op && !(op = tw__op_find("Cast")))
        tw__fail(TW_UNIMPLEMENTED, "Cast is not in the table of ops");
    tw_attr to = TW_A_TYPE("DstT", dtype);
    tw_tensor *out = op ? tw__call(op, &tensor, 1, &to, 1) : NULL;
    tw_release(tensor);
    if (!out)
        tw__py_raise();
    return out;
}

tw_tensor *tw__py_cast_value(tw_tensor *tensor, tw_dtype dtype)
{
    tw__outside outside = tw__outside_begin();
    tw_tensor *cast = tw__py_cast(tensor, dtype);
    tw__outside_end(outside);
    return cast;
}

static tw_tensor *wrong_dtype(PyObject *value, tw_dtype wanted, tw_dtype is)
{
    if (tw__py_is_variable(value))
        tw__py_error(PyExc_ValueError,
                     "Incompatible type conversion requested to type %s for `tf.Variable of type %s. (Variable: %R)",
                     tw_dtype_name(wanted), tw_dtype_name(is), value);
    else
        tw__py_error(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R", tw_dtype_name(wanted),
                     tw_dtype_name(is), value);
    return NULL;
}

/* Whether one of the integers needs 64 bits. */
static bool is_wide(const tw_tensor *array)
{
    const int64_t *values = array->data;
    bool wide = false;
    for (int64_t i = 0; !wide && array->dtype == TW_INT64 && i < array->count; i++)
        wide = values[i] != (int32_t)values[i];
    return wide;
}

/* Whether it says by itself what tensor it is. That goes before __array__: gradients go through it. */
static bool has_protocol(PyObject *value)
{
    return !PyObject_CheckBuffer(value) && PyObject_HasAttrString((PyObject *)Py_TYPE(value), "__tf_tensor__");
}

/* What an object of Python's says it is as a tensor: __tf_tensor__(dtype, name). */
static tw_tensor *from_protocol(PyObject *value, tw_dtype dtype, tw__py_how how)
{
    tw__py_auto PyObject *asked = how == TW_FORCE && dtype != TW_DTYPE_NONE ? tw__py_wrap_dtype(dtype) : Py_NewRef(Py_None);
    tw__py_auto PyObject *made = asked ? PyObject_CallMethod(value, "__tf_tensor__", "(OO)", asked, Py_None) : NULL;
    if (made && !tw__py_is_tensor_like(made)) {
        tw__py_error(PyExc_TypeError, "%R.__tf_tensor__ must return a tensor, got %R", Py_TYPE(value), Py_TYPE(made));
        return NULL;
    }
    return made ? tw__py_to_tensor(made, dtype, how) : NULL;
}

tw_tensor *tw__py_to_tensor(PyObject *value, tw_dtype dtype, tw__py_how how)
{
    if (tw__py_is_tensor_like(value)) {
        tw_dtype is = tw__py_dtype_of_value(value);
        if (how == TW_FORCE && dtype != TW_DTYPE_NONE && is != dtype)
            return wrong_dtype(value, dtype, is);
        if (TW_IS_TENSOR(value))
            return tw_retain(TW_TENSOR(value));
        tw_tensor *read = tw__py_read_variable(value);
        if (!read)
            tw__py_raise();
        return read;
    }
    if (how == TW_MATCH)
        how = TW_FORCE;
    /* The scalars first: they are the most frequent. */
    if (PyFloat_CheckExact(value) && (dtype == TW_FLOAT32 || dtype == TW_DTYPE_NONE)) {
        double number = PyFloat_AsDouble(value);
        if (dtype == TW_DTYPE_NONE && tw__py_overflows(number))
            return tw__py_too_large(), NULL;
        tw_tensor *scalar = tw_tensor_float((float)number);
        if (!scalar)
            tw__py_raise();
        return scalar;
    }
    if (tw__py_classify(value) == ARRAY_LEAF && !has_protocol(value)) {
        tw_tensor *array = tw__py_from_array(value);
        if (!array || dtype == TW_DTYPE_NONE || array->dtype == dtype)
            return array;
        if (dtype == TW_STRING && array->count == 0) {
            tw_tensor *none = tw_tensor_new(TW_STRING, array->shape, NULL);
            tw_release(array);
            if (!none)
                tw__py_raise();
            return none;
        }
        if ((array->dtype == TW_STRING) != (dtype == TW_STRING) || dtype == TW_RESOURCE || dtype == TW_VARIANT) {
            if (how != TW_FORCE)
                return array;
            tw_release(array);
            return cannot(value, dtype);
        }
        return how == TW_DEFAULT && dtype == TW_INT32 && is_wide(array) ? array : tw__py_cast_value(array, dtype);
    }
    if (tw__py_shape_of(value))
        return from_shape(value, dtype, how);
    if (tw__is_ragged(tw__py_composite(value))) {
        tw__py_error(PyExc_ValueError, "TypeError: object of type 'RaggedTensor' has no len()\n");
        return NULL;
    }
    struct tw_indexed_slices *slices = tw__py_unwrap(value, &tw__class_indexed_slices);
    if (slices) {
        tw_tensor *dense = tw__indexed_slices_dense(slices);
        if (!dense)
            tw__py_raise();
        return dense;
    }
    if (!PyLong_Check(value) && !PyList_CheckExact(value) && PyObject_HasAttrString((PyObject *)Py_TYPE(value), "__tf_tensor__"))
        return from_protocol(value, dtype, how);
    return from_python(value, dtype, how);
}
