/* Which C object an instance stands for, and how long both live.
 *
 * An instance holds nothing of C's: its layout is that of any class written in Python, so that a program's class may have other
 * bases with slots, or types of C, beside the library's. A table from instances to objects stands for the missing member.
 *
 * Usually the object's references are references to the instance, and both end together (`end`). Where a class has another base
 * with a layout of its own, Python ends its instances in that base's way and does not come by here. Then a keeper takes the
 * instance's part: references to the object are references to the keeper, which the instance has in its __dict__, and the
 * collector ends the two. */
#include "extension.h"

typedef struct keeper {
    PyObject_HEAD tw_object *object;
    PyObject *instance; /* NULL: the collector has cleared it */
} keeper;

static PyTypeObject *base_type, *keeper_type;
static tw__py_handle_entry none;
tw__py_handle_table tw__py_handles = { .entries = &none };

/* ---- the table ---- */

static tw__py_handle_entry *find(const void *instance)
{
    size_t i = tw__py_handle_hash(instance) & tw__py_handles.mask;
    while (tw__py_handles.entries[i].instance && tw__py_handles.entries[i].instance != instance)
        i = (i + 1) & tw__py_handles.mask;
    return &tw__py_handles.entries[i];
}

static bool enlarge(void)
{
    tw__py_handle_table old = tw__py_handles;
    size_t size = old.entries == &none ? 256 : 2 * (old.mask + 1);
    tw__py_handle_entry *entries = tw__alloc_array(size, sizeof *entries);
    if (!entries)
        return false;
    tw__py_handles = (tw__py_handle_table){ entries, size - 1, old.count };
    for (size_t i = 0; i <= old.mask; i++) {
        if (old.entries[i].instance)
            *find(old.entries[i].instance) = old.entries[i];
    }
    if (old.entries != &none)
        tw__free(old.entries);
    return true;
}

bool tw__py_remember(PyObject *instance, tw_object *object)
{
    if (2 * (tw__py_handles.count + 1) > tw__py_handles.mask + 1 && !enlarge()) {
        tw__py_raise();
        return false;
    }
    *find(instance) = (tw__py_handle_entry){ instance, object };
    tw__py_handles.count++;
    return true;
}

/* Entries behind the one that goes move up, so that none of them is lost. */
static void forget(const void *instance)
{
    tw__py_handle_entry *entries = tw__py_handles.entries, *place = find(instance);
    size_t mask = tw__py_handles.mask, gap = (size_t)(place - entries);
    if (!place->instance)
        return;
    for (size_t i = (gap + 1) & mask; entries[i].instance; i = (i + 1) & mask) {
        size_t home = tw__py_handle_hash(entries[i].instance) & mask;
        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        entries[gap] = entries[i];
        gap = i;
    }
    entries[gap] = (tw__py_handle_entry){ 0 };
    tw__py_handles.count--;
}

/* ---- peers ---- */

/* Whether Python ends instances of the type by way of `end`. */
static bool is_ended_here(PyTypeObject *type)
{
    while (type && type != base_type)
        type = PyType_GetSlot(type, Py_tp_base);
    return type != NULL;
}

/* A new one, which the instance owns. */
static PyObject *make_keeper(PyObject *instance, tw_object *object)
{
    allocfunc allocate = PyType_GetSlot(keeper_type, Py_tp_alloc);
    keeper *made = (keeper *)allocate(keeper_type, 0);
    if (!made)
        return NULL;
    made->instance = Py_NewRef(instance);
    tw__py_auto PyObject *dict = PyObject_GenericGetDict(instance, NULL);
    if (!dict || PyDict_SetItemString(dict, TW_KEEPER, (PyObject *)made) < 0) {
        Py_DECREF((PyObject *)made);
        return NULL;
    }
    made->object = object;
    return (PyObject *)made;
}

/* References to the object become references to its peer. One less than that stays: of a new instance its first reference goes,
 * of one that Python is making the reference that the C maker returned. */
bool tw__py_attach(PyObject *self, tw_object *object, bool of_row)
{
    PyObject *peer = self, *kept = NULL;
    bool good = tw__py_remember(self, object);
    if (good && !of_row && !is_ended_here(Py_TYPE(self)))
        good = (peer = kept = make_keeper(self, object)) != NULL;
    if (!good) {
        forget(self);
        tw_release(object);
        return false;
    }
    tw__object_attach(object, peer);
    Py_DECREF(peer);
    Py_XDECREF(kept);
    return true;
}

PyObject *tw__py_instance(const void *object)
{
    PyObject *peer = ((const tw_object *)object)->peer;
    return peer && Py_TYPE(peer) == keeper_type ? ((keeper *)peer)->instance : peer;
}

PyObject *tw__py_kept(PyObject *self, const char *name)
{
    tw__py_auto PyObject *dict = PyObject_GenericGetDict(self, NULL);
    return dict ? PyDict_GetItemString(dict, name) : NULL;
}

/* ---- what the collector asks ---- */

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

static int visit_object(tw_object *object, visitproc visit, void *arg)
{
    visit_context context = { visit, arg, 0 };
    if (object)
        tw__object_visit(object, visit_child, &context);
    return context.result;
}

/* While it ends, what it lets go of may still name it: its own count takes over again, out of reach of zero. */
static void end_object(tw_object *object)
{
    atomic_store(&object->references, 1 << 28);
    object->peer = NULL;
    tw__object_end(object);
}

static void release_memory(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF((PyObject *)type);
}

/* An instance that is not the peer holds its object (variable_assign.c). */
static int traverse(PyObject *self, visitproc visit, void *arg)
{
    tw_object *object = tw__py_handle(self);
    Py_VISIT(Py_TYPE(self));
    if (object && object->peer != self)
        return visit(object->peer, arg);
    return visit_object(object, visit, arg);
}

static int clear(PyObject *self)
{
    tw_object *object = tw__py_handle(self);
    if (object && object->peer == self)
        tw__object_clear(object);
    return 0;
}

static void end(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    tw_object *object = tw__py_handle(self);
    if (object)
        forget(self);
    if (object && object->peer == self)
        end_object(object);
    else
        tw_release(object);
    release_memory(self);
}

/* ---- keepers ---- */

static int traverse_keeper(PyObject *self, visitproc visit, void *arg)
{
    keeper *k = (keeper *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(k->instance);
    return visit_object(k->object, visit, arg);
}

static int clear_keeper(PyObject *self)
{
    keeper *k = (keeper *)self;
    if (k->object)
        tw__object_clear(k->object);
    if (k->instance)
        forget(k->instance);
    Py_CLEAR(k->instance);
    return 0;
}

static void end_keeper(PyObject *self)
{
    keeper *k = (keeper *)self;
    PyObject_GC_UnTrack(self);
    if (k->instance)
        forget(k->instance);
    if (k->object)
        end_object(k->object);
    Py_CLEAR(k->instance);
    release_memory(self);
}

/* ---- the base of all types of rows ---- */

static PyType_Slot keeper_slots[] = {
    { Py_tp_traverse, traverse_keeper },
    { Py_tp_clear, clear_keeper },
    { Py_tp_dealloc, end_keeper },
    { 0 },
};
static PyType_Spec keeper_spec = { "thalweg.Keeper", sizeof(keeper), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, keeper_slots };

static PyTypeObject *make_c_type(const char *full, PyType_Slot *slots, PyTypeObject *base)
{
    unsigned collected = base ? 0 : Py_TPFLAGS_HAVE_GC; /* others inherit it */
    PyType_Spec spec = { full, base ? 0 : sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | collected, slots };
    return (PyTypeObject *)PyType_FromSpecWithBases(&spec, (PyObject *)base);
}

/* What a type of C has of its own belongs to the class that is made of it, before what that class inherits. */
static bool take_over(PyObject *class, PyObject *from)
{
    tw__py_auto PyObject *dict = PyObject_GetAttrString(from, "__dict__"), *items = dict ? PyMapping_Items(dict) : NULL;
    bool good = items != NULL;
    for (Py_ssize_t i = 0; good && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i), *name = PyTuple_GetItem(pair, 0);
        if (PyUnicode_CompareWithASCIIString(name, "__module__") != 0 && PyUnicode_CompareWithASCIIString(name, "__doc__") != 0)
            good = PyObject_SetAttr(class, name, PyTuple_GetItem(pair, 1)) == 0;
    }
    return good;
}

PyTypeObject *tw__py_class_new(const char *full, const char *name, PyType_Slot *slots, PyTypeObject *parent)
{
    tw__py_auto PyObject *own = NULL, *bases = NULL, *dict = NULL;
    if (slots && slots->slot && !(own = (PyObject *)make_c_type(full, slots, base_type)))
        return NULL;
    parent = parent ? parent : base_type;
    bases = own ? PyTuple_Pack(2, (PyObject *)parent, own) : PyTuple_Pack(1, (PyObject *)parent);
    dict = Py_BuildValue("{s:s#}", "__module__", full, (Py_ssize_t)(strrchr(full, '.') - full));
    PyObject *made = bases && dict ? PyObject_CallFunction((PyObject *)&PyType_Type, "sOO", name, bases, dict) : NULL;
    if (made && own && !take_over(made, own))
        Py_CLEAR(made);
    return (PyTypeObject *)made;
}

static PyType_Slot lifetime[] = { { Py_tp_traverse, traverse }, { Py_tp_clear, clear }, { Py_tp_dealloc, end }, { 0 } };

bool tw__py_handles_start(const PyType_Slot *slots)
{
    PyType_Slot all[16] = { 0 };
    size_t count = 0;
    for (const PyType_Slot *s = lifetime; s->slot; s++)
        all[count++] = *s;
    for (const PyType_Slot *s = slots; s->slot && count < 15; s++)
        all[count++] = *s;
    base_type = make_c_type("thalweg.ObjectBase", all, NULL);
    keeper_type = (PyTypeObject *)PyType_FromSpec(&keeper_spec);
    return base_type && keeper_type;
}
