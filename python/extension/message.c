/* Protocol buffer messages as objects: fields as attributes, lists and maps of values. What is common is done here, since
 * programs make them by the million (tf.train.Example); what is rare (text, presence, checks of strange values) is
 * thalweg._message's. */
#include <math.h>

#include "message.h"

PyTypeObject *tw__py_message_type;

/* ---- classes ---- */

static message_class *class_of(PyObject *type)
{
    static PyObject *name;
    if (!name && !(name = PyUnicode_InternFromString("_table")))
        return NULL;
    tw__py_auto PyObject *table = PyObject_GetAttr(type, name);
    return table ? PyCapsule_GetPointer(table, NULL) : NULL;
}

/* NULL: there is none of that name; no exception. */
static const message_field *field_of(const message_class *class, PyObject *name)
{
    PyObject *place = class ? PyDict_GetItem(class->places, name) : NULL;
    return place ? &class->fields[PyLong_AsLong(place)] : NULL;
}

static int no_field(PyObject *self, PyObject *name, PyObject *error)
{
    tw__py_auto PyObject *type = PyObject_GetAttrString(TYPE_OF(self), "__name__");
    if (type)
        PyErr_Format(error, "Protocol message %U has no \"%S\" field.", type, name);
    return -1;
}

/* ---- values ---- */

static PyObject *check_slowly(const message_field *field, PyObject *owner, PyObject *value)
{
    return PyObject_CallMethod(field->info, "check", "OO", value, owner);
}

static bool in_range(int kind, PyObject *value)
{
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    switch (kind) {
    case TW_FIELD_INT32:
        return !overflow && number == (int32_t)number;
    case TW_FIELD_INT64:
    case TW_FIELD_SINT64:
        return !overflow;
    case TW_FIELD_UINT32:
    case TW_FIELD_FIXED32:
        return !overflow && number == (long long)(uint32_t)number;
    default:
        return !overflow && number >= 0; /* larger ones are looked at by others */
    }
}

PyObject *tw__py_message_check(const message_field *field, PyObject *owner, PyObject *value)
{
    switch (field->kind) {
    case TW_FIELD_BYTES:
        return PyBytes_CheckExact(value) ? Py_NewRef(value) : check_slowly(field, owner, value);
    case TW_FIELD_FLOAT:
        if (PyFloat_CheckExact(value))
            return PyFloat_FromDouble((float)PyFloat_AsDouble(value));
        return check_slowly(field, owner, value);
    case TW_FIELD_DOUBLE:
        return PyFloat_CheckExact(value) ? Py_NewRef(value) : check_slowly(field, owner, value);
    case TW_FIELD_BOOL:
        return PyBool_Check(value) ? Py_NewRef(value) : check_slowly(field, owner, value);
    case TW_FIELD_STRING:
    case TW_FIELD_MESSAGE:
        return check_slowly(field, owner, value);
    default:
        return PyLong_CheckExact(value) && in_range(field->kind, value) ? Py_NewRef(value) : check_slowly(field, owner, value);
    }
}

static PyObject *values_of(message_object *self)
{
    if (!self->values)
        self->values = PyDict_New();
    return self->values;
}

bool tw__py_message_is_one(const message_field *field)
{
    return !field->container && field->kind != TW_FIELD_MESSAGE;
}

PyObject *tw__py_message_part(message_object *self, const message_field *field)
{
    PyObject *values = values_of(self), *found = values ? PyDict_GetItem(values, field->name) : NULL;
    if (found || !values)
        return found;
    tw__py_auto PyObject *made = field->container ? PyObject_CallNoArgs(field->container) : tw__py_message_make(field->child);
    int result = made ? PyDict_SetItem(values, field->name, made) : -1;
    return result < 0 ? NULL : made;
}

int tw__py_message_clear_others(message_object *self, const message_field *field)
{
    for (int i = 0; field->oneof && self->values && i < self->class->count; i++) {
        const message_field *other = &self->class->fields[i];
        if (other->oneof == field->oneof && other != field && PyDict_GetItem(self->values, other->name) &&
            PyDict_DelItem(self->values, other->name) < 0)
            return -1;
    }
    return 0;
}

int tw__py_message_put(message_object *self, const message_field *field, PyObject *value)
{
    if (field->oneof)
        self->last = 0;
    return values_of(self) && tw__py_message_clear_others(self, field) == 0 ? PyDict_SetItem(self->values, field->name, value)
                                                                            : -1;
}

void tw__py_message_settle(message_object *self)
{
    const message_field *last = self->last ? &self->class->fields[self->last - 1] : NULL;
    PyObject *value;
    if (last && tw__py_message_present(self, last, &value) && tw__py_message_clear_others(self, last) < 0)
        PyErr_Clear(); /* they were there a moment ago */
}

/* ---- what is there ---- */

static bool is_default(const message_field *field, PyObject *value)
{
    if (field->kind == TW_FIELD_STRING)
        return PyUnicode_GetLength(value) == 0;
    if (field->kind == TW_FIELD_BYTES)
        return PyBytes_Size(value) == 0;
    if (field->kind == TW_FIELD_FLOAT || field->kind == TW_FIELD_DOUBLE) {
        double number = PyFloat_AsDouble(value);
        return number == 0 && !signbit(number);
    }
    return PyObject_Not(value) == 1;
}

bool tw__py_message_present(const message_object *self, const message_field *field, PyObject **value)
{
    *value = self->values ? PyDict_GetItem(self->values, field->name) : NULL;
    if (!*value)
        return false;
    if (field->container)
        return PyObject_Size(*value) > 0;
    if (field->kind == TW_FIELD_MESSAGE)
        return tw__py_message_any((const message_object *)*value);
    return field->oneof || !is_default(field, *value);
}

bool tw__py_message_any(const message_object *self)
{
    PyObject *value;
    if (self->set || (self->unknown && PyList_Size(self->unknown)))
        return true;
    for (int i = 0; self->values && i < self->class->count; i++) {
        if (tw__py_message_present(self, &self->class->fields[i], &value))
            return true;
    }
    return false;
}

/* ---- lists ---- */

/* message_extend(list, field's place in the class, class, values): adds checked values. */
static int extend(const message_field *field, PyObject *owner, PyObject *list, PyObject *values)
{
    tw__py_auto PyObject *iterator = PyObject_GetIter(values);
    PyObject *item;
    if (!iterator)
        return -1;
    int result = 0;
    while (result == 0 && (item = PyIter_Next(iterator))) {
        tw__py_auto PyObject *checked = tw__py_message_check(field, owner, item);
        result = checked ? PyList_Append(list, checked) : -1;
        Py_DECREF(item);
    }
    return PyErr_Occurred() ? -1 : result;
}

PyObject *tw__py_message_extend(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *list, *owner, *name, *values;
    if (!PyArg_ParseTuple(arguments, "O!OUO", &PyList_Type, &list, &owner, &name, &values))
        return NULL;
    const message_field *field = field_of(class_of(owner), name);
    if (!field)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "there is no field %S", name);
    return extend(field, owner, list, values) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- making ---- */

PyObject *tw__py_message_make(PyObject *type)
{
    message_class *class = class_of(type);
    allocfunc allocate = class ? (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc) : NULL;
    message_object *made = allocate ? (message_object *)allocate((PyTypeObject *)type, 0) : NULL;
    if (made)
        made->class = class;
    return (PyObject *)made;
}

static PyObject *message_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    (void)arguments;
    (void)named;
    return tw__py_message_make((PyObject *)type);
}

/* A message of a dict, or a copy of the message that is given. */
static PyObject *child_of(const message_field *field, PyObject *owner, PyObject *value)
{
    tw__py_auto PyObject *none = PyDict_Check(value) ? PyTuple_New(0) : NULL;
    PyObject *made = NULL;
    if (none)
        made = PyObject_Call(field->child, none, value);
    else if ((PyObject *)Py_TYPE(value) == field->child)
        made = tw__py_message_copy((message_object *)value);
    else
        made = check_slowly(field, owner, value);
    return made;
}

static int init_map(message_object *self, const message_field *field, PyObject *value)
{
    if (!PyDict_Check(value) && !PyObject_HasAttrString(value, "items")) {
        PyErr_Format(PyExc_TypeError, "the map \"%U\" is made of a dict, got %R", field->name, value);
        return -1;
    }
    PyObject *map = tw__py_message_part(self, field);
    tw__py_auto PyObject *items = map ? PyMapping_Items(value) : NULL;
    int result = items ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i), *key = PyTuple_GetItem(pair, 0), *item = PyTuple_GetItem(pair, 1);
        tw__py_auto PyObject *child = field->kind == TW_FIELD_MESSAGE ? child_of(field, TYPE_OF(self), item) : Py_NewRef(item);
        bool message = field->kind == TW_FIELD_MESSAGE, plain = field->key == TW_FIELD_STRING && PyUnicode_CheckExact(key);
        tw__py_auto PyObject *checked = !child || !message || plain ? Py_NewRef(key) : PyObject_CallMethod(map, "_key", "O", key);
        result = !child || !checked ? -1 : message ? PyDict_SetItem(map, checked, child) : PyObject_SetItem(map, key, child);
    }
    return result;
}

static int init_list(message_object *self, const message_field *field, PyObject *value)
{
    PyObject *list = tw__py_message_part(self, field), *owner = TYPE_OF(self);
    if (!list)
        return -1;
    if (field->kind != TW_FIELD_MESSAGE) {
        if (PyList_CheckExact(value) || PyTuple_CheckExact(value))
            return extend(field, owner, list, value);
        tw__py_auto PyObject *done = PyObject_CallMethod(list, "extend", "O", value);
        return done ? 0 : -1;
    }
    tw__py_auto PyObject *iterator = PyObject_GetIter(value);
    PyObject *item;
    int result = iterator ? 0 : -1;
    while (result == 0 && (item = PyIter_Next(iterator))) {
        tw__py_auto PyObject *child = child_of(field, owner, item);
        result = child ? PyList_Append(list, child) : -1;
        Py_DECREF(item);
    }
    return PyErr_Occurred() ? -1 : result;
}

static int init_field(message_object *self, PyObject *name, PyObject *value)
{
    const message_field *field = field_of(self->class, name);
    if (value == Py_None)
        return 0;
    if (!field)
        return no_field((PyObject *)self, name, PyExc_ValueError);
    if (field->key >= 0)
        return init_map(self, field, value);
    if (field->container)
        return init_list(self, field, value);
    bool message = field->kind == TW_FIELD_MESSAGE;
    tw__py_auto PyObject *own =
        message ? child_of(field, TYPE_OF(self), value) : tw__py_message_check(field, TYPE_OF(self), value);
    if (own && message)
        ((message_object *)own)->set = 1;
    return own ? tw__py_message_put(self, field, own) : -1;
}

static int message_init(PyObject *object, PyObject *arguments, PyObject *named)
{
    message_object *self = (message_object *)object;
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (PyTuple_Size(arguments)) {
        PyErr_SetString(PyExc_TypeError, "No positional arguments allowed");
        return -1;
    }
    while (named && PyDict_Next(named, &at, &name, &value)) {
        if (init_field(self, name, value) < 0)
            return -1;
    }
    return 0;
}

static PyObject *clear(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    message_object *self = (message_object *)object;
    Py_CLEAR(self->values);
    Py_CLEAR(self->unknown);
    self->last = 0;
    self->set = 1; /* as protobuf has it: who clears a message means it to be there */
    return Py_NewRef(Py_None);
}

static PyObject *set_in_parent(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    ((message_object *)object)->set = 1;
    return Py_NewRef(Py_None);
}

/* ---- attributes ---- */

static PyObject *message_get(PyObject *object, PyObject *name)
{
    message_object *self = (message_object *)object;
    const message_field *field = field_of(self->class, name);
    if (field && tw__py_message_is_one(field)) {
        tw__py_message_settle(self);
        PyObject *found = self->values ? PyDict_GetItem(self->values, name) : NULL;
        return found ? Py_NewRef(found) : PyObject_CallMethod(field->info, "default", NULL);
    }
    if (field) {
        tw__py_message_settle(self);
        if (field->oneof)
            self->last = (int)(field - self->class->fields) + 1;
        return Py_XNewRef(tw__py_message_part(self, field));
    }
    PyObject *found = PyObject_GenericGetAttr(object, name);
    Py_ssize_t size = 0;
    const char *text = found ? NULL : PyUnicode_AsUTF8AndSize(name, &size);
    if (text && strncmp(text, "__", 2) != 0 && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        no_field(object, name, PyExc_AttributeError);
    }
    return found;
}

static int message_set(PyObject *object, PyObject *name, PyObject *value)
{
    message_object *self = (message_object *)object;
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "attribute name must be string, not %R", (PyObject *)Py_TYPE(name));
        return -1;
    }
    const message_field *field = field_of(self->class, name);
    if (!field)
        return no_field(object, name, PyExc_AttributeError);
    if (!value || !tw__py_message_is_one(field)) {
        PyErr_Format(PyExc_AttributeError,
                     "Assignment not allowed to message, map, or repeated field \"%U\" in protocol message object.", name);
        return -1;
    }
    tw__py_auto PyObject *checked = tw__py_message_check(field, (PyObject *)Py_TYPE(object), value);
    return checked ? tw__py_message_put(self, field, checked) : -1;
}

static PyObject *get_values(PyObject *self, void *unused)
{
    (void)unused;
    tw__py_message_settle((message_object *)self);
    return Py_XNewRef(values_of((message_object *)self));
}

static PyObject *get_unknown(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *unknown = ((message_object *)self)->unknown;
    return unknown ? Py_NewRef(unknown) : PyList_New(0);
}

static PyObject *get_any(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tw__py_message_any((message_object *)self));
}

/* ---- the type ---- */

static int message_traverse(PyObject *object, visitproc visit, void *arg)
{
    message_object *self = (message_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->values);
    Py_VISIT(self->unknown);
    return 0;
}

static int message_drop(PyObject *object)
{
    Py_CLEAR(((message_object *)object)->values);
    Py_CLEAR(((message_object *)object)->unknown);
    return 0;
}

static void message_dealloc(PyObject *object)
{
    tw__py_auto PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    message_drop(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
}

bool tw__py_messages_start(PyObject *module)
{
    static PyMethodDef methods[] = {
        { "SerializeToString", (PyCFunction)(void (*)(void))tw__py_message_serialize, METH_VARARGS | METH_KEYWORDS,
          TW_SIGNATURE("SerializeToString($self, /, *, deterministic=None)") "The message as bytes; maps are sorted by key." },
        { "SerializePartialToString", (PyCFunction)(void (*)(void))tw__py_message_serialize, METH_VARARGS | METH_KEYWORDS,
          TW_SIGNATURE("SerializePartialToString($self, /, *, deterministic=None)") "The same." },
        { "MergeFromString", tw__py_message_merge, METH_O,
          TW_SIGNATURE("MergeFromString($self, serialized, /)") "Adds what the bytes hold." },
        { "MergeFrom", tw__py_message_merge_from, METH_O,
          TW_SIGNATURE("MergeFrom($self, other, /)") "Adds what another message holds." },
        { "Clear", clear, METH_NOARGS, TW_SIGNATURE("Clear($self, /)") "Takes everything out." },
        { "SetInParent", set_in_parent, METH_NOARGS,
          TW_SIGNATURE("SetInParent($self, /)") "Makes the message be there, although it may be empty." },
        { 0 },
    };
    static PyGetSetDef properties[] = {
        { "_values", get_values, NULL, "what is there by name", NULL },
        { "_unknown", get_unknown, NULL, "fields that the class does not have", NULL },
        { "_any", get_any, NULL, "whether anything is there", NULL },
        { 0 },
    };
    static PyType_Slot slots[] = {
        { Py_tp_new, message_new },
        { Py_tp_init, message_init },
        { Py_tp_getattro, message_get },
        { Py_tp_setattro, message_set },
        { Py_tp_traverse, message_traverse },
        { Py_tp_clear, message_drop },
        { Py_tp_dealloc, message_dealloc },
        { Py_tp_methods, methods },
        { Py_tp_getset, properties },
        { Py_tp_doc, TW_SIGNATURE("MessageBase(**fields)") "The base of messages." },
        { 0 },
    };
    static PyType_Spec spec = { "thalweg._core.MessageBase", sizeof(message_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots };
    tw__py_message_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return tw__py_message_type && PyModule_AddObjectRef(module, "MessageBase", (PyObject *)tw__py_message_type) == 0;
}
