/* What C asks of Python: subclasses of losses, schedules and initializers, plain functions, random numbers, and where text goes.
 */
#include "extension.h"

/* Calls function(*values) and makes a tensor of what comes back; takes the references in `values`. The lock is held. */
static tw_tensor *call_for_tensor(PyObject *function, PyObject *a, PyObject *b)
{
    tw_tensor *output = NULL;
    tw__py_auto PyObject *result = function && a ? PyObject_CallFunctionObjArgs(function, a, b, NULL) : NULL;
    if (result)
        output = tw__py_to_tensor(result, TW_DTYPE_NONE, TW_HINT);
    if (!output)
        tw__py_failed();
    Py_XDECREF(a);
    Py_XDECREF(b);
    return output;
}

/* ---- functions ---- */

/* The C object's peer carries the function in its __dict__, so the collector sees cycles through it. Borrowed. */
static PyObject *function_of(const tw_callable *self)
{
    static PyObject *name;
    if (!self->object.peer || (!name && !(name = PyUnicode_InternFromString("function"))))
        return NULL;
    PyObject *function = PyObject_GenericGetAttr(self->object.peer, name);
    if (!function)
        PyErr_Clear();
    Py_XDECREF(function); /* the peer has it */
    return function;
}

static tw_tensor *call_function(tw_callable *self, tw_tensor *input)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *function = function_of(self);
    tw_tensor *output = NULL;
    if (!function) {
        tw__fail(TW_RUNTIME_ERROR, "the function %s is gone: its object was collected", self->name);
    } else if (input) {
        output = call_for_tensor(function, tw__py_wrap_tensor(tw_retain(input)), NULL);
    } else { /* a function of nothing, called for what it does or for the tensor it gives */
        PyObject *result = PyObject_CallFunctionObjArgs(function, NULL);
        if (result && (tw__py_is_tensor_like(result) || PyFloat_Check(result)))
            output = tw__py_to_tensor(result, TW_DTYPE_NONE, TW_HINT);
        if (!result || (PyErr_Occurred() && !output))
            tw__py_failed();
        Py_XDECREF(result);
    }
    return output;
}

/* Of any value, and gives one. */
static tw_status call_with_value(tw_callable *self, const tw_value *input, tw_value *result)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *function = function_of(self);
    if (!function)
        return tw__fail(TW_RUNTIME_ERROR, "the function %s is gone: its object was collected", self->name);
    tw_value copy = tw__value_copy(input);
    tw__py_auto PyObject *given = tw__py_value(&copy);
    tw__py_auto PyObject *made = given ? PyObject_CallFunctionObjArgs(function, given, NULL) : NULL;
    return made && tw__py_read_value(made, result) ? TW_OK : tw__py_failed();
}

/* The names of a function's arguments. */
static PyObject *names_of(PyObject *function)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._describe");
    return module ? PyObject_CallMethod(module, "positional_names_of", "(O)", function) : NULL;
}

/* Keywords of a dict: those that begin with `*` only where the function takes them. */
static PyObject *keywords_of(PyObject *function, const tw_value *named)
{
    tw__py_auto PyObject *names = names_of(function);
    PyObject *keywords = names ? PyDict_New() : NULL;
    for (int64_t i = 0; keywords && named && i + 1 < named->list.count; i += 2) {
        const char *name = named->list.items[i].s.data;
        bool asked = *name == '*';
        tw__py_auto PyObject *key = PyUnicode_FromString(name + asked);
        int takes = !asked ? 1 : key ? PySequence_Contains(names, key) : -1;
        tw_value copy = tw__value_copy(&named->list.items[i + 1]);
        tw__py_auto PyObject *value = takes > 0 ? tw__py_value(&copy) : NULL;
        if (takes <= 0)
            tw_value_free(&copy);
        if (takes < 0 || !key || (takes && (!value || PyDict_SetItem(keywords, key, value) < 0)))
            Py_CLEAR(keywords);
    }
    return keywords;
}

static tw_status call_with_names(tw_callable *self, const tw_value *input, const tw_value *named, tw_value *result)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *function = function_of(self);
    if (!function)
        return tw__fail(TW_RUNTIME_ERROR, "the function %s is gone: its object was collected", self->name);
    bool all = named && named->kind == TW_VALUE_STR;
    tw_value copy = tw__value_copy(input);
    tw__py_auto PyObject *given = tw__py_value(&copy);
    tw__py_auto PyObject *arguments = !given ? NULL : all ? PySequence_Tuple(given) : PyTuple_Pack(1, given);
    tw__py_auto PyObject *keywords = arguments ? keywords_of(function, all ? NULL : named) : NULL;
    tw__py_auto PyObject *converted = keywords ? tw__py_converted(Py_NewRef(function)) : NULL;
    tw__py_auto PyObject *made = converted ? PyObject_Call(converted, arguments, keywords) : NULL;
    return made && tw__py_read_value(made, result) ? TW_OK : tw__py_failed();
}

void *tw__py_make_callable(PyObject *function)
{
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    PyErr_Clear();
    tw_callable *made = tw__callable_new(text ? text : "function", call_function, NULL, NULL);
    Py_XDECREF(name);
    if (made) {
        made->call_value = call_with_value;
        made->call_named = call_with_names;
    }
    PyObject *peer = tw__py_wrap(made); /* the reference is the caller's, counted by the peer now */
    if (peer && PyObject_SetAttrString(peer, "function", function) < 0)
        Py_CLEAR(peer);
    return peer ? made : NULL;
}

PyObject *tw__py_callable_function(void *object)
{
    return tw__is(object, &tw__callable_class) && ((tw_callable *)object)->call == call_function ? function_of(object) : NULL;
}

/* ---- subclasses ---- */

static tw_tensor *call_loss(tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *method = tw__py_converted(PyObject_GetAttrString(tw__py_instance(self), "call"));
    PyObject *labels = tw__py_wrap_tensor(tw_retain(y_true)), *predictions = tw__py_wrap_tensor(tw_retain(y_pred));
    return call_for_tensor(method, labels, predictions);
}

/* A loss that weighs and reduces by itself. */
static tw_tensor *call_whole_loss(tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *method = tw__py_converted(PyObject_GetAttrString(tw__py_instance(self), "__call__"));
    PyObject *labels = tw__py_wrap_tensor(tw_retain(y_true)), *predictions = tw__py_wrap_tensor(tw_retain(y_pred));
    PyObject *weight = sample_weight ? tw__py_wrap_tensor(tw_retain(sample_weight)) : Py_NewRef(Py_None);
    PyObject *pair = labels && predictions ? PyTuple_Pack(2, labels, predictions) : NULL;
    PyObject *named = pair && weight ? Py_BuildValue("{s:O}", "sample_weight", weight) : NULL;
    PyObject *result = method && named ? PyObject_Call(method, pair, named) : NULL;
    tw_tensor *output = result ? tw__py_to_tensor(result, TW_DTYPE_NONE, TW_HINT) : NULL;
    if (!output)
        tw__py_failed();
    PyObject *made[] = { method, labels, predictions, weight, pair, named, result };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        Py_XDECREF(made[i]);
    return output;
}

static tw_tensor *call_schedule(tw_schedule *self, tw_tensor *step)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    return call_for_tensor(tw__py_instance(self), tw__py_wrap_tensor(tw_retain(step)), NULL);
}

static tw_tensor *call_initializer(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    return call_for_tensor(tw__py_instance(self), tw__py_wrap_shape(shape), tw__py_wrap_dtype(dtype));
}

static tw_tensor *call_constraint(tw_callable *self, tw_tensor *value)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    return call_for_tensor(tw__py_instance(self), tw__py_wrap_tensor(tw_retain(value)), NULL);
}

void tw__py_made(PyObject *self)
{
    void *object = tw__py_handle(self);
    if (tw__is(object, &tw__class_layer))
        tw__py_layer_made(self);
    else if (tw__is(object, &tw__class_loss)) {
        ((tw_loss *)object)->foreign_call = tw__py_overrides(self, "call") ? call_loss : NULL;
        ((tw_loss *)object)->foreign_whole = tw__py_overrides(self, "__call__") ? call_whole_loss : NULL;
    } else if (tw__is(object, &tw__class_schedule) && tw__py_overrides(self, "__call__"))
        ((tw_schedule *)object)->foreign_call = call_schedule;
    else if (tw__is(object, &tw__class_initializer) && tw__py_overrides(self, "__call__"))
        ((tw_initializer *)object)->foreign_make = call_initializer;
    else if (tw__is(object, &tw__class_constraint) && tw__py_overrides(self, "__call__"))
        ((tw_constraint *)object)->callable.call = call_constraint;
    else if (tw__is(object, &tw__class_regularizer) && tw__py_overrides(self, "__call__"))
        ((tw_regularizer *)object)->callable.call = call_constraint;
}

/* The name of an object whose class is Python's: "MyModel" gives my_model, the next my_model_1; modules are not numbered. For
 * tw__free. */
char *tw__py_automatic_name(PyObject *self, const tw_class *class_row)
{
    bool is_layer = false, is_module = class_row == &tw__class_module;
    for (const tw_class *c = class_row; c; c = c->parent)
        is_layer |= c == &tw__class_layer;
    if ((!is_layer && !is_module) || Py_TYPE(self) == tw__py_type_of(class_row))
        return NULL;
    tw__py_auto PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    return !text ? NULL : is_module ? tw__module_auto_name(text) : tw__layer_auto_name(text);
}

/* ---- random numbers, text, collections ---- */

static tw_status seed_python(int64_t seed)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *random = PyImport_ImportModule("random");
    PyObject *numpy = random ? tw__py_numpy() : NULL;
    tw__py_auto PyObject *numpy_random = numpy ? PyObject_GetAttrString(numpy, "random") : NULL;
    tw__py_auto PyObject *done = numpy_random ? PyObject_CallMethod(random, "seed", "L", (long long)seed) : NULL;
    tw__py_auto PyObject *also = done ? PyObject_CallMethod(numpy_random, "seed", "L", (long long)seed) : NULL;
    return also ? TW_OK : tw__py_failed();
}

static tw_status draw(int64_t low, int64_t high, int64_t *value)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *random = PyImport_ImportModule("random");
    tw__py_auto PyObject *number = random ? PyObject_CallMethod(random, "randint", "LL", (long long)low, (long long)high) : NULL;
    *value = number ? PyLong_AsLongLong(number) : 0;
    return number && !PyErr_Occurred() ? TW_OK : tw__py_failed();
}

static void write_text(const char *text, size_t size)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *out = PySys_GetObject("stdout");
    tw__py_auto PyObject *string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
    if (out && string && out != Py_None && PyFile_WriteObject(string, out, Py_PRINT_RAW) == 0) {
        tw__py_auto PyObject *done = PyObject_CallMethod(out, "flush", NULL);
    }
    PyErr_Clear(); /* progress that can't be shown stops nothing */
}

static tw_status collect(const char *name, tw_tensor *tensor)
{
    tw__py_lock_state state = tw__py_enter();
    PyObject *module = PyImport_ImportModule("thalweg._graph_mode.variables");
    PyObject *value = module ? tw__py_wrap_tensor(tw_retain(tensor)) : NULL;
    PyObject *done = value ? PyObject_CallMethod(module, "add_to_collection", "sO", name, value) : NULL;
    tw_status status = done ? TW_OK : tw__py_failed();
    Py_XDECREF(module);
    Py_XDECREF(value);
    Py_XDECREF(done);
    tw__py_leave(state);
    return status;
}

void tw__py_hooks_start(void)
{
    tw__language.collect = collect;
    tw__language.random_seeded = seed_python;
    tw__language.random_between = draw;
    tw__language.write = write_text;
    tw__py_training_start();
}
