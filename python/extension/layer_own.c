/* Calling layers and models that have a `call` or `build` of their own in Python, by Keras's steps: inputs become tensors of the
 * layer's dtype, the first call builds, masks that come along with the inputs and `training` are handed down unless the caller
 * says them, by position or by name. */
#include "extension.h"

/* ---- what the Python function takes ---- */

enum { TAKES_TRAINING = 1, TAKES_MASK = 2 };

/* What thalweg._describe.call_of tells. */
typedef struct call_description {
    long flags;
    PyObject *first_name, *default_training; /* borrowed */
    Py_ssize_t training_at, mask_at;         /* places among the positional arguments behind the first; -1: by name only */
} call_description;

/* A row's function, or what stands for one (thalweg._layer_call). */
static bool is_row(PyObject *function)
{
    return function && (Py_TYPE(function) == tw__py_function_type || PyObject_HasAttrString(function, "_row"));
}

bool tw__py_overrides(PyObject *self, const char *name)
{
    tw__py_auto PyObject *found = PyObject_GetAttrString((PyObject *)Py_TYPE(self), name);
    PyErr_Clear();
    return found && !is_row(found) && Py_TYPE(found) != &PyWrapperDescr_Type && Py_TYPE(found) != &PyMethodDescr_Type;
}

/* The tuple of call_of, kept on the type. */
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

static call_description read_description(PyObject *tuple)
{
    return (call_description){ .flags = PyLong_AsLong(PyTuple_GetItem(tuple, 1)),
                               .first_name = PyTuple_GetItem(tuple, 2),
                               .training_at = PyLong_AsSsize_t(PyTuple_GetItem(tuple, 3)),
                               .mask_at = PyLong_AsSsize_t(PyTuple_GetItem(tuple, 4)),
                               .default_training = PyTuple_GetItem(tuple, 5) };
}

/* ---- structures of inputs ---- */

/* What stands for a member of a structure; a new reference. */
typedef PyObject *leaf_function(PyObject *value, void *context);

/* Lists, tuples and dicts of what `leaf` gives for their members; a new reference. */
static PyObject *map_structure(PyObject *value, leaf_function *leaf, void *context);

static PyObject *map_sequence(PyObject *value, leaf_function *leaf, void *context)
{
    Py_ssize_t count = PySequence_Size(value);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        tw__py_auto PyObject *item = PySequence_GetItem(value, i);
        PyObject *made = item ? map_structure(item, leaf, context) : NULL;
        if (!made || PyList_SetItem(list, i, made) < 0)
            Py_CLEAR(list);
    }
    if (!list || PyList_Check(value))
        return list;
    PyObject *out =
        PyObject_HasAttrString(value, "_make") ? PyObject_CallMethod(value, "_make", "(O)", list) : PyList_AsTuple(list);
    Py_DECREF(list);
    return out;
}

static PyObject *map_dict(PyObject *value, leaf_function *leaf, void *context)
{
    tw__py_auto PyObject *pairs = PyDict_Items(value); /* `leaf` may run code that changes the dict */
    PyObject *out = pairs ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; out && i < PyList_Size(pairs); i++) {
        PyObject *pair = PyList_GetItem(pairs, i);
        tw__py_auto PyObject *made = map_structure(PyTuple_GetItem(pair, 1), leaf, context);
        if (!made || PyDict_SetItem(out, PyTuple_GetItem(pair, 0), made) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static PyObject *map_structure(PyObject *value, leaf_function *leaf, void *context)
{
    bool sequence = PyList_Check(value) || PyTuple_Check(value);
    if (!sequence && !PyDict_Check(value))
        return leaf(value, context);
    if (Py_EnterRecursiveCall(" in the inputs of a layer"))
        return NULL;
    PyObject *out = sequence ? map_sequence(value, leaf, context) : map_dict(value, leaf, context);
    Py_LeaveRecursiveCall();
    return out;
}

typedef struct conversion {
    tw_layer *layer;
    PyObject *first; /* the first tensor, borrowed */
} conversion;

static bool is_plain(PyObject *value)
{
    return PyFloat_Check(value) || PyLong_Check(value) || (PyObject_CheckBuffer(value) && !PyBytes_Check(value));
}

/* A tensor of the layer's dtype; what can't be one stays. */
static PyObject *convert_input(PyObject *value, void *context)
{
    conversion *c = context;
    if (!tw__py_is_tensor_like(value) && !is_plain(value))
        return Py_NewRef(value);
    tw_auto tw_tensor *tensor = tw__py_to_tensor(value, TW_DTYPE_NONE, TW_HINT);
    tw_tensor *ready = tensor ? tw__layer_input(c->layer, tensor) : NULL;
    if (!tensor)
        return NULL;
    PyObject *out;
    if (ready == tensor && TW_IS_TENSOR(value)) {
        tw_release(ready);
        out = Py_NewRef(value);
    } else {
        out = tw__py_wrap_tensor(ready);
    }
    if (!c->first)
        c->first = out;
    return out;
}

static PyObject *shape_of(PyObject *value, void *context)
{
    (void)context;
    return TW_IS_TENSOR(value) ? tw__py_wrap_shape(&TW_TENSOR(value)->shape) : Py_NewRef(Py_None);
}

/* The mask that goes along with a tensor, or None; tells if there is one. */
static PyObject *mask_of(PyObject *value, void *context)
{
    tw_tensor *mask = TW_IS_TENSOR(value) ? tw__mask_of(TW_TENSOR(value)) : NULL;
    if (!mask)
        return Py_NewRef(Py_None);
    *(bool *)context = true;
    return tw__py_wrap_tensor(tw_retain(mask));
}

static PyObject *note_first(PyObject *value, void *context)
{
    PyObject **first = context;
    if (!*first)
        *first = value;
    return Py_NewRef(value);
}

/* ---- the call ---- */

static bool build_own(PyObject *self, tw_layer *layer, PyObject *inputs)
{
    tw__py_auto PyObject *shapes = map_structure(inputs, shape_of, NULL);
    tw__py_auto PyObject *done = shapes ? PyObject_CallMethod(self, "build", "(O)", shapes) : NULL;
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
        tw__outside outside = tw__root_begin(); /* tensors that it makes are the layer's, not the graph's */
        bool good = layer->built || build_own(self, layer, inputs);
        tw__outside_end(outside);
        tw__tracing_end();
        return good;
    }
    tw_shape unknown = TW_UNKNOWN_SHAPE;
    if (tw__layer_build(layer, first ? &TW_TENSOR(first)->shape : &unknown) == TW_OK)
        return true;
    tw__py_raise();
    return false;
}

/* A list, tuple or dict of shapes, not the sizes of one. */
static bool several_shapes(PyObject *value)
{
    tw__py_auto PyObject *first =
        (PyList_Check(value) || PyTuple_Check(value)) && PySequence_Size(value) ? PySequence_GetItem(value, 0) : NULL;
    return PyDict_Check(value) ||
           (first && (Py_TYPE(first) == tw__py_shape_type || PyList_Check(first) || PyTuple_Check(first) || PyDict_Check(first)));
}

/* Layer.build: a `build` of the program's own passes on the shapes of several inputs, of which the base class needs none. */
PyObject *tw__py_layer_build(PyObject *function, PyObject *const *arguments, size_t size, PyObject *names)
{
    if (names || TW_VECTOR_COUNT(size) != 2 || !several_shapes(arguments[1]))
        return tw__py_function_call(function, arguments, size, names);
    PyObject *const unknown[] = { arguments[0], Py_None };
    return tw__py_function_call(function, unknown, 2, NULL);
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

/* The mask of the output, and the activity regularizer. masks: of the inputs, in their structure, or None. */
static bool finish(PyObject *self, tw_layer *layer, PyObject *inputs, tw_tensor *first, PyObject *masks, PyObject *result)
{
    if (!TW_IS_TENSOR(result))
        return true;
    tw__py_auto PyObject *made = NULL;
    bool own = tw__py_overrides(self, "compute_mask"), good = true;
    if (own) {
        made = PyObject_CallMethod(self, "compute_mask", "(OO)", inputs, masks);
        good = made != NULL;
    }
    PyObject *found = NULL;
    tw__py_auto PyObject *same = good ? map_structure(own ? made : masks, note_first, &found) : NULL;
    tw_auto tw_tensor *mask = same && found && found != Py_None ? tw__py_to_tensor(found, TW_DTYPE_NONE, TW_HINT) : NULL;
    if (!same || (found && found != Py_None && !mask))
        return false;
    if ((own ? tw__mask_set(TW_TENSOR(result), mask) : tw__layer_finish(layer, first, mask, TW_TENSOR(result))) == TW_OK)
        return true;
    tw__py_raise();
    return false;
}

/* The arguments of one call. */
typedef struct own_call {
    call_description takes;
    PyObject *inputs, *named; /* references; `named` is a dict of this call's own */
    PyObject *others;         /* a tuple: further positional arguments; a reference */
    PyObject *masks;          /* of the inputs; a reference */
    PyObject *choice;         /* what says `training` when the graph runs, or NULL; a reference */
    int training;
} own_call;

/* What stands at a place of the positional arguments or under a name; borrowed, NULL: it was not passed. */
static PyObject *passed(const own_call *c, Py_ssize_t at, const char *name)
{
    PyObject *value = PyDict_GetItemString(c->named, name);
    return value ? value : at >= 0 && at < PyTuple_Size(c->others) ? PyTuple_GetItem(c->others, at) : NULL;
}

/* Sets an argument where it was passed, else by name. */
static bool pass(own_call *c, Py_ssize_t at, const char *name, PyObject *value)
{
    Py_ssize_t count = PyTuple_Size(c->others);
    if (at < 0 || at >= count)
        return PyDict_SetItemString(c->named, name, value) == 0;
    PyObject *made = PyTuple_New(count);
    for (Py_ssize_t i = 0; made && i < count; i++)
        PyTuple_SetItem(made, i, Py_NewRef(i == at ? value : PyTuple_GetItem(c->others, i)));
    Py_DECREF(c->others);
    c->others = made;
    return made != NULL;
}

/* The first that says something: the caller, the layers around, the function's default. A function without the argument passes it
 * on to the layers inside. */
static bool settle_training(own_call *c)
{
    bool takes = c->takes.flags & TAKES_TRAINING;
    PyObject *said = passed(c, takes ? c->takes.training_at : -1, "training");
    PyObject *choice = tw__py_is_choice(said) ? said : said && said != Py_None ? NULL : tw__py_outer_choice();
    if (choice && tw__tracing) {
        c->training = -1;
        c->choice = Py_NewRef(choice);
        return takes ? said == choice || pass(c, c->takes.training_at, "training", choice)
                     : !said || PyDict_DelItemString(c->named, "training") == 0;
    }
    if (!takes) {
        c->training = tw__py_outer_training();
        return !said || (tw__py_read_training(said, &c->training) && PyDict_DelItemString(c->named, "training") == 0);
    }
    if (said && said != Py_None)
        return tw__py_read_training(said, &c->training);
    c->training = tw__py_outer_training();
    PyObject *value = c->training < 0 ? c->takes.default_training : c->training ? Py_True : Py_False;
    return (c->training >= 0 || tw__py_read_training(value, &c->training)) && pass(c, c->takes.training_at, "training", value);
}

/* Masks that the caller gives, else those that come along with the inputs. */
static bool settle_masks(own_call *c)
{
    bool takes = c->takes.flags & TAKES_MASK, any = false;
    PyObject *said = passed(c, takes ? c->takes.mask_at : -1, "mask");
    if (said) {
        c->masks = Py_NewRef(said);
        return true;
    }
    c->masks = map_structure(c->inputs, mask_of, &any);
    if (c->masks && !any) {
        Py_DECREF(c->masks);
        c->masks = Py_NewRef(Py_None);
    }
    return c->masks && (!any || !takes || PyDict_SetItemString(c->named, "mask", c->masks) == 0);
}

/* The arguments as the program gave them, the inputs apart. */
static bool read_call(own_call *c, PyObject *arguments, PyObject *keywords)
{
    c->named = keywords ? PyDict_Copy(keywords) : PyDict_New();
    Py_ssize_t count = PyTuple_Size(arguments);
    c->others = PyTuple_GetSlice(arguments, 1, count);
    if (!c->named || !c->others)
        return false;
    PyObject *inputs = count ? PyTuple_GetItem(arguments, 0) : PyDict_GetItem(c->named, c->takes.first_name);
    if (!inputs) {
        tw__py_error(PyExc_ValueError, "The first argument to `Layer.call` must always be passed.");
        return false;
    }
    c->inputs = Py_NewRef(inputs);
    return count || PyDict_DelItem(c->named, c->takes.first_name) == 0;
}

/* A layer that can't be traced says the shapes of its outputs instead. */
static PyObject *run_untraced(PyObject *self, PyObject *ready)
{
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._step_functions");
    return module ? PyObject_CallMethod(module, "dynamic_outputs", "OO", self, ready) : NULL;
}

static PyObject *run(PyObject *self, own_call *c, PyObject *ready)
{
    if (tw__connecting && tw__layer_is_dynamic((tw_layer *)tw__py_handle(self)))
        return run_untraced(self, ready);
    tw__py_auto PyObject *method = tw__py_converted(PyObject_GetAttrString(self, "call"));
    tw__py_auto PyObject *first = method ? PyTuple_Pack(1, ready) : NULL;
    tw__py_auto PyObject *arguments = first ? PySequence_Concat(first, c->others) : NULL;
    PyObject *result = arguments ? PyObject_Call(method, arguments, c->named) : NULL;
    if (arguments && !result)
        tw__py_layer_failed(self, arguments, c->named);
    return result;
}

static bool note_inputs(tw_layer *model, PyObject *inputs)
{
    tw_value value = { .kind = TW_VALUE_NONE };
    bool good = tw__py_read_value(inputs, &value);
    if (good)
        tw__model_called(model, &value);
    tw_value_free(&value);
    return good;
}

static PyObject *call_own(PyObject *self, tw_layer *layer, own_call *c)
{
    conversion converted = { .layer = layer };
    tw__py_auto PyObject *ready = map_structure(c->inputs, convert_input, &converted);
    if (!ready)
        return NULL;
    PyObject *first = converted.first;
    if (tw__model_is_new(layer) && !note_inputs(layer, ready))
        return NULL;
    if (tw__layer_begin(layer) != TW_OK)
        return tw__py_raise();
    int outer = tw__py_training_begin(c->training);
    PyObject *outer_choice = tw__py_choice_begin(c->choice);
    PyObject *result = build(self, layer, ready, first) ? run(self, c, ready) : NULL;
    tw__py_choice_end(outer_choice);
    tw__py_training_end(outer);
    if (result && first && !finish(self, layer, ready, TW_TENSOR(first), c->masks, result))
        Py_CLEAR(result);
    tw__layer_end(layer);
    return result;
}

PyObject *tw__py_call_own(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords)
{
    tw__py_auto PyObject *function = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "call");
    tw__py_auto PyObject *description = function ? describe_call(Py_TYPE(self), function) : NULL;
    if (!description)
        return NULL;
    own_call c = { .takes = read_description(description) };
    PyObject *result =
        read_call(&c, arguments, keywords) && settle_masks(&c) && settle_training(&c) ? call_own(self, layer, &c) : NULL;
    Py_XDECREF(c.inputs);
    Py_XDECREF(c.named);
    Py_XDECREF(c.others);
    Py_XDECREF(c.masks);
    Py_XDECREF(c.choice);
    return result;
}
