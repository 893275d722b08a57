/* Calling layers and models. A layer whose `call` is C is called directly; one with a `call` or `build` of its own in Python goes
 * through Keras's steps here: inputs become tensors of the layer's dtype, the first call builds, `training` is handed down. C
 * calls such a layer by foreign_call, which comes here too. */
#include "extension.h"

static _Thread_local int current_training = -1; /* of the layer that is being called; -1: not said */

/* ---- what the Python function takes ---- */

enum { TAKES_TRAINING = 1, TAKES_MASK = 2 };

static bool is_row(PyObject *function)
{
    return function && Py_TYPE(function) == tw__py_function_type;
}

bool tw__py_overrides(PyObject *self, const char *name)
{
    tw__py_auto PyObject *found = PyObject_GetAttrString((PyObject *)Py_TYPE(self), name);
    PyErr_Clear();
    return found && !is_row(found) && Py_TYPE(found) != &PyWrapperDescr_Type && Py_TYPE(found) != &PyMethodDescr_Type;
}

/* (function, flags, name of the first argument), kept on the type. */
static PyObject *describe_call(PyTypeObject *type, PyObject *function)
{
    static PyObject *key;
    if (!key && !(key = PyUnicode_InternFromString("_call_description")))
        return NULL;
    PyObject *known = PyObject_GetAttr((PyObject *)type, key);
    if (known && PyTuple_Check(known) && PyTuple_GetItem(known, 0) == function)
        return known;
    Py_XDECREF(known);
    PyErr_Clear();
    PyObject *module = PyImport_ImportModule("thalweg._describe");
    PyObject *made = module ? PyObject_CallMethod(module, "call_of", "(O)", function) : NULL;
    Py_XDECREF(module);
    if (made && PyObject_SetAttr((PyObject *)type, key, made) < 0)
        Py_CLEAR(made);
    return made;
}

/* ---- inputs ---- */

static bool is_plain(PyObject *value)
{
    return PyFloat_Check(value) || PyLong_Check(value) || (PyObject_CheckBuffer(value) && !PyBytes_Check(value));
}

/* Tensors of the layer's dtype in the same structure; *first is the first tensor (borrowed). */
static PyObject *convert_nested(tw_layer *layer, PyObject *value, PyObject **first);

static PyObject *convert_inputs(tw_layer *layer, PyObject *value, PyObject **first)
{
    PyObject *out = NULL;
    if (tw__py_is_tensor_like(value) || is_plain(value)) {
        tw_tensor *tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
        if (!tensor)
            return NULL;
        tw_tensor *ready = tw__layer_input(layer, tensor);
        if (ready == tensor && TW_IS_TENSOR(value)) {
            Py_INCREF(value);
            tw_release(ready);
            out = value;
        } else {
            out = tw__py_wrap_tensor(ready);
        }
        tw_release(tensor);
        if (!*first)
            *first = out;
        return out;
    }
    if (Py_EnterRecursiveCall(" in the inputs of a layer"))
        return NULL;
    out = convert_nested(layer, value, first);
    Py_LeaveRecursiveCall();
    return out;
}

static PyObject *convert_nested(tw_layer *layer, PyObject *value, PyObject **first)
{
    PyObject *out;
    if (PyList_Check(value) || PyTuple_Check(value)) {
        Py_ssize_t count = PySequence_Size(value);
        PyObject *list = PyList_New(count);
        for (Py_ssize_t i = 0; list && i < count; i++) {
            PyObject *item = PySequence_GetItem(value, i);
            PyObject *made = item ? convert_inputs(layer, item, first) : NULL;
            Py_XDECREF(item);
            if (!made || PyList_SetItem(list, i, made) < 0)
                Py_CLEAR(list);
        }
        if (!list || PyList_Check(value))
            return list;
        out = PyObject_HasAttrString(value, "_make") ? PyObject_CallMethod(value, "_make", "(O)", list) : PyList_AsTuple(list);
        Py_DECREF(list);
        return out;
    }
    if (PyDict_Check(value)) {
        PyObject *pairs = PyDict_Items(value); /* what is converted may run code that changes the dict */
        out = pairs ? PyDict_New() : NULL;
        for (Py_ssize_t i = 0; out && i < PyList_Size(pairs); i++) {
            PyObject *pair = PyList_GetItem(pairs, i);
            tw__py_auto PyObject *made = convert_inputs(layer, PyTuple_GetItem(pair, 1), first);
            if (!made || PyDict_SetItem(out, PyTuple_GetItem(pair, 0), made) < 0)
                Py_CLEAR(out);
        }
        Py_XDECREF(pairs);
        return out;
    }
    Py_INCREF(value);
    return value;
}

/* The shapes of tensors in the same structure. */
static PyObject *shapes_of(PyObject *value)
{
    if (TW_IS_TENSOR(value))
        return tw__py_wrap_shape(&TW_TENSOR(value)->shape);
    if (PyList_Check(value) || PyTuple_Check(value)) {
        Py_ssize_t count = PySequence_Size(value);
        PyObject *list = PyList_New(count);
        for (Py_ssize_t i = 0; list && i < count; i++) {
            PyObject *item = PySequence_GetItem(value, i);
            PyObject *shape = item ? shapes_of(item) : NULL;
            Py_XDECREF(item);
            if (!shape || PyList_SetItem(list, i, shape) < 0)
                Py_CLEAR(list);
        }
        return list;
    }
    if (PyDict_Check(value)) {
        PyObject *key, *item, *out = PyDict_New();
        Py_ssize_t position = 0;
        while (out && PyDict_Next(value, &position, &key, &item)) {
            tw__py_auto PyObject *shape = shapes_of(item);
            if (!shape || PyDict_SetItem(out, key, shape) < 0)
                Py_CLEAR(out);
        }
        return out;
    }
    Py_RETURN_NONE;
}

/* ---- Python's call ---- */

static bool build_own(PyObject *self, tw_layer *layer, PyObject *inputs)
{
    PyObject *shapes = shapes_of(inputs);
    PyObject *done = shapes ? PyObject_CallMethod(self, "build", "(O)", shapes) : NULL;
    Py_XDECREF(shapes);
    Py_XDECREF(done);
    if (done)
        layer->built = true;
    return done != NULL;
}

static bool build(PyObject *self, tw_layer *layer, PyObject *inputs, PyObject *first)
{
    if (layer->built)
        return true;
    if (tw__py_overrides(self, "build")) {
        tw__tracing_begin();
        bool good = layer->built || build_own(self, layer, inputs);
        tw__tracing_end();
        return good;
    }
    tw_shape unknown = TW_UNKNOWN_SHAPE;
    if (tw__layer_build(layer, first ? &TW_TENSOR(first)->shape : &unknown) == TW_OK)
        return true;
    tw__py_raise();
    return false;
}

/* What a layer goes by that is not told: the layer that calls it, else keras.backend.set_learning_phase; -1: nothing. */
static int outer_training(void)
{
    return current_training >= 0 ? current_training : tw__learning_phase();
}

PyObject *tw__py_current_training(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    int training = outer_training();
    return Py_NewRef(training < 0 ? Py_None : training ? Py_True : Py_False);
}

static int read_training(PyObject *value)
{
    if (!value || value == Py_None)
        return -1;
    int is = PyObject_IsTrue(value);
    PyErr_Clear();
    return is > 0;
}

PyObject *tw__py_converted(PyObject *method)
{
    if (!method || !tw__tracing)
        return method;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg.autograph");
    PyObject *made = module ? PyObject_CallMethod(module, "converted_method", "(O)", method) : NULL;
    Py_DECREF(method);
    return made;
}

/* The mask that goes along with the input, or the first of several; borrowed. */
static tw_tensor *first_mask(PyObject *inputs)
{
    if (TW_IS_TENSOR(inputs))
        return tw__mask_of(TW_TENSOR(inputs));
    tw__py_auto PyObject *first =
        (PyList_Check(inputs) || PyTuple_Check(inputs)) && PySequence_Size(inputs) ? PySequence_GetItem(inputs, 0) : NULL;
    return first && TW_IS_TENSOR(first) ? tw__mask_of(TW_TENSOR(first)) : NULL;
}

/* The mask of the output, and the activity regularizer. */
static bool finish(PyObject *self, tw_layer *layer, PyObject *inputs, tw_tensor *first, tw_tensor *mask, PyObject *result)
{
    if (!TW_IS_TENSOR(result))
        return true;
    if (tw__py_overrides(self, "compute_mask")) {
        tw__py_auto PyObject *given = mask ? tw__py_wrap_tensor(tw_retain(mask)) : (Py_INCREF(Py_None), Py_None);
        tw__py_auto PyObject *made = given ? PyObject_CallMethod(self, "compute_mask", "(OO)", inputs, given) : NULL;
        tw_auto tw_tensor *found = made && made != Py_None ? tw__py_to_tensor(made, TW_DTYPE_NONE, TW_HINT) : NULL;
        bool good = made && (made == Py_None || found);
        if (good && tw__mask_set(TW_TENSOR(result), found) != TW_OK) {
            tw__py_raise();
            good = false;
        }
        return good;
    }
    if (tw__layer_finish(layer, first, mask, TW_TENSOR(result)) == TW_OK)
        return true;
    tw__py_raise();
    return false;
}

/* `inputs` and `others` (further positional ones, or NULL) with keywords (changed; ours). */
static PyObject *run_python(PyObject *self, tw_layer *layer, PyObject *inputs, PyObject *others, PyObject *keywords, int training,
                            long flags)
{
    PyObject *first = NULL, *result = NULL;
    tw__py_auto PyObject *ready = convert_inputs(layer, inputs, &first);
    if (!ready)
        return NULL;
    if (ready == first)
        tw__model_called(layer, TW_TENSOR(first));
    if (tw__layer_begin(layer) != TW_OK)
        return tw__py_raise();
    int outer = current_training;
    current_training = training;
    bool good = build(self, layer, ready, first);
    tw_tensor *mask = first_mask(inputs);
    if (good && mask && (flags & TAKES_MASK) && !PyDict_GetItemString(keywords, "mask")) {
        tw__py_auto PyObject *given = tw__py_wrap_tensor(tw_retain(mask));
        good = given && PyDict_SetItemString(keywords, "mask", given) == 0;
    }
    if (good && (flags & TAKES_TRAINING) && training >= 0)
        good = PyDict_SetItemString(keywords, "training", training ? Py_True : Py_False) == 0;
    Py_ssize_t more = others ? PyTuple_Size(others) : 0;
    PyObject *arguments = good ? PyTuple_New(1 + more) : NULL;
    if (arguments) {
        Py_INCREF(ready);
        PyTuple_SetItem(arguments, 0, ready);
        for (Py_ssize_t i = 0; i < more; i++) {
            PyObject *item = PyTuple_GetItem(others, i);
            Py_INCREF(item);
            PyTuple_SetItem(arguments, i + 1, item);
        }
        tw__py_auto PyObject *method = tw__py_converted(PyObject_GetAttrString(self, "call"));
        result = method ? PyObject_Call(method, arguments, keywords) : NULL;
        if (method && !result)
            tw__py_layer_failed(self, arguments, keywords);
        Py_DECREF(arguments);
    }
    current_training = outer;
    if (result && first && !finish(self, layer, ready, TW_TENSOR(first), mask, result))
        Py_CLEAR(result);
    tw__layer_end(layer);
    return result;
}

static PyObject *call_python(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    PyObject *function = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "call");
    tw__py_auto PyObject *description = function ? describe_call(Py_TYPE(self), function) : NULL;
    Py_XDECREF(function);
    if (!description)
        return NULL;
    long flags = PyLong_AsLong(PyTuple_GetItem(description, 1));
    PyObject *first_name = PyTuple_GetItem(description, 2);
    tw__py_auto PyObject *named = keywords ? PyDict_Copy(keywords) : PyDict_New();
    tw__py_auto PyObject *inputs = NULL;
    tw__py_auto PyObject *others = NULL;
    PyObject *result = NULL;
    Py_ssize_t count = PyTuple_Size(arguments);
    if (named && count) {
        inputs = PyTuple_GetItem(arguments, 0);
        Py_INCREF(inputs);
        others = PyTuple_GetSlice(arguments, 1, count);
    } else if (named && (inputs = PyDict_GetItem(named, first_name))) {
        Py_INCREF(inputs);
        PyDict_DelItem(named, first_name);
    }
    if (named && !inputs)
        tw__py_error(PyExc_ValueError, "The first argument to `Layer.call` must always be passed.");
    if (inputs) {
        PyObject *said = PyDict_GetItemString(named, "training");
        int training = read_training(said);
        if (training < 0)
            training = outer_training();
        if (said && (said == Py_None || !(flags & TAKES_TRAINING)))
            PyDict_DelItemString(named, "training");
        PyObject *mask = PyDict_GetItemString(named, "mask");
        if (mask && mask == Py_None && !(flags & TAKES_MASK))
            PyDict_DelItemString(named, "mask");
        result = run_python(self, layer, inputs, others, named, training, flags);
    }
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

static PyObject *call_c(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_Size(arguments);
    PyObject *value = count ? PyTuple_GetItem(arguments, 0) : keywords ? PyDict_GetItemString(keywords, "inputs") : NULL;
    if (count > 1)
        return too_many(self, count);
    if (!value)
        return tw__py_error(PyExc_ValueError, "The first argument to `Layer.call` must always be passed.");
    int training = -1;
    PyObject *key, *item, *given_mask = NULL;
    Py_ssize_t position = 0;
    while (keywords && PyDict_Next(keywords, &position, &key, &item)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (name && strcmp(name, "training") == 0) {
            training = read_training(item);
        } else if (name && strcmp(name, "mask") == 0 && tw__is(layer, &tw__class_sequential)) {
            given_mask = item == Py_None ? NULL : item;
        } else if (!name || (strcmp(name, "inputs") != 0 && !(strcmp(name, "mask") == 0 && item == Py_None))) {
            tw__py_auto PyObject *type_name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
            tw__py_error(PyExc_TypeError, "%S.call() got an unexpected keyword argument '%S'", type_name, key);
            return NULL;
        }
    }
    if (training < 0)
        training = outer_training();
    if (PyUnicode_Check(value) || PyBytes_Check(value) || value == Py_None)
        return tw__py_error(PyExc_TypeError,
                            "Inputs to a layer should be tensors. Got '%S' (of type %R) as input for layer '%s'.", value,
                            Py_TYPE(value), layer->name);
    tw_tensor *input = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
    if (input && given_mask) {
        tw_auto tw_tensor *plain = input, *mask = tw__py_to_tensor(given_mask, TW_BOOL, TW_HINT);
        input = mask ? tw__masked_copy(plain, mask) : NULL;
        if (mask && !input)
            return tw__py_raise();
    }
    if (!input)
        return NULL;
    bool large = input->count >= 65536;
    int outer = current_training;
    current_training = training;
    PyThreadState *thread = large ? tw__py_unlock() : NULL;
    tw_tensor *output = tw__layer_call(layer, input, training);
    if (thread)
        tw__py_lock(thread);
    current_training = outer;
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
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = read_argument(PyTuple_GetItem(arguments, i), &given[i]);
    PyObject *key, *item;
    Py_ssize_t position = 0;
    while (good && keywords && PyDict_Next(keywords, &position, &key, &item)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        int at = name ? tw__layer_argument(methods->arguments, name) : -1;
        if (name && strcmp(name, "training") == 0 && at < 0) {
            training = read_training(item);
        } else if (at >= 0 && at >= count) {
            good = read_argument(item, &given[at]);
        } else if (item != Py_None || at >= 0) {
            good = false;
            tw__py_error(PyExc_TypeError, "%s.call() got an unexpected keyword argument '%S'", tw_class_name(layer), key);
        }
    }
    int at = tw__layer_argument(methods->arguments, "training");
    if (good && at >= 0 && given[at].kind != TW_VALUE_NONE)
        training = given[at].kind == TW_VALUE_BOOL ? given[at].b : given[at].kind == TW_VALUE_INT ? given[at].i != 0 : -1;
    if (training < 0)
        training = outer_training();
    if (good && given[0].kind == TW_VALUE_NONE) {
        good = false;
        tw__py_error(PyExc_ValueError, "The first argument to `Layer.call` must always be passed.");
    }
    PyObject *result = NULL;
    if (good) {
        int outer = current_training;
        current_training = training;
        tw_value out = tw__layer_call_values(layer, given, most, training);
        current_training = outer;
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
            training = read_training(item);
        good = name && read_argument(item, &by_name[dict.list.count + 1]);
        if (good)
            by_name[dict.list.count] = tw__value_str(name);
        dict.list.count += good ? 2 : 0;
    }
    if (training < 0)
        training = outer_training();
    current_training = training;
    good = good && tw__layer_invoke(layer, &tuple, &dict, training, &result) == TW_OK;
    current_training = outer;
    tw_value_free(&tuple);
    tw_value_free(&dict);
    return good ? tw__py_value(&result) : PyErr_Occurred() ? NULL : tw__py_raise();
}

static PyObject *connect(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    (void)self;
    return tw__py_connect(layer, arguments, keywords, -1);
}

static PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    tw_layer *layer = (tw_layer *)((tw__py_object *)self)->object;
    if (!layer)
        return tw__py_error(PyExc_RuntimeError, "You must call `super().__init__()` in the layer constructor.");
    if (tw__py_has_keras_tensor(arguments) || (keywords && tw__py_has_keras_tensor(keywords)))
        return connect(self, layer, arguments, keywords);
    if (layer->foreign_call)
        return call_python(self, layer, arguments, keywords);
    const tw__layer_methods *methods = tw__methods(layer);
    if (methods->invoke)
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
        result = call_python(layer->trackable.object.peer, layer, arguments, NULL);
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
        out = call_python(layer->trackable.object.peer, layer, tuple, dict);
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

/* A shape, a number or a list of such, as attributes of layers are. */
static bool read_attribute(tw_layer *layer, const char *name, tw_value *out)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *value = PyObject_GetAttrString(layer->trackable.object.peer, name);
    bool good = value && tw__py_read_value(value, out) && out->kind != TW_VALUE_NONE;
    PyErr_Clear();
    return good;
}

/* The variable that the class's own _make_weight gives. */
static tw_variable *make_weight(tw_layer *layer, const char *name, const tw_shape *shape, tw_dtype dtype, bool trainable)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    tw__py_auto PyObject *dims = tw__py_wrap_shape(shape), *type = tw__py_wrap_dtype(dtype);
    tw__py_auto PyObject *made = dims && type ? PyObject_CallMethod(layer->trackable.object.peer, "_make_weight", "sOOO", name,
                                                                    dims, type, trainable ? Py_True : Py_False)
                                              : NULL;
    tw_variable *variable = made ? tw__py_unwrap(made, &tw__class_variable) : NULL;
    if (!variable)
        tw__py_failed();
    return tw_retain(variable);
}

void tw__py_layer_made(PyObject *self)
{
    tw_layer *layer = (tw_layer *)((tw__py_object *)self)->object;
    if (PyObject_HasAttrString((PyObject *)Py_TYPE(self), "_make_weight"))
        layer->make_weight = make_weight;
    tw__language.invoke = invoke_from_c;
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
