/* Elements of datasets and their specs (src/data/element.h) from Python and to Python. Tuples and mappings are structures; named
 * tuples and mappings of other types keep a form, which makes them again. Functions of elements are traced by
 * thalweg._data.function. */
#include "extension.h"

#include "embed.h"

/* ---- forms ---- */

typedef struct form {
    tw_object object;
    PyObject *type;  /* NULL: dict */
    PyObject *keys;  /* of a mapping, as sorted: a list; NULL: a named tuple */
    PyObject *order; /* its keys as they stood */
    PyObject *factory;
} form;

static void form_destroy(void *self)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    form *own = self;
    Py_XDECREF(own->type);
    Py_XDECREF(own->keys);
    Py_XDECREF(own->order);
    Py_XDECREF(own->factory);
}

static const tw_class form_class = { .name = "Form", .size = sizeof(form), .destroy = form_destroy };

static PyObject *mapping_type(void)
{
    static PyObject *type;
    tw__py_auto PyObject *module = type ? NULL : PyImport_ImportModule("collections.abc");
    if (module)
        type = PyObject_GetAttrString(module, "Mapping");
    return type;
}

/* Whether it is one of the wrappers that attributes of models become: they stand for what they wrap. */
static bool is_wrapper(PyObject *value)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__module__");
    bool is = module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "thalweg._containers") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return is;
}

/* The dict or object that members in the order of the form's keys make; takes the list. */
static PyObject *make_formed(const form *own, PyObject *members)
{
    if (!own->keys) {
        tw__py_auto PyObject *tuple = members ? PyList_AsTuple(members) : NULL;
        PyObject *made = tuple ? PyObject_CallObject(own->type, tuple) : NULL;
        Py_XDECREF(members);
        return made;
    }
    PyObject *sorted = PyDict_New(), *pairs = sorted && members ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; pairs && i < PyList_Size(own->keys); i++) {
        if (PyDict_SetItem(sorted, PyList_GetItem(own->keys, i), PyList_GetItem(members, i)) < 0)
            Py_CLEAR(pairs);
    }
    for (Py_ssize_t i = 0; pairs && i < PyList_Size(own->order); i++) {
        PyObject *key = PyList_GetItem(own->order, i), *member = PyDict_GetItem(sorted, key);
        if (!member || PyDict_SetItem(pairs, key, member) < 0)
            Py_CLEAR(pairs);
    }
    Py_XDECREF(sorted);
    Py_XDECREF(members);
    if (!pairs || !own->type)
        return pairs;
    PyObject *made = own->factory ? PyObject_CallFunctionObjArgs(own->type, own->factory, pairs, NULL)
                                  : PyObject_CallFunctionObjArgs(own->type, pairs, NULL);
    Py_DECREF(pairs);
    return made;
}

PyObject *tw__py_formed(tw_value *value, bool arrays)
{
    int64_t step = value->kind == TW_VALUE_DICT ? 2 : 1;
    PyObject *members = PyList_New((Py_ssize_t)(value->list.count / step));
    for (int64_t i = step - 1; members && i < value->list.count; i += step) {
        PyObject *item = arrays ? tw__py_arrays(&value->list.items[i]) : tw__py_value(&value->list.items[i]);
        value->list.items[i].kind = TW_VALUE_NONE;
        if (!item || PyList_SetItem(members, (Py_ssize_t)(i / step), item) < 0)
            Py_CLEAR(members);
    }
    return members ? make_formed(value->list.form, members) : NULL;
}

static char *form_text(const tw_value *value)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_value copy = tw__value_copy(value);
    tw__py_auto PyObject *made = tw__py_value(&copy), *text = made ? PyObject_Repr(made) : NULL;
    const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    char *out = bytes ? tw__strdup(bytes) : NULL;
    if (!bytes)
        tw__py_failed();
    return out;
}

/* The form of an OrderedDict whose keys, texts, stand as they do in the dict. */
static void *ordered_form(const tw_value *dict)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_auto form *made = tw__object_new(&form_class);
    tw__py_auto PyObject *module = made ? PyImport_ImportModule("collections") : NULL;
    PyObject *order = module ? PyList_New(0) : NULL;
    for (int64_t i = 0; order && i < dict->list.count; i += 2) {
        tw_string key = dict->list.items[i].s;
        tw__py_auto PyObject *text = PyUnicode_DecodeUTF8(key.data, (Py_ssize_t)key.size, "surrogateescape");
        if (!text || PyList_Append(order, text) < 0)
            Py_CLEAR(order);
    }
    if (made) {
        made->order = order;
        made->keys = order ? PySequence_List(order) : NULL;
        made->type = module ? PyObject_GetAttrString(module, "OrderedDict") : NULL;
    }
    bool good = made && made->keys && made->type && PyList_Sort(made->keys) == 0;
    if (!good)
        tw__py_failed();
    return good ? tw_retain(made) : NULL;
}

/* ---- reading ---- */

static bool read_members(PyObject *members, PyObject *keys, tw__py_reading leaves, tw_value *out);

bool tw__py_form_of_mapping(PyObject *mapping, PyObject *keys, void **out)
{
    bool plain = PyDict_CheckExact(mapping) || is_wrapper(mapping), needed = !plain;
    PyObject *order = PySequence_List(mapping);
    for (Py_ssize_t i = 0; order && !needed && i < PyList_Size(keys); i++)
        needed = PyList_GetItem(order, i) != PyList_GetItem(keys, i) || !PyUnicode_CheckExact(PyList_GetItem(keys, i));
    if (!order || !needed) {
        Py_XDECREF(order);
        return !PyErr_Occurred();
    }
    form *made = tw__object_new(&form_class);
    *out = made;
    if (!made) {
        Py_DECREF(order);
        return tw__py_raise() != NULL;
    }
    made->order = order;
    made->keys = Py_NewRef(keys);
    made->type = plain ? NULL : Py_NewRef((PyObject *)Py_TYPE(mapping));
    made->factory = plain ? NULL : PyObject_GetAttrString(mapping, "default_factory");
    PyErr_Clear();
    return true;
}

static bool read_mapping(PyObject *mapping, tw__py_reading leaves, tw_value *out)
{
    tw__py_auto PyObject *keys = PySequence_List(mapping);
    if (keys && PyList_Sort(keys) < 0) {
        PyErr_Clear();
        tw__py_error(PyExc_TypeError, "the keys of a dict in an element can't be sorted: %R", keys);
        Py_CLEAR(keys);
    }
    tw__py_auto PyObject *members = keys ? PyList_New(PyList_Size(keys)) : NULL;
    for (Py_ssize_t i = 0; members && i < PyList_Size(keys); i++) {
        PyObject *member = PyObject_GetItem(mapping, PyList_GetItem(keys, i));
        if (!member || PyList_SetItem(members, i, member) < 0)
            Py_CLEAR(members);
    }
    out->kind = TW_VALUE_DICT;
    return members && tw__py_form_of_mapping(mapping, keys, &out->list.form) && read_members(members, keys, leaves, out);
}

bool tw__py_form_of_tuple(PyObject *tuple, void **out)
{
    if (PyTuple_CheckExact(tuple) || !PyObject_HasAttrString(tuple, "_fields"))
        return true;
    form *made = tw__object_new(&form_class);
    *out = made;
    if (!made)
        return tw__py_raise() != NULL;
    made->type = Py_NewRef((PyObject *)Py_TYPE(tuple));
    return true;
}

static bool read_tuple(PyObject *tuple, tw__py_reading leaves, tw_value *out)
{
    out->kind = TW_VALUE_TUPLE;
    if (!tw__py_form_of_tuple(tuple, &out->list.form))
        return false;
    tw__py_auto PyObject *members = PySequence_List(tuple);
    return members && read_members(members, NULL, leaves, out);
}

static bool read_key(PyObject *key, tw_value *out)
{
    if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key))
        return tw__py_read_value(key, out);
    PyObject *text = PyObject_Repr(key); /* the form has the key itself */
    bool good = text && tw__py_read_value(text, out);
    Py_XDECREF(text);
    return good;
}

static bool read_members(PyObject *members, PyObject *keys, tw__py_reading leaves, tw_value *out)
{
    if (Py_EnterRecursiveCall(" in an element of a dataset"))
        return false;
    Py_ssize_t count = PyList_Size(members), step = keys ? 2 : 1;
    out->list.items = tw__alloc_array((size_t)(count * step) + 1, sizeof *out->list.items);
    bool good = out->list.items || tw__py_raise() != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        tw_value *items = out->list.items + i * step;
        out->list.count = (i + 1) * step;
        good = (!keys || read_key(PyList_GetItem(keys, i), &items[0])) &&
               tw__py_read_element(PyList_GetItem(members, i), leaves, &items[step - 1]);
    }
    Py_LeaveRecursiveCall();
    return good;
}

/* The dtype that all arrays of a list have, if it holds nothing but arrays, or lists of such; else TW_DTYPE_NONE. */
static tw_dtype dtype_of_arrays(PyObject *list, int depth)
{
    tw_dtype dtype = TW_DTYPE_NONE;
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        bool array = item && PyObject_CheckBuffer(item) && !PyBytes_Check(item) &&
                     PyObject_HasAttrString(item, "__array_interface__") &&
                     PyObject_HasAttrString(item, "__setitem__"); /* NumPy's numbers are no arrays */
        tw_dtype is = array                                               ? tw__py_array_dtype(item)
                      : item && PyList_Check(item) && depth < TW_MAX_RANK ? dtype_of_arrays(item, depth + 1)
                                                                          : TW_DTYPE_NONE;
        if (is == TW_DTYPE_NONE || (i && is != dtype))
            return TW_DTYPE_NONE;
        dtype = is;
    }
    return dtype;
}

/* A leaf: a spec, or a value of several tensors, or what becomes a tensor. */
static bool read_leaf(PyObject *value, tw__py_reading leaves, tw_value *out)
{
    bool specs = leaves == TW_PY_SPECS;
    tw_object *object = tw__py_is_object(value) ? tw__py_self(value) : NULL;
    if (PyErr_Occurred())
        return false;
    bool known =
        object && (specs ? tw__is(object, &tw__class_type_spec)
                         : tw__is_composite(object) || tw__is(object, &tw__class_dataset) || tw__is(object, &tw__class_optional));
    if (known) {
        *out = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(object) };
        return true;
    }
    if (specs) {
        tw__py_error(PyExc_TypeError, "a structure of `tf.TypeSpec`s is expected, found %R of type %R", value, Py_TYPE(value));
        return false;
    }
    tw_dtype dtype = PyList_Check(value) ? dtype_of_arrays(value, 1) : TW_DTYPE_NONE;
    tw_tensor *tensor = tw__py_to_tensor(value, dtype, TW_HINT);
    if (tensor)
        *out = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor };
    return tensor != NULL;
}

/* ---- arrays for training ---- */

/* Whether it is a list of numbers or texts, or of such lists: one array. */
static bool is_numbers(PyObject *value)
{
    Py_ssize_t count = PyList_Check(value) || PyTuple_Check(value) ? PySequence_Size(value) : 0;
    bool numbers = count > 0;
    for (Py_ssize_t i = 0; numbers && i < count; i++) {
        tw__py_auto PyObject *item = PySequence_GetItem(value, i);
        numbers =
            item &&
            (PyLong_Check(item) || PyFloat_Check(item) || PyUnicode_Check(item) || PyBytes_Check(item) ||
             (!Py_EnterRecursiveCall(" in a list of numbers") && (numbers = is_numbers(item), Py_LeaveRecursiveCall(), numbers)));
    }
    PyErr_Clear();
    return numbers;
}

/* What NumPy makes of it, as a tensor; floats are float32, as Keras takes them. */
static bool read_array(PyObject *value, tw_value *out)
{
    PyObject *array = NULL;
    if (PyObject_CheckBuffer(value) && !PyBytes_Check(value)) {
        array = Py_NewRef(value);
    } else {
        tw__py_auto PyObject *own =
            PyObject_HasAttrString(value, "to_numpy") ? PyObject_CallMethod(value, "to_numpy", NULL) : Py_NewRef(value);
        PyObject *numpy = own ? tw__py_numpy() : NULL;
        array = numpy ? PyObject_CallMethod(numpy, "asarray", "(O)", own) : NULL;
    }
    tw_tensor *tensor = array ? tw__py_to_tensor(array, TW_DTYPE_NONE, TW_HINT) : NULL;
    Py_XDECREF(array);
    if (tensor && (tensor->dtype == TW_FLOAT64 || tensor->dtype == TW_FLOAT16)) {
        tw_tensor *wide = tensor;
        tensor = tw__cast(wide, TW_FLOAT32);
        tw_release(wide);
        if (!tensor)
            tw__py_raise();
    }
    if (tensor)
        *out = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor };
    return tensor != NULL;
}

static bool read_list(PyObject *list, tw_value *out)
{
    out->kind = TW_VALUE_LIST;
    tw__py_auto PyObject *members = PySequence_List(list);
    return members && read_members(members, NULL, TW_PY_ARRAYS, out);
}

static bool read_arrays(PyObject *value, tw_value *out)
{
    if (tw__py_is_object(value) || tw__py_is_tensor_like(value))
        return read_leaf(value, TW_PY_ARRAYS, out);
    if (PyList_Check(value) || PyTuple_Check(value))
        return is_numbers(value)      ? read_array(value, out)
               : PyTuple_Check(value) ? read_tuple(value, TW_PY_ARRAYS, out)
                                      : read_list(value, out);
    int mapping = PyDict_Check(value)                              ? 1
                  : PyObject_CheckBuffer(value) || !mapping_type() ? 0
                                                                   : PyObject_IsInstance(value, mapping_type());
    if (mapping < 0)
        return false;
    return mapping ? read_mapping(value, TW_PY_ARRAYS, out) : read_array(value, out);
}

bool tw__py_read_element(PyObject *value, tw__py_reading leaves, tw_value *out)
{
    *out = (tw_value){ .kind = TW_VALUE_NONE };
    if (value == Py_None)
        return true;
    if (TW_IS_TENSOR(value) && leaves != TW_PY_SPECS) {
        *out = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(TW_TENSOR(value)) };
        return true;
    }
    if (leaves == TW_PY_ARRAYS)
        return read_arrays(value, out);
    if (PyTuple_Check(value))
        return read_tuple(value, leaves, out);
    if (tw__py_is_object(value) || PyList_Check(value) || PyUnicode_Check(value) || PyLong_Check(value) || PyFloat_Check(value))
        return read_leaf(value, leaves, out);
    int mapping = PyDict_Check(value) ? 1 : mapping_type() ? PyObject_IsInstance(value, mapping_type()) : -1;
    if (mapping < 0)
        return false;
    return mapping ? read_mapping(value, leaves, out) : read_leaf(value, leaves, out);
}

/* ---- functions ---- */

static tw_status trace_function(tw__element_function *self, const char *name, const tw_value *const *arguments, int count,
                                tw__traced *traced)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *function = self->object.peer ? tw__py_kept(self->object.peer, "function") : NULL;
    tw__py_auto PyObject *specs = function ? PyTuple_New(count) : NULL;
    for (int i = 0; specs && i < count; i++) {
        tw_value copy = tw__value_copy(arguments[i]);
        PyObject *spec = tw__py_value(&copy);
        if (!spec || PyTuple_SetItem(specs, i, spec) < 0)
            Py_CLEAR(specs);
    }
    tw__py_auto PyObject *module = specs ? PyImport_ImportModule("thalweg._data.function") : NULL;
    tw__py_auto PyObject *pair = module ? PyObject_CallMethod(module, "trace", "OsO", function, name, specs) : NULL;
    PyObject *graph = pair ? PyTuple_GetItem(pair, 0) : NULL;
    bool good = graph && tw__py_read_element(PyTuple_GetItem(pair, 1), TW_PY_SPECS, &traced->result);
    if (good)
        traced->function = tw_retain(tw__py_graph_function_of(graph));
    return good && traced->function ? TW_OK : tw__py_failed();
}

/* The peer carries the function in its __dict__, so that the collector sees cycles through it. */
void *tw__py_element_function(PyObject *function)
{
    tw__element_function *made = tw__object_new(&tw__element_function_class);
    if (!made)
        return tw__py_raise();
    made->trace = trace_function;
    PyObject *peer = tw__py_wrap(made);
    if (peer && PyObject_SetAttrString(peer, "function", function) < 0)
        Py_CLEAR(peer);
    return peer ? made : NULL;
}

void tw__py_elements_start(void)
{
    tw__language.structure_text = form_text;
    tw__language.ordered_form = ordered_form;
}
