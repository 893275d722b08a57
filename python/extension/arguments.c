/* Python arguments into the C struct of a row, by its field table. Most values are borrowed from Python for the time of the call;
 * what has to be made (tensors, lists) is kept in the frame and given back at its end.
 *
 * Tensor arguments come last: their dtype may follow from others ("tensor<T>": the first that is a tensor decides;
 * "tensor<dtype>"). */
#include <math.h>

#include "extension.h"
#include "function_call.h"

typedef struct context {
    tw__py_function *function;
    const tw_signature *signature;
    tw__py_frame *frame;
    PyObject *const *given;
    char *args;
} context;

/* ---- kinds ---- */

static bool wrong(const context *c, const tw_field *field, const char *expected, PyObject *value)
{
    tw__py_error(PyExc_TypeError, "%s(): the argument '%s' must be %s, got %R of type %R", c->function->name, field->name,
                 expected, value, Py_TYPE(value));
    return false;
}

static bool read_int(const context *c, const tw_field *field, PyObject *value, int64_t *out)
{
    tw__py_auto PyObject *index = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;
    PyErr_Clear();
    if (!index && tw__py_is_variable(value)) { /* a step counter, say */
        PyObject *number = PyNumber_Long(value);
        index = number;
    }
    if (!index)
        return wrong(c, field, "an integer", value);
    *out = PyLong_AsLongLong(index);
    return !(*out == -1 && PyErr_Occurred());
}

static bool read_ints(const context *c, const tw_field *field, PyObject *value, tw_ints *out)
{
    bool several = PySequence_Check(value) && PySequence_Size(value) >= 0; /* arrays may be indices, too, as long as one is run */
    PyErr_Clear();
    if (PyIndex_Check(value) && !several) {
        int64_t *one = tw__py_keep_block(c->frame, sizeof *one);
        *out = (tw_ints){ one, 1, true, true };
        return one && read_int(c, field, value, one);
    }
    PyObject *items = PyUnicode_Check(value) ? NULL : PySequence_List(value);
    bool edges = strcmp(field->name, "padding") == 0 || strcmp(field->name, "cropping") == 0; /* ((top, bottom), (left, right)) */
    for (Py_ssize_t i = 0; edges && items && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i);
        tw__py_auto PyObject *flat = NULL;
        if ((PyTuple_Check(pair) || PyList_Check(pair)) && (flat = PySequence_List(pair)))
            PyList_SetSlice(items, i, i + 1, flat);
    }
    if (!items) {
        PyErr_Clear();
        return wrong(c, field, "an integer or a list of integers", value);
    }
    Py_ssize_t count = PyList_Size(items);
    int64_t *list = tw__py_keep_block(c->frame, (size_t)count * sizeof *list);
    bool good = list != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = read_int(c, field, PyList_GetItem(items, i), &list[i]);
    Py_DECREF(items);
    *out = (tw_ints){ list, count, true, false };
    return good;
}

static bool is_class(const void *object, const char *word, const tw_class *class)
{
    if (class && tw__is(object, class)) /* most often */
        return true;
    return strcmp(word, "object") == 0 || (strcmp(word, "trackable") == 0 && tw__is(object, &tw__trackable_class));
}

/* An object for a handle, a name or a number: borrowed from the wrapper, or kept in the frame. NULL without an exception: not
 * one. */
static void *read_object(const context *c, const tw_field *field, PyObject *value, const tw_class *class)
{
    const char *word = field->word ? field->word : "object";
    if (TW_IS_TENSOR(value))
        return strcmp(word, "object") == 0 ? TW_TENSOR(value) : NULL;
    if (tw__py_is_object(value)) {
        void *object = tw__py_self(value);
        if (class == &tw__class_layer && tw__py_is_keras_tensor(value)) /* keras.Input() in the place of an InputLayer */
            return tw__py_input_layer(value);
        if (object && is_class(object, word, class))
            return object;
        if (strcmp(word, "function") != 0 || !PyCallable_Check(value)) /* layers and the like are functions of elements, too */
            return NULL;
    }
    if (strcmp(word, "trackable") == 0) {
        void *container = tw__py_trackable(value);
        return tw__py_keep_object(c->frame, container) ? container : NULL;
    }
    if (strcmp(word, "function") == 0) {
        bool plain = Py_TYPE(value) == tw__py_graph_function_type; /* others are called while it is traced */
        void *graph = plain ? tw__py_graph_function_of(value) : NULL, *made = graph ? NULL : tw__py_element_function(value);
        return graph ? graph : tw__py_keep_object(c->frame, made) ? made : NULL;
    }
    if (strcmp(word, "callable") == 0 && PyCallable_Check(value)) {
        void *made = tw__py_make_callable(value);
        return tw__py_keep_object(c->frame, made) ? made : NULL;
    }
    return NULL;
}

static bool read_handle(const context *c, const tw_field *field, PyObject *value, const tw_class *class, void **out)
{
    *out = read_object(c, field, value, class);
    if (*out || PyErr_Occurred())
        return *out != NULL;
    if (class == &tw__class_layer)
        tw__py_error(PyExc_TypeError, "The added layer must be an instance of class Layer. Received: layer=%R of type %R.", value,
                     Py_TYPE(value));
    else
        wrong(c, field, class ? class->name : field->word, value);
    return false;
}

static bool append_handles(const context *c, const tw_field *field, PyObject *value, const tw_class *class, PyObject *flat)
{
    if (PyList_Check(value) || PyTuple_Check(value)) {
        if (Py_EnterRecursiveCall(" in a nested list"))
            return false;
        Py_ssize_t count = PySequence_Size(value);
        bool good = true;
        for (Py_ssize_t i = 0; good && i < count; i++) {
            tw__py_auto PyObject *item = PySequence_GetItem(value, i);
            good = item && append_handles(c, field, item, class, flat);
        }
        Py_LeaveRecursiveCall();
        return good;
    }
    return PyList_Append(flat, value) == 0;
}

static bool read_handles(const context *c, const tw_field *field, PyObject *value, const tw_class *class, tw_objects *out)
{
    PyObject *flat = PyList_New(0);
    bool iterable = !TW_IS_TENSOR(value) && !tw__py_is_object(value) && !PyList_Check(value) && !PyTuple_Check(value);
    PyObject *list = flat && iterable ? PySequence_List(value) : NULL; /* generators, zips, dict views */
    PyErr_Clear();
    bool good = flat && append_handles(c, field, list ? list : value, class, flat);
    Py_XDECREF(list);
    Py_ssize_t count = good ? PyList_Size(flat) : 0;
    void **items = good ? tw__py_keep_block(c->frame, (size_t)count * sizeof *items) : NULL;
    good = items != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = read_handle(c, field, PyList_GetItem(flat, i), class, &items[i]);
    *out = (tw_objects){ items, count };
    if (!tw__py_keep_python(c->frame, flat))
        good = false;
    return good;
}

static bool read_pairs(const context *c, const tw_field *field, PyObject *rest, const tw_class *class, tw_pairs *out)
{
    Py_ssize_t count = rest ? PyDict_Size(rest) : 0, position = 0, at = 0;
    tw_pair *items = tw__py_keep_block(c->frame, (size_t)count * sizeof *items);
    PyObject *key, *value;
    bool good = items != NULL;
    while (good && rest && PyDict_Next(rest, &position, &key, &value)) {
        const char *name = tw__py_text(c->frame, key, c->function->name, field->name);
        void *object = NULL;
        good = name && read_handle(c, field, value, class, &object);
        if (name && !good && field->word && strcmp(field->word, "trackable") == 0) {
            PyErr_Clear();
            tw__py_error(PyExc_ValueError,
                         "`%s` was expecting %s to be a trackable object (an object derived from `Trackable`), got %R. If you "
                         "believe this "
                         "object should be trackable (i.e. it is part of the TensorFlow Python API and manages state), please "
                         "open an issue.",
                         c->function->name, name, value);
        }
        if (good)
            items[at++] = (tw_pair){ name, object };
    }
    *out = (tw_pairs){ items, at };
    return good;
}

static bool read_named(const context *c, const tw_field *field, PyObject *value, tw_named *out)
{
    PyObject *own = PyUnicode_Check(value) && field->word ? tw__py_custom_object(value) : NULL;
    if (own)
        return tw__py_keep_python(c->frame, own) && read_named(c, field, own, out);
    if (PyUnicode_Check(value))
        return (*out = tw__py_text(c->frame, value, c->function->name, field->name)) != NULL;
    if (PyType_Check(value)) { /* a class stands for an object made without arguments */
        PyObject *made = PyObject_CallNoArgs(value);
        *out = made && tw__py_is_object(made) ? tw__py_self(made) : NULL;
        if (!made || !tw__py_keep_python(c->frame, made))
            return false;
        return *out || wrong(c, field, "a name or an object", value);
    }
    if (tw__py_is_object(value))
        return (*out = tw__py_self(value)) != NULL;
    if (Py_TYPE(value) == tw__py_function_type && field->word) {
        /* A function of the library itself goes by its name, so that C calls it without Python. */
        tw__py_function *function = (tw__py_function *)value;
        char path[120];
        snprintf(path, sizeof path, "keras.%ss.%s", field->word, function->name);
        if (tw_signature_find(path) || (strcmp(field->word, "activation") == 0 && tw__activation_is_known(function->name))) {
            *out = function->name;
            return true;
        }
    }
    if (PyCallable_Check(value)) {
        void *made = tw__py_named_callable(value, field->word);
        *out = made;
        return tw__py_keep_object(c->frame, made);
    }
    if (PyDict_Check(value)) { /* as in a config */
        void *made = tw__py_from_config(value, field->word);
        *out = made;
        return made && tw__py_keep_object(c->frame, made);
    }
    return wrong(c, field, "a name, an object or a function", value);
}

static bool read_number(const context *c, const tw_field *field, PyObject *value, double *out, void **object)
{
    *object = NULL;
    bool variable = tw__py_is_variable(value);
    if (tw__py_is_symbolic(value))
        return (*object = TW_TENSOR(value)) != NULL;
    if (tw__py_is_object(value) &&
        (!variable || ((tw_variable *)tw__py_self(value))->graph)) /* of a graph: its value is the session's */
        return (*object = tw__py_self(value)) != NULL;
    *out = PyFloat_AsDouble(value);
    if (*out != -1 || !PyErr_Occurred())
        return true;
    PyErr_Clear();
    if (PyCallable_Check(value) && tw__py_keep_object(c->frame, *object = tw__py_make_callable(value)))
        return true;
    return PyErr_Occurred() ? false : wrong(c, field, "a number", value);
}

static bool keep_value(const context *c, const tw_field *field, PyObject *value, tw_value *place);

/* A function in place of a shape goes to the argument NAME_function, where there is one. */
static bool read_shape_function(const context *c, const tw_field *field, PyObject *value, tw_shape *place)
{
    char name[80];
    snprintf(name, sizeof name, "%s_function", field->name);
    for (int i = 0; i < c->signature->field_count; i++) {
        const tw_field *other = &c->signature->fields[i];
        if (strcmp(other->name, name) != 0 || other->kind != TW_KIND_VALUE)
            continue;
        *place = TW_UNKNOWN_SHAPE;
        return keep_value(c, other, value, (tw_value *)(void *)(c->args + other->offset));
    }
    return tw__py_as_shape(value, place);
}

static bool keep_value(const context *c, const tw_field *field, PyObject *value, tw_value *place)
{
    const char *word = field->word ? field->word : "";
    bool element = strcmp(word, "element") == 0, spec = strcmp(word, "spec") == 0, arrays = strcmp(word, "arrays") == 0;
    if (c->frame->value_count == (int)(sizeof c->frame->values / sizeof c->frame->values[0])) {
        tw__py_error(PyExc_TypeError, "%s(): too many arguments of any kind", c->function->name);
        return false;
    }
    bool good = element || spec || arrays ? tw__py_read_element(value,
                                                                spec     ? TW_PY_SPECS
                                                                : arrays ? TW_PY_ARRAYS
                                                                         : TW_PY_TENSORS,
                                                                place)
                                          : tw__py_read_value(value, place);
    c->frame->values[c->frame->value_count++] = place;
    return good;
}

/* ---- tensors ---- */

static int find_field(const tw_signature *signature, const char *name)
{
    for (int i = 0; i < signature->field_count; i++) {
        if (strcmp(signature->fields[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* The dtype that an argument "tensor<WORD>" has to have or should have. Tensors for a "tensor<cast>" stay as they are: the row
 * casts them itself. */
static tw_dtype wanted_dtype(const context *c, const tw_field *wanting, tw__py_how *how)
{
    const char *word = wanting->word;
    *how = TW_HINT;
    if (!word)
        return TW_DTYPE_NONE;
    if (wanting->word_dtype != TW_DTYPE_NONE) {
        *how = TW_DEFAULT;
        return wanting->word_dtype;
    }
    if (strcmp(word, "cast") == 0 || (wanting->forces && strcmp(word, "dtype") == 0)) {
        int at = find_field(c->signature, "dtype");
        tw_dtype dtype = at >= 0 ? *(tw_dtype *)(c->args + c->signature->fields[at].offset) : TW_DTYPE_NONE;
        int hint = dtype == TW_DTYPE_NONE ? find_field(c->signature, "dtype_hint") : -1;
        *how = hint >= 0 ? TW_HINT : TW_FORCE;
        return hint >= 0 ? *(tw_dtype *)(c->args + c->signature->fields[hint].offset) : dtype;
    }
    if (wanting->forces || strcmp(word, "own") == 0) {
        PyObject *self = c->given[0];
        *how = wanting->forces ? TW_FORCE : *how;
        return tw__py_is_variable(self) ? ((tw_variable *)tw__py_handle(self))->resource->dtype : tw__py_dtype_of_value(self);
    }
    int other = find_field(c->signature, word);
    if (other >= 0 && c->given[other]) { /* as another argument has it */
        tw_dtype dtype = tw__py_dtype_of_value(c->given[other]);
        *how = TW_FORCE;
        return dtype == TW_DTYPE_NONE ? tw__py_array_dtype(c->given[other]) : dtype;
    }
    /* A group: the first member that is a tensor decides, for the others too unless the word is "hint"; of "first" the first
     * member alone, which is made a tensor without looking at the others. */
    bool first = strcmp(word, "first") == 0;
    for (int i = 0; i < c->signature->field_count; i++) {
        const tw_field *field = &c->signature->fields[i];
        PyObject *value = c->given[i];
        if (!value || !field->word || strcmp(field->word, word) != 0)
            continue;
        tw_dtype dtype = TW_DTYPE_NONE;
        if (field->kind == TW_KIND_TENSOR) {
            dtype = tw__py_dtype_of_value(value);
        } else if (field->kind == TW_KIND_TENSORS && (PyList_Check(value) || PyTuple_Check(value))) {
            Py_ssize_t count = PySequence_Size(value);
            for (Py_ssize_t k = 0; dtype == TW_DTYPE_NONE && k < count; k++) {
                tw__py_auto PyObject *item = PySequence_GetItem(value, k);
                dtype = item ? tw__py_dtype_of_value(item) : TW_DTYPE_NONE;
            }
        }
        if (dtype != TW_DTYPE_NONE) {
            *how = first || strcmp(word, "hint") == 0 ? TW_HINT : TW_MATCH;
            return dtype;
        }
        if (first)
            break;
    }
    return TW_DTYPE_NONE;
}

/* Numbers alone in a group: [1, 2.5] gives two floats. */
static tw_dtype dtype_of_all(PyObject *list)
{
    tw_dtype found = TW_DTYPE_NONE;
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (PyFloat_CheckExact(item))
            return TW_FLOAT32;
        if (!PyLong_CheckExact(item))
            return TW_DTYPE_NONE;
    }
    return found;
}

/* tf.stack along the first axis makes a tensor of the whole list, if it can: the list says its dtype, not the first member. */
static tw_dtype dtype_of_stack(const context *c, PyObject *list)
{
    PyObject *first = PyList_Size(list) > 0 ? PyList_GetItem(list, 0) : NULL;
    bool arrays = first && PyObject_CheckBuffer(first);
    if (!first || tw__py_is_tensor_like(first) || strcmp(c->function->name, "stack") != 0 ||
        ((const tw_stack_args *)(void *)c->args)->axis != 0 || (tw__tracing && arrays))
        return TW_DTYPE_NONE;
    tw_tensor *whole = tw__py_to_tensor(list, TW_DTYPE_NONE, TW_HINT);
    tw_dtype dtype = whole ? whole->dtype : TW_DTYPE_NONE;
    tw_release(whole);
    PyErr_Clear();
    return dtype;
}

static bool fill_tensors(context *c, const tw_field *field, PyObject *value, tw_tensors *out, tw_dtype *group)
{
    if (tw__py_takes_array(field))
        return tw__py_fill_arrays(&(tw__py_operands){ c->signature, c->frame, c->given }, field, value, out);
    tw__py_how how;
    tw_dtype dtype = wanted_dtype(c, field, &how);
    if (dtype == TW_DTYPE_NONE)
        dtype = *group;
    bool whole = TW_IS_TENSOR(value) || tw__py_is_variable(value) || tw__py_composite(value);
    PyObject *list = whole ? NULL : PySequence_List(value);
    if (!whole && !list) {
        PyErr_Clear();
        whole = true;
    }
    if (whole)
        list = Py_BuildValue("[O]", value);
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    tw_tensor **items = list ? tw__py_keep_block(c->frame, (size_t)count * sizeof *items) : NULL;
    bool good = items != NULL;
    if (good && dtype == TW_DTYPE_NONE && field->word)
        dtype = dtype_of_all(list);
    if (good && dtype == TW_DTYPE_NONE && field->word)
        dtype = dtype_of_stack(c, list);
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (item == Py_None && field->none_allowed)
            continue;
        void *composite = TW_IS_TENSOR(item) ? NULL : tw__py_composite(item);
        if (composite && tw__takes_composite(c->signature, composite)) {
            good = tw__py_mixed_list(c->frame, c->signature, (int)(field - c->signature->fields), list, dtype, how);
            break;
        }
        items[i] = tw__py_to_tensor(item, dtype, how);
        good = tw__py_keep_object(c->frame, items[i]);
        if (good && dtype == TW_DTYPE_NONE && field->word)
            dtype = items[i]->dtype;
    }
    if (good && field->word && *group == TW_DTYPE_NONE && how != TW_FORCE)
        *group = dtype;
    Py_XDECREF(list);
    *out = (tw_tensors){ items, count };
    return good;
}

static bool same_kind(tw_dtype is, tw_dtype wanted)
{
    return is == wanted || tw__dtype_is_integer(is) == tw__dtype_is_integer(wanted);
}

static bool fill_tensor(context *c, const tw_field *field, PyObject *value, tw_tensor **out, tw_dtype *group)
{
    if (TW_IS_TENSOR(value) && !field->forces) {
        *out = TW_TENSOR(value);
        return true;
    }
    if (tw__py_takes_array(field))
        return tw__py_fill_array(&(tw__py_operands){ c->signature, c->frame, c->given }, field, value, out);
    tw__py_how how;
    tw_dtype dtype = wanted_dtype(c, field, &how);
    if (TW_IS_TENSOR(value) && (how != TW_FORCE || dtype == TW_DTYPE_NONE || TW_TENSOR(value)->dtype == dtype)) {
        *out = TW_TENSOR(value);
        return true;
    }
    bool grouped = field->word && how != TW_FORCE && field->word_dtype == TW_DTYPE_NONE;
    if (dtype == TW_DTYPE_NONE && grouped)
        dtype = *group;
    void *composite = tw__py_composite(value);
    if (composite && tw__takes_composite(c->signature, composite))
        return tw__py_mixed_value(c->frame, c->signature, (int)(field - c->signature->fields), composite);
    *out = tw__py_to_tensor(value, dtype, how);
    if (*out && how != TW_FORCE && field->word && !grouped && !tw__py_is_tensor_like(value) && !same_kind((*out)->dtype, dtype)) {
        tw__py_error(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", value, tw__py_c_name(dtype));
        tw_release(*out);
        *out = NULL;
    }
    if (*out && grouped && *group == TW_DTYPE_NONE)
        *group = (*out)->dtype;
    return tw__py_keep_object(c->frame, *out);
}

/* ---- all of them ---- */

static bool fill_field(context *c, int index, PyObject *value)
{
    const tw_field *field = &c->signature->fields[index];
    void *place = c->args + field->offset;
    const tw_class *class = c->function->classes[index];
    if (value == Py_None && field->kind != TW_KIND_SHAPE && field->kind != TW_KIND_VALUE) {
        switch (field->kind) {
        case TW_KIND_INT:
            *(int64_t *)place = TW_NO_INT;
            break;
        case TW_KIND_FLOAT:
        case TW_KIND_NUMBER:
            *(double *)place = NAN;
            break;
        case TW_KIND_BOOL:
            *(bool *)place = field->none_allowed && field->default_int; /* the default */
            return true;
        case TW_KIND_INTS:
            *(tw_ints *)place = (tw_ints){ 0 };
            break;
        case TW_KIND_TENSORS:
        case TW_KIND_HANDLES:
            *(tw_objects *)place = (tw_objects){ 0 };
            break;
        case TW_KIND_DTYPE:
            *(tw_dtype *)place = TW_DTYPE_NONE;
            break;
        default:
            *(void **)place = NULL;
        }
        if (field->none_allowed || (field->kind == TW_KIND_STR && strcmp(field->name, "name") == 0))
            return true;
        return wrong(c, field, "given", value);
    }
    switch (field->kind) {
    case TW_KIND_INT:
        return read_int(c, field, value, place);
    case TW_KIND_FLOAT:
        *(double *)place = PyFloat_AsDouble(value);
        if (*(double *)place == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return wrong(c, field, "a number", value);
        }
        return true;
    case TW_KIND_BOOL: {
        int is = PyObject_IsTrue(value);
        *(bool *)place = is > 0;
        return is >= 0;
    }
    case TW_KIND_STR:
        return (*(const char **)place = tw__py_text(c->frame, value, c->function->name, field->name)) != NULL;
    case TW_KIND_DTYPE:
        return tw__py_worded_dtype(field->word, value, place);
    case TW_KIND_SHAPE:
        return PyCallable_Check(value) ? read_shape_function(c, field, value, place) : tw__py_as_shape(value, place);
    case TW_KIND_INTS:
        return read_ints(c, field, value, place);
    case TW_KIND_HANDLE:
        return read_handle(c, field, value, class, place);
    case TW_KIND_HANDLES:
        return read_handles(c, field, value, class, place);
    case TW_KIND_NAMED:
        return read_named(c, field, value, place);
    case TW_KIND_NUMBER:
        return read_number(c, field, value, place, (void **)place + 1);
    case TW_KIND_VALUE:
        return keep_value(c, field, value, place);
    default:
        return true;
    }
}

bool tw__py_fill(tw__py_function *function, tw__py_frame *frame, PyObject *const *given, PyObject *rest, void *args)
{
    context c = { function, function->signature, frame, given, args };
    int tensors = 0;
    for (int i = 0; i < c.signature->field_count; i++) {
        const tw_field *field = &c.signature->fields[i];
        if (field->kind == TW_KIND_TENSOR || field->kind == TW_KIND_TENSORS) {
            tensors += given[i] != NULL;
        } else if (field->kind == TW_KIND_PAIRS) {
            if (!read_pairs(&c, field, rest, function->classes[i], (tw_pairs *)(c.args + field->offset)))
                return false;
        } else if (given[i]) {
            if (!fill_field(&c, i, given[i]))
                return false;
            if (field->has_minimum || field->has_choices) {
                if (given[i] != Py_None && tw_args_check(c.signature, field, args) != TW_OK) {
                    tw__py_raise();
                    return false;
                }
            }
        }
    }
    tw_dtype group = TW_DTYPE_NONE;
    for (int i = 0; tensors && i < c.signature->field_count; i++) {
        const tw_field *field = &c.signature->fields[i];
        PyObject *value = given[i];
        if (!value || (field->kind != TW_KIND_TENSOR && field->kind != TW_KIND_TENSORS))
            continue;
        if (value == Py_None && field->none_allowed)
            continue;
        void *place = c.args + field->offset;
        if (field->kind == TW_KIND_TENSOR ? !fill_tensor(&c, field, value, place, &group)
                                          : !fill_tensors(&c, field, value, place, &group))
            return false;
    }
    return true;
}
