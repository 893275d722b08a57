/* Session.run at its shortest. A Runner knows the runs of a session by patterns: the fetched objects by identity (one, or those
 * of a list or tuple) and the keys of the feed_dict by identity, in order. A run that fits a pattern needs no Python code; any
 * other is read by thalweg/_graph_mode/session.py, which tells the runner with `remember`. Patterns are few and the last one used
 * stands first. */
#include "extension.h"

enum { PATTERN_LIMIT = 32, LEAF_LIMIT = 64 };

typedef enum fetch_form { ONE, LIST, TUPLE } fetch_form;

typedef struct pattern {
    fetch_form form;
    int fetch_count, feed_count;
    PyObject **fetches, **keys;
    tw__edge *feeds;
    bool *operations;       /* per fetch: it gives None */
    tw__prepared *prepared; /* the session's */
} pattern;

typedef struct runner {
    PyObject_HEAD struct tw_session *session;
    pattern *patterns[PATTERN_LIMIT];
    int pattern_count;
} runner;

static PyTypeObject *runner_type, *ndarray_type;

static void end_pattern(pattern *p)
{
    for (int i = 0; i < p->fetch_count; i++)
        Py_XDECREF(p->fetches[i]);
    for (int i = 0; i < p->feed_count; i++)
        Py_XDECREF(p->keys[i]);
    tw__free(p->fetches);
    tw__free(p->keys);
    tw__free(p->feeds);
    tw__free(p->operations);
    tw__free(p);
}

static void end(PyObject *self)
{
    runner *r = (runner *)self;
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    while (r->pattern_count)
        end_pattern(r->patterns[--r->pattern_count]);
    tw_release(r->session);
    PyObject_GC_Del(self);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    runner *r = (runner *)self;
    Py_VISIT(Py_TYPE(self));
    for (int k = 0; k < r->pattern_count; k++) {
        for (int i = 0; i < r->patterns[k]->fetch_count; i++)
            Py_VISIT(r->patterns[k]->fetches[i]);
        for (int i = 0; i < r->patterns[k]->feed_count; i++)
            Py_VISIT(r->patterns[k]->keys[i]);
    }
    return 0;
}

static PyObject *forget(PyObject *self, PyObject *unused)
{
    (void)unused;
    runner *r = (runner *)self;
    while (r->pattern_count)
        end_pattern(r->patterns[--r->pattern_count]);
    Py_RETURN_NONE;
}

static int clear(PyObject *self)
{
    Py_XDECREF(forget(self, NULL));
    return 0;
}

/* The fetched objects, borrowed; -1: more than are looked for by identity. */
static int leaves_of(PyObject *fetches, PyObject **leaves, fetch_form *form)
{
    *form = PyList_CheckExact(fetches) ? LIST : PyTuple_CheckExact(fetches) ? TUPLE : ONE;
    if (*form == ONE) {
        leaves[0] = fetches;
        return 1;
    }
    Py_ssize_t count = *form == LIST ? PyList_Size(fetches) : PyTuple_Size(fetches);
    if (count > LEAF_LIMIT)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        leaves[i] = *form == LIST ? PyList_GetItem(fetches, i) : PyTuple_GetItem(fetches, i);
    return (int)count;
}

/* Keys and values of the feed_dict, borrowed; -1: it is none, or has more than are looked for. */
static int feeds_of(PyObject *feed_dict, PyObject **keys, PyObject **values)
{
    if (feed_dict == Py_None)
        return 0;
    if (!PyDict_CheckExact(feed_dict) || PyDict_Size(feed_dict) > LEAF_LIMIT)
        return -1;
    Py_ssize_t at = 0;
    int count = 0;
    while (PyDict_Next(feed_dict, &at, &keys[count], &values[count]))
        count++;
    return count;
}

static pattern *find(runner *r, fetch_form form, PyObject *const *leaves, int fetch_count, PyObject *const *keys, int feed_count)
{
    for (int i = 0; i < r->pattern_count; i++) {
        pattern *p = r->patterns[i];
        if (p->form != form || p->fetch_count != fetch_count || p->feed_count != feed_count ||
            memcmp(p->fetches, leaves, (size_t)fetch_count * sizeof *leaves) != 0 ||
            (feed_count && memcmp(p->keys, keys, (size_t)feed_count * sizeof *keys) != 0))
            continue;
        if (i) {
            memmove(r->patterns + 1, r->patterns, (size_t)i * sizeof *r->patterns);
            r->patterns[0] = p;
        }
        return p;
    }
    return NULL;
}

/* ---- values ---- */

static PyObject *as_numpy(PyObject *value, tw_dtype dtype)
{
    PyObject *np = tw__py_numpy();
    tw__py_auto PyObject *own = np ? tw__py_wrap_dtype(dtype) : NULL;
    tw__py_auto PyObject *type = own ? PyObject_GetAttrString(own, "as_numpy_dtype") : NULL;
    PyObject *array = type ? PyObject_CallMethod(np, "asarray", "OO", value, type) : NULL;
    if (array && PyLong_CheckExact(value)) { /* a number that does not fit is not fed as another one */
        PyObject *back = PyObject_CallMethod(array, "item", NULL);
        int same = back ? PyObject_RichCompareBool(back, value, Py_EQ) : -1;
        Py_XDECREF(back);
        if (same == 0)
            tw__py_error(
                PyExc_TypeError,
                "Type of feed value %S with type %S is not compatible with Tensor type %S. Try explicitly setting the type of the "
                "feed tensor to a larger type (e.g. int64).",
                value, Py_TYPE(value), type);
        if (same <= 0)
            Py_CLEAR(array);
    }
    return array;
}

static tw_tensor *feed_value(PyObject *value, tw__edge edge)
{
    tw_dtype dtype = edge.node->out_dtypes[edge.output];
    if (TW_IS_TENSOR(value) && TW_TENSOR(value)->node) {
        tw__py_error(
            PyExc_TypeError,
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, numpy "
            "ndarrays, or TensorHandles. For reference, the tensor object was %S which was passed to the argument `feed_dict` with "
            "key %s:%d.",
            value, edge.node->name, (int)edge.output);
        return NULL;
    }
    tw_tensor *tensor = NULL;
    if (dtype == TW_STRING || TW_IS_TENSOR(value)) {
        tensor = tw__py_to_tensor(value, dtype, TW_FORCE);
    } else if (Py_TYPE(value) == ndarray_type && tw__py_array_dtype(value) == dtype) {
        tensor = tw__py_from_array(value);
    } else {
        tw__py_auto PyObject *array = as_numpy(value, dtype);
        tensor = array ? tw__py_from_array(array) : NULL;
    }
    const tw_shape *own = &edge.node->out_shapes[edge.output];
    if (!tensor || tw__shape_compatible(own, &tensor->shape))
        return tensor;
    tw__owned char *given = tw__shape_tuple(&tensor->shape), *expected = tw__shape_tuple(own);
    tw__py_error(PyExc_ValueError, "Cannot feed value of shape %s for Tensor %s:%d, which has shape %s", given ? given : "",
                 edge.node->name, (int)edge.output, expected ? expected : "");
    tw_release(tensor);
    return NULL;
}

static PyObject *pack(const pattern *p, tw_tensor **outputs)
{
    PyObject *packed = p->form == ONE ? NULL : p->form == LIST ? PyList_New(p->fetch_count) : PyTuple_New(p->fetch_count);
    bool good = p->form == ONE || packed;
    for (int i = 0, at = 0; i < p->fetch_count; i++) {
        PyObject *item = NULL;
        if (p->operations[i]) {
            item = Py_None;
            Py_INCREF(item);
        } else {
            item = good ? tw__py_to_array(outputs[at], true, true) : NULL;
            tw_release(outputs[at++]);
        }
        if (!good)
            Py_CLEAR(item);
        else if (!item)
            good = false;
        else if (p->form == ONE)
            packed = item;
        else if (p->form == LIST)
            PyList_SetItem(packed, i, item);
        else
            PyTuple_SetItem(packed, i, item);
    }
    if (!good)
        Py_CLEAR(packed);
    return packed;
}

static PyObject *run_pattern(runner *r, pattern *p, PyObject *const *values)
{
    tw_tensor *few[2 * LEAF_LIMIT + 1], **inputs = few;
    bool many = p->feed_count > LEAF_LIMIT || p->fetch_count > LEAF_LIMIT;
    if (many && !(inputs = tw__alloc_array((size_t)p->feed_count + (size_t)p->fetch_count + 1, sizeof *inputs)))
        return tw__py_raise();
    tw_tensor **outputs = inputs + p->feed_count;
    int count = 0;
    for (; count < p->feed_count; count++) {
        inputs[count] = feed_value(values[count], p->feeds[count]);
        if (!inputs[count])
            break;
    }
    PyObject *out = NULL;
    if (count == p->feed_count) {
        PyThreadState *thread = tw__py_unlock();
        tw_status status = tw__session_run(r->session, p->prepared, inputs, outputs);
        tw__py_lock(thread);
        out = status == TW_OK ? pack(p, outputs) : tw__py_raise();
    }
    while (count-- > 0)
        tw_release(inputs[count]);
    if (many)
        tw__free(inputs);
    return out;
}

/* run(fetches, feed_dict): the results, or NotImplemented if no pattern fits. */
static PyObject *run(PyObject *self, PyObject *arguments)
{
    PyObject *fetches, *feed_dict, *leaves[LEAF_LIMIT], *keys[LEAF_LIMIT + 1], *values[LEAF_LIMIT + 1];
    if (!PyArg_ParseTuple(arguments, "OO", &fetches, &feed_dict))
        return NULL;
    runner *r = (runner *)self;
    fetch_form form;
    int fetch_count = leaves_of(fetches, leaves, &form);
    int feed_count = fetch_count < 0 ? -1 : feeds_of(feed_dict, keys, values);
    pattern *p = feed_count < 0 ? NULL : find(r, form, leaves, fetch_count, keys, feed_count);
    if (!p)
        Py_RETURN_NOTIMPLEMENTED;
    if (tw__session_check_open(r->session) != TW_OK)
        return tw__py_raise();
    return run_pattern(r, p, values);
}

/* ---- what Python tells ---- */

static bool read_fetch(PyObject *element, tw__fetch *fetch, bool *operation)
{
    struct tw_operation *op = tw__py_unwrap(element, &tw__class_operation);
    *operation = op != NULL;
    if (op)
        *fetch = (tw__fetch){ op->node, -1 };
    else if (tw__py_is_symbolic(element))
        *fetch = (tw__fetch){ TW_TENSOR(element)->node, TW_TENSOR(element)->node_output };
    else
        return tw__py_error(PyExc_TypeError, "a tensor or an operation was expected, got %R", element) != NULL;
    return true;
}

static PyObject **copy_references(PyObject *list, int count)
{
    PyObject **items = tw__alloc_array((size_t)count + 1, sizeof *items);
    for (int i = 0; items && i < count; i++) {
        items[i] = PyList_GetItem(list, i);
        Py_INCREF(items[i]);
    }
    return items;
}

static pattern *make_pattern(runner *r, int form, PyObject *leaves, PyObject *elements, PyObject *keys, PyObject *tensors)
{
    int fetch_count = (int)PyList_Size(leaves), feed_count = (int)PyList_Size(keys);
    pattern *p = tw__alloc_zero(sizeof *p);
    tw__owned tw__fetch *fetches = tw__alloc_array((size_t)fetch_count + 1, sizeof *fetches);
    bool good = p && fetches;
    if (good) {
        p->form = (fetch_form)form;
        p->feeds = tw__alloc_array((size_t)feed_count + 1, sizeof *p->feeds);
        p->operations = tw__alloc_array((size_t)fetch_count + 1, sizeof *p->operations);
        good = p->feeds && p->operations && (p->fetches = copy_references(leaves, fetch_count)) != NULL;
        p->fetch_count = good ? fetch_count : 0;
        good = good && (p->keys = copy_references(keys, feed_count)) != NULL;
        p->feed_count = good ? feed_count : 0;
    }
    if (!good)
        tw__py_raise();
    for (int i = 0; good && i < fetch_count; i++)
        good = read_fetch(PyList_GetItem(elements, i), &fetches[i], &p->operations[i]);
    for (int i = 0; good && i < feed_count; i++) {
        PyObject *tensor = PyList_GetItem(tensors, i);
        good = tw__py_is_symbolic(tensor) || tw__py_error(PyExc_TypeError, "a tensor was expected, got %R", tensor);
        if (good)
            p->feeds[i] = (tw__edge){ TW_TENSOR(tensor)->node, TW_TENSOR(tensor)->node_output };
    }
    if (good) {
        p->prepared = tw__session_prepare(r->session, p->feeds, feed_count, fetches, fetch_count);
        good = p->prepared || tw__py_raise();
    }
    if (!good && p) {
        end_pattern(p);
        p = NULL;
    }
    return p;
}

/* remember(form, leaves, elements, keys, tensors, values): the pattern of these fetches (0 one, 1 a list, 2 a tuple) and keys,
 * which stand for these elements and tensors, is kept if there are not too many of them; it is run with the values. */
static PyObject *remember(PyObject *self, PyObject *arguments)
{
    int form;
    PyObject *leaves, *elements, *keys, *tensors, *values;
    if (!PyArg_ParseTuple(arguments, "iO!O!O!O!O!", &form, &PyList_Type, &leaves, &PyList_Type, &elements, &PyList_Type, &keys,
                          &PyList_Type, &tensors, &PyList_Type, &values))
        return NULL;
    runner *r = (runner *)self;
    Py_ssize_t fetch_count = PyList_Size(leaves), feed_count = PyList_Size(keys);
    if (form < 0 || form > 2 || PyList_Size(elements) != fetch_count || PyList_Size(tensors) != feed_count ||
        PyList_Size(values) != feed_count)
        return tw__py_error(PyExc_SystemError, "Runner.remember: lists of different sizes");
    pattern *p = make_pattern(r, form, leaves, elements, keys, tensors);
    if (!p)
        return NULL;
    tw__owned PyObject **given = tw__alloc_array((size_t)feed_count + 1, sizeof *given);
    for (Py_ssize_t i = 0; given && i < feed_count; i++)
        given[i] = PyList_GetItem(values, i);
    PyObject *out = given ? run_pattern(r, p, given) : tw__py_raise();
    if (fetch_count > LEAF_LIMIT || feed_count > LEAF_LIMIT) { /* it would not be found again */
        end_pattern(p);
        return out;
    }
    pattern *dropped = r->pattern_count == PATTERN_LIMIT ? r->patterns[--r->pattern_count] : NULL;
    memmove(r->patterns + 1, r->patterns, (size_t)r->pattern_count * sizeof *r->patterns);
    r->patterns[0] = p;
    r->pattern_count++;
    if (dropped)
        end_pattern(dropped);
    return out;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *session;
    if (!PyArg_ParseTuple(arguments, "O", &session))
        return NULL;
    struct tw_session *own = tw__py_unwrap(session, &tw__class_session);
    if (!own)
        return tw__py_error(PyExc_TypeError, "Runner: a session was expected, got %R", session);
    if (!ndarray_type) {
        PyObject *np = tw__py_numpy();
        ndarray_type = np ? (PyTypeObject *)PyObject_GetAttrString(np, "ndarray") : NULL;
        if (!ndarray_type)
            return NULL;
    }
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    runner *r = (runner *)allocate(type, 0);
    if (r)
        r->session = tw_retain(own);
    return (PyObject *)r;
}

static PyMethodDef methods[] = {
    { "run", run, METH_VARARGS, NULL },
    { "remember", remember, METH_VARARGS, NULL },
    { "forget", forget, METH_NOARGS, NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_new, make },    { Py_tp_dealloc, end },     { Py_tp_traverse, traverse },
    { Py_tp_clear, clear }, { Py_tp_methods, methods }, { 0 },
};
static PyType_Spec spec = { "thalweg.Runner", sizeof(runner), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots };

bool tw__py_sessions_start(PyObject *module)
{
    runner_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return runner_type && PyModule_AddObjectRef(module, "Runner", (PyObject *)runner_type) == 0;
}
