/* Types of class rows, and their instances: peers of C objects (base/object.c).
 *
 * An instance and its C object are one: the object's references are references to the instance, so both end together, and the
 * collector sees through C (traverse visits what the object holds). An object that C made gets its instance when Python first
 * sees it. */
#include "extension.h"

typedef struct type_entry {
    const tw_class *class_row;
    PyTypeObject *type;
    tw__py_function *maker; /* parses the constructor's arguments */
} type_entry;

enum { TYPE_LIMIT = 1024 };
static type_entry types[TYPE_LIMIT];
static int type_count;
static tw__pointer_map rows_of_types, types_of_rows;
PyTypeObject *tw__py_object_type;
/* ---- the lock and the counts ---- */

/* What a thread knows of Python's lock by itself: while it has let the lock go, or taken it in a call from C, it need not ask.
 * Nothing is kept beyond that: a thread that another library started, or that calls C between two calls of Python, may have the
 * lock now and not then. */
typedef enum lock_known { LOCK_ASK, LOCK_HELD, LOCK_LET_GO } lock_known;
static _Thread_local lock_known known;

static inline bool holds_lock(void)
{
    return known == LOCK_ASK ? PyGILState_Check() == 1 : known == LOCK_HELD;
}

tw__py_lock_state tw__py_enter(void)
{
    tw__py_lock_state state = { .held = holds_lock(), .known = known };
    if (!state.held) {
        state.state = PyGILState_Ensure();
        known = LOCK_HELD;
    }
    return state;
}

void tw__py_leave(tw__py_lock_state state)
{
    if (state.held)
        return;
    known = (lock_known)state.known;
    PyGILState_Release(state.state);
}

bool tw__py_holds_lock(void)
{
    return holds_lock();
}

PyThreadState *tw__py_unlock(void)
{
    if (!holds_lock() || !Py_IsInitialized()) /* at the program's end nobody else is there */
        return NULL;
    known = LOCK_LET_GO;
    return PyEval_SaveThread();
}

void tw__py_lock(PyThreadState *thread)
{
    if (!thread)
        return;
    PyEval_RestoreThread(thread);
    known = LOCK_ASK;
}

static void retain_peer(void *peer)
{
    if (__builtin_expect(holds_lock(), 1)) {
        Py_INCREF((PyObject *)peer);
        return;
    }
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_INCREF((PyObject *)peer);
}

static void release_peer(void *peer)
{
    if (__builtin_expect(holds_lock(), 1)) {
        Py_DECREF((PyObject *)peer);
        return;
    }
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    Py_DECREF((PyObject *)peer);
}

/* A thread that waits for another one in C lets Python's other threads run. */
static void *begin_wait(void)
{
    return tw__py_unlock();
}

static void end_wait(void *state)
{
    tw__py_lock(state);
}

/* ---- types and rows ---- */

PyTypeObject *tw__py_type_of(const tw_class *class_row)
{
    for (; class_row; class_row = class_row->parent) {
        int64_t at = tw__pointer_map_get(&types_of_rows, class_row, -1);
        if (at >= 0)
            return types[at].type;
    }
    return tw__py_object_type;
}

static type_entry *entry_of(PyTypeObject *type)
{
    for (PyTypeObject *t = type; t; t = PyType_GetSlot(t, Py_tp_base)) {
        int64_t at = tw__pointer_map_get(&rows_of_types, t, -1);
        if (at >= 0)
            return &types[at];
    }
    /* Another base has a layout of its own: the row's type stands beside it. */
    tw__py_auto PyObject *order = PyObject_GetAttrString((PyObject *)type, "__mro__");
    for (Py_ssize_t i = 0; order && i < PyTuple_Size(order); i++) {
        int64_t at = tw__pointer_map_get(&rows_of_types, PyTuple_GetItem(order, i), -1);
        if (at >= 0)
            return &types[at];
    }
    PyErr_Clear();
    return NULL;
}

const tw_signature *tw__py_row_of(PyTypeObject *type)
{
    type_entry *entry = entry_of(type);
    return entry ? entry->class_row->signature : NULL;
}

bool tw__py_is_object(PyObject *value)
{
    return PyObject_TypeCheck(value, tw__py_object_type);
}

/* Bases without arguments, whose subclasses need not call `super().__init__()`. */
static const tw_class *const made_late_rows[] = {
    &tw__class_module,     &tw__class_callback, &tw__class_initializer, &tw__class_regularizer,
    &tw__class_constraint, &tw__class_schedule, &tw__class_type_spec,
};

/* The object of such a subclass, made when it is first needed; or NULL. */
static tw_object *made_late(PyObject *value)
{
    type_entry *entry = entry_of(Py_TYPE(value));
    bool late = false;
    for (size_t i = 0; entry && i < sizeof made_late_rows / sizeof *made_late_rows; i++)
        late = late || entry->class_row == made_late_rows[i];
    if (!late)
        return NULL;
    PyObject *done = PyObject_CallMethod((PyObject *)entry->type, "__init__", "(O)", value);
    Py_XDECREF(done);
    PyErr_Clear();
    return tw__py_handle(value);
}

tw__py_function *tw__py_maker_of(const tw_class *class_row)
{
    int64_t at = tw__pointer_map_get(&types_of_rows, class_row, -1);
    return at >= 0 ? types[at].maker : NULL;
}

void *tw__py_self(PyObject *value)
{
    tw_object *object = tw__py_handle(value);
    if (!object)
        object = made_late(value);
    if (!object) {
        type_entry *entry = entry_of(Py_TYPE(value));
        const char *name = entry ? entry->class_row->name : "Object";
        tw__py_error(
            PyExc_RuntimeError,
            "It looks like you are subclassing `%s` and you forgot to call `super().__init__()`. Always start with this line.",
            name);
    }
    return object;
}

void *tw__py_unwrap(PyObject *value, const tw_class *class_row)
{
    tw_object *object = tw__py_is_object(value) ? tw__py_handle(value) : NULL;
    if (!object && tw__py_is_object(value))
        object = made_late(value);
    return tw__is(object, class_row) ? object : NULL;
}

PyObject *tw__py_wrap(void *pointer)
{
    tw_object *object = pointer;
    if (!object)
        return tw__py_raise();
    if (object->peer) {
        PyObject *instance = Py_XNewRef(tw__py_instance(object));
        Py_DECREF((PyObject *)object->peer);
        return instance;
    }
    if (object->class == &tw__tensor_class)
        return tw__py_wrap_tensor(pointer);
    PyTypeObject *type = tw__py_type_of(object->class);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (!self)
        tw_release(object);
    else if (!tw__py_attach(self, object, true))
        Py_CLEAR(self);
    return self;
}

/* ---- instances ---- */

/* keras.Model(inputs, outputs) is a Functional. */
static bool is_connecting(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    if (type != tw__py_type_of(&tw__class_model))
        return false;
    bool named = keywords && (PyDict_GetItemString(keywords, "inputs") || PyDict_GetItemString(keywords, "outputs"));
    return named || (PyTuple_Size(arguments) && tw__py_has_keras_tensor(arguments));
}

PyObject *tw__py_class_to_make(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *class, *given, *named;
    if (!PyArg_ParseTuple(arguments, "OO!O", &class, &PyTuple_Type, &given, &named))
        return NULL;
    bool connects = is_connecting((PyTypeObject *)class, given, named);
    return Py_NewRef(connects ? (PyObject *)tw__py_type_of(&tw__class_functional) : class);
}

/* Attributes that were set before __init__ are tracked now. */
static int adopt(PyObject *self)
{
    tw__py_auto PyObject *dict = PyObject_GenericGetDict(self, NULL);
    tw__py_auto PyObject *items = dict && PyDict_Size(dict) ? PyDict_Items(dict) : NULL;
    int result = PyErr_Occurred() ? -1 : 0;
    bool bare = tw__py_row_of(Py_TYPE(self))->class_row == &tw__class_layer; /* it keeps none of what it is given */
    for (Py_ssize_t i = 0; items && result == 0 && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i), *name = PyTuple_GetItem(pair, 0);
        if (PyUnicode_CompareWithASCIIString(name, TW_KEEPER) == 0)
            continue;
        if (!bare && tw__py_is_setting(self, name)) /* the constructor's value has come since */
            result = PyDict_DelItem(dict, name);
        else
            result = tw__py_set_attribute(self, name, PyTuple_GetItem(pair, 1));
    }
    return result;
}

/* Checkpoint(parts=[…]): lists and dicts among named objects become the wrappers that Python sees as attributes afterwards. */
static bool wrap_lists(const tw_signature *signature, PyObject *keywords, PyObject **wrapped, PyObject **lists)
{
    bool pairs = false;
    for (int i = 0; i < signature->field_count; i++)
        pairs |= signature->fields[i].kind == TW_KIND_PAIRS;
    if (!pairs || !keywords)
        return true;
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(keywords, &position, &name, &value)) {
        if (!PyList_Check(value) && !PyDict_Check(value) && !PyTuple_Check(value))
            continue;
        if (!*wrapped) {
            *wrapped = PyDict_Copy(keywords);
            *lists = PyDict_New();
        }
        PyObject *wrapper = *wrapped && *lists ? tw__py_wrap_collection(value) : NULL;
        bool good = wrapper && PyDict_SetItem(*wrapped, name, wrapper) == 0 && PyDict_SetItem(*lists, name, wrapper) == 0;
        Py_XDECREF(wrapper);
        if (!good) {
            Py_CLEAR(*wrapped);
            Py_CLEAR(*lists);
            return false;
        }
    }
    return true;
}

static int init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    type_entry *entry = entry_of(Py_TYPE(self));
    if (!entry) {
        tw__py_error(PyExc_TypeError, "%R can't be made from Python", Py_TYPE(self));
        return -1;
    }
    if (tw__py_handle(self)) /* __init__ a second time */
        return 0;
    if (entry->class_row == &tw__class_model &&
        is_connecting(entry->type, arguments, keywords)) /* a subclass whose __init__ connects */
        entry = entry_of(tw__py_type_of(&tw__class_functional));
    PyObject *wrapped = NULL, *lists = NULL;
    if (!wrap_lists(entry->class_row->signature, keywords, &wrapped, &lists))
        return -1;
    tw_object *made = tw__py_construct(entry->maker, self, arguments, wrapped ? wrapped : keywords);
    Py_XDECREF(wrapped);
    bool of_row = Py_TYPE(self) == entry->type;
    if (!made || !tw__py_attach(self, made, of_row)) {
        Py_XDECREF(lists);
        return -1;
    }
    tw__py_made(self);
    int result = of_row ? 0 : adopt(self);
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (result == 0 && lists && PyDict_Next(lists, &position, &name, &value))
        result = PyObject_GenericSetAttr(self, name, value);
    Py_XDECREF(lists);
    return result;
}

/* Methods, and no slot of the type's: a class may pass over them by object.__setattr__, as over those of Python's classes. */
static PyObject *set_attribute(PyObject *self, PyObject *arguments)
{
    PyObject *name, *value;
    if (!PyArg_ParseTuple(arguments, "UO:__setattr__", &name, &value) || tw__py_set_attribute(self, name, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *delete_attribute(PyObject *self, PyObject *name)
{
    if (tw__py_set_attribute(self, name, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef object_methods[] = {
    { "__setattr__", set_attribute, METH_VARARGS, TW_SIGNATURE("__setattr__($self, name, value, /)") "Sets an attribute." },
    { "__delattr__", delete_attribute, METH_O, TW_SIGNATURE("__delattr__($self, name, /)") "Deletes an attribute." },
    { 0 },
};

static PyType_Slot object_slots[] = {
    { Py_tp_init, init },
    { Py_tp_getattro, tw__py_get_attribute },
    { Py_tp_methods, object_methods },
    { Py_tp_doc, "An object of the library." },
    { 0 },
};

PyTypeObject *tw__py_make_type(const tw_signature *signature, PyObject *module)
{
    const tw_class *row = signature->class_row;
    int64_t have = tw__pointer_map_get(&types_of_rows, row, -1);
    if (have >= 0)
        return types[have].type;
    PyTypeObject *base = tw__py_object_type;
    if (row->parent && row->parent->signature)
        base = tw__py_make_type(row->parent->signature, module);
    if (!base || type_count == TYPE_LIMIT)
        return NULL;
    size_t length = strcspn(signature->path, "|");
    static const char package[] = "thalweg.";
    char *full = tw__alloc(sizeof package + length); /* lives as long as the type: for ever */
    if (!full)
        return (PyTypeObject *)tw__py_raise();
    memcpy(full, package, sizeof package);
    memcpy(full + sizeof package - 1, signature->path, length);
    full[sizeof package - 1 + length] = 0;
    PyTypeObject *type = tw__py_class_new(full, row->name, tw__py_special_slots(signature->id), base);
    if (!type || !tw__py_describe_type(type, signature))
        return NULL;
    type_entry *entry = &types[type_count];
    *entry = (type_entry){ row, type, tw__py_function_new(signature, row->name, strlen(row->name), module) };
    if (!entry->maker || tw__pointer_map_put(&rows_of_types, type, type_count) != TW_OK ||
        tw__pointer_map_put(&types_of_rows, row, type_count) != TW_OK)
        return NULL;
    type_count++;
    return type;
}

bool tw__py_objects_start(PyObject *module)
{
    tw__language.peer_retain = retain_peer;
    tw__language.peer_release = release_peer;
    tw__language.wait_begin = begin_wait;
    tw__language.wait_end = end_wait;
    tw__py_hooks_start();
    if (tw__py_handles_start(object_slots))
        tw__py_object_type = tw__py_class_new("thalweg.Object", "Object", NULL, NULL);
    return tw__py_object_type && PyModule_AddObjectRef(module, "Object", (PyObject *)tw__py_object_type) == 0;
}

/* ---- what a row can't say ---- */

PyType_Slot *tw__py_special_slots(const char *id)
{
    static const struct {
        const char *id;
        PyType_Slot *slots;
    } special[] = {
        { "variable", tw__py_variable_slots },
        { "tape", tw__py_tape_slots },
        { "layer", tw__py_layer_slots },
        { "optimizer", tw__py_optimizer_slots },
        { "operation", tw__py_operation_slots },
        { "ragged_tensor", tw__py_ragged_slots },
        { "keras_tensor", tw__py_keras_tensor_slots },
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcmp(special[i].id, id) == 0)
            return special[i].slots;
    }
    return NULL;
}

/* `__exit__` of a class whose row takes nothing: what was raised is not its business. */
static PyObject *leave(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names)
{
    (void)count, (void)names;
    return tw__py_function_call(function, arguments, 1, NULL);
}

tw__py_vectorcall tw__py_special_method(const char *id)
{
    static const struct {
        const char *id;
        tw__py_vectorcall call;
    } special[] = {
        { "tape_gradient", tw__py_tape_gradient },
        { "tape_watch", tw__py_tape_watch },
        { "name_scope_exit", leave },
        { "layer_build", tw__py_layer_build },
        { "optimizer_variables", tw__py_callable_list },
        { "variable_assign", tw__py_variable_assign },
        { "variable_assign_add", tw__py_variable_assign },
        { "variable_assign_sub", tw__py_variable_assign },
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcmp(special[i].id, id) == 0)
            return special[i].call;
    }
    return strncmp(id, "variable_scatter_", 17) == 0 ? tw__py_variable_assign : tw__py_function_call;
}
