/* Structures of arguments and results; see structure.h. Lists, tuples, named tuples and dicts hold others; the members of a dict
 * are visited in the order of its keys. A value of several tensors (tf.SparseTensor) is a leaf with several parts. */
#include "structure.h"

enum { DEPTH_LIMIT = 200, PLAIN_TYPES = 16 };

PyTypeObject *tw__py_ndarray_type, *tw__py_weak_type, *tw__py_members_type;
PyObject *tw__py_structures; /* thalweg._structure */

/* ---- kinds of values ---- */

/* Types whose instances are told by identity: neither structures nor arrays. The last ones seen; references. */
static PyTypeObject *plain_types[PLAIN_TYPES];

PyTypeObject **tw__py_plain_place(PyTypeObject *type)
{
    return &plain_types[((uintptr_t)type >> 4) % PLAIN_TYPES];
}

bool tw__py_structures_load(void)
{
    if (tw__py_structures)
        return true;
    PyObject *module = PyImport_ImportModule("thalweg._structure"), *numpy = module ? tw__py_numpy() : NULL;
    tw__py_weak_type = numpy ? (PyTypeObject *)PyObject_GetAttrString(module, "Weak") : NULL;
    tw__py_members_type = tw__py_weak_type ? (PyTypeObject *)PyObject_GetAttrString(module, "Members") : NULL;
    tw__py_ndarray_type = tw__py_members_type ? (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray") : NULL;
    tw__py_structures = tw__py_ndarray_type ? module : NULL;
    return tw__py_structures != NULL;
}

bool tw__py_too_deep(int depth)
{
    if (depth <= DEPTH_LIMIT)
        return false;
    tw__py_error(PyExc_ValueError, "tf.function: an argument or result is nested deeper than %d levels, or holds itself",
                 DEPTH_LIMIT);
    return true;
}

bool tw__py_is_array(PyObject *value)
{
    if (Py_TYPE(value) == tw__py_ndarray_type)
        return true;
    return PyObject_HasAttrString(value, "__array__") && !PyType_Check(value) && !PyUnicode_Check(value) &&
           !tw__py_is_tensor_like(value);
}

/* The keys in order: as they compare, or by their texts if they can't be compared. A new list. */
PyObject *tw__py_ordered_keys(PyObject *dict)
{
    PyObject *keys = PyDict_Keys(dict);
    if (!keys || PyList_Sort(keys) == 0)
        return keys;
    PyErr_Clear();
    PyObject *sorted = PyObject_CallMethod(tw__py_structures, "by_text", "O", keys);
    Py_DECREF(keys);
    return sorted;
}

/* Values of several tensors that Python makes: (how, list of members), a new tuple; None for others. */
PyObject *tw__py_members_of(PyObject *value)
{
    return PyObject_CallMethod(tw__py_structures, "members", "O", value);
}

void *tw__py_object_of(PyObject *value)
{
    return tw__py_is_object(value) ? tw__py_handle(value) : NULL;
}

/* ---- structures into structures ---- */

/* The fields of a named tuple, new; NULL, without an exception, for others. */
static PyObject *fields_of(PyObject *value)
{
    if (PyTuple_CheckExact(value) || !PyTuple_Check(value))
        return NULL;
    PyObject *fields = PyObject_GetAttrString(value, "_fields");
    if (!fields)
        PyErr_Clear();
    return fields;
}

static PyObject *member_name(PyObject *name, PyObject *key)
{
    return name ? PyUnicode_FromFormat("%U_%S", name, key) : NULL;
}

static PyObject *map_dict(PyObject *dict, tw__py_leaf leaf, void *context, PyObject *name, int depth)
{
    PyObject *keys = tw__py_ordered_keys(dict), *made = keys ? PyDict_Copy(dict) : NULL; /* in the order of the original */
    for (Py_ssize_t i = 0; made && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i);
        tw__py_auto PyObject *member = PyObject_GetItem(dict, key);
        tw__py_auto PyObject *inner = member_name(name, key);
        tw__py_auto PyObject *mapped = member && (inner || !name) ? tw__py_map(member, leaf, context, inner, depth + 1) : NULL;
        if (!mapped || PyDict_SetItem(made, key, mapped) < 0)
            Py_CLEAR(made);
    }
    Py_XDECREF(keys);
    if (!made || PyDict_CheckExact(dict))
        return made;
    PyObject *typed = PyObject_CallMethod(tw__py_structures, "dict_like", "OO", dict, made);
    Py_DECREF(made);
    return typed;
}

/* The members of a list, tuple or the like, mapped: a new list. */
static PyObject *map_members(PyObject *sequence, PyObject *fields, tw__py_leaf leaf, void *context, PyObject *name, int depth)
{
    Py_ssize_t count = PySequence_Size(sequence);
    PyObject *made = count >= 0 ? PyList_New(count) : NULL;
    for (Py_ssize_t i = 0; made && i < count; i++) {
        tw__py_auto PyObject *member = PySequence_GetItem(sequence, i), *key = NULL, *inner = NULL;
        if (name) {
            key = fields ? PySequence_GetItem(fields, i) : PyLong_FromSsize_t(i);
            inner = key ? member_name(name, key) : NULL;
        }
        PyObject *mapped = member && (inner || !name) ? tw__py_map(member, leaf, context, inner, depth + 1) : NULL;
        if (!mapped || PyList_SetItem(made, i, mapped) < 0)
            Py_CLEAR(made);
    }
    return made;
}

PyObject *tw__py_map(PyObject *value, tw__py_leaf leaf, void *context, PyObject *name, int depth)
{
    if (TW_IS_TENSOR(value) || value == Py_None)
        return leaf(context, value, name);
    if (tw__py_too_deep(depth) || !tw__py_structures_load())
        return NULL;
    if (PyDict_Check(value))
        return map_dict(value, leaf, context, name, depth);
    if (!PyList_Check(value) && !PyTuple_Check(value))
        return leaf(context, value, name);
    tw__py_auto PyObject *fields = fields_of(value);
    PyObject *made = map_members(value, fields, leaf, context, name, depth), *typed = made;
    if (made && !PyList_CheckExact(value)) {
        typed = PyTuple_CheckExact(value) ? PyList_AsTuple(made)
                                          : PyObject_CallMethod(tw__py_structures, "sequence_like", "OO", value, made);
        Py_DECREF(made);
    }
    return typed;
}

/* ---- descriptions ---- */

static PyObject *clean_name(PyObject *name)
{
    return PyObject_CallMethod(tw__py_structures, "clean_name", "O", name);
}

/* The graph takes this: appends it, with its name. `given` is a name that comes with it, or NULL. */
static bool add_input(tw__py_description *d, PyObject *input, const char *given, PyObject *name)
{
    tw__py_auto PyObject *own = given ? PyUnicode_FromString(given) : NULL,
                         *clean = own || !given ? clean_name(own ? own : name) : NULL;
    tw__py_auto PyObject *label = clean ? clean_name(own ? own : d->label) : NULL;
    return input && label && PyList_Append(d->inputs, input) == 0 && PyList_Append(d->names, clean) == 0 &&
           PyList_Append(d->labels, label) == 0;
}

static PyObject *describe_tensor(tw__py_description *d, tw_dtype dtype, const char *given, PyObject *name)
{
    PyObject *spec = tw__py_wrap(tw__tensor_spec_new(dtype, &d->shapes[d->next_shape++], given));
    if (spec && !add_input(d, spec, given, name))
        Py_CLEAR(spec);
    return spec;
}

static PyObject *describe_variable(tw__py_description *d, PyObject *value, const tw_variable *variable, PyObject *name)
{
    int number = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(d->inputs); i++) {
        tw_variable *other = tw__py_unwrap(PyList_GetItem(d->inputs, i), &tw__class_variable);
        if (other && other->resource == variable->resource)
            break;
        number += other != NULL;
    }
    bool is_new = number == d->variable_count;
    PyObject *spec =
        tw__py_wrap(tw__variable_spec_new(variable->resource->dtype, &variable->resource->shape, variable->trainable, number));
    d->variable_count += is_new;
    if (spec && is_new && !add_input(d, value, NULL, name))
        Py_CLEAR(spec);
    return spec;
}

static PyObject *describe_composite(tw__py_description *d, struct tw_type_spec *spec, PyObject *name)
{
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    int count = spec ? tw__spec_parts(spec, shapes, dtypes) : 0;
    bool good = spec != NULL;
    for (int i = 0; good && i < count; i++) {
        tw__py_auto PyObject *number = PyLong_FromLong(i), *inner = number && i ? member_name(name, number) : NULL;
        tw__py_auto PyObject *part = number ? describe_tensor(d, dtypes[i], NULL, inner ? inner : name) : NULL;
        good = part != NULL;
    }
    if (good)
        return tw__py_wrap(spec);
    tw_release(spec);
    return PyErr_Occurred() ? NULL : tw__py_raise();
}

static bool is_literal(PyObject *value)
{
    return value == Py_None || PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value) ||
           PyComplex_Check(value);
}

static PyObject *describe_leaf(void *context, PyObject *value, PyObject *name)
{
    tw__py_description *d = context;
    if (TW_IS_TENSOR(value))
        return describe_tensor(d, TW_TENSOR(value)->dtype, NULL, name);
    void *object = tw__py_object_of(value);
    if (tw__is(object, &tw__class_variable))
        return describe_variable(d, value, object, name);
    if (tw__is(object, &tw__class_tensor_spec))
        return describe_tensor(d, ((tw_tensor_spec *)object)->dtype, ((tw_tensor_spec *)object)->name, name);
    if (tw__is_composite(object))
        return describe_composite(d, tw__composite_spec(object), name);
    if (tw__is(object, &tw__class_type_spec))
        return describe_composite(d, tw_retain(object), name);
    if (is_literal(value)) {
        Py_INCREF(value);
        return value;
    }
    bool plain = *tw__py_plain_place(Py_TYPE(value)) == Py_TYPE(value);
    PyObject *members = plain ? NULL : tw__py_members_of(value);
    if (members && members != Py_None) {
        tw__py_auto PyObject *inner = map_members(PyTuple_GetItem(members, 1), NULL, describe_leaf, context, name, 0);
        PyObject *made =
            inner ? PyObject_CallFunction((PyObject *)tw__py_members_type, "OO", PyTuple_GetItem(members, 0), inner) : NULL;
        Py_DECREF(members);
        return made;
    }
    Py_XDECREF(members);
    if (!plain && tw__py_is_array(value)) {
        tw_auto tw_tensor *tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
        PyObject *spec = tensor ? describe_tensor(d, tensor->dtype, NULL, name) : NULL;
        return spec;
    }
    return PyErr_Occurred() ? NULL : PyObject_CallMethod(d->owner, "_hold", "O", value);
}

PyObject *tw__py_describe(tw__py_description *d, PyObject *value, PyObject *name)
{
    d->label = name;
    return tw__py_structures_load() ? tw__py_map(value, describe_leaf, d, name, 0) : NULL;
}

/* ---- packing ---- */

typedef struct packing {
    PyObject *values;
    Py_ssize_t next;
    PyObject **variables; /* by alias; borrowed */
    size_t variable_capacity;
} packing;

static PyObject *next_value(packing *p)
{
    PyObject *value = p->next < PyList_Size(p->values) ? PyList_GetItem(p->values, p->next++) : NULL;
    if (!value)
        return tw__py_error(PyExc_ValueError, "tf.function: there are fewer tensors than the structure has");
    Py_INCREF(value);
    return value;
}

static PyObject *pack_parts(packing *p, struct tw_type_spec *spec)
{
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    int count = tw__spec_parts(spec, shapes, dtypes);
    bool tensors = true;
    for (int i = 0; i < count; i++) {
        PyObject *value = p->next + i < PyList_Size(p->values) ? PyList_GetItem(p->values, p->next + i) : NULL;
        tensors &= value && TW_IS_TENSOR(value);
        parts[i] = tensors ? TW_TENSOR(value) : NULL;
    }
    p->next += count;
    if (!tensors) /* specs are packed: the whole has one of its own */
        return tw__py_wrap(tw_retain(spec));
    return tw__py_wrap(tw__spec_pack(spec, parts, count));
}

static PyObject *pack_leaf(void *context, PyObject *leaf, PyObject *name)
{
    (void)name;
    packing *p = context;
    void *object = tw__py_object_of(leaf);
    if (tw__is(object, &tw__class_tensor_spec))
        return next_value(p);
    if (tw__is(object, &tw__class_variable_spec)) {
        int64_t alias = ((tw_variable_spec *)object)->alias_id;
        size_t place = alias < 0 ? 0 : (size_t)alias, before = p->variable_capacity;
        if (alias < 0)
            return next_value(p);
        if (TW_GROW(p->variables, p->variable_capacity, place + 1) != TW_OK)
            return tw__py_raise();
        memset(p->variables + before, 0, (p->variable_capacity - before) * sizeof *p->variables);
        if (p->variables[place])
            Py_INCREF(p->variables[place]);
        else
            p->variables[place] = next_value(p);
        return p->variables[place];
    }
    if (tw__is(object, &tw__class_type_spec))
        return pack_parts(p, object);
    if (Py_TYPE(leaf) == tw__py_weak_type)
        return PyObject_CallFunctionObjArgs(leaf, NULL);
    Py_INCREF(leaf);
    return leaf;
}

/* Members of a Python value of several tensors are put together again. */
static PyObject *join(PyObject *structure, packing *p);

static PyObject *pack_any(void *context, PyObject *leaf, PyObject *name)
{
    return Py_TYPE(leaf) == tw__py_members_type ? join(leaf, context) : pack_leaf(context, leaf, name);
}

static PyObject *join(PyObject *structure, packing *p)
{
    tw__py_auto PyObject *parts = PyObject_GetAttrString(structure, "parts");
    tw__py_auto PyObject *values = parts ? tw__py_map(parts, pack_any, p, NULL, 0) : NULL;
    return values ? PyObject_CallMethod(structure, "join", "O", values) : NULL;
}

PyObject *tw__py_pack(PyObject *structure, PyObject *values)
{
    packing p = { .values = values };
    PyObject *packed = tw__py_structures_load() ? tw__py_map(structure, pack_any, &p, NULL, 0) : NULL;
    tw__free(p.variables);
    return packed;
}

/* ---- results ---- */

typedef struct gathering {
    PyObject *tensors, *function;
} gathering;

static PyObject *gather_tensor(gathering *g, tw_tensor *tensor)
{
    tw__py_auto PyObject *wrapped = tw__py_wrap_tensor(tw_retain(tensor));
    PyObject *spec = wrapped ? tw__py_wrap(tw__tensor_spec_new(tensor->dtype, &tensor->shape, NULL)) : NULL;
    if (spec && PyList_Append(g->tensors, wrapped) < 0)
        Py_CLEAR(spec);
    return spec;
}

static PyObject *gather_leaf(void *context, PyObject *value, PyObject *name)
{
    (void)name;
    gathering *g = context;
    void *object = tw__py_object_of(value);
    if (value == Py_None ||
        (object && Py_TYPE(value) != tw__py_type_of(&tw__class_variable) && tw__is(object, &tw__class_operation)))
        Py_RETURN_NONE;
    if (tw__is_composite(object)) {
        tw_tensor *parts[TW_COMPOSITE_PARTS];
        int count = tw__composite_parts(object, parts);
        for (int i = 0; i < count; i++) {
            tw__py_auto PyObject *spec = gather_tensor(g, parts[i]);
            if (!spec)
                return NULL;
        }
        return tw__py_wrap(tw__composite_spec(object));
    }
    PyObject *members = TW_IS_TENSOR(value) || is_literal(value) ? NULL : tw__py_members_of(value);
    if (members && members != Py_None) {
        tw__py_auto PyObject *inner = map_members(PyTuple_GetItem(members, 1), NULL, gather_leaf, context, NULL, 0);
        PyObject *made =
            inner ? PyObject_CallFunction((PyObject *)tw__py_members_type, "OO", PyTuple_GetItem(members, 0), inner) : NULL;
        Py_DECREF(members);
        return made;
    }
    Py_XDECREF(members);
    tw_tensor *tensor = PyErr_Occurred() ? NULL : tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
    if (!tensor) {
        bool plain = PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
        if (!plain)
            return NULL;
        PyErr_Clear();
        PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
        if (type)
            tw__py_error(
                PyExc_TypeError,
                "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None values; in "
                "compilation of %R, found return value of type %U, which is not a Tensor or ExtensionType.",
                g->function, type);
        Py_XDECREF(type);
        return NULL;
    }
    PyObject *spec = gather_tensor(g, tensor);
    tw_release(tensor);
    return spec;
}

PyObject *tw__py_results(PyObject *value, PyObject *tensors, PyObject *function)
{
    gathering g = { tensors, function };
    return tw__py_structures_load() ? tw__py_map(value, gather_leaf, &g, NULL, 0) : NULL;
}

/* ---- for Python ---- */

static PyObject *pack(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *structure, *values;
    return PyArg_ParseTuple(arguments, "OO!:pack", &structure, &PyList_Type, &values) ? tw__py_pack(structure, values) : NULL;
}

static PyObject *results(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *value, *tensors, *function;
    if (!PyArg_ParseTuple(arguments, "OO!O:results", &value, &PyList_Type, &tensors, &function))
        return NULL;
    return tw__py_results(value, tensors, function);
}

/* _tensors_of(values, described): the tensors of values of which the structures are described, checked and converted. */
static PyObject *tensors_of(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *values, *described;
    if (!PyArg_ParseTuple(arguments, "O!O!:_tensors_of", &PyList_Type, &values, &PyList_Type, &described))
        return NULL;
    tw__py_walk w;
    tw__py_walk_begin(&w, NULL, false);
    bool good = true;
    for (Py_ssize_t i = 0; good && i < PyList_Size(values) && i < PyList_Size(described); i++)
        good = tw__py_walk_cast(&w, PyList_GetItem(values, i), PyList_GetItem(described, i), 0);
    PyObject *list = good ? tw__py_wrap_list(w.tensors, (int)w.tensor_count) : NULL;
    tw__py_walk_end(&w);
    return list;
}

static PyMethodDef functions[] = {
    { "_tensors_of", tensors_of, METH_VARARGS,
      "_tensors_of(values, described): the tensors of values of described structures, in order." },
    { "_pack", pack, METH_VARARGS, "_pack(structure, values): the structure with values where it has specs." },
    { "_results", results, METH_VARARGS,
      "_results(value, tensors, function): the value with specs for its tensors, which are appended to the list." },
    { 0 },
};

bool tw__py_structures_start(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
