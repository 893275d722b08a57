/* Attributes of objects. Reading falls back to the arguments an object was made with (layer.units) and to its tracked children
 * (checkpoint.model). Writing tracks: an object with children notes every object assigned to it, and every list, tuple and dict,
 * whose members are children in turn. */
#include <math.h>

#include "extension.h"

static PyObject *containers; /* the module with the Python side of lists and dicts */
static PyTypeObject *no_dependency;

static PyObject *containers_module(void)
{
    if (!containers)
        containers = PyImport_ImportModule("thalweg._containers");
    return containers;
}

/* ---- reading ---- */

static PyObject *wrap_or_none(void *object)
{
    if (!object)
        Py_RETURN_NONE;
    return tw__py_wrap(tw_retain(object));
}

/* "relu" as the function, "zeros" as an initializer, where there is such; else the name. */
static PyObject *named_value(const char *group, const char *name)
{
    char path[80];
    bool activation = strcmp(group, "activation") == 0;
    snprintf(path, sizeof path, "thalweg.keras.%ss", group);
    if (!name && activation)
        name = "linear";
    if (!name)
        Py_RETURN_NONE;
    PyObject *module = PyImport_ImportModule(path);
    PyObject *value = !module      ? NULL
                      : activation ? PyObject_GetAttrString(module, name)
                                   : PyObject_CallMethod(module, "get", "s", name);
    Py_XDECREF(module);
    PyErr_Clear();
    return value ? value : PyUnicode_FromString(name);
}

static PyObject *config_value(const tw_field *field, const char *config)
{
    const void *place = config + field->offset;
    switch (field->kind) {
    case TW_KIND_INT:
        if (*(const int64_t *)place == TW_NO_INT)
            Py_RETURN_NONE;
        return PyLong_FromLongLong(*(const int64_t *)place);
    case TW_KIND_FLOAT:
    case TW_KIND_NUMBER:
        if (field->kind == TW_KIND_NUMBER && ((void *const *)place)[1])
            return wrap_or_none(((void *const *)place)[1]);
        if (isnan(*(const double *)place))
            Py_RETURN_NONE;
        return PyFloat_FromDouble(*(const double *)place);
    case TW_KIND_BOOL:
        return PyBool_FromLong(*(const bool *)place);
    case TW_KIND_STR:
        if (!*(const char *const *)place)
            Py_RETURN_NONE;
        return PyUnicode_FromString(*(const char *const *)place);
    case TW_KIND_NAMED: {
        tw_named named = *(const tw_named *)place;
        if (!tw__named_is_object(named))
            return named_value(field->word, named);
        PyObject *function = tw__py_callable_function((void *)named);
        Py_XINCREF(function);
        tw__py_auto PyObject *object = function ? NULL : wrap_or_none((void *)named);
        if (object && strcmp(field->word, "initializer") == 0 && PyObject_HasAttrString(object, "initializer_function"))
            return PyObject_GetAttrString(object, "initializer_function");
        return function ? function : Py_XNewRef(object);
    }
    case TW_KIND_DTYPE:
        return tw__py_wrap_dtype(*(const tw_dtype *)place);
    case TW_KIND_SHAPE:
        if (((const tw_shape *)place)->rank < 0)
            Py_RETURN_NONE;
        return tw__py_wrap_shape(place);
    case TW_KIND_INTS: {
        const tw_ints *ints = place;
        if (!ints->given)
            Py_RETURN_NONE;
        PyObject *list = PyList_New((Py_ssize_t)ints->count);
        for (int64_t i = 0; list && i < ints->count; i++)
            PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromLongLong(ints->items[i]));
        return list;
    }
    case TW_KIND_TENSOR:
    case TW_KIND_HANDLE:
        return wrap_or_none(*(void *const *)place);
    case TW_KIND_HANDLES: {
        const tw_objects *objects = place;
        PyObject *list = PyList_New((Py_ssize_t)objects->count);
        for (int64_t i = 0; list && i < objects->count; i++)
            PyList_SetItem(list, (Py_ssize_t)i, wrap_or_none(objects->items[i]));
        return list;
    }
    default:
        return NULL;
    }
}

/* An attribute of a layer that is not public: thalweg._inner_attributes knows those that packages use. NULL: there is none. */
static PyObject *inner_attribute(PyObject *self, PyObject *name)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._inner_attributes");
    tw__py_auto PyObject *found = module ? PyObject_CallMethod(module, "find", "OO", self, name) : NULL;
    PyObject *value = found && PyTuple_Check(found) ? Py_NewRef(PyTuple_GetItem(found, 0)) : NULL;
    PyErr_Clear();
    return value;
}

PyObject *tw__py_get_attribute(PyObject *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    tw_object *object = tw__py_handle(self);
    PyObject *kind, *error, *traceback;
    PyErr_Fetch(&kind, &error, &traceback);
    const char *text = object ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char *config = text ? tw_object_config(object) : NULL;
    const tw_signature *signature = config ? object->class->signature : NULL;
    const tw_field *field;
    tw_trackable *cell = NULL;
    if (signature && tw__object_setting(object, text, &field) == TW_FIXED_SETTING && tw__is(object, &tw__trackable_class))
        cell = tw__tracked((tw_trackable *)object, "cell"); /* whose setting it is, and who may have another by now */
    if (cell) {
        PyObject *wrapper = tw__py_wrap(tw_retain(cell));
        value = wrapper ? PyObject_GetAttr(wrapper, name) : NULL;
        Py_XDECREF(wrapper);
        PyErr_Clear();
    }
    tw_trackable *child = text && tw__is(object, &tw__trackable_class) ? tw__tracked((tw_trackable *)object, text) : NULL;
    if (!value && child && tw__is(child, &tw__class_layer)) /* not the argument of that name, of which it may have been made */
        value = tw__py_wrap(tw_retain(child));
    for (int i = 0; signature && !value && i < signature->field_count; i++) {
        if (strcmp(signature->fields[i].name, text) == 0)
            value = config_value(&signature->fields[i], config);
    }
    if (!value && child)
        value = tw__py_wrap(tw_retain(child));
    else if (!value && text && strcmp(text, "optimizer") == 0 && tw__is(object, &tw__class_model)) /* it is not compiled */
        value = Py_NewRef(Py_None);
    if (!value && text && text[0] == '_' && text[1] != '_' && tw__is(object, &tw__class_layer))
        value = inner_attribute(self, name);
    if (value) {
        Py_XDECREF(kind);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    } else {
        PyErr_Clear();
        PyErr_Restore(kind, error, traceback);
    }
    return value;
}

/* ---- writing ---- */

static bool is_collection(PyObject *value)
{
    return PyList_Check(value) || PyDict_Check(value) || PyTuple_Check(value);
}

/* Lists and dicts as the wrappers that keep their children in step; anything else unchanged. A new reference. */
PyObject *tw__py_wrap_collection(PyObject *value)
{
    if (!is_collection(value)) {
        Py_INCREF(value);
        return value;
    }
    PyObject *module = containers_module();
    return module ? PyObject_CallMethod(module, "wrap", "(O)", value) : NULL;
}

void *tw__py_trackable(PyObject *value)
{
    if (tw__py_is_object(value)) {
        void *object = tw__py_self(value);
        if (object && !tw__is(object, &tw__trackable_class)) {
            tw__py_error(PyExc_ValueError,
                         "`Checkpoint` was expecting a trackable object (an object derived from `Trackable`), got %R.", value);
            return NULL;
        }
        return tw_retain(object);
    }
    PyObject *wrapper = is_collection(value) ? tw__py_wrap_collection(value) : NULL;
    PyObject *container = wrapper ? PyObject_GetAttrString(wrapper, "_container") : NULL;
    void *object = container ? tw_retain(tw__py_unwrap(container, &tw__container_class)) : NULL;
    Py_XDECREF(wrapper);
    Py_XDECREF(container);
    if (!object && !PyErr_Occurred())
        tw__py_error(PyExc_ValueError,
                     "`Checkpoint` was expecting a trackable object (an object derived from `Trackable`), got %R.", value);
    return object;
}

bool tw__py_has_setter(PyObject *self, PyObject *name)
{
    tw__py_auto PyObject *found = PyObject_GetAttr((PyObject *)Py_TYPE(self), name);
    PyErr_Clear();
    return found && PyType_GetSlot(Py_TYPE(found), Py_tp_descr_set);
}

static int track(PyObject *self, tw_trackable *parent, PyObject *name, const char *text, PyObject *value)
{
    tw__py_auto PyObject *stored = tw__py_wrap_collection(value);
    if (!stored)
        return -1;
    tw_object *child = NULL;
    if (tw__py_is_object(stored)) {
        child = tw_retain(tw__py_unwrap(stored, &tw__trackable_class));
    } else if (is_collection(stored)) {
        tw__py_auto PyObject *container = PyObject_GetAttrString(stored, "_container");
        PyErr_Clear();
        child = container ? tw_retain(tw__py_unwrap(container, &tw__container_class)) : NULL;
    }
    int result = 0;
    if (child && tw__track(parent, text, child) != TW_OK) {
        tw__py_raise();
        result = -1;
    } else if (!child) {
        tw__untrack(parent, text);
    }
    tw_release(child);
    if (result == 0)
        result = PyObject_GenericSetAttr(self, name, stored);
    return result;
}

/* What a class sets while `self._self_setattr_tracking` is False is an attribute and no child, and lists stay lists. */
static bool stops_tracking; /* whether anybody said so yet */

static bool is_untracked(PyObject *self, const char *name, PyObject *value)
{
    if (value == Py_False && strcmp(name, "_self_setattr_tracking") == 0)
        stops_tracking = true;
    return stops_tracking && tw__py_kept(self, "_self_setattr_tracking") == Py_False;
}

/* NoDependency(value): the same for one value. A new reference; NULL: it is none. */
static PyObject *without_dependency(PyObject *value)
{
    return no_dependency && Py_TYPE(value) == no_dependency ? PyObject_GetAttrString(value, "value") : NULL;
}

/* A setting of the library's that a class gives before it calls the constructor: that one decides, as Keras's does. */
static bool is_too_early(PyObject *self, PyObject *name)
{
    tw__py_auto PyObject *found = tw__py_row_of(Py_TYPE(self)) ? PyObject_GetAttr((PyObject *)Py_TYPE(self), name) : NULL;
    tw__py_auto PyObject *getter = found ? PyObject_GetAttrString(found, "fget") : NULL;
    PyErr_Clear();
    return getter && Py_TYPE(getter) == tw__py_function_type;
}

int tw__py_set_attribute(PyObject *self, PyObject *name, PyObject *value)
{
    tw_object *object = tw__py_handle(self);
    if (!object && value && is_too_early(self, name))
        return 0;
    int setting = object ? tw__py_set_setting(self, name, value) : 0;
    if (setting)
        return setting < 0 ? -1 : 0;
    bool tracks = object && tw__is(object, &tw__trackable_class) && !tw__is(object, &tw__class_variable);
    if (!object && value && tw__py_is_object(value)) { /* before __init__: a model says so, others note it later */
        const tw_signature *row = tw__py_row_of(Py_TYPE(self));
        for (const tw_class *c = row ? row->class_row : NULL; c; c = c->parent) {
            if (c == &tw__class_model && !tw__py_self(self))
                return -1;
        }
    }
    const char *text = tracks ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    tw__py_auto PyObject *plain = value ? without_dependency(value) : NULL;
    if (!tracks || !text || tw__py_has_setter(self, name))
        return PyErr_Occurred() ? -1 : PyObject_GenericSetAttr(self, name, plain ? plain : value);
    if (value && !plain && !is_untracked(self, text, value))
        return track(self, (tw_trackable *)object, name, text, value);
    tw__untrack((tw_trackable *)object, text);
    return PyObject_GenericSetAttr(self, name, plain ? plain : value);
}

/* optimizer.variables: a list that may also be called. */
PyObject *tw__py_callable_list(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names)
{
    tw__py_auto PyObject *list = tw__py_function_call(function, arguments, count, names);
    PyObject *module = list ? containers_module() : NULL;
    return module ? PyObject_CallMethod(module, "CallableList", "(O)", list) : NULL;
}

/* ---- for thalweg/_containers.py ---- */

/* new_container("list", "tuple" or "dict") */
static PyObject *new_container(PyObject *module, PyObject *kind)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(kind, NULL);
    if (!text)
        return NULL;
    return tw__py_wrap(tw__object_new(*text == 't' ? &tw__tuple_class : *text == 'd' ? &tw__dict_class : &tw__container_class));
}

/* container_set(container, [(name, value), …]): exactly these children, as far as the values are objects. */
static PyObject *container_set(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *self, *pairs;
    if (!PyArg_ParseTuple(arguments, "OO!:container_set", &self, &PyList_Type, &pairs))
        return NULL;
    tw_trackable *container = tw__py_unwrap(self, &tw__container_class);
    if (!container)
        return tw__py_error(PyExc_TypeError, "a container was expected, got %R", self);
    Py_ssize_t count = PyList_Size(pairs);
    tw__owned const char **names = tw__alloc_array((size_t)count + 1, sizeof *names);
    bool good = names != NULL;
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *name, *value;
        if (!PyArg_ParseTuple(PyList_GetItem(pairs, i), "OO", &name, &value)) {
            good = false;
            break;
        }
        tw_object *child = NULL;
        PyObject *inner = is_collection(value) ? PyObject_GetAttrString(value, "_container") : NULL;
        PyErr_Clear();
        if (inner || tw__py_is_object(value))
            child = tw__py_unwrap(inner ? inner : value, &tw__trackable_class);
        const char *text = child ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        if (text) {
            names[kept++] = text;
            if (tw__tracked(container, text) != (tw_trackable *)child && tw__track(container, text, child) != TW_OK) {
                tw__py_raise();
                good = false;
            }
        }
        Py_XDECREF(inner);
        good = good && !PyErr_Occurred();
    }
    for (size_t i = container->child_count; good && i-- > 0;) {
        bool found = false;
        for (Py_ssize_t k = 0; !found && k < kept; k++)
            found = strcmp(names[k], container->children[i].name) == 0;
        if (!found)
            tw__untrack(container, container->children[i].name);
    }
    if (!good)
        return PyErr_Occurred() ? NULL : tw__py_raise();
    Py_RETURN_NONE;
}

static PyObject *set_no_dependency(PyObject *module, PyObject *class)
{
    (void)module;
    no_dependency = (PyTypeObject *)Py_NewRef(class);
    Py_RETURN_NONE;
}

PyMethodDef tw__py_tracking_functions[] = {
    { "set_no_dependency", set_no_dependency, METH_O, "Says which class wraps values that shall not be tracked." },
    { "new_container", new_container, METH_O, "A new container without children, of a kind: list, tuple or dict." },
    { "container_set", container_set, METH_VARARGS, "Gives a container exactly these children." },
    { 0 },
};
