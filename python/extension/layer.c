/* Calling layers and models. A layer whose `call` is C is called directly; one with a `call` or `build` of its own in Python goes
 * through Keras's steps in layer_own.c. C calls such a layer by foreign_call, which comes here. */
#include "extension.h"

static _Thread_local int current_training = -1; /* of the layer that is being called; -1: not said */
static _Thread_local PyObject *current_choice;  /* a symbolic tensor that says it when the graph runs; borrowed */

/* ---- training ---- */

PyObject *tw__py_outer_choice(void)
{
    return current_training < 0 ? current_choice : NULL;
}

int tw__py_outer_training(void)
{
    return current_training >= 0 ? current_training : tw__learning_phase();
}

int tw__py_training_begin(int training)
{
    int outer = current_training;
    current_training = training;
    return outer;
}

void tw__py_training_end(int outer)
{
    current_training = outer;
}

PyObject *tw__py_current_training(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    int training = tw__py_outer_training();
    return Py_NewRef(training < 0 ? Py_None : training ? Py_True : Py_False);
}

bool tw__py_read_training(PyObject *value, int *training)
{
    *training = -1;
    if (!value || value == Py_None)
        return true;
    int is = PyObject_IsTrue(value); /* a symbolic tensor has no value, and raises */
    *training = is > 0;
    return is >= 0;
}

PyObject *tw__py_choice_begin(PyObject *choice)
{
    PyObject *outer = current_choice;
    current_choice = choice;
    return outer;
}

void tw__py_choice_end(PyObject *outer)
{
    current_choice = outer;
}

bool tw__py_is_choice(PyObject *value)
{
    return value && ((TW_IS_TENSOR(value) && TW_TENSOR(value)->node) || (tw__tracing && tw__py_is_variable(value)));
}

/* What decides when the graph runs whether the layer trains, said by the caller or by a layer around it; borrowed, NULL: nothing.
 */
static PyObject *choice_of(tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    if (!tw__tracing)
        return NULL;
    const char *takes = ((const tw__layer_methods *)tw__methods(layer))->arguments;
    int at = takes ? tw__layer_argument(takes, "training") : -1;
    PyObject *said = keywords ? PyDict_GetItemString(keywords, "training") : NULL;
    if (!said && at >= 0 && at < PyTuple_Size(arguments))
        said = PyTuple_GetItem(arguments, at);
    if (tw__py_is_choice(said))
        return said;
    return (!said || said == Py_None) && current_training < 0 ? current_choice : NULL;
}

static PyObject *call_on_condition(PyObject *self, PyObject *arguments, PyObject *keywords, PyObject *choice)
{
    PyObject *outer = tw__py_choice_begin(NULL);
    tw__py_auto PyObject *kept = Py_NewRef(choice), *named = keywords ? Py_NewRef(keywords) : PyDict_New(),
                         *module = named ? PyImport_ImportModule("thalweg._describe") : NULL;
    PyObject *result = module ? PyObject_CallMethod(module, "call_on_condition", "OOOO", self, arguments, named, kept) : NULL;
    tw__py_choice_end(outer);
    return result;
}

/* ---- C's call ---- */

static PyObject *too_many(PyObject *self, Py_ssize_t count)
{
    tw__py_auto PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    tw__py_error(PyExc_TypeError, "%S.call() takes 2 positional arguments but %zd were given", name, count + 1);
    return NULL;
}

/* A tensor, a list of such, or a plain value; arrays and lists of numbers become tensors. */
static bool read_argument(PyObject *value, tw_value *out)
{
    if (PyList_Check(value) || PyTuple_Check(value)) {
        Py_ssize_t count = PySequence_Size(value);
        bool parts = count == 0;
        for (Py_ssize_t i = 0; !parts && i < count; i++) {
            tw__py_auto PyObject *item = PySequence_GetItem(value, i);
            parts = !item || !(PyFloat_Check(item) || PyLong_Check(item) || PyList_Check(item));
            if (item && PyList_Check(item) && PyList_Size(item)) {
                PyObject *inner = PyList_GetItem(item, 0);
                parts = tw__py_is_tensor_like(inner) || (PyObject_CheckBuffer(inner) && !PyBytes_Check(inner));
            }
        }
        if (!parts)
            return (*out = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT) })
                           .tensor != NULL ||
                   (out->kind = TW_VALUE_NONE, false);
    }
    return tw__py_read_value(value, out);
}

/* The arguments of a layer of one tensor. */
typedef struct plain_call {
    PyObject *input, *mask; /* borrowed */
    int training;
} plain_call;

static bool take_argument(PyObject *self, tw_layer *layer, plain_call *c, const char *name, PyObject *value)
{
    if (name && strcmp(name, "training") == 0)
        return tw__py_read_training(value, &c->training);
    if (name && strcmp(name, "inputs") == 0) {
        c->input = value;
        return true;
    }
    if (name && strcmp(name, "mask") == 0 && (value == Py_None || tw__is(layer, &tw__class_sequential))) {
        c->mask = value == Py_None ? NULL : value;
        return true;
    }
    tw__py_auto PyObject *type_name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    tw__py_error(PyExc_TypeError, "%S.call() got an unexpected keyword argument '%s'", type_name, name ? name : "?");
    return false;
}

static bool take_arguments(PyObject *self, tw_layer *layer, plain_call *c, PyObject *arguments, PyObject *keywords)
{
    static const char *const names[] = { "inputs", "training", "mask" };
    const tw__layer_methods *methods = tw__methods(layer);
    const char *takes = methods->arguments;
    Py_ssize_t count = PyTuple_Size(arguments), position = 0;
    bool good = true;
    if (count > (takes ? tw__layer_argument_count(takes) : 1))
        return too_many(self, count) != NULL;
    for (int i = 0; good && i < 3; i++) {
        int at = i == 0 ? 0 : takes ? tw__layer_argument(takes, names[i]) : -1;
        if (at >= 0 && at < count)
            good = take_argument(self, layer, c, names[i], PyTuple_GetItem(arguments, at));
    }
    for (PyObject *key, *item; good && keywords && PyDict_Next(keywords, &position, &key, &item);)
        good = take_argument(self, layer, c, PyUnicode_AsUTF8AndSize(key, NULL), item);
    if (good && !c->input)
        good = tw__py_error(PyExc_ValueError, "The first argument to `Layer.call` must always be passed.") != NULL;
    if (good && (PyUnicode_Check(c->input) || PyBytes_Check(c->input) || c->input == Py_None))
        good =
            tw__py_error(PyExc_TypeError, "Inputs to a layer should be tensors. Got '%S' (of type %R) as input for layer '%s'.",
                         c->input, Py_TYPE(c->input), layer->name) != NULL;
    return good;
}

/* A ragged or sparse tensor in the place of the one tensor. */
static PyObject *call_composite(tw_layer *layer, void *composite, int training)
{
    tw_value given = { .kind = TW_VALUE_OBJECT, .object = composite };
    int outer = tw__py_training_begin(training);
    tw_value out = tw__layer_call_values(layer, &given, 1, training);
    tw__py_training_end(outer);
    return out.kind == TW_VALUE_NONE ? tw__py_raise() : tw__py_value(&out);
}

static PyObject *call_c(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    plain_call c = { .training = -1 };
    if (!take_arguments(self, layer, &c, arguments, keywords))
        return NULL;
    if (c.training < 0)
        c.training = tw__py_outer_training();
    if (tw__py_is_object(c.input) && tw__is_composite(tw__py_self(c.input)))
        return call_composite(layer, tw__py_self(c.input), c.training);
    tw_tensor *input = tw__py_to_tensor(c.input, TW_DTYPE_NONE, TW_HINT);
    if (input && c.mask) {
        tw_auto tw_tensor *plain = input, *mask = tw__py_to_tensor(c.mask, TW_BOOL, TW_HINT);
        input = mask ? tw__masked_copy(plain, mask) : NULL;
        if (mask && !input)
            return tw__py_raise();
    }
    if (!input)
        return NULL;
    bool large = input->count >= 65536;
    int outer = tw__py_training_begin(c.training);
    PyThreadState *thread = large ? tw__py_unlock() : NULL;
    tw_tensor *output = tw__layer_call(layer, input, c.training);
    if (thread)
        tw__py_lock(thread);
    tw__py_training_end(outer);
    tw_release(input);
    return tw__py_wrap_tensor(output);
}

/* A layer of several values: arguments by position and by name, sorted into the row's order. */
static PyObject *call_values(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    enum { MOST = 8 };
    const tw__layer_methods *methods = tw__methods(layer);
    tw_value given[MOST] = { 0 };
    Py_ssize_t count = PyTuple_Size(arguments);
    int most = tw__layer_argument_count(methods->arguments), training = -1;
    if (count > most)
        return too_many(self, count);
    int training_at = tw__layer_argument(methods->arguments, "training");
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = i == training_at ? tw__py_read_training(PyTuple_GetItem(arguments, i), &training)
                                : read_argument(PyTuple_GetItem(arguments, i), &given[i]);
    PyObject *key, *item;
    Py_ssize_t position = 0;
    while (good && keywords && PyDict_Next(keywords, &position, &key, &item)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        int at = name ? tw__layer_argument(methods->arguments, name) : -1;
        if (name && strcmp(name, "training") == 0 && (at < 0 || at >= count)) {
            good = tw__py_read_training(item, &training);
        } else if (at >= 0 && at >= count) {
            good = read_argument(item, &given[at]);
        } else if (item != Py_None || at >= 0) {
            good = false;
            tw__py_error(PyExc_TypeError, "%s.call() got an unexpected keyword argument '%S'", tw_class_name(layer), key);
        }
    }
    if (training < 0)
        training = tw__py_outer_training();
    if (good && given[0].kind == TW_VALUE_NONE) {
        good = false;
        tw__py_error(PyExc_ValueError, "The first argument to `Layer.call` must always be passed.");
    }
    PyObject *result = NULL;
    if (good) {
        int outer = tw__py_training_begin(training);
        tw_value out = tw__layer_call_values(layer, given, most, training);
        tw__py_training_end(outer);
        result = out.kind == TW_VALUE_NONE ? tw__py_raise() : tw__py_value(&out);
    }
    for (int i = 0; i < most; i++)
        tw_value_free(&given[i]);
    return result;
}

/* A layer that takes whatever it is given. */
static PyObject *call_any(tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_Size(arguments), named_count = keywords ? PyDict_Size(keywords) : 0, position = 0;
    tw_value *given = tw__alloc_array((size_t)count + 1, sizeof *given),
             *by_name = tw__alloc_array(2 * (size_t)named_count + 1, sizeof *by_name);
    tw_value tuple = { .kind = TW_VALUE_TUPLE, .list = { given, 0 } }, dict = { .kind = TW_VALUE_DICT, .list = { by_name, 0 } },
             result = { .kind = TW_VALUE_NONE };
    bool good = given && by_name;
    int training = -1, outer = current_training;
    for (; good && tuple.list.count < count; tuple.list.count += good)
        good = read_argument(PyTuple_GetItem(arguments, tuple.list.count), &given[tuple.list.count]);
    for (PyObject *key, *item; good && keywords && PyDict_Next(keywords, &position, &key, &item);) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (name && strcmp(name, "training") == 0)
            good = tw__py_read_training(item, &training);
        good = good && name && read_argument(item, &by_name[dict.list.count + 1]);
        if (good)
            by_name[dict.list.count] = tw__value_str(name);
        dict.list.count += good ? 2 : 0;
    }
    if (training < 0)
        training = tw__py_outer_training();
    current_training = training;
    good = good && tw__layer_invoke(layer, &tuple, &dict, training, &result) == TW_OK;
    current_training = outer;
    tw_value_free(&tuple);
    tw_value_free(&dict);
    return good ? tw__py_value(&result) : PyErr_Occurred() ? NULL : tw__py_raise();
}

/* A dict, or a list of one tensor or array. */
static bool is_structure(PyObject *value)
{
    if (PyDict_Check(value))
        return true;
    if ((!PyList_Check(value) && !PyTuple_Check(value)) || PySequence_Size(value) != 1)
        return false;
    tw__py_auto PyObject *item = PySequence_GetItem(value, 0);
    return item && (tw__py_is_tensor_like(item) || (PyObject_CheckBuffer(item) && !PyBytes_Check(item)));
}

static PyObject *connect(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    (void)self;
    return tw__py_connect(layer, arguments, keywords, -1);
}

static PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    tw_layer *layer = (tw_layer *)tw__py_handle(self);
    if (!layer)
        return tw__py_error(PyExc_RuntimeError, "You must call `super().__init__()` in the layer constructor.");
    if (tw__py_has_keras_tensor(arguments) || (keywords && tw__py_has_keras_tensor(keywords)))
        return connect(self, layer, arguments, keywords);
    if (layer->foreign_call)
        return tw__py_call_own(self, layer, arguments, keywords);
    PyObject *choice = choice_of(layer, arguments, keywords);
    if (choice)
        return call_on_condition(self, arguments, keywords, choice);
    const tw__layer_methods *methods = tw__methods(layer);
    bool structured = methods->call_structure && PyTuple_Size(arguments) == 1 && is_structure(PyTuple_GetItem(arguments, 0));
    if (methods->invoke || structured)
        return call_any(layer, arguments, keywords);
    return methods->call_values ? call_values(self, layer, arguments, keywords) : call_c(self, layer, arguments, keywords);
}

/* ---- C calls a Python layer ---- */

static tw_tensor *call_from_c(tw_layer *layer, tw_tensor *input, int training)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *value = tw__py_wrap_tensor(tw_retain(input));
    tw__py_auto PyObject *arguments = value ? PyTuple_New(1) : NULL, *result = NULL;
    tw_tensor *output = NULL;
    int outer = current_training;
    if (arguments) {
        PyTuple_SetItem(arguments, 0, value);
        if (training >= 0)
            current_training = training;
        result = tw__py_call_own(tw__py_instance(layer), layer, arguments, NULL);
        current_training = outer;
    }
    if (result)
        output = tw__py_to_tensor(result, TW_DTYPE_NONE, TW_HINT);
    if (!output)
        tw__py_failed();
    return output;
}

/* The same with any arguments and results. */
static tw_status invoke_from_c(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    tw__py_lock_state state = tw__py_enter();
    tw_value given = tw__value_copy(arguments), by_name = named ? tw__value_copy(named) : (tw_value){ .kind = TW_VALUE_NONE };
    PyObject *tuple = tw__py_value(&given), *dict = by_name.kind == TW_VALUE_DICT ? tw__py_value(&by_name) : NULL, *out = NULL;
    int outer = current_training;
    if (training >= 0)
        current_training = training;
    if (tuple && PyTuple_Check(tuple) && !PyErr_Occurred())
        out = tw__py_call_own(tw__py_instance(layer), layer, tuple, dict);
    current_training = outer;
    bool good = out && tw__py_read_value(out, result);
    if (!good) {
        tw_value_free(result);
        tw__py_failed();
    }
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    Py_XDECREF(out);
    tw__py_leave(state);
    return good ? TW_OK : tw__error_status();
}

static bool takes_argument(tw_layer *layer, const char *name)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *call = PyObject_GetAttrString(layer->trackable.object.peer, "call");
    tw__py_auto PyObject *code = call ? PyObject_GetAttrString(call, "__code__") : NULL;
    tw__py_auto PyObject *names = code ? PyObject_GetAttrString(code, "co_varnames") : NULL;
    tw__py_auto PyObject *count = code ? PyObject_GetAttrString(code, "co_argcount") : NULL;
    tw__py_auto PyObject *more = code ? PyObject_GetAttrString(code, "co_kwonlyargcount") : NULL;
    tw__py_auto PyObject *word = PyUnicode_FromString(name);
    Py_ssize_t at = names && word ? PySequence_Index(names, word) : -1;
    bool takes = at >= 0 && count && more && at < PyLong_AsLong(count) + PyLong_AsLong(more);
    PyErr_Clear();
    return takes;
}

/* A shape, a number or a list of such, as attributes of layers are. */
static bool read_attribute(tw_layer *layer, const char *name, tw_value *out)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *value = PyObject_GetAttrString(tw__py_instance(layer), name);
    bool good = value && tw__py_read_value(value, out) && out->kind != TW_VALUE_NONE;
    PyErr_Clear();
    return good;
}

/* The variable that the class's own _make_weight gives. */
static tw_variable *make_weight(tw_layer *layer, const char *name, const tw_shape *shape, tw_dtype dtype, bool trainable)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *dims = tw__py_wrap_shape(shape), *type = tw__py_wrap_dtype(dtype);
    tw__py_auto PyObject *made = dims && type ? PyObject_CallMethod(tw__py_instance(layer), "_make_weight", "sOOO", name, dims,
                                                                    type, trainable ? Py_True : Py_False)
                                              : NULL;
    tw_variable *variable = made ? tw__py_unwrap(made, &tw__class_variable) : NULL;
    if (!variable)
        tw__py_failed();
    return tw_retain(variable);
}

void tw__py_layer_made(PyObject *self)
{
    tw_layer *layer = (tw_layer *)tw__py_handle(self);
    if (PyObject_HasAttrString((PyObject *)Py_TYPE(self), "_make_weight"))
        layer->make_weight = make_weight;
    tw__language.invoke = invoke_from_c;
    tw__language.takes = takes_argument;
    tw__language.error_words = tw__py_layer_words;
    if (tw__py_overrides(self, "call") || tw__py_overrides(self, "build")) {
        layer->foreign_call = call_from_c;
        layer->foreign_attribute = read_attribute;
    }
}

PyObject *tw__py_overrides_call(PyObject *self, PyObject *layer)
{
    (void)self;
    const tw_layer *object = tw__py_unwrap(layer, &tw__class_layer);
    return PyBool_FromLong(object && object->foreign_call);
}

PyType_Slot tw__py_layer_slots[] = { { Py_tp_call, call }, { 0 } };
