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
    for (; type; type = PyType_GetSlot(type, Py_tp_base)) {
        int64_t at = tw__pointer_map_get(&rows_of_types, type, -1);
        if (at >= 0)
            return &types[at];
    }
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
    return ((tw__py_object *)value)->object;
}

tw__py_function *tw__py_maker_of(const tw_class *class_row)
{
    int64_t at = tw__pointer_map_get(&types_of_rows, class_row, -1);
    return at >= 0 ? types[at].maker : NULL;
}

void *tw__py_self(PyObject *value)
{
    tw_object *object = ((tw__py_object *)value)->object;
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
    tw_object *object = tw__py_is_object(value) ? ((tw__py_object *)value)->object : NULL;
    if (!object && tw__py_is_object(value))
        object = made_late(value);
    return tw__is(object, class_row) ? object : NULL;
}

/* The instance takes over: references to the object become references to it. One less than that stays: of a new instance its
 * first reference goes, of one that Python is making the reference that the C maker returned. */
static void attach(tw__py_object *self, tw_object *object)
{
    self->object = object;
    tw__object_attach(object, self);
    Py_DECREF((PyObject *)self);
}

PyObject *tw__py_wrap(void *pointer)
{
    tw_object *object = pointer;
    if (!object)
        return tw__py_raise();
    if (object->peer)
        return object->peer;
    if (object->class == &tw__tensor_class)
        return tw__py_wrap_tensor(pointer);
    PyTypeObject *type = tw__py_type_of(object->class);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    tw__py_object *self = (tw__py_object *)allocate(type, 0);
    if (!self) {
        tw_release(object);
        return NULL;
    }
    attach(self, object);
    return (PyObject *)self;
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

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    if (is_connecting(type, arguments, keywords))
        type = tw__py_type_of(&tw__class_functional);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

/* Attributes that were set before __init__ are tracked now. */
static int adopt(PyObject *self)
{
    PyObject *dict = ((tw__py_object *)self)->dict;
    tw__py_auto PyObject *items = dict && PyDict_Size(dict) ? PyDict_Items(dict) : NULL;
    int result = PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t i = 0; items && result == 0 && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i), *name = PyTuple_GetItem(pair, 0);
        if (tw__py_is_setting(self, name)) /* the constructor's value has come since */
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
    tw__py_object *object = (tw__py_object *)self;
    if (!entry) {
        tw__py_error(PyExc_TypeError, "%R can't be made from Python", Py_TYPE(self));
        return -1;
    }
    if (object->object) /* __init__ a second time */
        return 0;
    if (entry->class_row == &tw__class_model &&
        is_connecting(entry->type, arguments, keywords)) /* a subclass whose __init__ connects */
        entry = entry_of(tw__py_type_of(&tw__class_functional));
    PyObject *wrapped = NULL, *lists = NULL;
    if (!wrap_lists(entry->class_row->signature, keywords, &wrapped, &lists))
        return -1;
    tw_object *made = tw__py_construct(entry->maker, self, arguments, wrapped ? wrapped : keywords);
    Py_XDECREF(wrapped);
    if (!made) {
        Py_XDECREF(lists);
        return -1;
    }
    attach(object, made);
    tw__py_made(self);
    int result = adopt(self);
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (result == 0 && lists && PyDict_Next(lists, &position, &name, &value))
        result = PyObject_GenericSetAttr(self, name, value);
    Py_XDECREF(lists);
    return result;
}

typedef struct visit_context {
    visitproc visit;
    void *argument;
    int result;
} visit_context;

/* What an object without a peer holds counts as held by its only owner. */
static void visit_child(void *context, tw_object *child)
{
    visit_context *c = context;
    if (c->result || !child)
        return;
    if (child->peer)
        c->result = c->visit(child->peer, c->argument);
    else if (child->class != &tw__tensor_class &&
             (atomic_load_explicit(&child->references, memory_order_relaxed) & ~TW_CIRCULAR) == 1)
        tw__object_visit(child, visit_child, context);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    tw__py_object *object = (tw__py_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(object->dict);
    if (!object->object)
        return 0;
    visit_context context = { visit, arg, 0 };
    tw__object_visit(object->object, visit_child, &context);
    return context.result;
}

static int clear(PyObject *self)
{
    tw__py_object *object = (tw__py_object *)self;
    Py_CLEAR(object->dict);
    if (object->object)
        tw__object_clear(object->object);
    return 0;
}

static void end(PyObject *self)
{
    tw__py_object *object = (tw__py_object *)self;
    tw__py_auto PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (object->weak)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(object->dict);
    tw_object *inner = object->object;
    object->object = NULL;
    if (inner) {
        /* While it ends, what it lets go of may still name it: its own count takes over again, out of reach of zero. */
        atomic_store(&inner->references, 1 << 28);
        inner->peer = NULL;
        tw__object_end(inner);
    }
    PyObject_GC_Del(self);
}

static PyMemberDef members[] = {
    { "__dictoffset__", T_PYSSIZET, offsetof(tw__py_object, dict), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(tw__py_object, weak), READONLY, NULL },
    { 0 },
};

static PyGetSetDef getters[] = {
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { 0 },
};

static PyType_Slot object_slots[] = {
    { Py_tp_new, make },
    { Py_tp_init, init },
    { Py_tp_traverse, traverse },
    { Py_tp_clear, clear },
    { Py_tp_dealloc, end },
    { Py_tp_getattro, tw__py_get_attribute },
    { Py_tp_setattro, tw__py_set_attribute },
    { Py_tp_members, members },
    { Py_tp_getset, getters },
    { Py_tp_doc, "An object of the library." },
    { 0 },
};

/* A type by its full name, shown in messages by its last part alone, as Python's own classes are. */
static PyTypeObject *make_named(const char *full, const char *name, PyType_Slot *slots, PyTypeObject *base)
{
    unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | (base ? 0 : Py_TPFLAGS_HAVE_GC); /* others inherit it */
    PyType_Spec spec = { full, sizeof(tw__py_object), 0, flags, slots };
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpecWithBases(&spec, (PyObject *)base);
    tw__py_auto PyObject *text = type ? PyUnicode_FromString(name) : NULL;
    bool last = strcmp(strrchr(full, '.') + 1, name) == 0; /* as __qualname__ is already */
    if (!text || PyObject_SetAttrString((PyObject *)type, "__name__", text) < 0 ||
        (!last && PyObject_SetAttrString((PyObject *)type, "__qualname__", text) < 0))
        Py_CLEAR(type);
    return type;
}

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
    PyType_Slot slots[64] = { 0 };
    PyType_Slot *special = tw__py_special_slots(signature->id);
    int count = 0;
    for (; special && special->slot && count < 62; special++)
        slots[count++] = *special;
    PyTypeObject *type = make_named(full, row->name, slots, base);
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
    tw__py_object_type = make_named("thalweg.Object", "Object", object_slots, NULL);
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
