/* Settings of Keras objects that are changed after the object was made: layer.rate = 0.1. The value is read as the constructor
 * reads it and goes to the object's arguments (spec/registry.c), where the library reads it when it needs it. */
#include "extension.h"

/* What the arguments hold as something else (a list of integers, a structure) is kept as the program gave it, too: it gets back
 * what it set. */
static bool keeps_value(const tw_field *field)
{
    return field->kind != TW_KIND_INT && field->kind != TW_KIND_FLOAT && field->kind != TW_KIND_BOOL &&
           field->kind != TW_KIND_STR && field->kind != TW_KIND_NAMED;
}

static bool is_number(const tw_field *field)
{
    return field->kind == TW_KIND_INT || field->kind == TW_KIND_FLOAT || field->kind == TW_KIND_BOOL;
}

/* Whether a property of that name can be set: that one decides. One that can only be read gives way. */
static bool has_own_setter(PyObject *self, PyObject *name)
{
    if (!tw__py_has_setter(self, name))
        return false;
    PyObject *found = PyObject_GetAttr((PyObject *)Py_TYPE(self), name);
    PyObject *setter = found ? PyObject_GetAttrString(found, "fset") : NULL;
    bool only_read = setter == Py_None;
    Py_XDECREF(found);
    Py_XDECREF(setter);
    PyErr_Clear();
    return !only_read;
}

static int change(tw_object *object, const tw_field *field, PyObject *value)
{
    const tw_signature *signature = object->class->signature;
    tw__py_function *maker = tw__py_maker_of(object->class);
    if (!maker || !tw__py_function_ready(maker))
        return -1;
    PyObject **given = tw__alloc_array((size_t)signature->field_count + 1, sizeof *given);
    char *args = tw__alloc_zero(signature->args_size);
    tw__py_frame frame = { 0 };
    int result = given && args ? 0 : -1;
    if (result == 0) {
        memcpy(args, maker->defaults, signature->args_size);
        given[field - signature->fields] = value;
        result = tw__py_fill(maker, &frame, given, NULL, args) ? 0 : -1;
    }
    if (result == 0)
        result = tw__object_change(object, field, args) == TW_OK ? 0 : -1;
    if (result < 0 && !PyErr_Occurred())
        tw__py_raise();
    tw__py_frame_end(&frame);
    tw__free(given);
    tw__free(args);
    return result;
}

static int refuse(const tw_object *object, PyObject *name, const char *why)
{
    tw__py_error(PyExc_NotImplementedError, "%s.%U: %s; make another %s", tw_class_name(object), name, why,
                 tw_class_name(object));
    return -1;
}

/* Whether a class is the program's, and not one of the package's own below a row's. */
static bool is_of_program(PyTypeObject *type)
{
    PyObject *kind, *error, *traceback;
    PyErr_Fetch(&kind, &error, &traceback);
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    bool own = !text || !tw__starts_with(text, "thalweg");
    Py_XDECREF(module);
    PyErr_Clear();
    PyErr_Restore(kind, error, traceback);
    return own;
}

/* What every layer takes has properties of its own, with one exception. */
static bool is_of_base(const tw_field *field)
{
    return field->inherited && strcmp(field->name, "activity_regularizer") != 0;
}

int tw__py_set_setting(PyObject *self, PyObject *name, PyObject *value)
{
    tw_object *object = tw__py_handle(self);
    const char *text = object && value && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const tw_field *field;
    tw__setting kind = text ? tw__object_setting(object, text, &field) : TW_NO_SETTING;
    if (kind == TW_NO_SETTING || is_of_base(field) || has_own_setter(self, name))
        return PyErr_Occurred() ? -1 : 0;
    bool own = tw__py_type_of(object->class) == Py_TYPE(self); /* no class of the program */
    if (kind == TW_FIXED_SETTING) {
        tw__py_error(PyExc_AttributeError,
                     "Can't set the attribute \"%U\", likely because it conflicts with an existing read-only @property of the "
                     "object. Please choose a different name.",
                     name);
        return -1;
    }
    if (kind == TW_REFUSED_SETTING || !tw__starts_with(object->class->signature->path, "keras."))
        return own || kind == TW_REFUSED_SETTING ? refuse(object, name, "it can't be changed once the object is made") : 0;
    if (is_number(field) && (tw__py_is_variable(value) || tw__py_is_symbolic(value)))
        return refuse(object, name, "a variable or a symbolic tensor as a setting is not supported");
    if (change(object, field, value) < 0) {
        if (own || !PyErr_ExceptionMatches(PyExc_TypeError) || !is_of_program(Py_TYPE(self)))
            return -1;
        PyErr_Clear(); /* a class of the program uses the name for something else */
        return 0;
    }
    if (keeps_value(field))
        return 0;
    tw__py_auto PyObject *dict = PyObject_GenericGetDict(self, NULL);
    if (dict && PyDict_Contains(dict, name) == 1 && PyDict_DelItem(dict, name) < 0)
        return -1;
    return 1;
}

bool tw__py_is_setting(PyObject *self, PyObject *name)
{
    const tw_field *field;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    return text && tw__object_setting(tw__py_handle(self), text, &field) == TW_SETTING && !is_of_base(field);
}
