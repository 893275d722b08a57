/* Keras objects whose classes are Python's: how C writes them into configs and makes them again. The work is
 * thalweg._keras_objects's, which gives its functions here. */
#include "extension.h"

static PyObject *serialize_function, *custom_function, *make_function, *code_function, *decode_function;

static bool is_foreign(const void *object)
{
    PyObject *instance = tw__py_instance(object);
    return instance && Py_TYPE(instance) != tw__py_type_of(((const tw_object *)object)->class);
}

/* What Python gave, which is taken, as a value. */
static bool read_result(PyObject *result, tw_value *out)
{
    bool good = result && tw__py_read_value(result, out);
    if (!good) {
        tw_value_free(out);
        tw__py_failed();
    }
    Py_XDECREF(result);
    return good;
}

/* What function(peer) gives, as a value. */
static bool ask(PyObject *function, const void *object, tw_value *out)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    return read_result(function ? PyObject_CallFunctionObjArgs(function, tw__py_instance(object), NULL) : NULL, out);
}

static bool serialize(const void *object, tw_value *dict)
{
    return serialize_function && is_foreign(object) && ask(serialize_function, object, dict);
}

static bool config(const void *object, tw_value *out)
{
    if (!is_foreign(object))
        return false;
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *peer = tw__py_instance(object);
    return tw__py_overrides(peer, "get_config") && read_result(PyObject_CallMethod(peer, "get_config", NULL), out);
}

static bool class_name(const void *object, tw_value *name)
{
    if (!is_foreign(object))
        return false;
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *text = PyObject_GetAttrString((PyObject *)Py_TYPE(tw__py_instance(object)), "__name__");
    bool good = text && tw__py_read_value(text, name);
    PyErr_Clear();
    return good;
}

PyObject *tw__py_custom_object(PyObject *name)
{
    PyObject *found = custom_function ? PyObject_CallFunctionObjArgs(custom_function, name, NULL) : NULL;
    if (found && found != Py_None && !PyUnicode_Check(found))
        return found;
    Py_XDECREF(found);
    PyErr_Clear();
    return NULL;
}

void *tw__py_named_callable(PyObject *function, const char *word)
{
    if (!word || strcmp(word, "initializer") != 0)
        return tw__py_make_callable(function);
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._keras_objects"),
                         *made = module ? PyObject_CallMethod(module, "FunctionInitializer", "O", function) : NULL;
    return made ? tw_retain(tw__py_self(made)) : NULL;
}

static void *make(const tw_value *value, const char *word)
{
    if (!make_function)
        return NULL;
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_value copy = tw__value_copy(value);
    tw__py_auto PyObject *given = tw__py_value(&copy),
                         *result = given ? PyObject_CallFunction(make_function, "Oz", given, word) : NULL;
    void *made = NULL;
    if (result && tw__py_is_object(result))
        made = tw_retain(tw__py_self(result));
    else if (result && PyCallable_Check(result))
        made = tw__py_named_callable(result, word);
    if (!result || PyErr_Occurred())
        tw__py_failed();
    return made;
}

/* ---- functions as code ---- */

static bool code(const void *function, tw_value *value)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *held = tw__py_callable_function((void *)(uintptr_t)function);
    return read_result(held ? PyObject_CallFunctionObjArgs(code_function, held, NULL) : NULL, value);
}

static void *decode(const tw_value *value)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw_value copy = tw__value_copy(value);
    tw__py_auto PyObject *given = tw__py_value(&copy),
                         *result = given ? PyObject_CallFunctionObjArgs(decode_function, given, NULL) : NULL;
    void *made = result ? tw__py_make_callable(result) : NULL;
    if (!made)
        tw__py_failed();
    return made;
}

PyObject *tw__py_keras_objects(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *to, *from, *write, *read, *custom;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &to, &from, &write, &read, &custom))
        return NULL;
    serialize_function = Py_NewRef(to);
    make_function = Py_NewRef(from);
    code_function = Py_NewRef(write);
    decode_function = Py_NewRef(read);
    custom_function = Py_NewRef(custom);
    tw__language.serialize = serialize;
    tw__language.config = config;
    tw__language.make = make;
    tw__language.code = code;
    tw__language.decode = decode;
    tw__language.class_name = class_name;
    Py_RETURN_NONE;
}

void *tw__py_from_config(PyObject *dict, const char *word)
{
    tw_value config;
    void *made = tw__py_read_value(dict, &config) ? tw__deserialize(&config, word) : NULL;
    tw_value_free(&config);
    if (!made && !PyErr_Occurred())
        tw__py_raise();
    return made;
}
