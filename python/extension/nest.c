/* tf.nest: structures of lists, tuples, named tuples, dicts, other mappings and sequences, and views of dicts; anything else is a
 * leaf. The members of a mapping stand in the order of its keys, those of everything else in their own order. thalweg/nest.py has
 * the public functions, which hand over to these. */
#include "extension.h"

enum { DEPTH_LIMIT = 200 };

typedef enum kind { BROKEN = -1, LEAF, SEQUENCE, NAMED, VIEW, MAPPING } kind;

static PyObject *mapping_class, *sequence_class, *view_classes; /* of collections.abc, once they were needed */

static bool load_classes(void)
{
    if (view_classes)
        return true;
    tw__py_auto PyObject *module = PyImport_ImportModule("collections.abc");
    mapping_class = module ? PyObject_GetAttrString(module, "Mapping") : NULL;
    sequence_class = mapping_class ? PyObject_GetAttrString(module, "Sequence") : NULL;
    tw__py_auto PyObject *keys = sequence_class ? PyObject_GetAttrString(module, "KeysView") : NULL;
    tw__py_auto PyObject *values = keys ? PyObject_GetAttrString(module, "ValuesView") : NULL,
                         *items = values ? PyObject_GetAttrString(module, "ItemsView") : NULL;
    view_classes = items ? PyTuple_Pack(3, keys, values, items) : NULL;
    return view_classes != NULL;
}

static kind kind_of(PyObject *value)
{
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value))
        return SEQUENCE;
    if (PyDict_CheckExact(value))
        return MAPPING;
    if (TW_IS_TENSOR(value) || value == Py_None || PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value) ||
        PyBytes_Check(value) || PyByteArray_Check(value))
        return LEAF;
    if (PyTuple_Check(value))
        return PyObject_HasAttrString(value, "_fields") ? NAMED : SEQUENCE;
    if (!load_classes())
        return BROKEN;
    int is = PyObject_IsInstance(value, mapping_class);
    if (is)
        return is < 0 ? BROKEN : MAPPING;
    if ((is = PyObject_IsInstance(value, sequence_class)))
        return is < 0 ? BROKEN : SEQUENCE;
    is = PyObject_IsInstance(value, view_classes);
    return is < 0 ? BROKEN : is ? VIEW : LEAF;
}

static bool too_deep(int depth)
{
    if (depth <= DEPTH_LIMIT)
        return false;
    tw__py_error(PyExc_ValueError, "tf.nest: a structure is nested deeper than %d levels, or holds itself", DEPTH_LIMIT);
    return true;
}

static PyObject *sorted_keys(PyObject *mapping)
{
    PyObject *keys = PySequence_List(mapping);
    if (keys && PyList_Sort(keys) < 0)
        Py_CLEAR(keys);
    return keys;
}

/* A new list. */
static PyObject *members_of(PyObject *value, kind is)
{
    if (is != MAPPING)
        return PySequence_List(value);
    PyObject *members = sorted_keys(value);
    for (Py_ssize_t i = 0; members && i < PyList_Size(members); i++) {
        PyObject *member = PyObject_GetItem(value, PyList_GetItem(members, i));
        if (!member || PyList_SetItem(members, i, member) < 0)
            Py_CLEAR(members);
    }
    return members;
}

/* ---- leaves ---- */

static bool add_leaf(PyObject *leaves, PyObject *leaf, bool expand)
{
    tw__py_auto PyObject *parts = expand ? tw__py_composite_parts(NULL, leaf) : Py_None;
    if (!expand)
        Py_INCREF(parts);
    return parts && (parts == Py_None ? PyList_Append(leaves, leaf)
                                      : PyList_SetSlice(leaves, PyList_Size(leaves), PyList_Size(leaves), parts)) == 0;
}

static bool flatten_into(PyObject *leaves, PyObject *value, bool expand, int depth)
{
    kind is = kind_of(value);
    if (is == LEAF)
        return add_leaf(leaves, value, expand);
    tw__py_auto PyObject *members = is == BROKEN || too_deep(depth) ? NULL : members_of(value, is);
    bool good = members != NULL;
    for (Py_ssize_t i = 0; good && i < PyList_Size(members); i++)
        good = flatten_into(leaves, PyList_GetItem(members, i), expand, depth + 1);
    return good;
}

static PyObject *flatten(PyObject *value, bool expand)
{
    PyObject *leaves = PyList_New(0);
    if (leaves && !flatten_into(leaves, value, expand, 0))
        Py_CLEAR(leaves);
    return leaves;
}

/* ---- the same structure with other leaves ---- */

static bool is_container(PyObject *value)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__module__");
    bool is = module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "thalweg._containers") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return is;
}

static PyObject *mapping_like(PyObject *value, PyObject *members)
{
    PyObject *keys = sorted_keys(value), *own = keys ? PySequence_List(value) : NULL, *pairs = own ? PyDict_New() : NULL,
             *made = NULL;
    for (Py_ssize_t i = 0; pairs && i < PyList_Size(own); i++) { /* first all keys, in the order of the original */
        if (PyDict_SetItem(pairs, PyList_GetItem(own, i), Py_None) < 0)
            Py_CLEAR(pairs);
    }
    for (Py_ssize_t i = 0; pairs && i < PyList_Size(keys) && i < PyList_Size(members); i++) {
        if (PyDict_SetItem(pairs, PyList_GetItem(keys, i), PyList_GetItem(members, i)) < 0)
            Py_CLEAR(pairs);
    }
    Py_XDECREF(keys);
    Py_XDECREF(own);
    if (!pairs || PyDict_CheckExact(value) || is_container(value))
        return pairs;
    tw__py_auto PyObject *factory = PyObject_GetAttrString(value, "default_factory");
    PyErr_Clear();
    made = factory ? PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(value), factory, pairs, NULL)
                   : PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(value), pairs, NULL);
    Py_DECREF(pairs);
    return made;
}

/* Around a list of members, which it takes. */
static PyObject *structure_like(PyObject *value, kind is, PyObject *members)
{
    if (!members || PyList_CheckExact(value) || is == VIEW || (is == SEQUENCE && (PyRange_Check(value) || is_container(value))))
        return members;
    PyObject *made = NULL;
    if (is == MAPPING) {
        made = mapping_like(value, members);
    } else if (PyTuple_CheckExact(value)) {
        made = PyList_AsTuple(members);
    } else if (is == NAMED) {
        tw__py_auto PyObject *arguments = PyList_AsTuple(members);
        made = arguments ? PyObject_CallObject((PyObject *)Py_TYPE(value), arguments) : NULL;
    } else {
        made = PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(value), members, NULL);
    }
    Py_DECREF(members);
    return made;
}

static PyObject *pack(PyObject *value, PyObject *leaves, int depth)
{
    kind is = kind_of(value);
    if (is == LEAF) {
        PyObject *leaf = PyIter_Next(leaves);
        return leaf || PyErr_Occurred()
                   ? leaf
                   : tw__py_error(PyExc_ValueError, "tf.nest: there are fewer leaves than the structure has");
    }
    PyObject *members = is == BROKEN || too_deep(depth) ? NULL : members_of(value, is);
    for (Py_ssize_t i = 0; members && i < PyList_Size(members); i++) {
        PyObject *member = pack(PyList_GetItem(members, i), leaves, depth + 1);
        if (!member || PyList_SetItem(members, i, member) < 0)
            Py_CLEAR(members);
    }
    return structure_like(value, is, members);
}

static PyObject *pack_list(PyObject *value, PyObject *list)
{
    tw__py_auto PyObject *leaves = list ? PyObject_GetIter(list) : NULL;
    return leaves ? pack(value, leaves, 0) : NULL;
}

/* Leaves of a structure, given as all their tensors, put together. Takes the list, gives another. */
static PyObject *join_parts(PyObject *structure, PyObject *given)
{
    PyObject *leaves = given ? flatten(structure, false) : NULL;
    Py_ssize_t used = 0;
    for (Py_ssize_t i = 0; leaves && i < PyList_Size(leaves); i++) {
        PyObject *leaf = PyList_GetItem(leaves, i), *parts = tw__py_composite_parts(NULL, leaf), *joined = NULL;
        Py_ssize_t count = !parts ? 0 : parts == Py_None ? 1 : PyList_Size(parts);
        PyObject *own = parts ? PyList_GetSlice(given, used, used + count) : NULL;
        used += count;
        if (own && PyList_Size(own) < count) {
            tw__py_error(PyExc_ValueError, "tf.nest: there are fewer leaves than the structure has");
        } else if (own && parts == Py_None) {
            joined = PyList_GetItem(own, 0);
            Py_XINCREF(joined);
        } else if (own) {
            tw__py_auto PyObject *spec = PyObject_GetAttrString(leaf, "_type_spec");
            joined = spec ? PyObject_CallMethod(spec, "_from_components", "O", own) : NULL;
        }
        Py_XDECREF(own);
        Py_XDECREF(parts);
        if (!joined || PyList_SetItem(leaves, i, joined) < 0)
            Py_CLEAR(leaves);
    }
    Py_XDECREF(given);
    return leaves;
}

/* ---- equal structures ---- */

static PyObject *described(PyObject *value)
{
    tw__py_auto PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    return name ? PyUnicode_FromFormat("type=%U str=%S", name, value) : NULL;
}

static PyObject *plain_type(PyObject *value)
{
    PyObject *mro = is_container(value) ? PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__mro__") : NULL;
    PyObject *type = mro ? PyTuple_GetItem(mro, 1) : (PyObject *)Py_TYPE(value);
    Py_XDECREF(mro); /* the type holds it */
    PyErr_Clear();
    return type;
}

static bool same_attribute(PyObject *first, PyObject *second, const char *name)
{
    PyObject *one = PyObject_GetAttrString(first, name), *other = one ? PyObject_GetAttrString(second, name) : NULL;
    bool same = other && PyObject_RichCompareBool(one, other, Py_EQ) == 1;
    Py_XDECREF(one);
    Py_XDECREF(other);
    PyErr_Clear();
    return same;
}

static bool same_type(PyObject *first, kind is, PyObject *second, kind other)
{
    if (is == MAPPING && other == MAPPING)
        return true;
    if (is == NAMED && other == NAMED)
        return same_attribute((PyObject *)Py_TYPE(first), (PyObject *)Py_TYPE(second), "__name__") &&
               same_attribute(first, second, "_fields");
    return plain_type(first) == plain_type(second);
}

/* The format with two descriptions in it. */
static PyObject *sentence(const char *format, PyObject *first, PyObject *second)
{
    tw__py_auto PyObject *one = described(first), *other = one ? described(second) : NULL;
    return other ? PyUnicode_FromFormat(format, one, other) : NULL;
}

static PyObject *types_differ(PyObject *first, PyObject *second)
{
    tw__py_auto PyObject *one = described(first), *other = described(second);
    tw__py_auto PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(first), "__name__"),
                         *second_name = PyObject_GetAttrString((PyObject *)Py_TYPE(second), "__name__");
    return one && other && name && second_name
               ? PyUnicode_FromFormat(
                     "The two namedtuples don't have the same sequence type. First structure %U has type %U, while second "
                     "structure %U has type %U",
                     one, name, other, second_name)
               : NULL;
}

/* What the sets of keys say; None if they are the same. */
static PyObject *keys_differ(PyObject *first, PyObject *second)
{
    tw__py_auto PyObject *one = PySet_New(first);
    tw__py_auto PyObject *other = one ? PySet_New(second) : NULL;
    PyObject *text = NULL;
    int same = other ? PyObject_RichCompareBool(one, other, Py_EQ) : -1;
    tw__py_auto PyObject *keys = same == 0 ? PySequence_List(first) : NULL, *others = keys ? PySequence_List(second) : NULL;
    if (others)
        text = sentence(
            "The two dictionaries don't have the same set of keys. First structure has keys %U, while second structure has keys %U",
            keys, others);
    else if (same == 1)
        text = (Py_INCREF(Py_None), Py_None);
    return text;
}

/* None, or a sentence about the first difference, whose class of error is *error; NULL: an exception is set. */
static PyObject *difference(PyObject *first, PyObject *second, bool check_types, PyObject **error, int depth)
{
    kind is = kind_of(first), other = kind_of(second);
    if (is == BROKEN || other == BROKEN || too_deep(depth))
        return NULL;
    *error = PyExc_ValueError;
    if ((is == LEAF) != (other == LEAF))
        return sentence("Substructure \"%U\" is a sequence, while substructure \"%U\" is not", is == LEAF ? second : first,
                        is == LEAF ? first : second);
    if (is == LEAF)
        Py_RETURN_NONE;
    if (check_types && !same_type(first, is, second, other)) {
        *error = PyExc_TypeError;
        return types_differ(first, second);
    }
    PyObject *text = check_types && is == MAPPING ? keys_differ(first, second) : (Py_INCREF(Py_None), Py_None);
    if (text != Py_None)
        return text;
    tw__py_auto PyObject *ones = members_of(first, is), *others = ones ? members_of(second, other) : NULL;
    if (!others)
        Py_CLEAR(text);
    else if (PyList_Size(ones) != PyList_Size(others))
        text = sentence("The two structures don't have the same number of elements. First structure: %U. Second structure: %U",
                        first, second);
    for (Py_ssize_t i = 0; text == Py_None && i < PyList_Size(ones); i++)
        text = difference(PyList_GetItem(ones, i), PyList_GetItem(others, i), check_types, error, depth + 1);
    return text;
}

/* The structure with `dot`, whose text is a dot, for every leaf; as text. */
static PyObject *dotted(PyObject *value, PyObject *dot)
{
    tw__py_auto PyObject *leaves = flatten(value, false);
    for (Py_ssize_t i = 0; leaves && i < PyList_Size(leaves); i++) {
        Py_INCREF(dot);
        PyList_SetItem(leaves, i, dot);
    }
    tw__py_auto PyObject *made = leaves ? pack_list(value, leaves) : NULL;
    return made ? PyObject_Str(made) : NULL;
}

/* _nest_same(first, second, check_types, dot) */
static PyObject *assert_same(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *first, *second, *dot, *error = NULL;
    int check_types;
    if (!PyArg_ParseTuple(arguments, "OOpO:_nest_same", &first, &second, &check_types, &dot))
        return NULL;
    PyObject *found = difference(first, second, check_types, &error, 0);
    if (!found || found == Py_None)
        return found;
    tw__py_auto PyObject *one = described(first), *other = described(second), *dots = dotted(first, dot),
                         *other_dots = dots ? dotted(second, dot) : NULL;
    if (one && other && other_dots)
        PyErr_Format(
            error,
            "The two structures don't have the same nested structure.\n\nFirst structure: %U\n\nSecond structure: %U\n\nMore "
            "specifically: %U\nEntire first structure:\n%U\nEntire second structure:\n%U",
            one, other, found, dots, other_dots);
    Py_XDECREF(found);
    return NULL;
}

/* ---- functions ---- */

static PyObject *is_nested(PyObject *self, PyObject *value)
{
    (void)self;
    kind is = kind_of(value);
    return is == BROKEN ? NULL : PyBool_FromLong(is != LEAF);
}

/* _nest_flatten(structure, expand_composites) */
static PyObject *flatten_python(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *structure;
    int expand;
    return PyArg_ParseTuple(arguments, "Op:_nest_flatten", &structure, &expand) ? flatten(structure, expand) : NULL;
}

/* _nest_pack(structure, iterable): as many of its values as there are leaves. */
static PyObject *pack_python(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *structure, *leaves;
    return PyArg_ParseTuple(arguments, "OO:_nest_pack", &structure, &leaves) ? pack_list(structure, leaves) : NULL;
}

/* _nest_pack_all(structure, flat, expand_composites): tf.nest.pack_sequence_as */
static PyObject *pack_all(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *structure, *flat;
    int expand;
    if (!PyArg_ParseTuple(arguments, "OOp:_nest_pack_all", &structure, &flat, &expand))
        return NULL;
    kind given = kind_of(flat), is = given == BROKEN ? BROKEN : kind_of(structure);
    if (is == BROKEN)
        return NULL;
    if (given == LEAF)
        return tw__py_error(PyExc_TypeError,
                            "Attempted to pack value:\n  %S\ninto a structure, but found incompatible type `%S` instead.", flat,
                            Py_TYPE(flat));
    tw__py_auto PyObject *leaves = flatten(structure, expand),
                         *values = leaves ? is == LEAF || expand ? members_of(flat, given) : PySequence_List(flat) : NULL;
    PyObject *made = NULL;
    if (values && PyList_Size(leaves) == PyList_Size(values)) {
        if (expand)
            values = join_parts(structure, values);
        made = pack_list(structure, values);
    } else if (values && is == LEAF && !expand) {
        tw__py_error(
            PyExc_ValueError,
            "The target structure is of type `%S`\n  %S\nHowever the input is a sequence (%S) of length %zd.\n  %S\nnest cannot "
            "guarantee that it is safe to map one to the other.",
            Py_TYPE(structure), structure, Py_TYPE(flat), PyList_Size(values), flat);
    } else if (values) {
        tw__py_error(PyExc_ValueError,
                     "Could not pack sequence. Structure had %zd atoms, but flat_sequence had %zd items.  Structure: %S, "
                     "flat_sequence: %S.",
                     PyList_Size(leaves), PyList_Size(values), structure, flat);
    }
    return made;
}

/* _nest_map(function, structures, expand_composites): structures, a tuple, that are known to be nested alike. */
static PyObject *map(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *function, *structures;
    int expand;
    if (!PyArg_ParseTuple(arguments, "OO!p:_nest_map", &function, &PyTuple_Type, &structures, &expand))
        return NULL;
    Py_ssize_t count = PyTuple_Size(structures);
    tw__py_auto PyObject *all = PyList_New(count);
    PyObject *first = NULL;
    for (Py_ssize_t i = 0; all && i < count; i++) {
        PyObject *leaves = flatten(PyTuple_GetItem(structures, i), expand);
        if (!leaves || PyList_SetItem(all, i, leaves) < 0)
            Py_CLEAR(all);
    }
    tw__py_auto PyObject *given = all ? PyList_New(0) : NULL;
    first = all ? PyList_GetItem(all, 0) : NULL;
    for (Py_ssize_t i = 0; given && i < PyList_Size(first); i++) {
        tw__py_auto PyObject *group = PyTuple_New(count), *result = NULL;
        bool good = group != NULL;
        for (Py_ssize_t k = 0; good && k < count; k++) {
            PyObject *leaf = i < PyList_Size(PyList_GetItem(all, k)) ? PyList_GetItem(PyList_GetItem(all, k), i) : NULL;
            good = leaf || tw__py_error(PyExc_ValueError, "tf.nest: the structures have different numbers of leaves");
            Py_XINCREF(leaf);
            if (leaf)
                PyTuple_SetItem(group, k, leaf);
        }
        result = good ? PyObject_CallObject(function, group) : NULL;
        if (!result || PyList_Append(given, result) < 0)
            Py_CLEAR(given);
    }
    if (given && expand)
        given = join_parts(PyTuple_GetItem(structures, 0), given);
    return given ? pack_list(PyTuple_GetItem(structures, 0), given) : NULL;
}

PyMethodDef tw__py_nest_functions[] = {
    { "_nest_is_nested", is_nested, METH_O, NULL },
    { "_nest_flatten", flatten_python, METH_VARARGS, NULL },
    { "_nest_pack", pack_python, METH_VARARGS, NULL },
    { "_nest_pack_all", pack_all, METH_VARARGS, NULL },
    { "_nest_map", map, METH_VARARGS, NULL },
    { "_nest_same", assert_same, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};
