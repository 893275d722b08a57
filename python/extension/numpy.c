/* Python values as operands of NumPy's functions (src/api/numpy): numbers are wide, and give way to the dtypes of tensors. */
#include "convert.h"

/* A number of Python's as NumPy has it; NULL, without an error, if it is none. */
static tw_tensor *number_of(PyObject *value)
{
    tw_tensor *number = NULL;
    if (PyBool_Check(value)) {
        number = tw_tensor_bool(value == Py_True);
    } else if (PyFloat_CheckExact(value)) {
        double real = PyFloat_AsDouble(value);
        number = tw__numpy_float() == TW_FLOAT64 ? tw_tensor_double(real) : tw_tensor_float((float)real);
    } else if (PyLong_Check(value)) {
        int overflow;
        int64_t whole = PyLong_AsLongLongAndOverflow(value, &overflow);
        uint64_t large = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
        if (overflow < 0 || PyErr_Occurred()) {
            tw__py_out_of_range();
            return NULL;
        }
        number = overflow ? tw_tensor_new(TW_UINT64, TW_SCALAR, &large) : tw_tensor_int64(whole);
    } else if (PyComplex_CheckExact(value)) {
        double wide[] = { PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value) };
        float narrow[] = { (float)wide[0], (float)wide[1] };
        bool is_wide = tw__numpy_float() == TW_FLOAT64;
        number = tw_tensor_new(is_wide ? TW_COMPLEX128 : TW_COMPLEX64, TW_SCALAR, is_wide ? (void *)wide : narrow);
    } else {
        return NULL;
    }
    if (!number)
        tw__py_raise();
    return number;
}

static bool is_list(PyObject *value)
{
    return PyList_Check(value) || PyTuple_Check(value);
}

/* ---- dtypes ---- */

bool tw__py_numpy_dtype(PyObject *value, tw_dtype *dtype)
{
    bool wide = tw__numpy_float() == TW_FLOAT64;
    *dtype = value == (PyObject *)&PyFloat_Type     ? tw__numpy_float()
             : value == (PyObject *)&PyComplex_Type ? (wide ? TW_COMPLEX128 : TW_COMPLEX64)
                                                    : TW_DTYPE_NONE;
    if (*dtype != TW_DTYPE_NONE)
        return true;
    PyObject *np = Py_TYPE(value) == tw__py_dtype_type ? NULL : tw__py_numpy();
    tw__py_auto PyObject *plain = np ? PyObject_CallMethod(np, "dtype", "O", value) : NULL;
    tw__py_auto PyObject *name = plain ? PyObject_GetAttrString(plain, "name") : NULL;
    PyErr_Clear();
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    *dtype = text ? tw_dtype_from_name(text) : TW_DTYPE_NONE;
    return *dtype != TW_DTYPE_NONE || tw__py_as_dtype(value, dtype);
}

/* Whether a value stands for a dtype where both may. */
static bool names_dtype(PyObject *value)
{
    if (Py_TYPE(value) == tw__py_dtype_type || PyType_Check(value) || PyUnicode_Check(value))
        return true;
    PyObject *np = tw__py_numpy();
    tw__py_auto PyObject *type = np ? PyObject_GetAttrString(np, "dtype") : NULL;
    return type && PyObject_IsInstance(value, type) > 0;
}

/* The dtypes of the leaves of a value; of tensors and arrays that of all elements. */
static bool add_types(PyObject *value, tw__numpy_types *types, bool dtypes)
{
    tw_dtype dtype = tw__py_dtype_of_value(value);
    if (dtype == TW_DTYPE_NONE && dtypes && names_dtype(value) && !tw__py_numpy_dtype(value, &dtype))
        return false;
    if (dtype != TW_DTYPE_NONE) {
        tw__numpy_add(types, dtype);
        return true;
    }
    if (is_list(value)) {
        if (Py_EnterRecursiveCall(" while the dtype of a list is looked for"))
            return false;
        bool good = true;
        for (Py_ssize_t i = 0; good && i < tw__py_sequence_size(value); i++) {
            tw__py_auto PyObject *item = tw__py_sequence_item(value, i);
            good = item && add_types(item, types, dtypes);
        }
        Py_LeaveRecursiveCall();
        return good;
    }
    tw_auto tw_tensor *number = number_of(value);
    if (!number && !PyErr_Occurred())
        number =
            tw__py_classify(value) == ARRAY_LEAF ? tw__py_from_array(value) : tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
    if (!number)
        return false;
    if (number->shape.rank == 0 && number->data && number->dtype != TW_STRING)
        tw__numpy_add_number(types, number);
    else
        tw__numpy_add(types, number->dtype);
    return true;
}

static tw_dtype type_of(PyObject *value)
{
    tw__numpy_types types = { 0 };
    tw_dtype dtype = add_types(value, &types, false) ? tw__numpy_result(&types) : TW_DTYPE_NONE;
    if (dtype == TW_DTYPE_NONE && !PyErr_Occurred())
        tw__py_raise();
    return dtype;
}

PyObject *tw__py_numpy_result_type(PyObject *self, PyObject *values)
{
    (void)self;
    tw__numpy_types types = { 0 };
    if (!add_types(values, &types, true))
        return NULL;
    tw_dtype dtype = tw__numpy_result(&types);
    return dtype == TW_DTYPE_NONE ? tw__py_raise() : tw__py_wrap_dtype(dtype);
}

/* ---- tensors ---- */

static bool has_tensor(PyObject *value)
{
    bool has = tw__py_is_tensor_like(value);
    if (!is_list(value) || Py_EnterRecursiveCall(" while tensors in a list are looked for"))
        return has;
    for (Py_ssize_t i = 0; !has && i < tw__py_sequence_size(value); i++) {
        tw__py_auto PyObject *item = tw__py_sequence_item(value, i);
        has = item && has_tensor(item);
    }
    Py_LeaveRecursiveCall();
    return has;
}

/* A nested list that holds tensors, as one. */
static tw_tensor *stacked(PyObject *list, tw_dtype dtype)
{
    if (dtype == TW_DTYPE_NONE && (dtype = type_of(list)) == TW_DTYPE_NONE)
        return NULL;
    tw_tensors parts = { tw__alloc_array((size_t)tw__py_sequence_size(list) + 1, sizeof(tw_tensor *)),
                         tw__py_sequence_size(list) };
    bool good = parts.items != NULL;
    for (int64_t i = 0; good && i < parts.count; i++) {
        tw__py_auto PyObject *item = tw__py_sequence_item(list, (Py_ssize_t)i);
        parts.items[i] = item ? tw__py_numpy_array(item, dtype) : NULL;
        good = parts.items[i] != NULL;
    }
    tw_tensor *made = good ? tw_stack(parts) : NULL;
    if (!made && !PyErr_Occurred())
        tw__py_raise();
    for (int64_t i = 0; parts.items && i < parts.count; i++)
        tw_release(parts.items[i]);
    tw__free(parts.items);
    return made;
}

/* A list without tensors: what NumPy makes of it. */
static tw_tensor *of_list(PyObject *value, tw_dtype dtype)
{
    PyObject *np = tw__py_numpy();
    tw__py_auto PyObject *array = np ? PyObject_CallMethod(np, "asarray", "O", value) : NULL;
    tw__py_auto PyObject *type = array ? PyObject_GetAttrString(array, "dtype") : NULL;
    tw__py_auto PyObject *kind = type ? PyObject_GetAttrString(type, "kind") : NULL;
    const char *text = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    if (!text || strchr("OUS", *text)) {
        PyErr_Clear();
        return tw__py_to_tensor(value, dtype, TW_HINT);
    }
    tw_tensor *made = tw__py_from_array(array);
    if (made && dtype == TW_DTYPE_NONE && (dtype = made->count ? type_of(value) : tw__numpy_float()) == TW_DTYPE_NONE) {
        tw_release(made);
        return NULL;
    }
    return made ? tw__py_cast_value(made, dtype) : NULL;
}

tw_tensor *tw__py_numpy_array(PyObject *value, tw_dtype dtype)
{
    if (tw__py_is_tensor_like(value)) {
        tw_tensor *tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
        return tensor && dtype != TW_DTYPE_NONE ? tw__py_cast(tensor, dtype) : tensor;
    }
    if (is_list(value) && has_tensor(value))
        return stacked(value, dtype);
    tw_tensor *made = number_of(value);
    if (!made && PyErr_Occurred())
        return NULL;
    if (!made && is_list(value))
        return of_list(value, dtype);
    if (!made)
        made = tw__py_classify(value) == ARRAY_LEAF ? tw__py_from_array(value) : tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
    return made && dtype != TW_DTYPE_NONE && made->dtype != TW_STRING ? tw__py_cast_value(made, dtype) : made;
}

/* ---- arguments ---- */

/* The dtype for an argument "tensor<common>": that of all such arguments. */
static bool common_dtype(const tw_signature *signature, PyObject *const *given, tw_dtype *dtype)
{
    tw__numpy_types types = { 0 };
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        if (given[i] && given[i] != Py_None && field->word && strcmp(field->word, "common") == 0 &&
            !add_types(given[i], &types, false))
            return false;
    }
    *dtype = tw__numpy_result(&types);
    return *dtype != TW_DTYPE_NONE || (tw__py_raise(), false);
}

bool tw__py_fill_array(const tw__py_operands *operands, const tw_field *field, PyObject *value, tw_tensor **out)
{
    tw_dtype dtype = TW_DTYPE_NONE;
    if (*field->word == 'c' && !common_dtype(operands->signature, operands->given, &dtype))
        return false;
    *out = tw__py_numpy_array(value, dtype);
    return tw__py_keep_object(operands->frame, *out);
}

bool tw__py_fill_arrays(const tw__py_operands *operands, const tw_field *field, PyObject *value, tw_tensors *out)
{
    tw_dtype dtype = TW_DTYPE_NONE;
    if (*field->word == 'c' && !common_dtype(operands->signature, operands->given, &dtype))
        return false;
    tw__py_auto PyObject *list = TW_IS_TENSOR(value) ? PyTuple_Pack(1, value) : PySequence_List(value);
    int64_t count = list ? tw__py_sequence_size(list) : 0;
    tw_tensor **items = list ? tw__py_keep_block(operands->frame, (size_t)count * sizeof *items) : NULL;
    bool good = items != NULL;
    for (int64_t i = 0; good && i < count; i++) {
        tw__py_auto PyObject *item = tw__py_sequence_item(list, (Py_ssize_t)i);
        items[i] = item ? tw__py_numpy_array(item, dtype) : NULL;
        good = tw__py_keep_object(operands->frame, items[i]);
    }
    *out = (tw_tensors){ items, count };
    return good;
}

/* ---- operators ---- */

PyObject *tw__py_numpy_binary(tw__operator which, PyObject *left, PyObject *right)
{
    tw__numpy_types types = { 0 };
    PyObject *other = tw__py_is_tensor_like(left) ? right : left;
    if (!add_types(left, &types, false) || !add_types(right, &types, false)) {
        if (tw__py_is_tensor_like(other) || is_list(other) || PyNumber_Check(other) || PyObject_CheckBuffer(other))
            return NULL;
        PyErr_Clear();
        Py_RETURN_NOTIMPLEMENTED;
    }
    tw_dtype dtype = tw__numpy_result(&types);
    if (dtype == TW_DTYPE_NONE)
        return tw__py_raise();
    tw__naming naming = tw__naming_begin();
    tw_auto tw_tensor *a = tw__py_numpy_array(left, tw__py_is_tensor_like(left) ? TW_DTYPE_NONE : dtype);
    tw_auto tw_tensor *b = a ? tw__py_numpy_array(right, tw__py_is_tensor_like(right) ? TW_DTYPE_NONE : dtype) : NULL;
    PyObject *out = b ? tw__py_wrap_tensor(tw__numpy_operate(which, a, b)) : NULL;
    if (tw__naming_end(naming, NULL, NULL, NULL) != TW_OK && out) {
        Py_DECREF(out);
        return tw__py_raise();
    }
    return out;
}
