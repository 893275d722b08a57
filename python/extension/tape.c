/* tf.GradientTape: sources, targets and results may be nested lists, tuples and dicts. */
#include "extension.h"

/* ---- nested structures ---- */

static bool is_nest(PyObject *value)
{
    return PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value);
}

/* Dicts are flattened in the order of their sorted keys, as TensorFlow does. */
static PyObject *sorted_keys(PyObject *dict)
{
    PyObject *keys = PyDict_Keys(dict);
    if (keys && PyList_Sort(keys) < 0) {
        PyErr_Clear(); /* keys that can't be compared stay in order of insertion */
    }
    return keys;
}

static bool flatten(PyObject *value, PyObject *flat)
{
    if (!is_nest(value))
        return PyList_Append(flat, value) == 0;
    if (Py_EnterRecursiveCall(" in a nested structure"))
        return false;
    PyObject *keys = PyDict_Check(value) ? sorted_keys(value) : NULL;
    Py_ssize_t count = keys ? PyList_Size(keys) : PySequence_Size(value);
    bool good = !PyErr_Occurred();
    for (Py_ssize_t i = 0; good && i < count; i++) {
        tw__py_auto PyObject *item = keys ? PyObject_GetItem(value, PyList_GetItem(keys, i)) : PySequence_GetItem(value, i);
        good = item && flatten(item, flat);
    }
    Py_XDECREF(keys);
    Py_LeaveRecursiveCall();
    return good;
}

static PyObject *pack_sequence(PyObject *structure, PyObject *flat, Py_ssize_t *at);

static PyObject *pack_dict(PyObject *structure, PyObject *flat, Py_ssize_t *at)
{
    tw__py_auto PyObject *keys = sorted_keys(structure);
    tw__py_auto PyObject *parts = keys ? PyDict_New() : NULL;
    PyObject *out = parts ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; out && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i);
        tw__py_auto PyObject *part = PyObject_GetItem(structure, key);
        tw__py_auto PyObject *packed = part ? pack_sequence(part, flat, at) : NULL;
        if (!packed || PyDict_SetItem(parts, key, packed) < 0)
            Py_CLEAR(out);
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (out && PyDict_Next(structure, &position, &key, &value)) { /* in the structure's own order */
        PyObject *part = PyDict_GetItem(parts, key);
        if (!part || PyDict_SetItem(out, key, part) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static PyObject *pack_sequence(PyObject *structure, PyObject *flat, Py_ssize_t *at)
{
    if (!is_nest(structure)) {
        PyObject *item = PyList_GetItem(flat, (*at)++);
        Py_XINCREF(item);
        return item;
    }
    if (PyDict_Check(structure))
        return pack_dict(structure, flat, at);
    Py_ssize_t count = PySequence_Size(structure);
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        tw__py_auto PyObject *part = PySequence_GetItem(structure, i);
        tw__py_auto PyObject *packed = part ? pack_sequence(part, flat, at) : NULL;
        if (!packed || PyList_Append(list, packed) < 0)
            Py_CLEAR(list);
    }
    if (!list || !PyTuple_Check(structure))
        return list;
    PyObject *tuple;
    if (PyObject_HasAttrString(structure, "_make")) /* a named tuple */
        tuple = PyObject_CallMethod((PyObject *)Py_TYPE(structure), "_make", "(O)", list);
    else
        tuple = PyList_AsTuple(list);
    Py_DECREF(list);
    return tuple;
}

/* ---- objects ---- */

static bool warn(const char *what, tw_dtype dtype)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._log");
    tw__py_auto PyObject *done = module ? PyObject_CallMethod(module, "warn_dtype", "ss", what, tw_dtype_name(dtype)) : NULL;
    return done != NULL;
}

static void *object_of(PyObject *value)
{
    return TW_IS_TENSOR(value) ? (void *)TW_TENSOR(value) : tw__py_is_variable(value) ? (void *)tw__py_handle(value) : NULL;
}

static bool not_a_tensor(PyObject *value)
{
    tw__py_auto PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    tw__py_error(PyExc_ValueError, "Passed in object %R of type '%S', not tf.Tensor or tf.Variable or ExtensionType.", value,
                 name);
    return false;
}

/* Objects of a flat list, in memory of the frame; with `what`, what can't be differentiated is told. */
static bool collect(tw__py_frame *frame, PyObject *flat, const char *what, tw_objects *out)
{
    Py_ssize_t count = PyList_Size(flat);
    void **items = tw__py_keep_block(frame, (size_t)count * sizeof *items);
    for (Py_ssize_t i = 0; items && i < count; i++) {
        PyObject *value = PyList_GetItem(flat, i);
        items[i] = object_of(value);
        if (!items[i])
            return not_a_tensor(value);
        tw_dtype dtype = tw__py_dtype_of_value(value);
        if (what && !tw__dtype_differentiable(dtype) && !warn(what, dtype))
            return false;
    }
    *out = (tw_objects){ items, count };
    return items != NULL;
}

PyObject *tw__py_tape_watch(PyObject *self, PyObject *const *arguments, size_t size, PyObject *names)
{
    tw__py_function *function = (tw__py_function *)self;
    PyObject *given[2] = { NULL, NULL }, *rest = NULL;
    if (!tw__py_function_ready(function) ||
        !tw__py_sort_arguments(function, 0, arguments, TW_VECTOR_COUNT(size), names, given, &rest))
        return NULL;
    tw__auto(tw__py_frame_end) tw__py_frame frame = { 0 };
    tw_tape_watch_args args = { .self = tw__py_unwrap(given[0], &tw__class_tape) };
    tw__py_auto PyObject *flat = PyList_New(0);
    PyObject *out = NULL;
    if (!args.self)
        tw__py_error(PyExc_TypeError, "watch() needs a GradientTape, got %R", given[0]);
    else if (flat && flatten(given[1], flat) && collect(&frame, flat, "watched", &args.tensor)) {
        if (tw__impl_tape_watch(&args) == TW_OK) {
            Py_INCREF(Py_None);
            out = Py_None;
        } else {
            tw__py_raise();
        }
    }
    return out;
}

static bool prepare(tw__py_frame *frame, PyObject *target, PyObject *sources, PyObject *gradients, PyObject *flat_sources,
                    tw_tape_gradient_args *args)
{
    PyObject *flat_targets = PyList_New(0);
    tw__py_auto PyObject *flat_gradients = PyList_New(0);
    bool good = flat_targets && flat_gradients && flatten(target, flat_targets) && flatten(sources, flat_sources) &&
                collect(frame, flat_targets, NULL, &args->target) && collect(frame, flat_sources, NULL, &args->sources);
    if (good && gradients && gradients != Py_None) {
        good = flatten(gradients, flat_gradients);
        if (!is_nest(target) && is_nest(gradients)) { /* a list of numbers for one target */
            Py_CLEAR(flat_gradients);
            flat_gradients = Py_BuildValue("[O]", gradients);
            good = flat_gradients != NULL;
        }
        Py_ssize_t count = good ? PyList_Size(flat_gradients) : 0;
        tw_tensor **items = tw__py_keep_block(frame, (size_t)count * sizeof *items);
        for (Py_ssize_t i = 0; good && items && i < count; i++) {
            PyObject *value = PyList_GetItem(flat_gradients, i);
            tw_dtype dtype = i < args->target.count ? tw__py_dtype_of_value(PyList_GetItem(flat_targets, i)) : TW_DTYPE_NONE;
            if (value != Py_None)
                good = tw__py_keep_object(frame, items[i] = tw__py_to_tensor(value, dtype, TW_HINT));
        }
        args->output_gradients = (tw_tensors){ items, count };
        good = good && items;
    }
    if (flat_targets)
        good = tw__py_keep_python(frame, flat_targets) && good;
    return good;
}

PyObject *tw__py_wrap_gradient(tw_tensor *gradient)
{
    if (!gradient)
        Py_RETURN_NONE;
    tw_object *slices = (tw_object *)tw__slices_of(gradient);
    if (!slices)
        return tw__py_wrap_tensor(gradient);
    tw_retain(slices);
    tw_release(gradient);
    return tw__py_wrap(slices);
}

PyObject *tw__py_tape_gradient(PyObject *self, PyObject *const *arguments, size_t size, PyObject *names)
{
    tw__py_function *function = (tw__py_function *)self;
    PyObject *given[5] = { NULL }, *rest = NULL, *out = NULL;
    if (!tw__py_function_ready(function) ||
        !tw__py_sort_arguments(function, 0, arguments, TW_VECTOR_COUNT(size), names, given, &rest))
        return NULL;
    tw__py_frame frame = { 0 };
    tw_tape_gradient_args args = { .self = tw__py_unwrap(given[0], &tw__class_tape), .unconnected_gradients = "none" };
    if (!args.self)
        return tw__py_error(PyExc_TypeError, "gradient() needs a GradientTape, got %R", given[0]);
    if (given[4] && given[4] != Py_None) {
        PyObject *text = PyUnicode_Check(given[4]) ? given[4] : PyObject_GetAttrString(given[4], "value"); /* the enum */
        const char *word = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
        bool zero = word && strcmp(word, "zero") == 0, none = word && strcmp(word, "none") == 0;
        if (text && text != given[4])
            Py_DECREF(text);
        if (!zero && !none)
            return tw__py_error(PyExc_ValueError, "Unknown value for unconnected_gradients: %R", given[4]);
        args.unconnected_gradients = zero ? "zero" : "none";
    }
    tw__py_auto PyObject *flat = PyList_New(0);
    if (flat && prepare(&frame, given[1], given[2], given[3], flat, &args)) {
        tw_tensors results = tw__tape_gradient_of(&args);
        if (tw_error_code() != TW_OK) {
            tw_tensors_free(&results);
            tw__py_raise();
        } else {
            tw__py_auto PyObject *list = PyList_New((Py_ssize_t)results.count);
            for (int64_t i = 0; list && i < results.count; i++) {
                PyObject *item = tw__py_wrap_gradient(results.items[i]);
                results.items[i] = NULL;
                if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
                    Py_CLEAR(list);
            }
            tw_tensors_free(&results);
            Py_ssize_t at = 0;
            out = list ? pack_sequence(given[2], list, &at) : NULL;
        }
    }
    tw__py_frame_end(&frame);
    return out;
}

/* ---- context manager ---- */

static PyObject *leave(PyObject *self, PyObject *arguments)
{
    (void)arguments;
    tw_tape_exit_args args = { .self = tw__py_unwrap(self, &tw__class_tape) };
    if (args.self && tw__impl_tape_exit(&args) != TW_OK)
        return tw__py_raise();
    Py_RETURN_NONE;
}

/* `with tape.stop_recording():` */
static PyObject *stop_recording(PyObject *self, PyObject *unused)
{
    (void)unused;
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._containers");
    return module ? PyObject_CallMethod(module, "Paused", "(O)", self) : NULL;
}

/* The methods that _gradients.py has: structures are flattened there. */
static PyObject *call_python(const char *name, PyObject *self, PyObject *arguments, PyObject *keywords)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._gradients"),
                         *function = module ? PyObject_GetAttrString(module, name) : NULL;
    tw__py_auto PyObject *first = Py_BuildValue("(O)", self), *all = first ? PySequence_Concat(first, arguments) : NULL;
    return function && all ? PyObject_Call(function, all, keywords) : NULL;
}

static PyObject *jacobian(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return call_python("jacobian", self, arguments, keywords);
}

static PyObject *batch_jacobian(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return call_python("batch_jacobian", self, arguments, keywords);
}

static PyMethodDef methods[] = {
    { "jacobian", (PyCFunction)(void (*)(void))jacobian, METH_VARARGS | METH_KEYWORDS,
      TW_SIGNATURE(
          "jacobian($self, target, sources, unconnected_gradients=None, parallel_iterations=None, experimental_use_pfor=True)") "The derivatives of every element of a target." },
    { "batch_jacobian", (PyCFunction)(void (*)(void))batch_jacobian, METH_VARARGS | METH_KEYWORDS,
      TW_SIGNATURE(
          "batch_jacobian($self, target, source, unconnected_gradients=None, parallel_iterations=None, experimental_use_pfor=True)") "The same within every member of a batch." },
    { "__exit__", leave, METH_VARARGS, NULL },
    { "stop_recording", stop_recording, METH_NOARGS,
      TW_SIGNATURE("stop_recording($self)") "A context in which nothing is recorded." },
    { 0 },
};

PyType_Slot tw__py_tape_slots[] = { { Py_tp_methods, methods }, { 0 } };
