/* Arguments of a call into the parts of its key and its tensors; see structure.h and function/cache.h. */
#include "structure.h"

void tw__py_walk_begin(tw__py_walk *w, PyObject *owner, bool takes_specs)
{
    tw__key_begin(&w->key);
    w->tensors = w->few_tensors;
    w->made = w->few_made;
    w->tensor_capacity = sizeof w->few_tensors / sizeof *w->few_tensors;
    w->made_capacity = sizeof w->few_made / sizeof *w->few_made;
    w->tensor_count = w->made_count = 0;
    w->lent_count = 0;
    w->owner = owner;
    w->takes_specs = takes_specs;
    w->named = false;
}

void tw__py_walk_end(tw__py_walk *w)
{
    for (size_t i = 0; i < w->made_count; i++)
        tw_release(w->made[i]);
    for (int i = 0; i < w->lent_count; i++)
        PyBuffer_Release(&w->lent[i].view);
    if (w->made != w->few_made)
        tw__free(w->made);
    if (w->tensors != w->few_tensors)
        tw__free(w->tensors);
    tw__key_free(&w->key);
}

static bool append(tw_tensor ***items, tw_tensor *const *few, size_t *count, size_t *capacity, tw_tensor *item)
{
    if (*count == *capacity) {
        tw_tensor **more = tw__alloc_array(2 * *capacity, sizeof *more);
        if (!more) {
            tw__py_raise();
            return false;
        }
        memcpy(more, *items, *count * sizeof *more);
        if (*items != few)
            tw__free(*items);
        *items = more;
        *capacity *= 2;
    }
    (*items)[(*count)++] = item;
    return true;
}

static bool add_tensor(tw__py_walk *w, tw_tensor *tensor, tw_dtype dtype, const tw_shape *shape)
{
    tw__key_tensor(&w->key, dtype, shape);
    return append(&w->tensors, w->few_tensors, &w->tensor_count, &w->tensor_capacity, tensor);
}

/* Takes the reference; NULL: an exception is set. */
static bool add_made(tw__py_walk *w, tw_tensor *tensor, const tw_shape *shape)
{
    if (!tensor)
        return false;
    if (append(&w->made, w->few_made, &w->made_count, &w->made_capacity, tensor))
        return add_tensor(w, tensor, tensor->dtype, shape ? shape : &tensor->shape);
    tw_release(tensor);
    return false;
}

/* On the array's own memory while the walk lasts, if it is large. */
static bool add_array(tw__py_walk *w, PyObject *array)
{
    tw__py_lent *lent = &w->lent[w->lent_count];
    bool room = w->lent_count < (int)(sizeof w->lent / sizeof *w->lent);
    tw_tensor *tensor = room ? tw__py_borrow_array(array, &lent->view) : NULL;
    if (!tensor)
        return add_made(w, tw__py_from_array(array), NULL);
    lent->tensor = w->tensor_count;
    w->lent_count++;
    return add_made(w, tensor, NULL);
}

bool tw__py_walk_copy(tw__py_walk *w, size_t tensor)
{
    tw_tensor *copy = tw__tensor_copy(w->tensors[tensor]);
    if (!copy) {
        tw__py_raise();
        return false;
    }
    w->tensors[tensor] = copy;
    if (append(&w->made, w->few_made, &w->made_count, &w->made_capacity, copy))
        return true;
    tw_release(copy);
    return false;
}

static bool add_variable(tw__py_walk *w, tw_variable *variable)
{
    int before = w->key.variable_count;
    int number =
        tw__key_variable(&w->key, variable->resource, variable->resource->dtype, &variable->resource->shape, variable->trainable);
    return number < before || append(&w->tensors, w->few_tensors, &w->tensor_count, &w->tensor_capacity, variable->handle);
}

static bool add_text(tw__py_walk *w, PyObject *text)
{
    Py_ssize_t size = 0;
    char *bytes = NULL;
    const char *data = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (!data && PyUnicode_Check(text)) { /* lone surrogates */
        PyErr_Clear();
        tw__py_auto PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
        bool good = encoded && PyBytes_AsStringAndSize(encoded, &bytes, &size) == 0;
        if (good)
            tw__key_text(&w->key, 'u', bytes, (size_t)size);
        return good;
    }
    if (!data && PyBytes_AsStringAndSize(text, &bytes, &size) == 0)
        data = bytes;
    if (data)
        tw__key_text(&w->key, PyUnicode_Check(text) ? 'u' : 'b', data, (size_t)size);
    return data != NULL;
}

static bool add_long(tw__py_walk *w, PyObject *number)
{
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (!overflow) {
        tw__key_int(&w->key, value);
        return value != -1 || !PyErr_Occurred();
    }
    tw__py_auto PyObject *text = PyNumber_ToBase(number, 16);
    Py_ssize_t size = 0;
    const char *data = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (data)
        tw__key_text(&w->key, 'i', data, (size_t)size);
    return data != NULL;
}

/* None, numbers and texts: by their values. -1: it is none of them; 0: an exception. */
static int add_literal(tw__py_walk *w, PyObject *value)
{
    if (value == Py_None)
        tw__key_none(&w->key);
    else if (PyLong_Check(value))
        return add_long(w, value);
    else if (PyFloat_Check(value))
        tw__key_float(&w->key, PyFloat_AsDouble(value));
    else if (PyUnicode_Check(value) || PyBytes_Check(value))
        return add_text(w, value);
    else if (PyComplex_Check(value))
        tw__key_complex(&w->key, PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value));
    else
        return -1;
    return 1;
}

/* Anything else: by identity if it can be held weakly, else by equality; the tracer numbers the values it has seen. */
static bool add_object(tw__py_walk *w, PyObject *value)
{
    PyTypeObject **place = tw__py_plain_place(Py_TYPE(value));
    if (*place != Py_TYPE(value)) {
        PyObject *number = PyObject_CallMethod(w->owner, "_value_number", "O", value);
        if (!number)
            return false;
        if (number != Py_None) {
            int64_t n = PyLong_AsLongLong(number);
            tw__key_text(&w->key, 'v', &n, sizeof n);
            Py_DECREF(number);
            return !PyErr_Occurred();
        }
        Py_DECREF(number);
        Py_INCREF((PyObject *)Py_TYPE(value));
        PyTypeObject *old = *place;
        *place = Py_TYPE(value);
        Py_XDECREF((PyObject *)old);
    }
    tw__key_object(&w->key, value);
    return true;
}

static bool add_dict(tw__py_walk *w, PyObject *dict, int depth)
{
    tw__py_auto PyObject *keys = tw__py_ordered_keys(dict);
    Py_ssize_t count = keys ? PyList_Size(keys) : 0;
    tw__key_open(&w->key, Py_TYPE(dict), count);
    bool good = keys != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *key = PyList_GetItem(keys, i);
        tw__py_auto PyObject *member = PyObject_GetItem(dict, key);
        int literal = member ? add_literal(w, key) : 0;
        good = member && (literal < 0 ? add_object(w, key) : literal) && tw__py_walk_value(w, member, depth + 1);
    }
    return good;
}

static bool add_sequence(tw__py_walk *w, PyObject *sequence, const void *type, int depth)
{
    Py_ssize_t count = PySequence_Size(sequence);
    tw__key_open(&w->key, type, count);
    bool good = count >= 0;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        tw__py_auto PyObject *member = PySequence_GetItem(sequence, i);
        good = member && tw__py_walk_value(w, member, depth + 1);
    }
    return good;
}

/* The tensors of a value, with the shapes that its type says: how many values there are does not matter. */
static bool add_parts(tw__py_walk *w, void *object, const struct tw_type_spec *spec)
{
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    int count = tw__composite_parts(object, parts);
    bool good = tw__spec_parts(spec, shapes, dtypes) == count;
    for (int i = 0; good && i < count; i++) {
        tw_tensor *like = tw__tensor_empty(TW_BOOL, &TW_SCALAR); /* carries the shape */
        if (like)
            like->shape = shapes[i];
        good = like && append(&w->made, w->few_made, &w->made_count, &w->made_capacity, like) &&
               add_tensor(w, parts[i], dtypes[i], &like->shape);
    }
    return good;
}

static bool add_composite(tw__py_walk *w, void *object)
{
    tw_auto struct tw_type_spec *spec = tw__composite_spec(object);
    tw__owned char *text = spec ? tw__spec_text(spec) : NULL;
    bool good = text != NULL;
    if (good)
        tw__key_text(&w->key, 'c', text, strlen(text));
    else
        tw__py_raise();
    good = good && add_parts(w, object, spec);
    return good;
}

static bool add_spec(tw__py_walk *w, PyObject *value, void *spec)
{
    if (!w->takes_specs) {
        tw__py_error(PyExc_TypeError, "tf.function: %R is given where a call needs a tensor", value);
        return false;
    }
    const char *name = tw__is(spec, &tw__class_tensor_spec) ? ((tw_tensor_spec *)spec)->name : NULL;
    if (w->named && name)
        tw__key_text(&w->key, 'n', name, strlen(name));
    if (tw__is(spec, &tw__class_tensor_spec))
        return add_tensor(w, NULL, ((tw_tensor_spec *)spec)->dtype, &((tw_tensor_spec *)spec)->shape);
    if (tw__is(spec, &tw__class_variable_spec)) {
        tw__py_error(PyExc_NotImplementedError, "tf.function: a variable is needed where %R is given", value);
        return false;
    }
    tw__owned char *text = tw__spec_text(spec);
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    int count = text ? tw__spec_parts(spec, shapes, dtypes) : 0;
    bool good = text != NULL;
    if (good)
        tw__key_text(&w->key, 'c', text, strlen(text));
    else
        tw__py_raise();
    for (int i = 0; good && i < count; i++) { /* tensors without elements carry the shapes */
        tw_shape none = shapes[i];
        for (int d = 0; d < none.rank; d++)
            none.dims[d] = 0;
        tw_tensor *held = tw__tensor_empty(dtypes[i], none.rank < 0 ? &TW_SCALAR : &none);
        if (held)
            held->shape = shapes[i];
        else
            tw__py_raise();
        good = held && add_made(w, held, NULL);
    }
    return good;
}

/* Members may have been made for the question: the walk holds their tensors. */
static bool add_members(tw__py_walk *w, PyObject *members, const void *type, int depth)
{
    Py_ssize_t count = PyList_Size(members);
    if (count && PyUnicode_Check(PyList_GetItem(members, 0))) /* it says what the value is: all classes of datasets are alike */
        type = tw__py_members_type;
    tw__key_open(&w->key, type, count);
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *member = PyList_GetItem(members, i);
        good = TW_IS_TENSOR(member) ? add_made(w, tw_retain(TW_TENSOR(member)), NULL) : tw__py_walk_value(w, member, depth + 1);
    }
    return good;
}

bool tw__py_walk_value(tw__py_walk *w, PyObject *value, int depth)
{
    if (TW_IS_TENSOR(value)) {
        tw_tensor *tensor = TW_TENSOR(value);
        return add_tensor(w, tensor, tensor->dtype, &tensor->shape);
    }
    static PyTypeObject *variable_type;
    if (!variable_type)
        variable_type = tw__py_type_of(&tw__class_variable);
    if (Py_TYPE(value) == variable_type && tw__py_handle(value))
        return add_variable(w, (tw_variable *)tw__py_handle(value));
    int literal = add_literal(w, value);
    if (literal >= 0)
        return literal;
    if (tw__py_too_deep(depth) || !tw__py_structures_load())
        return false;
    if (PyDict_Check(value))
        return add_dict(w, value, depth);
    if (PyList_Check(value) || PyTuple_Check(value))
        return add_sequence(w, value, Py_TYPE(value), depth);
    if (Py_TYPE(value) == tw__py_ndarray_type)
        return add_array(w, value);
    if (*tw__py_plain_place(Py_TYPE(value)) == Py_TYPE(value))
        return add_object(w, value);
    void *object = tw__py_object_of(value);
    if (tw__is(object, &tw__class_variable))
        return add_variable(w, object);
    if (tw__is_composite(object))
        return add_composite(w, object);
    if (tw__is(object, &tw__class_type_spec))
        return add_spec(w, value, object);
    PyObject *members = tw__py_members_of(value);
    if (!members || members != Py_None) {
        bool good = members && add_members(w, PyTuple_GetItem(members, 1), Py_TYPE(value), depth);
        Py_XDECREF(members);
        return good;
    }
    Py_DECREF(members);
    return tw__py_is_array(value) ? add_made(w, tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT), NULL) : add_object(w, value);
}

/* ---- arguments that a signature describes ---- */

static bool cannot_cast(PyObject *value, PyObject *spec)
{
    tw__py_auto PyObject *text = PyObject_CallMethod(tw__py_structures, "cast_text", "OO", value, spec);
    if (text)
        PyErr_SetObject(PyExc_TypeError, text);
    return false;
}

static bool cast_tensor(tw__py_walk *w, PyObject *value, const tw_tensor_spec *spec)
{
    if (w->takes_specs && tw__is(tw__py_object_of(value), &tw__class_tensor_spec)) {
        const tw_tensor_spec *given = tw__py_object_of(value);
        if (tw__tensor_spec_check(spec, &(tw_tensor){ .dtype = given->dtype, .shape = given->shape }) == TW_OK)
            return add_tensor(w, NULL, spec->dtype, &spec->shape);
        tw__py_raise();
        return false;
    }
    tw_tensor *tensor = TW_IS_TENSOR(value) ? tw_retain(TW_TENSOR(value)) : tw__py_to_tensor(value, spec->dtype, TW_MATCH);
    if (tensor && tw__tensor_spec_check(spec, tensor) != TW_OK) {
        tw_release(tensor);
        tw__py_raise();
        return false;
    }
    return add_made(w, tensor, &spec->shape);
}

static bool cast_members(tw__py_walk *w, PyObject *value, PyObject *spec, int depth)
{
    Py_ssize_t count = PyObject_Size(spec);
    bool dict = PyDict_Check(spec);
    bool alike = dict ? PyDict_Check(value) : PyList_Check(value) || PyTuple_Check(value);
    if (count < 0 || !alike || PyObject_Size(value) != count)
        return count < 0 ? false : cannot_cast(value, spec);
    tw__key_open(&w->key, Py_TYPE(spec), count);
    tw__py_auto PyObject *keys = dict ? tw__py_ordered_keys(spec) : NULL;
    bool good = !dict || keys;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *key = dict ? PyList_GetItem(keys, i) : NULL;
        if (dict && PyDict_Check(value) && PyDict_Contains(value, key) != 1) {
            good = cannot_cast(value, spec);
            break;
        }
        tw__py_auto PyObject *inner = dict ? PyObject_GetItem(spec, key) : PySequence_GetItem(spec, i);
        tw__py_auto PyObject *member = dict ? PyObject_GetItem(value, key) : PySequence_GetItem(value, i);
        good = inner && member && tw__py_walk_cast(w, member, inner, depth + 1);
    }
    return good;
}

static bool cast_composite(tw__py_walk *w, PyObject *value, struct tw_type_spec *spec, PyObject *shown)
{
    void *object = tw__py_object_of(value);
    struct tw_type_spec *own = tw__is_composite(object) ? tw__composite_spec(object) : NULL;
    const tw__type_spec_methods *methods = tw__methods(spec);
    bool fits = own && own->object.class == spec->object.class && methods->covers(spec, own);
    tw_release(own);
    if (!fits)
        return w->takes_specs && object == spec ? add_spec(w, shown, spec) : cannot_cast(value, shown);
    return add_parts(w, object, spec);
}

static bool cast_variable(tw__py_walk *w, PyObject *value, const tw_variable_spec *spec, PyObject *shown)
{
    tw_variable *variable = tw__py_unwrap(value, &tw__class_variable);
    bool fits =
        variable && variable->resource->dtype == spec->dtype && tw__shape_compatible(&spec->shape, &variable->resource->shape);
    return fits ? add_variable(w, variable) : cannot_cast(value, shown);
}

bool tw__py_walk_cast(tw__py_walk *w, PyObject *value, PyObject *spec, int depth)
{
    if (tw__py_too_deep(depth) || !tw__py_structures_load())
        return false;
    void *object = tw__py_object_of(spec);
    if (tw__is(object, &tw__class_tensor_spec))
        return cast_tensor(w, value, object);
    if (tw__is(object, &tw__class_variable_spec))
        return cast_variable(w, value, object, spec);
    if (tw__is(object, &tw__class_type_spec))
        return cast_composite(w, value, object, spec);
    if (PyDict_Check(spec) || PyList_Check(spec) || PyTuple_Check(spec))
        return cast_members(w, value, spec, depth);
    return !w->owner || tw__py_walk_value(w, value, depth);
}
