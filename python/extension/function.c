/* A row as a Python callable. Calls come in by the vector protocol: positional arguments in an array, names of keyword arguments
 * in a tuple. They are sorted into one slot per field, converted into the argument struct (arguments.c), and the row is invoked.
 *
 * Like a Python function it binds when it is found on an instance, so the same type serves methods. What it needs from the field
 * table is made at the first call. */
#include <alloca.h>

#include "extension.h"

PyTypeObject *tw__py_function_type;

enum { RELEASE_FROM = 65536 }; /* elements of input from which other Python threads may run meanwhile */

tw__py_function *tw__py_function_new(const tw_signature *signature, const char *name, size_t name_size, PyObject *module)
{
    tw__py_function *function = PyObject_New(tw__py_function, tw__py_function_type);
    if (!function)
        return NULL;
    char *copy = tw__strndup(name, name_size);
    PyObject head = function->ob_base;
    *function = (tw__py_function){ .ob_base = head,
                                   .vectorcall = tw__py_function_call,
                                   .signature = signature,
                                   .name = copy,
                                   .name_size = name_size,
                                   .module = module };
    Py_XINCREF(module);
    if (copy)
        return function;
    Py_DECREF(function);
    return (tw__py_function *)tw__py_raise();
}

bool tw__py_function_ready(tw__py_function *function)
{
    const tw_signature *signature = function->signature;
    if (function->defaults)
        return true;
    size_t count = (size_t)signature->field_count + 1;
    PyObject **names = tw__alloc_array(count, sizeof *names);
    const tw_class **classes = tw__alloc_array(count, sizeof *classes);
    void *defaults = tw__alloc_zero(signature->args_size);
    if (!names || !classes || !defaults) {
        tw__free(names);
        tw__free(classes);
        tw__free(defaults);
        tw__py_raise();
        return false;
    }
    function->name_at = -1;
    for (int i = 0; i < signature->field_count; i++) {
        names[i] = PyUnicode_InternFromString(signature->fields[i].name);
        if (signature->role != TW_ROLE_CLASS && signature->fields[i].kind == TW_KIND_STR && !signature->fields[i].required &&
            strcmp(signature->fields[i].name, "name") == 0) /* of the node; one that must be given is of something else */
            function->name_at = (ptrdiff_t)signature->fields[i].offset;
        tw_kind kind = signature->fields[i].kind;
        bool handle = kind == TW_KIND_HANDLE || kind == TW_KIND_HANDLES || kind == TW_KIND_PAIRS;
        if (handle && strcmp(signature->fields[i].word, "callable") != 0) /* callables are made of what Python can call */
            classes[i] = signature->fields[i].class_row;
    }
    tw_args_default(signature, defaults);
    function->names = names;
    function->classes = classes;
    function->defaults = defaults;
    function->gives_arrays = signature->result_word && strcmp(signature->result_word, "numpy") == 0;
    function->outputs_of = signature->result == TW_KIND_TENSORS && !function->gives_arrays ? signature->result_word : NULL;
    return !PyErr_Occurred();
}

/* ---- sorting ---- */

/* Whether it is the constructor of a class, which Python calls `Class.__init__`. */
static bool constructs(const tw__py_function *function)
{
    return function->signature->role == TW_ROLE_CLASS && !function->makes;
}

static bool is_self(const tw__py_function *function, int index)
{
    const tw_signature *signature = function->signature;
    return index == 0 && (signature->role == TW_ROLE_METHOD || signature->role == TW_ROLE_PROPERTY ||
                          (function->makes && strcmp(signature->fields[0].name, "self") == 0));
}

static void positional_range(const tw_signature *signature, int *least, int *most)
{
    *least = *most = 0;
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        if (!field->keyword_only && !field->rest) {
            *most += 1;
            *least += field->required;
        }
    }
}

static bool too_many(tw__py_function *function, int first, Py_ssize_t count)
{
    int least, most;
    positional_range(function->signature, &least, &most);
    int hidden = constructs(function); /* Python counts self */
    count += hidden + first;
    if (least == most)
        tw__py_error(PyExc_TypeError, "%s%s() takes %d positional argument%s but %zd %s given", function->name,
                     hidden ? ".__init__" : "", most + hidden, most + hidden == 1 ? "" : "s", count, count == 1 ? "was" : "were");
    else
        tw__py_error(PyExc_TypeError, "%s%s() takes from %d to %d positional arguments but %zd %s given", function->name,
                     hidden ? ".__init__" : "", least + hidden, most + hidden, count, count == 1 ? "was" : "were");
    return false;
}

static bool missing(tw__py_function *function, PyObject *const *given)
{
    const tw_signature *signature = function->signature;
    int count = 0;
    for (int i = 0; i < signature->field_count; i++)
        count += signature->fields[i].required && !given[i];
    if (!count)
        return true;
    tw__auto(tw__text_free) tw__text text = { 0 };
    int seen = 0;
    for (int i = 0; i < signature->field_count; i++) {
        if (!signature->fields[i].required || given[i])
            continue;
        seen++;
        tw__text_format(&text, "%s'%s'",
                        seen == 1      ? ""
                        : seen < count ? ", "
                        : count == 2   ? " and "
                                       : ", and ",
                        signature->fields[i].name);
    }
    tw__py_error(PyExc_TypeError, "%s%s() missing %d required positional argument%s: %s", function->name,
                 constructs(function) ? ".__init__" : "", count, count == 1 ? "" : "s", text.data ? text.data : "");
    return false;
}

static int find_name(tw__py_function *function, PyObject *name)
{
    int count = function->signature->field_count;
    for (int i = 0; i < count; i++) {
        if (function->names[i] == name)
            return i;
    }
    for (int i = 0; i < count; i++) {
        if (PyUnicode_Compare(function->names[i], name) == 0)
            return i;
    }
    return -1;
}

static int rest_field(const tw_signature *signature, bool pairs)
{
    for (int i = 0; i < signature->field_count; i++) {
        if (signature->fields[i].rest && (signature->fields[i].kind == TW_KIND_PAIRS) == pairs)
            return i;
    }
    return -1;
}

static bool put_keyword(tw__py_function *function, PyObject *name, PyObject *value, PyObject **given, PyObject **rest)
{
    if (!PyUnicode_Check(name)) {
        tw__py_error(PyExc_TypeError, "%s%s() keywords must be strings", function->name, constructs(function) ? ".__init__" : "");
        return false;
    }
    int at = find_name(function, name);
    if (at >= 0 && !function->signature->fields[at].rest && !is_self(function, at)) {
        if (given[at]) {
            tw__py_error(PyExc_TypeError, "%s() got multiple values for argument '%U'", function->name, name);
            return false;
        }
        given[at] = value;
        return true;
    }
    if (rest_field(function->signature, true) < 0) {
        const tw_class *row = function->signature->class_row;
        while (row && row != &tw__class_layer)
            row = tw_class_parent(row);
        if (row) {
            tw__py_error(PyExc_TypeError, "('Keyword argument not understood:', '%U')", name);
            return false;
        }
        tw__py_error(PyExc_TypeError, "%s%s() got an unexpected keyword argument '%U'", function->name,
                     constructs(function) ? ".__init__" : "", name);
        return false;
    }
    if (!*rest)
        *rest = PyDict_New();
    return *rest && PyDict_SetItem(*rest, name, value) == 0;
}

bool tw__py_sort_arguments(tw__py_function *function, int first, PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                           PyObject **given, PyObject **rest)
{
    const tw_signature *signature = function->signature;
    int field = first;
    for (Py_ssize_t i = 0; i < count; i++) {
        while (field < signature->field_count &&
               (signature->fields[field].keyword_only ||
                (signature->fields[field].rest && signature->fields[field].kind == TW_KIND_PAIRS)))
            field++;
        if (field >= signature->field_count)
            return too_many(function, first, count);
        if (signature->fields[field].rest) { /* *args */
            PyObject *list = PyList_New(0);
            for (; list && i < count; i++) {
                if (PyList_Append(list, arguments[i]) < 0)
                    Py_CLEAR(list);
            }
            if (!list)
                return false;
            given[field] = list; /* given back by the frame: see call */
            break;
        }
        given[field++] = arguments[i];
    }
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        if (!put_keyword(function, PyTuple_GetItem(names, i), arguments[count + i], given, rest))
            return false;
    }
    return missing(function, given);
}

/* ---- the call ---- */

static bool is_large(const tw_signature *signature, const char *args)
{
    for (int i = 0; i < signature->field_count; i++) {
        if (signature->fields[i].kind == TW_KIND_TENSOR) {
            const tw_tensor *tensor = *(tw_tensor *const *)(args + signature->fields[i].offset);
            if (tensor && tensor->count >= RELEASE_FROM)
                return true;
        }
    }
    return false;
}

static tw_status invoke(const tw_signature *signature, const void *args, tw_value *result)
{
    if (!is_large(signature, args))
        return tw_signature_invoke(signature, args, result);
    PyThreadState *thread = tw__py_unlock();
    tw_status status = tw_signature_invoke(signature, args, result);
    tw__py_lock(thread);
    return status;
}

static void drop_rest(const tw_signature *signature, PyObject **given, PyObject *rest)
{
    int list = rest_field(signature, false);
    if (list >= 0)
        Py_XDECREF(given[list]);
    Py_XDECREF(rest);
}

/* Of a list of results, that which stands for the call. */
static const tw_tensor *first_tensor(const tw_value *value)
{
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
    return list && value->list.count && value->list.items[0].kind == TW_VALUE_TENSOR ? value->list.items[0].tensor : NULL;
}

/* Asked when a call has failed: the exception stays. */
static bool has_keras_tensor(PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    count += names ? PyTuple_Size(names) : 0;
    bool found = false;
    for (Py_ssize_t i = 0; !found && i < count; i++)
        found = tw__py_has_keras_tensor(arguments[i]);
    PyErr_Restore(type, value, traceback);
    return found;
}

PyObject *tw__py_function_call(PyObject *self, PyObject *const *arguments, size_t size, PyObject *names)
{
    tw__py_function *function = (tw__py_function *)self;
    const tw_signature *signature = function->signature;
    if (__builtin_expect(!function->defaults, 0) && !tw__py_function_ready(function))
        return NULL;
    size_t fields = (size_t)signature->field_count;
    PyObject **given = alloca((fields + 1) * sizeof *given);
    memset(given, 0, (fields + 1) * sizeof *given);
    PyObject *rest = NULL, *out = NULL;
    tw__py_frame frame;
    frame.objects = frame.blocks = NULL;
    frame.object_count = frame.block_count = 0;
    frame.kept = NULL;
    frame.value_count = 0;
    frame.mixed_values = NULL;
    if (tw__py_sort_arguments(function, 0, arguments, TW_VECTOR_COUNT(size), names, given, &rest)) {
        char *args = alloca(signature->args_size);
        memcpy(args, function->defaults, signature->args_size);
        tw__naming naming = tw__tracing && function->name_at >= 0 ? tw__naming_start() : (tw__naming){ NULL, 0, NULL };
        const char *named = NULL;
        if (tw__py_fill(function, &frame, given, rest, args)) {
            tw_value result = { .kind = TW_VALUE_NONE };
            tw_status done = __builtin_expect(frame.mixed_values != NULL, 0) ? tw__py_call_mixed(signature, &frame, args, &result)
                                                                             : invoke(signature, args, &result);
            if (__builtin_expect(done != TW_OK, 0)) {
                tw_value_free(&result);
                if (naming.graph)
                    tw__naming_explain(naming, signature->id, *(const char **)(args + function->name_at));
                tw__py_raise();
            } else {
                if (tw__tracing && result.kind == TW_VALUE_TENSOR && signature->role == TW_ROLE_FUNCTION &&
                    !function->gives_arrays)
                    result.tensor = tw__py_into_graph(result.tensor);
                if (naming.graph) {
                    named = *(const char **)(args + function->name_at);
                    const tw_tensor *tensor = result.kind == TW_VALUE_TENSOR ? result.tensor : first_tensor(&result);
                    tw_status status = tw__naming_finish(naming, signature->id, named, tensor);
                    naming.graph = NULL;
                    if (status != TW_OK) {
                        tw_value_free(&result);
                        tw__py_raise();
                        goto done;
                    }
                }
                out = function->gives_arrays ? tw__py_arrays(&result) : tw__py_value(&result);
                if (out && function->outputs_of)
                    out = tw__py_name_outputs(function->outputs_of, out);
            }
        }
    done:
        if (naming.graph && tw__naming_finish(naming, signature->id, NULL, NULL) != TW_OK)
            tw_clear_error(); /* the call has failed already */
        tw__py_frame_end(&frame);
    }
    drop_rest(signature, given, rest);
    if (__builtin_expect(!out, 0) && signature->role == TW_ROLE_FUNCTION && signature->result != TW_KIND_HANDLE &&
        has_keras_tensor(arguments, TW_VECTOR_COUNT(size), names)) {
        PyErr_Clear(); /* Keras tensors are no tensors: the call becomes a layer */
        return tw__py_keras_row(signature, arguments, TW_VECTOR_COUNT(size), names);
    }
    return out;
}

/* An object of a Python class that is given no name gets one of its class's. */
static bool name_object(tw__py_function *function, PyObject *self, tw__py_frame *frame, char *args)
{
    const tw_signature *signature = function->signature;
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        const char **place = (const char **)(args + field->offset);
        if (strcmp(field->name, "name") != 0 || field->kind != TW_KIND_STR || *place)
            continue;
        char *name = tw__py_automatic_name(self, signature->class_row);
        if (name && !(*place = tw__py_keep_text(frame, name)))
            return false;
        if (!name && tw_error_code() != TW_OK)
            return tw__py_raise() != NULL;
    }
    return true;
}

void *tw__py_construct(tw__py_function *function, PyObject *self, PyObject *arguments, PyObject *keywords)
{
    const tw_signature *signature = function->signature;
    if (!tw__py_function_ready(function))
        return NULL;
    Py_ssize_t count = PyTuple_Size(arguments);
    PyObject **values = alloca(((size_t)count + 1) * sizeof *values);
    for (Py_ssize_t i = 0; i < count; i++)
        values[i] = PyTuple_GetItem(arguments, i);
    size_t fields = (size_t)signature->field_count;
    PyObject **given = alloca((fields + 1) * sizeof *given);
    memset(given, 0, (fields + 1) * sizeof *given);
    tw__py_auto PyObject *rest = NULL;
    PyObject *key, *value;
    void *made = NULL;
    Py_ssize_t position = 0;
    bool good = true;
    while (good && keywords && PyDict_Next(keywords, &position, &key, &value))
        good = put_keyword(function, key, value, given, &rest);
    if (good && count) {
        /* Positional ones go to the free places in order; one that is named as well is an error. */
        PyObject **places = alloca((fields + 1) * sizeof *places);
        memset(places, 0, (fields + 1) * sizeof *places);
        int field = 0;
        for (Py_ssize_t i = 0; good && i < count; i++, field++) {
            while (field < signature->field_count && (signature->fields[field].keyword_only || signature->fields[field].rest))
                field++;
            if (field >= signature->field_count) {
                good = too_many(function, 0, count);
            } else if (given[field]) {
                tw__py_error(PyExc_TypeError, "%s.__init__() got multiple values for argument '%s'", function->name,
                             signature->fields[field].name);
                good = false;
            } else {
                given[field] = values[i];
            }
        }
    }
    if (good && missing(function, given)) {
        tw__auto(tw__py_frame_end) tw__py_frame frame = { 0 };
        char *args = alloca(signature->args_size);
        memcpy(args, function->defaults, signature->args_size);
        if (tw__py_fill(function, &frame, given, rest, args) && name_object(function, self, &frame, args)) {
            made = tw_class_make(signature->class_row, args);
            if (!made)
                tw__py_raise();
        }
    }
    return made;
}

/* ---- the type ---- */

static void end(PyObject *self)
{
    tw__py_function *function = (tw__py_function *)self;
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; function->names && i < function->signature->field_count; i++)
        Py_XDECREF(function->names[i]);
    tw__free(function->names);
    tw__free((void *)function->name);
    tw__free((void *)function->classes);
    tw__free(function->defaults);
    Py_XDECREF(function->module);
    Py_XDECREF(function->dict);
    PyObject_Free(self);
}

static PyObject *repr(PyObject *self)
{
    tw__py_function *function = (tw__py_function *)self;
    return PyUnicode_FromFormat("<function %s at %p>", function->name, self);
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (!object) {
        Py_INCREF(self);
        return self;
    }
    static PyObject *method_type;
    if (!method_type) {
        tw__py_auto PyObject *types = PyImport_ImportModule("types");
        method_type = types ? PyObject_GetAttrString(types, "MethodType") : NULL;
    }
    return method_type ? PyObject_CallFunctionObjArgs(method_type, self, object, NULL) : NULL;
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    tw__py_function *function = (tw__py_function *)self;
    return PyUnicode_FromStringAndSize(function->name, (Py_ssize_t)function->name_size);
}

static PyObject *get_doc(PyObject *self, void *unused)
{
    (void)unused;
    tw__py_function *function = (tw__py_function *)self;
    if (function->signature)
        return tw__py_row_doc(function->signature);
    const char *text = tw__op_doc(function->op);
    if (!*text)
        Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

static PyObject *get_module(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *module = ((tw__py_function *)self)->module;
    if (!module)
        Py_RETURN_NONE;
    Py_INCREF(module);
    return module;
}

static PyObject *get_signature(PyObject *self, void *unused)
{
    (void)unused;
    tw__py_function *function = (tw__py_function *)self;
    char *made = !function->signature && function->op ? tw__py_raw_op_text(function->op) : NULL;
    if (!function->signature && !made)
        return tw__py_error(PyExc_AttributeError, "__signature__");
    tw__py_auto PyObject *module = PyImport_ImportModule("thalweg._describe");
    PyObject *out =
        module ? PyObject_CallMethod(module, "signature_of", "s", made ? made : tw_signature_text(function->signature)) : NULL;
    tw__free(made);
    return out;
}

static PyObject *get_text(PyObject *self, void *unused)
{
    (void)unused;
    tw__py_function *function = (tw__py_function *)self;
    if (!function->signature)
        Py_RETURN_NONE;
    return PyUnicode_FromFormat("%s%s", function->signature->path, tw_signature_text(function->signature));
}

static PyGetSetDef getters[] = {
    { "__name__", get_name, NULL, NULL, NULL },
    { "__qualname__", get_name, NULL, NULL, NULL },
    { "__doc__", get_doc, NULL, NULL, NULL },
    { "__module__", get_module, NULL, NULL, NULL },
    { "__signature__", get_signature, NULL, NULL, NULL },
    { "_row", get_text, NULL, "The row's signature as it is written.", NULL },
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { 0 },
};

static PyMemberDef members[] = {
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(tw__py_function, vectorcall), READONLY, NULL },
    { "__dictoffset__", T_PYSSIZET, offsetof(tw__py_function, dict), READONLY, NULL },
    { 0 },
};

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return get_name(self, NULL); /* pickle looks it up in its module */
}

static PyMethodDef methods[] = { { "__reduce__", reduce, METH_NOARGS, NULL }, { 0 } };

static PyType_Slot slots[] = {
    { Py_tp_dealloc, end },    { Py_tp_repr, repr },       { Py_tp_descr_get, bind },  { Py_tp_call, PyVectorcall_Call },
    { Py_tp_getset, getters }, { Py_tp_members, members }, { Py_tp_methods, methods }, { 0 },
};

bool tw__py_functions_start(PyObject *module)
{
    PyType_Spec spec = { "thalweg.function", sizeof(tw__py_function), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                             Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         slots };
    tw__py_function_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return tw__py_function_type && PyModule_AddObjectRef(module, "function", (PyObject *)tw__py_function_type) == 0;
}
