/* What classes of messages are made of: the library's tables (codec/message.h) as rows for Python, and the class that the
 * extension keeps of each. */
#include "message.h"

static void free_class(PyObject *capsule)
{
    message_class *class = PyCapsule_GetPointer(capsule, NULL);
    if (class) {
        tw__free(class->fields);
        tw__free(class->order);
        tw__free(class);
    }
}

/* Python knows an enum's values as numbers. */
static int kind_of(const tw__message_field *field)
{
    return field->type == TW_FIELD_ENUM ? TW_FIELD_INT32 : field->type;
}

/* What a map holds, or the field itself. */
static const tw__message_field *value_of(const tw__message_field *field)
{
    return field->map ? &field->message->fields[1] : field;
}

/* The table's field, and (class of the container or None, class of messages or None, info). */
static bool read_field(const tw__message_field *from, PyObject *row, message_field *field)
{
    PyObject *container, *child, *info;
    if (!PyArg_ParseTuple(row, "OOO", &container, &child, &info) || !(field->name = PyUnicode_InternFromString(from->name)))
        return false;
    field->number = from->number;
    field->kind = kind_of(value_of(from));
    field->key = from->map ? kind_of(from->message->fields) : -1;
    field->oneof = from->oneof;
    field->container = container == Py_None ? NULL : Py_NewRef(container);
    field->child = child == Py_None ? NULL : Py_NewRef(child);
    field->info = Py_NewRef(info);
    return true;
}

static PyObject *describe_field(const tw__message *type, const tw__message_field *field)
{
    static const char *const names[] = { "int32", "int64", "uint32", "uint64", "sint64", "fixed32", "fixed64",
                                         "bool",  "float", "double", "enum",   "string", "bytes",   "message" };
    const tw__message_field *value = value_of(field);
    return Py_BuildValue("(siszOzz)", field->name, (int)field->number, names[value->type],
                         field->map ? names[field->message->fields[0].type] : NULL,
                         field->repeated && !field->map ? Py_True : Py_False,
                         field->oneof ? type->oneofs[field->oneof - 1] : NULL,
                         value->message  ? value->message->name
                         : value->values ? value->values->name
                                         : NULL);
}

/* message_fields(name): (name, number, type, type of keys or None, repeated, oneof or None, message or enum or None) of each. */
PyObject *tw__py_message_fields(PyObject *self, PyObject *name)
{
    (void)self;
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(name, &size);
    const tw__message *type = text ? tw__message_named(text, (size_t)size) : NULL;
    if (!type)
        return text ? PyErr_Format(PyExc_KeyError, "%U", name) : NULL;
    PyObject *rows = PyList_New(0);
    for (int i = 0; rows && i < type->count; i++) {
        PyObject *row = describe_field(type, &type->fields[i]);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

static PyObject *enum_values(const tw__enum *values)
{
    PyObject *made = PyDict_New();
    for (size_t i = 0; made && i < values->count; i++) {
        PyObject *number = PyLong_FromLong(values->values[i].number);
        if (!number || PyDict_SetItemString(made, values->values[i].name, number) < 0)
            Py_CLEAR(made);
        Py_XDECREF(number);
    }
    return made;
}

/* message_names(): the names of all messages, and the enums. */
PyObject *tw__py_message_names(PyObject *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    PyObject *names = PyList_New(0), *enums = PyDict_New();
    bool good = names && enums;
    for (const tw__message *const *m = tw__messages; good && *m; m++) {
        PyObject *name = (*m)->entry ? NULL : PyUnicode_FromString((*m)->name);
        good = (*m)->entry || (name && PyList_Append(names, name) == 0);
        Py_XDECREF(name);
    }
    for (const tw__enum *const *e = tw__enums; good && *e; e++) {
        PyObject *values = enum_values(*e);
        good = values && PyDict_SetItemString(enums, (*e)->name, values) == 0;
        Py_XDECREF(values);
    }
    PyObject *both = good ? PyTuple_Pack(2, names, enums) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(enums);
    return both;
}

PyObject *tw__py_message_describe(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *rows;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "sO!", &name, &PyList_Type, &rows))
        return NULL;
    const tw__message *type = tw__message_named(name, strlen(name));
    int count = (int)PyList_Size(rows);
    if (!type || type->count != count)
        return PyErr_Format(PyExc_KeyError, "%s", name);
    message_class *class = tw__alloc(sizeof *class);
    message_field *fields = tw__alloc_array((size_t)count + 1, sizeof *fields);
    int *order = tw__alloc_array((size_t)count + 1, sizeof *order);
    PyObject *places = PyDict_New(), *capsule = NULL;
    bool good = class && fields && order && places;
    for (int i = 0; good && i < count; i++) {
        good = read_field(&type->fields[i], PyList_GetItem(rows, i), &fields[i]);
        PyObject *place = good ? PyLong_FromLong(i) : NULL;
        good = place && PyDict_SetItem(places, fields[i].name, place) == 0;
        Py_XDECREF(place);
        int at = i;
        for (; good && at > 0 && fields[order[at - 1]].number > fields[i].number; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    if (good) {
        *class = (message_class){ places, fields, count, order };
        capsule = PyCapsule_New(class, NULL, free_class);
    }
    if (capsule)
        return capsule;
    tw__free(class);
    tw__free(fields);
    tw__free(order);
    Py_XDECREF(places);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}
