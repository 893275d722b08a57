/* The extension module: starts the parts and builds the tree of modules, functions and types from the tables. */
#include "extension.h"

enum { PATH_LIMIT = 200 };

static PyObject *root, *modules; /* the package; sys.modules */

/* What is known of a dotted path under the package. Rows of one module or class ask for the same again and again. */
typedef struct parent {
    PyObject *module; /* borrowed; NULL: nobody asked for it yet */
    PyObject *name;   /* of the module; likewise */
    PyTypeObject *type;
    bool type_known; /* it may be NULL: there is no class of this path */
} parent;

static tw__map parents;

static void end_parent(void *pointer)
{
    Py_XDECREF(((parent *)pointer)->name);
    tw__free(pointer);
}

static void forget_parents(void)
{
    tw__map_free(&parents, end_parent);
    parents = (tw__map){ 0 };
}

static parent *parent_at(const char *path, size_t size)
{
    parent *known = tw__map_get(&parents, path, size);
    if (known)
        return known;
    known = tw__alloc_zero(sizeof *known);
    if (known && tw__map_put(&parents, path, size, known) == TW_OK)
        return known;
    tw__free(known);
    return (parent *)tw__py_raise();
}

static PyObject *make_module_at(const char *path, size_t size);

/* The module of a dotted path under the package, made if there is none; borrowed. */
static PyObject *module_at(const char *path, size_t size)
{
    parent *known = size ? parent_at(path, size) : NULL;
    if (known && !known->module)
        known->module = make_module_at(path, size);
    return size == 0 ? root : known ? known->module : NULL;
}

static PyObject *make_module_at(const char *path, size_t size)
{
    char name[PATH_LIMIT];
    if (size + 16 > sizeof name)
        return tw__py_error(PyExc_SystemError, "the path %s is too long", path);
    snprintf(name, sizeof name, "thalweg.%.*s", (int)size, path);
    PyObject *module = PyDict_GetItemString(modules, name);
    if (module)
        return module;
    size_t last = 0;
    for (size_t i = 0; i < size; i++) {
        if (path[i] == '.')
            last = i;
    }
    PyObject *above = module_at(path, last);
    module = above ? PyModule_New(name) : NULL;
    PyObject *search = module ? PyList_New(0) : NULL; /* it may have modules below it */
    if (!search || PyObject_SetAttrString(module, "__path__", search) < 0 || PyDict_SetItemString(modules, name, module) < 0 ||
        PyObject_SetAttrString(above, strrchr(name, '.') + 1, module) < 0)
        return NULL;
    Py_DECREF(search);
    Py_DECREF(module);
    return module;
}

static PyTypeObject *type_at(const char *path, size_t size);

/* Puts an object at each path of "a.b|c" but those behind a class. */
static bool place(const char *paths, PyObject *object)
{
    for (const char *p = paths; *p;) {
        size_t size = strcspn(p, "|"), last = size;
        while (last && p[last - 1] != '.')
            last--;
        if (p != paths && last && type_at(p, last - 1)) {
            p += size + (p[size] == '|');
            continue;
        }
        PyObject *module = module_at(p, last ? last - 1 : 0);
        PyObject *name = module ? PyUnicode_FromStringAndSize(p + last, (Py_ssize_t)(size - last)) : NULL;
        bool good = name && PyObject_SetAttr(module, name, object) == 0;
        Py_XDECREF(name);
        if (!good)
            return false;
        p += size + (p[size] == '|');
    }
    return true;
}

/* The name of the module that the first of the paths is in; new. */
static PyObject *module_name(const char *path)
{
    size_t last = strcspn(path, "|");
    while (last && path[last] != '.')
        last--;
    parent *known = parent_at(path, last);
    if (known && !known->name) {
        char text[PATH_LIMIT];
        snprintf(text, sizeof text, "thalweg%s%.*s", last ? "." : "", (int)last, path);
        known->name = PyUnicode_InternFromString(text);
    }
    return known ? Py_XNewRef(known->name) : NULL;
}

static tw__py_function *make_function(const tw_signature *signature)
{
    size_t size = strcspn(signature->path, "|"), last = size;
    while (last && signature->path[last - 1] != '.')
        last--;
    tw__py_auto PyObject *module = module_name(signature->path);
    return module ? tw__py_function_new(signature, signature->path + last, size - last, module) : NULL;
}

/* ---- methods and properties ---- */

/* The type whose path stands before the last dot. */
static PyTypeObject *type_at(const char *path, size_t size)
{
    parent *known = parent_at(path, size);
    char name[PATH_LIMIT];
    if (!known || known->type_known || size >= sizeof name)
        return known ? known->type : NULL;
    memcpy(name, path, size);
    name[size] = 0;
    const tw_signature *signature = tw_signature_find(name);
    bool is = signature && signature->class_row;
    tw__py_auto PyObject *module = is ? module_name(signature->path) : NULL;
    known->type = module ? tw__py_make_type(signature, module) : NULL;
    known->type_known = known->type || !is;
    return known->type;
}

static bool add_member(const tw_signature *signature)
{
    const char *dot = NULL;
    size_t size = strcspn(signature->path, "|");
    for (size_t i = 0; i < size; i++) {
        if (signature->path[i] == '.')
            dot = signature->path + i;
    }
    PyTypeObject *type = dot ? type_at(signature->path, (size_t)(dot - signature->path)) : NULL;
    tw__py_function *function = type ? make_function(signature) : NULL;
    if (!function) {
        if (!PyErr_Occurred())
            tw__py_error(PyExc_SystemError, "the row %s names no class", signature->path);
        return false;
    }
    function->vectorcall = tw__py_special_method(signature->id);
    PyObject *value = (PyObject *)function;
    if (signature->role == TW_ROLE_PROPERTY) {
        /* A method Class._set_NAME is the setter. */
        char path[PATH_LIMIT];
        snprintf(path, sizeof path, "%.*s._set_%.*s", (int)(dot - signature->path), signature->path,
                 (int)(size - (size_t)(dot + 1 - signature->path)), dot + 1);
        const tw_signature *setter_row = tw_signature_find(path);
        PyObject *setter = setter_row ? (PyObject *)make_function(setter_row) : Py_None;
        value = setter ? tw__py_property((PyObject *)function, setter) : NULL;
        if (setter_row)
            Py_XDECREF(setter);
        Py_DECREF(function);
        if (!value)
            return false;
    }
    bool good = true;
    for (const char *p = signature->path; good && *p;) { /* other names of a method are separated by bars, too */
        size_t length = strcspn(p, "|"), last = length;
        while (last && p[last - 1] != '.')
            last--;
        PyObject *name = PyUnicode_FromStringAndSize(p + last, (Py_ssize_t)(length - last));
        good = name && PyObject_SetAttr((PyObject *)type, name, value) == 0;
        Py_XDECREF(name);
        p += length + (p[length] == '|');
    }
    Py_DECREF(value);
    return good;
}

/* A member of a type that is called without an object. */
static bool add_static_member(PyTypeObject *type, PyObject *name, PyObject *function)
{
    tw__py_auto PyObject *fixed = tw__py_static(function);
    return fixed && PyObject_SetAttr((PyObject *)type, name, fixed) == 0;
}

/* A function whose path goes on behind a class is one of that class, without an object. */
static bool add_static(const tw_signature *signature, PyObject *function, bool *done)
{
    size_t size = strcspn(signature->path, "|"), last = size;
    while (last && signature->path[last - 1] != '.')
        last--;
    PyTypeObject *type = last ? type_at(signature->path, last - 1) : NULL;
    *done = type != NULL;
    if (!type)
        return true;
    tw__py_auto PyObject *name = PyUnicode_FromStringAndSize(signature->path + last, (Py_ssize_t)(size - last));
    return name && add_static_member(type, name, function);
}

/* A class whose further path goes on behind another class is made by a method of that: its first argument is self, or there is
 * none. */
static bool add_makers(const tw_signature *signature)
{
    for (const char *p = strchr(signature->path, '|'); p; p = strchr(p, '|')) {
        size_t size = strcspn(++p, "|"), last = size;
        while (last && p[last - 1] != '.')
            last--;
        PyTypeObject *type = last ? type_at(p, last - 1) : NULL;
        if (!type)
            continue;
        PyObject *module = module_name(signature->path), *name = PyUnicode_FromStringAndSize(p + last, (Py_ssize_t)(size - last));
        tw__py_function *function = module && name ? tw__py_function_new(signature, p + last, size - last, module) : NULL;
        bool method = signature->field_count && strcmp(signature->fields[0].name, "self") == 0, good = function != NULL;
        if (function)
            function->makes = true;
        if (good)
            good = method ? PyObject_SetAttr((PyObject *)type, name, (PyObject *)function) == 0
                          : add_static_member(type, name, (PyObject *)function);
        Py_XDECREF(module);
        Py_XDECREF(name);
        Py_XDECREF((PyObject *)function);
        if (!good)
            return false;
    }
    return true;
}

/* ---- the tree ---- */

/* Rows that are added when they are asked for. */
static const char late[] = "experimental.numpy.";

static bool add_rows(tw_role role, bool late_ones)
{
    for (int i = 0; i < tw_signature_count(); i++) {
        const tw_signature *signature = tw_signature_at(i);
        bool member = signature->role == TW_ROLE_METHOD || signature->role == TW_ROLE_PROPERTY;
        if (role == TW_ROLE_METHOD ? !member : signature->role != role)
            continue;
        if (late_ones != (strncmp(signature->path, late, sizeof late - 1) == 0))
            continue;
        bool good = false;
        if (member) {
            good = add_member(signature);
        } else if (role == TW_ROLE_CLASS) {
            tw__py_auto PyObject *module = module_name(signature->path);
            PyTypeObject *type = module ? tw__py_make_type(signature, module) : NULL;
            good = type && place(signature->path, (PyObject *)type) && add_makers(signature);
        } else {
            tw__py_auto PyObject *function = (PyObject *)make_function(signature);
            bool fixed = false;
            good = function && add_static(signature, function, &fixed) && (fixed || place(signature->path, function));
        }
        if (!good) {
            if (!PyErr_Occurred())
                tw__py_error(PyExc_SystemError, "the row %s could not be added", signature->path);
            return false;
        }
    }
    return true;
}

static bool add_constants(void)
{
    static const struct {
        const char *name;
        tw_dtype dtype;
    } others[] = { { "half|dtypes.half", TW_FLOAT16 }, { "double|dtypes.double", TW_FLOAT64 } };
    for (int i = 1; i < TW_DTYPE_LIMIT; i++) {
        if (!tw__dtype_is_valid((tw_dtype)i))
            continue;
        char path[80];
        const char *name = tw_dtype_name((tw_dtype)i);
        snprintf(path, sizeof path, "%s|dtypes.%s", name, name);
        PyObject *dtype = tw__py_wrap_dtype((tw_dtype)i);
        bool good = place(path, dtype);
        Py_DECREF(dtype);
        if (!good)
            return false;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        PyObject *dtype = tw__py_wrap_dtype(others[i].dtype);
        bool good = place(others[i].name, dtype);
        Py_DECREF(dtype);
        if (!good)
            return false;
    }
    return place("DType|dtypes.DType", (PyObject *)tw__py_dtype_type) && place("TensorShape", (PyObject *)tw__py_shape_type) &&
           place("Tensor", (PyObject *)tw__py_tensor_type) && place("newaxis", Py_None);
}

static PyMethodDef raw_methods[] = {
    { "__getattr__", tw__py_raw_op, METH_O, NULL },
    { "__dir__", tw__py_raw_op_names, METH_NOARGS, NULL },
    { 0 },
};

/* Functions bound to a module. */
static bool add_bound(PyObject *module, PyMethodDef *methods)
{
    for (; methods->ml_name; methods++) {
        PyObject *function = PyCFunction_NewEx(methods, module, NULL);
        bool good = function && PyObject_SetAttrString(module, methods->ml_name, function) == 0;
        Py_XDECREF((PyObject *)function);
        if (!good)
            return false;
    }
    return true;
}

static PyObject *fill(PyObject *self, PyObject *package)
{
    PyObject *errors = PyImport_ImportModule("thalweg.errors");
    modules = PyImport_GetModuleDict();
    if (!errors || !tw__py_errors_start(errors))
        return NULL;
    Py_INCREF(package);
    root = package;
    Py_DECREF(errors);
    if (!add_rows(TW_ROLE_CLASS, false) || !add_rows(TW_ROLE_METHOD, false) || !add_rows(TW_ROLE_FUNCTION, false) ||
        !add_constants())
        return NULL;
    if (PyObject_SetAttrString(self, "Operation", (PyObject *)tw__py_type_of(&tw__class_operation)) < 0)
        return NULL;
    PyObject *raw = module_at("raw_ops", 7);
    if (!raw || !add_bound(raw, raw_methods) || !add_bound(package, tw__py_package_methods))
        return NULL;
    Py_RETURN_NONE;
}

/* What was made stays, and goes straight to the collector's oldest generation: the young ones would look at it again and again.
 */
static bool made_old(void)
{
    tw__py_auto PyObject *collector = PyImport_ImportModule("gc");
    tw__py_auto PyObject *frozen = collector ? PyObject_CallMethod(collector, "get_freeze_count", NULL) : NULL;
    if (!frozen)
        return false;
    if (PyObject_IsTrue(frozen)) /* the program's own, which would thaw */
        return true;
    tw__py_auto PyObject *away = PyObject_CallMethod(collector, "freeze", NULL);
    tw__py_auto PyObject *back = away ? PyObject_CallMethod(collector, "unfreeze", NULL) : NULL;
    return back != NULL;
}

static PyObject *populate(PyObject *self, PyObject *package)
{
    int collects = PyGC_Disable(); /* what is made here stays */
    PyObject *done = fill(self, package);
    forget_parents();
    if (done && !made_old())
        Py_CLEAR(done);
    if (collects)
        PyGC_Enable();
    return done;
}

static PyObject *add_numpy(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    bool good = add_rows(TW_ROLE_FUNCTION, true);
    forget_parents();
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- functions that no row can describe ---- */

static PyObject *is_tensor(PyObject *self, PyObject *value)
{
    (void)self;
    return PyBool_FromLong(PyObject_TypeCheck(value, tw__py_tensor_type) || tw__py_is_variable(value));
}

static PyObject *as_dtype(PyObject *self, PyObject *value)
{
    (void)self;
    tw_dtype dtype;
    return tw__py_as_dtype(value, &dtype) ? tw__py_wrap_dtype(dtype) : NULL;
}

static PyObject *as_shape(PyObject *self, PyObject *value)
{
    (void)self;
    tw_shape shape;
    return tw__py_as_shape(value, &shape) ? tw__py_wrap_shape(&shape) : NULL;
}

static PyObject *rows(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    static const char *const roles[] = { "function", "method", "property", "class" };
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < tw_signature_count(); i++) {
        const tw_signature *s = tw_signature_at(i);
        const tw_class *above = s->class_row ? s->class_row->parent : NULL;
        tw__py_auto PyObject *row =
            Py_BuildValue("sssNzz", s->id, s->path, roles[s->role], PyUnicode_FromFormat("%s%s", s->path, tw_signature_text(s)),
                          tw_signature_doc(s), above && above->signature ? above->signature->path : NULL);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef functions[] = {
    { "populate", populate, METH_O, "Fills the package's module with everything the tables describe." },
    { "op_names", tw__py_raw_op_names, METH_NOARGS, "The names of all ops." },
    { "rows", rows, METH_NOARGS, "Every row: id, path, role, signature, doc, parent." },
    { "is_tensor", is_tensor, METH_O, TW_SIGNATURE("is_tensor($module, x)") "Whether the value is a tensor or a variable." },
    { "is_any_tensor", tw__py_is_any_tensor, METH_O,
      TW_SIGNATURE("is_any_tensor($module, x)") "The same, or a value of several tensors." },
    { "_composite_parts", tw__py_composite_parts, METH_O, "The tensors of a ragged or sparse tensor; None for anything else." },
    { "overrides_call", tw__py_overrides_call, METH_O, "Whether a layer's `call` or `build` is Python's." },
    { "as_dtype", as_dtype, METH_O,
      TW_SIGNATURE("as_dtype($module, type_value)") "The dtype that a name or a NumPy dtype means." },
    { "as_shape", as_shape, METH_O, "The TensorShape of a list of dimensions." },
    { "_current_training", tw__py_current_training, METH_NOARGS,
      "Whether the layer that is being called trains; None: it was not told." },
    { "_add_numpy", add_numpy, METH_NOARGS, "Fills tf.experimental.numpy." },
    { "_result_type", tw__py_numpy_result_type, METH_VARARGS, "The dtype that NumPy gives to values and dtypes together." },
    { "_present_graph", tw__py_present_graph, METH_NOARGS, "The graph of the function that is being traced, or None." },
    { "_tracing", tw__py_is_tracing, METH_NOARGS, "Whether calls become nodes of a graph." },
    { "_in_function", tw__py_in_function, METH_NOARGS, "Whether calls become nodes of a function." },
    { "_cond", tw__py_cond, METH_VARARGS, "One of two functions that give lists of tensors." },
    { "_switch", tw__py_switch, METH_VARARGS, "One of several functions that give lists of tensors, by number." },
    { "_while", tw__py_while, METH_VARARGS, "A loop of functions of flat tensors." },
    { "_map", tw__py_map_rows, METH_VARARGS, "A function of the rows of flat tensors." },
    { "_fold", tw__py_fold_rows, METH_VARARGS, "A state that goes through the rows of flat tensors." },
    { "_case", tw__py_case, METH_VARARGS, "The function of the first condition that is true." },
    { "_custom_gradient", tw__py_custom_gradient, METH_VARARGS, "Results whose gradient a function computes." },
    { "_override_gradient", tw__py_override_gradient, METH_VARARGS, "A function that gives the gradient of a node." },
    { "_recompute_grad", tw__py_recompute_grad, METH_VARARGS, "What a function makes of tensors, made again for the gradient." },
    { "_gradients", tw__py_gradients, METH_VARARGS, "Derivatives in the graph that is traced." },
    { "_class_to_make", tw__py_class_to_make, METH_VARARGS, NULL },
    { "keras_objects", tw__py_keras_objects, METH_VARARGS,
      "Takes the functions that write and make objects of Python's classes." },
    { "message_names", tw__py_message_names, METH_NOARGS, "The names of all messages, and the enums by name." },
    { "message_fields", tw__py_message_fields, METH_O, "The fields of a message." },
    { "message_table", tw__py_message_describe, METH_VARARGS, "What a class of messages is made of, for its `_table`." },
    { "message_extend", tw__py_message_extend, METH_VARARGS, "Adds values to the list of a field: list, class, name, values." },
    { "message_errors", tw__py_message_errors, METH_O, "Takes the class of the error for bytes that are no message." },
    { "_trace_and_call", tw__py_trace_and_call, METH_VARARGS, "Traces a function of tensors and calls what came of it." },
    { 0 },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "thalweg._core", "The library's tables as Python objects.", -1, functions, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__core(void);
/* Libraries that pip installed are in the environment's own folder (the extra onednn). */
static void find_libraries(void)
{
    PyObject *prefix = PySys_GetObject("prefix");
    tw__py_auto PyObject *folder = prefix ? PyUnicode_FromFormat("%S/lib", prefix) : NULL;
    const char *text = folder ? PyUnicode_AsUTF8AndSize(folder, NULL) : NULL;
    if (text)
        tw__library_folder(text);
    PyErr_Clear();
}

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    find_libraries();
    if (!tw__py_objects_start(module) || !tw__py_functions_start(module) || !tw__py_dtypes_start(module) ||
        !tw__py_shapes_start(module) || !tw__py_arrays_start(module) || !tw__py_operators_start() ||
        !tw__py_tensors_start(module) || !tw__py_graph_types_start(module) || !tw__py_graph_functions_start(module) ||
        !tw__py_sessions_start(module) || !tw__py_datasets_start(module) || !tw__py_strategies_start(module) ||
        !tw__py_messages_start(module) || PyModule_AddFunctions(module, tw__py_tracking_functions) < 0 ||
        PyModule_AddFunctions(module, tw__py_nest_functions) < 0 || PyModule_AddFunctions(module, tw__py_later_functions) < 0 ||
        PyModule_AddFunctions(module, tw__py_command_functions) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
